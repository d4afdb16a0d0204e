//! The rules about `ModelStructure`: which unknowns it lists, and what these may depend on.

use saltus_base::Span;

use crate::check::Check;
use crate::{Causality, Dependency, Initial, Unknown, Variability, Version, diagnostics};

pub(crate) fn check_structure(check: &mut Check) {
    let structure = &check.model.structure;
    let places = check.places;
    check_outputs(check);
    check_derivatives(check);
    check_initial_unknowns(check);
    check_clocked_states(check);
    for (unknowns, spans) in [
        (&structure.outputs, &places.outputs),
        (&structure.derivatives, &places.derivatives),
        (&structure.event_indicators, &places.event_indicators),
    ] {
        check_dependencies(check, unknowns, spans, false);
    }
    check_dependencies(check, &structure.initial_unknowns, &places.initial_unknowns, true);
}

/// Reports variables that a list lacks, has twice or should not have.
fn check_list(check: &mut Check, list: &'static str, unknowns: &[Unknown], spans: &[Span], expected: &[bool]) {
    let model = check.model;
    let mut listed = vec![false; model.variables.len()];
    for (unknown, &span) in unknowns.iter().zip(spans) {
        let name = &model.variables[unknown.variable].name;
        if std::mem::replace(&mut listed[unknown.variable], true) {
            check.findings.push(diagnostics::listed_twice(list, name, span));
        }
        if !expected[unknown.variable] {
            check.findings.push(diagnostics::wrongly_listed(list, name, span));
        }
    }
    for (at, variable) in model.variables.iter().enumerate() {
        if expected[at] && !listed[at] {
            let span = check.places.variables[at];
            check.findings.push(diagnostics::not_listed(list, &variable.name, span));
        }
    }
}

fn check_outputs(check: &mut Check) {
    let model = check.model;
    let expected: Vec<bool> = model.variables.iter().map(|v| v.causality == Causality::Output).collect();
    check_list(check, "outputs", &model.structure.outputs, &check.places.outputs, &expected);
}

fn check_derivatives(check: &mut Check) {
    let model = check.model;
    let mut states = vec![false; model.variables.len()];
    for (unknown, &span) in model.structure.derivatives.iter().zip(&check.places.derivatives) {
        let derivative = &model.variables[unknown.variable];
        match derivative.derivative {
            Some(state) if std::mem::replace(&mut states[state], true) => {
                check.findings.push(diagnostics::listed_twice("derivatives", &derivative.name, span));
            }
            Some(_) => {}
            None => check.findings.push(diagnostics::not_a_derivative(&derivative.name, span)),
        }
    }
    for (unknown, &span) in model.structure.event_indicators.iter().zip(&check.places.event_indicators) {
        let indicator = &model.variables[unknown.variable];
        if !indicator.kind.is_float() || indicator.variability != Variability::Continuous {
            check.findings.push(diagnostics::discrete_indicator(&indicator.name, span));
        }
    }
}

fn check_initial_unknowns(check: &mut Check) {
    let model = check.model;
    let is_calculated =
        |at: usize| matches!(model.variables[at].initial(), Some(Initial::Approx | Initial::Calculated));
    let mut expected = vec![false; model.variables.len()];
    for (at, variable) in model.variables.iter().enumerate() {
        expected[at] = variable.causality == Causality::CalculatedParameter
            || (variable.causality == Causality::Output && is_calculated(at) && variable.clocks.is_empty());
    }
    for unknown in &model.structure.derivatives {
        for at in [Some(unknown.variable), model.variables[unknown.variable].derivative].into_iter().flatten() {
            expected[at] |= is_calculated(at);
        }
    }
    // Clocks and clocked variables may be initialised there or not.
    let is_clock = |variable: &crate::Variable| variable.kind == crate::Type::Clock;
    for (at, variable) in model.variables.iter().enumerate() {
        expected[at] &= !is_clock(variable);
    }
    for unknown in &model.structure.initial_unknowns {
        let variable = &model.variables[unknown.variable];
        expected[unknown.variable] |= is_clock(variable) || !variable.clocks.is_empty();
    }
    check_list(check, "initial unknowns", &model.structure.initial_unknowns, &check.places.initial_unknowns, &expected);
}

fn check_clocked_states(check: &mut Check) {
    let model = check.model;
    for (unknown, &span) in model.structure.clocked_states.iter().zip(&check.places.clocked_states) {
        let state = &model.variables[unknown.variable];
        let is_state = state.previous.is_some()
            && !state.clocks.is_empty()
            && state.variability == Variability::Discrete
            && state.kind != crate::Type::Clock;
        if !is_state {
            check.findings.push(diagnostics::not_a_clocked_state(&state.name, span));
        }
    }
}

/// Every known must be one: inputs, states, parameters and time, at the start inputs, exact values and time.
fn check_dependencies(check: &mut Check, unknowns: &[Unknown], spans: &[Span], at_start: bool) {
    let model = check.model;
    let mut is_state = vec![false; model.variables.len()];
    for unknown in &model.structure.derivatives {
        if let Some(state) = model.variables[unknown.variable].derivative {
            is_state[state] = true;
        }
    }
    let is_known = |dependency: &Dependency| {
        let variable = &model.variables[dependency.variable];
        let is_settable = matches!(
            variable.causality,
            Causality::Input | Causality::Independent | Causality::Parameter | Causality::StructuralParameter
        );
        match at_start {
            true => is_settable || variable.initial() == Some(Initial::Exact),
            false => {
                let is_discrete = model.version == Version::V3 || variable.variability != Variability::Continuous;
                is_settable || is_state[dependency.variable] || (is_discrete && variable.derivative.is_none())
            }
        }
    };
    for (unknown, &span) in unknowns.iter().zip(spans) {
        let Some(dependencies) = &unknown.dependencies else { continue };
        let name = &model.variables[unknown.variable].name;
        for dependency in dependencies {
            // An unknown that is a state depends on itself, and may say so.
            if dependency.variable != unknown.variable && !is_known(dependency) {
                let on = &model.variables[dependency.variable].name;
                check.findings.push(diagnostics::not_a_known(name, on, at_start, span));
            }
        }
    }
}
