//! All models of a library that can be simulated, run on all cores and compared with references.
//!
//! In: names of models ([`tests`]) and a directory of reference results ([`References`]). Out: a [`Verdict`] for each model, in
//! the order of the names; each is shown to an observer as soon as it is there.

mod references;
mod selection;
mod status;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use saltus_base::{Severity, SourceMap};
use saltus_program::{SimProgram, Stopwatch};
use saltus_results::{Comparison, Difference, Kept, Results, Tube, compare};

pub use references::{References, Settings};
pub use selection::{is_below, must_fail, tests};
pub use status::Status;

use crate::audit::{Finding, Report, Settings as AuditSettings};
use crate::pipeline::{self, Options, Outcome, Stage, Stoppable};
use crate::{Session, diagnostics, guard, results};

pub struct Verdict {
    pub class: String,
    pub status: Status,
    /// The first error.
    pub message: Option<String>,
    pub time: Duration,
    pub comparison: Option<Comparison>,
    /// Both results where they differ, for a picture: reference and result.
    pub tables: Option<(Results, Results)>,
    pub audit: Option<Audited>,
}

/// The audit of a model.
pub struct Audited {
    pub report: Report,
    /// Equations that do not hold: file and line without the path, and what there is to say.
    pub violations: Vec<(String, String)>,
}

impl Verdict {
    /// A verdict without a comparison; an empty message is none.
    pub fn new(class: &str, status: Status, message: String) -> Verdict {
        let (message, time) = (Some(message).filter(|m| !m.is_empty()), Duration::ZERO);
        Verdict { class: class.to_owned(), status, message, time, comparison: None, tables: None, audit: None }
    }
}

/// What becomes of a model without a reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreferenced {
    Simulate,
    /// It is checked and not simulated.
    Check,
    Skip,
}

pub struct Suite<'a> {
    /// Opens the session of a thread.
    pub open: &'a (dyn Fn() -> Session + Sync),
    pub references: Option<&'a References>,
    pub unreferenced: Unreferenced,
    pub tube: Tube,
    pub time_limit: Option<Duration>,
    pub jobs: usize,
    /// Keep both tables of a model that differs; they need memory until the end.
    pub keeps_tables: bool,
    pub stop: &'a Arc<AtomicBool>,
    /// Audit every simulation.
    pub audit: Option<AuditSettings>,
    pub stopwatch: Stopwatch,
}

/// Stack of a thread: the front end recurses as deep as classes nest.
const STACK: usize = 512 << 20;

impl Suite<'_> {
    /// Is this model run at all?
    pub fn takes(&self, class: &str) -> bool {
        let has_reference = |r: &References| r.file(class).is_some() || r.listed().any(|name| name == class);
        self.unreferenced != Unreferenced::Skip || self.references.is_some_and(has_reference)
    }

    /// Runs all classes; `observer` learns of each verdict when it is there, and how many there are by then.
    pub fn run(&self, classes: &[String], observer: &(dyn Fn(&Verdict, usize) + Sync)) -> Vec<Verdict> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(classes.iter().map(|_| None).collect());
        let work = || {
            while let Some((i, class)) = {
                let i = next.fetch_add(1, Ordering::Relaxed);
                classes.get(i).filter(|_| !self.stop.load(Ordering::Relaxed)).map(|class| (i, class))
            } {
                let judged = guard::catch(|| self.judge(class));
                let verdict = judged.unwrap_or_else(|d| Verdict::new(class, Status::Wrong, d.message));
                observer(&verdict, done.fetch_add(1, Ordering::Relaxed) + 1);
                if let Some(place) = verdicts.lock().unwrap_or_else(|e| e.into_inner()).get_mut(i) {
                    *place = Some(verdict);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                if std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).is_err() {
                    work();
                    break;
                }
            }
        });
        let verdicts = verdicts.into_inner().unwrap_or_else(|e| e.into_inner());
        let not_run = |class: &String| Verdict::new(class, Status::Missing, "interrupted".to_owned());
        verdicts.into_iter().zip(classes).map(|(v, class)| v.unwrap_or_else(|| not_run(class))).collect()
    }

    fn judge(&self, class: &str) -> Verdict {
        let started = self.stopwatch.now();
        let mut verdict = self.verdict(class).unwrap_or_else(|why| Verdict::new(class, Status::Missing, why));
        verdict.time = self.stopwatch.since(started);
        verdict
    }

    /// An error says why the model cannot be tested.
    fn verdict(&self, class: &str) -> Result<Verdict, String> {
        let started = self.stopwatch.now();
        let session = (self.open)();
        let id = session.class(Some(class)).map_err(|error| error.message)?;
        let reference = self.references.map_or(Ok(None), |r| r.read(class))?;
        let must_fail = must_fail(session.library(), id);
        let options = self.options(class, reference.as_ref(), must_fail);
        let mut outcome = pipeline::run_with(&session, id, &options, &mut Stoppable(self.stop.clone()));
        let status = match (outcome.failed_at_run_time, outcome.has_errors(), &outcome.trajectory) {
            (true, _, _) => Status::Failed,
            (false, true, _) => Status::Wrong,
            (false, false, None) => Status::Checked,
            (false, false, Some(_)) => Status::Simulated,
        };
        let mut verdict = Verdict { message: first_error(&outcome), ..Verdict::new(class, status, String::new()) };
        if let (Status::Simulated, Some(reference)) = (status, reference) {
            self.compare(&outcome, reference, &mut verdict);
        }
        verdict.audit = outcome.audit.take().map(|report| session.with_sources(|sources| audited(report, sources)));
        if must_fail {
            let is_over = self.time_limit.is_some_and(|limit| self.stopwatch.since(started) >= limit);
            expect_failure(&outcome, is_over, &mut verdict);
        }
        Ok(verdict)
    }

    fn options(&self, class: &str, reference: Option<&Results>, must_fail: bool) -> Options {
        let only_checked = reference.is_none() && self.unreferenced == Unreferenced::Check && !must_fail;
        let mut options = Options::until(if only_checked { Stage::Check } else { Stage::Simulate });
        if let (Some(references), Some(reference)) = (self.references, reference) {
            options.experiment = references.settings(class).experiment(reference);
        }
        options.experiment.time_limit = self.time_limit;
        options.stopwatch = self.stopwatch.clone();
        options.audit = self.audit;
        let compared = reference.into_iter().flat_map(|r| &r.signals).map(|s| s.name.clone());
        options.experiment.kept = Kept::only(&[], compared);
        options
    }

    fn compare(&self, outcome: &Outcome, reference: Results, verdict: &mut Verdict) {
        let (Some(program), Some(trajectory)) = (outcome.program(), &outcome.trajectory) else { return };
        let found = results::of(program, trajectory, &|name| reference.signal(name).is_some());
        let grid = self.references.and_then(|r| r.settings(&verdict.class).interval);
        let mut comparison = compare(&reference, &found, self.tube, grid, &|_| true);
        if let Some(tolerance) = self.references.and_then(|r| r.settings(&verdict.class).tolerance) {
            for (name, difference) in &mut comparison.signals {
                if is_below_tolerance(program, name, &[&reference, &found], tolerance) {
                    *difference = Difference::None;
                }
            }
        }
        verdict.message = comparison.summary();
        if !program.events.terminations.is_empty() && verdict.message.is_none() {
            verdict.message = runs_on(&reference, &found, self.tube);
        }
        verdict.status = if verdict.message.is_none() { Status::Verified } else { Status::Different };
        if verdict.message.is_some() && self.keeps_tables {
            verdict.tables = Some((reference, found));
        }
        verdict.comparison = Some(comparison);
    }
}

/// The verdict on a model that must fail; a defect of the compiler and a limit of time are not its failure.
fn expect_failure(outcome: &Outcome, is_over: bool, verdict: &mut Verdict) {
    let is_ours = outcome.diagnostics.iter().any(|d| d.code == diagnostics::internal_error("").code);
    verdict.status = match verdict.status {
        Status::Wrong | Status::Failed if is_ours || is_over => verdict.status,
        Status::Wrong | Status::Failed => Status::Refused,
        _ => Status::Unexpected,
    };
    if verdict.status == Status::Unexpected {
        verdict.message = Some("should fail, as its TestCase annotation says, and does not".to_owned());
    }
}

/// Is it a state that is nowhere larger than the error of one step may be? Then it is zero as far as either of the runs can tell.
fn is_below_tolerance(program: &SimProgram, name: &str, tables: &[&Results], tolerance: f64) -> bool {
    let state = program.find_variable(name).and_then(|v| program.states.iter().find(|s| s.value == v.slot));
    state.is_some_and(|state| {
        let bound = tolerance * state.nominal.abs();
        let is_small = |table: &&Results| table.values(name).is_some_and(|v| v.iter().all(|v| v.abs() <= bound));
        tables.iter().all(is_small)
    })
}

/// A model with `terminate` must end where its reference ends. Other references just cover a part of the time.
fn runs_on(reference: &Results, found: &Results, tube: Tube) -> Option<String> {
    let (&start, &end) = reference.times.first().zip(reference.times.last())?;
    let last = *found.times.last()?;
    let is_later = last > end + tube.relative * (end - start);
    is_later.then(|| format!("runs until time {last}, its reference until {end}"))
}

fn audited(report: Report, sources: &SourceMap) -> Audited {
    let place = |finding: &Finding| {
        let location = sources.location(finding.span).unwrap_or_default();
        let name = location.rsplit(['/', '\\']).next().unwrap_or_default();
        // Without the column.
        name.rsplit_once(':').map_or(name, |(place, _)| place).to_owned()
    };
    let violations = report.violations().iter().map(|f| (place(f), diagnostics::unsatisfied(f).message)).collect();
    Audited { report, violations }
}

fn first_error(outcome: &Outcome) -> Option<String> {
    let first = outcome.diagnostics.iter().find(|d| d.severity == Severity::Error)?;
    Some(format!("{}: {}", first.code.0, first.message))
}
