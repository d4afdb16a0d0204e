//! The memory of an instance: what each slot holds.

use std::borrow::Cow;
use std::ops;

use saltus_base::{IdVec, Index};

use crate::SlotId;
use crate::names::{ElementNames, Names};

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Memory {
    pub slots: Slots,
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
            slots: Slots::default(),
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

    pub fn slot_name(&self, slot: SlotId) -> Cow<'_, str> {
        if slot.index() < self.slots.len() { self.slots.name(slot) } else { Cow::Borrowed("?") }
    }

    /// The slot of the homotopy parameter, if the model uses `homotopy`.
    pub fn homotopy(&self) -> Option<SlotId> {
        self.slots.iter().find(|(_, s)| s.kind == SlotKind::Homotopy).map(|(id, _)| id)
    }
}

/// A table of slots. Their names are kept apart, those of arrays by range.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Slots {
    all: IdVec<SlotId, Slot>,
    names: Names,
}

impl Slots {
    /// Room for so many more slots, and no more.
    pub fn reserve_exact(&mut self, n: usize) {
        self.all.reserve_exact(n);
    }

    pub fn push(&mut self, name: impl Into<String>, slot: Slot) -> SlotId {
        self.names.set(self.all.len(), name.into());
        self.all.push(slot)
    }

    /// Slots that are alike for elements of an array; the first of them.
    pub fn push_elements(&mut self, names: ElementNames, slot: Slot) -> SlotId {
        let (first, n) = (self.all.next_id(), names.len());
        self.names.set_elements(self.all.len(), names);
        (0..n).for_each(|_| {
            self.all.push(slot);
        });
        first
    }

    /// For messages and dumps: `h`, `der(h)`, `pre(n)`. Of an element it is made by this call.
    pub fn name(&self, slot: SlotId) -> Cow<'_, str> {
        self.names.get(slot.index())
    }

    /// Do the names belong to these slots?
    pub(crate) fn are_sound(&self) -> bool {
        self.names.are_sound(self.all.len())
    }

    /// The first slot with this name.
    pub fn find(&self, name: &str) -> Option<SlotId> {
        self.names.find(name).map(SlotId::from_usize)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (SlotId, &mut Slot)> {
        self.all.iter_mut()
    }
}

/// Slots without names.
impl From<IdVec<SlotId, Slot>> for Slots {
    fn from(all: IdVec<SlotId, Slot>) -> Slots {
        Slots { all, names: Names::default() }
    }
}

impl ops::Deref for Slots {
    type Target = IdVec<SlotId, Slot>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl ops::Index<SlotId> for Slots {
    type Output = Slot;

    fn index(&self, slot: SlotId) -> &Slot {
        &self.all[slot]
    }
}

impl ops::IndexMut<SlotId> for Slots {
    fn index_mut(&mut self, slot: SlotId) -> &mut Slot {
        &mut self.all[slot]
    }
}

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Slot {
    pub kind: SlotKind,
    pub ty: SlotType,
    /// Before anything has been evaluated.
    pub initial: f64,
}

impl Slot {
    /// Zero before anything has been evaluated.
    pub fn new(kind: SlotKind, ty: SlotType) -> Slot {
        Slot { kind, ty, initial: 0.0 }
    }
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
