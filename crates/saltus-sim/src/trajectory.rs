//! Results: values over time, the record of events, and how the run ended.

use std::io::{self, Write};

use saltus_program::{LoopStatistics, SlotType};

use crate::record::EventRecord;

/// A run; one segment for each stretch with the same variables.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Trajectory {
    pub segments: Vec<Segment>,
    /// Constants and parameters with their values.
    pub parameters: Vec<(String, f64)>,
    pub events: Vec<EventRecord>,
    /// Violated assertions of level warning and other remarks, each once.
    pub warnings: Vec<(f64, String)>,
    pub statistics: Statistics,
    pub end: End,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Segment {
    pub variables: Vec<Column>,
    pub times: Vec<f64>,
    /// Row by row, one value for each variable.
    pub values: Vec<f64>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    pub name: String,
    pub ty: SlotType,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub enum End {
    #[default]
    StopTime,
    /// `terminate(message)`
    Terminated { message: String },
}

/// What the run cost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    pub steps: u64,
    pub rejected_steps: u64,
    /// Of the right-hand side by the integrator, those for Jacobians included.
    pub derivative_evaluations: u64,
    pub jacobian_evaluations: u64,
    pub factorisations: u64,
    pub crossing_evaluations: u64,
    /// All events, also those that the record had no room for.
    pub events: u64,
    pub state_events: u64,
    pub time_events: u64,
    /// Rounds of all events.
    pub event_iterations: u64,
    pub restarts: u64,
    /// Changes between explicit and implicit method.
    pub method_switches: u64,
    pub loops: LoopStatistics,
}

impl Segment {
    pub fn row(&self, i: usize) -> &[f64] {
        let n = self.variables.len();
        self.values.get(i * n..(i + 1) * n).unwrap_or(&[])
    }
}

impl Trajectory {
    /// All values of a variable over time, as (time, value).
    pub fn series(&self, name: &str) -> Option<Vec<(f64, f64)>> {
        let mut found = None;
        for segment in &self.segments {
            if let Some(i) = segment.variables.iter().position(|c| c.name == name) {
                let rows = segment.times.iter().enumerate().map(|(r, &t)| (t, segment.row(r)[i]));
                found.get_or_insert_with(Vec::new).extend(rows);
            }
        }
        found
    }

    /// The last value of a variable.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.series(name)?.last().map(|&(_, value)| value)
    }

    /// Comma-separated values: a head line `"time","x",…` and a line for each row. A segment with other variables
    /// begins with its own head line.
    pub fn write_csv(&self, out: &mut dyn Write, keep: &dyn Fn(&str) -> bool) -> io::Result<()> {
        let mut previous: Option<&[Column]> = None;
        for segment in &self.segments {
            let kept: Vec<usize> = (0..segment.variables.len()).filter(|&i| keep(&segment.variables[i].name)).collect();
            if previous != Some(&segment.variables) {
                write_head(out, segment, &kept)?;
                previous = Some(&segment.variables);
            }
            write_rows(out, segment, &kept)?;
        }
        Ok(())
    }
}

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 16;

/// Many variables keep their value from row to row: their text is made once.
fn write_rows(out: &mut dyn Write, segment: &Segment, kept: &[usize]) -> io::Result<()> {
    use std::fmt::Write as _;
    let mut texts: Vec<(u64, String)> = vec![(0, String::new()); kept.len()];
    let mut chunk = String::with_capacity(CHUNK + 4096);
    for (i, t) in segment.times.iter().enumerate() {
        let _ = write!(chunk, "{t:?}");
        let row = segment.row(i);
        for (&k, (bits, text)) in kept.iter().zip(&mut texts) {
            let value = row.get(k).copied().unwrap_or(f64::NAN);
            if text.is_empty() || *bits != value.to_bits() {
                *bits = value.to_bits();
                text.clear();
                let _ = match segment.variables[k].ty {
                    SlotType::Real => write!(text, ",{value:?}"),
                    _ => write!(text, ",{value}"),
                };
            }
            chunk.push_str(text);
        }
        chunk.push('\n');
        if chunk.len() >= CHUNK {
            out.write_all(chunk.as_bytes())?;
            chunk.clear();
        }
    }
    out.write_all(chunk.as_bytes())
}

fn write_head(out: &mut dyn Write, segment: &Segment, kept: &[usize]) -> io::Result<()> {
    write!(out, "\"time\"")?;
    for &k in kept {
        write!(out, ",\"{}\"", segment.variables[k].name.replace('"', "\"\""))?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_a_head_and_rows() {
        let column = |name: &str, ty| Column { name: name.into(), ty };
        let segment = Segment {
            variables: vec![
                column("x", SlotType::Real),
                column("hidden", SlotType::Real),
                column("n", SlotType::Integer),
            ],
            times: vec![0.0, 0.5],
            values: vec![1.0, 9.0, 2.0, 1e-9, 9.0, 3.0],
        };
        let trajectory = Trajectory { segments: vec![segment], ..Default::default() };
        let mut text = Vec::new();
        trajectory.write_csv(&mut text, &|name| name != "hidden").expect("writing to memory");
        assert_eq!(String::from_utf8_lossy(&text), "\"time\",\"x\",\"n\"\n0.0,1.0,2\n0.5,1e-9,3\n");
    }
}
