//! Calls of functions: executed on values if they can be, else made at run time.
//!
//! ```text
//! function f                              f(a, b)  ⇒  a + 2*b             written into the graph
//!   input Real x, y; output Real z;
//! algorithm z := x + 2*y; end f;          table(id, 1, u)  ⇒  a call      external, or loops that depend on values
//! ```
//!
//! Execution ends and a real call is made where a function is external, has a loop whose condition is not known, arrays
//! whose size is not known, or becomes too long. Calls with constant arguments are evaluated. Equal calls are executed once.
//! (Specification: chapter 12.)

use std::rc::Rc;

use saltus_base::{Index, Span};
use saltus_flat::{BaseType, Builtin, Dim, Expr, ExprKind, Function, FunctionId, LocalId, Purity, Type, count};
use saltus_program::{Argument, BinaryFn, Callable, CallableId, Effect, UnaryFn};

use super::function_assertions::FunctionAssertion;
use super::statements::State;
use super::value::{FunctionValue, Value};
use super::without_value::Used;
use super::{Lowered, Lowering};
use crate::dag::{CallId, NodeId};
use crate::diagnostics;
use crate::tuning::form::{MOST_CALL_NODES, MOST_NESTED_CALLS};
use crate::tuning::work::MOST_RECORD_LEVELS;

impl<'a> Lowering<'a, '_> {
    /// All results of a call.
    pub fn results(&mut self, e: &'a Expr) -> Lowered<Rc<Vec<Value>>> {
        let used = std::mem::take(&mut self.used);
        match &e.kind {
            ExprKind::Call { function, arguments } => {
                let declared = self.declared_dims.take();
                let arguments = self.arguments(arguments)?;
                self.declared_dims = declared;
                let results = self.using(used, |l| l.call(*function, arguments, e.span));
                self.declared_dims = None;
                results
            }
            ExprKind::CallLocal { function, arguments } => {
                let arguments = self.arguments(arguments)?;
                self.using(used, |l| l.call_local(*function, arguments, e.span))
            }
            ExprKind::Builtin { function: Builtin::Pure, arguments } if arguments.len() == 1 => {
                match &arguments[0].kind {
                    ExprKind::Call { function, arguments } => {
                        let arguments = self.arguments(arguments)?;
                        self.using(used, |l| l.pure_call(*function, arguments, e.span))
                    }
                    _ => self.using(used, |l| l.results(&arguments[0])),
                }
            }
            ExprKind::Builtin { function: Builtin::SpatialDistribution, arguments } => {
                Ok(Rc::new(self.spatial_distribution(e, arguments)?))
            }
            _ => Ok(Rc::new(vec![self.value(e)?])),
        }
    }

    fn using<T>(&mut self, used: Used<'a>, act: impl FnOnce(&mut Self) -> T) -> T {
        self.used = used;
        let result = act(self);
        self.used = Used::First;
        result
    }

    /// Strings must be known, so what they depend on counts as constant.
    pub fn arguments(&mut self, arguments: &'a [Expr]) -> Lowered<Vec<Value>> {
        arguments.iter().map(|argument| self.passed_value(argument, 0)).collect()
    }

    fn passed_value(&mut self, argument: &'a Expr, level: u32) -> Lowered<Value> {
        match (&argument.kind, argument.ty.base) {
            (_, BaseType::String) => {
                let value = self.folding(|l| l.value(argument));
                let is_known = value.as_ref().is_ok_and(|v| self.is_known(v));
                if is_known {
                    self.mark_structural(argument);
                }
                if is_known || self.function.is_some() { value } else { self.template(argument).or(value) }
            }
            (ExprKind::Record(items), base) if self.has_strings(base, level) => {
                let fields: Lowered<Vec<Value>> = items.iter().map(|i| self.passed_value(i, level + 1)).collect();
                Ok(Value::record(fields?))
            }
            (ExprKind::Array(items), base) if !items.is_empty() && self.has_strings(base, level) => {
                let items: Lowered<Vec<Value>> = items.iter().map(|i| self.passed_value(i, level + 1)).collect();
                match Value::stack(items?, &[]) {
                    Some(value) => Ok(value),
                    None => self.broken("an array of items of different sizes", argument.span),
                }
            }
            _ => self.value(argument),
        }
    }

    /// Is it a record with Strings in it?
    fn has_strings(&self, base: BaseType, level: u32) -> bool {
        let BaseType::Record(id) = base else { return false };
        let fields = self.model.records.get(id).filter(|_| level < MOST_RECORD_LEVELS).map_or(&[][..], |r| &r.fields);
        fields.iter().any(|f| f.ty.base == BaseType::String || self.has_strings(f.ty.base, level + 1))
    }

    pub fn function_value(&mut self, function: FunctionId, bound: &'a [(u32, Expr)]) -> Lowered<Value> {
        let mut values = Vec::with_capacity(bound.len());
        for (position, value) in bound {
            values.push((*position, self.value(value)?));
        }
        Ok(Value::Function(Rc::new(FunctionValue { function, bound: values })))
    }

    /// Bound inputs and given arguments are put together by position.
    fn call_local(&mut self, local: LocalId, given: Vec<Value>, span: Span) -> Lowered<Rc<Vec<Value>>> {
        let Some(Some(Value::Function(target))) = self.state.locals.get(local.index()).cloned() else {
            return self.broken("a call of something that is not a function", span);
        };
        let n_inputs = self.model.functions[target.function].inputs.len();
        let mut given = given.into_iter();
        let mut all = Vec::with_capacity(n_inputs);
        for position in 0..n_inputs {
            let bound = target.bound.iter().find(|(p, _)| *p as usize == position).map(|(_, v)| v.clone());
            match bound.or_else(|| given.next()) {
                Some(value) => all.push(value),
                None => break,
            }
        }
        self.call(target.function, all, span)
    }

    pub fn call(&mut self, id: FunctionId, arguments: Vec<Value>, span: Span) -> Lowered<Rc<Vec<Value>>> {
        let model = self.model;
        if let Some(function) = model.functions.get(id).filter(|_| self.is_impure(id))
            && let Some(results) = self.impure_call(id, function, &arguments, span)?
        {
            return Ok(Rc::new(results));
        }
        self.pure_call(id, arguments, span)
    }

    /// A call that may be shared with equal ones.
    fn pure_call(&mut self, id: FunctionId, arguments: Vec<Value>, span: Span) -> Lowered<Rc<Vec<Value>>> {
        let Some(function) = self.model.functions.get(id) else { return self.broken("an unknown function", span) };
        if function.is_record_constructor && arguments.len() == function.inputs.len() {
            return Ok(Rc::new(vec![Value::record(arguments)]));
        }
        let is_literal = self.is_literal || !function.generate_events;
        let mut key = vec![id.index() as u64, u64::from(is_literal)];
        arguments.iter().for_each(|a| a.encode(&mut key));
        key.extend(self.unused_results(id, function).into_iter().map(|k| u64::MAX - u64::from(k)));
        if let Some(results) = self.system.memo.calls.get(&key) {
            let results = results.clone();
            if let Some(assertions) = self.system.memo.call_assertions.get(&key).cloned() {
                if self.is_unchecked(&assertions) {
                    return self.real_call(id, function, arguments, span).map(Rc::new);
                }
                self.adopt_all(&assertions, function, span)?;
            }
            return Ok(results);
        }
        let (results, assertions) = self.new_call(id, function, arguments.clone(), span)?;
        if self.is_unchecked(&assertions) {
            return self.real_call(id, function, arguments, span).map(Rc::new);
        }
        let results = Rc::new(results);
        if !assertions.is_empty() {
            self.adopt_all(&assertions, function, span)?;
            self.system.memo.call_assertions.insert(key.clone(), Rc::new(assertions));
        }
        self.system.memo.calls.insert(key, results.clone());
        Ok(results)
    }

    fn adopt_all(&mut self, assertions: &[FunctionAssertion], function: &'a Function, span: Span) -> Lowered<()> {
        if let Some(problem) = self.missing_output(assertions, function, span) {
            return Err(problem.into());
        }
        self.adopt(assertions, function, span);
        Ok(())
    }

    fn new_call(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: Vec<Value>,
        span: Span,
    ) -> Lowered<(Vec<Value>, Vec<FunctionAssertion>)> {
        // What is called at run time checks its assertions itself.
        let alone = |results: Vec<Value>| (results, Vec::new());
        if let Some(results) = self.builtin_function(function, &arguments, span)? {
            return Ok(alone(results));
        }
        if function.purity == Purity::Pure
            && let Some(results) = self.evaluated_call(id, function, &arguments, span)
        {
            return Ok(alone(results));
        }
        if function.external.is_some() {
            return self.real_call(id, function, arguments, span).map(alone);
        }
        if function.states_derivative()
            && let Ok(results) = self.stated_call(id, function, &arguments, span)
        {
            return Ok(alone(results));
        }
        let sketch = self.sketch(id, &arguments);
        if self.system.memo.not_executed.contains(&sketch) {
            return self
                .real_call(id, function, arguments.clone(), span)
                .map(alone)
                .or_else(|problem| self.settled_call(id, function, arguments, span).ok_or(problem));
        }
        // A call at run time leaves parameters free that an execution with sizes by their values would not.
        match self.settling(false, |l| l.execute(id, function, arguments.clone(), span)) {
            Ok((results, assertions)) if self.hides_derivative(function, &results) => {
                self.real_call(id, function, arguments, span).map(alone).or(Ok((results, assertions)))
            }
            Ok(executed) => Ok(executed),
            Err(problem) if saltus_eval::is_mistake(&problem) && self.is_reached() => Err(problem),
            Err(problem) => {
                if self.n_calls < MOST_NESTED_CALLS {
                    self.system.memo.not_executed.insert(sketch);
                }
                let called = self.real_call(id, function, arguments.clone(), span).map(alone);
                // What stood in the way of execution says more than what is missing for a call.
                called.or_else(|_| self.settled_call(id, function, arguments, span).ok_or(problem))
            }
        }
    }

    /// The execution of a function in which parameters settle sizes; `None` where they shall not, or it fails all the same.
    fn settled_call(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: Vec<Value>,
        span: Span,
    ) -> Option<(Vec<Value>, Vec<FunctionAssertion>)> {
        if !self.settles {
            return None;
        }
        self.execute(id, function, arguments, span).ok()
    }

    /// A function with a derivative is better called than written out in terms of calls that have none.
    fn hides_derivative(&self, function: &Function, results: &[Value]) -> bool {
        if function.derivatives.is_empty() {
            return false;
        }
        let scalars: Vec<NodeId> = results.iter().flat_map(Value::scalars).collect();
        let mut calls = Vec::new();
        self.system.dag.calls_of(&scalars, &mut calls);
        calls.into_iter().any(|call| {
            let callable = self.system.calls.callables.get(self.system.dag.called(call).function);
            let called = callable.and_then(|c| self.model.functions.get(c.function));
            called.is_none_or(|f| f.derivatives.is_empty())
        })
    }

    /// The shapes of a call, and which of its arguments are constant.
    fn sketch(&self, id: FunctionId, arguments: &[Value]) -> Vec<u64> {
        let mut sketch = vec![id.index() as u64];
        for argument in arguments {
            sketch.push(u64::MAX);
            sketch.extend(argument.dims().iter().map(|&d| d as u64));
            let constants = argument.scalars().iter().filter(|&&n| self.system.dag.value(n).is_some()).count();
            sketch.push(constants as u64);
        }
        sketch
    }

    /// `external "builtin" y = sin(x)`
    fn builtin_function(
        &mut self,
        function: &'a Function,
        arguments: &[Value],
        span: Span,
    ) -> Lowered<Option<Vec<Value>>> {
        let Some(external) = function.external.as_ref().filter(|e| e.language == "builtin") else { return Ok(None) };
        let builtin = Builtin::from_name(&external.name);
        Ok(match (builtin.and_then(UnaryFn::elementary), builtin, arguments) {
            (Some(f), _, [x]) => Some(vec![self.map(x, span, |l, x| l.system.dag.unary(f, x))?]),
            (_, Some(Builtin::Atan2), [a, b]) => {
                Some(vec![self.zip(a, b, span, |l, a, b| l.system.dag.binary(BinaryFn::Atan2, a, b))?])
            }
            _ => None,
        })
    }

    /// Nodes, without those of abandoned executions.
    fn n_useful_nodes(&self) -> usize {
        self.system.dag.len().saturating_sub(self.system.memo.n_wasted)
    }

    pub fn check_budget(&self, span: Span) -> Lowered<()> {
        match self.system.memo.node_limit {
            Some(limit) if self.n_useful_nodes() > limit => {
                self.unsupported("a function that becomes so long when it is written out", span)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn execute(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: Vec<Value>,
        span: Span,
    ) -> Lowered<(Vec<Value>, Vec<FunctionAssertion>)> {
        if self.n_calls >= MOST_NESTED_CALLS {
            return self.unsupported("calls nested so deeply", span);
        }
        let (n_before, n_wasted) = (self.system.dag.len(), self.system.memo.n_wasted);
        let limit = Some(self.n_useful_nodes() + MOST_CALL_NODES);
        let outer_limit = std::mem::replace(&mut self.system.memo.node_limit, limit);
        let n_assertions = self.system.checks.assertions.len();
        let outer_assertions = std::mem::take(&mut self.function_assertions);
        let result = self.in_frame(id, function, |l| {
            for (&input, value) in function.inputs.iter().zip(arguments) {
                // Where a function is written out nothing can be done with a String that is not known.
                let value = value.without_templates();
                l.state.set_local(input.index(), Some(value));
            }
            l.execute_body(function, span)
        });
        if result.is_err() {
            // A failed attempt does not count against the caller.
            self.system.memo.n_wasted = n_wasted + self.system.dag.len() - n_before;
            self.system.checks.assertions.truncate(n_assertions);
            self.system.checks.conditions.truncate(n_assertions);
        }
        self.system.memo.node_limit = outer_limit;
        let assertions = std::mem::replace(&mut self.function_assertions, outer_assertions);
        result.map(|results| (results, assertions))
    }

    /// With a new frame for the function's locals.
    fn in_frame<T>(&mut self, id: FunctionId, function: &Function, act: impl FnOnce(&mut Self) -> T) -> T {
        let no = self.system.dag.boolean(false);
        let state = std::mem::replace(&mut self.state, State::new(function.locals.len(), no));
        let outer = self.function.replace(id);
        let always = self.system.dag.boolean(true);
        let is_entered = self.is_entered && self.is_reached();
        let was_entered = std::mem::replace(&mut self.is_entered, is_entered);
        let inner = self.system.dag.and(self.entry, self.path);
        let entry = std::mem::replace(&mut self.entry, inner);
        let path = std::mem::replace(&mut self.path, always);
        let branches = std::mem::take(&mut self.branches);
        let used = std::mem::take(&mut self.used);
        let needs_missing = self.needs_missing.take();
        let sizes = std::mem::take(&mut self.sizes);
        let is_literal = self.is_literal;
        self.is_literal |= !function.generate_events;
        self.n_calls += 1;
        let result = act(self);
        self.n_calls -= 1;
        self.is_literal = is_literal;
        self.function = outer;
        (self.entry, self.path, self.branches) = (entry, path, branches);
        (self.sizes, self.is_entered, self.used) = (sizes, was_entered, used);
        self.needs_missing = needs_missing;
        self.state = state;
        result
    }

    fn execute_body(&mut self, function: &'a Function, span: Span) -> Lowered<Vec<Value>> {
        for (id, local) in function.locals.iter() {
            let is_set = self.state.locals.get(id.index()).is_some_and(Option::is_some);
            if local.default.is_some() && !is_set {
                self.initialise_local(id, span)?;
            }
        }
        self.sizes = self.entry_sizes(function)?;
        for (id, local) in function.locals.iter() {
            if (local.default.is_some() || function.inputs.contains(&id)) && !local.ty.is_scalar() {
                let value = self.initialise_local(id, span)?;
                self.check_declared_sizes(function, id, &value, span)?;
            }
        }
        if function.is_record_constructor {
            let fields: Lowered<Vec<Value>> =
                function.inputs.iter().map(|&input| self.initialise_local(input, span)).collect();
            return Ok(vec![Value::record(fields?)]);
        }
        self.run(&function.body)?;
        self.check_budget(span)?;
        self.outputs(function, span)
    }

    /// The value of a local; if it has none yet that of its declaration, or the default of its type.
    pub fn initialise_local(&mut self, id: LocalId, span: Span) -> Lowered<Value> {
        if let Some(Some(value)) = self.state.locals.get(id.index()) {
            return Ok(value.clone());
        }
        let model = self.model;
        let Some(function) = self.function.and_then(|f| model.functions.get(f)) else {
            return self.broken("an iteration variable without a value", span);
        };
        let Some(local) = function.locals.get(id) else { return self.broken("an unknown local variable", span) };
        let outer = self.needs_missing.replace(false);
        let default = local.default.as_ref().map(|default| self.value(default)).transpose();
        let needs_missing = std::mem::replace(&mut self.needs_missing, outer) == Some(true);
        let value = match default? {
            Some(value) => value,
            None if function.inputs.contains(&id) => return self.broken("an input without a value", span),
            None => {
                let dims = self.local_dims(id, local, span)?;
                self.default_value(local.ty.base, dims, span, 0)?
            }
        };
        self.state.set_local(id.index(), Some(value.clone()));
        if local.default.is_none() || needs_missing {
            let no = self.system.dag.boolean(false);
            self.state.uncertain.insert(id.index(), no);
        }
        Ok(value)
    }

    fn local_dims(&mut self, id: LocalId, local: &'a saltus_flat::Local, span: Span) -> Lowered<Vec<usize>> {
        let stated = self.sizes.get(id.index()).cloned().unwrap_or_default();
        let mut dims = Vec::with_capacity(local.ty.rank());
        for (d, dim) in local.ty.dims.iter().enumerate() {
            let size = match (dim.known(), local.sizes.get(d)) {
                (Some(n), _) => n as f64,
                (None, Some(Some(size))) => {
                    let node = stated.get(d).copied().flatten().map_or_else(|| self.scalar(size), Ok)?;
                    match self.settled(node) {
                        Some(n) if n >= 0.0 => n,
                        _ => return self.unsupported("an array whose size is not constant", span),
                    }
                }
                (None, _) => return self.unsupported("an array of unknown size that is not assigned as a whole", span),
            };
            dims.push(size as usize);
        }
        let n = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
        self.check_size(n, span)?;
        Ok(dims)
    }

    pub fn default_value(&mut self, base: BaseType, dims: Vec<usize>, span: Span, level: u32) -> Lowered<Value> {
        let scalar = match base {
            BaseType::Real | BaseType::Integer | BaseType::Boolean => self.number(0.0),
            BaseType::Enumeration(_) => self.number(1.0),
            BaseType::String => Value::text(""),
            BaseType::Record(id) if level < 20 => {
                let model = self.model;
                let mut fields = Vec::new();
                for field in model.records.get(id).map_or(&[][..], |r| &r.fields) {
                    let dims = known_dims(&field.ty);
                    let Some(dims) = dims else {
                        return self.unsupported("a record with an array of unknown size", span);
                    };
                    fields.push(self.default_value(field.ty.base, dims, span, level + 1)?);
                }
                Value::record(fields)
            }
            _ => return self.unsupported("a local variable of this type without a value", span),
        };
        if dims.is_empty() { Ok(scalar) } else { self.repeat(&scalar, dims, span) }
    }

    /// A call at run time.
    pub fn real_call(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: Vec<Value>,
        span: Span,
    ) -> Lowered<Vec<Value>> {
        self.call_at_run_time(id, function, arguments, Vec::new(), None, span).map(|(results, _)| results)
    }

    /// With the scalars that an effect has before its arguments.
    pub fn call_at_run_time(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: Vec<Value>,
        mut scalars: Vec<NodeId>,
        effect: Option<Effect>,
        span: Span,
    ) -> Lowered<(Vec<Value>, CallId)> {
        let mut shapes = Vec::with_capacity(arguments.len());
        for (argument, &input) in arguments.iter().zip(&function.inputs) {
            let base = function.locals.get(input).map_or(BaseType::Error, |l| l.ty.base);
            shapes.push(self.argument(argument, base, &mut scalars, span)?);
        }
        let results = self.result_types(id, function, arguments, span)?;
        let mut next = u32::from(effect.is_some());
        let mut n_results = u64::from(next);
        for ty in &results {
            n_results += count::n_scalars(self.model, ty).unwrap_or(0);
        }
        if n_results > crate::tuning::form::MOST_ELEMENTS {
            return Err(diagnostics::too_large(span).into());
        }
        let unused = self.unused_results(id, function);
        let callable = self.callable(Callable {
            function: id,
            arguments: shapes,
            results: results.clone(),
            unused,
            effect,
            derivative: None,
        });
        let call = self.system.dag.call(callable, scalars, n_results as u32);
        let values: Lowered<Vec<Value>> =
            results.iter().map(|ty| self.result_value(call, ty, &mut next, span)).collect();
        Ok((values?, call))
    }

    /// How a value is passed; its numbers are added to the scalars of the call.
    fn argument(&mut self, value: &Value, base: BaseType, scalars: &mut Vec<NodeId>, span: Span) -> Lowered<Argument> {
        match value {
            Value::Text(Some(text)) => Ok(Argument::Text(text.to_string())),
            Value::Text(None) => self.unsupported("a String argument that is not constant", span),
            Value::Template(template) => {
                template.holes.iter().for_each(|(_, value)| scalars.extend(value.scalars()));
                let holes = template.holes.iter().map(|(ty, _)| ty.clone()).collect();
                Ok(Argument::Template { text: self.text_procedure(template), holes })
            }
            Value::Object(slot) => Ok(Argument::Object(*slot)),
            Value::Function(f) => {
                let function = self.model.functions.get(f.function);
                let mut bound = Vec::new();
                for (position, value) in &f.bound {
                    let input = function.and_then(|f| f.locals.get(*f.inputs.get(*position as usize)?));
                    let ty = self.type_of(value, input.map_or(BaseType::Error, |l| l.ty.base), span)?;
                    scalars.extend(value.scalars());
                    bound.push((*position, ty));
                }
                Ok(Argument::Function { function: f.function, bound })
            }
            _ if !value.is_plain() || !self.has_known_sizes(value, base) => self.parts(value, base, scalars, span),
            _ => {
                let ty = self.type_of(value, base, span)?;
                scalars.extend(value.scalars());
                Ok(Argument::Scalars(ty))
            }
        }
    }

    fn has_known_sizes(&self, value: &Value, base: BaseType) -> bool {
        let dims: Vec<Dim> = value.dims().iter().map(|&d| Dim::Known(d as u64)).collect();
        let n = count::n_scalars(self.model, &Type::array(base, dims));
        !matches!(base, BaseType::Record(_)) || n.is_some_and(|n| n as usize == value.scalars().len())
    }

    /// An array or a record, element by element or field by field.
    fn parts(&mut self, value: &Value, base: BaseType, scalars: &mut Vec<NodeId>, span: Span) -> Lowered<Argument> {
        let dims: Vec<Dim> = value.dims().iter().map(|&d| Dim::Known(d as u64)).collect();
        let mut items = Vec::new();
        match (value, base) {
            (Value::Record(fields), BaseType::Record(id)) => {
                let model = self.model;
                let bases = model.records.get(id).map_or(&[][..], |r| &r.fields);
                for (field, ty) in fields.iter().zip(bases) {
                    items.push(self.argument(field, ty.ty.base, scalars, span)?);
                }
            }
            (Value::Others(_), _) => {
                for element in value.elements() {
                    items.push(self.argument(&element, base, scalars, span)?);
                }
            }
            _ => return self.unsupported("an argument of this type in a call at run time", span),
        }
        Ok(Argument::Parts { ty: Type::array(base, dims), items })
    }

    /// The type of a value with its sizes.
    fn type_of(&self, value: &Value, base: BaseType, span: Span) -> Lowered<Type> {
        let dims: Vec<Dim> = value.dims().iter().map(|&d| Dim::Known(d as u64)).collect();
        let ty = Type::array(base, dims);
        match count::n_scalars(self.model, &ty) {
            Some(n) if n as usize == value.scalars().len() => Ok(ty),
            _ => self.unsupported("an argument of this type in a call at run time", span),
        }
    }

    /// Types of the results with sizes, which may depend on the arguments.
    fn result_types(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: Vec<Value>,
        span: Span,
    ) -> Lowered<Vec<Type>> {
        let mut declared = self.declared_dims.take();
        self.in_frame(id, function, |l| {
            for (&input, value) in function.inputs.iter().zip(arguments) {
                l.state.set_local(input.index(), Some(value));
            }
            let mut types = Vec::with_capacity(function.outputs.len());
            for &output in &function.outputs {
                let Some(local) = function.locals.get(output) else { continue };
                // The variable has the size that the call had when it was evaluated.
                let declared = declared.take().filter(|dims| dims.len() == local.ty.rank());
                let dims = l
                    .local_dims(output, local, span)
                    .or_else(|problem| declared.ok_or(problem))?
                    .into_iter()
                    .map(|d| Dim::Known(d as u64))
                    .collect::<Vec<_>>();
                types.push(Type::array(local.ty.base, dims));
            }
            Ok(types)
        })
    }

    fn callable(&mut self, callable: Callable) -> CallableId {
        // Equal calls differ in nothing that their text does not show.
        let key = format!("{callable:?}");
        if let Some(&id) = self.system.memo.callables.get(&key) {
            return id;
        }
        let name = self.model.functions.get(callable.function).map_or(String::new(), |f| f.name.clone());
        let id = self.system.calls.callables.push(callable);
        self.system.calls.names.push(name);
        self.system.memo.callables.insert(key, id);
        id
    }

    fn result_value(&mut self, call: CallId, ty: &Type, next: &mut u32, span: Span) -> Lowered<Value> {
        let Some(dims) = known_dims(ty) else { return self.unsupported("a result of unknown size", span) };
        let n: usize = dims.iter().product();
        let mut take = |l: &mut Self| {
            *next += 1;
            l.system.dag.result(call, *next - 1)
        };
        match ty.base {
            BaseType::Record(id) => {
                let model = self.model;
                let fields = model.records.get(id).map_or(&[][..], |r| &r.fields);
                let mut items = Vec::with_capacity(n);
                for _ in 0..n {
                    let record: Lowered<Vec<Value>> =
                        fields.iter().map(|f| self.result_value(call, &f.ty, next, span)).collect();
                    items.push(Value::record(record?));
                }
                match Value::assemble(dims, items) {
                    Some(value) => Ok(value),
                    None => self.broken("results of another size", span),
                }
            }
            BaseType::String => self.repeat(&Value::Text(None), dims, span),
            _ => {
                let items = (0..n).map(|_| take(self)).collect();
                Ok(Value::numbers(dims, items))
            }
        }
    }

    /// Does a call do anything but compute? Only impure functions and those without results can.
    pub fn has_effects(&mut self, call: &Expr) -> bool {
        let ExprKind::Call { function, .. } = &call.kind else { return true };
        self.model.functions.get(*function).is_none_or(|f| f.outputs.is_empty()) || self.is_impure(*function)
    }
}

/// Sizes of a type; `None` if one is not known.
pub fn known_dims(ty: &Type) -> Option<Vec<usize>> {
    ty.dims.iter().map(|d| d.known().and_then(|n| usize::try_from(n).ok())).collect()
}
