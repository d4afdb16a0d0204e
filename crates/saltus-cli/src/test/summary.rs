//! Verdicts on the screen: what is bad, what changed, a table of the packages.

use std::collections::BTreeMap;

use saltus::suite::{Status, Verdict};

use super::Change;
use crate::Screen;
use crate::summary::duration;

/// Width of the longest name of a status.
const STATUS: usize = 10;

/// A verdict on one line.
pub fn line(verdict: &Verdict) -> String {
    let message = verdict.message.as_deref().map_or(String::new(), |m| format!(": {m}"));
    let message = if verdict.status.is_good() { String::new() } else { message };
    format!("{:STATUS$} {} ({}){message}", verdict.status.name(), verdict.class, duration(verdict.time))
}

pub fn counts(verdicts: &[Verdict]) -> String {
    let mut parts = vec![format!("{} models", verdicts.len())];
    for status in Status::ALL {
        let n = verdicts.iter().filter(|v| v.status == status).count();
        if n > 0 {
            parts.push(format!("{n} {}", status.name()));
        }
    }
    parts.join(", ")
}

/// What is not good, a table of the packages, then what changed.
pub fn describe(verdicts: &[Verdict], changes: Option<&[Change]>, screen: &Screen) {
    for verdict in verdicts.iter().filter(|v| !v.status.is_good()) {
        let message = verdict.message.as_deref().unwrap_or("");
        screen.say(&format!("{:STATUS$} {}: {message}", verdict.status.name(), verdict.class));
    }
    table(verdicts, screen);
    for change in changes.unwrap_or_default() {
        let word = if change.is_worse() { "WORSE" } else { "better" };
        screen.say(&format!("{word:6} {}: {} before, {} now", change.class, change.before.name(), change.now.name()));
    }
}

/// Most rows of the table, as long as packages inside of others can be counted with them.
const MOST_ROWS: usize = 40;

/// Statuses of the models in each package. Where there are very many packages, only the outer ones are told apart.
fn packages(verdicts: &[Verdict]) -> BTreeMap<&str, Vec<Status>> {
    let mut depth = verdicts.iter().map(|v| v.class.matches('.').count()).max().unwrap_or(0);
    loop {
        let mut packages: BTreeMap<&str, Vec<Status>> = BTreeMap::new();
        for verdict in verdicts {
            let dots: Vec<usize> = verdict.class.match_indices('.').map(|(at, _)| at).collect();
            let end = dots.get(depth.max(1) - 1).or(dots.last()).copied().unwrap_or(0);
            packages.entry(&verdict.class[..end]).or_default().push(verdict.status);
        }
        if packages.len() <= MOST_ROWS || depth <= 1 {
            return packages;
        }
        depth -= 1;
    }
}

/// How often each status occurs in each package; statuses that do not occur have no column.
fn table(verdicts: &[Verdict], screen: &Screen) {
    let packages = packages(verdicts);
    let shown: Vec<Status> = Status::ALL.into_iter().filter(|s| verdicts.iter().any(|v| v.status == *s)).collect();
    let width = packages.keys().map(|p| p.chars().count()).max().unwrap_or(0).max(7);
    let head: Vec<String> = shown.iter().map(|s| format!("{:>STATUS$}", s.name())).collect();
    screen.say(&format!("{:width$} {}", "package", head.join(" ")));
    for (package, statuses) in &packages {
        let count = |status: &Status| statuses.iter().filter(|s| *s == status).count();
        let cell = |n: usize| if n == 0 { format!("{:>STATUS$}", "·") } else { format!("{n:>STATUS$}") };
        let cells: Vec<String> = shown.iter().map(|s| cell(count(s))).collect();
        screen.say(&format!("{package:width$} {}", cells.join(" ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_packages_are_counted_with_those_around_them() {
        let verdict = |class: String| Verdict::new(&class, Status::Verified, String::new());
        let few: Vec<Verdict> = ["A", "P.A", "P.Q.A", "P.Q.B"].map(|c| verdict(c.to_owned())).into();
        assert_eq!(packages(&few).keys().copied().collect::<Vec<_>>(), ["", "P", "P.Q"]);
        let many: Vec<Verdict> = (0..100).map(|i| verdict(format!("P.Q{}.R{i}.A", i % 3))).collect();
        let found: Vec<(&str, usize)> = packages(&many).into_iter().map(|(name, s)| (name, s.len())).collect();
        assert_eq!(found, [("P.Q0", 34), ("P.Q1", 33), ("P.Q2", 33)]);
    }
}
