//! Subscripts: `base[i, :, 2:3]`.
//!
//! A scalar subscript removes its dimension, a vector and `:` keep it: `A[1, :] : Real[3]`. Constant subscripts are checked
//! against the sizes and applied at once to array constructors (`{a, b}[2]` is `b`); `x[2:5][1]` becomes `x[2]`, so that
//! `Index` nodes are never nested.
//!
//! Specification: "Indexing".

use saltus_base::Span;
use saltus_flat::{BaseType, Dim, Expr, ExprKind, Subscript, Type};

use crate::Context;
use crate::diagnostics as d;
use crate::literal::literal_integer;
use crate::operators::{fail, has_value};
use crate::shape::map_elements;

/// A subscript as written; its type tells an index from a slice.
#[derive(Clone, Debug)]
pub enum SubscriptArgument {
    /// `:`
    All(Span),
    Expr(Expr),
}

/// `base[subscripts]`
pub fn index(cx: &mut dyn Context, base: Expr, subscripts: Vec<SubscriptArgument>, span: Span) -> Expr {
    if base.is_error() || !has_value(cx, &base) {
        return Expr::error(span);
    }
    if subscripts.is_empty() {
        return base;
    }
    if subscripts.len() > base.ty.rank() {
        let diagnostic = d::too_many_subscripts(cx, &base, subscripts.len(), span);
        return fail(cx, diagnostic, span);
    }
    let mut checked = Vec::with_capacity(subscripts.len());
    let mut ok = true;
    for (i, subscript) in subscripts.into_iter().enumerate() {
        match check_subscript(cx, &base, i, subscript) {
            Some(subscript) => checked.push(subscript),
            None => ok = false,
        }
    }
    if !ok {
        return Expr::error(span);
    }
    apply(cx, base, checked, span)
}

/// The subscript of dimension `i` (from 0), with its type and, where it is constant, its value checked.
fn check_subscript(cx: &mut dyn Context, base: &Expr, i: usize, subscript: SubscriptArgument) -> Option<Subscript> {
    let expr = match subscript {
        SubscriptArgument::All(_) => return Some(Subscript::All),
        SubscriptArgument::Expr(expr) => expr,
    };
    if expr.is_error() || !has_value(cx, &expr) {
        return None;
    }
    let size = base.ty.dims.get(i).copied().unwrap_or(Dim::Unknown);
    let n_values = match expr.ty.base {
        BaseType::Integer => None,
        BaseType::Boolean => Some(2),
        BaseType::Enumeration(id) => Some(cx.enum_type(id).literals.len()),
        _ => {
            let diagnostic = d::subscript_type(cx, &expr);
            cx.report(diagnostic);
            return None;
        }
    };
    if expr.ty.rank() > 1 {
        let diagnostic = d::subscript_type(cx, &expr);
        cx.report(diagnostic);
        return None;
    }
    if let Some(n) = n_values.filter(|&n| !size.fits(Dim::Known(n as u64))) {
        let diagnostic = d::subscript_does_not_fit_dimension(cx, base, i + 1, &expr, n);
        cx.report(diagnostic);
        return None;
    }
    if let Some(n) = size.known() {
        check_bounds(cx, base, i + 1, &expr, n)?;
    }
    if expr.ty.is_scalar() {
        return Some(Subscript::Index(expr));
    }
    let vector = integer_vector(cx, expr);
    (!vector.is_error()).then_some(Subscript::Slice(vector))
}

/// Constant Integer subscripts, also those inside a constructor or at the ends of a range, lie within `1..=size`.
fn check_bounds(cx: &mut dyn Context, base: &Expr, dimension: usize, subscript: &Expr, size: u64) -> Option<()> {
    let wrong =
        |e: &Expr| literal_integer(e).filter(|&value| value < 1 || value.unsigned_abs() > size).map(|v| (v, e.span));
    let found = match &subscript.kind {
        ExprKind::Array(items) => items.iter().find_map(wrong),
        ExprKind::Range { start, stop, .. } => match subscript.ty.dims.first() {
            Some(&Dim::Known(n)) if n > 0 => {
                let last = range_element(subscript, n - 1).filter(|&last| last < 1 || last.unsigned_abs() > size);
                wrong(start).or_else(|| last.map(|last| (last, stop.span)))
            }
            // It is empty, or may turn out to be.
            _ => None,
        },
        _ => wrong(subscript),
    };
    let Some((value, span)) = found else { return Some(()) };
    let diagnostic = d::out_of_bounds(cx, base, dimension, value, size, span);
    cx.report(diagnostic);
    None
}

/// A vector of subscripts as a vector of Integers: enumeration values by their ordinal, `false` as 1 and `true` as 2.
fn integer_vector(cx: &mut dyn Context, vector: Expr) -> Expr {
    match vector.ty.base {
        BaseType::Enumeration(_) => {
            let (span, ty) = (vector.span, Type::array(BaseType::Integer, vector.ty.dims.clone()));
            Expr::new(ExprKind::Cast(Box::new(vector)), ty, span)
        }
        BaseType::Boolean => map_elements(cx, vector, BaseType::Integer, &mut |_, b| boolean_position(b)),
        _ => vector,
    }
}

/// `if b then 2 else 1`
fn boolean_position(b: Expr) -> Expr {
    let span = b.span;
    match b.kind {
        ExprKind::Boolean(value) => Expr::integer(1 + i64::from(value), span),
        _ => {
            let (then, otherwise) = (Box::new(Expr::integer(2, span)), Box::new(Expr::integer(1, span)));
            Expr::new(ExprKind::If { condition: Box::new(b), then, otherwise }, Type::INTEGER, span)
        }
    }
}

/// The position (from 0) that a constant subscript picks.
fn constant_position(subscript: &Expr) -> Option<usize> {
    match subscript.kind {
        ExprKind::Boolean(value) => Some(usize::from(value)),
        ExprKind::EnumLiteral(_, ordinal) => (ordinal as usize).checked_sub(1),
        _ => usize::try_from(literal_integer(subscript)?).ok()?.checked_sub(1),
    }
}

/// Applies checked subscripts, at most as many as there are dimensions.
fn apply(cx: &mut dyn Context, base: Expr, mut subscripts: Vec<Subscript>, span: Span) -> Expr {
    while let Some(Subscript::All) = subscripts.last() {
        subscripts.pop();
    }
    if subscripts.is_empty() {
        return base;
    }
    match base.kind {
        ExprKind::Array(items) => index_constructor(cx, items, base.ty, base.span, subscripts, span),
        ExprKind::Index { base: inner, subscripts: old } => {
            let merged = merge(cx, old, subscripts, span);
            apply(cx, *inner, merged, span)
        }
        ExprKind::Range { .. } => {
            let element = match &subscripts[..] {
                [Subscript::Index(i)] => constant_position(i).and_then(|p| range_element(&base, p as u64)),
                _ => None,
            };
            element.map_or_else(|| index_node(base, subscripts, span), |value| Expr::integer(value, span))
        }
        _ => index_node(base, subscripts, span),
    }
}

fn index_node(base: Expr, subscripts: Vec<Subscript>, span: Span) -> Expr {
    let ty = indexed_type(&base.ty, &subscripts);
    Expr::new(ExprKind::Index { base: Box::new(base), subscripts }, ty, span)
}

fn indexed_type(base: &Type, subscripts: &[Subscript]) -> Type {
    let mut dims = Vec::with_capacity(base.rank());
    for (i, &size) in base.dims.iter().enumerate() {
        match subscripts.get(i) {
            Some(Subscript::Index(_)) => {}
            Some(Subscript::Slice(vector)) => dims.push(vector.ty.dims.first().copied().unwrap_or(Dim::Unknown)),
            Some(Subscript::All) | None => dims.push(size),
        }
    }
    Type::array(base.base, dims)
}

/// `{a, b}[i, …]`: a constant `i` picks, `:` and constant slices go through the elements.
fn index_constructor(
    cx: &mut dyn Context,
    mut items: Vec<Expr>,
    ty: Type,
    at: Span,
    mut subscripts: Vec<Subscript>,
    span: Span,
) -> Expr {
    let positions = match subscripts.first() {
        Some(Subscript::Index(i)) => constant_position(i).map(|p| vec![p]),
        Some(Subscript::Slice(vector)) => constant_positions(vector),
        _ => Some((0..items.len()).collect()),
    };
    let positions = positions.filter(|p| p.iter().all(|&p| p < items.len()));
    let Some(positions) = positions else {
        return index_node(Expr::new(ExprKind::Array(items), ty, at), subscripts, span);
    };
    let first = subscripts.remove(0);
    if matches!(first, Subscript::Index(_)) {
        let item = items.swap_remove(positions[0]);
        return apply(cx, item, subscripts, span);
    }
    let element_ty = indexed_type(&ty.element(1), &subscripts);
    let picked =
        if matches!(first, Subscript::All) { items } else { positions.iter().map(|&p| items[p].clone()).collect() };
    let picked: Vec<Expr> = picked.into_iter().map(|item| apply(cx, item, subscripts.clone(), span)).collect();
    let ty = element_ty.with_outer(&[Dim::Known(picked.len() as u64)]);
    Expr::new(ExprKind::Array(picked), ty, span)
}

/// The positions of a constant slice.
fn constant_positions(vector: &Expr) -> Option<Vec<usize>> {
    match &vector.kind {
        ExprKind::Array(items) => items.iter().map(constant_position).collect(),
        ExprKind::Cast(inner) => constant_positions(inner),
        ExprKind::Range { start, .. } => {
            let n = vector.ty.dims.first()?.known()?;
            if n == 0 {
                return Some(Vec::new());
            }
            // Bounds are checked, so that there are no more positions than the constructor has elements.
            literal_integer(start)?;
            (0..n).map(|p| usize::try_from(range_element(vector, p)?).ok()?.checked_sub(1)).collect()
        }
        _ => None,
    }
}

/// Element `position` (from 0) of a range of Integer literals.
fn range_element(range: &Expr, position: u64) -> Option<i64> {
    let ExprKind::Range { start, step, stop } = &range.kind else { return None };
    let n = range.ty.dims.first()?.known()?;
    literal_integer(stop)?;
    let step = step.as_ref().map_or(Some(1), |s| literal_integer(s))?;
    if position >= n {
        return None;
    }
    literal_integer(start)?.checked_add(step.checked_mul(i64::try_from(position).ok()?)?)
}

/// `x[old][new]` as one list of subscripts on `x`.
fn merge(cx: &mut dyn Context, old: Vec<Subscript>, new: Vec<Subscript>, span: Span) -> Vec<Subscript> {
    let mut new = new.into_iter();
    let mut merged = Vec::with_capacity(old.len());
    for subscript in old {
        merged.push(match subscript {
            Subscript::Index(i) => Subscript::Index(i),
            Subscript::All => new.next().unwrap_or(Subscript::All),
            Subscript::Slice(vector) => match new.next() {
                None | Some(Subscript::All) => Subscript::Slice(vector),
                Some(Subscript::Index(i)) => Subscript::Index(apply(cx, vector, vec![Subscript::Index(i)], span)),
                Some(Subscript::Slice(w)) => Subscript::Slice(apply(cx, vector, vec![Subscript::Slice(w)], span)),
            },
        });
    }
    merged.extend(new);
    merged
}
