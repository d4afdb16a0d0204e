//! The coverage report: totals by library area, then what failed, grouped by reason.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::coverage::{Options, Outcome};

#[derive(Default)]
struct Area {
    n_ok: usize,
    n_sorted: usize,
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
        area.n_sorted += usize::from(outcome.sorts == Some(true));
        area.seconds += outcome.seconds;
    }
    areas
}

/// Failures by the shape of their reason, most frequent first.
fn groups(outcomes: &[Outcome], reason: fn(&Outcome) -> &str) -> Vec<(String, Vec<&Outcome>)> {
    let mut groups: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|o| !reason(o).is_empty()) {
        groups.entry(shape(reason(outcome))).or_default().push(outcome);
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

/// `900 of 980 models that flatten sort into a program (91.8 %)`
fn sorted_total(outcomes: &[Outcome]) -> String {
    let asked = outcomes.iter().filter_map(|o| o.sorts);
    let (sorted, all) = (asked.clone().filter(|&sorts| sorts).count(), asked.count());
    let percent = 100.0 * sorted as f64 / all.max(1) as f64;
    format!("{sorted} of {all} models that flatten sort into a program ({percent:.1} %)")
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
        let Area { n_ok, n_sorted, n_all, seconds } = area;
        let _ = writeln!(out, "{name:45} {n_ok:4} of {n_all:4}, {n_sorted:4} sort  {seconds:7.2} s");
    }
    let _ = writeln!(out, "\n{}\n{}", totals(outcomes), sorted_total(outcomes));
    if let (Some(slowest), Some(largest)) = extremes(outcomes) {
        let _ = writeln!(out, "slowest {:.2} s {}", slowest.seconds, slowest.model);
        let _ = writeln!(out, "largest {:.0} MB {}", largest.peak_megabytes.unwrap_or(0.0), largest.model);
    }
    for (title, reason) in
        [("most common failures", reason_of as fn(&Outcome) -> &str), ("what does not sort", sort_reason_of)]
    {
        let groups = groups(outcomes, reason);
        if !groups.is_empty() {
            let _ = writeln!(out, "\n{title}");
        }
        for (shape, group) in groups.iter().take(40) {
            let model = group.first().map_or("", |o| o.model.as_str());
            let _ = writeln!(out, "{:5}  {}\n         {model}", group.len(), cut(shape, 160));
        }
    }
    out
}

fn reason_of(outcome: &Outcome) -> &str {
    &outcome.reason
}

fn sort_reason_of(outcome: &Outcome) -> &str {
    &outcome.sort_reason
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_string() } else { text.chars().take(most).chain(['…']).collect() }
}

/// The page `docs/coverage.md`; free of measured times, so that it changes only when the compiler does.
pub fn markdown(outcomes: &[Outcome], options: &Options) -> String {
    let mut out = String::from(
        "# Library coverage\n\n\
         `saltus check` on every model of the Modelica Standard Library 4.1.0 (and its test library) that has published\n\
         reference results: it flattens, every check passes, and the equations balance. Those that do are sorted into\n\
         a program with `saltus explain`. Written by\n\
         `cargo xtask coverage --library DIR --reference DIR`; do not edit.\n\n",
    );
    let _ = writeln!(out, "**{}.**\n**{}.**", totals(outcomes), sorted_total(outcomes));
    let _ = writeln!(
        out,
        "Limits for each model: {} s and {} MB.\n\n| area | ok | sorts | models |\n|---|---:|---:|---:|",
        options.time_limit, options.memory_limit
    );
    for (name, area) in areas(outcomes) {
        let _ = writeln!(out, "| {name} | {} | {} | {} |", area.n_ok, area.n_sorted, area.n_all);
    }
    reasons(&mut out, "What fails, and why", outcomes, reason_of);
    reasons(&mut out, "What does not sort, and why", outcomes, sort_reason_of);
    out
}

fn reasons(out: &mut String, title: &str, outcomes: &[Outcome], reason: fn(&Outcome) -> &str) {
    let groups = groups(outcomes, reason);
    if !groups.is_empty() {
        let _ = writeln!(out, "\n## {title}");
    }
    for (shape, group) in groups {
        let title = if group.len() == 1 { reason(group[0]) } else { &shape };
        let _ = writeln!(out, "\n### {} × {}\n", group.len(), cut(title, 200));
        for outcome in group {
            let _ = write!(out, "- `{}`", outcome.model);
            let detail = cut(reason(outcome), 200);
            let _ = if detail == cut(title, 200) { writeln!(out) } else { writeln!(out, ": {detail}") };
        }
    }
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
