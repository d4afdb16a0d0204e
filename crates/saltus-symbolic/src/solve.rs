//! Solving a scalar equation for one of its unknowns.
//!
//! ```text
//! m * a = f - d * v     for a     ⇒     (f - d * v) / m          if m is never zero
//! y = p * exp(x) + q    for x     ⇒     log((y - q) / p)         if p is never zero
//! ```
//!
//! Linear equations are solved where the coefficient is non-zero in every branch. Otherwise the side with the unknown is taken
//! off from outside, operation by operation, as long as each has an inverse that loses no solution and adds none: one to
//! one on the reals. Where the other side is outside the range (`exp(x) = -1`), there is no solution and the inverse is no
//! number, which shows at run time.

use saltus_program::{BinaryFn, SlotId, UnaryFn};

use crate::dag::{Dag, Node, NodeId};
use crate::linear::Degree;

/// Asked whether an expression may be taken as never zero.
type NonZero<'a> = &'a dyn Fn(&Dag, NodeId) -> bool;

impl Dag {
    /// `left = right` solved for `slot`, free of it. `nonzero` says which coefficients may be divided by that are not
    /// evidently non-zero, for example parameters.
    pub fn solve(&mut self, left: NodeId, right: NodeId, slot: SlotId, nonzero: NonZero) -> Option<NodeId> {
        let walk = self.walk(&[left, right], |_, _| true);
        let degrees = self.degrees(&walk, &|s| s == slot);
        let solution = {
            let degree = |id| walk.place(id).and_then(|p| degrees.get(p)).copied().unwrap_or(Degree::Free);
            self.solve_by_degree((left, right), slot, &degree, nonzero)
        };
        self.finish(walk);
        solution
    }

    fn solve_by_degree(
        &mut self,
        (left, right): (NodeId, NodeId),
        slot: SlotId,
        degree: &dyn Fn(NodeId) -> Degree,
        nonzero: NonZero,
    ) -> Option<NodeId> {
        let (mut side, mut other) = match (degree(left), degree(right)) {
            (Degree::Free, Degree::Free) => return None,
            (_, Degree::Free) => (left, right),
            (Degree::Free, _) => (right, left),
            (Degree::Linear, Degree::Linear) => return self.solve_linear(left, right, slot, nonzero),
            _ => return None,
        };
        while degree(side) != Degree::Linear {
            (side, other) = self.take_off(side, other, degree, nonzero)?;
        }
        if self.node(side) == Node::Load(slot) {
            return Some(other);
        }
        self.solve_linear(side, other, slot, nonzero)
    }

    fn solve_linear(&mut self, left: NodeId, right: NodeId, slot: SlotId, nonzero: NonZero) -> Option<NodeId> {
        let (a, b) = self.linear(left, slot)?;
        let (c, d) = self.linear(right, slot)?;
        let (coefficient, rest) = (self.sub(a, c), self.sub(d, b));
        if !self.is_nonzero(coefficient, nonzero) {
            return None;
        }
        Some(self.quotient(rest, coefficient))
    }

    /// `f(x) = other` becomes `x = f⁻¹(other)` for the outermost operation.
    fn take_off(
        &mut self,
        side: NodeId,
        other: NodeId,
        degree: &dyn Fn(NodeId) -> Degree,
        nonzero: NonZero,
    ) -> Option<(NodeId, NodeId)> {
        match self.node(side) {
            Node::Unary(function, x) => Some((x, self.inverse(function, other)?)),
            Node::Binary(function, a, b) if degree(b) == Degree::Free => {
                self.take_off_right(function, a, b, other, nonzero)
            }
            Node::Binary(function, a, b) if degree(a) == Degree::Free => {
                self.take_off_left(function, a, b, other, nonzero)
            }
            _ => None,
        }
    }

    fn inverse(&mut self, function: UnaryFn, y: NodeId) -> Option<NodeId> {
        let inverse = match function {
            UnaryFn::Negate => UnaryFn::Negate,
            UnaryFn::Not => UnaryFn::Not,
            UnaryFn::Exp => UnaryFn::Log,
            UnaryFn::Log => UnaryFn::Exp,
            UnaryFn::Sinh => UnaryFn::Asinh,
            UnaryFn::Asinh => UnaryFn::Sinh,
            UnaryFn::Tanh => UnaryFn::Atanh,
            UnaryFn::Atanh => UnaryFn::Tanh,
            UnaryFn::Log10 => {
                let ten = self.constant(10.0);
                return Some(self.binary(BinaryFn::Pow, ten, y));
            }
            _ => return None,
        };
        Some(self.unary(inverse, y))
    }

    /// `a f b = other` with the unknown in `a`.
    fn take_off_right(
        &mut self,
        function: BinaryFn,
        a: NodeId,
        b: NodeId,
        other: NodeId,
        nonzero: NonZero,
    ) -> Option<(NodeId, NodeId)> {
        let rest = match function {
            BinaryFn::Add => self.sub(other, b),
            BinaryFn::Sub => self.add(other, b),
            BinaryFn::Mul if self.is_nonzero(b, nonzero) => self.div(other, b),
            BinaryFn::Div if self.is_nonzero(b, nonzero) => self.mul(other, b),
            _ => return None,
        };
        Some((a, rest))
    }

    /// `a f b = other` with the unknown in `b`.
    fn take_off_left(
        &mut self,
        function: BinaryFn,
        a: NodeId,
        b: NodeId,
        other: NodeId,
        nonzero: NonZero,
    ) -> Option<(NodeId, NodeId)> {
        let rest = match function {
            BinaryFn::Add => self.sub(other, a),
            BinaryFn::Sub => self.sub(a, other),
            BinaryFn::Mul if self.is_nonzero(a, nonzero) => self.div(other, a),
            _ => return None,
        };
        Some((b, rest))
    }
}
