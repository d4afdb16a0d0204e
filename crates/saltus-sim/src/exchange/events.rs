//! Events of a model that somebody else integrates, and the ends of steps between them.

use saltus_base::Index;
use saltus_program::{Activation, Held, ModelFunctions, RELATION_BAND, Relation, RelationId, SlotId};

use super::{Done, Exchange, Shown, told};
use crate::constants::{EVENT_PROGRESS, LOOK_AHEAD, SAME_INSTANT_ULPS};
use crate::crossing::{ERROR_OF_LOOPS, N_WEIGHTS, Restart};
use crate::error::{Failure, SimError, SimErrorKind};
use crate::event;
use crate::record::EventKind;
use crate::simulation::failing::values_of;
use crate::trajectory::{Warning, WarningKind};
use crate::zeno::{self, Verdict};

/// Part of the time span by which crossing functions are looked at ahead, to see where they are heading.
const AHEAD: f64 = 1e-3 * LOOK_AHEAD;

/// Events in one instant because of relations that others hold back.
const MOST_FOLLOWING: usize = 20;

/// What an event did.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Happened {
    /// The message of `terminate`.
    pub terminated: Option<String>,
    /// States have other values, or are other variables.
    pub states_changed: bool,
}

/// What the end of a step asks for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StepEnd {
    /// Other states must be chosen, at an event.
    pub needs_event: bool,
}

impl Exchange {
    /// Settles the event at the present time.
    pub fn event(&mut self) -> Result<Happened, SimError> {
        self.event_or_fail().map_err(told)
    }

    fn event_or_fail(&mut self) -> Result<Happened, Failure> {
        let happened = self.settle_once()?;
        self.follow(happened)
    }

    /// Relations that have been held at an event, and are beyond their thresholds all the same, change at the next one, in the same instant:
    /// whoever watches them afterwards would see no sign change.
    pub(super) fn follow(&mut self, mut happened: Happened) -> Result<Happened, Failure> {
        for _ in 0..MOST_FOLLOWING {
            if happened.terminated.is_some() || !self.has_state_events() {
                return Ok(happened);
            }
            self.look()?;
            self.watch.search.note_fired(&self.work.z, &self.work.scale);
            if self.watch.search.fired().is_empty() {
                return Ok(happened);
            }
            let next = self.settle_once()?;
            happened.states_changed |= next.states_changed;
            happened.terminated = next.terminated;
        }
        self.shift_undecided()?;
        Ok(happened)
    }

    /// Relations of which errors decide whether they hold: their functions are shifted until they have left the band of these errors, where the
    /// caller sees them again. Without that they would have the signs of the other values already, and stay unnoticed.
    fn shift_undecided(&mut self) -> Result<(), Failure> {
        self.look()?;
        self.watch.search.note_fired(&self.work.z, &self.work.scale);
        let undecided = self.watch.search.fired().to_vec();
        for &i in &undecided {
            self.watch.search.set_hysteresis(i, 2.0 * self.work.z[i].abs());
        }
        if undecided.is_empty() { Ok(()) } else { self.begin(false) }
    }

    fn settle_once(&mut self) -> Result<Happened, Failure> {
        let t = self.time_of_event();
        let (kind, held) = self.arrive(t)?;
        self.model.update_pre();
        self.restore_left_inputs();
        let before = self.model.snapshot();
        if std::mem::take(&mut self.watch.parameters_changed) {
            event::eval(&mut self.model, t, Activation::Parameters)?;
        }
        self.model.pass(t);
        let settled = event::settle_held(&self.program, &mut self.model, &self.options, t, &held);
        let settled = settled.map_err(Failure::after_all_starts)?;
        self.tell_other_structure(t);
        self.model.remember_event(t);
        self.watch.accepted = t;
        let exchanges = self.selection.review(&mut self.model, t)?;
        self.done = if exchanges.is_empty() { Done::All } else { Done::Nothing };
        self.evaluate(Done::All)?;
        self.check_assertions()?;
        let differs = |slot: SlotId| before[slot.index()].to_bits() != self.model.get(slot).to_bits();
        let states_changed = self.program.states.iter().any(|s| differs(s.value));
        self.judge(t, kind, &before, states_changed)?;
        self.begin(states_changed)?;
        Ok(Happened { terminated: settled.termination.map(|i| self.termination(i)), states_changed })
    }

    /// The previous values of inputs that jump here.
    fn restore_left_inputs(&mut self) {
        let left = std::mem::take(&mut self.watch.left);
        for &(variable, pre) in &self.program.memory.pre {
            if let Some(&value) = left.get(&variable) {
                self.model.set(pre, value);
            }
        }
    }

    /// In positions of switches in which the equations determine too little the structure may be another one, which cannot be entered here.
    pub(super) fn tell_other_structure(&mut self, t: f64) {
        let candidates = self.program.configuration.iter().flat_map(|c| &c.candidates);
        let positions: Vec<String> =
            candidates.map(|c| format!("{}: {}", c.text, self.model.get(c.condition) != 0.0)).collect();
        if positions.is_empty() || !self.model.is_singular() || std::mem::replace(&mut self.watch.is_open, true) {
            return;
        }
        let message = format!(
            "the equations do not determine all variables with {}; the structure may be another one there, which only co-simulation can follow",
            positions.join(", ")
        );
        let span = self.program.configuration.iter().flat_map(|c| &c.candidates).next().map(|c| c.span);
        let span = span.unwrap_or(saltus_base::Span::nowhere());
        self.watch.warnings.push(Warning { kind: WarningKind::Jump, time: t, message, span });
    }

    /// A caller that stops just before a time event means that event.
    fn time_of_event(&mut self) -> f64 {
        let (t, due) = (self.time(), self.watch.next_event);
        if due.is_finite() && t < due && t >= due - SAME_INSTANT_ULPS * (due.abs().next_up() - due.abs()) {
            self.set_time(due);
            return due;
        }
        t
    }

    /// The left limits at the event: what kind it is, and which relations are held.
    fn arrive(&mut self, t: f64) -> Result<(EventKind, Vec<Held>), Failure> {
        let is_due = t >= self.watch.next_event;
        match self.evaluate(Done::All) {
            // The branch that is left here may end here.
            Err(failure) if failure.is_recoverable() => return Ok((EventKind::State, Vec::new())),
            evaluated => evaluated?,
        }
        if t > self.watch.accepted {
            self.model.remember(t, self.watch.accepted);
        }
        self.model.accept();
        if !self.has_state_events() {
            return Ok((if is_due { EventKind::Time } else { EventKind::Outside }, Vec::new()));
        }
        self.look()?;
        self.watch.search.note_fired(&self.work.z, &self.work.scale);
        if !is_due {
            self.watch.search.note_nearly_fired(&self.work.z);
        }
        let kind = match (is_due, self.watch.search.fired().is_empty()) {
            (true, _) => EventKind::Time,
            (false, true) => EventKind::Outside,
            (false, false) => EventKind::State,
        };
        let is_disturbed = std::mem::take(&mut self.watch.is_disturbed);
        let held = self.watch.search.held(&self.program, kind, |r| self.model.get(r.crossing));
        if kind != EventKind::Outside || is_disturbed {
            return Ok((kind, held));
        }
        Ok(self.believe(t, held))
    }

    /// The caller has seen a crossing that is none here: evaluated again, a function that comes from a loop has another error. The relations
    /// that it was shown to have changed here do change. If it was shown changes elsewhere only, it has seen the end of such an error: that
    /// relation gets a band as wide, or the next step would find the same. Whoever was shown nothing means the relation closest to its change.
    /// In the instant of the last event nothing can have crossed: whoever asks once more finds it settled.
    fn believe(&mut self, t: f64, mut held: Vec<Held>) -> (EventKind, Vec<Held>) {
        // Operands may be as small as their difference; then its own size tells what an error is.
        let sizes: Vec<f64> = self.work.scale.iter().zip(&self.work.reach).map(|(s, r)| s.max(*r)).collect();
        let is_error = |i: usize, z: f64| z.abs() <= ERROR_OF_LOOPS * sizes[i];
        let (shown, z) = (&self.work.shown, &self.work.z);
        let strayed: Vec<usize> =
            (0..shown.len()).filter(|&i| shown[i].at.is_some() && is_error(i, shown[i].farthest)).collect();
        let is_later = t > self.watch.search.armed_at();
        let mut changed: Vec<usize> =
            (0..shown.len()).filter(|&i| is_later && shown[i].at == Some(t) && is_error(i, z[i])).collect();
        if is_later && strayed.is_empty() && changed.is_empty() {
            changed.extend(self.watch.search.nearest(z, &sizes));
        }
        for &i in &strayed {
            self.watch.search.set_hysteresis(i, 2.0 * shown[i].farthest);
        }
        for &i in &changed {
            let Some(relation) = self.program.events.relations.values().nth(i) else { continue };
            let band = 2.0 * self.work.z[i].abs();
            self.watch.search.set_hysteresis(i, band);
            held.retain(|held| held.memory != relation.memory);
            let value = self.model.get(relation.memory) == 0.0;
            held.push(Held { memory: relation.memory, value, band });
        }
        let kind = if strayed.is_empty() && changed.is_empty() { EventKind::Outside } else { EventKind::State };
        (kind, held)
    }

    /// Do events lead on?
    fn judge(&mut self, t: f64, kind: EventKind, before: &[f64], jumped: bool) -> Result<(), Failure> {
        let changes = |r: &Relation| (before[r.memory.index()] != 0.0) != (self.model.get(r.memory) != 0.0);
        let relations = &self.program.events.relations;
        let changed: Vec<RelationId> = relations.iter().filter(|(_, r)| changes(r)).map(|(id, _)| id).collect();
        let is_plain = kind == EventKind::State && !jumped;
        if is_plain && changed.is_empty() && !self.has_switched(before) {
            let is_progress = t - self.watch.unconfirmed_at > EVENT_PROGRESS * self.options.time_span();
            self.watch.unconfirmed_at = t;
            self.watch.search.widen_unconfirmed(&self.program, before, self.model.memory(), is_progress);
        }
        let (timed, is_due) = (kind != EventKind::State, kind == EventKind::Time);
        let is_small = self.watch.search.have_been_within(self.options.tolerance, &changed);
        let happened = zeno::Happened { time: t, changed: &changed, jumped, timed, is_due, is_small };
        match self.watch.zeno.judge(&happened, &self.options) {
            Verdict::Progress | Verdict::Hold(_) => {}
            Verdict::Alternating(alternating) | Verdict::Trembling(alternating) => self.tell_slide(t, &alternating),
            Verdict::Chattering { events } => {
                let relation = changed.first().and_then(|&id| relations.get(id));
                let text = relation.map_or("time", |r| &r.text).to_owned();
                let kind = SimErrorKind::Chattering { events, relation: text, modes: Vec::new() };
                let failure = Failure::new(t, kind);
                return Err(relation.map_or(failure.clone(), |r| failure.at(r.span)));
            }
        }
        Ok(())
    }

    fn has_switched(&self, before: &[f64]) -> bool {
        let slots = self.program.memory.slots.iter();
        let mut discrete = slots.filter(|(_, slot)| slot.kind == saltus_program::SlotKind::Discrete);
        discrete.any(|(id, _)| before[id.index()].to_bits() != self.model.get(id).to_bits())
    }

    /// Both sides of a threshold point at it. Going back and forth approximates the motion along it, which is all that can be done here.
    fn tell_slide(&mut self, t: f64, relations: &[RelationId]) {
        for &id in relations {
            let Some(relation) = self.program.events.relations.get(id) else { continue };
            self.watch.search.widen(id.index(), self.model.get(relation.scale));
            if !std::mem::replace(&mut self.watch.slides, true) {
                let message = format!("the model slides along the threshold of `{}`: it chatters", relation.text);
                self.watch.warnings.push(Warning { kind: WarningKind::Jump, time: t, message, span: relation.span });
            }
        }
    }

    /// Begins to watch, after an event or the start.
    pub(super) fn begin(&mut self, jumped: bool) -> Result<(), Failure> {
        let t = self.time();
        self.watch.next_event = event::next_time_event(&self.model, t);
        if !self.has_state_events() {
            return Ok(());
        }
        self.look()?;
        self.work.shown.fill(Shown::default());
        self.work.reach.iter_mut().zip(&self.work.z).for_each(|(reach, z)| *reach = z.abs());
        let (now, scale) = (self.work.z.clone(), self.work.scale.clone());
        let soon = self.look_ahead(t).unwrap_or_else(|| now.clone());
        let memory = self.program.events.relations.values().map(|r| self.model.get(r.memory) != 0.0);
        let memory: Vec<bool> = memory.chain([true; N_WEIGHTS]).collect();
        let masked = self.masking.masked(self.model.memory());
        let tight = vec![f64::INFINITY; now.len()];
        let state =
            Restart { t, memory: &memory, now: &now, scale: &scale, soon: &soon, jumped, tight: &tight, slack: 0.0 };
        self.watch.search.arm(&state, &masked);
        Ok(())
    }

    /// The crossing functions a little later along the tangent; leaves no trace.
    fn look_ahead(&mut self, t: f64) -> Option<Vec<f64>> {
        let ahead = AHEAD * self.options.time_span();
        self.model.checkpoint();
        self.model.get_states(&mut self.work.x);
        for (x, state) in self.work.x.iter_mut().zip(&self.program.states) {
            *x += ahead * self.model.get(state.derivative);
        }
        self.model.set_continuous(t + ahead, &self.work.x);
        let before = std::mem::replace(&mut self.done, Done::Nothing);
        let looked = self.look().is_ok();
        self.done = before;
        self.model.rollback();
        looked.then(|| self.work.z.clone())
    }

    /// The present point belongs to the solution: the step that led here is over.
    pub fn end_step(&mut self) -> Result<StepEnd, SimError> {
        self.end_step_or_fail().map_err(told)
    }

    fn end_step_or_fail(&mut self) -> Result<StepEnd, Failure> {
        let t = self.time();
        match self.evaluate(Done::All) {
            // Beyond an event the branch that it leaves may have no solution.
            Err(failure) if failure.is_recoverable() && self.has_state_events() => {
                return Ok(StepEnd { needs_event: true });
            }
            evaluated => evaluated?,
        }
        if t > self.watch.accepted {
            self.model.remember(t, self.watch.accepted);
            self.watch.accepted = t;
        }
        self.model.accept();
        self.check_assertions()?;
        if self.has_state_events() {
            self.look()?;
            self.watch.search.note_fired(&self.work.z, &self.work.scale);
            // A relation that has changed here has not left its band without a change: the caller goes on with an event.
            if self.watch.search.fired().is_empty() {
                self.leave_bands()?;
            }
        }
        let needs_event = self.selection.is_due(&mut self.model, t)?;
        self.watch.is_disturbed |= needs_event;
        Ok(StepEnd { needs_event })
    }

    /// Ends the shifts of functions that have left the bands around their thresholds, at the point that was looked at last.
    fn leave_bands(&mut self) -> Result<(), Failure> {
        let left = self.watch.search.leave_band(&self.program, &self.work.z);
        left.map_err(|mut failure| {
            if let SimErrorKind::Zeno { accumulation, .. } = &mut failure.kind {
                *accumulation = self.watch.zeno.accumulation();
            }
            failure
        })
    }

    /// The event at which `terminal()` is true.
    pub fn finish(&mut self) -> Result<(), SimError> {
        if !event::asks_for_terminal(&self.program) {
            return Ok(());
        }
        self.evaluate(Done::All).map_err(told)?;
        let t = self.time();
        self.model.set(self.program.memory.terminal, 1.0);
        self.model.update_pre();
        event::settle(&self.program, &mut self.model, &self.options, t).map_err(told)?;
        Ok(())
    }

    pub(super) fn termination(&mut self, i: usize) -> String {
        let program = self.program.clone();
        program.events.terminations.get(i).map_or(String::new(), |t| self.model.message(&t.message))
    }

    /// Fails if an assertion does not hold at the present point, which has been evaluated; those of level warning are told once.
    pub(super) fn check_assertions(&mut self) -> Result<(), Failure> {
        let (t, program) = (self.time(), self.program.clone());
        for (i, assertion) in program.events.assertions.iter().enumerate() {
            // A relation whose operands are equal up to rounding decides nothing.
            let is_open = |id: &RelationId| {
                let bound = program.events.bounds.get(*id);
                bound.is_some_and(|b| self.model.get(b.crossing).abs() <= RELATION_BAND * self.model.get(b.scale))
            };
            let is_violated = self.model.get(assertion.condition) == 0.0 && !assertion.bounds.iter().any(is_open);
            let is_known = std::mem::replace(&mut self.watch.violated[i], is_violated);
            if !is_violated || assertion.is_warning && is_known {
                continue;
            }
            let message = self.model.message(&assertion.message);
            if !assertion.is_warning {
                let details = values_of(&self.model, assertion);
                return Err(Failure::new(t, SimErrorKind::AssertionFailed { message })
                    .at(assertion.span)
                    .with(details));
            }
            let kind = WarningKind::Assertion;
            self.watch.warnings.push(Warning { kind, time: t, message, span: assertion.span });
        }
        for (span, part) in self.model.take_unfulfilled() {
            let kind = WarningKind::Unfulfilled;
            self.watch.warnings.push(Warning { kind, time: t, message: format!("{part:.1e}"), span });
        }
        for warning in self.model.take_warnings() {
            let span = warning.span.unwrap_or(saltus_base::Span::nowhere());
            let kind = WarningKind::Assertion;
            self.watch.warnings.push(Warning { kind, time: t, message: warning.message, span });
        }
        Ok(())
    }
}
