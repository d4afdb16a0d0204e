//! Loops of equations that stay loops: families (see [`saltus_flat::family`]).
//!
//! ```text
//! for i in 2:n loop  Q[i] = k * (T[i - m] - T[i]);  end for;     n = 1000, m = 1
//!     ⇒   {Q[i] for i in 2:1000} = {k * (T[i - 1] - T[i]) for i in 2:1000}
//! ```
//!
//! A loop is kept if it is long, if its equations are arithmetic between scalar Reals, without events, and if its iterators occur in subscripts of array variables
//! only, where they are affine and stay in bounds. Every other loop is unrolled, and so is one whose equations have something to
//! complain about: then the message is about one element. Loops in `if`, in `when` and in initial sections are unrolled.

use std::sync::Arc;

use saltus_base::{Index, Span};
use saltus_eval::Value;
use saltus_flat::family::{Affine, Counter, affine, affine_expr, spread};
use saltus_flat::{self as flat, EquationKind, Expr, ExprKind, Origin, Subscript, Type};
use saltus_syntax::ast;

use crate::Front;
use crate::instance::InstId;
use crate::reference::Iterated;

/// Shorter loops cost nothing unrolled, and each of their equations can then be solved for another unknown.
pub const SHORTEST_KEPT: u64 = 64;

/// Iterators that a kept loop may have.
pub const MOST_ITERATORS: usize = 3;

impl<'a> Front<'a> {
    /// The equations of a loop that is kept; `None` if it must be unrolled.
    pub fn kept_loop(
        &mut self,
        scope: InstId,
        indices: &'a [ast::ForIndex],
        body: &'a [ast::Equation],
        component: &Arc<str>,
    ) -> Option<Vec<flat::Equation>> {
        if self.context.n_clauses > 0 || self.context.in_initial_section {
            return None;
        }
        let messages = self.messages.mark();
        let n_iterators = self.context.iterators.len();
        let mut counters = self.tree[scope].outer.clone();
        let kept = self.family(scope, indices, body, component, &mut counters);
        self.context.iterators.truncate(n_iterators);
        if kept.is_none() || !self.messages.is_quiet_since(messages) {
            self.messages.take_back(messages);
            return None;
        }
        kept
    }

    fn family(
        &mut self,
        scope: InstId,
        indices: &'a [ast::ForIndex],
        body: &'a [ast::Equation],
        component: &Arc<str>,
        counters: &mut Vec<Counter>,
    ) -> Option<Vec<flat::Equation>> {
        let body = self.innermost(scope, indices, body, counters)?;
        let n = counters.iter().try_fold(1u64, |n, c| n.checked_mul(c.n))?;
        if !(SHORTEST_KEPT..=u64::from(u32::MAX)).contains(&n) {
            return None;
        }
        body.iter().map(|equation| self.kept_equation(scope, equation, component, counters)).collect()
    }

    /// Enters a loop and those of which nothing else is in it: the innermost body, with the counters behind those that are there already.
    pub fn innermost(
        &mut self,
        scope: InstId,
        indices: &'a [ast::ForIndex],
        body: &'a [ast::Equation],
        counters: &mut Vec<Counter>,
    ) -> Option<&'a [ast::Equation]> {
        for index in indices {
            let range = self.range_expression(scope, index.range.as_ref()?);
            let counter = self.counter(index, &range)?;
            counters.push(counter);
            self.context.iterators.push((index.name.name, Iterated::Local(counter.local, Type::INTEGER)));
        }
        if let [ast::Equation { kind: ast::EquationKind::For { indices, body }, .. }] = body {
            return self.innermost(scope, indices, body, counters);
        }
        (counters.len() <= MOST_ITERATORS).then_some(body)
    }

    /// A range of Integers with a constant step.
    fn counter(&mut self, index: &'a ast::ForIndex, range: &Expr) -> Option<Counter> {
        let ExprKind::Range { start, step, stop } = &range.kind else { return None };
        let mut value = |e: &Expr| match self.structural_quietly(e)? {
            Value::Integer(value) => Some(value),
            _ => None,
        };
        let (first, last) = (value(start)?, value(stop)?);
        let step = step.as_deref().map_or(Some(1), &mut value)?;
        let counter = Counter::new(flat::LocalId::from_usize(0), first, step, last)?;
        Some(Counter { local: self.new_iterator(index, Type::INTEGER), ..counter })
    }

    fn kept_equation(
        &mut self,
        scope: InstId,
        equation: &'a ast::Equation,
        component: &Arc<str>,
        counters: &[Counter],
    ) -> Option<flat::Equation> {
        let ast::EquationKind::Equality { left, right } = &equation.kind else { return None };
        let span = equation.span;
        let EquationKind::Equality { mut left, mut right } = self.equality(scope, left, right, span)? else {
            return None;
        };
        self.is_uniform_equation([&mut left, &mut right], counters).then(|| {
            let kind =
                EquationKind::Equality { left: spread(left, counters, span), right: spread(right, counters, span) };
            flat::Equation { kind, origin: Origin::Declared, component: component.clone(), span }
        })
    }

    /// Writes the subscripts with iterators as affine forms; false if an iterator occurs elsewhere, or a subscript may be out of bounds.
    pub fn settle_subscripts(&mut self, e: &mut Expr, counters: &[Counter]) -> bool {
        match &mut e.kind {
            ExprKind::Local(local) => return counters.iter().all(|c| c.local != *local),
            ExprKind::Index { base, subscripts } if matches!(base.kind, ExprKind::Var(_)) => {
                let dims: Vec<Option<u64>> = base.ty.dims.iter().map(|d| d.known()).collect();
                if subscripts.len() != dims.len() {
                    return false;
                }
                return subscripts.iter_mut().zip(dims).all(|(subscript, size)| {
                    let Subscript::Index(e) = subscript else { return false };
                    self.settled_subscript(e, size, counters).map(|settled| *e = settled).is_some()
                });
            }
            _ => {}
        }
        let mut is_uniform = true;
        e.for_each_child_mut(&mut |child| is_uniform = is_uniform && self.settle_subscripts(child, counters));
        is_uniform
    }

    fn settled_subscript(&mut self, e: &Expr, size: Option<u64>, counters: &[Counter]) -> Option<Expr> {
        let form = self.affine_subscript(e, size?, counters)?;
        let span: Span = e.span;
        Some(affine_expr(&form, counters, span))
    }

    /// The affine form of a subscript that stays in bounds.
    pub fn affine_subscript(&mut self, e: &Expr, size: u64, counters: &[Counter]) -> Option<Affine> {
        let mut known = |e: &Expr| match self.structural_quietly(e)? {
            Value::Integer(value) => Some(value),
            _ => None,
        };
        let form: Affine = affine(e, counters, &mut known)?;
        let (least, greatest) = form.bounds(counters);
        (least >= 1 && greatest as u64 <= size).then_some(form)
    }
}

pub fn mentions(e: &Expr, local: flat::LocalId) -> bool {
    let mut found = false;
    e.walk(&mut |e| found |= matches!(e.kind, ExprKind::Local(own) if own == local));
    found
}
