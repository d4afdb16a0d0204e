//! Take back equations of switches that say nothing new.
//!
//! ```text
//! 0 = if a then i1 else u;  0 = if b then i2 else u      both closed: the second `0 = u` follows from the first, and nothing
//!                                                        determines how the current is split    ⇒   0 = u;  0 = i2
//! ```
//!
//! In: the system of a configuration, with the form that equations of its switches have in the other position. Out: the system in which an
//! equation that follows from others, exactly, has that other form: what the others leave open has a value then. The equation itself holds all
//! the same. Which variables have got a value in this way is returned: it is one of many.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Index, Span};
use saltus_graph::dependences;
use saltus_program::SlotId;

use crate::dag::{Node, NodeId};
use crate::hidden_constraints::integer;
use crate::reduce_index::{is_unknown, occurring};
use crate::system::System;
use crate::tuning::work::MOST_DEPENDENCE_WORK;

/// An equation of a switch.
pub struct Choice {
    pub equation: usize,
    /// Its sides in the other position.
    pub other: [NodeId; 2],
    pub condition: NodeId,
}

/// The variables that have got a value, each with its equation.
pub fn take_back_superfluous(system: &mut System, choices: &[Choice], moved: &BTreeSet<NodeId>) -> Vec<(SlotId, Span)> {
    if choices.is_empty() {
        return Vec::new();
    }
    let of: BTreeMap<usize, &Choice> = choices.iter().map(|choice| (choice.equation, choice)).collect();
    let rank = |e: &usize| of.get(e).map_or(0, |choice| 1 + usize::from(moved.contains(&choice.condition)));
    // The last ones are found to be superfluous. An element that the solution itself switches agrees with no current and no voltage at all.
    let mut order: Vec<usize> = (0..system.equations.len()).collect();
    order.sort_by_key(rank);
    let (mut rows, mut equations) = (Vec::new(), Vec::new());
    for e in order {
        if let Some(row) = homogeneous_row(system, e) {
            rows.push(row);
            equations.push(e);
        }
    }
    let mut free = Vec::new();
    let mut work = MOST_DEPENDENCE_WORK;
    for dependence in dependences(&rows, &mut work) {
        let Some(&choice) = of.get(&equations[dependence.row]) else { continue };
        let equation = &mut system.equations[choice.equation];
        let (before, span) = (system.dag.loads(&[equation.left, equation.right]), equation.span);
        [equation.left, equation.right] = choice.other;
        let after = system.dag.loads(&choice.other);
        let is_new = |slot: &SlotId| !before.contains(slot) && is_unknown(system.slots[*slot].kind);
        free.extend(after.into_iter().find(is_new).map(|slot| (slot, span)));
    }
    free
}

/// The coefficients of an equation whose sides are sums of integer multiples of unknowns.
fn homogeneous_row(system: &mut System, equation: usize) -> Option<Vec<(usize, i64)>> {
    let equation = system.equations[equation].clone();
    if !equation.is_real || equation.target.is_some() || equation.initially.is_some() {
        return None;
    }
    let unknowns: Vec<SlotId> = occurring(system, &equation).into_iter().map(SlotId::from_usize).collect();
    let difference = system.dag.sub(equation.left, equation.right);
    let form = system.dag.linear_in_all(difference, &unknowns)?;
    if system.dag.value(form.rest) != Some(0.0) {
        return None;
    }
    form.terms.iter().map(|&(slot, coefficient)| Some((slot.index(), integer(system, coefficient)?))).collect()
}

/// Those of the conditions that depend on unknowns, by relations and discrete variables.
pub fn moved(system: &System, conditions: impl Iterator<Item = NodeId>) -> BTreeSet<NodeId> {
    let mut definitions: BTreeMap<SlotId, Vec<NodeId>> = BTreeMap::new();
    for equation in system.equations.iter().filter(|e| !e.is_real || e.target.is_some()) {
        for (side, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
            if let Node::Load(slot) = system.dag.node(side) {
                definitions.entry(slot).or_default().push(other);
            }
        }
    }
    let crossings: BTreeMap<SlotId, NodeId> = system.events.crossings.iter().map(|a| (a.slot, a.node)).collect();
    for relation in system.events.relations.values() {
        definitions.entry(relation.memory).or_default().extend(crossings.get(&relation.crossing));
    }
    let is_moved = |condition: &NodeId| {
        let (mut open, mut seen) = (vec![*condition], BTreeSet::new());
        while let Some(node) = open.pop() {
            for slot in system.dag.loads(&[node]) {
                if is_unknown(system.slots[slot].kind) {
                    return true;
                }
                if seen.insert(slot) {
                    open.extend(definitions.get(&slot).into_iter().flatten());
                }
            }
        }
        false
    };
    conditions.filter(is_moved).collect()
}
