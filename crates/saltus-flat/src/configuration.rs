//! What a flat model is for one configuration of its continuous-time state machines; data for the back end.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Span;

use crate::count::component_of;
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
    /// Where states that are active or not were entered: constant in between.
    pub origins: Vec<Origin>,
    /// States that are active and linear: positions in `states`.
    pub linearized: Vec<usize>,
    /// By how much relations in conditions of transitions must be exceeded.
    pub doubts: Vec<VarId>,
}

impl ActiveStates {
    /// The innermost state that is linearised and has the component in it.
    pub fn linearized_around(&self, component: &str) -> Option<usize> {
        let inside = self.linearized.iter().copied().filter(|&k| is_inside(component, self.states[k].name()));
        inside.max_by_key(|&k| self.states[k].name().len())
    }
}

/// Is a component another one, or in it?
pub fn is_inside(component: &str, other: &str) -> bool {
    let mut at = component;
    while !at.is_empty() {
        if at == other {
            return true;
        }
        at = component_of(at);
    }
    false
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
    /// Of the states of its machine it was the last one that was active.
    pub remembered: VarId,
    pub span: Span,
}

impl MachineState {
    /// The name of the component.
    pub fn name(&self) -> &str {
        self.text.strip_prefix("activeState(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&self.text)
    }
}

/// What a variable was where a state was entered.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    /// Position of the state.
    pub state: usize,
    pub of: VarId,
    /// Of the derivative of `of`.
    pub is_derivative: bool,
    pub value: VarId,
}

/// What the annotation `__Saltus(…)` of a component asks for while it is an active state of a machine.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Treatment {
    /// It is entered as the linear model at the present point.
    pub is_linearized: bool,
    /// Integration method, as on a command line.
    pub solver: Option<String>,
    /// Relative tolerance.
    pub tolerance: Option<f64>,
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
