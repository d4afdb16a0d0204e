//! Order what the unknowns of the initial system begin with, so that start values may depend on parameters that this system finds.
//!
//! ```text
//! parameter Real a(fixed = false);            guesses:  a := 4
//! Real w(start = a);                   ⇒                w := a
//! initial equation a = 4;
//! ```
//!
//! In: guesses and the sorted initial system. Out: the guesses, preceded by those assignments of the initial system that they need. Where a
//! loop has to be solved for such a parameter, the guess stands in the initial system, before the loop that needs it
//! ([`guess_between_loops`]). (Specification 8.6.)

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

/// Guesses that need what loops of the initial system find, put before the loops that begin with them.
///
/// ```text
/// loop p: p^3 + p = -10                  loop p
/// loop y: y^2 = 4                 ⇒      y := p
///     y(start = p)                       loop y
/// ```
pub fn guess_between_loops(system: &System, guesses: &[Assignment], steps: &mut Vec<Step>) {
    let free: BTreeSet<SlotId> = system.parameters.free.iter().copied().collect();
    if free.is_empty() {
        return;
    }
    let found: BTreeMap<SlotId, usize> =
        steps.iter().enumerate().flat_map(|(k, step)| step.slots().into_iter().map(move |slot| (slot, k))).collect();
    let mut placed: Vec<(usize, &Assignment)> = Vec::new();
    for guess in guesses {
        let loads = system.dag.loads(&[guess.node]);
        let begins =
            found.get(&guess.slot).filter(|&&k| matches!(&steps[k], Step::Loop(l) if l.unknowns.contains(&guess.slot)));
        let Some(&begins) = begins.filter(|_| loads.iter().any(|slot| free.contains(slot))) else { continue };
        let is_known = loads.iter().all(|slot| found.get(slot).is_none_or(|&k| k < begins));
        if is_known && assignments_behind(system, guess, steps, &found).is_none() {
            placed.push((begins, guess));
        }
    }
    placed.sort_by_key(|(k, _)| std::cmp::Reverse(*k));
    for (k, guess) in placed {
        steps.insert(k, Step::Assign(guess.clone()));
    }
}
