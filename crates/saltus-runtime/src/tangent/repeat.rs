//! Tangents of the same code for all elements of a box in arrays.
//!
//! ```text
//! Q[i] := k * (T[i] - T[i + 1])^2      ∂Q[i] := c[i] * (∂T[i] - ∂T[i + 1])      c[i] := 2 * k * (T[i] - T[i + 1])
//! ```
//!
//! In: a [`Repeat`]. Out: one for the coefficients and one for the direction. The code of an element is differentiated once, with a slot
//! of its own for each place that moves with the elements; these are then replaced by the places. A place that is loaded has a tangent
//! for all elements or for none: where some element does not change along any direction its tangent is a zero that nobody writes.

use saltus_base::{IdVec, Index};
use saltus_program::{
    Assign, Block, Callable, CallableId, Code, Op, Repeat, Slot, SlotId, SlotKind, SlotType, ValueId,
};

use super::code::{active_values, differentiate, live};
use super::layout::Layout;
use super::program::{is, set, with_stores};

/// What a load or store touches: the slot of the first element, and how far it moves on in each dimension.
#[derive(Clone, PartialEq)]
struct Place {
    first: SlotId,
    strides: Vec<i32>,
}

/// The code of an element with numbers of places instead of slots.
pub(super) struct Template<'r> {
    repeat: &'r Repeat,
    assign: Assign,
    places: Vec<Place>,
}

/// Both parts; no coefficients if there are none.
pub(super) struct Made {
    pub coefficients: Option<Block>,
    pub direction: Option<Block>,
}

impl<'r> Template<'r> {
    pub fn of(repeat: &'r Repeat) -> Self {
        let mut places: Vec<Place> = Vec::new();
        let mut numbers = repeat.slots().zip(&repeat.strides).map(|(first, strides)| {
            let known = places.iter().position(|place| place.first == first && place.strides == *strides);
            SlotId::from_usize(known.unwrap_or_else(|| {
                places.push(Place { first, strides: strides.clone() });
                places.len() - 1
            }))
        });
        let mut assign = repeat.first.clone();
        let loads = assign.code.ops.iter_mut().filter_map(|op| if let Op::Load(slot) = op { Some(slot) } else { None });
        let stores = assign.stores.iter_mut().map(|store| &mut store.1);
        loads.chain(stores).zip(&mut numbers).for_each(|(slot, number)| *slot = number);
        drop(numbers);
        Template { repeat, assign, places }
    }

    fn touched(&self, number: SlotId) -> impl Iterator<Item = SlotId> {
        let place = self.places.get(number.index());
        place.into_iter().flat_map(|place| self.repeat.touched(place.first, &place.strides))
    }

    fn is_any(&self, number: SlotId, marked: &[bool]) -> bool {
        self.touched(number).any(|slot| is(marked, slot))
    }

    /// Marks what the elements store if it changes along some direction.
    pub fn activate(&self, active: &mut [bool], moves: &dyn Fn(SlotId) -> bool) {
        let mut is_active: Vec<bool> =
            (0..self.places.len()).map(|i| self.is_any(SlotId::from_usize(i), active)).collect();
        loop {
            let values = active_values(&self.assign.code, &|number| is(&is_active, number), &|_| false);
            let stores = self.assign.stores.iter().filter(|(value, _)| values.get(value.0 as usize) == Some(&true));
            let mut is_new = false;
            for &(_, number) in stores {
                if !self.touched(number).filter(|&slot| moves(slot)).all(|slot| is(active, slot)) {
                    self.touched(number).filter(|&slot| moves(slot)).for_each(|slot| set(active, slot));
                    is_new = true;
                }
            }
            // An element may load what another one stores.
            let before = is_active.clone();
            if is_new {
                (0..self.places.len()).for_each(|i| is_active[i] |= self.is_any(SlotId::from_usize(i), active));
            }
            if before == is_active {
                break;
            }
        }
    }

    /// Slots without a mark that some elements load where others load one with a mark.
    pub fn unmarked_loads(&self, marked: &[bool]) -> Vec<SlotId> {
        let loads = self.assign.code.ops.iter().filter_map(Op::loaded).filter(|&number| self.is_any(number, marked));
        loads.flat_map(|number| self.touched(number).filter(|&slot| !is(marked, slot))).collect()
    }

    /// Positions of the stores that somebody needs for some element; marks what these need.
    pub fn find_needed(&self, needed: &mut [bool], layout: &Layout) -> Vec<usize> {
        let mut stores = Vec::new();
        loop {
            let is_needed = |i: &usize| self.is_any(self.assign.stores[*i].1, needed);
            let found: Vec<usize> = (0..self.assign.stores.len()).filter(is_needed).collect();
            if found == stores {
                return stores;
            }
            stores = found;
            let roots: Vec<ValueId> = stores.iter().map(|&i| self.assign.stores[i].0).collect();
            for (op, is_live) in self.assign.code.ops.iter().zip(live(&self.assign.code, &roots)) {
                match op {
                    Op::Load(number) if is_live => {
                        let tangents = self.touched(*number).filter(|&slot| layout.tangent(slot).is_some());
                        tangents.for_each(|slot| set(needed, slot));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Differentiates what these stores need; `None` if the tangents of some place do not move on by strides.
    pub fn differentiate(&self, stores: &[usize], layout: &mut Layout) -> Option<Made> {
        let mut places = self.places.clone();
        let numbers: IdVec<SlotId, Slot> = self.places.iter().map(|_| unnamed()).collect();
        let mut own = Layout::new(&numbers, &IdVec::<CallableId, Callable>::new());
        for (i, place) in self.places.iter().enumerate() {
            let is_stored = self.assign.stores.iter().any(|store| store.1.index() == i);
            if let Some(tangent) = self.tangent(place, is_stored, layout)? {
                own.add_tangent(SlotId::from_usize(i));
                places.push(tangent);
            }
        }
        let stores = stores.iter().filter_map(|&i| self.assign.stores.get(i));
        let (targets, roots): (Vec<SlotId>, Vec<ValueId>) =
            stores.filter_map(|&(value, number)| Some((own.tangent(number)?, value))).unzip();
        let made = differentiate(&self.assign.code, &self.assign.stores, &roots, &mut own);
        let n = self.repeat.n_elements();
        let strides = row_major(&self.repeat.sizes);
        while places.len() < own.slots.len() {
            places.push(Place { first: layout.new_coefficients(n), strides: strides.clone() });
        }
        let (code, stores) = with_stores(made.direction, made.tangents.into_iter().zip(targets));
        Some(Made {
            coefficients: self.bound(made.coefficients, made.kept, &places),
            direction: self.bound(code, stores, &places),
        })
    }

    /// Where the tangents of a place are, if it has some; `None` if they do not move on by strides.
    fn tangent(&self, place: &Place, is_stored: bool, layout: &Layout) -> Option<Option<Place>> {
        let mut touched = self.repeat.touched(place.first, &place.strides);
        let changes = |slot: SlotId| layout.tangent(slot).is_some();
        if !touched.any(changes) {
            return Some(None);
        }
        let mut touched = self.repeat.touched(place.first, &place.strides);
        if is_stored && !touched.all(changes) {
            return None;
        }
        let first = layout.tangent_or_zero(place.first)?;
        let stride = |(d, &n): (usize, &u32)| {
            let next = place.first.index() as i64 + if n > 1 { i64::from(place.strides[d]) } else { 0 };
            let tangent = layout.tangent_or_zero(SlotId::from_usize(usize::try_from(next).ok()?))?;
            i32::try_from(tangent.index() as i64 - first.index() as i64).ok()
        };
        let strides: Vec<i32> = self.repeat.sizes.iter().enumerate().map(stride).collect::<Option<_>>()?;
        let tangents = self.repeat.touched(place.first, &place.strides).map(|slot| layout.tangent_or_zero(slot));
        let is_affine = self.repeat.touched(first, &strides).map(Some).eq(tangents);
        is_affine.then_some(Some(Place { first, strides }))
    }

    /// The same for all elements, with places instead of their numbers.
    fn bound(&self, mut code: Code, mut stores: Vec<(ValueId, SlotId)>, places: &[Place]) -> Option<Block> {
        if stores.is_empty() {
            return None;
        }
        let mut strides = Vec::new();
        let mut bind = |slot: &mut SlotId| {
            if let Some(place) = places.get(slot.index()) {
                *slot = place.first;
                strides.push(place.strides.clone());
            }
        };
        for op in &mut code.ops {
            if let Op::Load(slot) = op {
                bind(slot);
            }
        }
        stores.iter_mut().for_each(|store| bind(&mut store.1));
        let first = Assign { code, stores, span: self.assign.span };
        Some(Block::from(Repeat { first, sizes: self.repeat.sizes.clone(), strides }))
    }
}

/// The strides of an array of this size of its own.
fn row_major(sizes: &[u32]) -> Vec<i32> {
    let mut strides = vec![1; sizes.len()];
    for d in (1..sizes.len()).rev() {
        strides[d - 1] = strides[d] * sizes[d] as i32;
    }
    strides
}

fn unnamed() -> Slot {
    Slot::new(SlotKind::Algebraic, SlotType::Real)
}
