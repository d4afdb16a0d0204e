//! Configurations of a model whose structure changes: what decides about them, which a run has visited, and when.
//!
//! In: a model and a run of it that is made here. Out: [`Visited`], and its listing:
//!
//! ```text
//! what decides about the structure
//!   activeState(circle)  a state of the machine `mode`              Pendulum.mo:25
//! configurations visited (2)
//!   1  circle: 2 states, index 1
//! segments (3)
//!   0 … 0.484466 s  1
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use saltus_base::{SourceMap, Span};
use saltus_program::{Configuration, Key, SimProgram, Switch};
use saltus_sim::{SimError, Simulation};

use super::place;
use crate::Model;

/// Segments that are kept; more are only counted.
const MOST_SEGMENTS: usize = 10_000;
/// Segments that are shown.
const SHOWN: usize = 40;

/// What a run has gone through.
#[derive(Default)]
pub struct Visited {
    /// In the order of the first visit.
    pub configurations: Vec<(Key, Arc<SimProgram>)>,
    pub segments: Vec<Segment>,
    pub n_segments: usize,
    /// How often a configuration followed another one, by their positions.
    pub transitions: BTreeMap<(usize, usize), usize>,
    /// Simulated time in each configuration.
    pub spent: Vec<f64>,
    /// Where it is, and since when.
    present: Option<(usize, f64)>,
    /// Programs that were compiled for it, the first one included.
    pub n_compiled: usize,
}

/// A stretch of time in one configuration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Segment {
    pub begin: f64,
    pub end: f64,
    /// Position among the configurations.
    pub configuration: usize,
}

/// Runs a simulation that has not begun to its stop time; a run that fails has gone through what it has.
pub fn visit(model: &Model, simulation: &mut Simulation) -> (Visited, Result<(), SimError>) {
    let mut visited = Visited::default();
    let ended = go(&mut visited, simulation);
    visited.n_compiled = 1 + model.compiled_configurations().len();
    (visited, ended)
}

fn go(visited: &mut Visited, simulation: &mut Simulation) -> Result<(), SimError> {
    simulation.initialise()?;
    let mut present = simulation.program().clone();
    visited.enter(&present, simulation.time());
    let stop = simulation.options().stop_time;
    while !simulation.is_over() {
        let advanced = simulation.advance(stop);
        let time = simulation.time();
        visited.reach(time);
        advanced?;
        if !Arc::ptr_eq(&present, simulation.program()) {
            present = simulation.program().clone();
            visited.enter(&present, time);
        }
    }
    Ok(())
}

impl Visited {
    /// The structure is that of a program from a time on.
    pub fn enter(&mut self, program: &Arc<SimProgram>, time: f64) {
        self.reach(time);
        let key = program.configuration.as_ref().map_or_else(Key::default, |c| c.key());
        let known = self.configurations.iter().position(|(other, _)| *other == key);
        let configuration = known.unwrap_or_else(|| {
            self.configurations.push((key, program.clone()));
            self.spent.push(0.0);
            self.configurations.len() - 1
        });
        if let Some((from, _)) = self.present.replace((configuration, time)) {
            *self.transitions.entry((from, configuration)).or_default() += 1;
        }
        self.n_segments += 1;
        if self.segments.len() < MOST_SEGMENTS {
            self.segments.push(Segment { begin: time, end: time, configuration });
        }
    }

    /// The run has come to a time in its present configuration.
    pub fn reach(&mut self, time: f64) {
        if let Some((present, since)) = &mut self.present {
            self.spent[*present] += time - *since;
            *since = time;
        }
        if let Some(last) = self.segments.last_mut().filter(|_| self.n_segments <= MOST_SEGMENTS) {
            last.end = time;
        }
    }

    /// The listing as plain text.
    pub fn listing(&self, sources: &SourceMap) -> String {
        let mut out = String::new();
        let Some((_, first)) = self.configurations.first() else { return out };
        let Some(configuration) = &first.configuration else {
            return "the structure of the model does not change: it has one configuration\n".to_owned();
        };
        out.push_str("what decides about the structure\n");
        let rows = deciding(configuration);
        let width = rows.iter().map(|(text, ..)| text.chars().count()).max().unwrap_or(0);
        for (text, why, span) in &rows {
            let at = place(sources, *span).map_or_else(String::new, |at| format!("  {at}"));
            let _ = writeln!(out, "  {text:width$}  {why}{at}");
        }
        let _ = writeln!(
            out,
            "configurations visited ({}), programs compiled ({})",
            self.configurations.len(),
            self.n_compiled
        );
        for (i, (key, program)) in self.configurations.iter().enumerate() {
            let states: Vec<_> = program.states.iter().map(|s| program.memory.slot_name(s.value)).collect();
            let index = program.configuration.as_ref().map_or(1, |c| c.index);
            let n = states.len();
            let plural = if n == 1 { "" } else { "s" };
            let _ = writeln!(out, "  {}  {}: {n} state{plural}, index {index}", i + 1, name_of(key));
            if n > 0 {
                let _ = writeln!(out, "     {}", states.join(", "));
            }
        }
        let _ = writeln!(out, "segments ({})", self.n_segments);
        for segment in self.segments.iter().take(SHOWN) {
            let name = self.configurations.get(segment.configuration).map_or_else(String::new, |(key, _)| name_of(key));
            let _ = writeln!(out, "  {} … {} s  {}  {name}", segment.begin, segment.end, segment.configuration + 1);
        }
        if self.n_segments > SHOWN {
            let _ = writeln!(out, "  … and {} more", self.n_segments - SHOWN);
        }
        out
    }

    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::json;
        let of = |(key, program): &(Key, Arc<SimProgram>)| {
            json!({
                "key": key.0,
                "states": program.states.iter().map(|s| program.memory.slot_name(s.value)).collect::<Vec<_>>(),
                "index": program.configuration.as_ref().map_or(1, |c| c.index),
                "name": name_of(key),
            })
        };
        let transition =
            |(&(from, to), n): (&(usize, usize), &usize)| json!({ "from": from + 1, "to": to + 1, "count": n });
        let segment = |s: &Segment| json!({ "begin": s.begin, "end": s.end, "configuration": s.configuration + 1 });
        json!({
            "configurations": self.configurations.iter().map(of).collect::<Vec<_>>(),
            "compiled": self.n_compiled,
            "n_segments": self.n_segments,
            "transitions": self.transitions.iter().map(transition).collect::<Vec<_>>(),
            "spent": self.spent,
            "segments": self.segments.iter().map(segment).collect::<Vec<_>>(),
        })
    }
}

/// What decides about the structure: conditions, why, and where they are written.
pub fn deciding(configuration: &Configuration) -> Vec<(String, String, Span)> {
    let machine = |k: usize| {
        let region = configuration.regions.iter().find(|r| r.switch == k)?;
        configuration.machines.get(region.machine)
    };
    let line = |(k, switch): (usize, &Switch)| {
        let why = match machine(k) {
            Some(name) => format!("a state of the machine `{name}`"),
            None => "the equations have another index where it changes".to_owned(),
        };
        (switch.text.clone(), why, switch.span)
    };
    configuration.switches.iter().enumerate().map(line).collect()
}

/// Active states by name, other conditions with their values.
fn name_of(key: &Key) -> String {
    let part = |(text, is_on): (&String, &bool)| {
        let state = text.strip_prefix("activeState(").and_then(|rest| rest.strip_suffix(')'));
        match (state, is_on) {
            (Some(state), true) => Some(state.to_owned()),
            (Some(_), false) => None,
            (None, is_on) => Some(format!("{text}: {is_on}")),
        }
    };
    let parts: Vec<String> = key.0.iter().filter_map(part).collect();
    parts.join(", ")
}
