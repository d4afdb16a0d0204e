//! Files that a model takes along: tables and other data that it reads.
//!
//! In: a model. Out: at export the files that its start reads ([`read_at_start`]); in an instance a [`FileSource`] that has these and nothing
//! else ([`CarriedFiles`]), under the names that the model knows. What is in no archive is not read from the disk of another machine.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use saltus::pipeline::Engine;
use saltus::{Model, Permissions};
use saltus_library::{DirEntry, FileSource};
use saltus_sim::{Options, SimError, Simulation};

/// The list of carried files in `resources/`, one line each: the file there, a tab, the path that the model uses.
pub const INDEX: &str = "files.txt";

/// Files with their contents, by the path that the model uses.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The files that the model reads until it is initialised, and why it cannot be if so.
pub fn read_at_start(model: &Model) -> (Files, Result<(), SimError>) {
    let recorder = Arc::new(Recorder { inner: model.files().clone(), files: Mutex::default() });
    let recording = model.with_files(recorder.clone());
    let instance = recording.instance(Engine::Interpreter, Permissions::default());
    let started = Simulation::new(instance, Options::new(model.program())).initialise();
    let files = std::mem::take(&mut *recorder.files.lock().unwrap_or_else(|e| e.into_inner()));
    (files, started)
}

struct Recorder {
    inner: Arc<dyn FileSource>,
    files: Mutex<Files>,
}

impl FileSource for Recorder {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.inner.read(path)?;
        self.files.lock().unwrap_or_else(|e| e.into_inner()).insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.inner.list(dir)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.inner.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.inner.is_dir(path)
    }

    fn size(&self, path: &Path) -> Option<u64> {
        self.inner.size(path)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.inner.absolute(path)
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.inner.real(path)
    }

    fn is_special(&self, path: &Path) -> bool {
        self.inner.is_special(path)
    }
}

/// The files of an archive.
#[derive(Default)]
pub struct CarriedFiles {
    /// By the path that the model uses.
    places: BTreeMap<PathBuf, PathBuf>,
}

impl CarriedFiles {
    /// Those that `resources` lists.
    pub fn new(resources: &Path) -> CarriedFiles {
        let index = std::fs::read_to_string(resources.join(INDEX)).unwrap_or_default();
        let entry = |line: &str| {
            let (file, path) = line.split_once('\t')?;
            // The archive names its own files only.
            let is_plain = !file.is_empty() && !file.contains(['/', '\\']) && file != "..";
            is_plain.then(|| (PathBuf::from(path), resources.join(file)))
        };
        CarriedFiles { places: index.lines().filter_map(entry).collect() }
    }

    fn place(&self, path: &Path) -> Option<&PathBuf> {
        self.places.get(path)
    }
}

impl FileSource for CarriedFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.place(path) {
            Some(place) => std::fs::read(place),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "the FMU does not contain this file")),
        }
    }

    fn list(&self, _dir: &Path) -> io::Result<Vec<DirEntry>> {
        Ok(Vec::new())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.place(path).is_some() || path.ends_with("package.mo") && self.has_below(path.parent())
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.has_below(Some(path))
    }

    /// Everything that is here may be read.
    fn real(&self, path: &Path) -> PathBuf {
        if path == Path::new(".") { PathBuf::new() } else { path.to_owned() }
    }

    fn is_special(&self, _path: &Path) -> bool {
        false
    }
}

impl CarriedFiles {
    fn has_below(&self, directory: Option<&Path>) -> bool {
        directory.is_some_and(|directory| self.places.keys().any(|path| path.starts_with(directory)))
    }
}
