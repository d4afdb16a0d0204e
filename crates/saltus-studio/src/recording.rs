//! The results of a run while it goes on: rows and events go in on its thread, pages look at them from others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use saltus_program::SlotType;
use saltus_results::{Kind, Results, Signal};
use saltus_sim::trajectory::Column;
use saltus_sim::{EventRecord, Header, Rows, Sink, SinkError};

/// Bytes of rows that one run may keep.
const MOST_BYTES: usize = 1 << 30;
/// Events whose record is kept; all are counted.
const MOST_EVENTS: usize = 2_000_000;
/// Columns that are kept unpacked for pages that pan over them.
const MOST_UNPACKED: usize = 64;

/// Clones share what they keep.
#[derive(Clone, Default)]
pub struct Recording(Arc<Mutex<Kept>>);

#[derive(Default)]
pub struct Kept {
    segments: Vec<Stretch>,
    pub parameters: Vec<(String, f64)>,
    pub events: Vec<EventRecord>,
    n_rows: usize,
    unpacked: HashMap<String, (usize, Arc<Vec<f64>>)>,
    times: Option<(usize, Arc<Vec<f64>>)>,
}

/// Rows with the same variables.
struct Stretch {
    columns: Vec<Column>,
    places: HashMap<String, usize>,
    times: Vec<f64>,
    rows: Rows,
}

impl Recording {
    /// Results that somebody else has made.
    pub fn of(results: &Results) -> Result<Recording, SinkError> {
        let signals: Vec<&Signal> = results.signals.iter().filter(|s| s.name != "time").collect();
        let ty = |kind| match kind {
            Kind::Real => SlotType::Real,
            Kind::Integer => SlotType::Integer,
            Kind::Boolean => SlotType::Boolean,
            Kind::Enumeration => SlotType::Enumeration,
        };
        let column = |(place, s): (usize, &&Signal)| Column { name: s.name.clone(), ty: ty(s.kind), place };
        let columns: Vec<Column> = signals.iter().enumerate().map(column).collect();
        let values: Vec<_> = signals.iter().map(|s| results.values_of(s)).collect();
        let mut recording = Recording::default();
        let start_time = results.times.first().copied().unwrap_or(0.0);
        recording.begin(&Header { start_time, columns: &columns, n_places: columns.len(), parameters: &[] })?;
        let mut row = vec![f64::NAN; columns.len()];
        for (i, time) in results.times.iter().enumerate() {
            for (place, values) in row.iter_mut().zip(&values) {
                *place = values.get(i).copied().unwrap_or(f64::NAN);
            }
            recording.row(*time, &row)?;
        }
        Ok(recording)
    }

    pub fn look(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// All columns, in the order of declaration; those of later stretches behind those of the first.
    pub fn columns(&self) -> Vec<(String, SlotType)> {
        let mut known: HashMap<&str, ()> = HashMap::new();
        let all = self.segments.iter().flat_map(|stretch| &stretch.columns);
        all.filter(|c| known.insert(&c.name, ()).is_none()).map(|c| (c.name.clone(), c.ty)).collect()
    }

    pub fn times(&mut self) -> Arc<Vec<f64>> {
        if let Some((n, times)) = &self.times
            && *n == self.n_rows
        {
            return times.clone();
        }
        let all: Vec<f64> = self.segments.iter().flat_map(|stretch| stretch.times.iter().copied()).collect();
        let all = Arc::new(all);
        self.times = Some((self.n_rows, all.clone()));
        all
    }

    /// The type and the values of a variable, one for each row; not-a-number where a stretch does not have it. A parameter has one value
    /// for all rows.
    pub fn values(&mut self, name: &str) -> Option<(SlotType, Arc<Vec<f64>>)> {
        let ty = self.segments.iter().find_map(|s| s.columns.iter().find(|c| c.name == name)).map(|c| c.ty);
        let Some(ty) = ty else {
            let value = self.parameters.iter().find(|(n, _)| n == name)?.1;
            return Some((SlotType::Real, Arc::new(vec![value; self.n_rows])));
        };
        if let Some((n, values)) = self.unpacked.get(name)
            && *n == self.n_rows
        {
            return Some((ty, values.clone()));
        }
        let mut all = Vec::with_capacity(self.n_rows);
        for stretch in &self.segments {
            match stretch.places.get(name) {
                Some(place) => all.append(&mut stretch.rows.at(*place)),
                None => all.resize(all.len() + stretch.times.len(), f64::NAN),
            }
        }
        if self.unpacked.len() >= MOST_UNPACKED {
            self.unpacked.clear();
        }
        let all = Arc::new(all);
        self.unpacked.insert(name.to_owned(), (self.n_rows, all.clone()));
        Some((ty, all))
    }
}

impl Sink for Recording {
    fn begin(&mut self, header: &Header) -> Result<(), SinkError> {
        let mut kept = self.look();
        let columns = header.columns.to_vec();
        let places = columns.iter().map(|c| (c.name.clone(), c.place)).collect();
        kept.segments.push(Stretch { columns, places, times: Vec::new(), rows: Rows::new(header.n_places) });
        kept.parameters = header.parameters.to_vec();
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        let mut kept = self.look();
        kept.n_rows += 1;
        let Some(stretch) = kept.segments.last_mut() else { return Ok(()) };
        if stretch.rows.n_bytes() + 8 * values.len() > MOST_BYTES {
            kept.n_rows -= 1;
            return Err(SinkError::TooLarge { bytes: MOST_BYTES });
        }
        stretch.times.push(time);
        stretch.rows.push(values.iter().copied());
        Ok(())
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), SinkError> {
        let mut kept = self.look();
        if kept.events.len() < MOST_EVENTS {
            kept.events.push(event.clone());
        }
        Ok(())
    }

    fn is_short_of_room(&self) -> bool {
        self.look().segments.last().is_some_and(|s| s.rows.n_bytes() > MOST_BYTES / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_sees_what_has_been_recorded_so_far() {
        let recording = Recording::default();
        let mut sink = recording.clone();
        let column = |name: &str, place| Column { name: name.into(), ty: SlotType::Real, place };
        let columns = [column("a", 0), column("b", 1), column("c", 1)];
        let parameters = [("p".to_owned(), 3.0)];
        let header = Header { start_time: 0.0, columns: &columns, n_places: 2, parameters: &parameters };
        sink.begin(&header).unwrap();
        sink.row(0.0, &[1.0, 2.0]).unwrap();
        assert_eq!(recording.look().values("c").unwrap().1.as_slice(), [2.0]);
        sink.row(1.0, &[3.0, 4.0]).unwrap();
        let columns = [column("b", 0)];
        sink.begin(&Header { columns: &columns, n_places: 1, ..header }).unwrap();
        sink.row(1.0, &[9.0]).unwrap();
        let mut kept = recording.look();
        assert_eq!(kept.times().as_slice(), [0.0, 1.0, 1.0]);
        assert_eq!(kept.values("b").unwrap().1.as_slice(), [2.0, 4.0, 9.0]);
        assert!(kept.values("a").unwrap().1[2].is_nan());
        assert_eq!(kept.values("p").unwrap().1.as_slice(), [3.0; 3]);
        assert!(kept.values("q").is_none());
        let names: Vec<String> = kept.columns().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
