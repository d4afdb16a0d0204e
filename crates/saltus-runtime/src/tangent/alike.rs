//! Differentiates code that differs from earlier code in its slots alone: equations of arrays are many of one shape.
//!
//! ```text
//! der(x[2]) := k*(x[1] - x[2])     differentiated
//! der(x[3]) := k*(x[2] - x[3])     the same with x[2] for x[1], x[3] for x[2], ∂x[2] for ∂x[1], …, and coefficients of its own
//! ```
//!
//! In: what [`differentiate`] takes. Out: what it gives, with the same numbers of slots, at a fraction of its cost.

use saltus_base::Index;
use saltus_program::{Code, Op, SlotId, ValueId};

use super::code::{Differentiated, differentiate};
use super::layout::Layout;

/// So many shapes are remembered, the last used ones: those of neighbouring equations of a few arrays.
const MOST_KNOWN: usize = 16;
/// Longer code is seldom one of many, and comparing it costs something.
const LONGEST: usize = 256;

/// What has been differentiated, the last used first.
#[derive(Default)]
pub(crate) struct Alike {
    known: Vec<Pattern>,
}

/// What decides about the result, with positions in a list of slots in their place.
struct Shape {
    ops: Vec<Op>,
    stored: Vec<(ValueId, SlotId)>,
    roots: Vec<ValueId>,
    /// By slot of the list: has it a tangent?
    is_active: Vec<bool>,
}

struct Pattern {
    shape: Shape,
    made: Differentiated,
    /// Operations of both codes that load, and what is kept, each with what stands there.
    coefficients: Vec<(usize, Place)>,
    direction: Vec<(usize, Place)>,
    kept: Vec<Place>,
    n_new: usize,
}

#[derive(Clone, Copy)]
enum Place {
    /// A slot of the list.
    Own(usize),
    /// Its tangent.
    Tangent(usize),
    /// A new coefficient.
    New(usize),
}

impl Alike {
    /// As [`differentiate`].
    pub fn differentiate(
        &mut self,
        code: &Code,
        stored: &[(ValueId, SlotId)],
        roots: &[ValueId],
        layout: &mut Layout,
    ) -> Differentiated {
        if !code.calls.is_empty() || code.ops.len() > LONGEST {
            return differentiate(code, stored, roots, layout);
        }
        let (shape, slots) = shape(code, stored, roots, layout);
        if let Some(at) = self.known.iter().position(|pattern| pattern.shape.is_same(&shape)) {
            self.known[..=at].rotate_right(1);
            return self.known[0].with(&slots, layout);
        }
        let n_before = layout.slots.len();
        let made = differentiate(code, stored, roots, layout);
        if let Some(pattern) = Pattern::of(shape, &slots, made.clone(), n_before, layout) {
            self.known.truncate(MOST_KNOWN - 1);
            self.known.insert(0, pattern);
        }
        made
    }
}

/// The shape, and the slots in the order in which they appear, each once.
fn shape(code: &Code, stored: &[(ValueId, SlotId)], roots: &[ValueId], layout: &Layout) -> (Shape, Vec<SlotId>) {
    let mut slots: Vec<SlotId> = Vec::new();
    let mut position = |slot: SlotId| {
        let known = slots.iter().position(|&s| s == slot);
        SlotId::from_usize(known.unwrap_or_else(|| {
            slots.push(slot);
            slots.len() - 1
        }))
    };
    let mut placed = |op: &Op| if let Op::Load(slot) = *op { Op::Load(position(slot)) } else { *op };
    let ops = code.ops.iter().map(&mut placed).collect();
    let stored = stored.iter().map(|&(value, slot)| (value, position(slot))).collect();
    let is_active = slots.iter().map(|&slot| layout.tangent(slot).is_some()).collect();
    (Shape { ops, stored, roots: roots.to_vec(), is_active }, slots)
}

impl Shape {
    fn is_same(&self, other: &Shape) -> bool {
        let same_op = |(a, b): (&Op, &Op)| match (a, b) {
            // Zero has two signs.
            (Op::Const(a), Op::Const(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        };
        self.ops.len() == other.ops.len()
            && self.stored == other.stored
            && self.roots == other.roots
            && self.is_active == other.is_active
            && self.ops.iter().zip(&other.ops).all(same_op)
    }
}

impl Pattern {
    fn of(shape: Shape, slots: &[SlotId], made: Differentiated, n_before: usize, layout: &Layout) -> Option<Pattern> {
        let place = |slot: SlotId| {
            if slot.index() >= n_before {
                return Some(Place::New(slot.index() - n_before));
            }
            let own = slots.iter().position(|&s| s == slot).map(Place::Own);
            own.or_else(|| slots.iter().position(|&s| layout.tangent(s) == Some(slot)).map(Place::Tangent))
        };
        let loads = |code: &Code| {
            let loaded = code.ops.iter().enumerate().filter_map(|(i, op)| match op {
                Op::Load(slot) => Some(place(*slot).map(|place| (i, place))),
                _ => None,
            });
            loaded.collect::<Option<Vec<_>>>()
        };
        Some(Pattern {
            coefficients: loads(&made.coefficients)?,
            direction: loads(&made.direction)?,
            kept: made.kept.iter().map(|&(_, slot)| place(slot)).collect::<Option<_>>()?,
            n_new: layout.slots.len() - n_before,
            shape,
            made,
        })
    }

    /// The same for other slots.
    fn with(&self, slots: &[SlotId], layout: &mut Layout) -> Differentiated {
        let n_before = layout.slots.len();
        for _ in 0..self.n_new {
            layout.new_coefficient();
        }
        let slot = |place: Place, before: SlotId| match place {
            Place::Own(i) => slots.get(i).copied().unwrap_or(before),
            Place::Tangent(i) => slots.get(i).and_then(|&s| layout.tangent(s)).unwrap_or(before),
            Place::New(i) => SlotId::from_usize(n_before + i),
        };
        let mut made = self.made.clone();
        let load = |code: &mut Code, places: &[(usize, Place)]| {
            for &(i, place) in places {
                if let Some(Op::Load(loaded)) = code.ops.get_mut(i) {
                    *loaded = slot(place, *loaded);
                }
            }
        };
        load(&mut made.coefficients, &self.coefficients);
        load(&mut made.direction, &self.direction);
        for ((_, kept), &place) in made.kept.iter_mut().zip(&self.kept) {
            *kept = slot(place, *kept);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use saltus_base::IdVec;
    use saltus_program::{BinaryFn, Slot, SlotKind, SlotType, UnaryFn};

    use super::*;

    fn slot(i: usize) -> SlotId {
        SlotId::from_usize(i)
    }

    /// Of twenty slots the first ten have tangents.
    fn layout() -> Layout {
        let real = |kind| Slot::new(kind, SlotType::Real);
        let slots: IdVec<SlotId, Slot> = (0..20).map(|_| real(SlotKind::Algebraic)).collect();
        let mut layout = Layout::new(&slots, &IdVec::new());
        (0..10).for_each(|i| layout.add_tangent(slot(i)));
        layout
    }

    /// `to := constant * sin(a) / b`, whose value is stored.
    fn code(constant: f64, a: usize, b: usize, to: usize) -> (Code, Vec<(ValueId, SlotId)>) {
        let ops = vec![
            Op::Load(slot(a)),
            Op::Load(slot(b)),
            Op::Const(constant),
            Op::Unary(UnaryFn::Sin, ValueId(0)),
            Op::Binary(BinaryFn::Mul, ValueId(2), ValueId(3)),
            Op::Binary(BinaryFn::Div, ValueId(4), ValueId(1)),
        ];
        (Code { ops, calls: vec![] }, vec![(ValueId(5), slot(to))])
    }

    #[test]
    fn what_is_taken_over_is_what_would_be_made() {
        let blocks = [
            code(2.0, 0, 1, 2),
            code(2.0, 1, 2, 3),
            // One slot twice, one without a tangent, another constant, zero of the other sign.
            code(2.0, 4, 4, 5),
            code(2.0, 1, 15, 6),
            code(3.0, 1, 2, 7),
            code(0.0, 1, 2, 8),
            code(-0.0, 1, 2, 9),
            code(2.0, 8, 3, 4),
        ];
        let (mut alike, mut plain, mut shared) = (Alike::default(), layout(), layout());
        for (code, stored) in &blocks {
            let wanted = differentiate(code, stored, &[ValueId(5)], &mut plain);
            let made = alike.differentiate(code, stored, &[ValueId(5)], &mut shared);
            assert_eq!(format!("{made:?}"), format!("{wanted:?}"));
            assert_eq!(plain.slots.len(), shared.slots.len());
        }
        // The second and the last are like the first.
        assert_eq!(alike.known.len(), 6);
    }
}
