//! `saltus simulate [FILE…] [CLASS]`: runs a model, writes its results, says how it went.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use saltus::container::{self, Content};
use saltus::pipeline::{Client, Engine, Options, Outcome, Stage};
use saltus::{Model, Profile, Start, Stream, diagnostics, results};
use saltus_base::{Diagnostic, SourceMap};
use saltus_results::{Format, WriteError};
use saltus_sim::{Progress, Recorder, Simulation, State};

use crate::estimate::{self, Listed, Second};
use crate::experiment::{ExperimentArguments, RunArguments};
use crate::inputs::{self, Inputs};
use crate::keep::Keep;
use crate::numbers::{finite, part, positive};
use crate::progress::{self, Bar};
use crate::real_time::{self, Pace};
use crate::target::{Run, Target};
use crate::write::{write, write_bytes};
use crate::{Exit, Screen, audit, chart, summary, system_clock};

const EXAMPLES: &str = "\
Examples:
  saltus simulate BouncingBall.mo
  saltus simulate BouncingBall.mo --set e=0.9 --stop-time 3 --plot=h,v
  saltus simulate Motors.Examples.Start --library libraries --output start.mat
  saltus simulate Circuit.mo --keep 'diode.*' --output diode.parquet --event-log events.jsonl
  saltus simulate Circuit.mo --audit --estimate-error
  saltus simulate Circuit.mo --profile
  saltus simulate drive.saltus --input torque.csv --stop-time 2 --pause-at 1 --save-state half.state
  saltus simulate drive.saltus --resume half.state --stop-time 2 -o rest.csv

Exit codes: 0 success, 1 the model is wrong, 2 wrong usage, 3 the simulation failed (results until then are written; an earlier\nresult is not replaced by them, they are in NAME.part.EXT then).";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    experiment: ExperimentArguments,
    #[command(flatten)]
    run: RunArguments,
    /// Values of inputs over time, from columns of a result file (.csv, .mat or .parquet) by their names; Reals on a line from row to
    /// row, others held.
    #[arg(long, value_name = "FILE", value_parser = result_file)]
    input: Vec<PathBuf>,
    /// Write the results to this file: .csv, .mat (as Dymola and OpenModelica do) or .parquet.
    #[arg(long, short, value_name = "FILE", value_parser = result_file)]
    output: Option<PathBuf>,
    #[command(flatten)]
    keep: Keep,
    /// Write every event to this file, one JSON object a line: time, kind, cause, line, iterations, changes; in words if
    /// the name ends in .txt.
    #[arg(long, value_name = "FILE")]
    event_log: Option<PathBuf>,
    /// Go on from a state that --save-state wrote.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write the state at the end of the run, also of one that was interrupted.
    #[arg(long, value_name = "FILE")]
    save_state: Option<PathBuf>,
    /// End there and save the state, as a part of the run to the stop time: what --resume adds to the rows up to there is, bit by bit, what a
    /// run without a pause writes.
    #[arg(long, value_name = "SECONDS", requires = "save_state", allow_negative_numbers = true, value_parser = finite)]
    pause_at: Option<f64>,
    /// Give parts of the model that share no variable integrators of their own: an event restarts its part alone. Rows at events are left
    /// out; the record of events (--event-log) says what changed.
    #[arg(long, conflicts_with_all = ["input", "resume", "save_state", "audit", "real_time", "step_rows", "estimate_error", "profile"])]
    apart: bool,
    /// Take loops over arrays apart into scalar equations while compiling: slower for large arrays, with the same results
    #[arg(long)]
    scalars: bool,
    /// Draw these signals on the terminal, separated by commas; without names the first few.
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    plot: Option<String>,
    /// Evaluate every equation as written at every output point and on both sides of every event, and list the largest residuals;
    /// exit code 3 if one is above the bound.
    #[arg(long)]
    audit: bool,
    /// Part of the terms of an equation that its residual may be in an audit.
    #[arg(long, value_name = "PART", requires = "audit", allow_negative_numbers = true, value_parser = part)]
    audit_bound: Option<f64>,
    /// Run again at a tenth of the tolerance and list the estimated errors of the kept signals, the largest first: of 20 signals, of
    /// another number of them, or of `all`.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20",
          value_parser = estimate::listed)]
    estimate_error: Option<Listed>,
    /// Say which equations, loops, functions and events the time of the run went to, and which state kept steps short, with source
    /// lines; as JSON into FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", value_parser = profile_file)]
    profile: Option<PathBuf>,
    /// Let simulated time pass with the clock, or FACTOR times as fast, and say how many steps were too late, how long the longest one
    /// took and how exactly the others began; with a method with a fixed step.
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, require_equals = true, default_missing_value = "1",
          allow_negative_numbers = true, value_parser = positive)]
    real_time: Option<f64>,
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

/// A file for a profile, or `-` for the screen: not the model that follows the option by chance.
fn profile_file(text: &str) -> Result<PathBuf, String> {
    let is_json = Path::new(text).extension().is_some_and(|extension| extension == "json");
    if is_json || text == "-" { Ok(text.into()) } else { Err("expected a file name that ends in .json".to_owned()) }
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    protect(arguments, screen)?;
    let kept = arguments.keep.read(screen)?;
    let mut options = Options::until(Stage::Simulate);
    options.experiment = arguments.experiment.experiment(Some(&arguments.run), screen)?;
    options.experiment.kept = kept.clone();
    options.engine = arguments.run.engine.into();
    if arguments.real_time.is_some() {
        options.engine = engine_in_real_time(options.engine);
        if !real_time::fits(options.experiment.solver) {
            let what = "`--real-time` needs a method with a fixed step: `--solver euler`, `rk4` or `implicit-euler`";
            screen.fail(&diagnostics::bad_experiment(what));
            return Err(Exit::Usage);
        }
    }
    options.start = start(arguments, screen)?;
    options.audit = arguments.audit.then(|| audit::settings(arguments.audit_bound));
    options.saves_state = arguments.save_state.is_some();
    options.profile = arguments.profile.is_some();
    options.pause_at = arguments.pause_at;
    options.apart = arguments.apart;
    options.scalars = arguments.scalars;
    if let Some(path) = arguments.save_state.as_ref().filter(|path| is_foreign(path)) {
        return Err(screen.fail(&diagnostics::not_ours(&path.display().to_string(), "the state of a simulation")));
    }
    let inputs = arguments.input.iter().map(|path| Inputs::read(path, screen)).collect::<Result<Vec<_>, _>>()?;
    // Before anything else is done: it would be a pity to find out after hours.
    let (table, events) = (arguments.output.as_deref(), arguments.event_log.as_deref());
    let stream = Stream::open(table, events, kept.clone(), system_clock::stopwatch());
    let stream = stream.map_err(|error| screen.fail(&unwritable(&error)))?;
    let mut client = Observer {
        bar: Bar::new(!arguments.quiet && !screen.json),
        interrupted: progress::interrupt_flag(),
        stream: stream.clone(),
        recorder: (arguments.plot.is_some() || arguments.estimate_error.is_some())
            .then(|| Recorder::of_rows(MOST_PLOTTED)),
        inputs,
        given: arguments.target.set(screen)?.into_iter().map(|(name, _)| name).collect(),
        pace: arguments.real_time.map(Pace::new),
    };
    let run = arguments.target.run_for(options.clone(), &mut client, screen)?;
    client.bar.clear();
    let started = Instant::now();
    let is_complete = !run.outcome.failed_at_run_time && !run.outcome.has_errors();
    let written = close(&stream, is_complete, screen);
    if let (Some(path), Some(state)) = (&arguments.save_state, &run.outcome.state) {
        let bytes = container::encode(Content::State, state);
        let bytes = bytes.map_err(|why| screen.fail(&diagnostics::bad_file(&path.display().to_string(), &why)))?;
        write_bytes(path, &bytes, screen)?;
    }
    if let (Some(trajectory), Some(program)) = (&run.outcome.trajectory, run.outcome.program()) {
        written?;
        if !arguments.quiet {
            let simulate = run.outcome.timings.iter().find(|(name, _)| *name == "simulate");
            let took = simulate.map(|(_, time)| *time).unwrap_or_default();
            screen.say(&summary::summary(program, trajectory, &stream.digest(), took));
            client.pace.iter().for_each(|pace| screen.say(&pace.report().to_string()));
        }
        let table = client.recorder.as_ref().map(|r| results::of(program, &r.take(), &|name| kept.keeps(name)));
        if let (Some(names), Some(table)) = (&arguments.plot, &table) {
            let names: Vec<String> =
                split_names(names).iter().filter(|n| !n.is_empty()).map(|n| (*n).to_owned()).collect();
            chart::draw(&chart::chart(table, &names, false, screen)?, None, screen)?;
        }
        if let (Some(listed), Some(table), true) = (arguments.estimate_error, &table, is_complete) {
            let (inputs, given) = (&client.inputs, &client.given);
            let second = Second { options, inputs, given, kept: &kept, max_bytes: MOST_PLOTTED };
            estimate::show(table, &run, second, listed, screen)?;
        }
    }
    if let (Some(path), Some(profile)) = (&arguments.profile, &run.outcome.profile) {
        show_profile(path, profile, &run, screen)?;
    }
    let is_sound = run.outcome.audit.as_ref().is_none_or(|report| audit::show(report, &run, screen));
    arguments.target.report_cost(&run, &[("write", started.elapsed())], screen)?;
    let exit = exit(&run.outcome);
    Ok(if exit == Exit::Success && !is_sound { Exit::RunTimeFailure } else { exit })
}

/// As text on the screen unless a file is given.
fn show_profile(path: &Path, profile: &Profile, run: &Run, screen: &Screen) -> Result<(), Exit> {
    run.session.with_sources(|sources| match path == Path::new("-") {
        true => {
            screen.say(&format!("profile of {}", profile.listing(sources).trim_end()));
            Ok(())
        }
        false => write(path, &format!("{}\n", profile.to_json(sources)), screen),
    })
}

/// Nothing is compiled in the middle of a run that must keep up with the clock.
fn engine_in_real_time(engine: Engine) -> Engine {
    if engine == Engine::Auto { Engine::Jit } else { engine }
}

/// A state may be replaced by the one that follows it; nothing else that is read is written.
fn protect(arguments: &Arguments, screen: &Screen) -> Result<(), Exit> {
    let profile = arguments.profile.as_ref().filter(|path| *path != Path::new("-"));
    let results = [arguments.output.as_ref(), arguments.event_log.as_ref(), profile];
    let mut inputs = arguments.keep.files();
    inputs.extend(arguments.input.iter().cloned());
    arguments.target.protect(&[arguments.save_state.as_ref()], &inputs, screen)?;
    inputs.extend(arguments.resume.clone());
    arguments.target.protect(&results, &inputs, screen)
}

/// Does the file exist, and is it something else than a saved state?
fn is_foreign(path: &Path) -> bool {
    path.is_file() && std::fs::read(path).is_ok_and(|bytes| !bytes.is_empty() && !container::is(Content::State, &bytes))
}

/// What the run begins with, read before anything is written.
fn start(arguments: &Arguments, screen: &Screen) -> Result<Start, Exit> {
    let mut start = Start::default();
    if let Some(path) = &arguments.resume {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path);
        let bytes = bytes.map_err(|error| screen.fail(&diagnostics::unreadable(&shown, &error.to_string())))?;
        let state = container::decode::<State>(Content::State, &bytes);
        start.state = Some(Arc::new(state.map_err(|why| screen.fail(&diagnostics::bad_file(&shown, &why)))?));
    }
    Ok(start)
}

/// Bytes of rows that a picture on the terminal may need.
const MOST_PLOTTED: usize = 2_000_000_000;

/// The command's part in the simulation.
struct Observer {
    bar: Bar,
    interrupted: Arc<AtomicBool>,
    stream: Stream,
    /// Rows that are to be drawn.
    recorder: Option<Recorder>,
    inputs: Vec<Inputs>,
    /// Names that have values by `--set`.
    given: Vec<String>,
    pace: Option<Pace>,
}

impl Client for Observer {
    fn prepare(&mut self, model: &Arc<Model>, simulation: &mut Simulation) -> Result<(), Diagnostic> {
        inputs::connect(&self.inputs, &self.given, model, simulation)?;
        simulation.set_sink(self.stream.sink(model, self.recorder.clone()));
        simulation.stop_when(self.interrupted.clone());
        Ok(())
    }

    fn goes_on(&mut self, progress: Progress) -> bool {
        self.bar.show_run(progress);
        if let Some(pace) = &mut self.pace {
            pace.wait(progress, &self.interrupted);
        }
        !progress::is_set(&self.interrupted)
    }
}

fn unwritable(error: &WriteError) -> Diagnostic {
    diagnostics::unwritable(&error.path.display().to_string(), &error.error.to_string())
}

/// Completes the files of a run, or says where its pieces are.
fn close(stream: &Stream, is_complete: bool, screen: &Screen) -> Result<(), Exit> {
    let closed = stream.close(is_complete);
    closed.failed.iter().for_each(|error| screen.show(&unwritable(error), &SourceMap::new()));
    for piece in closed.pieces.iter().filter(|piece| is_part(piece)) {
        screen.show(&diagnostics::piece_kept(&piece.display().to_string()), &SourceMap::new());
    }
    // The simulation has not failed, but there is nothing to show for it.
    if closed.failed.is_empty() { Ok(()) } else { Err(Exit::RunTimeFailure) }
}

/// Does it stand beside the file that was asked for?
fn is_part(piece: &Path) -> bool {
    piece.file_stem().and_then(|stem| Path::new(stem).extension()).is_some_and(|extension| extension == "part")
}

/// Names between commas; those in brackets belong to a subscript.
pub fn split_names(text: &str) -> Vec<&str> {
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
    if outcome.is_misused {
        return Exit::Usage;
    }
    match (outcome.failed_at_run_time, outcome.has_errors()) {
        (true, _) => Exit::RunTimeFailure,
        (false, true) => Exit::ModelError,
        (false, false) => Exit::Success,
    }
}
