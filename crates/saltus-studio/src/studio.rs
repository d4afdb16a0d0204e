//! What the server works on: one target of the user, its documents, its runs.
//!
//! Every change of a text goes through [`Studio::change`]: the document, both desks, the journal of unsaved texts and all pages learn of it
//! in this order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use saltus::pipeline::{self, Options, Stage};
use saltus::{Model, Session, Start, guard};
use saltus_base::{Diagnostic, Severity};
use saltus_ide::{Analysis, Problem};
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::documents::{self, Document, Documents};
use crate::hub::Hub;
use crate::memory::Memory;
use crate::messages;
use crate::reading::Reading;
use crate::runs::{Runs, Surroundings};
use crate::searches::Searches;
use crate::target::{self, Listing, Target};
use crate::views;

/// Nothing typed for so long is a pause.
const PAUSE: Duration = Duration::from_millis(120);
/// How often files are looked at.
const WATCH: Duration = Duration::from_millis(700);
/// How many of these looks there are for each look at the libraries of the command line and of the search path.
const ROUNDS_PER_LIBRARY_LOOK: u32 = 6;

pub struct Studio {
    pub target: Target,
    /// Answers pages.
    pub desk: Desk,
    /// Checks and compiles.
    work: Desk,
    documents: Mutex<Documents>,
    pub runs: Runs,
    pub searches: Searches,
    pub around: Surroundings,
    memory: Memory,
    checks: Mutex<Sender<(PathBuf, Option<String>)>>,
    /// Counts edits: what was made of older texts is not of now.
    n_edits: Arc<AtomicU64>,
    /// Those who wait for the second desk: checks give way to them.
    n_waiting: Arc<AtomicUsize>,
    models: Mutex<BTreeMap<Compiled, (u64, Arc<Model>)>>,
}

/// A class, and values that its structure was made for.
type Compiled = (String, Vec<(String, String)>);

/// What a page is told about a document besides its text.
pub fn status(path: &Path, document: &Document) -> Value {
    json!({
        "path": path, "version": document.version, "dirty": document.is_dirty(), "readOnly": document.read_only(),
        "undo": document.next_undo(), "redo": document.next_redo(), "changedOnDisk": document.is_changed_on_disk,
    })
}

/// A class that could not be checked does not seem to be in order.
fn defect_at_begin(defect: &Diagnostic, class: &str) -> Problem {
    Problem {
        code: defect.code.0,
        severity: defect.severity,
        message: format!("`{class}` is not checked: {}", defect.message),
        start: 0,
        end: 0,
        related: Vec::new(),
        suggestions: Vec::new(),
    }
}

/// The literal of an enumeration as an expression that is understood everywhere.
fn qualified(model: &Model, name: &str, value: String) -> String {
    let enumeration = model.variable(name).ok().and_then(|v| v.enumeration);
    let enumeration = enumeration.and_then(|id| model.program().routines.enumerations.get(id));
    match enumeration {
        Some(known) if known.literals.contains(&value) => format!("{}.{value}", known.name),
        _ => value,
    }
}

impl Studio {
    /// `listing` are the files that there were before the sessions looked.
    pub fn open(
        target: Target,
        sessions: (Session, Session),
        mut listing: Listing,
        memory: Memory,
        around: Surroundings,
    ) -> std::io::Result<Arc<Studio>> {
        let (checks, wanted) = channel();
        let studio = Arc::new(Studio {
            target,
            desk: Desk::open("answer", sessions.0)?,
            work: Desk::open("check", sessions.1)?,
            documents: Mutex::default(),
            runs: Runs::default(),
            searches: Searches::default(),
            around,
            memory,
            checks: Mutex::new(checks),
            n_edits: Arc::default(),
            n_waiting: Arc::default(),
            models: Mutex::default(),
        });
        studio.recover();
        let checking = studio.clone();
        let check = move || {
            let mut next: Option<(PathBuf, Option<String>)> = None;
            loop {
                let received = match next {
                    Some(_) => wanted.recv_timeout(PAUSE),
                    None => wanted.recv().map_err(|_| RecvTimeoutError::Disconnected),
                };
                match received {
                    Ok(document) => next = Some(document),
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Some((path, class)) = next.take() {
                            checking.check(path, class);
                        }
                    }
                }
            }
        };
        std::thread::Builder::new().name("checks".into()).spawn(check)?;
        let watching = studio.clone();
        let mut libraries = studio.target.library_listing();
        let watch = move || {
            let mut countdown = ROUNDS_PER_LIBRARY_LOOK;
            let mut reading = Reading::default();
            loop {
                std::thread::sleep(WATCH);
                watching.look_at_disk();
                let now = watching.target.listing();
                if now != listing {
                    watching.list_anew(target::differences(&listing, &now));
                }
                listing = now;
                // Large, and rarely changed.
                countdown -= 1;
                if countdown == 1 {
                    [&watching.desk, &watching.work].into_iter().for_each(|desk| reading.ask(desk));
                } else if countdown == 0 {
                    countdown = ROUNDS_PER_LIBRARY_LOOK;
                    let now = watching.target.library_listing();
                    if now != libraries {
                        watching.list_anew(target::differences(&libraries, &now));
                    }
                    let is_of_path = |path: &Path| !listing.contains_key(path) && !now.contains_key(path);
                    let changed = reading.look(&is_of_path);
                    if !changed.is_empty() {
                        watching.list_anew(changed);
                    }
                    libraries = now;
                }
            }
        };
        std::thread::Builder::new().name("watch".into()).spawn(watch)?;
        Ok(studio)
    }

    pub fn hub(&self) -> &Arc<Hub> {
        &self.around.hub
    }

    fn documents(&self) -> MutexGuard<'_, Documents> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an earlier server had not saved.
    fn recover(&self) {
        for unsaved in self.memory.unsaved() {
            if let Ok(document) = self.document_on_disk(&unsaved.path) {
                self.documents().open.insert(unsaved.path.clone(), document);
                self.change(&unsaved.path, |document| document.recover(&unsaved.text, unsaved.base.as_deref()));
            }
        }
    }

    fn document_on_disk(&self, path: &Path) -> std::io::Result<Document> {
        let mut document = Document::read(path)?;
        if !self.target.may_write(path) {
            document.lock(documents::OF_LIBRARY);
        }
        Ok(document)
    }

    /// Opens the file of a class if it is not open yet: its path, and `text` if the file is not on this disk.
    pub fn open_document(&self, path: &Path, text: &str) {
        if self.documents().open.contains_key(path) {
            return;
        }
        let document = self.document_on_disk(path).unwrap_or_else(|_| Document::of_library(text));
        // The session reads the file as it is; pages have their own line ends.
        let differs = document.text != text;
        let shown = document.text.clone();
        let mut documents = self.documents();
        if documents.open.contains_key(path) {
            return;
        }
        documents.open.insert(path.to_path_buf(), document);
        if differs {
            self.spread(path, &shown);
        }
    }

    /// Looks at an open document.
    pub fn with_document<T>(&self, path: &Path, look: impl FnOnce(&Document) -> T) -> Option<T> {
        self.documents().open.get(path).map(look)
    }

    pub fn all_documents(&self) -> Vec<Value> {
        self.documents().open.iter().map(|(path, document)| status(path, document)).collect()
    }

    /// Changes an open document and tells everybody. The status behind it, and what `change` gave; `None` if it is not open.
    pub fn change<T>(&self, path: &Path, change: impl FnOnce(&mut Document) -> T) -> Option<(Value, T)> {
        let mut documents = self.documents();
        let document = documents.open.get_mut(path)?;
        let version = document.version;
        let given = change(document);
        if document.version != version {
            self.spread(path, &document.text);
        }
        self.memory.keep(path, document);
        let status = status(path, document);
        drop(documents);
        self.hub().publish(&json!({"type": "document", "document": status}));
        Some((status, given))
    }

    /// Both desks are told while the documents are locked: texts arrive in the order of their versions.
    fn spread(&self, path: &Path, text: &str) {
        for desk in [&self.desk, &self.work] {
            let (path, text) = (path.to_path_buf(), text.to_owned());
            desk.tell(move |session| session.set_text(&path, &text));
        }
        self.count_edit();
    }

    /// Behind the news for the desks: what is compiled for the new number has heard them.
    fn count_edit(&self) {
        self.n_edits.fetch_add(1, Ordering::SeqCst);
    }

    /// Files have come, gone or changed. Those that are open are documents, which look for themselves.
    fn list_anew(&self, changed: Vec<PathBuf>) {
        let open: Vec<PathBuf> = self.documents().open.keys().cloned().collect();
        let changed: Vec<PathBuf> = changed.into_iter().filter(|path| !open.contains(path)).collect();
        let files = self.target.files();
        for desk in [&self.desk, &self.work] {
            let (changed, files) = (changed.clone(), files.clone());
            desk.tell(move |session| {
                for path in &changed {
                    session.reload(path);
                    path.parent().into_iter().for_each(|directory| session.reload(directory));
                }
                files.iter().filter(|file| changed.contains(file)).for_each(|file| session.load_file(file));
            });
        }
        self.count_edit();
        self.hub().publish(&json!({"type": "tree"}));
        open.iter().for_each(|path| self.want_check(path, None));
    }

    fn look_at_disk(&self) {
        let paths: Vec<PathBuf> = self.documents().open.keys().cloned().collect();
        for path in paths {
            let is_news = {
                let mut documents = self.documents();
                let Some(document) = documents.open.get_mut(&path) else { continue };
                let before = (document.version, document.is_changed_on_disk, document.read_only());
                let version = document.version;
                document.look_at_disk(&path);
                if document.version != version {
                    self.spread(&path, &document.text);
                }
                before != (document.version, document.is_changed_on_disk, document.read_only())
            };
            if is_news {
                self.change(&path, |_| ());
            }
        }
    }

    /// Checks the classes of a document after a pause, the named one first.
    pub fn want_check(&self, path: &Path, class: Option<&str>) {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = checks.send((path.to_path_buf(), class.map(str::to_owned)));
    }

    fn check(self: &Arc<Self>, path: PathBuf, class: Option<String>) {
        let Some(version) = self.with_document(&path, |document| document.version) else { return };
        let studio = self.clone();
        self.work.tell(move |session| {
            let round = studio.n_edits.load(Ordering::SeqCst);
            let is_over = || {
                studio.n_edits.load(Ordering::SeqCst) != round || studio.n_waiting.load(Ordering::SeqCst) > 0
            };
            let analysis = Analysis::new(session);
            let text = analysis.text(&path).unwrap_or("").to_owned();
            let mut problems: Vec<Problem> = guard::catch(|| analysis.syntax_problems(&path)).unwrap_or_default();
            let tell = |problems: &[Problem], is_complete: bool| {
                let problems: Vec<Value> = problems.iter().map(|p| messages::problem(p, &text)).collect();
                studio.hub().publish(&json!({
                    "type": "problems", "path": &path, "version": version, "problems": problems, "complete": is_complete,
                }));
            };
            let classes = guard::catch(|| analysis.checkable_classes(&path)).unwrap_or_default();
            let is_first = |name: &String| Some(name) == class.as_ref();
            let (first, others): (Vec<String>, Vec<String>) = classes.into_iter().partition(is_first);
            if !problems.is_empty() {
                tell(&problems, first.is_empty());
            }
            for (n, name) in first.iter().chain(&others).enumerate() {
                if is_over() {
                    // What waits goes first; then this round is made again.
                    studio.want_check(&path, class.as_deref());
                    return;
                }
                let found = guard::catch(|| analysis.problems(&path, name));
                for problem in found.unwrap_or_else(|defect| vec![defect_at_begin(&defect, name)]) {
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
                if n == 0 {
                    tell(&problems, others.is_empty());
                }
            }
            tell(&problems, true);
        });
    }

    /// The compiled model of a class with values, and what a run has to set in it. A model is compiled again only if a text has changed, or for
    /// values on which its structure depends.
    pub fn compile(&self, class: &str, values: &[(String, String)]) -> Result<(Arc<Model>, Start), Vec<Value>> {
        let (mut rest, mut built_in) = (values.to_vec(), Vec::new());
        loop {
            let model = match self.compiled(class, built_in.clone()) {
                Ok(model) => model,
                // It may need these values to be in order.
                Err(_) if !rest.is_empty() && built_in.is_empty() => self.compiled(class, std::mem::take(&mut rest))?,
                Err(found) => return Err(found),
            };
            let is_settable = |name: &str| {
                model.changeable(name).is_ok() || model.sizes(name).is_some() && model.variable(name).is_err()
            };
            let others = rest.iter().filter(|(name, _)| !is_settable(name));
            let (known, unknown): (Vec<_>, Vec<_>) =
                others.cloned().partition(|(name, _)| model.variable(name).is_ok());
            // What this structure does not have, the one with the other values may.
            let next = if known.is_empty() { unknown } else { known };
            if next.is_empty() {
                return Ok((model, Start { values: rest, ..Start::default() }));
            }
            rest.retain(|pair| !next.contains(pair));
            built_in.extend(next.into_iter().map(|(name, value)| {
                let value = qualified(&model, &name, value);
                (name, value)
            }));
        }
    }

    /// How a class is sorted: states, loops, events.
    pub fn structure(&self, class: &str) -> Result<Value, Vec<Value>> {
        let name = class.to_owned();
        self.work_on(move |session| {
            let id = session.class(Some(&name)).map_err(|unknown| vec![unknown]);
            let options = Options { describe: true, ..Options::until(Stage::Compile) };
            let made = id.and_then(|id| {
                let outcome = pipeline::run(session, id, &options);
                if outcome.description.is_some() {
                    Ok(outcome)
                } else {
                    Err(outcome.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect())
                }
            });
            session.with_sources(|sources| match made {
                Ok(outcome) => Ok(views::structure(&outcome, &|span| messages::place(sources, span))),
                Err(found) => Err(found.iter().map(|d| messages::message(d, sources)).collect::<Vec<_>>()),
            })
        })
    }

    /// The second desk's answer to something that somebody waits for: checks give way.
    fn work_on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T, Vec<Value>> + Send + 'static,
    ) -> Result<T, Vec<Value>> {
        self.n_waiting.fetch_add(1, Ordering::SeqCst);
        let made = self.work.ask(work);
        self.n_waiting.fetch_sub(1, Ordering::SeqCst);
        let internal = || vec![json!({"severity": "error", "message": "a defect of the compiler prevented this"})];
        made.ok_or_else(internal)?
    }

    fn compiled(&self, class: &str, overrides: Vec<(String, String)>) -> Result<Arc<Model>, Vec<Value>> {
        let edits = self.n_edits.load(Ordering::SeqCst);
        let key = (class.to_owned(), overrides.clone());
        let models = || self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, model)) = models().get(&key).filter(|(of, _)| *of == edits) {
            return Ok(model.clone());
        }
        let name = class.to_owned();
        let model = self.work_on(move |session| {
            let id = session.class(Some(&name)).map_err(|unknown| vec![unknown]);
            let options = Options { overrides, ..Options::default() };
            let made = id.and_then(|id| {
                pipeline::compile(session, id, &options).map_err(|found| found.iter().cloned().collect())
            });
            made.map_err(|found| {
                session.with_sources(|sources| found.iter().map(|d| messages::message(d, sources)).collect::<Vec<_>>())
            })
        })?;
        let mut models = models();
        models.retain(|_, (of, _)| *of == edits);
        models.insert(key, (edits, model.clone()));
        Ok(model)
    }
}
