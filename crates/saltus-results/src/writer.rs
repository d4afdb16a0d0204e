//! Writes a table while it is being made: rows are on the disk soon after they were computed, and memory does not grow with their number.
//!
//! In: a path, which is opened before there is anything to write; a [`Header`]; then rows. Out: a file under the name that was asked for when the table is complete; until then, and after a kill,
//! a whole file `NAME.part.EXT` beside it with all finished blocks ([`crate::twin`]).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::encode::{Encoder, encoder};
use crate::output::Output;
use crate::signal::{Format, Header};

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 16;
/// Bytes after which readers see them.
const BLOCK: usize = 1 << 20;

/// A file that could not be written.
#[derive(Debug)]
pub struct WriteError {
    pub path: PathBuf,
    pub error: io::Error,
    /// Where the rows of finished blocks are, if the table was to be completed and could not.
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

/// A file that is open, of a table whose columns are not known yet.
pub struct Destination {
    path: PathBuf,
    format: Format,
    output: Output,
}

impl Destination {
    /// Opens the file. An old one of this name stays until a complete table takes its place.
    pub fn open(path: &Path, format: Format) -> Result<Destination, WriteError> {
        let output = Output::open(path).map_err(|error| WriteError::new(path, error))?;
        Ok(Destination { path: path.to_owned(), format, output })
    }

    pub fn begin(self, header: &Header) -> Result<Writer, WriteError> {
        let fail = |error| WriteError::new(&self.path, error);
        let mut encoder = encoder(self.format, header).map_err(fail)?;
        let mut pending = Vec::with_capacity(CHUNK + CHUNK / 4);
        encoder.start(&mut pending).map_err(fail)?;
        let (path, output) = (self.path, self.output);
        Ok(Writer { path, encoder, output, pending, n_uncommitted: 0, n_rows: 0, has_failed: false })
    }
}

/// Takes the rows of a table.
pub struct Writer {
    path: PathBuf,
    encoder: Box<dyn Encoder>,
    output: Output,
    /// Encoded, but not written.
    pending: Vec<u8>,
    /// Bytes since readers saw some.
    n_uncommitted: usize,
    n_rows: u64,
    has_failed: bool,
}

impl Writer {
    /// Opens the file of a table whose columns are known.
    pub fn create(path: &Path, format: Format, header: &Header) -> Result<Writer, WriteError> {
        Destination::open(path, format)?.begin(header)
    }

    /// One more row: the time and a value for each place.
    pub fn row(&mut self, time: f64, values: &[f64]) -> Result<(), WriteError> {
        self.guarded(|w| {
            w.encoder.row(time, values, &mut w.pending)?;
            w.n_rows += 1;
            if w.pending.len() >= CHUNK {
                w.drain()?;
                // A footer that is written often must be short against what it closes.
                if w.n_uncommitted >= BLOCK.max(w.encoder.closing_size()) {
                    w.commit()?;
                }
            }
            Ok(())
        })
    }

    /// Makes the rows so far visible to readers. Worth calling every second or so; a format that would suffer may wait for more.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.guarded(|w| {
            w.encoder.end_block(false, &mut w.pending)?;
            if w.pending.is_empty() && w.n_uncommitted == 0 {
                return Ok(());
            }
            w.drain()?;
            w.commit()
        })
    }

    /// The table is complete: the file takes its name. An error leaves an old file as it was, and keeps the finished blocks.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let finished = self.guarded(|w| {
            w.encoder.end_block(true, &mut w.pending)?;
            w.drain()?;
            w.output.finish(&w.encoder.closing(true)?)
        });
        finished.map_err(|error| WriteError { kept: self.output.keep().ok().flatten(), ..error })
    }

    /// The table will not be completed: the run failed or was interrupted, or the disk is full. Returns where the piece is: under the name
    /// that was asked for if no file has it, otherwise beside that file; `None` if there are no rows.
    pub fn keep(mut self) -> Result<Option<PathBuf>, WriteError> {
        if !self.has_failed && self.n_rows > 0 {
            // A full disk does not take the last block; those before it are kept all the same.
            let _ = self.guarded(|w| {
                w.encoder.end_block(true, &mut w.pending)?;
                w.drain()?;
                w.commit()
            });
        }
        self.output.keep().map_err(|error| WriteError::new(&self.path, error))
    }

    /// Where readers find the rows while the run lasts.
    pub fn part_path(&self) -> &Path {
        self.output.visible_path()
    }

    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn drain(&mut self) -> io::Result<()> {
        self.output.append(&self.pending)?;
        self.n_uncommitted += self.pending.len();
        self.pending.clear();
        Ok(())
    }

    fn commit(&mut self) -> io::Result<()> {
        self.output.commit(&self.encoder.closing(false)?)?;
        self.n_uncommitted = 0;
        Ok(())
    }

    /// After an error nothing more is written: what a file holds beyond it would not be what was asked for.
    fn guarded(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), WriteError> {
        let written = match self.has_failed {
            true => Err(io::Error::other("writing failed before")),
            false => write(self),
        };
        written.map_err(|error| {
            self.has_failed = true;
            WriteError::new(&self.path, error)
        })
    }
}
