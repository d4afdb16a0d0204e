//! Many runs of one model on threads: the same machinery as `saltus sweep` and `saltus run`.
//!
//! In: names, points row by row, what to record. Out: columns in the order of the points, and why runs failed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use saltus::search::Unknown;
use saltus::study::{
    Aim, Failure, Goal, Prepared, Recorded, Runner, Study, Target, Tried, Wanted, Worker, expression, for_all,
};
use saltus::{Model, Start, results};
use saltus_base::{SourceMap, Span};
use saltus_results::{Kept, Kind};
use serde_json::json;

use crate::array::Array;
use crate::errors;
use crate::interrupt::{Active, interruptible, is_leaving};
use crate::model::RawModel;
use crate::settings::Settings;
use crate::values;

/// Names and expressions.
type Record = Vec<(String, String)>;

/// Columns with their kinds, which points have values, and why others have none.
type Columns = (Vec<(String, &'static str, Array)>, Vec<bool>, Vec<(usize, String)>);

/// What a run came to: all values of its last row, or what was recorded, or all rows.
struct Kept1 {
    values: Vec<f64>,
    n_rows: usize,
}

/// A study that only records.
fn study(py: Python, record: &Record, goal: Option<Goal>) -> PyResult<Study> {
    let mut study = Study { goal, ..Study::default() };
    for (name, text) in record {
        study.record.push(Recorded { name: name.clone(), expression: parse(py, text)?, span: Span::nowhere() });
    }
    Ok(study)
}

fn parse(py: Python, text: &str) -> PyResult<saltus::study::Expr> {
    expression::parse(text).map_err(|mistake| errors::refused(py, &format!("`{text}`: {}", mistake.message)))
}

fn prepare(py: Python, study: &Study, model: &Model) -> PyResult<Prepared> {
    Prepared::new(study, model).map_err(|wrong| errors::wrong_values(py, &wrong, &SourceMap::new()))
}

/// Everything that a run needs besides its point.
struct Batch<'a> {
    raw: &'a RawModel,
    model: Arc<Model>,
    start: Start,
    settings: Settings,
    prepared: Prepared,
    stop: Arc<AtomicBool>,
    n_recompiled: AtomicUsize,
    n_done: AtomicUsize,
}

impl Batch<'_> {
    fn run<R>(&self, names: &[String], work: impl FnOnce(&Runner) -> R) -> R {
        let progress = || {
            self.n_done.fetch_add(1, Ordering::Relaxed);
        };
        let runner = Runner {
            model: &self.model,
            permissions: self.raw.permissions,
            names,
            experiment: &self.settings.experiment,
            phases: &[],
            watch: &self.prepared.watch,
            engine: self.settings.engine,
            start: &self.start,
            overrides: &[],
            open: &|| None,
            stop: &self.stop,
            n_recompiled: &self.n_recompiled,
            progress: &progress,
        };
        work(&runner)
    }
}

impl RawModel {
    fn batch<'a>(
        &'a self,
        py: Python,
        names: &[String],
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
        study: &Study,
    ) -> PyResult<Batch<'a>> {
        let (model, start) = self.fitting(py, values::read(&self.model, given)?)?;
        let settings = Settings::read(py, settings)?;
        self.check(py, &model, &settings)?;
        for name in names {
            model.changeable(name).map_err(|why| errors::unchangeable(py, name, &why))?;
        }
        let prepared = prepare(py, study, &model)?;
        Ok(Batch {
            raw: self,
            model,
            start,
            settings,
            prepared,
            stop: Arc::new(AtomicBool::new(false)),
            n_recompiled: AtomicUsize::new(0),
            n_done: AtomicUsize::new(0),
        })
    }
}

#[pymethods]
impl RawModel {
    /// Runs at points; `points` are the bytes of numbers, row by row. Without `record` the last values of all kept variables; with
    /// `all_rows` all rows of each run, with the number of the point in front.
    #[pyo3(signature = (names, points, given, settings, record, all_rows, jobs, progress=None))]
    fn run_many(
        &self,
        py: Python,
        names: Vec<String>,
        points: &[u8],
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
        record: Record,
        all_rows: bool,
        jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Columns> {
        let mut batch = self.batch(py, &names, given, settings, &study(py, &record, None)?)?;
        let width = names.len().max(1);
        if !points.len().is_multiple_of(8 * width) {
            return Err(errors::wrong_value("points: expected a row of numbers for each run".to_owned()));
        }
        let n = points.len() / (8 * width);
        let points: Vec<f64> =
            points.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap_or_default())).collect();
        for (i, row) in points.chunks_exact(width).enumerate() {
            for (name, &value) in names.iter().zip(row) {
                batch
                    .model
                    .changeable_to(name, value)
                    .map_err(|why| errors::refused(py, &format!("`{name}` cannot be {value} (point {i}): {why}")))?;
            }
        }
        let kept = batch.settings.experiment.kept.clone();
        let is_recorded = !record.is_empty();
        if is_recorded {
            batch.settings.experiment.kept = batch.prepared.kept(None);
        }
        let columns: Mutex<Option<Vec<(String, Kind)>>> = Mutex::new(None);
        let deliver: Mutex<Vec<Option<Result<Kept1, String>>>> = Mutex::new((0..n).map(|_| None).collect());
        let (batch, columns, deliver, kept, names, record, points) =
            (&batch, &columns, &deliver, &kept, &names, &record, &points);
        let work = |i: usize, worker: &mut Worker| {
            let row = &points[i * width..(i + 1) * width];
            batch.run(names, |runner| {
                let wanted = Wanted { rows: !is_recorded, ..Wanted::default() };
                if is_recorded {
                    let tried = batch.prepared.perform(runner, worker, row, wanted).map_err(|f| f.to_string())?;
                    return Ok(Kept1 { values: tried.ran.values, n_rows: 1 });
                }
                let ran = runner.run(worker, row, wanted).map_err(|failure| failure.to_string())?;
                let (program, trajectory) = ran.program.zip(ran.trajectory).ok_or("no result")?;
                Ok(last_rows(&program, &trajectory, kept, all_rows, columns))
            })
        };
        let all = || {
            for_all(n, jobs, &batch.stop, &work, &mut |i, made| {
                let mut results = deliver.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                results[i] = Some(made);
            });
        };
        match progress {
            None => interruptible(py, &batch.stop, all)?,
            Some(progress) => watched(py, batch, n, &progress, all)?,
        }
        let results = std::mem::take(&mut *deliver.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let heads = match is_recorded {
            true => record.iter().map(|(name, _)| (name.clone(), Kind::Real)).collect(),
            false => columns.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take().unwrap_or_default(),
        };
        Ok(gather(heads, results, all_rows))
    }

    /// A search for parameters that meet targets, or an optimisation. As JSON: what was found, its value, runs, remark, recorded values.
    #[pyo3(signature = (unknowns, targets, objective, is_largest, tolerance, most_runs, given, settings, record))]
    fn seek(
        &self,
        py: Python,
        unknowns: Vec<(String, f64, f64, f64)>,
        targets: Vec<(String, f64, f64)>,
        objective: Option<String>,
        is_largest: bool,
        tolerance: f64,
        most_runs: usize,
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
        record: Record,
    ) -> PyResult<String> {
        let span = Span::nowhere();
        let aim = match &objective {
            Some(text) => Aim::Smallest { objective: parse(py, text)?, text: text.clone(), is_largest, span },
            None => {
                let target = |(text, value, within): &(String, f64, f64)| {
                    Ok(Target {
                        text: text.clone(),
                        expression: parse(py, text)?,
                        value: *value,
                        within: *within,
                        span,
                    })
                };
                Aim::Targets(targets.iter().map(target).collect::<PyResult<_>>()?)
            }
        };
        let names: Vec<String> = unknowns.iter().map(|(name, ..)| name.clone()).collect();
        let unknowns = unknowns.into_iter().map(|(name, start, min, max)| Unknown { name, start, min, max }).collect();
        let goal = Goal { unknowns, aim, tolerance, most_runs, span };
        let mut batch = self.batch(py, &names, given, settings, &study(py, &record, Some(goal))?)?;
        batch.settings.experiment.kept = batch.prepared.kept(None);
        let batch = &batch;
        let tried: Result<Tried, Failure> = interruptible(py, &batch.stop, || {
            batch.run(&names, |runner| batch.prepared.perform(runner, &mut Worker::default(), &[], Wanted::default()))
        })?;
        let tried = tried.map_err(|failure| match failure {
            Failure::Said(said) => errors::wrong_values(py, [&*said], &SourceMap::new()),
            failure => errors::failed(py, &failure.to_string()),
        })?;
        Ok(json!({
            "found": tried.found,
            "value": tried.value,
            "runs": tried.n_runs,
            "remark": tried.remark,
            "recorded": tried.ran.values,
        })
        .to_string())
    }
}

/// How often a function of the user learns how far the runs are.
const TELL: Duration = Duration::from_millis(200);

/// Tells Python how many runs are done, while they are made.
fn watched(py: Python, batch: &Batch, n: usize, progress: &Py<PyAny>, all: impl FnOnce() + Send) -> PyResult<()> {
    let _active = Active::begin(py)?;
    let over = AtomicBool::new(false);
    let raised = Mutex::new(None);
    let tell = || {
        while !over.load(Ordering::Relaxed) && !is_leaving() {
            std::thread::park_timeout(TELL);
            let done = batch.n_done.load(Ordering::Relaxed).min(n);
            if let Err(error) = Python::attach(|py| progress.call1(py, (done, n))) {
                batch.stop.store(true, Ordering::Relaxed);
                *raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
                return;
            }
        }
    };
    let done = std::thread::scope(|scope| {
        let teller = std::thread::Builder::new().spawn_scoped(scope, tell);
        let done = interruptible(py, &batch.stop, all);
        over.store(true, Ordering::Relaxed);
        if let Ok(teller) = teller {
            teller.thread().unpark();
            // It may be waiting for the interpreter lock.
            let _ = py.detach(|| teller.join());
        }
        done
    });
    let raised = raised.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    raised.map_or(done, Err)
}

fn last_rows(
    program: &saltus_program::SimProgram,
    trajectory: &saltus_sim::Trajectory,
    kept: &Kept,
    all_rows: bool,
    columns: &Mutex<Option<Vec<(String, Kind)>>>,
) -> Kept1 {
    let table = results::of(program, trajectory, &|name| kept.keeps(name));
    let signals: Vec<_> = table.series().collect();
    let mut known = columns.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    known.get_or_insert_with(|| {
        let names = signals.iter().map(|s| (s.name.clone(), s.kind));
        std::iter::once(("time".to_owned(), Kind::Real)).chain(names).collect()
    });
    drop(known);
    let n_rows = table.times.len();
    let first = if all_rows { 0 } else { n_rows.saturating_sub(1) };
    let values: Vec<_> = signals.iter().map(|s| table.values_of(s)).collect();
    let mut all = Vec::with_capacity((n_rows - first) * (values.len() + 1));
    for row in first..n_rows {
        all.push(table.times[row]);
        all.extend(values.iter().map(|c| c.get(row).copied().unwrap_or(f64::NAN)));
    }
    Kept1 { values: all, n_rows: n_rows - first }
}

/// Columns in the order of the points; a point without a result has a row without values, or none if there are all rows.
fn gather(heads: Vec<(String, Kind)>, results: Vec<Option<Result<Kept1, String>>>, all_rows: bool) -> Columns {
    let width = heads.len();
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); width];
    let (mut numbers, mut ok, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for (i, result) in results.into_iter().enumerate() {
        match result {
            Some(Ok(kept)) if kept.values.len() == width * kept.n_rows => {
                for row in kept.values.chunks_exact(width.max(1)) {
                    values.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
                    numbers.push(i as f64);
                }
                ok.push(true);
            }
            other => {
                let why = match other {
                    Some(Err(why)) => why,
                    Some(Ok(_)) => "it has other variables than the runs before".to_owned(),
                    None => "not run".to_owned(),
                };
                failures.push((i, why));
                ok.push(false);
                if !all_rows {
                    values.iter_mut().for_each(|column| column.push(f64::NAN));
                    numbers.push(i as f64);
                }
            }
        }
    }
    let head = all_rows.then(|| ("run".to_owned(), Kind::Integer.name(), Array::own(numbers)));
    let each = heads.into_iter().zip(values).map(|((name, kind), values)| (name, kind.name(), Array::own(values)));
    (head.into_iter().chain(each).collect(), ok, failures)
}
