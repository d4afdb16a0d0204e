//! Mistakes that the literals give away: division by zero, a sampling interval of zero, an assertion that never holds.
//!
//! ```text
//! y = x/0;
//! when sample(0, 0) then …
//! assert(false, "not implemented");
//! ```

use saltus_base::{Diagnostic, Diagnostics};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Equation, EquationKind, Expr, ExprKind, Statement, StatementKind, Variability,
};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::text::text;
use crate::variability::is_parameter_expression;
use crate::walk;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    let certain = certain_divisions(cx);
    out.extend(certain.iter().map(|&(left, right)| never_has_a_value(right, &text(cx.model, left))));
    walk::for_each_root(cx.model, &mut |root, _| {
        walk::for_each_part(root, &mut |part| operation(cx, part, &certain, out));
    });
    asserts_of_equations(cx, &cx.model.equations, out);
    for algorithm in &cx.model.algorithms {
        asserts_of_statements(&algorithm.statements, out);
    }
}

/// Divisions by zero that values of parameters contain, whatever conditions come to: all parameters have values at the start.
fn certain_divisions(cx: Context<'_>) -> Vec<(&Expr, &Expr)> {
    let mut found = Vec::new();
    let parameters = cx.model.variables.values().filter(|v| v.variability <= Variability::Parameter);
    for binding in parameters.filter_map(|v| v.binding.as_ref()) {
        walk::for_each_part_while(binding, &mut |part| match &part.kind {
            ExprKind::Binary(BinaryOp::Div, left, right) if is_zero(right) => {
                found.push((&**left, &**right));
                false
            }
            ExprKind::If { .. } | ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => false,
            _ => true,
        });
    }
    found
}

fn operation(cx: Context<'_>, part: &Expr, certain: &[(&Expr, &Expr)], out: &mut Diagnostics) {
    match &part.kind {
        ExprKind::Binary(BinaryOp::Div, left, right)
            if is_zero(right) && !certain.iter().any(|(_, known)| std::ptr::eq(*known, &**right)) =>
        {
            out.push(division(right, &text(cx.model, left), "/"));
        }
        ExprKind::Builtin { function: function @ (Builtin::Div | Builtin::Mod | Builtin::Rem), arguments } => {
            if let [left, right] = arguments.as_slice()
                && is_zero(right)
            {
                out.push(division(right, &text(cx.model, left), function.name()));
            }
        }
        ExprKind::Builtin { function: Builtin::Sample, arguments } => {
            if let [_, interval] = arguments.as_slice()
                && interval.ty.base != BaseType::Clock
                && is_not_positive(interval)
            {
                out.push(sample_interval(interval, &text(cx.model, interval)));
            }
        }
        _ => {}
    }
}

fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Real(value) => *value == 0.0,
        ExprKind::Integer(value) => *value == 0,
        ExprKind::Cast(inner) => is_zero(inner),
        _ => false,
    }
}

fn is_not_positive(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Real(value) => *value <= 0.0,
        ExprKind::Integer(value) => *value <= 0,
        ExprKind::Cast(inner) => is_not_positive(inner),
        ExprKind::Unary(saltus_flat::UnaryOp::Negate, inner) => {
            matches!(inner.kind, ExprKind::Real(_) | ExprKind::Integer(_))
        }
        _ => false,
    }
}

/// An assertion under a condition that may change is a way to say "not reached" and is left alone.
fn asserts_of_equations(cx: Context<'_>, list: &[Equation], out: &mut Diagnostics) {
    for equation in list {
        match &equation.kind {
            EquationKind::Assert { condition, .. } => out.extend(never_holds(condition)),
            EquationKind::If { branches, .. } => {
                for (condition, body) in branches {
                    if is_parameter_expression(cx, condition) && matches!(condition.kind, ExprKind::Boolean(true)) {
                        asserts_of_equations(cx, body, out);
                    }
                }
            }
            _ => {}
        }
    }
}

fn asserts_of_statements(list: &[Statement], out: &mut Diagnostics) {
    for statement in list {
        if let StatementKind::Assert { condition, .. } = &statement.kind {
            out.extend(never_holds(condition));
        }
    }
}

fn never_holds(condition: &Expr) -> Option<Diagnostic> {
    matches!(condition.kind, ExprKind::Boolean(false)).then(|| {
        Diagnostic::new(
            codes::ASSERT_NEVER_HOLDS,
            condition.span,
            "expected a condition that can hold in `assert`, found `false`",
        )
        .hint("the simulation will stop at the start; put the assertion under an `if`, or use `terminate`")
    })
}

fn division(right: &Expr, left: &str, operator: &str) -> Diagnostic {
    Diagnostic::new(
        codes::DIVISION_BY_ZERO,
        right.span,
        format!("expected a divisor other than 0 for `{left}` in `{operator}`, found 0"),
    )
    .hint("the simulation will stop when this is evaluated")
}

fn never_has_a_value(right: &Expr, left: &str) -> Diagnostic {
    Diagnostic::new(
        codes::PARAMETER_BY_ZERO,
        right.span,
        format!("expected a divisor other than 0 for `{left}` in the value of a parameter, found 0"),
    )
    .hint("every parameter gets its value before the simulation starts")
}

fn sample_interval(interval: &Expr, shown: &str) -> Diagnostic {
    Diagnostic::new(
        codes::SAMPLE_INTERVAL,
        interval.span,
        format!("expected a positive interval in `sample`, found `{shown}`"),
    )
    .hint("`sample(start, interval)` fires at start + k*interval")
}

#[cfg(test)]
mod tests {
    use crate::rules::run;
    use crate::testing::expect;

    #[test]
    fn parameters_without_a_value() {
        expect(
            run(super::check),
            "parameter Real p = 1/0; parameter Boolean b; parameter Real q = if b then 1 else 1/0;",
            "
E0416 1:22 `0`: expected a divisor other than 0 for `1` in the value of a parameter, found 0
  hint: every parameter gets its value before the simulation starts
W0746 1:84 `0`: expected a divisor other than 0 for `1` in `/`, found 0
  hint: the simulation will stop when this is evaluated",
        );
    }

    #[test]
    fn literals_that_cannot_be_meant() {
        expect(
            run(super::check),
            "Real x, y; Boolean b;
equation
  y = x/0 + mod(x, 0.0);
  b = sample(0, 0) or sample(0, -1.5) or sample(0, 1);
  assert(false, \"never\");
  if x > 1 then assert(false, \"not reached\"); end if;",
            "
W0746 3:9 `0`: expected a divisor other than 0 for `x` in `/`, found 0
  hint: the simulation will stop when this is evaluated
W0746 3:20 `0.0`: expected a divisor other than 0 for `x` in `mod`, found 0
  hint: the simulation will stop when this is evaluated
W0747 4:17 `0`: expected a positive interval in `sample`, found `0`
  hint: `sample(start, interval)` fires at start + k*interval
W0747 4:33 `-1.5`: expected a positive interval in `sample`, found `-1.5`
  hint: `sample(start, interval)` fires at start + k*interval
W0745 5:10 `false`: expected a condition that can hold in `assert`, found `false`
  hint: the simulation will stop at the start; put the assertion under an `if`, or use `terminate`",
        );
    }
}
