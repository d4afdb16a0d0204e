//! Parameters and start values.
//!
//! In: bindings and attributes of the flat model. Out: for each parameter either a value in memory or an assignment that
//! is evaluated once, sorted so that each comes after those it needs; for each variable its start value. Parameters with
//! `fixed = false` are found by the initial system, and so are those that depend on them. (Specification: section 8.6.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::{BaseType, Confidence, ExprKind, FlatModel, VarId, Variability, Variable};
use saltus_graph::strongly_connected_components;
use saltus_program::{SlotId, SlotKind, SlotType};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::lower::function_assertions::Made;
use crate::lower::{Lowered, Lowering, known_dims, makes_objects, object_parts};
use crate::system::{Assignment, ScalarEquation, Start, System, slot_type};

pub fn lower_parameters(model: &FlatModel, system: &mut System, diagnostics: &mut Diagnostics) {
    let mut lowering = Lowering::new(model, system, diagnostics);
    let mut without_values: Vec<&Variable> = Vec::new();
    for (id, variable) in model.variables.iter() {
        let is_parameter = matches!(variable.variability, Variability::Constant | Variability::Parameter);
        let slots = lowering.system.elements[id].clone();
        if slots.is_empty() {
            continue;
        }
        let n_free = lowering.system.parameters.free.len();
        let result = match variable.ty.base {
            BaseType::ExternalObject(_) => lower_object(&mut lowering, variable, &slots),
            _ if is_parameter && slot_type(variable.ty.base).is_some() => {
                lower_parameter(&mut lowering, id, variable, &slots)
            }
            _ => continue,
        };
        let has_value = variable.binding.is_some() || variable.attributes.start.is_some();
        let is_found = lowering.system.parameters.free.len() > n_free || lowering.constant_variable(id).is_some();
        if is_parameter && !has_value && !is_found {
            without_values.push(variable);
        }
        lowering.note(result);
    }
    if let Some(first) = without_values.first() {
        let names: Vec<String> = without_values.iter().map(|v| v.name.to_string()).collect();
        diagnostics.push(diagnostics::parameters_without_values(&names, first.span));
    }
}

fn lower_parameter<'a>(
    lowering: &mut Lowering<'a, '_>,
    id: VarId,
    variable: &'a Variable,
    slots: &[SlotId],
) -> Lowered<()> {
    // A structural parameter may have got its value from another place than its declaration.
    if let Some(value) = lowering.constant_variable(id) {
        return give_values(lowering, slots, value.scalars(), variable.span);
    }
    if variable.binding.is_none() {
        let fixed = fixed_elements(lowering, variable, slots.len(), true)?;
        let free: Vec<SlotId> = slots.iter().zip(&fixed).filter(|(_, fixed)| !**fixed).map(|(s, _)| *s).collect();
        lowering.system.parameters.free.extend(free);
    }
    let value = variable.binding.as_ref().or(variable.attributes.start.as_ref());
    let Some(value) = value else { return Ok(()) };
    lowering.declared_dims = known_dims(&variable.ty)
        .filter(|_| matches!(value.kind, ExprKind::Call { .. }) && !variable.ty.dims.is_empty());
    let nodes =
        lowering.acting_always(|l| l.making(Made::Always, |l| l.literally(|l| l.bound(variable, value, slots.len()))));
    lowering.declared_dims = None;
    let nodes = nodes?;
    if lowering.system.parameters.free.ends_with(slots) {
        return give_guesses(lowering, slots, nodes, variable.span);
    }
    give_values(lowering, slots, nodes, variable.span)
}

fn give_values(lowering: &mut Lowering<'_, '_>, slots: &[SlotId], nodes: Vec<NodeId>, span: Span) -> Lowered<()> {
    for (&slot, node) in slots.iter().zip(nodes) {
        match lowering.system.dag.value(node) {
            Some(constant) => lowering.system.slots[slot].initial = constant,
            None => lowering.system.parameters.assignments.push(Assignment { slot, node, span }),
        }
    }
    Ok(())
}

/// Start values of parameters that the initial system finds.
fn give_guesses(lowering: &mut Lowering<'_, '_>, slots: &[SlotId], nodes: Vec<NodeId>, span: Span) -> Lowered<()> {
    for (&slot, value) in slots.iter().zip(nodes) {
        if let Some(constant) = lowering.system.dag.value(value) {
            lowering.system.slots[slot].initial = constant;
        }
        lowering.system.starts.insert(slot, Start { value, is_fixed: false, confidence: Confidence::default(), span });
    }
    Ok(())
}

/// An external object is made by its constructor, once.
fn lower_object<'a>(lowering: &mut Lowering<'a, '_>, variable: &'a Variable, slots: &[SlotId]) -> Lowered<()> {
    let Some(binding) = &variable.binding else { return Ok(()) };
    for (part, slots) in object_parts(binding, slots).into_iter().filter(|(part, _)| makes_objects(part)) {
        let nodes = lowering.acting_always(|l| l.literally(|l| l.scalars(part)))?;
        for (&slot, node) in slots.iter().zip(nodes) {
            lowering.system.parameters.assignments.push(Assignment { slot, node, span: variable.span });
        }
    }
    Ok(())
}

/// The `fixed` attribute of each element. What it depends on counts as constant.
pub fn fixed_elements<'a>(
    lowering: &mut Lowering<'a, '_>,
    variable: &'a Variable,
    n: usize,
    default: bool,
) -> Lowered<Vec<bool>> {
    let Some(fixed) = &variable.attributes.fixed else { return Ok(vec![default; n]) };
    // The structure of the initial system depends on it.
    if let Ok(nodes) = lowering.literally(|l| l.spread(fixed, n)) {
        let slots = lowering.system.dag.loads(&nodes);
        lowering.system.memo.structural.extend(slots);
    }
    let nodes = lowering.folding(|l| l.literally(|l| l.spread(fixed, n)))?;
    let values: Option<Vec<bool>> = nodes.iter().map(|&n| lowering.system.dag.value(n).map(|v| v != 0.0)).collect();
    match values {
        Some(values) => Ok(values),
        None => lowering.unsupported("a fixed attribute that is not constant", variable.span),
    }
}

/// Start values of variables; inputs are held at theirs.
pub fn lower_start_values(model: &FlatModel, system: &mut System, diagnostics: &mut Diagnostics) {
    let mut lowering = Lowering::new(model, system, diagnostics);
    for (id, variable) in model.variables.iter() {
        let slots = lowering.system.elements[id].clone();
        let is_parameter = slots.first().is_none_or(|&s| lowering.system.slots[s].kind == SlotKind::Parameter);
        let is_of_family = lowering.system.families.covered(id).is_some_and(|covered| covered.len() == slots.len());
        if is_parameter || is_of_family {
            continue;
        }
        let result = lower_start(&mut lowering, id, variable, &slots);
        lowering.note(result);
    }
}

fn lower_start<'a>(
    lowering: &mut Lowering<'a, '_>,
    id: VarId,
    variable: &'a Variable,
    slots: &[SlotId],
) -> Lowered<()> {
    let mut is_own = vec![true; slots.len()];
    for &element in lowering.system.families.covered(id).unwrap_or(&[]) {
        is_own[element] = false;
    }
    let fixed = fixed_elements(lowering, variable, slots.len(), false)?;
    let nodes = match &variable.attributes.start {
        Some(start) => lowering.literally(|l| l.spread(start, slots.len()))?,
        None if fixed.contains(&true) => {
            let default = lowering.system.slots[slots[0]].initial;
            vec![lowering.system.dag.constant(default); slots.len()]
        }
        None => return Ok(()),
    };
    let confidence = variable.attributes.confidence;
    let span = start_span(variable);
    let all = slots.iter().zip(nodes).zip(fixed).zip(is_own);
    for (((&slot, value), is_fixed), _) in all.filter(|(_, is_own)| *is_own) {
        if lowering.system.slots[slot].kind == SlotKind::Input {
            lowering.system.parameters.assignments.push(Assignment { slot, node: value, span: variable.span });
        }
        if let Some(constant) = lowering.system.dag.value(value) {
            lowering.system.slots[slot].initial = constant;
        }
        lowering.system.starts.insert(slot, Start { value, is_fixed, confidence, span });
    }
    Ok(())
}

/// Where the start value became an initial condition: a modification, or the declaration.
pub fn start_span(variable: &Variable) -> Span {
    let given = [&variable.attributes.fixed, &variable.attributes.start].into_iter().flatten().map(|e| e.span);
    given.into_iter().find(|s| !s.is_nowhere()).unwrap_or(variable.span)
}

/// Parameters that depend on free ones are found with them: their values become initial equations.
pub fn release_dependents(system: &mut System) {
    if system.parameters.free.is_empty() {
        return;
    }
    let mut free: BTreeSet<SlotId> = system.parameters.free.iter().copied().collect();
    let mut kept = std::mem::take(&mut system.parameters.assignments);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        let (dependent, rest): (Vec<Assignment>, Vec<Assignment>) =
            kept.into_iter().partition(|a| needs(system, a.node).iter().any(|slot| free.contains(slot)));
        kept = rest;
        for Assignment { slot, node, span } in dependent {
            has_changed = true;
            free.insert(slot);
            let left = system.load(slot);
            let is_real = system.slots[slot].ty == SlotType::Real;
            // As an equation: a real value may just as well tell the free parameter that it is computed from.
            let target = (!is_real).then_some(slot);
            let equation =
                ScalarEquation { left, right: node, target, initially: None, is_real, span, linearized: None };
            if system.slots[slot].kind == SlotKind::Parameter {
                system.parameters.free.push(slot);
                system.initial_equations.push(equation);
            }
        }
    }
    system.parameters.assignments = kept;
}

/// The slots that a value depends on, the handles of external objects among them.
pub(crate) fn needs(system: &System, node: NodeId) -> Vec<SlotId> {
    let mut slots = system.dag.loads(&[node]);
    let mut calls = Vec::new();
    system.dag.calls_of(&[node], &mut calls);
    for call in calls {
        let callable = system.calls.callables.get(system.dag.called(call).function);
        for argument in callable.map_or(&[][..], |c| &c.arguments) {
            slots.extend(argument.objects());
        }
    }
    slots
}

/// Assignments in an order in which each finds what it needs.
pub fn sort_parameters(system: &mut System, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let assignments = std::mem::take(&mut system.parameters.assignments);
    let position: BTreeMap<SlotId, usize> = assignments.iter().enumerate().map(|(i, a)| (a.slot, i)).collect();
    let needs: Vec<Vec<usize>> = assignments
        .iter()
        .map(|a| needs(system, a.node).iter().filter_map(|slot| position.get(slot).copied()).collect())
        .collect();
    let mut sorted = Vec::new();
    for component in strongly_connected_components(&needs) {
        let is_cycle = component.len() > 1 || needs[component[0]].contains(&component[0]);
        if is_cycle {
            let names: Vec<String> = component.iter().map(|&i| system.name(assignments[i].slot).into_owned()).collect();
            let span = component.first().map_or(Span::nowhere(), |&i| assignments[i].span);
            diagnostics.push(diagnostics::cyclic_parameters(&names, span));
        }
        sorted.extend(component.into_iter().map(|i| assignments[i].clone()));
    }
    sorted
}
