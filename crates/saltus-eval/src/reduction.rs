//! Reductions and array comprehensions (specification §10.3.4.1, §10.4.1): `sum(i^2 for i in 1:3) ⇒ 14`,
//! `{i + j for i in 1:2, j in 1:3}` ⇒ a 2×3 array as the flat form counts its iterators (first iterator: first
//! dimension).

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, Expr, Iterator, ReductionOp};

use crate::array::{Array, Items};
use crate::evaluator::Evaluator;
use crate::value::type_name;
use crate::{EvalResult, Value, diagnostics, operators};

/// What a reduction has collected so far.
struct Accumulator {
    op: ReductionOp,
    value: Option<Value>,
    items: Option<Items>,
    inner: Vec<usize>,
}

impl Evaluator<'_> {
    pub(crate) fn eval_reduction(
        &mut self,
        op: ReductionOp,
        body: &Expr,
        iterators: &[Iterator],
        expr: &Expr,
    ) -> EvalResult {
        let mut accumulator = Accumulator { op, value: None, items: None, inner: Vec::new() };
        let mut sizes = vec![0; iterators.len()];
        self.iterate(iterators, &mut sizes, body, expr, &mut accumulator)?;
        match op {
            ReductionOp::Array => self.comprehension(accumulator, sizes, expr),
            _ => match accumulator.value {
                Some(value) => Ok(value.converted(expr.ty.base)),
                None => self.empty_reduction(op, expr),
            },
        }
    }

    fn iterate(
        &mut self,
        iterators: &[Iterator],
        sizes: &mut [usize],
        body: &Expr,
        expr: &Expr,
        accumulator: &mut Accumulator,
    ) -> EvalResult<()> {
        let (Some((iterator, inner)), Some((size, inner_sizes))) = (iterators.split_first(), sizes.split_first_mut())
        else {
            let value = self.eval(body)?;
            return self.accumulate(accumulator, value, expr);
        };
        let range = self.eval_iterable(&iterator.range)?;
        *size = range.dims().first().copied().unwrap_or(0);
        // Inner sizes are part of the result also where the outer range is empty.
        if *size == 0 && accumulator.op == ReductionOp::Array {
            for (it, n) in inner.iter().zip(inner_sizes.iter_mut()) {
                *n = self.eval_iterable(&it.range).map_or(0, |r| r.dims().first().copied().unwrap_or(0));
            }
        }
        let saved = self.frame.save(iterator.local);
        let mut result = Ok(());
        for i in 0..*size {
            let Some(value) = range.block(i, 1) else { break };
            self.frame.set(iterator.local, value);
            result = self.iterate(inner, inner_sizes, body, expr, accumulator);
            if result.is_err() {
                break;
            }
        }
        self.frame.restore(iterator.local, saved);
        result
    }

    /// The vector that a loop runs over.
    pub(crate) fn eval_iterable(&mut self, range: &Expr) -> EvalResult<Array> {
        match self.eval(range)? {
            Value::Array(a) => Ok(a),
            other => Err(diagnostics::kind_mismatch(range.span, "a vector", type_name(other.base_type())).into()),
        }
    }

    fn accumulate(&mut self, accumulator: &mut Accumulator, value: Value, expr: &Expr) -> EvalResult<()> {
        if accumulator.op == ReductionOp::Array {
            return self.collect(accumulator, value, expr);
        }
        accumulator.value = Some(match accumulator.value.take() {
            None => value,
            Some(so_far) => combine(accumulator.op, so_far, value, expr.span)?,
        });
        Ok(())
    }

    fn collect(&mut self, accumulator: &mut Accumulator, value: Value, expr: &Expr) -> EvalResult<()> {
        let base = match (expr.ty.base, value.base_type()) {
            (BaseType::Real, BaseType::Integer) => BaseType::Real,
            (_, found) => found,
        };
        let items = match &mut accumulator.items {
            Some(items) => items,
            None => {
                accumulator.inner = value.dims().to_vec();
                accumulator.items.insert(Items::empty(base))
            }
        };
        if value.dims() != accumulator.inner {
            return Err(diagnostics::sizes_disagree(expr.span, &accumulator.inner, value.dims()).into());
        }
        if !items.extend_value(value) {
            return Err(diagnostics::kind_mismatch(expr.span, type_name(items.base_type()), type_name(base)).into());
        }
        if items.len() as u64 > self.limits.elements {
            return Err(diagnostics::array_too_large(expr.span, self.limits.elements).into());
        }
        Ok(())
    }

    fn comprehension(&mut self, accumulator: Accumulator, sizes: Vec<usize>, expr: &Expr) -> EvalResult {
        let mut dims = sizes;
        match accumulator.items {
            Some(items) => {
                dims.extend(accumulator.inner);
                self.assemble(dims, items, expr.span)
            }
            None => {
                let known = expr.ty.dims.iter().skip(dims.len()).map(|d| d.known().unwrap_or(0) as usize);
                dims.extend(known);
                self.assemble(dims, Items::empty(expr.ty.base), expr.span)
            }
        }
    }

    fn empty_reduction(&mut self, op: ReductionOp, expr: &Expr) -> EvalResult {
        let scalar = self.neutral_value(op, expr)?;
        if expr.ty.dims.is_empty() {
            return Ok(scalar);
        }
        let dims: Vec<usize> =
            expr.ty.dims.iter().map(|d| d.known().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)).collect();
        let n = self.check_elements(&dims, expr.span)?;
        self.assemble(dims, Items::repeat(&scalar, n), expr.span)
    }
}

impl Evaluator<'_> {
    /// [`neutral`], with the number of literals for the greatest enumeration value.
    pub(crate) fn neutral_value(&mut self, op: ReductionOp, expr: &Expr) -> EvalResult {
        match (op, expr.ty.base) {
            (ReductionOp::Min, BaseType::Enumeration(id)) => {
                let n = self.env.enum_type(id).literals.len();
                Ok(Value::Enum(id, u32::try_from(n).unwrap_or(u32::MAX)))
            }
            (op, base) => neutral(op, base, expr.span),
        }
    }
}

/// One more element; `min` and `max` of arrays go element by element.
pub(crate) fn combine(op: ReductionOp, a: Value, b: Value, span: Span) -> EvalResult {
    match op {
        ReductionOp::Sum => operators::binary(BinaryOp::Add, a, b, span),
        ReductionOp::Product if a.dims().len() == 2 => operators::binary(BinaryOp::MatMul, a, b, span),
        ReductionOp::Product => operators::binary(BinaryOp::Mul, a, b, span),
        ReductionOp::Min => smaller(a, b, span),
        ReductionOp::Max => larger(a, b, span),
        ReductionOp::Array => Ok(b),
    }
}

pub(crate) fn smaller(a: Value, b: Value, span: Span) -> EvalResult {
    let less = operators::binary(BinaryOp::Less, b.clone(), a.clone(), span)?;
    Ok(if less == Value::Boolean(true) { b } else { a })
}

pub(crate) fn larger(a: Value, b: Value, span: Span) -> EvalResult {
    let less = operators::binary(BinaryOp::Less, a.clone(), b.clone(), span)?;
    Ok(if less == Value::Boolean(true) { b } else { a })
}

/// The result over no elements at all (table of §10.3.4.1).
pub(crate) fn neutral(op: ReductionOp, base: BaseType, span: Span) -> EvalResult {
    Ok(match (op, base) {
        (ReductionOp::Sum, BaseType::Integer) => Value::Integer(0),
        (ReductionOp::Sum, BaseType::Real) => Value::Real(0.0),
        (ReductionOp::Sum, BaseType::String) => Value::string(""),
        (ReductionOp::Product, BaseType::Integer) => Value::Integer(1),
        (ReductionOp::Product, BaseType::Real) => Value::Real(1.0),
        // The greatest value of the type, so that any element is smaller.
        (ReductionOp::Min, BaseType::Real) => Value::Real(f64::MAX),
        (ReductionOp::Min, BaseType::Integer) => Value::Integer(i64::MAX),
        (ReductionOp::Min, BaseType::Boolean) => Value::Boolean(true),
        (ReductionOp::Max, BaseType::Real) => Value::Real(-f64::MAX),
        (ReductionOp::Max, BaseType::Integer) => Value::Integer(i64::MIN),
        (ReductionOp::Max, BaseType::Boolean) => Value::Boolean(false),
        (ReductionOp::Max, BaseType::Enumeration(id)) => Value::Enum(id, 1),
        _ => return Err(diagnostics::empty_reduction(span, op_name(op)).into()),
    })
}

fn op_name(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Sum => "sum",
        ReductionOp::Product => "product",
        ReductionOp::Min => "min",
        ReductionOp::Max => "max",
        ReductionOp::Array => "array",
    }
}
