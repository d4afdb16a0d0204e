//! Carrying a run out: compiled and simulated on a thread of its own, told to pages, kept for the next server.
//!
//! In: a [`Run`] that waits, and what is [`Wanted`] of it. Out: its recording and its status, while it goes on.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use saltus::pipeline::{self, Client, Experiment, Options, Stage};
use saltus::{Model, Simulation, Start};
use saltus_base::{Diagnostic, Severity, SourceMap};
use saltus_sim::Progress;
use serde_json::{Value, json};

use crate::messages;
use crate::runs::{Command, Phase, Run, Status, Surroundings, Wanted};
use crate::views;

/// Pages are told of progress that often.
const REFRESH: Duration = Duration::from_millis(120);
/// Looks at the clock are expensive compared with the steps of a small model.
const STEPS_PER_LOOK: u32 = 32;
/// A live run advances by this part of a second at a time.
const TICK: Duration = Duration::from_millis(20);
/// A live run has an output point at least this often: curves that grow look steady.
const LIVE_POINT: Duration = Duration::from_millis(50);
/// Output points after which a live run ends by itself: below what a run may have, and more than anybody looks at.
const MOST_LIVE_POINTS: f64 = 5e7;
/// Functions of models may recurse.
const STACK: usize = 64 << 20;
/// A run that goes on is kept for the next server after this time, and again whenever it has become half as old again: all copies together
/// take three times as long as the last one.
const FIRST_COPY: Duration = Duration::from_secs(4);

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
        self.copy();
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

    /// On the disk first: a server that is killed right after the news leaves a run that is over.
    fn end(&self, phase: Phase, messages: Vec<Value>) {
        // All rows can be drawn meanwhile.
        self.publish();
        let ended = Status { phase, messages, ..self.run.status().clone() };
        if let Some(archive) = &self.around.archive {
            archive.keep_end(&self.run, ended.clone());
        }
        *self.run.status() = ended;
        self.publish();
    }

    /// For the next server.
    fn copy(&self) {
        if let Some(archive) = &self.around.archive {
            archive.keep(&self.run);
        }
    }

    fn plain(&self, model: Arc<Model>, wanted: &Wanted, start: Start) {
        self.enter(Phase::Running);
        let options = Options {
            experiment: wanted.experiment.clone(),
            start,
            stopwatch: self.around.stopwatch.clone(),
            profile: wanted.profile,
            ..Options::until(Stage::Simulate)
        };
        let started = self.around.stopwatch.now();
        let mut observer =
            Observer { going: self, told: started, countdown: STEPS_PER_LOOK, copies: Copies::new(started) };
        let outcome = pipeline::simulate_model(model, self.around.permissions, &options, &mut observer);
        if let Some(profile) = &outcome.profile {
            self.run.set_profile(views::profile(profile, &|span| self.run.place(span)));
        }
        self.run.status().seconds = self.around.stopwatch.since(started).as_secs_f64();
        if let Some(reached) = outcome.failure.as_ref().map(|failure| failure.time)
            && let Some(progress) = &mut self.run.status().progress
        {
            progress.time = reached;
        } else if let Some(progress) = self.run.status().progress.as_mut().filter(|_| !outcome.has_errors()) {
            progress.time = self.run.recording().look().times().last().copied().unwrap_or(progress.stop_time);
        }
        let phase = self.phase_of(outcome.has_errors());
        // That it was stopped is no mistake of the model.
        let is_told = |d: &&Diagnostic| phase != Phase::Cancelled || d.severity != Severity::Error;
        self.end(phase, self.messages(outcome.diagnostics.iter().filter(is_told)));
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
        // It goes on until it is cancelled, with the output points of an ordinary run, or more where these would hardly ever come.
        let usual = wanted.experiment.settings(model.program());
        let interval = usual.interval.min(factor * LIVE_POINT.as_secs_f64());
        let settings = Experiment {
            stop_time: Some(usual.start_time + MOST_LIVE_POINTS * interval),
            output: Some(pipeline::Output::Interval(interval)),
            ..wanted.experiment.clone()
        };
        let mut simulation =
            Simulation::with(model.clone(), &settings, pipeline::Engine::default(), self.around.permissions);
        simulation.set_sink(Box::new(self.run.recording().clone()));
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
        let mut copies = Copies::new(origin.0);
        while !self.run.stop.load(Ordering::Relaxed) && !simulation.is_over() {
            for command in commands.try_iter() {
                match command {
                    Command::Set(name, value) => match simulation.set(&name, value) {
                        Ok(()) => self.run.note_change(&name, value, simulation.time()),
                        Err(why) => {
                            let text = format!("{name}: {why}");
                            self.around.hub.publish(&json!({"type": "notice", "text": text}));
                        }
                    },
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
                if copies.is_due(told) {
                    self.copy();
                }
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
    copies: Copies,
}

/// When a run that goes on is copied.
struct Copies {
    started: Duration,
    next: Duration,
}

impl Copies {
    fn new(started: Duration) -> Copies {
        Copies { started, next: started + FIRST_COPY }
    }

    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + (now.saturating_sub(self.started) / 2).max(FIRST_COPY / 2);
        }
        is_due
    }
}

impl Client for Observer<'_> {
    fn prepare(&mut self, _model: &Arc<Model>, simulation: &mut saltus_sim::Simulation) -> Result<(), Diagnostic> {
        simulation.set_sink(Box::new(self.going.run.recording().clone()));
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
                if self.copies.is_due(self.told) {
                    self.going.copy();
                }
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
