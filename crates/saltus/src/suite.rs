//! All models of a library that can be simulated, run on all cores and compared with references.
//!
//! In: classes to search, and a directory of reference results. Out: a [`Verdict`] for each model with an `experiment`
//! annotation, in the order of their names.
//!
//! The reference of `P.Examples.Ball` is the first result of `P/Examples/Ball/`, or `P/Examples/Ball.csv` (`.mat`, `.parquet`),
//! or `P.Examples.Ball.csv`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use saltus_base::Severity;
use saltus_library::{ClassId, Library};
use saltus_results::{Comparison, Format, Kept, Results, Tube, compare};
use saltus_syntax::ast::{Argument, ClassBody, ClassDef, ClassKind};

use crate::pipeline::{self, Experiment, Options, Outcome, Stage};
use crate::{Session, guard, results};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// The model does not compile.
    Wrong,
    /// The simulation ended early.
    Failed,
    /// Some signal differs from the reference.
    Different,
    /// Ran to the end; there is no reference.
    Simulated,
    /// Ran to the end, and all signals of the reference agree.
    Verified,
}

impl Status {
    pub const ALL: [Status; 5] =
        [Status::Verified, Status::Simulated, Status::Different, Status::Failed, Status::Wrong];

    pub fn name(self) -> &'static str {
        match self {
            Status::Wrong => "wrong",
            Status::Failed => "failed",
            Status::Different => "different",
            Status::Simulated => "simulated",
            Status::Verified => "verified",
        }
    }

    pub fn from_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|s| s.name() == name)
    }

    pub fn is_good(self) -> bool {
        self >= Status::Simulated
    }
}

pub struct Verdict {
    pub class: String,
    pub status: Status,
    /// The first error.
    pub message: Option<String>,
    pub time: Duration,
    pub comparison: Option<Comparison>,
    /// Both results where they differ, for a picture: reference and result.
    pub tables: Option<(Results, Results)>,
}

pub struct Suite<'a> {
    /// Opens the session of a thread.
    pub open: &'a (dyn Fn() -> Session + Sync),
    pub reference: Option<&'a Path>,
    pub tube: Tube,
    pub time_limit: Option<Duration>,
    pub jobs: usize,
    pub stop: &'a AtomicBool,
}

/// Names of all models with an `experiment` annotation that has a stop time, in these classes and below.
pub fn experiments(library: &Library, roots: &[ClassId]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(ClassId, u32)> = roots.iter().map(|&id| (id, 0)).collect();
    while let Some((id, depth)) = open.pop() {
        let Some(definition) = library.definition(id) else { continue };
        let is_model = matches!(definition.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class);
        if is_model && !definition.is_partial && has_experiment(library, definition) {
            found.push(library.qualified_name(id));
        }
        if depth < 64 && !matches!(definition.kind, ClassKind::Function | ClassKind::Record | ClassKind::Type) {
            open.extend(library.children(id).into_iter().map(|child| (child, depth + 1)));
        }
    }
    found.sort();
    found.dedup();
    found
}

fn has_experiment(library: &Library, definition: &ClassDef) -> bool {
    let annotation = match &definition.body {
        ClassBody::Long(class) => class.annotation.as_ref(),
        ClassBody::Short(class) => class.comment.annotation.as_ref(),
        _ => None,
    };
    let (experiment, stop_time) = (library.intern("experiment"), library.intern("StopTime"));
    let find = |arguments: &'_ [Argument], name| {
        arguments.iter().position(|argument| match argument {
            Argument::Modification(m) => m.name.parts.first().is_some_and(|part| part.name == name),
            _ => false,
        })
    };
    let Some(annotation) = annotation else { return false };
    let arguments = &annotation.modification.arguments;
    let Some(Argument::Modification(found)) = find(arguments, experiment).and_then(|i| arguments.get(i)) else {
        return false;
    };
    let class = found.modification.as_ref().and_then(|m| m.class.as_ref());
    class.is_some_and(|class| find(&class.arguments, stop_time).is_some())
}

/// The file of reference results for a class.
pub fn reference_file(dir: &Path, class: &str) -> Option<PathBuf> {
    let nested: PathBuf = class.split('.').collect();
    let extensions = Format::EXTENSIONS.map(|(extension, _)| extension);
    for stem in [dir.join(&nested), dir.join(class)] {
        for extension in extensions {
            let path = PathBuf::from(format!("{}.{extension}", stem.display()));
            if path.is_file() {
                return Some(path);
            }
        }
    }
    let entries = std::fs::read_dir(dir.join(&nested)).ok()?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    files.into_iter().find(|f| f.is_file() && Format::of(f).is_some())
}

/// Stack of a thread: the front end recurses as deep as classes nest.
const STACK: usize = 512 << 20;

impl Suite<'_> {
    /// Runs all classes; `progress` learns how many are done.
    pub fn run(&self, classes: &[String], progress: &(dyn Fn(usize) + Sync)) -> Vec<Verdict> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(classes.iter().map(|_| None).collect());
        let work = || {
            while let Some((i, class)) = {
                let i = next.fetch_add(1, Ordering::Relaxed);
                classes.get(i).filter(|_| !self.stop.load(Ordering::Relaxed)).map(|class| (i, class))
            } {
                let verdict = guard::catch(|| self.judge(class)).unwrap_or_else(|d| self.broken(class, d.message));
                if let Some(place) = verdicts.lock().unwrap_or_else(|e| e.into_inner()).get_mut(i) {
                    *place = Some(verdict);
                }
                progress(done.fetch_add(1, Ordering::Relaxed) + 1);
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
        let missing =
            |(v, class): (Option<Verdict>, &String)| v.unwrap_or_else(|| self.broken(class, "not run".into()));
        verdicts.into_iter().zip(classes).map(missing).collect()
    }

    fn broken(&self, class: &str, message: String) -> Verdict {
        let time = Duration::ZERO;
        Verdict {
            class: class.into(),
            status: Status::Wrong,
            message: Some(message),
            time,
            comparison: None,
            tables: None,
        }
    }

    fn judge(&self, class: &str) -> Verdict {
        let started = Instant::now();
        let mut verdict = self.broken(class, String::new());
        let session = (self.open)();
        let id = match session.class(Some(class)) {
            Ok(id) => id,
            Err(error) => return self.broken(class, error.message),
        };
        let reference = match self.reference.and_then(|dir| reference_file(dir, class)) {
            Some(path) => match read(&path) {
                Ok(results) => Some(results),
                Err(why) => return self.broken(class, why),
            },
            None => None,
        };
        let mut options = Options::until(Stage::Simulate);
        options.experiment = Experiment { time_limit: self.time_limit, ..Experiment::default() };
        if let Some((&start, &stop)) = reference.as_ref().and_then(|r| r.times.first().zip(r.times.last())) {
            // The reference says what was run; the annotation may have changed since.
            (options.experiment.start_time, options.experiment.stop_time) = (Some(start), Some(stop));
        }
        let compared = reference.iter().flat_map(|r| &r.signals).map(|s| s.name.clone());
        options.experiment.kept = Kept::only(&[], compared);
        let outcome = pipeline::run(&session, id, &options);
        verdict.status = match (outcome.failed_at_run_time, outcome.has_errors()) {
            (true, _) => Status::Failed,
            (false, true) => Status::Wrong,
            (false, false) => Status::Simulated,
        };
        verdict.message = first_error(&outcome);
        if let (Status::Simulated, Some(reference)) = (verdict.status, reference) {
            self.compare(&outcome, reference, &mut verdict);
        }
        verdict.time = started.elapsed();
        verdict
    }

    fn compare(&self, outcome: &Outcome, reference: Results, verdict: &mut Verdict) {
        let (Some(program), Some(trajectory)) = (outcome.program(), &outcome.trajectory) else { return };
        let found = results::of(program, trajectory, &|name| reference.signal(name).is_some());
        let comparison = compare(&reference, &found, self.tube, &|_| true);
        verdict.status = if comparison.is_same() { Status::Verified } else { Status::Different };
        if let Some((name, _)) = comparison.different().next() {
            let n = comparison.different().count();
            verdict.message = Some(format!("{n} of {} signals differ, the first is {name}", comparison.signals.len()));
            verdict.tables = Some((reference, found));
        }
        verdict.comparison = Some(comparison);
    }
}

fn read(path: &Path) -> Result<Results, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let format = Format::of(path).unwrap_or(Format::Csv);
    Results::read(&bytes, format, "reference").map_err(|e| format!("{}: {e}", path.display()))
}

fn first_error(outcome: &Outcome) -> Option<String> {
    let first = outcome.diagnostics.iter().find(|d| d.severity == Severity::Error)?;
    Some(format!("{}: {}", first.code.0, first.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;

    #[test]
    fn models_with_a_stop_time_are_found() {
        let text = "package P
            package Q model B annotation(experiment(StopTime = 1)); end B; end Q;
            model A annotation(Icon(), experiment(Interval = 1, StopTime = 2)); end A;
            partial model C annotation(experiment(StopTime = 2)); end C;
            model D annotation(experiment(Interval = 1)); end D;
            function F annotation(experiment(StopTime = 2)); end F;
            end P;";
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        session.load_text("P.mo", text);
        assert_eq!(experiments(session.library(), session.own_classes()), ["P.A", "P.Q.B"]);
    }
}
