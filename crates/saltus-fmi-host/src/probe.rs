//! Whether the dependencies that an FMU declares are true: one known after the other is moved, and what changes with it must say so.
//!
//! ```text
//! mode              unknowns                                  knowns that are moved
//! initialisation    initial unknowns                          inputs, variables with initial = exact, time
//! continuous time   outputs, derivatives, event indicators    states, continuous inputs, time
//! event             outputs, derivatives                      the other inputs
//! ```
//!
//! A dependency that is declared and not seen is no mistake: it may show at another point. An output that is a state itself need
//! not name itself; a derivative that is a state itself must, because its dependencies are a row of the Jacobian.

use std::collections::BTreeSet;
use std::sync::Arc;

use saltus_base::{Diagnostics, Span};
use saltus_fmi::{Causality, Initial, Kind, ModelDescription, Type, Unknown, Values, Variability, Version};

use crate::component::{Component, Point};
use crate::diagnostics;
use crate::error::{HostError, HostResult};
use crate::fmu::Fmu;
use crate::instance::Instance;
use crate::log::Status;

/// Part of a value that it is moved by.
const MOVE: f64 = 1e-3;
/// Part of a value by which the point of the probe is beside that of the start, where more vanishes by chance.
const SHIFT: f64 = 1e-2;
/// Change of a number that counts, of its value and absolute. Iterations inside of the FMU end earlier than at the last digit.
const SEEN: f64 = 1e-9;
const SEEN_AT_ZERO: f64 = 1e-12;
/// How much more a change is than the difference of two readings at one point.
const ABOVE_NOISE: f64 = 100.0;
/// Values that are read in one mode.
const MOST_READINGS: usize = 1_000_000;

/// What was found wrong; an error if the FMU cannot be run. Only model exchange can be asked at any point; the initialisation of
/// co-simulation can.
pub fn probe(fmu: Arc<Fmu>, spans: &saltus_fmi::Places) -> HostResult<Diagnostics> {
    let has_exchange = fmu.document.model.model_exchange.is_some();
    let kind = if has_exchange { Kind::ModelExchange } else { Kind::CoSimulation };
    let modes: &[Mode] =
        if has_exchange { &[Mode::Initialization, Mode::Continuous, Mode::Event] } else { &[Mode::Initialization] };
    let mut findings = Diagnostics::new();
    for &mode in modes {
        let rows = rows(&fmu.document.model, spans, mode);
        let mut stage = Stage::new(fmu.clone(), kind, mode)?;
        findings.extend(stage.probe(&rows));
    }
    Ok(findings)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Initialization,
    Continuous,
    Event,
}

/// What a dependency list is of, in the order of the findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum List {
    Output,
    Derivative,
    Indicator,
    Initial,
}

/// An unknown that says what it depends on.
struct Row<'a> {
    list: List,
    unknown: &'a Unknown,
    span: Span,
    /// Where its scalars are among all of its list.
    scalars: std::ops::Range<usize>,
}

/// The unknowns of a mode that are numbers and have dependencies.
fn rows<'a>(model: &'a ModelDescription, spans: &saltus_fmi::Places, mode: Mode) -> Vec<Row<'a>> {
    let structure = &model.structure;
    let lists: &[(List, &[Unknown], &[Span])] = &[
        (List::Output, &structure.outputs, &spans.outputs),
        (List::Derivative, &structure.derivatives, &spans.derivatives),
        (List::Indicator, &structure.event_indicators, &spans.event_indicators),
        (List::Initial, &structure.initial_unknowns, &spans.initial_unknowns),
    ];
    let mut rows = Vec::new();
    for &(list, unknowns, spans) in lists {
        let is_asked = match mode {
            Mode::Initialization => list == List::Initial,
            Mode::Continuous => list != List::Initial,
            Mode::Event => matches!(list, List::Output | List::Derivative),
        };
        let mut begin = 0;
        for (unknown, &span) in unknowns.iter().zip(spans) {
            let variable = &model.variables[unknown.variable];
            let scalars = begin..begin + model.n_elements(variable) as usize;
            begin = scalars.end;
            let changes = mode != Mode::Continuous || variable.variability == Variability::Continuous;
            let is_number = is_number(variable.kind) && variable.clocks.is_empty();
            if is_asked && changes && is_number && unknown.dependencies.is_some() {
                rows.push(Row { list, unknown, span, scalars });
            }
        }
    }
    rows
}

fn is_number(kind: Type) -> bool {
    !matches!(kind, Type::String | Type::Binary | Type::Clock)
}

/// Something that can be moved: by index of variable.
#[derive(Clone, Debug)]
struct Known {
    variable: usize,
    how: How,
    here: Vec<f64>,
    moved: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Set,
    /// By the vector of states, in which it begins here.
    State(usize),
    Time,
}

/// An instance in a mode, at the point of the probe.
struct Stage {
    fmu: Arc<Fmu>,
    kind: Kind,
    mode: Mode,
    unit: Component,
    start: f64,
    time: f64,
    states: Vec<f64>,
    knowns: Vec<Known>,
}

impl Stage {
    fn new(fmu: Arc<Fmu>, kind: Kind, mode: Mode) -> HostResult<Stage> {
        let model = &fmu.document.model;
        let start = model.default_experiment.as_ref().and_then(|e| e.start_time).unwrap_or(0.0);
        let unit = Component::new(fmu.clone(), kind, "probe", Vec::new(), Vec::new())?;
        let (time, states, knowns) = (start, Vec::new(), Vec::new());
        let mut stage = Stage { fmu: fmu.clone(), kind, mode, unit, start, time, states, knowns };
        let next = stage.begin(start)?;
        let span = next.filter(|&next| next > start).map_or(1.0, |next| (next - start).min(1.0));
        let time = if mode == Mode::Continuous { start + 0.5 * span } else { start };
        let mut knowns = stage.find_knowns();
        if let Some(variable) = model.variables.iter().position(|v| v.causality == Causality::Independent)
            && mode != Mode::Event
        {
            knowns.push(Known { variable, how: How::Time, here: vec![time], moved: vec![time + MOVE * span] });
        }
        (stage.time, stage.knowns) = (time, knowns);
        // The point of the start is one that the FMU accepts.
        let plain = stage.knowns.clone();
        stage.shift();
        if stage.renew().is_err() {
            stage.knowns = plain;
            stage.renew()?;
        }
        Ok(stage)
    }

    /// Brings a new instance into the mode; the time of its next event.
    fn begin(&mut self, start: f64) -> HostResult<Option<f64>> {
        self.unit.begin(start)?;
        if self.mode == Mode::Initialization {
            return Ok(None);
        }
        let model = &self.fmu.document.model;
        let n: usize =
            model.structure.derivatives.iter().map(|u| model.n_elements(&model.variables[u.variable]) as usize).sum();
        let mut states = vec![0.0; n];
        let mut place = &mut states[..];
        for state in model.structure.derivatives.iter().filter_map(|u| model.variables[u.variable].derivative) {
            let (own, others) = place.split_at_mut(model.n_elements(&model.variables[state]) as usize);
            // States without a start value are those that the FMU finds.
            if let Some(values) = start_values(model, state) {
                own.copy_from_slice(&values);
            }
            place = others;
        }
        let event = self.unit.event(&Point { n_events: 0, time: start, states: &states, inputs: &[] })?;
        self.states = event.states;
        if self.mode == Mode::Event {
            self.unit.instance().enter_event_mode()?;
        }
        Ok(event.next)
    }

    /// What can be moved in the mode, where it is now.
    fn find_knowns(&mut self) -> Vec<Known> {
        let model = &self.fmu.document.model;
        let mut knowns = Vec::new();
        if self.mode == Mode::Continuous {
            let mut begin = 0;
            for state in model.structure.derivatives.iter().filter_map(|u| model.variables[u.variable].derivative) {
                let n = model.n_elements(&model.variables[state]) as usize;
                let here = self.states[begin..begin + n].to_vec();
                knowns.push(Known { variable: state, how: How::State(begin), moved: here.clone(), here });
                begin += n;
            }
        }
        for (variable, v) in model.variables.iter().enumerate() {
            let is_input = v.causality == Causality::Input;
            let is_continuous = v.variability == Variability::Continuous;
            let is_known = match self.mode {
                Mode::Continuous => is_input && is_continuous,
                Mode::Event => is_input && !is_continuous,
                Mode::Initialization => {
                    let is_exact = v.initial() == Some(Initial::Exact) && v.variability != Variability::Constant;
                    is_input || (is_exact && v.causality != Causality::StructuralParameter)
                }
            };
            if is_known
                && is_number(v.kind)
                && v.clocks.is_empty()
                && let Some(here) = start_values(model, variable)
            {
                knowns.push(Known { variable, how: How::Set, moved: here.clone(), here });
            }
        }
        for known in &mut knowns {
            known.moved = moved(model, known.variable, &known.here, MOVE);
        }
        knowns.retain(|known| known.moved != known.here);
        knowns
    }

    /// Goes a little away from the start, where all is at rest.
    fn shift(&mut self) {
        let model = &self.fmu.document.model;
        for (at, known) in self.knowns.iter_mut().enumerate() {
            let variable = &model.variables[known.variable];
            let is_movable = variable.variability == Variability::Continuous && known.how != How::Time;
            if is_movable && variable.kind.is_float() {
                known.here = moved(model, known.variable, &known.here, SHIFT * (1.0 + 0.1 * (at % 10) as f64));
                known.moved = moved(model, known.variable, &known.here, MOVE);
            }
        }
    }

    /// A new instance at the point of the probe: one that rejects a point may be lost.
    fn renew(&mut self) -> HostResult {
        self.unit = Component::new(self.fmu.clone(), self.kind, "probe", Vec::new(), Vec::new())?;
        self.begin(self.start)?;
        if self.mode == Mode::Continuous {
            self.unit.instance().set_time(self.time)?;
        }
        for at in 0..self.knowns.len() {
            if self.knowns[at].how != How::Time {
                self.put(at, false)?;
            }
        }
        let mut derivatives = vec![0.0; self.states.len()];
        if self.mode == Mode::Initialization { Ok(()) } else { self.unit.instance().derivatives(&mut derivatives) }
    }

    /// Gives a known the value that it has here, or the other one.
    fn put(&mut self, at: usize, is_moved: bool) -> HostResult {
        let known = &self.knowns[at];
        let values = if is_moved { &known.moved } else { &known.here };
        match known.how {
            How::Set => self.unit.instance().set(known.variable, values),
            How::State(begin) => {
                self.states[begin..begin + values.len()].copy_from_slice(values);
                self.unit.instance().set_states(&self.states)
            }
            How::Time if self.mode == Mode::Initialization => {
                // The start of an initialisation that has begun stays.
                self.unit = Component::new(self.fmu.clone(), self.kind, "probe", Vec::new(), Vec::new())?;
                self.begin(values[0])?;
                (0..at).try_for_each(|other| self.put(other, false))
            }
            How::Time => self.unit.instance().set_time(values[0]),
        }
    }

    fn probe(&mut self, rows: &[Row]) -> Diagnostics {
        let model = &self.fmu.clone().document.model;
        let (mut n_readings, mut n_moved) = (0, 0);
        let mut found: BTreeSet<(usize, usize)> = BTreeSet::new();
        let is_asked = |row: &Row, known: usize| !declares(model, row, known);
        let n_asked = |known: &Known| rows.iter().filter(|row| is_asked(row, known.variable)).count();
        let n_all = self.knowns.iter().filter(|known| n_asked(known) > 0).count();
        for at in 0..self.knowns.len() {
            let variable = self.knowns[at].variable;
            let asked: Vec<usize> = (0..rows.len()).filter(|&r| is_asked(&rows[r], variable)).collect();
            if asked.is_empty() {
                continue;
            }
            n_readings += 3 * asked.len();
            if n_readings > MOST_READINGS {
                break;
            }
            n_moved += 1;
            let Ok(changed) = self.changed(at, rows, &asked) else {
                // A point that the FMU rejects says nothing.
                if self.renew().is_err() {
                    break;
                }
                continue;
            };
            found.extend(changed.into_iter().map(|row| (row, at)));
        }
        let mut findings = Diagnostics::new();
        for &(row, at) in &found {
            let (unknown, known) = (rows[row].unknown.variable, self.knowns[at].variable);
            let names = (&*model.variables[unknown].name, &*model.variables[known].name);
            let derived =
                model.variables[unknown].derivative.filter(|_| rows[row].list == List::Derivative && unknown == known);
            findings.push(match derived.map(|state| &model.variables[state].name) {
                Some(state) => diagnostics::undeclared_state(names.0, state, rows[row].span),
                None => diagnostics::undeclared_dependency(names.0, names.1, rows[row].span),
            });
        }
        if n_moved < n_all {
            findings.push(diagnostics::partly_probed(n_moved, n_all));
        }
        findings
    }

    /// The unknowns that change with a known.
    fn changed(&mut self, at: usize, rows: &[Row], asked: &[usize]) -> HostResult<Vec<usize>> {
        self.put(at, false)?;
        let here = self.read(rows, asked)?;
        self.put(at, true)?;
        let there = self.read(rows, asked)?;
        self.put(at, false)?;
        let again = self.read(rows, asked)?;
        let mut changed = Vec::new();
        for (k, &row) in asked.iter().enumerate() {
            let (Some(here), Some(there), Some(again)) = (&here[k], &there[k], &again[k]) else { continue };
            let scalars = here.iter().zip(there).zip(again);
            if scalars.into_iter().any(|((here, there), again)| {
                let seen = SEEN_AT_ZERO + SEEN * here.abs();
                (there - here).abs() > seen.max(ABOVE_NOISE * (again - here).abs())
            }) {
                changed.push(row);
            }
        }
        Ok(changed)
    }

    /// The values of these rows; none where the FMU gives no number.
    fn read(&mut self, rows: &[Row], asked: &[usize]) -> HostResult<Vec<Option<Vec<f64>>>> {
        let n_indicators = self.unit.n_indicators();
        let n_states = self.states.len();
        let instance = self.unit.instance();
        let mut vector = |list: List, n: usize, get: fn(&mut Instance, &mut [f64]) -> HostResult| {
            let mut values = vec![0.0; n];
            let is_asked = asked.iter().any(|&row| rows[row].list == list);
            if is_asked { accepted(get(instance, &mut values).map(|()| values)) } else { Ok(None) }
        };
        let derivatives = vector(List::Derivative, n_states, Instance::derivatives)?;
        let indicators = vector(List::Indicator, n_indicators, Instance::indicators)?;
        let part = |all: &Option<Vec<f64>>, row: &Row| all.as_ref().map(|all| all[row.scalars.clone()].to_vec());
        let mut read = Vec::with_capacity(asked.len());
        for &row in asked {
            let row = &rows[row];
            read.push(match row.list {
                List::Derivative => part(&derivatives, row),
                List::Indicator => part(&indicators, row),
                List::Output | List::Initial => {
                    let mut values = vec![0.0; row.scalars.len()];
                    let instance = self.unit.instance();
                    accepted(instance.get(row.unknown.variable, &mut values).map(|()| values))?
                }
            });
        }
        Ok(read)
    }
}

/// A result that is not a number, or a point that is rejected, leaves the instance as it is.
fn accepted<T>(result: HostResult<T>) -> HostResult<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(HostError::NotANumber { .. } | HostError::Failed { status: Status::Discard, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Does the row name a known? Variables of 2.0 with the same reference are one.
fn declares(model: &ModelDescription, row: &Row, known: usize) -> bool {
    let same = |other: usize| {
        let (a, b) = (&model.variables[other], &model.variables[known]);
        other == known || (model.version == Version::V2 && a.reference == b.reference && a.kind == b.kind)
    };
    let is_itself = row.unknown.variable == known && matches!(row.list, List::Output | List::Initial);
    is_itself || row.unknown.dependencies.iter().flatten().any(|d| same(d.variable))
}

/// The start values of all of its scalars.
fn start_values(model: &ModelDescription, variable: usize) -> Option<Vec<f64>> {
    let variable = &model.variables[variable];
    let values: Vec<f64> = match variable.start.as_ref()? {
        Values::Float(v) => v.clone(),
        Values::Integer(v) => v.iter().map(|&i| i as f64).collect(),
        Values::Boolean(v) => v.iter().map(|&b| f64::from(b)).collect(),
        Values::String(_) | Values::Binary(_) => return None,
    };
    let n = model.n_elements(variable) as usize;
    match values.as_slice() {
        [one] => Some(vec![*one; n]),
        all => (all.len() == n).then_some(values),
    }
}

/// Other values: numbers by a part of their size, whole numbers and enumerations by one, inside of their bounds.
fn moved(model: &ModelDescription, variable: usize, values: &[f64], part: f64) -> Vec<f64> {
    let variable = &model.variables[variable];
    let attributes = model.effective_attributes(variable);
    let bound = |b: Option<saltus_fmi::Number>, none: f64| b.map_or(none, saltus_fmi::Number::as_f64);
    let (min, max) = (bound(attributes.min, f64::NEG_INFINITY), bound(attributes.max, f64::INFINITY));
    let items = variable.declared_type.as_deref().and_then(|name| model.type_definition(name)).map(|t| &t.items);
    let other = |(at, &value): (usize, &f64)| match variable.kind {
        Type::Boolean => 1.0 - value,
        Type::Enumeration => {
            let others = items.into_iter().flatten().map(|item| item.value as f64);
            others.into_iter().find(|&item| item != value).unwrap_or(value)
        }
        kind => {
            let size = value.abs().max(attributes.nominal.map_or(1.0, f64::abs));
            // Elements that are moved by the same may leave a difference as it is.
            let step = if kind.is_float() { part * size * (1.0 + 0.1 * (at % 7) as f64) } else { 1.0 };
            [value + step, value - step].into_iter().find(|v| (min..=max).contains(v)).unwrap_or(value)
        }
    };
    values.iter().enumerate().map(other).collect()
}
