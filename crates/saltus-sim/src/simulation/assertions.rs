//! Assertions that fail in a step.
//!
//! ```text
//! assert(abs(T1 - T2) < 0.1, …)    with T1 and T2 found to 1e-6 of 300: it may fail although the difference of the solution is 0
//! ```
//!
//! An assertion that fails in a step, at its end or where a row is due, may fail because of the error of that step. The step is then
//! repeated, shorter and thus more accurate, before it counts. Only if the run does not get beyond that point the assertion ends it: near the point
//! where it begins to be violated.

use saltus_program::ModelFunctions;

use super::{Pending, Simulation};
use crate::constants::{CONVINCING, MOST_ASSERTION_RETRIES, SHORTER};
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

impl Simulation {
    /// Looks at the assertions at the end of a step. True if one fails and the step has been made shorter.
    pub(super) fn repeats_for_assertion(&mut self, pending: &mut Pending) -> Result<bool, Failure> {
        let ends_otherwise = pending.end == self.driver.time_event || self.driver.hold == Some(pending.end);
        if ends_otherwise || self.program.events.assertions.iter().all(|assertion| assertion.is_warning) {
            return Ok(false);
        }
        self.recall_loops(pending.end);
        self.driver.integrator.interpolate(pending.end, &mut self.work.x);
        self.model.set_continuous(pending.end, &self.work.x);
        event::eval_continuous(&mut self.model, pending.end)?;
        if !self.assertions_hold() {
            return self.repeat_shorter(pending, pending.end);
        }
        if self.work.obstacle.as_ref().is_some_and(|obstacle| pending.end > obstacle.until) {
            self.work.obstacle = None;
        }
        pending.is_checked = true;
        Ok(false)
    }

    /// Do all assertions hold that would end the run? Expects that everything has been evaluated.
    pub(super) fn assertions_hold(&self) -> bool {
        self.program.events.assertions.iter().all(|a| a.is_warning || self.model.get(a.condition) != 0.0)
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
