//! Simulations that the editor asks for, each on a thread of its own with a session of its own.
//!
//! The request `workspace/executeCommand` with the command `saltus.run` and a class is answered when the run is over; until then the server
//! goes on. A cancellation ends it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use saltus::{Session, guard};
use saltus_ide::{Analysis, RunReport};
use saltus_program::Stopwatch;
use serde_json::{Value, json};

/// The command that runs a class.
pub(crate) const RUN: &str = "saltus.run";
/// Enough for classes as deep as the front end lets them be.
const STACK: usize = 256 << 20;

/// Runs that are going on.
#[derive(Default)]
pub(crate) struct Runs {
    going_on: Vec<(Value, Arc<AtomicBool>)>,
}

/// What came of a run; `Err` says why there was none.
pub(crate) struct Ran {
    pub(crate) id: Value,
    pub(crate) report: Result<RunReport, String>,
}

/// What is run.
pub(crate) struct Wanted {
    pub(crate) class: String,
    /// Documents that are open, which count instead of their files.
    pub(crate) texts: Vec<(PathBuf, String)>,
    pub(crate) session: Session,
    pub(crate) stopwatch: Stopwatch,
}

impl Runs {
    /// Starts a run; `done` is called on its thread. `Err` if there is none to be had.
    pub(crate) fn start(
        &mut self,
        id: &Value,
        wanted: Wanted,
        done: impl FnOnce(Ran) + Send + 'static,
    ) -> Result<(), String> {
        let stop = Arc::new(AtomicBool::new(false));
        self.going_on.push((id.clone(), stop.clone()));
        let id = id.clone();
        let work = move || {
            let Wanted { class, texts, mut session, stopwatch } = wanted;
            texts.iter().for_each(|(path, text)| session.set_text(path, text));
            let report = guard::catch(|| Analysis::new(&session).run(&class, &stopwatch, stop));
            let report = match report {
                Ok(Some(report)) => Ok(report),
                Ok(None) => Err(format!("there is no class {class}")),
                Err(defect) => Err(defect.message),
            };
            done(Ran { id, report });
        };
        let thread = std::thread::Builder::new().name("run".into()).stack_size(STACK);
        thread.spawn(work).map(|_| ()).map_err(|error| error.to_string())
    }

    /// Ends a run soon, whatever comes of it; true if there was one.
    pub(crate) fn cancel(&mut self, id: &Value) -> bool {
        let Some(at) = self.going_on.iter().position(|(known, _)| known == id) else { return false };
        self.going_on.remove(at).1.store(true, Ordering::Relaxed);
        true
    }

    /// A run is over; false if nobody waits for it any more.
    pub(crate) fn end(&mut self, id: &Value) -> bool {
        let before = self.going_on.len();
        self.going_on.retain(|(known, _)| known != id);
        self.going_on.len() < before
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.going_on.iter().for_each(|(_, stop)| stop.store(true, Ordering::Relaxed));
    }
}

/// What the editor learns of a run.
pub(crate) fn result(report: &RunReport) -> Value {
    json!({
        "class": report.class,
        "complete": report.is_complete,
        "summary": report.summary,
        "messages": report.messages,
        "profile": report.profile,
        "page": report.page,
    })
}
