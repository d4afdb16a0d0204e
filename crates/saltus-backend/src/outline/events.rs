//! Events that a part does not make when it is called.
//!
//! A relation in a loop whose number of rounds is not known has no crossing function; the specification forbids it there, or takes it
//! literally (sections 11.2.2 and 11.2.3). It is taken literally, which is said. A discrete variable that depends on it changes at an event
//! all the same: that of its own value.
//!
//! ```text
//! while noEvent(n*n < x) loop              t := $part1(n, x);
//!   n := n + 1;                    ⇒       n := integer(t + 0.5);
//! end while;
//! ```

use std::collections::BTreeSet;

use saltus_base::Diagnostics;
use saltus_flat::build::{add, binary};
use saltus_flat::uses::for_each_expr_of_statements;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, FlatModel, ModelNames, Statement, StatementKind, Type, VarId,
    Variability, print_expr,
};

use crate::diagnostics;
use crate::lower::assigned_variables;

/// The discrete variables that change with something continuous. Says which events the statement does not make for the others.
pub fn watched_variables(
    model: &FlatModel,
    statement: &Statement,
    is_discrete: &dyn Fn(VarId) -> bool,
    lifted: &[*const Expr],
    diagnostics: &mut Diagnostics,
) -> BTreeSet<VarId> {
    let search = Search { model, is_discrete, lifted };
    let statements = std::slice::from_ref(statement);
    let mut found = None;
    for_each_expr_of_statements(statements, &mut |e| found = found.or_else(|| search.event(e)));
    let assigned = assigned_variables(model, statements);
    let is_real = |id: &VarId| model.variables.get(*id).is_some_and(|v| v.ty.base == BaseType::Real);
    if let Some(part) = found.filter(|_| assigned.keys().any(is_real)) {
        diagnostics.push(diagnostics::no_event(&text(model, part), part.span));
    }
    if found.is_none() && search.decision(statements).is_none() {
        return BTreeSet::new();
    }
    let is_watched = |id: &VarId| model.variables.get(*id).is_some_and(|v| is_counted(v.ty.base)) && !is_discrete(*id);
    assigned.into_keys().filter(is_watched).collect()
}

fn is_counted(base: BaseType) -> bool {
    matches!(base, BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_))
}

/// A scalar value as an expression that makes an event when it changes.
pub fn with_event(model: &FlatModel, value: &Expr) -> Expr {
    let span = value.span;
    let real = |x: f64| Expr::real(x, span);
    let rounded = |number: Expr| {
        let between = add(number.to_real(), real(0.5));
        Expr::builtin(Builtin::Integer, vec![between], Type::INTEGER, span)
    };
    match value.ty.base {
        BaseType::Boolean => {
            let (condition, then, otherwise) = (Box::new(value.clone()), Box::new(real(1.0)), Box::new(real(0.0)));
            let number = Expr::new(ExprKind::If { condition, then, otherwise }, Type::REAL, span);
            binary(BinaryOp::Greater, number, real(0.5))
        }
        BaseType::Enumeration(id) => {
            let n = model.enumerations.get(id).map_or(0, |e| e.literals.len());
            let number = rounded(Expr::new(ExprKind::Cast(Box::new(value.clone())), Type::INTEGER, span));
            let literal = |k: usize| Expr::new(ExprKind::EnumLiteral(id, k as u32), value.ty.clone(), span);
            (1..n).rev().fold(literal(n), |rest, k| {
                let condition = binary(BinaryOp::Equal, number.clone(), Expr::integer(k as i64, span));
                let (condition, then, otherwise) = (Box::new(condition), Box::new(literal(k)), Box::new(rest));
                Expr::new(ExprKind::If { condition, then, otherwise }, value.ty.clone(), span)
            })
        }
        _ => rounded(value.clone()),
    }
}

pub fn warn_of_expression(
    model: &FlatModel,
    e: &Expr,
    is_discrete: &dyn Fn(VarId) -> bool,
    lifted: &[*const Expr],
    diagnostics: &mut Diagnostics,
) {
    if let Some(part) = (Search { model, is_discrete, lifted }).event(e) {
        diagnostics.push(diagnostics::no_event(&text(model, part), part.span));
    }
}

fn text(model: &FlatModel, e: &Expr) -> String {
    print_expr(&ModelNames::new(model), e)
}

pub struct Search<'m> {
    pub model: &'m FlatModel,
    pub is_discrete: &'m dyn Fn(VarId) -> bool,
    /// Expressions that the model evaluates, with their events.
    pub lifted: &'m [*const Expr],
}

impl Search<'_> {
    /// The first part that would make an event.
    fn event<'e>(&self, e: &'e Expr) -> Option<&'e Expr> {
        if matches!(e.kind, ExprKind::Builtin { function: Builtin::NoEvent | Builtin::Smooth | Builtin::Pre, .. })
            || self.is_lifted(e)
        {
            return None;
        }
        if self.makes_event(e) {
            return Some(e);
        }
        let mut found = None;
        e.for_each_child(&mut |child| found = found.or_else(|| self.event(child)));
        found
    }

    fn is_lifted(&self, e: &Expr) -> bool {
        self.lifted.iter().any(|&lifted| std::ptr::eq(lifted, e))
    }

    /// Does the expression itself, whatever its parts do?
    pub fn makes_event(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Binary(op, left, right) => {
                use BinaryOp::{Greater, GreaterEqual, Less, LessEqual};
                matches!(op, Less | LessEqual | Greater | GreaterEqual)
                    && [left, right].iter().any(|side| self.is_continuous(side))
            }
            ExprKind::Builtin { function, arguments } => {
                use Builtin::{Ceil, Div, Floor, Integer, Mod, Rem};
                matches!(function, Ceil | Div | Floor | Integer | Mod | Rem)
                    && arguments.iter().any(|a| self.is_continuous(a))
            }
            ExprKind::Call { function, arguments } => {
                self.model.functions.get(*function).is_some_and(|f| f.generate_events)
                    && arguments.iter().any(|a| self.is_continuous(a))
            }
            _ => false,
        }
    }

    /// A decision that depends on something continuous.
    fn decision<'e>(&self, statements: &'e [Statement]) -> Option<&'e Expr> {
        let of_branch = |(condition, body): &'e (Expr, Vec<Statement>)| {
            Some(condition).filter(|c| self.is_continuous(c)).or_else(|| self.decision(body))
        };
        statements.iter().find_map(|statement| match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter().find_map(of_branch).or_else(|| self.decision(otherwise))
            }
            StatementKind::For { range: head, body, .. } | StatementKind::While { condition: head, body } => {
                Some(head).filter(|c| self.is_continuous(c)).or_else(|| self.decision(body))
            }
            _ => None,
        })
    }

    fn is_continuous(&self, e: &Expr) -> bool {
        match &e.kind {
            _ if self.is_lifted(e) => false,
            ExprKind::Time => true,
            ExprKind::Var(id) => self.model.variables.get(*id).is_some_and(|v| {
                v.variability == Variability::Continuous && v.ty.base == BaseType::Real && !(self.is_discrete)(*id)
            }),
            ExprKind::Builtin { function: Builtin::Pre | Builtin::Edge | Builtin::Change, .. } => false,
            _ => {
                let mut found = false;
                e.for_each_child(&mut |child| found |= self.is_continuous(child));
                found
            }
        }
    }
}
