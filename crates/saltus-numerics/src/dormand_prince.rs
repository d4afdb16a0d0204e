//! The explicit Runge–Kutta method of Dormand and Prince, order 5(4), with its continuous extension of order 4.
//!
//! In: an [`OdeSystem`] that is smooth and not stiff. Out: steps of controlled error. The coefficients, the initial step
//! and the controller are those of Hairer, Nørsett, Wanner: *Solving Ordinary Differential Equations I*, sections II.4
//! to II.6. The seventh stage is the first of the next step.

use crate::integrator::{Integrator, IntegratorError, Judged, OdeSystem, Statistics, StepResult, Tolerances};
use crate::interpolant::Interpolant;
use crate::step_size::{self, Attempt};
use crate::tuning::dormand_prince::{ALPHA, BETA, MOST_GROWTH, REMEMBERED_ERROR};
use crate::tuning::step_size::{AFTER_FAILURE, AFTER_REJECTION, MOST_SHRINK, SAFETY, SMALLEST_ERROR};

const C: [f64; 6] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const A: [[f64; 6]; 6] = [
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Difference of the two solutions.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];
/// Last coefficient of the continuous extension.
const D: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct DormandPrince {
    tolerances: Tolerances,
    max_step: f64,
    t: f64,
    x: Vec<f64>,
    /// Size the next step will try, not clipped by any limit.
    h: f64,
    last_error: f64,
    t_start: f64,
    h_last: f64,
    /// Coefficients of the continuous extension of the last step.
    dense: [Vec<f64>; 5],
    k: [Vec<f64>; 7],
    trial: Vec<f64>,
    /// Where stage 6 was evaluated.
    sixth_argument: Vec<f64>,
    stiffness: f64,
    /// Of the last step, in units of the tolerances.
    error: f64,
    statistics: Statistics,
}

impl DormandPrince {
    /// `max_step` may be infinite.
    pub fn new(tolerances: Tolerances, max_step: f64) -> Self {
        let n = tolerances.absolute.len();
        let vector = || vec![0.0; n];
        DormandPrince {
            tolerances,
            max_step,
            t: 0.0,
            x: vector(),
            h: 0.0,
            last_error: REMEMBERED_ERROR,
            t_start: 0.0,
            h_last: 0.0,
            dense: std::array::from_fn(|_| vector()),
            k: std::array::from_fn(|_| vector()),
            trial: vector(),
            sixth_argument: vector(),
            stiffness: 0.0,
            error: 0.0,
            statistics: Statistics::default(),
        }
    }

    /// Computes stages 2 to 7 for a step of size `h`; the new states end up in `trial`.
    fn stages(&mut self, system: &mut dyn OdeSystem, h: f64) -> bool {
        if self.x.is_empty() {
            // Nothing is integrated: the only question is whether the end can be evaluated.
            let count = &mut self.statistics.evaluations;
            return step_size::evaluate(system, self.t + h, &self.trial, &mut self.k[6], count).is_ok();
        }
        for stage in 0..6 {
            for i in 0..self.x.len() {
                let sum: f64 = (0..=stage).map(|j| A[stage][j] * self.k[j][i]).sum();
                self.trial[i] = self.x[i] + h * sum;
            }
            let t = self.t + C[stage] * h;
            let count = &mut self.statistics.evaluations;
            if step_size::evaluate(system, t, &self.trial, &mut self.k[stage + 1], count).is_err() {
                return false;
            }
            if stage == 4 {
                self.sixth_argument.copy_from_slice(&self.trial);
            }
        }
        true
    }

    fn error_norm(&self, h: f64) -> f64 {
        step_size::norm(&self.tolerances, &self.x, &self.trial, (0..self.x.len()).map(|i| self.estimate(h, i)))
    }

    /// The error of one state.
    fn estimate(&self, h: f64, i: usize) -> f64 {
        h * (0..7).map(|j| E[j] * self.k[j][i]).sum::<f64>()
    }

    /// Estimates `h·|λ|` of the dominant eigenvalue by the last two stages, which are at the same time (Hairer, Wanner:
    /// *Solving Ordinary Differential Equations II*, section IV.2). Before `accept`.
    fn eigenvalue_estimate(&self, h: f64) -> f64 {
        let (mut slopes, mut arguments) = (0.0, 0.0);
        for i in 0..self.x.len() {
            let weight = step_size::weight(&self.tolerances, i, self.x[i], self.trial[i]);
            slopes += ((self.k[6][i] - self.k[5][i]) / weight).powi(2);
            arguments += ((self.trial[i] - self.sixth_argument[i]) / weight).powi(2);
        }
        if arguments > 0.0 { h * (slopes / arguments).sqrt() } else { 0.0 }
    }

    /// `h·|λ|` in the last step: about 3.3 means that stability, not accuracy, limits the step.
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    fn accept(&mut self, h: f64, end: f64) {
        for i in 0..self.x.len() {
            let difference = self.trial[i] - self.x[i];
            let slope = h * self.k[0][i] - difference;
            self.dense[0][i] = self.x[i];
            self.dense[1][i] = difference;
            self.dense[2][i] = slope;
            self.dense[3][i] = difference - h * self.k[6][i] - slope;
            self.dense[4][i] = h * (0..7).map(|j| D[j] * self.k[j][i]).sum::<f64>();
        }
        std::mem::swap(&mut self.x, &mut self.trial);
        self.k.swap(0, 6);
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
}

impl Integrator for DormandPrince {
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.begin(system, t, x)?;
        let [slope, trial, ..] = &mut self.k[..] else { return Ok(()) };
        let start = (t, self.x.as_slice(), slope.as_slice());
        let count = &mut self.statistics.evaluations;
        self.h =
            step_size::first_step(system, &self.tolerances, 4, self.max_step, start, &mut self.trial, trial, count);
        Ok(())
    }

    fn reinit(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        if self.h == 0.0 { self.restart(system, t, x) } else { self.begin(system, t, x) }
    }

    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        let mut may_grow = true;
        loop {
            let Some(attempt) = Attempt::towards(self.t, self.h.min(self.max_step), limit) else {
                return Err(IntegratorError::StepTooSmall { t: self.t });
            };
            let h = attempt.h;
            let error = if self.stages(system, h) { self.error_norm(h) } else { f64::INFINITY };
            let part = |i: usize| step_size::part(&self.tolerances, i, self.x[i], self.trial[i], self.estimate(h, i));
            let is_cut_short = attempt.is_clipped || self.h > self.max_step;
            system.judge(&Judged { error, is_cut_short, part: &part });
            if error <= 1.0 {
                let factor = SAFETY * error.max(SMALLEST_ERROR).powf(-ALPHA) * self.last_error.powf(BETA);
                let most = if may_grow { MOST_GROWTH } else { 1.0 };
                self.h = attempt.next_size(h * factor.clamp(MOST_SHRINK, most), MOST_GROWTH);
                self.last_error = error.max(REMEMBERED_ERROR);
                self.error = error;
                self.stiffness = self.eigenvalue_estimate(h);
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
                (SAFETY * error.powf(-ALPHA)).clamp(MOST_SHRINK, AFTER_REJECTION)
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
        let r = 1.0 - s;
        let [d0, d1, d2, d3, d4] = &self.dense;
        for (i, value) in x.iter_mut().enumerate() {
            *value = d0[i] + s * (d1[i] + r * (d2[i] + s * (d3[i] + r * d4[i])));
        }
    }

    fn interpolant(&self, state: usize) -> Interpolant {
        if self.h_last == 0.0 {
            return Interpolant::constant(self.x[state]);
        }
        let [d0, d1, d2, d3, d4] = [0, 1, 2, 3, 4].map(|k: usize| self.dense[k][state]);
        let coefficients = [d0, d1 + d2, d3 + d4 - d2, -d3 - 2.0 * d4, d4, 0.0, 0.0];
        Interpolant { origin: self.t_start, unit: self.h_last, coefficients }
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
        let mut solver = DormandPrince::new(tolerances(2, 1e-8), f64::INFINITY);
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
        let mut solver = DormandPrince::new(tolerances(2, 1e-6), f64::INFINITY);
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
        let mut solver = DormandPrince::new(tolerances(1, 1e-6), f64::INFINITY);
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
        let mut solver = DormandPrince::new(tolerances(1, 1e-6), f64::INFINITY);
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
        let mut solver = DormandPrince::new(tolerances(1, 1e-6), f64::INFINITY);
        solver.restart(&mut system, 0.0, &[0.0]).unwrap();
        let failed = (0..10_000).find_map(|_| solver.step(&mut system, 1.0).err());
        assert!(matches!(failed, Some(IntegratorError::StepTooSmall { t }) if (t - 0.5).abs() < 1e-9));
    }
}
