//! Elementary functions of numbers, also element by element.

use saltus_base::Span;
use saltus_flat::{BaseType, Builtin};
use saltus_procedure::{BinaryFn, UnaryFn};

use crate::value::type_name;
use crate::{EvalResult, Value, diagnostics, operators};

pub(super) fn unary(function: Builtin, value: Value, span: Span) -> EvalResult {
    match value {
        Value::Array(a) => {
            let base = match (function, a.items().base_type()) {
                (Builtin::Sign | Builtin::Integer, _) => BaseType::Integer,
                (Builtin::Abs, base) => base,
                _ => BaseType::Real,
            };
            operators::map(&a, base, span, |v| unary(function, v, span))
        }
        Value::Integer(i) => integer(function, i, span),
        Value::Real(x) => real(function, x, span),
        // Integer(e) and integer(e) of an enumeration value are its ordinal.
        Value::Enum(_, ordinal) if function == Builtin::Integer => Ok(Value::Integer(i64::from(ordinal))),
        other => Err(diagnostics::kind_mismatch(span, "a number", type_name(other.base_type())).into()),
    }
}

fn integer(function: Builtin, i: i64, span: Span) -> EvalResult {
    match function {
        Builtin::Abs => match i.checked_abs() {
            Some(i) => Ok(Value::Integer(i)),
            None => Err(diagnostics::integer_overflow(span).into()),
        },
        Builtin::Sign => Ok(Value::Integer(i.signum())),
        Builtin::Integer => Ok(Value::Integer(i)),
        _ => real(function, i as f64, span),
    }
}

fn real(function: Builtin, x: f64, span: Span) -> EvalResult {
    let elementary = match function {
        Builtin::Integer => return floor_to_integer(x, span),
        // An Integer has no place for what is not a number.
        Builtin::Sign if x.is_nan() => return Err(diagnostics::out_of_domain(span, "sign", x, "a number").into()),
        Builtin::Ceil => Some(UnaryFn::Ceil),
        Builtin::Floor => Some(UnaryFn::Floor),
        _ => UnaryFn::elementary(function),
    };
    let Some(elementary) = elementary else {
        return Err(diagnostics::wrong_arguments(span, function.name(), 1).into());
    };
    if !elementary.is_defined(x) {
        return Err(diagnostics::out_of_domain(span, function.name(), x, elementary.domain()).into());
    }
    let y = elementary.apply(x);
    Ok(if function == Builtin::Sign { Value::Integer(y as i64) } else { Value::Real(y) })
}

/// The largest Integer that is not greater.
fn floor_to_integer(x: f64, span: Span) -> EvalResult {
    let floor = x.floor();
    // 2^63 itself is already too large.
    if floor >= -(2f64.powi(63)) && floor < 2f64.powi(63) {
        return Ok(Value::Integer(floor as i64));
    }
    Err(diagnostics::integer_overflow(span).into())
}

pub(super) fn binary(function: Builtin, x: Value, y: Value, span: Span) -> EvalResult {
    match (&x, &y) {
        (Value::Array(a), Value::Array(b)) if a.dims() == b.dims() => {
            let base = base_of(function, &x, &y);
            let mut others = (0..b.len()).filter_map(|i| b.get(i));
            operators::map(a, base, span, |v| match others.next() {
                Some(other) => binary(function, v, other, span),
                None => Err(diagnostics::sizes_disagree(span, a.dims(), b.dims()).into()),
            })
        }
        (Value::Array(a), Value::Array(b)) => Err(diagnostics::sizes_disagree(span, a.dims(), b.dims()).into()),
        (Value::Array(a), _) => {
            operators::map(a, base_of(function, &x, &y), span, |v| binary(function, v, y.clone(), span))
        }
        (_, Value::Array(b)) => {
            operators::map(b, base_of(function, &x, &y), span, |v| binary(function, x.clone(), v, span))
        }
        (Value::Integer(i), Value::Integer(j)) if function != Builtin::Atan2 => integers(function, *i, *j, span),
        _ => match (x.as_real(), y.as_real()) {
            (Some(a), Some(b)) => reals(function, a, b, span),
            _ => Err(diagnostics::kind_mismatch(span, "numbers", type_name(x.base_type())).into()),
        },
    }
}

fn base_of(function: Builtin, x: &Value, y: &Value) -> BaseType {
    match (function, x.base_type(), y.base_type()) {
        (Builtin::Atan2, ..) => BaseType::Real,
        (_, BaseType::Integer, BaseType::Integer) => BaseType::Integer,
        _ => BaseType::Real,
    }
}

/// `div` truncates, `rem` has the sign of the dividend, `mod` that of the divisor.
fn integers(function: Builtin, i: i64, j: i64, span: Span) -> EvalResult {
    if j == 0 {
        return Err(diagnostics::division_by_zero(span).into());
    }
    let result = match function {
        Builtin::Div => i.checked_div(j),
        Builtin::Rem => Some(i.wrapping_rem(j)),
        Builtin::Mod => {
            let r = i.wrapping_rem(j);
            Some(if r != 0 && (r < 0) != (j < 0) { r + j } else { r })
        }
        _ => return Err(diagnostics::wrong_arguments(span, function.name(), 2).into()),
    };
    match result {
        Some(i) => Ok(Value::Integer(i)),
        None => Err(diagnostics::integer_overflow(span).into()),
    }
}

fn reals(function: Builtin, x: f64, y: f64, span: Span) -> EvalResult {
    let function = match function {
        Builtin::Atan2 => BinaryFn::Atan2,
        Builtin::Div => BinaryFn::IntDiv,
        Builtin::Rem => BinaryFn::Rem,
        Builtin::Mod => BinaryFn::Mod,
        _ => return Err(diagnostics::wrong_arguments(span, function.name(), 2).into()),
    };
    if !function.is_defined(x, y) {
        return Err(diagnostics::division_by_zero(span).into());
    }
    Ok(Value::Real(function.apply(x, y)))
}
