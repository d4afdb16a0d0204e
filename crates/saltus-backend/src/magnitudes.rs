//! Usual magnitudes of expressions, from the nominal values of their variables.
//!
//! ```text
//! x - 2*y > 0      x(nominal = 1e-9), y(nominal = 1e-6)      ⇒   2e-6: differences far below that are rounding
//! ```

use saltus_program::{BinaryFn, RELATION_BAND, Relation, Slot, SlotId, SlotKind, SlotType, Slots, UnaryFn};
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

/// The widest band of a relation with a number, as a part of that number: whoever compares with 1e-18 does not mean it to be zero.
const OF_NUMBER: f64 = 1e-3;

/// The magnitude of operands that no nominal value says anything about, from `max(abs(left), abs(right))`: the usual one, or less if one of
/// them is so small a number that it would lie within the band.
fn usual_beside_number(dag: &Dag, operands: NodeId) -> f64 {
    let number = |node: NodeId| match dag.node(node) {
        Node::Unary(UnaryFn::Abs, inner) => dag.value(inner),
        _ => dag.value(node),
    };
    let Node::Binary(BinaryFn::Max, left, right) = dag.node(operands) else { return USUAL };
    let numbers = [left, right].into_iter().filter_map(number).map(f64::abs);
    let smallest = numbers.filter(|c| *c > 0.0 && c.is_finite()).fold(f64::INFINITY, f64::min);
    USUAL.min(OF_NUMBER * smallest / RELATION_BAND)
}

/// The magnitude of the operands of a relation, from `max(abs(left), abs(right))`: at least their nominal value, or what usually occurs, which the
/// driver measures.
pub fn scale_of_operands(
    dag: &mut Dag,
    slots: &mut Slots,
    nominal: &dyn Fn(SlotId) -> Option<f64>,
    relation: &mut Relation,
    operands: NodeId,
) -> NodeId {
    let least = match magnitude(dag, nominal, operands) {
        Some(nominal) => {
            relation.nominal = nominal;
            dag.constant(nominal)
        }
        None => {
            let initial = usual_beside_number(dag, operands);
            let name = format!("usual magnitude of {}", relation.text);
            let usual = slots.push(name, Slot { kind: SlotKind::Flag, ty: SlotType::Real, initial });
            (relation.nominal, relation.usual) = (initial, Some(usual));
            dag.load(usual, false)
        }
    };
    dag.binary(BinaryFn::Max, operands, least)
}
