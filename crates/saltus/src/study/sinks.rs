//! Where the rows and events of a run go: to everybody who wants them, at once or after they have been held back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use saltus_sim::{EventRecord, Header, Recorder, Sink, SinkError};

use super::watch::Observer;

/// Everybody who wants rows and events.
pub struct Fan {
    pub observer: Observer,
    pub recorder: Option<Recorder>,
    pub other: Option<Box<dyn Sink>>,
}

impl Fan {
    fn each(&mut self, give: &mut dyn FnMut(&mut dyn Sink) -> Result<(), SinkError>) -> Result<(), SinkError> {
        give(&mut self.observer)?;
        if let Some(recorder) = &mut self.recorder {
            give(recorder)?;
        }
        self.other.as_mut().map_or(Ok(()), |other| give(&mut **other))
    }
}

/// Hands rows and events on, or holds them back.
#[derive(Clone)]
pub struct Held(Arc<Mutex<Holding>>);

struct Holding {
    fan: Fan,
    is_held: bool,
    rows: Vec<Piece>,
}

enum Piece {
    Row(f64, Vec<f64>),
    Event(Box<EventRecord>),
}

impl Held {
    pub fn new(fan: Fan) -> Self {
        Held(Arc::new(Mutex::new(Holding { fan, is_held: false, rows: Vec::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, Holding> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn hold(&self) {
        self.lock().is_held = true;
    }

    pub fn discard(&self) {
        self.lock().rows.clear();
    }

    pub fn release(&self) -> Result<(), SinkError> {
        let mut holding = self.lock();
        holding.is_held = false;
        for piece in std::mem::take(&mut holding.rows) {
            holding.fan.each(&mut |sink| match &piece {
                Piece::Row(time, values) => sink.row(*time, values),
                Piece::Event(event) => sink.event(event),
            })?;
        }
        Ok(())
    }
}

impl Sink for Held {
    fn begin(&mut self, header: &Header) -> Result<(), SinkError> {
        let mut holding = self.lock();
        // The same run again, from a point that it has passed.
        if holding.is_held { Ok(()) } else { holding.fan.each(&mut |sink| sink.begin(header)) }
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        let mut holding = self.lock();
        if holding.is_held {
            holding.rows.push(Piece::Row(time, values.to_vec()));
            return Ok(());
        }
        holding.fan.each(&mut |sink| sink.row(time, values))
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), SinkError> {
        let mut holding = self.lock();
        if holding.is_held {
            holding.rows.push(Piece::Event(Box::new(event.clone())));
            return Ok(());
        }
        holding.fan.each(&mut |sink| sink.event(event))
    }
}
