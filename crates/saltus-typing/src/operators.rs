//! Unary and binary operators and `if`-expressions.
//!
//! `-n : Integer`, `x + y : Real[3]`, `n / 2 : Real`, `"a" + "b" : String`, `x > 0 and b : Boolean`,
//! `if b then 1 else 2.5 : Real`. Both operands of arithmetic and relations are converted to one base type; the result of
//! `/` and `^` is Real. Products and powers of arrays are in [`crate::product`].
//!
//! Specification: "Scalar, Vector, Matrix, and Array Operator Functions", "Equality, Relational, and Logical Operators",
//! "If-Expressions".

use saltus_base::Span;
use saltus_flat::{BaseType, BinaryOp, Dim, Expr, ExprKind, Type, UnaryOp, Variability};
use saltus_syntax::ast;

use crate::diagnostics as d;
use crate::diagnostics::calls;
use crate::shape::{cast, common_base, common_element, merge_dims, to_real};
use crate::{Context, Place, product, variability};

/// Reports and gives the expression that stands for what was wrong.
pub(crate) fn fail(cx: &mut dyn Context, diagnostic: saltus_base::Diagnostic, span: Span) -> Expr {
    cx.report(diagnostic);
    Expr::error(span)
}

/// The operator as written.
pub(crate) fn operator_text(op: ast::BinaryOp) -> &'static str {
    match op {
        ast::BinaryOp::Add => "+",
        ast::BinaryOp::Subtract => "-",
        ast::BinaryOp::Multiply => "*",
        ast::BinaryOp::Divide => "/",
        ast::BinaryOp::Power => "^",
        ast::BinaryOp::ElementAdd => ".+",
        ast::BinaryOp::ElementSubtract => ".-",
        ast::BinaryOp::ElementMultiply => ".*",
        ast::BinaryOp::ElementDivide => "./",
        ast::BinaryOp::ElementPower => ".^",
        ast::BinaryOp::Less => "<",
        ast::BinaryOp::LessEqual => "<=",
        ast::BinaryOp::Greater => ">",
        ast::BinaryOp::GreaterEqual => ">=",
        ast::BinaryOp::Equal => "==",
        ast::BinaryOp::NotEqual => "<>",
        ast::BinaryOp::And => "and",
        ast::BinaryOp::Or => "or",
    }
}

/// `-x`, `+x`, `not b`; a negated literal becomes a literal.
pub fn unary(cx: &mut dyn Context, op: ast::UnaryOp, operand: Expr, span: Span) -> Expr {
    if operand.is_error() || !has_value(cx, &operand) {
        return Expr::error(span);
    }
    let text = match op {
        ast::UnaryOp::Plus => "+",
        ast::UnaryOp::Minus => "-",
        ast::UnaryOp::ElementPlus => ".+",
        ast::UnaryOp::ElementMinus => ".-",
        ast::UnaryOp::Not => {
            if operand.ty.base != BaseType::Boolean {
                let diagnostic = d::operand_not_boolean(cx, "not", &operand);
                return fail(cx, diagnostic, span);
            }
            let ty = operand.ty.clone();
            return Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), ty, span);
        }
    };
    if !operand.ty.is_numeric() {
        let diagnostic = d::operand_not_numeric(cx, text, &operand);
        return fail(cx, diagnostic, span);
    }
    match op {
        ast::UnaryOp::Plus | ast::UnaryOp::ElementPlus => Expr { span, ..operand },
        _ => negate(operand, span),
    }
}

fn negate(operand: Expr, span: Span) -> Expr {
    match operand.kind {
        ExprKind::Real(value) => Expr::real(-value, span),
        ExprKind::Integer(value) if value != i64::MIN => Expr::integer(-value, span),
        _ => {
            let ty = operand.ty.clone();
            Expr::new(ExprKind::Unary(UnaryOp::Negate, Box::new(operand)), ty, span)
        }
    }
}

/// `left op right`
pub fn binary(cx: &mut dyn Context, op: ast::BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    if left.is_error() || right.is_error() || !has_value(cx, &left) || !has_value(cx, &right) {
        return Expr::error(span);
    }
    match op {
        ast::BinaryOp::Add => additive(cx, op, BinaryOp::Add, left, right, span),
        ast::BinaryOp::Subtract => additive(cx, op, BinaryOp::Sub, left, right, span),
        ast::BinaryOp::Multiply => product::multiply(cx, left, right, span),
        ast::BinaryOp::Divide => product::divide(cx, left, right, span),
        ast::BinaryOp::Power => product::power(cx, left, right, span),
        ast::BinaryOp::ElementAdd => elementwise(cx, op, BinaryOp::Add, left, right, span),
        ast::BinaryOp::ElementSubtract => elementwise(cx, op, BinaryOp::Sub, left, right, span),
        ast::BinaryOp::ElementMultiply => elementwise(cx, op, BinaryOp::Mul, left, right, span),
        ast::BinaryOp::ElementDivide => elementwise(cx, op, BinaryOp::Div, left, right, span),
        ast::BinaryOp::ElementPower => elementwise(cx, op, BinaryOp::Pow, left, right, span),
        ast::BinaryOp::Less => relation(cx, op, BinaryOp::Less, left, right, span),
        ast::BinaryOp::LessEqual => relation(cx, op, BinaryOp::LessEqual, left, right, span),
        ast::BinaryOp::Greater => relation(cx, op, BinaryOp::Greater, left, right, span),
        ast::BinaryOp::GreaterEqual => relation(cx, op, BinaryOp::GreaterEqual, left, right, span),
        ast::BinaryOp::Equal => relation(cx, op, BinaryOp::Equal, left, right, span),
        ast::BinaryOp::NotEqual => relation(cx, op, BinaryOp::NotEqual, left, right, span),
        ast::BinaryOp::And => logical(cx, op, BinaryOp::And, left, right, span),
        ast::BinaryOp::Or => logical(cx, op, BinaryOp::Or, left, right, span),
    }
}

/// A function without result, or a function itself, is not a value; says so.
pub(crate) fn has_value(cx: &mut dyn Context, operand: &Expr) -> bool {
    if !matches!(operand.ty.base, BaseType::Unit | BaseType::Function) {
        return true;
    }
    let diagnostic = calls::no_value(cx, operand);
    cx.report(diagnostic);
    false
}

/// The operands of arithmetic, converted to one base type.
pub(crate) fn numeric_operands(
    cx: &mut dyn Context,
    op: ast::BinaryOp,
    left: Expr,
    right: Expr,
) -> Option<(Expr, Expr, BaseType)> {
    let always_real = matches!(
        op,
        ast::BinaryOp::Divide | ast::BinaryOp::ElementDivide | ast::BinaryOp::Power | ast::BinaryOp::ElementPower
    );
    let joins_strings = matches!(op, ast::BinaryOp::Add | ast::BinaryOp::ElementAdd);
    if joins_strings && left.ty.base == BaseType::String && right.ty.base == BaseType::String {
        return Some((left, right, BaseType::String));
    }
    // Of a String and a number the String is the one to complain about, the hint names the conversion.
    let mut ok = true;
    for operand in [&left, &right] {
        if !operand.ty.is_numeric() {
            let diagnostic = d::operand_not_numeric(cx, operator_text(op), operand);
            cx.report(diagnostic);
            ok = false;
        }
    }
    if !ok {
        return None;
    }
    if always_real || left.ty.base != right.ty.base {
        return Some((to_real(left), to_real(right), BaseType::Real));
    }
    let base = left.ty.base;
    Some((left, right, base))
}

/// `+` and `-`: equal shapes.
fn additive(cx: &mut dyn Context, op: ast::BinaryOp, flat: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    let Some((left, right, base)) = numeric_operands(cx, op, left, right) else {
        return Expr::error(span);
    };
    match merge_dims(&left.ty.dims, &right.ty.dims) {
        Some(dims) => node(flat, left, right, Type::array(base, dims), span),
        None => {
            let text = operator_text(op);
            let diagnostic = if left.ty.is_scalar() || right.ty.is_scalar() {
                d::scalar_with_array(cx, text, &left.ty, &right.ty, span)
            } else {
                d::sizes_differ(cx, text, &left.ty, &right.ty, span)
            };
            fail(cx, diagnostic, span)
        }
    }
}

/// `.+`, `.*`, …: equal shapes, or a scalar spread over an array.
pub(crate) fn elementwise(
    cx: &mut dyn Context,
    op: ast::BinaryOp,
    flat: BinaryOp,
    left: Expr,
    right: Expr,
    span: Span,
) -> Expr {
    let Some((left, right, base)) = numeric_operands(cx, op, left, right) else {
        return Expr::error(span);
    };
    match spread_dims(&left.ty.dims, &right.ty.dims) {
        Some(dims) => node(flat, left, right, Type::array(base, dims), span),
        None => {
            let diagnostic = d::sizes_differ(cx, operator_text(op), &left.ty, &right.ty, span);
            fail(cx, diagnostic, span)
        }
    }
}

/// Sizes of an element-wise operation where a scalar goes with everything.
pub(crate) fn spread_dims(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => Some(b.to_vec()),
        (_, true) => Some(a.to_vec()),
        _ => merge_dims(a, b),
    }
}

pub(crate) fn node(op: BinaryOp, left: Expr, right: Expr, ty: Type, span: Span) -> Expr {
    Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
}

fn relation(cx: &mut dyn Context, op: ast::BinaryOp, flat: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    let text = operator_text(op);
    if !left.ty.is_scalar() || !right.ty.is_scalar() {
        let diagnostic = d::relation_of_arrays(cx, text, &left.ty, &right.ty, span);
        return fail(cx, diagnostic, span);
    }
    let is_simple = |base| {
        matches!(
            base,
            BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::String | BaseType::Enumeration(_)
        )
    };
    let Some(base) = common_base(cx, left.ty.base, right.ty.base).filter(|&base| is_simple(base)) else {
        let diagnostic = d::relation_of_different_types(cx, text, &left.ty, &right.ty, span);
        return fail(cx, diagnostic, span);
    };
    if base == BaseType::Real && matches!(flat, BinaryOp::Equal | BinaryOp::NotEqual) && !cx.in_function() {
        let is_fixed = |e: &Expr| variability(cx, e) <= Variability::Parameter;
        if is_fixed(&left) && is_fixed(&right) {
            cx.report(d::real_equality_of_parameters(text, span));
        } else {
            let diagnostic = d::real_equality(cx, text, &left, &right, span);
            return fail(cx, diagnostic, span);
        }
    }
    let (left, right) = (cast(cx, left, base), cast(cx, right, base));
    node(flat, left, right, Type::BOOLEAN, span)
}

/// `and`, `or`: Boolean scalars, or arrays of equal sizes.
fn logical(cx: &mut dyn Context, op: ast::BinaryOp, flat: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    let text = operator_text(op);
    let mut ok = true;
    for operand in [&left, &right] {
        if operand.ty.base != BaseType::Boolean {
            let diagnostic = d::operand_not_boolean(cx, text, operand);
            cx.report(diagnostic);
            ok = false;
        }
    }
    if !ok {
        return Expr::error(span);
    }
    match merge_dims(&left.ty.dims, &right.ty.dims) {
        Some(dims) => node(flat, left, right, Type::array(BaseType::Boolean, dims), span),
        None => {
            let diagnostic = d::sizes_differ(cx, text, &left.ty, &right.ty, span);
            fail(cx, diagnostic, span)
        }
    }
}

/// `if condition then … else …`. Branches of different sizes need a condition that is known at compile time (that branch
/// is then the result); inside functions their size becomes unknown.
pub fn if_expression(cx: &mut dyn Context, condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
    let condition_ok = check_condition(cx, &condition, "if");
    if !condition_ok || then.is_error() || otherwise.is_error() || !has_value(cx, &then) || !has_value(cx, &otherwise) {
        return Expr::error(span);
    }
    let fits = common_base(cx, then.ty.base, otherwise.ty.base).is_some();
    // Sizes that one of the branches leaves open are those of the branch that is taken.
    let base = common_element(cx, then.ty.base, otherwise.ty.base).filter(|_| fits);
    let Some(base) = base else {
        let diagnostic = d::branches_differ(cx, &then.ty, &otherwise.ty, span);
        return fail(cx, diagnostic, span);
    };
    let dims = match merge_branch_dims(cx, &then.ty.dims, &otherwise.ty.dims) {
        Some(dims) => dims,
        None => {
            let same_rank = then.ty.rank() == otherwise.ty.rank();
            return match cx.evaluate_boolean(&condition).filter(|_| same_rank) {
                Some(true) => cast(cx, then, base),
                Some(false) => cast(cx, otherwise, base),
                None => {
                    let diagnostic = d::branch_sizes_differ(cx, &then.ty, &otherwise.ty, span);
                    fail(cx, diagnostic, span)
                }
            };
        }
    };
    let (then, otherwise) = (cast(cx, then, base), cast(cx, otherwise, base));
    let kind = ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
    Expr::new(kind, Type::array(base, dims), span)
}

fn merge_branch_dims(cx: &dyn Context, a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    if cx.in_function() && a.len() == b.len() {
        return Some(a.iter().zip(b).map(|(&x, &y)| if x == y { x } else { Dim::Unknown }).collect());
    }
    merge_dims(a, b)
}

/// Whether `condition` is a scalar Boolean; an error that was reported before is none.
pub(crate) fn check_condition(cx: &mut dyn Context, condition: &Expr, construct: &str) -> bool {
    if condition.is_error() {
        return false;
    }
    if condition.ty == Type::BOOLEAN {
        return true;
    }
    let diagnostic = d::condition_not_boolean(cx, Place::Condition { construct }, condition);
    cx.report(diagnostic);
    false
}
