//! Rounds of an event that come back to where they were, by Brent's method: one round is kept and compared with those that follow; after
//! 1, 2, 4, … rounds the present one is kept instead.
//!
//! ```text
//! a = time >= 0.5 and not pre(a);                     a goes back and forth in a cycle of two rounds
//! n = if pre(n) < 1000 then pre(n) + 1 else pre(n);   every round is another, and the last one settles
//! ```
//!
//! What decides the next round is compared: states, discrete variables, their `pre` values, flags. Equal bits are a cycle. Solutions of loops
//! come back with other last digits; so in an event that has become long, Reals may differ by rounding if something else goes back and forth.

use std::collections::BTreeSet;

use saltus_program::{Round, SimProgram, SlotId, SlotKind, SlotType, read};

use crate::constants::{LONG_EVENT, SAME_AFTER_ROUND, SHORT_EVENT};

#[derive(Default)]
pub(crate) struct Cycle {
    /// What decides the next round, and its values in the round that is kept.
    kept: Vec<(SlotId, f64)>,
    /// When the present round is kept.
    next: usize,
    /// What has changed since the round that is kept.
    changing: BTreeSet<SlotId>,
}

impl Cycle {
    /// What goes back and forth if this round leads back to an earlier one. The first rounds cost nothing: few events have more.
    pub fn look(
        &mut self,
        program: &SimProgram,
        memory: &[f64],
        round: usize,
        last: &Round,
    ) -> Option<&BTreeSet<SlotId>> {
        if round < SHORT_EVENT {
            return None;
        }
        self.changing.extend(last.changed.iter().chain(&last.reinitialised));
        if !self.kept.is_empty() && self.is_back(program, memory, round > LONG_EVENT) {
            return Some(&self.changing);
        }
        if round >= self.next {
            self.keep(program, memory);
            self.next = 2 * round;
        }
        None
    }

    fn keep(&mut self, program: &SimProgram, memory: &[f64]) {
        if self.kept.is_empty() {
            let decides = |kind| {
                use SlotKind::{Clocked, Discrete, Flag, Pre, State};
                matches!(kind, State | Discrete | Pre | Flag | Clocked)
            };
            let slots = program.memory.slots.iter().filter(|(_, slot)| decides(slot.kind));
            self.kept = slots.map(|(id, _)| (id, 0.0)).collect();
        }
        self.kept.iter_mut().for_each(|(slot, value)| *value = read(memory, *slot));
        self.changing.clear();
    }

    fn is_back(&self, program: &SimProgram, memory: &[f64], is_long: bool) -> bool {
        let is_real = |slot: SlotId| program.memory.slots.get(slot).is_some_and(|s| s.ty == SlotType::Real);
        let is_rounded = is_long && self.changing.iter().any(|&slot| !is_real(slot));
        self.kept.iter().all(|&(slot, kept)| {
            let value = read(memory, slot);
            value.to_bits() == kept.to_bits()
                || is_rounded && is_real(slot) && (value - kept).abs() <= SAME_AFTER_ROUND * value.abs().max(kept.abs())
        })
    }
}
