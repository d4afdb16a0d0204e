//! `saltus sweep [FILE…] CLASS --vary p=a:b:n …`: a parameter study on all cores, one table.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use saltus::pipeline::{Options, Stage};
use saltus::study::watch::Watch;
use saltus::study::{Axis, MOST_POINTS, Method, Runner, Variation, Wanted, Worker, for_all, overrides};
use saltus::{diagnostics, results};
use saltus_base::SourceMap;
use saltus_program::SimProgram;
use saltus_results::{Format, Kept, Kind, WriteError};
use saltus_sim::Trajectory;

use crate::experiment::{ExperimentArguments, RunArguments};
use crate::fleet::{Rows, RunTable};
use crate::keep::Keep;
use crate::numbers::jobs;
use crate::progress::{self, Bar, clear};
use crate::summary::duration;
use crate::target::Target;
use crate::{Exit, Screen, simulate};

const EXAMPLES: &str = "\
Examples:
  saltus sweep BouncingBall.mo --vary e=0.1:0.9:9
  saltus sweep BouncingBall.mo --vary e=0.5:0.9:100 --vary h.start=1,2,5 --output balls.parquet
  saltus sweep Circuit.mo --vary R=1:100:50 --keep 'load.*' --trajectories --output study.parquet

The table has a row for each combination with the last values of the variables; with --trajectories a row for each time.
The model is compiled once; a parameter that decides about the structure (an array size) is compiled for each value.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    /// A parameter and its values: name=first:last:number or name=value,value,…; several make all combinations.
    #[arg(long, value_name = "NAME=VALUES", required = true, value_parser = Axis::parse)]
    vary: Vec<Axis>,
    #[command(flatten)]
    experiment: ExperimentArguments,
    #[command(flatten)]
    run: RunArguments,
    /// Write the table to this file: .parquet or .csv.
    #[arg(long, short, value_name = "FILE", value_parser = table_file)]
    output: Option<PathBuf>,
    #[command(flatten)]
    keep: Keep,
    /// Write all rows of all runs instead of the last one of each.
    #[arg(long)]
    trajectories: bool,
    /// Threads; otherwise as many as there are cores.
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,
    /// Print no summary and no progress.
    #[arg(long)]
    quiet: bool,
}

fn table_file(text: &str) -> Result<PathBuf, String> {
    let path = simulate::result_file(text)?;
    if Format::of(&path) == Some(Format::Mat) { Err("expected .parquet or .csv".to_owned()) } else { Ok(path) }
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let Variation { names, points } = Variation::grid(&arguments.vary);
    let n = points.n().filter(|n| *n <= MOST_POINTS);
    let n = n.ok_or_else(|| {
        screen.fail(&diagnostics::too_many_runs(MOST_POINTS));
        Exit::Usage
    })?;
    arguments.target.protect(&[arguments.output.as_ref()], &arguments.keep.files(), screen)?;
    let table = RunTable::open(arguments.output.as_ref(), names.clone(), !arguments.trajectories);
    let table = table.map_err(|error| unwritable(&error, screen))?;
    let kept = arguments.keep.read(screen)?;
    let mut options = Options::until(Stage::Compile);
    options.experiment = arguments.experiment.experiment(Some(&arguments.run), screen)?;
    options.experiment.kept = kept.clone();
    options.engine = arguments.run.engine.into();
    let common = arguments.target.set(screen)?;
    let first = overrides(&common, &names, &points.typical());
    let run = arguments.target.run_with(options.clone(), first, screen)?;
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    arguments.experiment.check(&options.experiment, model, screen)?;
    arguments.target.refuse_to_vary(model, &names, screen)?;
    let open = || arguments.target.open_class();
    let jobs = arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let stop = progress::interrupt_flag();
    let (bar, n_done, n_recompiled) =
        (Mutex::new(Bar::new(!arguments.quiet && !screen.json)), AtomicUsize::new(0), AtomicUsize::new(0));
    let show = || {
        let done = n_done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Ok(mut bar) = bar.try_lock() {
            bar.show_count(done, n, "runs");
        }
    };
    let runner = Runner {
        model,
        permissions: arguments.target.permissions(),
        names: &names,
        experiment: &options.experiment,
        phases: &[],
        watch: &Arc::new(Watch::default()),
        engine: options.engine,
        start: &run.start,
        overrides: &common,
        open: &open,
        stop: &stop,
        n_recompiled: &n_recompiled,
        progress: &show,
    };
    let work = |i: usize, worker: &mut Worker| {
        let ran = runner.run(worker, &points.at(i), Wanted { rows: true, ..Wanted::default() });
        let ran = ran.map_err(|failure| failure.to_string())?;
        let (program, trajectory) = ran.program.zip(ran.trajectory).ok_or("no result")?;
        Ok(collect(&program, &trajectory, &kept, arguments.trajectories))
    };
    let started = Instant::now();
    let (mut table, mut n_ok, mut first_failure, mut lost) = (table, 0, None, None);
    for_all(n, jobs, &stop, &work, &mut |i, made: Result<Rows, String>| {
        n_ok += usize::from(made.is_ok());
        if let Err(why) = &made {
            first_failure.get_or_insert((i, why.clone()));
        }
        if let Err(error) = table.add(i, points.at(i), made.as_ref().ok()) {
            lost.get_or_insert(error);
            stop.store(true, Ordering::Relaxed);
        }
    });
    clear(&bar);
    let took = started.elapsed();
    if let Some(error) = lost {
        return Err(unwritable(&error, screen));
    }
    if arguments.output.is_none() && !arguments.quiet {
        table.show(screen);
    }
    let is_complete = !progress::is_set(&stop);
    if let Some(piece) = table.finish(is_complete).map_err(|error| unwritable(&error, screen))? {
        screen.show(&diagnostics::piece_kept(&piece.display().to_string()), &SourceMap::new());
    }
    let n_failed = n - n_ok;
    if !arguments.quiet {
        let how = match runner.method() {
            Method::CompiledOnce => "compiled once".to_owned(),
            Method::CompiledEach { why } => format!("compiled for each run: {why}"),
        };
        let rate = (n as f64 / took.as_secs_f64()).round();
        screen.say(&format!("{n} runs in {} on {jobs} threads ({rate}/s), {how}, {n_failed} failed", duration(took)));
    }
    if n_failed > 0 {
        let (i, why) = first_failure.unwrap_or((n_ok, "not run".to_owned()));
        let at: Vec<String> = names.iter().zip(points.at(i)).map(|(name, v)| format!("{name} = {v}")).collect();
        screen.show(&diagnostics::runs_failed(n_failed, &at.join(", "), &why), &SourceMap::new());
        return Ok(Exit::RunTimeFailure);
    }
    Ok(Exit::Success)
}

pub fn unwritable(error: &WriteError, screen: &Screen) -> Exit {
    screen.fail(&diagnostics::unwritable(&error.path.display().to_string(), &error.error.to_string()))
}

/// The signals of a run, time first: the last row, or all of them.
pub fn collect(program: &SimProgram, trajectory: &Trajectory, kept: &Kept, all_rows: bool) -> Rows {
    let table = results::of(program, trajectory, &|name| kept.keeps(name));
    let signals: Vec<_> = table.series().collect();
    let columns: Vec<_> = signals.iter().map(|s| table.values_of(s)).collect();
    let n_rows = table.times.len();
    let first = if all_rows { 0 } else { n_rows.saturating_sub(1) };
    let mut values = Vec::with_capacity((n_rows - first) * (columns.len() + 1));
    for row in first..n_rows {
        values.push(table.times[row]);
        values.extend(columns.iter().map(|c| c.get(row).copied().unwrap_or(f64::NAN)));
    }
    let names = signals.iter().map(|s| (s.name.clone(), s.kind));
    Rows { names: std::iter::once(("time".to_owned(), Kind::Real)).chain(names).collect(), values }
}
