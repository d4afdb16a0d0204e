//! Statements of algorithms and functions (specification chapter 11).

use saltus_base::Span;
use saltus_flat::{self as flat, Expr, ExprKind, StatementKind, Type};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, InstId, Member};
use crate::reference::Iterated;

impl<'a> Front<'a> {
    pub fn statements(&mut self, scope: InstId, statements: &'a [ast::Statement]) -> Vec<flat::Statement> {
        let mut out = Vec::with_capacity(statements.len());
        for statement in statements {
            self.statement(scope, statement, &mut out);
        }
        out
    }

    fn statement(&mut self, scope: InstId, statement: &'a ast::Statement, out: &mut Vec<flat::Statement>) {
        let span = statement.span;
        let kind = match &statement.kind {
            ast::StatementKind::Assign { target, value } => self.assignment(scope, target, value),
            ast::StatementKind::AssignTuple { targets, call } => self.tuple_assignment(scope, targets, call, span),
            ast::StatementKind::Call(call) => self.call_statement(scope, call, span),
            ast::StatementKind::If { branches, otherwise } => {
                return self.if_statement(scope, branches, otherwise.as_deref(), span, out);
            }
            ast::StatementKind::For { indices, body } => return self.for_statement(scope, indices, body, span, out),
            ast::StatementKind::While { condition, body } => {
                let condition = self.condition(scope, condition, "while");
                let body = self.in_loop(|front| front.statements(scope, body));
                Some(StatementKind::While { condition, body })
            }
            ast::StatementKind::When { branches } => {
                if self.functions.current.is_some() {
                    self.report(d::when_in_function(span));
                    return;
                }
                let branches: Vec<_> = branches
                    .iter()
                    .map(|(c, body)| (self.when_condition(scope, c), self.statements(scope, body)))
                    .collect();
                if let Some((clock, _)) = branches.iter().find(|(c, _)| c.ty.base == flat::BaseType::Clock) {
                    self.report(d::clocked_when_statement(clock.span));
                }
                Some(StatementKind::When { branches })
            }
            ast::StatementKind::Break => {
                if self.context.n_loops == 0 {
                    self.report(d::break_outside_loop(span));
                }
                Some(StatementKind::Break)
            }
            ast::StatementKind::Return => {
                if self.functions.current.is_none() {
                    self.report(d::return_outside_function(span));
                }
                Some(StatementKind::Return)
            }
            ast::StatementKind::Error => None,
        };
        if let Some(kind) = kind {
            out.push(flat::Statement { kind, span });
        }
    }

    fn assignment(
        &mut self,
        scope: InstId,
        target: &'a ast::ComponentRef,
        value: &'a ast::Expr,
    ) -> Option<StatementKind> {
        let target_expr = self.target(scope, target);
        let value = self.expression(scope, value);
        if target_expr.is_error() || value.is_error() {
            return None;
        }
        let name = self.ref_text(target);
        // A growing array takes the size of what is assigned to it.
        let ty = target_expr.ty.clone();
        let place = typing::Place::Assignment { target: &name };
        let value = typing::convert(self, value, &ty, place);
        if value.is_error() || !typing::check_parts(self, &target_expr, &value, place) {
            return None;
        }
        self.check_assignable(&target_expr, target.span);
        Some(StatementKind::Assign { target: target_expr, value })
    }

    /// The left-hand side of an assignment. Constants must not turn into their values here.
    fn target(&mut self, scope: InstId, target: &'a ast::ComponentRef) -> Expr {
        if let Some(first) = target.parts.first()
            && !target.is_global
            && self.iterator(first.name.name).is_some()
        {
            self.report(d::assigns_iterator(self.text(first.name.name), target.span));
            return Expr::error(target.span);
        }
        if !self.is_part_of_local_array(scope, target)
            && let Some(Member::Component(comp)) = self.lookup_reference_class(scope, target)
            && self.tree[comp].prefixes.variability == Some(ast::Variability::Constant)
        {
            let name = self.comp_name(comp);
            self.report(d::assigns_parameter(&name, target.span, self.tree[comp].declared.span));
            return Expr::error(target.span);
        }
        self.reference(scope, target)
    }

    /// `p[i].x` of a function, where the elements of `p` are not instances: how many there are may be known at run time only.
    fn is_part_of_local_array(&mut self, scope: InstId, target: &'a ast::ComponentRef) -> bool {
        let [first, _, ..] = target.parts.as_slice() else { return false };
        if self.functions.current.is_none() {
            return false;
        }
        let Some(Member::Component(comp)) = self.lookup_name(scope, first.name.name) else { return false };
        self.tree[comp].local.is_some_and(|local| self.local_type_of(local).rank() > 0)
    }

    fn check_assignable(&mut self, target: &Expr, span: Span) {
        let mut at = target;
        loop {
            match &at.kind {
                ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => at = base,
                ExprKind::Var(var) => {
                    let comp = self.tree.vars[*var];
                    let is_parameter = self.variability_of(comp) <= flat::Variability::Parameter;
                    if is_parameter && (!self.context.in_initial_section || self.is_fixed_parameter(comp)) {
                        let name = self.comp_name(comp);
                        self.report(d::assigns_parameter(&name, span, self.tree[comp].declared.span));
                    }
                    return;
                }
                ExprKind::Local(local) => {
                    if self.is_input(*local) {
                        let name = self.local_name(*local);
                        self.report(d::assigns_input(&name, span));
                    }
                    return;
                }
                ExprKind::Array(items) | ExprKind::Record(items) => {
                    if let Some(first) = items.first() {
                        at = first;
                        continue;
                    }
                    return;
                }
                _ => {
                    let text = self.expr_text(target);
                    self.report(d::not_assignable(&text, span));
                    return;
                }
            }
        }
    }

    /// Whether the declaration of a parameter says that it is fixed.
    fn is_fixed_parameter(&mut self, comp: CompId) -> bool {
        let fixed = self.tree[comp].sub_modifier(self.words.fixed).and_then(|m| m.value.clone());
        let Some(fixed) = fixed.and_then(|value| self.mod_value(&value, 0)) else { return false };
        matches!(fixed.kind, ExprKind::Boolean(true))
    }

    /// Runs `f` as the body of a loop.
    fn in_loop<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        self.context.n_loops += 1;
        let result = f(self);
        self.context.n_loops -= 1;
        result
    }

    pub fn local_name(&self, local: flat::LocalId) -> String {
        let locals = self.functions.locals();
        locals.get(local).map_or_else(String::new, |l| l.name.clone())
    }

    fn tuple_assignment(
        &mut self,
        scope: InstId,
        targets: &'a [Option<ast::ComponentRef>],
        call: &'a ast::Call,
        span: Span,
    ) -> Option<StatementKind> {
        let targets: Vec<Option<Expr>> = targets.iter().map(|t| t.as_ref().map(|t| self.target(scope, t))).collect();
        for target in targets.iter().flatten().filter(|t| !t.is_error()) {
            self.check_assignable(target, target.span);
        }
        let (left, right) = self.tuple_sides(scope, targets, call, span)?;
        Some(StatementKind::Assign { target: left, value: right })
    }

    /// `(a, b) = f(x)` with both sides typed.
    pub fn tuple_sides(
        &mut self,
        scope: InstId,
        targets: Vec<Option<Expr>>,
        call: &'a ast::Call,
        span: Span,
    ) -> Option<(Expr, Expr)> {
        let right = self.call(scope, call, span);
        if right.is_error() || targets.iter().flatten().any(Expr::is_error) {
            return None;
        }
        let results = self.call_results(&right);
        let (left, right) = typing::tuple(self, targets, right, &results, span);
        (!left.is_error() && !right.is_error()).then_some((left, right))
    }

    /// Types of all results of a call expression.
    pub fn call_results(&mut self, call: &Expr) -> Vec<Type> {
        match &call.kind {
            ExprKind::Call { function, arguments } => {
                let arguments: Vec<Option<Expr>> = arguments.iter().cloned().map(Some).collect();
                self.result_types(*function, &arguments, call.span)
            }
            ExprKind::CallLocal { .. } => vec![call.ty.clone()],
            ExprKind::Builtin { function: flat::Builtin::Pure, arguments } if arguments.len() == 1 => {
                self.call_results(&arguments[0])
            }
            ExprKind::Builtin { function, arguments } => typing::result_types(*function, arguments, &call.ty),
            _ => vec![call.ty.clone()],
        }
    }

    fn call_statement(&mut self, scope: InstId, call: &'a ast::Call, span: Span) -> Option<StatementKind> {
        let expr = self.call(scope, call, span);
        if expr.is_error() {
            return None;
        }
        self.check_assertion_level(&expr);
        let effect = effect(expr);
        if matches!(effect, Effect::Terminate { .. }) && self.functions.current.is_some() {
            self.report(d::terminate_in_function(span));
        }
        Some(match effect {
            Effect::Assert { condition, message, level } => StatementKind::Assert { condition, message, level },
            Effect::Terminate { message } => StatementKind::Terminate { message },
            Effect::Reinit { state, value } => StatementKind::Reinit { state, value },
            Effect::Call(expr) => StatementKind::Call(expr),
        })
    }

    /// The level of an assertion does not vary (specification 8.3.7).
    pub fn check_assertion_level(&mut self, call: &Expr) {
        if let ExprKind::Builtin { function: flat::Builtin::Assert, arguments } = &call.kind
            && let Some(level) = arguments.get(2)
            && self.functions.current.is_none()
            && typing::variability(self, level) > flat::Variability::Parameter
        {
            self.report(d::assertion_level_varies(level.span));
        }
    }

    fn if_statement(
        &mut self,
        scope: InstId,
        branches: &'a [(ast::Expr, Vec<ast::Statement>)],
        otherwise: Option<&'a [ast::Statement]>,
        span: Span,
        out: &mut Vec<flat::Statement>,
    ) {
        let mut typed = Vec::new();
        for (condition, body) in branches {
            let condition = self.condition(scope, condition, "if");
            match self.settled(&condition) {
                Some(false) => continue,
                Some(true) => {
                    let body = self.statements(scope, body);
                    if typed.is_empty() {
                        out.extend(body);
                    } else {
                        let kind = StatementKind::If { branches: typed, otherwise: body };
                        out.push(flat::Statement { kind, span });
                    }
                    return;
                }
                None => typed.push((condition, self.statements(scope, body))),
            }
        }
        let otherwise = otherwise.map_or(Vec::new(), |o| self.statements(scope, o));
        if typed.is_empty() {
            out.extend(otherwise);
            return;
        }
        out.push(flat::Statement { kind: StatementKind::If { branches: typed, otherwise }, span });
    }

    fn for_statement(
        &mut self,
        scope: InstId,
        indices: &'a [ast::ForIndex],
        body: &'a [ast::Statement],
        span: Span,
        out: &mut Vec<flat::Statement>,
    ) {
        let Some((index, rest)) = indices.split_first() else {
            for statement in body {
                self.statement(scope, statement, out);
            }
            return;
        };
        let range = match &index.range {
            Some(range) => self.range_expression(scope, range),
            None => self.deduced_range(scope, index, &mut |visit| crate::deduce::walk_statements(body, visit)),
        };
        if range.is_error() {
            return;
        }
        if range.ty.rank() != 1 {
            self.report(d::range_not_vector(self.text(index.name.name), range.span));
            return;
        }
        let element = range.ty.element(1);
        if self.functions.current.is_none()
            && crate::deduce::indexes_components(body, index.name.name)
            && let Some(values) = self.structural_quietly(&range)
        {
            for value in values.elements() {
                self.context.iterators.push((index.name.name, Iterated::Value(value, element.clone())));
                self.in_loop(|front| front.for_statement(scope, rest, body, span, out));
                self.context.iterators.pop();
            }
            return;
        }
        let local = self.new_iterator(index, element.clone());
        self.context.iterators.push((index.name.name, Iterated::Local(local, element)));
        let mut inner = Vec::new();
        self.in_loop(|front| front.for_statement(scope, rest, body, span, &mut inner));
        self.context.iterators.pop();
        out.push(flat::Statement { kind: StatementKind::For { local, range, body: inner }, span });
    }

    /// A Boolean condition.
    pub fn condition(&mut self, scope: InstId, condition: &'a ast::Expr, construct: &str) -> Expr {
        let typed = self.expression(scope, condition);
        typing::convert(self, typed, &Type::BOOLEAN, typing::Place::Condition { construct })
    }

    /// A `when` condition: a Boolean, a vector of Booleans, or a clock.
    pub fn when_condition(&mut self, scope: InstId, condition: &'a ast::Expr) -> Expr {
        let typed = self.expression(scope, condition);
        if typed.ty.base == flat::BaseType::Clock || (typed.ty.base == flat::BaseType::Boolean && typed.ty.rank() == 1)
        {
            return typed;
        }
        typing::convert(self, typed, &Type::BOOLEAN, typing::Place::Condition { construct: "when" })
    }
}

/// A call for its effect, by kind.
pub enum Effect {
    Assert { condition: Expr, message: Expr, level: Option<Expr> },
    Terminate { message: Expr },
    Reinit { state: Expr, value: Expr },
    Call(Expr),
}

pub fn effect(expr: Expr) -> Effect {
    let ExprKind::Builtin { function, arguments } = &expr.kind else { return Effect::Call(expr) };
    match (function, arguments.as_slice()) {
        (flat::Builtin::Assert, [condition, message, level @ ..]) => {
            Effect::Assert { condition: condition.clone(), message: message.clone(), level: level.first().cloned() }
        }
        (flat::Builtin::Terminate, [message]) => Effect::Terminate { message: message.clone() },
        (flat::Builtin::Reinit, [state, value]) => Effect::Reinit { state: state.clone(), value: value.clone() },
        _ => Effect::Call(expr),
    }
}
