//! The results of a run while it goes on: rows and events go in on its thread, pages look at them from others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use saltus::explain::configurations::Visited;
use saltus_program::{SimProgram, SlotType};
use saltus_results::{Kind, Results, Signal, Source};
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
    /// What a table says about its columns and parameters; empty where a model knows it.
    pub signals: Vec<Signal>,
    pub events: Vec<EventRecord>,
    /// Configurations of a model with changing structure.
    pub visited: Visited,
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
        let signals = || results.signals.iter().filter(|s| s.name != "time");
        let ty = |kind| match kind {
            Kind::Real => SlotType::Real,
            Kind::Integer => SlotType::Integer,
            Kind::Boolean => SlotType::Boolean,
            Kind::Enumeration => SlotType::Enumeration,
        };
        // Signals that are always equal, or opposite, share a place.
        let (mut columns, mut parameters, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = HashMap::new();
        for signal in signals() {
            match signal.source {
                Source::Constant(value) => parameters.push((signal.name.clone(), value)),
                Source::Column { index, negated } => {
                    let place = *known.entry((index, negated)).or_insert_with(|| {
                        places.push(results.values_of(signal));
                        places.len() - 1
                    });
                    columns.push(Column { name: signal.name.clone(), ty: ty(signal.kind), place });
                }
            }
        }
        let mut recording = Recording::default();
        recording.look().signals = signals().cloned().collect();
        let start_time = results.times.first().copied().unwrap_or(0.0);
        let n_places = places.len();
        recording.begin(&Header::new(start_time, &columns, n_places, &parameters))?;
        let mut row = vec![f64::NAN; n_places];
        for (i, time) in results.times.iter().enumerate() {
            for (place, values) in row.iter_mut().zip(&places) {
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

    /// The columns of a table of all rows. Those of the only stretch share places as they do there; the others have one each.
    pub fn table(&self) -> (Vec<Column>, usize) {
        if let [only] = self.segments.as_slice() {
            return (only.columns.clone(), only.rows.n_places());
        }
        let columns = self.columns().into_iter().enumerate();
        let columns: Vec<Column> = columns.map(|(place, (name, ty))| Column { name, ty, place }).collect();
        let n_places = columns.len();
        (columns, n_places)
    }

    /// Rows `from` and the next ones, at most `most`, by the places of [`table`](Self::table).
    pub fn rows(&self, columns: &[Column], from: usize, most: usize) -> Vec<(f64, Vec<f64>)> {
        let mut all = Vec::new();
        let mut before = 0;
        let mut row = Vec::new();
        for stretch in &self.segments {
            let n = stretch.times.len();
            for i in from.max(before)..(from + most).min(before + n).max(from.max(before)) {
                stretch.rows.row(i - before, &mut row);
                let value = |column: &Column| stretch.places.get(&column.name).and_then(|p| row.get(*p)).copied();
                let values = match self.segments.len() {
                    1 => row.clone(),
                    _ => columns.iter().map(|column| value(column).unwrap_or(f64::NAN)).collect(),
                };
                all.push((stretch.times[i - before], values));
            }
            before += n;
        }
        all
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
        let columns = header.columns().into_owned();
        let places = columns.iter().map(|c| (c.name.clone(), c.place)).collect();
        kept.segments.push(Stretch { columns, places, times: Vec::new(), rows: Rows::new(header.n_places) });
        kept.parameters = header.parameters().into_owned();
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), SinkError> {
        let mut kept = self.look();
        kept.n_rows += 1;
        kept.visited.reach(time);
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

    fn structure(&mut self, time: f64, program: &Arc<SimProgram>) {
        self.look().visited.enter(program, time);
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
        sink.begin(&Header::new(0.0, &columns, 2, &parameters)).unwrap();
        sink.row(0.0, &[1.0, 2.0]).unwrap();
        assert_eq!(recording.look().values("c").unwrap().1.as_slice(), [2.0]);
        sink.row(1.0, &[3.0, 4.0]).unwrap();
        let columns = [column("b", 0)];
        sink.begin(&Header::new(0.0, &columns, 1, &parameters)).unwrap();
        sink.row(1.0, &[9.0]).unwrap();
        let mut kept = recording.look();
        assert_eq!(kept.times().as_slice(), [0.0, 1.0, 1.0]);
        assert_eq!(kept.values("b").unwrap().1.as_slice(), [2.0, 4.0, 9.0]);
        assert!(kept.values("a").unwrap().1[2].is_nan());
        assert_eq!(kept.values("p").unwrap().1.as_slice(), [3.0; 3]);
        assert!(kept.values("q").is_none());
        let names: Vec<String> = kept.columns().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let (columns, n_places) = kept.table();
        assert_eq!((columns.len(), n_places), (3, 3));
        let rows = kept.rows(&columns, 1, 10);
        assert_eq!(rows[0], (1.0, vec![3.0, 4.0, 4.0]));
        assert!(rows.len() == 2 && rows[1].1[0].is_nan() && rows[1].1[1] == 9.0);
        assert_eq!(kept.rows(&columns, 0, 1).len(), 1);
        assert!(kept.rows(&columns, 3, 1).is_empty());
    }
}
