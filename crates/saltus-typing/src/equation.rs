//! Both sides of an equation, or of a statement with several results, brought to one type.
//!
//! `x = 1` becomes `x = 1.0`; in `i = x` with Integer `i` the left side is converted (the equation may determine `x`).
//!
//! Specification: "Equality and Assignment", "Standard Type Coercion".

use saltus_base::Span;
use saltus_flat::{BaseType, Expr, ExprKind, Type};

use crate::builtin::result_types;
use crate::diagnostics as d;
use crate::operators::has_value;
use crate::shape::{base_fits, cast, common_base, merge_dims, sizes_agree};
use crate::{Context, Place};

/// `left = right`. A `Tuple` on one side goes with a call on the other; for calls of user functions use [`tuple`], which
/// knows the results.
pub fn equation(cx: &mut dyn Context, left: Expr, right: Expr, span: Span) -> (Expr, Expr) {
    if let ExprKind::Tuple(_) = right.kind
        && !matches!(left.kind, ExprKind::Tuple(_))
    {
        return equation(cx, right, left, span);
    }
    if let ExprKind::Tuple(targets) = left.kind {
        return tuple_equation(cx, targets, left.span, right, span);
    }
    let errors = (Expr::error(left.span), Expr::error(right.span));
    if left.is_error() || right.is_error() || !has_value(cx, &left) || !has_value(cx, &right) {
        return errors;
    }
    let Some(base) = common_base(cx, left.ty.base, right.ty.base) else {
        let diagnostic = d::equation_types(cx, &left, &right, span);
        cx.report(diagnostic);
        return errors;
    };
    if merge_dims(&left.ty.dims, &right.ty.dims).is_none() || !sizes_agree(&left, &right) {
        let diagnostic = d::equation_sizes(cx, &left, &right, span);
        cx.report(diagnostic);
        return errors;
    }
    (cast(cx, left, base), cast(cx, right, base))
}

fn tuple_equation(cx: &mut dyn Context, targets: Vec<Option<Expr>>, at: Span, call: Expr, span: Span) -> (Expr, Expr) {
    let results = match &call.kind {
        ExprKind::Builtin { function, arguments } => result_types(*function, arguments, &call.ty),
        // The caller checks calls of user functions with `tuple`.
        ExprKind::Call { .. } => {
            return (Expr::new(ExprKind::Tuple(targets), call.ty.clone(), at), call);
        }
        _ if call.is_error() => return (Expr::error(at), call),
        _ => {
            cx.report(d::tuple_needs_call(span));
            return (Expr::error(at), call);
        }
    };
    tuple(cx, targets, call, &results, span)
}

/// `(a, , c) = call`, where the call gives `results`. A target may be Real where the result is Integer: results cannot be
/// wrapped, so the one who takes the call apart converts.
pub fn tuple(
    cx: &mut dyn Context,
    targets: Vec<Option<Expr>>,
    call: Expr,
    results: &[Type],
    span: Span,
) -> (Expr, Expr) {
    if call.is_error() {
        return (Expr::error(span), call);
    }
    if targets.len() > results.len() {
        cx.report(d::too_many_results_wanted(targets.len(), results.len(), span));
        return (Expr::error(span), call);
    }
    let mut ok = true;
    let mut targets = targets;
    for (target, result) in targets.iter_mut().zip(results) {
        let Some(target) = target else { continue };
        if target.is_error() {
            ok = false;
            continue;
        }
        let name = cx.describe(target);
        let place = Place::Assignment { target: &name };
        // Said of the result, shown at the target, which is where the user can change something.
        let value = Expr::new(ExprKind::Error, result.clone(), target.span);
        let diagnostic = if !base_fits(cx, result.base, target.ty.base) {
            d::result_type(cx, place, &value, &target.ty)
        } else if result.rank() != target.ty.rank() {
            d::rank_mismatch(cx, place, &value, &target.ty)
        } else if merge_dims(&result.dims, &target.ty.dims).is_none() {
            d::size_mismatch(cx, place, &value, &target.ty)
        } else if matches!(result.base, BaseType::Record(_)) && result.base != target.ty.base {
            // Fields have the order of the result.
            let known = target.ty.dims.iter().all(|d| d.known().is_some());
            if known {
                *target = cast(cx, target.clone(), result.base);
                continue;
            }
            d::elements_cannot_be_converted(cx, &value, target.ty.base)
        } else {
            continue;
        };
        cx.report(diagnostic);
        ok = false;
    }
    if !ok {
        return (Expr::error(span), call);
    }
    let ty = call.ty.clone();
    (Expr::new(ExprKind::Tuple(targets), ty, span), call)
}
