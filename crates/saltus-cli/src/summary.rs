//! What a simulation tells its user at the end.
//!
//! ```text
//! BouncingBall  0 … 1.5 s in 0.8 ms: 505 rows, 2 events
//!   integration  29 steps (1 rejected), 210 derivative calls
//!   …
//! at time 1.5
//!   h   0.0534024 m     Height above the ground
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use saltus::stream::{Digest, Last};
use saltus_base::Index;
use saltus_program::{SimProgram, SlotId};
use saltus_results::Kind;
use saltus_sim::{End, Listed, RelationDetection, Statistics, Trajectory};

/// Most variables whose last value is shown.
const SHOWN: usize = 12;
/// Relations and states that are named of those about which something is not known.
const MOST_NAMED: usize = 3;
const LONGEST_NAME: usize = 40;

pub fn summary(program: &SimProgram, trajectory: &Trajectory, digest: &Digest, took: Duration) -> String {
    if digest.n_rows == 0 {
        return format!("{}: no results", program.name);
    }
    let mut lines = vec![format!(
        "{}  {} … {} s in {}: {} rows, {}",
        program.name,
        short(digest.first_time),
        short(digest.last_time),
        duration(took),
        digest.n_rows,
        events(&trajectory.statistics)
    )];
    if let End::Terminated { message } = &trajectory.end {
        lines.push(format!("  terminated: {message}"));
    }
    lines.extend(cost(program, &trajectory.statistics));
    lines.extend(detection(&trajectory.detection));
    lines.extend(coarse(&trajectory.detection));
    lines.extend(below_tolerance(&trajectory.below_tolerance));
    lines.extend(of_one_digit(&trajectory.of_one_digit));
    lines.push(format!("at time {}", short(digest.last_time)));
    lines.extend(last_values(program, digest));
    lines.join("\n")
}

pub fn plural(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn events(statistics: &Statistics) -> String {
    let (state, time) = (statistics.state_events, statistics.time_events);
    match (state, time) {
        (0, 0) => "no events".to_owned(),
        (n, 0) => plural(n, "state event"),
        (0, n) => plural(n, "time event"),
        _ => format!("{}, {}", plural(state, "state event"), plural(time, "time event")),
    }
}

fn cost(program: &SimProgram, statistics: &Statistics) -> Vec<String> {
    let mut parts = vec![plural(program.states.len() as u64, "state"), plural(statistics.steps, "step")];
    if statistics.rejected_steps > 0 {
        parts.push(format!("{} rejected", statistics.rejected_steps));
    }
    parts.push(plural(statistics.derivative_evaluations, "derivative call"));
    if statistics.jacobian_evaluations > 0 {
        let by_differences = match statistics.difference_jacobians {
            0 => String::new(),
            n if n == statistics.jacobian_evaluations => " by differences".to_owned(),
            n => format!(" ({n} by differences)"),
        };
        parts.push(plural(statistics.jacobian_evaluations, "Jacobian") + &by_differences);
    }
    vec![format!("  {}", parts.join(", "))]
}

/// Whether a crossing may have been missed.
fn detection(relations: &[RelationDetection]) -> Option<String> {
    let watched: Vec<_> = relations.iter().filter(|r| r.proved + r.sampled > 0).collect();
    let sampled: Vec<_> = watched.iter().filter(|r| r.sampled > 0).collect();
    let is_asked_for = watched.iter().any(|r| r.proved > 0 && !r.is_time_alone);
    if watched.is_empty() {
        return None;
    }
    if !sampled.is_empty() && !is_asked_for {
        let n = plural(sampled.len() as u64, "relation");
        return Some(format!("  {n} looked at in points of each step: what lasts shorter may have been missed"));
    }
    let n = plural(watched.len() as u64, "relation");
    if sampled.is_empty() {
        return Some(format!("  no crossing was missed: {n} proved over the whole run"));
    }
    let part = |r: &&&RelationDetection| format!("`{}` in {} of {}", r.relation, r.sampled, r.proved + r.sampled);
    let parts = sampled.iter().map(part).collect();
    Some(format!("  {} of {n} only sampled in some steps: {}", sampled.len(), some_of(parts)))
}

/// Relations whose operands are so small that they are not known exactly.
fn coarse(relations: &[RelationDetection]) -> Option<String> {
    let names: Vec<String> = relations.iter().filter(|r| r.is_coarse).map(|r| format!("`{}`", r.relation)).collect();
    let n = plural(names.len() as u64, "relation");
    let what = "with values so small that changes may be late or missing; give their variables nominal values";
    (!names.is_empty()).then(|| format!("  {n} {what}: {}", some_of(names)))
}

/// States of which nothing is known because their tolerances are large.
fn below_tolerance(states: &[String]) -> Option<String> {
    let n = plural(states.len() as u64, "state");
    let what = "below the absolute tolerance all the time, and not accurate; give nominal values";
    (!states.is_empty()).then(|| format!("  {n} {what}: {}", some_of(states.to_vec())))
}

/// States that are larger than their tolerances, but not by much.
fn of_one_digit(states: &[String]) -> Option<String> {
    let n = plural(states.len() as u64, "state");
    let what = "below a hundred times the absolute tolerance all the time, and known to one digit; give nominal values";
    (!states.is_empty()).then(|| format!("  {n} {what}: {}", some_of(states.to_vec())))
}

/// The first names, and how many more there are.
fn some_of(mut names: Vec<String>) -> String {
    let n_more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    names.extend((n_more > 0).then(|| format!("{n_more} more")));
    names.join(", ")
}

/// States first, then what is declared at the top, protected variables last.
fn last_values(program: &SimProgram, digest: &Digest) -> Vec<String> {
    let mut holds_state = vec![false; program.memory.slots.len()];
    program.states.iter().for_each(|s| holds_state[s.value.index()] = true);
    // Where the structure changes columns are known by their names alone.
    let is_listed = program.configuration.is_some();
    let named = |slot: &SlotId| program.memory.slot_name(*slot);
    let state_names: BTreeSet<_> = program.states.iter().filter(|_| is_listed).map(|s| named(&s.value)).collect();
    let protected: BTreeSet<_> =
        program.variables.iter().filter(|v| is_listed && v.is_protected).map(|v| v.name()).collect();
    let least = |listed: &Listed| match listed {
        Listed::Variable(v) => (!holds_state[v.slot.index()], v.is_protected, v.n_dots()),
        Listed::Column(_) => (false, false, 0),
    };
    let rank = |listed: &Listed, name: &str| {
        let (is_state, is_protected) = match listed {
            Listed::Variable(v) => (holds_state[v.slot.index()] && named(&v.slot) == name, v.is_protected),
            Listed::Column(_) => (state_names.contains(name), protected.contains(name)),
        };
        (name.chars().count() <= LONGEST_NAME).then(|| (!is_state, is_protected, name.matches('.').count()))
    };
    let Last { signals, n } = digest.last(SHOWN, least, rank);
    let shown: Vec<(&str, String, &str)> = signals
        .iter()
        .map(|(s, value)| {
            let text = match s.kind {
                Kind::Boolean => (*value != 0.0).to_string(),
                _ => format!("{} {}", short(*value), s.unit).trim_end().to_owned(),
            };
            (s.name.as_str(), text, s.description.as_str())
        })
        .collect();
    let width = |texts: &mut dyn Iterator<Item = &str>| texts.map(|t| t.chars().count()).max().unwrap_or(0);
    let names = width(&mut shown.iter().map(|(name, _, _)| *name));
    let values = width(&mut shown.iter().map(|(_, value, _)| value.as_str()));
    let line = |(name, value, text): &(&str, String, &str)| {
        format!("  {name:names$}  {value:values$}  {text}").trim_end().to_owned()
    };
    let mut lines: Vec<String> = shown.iter().map(line).collect();
    let n_rest = n - shown.len();
    if n_rest > 0 {
        lines.push(format!("  … and {}", plural(n_rest as u64, "more variable")));
    }
    lines
}

/// Six significant digits.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..7.0).contains(&magnitude) {
        let text = format!("{value:.5e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if digits.contains('.') => {
                format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        };
    }
    let decimals = (5.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 0.1 => format!("{} ms", (1e4 * s).round() / 10.0),
        s if s < 100.0 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_at_most() {
        let cases = [
            (0.0, "0"),
            (1.5, "1.5"),
            (-0.053402389, "-0.0534024"),
            (1234567.8, "1234568"),
            (1e-9, "1e-9"),
            (-2.5e20, "-2.5e20"),
            (f64::NAN, "NaN"),
            (100.0, "100"),
        ];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
    }

    #[test]
    fn durations_have_the_unit_that_fits() {
        let shown = [0.000_81, 0.25, 7200.0].map(|s| duration(Duration::from_secs_f64(s)));
        assert_eq!(shown, ["0.8 ms", "0.25 s", "7200 s"]);
    }
}
