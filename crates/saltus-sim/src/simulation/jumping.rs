//! Where a solution of the equations ends, the model jumps to another one, if there is one.
//!
//! ```text
//! v ┤━━━━━━━╮                 the characteristic turns back: a trigger that saturates, a pump whose flow reverses
//!   │    ╭──╯                 steps shrink towards its end, and no smaller one helps
//!   │    ╰━━━━━━━━━━  t       an event there solves the loops anew, from all starts
//! ```
//!
//! In: the failure of a step or of a point within it. Out: an event of its own kind with the last point of one solution and
//! the first of the other, and a warning; or the failure, where there is no other solution.

use saltus_program::{ModelFunctions, Moment};

use super::{Phase, Simulation};
use crate::constants::{JUMP_PROGRESS, JUMP_REACH, MOST_BISECTIONS, MOST_JUMPS_IN_A_ROW};
use crate::error::Failure;
use crate::event;
use crate::record::EventKind;
use crate::trajectory::{Warning, WarningKind};

/// The last jumps.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Jumps {
    n_in_a_row: i32,
    last: Option<f64>,
}

impl Simulation {
    /// Goes on with another solution, or fails with `failure`.
    pub(super) fn jump(&mut self, failure: Failure) -> Result<(), Failure> {
        if !failure.is_unsolved() || self.model.is_sliding() {
            return Err(failure);
        }
        let memory = self.model.snapshot();
        let is_progress = |last: f64| failure.time > last + JUMP_PROGRESS * self.options.time_span();
        if self.driver.jumps.last.is_none_or(is_progress) {
            self.driver.jumps.n_in_a_row = 0;
        }
        while self.driver.jumps.n_in_a_row < MOST_JUMPS_IN_A_ROW {
            let reach = JUMP_REACH * self.options.time_span() * 10f64.powi(self.driver.jumps.n_in_a_row);
            self.driver.jumps.n_in_a_row += 1;
            let ends = self.ends_of_jump(failure.time, reach);
            if ends.and_then(|(from, to)| self.jump_between(from, to, &failure)).is_some() {
                return Ok(());
            }
            self.model.restore(&memory);
        }
        Err(failure)
    }

    /// The last point of the present solution and a point beyond it.
    fn ends_of_jump(&mut self, failed: f64, reach: f64) -> Option<(f64, f64)> {
        let (start, end) = (self.driver.integrator.step_start(), self.driver.integrator.time());
        let (mut from, mut to) = (end, end + reach);
        if failed > start && failed <= end {
            let written = self.driver.last_row;
            from = written.filter(|t| (start..failed).contains(t)).unwrap_or(start);
            to = failed;
            // At the very end of a solution its last point is not found again, and none behind it.
            let is_found = self.go_to(from).is_ok();
            for _ in 0..MOST_BISECTIONS {
                let middle = 0.5 * (from + to);
                if !is_found || to - from <= reach || middle <= from || middle >= to {
                    break;
                }
                if self.go_to(middle).is_ok() {
                    from = middle;
                } else {
                    to = middle;
                }
            }
        }
        // Near the end of a solution even the next point may be found with luck, and none behind it.
        let to = to.max(from + reach);
        let is_within = to > from && to < self.driver.time_event && to < self.options.stop_time;
        is_within.then_some((from, to))
    }

    /// `None` if there is no other solution.
    fn jump_between(&mut self, from: f64, to: f64, failure: &Failure) -> Option<()> {
        self.write_points_before(from).ok()?;
        self.remember_histories(self.driver.integrator.step_start(), from).ok()?;
        // Where the solution ended at a restart, its last point is not found again: what is left of the attempt is nothing to show.
        let is_found = self.go_to(from).is_ok();
        self.model.update_pre();
        if is_found {
            self.model.show(Moment::Before);
        }
        self.remember_memory();
        let ahead = to - self.driver.integrator.time();
        self.driver.integrator.interpolate(to.min(self.driver.integrator.time()), &mut self.work.x);
        if ahead > 0.0 {
            let slopes = self.driver.integrator.derivatives();
            self.work.x.iter_mut().zip(slopes).for_each(|(x, dx)| *x += ahead * dx);
        }
        self.model.set_continuous(to, &self.work.x);
        self.model.pass(to);
        let settled = event::settle(&self.program, &mut self.model, &self.options, to).ok()?;
        if settled.termination.is_some() {
            return None;
        }
        let after = self.model.snapshot();
        let before = std::mem::take(&mut self.driver.before);
        if is_found {
            self.model.restore(&before);
            self.write_event_row(to).ok()?;
            self.model.restore(&after);
        }
        self.driver.before = before;
        self.model.remember_event(to);
        self.write_row_after(to).ok()?;
        self.tell_jump(to, settled.rounds, failure).ok()?;
        self.driver.jumps.last = Some(to);
        let is_other = self.change_structure(to).ok()?.is_some();
        self.schedule(to);
        self.start_integrator(to, !is_other, true).ok()?;
        self.driver.phase = Phase::Between;
        self.driver.now = to;
        Some(())
    }

    fn tell_jump(&mut self, t: f64, rounds: usize, failure: &Failure) -> Result<(), Failure> {
        let causes = self.causes(false);
        self.record(t, EventKind::Jump, causes, rounds, true)?;
        let message = failure.kind.to_string();
        self.note_event(&format!("the solution of the equations ends here: {message}"));
        let is_known = |w: &Warning| w.kind == WarningKind::Jump && w.span == failure.span;
        if !self.driver.warnings.iter().any(is_known) {
            self.driver.warnings.push(Warning { kind: WarningKind::Jump, time: t, message, span: failure.span });
        }
        Ok(())
    }
}
