//! Where the bytes of a table go: a file, or a device or pipe, which can neither be replaced nor read again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::encode::Closing;
use crate::twin::Twin;

pub(crate) enum Output {
    File(Twin),
    Device { path: PathBuf, file: File },
}

impl Output {
    pub fn open(path: &Path) -> io::Result<Output> {
        let found = fs::metadata(path).map(|m| m.file_type());
        if found.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Output::Device { path: path.to_owned(), file });
        }
        Twin::create(path).map(Output::File)
    }

    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Output::File(twin) => twin.append(bytes),
            Output::Device { file, .. } => file.write_all(bytes),
        }
    }

    /// Makes what was appended so far visible as a whole file.
    pub fn commit(&mut self, closing: &Closing) -> io::Result<()> {
        match self {
            Output::File(twin) => twin.commit(closing),
            // What was written cannot be taken back, so a footer comes once, at the end.
            Output::Device { .. } => Ok(()),
        }
    }

    /// Complete: the file takes the name that was asked for.
    pub fn finish(&mut self, closing: &Closing) -> io::Result<()> {
        match self {
            Output::File(twin) => twin.finish(closing),
            Output::Device { file, .. } => {
                file.write_all(&closing.tail)?;
                for (at, patch) in &closing.patches {
                    file.seek(SeekFrom::Start(*at))?;
                    file.write_all(patch)?;
                }
                Ok(())
            }
        }
    }

    /// Not complete: where the piece is.
    pub fn keep(&mut self) -> io::Result<Option<PathBuf>> {
        match self {
            Output::File(twin) => twin.keep(),
            Output::Device { path, .. } => Ok(Some(path.clone())),
        }
    }

    /// Where readers find what was committed.
    pub fn visible_path(&self) -> &Path {
        match self {
            Output::File(twin) => twin.front_path(),
            Output::Device { path, .. } => path,
        }
    }
}
