//! Operators on values: elementwise arithmetic, relations, matrix products, reductions, ranges, choices.
//!
//! Arithmetic and relations are elementwise and spread a scalar over an array. `and` and `or` do not look at their right
//! operand if the left one decides. (Specification: sections 3.4 to 3.6, 10.6, 10.4.1.)

use std::rc::Rc;

use saltus_base::{Index, Span};
use saltus_flat::{BaseType, BinaryOp, Expr, ExprKind, FlatModel, Iterator, ReductionOp, UnaryOp};
use saltus_procedure::scalar::range_length;
use saltus_program::{BinaryFn, RelationOp, UnaryFn};

use super::value::{Array, Value};
use super::{Lowered, Lowering};
use crate::dag::NodeId;
use crate::system::relation_function;
use crate::tuning::form::{MOST_ELEMENTS, MOST_MATRIX_POWER};

impl<'a> Lowering<'a, '_> {
    pub fn unary(&mut self, op: UnaryOp, operand: &'a Expr, span: Span) -> Lowered<Value> {
        let function = match op {
            UnaryOp::Negate => UnaryFn::Negate,
            UnaryOp::Not => UnaryFn::Not,
        };
        let operand = self.value(operand)?;
        self.map(&operand, span, |l, x| l.system.dag.unary(function, x))
    }

    /// Applies a function to each number of a scalar or array.
    pub fn map(
        &mut self,
        value: &Value,
        span: Span,
        mut act: impl FnMut(&mut Self, NodeId) -> NodeId,
    ) -> Lowered<Value> {
        match value {
            Value::Number(x) => Ok(Value::Number(act(self, *x))),
            Value::Numbers(a) => {
                let items = a.items.iter().map(|&x| act(self, x)).collect();
                Ok(Value::numbers(a.dims.clone(), items))
            }
            Value::Others(a) if a.items.is_empty() => Ok(value.clone()),
            Value::Text(_) | Value::Template(_) => {
                self.unsupported("the earlier value of a String that is put together while the model runs", span)
            }
            _ => self.broken("arithmetic with something that is not a number", span),
        }
    }

    /// Applies a function to pairs of numbers; a scalar goes with every element of an array.
    pub fn zip(
        &mut self,
        a: &Value,
        b: &Value,
        span: Span,
        mut act: impl FnMut(&mut Self, NodeId, NodeId) -> NodeId,
    ) -> Lowered<Value> {
        match (a, b) {
            (Value::Number(x), Value::Number(y)) => Ok(Value::Number(act(self, *x, *y))),
            (Value::Number(x), Value::Numbers(b)) => {
                let items = b.items.iter().map(|&y| act(self, *x, y)).collect();
                Ok(Value::numbers(b.dims.clone(), items))
            }
            (Value::Numbers(a), Value::Number(y)) => {
                let items = a.items.iter().map(|&x| act(self, x, *y)).collect();
                Ok(Value::numbers(a.dims.clone(), items))
            }
            (Value::Numbers(a), Value::Numbers(b)) if a.dims == b.dims || a.items.is_empty() && b.items.is_empty() => {
                let items = a.items.iter().zip(&b.items).map(|(&x, &y)| act(self, x, y)).collect();
                Ok(Value::numbers(a.dims.clone(), items))
            }
            _ => self.unsupported("an operation on arrays of different sizes", span),
        }
    }

    /// Long sums are nested to the left; their spine is followed in a loop.
    pub fn binary_chain(&mut self, e: &'a Expr) -> Lowered<Value> {
        let mut spine = Vec::new();
        let mut first = e;
        while let ExprKind::Binary(op, left, right) = &first.kind {
            spine.push((*op, first, right.as_ref()));
            first = left.as_ref();
        }
        let mut value = self.value(first)?;
        for (op, whole, right) in spine.into_iter().rev() {
            if self.is_decided(op, &value) {
                continue;
            }
            let other = self.right_operand(op, &value, right)?;
            value = match op {
                BinaryOp::MatMul => self.matrix_product(&value, &other, whole.span)?,
                BinaryOp::MatPow => self.matrix_power(&value, &other, whole.span)?,
                _ => self.elementwise(op, &value, &other, whole)?,
            };
            self.assert_exact(op, &value, whole)?;
        }
        Ok(value)
    }

    /// Where the left operand decides, the right one does not count: `i <= n and a[i] > 0`.
    fn right_operand(&mut self, op: BinaryOp, left: &Value, right: &'a Expr) -> Lowered<Value> {
        match (op, left) {
            (BinaryOp::And, Value::Number(left)) => self.in_branch(*left, true, |l| l.value(right)),
            (BinaryOp::Or, Value::Number(left)) => self.in_branch(*left, false, |l| l.value(right)),
            _ => self.value(right),
        }
    }

    /// `false and …`, `true or …`
    fn is_decided(&self, op: BinaryOp, left: &Value) -> bool {
        let Value::Number(left) = left else { return false };
        match (op, self.system.dag.value(*left)) {
            (BinaryOp::And, Some(value)) => value == 0.0,
            (BinaryOp::Or, Some(value)) => value != 0.0,
            _ => false,
        }
    }

    fn elementwise(&mut self, op: BinaryOp, left: &Value, right: &Value, e: &'a Expr) -> Lowered<Value> {
        if let (Value::Text(a), Value::Text(b)) = (left, right) {
            return self.text_operation(op, a.as_deref(), b.as_deref(), e.span);
        }
        let function = match op {
            BinaryOp::Add => BinaryFn::Add,
            BinaryOp::Sub => BinaryFn::Sub,
            BinaryOp::Mul | BinaryOp::MatMul => BinaryFn::Mul,
            BinaryOp::Div => BinaryFn::Div,
            BinaryOp::Pow | BinaryOp::MatPow => BinaryFn::Pow,
            BinaryOp::And => BinaryFn::And,
            BinaryOp::Or => BinaryFn::Or,
            BinaryOp::Equal => BinaryFn::Equal,
            BinaryOp::NotEqual => BinaryFn::NotEqual,
            BinaryOp::Less => return self.relations(RelationOp::Less, left, right, e),
            BinaryOp::LessEqual => return self.relations(RelationOp::LessEqual, left, right, e),
            BinaryOp::Greater => return self.relations(RelationOp::Greater, left, right, e),
            BinaryOp::GreaterEqual => return self.relations(RelationOp::GreaterEqual, left, right, e),
        };
        self.zip(left, right, e.span, |l, a, b| l.system.dag.binary(function, a, b))
    }

    fn relations(&mut self, op: RelationOp, left: &Value, right: &Value, e: &'a Expr) -> Lowered<Value> {
        self.zip(left, right, e.span, |l, a, b| {
            if l.is_literal_relation(a, b) {
                return l.system.dag.binary(relation_function(op), a, b);
            }
            let text = l.text_of(e);
            l.relation_of(op, a, b, text, e.span)
        })
    }

    fn is_literal_relation(&self, a: NodeId, b: NodeId) -> bool {
        self.is_literal || !(self.system.dag.is_continuous(a) || self.system.dag.is_continuous(b))
    }

    /// A relation with the text it is known by.
    pub fn relation_of(&mut self, op: RelationOp, a: NodeId, b: NodeId, text: String, span: Span) -> NodeId {
        if self.is_literal_relation(a, b) {
            return self.system.dag.binary(relation_function(op), a, b);
        }
        let memory = self.system.relation(op, a, b, text, span);
        self.system.load(memory)
    }

    pub fn matrix_product(&mut self, a: &Value, b: &Value, span: Span) -> Lowered<Value> {
        let (left, right) = (a.dims(), b.dims());
        let (rows, inner) = match left {
            [n] => (1, *n),
            [m, n] => (*m, *n),
            _ => return self.broken("a matrix product of other than vectors and matrices", span),
        };
        let (rows_right, columns) = match right {
            [n] => (*n, 1),
            [n, p] => (*n, *p),
            _ => return self.broken("a matrix product of other than vectors and matrices", span),
        };
        if inner != rows_right {
            return self.unsupported("a product of matrices whose sizes do not fit", span);
        }
        self.check_size(rows * columns, span)?;
        let (x, y) = (a.scalars(), b.scalars());
        let mut items = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                let mut sum = self.system.dag.constant(0.0);
                for k in 0..inner {
                    let product = self.system.dag.binary(BinaryFn::Mul, x[i * inner + k], y[k * columns + j]);
                    sum = self.system.dag.binary(BinaryFn::Add, sum, product);
                }
                items.push(sum);
            }
        }
        let dims = match (left.len(), right.len()) {
            (1, 1) => vec![],
            (2, 1) => vec![rows],
            (1, _) => vec![columns],
            _ => vec![rows, columns],
        };
        Ok(Value::numbers(dims, items))
    }

    fn matrix_power(&mut self, a: &Value, b: &Value, span: Span) -> Lowered<Value> {
        let exponent = b.number().and_then(|n| self.system.dag.value(n));
        let (Some(exponent), &[n, m]) = (exponent, a.dims()) else {
            return self.unsupported("a power of a matrix that is not constant", span);
        };
        if n != m || !(0.0..=MOST_MATRIX_POWER).contains(&exponent) {
            return self.unsupported("this power of a matrix", span);
        }
        // By repeated squaring, as the evaluator does.
        let (mut exponent, mut square) = (exponent as u32, a.clone());
        let items = (0..n * n).map(|i| self.system.dag.boolean(i / n == i % n)).collect();
        let mut result = Value::numbers(vec![n, n], items);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.matrix_product(&result, &square, span)?;
            }
            exponent >>= 1;
            if exponent > 0 {
                square = self.matrix_product(&square, &square, span)?;
            }
        }
        Ok(result)
    }

    pub fn range(&mut self, e: &'a Expr, start: &'a Expr, step: Option<&'a Expr>, stop: &'a Expr) -> Lowered<Value> {
        let first = start;
        let start = self.constant(start)?;
        let step = step.map_or(Ok(Some(1.0)), |s| self.constant(s))?;
        let stop = self.constant(stop)?;
        let (Some(start), Some(step), Some(stop)) = (start, step, stop) else {
            return match (step, e.ty.n_elements()) {
                // `k : k + 2` has three elements whatever `k` is.
                (Some(step), Some(n)) if e.ty.base == BaseType::Integer && n <= MOST_ELEMENTS => {
                    let first = self.scalar(first)?;
                    let item = |i: u64| {
                        let distance = self.system.dag.constant(step * i as f64);
                        self.system.dag.binary(BinaryFn::Add, first, distance)
                    };
                    Ok(Value::vector((0..n).map(item).collect()))
                }
                _ => self.unsupported("ranges whose bounds are not constant", e.span),
            };
        };
        let n = range_length(start, step, stop);
        if n.is_nan() || n > MOST_ELEMENTS as f64 {
            return Err(crate::diagnostics::too_large(e.span).into());
        }
        let items = (0..n as u64).map(|i| self.system.dag.constant(start + step * i as f64)).collect();
        Ok(Value::vector(items))
    }

    pub fn reduction(
        &mut self,
        e: &'a Expr,
        op: ReductionOp,
        body: &'a Expr,
        iterators: &'a [Iterator],
    ) -> Lowered<Value> {
        let mut values = Vec::new();
        let mut dims = Vec::new();
        self.iterate(e, body, iterators, 0, &mut dims, &mut values)?;
        let (function, neutral) = match op {
            ReductionOp::Array => return self.array_of_iterations(dims, values, e),
            ReductionOp::Sum => (BinaryFn::Add, 0.0),
            ReductionOp::Product => (BinaryFn::Mul, 1.0),
            ReductionOp::Min => (BinaryFn::Min, greatest(e.ty.base, self.model)),
            ReductionOp::Max => (BinaryFn::Max, least(e.ty.base)),
        };
        let mut values = values.into_iter();
        let Some(mut result) = values.next() else { return Ok(self.number(neutral)) };
        for value in values {
            result = self.zip(&result, &value, e.span, |l, a, b| l.system.dag.binary(function, a, b))?;
        }
        Ok(result)
    }

    fn array_of_iterations(&mut self, dims: Vec<usize>, values: Vec<Value>, e: &'a Expr) -> Lowered<Value> {
        let inner = match values.first() {
            Some(first) => first.dims().to_vec(),
            None => e.ty.dims.iter().skip(dims.len()).map(|d| d.known().unwrap_or(0) as usize).collect(),
        };
        if values.iter().any(|v| v.dims() != inner) {
            return self.broken("an array of items of different sizes", e.span);
        }
        let all: Vec<usize> = dims.iter().chain(&inner).copied().collect();
        let items = if inner.is_empty() { values } else { values.iter().flat_map(Value::elements).collect() };
        match Value::assemble(all, items) {
            Some(array) => Ok(array),
            None => self.unsupported("an array whose inner sizes depend on an iteration variable", e.span),
        }
    }

    /// The first iterator is the outermost loop; `dims` gets the number of values of each.
    fn iterate(
        &mut self,
        e: &'a Expr,
        body: &'a Expr,
        iterators: &'a [Iterator],
        level: usize,
        dims: &mut Vec<usize>,
        values: &mut Vec<Value>,
    ) -> Lowered<()> {
        let Some((first, rest)) = iterators.split_first() else {
            values.push(self.value(body)?);
            return self.check_size(values.len(), e.span);
        };
        let range = self.value(&first.range)?.elements();
        if dims.len() == level {
            dims.push(range.len());
        }
        let before = self.state.set_local(first.local.index(), None);
        for value in range {
            self.state.set_local(first.local.index(), Some(value));
            self.iterate(e, body, rest, level + 1, dims, values)?;
        }
        if dims.len() == level + 1 {
            // Nothing was iterated: the inner sizes are not known, and there are no items.
            dims.extend(std::iter::repeat_n(0, rest.len()));
        }
        self.state.set_local(first.local.index(), before);
        Ok(())
    }

    /// `if condition then a else b`
    pub fn select(&mut self, condition: NodeId, a: &Value, b: &Value, span: Span) -> Lowered<Value> {
        match self.system.dag.value(condition) {
            Some(value) if value != 0.0 => return Ok(a.clone()),
            Some(_) => return Ok(b.clone()),
            None => {}
        }
        let keeps_condition = self.system.dag.keeps_loads() && matches!(a, Value::Number(_));
        if a.is_same(b) && !keeps_condition {
            return Ok(a.clone());
        }
        match (a, b) {
            (Value::Number(x), Value::Number(y)) => Ok(Value::Number(self.system.dag.select(condition, *x, *y))),
            (Value::Numbers(x), Value::Numbers(y)) if x.dims == y.dims => {
                let pairs = x.items.iter().zip(&y.items);
                let items = pairs.map(|(&x, &y)| self.system.dag.select(condition, x, y)).collect();
                Ok(Value::numbers(x.dims.clone(), items))
            }
            (Value::Record(x), Value::Record(y)) if x.len() == y.len() => {
                let fields: Lowered<Vec<Value>> =
                    x.iter().zip(y.iter()).map(|(x, y)| self.select(condition, x, y, span)).collect();
                Ok(Value::record(fields?))
            }
            (Value::Others(x), Value::Others(y)) if x.dims == y.dims => {
                let pairs = x.items.iter().zip(&y.items);
                let items: Lowered<Vec<Value>> = pairs.map(|(x, y)| self.select(condition, x, y, span)).collect();
                Ok(Value::Others(Rc::new(Array { dims: x.dims.clone(), items: items? })))
            }
            (Value::Text(_), Value::Text(_)) => Ok(Value::Text(None)),
            (Value::Object(_), Value::Object(_)) => self.unsupported("a choice between external objects", span),
            _ => self.unsupported("a choice between values of different sizes", span),
        }
    }

    /// Is each scalar of a type a Real? Strings have no scalars.
    pub fn real_scalars(&self, value: &Value, base: BaseType) -> Vec<bool> {
        let mut flags = Vec::new();
        self.collect_real_scalars(value, base, &mut flags);
        flags
    }

    fn collect_real_scalars(&self, value: &Value, base: BaseType, flags: &mut Vec<bool>) {
        match value {
            Value::Number(_) => flags.push(base == BaseType::Real),
            Value::Numbers(a) => flags.extend(std::iter::repeat_n(base == BaseType::Real, a.items.len())),
            Value::Others(a) => a.items.iter().for_each(|v| self.collect_real_scalars(v, base, flags)),
            Value::Record(fields) => {
                let BaseType::Record(id) = base else { return };
                let Some(record) = self.model.records.get(id) else { return };
                for (value, field) in fields.iter().zip(&record.fields) {
                    self.collect_real_scalars(value, field.ty.base, flags);
                }
            }
            Value::Text(_) | Value::Template(_) | Value::Object(_) | Value::Function(_) => {}
        }
    }
}

/// `min` of no elements: the greatest value of the type. (Specification: section 10.3.4.1.)
pub fn greatest(base: BaseType, model: &FlatModel) -> f64 {
    match base {
        BaseType::Integer => i64::MAX as f64,
        BaseType::Boolean => 1.0,
        BaseType::Enumeration(id) => model.enumerations.get(id).map_or(1.0, |e| e.literals.len() as f64),
        _ => f64::MAX,
    }
}

/// `max` of no elements: the least value of the type.
pub fn least(base: BaseType) -> f64 {
    match base {
        BaseType::Integer => i64::MIN as f64,
        BaseType::Boolean => 0.0,
        BaseType::Enumeration(_) => 1.0,
        _ => f64::MIN,
    }
}
