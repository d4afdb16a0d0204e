//! The audits of many models: what was found, and what of it is known.
//!
//! One finding a line, the model and the place; what follows `#` says why:
//!
//! ```text
//! P.Examples.Chain  Link.mo:14  # the slack of a rope is not an equation, see there
//! ```

use std::collections::BTreeSet;
use std::path::Path;

use saltus::diagnostics;
use saltus::suite::{Audited, Verdict};

use crate::{Exit, Screen, files};

/// Findings that are explained.
#[derive(Default)]
pub struct Known(BTreeSet<(String, String)>);

impl Known {
    pub fn read(path: &Path, screen: &Screen) -> Result<Known, Exit> {
        let text = files::read(path).map_err(|error| screen.fail(&error))?;
        Known::parse(&text)
            .map_err(|line| screen.fail(&diagnostics::bad_baseline(&path.display().to_string(), line + 1)))
    }

    /// An error is the index of a line that is none of a list.
    fn parse(text: &str) -> Result<Known, usize> {
        let mut known = BTreeSet::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                let (class, place) = line.split_once(char::is_whitespace).ok_or(i)?;
                known.insert((class.to_owned(), place.trim().to_owned()));
            }
        }
        Ok(Known(known))
    }

    /// Equations of a model that do not hold and are not in the list, a line each.
    pub fn new_findings<'a>(&'a self, verdict: &'a Verdict) -> impl Iterator<Item = String> + 'a {
        let violations = verdict.audit.iter().flat_map(|audit| &audit.violations);
        let new = violations.filter(|(place, _)| !self.has(&verdict.class, place));
        new.map(|(place, message)| format!("AUDIT {} {place}: {message}", verdict.class))
    }

    fn has(&self, class: &str, place: &str) -> bool {
        self.0.contains(&(class.to_owned(), place.to_owned()))
    }
}

/// Shows every equation that does not hold and is not known, and what all audits together come to; true if there is nothing new.
pub fn describe(verdicts: &[Verdict], known: &Known, screen: &Screen) -> bool {
    let audited = || verdicts.iter().filter_map(|v| Some((v, v.audit.as_ref()?)));
    let new: Vec<String> = verdicts.iter().flat_map(|verdict| known.new_findings(verdict)).collect();
    new.iter().for_each(|finding| screen.say(finding));
    let sum = |of: fn(&Audited) -> usize| audited().map(|(_, audit)| of(audit)).sum::<usize>();
    let clean = audited().filter(|(_, audit)| audit.violations.is_empty());
    let largest = clean.map(|(_, audit)| audit.report.largest()).fold(0.0, f64::max);
    let n_found = sum(|a| a.violations.len());
    let n_known = n_found - new.len();
    screen.say(&format!(
        "audit: {} models, {} of {} equations; {n_found} do not hold ({n_known} known), the others to {largest:.1e} of their terms",
        audited().count(),
        sum(|a| a.report.n_audited),
        sum(|a| a.report.n_equations),
    ));
    new.is_empty()
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn a_known_finding_has_a_model_and_a_place() {
        let known = Known::parse("# all of them\nP.A  Link.mo:14  # why\n").unwrap_or_default();
        assert!(known.has("P.A", "Link.mo:14") && !known.has("P.A", "Link.mo:15") && !known.has("P.B", "Link.mo:14"));
        assert_eq!(Known::parse("P.A").err(), Some(0));
    }
}
