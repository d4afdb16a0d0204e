//! Order what the unknowns of the initial system begin with, so that start values may depend on parameters that this system finds.
//!
//! ```text
//! parameter Real a(fixed = false);            guesses:  a := 4
//! Real w(start = a);                   ⇒                w := a
//! initial equation a = 4;
//! ```
//!
//! In: guesses and the sorted initial system. Out: the guesses, preceded by those assignments of the initial system that they need. Where a
//! loop has to be solved for such a parameter, the guess of the parameter stands for its value. (Specification 8.6.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_program::SlotId;

use crate::blocks::Step;
use crate::system::{Assignment, System};

pub fn order_guesses(system: &System, guesses: Vec<Assignment>, steps: &[Step]) -> Vec<Step> {
    let free: BTreeSet<SlotId> = system.parameters.free.iter().copied().collect();
    let depends = |guess: &Assignment| system.dag.loads(&[guess.node]).iter().any(|slot| free.contains(slot));
    if free.is_empty() || !guesses.iter().any(depends) {
        return guesses.into_iter().map(Step::Assign).collect();
    }
    let (later, now): (Vec<_>, Vec<_>) = guesses.into_iter().partition(depends);
    let found: BTreeMap<SlotId, usize> =
        steps.iter().enumerate().flat_map(|(k, step)| step.slots().into_iter().map(move |slot| (slot, k))).collect();
    let mut needed = BTreeSet::new();
    for guess in &later {
        needed.extend(assignments_behind(system, guess, steps, &found).unwrap_or_default());
    }
    let needed: Vec<Assignment> = needed.into_iter().filter_map(|k| steps[k].assignment().cloned()).collect();
    // What is found on the way needs no guess.
    let is_found = |guess: &Assignment| needed.iter().any(|assignment| assignment.slot == guess.slot);
    let (mut now, mut later) = (now, later);
    now.retain(|guess| !is_found(guess));
    later.retain(|guess| !is_found(guess));
    now.into_iter().chain(needed).chain(later).map(Step::Assign).collect()
}

/// The steps that give a guess its value; none where a loop is among them.
fn assignments_behind(
    system: &System,
    guess: &Assignment,
    steps: &[Step],
    found: &BTreeMap<SlotId, usize>,
) -> Option<BTreeSet<usize>> {
    let mut behind = BTreeSet::new();
    let mut open = system.dag.loads(&[guess.node]);
    while let Some(slot) = open.pop() {
        let Some(&k) = found.get(&slot) else { continue };
        let assignment = steps[k].assignment()?;
        if behind.insert(k) {
            open.extend(system.dag.loads(&[assignment.node]));
        }
    }
    Some(behind)
}
