//! The coverage report: totals by library area, then what failed, grouped by reason.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::coverage::{Options, Outcome};

#[derive(Default)]
struct Area {
    n_ok: usize,
    n_all: usize,
    seconds: f64,
}

/// `Modelica.Electrical.Analog.Examples.X` belongs to `Modelica.Electrical.Analog`.
fn area(model: &str) -> String {
    let parts: Vec<&str> = model.split('.').collect();
    let n = match parts.get(1) {
        Some(&("Electrical" | "Mechanics" | "Magnetic" | "Thermal")) => 3,
        _ => 2,
    };
    parts[..n.min(parts.len().saturating_sub(1)).max(1)].join(".")
}

/// The reason without what varies from model to model: quoted names and numbers become `…`.
pub fn shape(reason: &str) -> String {
    let mut out = String::new();
    let mut rest = reason.chars().peekable();
    let mut in_code = false;
    while let Some(c) = rest.next() {
        match c {
            '[' | ']' => {
                in_code = c == '[';
                out.push(c);
            }
            '`' => {
                for c in rest.by_ref() {
                    if c == '`' {
                        break;
                    }
                }
                out.push_str("`…`");
            }
            c if c.is_ascii_digit() && !in_code => {
                while rest.peek().is_some_and(|c| c.is_ascii_digit() || *c == '.') {
                    rest.next();
                }
                out.push('…');
            }
            c => out.push(c),
        }
    }
    out
}

fn areas(outcomes: &[Outcome]) -> BTreeMap<String, Area> {
    let mut areas: BTreeMap<String, Area> = BTreeMap::new();
    for outcome in outcomes {
        let area = areas.entry(area(&outcome.model)).or_default();
        area.n_all += 1;
        area.n_ok += usize::from(outcome.ok);
        area.seconds += outcome.seconds;
    }
    areas
}

/// Failures by the shape of their reason, most frequent first.
fn groups(outcomes: &[Outcome]) -> Vec<(String, Vec<&Outcome>)> {
    let mut groups: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|o| !o.ok) {
        groups.entry(shape(&outcome.reason)).or_default().push(outcome);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(reason, group)| (std::cmp::Reverse(group.len()), reason.clone()));
    groups
}

fn is_clocked(outcome: &Outcome) -> bool {
    outcome.model.starts_with("Modelica.Clocked.")
}

fn totals(outcomes: &[Outcome]) -> String {
    let count = |clocked: bool| {
        let part = outcomes.iter().filter(|o| is_clocked(o) == clocked);
        (part.clone().filter(|o| o.ok).count(), part.count())
    };
    let ((ok, all), (clocked_ok, clocked_all)) = (count(false), count(true));
    format!("{ok} of {all} models outside `Modelica.Clocked`, {clocked_ok} of {clocked_all} in it")
}

fn extremes(outcomes: &[Outcome]) -> (Option<&Outcome>, Option<&Outcome>) {
    let slowest = outcomes.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let memory = |o: &Outcome| o.peak_megabytes.unwrap_or(0.0);
    let largest = outcomes.iter().max_by(|a, b| memory(a).total_cmp(&memory(b)));
    (slowest, largest)
}

/// A page for the terminal.
pub fn summary(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    for (name, area) in areas(outcomes) {
        let _ = writeln!(out, "{name:45} {:4} of {:4}  {:7.2} s", area.n_ok, area.n_all, area.seconds);
    }
    let _ = writeln!(out, "\n{}", totals(outcomes));
    if let (Some(slowest), Some(largest)) = extremes(outcomes) {
        let _ = writeln!(out, "slowest {:.2} s {}", slowest.seconds, slowest.model);
        let _ = writeln!(out, "largest {:.0} MB {}", largest.peak_megabytes.unwrap_or(0.0), largest.model);
    }
    let groups = groups(outcomes);
    if !groups.is_empty() {
        out.push_str("\nmost common failures\n");
    }
    for (reason, group) in groups.iter().take(40) {
        let first = group.first();
        let (model, place) = first.map_or(("", ""), |o| (o.model.as_str(), o.place.as_str()));
        let _ = writeln!(out, "{:5}  {}\n         {model}  {place}", group.len(), cut(reason, 160));
    }
    out
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_string() } else { text.chars().take(most).chain(['…']).collect() }
}

/// The page `docs/coverage.md`; free of measured times, so that it changes only when the compiler does.
pub fn markdown(outcomes: &[Outcome], options: &Options) -> String {
    let mut out = String::from(
        "# Library coverage\n\n\
         `saltus check` on every model of the Modelica Standard Library 4.1.0 (and its test library) that has published\n\
         reference results: it flattens, every check passes, and the equations balance. Written by\n\
         `cargo xtask coverage --library DIR --reference DIR`; do not edit.\n\n",
    );
    let _ = writeln!(out, "**{}.**", totals(outcomes));
    let _ = writeln!(
        out,
        "Limits for each model: {} s and {} MB.\n\n| area | ok | models |\n|---|---:|---:|",
        options.time_limit, options.memory_limit
    );
    for (name, area) in areas(outcomes) {
        let _ = writeln!(out, "| {name} | {} | {} |", area.n_ok, area.n_all);
    }
    let groups = groups(outcomes);
    if groups.is_empty() {
        return out;
    }
    out.push_str("\n## What fails, and why\n");
    for (reason, group) in groups {
        let title = if group.len() == 1 { &group[0].reason } else { &reason };
        let _ = writeln!(out, "\n### {} × {}\n", group.len(), cut(title, 200));
        for outcome in group {
            let _ = write!(out, "- `{}`", outcome.model);
            let detail = cut(&outcome.reason, 200);
            let _ = if detail == cut(title, 200) { writeln!(out) } else { writeln!(out, ": {detail}") };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_the_libraries_below_the_domain() {
        assert_eq!(area("Modelica.Electrical.Analog.Examples.Rectifier"), "Modelica.Electrical.Analog");
        assert_eq!(area("Modelica.Blocks.Examples.PID_Controller"), "Modelica.Blocks");
        assert_eq!(area("ModelicaTest.Rotational.AllComponents"), "ModelicaTest.Rotational");
        assert_eq!(area("A"), "A");
    }

    #[test]
    fn a_reason_keeps_its_code_only() {
        assert_eq!(shape("error[E0203]: `a.b` has 3 parts"), "error[E0203]: `…` has … parts");
    }
}
