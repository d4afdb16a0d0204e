//! Put assignments that use the same call into one block, which makes it once.
//!
//! ```text
//! a := first(f(x))   b := 2   c := a + second(f(x))      ⇒      { a, … := f(x) }  …  as far as nothing in between is
//!                                                              needed for what moves forward
//! ```
//!
//! A function of long vectors whose results are long vectors would otherwise have its arguments written out once for each
//! scalar of the results.

use saltus_program::SlotId;

use crate::blocks::Step;
use crate::dag::{CallId, Dag, FastMap};
use crate::tuning::form::MOST_BLOCK_MEMBERS;

/// The steps in an order in which they can be computed, those of a group together. Loops are groups of their own.
pub fn group_by_calls<'s>(dag: &Dag, steps: &'s [Step]) -> Vec<Vec<&'s Step>> {
    if dag.n_calls() == 0 {
        return steps.iter().map(|step| vec![step]).collect();
    }
    let mut groups: Vec<Vec<&Step>> = Vec::with_capacity(steps.len());
    let mut group_of_call: FastMap<CallId, usize> = FastMap::default();
    let mut group_of_slot: FastMap<SlotId, usize> = FastMap::default();
    for step in steps {
        let (loads, calls) = step.assignment().map_or_else(Default::default, |a| dag.outside_of_calls(a.node));
        let place = calls.iter().rev().find_map(|call| group_of_call.get(call).copied()).filter(|&place| {
            let is_known = |slot: &SlotId| group_of_slot.get(slot).is_none_or(|&group| group < place);
            // What the calls of the group need is known.
            let mut others = calls.iter().filter(|call| group_of_call.get(call) != Some(&place));
            groups[place].len() < MOST_BLOCK_MEMBERS
                && loads.iter().all(is_known)
                && others.all(|&call| dag.loads(&dag.called(call).arguments).iter().all(is_known))
        });
        let place = place.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(step);
        group_of_call.extend(calls.into_iter().map(|call| (call, place)));
        group_of_slot.extend(step.slots().into_iter().map(|slot| (slot, place)));
    }
    groups
}
