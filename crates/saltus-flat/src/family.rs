//! Families of equations: one equation for all elements of a box, which stays one until the back end.
//!
//! ```text
//! for i in 2:n loop                         {Q[i] for i in 2:n} = {k * (T[i - 1] - T[i]) for i in 2:n}
//!   Q[i] = k * (T[i - 1] - T[i]);     ⇒     box 2, 3, … n     body Q[i] = k * (T[i - 1] - T[i])
//! end for;                                  subscripts i, i - 1: affine
//! ```
//!
//! In the flat model such an equation is one between two array constructors with the same iterators. This module reads and makes it.

use saltus_base::Span;

use crate::{BaseType, BinaryOp, Builtin, Dim, Expr, ExprKind, Iterator, LocalId, ReductionOp, Type, UnaryOp};

/// An iterator over `first, first + step, …`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    pub local: LocalId,
    pub first: i64,
    pub step: i64,
    pub n: u64,
}

impl Counter {
    /// `first:step:last`; `None` if that is empty or has no step.
    pub fn new(local: LocalId, first: i64, step: i64, last: i64) -> Option<Counter> {
        let span = last.checked_sub(first)?;
        let is_empty = step == 0 || span != 0 && (span > 0) != (step > 0);
        let n = if is_empty { 0 } else { span / step + 1 };
        (n > 0).then_some(Counter { local, first, step, n: n as u64 })
    }

    pub fn last(&self) -> i64 {
        self.first + self.step * (self.n as i64 - 1)
    }
}

/// An equation with iterators.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Body<'e> {
    pub left: &'e Expr,
    pub right: &'e Expr,
}

/// `constant + Σ factor · iterator`, by position of the iterators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Affine {
    pub constant: i64,
    pub factors: Vec<i64>,
}

impl Affine {
    pub fn is_constant(&self) -> bool {
        self.factors.iter().all(|&f| f == 0)
    }

    /// The least and the greatest value in the box.
    pub fn bounds(&self, counters: &[Counter]) -> (i64, i64) {
        let mut bounds = (self.constant, self.constant);
        for (factor, counter) in self.factors.iter().zip(counters) {
            let (a, b) = (factor * counter.first, factor * counter.last());
            bounds = (bounds.0 + a.min(b), bounds.1 + a.max(b));
        }
        bounds
    }

    /// The value in the first element of the box.
    pub fn first(&self, counters: &[Counter]) -> i64 {
        self.constant + self.factors.iter().zip(counters).map(|(factor, c)| factor * c.first).sum::<i64>()
    }

    /// How it changes from one element to the next in each dimension.
    pub fn steps(&self, counters: &[Counter]) -> impl std::iter::Iterator<Item = i64> {
        self.factors.iter().zip(counters).map(|(factor, c)| factor * c.step)
    }

    fn combine(self, other: Affine, sign: i64) -> Option<Affine> {
        let constant = self.constant.checked_add(other.constant.checked_mul(sign)?)?;
        let factors = self.factors.iter().zip(&other.factors);
        let factors: Option<Vec<i64>> = factors.map(|(a, b)| a.checked_add(b.checked_mul(sign)?)).collect();
        Some(Affine { constant, factors: factors? })
    }

    fn scaled(self, by: i64) -> Option<Affine> {
        let factors: Option<Vec<i64>> = self.factors.iter().map(|f| f.checked_mul(by)).collect();
        Some(Affine { constant: self.constant.checked_mul(by)?, factors: factors? })
    }
}

/// The affine form of an Integer expression; `known` gives values of parts without iterators.
pub fn affine(e: &Expr, counters: &[Counter], known: &mut dyn FnMut(&Expr) -> Option<i64>) -> Option<Affine> {
    let constant = |constant: i64| Affine { constant, factors: vec![0; counters.len()] };
    match &e.kind {
        ExprKind::Integer(value) => Some(constant(*value)),
        ExprKind::Local(local) => {
            let at = counters.iter().position(|c| c.local == *local)?;
            let mut of_iterator = constant(0);
            of_iterator.factors[at] = 1;
            Some(of_iterator)
        }
        ExprKind::Unary(UnaryOp::Negate, operand) => affine(operand, counters, known)?.scaled(-1),
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            let sign = if *op == BinaryOp::Add { 1 } else { -1 };
            affine(a, counters, known)?.combine(affine(b, counters, known)?, sign)
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) => match (affine(a, counters, known)?, affine(b, counters, known)?) {
            (factor, other) | (other, factor) if factor.is_constant() => other.scaled(factor.constant),
            _ => None,
        },
        _ => known(e).map(constant),
    }
}

/// The affine form as an expression.
pub fn affine_expr(form: &Affine, counters: &[Counter], span: Span) -> Expr {
    let integer = |kind| Expr::new(kind, Type::INTEGER, span);
    let mut sum: Option<Expr> = None;
    for (&factor, counter) in form.factors.iter().zip(counters).filter(|(factor, _)| **factor != 0) {
        let local = integer(ExprKind::Local(counter.local));
        let term = match factor {
            1 => local,
            _ => integer(ExprKind::Binary(BinaryOp::Mul, Expr::integer(factor, span).into(), local.into())),
        };
        sum = Some(match sum {
            Some(sum) => integer(ExprKind::Binary(BinaryOp::Add, sum.into(), term.into())),
            None => term,
        });
    }
    let constant = |value: i64| Box::new(Expr::integer(value, span));
    match (sum, form.constant) {
        (Some(sum), 0) => sum,
        (Some(sum), c) if c > 0 => integer(ExprKind::Binary(BinaryOp::Add, sum.into(), constant(c))),
        (Some(sum), c) => integer(ExprKind::Binary(BinaryOp::Sub, sum.into(), constant(-c))),
        (None, c) => *constant(c),
    }
}

/// `{body for i in …, j in …}` over the box.
pub fn spread(body: Expr, counters: &[Counter], span: Span) -> Expr {
    let dims: Vec<Dim> = counters.iter().map(|c| Dim::Known(c.n)).collect();
    let ty = body.ty.with_outer(&dims);
    let iterators = counters.iter().map(|c| Iterator { local: c.local, range: range(c, span) }).collect();
    Expr::new(ExprKind::Reduction { op: ReductionOp::Array, body: body.into(), iterators }, ty, span)
}

fn range(counter: &Counter, span: Span) -> Expr {
    let number = |value: i64| Box::new(Expr::integer(value, span));
    let step = (counter.step != 1).then(|| number(counter.step));
    let kind = ExprKind::Range { start: number(counter.first), step, stop: number(counter.last()) };
    Expr::new(kind, Type::array(BaseType::Integer, [Dim::Known(counter.n)]), span)
}

/// Is it arithmetic on numbers, variables, their elements and derivatives, without events and without functions of the model?
pub fn is_arithmetic(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Real(_) | ExprKind::Integer(_) | ExprKind::Time => true,
        ExprKind::Var(_) => e.ty.is_scalar() && e.ty.is_numeric(),
        ExprKind::Index { base, .. } => e.ty == Type::REAL && matches!(base.kind, ExprKind::Var(_)),
        ExprKind::Builtin { function: Builtin::Der, arguments } => {
            arguments.iter().all(|a| matches!(a.kind, ExprKind::Index { .. }) && is_arithmetic(a))
        }
        ExprKind::Cast(operand) | ExprKind::Unary(UnaryOp::Negate, operand) => is_arithmetic(operand),
        ExprKind::Binary(op, a, b) => {
            let is_operator =
                matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow);
            is_operator && is_arithmetic(a) && is_arithmetic(b)
        }
        ExprKind::Builtin { function, arguments } => is_smooth(*function) && arguments.iter().all(is_arithmetic),
        _ => false,
    }
}

/// Functions without events.
fn is_smooth(function: Builtin) -> bool {
    use Builtin::{Acos, Asin, Atan, Atan2, Cos, Cosh, Exp, Log, Log10, Sin, Sinh, Sqrt, Tan, Tanh};
    matches!(function, Sin | Cos | Tan | Asin | Acos | Atan | Atan2 | Sinh | Cosh | Tanh | Exp | Log | Log10 | Sqrt)
}

/// The box and the body of an equation between two array constructors over the same box.
pub fn read<'e>(left: &'e Expr, right: &'e Expr) -> Option<(Vec<Counter>, Body<'e>)> {
    let (counters, left) = constructor(left)?;
    let (others, right) = constructor(right)?;
    (counters == others && left.ty.is_scalar() && right.ty.is_scalar()).then_some((counters, Body { left, right }))
}

fn constructor(e: &Expr) -> Option<(Vec<Counter>, &Expr)> {
    let ExprKind::Reduction { op: ReductionOp::Array, body, iterators } = &e.kind else { return None };
    let counters: Option<Vec<Counter>> = iterators.iter().map(counter).collect();
    Some((counters?, body))
}

fn counter(iterator: &Iterator) -> Option<Counter> {
    let ExprKind::Range { start, step, stop } = &iterator.range.kind else { return None };
    let literal = |e: &Expr| if let ExprKind::Integer(value) = e.kind { Some(value) } else { None };
    let (first, last) = (literal(start)?, literal(stop)?);
    Counter::new(iterator.local, first, step.as_deref().map_or(Some(1), literal)?, last)
}

#[cfg(test)]
mod tests {
    use saltus_base::Index;

    use super::*;

    fn counter(k: usize, first: i64, step: i64, n: u64) -> Counter {
        Counter { local: LocalId::from_usize(k), first, step, n }
    }

    #[test]
    fn affine_forms_are_written_as_they_are_read() {
        let counters = [counter(0, 2, 1, 5), counter(1, 9, -2, 3)];
        for (constant, factors) in [(0, [1, 0]), (-1, [1, 0]), (3, [2, -1]), (7, [0, 0])] {
            let form = Affine { constant, factors: factors.to_vec() };
            let written = affine_expr(&form, &counters, Span::nowhere());
            assert_eq!(affine(&written, &counters, &mut |_| None), Some(form));
        }
    }

    #[test]
    fn bounds_are_those_of_the_box() {
        let counters = [counter(0, 2, 1, 5), counter(1, 9, -2, 3)];
        // i is 2 to 6, j is 9, 7, 5: 3 + 2 i - j is from 3 + 4 - 9 to 3 + 12 - 5.
        let form = Affine { constant: 3, factors: vec![2, -1] };
        assert_eq!(form.bounds(&counters), (-2, 10));
        assert_eq!(form.first(&counters), -2);
        assert_eq!(form.steps(&counters).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn empty_ranges_have_no_counter() {
        let local = LocalId::from_usize(0);
        let n = |first, step, last| Counter::new(local, first, step, last).map(|c| c.n);
        // 6:2:5, 5:-2:6 and 3:1:2 are empty (specification 10.4.3); 1:2:6 is 1, 3, 5.
        assert_eq!([n(6, 2, 5), n(5, -2, 6), n(3, 1, 2), n(1, 0, 2)], [None; 4]);
        assert_eq!([n(1, 2, 6), n(6, -2, 1), n(4, 1, 4)], [Some(3), Some(3), Some(1)]);
    }

    #[test]
    fn products_of_iterators_are_not_affine() {
        let counters = [counter(0, 1, 1, 5)];
        let local = || Box::new(Expr::new(ExprKind::Local(LocalId::from_usize(0)), Type::INTEGER, Span::nowhere()));
        let square = Expr::new(ExprKind::Binary(BinaryOp::Mul, local(), local()), Type::INTEGER, Span::nowhere());
        assert_eq!(affine(&square, &counters, &mut |_| None), None);
    }
}
