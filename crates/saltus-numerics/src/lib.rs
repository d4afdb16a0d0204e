//! Numerical methods on `f64` slices: integrators that step and interpolate ([`Integrator`]), and the location of a sign
//! change to the resolution of time ([`root`]). No Modelica, no events: those are the business of `saltus-sim`.

#![allow(clippy::needless_range_loop)] // matrices read best with their indices

pub mod auto;
pub mod bdf;
pub mod continuation;
pub mod dormand_prince;
pub mod fixed_step;
pub mod integrator;
mod jacobian;
pub mod linear_solver;
pub mod lu;
pub mod newton;
pub mod ordering;
pub mod rank;
pub mod root;
pub mod rosenbrock;
mod rosenbrock_tableau;
pub mod sparse_lu;
pub mod sparsity;
mod step_size;

pub use auto::Automatic;
pub use bdf::Bdf;
pub use continuation::{ContinuationError, ContinuationReport, Homotopy, follow};
pub use dormand_prince::DormandPrince;
pub use fixed_step::{FixedStep, FixedStepMethod};
pub use integrator::{Eval, Integrator, IntegratorError, OdeSystem, Statistics, StepResult, Tolerances, TrialFailure};
pub use linear_solver::LinearSolver;
pub use lu::{DenseLu, Singular};
pub use newton::{NewtonError, NewtonOptions, NewtonReport, NewtonSolver, NonlinearSystem, Residual};
pub use rank::{ConsistencyReport, RankRevealingLu};
pub use root::{Bracket, locate_sign_change};
pub use rosenbrock::{Rosenbrock, RosenbrockMethod};
pub use sparse_lu::SparseLu;
pub use sparsity::Sparsity;
