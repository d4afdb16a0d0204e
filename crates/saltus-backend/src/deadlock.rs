//! Reject loops through `when`-clauses that need not be active together.
//!
//! ```text
//! when a then x = y + 1; end when;      if only `a` becomes true there is one equation
//! when b then y = x + 1; end when;      for the two unknowns x and y
//! ```
//!
//! In: the equations of one loop. Out: nothing, or a message that shows a way around it through both clauses: each equation, the
//! condition under which it holds, what it determines and what it needs. (Otter, Elmqvist, Mattsson 1999, section 2.1.)

use std::collections::{BTreeSet, HashMap, VecDeque};

use saltus_base::Diagnostic;
use saltus_program::{SlotId, SlotKind};

use crate::dag::{Node, NodeId};
use crate::diagnostics::{self, LoopPart};
use crate::system::{ScalarEquation, System};

/// The equations of one loop.
pub struct EquationLoop<'a> {
    pub equations: &'a [ScalarEquation],
    pub rows: &'a [usize],
    /// For each row the rows whose results it needs.
    pub needs: &'a [Vec<usize>],
    /// For each row what it determines.
    pub determines: &'a dyn Fn(usize) -> Option<SlotId>,
}

/// Clauses that need not be active together and need each other's values: if only one is, its equation has two
/// unknowns. Clauses with a common condition belong together, as does what each of them has in common with others.
pub fn deadlock(system: &System, l: &EquationLoop) -> Option<Diagnostic> {
    let mut groups: Vec<(usize, BTreeSet<NodeId>)> = Vec::new();
    for &row in l.rows {
        let mut conditions: BTreeSet<NodeId> = when_conditions(system, &l.equations[row]).into_iter().collect();
        if conditions.is_empty() || groups.iter().any(|(_, known)| conditions.is_subset(known)) {
            continue;
        }
        let (joined, apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(_, known)| !known.is_disjoint(&conditions));
        let first = joined.iter().map(|group| group.0).min().unwrap_or(row);
        joined.into_iter().for_each(|(_, known)| conditions.extend(known));
        groups = apart;
        groups.push((first, conditions));
    }
    match groups[..] {
        [(first, _), (other, _), ..] => Some(message(system, l, first, other)),
        _ => None,
    }
}

/// The conditions under which a `when` gives its variable a value: of `v := if c1 then … else if c2 then … else pre(v)`.
fn when_conditions(system: &System, equation: &ScalarEquation) -> Vec<NodeId> {
    let mut conditions = Vec::new();
    // Only a `when` has another right-hand side initially.
    let mut rest = equation.initially.and(equation.target).map(|_| equation.right);
    while let Some(node) = rest {
        rest = match system.dag.node(node) {
            Node::Select(condition, _, otherwise) => {
                conditions.push(condition);
                Some(otherwise)
            }
            _ => None,
        };
    }
    conditions
}

fn message(system: &System, l: &EquationLoop, first: usize, other: usize) -> Diagnostic {
    let name = |row: usize| (l.determines)(row).map_or(String::new(), |slot| system.name(slot).into_owned());
    let mut way = path(l, first, other);
    way.extend(path(l, other, first));
    let parts: Vec<LoopPart> = way
        .iter()
        .enumerate()
        .map(|(k, &row)| LoopPart {
            span: l.equations[row].span,
            condition: condition_text(system, &l.equations[row]),
            gives: name(row),
            needs: name(way[(k + 1) % way.len()]),
        })
        .collect();
    diagnostics::when_deadlock([&name(first), &name(other)], &parts)
}

/// The shortest way from what needs to what is needed, without the last row.
fn path(l: &EquationLoop, from: usize, to: usize) -> Vec<usize> {
    let mut reached_from: HashMap<usize, usize> = l.rows.iter().map(|&row| (row, usize::MAX)).collect();
    let mut queue = VecDeque::from([from]);
    while let Some(row) = queue.pop_front().filter(|&row| row != to) {
        for &next in &l.needs[row] {
            if next != from && reached_from.get(&next) == Some(&usize::MAX) {
                reached_from.insert(next, row);
                queue.push_back(next);
            }
        }
    }
    let mut way = Vec::new();
    let mut at = reached_from.get(&to).copied().unwrap_or(usize::MAX);
    while at != usize::MAX {
        way.push(at);
        at = reached_from.get(&at).copied().unwrap_or(usize::MAX);
    }
    way.reverse();
    way
}

/// The conditions of a `when` as the model has them; none for an equation that always holds.
fn condition_text(system: &System, equation: &ScalarEquation) -> Option<String> {
    let conditions = when_conditions(system, equation);
    let is_shown = |slot: &SlotId| !matches!(system.slots[*slot].kind, SlotKind::Pre | SlotKind::Parameter);
    let slots = system.dag.loads(&conditions).into_iter().filter(is_shown);
    let names: Vec<_> = slots.map(|slot| system.name(slot)).collect();
    let mut texts: Vec<&str> = Vec::new();
    for name in &names {
        let text = name.strip_prefix("when ").unwrap_or(name);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    (!conditions.is_empty()).then(|| texts.join(" or "))
}
