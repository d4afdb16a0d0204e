//! What must be true of a sorted system before a program is made of it.
//!
//! In: a [`SortedSystem`]. Out: nothing, or what is broken, in words: at events every unknown is determined exactly once, between
//! events every continuous one; nothing is used before it is computed; loops have as many residuals as iteration variables.

use std::collections::HashMap;

use saltus_program::SlotId;

use crate::blocks::Step;
use crate::sorted::SortedSystem;
use crate::system::{System, event_unknowns};

impl SortedSystem {
    pub fn verify(&self) -> Result<(), Vec<String>> {
        let mut problems = Vec::new();
        let unknowns = event_unknowns(&self.system);
        let is_continuous = |slot: &SlotId| self.system.slots[*slot].kind.is_continuous();
        let continuous: Vec<SlotId> = unknowns.iter().copied().filter(is_continuous).collect();
        verify_order(&self.system, "events", &self.orders.events, &unknowns, &mut problems);
        verify_order(&self.system, "continuous", &self.orders.continuous, &continuous, &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

fn verify_order(system: &System, name: &str, steps: &[Step], unknowns: &[SlotId], problems: &mut Vec<String>) {
    let mut place: HashMap<SlotId, usize> = HashMap::new();
    for (i, step) in steps.iter().enumerate() {
        for slot in step.slots() {
            if place.insert(slot, i).is_some() {
                problems.push(format!("{name}: {} is determined twice", system.name(slot)));
            }
        }
        if let Step::Loop(l) = step
            && l.residuals.len() != l.unknowns.len()
        {
            let (n, m) = (l.unknowns.len(), l.residuals.len());
            problems.push(format!("{name}: a loop over {n} variables has {m} residuals"));
        }
    }
    for &slot in unknowns.iter().filter(|slot| !place.contains_key(slot)) {
        problems.push(format!("{name}: {} is not determined", system.name(slot)));
    }
    for (i, step) in steps.iter().enumerate() {
        for slot in step.loads(&system.dag) {
            let is_in_time = match place.get(&slot) {
                Some(&at) => at < i || at == i && !matches!(step, Step::Assign(_)),
                None => true,
            };
            if !is_in_time {
                problems.push(format!("{name}: {} is used before it is computed", system.name(slot)));
            }
        }
    }
}
