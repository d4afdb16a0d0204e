//! What interrupts the integration, and what is looked at when it does.

use saltus_base::{IdVec, Span};
use saltus_flat::{FunctionId, Type};

use crate::{RelationId, SlotId};

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Events {
    pub relations: IdVec<RelationId, Relation>,
    pub time_events: Vec<TimeEvent>,
    pub samples: Vec<Sample>,
    pub reinits: Vec<Reinit>,
    pub assertions: Vec<Assertion>,
    /// Relations in the conditions of assertions. They make no events: a run looks for their changes to notice violations when they
    /// happen. Their functions are stored in the output section, their memory is set by the driver.
    pub bounds: IdVec<RelationId, Relation>,
    pub terminations: Vec<Termination>,
    pub initial_checks: Vec<InitialCheck>,
    /// Discrete slots that the derivatives depend on: an event that changes none of them and no state does not
    /// disturb the integrator.
    pub derivative_modes: Vec<SlotId>,
}

/// `left op right` with a continuous operand. Its memory keeps the value of the last event; `crossing` holds
/// `left - right`, and `scale` the magnitude of the operands: max(|left|, |right|), at least their nominal value.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Relation {
    pub op: RelationOp,
    pub memory: SlotId,
    pub crossing: SlotId,
    pub scale: SlotId,
    /// The usual magnitude of its operands, by the nominal values of their variables.
    pub nominal: f64,
    /// Where no nominal value says anything: what takes its place in `scale`. The driver moves it to the magnitudes that occur.
    pub usual: Option<SlotId>,
    /// As in the source: `h < 0.0`.
    pub text: String,
    pub span: Span,
}

/// Up to this times the magnitude of its operands the difference of a relation is rounding: either value will do.
pub const RELATION_BAND: f64 = 1000.0 * f64::EPSILON;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum RelationOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl RelationOp {
    /// The value of the relation for `z = left - right`.
    #[inline]
    pub fn holds(self, z: f64) -> bool {
        match self {
            RelationOp::Less => z < 0.0,
            RelationOp::LessEqual => z <= 0.0,
            RelationOp::Greater => z > 0.0,
            RelationOp::GreaterEqual => z >= 0.0,
        }
    }

    /// Is the relation true for negative z?
    #[inline]
    pub fn is_true_below(self) -> bool {
        matches!(self, RelationOp::Less | RelationOp::LessEqual)
    }
}

/// A relation of `time` with something that changes at events only.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct TimeEvent {
    /// Stored in the event section.
    pub threshold: SlotId,
    /// The relation changes only after the threshold (`time > t`), not at it (`time >= t`).
    pub is_strict: bool,
    pub memory: SlotId,
    pub text: String,
    pub span: Span,
}

impl TimeEvent {
    /// The smallest time at which the relation has changed.
    pub fn key(&self, threshold: f64) -> f64 {
        if self.is_strict { threshold.next_up() } else { threshold }
    }
}

/// `sample(start, interval)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Sample {
    /// Slots that hold the two arguments after the parameter section.
    pub start: SlotId,
    pub interval: SlotId,
    /// 1 in the first round of an event at a tick.
    pub active: SlotId,
    /// Number of the next tick.
    pub tick: SlotId,
    pub span: Span,
}

/// `reinit(state, …)` in a `when`; both slots are stored in the event section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Reinit {
    pub state: SlotId,
    pub active: SlotId,
    pub value: SlotId,
    pub span: Span,
}

/// `assert(condition, message)`; the condition is stored in the output section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Assertion {
    pub condition: SlotId,
    /// The relations that the condition is made of, those with the same operands as one.
    pub bounds: Vec<RelationId>,
    pub message: Message,
    pub is_warning: bool,
    pub span: Span,
    /// Of an assertion in a function: where it is called, from the inside out, with a remark each.
    pub calls: Vec<(Span, String)>,
}

/// A text for the user.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Message {
    Text(String),
    /// Evaluated when it is shown, by a procedure whose inputs are the holes. What a hole shows is stored in the output
    /// section.
    Template {
        as_written: String,
        text: FunctionId,
        holes: Vec<(Type, Vec<SlotId>)>,
    },
}

impl Message {
    /// Without values: the source of what is not known.
    pub fn as_written(&self) -> &str {
        match self {
            Message::Text(text) => text,
            Message::Template { as_written, .. } => as_written,
        }
    }
}

/// `terminate(message)` in a `when`; `active` is stored in the event section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Termination {
    pub active: SlotId,
    pub message: Message,
    pub span: Span,
}

/// An initial condition that the other equations leave nothing to determine: after initialisation it must hold. Both slots
/// are stored in the initial section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct InitialCheck {
    pub left: SlotId,
    pub right: SlotId,
    pub text: String,
    pub span: Span,
}
