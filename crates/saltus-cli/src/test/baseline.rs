//! The list of an earlier run, and what changed since.
//!
//! One line a model, in the order of their names; `#` begins a comment:
//!
//! ```text
//! verified P.Examples.Ball
//! different P.Examples.Chain
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use saltus::diagnostics;
use saltus::suite::{Status, Verdict};

use crate::{Exit, Screen, files};

/// What `--save` writes.
pub fn text(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    for verdict in verdicts {
        let _ = writeln!(text, "{} {}", verdict.status.name(), verdict.class);
    }
    text
}

/// A model whose status is not what it was.
pub struct Change {
    pub class: String,
    pub before: Status,
    pub now: Status,
}

impl Change {
    pub fn is_worse(&self) -> bool {
        self.now < self.before
    }
}

pub struct Baseline {
    statuses: BTreeMap<String, Status>,
}

impl Baseline {
    pub fn read(path: &Path, screen: &Screen) -> Result<Baseline, Exit> {
        let text = files::read(path).map_err(|error| screen.fail(&error))?;
        Baseline::parse(&text)
            .map_err(|line| screen.fail(&diagnostics::bad_baseline(&path.display().to_string(), line + 1)))
    }

    /// An error is the index of a line that is none of a baseline.
    fn parse(text: &str) -> Result<Baseline, usize> {
        let mut statuses = BTreeMap::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                let (status, class) = line.split_once(char::is_whitespace).ok_or(i)?;
                statuses.insert(class.trim().to_owned(), Status::from_name(status).ok_or(i)?);
            }
        }
        Ok(Baseline { statuses })
    }

    /// What is not as it was; a model that `is_chosen` and was not run is missing now.
    pub fn changes(&self, verdicts: &[Verdict], is_chosen: &dyn Fn(&str) -> bool) -> Vec<Change> {
        let now: BTreeMap<&str, Status> = verdicts.iter().map(|v| (v.class.as_str(), v.status)).collect();
        let chosen = self.statuses.iter().filter(|(class, _)| is_chosen(class));
        let change = |(class, before): (&String, &Status)| {
            let now = now.get(class.as_str()).copied().unwrap_or(Status::Missing);
            (now != *before).then(|| Change { class: class.clone(), before: *before, now })
        };
        chosen.filter_map(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_status_and_a_name_a_line() {
        let baseline = Baseline::parse("# made by hand\n\nverified P.A\nwrong  P.B # why\n").expect("a baseline");
        assert_eq!(baseline.statuses["P.A"], Status::Verified);
        assert_eq!(baseline.statuses["P.B"], Status::Wrong);
        assert_eq!(Baseline::parse("verified P.A\nvery good P.B").err(), Some(1));
        assert_eq!(Baseline::parse("{}").err(), Some(0));
    }

    #[test]
    fn a_model_that_is_not_run_any_more_got_worse() {
        let baseline = Baseline::parse("verified P.A\nverified Q.A").expect("a baseline");
        let changes = baseline.changes(&[], &|class| class.starts_with("P."));
        assert_eq!(changes.len(), 1);
        assert!(changes[0].class == "P.A" && changes[0].now == Status::Missing && changes[0].is_worse());
    }
}
