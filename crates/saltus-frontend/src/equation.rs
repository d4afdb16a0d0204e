//! Equations: loops unrolled, conditions that decide the structure resolved, everything typed (specification chapter 8).
//!
//! ```text
//! for i in 1:2 loop            x[1] = r[1].v;
//!   x[i] = r[i].v;       ⇒     x[2] = r[2].v;
//! end for;
//! ```
//!
//! `connect` and the equations of connection graphs are handled before, in `connection`; here they are passed over.

use std::collections::BTreeSet;
use std::sync::Arc;

use saltus_base::Span;
use saltus_eval::Value;
use saltus_flat::{self as flat, EquationKind, Expr, ExprKind, Origin, Type, Variability};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, CompKind, InstId};
use crate::reference::Iterated;
use crate::statement::{Effect, effect};

/// More equations than this do not fit into memory on ordinary machines.
const MOST_EQUATIONS: usize = 2_000_000;

/// What flattening collects.
#[derive(Default)]
pub struct Collected {
    pub equations: Vec<flat::Equation>,
    pub initial_equations: Vec<flat::Equation>,
    pub algorithms: Vec<flat::Algorithm>,
    pub initial_algorithms: Vec<flat::Algorithm>,
}

impl<'a> Front<'a> {
    /// The equations and algorithms of an instance, its bases and its components.
    pub fn collect_equations(&mut self, inst: InstId, out: &mut Collected) {
        self.collect_own(inst, out);
        for comp in self.tree[inst].members.components.clone() {
            if !self.is_instantiated(comp) {
                continue;
            }
            if let CompKind::Class(class) = self.comp_kind(comp) {
                for &element in &class.elements {
                    self.collect_equations(element, out);
                }
            }
        }
    }

    fn collect_own(&mut self, inst: InstId, out: &mut Collected) {
        for base in self.tree[inst].members.bases.clone() {
            self.collect_own(base, out);
        }
        let Some(ast::ClassBody::Long(body)) = self.tree[inst].definition.map(|c| &c.body) else { return };
        let component = self.component_path(inst);
        for section in &body.sections {
            match section {
                ast::Section::Equations { is_initial, equations, .. } => {
                    let list = if *is_initial { &mut out.initial_equations } else { &mut out.equations };
                    let mut taken = std::mem::take(list);
                    let first = taken.len();
                    self.context.in_initial_section = *is_initial;
                    self.equations(inst, equations, &component, &mut taken);
                    self.context.in_initial_section = false;
                    self.keep_template_equations(inst, &mut taken[first..]);
                    *(if *is_initial { &mut out.initial_equations } else { &mut out.equations }) = taken;
                }
                ast::Section::Algorithm { is_initial, keyword, statements } => {
                    self.refuse_in_template(inst);
                    self.context.in_initial_section = *is_initial;
                    self.context.in_algorithm = true;
                    let statements = self.statements(inst, statements);
                    self.context.in_initial_section = false;
                    self.context.in_algorithm = false;
                    if statements.is_empty() {
                        continue;
                    }
                    let algorithm = flat::Algorithm { statements, component: component.clone(), span: *keyword };
                    (if *is_initial { &mut out.initial_algorithms } else { &mut out.algorithms }).push(algorithm);
                }
                ast::Section::Elements { .. } => {}
            }
        }
    }

    pub fn component_path(&self, inst: InstId) -> Arc<str> {
        self.tree[inst].path.clone().unwrap_or_else(|| "".into())
    }

    fn equations(
        &mut self,
        scope: InstId,
        equations: &'a [ast::Equation],
        component: &Arc<str>,
        out: &mut Vec<flat::Equation>,
    ) {
        for equation in equations {
            self.equation(scope, equation, component, out);
        }
    }

    /// The equations of an `if` or `when`.
    fn clause(&mut self, scope: InstId, body: &'a [ast::Equation], component: &Arc<str>) -> Vec<flat::Equation> {
        let mut list = Vec::new();
        self.context.n_clauses += 1;
        self.equations(scope, body, component, &mut list);
        self.context.n_clauses -= 1;
        list
    }

    fn equation(
        &mut self,
        scope: InstId,
        equation: &'a ast::Equation,
        component: &Arc<str>,
        out: &mut Vec<flat::Equation>,
    ) {
        let span = equation.span;
        if out.len() > MOST_EQUATIONS {
            self.give_up(d::too_many_equations(MOST_EQUATIONS, span));
        }
        if self.budget.is_too_large {
            return;
        }
        let kind = match &equation.kind {
            ast::EquationKind::Equality { left, right } => self.equality(scope, left, right, span),
            ast::EquationKind::Connect { .. } | ast::EquationKind::Error => None,
            ast::EquationKind::If { branches, otherwise } => {
                return self.if_equation(scope, branches, otherwise.as_deref(), component, span, out);
            }
            ast::EquationKind::For { indices, body } => {
                if let Some(mut kept) = self.kept_loop(scope, indices, body, component) {
                    out.append(&mut kept);
                    return;
                }
                return self.for_equation(scope, indices, body, &mut |front, body| {
                    front.equations(scope, body, component, out);
                });
            }
            ast::EquationKind::When { branches } => self.when_equation(scope, branches, component),
            ast::EquationKind::Call(call) => self.call_equation(scope, call, span),
        };
        if let Some(kind) = kind {
            out.push(flat::Equation { kind, origin: Origin::Declared, component: component.clone(), span });
        }
    }

    pub fn equality(
        &mut self,
        scope: InstId,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Option<EquationKind> {
        if let (ast::ExprKind::Parenthesised(items), ast::ExprKind::Call(call)) = (&left.kind, &right.kind)
            && items.len() != 1
        {
            for item in items.iter().flatten().filter(|e| !matches!(e.kind, ast::ExprKind::Ref(_))) {
                self.report(d::tuple_target(item.span));
            }
            let targets = items.iter().map(|e| e.as_ref().map(|e| self.expression(scope, e))).collect();
            let (left, right) = self.tuple_sides(scope, targets, call, span)?;
            return Some(EquationKind::Equality { left, right });
        }
        let left = self.expression(scope, left);
        let right = self.expression(scope, right);
        if left.is_error() || right.is_error() {
            return None;
        }
        let (left, right) = typing::equation(self, left, right, span);
        (!left.is_error() && !right.is_error()).then_some(EquationKind::Equality { left, right })
    }

    /// Runs `body` for each value of the indices.
    pub fn for_equation(
        &mut self,
        scope: InstId,
        indices: &'a [ast::ForIndex],
        body: &'a [ast::Equation],
        run: &mut dyn FnMut(&mut Self, &'a [ast::Equation]),
    ) {
        let Some((index, rest)) = indices.split_first() else {
            run(self, body);
            return;
        };
        let range = match &index.range {
            Some(range) => self.range_expression(scope, range),
            None => self.deduced_range(scope, index, &mut |visit| crate::deduce::walk_equations(body, visit)),
        };
        if range.is_error() {
            return;
        }
        let length = range.ty.dims.first().and_then(|d| d.known()).unwrap_or(0);
        if length > MOST_EQUATIONS as u64 {
            self.give_up(d::too_many_equations(MOST_EQUATIONS, range.span));
            return;
        }
        let element = range.ty.element(1);
        let values = match self.evaluate_structural(&range) {
            Ok(value) if range.ty.rank() == 1 => value.elements(),
            Ok(_) => {
                self.report(d::range_not_vector(self.text(index.name.name), range.span));
                return;
            }
            Err(why) => {
                let span = range.span;
                let name = self.text(index.name.name);
                self.report_eval(&range, why, |w| d::range_not_constant(name, w, span));
                return;
            }
        };
        for value in values {
            if self.budget.is_too_large {
                return;
            }
            self.context.iterators.push((index.name.name, Iterated::Value(value, element.clone())));
            self.for_equation(scope, rest, body, run);
            self.context.iterators.pop();
        }
    }

    /// A condition of parameters whose branches have equally many equations stays; otherwise it decides the structure.
    fn if_equation(
        &mut self,
        scope: InstId,
        branches: &'a [(ast::Expr, Vec<ast::Equation>)],
        otherwise: Option<&'a [ast::Equation]>,
        component: &Arc<str>,
        span: Span,
        out: &mut Vec<flat::Equation>,
    ) {
        let mut typed: Vec<(Expr, &'a [ast::Equation])> = Vec::new();
        let mut last: &'a [ast::Equation] = otherwise.unwrap_or(&[]);
        let mut last_is_certain = otherwise.is_some();
        for (condition, body) in branches {
            let condition = self.condition(scope, condition, "if");
            match self.settled(&condition) {
                Some(false) => continue,
                Some(true) => {
                    last = body;
                    last_is_certain = true;
                    break;
                }
                None => typed.push((condition, body)),
            }
        }
        if typed.is_empty() {
            self.equations(scope, last, component, out);
            return;
        }
        let is_parameter =
            typed.iter().all(|(c, _)| !c.is_error() && typing::variability(self, c) <= Variability::Parameter);
        let mark = self.messages.mark();
        let n_errors = self.messages.diagnostics.n_errors();
        let mut flat_branches = Vec::new();
        for (condition, body) in &typed {
            flat_branches.push((condition.clone(), self.clause(scope, body, component)));
        }
        let rest = self.clause(scope, last, component);
        let bodies = flat_branches.iter().map(|(_, list)| list).chain([&rest]);
        let when = bodies.flatten().find(|e| matches!(e.kind, EquationKind::When { .. })).map(|e| e.span);
        if let Some(when) = when
            && let Some(parameter) = typed.iter().find_map(|(c, _)| self.not_evaluable(c))
        {
            self.report_always(d::when_not_evaluable(
                &self.comp_name(parameter),
                when,
                self.tree[parameter].declared.span,
            ));
        }
        if is_parameter {
            let counts: Vec<u64> = flat_branches.iter().map(|(_, l)| count(l)).chain([count(&rest)]).collect();
            let has_errors = self.messages.diagnostics.n_errors() > n_errors;
            let agree = counts.windows(2).all(|w| w[0] == w[1]);
            // `m * der(T)` in one branch only: whether T is a state is a matter of structure.
            let differentiated: Vec<_> =
                flat_branches.iter().map(|(_, l)| derivatives(l)).chain([derivatives(&rest)]).collect();
            let agree = agree && differentiated.windows(2).all(|w| w[0] == w[1]);
            // A `when` is there or not: a condition around it is evaluated (specification 8.3.5).
            let agree = agree && when.is_none();
            if has_errors || !agree || !(last_is_certain || counts[0] == 0) {
                let picked = self.pick_branch(&typed);
                if let Some(picked) = picked {
                    self.messages.take_back(mark);
                    let body = picked.map_or(last, |k| typed[k].1);
                    self.equations(scope, body, component, out);
                    return;
                }
                let is_counted = when.is_none() && counts.windows(2).any(|w| w[0] != w[1]);
                if is_counted && let Some(parameter) = typed.iter().find_map(|(c, _)| self.forbidden_parameter(c)) {
                    let declared = self.tree[parameter].declared.span;
                    self.report_always(d::count_not_evaluable(&self.comp_name(parameter), span, declared));
                }
            }
        }
        let kind = EquationKind::If { branches: flat_branches, otherwise: rest };
        out.push(flat::Equation { kind, origin: Origin::Declared, component: component.clone(), span });
    }

    /// A parameter in it that is declared with `Evaluate = false`, which forbids to fix its value (specification 4.5).
    fn not_evaluable(&mut self, condition: &Expr) -> Option<CompId> {
        let mut variables = Vec::new();
        condition.walk(&mut |e| {
            if let ExprKind::Var(var) = e.kind {
                variables.push(self.tree.vars[var]);
            }
        });
        variables.into_iter().find(|&comp| self.evaluate_annotation(comp) == Some(false))
    }

    /// The branch that structural conditions choose: `Some(None)` is `else`, `None` means they have no value.
    pub fn pick_branch<T>(&mut self, branches: &[(Expr, T)]) -> Option<Option<usize>> {
        for (k, (condition, _)) in branches.iter().enumerate() {
            match self.structural_quietly(condition)? {
                Value::Boolean(true) => return Some(Some(k)),
                Value::Boolean(false) => {}
                _ => return None,
            }
        }
        Some(None)
    }

    fn when_equation(
        &mut self,
        scope: InstId,
        branches: &'a [(ast::Expr, Vec<ast::Equation>)],
        component: &Arc<str>,
    ) -> Option<EquationKind> {
        let branches: Vec<_> = branches
            .iter()
            .map(|(condition, body)| {
                let condition = self.when_condition(scope, condition);
                let mut list = self.clause(scope, body, component);
                self.settle_targets(&mut list);
                (condition, list)
            })
            .collect();
        if branches.len() > 1
            && let Some((clock, _)) = branches.iter().find(|(c, _)| c.ty.base == flat::BaseType::Clock)
        {
            self.report(d::clocked_elsewhen(clock.span));
        }
        Some(EquationKind::When { branches })
    }

    /// Which element `y[k] = …` in a when-clause sets must be known: parameters in the subscript become structural.
    fn settle_targets(&mut self, list: &mut [flat::Equation]) {
        for equation in list {
            match &mut equation.kind {
                EquationKind::Equality { left, .. } => self.settle_target(left),
                EquationKind::If { branches, otherwise } => {
                    branches.iter_mut().for_each(|(_, body)| self.settle_targets(body));
                    self.settle_targets(otherwise);
                }
                _ => {}
            }
        }
    }

    fn settle_target(&mut self, target: &mut Expr) {
        match &mut target.kind {
            ExprKind::Tuple(items) => items.iter_mut().flatten().for_each(|item| self.settle_target(item)),
            ExprKind::Field { base, .. } => self.settle_target(base),
            ExprKind::Index { base, subscripts } => {
                self.settle_target(base);
                for subscript in subscripts {
                    if let flat::Subscript::Index(index) = subscript
                        && !matches!(index.kind, ExprKind::Integer(_))
                        && let Some(Value::Integer(k)) = self.structural_quietly(index)
                    {
                        *index = Expr::integer(k, index.span);
                    }
                }
            }
            _ => {}
        }
    }

    fn call_equation(&mut self, scope: InstId, call: &'a ast::Call, span: Span) -> Option<EquationKind> {
        if self.is_graph_operator(call) {
            return None;
        }
        let expr = self.call(scope, call, span);
        if expr.is_error() {
            return None;
        }
        self.check_assertion_level(&expr);
        Some(match effect(expr) {
            Effect::Assert { condition, message, level } => EquationKind::Assert { condition, message, level },
            Effect::Terminate { message } => EquationKind::Terminate { message },
            Effect::Reinit { state, value } => EquationKind::Reinit { state, value },
            Effect::Call(expr) => EquationKind::Call(expr),
        })
    }
}

/// The variables that equations differentiate.
fn derivatives(equations: &[flat::Equation]) -> BTreeSet<flat::VarId> {
    fn collect(e: &Expr, found: &mut BTreeSet<flat::VarId>) {
        e.walk(&mut |e| {
            if let ExprKind::Builtin { function: flat::Builtin::Der, arguments } = &e.kind {
                arguments.iter().for_each(|a| {
                    a.walk(&mut |e| {
                        if let ExprKind::Var(var) = e.kind {
                            found.insert(var);
                        }
                    })
                });
            }
        });
    }
    let mut found = BTreeSet::new();
    for equation in equations {
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                collect(left, &mut found);
                collect(right, &mut found);
            }
            EquationKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| found.extend(derivatives(body)));
                found.extend(derivatives(otherwise));
            }
            _ => {}
        }
    }
    found
}

/// Scalar equations, as far as sizes are known.
pub fn count(equations: &[flat::Equation]) -> u64 {
    equations
        .iter()
        .map(|e| match &e.kind {
            EquationKind::Equality { left, .. } => match &left.kind {
                ExprKind::Tuple(items) => items.iter().flatten().map(|e| size(&e.ty)).sum(),
                _ => size(&left.ty),
            },
            EquationKind::If { branches, .. } => branches.first().map_or(0, |(_, l)| count(l)),
            EquationKind::When { branches } => branches.first().map_or(0, |(_, l)| count(l)),
            _ => 0,
        })
        .sum()
}

fn size(ty: &Type) -> u64 {
    ty.n_elements().unwrap_or(0)
}
