//! Numerical methods on `f64` slices. No Modelica, no events: those are the business of `saltus-sim`.
//!
//! | task | here |
//! |---|---|
//! | integrate `ẋ = f(t, x)` | [`Integrator`]: [`Automatic`] (the default), [`DormandPrince`], [`Rosenbrock`], [`Bdf`], [`FixedStep`] |
//! | the same, one state at a time | [`Liqss2`] |
//! | solve `r(x) = 0` | [`NewtonSolver`], [`follow`] for a path from a simple system |
//! | solve `A·x = b` | [`DenseLu`], [`SparseLu`], [`LinearSolver`] or [`Matrix`] for either, [`RankRevealingLu`] if A may be singular |
//! | eigenvalues, singular values | [`eigenvalues`], [`schur()`], [`singular_values`] |
//! | locate a sign change | [`locate_sign_change`], to the resolution of time |
//! | enclose a function | [`Interval`], [`Interpolant`] |
//!
//! What may fail at a trial point returns [`Eval`]; the methods answer with smaller steps. Work space is allocated when a
//! solver is made or first used, never in its steady state.
//!
//! ```
//! use saltus_numerics::{Automatic, Eval, Integrator, OdeSystem, Tolerances};
//!
//! struct Decay;
//! impl OdeSystem for Decay {
//!     fn derivatives(&mut self, _t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
//!         dx[0] = -x[0];
//!         Ok(())
//!     }
//! }
//!
//! let mut solver = Automatic::new(Tolerances { relative: 1e-6, absolute: vec![1e-6], unbounded: vec![] }, f64::INFINITY);
//! solver.restart(&mut Decay, 0.0, &[1.0]).unwrap();
//! while solver.time() < 1.0 {
//!     solver.step(&mut Decay, 1.0).unwrap();
//! }
//! assert!((solver.states()[0] - (-1f64).exp()).abs() < 1e-5);
//! ```

#![allow(clippy::needless_range_loop)] // matrices read best with their indices

pub mod auto;
pub mod balance;
pub mod bdf;
pub mod continuation;
pub mod dormand_prince;
mod dormand_prince_tableau;
mod explicit;
pub mod filippov;
pub mod fixed_step;
pub mod integrator;
pub mod interpolant;
pub mod interval;
mod jacobian;
pub mod linear_solver;
pub mod liqss;
pub mod lu;
pub mod markowitz;
mod matrix;
mod method;
pub mod newton;
pub mod ordering;
pub mod rank;
pub mod root;
pub mod rosenbrock;
mod rosenbrock_tableau;
pub mod schur;
pub mod singular;
pub mod sparse_lu;
pub mod sparsity;
mod step_size;
mod stiff;
mod tuning;

pub use auto::Automatic;
pub use balance::balance;
pub use bdf::Bdf;
pub use continuation::{ContinuationReport, Homotopy, PathEnds, follow};
pub use dormand_prince::{DormandPrince, Order};
pub use filippov::{NoLimit, Regions};
pub use fixed_step::{FixedStep, FixedStepMethod};
pub use integrator::{
    Eval, Integrator, IntegratorError, Judged, OdeSystem, Statistics, StepResult, Tolerances, TrialFailure,
};
pub use interpolant::Interpolant;
pub use interval::Interval;
pub use linear_solver::LinearSolver;
pub use liqss::{Dependency, Liqss2, Longest, QuantisedSystem, RateFails};
pub use lu::{DenseLu, Singular, reciprocal_power_of_two};
pub use matrix::Matrix;
pub use method::Method;
pub use newton::{NewtonError, NewtonOptions, NewtonReport, NewtonSolver, NonlinearSystem, Residual};
pub use rank::{ConsistencyReport, RankRevealingLu};
pub use root::{Bracket, locate_sign_change};
pub use rosenbrock::{Rosenbrock, RosenbrockMethod};
pub use schur::{Schur, diagonal_blocks, eigenvalues, eigenvalues_of_blocks, schur};
pub use singular::{SingularValues, singular_values};
pub use sparse_lu::SparseLu;
pub use sparsity::Sparsity;
