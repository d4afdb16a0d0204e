//! Runs: each on a thread of its own, kept until the user throws it away.
//!
//! In: a compiled model, settings, values for this run. Out: a [`Run`] that pages look at while it goes on. A run that is *live* goes
//! with the clock and takes values in the middle of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use saltus::pipeline::{self, Client, Experiment, Options, Stage};
use saltus::{Model, Permissions, Simulation, Start};
use saltus_base::{Diagnostic, Severity, SourceMap};
use saltus_program::Stopwatch;
use saltus_results::Results;
use saltus_sim::{Progress, SinkError};
use serde_json::{Value, json};

use crate::hub::Hub;
use crate::messages;
use crate::recording::Recording;

/// Pages are told of progress that often.
const REFRESH: Duration = Duration::from_millis(120);
/// Looks at the clock are expensive compared with the steps of a small model.
const STEPS_PER_LOOK: u32 = 32;
/// A live run advances by this part of a second at a time.
const TICK: Duration = Duration::from_millis(20);
/// Output points after which a live run ends by itself: below what a run may have, and more than anybody looks at.
const MOST_LIVE_POINTS: f64 = 5e7;
/// Functions of models may recurse.
const STACK: usize = 64 << 20;

pub struct Run {
    pub id: u64,
    pub class: String,
    pub values: Vec<(String, String)>,
    /// Runs of one sweep have a name in common.
    pub group: Option<String>,
    pub is_live: bool,
    /// Results of a file, which no model of the studio has made.
    pub is_reference: bool,
    pub model: OnceLock<Arc<Model>>,
    sources: OnceLock<SourceMap>,
    pub recording: Recording,
    status: Mutex<Status>,
    stop: Arc<AtomicBool>,
    commands: Mutex<Option<Sender<Command>>>,
}

#[derive(Clone)]
struct Status {
    phase: Phase,
    progress: Option<Progress>,
    messages: Vec<Value>,
    seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Waiting,
    Compiling,
    Running,
    Done,
    Failed,
    Cancelled,
}

enum Command {
    Set(String, f64),
    Speed(f64),
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Waiting => "waiting",
            Phase::Compiling => "compiling",
            Phase::Running => "running",
            Phase::Done => "done",
            Phase::Failed => "failed",
            Phase::Cancelled => "cancelled",
        }
    }
}

/// What a run is asked to do.
#[derive(Clone)]
pub struct Wanted {
    pub class: String,
    pub experiment: Experiment,
    pub values: Vec<(String, String)>,
    pub group: Option<String>,
    /// How many times as fast as the clock.
    pub live: Option<f64>,
}

/// What all runs share.
#[derive(Clone)]
pub struct Surroundings {
    pub hub: Arc<Hub>,
    pub permissions: Permissions,
    pub stopwatch: Stopwatch,
}

impl Run {
    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The texts that the model was made of.
    pub fn sources(&self) -> Option<&SourceMap> {
        let model = self.model.get()?;
        Some(self.sources.get_or_init(|| model.sources()))
    }

    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Sets a value in a run that goes on; `false` if there is none.
    pub fn set(&self, name: &str, value: f64) -> bool {
        self.command(Command::Set(name.to_owned(), value))
    }

    pub fn set_speed(&self, factor: f64) -> bool {
        self.command(Command::Speed(factor))
    }

    fn command(&self, command: Command) -> bool {
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.as_ref().is_some_and(|commands| commands.send(command).is_ok())
    }

    pub fn describe(&self) -> Value {
        let status = self.status().clone();
        let (n_rows, n_events) = {
            let kept = self.recording.look();
            (kept.n_rows(), kept.events.len())
        };
        let progress = status.progress;
        json!({
            "id": self.id, "class": self.class, "phase": status.phase.name(), "group": self.group, "live": self.is_live,
            "reference": self.is_reference,
            "values": self.values.iter().map(|(n, v)| json!([n, v])).collect::<Vec<_>>(),
            "time": progress.map(|p| p.time), "start": progress.map(|p| p.start_time), "stop": progress.map(|p| p.stop_time),
            "steps": progress.map(|p| p.steps), "rows": n_rows, "events": n_events,
            "messages": status.messages, "seconds": status.seconds,
        })
    }
}

#[derive(Default)]
pub struct Runs {
    all: Mutex<BTreeMap<u64, Arc<Run>>>,
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Run>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, id: u64) -> Option<Arc<Run>> {
        self.lock().get(&id).cloned()
    }

    pub fn all(&self) -> Vec<Arc<Run>> {
        self.lock().values().cloned().collect()
    }

    /// Stops and forgets a run.
    pub fn remove(&self, id: u64) -> bool {
        let removed = self.lock().remove(&id);
        removed.iter().for_each(|run| run.cancel());
        removed.is_some()
    }

    /// A run that has not begun.
    pub fn add(&self, wanted: &Wanted) -> Arc<Run> {
        self.insert(|id| Run {
            id,
            class: wanted.class.clone(),
            values: wanted.values.clone(),
            group: wanted.group.clone(),
            is_live: wanted.live.is_some(),
            is_reference: false,
            model: OnceLock::new(),
            sources: OnceLock::new(),
            recording: Recording::default(),
            status: Mutex::new(Status { phase: Phase::Waiting, progress: None, messages: Vec::new(), seconds: 0.0 }),
            stop: Arc::default(),
            commands: Mutex::default(),
        })
    }

    /// Results of a file as a run that is over.
    pub fn add_reference(&self, name: &str, results: &Results) -> Result<Arc<Run>, SinkError> {
        let recording = Recording::of(results)?;
        let (start, stop) = (results.times.first().copied(), results.times.last().copied());
        let progress = start.zip(stop).map(|(start_time, time)| Progress {
            time,
            start_time,
            stop_time: time,
            steps: 0,
            events: 0,
        });
        Ok(self.insert(|id| Run {
            id,
            class: name.to_owned(),
            values: Vec::new(),
            group: None,
            is_live: false,
            is_reference: true,
            model: OnceLock::new(),
            sources: OnceLock::new(),
            recording,
            status: Mutex::new(Status { phase: Phase::Done, progress, messages: Vec::new(), seconds: 0.0 }),
            stop: Arc::default(),
            commands: Mutex::default(),
        }))
    }

    fn insert(&self, make: impl FnOnce(u64) -> Run) -> Arc<Run> {
        let mut all = self.lock();
        let id = all.last_key_value().map_or(1, |(last, _)| last + 1);
        let run = Arc::new(make(id));
        all.insert(id, run.clone());
        run
    }
}

/// Compiles by `compile` and runs, on a thread of its own.
pub fn start(
    run: Arc<Run>,
    wanted: Wanted,
    around: Surroundings,
    compile: impl FnOnce() -> Result<(Arc<Model>, Start), Vec<Value>> + Send + 'static,
) -> std::io::Result<()> {
    let work = move || Going { run, around }.carry_out(&wanted, compile);
    std::thread::Builder::new().name("run".into()).stack_size(STACK).spawn(work).map(drop)
}

struct Going {
    run: Arc<Run>,
    around: Surroundings,
}

impl Going {
    fn carry_out(&self, wanted: &Wanted, compile: impl FnOnce() -> Result<(Arc<Model>, Start), Vec<Value>>) {
        if self.run.stop.load(Ordering::Relaxed) {
            return self.end(Phase::Cancelled, Vec::new());
        }
        self.enter(Phase::Compiling);
        match compile() {
            Ok((model, start)) => {
                let _ = self.run.model.set(model.clone());
                match wanted.live {
                    Some(factor) => self.live(model, wanted, &start, factor),
                    None => self.plain(model, wanted, start),
                }
            }
            Err(messages) => self.end(Phase::Failed, messages),
        }
    }

    fn enter(&self, phase: Phase) {
        self.run.status().phase = phase;
        self.publish();
    }

    fn publish(&self) {
        self.around.hub.publish(&json!({"type": "run", "run": self.run.describe()}));
    }

    fn end(&self, phase: Phase, messages: Vec<Value>) {
        {
            let mut status = self.run.status();
            status.phase = phase;
            status.messages = messages;
        }
        self.publish();
    }

    fn plain(&self, model: Arc<Model>, wanted: &Wanted, start: Start) {
        self.enter(Phase::Running);
        let options = Options {
            experiment: wanted.experiment.clone(),
            start,
            stopwatch: self.around.stopwatch.clone(),
            ..Options::until(Stage::Simulate)
        };
        let started = self.around.stopwatch.now();
        let mut observer = Observer { going: self, told: started, countdown: STEPS_PER_LOOK };
        let outcome = pipeline::simulate_model(model, self.around.permissions, &options, &mut observer);
        self.run.status().seconds = self.around.stopwatch.since(started).as_secs_f64();
        if let Some(reached) = outcome.failure.as_ref().map(|failure| failure.time)
            && let Some(progress) = &mut self.run.status().progress
        {
            progress.time = reached;
        } else if let Some(progress) = self.run.status().progress.as_mut().filter(|_| !outcome.has_errors()) {
            progress.time = self.run.recording.look().times().last().copied().unwrap_or(progress.stop_time);
        }
        self.end(self.phase_of(outcome.has_errors()), self.messages(outcome.diagnostics.iter()));
    }

    fn phase_of(&self, has_errors: bool) -> Phase {
        match has_errors {
            true if self.run.stop.load(Ordering::Relaxed) => Phase::Cancelled,
            true => Phase::Failed,
            false => Phase::Done,
        }
    }

    fn messages<'d>(&self, found: impl Iterator<Item = &'d Diagnostic>) -> Vec<Value> {
        let none = SourceMap::new();
        let sources = self.run.sources().unwrap_or(&none);
        found.filter(|d| d.severity > Severity::Hint).map(|d| messages::message(d, sources)).collect()
    }

    /// Simulated time follows the clock; what pages set holds from the present time on.
    fn live(&self, model: Arc<Model>, wanted: &Wanted, start: &Start, factor: f64) {
        let (commands, received) = channel();
        *self.run.commands.lock().unwrap_or_else(PoisonError::into_inner) = Some(commands);
        self.enter(Phase::Running);
        // It goes on until it is cancelled, with the output points of an ordinary run.
        let usual = wanted.experiment.settings(model.program());
        let settings = Experiment {
            stop_time: Some(usual.start_time + MOST_LIVE_POINTS * usual.interval),
            output: Some(pipeline::Output::Interval(usual.interval)),
            ..wanted.experiment.clone()
        };
        let mut simulation =
            Simulation::with(model.clone(), &settings, pipeline::Engine::default(), self.around.permissions);
        simulation.set_sink(Box::new(self.run.recording.clone()));
        simulation.stop_when(self.run.stop.clone());
        let ended = match start.apply(&mut simulation, &model) {
            Err(wrong) => Err(wrong),
            Ok(()) => self.follow_clock(&mut simulation, &received, factor),
        };
        *self.run.commands.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let messages = ended.as_ref().err().map(|wrong| self.messages(wrong.iter())).unwrap_or_default();
        let is_stopped = self.run.stop.load(Ordering::Relaxed);
        let phase = if ended.is_ok() || is_stopped { Phase::Done } else { Phase::Failed };
        self.end(phase, if is_stopped { Vec::new() } else { messages });
    }

    fn follow_clock(
        &self,
        simulation: &mut Simulation,
        commands: &Receiver<Command>,
        mut factor: f64,
    ) -> Result<(), Vec<Diagnostic>> {
        let failed = |error| vec![saltus::diagnostics::simulation_failed(&error)];
        simulation.initialise().map_err(failed)?;
        let stopwatch = &self.around.stopwatch;
        let mut origin = (stopwatch.now(), simulation.time());
        let mut told = Duration::ZERO;
        while !self.run.stop.load(Ordering::Relaxed) && !simulation.is_over() {
            for command in commands.try_iter() {
                match command {
                    Command::Set(name, value) => {
                        if let Err(why) = simulation.set(&name, value) {
                            let text = format!("{name}: {why}");
                            self.around.hub.publish(&json!({"type": "notice", "text": text}));
                        }
                    }
                    Command::Speed(new) => {
                        origin = (stopwatch.now(), simulation.time());
                        factor = new;
                    }
                }
            }
            let due = origin.1 + factor * stopwatch.since(origin.0).as_secs_f64();
            if due > simulation.time() {
                // A model that cannot keep up with the clock is behind it, and shown all the same.
                let most = simulation.time() + factor * REFRESH.as_secs_f64();
                let ended = simulation.advance_to(due.min(most)).map_err(failed)?;
                if due > most {
                    origin = (stopwatch.now(), simulation.time());
                }
                if ended.is_some() {
                    return Ok(());
                }
            }
            let progress = simulation.progress();
            self.run.status().progress = Some(Progress { stop_time: progress.time, ..progress });
            if stopwatch.since(told) >= REFRESH {
                told = stopwatch.now();
                self.publish();
            }
            std::thread::sleep(TICK);
        }
        Ok(())
    }
}

struct Observer<'g> {
    going: &'g Going,
    told: Duration,
    countdown: u32,
}

impl Client for Observer<'_> {
    fn prepare(&mut self, _model: &Arc<Model>, simulation: &mut saltus_sim::Simulation) -> Result<(), Diagnostic> {
        simulation.set_sink(Box::new(self.going.run.recording.clone()));
        simulation.stop_when(self.going.run.stop.clone());
        self.going.run.status().progress = Some(simulation.progress());
        Ok(())
    }

    fn goes_on(&mut self, progress: Progress) -> bool {
        self.countdown -= 1;
        if self.countdown == 0 {
            self.countdown = STEPS_PER_LOOK;
            self.going.run.status().progress = Some(progress);
            if self.going.around.stopwatch.since(self.told) >= REFRESH {
                self.told = self.going.around.stopwatch.now();
                self.going.publish();
            }
        }
        !self.going.run.stop.load(Ordering::Relaxed)
    }
}

/// Runs one after the other, as many at a time as there are processors.
pub fn start_all(
    queue: Vec<(Arc<Run>, Wanted)>,
    around: Surroundings,
    compile: impl Fn(&Wanted) -> Result<(Arc<Model>, Start), Vec<Value>> + Send + Sync + 'static,
) -> std::io::Result<()> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from).min(queue.len());
    let queue = Arc::new(Mutex::new(queue.into_iter()));
    let compile = Arc::new(compile);
    for _ in 0..n_threads {
        let (queue, compile, around) = (queue.clone(), compile.clone(), around.clone());
        let next = move || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = move || {
            while let Some((run, wanted)) = next() {
                let go = Going { run, around: around.clone() };
                go.carry_out(&wanted, || compile(&wanted));
            }
        };
        std::thread::Builder::new().name("run".into()).stack_size(STACK).spawn(work)?;
    }
    Ok(())
}
