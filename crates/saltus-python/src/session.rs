//! Sessions: texts, and models made of them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use saltus::pipeline::{self, Options, Outcome, Stage};
use saltus::{Model, Permissions, Session};
use saltus_base::{Diagnostics, SourceMap};

use crate::errors;
use crate::interrupt::{abandonable, locked};
use crate::model::{Origin, RawModel};

/// A session that models may come back to for another variant of themselves.
pub struct Shared {
    session: Mutex<Option<Session>>,
    /// Counts what was loaded and edited.
    revision: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    /// Compiles a class with these values; `None` if the session is closed.
    pub fn compile(&self, class: Option<&str>, overrides: &[(String, String)]) -> Option<Compiled> {
        let guard = self.lock();
        let session = guard.as_ref()?;
        let mut said = session.diagnostics();
        let found = session.class(class);
        let Ok(class) = found.map_err(|error| said.push(error)) else {
            let sources = session.with_sources(SourceMap::clone);
            return Some(Compiled { name: String::new(), model: None, said, sources });
        };
        let name = session.library().qualified_name(class);
        let outcome = if said.has_errors() {
            Outcome::default()
        } else {
            let options = Options { overrides: overrides.to_vec(), ..Options::until(Stage::Compile) };
            pipeline::run(session, class, &options)
        };
        said.extend(outcome.diagnostics.iter().cloned());
        let model = outcome.model.filter(|_| !said.has_errors());
        let sources = session.with_sources(SourceMap::clone);
        Some(Compiled { name, model, said, sources })
    }
}

/// What came of a class.
pub struct Compiled {
    pub name: String,
    pub model: Option<Arc<Model>>,
    pub said: Diagnostics,
    pub sources: SourceMap,
}

#[pyclass(frozen, module = "saltus._saltus")]
pub struct RawSession {
    shared: Arc<Shared>,
    permissions: Permissions,
}

impl RawSession {
    fn with<R: Send>(&self, py: Python, work: impl FnOnce(&mut Session) -> R + Send) -> PyResult<R> {
        let mut guard = locked(py, &self.shared.session)?;
        let session = guard.as_mut().ok_or_else(|| errors::closed(py, "session"))?;
        Ok(py.detach(|| work(session)))
    }

    fn edit(&self, py: Python, work: impl FnOnce(&mut Session) + Send) -> PyResult<()> {
        self.shared.revision.fetch_add(1, Ordering::Relaxed);
        self.with(py, work)
    }
}

#[pymethods]
impl RawSession {
    #[new]
    fn new(libraries: Vec<PathBuf>, modelica_path: Option<String>, allow_io: bool, allow_external: bool) -> Self {
        let permissions = Permissions { io: allow_io, external: allow_external, ..Permissions::default() };
        let mut session = Session::on_disk();
        session.permit(permissions);
        libraries.iter().for_each(|dir| session.add_library(dir));
        if let Some(path) = modelica_path {
            session.add_modelica_path(&path);
        }
        let shared = Shared { session: Mutex::new(Some(session)), revision: AtomicU64::new(0) };
        RawSession { shared: Arc::new(shared), permissions }
    }

    fn add_library(&self, py: Python, directory: PathBuf) -> PyResult<()> {
        self.edit(py, |session| session.add_library(&directory))
    }

    fn load_file(&self, py: Python, path: PathBuf) -> PyResult<()> {
        self.edit(py, |session| session.load_file(&path))
    }

    fn load_text(&self, py: Python, name: PathBuf, text: &str) -> PyResult<()> {
        self.edit(py, |session| session.set_text(&name, text))
    }

    fn remove_text(&self, py: Python, name: PathBuf) -> PyResult<()> {
        self.edit(py, |session| session.remove_text(&name))
    }

    fn reload(&self, py: Python, path: PathBuf) -> PyResult<()> {
        self.edit(py, |session| session.reload(&path))
    }

    /// Names of the classes of files and texts that were loaded.
    fn classes(&self, py: Python) -> PyResult<Vec<String>> {
        self.with(py, |session| {
            let library = session.library();
            session.own_classes().iter().map(|&id| library.qualified_name(id)).collect()
        })
    }

    /// Messages about a class, without compiling it, as JSON.
    fn check(&self, py: Python, class: &str) -> PyResult<String> {
        let (shared, class) = (self.shared.clone(), class.to_owned());
        let said = abandonable(py, move || {
            let guard = shared.lock();
            let session = guard.as_ref()?;
            let mut said = session.diagnostics();
            match session.class(Some(&class)) {
                Ok(class) => said
                    .extend(pipeline::run(session, class, &Options::until(Stage::Check)).diagnostics.iter().cloned()),
                Err(error) => said.push(error),
            }
            Some(session.with_sources(|sources| errors::told(said.iter(), sources).1))
        })?;
        said.ok_or_else(|| errors::closed(py, "session"))
    }

    /// A model and the warnings about it.
    #[pyo3(signature = (class, overrides))]
    fn compile(
        &self,
        py: Python,
        class: Option<String>,
        overrides: Vec<(String, String)>,
    ) -> PyResult<(RawModel, String)> {
        let shared = self.shared.clone();
        let revision = shared.revision();
        let compiled = abandonable(py, {
            let (shared, overrides) = (shared.clone(), overrides.clone());
            move || shared.compile(class.as_deref(), &overrides)
        })?;
        let compiled = compiled.ok_or_else(|| errors::closed(py, "session"))?;
        let Some(model) = compiled.model else {
            return Err(errors::compile_error(py, compiled.said.iter(), &compiled.sources));
        };
        let warnings = errors::told(compiled.said.iter(), &compiled.sources).1;
        let revision = Arc::new(AtomicU64::new(revision));
        let origin = Origin { shared, class: compiled.name, overrides, revision };
        Ok((RawModel::new(model, self.permissions, Some(origin)), warnings))
    }

    fn close(&self, py: Python) -> PyResult<()> {
        let session = locked(py, &self.shared.session)?.take();
        py.detach(|| drop(session));
        Ok(())
    }

    #[getter]
    fn is_closed(&self, py: Python) -> PyResult<bool> {
        Ok(locked(py, &self.shared.session)?.is_none())
    }
}
