//! Rosenbrock methods: linearly implicit, one factorisation a step, no iteration, cheap to restart; for stiff systems.
//!
//! In: an [`OdeSystem`], best with its own Jacobian and time derivative: the order is lost if they are wrong. Out: steps
//! of controlled error and a continuous extension, which no step takes over a transient. Methods and coefficients are in
//! `rosenbrock_tableau`; the step size control with prediction is Gustafsson's (Hairer, Wanner: *Solving Ordinary
//! Differential Equations II*, section IV.8).

use crate::integrator::{
    Eval, Integrator, IntegratorError, Judged, OdeSystem, Statistics, StepResult, Tolerances, TrialFailure,
};
use crate::interpolant::{self, Interpolant};
use crate::jacobian::{Jacobian, time_derivative};
use crate::rosenbrock_tableau::{RODAS4, RODAS5P, Tableau};
use crate::step_size::{self, Attempt};
use crate::tuning::rosenbrock::{MOST_GROWTH, REMEMBERED_ERROR, STEP_IN_TRANSIENT, TRANSIENT};
use crate::tuning::step_size::{AFTER_FAILURE, AFTER_REJECTION, MOST_SHRINK, SAFETY, SMALLEST_ERROR};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum RosenbrockMethod {
    /// Order 4(3), 6 stages.
    Rodas4,
    /// Order 5(4), 8 stages.
    #[default]
    Rodas5P,
}

impl RosenbrockMethod {
    fn tableau(self) -> &'static Tableau {
        match self {
            RosenbrockMethod::Rodas4 => &RODAS4,
            RosenbrockMethod::Rodas5P => &RODAS5P,
        }
    }
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Rosenbrock {
    method: RosenbrockMethod,
    tolerances: Tolerances,
    max_step: f64,
    t: f64,
    x: Vec<f64>,
    dx: Vec<f64>,
    dx_end: Vec<f64>,
    /// Size the next step will try, not clipped by any limit.
    h: f64,
    t_start: f64,
    h_last: f64,
    /// Size and error of the last step that was not clipped, for the prediction.
    last: Option<(f64, f64)>,
    jacobian: Jacobian,
    /// Jacobian and time derivative belong to the present point.
    is_jacobian_current: bool,
    dt: Vec<f64>,
    k: Vec<Vec<f64>>,
    trial: Vec<f64>,
    x_start: Vec<f64>,
    dense: Vec<Vec<f64>>,
    /// Of the last step, in units of the tolerances.
    error: f64,
    statistics: Statistics,
}

impl Rosenbrock {
    /// `max_step` may be infinite.
    pub fn new(method: RosenbrockMethod, tolerances: Tolerances, max_step: f64) -> Self {
        let tableau = method.tableau();
        let n = tolerances.absolute.len();
        let vector = || vec![0.0; n];
        Rosenbrock {
            method,
            tolerances,
            max_step,
            t: 0.0,
            x: vector(),
            dx: vector(),
            dx_end: vector(),
            h: 0.0,
            t_start: 0.0,
            h_last: 0.0,
            last: None,
            jacobian: Jacobian::new(n),
            is_jacobian_current: false,
            dt: vector(),
            k: (0..tableau.stages()).map(|_| vector()).collect(),
            trial: vector(),
            x_start: vector(),
            dense: tableau.dense.iter().map(|_| vector()).collect(),
            error: 0.0,
            statistics: Statistics::default(),
        }
    }

    /// `h·|λ|` of the last step, estimated; infinite before the first one.
    pub fn stiffness(&mut self) -> f64 {
        if self.h_last == 0.0 {
            return f64::INFINITY;
        }
        self.h_last * self.jacobian.spectral_radius(&self.tolerances, &self.x)
    }

    /// Lends the matrices to another integrator of the same system, or takes them back.
    pub(crate) fn exchange_jacobian(&mut self, other: &mut Jacobian) {
        std::mem::swap(&mut self.jacobian, other);
    }

    fn begin(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.t = t;
        self.t_start = t;
        self.h_last = 0.0;
        self.last = None;
        self.is_jacobian_current = false;
        self.x.copy_from_slice(x);
        self.statistics.restarts += 1;
        let started = step_size::evaluate(system, t, &self.x, &mut self.dx, &mut self.statistics.evaluations);
        started.map_err(|_| IntegratorError::StartFails { t })
    }

    fn linearise(&mut self, system: &mut dyn OdeSystem, h: f64) -> Eval {
        if self.is_jacobian_current {
            return Ok(());
        }
        let point = (self.t, self.x.as_slice(), self.dx.as_slice());
        self.jacobian.evaluate(system, &self.tolerances, point, h, &mut self.statistics)?;
        time_derivative(system, point, h, &mut self.dt, &mut self.statistics.evaluations)?;
        self.is_jacobian_current = true;
        Ok(())
    }

    /// Computes all stages for a step of size `h`; the new states end up in `trial`. Returns the error.
    fn attempt(&mut self, system: &mut dyn OdeSystem, h: f64) -> Result<f64, TrialFailure> {
        let tableau = self.method.tableau();
        let n = self.x.len();
        self.linearise(system, h)?;
        self.jacobian.factor(1.0 / (h * tableau.gamma), &mut self.statistics).map_err(|_| TrialFailure)?;
        for stage in 0..tableau.stages() {
            let (done, rest) = self.k.split_at_mut(stage);
            let k = &mut rest[0];
            if stage == 0 {
                k.copy_from_slice(&self.dx);
            } else {
                combine(&mut self.trial, &self.x, tableau.a[stage - 1], 1.0, done);
                let t = self.t + tableau.alpha[stage] * h;
                step_size::evaluate(system, t, &self.trial, k, &mut self.statistics.evaluations)?;
                accumulate(k, tableau.c[stage - 1], 1.0 / h, done);
            }
            let d = tableau.d[stage];
            if d != 0.0 {
                for i in 0..n {
                    k[i] += h * d * self.dt[i];
                }
            }
            self.jacobian.solve(k);
        }
        let Some(estimate) = self.k.last() else { return Err(TrialFailure) };
        for i in 0..n {
            self.trial[i] += estimate[i];
        }
        Ok(step_size::norm(&self.tolerances, &self.x, &self.trial, estimate.iter().copied()))
    }

    /// Prepares the continuous extension of the attempted step. If it passes over a transient, its time constant.
    ///
    /// A method that damps stiff components at once ends such a step well, but its extension is a polynomial from
    /// where the transient begins to where it has long been over, and wrong in between. Its slope at the start then differs from
    /// the derivatives. The matrix of the step turns that difference into one of states: the height of the transient.
    fn extend(&mut self, h: f64) -> Option<f64> {
        for (dense, coefficients) in self.dense.iter_mut().zip(self.method.tableau().dense) {
            dense.fill(0.0);
            accumulate(dense, coefficients, 1.0, &self.k);
        }
        let height = &mut self.dx_end;
        for (i, difference) in height.iter_mut().enumerate() {
            *difference = self.dx[i] - (self.trial[i] - self.x[i] + self.dense[0][i]) / h;
        }
        let norm = |values: &[f64]| step_size::norm(&self.tolerances, &self.x, &self.trial, values.iter().copied());
        let speed = norm(height);
        self.jacobian.solve(height);
        let height = norm(height);
        (height > TRANSIENT).then_some(height / speed)
    }

    /// Takes over the trial point unless its derivatives fail.
    fn accept(&mut self, system: &mut dyn OdeSystem, attempt: &Attempt) -> Eval {
        let slope = &mut self.dx_end;
        step_size::evaluate(system, attempt.end, &self.trial, slope, &mut self.statistics.evaluations)?;
        std::mem::swap(&mut self.dx, slope);
        std::mem::swap(&mut self.x_start, &mut self.x);
        std::mem::swap(&mut self.x, &mut self.trial);
        self.t_start = self.t;
        self.t = attempt.end;
        self.h_last = attempt.h;
        self.is_jacobian_current = false;
        self.statistics.steps += 1;
        Ok(())
    }

    /// Divisor-free form of Gustafsson's prediction: the factor for the next step.
    fn growth(&self, h: f64, error: f64, may_grow: bool) -> f64 {
        let exponent = 1.0 / f64::from(self.method.tableau().order);
        let error = error.max(SMALLEST_ERROR);
        let mut factor = SAFETY * error.powf(-exponent);
        if let Some((h_before, error_before)) = self.last {
            let trend = (error_before.max(REMEMBERED_ERROR) / (error * error)).powf(exponent);
            factor = factor.min(SAFETY * h / h_before * trend);
        }
        factor.clamp(MOST_SHRINK, if may_grow { MOST_GROWTH } else { 1.0 })
    }
}

/// `target = base + scale·Σ coefficients·vectors`.
fn combine(target: &mut [f64], base: &[f64], coefficients: &[f64], scale: f64, vectors: &[Vec<f64>]) {
    target.copy_from_slice(base);
    accumulate(target, coefficients, scale, vectors);
}

fn accumulate(target: &mut [f64], coefficients: &[f64], scale: f64, vectors: &[Vec<f64>]) {
    for (coefficient, vector) in coefficients.iter().zip(vectors) {
        let c = coefficient * scale;
        for (value, v) in target.iter_mut().zip(vector) {
            *value += c * v;
        }
    }
}

impl Integrator for Rosenbrock {
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.begin(system, t, x)?;
        let start = (t, self.x.as_slice(), self.dx.as_slice());
        let count = &mut self.statistics.evaluations;
        let (order, slope) = (self.method.tableau().order - 1, &mut self.k[0]);
        let (tolerances, most) = (&self.tolerances, self.max_step);
        self.h = step_size::first_step(system, tolerances, order, most, start, &mut self.trial, slope, count);
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
            let error = self.attempt(system, h).unwrap_or(f64::INFINITY);
            let estimate = |i: usize| self.k.last().map_or(0.0, |k| k[i]);
            let part = |i: usize| step_size::part(&self.tolerances, i, self.x[i], self.trial[i], estimate(i));
            let is_cut_short = attempt.is_clipped || self.h > self.max_step;
            system.judge(&Judged { error, is_cut_short, part: &part });
            let transient = if error <= 1.0 { self.extend(h) } else { None };
            // One shorter than time can tell is over at once.
            let can_shrink = |tau: &f64| {
                2.0 * STEP_IN_TRANSIENT * tau < h && !step_size::is_smallest(STEP_IN_TRANSIENT * tau, self.t)
            };
            if let Some(time_constant) = transient.filter(can_shrink) {
                self.statistics.rejected += 1;
                system.reject();
                may_grow = false;
                self.h = STEP_IN_TRANSIENT * time_constant;
                continue;
            }
            if error <= 1.0 && self.accept(system, &attempt).is_ok() {
                let next = h * self.growth(h, error, may_grow);
                self.h = attempt.next_size(next, MOST_GROWTH);
                self.last = Some((h, error));
                self.error = error;
                return Ok(());
            }
            self.statistics.rejected += 1;
            system.reject();
            may_grow = false;
            if step_size::is_smallest(h, self.t) {
                return Err(IntegratorError::StepTooSmall { t: self.t });
            }
            let exponent = -1.0 / f64::from(self.method.tableau().order);
            let is_hint = error.is_finite() && error > 1.0;
            let factor = if is_hint {
                (SAFETY * error.powf(exponent)).clamp(MOST_SHRINK, AFTER_REJECTION)
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
        for (i, value) in x.iter_mut().enumerate() {
            let inner = self.dense.iter().rev().fold(0.0, |sum, d| d[i] + s * sum);
            *value = (1.0 - s) * self.x_start[i] + s * (self.x[i] + (1.0 - s) * inner);
        }
    }

    fn interpolant(&self, state: usize) -> Interpolant {
        if self.h_last == 0.0 {
            return Interpolant::constant(self.x[state]);
        }
        let mut coefficients = [0.0; interpolant::DEGREE + 1];
        coefficients[0] = self.x_start[state];
        coefficients[1] = self.x[state] - self.x_start[state];
        for (k, dense) in self.dense.iter().enumerate() {
            coefficients[k + 1] += dense[state];
            coefficients[k + 2] -= dense[state];
        }
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
        &self.dx
    }

    fn next_step_size(&self) -> f64 {
        self.h
    }

    fn propose_step_size(&mut self, h: f64) {
        self.h = h;
        self.last = None;
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
