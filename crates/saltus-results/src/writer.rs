//! Writes a table while it is being made: rows are on the disk soon after they were computed, and memory does not grow with their number.
//!
//! In: a path, which is opened before there is anything to write; a [`Header`]; then rows. Out: a file under the name that was asked for
//! when the table is complete; until then, and after a kill, a whole file `NAME.part.EXT` beside it with all finished blocks
//! ([`crate::twin`]). [`Lines`] does the same for a text.

use std::path::{Path, PathBuf};

use crate::encode::{Closing, Encoder, encoder};
use crate::growing::{Growing, WriteError};
use crate::signal::{Format, Header};

/// A file that is open, of a table whose columns are not known yet.
pub struct Destination {
    format: Format,
    file: Growing,
}

impl Destination {
    /// Opens the file. An old one of this name stays until a complete table takes its place.
    pub fn open(path: &Path, format: Format) -> Result<Destination, WriteError> {
        Ok(Destination { format, file: Growing::open(path)? })
    }

    pub fn begin(mut self, header: &Header) -> Result<Writer, WriteError> {
        let mut encoder = encoder(self.format, header).map_err(|error| self.file.fail(error))?;
        self.file.guarded(|file| encoder.start(&mut file.pending))?;
        Ok(Writer { encoder, file: self.file, n_rows: 0 })
    }
}

/// Takes the rows of a table.
pub struct Writer {
    encoder: Box<dyn Encoder>,
    file: Growing,
    n_rows: u64,
}

impl Writer {
    /// Opens the file of a table whose columns are known.
    pub fn create(path: &Path, format: Format, header: &Header) -> Result<Writer, WriteError> {
        Destination::open(path, format)?.begin(header)
    }

    /// One more row: the time and a value for each place.
    pub fn row(&mut self, time: f64, values: &[f64]) -> Result<(), WriteError> {
        self.n_rows += 1;
        self.file.guarded(|file| {
            self.encoder.row(time, values, &mut file.pending)?;
            if file.drain_chunk(self.encoder.closing_size())? {
                file.commit(&self.encoder.closing(false)?)?;
            }
            Ok(())
        })
    }

    /// Makes the rows so far visible to readers. Worth calling every second or so; a format that would suffer may wait for more.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.file.guarded(|file| {
            self.encoder.end_block(false, &mut file.pending)?;
            if file.is_visible() { Ok(()) } else { file.commit(&self.encoder.closing(false)?) }
        })
    }

    /// The table is complete: the file takes its name. An error leaves an old file as it was, and keeps the finished blocks.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.file.finish(|file| {
            self.encoder.end_block(true, &mut file.pending)?;
            self.encoder.closing(true)
        })
    }

    /// The table will not be completed: the run failed or was interrupted, or the disk is full. Returns where the piece is: under the name
    /// that was asked for if no file has it, otherwise beside that file; `None` if there are no rows.
    pub fn keep(mut self) -> Result<Option<PathBuf>, WriteError> {
        if self.n_rows == 0 {
            return Ok(None);
        }
        self.file.keep(|file| {
            self.encoder.end_block(true, &mut file.pending)?;
            self.encoder.closing(false)
        })
    }

    /// Where readers find the rows while the run lasts.
    pub fn part_path(&self) -> &Path {
        self.file.visible_path()
    }

    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }
}

/// A text that gets longer line by line.
pub struct Lines {
    file: Growing,
    is_empty: bool,
}

impl Lines {
    /// Opens the file. An old one of this name stays until a complete text takes its place.
    pub fn create(path: &Path) -> Result<Lines, WriteError> {
        Ok(Lines { file: Growing::open(path)?, is_empty: true })
    }

    /// Adds whole lines.
    pub fn add(&mut self, lines: &str) -> Result<(), WriteError> {
        self.is_empty = false;
        self.file.guarded(|file| {
            file.pending.extend(lines.as_bytes());
            if file.drain_chunk(0)? { file.commit(&Closing::default()) } else { Ok(()) }
        })
    }

    /// Makes the lines so far visible to readers.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.file.guarded(|file| if file.is_visible() { Ok(()) } else { file.commit(&Closing::default()) })
    }

    /// The text is complete: the file takes its name.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.file.finish(|_| Ok(Closing::default()))
    }

    /// The text will not be completed; where the piece is, as with [`Writer::keep`].
    pub fn keep(mut self) -> Result<Option<PathBuf>, WriteError> {
        if self.is_empty { Ok(None) } else { self.file.keep(|_| Ok(Closing::default())) }
    }
}
