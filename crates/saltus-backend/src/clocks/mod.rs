//! Clocked partitions (specification, chapter 16): find them, infer their clocks, sort their equations.
//!
//! ```text
//! u = sample(x, Clock(1, 10));             partition on the clock 1/10:   port := x; u := port; y := previous(y) + u
//! y = previous(y) + u;             ⇒       unclocked:                     z := y
//! z = hold(y);
//! ```
//!
//! Each clock operator becomes a slot of its own, a *port*: what the operator is applied to and where its value is used belong
//! to different partitions, and the equations around it stay ordinary equations. A clock is a slot as well, which
//! connects everything that is associated with it. [`survey`] lowers the model once without looking at clocks to see
//! which equations are clocked; [`partition`] groups them and infers their clocks; [`solve`] sorts each base-partition,
//! after [`discretize`] has replaced derivatives by a solver method. Design: docs/design/clocks.md.

mod discretize;
pub mod emit;
mod operators;
pub mod partition;
pub mod reinits;
pub mod solve;
pub mod survey;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use saltus_base::Span;
use saltus_clocks::{ConversionKind, Rational};
use saltus_program::SlotId;

use crate::dag::NodeId;
use crate::system::ScalarEquation;

/// What lowering finds out about clocks.
#[derive(Default)]
pub struct Clocks {
    /// An equation of a clocked partition is being lowered: new slots are clocked.
    pub is_active: bool,
    /// Nothing is known about partitions yet: `hold` yields a port, too.
    pub is_survey: bool,
    /// Slots that stand for clocks.
    pub clock_slots: BTreeSet<SlotId>,
    pub samples: Vec<SamplePort>,
    pub conversions: Vec<ConversionPort>,
    pub queries: Vec<QueryPort>,
    pub constructors: Vec<Constructor>,
    /// Solver methods that are associated with clocks.
    pub solvers: Vec<(SlotId, String, Span)>,
    /// Nodes of equations in a `when` with a clock, and that clock.
    pub associations: Vec<(Vec<NodeId>, SlotId)>,
    /// Variables under `previous`.
    pub previous: BTreeSet<SlotId>,
    /// Equations of the unclocked part that clock operators have introduced.
    pub outside: Vec<ScalarEquation>,
    pub equations: Vec<ClockedEquation>,
}

/// An equation of a clocked partition.
#[derive(Clone, Debug)]
pub struct ClockedEquation {
    pub equation: ScalarEquation,
    /// Equations with the same number belong to one partition though they may share no variable.
    pub whole: Option<usize>,
}

/// `port = sample(value, clock)`
#[derive(Clone, Debug)]
pub struct SamplePort {
    pub port: SlotId,
    /// In the unclocked partition.
    pub value: NodeId,
    pub clock: Option<SlotId>,
    pub span: Span,
}

/// `port = subSample(source, factor)` and the like, between variables or between clocks.
#[derive(Clone, Debug)]
pub struct ConversionPort {
    pub port: SlotId,
    pub source: SlotId,
    pub kind: ConversionKind,
    pub text: String,
    pub span: Span,
}

/// `port = interval(argument)` or `port = firstTick(argument)`
#[derive(Clone, Debug)]
pub struct QueryPort {
    pub port: SlotId,
    pub query: Query,
    pub argument: Vec<NodeId>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Query {
    Interval,
    FirstTick,
}

/// `clock = Clock(…)`
#[derive(Clone, Debug)]
pub struct Constructor {
    pub clock: SlotId,
    pub kind: ConstructorKind,
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum ConstructorKind {
    /// `Clock(n, resolution)` with constants.
    Rational(Rational),
    /// `Clock(interval)` with a parameter.
    Period(SlotId),
    /// `Clock(n, resolution)` or `Clock(interval)` with a clocked variable.
    Intervals { interval: SlotId, resolution: f64 },
    /// `Clock(condition, startInterval)`
    Events { condition: SlotId, start_interval: SlotId },
}
