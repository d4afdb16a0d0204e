//! Evaluates the same code for all elements of a box in arrays.
//!
//! In: a [`Repeat`]. Out: what its elements store, one after the other, as if each were an assignment of its own.

use saltus_base::Index;
use saltus_program::{Op, Repeat, SlotId, Status, ValueId};

use crate::machine::Machine;

/// Where a load or store of the present element is, and how far the next element of the row is.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    at: usize,
    stride: isize,
}

impl Machine {
    /// Stops at the first element that stores something that is not a number.
    pub fn repeat(&mut self, repeat: &Repeat) -> Status {
        self.host.begin(0);
        let n_ops = repeat.first.code.ops.len();
        if self.values.len() < n_ops {
            self.values.resize(n_ops, 0.0);
        }
        let n_in_row = repeat.sizes.last().map_or(1, |&n| n as usize);
        for first in (0..repeat.n_elements()).step_by(n_in_row.max(1)) {
            let position = repeat.position(first);
            let place = |(slot, strides): (SlotId, &Vec<i32>)| Place {
                at: slot.index().wrapping_add_signed(Repeat::distance(strides, &position)),
                stride: strides.last().map_or(0, |&stride| stride as isize),
            };
            self.places.clear();
            self.places.extend(repeat.slots().zip(&repeat.strides).map(place));
            for _ in 0..n_in_row {
                let status = self.element(repeat);
                if !status.is_ok() {
                    return status;
                }
            }
        }
        Status::Ok
    }

    /// Evaluates and stores the element at the present places, and moves them on.
    fn element(&mut self, repeat: &Repeat) -> Status {
        let mut places = self.places.iter_mut();
        let mut next = || match places.next() {
            Some(place) => {
                let at = place.at;
                place.at = at.wrapping_add_signed(place.stride);
                at
            }
            None => usize::MAX,
        };
        for (i, op) in repeat.first.code.ops.iter().enumerate() {
            let (before, rest) = self.values.split_at_mut(i);
            let value = |v: ValueId| before.get(v.0 as usize).copied().unwrap_or(f64::NAN);
            rest[0] = match *op {
                Op::Const(constant) => constant,
                Op::Load(_) => self.memory.get(next()).copied().unwrap_or(f64::NAN),
                Op::Unary(function, a) => function.apply(value(a)),
                Op::Binary(function, a, b) => function.apply(value(a), value(b)),
                Op::Select(condition, a, b) => value(if value(condition) != 0.0 { a } else { b }),
                // There are none.
                Op::Call(_) | Op::Result(..) => f64::NAN,
            };
        }
        let mut status = Status::Ok;
        let n_loads = repeat.n_loads();
        for (k, &(value, _)) in repeat.first.stores.iter().enumerate() {
            let Place { at, stride } = self.places[n_loads + k];
            self.places[n_loads + k].at = at.wrapping_add_signed(stride);
            let stored = self.value(value);
            let Some(place) = self.memory.get_mut(at) else { continue };
            *place = stored;
            let slot = SlotId::from_usize(at);
            if !stored.is_finite() && status.is_ok() && !self.is_fine(stored, slot) {
                status = Status::NotANumber(slot);
            }
        }
        status
    }
}

#[cfg(test)]
mod tests;
