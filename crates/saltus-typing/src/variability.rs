//! How much an expression can vary: constant, parameter, discrete-time or continuous-time.
//!
//! `2 * p` with a parameter is a parameter expression, `x > 0` is discrete-time, `noEvent(x > 0)` is not, `pre(i)` is
//! discrete-time. Evaluable parameters count as parameters. What the body of a `when` adds is up to the caller.
//!
//! Specification: "Variability of Expressions".

use saltus_flat::{BaseType, BinaryOp, Builtin, Expr, ExprKind, Variability};

use crate::Context;

pub fn variability(cx: &dyn Context, expr: &Expr) -> Variability {
    of(cx, expr, false)
}

fn of(cx: &dyn Context, expr: &Expr, in_no_event: bool) -> Variability {
    match &expr.kind {
        ExprKind::Var(id) => cx.variability(*id),
        ExprKind::Local(id) => cx.local_variability(*id),
        ExprKind::Time => Variability::Continuous,
        ExprKind::Binary(op, ..) if is_ordered(*op) => {
            let parts = of_parts(cx, expr, in_no_event);
            if in_no_event { parts } else { parts.min(Variability::Discrete) }
        }
        ExprKind::Call { function, .. } => {
            let parts = of_parts(cx, expr, in_no_event);
            let is_discrete_valued = !matches!(expr.ty.base, BaseType::Real | BaseType::Record(_));
            if cx.generates_events(*function)
                && is_discrete_valued
                && !in_no_event
                && other_inputs_are_discrete(cx, expr)
            {
                parts.min(Variability::Discrete)
            } else {
                parts
            }
        }
        ExprKind::Builtin { function, arguments } => builtin(cx, *function, arguments, expr, in_no_event),
        _ => of_parts(cx, expr, in_no_event),
    }
}

fn is_ordered(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual)
}

/// The most variable part; constant without parts.
fn of_parts(cx: &dyn Context, expr: &Expr, in_no_event: bool) -> Variability {
    let mut most = Variability::Constant;
    expr.for_each_child(&mut |child| {
        if most < Variability::Continuous {
            most = most.max(of(cx, child, in_no_event));
        }
    });
    most
}

/// A function with `GenerateEvents = true` gives events for its Real inputs only.
fn other_inputs_are_discrete(cx: &dyn Context, call: &Expr) -> bool {
    let mut all = true;
    call.for_each_child(&mut |argument| {
        all &= argument.ty.base == BaseType::Real || of(cx, argument, false) <= Variability::Discrete;
    });
    all
}

fn builtin(cx: &dyn Context, function: Builtin, arguments: &[Expr], call: &Expr, in_no_event: bool) -> Variability {
    use Builtin as B;
    let parts = |in_no_event| of_parts(cx, call, in_no_event);
    match function {
        B::Ndims | B::GetInstanceName => Variability::Constant,
        B::Size => {
            arguments.get(1).map_or(Variability::Constant, |i| of(cx, i, in_no_event)).max(Variability::Parameter)
        }
        B::ConnectionsIsRoot | B::ConnectionsRooted | B::Rooted | B::Cardinality => Variability::Parameter,
        B::NoEvent => parts(true),
        B::Ceil | B::Floor | B::Div | B::Integer if !in_no_event => parts(false).min(Variability::Discrete),
        B::Delay => arguments.first().map_or(Variability::Constant, |x| of(cx, x, in_no_event)),
        B::Der => match parts(in_no_event) {
            // The derivative of what does not change is zero, but the operator is none of the constant ones.
            Variability::Constant => Variability::Parameter,
            other => other,
        },
        B::Initial | B::Terminal | B::Pre | B::Edge | B::Change => Variability::Discrete,
        B::Sample
        | B::Clock
        | B::Previous
        | B::Hold
        | B::SubSample
        | B::SuperSample
        | B::ShiftSample
        | B::BackSample
        | B::NoClock
        | B::FirstTick
        | B::Interval
        | B::ActiveState
        | B::TicksInState
        | B::TimeInState => Variability::Discrete,
        B::InStream | B::ActualStream | B::SpatialDistribution | B::Excursion => Variability::Continuous,
        _ => parts(in_no_event),
    }
}
