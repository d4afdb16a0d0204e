//! Put the steps of families where what they need has been computed.
//!
//! In: steps of scalars, sorted as if what families determine were known, and the steps of families. Out: both in an order in which each
//! finds what it needs, as near to the order of the scalars as possible; none if they need each other in a circle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use saltus_base::Index;
use saltus_program::SlotId;

use super::FamilyStep;
use crate::alias::Aliases;
use crate::blocks::Step;
use crate::system::{Assignment, System};

const NOBODY: u32 = u32::MAX;

/// Steps for elements that families read and that were replaced by what they equal: they have values of their own.
pub fn copies(system: &mut System, aliases: &Aliases, families: &[FamilyStep]) -> Vec<Step> {
    let mut is_read = vec![false; system.slots.len()];
    for family in families {
        family.each_load(&system.dag, &mut |slot| is_read[slot.index()] = true);
    }
    let read: Vec<SlotId> = aliases.iter().filter(|slot| is_read[slot.index()]).collect();
    let copy = |slot: SlotId| {
        let alias = aliases.resolve(slot);
        let value = system.load(alias.slot);
        let node = if alias.is_negated { system.dag.negate(value) } else { value };
        Step::Assign(Assignment { slot, node, span: saltus_base::Span::nowhere() })
    };
    read.into_iter().map(copy).collect()
}

/// All steps in order.
pub fn weave(system: &System, scalars: Vec<Step>, families: Vec<Step>) -> Option<Vec<Step>> {
    let steps: Vec<Step> = families.into_iter().chain(scalars).collect();
    let mut producer = vec![NOBODY; system.slots.len()];
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
    for (k, step) in steps.iter().enumerate() {
        step.each_slot(&mut |slot| {
            let last = std::mem::replace(&mut producer[slot.index()], k as u32);
            // A guess stands before the loop that begins with it.
            if last != NOBODY {
                before[k].push(last);
            }
        });
    }
    for (k, step) in steps.iter().enumerate() {
        let needs = &mut before[k];
        let mut last = NOBODY;
        step.each_load(&system.dag, &mut |slot| {
            let by = producer[slot.index()];
            if by != NOBODY && by != k as u32 && by != last {
                needs.push(by);
                last = by;
            }
        });
        needs.sort_unstable();
        needs.dedup();
    }
    sorted(steps, &before)
}

/// Families first where they can be, scalars in their order.
fn sorted(steps: Vec<Step>, before: &[Vec<u32>]) -> Option<Vec<Step>> {
    let mut n_missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut needed_by: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
    for (k, needs) in before.iter().enumerate() {
        needs.iter().for_each(|&other| needed_by[other as usize].push(k as u32));
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..steps.len()).filter(|&k| n_missing[k] == 0).map(Reverse).collect();
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(steps.len());
    while let Some(Reverse(next)) = ready.pop() {
        ordered.extend(steps[next].take());
        for &other in &needed_by[next] {
            n_missing[other as usize] -= 1;
            if n_missing[other as usize] == 0 {
                ready.push(Reverse(other as usize));
            }
        }
    }
    steps.iter().all(Option::is_none).then_some(ordered)
}

/// As steps.
pub fn steps(families: Vec<FamilyStep>) -> Vec<Step> {
    families.into_iter().map(|family| Step::Family(Arc::new(family))).collect()
}
