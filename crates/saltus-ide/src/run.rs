//! Runs a model for an editor: what came of it, a page with curves, and what there is to say at places of the sources.
//!
//! ```text
//! when h < 0 then        fired 12 ×  ·  24 events, 3.1 ms (8.2 %)
//! ```
//!
//! In: a session, a class, a clock. Out: a [`RunReport`]. Places are those of the texts that were run, which are part of it: whoever shows them in a
//! text that has changed since moves them along.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use saltus::pipeline::{self, Options, Stage, Stoppable};
use saltus::profile::BlockProfile;
use saltus::render::{Style, render};
use saltus::{Profile, Session, chart, results};
use saltus_base::{FileId, Severity, SourceMap, Span};
use saltus_program::{Cost, Stopwatch};

/// What came of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub class: String,
    pub is_complete: bool,
    /// One line.
    pub summary: String,
    /// What was said about the model, in plain text.
    pub messages: String,
    /// What the time went to, in plain text.
    pub profile: String,
    /// Curves over time; the page can be told to show a time.
    pub page: Option<String>,
    pub files: Vec<RunFile>,
}

/// What there is to say about a file.
#[derive(Clone, Debug)]
pub struct RunFile {
    pub path: PathBuf,
    /// As it was when it was run.
    pub text: Arc<str>,
    pub notes: Vec<RunNote>,
}

/// What there is to say about a place.
#[derive(Clone, PartialEq, Debug)]
pub struct RunNote {
    /// In bytes.
    pub start: u32,
    pub end: u32,
    pub text: String,
    /// When it happened first, if it is an event.
    pub time: Option<f64>,
}

/// Equations below this part of the run are not worth a note; loops are, at less.
const EQUATION_SHARE: f64 = 0.05;
const LOOP_SHARE: f64 = 0.01;

/// Runs a class with its own experiment until it ends or the flag is set; `None` if there is no such class.
pub(crate) fn run(session: &Session, class: &str, stopwatch: &Stopwatch, stop: Arc<AtomicBool>) -> Option<RunReport> {
    let id = session.library().find(class)?;
    let options = Options { profile: true, stopwatch: stopwatch.clone(), ..Options::until(Stage::Simulate) };
    let outcome = pipeline::run_with(session, id, &options, &mut Stoppable(stop));
    let is_complete = !outcome.failed_at_run_time && !outcome.has_errors();
    session
        .with_sources(|sources| {
            let messages = outcome.diagnostics.iter().map(|d| render(d, sources, Style::default())).collect::<Vec<_>>();
            let table = outcome.trajectory.as_ref().zip(outcome.program());
            let table = table.map(|(trajectory, program)| results::of(program, trajectory, &|_| true));
            let page =
                table.as_ref().and_then(|table| chart::chart(table, &[], true).ok()).map(|c| saltus_plot::html(&c));
            let statistics = outcome.trajectory.as_ref().map(|trajectory| trajectory.statistics).unwrap_or_default();
            let took = outcome.timings.iter().find(|(name, _)| *name == "simulate").map_or(Duration::ZERO, |(_, t)| *t);
            let mut summary = match is_complete {
                // The start is an event for the simulator alone.
                true => {
                    let n_events = statistics.state_events + statistics.time_events;
                    format!("{class}: {} ms, {} steps, {n_events} events", millis(took), statistics.steps)
                }
                false => format!(
                    "{class}: {}",
                    outcome.diagnostics.iter().find(|d| d.severity == Severity::Error).map_or("failed", |d| &d.message)
                ),
            };
            if let Some(state) = outcome.profile.as_ref().and_then(|p| p.states.first()).filter(|_| is_complete) {
                summary.push_str(&format!(", steps kept short mostly by {}", state.name));
            }
            RunReport {
                class: class.to_owned(),
                is_complete,
                summary,
                messages: messages.join("\n"),
                profile: outcome.profile.as_ref().map(|profile| profile.listing(sources)).unwrap_or_default(),
                page,
                files: outcome.profile.as_ref().map(|profile| files(profile, sources)).unwrap_or_default(),
            }
        })
        .into()
}

type Place = (FileId, u32, u32);

fn place_of(span: Span) -> Place {
    (span.file, span.start, span.end)
}

/// Notes by file and line, in the order of the text.
fn files(profile: &Profile, sources: &SourceMap) -> Vec<RunFile> {
    let mut notes: BTreeMap<(FileId, u32), RunNote> = BTreeMap::new();
    let mut add = |(id, start, end): Place, text: String, time: Option<f64>| {
        let Some(file) = sources.get(id) else { return };
        let line = file.lines.line_column(&file.text, start).line;
        match notes.get_mut(&(id, line)) {
            Some(known) => {
                known.text = format!("{}  ·  {text}", known.text);
                known.time = known.time.or(time);
            }
            None => {
                notes.insert((id, line), RunNote { start, end, text, time });
            }
        }
    };
    // A class that is used many times has the same place many times.
    let mut fired: BTreeMap<Place, u64> = BTreeMap::new();
    for condition in &profile.conditions {
        *fired.entry(place_of(condition.span)).or_default() += condition.fired;
    }
    for (place, n) in fired {
        add(place, format!("fired {n} ×"), None);
    }
    let mut events: BTreeMap<Place, (Cost, f64)> = BTreeMap::new();
    for event in &profile.events {
        let (sum, first) = events.entry(place_of(event.span)).or_insert((Cost::default(), f64::INFINITY));
        *sum += event.cost;
        *first = first.min(event.first);
    }
    for (place, (sum, first)) in events {
        let what = if sum.count == 1 { "1 event".to_owned() } else { format!("{} events", sum.count) };
        add(place, format!("{what}, {}", cost(profile, sum.time)), Some(first));
    }
    for block in &profile.blocks {
        if let Some(text) = block_note(profile, block) {
            add(place_of(block.span), text, None);
        }
    }
    let mut files: Vec<RunFile> = Vec::new();
    for ((id, _), note) in notes {
        let Some(file) = sources.get(id) else { continue };
        match files.last_mut().filter(|last| last.path.as_os_str() == file.path.as_str()) {
            Some(last) => last.notes.push(note),
            None => {
                let path = PathBuf::from(&file.path);
                files.push(RunFile { path, text: file.text.clone(), notes: vec![note] });
            }
        }
    }
    files
}

fn block_note(profile: &Profile, block: &BlockProfile) -> Option<String> {
    let share = profile.share(block.cost.time);
    let spent = format!("{}{}", if block.is_estimated() { "≈ " } else { "" }, cost(profile, block.cost.time));
    match block.solved {
        Some(size) if share >= LOOP_SHARE => {
            let n = size.equations;
            let what = if n == 1 { "loop of 1 equation".to_owned() } else { format!("loop of {n} equations") };
            Some(format!("{what}: {spent}, solved {} ×", block.cost.count))
        }
        None if share >= EQUATION_SHARE => Some(spent),
        _ => None,
    }
}

/// `3.1 ms (8.2 %)`
fn cost(profile: &Profile, time: Duration) -> String {
    format!("{} ms ({:.1} %)", millis(time), 100.0 * profile.share(time))
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    /// A ball that falls from 1 m is on the ground after 0.4515 s (closed form: √(2/9.81)), then after 0.7, 0.49, … of twice that:
    /// at 0.4515, 1.0836 and 1.5261 s until 1.6 s.
    #[test]
    fn a_run_tells_how_often_a_when_fired() {
        let fixture = Fixture::new(
            "model Ball
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -0.7*pre(v));
  end when;
  annotation(experiment(StopTime = 1.6));
end Ball;
",
        );
        let report = fixture.analysis().run("Ball", &Stopwatch::default(), Arc::default()).unwrap();
        assert!(report.is_complete, "{report:?}");
        assert!(report.summary.contains(" steps, 6 events"), "{}", report.summary);
        let notes = &report.files[0].notes;
        let when = notes.iter().find(|note| note.text.contains("fired")).unwrap();
        // Each time the relation becomes true, and false again.
        assert!(when.text.starts_with("fired 3 ×  ·  6 events"), "{notes:?}");
        assert!((when.time.unwrap() - (2.0_f64 / 9.81).sqrt()).abs() < 1e-6);
        assert_eq!(&report.files[0].text[when.start as usize..when.end as usize], "h < 0");
        assert!(report.page.is_some_and(|page| page.contains("Ball")));
        assert!(fixture.analysis().run("Missing", &Stopwatch::default(), Arc::default()).is_none());
    }
}
