//! Derivative, delay, homotopy, streams, transport, and operators on components: `der(x)`, `delay(x, 0.1)`,
//! `Connections.root(a.R)`.
//!
//! Specification: "Derivative and Special Purpose Operators with Function Syntax", "Overconstrained Connections".

use saltus_flat::{BaseType, Builtin, Dim, Expr, ExprKind, Type, Variability};

use super::arguments::{Call, elementwise, require_parameter, spread};
use crate::diagnostics::calls;
use crate::{Context, Place, convert};

/// `initial()`
pub(super) fn without_arguments(cx: &mut dyn Context, call: Call, ty: Type) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    call.bind(cx, &[], 0)?;
    Some(Expr::builtin(function, Vec::new(), ty, span))
}

/// `noEvent(e)`, `pure(f(x))`: the type of the argument, whatever it is.
pub(super) fn same_type(cx: &mut dyn Context, call: Call, name: &str) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let e = call.bind_one(cx, name)?;
    let ty = e.ty.clone();
    Some(Expr::builtin(function, vec![e], ty, span))
}

/// Operators on connectors, blocks and records that are only named.
pub(super) fn of_components(cx: &mut dyn Context, call: Call, names: &[&str], ty: Type) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let mut bound = call.bind(cx, names, names.len())?;
    let arguments = (0..names.len()).filter_map(|i| bound.take(i)).collect();
    Some(Expr::builtin(function, arguments, ty, span))
}

/// `Connections.potentialRoot(a.R, priority = 0)`
pub(super) fn potential_root(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["R", "priority"], 1)?;
    let node = bound.take(0)?;
    let priority = bound.take_or(cx, 1, "priority", Expr::integer(0, span))?;
    require_parameter(cx, Builtin::ConnectionsPotentialRoot.name(), "priority", &priority)?;
    Some(Expr::builtin(Builtin::ConnectionsPotentialRoot, vec![node, priority], Type::UNIT, span))
}

/// `Connections.uniqueRoot(a.R, message = "")`
pub(super) fn unique_root(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["root", "message"], 1)?;
    let node = bound.take(0)?;
    let message = bound.take_or(cx, 1, "message", Expr::string("", span))?;
    Some(Expr::builtin(Builtin::ConnectionsUniqueRoot, vec![node, message], Type::UNIT, span))
}

/// `der(x)`: Real scalars and arrays that are not discrete. Integers have no derivative, constants and literals neither.
pub(super) fn der(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["expr"], 1)?;
    let x = bound.take(0)?;
    if x.ty.base != BaseType::Real {
        return bound.wrong_type(cx, 0, "expr", "Real", &x);
    }
    let is_discrete_variable =
        |e: &Expr| matches!(e.kind, ExprKind::Var(id) if cx.variability(id) == Variability::Discrete);
    let named = match &x.kind {
        ExprKind::Index { base, .. } => base,
        _ => &x,
    };
    if is_discrete_variable(named) {
        let diagnostic = calls::derivative_of_discrete(cx, &x);
        cx.report(diagnostic);
        return None;
    }
    elementwise(cx, Builtin::Der, vec![x], BaseType::Real, span)
}

/// `delay(expr, delayTime[, delayMax])`
pub(super) fn delay(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let mut bound = call.bind(cx, &["expr", "delayTime", "delayMax"], 2)?;
    let expr = bound.take(0)?;
    let base = expr.ty.base;
    if !matches!(base, BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_)) {
        return bound.wrong_type(cx, 0, "expr", "Real, Integer, Boolean or an enumeration", &expr);
    }
    let time = bound.real(cx, 1, "delayTime")?;
    let most = match bound.peek(2) {
        Some(_) => Some(bound.real(cx, 2, "delayMax")?),
        None => {
            require_parameter(cx, function, "delayTime", &time)?;
            None
        }
    };
    if let Some(most) = &most {
        require_parameter(cx, function, "delayMax", most)?;
    }
    let arguments = [Some(expr), Some(time), most].into_iter().flatten().collect();
    elementwise(cx, Builtin::Delay, arguments, base, span)
}

/// `homotopy(actual, simplified)`
pub(super) fn homotopy(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let mut bound = call.bind(cx, &["actual", "simplified"], 2)?;
    let arguments = vec![bound.real(cx, 0, "actual")?, bound.real(cx, 1, "simplified")?];
    elementwise(cx, Builtin::Homotopy, arguments, BaseType::Real, span)
}

/// `semiLinear(x, positiveSlope, negativeSlope)`
pub(super) fn semi_linear(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    let names = ["x", "positiveSlope", "negativeSlope"];
    let mut bound = call.bind(cx, &names, 3)?;
    let mut arguments = Vec::with_capacity(3);
    for (i, name) in names.iter().enumerate() {
        arguments.push(bound.real(cx, i, name)?);
    }
    elementwise(cx, Builtin::SemiLinear, arguments, BaseType::Real, span)
}

/// `inStream(v)`, `actualStream(v)`; that `v` is a stream variable is checked where connections are known.
pub(super) fn stream(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let mut bound = call.bind(cx, &["v"], 1)?;
    let v = bound.take(0)?;
    if v.ty.base != BaseType::Real {
        return bound.wrong_type(cx, 0, "v", "Real", &v);
    }
    elementwise(cx, function, vec![v], BaseType::Real, span)
}

/// `spatialDistribution(in0, in1, x, positiveVelocity, initialPoints = {0, 1}, initialValues = {0, 0})`; the type is that of
/// `out0`. Vectors `in0`, `in1` transport several quantities, whose initial points and values may be rows of matrices.
pub(super) fn spatial_distribution(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let names = ["in0", "in1", "x", "positiveVelocity", "initialPoints", "initialValues"];
    let mut bound = call.bind(cx, &names, 4)?;
    let (in0, in1) = (bound.real(cx, 0, "in0")?, bound.real(cx, 1, "in1")?);
    let dims = spread(cx, function, &[&in0, &in1])?;
    let x = bound.take_as(cx, 2, "x", &Type::REAL)??;
    let positive = bound.take_as(cx, 3, "positiveVelocity", &Type::BOOLEAN)??;
    let points = initial(cx, bound.take(4), function, 5, "initialPoints", [0.0, 1.0], dims.len(), span)?;
    let values = initial(cx, bound.take(5), function, 6, "initialValues", [0.0, 0.0], dims.len(), span)?;
    if let (Some(a), Some(b)) = (points.ty.dims.last(), values.ty.dims.last())
        && !a.fits(*b)
    {
        let diagnostic = calls::argument_sizes_differ(cx, function, (5, &points.ty), (6, &values));
        cx.report(diagnostic);
        return None;
    }
    let ty = Type::array(BaseType::Real, dims);
    Some(Expr::builtin(Builtin::SpatialDistribution, vec![in0, in1, x, positive, points, values], ty, span))
}

/// `initialPoints` or `initialValues`: a Real vector, or one more dimension in front where quantities are vectorised.
fn initial(
    cx: &mut dyn Context,
    given: Option<Expr>,
    function: &str,
    position: usize,
    name: &str,
    default: [f64; 2],
    n_outer: usize,
    span: saltus_base::Span,
) -> Option<Expr> {
    let Some(value) = given else {
        let items = default.iter().map(|&v| Expr::real(v, span)).collect();
        return Some(Expr::new(ExprKind::Array(items), Type::array(BaseType::Real, [Dim::Known(2)]), span));
    };
    let rank = if n_outer > 0 && value.ty.rank() > 1 { n_outer + 1 } else { 1 };
    let wanted = Type::array(BaseType::Real, vec![Dim::Unknown; rank]);
    let value = convert(cx, value, &wanted, Place::Argument { function, position, name });
    if value.is_error() {
        return None;
    }
    require_parameter(cx, function, name, &value)?;
    Some(value)
}
