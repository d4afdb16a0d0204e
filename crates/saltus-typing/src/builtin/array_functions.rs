//! Conversions between array shapes and matrix algebra: `vector(A)`, `transpose(A)`, `cross(x, y)`, `sum(A)`.
//!
//! Specification: "Dimensionality Conversion Functions", "Reduction Functions and Operators", "Matrix and Vector Algebra
//! Functions".

use saltus_flat::{BaseType, Builtin, Dim, Expr, Type};

use super::arguments::{Bound, Call};
use crate::Context;
use crate::concatenation;
use crate::diagnostics::calls;
use crate::shape::to_real;

const ONE: Dim = Dim::Known(1);

fn wrong_form<T>(cx: &mut dyn Context, function: &str, expected: &str, value: &Expr) -> Option<T> {
    let diagnostic = calls::array_form(cx, function, expected, value);
    cx.report(diagnostic);
    None
}

/// `scalar(A)`: all sizes are 1.
pub(super) fn scalar(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let a = call.bind_one(cx, "A")?;
    if !a.ty.dims.iter().all(|d| d.fits(ONE)) {
        return wrong_form(cx, "scalar", "exactly one element", &a);
    }
    if a.ty.is_scalar() {
        return Some(a);
    }
    let ty = Type::scalar(a.ty.base);
    Some(Expr::builtin(Builtin::Scalar, vec![a], ty, span))
}

/// `vector(A)`: at most one size above 1.
pub(super) fn vector(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let a = call.bind_one(cx, "A")?;
    if a.ty.dims.iter().filter(|d| d.known().is_some_and(|n| n > 1)).count() > 1 {
        return wrong_form(cx, "vector", "at most one size above 1", &a);
    }
    match a.ty.rank() {
        0 => return Some(concatenation::promote(a, 1)),
        1 => return Some(a),
        _ => {}
    }
    let size = a.ty.n_elements().map_or(Dim::Unknown, Dim::Known);
    let ty = Type::array(a.ty.base, [size]);
    Some(Expr::builtin(Builtin::Vector, vec![a], ty, span))
}

/// `matrix(A)`: sizes from the third on are 1.
pub(super) fn matrix(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let a = call.bind_one(cx, "A")?;
    if a.ty.rank() <= 2 {
        return Some(concatenation::promote(a, 2));
    }
    if !a.ty.dims.iter().skip(2).all(|d| d.fits(ONE)) {
        return wrong_form(cx, "matrix", "size 1 in every dimension after the second", &a);
    }
    let ty = Type::array(a.ty.base, &a.ty.dims[..2]);
    Some(Expr::builtin(Builtin::Matrix, vec![a], ty, span))
}

/// `diagonal(v)`
pub(super) fn diagonal(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let v = call.bind(cx, &["v"], 1)?.numeric_array(cx, 0, "v", 1, "a numeric vector")?;
    let n = v.ty.dims.first().copied()?;
    let ty = Type::array(v.ty.base, [n, n]);
    Some(Expr::builtin(Builtin::Diagonal, vec![v], ty, span))
}

/// `sum(A)`, `product(A)` over all elements.
pub(super) fn sum_or_product(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let a = call.bind(cx, &["A"], 1)?.numeric(cx, 0, "A")?;
    if a.ty.is_scalar() {
        return wrong_form(cx, function.name(), "an array", &a);
    }
    let ty = Type::scalar(a.ty.base);
    Some(Expr::builtin(function, vec![a], ty, span))
}

/// `transpose(A)` of anything with two dimensions or more.
pub(super) fn transpose(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let a = call.bind_one(cx, "A")?;
    if a.ty.rank() < 2 {
        return wrong_form(cx, "transpose", "at least two dimensions", &a);
    }
    let mut ty = a.ty.clone();
    ty.dims.swap(0, 1);
    Some(Expr::builtin(Builtin::Transpose, vec![a], ty, span))
}

/// `outerProduct(x, y)`
pub(super) fn outer_product(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["x", "y"], 2)?;
    let x = to_real(bound.numeric_array(cx, 0, "x", 1, "a Real vector")?);
    let y = to_real(bound.numeric_array(cx, 1, "y", 1, "a Real vector")?);
    let dims: Vec<Dim> = x.ty.dims.iter().chain(&y.ty.dims).copied().collect();
    Some(Expr::builtin(Builtin::OuterProduct, vec![x, y], Type::array(BaseType::Real, dims), span))
}

/// `symmetric(A)`
pub(super) fn symmetric(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let a = to_real(call.bind(cx, &["A"], 1)?.numeric_array(cx, 0, "A", 2, "a Real matrix")?);
    match a.ty.dims[..] {
        [n, m] if n.fits(m) => {
            let n = if n == Dim::Unknown { m } else { n };
            Some(Expr::builtin(Builtin::Symmetric, vec![a], Type::array(BaseType::Real, [n, n]), span))
        }
        _ => wrong_form(cx, "symmetric", "as many rows as columns", &a),
    }
}

/// A Real vector of size 3.
fn three_vector(cx: &mut dyn Context, bound: &mut Bound, position: usize, name: &str) -> Option<Expr> {
    let expected = "a Real vector of size 3";
    let v = bound.numeric_array(cx, position, name, 1, expected)?;
    match v.ty.dims[..] {
        [n] if n.fits(Dim::Known(3)) => Some(to_real(v)),
        _ => bound.wrong_type(cx, position, name, expected, &v),
    }
}

/// `cross(x, y)`
pub(super) fn cross(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["x", "y"], 2)?;
    let (x, y) = (three_vector(cx, &mut bound, 0, "x")?, three_vector(cx, &mut bound, 1, "y")?);
    Some(Expr::builtin(Builtin::Cross, vec![x, y], Type::array(BaseType::Real, [Dim::Known(3)]), span))
}

/// `skew(x)`
pub(super) fn skew(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["x"], 1)?;
    let x = three_vector(cx, &mut bound, 0, "x")?;
    let three = Dim::Known(3);
    Some(Expr::builtin(Builtin::Skew, vec![x], Type::array(BaseType::Real, [three, three]), span))
}
