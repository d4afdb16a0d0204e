//! Branches that have no value beyond their own guard.
//!
//! ```text
//! q = if h1 > h2 then sqrt(h1 - h2) else …      ⇒   q = if h1 > h2 then sqrt(max(h1, h2) - h2) else …
//! ```
//!
//! Between events a relation keeps its value, and the integrator tries points a little beyond the threshold, where the branch that is being left is
//! still the one that counts. At events a relation whose operands are equal up to rounding may keep its value. Where the guard holds, both forms are the same number. Beyond it the argument of the root is what it is on the
//! threshold, and the event is found as any other.
//!
//! In: the steps of the continuous order and of events. Out: the same with guarded arguments of roots, logarithms and powers. Loops are left alone: Newton's method
//! would not get on where a branch is flat.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use saltus_program::{BinaryFn, SlotId, UnaryFn};
use saltus_symbolic::Replacement;

use crate::blocks::Step;
use crate::dag::{Dag, Node, NodeId};
use crate::system::System;

/// What a relation compares, and on which side of its threshold it holds.
#[derive(Clone, Copy)]
struct Guard {
    left: NodeId,
    right: NodeId,
    is_true_below: bool,
}

pub fn respect_guards(system: &mut System, steps: [&mut Vec<Step>; 4]) {
    let guards = guards(system);
    if guards.is_empty() {
        return;
    }
    let mut seen = BTreeSet::new();
    let mut replaced: HashMap<NodeId, NodeId> = HashMap::new();
    for step in steps.into_iter().flatten() {
        let Step::Assign(assignment) = step else { continue };
        for select in selects(&system.dag, &guards, assignment.node, &mut seen) {
            if let Some(new) = guarded(&mut system.dag, &guards, &replaced, select) {
                replaced.insert(select, new);
            }
        }
        assignment.node = replace(&mut system.dag, &replaced, assignment.node);
    }
}

/// By the memory of the relation.
fn guards(system: &mut System) -> BTreeMap<SlotId, Guard> {
    let node_of: HashMap<SlotId, NodeId> = system.events.crossings.iter().map(|a| (a.slot, a.node)).collect();
    let zero = system.dag.constant(0.0);
    let guard = |r: &saltus_program::Relation| {
        let z = *node_of.get(&r.crossing)?;
        let (left, right) = match system.dag.node(z) {
            Node::Binary(BinaryFn::Sub, left, right) => (left, right),
            _ => (z, zero),
        };
        Some((r.memory, Guard { left, right, is_true_below: r.op.is_true_below() }))
    };
    system.events.relations.values().filter_map(guard).collect()
}

fn guard_of<'g>(dag: &Dag, guards: &'g BTreeMap<SlotId, Guard>, condition: NodeId) -> Option<&'g Guard> {
    match dag.node(condition) {
        Node::Load(memory) => guards.get(&memory),
        _ => None,
    }
}

/// Choices by relations that have not been `seen`, inner ones first.
fn selects(dag: &Dag, guards: &BTreeMap<SlotId, Guard>, root: NodeId, seen: &mut BTreeSet<NodeId>) -> Vec<NodeId> {
    let (mut found, mut open) = (Vec::new(), vec![(root, false)]);
    while let Some((id, is_done)) = open.pop() {
        if is_done {
            found.push(id);
        } else if seen.insert(id) {
            if let Node::Select(condition, ..) = dag.node(id)
                && guard_of(dag, guards, condition).is_some()
            {
                open.push((id, true));
            }
            open.extend(dag.children(id).map(|child| (child, false)));
        }
    }
    found
}

/// A choice with guarded branches, if that makes a difference.
fn guarded(
    dag: &mut Dag,
    guards: &BTreeMap<SlotId, Guard>,
    replaced: &HashMap<NodeId, NodeId>,
    select: NodeId,
) -> Option<NodeId> {
    let Node::Select(condition, yes, no) = dag.node(select) else { return None };
    let guard = *guard_of(dag, guards, condition)?;
    let (yes, no) = (replace(dag, replaced, yes), replace(dag, replaced, no));
    let (yes, no) = (branch(dag, guard, yes, true), branch(dag, guard, no, false));
    let new = dag.select(condition, yes, no);
    (new != select).then_some(new)
}

/// A branch in which the relation has this value.
fn branch(dag: &mut Dag, guard: Guard, root: NodeId, value: bool) -> NodeId {
    let arguments = arguments(dag, root);
    if arguments.is_empty() {
        return root;
    }
    let is_below = guard.is_true_below == value;
    // One side is moved to the other where it would be beyond it.
    let (moved, other, is_smaller) = match dag.value(guard.left) {
        None => (guard.left, guard.right, is_below),
        Some(_) => (guard.right, guard.left, !is_below),
    };
    let extreme = if is_smaller { BinaryFn::Min } else { BinaryFn::Max };
    let bounded = dag.binary(extreme, moved, other);
    let mut replaced = HashMap::new();
    for id in arguments {
        // Arguments inside of others come first.
        let new = match dag.node(id) {
            Node::Unary(function, x) => {
                let x = within(dag, &replaced, (moved, bounded), x);
                dag.unary(function, x)
            }
            Node::Binary(function, x, y) => {
                let x = within(dag, &replaced, (moved, bounded), x);
                let y = replace(dag, &replaced, y);
                dag.binary(function, x, y)
            }
            _ => continue,
        };
        replaced.insert(id, new);
    }
    replace(dag, &replaced, root)
}

/// An argument with `moved` replaced as well.
fn within(dag: &mut Dag, replaced: &HashMap<NodeId, NodeId>, (moved, bounded): (NodeId, NodeId), x: NodeId) -> NodeId {
    let of = |id: NodeId| replaced.get(&id).copied().or((id == moved).then_some(bounded));
    dag.replace_all(&[x], |_, id| of(id).map(Replacement::By)).pop().unwrap_or(x)
}

fn replace(dag: &mut Dag, replaced: &HashMap<NodeId, NodeId>, root: NodeId) -> NodeId {
    if replaced.is_empty() {
        return root;
    }
    dag.replace_all(&[root], |_, id| replaced.get(&id).copied().map(Replacement::By)).pop().unwrap_or(root)
}

/// Operations in a branch that are not defined everywhere, inner ones first.
fn arguments(dag: &Dag, root: NodeId) -> Vec<NodeId> {
    let (mut found, mut open, mut seen) = (Vec::new(), vec![(root, false)], BTreeSet::new());
    while let Some((id, is_done)) = open.pop() {
        if is_done {
            found.push(id);
        } else if seen.insert(id) {
            let is_partial = match dag.node(id) {
                Node::Unary(UnaryFn::Sqrt | UnaryFn::Log | UnaryFn::Log10, _) => true,
                Node::Binary(BinaryFn::Pow, _, exponent) => dag.value(exponent).is_none_or(|p| p.fract() != 0.0),
                _ => false,
            };
            if is_partial {
                open.push((id, true));
            }
            open.extend(dag.children(id).map(|child| (child, false)));
        }
    }
    found
}
