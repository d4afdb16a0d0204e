//! Relations in the conditions of assertions: what a run watches to notice the instant at which one is violated.
//!
//! ```modelica
//! assert(T >= 200 and T <= 400, "…")      ⇒   the bounds T >= 200 and T <= 400, with the crossing functions T - 200 and T - 400
//! ```
//!
//! In: the conditions, in which relations are literal. Out: for each relation of something continuous a [`Relation`] that is not
//! part of any equation: it makes no event, and nothing depends on its memory but the search. Assertions in functions have none:
//! they are checked where the function is evaluated.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{IdVec, Index};
use saltus_program::{BinaryFn, Relation, RelationId, RelationOp, SlotId, SlotKind, SlotType, UnaryFn};

use crate::dag::{Node, NodeId};
use crate::describe::text_of;
use crate::magnitudes::{USUAL, scale_of_operands};
use crate::system::{Assignment, System};

/// Gives assertions their bounds. What these need is computed after the conditions, by the assignments that are returned.
pub fn find_bounds(
    system: &mut System,
    nominal: &dyn Fn(SlotId) -> Option<f64>,
) -> (IdVec<RelationId, Relation>, Vec<Assignment>) {
    let mut found = Found::default();
    for i in 0..system.checks.assertions.len() {
        let is_own = system.checks.assertions[i].calls.is_empty();
        let Some(condition) = system.checks.conditions.get(i).filter(|_| is_own).cloned() else { continue };
        let ids = relations(system, condition.node).into_iter().map(|(node, op, left, right)| {
            let known = found.known.get(&(left, right)).copied();
            known.unwrap_or_else(|| found.add(system, nominal, (node, op, left, right), &condition))
        });
        system.checks.assertions[i].bounds = ids.collect();
    }
    (found.bounds, found.assignments)
}

#[derive(Default)]
struct Found {
    bounds: IdVec<RelationId, Relation>,
    /// By operands: where one changes, all relations of the same operands may.
    known: BTreeMap<(NodeId, NodeId), RelationId>,
    assignments: Vec<Assignment>,
}

impl Found {
    fn add(
        &mut self,
        system: &mut System,
        nominal: &dyn Fn(SlotId) -> Option<f64>,
        (node, op, left, right): Comparison,
        condition: &Assignment,
    ) -> RelationId {
        let (number, span) = (self.bounds.len() + 1, condition.span);
        let memory = system.add_slot(format!("bound {number}"), SlotKind::Discrete, SlotType::Boolean);
        let crossing = system.add_slot(format!("distance {number}"), SlotKind::Auxiliary, SlotType::Real);
        let scale = system.add_slot(format!("scale of bound {number}"), SlotKind::Auxiliary, SlotType::Real);
        let text = text_of(system, node, None);
        let System { dag, slots, .. } = system;
        let z = dag.binary(BinaryFn::Sub, left, right);
        let (l, r) = (dag.unary(UnaryFn::Abs, left), dag.unary(UnaryFn::Abs, right));
        let size = dag.binary(BinaryFn::Max, l, r);
        let mut bound = Relation { op, memory, crossing, scale, nominal: USUAL, usual: None, text, span };
        let size = scale_of_operands(dag, slots, nominal, &mut bound, size);
        self.assignments.push(Assignment { slot: crossing, node: z, span });
        self.assignments.push(Assignment { slot: scale, node: size, span });
        let id = RelationId::from_usize(self.bounds.len());
        self.bounds.push(bound);
        self.known.insert((left, right), id);
        id
    }
}

/// The node of a relation, and what it compares.
pub(crate) type Comparison = (NodeId, RelationOp, NodeId, NodeId);

/// The relations of something continuous that a condition is made of.
pub(crate) fn relations(system: &System, condition: NodeId) -> Vec<Comparison> {
    let (mut found, mut open, mut seen) = (Vec::new(), vec![condition], BTreeSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match system.dag.node(id) {
            Node::Unary(UnaryFn::Not, a) => open.push(a),
            Node::Binary(BinaryFn::And | BinaryFn::Or | BinaryFn::Equal | BinaryFn::NotEqual, a, b) => {
                open.extend([b, a]);
            }
            Node::Select(c, a, b) => open.extend([b, a, c]),
            Node::Binary(function, a, b) => {
                let op = relation(function);
                let is_moving = system.dag.is_continuous(a) || system.dag.is_continuous(b);
                found.extend(op.filter(|_| is_moving).map(|op| (id, op, a, b)));
            }
            Node::Const(_) | Node::Load(_) | Node::Unary(..) | Node::Result(..) => {}
        }
    }
    found
}

fn relation(function: BinaryFn) -> Option<RelationOp> {
    match function {
        BinaryFn::Less => Some(RelationOp::Less),
        BinaryFn::LessEqual => Some(RelationOp::LessEqual),
        BinaryFn::Greater => Some(RelationOp::Greater),
        BinaryFn::GreaterEqual => Some(RelationOp::GreaterEqual),
        _ => None,
    }
}
