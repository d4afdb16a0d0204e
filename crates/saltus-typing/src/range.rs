//! Ranges `start : stop` and `start : step : stop`.
//!
//! `1:3 : Integer[3]`, `0:0.5:1 : Real[3]`, `false:true : Boolean[2]`, `E.a:E.c : E[3]`. The size comes from the bounds
//! where they are known at compile time or differ by a constant (`i : i + 2`).
//!
//! Specification: "Vector Construction".

use saltus_base::Span;
use saltus_flat::{BaseType, Dim, Expr, ExprKind, Type};
use saltus_procedure::scalar::range_length;

use crate::Context;
use crate::context::{integer_value, real_value};
use crate::diagnostics as d;
use crate::diagnostics::calls;
use crate::literal::constant_difference;
use crate::operators::{fail, has_value};
use crate::shape::{cast, common_base, mentions_local};

pub fn range(cx: &mut dyn Context, start: Expr, step: Option<Expr>, stop: Expr, span: Span) -> Expr {
    for part in [Some(&start), step.as_ref(), Some(&stop)].into_iter().flatten() {
        if part.is_error() || !has_value(cx, part) {
            return Expr::error(span);
        }
        if !is_range_operand(&part.ty) {
            let diagnostic = d::range_operands(cx, part, None);
            return fail(cx, diagnostic, span);
        }
    }
    let Some(mut base) = common_base(cx, start.ty.base, stop.ty.base) else {
        let diagnostic = d::range_operands(cx, &stop, Some(&start.ty));
        return fail(cx, diagnostic, span);
    };
    if let Some(step) = &step {
        let is_numeric = |base| matches!(base, BaseType::Real | BaseType::Integer);
        match common_base(cx, base, step.ty.base) {
            Some(common) if is_numeric(common) => base = common,
            _ => {
                let diagnostic = d::range_step_not_numeric(cx, &start.ty, step);
                return fail(cx, diagnostic, span);
            }
        }
    }
    let size = match range_size(cx, base, &start, step.as_ref(), &stop) {
        Ok(size) => size,
        Err(ZeroStep) => {
            let at = step.as_ref().map_or(span, |s| s.span);
            return fail(cx, d::zero_step(at), span);
        }
    };
    let parts = [Some(&start), step.as_ref(), Some(&stop)];
    if size.is_none() && !cx.allows_unknown_sizes() && !parts.iter().flatten().any(|e| mentions_local(e)) {
        let unknown = parts.into_iter().flatten().find(|e| real_or_ordinal(cx, e).is_none()).unwrap_or(&stop);
        let diagnostic = calls::size_not_known(cx, "the length of this range", unknown);
        return fail(cx, diagnostic, span);
    }
    let start = Box::new(cast(cx, start, base));
    let step = step.map(|s| Box::new(cast(cx, s, base)));
    let stop = Box::new(cast(cx, stop, base));
    let dim = size.map_or(Dim::Unknown, Dim::Known);
    Expr::new(ExprKind::Range { start, step, stop }, Type::array(base, [dim]), span)
}

fn is_range_operand(ty: &Type) -> bool {
    let simple = matches!(ty.base, BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_));
    simple && ty.is_scalar()
}

/// The value of a bound, whatever its type.
fn real_or_ordinal(cx: &mut dyn Context, bound: &Expr) -> Option<f64> {
    match bound.ty.base {
        BaseType::Real => real_value(cx, bound),
        _ => integer_value(cx, bound).map(|value| value as f64),
    }
}

struct ZeroStep;

/// Number of elements, if known before run time.
fn range_size(
    cx: &mut dyn Context,
    base: BaseType,
    start: &Expr,
    step: Option<&Expr>,
    stop: &Expr,
) -> Result<Option<u64>, ZeroStep> {
    if base == BaseType::Real {
        return real_size(cx, start, step, stop);
    }
    let step = match step {
        Some(step) => integer_value(cx, step),
        None => Some(1),
    };
    if step == Some(0) {
        return Err(ZeroStep);
    }
    let Some(step) = step else { return Ok(None) };
    let span = match constant_difference(stop, start) {
        Some(difference) => Some(i128::from(difference)),
        None => integer_value(cx, start)
            .and_then(|first| integer_value(cx, stop).map(|last| i128::from(last) - i128::from(first))),
    };
    Ok(span.map(|span| {
        let n = span / i128::from(step);
        if span.signum() * i128::from(step).signum() < 0 { 0 } else { u64::try_from(n + 1).unwrap_or(u64::MAX) }
    }))
}

fn real_size(cx: &mut dyn Context, start: &Expr, step: Option<&Expr>, stop: &Expr) -> Result<Option<u64>, ZeroStep> {
    let step = match step {
        Some(step) => real_value(cx, step),
        None => Some(1.0),
    };
    if step == Some(0.0) {
        return Err(ZeroStep);
    }
    let (Some(step), Some(first), Some(last)) = (step, real_value(cx, start), real_value(cx, stop)) else {
        return Ok(None);
    };
    let n = range_length(first, step, last);
    Ok(if n.is_nan() { None } else { Some(n as u64) })
}
