//! Where files come from: the disk, memory, or what an editor has open.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Files above this size are refused: no Modelica text is that large, and positions in a file have 32 bits.
pub const MAX_FILE_SIZE: u64 = 64 << 20;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DirEntry {
    pub name: String,
    pub is_dir: bool,
}

/// The file system as far as a library needs it.
pub trait FileSource: Send + Sync {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The entries of a directory, sorted by name.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;

    fn is_file(&self, path: &Path) -> bool;

    fn is_dir(&self, path: &Path) -> bool;

    /// The size of a file if it is known without reading it.
    fn size(&self, _path: &Path) -> Option<u64> {
        None
    }

    /// The path from the root of the file system, so that two spellings of one file are recognised.
    fn absolute(&self, path: &Path) -> PathBuf {
        normalise(path)
    }

    /// Where the file is, or would be, when all links on the way are followed; what is permitted is decided by that.
    fn real(&self, path: &Path) -> PathBuf;

    /// Does the path name something that is neither a file nor a directory? To open a pipe may take forever.
    fn is_special(&self, path: &Path) -> bool;

    /// Is it known that the file cannot be written to?
    fn is_read_only(&self, _path: &Path) -> bool {
        false
    }
}

/// The file system of the operating system.
#[derive(Clone, Copy, Default, Debug)]
pub struct DiskFiles;

impl FileSource for DiskFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = std::fs::File::open(path)?;
        let size = file.metadata()?.len();
        let mut bytes = Vec::with_capacity(size.min(MAX_FILE_SIZE) as usize + 1);
        // A file may grow while it is read, or be a device without end.
        file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            // A class name is Unicode; a file name that is not cannot be the name of a class.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type()?;
            let is_dir = if kind.is_symlink() { entry.path().is_dir() } else { kind.is_dir() };
            entries.push(DirEntry { name, is_dir });
        }
        entries.sort();
        Ok(entries)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.as_os_str().is_empty() || path.is_dir()
    }

    fn size(&self, path: &Path) -> Option<u64> {
        std::fs::metadata(path).ok().map(|metadata| metadata.len())
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        normalise(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
    }

    fn real(&self, path: &Path) -> PathBuf {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        follow_links(&absolute, &mut 0)
    }

    fn is_special(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
    }

    fn is_read_only(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|known| known.permissions().readonly())
    }
}

/// Links on one path; as many as Linux follows.
const MOST_LINKS: u32 = 40;

/// The path without links, `.` and `..`, as the operating system walks it. Parts that do not exist stay as they are; a link to
/// what does not exist leads there all the same, because writing to it would.
fn follow_links(path: &Path, n_links: &mut u32) -> PathBuf {
    let mut real = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(real.pop()),
            other => real.push(other),
        }
        if let Ok(target) = std::fs::read_link(&real) {
            *n_links += 1;
            if *n_links > MOST_LINKS {
                return real;
            }
            real.pop();
            real = follow_links(&real.join(target), n_links);
        }
    }
    real
}

/// Files in memory, for tests and for embedding; directories exist as far as files are below them.
#[derive(Clone, Default, Debug)]
pub struct MemoryFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFiles {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(normalise(path.as_ref()), bytes.into());
    }

    pub fn remove(&mut self, path: impl AsRef<Path>) {
        self.files.remove(&normalise(path.as_ref()));
    }

    /// The files strictly below `dir`, with their paths relative to it.
    fn below(&self, dir: &Path) -> impl Iterator<Item = &Path> {
        let dir = normalise(dir);
        // Paths are ordered component by component, so everything below a directory stands together behind it.
        let after = self.files.range(dir.clone()..).map(|(path, _)| path);
        after
            .skip_while({
                let dir = dir.clone();
                move |path| **path == dir
            })
            .map_while(move |path| path.strip_prefix(&dir).ok())
    }
}

impl FileSource for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.files.get(&normalise(path)) {
            Some(bytes) => Ok(bytes.clone()),
            None if self.is_dir(path) => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        if !self.is_dir(dir) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no such directory"));
        }
        let entries: BTreeSet<DirEntry> = self
            .below(dir)
            .filter_map(|path| {
                let mut components = path.components();
                let name = components.next()?.as_os_str().to_str()?.to_string();
                Some(DirEntry { name, is_dir: components.next().is_some() })
            })
            .collect();
        Ok(entries.into_iter().collect())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.contains_key(&normalise(path))
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.below(path).next().is_some()
    }

    fn size(&self, path: &Path) -> Option<u64> {
        self.files.get(&normalise(path)).map(|bytes| bytes.len() as u64)
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.absolute(path)
    }

    fn is_special(&self, _path: &Path) -> bool {
        false
    }
}

/// Removes `.` and resolves `..` without asking the file system.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                let can_pop = matches!(result.components().next_back(), Some(Component::Normal(_)));
                if can_pop {
                    result.pop();
                } else if !result.has_root() {
                    result.push("..");
                }
            }
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_derived_from_paths() {
        let mut files = MemoryFiles::new();
        for path in ["a/b/c.mo", "a/b.mo", "a/b/d/e.mo", "./z.mo", "a b/x.mo"] {
            files.insert(path, "");
        }
        let names = |dir: &str| -> Vec<String> {
            let entries = files.list(dir.as_ref()).unwrap_or_default();
            entries.into_iter().map(|e| if e.is_dir { e.name + "/" } else { e.name }).collect()
        };
        assert_eq!(names(""), ["a/", "a b/", "z.mo"]);
        assert_eq!(names("a"), ["b/", "b.mo"]);
        assert_eq!(names("a/x/../b/"), ["c.mo", "d/"]);
        assert!(files.list("a/b.mo".as_ref()).is_err());
        assert!(files.is_dir("a/b/d".as_ref()) && !files.is_dir("a/b/c.mo".as_ref()));
        assert!(!files.is_dir("nowhere".as_ref()));
    }

    #[test]
    fn paths_are_normalised_by_their_text() {
        let cases = [("./a/./b", "a/b"), ("a/../../b", "../b"), ("/../a", "/a"), ("a/..", "")];
        for (path, expected) in cases {
            assert_eq!(normalise(path.as_ref()), Path::new(expected));
        }
    }
}
