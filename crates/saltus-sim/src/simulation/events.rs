//! Events: settled in rounds, judged, and followed by a restart of the integrator if they disturb it.
//!
//! In: the time and kind of an event. Out: the right limits, two rows, a record. An event that changes no state and nothing
//! that the derivatives depend on leaves the integrator alone.

use saltus_base::Span;
use saltus_program::{
    Held, ModelFunctions, Moment, RELATION_BAND, Relation, RelationId, SlotId, SlotKind, SlotType, read,
};

use super::{Phase, Simulation};
use crate::constants::{EVENT_PROGRESS, MOST_ALTERNATIVES};
use crate::error::{Failure, SimErrorKind};
use crate::event::{self, Settled};
use crate::record::EventKind;
use crate::sliding::Slide;
use crate::trajectory::End;
use crate::zeno::{Happened, Verdict};

impl Simulation {
    /// Settles the event at `t`; true if the integrator was restarted.
    pub(super) fn event(&mut self, t: f64, kind: EventKind) -> Result<bool, Failure> {
        self.during_event(t, |run| run.settle_event(t, kind))
    }

    fn settle_event(&mut self, t: f64, kind: EventKind) -> Result<bool, Failure> {
        self.go_to(t)?;
        let slide = match self.model.end_slide() {
            Some(slide) if kind == EventKind::State && slide.is_over() => return self.leave(t, *slide),
            slide => slide,
        };
        self.model.update_pre();
        self.model.show(Moment::Before);
        self.write_left_row(t)?;
        self.skip_output_point(t);
        self.remember_memory();
        let has_left = self.model.pass(t);
        let memory = self.model.memory();
        let mut held = self.driver.search.held(&self.program, kind, |r| read(memory, r.crossing));
        held.extend(slide.iter().flat_map(|slide| self.held_after(slide)));
        let before = if self.has_candidates() { self.model.snapshot() } else { Vec::new() };
        let settled = event::settle_held(&self.program, &mut self.model, &self.options, t, &held);
        let mut settled = settled.map_err(|failure| self.located(failure.after_all_starts()));
        let is_fixed = self.needs_fixing(&settled);
        if is_fixed {
            settled = self.fix_event(t, before, settled);
        }
        // The integrator is another one where the program has been exchanged, also for the same one again.
        let is_exchanged = is_fixed && self.known.entered.is_none();
        let Settled { rounds, termination, flips } = settled?;
        self.model.remember_event(t);
        self.write_row_after(t)?;
        self.check_integers(t)?;
        let mut causes = self.causes(kind == EventKind::Time);
        self.add_reverted(&flips, &mut causes);
        let exchanges = self.selection.review(&mut self.model, t)?;
        causes.extend(self.selection.causes(&exchanges));
        let disturbed = self.is_disturbed() || !exchanges.is_empty() || is_exchanged;
        let jumped = self.has_jumped();
        let changed = self.changed_relations();
        if jumped && kind == EventKind::State {
            self.refuse_to_tunnel(t, &changed)?;
        }
        let (timed, is_due) = (kind != EventKind::State, kind == EventKind::Time);
        let is_small = self.driver.search.have_been_within(self.options.tolerance, &changed);
        let happened = Happened { time: t, changed: &changed, jumped, timed, is_due, is_small };
        let verdict = self.driver.zeno.judge(&happened, &self.options);
        self.record(t, kind, causes, rounds, disturbed)?;
        self.tell_rounds(&flips);
        if has_left {
            self.note_event("a jump leaves a spatialDistribution");
        } else if changed.is_empty() && !disturbed && kind == EventKind::State && !self.has_switched() {
            self.widen_unconfirmed(t);
        }
        if let Verdict::Chattering { events } = verdict {
            return Err(self.chattering(t, &changed, events));
        }
        if termination.is_none()
            && let Some(has_jumped) = self.change_structure(t)?
        {
            self.schedule(t);
            self.start_integrator(t, false, jumped || has_jumped)?;
            return Ok(true);
        }
        let slides_on = match &slide {
            Some(slide) if !jumped => self.resume_slide(t, slide, &changed)?,
            _ => false,
        };
        match verdict {
            _ if slides_on => {}
            Verdict::Progress | Verdict::Chattering { .. } => {}
            Verdict::Alternating(relations) => self.slide_or_widen(t, &changed, &relations)?,
            Verdict::Trembling(relations) => {
                self.slide_along(t, &changed, &relations)?;
            }
            Verdict::Hold(until) => self.driver.hold = Some(until),
        }
        if let Some(i) = termination {
            self.terminate(i)?;
            return Ok(false);
        }
        self.schedule(t);
        if self.model.is_sliding() {
            self.write_event_row(t)?;
        }
        // The end and the beginning of a slide change the derivatives, too.
        let is_other = slide.is_some() || self.model.is_sliding();
        let disturbed = disturbed || is_other;
        if disturbed {
            // What the integrator has learnt about other derivatives does not help.
            self.start_integrator(t, !is_other, jumped)?;
            if !jumped && kind == EventKind::State && self.slide_at_once(t, &changed)? {
                self.start_integrator(t, false, false)?;
            }
        } else {
            self.arm(t, jumped)?;
        }
        Ok(disturbed)
    }

    /// Relations along whose thresholds the model slid until now are rounding.
    fn held_after(&self, slide: &Slide) -> Vec<Held> {
        let relations = slide.differing().iter().filter_map(|&id| self.program.events.relations.get(id));
        let held = |r: &Relation| {
            let band = 2.0 * self.model.get(r.crossing).abs().max(RELATION_BAND * self.model.get(r.scale));
            Held { memory: r.memory, value: self.model.get(r.memory) != 0.0, band }
        };
        relations.map(held).collect()
    }

    /// The row after an event that has been settled, unless the structure changes: then it is the new one's to say.
    pub(super) fn write_row_after(&mut self, t: f64) -> Result<(), Failure> {
        if self.other_key().is_some() || self.known.entered.is_some() {
            return Ok(());
        }
        self.model.show(Moment::After);
        self.write_event_row(t)
    }

    /// Relations seen to change during integration, but not at the event: rounding, or one of several solutions of a
    /// loop. The event is right; they may go as far again before they are looked at once more.
    fn widen_unconfirmed(&mut self, t: f64) {
        let is_progress = t - self.driver.unconfirmed_at > EVENT_PROGRESS * self.options.time_span();
        self.driver.unconfirmed_at = t;
        let (before, after) = (&self.driver.before, self.model.memory());
        self.driver.search.widen_unconfirmed(&self.program, before, after, is_progress);
    }

    /// Did a discrete variable change? Then a relation that is back where it was has a new threshold, as that of
    /// `integer(x)` for the next step of a staircase, which may be of any height.
    fn has_switched(&self) -> bool {
        let memory = self.model.memory();
        let changed = |slot: SlotId| self.value_before(slot).to_bits() != read(memory, slot).to_bits();
        self.program.memory.slots.iter().any(|(id, slot)| slot.kind == SlotKind::Discrete && changed(id))
    }

    fn changed_relations(&self) -> Vec<RelationId> {
        let memory = self.model.memory();
        let changed = |r: &Relation| (read(memory, r.memory) != 0.0) != (self.value_before(r.memory) != 0.0);
        self.program.events.relations.iter().filter(|(_, r)| changed(r)).map(|(id, _)| id).collect()
    }

    pub(super) fn chattering(&self, t: f64, changed: &[RelationId], events: u64) -> Failure {
        // An event that changed nothing was found by the relation that is closest to a change.
        let changed = changed.iter().find_map(|&id| self.program.events.relations.get(id));
        let relation = changed.or_else(|| Some(self.closest_relation()?.1));
        let (text, span) = relation.map_or(("time", Span::nowhere()), |r| (&r.text, r.span));
        let kind = SimErrorKind::Chattering { events, relation: text.to_owned(), modes: self.alternatives() };
        Failure::new(t, kind).at(span)
    }

    /// Discrete variables that the derivatives depend on and that have just changed.
    fn alternatives(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for &slot in &self.program.events.derivative_modes {
            let (before, after) = (self.value_before(slot), self.model.get(slot));
            if before != after && texts.len() < MOST_ALTERNATIVES {
                let is_boolean = self.program.memory.slots.get(slot).is_some_and(|s| s.ty == SlotType::Boolean);
                let text = |x: f64| if is_boolean { (x != 0.0).to_string() } else { x.to_string() };
                texts.push(format!("{} = {} or {}", self.program.memory.slot_name(slot), text(before), text(after)));
            }
        }
        texts
    }

    pub(super) fn closest_relation(&self) -> Option<(RelationId, &Relation)> {
        let distance = |r: &Relation| (self.model.get(r.crossing) / self.model.get(r.scale)).abs();
        self.program.events.relations.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))
    }

    fn has_jumped(&self) -> bool {
        let memory = self.model.memory();
        let changed = |slot: SlotId| self.value_before(slot).to_bits() != read(memory, slot).to_bits();
        self.program.states.iter().any(|s| changed(s.value))
    }

    /// Did a state change, or something that the derivatives depend on?
    fn is_disturbed(&self) -> bool {
        let memory = self.model.memory();
        let changed = |slot: SlotId| self.value_before(slot).to_bits() != read(memory, slot).to_bits();
        self.program.states.iter().any(|s| changed(s.value))
            || self.program.events.derivative_modes.iter().any(|&s| changed(s))
    }

    /// The model calls `terminate`: the terminal event follows at once.
    pub(super) fn terminate(&mut self, i: usize) -> Result<(), Failure> {
        let message = self.termination(i);
        self.driver.end = End::Terminated { message };
        self.end_or_fail()?;
        // Where there are no rows at events the run still ends with one.
        let t = self.driver.now;
        if self.driver.last_row == Some(t) { Ok(()) } else { self.write_row(t) }
    }

    pub(super) fn terminated(&self) -> Option<String> {
        match &self.driver.end {
            End::Terminated { message } => Some(message.clone()),
            End::StopTime => None,
        }
    }

    /// The event at which `terminal()` is true.
    pub(super) fn end_or_fail(&mut self) -> Result<(), Failure> {
        if matches!(self.driver.phase, Phase::New | Phase::Over) {
            return Ok(());
        }
        self.view = None;
        let t = if self.terminated().is_some() { self.model.get(self.program.memory.time) } else { self.driver.now };
        let is_wanted = event::asks_for_terminal(&self.program);
        if self.terminated().is_none() && !self.is_at_rest() {
            self.go_to(t)?;
        }
        self.driver.now = t;
        self.driver.phase = Phase::Over;
        self.model.set(self.program.memory.terminal, 1.0);
        if !is_wanted {
            return self.close_event();
        }
        self.model.update_pre();
        self.model.show(Moment::Before);
        self.remember_memory();
        let settled = event::settle(&self.program, &mut self.model, &self.options, t)?;
        self.model.show(Moment::After);
        self.write_event_row(t)?;
        let causes = self.causes(false);
        self.record(t, EventKind::Terminal, causes, settled.rounds, false)?;
        self.close_event()
    }
}
