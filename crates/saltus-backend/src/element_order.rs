//! The order of variables with all component arrays taken apart, for messages that list them.
//!
//! ```text
//! Cell c[2], each with x, y     slots c[1].x, c[2].x, c[1].y, c[2].y     listed c[1].x, c[1].y, c[2].x, c[2].y
//! ```

use std::collections::HashMap;

use saltus_base::Index;
use saltus_flat::count::component_of;
use saltus_flat::element::n_outer_dimensions;
use saltus_flat::{FlatModel, VarId};
use saltus_program::SlotId;

use crate::system::System;

/// The first `n` of some slots, each with a group that comes before its place in the model.
pub fn first_of(model: &FlatModel, system: &System, slots: &[(u8, SlotId)], n: usize) -> Vec<SlotId> {
    let has_arrays = model.variables.values().any(|v| n_outer_dimensions(&v.name) > 0);
    if !has_arrays {
        return slots.iter().take(n).map(|&(_, slot)| slot).collect();
    }
    let mut group_of: Vec<Option<u8>> = vec![None; system.slots.len()];
    slots.iter().for_each(|&(group, slot)| group_of[slot.index()] = Some(group));
    let mut arrays: HashMap<&str, u64> = HashMap::new();
    let mut first: Vec<((u8, Vec<u64>), SlotId)> = Vec::with_capacity(n + 1);
    for (id, elements) in system.elements.iter() {
        let levels = model.variables.get(id).map_or_else(Vec::new, |v| levels(&v.name, id, &mut arrays));
        let sizes: Vec<u64> = model
            .variables
            .get(id)
            .map_or_else(Vec::new, |v| v.ty.dims.iter().map(|d| d.known().unwrap_or(1)).collect());
        for (element, &slot) in elements.iter().enumerate() {
            let Some(group) = group_of[slot.index()].take() else { continue };
            let key = (group, key(id, element as u64, &levels, &sizes));
            let at = first.partition_point(|(other, _)| *other < key);
            if at < n {
                first.insert(at, (key, slot));
                first.truncate(n);
            }
        }
    }
    first.into_iter().map(|(_, slot)| slot).collect()
}

/// The component arrays around a variable: the number of the first variable in each, and how many dimensions it has together with those
/// around it.
fn levels<'m>(name: &'m str, id: VarId, arrays: &mut HashMap<&'m str, u64>) -> Vec<(u64, usize)> {
    let parts = std::iter::successors(Some(component_of(name)), |part| Some(component_of(part)));
    let parts = parts.take_while(|part| !part.is_empty());
    let is_array = |part: &&str| n_outer_dimensions(part) > n_outer_dimensions(component_of(part));
    let mut levels: Vec<(u64, usize)> = parts
        .filter(is_array)
        .map(|part| (*arrays.entry(part).or_insert(id.index() as u64), n_outer_dimensions(part)))
        .collect();
    levels.reverse();
    levels
}

/// Component array, element, component array in it, element, … variable, element.
fn key(id: VarId, element: u64, levels: &[(u64, usize)], sizes: &[u64]) -> Vec<u64> {
    let mut rest = element;
    let mut subscripts = vec![0; sizes.len()];
    for (subscript, &size) in subscripts.iter_mut().zip(sizes).rev() {
        *subscript = rest % size.max(1);
        rest /= size.max(1);
    }
    let mut key = Vec::with_capacity(levels.len() + sizes.len() + 1);
    let mut from = 0;
    for &(first, n_dimensions) in levels {
        let to = n_dimensions.min(subscripts.len());
        key.push(first);
        key.extend(&subscripts[from..to]);
        from = to;
    }
    key.push(id.index() as u64);
    key.extend(&subscripts[from..]);
    key
}
