//! Functions: a signature at the first call, a body when it is needed (specification chapter 12).
//!
//! A function is an instance whose components are locals. Instances of one function in two packages (a medium and
//! another medium) are two functions. A record class called like a function is a function with its fields as inputs.

use std::sync::Arc;

use saltus_base::{IdVec, Name, Span};
use saltus_flat::{self as flat, BaseType, Dim, Expr, ExprKind, FunctionId, LocalId, Purity, Type};
use saltus_procedure::Procedure;
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, InstId, Member, Memo, SlotId};
use crate::types::Sizes;

pub struct FunctionEntry {
    pub slot: SlotId,
    pub inst: InstId,
    pub name: String,
    pub locals: IdVec<LocalId, flat::Local>,
    pub components: Vec<CompId>,
    pub inputs: Vec<LocalId>,
    pub outputs: Vec<LocalId>,
    pub is_record_constructor: bool,
    pub has_signature: bool,
    pub purity: Purity,
    pub body: Memo<Arc<flat::Function>>,
    /// The body as the evaluator executes it.
    pub procedure: Option<Arc<Procedure>>,
}

impl<'a> Front<'a> {
    /// The function a class is; made on first use.
    pub fn function_of(&mut self, slot: SlotId) -> FunctionId {
        let id = self.reserve_function(slot);
        if !std::mem::replace(&mut self.functions[id].has_signature, true) {
            let inst = self.functions[id].inst;
            self.in_function(id, |front| front.make_signature(id, inst));
        }
        id
    }

    /// The id of the function a class is. Its signature may mention types that need the id first, as the constructor of
    /// an external object does.
    pub fn reserve_function(&mut self, slot: SlotId) -> FunctionId {
        if let Some(id) = self.tree[slot].function {
            return id;
        }
        if let Some(base) = self.plain_alias(slot) {
            let id = self.reserve_function(base);
            self.tree[slot].function = Some(id);
            return id;
        }
        let modifier = self.tree[slot].modifier.clone();
        let inst = self.tree.new_inst(slot, modifier, None);
        let name = self.functions.unique_name(self.library.qualified_name(self.tree[slot].class));
        let definition = self.tree[slot].definition;
        let id = self.functions.entries.push(FunctionEntry {
            slot,
            inst,
            name,
            locals: IdVec::new(),
            components: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            is_record_constructor: false,
            has_signature: false,
            purity: if definition.purity == Some(ast::Purity::Impure) { Purity::Impure } else { Purity::Pure },
            body: Memo::Unknown,
            procedure: None,
        });
        self.tree[slot].function = Some(id);
        self.tree[inst].function = Some(id);
        id
    }

    /// Runs `f` as inside the body of a function.
    pub fn in_function<R>(&mut self, id: FunctionId, f: impl FnOnce(&mut Self) -> R) -> R {
        let outside = self.functions.current.replace(id);
        let result = self.isolated(f);
        self.functions.current = outside;
        result
    }

    fn make_signature(&mut self, id: FunctionId, inst: InstId) {
        self.expand(inst);
        if self.extends_impure(inst) {
            self.functions[id].purity = Purity::Impure;
        }
        let (_, kind) = self.defining_class(inst);
        let is_record = matches!(kind, ast::ClassKind::Record | ast::ClassKind::OperatorRecord);
        let components = self.tree[inst].members.components.clone();
        let mut kept = Vec::new();
        for comp in components {
            let c = &self.tree[comp];
            let direction = c.prefixes.direction;
            let is_constant = c.prefixes.variability == Some(ast::Variability::Constant);
            if is_constant && direction.is_none() && !is_record {
                continue;
            }
            let (name, span) = (self.text(c.name).to_owned(), c.declared.span);
            let local = flat::Local { name, ty: Type::ERROR, sizes: Vec::new(), default: None, span };
            let local = self.functions[id].locals.push(local);
            self.tree[comp].local = Some(local);
            kept.push(comp);
            let entry = &mut self.functions[id];
            match direction {
                Some(ast::Direction::Output) => entry.outputs.push(local),
                Some(ast::Direction::Input) => entry.inputs.push(local),
                None if is_record => entry.inputs.push(local),
                None => {}
            }
        }
        for &comp in &kept {
            // An argument brings its sizes along; what the function makes has those of its declaration.
            let is_given = is_record || self.tree[comp].prefixes.direction == Some(ast::Direction::Input);
            let ty = self.local_type(comp, if is_given { Sizes::Open } else { Sizes::Declared });
            let Some(local) = self.tree[comp].local else { continue };
            let entry = &mut self.functions[id].locals[local];
            entry.sizes = vec![None; ty.rank()];
            entry.ty = ty;
        }
        self.functions[id].components = kept;
        if is_record {
            self.functions[id].is_record_constructor = true;
            let slot = self.functions[id].slot;
            let ty = self.record_of_slot(slot, None).map_or(Type::ERROR, |r| Type::scalar(BaseType::Record(r)));
            let span = self.tree[slot].definition.name.span;
            let local = flat::Local { name: "$result".into(), ty, sizes: Vec::new(), default: None, span };
            let local = self.functions[id].locals.push(local);
            self.functions[id].outputs.push(local);
        }
        self.check_object_outputs(id);
        self.check_clock_locals(id);
    }

    /// What extends an impure function is impure, said or not (specification 12.3).
    fn extends_impure(&self, inst: InstId) -> bool {
        let inst = &self.tree[inst];
        inst.definition.is_some_and(|c| c.purity == Some(ast::Purity::Impure))
            || inst.members.bases.iter().any(|&base| self.extends_impure(base))
    }

    pub fn local_type_of(&self, local: LocalId) -> Type {
        self.functions.locals().get(local).map_or(Type::ERROR, |l| l.ty.clone())
    }

    /// The default of an input as an expression of the function's locals.
    pub fn local_default(&mut self, id: FunctionId, local: LocalId) -> Option<Expr> {
        let comp = self.functions[id].components.iter().copied().find(|&c| self.tree[c].local == Some(local))?;
        if self.functions.defaults.contains(&(id, local)) {
            return None;
        }
        self.functions.defaults.push((id, local));
        let default = self.in_function(id, |front| front.component_default(comp, local));
        self.functions.defaults.pop();
        default
    }

    fn component_default(&mut self, comp: CompId, local: LocalId) -> Option<Expr> {
        let ty = self.local_type_of(local);
        let expr = match self.tree[comp].modifier.as_ref().and_then(|m| m.value.clone()) {
            Some(value) => self.mod_value(&value, ty.rank())?,
            None => self.record_default(comp, local)?,
        };
        let name = self.text(self.tree[comp].name);
        Some(typing::convert(self, expr, &ty, typing::Place::Binding { variable: name }))
    }

    /// The complete function.
    pub fn function_body(&mut self, id: FunctionId) -> Arc<flat::Function> {
        match &self.functions[id].body {
            Memo::Known(body) => return body.clone(),
            Memo::InProgress => {
                // A function is evaluated while its own body is being made, as in a constant that needs itself.
                return Arc::new(self.bodyless(id, Vec::new(), None));
            }
            Memo::Unknown => {}
        }
        self.functions[id].body = Memo::InProgress;
        let function = self.in_function(id, |front| front.make_body(id));
        let function = Arc::new(function);
        self.functions[id].body = Memo::Known(function.clone());
        function
    }

    /// The complete function, lowered once.
    pub fn procedure_of(&mut self, id: FunctionId) -> Arc<Procedure> {
        if let Some(procedure) = &self.functions[id].procedure {
            return procedure.clone();
        }
        let function = self.function_body(id);
        let procedure = Arc::new(saltus_procedure::lower(&function));
        if matches!(self.functions[id].body, Memo::Known(_)) {
            self.functions[id].procedure = Some(procedure.clone());
        }
        procedure
    }

    fn make_body(&mut self, id: FunctionId) -> flat::Function {
        let inst = self.functions[id].inst;
        for comp in self.functions[id].components.clone() {
            let Some(local) = self.tree[comp].local else { continue };
            let default = self.component_default(comp, local);
            let sizes = self.local_sizes(comp);
            let entry = &mut self.functions[id].locals[local];
            entry.default = default;
            if sizes.len() == entry.ty.rank() {
                entry.sizes = sizes;
            }
        }
        self.check_function_sections(id, inst);
        self.check_acyclic_locals(id);
        let mut body = Vec::new();
        self.assign_modified_fields(id, &mut body);
        self.collect_body(inst, &mut body);
        let external = self.external_of(inst);
        let function = self.bodyless(id, body, external);
        let mut function = self.differentiated(inst, function);
        self.read_function_annotations(inst, &mut function);
        self.check_impure_calls(id, inst, &function);
        function
    }

    fn bodyless(&self, id: FunctionId, body: Vec<flat::Statement>, external: Option<flat::External>) -> flat::Function {
        let entry = &self.functions[id];
        flat::Function {
            name: entry.name.clone(),
            locals: entry.locals.clone(),
            inputs: entry.inputs.clone(),
            outputs: entry.outputs.clone(),
            body,
            external,
            purity: entry.purity,
            is_record_constructor: entry.is_record_constructor,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            inline: false,
            late_inline: false,
            inline_after_index_reduction: false,
            smooth_order: None,
            generate_events: false,
            span: self.tree[entry.slot].definition.name.span,
        }
    }

    /// The declared sizes that only the call knows.
    pub fn local_sizes(&mut self, comp: CompId) -> Vec<Option<Expr>> {
        let c = &self.tree[comp];
        let (scope, declaration, clause) = (c.declared.scope, c.declared.declaration, c.declared.clause);
        let mut subscripts: Vec<_> =
            declaration.subscripts.iter().chain(&clause.subscripts).map(|s| (s, scope)).collect();
        if let Some(slot) = self.lookup_class(scope, &clause.type_name) {
            subscripts.extend(self.class_subscripts(slot));
        }
        let mut sizes = Vec::with_capacity(subscripts.len());
        for (subscript, scope) in subscripts {
            sizes.push(match subscript {
                ast::Subscript::Colon(_) => None,
                ast::Subscript::Expr(e) => match self.type_as_size(scope, e) {
                    Some(n) => Some(Expr::integer(n as i64, e.span)),
                    None => Some(self.expression(scope, e)).filter(|e| !e.is_error()),
                },
            });
        }
        sizes
    }

    fn collect_body(&mut self, inst: InstId, body: &mut Vec<flat::Statement>) {
        for base in self.tree[inst].members.bases.clone() {
            self.collect_body(base, body);
        }
        let Some(ast::ClassBody::Long(class)) = self.tree[inst].definition.map(|c| &c.body) else { return };
        for section in &class.sections {
            match section {
                ast::Section::Algorithm { statements, .. } => {
                    let statements = self.statements(inst, statements);
                    body.extend(statements);
                }
                ast::Section::Equations { keyword, equations, .. } if !equations.is_empty() => {
                    self.report(d::equation_in_function(*keyword));
                }
                _ => {}
            }
        }
    }

    fn external_of(&mut self, inst: InstId) -> Option<flat::External> {
        if let Some(ast::ClassBody::Long(class)) = self.tree[inst].definition.map(|c| &c.body)
            && let Some(external) = &class.external
        {
            return Some(self.make_external(inst, class, external));
        }
        self.tree[inst].members.bases.clone().into_iter().find_map(|base| self.external_of(base))
    }

    fn make_external(
        &mut self,
        inst: InstId,
        class: &'a ast::LongClass,
        external: &'a ast::External,
    ) -> flat::External {
        self.check_external(inst, external);
        let language = external.language.as_ref().map_or("C", |l| &l.value).to_owned();
        let mut made = match &external.call {
            Some(call) => self.external_call(inst, language, call),
            None => self.default_external(inst, language),
        };
        let annotations = [external.annotation.as_ref(), class.annotation.as_ref()];
        let strings = |word| annotations.into_iter().flatten().flat_map(|a| self.annotation_strings(a, word)).collect();
        made.libraries = strings(self.words.library);
        made.directories = strings(self.words.library_directory);
        made.includes = strings(self.words.include);
        made.include_directories = strings(self.words.include_directory);
        let name = self.library.qualified_name(self.tree[inst].class);
        if let Some(top) = name.split('.').next() {
            if made.directories.is_empty() {
                made.directories.push(format!("modelica://{top}/Resources/Library"));
            }
            if made.include_directories.is_empty() {
                made.include_directories.push(format!("modelica://{top}/Resources/Include"));
            }
        }
        made.destructor = self.destructor_of(inst, &made);
        made
    }

    /// What ends the life of the object that a constructor makes, if that is not one that the evaluator knows.
    fn destructor_of(&mut self, inst: InstId, external: &flat::External) -> Option<FunctionId> {
        let id = self.functions.current?;
        let result = self.functions[id].locals.get(external.result?)?.ty.base;
        let is_native = saltus_eval::is_native(&external.name) && !flat::defines_code(&external.includes);
        if result != BaseType::ExternalObject(id) || is_native {
            return None;
        }
        let class = self.tree[inst].scope;
        let Some(Member::Class(slot)) = self.member(class, self.words.destructor) else { return None };
        Some(self.function_of(slot))
    }

    fn external_call(&mut self, inst: InstId, language: String, call: &'a ast::ExternalCall) -> flat::External {
        let name = self.text(call.name.name).to_owned();
        let result = call.result.as_ref().and_then(|r| self.local_of_ref(inst, r));
        let arguments = call
            .arguments
            .iter()
            .map(|argument| {
                if let ast::ExprKind::Ref(r) = &argument.kind
                    && let Some(local) = self.local_of_ref(inst, r)
                    && !self.is_input(local)
                {
                    return flat::ExternalArgument::Output(local);
                }
                flat::ExternalArgument::Input(self.expression(inst, argument))
            })
            .collect();
        external(language, name, arguments, result)
    }

    /// `external;` alone: the function's own name, all inputs, one output as the result (specification 12.9).
    fn default_external(&mut self, inst: InstId, language: String) -> flat::External {
        let name = self.tree[inst].definition.map_or(String::new(), |c| self.text(c.name.name).to_owned());
        let Some(id) = self.functions.current else {
            return external(language, name, Vec::new(), None);
        };
        let (inputs, outputs) = (self.functions[id].inputs.clone(), self.functions[id].outputs.clone());
        let mut arguments = Vec::new();
        for local in inputs {
            let variable = self.local_variable(local);
            arguments.push(flat::ExternalArgument::Input(variable));
            arguments.extend(self.sizes_of(local));
        }
        let result = match outputs[..] {
            [one] if self.local_type_of(one).dims.is_empty() => Some(one),
            _ => None,
        };
        for local in outputs.into_iter().filter(|_| result.is_none()) {
            arguments.push(flat::ExternalArgument::Output(local));
            arguments.extend(self.sizes_of(local));
        }
        external(language, name, arguments, result)
    }

    fn local_variable(&mut self, local: LocalId) -> Expr {
        Expr::new(ExprKind::Local(local), self.local_type_of(local), Span::nowhere())
    }

    /// The sizes that follow an array in a call that is not written out.
    fn sizes_of(&mut self, local: LocalId) -> Vec<flat::ExternalArgument> {
        let array = self.local_variable(local);
        let size = |dimension: usize| {
            let arguments = vec![array.clone(), Expr::integer(dimension as i64, Span::nowhere())];
            let size = Expr::builtin(flat::Builtin::Size, arguments, Type::INTEGER, Span::nowhere());
            flat::ExternalArgument::Input(size)
        };
        (1..=array.ty.rank()).map(size).collect()
    }

    pub fn local_of_ref(&mut self, inst: InstId, reference: &ast::ComponentRef) -> Option<LocalId> {
        let [part] = reference.parts.as_slice() else { return None };
        if !part.subscripts.is_empty() {
            return None;
        }
        self.local_named(inst, part.name.name)
    }

    pub fn local_named(&mut self, inst: InstId, name: Name) -> Option<LocalId> {
        match self.member(inst, name) {
            Some(crate::instance::Member::Component(comp)) => self.tree[comp].local,
            _ => None,
        }
    }

    pub fn is_input(&self, local: LocalId) -> bool {
        self.functions.current.is_some_and(|id| self.functions[id].inputs.contains(&local))
    }

    /// `expr`, which is written in terms of a function's locals, for a call with these arguments.
    pub fn substitute(&mut self, id: FunctionId, expr: &Expr, arguments: &[Option<Expr>]) -> Option<Expr> {
        self.substitute_at(id, expr, arguments, &mut Vec::new(), 0)
    }

    /// `renamed` are the iterators around the expression: those of the function, and what they are called where the call is.
    fn substitute_at(
        &mut self,
        id: FunctionId,
        expr: &Expr,
        arguments: &[Option<Expr>],
        renamed: &mut Vec<(LocalId, LocalId)>,
        depth: u32,
    ) -> Option<Expr> {
        if depth > 50 {
            return None;
        }
        if let ExprKind::Local(local) = expr.kind {
            if let Some(&(_, new)) = renamed.iter().rev().find(|(old, _)| *old == local) {
                return Some(Expr::new(ExprKind::Local(new), expr.ty.clone(), expr.span));
            }
            let position = self.functions[id].inputs.iter().position(|&i| i == local);
            if let Some(Some(argument)) = position.map(|p| arguments.get(p).cloned().flatten()) {
                return Some(argument);
            }
            let default = self.local_default(id, local)?;
            return self.substitute_at(id, &default, arguments, renamed, depth + 1);
        }
        if let ExprKind::Reduction { op, body, iterators } = &expr.kind {
            let n_around = renamed.len();
            let reduction = self.substitute_reduction(id, (*op, body, iterators), expr, arguments, renamed, depth);
            renamed.truncate(n_around);
            return reduction;
        }
        // The size of an argument is known even where its value is not.
        if let ExprKind::Builtin { function: flat::Builtin::Size, arguments: of } = &expr.kind
            && let [array, dimension] = of.as_slice()
            && let ExprKind::Integer(k) = dimension.kind
        {
            let array = self.substitute_at(id, array, arguments, renamed, depth)?;
            if let Some(Dim::Known(n)) = array.ty.dims.get((k - 1) as usize) {
                return Some(Expr::integer(*n as i64, expr.span));
            }
        }
        let mut result = expr.clone();
        let mut ok = true;
        result.for_each_child_mut(&mut |child| match self.substitute_at(id, child, arguments, renamed, depth) {
            Some(new) => *child = new,
            None => ok = false,
        });
        ok.then_some(result)
    }

    /// Iterators become locals of the place of the call; lengths that the arguments decide become known.
    fn substitute_reduction(
        &mut self,
        id: FunctionId,
        (op, body, iterators): (flat::ReductionOp, &Expr, &[flat::Iterator]),
        expr: &Expr,
        arguments: &[Option<Expr>],
        renamed: &mut Vec<(LocalId, LocalId)>,
        depth: u32,
    ) -> Option<Expr> {
        let mut ty = expr.ty.clone();
        let mut new = Vec::with_capacity(iterators.len());
        for (k, iterator) in iterators.iter().enumerate() {
            let mut range = self.substitute_at(id, &iterator.range, arguments, renamed, depth)?;
            let length = self.structural_quietly(&range).and_then(|v| v.dims().first().copied());
            if let Some(length) = length {
                let length = Dim::Known(length as u64);
                range.ty.dims.first_mut().into_iter().for_each(|dim| *dim = length);
                ty.dims.get_mut(k).into_iter().filter(|_| op == flat::ReductionOp::Array).for_each(|dim| *dim = length);
            }
            let local = self.functions[id].locals[iterator.local].clone();
            let local = self.functions.locals_mut().push(local);
            renamed.push((iterator.local, local));
            new.push(flat::Iterator { local, range });
        }
        let body = self.substitute_at(id, body, arguments, renamed, depth)?;
        Some(Expr::new(ExprKind::Reduction { op, body: Box::new(body), iterators: new }, ty, expr.span))
    }

    /// Types of all results of a call; sizes that depend on the arguments are found from them.
    pub fn result_types(&mut self, id: FunctionId, arguments: &[Option<Expr>], span: Span) -> Vec<Type> {
        let outputs = self.functions[id].outputs.clone();
        let mut types = Vec::with_capacity(outputs.len());
        let mut evaluated: Option<Vec<saltus_eval::Value>> = None;
        for (k, local) in outputs.into_iter().enumerate() {
            let mut ty = self.functions[id].locals[local].ty.clone();
            if ty.dims.contains(&Dim::Unknown) {
                self.find_sizes(id, local, arguments, &mut ty, true);
            }
            if ty.dims.contains(&Dim::Unknown) {
                self.assigned_sizes(id, local, &mut ty);
            }
            if ty.dims.contains(&Dim::Unknown) && self.functions.current.is_none() {
                if evaluated.is_none() {
                    evaluated = Some(self.evaluate_call(id, arguments, span).unwrap_or_default());
                }
                if let Some(value) = evaluated.as_ref().and_then(|v| v.get(k)) {
                    let dims = value.dims();
                    if dims.len() == ty.rank() {
                        ty.dims = dims.iter().map(|&n| Dim::Known(n as u64)).collect();
                    }
                }
            }
            types.push(ty);
        }
        types
    }

    /// An open size is that of what the body assigns as a whole, if that is known without the arguments.
    fn assigned_sizes(&mut self, id: FunctionId, output: LocalId, ty: &mut Type) {
        if matches!(self.functions[id].body, Memo::InProgress) {
            return;
        }
        let function = self.function_body(id);
        let mut found: Option<Vec<Dim>> = None;
        for statement in &function.body {
            let flat::StatementKind::Assign { target, value } = &statement.kind else { continue };
            if target.kind != ExprKind::Local(output) || value.ty.rank() != ty.rank() {
                continue;
            }
            if found.as_ref().is_some_and(|dims| *dims != value.ty.dims) {
                return;
            }
            found = Some(value.ty.dims.clone());
        }
        for (dim, new) in ty.dims.iter_mut().zip(found.unwrap_or_default()) {
            if *dim == Dim::Unknown {
                *dim = new;
            }
        }
    }

    /// Sizes that a declaration states in terms of arguments; without variables those that no value of a variable or an argument decides.
    pub fn find_sizes(
        &mut self,
        id: FunctionId,
        local: LocalId,
        arguments: &[Option<Expr>],
        ty: &mut Type,
        with_variables: bool,
    ) {
        let Some(comp) = self.functions[id].components.iter().copied().find(|&c| self.tree[c].local == Some(local))
        else {
            return;
        };
        let mark = self.messages.mark();
        let sizes = self.in_function(id, |front| front.local_sizes(comp));
        for (k, dim) in ty.dims.iter_mut().enumerate() {
            if *dim != Dim::Unknown {
                continue;
            }
            let Some(Some(size)) = sizes.get(k) else { continue };
            let is_record = self.functions[id].is_record_constructor;
            if !with_variables && !is_record && saltus_eval::names_number(size) {
                continue;
            }
            let Some(size) = self.substitute(id, size, arguments) else { continue };
            if !with_variables && mentions_variable(&size) {
                continue;
            }
            if let Some(saltus_eval::Value::Integer(n)) = self.structural_quietly(&size)
                && n >= 0
            {
                *dim = Dim::Known(n as u64);
            }
        }
        self.messages.take_back(mark);
    }
}

fn mentions_variable(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e.kind, ExprKind::Var(_)));
    found
}

/// Without what annotations say.
fn external(
    language: String,
    name: String,
    arguments: Vec<flat::ExternalArgument>,
    result: Option<LocalId>,
) -> flat::External {
    flat::External {
        language,
        name,
        arguments,
        result,
        libraries: Vec::new(),
        directories: Vec::new(),
        includes: Vec::new(),
        include_directories: Vec::new(),
        destructor: None,
    }
}
