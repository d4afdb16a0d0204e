//! Searches: parameters with which a run meets targets, or with which an expression is smallest.
//!
//! In: a study as `saltus run` reads it, with `[search]` or `[optimize]`. Out: the points that were tried, as they are tried; then the
//! answer, and a run with it that pages look at like any other. A search is made on a thread of its own, and forgotten with the server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use saltus::study::{Aim, Failure, Goal, Prepared, Runner, Study, Trial, Worker};
use saltus::{Model, Start, diagnostics};
use saltus_base::{Diagnostic, Span};
use serde_json::{Value, json};

use crate::events::number;
use crate::messages;
use crate::runs::Surroundings;

/// Points that a search may try.
pub const MOST_TRIALS: usize = 10_000;
/// Pages are told of progress that often.
const REFRESH: Duration = Duration::from_millis(120);
/// Functions of models may recurse.
const STACK: usize = 64 << 20;

pub struct Search {
    pub id: u64,
    pub class: String,
    pub study: Study,
    pub goal: Goal,
    stop: Arc<AtomicBool>,
    state: Mutex<State>,
}

/// Values of the unknowns and what came of them: values, or why there are none.
type Point = (Vec<f64>, Result<Vec<f64>, String>);

#[derive(Default)]
struct State {
    phase: Phase,
    trials: Vec<Point>,
    found: Vec<f64>,
    /// What an optimisation has reached, or what is left of more targets than unknowns.
    value: Option<f64>,
    remark: Option<String>,
    messages: Vec<Value>,
    seconds: f64,
    /// The run with the answer.
    run: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Compiling,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl Search {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn names(&self) -> Vec<String> {
        self.goal.unknowns.iter().map(|unknown| unknown.name.clone()).collect()
    }

    /// What is wanted: texts with their values, or one without.
    fn aims(&self) -> Vec<Value> {
        match &self.goal.aim {
            Aim::Targets(all) => {
                all.iter().map(|t| json!({"text": t.text, "value": t.value, "within": t.within})).collect()
            }
            Aim::Smallest { text, .. } => vec![json!({"text": text})],
        }
    }

    pub fn describe(&self) -> Value {
        let state = self.state();
        let phase = match state.phase {
            Phase::Compiling => "compiling",
            Phase::Running => "running",
            Phase::Done => "done",
            Phase::Failed => "failed",
            Phase::Cancelled => "cancelled",
        };
        json!({
            "id": self.id, "class": self.class, "phase": phase, "kind": kind(&self.goal), "method": method(&self.goal),
            "names": self.names(), "aims": self.aims(), "trials": state.trials.len(), "most": self.goal.most_runs,
            "found": state.found.iter().map(|v| number(*v)).collect::<Vec<_>>(), "value": state.value.map(number),
            "remark": state.remark, "messages": state.messages, "seconds": state.seconds, "run": state.run,
        })
    }

    /// What was tried, from a number on.
    pub fn trials(&self, from: usize) -> Value {
        let numbers = |values: &[f64]| -> Value { values.iter().map(|v| number(*v)).collect() };
        let state = self.state();
        let line = |(unknowns, values): &Point| match values {
            Ok(values) => json!({"at": numbers(unknowns), "values": numbers(values)}),
            Err(why) => json!({"at": numbers(unknowns), "why": why}),
        };
        state.trials.iter().skip(from).map(line).collect()
    }

    /// Carries it out. `answer` begins the run with what was found, and gives its number.
    fn carry_out(
        &self,
        around: &Surroundings,
        compile: impl FnOnce() -> Result<(Arc<Model>, Start), Vec<Value>>,
        answer: impl FnOnce(&[f64]) -> Option<u64>,
    ) {
        let publish = || around.hub.publish(&json!({"type": "search", "search": self.describe()}));
        publish();
        let started = around.stopwatch.now();
        let ended = compile().and_then(|(model, start)| {
            self.state().phase = Phase::Running;
            publish();
            let mut told = Duration::ZERO;
            self.perform(around, &model, &start, &mut |trial| {
                let values = trial.values.map(<[f64]>::to_vec).map_err(Failure::to_string);
                self.state().trials.push((trial.unknowns.to_vec(), values));
                if around.stopwatch.since(told) >= REFRESH {
                    told = around.stopwatch.now();
                    publish();
                }
            })
        });
        self.state().seconds = around.stopwatch.since(started).as_secs_f64();
        match ended {
            Ok(()) => {
                let found = self.state().found.clone();
                let run = answer(&found);
                let mut state = self.state();
                (state.run, state.phase) = (run, Phase::Done);
            }
            Err(messages) => {
                let is_stopped = self.stop.load(Ordering::Relaxed);
                let mut state = self.state();
                state.phase = if is_stopped { Phase::Cancelled } else { Phase::Failed };
                state.messages = if is_stopped { Vec::new() } else { messages };
            }
        }
        publish();
    }

    fn perform(
        &self,
        around: &Surroundings,
        model: &Arc<Model>,
        start: &Start,
        tell: &mut dyn FnMut(Trial),
    ) -> Result<(), Vec<Value>> {
        let said = |d: &Diagnostic| messages::message(d, &self.study.sources);
        let names = self.names();
        let fixed = names.iter().find_map(|name| Some((name, model.changeable(name).err()?)));
        if let Some((name, why)) = fixed {
            let why = format!("`{name}` cannot be searched for in the compiled model: {why}");
            return Err(vec![said(&diagnostics::not_found(self.goal.span, &why))]);
        }
        let prepared = Prepared::new(&self.study, model).map_err(|wrong| wrong.iter().map(said).collect::<Vec<_>>())?;
        let mut experiment = self.study.experiment.clone();
        experiment.kept = prepared.kept(None);
        let runner = Runner {
            model,
            permissions: around.permissions,
            names: &names,
            experiment: &experiment,
            phases: &prepared.phases,
            watch: &prepared.watch,
            engine: self.study.engine,
            start,
            overrides: &self.study.values,
            // What is compiled are the texts of the studio, which no other session knows.
            open: &|| None,
            stop: &self.stop,
            n_recompiled: &AtomicUsize::new(0),
            progress: &|| (),
        };
        let tried =
            prepared.perform_and_tell(&runner, &mut Worker::default(), &[], saltus::study::Wanted::default(), tell);
        let tried = tried.map_err(|failure| {
            let d = match failure {
                Failure::Said(said) => Diagnostic { span: Some(self.goal.span), ..*said },
                Failure::Simulation(error) => diagnostics::simulation_failed(&error),
                Failure::Other(why) => diagnostics::not_found(Span::nowhere(), &why),
            };
            vec![said(&d)]
        })?;
        let mut state = self.state();
        (state.found, state.value, state.remark) = (tried.found, tried.value, tried.remark);
        Ok(())
    }
}

pub fn kind(goal: &Goal) -> &'static str {
    match &goal.aim {
        Aim::Targets(_) => "targets",
        Aim::Smallest { is_largest: true, .. } => "largest",
        Aim::Smallest { .. } => "smallest",
    }
}

/// In the words of the literature; the problem decides.
fn method(goal: &Goal) -> &'static str {
    match (&goal.aim, goal.unknowns.as_slice()) {
        (Aim::Smallest { .. }, _) => "simplex of Nelder and Mead",
        (Aim::Targets(targets), [one]) if targets.len() == 1 && (one.max - one.min).is_finite() => "false position",
        _ => "least squares",
    }
}

#[derive(Default)]
pub struct Searches {
    all: Mutex<BTreeMap<u64, Arc<Search>>>,
}

impl Searches {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Search>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, id: u64) -> Option<Arc<Search>> {
        self.lock().get(&id).cloned()
    }

    pub fn describe(&self) -> Vec<Value> {
        self.lock().values().map(|search| search.describe()).collect()
    }

    pub fn remove(&self, id: u64) -> bool {
        let removed = self.lock().remove(&id);
        removed.iter().for_each(|search| search.cancel());
        removed.is_some()
    }

    pub fn add(&self, class: String, study: Study, goal: Goal) -> Arc<Search> {
        let mut all = self.lock();
        let id = all.last_key_value().map_or(1, |(last, _)| last + 1);
        let (stop, state) = (Arc::default(), Mutex::default());
        let search = Arc::new(Search { id, class, study, goal, stop, state });
        all.insert(id, search.clone());
        search
    }
}

/// Compiles by `compile` and searches, on a thread of its own.
pub fn start(
    search: Arc<Search>,
    around: Surroundings,
    compile: impl FnOnce() -> Result<(Arc<Model>, Start), Vec<Value>> + Send + 'static,
    answer: impl FnOnce(&[f64]) -> Option<u64> + Send + 'static,
) -> std::io::Result<()> {
    let work = move || {
        let done = saltus::guard::catch(|| search.carry_out(&around, compile, answer));
        if done.is_err() {
            search.state().phase = Phase::Failed;
            around.hub.publish(&json!({"type": "search", "search": search.describe()}));
        }
    };
    std::thread::Builder::new().name("search".into()).stack_size(STACK).spawn(work).map(drop)
}
