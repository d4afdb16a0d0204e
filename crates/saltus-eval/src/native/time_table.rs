//! Time tables: when their next event is, and their value on the right side of the present one.
//!
//! ```text
//! table = [0, 0; 1, 0; 1, 1; 2, 4]      after time 0.5 the next event is at 1; there y = 0 before and 1 behind it
//! ```
//!
//! Behaviour: documentation of `Modelica.Blocks.Sources.CombiTimeTable`. The abscissae are relative to `shift_time`;
//! before `start_time` all values are 0.

use super::curve::{Curve, Extrapolation, ROUNDING, Side, locate};
use super::spline::Jet;

/// The time of an event that never happens. Far from the largest number, because differences and multiples of event
/// times must not overflow.
const NEVER: f64 = 1e60;

/// At which points of the table events happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeEvents {
    Always,
    AtDiscontinuities,
    Never,
}

impl TimeEvents {
    /// By the ordinal of `Modelica.Blocks.Types.TimeEvents`.
    pub fn from_ordinal(ordinal: i64) -> Result<TimeEvents, String> {
        match ordinal {
            1 => Ok(TimeEvents::Always),
            2 => Ok(TimeEvents::AtDiscontinuities),
            3 => Ok(TimeEvents::Never),
            _ => Err(format!("there is no time event setting number {ordinal}")),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct TimeTable {
    pub start_time: f64,
    pub shift_time: f64,
    pub extrapolation: Extrapolation,
    /// Points with an event, increasing, relative to the shift; of a period without its end.
    events: Vec<f64>,
}

impl TimeTable {
    pub fn new(
        start_time: f64,
        shift_time: f64,
        extrapolation: Extrapolation,
        kind: TimeEvents,
        points: &[f64],
        curves: &[Curve],
    ) -> TimeTable {
        let periodic = extrapolation == Extrapolation::Periodic;
        let mut events = match kind {
            TimeEvents::Never => Vec::new(),
            TimeEvents::Always => points.to_vec(),
            TimeEvents::AtDiscontinuities => {
                let repeated = points.windows(2).filter(|p| p[0] == p[1]).map(|p| p[0]);
                let jumps = periodic && curves.iter().any(|c| c.values.first() != c.values.last());
                points.first().copied().filter(|_| jumps).into_iter().chain(repeated).collect()
            }
        };
        events.dedup();
        if points.len() < 2 {
            events.clear();
        }
        if periodic && events.len() > 1 && events.last() == points.last() {
            // The end of a period is the beginning of the next one.
            events.pop();
            if let Some(&first) = points.first().filter(|p| events.first() != Some(p)) {
                events.insert(0, first);
            }
        }
        TimeTable { start_time, shift_time, extrapolation, events }
    }

    /// The first event behind `time`; [`NEVER`] if there is none.
    pub fn next_event(&self, points: &[f64], time: f64) -> f64 {
        if time < self.start_time {
            return self.start_time;
        }
        let behind = time + self.tie(points, time);
        let is_next = |t: &f64| *t > behind;
        let next = match (self.extrapolation, points) {
            (Extrapolation::Periodic, &[first, .., last]) if last > first && !self.events.is_empty() => {
                let cycle = ((time - self.shift_time - first) / (last - first)).floor();
                // Rounding may have put the time into the neighbouring period.
                let starts = [cycle - 1.0, cycle, cycle + 1.0, cycle + 2.0].map(|k| k * (last - first));
                let candidates = starts.iter().flat_map(|s| self.events.iter().map(move |e| s + e));
                candidates.map(|t| t + self.shift_time).find(is_next)
            }
            (Extrapolation::Periodic, _) => None,
            _ => {
                let from = self.events.partition_point(|e| e + self.shift_time <= behind);
                self.events.get(from).map(|e| e + self.shift_time)
            }
        };
        next.unwrap_or(NEVER)
    }

    /// `next_event` is the event that the simulation waits for: until it has happened, the values before it hold.
    pub fn at(&self, points: &[f64], curve: &Curve, time: f64, next_event: f64) -> Result<Jet, String> {
        let waits = time >= next_event;
        if time < self.start_time || (waits && next_event <= self.start_time) {
            return Ok(Jet::default());
        }
        let side = if waits { Side::Left } else { Side::Right };
        let tie = self.tie(points, time);
        // Integrators look a little past an event before it happens: there the segment before it goes on.
        let (asked, past) = if waits { (next_event, time - next_event) } else { (time, 0.0) };
        let place = locate(points, asked - self.shift_time, side, tie, self.extrapolation)?;
        let jet = curve.at(points, place);
        Ok(Jet { value: jet.value + jet.first * past, ..jet })
    }

    fn tie(&self, points: &[f64], time: f64) -> f64 {
        match points {
            [first, .., last] => ROUNDING * (time - self.shift_time).abs().max(last - first),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::curve::Smoothness;

    const X: [f64; 4] = [0.0, 1.0, 1.0, 2.0];

    fn table(shift: f64, extrapolation: Extrapolation, kind: TimeEvents) -> (TimeTable, Curve) {
        let curve = Curve::new(&X, vec![0.0, 0.0, 1.0, 4.0], Smoothness::Linear, extrapolation);
        (TimeTable::new(shift, shift, extrapolation, kind, &X, std::slice::from_ref(&curve)), curve)
    }

    fn events(shift: f64, extrapolation: Extrapolation, kind: TimeEvents, n: usize) -> Vec<f64> {
        let (table, _) = table(shift, extrapolation, kind);
        let mut times = vec![-0.5];
        for _ in 0..n {
            times.push(table.next_event(&X, times[times.len() - 1]));
        }
        times.split_off(1)
    }

    #[test]
    fn events_are_the_points_of_the_table() {
        use {Extrapolation::*, TimeEvents::*};
        assert_eq!(events(0.0, HoldLastPoint, Always, 4), [0.0, 1.0, 2.0, NEVER]);
        assert_eq!(events(0.0, HoldLastPoint, AtDiscontinuities, 3), [0.0, 1.0, NEVER]);
        assert_eq!(events(0.0, HoldLastPoint, TimeEvents::Never, 2), [0.0, NEVER]);
        assert_eq!(events(0.25, Periodic, Always, 5), [0.25, 1.25, 2.25, 3.25, 4.25]);
        // From 4 at the end of a period back to 0.
        assert_eq!(events(0.25, Periodic, AtDiscontinuities, 4), [0.25, 1.25, 2.25, 3.25]);
    }

    #[test]
    fn values_change_when_the_event_has_happened() {
        let (table, curve) = table(0.0, Extrapolation::LastTwoPoints, TimeEvents::AtDiscontinuities);
        let at = |time, next| table.at(&X, &curve, time, next).map(|j| j.value);
        // The documented example: y = 0 before and 1 behind the event at 1; 2.5 half way on, and the line goes on.
        assert_eq!((at(1.0, 1.0), at(1.0, NEVER)), (Ok(0.0), Ok(1.0)));
        assert_eq!((at(1.5, NEVER), at(3.0, NEVER)), (Ok(2.5), Ok(7.0)));
        assert_eq!((at(1.001, 1.0), at(-1.0, 0.0)), (Ok(0.0), Ok(0.0)));
    }
}
