//! Attributes that contradict each other (specification 4.9): only what literals tell.
//!
//! ```text
//! Real x(min = 2, max = 1);        warning
//! Real T(min = 0, start = -10);    warning
//! Real y(nominal = 0);             warning: tolerances are relative to it
//! ```

use saltus_base::{Diagnostic, Diagnostics};
use saltus_flat::{Expr, ExprKind, UnaryOp, Variability, Variable};

use crate::diagnostics as codes;
use crate::facts::Context;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    for variable in cx.model.variables.values() {
        limits(variable, out);
        nominal(variable, out);
        sizes(variable, out);
        if variable.variability == Variability::Constant
            && let Some(fixed) = &variable.attributes.fixed
        {
            out.push(fixed_constant(variable, fixed));
        }
    }
}

/// The value of a number, also of `-1` where the minus is an operator.
fn number(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Real(value) => Some(*value),
        ExprKind::Integer(value) => Some(*value as f64),
        ExprKind::Cast(inner) => number(inner),
        ExprKind::Unary(UnaryOp::Negate, inner) => match &inner.kind {
            ExprKind::Real(value) => Some(-value),
            ExprKind::Integer(value) => Some(-(*value as f64)),
            _ => None,
        },
        _ => None,
    }
}

/// The numbers of a literal, with their places: one, or those of an array.
fn numbers<'a>(expr: &'a Expr) -> Vec<(f64, &'a Expr)> {
    let mut out = Vec::new();
    let mut stack: Vec<&'a Expr> = vec![expr];
    while let Some(part) = stack.pop() {
        match &part.kind {
            ExprKind::Array(items) => stack.extend(items.iter().rev()),
            _ => out.extend(number(part).map(|value| (value, part))),
        }
    }
    out
}

fn limits(variable: &Variable, out: &mut Diagnostics) {
    let attributes = &variable.attributes;
    let min = attributes.min.as_ref().and_then(|e| Some((number(e)?, e)));
    let max = attributes.max.as_ref().and_then(|e| Some((number(e)?, e)));
    if let (Some((low, at)), Some((high, other))) = (min, max)
        && low > high
    {
        out.push(min_above_max(variable, low, high, at, other));
        return;
    }
    let is_fixed = variable.variability <= Variability::Parameter;
    let value = variable.binding.as_ref().filter(|_| is_fixed);
    for (what, expr) in [("start", attributes.start.as_ref()), ("value", value)] {
        // The value of a parameter hides its start.
        if what == "start" && value.is_some() {
            continue;
        }
        for (found, at) in expr.map(numbers).unwrap_or_default() {
            if let Some((low, limit)) = min.filter(|(low, _)| found < *low) {
                out.push(outside(variable, what, found, at, "min", low, limit));
                break;
            }
            if let Some((high, limit)) = max.filter(|(high, _)| found > *high) {
                out.push(outside(variable, what, found, at, "max", high, limit));
                break;
            }
        }
    }
}

fn nominal(variable: &Variable, out: &mut Diagnostics) {
    let Some(nominal) = &variable.attributes.nominal else { return };
    if let Some((_, at)) = numbers(nominal).into_iter().find(|(value, _)| *value == 0.0) {
        out.push(nominal_zero(variable, at));
    }
}

/// An array attribute has the size of its variable; a scalar one holds for all elements.
fn sizes(variable: &Variable, out: &mut Diagnostics) {
    for (name, value) in variable.attributes.iter() {
        let (have, need) = (&value.ty.dims, &variable.ty.dims);
        let fits = have.len() == need.len() && have.iter().zip(need).all(|(a, b)| a.fits(*b));
        if !have.is_empty() && !fits && !value.is_error() {
            out.push(attribute_size(variable, name, value));
        }
    }
}

fn min_above_max(variable: &Variable, low: f64, high: f64, at: &Expr, other: &Expr) -> Diagnostic {
    let name = &variable.name;
    Diagnostic::new(
        codes::MIN_ABOVE_MAX,
        at.span,
        format!("`{name}` has min = {low}, which is larger than max = {high}"),
    )
    .label(other.span, "max")
    .hint("no value can satisfy both; are they exchanged?")
}

fn outside(v: &Variable, what: &str, found: f64, at: &Expr, bound: &str, limit: f64, other: &Expr) -> Diagnostic {
    let (name, side) = (&v.name, if bound == "min" { "below" } else { "above" });
    Diagnostic::new(
        codes::OUTSIDE_LIMITS,
        at.span,
        format!("the {what} {found} of `{name}` is {side} its {bound} = {limit}"),
    )
    .label(other.span, bound)
    .hint(format!("choose a {what} within the limits, or widen them"))
}

fn nominal_zero(variable: &Variable, at: &Expr) -> Diagnostic {
    let name = &variable.name;
    Diagnostic::new(codes::NOMINAL_ZERO, at.span, format!("expected a nominal value of `{name}` other than 0"))
        .hint("`nominal` is the usual magnitude, by which errors are scaled; leave it out for 1")
}

fn attribute_size(variable: &Variable, attribute: &str, value: &Expr) -> Diagnostic {
    let show = |dims: &[saltus_flat::Dim]| {
        let sizes: Vec<String> = dims.iter().map(|d| d.known().map_or(":".to_owned(), |n| n.to_string())).collect();
        if sizes.is_empty() { "a scalar".to_owned() } else { format!("[{}]", sizes.join(", ")) }
    };
    let (name, need, have) = (&variable.name, show(&variable.ty.dims), show(&value.ty.dims));
    Diagnostic::new(
        codes::ATTRIBUTE_SIZE,
        value.span,
        format!("expected {need} for `{attribute}` of `{name}`, found the size {have}"),
    )
    .label(variable.span, "declared here")
    .hint(format!("give one value for each element, or one for all: `each {attribute} = …`"))
}

fn fixed_constant(variable: &Variable, fixed: &Expr) -> Diagnostic {
    let name = &variable.name;
    Diagnostic::new(codes::FIXED_CONSTANT, fixed.span, format!("`fixed` has no meaning for the constant `{name}`"))
        .hint("leave it out: a constant always has the value of its declaration")
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
    fn limits() {
        says(
            "Real x(min = 2, max = 1), T(min = 0, start = -10), y[2](max = 5, start = {1, 7});
parameter Real p(min = 0, start = -1) = 3; parameter Integer n(max = 4) = 5;
Real ok(min = -1, max = 1, start = 0.5);",
            "
W0740 1:14 `2`: `x` has min = 2, which is larger than max = 1
  1:23 `1`: max
  hint: no value can satisfy both; are they exchanged?
W0741 1:46 `-10`: the start -10 of `T` is below its min = 0
  1:35 `0`: min
  hint: choose a start within the limits, or widen them
W0741 1:78 `7`: the start 7 of `y` is above its max = 5
  1:63 `5`: max
  hint: choose a start within the limits, or widen them
W0741 2:75 `5`: the value 5 of `n` is above its max = 4
  2:70 `4`: max
  hint: choose a value within the limits, or widen them",
        );
    }

    #[test]
    fn nominal_size_and_fixed() {
        says(
            "Real x(nominal = 0), y[3](start = {1, 2}), z(start = {1, 2}); constant Real c(fixed = true) = 1;",
            "
W0742 1:18 `0`: expected a nominal value of `x` other than 0
  hint: `nominal` is the usual magnitude, by which errors are scaled; leave it out for 1
W0743 1:35 `{1, 2}`: expected [3] for `start` of `y`, found the size [2]
  1:22 `y`: declared here
  hint: give one value for each element, or one for all: `each start = …`
W0743 1:54 `{1, 2}`: expected a scalar for `start` of `z`, found the size [2]
  1:44 `z`: declared here
  hint: give one value for each element, or one for all: `each start = …`
W0744 1:87 `true`: `fixed` has no meaning for the constant `c`
  hint: leave it out: a constant always has the value of its declaration",
        );
    }
}
