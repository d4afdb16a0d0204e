//! Charts of results: which signals, in which panels, with which events and modes.
//!
//! In: a table of results and names or patterns. Out: a [`Chart`], which `saltus-plot` draws.

use saltus_base::{Diagnostic, nearest};
use saltus_plot::{Chart, Curve, Stretches};
use saltus_results::{Kind, Pattern, Results, Signal};

use crate::diagnostics;

/// Curves that are drawn if none are named.
pub const SHOWN: usize = 6;

/// A chart of the signals whose names fit; one panel for each unit.
pub fn chart(results: &Results, names: &[String], with_events: bool) -> Result<Chart, Diagnostic> {
    let mut chart = Chart::new(&results.title);
    for signal in chosen(results, names)? {
        chart.add(&signal.unit, curve(results, signal));
    }
    chart.stretches = modes(results);
    if with_events {
        chart.events = results.event_times();
    }
    Ok(chart)
}

/// What machines and conditions about the structure are from time to time.
pub fn modes(results: &Results) -> Vec<Stretches> {
    results.series().filter(|s| is_mode(s)).filter_map(|s| stretches(results, s)).collect()
}

/// More changes than this are a pattern, not stretches that can be read.
const MOST_STRETCHES: usize = 500;

/// The active state of a machine, or a condition that decides about the structure: `mode`, `plant.mode[2]`, `mode(locked)`.
pub fn is_mode(signal: &Signal) -> bool {
    let begin = signal.name.rfind("mode").map_or("", |at| &signal.name[at..]);
    let is_last = signal.name.starts_with("mode(")
        || begin
            .strip_prefix("mode")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('[') && rest.ends_with(']'));
    let is_whole = signal.name.starts_with("mode") || signal.name.contains(".mode");
    is_last && is_whole && (signal.kind == Kind::Enumeration || signal.name.starts_with("mode("))
}

/// A signal with few values as stretches with names.
fn stretches(results: &Results, signal: &Signal) -> Option<Stretches> {
    let values = results.values_of(signal);
    let name = |value: f64| match signal.kind {
        Kind::Enumeration => {
            let literal = signal.literals.get((value - 1.0).max(0.0) as usize);
            literal.cloned().unwrap_or_else(|| format!("{value}"))
        }
        _ => format!("{}: {}", signal.name.trim_start_matches("mode(").trim_end_matches(')'), value != 0.0),
    };
    let mut each: Vec<(f64, f64, String)> = Vec::new();
    let mut last = f64::NAN;
    for (&t, &value) in results.times.iter().zip(values.iter()) {
        if let Some(open) = each.last_mut().filter(|_| !last.is_nan()) {
            open.1 = t;
        }
        if value != last && !value.is_nan() {
            each.push((t, t, name(value)));
        }
        last = value;
    }
    each.retain(|(from, to, _)| to > from);
    (each.len() <= MOST_STRETCHES).then_some(Stretches { name: signal.name.clone(), each })
}

pub fn curve(results: &Results, signal: &Signal) -> Curve {
    let values = results.values_of(signal).into_owned();
    Curve { is_stepped: signal.kind != Kind::Real, ..Curve::new(&signal.name, results.times.clone(), values) }
}

/// The signal of a name, or those that fit a pattern.
pub fn fitting<'a>(results: &'a Results, name: &str) -> Vec<&'a Signal> {
    let pattern = Pattern::new(name);
    match results.signal(name) {
        Some(signal) => vec![signal],
        None => results.series().filter(|s| pattern.matches(&s.name)).collect(),
    }
}

/// No signal has this name; the nearest one is suggested.
pub fn unknown(results: &Results, name: &str) -> Diagnostic {
    diagnostics::unknown_signal(name, nearest(name, results.signals.iter().map(|s| s.name.as_str())))
}

fn chosen<'a>(results: &'a Results, names: &[String]) -> Result<Vec<&'a Signal>, Diagnostic> {
    if names.is_empty() {
        return Ok(results.series().take(SHOWN).collect());
    }
    let mut chosen: Vec<&Signal> = Vec::new();
    for name in names {
        let fitting = fitting(results, name);
        if fitting.is_empty() {
            return Err(unknown(results, name));
        }
        let known: Vec<&str> = chosen.iter().map(|s| s.name.as_str()).collect();
        let fresh: Vec<&Signal> = fitting.into_iter().filter(|s| !known.contains(&s.name.as_str())).collect();
        chosen.extend(fresh);
    }
    Ok(chosen)
}
