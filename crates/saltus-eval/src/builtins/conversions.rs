//! Conversions to text and to enumeration values (specification §3.7.1, §4.9.5).
//!
//! Arguments of `String`: `[value, minimumLength, leftJustified]` for Boolean, Integer and enumeration values,
//! `[value, significantDigits, minimumLength, leftJustified]` for Reals, `[value, format]` for a format.

use saltus_flat::{BaseType, Expr};

use crate::evaluator::Evaluator;
use crate::format::{format_integer, format_number, justify, real_to_string};
use crate::value::type_name;
use crate::{EvalResult, Value, diagnostics, operators};

impl Evaluator<'_> {
    pub(super) fn eval_to_string(&mut self, arguments: &[Expr], expr: &Expr) -> EvalResult {
        let Some((first, options)) = arguments.split_first() else {
            return Err(diagnostics::wrong_arguments(expr.span, "String", 0).into());
        };
        let value = self.eval(first)?;
        if let [format] = options
            && format.ty.base == BaseType::String
        {
            let format = self.eval_string(format)?;
            return self.format_value(&value, &format, expr);
        }
        if let Value::Real(x) = value {
            let digits = self.integer_option(options, 0, 6)?;
            let (length, left) = self.justification(options.get(1..).unwrap_or(&[]))?;
            return Ok(Value::string(&real_to_string(x, digits, length, left)));
        }
        let (length, left) = self.justification(options)?;
        let text = match &value {
            Value::Integer(i) => i.to_string(),
            Value::Boolean(b) => b.to_string(),
            Value::String(s) => s.to_string(),
            Value::Enum(id, ordinal) => {
                let ty = self.env.enum_type(*id);
                ty.literals.get(*ordinal as usize - usize::from(*ordinal > 0)).cloned().unwrap_or_default()
            }
            other => {
                let found = type_name(other.base_type());
                return Err(diagnostics::kind_mismatch(expr.span, "a scalar that `String` converts", found).into());
            }
        };
        Ok(Value::string(&justify(&text, length, left)))
    }

    fn integer_option(&mut self, options: &[Expr], position: usize, default: i64) -> EvalResult<i64> {
        options.get(position).map_or(Ok(default), |e| self.eval_integer(e))
    }

    /// `minimumLength` and `leftJustified`.
    fn justification(&mut self, options: &[Expr]) -> EvalResult<(i64, bool)> {
        let length = self.integer_option(options, 0, 0)?;
        let left = options.get(1).map_or(Ok(true), |e| self.eval_boolean(e))?;
        Ok((length, left))
    }

    fn format_value(&mut self, value: &Value, format: &str, expr: &Expr) -> EvalResult {
        let text = match value {
            Value::Real(x) => format_number(*x, format),
            Value::Integer(i) => format_integer(*i, format),
            Value::Boolean(_) | Value::Enum(..) | Value::String(_) => None,
            other => {
                let found = type_name(other.base_type());
                return Err(diagnostics::kind_mismatch(expr.span, "a number", found).into());
            }
        };
        match text {
            Some(text) => Ok(Value::string(&text)),
            None => Err(diagnostics::bad_format(expr.span, format).into()),
        }
    }

    /// `E(i)`: the literal with number `i`.
    pub(super) fn eval_enumeration(&mut self, argument: &Expr, expr: &Expr) -> EvalResult {
        let value = self.eval(argument)?;
        let BaseType::Enumeration(id) = expr.ty.base else {
            return Err(diagnostics::kind_mismatch(expr.span, "an enumeration type", type_name(expr.ty.base)).into());
        };
        let ty = self.env.enum_type(id);
        let literal = |value: &Value| -> EvalResult {
            match value {
                Value::Enum(..) => Ok(value.clone()),
                Value::Integer(i) => match u32::try_from(*i) {
                    Ok(ordinal) if ordinal >= 1 && ordinal as usize <= ty.literals.len() => {
                        Ok(Value::Enum(id, ordinal))
                    }
                    _ => Err(diagnostics::no_such_literal(expr.span, *i, &ty.name, ty.literals.len()).into()),
                },
                other => Err(diagnostics::kind_mismatch(expr.span, "an Integer", type_name(other.base_type())).into()),
            }
        };
        match &value {
            Value::Array(a) => operators::map(a, expr.ty.base, expr.span, |v| literal(&v)),
            scalar => literal(scalar),
        }
    }
}
