//! What a flat model is for one configuration of its continuous-time state machines; data for the back end.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Span;

use crate::{Expr, VarId};

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct ActiveStates {
    pub states: Vec<MachineState>,
    /// Names of the variables that say which state of a machine is active.
    pub machines: Vec<String>,
    /// Variables of states that are not active: they keep what they were, and nothing determines them.
    pub absent: BTreeSet<VarId>,
    /// The innermost state that a variable is in, as a position in `states`.
    pub members: BTreeMap<VarId, usize>,
    pub entries: Vec<EntryEquation>,
    /// By how much relations in conditions of transitions must be exceeded.
    pub doubts: Vec<VarId>,
}

/// A state of a machine.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct MachineState {
    /// As in a key: `activeState(circle)`.
    pub text: String,
    /// Position of its machine.
    pub machine: usize,
    pub is_active: bool,
    /// Is it active after the transitions that fire?
    pub next: VarId,
    /// Set while it is being entered.
    pub enters: VarId,
    /// Do its variables begin with their start values then?
    pub resets: VarId,
    /// Does a transition lead from it to itself?
    pub reenters: VarId,
    /// When it was entered.
    pub entry_time: VarId,
    /// It has been active before.
    pub visited: VarId,
    pub span: Span,
}

/// `reinit(target, value)` where a state is entered.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct EntryEquation {
    /// Position of the state.
    pub state: usize,
    pub target: Expr,
    pub value: Expr,
    pub span: Span,
}
