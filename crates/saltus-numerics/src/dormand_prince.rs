//! The explicit Runge–Kutta methods of Dormand and Prince with their continuous extensions: order 5, and order 8 for tight tolerances.
//!
//! In: an [`OdeSystem`] that is smooth and not stiff. Out: steps of controlled error. The initial step and the controllers are those of
//! Hairer, Nørsett, Wanner: *Solving Ordinary Differential Equations I*, sections II.4 to II.6 and II.10; coefficients are in
//! [`dormand_prince_tableau`](crate::dormand_prince_tableau). The last stage is the first of the next step. Where nobody looks inside of
//! a step, no stages are spent on that.

use serde::{Deserialize, Serialize};

use crate::dormand_prince_tableau::{EIGHTH, FIFTH, Tableau, Term};
use crate::integrator::{Eval, Integrator, IntegratorError, Judged, OdeSystem, Statistics, StepResult, Tolerances};
use crate::interpolant::Interpolant;
use crate::step_size::{self, Attempt};
use crate::tuning::dormand_prince::{Controller, EIGHTH_ORDER, FIFTH_ORDER, REMEMBERED_ERROR, THIRD_ORDER_PART};
use crate::tuning::step_size::{AFTER_FAILURE, AFTER_REJECTION, MOST_SHRINK, SAFETY, SMALLEST_ERROR};

/// Components that are computed in one go, while what they are made of is at hand.
const AT_ONCE: usize = 512;
/// Fewer components are computed one by one.
const FEW: usize = 8;
/// Terms of the continuous extension that need nothing but both ends of a step.
const N_OF_ENDS: usize = 3;
/// The most terms of an extension.
const MOST_TERMS: usize = 7;

/// Which of the methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Order {
    Fifth,
    Eighth,
}

impl Order {
    fn tableau(self) -> &'static Tableau {
        match self {
            Order::Fifth => &FIFTH,
            Order::Eighth => &EIGHTH,
        }
    }

    fn controller(self) -> &'static Controller {
        match self {
            Order::Fifth => &FIFTH_ORDER,
            Order::Eighth => &EIGHTH_ORDER,
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct DormandPrince {
    order: Order,
    tolerances: Tolerances,
    max_step: f64,
    t: f64,
    x: Vec<f64>,
    /// Size the next step will try, not clipped by any limit.
    h: f64,
    last_error: f64,
    t_start: f64,
    h_last: f64,
    /// The states at the start of the last step, and the terms of its continuous extension.
    x_start: Vec<f64>,
    terms: Vec<Vec<f64>>,
    /// Have stages been spent on those that need more than both ends?
    is_extended: bool,
    k: Vec<Vec<f64>>,
    /// The states at the end of an attempt.
    trial: Vec<f64>,
    /// Where a stage is evaluated, and where the one before the last was, which is at the end of the step, too.
    argument: Vec<f64>,
    before_last: Vec<f64>,
    /// By each of the estimates.
    errors: Vec<Vec<f64>>,
    stiffness: f64,
    /// Of the last step, in units of the tolerances.
    error: f64,
    statistics: Statistics,
}

impl DormandPrince {
    /// `max_step` may be infinite.
    pub fn new(order: Order, tolerances: Tolerances, max_step: f64) -> Self {
        let (n, tableau) = (tolerances.absolute.len(), order.tableau());
        let vector = || vec![0.0; n];
        let vectors = |count: usize| vec![vec![0.0; n]; count];
        DormandPrince {
            order,
            tolerances,
            max_step,
            t: 0.0,
            x: vector(),
            h: 0.0,
            last_error: REMEMBERED_ERROR,
            t_start: 0.0,
            h_last: 0.0,
            x_start: vector(),
            terms: vectors(N_OF_ENDS + tableau.d.len()),
            is_extended: false,
            k: vectors(1 + tableau.a.len()),
            trial: vector(),
            argument: vector(),
            before_last: vector(),
            errors: vectors(tableau.errors.len()),
            stiffness: 0.0,
            error: 0.0,
            statistics: Statistics::default(),
        }
    }

    /// The position of the stage at the end of a step.
    fn last(&self) -> usize {
        self.order.tableau().n_stages - 1
    }

    fn evaluate_stage(&mut self, system: &mut dyn OdeSystem, h: f64, stage: usize) -> Eval {
        let tableau = self.order.tableau();
        advance(&mut self.argument, &self.x, h, tableau.a[stage - 1], &self.k);
        let (t, count) = (self.t + tableau.c[stage - 1] * h, &mut self.statistics.evaluations);
        step_size::evaluate(system, t, &self.argument, &mut self.k[stage], count)
    }

    /// Computes the stages of a step of size `h`, and its errors; the new states end up in `trial`.
    fn stages(&mut self, system: &mut dyn OdeSystem, h: f64) -> Eval {
        let last = self.last();
        if self.x.is_empty() {
            // Nothing is integrated: the only question is whether the end can be evaluated.
            let count = &mut self.statistics.evaluations;
            return step_size::evaluate(system, self.t + h, &self.trial, &mut self.k[last], count);
        }
        for stage in 1..=last {
            self.evaluate_stage(system, h, stage)?;
            if stage + 1 == last {
                std::mem::swap(&mut self.argument, &mut self.before_last);
            }
        }
        std::mem::swap(&mut self.argument, &mut self.trial);
        for (errors, terms) in self.errors.iter_mut().zip(self.order.tableau().errors) {
            combine(errors, h, terms, &self.k);
        }
        Ok(())
    }

    /// The stages that serve the continuous extension alone, if somebody looks inside of a step to `end`.
    fn extend(&mut self, system: &mut dyn OdeSystem, h: f64, end: f64) -> Eval {
        let more = self.last() + 1..self.k.len();
        self.is_extended = more.is_empty() || self.x.is_empty() || system.looks_inside(end);
        if self.is_extended && !self.x.is_empty() {
            for stage in more {
                self.evaluate_stage(system, h, stage)?;
            }
        }
        Ok(())
    }

    fn error_norm(&self) -> f64 {
        let norm = |errors: &[f64]| step_size::norm(&self.tolerances, &self.x, &self.trial, errors.iter().copied());
        match &self.errors[..] {
            [only] => norm(only),
            all => joined(all.iter().map(|errors| norm(errors))),
        }
    }

    /// The error of one state in units of what it may be.
    fn error_part(&self, i: usize) -> f64 {
        let error = match &self.errors[..] {
            [only] => only[i],
            all => joined(all.iter().map(|errors| errors[i])),
        };
        step_size::part(&self.tolerances, i, self.x[i], self.trial[i], error)
    }

    /// Estimates `h·|λ|` of the dominant eigenvalue by the last two stages, which are at the same time (Hairer, Wanner:
    /// *Solving Ordinary Differential Equations II*, section IV.2). Before `accept`.
    fn eigenvalue_estimate(&self, h: f64) -> f64 {
        let last = self.last();
        let (mut slopes, mut arguments) = (0.0, 0.0);
        for i in 0..self.x.len() {
            let weight = step_size::weight(&self.tolerances, i, self.x[i], self.trial[i]);
            slopes += ((self.k[last][i] - self.k[last - 1][i]) / weight).powi(2);
            arguments += ((self.trial[i] - self.before_last[i]) / weight).powi(2);
        }
        if arguments > 0.0 { h * (slopes / arguments).sqrt() } else { 0.0 }
    }

    /// `h·|λ|` in the last step as a part of the stability domain: about 1 means that stability, not accuracy, limits the step.
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// The largest `h·|λ|` of real eigenvalues with which errors do not grow.
    pub fn stability(&self) -> f64 {
        self.order.tableau().stability
    }

    fn accept(&mut self, h: f64, end: f64) {
        let last = self.last();
        if let [difference, slope, bend, more @ ..] = &mut self.terms[..] {
            for i in 0..self.x.len() {
                difference[i] = self.trial[i] - self.x[i];
                slope[i] = h * self.k[0][i] - difference[i];
                bend[i] = difference[i] - h * self.k[last][i] - slope[i];
            }
            if self.is_extended {
                let rows = more.iter_mut().zip(self.order.tableau().d);
                rows.for_each(|(term, row)| combine(term, h, row, &self.k));
            }
        }
        std::mem::swap(&mut self.x_start, &mut self.x);
        std::mem::swap(&mut self.x, &mut self.trial);
        self.k.swap(0, last);
        self.t_start = self.t;
        self.t = end;
        self.h_last = h;
        self.statistics.steps += 1;
    }

    fn begin(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.t = t;
        self.t_start = t;
        self.h_last = 0.0;
        self.stiffness = 0.0;
        self.x.copy_from_slice(x);
        self.last_error = REMEMBERED_ERROR;
        self.statistics.restarts += 1;
        let started = step_size::evaluate(system, t, &self.x, &mut self.k[0], &mut self.statistics.evaluations);
        started.map_err(|_| IntegratorError::StartFails { t })
    }

    /// The terms of the extension of the last step.
    fn own_terms(&self) -> &[Vec<f64>] {
        if self.is_extended { &self.terms } else { &self.terms[..N_OF_ENDS] }
    }
}

/// The error of which there is an estimate, and another one lest the first be zero by chance (Hairer, Nørsett and Wanner, section II.10).
fn joined(mut estimates: impl Iterator<Item = f64>) -> f64 {
    let [first, second] = [estimates.next(), estimates.next()].map(Option::unwrap_or_default);
    let size = (first * first + THIRD_ORDER_PART * second * second).sqrt();
    if size == 0.0 { 0.0 } else { first * first / size }
}

/// Adds up `Σ c·k` for all components, and hands each sum to its place in `to`.
fn add_up(to: &mut [f64], terms: &[Term], k: &[Vec<f64>], mut finish: impl FnMut(usize, f64) -> f64) {
    if to.len() < FEW {
        for (i, to) in to.iter_mut().enumerate() {
            *to = finish(i, terms.iter().fold(0.0, |sum, &(stage, c)| sum + c * k[stage][i]));
        }
        return;
    }
    for (part, to) in to.chunks_mut(AT_ONCE).enumerate() {
        let from = part * AT_ONCE;
        to.fill(0.0);
        for &(stage, c) in terms {
            to.iter_mut().zip(&k[stage][from..]).for_each(|(sum, slope)| *sum += c * slope);
        }
        to.iter_mut().enumerate().for_each(|(i, to)| *to = finish(from + i, *to));
    }
}

/// `to := h·Σ c·k`
fn combine(to: &mut [f64], h: f64, terms: &[Term], k: &[Vec<f64>]) {
    add_up(to, terms, k, |_, sum| h * sum);
}

/// `to := x + h·Σ c·k`
fn advance(to: &mut [f64], x: &[f64], h: f64, terms: &[Term], k: &[Vec<f64>]) {
    add_up(to, terms, k, |i, sum| x[i] + h * sum);
}

impl Integrator for DormandPrince {
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.begin(system, t, x)?;
        let order = self.order.tableau().order - 1;
        let [slope, trial, ..] = &mut self.k[..] else { return Ok(()) };
        let start = (t, self.x.as_slice(), slope.as_slice());
        let count = &mut self.statistics.evaluations;
        self.h =
            step_size::first_step(system, &self.tolerances, order, self.max_step, start, &mut self.trial, trial, count);
        Ok(())
    }

    fn reinit(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        if self.h == 0.0 { self.restart(system, t, x) } else { self.begin(system, t, x) }
    }

    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        let Controller { alpha, beta, most_growth } = *self.order.controller();
        let mut may_grow = true;
        loop {
            let Some(attempt) = Attempt::towards(self.t, self.h.min(self.max_step), limit) else {
                return Err(IntegratorError::StepTooSmall { t: self.t });
            };
            let h = attempt.h;
            let mut error = self.stages(system, h).map_or(f64::INFINITY, |()| self.error_norm());
            if error <= 1.0 {
                self.stiffness = self.eigenvalue_estimate(h) / self.stability();
                if self.extend(system, h, attempt.end).is_err() {
                    error = f64::INFINITY;
                }
            }
            let is_cut_short = attempt.is_clipped || self.h > self.max_step;
            system.judge(&Judged { error, is_cut_short, part: &|i| self.error_part(i) });
            if error <= 1.0 {
                let factor = SAFETY * error.max(SMALLEST_ERROR).powf(-alpha) * self.last_error.powf(beta);
                let most = if may_grow { most_growth } else { 1.0 };
                self.h = attempt.next_size(h * factor.clamp(MOST_SHRINK, most), most_growth);
                self.last_error = error.max(REMEMBERED_ERROR);
                self.error = error;
                self.accept(h, attempt.end);
                return Ok(());
            }
            self.statistics.rejected += 1;
            system.reject();
            may_grow = false;
            if step_size::is_smallest(h, self.t) {
                return Err(IntegratorError::StepTooSmall { t: self.t });
            }
            // A failed evaluation, or an error that is not a number, gives no hint but "much smaller".
            let factor = if error.is_finite() {
                (SAFETY * error.powf(-alpha)).clamp(MOST_SHRINK, AFTER_REJECTION)
            } else {
                AFTER_FAILURE
            };
            self.h = h * factor;
        }
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        if self.h_last == 0.0 || t >= self.t {
            x.copy_from_slice(&self.x);
            return;
        }
        let s = ((t - self.t_start) / self.h_last).clamp(0.0, 1.0);
        let (mut weights, mut weight) = ([(0, 0.0); MOST_TERMS], 1.0);
        for (k, own) in weights.iter_mut().enumerate() {
            weight *= if k % 2 == 0 { s } else { 1.0 - s };
            *own = (k, weight);
        }
        let terms = self.own_terms();
        advance(x, &self.x_start, 1.0, &weights[..terms.len()], terms);
    }

    fn interpolant(&self, state: usize) -> Interpolant {
        if self.h_last == 0.0 {
            return Interpolant::constant(self.x[state]);
        }
        let mut interpolant = Interpolant { origin: self.t_start, unit: self.h_last, ..Interpolant::default() };
        for (k, term) in self.own_terms().iter().enumerate().rev() {
            interpolant.coefficients[0] += term[state];
            if k % 2 == 0 {
                interpolant.multiply_by_s();
            } else {
                interpolant.multiply_by_rest();
            }
        }
        interpolant.coefficients[0] += self.x_start[state];
        interpolant
    }

    fn error(&self, state: usize) -> f64 {
        step_size::error_of(&self.tolerances, state, self.x[state], self.error)
    }

    fn step_start(&self) -> f64 {
        self.t_start
    }

    fn time(&self) -> f64 {
        self.t
    }

    fn states(&self) -> &[f64] {
        &self.x
    }

    fn derivatives(&self) -> &[f64] {
        &self.k[0]
    }

    fn next_step_size(&self) -> f64 {
        self.h
    }

    fn propose_step_size(&mut self, h: f64) {
        self.h = h;
    }

    fn set_tolerances(&mut self, relative: f64, absolute: &[f64]) {
        self.tolerances.relative = relative;
        self.tolerances.absolute.copy_from_slice(absolute);
    }

    fn set_max_step(&mut self, max_step: f64) {
        self.max_step = max_step;
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrator::TrialFailure;

    struct Closure<F>(F);

    impl<F: FnMut(f64, &[f64], &mut [f64]) -> Result<(), TrialFailure>> OdeSystem for Closure<F> {
        fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), TrialFailure> {
            (self.0)(t, x, dx)
        }
    }

    fn tolerances(n: usize, relative: f64) -> Tolerances {
        Tolerances { relative, absolute: vec![relative; n], unbounded: vec![] }
    }

    fn oscillator(_: f64, x: &[f64], dx: &mut [f64]) -> Result<(), TrialFailure> {
        dx[0] = x[1];
        dx[1] = -x[0];
        Ok(())
    }

    #[test]
    fn an_oscillator_follows_the_cosine_also_between_steps() {
        let mut system = Closure(oscillator);
        let mut solver = DormandPrince::new(Order::Fifth, tolerances(2, 1e-8), f64::INFINITY);
        solver.restart(&mut system, 0.0, &[1.0, 0.0]).unwrap();
        let mut x = [0.0; 2];
        while solver.time() < 10.0 {
            solver.step(&mut system, 10.0).unwrap();
            for i in 0..=4 {
                let t = solver.step_start() + (solver.time() - solver.step_start()) * f64::from(i) / 4.0;
                solver.interpolate(t, &mut x);
                // closed form: x = cos t, v = −sin t
                assert!((x[0] - t.cos()).abs() < 2e-6 && (x[1] + t.sin()).abs() < 2e-6, "t = {t}: {x:?}");
            }
        }
        assert_eq!(solver.time(), 10.0);
        assert!((solver.states()[0] - 10f64.cos()).abs() < 2e-7);
    }

    #[test]
    fn a_parabola_is_exact() {
        // x = 1 − 4.905 t²: the method and its extension are exact for polynomials up to degree 4
        let mut system = Closure(|_: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[1];
            dx[1] = -9.81;
            Ok(())
        });
        let mut solver = DormandPrince::new(Order::Fifth, tolerances(2, 1e-6), f64::INFINITY);
        solver.restart(&mut system, 0.0, &[1.0, 0.0]).unwrap();
        while solver.time() < 1.0 {
            solver.step(&mut system, 1.0).unwrap();
            let t = 0.5 * (solver.step_start() + solver.time());
            let mut x = [0.0; 2];
            solver.interpolate(t, &mut x);
            assert!((x[0] - (1.0 - 4.905 * t * t)).abs() < 1e-13);
        }
    }

    #[test]
    fn a_failing_trial_point_shortens_the_step() {
        // √x beyond the end of its domain: x = (1 − t/2)² reaches 0 at t = 2
        let mut system = Closure(|_: f64, x: &[f64], dx: &mut [f64]| {
            if x[0] < 0.0 {
                return Err(TrialFailure);
            }
            dx[0] = -x[0].sqrt();
            Ok(())
        });
        let mut solver = DormandPrince::new(Order::Fifth, tolerances(1, 1e-6), f64::INFINITY);
        solver.restart(&mut system, 0.0, &[1.0]).unwrap();
        while solver.time() < 1.9 {
            solver.step(&mut system, 1.9).unwrap();
        }
        assert!((solver.states()[0] - 0.0025).abs() < 1e-5);
    }

    #[test]
    fn a_pole_is_an_error_and_no_endless_loop() {
        // x = 1 / (1 − t); a rejected step of one unit in the last place must not be tried for ever
        let mut system = Closure(|_: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[0] * x[0];
            if dx[0].is_finite() { Ok(()) } else { Err(TrialFailure) }
        });
        let mut solver = DormandPrince::new(Order::Fifth, tolerances(1, 1e-6), f64::INFINITY);
        solver.restart(&mut system, 0.0, &[1.0]).unwrap();
        let failed = (0..10_000).find_map(|_| solver.step(&mut system, 2.0).err());
        assert!(matches!(failed, Some(IntegratorError::StepTooSmall { t }) if (t - 1.0).abs() < 1e-5));
    }

    #[test]
    fn a_right_hand_side_that_never_works_is_an_error() {
        let mut system = Closure(|t: f64, _: &[f64], dx: &mut [f64]| {
            dx[0] = 1.0;
            if t > 0.5 { Err(TrialFailure) } else { Ok(()) }
        });
        let mut solver = DormandPrince::new(Order::Fifth, tolerances(1, 1e-6), f64::INFINITY);
        solver.restart(&mut system, 0.0, &[0.0]).unwrap();
        let failed = (0..10_000).find_map(|_| solver.step(&mut system, 1.0).err());
        assert!(matches!(failed, Some(IntegratorError::StepTooSmall { t }) if (t - 0.5).abs() < 1e-9));
    }
}
