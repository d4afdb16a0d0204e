//! The graph of scalar expressions that all passes work on.

pub use saltus_symbolic::{CallId, Dag, Derivative, FastMap, Node, NodeId, NotDifferentiable, Replacement, Rules};
