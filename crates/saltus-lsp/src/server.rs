//! The main loop: owns the session, takes messages in their order, sends answers.

use std::collections::{HashSet, VecDeque};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use saltus::{Session, guard};
use saltus_ide::{Analysis, Encoding, RunFile};
use saltus_program::Stopwatch;
use serde_json::{Value, json};

use crate::convert::{self, Page};
use crate::documents::Documents;
use crate::runs::{self, Ran, Runs, Wanted};
use crate::worker::{Command, Finding, Progress, Worker};
use crate::{project, requests, transport, uri};

/// What the command line knows before the editor speaks.
#[derive(Clone, Default)]
pub struct Settings {
    pub libraries: Vec<PathBuf>,
    /// The value of `MODELICAPATH`.
    pub modelica_path: Option<String>,
    /// Measures what simulations cost.
    pub stopwatch: Stopwatch,
}

/// Serves one editor until it says `exit` or closes the stream. `true` if it said `shutdown` before.
pub fn serve(settings: &Settings, input: impl Read + Send + 'static, output: impl Write) -> io::Result<bool> {
    let (events, received) = channel();
    read_in_thread(input, events.clone())?;
    let mut server = Server::new(settings, events, output);
    server.run(&received)?;
    Ok(server.is_shut_down)
}

enum Event {
    Message(Value),
    /// The editor is gone.
    Closed,
    Found(Finding),
    Ran(Box<Ran>),
    /// A run that went on when it was cancelled.
    Cancelled(Value),
}

fn read_in_thread(input: impl Read + Send + 'static, events: Sender<Event>) -> io::Result<()> {
    let read = move || {
        let mut input = BufReader::new(input);
        while let Ok(Some(message)) = transport::read(&mut input) {
            if events.send(Event::Message(message)).is_err() {
                return;
            }
        }
        let _ = events.send(Event::Closed);
    };
    std::thread::Builder::new().name("read".into()).spawn(read).map(|_| ())
}

/// What the editor can do.
#[derive(Default)]
pub(crate) struct Client {
    pub(crate) has_snippets: bool,
    has_progress: bool,
    watches_files: bool,
    refreshes_lenses: bool,
}

pub(crate) struct Server<W> {
    pub(crate) session: Session,
    pub(crate) documents: Documents,
    pub(crate) encoding: Encoding,
    pub(crate) client: Client,
    output: W,
    worker: Option<Worker>,
    events: VecDeque<Event>,
    sender: Sender<Event>,
    runs: Runs,
    /// What the last run had to say about files.
    notes: Vec<RunFile>,
    settings: Settings,
    /// Requests that the editor does not want answered any more.
    cancelled: HashSet<String>,
    n_requests: i64,
    libraries: Vec<PathBuf>,
    is_shut_down: bool,
}

fn open(settings: &Settings, libraries: &[PathBuf]) -> Session {
    let mut session = Session::on_disk();
    libraries.iter().for_each(|library| session.add_library(library));
    settings.modelica_path.iter().for_each(|path| session.add_modelica_path(path));
    session
}

/// Errors of the protocol.
const METHOD_NOT_FOUND: i64 = -32601;
const INTERNAL_ERROR: i64 = -32603;
const REQUEST_FAILED: i64 = -32803;
const REQUEST_CANCELLED: i64 = -32800;
const SERVER_NOT_INITIALIZED: i64 = -32002;

impl<W: Write> Server<W> {
    fn new(settings: &Settings, events: Sender<Event>, output: W) -> Self {
        let sender = events.clone();
        Self {
            session: open(settings, &settings.libraries),
            documents: Documents::default(),
            encoding: Encoding::Utf16,
            client: Client::default(),
            output,
            worker: Worker::start(open(settings, &settings.libraries), move |finding| {
                let _ = events.send(Event::Found(finding));
            }),
            events: VecDeque::new(),
            sender,
            runs: Runs::default(),
            notes: Vec::new(),
            settings: settings.clone(),
            cancelled: HashSet::new(),
            n_requests: 0,
            libraries: settings.libraries.clone(),
            is_shut_down: false,
        }
    }

    fn run(&mut self, received: &Receiver<Event>) -> io::Result<()> {
        loop {
            if self.events.is_empty() {
                let Ok(event) = received.recv() else { return Ok(()) };
                self.take(event);
            }
            // Cancellations count before their turn.
            while let Ok(event) = received.try_recv() {
                self.take(event);
            }
            match self.events.pop_front() {
                Some(Event::Message(message)) if !self.message(&message)? => return Ok(()),
                Some(Event::Message(_)) | None => {}
                Some(Event::Found(finding)) => self.found(finding)?,
                Some(Event::Ran(ran)) => self.ran(*ran)?,
                Some(Event::Cancelled(id)) => self.respond(&id, Err((REQUEST_CANCELLED, "cancelled".into())))?,
                Some(Event::Closed) => return Ok(()),
            }
        }
    }

    fn take(&mut self, event: Event) {
        if let Event::Message(message) = &event
            && message["method"] == "$/cancelRequest"
        {
            let id = &message["params"]["id"];
            let is_pending =
                |event: &Event| matches!(event, Event::Message(m) if m["id"] == *id && m.get("method").is_some());
            if self.events.iter().any(is_pending) {
                self.cancelled.insert(id.to_string());
            }
            if self.runs.cancel(id) {
                self.events.push_front(Event::Cancelled(id.clone()));
            }
            return;
        }
        self.events.push_back(event);
    }

    /// `false` at the end.
    fn message(&mut self, message: &Value) -> io::Result<bool> {
        let Some(method) = message["method"].as_str() else { return Ok(true) };
        let params = &message["params"];
        match message.get("id") {
            Some(id) if method == "workspace/executeCommand" && !self.cancelled.contains(&id.to_string()) => {
                if let Err(refused) = self.execute(id, params) {
                    self.respond(id, Err((REQUEST_FAILED, refused)))?;
                }
            }
            Some(id) => {
                let answer = self.answer(&id.to_string(), method, params);
                self.respond(id, answer)?;
            }
            None if method == "exit" => return Ok(false),
            None => self.notification(method, params)?,
        }
        Ok(true)
    }

    fn respond(&mut self, id: &Value, answer: Result<Value, (i64, String)>) -> io::Result<()> {
        let mut response = json!({"jsonrpc": "2.0", "id": id});
        match answer {
            Ok(result) => response["result"] = result,
            Err((code, message)) => response["error"] = json!({"code": code, "message": message}),
        }
        self.send(&response)
    }

    /// Starts what a command asks for; it is answered when that is over.
    fn execute(&mut self, id: &Value, params: &Value) -> Result<(), String> {
        let class = params["arguments"][0].as_str();
        let (true, Some(class)) = (params["command"] == runs::RUN, class) else {
            return Err(format!("unknown command {}", params["command"]));
        };
        let texts = self.documents.by_edit().into_iter().rev();
        let wanted = Wanted {
            class: class.to_owned(),
            texts: texts.filter_map(|path| Some((path.clone(), self.documents.get(&path)?.text.clone()))).collect(),
            session: open(&self.settings, &self.libraries),
            stopwatch: self.settings.stopwatch.clone(),
        };
        let sender = self.sender.clone();
        self.runs.start(id, wanted, move |ran| {
            let _ = sender.send(Event::Ran(Box::new(ran)));
        })
    }

    /// A run is over: the editor has its answer, and lenses say what happened where.
    fn ran(&mut self, ran: Ran) -> io::Result<()> {
        let Ran { id, report } = ran;
        if !self.runs.end(&id) {
            return Ok(());
        }
        let report = match report {
            Err(reason) => return self.respond(&id, Err((REQUEST_FAILED, reason))),
            Ok(report) => report,
        };
        let result = runs::result(&report);
        self.notes = report.files;
        self.documents.set_notes(&self.notes);
        self.respond(&id, Ok(result))?;
        self.refresh_lenses()
    }

    fn refresh_lenses(&mut self) -> io::Result<()> {
        match self.client.refreshes_lenses {
            true => self.request("workspace/codeLens/refresh", Value::Null),
            false => Ok(()),
        }
    }

    fn answer(&mut self, id: &str, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        if self.cancelled.remove(id) {
            return Err((REQUEST_CANCELLED, "cancelled".into()));
        }
        match method {
            "initialize" => return Ok(self.initialize(params)),
            "shutdown" => {
                self.is_shut_down = true;
                return Ok(Value::Null);
            }
            _ if self.is_shut_down => return Err((SERVER_NOT_INITIALIZED, "the server is shut down".into())),
            _ => {}
        }
        match guard::catch(|| requests::answer(self, method, params)) {
            Ok(Some(Ok(result))) => Ok(result),
            Ok(Some(Err(reason))) => Err((REQUEST_FAILED, reason)),
            Ok(None) => Err((METHOD_NOT_FOUND, format!("unknown method {method}"))),
            Err(defect) => Err((INTERNAL_ERROR, defect.message)),
        }
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let capabilities = &params["capabilities"];
        let encodings = capabilities["general"]["positionEncodings"].as_array();
        if encodings.is_some_and(|known| known.iter().any(|name| name == "utf-8")) {
            self.encoding = Encoding::Utf8;
        }
        let is_set = |value: &Value| value.as_bool().unwrap_or(false);
        self.client = Client {
            has_snippets: is_set(&capabilities["textDocument"]["completion"]["completionItem"]["snippetSupport"]),
            has_progress: is_set(&capabilities["window"]["workDoneProgress"]),
            watches_files: is_set(&capabilities["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"]),
            refreshes_lenses: is_set(&capabilities["workspace"]["codeLens"]["refreshSupport"]),
        };
        let folders = params["workspaceFolders"].as_array().cloned().unwrap_or_default();
        let mut folders: Vec<PathBuf> = folders.iter().filter_map(|f| f["uri"].as_str()).map(uri::to_path).collect();
        if folders.is_empty() {
            folders.extend(params["rootUri"].as_str().map(uri::to_path));
        }
        for library in params["initializationOptions"]["libraries"].as_array().into_iter().flatten() {
            library.as_str().into_iter().for_each(|library| self.add_library(Path::new(library)));
        }
        folders.iter().for_each(|folder| self.add_folder(folder));
        json!({"capabilities": requests::capabilities(self.encoding), "serverInfo": {"name": "saltus", "version": env!("CARGO_PKG_VERSION")}})
    }

    /// A folder of the workspace: its packages can be used, and its project file counts.
    fn add_folder(&mut self, folder: &Path) {
        self.session.add_workspace(folder);
        self.add_library(folder);
        self.read_project(folder);
    }

    fn remove_folder(&mut self, folder: &Path) {
        self.libraries.retain(|known| known != folder);
        self.session.remove_workspace(folder);
        self.tell(Command::RemoveLibrary(folder.to_path_buf()));
    }

    fn read_project(&mut self, directory: &Path) {
        match project::find(directory) {
            Some(Ok(project)) => project.libraries.iter().for_each(|library| self.add_library(library)),
            Some(Err(message)) => {
                let _ = self.notify("window/showMessage", json!({"type": 2, "message": message}));
            }
            None => {}
        }
    }

    fn add_library(&mut self, library: &Path) {
        if !self.libraries.iter().any(|known| known == library) {
            self.libraries.push(library.to_path_buf());
            self.session.add_library(library);
            self.tell(Command::AddLibrary(library.to_path_buf()));
        }
    }

    fn tell(&self, command: Command) {
        if let Some(worker) = &self.worker {
            worker.tell(command);
        }
    }

    fn notification(&mut self, method: &str, params: &Value) -> io::Result<()> {
        let document = &params["textDocument"];
        let path = uri::to_path(document["uri"].as_str().unwrap_or(""));
        match method {
            "initialized" => self.watch_files()?,
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or("");
                let version = document["version"].as_i64().unwrap_or(0);
                path.parent().into_iter().for_each(|directory| self.read_project(directory));
                self.documents.open(path.clone(), document["uri"].as_str().unwrap_or(""), text, version);
                self.documents.set_notes_of(&path, &self.notes);
                self.edited(&path)?;
            }
            "textDocument/didChange" => {
                let version = document["version"].as_i64().unwrap_or(0);
                let changes = params["contentChanges"].as_array().map_or(&[][..], Vec::as_slice);
                if self.documents.change(&path, version, changes, self.encoding).is_some() {
                    self.edited(&path)?;
                }
            }
            "textDocument/didClose" => {
                if let Some(closed) = self.documents.close(&path) {
                    self.session.remove_text(&path);
                    self.tell(Command::RemoveText(path));
                    let nothing = json!({"uri": closed.uri, "diagnostics": []});
                    self.notify("textDocument/publishDiagnostics", nothing)?;
                    self.check_again();
                }
            }
            "workspace/didChangeWatchedFiles" => {
                for change in params["changes"].as_array().into_iter().flatten() {
                    let path = uri::to_path(change["uri"].as_str().unwrap_or(""));
                    self.session.reload(&path);
                    self.tell(Command::Reload(path));
                }
                self.check_again();
            }
            "workspace/didChangeWorkspaceFolders" => {
                for folder in params["event"]["removed"].as_array().into_iter().flatten() {
                    self.remove_folder(&uri::to_path(folder["uri"].as_str().unwrap_or("")));
                }
                for folder in params["event"]["added"].as_array().into_iter().flatten() {
                    self.add_folder(&uri::to_path(folder["uri"].as_str().unwrap_or("")));
                }
                self.check_again();
            }
            _ => {}
        }
        Ok(())
    }

    fn watch_files(&mut self) -> io::Result<()> {
        if !self.client.watches_files {
            return Ok(());
        }
        let watchers: Vec<Value> =
            ["**/*.mo", "**/package.order", "**/saltus.toml"].iter().map(|glob| json!({"globPattern": glob})).collect();
        let options = json!({"watchers": watchers});
        let registration =
            json!({"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": options});
        self.request("client/registerCapability", json!({"registrations": [registration]}))
    }

    /// The text of a document is another one: syntax errors are shown at once, the rest is left to the worker.
    fn edited(&mut self, path: &Path) -> io::Result<()> {
        let Some(document) = self.documents.get(path) else { return Ok(()) };
        self.session.set_text(path, &document.text);
        self.tell(Command::SetText(path.to_path_buf(), document.text.clone()));
        self.check_again();
        self.publish(path)
    }

    fn check_again(&mut self) {
        let paths = self.documents.by_edit().into_iter();
        let documents = paths.filter_map(|path| Some((path.clone(), self.documents.get(&path)?.version))).collect();
        self.tell(Command::Check(documents));
    }

    /// Sends what is known to be wrong with a document.
    fn publish(&mut self, path: &Path) -> io::Result<()> {
        let Some(document) = self.documents.get(path) else { return Ok(()) };
        let analysis = Analysis::new(&self.session);
        let found = guard::catch(|| {
            let mut problems = analysis.syntax_problems(path);
            let others = document.problems.iter().filter(|problem| !problems.contains(problem)).cloned();
            problems = problems.iter().cloned().chain(others).collect();
            let page = Page::open(&analysis, path, self.encoding)?;
            Some(convert::diagnostics(&analysis, &page, &problems))
        });
        let Ok(Some(diagnostics)) = found else { return Ok(()) };
        let message = json!({"uri": document.uri, "version": document.version, "diagnostics": diagnostics});
        self.notify("textDocument/publishDiagnostics", message)
    }

    fn found(&mut self, finding: Finding) -> io::Result<()> {
        match finding {
            Finding::Problems { path, version, problems } => {
                match self.documents.get_mut(&path) {
                    // What was found in an older text is not true of this one.
                    Some(document) if document.version == version => document.problems = problems,
                    _ => return Ok(()),
                }
                self.publish(&path)
            }
            Finding::Structures { path, version, lines } => match self.documents.get_mut(&path) {
                Some(document) if document.version == version && document.structures != lines => {
                    document.structures = lines;
                    self.refresh_lenses()
                }
                _ => Ok(()),
            },
            Finding::Progress(progress) if self.client.has_progress => self.progress(progress),
            Finding::Progress(_) => Ok(()),
        }
    }

    fn progress(&mut self, progress: Progress) -> io::Result<()> {
        let value = match progress {
            Progress::Begin { n_classes } => {
                self.request("window/workDoneProgress/create", json!({"token": "check"}))?;
                json!({"kind": "begin", "title": "Check", "message": format!("{n_classes} classes"), "percentage": 0})
            }
            Progress::Report { class, n_done, n_classes } => {
                json!({"kind": "report", "message": class, "percentage": 100 * n_done / n_classes.max(1)})
            }
            Progress::End => json!({"kind": "end"}),
        };
        self.notify("$/progress", json!({"token": "check", "value": value}))
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// A request to the editor, whose answer does not matter.
    fn request(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        transport::write(&mut self.output, message)
    }
}
