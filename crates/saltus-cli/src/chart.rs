//! Charts of results, and where they are drawn.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use saltus::diagnostics;
use saltus_base::{nearest, printable};
use saltus_plot::{Chart, Curve, Stretches};
use saltus_results::{Format, Kind, Pattern, Results, Signal};

use crate::write::write_bytes;
use crate::{Exit, Screen, files};

/// Curves that are drawn if none are named.
const SHOWN: usize = 6;

/// Reads a file of results in the format of its name.
pub fn read_results(path: &Path, screen: &Screen) -> Result<Results, Exit> {
    let shown = path.display().to_string();
    let Some(format) = Format::of(path) else {
        return Err(screen.fail(&diagnostics::unknown_format(&shown)));
    };
    let bytes = files::read_bytes(path).map_err(|error| screen.fail(&error))?;
    let title = path.file_stem().map_or(shown.clone(), |s| s.to_string_lossy().into_owned());
    Results::read(&bytes, format, &title).map_err(|error| screen.fail(&diagnostics::no_results(&shown, &error.message)))
}

/// A chart of the signals whose names fit; one panel for each unit.
pub fn chart(results: &Results, names: &[String], with_events: bool, screen: &Screen) -> Result<Chart, Exit> {
    let mut chart = Chart::new(&results.title);
    for signal in chosen(results, names, screen)? {
        chart.add(&signal.unit, curve(results, signal));
    }
    chart.stretches = results.series().filter(|s| is_mode(s)).filter_map(|s| stretches(results, s)).collect();
    if with_events {
        chart.events = results.event_times();
    }
    Ok(chart)
}

/// More changes than this are a pattern, not stretches that can be read.
const MOST_STRETCHES: usize = 500;

/// The active state of a machine, or a condition that decides about the structure: `mode`, `plant.mode[2]`, `mode(locked)`.
fn is_mode(signal: &Signal) -> bool {
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

fn chosen<'a>(results: &'a Results, names: &[String], screen: &Screen) -> Result<Vec<&'a Signal>, Exit> {
    if names.is_empty() {
        return Ok(results.series().take(SHOWN).collect());
    }
    let mut chosen: Vec<&Signal> = Vec::new();
    for name in names {
        let pattern = Pattern::new(name);
        let fitting: Vec<&Signal> = match results.signal(name) {
            Some(signal) => vec![signal],
            None => results.series().filter(|s| pattern.matches(&s.name)).collect(),
        };
        if fitting.is_empty() {
            let all = results.signals.iter().map(|s| s.name.as_str());
            return Err(screen.fail(&diagnostics::unknown_signal(name, nearest(name, all))));
        }
        let known: Vec<&str> = chosen.iter().map(|s| s.name.as_str()).collect();
        let fresh: Vec<&Signal> = fitting.into_iter().filter(|s| !known.contains(&s.name.as_str())).collect();
        chosen.extend(fresh);
    }
    Ok(chosen)
}

/// A path of a picture.
pub fn picture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match extension(&path).as_str() {
        "svg" | "png" | "html" => Ok(path),
        _ => Err("expected a file name that ends in .svg, .png, .html".to_owned()),
    }
}

fn extension(path: &Path) -> String {
    path.extension().map_or(String::new(), |e| e.to_string_lossy().to_ascii_lowercase())
}

/// Draws into a file, or on the terminal without one.
pub fn draw(chart: &Chart, output: Option<&Path>, screen: &Screen) -> Result<(), Exit> {
    let Some(path) = output else {
        let drawn = saltus_plot::terminal(&plain(chart), terminal_width(), std::io::stdout().is_terminal());
        screen.draw(drawn.trim_end());
        return Ok(());
    };
    let bytes = match extension(path).as_str() {
        "svg" => saltus_plot::svg(chart).into_bytes(),
        "png" => saltus_plot::png(chart),
        _ => saltus_plot::html(chart).into_bytes(),
    };
    write_bytes(path, &bytes, screen)
}

/// Names and units as a terminal may get them.
fn plain(chart: &Chart) -> Chart {
    let mut chart = chart.clone();
    let plain = |text: &mut String| *text = printable(text).into_owned();
    plain(&mut chart.title);
    for panel in &mut chart.panels {
        plain(&mut panel.unit);
        panel.curves.iter_mut().for_each(|curve| plain(&mut curve.name));
    }
    chart.stretches.iter_mut().flat_map(|s| &mut s.each).for_each(|(_, _, name)| plain(name));
    chart
}

fn terminal_width() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    given.unwrap_or(96).clamp(40, 240)
}
