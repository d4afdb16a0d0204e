//! Inputs of the model over time: held values, tables, functions.
//!
//! In: a [`Signal`] for some of the top-level inputs. Out: their values in memory before each evaluation, and the times at which
//! they jump: these are time events, before which an input has its left limit.

use saltus_base::Index;
use saltus_program::{SimProgram, SlotId, SlotKind};
use serde::{Deserialize, Serialize};

use crate::simulation::CannotSet;

/// Values of one input over time.
pub enum Signal {
    Held(f64),
    Line(Line),
    Table(Table),
    /// Of time alone; smooth, because nobody knows where it would jump.
    Function(Box<dyn Fn(f64) -> f64 + Send>),
}

/// A signal that has `value` at `time` and changes at the rate `slope`, before and after.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    pub time: f64,
    pub value: f64,
    pub slope: f64,
}

impl Line {
    fn at(self, t: f64) -> f64 {
        self.value + self.slope * (t - self.time)
    }
}

/// Points of a signal. Between two points it is linear or keeps the value of the first; two points at the same time are a jump.
/// Before the first and after the last point it is constant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Table {
    times: Vec<f64>,
    values: Vec<f64>,
    is_held: bool,
}

/// What is wrong with a table.
#[derive(Clone, PartialEq, Debug)]
pub enum BadTable {
    Empty,
    DifferentLengths,
    /// The time at this position is before the one before it, or not a number.
    NotMonotonic(usize),
    /// The value at this position is not a finite number.
    NotFinite(usize),
}

impl Table {
    pub fn new(times: Vec<f64>, values: Vec<f64>, is_held: bool) -> Result<Table, BadTable> {
        if times.is_empty() {
            return Err(BadTable::Empty);
        }
        if times.len() != values.len() {
            return Err(BadTable::DifferentLengths);
        }
        let falls = |i: &usize| !times[*i].is_finite() || *i > 0 && times[*i] < times[*i - 1];
        if let Some(i) = (0..times.len()).find(falls) {
            return Err(BadTable::NotMonotonic(i));
        }
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            return Err(BadTable::NotFinite(i));
        }
        Ok(Table { times, values, is_held })
    }

    /// The value at `t`; at a jump the left limit unless it has been `passed`.
    fn value(&self, t: f64, passed: f64) -> f64 {
        let is_right = t <= passed;
        let next = self.times.partition_point(|&time| if is_right { time <= t } else { time < t });
        let last = self.times.len() - 1;
        match next.checked_sub(1) {
            None => self.values[0],
            Some(before) if before == last || self.is_held => self.values[before],
            Some(before) => {
                let (t0, t1) = (self.times[before], self.times[next]);
                let (v0, v1) = (self.values[before], self.values[next]);
                if v0 == v1 { v0 } else { v0 + (v1 - v0) * ((t - t0) / (t1 - t0)) }
            }
        }
    }

    /// How fast the value changes at `t`.
    fn slope(&self, t: f64, passed: f64) -> f64 {
        let is_right = t <= passed;
        let next = self.times.partition_point(|&time| if is_right { time <= t } else { time < t });
        match next.checked_sub(1) {
            Some(before) if next < self.times.len() && !self.is_held => {
                (self.values[next] - self.values[before]) / (self.times[next] - self.times[before])
            }
            _ => 0.0,
        }
    }

    /// The first time after `t` at which it jumps or, if it is linear, has a kink.
    fn next_event(&self, t: f64) -> f64 {
        let next = self.times.partition_point(|&time| time <= t);
        self.times.get(next).copied().unwrap_or(f64::INFINITY)
    }
}

pub(crate) struct Inputs {
    /// Slots of top-level inputs.
    known: Vec<SlotId>,
    signals: Vec<(SlotId, Signal)>,
    /// Inputs and the slots of their derivatives.
    derivatives: Vec<(SlotId, SlotId)>,
    /// Jumps up to this time have happened.
    passed: f64,
}

/// A signal as part of a state.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedSignal {
    slot: SlotId,
    points: SavedPoints,
    passed: f64,
}

#[derive(Clone, Serialize, Deserialize)]
enum SavedPoints {
    Held(f64),
    Line(Line),
    Table(Table),
}

impl Inputs {
    pub fn new(program: &SimProgram) -> Self {
        let known = program.memory.slots.iter().filter(|(_, s)| s.kind == SlotKind::Input).map(|(id, _)| id).collect();
        let derivatives = program.memory.input_derivatives.clone();
        Inputs { known, signals: Vec::new(), derivatives, passed: f64::NEG_INFINITY }
    }

    pub fn set(&mut self, slot: SlotId, signal: Signal) -> Result<(), CannotSet> {
        if !self.known.contains(&slot) {
            return Err(CannotSet::NotAnInput);
        }
        self.signals.retain(|(known, _)| *known != slot);
        self.signals.push((slot, signal));
        Ok(())
    }

    pub fn take(&mut self) -> Vec<(SlotId, Signal)> {
        std::mem::take(&mut self.signals)
    }

    pub fn vary(&self) -> bool {
        self.signals.iter().any(|(_, signal)| !matches!(signal, Signal::Held(_)))
    }

    pub fn write(&self, t: f64, memory: &mut [f64]) {
        for (slot, signal) in &self.signals {
            memory[slot.index()] = match signal {
                Signal::Held(value) => *value,
                Signal::Line(line) => line.at(t),
                Signal::Table(table) => table.value(t, self.passed),
                Signal::Function(function) => function(t),
            };
        }
        for (slot, derivative) in &self.derivatives {
            let signal = self.signals.iter().find(|(known, _)| known == slot);
            memory[derivative.index()] = match signal {
                Some((_, Signal::Table(table))) => table.slope(t, self.passed),
                Some((_, Signal::Line(line))) => line.slope,
                Some((_, Signal::Function(function))) => central_difference(function, t),
                Some((_, Signal::Held(_))) | None => 0.0,
            };
        }
    }

    /// How fast the inputs change at time `t`; `None` if one of them is a function whose slope nobody knows.
    pub fn slopes(&self, t: f64) -> Option<Vec<(SlotId, f64)>> {
        let slope = |signal: &Signal| match signal {
            Signal::Held(_) => Some(0.0),
            Signal::Line(line) => Some(line.slope),
            Signal::Table(table) => Some(table.slope(t, self.passed)),
            Signal::Function(_) => None,
        };
        self.signals.iter().map(|(slot, signal)| Some((*slot, slope(signal)?))).collect()
    }

    /// Jumps that happen at `t` have happened.
    pub fn pass(&mut self, t: f64) {
        self.passed = t;
    }

    pub fn next_event(&self, t: f64) -> f64 {
        let next = |signal: &Signal| match signal {
            Signal::Table(table) => table.next_event(t),
            Signal::Held(_) | Signal::Line(_) | Signal::Function(_) => f64::INFINITY,
        };
        self.signals.iter().map(|(_, signal)| next(signal)).fold(f64::INFINITY, f64::min)
    }

    /// For a state; else the names of inputs that are functions.
    pub fn saved(&self, program: &SimProgram) -> Result<Vec<SavedSignal>, Vec<String>> {
        let is_function = |signal: &Signal| matches!(signal, Signal::Function(_));
        let lost = self.signals.iter().filter(|(_, signal)| is_function(signal));
        let lost: Vec<String> = lost.map(|(slot, _)| program.memory.slot_name(*slot).into_owned()).collect();
        if !lost.is_empty() {
            return Err(lost);
        }
        let save = |(slot, signal): &(SlotId, Signal)| {
            let points = match signal {
                Signal::Table(table) => SavedPoints::Table(table.clone()),
                Signal::Line(line) => SavedPoints::Line(*line),
                Signal::Held(value) => SavedPoints::Held(*value),
                Signal::Function(_) => return None,
            };
            Some(SavedSignal { slot: *slot, points, passed: self.passed })
        };
        Ok(self.signals.iter().filter_map(save).collect())
    }

    pub fn restore(&mut self, saved: Vec<SavedSignal>) {
        self.passed = saved.first().map_or(f64::NEG_INFINITY, |s| s.passed);
        let signal = |points| match points {
            SavedPoints::Held(value) => Signal::Held(value),
            SavedPoints::Line(line) => Signal::Line(line),
            SavedPoints::Table(table) => Signal::Table(table),
        };
        self.signals = saved.into_iter().map(|s| (s.slot, signal(s.points))).collect();
    }
}

/// The slope of a smooth function, to about 1e-10 of its size.
fn central_difference(function: &dyn Fn(f64) -> f64, t: f64) -> f64 {
    let h = f64::EPSILON.cbrt() * t.abs().max(1.0);
    let (from, to) = (t - h, t + h);
    (function(to) - function(from)) / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_linear_and_jumps_where_a_time_stands_twice() {
        let table = Table::new(vec![0.0, 1.0, 1.0, 3.0], vec![0.0, 2.0, 5.0, 9.0], false).unwrap();
        let at = |t: f64| table.value(t, f64::NEG_INFINITY);
        assert_eq!((at(-1.0), at(0.5), at(2.0), at(4.0)), (0.0, 1.0, 7.0, 9.0));
        assert_eq!((at(1.0), table.value(1.0, 1.0)), (2.0, 5.0));
        let slope = |t: f64, passed: f64| table.slope(t, passed);
        assert_eq!((slope(-1.0, 0.0), slope(0.5, 0.0), slope(4.0, 0.0)), (0.0, 2.0, 0.0));
        assert_eq!((slope(1.0, 0.0), slope(1.0, 1.0)), (2.0, 2.0));
        assert_eq!((table.next_event(0.0), table.next_event(1.0), table.next_event(3.0)), (1.0, 3.0, f64::INFINITY));
    }

    #[test]
    fn a_held_table_keeps_the_last_value() {
        let table = Table::new(vec![0.0, 1.0], vec![3.0, 4.0], true).unwrap();
        let at = |t: f64, passed: f64| table.value(t, passed);
        assert_eq!((at(0.0, 0.0), at(0.9, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(2.0, 1.0)), (3.0, 3.0, 3.0, 4.0, 4.0));
    }

    #[test]
    fn tables_without_sense_are_refused() {
        assert_eq!(Table::new(vec![], vec![], false), Err(BadTable::Empty));
        assert_eq!(Table::new(vec![0.0, 2.0, 1.0], vec![0.0; 3], false), Err(BadTable::NotMonotonic(2)));
        assert_eq!(Table::new(vec![0.0, f64::NAN], vec![0.0; 2], false), Err(BadTable::NotMonotonic(1)));
        assert_eq!(Table::new(vec![0.0, 1.0], vec![0.0, f64::INFINITY], false), Err(BadTable::NotFinite(1)));
    }
}
