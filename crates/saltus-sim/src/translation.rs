//! The memory of one configuration of a model, as another one numbers it.
//!
//! In: two programs of one model. Out: for each slot of the one the slot of the other that holds the same. Declared variables come first
//! in all of them; what the compiler has added goes by name.

use std::borrow::Cow;
use std::collections::HashMap;

use saltus_base::Index;
use saltus_program::{Configuration, SimProgram, SlotId, SlotKind, Variable};

/// A slot that a program does not have.
pub const NOWHERE: usize = usize::MAX;

/// A memory of one program as another one numbers it; what only that one has is not a number.
pub fn renumbered(from: &SimProgram, memory: &[f64], to: &SimProgram) -> Vec<f64> {
    mapping(from, to).into_iter().map(|from| memory.get(from).copied().unwrap_or(f64::NAN)).collect()
}

/// For each slot of `to` the one of `from` that is the same.
pub fn mapping(from: &SimProgram, to: &SimProgram) -> Vec<usize> {
    let n_common = to.configuration.as_ref().map_or(0, |c| c.n_common);
    let others = from.memory.slots.ids().skip(n_common);
    let named: HashMap<Cow<str>, usize> = others.map(|id| (from.memory.slots.name(id), id.index())).collect();
    let of = |id: SlotId| match id.index() < n_common {
        true => id.index(),
        false => named.get(&to.memory.slots.name(id)).copied().unwrap_or(NOWHERE),
    };
    let mut mapping: Vec<usize> = to.memory.slots.ids().map(of).collect();
    let has_machines = to.configuration.as_ref().is_some_and(|c| !c.regions.is_empty());
    if !has_machines {
        return mapping;
    }
    // Other variables may be equal to each other there.
    let known: HashMap<Cow<str>, usize> = from.variables.iter().map(|v| (v.name(), v.slot.index())).collect();
    let is_own = |v: &Variable| to.memory.slot_name(v.slot) == v.name();
    let all = to.variables.iter().filter(|v| !is_own(v)).chain(to.variables.iter().filter(is_own));
    for variable in all {
        if let Some(&slot) = known.get(&variable.name()) {
            mapping[variable.slot.index()] = slot;
        }
    }
    mapping
}

/// A place of a row, if its variable has a value in this configuration.
pub fn present(program: &SimProgram, place: usize) -> usize {
    let is_absent = |c: &Configuration| {
        place < program.memory.slots.len() && c.absent.binary_search(&SlotId::from_usize(place)).is_ok()
    };
    if program.configuration.as_deref().is_some_and(is_absent) { NOWHERE } else { place }
}

/// By slot: is it a variable that the equations of this configuration make constant?
pub fn constants(program: &SimProgram) -> Vec<bool> {
    let mut constants = vec![false; program.memory.slots.len()];
    let is_parameter = |slot: SlotId| program.memory.slots.get(slot).is_some_and(|s| s.kind == SlotKind::Parameter);
    for variable in &program.variables {
        constants[variable.slot.index()] = is_parameter(variable.slot) && !variable.is_parameter();
    }
    for absent in program.configuration.iter().flat_map(|c| &c.absent) {
        constants[absent.index()] = false;
    }
    constants
}

/// For each slot of `home`, which callers know, the one of `program` that has its value now. Where other states of a machine may be active
/// there are derivatives that `home` does not compute: those of its variables come behind, in the order of its table.
pub fn shown(program: &SimProgram, home: &SimProgram) -> Vec<usize> {
    let mut shown: Vec<usize> = mapping(program, home).into_iter().map(|place| present(program, place)).collect();
    if home.configuration.as_ref().is_some_and(|c| !c.regions.is_empty()) {
        let derivative_of: HashMap<SlotId, SlotId> = program.states.iter().map(|s| (s.value, s.derivative)).collect();
        let slots: HashMap<Cow<str>, SlotId> = program.variables.iter().map(|v| (v.name(), v.slot)).collect();
        let derivative = |variable: Variable| {
            let slot = slots.get(&variable.name()).filter(|slot| present(program, slot.index()) != NOWHERE)?;
            derivative_of.get(slot).map(|slot| slot.index())
        };
        shown.extend(home.variables.iter().map(|v| derivative(v).unwrap_or(NOWHERE)));
    }
    shown
}
