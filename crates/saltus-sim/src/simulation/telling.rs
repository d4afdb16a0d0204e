//! The report of an event: its causes, what changed, what followed in later rounds.
//!
//! In: memory before and after the event. Out: an [`EventRecord`], which goes to the sink when the event is settled.

use saltus_base::Index;
use saltus_program::{ModelFunctions, RelationId, SlotId, read};

use super::Simulation;
use crate::catalogue::sub_clocks;
use crate::error::Failure;
use crate::event::Flips;
use crate::record::{Change, Consequence, EventCause, EventKind, EventRecord};

impl Simulation {
    pub(super) fn value_before(&self, slot: SlotId) -> f64 {
        self.driver.before.get(slot.index()).copied().unwrap_or(f64::NAN)
    }

    /// What differs from before the event: relations, timers, samples.
    pub(super) fn causes(&self, is_time_event: bool) -> Vec<EventCause> {
        let mut causes = if is_time_event { vec![EventCause::Time] } else { Vec::new() };
        let memory = self.model.memory();
        for (relation, text) in self.program.events.relations.values().zip(&self.catalogue.relations) {
            let value = read(memory, relation.memory) != 0.0;
            if value != (self.value_before(relation.memory) != 0.0) {
                causes.push(EventCause::Relation { text: text.clone(), value, span: relation.span });
            }
        }
        for (timer, text) in self.program.events.time_events.iter().zip(&self.catalogue.timers) {
            let value = read(memory, timer.memory) != 0.0;
            if value != (self.value_before(timer.memory) != 0.0) {
                causes.push(EventCause::Timer { text: text.clone(), value, span: timer.span });
            }
        }
        for sample in &self.program.events.samples {
            if read(memory, sample.tick) != self.value_before(sample.tick) {
                let (start, interval) = (read(memory, sample.start), read(memory, sample.interval));
                causes.push(EventCause::Sample { start, interval, span: sample.span });
            }
        }
        for (clock, text) in sub_clocks(&self.program).zip(&self.catalogue.clocks) {
            if read(memory, clock.tick) != self.value_before(clock.tick) {
                causes.push(EventCause::Clock { text: text.clone(), span: clock.span });
            }
        }
        causes
    }

    /// Relations that changed in the first round and back in a later one are causes as well.
    pub(super) fn add_reverted(&self, flips: &Flips, causes: &mut Vec<EventCause>) {
        for &(_, id, value) in flips.iter().filter(|flip| flip.0 == 1) {
            let Some((relation, text)) =
                self.program.events.relations.get(id).zip(self.catalogue.relations.get(id.index()))
            else {
                continue;
            };
            if value == (self.model.get(relation.memory) != 0.0) {
                continue;
            }
            causes.push(EventCause::Relation { text: text.clone(), value, span: relation.span });
        }
    }

    /// Adds what followed in later rounds to the event recorded last.
    pub(super) fn tell_rounds(&mut self, flips: &Flips) {
        let follows = |&(round, id, value): &(usize, RelationId, bool)| {
            let relation = self.catalogue.relations.get(id.index())?.clone();
            (round > 1).then_some(Consequence { round, relation, value })
        };
        let consequences: Vec<Consequence> = flips.iter().filter_map(follows).collect();
        if let Some(record) = self.work.event.as_mut().filter(|_| !consequences.is_empty()) {
            record.consequences = consequences;
        }
    }

    pub(super) fn record(
        &mut self,
        time: f64,
        kind: EventKind,
        causes: Vec<EventCause>,
        rounds: usize,
        is_restart: bool,
    ) -> Result<(), Failure> {
        let changes = self.changes_at_event();
        self.record_changes(time, kind, causes, rounds, is_restart, changes)
    }

    /// What is watched and has another value than before the event.
    pub(super) fn changes_at_event(&self) -> Vec<Change> {
        let memory = self.model.memory();
        let watched = self.catalogue.watched.iter();
        let changes = watched.map(|(slot, name)| (self.value_before(*slot), read(memory, *slot), name));
        let changes = changes.filter(|(before, after, _)| before != after);
        changes.map(|(before, after, name)| Change { variable: name.clone(), before, after }).collect()
    }

    pub(super) fn record_changes(
        &mut self,
        time: f64,
        kind: EventKind,
        causes: Vec<EventCause>,
        rounds: usize,
        is_restart: bool,
        changes: Vec<Change>,
    ) -> Result<(), Failure> {
        self.close_event()?;
        if let Some(meter) = &mut self.meter {
            meter.note_causes(&causes);
        }
        let statistics = &mut self.driver.statistics;
        statistics.events += 1;
        statistics.event_iterations += rounds as u64;
        match kind {
            EventKind::State => statistics.state_events += 1,
            EventKind::Time => statistics.time_events += 1,
            _ => {}
        }
        let mixed = self.model.take_mixed_solutions();
        self.work.event = Some(EventRecord {
            time,
            kind,
            causes,
            rounds,
            is_restart,
            changes,
            consequences: Vec::new(),
            mixed,
            note: None,
        });
        Ok(())
    }
}
