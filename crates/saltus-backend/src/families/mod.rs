//! Families that are computed as loops, whatever their size.
//!
//! In: families of the flat model ([`plan`]). While the other equations are lowered, reduced and sorted, what families determine is known to them
//! like an input ([`cover`](Families::cover)). Out: a [`FamilyStep`] for each, put where what it needs is computed ([`weave`]), and start
//! values of the states among them.
//!
//! ```text
//! for i in 1:n loop der(T[i]) = Q[i] - Q[i + 1]; end for;        step: n times  der(T[1 + k]) := Q[1 + k] - Q[2 + k]
//! Q[1] = k * (u - T[1]);  u = sin(time);                         sorted as scalars, T[1] being known
//! ```
//!
//! If anything does not fit, the model is sorted again with all families as scalar equations: they may be part of a loop, of a
//! constraint that must be differentiated, or determine something else than it seems ([`sort_in`](crate::sort_in)).

mod elementwise;
pub mod lower;
pub mod plan;
#[cfg(test)]
mod tests;
pub mod weave;

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Index, Span};
use saltus_flat::family::Counter;
use saltus_flat::{FlatModel, VarId, element_name};
use saltus_program::{SlotId, SlotKind, SlotType};

use crate::dag::{Dag, Node, NodeId};
use crate::system::System;
use plan::{Access, Planned, Source};

/// The families of a model, and where what they determine is kept.
#[derive(Default)]
pub struct Families {
    pub planned: Vec<Planned>,
    sources: BTreeSet<Source>,
    /// By family: the first slot of the derivatives that it determines, which follow each other in the order of its box.
    derivatives: Vec<Option<SlotId>>,
    /// What families determine, and its kind when all is sorted.
    covered: BTreeMap<VarId, Vec<usize>>,
}

/// `target := node` for all elements of a box.
#[derive(Clone, Debug)]
pub struct FamilyStep {
    pub sizes: Vec<u32>,
    pub target: Place,
    pub node: NodeId,
    /// Slots in the node that stand for elements which depend on the iterators.
    pub places: Vec<(SlotId, Place)>,
    pub span: Span,
}

/// Slots that depend on the iterators.
#[derive(Clone, Debug)]
pub struct Place {
    pub first: SlotId,
    pub strides: Vec<i64>,
}

pub fn sizes(counters: &[Counter]) -> Vec<u32> {
    counters.iter().map(|c| c.n as u32).collect()
}

/// All positions `first + Σ stride · k` of a box, the last dimension first.
pub fn walk(first: usize, strides: &[i64], sizes: &[u32]) -> impl Iterator<Item = usize> {
    let n: usize = sizes.iter().map(|&n| n as usize).product();
    let mut at = vec![0u32; sizes.len()];
    let mut position = first as i64;
    (0..n).map(move |_| {
        let here = position;
        for d in (0..sizes.len()).rev() {
            at[d] += 1;
            position += strides[d];
            if at[d] < sizes[d] {
                break;
            }
            position -= strides[d] * i64::from(sizes[d]);
            at[d] = 0;
        }
        here as usize
    })
}

impl Place {
    pub fn slots(&self, sizes: &[u32]) -> impl Iterator<Item = SlotId> {
        walk(self.first.index(), &self.strides, sizes).map(SlotId::from_usize)
    }
}

impl FamilyStep {
    /// The slots that it computes.
    pub fn slots(&self) -> Vec<SlotId> {
        self.target.slots(&self.sizes).collect()
    }

    /// The slots that it reads, with repetitions.
    pub fn loads(&self, dag: &Dag) -> Vec<SlotId> {
        let place_of = |slot: SlotId| self.places.iter().find(|(own, _)| *own == slot).map(|(_, place)| place);
        let mut slots = Vec::new();
        for slot in dag.loads(&[self.node]) {
            match place_of(slot) {
                Some(place) => slots.extend(place.slots(&self.sizes)),
                None => slots.push(slot),
            }
        }
        slots
    }
}

impl Families {
    /// Plans families and makes what they determine known to the other equations.
    pub fn cover(model: &FlatModel, system: &mut System) -> Families {
        let planned = plan::plan(model);
        let sources = planned.iter().map(|family| family.source).collect();
        let mut families = Families { planned, sources, ..Families::default() };
        let derivatives = families.planned.iter().filter(|family| family.target().is_derivative);
        system.slots.reserve_exact(derivatives.map(Planned::n_elements).sum());
        for k in 0..families.planned.len() {
            let family = &families.planned[k];
            let target = family.target().clone();
            let sizes = sizes(&family.counters);
            let elements = elements(model, &target, &family.counters);
            let first = target.is_derivative.then(|| declare_derivatives(model, system, &target, &elements, &sizes));
            families.derivatives.push(first);
            for &element in &elements {
                let slot = system.elements[target.variable][element];
                system.slots[slot].kind = SlotKind::Input;
            }
            families.covered.entry(target.variable).or_default().extend(elements);
        }
        families
    }

    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// Is this equation, or this declaration, a family?
    pub fn has(&self, source: Source) -> bool {
        self.sources.contains(&source)
    }

    /// Positions of the elements of a variable that families determine.
    pub fn covered(&self, variable: VarId) -> Option<&[usize]> {
        self.covered.get(&variable).map(Vec::as_slice)
    }

    /// The kinds that slots have in the program, and which derivative belongs to which state.
    pub fn uncover(&self, model: &FlatModel, system: &mut System) {
        for (family, first) in self.planned.iter().zip(&self.derivatives) {
            let target = family.target();
            for (k, element) in elements(model, target, &family.counters).into_iter().enumerate() {
                let slot = system.elements[target.variable][element];
                system.slots[slot].kind = if target.is_derivative { SlotKind::State } else { SlotKind::Algebraic };
                if let Some(first) = first {
                    let derivative = SlotId::from_usize(first.index() + k);
                    system.slots[derivative].kind = SlotKind::Derivative;
                    system.derivative_of.insert(slot, derivative);
                }
            }
        }
    }

    /// Did the other equations take something that families determine for more than a known value?
    pub fn are_disturbed(&self, system: &System) -> bool {
        let is_input = |slot: SlotId| system.slots[slot].kind == SlotKind::Input;
        self.covered.iter().any(|(&variable, elements)| {
            elements.iter().map(|&element| system.elements[variable][element]).any(|slot| {
                !is_input(slot)
                    || system.pre_of.contains_key(&slot)
                    || system.starts.contains_key(&slot)
                    || system.derivative_of.contains_key(&slot)
                    || system.introduced.input_derivatives.contains_key(&slot)
            })
        })
    }

    /// Where the elements of an access are.
    fn place(&self, model: &FlatModel, system: &System, family: usize, access: &Access) -> Option<Place> {
        let planned = &self.planned[family];
        if access.is_derivative {
            let first = self.derivatives[family]?;
            let mut strides = vec![1; planned.counters.len()];
            for d in (1..planned.counters.len()).rev() {
                strides[d - 1] = strides[d] * planned.counters[d].n as i64;
            }
            return Some(Place { first, strides });
        }
        let dims = dims(model, access.variable);
        let (first, strides) = access.positions(&dims, &planned.counters);
        let slots = &system.elements[access.variable];
        Some(Place { first: *slots.get(first)?, strides })
    }
}

/// Positions of the elements that an access runs through, in order.
fn elements(model: &FlatModel, access: &Access, counters: &[Counter]) -> Vec<usize> {
    let (first, strides) = access.positions(&dims(model, access.variable), counters);
    walk(first, &strides, &sizes(counters)).collect()
}

fn dims(model: &FlatModel, variable: VarId) -> Vec<u64> {
    model.variables[variable].ty.dims.iter().filter_map(|d| d.known()).collect()
}

/// Slots for the derivatives of these elements, one after the other.
fn declare_derivatives(
    model: &FlatModel,
    system: &mut System,
    target: &Access,
    elements: &[usize],
    sizes: &[u32],
) -> SlotId {
    debug_assert_eq!(elements.len(), sizes.iter().map(|&n| n as usize).product::<usize>());
    let dims = dims(model, target.variable);
    let name = &model.variables[target.variable].name;
    let first = SlotId::from_usize(system.slots.len());
    for &element in elements {
        let name = ["der(", &element_name(name, &dims, element as u64), ")"].concat();
        system.add_slot(name, SlotKind::Input, SlotType::Real);
    }
    first
}

/// Is the node made of numbers, of what the model has, and of operations alone?
fn is_plain(dag: &Dag, root: NodeId) -> bool {
    dag.reachable(&[root]).into_iter().all(|node| !matches!(dag.node(node), Node::Result(..)))
}

/// Does the model have equations that may be families?
pub fn may_have(model: &FlatModel) -> bool {
    plan::sources(model).next().is_some()
}

/// Values that are found while the simulation starts, and calls that act, are looked at with all equations as scalars.
pub fn has_what_needs_scalars(system: &System) -> bool {
    system.introduced.lambda.is_some()
        || !system.parameters.free.is_empty()
        || !system.calls.void.is_empty()
        || system.calls.callables.values().any(|callable| callable.effect.is_some())
}

/// Why families cannot be kept: nobody is told.
pub fn not_kept() -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(crate::diagnostics::not_supported("families", Span::nowhere()));
    diagnostics
}
