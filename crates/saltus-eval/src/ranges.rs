//! Ranges `start:step:stop` (specification §10.4.3): `1:2:6 ⇒ {1, 3, 5}`, `0.0:0.5:1.0 ⇒ {0, 0.5, 1}`; of enumeration
//! values and Booleans without a step.

use saltus_base::Span;
use saltus_procedure::Operand;
use saltus_procedure::scalar::range_length;

use crate::array::Items;
use crate::evaluator::Evaluator;
use crate::value::type_name;
use crate::{EvalResult, Value, diagnostics};

impl Evaluator<'_> {
    pub(crate) fn range(
        &mut self,
        start: &Operand,
        step: Option<&Operand>,
        stop: &Operand,
        span: Span,
    ) -> EvalResult<Items> {
        let first = self.read(start, span)?;
        let step = step.map(|s| self.read(s, span)).transpose()?;
        let last = self.read(stop, span)?;
        self.range_of(&first, step.as_ref(), &last, span)
    }

    pub(crate) fn range_of(
        &mut self,
        first: &Value,
        step: Option<&Value>,
        last: &Value,
        span: Span,
    ) -> EvalResult<Items> {
        let items = range_items(first, step, last, self.limits.elements, span)?;
        self.check_elements(&[items.len()], span)?;
        Ok(items)
    }
}

/// The elements of a range; at most `limit` many.
fn range_items(first: &Value, step: Option<&Value>, last: &Value, limit: u64, span: Span) -> EvalResult<Items> {
    match (first, step, last) {
        (Value::Integer(a), None, Value::Integer(b)) => integers(*a, 1, *b, limit, span),
        (Value::Integer(a), Some(Value::Integer(d)), Value::Integer(b)) => integers(*a, *d, *b, limit, span),
        (Value::Enum(_, a), None, Value::Enum(_, b)) if u64::from(b.saturating_sub(*a)) >= limit => {
            Err(diagnostics::array_too_large(span, limit).into())
        }
        (Value::Enum(id, a), None, Value::Enum(_, b)) => Ok(Items::Enum(*id, (*a..=*b).collect())),
        (Value::Boolean(a), None, Value::Boolean(b)) => {
            Ok(Items::Boolean([false, true].into_iter().filter(|x| a <= x && x <= b).collect()))
        }
        _ => match (first.as_real(), step.map_or(Some(1.0), Value::as_real), last.as_real()) {
            (Some(a), Some(d), Some(b)) => reals(a, d, b, limit, span),
            _ => {
                let found = type_name(first.base_type());
                Err(diagnostics::kind_mismatch(span, "a range of numbers, enumeration values or Booleans", found)
                    .into())
            }
        },
    }
}

fn integers(a: i64, step: i64, b: i64, limit: u64, span: Span) -> EvalResult<Items> {
    if step == 0 {
        return Err(diagnostics::zero_step(span).into());
    }
    let (a, step, b) = (i128::from(a), i128::from(step), i128::from(b));
    // No element at all if the step leads away from the end.
    if (b - a).signum() * step.signum() < 0 {
        return Ok(Items::Integer(Vec::new()));
    }
    let n = (b - a) / step + 1;
    if n > i128::from(limit) {
        return Err(diagnostics::array_too_large(span, limit).into());
    }
    Ok(Items::Integer((0..n).map(|i| (a + i * step) as i64).collect()))
}

fn reals(a: f64, step: f64, b: f64, limit: u64, span: Span) -> EvalResult<Items> {
    if step == 0.0 {
        return Err(diagnostics::zero_step(span).into());
    }
    let n = range_length(a, step, b);
    if n.is_nan() || n > limit as f64 {
        return Err(diagnostics::array_too_large(span, limit).into());
    }
    Ok(Items::Real((0..n as u64).map(|i| a + i as f64 * step).collect()))
}
