//! The virtual connection graph: roots, branches and the spanning trees that decide which connections are broken
//! (specification 9.4).

use std::collections::HashMap;

use saltus_connect::graph::{ConnectionGraph, NodeId, Spanning};
use saltus_flat as flat;

use crate::graph::Edge;
use crate::instance::InstId;

#[derive(Default)]
pub struct Overconstrained {
    pub graph: ConnectionGraph<usize>,
    pub nodes: HashMap<InstId, NodeId>,
    pub edges: Vec<Edge>,
    /// Known once all connections are.
    pub spanning: Option<Spanning<usize>>,
    /// What the broken connections leave.
    pub constraint_equations: Vec<flat::Equation>,
    /// Scalars that the roots of overdetermined connectors determine, where these are outside of the class.
    pub from_roots: u64,
}
