//! `noEvent` and `smooth` on what changes at events only (specification 3.7.5).
//!
//! ```text
//! y = noEvent(pre(q));      error: q changes at events only
//! y = noEvent(if x > 0 then x else 0);        fine: x crosses zero without an event
//! ```
//!
//! The argument must contain a discrete variable and nothing that changes between events.

use saltus_base::{Diagnostic, Diagnostics};
use saltus_flat::{Builtin, Expr, ExprKind};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::text::text;
use crate::variability::{continuous_variable, discrete_variable};
use crate::walk;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    if cx.facts.uses_clocks || !cx.facts.uses_any(&[Builtin::NoEvent, Builtin::Smooth]) {
        return;
    }
    walk::for_each_root(cx.model, &mut |root, _| {
        walk::for_each_part(root, &mut |part| {
            if let ExprKind::Builtin { function, arguments } = &part.kind {
                match (function, arguments.as_slice()) {
                    (Builtin::NoEvent, [argument]) => inspect(cx, part, argument, no_event, out),
                    (Builtin::Smooth, [_, argument]) => inspect(cx, part, argument, smooth, out),
                    _ => {}
                }
            }
        });
    });
}

fn inspect(
    cx: Context<'_>,
    whole: &Expr,
    argument: &Expr,
    message: fn(&Expr, &str, &str) -> Diagnostic,
    out: &mut Diagnostics,
) {
    if let Some(variable) = discrete_variable(cx, argument)
        && continuous_variable(cx, argument).is_none()
    {
        out.push(message(whole, &text(cx.model, argument), cx.name(variable)));
    }
}

fn no_event(whole: &Expr, argument: &str, variable: &str) -> Diagnostic {
    Diagnostic::new(
        codes::NO_EVENT_ON_DISCRETE,
        whole.span,
        format!("`noEvent` on a discrete variable: `{variable}` changes at events only, so there is none to suppress"),
    )
    .hint(format!("write `{argument}` without `noEvent`"))
}

fn smooth(whole: &Expr, argument: &str, variable: &str) -> Diagnostic {
    Diagnostic::new(
        codes::SMOOTH_ON_DISCRETE,
        whole.span,
        format!("`smooth` on a discrete variable: `{variable}` jumps at events, so the expression is not continuous"),
    )
    .hint(format!("write `{argument}` without `smooth`"))
}

#[cfg(test)]
mod tests {
    use crate::rules::run;
    use crate::testing::expect;

    #[track_caller]
    fn says(source: &str, expected: &str) {
        expect(run(super::check), source, expected);
    }

    #[test]
    fn on_a_discrete_variable() {
        says(
            "Real x, q, y; Boolean b;
equation
  der(x) = noEvent(pre(q));
  y = if noEvent(b) then 1.0 else 2.0;
  when x > 1 then q = 2.0; end when;",
            "
E0410 3:12 `noEvent(pre(q))`: `noEvent` on a discrete variable: `q` changes at events only, so there is none to suppress
  hint: write `pre(q)` without `noEvent`
E0410 4:10 `noEvent(b)`: `noEvent` on a discrete variable: `b` changes at events only, so there is none to suppress
  hint: write `b` without `noEvent`",
        );
    }

    #[test]
    fn something_continuous_in_it() {
        says(
            "Real x, y; Boolean b; parameter Real p;
equation
  der(x) = noEvent(if x > 0 and b then x else 0.0);
  y = smooth(0, if b then x else -x) + noEvent(p);",
            "",
        );
    }

    #[test]
    fn smooth_on_a_discrete_variable() {
        says(
            "Boolean b; Real y;
equation
  y = smooth(0, if b then 1.0 else 2.0);",
            "
W0410 3:7 `smooth(0, if b then 1.0 else 2.0)`: `smooth` on a discrete variable: `b` jumps at events, so the expression is not continuous
  hint: write `if b then 1.0 else 2.0` without `smooth`",
        );
    }
}
