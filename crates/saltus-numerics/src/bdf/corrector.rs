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
    /// It was taken by differences that reach over kinks and jumps.
    pub is_wide: bool,
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
        IterationMatrix { jacobian: Jacobian::new(n), has_jacobian: false, is_wide: false, factored_for: f64::NAN }
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

    /// Begins an iteration at the prediction.
    fn begin(&mut self) {
        self.trial.copy_from_slice(&self.predicted);
        self.correction.fill(0.0);
    }

    /// Takes over the change in `slope`, which is the last one then.
    fn apply(&mut self) {
        let changed = self.correction.iter_mut().zip(&self.slope).zip(&mut self.trial).zip(&self.predicted);
        for (((correction, change), trial), predicted) in changed {
            *correction += change;
            *trial = predicted + *correction;
        }
        std::mem::swap(&mut self.slope, &mut self.last_change);
    }

    /// Two vectors without meaning between steps.
    pub fn storage(&mut self) -> (&mut [f64], &mut [f64]) {
        (&mut self.trial, &mut self.slope)
    }
}

impl Bdf {
    /// Evaluates the Jacobian at the prediction.
    ///
    /// Where the right-hand side has a kink (a flow about zero) or jumps (dry friction), the slope of one side may be far from what the
    /// iteration meets. Wide differences, which reach as far as the tolerance lets a change pass, are those of a right-hand side that is smooth.
    fn evaluate_jacobian(&mut self, system: &mut dyn OdeSystem, t: f64, is_wide: bool) -> Eval {
        let Corrector { predicted, slope, .. } = &mut self.corrector;
        self.matrix.forget();
        step_size::evaluate(system, t, predicted, slope, &mut self.statistics.evaluations)?;
        let (point, jacobian) = ((t, predicted.as_slice(), slope.as_slice()), &mut self.matrix.jacobian);
        if is_wide {
            jacobian.evaluate_by_differences(system, &self.tolerances, point, self.h, &mut self.statistics)?;
        } else {
            jacobian.evaluate(system, &self.tolerances, point, self.h, &mut self.statistics)?;
        }
        (self.matrix.has_jacobian, self.matrix.is_wide) = (true, is_wide);
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
        self.corrector.begin();
        let mut before: Option<f64> = None;
        for iteration in 1..=NEWTON_ITERATIONS {
            let change = self.next_change(system, t, c)?;
            let rate = before.map(|b| change / b);
            // Rounding, loops inside of the right-hand side, and kinks of it (a flow about zero) leave changes that contract no further and say
            // nothing against the step. At a jump those of one direction are longer than the others.
            let is_small = change <= SUFFICIENT && rate.is_some_and(|r| r >= STALLED.start);
            let repeated = if is_small { self.repeats() } else { 0.0 };
            let is_stalled = is_small && (repeated < 0.0 || rate.is_some_and(|r| r <= STALLED.end));
            // A small change alone may be that of a matrix which is much too stiff.
            let is_negligible = rate.is_some() && change <= NEGLIGIBLE * goal;
            let has_converged = is_negligible || rate.is_some_and(|r| r < 1.0 && r / (1.0 - r) * change < goal);
            let ends = change <= rounding || is_stalled || has_converged;
            if !ends && rate.is_some_and(|r| is_hopeless(r, change, iteration)) {
                return Err(TrialFailure);
            }
            let is_doubtful = is_stalled && repeated > DRIFTING || self.matrix.is_wide && repeated >= 0.0;
            if ends && is_doubtful && change > rounding {
                self.leap(system, t, c, SUFFICIENT / change)?;
                return Ok(iteration + 1);
            }
            self.corrector.apply();
            if ends {
                return Ok(iteration);
            }
            before = Some(change);
        }
        // Slow, but not hopeless.
        Ok(NEWTON_ITERATIONS)
    }

    /// The next change of the correction, into `slope`. Returns its norm.
    fn next_change(&mut self, system: &mut dyn OdeSystem, t: f64, c: f64) -> Result<f64, TrialFailure> {
        let Corrector { predicted, psi, correction, trial, slope, .. } = &mut self.corrector;
        let evaluated = step_size::evaluate(system, t, trial, slope, &mut self.statistics.evaluations);
        self.is_evaluated &= evaluated.is_ok();
        evaluated?;
        for ((slope, psi), correction) in slope.iter_mut().zip(&*psi).zip(&*correction) {
            *slope -= c * (psi + correction);
        }
        self.matrix.jacobian.solve(slope);
        let change = step_size::norm(&self.tolerances, predicted, predicted, slope.iter().copied());
        if change.is_finite() { Ok(change) } else { Err(TrialFailure) }
    }

    /// How often the last change contains the next one.
    fn repeats(&self) -> f64 {
        let Corrector { predicted, slope, last_change, .. } = &self.corrector;
        step_size::component(&self.tolerances, predicted, last_change, slope)
    }

    /// Small changes that repeat each other are noise, or creep up to a jump of the right-hand side, or the matrix is much stiffer than the
    /// system and they would add up to any distance. One that is this many times as long tells: what follows takes it back, unless the matrix is
    /// wrong.
    fn leap(&mut self, system: &mut dyn OdeSystem, t: f64, c: f64, times: f64) -> Result<(), TrialFailure> {
        self.corrector.slope.iter_mut().for_each(|change| *change *= times);
        self.corrector.apply();
        self.next_change(system, t, c)?;
        let Corrector { predicted, slope, last_change, .. } = &self.corrector;
        let goes_on = step_size::component(&self.tolerances, predicted, slope, last_change) >= 0.0;
        self.corrector.apply();
        if goes_on { Err(TrialFailure) } else { Ok(()) }
    }

    /// One attempt with the present order and size. Returns the error norm and the safety factor.
    pub(super) fn attempt(&mut self, system: &mut dyn OdeSystem, end: f64) -> Result<(f64, f64), TrialFailure> {
        self.predict();
        self.is_evaluated = true;
        // Of the kind that was good before, then of the other one.
        let is_wide = self.matrix.is_wide;
        let is_new = !self.matrix.has_jacobian;
        if is_new {
            self.evaluate_jacobian(system, end, is_wide)?;
        }
        let mut corrected = self.correct(system, end);
        if corrected.is_err() && !is_new {
            self.evaluate_jacobian(system, end, is_wide)?;
            corrected = self.correct(system, end);
        }
        // Where the right-hand side fails, its slope is not to blame, unless differences have not been tried yet.
        if corrected.is_err() && (self.is_evaluated || self.matrix.jacobian.is_exact()) {
            self.evaluate_jacobian(system, end, !is_wide)?;
            corrected = self.correct(system, end);
        }
        let iterations = corrected?;
        let most = f64::from(2 * NEWTON_ITERATIONS + 1);
        let safety = SAFETY * most / (most - 1.0 + f64::from(iterations));
        Ok((self.error_norm(self.order, &self.corrector.correction), safety))
    }
}

/// Will the iteration, contracting at this rate, still have too large an error at the end?
fn is_hopeless(rate: f64, change: f64, iteration: u32) -> bool {
    let left = (NEWTON_ITERATIONS - iteration + 1) as i32;
    rate >= 1.0 || rate.powi(left) / (1.0 - rate) * change > SUFFICIENT
}
