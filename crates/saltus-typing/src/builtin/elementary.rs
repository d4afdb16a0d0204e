//! Mathematical functions and conversions between numbers: `sin(x)`, `mod(a, b)`, `max(a, b)`, `Integer(e)`.
//!
//! All apply to arrays element by element. `abs`, `div`, `mod`, `rem`, `min`, `max` keep Integer, the others compute in Real.
//!
//! Specification: "Numeric Functions and Conversion Operators", "Event Triggering Mathematical Functions",
//! "Elementary Mathematical Functions".

use saltus_flat::{BaseType, Builtin, Expr, ExprKind, Type};

use super::arguments::{Call, elementwise};
use crate::diagnostics::calls;
use crate::shape::{cast, common_base, to_real};
use crate::{Context, enumeration_from_integer};

/// `sin(x)` and all others from Real to Real.
pub(super) fn real_function(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let name = if function == Builtin::Sqrt { "v" } else { "x" };
    let x = call.bind(cx, &[name], 1)?.real(cx, 0, name)?;
    elementwise(cx, function, vec![x], BaseType::Real, span)
}

pub(super) fn atan2(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["y", "x"], 2)?;
    let (y, x) = (bound.real(cx, 0, "y")?, bound.real(cx, 1, "x")?);
    elementwise(cx, Builtin::Atan2, vec![y, x], BaseType::Real, span)
}

/// `abs` has the type of its argument, `sign` is Integer.
pub(super) fn abs_or_sign(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let v = call.bind(cx, &["v"], 1)?.numeric(cx, 0, "v")?;
    let base = if function == Builtin::Abs { v.ty.base } else { BaseType::Integer };
    elementwise(cx, function, vec![v], base, span)
}

/// `div`, `mod`, `rem`: Integer if both arguments are.
pub(super) fn integer_division(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let mut bound = call.bind(cx, &["x", "y"], 2)?;
    let (x, y) = (bound.numeric(cx, 0, "x")?, bound.numeric(cx, 1, "y")?);
    if x.ty.base == y.ty.base {
        let base = x.ty.base;
        return elementwise(cx, function, vec![x, y], base, span);
    }
    elementwise(cx, function, vec![to_real(x), to_real(y)], BaseType::Real, span)
}

/// `integer(x)`
pub(super) fn integer(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let x = call.bind(cx, &["x"], 1)?.real(cx, 0, "x")?;
    elementwise(cx, Builtin::Integer, vec![x], BaseType::Integer, span)
}

/// `min(A)` of an array, `min(x, y)` of two scalars or, element by element, of two arrays.
pub(super) fn min_or_max(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let is_single = call.positional.len() + call.named.len() == 1;
    let mut bound = call.bind(cx, if is_single { &["A"] } else { &["x", "y"] }, if is_single { 1 } else { 2 })?;
    let expected = "Real, Integer, Boolean or an enumeration";
    let first = bound.take(0)?;
    if !is_ordered(first.ty.base) {
        return bound.wrong_type(cx, 0, if is_single { "A" } else { "x" }, expected, &first);
    }
    if is_single {
        if first.ty.is_scalar() {
            cx.report(calls::min_max_of_scalar(function.name(), span));
            return None;
        }
        let ty = Type::scalar(first.ty.base);
        return Some(Expr::builtin(function, vec![first], ty, span));
    }
    let second = bound.take(1)?;
    let base = common_base(cx, first.ty.base, second.ty.base).filter(|&base| is_ordered(base));
    let Some(base) = base else {
        let expected = crate::type_name(cx, &Type::scalar(first.ty.base));
        return bound.wrong_type(cx, 1, "y", &expected, &second);
    };
    let (first, second) = (cast(cx, first, base), cast(cx, second, base));
    elementwise(cx, function, vec![first, second], base, span)
}

fn is_ordered(base: BaseType) -> bool {
    matches!(base, BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_))
}

/// `Integer(e)`: a literal gives its ordinal at once.
pub(super) fn ordinal(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["e"], 1)?;
    let e = bound.take(0)?;
    if !matches!(e.ty.base, BaseType::Enumeration(_)) {
        return bound.wrong_type(cx, 0, "e", "an enumeration value", &e);
    }
    if let ExprKind::EnumLiteral(_, ordinal) = e.kind {
        return Some(Expr::integer(i64::from(ordinal), span));
    }
    elementwise(cx, Builtin::ToInteger, vec![e], BaseType::Integer, span)
}

/// `$enumeration(i, E.first)`: the second argument only tells the enumeration. The front end calls
/// [`enumeration_from_integer`] for `E(i)`.
pub(super) fn enumeration(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["i", "of"], 2)?;
    let (value, of) = (bound.take(0)?, bound.take(1)?);
    match of.ty.base {
        BaseType::Enumeration(id) => Some(enumeration_from_integer(cx, id, value, span)),
        _ => bound.wrong_type(cx, 1, "of", "an enumeration value", &of),
    }
}
