//! Runs, kept until the user throws them away.
//!
//! A [`Run`] is what pages look at while it goes on ([`crate::going`]) and afterwards. A run that is *live* goes with the clock and takes
//! values in the middle of it. A run of an earlier server ([`crate::archive`]) has no model; its table is read when it is looked at.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use saltus::pipeline::Experiment;
use saltus::{Model, Permissions};
use saltus_base::{SourceMap, Span};
use saltus_program::Stopwatch;
use saltus_results::Results;
use saltus_sim::{Progress, SinkError};
use serde_json::{Value, json};

use crate::archive::{self, Archive, Details, Files};
use crate::hub::Hub;
use crate::messages;
use crate::recording::Recording;
use crate::views;

pub struct Run {
    pub id: u64,
    pub class: String,
    pub values: Vec<(String, String)>,
    /// What was set while it went on: name, last value, and since when it holds.
    changes: Mutex<Vec<(String, f64, f64)>>,
    /// Runs of one sweep have a name in common.
    pub group: Option<String>,
    pub is_live: bool,
    /// Results of a file, which no model of the studio has made.
    pub is_reference: bool,
    pub model: OnceLock<Arc<Model>>,
    sources: OnceLock<SourceMap>,
    recording: Recording,
    /// Of a run of an earlier server.
    stored: Option<Stored>,
    status: Mutex<Status>,
    pub stop: Arc<AtomicBool>,
    pub commands: Mutex<Option<Sender<Command>>>,
    profile: OnceLock<Value>,
    /// An earlier server has kept one.
    has_profile: bool,
    /// It is in the queue of those that are written to the disk.
    waits_for_copy: AtomicBool,
    /// The user has thrown it away: nothing of it is written any more.
    is_removed: AtomicBool,
}

struct Stored {
    files: Files,
    n_rows: u64,
    n_events: u64,
    n_configurations: u64,
    read: OnceLock<Details>,
}

#[derive(Clone)]
pub struct Status {
    pub phase: Phase,
    pub progress: Option<Progress>,
    pub messages: Vec<Value>,
    pub seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Waiting,
    Compiling,
    Running,
    Done,
    Failed,
    Cancelled,
    /// The server that carried it out has ended.
    Interrupted,
}

pub enum Command {
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
            Phase::Interrupted => "interrupted",
        }
    }

    /// The phase of a run of an earlier server: what was not over never will be.
    fn restored(name: &str) -> Phase {
        let over = [Phase::Done, Phase::Failed, Phase::Cancelled];
        over.into_iter().find(|phase| phase.name() == name).unwrap_or(Phase::Interrupted)
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
    /// Measure what its time goes to.
    pub profile: bool,
}

/// What all runs share.
#[derive(Clone)]
pub struct Surroundings {
    pub hub: Arc<Hub>,
    pub permissions: Permissions,
    pub stopwatch: Stopwatch,
    /// Runs for the next server.
    pub archive: Option<Arc<Archive>>,
}

impl Run {
    pub fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The texts that the model was made of.
    pub fn sources(&self) -> Option<&SourceMap> {
        let model = self.model.get()?;
        Some(self.sources.get_or_init(|| model.sources()))
    }

    /// What was recorded; that of an earlier server is read now.
    pub fn recording(&self) -> &Recording {
        self.details();
        &self.recording
    }

    /// What is known without the model, of a run of an earlier server.
    pub fn details(&self) -> Option<&Details> {
        let stored = self.stored.as_ref()?;
        Some(stored.read.get_or_init(|| {
            let (recording, details) = archive::read(&stored.files, &self.class);
            std::mem::swap(&mut *self.recording.look(), &mut *recording.look());
            details
        }))
    }

    /// The literals of a variable of an enumeration.
    pub fn literals(&self, name: &str) -> Option<Vec<String>> {
        match self.model.get() {
            Some(model) => {
                let id = model.variable(name).ok()?.enumeration?;
                model.program().routines.enumerations.get(id).map(|e| e.literals.clone())
            }
            None => self.recording().look().signals.iter().find(|s| s.name == name).map(|s| s.literals.clone()),
        }
    }

    /// Where a span of its model or of its record of events is.
    pub fn place(&self, span: Span) -> Option<Value> {
        match self.details() {
            Some(details) => details.place(span),
            None => messages::place(self.sources()?, span),
        }
    }

    pub fn profile(&self) -> Option<&Value> {
        self.profile.get().or_else(|| self.details().map(|d| &d.profile)).filter(|profile| !profile.is_null())
    }

    /// The configurations that a model with changing structure has gone through.
    pub fn configurations(&self) -> Value {
        match self.details() {
            Some(details) => details.configurations.clone(),
            None => views::configurations(&self.recording.look().visited, &|span| self.place(span)),
        }
    }

    pub fn set_profile(&self, profile: Value) {
        let _ = self.profile.set(profile);
    }

    /// Shall it be queued for the disk? Not if it is, or if it came from there.
    pub fn wants_copy(&self) -> bool {
        self.stored.is_none() && !self.waits_for_copy.swap(true, Ordering::AcqRel)
    }

    /// From now on it has something new again; false if nobody wants it any more.
    pub fn begin_copy(&self) -> bool {
        self.waits_for_copy.store(false, Ordering::Release);
        !self.is_removed.load(Ordering::Acquire)
    }

    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// A value has been set while it went on, and holds from this time.
    pub fn note_change(&self, name: &str, value: f64, time: f64) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.retain(|(other, ..)| other != name);
        changes.push((name.to_owned(), value, time));
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
        let now = self.status().clone();
        self.describe_as(&now)
    }

    /// What is said of it when it has this status.
    pub fn describe_as(&self, status: &Status) -> Value {
        let (n_rows, n_events, n_configurations) = match &self.stored {
            Some(stored) => (stored.n_rows, stored.n_events, stored.n_configurations),
            None => {
                let kept = self.recording.look();
                (kept.n_rows() as u64, kept.events.len() as u64, kept.visited.configurations.len() as u64)
            }
        };
        let progress = status.progress;
        json!({
            "id": self.id, "class": self.class, "phase": status.phase.name(), "group": self.group, "live": self.is_live,
            "reference": self.is_reference,
            "values": self.values.iter().map(|(n, v)| json!([n, v])).collect::<Vec<_>>(),
            "time": progress.map(|p| p.time), "start": progress.map(|p| p.start_time), "stop": progress.map(|p| p.stop_time),
            "changes": *self.changes.lock().unwrap_or_else(PoisonError::into_inner),
            "steps": progress.map(|p| p.steps), "rows": n_rows, "events": n_events, "configurations": n_configurations,
            "messages": status.messages, "seconds": status.seconds, "profile": self.profile.get().is_some() || self.has_profile,
        })
    }

    /// A run of an earlier server, by what [`describe`](Self::describe) said; `None` if it makes no sense.
    pub fn restored(about: &Value, files: Files) -> Option<Run> {
        let text = |name: &str| about[name].as_str().map(str::to_owned);
        let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        let progress = |time: f64| {
            Some(Progress {
                time,
                start_time: about["start"].as_f64()?,
                stop_time: about["stop"].as_f64()?,
                steps: about["steps"].as_u64()?,
                events: about["events"].as_u64()?,
            })
        };
        let status = Status {
            phase: Phase::restored(about["phase"].as_str()?),
            progress: about["time"].as_f64().and_then(progress),
            messages: about["messages"].as_array().cloned().unwrap_or_default(),
            seconds: about["seconds"].as_f64().unwrap_or(0.0),
        };
        let stored = Stored {
            files,
            n_rows: about["rows"].as_u64()?,
            n_events: about["events"].as_u64()?,
            n_configurations: about["configurations"].as_u64().unwrap_or(0),
            read: OnceLock::new(),
        };
        let change = |c: &Value| Some((c[0].as_str()?.to_owned(), c[1].as_f64()?, c[2].as_f64()?));
        let changes = about["changes"].as_array().map_or_else(Vec::new, |all| all.iter().filter_map(change).collect());
        Some(Run {
            values: about["values"].as_array()?.iter().map(pair).collect::<Option<Vec<_>>>()?,
            changes: Mutex::new(changes),
            group: text("group"),
            is_live: about["live"] == true,
            is_reference: about["reference"] == true,
            stored: Some(stored),
            has_profile: about["profile"] == true,
            ..Run::new(about["id"].as_u64()?, &text("class")?, status)
        })
    }

    fn new(id: u64, class: &str, status: Status) -> Run {
        Run {
            id,
            class: class.to_owned(),
            values: Vec::new(),
            changes: Mutex::default(),
            group: None,
            is_live: false,
            is_reference: false,
            model: OnceLock::new(),
            sources: OnceLock::new(),
            recording: Recording::default(),
            stored: None,
            status: Mutex::new(status),
            stop: Arc::default(),
            commands: Mutex::default(),
            profile: OnceLock::new(),
            has_profile: false,
            waits_for_copy: AtomicBool::default(),
            is_removed: AtomicBool::default(),
        }
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
        if let Some(run) = &removed {
            run.is_removed.store(true, Ordering::Release);
            run.cancel();
        }
        removed.is_some()
    }

    /// A run that has not begun.
    pub fn add(&self, wanted: &Wanted) -> Arc<Run> {
        let status = Status { phase: Phase::Waiting, progress: None, messages: Vec::new(), seconds: 0.0 };
        self.insert(|id| Run {
            values: wanted.values.clone(),
            group: wanted.group.clone(),
            is_live: wanted.live.is_some(),
            ..Run::new(id, &wanted.class, status)
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
        let status = Status { phase: Phase::Done, progress, messages: Vec::new(), seconds: 0.0 };
        Ok(self.insert(|id| Run { is_reference: true, recording, ..Run::new(id, name, status) }))
    }

    /// Adds runs of an earlier server, under their old numbers.
    pub fn restore(&self, runs: Vec<Run>) {
        self.lock().extend(runs.into_iter().map(|run| (run.id, Arc::new(run))));
    }

    fn insert(&self, make: impl FnOnce(u64) -> Run) -> Arc<Run> {
        let mut all = self.lock();
        let id = all.last_key_value().map_or(1, |(last, _)| last + 1);
        let run = Arc::new(make(id));
        all.insert(id, run.clone());
        run
    }
}
