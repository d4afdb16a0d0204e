//! Integers that become larger than what is exact: an assertion says that they do not.
//!
//! ```text
//! k = mod(1103515245*pre(k) + 12345, m)     ⇒     assert(abs(1103515245*pre(k)) < 2^53, "Integer overflow: …"), the same for the sum
//! ```
//!
//! Programs hold Integers as `f64`. What a variable holds is checked by the run; what an expression has on the way to it is checked here, because
//! `mod` and comparisons would hide that it was rounded. (The specification leaves open what an overflow gives: section 3.3.)

use saltus_flat::{BaseType, BinaryOp, Expr};
use saltus_program::{BinaryFn, LARGEST_INTEGER, UnaryFn};

use super::texts::Wording;
use super::value::Value;
use super::{Lowered, Lowering};
use crate::dag::{Node, NodeId};
use crate::diagnostics;

impl<'a> Lowering<'a, '_> {
    /// Asserts that the result of an operation on Integers is exact.
    pub fn assert_exact(&mut self, op: BinaryOp, result: &Value, e: &'a Expr) -> Lowered<()> {
        let can_grow = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::MatMul);
        if e.ty.base != BaseType::Integer || !can_grow {
            return Ok(());
        }
        for node in result.scalars() {
            if self.is_step_of_variable(node) {
                continue;
            }
            let dag = &mut self.system.dag;
            let (size, most) = (dag.unary(UnaryFn::Abs, node), dag.constant(LARGEST_INTEGER));
            let is_exact = dag.binary(BinaryFn::Less, size, most);
            let wording = diagnostics::integer_overflow(&self.text_of(e));
            self.assert_reached(is_exact, e.span, |_| Wording::plain(wording, e.span))?;
        }
        Ok(())
    }

    /// `i + 1`: a variable is exact, and the next operation, or the variable that holds the sum, shows whether this one is.
    fn is_step_of_variable(&self, node: NodeId) -> bool {
        let dag = &self.system.dag;
        let is_load = |n| matches!(dag.node(n), Node::Load(_));
        let is_small = |n| dag.value(n).is_some_and(|v| v.abs() <= f64::from(i32::MAX));
        match dag.node(node) {
            Node::Binary(BinaryFn::Add | BinaryFn::Sub, a, b) => is_load(a) && is_small(b) || is_small(a) && is_load(b),
            _ => is_load(node),
        }
    }
}
