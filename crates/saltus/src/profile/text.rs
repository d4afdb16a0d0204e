//! The profile as a table.

use std::fmt::Write;
use std::time::Duration;

use saltus_base::{SourceMap, Span};
use saltus_program::Cost;
use saltus_sim::{Activity, ActivityCost};

use super::{BlockProfile, Profile};
use crate::explain::place;

/// Lines of one table, and the smallest share that is worth one.
const MOST_LINES: usize = 12;
const SMALLEST_SHARE: f64 = 0.002;
/// Where source positions begin.
const PLACE_COLUMN: usize = 74;
const LONGEST_SOURCE: usize = 60;
/// Names of a loop, or of the equations of a place.
const MOST_NAMES: usize = 3;

/// A line of a table.
struct Line {
    cost: Cost,
    text: String,
    span: Span,
    is_estimated: bool,
}

impl Line {
    fn measured(cost: Cost, text: String, span: Span) -> Line {
        Line { cost, text, span, is_estimated: false }
    }
}

impl Profile {
    /// The whole profile as plain text.
    pub fn listing(&self, sources: &SourceMap) -> String {
        let mut out = format!("{}  {}\n", self.model, duration(self.total));
        for (activity, spent) in &self.activities {
            if self.share(spent.cost.time) >= SMALLEST_SHARE {
                let text = self.activity(*activity, spent);
                let _ = writeln!(out, "  {}  {text}", self.head(spent.cost.time));
            }
        }
        if self.share(self.machine_code) >= SMALLEST_SHARE {
            let _ = writeln!(out, "  {}  of that, making machine code", self.head(self.machine_code));
        }
        let blocks = self.blocks.iter().map(|block| Line {
            cost: block.cost,
            text: block.text(),
            span: block.span,
            is_estimated: block.is_estimated(),
        });
        self.table(&mut out, "equations and loops", blocks, sources);
        let functions = self.functions.iter().map(|f| {
            let span = f.places.first().map_or(Span::nowhere(), |(span, _)| *span);
            let derivatives = if f.derivatives.count > 0 { ", with derivatives" } else { "" };
            Line::measured(f.cost, format!("{}{derivatives}", f.name), span)
        });
        self.table(&mut out, "functions, with the equation that calls them most", functions, sources);
        let events = self.events.iter().map(|e| Line::measured(e.cost, e.text.to_string(), e.span));
        self.table(&mut out, "events: search, rounds, restart", events, sources);
        self.states(&mut out);
        out
    }

    fn activity(&self, activity: Activity, spent: &ActivityCost) -> String {
        let n = grouped(spent.cost.count);
        let what = match activity {
            Activity::Start => "start: the initial system".to_owned(),
            Activity::Steps => format!("steps of the integrator: {n}"),
            Activity::Search => format!("search for events: {n} times"),
            Activity::Events => format!("events: {n}"),
            Activity::Rows => "rows of results".to_owned(),
            Activity::Rest => return "all the rest".to_owned(),
        };
        let own = spent.cost.time.saturating_sub(spent.in_model);
        let parts = format!("{} equations, {} the rest", percent(self.share(spent.in_model)), percent(self.share(own)));
        format!("{what} ({})", parts.trim())
    }

    fn states(&self, out: &mut String) {
        let n_accepted: u64 = self.states.iter().map(|s| s.accepted).sum();
        let n_rejected: u64 = self.states.iter().map(|s| s.rejected).sum();
        if n_accepted + n_rejected + self.cut_short.count + self.failed.count == 0 {
            return;
        }
        let _ = writeln!(out, "what kept steps short");
        for state in self.states.iter().take(MOST_LINES) {
            let rejected = match state.rejected {
                0 => String::new(),
                n => format!(", {} rejected", grouped(n)),
            };
            let n = grouped(state.accepted + state.rejected);
            let _ = writeln!(out, "  {}  {n:>9} ×  the error of {}{rejected}", self.head(state.time), state.name);
        }
        if self.states.len() > MOST_LINES {
            let _ = writeln!(out, "  … and {} other states", self.states.len() - MOST_LINES);
        }
        let others = [
            (self.cut_short, "an event, the end, or the longest step"),
            (self.failed, "the equations could not be evaluated further on"),
        ];
        for (cost, what) in others.iter().filter(|(cost, _)| cost.count > 0) {
            let _ = writeln!(out, "  {}  {:>9} ×  {what}", self.head(cost.time), grouped(cost.count));
        }
    }

    fn table(&self, out: &mut String, title: &str, lines: impl Iterator<Item = Line>, sources: &SourceMap) {
        let lines: Vec<Line> = lines.collect();
        let is_shown =
            |(i, line): &(usize, &Line)| *i < MOST_LINES && (*i == 0 || self.share(line.cost.time) >= SMALLEST_SHARE);
        let n_shown = lines.iter().enumerate().filter(is_shown).count();
        if n_shown == 0 {
            return;
        }
        let has_estimates = lines[..n_shown].iter().any(|line| line.is_estimated);
        let estimates =
            if has_estimates { "  (≈ measured together with others, shared out by operations)" } else { "" };
        let _ = writeln!(out, "{title}{estimates}");
        for Line { cost, text, span, is_estimated } in &lines[..n_shown] {
            let mark = if *is_estimated { '≈' } else { ' ' };
            let line = format!("{mark} {}  {:>9} ×  {text}", self.head(cost.time), grouped(cost.count));
            let missing = PLACE_COLUMN.saturating_sub(line.chars().count());
            let at = match place(sources, *span) {
                Some(place) => format!("{:missing$}  {place}  {}", "", source(sources, *span)),
                None => String::new(),
            };
            let _ = writeln!(out, "{}", format!("{line}{at}").trim_end());
        }
        let rest: Duration = lines[n_shown..].iter().map(|line| line.cost.time).sum();
        if lines.len() > n_shown {
            let _ = writeln!(out, "  {}  … {} more", self.head(rest), lines.len() - n_shown);
        }
    }

    fn head(&self, time: Duration) -> String {
        format!("{}  {:>8}", percent(self.share(time)), duration(time))
    }
}

impl BlockProfile {
    /// `loop of 12 equations over i, u and 3 more, linear`
    pub fn text(&self) -> String {
        let n = self.n_equations;
        let shown: Vec<&str> = self.variables.iter().take(MOST_NAMES).map(String::as_str).collect();
        let names = shown.join(", ");
        let more = match self.variables.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let Some(size) = &self.solved else { return format!("{names}{more}") };
        let kind = match (size.is_mixed, size.is_linear) {
            (true, _) => ", mixed",
            (false, true) => ", linear",
            (false, false) => "",
        };
        let iterations = match self.iterations as f64 / self.cost.count.max(1) as f64 {
            0.0 => String::new(),
            mean => format!(", {mean:.1} iterations each"),
        };
        let loop_of = if n == 1 { "loop of 1 equation".to_owned() } else { format!("loop of {n} equations") };
        format!("{loop_of}{kind}{iterations}: {names}{more}")
    }
}

/// The first line of the source.
fn source(sources: &SourceMap, span: Span) -> String {
    let text = sources.slice(span).lines().next().unwrap_or("").trim();
    match text.char_indices().nth(LONGEST_SOURCE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 9.95 { format!("{percent:4.0} %") } else { format!("{percent:4.1} %") }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s => format!("{s:.2} s"),
    }
}

/// Digits in groups of three.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([7, 1_000, 1_234_567].map(grouped), ["7", "1 000", "1 234 567"]);
        assert_eq!([0.0004, 0.25, 2.0].map(|s| duration(Duration::from_secs_f64(s))), ["400 µs", "250.0 ms", "2.00 s"]);
        assert_eq!([0.0312, 0.61].map(percent), [" 3.1 %", "  61 %"]);
    }
}
