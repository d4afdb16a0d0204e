//! Lower expressions: a flat expression becomes a [`Value`] whose numbers are nodes of the graph.
//!
//! In: a typed flat expression. Out: its value, or a diagnostic. `{x, 2} .* y` with `Real y[2]` becomes the nodes of
//! `x*y[1], 2*y[2]`. A record is the sequence of its fields. Functions are executed on values ([`functions`]).
//!
//! Relations with a continuous operand become loads of their memory (see [`System::relation`]) unless they are literal:
//! inside `noEvent`, `smooth`, functions, and where an expression is evaluated only at events. (Specification: section 8.5.)

mod algorithm;
mod arrays;
mod constants;
mod declared_sizes;
pub mod derivatives;
pub mod effects;
pub mod function_assertions;
mod functions;
mod index;
mod integer_checks;
pub mod operators;
mod outlined;
pub mod stated_derivatives;
mod statements;
mod subscript_checks;
mod templates;
#[cfg(test)]
pub mod tests;
mod texts;
pub mod value;
pub mod without_value;

use saltus_base::{Diagnostic, Diagnostics, Index, Span};
use saltus_flat::{BaseType, Expr, ExprKind, FlatModel, FunctionId, LocalId, ModelNames, VarId, print_expr};
use saltus_program::{SlotId, SlotKind};

pub use algorithm::assigned_variables;
pub use constants::Memo;
pub use effects::VoidCall;
pub use functions::known_dims;

use crate::dag::{CallId, Node, NodeId};
use crate::diagnostics;
use crate::outline::Outlined;
use crate::system::System;
use crate::tuning::form::MOST_ELEMENTS;
use crate::tuning::work::MOST_EXPRESSION_LEVELS;
use declared_sizes::Sizes;
use effects::Acts;
use function_assertions::{FunctionAssertion, Made};
use statements::State;
use value::Value;
use without_value::Used;

/// Why something could not be lowered. The caller reports it if it has no other way.
pub type Problem = Box<Diagnostic>;

pub type Lowered<T> = Result<T, Problem>;

pub struct Lowering<'a, 's> {
    pub model: &'a FlatModel,
    pub system: &'s mut System,
    pub diagnostics: &'s mut Diagnostics,
    /// Values of locals, and of variables that an algorithm has assigned.
    pub state: State,
    /// The function being executed.
    pub function: Option<FunctionId>,
    /// Relations are taken literally and generate no events.
    pub is_literal: bool,
    /// Parameters count as constants.
    pub folds_parameters: bool,
    /// Where a size depends on parameters, their values settle it, and they become structural by this.
    pub settles: bool,
    /// Algorithms are executed as they act in the initial system.
    pub is_initial: bool,
    /// The condition under which a statement is reached, in the present function.
    pub path: NodeId,
    /// The condition under which the function being executed is called.
    pub entry: NodeId,
    /// When impure functions are called.
    pub acts: Acts,
    /// Impure calls are made in the order of the statements.
    is_ordered: bool,
    /// The impure call before, if they are ordered.
    last_effect: Option<CallId>,
    /// Sizes of the variable that the next call is the value of.
    pub declared_dims: Option<Vec<usize>>,
    /// Which results of the next call are used.
    pub used: Used<'a>,
    /// While the initial value of a local is computed: whether it needs one that has none.
    pub needs_missing: Option<bool>,
    /// Branches of `if` expressions and equations around the present expression, in the present function.
    pub branches: Vec<(NodeId, bool)>,
    /// Is the function being executed called whatever happens?
    pub is_entered: bool,
    /// Sizes that the declarations of the function being executed state.
    pub sizes: Sizes,
    /// Assertions of the function being executed.
    pub function_assertions: Vec<FunctionAssertion>,
    /// Is what is lowered computed at every accepted point?
    pub made: Made,
    /// Parts of the present algorithm that cannot be written out; `None` where nothing can be called instead.
    pub outlined: Option<Vec<Outlined<'a>>>,
    /// Those of all algorithms.
    pub parts: Vec<Outlined<'a>>,
    n_levels: u32,
    n_calls: u32,
}

impl<'a, 's> Lowering<'a, 's> {
    pub fn new(model: &'a FlatModel, system: &'s mut System, diagnostics: &'s mut Diagnostics) -> Self {
        let no = system.dag.boolean(false);
        let path = system.dag.boolean(true);
        Lowering {
            model,
            system,
            diagnostics,
            state: State::new(model.iterators.len(), no),
            function: None,
            is_literal: false,
            folds_parameters: false,
            settles: true,
            is_initial: false,
            path,
            entry: path,
            acts: Acts::Never,
            is_ordered: false,
            last_effect: None,
            declared_dims: None,
            used: Used::First,
            needs_missing: None,
            branches: Vec::new(),
            is_entered: true,
            sizes: Sizes::new(),
            function_assertions: Vec::new(),
            made: Made::Sometimes,
            outlined: None,
            parts: Vec::new(),
            n_levels: 0,
            n_calls: 0,
        }
    }

    /// Reports what could not be lowered and goes on.
    pub fn note<T>(&mut self, result: Lowered<T>) -> Option<T> {
        result.map_err(|problem| self.diagnostics.push(*problem)).ok()
    }

    pub fn unsupported<T>(&self, what: &str, span: Span) -> Lowered<T> {
        Err(diagnostics::not_supported(what, span).into())
    }

    pub fn broken<T>(&self, what: &str, span: Span) -> Lowered<T> {
        Err(diagnostics::broken_expression(what, span).into())
    }

    /// All numbers of an expression, row-major, records field by field.
    pub fn scalars(&mut self, e: &'a Expr) -> Lowered<Vec<NodeId>> {
        Ok(self.value(e)?.scalars())
    }

    pub fn scalar(&mut self, e: &'a Expr) -> Lowered<NodeId> {
        match self.value(e)?.number() {
            Some(node) => Ok(node),
            None => self.broken("a scalar was expected", e.span),
        }
    }

    /// A scalar Boolean condition.
    pub fn condition(&mut self, e: &'a Expr) -> Lowered<NodeId> {
        if e.ty.base != BaseType::Boolean {
            return self.unsupported("conditions that are no Booleans", e.span);
        }
        self.scalar(e)
    }

    /// The scalar value of an expression that does not depend on anything but, where they settle it, parameters.
    pub fn constant(&mut self, e: &'a Expr) -> Lowered<Option<f64>> {
        let node = self.scalar(e)?;
        Ok(self.settled(node))
    }

    fn settled(&mut self, node: NodeId) -> Option<f64> {
        match self.system.dag.value(node) {
            None if self.settles => self.value_by_parameters(node),
            value => value,
        }
    }

    /// With or without parameters that settle sizes.
    pub fn settling<T>(&mut self, settles: bool, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.settles, settles);
        let result = act(self);
        self.settles = before;
        result
    }

    /// With relations literal.
    pub fn literally<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_literal, true);
        let result = act(self);
        self.is_literal = before;
        result
    }

    /// With parameters as constants.
    pub fn folding<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.folds_parameters, true);
        let result = act(self);
        self.folds_parameters = before;
        result
    }

    pub fn text_of(&self, e: &Expr) -> String {
        match self.function.and_then(|f| self.model.functions.get(f)) {
            Some(function) => print_expr(&ModelNames::in_function(self.model, function), e),
            None => print_expr(&ModelNames::new(self.model), e),
        }
    }

    pub fn value(&mut self, e: &'a Expr) -> Lowered<Value> {
        if self.n_levels >= MOST_EXPRESSION_LEVELS {
            return self.unsupported("an expression nested so deeply", e.span);
        }
        self.n_levels += 1;
        let result = self.value_of_kind(e);
        self.n_levels -= 1;
        result.or_else(|problem| self.outlined_expression(e, problem))
    }

    fn value_of_kind(&mut self, e: &'a Expr) -> Lowered<Value> {
        match &e.kind {
            ExprKind::Real(value) => Ok(self.number(*value)),
            ExprKind::Integer(value) => Ok(self.number(*value as f64)),
            ExprKind::Boolean(value) => Ok(Value::Number(self.system.dag.boolean(*value))),
            ExprKind::EnumLiteral(_, ordinal) => Ok(self.number(f64::from(*ordinal))),
            ExprKind::String(text) => Ok(Value::Text(Some(text.clone()))),
            ExprKind::Var(id) => self.variable(*id, e.span),
            ExprKind::Local(id) => self.local(*id, e.span),
            ExprKind::Time => Ok(Value::Number(self.system.load(self.system.time))),
            ExprKind::Index { base, subscripts } => self.index(e, base, subscripts),
            ExprKind::Field { base, field } => self.field(e, base, *field),
            ExprKind::Record(items) => {
                let fields: Lowered<Vec<Value>> = items.iter().map(|item| self.value(item)).collect();
                let fields = fields?;
                self.check_fields(e, &fields)?;
                Ok(Value::record(fields))
            }
            ExprKind::Array(items) => self.array(e, items),
            ExprKind::Range { start, step, stop } => self.range(e, start, step.as_deref(), stop),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, e.span),
            ExprKind::Binary(..) => self.binary_chain(e),
            ExprKind::If { .. } => self.conditional(e),
            ExprKind::Builtin { function, arguments } => self.builtin(e, *function, arguments),
            ExprKind::Reduction { op, body, iterators } => self.reduction(e, *op, body, iterators),
            ExprKind::Cast(operand) => self.value(operand),
            ExprKind::Call { .. } | ExprKind::CallLocal { .. } => match self.results(e)?.first() {
                Some(first) => Ok(first.clone()),
                None => self.broken("the value of a function without results", e.span),
            },
            ExprKind::FunctionRef { function, bound } => self.function_value(*function, bound),
            ExprKind::Tuple(_) => self.unsupported("several results of a call", e.span),
            ExprKind::Error => self.broken("an expression with an error", e.span),
        }
    }

    /// In a function the sizes of what a record is made of may be known by the call only.
    fn check_fields(&mut self, e: &Expr, values: &[Value]) -> Lowered<()> {
        let BaseType::Record(id) = e.ty.base else { return Ok(()) };
        if self.function.is_none() {
            return Ok(());
        }
        let model = self.model;
        let fields = model.records.get(id).map_or(&[][..], |r| &r.fields);
        fields.iter().zip(values).try_for_each(|(f, value)| self.check_known_sizes(&f.ty, value, &f.name, e.span))
    }

    pub fn number(&mut self, value: f64) -> Value {
        Value::Number(self.system.dag.constant(value))
    }

    fn array(&mut self, e: &'a Expr, items: &'a [Expr]) -> Lowered<Value> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.value(item)?);
        }
        self.check_size(values.iter().map(|v| v.dims().iter().product::<usize>()).sum(), e.span)?;
        let inner: Vec<usize> = e.ty.dims.iter().skip(1).map(|d| d.known().unwrap_or(0) as usize).collect();
        match Value::stack(values, &inner) {
            Some(value) => Ok(value),
            None => self.broken("an array of items of different sizes", e.span),
        }
    }

    pub fn check_size(&self, n: usize, span: Span) -> Lowered<()> {
        if n as u64 > MOST_ELEMENTS { Err(diagnostics::too_large(span).into()) } else { Ok(()) }
    }

    fn conditional(&mut self, e: &'a Expr) -> Lowered<Value> {
        let n_branches = self.branches.len();
        let result = self.conditional_chain(e);
        self.branches.truncate(n_branches);
        result
    }

    /// Long chains of `elseif` are followed in a loop.
    fn conditional_chain(&mut self, e: &'a Expr) -> Lowered<Value> {
        let mut chosen: Vec<(NodeId, Value)> = Vec::new();
        let mut rest = e;
        let mut last = loop {
            let ExprKind::If { condition, then, otherwise } = &rest.kind else { break self.value(rest)? };
            // Which clock it is must be known at compile time.
            let condition = if e.ty.base == BaseType::Clock {
                self.folding(|l| l.scalar(condition))?
            } else {
                self.scalar(condition)?
            };
            // A branch that cannot be reached may contain anything.
            match self.system.dag.value(condition) {
                Some(value) if value != 0.0 => break self.value(then)?,
                Some(_) => {}
                None if self.acts == Acts::Never => {
                    let then = self.in_branch(condition, true, |l| l.value(then))?;
                    chosen.push((condition, then));
                    self.branches.push((condition, false));
                }
                None => {
                    let then = self.under(condition, |l| l.value(then))?;
                    let not = self.system.dag.not(condition);
                    let last = self.under(not, |l| l.value(otherwise))?;
                    chosen.push((condition, then));
                    break last;
                }
            }
            rest = otherwise;
        };
        while let Some((condition, value)) = chosen.pop() {
            last = match self.decision(condition, &value, &last) {
                Some(true) => value,
                Some(false) => last,
                None => self.select(condition, &value, &last, e.span)?,
            };
        }
        Ok(last)
    }

    fn local(&mut self, id: LocalId, span: Span) -> Lowered<Value> {
        match self.state.locals.get(id.index()) {
            Some(Some(value)) if !self.state.uncertain.contains_key(&id.index()) => Ok(value.clone()),
            _ => self.uncertain_local(id, span),
        }
    }

    fn variable(&mut self, id: VarId, span: Span) -> Lowered<Value> {
        if let Some(value) = self.state.variables.get(&id) {
            return Ok(value.clone());
        }
        if let Some(value) = self.constant_variable(id) {
            return Ok(value);
        }
        if let Some(value) = self.system.memo.loaded.get(&id) {
            return Ok(value.clone());
        }
        let value = self.load_variable(id, span)?;
        self.system.memo.loaded.insert(id, value.clone());
        Ok(value)
    }

    fn load_variable(&mut self, id: VarId, span: Span) -> Lowered<Value> {
        let model = self.model;
        let Some(variable) = model.variables.get(id) else { return self.broken("an unknown variable", span) };
        let dims: Vec<usize> = variable.ty.dims.iter().map(|d| d.known().unwrap_or(0) as usize).collect();
        match variable.ty.base {
            BaseType::String => {
                let unknown = Value::Text(None);
                return if dims.is_empty() { Ok(unknown) } else { self.repeat(&unknown, dims, span) };
            }
            BaseType::ExternalObject(_) => return self.object(id, span),
            _ => {}
        }
        let slots = self.system.elements[id].clone();
        if variable.ty.n_elements() != Some(slots.len() as u64) {
            return Err(diagnostics::too_large(span).into());
        }
        let nodes = slots.into_iter().map(|slot| self.system.load(slot)).collect();
        Ok(Value::numbers(dims, nodes))
    }

    /// An external object is its slot, or that of the object it is another name of; of an array each element is one of the two.
    fn object(&mut self, id: VarId, span: Span) -> Lowered<Value> {
        let model = self.model;
        let variable = &model.variables[id];
        let dims: Vec<usize> = variable.ty.dims.iter().map(|d| d.known().unwrap_or(0) as usize).collect();
        let slots = self.system.elements.get(id).cloned().unwrap_or_default();
        let mut items = Vec::with_capacity(slots.len());
        match &variable.binding {
            Some(binding) => {
                for (part, slots) in object_parts(binding, &slots) {
                    match makes_objects(part) {
                        true => items.extend(slots.iter().map(|&slot| Value::Object(slot))),
                        false => items.extend(self.folding(|l| l.value(part))?.elements()),
                    }
                }
            }
            None => items.extend(slots.iter().map(|&slot| Value::Object(slot))),
        }
        match Value::assemble(dims, items) {
            Some(value) => Ok(value),
            None => self.unsupported("this array of external objects", span),
        }
    }

    /// An array of these sizes, all of whose elements are the same.
    pub fn repeat(&self, value: &Value, dims: Vec<usize>, span: Span) -> Lowered<Value> {
        let n = dims.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        let Some(n) = n.filter(|&n| n as u64 <= MOST_ELEMENTS) else { return Err(diagnostics::too_large(span).into()) };
        Ok(Value::assemble(dims, vec![value.clone(); n]).unwrap_or_else(|| value.clone()))
    }

    /// The slot that a node loads.
    pub fn slot_of(&self, node: NodeId) -> Option<SlotId> {
        match self.system.dag.node(node) {
            Node::Load(slot) => Some(slot),
            _ => None,
        }
    }

    /// Does the node depend on nothing but parameters?
    pub fn is_parametric(&self, node: NodeId) -> bool {
        self.system.dag.loads(&[node]).iter().all(|&slot| self.system.slots[slot].kind == SlotKind::Parameter)
    }
}

/// The parts of the value of external objects, each with the slots it is for: an array written out is taken apart.
pub fn object_parts<'a, 's>(value: &'a Expr, slots: &'s [SlotId]) -> Vec<(&'a Expr, &'s [SlotId])> {
    let ExprKind::Array(items) = &value.kind else { return vec![(value, slots)] };
    let n = slots.len() / items.len().max(1);
    items.iter().zip(slots.chunks(n.max(1))).flat_map(|(item, slots)| object_parts(item, slots)).collect()
}

/// Whether a value of external objects is that of new ones, made by a constructor.
pub fn makes_objects(value: &Expr) -> bool {
    let mut is_made = false;
    value.walk(&mut |e| {
        is_made |= matches!(e.kind, ExprKind::Call { .. }) && matches!(e.ty.base, BaseType::ExternalObject(_));
    });
    is_made
}
