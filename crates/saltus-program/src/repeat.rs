//! The same code for all elements of a box in arrays.
//!
//! ```text
//! for i in 2:4 loop  Q[i] = k * (T[i - 1] - T[i]);  end for;
//!
//! first: Q[2] := k * (T[1] - T[2])       sizes: 3       strides: k 0, T[i - 1] 1, T[i] 1, Q[i] 1
//! ```
//!
//! From one element of the box to the next in a dimension each slot moves on by a stride of its own. The elements are computed
//! one after the other, the last dimension first to move; an element may use those that were computed before it.

mod order;

use std::borrow::Cow;
use std::sync::Arc;

use saltus_base::Index;

use crate::{Assign, Block, Op, Section, SlotId, ValueId};

pub use order::ElementOrder;

/// Dimensions that the box of a [`Repeat`] may have.
pub const MOST_DIMENSIONS: usize = 4;

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Repeat {
    /// Of the element with which the computation begins. It has no calls, and stores something.
    pub first: Assign,
    /// Numbers of elements in each dimension of the box, the outermost first; at least one, all positive.
    pub sizes: Vec<u32>,
    /// For each load in the order of the operations, then for each store: how many slots it moves on in each dimension.
    pub strides: Vec<Vec<i32>>,
}

impl Repeat {
    pub fn n_elements(&self) -> usize {
        self.sizes.iter().map(|&n| n as usize).product()
    }

    /// Slots of the first element: loaded ones in the order of the operations, then stored ones, as the strides are.
    pub fn slots(&self) -> impl Iterator<Item = SlotId> {
        let loaded = self.first.code.ops.iter().filter_map(Op::loaded);
        loaded.chain(self.first.stores.iter().map(|s| s.1))
    }

    pub fn n_loads(&self) -> usize {
        self.strides.len() - self.first.stores.len()
    }

    /// Position in each dimension of an element, by its place in the order of computation.
    pub fn position(&self, element: usize) -> [usize; MOST_DIMENSIONS] {
        let mut position = [0; MOST_DIMENSIONS];
        let mut rest = element;
        for (d, &n) in self.sizes.iter().enumerate().rev() {
            position[d] = rest % n as usize;
            rest /= n as usize;
        }
        position
    }

    /// How far a load or store with these strides is from that of the first element.
    pub fn distance(strides: &[i32], position: &[usize]) -> isize {
        strides.iter().zip(position).map(|(&stride, &at)| stride as isize * at as isize).sum()
    }

    /// The slots that a load or a store touches, in the order of computation, with repetitions.
    pub fn touched(&self, slot: SlotId, strides: &[i32]) -> impl Iterator<Item = SlotId> {
        (0..self.n_elements()).map(move |element| moved(slot, Self::distance(strides, &self.position(element))))
    }

    /// The assignment of one element, by its place in the order of computation.
    pub fn element(&self, element: usize) -> Assign {
        let mut assign = self.first.clone();
        self.move_to(element, &mut assign);
        assign
    }

    /// The slots that one element stores.
    pub fn stored_by(&self, element: usize) -> impl Iterator<Item = SlotId> {
        let position = self.position(element);
        let stores = self.first.stores.iter().zip(&self.strides[self.n_loads()..]);
        stores.map(move |(&(_, first), strides)| moved(first, Self::distance(strides, &position)))
    }

    /// The assignments of all elements, in order.
    pub fn elements(&self) -> impl Iterator<Item = Assign> {
        (0..self.n_elements()).map(|element| self.element(element))
    }

    /// Shows the assignments of all elements, in order; there is only one of them at a time.
    pub fn for_each_element(&self, visit: &mut dyn FnMut(&Assign)) {
        let mut assign = self.first.clone();
        for element in 0..self.n_elements() {
            self.move_to(element, &mut assign);
            visit(&assign);
        }
    }

    /// Makes an assignment of some element that of another one.
    fn move_to(&self, element: usize, assign: &mut Assign) {
        let position = self.position(element);
        let mut places = self.slots().zip(&self.strides);
        let mut next = |slot: &mut SlotId| {
            if let Some((first, strides)) = places.next() {
                *slot = moved(first, Self::distance(strides, &position));
            }
        };
        for op in &mut assign.code.ops {
            if let Op::Load(slot) = op {
                next(slot);
            }
        }
        assign.stores.iter_mut().for_each(|(_, slot)| next(slot));
    }

    /// The element that stores a slot, and the value that it stores there.
    pub fn storing(&self, slot: SlotId) -> Option<(usize, ValueId)> {
        let stores = self.first.stores.iter().zip(&self.strides[self.n_loads()..]);
        stores.into_iter().find_map(|(&(value, first), strides)| Some((self.touching(first, strides, slot)?, value)))
    }

    /// Does some element load the slot?
    pub fn loads(&self, slot: SlotId) -> bool {
        let mut loads = self.slots().zip(&self.strides).take(self.n_loads());
        loads.any(|(first, strides)| self.touching(first, strides, slot).is_some())
    }

    /// The first element for which a load or store touches this slot.
    fn touching(&self, first: SlotId, strides: &[i32], slot: SlotId) -> Option<usize> {
        let distance = slot.index() as i64 - first.index() as i64;
        let ranges: Vec<(i64, i64)> = self.sizes.iter().map(|&n| (0, i64::from(n) - 1)).collect();
        let mut found = None;
        order::for_each_solution(strides, &ranges, distance, &mut |position| {
            let at = |element: usize, (&n, &at): (&u32, &i64)| element * n as usize + at as usize;
            found = Some(self.sizes.iter().zip(position).fold(0, at));
            true
        });
        found
    }
}

fn moved(slot: SlotId, distance: isize) -> SlotId {
    SlotId::from_usize(slot.index().wrapping_add_signed(distance))
}

impl Block {
    /// Does the block define this slot?
    pub fn stores(&self, slot: SlotId) -> bool {
        match self {
            Block::Repeat(repeat) => repeat.storing(slot).is_some(),
            _ => self.stored().contains(&slot),
        }
    }

    /// Does the block read this slot?
    pub fn reads(&self, slot: SlotId) -> bool {
        match self {
            Block::Repeat(repeat) => repeat.loads(slot),
            _ => self.loads().any(|loaded| loaded == slot),
        }
    }

    /// The block itself, or the assignments of all elements if it is a [`Repeat`].
    pub fn unrolled(&self) -> Vec<Block> {
        match self {
            Block::Repeat(repeat) => repeat.elements().map(Block::Assign).collect(),
            other => vec![other.clone()],
        }
    }
}

impl Section {
    pub fn has_repeats(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Repeat(_)))
    }

    /// The same without [`Repeat`]s, for those who look at scalars.
    pub fn unrolled(&self) -> Cow<'_, Section> {
        match self.has_repeats() {
            true => Cow::Owned(Section { blocks: self.blocks.iter().flat_map(Block::unrolled).collect() }),
            false => Cow::Borrowed(self),
        }
    }

    /// Does some block read this slot?
    pub fn reads(&self, slot: SlotId) -> bool {
        self.blocks.iter().any(|block| block.reads(slot))
    }
}

impl From<Repeat> for Block {
    fn from(repeat: Repeat) -> Self {
        Block::Repeat(Arc::new(repeat))
    }
}

#[cfg(test)]
mod tests {
    use saltus_base::Span;

    use super::*;
    use crate::{BinaryFn, Code, ValueId};

    fn slot(i: usize) -> SlotId {
        SlotId::from_usize(i)
    }

    /// `[20 + 3 i + j] := [0 + 4 i + j] - [10 - j]` for i < 2, j < 3.
    fn differences() -> Repeat {
        let ops = vec![Op::Load(slot(0)), Op::Load(slot(10)), Op::Binary(BinaryFn::Sub, ValueId(0), ValueId(1))];
        let code = Code { ops, calls: vec![] };
        let first = Assign { code, stores: vec![(ValueId(2), slot(20))], span: Span::nowhere() };
        Repeat { first, sizes: vec![2, 3], strides: vec![vec![4, 1], vec![0, -1], vec![3, 1]] }
    }

    #[test]
    fn elements_move_each_slot_by_its_strides() {
        let repeat = differences();
        let of = |assign: &Assign| {
            let loads: Vec<usize> = assign.code.ops.iter().filter_map(Op::loaded).map(|s| s.index()).collect();
            (loads[0], loads[1], assign.stores[0].1.index())
        };
        let found: Vec<_> = repeat.elements().map(|a| of(&a)).collect();
        // By hand, the last dimension first.
        assert_eq!(found, [(0, 10, 20), (1, 9, 21), (2, 8, 22), (4, 10, 23), (5, 9, 24), (6, 8, 25)]);
    }

    #[test]
    fn the_element_of_a_slot_is_found() {
        let repeat = differences();
        for (i, assign) in repeat.elements().enumerate() {
            assert_eq!(repeat.storing(assign.stores[0].1), Some((i, ValueId(2))));
        }
        assert_eq!((repeat.storing(slot(19)), repeat.storing(slot(26))), (None, None));
        let loaded: Vec<usize> = (0..30).filter(|&i| repeat.loads(slot(i))).collect();
        assert_eq!(loaded, [0, 1, 2, 4, 5, 6, 8, 9, 10]);
        assert!((0..6).all(|i| repeat.stored_by(i).eq(repeat.element(i).stores.iter().map(|s| s.1))));
        let mut shown = Vec::new();
        repeat.for_each_element(&mut |assign| shown.push(assign.clone()));
        assert!(shown.into_iter().eq(repeat.elements()));
    }

    #[test]
    fn blocks_tell_all_slots_they_touch() {
        let block = Block::from(differences());
        let stored: Vec<usize> = block.stored().into_iter().map(|s| s.index()).collect();
        assert_eq!(stored, [20, 21, 22, 23, 24, 25]);
        let mut loaded: Vec<usize> = block.loads().map(|s| s.index()).collect();
        loaded.sort_unstable();
        assert_eq!(loaded, [0, 1, 2, 4, 5, 6, 8, 8, 9, 9, 10, 10]);
    }
}
