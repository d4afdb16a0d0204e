//! Built-in functions and operators with a value at compile time (specification §3.7, §10.3).
//!
//! Event operators that only say how to find events (`noEvent`, `smooth`) are their argument; operators that need a
//! simulation (`initial`, `sample`, `delay`, clocks, streams) have no value here.

mod arrays;
mod conversions;
mod elementary;

use saltus_base::Span;
use saltus_flat::{Builtin, Expr, ReductionOp};

use crate::evaluator::Evaluator;
use crate::value::type_name;
use crate::{EvalError, EvalResult, Value, diagnostics, operators};

/// The argument at a position.
fn argument<'a>(arguments: &'a [Expr], position: usize, expr: &Expr, function: Builtin) -> EvalResult<&'a Expr> {
    match arguments.get(position) {
        Some(argument) => Ok(argument),
        None => Err(diagnostics::wrong_arguments(expr.span, function.name(), arguments.len()).into()),
    }
}

impl Evaluator<'_> {
    pub(crate) fn eval_builtin(&mut self, function: Builtin, arguments: &[Expr], expr: &Expr) -> EvalResult {
        use Builtin::*;
        let arg = |i: usize| argument(arguments, i, expr, function);
        match function {
            Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Log | Log10 | Sqrt | Abs | Sign
            | Ceil | Floor | Integer => {
                let value = self.eval(arg(0)?)?;
                elementary::unary(function, value, expr.span)
            }
            Atan2 | Div | Mod | Rem => {
                let (x, y) = (self.eval(arg(0)?)?, self.eval(arg(1)?)?);
                elementary::binary(function, x, y, expr.span)
            }
            Min => self.eval_extremum(ReductionOp::Min, arguments, expr),
            Max => self.eval_extremum(ReductionOp::Max, arguments, expr),
            NoEvent | Homotopy | Pure | Pre | Previous => self.eval(arg(0)?),
            Smooth => self.eval(arg(1)?),
            SemiLinear => self.eval_semi_linear(arguments, expr),
            Edge | Change => {
                // A value known at compile time never changes.
                let value = self.eval(arg(0)?)?;
                match &value {
                    Value::Array(a) => {
                        operators::map(a, saltus_flat::BaseType::Boolean, expr.span, |_| Ok(Value::Boolean(false)))
                    }
                    _ => Ok(Value::Boolean(false)),
                }
            }
            GetInstanceName => Ok(Value::string(&self.env.instance_name())),
            ToInteger => Ok(self.eval(arg(0)?)?.converted(saltus_flat::BaseType::Integer)),
            EnumFromInteger => self.eval_enumeration(arg(0)?, expr),
            ToString => self.eval_to_string(arguments, expr),
            Ndims | Size | Scalar | Vector | Matrix | Identity | Diagonal | Zeros | Ones | Fill | Linspace | Sum
            | Product | Transpose | OuterProduct | Symmetric | Cross | Skew | Cat | Promote => {
                self.eval_array_builtin(function, arguments, expr)
            }
            _ => Err(EvalError::not_constant(expr.span, format!("`{}`", function.name()))),
        }
    }

    /// `semiLinear(x, k1, k2)` is `k1*x` for positive and `k2*x` for negative `x`.
    fn eval_semi_linear(&mut self, arguments: &[Expr], expr: &Expr) -> EvalResult {
        let function = Builtin::SemiLinear;
        let x = self.eval(argument(arguments, 0, expr, function)?)?;
        let positive = matches!(x.as_real(), Some(x) if x >= 0.0);
        let slope = self.eval(argument(arguments, if positive { 1 } else { 2 }, expr, function)?)?;
        operators::binary(saltus_flat::BinaryOp::Mul, slope, x, expr.span)
    }

    pub(crate) fn vector_of(
        &mut self,
        function: Builtin,
        value: &Value,
        n: Option<usize>,
        span: Span,
    ) -> EvalResult<Vec<f64>> {
        let expected = match n {
            Some(n) => format!("a vector of {n} elements"),
            None => "a vector".to_string(),
        };
        let reals = match value.dims() {
            [size] if n.is_none_or(|n| n == *size) => value.to_reals(),
            _ => return Err(diagnostics::shape_expected(span, function.name(), &expected, value.dims()).into()),
        };
        reals.ok_or_else(|| diagnostics::kind_mismatch(span, "numbers", type_name(value.base_type())).into())
    }
}
