//! Assertions that fail in a step.
//!
//! ```text
//! assert(abs(T1 - T2) < 0.1, …)    with T1 and T2 found to 1e-6 of 300: it may fail although the difference of the solution is 0
//! ```
//!
//! The instant at which a relation of an assertion changes ([`bounds`](super::bounds)) is where it is judged; assertions without one,
//! as those of functions, are judged at the ends of steps and at rows.
//!
//! An assertion that fails in a step may fail because of the error of that step. The step is then repeated, shorter and thus more accurate,
//! before it counts. Only if the run does not get beyond that point the assertion ends it.

use saltus_program::ModelFunctions;

use super::{Next, Pending, Phase, Simulation};
use crate::constants::{CONVINCING, MOST_ASSERTION_RETRIES, MOST_JUDGEMENTS, SAME_INSTANT_ULPS, SHORTER};
use crate::error::Failure;
use crate::event;

/// A point where an assertion has failed.
pub(super) struct Obstacle {
    /// How far the run must get for that to be forgotten.
    until: f64,
    /// If it still fails in a step no longer than this, the error of the step is not to blame.
    shortest: f64,
    retries: u32,
}

/// What assertions say about a step.
pub(super) enum Judgement {
    /// It has been made shorter, because one of them fails.
    Repeated,
    /// They are to be judged at the second time, at which a relation has changed since the first.
    Changes(f64, f64),
    /// No relation of theirs changes.
    Unchanged,
}

impl Simulation {
    /// Looks at the assertions in the part of a step that ends at `to`, which `is_event` or the end of the step.
    pub(super) fn look_at_assertions(
        &mut self,
        pending: &mut Pending,
        to: f64,
        is_event: bool,
    ) -> Result<Judgement, Failure> {
        let assertions = &self.program.events.assertions;
        if assertions.is_empty() || is_event && !self.has_bounds() {
            return Ok(Judgement::Unchanged);
        }
        match self.evaluate_at(to) {
            // The branch that is left at an event may end there.
            Err(failure) if is_event && failure.is_recoverable() => return Ok(Judgement::Unchanged),
            evaluated => evaluated?,
        }
        let holds = self.assertions_hold();
        let found = if self.is_noise() { None } else { self.first_bound(pending.from, to)? };
        // What changes in the instant of an event is judged after it.
        let is_due = |at: f64| !is_event || at < to - SAME_INSTANT_ULPS * (to.abs().next_up() - to.abs());
        if let Some(bracket) = found.filter(|bracket| is_due(bracket.after)) {
            self.evaluate_at(bracket.after)?;
            if !self.assertions_hold() && self.repeat_shorter(pending, bracket.after)? {
                return Ok(Judgement::Repeated);
            }
            return Ok(Judgement::Changes(bracket.before, bracket.after));
        }
        self.driver.bounds.leave_to_event();
        if is_event {
            return Ok(Judgement::Unchanged);
        }
        if !holds {
            let is_repeated = self.repeat_shorter(pending, pending.end)?;
            return Ok(if is_repeated { Judgement::Repeated } else { Judgement::Unchanged });
        }
        if self.work.obstacle.as_ref().is_some_and(|obstacle| pending.end > obstacle.until) {
            self.work.obstacle = None;
        }
        pending.is_checked = true;
        Ok(Judgement::Unchanged)
    }

    fn evaluate_at(&mut self, t: f64) -> Result<(), Failure> {
        self.recall_loops(t);
        self.driver.integrator.interpolate(t, &mut self.work.x);
        self.model.set_continuous(t, &self.work.x);
        event::eval_continuous(&mut self.model, t)
    }

    /// Do all assertions hold that would end the run? Expects that everything has been evaluated.
    pub(super) fn assertions_hold(&self) -> bool {
        self.program.events.assertions.iter().all(|a| a.is_warning || !self.is_violated(a))
    }

    /// Is there nothing to tell of? Expects that everything has been evaluated.
    pub(super) fn is_as_known(&self) -> bool {
        let assertions = self.program.events.assertions.iter().zip(&self.driver.bounds.violated);
        assertions.into_iter().all(|(a, known)| a.is_warning && *known || !self.is_violated(a))
    }

    /// An assertion does not hold at a row: the step has become shorter, or the instant is known at which that has changed. False if neither
    /// is possible.
    pub(super) fn steps_back(&mut self, pending: &mut Pending, row: f64) -> Result<bool, Failure> {
        if !self.assertions_hold() && self.repeat_shorter(pending, row)? {
            self.driver.phase = Phase::Inside(*pending);
            return Ok(true);
        }
        let from = self.driver.last_row.map_or(pending.from, |last| last.max(pending.from));
        let found =
            if self.has_bounds() && from < row && !self.is_noise() { self.change_between(from, row)? } else { None };
        let Some(bracket) = found else { return Ok(false) };
        pending.next = Some(Next::Bound { before: bracket.before, at: bracket.after });
        self.driver.phase = Phase::Inside(*pending);
        Ok(true)
    }

    /// Judges the assertions at an instant at which a relation of theirs has changed. The rest of the step still counts.
    pub(super) fn judge(&mut self, pending: Pending, before: f64, at: f64) -> Result<(), Failure> {
        self.write_points_before(at)?;
        self.remember_histories(pending.from, at)?;
        self.go_to(at)?;
        if !self.assertions_hold() {
            self.go_to(before)?;
            self.show_point();
            self.write_unchecked(before)?;
            self.go_to(at)?;
            return self.write_row(at);
        }
        self.work.judgements += 1;
        self.check_assertions(at)?;
        self.arm_bounds(at)?;
        self.driver.now = at;
        self.driver.phase = Phase::Inside(Pending { from: at, is_checked: false, next: None, ..pending });
        Ok(())
    }

    /// Have relations of assertions changed so often in this step that only the error of a loop can be to blame? Then assertions are
    /// judged where the step ends, and at rows.
    fn is_noise(&self) -> bool {
        self.work.judgements >= MOST_JUDGEMENTS
    }

    /// An assertion fails at the time `at` in a step: makes the step shorter; false if that is in vain.
    pub(super) fn repeat_shorter(&mut self, pending: &mut Pending, at: f64) -> Result<bool, Failure> {
        let length = pending.end - pending.from;
        let is_shortest = pending.from + SHORTER * length <= pending.from;
        if is_shortest || self.program.states.is_empty() || !self.options.solver.controls_error() {
            return Ok(false);
        }
        let new = Obstacle { until: at, shortest: CONVINCING * length, retries: MOST_ASSERTION_RETRIES };
        let obstacle = self.work.obstacle.get_or_insert(new);
        if obstacle.retries == 0 || length <= obstacle.shortest {
            return Ok(false);
        }
        obstacle.retries -= 1;
        let end = self.shorten_step(pending.from, pending.end, self.step_too_small(pending.from))?;
        *pending = Pending { end, is_checked: false, next: None, ..*pending };
        Ok(true)
    }
}
