//! Values at compile time: the front end's side of the evaluator (specification 4.5).
//!
//! A parameter whose value decides a size, a condition or a connection becomes structural: it is marked, because
//! changing it later needs another compilation.

use std::collections::HashSet;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::{Diagnostic, Severity, Span};
use saltus_eval::{Environment, EvalError, Evaluator, FileKind, Value};
use saltus_flat::{
    self as flat, EnumId, EnumType, Expr, ExprKind, FunctionId, RecordId, RecordType, VarId, Variability,
};
use saltus_procedure::Procedure;
use saltus_syntax::ast;

use crate::instance::{CompId, InstId, Memo};
use crate::{Front, Purpose};

impl<'a> Front<'a> {
    pub fn with_evaluator<R>(&mut self, f: impl FnOnce(&mut Evaluator<'_>) -> R) -> R {
        let outside = self.functions.current.take();
        let context = self.context.step_out();
        let (result, warnings) = {
            let limits = self.budget.limits;
            let mut evaluator = Evaluator::new(self, limits);
            let result = f(&mut evaluator);
            (result, evaluator.take_warnings())
        };
        self.functions.current = outside;
        self.context = context;
        self.messages.diagnostics.extend(warnings);
        result
    }

    /// The value of an expression that decides the structure of the model; its parameters become structural.
    pub fn evaluate_structural(&mut self, expr: &Expr) -> Result<Value, EvalError> {
        let evaluable = self.of_any_element(expr);
        let value = self.with_evaluator(|evaluator| evaluator.evaluate(&evaluable))?;
        match self.mark_structural(expr) {
            Ok(()) => Ok(value),
            Err(comp) => {
                let what = format!("the parameter `{}` with `Evaluate = false`", self.comp_name(comp));
                Err(EvalError::not_constant(expr.span, what))
            }
        }
    }

    pub fn structural_quietly(&mut self, expr: &Expr) -> Option<Value> {
        if expr.is_error() {
            return None;
        }
        let value = self.evaluate_quietly(expr)?;
        self.mark_structural(expr).ok()?;
        Some(value)
    }

    /// What keeps an expression that has a value from deciding the structure: a parameter with `Evaluate = false`.
    pub fn forbidden_parameter(&mut self, expr: &Expr) -> Option<CompId> {
        self.evaluate_quietly(expr)?;
        self.mark_structural(expr).err()
    }

    pub fn evaluate_quietly(&mut self, expr: &Expr) -> Option<Value> {
        if expr.is_error() {
            return None;
        }
        let expr = self.of_any_element(expr);
        if has_local(&expr) {
            return None;
        }
        let mark = self.messages.mark();
        let value = self.with_evaluator(|evaluator| evaluator.evaluate(&expr)).ok();
        if value.is_none() {
            self.messages.take_back(mark);
        }
        value
    }

    /// A subscript, if it can be known now; iteration variables of loops that stay cannot.
    pub fn evaluate_index(&mut self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Integer(i) => Some(Value::Integer(*i)),
            ExprKind::EnumLiteral(id, k) => Some(Value::Enum(*id, *k)),
            _ => self.structural_quietly(expr),
        }
    }

    /// Marks all that the value of an expression depends on. Nothing is marked if a parameter with `Evaluate = false` is among them,
    /// which is returned.
    fn mark_structural(&mut self, expr: &Expr) -> Result<(), CompId> {
        let variables_of = |e: &Expr, todo: &mut Vec<VarId>| {
            e.walk(&mut |e| {
                if let ExprKind::Var(var) = e.kind {
                    todo.push(var);
                }
            });
        };
        let (mut todo, mut marked) = (Vec::new(), Vec::new());
        variables_of(expr, &mut todo);
        let mut forbidden = None;
        while let Some(var) = todo.pop() {
            let comp = self.tree.vars[var];
            if std::mem::replace(&mut self.tree[comp].is_structural, true) {
                continue;
            }
            marked.push(comp);
            let is_parameter = self.tree[comp].prefixes.variability != Some(ast::Variability::Constant);
            if is_parameter && self.evaluate_annotation(comp) == Some(false) {
                forbidden = Some(comp);
                break;
            }
            if let Memo::Known(Some(binding)) = &self.tree[comp].memo.binding {
                variables_of(binding, &mut todo);
            }
        }
        match forbidden {
            None => Ok(()),
            Some(comp) => {
                marked.into_iter().for_each(|comp| self.tree[comp].is_structural = false);
                Err(comp)
            }
        }
    }

    /// The value of a constant, if it has one.
    pub fn constant_value(&mut self, comp: CompId) -> Option<Value> {
        let mark = self.messages.mark();
        let value = self.comp_value(comp, Span::nowhere());
        if value.is_err() {
            self.messages.take_back(mark);
        }
        value.ok()
    }

    /// A constant must have a value; a computation of it that goes wrong is reported.
    pub fn report_failing_constant(&mut self, comp: CompId) {
        let mark = self.messages.mark();
        let span = self.tree[comp].declared.span;
        if let Err(error) = self.comp_value(comp, span) {
            self.messages.take_back(mark);
            if let EvalError::Failed(diagnostic) = error {
                // Of a package that is checked, nobody may use the constant.
                let is_unused = self.request.purpose == Purpose::Check && self.tree.model == self.tree.root;
                self.report(if is_unused { diagnostic.severity(Severity::Warning) } else { *diagnostic });
            }
        }
    }

    fn comp_value(&mut self, comp: CompId, span: Span) -> Result<Value, EvalError> {
        match &self.tree[comp].memo.value {
            Memo::Known(Ok(value)) => return Ok(value.clone()),
            Memo::Known(Err(())) => return Err(self.no_value(comp, span)),
            Memo::InProgress => {
                let name = self.comp_name(comp);
                let at = self.tree[comp].declared.span;
                return Err(crate::diagnostics::cyclic_value(&name, at).into());
            }
            Memo::Unknown => {}
        }
        self.tree[comp].memo.value = Memo::InProgress;
        let value = self.find_value(comp, span);
        self.tree[comp].memo.value = match &value {
            Ok(value) => Memo::Known(Ok(value.clone())),
            Err(EvalError::NotConstant { .. }) => Memo::Known(Err(())),
            Err(EvalError::Failed(_)) => Memo::Unknown,
        };
        value
    }

    fn find_value(&mut self, comp: CompId, span: Span) -> Result<Value, EvalError> {
        let variability = self.tree[comp].prefixes.variability;
        let is_local_constant = self.tree[self.tree[comp].owner].function.is_some();
        if !matches!(variability, Some(ast::Variability::Constant | ast::Variability::Parameter)) {
            return Err(self.no_value(comp, span));
        }
        let binding = if is_local_constant {
            let outside = self.functions.current.take();
            let value = self.tree[comp].modifier.as_ref().and_then(|m| m.value.clone());
            let binding = value.and_then(|v| self.mod_value(&v, 0)).map(Rc::new);
            self.functions.current = outside;
            binding
        } else {
            let outside = self.functions.current.take();
            let binding = self.isolated(|front| front.comp_binding(comp));
            self.functions.current = outside;
            binding
        };
        let expr = match binding {
            Some(binding) => binding,
            None => match self.start_as_value(comp) {
                Some(start) => Rc::new(start),
                None => return Err(self.no_value(comp, span)),
            },
        };
        if expr.is_error() {
            self.messages.without_value.insert(comp);
            return Err(self.no_value(comp, span));
        }
        let expr = self.of_any_element(&expr);
        if !self.tree[self.tree[comp].owner].outer.is_empty() && has_local(&expr) {
            return Err(self.no_value(comp, span));
        }
        self.with_evaluator(|evaluator| evaluator.evaluate(&expr))
    }

    /// A parameter without a value takes its start value, unless it is to be computed.
    fn start_as_value(&mut self, comp: CompId) -> Option<Expr> {
        if self.tree[comp].prefixes.variability != Some(ast::Variability::Parameter)
            || self.tree[comp].sub_modifier(self.words.fixed).is_some()
        {
            return None;
        }
        let value = self.tree[comp].sub_modifier(self.words.start)?.value.clone()?;
        let ty = self.comp_type(comp);
        let start = self.mod_value(&value, ty.rank())?;
        let start = if start.ty.rank() == 0 && ty.rank() > 0 {
            let sizes: Option<Vec<u64>> = ty.dims.iter().map(|d| d.known()).collect();
            crate::component::fill(start, &sizes?)
        } else {
            start
        };
        let name = self.comp_name(comp);
        Some(saltus_typing::convert(self, start, &ty, saltus_typing::Place::Binding { variable: &name }))
    }

    fn no_value(&self, comp: CompId, span: Span) -> EvalError {
        EvalError::not_constant(span, format!("the variable `{}`", self.comp_name(comp)))
    }

    /// Turns an evaluation error into a message; `not_constant` words the case of a value that is not known yet.
    pub fn report_eval(&mut self, expr: &Expr, error: EvalError, not_constant: impl FnOnce(&str) -> Diagnostic) {
        let diagnostic = match error {
            EvalError::NotConstant { what, .. } => not_constant(&what),
            EvalError::Failed(diagnostic) => *diagnostic,
        };
        let mut asked: Vec<CompId> = Vec::new();
        expr.walk(&mut |e| {
            if let ExprKind::Var(var) = e.kind {
                asked.push(self.tree.vars[var]);
            }
        });
        if self.awaits_value(expr) {
            self.messages.open_values.push(diagnostic);
            return;
        }
        let is_known = asked.iter().any(|c| self.messages.without_value.contains(c));
        self.messages.without_value.extend(asked);
        if is_known { self.messages.withhold(diagnostic) } else { self.report(diagnostic) }
    }
}

impl Front<'_> {
    /// Whether an expression has no value because a class that is checked leaves it to its users.
    fn awaits_value(&mut self, expr: &Expr) -> bool {
        let mut todo: Vec<VarId> = Vec::new();
        let mut seen: HashSet<VarId> = HashSet::new();
        let collect = |e: &Expr, todo: &mut Vec<VarId>| {
            e.walk(&mut |e| {
                if let ExprKind::Var(var) = e.kind {
                    todo.push(var);
                }
            });
        };
        collect(expr, &mut todo);
        while let Some(var) = todo.pop() {
            if !seen.insert(var) {
                continue;
            }
            let comp = self.tree.vars[var];
            match self.comp_binding(comp) {
                Some(binding) => collect(&binding, &mut todo),
                None if self.may_come_from_outside(comp) => return true,
                // Its value was found to be wrong or to wait for another one.
                None if self.has_value(comp) && !self.messages.open_values.is_empty() => return true,
                None => {}
            }
        }
        false
    }

    /// Whether the value of a parameter or constant may be given where the class is used or completed: a parameter of the class that
    /// is checked, or a constant of a partial package.
    pub fn may_come_from_outside(&mut self, comp: CompId) -> bool {
        if self.request.purpose != Purpose::Check || self.has_value(comp) {
            return false;
        }
        let mut at = comp;
        loop {
            let owner = self.tree[at].owner;
            if owner == self.tree.model {
                return self.variability_of(comp) == Variability::Parameter;
            }
            match self.tree[owner].owner {
                Some(outer) => at = outer,
                None => return self.is_in_partial(owner) || self.is_being_checked(owner),
            }
        }
    }

    /// Whether the class that is checked is this package, or lies in it: who extends the package gives its constants values.
    fn is_being_checked(&self, package: InstId) -> bool {
        let class = self.tree[package].class;
        self.request.class.is_some_and(|checked| checked == class || self.is_around(class, checked))
    }

    /// Whether a package, or one around it, is partial.
    fn is_in_partial(&self, mut inst: InstId) -> bool {
        while inst != self.tree.root {
            if self.tree[inst].definition.is_some_and(|c| c.is_partial) {
                return true;
            }
            inst = self.tree[inst].scope;
        }
        false
    }
}

fn has_local(expr: &Expr) -> bool {
    let mut found = false;
    let mut bound = Vec::new();
    expr.walk(&mut |e| match &e.kind {
        ExprKind::Reduction { iterators, .. } => bound.extend(iterators.iter().map(|i| i.local)),
        ExprKind::Local(local) => found |= !bound.contains(local),
        ExprKind::CallLocal { .. } => found = true,
        _ => {}
    });
    found
}

impl Environment for Front<'_> {
    fn variable(&mut self, id: VarId, span: Span) -> Result<Value, EvalError> {
        let comp = self.tree.vars[id];
        self.comp_value(comp, span)
    }

    fn procedure(&mut self, id: FunctionId) -> Result<Arc<Procedure>, EvalError> {
        Ok(self.procedure_of(id))
    }

    fn record_type(&self, id: RecordId) -> Arc<RecordType> {
        self.types.records[id].clone()
    }

    fn enum_type(&self, id: EnumId) -> Arc<EnumType> {
        self.types.enums[id].clone()
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.library.resolve_uri(name).unwrap_or_else(|| name.into());
        self.library.read_resource(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))
    }

    fn file_kind(&mut self, name: &str) -> Result<FileKind, String> {
        let path = self.library.resolve_uri(name).unwrap_or_else(|| name.into());
        match self.library.read_resource(&path) {
            Ok(_) => Ok(FileKind::RegularFile),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(FileKind::NoFile),
            Err(e) if e.kind() == io::ErrorKind::IsADirectory => Ok(FileKind::Directory),
            Err(e) => Err(format!("cannot look at `{}`: {e}", path.display())),
        }
    }

    fn resolve_uri(&mut self, uri: &str) -> Option<String> {
        self.library.resolve_uri(uri).map(|p| p.to_string_lossy().into_owned())
    }

    fn instance_name(&self) -> String {
        self.library.qualified_name(self.tree[self.tree.model].class)
    }
}

impl saltus_typing::Context for Front<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        Front::report(self, diagnostic);
    }

    fn enum_type(&self, id: EnumId) -> Arc<EnumType> {
        self.types.enums[id].clone()
    }

    fn record_type(&self, id: RecordId) -> Arc<RecordType> {
        self.types.records[id].clone()
    }

    fn evaluate_integer(&mut self, expr: &Expr) -> Option<i64> {
        match self.structural_quietly(expr)? {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    fn evaluate_real(&mut self, expr: &Expr) -> Option<f64> {
        self.structural_quietly(expr)?.as_real()
    }

    fn evaluate_boolean(&mut self, expr: &Expr) -> Option<bool> {
        match self.structural_quietly(expr)? {
            Value::Boolean(value) => Some(value),
            _ => None,
        }
    }

    fn variability(&self, var: VarId) -> flat::Variability {
        self.variability_of(self.tree.vars[var])
    }

    fn local_variability(&self, local: flat::LocalId) -> flat::Variability {
        match self.functions.current {
            Some(_) if self.local_type_of(local).base == flat::BaseType::Real => flat::Variability::Continuous,
            Some(_) => flat::Variability::Discrete,
            None => flat::Variability::Parameter,
        }
    }

    fn in_function(&self) -> bool {
        self.functions.current.is_some()
    }

    fn allows_unknown_sizes(&self) -> bool {
        self.functions.current.is_some() || self.context.in_algorithm
    }

    fn fresh_iterator(&mut self, span: Span) -> Option<flat::LocalId> {
        let (name, ty) = ("$i".to_owned(), flat::Type::INTEGER);
        Some(self.functions.locals_mut().push(flat::Local { name, ty, sizes: Vec::new(), default: None, span }))
    }

    fn add_record_type(&mut self, record: RecordType, like: RecordId) -> Option<RecordId> {
        Some(self.types.add_record_like(record, like))
    }

    fn describe(&self, expr: &Expr) -> String {
        self.expr_text(expr)
    }
}
