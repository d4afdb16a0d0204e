//! The functions of `Saltus.FMI`, on units that a simulation has opened.
//!
//! In: the arguments of an external call, in the order of the Modelica functions. Out: its results, written into the arguments that
//! are outputs or returned.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_eval::{ForeignCall, Items, Object, Reached, Value};
use saltus_flat::BaseType;
use saltus_fmi::{Causality, Kind, Type};
use saltus_fmi_host::{Component, Fmu, HostError, Input, Point};

/// A time that never comes, for a next event that there is not.
const NEVER: f64 = 1e60;
/// Third root of the rounding error, which is best for central differences.
const RELATIVE_STEP: f64 = 6e-6;

/// The units of a run, by handle.
#[derive(Default)]
pub struct Units {
    open: BTreeMap<usize, Component>,
    /// Archives that were opened, by their bytes' file name: instances of one share its files.
    archives: BTreeMap<String, Arc<Fmu>>,
    n_opened: usize,
}

impl Units {
    /// The constructor; `bytes` are those of the file that is its first argument.
    pub fn open(&mut self, call: &ForeignCall, arguments: &[Value], bytes: Vec<u8>) -> Reached<Option<Value>> {
        let Some(BaseType::ExternalObject(class)) = call.result else { return Err(mismatch(call)) };
        let [file, token, name, kind, variables, values, string_variables, strings] = arguments else {
            return Err(mismatch(call));
        };
        let file = text(file)?;
        let fmu = match self.archives.get(file) {
            Some(fmu) => fmu.clone(),
            None => {
                let opened = saltus_fmi::open(file, &bytes).map_err(|u| u.diagnostic.message)?;
                if opened.document.findings.has_errors() {
                    return Err(format!("the description of `{file}` has errors; `saltus fmu check` lists them"));
                }
                Arc::new(Fmu::new(opened, bytes))
            }
        };
        let model = &fmu.document.model;
        if model.token != text(token)? {
            return Err(format!(
                "`{file}` has the token `{}`, and the wrapper was written for `{}`; import the FMU again",
                model.token,
                text(token)?
            ));
        }
        let kind = match integer(kind)? {
            2 => Kind::CoSimulation,
            3 => Kind::ScheduledExecution,
            _ => Kind::ModelExchange,
        };
        let numbers = reals(values)?;
        let mut rest = &numbers[..];
        let mut parameters = Vec::new();
        let variables = indices(variables)?;
        // Structural parameters, which come first, give the others their sizes.
        let is_structural =
            |v: &&usize| model.variables.get(**v).is_some_and(|v| v.causality == Causality::StructuralParameter);
        let n_structural = variables.iter().take_while(is_structural).count();
        let structure: Vec<(usize, Vec<f64>)> =
            variables.iter().zip(&numbers).take(n_structural).map(|(&v, &x)| (v, vec![x])).collect();
        let sized = (n_structural > 0).then(|| model.with_structure(&structure));
        let model = sized.as_ref().unwrap_or(model);
        for variable in variables {
            let n = model.variables.get(variable).map_or(1, |v| model.n_elements(v) as usize);
            let Some((own, others)) = rest.split_at_checked(n) else { return Err(mismatch(call)) };
            parameters.push((variable, own.to_vec()));
            rest = others;
        }
        let texts = texts(strings)?;
        let strings = indices(string_variables)?.into_iter().zip(texts).map(|(v, s)| (v, vec![s])).collect();
        let component = Component::new(fmu.clone(), kind, text(name)?, parameters, strings).map_err(told)?;
        self.archives.insert(file.to_owned(), fmu);
        self.n_opened += 1;
        self.open.insert(self.n_opened, component);
        Ok(Some(Value::Object(Object::foreign(class, self.n_opened))))
    }

    pub fn call(&mut self, call: &ForeignCall, arguments: &mut [Value]) -> Reached<Option<Value>> {
        let handle = match arguments.first() {
            Some(Value::Object(object)) => object.address(),
            _ => None,
        };
        let handle = handle.ok_or_else(|| mismatch(call))?;
        if call.name == "saltus_fmu_close" {
            self.open.remove(&handle);
            return Ok(None);
        }
        let unit = self.open.get_mut(&handle).ok_or("the FMU has been closed")?;
        let (given, results) =
            arguments.split_at_mut(call.is_output.iter().position(|o| *o).unwrap_or(arguments.len()));
        match call.name {
            "saltus_fmu_present" => Ok(Some(Value::Real(present(unit, given)?))),
            "saltus_fmu_present_integer" => Ok(Some(Value::Integer(present(unit, given)?.round() as i64))),
            "saltus_fmu_present_boolean" => Ok(Some(Value::Boolean(present(unit, given)? != 0.0))),
            "saltus_fmu_number" => Ok(Some(Value::Real(number(unit, given)?))),
            "saltus_fmu_integer" => Ok(Some(Value::Integer(number(unit, given)?.round() as i64))),
            "saltus_fmu_boolean" => Ok(Some(Value::Boolean(number(unit, given)? != 0.0))),
            "saltus_fmu_derivatives" => derivatives(unit, given, results),
            "saltus_fmu_derivatives_along" => derivatives_along(unit, given, results),
            "saltus_fmu_indicators" => indicators(unit, given, results),
            "saltus_fmu_event" => event(unit, given, results),
            "saltus_fmu_step" => step(unit, given, results),
            "saltus_fmu_activate" => activate(unit, given, results),
            "saltus_fmu_ticks" => Ok(Some(Value::Integer(ticks(unit, given)?))),
            _ => Err(mismatch(call)),
        }
    }
}

/// What happens to units as a whole.
impl Units {
    pub fn watch_steps(&self) -> bool {
        self.open.values().any(Component::watches_steps)
    }

    /// A step has ended at the present point; true if a unit wants an event.
    pub fn end_step(&mut self, time: f64) -> bool {
        // Every one of them is told.
        let wanting = self.open.values_mut().filter_map(|unit| unit.end_step(time).then_some(()));
        wanting.count() > 0
    }

    /// The state of a unit, if there is one under this handle; an error if it cannot be saved.
    pub fn save(&self, handle: usize) -> Option<Reached<Vec<u8>>> {
        self.open.get(&handle).map(|unit| unit.save().map_err(told))
    }

    pub fn restore(&mut self, handle: usize, state: &[u8]) -> Reached {
        self.open.get_mut(&handle).ok_or("the FMU has been closed")?.restore(state).map_err(told)
    }
}

fn told(error: HostError) -> String {
    error.to_string()
}

fn mismatch(call: &ForeignCall) -> String {
    format!("`{}` is not called as `Saltus.FMI` does", call.name)
}

fn text(value: &Value) -> Reached<&str> {
    value.as_str().ok_or_else(|| "expected a String".to_owned())
}

fn integer(value: &Value) -> Reached<i64> {
    match value {
        Value::Integer(i) => Ok(*i),
        _ => Err("expected an Integer".to_owned()),
    }
}

fn real(value: &Value) -> Reached<f64> {
    value.as_real().ok_or_else(|| "expected a Real".to_owned())
}

fn reals(value: &Value) -> Reached<Vec<f64>> {
    let Value::Array(array) = value else { return Err("expected an array".to_owned()) };
    match array.items() {
        Items::Real(items) => Ok(items.to_vec()),
        Items::Integer(items) => Ok(items.iter().map(|&i| i as f64).collect()),
        // An empty array has no type of its own.
        items if items.is_empty() => Ok(Vec::new()),
        _ => Err("expected an array of numbers".to_owned()),
    }
}

fn texts(value: &Value) -> Reached<Vec<String>> {
    let Value::Array(array) = value else { return Err("expected an array".to_owned()) };
    match array.items() {
        Items::String(items) => Ok(items.iter().map(|s| s.to_string()).collect()),
        items if items.is_empty() => Ok(Vec::new()),
        _ => Err("expected an array of texts".to_owned()),
    }
}

/// Numbers of variables, which count from 1, as indices.
fn indices(value: &Value) -> Reached<Vec<usize>> {
    reals(value)?.into_iter().map(|n| index(n as i64)).collect()
}

fn index(number: i64) -> Reached<usize> {
    usize::try_from(number - 1).map_err(|_| format!("there is no variable number {number}"))
}

/// A point as the functions get it, with storage for what it refers to.
struct Given {
    n_events: i64,
    time: f64,
    states: Vec<f64>,
    inputs: Vec<(usize, Vec<f64>)>,
}

impl Given {
    /// From the values behind the unit.
    fn new(unit: &Component, [n, t, x, inputs, u]: [&Value; 5]) -> Reached<Given> {
        Ok(Given {
            n_events: integer(n)?,
            time: real(t)?,
            states: reals(x)?,
            inputs: split(unit, &indices(inputs)?, &reals(u)?)?,
        })
    }

    fn with<R>(&self, act: impl FnOnce(&Point) -> R) -> R {
        let inputs = as_inputs(&self.inputs);
        act(&Point { n_events: self.n_events, time: self.time, states: &self.states, inputs: &inputs })
    }
}

fn as_inputs(inputs: &[(usize, Vec<f64>)]) -> Vec<Input<'_>> {
    inputs.iter().map(|(variable, values)| Input { variable: *variable, values }).collect()
}

/// Values of all inputs one behind the other, by variable.
fn split(unit: &Component, variables: &[usize], values: &[f64]) -> Reached<Vec<(usize, Vec<f64>)>> {
    let model = unit.model();
    let mut rest = values;
    let mut inputs = Vec::with_capacity(variables.len());
    for &variable in variables {
        let n = model.variables.get(variable).map_or(1, |v| model.n_elements(v) as usize);
        let (own, others) = rest.split_at_checked(n).ok_or("there are fewer values than inputs")?;
        inputs.push((variable, own.to_vec()));
        rest = others;
    }
    Ok(inputs)
}

fn number(unit: &mut Component, given: &[Value]) -> Reached<f64> {
    let [_, n, t, x, inputs, u, variable, element] = given else { return Err("too few arguments".to_owned()) };
    let point = Given::new(unit, [n, t, x, inputs, u])?;
    let (variable, element) = (index(integer(variable)?)?, index(integer(element)?)?);
    point.with(|point| unit.number(point, variable, element)).map_err(told)
}

fn present(unit: &mut Component, given: &[Value]) -> Reached<f64> {
    let [_, _, start, variable, element] = given else { return Err("too few arguments".to_owned()) };
    let (variable, element) = (index(integer(variable)?)?, index(integer(element)?)?);
    unit.begin(real(start)?).map_err(told)?;
    unit.present_number(variable, element).map_err(told)
}

fn derivatives(unit: &mut Component, given: &[Value], results: &mut [Value]) -> Reached<Option<Value>> {
    let ([_, n, t, x, inputs, u], [dx]) = (given, results) else { return Err("too few arguments".to_owned()) };
    let point = Given::new(unit, [n, t, x, inputs, u])?;
    let mut values = vec![0.0; point.states.len()];
    point.with(|point| unit.derivatives(point, &mut values)).map_err(told)?;
    *dx = vector(values)?;
    Ok(None)
}

fn vector(values: Vec<f64>) -> Reached<Value> {
    Value::from_parts(vec![values.len()], Items::Real(values)).ok_or_else(|| "a vector cannot be made".to_owned())
}

fn indicators(unit: &mut Component, given: &[Value], results: &mut [Value]) -> Reached<Option<Value>> {
    let ([_, n, t, x, inputs, u], [z]) = (given, results) else { return Err("too few arguments".to_owned()) };
    let point = Given::new(unit, [n, t, x, inputs, u])?;
    let mut values = vec![0.0; reals(z)?.len()];
    point.with(|point| unit.indicators(point, &mut values)).map_err(told)?;
    *z = vector(values)?;
    Ok(None)
}

/// By the FMU where it can and by differences elsewhere, also along time.
fn derivatives_along(unit: &mut Component, given: &[Value], results: &mut [Value]) -> Reached<Option<Value>> {
    let ([_, n, t, x, inputs, u, dt, dx, du], [out]) = (given, results) else {
        return Err("too few arguments".to_owned());
    };
    let point = Given::new(unit, [n, t, x, inputs, u])?;
    let variables: Vec<usize> = point.inputs.iter().map(|(v, _)| *v).collect();
    let direction = Given {
        n_events: point.n_events,
        time: real(dt)?,
        states: reals(dx)?,
        inputs: split(unit, &variables, &reals(du)?)?,
    };
    let mut result = vec![0.0; point.states.len()];
    let has_own = unit.model().model_exchange.as_ref().is_some_and(|me| me.interface.directional_derivatives);
    if has_own && direction.time == 0.0 {
        // Seeds of inputs that do not move need not be passed, and only floating-point inputs can move.
        let moving: Vec<Input> = as_inputs(&direction.inputs)
            .into_iter()
            .filter(|i| i.values.iter().any(|v| *v != 0.0))
            .filter(|i| unit.model().variables.get(i.variable).is_some_and(|v| v.kind == Type::Float64))
            .collect();
        point.with(|at| unit.directional(at, &direction.states, &moving, &mut result)).map_err(told)?;
    } else {
        difference(unit, &point, &direction, &mut result)?;
    }
    *out = vector(result)?;
    Ok(None)
}

/// Central difference along a direction.
fn difference(unit: &mut Component, point: &Given, direction: &Given, result: &mut [f64]) -> Reached {
    let pairs = point.states.iter().zip(&direction.states);
    let inputs = point.inputs.iter().zip(&direction.inputs).flat_map(|((_, x), (_, d))| x.iter().zip(d));
    let moving = pairs.chain(inputs).chain([(&point.time, &direction.time)]).filter(|(_, d)| **d != 0.0);
    let size = moving.map(|(x, d)| x.abs().max(1e-3) / d.abs()).fold(f64::INFINITY, f64::min);
    if !size.is_finite() {
        return Ok(());
    }
    let h = RELATIVE_STEP * size;
    let mut at = |h: f64, values: &mut [f64]| {
        let moved = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + h * d).collect::<Vec<f64>>();
        let inputs = point.inputs.iter().zip(&direction.inputs);
        let there = Given {
            n_events: point.n_events,
            time: point.time + h * direction.time,
            states: moved(&point.states, &direction.states),
            inputs: inputs.map(|((v, x), (_, d))| (*v, moved(x, d))).collect(),
        };
        there.with(|there| unit.derivatives(there, values)).map_err(told)
    };
    let mut before = vec![0.0; result.len()];
    at(h, result)?;
    at(-h, &mut before)?;
    result.iter_mut().zip(&before).for_each(|(after, before)| *after = (*after - before) / (2.0 * h));
    Ok(())
}

fn event(unit: &mut Component, given: &[Value], results: &mut [Value]) -> Reached<Option<Value>> {
    let ([_, n, t, x, inputs, u], [n1, next, stop, x1]) = (given, results) else {
        return Err("too few arguments".to_owned());
    };
    let point = Given::new(unit, [n, t, x, inputs, u])?;
    let event = point.with(|point| unit.event(point)).map_err(told)?;
    *n1 = Value::Integer(point.n_events + 1);
    *next = Value::Real(event.next.unwrap_or(NEVER));
    *stop = Value::Boolean(event.terminate);
    *x1 = vector(event.states)?;
    Ok(None)
}

fn step(unit: &mut Component, given: &[Value], results: &mut [Value]) -> Reached<Option<Value>> {
    let ([_, n, t, h, inputs, u], [n1, next, stop]) = (given, results) else {
        return Err("too few arguments".to_owned());
    };
    let none = Value::from_parts(vec![0], Items::Real(Vec::new())).ok_or("a vector cannot be made")?;
    let point = Given::new(unit, [n, t, &none, inputs, u])?;
    let step = point.with(|point| unit.step(point, real(h)?).map_err(told))?;
    *n1 = Value::Integer(point.n_events + 1);
    *next = Value::Real(step.next);
    *stop = Value::Boolean(step.terminate);
    Ok(None)
}

fn activate(unit: &mut Component, given: &[Value], results: &mut [Value]) -> Reached<Option<Value>> {
    let ([_, n, t, x, inputs, u], [n1, next, stop]) = (given, results) else {
        return Err("too few arguments".to_owned());
    };
    let point = Given::new(unit, [n, t, x, inputs, u])?;
    let event = point.with(|point| unit.activate(point)).map_err(told)?;
    *n1 = Value::Integer(point.n_events + 1);
    *next = Value::Real(event.next.unwrap_or(NEVER));
    *stop = Value::Boolean(event.terminate);
    Ok(None)
}

fn ticks(unit: &mut Component, given: &[Value]) -> Reached<i64> {
    let [_, _, start, clock] = given else { return Err("too few arguments".to_owned()) };
    unit.begin(real(start)?).map_err(told)?;
    unit.ticks(index(integer(clock)?)?).map_err(told)
}
