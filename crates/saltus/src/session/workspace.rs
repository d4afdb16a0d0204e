//! The user's own files: those that a rename may change, and has to look at.
//!
//! Folders of the workspace are walked on disk, because a class of the user is loaded only when somebody asks for it. What comes
//! from a search path outside of these folders, or with the program, belongs to others.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use saltus_library::FileSource;

use super::Session;

/// Files and directories of a workspace that are looked at; a folder with more of them was not meant (a home directory).
const MOST_ENTRIES: usize = 200_000;

/// Why a file is not to be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotOwn {
    /// It belongs to a library that is not part of the workspace.
    Library,
    /// It comes with the program.
    Shipped,
    ReadOnly,
}

impl fmt::Display for NotOwn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotOwn::Library => "belongs to a library outside of the workspace",
            NotOwn::Shipped => "comes with Saltus",
            NotOwn::ReadOnly => "is read-only",
        })
    }
}

impl Session {
    /// A folder of the user: its packages are found like those of a library, and its files are the user's own.
    pub fn add_workspace(&mut self, dir: &Path) {
        if !self.workspace.iter().any(|known| known == dir) {
            self.workspace.push(dir.to_path_buf());
        }
        self.add_library(dir);
    }

    /// The folder is not the user's any more, and not searched.
    pub fn remove_workspace(&mut self, dir: &Path) {
        self.workspace.retain(|known| known != dir);
        self.search.retain(|known| known != dir);
        self.set_up_anew();
    }

    /// All Modelica files below the folders of the workspace, loaded or not. `Err` names a folder that has too many entries to
    /// look at.
    pub fn workspace_files(&self) -> Result<Vec<PathBuf>, PathBuf> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for folder in &self.workspace {
            self.files_below(folder, &mut seen, &mut found).map_err(|()| folder.clone())?;
        }
        Ok(found)
    }

    /// All Modelica files of the search paths outside of the workspace, as far as there are not too many.
    pub fn library_files(&self) -> Vec<PathBuf> {
        let is_own =
            |dir: &&PathBuf| self.workspace.iter().any(|own| self.absolute(dir).starts_with(self.absolute(own)));
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for folder in self.search.iter().filter(|dir| !is_own(dir)) {
            let _ = self.files_below(folder, &mut seen, &mut found);
        }
        found.retain(|path| self.is_own(path).is_err());
        found
    }

    fn files_below(&self, dir: &Path, seen: &mut BTreeSet<PathBuf>, found: &mut Vec<PathBuf>) -> Result<(), ()> {
        let files: &dyn FileSource = &*self.store;
        let mut todo = vec![dir.to_path_buf()];
        while let Some(dir) = todo.pop() {
            // Links may lead around in a circle, and folders may contain each other.
            if !seen.insert(files.real(&dir)) {
                continue;
            }
            for entry in files.list(&dir).unwrap_or_default() {
                let path = dir.join(&entry.name);
                match entry.is_dir {
                    _ if entry.name.starts_with('.') => {}
                    true => todo.push(path),
                    false if entry.name.ends_with(".mo") => found.push(path),
                    false => {}
                }
            }
            if found.len() + todo.len() + seen.len() > MOST_ENTRIES {
                return Err(());
            }
        }
        Ok(())
    }

    /// The path from the root of the file system, by which two spellings of a path are compared.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        FileSource::absolute(&*self.store, path)
    }

    /// The file may be changed: it is in the workspace, or was opened from a place that is not a library.
    pub fn is_own(&self, path: &Path) -> Result<(), NotOwn> {
        let files: &dyn FileSource = &*self.store;
        let absolute = files.absolute(path);
        let is_below = |dir: &PathBuf| absolute.starts_with(files.absolute(dir));
        if self.shipped.as_ref().is_some_and(is_below) {
            return Err(NotOwn::Shipped);
        }
        let is_named = self.users_files.iter().filter(|file| file.is_named).any(|file| {
            // A directory that was named, or its `package.mo`, stands for all that is in it.
            let is_package = file.absolute.file_name().is_some_and(|name| name == "package.mo");
            let all = file.absolute.parent().filter(|_| is_package).unwrap_or(&file.absolute);
            absolute.starts_with(all)
        });
        if !is_named && !self.workspace.iter().any(is_below) && self.search.iter().any(is_below) {
            return Err(NotOwn::Library);
        }
        if files.is_read_only(path) { Err(NotOwn::ReadOnly) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;

    fn session() -> Session {
        let mut files = MemoryFiles::new();
        for path in ["work/A.mo", "work/P/package.mo", "work/P/Q/B.mo", "work/.git/C.mo", "work/notes.txt", "lib/L.mo"]
        {
            files.insert(path, "");
        }
        let mut session = Session::new(Box::new(files));
        session.add_workspace(Path::new("work"));
        session.add_library(Path::new("lib"));
        session
    }

    #[test]
    fn all_files_of_the_workspace_are_listed() {
        let mut session = session();
        session.set_text("work/P/New.mo", "");
        session.add_workspace(Path::new("work/P"));
        let mut found = session.workspace_files().unwrap();
        found.sort();
        let expected = ["work/A.mo", "work/P/New.mo", "work/P/Q/B.mo", "work/P/package.mo"];
        assert_eq!(found, expected.map(PathBuf::from), "each once, no hidden ones, also those that are not saved yet");
    }

    #[test]
    fn files_of_others_are_not_own() {
        let session = session();
        assert_eq!(session.is_own(Path::new("work/P/Q/B.mo")), Ok(()));
        assert_eq!(session.is_own(Path::new("./lib/L.mo")), Err(NotOwn::Library));
        assert_eq!(session.is_own(Path::new("elsewhere/X.mo")), Ok(()), "opened by the user");
        let mut session = session;
        session.load_file(Path::new("lib/L.mo"));
        assert_eq!(session.is_own(Path::new("lib/L.mo")), Ok(()), "named by the user");
        session.load_file(Path::new("lib/P"));
        assert_eq!(session.is_own(Path::new("lib/P/Q.mo")), Ok(()), "in a directory that the user named");
        let shipped = Session::on_disk();
        assert_eq!(shipped.is_own(Path::new("saltus:library/Saltus/Units.mo")), Err(NotOwn::Shipped));
    }
}
