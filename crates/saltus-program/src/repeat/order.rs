//! Which elements of a [`Repeat`] need others.
//!
//! ```text
//! y[i] := x[i] + x[i + 1]            none needs another: in any order, several at a time
//! y[i] := y[i - 1] + x[i]            one after the other
//! T[i, j] := T[i - 1, j] + x[j]      rows one after the other, in a row several at a time
//! ```
//!
//! A load and a store with the same strides meet where the distance of two elements is one certain vector; others are looked up
//! element by element, if the slots that they touch overlap at all.

use saltus_base::Index;

use super::{MOST_DIMENSIONS, Repeat};
use crate::SlotId;

/// How the elements of a [`Repeat`] follow each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ElementOrder {
    /// No element needs another one of its row, which is all elements that differ in the last dimension alone of those that have more
    /// than one.
    FreeRows,
    /// An element needs an earlier one of its row.
    OneByOne,
    /// An element loads what it or a later one stores, or a slot is stored twice: it matters that nothing is computed again.
    Once,
}

impl Repeat {
    pub fn order(&self) -> ElementOrder {
        let places: Vec<(SlotId, &[i32])> = self.slots().zip(&self.strides).map(|(s, t)| (s, &t[..])).collect();
        let (loads, stores) = places.split_at(self.n_loads());
        let mut order = ElementOrder::FreeRows;
        for (i, &store) in stores.iter().enumerate() {
            let of_loads = loads.iter().map(|&load| self.order_of(load, store));
            order = of_loads.fold(order, ElementOrder::max);
            if self.stores_twice(store, &stores[i..]) {
                return ElementOrder::Once;
            }
        }
        order
    }

    /// Is everything told that must be, and are all slots that the elements touch among the first `n_slots`?
    pub fn fits(&self, n_slots: usize) -> bool {
        let is_box = !self.sizes.contains(&0) && (1..=MOST_DIMENSIONS).contains(&self.sizes.len());
        let is_counted = self.strides.len() == self.slots().count() && !self.first.stores.is_empty();
        let is_full = is_counted && self.strides.iter().all(|strides| strides.len() == self.sizes.len());
        let is_inside = |(least, most): (i64, i64)| least >= 0 && most < n_slots as i64;
        is_box && is_full && self.slots().zip(&self.strides).all(|(slot, s)| is_inside(self.extent((slot, s))))
    }

    /// What one load and one store ask for.
    fn order_of(&self, load: (SlotId, &[i32]), store: (SlotId, &[i32])) -> ElementOrder {
        let mut order = ElementOrder::FreeRows;
        let row = self.sizes.iter().rposition(|&n| n > 1);
        self.meetings(load, store, &mut |by_load, by_store| {
            // The one that loads minus the one that stores: positive in the first dimension in which they differ.
            let first = by_load.iter().zip(by_store).position(|(l, s)| l != s);
            order = order.max(match first {
                Some(d) if by_load[d] > by_store[d] && first == row => ElementOrder::OneByOne,
                Some(d) if by_load[d] > by_store[d] => ElementOrder::FreeRows,
                _ => ElementOrder::Once,
            });
            order == ElementOrder::Once
        });
        order
    }

    /// Is something stored by `store` stored again, by another element or by one of `others`, of which it is the first?
    fn stores_twice(&self, store: (SlotId, &[i32]), others: &[(SlotId, &[i32])]) -> bool {
        others.iter().enumerate().any(|(i, &other)| {
            let mut is_twice = false;
            self.meetings(store, other, &mut |a, b| {
                is_twice = i > 0 || a != b;
                is_twice
            });
            is_twice
        })
    }

    /// Pairs of elements of which the one touches by `a` the slot that the other one touches by `b`: some pair for each distance of
    /// the two, until `visit` has seen enough.
    fn meetings(&self, a: (SlotId, &[i32]), b: (SlotId, &[i32]), visit: &mut dyn FnMut(&[i64], &[i64]) -> bool) {
        let (first_a, first_b) = (a.0.index() as i64, b.0.index() as i64);
        let (range_a, range_b) = (self.extent(a), self.extent(b));
        let step = a.1.iter().chain(b.1).fold(0, |gcd, &s| gcd_of(gcd, i64::from(s).abs()));
        let is_apart = range_a.1 < range_b.0 || range_b.1 < range_a.0;
        if is_apart || step != 0 && (first_a - first_b) % step != 0 {
            return;
        }
        if a.1 == b.1 {
            let ranges: Vec<(i64, i64)> = self.sizes.iter().map(|&n| (1 - i64::from(n), i64::from(n) - 1)).collect();
            // Where `b` is from where `a` is.
            for_each_solution(a.1, &ranges, first_a - first_b, &mut |distance| {
                let at_a: Vec<i64> = distance.iter().map(|&d| (-d).max(0)).collect();
                let at_b: Vec<i64> = at_a.iter().zip(distance).map(|(a, d)| a + d).collect();
                visit(&at_a, &at_b)
            });
            return;
        }
        let mut by_b: Vec<Option<u32>> = vec![None; (range_b.1 - range_b.0 + 1) as usize];
        for (element, slot) in self.touched(b.0, b.1).enumerate() {
            by_b[(slot.index() as i64 - range_b.0) as usize].get_or_insert(element as u32);
        }
        let n = self.sizes.len();
        let position = |element: usize| self.position(element).map(|at| at as i64);
        for (element, slot) in self.touched(a.0, a.1).enumerate() {
            let at =
                usize::try_from(slot.index() as i64 - range_b.0).ok().and_then(|at| by_b.get(at).copied().flatten());
            let Some(other) = at else { continue };
            if visit(&position(element)[..n], &position(other as usize)[..n]) {
                return;
            }
        }
    }

    /// The least and the largest slot that a load or store touches.
    fn extent(&self, (first, strides): (SlotId, &[i32])) -> (i64, i64) {
        let (least, most) = span(strides, &self.sizes.iter().map(|&n| (0, i64::from(n) - 1)).collect::<Vec<_>>());
        (first.index() as i64 + least, first.index() as i64 + most)
    }
}

fn gcd_of(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd_of(b, a % b) }
}

/// The least and the largest sum of strides times numbers in these ranges.
fn span(strides: &[i32], ranges: &[(i64, i64)]) -> (i64, i64) {
    strides.iter().zip(ranges).fold((0, 0), |(least, most), (&stride, &(from, to))| {
        let (a, b) = (i64::from(stride) * from, i64::from(stride) * to);
        (least + a.min(b), most + a.max(b))
    })
}

/// All vectors in a box whose product with the strides is `sum`, in order, until `visit` says that it is enough; true if it did.
/// Only those rows of the box are looked at that can have one.
pub(super) fn for_each_solution(
    strides: &[i32],
    ranges: &[(i64, i64)],
    sum: i64,
    visit: &mut dyn FnMut(&[i64]) -> bool,
) -> bool {
    fn go(
        strides: &[i32],
        ranges: &[(i64, i64)],
        sum: i64,
        vector: &mut Vec<i64>,
        visit: &mut dyn FnMut(&[i64]) -> bool,
    ) -> bool {
        let Some(((&stride, later), (&(from, to), rest))) = strides.split_first().zip(ranges.split_first()) else {
            return sum == 0 && visit(vector);
        };
        let (least, most) = span(later, rest);
        let stride = i64::from(stride);
        // Those with least ≤ sum - stride·x ≤ most.
        let (from, to) = match stride {
            0 if sum < least || sum > most => return false,
            0 => (from, to),
            _ => {
                let (a, b) = if stride > 0 { (sum - most, sum - least) } else { (least - sum, most - sum) };
                let size = stride.abs();
                (from.max(-(-a).div_euclid(size)), to.min(b.div_euclid(size)))
            }
        };
        (from..=to).any(|x| {
            vector.push(x);
            let is_enough = go(later, rest, sum - stride * x, vector, visit);
            vector.pop();
            is_enough
        })
    }
    go(strides, ranges, sum, &mut Vec::new(), visit)
}

#[cfg(test)]
mod tests {
    use saltus_base::Span;

    use super::*;
    use crate::{Assign, Code, Op, ValueId};

    fn slot(i: usize) -> SlotId {
        SlotId::from_usize(i)
    }

    /// A slot with strides.
    type Place<'a> = (usize, &'a [i32]);

    /// Loads one slot and stores to another.
    fn copy(sizes: &[u32], from: Place, to: Place) -> Repeat {
        let code = Code { ops: vec![Op::Load(slot(from.0))], calls: vec![] };
        let first = Assign { code, stores: vec![(ValueId(0), slot(to.0))], span: Span::nowhere() };
        Repeat { first, sizes: sizes.to_vec(), strides: vec![from.1.to_vec(), to.1.to_vec()] }
    }

    /// By comparing all pairs of elements.
    fn by_hand(repeat: &Repeat) -> ElementOrder {
        let elements: Vec<Assign> = repeat.elements().collect();
        let row = repeat.sizes.iter().rfind(|n| **n > 1).map_or(1, |&n| n as usize);
        let mut order = ElementOrder::FreeRows;
        for (i, a) in elements.iter().enumerate() {
            for (j, b) in elements.iter().enumerate() {
                if i != j && a.stores[0].1 == b.stores[0].1 {
                    order = ElementOrder::Once;
                }
                if a.code.ops[0].loaded() == Some(b.stores[0].1) {
                    order = order.max(match i > j {
                        true if i / row == j / row => ElementOrder::OneByOne,
                        true => ElementOrder::FreeRows,
                        false => ElementOrder::Once,
                    });
                }
            }
        }
        order
    }

    #[test]
    fn orders_are_those_of_all_pairs() {
        let cases: &[(&[u32], Place, Place, ElementOrder)] = &[
            (&[9], (0, &[1]), (20, &[1]), ElementOrder::FreeRows),
            (&[9], (19, &[1]), (20, &[1]), ElementOrder::OneByOne),
            (&[9], (20, &[1]), (20, &[1]), ElementOrder::Once),
            (&[9], (21, &[1]), (20, &[1]), ElementOrder::Once),
            (&[9], (21, &[-1]), (20, &[-1]), ElementOrder::OneByOne),
            (&[9], (0, &[1]), (20, &[0]), ElementOrder::Once),
            // Every other slot belongs to another array.
            (&[9], (21, &[2]), (20, &[2]), ElementOrder::FreeRows),
            (&[9], (18, &[2]), (20, &[2]), ElementOrder::OneByOne),
            // Rows of ten: the element above, the one beside, the one below.
            (&[8, 8], (1, &[10, 1]), (11, &[10, 1]), ElementOrder::FreeRows),
            (&[8, 8], (10, &[10, 1]), (11, &[10, 1]), ElementOrder::OneByOne),
            (&[8, 8], (21, &[10, 1]), (11, &[10, 1]), ElementOrder::Once),
            // The column and the row in front of the box; the last element of the row above.
            (&[8, 8], (10, &[10, 0]), (11, &[10, 1]), ElementOrder::FreeRows),
            (&[8, 8], (1, &[0, 1]), (11, &[10, 1]), ElementOrder::FreeRows),
            (&[8, 8], (8, &[10, 0]), (11, &[10, 1]), ElementOrder::FreeRows),
            (&[8, 8], (11, &[10, 0]), (11, &[10, 1]), ElementOrder::Once),
            // A single column; a single row.
            (&[8, 1], (1, &[10, 1]), (11, &[10, 1]), ElementOrder::OneByOne),
            (&[1, 8], (10, &[10, 1]), (11, &[10, 1]), ElementOrder::OneByOne),
            (&[1, 1], (10, &[10, 1]), (11, &[10, 1]), ElementOrder::FreeRows),
            (&[4, 3, 5], (0, &[15, 5, 1]), (15, &[15, 5, 1]), ElementOrder::FreeRows),
            (&[4, 3, 5], (14, &[15, 5, 1]), (15, &[15, 5, 1]), ElementOrder::OneByOne),
            // Backwards and forwards.
            (&[6], (25, &[-1]), (20, &[1]), ElementOrder::Once),
        ];
        for (sizes, from, to, expected) in cases {
            let repeat = copy(sizes, *from, *to);
            assert_eq!((repeat.order(), by_hand(&repeat)), (*expected, *expected), "{sizes:?} {from:?} {to:?}");
        }
    }
}
