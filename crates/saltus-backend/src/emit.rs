//! Turn sorted assignments into the sections of a program.
//!
//! In: the system and its orders. Out: a [`SimProgram`]. The continuous order is the event order without what changes at
//! events only; it is divided into what the derivatives need, what the crossing functions need beyond that, and the rest.

use std::collections::{BTreeSet, HashMap};

use saltus_base::Span;
use saltus_flat::{Attributes, Expr, ExprKind, FlatModel, Variability};
use saltus_program::{
    Assign, Block, Code, Experiment, Op, Section, SimProgram, SlotId, SlotKind, State, ValueId, Variable,
};

use crate::dag::{Dag, Node, NodeId};
use crate::system::{Assignment, System, element_name, slot_type};

pub fn emit(
    model: &FlatModel,
    system: System,
    parameter_order: &[Assignment],
    initial_order: &[Assignment],
    event_order: &[Assignment],
) -> SimProgram {
    let continuous: Vec<&Assignment> =
        event_order.iter().filter(|a| system.slots[a.slot].kind.is_continuous()).collect();
    let derivatives: BTreeSet<SlotId> = system.derivative_of.values().copied().collect();
    let for_derivatives = needed(&system.dag, &continuous, derivatives);
    let crossing_nodes: Vec<NodeId> = system.crossings.iter().map(|a| a.node).collect();
    let for_crossings = needed(&system.dag, &continuous, system.dag.loads(&crossing_nodes).into_iter().collect());

    let part = |wanted: &dyn Fn(&SlotId) -> bool| continuous.iter().copied().filter(|a| wanted(&a.slot)).collect();
    let derivative_part: Vec<&Assignment> = part(&|s| for_derivatives.contains(s));
    let mut crossing_part: Vec<&Assignment> = part(&|s| !for_derivatives.contains(s) && for_crossings.contains(s));
    let mut output_part: Vec<&Assignment> = part(&|s| !for_derivatives.contains(s) && !for_crossings.contains(s));
    crossing_part.extend(&system.crossings);
    output_part.extend(&system.assertion_conditions);

    let derivative_section = section(&system.dag, derivative_part);
    let derivative_modes = derivative_section
        .loads()
        .into_iter()
        .filter(|&s| matches!(system.slots[s].kind, SlotKind::Discrete | SlotKind::Pre | SlotKind::Flag))
        .collect();
    SimProgram {
        name: model.name.clone(),
        time: system.time,
        initial: system.initial,
        terminal: system.terminal,
        states: states(model, &system),
        pre: system.pre_of.iter().map(|(&variable, &pre)| (variable, pre)).collect(),
        variables: variables(model, &system),
        parameter_section: section(&system.dag, parameter_order),
        initial_section: section(&system.dag, initial_order),
        event_section: section(&system.dag, event_order),
        derivative_section,
        crossing_section: section(&system.dag, crossing_part),
        output_section: section(&system.dag, output_part),
        derivative_modes,
        experiment: Experiment {
            start_time: model.experiment.start_time,
            stop_time: model.experiment.stop_time,
            interval: model.experiment.interval,
            tolerance: model.experiment.tolerance,
        },
        slots: system.slots,
        relations: system.relations,
        time_events: system.time_events,
        samples: system.samples,
        reinits: system.reinits,
        assertions: system.assertions,
        terminations: system.terminations,
        callables: saltus_base::IdVec::new(),
        functions: model.functions.clone(),
        records: model.records.clone(),
        enumerations: model.enumerations.clone(),
    }
}

/// The slots that must be computed for `wanted`, among the assignments in order of computation.
fn needed(dag: &Dag, order: &[&Assignment], wanted: BTreeSet<SlotId>) -> BTreeSet<SlotId> {
    let mut wanted = wanted;
    for assignment in order.iter().rev() {
        if wanted.contains(&assignment.slot) {
            wanted.extend(dag.loads(&[assignment.node]));
        }
    }
    wanted
}

fn section<'a>(dag: &Dag, assignments: impl IntoIterator<Item = &'a Assignment>) -> Section {
    Section { blocks: assignments.into_iter().map(|a| block(dag, a.slot, a.node, a.span)).collect() }
}

fn block(dag: &Dag, slot: SlotId, root: NodeId, span: Span) -> Block {
    let mut values: HashMap<NodeId, ValueId> = HashMap::new();
    let mut code = Code::default();
    for id in dag.reachable(&[root]) {
        // Children come before their parents.
        let at = |child: NodeId| values.get(&child).copied().unwrap_or(ValueId(u32::MAX));
        let op = match dag.node(id) {
            Node::Const(bits) => Op::Const(f64::from_bits(bits)),
            Node::Load(slot) => Op::Load(slot),
            Node::Unary(f, x) => Op::Unary(f, at(x)),
            Node::Binary(f, a, b) => Op::Binary(f, at(a), at(b)),
            Node::Select(c, a, b) => Op::Select(at(c), at(a), at(b)),
        };
        values.insert(id, ValueId(code.ops.len() as u32));
        code.ops.push(op);
    }
    let stores = values.get(&root).map(|&value| (value, slot)).into_iter().collect();
    Block::Assign(Assign { code, stores, span })
}

fn states(model: &FlatModel, system: &System) -> Vec<State> {
    let mut states = Vec::new();
    for (id, variable) in model.variables.iter() {
        for (i, &slot) in system.elements[id].iter().enumerate() {
            if let Some(&derivative) = system.derivative_of.get(&slot) {
                states.push(State { value: slot, derivative, nominal: nominal(&variable.attributes, i) });
            }
        }
    }
    states
}

/// A literal nominal value; others count as 1.
fn nominal(attributes: &Attributes, element: usize) -> f64 {
    fn literal(e: &Expr, element: usize) -> Option<f64> {
        match &e.kind {
            ExprKind::Real(value) => Some(value.abs()),
            ExprKind::Integer(value) => Some((*value as f64).abs()),
            ExprKind::Array(items) => literal(items.get(element)?, element),
            _ => None,
        }
    }
    let value = attributes.nominal.as_ref().and_then(|e| literal(e, element));
    value.filter(|v| v.is_finite() && *v > 0.0).unwrap_or(1.0)
}

fn variables(model: &FlatModel, system: &System) -> Vec<Variable> {
    let mut variables = Vec::new();
    for (id, variable) in model.variables.iter() {
        let Some(ty) = slot_type(variable.ty.base) else { continue };
        let dims: Vec<u64> = variable.ty.dims.iter().filter_map(|d| d.known()).collect();
        let unit = match variable.attributes.unit.as_ref().map(|u| &u.kind) {
            Some(ExprKind::String(text)) => text.to_string(),
            _ => String::new(),
        };
        for (i, &slot) in system.elements[id].iter().enumerate() {
            variables.push(Variable {
                name: element_name(&variable.name, &dims, i as u64),
                slot,
                ty,
                is_parameter: matches!(variable.variability, Variability::Constant | Variability::Parameter),
                is_hidden: variable.hide_result,
                description: variable.description.clone(),
                unit: unit.clone(),
            });
            if let Some(&derivative) = system.derivative_of.get(&slot) {
                variables.push(Variable {
                    name: system.name(derivative).to_owned(),
                    slot: derivative,
                    ty,
                    is_parameter: false,
                    is_hidden: variable.hide_result,
                    description: String::new(),
                    unit: String::new(),
                });
            }
        }
    }
    variables
}
