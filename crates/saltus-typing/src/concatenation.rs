//! `[a, b; c, d]` and `cat(k, …)`.
//!
//! Scalars give a literal `{{a, b}, {c, d}}`. Everything else becomes `cat(1, cat(2, …), cat(2, …))` with every part
//! promoted to the same number of dimensions, at least two: `[v1, v2] : Real[3, 2]`.
//!
//! Specification: "Concatenation along First and Second Dimensions".

use saltus_base::Span;
use saltus_flat::{Builtin, Dim, Expr, ExprKind, Type};

use crate::Context;
use crate::array::array;
use crate::diagnostics as d;
use crate::operators::{fail, has_value};
use crate::shape::{cast, common_element, map_in_place};

/// `[rows[0][0], rows[0][1]; rows[1][0], …]`
pub fn matrix(cx: &mut dyn Context, rows: Vec<Vec<Expr>>, span: Span) -> Expr {
    if rows.is_empty() || rows.iter().any(Vec::is_empty) {
        return fail(cx, d::empty_array_constructor("[]", span), span);
    }
    if rows.iter().flatten().any(Expr::is_error) {
        return Expr::error(span);
    }
    if !rows.iter().flatten().all(|e| has_value(cx, e)) {
        return Expr::error(span);
    }
    if rows.iter().flatten().all(|e| e.ty.is_scalar()) {
        return literal_matrix(cx, rows, span);
    }
    let rank = rows.iter().flatten().map(|e| e.ty.rank()).max().unwrap_or(0).max(2);
    let mut parts = Vec::with_capacity(rows.len());
    for row in rows {
        let at = row_span(&row).unwrap_or(span);
        let row: Vec<Expr> = row.into_iter().map(|e| promote(e, rank)).collect();
        parts.push(concatenate(cx, "`[…, …]`", 2, row, at));
    }
    concatenate(cx, "`[…; …]`", 1, parts, span)
}

fn row_span(row: &[Expr]) -> Option<Span> {
    Some(row.first()?.span.to(row.last()?.span))
}

/// `[1, 2; 3, 4]`
fn literal_matrix(cx: &mut dyn Context, rows: Vec<Vec<Expr>>, span: Span) -> Expr {
    let mut parts = Vec::with_capacity(rows.len());
    for row in rows {
        let at = row_span(&row).unwrap_or(span);
        parts.push(array(cx, row, at));
    }
    if parts.iter().any(Expr::is_error) {
        return Expr::error(span);
    }
    if let Some(i) = parts.iter().position(|p| p.ty.dims != parts[0].ty.dims) {
        // Said of rows of a matrix, not of vectors.
        let row = |ty: &Type| ty.with_outer(&[Dim::Known(1)]);
        let (first, other) = (row(&parts[0].ty), Expr::new(ExprKind::Error, row(&parts[i].ty), parts[i].span));
        let diagnostic = d::concatenation_mismatch(cx, "`[…; …]`", 1, Some(2), &first, &other, i + 1);
        return fail(cx, diagnostic, span);
    }
    array(cx, parts, span)
}

/// `promote(expr, rank)`: sizes of 1 appended; a scalar is wrapped in constructors.
pub(crate) fn promote(expr: Expr, rank: usize) -> Expr {
    let missing = rank.saturating_sub(expr.ty.rank());
    if missing == 0 {
        return expr;
    }
    let span = expr.span;
    if expr.ty.is_scalar() {
        return (0..missing).fold(expr, |e, _| {
            let ty = e.ty.with_outer(&[Dim::Known(1)]);
            Expr::new(ExprKind::Array(vec![e]), ty, span)
        });
    }
    let mut ty = expr.ty.clone();
    ty.dims.extend(std::iter::repeat_n(Dim::Known(1), missing));
    Expr::builtin(Builtin::Promote, vec![expr, Expr::integer(rank as i64, span)], ty, span)
}

/// `cat(axis, parts)`; one part stands for itself. `what` names the construct in messages.
pub(crate) fn concatenate(cx: &mut dyn Context, what: &str, axis: usize, mut parts: Vec<Expr>, span: Span) -> Expr {
    if parts.iter().any(Expr::is_error) {
        return Expr::error(span);
    }
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let Some(first) = parts.first() else {
        return Expr::error(span);
    };
    let mut ty = first.ty.clone();
    for (i, part) in parts.iter().enumerate().skip(1) {
        if let Err(dimension) = extend_type(cx, &mut ty, axis, part) {
            let diagnostic = d::concatenation_mismatch(cx, what, axis, dimension, &parts[0].ty, part, i + 1);
            return fail(cx, diagnostic, span);
        }
    }
    let base = ty.base;
    map_in_place(&mut parts, &mut |e| cast(cx, e, base));
    parts.insert(0, Expr::integer(axis as i64, span));
    Expr::builtin(Builtin::Cat, parts, ty, span)
}

/// The type of what was concatenated so far with one more part; else the dimension (from 1) that does not agree.
fn extend_type(cx: &mut dyn Context, ty: &mut Type, axis: usize, part: &Expr) -> Result<(), Option<usize>> {
    let base = common_element(cx, ty.base, part.ty.base).ok_or(None)?;
    if ty.rank() != part.ty.rank() {
        return Err(None);
    }
    for (i, (size, &other)) in ty.dims.iter_mut().zip(&part.ty.dims).enumerate() {
        if i + 1 == axis {
            let total = size.known().zip(other.known()).and_then(|(a, b)| a.checked_add(b));
            *size = total.map_or(Dim::Unknown, Dim::Known);
        } else if !size.fits(other) {
            return Err(Some(i + 1));
        } else if *size == Dim::Unknown {
            *size = other;
        }
    }
    ty.base = base;
    Ok(())
}
