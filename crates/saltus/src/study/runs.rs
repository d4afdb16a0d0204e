//! Runs of one model with other values of some parameters, on several threads.
//!
//! In: a compiled model and points. Out: what each run came to, in the order of the points, whatever thread made it, and not more of them
//! in memory than the threads are apart.
//!
//! Ordinary parameters live in memory: a run begins by writing them there. Parameters that the program was made for
//! (`n` in `Real x[n]`) need a program for each value; so does a run that fails, because a value such as zero may want another
//! structure.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use saltus_base::{Diagnostic, Severity};
use saltus_library::ClassId;
use saltus_program::{ModelFunctions, Stopwatch};
use saltus_sim::{SimError, SimErrorKind, Sink, Solver};

use super::phases::{Course, PreparedPhase};
use super::read::apply_setting;
use super::watch::Watch;
use crate::configurations::Pool;
use crate::pipeline::{self, Engine, Experiment, Options, Stage};
use crate::{Model, Permissions, Session, Start, guard};

pub use super::phases::Ran;

/// Opens the session of a thread and finds the class in it; `None` where there is only the compiled model.
pub type Open<'a> = &'a (dyn Fn() -> Option<(Session, ClassId)> + Sync);

/// How to make a run.
pub struct Runner<'a> {
    pub model: &'a Arc<Model>,
    pub permissions: Permissions,
    /// Parameters that differ from run to run.
    pub names: &'a [String],
    pub experiment: &'a Experiment,
    pub phases: &'a [PreparedPhase],
    pub watch: &'a Arc<Watch>,
    pub engine: Engine,
    /// Values that are set in the compiled model.
    pub start: &'a Start,
    /// Other parameters, as Modelica expressions.
    pub overrides: &'a [(String, String)],
    pub open: Open<'a>,
    /// Set from outside to end early.
    pub stop: &'a Arc<AtomicBool>,
    /// Runs that were compiled for themselves.
    pub n_recompiled: &'a AtomicUsize,
    /// Learns of each run that is done.
    pub progress: &'a (dyn Fn() + Sync),
}

/// How the runs are made.
#[derive(Clone, PartialEq, Debug)]
pub enum Method {
    /// One program for all.
    CompiledOnce,
    /// A program for each run, because of this.
    CompiledEach { why: String },
}

/// What a thread keeps from run to run.
#[derive(Default)]
pub struct Worker {
    instance: Option<Box<dyn ModelFunctions>>,
    pool: Pool,
}

/// Why a run has no result.
#[derive(Clone, Debug)]
pub enum Failure {
    Simulation(Box<SimError>),
    /// A search has found nothing.
    Said(Box<Diagnostic>),
    Other(String),
}

impl Failure {
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Failure::Simulation(error) if error.kind == SimErrorKind::Interrupted)
    }

    /// A value such as zero may make the equations of another structure unsolvable.
    fn may_be_structure(&self) -> bool {
        let Failure::Simulation(error) = self else { return false };
        matches!(error.kind, SimErrorKind::CannotEvaluate { .. } | SimErrorKind::NotANumber { .. })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Failure::Simulation(error) => error.fmt(f),
            Failure::Said(said) => f.write_str(&said.message),
            Failure::Other(why) => f.write_str(why),
        }
    }
}

/// What is wanted of a run besides the values of the study.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Rows in memory.
    pub rows: bool,
    /// Linear models.
    pub linearize: &'a [super::task::LinearizePrepared],
    /// Another place for rows and events.
    pub sink: Option<&'a MakeSink<'a>>,
}

/// Makes the place for the rows and events of a run.
pub type MakeSink<'a> = dyn Fn(&Arc<Model>) -> Box<dyn Sink> + 'a;

impl Runner<'_> {
    /// Can one program do all runs? What decides is proven when the model is compiled.
    pub fn method(&self) -> Method {
        let why = self.names.iter().find_map(|name| {
            let why = self.model.changeable(name).err()?;
            Some(format!("`{name}` cannot be changed in the compiled model: {why}"))
        });
        why.map_or(Method::CompiledOnce, |why| Method::CompiledEach { why })
    }

    /// One run with these values of the parameters.
    pub fn run(&self, worker: &mut Worker, values: &[f64], wanted: Wanted) -> Result<Ran, Failure> {
        let ran = self.run_anyhow(worker, values, wanted);
        (self.progress)();
        ran
    }

    fn run_anyhow(&self, worker: &mut Worker, values: &[f64], wanted: Wanted) -> Result<Ran, Failure> {
        let mut first = None;
        if self.method() == Method::CompiledOnce {
            let instance = worker.instance.take();
            let instance = instance.unwrap_or_else(|| self.instance(self.model));
            let (back, ran) = self.course(self.model, worker).run(instance, values, wanted);
            worker.instance = back;
            match ran {
                Err(failure) if failure.may_be_structure() => first = Some(failure),
                ran => return ran,
            }
        }
        let Some((session, class)) = (self.open)() else {
            // There is no source to compile it from: what went wrong with the program is all that is known.
            return Err(first.unwrap_or_else(|| Failure::Other("the class is not found any more".to_owned())));
        };
        self.n_recompiled.fetch_add(1, Ordering::Relaxed);
        let model = self.compile(&session, class, values)?;
        let instance = self.instance(&model);
        let own = Worker::default();
        Runner { names: &[], model: &model, ..*self }.course(&model, &own).run(instance, &[], wanted).1
    }

    /// An instance for all phases: one that fits quantised states fits all solvers.
    fn instance(&self, model: &Model) -> Box<dyn ModelFunctions> {
        let of_phase = |phase: &PreparedPhase| {
            let mut experiment = self.experiment.clone();
            phase.settings.iter().for_each(|(name, setting)| apply_setting(&mut experiment, name, setting));
            experiment.solver
        };
        let mut solvers = [self.experiment.solver].into_iter().chain(self.phases.iter().map(of_phase));
        let solver = if solvers.any(|s| s == Solver::Liqss2) { Solver::Liqss2 } else { self.experiment.solver };
        model.instance_for(solver, self.engine, self.permissions, &Stopwatch::default())
    }

    fn course<'a>(&'a self, model: &'a Arc<Model>, worker: &'a Worker) -> Course<'a> {
        Course {
            model,
            permissions: self.permissions,
            engine: self.engine,
            names: self.names,
            experiment: self.experiment,
            phases: self.phases,
            watch: self.watch,
            start: self.start,
            stop: self.stop,
            pool: worker.pool.clone(),
        }
    }

    /// The whole way from the source for these values.
    fn compile(&self, session: &Session, class: ClassId, values: &[f64]) -> Result<Arc<Model>, Failure> {
        let mut options = Options::until(Stage::Compile);
        options.overrides = overrides(self.overrides, self.names, values);
        options.engine = self.engine;
        pipeline::compile(session, class, &options).map_err(|found| {
            let first = found.iter().find(|d| d.severity == Severity::Error);
            Failure::Other(first.map_or_else(|| "it does not compile".to_owned(), |d| d.message.clone()))
        })
    }
}

/// What is set for all runs, and the values of one of them.
pub fn overrides(common: &[(String, String)], names: &[String], values: &[f64]) -> Vec<(String, String)> {
    let own = names.iter().zip(values).map(|(name, value)| (name.clone(), literal(*value)));
    common.iter().cloned().chain(own).collect()
}

/// An Integer where it is one, so that Integer parameters can be varied, too.
pub(super) fn literal(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:?}") }
}

/// Stack of a thread, for functions that recurse.
const STACK: usize = 256 << 20;
/// So many finished points may wait for an earlier one, for each thread.
const WINDOW: usize = 64;

/// Does `work` for the points 0 … n - 1 on several threads and hands over what came of them in their order, as soon as all earlier ones
/// have been. A thread that is too far ahead of the others waits. When `stop` is set no further point is begun.
pub fn for_all<T: Send>(
    n: usize,
    jobs: usize,
    stop: &AtomicBool,
    work: &(dyn Fn(usize, &mut Worker) -> Result<T, String> + Sync),
    deliver: &mut (dyn FnMut(usize, Result<T, String>) + Send),
) {
    let window = WINDOW * jobs.max(1);
    let queue = Queue {
        state: Mutex::new(Waiting { next: 0, n_delivered: 0, ready: BTreeMap::new() }),
        moved: Condvar::new(),
        deliver: Mutex::new(deliver),
    };
    let one_thread = || {
        let mut worker = Worker::default();
        while let Some(index) = queue.claim(n, window, stop) {
            let made = guard::catch(|| work(index, &mut worker));
            let made = made.unwrap_or_else(|internal| {
                worker = Worker::default();
                Err(internal.message)
            });
            queue.hand_over(index, made);
        }
    };
    on_threads(jobs, &one_thread);
    queue.hand_over_rest();
}

struct Waiting<T> {
    next: usize,
    n_delivered: usize,
    ready: BTreeMap<usize, Result<T, String>>,
}

type Deliver<'a, T> = &'a mut (dyn FnMut(usize, Result<T, String>) + Send);

struct Queue<'a, T> {
    state: Mutex<Waiting<T>>,
    moved: Condvar,
    deliver: Mutex<Deliver<'a, T>>,
}

impl<T> Queue<'_, T> {
    fn claim(&self, n: usize, window: usize, stop: &AtomicBool) -> Option<usize> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.next >= n || stop.load(Ordering::Relaxed) {
                return None;
            }
            if state.next < state.n_delivered + window {
                state.next += 1;
                return Some(state.next - 1);
            }
            let pause = std::time::Duration::from_millis(50);
            state = self.moved.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn hand_over(&self, index: usize, made: Result<T, String>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ready.insert(index, made);
        // One thread hands over at a time, so that the order is kept.
        let mut deliver = self.deliver.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let index = state.n_delivered;
            let Some(made) = state.ready.remove(&index) else { break };
            drop(state);
            deliver(index, made);
            self.state.lock().unwrap_or_else(PoisonError::into_inner).n_delivered = index + 1;
            self.moved.notify_all();
        }
    }

    /// What was computed behind a gap that an interruption has left.
    fn hand_over_rest(self) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let deliver = self.deliver.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.ready.into_iter().for_each(|(index, made)| deliver(index, made));
    }
}

/// Runs `work` on several threads and waits for all of them.
fn on_threads(n: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 0..n.max(1) {
            let builder = std::thread::Builder::new().stack_size(STACK);
            if builder.spawn_scoped(scope, || drop(guard::catch(work))).is_err() {
                // No more threads to be had: this one works, too.
                drop(guard::catch(work));
                break;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_in_their_order_and_not_too_many_at_a_time() {
        let n_alive = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let work = |i: usize, _: &mut Worker| {
            let alive = n_alive.fetch_add(1, Ordering::Relaxed) + 1;
            most.fetch_max(alive, Ordering::Relaxed);
            if i == 0 {
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            if i % 7 == 3 { Err(format!("{i}")) } else { Ok(i) }
        };
        let mut seen = Vec::new();
        for_all(5000, 4, &AtomicBool::new(false), &work, &mut |i, made| {
            n_alive.fetch_sub(1, Ordering::Relaxed);
            assert!(made.map_or_else(|why| why == i.to_string(), |found| found == i));
            seen.push(i);
        });
        assert_eq!(seen, (0..5000).collect::<Vec<_>>());
        assert!(most.into_inner() <= 4 * WINDOW + 4);
    }

    #[test]
    fn a_panic_is_the_failure_of_one_point() {
        let work = |i: usize, _: &mut Worker| if i == 2 { panic!("no") } else { Ok(i) };
        let mut failed = Vec::new();
        for_all(6, 2, &AtomicBool::new(false), &work, &mut |i, made| {
            if made.is_err() {
                failed.push(i);
            }
        });
        assert_eq!(failed, [2]);
    }
}
