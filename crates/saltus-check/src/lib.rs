//! Checks on a complete [`FlatModel`] that need no syntax: what a model that is well typed can still get wrong.
//!
//! ```text
//! Boolean close;                          error[E0401]: `close` is assigned in two when-clauses
//! equation
//!   when open then close = false; end when;
//!   when full then close = true; end when;
//! ```
//!
//! [`check`] runs every rule; [`check_balance`] is separate because flattening warns about what a simulation cannot
//! accept. Each rule is a file in `rules` with its wording and tests; [`diagnostics`] lists the codes. The cost is
//! linear in the size of the model, but for the matching, which is near it.
//!
//! Ids in the model must be in range (`saltus_flat::verify`); nothing else is assumed.

mod balance;
pub mod diagnostics;
mod facts;
mod rules;
mod targets;
#[cfg(test)]
mod testing;
mod text;
pub mod units;
mod variability;
mod walk;

use saltus_base::{Diagnostics, Severity};
use saltus_flat::FlatModel;

use facts::{Context, Facts};

pub use balance::check_balance;

/// Runs all checks. Errors come first, then the balance, then what is merely suspicious.
pub fn check(model: &FlatModel) -> Diagnostics {
    let facts = Facts::gather(model);
    let cx = Context { model, facts: &facts };
    let mut out = Diagnostics::new();
    equation_rules(cx, &mut out);
    out.extend(check_balance(model, Severity::Error));
    style_rules(cx, &mut out);
    out
}

/// The rules of the specification about equations, algorithms and variability, without the balance.
pub fn check_equations(model: &FlatModel) -> Diagnostics {
    let facts = Facts::gather(model);
    let mut out = Diagnostics::new();
    equation_rules(Context { model, facts: &facts }, &mut out);
    out
}

/// Is it about a variable that an algorithm and something else determine?
pub fn is_determined_twice(diagnostic: &saltus_base::Diagnostic) -> bool {
    [diagnostics::BINDING_AND_ASSIGNMENT, diagnostics::ALGORITHM_AND_EQUATION].contains(&diagnostic.code)
}

/// Units, attributes, literals and unused things: warnings and hints.
pub fn check_style(model: &FlatModel) -> Diagnostics {
    let facts = Facts::gather(model);
    let mut out = Diagnostics::new();
    style_rules(Context { model, facts: &facts }, &mut out);
    out
}

fn equation_rules(cx: Context<'_>, out: &mut Diagnostics) {
    rules::single_assignment::check(cx, out);
    rules::no_event::check(cx, out);
    rules::discrete::check(cx, out);
    rules::pre::check(cx, out);
    rules::derivative::check(cx, out);
    rules::reinit::check(cx, out);
    rules::when_clause::check(cx, out);
    rules::if_equation::check(cx, out);
    rules::unassigned::check(cx, out);
}

fn style_rules(cx: Context<'_>, out: &mut Diagnostics) {
    rules::attributes::check(cx, out);
    rules::literals::check(cx, out);
    out.extend(units::check(cx.model));
    rules::unused::check(cx, out);
    rules::unconnected::check(cx, out);
}

#[cfg(test)]
mod tests {
    use saltus_base::Span;
    use saltus_flat::{BinaryOp, Builtin, Expr, ExprKind, FlatModel, Type};

    use super::{check, check_style};
    use crate::testing::{equation, expect, expect_fast, parse, real_variable, reference};

    #[test]
    fn errors_then_balance_then_style() {
        expect(
            check,
            "parameter Real k = 1; Real x(unit = \"m\"), y(unit = \"s\") = x;
equation
  reinit(x, 1.0);",
            "
E0420 3:3 `reinit(x, 1.0)`: expected `reinit` in the body of a when-clause, found it outside
  hint: write `when … then reinit(x, 1.0); end when;`; for a value at the start use an initial equation
E0421 3:10 `x`: expected a state in `reinit`, found `x`: `der(x)` occurs nowhere
  1:28 `x`: declared here
  hint: a variable without a derivative is assigned directly: `x = …` in the when-clause
E0450 1:28 `x`: expected as many equations as unknowns, found 1 equation for 2 unknowns: 1 too few
  1:43 `y`: `y` is not determined either
  hint: one more equation for `x` and `y` is missing
W0720 1:59 `x`: expected the same unit for a variable and its value, found \"s\" for `y` and \"m\" for `x`
  1:43 `y`: \"s\"
  1:59 `x`: \"m\"
  hint: check the expression, or correct the `unit` of a declaration
H0730 1:16 `k`: the parameter `k` is never used
  hint: remove it, or use it: changing its value changes nothing",
        );
    }

    #[test]
    fn nothing_to_say_about_a_good_model() {
        let model = parse(
            "parameter Real e = 0.7, g(unit = \"m/s2\") = 9.81; Real h(unit = \"m\", start = 1), v(unit = \"m/s\");
Boolean flying(start = true); Integer n(start = 0);
equation
  der(h) = v;
  der(v) = if flying then -g else 0;
  flying = not (h <= 0 and v <= 0);
  when h < 0 then reinit(v, -e*pre(v)); n = pre(n) + 1; end when;",
        );
        assert_eq!(check(&model).len(), 0, "{:?}", check(&model));
    }

    fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::REAL, Span::nowhere())
    }

    /// der(x[k]) = x[k-1] - 2*x[k] + x[k+1], with units and a reinit, 100 000 times.
    #[test]
    fn a_large_model_takes_linear_time() {
        let n = 100_000;
        let mut model = FlatModel::default();
        for i in 0..n {
            let mut variable = real_variable(format!("c{i}.x"));
            variable.attributes.unit = Some(Expr::string("K", Span::nowhere()));
            model.variables.push(variable);
        }
        for i in 0..n {
            let der = Expr::builtin(Builtin::Der, vec![reference(i)], Type::REAL, Span::nowhere());
            let twice = binary(BinaryOp::Mul, Expr::real(2.0, Span::nowhere()), reference(i));
            let left = binary(BinaryOp::Sub, reference(i.saturating_sub(1)), twice);
            model.equations.push(equation(der, binary(BinaryOp::Add, left, reference((i + 1) % n))));
        }
        expect_fast(&model, check);
        assert!(check(&model).iter().all(|d| d.code == crate::diagnostics::UNIT_MISMATCH));
    }

    /// A connection set of 50 000 pins is a sum as deep as that; the checks must not recurse into it.
    #[test]
    fn a_deep_sum() {
        let run = || {
            let n = 50_000;
            let mut model = FlatModel::default();
            for i in 0..n {
                let mut variable = real_variable(format!("x{i}"));
                variable.attributes.unit = Some(Expr::string("A", Span::nowhere()));
                model.variables.push(variable);
            }
            let sum = (1..n).fold(reference(0), |sum, i| binary(BinaryOp::Add, sum, reference(i)));
            model.equations.push(equation(sum, Expr::real(0.0, Span::nowhere())));
            let n_found = check(&model).len();
            // Dropping the tree would need the stack that checking it must not need.
            std::mem::forget(model);
            n_found
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(run).expect("a thread");
        assert_eq!(thread.join().expect("no overflow"), 1);
    }

    #[test]
    fn style_alone_has_no_errors() {
        let found = check_style(&parse("Real x(min = 2, max = 1); equation reinit(x, 1.0);"));
        assert_eq!((found.len(), found.n_errors()), (1, 0));
    }
}
