//! Build and sort the initial system.
//!
//! In: the event system, initial equations, start values. Out: assignments that compute all variables at the start.
//!
//! Unknowns are the states as well. `pre` of a discrete variable is its start value, `pre` of a continuous one its own
//! value. `fixed = true` and initial equations must hold; what is still missing is taken from start values of states.
//! (Specification: section 8.6.)

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Span};
use saltus_graph::Matching;
use saltus_program::{SlotId, SlotKind};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::sort::Structure;
use crate::system::{Assignment, ScalarEquation, System, event_unknowns};

pub fn sort_initial(system: &mut System, diagnostics: &mut Diagnostics) -> Vec<Assignment> {
    let mut unknowns = event_unknowns(system);
    unknowns.extend(system.derivative_of.keys().copied());
    let mut equations = initial_form(system);
    let n_model = equations.len();
    equations.extend(system.initial_equations.clone());
    equations.extend(fixed_starts(system));
    let n_required = equations.len();
    equations.extend(optional_starts(system));

    let structure = Structure::new(system, &equations, &unknowns);
    let required = Structure::new(system, &equations[..n_required], &unknowns);
    let mut first = Matching::new(n_required, unknowns.len());
    required.match_rows(&mut first);
    for row in first.free_rows() {
        let competing = required.competitors(&first, row);
        let spans: Vec<Span> = competing.iter().filter(|&&r| r >= n_model).map(|&r| equations[r].span).collect();
        diagnostics.push(diagnostics::too_many_initial_equations(equations[row].span, &spans));
    }
    if diagnostics.has_errors() {
        return Vec::new();
    }
    let mut matching = Matching::new(equations.len(), unknowns.len());
    for (row, column) in first.column_of_row.iter().enumerate() {
        if let Some(column) = column {
            matching.assign(row, *column);
        }
    }
    structure.match_rows(&mut matching);
    let free = matching.free_columns();
    if !free.is_empty() {
        let names: Vec<String> = free.iter().map(|&c| system.name(unknowns[c]).to_owned()).collect();
        diagnostics.push(diagnostics::initially_undetermined(&names));
        return Vec::new();
    }
    let mut order = initial_pre_values(system);
    order.extend(structure.order(system, &equations, &unknowns, &matching, diagnostics));
    order
}

/// The equations of the model as they hold initially.
fn initial_form(system: &mut System) -> Vec<ScalarEquation> {
    // pre(x) of a continuous x is x.
    let continuous: BTreeMap<SlotId, SlotId> = system
        .pre_of
        .iter()
        .filter(|(variable, _)| system.slots[**variable].kind.is_continuous())
        .map(|(&variable, &pre)| (pre, variable))
        .collect();
    let values: BTreeMap<SlotId, NodeId> =
        continuous.into_iter().map(|(pre, variable)| (pre, system.load(variable))).collect();
    let replace = |slot: SlotId| values.get(&slot).copied();
    let mut equations = system.equations.clone();
    for equation in &mut equations {
        equation.right = equation.initially.unwrap_or(equation.right);
        equation.left = system.dag.substitute(equation.left, &replace);
        equation.right = system.dag.substitute(equation.right, &replace);
    }
    equations
}

/// `x = start` of continuous variables with `fixed = true`; discrete ones have it as `pre` value.
fn fixed_starts(system: &mut System) -> Vec<ScalarEquation> {
    let starts = system.starts.clone();
    let fixed = starts.into_iter().filter(|(_, start)| start.is_fixed);
    let continuous: Vec<_> =
        fixed.filter(|(slot, _)| matches!(system.slots[*slot].kind, SlotKind::State | SlotKind::Algebraic)).collect();
    continuous.into_iter().map(|(slot, start)| start_equation(system, slot, start.value, start.span)).collect()
}

fn optional_starts(system: &mut System) -> Vec<ScalarEquation> {
    let states: Vec<SlotId> = system.derivative_of.keys().copied().collect();
    let mut equations = Vec::new();
    for slot in states {
        let (value, span) = match system.starts.get(&slot) {
            Some(start) if start.is_fixed => continue,
            Some(start) => (start.value, start.span),
            None => (system.dag.constant(system.slots[slot].initial), Span::nowhere()),
        };
        equations.push(start_equation(system, slot, value, span));
    }
    equations
}

fn start_equation(system: &mut System, slot: SlotId, value: NodeId, span: Span) -> ScalarEquation {
    let left = system.load(slot);
    ScalarEquation { left, right: value, target: None, initially: None, is_real: true, span }
}

/// `pre(v) := start` of discrete variables.
fn initial_pre_values(system: &mut System) -> Vec<Assignment> {
    let pairs: Vec<(SlotId, SlotId)> = system
        .pre_of
        .iter()
        .filter(|(variable, _)| !system.slots[**variable].kind.is_continuous())
        .map(|(&variable, &pre)| (variable, pre))
        .collect();
    let mut order = Vec::new();
    for (variable, pre) in pairs {
        let (node, span) = match system.starts.get(&variable) {
            Some(start) => (start.value, start.span),
            None => (system.dag.constant(system.slots[variable].initial), Span::nowhere()),
        };
        order.push(Assignment { slot: pre, node, span });
    }
    order
}
