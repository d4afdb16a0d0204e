//! The evaluator: executes procedures, and expressions as procedures without a name, on values of any kind and size.
//!
//! In: an [`Expr`] or a function with arguments, and an [`Environment`]. Out: its [`Value`], or why there is none. Work is
//! bounded by [`Limits`].

use std::sync::Arc;

use saltus_base::{Diagnostic, Index as _, Span};
use saltus_flat::{BinaryOp, Expr, FunctionId, LocalId};
use saltus_procedure::{Code, Expression, Operand, Procedure, Register, lower_expression};

use crate::array::{Items, n_items};
use crate::environment::STEPS_BETWEEN_LOOKS;
use crate::value::type_name;
use crate::{Environment, EvalError, EvalResult, Limits, Value, diagnostics, operators};

/// Nested blocks and calls together. A level takes about 2 kB of stack, without optimisation 8 kB, and has to fit into the
/// 8 MB of a main thread beside everything else.
const MOST_LEVELS: u32 = 1_000;

/// How many array elements cost as much as one step.
const ELEMENTS_PER_STEP: u64 = 4;

pub struct Evaluator<'e> {
    pub(crate) env: &'e mut dyn Environment,
    pub(crate) limits: Limits,
    pub(crate) steps: u64,
    /// The number of steps at which to ask again whether the evaluation shall go on.
    next_look: u64,
    pub(crate) levels: u32,
    /// Registers of the procedure being executed.
    pub(crate) frame: Frame,
    /// Iteration variables outside of functions.
    bound: Vec<(LocalId, Value)>,
    /// Procedures being executed, outermost first, with the place of each call.
    pub(crate) calls: Vec<(Arc<Procedure>, Span)>,
    warnings: Vec<Diagnostic>,
    pub(crate) messages: Vec<String>,
}

/// Values of registers.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) registers: Vec<Option<Value>>,
    /// Locals still get their initial values.
    pub(crate) is_initialising: bool,
}

impl Frame {
    pub(crate) fn new(n_registers: u32) -> Frame {
        Frame { registers: vec![None; n_registers as usize], is_initialising: false }
    }

    pub(crate) fn set(&mut self, register: Register, value: Value) {
        if let Some(place) = self.registers.get_mut(register.index()) {
            *place = Some(value);
        }
    }

    pub(crate) fn get(&self, register: Register) -> Option<&Value> {
        self.registers.get(register.index())?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, register: Register) -> Option<&mut Value> {
        self.registers.get_mut(register.index())?.as_mut()
    }

    pub(crate) fn take(&mut self, register: Register) -> Option<Value> {
        self.registers.get_mut(register.index())?.take()
    }

    pub(crate) fn restore(&mut self, register: Register, value: Option<Value>) {
        if let Some(place) = self.registers.get_mut(register.index()) {
            *place = value;
        }
    }
}

impl<'e> Evaluator<'e> {
    pub fn new(env: &'e mut dyn Environment, limits: Limits) -> Self {
        Evaluator {
            env,
            limits,
            steps: 0,
            next_look: STEPS_BETWEEN_LOOKS,
            levels: 0,
            frame: Frame::default(),
            bound: Vec::new(),
            calls: Vec::new(),
            warnings: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// The value of an expression. Limits count anew.
    pub fn evaluate(&mut self, expr: &Expr) -> EvalResult {
        self.evaluate_lowered(&lower_expression(expr))
    }

    /// The value of an expression that has been lowered. Limits count anew.
    pub fn evaluate_lowered(&mut self, expression: &Expression) -> EvalResult {
        self.restart_count();
        let mut frame = Frame::new(expression.n_registers);
        for (local, register) in &expression.free {
            if let Some((_, value)) = self.bound.iter().find(|(id, _)| id == local) {
                frame.set(*register, value.clone());
            }
        }
        let outside = std::mem::replace(&mut self.frame, frame);
        let value = self.eval_code(&expression.code);
        self.frame = outside;
        value
    }

    /// Calls a function and gives all its results. Inputs beyond `args` take their defaults. Limits count anew.
    pub fn call(&mut self, function: FunctionId, args: Vec<Value>, span: Span) -> EvalResult<Vec<Value>> {
        self.call_for(function, args, &|_| true, span)
    }

    /// The same where only these results are used: others need not have a value.
    pub fn call_for(
        &mut self,
        function: FunctionId,
        args: Vec<Value>,
        is_used: &dyn Fn(usize) -> bool,
        span: Span,
    ) -> EvalResult<Vec<Value>> {
        self.restart_count();
        self.call_function(function, args, is_used, span)
    }

    /// Gives an iteration variable outside functions its value.
    pub fn bind_local(&mut self, id: LocalId, value: Value) {
        self.bound.retain(|(bound, _)| *bound != id);
        self.bound.push((id, value));
    }

    /// Violated assertions of level warning so far.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.warnings)
    }

    /// What `print` has written so far.
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// A warning from inside a loop is kept a limited number of times.
    pub(crate) fn warn(&mut self, diagnostic: Diagnostic) {
        if self.warnings.len() < 100 && !self.warnings.contains(&diagnostic) {
            self.warnings.push(diagnostic);
        }
    }

    /// Where to point at: the outermost call, because that is in the user's model; else the place itself.
    pub(crate) fn outermost(&self, span: Span) -> Span {
        match self.calls.first() {
            Some((_, call)) if !call.is_nowhere() => *call,
            _ => span,
        }
    }

    fn restart_count(&mut self) {
        self.steps = 0;
        self.next_look = STEPS_BETWEEN_LOOKS.min(self.limits.steps.saturating_add(1));
    }

    pub(crate) fn step(&mut self, span: Span) -> EvalResult<()> {
        self.steps += 1;
        if self.steps >= self.next_look { self.look(span) } else { Ok(()) }
    }

    /// Has the evaluation taken too long, or is it no longer wanted?
    #[cold]
    fn look(&mut self, span: Span) -> EvalResult<()> {
        self.next_look = self.steps.saturating_add(STEPS_BETWEEN_LOOKS).min(self.limits.steps.saturating_add(1));
        if self.env.wants_stop() {
            return Err(diagnostics::interrupted(self.outermost(span)).into());
        }
        if self.steps > self.limits.steps {
            let function = self.calls.first().map(|(f, _)| f.name.as_str());
            return Err(diagnostics::too_many_steps(self.outermost(span), self.limits.steps, function).into());
        }
        Ok(())
    }

    /// One level of nesting more; every success needs a [`Evaluator::leave`].
    pub(crate) fn enter(&mut self, span: Span) -> EvalResult<()> {
        if self.levels >= MOST_LEVELS {
            return Err(self.too_deep(span));
        }
        self.levels += 1;
        Ok(())
    }

    pub(crate) fn too_deep(&self, span: Span) -> EvalError {
        diagnostics::nested_too_deeply(self.outermost(span), MOST_LEVELS).into()
    }

    pub(crate) fn leave(&mut self) {
        self.levels -= 1;
    }

    /// Counts work that is done without walking expressions, such as elements of an array operation.
    pub(crate) fn check_elements(&mut self, dims: &[usize], span: Span) -> EvalResult<usize> {
        match n_items(dims) {
            Some(n) if n as u64 <= self.limits.elements => {
                self.steps = self.steps.saturating_add(n as u64 / ELEMENTS_PER_STEP);
                Ok(n)
            }
            _ => Err(diagnostics::array_too_large(span, self.limits.elements).into()),
        }
    }

    /// Counts the elements of an array that was made or read as a whole.
    pub(crate) fn charge(&mut self, value: &Value) {
        if let Value::Array(a) = value {
            self.steps = self.steps.saturating_add(a.len() as u64 / ELEMENTS_PER_STEP);
        }
    }

    pub(crate) fn check_product(&mut self, op: BinaryOp, left: &Value, right: &Value, span: Span) -> EvalResult<()> {
        let (elements, work) = operators::product_cost(op, left, right);
        if elements > self.limits.elements as f64 {
            return Err(diagnostics::array_too_large(span, self.limits.elements).into());
        }
        self.steps = self.steps.saturating_add(work as u64 / ELEMENTS_PER_STEP);
        self.step(span)
    }

    /// What an operand holds. A temporary is moved out of its register: nobody else reads it.
    #[inline]
    pub(crate) fn read(&mut self, operand: &Operand, span: Span) -> EvalResult {
        match operand {
            Operand::Temporary(register) => match self.frame.take(*register) {
                Some(value) => Ok(value),
                None => Err(diagnostics::unknown_local(span).into()),
            },
            Operand::Local(register) => match self.frame.get(*register) {
                Some(value) => Ok(value.clone()),
                None => Err(self.without_value(*register, span)),
            },
            Operand::Real(x) => Ok(Value::Real(*x)),
            Operand::Integer(i) => Ok(Value::Integer(*i)),
            Operand::Boolean(b) => Ok(Value::Boolean(*b)),
            Operand::String(s) => Ok(Value::string(s)),
            Operand::Enumeration(id, ordinal) => Ok(Value::Enum(*id, *ordinal)),
        }
    }

    /// Why a local has no value.
    pub(crate) fn without_value(&self, register: Register, span: Span) -> EvalError {
        let Some((procedure, _)) = self.calls.last() else {
            return EvalError::not_constant(span, "an iteration variable");
        };
        match procedure.local(register) {
            Some(local) if self.frame.is_initialising => diagnostics::cyclic_local(local.span, &local.name).into(),
            Some(local) => EvalError::not_constant(local.span, format!("`{}`, which is not assigned yet,", local.name)),
            None => diagnostics::unknown_local(span).into(),
        }
    }

    /// A local is read on a way on which nothing is assigned to it.
    #[cold]
    pub(crate) fn used_without_value(&mut self, register: Register, span: Span) -> EvalResult<()> {
        let function = self.calls.last().map(|(p, _)| p.clone());
        let Some((function, local)) = function.as_ref().and_then(|p| Some((p, p.local(register)?))) else {
            return Err(diagnostics::unknown_local(span).into());
        };
        let place = self.outermost(span);
        self.report_missing(diagnostics::used_without_value(place, &local.name, &local.ty, &function.name, span))
    }

    /// Arrays are a warning.
    pub(crate) fn report_missing(&mut self, message: Diagnostic) -> EvalResult<()> {
        if message.code == diagnostics::WITHOUT_VALUE {
            return Err(message.into());
        }
        self.warn(message);
        Ok(())
    }

    pub(crate) fn assemble(&self, dims: Vec<usize>, items: Items, span: Span) -> EvalResult {
        let found = [items.len()];
        match Value::from_parts(dims.clone(), items) {
            Some(value) => Ok(value),
            None => Err(diagnostics::sizes_disagree(span, &dims, &found).into()),
        }
    }

    pub(crate) fn eval_boolean(&mut self, code: &Code) -> EvalResult<bool> {
        match self.eval_code(code)? {
            Value::Boolean(b) => Ok(b),
            other => Err(diagnostics::kind_mismatch(code.span, "a Boolean", type_name(other.base_type())).into()),
        }
    }

    pub(crate) fn eval_string(&mut self, code: &Code) -> EvalResult<Arc<str>> {
        match self.eval_code(code)? {
            Value::String(s) => Ok(s),
            other => Err(diagnostics::kind_mismatch(code.span, "a String", type_name(other.base_type())).into()),
        }
    }

    /// An array size: an Integer that is not negative and not too large.
    pub(crate) fn size_of(&self, value: &Value, span: Span) -> EvalResult<usize> {
        let size = integer_of(value, span)?;
        if size < 0 {
            return Err(diagnostics::negative_size(span, size).into());
        }
        usize::try_from(size)
            .ok()
            .filter(|&n| n as u64 <= self.limits.elements)
            .ok_or_else(|| diagnostics::array_too_large(span, self.limits.elements).into())
    }
}

pub(crate) fn integer_of(value: &Value, span: Span) -> EvalResult<i64> {
    match value {
        Value::Integer(i) => Ok(*i),
        Value::Enum(_, ordinal) => Ok(i64::from(*ordinal)),
        other => Err(diagnostics::kind_mismatch(span, "an Integer", type_name(other.base_type())).into()),
    }
}
