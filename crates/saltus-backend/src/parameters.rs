//! Parameters and start values.
//!
//! In: bindings and attributes of the flat model. Out: for each parameter either a value in memory or an assignment that
//! is evaluated once, sorted so that each comes after those it needs; for each variable its start value.

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Span};
use saltus_flat::{Expr, FlatModel, Variability, Variable};
use saltus_graph::strongly_connected_components;
use saltus_program::{SlotId, SlotKind};

use crate::diagnostics;
use crate::lower::{Lowering, Reported};
use crate::system::{Assignment, Start, System, slot_type};

pub fn lower_parameters(model: &FlatModel, system: &mut System, diagnostics: &mut Diagnostics) {
    for (id, variable) in model.variables.iter() {
        let slots = system.elements[id].clone();
        let is_parameter = matches!(variable.variability, Variability::Constant | Variability::Parameter);
        if !is_parameter || slots.is_empty() || slot_type(variable.ty.base).is_none() {
            continue;
        }
        let mut lowering = Lowering::new(model, system, diagnostics);
        // A value that could not be lowered has been reported.
        let _ = lower_parameter(&mut lowering, variable, &slots);
    }
}

fn lower_parameter(lowering: &mut Lowering<'_>, variable: &Variable, slots: &[SlotId]) -> Result<(), Reported> {
    if variable.binding.is_none() && is_fixed(lowering, variable)? == Some(false) {
        return lowering.unsupported("parameters with fixed = false", variable.span);
    }
    let Some(value) = variable.binding.as_ref().or(variable.attributes.start.as_ref()) else { return Ok(()) };
    let nodes = lowering.literally(|l| spread(l, value, slots.len()))?;
    for (&slot, node) in slots.iter().zip(nodes) {
        match lowering.system.dag.value(node) {
            Some(constant) => lowering.system.slots[slot].initial = constant,
            None => lowering.system.parameters.push(Assignment { slot, node, span: variable.span }),
        }
    }
    Ok(())
}

/// Scalars of an attribute or value; a scalar holds for all elements.
fn spread(lowering: &mut Lowering<'_>, value: &Expr, n: usize) -> Result<Vec<crate::dag::NodeId>, Reported> {
    let nodes = lowering.scalars(value)?;
    Ok(if value.ty.is_scalar() { nodes.iter().copied().cycle().take(n).collect() } else { nodes })
}

fn is_fixed(lowering: &mut Lowering<'_>, variable: &Variable) -> Result<Option<bool>, Reported> {
    let Some(fixed) = &variable.attributes.fixed else { return Ok(None) };
    let nodes = lowering.literally(|l| l.scalars(fixed))?;
    let values: Option<Vec<bool>> = nodes.iter().map(|&n| lowering.system.dag.value(n).map(|v| v != 0.0)).collect();
    match values {
        Some(values) if values.iter().all(|&v| v) => Ok(Some(true)),
        Some(values) if values.iter().all(|&v| !v) => Ok(Some(false)),
        _ => lowering
            .unsupported("a fixed attribute that is not constant or not the same for all elements", variable.span),
    }
}

/// Start values of variables; inputs are held at theirs.
pub fn lower_start_values(model: &FlatModel, system: &mut System, diagnostics: &mut Diagnostics) {
    for (id, variable) in model.variables.iter() {
        let slots = system.elements[id].clone();
        let is_parameter = slots.first().is_none_or(|&s| system.slots[s].kind == SlotKind::Parameter);
        if is_parameter {
            continue;
        }
        let mut lowering = Lowering::new(model, system, diagnostics);
        // A value that could not be lowered has been reported.
        let _ = lower_start(&mut lowering, variable, &slots);
    }
}

fn lower_start(lowering: &mut Lowering<'_>, variable: &Variable, slots: &[SlotId]) -> Result<(), Reported> {
    let is_fixed = is_fixed(lowering, variable)? == Some(true);
    let nodes = match &variable.attributes.start {
        Some(start) => lowering.literally(|l| spread(l, start, slots.len()))?,
        None if is_fixed => {
            let default = lowering.system.slots[slots[0]].initial;
            vec![lowering.system.dag.constant(default); slots.len()]
        }
        None => return Ok(()),
    };
    for (&slot, value) in slots.iter().zip(nodes) {
        if lowering.system.slots[slot].kind == SlotKind::Input {
            lowering.system.parameters.push(Assignment { slot, node: value, span: variable.span });
        }
        if let Some(constant) = lowering.system.dag.value(value) {
            lowering.system.slots[slot].initial = constant;
        }
        lowering.system.starts.insert(slot, Start { value, is_fixed, span: variable.span });
    }
    Ok(())
}

/// Assignments in an order in which each finds what it needs.
pub fn sort_parameters(system: &mut System, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let assignments = std::mem::take(&mut system.parameters);
    let position: BTreeMap<SlotId, usize> = assignments.iter().enumerate().map(|(i, a)| (a.slot, i)).collect();
    let needs: Vec<Vec<usize>> = assignments
        .iter()
        .map(|a| system.dag.loads(&[a.node]).iter().filter_map(|slot| position.get(slot).copied()).collect())
        .collect();
    let mut sorted = Vec::new();
    for component in strongly_connected_components(&needs) {
        let is_cycle = component.len() > 1 || needs[component[0]].contains(&component[0]);
        if is_cycle {
            let names: Vec<String> = component.iter().map(|&i| system.name(assignments[i].slot).to_owned()).collect();
            let span = component.first().map_or(Span::nowhere(), |&i| assignments[i].span);
            diagnostics.push(diagnostics::cyclic_parameters(&names, span));
        }
        sorted.extend(component.into_iter().map(|i| assignments[i].clone()));
    }
    sorted
}
