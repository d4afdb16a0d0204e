//! Find positions of switches in which a loop cannot be solved.
//!
//! ```text
//! 0 = if open then i else u      u is the voltage of a capacitor: with `open = false` nothing determines i
//! ```
//!
//! In: the loops of the event order. Out: the texts of the conditions with
//! their regular positions, and a warning for each position in which the equations, as they read then, have no
//! complete matching with their unknowns: equations between states would have to be differentiated there, so the index changes.
//! What only numbers tell is found out when the simulation gets there. (DESIGN section 5.)

use std::collections::HashMap;

use saltus_base::Diagnostics;
use saltus_graph::Matching;
use saltus_program::{SlotId, SlotKind};

use crate::blocks::{LoopStep, Step};
use crate::configure::is_zero_parameter;
use crate::dag::{Node, NodeId, Replacement};
use crate::describe::{equation_text, full_text_of, text_of};
use crate::diagnostics;
use crate::system::System;
use crate::tuning::form::LARGEST_TORN;
use crate::tuning::work::MOST_INDEX_SWITCHES;

pub fn find_index_changes(system: &mut System, steps: &[Step], diagnostics: &mut Diagnostics) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for step in steps {
        if let Step::Loop(l) = step
            && l.equations.len() <= LARGEST_TORN
        {
            let own = own_columns(l);
            for switch in switches(system, l, &own) {
                let changes = [true, false].map(|is_on| find_in_position(system, l, &own, switch, is_on, diagnostics));
                // Without an event nobody would notice that the position is another one.
                if changes.contains(&true) && !system.dag.is_continuous(switch) {
                    // Off is the regular position unless it is the one that changes the index.
                    found.push((full_text_of(system, switch), changes[1]));
                }
            }
        }
    }
    found
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

fn find_in_position(
    system: &mut System,
    l: &LoopStep,
    own: &HashMap<SlotId, usize>,
    switch: NodeId,
    is_on: bool,
    diagnostics: &mut Diagnostics,
) -> bool {
    let roots: Vec<NodeId> = l.equations.iter().flat_map(|e| [e.left, e.right]).collect();
    let sides = system.dag.replace_all(&roots, |dag, id| match dag.node(id) {
        Node::Select(condition, a, b) if condition == switch => Some(Replacement::ByChild(if is_on { a } else { b })),
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
    let rows: Vec<Vec<usize>> = sides.chunks(2).map(columns).collect();
    let matching = Matching::maximum(&rows, own.len());
    let Some(&free) = matching.free_rows().first() else { return false };
    let slot_of: HashMap<usize, SlotId> = own.iter().map(|(&slot, &column)| (column, slot)).collect();
    let open = matching.free_columns();
    let open: Vec<String> =
        open.iter().filter_map(|column| Some(system.name(*slot_of.get(column)?).to_owned())).collect();
    let mut competing = matching.rows_competing_with(&rows, free);
    competing.sort_unstable();
    let equations = competing.into_iter().filter_map(|row| {
        let text = equation_text(system, *sides.get(2 * row)?, *sides.get(2 * row + 1)?, None);
        Some((l.equations.get(row)?.span, text))
    });
    let equations: Vec<_> = equations.collect();
    diagnostics.push(diagnostics::index_changes(&text_of(system, switch, None), is_on, &open, &equations));
    true
}
