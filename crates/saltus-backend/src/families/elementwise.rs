//! Array equations as families: the equation of one element, whose place in the array is given by iterators.
//!
//! ```text
//! der(T) = (Q[1:n] - Q[2:n + 1]) / C     ⇒     der(T[i]) = (Q[i] - Q[i + 1]) / C     i in 1:n
//! ```

use saltus_base::{Index, Span};
use saltus_flat::family::{Affine, Counter, affine, affine_expr};
use saltus_flat::{
    BinaryOp, Builtin, Dim, Expr, ExprKind, FlatModel, Iterator, LocalId, ReductionOp, Subscript, Type, UnaryOp,
};

/// Parameters that are computed from each other in a subscript.
const DEEPEST_PARAMETER: u32 = 16;

/// Iterators over the dimensions of an array, counted from 1; their locals are none of the model.
pub fn counters(ty: &Type) -> Option<Vec<Counter>> {
    let counter = |(d, size): (usize, &Dim)| {
        let n = size.known().filter(|&n| n > 0)?;
        Some(Counter { local: LocalId::from_usize(u32::MAX as usize - 1 - d), first: 1, step: 1, n })
    };
    ty.dims.iter().enumerate().map(counter).collect()
}

/// The element of an array expression at the place of the counters; `None` if it is more than a choice of elements and arithmetic on them.
pub fn element(model: &FlatModel, e: &Expr, counters: &[Counter]) -> Option<Expr> {
    let place: Vec<Expr> = (0..counters.len()).map(|d| iterator(counters, d, e.span)).collect();
    Elements { model, counters }.element(e, &place)
}

fn iterator(counters: &[Counter], d: usize, span: Span) -> Expr {
    let mut factors = vec![0; counters.len()];
    factors[d] = 1;
    affine_expr(&Affine { constant: 0, factors }, counters, span)
}

/// The value of an Integer parameter that decided about the structure.
pub fn structural_value(model: &FlatModel, e: &Expr) -> Option<i64> {
    value_at_depth(model, e, DEEPEST_PARAMETER)
}

fn value_at_depth(model: &FlatModel, e: &Expr, depth: u32) -> Option<i64> {
    let ExprKind::Var(id) = e.kind else { return None };
    let variable = model.variables.get(id).filter(|v| v.is_structural && depth > 0)?;
    let value = affine(variable.binding.as_ref()?, &[], &mut |e| value_at_depth(model, e, depth - 1))?;
    Some(value.constant)
}

struct Elements<'m, 'c> {
    model: &'m FlatModel,
    counters: &'c [Counter],
}

impl Elements<'_, '_> {
    /// `place` has as many subscripts as the expression dimensions.
    fn element(&self, e: &Expr, place: &[Expr]) -> Option<Expr> {
        if e.ty.is_scalar() {
            return Some(e.clone());
        }
        let kind = match &e.kind {
            ExprKind::Var(_) => ExprKind::Index {
                base: e.clone().into(),
                subscripts: place.iter().cloned().map(Subscript::Index).collect(),
            },
            ExprKind::Index { base, subscripts } => {
                ExprKind::Index { base: base.clone(), subscripts: self.composed(base, subscripts, place)? }
            }
            ExprKind::Unary(UnaryOp::Negate, a) => ExprKind::Unary(UnaryOp::Negate, self.element(a, place)?.into()),
            ExprKind::Cast(a) => ExprKind::Cast(self.element(a, place)?.into()),
            ExprKind::Binary(op, a, b) if is_elementwise(*op) => {
                ExprKind::Binary(*op, self.element(a, place)?.into(), self.element(b, place)?.into())
            }
            ExprKind::Builtin { function: Builtin::Der, arguments } => {
                let arguments = vec![self.element(arguments.first()?, place)?];
                ExprKind::Builtin { function: Builtin::Der, arguments }
            }
            ExprKind::Builtin { function: Builtin::Fill, arguments } => {
                return arguments.first().filter(|value| value.ty.is_scalar()).cloned();
            }
            ExprKind::Builtin { function: function @ (Builtin::Zeros | Builtin::Ones), .. } => {
                ExprKind::Integer(i64::from(*function == Builtin::Ones))
            }
            ExprKind::Reduction { op: ReductionOp::Array, body, iterators } if body.ty.is_scalar() => {
                return self.constructed(body, iterators, place);
            }
            _ => return None,
        };
        Some(Expr::new(kind, Type::scalar(e.ty.base), e.span))
    }

    /// The subscripts of an element of `base[subscripts]`.
    fn composed(&self, base: &Expr, subscripts: &[Subscript], place: &[Expr]) -> Option<Vec<Subscript>> {
        if !matches!(base.kind, ExprKind::Var(_)) {
            return None;
        }
        let mut place = place.iter();
        let mut composed = Vec::with_capacity(base.ty.rank());
        for d in 0..base.ty.rank() {
            composed.push(Subscript::Index(match subscripts.get(d) {
                None | Some(Subscript::All) => place.next()?.clone(),
                Some(Subscript::Index(e)) => e.clone(),
                Some(Subscript::Slice(range)) => self.in_range(range, place.next()?)?,
            }));
        }
        Some(composed)
    }

    /// `first + step * (place - 1)`
    fn in_range(&self, range: &Expr, place: &Expr) -> Option<Expr> {
        let ExprKind::Range { start, step, .. } = &range.kind else { return None };
        let known = |e: &Expr| affine(e, &[], &mut |e| structural_value(self.model, e)).map(|form| form.constant);
        let (first, step) = (known(start)?, step.as_deref().map_or(Some(1), known)?);
        let form = affine(place, self.counters, &mut |_| None)?;
        let factors = form.factors.iter().map(|factor| factor * step).collect();
        let form = Affine { constant: first + step * (form.constant - 1), factors };
        Some(affine_expr(&form, self.counters, range.span))
    }

    /// The body of `{body for i in …}` with the iterators at this place.
    fn constructed(&self, body: &Expr, iterators: &[Iterator], place: &[Expr]) -> Option<Expr> {
        let mut body = body.clone();
        for (iterator, at) in iterators.iter().zip(place) {
            let value = self.in_range(&iterator.range, at)?;
            replace(&mut body, iterator.local, &value);
        }
        (iterators.len() == place.len()).then_some(body)
    }
}

fn is_elementwise(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
}

fn replace(e: &mut Expr, local: LocalId, value: &Expr) {
    match &e.kind {
        ExprKind::Local(own) if *own == local => *e = value.clone(),
        _ => e.for_each_child_mut(&mut |child| replace(child, local, value)),
    }
}
