//! The number of equations must not change during a simulation (specification 8.3.4).
//!
//! ```text
//! if x > 0 then
//!   y = 1; z = 2;
//! else
//!   y = 2;                error: 2 equations against 1
//! end if;
//! ```
//!
//! A condition of parameters only may choose among branches of different sizes; in `when` other rules hold.

use saltus_base::{Diagnostic, Diagnostics, Span};
use saltus_flat::count::n_scalars;
use saltus_flat::{Equation, EquationKind, Expr, ExprKind};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::text::{count, text};
use crate::variability::is_parameter_expression;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    for equation in cx.model.equations.iter().chain(&cx.model.initial_equations) {
        inspect(cx, equation, out);
    }
}

/// Checks this equation and those inside; the number of scalar equations where it is certain.
fn inspect(cx: Context<'_>, equation: &Equation, out: &mut Diagnostics) -> Option<u64> {
    match &equation.kind {
        EquationKind::Equality { left, right } => size(cx, left, right),
        EquationKind::If { branches, otherwise } => {
            let mut counts: Vec<Option<u64>> = branches.iter().map(|(_, body)| body_size(cx, body, out)).collect();
            counts.push(body_size(cx, otherwise, out));
            let counts: Vec<u64> = counts.into_iter().collect::<Option<_>>()?;
            if counts.windows(2).all(|pair| pair[0] == pair[1]) {
                return counts.first().copied();
            }
            let (condition, _) = branches.iter().find(|(c, _)| !is_parameter_expression(cx, c))?;
            out.push(differ(cx, equation.span, condition, branches, otherwise, &counts));
            None
        }
        EquationKind::When { .. } => None,
        _ => Some(0),
    }
}

fn body_size(cx: Context<'_>, body: &[Equation], out: &mut Diagnostics) -> Option<u64> {
    let mut sum = Some(0u64);
    for equation in body {
        let n = inspect(cx, equation, out);
        sum = sum.zip(n).and_then(|(sum, n)| sum.checked_add(n));
    }
    sum
}

fn size(cx: Context<'_>, left: &Expr, right: &Expr) -> Option<u64> {
    match &left.kind {
        ExprKind::Tuple(items) => {
            items.iter().flatten().try_fold(0u64, |sum, i| sum.checked_add(n_scalars(cx.model, &i.ty)?))
        }
        ExprKind::Error => None,
        _ if right.is_error() => None,
        _ => n_scalars(cx.model, &left.ty).or_else(|| n_scalars(cx.model, &right.ty)),
    }
}

fn differ(
    cx: Context<'_>,
    span: Span,
    condition: &Expr,
    branches: &[(Expr, Vec<Equation>)],
    otherwise: &[Equation],
    counts: &[u64],
) -> Diagnostic {
    let shown = text(cx.model, condition);
    let (with_else, n_else) = (!otherwise.is_empty(), counts.last().copied().unwrap_or(0));
    let first = counts.first().copied().unwrap_or(0);
    let d = if with_else || n_else == first {
        let list: Vec<String> = counts.iter().map(u64::to_string).collect();
        Diagnostic::new(
            codes::IF_BRANCHES_DIFFER,
            span,
            format!("expected the same number of equations in each branch, found {}", list.join(", ")),
        )
        .hint("add or remove equations, so that the number does not change with the condition")
    } else {
        Diagnostic::new(
            codes::IF_WITHOUT_ELSE,
            span,
            format!("expected an `else` with {}, found none", count(first, "equation")),
        )
        .hint("add `else` with equations for the same variables: they are unknown while the condition is false")
    };
    let at = branches.iter().find(|(c, _)| std::ptr::eq(c, condition)).map_or(span, |(c, _)| c.span);
    d.label(at, format!("`{shown}` may change during the simulation"))
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
    fn branches_of_different_sizes() {
        says(
            "Real x, y[2], z;
equation
  if x > 0 then y = {1.0, 2.0}; elseif x < -1 then y[1] = 1.0; y[2] = 3.0; else z = 1.0; end if;",
            "
E0440 3:3 `if x > 0 then y = {1.0, 2.0}; elseif x < -1 then y[1] = 1.0; y[2] = 3.0; else z = 1.0; end if`: expected the same number of equations in each branch, found 2, 2, 1
  3:6 `x > 0`: `x > 0` may change during the simulation
  hint: add or remove equations, so that the number does not change with the condition",
        );
    }

    #[test]
    fn no_else() {
        says(
            "Real x, y;
equation
  if x > 0 then y = 1.0; end if;
  if x > 1 then assert(y > 0, \"y\"); end if;",
            "
E0441 3:3 `if x > 0 then y = 1.0; end if`: expected an `else` with 1 equation, found none
  3:6 `x > 0`: `x > 0` may change during the simulation
  hint: add `else` with equations for the same variables: they are unknown while the condition is false",
        );
    }

    #[test]
    fn a_parameter_may_choose() {
        says(
            "Real x, y; parameter Boolean p;
equation
  if p then y = 1.0; end if;
  if x > 0 then if p then y = 1.0; else x = 2.0; end if; else y = 2.0; end if;",
            "",
        );
    }
}
