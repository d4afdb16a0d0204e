//! The memory of an instance: what each slot holds.

use saltus_base::IdVec;

use crate::SlotId;

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Memory {
    pub slots: IdVec<SlotId, Slot>,
    pub time: SlotId,
    /// The value of `initial()`.
    pub initial: SlotId,
    /// The value of `terminal()`.
    pub terminal: SlotId,
    /// Variable and the slot of its `pre` value.
    pub pre: Vec<(SlotId, SlotId)>,
    /// Input and the slot of its derivative, where equations need that.
    pub input_derivatives: Vec<(SlotId, SlotId)>,
    /// Parameters whose values the program was made for: another value needs another program. Sorted.
    pub structural: Vec<SlotId>,
}

impl Memory {
    /// No slots, not even for the time and the two flags.
    pub fn empty() -> Memory {
        let none = <SlotId as saltus_base::Index>::from_usize(0);
        Memory {
            slots: IdVec::new(),
            time: none,
            initial: none,
            terminal: none,
            pre: Vec::new(),
            input_derivatives: Vec::new(),
            structural: Vec::new(),
        }
    }

    /// The memory of a new instance.
    pub fn initial_memory(&self) -> Vec<f64> {
        self.slots.values().map(|s| s.initial).collect()
    }

    pub fn slot_name(&self, slot: SlotId) -> &str {
        self.slots.get(slot).map_or("?", |s| &s.name)
    }

    /// The slot of the homotopy parameter, if the model uses `homotopy`.
    pub fn homotopy(&self) -> Option<SlotId> {
        self.slots.iter().find(|(_, s)| s.kind == SlotKind::Homotopy).map(|(id, _)| id)
    }
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Slot {
    /// For messages and dumps: `h`, `der(h)`, `pre(n)`.
    pub name: String,
    pub kind: SlotKind,
    pub ty: SlotType,
    /// Before anything has been evaluated.
    pub initial: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum SlotKind {
    Time,
    /// `initial()`, `terminal()`, `sample(…)`: set by the driver.
    Flag,
    Parameter,
    /// Given from outside.
    Input,
    State,
    Derivative,
    /// A continuous variable that is not a state.
    Algebraic,
    /// Changes at events only; also relations, conditions and thresholds that the compiler introduced.
    Discrete,
    /// Belongs to a clocked partition: changes at ticks only.
    Clocked,
    Pre,
    /// A crossing function or another value for the driver.
    Auxiliary,
    /// λ of `homotopy(actual, simplified)` = λ·actual + (1 − λ)·simplified; 1 except where the driver moves it.
    Homotopy,
}

impl SlotKind {
    /// May its value change between events?
    pub fn is_continuous(self) -> bool {
        matches!(
            self,
            SlotKind::Time
                | SlotKind::Input
                | SlotKind::State
                | SlotKind::Derivative
                | SlotKind::Algebraic
                | SlotKind::Auxiliary
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum SlotType {
    Real,
    Integer,
    Boolean,
    /// The value is the ordinal, from 1.
    Enumeration,
}
