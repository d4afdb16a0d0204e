//! Small pieces of flat expressions, and ways to walk and change all of a model's.

use saltus_base::Span;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Equation, EquationKind, Expr, ExprKind, FlatModel, Statement, StatementKind, Type,
    UnaryOp, VarId,
};

/// Calls `act` on an expression and all its parts, inside out.
pub fn rewrite(e: &mut Expr, act: &mut dyn FnMut(&mut Expr)) {
    e.for_each_child_mut(&mut |child| rewrite(child, act));
    act(e);
}

/// Calls `visit` on each whole expression of equations and algorithms, initial ones included, and of bindings.
pub fn for_each_expression(model: &mut FlatModel, visit: &mut dyn FnMut(&mut Expr)) {
    for (_, variable) in model.variables.iter_mut() {
        variable.binding.iter_mut().for_each(&mut *visit);
    }
    for equation in model.equations.iter_mut().chain(&mut model.initial_equations) {
        expressions_of_equation(equation, visit);
    }
    for algorithm in model.algorithms.iter_mut().chain(&mut model.initial_algorithms) {
        algorithm.statements.iter_mut().for_each(|s| expressions_of_statement(s, visit));
    }
}

pub fn expressions_of_equation(equation: &mut Equation, visit: &mut dyn FnMut(&mut Expr)) {
    match &mut equation.kind {
        EquationKind::Equality { left, right } => [left, right].into_iter().for_each(visit),
        EquationKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit(condition);
                body.iter_mut().for_each(|e| expressions_of_equation(e, visit));
            }
            otherwise.iter_mut().for_each(|e| expressions_of_equation(e, visit));
        }
        EquationKind::When { branches } => {
            for (condition, body) in branches {
                visit(condition);
                body.iter_mut().for_each(|e| expressions_of_equation(e, visit));
            }
        }
        EquationKind::Assert { condition, message, level } => {
            [Some(condition), Some(message), level.as_mut()].into_iter().flatten().for_each(visit);
        }
        EquationKind::Terminate { message } => visit(message),
        EquationKind::Reinit { state, value } => [state, value].into_iter().for_each(visit),
        EquationKind::Call(call) => visit(call),
    }
}

pub fn expressions_of_statement(statement: &mut Statement, visit: &mut dyn FnMut(&mut Expr)) {
    let all = |body: &mut Vec<Statement>, visit: &mut dyn FnMut(&mut Expr)| {
        body.iter_mut().for_each(|s| expressions_of_statement(s, visit));
    };
    match &mut statement.kind {
        StatementKind::Assign { target, value } => [target, value].into_iter().for_each(visit),
        StatementKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit(condition);
                all(body, visit);
            }
            all(otherwise, visit);
        }
        StatementKind::When { branches } => {
            for (condition, body) in branches {
                visit(condition);
                all(body, visit);
            }
        }
        StatementKind::For { range, body, .. } => {
            visit(range);
            all(body, visit);
        }
        StatementKind::While { condition, body } => {
            visit(condition);
            all(body, visit);
        }
        StatementKind::Assert { condition, message, level } => {
            [Some(condition), Some(message), level.as_mut()].into_iter().flatten().for_each(visit);
        }
        StatementKind::Terminate { message } => visit(message),
        StatementKind::Reinit { state, value } => [state, value].into_iter().for_each(visit),
        StatementKind::Call(call) => visit(call),
        StatementKind::Break | StatementKind::Return => {}
    }
}

pub fn var(model: &FlatModel, id: VarId, span: Span) -> Expr {
    Expr::new(ExprKind::Var(id), model.variables[id].ty.clone(), span)
}

pub fn previous(e: Expr) -> Expr {
    let (ty, span) = (e.ty.clone(), e.span);
    Expr::builtin(Builtin::Previous, vec![e], ty, span)
}

pub fn not(e: Expr) -> Expr {
    let span = e.span;
    Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(e)), Type::BOOLEAN, span)
}

pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let ty = if op.is_boolean() { Type::BOOLEAN } else { a.ty.clone() };
    let span = a.span;
    Expr::new(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span)
}

pub fn and(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::And, a, b)
}

pub fn or(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Or, a, b)
}

/// `e == number`
pub fn is(e: Expr, number: usize) -> Expr {
    let span = e.span;
    binary(BinaryOp::Equal, e, Expr::integer(number as i64, span))
}

/// `e > 0`
pub fn is_positive(e: Expr) -> Expr {
    let span = e.span;
    binary(BinaryOp::Greater, e, Expr::integer(0, span))
}

pub fn choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let (ty, span) = (then.ty.clone(), then.span);
    let kind = ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
    Expr::new(kind, ty, span)
}

/// The value of a variable without a start attribute.
pub fn default_start(base: BaseType, span: Span) -> Option<Expr> {
    Some(match base {
        BaseType::Real => Expr::real(0.0, span),
        BaseType::Integer => Expr::integer(0, span),
        BaseType::Boolean => Expr::boolean(false, span),
        BaseType::Enumeration(id) => Expr::new(ExprKind::EnumLiteral(id, 1), Type::scalar(base), span),
        _ => return None,
    })
}
