//! The audit of a simulation: the flat equations as they are written, evaluated at the numbers that came out.
//!
//! ```text
//! x = time;  y = x;  z + y = z + x      the back end solves for x and y, drops the third equation, leaves z at 0
//!                                       the audit evaluates all three at every point, and z + y - (z + x) is 0
//! log(t/2) = 0.1                        t = 1e-300 gives -691.5 = 0.1: a finding
//! ```
//!
//! In: a [`FlatModel`](saltus_flat::FlatModel), and the memory of its program at points of a run ([`Auditor::see`]). Out: a
//! [`Report`] with the largest residual of every equation relative to the terms of that equation.
//!
//! Of the program only the table of its variables is used: which slot has which value. Everything between the flat model and that
//! memory is under audit: alias elimination, index reduction, sorting, tearing, the solution of loops, machine code. What functions
//! mean is shared with the program: their procedures, and the evaluator of `saltus-eval`.
//!
//! Relations keep the values of the last event between events, as the language says; the audit finds these values itself, in the
//! rounds of the event. Where a configuration is entered, the equations are integrated over the jump ([`Auditor::jumped`]). `when` clauses are active in the rounds in which their conditions have become true by its own account.

mod algorithms;
mod auditor;
mod balance;
mod diagnostics;
mod places;
mod plan;
mod report;
mod residuals;
mod rewrite;
mod term;
#[cfg(test)]
mod tests;
mod world;

pub use auditor::{Auditor, Options};
pub use places::{KnownDerivative, Layout};
pub use report::{Finding, Group, Report, Side};
pub use residuals::Residual;
