//! Find positions of switches in which a loop cannot be solved.
//!
//! ```text
//! 0 = if open then i else u      u is the voltage of a capacitor: with `open = false` nothing determines i
//! ```
//!
//! In: the loops of the event order. Out: the texts of the conditions with
//! their regular positions, and a warning for each position in which the equations, as they read then, have no
//! complete matching with their unknowns: equations between states would have to be differentiated there, so the index changes.
//! Conditions that take unknowns out of equations may change it together with others. Which positions of theirs do is found out when the
//! simulation gets there. (DESIGN section 5.)

use std::collections::{BTreeSet, HashMap};

use saltus_base::{Diagnostics, Span};
use saltus_graph::Matching;
use saltus_program::{BinaryFn, SlotId, SlotKind, UnaryFn};

use crate::blocks::{LoopStep, Step};
use crate::configure::{can_have_events, is_zero_parameter};
use crate::dag::{Node, NodeId, Replacement};
use crate::describe::{equation_text, full_text_of, text_of};
use crate::diagnostics;
use crate::reduce_index::Reduced;
use crate::system::System;
use crate::tuning::form::LARGEST_TORN;
use crate::tuning::work::MOST_INDEX_SWITCHES;

/// Conditions that the structure depends on.
#[derive(Default)]
pub struct IndexChanges {
    /// Those that change the index alone, by text, with positions in which they do not.
    pub switches: Vec<(String, bool)>,
    /// Those that make equations lose an unknown, each with an equation: together they may change the index.
    pub candidates: Vec<(NodeId, Span)>,
}

pub fn find_index_changes(system: &mut System, steps: &[Step], diagnostics: &mut Diagnostics) -> IndexChanges {
    let mut found = IndexChanges::default();
    for step in steps {
        if let Step::Loop(l) = step
            && l.equations.len() <= LARGEST_TORN
        {
            let own = own_columns(l);
            for switch in switches(system, l, &own) {
                let positions = [true, false].map(|is_on| Position::new(system, l, &own, switch, is_on));
                let changes = positions.each_ref().map(|p| p.report(system, l, &own, switch, diagnostics));
                // What holds at an event alone, as the condition of a `when`, does not say what holds between events.
                if is_momentary(system, switch) {
                    continue;
                }
                // Without an event nobody would notice that the position is another one. A condition that changes the structure gets one.
                let is_literal = system.dag.is_continuous(switch);
                if is_literal && !(changes.contains(&true) && can_have_events(system, switch)) {
                    continue;
                }
                if changes.contains(&true) {
                    // Off is the regular position unless it is the one that changes the index.
                    found.switches.push((full_text_of(system, switch), changes[1]));
                } else if (positions[0].rows != positions[1].rows || takes_out(system, l, &own, switch))
                    && found.candidates.iter().all(|c| c.0 != switch)
                {
                    let span = l.equations.first().map_or(Span::nowhere(), |e| e.span);
                    found.candidates.push((switch, span));
                }
            }
        }
    }
    found
}

/// Conditions that choose between constraints, with regular positions: `0 = if m == 2 then w1 - w2 else w1 - 2*w2`. The index is the same, but
/// what goes on contradicts the other constraint, and jumps.
pub fn switches_of_constraints(system: &System, reduced: &Reduced) -> Vec<(String, bool)> {
    let before = reduced.reduction.antiderivative_of_equation();
    let mut found: Vec<NodeId> = Vec::new();
    for row in before.iter().flatten() {
        let equation = &system.equations[reduced.rows[*row]];
        for id in system.dag.reachable(&[equation.left, equation.right]) {
            if let Node::Select(condition, ..) = system.dag.node(id)
                && !found.contains(&condition)
                && !system.dag.is_continuous(condition)
                && !is_momentary(system, condition)
                && system.dag.depends_on(condition, &|slot| system.slots[slot].kind != SlotKind::Parameter)
            {
                found.push(condition);
            }
        }
    }
    found.into_iter().take(MOST_INDEX_SWITCHES).map(|condition| (full_text_of(system, condition), false)).collect()
}

/// Does the condition decide somewhere whether an unknown is in an equation? Alone it need not: another branch may have the same unknown.
fn takes_out(system: &System, l: &LoopStep, own: &HashMap<SlotId, usize>, switch: NodeId) -> bool {
    let roots: Vec<NodeId> = l.equations.iter().flat_map(|e| [e.left, e.right]).collect();
    let columns = |node: NodeId| -> BTreeSet<usize> {
        system.dag.loads(&[node]).iter().filter_map(|slot| own.get(slot).copied()).collect()
    };
    system.dag.reachable(&roots).into_iter().any(|id| match system.dag.node(id) {
        Node::Select(condition, a, b) if condition == switch => columns(a) != columns(b),
        _ => false,
    })
}

/// Is the condition false between events, whatever its variables are: `edge(b)`, `change(n)`, a sample, or one of these with something else?
fn is_momentary(system: &System, condition: NodeId) -> bool {
    let dag = &system.dag;
    let load = |id: NodeId| if let Node::Load(slot) = dag.node(id) { Some(slot) } else { None };
    let is_before = |before: NodeId, now: NodeId| {
        let pre = load(now).and_then(|slot| system.pre_of.get(&slot));
        pre.is_some() && load(before) == pre.copied()
    };
    let is_not_before =
        |id: NodeId, now: NodeId| matches!(dag.node(id), Node::Unary(UnaryFn::Not, before) if is_before(before, now));
    match dag.node(condition) {
        Node::Binary(BinaryFn::And, a, b) => {
            is_not_before(a, b) || is_not_before(b, a) || is_momentary(system, a) || is_momentary(system, b)
        }
        Node::Binary(BinaryFn::Or, a, b) => is_momentary(system, a) && is_momentary(system, b),
        Node::Binary(BinaryFn::NotEqual, a, b) => is_before(a, b) || is_before(b, a),
        Node::Load(slot) => slot == system.initial || system.events.samples.iter().any(|s| s.active == slot),
        _ => false,
    }
}

/// The real variables of a loop, numbered.
fn own_columns(l: &LoopStep) -> HashMap<SlotId, usize> {
    let slots = l.unknowns.iter().copied().chain(l.inner.iter().map(|a| a.slot));
    slots.enumerate().map(|(column, slot)| (slot, column)).collect()
}

/// Conditions that change during the simulation and that the reals of the loop do not decide about at once.
fn switches(system: &System, l: &LoopStep, own: &HashMap<SlotId, usize>) -> Vec<NodeId> {
    let mut switches = Vec::new();
    let roots: Vec<NodeId> = l.equations.iter().flat_map(|e| [e.left, e.right]).collect();
    for id in system.dag.reachable(&roots) {
        if let Node::Select(condition, ..) = system.dag.node(id)
            && !switches.contains(&condition)
            && !system.dag.depends_on(condition, &|slot| own.contains_key(&slot))
            && system.dag.depends_on(condition, &|slot| system.slots[slot].kind != SlotKind::Parameter)
        {
            switches.push(condition);
        }
        if switches.len() == MOST_INDEX_SWITCHES {
            break;
        }
    }
    switches
}

/// The equations of a loop in one position of a switch.
struct Position {
    is_on: bool,
    sides: Vec<NodeId>,
    /// The unknowns of each equation.
    rows: Vec<Vec<usize>>,
}

impl Position {
    fn new(system: &mut System, l: &LoopStep, own: &HashMap<SlotId, usize>, switch: NodeId, is_on: bool) -> Self {
        let roots: Vec<NodeId> = l.equations.iter().flat_map(|e| [e.left, e.right]).collect();
        let sides = system.dag.replace_all(&roots, |dag, id| match dag.node(id) {
            Node::Select(condition, a, b) if condition == switch => {
                Some(Replacement::ByChild(if is_on { a } else { b }))
            }
            _ => None,
        });
        let zero = system.dag.constant(0.0);
        let (dag, slots) = (std::mem::take(&mut system.dag), &*system);
        let mut dag = dag;
        let sides = dag.substitute_all(&sides, &|slot| is_zero_parameter(slots, slot).then_some(zero));
        system.dag = dag;
        let columns = |sides: &[NodeId]| -> Vec<usize> {
            let mut columns: Vec<usize> =
                system.dag.loads(sides).iter().filter_map(|slot| own.get(slot).copied()).collect();
            columns.sort_unstable();
            columns
        };
        let rows = sides.chunks(2).map(columns).collect();
        Position { is_on, sides, rows }
    }

    /// Warns if the equations have no complete matching with their unknowns; true then.
    fn report(
        &self,
        system: &System,
        l: &LoopStep,
        own: &HashMap<SlotId, usize>,
        switch: NodeId,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let matching = Matching::maximum(&self.rows, own.len());
        let Some(&free) = matching.free_rows().first() else { return false };
        let slot_of: HashMap<usize, SlotId> = own.iter().map(|(&slot, &column)| (column, slot)).collect();
        let open = matching.free_columns();
        let open: Vec<String> =
            open.iter().filter_map(|column| Some(system.name(*slot_of.get(column)?).into_owned())).collect();
        let mut competing = matching.rows_competing_with(&self.rows, free);
        competing.sort_unstable();
        let equations = competing.into_iter().filter_map(|row| {
            let text = equation_text(system, *self.sides.get(2 * row)?, *self.sides.get(2 * row + 1)?, None);
            Some((l.equations.get(row)?.span, text))
        });
        let equations: Vec<_> = equations.collect();
        diagnostics.push(diagnostics::index_changes(&text_of(system, switch, None), self.is_on, &open, &equations));
        true
    }
}
