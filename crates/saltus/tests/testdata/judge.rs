//! Runs one model and compares it with what its file expects.

use std::path::Path;

use saltus::pipeline::{self, Engine, Options, Outcome, Stage};
use saltus::render::{self, Style};
use saltus::{Session, guard};
use saltus_base::{Diagnostic, Diagnostics, Severity, SourceMap};
use saltus_library::ClassId;
use saltus_sim::{EventCause, EventRecord, Trajectory};

use crate::expectation::{self, Expectation, Message, Sample};

/// What is wrong with the model, one text each; nothing if all is as expected.
pub fn judge(root: &Path, file: &Path, update: bool) -> Vec<String> {
    let judged = guard::on_large_stack(|| judge_here(root, file, update));
    judged.unwrap_or_else(|internal| vec![internal.message])
}

fn judge_here(root: &Path, file: &Path, update: bool) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let expected = match Expectation::parse(&text) {
        Ok(expected) if expected.is_empty() => return vec!["says nothing about itself".into()],
        Ok(expected) => expected,
        Err(problem) => return vec![problem],
    };
    let mut session = Session::new(Box::new(saltus_library::DiskFiles));
    for library in &expected.libraries {
        session.add_library(&root.join(library));
    }
    session.load_file(file);
    let outcome = run(&session, &expected);
    let mut problems = session.with_sources(|sources| compare_messages(&expected, &outcome.diagnostics, sources));
    problems.extend(compare_balance(&expected, &outcome));
    problems.extend(compare_flat(&expected, &outcome, file, &text, update));
    problems.extend(compare_samples(&session, &expected));
    problems.extend(compare_events(&session, &expected));
    problems
}

fn run(session: &Session, expected: &Expectation) -> Outcome {
    // A flat text can be expected of a model that does not balance, with a warning; the back end says what it says (E08…) of a
    // model that is compiled; all else is about `check`.
    let says = |severity: &str, codes: &str| {
        expected.messages.iter().any(|m| m.severity == severity && m.code.starts_with(codes))
    };
    let stage = match (says("warning", "E04"), says("error", "E08")) {
        (true, _) => Stage::Flatten,
        (_, true) => Stage::Compile,
        _ => Stage::Check,
    };
    let failed = |diagnostics: Diagnostics| Outcome { diagnostics, ..Outcome::default() };
    match class(session, expected) {
        Some(class) => pipeline::run(session, class, &Options::until(stage)),
        None => failed(session.diagnostics()),
    }
}

fn class(session: &Session, expected: &Expectation) -> Option<ClassId> {
    match &expected.class {
        Some(name) => session.class(Some(name)).ok(),
        None => session.own_classes().last().copied(),
    }
}

fn compare_messages(expected: &Expectation, found: &Diagnostics, sources: &SourceMap) -> Vec<String> {
    let mut problems = Vec::new();
    let mut rest: Vec<&Diagnostic> = found.iter().collect();
    for message in &expected.messages {
        match rest.iter().position(|d| fits(message, d, sources)) {
            Some(at) => {
                rest.remove(at);
            }
            None => {
                let Message { line, severity, code, text, .. } = message;
                problems.push(format!("line {line}: expected here but not found: {severity}[{code}]: {text}"));
            }
        }
    }
    let surplus = rest.iter().filter(|d| d.severity > Severity::Hint);
    problems.extend(surplus.map(|d| format!("not expected:\n{}", render::render(d, sources, Style::default()))));
    problems
}

fn fits(message: &Message, found: &Diagnostic, sources: &SourceMap) -> bool {
    let same_text = match message.text.strip_suffix('…') {
        Some(start) => found.message.starts_with(start),
        None => found.message == message.text,
    };
    let same_place = message.place.is_none_or(|place| {
        let json = render::to_json(found, sources);
        let at = |key: &str| json["place"][key].as_u64().unwrap_or(0) as usize;
        let first = at("column");
        // An empty span is drawn with one caret; of a span over several lines the first is marked.
        let last = if at("end_line") == place.line { at("end_column").max(first + 1) - 1 } else { place.last_column };
        at("line") == place.line && first == place.first_column && last == place.last_column
    });
    let same_hints = message.hints.is_empty() || message.hints == found.hints;
    same_text
        && same_place
        && same_hints
        && message.code == found.code.0
        && message.severity == render::severity_word(found.severity)
}

fn compare_balance(expected: &Expectation, outcome: &Outcome) -> Option<String> {
    let (equations, unknowns) = expected.balance?;
    match &outcome.balance {
        Some(found) if (found.equations, found.unknowns) == (equations, unknowns) => None,
        Some(found) => Some(format!(
            "expected {equations} equations and {unknowns} unknowns, found {} and {}",
            found.equations, found.unknowns
        )),
        None => Some("expected a flat model to count, found none".into()),
    }
}

fn compare_flat(expected: &Expectation, outcome: &Outcome, file: &Path, text: &str, update: bool) -> Option<String> {
    let flat = expected.flat.as_ref()?;
    let Some(model) = &outcome.flat else { return Some("expected a flat model, found none".into()) };
    let printed = saltus_flat::print(model);
    if printed.trim_end() == flat.text.trim_end() {
        return None;
    }
    if update {
        return std::fs::write(file, expectation::with_flat(text, flat, &printed)).err().map(|e| e.to_string());
    }
    Some(format!("expected the flat text\n{}\nfound\n{printed}", flat.text))
}

/// Interpreted and compiled, which must give the same trajectory to the last bit.
fn simulate(session: &Session, expected: &Expectation, stop_time: Option<f64>) -> Result<Trajectory, String> {
    let interpreted = simulate_by(Engine::Interpreter, session, expected, stop_time)?;
    let compiled = simulate_by(Engine::Jit, session, expected, stop_time)?;
    // What has no value is not a number, and equal to nothing.
    let bits = |t: &Trajectory| format!("{:?}", t.segments);
    if bits(&interpreted) == bits(&compiled) && interpreted.events == compiled.events {
        Ok(compiled)
    } else {
        Err("interpreted and compiled trajectories differ".into())
    }
}

fn simulate_by(
    engine: Engine,
    session: &Session,
    expected: &Expectation,
    stop_time: Option<f64>,
) -> Result<Trajectory, String> {
    let class = class(session, expected).ok_or("no class to simulate")?;
    let mut options = Options::until(Stage::Simulate);
    options.experiment.stop_time = stop_time;
    options.engine = engine;
    let outcome = pipeline::run(session, class, &options);
    let first_error = outcome.diagnostics.iter().find(|d| d.severity == Severity::Error);
    match (first_error, outcome.trajectory) {
        (None, Some(trajectory)) => Ok(trajectory),
        (error, _) => Err(error.map_or("no trajectory".into(), |d| d.message.clone())),
    }
}

/// Each sample is the last value of a run up to its time: no interpolation comes between.
fn compare_samples(session: &Session, expected: &Expectation) -> Vec<String> {
    let check = |sample: &Sample| -> Option<String> {
        let Sample { time, variable, value, tolerance, line } = sample;
        match simulate(session, expected, Some(*time)).map(|trajectory| trajectory.last(variable)) {
            Ok(Some(found)) if (found - value).abs() <= *tolerance => None,
            Ok(Some(found)) => Some(format!("line {line}: expected {variable} = {value} ± {tolerance}, found {found}")),
            Ok(None) => Some(format!("line {line}: the trajectory has no `{variable}`")),
            Err(error) => Some(format!("line {line}: {error}")),
        }
    };
    expected.samples.iter().filter_map(check).collect()
}

/// Times of all events behind the start that change a state or a mode, to the digits that are written. Events at which a
/// relation changes and nothing follows from it depend on how the condition is written, not on what the model does.
fn compare_events(session: &Session, expected: &Expectation) -> Option<String> {
    let events = expected.events.as_ref()?;
    let trajectory = match simulate(session, expected, None) {
        Ok(trajectory) => trajectory,
        Err(error) => return Some(error),
    };
    let counts = |e: &&EventRecord| e.is_restart && !e.causes.contains(&EventCause::Start);
    let found: Vec<f64> = trajectory.events.iter().filter(counts).map(|e| e.time).collect();
    let fits = |(text, time): (&String, &f64)| {
        let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        format!("{time:.digits$}") == *text
    };
    let same = events.len() == found.len() && events.iter().zip(&found).all(fits);
    (!same).then(|| format!("expected events at {}, found {found:?}", events.join(", ")))
}
