//! Reductions `sum(e for i in r)` and array constructors with iterators `{e for i in r}`.
//!
//! Iterators come in the order of the flat model: the first is the outermost loop and, for arrays, the first dimension.
//! Modelica writes them the other way round: `{e for i in a, j in b}` is `{{e for i in a} for j in b}`, whose first
//! dimension belongs to `j`, so the caller passes `[j, i]`.
//!
//! Specification: "Reduction Expressions", "Constructor with Iterators".

use saltus_base::Span;
use saltus_flat::{BaseType, Expr, ExprKind, Iterator, ReductionOp, Type};

use crate::Context;
use crate::diagnostics::calls;
use crate::operators::{fail, has_value};

pub fn reduction(cx: &mut dyn Context, op: ReductionOp, body: Expr, iterators: Vec<Iterator>, span: Span) -> Expr {
    let mut outer = Vec::with_capacity(iterators.len());
    for iterator in &iterators {
        if iterator.range.is_error() {
            return Expr::error(span);
        }
        match iterator.range.ty.dims[..] {
            [size] => outer.push(size),
            _ => {
                let diagnostic = calls::iterator_not_vector(cx, &iterator.range);
                return fail(cx, diagnostic, span);
            }
        }
    }
    if body.is_error() || !has_value(cx, &body) {
        return Expr::error(span);
    }
    if !is_reducible(cx, op, &body) {
        return Expr::error(span);
    }
    let ty = match op {
        ReductionOp::Array => body.ty.with_outer(&outer),
        _ => body.ty.clone(),
    };
    Expr::new(ExprKind::Reduction { op, body: Box::new(body), iterators }, ty, span)
}

/// May `op` reduce values like `body`? Reports it where not.
pub fn is_reducible(cx: &mut dyn Context, op: ReductionOp, body: &Expr) -> bool {
    let is_allowed = is_allowed(op, &body.ty);
    if !is_allowed {
        let diagnostic = calls::reduction_body(cx, op, body);
        cx.report(diagnostic);
    }
    is_allowed
}

/// The table "Reduction expressions with iterators".
fn is_allowed(op: ReductionOp, body: &Type) -> bool {
    match op {
        ReductionOp::Array => true,
        ReductionOp::Sum => body.is_numeric() || matches!(body.base, BaseType::Record(_)),
        ReductionOp::Product => body.is_numeric() && body.is_scalar(),
        ReductionOp::Min | ReductionOp::Max => {
            body.is_scalar()
                && matches!(
                    body.base,
                    BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_)
                )
        }
    }
}

/// The name of the reduction in Modelica text.
pub(crate) fn reduction_name(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Sum => "sum",
        ReductionOp::Product => "product",
        ReductionOp::Min => "min",
        ReductionOp::Max => "max",
        ReductionOp::Array => "array",
    }
}
