//! Messages about calls of built-in functions and reductions: E0334–E0360.

use saltus_base::{Diagnostic, Span, nearest};
use saltus_flat::{BaseType, Expr, ReductionOp, Type, Variability};

use super::{describe, error, quoted};
use crate::Context;
use crate::names::{plural, type_name};
use crate::reduction::reduction_name;

/// `print("a") + 1`
pub(crate) fn no_value(cx: &dyn Context, operand: &Expr) -> Diagnostic {
    let what = describe(cx, operand);
    match operand.ty.base {
        BaseType::Function => error("E0334", operand.span, format!("a value is expected, but `{what}` is a function"))
            .hint("call the function with arguments in parentheses to get its result"),
        _ => error("E0334", operand.span, format!("a value is expected, but `{what}` has no result"))
            .hint("a function without output can only be called on its own"),
    }
}

/// `sin(1, 2)`
pub(crate) fn too_many_arguments(function: &str, names: &[String], given: usize, span: Span) -> Diagnostic {
    let most = plural(names.len(), "argument");
    let diagnostic = error("E0335", span, format!("`{function}` takes at most {most}, but got {given}"));
    if names.is_empty() {
        diagnostic.hint(format!("write `{function}()`"))
    } else {
        diagnostic.hint(format!("its arguments are {}", quoted(names)))
    }
}

/// `atan2(1)`
pub(crate) fn missing_argument(
    function: &str,
    position: usize,
    name: &str,
    names: &[String],
    span: Span,
) -> Diagnostic {
    let plain: Vec<&str> = names.iter().map(String::as_str).collect();
    error("E0336", span, format!("argument {position} (`{name}`) of `{function}` is missing"))
        .hint(format!("the call reads `{function}({})`", plain.join(", ")))
}

/// `homotopy(actual = 1, simple = 2)`
pub(crate) fn unknown_argument(function: &str, name: &str, names: &[String], span: Span) -> Diagnostic {
    let diagnostic = error("E0337", span, format!("`{function}` has no argument named `{name}`"));
    match nearest(name, names.iter().map(String::as_str)) {
        Some(other) => diagnostic.hint(format!("did you mean `{other}`?")),
        None if names.is_empty() => diagnostic.hint("it takes positional arguments only"),
        None => diagnostic.hint(format!("its arguments are {}", quoted(names))),
    }
}

/// `Clock(0.1, solverMethod = "ExplicitEuler")`
pub(crate) fn solver_method_without_clock(span: Span) -> Diagnostic {
    let text = "`solverMethod` is associated with a clock: the first argument of this `Clock` is not one";
    error("E0337", span, text.to_owned())
        .hint("write a clock in the place of the interval: `Clock(Clock(0.1), solverMethod = \"ExplicitEuler\")`")
}

/// `homotopy(1, 2, actual = 3)`
pub(crate) fn argument_given_twice(function: &str, name: &str, span: Span) -> Diagnostic {
    error("E0338", span, format!("argument `{name}` of `{function}` is given twice"))
        .hint("give an argument either by position or by name")
}

/// `String(x, 3)`
pub(crate) fn only_by_name(function: &str, names: &[String], span: Span) -> Diagnostic {
    error("E0339", span, format!("`{function}` takes one positional argument; all others must be named"))
        .hint(format!("the named arguments are {}", quoted(names)))
}

/// `sin("a")`, `cross(x, 1)`; `expected` reads as "Real" or "a numeric matrix"
pub(crate) fn argument_type(
    cx: &dyn Context,
    function: &str,
    position: usize,
    name: &str,
    expected: &str,
    value: &Expr,
) -> Diagnostic {
    let ty = type_name(cx, &value.ty);
    let message = format!("argument {position} (`{name}`) of `{function}` must be {expected}, but it is {ty}");
    let diagnostic = error("E0340", value.span, message);
    match (function, value.ty.base) {
        ("Integer", BaseType::Real) => diagnostic.hint("`integer(x)` rounds a Real down to an Integer"),
        ("Integer", BaseType::Integer) => diagnostic.hint("the value is an Integer already"),
        ("String", BaseType::String) => diagnostic.hint("the value is a String already"),
        ("String", _) if !value.ty.is_scalar() => {
            diagnostic.hint("convert each element: `{String(a[i]) for i in 1:size(a, 1)}`")
        }
        ("der", BaseType::Integer) => diagnostic.hint("only Real variables have a derivative; declare it as Real"),
        ("der", BaseType::Boolean | BaseType::Enumeration(_)) => {
            diagnostic.hint("a discrete variable has no derivative; `edge(b)` and `change(v)` tell when it changes")
        }
        ("reinit", _) => {
            diagnostic.hint("only states, which are Real, can be reinitialized; assign others in a `when`")
        }
        ("edge", _) => diagnostic.hint("`change(v)` works for every discrete variable"),
        (_, BaseType::Boolean) => diagnostic.hint("convert a Boolean with `if b then 1 else 0`"),
        (_, BaseType::Enumeration(_)) => {
            diagnostic.hint("get the ordinal number of an enumeration value with `Integer(e)`")
        }
        (_, BaseType::Real) if expected.contains("Integer") => {
            diagnostic.hint("a Real is not rounded by itself: `integer(x)` rounds down")
        }
        (_, BaseType::String) => diagnostic.hint("text is not converted to a number by itself"),
        (_, BaseType::Clock) => diagnostic.hint("a clock tells when; its time between ticks is `interval(c)`"),
        _ if expected.ends_with("size 3") && value.ty.rank() == 1 => {
            diagnostic.hint("a vector in the plane becomes one in space as `{a[1], a[2], 0}`")
        }
        _ if expected.contains("vector") && value.ty.rank() > 1 => {
            diagnostic.hint("`vector(A)` makes a vector of an array with one long dimension")
        }
        _ => diagnostic,
    }
}

/// `atan2({1, 2}, {1, 2, 3})`
pub(crate) fn argument_sizes_differ(
    cx: &dyn Context,
    function: &str,
    first: (usize, &Type),
    other: (usize, &Expr),
) -> Diagnostic {
    let (f, o) = (type_name(cx, first.1), type_name(cx, &other.1.ty));
    let message = format!(
        "array arguments of `{function}` must have equal sizes, but argument {} is {f} and argument {} is {o}",
        first.0, other.0
    );
    error("E0341", other.1.span, message).hint(match function {
        "spatialDistribution" => "every initial point needs one initial value",
        _ => "the function is applied to every element; scalars go with all elements, arrays must match",
    })
}

/// `der(x)` in a function
pub(crate) fn not_in_function(function: &str, span: Span) -> Diagnostic {
    error("E0342", span, format!("`{function}` is not allowed inside a function"))
        .hint("a function computes with its inputs only; pass the value as an argument")
}

/// `zeros(n)` with a variable `n`; `what` reads as "the size of dimension 1"
pub(crate) fn size_not_known(cx: &dyn Context, what: &str, size: &Expr) -> Diagnostic {
    let message = format!("{what} must be known at compile time, but `{}` is not", describe(cx, size));
    error("E0343", size.span, message)
        .hint("use literals, constants, parameters with a value, or `size(…)` of an array")
}

/// `zeros(-1)`
pub(crate) fn size_out_of_range(function: &str, value: i64, least: i64, span: Span) -> Diagnostic {
    let diagnostic =
        error("E0344", span, format!("a size given to `{function}` must be at least {least}, but it is {value}"));
    match function {
        "linspace" => diagnostic.hint("`linspace` includes both ends; for one element write `{x1}`"),
        _ => diagnostic.hint("an empty dimension has size 0"),
    }
}

/// `size(x, 2)` with a vector `x`
pub(crate) fn no_such_dimension(cx: &dyn Context, function: &str, array: &Type, value: i64, span: Span) -> Diagnostic {
    let ty = type_name(cx, array);
    let diagnostic =
        error("E0345", span, format!("`{function}` asks for dimension {value} of {ty}, which does not exist"));
    match array.rank() {
        0 => diagnostic.hint("a scalar has no dimensions"),
        1 => diagnostic.hint("a vector has only dimension 1"),
        n => diagnostic.hint(format!("dimensions count from 1 to {n}")),
    }
}

/// `pre(x + 1)`
pub(crate) fn component_expected(cx: &dyn Context, function: &str, value: &Expr) -> Diagnostic {
    let message = format!("`{function}` expects a variable, but `{}` is an expression", describe(cx, value));
    let diagnostic = error("E0346", value.span, message);
    match function {
        "pre" | "edge" | "change" => diagnostic.hint(format!(
            "give the expression a name, as in `Boolean b = …`, and write `{function}(b)`; \
             inside an expression apply `pre` to each variable"
        )),
        _ => diagnostic.hint("declare a variable that equals the expression and use that"),
    }
}

/// `der(d)` with `discrete Real d`
pub(crate) fn derivative_of_discrete(cx: &dyn Context, value: &Expr) -> Diagnostic {
    let message =
        format!("`der` expects a continuous-time expression, but `{}` changes only at events", describe(cx, value));
    error("E0347", value.span, message)
        .hint("remove `discrete` from the declaration, or compute a difference with `pre`")
}

/// `sample(x, 1)` with a time-varying `x`
pub(crate) fn parameter_expected(
    cx: &dyn Context,
    function: &str,
    name: &str,
    value: &Expr,
    given: Variability,
) -> Diagnostic {
    let kind = match given {
        Variability::Continuous => "continuous-time",
        _ => "discrete-time",
    };
    let message = format!(
        "argument `{name}` of `{function}` must be a parameter expression, but `{}` is {kind}",
        describe(cx, value)
    );
    error("E0348", value.span, message).hint(match (function, name) {
        ("delay", "delayTime") => "with a varying delay give its upper bound: `delay(expr, delayTime, delayMax)`",
        _ => "use literals, constants and parameters only",
    })
}

/// `E(4)` with three literals
pub(crate) fn ordinal_out_of_range(name: &str, value: i64, n_literals: usize, span: Span) -> Diagnostic {
    error("E0349", span, format!("`{name}` has no literal with the ordinal {value}"))
        .hint(format!("its ordinals go from 1 to {n_literals}"))
}

/// `Clock("a")`
pub(crate) fn no_clock_constructor(cx: &dyn Context, given: &Type, span: Span) -> Diagnostic {
    let message = format!("no clock can be made from {}", type_name(cx, given));
    error("E0350", span, message).hint(
        "`Clock()`, `Clock(intervalCounter, resolution)`, `Clock(interval)`, `Clock(condition, startInterval)` and \
         `Clock(c, solverMethod)` exist",
    )
}

/// `scalar({1, 2})`, `vector([1, 2; 3, 4])`, `matrix(A)` with three dimensions; `expected` completes "must have"
pub(crate) fn array_form(cx: &dyn Context, function: &str, expected: &str, value: &Expr) -> Diagnostic {
    let ty = type_name(cx, &value.ty);
    error("E0351", value.span, format!("the argument of `{function}` must have {expected}, but it is {ty}")).hint(
        match function {
            "scalar" => "pick one element with a subscript",
            "vector" => "pick a row or column, as in `A[1, :]`",
            "transpose" => {
                "`[v]` is the matrix with `v` as its only column, `transpose([v])` the one with `v` as its only row"
            }
            "symmetric" => "only a square matrix can be symmetric",
            _ => "reduce the array with subscripts first",
        },
    )
}

/// `{i for i in 3}`
pub(crate) fn iterator_not_vector(cx: &dyn Context, range: &Expr) -> Diagnostic {
    let message =
        format!("an iterator runs over a vector, but `{}` is {}", describe(cx, range), type_name(cx, &range.ty));
    let diagnostic = error("E0352", range.span, message);
    match (range.ty.base, range.ty.rank()) {
        (BaseType::Integer, 0) => diagnostic.hint("to count write `1:n`"),
        _ => diagnostic.hint("as in `for i in 1:n` or `for x in {1.5, 2.5}`"),
    }
}

/// `product(v for …)` with a vector body
pub(crate) fn reduction_body(cx: &dyn Context, op: ReductionOp, body: &Expr) -> Diagnostic {
    let (name, ty) = (reduction_name(op), type_name(cx, &body.ty));
    let expected = match op {
        ReductionOp::Sum => "Real or Integer values",
        ReductionOp::Product => "scalar Real or Integer values",
        _ => "scalar Real, Integer, Boolean or enumeration values",
    };
    let diagnostic = error("E0353", body.span, format!("`{name}` reduces {expected}, but its body is {ty}"));
    match body.ty.base {
        BaseType::Boolean => diagnostic.hint("to count, sum `if b then 1 else 0`; all and any are `min` and `max`"),
        _ if !body.ty.is_scalar() => {
            diagnostic.hint(format!("reduce the inner array too, as in `{name}({name}(…) for …)`"))
        }
        _ => diagnostic,
    }
}

/// `String(1, significantDigits = 3)`
pub(crate) fn significant_digits_of(cx: &dyn Context, value: &Type, span: Span) -> Diagnostic {
    let message = format!("`significantDigits` is for Real values, but the value is {}", type_name(cx, value));
    error("E0354", span, message).hint("leave it out; `minimumLength` and `leftJustified` work for every type")
}

/// `String(x, format = "g", minimumLength = 3)`
pub(crate) fn format_excludes(name: &str, span: Span) -> Diagnostic {
    error("E0355", span, format!("`format` of `String` cannot be combined with `{name}`"))
        .hint("the format text says it all, as in `format = \"10.3f\"`")
}

/// `smooth(-1, x)`
pub(crate) fn value_too_small(function: &str, name: &str, value: i64, least: i64, span: Span) -> Diagnostic {
    let message = format!("argument `{name}` of `{function}` must be at least {least}, but it is {value}");
    let diagnostic = error("E0356", span, message);
    diagnostic.hint(match (function, name) {
        ("smooth", _) => "0 stands for continuous, 1 for continuously differentiable",
        ("promote", _) => "`promote` appends dimensions; to drop some use subscripts, `vector` or `scalar`",
        (_, "factor") => "leave it out to have the factor inferred",
        (_, "priority") => "1 is tried first; every transition of a state needs its own priority",
        _ => "it counts ticks or parts of an interval",
    })
}

/// `min(1)`
pub(crate) fn min_max_of_scalar(function: &str, span: Span) -> Diagnostic {
    error("E0357", span, format!("`{function}` with one argument expects an array, but it is a scalar"))
        .hint(format!("write `{function}(x, y)` or `{function}({{x, y, z}})`"))
}

/// `promote(A, 1000)`
pub(crate) fn value_too_large(function: &str, name: &str, value: i64, most: i64, span: Span) -> Diagnostic {
    error("E0358", span, format!("argument `{name}` of `{function}` must be at most {most}, but it is {value}"))
        .hint("the second argument of `promote` is the number of dimensions, not a size")
}
