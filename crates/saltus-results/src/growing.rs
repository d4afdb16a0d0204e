//! A file that gets longer: bytes are collected, written in chunks, and made visible in blocks.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::encode::Closing;
use crate::output::Output;

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 16;
/// Bytes after which readers see them.
const BLOCK: usize = 1 << 20;

/// A file that could not be written.
#[derive(Debug)]
pub struct WriteError {
    pub path: PathBuf,
    pub error: io::Error,
    /// Where the rows of finished blocks are, if the file was to be completed and could not.
    pub kept: Option<PathBuf>,
}

impl WriteError {
    fn new(path: &Path, error: io::Error) -> Self {
        WriteError { path: path.to_owned(), error, kept: None }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

pub(crate) struct Growing {
    path: PathBuf,
    output: Output,
    /// Not written yet.
    pub pending: Vec<u8>,
    /// Bytes since readers saw some.
    n_uncommitted: usize,
    has_failed: bool,
}

impl Growing {
    pub fn open(path: &Path) -> Result<Growing, WriteError> {
        let output = Output::open(path).map_err(|error| WriteError::new(path, error))?;
        let pending = Vec::with_capacity(CHUNK + CHUNK / 4);
        Ok(Growing { path: path.to_owned(), output, pending, n_uncommitted: 0, has_failed: false })
    }

    /// An error of this file.
    pub fn fail(&self, error: io::Error) -> WriteError {
        WriteError::new(&self.path, error)
    }

    /// After an error nothing more is written: what a file holds beyond it would not be what was asked for.
    pub fn guarded(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), WriteError> {
        let written = match self.has_failed {
            true => Err(io::Error::other("writing failed before")),
            false => write(self),
        };
        written.map_err(|error| {
            self.has_failed = true;
            WriteError::new(&self.path, error)
        })
    }

    /// Writes what waits if it is much. Says whether a block is full; a closing that is written often must be short against what it
    /// closes.
    pub fn drain_chunk(&mut self, closing_size: usize) -> io::Result<bool> {
        if self.pending.len() < CHUNK {
            return Ok(false);
        }
        self.drain()?;
        Ok(self.n_uncommitted >= BLOCK.max(closing_size))
    }

    /// Is there nothing that readers do not see?
    pub fn is_visible(&self) -> bool {
        self.pending.is_empty() && self.n_uncommitted == 0
    }

    fn drain(&mut self) -> io::Result<()> {
        self.output.append(&self.pending)?;
        self.n_uncommitted += self.pending.len();
        self.pending.clear();
        Ok(())
    }

    /// Makes all bytes so far visible.
    pub fn commit(&mut self, closing: &Closing) -> io::Result<()> {
        self.drain()?;
        self.output.commit(closing)?;
        self.n_uncommitted = 0;
        Ok(())
    }

    /// Complete: the file takes its name. On an error the finished blocks are kept.
    pub fn finish(&mut self, close: impl FnOnce(&mut Self) -> io::Result<Closing>) -> Result<(), WriteError> {
        let finished = self.guarded(|file| {
            let closing = close(file)?;
            file.drain()?;
            file.output.finish(&closing)
        });
        finished.map_err(|error| WriteError { kept: self.output.keep().ok().flatten(), ..error })
    }

    /// Not complete: where the piece is.
    pub fn keep(
        &mut self,
        close: impl FnOnce(&mut Self) -> io::Result<Closing>,
    ) -> Result<Option<PathBuf>, WriteError> {
        // A full disk does not take the last block; those before it are kept all the same.
        let _ = self.guarded(|file| {
            let closing = close(file)?;
            file.commit(&closing)
        });
        self.output.keep().map_err(|error| WriteError::new(&self.path, error))
    }

    /// Where readers find what is visible.
    pub fn visible_path(&self) -> &Path {
        self.output.visible_path()
    }
}
