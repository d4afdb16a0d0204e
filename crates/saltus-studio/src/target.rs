//! What the user named: a directory, a file or a class; and where classes come from besides.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saltus::{Permissions, Session};
use saltus_lsp::project;

/// Files below a directory that are watched.
const MOST_FILES: usize = 5000;

#[derive(Clone, Debug, Default)]
pub struct Target {
    /// As a page shows it.
    pub name: String,
    /// The file or directory, absolute.
    path: Option<PathBuf>,
    class: Option<String>,
    libraries: Vec<PathBuf>,
    modelica_path: Option<String>,
    permissions: Permissions,
}

impl Target {
    pub fn new(
        name: &str,
        libraries: &[PathBuf],
        modelica_path: Option<&str>,
        permissions: Permissions,
    ) -> Result<Target, String> {
        let absolute = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let path = Path::new(name).exists().then(|| absolute(Path::new(name)));
        if path.is_none() && (name.ends_with(".mo") || name.contains(std::path::MAIN_SEPARATOR)) {
            return Err(format!("expected a file, a directory or a class, found `{name}`"));
        }
        let mut libraries: Vec<PathBuf> = libraries.iter().map(|library| absolute(library)).collect();
        let around = path.clone().unwrap_or_else(|| absolute(Path::new(".")));
        if let Some(project) = project::find(&around) {
            libraries.extend(project?.libraries);
        }
        let class = path.is_none().then(|| name.to_owned());
        let shown = path.as_ref().map_or(name.to_owned(), |path| path.display().to_string());
        let modelica_path = modelica_path.map(str::to_owned);
        Ok(Target { name: shown, path, class, libraries, modelica_path, permissions })
    }

    pub fn permissions(&self) -> Permissions {
        self.permissions
    }

    pub fn session(&self) -> Session {
        let mut session = Session::on_disk();
        session.permit(Permissions { prints_to_stderr: true, ..self.permissions });
        self.libraries.iter().for_each(|library| session.add_library(library));
        self.modelica_path.iter().for_each(|path| session.add_modelica_path(path));
        self.files().iter().for_each(|file| session.load_file(file));
        session
    }

    /// All files of the language below the target, to notice new ones and those that are gone.
    pub fn listing(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut todo: Vec<PathBuf> = self.path.iter().cloned().collect();
        while let Some(path) = todo.pop() {
            if found.len() >= MOST_FILES || todo.len() >= MOST_FILES {
                break;
            }
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_hidden => todo.push(path),
                    Ok(kind) if kind.is_file() && !is_hidden && path.extension().is_some_and(|e| e == "mo") => {
                        found.insert(path);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// A package is itself; of another directory the files and packages in it.
    pub fn files(&self) -> Vec<PathBuf> {
        let Some(path) = &self.path else { return Vec::new() };
        if path.is_file() || path.join("package.mo").is_file() {
            return vec![path.clone()];
        }
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_ours = |path: &PathBuf| path.extension().is_some_and(|e| e == "mo") || path.join("package.mo").is_file();
        let mut files: Vec<PathBuf> = entries.filter(is_ours).collect();
        files.sort();
        files
    }

    /// The class that is shown first.
    pub fn first_class(&self, session: &Session) -> Option<String> {
        if let Some(class) = &self.class {
            return Some(class.clone());
        }
        let library = session.library();
        let obvious = session.class(None).ok().or_else(|| session.own_classes().first().copied());
        obvious.map(|class| library.qualified_name(class))
    }

    /// Files below what the user named and below the libraries of the command line may be written; those of the search path and of the
    /// program itself may not.
    pub fn may_write(&self, path: &Path) -> bool {
        let Ok(path) = std::fs::canonicalize(path) else { return false };
        let is_writable = std::fs::metadata(&path).is_ok_and(|meta| !meta.permissions().readonly());
        let named = self.path.iter().chain(&self.libraries);
        is_writable
            && named
                .map(|root| std::fs::canonicalize(root).unwrap_or_else(|_| root.clone()))
                .any(|root| path.starts_with(root))
    }
}
