//! Array functions (specification §10.3): sizes, constructors, conversions of rank, reductions, matrix functions.

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, Builtin, Expr, ExprKind, ReductionOp};

use super::argument;
use crate::array::{Array, Items, n_items};
use crate::evaluator::Evaluator;
use crate::reduction::{combine, larger, neutral, smaller};
use crate::value::type_name;
use crate::{EvalError, EvalResult, Value, diagnostics, operators};

impl Evaluator<'_> {
    pub(super) fn eval_array_builtin(&mut self, function: Builtin, arguments: &[Expr], expr: &Expr) -> EvalResult {
        let span = expr.span;
        let arg = |i: usize| argument(arguments, i, expr, function);
        match function {
            Builtin::Ndims => Ok(Value::Integer(arg(0)?.ty.rank() as i64)),
            Builtin::Size => self.eval_size_builtin(arguments, expr),
            Builtin::Zeros | Builtin::Ones => {
                let one = i64::from(function == Builtin::Ones);
                let scalar = Value::Integer(one).converted(number_base(expr));
                self.filled(&scalar, arguments, span)
            }
            Builtin::Fill => {
                let scalar = self.eval(arg(0)?)?;
                self.filled(&scalar, arguments.get(1..).unwrap_or(&[]), span)
            }
            Builtin::Identity => {
                let n = self.eval_size(arg(0)?)?;
                self.check_elements(&[n, n], span)?;
                operators::identity(n, number_base(expr), span)
            }
            Builtin::Linspace => self.eval_linspace(arguments, expr),
            Builtin::Cat => self.eval_cat(arguments, expr),
            Builtin::Promote => {
                let value = self.eval(arg(0)?)?;
                let rank = self.eval_integer(arg(1)?)?;
                self.promote(&value, rank, span)
            }
            Builtin::Sum => self.eval_total(ReductionOp::Sum, arg(0)?, expr),
            Builtin::Product => self.eval_total(ReductionOp::Product, arg(0)?, expr),
            Builtin::OuterProduct => {
                let (x, y) = (self.eval(arg(0)?)?, self.eval(arg(1)?)?);
                self.outer_product(&x, &y, span)
            }
            Builtin::Cross => {
                let (x, y) = (self.eval(arg(0)?)?, self.eval(arg(1)?)?);
                self.cross(&x, &y, span)
            }
            _ => {
                let value = self.eval(arg(0)?)?;
                self.charge(&value);
                self.reshape(function, value, span)
            }
        }
    }

    /// Sizes come from the type where it knows them: `size(x, 1)` needs no value of `x`.
    fn eval_size_builtin(&mut self, arguments: &[Expr], expr: &Expr) -> EvalResult {
        let array = argument(arguments, 0, expr, Builtin::Size)?;
        let Some(dimension) = arguments.get(1) else {
            let known: Option<Vec<i64>> =
                array.ty.dims.iter().map(|d| d.known().and_then(|n| i64::try_from(n).ok())).collect();
            return Ok(Value::integers(match known {
                Some(sizes) => sizes,
                None => self.dims_of(array)?.iter().map(|&n| n as i64).collect(),
            }));
        };
        let number = self.eval_integer(dimension)?;
        let rank = array.ty.rank();
        let position = match usize::try_from(number) {
            Ok(n) if n >= 1 && n <= rank => n - 1,
            _ => return Err(diagnostics::index_out_of_range(dimension.span, number, rank, 0).into()),
        };
        if let Some(size) = array.ty.dims.get(position).and_then(|d| d.known()) {
            return Ok(Value::Integer(i64::try_from(size).unwrap_or(i64::MAX)));
        }
        match self.dims_of(array)?.get(position) {
            Some(&size) => Ok(Value::Integer(size as i64)),
            None => Err(diagnostics::index_out_of_range(dimension.span, number, rank, 0).into()),
        }
    }

    fn dims_of(&mut self, array: &Expr) -> EvalResult<Vec<usize>> {
        if let ExprKind::Local(id) = array.kind
            && let Some(value) = self.frame.get(id)
        {
            return Ok(value.dims().to_vec());
        }
        Ok(self.eval(array)?.dims().to_vec())
    }

    fn filled(&mut self, scalar: &Value, sizes: &[Expr], span: Span) -> EvalResult {
        let mut dims = sizes.iter().map(|s| self.eval_size(s)).collect::<EvalResult<Vec<_>>>()?;
        let n = self.check_elements(&dims, span)?;
        dims.extend_from_slice(scalar.dims());
        self.check_elements(&dims, span)?;
        self.assemble(dims, Items::repeat(scalar, n), span)
    }

    fn eval_linspace(&mut self, arguments: &[Expr], expr: &Expr) -> EvalResult {
        let arg = |i: usize| argument(arguments, i, expr, Builtin::Linspace);
        let (a, b) = (self.eval(arg(0)?)?, self.eval(arg(1)?)?);
        let n = self.eval_integer(arg(2)?)?;
        if n < 2 {
            return Err(diagnostics::linspace_too_few(expr.span, n).into());
        }
        let n = self.check_elements(&[usize::try_from(n).unwrap_or(usize::MAX)], expr.span)?;
        let (Some(a), Some(b)) = (a.as_real(), b.as_real()) else {
            return Err(diagnostics::kind_mismatch(expr.span, "numbers", type_name(a.base_type())).into());
        };
        let step = (b - a) / (n - 1) as f64;
        let mut points: Vec<f64> = (0..n).map(|i| a + step * i as f64).collect();
        if let Some(last) = points.last_mut() {
            *last = b;
        }
        Ok(Value::reals(points))
    }

    /// `cat(k, A, B, …)`: all sizes agree except those of dimension `k`.
    fn eval_cat(&mut self, arguments: &[Expr], expr: &Expr) -> EvalResult {
        let number = self.eval_integer(argument(arguments, 0, expr, Builtin::Cat)?)?;
        let values = self.eval_arguments(arguments.get(1..).unwrap_or(&[]))?;
        let rank = values.iter().map(|v| v.dims().len()).max().unwrap_or(0);
        let k = match usize::try_from(number) {
            Ok(k) if k >= 1 && k <= rank => k - 1,
            _ => return Err(diagnostics::index_out_of_range(expr.span, number, rank, 0).into()),
        };
        let n_elements: usize = values.iter().map(Value::n_elements).sum();
        self.check_elements(&[n_elements], expr.span)?;
        concatenate(k, &values, expr)
    }

    fn promote(&mut self, value: &Value, rank: i64, span: Span) -> EvalResult {
        let wanted = usize::try_from(rank).ok().filter(|&r| r >= value.dims().len() && r <= 32);
        let Some(wanted) = wanted else {
            return Err(
                diagnostics::shape_expected(span, "promote", "a rank not above the new one", value.dims()).into()
            );
        };
        let mut dims = value.dims().to_vec();
        dims.resize(wanted, 1);
        match value {
            Value::Array(a) => {
                a.reshaped(dims.clone()).ok_or_else(|| diagnostics::sizes_disagree(span, a.dims(), &dims).into())
            }
            scalar => self.assemble(dims, Items::repeat(scalar, 1), span),
        }
    }

    fn eval_total(&mut self, op: ReductionOp, argument: &Expr, expr: &Expr) -> EvalResult {
        let value = self.eval(argument)?;
        self.charge(&value);
        let Value::Array(a) = &value else { return Ok(value) };
        if let (Items::Real(v), ReductionOp::Sum) = (a.items(), op) {
            return Ok(Value::Real(v.iter().sum()));
        }
        let mut elements = (0..a.len()).filter_map(|i| a.get(i));
        let Some(first) = elements.next() else { return neutral(op, number_base(expr), expr.span) };
        elements.try_fold(first, |total, v| combine(op, total, v, expr.span))
    }

    /// `min(a, b)` of two scalars, `min(A)` over all elements of an array.
    pub(super) fn eval_extremum(&mut self, op: ReductionOp, arguments: &[Expr], expr: &Expr) -> EvalResult {
        let function = if op == ReductionOp::Min { Builtin::Min } else { Builtin::Max };
        let choose = if op == ReductionOp::Min { smaller } else { larger };
        let first = self.eval(argument(arguments, 0, expr, function)?)?;
        if let Some(second) = arguments.get(1) {
            let second = self.eval(second)?;
            return Ok(choose(first, second, expr.span)?.converted(expr.ty.base));
        }
        self.charge(&first);
        let Value::Array(a) = first else { return Ok(first) };
        let mut elements = (0..a.len()).filter_map(|i| a.get(i));
        match elements.next() {
            Some(start) => elements.try_fold(start, |best, v| choose(best, v, expr.span)),
            None => self.neutral_value(op, expr),
        }
    }

    fn outer_product(&mut self, x: &Value, y: &Value, span: Span) -> EvalResult {
        let (&[n], &[m]) = (x.dims(), y.dims()) else {
            return Err(diagnostics::sizes_disagree(span, x.dims(), y.dims()).into());
        };
        self.check_elements(&[n, m], span)?;
        let (Some(column), Some(row)) = (reshaped(x, vec![n, 1]), reshaped(y, vec![1, m])) else {
            return Err(diagnostics::sizes_disagree(span, x.dims(), y.dims()).into());
        };
        operators::binary(BinaryOp::MatMul, column, row, span)
    }

    fn cross(&mut self, x: &Value, y: &Value, span: Span) -> EvalResult {
        let a = self.vector_of(Builtin::Cross, x, Some(3), span)?;
        let b = self.vector_of(Builtin::Cross, y, Some(3), span)?;
        let (&[a1, a2, a3], &[b1, b2, b3]) = (a.as_slice(), b.as_slice()) else {
            return Err(diagnostics::sizes_disagree(span, x.dims(), y.dims()).into());
        };
        let base = if x.base_type() == BaseType::Integer { y.base_type() } else { x.base_type() };
        Ok(rounded(vec![a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1], vec![3], base))
    }

    /// Functions of one array that only move elements around.
    fn reshape(&mut self, function: Builtin, value: Value, span: Span) -> EvalResult {
        let wrong = |expected: &str| -> EvalError {
            diagnostics::shape_expected(span, function.name(), expected, value.dims()).into()
        };
        match function {
            Builtin::Scalar => match &value {
                Value::Array(a) if a.len() == 1 => a.get(0).ok_or_else(|| wrong("one element")),
                Value::Array(_) => Err(wrong("an array with exactly one element")),
                scalar => Ok(scalar.clone()),
            },
            Builtin::Vector => {
                if value.dims().iter().filter(|&&n| n > 1).count() > 1 {
                    return Err(wrong("an array with at most one dimension larger than 1"));
                }
                reshaped(&value, vec![value.n_elements()]).ok_or_else(|| wrong("a vector"))
            }
            Builtin::Matrix => {
                let dims = value.dims();
                if dims.get(2..).is_some_and(|rest| rest.iter().any(|&n| n != 1)) {
                    return Err(wrong("an array with size 1 in all dimensions above two"));
                }
                let size = |d: usize| dims.get(d).copied().unwrap_or(1);
                reshaped(&value, vec![size(0), size(1)]).ok_or_else(|| wrong("a matrix"))
            }
            Builtin::Diagonal => {
                let (&[n], Value::Array(a)) = (value.dims(), &value) else { return Err(wrong("a vector")) };
                self.check_elements(&[n, n], span)?;
                diagonal(a, n).ok_or_else(|| wrong("a vector of numbers"))
            }
            Builtin::Transpose => match (value.dims(), &value) {
                (&[n, m], Value::Array(a)) => {
                    permuted(a, vec![m, n], |i| (i % n) * m + i / n).ok_or_else(|| wrong("a matrix"))
                }
                _ => Err(wrong("a matrix")),
            },
            Builtin::Symmetric => match (value.dims(), &value) {
                (&[n, m], Value::Array(a)) if n == m => {
                    // The part above the diagonal is mirrored.
                    let source = |i: usize| (i / n).min(i % n) * n + (i / n).max(i % n);
                    permuted(a, vec![n, n], source).ok_or_else(|| wrong("a square matrix"))
                }
                _ => Err(wrong("a square matrix")),
            },
            Builtin::Skew => {
                let v = self.vector_of(function, &value, Some(3), span)?;
                let &[x, y, z] = v.as_slice() else { return Err(wrong("a vector of 3 elements")) };
                Ok(rounded(vec![0.0, -z, y, z, 0.0, -x, -y, x, 0.0], vec![3, 3], value.base_type()))
            }
            _ => Err(EvalError::not_constant(span, format!("`{}`", function.name()))),
        }
    }
}

fn number_base(expr: &Expr) -> BaseType {
    if expr.ty.base == BaseType::Integer { BaseType::Integer } else { BaseType::Real }
}

fn reshaped(value: &Value, dims: Vec<usize>) -> Option<Value> {
    match value {
        Value::Array(a) => a.reshaped(dims),
        scalar => Value::from_parts(dims, Items::repeat(scalar, 1)),
    }
}

/// A new array whose element `i` is the old element `source(i)`.
fn permuted(array: &Array, dims: Vec<usize>, source: impl Fn(usize) -> usize) -> Option<Value> {
    let positions: Vec<usize> = (0..n_items(&dims)?).map(source).collect();
    Value::from_parts(dims, array.items().gather(&positions)?)
}

fn diagonal(vector: &Array, n: usize) -> Option<Value> {
    let zero = Value::default_scalar(vector.items().base_type())?;
    let mut items = Items::repeat(&zero, n * n);
    for i in 0..n {
        items.set(i * n + i, vector.get(i)?);
    }
    Value::from_parts(vec![n, n], items)
}

/// Reals back to Integers where the operands were: products of small Integers are exact.
fn rounded(values: Vec<f64>, dims: Vec<usize>, base: BaseType) -> Value {
    let items = match base {
        BaseType::Integer => Items::Integer(values.iter().map(|&x| x as i64).collect()),
        _ => Items::Real(values),
    };
    Value::from_parts(dims, items).unwrap_or(Value::Real(f64::NAN))
}

fn concatenate(k: usize, values: &[Value], expr: &Expr) -> EvalResult {
    let mut dims: Vec<usize> = Vec::new();
    let mut base = expr.ty.base;
    for value in values {
        let found = value.dims();
        if dims.is_empty() {
            dims = found.to_vec();
            if base != BaseType::Real {
                base = value.base_type();
            }
            continue;
        }
        let fits = found.len() == dims.len() && found.iter().zip(&dims).enumerate().all(|(d, (a, b))| d == k || a == b);
        if !fits {
            return Err(diagnostics::sizes_disagree(expr.span, &dims, found).into());
        }
        if let (Some(total), Some(more)) = (dims.get_mut(k), found.get(k)) {
            *total += more;
        }
    }
    let outer = n_items(dims.get(..k).unwrap_or(&[])).unwrap_or(0);
    let mut items = Items::empty(base);
    for o in 0..outer {
        for value in values {
            let Value::Array(a) = value else { continue };
            let block = a.len().checked_div(outer).unwrap_or(0);
            let part = a.items().slice(o * block, (o + 1) * block);
            if !part.is_some_and(|p| items.append(&p)) {
                return Err(diagnostics::kind_mismatch(expr.span, type_name(base), type_name(value.base_type())).into());
            }
        }
    }
    operators::build(&dims, items, expr.span)
}
