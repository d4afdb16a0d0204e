//! Runs and what they have recorded.

use std::fmt::Write;
use std::sync::Arc;

use saltus::Model;
use saltus::model::Unchangeable;
use saltus::pipeline::{Experiment, Output};
use saltus_check::units::Conversion;
use saltus_program::{Causality, SlotType, Variability, Variable};
use saltus_results::{Format, Kind, Results, Signal, Source};
use saltus_sim::{SinkError, Solver};
use serde_json::{Value, json};

use super::{Answer, internal, ok, parameter, text_of};
use crate::events::{self, Page, number};
use crate::going;
use crate::http::{Request, Response};
use crate::recording::Recording;
use crate::runs::{Run, Wanted};
use crate::series;
use crate::studio::Studio;

/// Lines of the table of events in one answer.
const MOST_EVENTS: usize = 1000;
/// Signals in one answer.
const MOST_SIGNALS: usize = 1000;
/// Values in one answer.
const MOST_VALUES: usize = 20_000_000;
/// Why an element of a structural array cannot be set for a run.
const OF_STRUCTURAL_ARRAY: &str = "an element of an array that decides about the structure: set the array in the text";
/// Runs of one sweep.
const MOST_RUNS: usize = 500;

fn wanted_run(studio: &Studio, id: Option<u64>) -> Result<Arc<Run>, (u16, String)> {
    id.and_then(|id| studio.runs.get(id)).ok_or_else(|| (404, "there is no such run".into()))
}

pub(super) fn run_of_request(studio: &Studio, request: &Request) -> Result<Arc<Run>, (u16, String)> {
    wanted_run(studio, parameter(request, "run")?.parse().ok())
}

fn run_of_body(studio: &Studio, body: &Value) -> Result<Arc<Run>, (u16, String)> {
    wanted_run(studio, body["run"].as_u64())
}

/// Parameters of a run with the values that hold, and the settings of the experiment. Which there are may depend on values on which the
/// structure depends: those are given as `values`.
pub fn parameters(studio: &Arc<Studio>, request: &Request) -> Answer {
    let class = parameter(request, "class")?;
    let given: Value = request.parameter("values").map_or(Ok(Value::Null), serde_json::from_str).unwrap_or_default();
    let model = match studio.compile(class, &pairs(&given)?) {
        Ok((model, _)) => model,
        Err(messages) => return ok(&json!({"messages": messages})),
    };
    let settings = Experiment::default().settings(model.program());
    // Initialised once, because parameters may be computed from others.
    let recording = Recording::default();
    let mut simulation = saltus::Simulation::with(
        model.clone(),
        &Experiment::default(),
        saltus::pipeline::Engine::Interpreter,
        studio.target.permissions(),
    );
    simulation.set_sink(Box::new(recording.clone()));
    let _ = saltus::guard::catch(|| simulation.initialise());
    let kept = recording.look();
    let value = |name: &str| kept.parameters.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
    let is_wanted = |v: &Variable| {
        let is_parameter = v.variability == Variability::Parameter || v.causality == Causality::Input;
        is_parameter && !v.is_protected
    };
    let line = |v: Variable| {
        let name = v.name();
        let (is_structural, fixed) = match model.changeable(&name) {
            Ok(_) => (false, None),
            // An element cannot be modified by itself.
            Err(Unchangeable::Structural) if name.ends_with(']') => (true, Some(OF_STRUCTURAL_ARRAY)),
            Err(Unchangeable::Structural) => (true, None),
            Err(Unchangeable::Final) => (false, Some("final")),
            Err(_) => return None,
        };
        let literals = literals(&model, &v);
        let display = conversion(&v.unit, &v.display_unit, v.is_difference);
        Some(json!({
            "name": name, "description": v.description, "unit": v.unit, "value": value(&name).or(v.start).map(number),
            "kind": kind(v.ty), "literals": literals, "input": v.causality == Causality::Input,
            "min": v.min, "max": v.max, "display": display, "structural": is_structural, "fixed": fixed,
        }))
    };
    let all: Vec<Value> = model.variables().iter().filter(is_wanted).filter_map(line).collect();
    let solvers: Vec<&str> = Solver::NAMES.iter().map(|(name, _)| *name).collect();
    ok(&json!({
        "parameters": all, "solvers": solvers,
        "settings": {
            "start": settings.start_time, "stop": settings.stop_time, "interval": settings.interval, "tolerance": settings.tolerance,
        },
    }))
}

fn kind(ty: SlotType) -> &'static str {
    kind_name(saltus::results::kind(ty))
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Real => "real",
        Kind::Integer => "integer",
        Kind::Boolean => "boolean",
        Kind::Enumeration => "enumeration",
    }
}

fn literals(model: &Model, variable: &Variable) -> Option<Vec<String>> {
    let id = variable.enumeration?;
    model.program().routines.enumerations.get(id).map(|e| e.literals.clone())
}

/// The unit of display with factor and offset, if there is one.
pub(super) fn conversion(unit: &str, display: &str, is_difference: bool) -> Option<Value> {
    let to = Conversion::for_display(unit, display, is_difference)?;
    Some(json!({"unit": display, "factor": to.factor, "offset": to.offset}))
}

fn pairs(value: &Value) -> Result<Vec<(String, String)>, (u16, String)> {
    let wrong = || (400, "expected pairs of name and value".to_owned());
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    let all = value.as_array().map_or(&[][..], Vec::as_slice);
    all.iter().map(|p| pair(p).ok_or_else(wrong)).collect()
}

fn experiment(body: &Value) -> Result<Experiment, (u16, String)> {
    let settings = &body["settings"];
    let number = |name: &str| settings[name].as_f64();
    let solver = match settings["solver"].as_str() {
        None | Some("") => Solver::default(),
        Some(name) => Solver::from_name(name).ok_or_else(|| (400, format!("there is no solver `{name}`")))?,
    };
    Ok(Experiment {
        start_time: number("start"),
        stop_time: number("stop"),
        tolerance: number("tolerance"),
        output: number("interval").filter(|i| *i > 0.0).map(Output::Interval),
        solver,
        ..Experiment::default()
    })
}

/// Names of parameters and a row of values for each run: `{"names": […], "rows": [[…], …]}`, or `{"name": …, "values": […]}` for one.
type Variations = (Vec<String>, Vec<Vec<String>>);

fn variations(vary: &Value) -> Result<Option<Variations>, (u16, String)> {
    if vary.is_null() {
        return Ok(None);
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (names, rows) = match vary["name"].is_null() {
        false => (vec![vary["name"].clone()], list(&vary["values"]).into_iter().map(|v| vec![v]).collect()),
        true => (list(&vary["names"]), list(&vary["rows"]).iter().map(list).collect::<Vec<_>>()),
    };
    let wrong = || (400, "expected names, and as many values in every row".to_owned());
    let names: Vec<String> =
        names.iter().map(|n| n.as_str().map(str::to_owned)).collect::<Option<_>>().ok_or_else(wrong)?;
    if rows.is_empty() || rows.len() > MOST_RUNS {
        return Err((400, format!("expected 1 to {MOST_RUNS} values")));
    }
    if names.is_empty() || rows.iter().any(|row| row.len() != names.len()) {
        return Err(wrong());
    }
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    Ok(Some((names, rows.iter().map(|row| row.iter().map(text).collect()).collect())))
}

/// Starts a run, or one for each value of a parameter or row of values of several.
pub fn run(studio: &Arc<Studio>, body: &Value) -> Answer {
    let class = text_of(body, "class")?.to_owned();
    let (values, experiment) = (pairs(&body["values"])?, experiment(body)?);
    let live = body["live"].as_f64().filter(|factor| *factor > 0.0 && factor.is_finite());
    let one = Wanted { class, experiment, values, group: None, live, profile: body["profile"] == true };
    let wanted = match variations(&body["vary"])? {
        None => vec![one],
        Some((names, rows)) => {
            let group = Some(format!("{} · {}", names.join(", "), studio.runs.all().len() + 1));
            let of = |row: Vec<String>| {
                let mut values = one.values.clone();
                values.retain(|(other, _)| !names.contains(other));
                values.extend(names.iter().cloned().zip(row));
                Wanted { values, group: group.clone(), ..one.clone() }
            };
            rows.into_iter().map(of).collect()
        }
    };
    let described: Vec<Value> = begin(studio, wanted)?.iter().map(|run| run.describe()).collect();
    ok(&json!({"runs": described}))
}

/// Begins runs: one by itself, several on all processors.
pub(super) fn begin(studio: &Arc<Studio>, wanted: Vec<Wanted>) -> Result<Vec<Arc<Run>>, (u16, String)> {
    let runs: Vec<Arc<Run>> = wanted.iter().map(|wanted| studio.runs.add(wanted)).collect();
    let mut queue: Vec<(Arc<Run>, Wanted)> = runs.iter().cloned().zip(wanted).collect();
    let around = studio.around.clone();
    let cannot = |error: std::io::Error| (500, format!("no thread for the run: {error}"));
    if queue.len() == 1
        && let Some((run, wanted)) = queue.pop()
    {
        let (studio, class, values) = (studio.clone(), wanted.class.clone(), wanted.values.clone());
        going::start(run, wanted, around, move || studio.compile(&class, &values)).map_err(cannot)?;
    } else {
        let studio = studio.clone();
        going::start_all(queue, around, move |wanted| studio.compile(&wanted.class, &wanted.values)).map_err(cannot)?;
    }
    Ok(runs)
}

/// Takes the bytes of a file of results as a run: its curves lie over those of the model.
pub fn reference(studio: &Arc<Studio>, request: &Request) -> Answer {
    let name = parameter(request, "name")?;
    let path = std::path::Path::new(name);
    let format = Format::of(path).ok_or_else(|| (400, "expected a file .csv, .mat or .parquet".to_owned()))?;
    let title = path.file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let unreadable = |why: &str| (400, format!("`{name}` cannot be read: {why}"));
    let read = saltus::guard::catch(|| Results::read(&request.body, format, &title));
    let results = read.map_err(|_| internal())?.map_err(|error| unreadable(&error.message))?;
    let run = studio.runs.add_reference(name, &results).map_err(|error| match error {
        SinkError::TooLarge { .. } => unreadable("it is too large"),
        SinkError::Failed(why) => unreadable(&why),
    })?;
    if let Some(archive) = &studio.around.archive {
        archive.keep(&run);
    }
    studio.hub().publish(&json!({"type": "run", "run": run.describe()}));
    ok(&json!({"run": run.describe()}))
}

pub fn cancel(studio: &Arc<Studio>, body: &Value) -> Answer {
    run_of_body(studio, body)?.cancel();
    ok(&json!({}))
}

pub fn remove(studio: &Arc<Studio>, body: &Value) -> Answer {
    let id = run_of_body(studio, body)?.id;
    studio.runs.remove(id);
    if let Some(archive) = &studio.around.archive {
        archive.forget(id);
    }
    studio.hub().publish(&json!({"type": "removed", "run": id}));
    ok(&json!({}))
}

/// A value in a live run, or its speed.
pub fn set(studio: &Arc<Studio>, body: &Value) -> Answer {
    let run = run_of_body(studio, body)?;
    let value = body["value"].as_f64().ok_or_else(|| (400, "expected a number `value`".to_owned()))?;
    let is_done = match body["name"].as_str() {
        Some(name) => run.set(name, value),
        None if value > 0.0 => run.set_speed(value),
        None => return Err((400, "expected a positive speed".into())),
    };
    if is_done { ok(&json!({})) } else { Err((409, "the run is not live any more".into())) }
}

/// All variables of a run with what is known about them.
pub fn variables(studio: &Arc<Studio>, request: &Request) -> Answer {
    let run = run_of_request(studio, request)?;
    let Some(model) = run.model.get() else {
        let texts = run.details().map(|details| &details.texts);
        return ok(&json!({"variables": columns_alone(&run), "texts": texts}));
    };
    let (columns, parameters) = {
        let kept = run.recording().look();
        (kept.columns(), kept.parameters.clone())
    };
    let line = |name: &str, ty: Option<SlotType>, value: Option<f64>| {
        let Ok(v) = model.variable(name) else {
            return json!({"name": name, "kind": kind(ty.unwrap_or(SlotType::Real)), "value": value.map(number)});
        };
        json!({
            "name": name, "kind": kind(v.ty), "unit": v.unit, "description": v.description, "display": conversion(&v.unit, &v.display_unit, v.is_difference),
            "difference": v.is_difference, "literals": literals(model, &v), "value": value.map(number), "hidden": v.is_hidden || v.is_protected,
            "settable": model.changeable(name).is_ok(),
        })
    };
    let signals = columns.iter().map(|(name, ty)| line(name, Some(*ty), None));
    let constants = parameters.iter().map(|(name, value)| line(name, None, Some(*value)));
    let texts: serde_json::Map<String, Value> =
        model.texts().map(|(name, text)| (name.to_owned(), json!(text))).collect();
    ok(&json!({"variables": signals.chain(constants).collect::<Vec<_>>(), "texts": texts}))
}

/// Without a model the table says what its columns are.
fn columns_alone(run: &Run) -> Vec<Value> {
    let is_hidden = |name: &str| run.details().is_some_and(|details| details.hidden.contains(name));
    let line = |signal: &Signal| {
        let value = match signal.source {
            Source::Constant(value) => Some(number(value)),
            Source::Column { .. } => None,
        };
        json!({
            "name": signal.name, "kind": kind_name(signal.kind), "unit": signal.unit, "description": signal.description,
            "display": conversion(&signal.unit, &signal.display_unit, signal.is_difference), "value": value, "hidden": is_hidden(&signal.name),
            "literals": (!signal.literals.is_empty()).then_some(&signal.literals),
        })
    };
    run.recording().look().signals.iter().map(line).collect()
}

/// A header in JSON with its length in front, then numbers: what a page reads without parsing a million texts.
fn binary(header: &Value, numbers: &[f64]) -> Answer {
    let mut text = header.to_string();
    while !(4 + text.len()).is_multiple_of(8) {
        text.push(' ');
    }
    let mut body = (text.len() as u32).to_le_bytes().to_vec();
    body.extend_from_slice(text.as_bytes());
    body.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    Ok(Response::bytes("application/octet-stream", body))
}

/// What makes a signal of a run one in the unit that the page asks for in `units`, which has no offset where one of the two is a difference.
/// `Err` says which units do not fit. Where one of the two is not known the numbers stay as they are.
fn in_unit(run: &Run, body: &Value, name: &str) -> Result<Option<Conversion>, Value> {
    let Some(wanted) = body["units"][name].as_str().filter(|unit| !unit.is_empty()) else { return Ok(None) };
    let known = match run.model.get() {
        Some(model) => model.variable(name).ok().map(|v| (v.unit.clone(), v.is_difference)),
        None => {
            let kept = run.recording().look();
            kept.signals.iter().find(|s| s.name == name).map(|s| (s.unit.clone(), s.is_difference))
        }
    };
    let Some((known, is_difference)) = known.filter(|(unit, _)| !unit.is_empty() && unit != wanted) else {
        return Ok(None);
    };
    let is_difference =
        is_difference || body["differences"].as_array().is_some_and(|all| all.iter().any(|n| n == name));
    match Conversion::between(&known, wanted) {
        Some(to) => Ok(Some(if is_difference { to.of_differences() } else { to })),
        None => Err(json!({"name": name, "unit": known, "wanted": wanted})),
    }
}

/// Values of a signal in the unit that was asked for.
fn converted(values: Arc<Vec<f64>>, to: Option<Conversion>) -> Arc<Vec<f64>> {
    match to {
        None => values,
        Some(to) => Arc::new(values.iter().map(|value| to.apply(*value)).collect()),
    }
}

fn names(body: &Value) -> Result<Vec<&str>, (u16, String)> {
    let all: Vec<&str> = body["names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if all.len() > MOST_SIGNALS { Err((400, format!("expected at most {MOST_SIGNALS} signals"))) } else { Ok(all) }
}

/// Points of signals for a part of the time span, and marks of events.
pub fn series(studio: &Arc<Studio>, body: &Value) -> Answer {
    let run = run_of_body(studio, body)?;
    let names = names(body)?;
    let columns = body["columns"].as_u64().unwrap_or(1000) as usize;
    let units: Vec<_> = names.iter().map(|name| in_unit(&run, body, name)).collect();
    let mut kept = run.recording().look();
    let times = kept.times();
    let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(1.0));
    let (from, to) = (body["from"].as_f64().unwrap_or(first), body["to"].as_f64().unwrap_or(last));
    let mut signals = Vec::new();
    let mut numbers = Vec::new();
    let mut refused = Vec::new();
    for (name, unit) in names.into_iter().zip(units) {
        let unit = match unit {
            Ok(unit) => unit,
            Err(why) => {
                refused.push(why);
                continue;
            }
        };
        let Some((_, values)) = kept.values(name) else { continue };
        let mut points = series::decimate(&times, &values, from, to, columns);
        if let Some(to) = unit {
            points.iter_mut().skip(1).step_by(2).for_each(|value| *value = to.apply(*value));
        }
        signals.push(json!({"name": name, "offset": numbers.len(), "count": points.len() / 2}));
        numbers.extend(points);
    }
    let marks = events::marks(&kept.events, from, to, columns);
    let header = json!({
        "signals": signals, "rows": times.len(), "first": first, "last": last,
        "marks": {"offset": numbers.len(), "count": marks.len() / 2}, "refused": refused,
    });
    numbers.extend(marks);
    drop(kept);
    binary(&header, &numbers)
}

/// Values of signals at equal distances, for animations, or as pairs of two signals for x–y.
pub fn values(studio: &Arc<Studio>, body: &Value) -> Answer {
    let run = run_of_body(studio, body)?;
    let names = names(body)?;
    let units: Vec<_> = names.iter().map(|name| in_unit(&run, body, name)).collect();
    let mut kept = run.recording().look();
    let times = kept.times();
    let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
    let (from, to) = (body["from"].as_f64().unwrap_or(first), body["to"].as_f64().unwrap_or(last));
    let n = body["count"].as_u64().unwrap_or(600).clamp(1, 100_000) as usize;
    if n * names.len() > MOST_VALUES {
        return Err((413, "too many values".into()));
    }
    let step = if n > 1 { (to - from) / (n - 1) as f64 } else { 0.0 };
    let at: Vec<f64> = (0..n).map(|i| if i + 1 == n { to } else { from + step * i as f64 }).collect();
    let mut known = Vec::new();
    let mut numbers = at.clone();
    for (name, unit) in names.into_iter().zip(units) {
        let (Ok(unit), Some((ty, values))) = (unit, kept.values(name)) else { continue };
        known.push(name);
        let values = converted(values, unit);
        numbers.extend(series::sample(&times, &values, &at, ty != SlotType::Real));
    }
    drop(kept);
    binary(&json!({"names": known, "count": n}), &numbers)
}

/// Rows of signals as comma-separated values, all of them or those of a part of the time span.
pub fn table(studio: &Arc<Studio>, body: &Value) -> Answer {
    let run = run_of_body(studio, body)?;
    let names = names(body)?;
    let mut kept = run.recording().look();
    let times = kept.times();
    let mut columns = Vec::new();
    let mut text = "time".to_owned();
    for name in names {
        if let Some((_, values)) = kept.values(name) {
            let _ = write!(text, ",\"{}\"", name.replace('"', "\"\""));
            columns.push(values);
        }
    }
    drop(kept);
    text.push('\n');
    let (from, to) = (body["from"].as_f64().unwrap_or(f64::MIN), body["to"].as_f64().unwrap_or(f64::MAX));
    for (i, time) in times.iter().enumerate().filter(|(_, t)| (from..=to).contains(t)) {
        let _ = write!(text, "{time}");
        for values in &columns {
            let _ = write!(text, ",{}", values[i]);
        }
        text.push('\n');
    }
    Ok(Response::bytes("text/csv; charset=utf-8", text.into_bytes()))
}

/// A number for each run and signal: the value at the end, the lowest and the highest one.
pub fn numbers(studio: &Arc<Studio>, body: &Value) -> Answer {
    let name = text_of(body, "name")?;
    let ids = body["runs"].as_array().map_or(&[][..], Vec::as_slice);
    if ids.len() > MOST_RUNS {
        return Err((400, format!("expected at most {MOST_RUNS} runs")));
    }
    let mut lines = Vec::new();
    for run in ids.iter().filter_map(|id| studio.runs.get(id.as_u64()?)) {
        let values = run.recording().look().values(name).map(|(_, values)| values);
        let known = || values.iter().flat_map(|values| values.iter().copied()).filter(|value| !value.is_nan());
        let end = values.as_ref().and_then(|values| values.last().copied());
        lines.push(json!({
            "run": run.id, "final": end.map(number), "minimum": known().reduce(f64::min).map(number),
            "maximum": known().reduce(f64::max).map(number),
        }));
    }
    ok(&json!({"numbers": lines}))
}

pub fn events(studio: &Arc<Studio>, request: &Request) -> Answer {
    let run = run_of_request(studio, request)?;
    let number = |name: &str, usual: usize| request.parameter(name).and_then(|n| n.parse().ok()).unwrap_or(usual);
    let limit = number("limit", 200).min(MOST_EVENTS);
    let filter = request.parameter("filter").unwrap_or("");
    let kept = run.recording().look();
    let mut page =
        events::page(&kept.events, &Page { filter, offset: number("offset", 0), limit }, &|span| run.place(span));
    // Where a time is in the table, to go there from a picture.
    if let Some(time) = request.parameter("at").and_then(|t| t.parse::<f64>().ok()) {
        page["at"] = json!(kept.events.partition_point(|e| e.time < time));
    }
    ok(&page)
}
