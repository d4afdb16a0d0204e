//! `saltus simulate [FILE…] [CLASS]`: runs a model, writes its results, says how it went.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use saltus::container::{self, Content};
use saltus::pipeline::{Options, Outcome, Stage};
use saltus::{Start, diagnostics, results};
use saltus_base::SourceMap;
use saltus_results::{Format, Results};
use saltus_sim::{Progress, State, Trajectory};

use crate::experiment::{ExperimentArguments, RunArguments};
use crate::keep::{self, Keep};
use crate::progress::{self, Bar};
use crate::target::{Run, Target, write_bytes};
use crate::{Exit, Screen, chart, summary};

const EXAMPLES: &str = "\
Examples:
  saltus simulate BouncingBall.mo
  saltus simulate BouncingBall.mo --set e=0.9 --stop-time 3 --plot=h,v
  saltus simulate Motors.Examples.Start --library libraries --output start.mat
  saltus simulate Circuit.mo --keep 'diode.*' --output diode.parquet --event-log events.jsonl

Exit codes: 0 success, 1 the model is wrong, 2 wrong usage, 3 the simulation failed (results until then are written).";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    experiment: ExperimentArguments,
    #[command(flatten)]
    run: RunArguments,
    /// Write the results to this file: .csv, .mat (as Dymola and OpenModelica do) or .parquet.
    #[arg(long, short, value_name = "FILE", value_parser = result_file)]
    output: Option<PathBuf>,
    #[command(flatten)]
    keep: Keep,
    /// Write every event to this file, one JSON object a line: time, kind, cause, line, iterations, changes; in words if
    /// the name ends in .txt.
    #[arg(long, value_name = "FILE")]
    event_log: Option<PathBuf>,
    /// Read the inputs of the model from this file: a column `time` and a column for each input; Reals are linear between rows,
    /// everything else is held.
    #[arg(long, value_name = "FILE", value_parser = result_file)]
    input: Option<PathBuf>,
    /// Go on from a state that --save-state wrote.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write the state at the end of the run, also of one that was interrupted.
    #[arg(long, value_name = "FILE")]
    save_state: Option<PathBuf>,
    /// Draw these signals on the terminal, separated by commas; without names the first few.
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    plot: Option<String>,
    /// Print no summary and no progress.
    #[arg(long)]
    quiet: bool,
}

/// A path whose extension names a format of results.
pub fn result_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match Format::of(&path) {
        Some(_) => Ok(path),
        None => {
            let known: Vec<String> = Format::EXTENSIONS.iter().map(|(e, _)| format!(".{e}")).collect();
            Err(format!("expected a file name that ends in {}", known.join(", ")))
        }
    }
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let kept = arguments.keep.read(screen)?;
    let mut options = Options::until(Stage::Simulate);
    options.experiment = arguments.experiment.experiment(Some(&arguments.run), screen)?;
    options.experiment.kept = kept.clone();
    options.engine = arguments.run.engine.into();
    options.start = start(arguments, screen)?;
    options.saves_state = arguments.save_state.is_some();
    let interrupted = progress::interrupt_flag();
    let mut bar = Bar::new(!arguments.quiet && !screen.json);
    let mut observer = |progress: Progress| {
        bar.show_run(progress);
        !progress::is_set(&interrupted)
    };
    let run = arguments.target.run_observed(options, &mut observer, screen)?;
    bar.clear();
    let started = Instant::now();
    if let (Some(path), Some(state)) = (&arguments.save_state, &run.outcome.state) {
        let bytes = container::encode(Content::State, state);
        let bytes = bytes.map_err(|why| screen.fail(&diagnostics::bad_file(&path.display().to_string(), &why)))?;
        write_bytes(path, &bytes, screen)?;
    }
    if let (Some(trajectory), Some(program)) = (&run.outcome.trajectory, run.outcome.program()) {
        let names: Vec<&str> = program.variables.iter().map(|v| v.name.as_str()).collect();
        keep::check(&kept, &names).iter().for_each(|d| screen.show(d, &SourceMap::new()));
        let mut table = results::of(program, trajectory, &|name| kept.keeps(name));
        table.is_choice = kept.is_choice();
        if let Some(path) = &arguments.output {
            write_results(path, &table, screen)?;
        }
        if let Some(path) = &arguments.event_log {
            write_events(path, &run, trajectory, screen)?;
        }
        if !arguments.quiet {
            let simulate = run.outcome.timings.iter().find(|(name, _)| *name == "simulate");
            let took = simulate.map(|(_, time)| *time).unwrap_or_default();
            screen.say(&summary::summary(program, trajectory, &table, took));
        }
        if let Some(names) = &arguments.plot {
            let names: Vec<String> =
                split_names(names).iter().filter(|n| !n.is_empty()).map(|n| (*n).to_owned()).collect();
            chart::draw(&chart::chart(&table, &names, false, screen)?, None, screen)?;
        }
    }
    arguments.target.report_cost(&run, &[("write", started.elapsed())], screen)?;
    Ok(exit(&run.outcome))
}

/// What the run begins with, read before anything is written.
fn start(arguments: &Arguments, screen: &Screen) -> Result<Start, Exit> {
    let mut start = Start::default();
    if let Some(path) = &arguments.input {
        start.inputs = Some(Arc::new(chart::read_results(path, screen)?));
    }
    if let Some(path) = &arguments.resume {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path);
        let bytes = bytes.map_err(|error| screen.fail(&diagnostics::unreadable(&shown, &error.to_string())))?;
        let state = container::decode::<State>(Content::State, &bytes);
        start.state = Some(Arc::new(state.map_err(|why| screen.fail(&diagnostics::bad_file(&shown, &why)))?));
    }
    Ok(start)
}

/// Names between commas; those in brackets belong to a subscript.
fn split_names(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_border = |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(is_border).map(str::trim).collect()
}

pub fn exit(outcome: &Outcome) -> Exit {
    match (outcome.failed_at_run_time, outcome.has_errors()) {
        (true, _) => Exit::RunTimeFailure,
        (false, true) => Exit::ModelError,
        (false, false) => Exit::Success,
    }
}

/// Writes a file by `fill`; what goes wrong is shown.
pub fn write_file(
    path: &Path,
    screen: &Screen,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Exit> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        fill(&mut out)?;
        out.flush()
    });
    written.map_err(|error| screen.fail(&diagnostics::unwritable(&path.display().to_string(), &error.to_string())))
}

fn write_results(path: &Path, table: &Results, screen: &Screen) -> Result<(), Exit> {
    let format = Format::of(path).unwrap_or(Format::Csv);
    table.save(path, format).map_err(|error| {
        screen.fail(&diagnostics::unwritable(&path.display().to_string(), &error.error.to_string()));
        // The simulation has not failed, but there is nothing to show for it.
        Exit::RunTimeFailure
    })
}

fn write_events(path: &Path, run: &Run, trajectory: &Trajectory, screen: &Screen) -> Result<(), Exit> {
    run.session.with_sources(|sources| {
        write_file(path, screen, |out| {
            if path.extension().is_some_and(|e| e == "txt") {
                return saltus_sim::write_story(out, &trajectory.events);
            }
            saltus_sim::write_events(out, &trajectory.events, &|span| sources.location(span))
        })
    })
}
