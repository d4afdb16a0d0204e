//! Events that a part does not make when it is called.
//!
//! A relation in a loop whose number of rounds is not known has no crossing function; the specification forbids it there, or takes it
//! literally (sections 11.2.2 and 11.2.3). It is taken literally, which is said; and a discrete variable that depends on it
//! keeps its value until the next event, which is said too.

use saltus_base::Diagnostics;
use saltus_flat::uses::for_each_expr_of_statements;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, FlatModel, ModelNames, Statement, StatementKind, VarId, Variability,
    print_expr,
};

use crate::diagnostics;
use crate::lower::assigned_variables;

pub fn warn_of_statement(
    model: &FlatModel,
    statement: &Statement,
    is_discrete: &dyn Fn(VarId) -> bool,
    lifted: &[*const Expr],
    diagnostics: &mut Diagnostics,
) {
    let search = Search { model, is_discrete, lifted };
    let statements = std::slice::from_ref(statement);
    let mut found = None;
    for_each_expr_of_statements(statements, &mut |e| found = found.or_else(|| search.event(e)));
    let holds = |id: &VarId| model.variables.get(*id).filter(|v| v.ty.base != BaseType::Real && !is_discrete(*id));
    let assigned = assigned_variables(model, statements);
    let held = assigned.keys().find_map(holds).map(|v| v.name.as_str());
    if let Some(part) = found {
        diagnostics.push(diagnostics::no_event(&text(model, part), held, part.span));
    } else if let (Some(name), Some(decision)) = (held, search.decision(statements)) {
        diagnostics.push(diagnostics::held_between_events(name, &text(model, decision), decision.span));
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
        diagnostics.push(diagnostics::no_event(&text(model, part), None, part.span));
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
