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
    /// By callable: can its results change?
    has_tangent: Vec<bool>,
}

impl Layout {
    pub fn new(slots: &IdVec<SlotId, Slot>, callables: &IdVec<CallableId, Callable>) -> Self {
        Layout {
            // Nobody sees the names.
            slots: slots.values().map(|s| Slot { name: String::new(), ..*s }).collect(),
            tangents: vec![None; slots.len()],
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

    /// `None` if the slot does not change along any direction.
    pub fn tangent(&self, slot: SlotId) -> Option<SlotId> {
        self.tangents.get(slot.index()).copied().flatten()
    }

    pub fn new_coefficient(&mut self) -> SlotId {
        self.slots.push(real(SlotKind::Auxiliary))
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

    pub fn into_parts(self) -> (IdVec<SlotId, Slot>, Vec<Option<SlotId>>) {
        (self.slots, self.tangents)
    }
}

fn real(kind: SlotKind) -> Slot {
    Slot { name: String::new(), kind, ty: SlotType::Real, initial: 0.0 }
}
