//! The audit of a run, between the simulation that shows its points and the auditor that evaluates equations there; its report as
//! a text.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use saltus_audit::{Finding, Report};

use saltus_audit::{Auditor, KnownDerivative, Layout, Options};
use saltus_backend::{Derivative, SortedSystem};
use saltus_base::SourceMap;
use saltus_flat::FlatModel;
use saltus_sim::{Jump, Moment, Witness};

use crate::{Model, Permissions};

/// How strict and how thorough an audit is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// A residual above this part of the terms of its equation is a finding.
    pub bound: f64,
    /// Audit about so many output points, and of many events a few; everything if there is no limit.
    pub points: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { bound: Options::default().bound, points: None }
    }
}

/// Of as many events one after the other as this part of the output points.
const BURST: u64 = 4;

impl Settings {
    pub(crate) fn options(self, n_points: u64) -> Options {
        let stride = self.points.map_or(1, |most| n_points.div_ceil(most.max(1)));
        Options { bound: self.bound, stride, burst: self.points.map(|most| (most / BURST).max(1)) }
    }
}

/// Where a program has what its table of variables does not tell.
pub(crate) fn layout(sorted: &SortedSystem) -> Layout {
    let known = |d: Derivative| KnownDerivative { variable: d.variable, derivative: d.slot, is_negated: d.is_negated };
    Layout { derivatives: sorted.derivatives().into_iter().map(known).collect(), negatives: sorted.negatives() }
}

/// Clones share what they have found.
#[derive(Clone)]
pub(crate) struct Audit {
    auditor: Arc<Mutex<Auditor>>,
}

impl Audit {
    pub fn new(
        flat: Arc<FlatModel>,
        model: &Model,
        layout: &Layout,
        permissions: Permissions,
        options: Options,
    ) -> Audit {
        let mut auditor = Auditor::new(flat, model.program(), layout, options);
        auditor.set_outside(Box::new(model.resources(permissions)));
        Audit { auditor: Arc::new(Mutex::new(auditor)) }
    }

    pub fn witness(&self) -> Box<dyn Witness> {
        Box::new(self.clone())
    }

    pub fn report(&self) -> Report {
        self.lock().report()
    }

    fn lock(&self) -> MutexGuard<'_, Auditor> {
        self.auditor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Witness for Audit {
    fn see(&mut self, moment: Moment, memory: &[f64]) {
        self.lock().see(moment, memory);
    }

    fn jumped(&mut self, jump: &Jump) {
        self.lock().jumped(&jump.before, &jump.after, &jump.impulses);
    }
}

/// Findings below the bound that are listed.
const LISTED: usize = 5;

/// What was audited, what was not and why, and the largest residuals.
///
/// ```text
/// audit: 12 of 14 equations at 501 points and 3 events, largest residual 2.3e-16 of its terms (bound 1e-6)
///   2 equations not audited: `delay`, first at Line.mo:14:3
///   2.3e-16  Line.mo:9:3 in `a`, at time 0.4 at an output point
/// ```
pub fn text(report: &Report, sources: &SourceMap) -> String {
    let place = |span, component: &str| {
        let at = sources.location(span).unwrap_or_else(|| "nowhere".to_owned());
        if component.is_empty() { at } else { format!("{at} in `{component}`") }
    };
    let mut text = format!(
        "audit: {} of {} equations at {} points{} {} events{}, largest residual {:.1e} of its terms (bound {:e})",
        report.n_audited,
        report.n_equations,
        report.points,
        if report.entries > 0 { "," } else { " and" },
        report.events,
        if report.entries > 0 { format!(" and {} entries", report.entries) } else { String::new() },
        report.largest(),
        report.bound
    );
    let mut line = |line: String| {
        let _ = write!(text, "\n  {line}");
    };
    for group in &report.not_audited {
        let first = group.first.as_ref().map(|(span, component)| place(*span, component)).unwrap_or_default();
        line(format!("{} not audited: {}, first at {first}", count(group.n, "equation"), group.reason));
    }
    if report.n_idle > 0 {
        line(format!("{} in branches that were never active", count(report.n_idle, "equation")));
    }
    if report.sliding > 0 {
        line(format!("{} on a slide along a threshold not audited", count(report.sliding as usize, "point")));
    }
    let (points, events) = report.skipped;
    if points + events > 0 {
        line(format!("{points} points and {events} events left out"));
    }
    for finding in report.findings.iter().take(LISTED) {
        let at = place(finding.span, &finding.component);
        let note = finding.residual.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
        line(format!(
            "{:.1e}  {at}, at time {} {}{note}",
            finding.residual.relative,
            finding.time,
            finding.side.name()
        ));
    }
    text
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
