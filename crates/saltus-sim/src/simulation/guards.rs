//! Branches that end at their own guard.
//!
//! ```text
//! der(h) = -(if h > 0 then sqrt(h) else 0)      just before h = 0 every trial point lies beyond it, where the branch that is being
//!                                               left has no value: steps shrink towards the threshold and never get there
//! ```
//!
//! In: the failure of a step. Out: if a relation is about to change, within less than the accuracy of the states, the event at which
//! it does, on the tangent of the last point that could be evaluated; else the failure.

use saltus_program::{ModelFunctions, Moment, Relation};

use super::{Phase, Simulation};
use crate::constants::{OVERSHOOTS, RELATIVE_MOVE};
use crate::error::Failure;
use crate::event;
use crate::record::EventKind;
use crate::sliding::{derivatives_and_crossings, nominal_values};

impl Simulation {
    /// Goes on beyond the threshold at which a step failed, or fails with `failure`.
    pub(super) fn cross_guard(&mut self, failure: Failure) -> Result<(), Failure> {
        if self.driver.phase != Phase::Between || self.model.is_sliding() || !failure.is_at_an_end() {
            return Err(failure);
        }
        let memory = self.model.snapshot();
        let t = self.driver.integrator.time();
        let is_there = self.go_to(t).is_ok();
        let ahead = if is_there { self.time_to_threshold(t) } else { None };
        if let Some(ahead) = ahead {
            let here = self.model.snapshot();
            for overshoot in OVERSHOOTS {
                self.model.restore(&here);
                if self.event_ahead(t, ahead * overshoot).is_some_and(|changed| changed) {
                    return Ok(());
                }
            }
        }
        self.model.restore(&memory);
        Err(failure)
    }

    /// How long it takes along the tangent until the first relation changes, if no state moves by more than its accuracy until then.
    fn time_to_threshold(&mut self, t: f64) -> Option<f64> {
        let nominal = nominal_values(&self.program);
        let n = nominal.len();
        let (mut x, mut dx) = (vec![0.0; n], vec![0.0; n]);
        self.model.get_states(&mut x);
        self.model.get_derivatives(&mut dx);
        let pace = |((x, dx), nominal): ((&f64, &f64), &f64)| (x.abs() + nominal) / dx.abs();
        let longest = x.iter().zip(&dx).zip(&nominal).map(pace).fold(t.abs().max(self.options.time_span()), f64::min);
        let z = |simulation: &Simulation| -> Vec<f64> {
            simulation.program.events.relations.values().map(|r| simulation.model.get(r.crossing)).collect()
        };
        let (now, here) = (z(self), self.model.snapshot());
        // Ahead it cannot be evaluated.
        let h = RELATIVE_MOVE * longest;
        let before: Vec<f64> = x.iter().zip(&dx).map(|(x, dx)| x - h * dx).collect();
        self.model.set_continuous(t - h, &before);
        let is_ok = derivatives_and_crossings(&mut self.model).is_ok();
        let earlier = z(self);
        self.model.restore(&here);
        let masked = self.masking.masked(self.model.memory());
        let reach = self.options.tolerance * longest;
        let time = |(i, (now, earlier)): (usize, (&f64, &f64))| {
            let is_masked = masked.iter().any(|id| saltus_base::Index::index(*id) == i);
            let ahead = now * h / (earlier - now);
            (!is_masked && (0.0..=reach).contains(&ahead)).then_some(ahead)
        };
        is_ok.then(|| now.iter().zip(&earlier).enumerate().filter_map(time).reduce(f64::min))?
    }

    /// The event at the end of the tangent; true if a relation has changed there. `None` if it cannot be settled.
    fn event_ahead(&mut self, t: f64, ahead: f64) -> Option<bool> {
        self.model.update_pre();
        self.model.show(Moment::Before);
        self.remember_memory();
        let n = self.program.states.len();
        let (mut x, mut dx) = (vec![0.0; n], vec![0.0; n]);
        self.model.get_states(&mut x);
        self.model.get_derivatives(&mut dx);
        x.iter_mut().zip(&dx).for_each(|(x, dx)| *x += ahead * dx);
        let at = t + ahead;
        self.model.set_continuous(at, &x);
        self.model.pass(at);
        let settled = event::settle(&self.program, &mut self.model, &self.options, at).ok()?;
        let has_changed = |r: &Relation| (self.model.get(r.memory) != 0.0) != (self.value_before(r.memory) != 0.0);
        if settled.termination.is_some() || !self.program.events.relations.values().any(has_changed) {
            return Some(false);
        }
        let after = self.model.snapshot();
        self.model.restore(&self.driver.before.clone());
        self.write_left_row(at).ok()?;
        self.skip_output_point(at);
        self.model.restore(&after);
        self.model.remember_event(at);
        self.write_row_after(at).ok()?;
        let causes = self.causes(false);
        self.record(at, EventKind::State, causes, settled.rounds, true).ok()?;
        let is_other = self.change_structure(at).ok()?.is_some();
        self.schedule(at);
        self.start_integrator(at, !is_other, false).ok()?;
        self.driver.now = at;
        Some(true)
    }
}
