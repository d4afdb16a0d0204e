//! Outputs, states, event indicators and what they depend on.

use std::collections::{BTreeMap, BTreeSet};

use saltus::Model;
use saltus_fmi::{Causality, Dependency, DependencyKind, Initial, ModelStructure, Unknown, Variable, Version};
use saltus_program::SlotId;

use crate::dependencies::Dependencies;
use crate::references::{References, Target};

/// The structure of a model with these variables, in which states and their derivatives are marked.
pub fn of(
    model: &Model,
    references: &References,
    version: Version,
    variables: &mut [Variable],
    n_indicators: usize,
) -> ModelStructure {
    let program = model.program();
    let mut by_reference: BTreeMap<u32, usize> = BTreeMap::new();
    // A state that is the derivative of another one has two names in 2.0.
    let is_derivative = |variable: &Variable| variable.name.starts_with("der(");
    let (derived, plain): (Vec<usize>, Vec<usize>) = (0..variables.len()).partition(|&i| is_derivative(&variables[i]));
    for i in plain.into_iter().chain(derived.iter().copied()) {
        by_reference.entry(variables[i].reference).or_insert(i);
    }
    let named: BTreeMap<String, usize> = derived.into_iter().map(|i| (variables[i].name.clone(), i)).collect();
    let place = |slot: SlotId| by_reference.get(&References::of_slot(slot)).copied();
    let reinitialised: BTreeSet<SlotId> = program.events.reinits.iter().map(|r| r.state).collect();
    let set_states = program.state_sets.iter().flat_map(|s| s.levels.iter().flat_map(|l| l.states.iter().copied()));
    let jumping: BTreeSet<SlotId> = reinitialised.into_iter().chain(set_states).collect();
    let mut derivatives = Vec::new();
    for state in &program.states {
        let own = |value: usize| named.get(&format!("der({})", variables[value].name)).copied();
        let Some(value) = place(state.value) else { continue };
        let reference = References::of_slot(state.derivative);
        let own = own(value).filter(|&i| variables[i].reference == reference);
        if let Some(derivative) = own.or(place(state.derivative)) {
            variables[derivative].derivative = Some(value);
            variables[value].reinit = jumping.contains(&state.value);
            derivatives.push((derivative, state.derivative));
        }
    }
    let knowns = Knowns::new(program, references, &by_reference);
    let dependencies = Dependencies::new(program);
    let unknown = |variable: usize, slots: &[SlotId]| {
        let mut found: BTreeMap<usize, DependencyKind> = BTreeMap::new();
        for (slot, kind) in slots.iter().flat_map(|&slot| dependencies.of(slot)) {
            if let Some(known) = knowns.place(slot) {
                // Elements of an array may depend in different ways.
                found
                    .entry(known)
                    .and_modify(|k| {
                        if *k != kind {
                            *k = DependencyKind::Dependent
                        }
                    })
                    .or_insert(kind);
            }
        }
        let dependencies = found.into_iter().map(|(variable, kind)| Dependency { variable, kind }).collect();
        Unknown { variable, dependencies: Some(dependencies) }
    };
    let slots_of = |reference: u32| match references.target(reference) {
        Some(Target::Slot(slot)) => vec![slot],
        Some(Target::Group(slots)) => slots.to_vec(),
        _ => Vec::new(),
    };
    // A clock may tick because of anything.
    let output = |i: usize| match variables[i].kind {
        saltus_fmi::Type::Clock => Unknown { variable: i, dependencies: None },
        _ => unknown(i, &slots_of(variables[i].reference)),
    };
    let outputs: Vec<usize> = (0..variables.len()).filter(|&i| variables[i].causality == Causality::Output).collect();
    let relation = |k: usize| program.events.relations.values().nth(k).map(|r| r.crossing);
    let indicators = (0..if version == Version::V3 { n_indicators } else { 0 }).filter_map(|k| {
        let variable = *by_reference.get(&references.of_indicator(k))?;
        // Where a jump leaves a profile depends on everything.
        Some(relation(k).map_or(Unknown { variable, dependencies: None }, |slot| unknown(variable, &[slot])))
    });
    ModelStructure {
        outputs: outputs.iter().map(|&i| output(i)).collect(),
        derivatives: derivatives.iter().map(|&(i, slot)| unknown(i, &[slot])).collect(),
        clocked_states: Vec::new(),
        event_indicators: indicators.collect(),
        initial_unknowns: initial_unknowns(variables, &derivatives),
    }
}

/// Everything that the initialisation determines; on which knowns is not said, so that it may be all of them.
fn initial_unknowns(variables: &[Variable], derivatives: &[(usize, SlotId)]) -> Vec<Unknown> {
    let is_calculated = |i: usize| variables[i].initial == Some(Initial::Calculated);
    let mut places: BTreeSet<usize> = BTreeSet::new();
    for (i, variable) in variables.iter().enumerate() {
        let is_unknown = match variable.causality {
            Causality::Output => is_calculated(i) || variable.kind == saltus_fmi::Type::Clock,
            Causality::CalculatedParameter => true,
            _ => false,
        };
        if is_unknown {
            places.insert(i);
        }
    }
    for &(derivative, _) in derivatives {
        let state = variables[derivative].derivative;
        places.extend(state.into_iter().chain([derivative]).filter(|&i| is_calculated(i)));
    }
    places.into_iter().map(|variable| Unknown { variable, dependencies: None }).collect()
}

/// Where states, inputs and time are among the variables.
struct Knowns {
    places: BTreeMap<SlotId, usize>,
}

impl Knowns {
    fn new(
        program: &saltus_program::SimProgram,
        references: &References,
        by_reference: &BTreeMap<u32, usize>,
    ) -> Knowns {
        let mut places: BTreeMap<SlotId, usize> = BTreeMap::new();
        for (k, group) in references.groups.iter().enumerate() {
            if let Some(&at) = by_reference.get(&references.of_group(k)) {
                group.slots.iter().for_each(|&slot| {
                    places.insert(slot, at);
                });
            }
        }
        for (slot, _) in program.memory.slots.iter() {
            if let Some(&at) = by_reference.get(&References::of_slot(slot)) {
                places.insert(slot, at);
            }
        }
        if let Some(&at) = by_reference.get(&References::TIME) {
            places.insert(program.memory.time, at);
        }
        Knowns { places }
    }

    fn place(&self, slot: SlotId) -> Option<usize> {
        self.places.get(&slot).copied()
    }
}
