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

mod cut;
mod determine;
mod elements;
mod elementwise;
mod equal;
mod linear;
pub mod lower;
mod others;
pub mod piece;
pub mod plan;
pub mod read;
#[cfg(test)]
mod tests;
pub mod weave;

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Index, Span};
use saltus_flat::family::Counter;
use saltus_flat::{FlatModel, VarId};
use saltus_program::{ElementNames, Slot, SlotId, SlotKind, SlotType};

use crate::dag::{Dag, Node, NodeId};
use crate::system::{ScalarEquation, System};
use piece::{Located, Piece};
use plan::Plan;
use read::Source;

/// The families of a model, and where what they determine is kept.
#[derive(Default)]
pub struct Families {
    plan: Plan,
    /// The slots of derivatives that families determine, by variable and position.
    derivatives: BTreeMap<VarId, Vec<Option<SlotId>>>,
    /// What families determine, and its kind when all is sorted.
    covered: BTreeMap<VarId, Vec<usize>>,
    /// The elements of families that are scalar equations.
    left: BTreeMap<Source, Vec<ScalarEquation>>,
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
    pub fn slots(&self) -> impl Iterator<Item = SlotId> {
        self.target.slots(&self.sizes)
    }

    /// The slots that it reads, with repetitions.
    pub fn each_load(&self, dag: &Dag, visit: &mut dyn FnMut(SlotId)) {
        let place_of = |slot: SlotId| self.places.iter().find(|(own, _)| *own == slot).map(|(_, place)| place);
        for slot in dag.loads(&[self.node]) {
            match place_of(slot) {
                Some(place) => place.slots(&self.sizes).for_each(&mut *visit),
                None => visit(slot),
            }
        }
    }
}

impl Families {
    /// Plans families and makes what they determine known to the other equations.
    pub fn cover(model: &FlatModel, system: &mut System) -> Families {
        let mut families = Families { plan: plan::plan(model), ..Families::default() };
        let n_derivatives = |piece: &Piece| {
            let n = piece.sizes.iter().map(|&n| n as usize).product::<usize>();
            n * piece.targets.iter().filter(|target| target.is_derivative).count()
        };
        system.slots.reserve_exact(families.plan.pieces.iter().map(n_derivatives).sum());
        for piece in &families.plan.pieces {
            for target in &piece.targets {
                let slots = &system.elements[target.variable];
                let n = slots.len();
                for element in target.elements(&piece.sizes) {
                    let slot = system.elements[target.variable][element];
                    system.slots[slot].kind = SlotKind::Input;
                    families.covered.entry(target.variable).or_default().push(element);
                }
                if target.is_derivative {
                    let known = families.derivatives.entry(target.variable).or_insert_with(|| vec![None; n]);
                    declare_derivatives(model, system, target, &piece.sizes, known);
                }
            }
        }
        families
    }

    pub fn is_empty(&self) -> bool {
        self.plan.pieces.is_empty()
    }

    /// The scalar equations that are left of a family; `None` if this equation, or this declaration, is lowered as it stands.
    pub fn left(&mut self, source: Source) -> Option<Vec<ScalarEquation>> {
        self.left.remove(&source)
    }

    /// Positions of the elements of a variable that families determine.
    pub fn covered(&self, variable: VarId) -> Option<&[usize]> {
        self.covered.get(&variable).map(Vec::as_slice)
    }

    /// The kinds that slots have in the program, and which derivative belongs to which state.
    pub fn uncover(&self, system: &mut System) {
        for (&variable, elements) in &self.covered {
            for &element in elements {
                let slot = system.elements[variable][element];
                system.slots[slot].kind = SlotKind::Algebraic;
            }
        }
        let mut of_states: Vec<(SlotId, SlotId)> = Vec::new();
        for (&variable, derivatives) in &self.derivatives {
            for (element, derivative) in derivatives.iter().enumerate() {
                let Some(derivative) = *derivative else { continue };
                let slot = system.elements[variable][element];
                system.slots[slot].kind = SlotKind::State;
                system.slots[derivative].kind = SlotKind::Derivative;
                of_states.push((slot, derivative));
            }
        }
        // All at once: one by one they would be most of the work.
        system.derivative_of.append(&mut of_states.into_iter().collect());
    }

    /// Did the other equations take something that families determine for more than a known value?
    pub fn are_disturbed(&self, model: &FlatModel, system: &System) -> bool {
        let is_input = |slot: SlotId| system.slots[slot].kind == SlotKind::Input;
        let is_true = |e: &saltus_flat::Expr| matches!(e.kind, saltus_flat::ExprKind::Boolean(true));
        self.covered.iter().any(|(&variable, elements)| {
            let is_fixed = model.variables[variable].attributes.fixed.as_ref().is_some_and(is_true);
            // The start value of something that equals an element has no say if that is computed, or has a fixed one.
            let ignores_starts = is_fixed || !self.derivatives.contains_key(&variable);
            elements.iter().map(|&element| system.elements[variable][element]).any(|slot| {
                !is_input(slot)
                    || system.pre_of.contains_key(&slot)
                    || system.starts.get(&slot).is_some_and(|start| start.is_fixed || !ignores_starts)
                    || system.derivative_of.contains_key(&slot)
                    || system.introduced.input_derivatives.contains_key(&slot)
            })
        })
    }

    /// The slot of an element, or of its derivative; none of a derivative that nobody has asked for.
    fn slot(&self, system: &System, variable: VarId, is_derivative: bool, position: usize) -> Option<SlotId> {
        let slot = *system.elements[variable].get(position)?;
        if !is_derivative {
            return Some(slot);
        }
        let own = self.derivatives.get(&variable).and_then(|slots| slots.get(position).copied().flatten());
        own.or_else(|| system.derivative_of.get(&slot).copied())
    }

    /// Where elements are, if they are evenly spaced.
    fn place(&self, system: &System, located: &Located, sizes: &[u32]) -> Option<Place> {
        let of = |position: usize| self.slot(system, located.variable, located.is_derivative, position);
        let first = of(located.first)?;
        if !located.is_derivative {
            return Some(Place { first, strides: located.strides.clone() });
        }
        let mut strides = Vec::with_capacity(sizes.len());
        for (&stride, &n) in located.strides.iter().zip(sizes) {
            let second = if n > 1 { of((located.first as i64 + stride) as usize)? } else { first };
            strides.push(second.index() as i64 - first.index() as i64);
        }
        let place = Place { first, strides };
        let is_even =
            located.elements(sizes).zip(place.slots(sizes)).all(|(position, slot)| of(position) == Some(slot));
        is_even.then_some(place)
    }
}

fn dims(model: &FlatModel, variable: VarId) -> Vec<u64> {
    model.variables[variable].ty.dims.iter().filter_map(|d| d.known()).collect()
}

/// Slots for the derivatives of these elements, one after the other.
fn declare_derivatives(
    model: &FlatModel,
    system: &mut System,
    target: &Located,
    sizes: &[u32],
    known: &mut [Option<SlotId>],
) {
    let names = ElementNames {
        array: model.variables[target.variable].name.to_string(),
        dims: dims(model, target.variable),
        first: target.first as u64,
        strides: target.strides.clone(),
        sizes: sizes.to_vec(),
        is_derivative: true,
    };
    let first = system.slots.push_elements(names, Slot::new(SlotKind::Input, SlotType::Real)).index();
    for (k, element) in target.elements(sizes).enumerate() {
        known[element] = Some(SlotId::from_usize(first + k));
    }
}

/// Is the node made of numbers, of what the model has, and of operations alone?
fn is_plain(dag: &Dag, root: NodeId) -> bool {
    dag.reachable(&[root]).into_iter().all(|node| !matches!(dag.node(node), Node::Result(..)))
}

/// Does the model have equations that may be families?
pub fn may_have(model: &FlatModel) -> bool {
    read::sources(model).next().is_some()
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
