//! How a format turns rows into bytes, without a disk.
//!
//! An encoder only ever adds to the end of the file; what makes the bytes so far a whole file – a footer, counts in a header – comes
//! apart as [`Closing`], as often as wanted.

use std::io;

use crate::signal::{Format, Header};
use crate::{csv, mat};

pub(crate) trait Encoder: Send {
    /// The beginning of the file.
    fn start(&mut self, out: &mut Vec<u8>) -> io::Result<()>;

    /// Encodes a row. It may be kept back until a block is full.
    fn row(&mut self, time: f64, values: &[f64], out: &mut Vec<u8>) -> io::Result<()>;

    /// Writes rows that were kept back. Unless it `must`, an encoder whose file would suffer from short blocks may refuse.
    fn end_block(&mut self, _must: bool, _out: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }

    /// What completes the file after all bytes given so far.
    fn closing(&self, is_complete: bool) -> io::Result<Closing>;

    /// About how many bytes [`closing`](Self::closing) has.
    fn closing_size(&self) -> usize {
        0
    }
}

#[derive(Default)]
pub(crate) struct Closing {
    /// Bytes after the last block. The next block takes their place.
    pub tail: Vec<u8>,
    /// Bytes at places before: the same places every time.
    pub patches: Vec<(u64, Vec<u8>)>,
}

pub(crate) fn encoder(format: Format, header: &Header) -> io::Result<Box<dyn Encoder>> {
    Ok(match format {
        Format::Csv => Box::new(csv::CsvEncoder::new(header)),
        Format::Mat => Box::new(mat::MatEncoder::new(header)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::ParquetEncoder::new(header)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(io::Error::new(io::ErrorKind::Unsupported, crate::signal::NO_PARQUET)),
    })
}

/// The whole file in memory; `fill` gives the rows.
pub(crate) fn encode(
    format: Format,
    header: &Header,
    fill: impl FnOnce(&mut dyn Encoder, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut encoder = encoder(format, header)?;
    let mut bytes = Vec::new();
    encoder.start(&mut bytes)?;
    fill(encoder.as_mut(), &mut bytes)?;
    encoder.end_block(true, &mut bytes)?;
    let closing = encoder.closing(true)?;
    bytes.extend(closing.tail);
    for (at, patch) in closing.patches {
        bytes.splice(at as usize..at as usize + patch.len(), patch);
    }
    Ok(bytes)
}
