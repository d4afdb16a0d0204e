//! The corrector equation of a step, solved by a simplified Newton method.
//!
//! In: the prediction. Out: its correction, or a failure: then the step was too long. The factors of `c·I − J` and the rate at which iterations
//! with them contracted are kept from step to step (as in CVODE). When the iteration does not converge the Jacobian is evaluated anew, and where
//! that does not help either, by differences that reach over a kink.

use super::{Bdf, error_constant, leading_coefficient};
use crate::integrator::{Eval, OdeSystem, Statistics, TrialFailure};
use crate::jacobian::Jacobian;
use crate::step_size;
use crate::tuning::bdf::{
    AGEING, DRIFTING, GOAL, LEAST_RATE, NEAR, NEGLIGIBLE, NEWTON_ITERATIONS, REMEMBERED, STALLED, SUFFICIENT,
};
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
    /// The rate at which iterations with these factors contracted, the last time that two changes were compared.
    rate: Option<f64>,
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
    /// The correction before a leap.
    kept: Vec<f64>,
}

impl IterationMatrix {
    pub fn new(n: usize) -> IterationMatrix {
        IterationMatrix {
            jacobian: Jacobian::new(n),
            has_jacobian: false,
            is_wide: false,
            factored_for: f64::NAN,
            rate: None,
        }
    }

    pub fn forget(&mut self) {
        self.has_jacobian = false;
        self.factored_for = f64::NAN;
        self.rate = None;
    }

    /// How far from `c` the factors are: a bound of the rate at which [`IterationMatrix::scale`] lets the iteration of a linear system
    /// contract. NaN without factors.
    fn distance(&self, c: f64) -> f64 {
        (self.factored_for - c).abs() / (self.factored_for + c)
    }

    /// Solutions are multiplied by this where the factors are those of another `c`: slow components need the ratio of both, stiff ones none, and
    /// a value between them lets either contract alike.
    fn scale(&self, c: f64) -> f64 {
        2.0 * self.factored_for / (self.factored_for + c)
    }

    /// Factors the matrix unless its factors are near enough.
    fn factor(&mut self, c: f64, statistics: &mut Statistics) -> Result<(), TrialFailure> {
        let is_near = self.distance(c) <= NEAR;
        if !is_near {
            (self.factored_for, self.rate) = (f64::NAN, None);
            self.jacobian.factor(c, statistics).map_err(|_| TrialFailure)?;
            self.factored_for = c;
        }
        Ok(())
    }

    /// The next iteration has to show how fast it contracts.
    pub fn doubt(&mut self) {
        self.rate = None;
    }

    /// Two changes have been compared.
    fn remember(&mut self, rate: f64) {
        self.rate = Some(rate.max(self.rate.map_or(0.0, |before| REMEMBERED * before)));
    }

    /// What to expect of the first change; the longer that was not measured, the worse. Nothing of differences, which may reach over a jump
    /// from where the system has left long ago.
    fn expected_rate(&mut self, c: f64) -> Option<f64> {
        let expected = self.rate.filter(|_| self.jacobian.is_exact())?.max(self.distance(c));
        self.rate = self.rate.map(|rate| AGEING * rate.max(LEAST_RATE));
        Some(expected.max(LEAST_RATE))
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
            kept: vector(),
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

    /// Undoes a leap.
    fn return_to_kept(&mut self) {
        self.correction.copy_from_slice(&self.kept);
        for ((trial, predicted), correction) in self.trial.iter_mut().zip(&self.predicted).zip(&self.correction) {
            *trial = predicted + correction;
        }
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
    fn correct(&mut self, system: &mut dyn OdeSystem, t: f64, is_new: bool) -> Result<u32, TrialFailure> {
        let c = leading_coefficient(self.order) / self.h;
        self.matrix.factor(c, &mut self.statistics)?;
        let rounding = 10.0 * f64::EPSILON / self.tolerances.relative;
        let goal = rounding.max(GOAL / error_constant(self.order));
        self.corrector.begin();
        let mut before: Option<f64> = None;
        for iteration in 1..=NEWTON_ITERATIONS {
            let change = self.next_change(system, t, c, is_new && iteration == 1)?;
            let rate = before.map(|b| change / b);
            let expected = match rate {
                Some(rate) => {
                    self.matrix.remember(rate);
                    Some(rate)
                }
                None => self.matrix.expected_rate(c),
            };
            // Rounding, loops inside of the right-hand side, and kinks of it (a flow about zero) leave changes that contract no further and say
            // nothing against the step. At a jump those of one direction are longer than the others.
            let is_small = change <= SUFFICIENT && rate.is_some_and(|r| r >= STALLED.start);
            let repeated = if is_small { self.repeats() } else { 0.0 };
            let is_stalled = is_small && (repeated < 0.0 || rate.is_some_and(|r| r <= STALLED.end));
            // A small change alone may be that of a matrix which is much too stiff.
            let is_negligible = rate.is_some() && change <= NEGLIGIBLE * goal;
            let has_converged = is_negligible || expected.is_some_and(|r| r < 1.0 && r / (1.0 - r) * change < goal);
            let ends = change <= rounding || is_stalled || has_converged;
            if !ends && rate.is_some_and(|r| is_hopeless(r, change, iteration)) {
                return Err(TrialFailure);
            }
            // Differences may reach over a jump of one state while the others converge.
            let is_doubtful = is_stalled && repeated > DRIFTING || !self.matrix.jacobian.is_exact() && repeated >= 0.0;
            if ends && is_doubtful && change > rounding {
                self.leap(system, t, c)?;
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

    /// The next change of the correction, into `slope`. Returns its norm. `is_known`: the right-hand side is there already.
    fn next_change(&mut self, system: &mut dyn OdeSystem, t: f64, c: f64, is_known: bool) -> Result<f64, TrialFailure> {
        let Corrector { predicted, psi, correction, trial, slope, .. } = &mut self.corrector;
        if !is_known {
            let evaluated = step_size::evaluate(system, t, trial, slope, &mut self.statistics.evaluations);
            self.is_evaluated &= evaluated.is_ok();
            evaluated?;
        }
        let scale = self.matrix.scale(c);
        for ((slope, psi), correction) in slope.iter_mut().zip(&*psi).zip(&*correction) {
            *slope = scale * (*slope - c * (psi + correction));
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
    /// system and they would add up to any distance. A leap of every state, on its way, tells: the next change takes it back, unless the matrix is
    /// wrong. It is as long as a change may be.
    fn leap(&mut self, system: &mut dyn OdeSystem, t: f64, c: f64) -> Result<(), TrialFailure> {
        self.corrector.apply();
        let Corrector { predicted, correction, slope, last_change, kept, .. } = &mut self.corrector;
        kept.copy_from_slice(correction);
        for (i, leap) in slope.iter_mut().enumerate() {
            let allowed = SUFFICIENT * step_size::weight(&self.tolerances, i, predicted[i], predicted[i]);
            *leap = last_change[i].signum() * allowed.max(2.0 * last_change[i].abs());
        }
        self.corrector.apply();
        self.next_change(system, t, c, false)?;
        let Corrector { slope, last_change, .. } = &self.corrector;
        let goes_on = slope.iter().zip(last_change).any(|(next, leapt)| next * leapt > 0.0);
        self.corrector.return_to_kept();
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
        let mut corrected = self.correct(system, end, is_new);
        if corrected.is_err() && !is_new {
            self.evaluate_jacobian(system, end, is_wide)?;
            corrected = self.correct(system, end, true);
        }
        // Where the right-hand side fails, its slope is not to blame, unless differences have not been tried yet.
        if corrected.is_err() && (self.is_evaluated || self.matrix.jacobian.is_exact()) {
            self.evaluate_jacobian(system, end, !is_wide)?;
            corrected = self.correct(system, end, true);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tolerances;

    /// ẋ = −3x.
    struct Decay;

    impl OdeSystem for Decay {
        fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
            dx[0] = -3.0 * x[0];
            Ok(())
        }

        fn jacobian(&mut self, _: f64, _: &[f64], jacobian: &mut [f64]) -> bool {
            jacobian[0] = -3.0;
            true
        }
    }

    /// Factored for c = 1.2.
    fn matrix(is_exact: bool) -> IterationMatrix {
        let (mut matrix, mut statistics) = (IterationMatrix::new(1), Statistics::default());
        let tolerances = Tolerances { relative: 1e-6, absolute: vec![1e-6], unbounded: vec![] };
        let (point, jacobian) = ((0.0, [1.0].as_slice(), [-3.0].as_slice()), &mut matrix.jacobian);
        let evaluated = if is_exact {
            jacobian.evaluate(&mut Decay, &tolerances, point, 1.0, &mut statistics)
        } else {
            jacobian.evaluate_by_differences(&mut Decay, &tolerances, point, 1.0, &mut statistics)
        };
        assert!(evaluated.is_ok() && matrix.factor(1.2, &mut statistics).is_ok());
        matrix
    }

    #[test]
    fn factors_serve_for_nearby_step_sizes() {
        // A ratio of 1.22, that is (c₀ − c)/(c₀ + c) = 0.1, is the last one.
        let (mut matrix, mut statistics) = (matrix(true), Statistics::default());
        matrix.remember(0.2);
        assert!(matrix.factor(1.0, &mut statistics).is_ok() && matrix.factored_for == 1.2);
        assert!((matrix.scale(1.0) - 2.4 / 2.2).abs() < 1e-15 && matrix.distance(1.0) < NEAR);
        assert_eq!((matrix.expected_rate(1.0), matrix.expected_rate(1.0)), (Some(0.2), Some(0.4)));
        // Nothing is known of other factors.
        assert!(matrix.factor(0.9, &mut statistics).is_ok() && matrix.factored_for == 0.9);
        assert_eq!((matrix.expected_rate(0.9), statistics.factorisations), (None, 1));
    }

    #[test]
    fn a_rate_is_forgotten_slowly() {
        for is_exact in [true, false] {
            let mut matrix = matrix(is_exact);
            matrix.remember(0.5);
            matrix.remember(0.0);
            assert_eq!(matrix.expected_rate(1.2), is_exact.then_some(REMEMBERED * 0.5));
            matrix.doubt();
            assert_eq!(matrix.expected_rate(1.2), None);
        }
    }
}
