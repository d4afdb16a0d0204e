//! `saltus simulate [FILE…] [CLASS]`: the trajectory of a model as comma-separated values.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use saltus::diagnostics;
use saltus::pipeline::{Engine, Experiment, Options, Outcome, Output, Stage};
use saltus_sim::{End, Trajectory};

use super::target::Target;
use super::{Exit, Screen, files};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Seconds; otherwise from the experiment annotation, or 0.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    start_time: Option<f64>,
    /// Seconds; otherwise from the experiment annotation, or one second after the start.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    stop_time: Option<f64>,
    /// Number of equal parts of the time span between output points.
    #[arg(long, value_name = "N", conflicts_with = "interval")]
    intervals: Option<u32>,
    /// Seconds between output points.
    #[arg(long, value_name = "SECONDS")]
    interval: Option<f64>,
    /// Relative tolerance of the integration.
    #[arg(long)]
    tolerance: Option<f64>,
    /// How equations are evaluated; the results are the same.
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = EngineName::Auto)]
    engine: EngineName,
    /// Write the trajectory to this file.
    #[arg(long, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// Write only this variable; may be given several times.
    #[arg(long, value_name = "NAME")]
    keep: Vec<String>,
    /// Write only the variables named in this file, one a line.
    #[arg(long, value_name = "FILE")]
    keep_file: Option<PathBuf>,
    /// Print no summary.
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineName {
    /// Compile what runs often.
    Auto,
    /// Compile everything that may run often, from the start.
    Jit,
    /// Compile nothing.
    Interp,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Auto => Engine::Auto,
            EngineName::Jit => Engine::Jit,
            EngineName::Interp => Engine::Interpreter,
        }
    }
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let keep = kept_names(arguments, screen)?;
    let mut options = Options::until(Stage::Simulate);
    options.experiment = arguments.experiment();
    options.engine = arguments.engine.into();
    let run = arguments.target.run(options, screen)?;
    let started = Instant::now();
    if let Some(trajectory) = &run.outcome.trajectory {
        if let Some(path) = &arguments.output {
            write_trajectory(path, trajectory, keep.as_ref(), screen)?;
        }
        if !arguments.quiet {
            screen.say(&summary(&run.class_name, trajectory));
        }
    }
    arguments.target.report_cost(&run, &[("write", started.elapsed())], screen)?;
    Ok(exit(&run.outcome))
}

fn exit(outcome: &Outcome) -> Exit {
    match (outcome.failed_at_run_time, outcome.has_errors()) {
        (true, _) => Exit::RunTimeFailure,
        (false, true) => Exit::ModelError,
        (false, false) => Exit::Success,
    }
}

impl Arguments {
    fn experiment(&self) -> Experiment {
        let by_number = self.intervals.map(Output::Intervals);
        Experiment {
            start_time: self.start_time,
            stop_time: self.stop_time,
            output: by_number.or(self.interval.map(Output::Interval)),
            tolerance: self.tolerance,
        }
    }
}

/// The names to write, or `None` for all.
fn kept_names(arguments: &Arguments, screen: &Screen) -> Result<Option<HashSet<String>>, Exit> {
    let mut names: HashSet<String> = arguments.keep.iter().cloned().collect();
    if let Some(path) = &arguments.keep_file {
        let text = files::read(path).map_err(|error| screen.fail(&error))?;
        names.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from));
    }
    let any = arguments.keep_file.is_some() || !arguments.keep.is_empty();
    Ok(any.then_some(names))
}

fn write_trajectory(
    path: &Path,
    trajectory: &Trajectory,
    keep: Option<&HashSet<String>>,
    screen: &Screen,
) -> Result<(), Exit> {
    let is_kept = |name: &str| keep.is_none_or(|names| names.contains(name));
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        trajectory.write_csv(&mut out, &is_kept)?;
        out.flush()
    });
    written.map_err(|error| screen.fail(&diagnostics::unwritable(&path.display().to_string(), &error.to_string())))
}

/// Most variables whose last value is shown.
const SHOWN: usize = 12;

fn summary(class: &str, trajectory: &Trajectory) -> String {
    let statistics = &trajectory.statistics;
    let mut text = format!("{class}: {} steps, {} events", statistics.steps, statistics.events);
    if let End::Terminated { message } = &trajectory.end {
        text.push_str(&format!(", terminated: {message}"));
    }
    let Some(last) = trajectory.segments.last() else { return text };
    let (Some(time), Some(n_rows)) = (last.times.last(), last.times.len().checked_sub(1)) else { return text };
    text.push_str(&format!("\nat time {time}:"));
    for (column, value) in last.variables.iter().zip(last.row(n_rows)).take(SHOWN) {
        text.push_str(&format!("\n  {} = {value}", column.name));
    }
    if last.variables.len() > SHOWN {
        text.push_str(&format!("\n  … and {} more variables", last.variables.len() - SHOWN));
    }
    text
}
