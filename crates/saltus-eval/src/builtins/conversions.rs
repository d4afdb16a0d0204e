//! Conversions to text and to enumeration values (specification §3.7.1, §4.9.5).
//!
//! Arguments of `String`: `[value, minimumLength, leftJustified]` for Boolean, Integer and enumeration values,
//! `[value, significantDigits, minimumLength, leftJustified]` for Reals, `[value, format]` for a format.

use saltus_base::Span;
use saltus_flat::BaseType;

use super::Call;
use crate::evaluator::{Evaluator, integer_of};
use crate::format::{format_integer, format_number, justify, real_to_string};
use crate::value::type_name;
use crate::{EvalResult, Value, diagnostics, operators};

impl Evaluator<'_> {
    pub(super) fn text_of(&mut self, call: Call) -> EvalResult {
        let value = call.value(0)?;
        if let Some(Value::String(format)) = call.values.get(1)
            && call.values.len() == 2
        {
            return format_value(value, format, call.span);
        }
        if let Value::Real(x) = value {
            let digits = integer_option(&call, 1, 6)?;
            let (length, left) = justification(&call, 2)?;
            return Ok(Value::string(&real_to_string(*x, digits, length, left)));
        }
        let (length, left) = justification(&call, 1)?;
        let text = match value {
            Value::Integer(i) => i.to_string(),
            Value::Boolean(b) => b.to_string(),
            Value::String(s) => s.to_string(),
            Value::Enum(id, ordinal) => {
                let ty = self.env.enum_type(*id);
                ty.literals.get(*ordinal as usize - usize::from(*ordinal > 0)).cloned().unwrap_or_default()
            }
            other => {
                let found = type_name(other.base_type());
                return Err(diagnostics::kind_mismatch(call.span, "a scalar that `String` converts", found).into());
            }
        };
        Ok(Value::string(&justify(&text, length, left)))
    }

    /// `E(i)`: the literal with number `i`.
    pub(super) fn enumeration_value(&mut self, call: Call) -> EvalResult {
        let (value, span) = (call.value(0)?, call.span);
        let BaseType::Enumeration(id) = call.ty.base else {
            return Err(diagnostics::kind_mismatch(span, "an enumeration type", type_name(call.ty.base)).into());
        };
        let ty = self.env.enum_type(id);
        let literal = |value: &Value| -> EvalResult {
            match value {
                Value::Enum(..) => Ok(value.clone()),
                Value::Integer(i) => match u32::try_from(*i) {
                    Ok(ordinal) if ordinal >= 1 && ordinal as usize <= ty.literals.len() => {
                        Ok(Value::Enum(id, ordinal))
                    }
                    _ => Err(diagnostics::no_such_literal(span, *i, &ty.name, ty.literals.len()).into()),
                },
                other => Err(diagnostics::kind_mismatch(span, "an Integer", type_name(other.base_type())).into()),
            }
        };
        match value {
            Value::Array(a) => operators::map(a, call.ty.base, span, |v| literal(&v)),
            scalar => literal(scalar),
        }
    }
}

fn integer_option(call: &Call, position: usize, default: i64) -> EvalResult<i64> {
    call.values.get(position).map_or(Ok(default), |v| integer_of(v, call.place(position)))
}

/// `minimumLength` and `leftJustified`.
fn justification(call: &Call, position: usize) -> EvalResult<(i64, bool)> {
    let length = integer_option(call, position, 0)?;
    let left = match call.values.get(position + 1) {
        None => true,
        Some(Value::Boolean(b)) => *b,
        Some(other) => {
            let found = type_name(other.base_type());
            return Err(diagnostics::kind_mismatch(call.place(position + 1), "a Boolean", found).into());
        }
    };
    Ok((length, left))
}

fn format_value(value: &Value, format: &str, span: Span) -> EvalResult {
    let text = match value {
        Value::Real(x) => format_number(*x, format),
        Value::Integer(i) => format_integer(*i, format),
        Value::Boolean(_) | Value::Enum(..) | Value::String(_) => None,
        other => return Err(diagnostics::kind_mismatch(span, "a number", type_name(other.base_type())).into()),
    };
    match text {
        Some(text) => Ok(Value::string(&text)),
        None => Err(diagnostics::bad_format(span, format).into()),
    }
}
