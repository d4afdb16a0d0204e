//! Runs one model and compares it with what its file expects.

use std::path::Path;

use saltus::pipeline::{self, Options, Outcome, Stage};
use saltus::render::{self, Style};
use saltus::{Session, guard};
use saltus_base::{Diagnostic, Diagnostics, Severity, SourceMap};
use saltus_library::ClassId;

use crate::expectation::{self, Expectation, Message};

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
    // There is no simulator yet: a claim about a trajectory must not pass unchecked.
    problems.extend(expected.samples.iter().map(|s| format!("line {}: `{}` cannot be simulated", s.line, s.variable)));
    problems
}

fn run(session: &Session, expected: &Expectation) -> Outcome {
    // A flat text can be expected of a model that does not balance, with a warning; all else is about `check`.
    let warns = expected.messages.iter().any(|m| m.severity == "warning" && m.code.starts_with("E04"));
    let stage = if warns { Stage::Flatten } else { Stage::Check };
    let failed = |diagnostics: Diagnostics| Outcome { diagnostics, ..Outcome::default() };
    match class(session, expected) {
        Some(class) => pipeline::run(session, class, &Options::until(stage)),
        None => failed(session.take_diagnostics()),
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
