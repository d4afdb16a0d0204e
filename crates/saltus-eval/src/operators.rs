//! Unary and binary operators on values (specification chapter 3 "Operators and Expressions", §10.6 for arrays).
//!
//! `{1, 2} .* 3 ⇒ {3, 6}`, `{{1, 2}, {3, 4}} * {1, 1} ⇒ {3, 7}`. Elementwise operators spread a scalar operand over an
//! array operand. Integer overflow, division by zero and powers without a real value are errors.

use std::cmp::Ordering;
use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, UnaryOp};
use saltus_procedure::BinaryFn;

use crate::array::{Array, Items};
use crate::value::type_name;
use crate::{EvalResult, Value, diagnostics};

pub fn unary(op: UnaryOp, value: Value, span: Span) -> EvalResult {
    match (op, value) {
        (UnaryOp::Negate, Value::Real(x)) => Ok(Value::Real(-x)),
        (UnaryOp::Negate, Value::Integer(i)) => match i.checked_neg() {
            Some(i) => Ok(Value::Integer(i)),
            None => Err(diagnostics::integer_overflow(span).into()),
        },
        (UnaryOp::Not, Value::Boolean(b)) => Ok(Value::Boolean(!b)),
        (op, Value::Array(a)) => map(&a, a.items().base_type(), span, |v| unary(op, v, span)),
        (_, other) => Err(diagnostics::kind_mismatch(span, "a number or Boolean", type_name(other.base_type())).into()),
    }
}

/// Applies `f` to every element; `base` is the element type of the result.
pub fn map(array: &Array, base: BaseType, span: Span, mut f: impl FnMut(Value) -> EvalResult) -> EvalResult {
    let mut items = Items::with_capacity(base, array.len());
    for i in 0..array.len() {
        let Some(value) = array.get(i) else { break };
        push(&mut items, f(value)?, span)?;
    }
    build(array.dims(), items, span)
}

fn push(items: &mut Items, value: Value, span: Span) -> EvalResult<()> {
    let found = value.base_type();
    if items.push(value) {
        return Ok(());
    }
    Err(diagnostics::kind_mismatch(span, type_name(items.base_type()), type_name(found)).into())
}

pub(crate) fn build(dims: &[usize], items: Items, span: Span) -> EvalResult {
    let n = items.len();
    match Value::from_parts(dims.to_vec(), items) {
        Some(value) => Ok(value),
        None => Err(diagnostics::sizes_disagree(span, dims, &[n]).into()),
    }
}

pub fn binary(op: BinaryOp, left: Value, right: Value, span: Span) -> EvalResult {
    if let (Value::Real(a), Value::Real(b)) = (&left, &right) {
        return real(op, *a, *b, span);
    }
    match op {
        BinaryOp::MatMul => matrix_product(&left, &right, span),
        BinaryOp::MatPow => matrix_power(left, &right, span),
        _ => match (&left, &right) {
            (Value::Array(a), Value::Array(b)) => both_arrays(op, a, b, span),
            (Value::Array(a), scalar) => {
                map(a, result_base(op, &left, &right), span, |v| scalars(op, &v, scalar, span))
            }
            (scalar, Value::Array(b)) => {
                map(b, result_base(op, &left, &right), span, |v| scalars(op, scalar, &v, span))
            }
            (a, b) => scalars(op, a, b, span),
        },
    }
}

fn result_base(op: BinaryOp, left: &Value, right: &Value) -> BaseType {
    match op {
        op if op.is_boolean() => BaseType::Boolean,
        BinaryOp::Div | BinaryOp::Pow => BaseType::Real,
        _ => match (left.base_type(), right.base_type()) {
            (BaseType::Integer, BaseType::Integer) => BaseType::Integer,
            (BaseType::String, _) => BaseType::String,
            _ => BaseType::Real,
        },
    }
}

fn both_arrays(op: BinaryOp, a: &Array, b: &Array, span: Span) -> EvalResult {
    if a.dims() != b.dims() {
        return Err(diagnostics::sizes_disagree(span, a.dims(), b.dims()).into());
    }
    if let (Items::Real(x), Items::Real(y)) = (a.items(), b.items()) {
        let simple: Option<fn(f64, f64) -> f64> = match op {
            BinaryOp::Add => Some(|p, q| p + q),
            BinaryOp::Sub => Some(|p, q| p - q),
            BinaryOp::Mul => Some(|p, q| p * q),
            _ => None,
        };
        if let Some(f) = simple {
            return build(a.dims(), Items::Real(x.iter().zip(y).map(|(&p, &q)| f(p, q)).collect()), span);
        }
    }
    let base = result_base(op, &Value::Array(a.clone()), &Value::Array(b.clone()));
    let mut items = Items::with_capacity(base, a.len());
    for i in 0..a.len() {
        let (Some(x), Some(y)) = (a.get(i), b.get(i)) else { break };
        push(&mut items, scalars(op, &x, &y, span)?, span)?;
    }
    build(a.dims(), items, span)
}

fn scalars(op: BinaryOp, left: &Value, right: &Value, span: Span) -> EvalResult {
    match (left, right) {
        (Value::Real(a), Value::Real(b)) => real(op, *a, *b, span),
        (Value::Integer(a), Value::Integer(b)) => integer(op, *a, *b, span),
        (Value::Real(a), Value::Integer(b)) => real(op, *a, *b as f64, span),
        (Value::Integer(a), Value::Real(b)) => real(op, *a as f64, *b, span),
        (Value::Boolean(a), Value::Boolean(b)) => match op {
            BinaryOp::And => Ok(Value::Boolean(*a && *b)),
            BinaryOp::Or => Ok(Value::Boolean(*a || *b)),
            _ => relation(op, a.cmp(b), left, span),
        },
        (Value::String(a), Value::String(b)) => match op {
            BinaryOp::Add => Ok(Value::String(concatenate(a, b, span)?)),
            _ => relation(op, a.as_bytes().cmp(b.as_bytes()), left, span),
        },
        (Value::Enum(_, a), Value::Enum(_, b)) => relation(op, a.cmp(b), left, span),
        (a, b) => {
            let found = format!("{} and {}", type_name(a.base_type()), type_name(b.base_type()));
            Err(diagnostics::kind_mismatch(span, "operands that fit together", &found).into())
        }
    }
}

/// Doubling in a loop would fill the memory otherwise.
pub const MOST_BYTES: usize = 10_000_000;

fn concatenate(a: &str, b: &str, span: Span) -> EvalResult<Arc<str>> {
    if a.len() + b.len() > MOST_BYTES {
        return Err(diagnostics::string_too_long(span, MOST_BYTES).into());
    }
    let mut text = String::with_capacity(a.len() + b.len());
    text.push_str(a);
    text.push_str(b);
    Ok(text.into())
}

fn relation(op: BinaryOp, order: Ordering, left: &Value, span: Span) -> EvalResult {
    Ok(Value::Boolean(match op {
        BinaryOp::Less => order == Ordering::Less,
        BinaryOp::LessEqual => order != Ordering::Greater,
        BinaryOp::Greater => order == Ordering::Greater,
        BinaryOp::GreaterEqual => order != Ordering::Less,
        BinaryOp::Equal => order == Ordering::Equal,
        BinaryOp::NotEqual => order != Ordering::Equal,
        _ => return Err(diagnostics::kind_mismatch(span, "numbers", type_name(left.base_type())).into()),
    }))
}

fn real(op: BinaryOp, a: f64, b: f64, span: Span) -> EvalResult {
    let function = match op {
        BinaryOp::Add => BinaryFn::Add,
        BinaryOp::Sub => BinaryFn::Sub,
        BinaryOp::Mul | BinaryOp::MatMul => BinaryFn::Mul,
        BinaryOp::Div => BinaryFn::Div,
        BinaryOp::Pow | BinaryOp::MatPow => BinaryFn::Pow,
        BinaryOp::Less => BinaryFn::Less,
        BinaryOp::LessEqual => BinaryFn::LessEqual,
        BinaryOp::Greater => BinaryFn::Greater,
        BinaryOp::GreaterEqual => BinaryFn::GreaterEqual,
        BinaryOp::Equal => BinaryFn::Equal,
        BinaryOp::NotEqual => BinaryFn::NotEqual,
        BinaryOp::And | BinaryOp::Or => return Err(diagnostics::kind_mismatch(span, "Booleans", "Real").into()),
    };
    if !function.is_defined(a, b) {
        return Err(match function {
            BinaryFn::Div => diagnostics::division_by_zero(span),
            _ => diagnostics::power_undefined(span, a, b),
        }
        .into());
    }
    let x = function.apply(a, b);
    Ok(if op.is_boolean() { Value::Boolean(x != 0.0) } else { Value::Real(x) })
}

fn integer(op: BinaryOp, a: i64, b: i64, span: Span) -> EvalResult {
    let checked = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul | BinaryOp::MatMul => a.checked_mul(b),
        BinaryOp::Less => return Ok(Value::Boolean(a < b)),
        BinaryOp::LessEqual => return Ok(Value::Boolean(a <= b)),
        BinaryOp::Greater => return Ok(Value::Boolean(a > b)),
        BinaryOp::GreaterEqual => return Ok(Value::Boolean(a >= b)),
        BinaryOp::Equal => return Ok(Value::Boolean(a == b)),
        BinaryOp::NotEqual => return Ok(Value::Boolean(a != b)),
        // `/` and `^` are Real, also of Integers.
        _ => return real(op, a as f64, b as f64, span),
    };
    match checked {
        Some(i) => Ok(Value::Integer(i)),
        None => Err(diagnostics::integer_overflow(span).into()),
    }
}

/// Elements of the result and number of multiplications of `MatMul` and `MatPow`; both may exceed any limit.
pub(crate) fn product_cost(op: BinaryOp, left: &Value, right: &Value) -> (f64, f64) {
    let size = |v: &Value, d: usize| v.dims().get(d).map_or(1.0, |&n| n as f64);
    let (rows, inner) = match left.dims().len() {
        1 => (1.0, size(left, 0)),
        _ => (size(left, 0), size(left, 1)),
    };
    match op {
        // At most 2*30 products, because exponents are limited.
        BinaryOp::MatPow => (rows * inner, 60.0 * rows * inner * inner),
        _ => (rows * size(right, 1), rows * inner * size(right, 1)),
    }
}

/// The four products of vectors and matrices; a vector on the left is a row, on the right a column.
fn matrix_product(left: &Value, right: &Value, span: Span) -> EvalResult {
    let (Value::Array(a), Value::Array(b)) = (left, right) else {
        return binary(BinaryOp::Mul, left.clone(), right.clone(), span);
    };
    let disagree = || diagnostics::sizes_disagree(span, a.dims(), b.dims());
    let (rows, inner, columns, dims) = match (a.dims(), b.dims()) {
        (&[k], &[l]) if k == l => (1, k, 1, vec![]),
        (&[m, k], &[l]) if k == l => (m, k, 1, vec![m]),
        (&[k], &[l, n]) if k == l => (1, k, n, vec![n]),
        (&[m, k], &[l, n]) if k == l => (m, k, n, vec![m, n]),
        _ => return Err(disagree().into()),
    };
    if let (Items::Integer(x), Items::Integer(y)) = (a.items(), b.items()) {
        let multiply = |i: usize, j: usize| x.get(i)?.checked_mul(*y.get(j)?);
        let product = product(rows, inner, columns, 0i64, multiply, i64::checked_add);
        let Some(items) = product else { return Err(diagnostics::integer_overflow(span).into()) };
        return build(&dims, Items::Integer(items), span);
    }
    let (Some(x), Some(y)) = (a.items().to_reals(), b.items().to_reals()) else {
        return Err(diagnostics::kind_mismatch(span, "numbers", type_name(left.base_type())).into());
    };
    let multiply = |i: usize, j: usize| Some(x.get(i)? * y.get(j)?);
    let product = product(rows, inner, columns, 0.0, multiply, |p, q| Some(p + q));
    let Some(items) = product else { return Err(disagree().into()) };
    build(&dims, Items::Real(items), span)
}

/// Sums begin with their first product; `zero` is the sum of none.
fn product<T: Copy>(
    rows: usize,
    inner: usize,
    columns: usize,
    zero: T,
    multiply: impl Fn(usize, usize) -> Option<T>,
    add: impl Fn(T, T) -> Option<T>,
) -> Option<Vec<T>> {
    let mut items = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let mut sum = None;
            for k in 0..inner {
                let product = multiply(row * inner + k, k * columns + column)?;
                sum = Some(sum.map_or(Some(product), |sum| add(sum, product))?);
            }
            items.push(sum.unwrap_or(zero));
        }
    }
    Some(items)
}

/// A square matrix to a power that is not negative, by repeated squaring.
fn matrix_power(matrix: Value, exponent: &Value, span: Span) -> EvalResult {
    let &[n, m] = matrix.dims() else {
        return Err(diagnostics::shape_expected(span, "^", "a square matrix", matrix.dims()).into());
    };
    if n != m {
        return Err(diagnostics::shape_expected(span, "^", "a square matrix", matrix.dims()).into());
    }
    let mut exponent = match exponent.as_real() {
        Some(e) if e >= 0.0 && e.fract() == 0.0 && e <= 1e9 => e as u64,
        _ => return Err(diagnostics::kind_mismatch(span, "an Integer exponent of at least 0", "another").into()),
    };
    let mut square = matrix;
    let mut result = identity(n, square.base_type(), span)?;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = matrix_product(&result, &square, span)?;
        }
        exponent >>= 1;
        if exponent > 0 {
            square = matrix_product(&square, &square, span)?;
        }
    }
    Ok(result)
}

/// The unit matrix with Integer or Real elements.
pub(crate) fn identity(n: usize, base: BaseType, span: Span) -> EvalResult {
    let entry = |i: usize| i64::from(i / n == i % n);
    let items = match base {
        BaseType::Integer => Items::Integer((0..n * n).map(entry).collect()),
        _ => Items::Real((0..n * n).map(|i| entry(i) as f64).collect()),
    };
    build(&[n, n], items, span)
}
