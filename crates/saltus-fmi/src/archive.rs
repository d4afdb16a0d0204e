//! The ZIP archive of an FMU, read with bounds and written with the same bytes every time.
//!
//! An archive that others made is input: its names may try to leave the directory that it is extracted to, and its sizes may lie.
//! Both are noticed before anything is written.

use std::fmt;
use std::io::{Cursor, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// What is read at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub n_entries: usize,
    /// Bytes of one entry.
    pub entry_size: u64,
    /// Bytes of all entries together.
    pub total_size: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { n_entries: 100_000, entry_size: 2 << 30, total_size: 8 << 30 }
    }
}

#[derive(Debug)]
pub enum ArchiveError {
    /// Not a ZIP archive, cut off, or with damaged contents.
    Damaged(String),
    UnsafePath(String),
    TooLarge(String),
    Missing(String),
    /// The directory could not be written.
    Write(PathBuf, std::io::Error),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::Damaged(error) => f.write_str(error),
            ArchiveError::UnsafePath(entry) => write!(f, "the entry `{entry}` leaves the directory"),
            ArchiveError::TooLarge(what) => f.write_str(what),
            ArchiveError::Missing(entry) => write!(f, "there is no `{entry}`"),
            ArchiveError::Write(path, error) => write!(f, "cannot write `{}`: {error}", path.display()),
        }
    }
}

impl std::error::Error for ArchiveError {}

impl ArchiveError {
    /// As a message about the file at `path`.
    pub fn diagnostic(&self, path: &str) -> saltus_base::Diagnostic {
        match self {
            ArchiveError::UnsafePath(entry) => crate::diagnostics::unsafe_path(path, entry),
            ArchiveError::TooLarge(what) => crate::diagnostics::archive_too_large(path, what),
            ArchiveError::Missing(entry) => crate::diagnostics::missing_entry(path, entry),
            error => crate::diagnostics::not_an_archive(path, &error.to_string()),
        }
    }
}

/// An archive whose names are known to be harmless.
pub struct Archive<R> {
    zip: ZipArchive<R>,
    limits: Limits,
    /// Of files, in the order of the archive.
    names: Vec<String>,
}

impl<R: Read + Seek> Archive<R> {
    pub fn new(reader: R, limits: Limits) -> Result<Self, ArchiveError> {
        let mut zip = ZipArchive::new(reader).map_err(damaged)?;
        if zip.len() > limits.n_entries {
            return Err(ArchiveError::TooLarge(format!("{} entries, at most {}", zip.len(), limits.n_entries)));
        }
        let mut names = Vec::new();
        let mut total = 0u64;
        for at in 0..zip.len() {
            let entry = zip.by_index_raw(at).map_err(damaged)?;
            let name = entry.name().map_err(damaged)?.into_owned();
            if !is_harmless(&name) || entry.is_symlink() {
                return Err(ArchiveError::UnsafePath(name));
            }
            total = total.saturating_add(entry.size());
            if entry.size() > limits.entry_size || total > limits.total_size {
                return Err(ArchiveError::TooLarge(format!("`{name}` has {} bytes", entry.size())));
            }
            if entry.is_file() {
                names.push(name);
            }
        }
        Ok(Archive { zip, limits, names })
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, ArchiveError> {
        let at = self.zip.index_for_name(name).ok_or_else(|| ArchiveError::Missing(name.to_string()))?;
        let mut bytes = Vec::new();
        self.copy(at, name, &mut bytes)?;
        Ok(bytes)
    }

    /// Copies an entry; the size that its header tells is not believed.
    fn copy(&mut self, at: usize, name: &str, to: &mut Vec<u8>) -> Result<(), ArchiveError> {
        let entry = self.zip.by_index(at).map_err(damaged)?;
        let limit = self.limits.entry_size;
        entry.take(limit + 1).read_to_end(to).map_err(|e| ArchiveError::Damaged(format!("`{name}`: {e}")))?;
        match to.len() as u64 > limit {
            true => Err(ArchiveError::TooLarge(format!("`{name}` has more than {limit} bytes"))),
            false => Ok(()),
        }
    }

    /// Writes the files whose names `wanted` accepts below a directory.
    pub fn extract(&mut self, directory: &Path, wanted: impl Fn(&str) -> bool) -> Result<(), ArchiveError> {
        let names: Vec<String> = self.names.iter().filter(|n| wanted(n)).cloned().collect();
        let mut total = 0u64;
        for name in names {
            let bytes = self.read(&name)?;
            total += bytes.len() as u64;
            if total > self.limits.total_size {
                return Err(ArchiveError::TooLarge(format!("more than {} bytes", self.limits.total_size)));
            }
            let path = directory.join(&name);
            let write = || {
                std::fs::create_dir_all(path.parent().unwrap_or(directory))?;
                std::fs::write(&path, &bytes)
            };
            write().map_err(|error| ArchiveError::Write(path.clone(), error))?;
        }
        Ok(())
    }
}

fn damaged(error: zip::result::ZipError) -> ArchiveError {
    ArchiveError::Damaged(error.to_string())
}

/// Does the name stay below the directory, on every platform?
fn is_harmless(name: &str) -> bool {
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    let stays = Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    !name.is_empty() && stays && !has_drive && !name.contains(['\\', '\0'])
}

/// An archive that is written: the same entries give the same bytes.
pub struct ArchiveWriter {
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Default for ArchiveWriter {
    fn default() -> Self {
        ArchiveWriter { zip: ZipWriter::new(Cursor::new(Vec::new())) }
    }
}

impl ArchiveWriter {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        if !is_harmless(name) {
            return Err(ArchiveError::UnsafePath(name.to_string()));
        }
        let is_binary = name.starts_with("binaries/");
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .large_file(bytes.len() as u64 >= u32::MAX.into())
            .unix_permissions(if is_binary { 0o755 } else { 0o644 });
        self.zip.start_file(name, options).map_err(damaged)?;
        self.zip.write_all(bytes).map_err(|e| ArchiveError::Damaged(e.to_string()))
    }

    /// The bytes of the archive.
    pub fn finish(self) -> Result<Vec<u8>, ArchiveError> {
        Ok(self.zip.finish().map_err(damaged)?.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_directory_are_not_harmless() {
        for name in ["../x", "a/../../x", "/etc/passwd", "C:/x", "a\\..\\b", "", "a/../b"] {
            assert!(!is_harmless(name), "{name}");
        }
        for name in ["modelDescription.xml", "binaries/x86_64-linux/a.so", "resources/a b/ü.txt", "a/", "./a"] {
            assert!(is_harmless(name), "{name}");
        }
    }
}
