//! What the tests stand on: a disk in memory that changes, and answers as texts that can be compared.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use saltus::render::{Style, render};
use saltus::{Report, Session};
use saltus_library::{DirEntry, FileSource, MemoryFiles};

/// A disk that somebody else writes to.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<MemoryFiles>>);

impl Disk {
    pub fn with(files: &[(&str, &str)]) -> Disk {
        let disk = Disk::default();
        files.iter().for_each(|(path, text)| disk.write(path, text));
        disk
    }

    pub fn write(&self, path: &str, text: &str) {
        self.0.lock().unwrap().insert(path, text);
    }

    pub fn remove(&self, path: &str) {
        self.0.lock().unwrap().remove(path);
    }

    /// A session on this disk with `lib` as a search path.
    pub fn session(&self) -> Session {
        let mut session = Session::new(Box::new(self.clone()));
        session.add_library(Path::new("lib"));
        session
    }
}

impl FileSource for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.lock().unwrap().read(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.lock().unwrap().list(dir)
    }
    fn is_file(&self, path: &Path) -> bool {
        self.0.lock().unwrap().is_file(path)
    }
    fn is_dir(&self, path: &Path) -> bool {
        self.0.lock().unwrap().is_dir(path)
    }
    fn absolute(&self, path: &Path) -> PathBuf {
        self.0.lock().unwrap().absolute(path)
    }
    fn real(&self, path: &Path) -> PathBuf {
        self.0.lock().unwrap().real(path)
    }
    fn is_special(&self, path: &Path) -> bool {
        self.0.lock().unwrap().is_special(path)
    }
}

/// A session on nothing but these texts.
pub fn session(texts: &[(&str, &str)]) -> Session {
    let mut session = Disk::default().session();
    texts.iter().for_each(|(path, text)| session.set_text(path, text));
    session
}

/// Messages and flat model of a report, as a user sees them.
pub fn shown(report: &Report) -> String {
    let sources = report.sources().expect("no defect of the compiler");
    let messages = report.diagnostics.iter().map(|d| render(d, sources, Style::default()));
    let model = report.model.iter().map(|model| saltus_flat::print(model));
    messages.chain(model).collect::<Vec<_>>().join("\n")
}

/// The codes of the errors about a class.
pub fn errors(session: &Session, class: &str) -> Vec<&'static str> {
    let report = session.check(class);
    let errors = report.diagnostics.iter().filter(|d| d.severity == saltus_base::Severity::Error);
    errors.map(|d| d.code.0).collect()
}
