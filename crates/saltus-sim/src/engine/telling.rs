//! What is told about an event: its causes, what changed, what followed in later rounds.
//!
//! In: memory before and after the event. Out: an [`EventRecord`] at the end of the trajectory.

use saltus_base::Index;
use saltus_program::{ModelFunctions, RelationId, SlotId};

use super::{Run, sub_clocks};
use crate::event::Flips;
use crate::record::{Change, Consequence, EventCause, EventKind, EventRecord};

/// Events beyond this are counted, not recorded.
const MOST_RECORDED_EVENTS: usize = 1_000_000;

impl Run<'_> {
    pub(super) fn value_before(&self, slot: SlotId) -> f64 {
        self.before.get(slot.index()).copied().unwrap_or(f64::NAN)
    }

    /// What differs from before the event: relations, timers, samples.
    pub(super) fn causes(&self, is_time_event: bool) -> Vec<EventCause> {
        let mut causes = if is_time_event { vec![EventCause::Time] } else { Vec::new() };
        for (relation, text) in self.program.relations.values().zip(&self.texts.relations) {
            let value = self.functions.get(relation.memory) != 0.0;
            if value != (self.value_before(relation.memory) != 0.0) {
                causes.push(EventCause::Relation { text: text.clone(), value, span: relation.span });
            }
        }
        for (timer, text) in self.program.time_events.iter().zip(&self.texts.timers) {
            let value = self.functions.get(timer.memory) != 0.0;
            if value != (self.value_before(timer.memory) != 0.0) {
                causes.push(EventCause::Timer { text: text.clone(), value, span: timer.span });
            }
        }
        for sample in &self.program.samples {
            if self.functions.get(sample.tick) != self.value_before(sample.tick) {
                let (start, interval) = (self.functions.get(sample.start), self.functions.get(sample.interval));
                causes.push(EventCause::Sample { start, interval, span: sample.span });
            }
        }
        for (clock, text) in sub_clocks(self.program).zip(&self.texts.clocks) {
            if self.functions.get(clock.tick) != self.value_before(clock.tick) {
                causes.push(EventCause::Clock { text: text.clone(), span: clock.span });
            }
        }
        causes
    }

    /// Relations that changed in the first round and back in a later one are causes as well.
    pub(super) fn add_reverted(&self, flips: &Flips, causes: &mut Vec<EventCause>) {
        for &(_, id, value) in flips.iter().filter(|flip| flip.0 == 1) {
            let Some((relation, text)) = self.program.relations.get(id).zip(self.texts.relations.get(id.index()))
            else {
                continue;
            };
            if value == (self.functions.get(relation.memory) != 0.0) {
                continue;
            }
            causes.push(EventCause::Relation { text: text.clone(), value, span: relation.span });
        }
    }

    /// Adds what followed in later rounds to the event recorded last.
    pub(super) fn tell_rounds(&mut self, flips: &Flips) {
        let follows = |&(round, id, value): &(usize, RelationId, bool)| {
            let relation = self.texts.relations.get(id.index())?.clone();
            (round > 1).then_some(Consequence { round, relation, value })
        };
        let consequences: Vec<Consequence> = flips.iter().filter_map(follows).collect();
        if let Some(record) = self.trajectory.events.last_mut().filter(|_| !consequences.is_empty()) {
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
    ) {
        let statistics = &mut self.trajectory.statistics;
        statistics.events += 1;
        statistics.event_iterations += rounds as u64;
        match kind {
            EventKind::State => statistics.state_events += 1,
            EventKind::Time => statistics.time_events += 1,
            _ => {}
        }
        let mixed = self.functions.take_mixed_solutions();
        if self.trajectory.events.len() >= MOST_RECORDED_EVENTS {
            return;
        }
        let mut changes = Vec::new();
        for (slot, name) in &self.watched {
            let (before, after) = (self.value_before(*slot), self.functions.get(*slot));
            if before != after {
                changes.push(Change { variable: name.clone(), before, after });
            }
        }
        self.trajectory.events.push(EventRecord {
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
    }
}
