//! Functions whose result size depends on values: `size(A, 1)`, `zeros(n)`, `fill(x, 2, 3)`, `cat(1, a, b)`.
//!
//! Sizes are asked of the context. Inside functions, and where an iteration variable is involved, they may stay unknown;
//! elsewhere that is an error. Specification: "Dimension and Size Functions", "Specialized Array Constructor Functions".

use saltus_flat::{BaseType, Builtin, Dim, Expr, ExprKind, Type};

use super::arguments::Call;
use crate::context::integer_value;
use crate::diagnostics::calls;
use crate::operators::has_value;
use crate::shape::mentions_local;
use crate::{Context, concatenation};

/// `ndims(A)`: always a literal.
pub(super) fn ndims(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let a = call.bind_one(cx, "A")?;
    Some(Expr::integer(a.ty.rank() as i64, span))
}

/// `size(A)` and `size(A, i)`: literals where the sizes are known.
pub(super) fn size(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let mut bound = call.bind(cx, &["A", "i"], 1)?;
    let a = bound.take(0)?;
    if bound.peek(1).is_none() {
        let ty = Type::array(BaseType::Integer, [Dim::Known(a.ty.rank() as u64)]);
        let known: Option<Vec<Expr>> =
            a.ty.dims.iter().map(|d| Some(Expr::integer(i64::try_from(d.known()?).ok()?, span))).collect();
        return Some(match known {
            Some(items) => Expr::new(ExprKind::Array(items), ty, span),
            None => Expr::builtin(Builtin::Size, vec![a], ty, span),
        });
    }
    let i = bound.integer(cx, 1, "i")?;
    if let Some(value) = integer_value(cx, &i) {
        let Some(&dim) = usize::try_from(value).ok().and_then(|v| v.checked_sub(1)).and_then(|v| a.ty.dims.get(v))
        else {
            let diagnostic = calls::no_such_dimension(cx, function, &a.ty, value, i.span);
            cx.report(diagnostic);
            return None;
        };
        if let Some(n) = dim.known().and_then(|n| i64::try_from(n).ok()) {
            return Some(Expr::integer(n, span));
        }
        // The literal keeps the dimension readable for those who come later.
        let i = Expr::integer(value, i.span);
        return Some(Expr::builtin(Builtin::Size, vec![a, i], Type::INTEGER, span));
    }
    if a.ty.is_scalar() {
        let diagnostic = calls::no_such_dimension(cx, function, &a.ty, 1, i.span);
        cx.report(diagnostic);
        return None;
    }
    Some(Expr::builtin(Builtin::Size, vec![a, i], Type::INTEGER, span))
}

/// A size argument as a dimension.
fn dimension(cx: &mut dyn Context, function: &str, position: usize, least: i64, size: &Expr) -> Option<Dim> {
    if size.ty != Type::INTEGER {
        let diagnostic = calls::argument_type(cx, function, position, "n", "a scalar Integer", size);
        cx.report(diagnostic);
        return None;
    }
    match integer_value(cx, size) {
        Some(value) if value < least => {
            cx.report(calls::size_out_of_range(function, value, least, size.span));
            None
        }
        Some(value) => Some(Dim::Known(value.unsigned_abs())),
        None if cx.allows_unknown_sizes() || mentions_local(size) => Some(Dim::Unknown),
        None => {
            let what = format!("a size given to `{function}`");
            let diagnostic = calls::size_not_known(cx, &what, size);
            cx.report(diagnostic);
            None
        }
    }
}

/// Positional arguments of a function that takes any number of them, at least `least` (the last of which is `missing`).
fn any_number(cx: &mut dyn Context, call: Call, least: usize, names: &[&str]) -> Option<Vec<Expr>> {
    let function = call.name();
    if let Some((name, value)) = call.named.first() {
        cx.report(calls::unknown_argument(function, name, &[], value.span));
        return None;
    }
    let given = call.positional.len();
    if given < least {
        let names: Vec<String> = names.iter().map(|n| n.to_string()).collect();
        let missing = names.get(given).cloned().unwrap_or_default();
        cx.report(calls::missing_argument(function, given + 1, &missing, &names, call.span));
        return None;
    }
    call.positional.iter().all(|e| has_value(cx, e)).then_some(call.positional)
}

fn dimensions(cx: &mut dyn Context, function: &str, first: usize, sizes: &[Expr]) -> Option<Vec<Dim>> {
    let dims: Vec<Option<Dim>> =
        sizes.iter().enumerate().map(|(i, size)| dimension(cx, function, first + i, 0, size)).collect();
    dims.into_iter().collect()
}

/// `zeros(n1, n2, …)`, `ones(n1, …)`: Integer arrays.
pub(super) fn zeros_or_ones(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let sizes = any_number(cx, call, 1, &["n1", "…"])?;
    let dims = dimensions(cx, function.name(), 1, &sizes)?;
    Some(Expr::builtin(function, sizes, Type::array(BaseType::Integer, dims), span))
}

/// `fill(s, n1, n2, …)` of anything.
pub(super) fn fill(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let arguments = any_number(cx, call, 2, &["s", "n1", "…"])?;
    let (value, sizes) = arguments.split_first()?;
    let dims = dimensions(cx, "fill", 2, sizes)?;
    let ty = value.ty.with_outer(&dims);
    Some(Expr::builtin(Builtin::Fill, arguments, ty, span))
}

/// `identity(n)`
pub(super) fn identity(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let n = call.bind_one(cx, "n")?;
    let dim = dimension(cx, "identity", 1, 0, &n)?;
    Some(Expr::builtin(Builtin::Identity, vec![n], Type::array(BaseType::Integer, [dim, dim]), span))
}

/// `linspace(x1, x2, n)`
pub(super) fn linspace(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["x1", "x2", "n"], 3)?;
    let x1 = bound.take_as(cx, 0, "x1", &Type::REAL)??;
    let x2 = bound.take_as(cx, 1, "x2", &Type::REAL)??;
    let n = bound.take(2)?;
    let dim = dimension(cx, "linspace", 3, 2, &n)?;
    Some(Expr::builtin(Builtin::Linspace, vec![x1, x2, n], Type::array(BaseType::Real, [dim]), span))
}

/// `promote(A, n)`
pub(super) fn promote(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let function = call.name();
    let mut bound = call.bind(cx, &["A", "n"], 2)?;
    let a = bound.take(0)?;
    let n = bound.integer(cx, 1, "n")?;
    let Some(rank) = integer_value(cx, &n) else {
        let diagnostic = calls::size_not_known(cx, "the number of dimensions given to `promote`", &n);
        cx.report(diagnostic);
        return None;
    };
    let least = a.ty.rank() as i64;
    if rank < least {
        cx.report(calls::value_too_small(function, "n", rank, least, n.span));
        return None;
    }
    if rank > MOST_DIMENSIONS {
        cx.report(calls::value_too_large(function, "n", rank, MOST_DIMENSIONS, n.span));
        return None;
    }
    Some(concatenation::promote(a, rank as usize))
}

/// More dimensions than anybody uses; keeps a typing error from filling the memory.
const MOST_DIMENSIONS: i64 = 32;

/// `cat(k, A, B, …)`
pub(super) fn cat(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let mut parts = any_number(cx, call, 2, &["k", "A", "…"])?;
    let k = parts.remove(0);
    if k.ty != Type::INTEGER {
        let diagnostic = calls::argument_type(cx, function, 1, "k", "a scalar Integer", &k);
        cx.report(diagnostic);
        return None;
    }
    let Some(value) = integer_value(cx, &k) else {
        let diagnostic = calls::size_not_known(cx, "the dimension given to `cat`", &k);
        cx.report(diagnostic);
        return None;
    };
    let first = &parts.first()?.ty;
    if value < 1 || value.unsigned_abs() > first.rank() as u64 {
        let diagnostic = calls::no_such_dimension(cx, function, first, value, k.span);
        cx.report(diagnostic);
        return None;
    }
    let result = concatenation::concatenate(cx, "`cat`", value as usize, parts, span);
    (!result.is_error()).then_some(result)
}
