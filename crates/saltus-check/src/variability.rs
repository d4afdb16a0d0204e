//! Which part of an expression, if any, changes between events.
//!
//! `x > 1` is discrete-time although `x` is not, because a relation generates events; `noEvent(x > 1)` is not
//! (specification 3.8.5).

use saltus_base::Index;
use saltus_flat::{BinaryOp, Builtin, Expr, ExprKind};

use crate::facts::Context;

/// The first part that makes an expression continuous-time.
pub struct ContinuousPart<'a> {
    pub part: &'a Expr,
    /// It would be discrete-time without the `noEvent` around it.
    pub in_no_event: bool,
}

/// Finds what makes `root` continuous-time; `None` for a discrete-time expression.
pub fn continuous_part<'a>(cx: Context<'_>, root: &'a Expr) -> Option<ContinuousPart<'a>> {
    let mut stack = vec![(root, false, false)];
    while let Some((part, in_no_event, in_event_source)) = stack.pop() {
        let mut inner = (in_no_event, in_event_source);
        match &part.kind {
            ExprKind::Var(v) if !cx.is_discrete_time(*v) => {
                return Some(ContinuousPart { part, in_no_event: in_event_source });
            }
            ExprKind::Time => return Some(ContinuousPart { part, in_no_event: in_event_source }),
            ExprKind::Binary(op, ..) if is_ordered_relation(*op) => {
                if !in_no_event {
                    continue;
                }
                inner.1 = true;
            }
            ExprKind::Builtin { function, .. } => match function {
                Builtin::NoEvent => inner.0 = true,
                Builtin::Ceil | Builtin::Floor | Builtin::Div | Builtin::Integer => {
                    if !in_no_event {
                        continue;
                    }
                    inner.1 = true;
                }
                f if is_always_discrete(*f) => continue,
                _ => {}
            },
            ExprKind::Call { function, .. } => {
                let generates = cx.model.functions.get(*function).is_some_and(|f| f.generate_events);
                if generates && !in_no_event && !matches!(part.ty.base, saltus_flat::BaseType::Real) {
                    continue;
                }
            }
            ExprKind::FunctionRef { .. } => continue,
            _ => {}
        }
        let first = stack.len();
        part.for_each_child(&mut |child| stack.push((child, inner.0, inner.1)));
        stack[first..].reverse();
    }
    None
}

/// A relation that generates events.
pub fn is_ordered_relation(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual)
}

/// Operators whose result changes at events only, whatever their arguments are.
fn is_always_discrete(function: Builtin) -> bool {
    use Builtin::*;
    matches!(
        function,
        Pre | Edge
            | Change
            | Initial
            | Terminal
            | Sample
            | Size
            | Ndims
            | Cardinality
            | GetInstanceName
            | Clock
            | Previous
            | Hold
            | SubSample
            | SuperSample
            | ShiftSample
            | BackSample
            | NoClock
            | FirstTick
            | Interval
            | ActiveState
            | TicksInState
            | TimeInState
    )
}

/// No variable that changes during a simulation, and not `time`: literals, constants and parameters only.
pub fn is_parameter_expression(cx: Context<'_>, root: &Expr) -> bool {
    let mut stack = vec![root];
    while let Some(part) = stack.pop() {
        match &part.kind {
            ExprKind::Var(v) if !cx.is_parameter(*v) => return false,
            ExprKind::Time => return false,
            ExprKind::Builtin { function, .. } => match function {
                Builtin::Size
                | Builtin::Ndims
                | Builtin::Cardinality
                | Builtin::ConnectionsIsRoot
                | Builtin::ConnectionsRooted
                | Builtin::Rooted => continue,
                f if is_always_discrete(*f) => return false,
                _ => {}
            },
            _ => {}
        }
        part.for_each_child(&mut |child| stack.push(child));
    }
    true
}

/// The first variable in `root` that changes at events only and is not a parameter.
pub fn discrete_variable(cx: Context<'_>, root: &Expr) -> Option<saltus_flat::VarId> {
    let mut found: Option<saltus_flat::VarId> = None;
    crate::walk::for_each_part(root, &mut |part| {
        if let ExprKind::Var(v) = part.kind
            && found.is_none()
            && v.index() < cx.model.variables.len()
            && cx.is_discrete_time(v)
            && !cx.is_parameter(v)
        {
            found = Some(v);
        }
    });
    found
}

/// The first variable in `root`, or `time`, that changes between events and is not hidden in `pre`.
pub fn continuous_variable<'a>(cx: Context<'_>, root: &'a Expr) -> Option<&'a Expr> {
    let mut found: Option<&'a Expr> = None;
    crate::walk::for_each_part_while(root, &mut |part| match &part.kind {
        ExprKind::Builtin { function, .. } if is_always_discrete(*function) => false,
        ExprKind::Var(v) if cx.is_discrete_time(*v) => false,
        ExprKind::Var(_) | ExprKind::Time => {
            found = found.or(Some(part));
            false
        }
        _ => found.is_none(),
    });
    found
}
