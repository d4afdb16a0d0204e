//! What an audit found.

use std::sync::Arc;

use saltus_base::Span;

use crate::residuals::Residual;

/// Where a residual was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// After the initial system was solved.
    Start,
    /// At an output point.
    Between,
    /// Before an event, in a round of it, after it.
    Before,
    During,
    After,
    /// Integrated over the jump where a configuration was entered.
    Jump,
}

impl Side {
    pub fn name(self) -> &'static str {
        match self {
            Side::Start => "at the start",
            Side::Between => "at an output point",
            Side::Before => "before an event",
            Side::During => "during an event",
            Side::After => "after an event",
            Side::Jump => "integrated over a jump",
        }
    }
}

/// The largest residual of an equation.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    pub span: Span,
    /// The component that the equation belongs to, or the variable whose declaration it is.
    pub component: Arc<str>,
    /// The value of a parameter.
    pub is_parameter: bool,
    pub time: f64,
    pub side: Side,
    pub residual: Residual,
}

/// Equations that were not audited for the same reason.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Group {
    pub reason: String,
    pub n: usize,
    pub first: Option<(Span, Arc<str>)>,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Report {
    pub bound: f64,
    pub n_equations: usize,
    pub n_audited: usize,
    /// In branches that were never active.
    pub n_idle: usize,
    /// Output points, events, and points on slides, which solve no equation.
    pub points: u64,
    pub events: u64,
    /// Entries of configurations over which equations were integrated.
    pub entries: u64,
    pub sliding: u64,
    /// Output points and events that were left out.
    pub skipped: (u64, u64),
    pub not_audited: Vec<Group>,
    /// The largest residual of every equation that has one, the largest first.
    pub findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn sort(&mut self) {
        // Those without a residual say nothing.
        self.findings.retain(|f| f.residual.relative > 0.0);
        let place = |f: &Finding| (f.span.file, f.span.start);
        let order = |a: &Finding, b: &Finding| {
            b.residual.relative.total_cmp(&a.residual.relative).then_with(|| place(a).cmp(&place(b)))
        };
        self.findings.sort_by(order);
    }

    /// Equations whose residual is above the bound.
    pub fn violations(&self) -> &[Finding] {
        let n = self.findings.iter().take_while(|f| f.residual.relative > self.bound).count();
        &self.findings[..n]
    }

    /// The largest relative residual.
    pub fn largest(&self) -> f64 {
        self.findings.first().map_or(0.0, |f| f.residual.relative)
    }

    pub fn n_not_audited(&self) -> usize {
        self.not_audited.iter().map(|group| group.n).sum()
    }
}
