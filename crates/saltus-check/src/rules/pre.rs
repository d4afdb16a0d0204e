//! `pre`, `edge` and `change` need something that changes at events only, except in the body of a `when`
//! (specification 3.7.5).
//!
//! ```text
//! y = pre(x);                           error: x is continuous
//! when b then y = pre(x); end when;     fine: the left limit of x at the event
//! ```

use saltus_base::{Diagnostic, Diagnostics};
use saltus_flat::{Builtin, Expr, ExprKind};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::text::text;
use crate::variability::continuous_part;
use crate::walk::{self, Section};

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    if cx.facts.uses_clocks || !cx.facts.uses_any(&[Builtin::Pre, Builtin::Edge, Builtin::Change]) {
        return;
    }
    walk::for_each_root(cx.model, &mut |root, place| {
        if place.in_when || place.section.is_initial() || place.section == Section::Declaration && root.is_literal() {
            return;
        }
        walk::for_each_part(root, &mut |part| {
            if let ExprKind::Builtin {
                function: function @ (Builtin::Pre | Builtin::Edge | Builtin::Change),
                arguments,
            } = &part.kind
                && let [argument] = arguments.as_slice()
                && continuous_part(cx, argument).is_some()
            {
                out.push(of_continuous(*function, part, &text(cx.model, argument)));
            }
        });
    });
}

fn of_continuous(function: Builtin, whole: &Expr, argument: &str) -> Diagnostic {
    let function = function.name();
    Diagnostic::new(
        codes::PRE_OF_CONTINUOUS,
        whole.span,
        format!("expected a discrete variable in `{function}`, found `{argument}`, which changes between events"),
    )
    .hint(format!("use `{function}({argument})` in the body of a when-clause, or assign `{argument}` in one"))
}

#[cfg(test)]
mod tests {
    use crate::rules::run;
    use crate::testing::expect;

    #[test]
    fn of_a_continuous_variable() {
        expect(
            run(super::check),
            "Real x, y, q; Boolean b;
equation
  der(x) = 1.0;
  y = pre(x);
  when change(x) then q = pre(x) + pre(q); end when;
  b = edge(b) and pre(q) > 1.0;",
            "
E0413 4:7 `pre(x)`: expected a discrete variable in `pre`, found `x`, which changes between events
  hint: use `pre(x)` in the body of a when-clause, or assign `x` in one
E0413 5:8 `change(x)`: expected a discrete variable in `change`, found `x`, which changes between events
  hint: use `change(x)` in the body of a when-clause, or assign `x` in one",
        );
    }
}
