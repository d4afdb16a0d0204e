//! Sends a run to files while it goes on: rows to a table, events to a log.
//!
//! In: paths, opened before the model is compiled. Out: files that are complete when the run is; what is reported about a run at its end
//! ([`Digest`]) without keeping its rows.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use saltus_base::SourceMap;
use saltus_program::{SimProgram, Stopwatch};
use saltus_results::{Destination, Format, Kept, Lines, Signal, WriteError, Writer};
use saltus_sim::{Columns, EventRecord, Listed, Recorder, Sink, SinkError};

use saltus_sim::trajectory::Column;

use crate::{Model, results};

/// Rows are visible to readers of the file after this time.
const FLUSH: Duration = Duration::from_secs(1);

/// What a run is recorded in; clones share it.
#[derive(Clone)]
pub struct Stream {
    state: Arc<Mutex<State>>,
}

struct State {
    kept: Kept,
    table: Option<Table>,
    events: Option<EventLog>,
    digest: Digest,
    stopwatch: Stopwatch,
    /// When the files were flushed last.
    flushed: Duration,
}

enum Table {
    Open(Destination),
    Begun(Writer),
}

struct EventLog {
    lines: Lines,
    /// Paragraphs instead of JSON.
    in_words: bool,
    is_empty: bool,
}

/// What is known of the rows of a run afterwards.
#[derive(Clone, Default, Debug)]
pub struct Digest {
    pub n_rows: u64,
    pub first_time: f64,
    pub last_time: f64,
    columns: Option<(Arc<SimProgram>, Columns, Kept)>,
    last_row: Vec<f64>,
}

/// Signals at the end of a run.
pub struct Last {
    /// Those that were asked for, with their values.
    pub signals: Vec<(Signal, f64)>,
    /// How many vary in all.
    pub n: usize,
}

impl Digest {
    /// The first `most` signals that vary in the order of a rank, and where that is the same, of their declaration; those without a rank
    /// are left out. `least` is no greater than the rank and found without the name: of a large array few names are made. None if there are no rows.
    pub fn last<K: Ord>(
        &self,
        most: usize,
        least: impl Fn(&Listed) -> K,
        rank: impl Fn(&Listed, &str) -> Option<K>,
    ) -> Last {
        let Some((program, columns, kept)) = self.columns.as_ref().filter(|_| self.n_rows > 0) else {
            return Last { signals: Vec::new(), n: 0 };
        };
        let mut n = 0;
        let mut first: Vec<(K, Listed)> = Vec::with_capacity(most + 1);
        let is_kept = |column: &Listed| !kept.is_choice() || kept.keeps(&column.name());
        for column in columns.each().filter(is_kept) {
            n += 1;
            if first.len() == most && first.last().is_some_and(|(other, _)| *other <= least(&column)) {
                continue;
            }
            let Some(rank) = rank(&column, &column.name()) else { continue };
            let at = first.partition_point(|(other, _)| *other <= rank);
            if at < most {
                first.insert(at, (rank, column));
                first.truncate(most);
            }
        }
        let value = |column: &Column| self.last_row.get(column.place).copied().unwrap_or(f64::NAN);
        let signal = |column: &Column| (results::signal_of(program, column), value(column));
        let first: Vec<Listed> = first.into_iter().map(|(_, column)| column).collect();
        Last { signals: columns.columns(&first).iter().map(signal).collect(), n }
    }
}

/// How the files were left.
#[derive(Default, Debug)]
pub struct Closed {
    /// Files that could not be completed.
    pub failed: Vec<WriteError>,
    /// Pieces that stand beside the file that was asked for.
    pub pieces: Vec<PathBuf>,
}

impl Stream {
    /// Opens the files. Old ones stay until this run is complete.
    pub fn open(
        table: Option<&Path>,
        events: Option<&Path>,
        kept: Kept,
        stopwatch: Stopwatch,
    ) -> Result<Stream, WriteError> {
        let open = |path: &Path| Destination::open(path, Format::of(path).unwrap_or(Format::Csv)).map(Table::Open);
        let log = |path: &Path| {
            let in_words = path.extension().is_some_and(|e| e == "txt");
            Lines::create(path).map(|lines| EventLog { lines, in_words, is_empty: true })
        };
        let (table, events) = (table.map(open).transpose()?, events.map(log).transpose()?);
        let flushed = stopwatch.now();
        let state = State { kept, table, events, digest: Digest::default(), stopwatch, flushed };
        Ok(Stream { state: Arc::new(Mutex::new(state)) })
    }

    /// What takes the rows and events of a run; `recorder` gets them, too.
    pub fn sink(&self, model: &Arc<Model>, recorder: Option<Recorder>) -> Box<dyn Sink> {
        let has_log = self.lock().events.is_some();
        let sources = if has_log { model.sources() } else { SourceMap::new() };
        Box::new(FileSink { stream: self.clone(), model: model.clone(), sources, recorder })
    }

    pub fn digest(&self) -> Digest {
        self.lock().digest.clone()
    }

    /// The run is over. If it was complete the files take their names; otherwise what there is of them is kept.
    pub fn close(&self, is_complete: bool) -> Closed {
        let mut state = self.lock();
        let mut closed = Closed::default();
        let mut note = |kept: Result<Option<PathBuf>, WriteError>| match kept {
            Ok(piece) => closed.pieces.extend(piece),
            Err(error) => {
                closed.pieces.extend(error.kept.clone());
                closed.failed.push(error);
            }
        };
        if let Some(Table::Begun(writer)) = state.table.take() {
            note(if is_complete { writer.finish().map(|()| None) } else { writer.keep() });
        }
        if let Some(log) = state.events.take() {
            note(if is_complete { log.lines.finish().map(|()| None) } else { log.lines.keep() });
        }
        closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, program: &Arc<SimProgram>, header: &saltus_sim::Header) -> Result<(), WriteError> {
        // A run that is restored begins again; its table goes on.
        if let Some(Table::Open(destination)) = self.table.take_if(|table| matches!(table, Table::Open(_))) {
            let own = results::header(program, header, &self.kept);
            self.table = Some(Table::Begun(destination.begin(&own)?));
        }
        self.digest.columns = Some((program.clone(), header.columns_for_later(), self.kept.clone()));
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), WriteError> {
        let digest = &mut self.digest;
        if digest.n_rows == 0 {
            digest.first_time = time;
        }
        digest.n_rows += 1;
        digest.last_time = time;
        digest.last_row.clear();
        digest.last_row.extend_from_slice(values);
        if let Some(Table::Begun(writer)) = &mut self.table {
            writer.row(time, values)?;
        }
        self.flush_sometimes()
    }

    fn event(&mut self, event: &EventRecord, sources: &SourceMap) -> Result<(), WriteError> {
        let Some(log) = &mut self.events else { return Ok(()) };
        let mut text = Vec::new();
        let one = std::slice::from_ref(event);
        if log.in_words && !log.is_empty {
            text.push(b'\n');
        }
        // Writing to memory does not fail.
        let _ = match log.in_words {
            true => saltus_sim::write_story(&mut text, one),
            false => saltus_sim::write_events(&mut text, one, &|span| sources.location(span)),
        };
        log.is_empty = false;
        log.lines.add(&String::from_utf8_lossy(&text))?;
        self.flush_sometimes()
    }

    fn flush_sometimes(&mut self) -> Result<(), WriteError> {
        if (self.table.is_none() && self.events.is_none()) || self.stopwatch.since(self.flushed) < FLUSH {
            return Ok(());
        }
        if let Some(Table::Begun(writer)) = &mut self.table {
            writer.flush()?;
        }
        if let Some(log) = &mut self.events {
            log.lines.flush()?;
        }
        self.flushed = self.stopwatch.now();
        Ok(())
    }
}

struct FileSink {
    stream: Stream,
    model: Arc<Model>,
    sources: SourceMap,
    recorder: Option<Recorder>,
}

impl FileSink {
    fn recorded(
        &mut self,
        write: impl FnOnce(&mut State) -> Result<(), WriteError>,
        record: impl FnOnce(&mut Recorder) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        write(&mut self.stream.lock()).map_err(|error| SinkError::Failed(error.to_string()))?;
        self.recorder.as_mut().map_or(Ok(()), record)
    }
}

impl Sink for FileSink {
    fn begin(&mut self, header: &saltus_sim::Header) -> Result<(), SinkError> {
        let program = self.model.program().clone();
        self.recorded(|state| state.begin(&program, header), |recorder| recorder.begin(header))
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        self.recorded(|state| state.row(time, values), |recorder| recorder.row(time, values))
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), SinkError> {
        let sources = std::mem::take(&mut self.sources);
        let done = self.recorded(|state| state.event(event, &sources), |recorder| recorder.event(event));
        self.sources = sources;
        done
    }

    fn is_short_of_room(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.is_short_of_room())
    }
}
