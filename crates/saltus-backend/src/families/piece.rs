//! Pieces of families: equations of a box that determine as many unknowns for each of its elements.

use std::collections::{BTreeSet, HashMap};

use saltus_base::Span;
use saltus_flat::VarId;

use super::walk;

/// Elements of a variable, or of its derivative, in the order of a box.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Located {
    pub variable: VarId,
    pub is_derivative: bool,
    /// Row-major position of the first one.
    pub first: usize,
    pub strides: Vec<i64>,
}

/// The same with a sign.
#[derive(Clone, PartialEq, Debug)]
pub struct Operand {
    pub is_negated: bool,
    pub of: Located,
}

/// Equations of a box that determine as many unknowns for each of its elements.
#[derive(Debug)]
pub struct Piece {
    pub sizes: Vec<u32>,
    pub equations: Vec<PieceEquation>,
    pub targets: Vec<Located>,
    pub span: Span,
}

#[derive(Debug)]
pub struct PieceEquation {
    /// Number of the family; the first operand equals the second one if there is none.
    pub family: Option<usize>,
    /// In the order of the accesses of the family.
    pub operands: Vec<Operand>,
}

/// An element of a family that is a scalar equation.
pub struct Left {
    /// In the order of the accesses of the family: variable, whether it is its derivative, position, and whether negated.
    pub operands: Vec<Element>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Element {
    pub variable: VarId,
    pub is_derivative: bool,
    pub position: usize,
    pub is_negated: bool,
}

impl Located {
    pub fn elements(&self, sizes: &[u32]) -> impl Iterator<Item = usize> {
        walk(self.first, &self.strides, sizes)
    }

    /// From the last element to the first.
    fn reverse(&mut self, sizes: &[u32]) {
        let last: i64 = self.strides.iter().zip(sizes).map(|(stride, &n)| stride * (i64::from(n) - 1)).sum();
        self.first = (self.first as i64 + last) as usize;
        self.strides.iter_mut().for_each(|stride| *stride = -*stride);
    }
}

/// Lets the box be walked through such that each element finds those of its own piece that it needs; `None` if there is no such way, or if two
/// operands are the same element for some elements of the box and not for others: there scalars are simplified further.
pub fn ordered(mut piece: Piece) -> Option<Piece> {
    let n: usize = piece.sizes.iter().map(|&n| n as usize).product();
    let mut all: Vec<&Located> = piece.equations.iter().flat_map(|e| &e.operands).map(|o| &o.of).collect();
    all.sort_unstable();
    all.dedup();
    let reach = |place: &Located| {
        let ends = place.strides.iter().zip(&piece.sizes).map(|(stride, &n)| stride * (i64::from(n) - 1));
        let (low, high): (i64, i64) = ends.fold((0, 0), |(low, high), end| (low + end.min(0), high + end.max(0)));
        (place.first as i64 + low, place.first as i64 + high)
    };
    let overlap = |a: &Located, b: &Located| {
        let ((a_low, a_high), (b_low, b_high)) = (reach(a), reach(b));
        (a.variable, a.is_derivative) == (b.variable, b.is_derivative) && a_low <= b_high && b_low <= a_high
    };
    for (k, a) in all.iter().enumerate() {
        for b in &all[..k] {
            if a.strides != b.strides
                && overlap(a, b)
                && a.elements(&piece.sizes).zip(b.elements(&piece.sizes)).any(|(a, b)| a == b)
            {
                return None;
            }
        }
    }
    let mut directions = BTreeSet::new();
    for target in &piece.targets {
        let mut element_of: HashMap<usize, usize> = HashMap::new();
        for other in all.iter().copied().filter(|other| *other != target && overlap(other, target)) {
            if element_of.is_empty() {
                element_of.extend(target.elements(&piece.sizes).enumerate().map(|(k, at)| (at, k)));
            }
            for (k, at) in other.elements(&piece.sizes).enumerate() {
                match element_of.get(&at) {
                    Some(&by) if by == k => return None,
                    Some(&by) => {
                        directions.insert(by > k);
                    }
                    None => {}
                }
            }
        }
        if !element_of.is_empty() && element_of.len() < n {
            return None;
        }
    }
    match directions.into_iter().collect::<Vec<_>>()[..] {
        [] => Some(piece),
        // Several unknowns are several loops, and none may need what a later one computes.
        _ if piece.targets.len() > 1 => None,
        [false] => Some(piece),
        [true] => {
            let Piece { sizes, equations, targets, .. } = &mut piece;
            let operands = equations.iter_mut().flat_map(|e| &mut e.operands).map(|o| &mut o.of);
            operands.chain(targets).for_each(|place| place.reverse(sizes));
            Some(piece)
        }
        _ => None,
    }
}
