//! `saltus sweep [FILE…] CLASS --vary p=a:b:n …`: a parameter study on all cores, one table.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use saltus::pipeline::{Options, Stage};
use saltus::sweep::{Axis, MOST_POINTS, Method, Outcome, Study, n_points, overrides, typical};
use saltus::{diagnostics, results};
use saltus_base::SourceMap;
use saltus_program::SimProgram;
use saltus_results::{Destination, Format, Header, Kept, Kind, Signal, Source, WriteError};
use saltus_sim::Trajectory;

use crate::experiment::{ExperimentArguments, RunArguments};
use crate::keep::{self, Keep};
use crate::numbers::jobs;
use crate::progress::{self, Bar};
use crate::summary::{duration, short};
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

/// Rows that are shown.
const SHOWN: usize = 12;

fn table_file(text: &str) -> Result<PathBuf, String> {
    let path = simulate::result_file(text)?;
    if Format::of(&path) == Some(Format::Mat) { Err("expected .parquet or .csv".to_owned()) } else { Ok(path) }
}

/// What is kept of a run: names of the signals, and their values row by row, time first.
struct Rows {
    names: Vec<(String, Kind)>,
    values: Vec<f64>,
}

pub fn run(arguments: &Arguments, screen: &Screen) -> Result<Exit, Exit> {
    let n = n_points(&arguments.vary).filter(|n| *n <= MOST_POINTS);
    let n = n.ok_or_else(|| {
        screen.fail(&diagnostics::too_many_runs(MOST_POINTS));
        Exit::Usage
    })?;
    arguments.target.protect(&[arguments.output.as_ref()], &arguments.keep.files(), screen)?;
    let unwritable = |error: WriteError| {
        screen.fail(&diagnostics::unwritable(&error.path.display().to_string(), &error.error.to_string()))
    };
    let open = |path: &PathBuf| Destination::open(path, Format::of(path).unwrap_or(Format::Csv));
    let destination = arguments.output.as_ref().map(open).transpose().map_err(unwritable)?;
    let kept = arguments.keep.read(screen)?;
    let mut options = Options::until(Stage::Compile);
    options.experiment = arguments.experiment.experiment(Some(&arguments.run), screen)?;
    options.experiment.kept = kept.clone();
    options.engine = arguments.run.engine.into();
    let first = typical(&arguments.vary);
    let common = arguments.target.set(screen)?;
    let run = arguments.target.run_with(options.clone(), overrides(&common, &arguments.vary, &first), screen)?;
    let Some(model) = run.outcome.model.as_ref().filter(|_| !run.outcome.has_errors()) else {
        return Ok(Exit::ModelError);
    };
    arguments.experiment.check(&options.experiment, model, screen)?;
    let varied: Vec<String> = arguments.vary.iter().map(|axis| axis.name.clone()).collect();
    arguments.target.refuse_to_vary(model, &varied, screen)?;
    let names: Vec<&str> = model.variables().iter().map(|v| v.name.as_str()).collect();
    keep::check(&kept, &names).iter().for_each(|d| screen.show(d, &SourceMap::new()));
    let open = || arguments.target.open_class();
    let jobs = arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let stop = progress::interrupt_flag();
    let study = Study {
        model,
        permissions: arguments.target.permissions(),
        start: &run.start,
        axes: &arguments.vary,
        experiment: &options.experiment,
        engine: options.engine,
        overrides: &common,
        open: &open,
        jobs,
        stop: &stop,
    };
    let bar = Mutex::new(Bar::new(!arguments.quiet && !screen.json));
    let show = |done: usize| {
        if let Ok(mut bar) = bar.try_lock() {
            bar.show_count(done, n, "runs");
        }
    };
    let started = Instant::now();
    let rows =
        |program: &SimProgram, trajectory: &Trajectory| collect(program, trajectory, &kept, arguments.trajectories);
    let outcome = study.run(&rows, &show);
    drop(bar);
    let took = started.elapsed();
    let table = Table::of(&arguments.vary, &outcome, arguments.trajectories);
    if let Some(destination) = destination {
        let is_complete = !progress::is_set(&stop);
        if let Some(piece) = table.write(destination, is_complete).map_err(unwritable)? {
            screen.show(&diagnostics::piece_kept(&piece.display().to_string()), &SourceMap::new());
        }
    } else if !arguments.quiet {
        table.show(screen);
    }
    let n_failed = outcome.runs.iter().filter(|r| r.found.is_none()).count();
    if !arguments.quiet {
        let how = match &outcome.method {
            Method::CompiledOnce => "compiled once".to_owned(),
            Method::CompiledEach { why } => format!("compiled for each run: {why}"),
        };
        let rate = (n as f64 / took.as_secs_f64()).round();
        screen.say(&format!("{n} runs in {} on {jobs} threads ({rate}/s), {how}, {n_failed} failed", duration(took)));
    }
    if let Some(failed) = outcome.runs.iter().find(|r| r.found.is_none()) {
        let at: Vec<String> =
            arguments.vary.iter().zip(&failed.parameters).map(|(a, v)| format!("{} = {v}", a.name)).collect();
        let why = failed.failure.as_deref().unwrap_or("no result");
        screen.show(&diagnostics::runs_failed(n_failed, &at.join(", "), why), &SourceMap::new());
        return Ok(Exit::RunTimeFailure);
    }
    Ok(Exit::Success)
}

fn collect(program: &SimProgram, trajectory: &Trajectory, kept: &Kept, all_rows: bool) -> Rows {
    let table = results::of(program, trajectory, &|name| kept.keeps(name));
    let signals: Vec<_> = table.series().collect();
    let columns: Vec<Cow<'_, [f64]>> = signals.iter().map(|s| table.values_of(s)).collect();
    let n_rows = table.times.len();
    let first = if all_rows { 0 } else { n_rows.saturating_sub(1) };
    let mut values = Vec::with_capacity((n_rows - first) * (columns.len() + 1));
    for row in first..n_rows {
        values.push(table.times[row]);
        values.extend(columns.iter().map(|c| c.get(row).copied().unwrap_or(f64::NAN)));
    }
    Rows { names: signals.iter().map(|s| (s.name.clone(), s.kind)).collect(), values }
}

/// Columns of all runs below each other.
struct Table {
    columns: Vec<(String, Kind, Vec<f64>)>,
}

impl Table {
    fn of(axes: &[Axis], outcome: &Outcome<Rows>, has_rows: bool) -> Table {
        let names: &[(String, Kind)] = outcome.runs.iter().find_map(|r| r.found.as_ref()).map_or(&[], |r| &r.names);
        let mut columns = vec![("run".to_owned(), Kind::Integer, Vec::new())];
        columns.extend(axes.iter().map(|a| (a.name.clone(), Kind::Real, Vec::new())));
        columns.push(("ok".to_owned(), Kind::Boolean, Vec::new()));
        columns.push(("time".to_owned(), Kind::Real, Vec::new()));
        columns.extend(names.iter().map(|(name, kind)| (name.clone(), *kind, Vec::new())));
        let width = 1 + names.len();
        let nothing = vec![f64::NAN; width];
        for (i, run) in outcome.runs.iter().enumerate() {
            // With another structure a run may have other variables; those of the first run are compared.
            let aligned = run.found.as_ref().map(|rows| align(rows, names));
            let rows: &[f64] = match &aligned {
                Some(values) => values,
                None if has_rows => &[],
                None => &nothing,
            };
            for row in rows.chunks(width) {
                let head = std::iter::once(i as f64).chain(run.parameters.iter().copied());
                let head = head.chain(std::iter::once(f64::from(u8::from(run.found.is_some()))));
                let all = head.chain(row.iter().copied());
                columns.iter_mut().zip(all).for_each(|(column, value)| column.2.push(value));
            }
        }
        Table { columns }
    }

    /// Gives the path of a table that is not complete.
    fn write(&self, destination: Destination, is_complete: bool) -> Result<Option<PathBuf>, WriteError> {
        let signal = |(index, (name, kind, _)): (usize, &(String, Kind, Vec<f64>))| {
            Signal::new(name, *kind, Source::Column { index, negated: false })
        };
        let signals = self.columns.iter().enumerate().map(signal).collect();
        // Time is one of the columns, and it begins again with every run.
        let header = Header { has_time: false, ..Header::new("sweep", signals) };
        let mut writer = destination.begin(&header)?;
        for i in 0..self.n_rows() {
            let row: Vec<f64> = self.columns.iter().map(|c| c.2[i]).collect();
            writer.row(0.0, &row)?;
        }
        if is_complete { writer.finish().map(|()| None) } else { writer.keep() }
    }

    fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.2.len())
    }

    /// The first rows and columns on the terminal.
    fn show(&self, screen: &Screen) {
        let columns: Vec<_> = self.columns.iter().filter(|c| c.0 != "ok").take(10).collect();
        let cells: Vec<Vec<String>> = columns
            .iter()
            .map(|c| std::iter::once(c.0.clone()).chain(c.2.iter().take(SHOWN).map(|v| short(*v))).collect())
            .collect();
        let widths: Vec<usize> = cells.iter().map(|c| c.iter().map(|t| t.chars().count()).max().unwrap_or(0)).collect();
        for row in 0..=self.n_rows().min(SHOWN) {
            let line: Vec<String> = cells.iter().zip(&widths).map(|(c, &w)| format!("{:>w$}", c[row])).collect();
            screen.say(line.join("  ").trim_end());
        }
        if self.n_rows() > SHOWN {
            screen.say(&format!("… and {} more rows; --output FILE writes all", self.n_rows() - SHOWN));
        }
    }
}

/// The values of a run in the order of these names.
fn align<'a>(rows: &'a Rows, names: &[(String, Kind)]) -> Cow<'a, [f64]> {
    if rows.names == names {
        return Cow::Borrowed(&rows.values);
    }
    let place = |name: &str| rows.names.iter().position(|(n, _)| n == name);
    let places: Vec<Option<usize>> = names.iter().map(|(name, _)| place(name)).collect();
    let mut values = Vec::new();
    for row in rows.values.chunks(1 + rows.names.len()) {
        values.extend(row.first());
        values.extend(places.iter().map(|p| p.and_then(|p| row.get(p + 1)).copied().unwrap_or(f64::NAN)));
    }
    Cow::Owned(values)
}
