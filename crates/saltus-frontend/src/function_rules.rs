//! Rules of functions that need their types: one body, no cycles among default values, external objects and
//! external clauses (specification 12.2, 12.4, 12.9).

use std::collections::HashSet;

use saltus_base::Span;
use saltus_flat::{BaseType, Expr, ExprKind, FunctionId, LocalId, Purity};
use saltus_syntax::ast;

use crate::class_rules::is_function_kind;
use crate::diagnostics as d;
use crate::instance::{InstId, Member, SlotId};
use crate::{Front, Purpose};

impl<'a> Front<'a> {
    /// One algorithm or one external clause, inherited ones included.
    pub fn check_function_sections(&mut self, id: FunctionId, inst: InstId) {
        let mut places = Vec::new();
        self.bodies_of(inst, &mut places);
        if let [_, second, ..] = places.as_slice() {
            let name = self.functions[id].name.clone();
            self.report_always(d::function_sections(&name, *second));
        }
    }

    fn bodies_of(&self, inst: InstId, places: &mut Vec<Span>) {
        for &base in &self.tree[inst].members.bases {
            self.bodies_of(base, places);
        }
        let Some(ast::ClassBody::Long(body)) = self.tree[inst].definition.map(|c| &c.body) else { return };
        for section in &body.sections {
            if let ast::Section::Algorithm { is_initial: false, keyword, .. } = section {
                places.push(*keyword);
            }
        }
        places.extend(body.external.as_ref().map(|e| e.span));
    }

    /// Only the constructor of an external object returns one.
    pub fn check_object_outputs(&mut self, id: FunctionId) {
        for &output in &self.functions[id].outputs.clone() {
            let local = &self.functions[id].locals[output];
            if let BaseType::ExternalObject(constructor) = local.ty.base
                && constructor != id
                && !self.functions[id].is_record_constructor
            {
                let (name, span) = (local.name.clone(), local.span);
                let function = self.functions[id].name.clone();
                self.report_always(d::returns_object(&function, &name, span));
            }
        }
    }

    /// A function has no clocks (specification 12.2).
    pub fn check_clock_locals(&mut self, id: FunctionId) {
        let clocks: Vec<(String, Span)> = self.functions[id]
            .locals
            .values()
            .filter(|local| local.ty.base == BaseType::Clock)
            .map(|local| (local.name.clone(), local.span))
            .collect();
        let function = self.functions[id].name.clone();
        clocks.iter().for_each(|(name, span)| self.report_always(d::clock_in_function(name, &function, *span)));
    }

    /// `Real a = b; Real b = a;` in a function.
    pub fn check_acyclic_locals(&mut self, id: FunctionId) {
        let locals: Vec<LocalId> = self.functions[id].locals.iter().map(|(local, _)| local).collect();
        for &start in &locals {
            let mut seen = HashSet::new();
            let mut path = Vec::new();
            if self.needs_itself(id, start, start, &mut seen, &mut path) {
                path.push(start);
                path.reverse();
                let names: Vec<String> = path.iter().map(|&l| self.functions[id].locals[l].name.clone()).collect();
                let (function, span) = (self.functions[id].name.clone(), self.functions[id].locals[start].span);
                self.report_always(d::cyclic_locals(&names, &function, span));
                return;
            }
        }
    }

    fn needs_itself(
        &self,
        id: FunctionId,
        at: LocalId,
        start: LocalId,
        seen: &mut HashSet<LocalId>,
        path: &mut Vec<LocalId>,
    ) -> bool {
        let Some(default) = &self.functions[id].locals[at].default else { return false };
        let mut needed = Vec::new();
        collect_values(default, &mut needed);
        for local in needed {
            if local == start {
                return true;
            }
            if seen.insert(local) && self.needs_itself(id, local, start, seen, path) {
                path.push(local);
                return true;
            }
        }
        false
    }

    /// A function given for an input that is a function. Of what a partial application leaves open, the first inputs get the arguments of calls;
    /// the others get their defaults here.
    pub fn check_function_argument(&mut self, function: FunctionId, input: LocalId, argument: &mut Expr) {
        let ExprKind::FunctionRef { function: given, bound: values } = &mut argument.kind else { return };
        let (given, bound): (FunctionId, Vec<u32>) = (*given, values.iter().map(|(k, _)| *k).collect());
        let components = &self.functions[function].components;
        let Some(&comp) = components.iter().find(|&&c| self.tree[c].local == Some(input)) else { return };
        let (scope, clause) = (self.tree[comp].declared.scope, self.tree[comp].declared.clause);
        let Some(slot) = self.lookup_class(scope, &clause.type_name) else { return };
        let wanted = self.function_of(slot);
        let n_given = self.functions[wanted].inputs.len();
        let why =
            self.unlike(given, &bound, wanted).or_else(|| self.bind_defaults(given, values, n_given, argument.span));
        if let Some(why) = why {
            let (name, input) =
                (self.functions[given].name.clone(), self.functions[function].locals[input].name.clone());
            self.report(d::function_argument(&name, &input, &why, argument.span));
        }
    }

    /// Binds the inputs that neither a partial application nor the `n_given` arguments of a call give a value (specification 12.4.2.1).
    fn bind_defaults(
        &mut self,
        given: FunctionId,
        bound: &mut Vec<(u32, Expr)>,
        n_given: usize,
        span: Span,
    ) -> Option<String> {
        let mut arguments: Vec<Option<Expr>> = vec![None; self.functions[given].inputs.len()];
        for (k, value) in bound.iter() {
            arguments[*k as usize] = Some(value.clone());
        }
        let surplus: Vec<usize> = (0..arguments.len()).filter(|&k| arguments[k].is_none()).skip(n_given).collect();
        let last_bound = arguments.iter().rposition(Option::is_some);
        let open = self.take_defaults(given, &mut arguments, surplus, span);
        // After the last bound one a default may depend on what a call gives.
        let is_lost = |k: &&usize| {
            let input = self.functions[given].inputs[**k];
            self.functions[given].locals[input].default.is_none() || last_bound.is_some_and(|last| **k < last)
        };
        if let Some(&k) = open.iter().find(is_lost) {
            let name = &self.functions[given].locals[self.functions[given].inputs[k]].name;
            return Some(format!("its input `{name}` gets no value: bind it too, as in `function f({name} = …)`"));
        }
        if last_bound.is_some() && open.is_empty() {
            let values = arguments.into_iter().enumerate();
            *bound = values.filter_map(|(k, value)| Some((k as u32, value?))).collect();
        }
        None
    }

    fn unlike(&self, given: FunctionId, bound: &[u32], wanted: FunctionId) -> Option<String> {
        if self.functions[given].purity == Purity::Impure && self.functions[wanted].purity == Purity::Pure {
            return Some("it is impure, and the input is not declared so".to_string());
        }
        let free: Vec<LocalId> = self.functions[given]
            .inputs
            .iter()
            .enumerate()
            .filter(|(k, _)| !bound.contains(&(*k as u32)))
            .map(|(_, &input)| input)
            .collect();
        let inputs = &self.functions[wanted].inputs;
        if free.len() < inputs.len() {
            return Some(format!("it takes {} arguments, {} are needed", free.len(), inputs.len()));
        }
        let outputs = (&self.functions[given].outputs, &self.functions[wanted].outputs);
        let pairs = free.iter().zip(inputs).chain(outputs.0.iter().zip(outputs.1));
        for (&a, &b) in pairs {
            let (a, b) = (&self.functions[given].locals[a], &self.functions[wanted].locals[b]);
            let is_number =
                |base| matches!(base, BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::String);
            if is_number(a.ty.base) && is_number(b.ty.base) && (a.ty.base != b.ty.base || a.ty.rank() != b.ty.rank()) {
                return Some(format!("the types of `{}` and `{}` differ", a.name, b.name));
            }
        }
        None
    }

    /// Reports a call of a function that has no body, or that only the language itself calls.
    pub fn check_callable(&mut self, slot: SlotId, call: &ast::Call) {
        let definition = self.tree[slot].definition;
        let name = self.ref_text(&call.name);
        let may_become_complete = self.request.purpose == Purpose::Check && self.tree[slot].is_replaceable;
        if definition.is_partial
            && is_function_kind(definition.kind)
            && !self.request.allow_partial
            && !may_become_complete
        {
            self.report(d::partial_function_call(&name, call.name.span, definition.name.span));
        }
        let ident = definition.name.name;
        if (ident == self.words.constructor || ident == self.words.destructor) && call.name.parts.len() > 1 {
            let around = self.tree[slot].scope;
            let is_object =
                self.tree[around].members.bases.iter().any(|&b| Some(self.tree[b].class) == self.types.external_object);
            if is_object {
                self.report(d::calls_object_function(&name, call.name.span));
            }
        }
        let has_subscripts = call.name.parts.iter().any(|p| !p.subscripts.is_empty());
        if has_subscripts {
            self.report(d::function_of_element(&name, call.name.span));
        }
    }

    /// Languages, arguments and results of an external clause.
    pub fn check_external(&mut self, inst: InstId, external: &'a ast::External) {
        if let Some(language) = &external.language
            && !matches!(&*language.value, "C" | "FORTRAN 77" | "builtin" | "C89" | "C99" | "C11" | "C17")
        {
            self.report_always(d::external_language(&language.value, language.span));
        }
        let Some(call) = &external.call else { return };
        for argument in &call.arguments {
            let is_fit = match &argument.kind {
                ast::ExprKind::Array(_)
                | ast::ExprKind::Matrix(_)
                | ast::ExprKind::Comprehension(..)
                | ast::ExprKind::Range { .. } => false,
                ast::ExprKind::Call(call) if self.ref_text(&call.name) == "size" => match call.arguments.get(1) {
                    Some(dimension) => self.is_constant_expression(inst, dimension),
                    None => true,
                },
                _ => true,
            };
            if !is_fit {
                self.report_always(d::external_argument(argument.span));
            }
        }
        if let Some(result) = &call.result
            && let Some(local) = self.local_of_ref(inst, result)
            && self.local_type_of(local).rank() > 0
        {
            let name = self.ref_text(result);
            self.report_always(d::external_array_result(&name, result.span));
        }
    }

    fn is_constant_expression(&mut self, inst: InstId, expr: &'a ast::Expr) -> bool {
        let mut is_constant = true;
        crate::deduce::walk_expr(expr, &mut |reference| {
            if let Some(first) = reference.parts.first()
                && let Some(Member::Component(comp)) = self.member(inst, first.name.name)
                && self.tree[comp].local.is_some()
            {
                is_constant = false;
            }
        });
        is_constant
    }
}

/// The locals whose values an expression needs; their sizes are known without them.
fn collect_values(expr: &Expr, out: &mut Vec<LocalId>) {
    match &expr.kind {
        ExprKind::Local(local) => out.push(*local),
        ExprKind::Builtin { function: saltus_flat::Builtin::Size, .. } => {}
        _ => expr.for_each_child(&mut |child| collect_values(child, out)),
    }
}
