//! Scalar expressions of a simulation program as a graph in which equal expressions are the same node.
//!
//! ```text
//! y = sin(x) * sin(x)      n0: x    n1: sin(n0)    n2: n1 * n1       three nodes, however often they occur
//! ```
//!
//! [`Dag`] makes nodes and simplifies them on the way ([`simplify`]); on top of it stand derivatives ([`derivative`],
//! [`jacobian`]), splitting into linear parts ([`linear`]), solving for one unknown ([`solve`], [`signs`]) and text ([`print`]).
//! Every pass is a loop over nodes, children first: none recurses, all are linear in the nodes they reach.
//!
//! Nothing here knows models or equations; slots are numbers, functions are numbers.

pub mod dag;
pub mod derivative;
pub mod jacobian;
pub mod linear;
pub mod print;
pub mod signs;
pub mod simplify;
pub mod solve;
pub mod walk;

mod hash;

#[cfg(test)]
mod tests;

pub use dag::{Call, CallId, Dag, Node, NodeId, Replacement};
pub use derivative::{Derivative, NoCalls, NotDifferentiable, Rules};
pub use hash::FastMap;
pub use linear::LinearForm;
pub use print::Names;
pub use saltus_program::CallableId;
pub use signs::Signs;
