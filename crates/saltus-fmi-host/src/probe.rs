//! Whether the dependencies that an FMU declares are true: one known after the other is moved, and what changes with it must say so.
//!
//! A dependency that is declared and not seen is no mistake: it may show at another point.

use std::sync::Arc;

use saltus_base::Diagnostics;
use saltus_fmi::{Causality, Kind, ModelDescription, Type, Unknown, Variability};

use crate::component::{Component, Input, Point};
use crate::diagnostics;
use crate::error::HostResult;
use crate::fmu::Fmu;

/// Part of a value that it is moved by.
const MOVE: f64 = 1e-3;
/// Unknowns and knowns of one probe: their product is the number of calls.
const MOST_PAIRS: usize = 1_000_000;

/// What was found wrong; an error if the FMU cannot be run. Only model exchange can be asked at any point.
pub fn probe(fmu: Arc<Fmu>, spans: &saltus_fmi::Places) -> HostResult<Diagnostics> {
    let mut findings = Diagnostics::new();
    let mut unit = Component::new(fmu.clone(), Kind::ModelExchange, "probe", Vec::new(), Vec::new())?;
    let model = &fmu.document.model;
    let inputs: Vec<usize> = unit.inputs().into_iter().filter(|&v| is_continuous(model, v)).collect();
    let states: Vec<usize> =
        model.structure.derivatives.iter().filter_map(|u| model.variables[u.variable].derivative).collect();
    let is_scalar = |v: &usize| model.variables[*v].dimensions.is_empty();
    if !states.iter().all(is_scalar) || !inputs.iter().all(is_scalar) {
        return Ok(findings);
    }
    let mut u: Vec<f64> = inputs.iter().map(|&v| model.variables[v].start_number().unwrap_or(0.0)).collect();
    let start = model.default_experiment.as_ref().and_then(|e| e.start_time).unwrap_or(0.0);
    let mut x: Vec<f64> = states.iter().map(|&v| model.variables[v].start_number().unwrap_or(0.0)).collect();
    let event = at(0, start, &x, &inputs, &u, |point| unit.event(point))?;
    x.clone_from(&event.states);
    let time = match event.next {
        Some(next) if next > start => start + 0.5 * (next - start).min(1.0),
        _ => start + 0.5,
    };
    // A point where nothing vanishes by chance.
    x.iter_mut().chain(&mut u).enumerate().for_each(|(i, v)| *v += 0.01 * (1.0 + v.abs()) * (1.0 + 0.1 * i as f64));
    let structure = &model.structure;
    let lists = [(&structure.outputs, &spans.outputs), (&structure.derivatives, &spans.derivatives)];
    let n_unknowns: usize = lists.iter().map(|(list, _)| list.len()).sum();
    if n_unknowns.saturating_mul(inputs.len() + states.len()) > MOST_PAIRS {
        return Ok(findings);
    }
    for (unknowns, spans) in lists {
        for (unknown, &span) in unknowns.iter().zip(spans.iter()) {
            let Some(undeclared) = undeclared(model, unknown, &states, &inputs) else { continue };
            let name = &model.variables[unknown.variable].name;
            let mut value =
                |x: &[f64], u: &[f64]| at(1, time, x, &inputs, u, |point| unit.number(point, unknown.variable, 0));
            let here = value(&x, &u)?;
            for known in undeclared {
                let (mut moved_x, mut moved_u) = (x.clone(), u.clone());
                let place = match states.iter().position(|&s| s == known) {
                    Some(k) => &mut moved_x[k],
                    None => &mut moved_u[inputs.iter().position(|&i| i == known).unwrap_or(0)],
                };
                *place += MOVE * (1.0 + place.abs());
                // A point that the FMU rejects says nothing.
                let Ok(there) = value(&moved_x, &moved_u) else { continue };
                if (there - here).abs() > 1e-9 * (1e-3 + here.abs()) {
                    findings.push(diagnostics::undeclared_dependency(name, &model.variables[known].name, span));
                }
            }
        }
    }
    Ok(findings)
}

fn is_continuous(model: &ModelDescription, at: usize) -> bool {
    let variable = &model.variables[at];
    variable.kind == Type::Float64
        && variable.variability == Variability::Continuous
        && variable.causality == Causality::Input
}

/// The knowns that an unknown says it does not depend on; none if it says nothing, or if it is not a continuous number.
fn undeclared(model: &ModelDescription, unknown: &Unknown, states: &[usize], inputs: &[usize]) -> Option<Vec<usize>> {
    let variable = &model.variables[unknown.variable];
    if !variable.kind.is_float() || variable.variability != Variability::Continuous || !variable.dimensions.is_empty() {
        return None;
    }
    let declared = unknown.dependencies.as_ref()?;
    let is_declared = |v: &usize| *v == unknown.variable || declared.iter().any(|d| d.variable == *v);
    Some(states.iter().chain(inputs).copied().filter(|v| !is_declared(v)).collect())
}

/// Does something at a point.
fn at<R>(
    n_events: i64,
    time: f64,
    states: &[f64],
    inputs: &[usize],
    values: &[f64],
    act: impl FnOnce(&Point) -> HostResult<R>,
) -> HostResult<R> {
    let inputs: Vec<Input> =
        inputs.iter().zip(values.chunks(1)).map(|(&variable, values)| Input { variable, values }).collect();
    act(&Point { n_events, time, states, inputs: &inputs })
}
