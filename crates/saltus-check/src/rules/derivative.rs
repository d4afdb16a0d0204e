//! `der` needs something Real that changes continuously (specification 3.7.4).
//!
//! ```text
//! Integer n; … y = der(n);              error: n is Integer
//! when b then q = 1; end when; … der(q) = 1;   error: q jumps
//! parameter Real p; … y = der(p);       warning: always zero
//! ```

use saltus_base::{Diagnostic, Diagnostics};
use saltus_flat::{BaseType, Builtin, Expr, ExprKind};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::text::text;
use crate::variability::{continuous_variable, discrete_variable, is_parameter_expression};
use crate::walk;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    if !cx.facts.uses_any(&[Builtin::Der]) {
        return;
    }
    walk::for_each_root(cx.model, &mut |root, _| {
        walk::for_each_part(root, &mut |part| {
            if let ExprKind::Builtin { function: Builtin::Der, arguments } = &part.kind
                && let [argument] = arguments.as_slice()
            {
                inspect(cx, part, argument, out);
            }
        });
    });
}

fn inspect(cx: Context<'_>, whole: &Expr, argument: &Expr, out: &mut Diagnostics) {
    let shown = text(cx.model, argument);
    // The conversion to Real is the compiler's, not the user's.
    let source = match &argument.kind {
        ExprKind::Cast(inner) => inner,
        _ => argument,
    };
    match source.ty.base {
        BaseType::Real | BaseType::Record(_) | BaseType::Error => {}
        base => {
            out.push(of_non_real(whole, &shown, base));
            return;
        }
    }
    // In clocked partitions der is legal for what clock inference makes discrete.
    if cx.facts.uses_clocks || continuous_variable(cx, argument).is_some() {
        return;
    }
    if let Some(variable) = discrete_variable(cx, argument) {
        let assigned = cx.facts.of(variable).in_when;
        out.push(of_discrete(whole, cx.name(variable), assigned));
    } else if is_parameter_expression(cx, argument) {
        out.push(of_parameter(whole, &shown));
    }
}

fn of_non_real(whole: &Expr, shown: &str, base: BaseType) -> Diagnostic {
    let kind = match base {
        BaseType::Integer => "an Integer",
        BaseType::Boolean => "a Boolean",
        BaseType::String => "a String",
        _ => "a value that is not Real",
    };
    Diagnostic::new(
        codes::DER_OF_NON_REAL,
        whole.span,
        format!("expected a Real expression in `der`, found `{shown}`, {kind}"),
    )
    .hint("only a Real variable changes continuously and has a derivative; declare it as Real")
}

fn of_discrete(whole: &Expr, name: &str, assigned: bool) -> Diagnostic {
    let d = Diagnostic::new(
        codes::DER_OF_DISCRETE,
        whole.span,
        format!("expected a continuous variable in `der`, found `{name}`, which changes at events only"),
    );
    if assigned {
        d.hint(format!("`{name}` is assigned in a when-clause; to let a state jump use `reinit({name}, …)` there"))
    } else {
        d.hint(format!("declare `{name}` without `discrete`"))
    }
}

fn of_parameter(whole: &Expr, shown: &str) -> Diagnostic {
    Diagnostic::new(
        codes::DER_OF_PARAMETER,
        whole.span,
        format!("the derivative of `{shown}` is always zero: it contains parameters and constants only"),
    )
    .hint("write `0`, or differentiate a variable")
}

#[cfg(test)]
mod tests {
    use crate::rules::run;
    use crate::testing::expect;

    #[test]
    fn of_things_that_do_not_change_continuously() {
        expect(
            run(super::check),
            "Real x, y[4], q; Integer n; parameter Real p = 1.0; discrete Real r;
equation
  y[1] = der(n);
  y[2] = der(q);
  y[3] = der(2*p);
  y[4] = der(r);
  der(q*x) = 1.0;
  when x > 1 then q = 2.0; end when;",
            "
E0415 3:10 `der(n)`: expected a Real expression in `der`, found `n`, an Integer
  hint: only a Real variable changes continuously and has a derivative; declare it as Real
E0414 4:10 `der(q)`: expected a continuous variable in `der`, found `q`, which changes at events only
  hint: `q` is assigned in a when-clause; to let a state jump use `reinit(q, …)` there
W0416 5:10 `der(2*p)`: the derivative of `2 * p` is always zero: it contains parameters and constants only
  hint: write `0`, or differentiate a variable
E0414 6:10 `der(r)`: expected a continuous variable in `der`, found `r`, which changes at events only
  hint: declare `r` without `discrete`",
        );
    }
}
