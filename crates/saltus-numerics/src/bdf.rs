//! Backward differentiation formulas of variable order 1 to 5, for large stiff systems with few events.
//!
//! In: an [`OdeSystem`]. Out: steps of controlled error; the interpolating polynomial of the last step as dense output,
//! which joins its neighbours continuously. A Rosenbrock method makes the first step after a restart (`start`). The others are by the
//! numerical differentiation formulas of Shampine and Reichelt (*The MATLAB ODE Suite*, 1997): backward differences on a grid
//! that is respaced when the step size changes, and a simplified Newton iteration (`corrector`).

mod corrector;
mod start;

use crate::integrator::{Integrator, IntegratorError, Judged, OdeSystem, Statistics, StepResult, Tolerances};
use crate::interpolant::{self, Interpolant};
use crate::rosenbrock::{Rosenbrock, RosenbrockMethod};
use crate::step_size::{self, Attempt};
use crate::tuning::bdf::{AFTER_FAILURE, ALIKE, MOST_GROWTH};
use crate::tuning::step_size::{AFTER_REJECTION, MOST_SHRINK, SMALLEST_ERROR};
use corrector::{Corrector, IterationMatrix};

const MAX_ORDER: usize = 5;
/// By which the leading coefficient differs from that of the backward differentiation formula.
const KAPPA: [f64; MAX_ORDER + 1] = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0];
/// Sums of 1/j up to the order.
const GAMMA: [f64; MAX_ORDER + 1] = [0.0, 1.0, 1.5, 11.0 / 6.0, 25.0 / 12.0, 137.0 / 60.0];

fn leading_coefficient(order: usize) -> f64 {
    (1.0 - KAPPA[order]) * GAMMA[order]
}

fn error_constant(order: usize) -> f64 {
    KAPPA[order] * GAMMA[order] + 1.0 / (order + 1) as f64
}

/// By how much longer a step of that order may be than one with this error norm, without any safety.
fn growth_for(error: f64, order: usize) -> f64 {
    error.max(SMALLEST_ERROR).powf(-1.0 / (order + 1) as f64)
}

/// What a step asks the next one to begin with.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Change {
    order: usize,
    h: f64,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Bdf {
    tolerances: Tolerances,
    max_step: f64,
    min_order: usize,
    max_order: usize,
    t: f64,
    t_start: f64,
    has_stepped: bool,
    /// Makes the first step after a restart.
    starter: Box<Rosenbrock>,
    /// The next step is the first one.
    is_starting: bool,
    /// The last step was the first one, whose dense output is that of `starter`.
    is_started: bool,
    order: usize,
    /// Spacing of the differences: size of the last step until the next one begins.
    h: f64,
    next: Change,
    steps_alike: usize,
    /// Backward differences of the states, from order 0 on.
    differences: [Vec<f64>; MAX_ORDER + 3],
    dx: Vec<f64>,
    matrix: IterationMatrix,
    corrector: Corrector,
    /// Could the right-hand side be computed everywhere in the last attempt?
    is_evaluated: bool,
    /// Of the last step, in units of the tolerances.
    error: f64,
    statistics: Statistics,
}

impl Bdf {
    /// `max_step` may be infinite.
    pub fn new(tolerances: Tolerances, max_step: f64) -> Self {
        let n = tolerances.absolute.len();
        let vector = || vec![0.0; n];
        Bdf {
            starter: Box::new(Rosenbrock::new(RosenbrockMethod::Rodas5P, tolerances.clone(), max_step)),
            is_starting: false,
            is_started: false,
            tolerances,
            max_step,
            min_order: 1,
            max_order: MAX_ORDER,
            t: 0.0,
            t_start: 0.0,
            has_stepped: false,
            order: 1,
            h: 0.0,
            next: Change { order: 1, h: 0.0 },
            steps_alike: 0,
            differences: std::array::from_fn(|_| vector()),
            dx: vector(),
            matrix: IterationMatrix::new(n),
            corrector: Corrector::new(n),
            is_evaluated: true,
            error: 0.0,
            statistics: Statistics::default(),
        }
    }

    /// The order of the last step.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Could the right-hand side be computed in the last attempt? Then a step that failed was not accurate enough.
    pub fn is_evaluated(&self) -> bool {
        self.is_evaluated
    }

    /// `h·|λ|` of the last step, estimated from the Jacobian in use; infinite before the first one.
    pub fn stiffness(&mut self) -> f64 {
        if !self.matrix.has_jacobian || !self.has_stepped {
            return f64::INFINITY;
        }
        (self.t - self.t_start) * self.matrix.jacobian.spectral_radius(&self.tolerances, &self.differences[0])
    }

    /// Respaces the differences of the present polynomial to the step size `h`.
    fn respace(&mut self, h: f64) {
        if h == self.h {
            return;
        }
        let factor = h / self.h;
        self.h = h;
        self.steps_alike = 0;
        let k = self.order;
        // Differences on the new grid from those on the old one: product of two triangular tables.
        let table = |factor: f64| {
            let mut r = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
            r[0] = [1.0; MAX_ORDER + 1];
            for i in 1..=k {
                for j in 1..=k {
                    r[i][j] = r[i - 1][j] * ((i - 1) as f64 - factor * j as f64) / i as f64;
                }
            }
            r
        };
        let (new, old) = (table(factor), table(1.0));
        for i in 0..self.dx.len() {
            let before: [f64; MAX_ORDER + 1] = std::array::from_fn(|j| self.differences[j][i]);
            let mut values = [0.0; MAX_ORDER + 1];
            for j in 0..=k {
                values[j] = (0..=k).map(|m| new[m][j] * before[m]).sum();
            }
            for j in 0..=k {
                self.differences[j][i] = (0..=k).map(|m| old[m][j] * values[m]).sum();
            }
        }
    }

    /// Forgets the past.
    fn begin(&mut self, t: f64, x: &[f64]) {
        self.t = t;
        self.t_start = t;
        self.has_stepped = false;
        (self.is_starting, self.is_started) = (true, false);
        self.matrix.forget();
        self.matrix.is_wide = false;
        self.steps_alike = 0;
        self.order = 1;
        self.differences[0].copy_from_slice(x);
    }

    /// The first step by the formula of order 1, of a size that is estimated.
    fn begin_at_order_1(&mut self, system: &mut dyn OdeSystem) {
        let start = (self.t, self.differences[0].as_slice(), self.dx.as_slice());
        let count = &mut self.statistics.evaluations;
        let (tolerances, most) = (&self.tolerances, self.max_step);
        let (trial, slope) = self.corrector.storage();
        let h = step_size::first_step(system, tolerances, 1, most, start, trial, slope, count);
        self.set_first_step(h);
    }

    fn set_first_step(&mut self, h: f64) {
        self.h = h;
        self.next = Change { order: 1, h };
        for (difference, dx) in self.differences[1].iter_mut().zip(&self.dx) {
            *difference = h * dx;
        }
    }

    /// The polynomial, continued to the end of the step, and the constant part of the corrector.
    fn predict(&mut self) {
        let (k, alpha) = (self.order, leading_coefficient(self.order));
        let Corrector { predicted, psi, .. } = &mut self.corrector;
        predicted.copy_from_slice(&self.differences[0]);
        psi.fill(0.0);
        for (difference, gamma) in self.differences.iter().zip(GAMMA).take(k + 1).skip(1) {
            for ((predicted, psi), difference) in predicted.iter_mut().zip(&mut *psi).zip(difference) {
                *predicted += difference;
                *psi += difference * gamma;
            }
        }
        psi.iter_mut().for_each(|psi| *psi /= alpha);
    }

    fn error_norm(&self, order: usize, difference: &[f64]) -> f64 {
        let constant = error_constant(order);
        let scaled = difference.iter().map(|d| constant * d);
        step_size::norm(&self.tolerances, &self.differences[0], &self.corrector.trial, scaled)
    }

    /// Takes over the corrected point.
    fn accept(&mut self, attempt: &Attempt) {
        let k = self.order;
        let c = leading_coefficient(k) / self.h;
        let Corrector { psi, correction, .. } = &self.corrector;
        for ((dx, psi), correction) in self.dx.iter_mut().zip(psi).zip(correction) {
            *dx = c * (psi + correction);
        }
        let (lower, higher) = self.differences.split_at_mut(k + 2);
        for ((next, last), correction) in higher[0].iter_mut().zip(&mut lower[k + 1]).zip(correction) {
            *next = correction - *last;
            *last = *correction;
        }
        for j in (0..=k).rev() {
            let (lower, higher) = self.differences.split_at_mut(j + 1);
            lower[j].iter_mut().zip(&higher[0]).for_each(|(difference, next)| *difference += next);
        }
        self.t_start = self.t;
        self.t = attempt.end;
        self.has_stepped = true;
        self.steps_alike += 1;
        self.statistics.steps += 1;
    }

    /// Order and size for the next step, after the present one with that error norm.
    fn choose_next(&self, error: f64, safety: f64) -> Change {
        let k = self.order;
        let mut best = (growth_for(error, k), k);
        // The differences for other orders are meaningful only after some steps of one size.
        if self.steps_alike <= k {
            return Change { order: k, h: self.h };
        }
        for order in [k - 1, k + 1] {
            if order < self.min_order || order > self.max_order {
                continue;
            }
            let candidate = growth_for(self.error_norm(order, &self.differences[order + 1]), order);
            if candidate > best.0 {
                best = (candidate, order);
            }
        }
        let growth = (safety * best.0).clamp(MOST_SHRINK, MOST_GROWTH);
        // A new factorisation for a slightly longer step does not pay.
        if best.1 == k && ALIKE.contains(&growth) {
            return Change { order: k, h: self.h };
        }
        Change { order: best.1, h: self.h * growth }
    }
}

impl Integrator for Bdf {
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        // Where the system cannot be evaluated this is the present time none the less.
        self.begin(t, x);
        self.starter.restart(system, t, x)?;
        self.dx.copy_from_slice(self.starter.derivatives());
        Ok(())
    }

    fn reinit(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.begin(t, x);
        self.starter.reinit(system, t, x)?;
        self.dx.copy_from_slice(self.starter.derivatives());
        Ok(())
    }

    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        if self.is_starting && self.start(system, limit) {
            return Ok(());
        }
        self.is_started = false;
        self.order = self.next.order;
        let mut wanted = self.next.h;
        loop {
            let Some(attempt) = Attempt::towards(self.t, wanted.min(self.max_step), limit) else {
                return Err(IntegratorError::StepTooSmall { t: self.t });
            };
            // Splitting the way to the limit in halves must not respace for a rounding error.
            let is_alike = (attempt.h / self.h - 1.0).abs() < 1e-12;
            self.respace(if is_alike { self.h } else { attempt.h });
            let (error, safety) = self.attempt(system, attempt.end).unwrap_or((f64::INFINITY, 1.0));
            let part = |i: usize| {
                let (x, trial) = (self.differences[0][i], self.corrector.trial[i]);
                let estimate = error_constant(self.order) * self.corrector.correction[i];
                step_size::part(&self.tolerances, i, x, trial, estimate)
            };
            let is_cut_short = attempt.is_clipped || wanted > self.max_step;
            system.judge(&Judged { error, is_cut_short, part: &part });
            if error <= 1.0 {
                self.accept(&attempt);
                self.error = error;
                self.next = self.choose_next(error, safety);
                self.next.h = attempt.next_size(self.next.h, MOST_GROWTH);
                return Ok(());
            }
            self.statistics.rejected += 1;
            self.matrix.doubt();
            system.reject();
            if step_size::is_smallest(attempt.h, self.t) {
                return Err(IntegratorError::StepTooSmall { t: self.t });
            }
            let exponent = -1.0 / (self.order + 1) as f64;
            let factor = if error.is_finite() {
                (safety * error.powf(exponent)).clamp(MOST_SHRINK, AFTER_REJECTION)
            } else {
                AFTER_FAILURE
            };
            wanted = attempt.h * factor;
        }
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        if self.is_started {
            return self.starter.interpolate(t, x);
        }
        x.copy_from_slice(&self.differences[0]);
        if !self.has_stepped || t >= self.t {
            return;
        }
        let t = t.max(self.t_start);
        let mut product = 1.0;
        for j in 1..=self.order {
            let m = (j - 1) as f64;
            product *= (t - self.t + m * self.h) / (j as f64 * self.h);
            for (value, difference) in x.iter_mut().zip(&self.differences[j]) {
                *value += product * difference;
            }
        }
    }

    fn interpolant(&self, state: usize) -> Interpolant {
        if self.is_started {
            return self.starter.interpolant(state);
        }
        if !self.has_stepped {
            return Interpolant::constant(self.differences[0][state]);
        }
        let mut coefficients = [0.0; interpolant::DEGREE + 1];
        coefficients[0] = self.differences[0][state];
        // θ (θ + 1) … (θ + j - 1) / j!
        let mut product = [0.0; interpolant::DEGREE + 1];
        product[0] = 1.0;
        for j in 1..=self.order {
            let m = (j - 1) as f64;
            for k in (0..=j).rev() {
                let lower = if k > 0 { product[k - 1] } else { 0.0 };
                product[k] = (lower + m * product[k]) / j as f64;
            }
            for k in 0..=j {
                coefficients[k] += product[k] * self.differences[j][state];
            }
        }
        Interpolant { origin: self.t, unit: self.h, coefficients }
    }

    fn error(&self, state: usize) -> f64 {
        if self.is_started {
            return self.starter.error(state);
        }
        step_size::error_of(&self.tolerances, state, self.differences[0][state], self.error)
    }

    fn step_start(&self) -> f64 {
        self.t_start
    }

    fn time(&self) -> f64 {
        self.t
    }

    fn states(&self) -> &[f64] {
        &self.differences[0]
    }

    /// By the formula, which is the right-hand side to the accuracy of the corrector.
    fn derivatives(&self) -> &[f64] {
        &self.dx
    }

    fn next_step_size(&self) -> f64 {
        if self.is_starting { self.starter.next_step_size() } else { self.next.h }
    }

    fn propose_step_size(&mut self, h: f64) {
        if self.has_stepped {
            self.next.h = h;
        } else {
            self.starter.propose_step_size(h);
        }
    }

    fn set_tolerances(&mut self, relative: f64, absolute: &[f64]) {
        self.tolerances.relative = relative;
        self.tolerances.absolute.copy_from_slice(absolute);
        self.starter.set_tolerances(relative, absolute);
    }

    fn set_max_step(&mut self, max_step: f64) {
        self.max_step = max_step;
        self.starter.set_max_step(max_step);
    }

    fn statistics(&self) -> Statistics {
        self.statistics + self.starter.statistics()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrator::Eval;

    /// Linear, so that Newton's method is exact in one step, with the solution x = sin t + cos 2t.
    struct Forced;

    fn exact(t: f64) -> f64 {
        t.sin() + (2.0 * t).cos()
    }

    impl OdeSystem for Forced {
        fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
            dx[0] = -3.0 * (x[0] - exact(t)) + t.cos() - 2.0 * (2.0 * t).sin();
            Ok(())
        }

        fn jacobian(&mut self, _: f64, _: &[f64], jacobian: &mut [f64]) -> bool {
            jacobian[0] = -3.0;
            true
        }
    }

    /// Error at t = 1 of the formula of one order, from exact starting values, and the largest one between the steps.
    fn fixed_order_errors(order: usize, n_steps: usize) -> (f64, f64) {
        let h = 1.0 / n_steps as f64;
        let mut bdf = Bdf::new(Tolerances { relative: 1e3, absolute: vec![1e3], unbounded: vec![] }, h);
        bdf.restart(&mut Forced, 0.0, &[exact(0.0)]).unwrap();
        (bdf.min_order, bdf.max_order, bdf.h, bdf.is_starting) = (order, order, h, false);
        bdf.next = Change { order, h };
        // Backward differences of the exact past.
        let mut values: Vec<f64> = (0..=order + 1).map(|j| exact(-(j as f64) * h)).collect();
        for j in 0..=order + 1 {
            bdf.differences[j][0] = values[0];
            values = values.windows(2).map(|w| w[0] - w[1]).collect();
        }
        let mut between = 0f64;
        for _ in 0..n_steps {
            bdf.step(&mut Forced, 2.0).unwrap();
            let (middle, mut x) = (0.5 * (bdf.step_start() + bdf.time()), [0.0]);
            bdf.interpolate(middle, &mut x);
            between = between.max((x[0] - exact(middle)).abs());
        }
        assert!((bdf.time() - 1.0).abs() < 1e-12 && bdf.order() == order);
        ((bdf.states()[0] - exact(1.0)).abs(), between)
    }

    #[test]
    fn each_formula_has_its_order() {
        for order in 1..=MAX_ORDER {
            let n = 100;
            let (coarse, coarse_between) = fixed_order_errors(order, n);
            let (fine, fine_between) = fixed_order_errors(order, 2 * n);
            let measured = (coarse / fine).log2();
            assert!((measured - order as f64).abs() < 0.3, "order {order}: measured {measured}");
            let between = (coarse_between / fine_between).log2();
            assert!(between > order as f64 - 0.3, "order {order}: interpolant {between}");
        }
    }

    /// ẋ = −10⁴·(x − cos t), whose slope is that of a plateau on the side where it is evaluated, as at a kink.
    struct Misleading;

    impl OdeSystem for Misleading {
        fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
            dx[0] = -1e4 * (x[0] - t.cos());
            Ok(())
        }

        fn jacobian(&mut self, _: f64, _: &[f64], jacobian: &mut [f64]) -> bool {
            jacobian[0] = 0.0;
            true
        }
    }

    #[test]
    fn a_slope_that_does_not_help_is_replaced_by_a_difference() {
        let mut bdf = Bdf::new(Tolerances { relative: 1e-4, absolute: vec![1e-4], unbounded: vec![] }, f64::INFINITY);
        bdf.restart(&mut Misleading, 0.0, &[1.0]).unwrap();
        while bdf.time() < 1.0 {
            bdf.step(&mut Misleading, 1.0).unwrap();
        }
        // x follows cos t within 10⁻⁴. Without a good slope steps are no longer than 1/10⁴.
        assert!((bdf.states()[0] - 1f64.cos()).abs() < 1e-3);
        let statistics = bdf.statistics();
        assert!(statistics.difference_jacobians > 0 && statistics.steps < 200, "{statistics:?}");
    }

    /// ẋ = cos t, with a slope that would keep x where it is predicted.
    struct MuchTooStiff;

    impl OdeSystem for MuchTooStiff {
        fn derivatives(&mut self, t: f64, _: &[f64], dx: &mut [f64]) -> Eval {
            dx[0] = t.cos();
            Ok(())
        }

        fn jacobian(&mut self, _: f64, _: &[f64], jacobian: &mut [f64]) -> bool {
            jacobian[0] = -1e8;
            true
        }
    }

    #[test]
    fn small_changes_all_in_one_direction_are_no_convergence() {
        let mut bdf = Bdf::new(Tolerances { relative: 1e-6, absolute: vec![1e-6], unbounded: vec![] }, f64::INFINITY);
        bdf.restart(&mut MuchTooStiff, 0.0, &[0.0]).unwrap();
        // The one-step method of the first step has no iteration that could notice.
        bdf.is_starting = false;
        bdf.begin_at_order_1(&mut MuchTooStiff);
        while bdf.time() < 3.0 {
            bdf.step(&mut MuchTooStiff, 3.0).unwrap();
        }
        assert!((bdf.states()[0] - 3f64.sin()).abs() < 1e-3, "{:?}", bdf.states());
        assert!(bdf.statistics().steps < 200, "{:?}", bdf.statistics());
    }

    #[test]
    fn a_linear_system_takes_less_than_two_iterations_a_step() {
        let mut bdf = Bdf::new(Tolerances { relative: 1e-6, absolute: vec![1e-6], unbounded: vec![] }, f64::INFINITY);
        bdf.restart(&mut Forced, 0.0, &[exact(0.0)]).unwrap();
        while bdf.time() < 12.0 {
            bdf.step(&mut Forced, 12.0).unwrap();
            assert!((bdf.states()[0] - exact(bdf.time())).abs() < 1e-4);
        }
        // One iteration solves it with factors of its own; a second one tells that from time to time.
        let s = bdf.statistics();
        assert!(s.evaluations < 2 * s.steps, "{s:?}");
    }

    #[test]
    fn respacing_keeps_the_polynomial() {
        // differences of t³ on the grid 0, −0.1, …: the cubic itself is represented, so any spacing gives the same values
        let mut bdf = Bdf::new(Tolerances { relative: 1e-6, absolute: vec![1e-6], unbounded: vec![] }, f64::INFINITY);
        let cubic = |t: f64| (t + 1.0).powi(3);
        (bdf.order, bdf.h, bdf.has_stepped, bdf.t, bdf.t_start) = (3, 0.1, true, 0.0, -0.3);
        let mut values: Vec<f64> = (0..=3).map(|j| cubic(-0.1 * f64::from(j))).collect();
        for j in 0..=3 {
            bdf.differences[j][0] = values[0];
            values = values.windows(2).map(|w| w[0] - w[1]).collect();
        }
        for h in [0.1, 0.025, 0.37] {
            bdf.respace(h);
            let mut x = [0.0];
            for t in [-0.3, -0.17, -0.05] {
                bdf.interpolate(t, &mut x);
                assert!((x[0] - cubic(t)).abs() < 1e-13, "spacing {h}, t = {t}");
            }
        }
    }
}
