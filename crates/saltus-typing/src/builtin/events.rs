//! Operators around events: `pre(i)`, `edge(b)`, `sample(0, 0.1)`, `smooth(1, e)`, `reinit(x, 0)`, `assert(…)`.
//!
//! Specification: "Event-Related Operators with Function Syntax"; the clocked `sample(u[, clock])` is in chapter 16.

use saltus_flat::{BaseType, Builtin, Expr, ExprKind, Type};

use super::arguments::{Call, elementwise, require_parameter};
use crate::diagnostics::calls;
use crate::literal::literal_integer;
use crate::{Context, Place, convert};

/// A variable, an element or slice of one, a field, or a constructor of such, which is what whole arrays and records of
/// components look like in the flat model.
pub(super) fn is_component(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Var(_) | ExprKind::Local(_) => true,
        ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => is_component(base),
        ExprKind::Array(items) | ExprKind::Record(items) => items.iter().all(is_component),
        _ => false,
    }
}

pub(super) fn require_component(cx: &mut dyn Context, function: &str, value: &Expr) -> Option<()> {
    if is_component(value) {
        return Some(());
    }
    let diagnostic = calls::component_expected(cx, function, value);
    cx.report(diagnostic);
    None
}

/// `smooth(p, expr)`
pub(super) fn smooth(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let mut bound = call.bind(cx, &["p", "expr"], 2)?;
    let p = bound.integer(cx, 0, "p")?;
    require_parameter(cx, function, "p", &p)?;
    if let Some(value) = literal_integer(&p).filter(|&value| value < 0) {
        cx.report(calls::value_too_small(function, "p", value, 0, p.span));
        return None;
    }
    let expr = bound.take(1)?;
    if !is_all_real(cx, &expr.ty) {
        return bound.wrong_type(cx, 1, "expr", "Real, or a record of Real", &expr);
    }
    let expr = crate::shape::to_real(expr);
    let ty = expr.ty.clone();
    Some(Expr::builtin(Builtin::Smooth, vec![p, expr], ty, span))
}

fn is_all_real(cx: &dyn Context, ty: &Type) -> bool {
    match ty.base {
        BaseType::Real | BaseType::Integer => true,
        BaseType::Record(id) => {
            cx.record_type(id).fields.iter().all(|f| f.ty.base != BaseType::Integer && is_all_real(cx, &f.ty))
        }
        _ => false,
    }
}

/// `sample(start, interval) : Boolean`, or the clocked `sample(u) : u` and `sample(u, clock) : u`.
pub(super) fn sample(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let second_is_clock = call.positional.get(1).is_some_and(|e| e.ty.base == BaseType::Clock);
    let names_clock = call.named.iter().any(|(name, _)| *name == "clock" || *name == "u");
    let is_single = call.positional.len() == 1 && call.named.is_empty();
    if second_is_clock || names_clock || is_single {
        let mut bound = call.bind(cx, &["u", "clock"], 1)?;
        let u = bound.take(0)?;
        if u.ty.base == BaseType::Clock {
            return bound.wrong_type(cx, 0, "u", "a value, not a clock", &u);
        }
        let clock = bound.take_as(cx, 1, "clock", &Type::scalar(BaseType::Clock))?;
        let ty = u.ty.clone();
        return Some(Expr::builtin(Builtin::Sample, [Some(u), clock].into_iter().flatten().collect(), ty, span));
    }
    let mut bound = call.bind(cx, &["start", "interval"], 2)?;
    let mut arguments = Vec::with_capacity(2);
    for (i, name) in ["start", "interval"].into_iter().enumerate() {
        let value = bound.take_as(cx, i, name, &Type::REAL)??;
        require_parameter(cx, function, name, &value)?;
        arguments.push(value);
    }
    Some(Expr::builtin(Builtin::Sample, arguments, Type::BOOLEAN, span))
}

/// `pre(y)` has the type of `y`, `edge(b)` and `change(v)` are Boolean; element by element.
pub(super) fn pre_edge_change(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let name = match function {
        Builtin::Pre => "y",
        Builtin::Edge => "b",
        _ => "v",
    };
    let mut bound = call.bind(cx, &[name], 1)?;
    let y = bound.take(0)?;
    let is_simple = matches!(
        y.ty.base,
        BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::String | BaseType::Enumeration(_)
    );
    if function == Builtin::Edge && y.ty.base != BaseType::Boolean {
        return bound.wrong_type(cx, 0, name, "Boolean", &y);
    }
    if !is_simple {
        return bound.wrong_type(cx, 0, name, "a variable of a simple type", &y);
    }
    require_component(cx, function.name(), &y)?;
    let base = if function == Builtin::Pre { y.ty.base } else { BaseType::Boolean };
    elementwise(cx, function, vec![y], base, span)
}

/// `reinit(x, expr)`
pub(super) fn reinit(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let mut bound = call.bind(cx, &["x", "expr"], 2)?;
    let x = bound.take(0)?;
    if x.ty.base != BaseType::Real {
        return bound.wrong_type(cx, 0, "x", "a Real variable", &x);
    }
    require_component(cx, function, &x)?;
    let value = bound.take_as(cx, 1, "expr", &x.ty)??;
    Some(Expr::builtin(Builtin::Reinit, vec![x, value], Type::UNIT, span))
}

/// `assert(condition, message[, level])`; a missing level (`AssertionLevel.error`) stays missing.
pub(super) fn assert(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["condition", "message", "level"], 2)?;
    let condition = convert(cx, bound.take(0)?, &Type::BOOLEAN, Place::Condition { construct: "assert" });
    let message = bound.take_as(cx, 1, "message", &Type::STRING)?;
    if condition.is_error() {
        return None;
    }
    let level = bound.take(2);
    if let Some(level) = &level {
        let is_level = match level.ty.base {
            BaseType::Enumeration(id) => cx.enum_type(id).name.ends_with("AssertionLevel") && level.ty.is_scalar(),
            _ => false,
        };
        if !is_level {
            return bound.wrong_type(cx, 2, "level", "AssertionLevel.warning or AssertionLevel.error", level);
        }
    }
    let arguments = [Some(condition), message, level].into_iter().flatten().collect();
    Some(Expr::builtin(Builtin::Assert, arguments, Type::UNIT, span))
}

/// `terminate(message)`
pub(super) fn terminate(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let message = call.bind(cx, &["message"], 1)?.take_as(cx, 0, "message", &Type::STRING)??;
    Some(Expr::builtin(Builtin::Terminate, vec![message], Type::UNIT, span))
}
