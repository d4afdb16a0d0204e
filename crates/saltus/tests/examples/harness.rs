//! Runs an example as `saltus simulate` does, and answers questions about what came out.

use std::time::Duration;

use saltus::pipeline::{self, Engine, Options, Outcome, Stage};
use saltus::render::{self, Style};
use saltus::{Session, guard};
use saltus_base::Severity;
use saltus_sim::{EventCause, EventKind, EventRecord, Trajectory};

/// An example after its simulation.
pub struct Run {
    trajectory: Option<Trajectory>,
    /// Seconds of the stages, in order.
    pub timings: Vec<(&'static str, Duration)>,
    /// All messages, as they are shown.
    messages: String,
    has_errors: bool,
}

/// Simulates `Saltus.Examples.<name>` as its annotation says, with compiled equations; interpreted ones must agree.
pub fn run(name: &str) -> Run {
    run_with(name, &[])
}

/// The same with other values of parameters.
pub fn run_with(name: &str, set: &[(&str, &str)]) -> Run {
    let ran = guard::on_large_stack(|| {
        let (_, interpreted) = outcome(name, set, Engine::Interpreter);
        let (session, outcome) = outcome(name, set, Engine::Jit);
        agree(&interpreted, &outcome);
        let shown = |d: &_| session.with_sources(|sources| render::render(d, sources, Style::default()));
        let loud = outcome.diagnostics.iter().filter(|d| d.severity > Severity::Hint);
        let messages = loud.map(shown).collect::<Vec<_>>().join("\n");
        let has_errors = outcome.has_errors();
        Run { trajectory: outcome.trajectory, timings: outcome.timings, messages, has_errors }
    });
    ran.unwrap_or_else(|internal| panic!("{}", internal.message))
}

fn outcome(name: &str, set: &[(&str, &str)], engine: Engine) -> (Session, Outcome) {
    let session = Session::on_disk();
    let class = session.class(Some(&format!("Saltus.Examples.{name}"))).expect("a shipped example");
    let mut options = Options::until(Stage::Simulate);
    options.overrides = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    options.engine = engine;
    let outcome = pipeline::run(&session, class, &options);
    (session, outcome)
}

/// Interpreted and compiled equations are the same arithmetic in the same order: equal to the last bit.
fn agree(interpreted: &Outcome, compiled: &Outcome) {
    let message = |o: &Outcome| o.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>();
    assert_eq!(message(interpreted), message(compiled));
    let (Some(interpreted), Some(compiled)) = (&interpreted.trajectory, &compiled.trajectory) else { return };
    assert_eq!(interpreted.events, compiled.events);
    assert_eq!(interpreted.parameters, compiled.parameters);
    assert_eq!(interpreted.segments.len(), compiled.segments.len());
    for (a, b) in interpreted.segments.iter().zip(&compiled.segments) {
        assert!(a.variables == b.variables && a.times == b.times, "variables or times differ");
        assert_eq!(a.rows.n_rows(), b.rows.n_rows());
        for variable in &a.variables {
            let (left, right) = (a.at(variable.place), b.at(variable.place));
            let differs = left.iter().zip(&right).position(|(x, y)| x.to_bits() != y.to_bits());
            assert!(differs.is_none(), "{} differs, first at {:?}", variable.name, differs.map(|i| a.times[i]));
        }
    }
}

impl Run {
    /// The trajectory of a run that said nothing, not even a warning.
    pub fn trajectory(&self) -> &Trajectory {
        assert!(self.messages.is_empty(), "{}", self.messages);
        self.trajectory.as_ref().expect("a trajectory")
    }

    /// The only message: an error with this code. The text must contain `text`, the place end with `place`.
    pub fn expect_error(&self, code: &str, text: &str, place: &str) {
        assert!(self.has_errors, "expected an error, found none");
        let first = self.messages.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("error[{code}]")) && first.contains(text), "{}", self.messages);
        assert!(self.messages.lines().any(|line| line.trim_end().ends_with(place)), "{}", self.messages);
        assert_eq!(self.messages.matches("error[").count(), 1, "{}", self.messages);
    }

    /// Time and value, two rows at each event.
    pub fn rows(&self, variable: &str) -> Vec<(f64, f64)> {
        self.trajectory().series(variable).unwrap_or_else(|| panic!("no variable {variable}"))
    }

    /// The value at an output point, behind an event if there is one.
    pub fn at(&self, variable: &str, time: f64) -> f64 {
        let rows = self.rows(variable);
        let here = |row: &&(f64, f64)| (row.0 - time).abs() <= 1e-9 * time.abs().max(1e-9);
        rows.iter().rev().find(here).unwrap_or_else(|| panic!("no output point at {time}")).1
    }

    pub fn last(&self, variable: &str) -> f64 {
        self.rows(variable).last().expect("rows").1
    }

    /// Where the run ended.
    pub fn end(&self) -> f64 {
        *self.trajectory().segments.last().and_then(|s| s.times.last()).expect("rows")
    }

    /// Times of the events behind the start that changed a state or a mode.
    pub fn events(&self) -> Vec<f64> {
        let counts = |e: &&EventRecord| e.is_restart && !e.causes.contains(&EventCause::Start);
        self.trajectory().events.iter().filter(counts).map(|e| e.time).collect()
    }

    /// Times of all events between start and end, also of those that changed nothing continuous.
    pub fn all_events(&self) -> Vec<f64> {
        let counts = |e: &&EventRecord| matches!(e.kind, EventKind::State | EventKind::Time);
        self.trajectory().events.iter().filter(counts).map(|e| e.time).collect()
    }

    /// Times at which a variable jumps by more than rounding.
    pub fn jumps(&self, variable: &str) -> Vec<f64> {
        let rows = self.rows(variable);
        rows.windows(2).filter(|w| w[0].0 == w[1].0 && (w[0].1 - w[1].1).abs() > 1e-9).map(|w| w[0].0).collect()
    }

    /// Compares all rows that are not at an event with a function of time.
    pub fn follows(&self, variable: &str, tolerance: f64, expected: impl Fn(f64) -> f64) {
        let rows = self.rows(variable);
        let events: Vec<f64> = self.trajectory().events.iter().map(|e| e.time).collect();
        let away = |t: f64| events.iter().all(|e| (e - t).abs() > 1e-12 * t.abs().max(1e-12));
        let mut n = 0;
        for (t, found) in rows.into_iter().filter(|row| away(row.0)) {
            close(&format!("{variable} at {t}"), found, expected(t), tolerance);
            n += 1;
        }
        assert!(n > 2, "no rows of {variable} to compare");
    }
}

/// Fails unless the two numbers differ by no more than the tolerance.
#[track_caller]
pub fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: expected {expected} ± {tolerance}, found {found}");
}

/// The same for lists.
#[track_caller]
pub fn all_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: expected {expected:?}, found {found:?}");
    found.iter().zip(expected).for_each(|(f, e)| close(what, *f, *e, tolerance));
}
