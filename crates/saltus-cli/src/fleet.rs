//! The table of many runs, written and shown while they are made: a row, or several, for each.

use std::path::PathBuf;

use saltus_results::{Destination, Format, Header, Kind, Signal, Source, WriteError, Writer};

use crate::Screen;
use crate::summary::short;

/// Rows that are shown.
const SHOWN: usize = 12;
/// Columns that are shown.
const WIDEST: usize = 10;

/// What is kept of a run: names of the columns, and their values row by row.
pub struct Rows {
    pub names: Vec<(String, Kind)>,
    pub values: Vec<f64>,
}

/// Columns: the number of the run, what was varied, whether it succeeded, and what the first run that did has.
pub struct RunTable {
    destination: Option<Destination>,
    writer: Option<Writer>,
    head: Vec<String>,
    names: Option<Vec<(String, Kind)>>,
    /// Runs that failed before the columns were known.
    waiting: Vec<(usize, Vec<f64>)>,
    first: Vec<Vec<f64>>,
    n_rows: usize,
    /// Does a run that failed have a row?
    failed_rows: bool,
}

impl RunTable {
    pub fn open(path: Option<&PathBuf>, head: Vec<String>, failed_rows: bool) -> Result<RunTable, WriteError> {
        let open = |path: &PathBuf| Destination::open(path, Format::of(path).unwrap_or(Format::Csv));
        Ok(RunTable {
            destination: path.map(open).transpose()?,
            writer: None,
            head,
            names: None,
            waiting: Vec::new(),
            first: Vec::new(),
            n_rows: 0,
            failed_rows,
        })
    }

    /// The next run; without rows if it failed.
    pub fn add(&mut self, run: usize, parameters: Vec<f64>, rows: Option<&Rows>) -> Result<(), WriteError> {
        match (&self.names, rows) {
            (None, None) => {
                self.waiting.push((run, parameters));
                return Ok(());
            }
            (None, Some(rows)) => self.begin(rows.names.clone())?,
            _ => {}
        }
        self.write(run, &parameters, rows)
    }

    fn begin(&mut self, names: Vec<(String, Kind)>) -> Result<(), WriteError> {
        if let Some(destination) = self.destination.take() {
            let head = [("run".to_owned(), Kind::Integer)].into_iter();
            let head = head.chain(self.head.iter().map(|name| (name.clone(), Kind::Real)));
            let all = head.chain([("ok".to_owned(), Kind::Boolean)]).chain(names.iter().cloned());
            let signal = |(index, (name, kind)): (usize, (String, Kind))| {
                Signal::new(name, kind, Source::Column { index, negated: false })
            };
            // Time, if it is there, begins again with every run.
            let header = Header {
                has_time: false,
                has_gaps: true,
                ..Header::new("runs", all.enumerate().map(signal).collect())
            };
            self.writer = Some(destination.begin(&header)?);
        }
        self.names = Some(names);
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().try_for_each(|(run, parameters)| self.write(run, &parameters, None))
    }

    fn write(&mut self, run: usize, parameters: &[f64], rows: Option<&Rows>) -> Result<(), WriteError> {
        let names = self.names.as_deref().unwrap_or_default();
        let width = names.len();
        let nothing = vec![f64::NAN; width];
        let aligned = rows.map(|rows| align(rows, names));
        let values: &[f64] = match &aligned {
            Some(values) => values,
            None if self.failed_rows => &nothing,
            None => &[],
        };
        let is_ok = f64::from(u8::from(rows.is_some()));
        let n = values.len().checked_div(width).unwrap_or(usize::from(rows.is_some() || self.failed_rows));
        for i in 0..n {
            let mut row = vec![run as f64];
            row.extend(parameters);
            row.push(is_ok);
            row.extend(&values[i * width..(i + 1) * width]);
            if let Some(writer) = &mut self.writer {
                writer.row(0.0, &row)?;
            }
            if self.first.len() < SHOWN {
                self.first.push(row);
            }
            self.n_rows += 1;
        }
        Ok(())
    }

    /// Gives the path of a table that is not complete.
    pub fn finish(mut self, is_complete: bool) -> Result<Option<PathBuf>, WriteError> {
        if self.names.is_none() && !self.waiting.is_empty() {
            self.begin(Vec::new())?;
        }
        match self.writer.take() {
            Some(writer) if is_complete => writer.finish().map(|()| None),
            Some(writer) => writer.keep(),
            None => Ok(None),
        }
    }

    /// The first rows and columns on the terminal.
    pub fn show(&self, screen: &Screen) {
        let head = [String::from("run")].into_iter().chain(self.head.iter().cloned()).chain([String::from("ok")]);
        let names = head.chain(self.names.iter().flatten().map(|(name, _)| name.clone()));
        let chosen: Vec<(usize, String)> = names.enumerate().filter(|(_, name)| name != "ok").take(WIDEST).collect();
        let cells: Vec<Vec<String>> = chosen
            .iter()
            .map(|(i, name)| {
                let values = self.first.iter().map(|row| row.get(*i).map_or(String::new(), |v| short(*v)));
                std::iter::once(name.clone()).chain(values).collect()
            })
            .collect();
        let widths: Vec<usize> = cells.iter().map(|c| c.iter().map(|t| t.chars().count()).max().unwrap_or(0)).collect();
        for row in 0..=self.first.len() {
            let line: Vec<String> = cells.iter().zip(&widths).map(|(c, &w)| format!("{:>w$}", c[row])).collect();
            screen.say(line.join("  ").trim_end());
        }
        if self.n_rows > SHOWN {
            screen.say(&format!("… and {} more rows; --output FILE writes all", self.n_rows - SHOWN));
        }
    }
}

/// The values of a run in the order of these names: with another structure it may have other variables.
fn align<'a>(rows: &'a Rows, names: &[(String, Kind)]) -> std::borrow::Cow<'a, [f64]> {
    if rows.names == names {
        return (&rows.values).into();
    }
    let place = |name: &str| rows.names.iter().position(|(n, _)| n == name);
    let places: Vec<Option<usize>> = names.iter().map(|(name, _)| place(name)).collect();
    let mut values = Vec::new();
    for row in rows.values.chunks(rows.names.len().max(1)) {
        values.extend(places.iter().map(|p| p.and_then(|p| row.get(p)).copied().unwrap_or(f64::NAN)));
    }
    values.into()
}
