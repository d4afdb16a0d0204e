//! Configurations: programs of one model for different positions of switches that change its structure.
//!
//! ```text
//! if locked then w1 = w2; else tau = 0; end if;      locked = false: w1 and w2 are states
//!                                                    locked = true:  one of them is, tau follows from the constraint
//! ```
//!
//! A program for one position evaluates the conditions all the same: where one of them has another value after an event, the run
//! goes on in another configuration. [`Entry`] says how that one is entered.

use std::collections::BTreeMap;
use std::fmt;

use saltus_base::Span;

use crate::{RelationId, SlotId};

/// Positions of the switches that a program was made for, by their texts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Key(pub BTreeMap<String, bool>);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let positions = self.0.iter().map(|(text, is_on)| format!("{text}: {is_on}"));
        f.write_str(&positions.collect::<Vec<_>>().join(", "))
    }
}

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Configuration {
    pub switches: Vec<Switch>,
    /// Conditions that may change the structure together with others, in whatever position they are: the program has equations for both.
    /// `is_on` has no meaning for them.
    pub candidates: Vec<Switch>,
    /// The first slots of the memory are the same in all configurations of a model: so many.
    pub n_common: usize,
    /// The structural index: one more than the most differentiations of an equation.
    pub index: u32,
    /// It has a section for the start.
    pub can_start: bool,
    pub entry: Entry,
    /// Variables that the equations leave open, each with an equation: an ideal element has no effect beside others, as one of two closed
    /// switches in parallel. They have the values of its other position.
    pub free: Vec<(SlotId, Span)>,
    /// States of machines, each with its switch.
    pub regions: Vec<Region>,
    /// Names of the variables that say which state of a machine is active.
    pub machines: Vec<String>,
    /// Relations in conditions of transitions, with the slots of the amounts by which they must be exceeded.
    pub doubts: Vec<(RelationId, SlotId)>,
    /// Slots of variables that have no value in this configuration. Sorted.
    pub absent: Vec<SlotId>,
    /// What its active states ask of the integration.
    pub integration: Integration,
}

/// How a configuration is integrated, where that is not as the options of the run say.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Integration {
    /// The method, as on a command line.
    pub solver: Option<String>,
    /// Relative tolerance.
    pub tolerance: Option<f64>,
}

impl Configuration {
    /// Does the structure certainly depend on conditions? Those that are only candidates may never change it.
    pub fn changes_structure(&self) -> bool {
        !self.switches.is_empty()
    }

    pub fn key(&self) -> Key {
        Key(self.switches.iter().map(|s| (s.text.clone(), s.is_on)).collect())
    }
}

/// A condition that decides about the structure.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Switch {
    pub text: String,
    /// Its value at events.
    pub condition: SlotId,
    /// The value that the program was made for.
    pub is_on: bool,
    /// It depends on continuous variables: what is solved for at an instant may move it. Others are what they are.
    pub is_moved: bool,
    pub span: Span,
}

/// What impulses say about a switch.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Verdict {
    pub position: SlotId,
    /// Is it an impulse that decides, or what is finite?
    pub is_decided: SlotId,
}

/// A state of a continuous-time state machine.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Region {
    /// Position of its machine.
    pub machine: usize,
    /// Position of its switch: is it active after the transitions that fire?
    pub switch: usize,
    /// Set by the driver while it is being entered.
    pub enters: SlotId,
    /// Do its variables begin with their start values then?
    pub resets: SlotId,
    /// A transition leads from it to itself.
    pub reenters: SlotId,
    /// When it was entered.
    pub entry_time: SlotId,
    /// It has been active before.
    pub visited: SlotId,
    /// It was active when its machine was left.
    pub remembered: SlotId,
    /// Entry equations say with which values it begins.
    pub has_entries: bool,
    /// The model differentiates variables of it.
    pub has_states: bool,
    /// Conditions of its `when` clauses: what holds where it is entered does not become true there.
    pub conditions: Vec<SlotId>,
}

/// What jumps where the configuration is entered: the limit of one implicit Euler step of length 0. The section `entry` of the
/// program computes it.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// Variables that may jump, and where their values before go.
    pub jumps: Vec<(SlotId, SlotId)>,
    /// Variables that may be infinite for an instant, and the slots of their integrals over it.
    pub impulses: Vec<(SlotId, SlotId)>,
    /// The positions of the switches as impulses decide about them, in the order of the switches.
    pub positions: Vec<Verdict>,
    /// Constraints between variables that do not jump.
    pub constraints: Vec<Constraint>,
    /// Conditions of an arrival that constraints leave nothing to determine.
    pub arrivals: Vec<Constraint>,
    /// An equation in which impulses occur in another way than linearly.
    pub undetermined: Option<Span>,
}

/// An equation that must hold already. The slots are stored in the section `entry`.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Constraint {
    pub left: SlotId,
    pub right: SlotId,
    /// The sum of the absolute values of its terms.
    pub size: SlotId,
    pub text: String,
    pub span: Span,
}
