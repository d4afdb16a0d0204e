//! `String(value, …)`.
//!
//! The call comes out with all its options in a fixed order: `[value, significantDigits, minimumLength, leftJustified]` for
//! Real, `[value, minimumLength, leftJustified]` for Integer, Boolean and enumerations, `[value, format]` for the other form.
//!
//! Specification: "Numeric Functions and Conversion Operators".

use saltus_flat::{BaseType, Builtin, Expr, Type};

use super::arguments::Call;
use crate::Context;
use crate::diagnostics::calls;

const OPTIONS: [&str; 4] = ["significantDigits", "minimumLength", "leftJustified", "format"];

pub(super) fn string(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    if call.positional.len() > 1 {
        let names: Vec<String> = OPTIONS.iter().map(|n| n.to_string()).collect();
        cx.report(calls::only_by_name("String", &names, span));
        return None;
    }
    let names = ["value", OPTIONS[0], OPTIONS[1], OPTIONS[2], OPTIONS[3]];
    let mut bound = call.bind(cx, &names, 1)?;
    let value = bound.take(0)?;
    let is_convertible =
        matches!(value.ty.base, BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_));
    if !is_convertible || !value.ty.is_scalar() {
        let expected = "a Real, Integer, Boolean or enumeration scalar";
        return bound.wrong_type(cx, 0, "value", expected, &value);
    }
    if let Some(format) = bound.take_as(cx, 4, "format", &Type::STRING)? {
        if let Some(other) = (1..4).find(|&i| bound.peek(i).is_some()) {
            cx.report(calls::format_excludes(names[other], format.span));
            return None;
        }
        if !value.ty.is_numeric() {
            return bound.wrong_type(cx, 0, "value", "Real or Integer where `format` is given", &value);
        }
        return Some(Expr::builtin(Builtin::ToString, vec![value, format], Type::STRING, span));
    }
    let is_real = value.ty.base == BaseType::Real;
    let mut arguments = vec![value];
    if is_real {
        arguments.push(bound.take_or(cx, 1, names[1], Expr::integer(6, span))?);
    } else if let Some(digits) = bound.take(1) {
        let diagnostic = calls::significant_digits_of(cx, &arguments[0].ty, digits.span);
        cx.report(diagnostic);
        return None;
    }
    arguments.push(bound.take_or(cx, 2, names[2], Expr::integer(0, span))?);
    arguments.push(bound.take_or(cx, 3, names[3], Expr::boolean(true, span))?);
    Some(Expr::builtin(Builtin::ToString, arguments, Type::STRING, span))
}
