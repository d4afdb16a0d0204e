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
//! ([`guess_between_loops`]). So does one that asks an external object which the initial system makes, because an object is
//! made once; where the loop comes before the object, it begins without this guess.
//! (Specification 8.6 and 12.9.7.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_program::SlotId;

use crate::blocks::Step;
use crate::parameters::needs;
use crate::system::{Assignment, System};

pub fn order_guesses(system: &System, guesses: Vec<Assignment>, steps: &[Step]) -> Vec<Step> {
    let free: BTreeSet<SlotId> = system.parameters.free.iter().copied().collect();
    let depends = |guess: &Assignment| needs(system, guess.node).iter().any(|slot| free.contains(slot));
    if free.is_empty() || !guesses.iter().any(depends) {
        return guesses.into_iter().map(Step::Assign).collect();
    }
    let (later, now): (Vec<_>, Vec<_>) = guesses.into_iter().partition(depends);
    let found = step_of_slot(steps);
    let objects = new_objects(system);
    let mut needed = BTreeSet::new();
    let mut possible = Vec::new();
    for guess in later {
        match behind(system, &guess, steps, &found, &objects) {
            Behind::Object => continue,
            Behind::Loop => {}
            Behind::Assignments(all) => needed.extend(all),
        }
        possible.push(guess);
    }
    let later = possible;
    let needed: Vec<Assignment> = needed.into_iter().filter_map(|k| steps[k].assignment().cloned()).collect();
    // What is found on the way needs no guess.
    let is_found = |guess: &Assignment| needed.iter().any(|assignment| assignment.slot == guess.slot);
    let (mut now, mut later) = (now, later);
    now.retain(|guess| !is_found(guess));
    later.retain(|guess| !is_found(guess));
    now.into_iter().chain(needed).chain(later).map(Step::Assign).collect()
}

/// Leaves out the guesses that ask objects which the initial system makes.
pub fn without_new_objects(system: &System, mut guesses: Vec<Assignment>, steps: &[Step]) -> Vec<Assignment> {
    let objects = new_objects(system);
    if !objects.is_empty() {
        let found = step_of_slot(steps);
        guesses.retain(|guess| !matches!(behind(system, guess, steps, &found, &objects), Behind::Object));
    }
    guesses
}

/// The external objects that functions are given and the initial system makes.
fn new_objects(system: &System) -> BTreeSet<SlotId> {
    let free: BTreeSet<SlotId> = system.parameters.free.iter().copied().collect();
    let given = system.calls.callables.values().flat_map(|c| &c.arguments).flat_map(|a| a.objects());
    given.filter(|slot| free.contains(slot)).collect()
}

fn step_of_slot(steps: &[Step]) -> BTreeMap<SlotId, usize> {
    steps.iter().enumerate().flat_map(|(k, step)| step.slots().into_iter().map(move |slot| (slot, k))).collect()
}

/// What gives a guess its value.
enum Behind {
    Assignments(BTreeSet<usize>),
    /// A loop is among the steps.
    Loop,
    /// An object has to be made, which the initial system does once.
    Object,
}

fn behind(
    system: &System,
    guess: &Assignment,
    steps: &[Step],
    found: &BTreeMap<SlotId, usize>,
    objects: &BTreeSet<SlotId>,
) -> Behind {
    let mut all = BTreeSet::new();
    let mut has_loop = false;
    let mut open = needs(system, guess.node);
    while let Some(slot) = open.pop() {
        if objects.contains(&slot) {
            return Behind::Object;
        }
        let Some(&k) = found.get(&slot) else { continue };
        match steps[k].assignment() {
            Some(assignment) if all.insert(k) => open.extend(needs(system, assignment.node)),
            Some(_) => {}
            None => has_loop = true,
        }
    }
    if has_loop { Behind::Loop } else { Behind::Assignments(all) }
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
    let found = step_of_slot(steps);
    let objects = new_objects(system);
    let mut placed: Vec<(usize, &Assignment)> = Vec::new();
    for guess in guesses {
        let loads = needs(system, guess.node);
        let begins =
            found.get(&guess.slot).filter(|&&k| matches!(&steps[k], Step::Loop(l) if l.unknowns.contains(&guess.slot)));
        let Some(&begins) = begins.filter(|_| loads.iter().any(|slot| free.contains(slot))) else { continue };
        let is_known = loads.iter().all(|slot| found.get(slot).is_none_or(|&k| k < begins));
        if is_known && !matches!(behind(system, guess, steps, &found, &objects), Behind::Assignments(_)) {
            placed.push((begins, guess));
        }
    }
    placed.sort_by_key(|(k, _)| std::cmp::Reverse(*k));
    for (k, guess) in placed {
        steps.insert(k, Step::Assign(guess.clone()));
    }
}
