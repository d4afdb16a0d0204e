//! The corrector equation of a step, solved by a simplified Newton method.
//!
//! In: the prediction. Out: its correction, or a failure: then the step was too long. The matrix `c·I − J` is kept from step to step; when the
//! iteration does not converge the Jacobian is evaluated anew, and where that does not help either, by differences that reach over a kink.

use super::{Bdf, leading_coefficient};
use crate::integrator::{Eval, OdeSystem, Statistics, TrialFailure};
use crate::jacobian::Jacobian;
use crate::step_size;
use crate::tuning::bdf::{DRIFTING, NEGLIGIBLE, NEWTON_ITERATIONS, STALLED, SUFFICIENT};
use crate::tuning::step_size::SAFETY;

/// `c·I − J`, the matrix of the simplified Newton method.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct IterationMatrix {
    pub jacobian: Jacobian,
    pub has_jacobian: bool,
    /// The value of c for which the matrix is factored, or NaN.
    factored_for: f64,
}

/// One step in the making.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Corrector {
    pub predicted: Vec<f64>,
    /// The part of the corrector equation that does not change in its iteration.
    pub psi: Vec<f64>,
    pub correction: Vec<f64>,
    /// `predicted + correction`.
    pub trial: Vec<f64>,
    slope: Vec<f64>,
    /// What the last iteration changed.
    last_change: Vec<f64>,
}

impl IterationMatrix {
    pub fn new(n: usize) -> IterationMatrix {
        IterationMatrix { jacobian: Jacobian::new(n), has_jacobian: false, factored_for: f64::NAN }
    }

    pub fn forget(&mut self) {
        self.has_jacobian = false;
        self.factored_for = f64::NAN;
    }

    /// Factors the matrix for another `c`.
    fn factor(&mut self, c: f64, statistics: &mut Statistics) -> Result<(), TrialFailure> {
        if self.factored_for != c {
            self.factored_for = f64::NAN;
            self.jacobian.factor(c, statistics).map_err(|_| TrialFailure)?;
            self.factored_for = c;
        }
        Ok(())
    }
}

impl Corrector {
    pub fn new(n: usize) -> Corrector {
        let vector = || vec![0.0; n];
        Corrector {
            predicted: vector(),
            psi: vector(),
            correction: vector(),
            trial: vector(),
            slope: vector(),
            last_change: vector(),
        }
    }

    /// Two vectors without meaning between steps.
    pub fn storage(&mut self) -> (&mut [f64], &mut [f64]) {
        (&mut self.trial, &mut self.slope)
    }
}

impl Bdf {
    fn evaluate_jacobian(&mut self, system: &mut dyn OdeSystem, t: f64) -> Eval {
        let Corrector { predicted, slope, .. } = &mut self.corrector;
        step_size::evaluate(system, t, predicted, slope, &mut self.statistics.evaluations)?;
        let point = (t, predicted.as_slice(), slope.as_slice());
        self.matrix.jacobian.evaluate(system, &self.tolerances, point, self.h, &mut self.statistics)?;
        self.matrix.has_jacobian = true;
        self.matrix.factored_for = f64::NAN;
        Ok(())
    }

    /// Where the right-hand side has a kink (a flow about zero) the exact slope of one side may be far from what the
    /// iteration meets; differences reach over it.
    fn evaluate_differences(&mut self, system: &mut dyn OdeSystem, t: f64) -> Eval {
        let Corrector { predicted, slope, .. } = &mut self.corrector;
        step_size::evaluate(system, t, predicted, slope, &mut self.statistics.evaluations)?;
        let point = (t, predicted.as_slice(), slope.as_slice());
        self.matrix.forget();
        self.matrix.jacobian.evaluate_by_differences(system, &self.tolerances, point, self.h, &mut self.statistics)?;
        self.matrix.has_jacobian = true;
        Ok(())
    }

    /// Solves the corrector equation; the states end up in `trial`, the change of the prediction in `correction`.
    /// Returns the number of iterations.
    fn correct(&mut self, system: &mut dyn OdeSystem, t: f64) -> Result<u32, TrialFailure> {
        let c = leading_coefficient(self.order) / self.h;
        self.matrix.factor(c, &mut self.statistics)?;
        let relative = self.tolerances.relative;
        let rounding = 10.0 * f64::EPSILON / relative;
        let goal = rounding.max(relative.sqrt().min(0.03));
        let Corrector { predicted, psi, correction, trial, slope, last_change } = &mut self.corrector;
        trial.copy_from_slice(predicted);
        correction.fill(0.0);
        let mut before: Option<f64> = None;
        for iteration in 1..=NEWTON_ITERATIONS {
            let evaluated = step_size::evaluate(system, t, trial, slope, &mut self.statistics.evaluations);
            self.is_evaluated &= evaluated.is_ok();
            evaluated?;
            for ((slope, psi), correction) in slope.iter_mut().zip(&*psi).zip(&*correction) {
                *slope -= c * (psi + correction);
            }
            self.matrix.jacobian.solve(slope);
            let change = step_size::norm(&self.tolerances, predicted, predicted, slope.iter().copied());
            let rate = before.map(|b| change / b);
            let is_stalled = rate.is_some_and(|r| is_stalled(r, change));
            let repeated = || step_size::component(&self.tolerances, predicted, last_change, slope);
            let drifts = is_stalled && repeated() > DRIFTING;
            // A small change alone may be that of a matrix which is much too stiff.
            let is_negligible = change <= rounding || rate.is_some() && change <= NEGLIGIBLE * goal;
            let ends = is_negligible || is_stalled && !drifts;
            let fails = if drifts {
                iteration == NEWTON_ITERATIONS
            } else {
                !ends && rate.is_some_and(|r| is_hopeless(r, change, iteration))
            };
            if fails || !change.is_finite() {
                return Err(TrialFailure);
            }
            let changed = correction.iter_mut().zip(&*slope).zip(&mut *trial).zip(&*predicted);
            for (((correction, change), trial), predicted) in changed {
                *correction += change;
                *trial = predicted + *correction;
            }
            if ends || rate.is_some_and(|r| r < 1.0 && r / (1.0 - r) * change < goal) {
                return Ok(iteration);
            }
            before = Some(change);
            std::mem::swap(slope, last_change);
        }
        // Slow, but not hopeless.
        Ok(NEWTON_ITERATIONS)
    }

    /// One attempt with the present order and size. Returns the error norm and the safety factor.
    pub(super) fn attempt(&mut self, system: &mut dyn OdeSystem, end: f64) -> Result<(f64, f64), TrialFailure> {
        self.predict();
        self.is_evaluated = true;
        let mut is_jacobian_new = false;
        if !self.matrix.has_jacobian {
            self.evaluate_jacobian(system, end)?;
            is_jacobian_new = true;
        }
        let mut corrected = self.correct(system, end);
        if corrected.is_err() && !is_jacobian_new {
            self.evaluate_jacobian(system, end)?;
            corrected = self.correct(system, end);
        }
        if corrected.is_err() && self.matrix.jacobian.is_exact() {
            self.evaluate_differences(system, end)?;
            corrected = self.correct(system, end);
        }
        let iterations = corrected?;
        let most = f64::from(2 * NEWTON_ITERATIONS + 1);
        let safety = SAFETY * most / (most - 1.0 + f64::from(iterations));
        Ok((self.error_norm(self.order, &self.corrector.correction), safety))
    }
}

/// Rounding, loops inside of the right-hand side, and kinks of it (a flow about zero) leave changes that contract no
/// further and say nothing against the step, unless each repeats the one before: then the matrix is much stiffer than the system, and they
/// would add up to any distance.
fn is_stalled(rate: f64, change: f64) -> bool {
    STALLED.contains(&rate) && change <= SUFFICIENT
}

/// Will the iteration, contracting at this rate, still have too large an error at the end?
fn is_hopeless(rate: f64, change: f64, iteration: u32) -> bool {
    let left = (NEWTON_ITERATIONS - iteration + 1) as i32;
    rate >= 1.0 || rate.powi(left) / (1.0 - rate) * change > SUFFICIENT
}
