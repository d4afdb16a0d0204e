//! What the user named: a directory, a file or a class; and where classes come from besides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saltus::{Permissions, Session};
use saltus_lsp::project;

use crate::documents::{Stamp, stamp};

/// Files below a directory that are watched.
const MOST_FILES: usize = 5000;

/// Files of the language, and what tells whether they are still the same.
pub type Listing = BTreeMap<PathBuf, Option<Stamp>>;

/// Files that are in one of two listings alone, or not the same.
pub fn differences(before: &Listing, now: &Listing) -> Vec<PathBuf> {
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let changed = now.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp)).map(|(path, _)| path);
    gone.chain(changed).cloned().collect()
}

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

    /// All files of the language below the target, to notice new ones, those that are gone and those that others have changed.
    pub fn listing(&self) -> Listing {
        listing(self.path.iter().cloned().collect())
    }

    /// Those of the libraries that were named.
    pub fn library_listing(&self) -> Listing {
        listing(self.libraries.clone())
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

/// All files of the language below directories, and files that are named themselves.
fn listing(mut todo: Vec<PathBuf>) -> Listing {
    let is_of_language = |path: &Path| path.extension().is_some_and(|e| e == "mo");
    let mut found: Listing =
        todo.extract_if(.., |path| path.is_file()).map(|path| (path.clone(), stamp(&path))).collect();
    while let Some(path) = todo.pop() {
        if found.len() >= MOST_FILES || todo.len() >= MOST_FILES {
            break;
        }
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_hidden => todo.push(path),
                Ok(kind) if kind.is_file() && !is_hidden && is_of_language(&path) => {
                    let stamp = stamp(&path);
                    found.insert(path, stamp);
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_gone_or_changed_differs() {
        let directory = std::env::temp_dir().join(format!("saltus-target-{}", std::process::id()));
        std::fs::create_dir_all(directory.join("P")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
        write("A.mo", "model A end A;");
        write("P/B.mo", "model B end B;");
        write("text.txt", "");
        let now = || listing(vec![directory.clone()]);
        let before = now();
        assert_eq!(before.len(), 2);
        assert!(differences(&before, &now()).is_empty());
        write("P/B.mo", "model B Real x; end B;");
        write("C.mo", "");
        std::fs::remove_file(directory.join("A.mo")).unwrap();
        let changed = ["A.mo", "C.mo", "P/B.mo"].map(|name| directory.join(name));
        assert_eq!(differences(&before, &now()), changed);
        assert_eq!(listing(vec![directory.join("C.mo")]).len(), 1, "a file by itself");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
