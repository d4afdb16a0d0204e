//! The evaluator: a walk over typed expressions with a frame of local variables.
//!
//! In: an [`Expr`] and an [`Environment`]. Out: its [`Value`], or why there is none. Work is bounded by [`Limits`]; long
//! chains of operators and of `elseif` are walked in a loop, so that the stack is used by real nesting only.

use std::sync::Arc;

use saltus_base::{Diagnostic, Index as _, Span};
use saltus_flat::{BaseType, BinaryOp, Expr, ExprKind, Function, FunctionId, LocalId};

use crate::array::{Items, n_items};
use crate::value::{FunctionValue, type_name};
use crate::{Environment, EvalError, EvalResult, Limits, Value, diagnostics, operators};

/// Nested expressions, statements and calls together. A level takes about 1 kB of stack, without optimisation 4 kB, and
/// has to fit into the 8 MB of a main thread beside everything else.
const MOST_LEVELS: u32 = 1_000;

/// How many array elements cost as much as one step.
const ELEMENTS_PER_STEP: u64 = 4;

pub struct Evaluator<'e> {
    pub(crate) env: &'e mut dyn Environment,
    pub(crate) limits: Limits,
    pub(crate) steps: u64,
    pub(crate) levels: u32,
    /// Locals of the function being evaluated; outside functions iteration variables.
    pub(crate) frame: Frame,
    /// Functions being evaluated, outermost first, with the place of each call.
    pub(crate) calls: Vec<(Arc<Function>, Span)>,
    warnings: Vec<Diagnostic>,
    pub(crate) messages: Vec<String>,
}

/// Values of locals by id.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) slots: Vec<Slot>,
}

#[derive(Clone, Default)]
pub(crate) enum Slot {
    #[default]
    Unset,
    /// Its initial value is being computed.
    Pending,
    Set(Value),
}

impl Frame {
    pub(crate) fn set(&mut self, id: LocalId, value: Value) {
        if self.slots.len() <= id.index() {
            self.slots.resize(id.index() + 1, Slot::Unset);
        }
        self.slots[id.index()] = Slot::Set(value);
    }

    pub(crate) fn get(&self, id: LocalId) -> Option<&Value> {
        match self.slots.get(id.index()) {
            Some(Slot::Set(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, id: LocalId) -> Option<&mut Value> {
        match self.slots.get_mut(id.index()) {
            Some(Slot::Set(value)) => Some(value),
            _ => None,
        }
    }

    /// Takes the slot out, for [`Frame::restore`].
    pub(crate) fn save(&mut self, id: LocalId) -> Slot {
        self.slots.get_mut(id.index()).map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn restore(&mut self, id: LocalId, slot: Slot) {
        if let Some(place) = self.slots.get_mut(id.index()) {
            *place = slot;
        }
    }
}

impl<'e> Evaluator<'e> {
    pub fn new(env: &'e mut dyn Environment, limits: Limits) -> Self {
        Evaluator {
            env,
            limits,
            steps: 0,
            levels: 0,
            frame: Frame::default(),
            calls: Vec::new(),
            warnings: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// The value of an expression. Limits count anew.
    pub fn evaluate(&mut self, expr: &Expr) -> EvalResult {
        self.steps = 0;
        self.eval(expr)
    }

    /// Calls a function and gives all its results. Inputs beyond `args` take their defaults. Limits count anew.
    pub fn call(&mut self, function: FunctionId, args: Vec<Value>, span: Span) -> EvalResult<Vec<Value>> {
        self.steps = 0;
        self.call_function(function, args, span)
    }

    /// Gives an iteration variable outside functions its value.
    pub fn bind_local(&mut self, id: LocalId, value: Value) {
        self.frame.set(id, value);
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

    pub(crate) fn step(&mut self, span: Span) -> EvalResult<()> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            let function = self.calls.first().map(|(f, _)| f.name.as_str());
            return Err(diagnostics::too_many_steps(self.outermost(span), self.limits.steps, function).into());
        }
        Ok(())
    }

    /// One level of nesting more; every success needs a [`Evaluator::leave`].
    pub(crate) fn enter(&mut self, span: Span) -> EvalResult<()> {
        if self.levels >= MOST_LEVELS {
            return Err(diagnostics::nested_too_deeply(self.outermost(span), MOST_LEVELS).into());
        }
        self.levels += 1;
        Ok(())
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

    fn check_product(&mut self, op: BinaryOp, left: &Value, right: &Value, span: Span) -> EvalResult<()> {
        let (elements, work) = operators::product_cost(op, left, right);
        if elements > self.limits.elements as f64 {
            return Err(diagnostics::array_too_large(span, self.limits.elements).into());
        }
        self.steps = self.steps.saturating_add(work as u64 / ELEMENTS_PER_STEP);
        self.step(span)
    }

    pub(crate) fn eval(&mut self, expr: &Expr) -> EvalResult {
        self.step(expr.span)?;
        match &expr.kind {
            ExprKind::Real(x) => Ok(Value::Real(*x)),
            ExprKind::Integer(i) => {
                Ok(if expr.ty.base == BaseType::Real { Value::Real(*i as f64) } else { Value::Integer(*i) })
            }
            ExprKind::Boolean(b) => Ok(Value::Boolean(*b)),
            ExprKind::String(s) => Ok(Value::String(s.clone())),
            ExprKind::EnumLiteral(id, ordinal) => Ok(Value::Enum(*id, *ordinal)),
            ExprKind::Local(id) => match self.frame.get(*id) {
                Some(value) => Ok(value.clone()),
                None => self.initialise_local(*id, expr.span),
            },
            _ => {
                self.enter(expr.span)?;
                let result = self.eval_nested(expr);
                self.leave();
                result
            }
        }
    }

    fn eval_nested(&mut self, expr: &Expr) -> EvalResult {
        match &expr.kind {
            ExprKind::Binary(..) => self.eval_binary(expr),
            ExprKind::Index { base, subscripts } => self.eval_index(base, subscripts, expr.span),
            ExprKind::Unary(op, operand) => {
                let value = self.eval(operand)?;
                operators::unary(*op, value, expr.span)
            }
            ExprKind::If { .. } => self.eval_if(expr),
            ExprKind::Cast(operand) => Ok(self.eval(operand)?.converted(expr.ty.base)),
            ExprKind::Call { function, arguments } => self.eval_call(*function, arguments, expr.span),
            ExprKind::CallLocal { function, arguments } => self.eval_call_local(*function, arguments, expr.span),
            ExprKind::Builtin { function, arguments } => self.eval_builtin(*function, arguments, expr),
            ExprKind::Field { base, field } => self.eval_field(base, *field, expr),
            ExprKind::Var(id) => self.env.variable(*id, expr.span),
            ExprKind::Record(fields) => self.eval_record(fields, expr),
            ExprKind::Array(items) => self.eval_array(items, expr),
            ExprKind::Range { start, step, stop } => self.eval_range(start, step.as_deref(), stop, expr.span),
            ExprKind::Reduction { op, body, iterators } => self.eval_reduction(*op, body, iterators, expr),
            ExprKind::FunctionRef { function, bound } => self.eval_function_ref(*function, bound),
            ExprKind::Time => Err(EvalError::not_constant(expr.span, "`time`")),
            ExprKind::Tuple(_) => Err(EvalError::not_constant(expr.span, "a list of results")),
            ExprKind::Error => Err(EvalError::not_constant(expr.span, "an erroneous expression")),
            ExprKind::Real(_)
            | ExprKind::Integer(_)
            | ExprKind::Boolean(_)
            | ExprKind::String(_)
            | ExprKind::EnumLiteral(..)
            | ExprKind::Local(_) => self.eval(expr),
        }
    }

    /// Left-associative chains such as `a + b + c + …` are walked in a loop.
    fn eval_binary(&mut self, expr: &Expr) -> EvalResult {
        let mut chain: Vec<(&Expr, BinaryOp, &Expr)> = Vec::new();
        let mut current = expr;
        while let ExprKind::Binary(op, left, right) = &current.kind {
            chain.push((current, *op, right));
            current = left;
            self.step(current.span)?;
        }
        let mut value = self.eval(current)?;
        while let Some((node, op, right)) = chain.pop() {
            match (op, &value) {
                (BinaryOp::And, Value::Boolean(false)) | (BinaryOp::Or, Value::Boolean(true)) => continue,
                _ => {}
            }
            let right = self.eval(right)?;
            if matches!(op, BinaryOp::MatMul | BinaryOp::MatPow) {
                self.check_product(op, &value, &right, node.span)?;
            }
            value = operators::binary(op, value, right, node.span)?;
            self.charge(&value);
        }
        Ok(value)
    }

    fn eval_if(&mut self, expr: &Expr) -> EvalResult {
        let mut current = expr;
        while let ExprKind::If { condition, then, otherwise } = &current.kind {
            if self.eval_boolean(condition)? {
                current = then;
                break;
            }
            current = otherwise;
        }
        self.eval(current)
    }

    fn eval_record(&mut self, fields: &[Expr], expr: &Expr) -> EvalResult {
        let BaseType::Record(id) = expr.ty.base else {
            return Err(diagnostics::kind_mismatch(expr.span, "a record", type_name(expr.ty.base)).into());
        };
        let values = fields.iter().map(|f| self.eval(f)).collect::<EvalResult<Vec<_>>>()?;
        Ok(Value::record(id, values))
    }

    /// `{a, b}`: all elements have the same sizes.
    fn eval_array(&mut self, elements: &[Expr], expr: &Expr) -> EvalResult {
        let Some((first, rest)) = elements.split_first() else {
            return self.empty_array(expr);
        };
        let first = self.eval(first)?;
        let inner = first.dims().to_vec();
        let base = common_base(expr.ty.base, first.base_type());
        let mut items = Items::with_capacity(base, elements.len());
        let mismatch =
            |found: &Value| diagnostics::kind_mismatch(expr.span, type_name(base), type_name(found.base_type()));
        if !items.extend_value(first.clone()) {
            return Err(mismatch(&first).into());
        }
        for element in rest {
            let value = self.eval(element)?;
            if value.dims() != inner {
                return Err(diagnostics::sizes_disagree(element.span, &inner, value.dims()).into());
            }
            let base = value.base_type();
            if !items.extend_value(value) {
                return Err(
                    diagnostics::kind_mismatch(element.span, type_name(items.base_type()), type_name(base)).into()
                );
            }
            if items.len() as u64 > self.limits.elements {
                return Err(diagnostics::array_too_large(expr.span, self.limits.elements).into());
            }
        }
        let dims: Vec<usize> = std::iter::once(elements.len()).chain(inner).collect();
        self.assemble(dims, items, expr.span)
    }

    fn empty_array(&mut self, expr: &Expr) -> EvalResult {
        let dims = std::iter::once(0)
            .chain(expr.ty.dims.iter().skip(1).map(|d| d.known().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)))
            .collect();
        self.assemble(dims, Items::empty(expr.ty.base), expr.span)
    }

    pub(crate) fn assemble(&self, dims: Vec<usize>, items: Items, span: Span) -> EvalResult {
        let found = [items.len()];
        match Value::from_parts(dims.clone(), items) {
            Some(value) => Ok(value),
            None => Err(diagnostics::sizes_disagree(span, &dims, &found).into()),
        }
    }

    fn eval_function_ref(&mut self, function: FunctionId, bound: &[(u32, Expr)]) -> EvalResult {
        let bound = bound.iter().map(|(position, e)| Ok((*position, self.eval(e)?))).collect::<EvalResult<Vec<_>>>()?;
        Ok(Value::Function(FunctionValue { function, bound: Arc::new(bound) }))
    }

    pub(crate) fn eval_boolean(&mut self, expr: &Expr) -> EvalResult<bool> {
        match self.eval(expr)? {
            Value::Boolean(b) => Ok(b),
            other => Err(diagnostics::kind_mismatch(expr.span, "a Boolean", type_name(other.base_type())).into()),
        }
    }

    pub(crate) fn eval_integer(&mut self, expr: &Expr) -> EvalResult<i64> {
        match self.eval(expr)? {
            Value::Integer(i) => Ok(i),
            Value::Enum(_, ordinal) => Ok(i64::from(ordinal)),
            other => Err(diagnostics::kind_mismatch(expr.span, "an Integer", type_name(other.base_type())).into()),
        }
    }

    /// An array size: an Integer that is not negative and not too large.
    pub(crate) fn eval_size(&mut self, expr: &Expr) -> EvalResult<usize> {
        let size = self.eval_integer(expr)?;
        if size < 0 {
            return Err(diagnostics::negative_size(expr.span, size).into());
        }
        usize::try_from(size)
            .ok()
            .filter(|&n| n as u64 <= self.limits.elements)
            .ok_or_else(|| diagnostics::array_too_large(expr.span, self.limits.elements).into())
    }

    pub(crate) fn eval_string(&mut self, expr: &Expr) -> EvalResult<Arc<str>> {
        match self.eval(expr)? {
            Value::String(s) => Ok(s),
            other => Err(diagnostics::kind_mismatch(expr.span, "a String", type_name(other.base_type())).into()),
        }
    }
}

/// The declared element type, unless the declaration does not say or cannot hold what came.
fn common_base(declared: BaseType, found: BaseType) -> BaseType {
    match (declared, found) {
        (BaseType::Real, BaseType::Integer) => BaseType::Real,
        (_, found) => found,
    }
}
