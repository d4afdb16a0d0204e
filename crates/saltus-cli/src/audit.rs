//! What `--audit` shows: the equations that do not hold as errors, and the report.

use saltus::audit::{self, Report, Settings};
use saltus::diagnostics;

use crate::Screen;
use crate::target::Run;

/// Equations that do not hold and are shown with their sources.
const SHOWN: usize = 5;

pub fn settings(bound: Option<f64>) -> Settings {
    let usual = Settings::default();
    Settings { bound: bound.unwrap_or(usual.bound), ..usual }
}

/// Shows a report; true if all equations hold.
pub fn show(report: &Report, run: &Run, screen: &Screen) -> bool {
    let violations = report.violations();
    run.session.with_sources(|sources| {
        violations.iter().take(SHOWN).for_each(|finding| screen.show(&diagnostics::unsatisfied(finding), sources));
        if violations.len() > SHOWN {
            screen.note(&format!("… and {} more equations that do not hold", violations.len() - SHOWN));
        }
        screen.say(&audit::text(report, sources));
    });
    violations.is_empty()
}
