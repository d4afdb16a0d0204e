//! What the event engine needs of an integrator: start anew, make one accepted step, interpolate on that step.
//!
//! In: an [`OdeSystem`] `ẋ = f(t, x)` that is smooth between restarts. Out: states at the end of each step and anywhere
//! inside the last one. Output points and event location use interpolation; they never shorten a step.

/// A right-hand side could not be computed at a trial point (NaN, domain error): a smaller step may help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrialFailure;

pub trait OdeSystem {
    /// Writes `f(t, x)` into `dx`.
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), TrialFailure>;
}

/// A step is accepted if its estimated error in each component is about `relative·|x| + absolute`.
#[derive(Clone, PartialEq, Debug)]
pub struct Tolerances {
    pub relative: f64,
    /// One per state.
    pub absolute: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum IntegratorError {
    /// The right-hand side fails at the very start of a step.
    StartFails { t: f64 },
    /// No step longer than the resolution of time is accurate enough or can be evaluated.
    StepTooSmall { t: f64 },
}

/// What the integration has cost so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    pub steps: u64,
    pub rejected: u64,
    pub evaluations: u64,
    pub restarts: u64,
}

pub trait Integrator {
    /// Forgets the past: the next step begins at `t` with the states `x`. Estimates a first step size.
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> Result<(), IntegratorError>;

    /// One accepted step that does not go beyond `limit` (which must be later than the present time).
    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> Result<(), IntegratorError>;

    /// The states at `t`, which must lie in the last step.
    fn interpolate(&self, t: f64, x: &mut [f64]);

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

    fn statistics(&self) -> Statistics;
}
