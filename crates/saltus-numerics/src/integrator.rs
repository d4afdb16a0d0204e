//! What the event engine needs of an integrator: start anew, make one accepted step, interpolate on that step.
//!
//! In: an [`OdeSystem`] `ẋ = f(t, x)` that is smooth between restarts. Out: states at the end of each step and anywhere
//! inside the last one. Output points and event location use interpolation; they never shorten a step.

use crate::interpolant::Interpolant;
use crate::sparsity::Sparsity;

/// A right-hand side could not be computed at a trial point (NaN, domain error): a smaller step may help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrialFailure;

/// Outcome of an evaluation at a trial point. A NaN or infinity among the results counts as [`TrialFailure`], too.
pub type Eval = Result<(), TrialFailure>;

pub trait OdeSystem {
    /// Writes `f(t, x)` into `dx`.
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), TrialFailure>;

    /// Writes `∂f/∂x` into `jacobian`, dense, row by row, or returns false: then differences are taken.
    fn jacobian(&mut self, _t: f64, _x: &[f64], _jacobian: &mut [f64]) -> bool {
        false
    }

    /// Writes the entries of `∂f/∂x` in the order of [`OdeSystem::sparsity`], or returns false. Called only if there is
    /// a sparsity and it is used; then [`OdeSystem::jacobian`] is not called.
    fn sparse_jacobian(&mut self, _t: f64, _x: &[f64], _values: &mut [f64]) -> bool {
        false
    }

    /// Writes `∂f/∂t` into `dt`, or returns false: then a difference is taken. An autonomous system should fill in
    /// zeros.
    fn time_derivative(&mut self, _t: f64, _x: &[f64], _dt: &mut [f64]) -> bool {
        false
    }

    /// Does `f` come out of an iteration? Then its difference quotients are inexact.
    fn is_iterative(&self) -> bool {
        false
    }

    /// The attempted step is rejected: what an iteration found on it is not a guess for the next one.
    fn reject(&mut self) {}

    /// An attempt at a step has been judged, before it is accepted or rejected.
    fn judge(&mut self, _judged: &Judged) {}

    /// Will somebody ask for states inside of the step to `end`, where the system has just been evaluated? A method may spend evaluations on that.
    fn looks_inside(&mut self, _end: f64) -> bool {
        true
    }

    /// Which entries of `∂f/∂x` can be other than zero. Must not change between restarts.
    fn sparsity(&self) -> Option<&Sparsity> {
        None
    }
}

/// How an attempt at a step came out.
pub struct Judged<'a> {
    /// The norm of the error; the step is accepted up to 1. Infinite if the system could not be evaluated.
    pub error: f64,
    /// It was shorter than the error asked for.
    pub is_cut_short: bool,
    /// The error of one state in units of what it may be.
    pub part: &'a dyn Fn(usize) -> f64,
}

/// A step is accepted if its estimated error in each component is about `relative·|x| + absolute`, for one that grows without
/// bound `absolute` alone.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tolerances {
    pub relative: f64,
    /// One per state.
    pub absolute: Vec<f64>,
    /// Components that grow without bound (`unbounded` of a Real, specification 4.9.6), one entry per state or none at all.
    pub unbounded: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum IntegratorError {
    /// The right-hand side fails at the very start of a step.
    StartFails { t: f64 },
    /// No step longer than the resolution of time is accurate enough or can be evaluated.
    StepTooSmall { t: f64 },
}

pub type StepResult = Result<(), IntegratorError>;

/// What the integration has cost so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Statistics {
    pub steps: u64,
    pub rejected: u64,
    /// Evaluations of the right-hand side, those for difference quotients included.
    pub evaluations: u64,
    pub restarts: u64,
    pub jacobians: u64,
    /// Jacobians that the system did not give: taken by differences.
    pub difference_jacobians: u64,
    pub factorisations: u64,
    /// How often an automatic integrator changed its method.
    pub switches: u64,
}

impl std::ops::Add for Statistics {
    type Output = Statistics;

    fn add(self, other: Statistics) -> Statistics {
        Statistics {
            steps: self.steps + other.steps,
            rejected: self.rejected + other.rejected,
            evaluations: self.evaluations + other.evaluations,
            restarts: self.restarts + other.restarts,
            jacobians: self.jacobians + other.jacobians,
            difference_jacobians: self.difference_jacobians + other.difference_jacobians,
            factorisations: self.factorisations + other.factorisations,
            switches: self.switches + other.switches,
        }
    }
}

pub trait Integrator {
    /// Forgets the past: the next step begins at `t` with the states `x`. Estimates a first step size.
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult;

    /// Continues after an event at `t` with the states `x`, on the guess that step sizes stay what they were: cheaper
    /// than [`Integrator::restart`] where events are frequent. Equal to a restart if nothing is known yet.
    fn reinit(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult;

    /// One accepted step that does not go beyond `limit` (which must be later than the present time).
    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult;

    /// The states at `t`, which must lie in the last step.
    fn interpolate(&self, t: f64, x: &mut [f64]);

    /// The dense output of one state over the last step as a polynomial.
    fn interpolant(&self, state: usize) -> Interpolant;

    /// By how much a state may be off after the last step, as its error is estimated; 0 if it is not.
    fn error(&self, _state: usize) -> f64 {
        0.0
    }

    /// Where the last step began.
    fn step_start(&self) -> f64;

    /// The present time: the end of the last step, or where it was restarted.
    fn time(&self) -> f64;

    /// The states at the present time.
    fn states(&self) -> &[f64];

    /// The derivatives at the present time.
    fn derivatives(&self) -> &[f64];

    /// The size that the next step will try.
    fn next_step_size(&self) -> f64;

    /// Overrides the size that the next step will try.
    fn propose_step_size(&mut self, h: f64);

    /// `absolute` has one entry per state; takes effect with the next step.
    fn set_tolerances(&mut self, relative: f64, absolute: &[f64]);

    /// `max_step` may be infinite.
    fn set_max_step(&mut self, max_step: f64);

    fn statistics(&self) -> Statistics;
}
