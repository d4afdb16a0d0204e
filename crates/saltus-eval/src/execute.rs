//! Instructions, one by one.

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, RecordField, RecordId, Type};
use saltus_procedure::{Argument, Block, Callee, Code, Literal, Op, Operand, Step};

use crate::array::{Array, Items};
use crate::evaluator::Evaluator;
use crate::sizes::check_known_sizes;
use crate::value::{FunctionValue, type_name};
use crate::{EvalError, EvalResult, Value, diagnostics, operators};

/// What comes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Return,
}

impl Evaluator<'_> {
    /// A block inside of another one.
    pub(crate) fn run(&mut self, block: &Block, span: Span) -> EvalResult<Flow> {
        if block.is_empty() {
            return Ok(Flow::Next);
        }
        self.enter(span)?;
        let flow = self.run_all(block);
        self.leave();
        flow
    }

    fn run_all(&mut self, block: &Block) -> EvalResult<Flow> {
        for step in block {
            match self.run_step(step)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    /// The value that code leads to.
    pub(crate) fn eval_code(&mut self, code: &Code) -> EvalResult {
        self.run(&code.block, code.span)?;
        self.read(&code.value, code.span)
    }

    fn run_step(&mut self, step: &Step) -> EvalResult<Flow> {
        match step {
            Step::Compute { to, op, span } => {
                self.step(*span)?;
                let value = self.compute(op, *span)?;
                self.frame.set(*to, value);
            }
            Step::Call { to, callee, arguments, span } => self.run_call(to, *callee, arguments, *span)?,
            Step::Assign { target, path, value, span } => {
                self.step(*span)?;
                let value = self.read(value, *span)?;
                self.assign(*target, path, value, *span)?;
            }
            _ => return self.run_statement(step),
        }
        Ok(Flow::Next)
    }

    fn run_call(
        &mut self,
        to: &[Option<saltus_procedure::Register>],
        callee: Callee,
        arguments: &[Operand],
        span: Span,
    ) -> EvalResult<()> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.read(argument, span)?);
        }
        let is_used = |k: usize| matches!(to.get(k), Some(Some(_)));
        let results = match callee {
            Callee::Function(function) => self.call_function(function, values, &is_used, span)?,
            Callee::Local(register) => self.call_local(register, values, &is_used, span)?,
        };
        if results.len() < to.len() {
            return Err(match to.len() {
                1 => EvalError::not_constant(span, "a call without result"),
                n => diagnostics::wrong_arguments(span, "the list of results", n).into(),
            });
        }
        for (register, value) in to.iter().zip(results) {
            if let Some(register) = register {
                self.frame.set(*register, value);
            }
        }
        Ok(())
    }

    fn compute(&mut self, op: &Op, span: Span) -> EvalResult {
        match op {
            Op::Binary(op, left, right) => {
                let (left, right) = (self.read(left, span)?, self.read(right, span)?);
                self.binary(*op, left, right, span)
            }
            Op::Select { base, path } => self.select(base, path, span),
            Op::Builtin { function, arguments, ty } => self.builtin(*function, arguments, ty, span),
            Op::Unary(op, operand) => {
                let value = self.read(operand, span)?;
                operators::unary(*op, value, span)
            }
            Op::Copy(operand) => self.read(operand, span),
            Op::Cast(base, operand) => Ok(self.read(operand, span)?.converted(*base)),
            Op::Decide { is_or, left, right } => self.decide(*is_or, left, right, span),
            Op::Choose { branches, otherwise } => {
                for (condition, value) in branches {
                    if self.eval_boolean(condition)? {
                        return self.eval_code(value);
                    }
                }
                self.eval_code(otherwise)
            }
            Op::Literal(literal) => literal_value(literal, span),
            Op::Record(id, fields) => {
                let values = fields.iter().map(|f| self.read(f, span)).collect::<EvalResult<Vec<_>>>()?;
                self.check_fields(*id, &values, span)?;
                Ok(Value::record(*id, values))
            }
            Op::Array { elements, ty } => self.array(elements, ty, span),
            Op::Range { start, step, stop } => {
                let items = self.range(start, step.as_ref(), stop, span)?;
                Ok(Value::Array(Array::vector(items)))
            }
            Op::Size { array, dimension, ty } => self.size(array.as_ref(), dimension.as_ref(), ty, span),
            Op::Reduce { op, iterations, body, ty } => self.reduction(*op, iterations, body, ty, span),
            Op::Function { function, bound } => {
                let bound = bound.iter().map(|(i, o)| Ok((*i, self.read(o, span)?))).collect::<EvalResult<Vec<_>>>()?;
                Ok(Value::Function(FunctionValue { function: *function, bound: bound.into() }))
            }
            Op::Variable(id) => self.env.variable(*id, span),
            Op::InstanceName => Ok(Value::string(&self.env.instance_name())),
            Op::Unavailable(what) => Err(EvalError::not_constant(span, what.clone())),
            Op::TooDeep => Err(self.too_deep(span)),
        }
    }

    /// Arrays in a record have the sizes that its type knows.
    fn check_fields(&self, id: RecordId, values: &[Value], span: Span) -> EvalResult<()> {
        if values.iter().all(|v| v.dims().is_empty()) {
            return Ok(());
        }
        let record = self.env.record_type(id);
        let check =
            |(f, value): (&RecordField, &Value)| check_known_sizes(&f.ty, value.dims(), span, || f.name.clone());
        record.fields.iter().zip(values).try_for_each(check)
    }

    fn binary(&mut self, op: BinaryOp, left: Value, right: Value, span: Span) -> EvalResult {
        if matches!(op, BinaryOp::MatMul | BinaryOp::MatPow) {
            self.check_product(op, &left, &right, span)?;
        }
        let value = operators::binary(op, left, right, span)?;
        self.charge(&value);
        Ok(value)
    }

    fn decide(&mut self, is_or: bool, left: &Operand, right: &Code, span: Span) -> EvalResult {
        let left = self.read(left, span)?;
        if left == Value::Boolean(is_or) {
            return Ok(left);
        }
        let right = self.eval_code(right)?;
        self.binary(if is_or { BinaryOp::Or } else { BinaryOp::And }, left, right, span)
    }

    /// `{a, b}`: all elements have the same sizes.
    fn array(&mut self, elements: &[Argument], ty: &Type, span: Span) -> EvalResult {
        let Some((first, rest)) = elements.split_first() else {
            let known = |d: &saltus_flat::Dim| d.known().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            let dims = std::iter::once(0).chain(ty.dims.iter().skip(1).map(known)).collect();
            return self.assemble(dims, Items::empty(ty.base), span);
        };
        let first = self.read(&first.value, first.span)?;
        let inner = first.dims().to_vec();
        let base = common_base(ty.base, first.base_type());
        let mut items = Items::with_capacity(base, elements.len());
        let found = first.base_type();
        if !items.extend_value(first) {
            return Err(diagnostics::kind_mismatch(span, type_name(base), type_name(found)).into());
        }
        for element in rest {
            let value = self.read(&element.value, element.span)?;
            if value.dims() != inner {
                return Err(diagnostics::sizes_disagree(element.span, &inner, value.dims()).into());
            }
            let base = value.base_type();
            if !items.extend_value(value) {
                let expected = type_name(items.base_type());
                return Err(diagnostics::kind_mismatch(element.span, expected, type_name(base)).into());
            }
            if items.len() as u64 > self.limits.elements {
                return Err(diagnostics::array_too_large(span, self.limits.elements).into());
            }
        }
        let dims: Vec<usize> = std::iter::once(elements.len()).chain(inner).collect();
        self.assemble(dims, items, span)
    }
}

/// The declared element type, unless the declaration does not say or cannot hold what came.
pub(crate) fn common_base(declared: BaseType, found: BaseType) -> BaseType {
    match (declared, found) {
        (BaseType::Real, BaseType::Integer) => BaseType::Real,
        (_, found) => found,
    }
}

fn literal_value(literal: &Literal, span: Span) -> EvalResult {
    let items = match literal {
        Literal::Reals { items, .. } => Items::Real(items.clone()),
        Literal::Integers { items, .. } => Items::Integer(items.clone()),
    };
    operators::build(literal.dims(), items, span)
}
