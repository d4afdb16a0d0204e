//! Reductions and array comprehensions (specification §10.3.4.1, §10.4.1): `sum(i^2 for i in 1:3) ⇒ 14`,
//! `{i + j for i in 1:2, j in 1:3}` ⇒ a 2×3 array as the flat form counts its iterators (first iterator: first
//! dimension).

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, ReductionOp, Type};
use saltus_procedure::{BinaryFn, Code, Iteration};

use crate::array::Items;
use crate::evaluator::Evaluator;
use crate::execute::common_base;
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
    pub(crate) fn reduction(
        &mut self,
        op: ReductionOp,
        iterations: &[Iteration],
        body: &Code,
        ty: &Type,
        span: Span,
    ) -> EvalResult {
        let mut accumulator = Accumulator { op, value: None, items: None, inner: Vec::new() };
        let mut sizes = vec![0; iterations.len()];
        self.iterate(iterations, &mut sizes, body, (ty, span), &mut accumulator)?;
        match op {
            ReductionOp::Array => self.comprehension(accumulator, sizes, ty, span),
            _ => match accumulator.value {
                Some(value) => Ok(value.converted(ty.base)),
                None => self.empty_reduction(op, ty, span),
            },
        }
    }

    fn iterate(
        &mut self,
        iterations: &[Iteration],
        sizes: &mut [usize],
        body: &Code,
        of: (&Type, Span),
        accumulator: &mut Accumulator,
    ) -> EvalResult<()> {
        let (Some((iteration, inner)), Some((size, inner_sizes))) = (iterations.split_first(), sizes.split_first_mut())
        else {
            self.step(of.1)?;
            let value = self.eval_code(body)?;
            return self.accumulate(accumulator, value, of);
        };
        let rounds = self.rounds(iteration)?;
        *size = rounds.len();
        // Inner sizes are part of the result also where the outer range is empty.
        if *size == 0 && accumulator.op == ReductionOp::Array {
            for (it, n) in inner.iter().zip(inner_sizes.iter_mut()) {
                *n = self.rounds(it).map_or(0, |r| r.len());
            }
        }
        let saved = self.frame.take(iteration.variable);
        let mut result = Ok(());
        for i in 0..*size {
            let Some(value) = rounds.get(i) else { break };
            self.frame.set(iteration.variable, value);
            result = self.iterate(inner, inner_sizes, body, of, accumulator);
            if result.is_err() {
                break;
            }
        }
        self.frame.restore(iteration.variable, saved);
        result
    }

    fn accumulate(&mut self, accumulator: &mut Accumulator, value: Value, of: (&Type, Span)) -> EvalResult<()> {
        if accumulator.op == ReductionOp::Array {
            return self.collect(accumulator, value, of);
        }
        accumulator.value = Some(match accumulator.value.take() {
            None => value,
            Some(so_far) => combine(accumulator.op, so_far, value, of.1)?,
        });
        Ok(())
    }

    fn collect(&mut self, accumulator: &mut Accumulator, value: Value, of: (&Type, Span)) -> EvalResult<()> {
        let (ty, span) = of;
        let base = common_base(ty.base, value.base_type());
        let items = match &mut accumulator.items {
            Some(items) => items,
            None => {
                accumulator.inner = value.dims().to_vec();
                accumulator.items.insert(Items::empty(base))
            }
        };
        if value.dims() != accumulator.inner {
            return Err(diagnostics::sizes_disagree(span, &accumulator.inner, value.dims()).into());
        }
        if !items.extend_value(value) {
            return Err(diagnostics::kind_mismatch(span, type_name(items.base_type()), type_name(base)).into());
        }
        if items.len() as u64 > self.limits.elements {
            return Err(diagnostics::array_too_large(span, self.limits.elements).into());
        }
        Ok(())
    }

    fn comprehension(&mut self, accumulator: Accumulator, sizes: Vec<usize>, ty: &Type, span: Span) -> EvalResult {
        let mut dims = sizes;
        match accumulator.items {
            Some(items) => {
                dims.extend(accumulator.inner);
                self.assemble(dims, items, span)
            }
            None => {
                let known = ty.dims.iter().skip(dims.len()).map(|d| d.known().unwrap_or(0) as usize);
                dims.extend(known);
                self.assemble(dims, Items::empty(ty.base), span)
            }
        }
    }

    fn empty_reduction(&mut self, op: ReductionOp, ty: &Type, span: Span) -> EvalResult {
        let scalar = self.neutral_value(op, ty.base, span)?;
        if ty.dims.is_empty() {
            return Ok(scalar);
        }
        let dims: Vec<usize> =
            ty.dims.iter().map(|d| d.known().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)).collect();
        let n = self.check_elements(&dims, span)?;
        self.assemble(dims, Items::repeat(&scalar, n), span)
    }

    /// [`neutral`], with the number of literals for the greatest enumeration value.
    pub(crate) fn neutral_value(&mut self, op: ReductionOp, base: BaseType, span: Span) -> EvalResult {
        match (op, base) {
            (ReductionOp::Min, BaseType::Enumeration(id)) => {
                let n = self.env.enum_type(id).literals.len();
                Ok(Value::Enum(id, u32::try_from(n).unwrap_or(u32::MAX)))
            }
            (op, base) => neutral(op, base, span),
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
    if let (Value::Real(x), Value::Real(y)) = (&a, &b) {
        return Ok(Value::Real(BinaryFn::Min.apply(*x, *y)));
    }
    let less = operators::binary(BinaryOp::Less, b.clone(), a.clone(), span)?;
    Ok(if less == Value::Boolean(true) { b } else { a })
}

pub(crate) fn larger(a: Value, b: Value, span: Span) -> EvalResult {
    if let (Value::Real(x), Value::Real(y)) = (&a, &b) {
        return Ok(Value::Real(BinaryFn::Max.apply(*x, *y)));
    }
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
