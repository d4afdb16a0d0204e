//! `--estimate-error`: the run again at a tenth of the tolerance, and how far apart both are.

use std::sync::Arc;

use saltus::estimate::{self, SignalError};
use saltus::pipeline::{self, Client, Options};
use saltus::{Model, results};
use saltus_base::{Diagnostic, SourceMap};
use saltus_results::{Kept, Results};
use saltus_sim::{Recorder, Simulation};

use crate::inputs::{self, Inputs};
use crate::target::Run;
use crate::{Exit, Screen};

/// Signals that are listed.
#[derive(Clone, Copy)]
pub enum Listed {
    All,
    First(usize),
}

pub fn listed(text: &str) -> Result<Listed, String> {
    match text {
        "all" => Ok(Listed::All),
        _ => text.parse().map(Listed::First).map_err(|_| "expected a number of signals, or `all`".to_owned()),
    }
}

/// Takes part in the second run.
struct Again<'a> {
    inputs: &'a [Inputs],
    given: &'a [String],
    recorder: Recorder,
}

impl Client for Again<'_> {
    fn prepare(&mut self, model: &Arc<Model>, simulation: &mut Simulation) -> Result<(), Diagnostic> {
        simulation.set_sink(Box::new(self.recorder.clone()));
        inputs::connect(self.inputs, self.given, model, simulation)
    }
}

/// What the second run is made of.
pub struct Second<'a> {
    pub options: Options,
    pub inputs: &'a [Inputs],
    pub given: &'a [String],
    pub kept: &'a Kept,
    pub max_bytes: usize,
}

/// Runs the model once more and lists the errors of the first run, whose results are given.
pub fn show(first: &Results, run: &Run, second: Second, listed: Listed, screen: &Screen) -> Result<(), Exit> {
    let (Some(model), Some(settings)) = (&run.outcome.model, &run.outcome.settings) else { return Ok(()) };
    let recorder = Recorder::new(second.max_bytes);
    let mut client = Again { inputs: second.inputs, given: second.given, recorder: recorder.clone() };
    let experiment = estimate::finer(&second.options.experiment, settings);
    let start = saltus::Start { values: run.start.values.clone(), ..second.options.start.clone() };
    let options = Options { experiment, start, audit: None, saves_state: false, pause_at: None, ..second.options };
    let outcome = pipeline::simulate_model(model.clone(), run.session.permissions(), &options, &mut client);
    if outcome.has_errors() {
        screen.show_all(&outcome.diagnostics, &SourceMap::new());
        return Err(Exit::RunTimeFailure);
    }
    let table = results::of(model.program(), &recorder.take(), &|name| second.kept.keeps(name));
    let errors = estimate::errors(first, &table);
    let tolerance = options.experiment.tolerance.unwrap_or(f64::NAN);
    screen.say(&format!("estimated errors, by a run at tolerance {tolerance:e}"));
    lines(&errors, listed).iter().for_each(|line| screen.say(line));
    Ok(())
}

fn lines(errors: &[SignalError], listed: Listed) -> Vec<String> {
    let n = match listed {
        Listed::All => errors.len(),
        Listed::First(n) => n.min(errors.len()),
    };
    let shown = &errors[..n];
    let width = shown.iter().map(|e| e.name.chars().count()).max().unwrap_or(0).max(6);
    let mut lines = vec![format!("  {:width$}  absolute  of its range  at time", "signal")];
    let line = |e: &SignalError| match e.absolute {
        0.0 => format!("  {:width$} {:>9}  {:>12}", e.name, "0", "0"),
        _ => format!("  {:width$} {:>9.1e}  {:>12.1e}  {}", e.name, e.absolute, e.relative, e.time),
    };
    lines.extend(shown.iter().map(line));
    if n < errors.len() {
        lines.push(format!("  … and {} signals with smaller errors", errors.len() - n));
    }
    lines
}
