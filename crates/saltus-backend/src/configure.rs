//! Fix the positions of switches that change the structure.
//!
//! ```text
//! 0 = if closed then u else i        closed = true:    0 = u
//!                                    and a discrete variable with the value of `closed` at events
//! ```
//!
//! In: the system without aliases, which is the same for all configurations, and a [`Key`]. Out: the system of that configuration,
//! with the slots of its conditions.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Index, Span};
use saltus_flat::{ActiveStates, FlatModel, Treatment, VarId};
use saltus_program::{BinaryFn, Integration, Key, Region, RelationId, SlotId, SlotKind, SlotType, Switch, UnaryFn};

use crate::alias::{Alias, Aliases};
use crate::bounds::relations;
use crate::dag::{Dag, Node, NodeId, Replacement};
use crate::describe::full_text_of;
use crate::superfluous::{Choice, moved, take_back_superfluous};
use crate::system::{Assignment, System};

/// The switches of a configuration, those of states of machines last.
pub struct Fixed {
    pub switches: Vec<Switch>,
    pub regions: Vec<Region>,
    /// Variables that the equations leave open in these positions.
    pub free: Vec<(SlotId, Span)>,
}

pub fn fix_switches(system: &mut System, key: &Key, active: Option<&ActiveStates>, aliases: &Aliases) -> Fixed {
    let mut positions: BTreeMap<NodeId, bool> = BTreeMap::new();
    let mut switches = Vec::new();
    for (condition, span) in conditions(system) {
        let text = full_text_of(system, condition);
        if let Some(&is_on) = key.0.get(&text)
            && positions.insert(condition, is_on).is_none()
        {
            switches.push((text, condition, is_on, span));
        }
    }
    let zeros = zero_parameters(system, &positions);
    system.memo.structural.extend(&zeros);
    if !zeros.is_empty() {
        let zero = system.dag.constant(0.0);
        system.replace_expressions(std::iter::empty(), |dag, roots| {
            dag.substitute_all(roots, &|slot| zeros.contains(&slot).then_some(zero))
        });
        // Conditions may contain them, too.
        positions = positions
            .into_iter()
            .map(|(condition, is_on)| {
                (system.dag.substitute(condition, &|slot| zeros.contains(&slot).then_some(zero)), is_on)
            })
            .collect();
    }
    let moved = moved(system, positions.keys().copied().chain(switches.iter().map(|s| s.1)));
    let choices = choices(system, &positions);
    system.replace_expressions(std::iter::empty(), |dag, roots| at_positions(dag, roots, &positions));
    let free = take_back_superfluous(system, &choices, &moved);
    let switches = switches.into_iter().map(|(text, condition, is_on, span)| {
        let name = format!("position of {text}");
        let is_moved = moved.contains(&condition);
        let condition = with_events(system, condition, span);
        let condition = system.add_discrete(name, SlotType::Boolean, condition, None, span);
        Switch { text, condition, is_on, is_moved, span }
    });
    let mut switches: Vec<Switch> = switches.collect();
    let mut regions = Vec::new();
    let has_entries = |k: usize| active.is_some_and(|active| active.entries.iter().any(|entry| entry.state == k));
    let members = active.iter().flat_map(|active| &active.members);
    let with_states: BTreeSet<usize> = members
        .filter(|(id, _)| system.elements[**id].iter().any(|&slot| aliases.is_differentiated(slot)))
        .map(|(_, &state)| state)
        .collect();
    for (k, state) in active.iter().flat_map(|active| &active.states).enumerate() {
        let slot = |id: VarId| aliases.resolve(system.elements[id][0]);
        let (next, again) = (slot(state.next), slot(state.reenters));
        let [enters, resets, entry_time, visited, remembered] =
            [state.enters, state.resets, state.entry_time, state.visited, state.remembered]
                .map(|id| system.elements[id][0]);
        let mut position = |alias: Alias, name: String| {
            let load = system.load(alias.slot);
            system.add_discrete(name, SlotType::Boolean, load, None, state.span)
        };
        let reenters = position(again, format!("again {}", state.text));
        let condition = position(next, format!("position of {}", state.text));
        let switch = switches.len();
        let machine = state.machine;
        let has_entries = has_entries(k);
        let own = system.state_conditions.iter().filter(|(state, _)| *state == k);
        let conditions = own.map(|&(_, slot)| aliases.resolve(slot).slot).collect();
        regions.push(Region {
            machine,
            switch,
            enters,
            resets,
            reenters,
            entry_time,
            visited,
            remembered,
            has_entries,
            has_states: with_states.contains(&k),
            conditions,
        });
        let (text, is_on) = (state.text.clone(), state.is_active);
        switches.push(Switch { text, condition, is_on, is_moved: true, span: state.span });
    }
    Fixed { switches, regions, free }
}

/// Expressions with switches in these positions.
fn at_positions(dag: &mut Dag, roots: &[NodeId], positions: &BTreeMap<NodeId, bool>) -> Vec<NodeId> {
    dag.replace_all(roots, |dag, id| match dag.node(id) {
        Node::Select(condition, a, b) => {
            positions.get(&condition).map(|is_on| Replacement::ByChild(if *is_on { a } else { b }))
        }
        _ => None,
    })
}

/// Equations that contain one of the switches, with their sides in its other position.
fn choices(system: &mut System, positions: &BTreeMap<NodeId, bool>) -> Vec<Choice> {
    let mut found = Vec::new();
    for (k, equation) in system.equations.iter().enumerate().filter(|(_, e)| e.is_real) {
        let sides = [equation.left, equation.right];
        let conditions: BTreeSet<NodeId> = system
            .dag
            .reachable(&sides)
            .into_iter()
            .filter_map(|id| match system.dag.node(id) {
                Node::Select(condition, ..) if positions.contains_key(&condition) => Some(condition),
                _ => None,
            })
            .collect();
        let mut conditions = conditions.into_iter();
        if let (Some(condition), None) = (conditions.next(), conditions.next()) {
            let other = BTreeMap::from([(condition, !positions[&condition])]);
            if let [left, right] = at_positions(&mut system.dag, &sides, &other)[..] {
                found.push(Choice { equation: k, other: [left, right], condition });
            }
        }
    }
    found
}

/// A condition that changes the structure changes at events only, `noEvent` or not: the integrator cannot pass from one structure to another
/// inside of a step.
fn with_events(system: &mut System, condition: NodeId, span: Span) -> NodeId {
    if !system.dag.is_continuous(condition) {
        return condition;
    }
    let mut memories: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for (node, op, left, right) in relations(system, condition) {
        let text = full_text_of(system, node);
        let memory = system.relation(op, left, right, text, span);
        memories.insert(node, system.load(memory));
    }
    let replace = |_: &Dag, id: NodeId| memories.get(&id).copied().map(Replacement::By);
    system.dag.replace_all(&[condition], replace).first().copied().unwrap_or(condition)
}

/// Is a condition made of relations and discrete variables?
pub fn can_have_events(system: &System, condition: NodeId) -> bool {
    let literal: BTreeSet<NodeId> = relations(system, condition).into_iter().map(|(node, ..)| node).collect();
    let (mut open, mut seen) = (vec![condition], BTreeSet::new());
    while let Some(id) = open.pop() {
        if !system.dag.is_continuous(id) || literal.contains(&id) || !seen.insert(id) {
            continue;
        }
        match system.dag.node(id) {
            Node::Unary(UnaryFn::Not, a) => open.push(a),
            Node::Binary(BinaryFn::And | BinaryFn::Or | BinaryFn::Equal | BinaryFn::NotEqual, a, b) => {
                open.extend([a, b]);
            }
            Node::Select(c, a, b) => open.extend([a, b, c]),
            _ => return false,
        }
    }
    true
}

/// Slots for the present positions of conditions that may change the structure together, and what they are.
pub fn add_candidates(system: &mut System, conditions: &[(NodeId, Span)]) -> (Vec<Switch>, Vec<Assignment>) {
    let (mut candidates, mut positions) = (Vec::new(), Vec::new());
    let moved = moved(system, conditions.iter().map(|c| c.0));
    for &(node, span) in conditions {
        let text = full_text_of(system, node);
        let slot = system.add_slot(format!("position of {text}"), SlotKind::Auxiliary, SlotType::Boolean);
        positions.push(Assignment { slot, node, span });
        candidates.push(Switch { text, condition: slot, is_on: false, is_moved: moved.contains(&node), span });
    }
    (candidates, positions)
}

/// Parameters that are zero in a position of a switch: an ideal element is ideal by their value.
fn zero_parameters(system: &System, positions: &BTreeMap<NodeId, bool>) -> BTreeSet<SlotId> {
    let mut zeros = BTreeSet::new();
    for equation in system.equations.iter().filter(|e| e.is_real) {
        for id in system.dag.reachable(&[equation.left, equation.right]) {
            if let Node::Select(condition, a, b) = system.dag.node(id)
                && positions.contains_key(&condition)
            {
                zeros.extend(system.dag.loads(&[a, b]).into_iter().filter(|&slot| is_zero_parameter(system, slot)));
            }
        }
    }
    zeros
}

/// A parameter that is known to be zero.
pub fn is_zero_parameter(system: &System, slot: SlotId) -> bool {
    system.slots[slot].kind == SlotKind::Parameter
        && !system.parameters.free.contains(&slot)
        && system.parameters.values.get(slot.index()).copied().flatten() == Some(0.0)
}

/// Conditions in equations that change during a simulation, each with the place of an equation.
fn conditions(system: &System) -> Vec<(NodeId, Span)> {
    let mut found: BTreeMap<NodeId, Span> = BTreeMap::new();
    for equation in system.equations.iter().filter(|e| e.is_real) {
        for id in system.dag.reachable(&[equation.left, equation.right]) {
            if let Node::Select(condition, ..) = system.dag.node(id)
                && !found.contains_key(&condition)
                && system.dag.depends_on(condition, &|slot| system.slots[slot].kind != SlotKind::Parameter)
            {
                found.insert(condition, equation.span);
            }
        }
    }
    found.into_iter().collect()
}

/// Relations that must be exceeded by an amount that the entry finds, with the slots of the amounts; nobody else sees these.
pub fn doubts(model: &FlatModel, system: &mut System) -> Vec<(RelationId, SlotId)> {
    let Some(active) = &model.active_states else { return Vec::new() };
    let amounts: BTreeSet<SlotId> = active.doubts.iter().map(|&id| system.elements[id][0]).collect();
    let nodes: BTreeMap<SlotId, NodeId> = system.events.crossings.iter().map(|a| (a.slot, a.node)).collect();
    let mut found = Vec::new();
    for (id, relation) in system.events.relations.iter_mut() {
        let loads = nodes.get(&relation.crossing).map_or_else(Vec::new, |&node| system.dag.loads(&[node]));
        for slot in loads.into_iter().filter(|slot| amounts.contains(slot)) {
            found.push((id, slot));
            let name = system.slots.name(slot);
            for sign in ["+", "-"] {
                relation.text = relation.text.replace(&format!(" {sign} {name}"), "");
            }
        }
    }
    found
}

/// What active states ask of the integration: inner ones before those around them, others in the order of their machines.
pub fn integration(model: &FlatModel) -> Integration {
    let mut integration = Integration::default();
    let Some(active) = &model.active_states else { return integration };
    let mut states: Vec<&str> = active.states.iter().filter(|s| s.is_active).map(|s| s.name()).collect();
    states.sort_by_key(|name| std::cmp::Reverse(name.matches('.').count()));
    for state in states {
        let Some(component) = model.components.iter().find(|c| &*c.name == state) else { continue };
        let Treatment { solver, tolerance, .. } = &component.treatment;
        integration.solver = integration.solver.or_else(|| solver.clone());
        integration.tolerance = integration.tolerance.or(*tolerance);
    }
    integration
}

/// Slots of variables that have no value.
pub fn absent(model: &FlatModel, system: &System) -> Vec<SlotId> {
    let ids = model.active_states.iter().flat_map(|active| &active.absent);
    let mut slots: Vec<SlotId> = ids.flat_map(|&id| system.elements[id].iter().copied()).collect();
    slots.sort_unstable();
    slots
}
