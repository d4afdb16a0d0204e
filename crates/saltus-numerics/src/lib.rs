//! Numerical methods on `f64` slices: integrators that step and interpolate ([`Integrator`]), and the location of a sign
//! change to the resolution of time ([`root`]). No Modelica, no events: those are the business of `saltus-sim`.

pub mod dormand_prince;
pub mod integrator;
pub mod root;
pub mod sparsity;
mod step_size;

pub use dormand_prince::DormandPrince;
pub use integrator::{Eval, Integrator, IntegratorError, OdeSystem, Statistics, StepResult, Tolerances, TrialFailure};
pub use root::{Bracket, locate_sign_change};
pub use sparsity::Sparsity;
