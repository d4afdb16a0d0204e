//! Calls: built-in operators, functions, record and object constructors (specification chapter 12, 3.7).

use saltus_base::Span;
use saltus_eval::Value;
use saltus_flat::{self as flat, BaseType, Builtin, Dim, Expr, ExprKind, FunctionId, ReductionOp, Type};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::component::unravel;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId, Member, SlotId};
use crate::reference::{merged_index, nest};

/// Calls vectorised over arrays are written out up to this many times.
const MOST_VECTORISED: u64 = 1_000_000;

impl<'a> Front<'a> {
    pub fn call(&mut self, scope: InstId, call: &'a ast::Call, span: Span) -> Expr {
        match self.call_target(scope, call) {
            Target::Builtin(function) => self.builtin_call(scope, function, call, span),
            Target::Class(slot) => self.class_call(scope, slot, call, span),
            Target::Local(comp) => self.local_call(scope, comp, call, span),
            Target::Array => self.array_call(scope, call, span),
            Target::Nothing if call.name.parts.first().is_some_and(|p| self.is_explained(scope, p.name.name)) => {
                Expr::error(span)
            }
            Target::Nothing if self.is_in_missing_library(&call.name) => Expr::error(span),
            Target::Nothing => {
                let name = self.ref_text(&call.name);
                let nearest = self.nearest_function(scope, &call.name);
                self.report(d::function_not_found(&name, nearest.as_deref(), call.name.span));
                Expr::error(span)
            }
        }
    }

    fn call_target(&mut self, scope: InstId, call: &ast::Call) -> Target {
        match self.lookup_reference_class(scope, &call.name) {
            Some(Member::Class(slot)) => {
                if let Some(&base) = self.types.builtin_classes.get(&self.tree[slot].class) {
                    return match base {
                        BaseType::Integer => Target::Builtin(Builtin::ToInteger),
                        BaseType::String => Target::Builtin(Builtin::ToString),
                        BaseType::Clock => Target::Builtin(Builtin::Clock),
                        _ => Target::Class(slot),
                    };
                }
                if self.is_excursion(slot) { Target::Builtin(Builtin::Excursion) } else { Target::Class(slot) }
            }
            Some(Member::Component(comp)) => Target::Local(comp),
            None if self.ref_text(&call.name) == "array" => Target::Array,
            None => match Builtin::from_name(&self.ref_text(&call.name)) {
                Some(Builtin::EnumFromInteger | Builtin::Excursion) => Target::Nothing,
                Some(builtin) => Target::Builtin(builtin),
                None => Target::Nothing,
            },
        }
    }

    fn array_call(&mut self, scope: InstId, call: &'a ast::Call, span: Span) -> Expr {
        match call.arguments.as_slice() {
            [body] if !call.iterators.is_empty() => {
                self.reduction(scope, ReductionOp::Array, body, &call.iterators, span)
            }
            items => {
                let items = items.iter().map(|e| self.expression(scope, e)).collect();
                typing::array(self, items, span)
            }
        }
    }

    fn is_in_missing_library(&mut self, name: &ast::ComponentRef) -> bool {
        let first = name.parts.first();
        first.is_some_and(|p| self.lacks_library(p.name.name, name.parts.len(), p.name.span))
    }

    fn nearest_function(&mut self, scope: InstId, name: &ast::ComponentRef) -> Option<String> {
        let text = self.ref_text(name);
        let builtin = Builtin::ALL.iter().map(|b| b.name()).find(|b| b.eq_ignore_ascii_case(&text));
        match builtin {
            Some(name) => Some(name.to_owned()),
            None if name.parts.len() == 1 => self.nearest_name(scope, &text, true),
            None => None,
        }
    }

    fn builtin_call(&mut self, scope: InstId, function: Builtin, call: &'a ast::Call, span: Span) -> Expr {
        if !call.iterators.is_empty() {
            let op = match function {
                Builtin::Sum => ReductionOp::Sum,
                Builtin::Product => ReductionOp::Product,
                Builtin::Min => ReductionOp::Min,
                Builtin::Max => ReductionOp::Max,
                _ => {
                    self.report(d::not_a_reduction(function.name(), span));
                    return Expr::error(span);
                }
            };
            let Some(body) = call.arguments.first() else { return Expr::error(span) };
            return self.reduction(scope, op, body, &call.iterators, span);
        }
        if let Some(expr) = self.connector_call(scope, function, call, span) {
            return expr;
        }
        let sized = match function {
            Builtin::Size | Builtin::Ndims => call.arguments.first().and_then(|e| self.sizes_of_components(scope, e)),
            _ => None,
        };
        let n_sized = usize::from(sized.is_some());
        let rest = call.arguments.iter().skip(n_sized).map(|e| self.expression(scope, e));
        let rest: Vec<Expr> = rest.collect();
        let arguments: Vec<Expr> = sized.into_iter().chain(rest).collect();
        let named: Vec<(&str, Expr)> =
            call.named.iter().map(|n| (self.text(n.name.name), self.expression(scope, &n.value))).collect();
        if arguments.iter().chain(named.iter().map(|(_, e)| e)).any(Expr::is_error) {
            return Expr::error(span);
        }
        if let Some(expr) = self.record_builtin(function, &arguments, span) {
            return expr;
        }
        if function == Builtin::GetInstanceName {
            self.refuse_in_template(scope);
            let name = self.instance_name(scope);
            return Expr::string(&name, span);
        }
        typing::builtin(self, function, arguments, named, span)
    }

    /// An array of components that are no values has sizes all the same (specification 10.3.1); zeros of these sizes stand for it.
    fn sizes_of_components(&mut self, scope: InstId, argument: &'a ast::Expr) -> Option<Expr> {
        let ast::ExprKind::Ref(reference) = &argument.kind else { return None };
        let last = reference.parts.len().checked_sub(1)?;
        if reference.is_global || reference.parts.iter().any(|p| !p.subscripts.is_empty()) {
            return None;
        }
        let comp = self.component_of_part(scope, reference, last)?;
        if self.tree[comp].local.is_some() {
            return None;
        }
        let CompKind::Class(class) = self.comp_kind(comp) else { return None };
        if self.is_record(class.slot) || class.elements.is_empty() {
            return None;
        }
        let span = argument.span;
        let dims = self.comp_dims(comp);
        let zero = Expr::integer(0, span);
        let sizes = dims.iter().map(|&n| Expr::integer(n as i64, span));
        let arguments: Vec<Expr> = std::iter::once(zero).chain(sizes).collect();
        Some(typing::builtin(self, Builtin::Fill, arguments, Vec::new(), span))
    }

    /// `getInstanceName()`: the class of the model, then the path of the component.
    fn instance_name(&self, scope: InstId) -> String {
        let model = self.library.qualified_name(self.tree[self.tree.model].class);
        let model = model.rsplit('.').next().unwrap_or(&model).to_owned();
        match &self.tree[scope].path {
            Some(path) if !path.is_empty() => format!("{model}.{path}"),
            _ => model,
        }
    }

    /// Built-ins on record values: the fields one by one, or the operators of the record.
    fn record_builtin(&mut self, function: Builtin, arguments: &[Expr], span: Span) -> Option<Expr> {
        let first = arguments.first()?;
        if !matches!(first.ty.base, BaseType::Record(_)) {
            return None;
        }
        match function {
            Builtin::Sum => Some(self.overloaded_sum_of_array(first.clone(), span)),
            Builtin::ToString => self.overloaded_string(arguments, span),
            Builtin::Der | Builtin::Pre | Builtin::NoEvent | Builtin::Previous | Builtin::Hold => {
                Some(self.fieldwise(first, span, &mut |front, field| {
                    typing::builtin(front, function, vec![field], Vec::new(), span)
                }))
            }
            _ => None,
        }
    }

    /// Applies `f` to each field of a record value.
    fn fieldwise(&mut self, value: &Expr, span: Span, f: &mut dyn FnMut(&mut Self, Expr) -> Expr) -> Expr {
        let BaseType::Record(id) = value.ty.base else { return f(self, value.clone()) };
        let ty = self.types.records[id].clone();
        let fields = ty
            .fields
            .iter()
            .map(|field| {
                let inner = typing::field(self, value.clone(), &field.name, span);
                self.fieldwise(&inner, span, f)
            })
            .collect();
        Expr::new(ExprKind::Record(fields), value.ty.clone(), span)
    }

    fn class_call(&mut self, scope: InstId, slot: SlotId, call: &'a ast::Call, span: Span) -> Expr {
        if let Some(simple) = self.simple_type(slot) {
            return match simple.base {
                BaseType::Enumeration(id) => match call.arguments.as_slice() {
                    [argument] => {
                        let argument = self.expression(scope, argument);
                        typing::enumeration_from_integer(self, id, argument, span)
                    }
                    _ => {
                        self.report(d::enumeration_call(&self.ref_text(&call.name), span));
                        Expr::error(span)
                    }
                },
                BaseType::ExternalObject(function) => self.function_call(scope, function, call, span),
                _ => {
                    self.report(d::not_a_function(&self.ref_text(&call.name), call.name.span));
                    Expr::error(span)
                }
            };
        }
        let inst = self.slot_instance(slot);
        let (_, kind) = self.defining_class(inst);
        self.check_callable(slot, call);
        match kind {
            ast::ClassKind::Function | ast::ClassKind::OperatorFunction => {
                let function = self.function_of(slot);
                self.function_call(scope, function, call, span)
            }
            ast::ClassKind::Operator => self.operator_call(scope, inst, call, span),
            ast::ClassKind::OperatorRecord | ast::ClassKind::Record => {
                if let Some(expr) = self.record_cast(scope, slot, call) {
                    return expr;
                }
                if let Some(expr) = self.overloaded_constructor(scope, slot, call, span) {
                    return expr;
                }
                let function = self.function_of(slot);
                self.function_call(scope, function, call, span)
            }
            _ => {
                self.report(d::not_a_function(&self.ref_text(&call.name), call.name.span));
                Expr::error(span)
            }
        }
    }

    pub fn function_call(&mut self, scope: InstId, function: FunctionId, call: &'a ast::Call, span: Span) -> Expr {
        if !call.iterators.is_empty() {
            let name = self.functions[function].name.clone();
            self.report(d::not_a_reduction(&name, span));
            return Expr::error(span);
        }
        let positional: Vec<Expr> = call.arguments.iter().map(|e| self.expression(scope, e)).collect();
        let named: Vec<_> = call.named.iter().map(|n| (n.name, self.expression(scope, &n.value))).collect();
        match self.match_arguments(function, positional, named, span) {
            Some(arguments) => self.typed_call(function, arguments, span),
            None => Expr::error(span),
        }
    }

    /// Puts arguments into the order of the inputs; missing ones are `None`.
    pub fn match_arguments(
        &mut self,
        function: FunctionId,
        positional: Vec<Expr>,
        named: Vec<(ast::Ident, Expr)>,
        span: Span,
    ) -> Option<Vec<Option<Expr>>> {
        let settable = self.settable_inputs(function);
        let name = self.functions[function].name.clone();
        if positional.len() > settable.len() {
            self.report(d::too_many_arguments(&name, positional.len(), settable.len(), span));
            return None;
        }
        let mut arguments = vec![None; self.functions[function].inputs.len()];
        for (value, &k) in positional.into_iter().zip(&settable) {
            arguments[k] = Some(value);
        }
        for (ident, value) in named {
            let text = self.text(ident.name);
            let entry = &self.functions[function];
            let name_of = |k: usize| &entry.locals[entry.inputs[k]].name;
            let Some(k) = settable.iter().copied().find(|&k| name_of(k) == text) else {
                let inputs: Vec<String> = settable.iter().map(|&k| name_of(k).clone()).collect();
                self.report(d::no_such_input(text, &name, &inputs, ident.span));
                return None;
            };
            if arguments[k].is_some() {
                self.report(d::argument_twice(text, &name, ident.span));
                return None;
            }
            self.record_input(function, ident);
            arguments[k] = Some(value);
        }
        Some(arguments)
    }

    /// Positions of the inputs that a call can give: those of a record that are final keep their values (specification 12.6).
    pub fn settable_inputs(&self, function: FunctionId) -> Vec<usize> {
        let entry = &self.functions[function];
        let is_final = |local| {
            entry.components.iter().any(|&c| self.tree[c].local == Some(local) && self.tree[c].prefixes.is_final)
        };
        (0..entry.inputs.len()).filter(|&k| !(entry.is_record_constructor && is_final(entry.inputs[k]))).collect()
    }

    /// A call with its arguments in order: conversions, defaults, vectorisation, result type.
    pub fn typed_call(&mut self, function: FunctionId, mut arguments: Vec<Option<Expr>>, span: Span) -> Expr {
        if arguments.iter().flatten().any(Expr::is_error) {
            return Expr::error(span);
        }
        let inputs = self.functions[function].inputs.clone();
        let mut outer: Option<Vec<Dim>> = None;
        for (k, &input) in inputs.iter().enumerate() {
            let Some(argument) = &arguments[k] else { continue };
            let rank = self.functions[function].locals[input].ty.rank();
            if argument.ty.rank() > rank && !self.functions[function].locals[input].ty.is_error() {
                let extra = argument.ty.dims[..argument.ty.rank() - rank].to_vec();
                let differs = |o: &Vec<Dim>| {
                    let unlike = |(a, b): (&Dim, &Dim)| a != b && a.known().is_some() && b.known().is_some();
                    o.len() != extra.len() || o.iter().zip(&extra).any(unlike)
                };
                if outer.as_ref().is_some_and(differs) {
                    let name = self.functions[function].name.clone();
                    self.report(d::vectorised_sizes(&name, span));
                    return Expr::error(span);
                }
                outer = Some(extra);
            }
        }
        if let Some(outer) = outer {
            return self.vectorised_call(function, arguments, &outer, span);
        }
        if !self.convert_arguments(function, &mut arguments)
            || !self.fill_defaults(function, &mut arguments, span)
            || !self.check_argument_sizes(function, &arguments)
        {
            return Expr::error(span);
        }
        let types = self.result_types(function, &arguments, span);
        let complete: Vec<Expr> = arguments.into_iter().flatten().collect();
        if self.functions[function].is_record_constructor {
            let ty = types.first().cloned().unwrap_or(Type::ERROR);
            return Expr::new(ExprKind::Record(complete), ty, span);
        }
        let ty = types.into_iter().next().unwrap_or(Type::UNIT);
        Expr::new(ExprKind::Call { function, arguments: complete }, ty, span)
    }

    fn convert_arguments(&mut self, function: FunctionId, arguments: &mut [Option<Expr>]) -> bool {
        let inputs = self.functions[function].inputs.clone();
        let name = self.functions[function].name.clone();
        let mut ok = true;
        for (k, &input) in inputs.iter().enumerate() {
            let Some(argument) = arguments[k].take() else { continue };
            let local = &self.functions[function].locals[input];
            let (ty, input_name) = (local.ty.clone(), local.name.clone());
            let place = typing::Place::Argument { function: &name, position: k + 1, name: &input_name };
            let mut converted = typing::convert(self, argument, &ty, place);
            ok &= !converted.is_error();
            if ok {
                self.check_function_argument(function, input, &mut converted);
            }
            arguments[k] = Some(converted);
        }
        ok
    }

    /// `input Real b[size(a, 1)]`: what other arguments say about the sizes of an argument holds where both are known. Parameters are
    /// left to whoever executes the call.
    fn check_argument_sizes(&mut self, function: FunctionId, arguments: &[Option<Expr>]) -> bool {
        let inputs = self.functions[function].inputs.clone();
        let mut ok = true;
        for (k, (&input, argument)) in inputs.iter().zip(arguments).enumerate() {
            let local = &self.functions[function].locals[input];
            let (mut ty, input_name) = (local.ty.clone(), local.name.clone());
            let Some(argument) = argument.as_ref().filter(|_| ty.dims.contains(&Dim::Unknown)) else { continue };
            self.find_sizes(function, input, arguments, &mut ty, false);
            let differs = |(a, b): (&Dim, &Dim)| a.known().is_some() && b.known().is_some() && a != b;
            if argument.ty.dims.iter().zip(&ty.dims).any(differs) {
                let name = self.functions[function].name.clone();
                let place = typing::Place::Argument { function: &name, position: k + 1, name: &input_name };
                typing::convert(self, argument.clone(), &ty, place);
                ok = false;
            }
        }
        ok
    }

    /// Missing arguments take the defaults of their inputs, which may depend on each other in any order.
    fn fill_defaults(&mut self, function: FunctionId, arguments: &mut [Option<Expr>], span: Span) -> bool {
        let missing = (0..arguments.len()).filter(|&k| arguments[k].is_none()).collect();
        let Some(k) = self.take_defaults(function, arguments, missing, span).first().copied() else { return true };
        let name = self.functions[function].name.clone();
        let input = self.functions[function].locals[self.functions[function].inputs[k]].name.clone();
        self.report(d::missing_argument(&name, &input, k + 1, span));
        false
    }

    /// Gives these of the arguments the defaults of their inputs; returns those that have none, or one that depends on others without a value.
    pub fn take_defaults(
        &mut self,
        function: FunctionId,
        arguments: &mut [Option<Expr>],
        missing: Vec<usize>,
        span: Span,
    ) -> Vec<usize> {
        let default = |k: usize| (k, self.local_default(function, self.functions[function].inputs[k]));
        let mut missing: Vec<(usize, Option<Expr>)> = missing.into_iter().map(default).collect();
        loop {
            let before = missing.len();
            missing.retain(|(k, default)| {
                let filled = default.as_ref().and_then(|e| self.substitute(function, e, arguments));
                let Some(mut value) = filled else { return true };
                value.span = span;
                arguments[*k] = Some(value);
                false
            });
            if missing.len() == before {
                return missing.into_iter().map(|(k, _)| k).collect();
            }
        }
    }

    /// `f({a, b})` for a function of a scalar is `{f(a), f(b)}` (specification 12.4.6).
    fn vectorised_call(
        &mut self,
        function: FunctionId,
        arguments: Vec<Option<Expr>>,
        outer: &[Dim],
        span: Span,
    ) -> Expr {
        let sizes: Option<Vec<u64>> = outer.iter().map(|d| d.known()).collect();
        let inputs = self.functions[function].inputs.clone();
        let is_spread: Vec<bool> = inputs
            .iter()
            .zip(&arguments)
            .map(|(&i, a)| a.as_ref().is_some_and(|a| a.ty.rank() > self.functions[function].locals[i].ty.rank()))
            .collect();
        let Some(sizes) = sizes else { return self.vectorised_loop(function, arguments, &is_spread, outer, span) };
        let n: u64 = sizes.iter().product();
        if n > MOST_VECTORISED {
            let name = self.functions[function].name.clone();
            self.report(d::vectorised_sizes(&name, span));
            return Expr::error(span);
        }
        let mut calls = Vec::with_capacity(n as usize);
        for position in 0..n {
            let index = unravel(position, &sizes);
            let at: Vec<Option<Expr>> = arguments
                .iter()
                .zip(&is_spread)
                .map(|(argument, &spread)| {
                    let argument = argument.clone()?;
                    if !spread {
                        return Some(argument);
                    }
                    let subscripts = index.iter().map(|&i| Expr::integer(i as i64, span)).collect();
                    Some(self.index_by(argument, subscripts, span))
                })
                .collect();
            let call = self.typed_call(function, at, span);
            if call.is_error() {
                return call;
            }
            calls.push(call);
        }
        let element = match calls.first() {
            Some(call) => call.ty.clone(),
            None => {
                let output = self.functions[function].outputs.first().copied();
                output.map_or(Type::REAL, |o| self.functions[function].locals[o].ty.clone())
            }
        };
        let ty = element.with_outer(outer);
        nest(calls, &sizes, &ty, span)
    }

    /// The same in a function, where the size is known at run time only.
    fn vectorised_loop(
        &mut self,
        function: FunctionId,
        arguments: Vec<Option<Expr>>,
        is_spread: &[bool],
        outer: &[Dim],
        span: Span,
    ) -> Expr {
        let Some(first) = is_spread.iter().position(|&s| s) else { return Expr::error(span) };
        let Some(witness) = arguments[first].clone() else { return Expr::error(span) };
        let mut iterators = Vec::new();
        let mut subscripts = Vec::new();
        for k in 0..outer.len() {
            let local =
                flat::Local { name: format!("$i{}", k + 1), ty: Type::INTEGER, sizes: Vec::new(), default: None, span };
            let local = self.functions.locals_mut().push(local);
            let positions = |front: &mut Self, argument: &Expr| {
                let size = vec![argument.clone(), Expr::integer(k as i64 + 1, span)];
                let stop = Expr::builtin(Builtin::Size, size, Type::INTEGER, span);
                typing::range(front, Expr::integer(1, span), None, stop, span)
            };
            let mut range = positions(self, &witness);
            for (argument, _) in arguments.iter().zip(is_spread).skip(first + 1).filter(|(_, s)| **s) {
                let Some(argument) = argument else { continue };
                // The sum of both is defined if they have the same size.
                let other = positions(self, argument);
                let none = typing::binary(self, ast::BinaryOp::Subtract, other.clone(), other, span);
                range = typing::binary(self, ast::BinaryOp::Add, range, none, span);
            }
            iterators.push(flat::Iterator { local, range });
            subscripts.push(Expr::new(ExprKind::Local(local), Type::INTEGER, span));
        }
        let at = arguments
            .into_iter()
            .zip(is_spread)
            .map(|(argument, &spread)| {
                let argument = argument?;
                Some(if spread { self.index_by(argument, subscripts.clone(), span) } else { argument })
            })
            .collect();
        let body = self.typed_call(function, at, span);
        typing::reduction(self, ReductionOp::Array, body, iterators, span)
    }

    pub fn index_by(&mut self, base: Expr, subscripts: Vec<Expr>, span: Span) -> Expr {
        let subscripts = subscripts.into_iter().map(typing::SubscriptArgument::Expr).collect();
        merged_index(typing::index(self, base, subscripts, span))
    }

    /// A call of a function that is itself an input of the enclosing function.
    fn local_call(&mut self, scope: InstId, comp: CompId, call: &'a ast::Call, span: Span) -> Expr {
        let name = self.ref_text(&call.name);
        let Some(local) = self.tree[comp].local else {
            self.report(d::not_a_function(&name, call.name.span));
            return Expr::error(span);
        };
        if self.local_type_of(local).base != BaseType::Function {
            self.report(d::not_a_function(&name, call.name.span));
            return Expr::error(span);
        }
        let (declared_in, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
        let Some(slot) = self.lookup_class(declared_in, &clause.type_name) else { return Expr::error(span) };
        let interface = self.function_of(slot);
        match self.function_call(scope, interface, call, span) {
            Expr { kind: ExprKind::Call { arguments, .. }, ty, span } => {
                Expr::new(ExprKind::CallLocal { function: local, arguments }, ty, span)
            }
            other => other,
        }
    }

    /// `function f(a = 1)` as an argument.
    pub fn partial_function(&mut self, scope: InstId, call: &'a ast::Call, span: Span) -> Expr {
        let slot = match self.lookup_reference_class(scope, &call.name) {
            Some(Member::Class(slot)) => slot,
            // An input that is a function, handed on as it is.
            Some(Member::Component(comp)) if call.arguments.is_empty() && call.named.is_empty() => {
                let Some(local) = self.tree[comp].local else { return Expr::error(span) };
                return Expr::new(ExprKind::Local(local), self.local_type_of(local), span);
            }
            _ => {
                let name = self.ref_text(&call.name);
                self.report(d::function_not_found(&name, None, call.name.span));
                return Expr::error(span);
            }
        };
        let function = self.function_of(slot);
        let positional = call.arguments.iter().map(|e| self.expression(scope, e)).collect();
        let named = call.named.iter().map(|n| (n.name, self.expression(scope, &n.value))).collect();
        let Some(mut arguments) = self.match_arguments(function, positional, named, span) else {
            return Expr::error(span);
        };
        if !self.convert_arguments(function, &mut arguments) {
            return Expr::error(span);
        }
        let bound = arguments.into_iter().enumerate().filter_map(|(k, a)| a.map(|a| (k as u32, a))).collect();
        Expr::new(ExprKind::FunctionRef { function, bound }, Type::scalar(BaseType::Function), span)
    }

    /// Operators whose arguments are connectors rather than values.
    fn connector_call(&mut self, scope: InstId, function: Builtin, call: &'a ast::Call, span: Span) -> Option<Expr> {
        match function {
            Builtin::Pure => {
                if let [argument] = call.arguments.as_slice()
                    && !matches!(argument.kind, ast::ExprKind::Call(_))
                {
                    self.report(d::pure_argument(argument.span));
                    return Some(Expr::error(span));
                }
                None
            }
            Builtin::Cardinality => {
                let count = self.cardinality(scope, call)?;
                Some(Expr::integer(count, span))
            }
            Builtin::ConnectionsIsRoot | Builtin::ConnectionsRooted | Builtin::Rooted => {
                let value = self.graph_query(scope, function, call, span);
                Some(Expr::boolean(value, span))
            }
            Builtin::InStream | Builtin::ActualStream => {
                let argument = self.expression(scope, call.arguments.first()?);
                Some(self.stream_value(function, argument, span))
            }
            Builtin::Transition
            | Builtin::InitialState
            | Builtin::ActiveState
            | Builtin::TicksInState
            | Builtin::TimeInState
            | Builtin::Excursion => self.state_machine_call(scope, function, call, span),
            _ => None,
        }
    }

    /// The results of a call whose arguments are known at compile time.
    pub fn evaluate_call(
        &mut self,
        function: FunctionId,
        arguments: &[Option<Expr>],
        span: Span,
    ) -> Option<Vec<Value>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.structural_quietly(argument.as_ref()?)?);
        }
        self.with_evaluator(|evaluator| evaluator.call(function, values, span)).ok()
    }
}

enum Target {
    Builtin(Builtin),
    Class(SlotId),
    /// A function-typed input.
    Local(CompId),
    /// `array(a, b)`, which is `{a, b}`
    Array,
    Nothing,
}
