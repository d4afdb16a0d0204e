//! Makes the runs of a study: one with its files, or many on all threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use saltus::linearize::Linearization;
use saltus::study::{self, Failure, Prepared, Runner, Study, Tried, Variation, Wanted, Worker, for_all};
use saltus::{Model, Stream, diagnostics};
use saltus_base::{Diagnostic, SourceMap, Span};
use saltus_results::{Kept, Kind, Results, WriteError};
use saltus_sim::{Header, Progress, Sink, SinkError};
use serde_json::{Value, json};

use super::Paths;
use super::telling::number;
use crate::fleet::{Rows, RunTable};
use crate::progress::{self, Bar};
use crate::summary::short;
use crate::sweep::{collect, unwritable};
use crate::{Exit, Screen, system_clock};

/// Curves of so many runs fit into a picture over time.
const MOST_DRAWN: usize = 12;
/// Failures that are listed.
const MOST_LISTED: usize = 20;

pub struct All<'a> {
    pub study: &'a Study,
    pub prepared: &'a Prepared,
    pub runner: &'a Runner<'a>,
    pub variation: &'a Variation,
    pub paths: &'a Paths,
    pub n: usize,
    pub jobs: usize,
    pub bar: &'a Mutex<Bar>,
}

/// What all runs came to.
#[derive(Default)]
pub struct Made {
    /// By column of the table: values of runs that succeeded, if there is one point or pictures need them.
    pub columns: Vec<(String, Vec<f64>)>,
    pub sums: Vec<Sum>,
    pub trajectories: Vec<(String, Results)>,
    pub failures: Vec<(usize, String)>,
    pub remarks: Vec<(usize, String)>,
    pub linearizations: Vec<(usize, Linearization)>,
    pub ends: Vec<f64>,
    pub value: Option<f64>,
    pub n_ok: usize,
    pub n_failed: usize,
    pub n_simulations: usize,
    pub n_programs: usize,
    pub took: Duration,
    pub is_interrupted: bool,
}

impl All<'_> {
    pub fn names(&self) -> Vec<String> {
        let record = self.study.record.iter().map(|r| r.name.clone());
        let own = self.value_name().map(str::to_owned);
        self.runner.names.iter().cloned().chain(own).chain(record).collect()
    }

    pub fn nothing_yet(&self) -> Made {
        let columns: Vec<(String, Vec<f64>)> = self.names().into_iter().map(|name| (name, Vec::new())).collect();
        Made { sums: vec![Sum::NONE; columns.len()], columns, ..Made::default() }
    }

    /// The column of what a search has reached.
    fn value_name(&self) -> Option<&'static str> {
        match &self.prepared.task {
            study::Task::Optimize { objective, .. } => Some(if objective.is_largest { "maximum" } else { "minimum" }),
            study::Task::Search { unknowns, targets, .. } if targets.len() > unknowns.len() => Some("residual"),
            _ => None,
        }
    }

    /// One value for each name.
    fn row(&self, point: &[f64], tried: &Tried) -> Vec<f64> {
        let own = self.value_name().map(|_| tried.value.unwrap_or(f64::NAN));
        point
            .iter()
            .copied()
            .chain(tried.found.iter().copied())
            .chain(own)
            .chain(tried.ran.values.iter().copied())
            .collect()
    }

    fn draws_over_time(&self) -> bool {
        self.study.plots.iter().any(|plot| plot.x.is_none())
    }

    /// The only run, or search; rows go to files as they are made.
    pub fn single(&self, screen: &Screen) -> Result<Made, Exit> {
        let kept = match self.study.output.variables.as_slice() {
            [] => Kept::default(),
            patterns => Kept::only(patterns, []),
        };
        let (trajectories, events) = (self.paths.trajectories.as_deref(), self.paths.events.as_deref());
        let stream = Stream::open(trajectories, events, kept, system_clock::stopwatch());
        let stream = stream.map_err(|error| unwritable(&error, screen))?;
        let settings = self.runner.experiment.settings(self.runner.model.program());
        let sink = |model: &Arc<Model>| -> Box<dyn Sink> {
            let bar = Bar::new(self.bar.lock().is_ok_and(|bar| bar.is_visible()));
            let span = (settings.start_time, settings.stop_time);
            Box::new(Shown { inner: stream.sink(model, None), bar, span, n_events: 0 })
        };
        let linearize = &self.prepared.linearizations;
        let wanted = Wanted { rows: self.draws_over_time(), linearize, sink: Some(&sink) };
        let point = if self.study.variation.is_some() { self.variation.points.at(0) } else { Vec::new() };
        let tried = self.prepared.perform(self.runner, &mut Worker::default(), &point, wanted);
        let closed = stream.close(tried.is_ok());
        let mut made = self.nothing_yet();
        for error in &closed.failed {
            unwritable(error, screen);
        }
        for piece in &closed.pieces {
            screen.show(&diagnostics::piece_kept(&piece.display().to_string()), &SourceMap::new());
        }
        match tried {
            Ok(mut tried) => {
                let row = self.row(&point, &tried);
                made.count(&row, true);
                made.linearizations = std::mem::take(&mut tried.ran.linearizations);
                made.ends = std::mem::take(&mut tried.ran.ends);
                made.value = tried.value;
                made.remarks.extend(tried.remark.take().map(|why| (0, why)));
                self.keep_trajectory(&mut made, String::new(), &mut tried);
            }
            Err(failure) => {
                made.is_interrupted = failure.is_interrupted();
                self.show_failure(&failure, screen);
                made.n_failed = 1;
                made.failures.push((0, failure.to_string()));
            }
        }
        if let Some(path) = &self.paths.table {
            let table = RunTable::open(Some(path), self.head(), true);
            let written = table.and_then(|mut table| {
                self.add_row(
                    &mut table,
                    0,
                    &point,
                    made.columns.iter().filter_map(|(_, c)| c.first().copied()).collect(),
                )?;
                table.finish(true)
            });
            written.map_err(|error| unwritable(&error, screen))?;
        }
        if !closed.failed.is_empty() { Err(Exit::ModelError) } else { Ok(made) }
    }

    fn show_failure(&self, failure: &Failure, screen: &Screen) {
        let span = self.study.goal.as_ref().map_or(Span::nowhere(), |goal| goal.span);
        match failure {
            Failure::Simulation(error) => {
                screen.show(&diagnostics::simulation_failed(error), &self.runner.model.sources())
            }
            Failure::Said(said) => {
                screen.show(&Diagnostic { span: Some(span), ..(**said).clone() }, &self.study.sources)
            }
            Failure::Other(why) => screen.show(&diagnostics::not_found(span, why), &self.study.sources),
        }
    }

    fn head(&self) -> Vec<String> {
        self.variation.names.clone()
    }

    /// A row of the table; without values if the run failed.
    fn add_row(&self, table: &mut RunTable, i: usize, point: &[f64], row: Vec<f64>) -> Result<(), WriteError> {
        let names = self.names().into_iter().skip(point.len()).map(|name| (name, Kind::Real)).collect();
        let rows = (!row.is_empty() || self.names().is_empty())
            .then(|| Rows { names, values: row.into_iter().skip(point.len()).collect() });
        table.add(i, point.to_vec(), rows.as_ref())
    }

    fn keep_trajectory(&self, made: &mut Made, label: String, tried: &mut Tried) {
        if let (Some(trajectory), Some(program)) = (tried.ran.trajectory.take(), &tried.ran.program)
            && self.draws_over_time()
            && made.trajectories.len() < MOST_DRAWN
        {
            made.trajectories.push((label, saltus::results::of(program, &trajectory, &|_| true)));
        }
    }

    /// Many runs on all threads.
    pub fn fleet(&self, stop: &AtomicBool, screen: &Screen) -> Result<Made, Exit> {
        let lost = |error: &WriteError| unwritable(error, screen);
        let mut table = RunTable::open(self.paths.table.as_ref(), self.head(), true).map_err(|error| lost(&error))?;
        let mut rows = self.paths.trajectories.as_ref().map(|path| RunTable::open(Some(path), self.head(), false));
        let mut rows = rows.take().transpose().map_err(|error| lost(&error))?;
        let kept = match self.study.output.variables.as_slice() {
            [] => Kept::default(),
            patterns => Kept::only(patterns, []),
        };
        let has_rows = rows.is_some();
        let work = |i: usize, worker: &mut Worker| {
            let is_drawn = self.draws_over_time() && i < MOST_DRAWN;
            let wanted = Wanted { rows: has_rows || is_drawn, ..Wanted::default() };
            let tried = self.prepared.perform(self.runner, worker, &self.variation.points.at(i), wanted);
            let mut tried = tried.map_err(|failure| match failure.is_interrupted() {
                true => String::new(),
                false => failure.to_string(),
            })?;
            let written = match (&tried.ran.trajectory, &tried.ran.program) {
                (Some(trajectory), Some(program)) if has_rows => Some(collect(program, trajectory, &kept, true)),
                _ => None,
            };
            if !is_drawn {
                tried.ran.trajectory = None;
            }
            // What a run has collected is not needed any more.
            tried.ran.observer = None;
            Ok((tried, written))
        };
        let keeps_columns = self.study.plots.iter().any(|plot| plot.x.is_some());
        let mut made = self.nothing_yet();
        let mut failed = None;
        for_all(self.n, self.jobs, stop, &work, &mut |i, done: Result<(Tried, Option<Rows>), String>| {
            let point = self.variation.points.at(i);
            let written = match done {
                Ok((mut tried, written)) => {
                    let row = self.row(&point, &tried);
                    made.count(&row, keeps_columns);
                    if let Some(why) = tried.remark.take().filter(|_| made.remarks.len() < MOST_LISTED) {
                        made.remarks.push((i, why));
                    }
                    self.keep_trajectory(&mut made, self.label(&point), &mut tried);
                    let more = rows.as_mut().map_or(Ok(()), |rows| rows.add(i, point.clone(), written.as_ref()));
                    self.add_row(&mut table, i, &point, row).and(more)
                }
                // Interrupted: as if it had not begun.
                Err(why) if why.is_empty() => Ok(()),
                Err(why) => {
                    made.n_failed += 1;
                    if made.failures.len() < MOST_LISTED {
                        made.failures.push((i, why));
                    }
                    self.add_row(&mut table, i, &point, Vec::new())
                }
            };
            if let Err(error) = written {
                failed.get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
            }
        });
        if let Some(error) = failed {
            return Err(lost(&error));
        }
        made.is_interrupted = progress::is_set(stop);
        for table in [Some(table), rows].into_iter().flatten() {
            if let Some(piece) = table.finish(!made.is_interrupted).map_err(|error| lost(&error))? {
                screen.show(&diagnostics::piece_kept(&piece.display().to_string()), &SourceMap::new());
            }
        }
        Ok(made)
    }

    pub fn warn_of_gaps(&self, made: &Made, screen: &Screen) {
        let first = self.names().len() - self.study.record.len();
        let with_gaps = self.study.record.iter().zip(&made.sums[first..]).filter(|(_, sum)| sum.n_missing > 0);
        for (recorded, sum) in with_gaps {
            let said = diagnostics::no_value(recorded.span, &recorded.name, sum.n_missing, made.n_ok);
            screen.show(&said, &self.study.sources);
        }
    }

    pub fn label(&self, point: &[f64]) -> String {
        let each = self.variation.names.iter().zip(point).map(|(name, value)| format!("{name} = {}", short(*value)));
        each.collect::<Vec<_>>().join(", ")
    }
}

/// What is known of a column without its values.
#[derive(Clone, Copy)]
pub struct Sum {
    pub low: f64,
    pub high: f64,
    pub sum: f64,
    pub n: usize,
    pub n_missing: usize,
}

impl Sum {
    const NONE: Sum = Sum { low: f64::NAN, high: f64::NAN, sum: 0.0, n: 0, n_missing: 0 };

    fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.n_missing += 1;
            return;
        }
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
        self.sum += value;
        self.n += 1;
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.n as f64
    }

    pub fn to_json(self) -> Value {
        json!({ "min": number(self.low), "mean": number(self.mean()), "max": number(self.high), "missing": self.n_missing })
    }
}

impl Made {
    /// One more run that succeeded.
    fn count(&mut self, row: &[f64], keeps_columns: bool) {
        self.n_ok += 1;
        self.sums.iter_mut().zip(row).for_each(|(sum, value)| sum.add(*value));
        if keeps_columns {
            self.columns.iter_mut().zip(row).for_each(|((_, column), value)| column.push(*value));
        }
    }
}

/// Shows how far a single run is.
struct Shown {
    inner: Box<dyn Sink>,
    bar: Bar,
    span: (f64, f64),
    n_events: u64,
}

impl Sink for Shown {
    fn begin(&mut self, header: &Header) -> Result<(), SinkError> {
        self.inner.begin(header)
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        let (start_time, stop_time) = self.span;
        self.bar.show_run(Progress { time, start_time, stop_time, steps: 0, events: self.n_events });
        self.inner.row(time, values)
    }

    fn event(&mut self, event: &saltus_sim::EventRecord) -> Result<(), SinkError> {
        self.n_events += 1;
        self.inner.event(event)
    }
}
