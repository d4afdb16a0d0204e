//! Array functions (specification §10.3): sizes, constructors, conversions of rank, reductions, matrix functions.

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, Builtin, ReductionOp, Type, UnaryOp};
use saltus_procedure::scalar::linspace;
use saltus_procedure::{Argument, Operand};

use super::Call;
use crate::array::{Array, Items, n_items};
use crate::evaluator::{Evaluator, integer_of};
use crate::reduction::{combine, larger, neutral, smaller};
use crate::value::type_name;
use crate::{EvalError, EvalResult, Value, diagnostics, operators};

impl Evaluator<'_> {
    pub(super) fn array_builtin(&mut self, mut call: Call) -> EvalResult {
        let span = call.span;
        match call.function {
            Builtin::Zeros | Builtin::Ones => {
                let one = i64::from(call.function == Builtin::Ones);
                let scalar = Value::Integer(one).converted(number_base(call.ty));
                self.filled(&scalar, &call, 0)
            }
            Builtin::Fill => {
                let scalar = call.take(0)?;
                self.filled(&scalar, &call, 1)
            }
            Builtin::Identity => {
                let n = self.size_of(call.value(0)?, call.place(0))?;
                self.check_elements(&[n, n], span)?;
                operators::identity(n, number_base(call.ty), span)
            }
            Builtin::Linspace => self.linspace(&call),
            Builtin::Cat => self.cat(&call),
            Builtin::Promote => {
                let rank = call.integer(1)?;
                self.promote(call.value(0)?, rank, span)
            }
            Builtin::Sum => self.total(ReductionOp::Sum, call),
            Builtin::Product => self.total(ReductionOp::Product, call),
            Builtin::OuterProduct => self.outer_product(call.value(0)?, call.value(1)?, span),
            Builtin::Cross => cross(call.value(0)?, call.value(1)?, span),
            function => {
                let value = call.take(0)?;
                self.charge(&value);
                self.reshape(function, value, span)
            }
        }
    }

    /// Sizes that the type of the array knows need no array.
    pub(crate) fn size(
        &mut self,
        array: Option<&Operand>,
        dimension: Option<&Argument>,
        ty: &Type,
        span: Span,
    ) -> EvalResult {
        let Some(dimension) = dimension else {
            return Ok(Value::integers(self.dims_of(array, span)?.iter().map(|&n| n as i64).collect()));
        };
        let place = dimension.span;
        let number = integer_of(&self.read(&dimension.value, place)?, place)?;
        let rank = ty.rank();
        let no_such = || -> EvalError { diagnostics::index_out_of_range(place, number, rank, 0).into() };
        let position = usize::try_from(number).ok().filter(|&n| n >= 1 && n <= rank).ok_or_else(no_such)? - 1;
        if let Some(size) = ty.dims.get(position).and_then(|d| d.known()) {
            return Ok(Value::Integer(i64::try_from(size).unwrap_or(i64::MAX)));
        }
        let size = self.dims_of(array, span)?.get(position).copied().ok_or_else(no_such)?;
        Ok(Value::Integer(size as i64))
    }

    fn dims_of(&mut self, array: Option<&Operand>, span: Span) -> EvalResult<Vec<usize>> {
        match array {
            Some(Operand::Local(register)) => match self.frame.get(*register) {
                Some(value) => Ok(value.dims().to_vec()),
                None => Err(self.without_value(*register, span)),
            },
            Some(operand) => Ok(self.read(operand, span)?.dims().to_vec()),
            None => Ok(Vec::new()),
        }
    }

    /// The sizes are the arguments from a position on.
    fn filled(&mut self, scalar: &Value, call: &Call, from: usize) -> EvalResult {
        let mut dims = Vec::with_capacity(call.values.len());
        for (i, size) in call.values.iter().enumerate().skip(from) {
            dims.push(self.size_of(size, call.place(i))?);
        }
        let n = self.check_elements(&dims, call.span)?;
        dims.extend_from_slice(scalar.dims());
        self.check_elements(&dims, call.span)?;
        self.assemble(dims, Items::repeat(scalar, n), call.span)
    }

    fn linspace(&mut self, call: &Call) -> EvalResult {
        let (a, b) = (call.value(0)?, call.value(1)?);
        let n = call.integer(2)?;
        if n < 2 {
            return Err(diagnostics::linspace_too_few(call.span, n).into());
        }
        let n = self.check_elements(&[usize::try_from(n).unwrap_or(usize::MAX)], call.span)?;
        let (Some(x), Some(y)) = (a.as_real(), b.as_real()) else {
            return Err(diagnostics::kind_mismatch(call.span, "numbers", type_name(a.base_type())).into());
        };
        Ok(Value::reals((0..n).map(|i| linspace(x, y, n, i)).collect()))
    }

    /// `cat(k, A, B, …)`: all sizes agree except those of dimension `k`.
    fn cat(&mut self, call: &Call) -> EvalResult {
        let number = call.integer(0)?;
        let values = call.values.get(1..).unwrap_or_default();
        let rank = values.iter().map(|v| v.dims().len()).max().unwrap_or(0);
        let k = match usize::try_from(number) {
            Ok(k) if k >= 1 && k <= rank => k - 1,
            _ => return Err(diagnostics::index_out_of_range(call.span, number, rank, 0).into()),
        };
        let n_elements: usize = values.iter().map(Value::n_elements).sum();
        self.check_elements(&[n_elements], call.span)?;
        concatenate(k, values, call)
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

    fn total(&mut self, op: ReductionOp, mut call: Call) -> EvalResult {
        let value = call.take(0)?;
        self.charge(&value);
        let Value::Array(a) = &value else { return Ok(value) };
        if let (Items::Real(v), ReductionOp::Sum) = (a.items(), op) {
            return Ok(Value::Real(v.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0)));
        }
        let mut elements = (0..a.len()).filter_map(|i| a.get(i));
        let Some(first) = elements.next() else { return neutral(op, number_base(call.ty), call.span) };
        elements.try_fold(first, |total, v| combine(op, total, v, call.span))
    }

    /// `min(a, b)` of two scalars, `min(A)` over all elements of an array.
    pub(super) fn extremum(&mut self, op: ReductionOp, mut call: Call) -> EvalResult {
        let choose = if op == ReductionOp::Min { smaller } else { larger };
        let first = call.take(0)?;
        if call.values.len() > 1 {
            let second = call.take(1)?;
            return Ok(choose(first, second, call.span)?.converted(call.ty.base));
        }
        self.charge(&first);
        let Value::Array(a) = first else { return Ok(first) };
        let mut elements = (0..a.len()).filter_map(|i| a.get(i));
        match elements.next() {
            Some(start) => elements.try_fold(start, |best, v| choose(best, v, call.span)),
            None => self.neutral_value(op, call.ty.base, call.span),
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
                let [x, y, z] = three(function, &value, span)?;
                let zero = Value::Integer(0).converted(value.base_type());
                let [nx, ny, nz] = [&x, &y, &z].map(|v| operators::unary(UnaryOp::Negate, v.clone(), span));
                let items = [zero.clone(), nz?, y.clone(), z, zero.clone(), nx?, ny?, x, zero];
                collected(items, vec![3, 3], value.base_type(), span)
            }
            _ => Err(EvalError::not_constant(span, format!("`{}`", function.name()))),
        }
    }
}

fn number_base(ty: &Type) -> BaseType {
    if ty.base == BaseType::Integer { BaseType::Integer } else { BaseType::Real }
}

/// `x2*y3 - x3*y2` and so on, with the arithmetic of the operators: Integers stay exact, and overflow is reported.
fn cross(x: &Value, y: &Value, span: Span) -> EvalResult {
    let (a, b) = (three(Builtin::Cross, x, span)?, three(Builtin::Cross, y, span)?);
    let mut items = Vec::with_capacity(3);
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let product = |p: &Value, q: &Value| operators::binary(BinaryOp::Mul, p.clone(), q.clone(), span);
        items.push(operators::binary(BinaryOp::Sub, product(&a[i], &b[j])?, product(&a[j], &b[i])?, span)?);
    }
    let base = if x.base_type() == BaseType::Integer { y.base_type() } else { x.base_type() };
    collected(items, vec![3], base, span)
}

/// The elements of a vector of three numbers.
fn three(function: Builtin, value: &Value, span: Span) -> EvalResult<[Value; 3]> {
    let wrong = || -> EvalError {
        diagnostics::shape_expected(span, function.name(), "a vector of 3 elements", value.dims()).into()
    };
    if value.dims() != [3] {
        return Err(wrong());
    }
    if value.to_reals().is_none() {
        return Err(diagnostics::kind_mismatch(span, "numbers", type_name(value.base_type())).into());
    }
    value.elements().try_into().map_err(|_| wrong())
}

fn collected(values: impl IntoIterator<Item = Value>, dims: Vec<usize>, base: BaseType, span: Span) -> EvalResult {
    let mut items = Items::empty(base);
    for value in values {
        let found = value.base_type();
        if !items.push(value) {
            return Err(diagnostics::kind_mismatch(span, type_name(base), type_name(found)).into());
        }
    }
    operators::build(&dims, items, span)
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

fn concatenate(k: usize, values: &[Value], call: &Call) -> EvalResult {
    let mut dims: Vec<usize> = Vec::new();
    let mut base = call.ty.base;
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
            return Err(diagnostics::sizes_disagree(call.span, &dims, found).into());
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
                return Err(diagnostics::kind_mismatch(call.span, type_name(base), type_name(value.base_type())).into());
            }
        }
    }
    operators::build(&dims, items, call.span)
}
