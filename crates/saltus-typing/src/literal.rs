//! Values that can be read off an expression without evaluating anything else: `3`, `-(2 + 1)`, `2.5`.

use saltus_flat::{BinaryOp, Expr, ExprKind, Subscript, UnaryOp};

/// The value of an Integer literal or of a sum, difference or product of such; `None` on overflow.
pub fn literal_integer(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Integer(value) => Some(*value),
        ExprKind::Unary(UnaryOp::Negate, operand) => literal_integer(operand)?.checked_neg(),
        ExprKind::Binary(op, left, right) => {
            let operation = match op {
                BinaryOp::Add => i64::checked_add,
                BinaryOp::Sub => i64::checked_sub,
                BinaryOp::Mul => i64::checked_mul,
                _ => return None,
            };
            operation(literal_integer(left)?, literal_integer(right)?)
        }
        _ => None,
    }
}

/// The value of a numeric literal, also of a negated or converted one.
pub(crate) fn literal_real(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Real(value) => Some(*value),
        ExprKind::Unary(UnaryOp::Negate, operand) => literal_real(operand).map(|value| -value),
        ExprKind::Cast(operand) => literal_real(operand),
        _ => literal_integer(expr).map(|value| value as f64),
    }
}

/// `stop - start` where both are the same expression up to an Integer literal, as in `x[i : i + 2]`.
pub(crate) fn constant_difference(stop: &Expr, start: &Expr) -> Option<i64> {
    let (stop_base, stop_offset) = split_offset(stop)?;
    let (start_base, start_offset) = split_offset(start)?;
    if same_reference(stop_base, start_base) { stop_offset.checked_sub(start_offset) } else { None }
}

/// `e + 2` as `e` and `2`; nested sums are followed.
fn split_offset(expr: &Expr) -> Option<(&Expr, i64)> {
    if let ExprKind::Binary(op, left, right) = &expr.kind {
        match op {
            BinaryOp::Add => {
                if let Some(value) = literal_integer(right) {
                    let (base, offset) = split_offset(left)?;
                    return Some((base, offset.checked_add(value)?));
                }
                if let Some(value) = literal_integer(left) {
                    let (base, offset) = split_offset(right)?;
                    return Some((base, offset.checked_add(value)?));
                }
            }
            BinaryOp::Sub => {
                if let Some(value) = literal_integer(right) {
                    let (base, offset) = split_offset(left)?;
                    return Some((base, offset.checked_sub(value)?));
                }
            }
            _ => {}
        }
    }
    Some((expr, 0))
}

/// Whether both are the same variable, element or arithmetic of such, wherever they stand in the source.
fn same_reference(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Integer(x), ExprKind::Integer(y)) => x == y,
        (ExprKind::Var(x), ExprKind::Var(y)) => x == y,
        (ExprKind::Local(x), ExprKind::Local(y)) => x == y,
        (ExprKind::Binary(p, a, b), ExprKind::Binary(q, c, d)) => {
            p == q && same_reference(a, c) && same_reference(b, d)
        }
        (ExprKind::Index { base: a, subscripts: s }, ExprKind::Index { base: b, subscripts: t }) => {
            let same = |pair: (&Subscript, &Subscript)| match pair {
                (Subscript::Index(x), Subscript::Index(y)) => same_reference(x, y),
                _ => false,
            };
            same_reference(a, b) && s.len() == t.len() && s.iter().zip(t).all(same)
        }
        _ => false,
    }
}
