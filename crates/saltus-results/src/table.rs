//! The table: times, columns, and signals that refer to columns.
//!
//! Signals with the same values, or the negative ones, share a column: connected components of a model are full of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;

use crate::encode::encode;
use crate::growing::WriteError;
use crate::signal::{Format, Header, Kind, Signal, Source};
use crate::writer::Writer;
use crate::{csv, mat};

/// Spreads bits: 2⁶⁴ divided by the golden ratio, and odd.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// Name of the model, or of the file.
    pub title: String,
    pub times: Vec<f64>,
    pub signals: Vec<Signal>,
    /// Were the signals chosen by name? Then parameters among them get a column in formats without a place for them.
    pub is_choice: bool,
    pub(crate) columns: Vec<Vec<f64>>,
    /// Columns by a hash of their values.
    known: HashMap<u64, Vec<usize>>,
    positions: HashMap<String, usize>,
}

/// Why a file is not a table of results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// What was expected and what was found.
    pub message: String,
}

impl ReadError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ReadError { message: message.into() }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl Results {
    pub fn new(title: impl Into<String>, times: Vec<f64>) -> Self {
        Results {
            title: title.into(),
            times,
            signals: Vec::new(),
            is_choice: false,
            columns: Vec::new(),
            known: HashMap::new(),
            positions: HashMap::new(),
        }
    }

    /// A signal that varies; `values` has one entry for each time (missing ones are not-a-number).
    pub fn add_series(&mut self, name: &str, description: &str, unit: &str, kind: Kind, values: Vec<f64>) {
        let source = self.add_column(values);
        self.add(name, description, unit, kind, source);
    }

    /// Values over time, for any number of signals.
    pub fn add_column(&mut self, mut values: Vec<f64>) -> Source {
        values.resize(self.times.len(), f64::NAN);
        self.share(values)
    }

    pub fn add_constant(&mut self, name: &str, description: &str, unit: &str, kind: Kind, value: f64) {
        self.add(name, description, unit, kind, Source::Constant(value));
    }

    /// A signal with values that are known already.
    pub fn add(&mut self, name: &str, description: &str, unit: &str, kind: Kind, source: Source) {
        self.push(Signal::new(name, kind, source).described(description, unit));
    }

    /// A signal with values that are known already.
    pub fn push(&mut self, signal: Signal) {
        self.positions.entry(signal.name.clone()).or_insert(self.signals.len());
        self.signals.push(signal);
    }

    /// The column with these values or their negatives; a new one if there is none.
    fn share(&mut self, values: Vec<f64>) -> Source {
        let flips = values.iter().find(|v| **v != 0.0).is_some_and(|v| *v < 0.0);
        let sign = if flips { -1.0 } else { 1.0 };
        let mix = |hash: u64, v: &f64| (hash.rotate_left(5) ^ (v * sign).to_bits()).wrapping_mul(MIXER);
        let places = self.known.entry(values.iter().fold(0, mix)).or_default();
        for &index in places.iter() {
            let column = &self.columns[index];
            for (factor, negated) in [(1.0, false), (-1.0, true)] {
                let is_same = column.iter().zip(&values).all(|(a, b)| a.to_bits() == (factor * b).to_bits());
                if is_same && column.len() == values.len() {
                    return Source::Column { index, negated };
                }
            }
        }
        let index = self.columns.len();
        places.push(index);
        self.columns.push(values);
        Source::Column { index, negated: false }
    }

    pub fn signal(&self, name: &str) -> Option<&Signal> {
        self.positions.get(name).and_then(|&i| self.signals.get(i))
    }

    /// All values of a signal, a constant as often as there are times.
    pub fn values(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        self.signal(name).map(|s| self.values_of(s))
    }

    pub fn values_of(&self, signal: &Signal) -> Cow<'_, [f64]> {
        match signal.source {
            Source::Constant(value) => Cow::Owned(vec![value; self.times.len()]),
            Source::Column { index, negated: false } => {
                Cow::Borrowed(self.columns.get(index).map_or(&[][..], Vec::as_slice))
            }
            Source::Column { index, negated: true } => {
                Cow::Owned(self.columns.get(index).map_or(Vec::new(), |c| c.iter().map(|v| -v).collect()))
            }
        }
    }

    /// Signals that vary.
    pub fn series(&self) -> impl Iterator<Item = &Signal> {
        self.signals.iter().filter(|s| matches!(s.source, Source::Column { .. }))
    }

    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Times at which there are two rows.
    pub fn event_times(&self) -> Vec<f64> {
        let mut events: Vec<f64> = self.times.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
        events.dedup();
        events
    }

    pub fn header(&self) -> Header {
        Header { is_choice: self.is_choice, ..Header::new(&self.title, self.signals.clone()) }
    }

    fn row(&self, i: usize, row: &mut Vec<f64>) {
        row.clear();
        row.extend(self.columns.iter().map(|c| c.get(i).copied().unwrap_or(f64::NAN)));
    }

    /// Writes the table to a file.
    pub fn save(&self, path: &Path, format: Format) -> Result<(), WriteError> {
        let mut writer = Writer::create(path, format, &self.header())?;
        let mut row = Vec::new();
        for (i, time) in self.times.iter().enumerate() {
            self.row(i, &mut row);
            writer.row(*time, &row)?;
        }
        writer.finish()
    }

    /// The bytes of a file with the table.
    pub fn encode(&self, format: Format) -> io::Result<Vec<u8>> {
        let mut row = Vec::new();
        encode(format, &self.header(), |encoder, out| {
            self.times.iter().enumerate().try_for_each(|(i, time)| {
                self.row(i, &mut row);
                encoder.row(*time, &row, out)
            })
        })
    }

    pub fn read(bytes: &[u8], format: Format, title: &str) -> Result<Results, ReadError> {
        Self::read_any(bytes, format, title)?.in_order()
    }

    /// Also a table whose times step back, as they do from one run to the next.
    pub fn read_any(bytes: &[u8], format: Format, title: &str) -> Result<Results, ReadError> {
        let results = match format {
            Format::Csv => csv::read(bytes, title),
            Format::Mat => mat::read(bytes, title),
            #[cfg(feature = "parquet")]
            Format::Parquet => crate::parquet::read(bytes, title),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(ReadError::new(crate::signal::NO_PARQUET)),
        }?;
        if results.times.is_empty() {
            return Err(ReadError::new("expected a table of results, found one without rows"));
        }
        Ok(results)
    }

    /// The table, if its times do not decrease.
    pub fn in_order(self) -> Result<Results, ReadError> {
        if self.times.iter().any(|time| time.is_nan()) {
            return Err(ReadError::new("expected a time in each row, found a row without"));
        }
        if self.times.windows(2).any(|w| w[0] > w[1]) {
            return Err(ReadError::new("expected times that do not decrease, found a step back in time"));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_and_opposite_signals_share_a_column() {
        let mut results = Results::new("M", vec![0.0, 1.0, 2.0]);
        for (name, values) in
            [("a", [0.0, 1.0, -2.0]), ("b", [-0.0, -1.0, 2.0]), ("c", [0.0, 1.0, -2.0]), ("d", [0.0, 1.0, 2.0])]
        {
            results.add_series(name, "", "", Kind::Real, values.to_vec());
        }
        let sources: Vec<Source> = results.signals.iter().map(|s| s.source).collect();
        let column = |index, negated| Source::Column { index, negated };
        assert_eq!(sources, [column(0, false), column(0, true), column(0, false), column(1, false)]);
        assert_eq!(results.values("b").as_deref(), Some(&[-0.0, -1.0, 2.0][..]));
    }

    #[test]
    fn events_are_times_with_two_rows() {
        assert_eq!(Results::new("M", vec![0.0, 0.5, 0.5, 0.5, 1.0]).event_times(), [0.5]);
    }

    #[test]
    fn all_formats_keep_values_units_and_descriptions() {
        let mut results = Results::new("M", vec![0.0, 0.25, 0.25, 1.0]);
        results.add_series("body.x[2]", "Position", "m", Kind::Real, vec![0.1, -1e300, f64::MIN_POSITIVE, 3.0]);
        results.add_series("der(x)", "", "", Kind::Real, vec![-0.1, 1e300, -f64::MIN_POSITIVE, -3.0]);
        results.add_series("on", "Switched on", "", Kind::Boolean, vec![0.0, 0.0, 1.0, 1.0]);
        results.add_series("'odd \"name\", too'", "", "", Kind::Integer, vec![1.0, 2.0, 3.0, -4.0]);
        results.add_constant("k", "Gain", "N/m", Kind::Real, 1.0 / 3.0);
        for (_, format) in Format::EXTENSIONS {
            let file = results.encode(format).expect("encoding");
            let read = Results::read(&file, format, "M").expect("reading what was written");
            assert_eq!(read.times, results.times, "{format:?}");
            for signal in results.series() {
                let found = read.signal(&signal.name).unwrap_or_else(|| panic!("{format:?} lost {}", signal.name));
                assert_eq!(read.values_of(found), results.values_of(signal), "{format:?}");
                if format != Format::Csv {
                    assert_eq!((&found.description, &found.unit), (&signal.description, &signal.unit), "{format:?}");
                }
            }
            if format != Format::Csv {
                assert_eq!(read.signal("k").map(|s| s.source), Some(Source::Constant(1.0 / 3.0)), "{format:?}");
            }
        }
    }

    #[test]
    fn damaged_files_are_refused_without_a_crash() {
        let mut results = Results::new("M", vec![0.0, 1.0]);
        results.add_series("x", "", "m", Kind::Real, vec![1.0, 2.0]);
        results.add_constant("k", "", "", Kind::Real, 1.0);
        for (_, format) in Format::EXTENSIONS {
            let file = results.encode(format).expect("encoding");
            for length in 0..file.len() {
                let _ = Results::read(&file[..length], format, "M");
                for value in [0, 0x7f, 0xff] {
                    let mut damaged = file.clone();
                    damaged[length] = value;
                    let _ = Results::read(&damaged, format, "M");
                }
            }
            assert!(Results::read(&file[..10.min(file.len())], format, "M").is_err(), "{format:?}");
        }
    }
}
