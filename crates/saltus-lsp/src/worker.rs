//! Checks classes beside the main thread, so that typing is never blocked.
//!
//! The worker has a session of its own and is told of every edit. It waits for a pause in typing, then checks the classes of
//! the open documents, the one that was edited last first. A newer edit ends the round between two classes; what is
//! unchanged is known from before and costs nothing in the next round.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use saltus::{Session, guard};
use saltus_ide::{Analysis, Problem};

/// Nothing typed for so long is a pause.
const PAUSE: Duration = Duration::from_millis(150);
/// Classes after which what was found so far is shown.
const BATCH: usize = 25;
/// Models of the document that was edited last that are sorted for their lenses.
const MOST_SORTED: usize = 12;
/// Enough for classes as deep as the front end lets them be.
const STACK: usize = 256 << 20;

pub(crate) enum Command {
    SetText(PathBuf, String),
    RemoveText(PathBuf),
    Reload(PathBuf),
    AddLibrary(PathBuf),
    RemoveLibrary(PathBuf),
    /// Check these documents with their versions, in this order.
    Check(Vec<(PathBuf, i64)>),
}

pub(crate) enum Finding {
    /// What is wrong with a document of this version; more may follow unless the round is over.
    Problems {
        path: PathBuf,
        version: i64,
        problems: Vec<Problem>,
    },
    /// What the models of a document come to: class and line.
    Structures {
        path: PathBuf,
        version: i64,
        lines: Vec<(String, String)>,
    },
    Progress(Progress),
}

pub(crate) enum Progress {
    Begin { n_classes: usize },
    Report { class: String, n_done: usize, n_classes: usize },
    End,
}

pub(crate) struct Worker {
    commands: Sender<Command>,
    /// Number of the last edit; a round with another number is over.
    newest: Arc<AtomicU64>,
}

impl Worker {
    /// Starts the thread; `found` is called on it.
    pub(crate) fn start(session: Session, found: impl Fn(Finding) + Send + 'static) -> Option<Worker> {
        let (commands, received) = channel();
        let newest = Arc::new(AtomicU64::new(0));
        let round = Round { session, found, newest: newest.clone() };
        let thread = std::thread::Builder::new().name("check".into()).stack_size(STACK);
        thread.spawn(move || round.run(&received)).ok()?;
        Some(Worker { commands, newest })
    }

    pub(crate) fn tell(&self, command: Command) {
        self.newest.fetch_add(1, Ordering::Relaxed);
        // A worker that is gone has nothing to say any more; everything else goes on.
        let _ = self.commands.send(command);
    }
}

struct Round<F> {
    session: Session,
    found: F,
    newest: Arc<AtomicU64>,
}

impl<F: Fn(Finding)> Round<F> {
    fn run(mut self, commands: &Receiver<Command>) {
        let mut wanted = None;
        loop {
            let next = match wanted {
                Some(_) => commands.recv_timeout(PAUSE),
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(command) => self.obey(command, &mut wanted),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(documents) = wanted.take() {
                        self.check(&documents);
                    }
                }
            }
        }
    }

    fn obey(&mut self, command: Command, wanted: &mut Option<Vec<(PathBuf, i64)>>) {
        match command {
            Command::SetText(path, text) => self.session.set_text(path, &text),
            Command::RemoveText(path) => self.session.remove_text(path),
            Command::Reload(path) => self.session.reload(path),
            Command::AddLibrary(path) => self.session.add_library(&path),
            Command::RemoveLibrary(path) => self.session.remove_workspace(&path),
            Command::Check(documents) => *wanted = Some(documents),
        }
    }

    fn check(&self, documents: &[(PathBuf, i64)]) {
        let number = self.newest.load(Ordering::Relaxed);
        let is_over = || self.newest.load(Ordering::Relaxed) != number;
        let analysis = Analysis::new(&self.session);
        let classes: BTreeMap<&PathBuf, Vec<String>> = documents
            .iter()
            .map(|(path, _)| (path, guard::catch(|| analysis.checkable_classes(path)).unwrap_or_default()))
            .collect();
        let n_classes = classes.values().map(Vec::len).sum();
        (self.found)(Finding::Progress(Progress::Begin { n_classes }));
        let mut n_done = 0;
        'documents: for (path, version) in documents {
            let mut problems: Vec<Problem> = Vec::new();
            for (at, class) in classes[path].iter().enumerate() {
                if is_over() {
                    break 'documents;
                }
                for problem in guard::catch(|| analysis.problems(path, class)).unwrap_or_default() {
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
                n_done += 1;
                if (at + 1) % BATCH == 0 {
                    let report = Progress::Report { class: class.clone(), n_done, n_classes };
                    (self.found)(Finding::Progress(report));
                    self.show(path, *version, &problems);
                }
            }
            self.show(path, *version, &problems);
        }
        (self.found)(Finding::Progress(Progress::End));
        if let Some((path, version)) = documents.first() {
            self.sort(path, *version, is_over);
        }
    }

    /// Sorts the models of a document.
    fn sort(&self, path: &Path, version: i64, is_over: impl Fn() -> bool) {
        let analysis = Analysis::new(&self.session);
        let mut lines = Vec::new();
        for model in guard::catch(|| analysis.models(path)).unwrap_or_default().into_iter().take(MOST_SORTED) {
            if is_over() {
                return;
            }
            let line = guard::catch(|| analysis.structure(&model.class)).unwrap_or_default();
            lines.extend(line.map(|line| (model.class, line)));
        }
        (self.found)(Finding::Structures { path: path.to_path_buf(), version, lines });
    }

    fn show(&self, path: &Path, version: i64, problems: &[Problem]) {
        (self.found)(Finding::Problems { path: path.to_path_buf(), version, problems: problems.to_vec() });
    }
}
