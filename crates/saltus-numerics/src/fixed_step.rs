//! Fixed steps for real time: the same work in every step, no error control.
//!
//! In: an [`OdeSystem`] and a step size. Out: steps that end on the grid `start + k·h`, and at limits in between. Between
//! their ends the states are interpolated by the cubic of Hermite. A restart begins a new grid.

use crate::integrator::{
    Eval, Integrator, IntegratorError, OdeSystem, Statistics, StepResult, Tolerances, TrialFailure,
};
use crate::interpolant::{DEGREE, Interpolant};
use crate::jacobian::Jacobian;
use crate::step_size;
use crate::tuning::fixed_step::{DIVERGES, NEWTON_GOAL, NEWTON_ITERATIONS, SPLINTER};

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum FixedStepMethod {
    ExplicitEuler,
    /// The classical method of order 4.
    RungeKutta4,
    /// Order 1 and stable however stiff the system; a bounded number of Newton iterations.
    ImplicitEuler,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct FixedStep {
    method: FixedStepMethod,
    tolerances: Tolerances,
    h: f64,
    max_step: f64,
    origin: f64,
    t: f64,
    t_start: f64,
    x: Vec<f64>,
    dx: Vec<f64>,
    x_start: Vec<f64>,
    dx_start: Vec<f64>,
    jacobian: Jacobian,
    k: [Vec<f64>; 3],
    trial: Vec<f64>,
    statistics: Statistics,
}

impl FixedStep {
    /// Tolerances only scale the Newton iteration of the implicit method.
    pub fn new(method: FixedStepMethod, tolerances: Tolerances, h: f64) -> Self {
        let n = tolerances.absolute.len();
        let vector = || vec![0.0; n];
        FixedStep {
            method,
            tolerances,
            h,
            max_step: f64::INFINITY,
            origin: 0.0,
            t: 0.0,
            t_start: 0.0,
            x: vector(),
            dx: vector(),
            x_start: vector(),
            dx_start: vector(),
            jacobian: Jacobian::new(n),
            k: std::array::from_fn(|_| vector()),
            trial: vector(),
            statistics: Statistics::default(),
        }
    }

    /// The next point of the grid.
    fn next_point(&self) -> f64 {
        let h = self.h.min(self.max_step);
        let done = ((self.t - self.origin) / h + SPLINTER).floor();
        self.origin + (done + 1.0) * h
    }

    /// `x + factor·dx` of one of the slopes (0 is that at the start of the step) into `trial`.
    fn move_along(&mut self, slope: usize, factor: f64) {
        let slope = if slope == 0 { &self.dx } else { &self.k[slope - 1] };
        for i in 0..self.x.len() {
            self.trial[i] = self.x[i] + factor * slope[i];
        }
    }

    fn evaluate(&mut self, system: &mut dyn OdeSystem, t: f64, slope: usize) -> Eval {
        step_size::evaluate(system, t, &self.trial, &mut self.k[slope - 1], &mut self.statistics.evaluations)
    }

    /// Computes the new states into `trial`.
    fn advance(&mut self, system: &mut dyn OdeSystem, h: f64, end: f64) -> Eval {
        match self.method {
            FixedStepMethod::ExplicitEuler => {
                self.move_along(0, h);
                Ok(())
            }
            FixedStepMethod::RungeKutta4 => {
                let middle = self.t + 0.5 * h;
                self.move_along(0, 0.5 * h);
                self.evaluate(system, middle, 1)?;
                self.move_along(1, 0.5 * h);
                self.evaluate(system, middle, 2)?;
                self.move_along(2, h);
                self.evaluate(system, end, 3)?;
                for i in 0..self.x.len() {
                    let sum = self.dx[i] + 2.0 * self.k[0][i] + 2.0 * self.k[1][i] + self.k[2][i];
                    self.trial[i] = self.x[i] + h / 6.0 * sum;
                }
                Ok(())
            }
            FixedStepMethod::ImplicitEuler => self.solve_implicit(system, h, end),
        }
    }

    fn solve_implicit(&mut self, system: &mut dyn OdeSystem, h: f64, end: f64) -> Eval {
        let point = (self.t, self.x.as_slice(), self.dx.as_slice());
        self.jacobian.evaluate(system, &self.tolerances, point, h, &mut self.statistics)?;
        self.jacobian.factor(1.0 / h, &mut self.statistics).map_err(|_| TrialFailure)?;
        self.trial.copy_from_slice(&self.x);
        let mut before = f64::INFINITY;
        for _ in 0..NEWTON_ITERATIONS {
            self.evaluate(system, end, 1)?;
            let residual = &mut self.k[0];
            for i in 0..self.x.len() {
                residual[i] -= (self.trial[i] - self.x[i]) / h;
            }
            self.jacobian.solve(residual);
            for (value, change) in self.trial.iter_mut().zip(residual.iter()) {
                *value += change;
            }
            let change = step_size::norm(&self.tolerances, &self.x, &self.trial, residual.iter().copied());
            if change <= NEWTON_GOAL {
                return Ok(());
            }
            if !change.is_finite() || change > DIVERGES * before {
                return Err(TrialFailure);
            }
            before = change;
        }
        // Out of time, but contracting: good enough for a method of order 1.
        if before <= 1.0 { Ok(()) } else { Err(TrialFailure) }
    }
}

impl Integrator for FixedStep {
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.origin = t;
        self.reinit(system, t, x)
    }

    /// Stays on the grid.
    fn reinit(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.t = t;
        self.t_start = t;
        self.x.copy_from_slice(x);
        self.statistics.restarts += 1;
        let started = step_size::evaluate(system, t, &self.x, &mut self.dx, &mut self.statistics.evaluations);
        started.map_err(|_| IntegratorError::StartFails { t })
    }

    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        let failed = IntegratorError::StepTooSmall { t: self.t };
        let end = self.next_point().min(limit);
        if end <= self.t || !end.is_finite() {
            return Err(failed);
        }
        self.advance(system, end - self.t, end).map_err(|_| failed)?;
        self.evaluate(system, end, 1).map_err(|_| failed)?;
        std::mem::swap(&mut self.x_start, &mut self.x);
        std::mem::swap(&mut self.x, &mut self.trial);
        std::mem::swap(&mut self.dx_start, &mut self.dx);
        std::mem::swap(&mut self.dx, &mut self.k[0]);
        self.t_start = self.t;
        self.t = end;
        self.statistics.steps += 1;
        Ok(())
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        let h = self.t - self.t_start;
        if h == 0.0 || t >= self.t {
            x.copy_from_slice(&self.x);
            return;
        }
        let s = ((t - self.t_start) / h).clamp(0.0, 1.0);
        let r = 1.0 - s;
        for (i, value) in x.iter_mut().enumerate() {
            let difference = self.x[i] - self.x_start[i];
            let bend = r * (h * self.dx_start[i] - difference) - s * (h * self.dx[i] - difference);
            *value = r * self.x_start[i] + s * self.x[i] + s * r * bend;
        }
    }

    fn interpolant(&self, state: usize) -> Interpolant {
        let h = self.t - self.t_start;
        if h == 0.0 {
            return Interpolant::constant(self.x[state]);
        }
        let difference = self.x[state] - self.x_start[state];
        let (p, q) = (h * self.dx_start[state] - difference, h * self.dx[state] - difference);
        let mut coefficients = [0.0; DEGREE + 1];
        coefficients[..4].copy_from_slice(&[self.x_start[state], difference + p, -2.0 * p - q, p + q]);
        Interpolant { origin: self.t_start, unit: h, coefficients }
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
        self.h.min(self.max_step)
    }

    /// Changes the grid, which begins anew at the present time.
    fn propose_step_size(&mut self, h: f64) {
        self.h = h;
        self.origin = self.t;
    }

    fn set_tolerances(&mut self, relative: f64, absolute: &[f64]) {
        self.tolerances.relative = relative;
        self.tolerances.absolute.copy_from_slice(absolute);
    }

    fn set_max_step(&mut self, max_step: f64) {
        self.max_step = max_step;
        self.origin = self.t;
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}
