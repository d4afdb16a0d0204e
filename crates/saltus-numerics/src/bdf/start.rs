//! The first step after a restart, by a one-step method of order 5.
//!
//! A formula of order 1, which is all that a multistep method has without a past, needs many short steps until it knows enough, and
//! where events come quickly it never gets beyond: its errors of order 1 add up from event to event. One step of a Rosenbrock
//! method with its dense output, a polynomial of degree 4, is a past of four steps (Gear, *Runge–Kutta starters for multistep methods*, 1980).
//!
//! In: the states after an event. Out: backward differences on a quarter of the step, and an order and a size to go on with.

use super::{Bdf, Change, error_constant, growth_for};
use crate::integrator::{Integrator, OdeSystem};
use crate::step_size;

use crate::tuning::step_size::{MOST_SHRINK, SAFETY};

/// Degree of the dense output of [`crate::RosenbrockMethod::Rodas5P`].
const DEGREE: usize = 4;

impl Bdf {
    /// Makes the first step. False if the one-step method cannot: then the formula of order 1 is to begin.
    pub(super) fn start(&mut self, system: &mut dyn OdeSystem, limit: f64) -> bool {
        self.is_starting = false;
        // The matrices are those of the corrector: they are too large to have them twice.
        self.starter.exchange_jacobian(&mut self.matrix.jacobian);
        let started = self.starter.step(system, limit);
        self.starter.exchange_jacobian(&mut self.matrix.jacobian);
        if started.is_err() {
            self.begin_at_order_1(system);
            return false;
        }
        (self.matrix.has_jacobian, self.matrix.is_wide) = (true, false);
        self.adopt_start();
        true
    }

    /// Goes on from the dense output of the first step.
    fn adopt_start(&mut self) {
        (self.t_start, self.t) = (self.starter.step_start(), self.starter.time());
        self.dx.copy_from_slice(self.starter.derivatives());
        let length = self.t - self.t_start;
        for (j, values) in self.differences[..=DEGREE].iter_mut().enumerate() {
            self.starter.interpolate(self.t - length * j as f64 / DEGREE as f64, values);
        }
        for level in 1..=DEGREE {
            for j in (level..=DEGREE).rev() {
                let (lower, higher) = self.differences.split_at_mut(j);
                higher[0].iter_mut().zip(&lower[j - 1]).for_each(|(older, newer)| *older = newer - *older);
            }
        }
        (self.order, self.h, self.steps_alike) = (DEGREE, length / DEGREE as f64, 0);
        self.has_stepped = true;
        self.is_started = true;
        self.next = self.choose_after_start();
    }

    /// The order whose next difference, which is known up to degree 4, allows the longest step.
    fn choose_after_start(&self) -> Change {
        let x = &self.differences[0];
        let growth = |order: usize| {
            let estimate = self.differences[order + 1].iter().map(|d| error_constant(order) * d);
            growth_for(step_size::norm(&self.tolerances, x, x, estimate), order)
        };
        let allowed = (self.min_order..DEGREE.min(self.max_order + 1)).map(|order| (growth(order), order));
        let best = allowed.fold((0.0, 1), |best, next| if next.0 > best.0 { next } else { best });
        Change { order: best.1, h: self.h * (SAFETY * best.0).clamp(MOST_SHRINK, DEGREE as f64) }
    }
}
