//! Where the tangents and coefficients of a program lie: behind its own slots.
//!
//! ```text
//! x  der(x)  k  …  | ∂x  ∂der(x)  …  | c0  c1  …
//! ```

use saltus_base::{IdVec, Index};
use saltus_program::{Callable, CallableId, Slot, SlotId, SlotKind, SlotType};

pub(crate) struct Layout {
    pub slots: IdVec<SlotId, Slot>,
    /// By slot of the program.
    tangents: Vec<Option<SlotId>>,
    /// By slot of the program: is its tangent a zero that nobody writes?
    is_zero: Vec<bool>,
    /// By callable: can its results change?
    has_tangent: Vec<bool>,
}

impl Layout {
    pub fn new(slots: &IdVec<SlotId, Slot>, callables: &IdVec<CallableId, Callable>) -> Self {
        Layout {
            slots: slots.clone(),
            tangents: vec![None; slots.len()],
            is_zero: vec![false; slots.len()],
            // What an effect gives does not depend on its arguments in a way that could be told.
            has_tangent: callables.values().map(|c| c.effect.is_none()).collect(),
        }
    }

    /// Makes room for the tangent of a slot.
    pub fn add_tangent(&mut self, slot: SlotId) {
        if let Some(place @ None) = self.tangents.get_mut(slot.index()) {
            *place = Some(self.slots.push(real(SlotKind::Algebraic)));
        }
    }

    /// Makes room for the tangent of a slot that does not change, among others of an array that do.
    pub fn add_zero(&mut self, slot: SlotId) {
        if let (Some(None), Some(is_zero)) = (self.tangents.get(slot.index()), self.is_zero.get_mut(slot.index())) {
            *is_zero = true;
            self.add_tangent(slot);
        }
    }

    /// `None` if the slot does not change along any direction.
    pub fn tangent(&self, slot: SlotId) -> Option<SlotId> {
        self.tangent_or_zero(slot).filter(|_| !self.is_zero[slot.index()])
    }

    pub fn tangent_or_zero(&self, slot: SlotId) -> Option<SlotId> {
        self.tangents.get(slot.index()).copied().flatten()
    }

    pub fn new_coefficient(&mut self) -> SlotId {
        self.slots.push(real(SlotKind::Auxiliary))
    }

    /// Neighbouring slots; the first of them.
    pub fn new_coefficients(&mut self, n: usize) -> SlotId {
        let first = SlotId::from_usize(self.slots.len());
        (0..n).for_each(|_| _ = self.new_coefficient());
        first
    }

    /// The directional derivative of a callable: tangents of its arguments follow them, results are tangents. They are
    /// numbered behind the callables of the program.
    pub fn tangent_of_call(&self, callable: CallableId) -> Option<CallableId> {
        let is_there = self.has_tangent.get(callable.index()).copied().unwrap_or(false);
        is_there.then(|| CallableId::from_usize(self.has_tangent.len() + callable.index()))
    }

    pub fn has_tangent(&self, callable: CallableId) -> bool {
        self.has_tangent.get(callable.index()).copied().unwrap_or(false)
    }

    /// All slots, and by slot of the program its tangent if it changes along some direction.
    pub fn into_parts(mut self) -> (IdVec<SlotId, Slot>, Vec<Option<SlotId>>) {
        self.tangents.iter_mut().zip(&self.is_zero).filter(|(_, is_zero)| **is_zero).for_each(|(t, _)| *t = None);
        (self.slots, self.tangents)
    }
}

fn real(kind: SlotKind) -> Slot {
    Slot::new(kind, SlotType::Real)
}
