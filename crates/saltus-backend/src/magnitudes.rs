//! Usual magnitudes of expressions, from the nominal values of their variables.
//!
//! ```text
//! x - 2*y > 0      x(nominal = 1e-9), y(nominal = 1e-6)      ⇒   2e-6: differences far below that are rounding
//! ```

use saltus_program::{BinaryFn, SlotId, UnaryFn};
use saltus_symbolic::{Dag, Node, NodeId};

/// Of what no nominal value says anything about.
pub const USUAL: f64 = 1.0;

/// Expressions are looked into to this depth: the graph is shared, and what lies deeper says little about the whole.
const DEEPEST: u32 = 8;

/// The magnitude of an expression; `None` if no nominal value says anything about it.
pub fn magnitude(dag: &Dag, nominal: &dyn Fn(SlotId) -> Option<f64>, node: NodeId) -> Option<f64> {
    look(dag, nominal, node, DEEPEST)
}

fn look(dag: &Dag, nominal: &dyn Fn(SlotId) -> Option<f64>, node: NodeId, depth: u32) -> Option<f64> {
    let of = |node: NodeId| look(dag, nominal, node, depth - 1);
    // In a product a number counts, too.
    let factor = |node: NodeId| dag.value(node).map(f64::abs).or_else(|| of(node));
    let found = match dag.node(node) {
        _ if depth == 0 => None,
        Node::Load(slot) => nominal(slot),
        Node::Unary(UnaryFn::Negate | UnaryFn::Abs, a) => of(a),
        Node::Unary(UnaryFn::Sqrt, a) => of(a).map(f64::sqrt),
        Node::Binary(BinaryFn::Add | BinaryFn::Sub | BinaryFn::Max | BinaryFn::Min, a, b) | Node::Select(_, a, b) => {
            of(a).into_iter().chain(of(b)).reduce(f64::max)
        }
        Node::Binary(BinaryFn::Mul, a, b) => factor(a).zip(factor(b)).map(|(a, b)| a * b),
        Node::Binary(BinaryFn::Div, a, b) => factor(a).zip(factor(b)).map(|(a, b)| a / b),
        _ => None,
    };
    found.filter(|m| m.is_finite() && *m > 0.0)
}
