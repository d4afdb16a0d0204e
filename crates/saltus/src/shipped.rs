//! The library that comes with the program: the files below `library/` in the repository, carried in the binary.
//!
//! They appear as files below [`ShippedFiles::ROOT`], a directory that no disk has, so that messages can point into them:
//!
//! ```text
//! error[E0203]: …
//!   --> saltus:library/Saltus/Electrical/Diode.mo:7:3
//! ```
//!
//! Everything else comes from the file system below.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use saltus_library::{DirEntry, FileSource};

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The shipped library, and below it another file system.
#[derive(Clone, Copy, Default, Debug)]
pub struct ShippedFiles<F> {
    below: F,
}

impl ShippedFiles<()> {
    /// The directory that contains the shipped packages.
    pub const ROOT: &'static str = "saltus:library";

    pub fn over<F: FileSource>(below: F) -> ShippedFiles<F> {
        ShippedFiles { below }
    }
}

/// The path below the root with `/` between its parts; `None` for files of the disk.
fn shipped_name(path: &Path) -> Option<String> {
    let rest = path.strip_prefix(ShippedFiles::ROOT).ok()?;
    let parts: Option<Vec<&str>> = rest.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn text(name: &str) -> Option<&'static str> {
    FILES.binary_search_by_key(&name, |(path, _)| path).ok().map(|at| FILES[at].1)
}

/// The shipped paths strictly below a directory, relative to it.
fn below(dir: &str) -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(move |(path, _)| match dir {
        "" => Some(*path),
        dir => path.strip_prefix(dir)?.strip_prefix('/'),
    })
}

impl<F: FileSource> FileSource for ShippedFiles<F> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let Some(name) = shipped_name(path) else { return self.below.read(path) };
        let absent = || io::Error::new(io::ErrorKind::NotFound, "no such file in the shipped library");
        text(&name).map(|text| text.as_bytes().to_vec()).ok_or_else(absent)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let Some(name) = shipped_name(dir) else { return self.below.list(dir) };
        let entries: BTreeSet<DirEntry> = below(&name)
            .map(|path| match path.split_once('/') {
                Some((directory, _)) => DirEntry { name: directory.to_string(), is_dir: true },
                None => DirEntry { name: path.to_string(), is_dir: false },
            })
            .collect();
        if entries.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no such directory in the shipped library"));
        }
        Ok(entries.into_iter().collect())
    }

    fn is_file(&self, path: &Path) -> bool {
        shipped_name(path).map_or_else(|| self.below.is_file(path), |name| text(&name).is_some())
    }

    fn is_dir(&self, path: &Path) -> bool {
        shipped_name(path).map_or_else(|| self.below.is_dir(path), |name| below(&name).next().is_some())
    }

    fn size(&self, path: &Path) -> Option<u64> {
        match shipped_name(path) {
            Some(name) => text(&name).map(|text| text.len() as u64),
            None => self.below.size(path),
        }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        if shipped_name(path).is_some() { path.to_path_buf() } else { self.below.absolute(path) }
    }

    fn real(&self, path: &Path) -> PathBuf {
        if shipped_name(path).is_some() { path.to_path_buf() } else { self.below.real(path) }
    }

    fn is_special(&self, path: &Path) -> bool {
        shipped_name(path).is_none() && self.below.is_special(path)
    }

    fn is_read_only(&self, path: &Path) -> bool {
        shipped_name(path).is_some() || self.below.is_read_only(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use saltus_library::MemoryFiles;

    #[test]
    fn the_shipped_library_is_a_package() {
        let files = ShippedFiles::over(MemoryFiles::new());
        let root = Path::new(ShippedFiles::ROOT);
        let entries = files.list(root).unwrap_or_default();
        assert_eq!(entries, [DirEntry { name: "Saltus".into(), is_dir: true }]);
        assert!(files.is_file(&root.join("Saltus/package.mo")) && files.is_dir(&root.join("Saltus/Examples")));
        assert!(!files.is_file(&root.join("Saltus")) && files.list(&root.join("Saltus/package.mo")).is_err());
        assert_eq!(files.read(&root.join("Saltus/Nothing.mo")).map_err(|e| e.kind()), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn other_files_are_those_of_the_file_system_below() {
        let mut memory = MemoryFiles::new();
        memory.insert("a/b.mo", "model b end b;");
        let files = ShippedFiles::over(memory);
        assert_eq!(files.read(Path::new("a/b.mo")).ok().as_deref(), Some(&b"model b end b;"[..]));
        assert!(files.is_dir(Path::new("a")) && files.size(Path::new("a/b.mo")) == Some(14));
    }

    #[test]
    fn messages_point_into_the_shipped_library() {
        let session = Session::on_disk();
        let class = session.class(Some("Saltus.Electrical.Resistor")).expect("a shipped class");
        let span = session.library().definition(class).expect("a definition").name.span;
        let place = session.with_sources(|sources| sources.location(span)).unwrap_or_default();
        assert!(place.starts_with("saltus:library/Saltus/Electrical/Resistor.mo:"), "{place}");
    }
}
