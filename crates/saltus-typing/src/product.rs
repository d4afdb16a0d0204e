//! `*`, `/` and `^`, which mean something of their own for vectors and matrices.
//!
//! `2 * x : Real[3]` is `Mul`, `A * x : Real[2]` and `x * x : Real` are `MatMul`, `A ^ 2` is `MatPow`.
//!
//! Specification: "Element-wise Multiplication" to "Scalar Exponentiation of Matrices".

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, Dim, Expr, Type};
use saltus_syntax::ast;

use crate::Context;
use crate::diagnostics as d;
use crate::literal::literal_integer;
use crate::operators::{elementwise, fail, node, numeric_operands};

pub(crate) fn multiply(cx: &mut dyn Context, left: Expr, right: Expr, span: Span) -> Expr {
    if left.ty.is_scalar() || right.ty.is_scalar() {
        return elementwise(cx, ast::BinaryOp::Multiply, BinaryOp::Mul, left, right, span);
    }
    let Some((left, right, base)) = numeric_operands(cx, ast::BinaryOp::Multiply, left, right) else {
        return Expr::error(span);
    };
    let (inner_left, inner_right, dims) = match (&left.ty.dims[..], &right.ty.dims[..]) {
        (&[m], &[k]) => (m, k, vec![]),
        (&[m], &[k, n]) => (m, k, vec![n]),
        (&[l, m], &[k]) => (m, k, vec![l]),
        (&[l, m], &[k, n]) => (m, k, vec![l, n]),
        _ => {
            let diagnostic = d::product_of_high_rank(cx, &left.ty, &right.ty, span);
            return fail(cx, diagnostic, span);
        }
    };
    if !inner_left.fits(inner_right) {
        let diagnostic = d::inner_sizes_differ(cx, &left.ty, &right.ty, inner_left, inner_right, span);
        return fail(cx, diagnostic, span);
    }
    node(BinaryOp::MatMul, left, right, Type::array(base, dims), span)
}

pub(crate) fn divide(cx: &mut dyn Context, left: Expr, right: Expr, span: Span) -> Expr {
    if right.ty.is_numeric() && !right.ty.is_scalar() {
        let diagnostic = d::division_by_array(cx, &right.ty, span);
        return fail(cx, diagnostic, span);
    }
    elementwise(cx, ast::BinaryOp::Divide, BinaryOp::Div, left, right, span)
}

/// Both operands of a scalar power become Real: an Integer exponent is a Real with an integral value, for which powers of
/// negative numbers are defined. A matrix keeps its type and its exponent stays Integer.
pub(crate) fn power(cx: &mut dyn Context, left: Expr, right: Expr, span: Span) -> Expr {
    if left.ty.is_scalar() && right.ty.is_scalar() || !left.ty.is_numeric() || !right.ty.is_numeric() {
        return elementwise(cx, ast::BinaryOp::Power, BinaryOp::Pow, left, right, span);
    }
    let is_square = matches!(&left.ty.dims[..], &[a, b] if a.fits(b));
    if !is_square || right.ty != Type::INTEGER {
        let diagnostic = d::power_of_array(cx, &left.ty, &right.ty, span);
        return fail(cx, diagnostic, span);
    }
    if let Some(exponent) = literal_integer(&right).filter(|&e| e < 0) {
        let at = right.span;
        return fail(cx, d::negative_matrix_power(exponent, at), span);
    }
    let ty = square(left.ty.base, &left.ty.dims);
    node(BinaryOp::MatPow, left, right, ty, span)
}

/// A square matrix type, known if one of its sizes is.
fn square(base: BaseType, dims: &[Dim]) -> Type {
    let n = dims.iter().copied().find(|d| d.known().is_some()).unwrap_or(Dim::Unknown);
    Type::array(base, [n, n])
}
