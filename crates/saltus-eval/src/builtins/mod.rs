//! Built-in functions and operators with a value at compile time (specification §3.7, §10.3).
//!
//! Event operators that only say how to find events, and those that need a simulation, are gone when a function or an
//! expression has been lowered.

mod arrays;
mod conversions;
mod elementary;

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, Builtin, ReductionOp, Type};
use saltus_procedure::Argument;

use crate::evaluator::Evaluator;
use crate::{EvalError, EvalResult, Value, diagnostics, operators};

/// A call of a built-in function: its arguments with their places, and the type of its result.
pub(crate) struct Call<'a> {
    pub function: Builtin,
    pub values: Vec<Value>,
    pub arguments: &'a [Argument],
    pub ty: &'a Type,
    pub span: Span,
}

impl Call<'_> {
    /// The argument at a position.
    fn value(&self, position: usize) -> EvalResult<&Value> {
        self.values.get(position).ok_or_else(|| self.wrong_arguments())
    }

    fn take(&mut self, position: usize) -> EvalResult {
        match self.values.get_mut(position) {
            Some(value) => Ok(std::mem::replace(value, Value::Boolean(false))),
            None => Err(self.wrong_arguments()),
        }
    }

    fn integer(&self, position: usize) -> EvalResult<i64> {
        crate::evaluator::integer_of(self.value(position)?, self.place(position))
    }

    /// Where the argument stands.
    fn place(&self, position: usize) -> Span {
        self.arguments.get(position).map_or(self.span, |a| a.span)
    }

    fn wrong_arguments(&self) -> EvalError {
        diagnostics::wrong_arguments(self.span, self.function.name(), self.values.len()).into()
    }
}

impl Evaluator<'_> {
    pub(crate) fn builtin(&mut self, function: Builtin, arguments: &[Argument], ty: &Type, span: Span) -> EvalResult {
        // The usual case, without a list.
        if let [x] = arguments
            && is_elementary(function)
        {
            let x = self.read(&x.value, x.span)?;
            return elementary::unary(function, x, span);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.read(&argument.value, argument.span)?);
        }
        self.call_builtin(Call { function, values, arguments, ty, span })
    }

    fn call_builtin(&mut self, mut call: Call) -> EvalResult {
        use Builtin::*;
        let span = call.span;
        match call.function {
            Atan2 | Div | Mod | Rem => {
                let (x, y) = (call.take(0)?, call.take(1)?);
                elementary::binary(call.function, x, y, span)
            }
            Min => self.extremum(ReductionOp::Min, call),
            Max => self.extremum(ReductionOp::Max, call),
            SemiLinear => semi_linear(call),
            // A value known at compile time, or of a function, never changes.
            Edge | Change => match call.value(0)? {
                Value::Array(a) => operators::map(a, BaseType::Boolean, span, |_| Ok(Value::Boolean(false))),
                _ => Ok(Value::Boolean(false)),
            },
            ToInteger => Ok(call.take(0)?.converted(BaseType::Integer)),
            EnumFromInteger => self.enumeration_value(call),
            ToString => self.text_of(call),
            _ if is_elementary(call.function) => Err(call.wrong_arguments()),
            _ => self.array_builtin(call),
        }
    }
}

fn is_elementary(function: Builtin) -> bool {
    use Builtin::*;
    matches!(
        function,
        Sin | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Exp
            | Log
            | Log10
            | Sqrt
            | Abs
            | Sign
            | Ceil
            | Floor
            | Integer
    )
}

/// `semiLinear(x, k1, k2)` is `k1*x` for positive and `k2*x` for negative `x`.
fn semi_linear(mut call: Call) -> EvalResult {
    let is_positive = matches!(call.value(0)?.as_real(), Some(x) if x >= 0.0);
    let slope = call.take(if is_positive { 1 } else { 2 })?;
    operators::binary(BinaryOp::Mul, slope, call.take(0)?, call.span)
}
