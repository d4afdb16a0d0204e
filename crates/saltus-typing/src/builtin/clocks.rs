//! Clocks and state machines: `Clock(1, 10)`, `previous(x)`, `subSample(u, 2)`, `transition(a, b, c)`.
//!
//! The arguments of a `Clock` call say which form it is: none (inferred), Integer and Integer (rational interval), Real (real
//! interval), Boolean and Real (event), Clock and String (solver). Missing `resolution`, `startInterval`, `factor` and the
//! options of `transition` are filled in.
//!
//! Specification: "Synchronous Language Elements", "State Machines".

use saltus_flat::{BaseType, Builtin, Expr, Type, Variability};

use super::arguments::{Bound, Call, require_parameter};
use super::events::{is_component, require_component};
use crate::diagnostics::calls;
use crate::literal::literal_integer;
use crate::{Context, variability};

const CLOCK: Type = Type::scalar(BaseType::Clock);

pub(super) fn clock(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let span = call.span;
    if call.positional.is_empty() && call.named.is_empty() {
        return Some(Expr::builtin(Builtin::Clock, Vec::new(), CLOCK, span));
    }
    let has = |name: &str| call.named.iter().any(|(n, _)| *n == name);
    let first = call.positional.first().map(|e| e.ty.clone());
    if let (Some(base), Some((_, method))) =
        (first.as_ref().map(|ty| ty.base), call.named.iter().find(|(n, _)| *n == "solverMethod"))
        && !matches!(base, BaseType::Clock | BaseType::Error)
    {
        cx.report(calls::solver_method_without_clock(method.span));
        return None;
    }
    let arguments = match first.as_ref().map(|ty| ty.base) {
        Some(BaseType::Integer) => rational(cx, call)?,
        Some(BaseType::Real) => interval(cx, call)?,
        Some(BaseType::Boolean) => event(cx, call)?,
        Some(BaseType::Clock) => solver(cx, call)?,
        None if has("intervalCounter") || has("resolution") => rational(cx, call)?,
        None if has("interval") => interval(cx, call)?,
        None if has("condition") || has("startInterval") => event(cx, call)?,
        None if has("c") || has("solverMethod") => solver(cx, call)?,
        Some(_) | None => {
            let given = first.or_else(|| call.named.first().map(|(_, e)| e.ty.clone())).unwrap_or(Type::UNIT);
            let diagnostic = calls::no_clock_constructor(cx, &given, span);
            cx.report(diagnostic);
            return None;
        }
    };
    Some(Expr::builtin(Builtin::Clock, arguments, CLOCK, span))
}

/// `Clock(intervalCounter, resolution = 1)`
fn rational(cx: &mut dyn Context, call: Call) -> Option<Vec<Expr>> {
    let (function, span) = (call.name(), call.span);
    let mut bound = call.bind(cx, &["intervalCounter", "resolution"], 1)?;
    let counter = bound.integer(cx, 0, "intervalCounter")?;
    at_least(cx, function, "intervalCounter", &counter, 0)?;
    let resolution = integer_or(cx, &mut bound, 1, "resolution", 1, span)?;
    at_least(cx, function, "resolution", &resolution, 1)?;
    Some(vec![counter, resolution])
}

/// `Clock(interval)`
fn interval(cx: &mut dyn Context, call: Call) -> Option<Vec<Expr>> {
    let mut bound = call.bind(cx, &["interval"], 1)?;
    Some(vec![bound.take_as(cx, 0, "interval", &Type::REAL)??])
}

/// `Clock(condition, startInterval = 0)`
fn event(cx: &mut dyn Context, call: Call) -> Option<Vec<Expr>> {
    let (function, span) = (call.name(), call.span);
    let mut bound = call.bind(cx, &["condition", "startInterval"], 1)?;
    let condition = bound.take_as(cx, 0, "condition", &Type::BOOLEAN)??;
    let start = bound.take_or(cx, 1, "startInterval", Expr::real(0.0, span))?;
    require_parameter(cx, function, "startInterval", &start)?;
    Some(vec![condition, start])
}

/// `Clock(c, solverMethod)`
fn solver(cx: &mut dyn Context, call: Call) -> Option<Vec<Expr>> {
    let span = call.span;
    let mut bound = call.bind(cx, &["c", "solverMethod"], 1)?;
    let clock = bound.take_as(cx, 0, "c", &CLOCK)??;
    let method = bound.take_or(cx, 1, "solverMethod", Expr::string("", span))?;
    Some(vec![clock, method])
}

fn at_least(cx: &mut dyn Context, function: &str, name: &str, value: &Expr, least: i64) -> Option<()> {
    match literal_integer(value).filter(|&v| v < least) {
        Some(v) => {
            cx.report(calls::value_too_small(function, name, v, least, value.span));
            None
        }
        None => Some(()),
    }
}

/// An Integer parameter expression with a default.
fn integer_or(
    cx: &mut dyn Context,
    bound: &mut Bound,
    position: usize,
    name: &str,
    default: i64,
    span: saltus_base::Span,
) -> Option<Expr> {
    let value = match bound.peek(position) {
        Some(_) => bound.integer(cx, position, name)?,
        None => Expr::integer(default, span),
    };
    require_parameter(cx, bound.function, name, &value)?;
    Some(value)
}

/// `previous(u)`, `hold(u)`, `noClock(u)`: variables (`noClock` any expression); `hold` also takes parameter expressions.
pub(super) fn of_clocked_variable(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let mut bound = call.bind(cx, &["u"], 1)?;
    let u = bound.take(0)?;
    if u.ty.base == BaseType::Clock {
        return bound.wrong_type(cx, 0, "u", "a clocked variable, not a clock", &u);
    }
    let is_fixed = function != Builtin::Previous && variability(cx, &u) <= Variability::Parameter;
    if function != Builtin::NoClock && !is_fixed && !is_component(&u) {
        require_component(cx, function.name(), &u)?;
    }
    let ty = u.ty.clone();
    Some(Expr::builtin(function, vec![u], ty, span))
}

/// `subSample(u, factor = 0)`, `superSample(u, factor = 0)` of values and clocks; 0 stands for "inferred".
pub(super) fn sub_or_super_sample(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let mut bound = call.bind(cx, &["u", "factor"], 1)?;
    let u = bound.take(0)?;
    let factor = integer_or(cx, &mut bound, 1, "factor", 0, span)?;
    at_least(cx, function.name(), "factor", &factor, 0)?;
    let ty = u.ty.clone();
    Some(Expr::builtin(function, vec![u, factor], ty, span))
}

/// `shiftSample(u, shiftCounter, resolution = 1)`, `backSample(u, backCounter, resolution = 1)`. Before the first tick of `u`
/// `backSample` gives its start value, so that `u` is a variable there (specification 16.5.2).
pub(super) fn shift_or_back_sample(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let counter_name = if function == Builtin::ShiftSample { "shiftCounter" } else { "backCounter" };
    let mut bound = call.bind(cx, &["u", counter_name, "resolution"], 2)?;
    let u = bound.take(0)?;
    if function == Builtin::BackSample && u.ty.base != BaseType::Clock && !is_component(&u) {
        require_component(cx, function.name(), &u)?;
    }
    let counter = integer_or(cx, &mut bound, 1, counter_name, 0, span)?;
    at_least(cx, function.name(), counter_name, &counter, 0)?;
    let resolution = integer_or(cx, &mut bound, 2, "resolution", 1, span)?;
    at_least(cx, function.name(), "resolution", &resolution, 1)?;
    let ty = u.ty.clone();
    Some(Expr::builtin(function, vec![u, counter, resolution], ty, span))
}

/// `firstTick([u])`, `interval([u])`
pub(super) fn first_tick_or_interval(cx: &mut dyn Context, call: Call, ty: Type) -> Option<Expr> {
    let (function, span) = (call.function, call.span);
    let mut bound = call.bind(cx, &["u"], 0)?;
    let arguments = bound.take(0).into_iter().collect();
    Some(Expr::builtin(function, arguments, ty, span))
}

/// `transition(from, to, condition, immediate = true, reset = true, synchronize = false, priority = 1)`
pub(super) fn transition(cx: &mut dyn Context, call: Call) -> Option<Expr> {
    let (function, span) = (call.name(), call.span);
    let names = ["from", "to", "condition", "immediate", "reset", "synchronize", "priority"];
    let mut bound = call.bind(cx, &names, 3)?;
    let mut arguments = vec![bound.take(0)?, bound.take(1)?];
    arguments.push(bound.take_as(cx, 2, "condition", &Type::BOOLEAN)??);
    for (position, default) in [(3, true), (4, true), (5, false)] {
        let value = bound.take_or(cx, position, names[position], Expr::boolean(default, span))?;
        require_parameter(cx, function, names[position], &value)?;
        arguments.push(value);
    }
    let priority = integer_or(cx, &mut bound, 6, "priority", 1, span)?;
    at_least(cx, function, "priority", &priority, 1)?;
    arguments.push(priority);
    Some(Expr::builtin(Builtin::Transition, arguments, Type::UNIT, span))
}
