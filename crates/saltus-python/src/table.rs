//! Results in memory, column by column, so that Python can look at them where they are.
//!
//! In: rows of a run, through a [`Sink`]. Out: a [`Table`] whose columns never move: arrays of Python point into them and keep it alive.
//! Rows gather in an open block, which is turned over when it is full; there is no second copy of a large result at any time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use saltus::{Model, results};
use saltus_base::SourceMap;
use saltus_results::{Format, Header, Kept, Kind, Signal, Source, WriteError, Writer};
use saltus_sim::{EventRecord, Sink, SinkError};
use serde::{Deserialize, Serialize};

/// Rows that are turned over together.
const BLOCK: usize = 128;

/// A complete result.
pub struct Table {
    pub title: String,
    pub times: Vec<f64>,
    /// By place.
    pub columns: Vec<Vec<f64>>,
    pub signals: Vec<Signal>,
    pub has_gaps: bool,
    /// Is it over time? Tables of many runs are not.
    pub has_time: bool,
    positions: HashMap<String, usize>,
    events: Vec<EventRecord>,
    sources: SourceMap,
    events_json: OnceLock<String>,
    /// How it went, as JSON.
    pub facts: String,
}

impl Table {
    pub fn new(title: String, times: Vec<f64>, columns: Vec<Vec<f64>>, signals: Vec<Signal>, has_gaps: bool) -> Self {
        let positions = signals.iter().enumerate().rev().map(|(i, s)| (s.name.clone(), i)).collect();
        Table {
            title,
            times,
            columns,
            signals,
            has_gaps,
            has_time: true,
            positions,
            events: Vec::new(),
            sources: SourceMap::new(),
            events_json: OnceLock::new(),
            facts: "{}".to_owned(),
        }
    }

    pub fn n_rows(&self) -> usize {
        if self.has_time { self.times.len() } else { self.columns.first().map_or(0, Vec::len) }
    }

    pub fn signal(&self, name: &str) -> Option<&Signal> {
        self.positions.get(name).and_then(|&i| self.signals.get(i))
    }

    pub fn column(&self, signal: &Signal) -> Option<&[f64]> {
        match signal.source {
            Source::Column { index, .. } => self.columns.get(index).map(Vec::as_slice),
            Source::Constant(_) => None,
        }
    }

    /// Signals that vary.
    pub fn series(&self) -> impl Iterator<Item = (&Signal, &[f64])> {
        self.signals.iter().filter_map(|signal| Some((signal, self.column(signal)?)))
    }

    pub fn n_bytes(&self) -> usize {
        8 * (self.times.len() + self.columns.iter().map(Vec::len).sum::<usize>())
    }

    /// One JSON object a line.
    pub fn events_json(&self) -> &str {
        self.events_json.get_or_init(|| {
            let mut text = Vec::new();
            // Writing to memory does not fail.
            let _ = saltus_sim::write_events(&mut text, &self.events, &|span| self.sources.location(span));
            String::from_utf8_lossy(&text).into_owned()
        })
    }

    pub fn save(&self, path: &std::path::Path, format: Format, kept: &Kept) -> Result<(), WriteError> {
        let signals = self.signals.iter().filter(|s| kept.keeps(&s.name)).cloned().collect();
        let header = Header {
            is_choice: kept.is_choice(),
            has_gaps: self.has_gaps,
            has_time: self.has_time,
            ..Header::new(&self.title, signals)
        };
        let mut writer = Writer::create(path, format, &header)?;
        let mut row = Vec::new();
        for i in 0..self.n_rows() {
            row.clear();
            row.extend(self.columns.iter().map(|c| c.get(i).copied().unwrap_or(f64::NAN)));
            writer.row(self.times.get(i).copied().unwrap_or(0.0), &row)?;
        }
        writer.finish()
    }

    /// These signals and the times as a table that charts are made of.
    pub fn part(&self, wanted: &dyn Fn(&Signal) -> bool) -> saltus_results::Results {
        let mut part = saltus_results::Results::new(&self.title, self.times.clone());
        for signal in self.signals.iter().filter(|s| wanted(s)) {
            let source = match self.column(signal) {
                Some(values) => part.add_column(values.to_vec()),
                None => signal.source,
            };
            part.push(Signal { source, ..signal.clone() });
        }
        part
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let signals = self.signals.iter().map(SavedSignal::of).collect();
        let saved = Saved {
            title: self.title.clone(),
            times: self.times.clone(),
            columns: self.columns.clone(),
            signals,
            has_gaps: self.has_gaps,
            events: self.events_json().to_owned(),
            facts: self.facts.clone(),
        };
        postcard::to_allocvec(&saved).map_err(|error| error.to_string())
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Table, String> {
        let saved: Saved = postcard::from_bytes(bytes).map_err(|error| error.to_string())?;
        let n = saved.times.len();
        if saved.columns.iter().any(|column| column.len() != n) {
            return Err("columns differ in length".to_owned());
        }
        let signals: Option<Vec<Signal>> = saved.signals.into_iter().map(|s| s.signal(saved.columns.len())).collect();
        let signals = signals.ok_or("a signal without values")?;
        let table = Table::new(saved.title, saved.times, saved.columns, signals, saved.has_gaps);
        // It has just been made: nobody has asked for the events yet.
        let _ = table.events_json.set(saved.events);
        Ok(Table { facts: saved.facts, ..table })
    }
}

/// A table as it is written.
#[derive(Serialize, Deserialize)]
struct Saved {
    title: String,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
    signals: Vec<SavedSignal>,
    has_gaps: bool,
    events: String,
    facts: String,
}

#[derive(Serialize, Deserialize)]
struct SavedSignal {
    texts: [String; 4],
    kind: String,
    literals: Vec<String>,
    is_difference: bool,
    /// A place, or a value.
    source: Result<(usize, bool), f64>,
}

impl SavedSignal {
    fn of(signal: &Signal) -> Self {
        let Signal { name, description, unit, display_unit, is_difference, kind, literals, source } = signal.clone();
        let source = match source {
            Source::Column { index, negated } => Ok((index, negated)),
            Source::Constant(value) => Err(value),
        };
        let texts = [name, description, unit, display_unit];
        SavedSignal { texts, kind: kind.name().to_owned(), literals, is_difference, source }
    }

    fn signal(self, n_columns: usize) -> Option<Signal> {
        let [name, description, unit, display_unit] = self.texts;
        let source = match self.source {
            Ok((index, negated)) if index < n_columns => Source::Column { index, negated },
            Ok(_) => return None,
            Err(value) => Source::Constant(value),
        };
        let kind = Kind::from_name(&self.kind)?;
        let (literals, is_difference) = (self.literals, self.is_difference);
        Some(Signal { name, description, unit, display_unit, is_difference, kind, literals, source })
    }
}

/// Collects the rows of a run; clones share them.
#[derive(Clone)]
pub struct Columns {
    model: Arc<Model>,
    kept: Kept,
    max_bytes: usize,
    rows: Arc<Mutex<Rows>>,
}

#[derive(Default)]
struct Rows {
    header: Option<Header>,
    n_places: usize,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
    /// Row by row, less than a block.
    open: Vec<f64>,
    /// Rows that are expected.
    n_expected: usize,
    events: Vec<EventRecord>,
}

impl Columns {
    /// `n_expected` rows have room from the start.
    pub fn new(model: &Arc<Model>, kept: &Kept, max_bytes: usize, n_expected: usize) -> Self {
        let rows = Rows { n_expected, ..Rows::default() };
        Columns { model: model.clone(), kept: kept.clone(), max_bytes, rows: Arc::new(Mutex::new(rows)) }
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what came after a time, to which the run has gone back.
    pub fn go_back(&self, time: f64) {
        let mut rows = self.lock();
        rows.turn_over();
        let n = rows.times.partition_point(|row| *row <= time);
        rows.times.truncate(n);
        rows.columns.iter_mut().for_each(|column| column.truncate(n));
        rows.events.retain(|event| event.time <= time);
    }

    /// What was collected so far. It is taken out, unless a copy is wanted because the run goes on.
    pub fn table(&self, is_copy: bool) -> Table {
        let mut rows = self.lock();
        rows.turn_over();
        let header = rows.header.clone().unwrap_or_else(|| Header::new(self.model.name(), Vec::new()));
        let (times, columns, events) = if is_copy {
            (rows.times.clone(), rows.columns.clone(), rows.events.clone())
        } else {
            let taken = std::mem::take(&mut *rows);
            (taken.times, taken.columns, taken.events)
        };
        let table = Table::new(header.title, times, columns, header.signals, header.has_gaps);
        Table { events, sources: self.model.sources(), ..table }
    }
}

impl Rows {
    fn turn_over(&mut self) {
        let n = self.n_places;
        if n == 0 || self.open.is_empty() {
            return;
        }
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.extend(self.open.iter().skip(place).step_by(n));
        }
        self.open.clear();
    }
}

impl Sink for Columns {
    fn begin(&mut self, header: &saltus_sim::Header) -> Result<(), SinkError> {
        let mut rows = self.lock();
        // A run that is restored begins again; its table goes on.
        if rows.header.is_some() {
            return match rows.n_places == header.n_places {
                true => Ok(()),
                false => Err(SinkError::Failed("the rows have become others".to_owned())),
            };
        }
        rows.n_places = header.n_places;
        // Memory that is not written to yet costs nothing.
        let n = rows.n_expected.min(self.max_bytes / (8 * (header.n_places + 1)));
        rows.times = Vec::with_capacity(n);
        rows.columns = (0..header.n_places).map(|_| Vec::with_capacity(n)).collect();
        rows.header = Some(results::header(self.model.program(), header, &self.kept));
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        let mut rows = self.lock();
        let bytes = 8 * (rows.n_places + 1) * (rows.times.len() + 1);
        if bytes > self.max_bytes {
            return Err(SinkError::TooLarge { bytes: self.max_bytes });
        }
        rows.times.push(time);
        let n = rows.n_places;
        let end = rows.open.len() + n;
        rows.open.extend(values.iter().take(n));
        rows.open.resize(end, f64::NAN);
        if n > 0 && rows.open.len() >= BLOCK * n {
            rows.turn_over();
        }
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), SinkError> {
        self.lock().events.push(event.clone());
        Ok(())
    }
}
