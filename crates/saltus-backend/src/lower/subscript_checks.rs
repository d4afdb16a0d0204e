//! Subscripts that are known at run time only: an assertion says that they are inside the array.
//!
//! ```text
//! y = if on then a[i] else 0   with Real a[3]     ⇒     assert(not on or 1 <= i and i <= 3, "the subscript 6 in `a[i]` is outside 1 to 3")
//! ```
//!
//! The assertion counts where the subscript is reached, like those of functions. What is read outside is not a number, so
//! that nothing is computed from it where nobody checks the assertion. (Specification: section 10.5.1.)

use std::rc::Rc;

use saltus_base::{Index, Span};
use saltus_flat::{BinaryOp, Builtin, Expr, ExprKind, LocalId, Type};
use saltus_program::BinaryFn;

use super::function_assertions::FunctionAssertion;
use super::texts::Wording;
use super::value::{Template, Value};
use super::{Lowered, Lowering};
use crate::dag::NodeId;
use crate::diagnostics;

impl<'a> Lowering<'a, '_> {
    /// Asserts that `index` is a subscript of a dimension of this size where `access` is reached.
    pub fn assert_subscript(&mut self, index: NodeId, size: usize, access: &'a Expr) -> Lowered<()> {
        let is_inside = self.is_inside(index, size);
        let wording = diagnostics::subscript_outside(&self.text_of(access), size);
        self.assert_reached(is_inside, access.span, |l| l.wording_with(index, wording, access.span))
    }

    /// Asserts a condition where this place is reached.
    pub fn assert_reached(
        &mut self,
        condition: NodeId,
        span: Span,
        wording: impl FnOnce(&mut Self) -> Wording,
    ) -> Lowered<()> {
        self.assert_reached_or_warn(condition, false, span, wording)
    }

    /// The same, or a warning.
    pub fn assert_reached_or_warn(
        &mut self,
        condition: NodeId,
        is_warning: bool,
        span: Span,
        wording: impl FnOnce(&mut Self) -> Wording,
    ) -> Lowered<()> {
        let guard = self.reached();
        let holds = self.implies(guard, condition);
        if self.system.dag.value(holds).is_some_and(|v| v != 0.0) {
            return Ok(());
        }
        let message = wording(self);
        let assertion = FunctionAssertion::new(holds, message, span).at_level(is_warning);
        if self.function.is_some() {
            // A function that is called checks what it computes itself.
            let is_full = !self.postpone(assertion);
            return if is_full { self.unsupported("a function with so many checks", span) } else { Ok(()) };
        }
        if let Some(times) = self.times().filter(|_| !self.folds_parameters) {
            self.keep(assertion, times);
        }
        Ok(())
    }

    /// 1 <= index and index <= size
    pub fn is_inside(&mut self, index: NodeId, size: usize) -> NodeId {
        let dag = &mut self.system.dag;
        let (first, last) = (dag.constant(1.0), dag.constant(size as f64));
        let (from, to) =
            (dag.binary(BinaryFn::GreaterEqual, index, first), dag.binary(BinaryFn::LessEqual, index, last));
        dag.and(from, to)
    }

    /// Between the two parts of the message stands the value of an Integer then.
    pub fn wording_with(&mut self, number: NodeId, (before, after): (String, String), span: Span) -> Wording {
        let value = Value::Number(number);
        let hole = Expr::new(ExprKind::Local(LocalId::from_usize(0)), Type::INTEGER, span);
        let number = Expr::builtin(Builtin::ToString, vec![hole], Type::STRING, span);
        let joined =
            |a: Expr, b: Expr| Expr::new(ExprKind::Binary(BinaryOp::Add, Box::new(a), Box::new(b)), Type::STRING, span);
        let text = joined(joined(Expr::string(&before, span), number), Expr::string(&after, span));
        let number = self.system.memo.n_templates;
        self.system.memo.n_templates += 1;
        let template = Template { number, text, holes: vec![(Type::INTEGER, value)] };
        Wording::with_numbers(format!("{before}{{…}}{after}"), Rc::new(template), span)
    }
}
