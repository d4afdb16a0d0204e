//! Where results go: a [`Sink`] takes rows and events as they are made, so that a run needs no more memory the longer it takes.
//! [`Recorder`] keeps them in memory.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use saltus_base::Index;
use saltus_program::SimProgram;

use crate::catalogue::{Catalogue, Columns};
use crate::options::Recorded;
use crate::record::EventRecord;
use crate::rows::Rows;
use crate::trajectory::{Column, Segment, Trajectory};

/// What a sink could not do.
#[derive(Clone, PartialEq, Debug)]
pub enum SinkError {
    /// The results need more memory than was permitted.
    TooLarge { bytes: usize },
    /// Something else, in words.
    Failed(String),
}

/// What the rows of a stretch mean. Columns and parameters are listed when they are asked for: a large model has millions.
#[derive(Clone)]
pub struct Header<'a> {
    pub start_time: f64,
    /// Values of a row; columns that are always equal share one.
    pub n_places: usize,
    known: Known<'a>,
}

#[derive(Clone)]
enum Known<'a> {
    Listed {
        columns: &'a [Column],
        parameters: &'a [(String, f64)],
    },
    Of {
        program: &'a Arc<SimProgram>,
        recorded: &'a Recorded,
        catalogue: &'a Catalogue,
        /// Values of parameters are there.
        memory: &'a [f64],
    },
}

impl<'a> Header<'a> {
    pub fn new(start_time: f64, columns: &'a [Column], n_places: usize, parameters: &'a [(String, f64)]) -> Self {
        Header { start_time, n_places, known: Known::Listed { columns, parameters } }
    }

    pub(crate) fn of(
        start_time: f64,
        program: &'a Arc<SimProgram>,
        recorded: &'a Recorded,
        catalogue: &'a Catalogue,
        memory: &'a [f64],
    ) -> Self {
        let n_places = catalogue.places().len();
        Header { start_time, n_places, known: Known::Of { program, recorded, catalogue, memory } }
    }

    /// In order of declaration.
    pub fn columns(&self) -> Cow<'a, [Column]> {
        match &self.known {
            Known::Listed { columns, .. } => Cow::Borrowed(columns),
            Known::Of { program, recorded, catalogue, .. } => catalogue.columns(program, recorded),
        }
    }

    /// The same for when the header is gone.
    pub fn columns_for_later(&self) -> Columns {
        match &self.known {
            Known::Listed { columns, .. } => Columns::Listed(columns.to_vec()),
            Known::Of { program, recorded, catalogue, .. } => catalogue.columns_for_later(program, recorded),
        }
    }

    /// Names and values of constants and parameters.
    pub fn parameters(&self) -> Cow<'a, [(String, f64)]> {
        match &self.known {
            Known::Listed { parameters, .. } => Cow::Borrowed(parameters),
            Known::Of { program, memory, .. } => {
                let shown = program.variables.iter().filter(|v| v.is_parameter() && !v.is_hidden);
                let value = |slot: saltus_program::SlotId| memory.get(slot.index()).copied().unwrap_or(f64::NAN);
                Cow::Owned(shown.map(|v| (v.name().into_owned(), value(v.slot))).collect())
            }
        }
    }
}

pub trait Sink: Send {
    /// Before the first row.
    fn begin(&mut self, header: &Header) -> Result<(), SinkError>;

    /// Values by place. Times do not decrease; two rows at the same time are an event.
    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError>;

    fn event(&mut self, _event: &EventRecord) -> Result<(), SinkError> {
        Ok(())
    }

    /// The structure of the model is that of `program` from `time` on: at the start and whenever it has changed. Models with one structure
    /// do not tell.
    fn structure(&mut self, _time: f64, _program: &Arc<SimProgram>) {}

    /// Should rows at events be left out to save room?
    fn is_short_of_room(&self) -> bool {
        false
    }
}

/// Keeps results in memory; clones share what they keep.
#[derive(Clone)]
pub struct Recorder {
    kept: Arc<Mutex<Trajectory>>,
    max_bytes: usize,
    keeps_events: bool,
}

impl Recorder {
    /// Rows at events are left out when half of `max_bytes` is used; when all is used the run ends.
    pub fn new(max_bytes: usize) -> Self {
        Recorder { kept: Arc::default(), max_bytes, keeps_events: true }
    }

    /// For those who look at rows alone: the records of a million events would take most of the memory.
    pub fn of_rows(max_bytes: usize) -> Self {
        Recorder { keeps_events: false, ..Recorder::new(max_bytes) }
    }

    /// What was recorded so far; nothing is left behind.
    pub fn take(&self) -> Trajectory {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Trajectory> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Recorder {
    fn begin(&mut self, header: &Header) -> Result<(), SinkError> {
        let mut kept = self.lock();
        let rows = Rows::new(header.n_places);
        kept.segments.push(Segment { variables: header.columns().into_owned(), times: Vec::new(), rows });
        kept.parameters = header.parameters().into_owned();
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        let max_bytes = self.max_bytes;
        let mut kept = self.lock();
        let Some(segment) = kept.segments.last_mut() else { return Ok(()) };
        if segment.rows.n_bytes() + 8 * values.len() > max_bytes {
            return Err(SinkError::TooLarge { bytes: max_bytes });
        }
        segment.times.push(time);
        segment.rows.push(values.iter().copied());
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), SinkError> {
        if self.keeps_events {
            self.lock().events.push(event.clone());
        }
        Ok(())
    }

    fn is_short_of_room(&self) -> bool {
        let kept = self.lock();
        kept.segments.last().is_some_and(|s| s.rows.n_bytes() > self.max_bytes / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EventKind;

    #[test]
    fn who_looks_at_rows_alone_keeps_no_events() {
        let event = EventRecord {
            time: 1.0,
            kind: EventKind::Time,
            causes: Vec::new(),
            rounds: 1,
            is_restart: false,
            changes: Vec::new(),
            consequences: Vec::new(),
            mixed: Vec::new(),
            note: None,
        };
        for (mut recorder, n_events) in [(Recorder::new(1000), 1), (Recorder::of_rows(1000), 0)] {
            recorder.event(&event).unwrap();
            assert_eq!(recorder.take().events.len(), n_events);
        }
    }
}
