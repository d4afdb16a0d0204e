//! Algorithm sections as functions of what their variables hold before them.
//!
//! ```text
//! algorithm                              function of (n, y)  ⇒  (n, y, c)
//!   when x > 1 then                        c := x > 1;
//!     n := pre(n) + 1;          ⇒          if c and not $1 then n := $2 + 1; end if;       $1: was c true?  $2: pre(n)
//!   end when;                              y := 2*n;
//!   y := 2*n;
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_base::{IdVec, Index as _, Span};
use saltus_flat::assigned::Assigned;
use saltus_flat::{
    self as flat, BaseType, BinaryOp, Expr, ExprKind, Function, FunctionId, Local, LocalId, Purity, Statement,
    StatementKind, Type, UnaryOp, VarId, Variability,
};
use saltus_procedure::{Expression, lower_expression};

use crate::plan::{Algorithm, Node, Planner};
use crate::rewrite::{Reason, Rewriter, Special};

pub(crate) fn plan(planner: &mut Planner, algorithm: &flat::Algorithm, is_initial: bool, to: &mut Vec<Node>) {
    let leaf = planner.leaf(algorithm.span, &algorithm.component, None);
    match make(planner, algorithm, is_initial) {
        Ok((made, is_literal)) => {
            planner.leaves[leaf].is_literal = is_literal;
            to.push(Node::Algorithm(Algorithm { leaf, ..made }));
        }
        Err(reason) => planner.leaves[leaf].reason = Some(reason),
    }
}

/// Also: does it have relations that are always taken literally?
fn make(planner: &mut Planner, algorithm: &flat::Algorithm, is_initial: bool) -> Result<(Algorithm, bool), Reason> {
    let model = planner.model;
    let assigned = variables(&algorithm.statements);
    let mut set = Assigned::default();
    set.add_statements(model, &algorithm.statements);
    let elements = assigned.iter().map(|&id| set.elements_of(id).cloned()).collect();
    let discrete = variables(&when_bodies(&algorithm.statements));
    let mut locals: IdVec<LocalId, Local> = model.iterators.clone();
    let declare = |locals: &mut IdVec<LocalId, Local>, name: &str, ty: &Type| {
        let sizes = vec![None; ty.rank()];
        locals.push(Local { name: name.to_owned(), ty: ty.clone(), sizes, default: None, span: algorithm.span })
    };
    let mut map = BTreeMap::new();
    for id in &assigned {
        let variable = model.variables.get(*id).ok_or("an unknown variable")?;
        map.insert(*id, declare(&mut locals, &variable.name, &variable.ty));
    }
    let inputs: Vec<LocalId> = assigned.iter().map(|id| map[id]).collect();
    let (body, conditions, has_inner_relation, before) = planner.with_rewriter(|rewriter| {
        let before = assigned
            .iter()
            .map(|id| value_before(rewriter, *id, discrete.contains(id)))
            .collect::<Result<Vec<_>, _>>()?;
        rewriter.locals = map;
        let mut writer = Writer { rewriter, locals: &mut locals, conditions: Vec::new(), is_initial };
        let body = writer.statements(&algorithm.statements)?;
        let conditions = std::mem::take(&mut writer.conditions);
        Ok::<_, Reason>((body, conditions, rewriter.has_inner_relation, before))
    })?;
    let outputs = inputs.iter().copied().chain(conditions.iter().map(|(_, local)| *local)).collect();
    let function = Function {
        name: model.name.clone(),
        locals,
        inputs,
        outputs,
        body,
        external: None,
        purity: Purity::Pure,
        is_record_constructor: false,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        inline: false,
        late_inline: false,
        inline_after_index_reduction: false,
        smooth_order: None,
        generate_events: false,
        span: algorithm.span,
    };
    let id = FunctionId::from_usize(model.functions.len() + planner.procedures.len());
    planner.procedures.push((id, saltus_procedure::lower(&function)));
    let conditions = conditions.into_iter().map(|(memory, _)| memory).collect();
    let made = Algorithm { leaf: 0, function: id, assigned, elements, before, conditions, span: algorithm.span };
    Ok((made, has_inner_relation))
}

/// Discrete variables begin with their `pre` value, others with their start value, also arrays of which only some elements are
/// assigned (specification 11.1.2).
fn value_before(rewriter: &mut Rewriter, id: VarId, is_discrete: bool) -> Result<Arc<Expression>, Reason> {
    let variable = &rewriter.model.variables[id];
    let whole = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
    let is_continuous =
        variable.variability == Variability::Continuous && variable.ty.base == BaseType::Real && !is_discrete;
    match &variable.attributes.start {
        Some(start) if is_continuous && start.ty.rank() == variable.ty.rank() => rewriter.code(start),
        _ if is_continuous || variable.variability <= Variability::Parameter => {
            // One start value may hold for all elements.
            let start = variable.attributes.start.as_ref().filter(|s| is_continuous && s.ty.is_scalar());
            let value = start.cloned().unwrap_or_else(|| Expr::real(0.0, variable.span));
            let dims = variable.ty.dims.iter().map(|d| Expr::integer(d.known().unwrap_or(0) as i64, variable.span));
            let filled = std::iter::once(value.clone()).chain(dims).collect();
            let expr = match variable.ty.is_scalar() {
                true => value,
                false => Expr::builtin(flat::Builtin::Fill, filled, variable.ty.clone(), variable.span),
            };
            rewriter.code(&expr)
        }
        _ => Ok(Arc::new(lower_expression(&rewriter.rewrite_pre(&whole)?))),
    }
}

/// Variables that statements assign, in order of first appearance.
fn variables(statements: &[Statement]) -> Vec<VarId> {
    let mut found = Vec::new();
    walk(statements, &mut |expr| target(expr, &mut found));
    found
}

fn target(expr: &Expr, found: &mut Vec<VarId>) {
    match &expr.kind {
        ExprKind::Var(id) if !found.contains(id) => found.push(*id),
        ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => target(base, found),
        ExprKind::Tuple(items) => items.iter().flatten().for_each(|e| target(e, found)),
        ExprKind::Record(items) | ExprKind::Array(items) => items.iter().for_each(|e| target(e, found)),
        _ => {}
    }
}

/// All statements inside of `when`: what they assign is discrete, whatever its declaration says.
fn when_bodies(statements: &[Statement]) -> Vec<Statement> {
    let whens = statements.iter().filter_map(|s| match &s.kind {
        StatementKind::When { branches } => Some(branches),
        _ => None,
    });
    whens.flatten().flat_map(|(_, body)| body.iter().cloned()).collect()
}

/// Calls `visit` on every target of an assignment.
fn walk(statements: &[Statement], visit: &mut dyn FnMut(&Expr)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { target, .. } => visit(target),
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| walk(body, visit));
                walk(otherwise, visit);
            }
            StatementKind::When { branches } => branches.iter().for_each(|(_, body)| walk(body, visit)),
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => walk(body, visit),
            _ => {}
        }
    }
}

struct Writer<'r, 'm> {
    rewriter: &'r mut Rewriter<'m>,
    locals: &'r mut IdVec<LocalId, Local>,
    /// Where each condition is kept, and the local that has its value.
    conditions: Vec<(usize, LocalId)>,
    is_initial: bool,
}

impl Writer<'_, '_> {
    fn statements(&mut self, statements: &[Statement]) -> Result<Vec<Statement>, Reason> {
        let mut all = Vec::new();
        for statement in statements {
            self.statement(statement, &mut all)?;
        }
        Ok(all)
    }

    fn branches(&mut self, branches: &[(Expr, Vec<Statement>)]) -> Result<Vec<(Expr, Vec<Statement>)>, Reason> {
        branches.iter().map(|(c, body)| Ok((self.rewriter.rewrite(c)?, self.statements(body)?))).collect()
    }

    fn statement(&mut self, statement: &Statement, all: &mut Vec<Statement>) -> Result<(), Reason> {
        let kind = match &statement.kind {
            StatementKind::Assign { target, value } => {
                StatementKind::Assign { target: self.rewriter.rewrite(target)?, value: self.rewriter.rewrite(value)? }
            }
            StatementKind::If { branches, otherwise } => {
                StatementKind::If { branches: self.branches(branches)?, otherwise: self.statements(otherwise)? }
            }
            StatementKind::For { local, range, body } => {
                let range = self.rewriter.rewrite(range)?;
                StatementKind::For { local: *local, range, body: self.looped(body)? }
            }
            StatementKind::While { condition, body } => {
                let was = std::mem::replace(&mut self.rewriter.in_loop, true);
                let condition = self.rewriter.rewrite(condition);
                self.rewriter.in_loop = was;
                StatementKind::While { condition: condition?, body: self.looped(body)? }
            }
            StatementKind::When { branches } => {
                let branches = self.when(branches, all)?;
                StatementKind::If { branches, otherwise: Vec::new() }
            }
            StatementKind::Break | StatementKind::Return => statement.kind.clone(),
            StatementKind::Assert { .. } | StatementKind::Terminate { .. } => return Ok(()),
            StatementKind::Reinit { .. } => return Err("`reinit` in an algorithm".to_owned()),
            StatementKind::Call(_) => return Err("a call for its effect".to_owned()),
        };
        all.push(Statement { kind, span: statement.span });
        Ok(())
    }

    fn looped(&mut self, body: &[Statement]) -> Result<Vec<Statement>, Reason> {
        let was = std::mem::replace(&mut self.rewriter.in_loop, true);
        let body = self.statements(body);
        self.rewriter.in_loop = was;
        body
    }

    /// Each condition gets a local; a branch is active where one of its conditions has become true.
    fn when(
        &mut self,
        branches: &[(Expr, Vec<Statement>)],
        all: &mut Vec<Statement>,
    ) -> Result<Vec<(Expr, Vec<Statement>)>, Reason> {
        if self.rewriter.in_loop {
            return Err("a `when` in a loop".to_owned());
        }
        let mut made = Vec::new();
        for (condition, body) in branches {
            if condition.ty.base == BaseType::Clock {
                return Err("it belongs to a clock".to_owned());
            }
            let parts = match &condition.kind {
                ExprKind::Array(items) => items.as_slice(),
                _ if condition.ty.is_scalar() => std::slice::from_ref(condition),
                _ => return Err("a vector of conditions".to_owned()),
            };
            let mut risen: Option<Expr> = None;
            for part in parts {
                let one = self.risen(part, all)?;
                risen = Some(match risen {
                    None => one,
                    Some(other) => join(BinaryOp::Or, other, one),
                });
            }
            let risen = risen.unwrap_or(Expr::boolean(false, condition.span));
            made.push((risen, self.statements(body)?));
        }
        Ok(made)
    }

    fn risen(&mut self, condition: &Expr, all: &mut Vec<Statement>) -> Result<Expr, Reason> {
        let span = condition.span;
        let now = self.rewriter.rewrite(condition)?;
        let initial = self.rewriter.special(Special::Initial, Type::BOOLEAN, span);
        let is_initial = now.kind == initial.kind;
        let memory = self.rewriter.condition();
        let name = format!("condition {memory}");
        let declared = Local { name, ty: Type::BOOLEAN, sizes: Vec::new(), default: None, span };
        let local = self.locals.push(declared);
        self.conditions.push((memory, local));
        let local = Expr::new(ExprKind::Local(local), Type::BOOLEAN, span);
        all.push(Statement { kind: StatementKind::Assign { target: local.clone(), value: now }, span });
        if is_initial || self.is_initial {
            return Ok(local);
        }
        let was = self.rewriter.special(Special::WasTrue(memory), Type::BOOLEAN, span);
        let not = Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(was)), Type::BOOLEAN, span);
        Ok(join(BinaryOp::And, local, not))
    }
}

fn join(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span: Span = left.span;
    Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::BOOLEAN, span)
}
