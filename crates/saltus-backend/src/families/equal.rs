//! Equations of families that say that two arrays are equal, or a constant, and what their attributes allow.

use saltus_base::Index;
use saltus_flat::{BinaryOp, Builtin, Expr, ExprKind, FlatModel, UnaryOp, VarId};

use super::read::Family;

/// Without anything that may have other values.
pub fn is_literal(e: &Expr) -> bool {
    let mut is_literal = true;
    e.walk(&mut |e| is_literal &= !matches!(e.kind, ExprKind::Var(_) | ExprKind::Time));
    is_literal
}

/// `x` or `-x`
pub fn is_bare(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Local(_) | ExprKind::Var(_) => true,
        ExprKind::Unary(UnaryOp::Negate, operand) => is_bare(operand),
        _ => false,
    }
}

/// What the attributes of a variable say holds for all that equal it.
pub fn has_wishes(model: &FlatModel, variable: VarId) -> bool {
    let a = &model.variables[variable].attributes;
    [&a.start, &a.fixed, &a.nominal, &a.min, &a.max, &a.unbounded, &a.state_select].into_iter().any(Option::is_some)
}

pub fn literal(e: &Expr) -> Option<f64> {
    match &e.kind {
        ExprKind::Real(value) => Some(*value),
        ExprKind::Integer(value) => Some(*value as f64),
        ExprKind::Boolean(value) => Some(f64::from(u8::from(*value))),
        ExprKind::Unary(UnaryOp::Negate, operand) => Some(-literal(operand)?),
        ExprKind::Cast(operand) => literal(operand),
        ExprKind::Builtin { function: Builtin::Fill, arguments } => literal(arguments.first()?),
        _ => None,
    }
}

/// `(a, b, negated)` if a family says that access a equals access b, or its negative, and nothing else.
pub fn equal_accesses(model: &FlatModel, family: &Family) -> Option<(usize, usize, bool)> {
    if family.accesses.len() != 2 || family.accesses.iter().any(|a| a.is_derivative) || !family.scalars.is_empty() {
        return None;
    }
    let access = |e: &Expr| signed_local(e).and_then(|(k, not)| Some((k.checked_sub(model.iterators.len())?, not)));
    let (left, right) = (&family.left, &family.right);
    let (a, b) = match (access(left), access(right)) {
        (Some(a), Some(b)) => (a, b),
        _ => {
            let (mut sum, other) = if literal(left) == Some(0.0) { (right, left) } else { (left, right) };
            if literal(other) != Some(0.0) {
                return None;
            }
            if let ExprKind::Unary(UnaryOp::Negate, inner) = &sum.kind {
                sum = inner;
            }
            let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) = &sum.kind else { return None };
            let ((a, not_a), (b, not_b)) = (access(x)?, access(y)?);
            ((a, not_a ^ (*op == BinaryOp::Add)), (b, not_b))
        }
    };
    (a.0 != b.0).then_some((a.0, b.0, a.1 ^ b.1))
}

fn signed_local(e: &Expr) -> Option<(usize, bool)> {
    match &e.kind {
        ExprKind::Local(local) => Some((local.index(), false)),
        ExprKind::Unary(UnaryOp::Negate, operand) => signed_local(operand).map(|(k, not)| (k, !not)),
        _ => None,
    }
}
