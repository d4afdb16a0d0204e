//! Runs by quantised states ([`crate::quantised`]): rows, records and events that concern the whole model.
//!
//! In: a run behind its first event. Out: the same as with an integrator, but for rows at events, which are left out: each would need all
//! variables, of which an event concerns few. The record of an event holds what changed.

use saltus_program::{LARGEST_INTEGER, ModelFunctions, Moment, RELATION_BAND, SlotId, SlotKind, SlotType, read};

use super::{Advance, Phase, Simulation};
use crate::constants::{STEPS_IN_A_TURN, THRESHOLD_REACH};
use crate::error::{Failure, SimErrorKind};
use crate::event::{self, Settled};
use crate::options::Solver;
use crate::quantised::{self, Next, Outcome, Quantised};
use crate::record::{Change, EventCause, EventKind};

impl Simulation {
    /// Are states quantised rather than integrated together?
    pub(super) fn is_quantised(&self) -> bool {
        self.options.solver == Solver::Liqss2
    }

    /// Goes on with quantised states from the values in memory, behind an event at `t`.
    pub(super) fn begin_quantised(&mut self, t: f64) -> Result<(), Failure> {
        let why = if self.model.inputs_vary() {
            Some("its inputs change with time")
        } else if self.model.watches_steps() {
            Some("it has components that follow the steps of an integrator")
        } else {
            quantised::obstacle(&self.program)
        };
        let refused = |why: &str| Failure::new(t, SimErrorKind::NotQuantised { why: why.to_owned() });
        if let Some(why) = why {
            return Err(refused(why));
        }
        let mut engine = match self.quantised.take() {
            Some(engine) => engine,
            None => {
                let made = Quantised::new(&self.program, &self.options, &self.catalogue.watched);
                let mut made = made.ok_or_else(|| refused(quantised::TOO_LARGE))?;
                if let Some(what) = made.unenclosed() {
                    return Err(refused(&quantised::not_enclosed(what)));
                }
                Box::new(made)
            }
        };
        if self.model.has_witness() {
            engine.whole = Some("somebody looks at all of it");
        }
        let begun = engine.begin(&self.program, &mut self.model, t);
        self.quantised = Some(engine);
        begun
    }

    /// Up to the next event or `until`, or for a while.
    pub(super) fn advance_quantised(&mut self, until: f64) -> Result<Advance, Failure> {
        if let Some(message) = self.terminated() {
            return Ok(Advance::Terminated(message));
        }
        self.apply_changes()?;
        if self.driver.phase != Phase::Over && self.driver.now < until {
            self.proceed_quantised(until)?;
        }
        self.close_event()?;
        if let Some(message) = self.terminated() {
            return Ok(Advance::Terminated(message));
        }
        Ok(self.work.settled.take().map_or(Advance::Step, |event| Advance::Event(Box::new(event))))
    }

    fn proceed_quantised(&mut self, until: f64) -> Result<(), Failure> {
        for _ in 0..STEPS_IN_A_TURN {
            let Some(engine) = &self.quantised else { return Ok(()) };
            let (at, next) = engine.next();
            if at > until || at == f64::INFINITY {
                if next == Next::Event && self.belongs_to_end(at, until) {
                    self.event_quantised()?;
                    continue;
                }
                self.write_rows_quantised(until.next_up())?;
                self.driver.now = self.driver.now.max(until);
                return Ok(());
            }
            if at > engine.next_row {
                self.write_rows_quantised(at)?;
            }
            self.driver.now = self.driver.now.max(at);
            match next {
                Next::Step => self.step_quantised(at)?,
                Next::Event => {
                    self.event_quantised()?;
                    // What is due at the end is not left to a call that does not come.
                    if self.driver.now < until || self.terminated().is_some() {
                        return Ok(());
                    }
                }
                Next::Bound(bound) => self.judge_quantised(bound, at)?,
            }
        }
        Ok(())
    }

    /// Is an event behind the end of the run a part of it, because rounding alone puts it there?
    fn belongs_to_end(&mut self, at: f64, until: f64) -> bool {
        let stop = self.options.stop_time;
        if until < stop {
            return false;
        }
        if at > event::reach(stop) {
            // A threshold that is met exactly there (`x >= 1`, not `x > 1`), as far as relations are told from rounding.
            let resolution = THRESHOLD_REACH * RELATION_BAND * stop.abs().max(self.options.time_span());
            return at - stop <= resolution && self.quantised.as_ref().is_some_and(|e| e.is_threshold_met(stop, at));
        }
        self.driver.time_event = self.model.next_time_event(self.driver.now);
        self.end_time() >= at
    }

    fn step_quantised(&mut self, at: f64) -> Result<(), Failure> {
        let Some(engine) = &mut self.quantised else { return Ok(()) };
        if engine.statistics().steps >= self.options.max_steps {
            return Err(Failure::new(at, SimErrorKind::TooManySteps { most: self.options.max_steps }));
        }
        let before = engine.statistics().steps;
        engine.step(&self.program, &mut self.model)?;
        let is_new = engine.statistics().steps > before && self.driver.last_row != Some(at);
        if !(is_new && self.options.step_rows) || self.sink.as_ref().is_some_and(|sink| sink.is_short_of_room()) {
            return Ok(());
        }
        self.go_to_quantised(at)?;
        self.show_point();
        self.write_row(at)?;
        self.skip_output_point(at);
        Ok(())
    }

    /// Rows before `t`, and when the next one is due.
    fn write_rows_quantised(&mut self, t: f64) -> Result<(), Failure> {
        self.write_points_before(t)?;
        let is_left = self.driver.next_output <= self.options.n_intervals();
        let next = if is_left { self.options.output_point(self.driver.next_output) } else { f64::INFINITY };
        if let Some(engine) = &mut self.quantised {
            engine.next_row = next;
        }
        Ok(())
    }

    /// All variables at `t`, which lies between what was done last and what is due next.
    pub(super) fn go_to_quantised(&mut self, t: f64) -> Result<(), Failure> {
        if let Some(engine) = &self.quantised {
            self.work.x.iter_mut().enumerate().for_each(|(i, x)| *x = engine.value(i, t));
            self.driver.extents.note(&self.work.x);
        }
        self.model.set_continuous(t, &self.work.x);
        event::eval_continuous(&mut self.model, t)?;
        self.model.accept();
        Ok(())
    }

    /// Judges assertions where a relation of theirs changes.
    fn judge_quantised(&mut self, bound: usize, at: f64) -> Result<(), Failure> {
        self.go_to_quantised(at)?;
        if !self.assertions_hold() {
            return self.write_row(at);
        }
        self.check_assertions(at)?;
        let Some(engine) = &mut self.quantised else { return Ok(()) };
        engine.pass_bound(&self.program, &mut self.model, bound, at)
    }

    fn event_quantised(&mut self) -> Result<(), Failure> {
        let Some(engine) = &mut self.quantised else { return Ok(()) };
        let t = engine.take_due(&self.program);
        self.driver.now = t;
        self.during_event(t, |run| run.settle_quantised(t).map(|()| true)).map(|_| ())
    }

    fn settle_quantised(&mut self, t: f64) -> Result<(), Failure> {
        let Some(engine) = &mut self.quantised else { return Ok(()) };
        let kind = if engine.due.is_timed { EventKind::Time } else { EventKind::State };
        let most = self.options.max_event_rounds.max(2);
        match engine.settle_locally(&self.program, &mut self.model, t, most) {
            Some(Outcome::Settled { rounds, termination }) => self.end_local_event(t, kind, rounds, termination),
            Some(Outcome::Unsettled { changing }) => {
                let mut changing: Vec<String> =
                    changing.into_iter().map(|slot| self.program.memory.slot_name(slot).into_owned()).collect();
                changing.sort();
                Err(Failure::new(t, SimErrorKind::EventDoesNotSettle { rounds: most, is_cycle: false, changing }))
            }
            Some(Outcome::Failed) | None => self.settle_whole(t, kind),
        }
    }

    fn end_local_event(
        &mut self,
        t: f64,
        kind: EventKind,
        rounds: usize,
        termination: Option<usize>,
    ) -> Result<(), Failure> {
        let Some(engine) = &self.quantised else { return Ok(()) };
        let changed = engine.changes(&self.program, &self.model);
        let flips = engine.flips();
        let mut causes = self.causes_of(&changed, kind);
        self.add_reverted(&flips, &mut causes);
        let changes = changed.iter().filter_map(|&(slot, before)| {
            Some(Change { variable: engine.name(slot)?, before, after: self.model.get(slot) })
        });
        let changes: Vec<Change> = changes.collect();
        let is_integer = |slot: SlotId| self.program.memory.slots.get(slot).is_some_and(|s| s.ty == SlotType::Integer);
        let is_large = |slot: SlotId| self.model.get(slot).abs() > LARGEST_INTEGER;
        if changed.iter().any(|(slot, _)| is_integer(*slot) && is_large(*slot)) {
            self.check_integers(t)?;
        }
        let event = Settled { rounds, termination, flips };
        self.end_event_quantised(t, kind, causes, event, changed, changes)
    }

    /// Relations, timers and samples among what has changed.
    fn causes_of(&self, changed: &[(SlotId, f64)], kind: EventKind) -> Vec<EventCause> {
        let Some(engine) = &self.quantised else { return Vec::new() };
        let mut causes = if kind == EventKind::Time { vec![EventCause::Time] } else { Vec::new() };
        let mut relations: Vec<u32> = changed.iter().filter_map(|(slot, _)| engine.relation(*slot)).collect();
        relations.sort_unstable();
        for k in relations {
            let Some((relation, text)) =
                self.program.events.relations.values().nth(k as usize).zip(self.catalogue.relations.get(k as usize))
            else {
                continue;
            };
            let value = self.model.get(relation.memory) != 0.0;
            causes.push(EventCause::Relation { text: text.clone(), value, span: relation.span });
        }
        for &k in &engine.due.timers {
            let timer = &self.program.events.time_events[k as usize];
            let value = self.model.get(timer.memory) != 0.0;
            causes.push(EventCause::Timer { text: self.catalogue.timers[k as usize].clone(), value, span: timer.span });
        }
        for &k in &engine.due.samples {
            let sample = &self.program.events.samples[k];
            let (start, interval) = (self.model.get(sample.start), self.model.get(sample.interval));
            causes.push(EventCause::Sample { start, interval, span: sample.span });
        }
        causes
    }

    /// An event that concerns the whole model.
    fn settle_whole(&mut self, t: f64, kind: EventKind) -> Result<(), Failure> {
        self.go_to_quantised(t)?;
        self.model.update_pre();
        self.model.show(Moment::Before);
        self.remember_memory();
        let settled = event::settle(&self.program, &mut self.model, &self.options, t);
        let settled = settled.map_err(|failure| self.located(failure.after_all_starts()))?;
        self.model.show(Moment::After);
        self.check_assertions(t)?;
        self.check_integers(t)?;
        let mut causes = self.causes(kind == EventKind::Time);
        self.add_reverted(&settled.flips, &mut causes);
        let memory = self.model.memory();
        let Some(engine) = &self.quantised else { return Ok(()) };
        let slots = self.program.memory.slots.ids().filter(|&slot| engine.keeps(&self.program, slot));
        let changed = slots.filter_map(|slot| {
            let before = self.value_before(slot);
            (read(memory, slot).to_bits() != before.to_bits()).then_some((slot, before))
        });
        let changed: Vec<(SlotId, f64)> = changed.collect();
        let changes = self.changes_at_event();
        self.end_event_quantised(t, kind, causes, settled, changed, changes)
    }

    fn end_event_quantised(
        &mut self,
        t: f64,
        kind: EventKind,
        causes: Vec<EventCause>,
        settled: Settled,
        changed: Vec<(SlotId, f64)>,
        changes: Vec<Change>,
    ) -> Result<(), Failure> {
        let Some(engine) = &mut self.quantised else { return Ok(()) };
        let is_asserted = engine.go_on(&self.program, &mut self.model, t, &changed, &settled.flips);
        engine.changed = changed;
        let is_restart = engine.has_restarted;
        self.record_changes(t, kind, causes, settled.rounds, is_restart, changes)?;
        self.tell_rounds(&settled.flips);
        if is_asserted? {
            self.go_to_quantised(t)?;
            self.check_assertions(t)?;
        }
        match settled.termination {
            Some(i) => {
                self.go_to_quantised(t)?;
                self.terminate(i)
            }
            None => Ok(()),
        }
    }

    /// A value before the last event, as far as it is known: other continuous variables are not computed there.
    pub(super) fn left_quantised(&self, engine: &Quantised, slot: SlotId) -> f64 {
        if let Some((_, before)) = engine.changed.iter().find(|(changed, _)| *changed == slot) {
            return *before;
        }
        let kind = self.program.memory.slots.get(slot).map(|s| s.kind);
        match (kind, self.program.states.iter().position(|s| s.value == slot)) {
            (_, Some(i)) => engine.value(i, self.driver.now),
            (Some(kind), _) if !kind.is_continuous() => self.model.get(slot),
            (Some(SlotKind::Time), _) => self.driver.now,
            _ if engine.is_whole() => self.value_before(slot),
            _ => f64::NAN,
        }
    }
}
