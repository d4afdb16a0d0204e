//! Every message of the evaluator (family E06xx), one function each.

use saltus_base::{Code, Diagnostic, Span};
use saltus_flat::Type;

fn dims_text(dims: &[usize]) -> String {
    let sizes: Vec<String> = dims.iter().map(usize::to_string).collect();
    if sizes.is_empty() { "a scalar".into() } else { format!("size [{}]", sizes.join(", ")) }
}

pub fn not_constant(span: Span, what: &str, purpose: &str) -> Diagnostic {
    Diagnostic::new(Code("E0601"), span, format!("{what} has no value at compile time, but {purpose} needs one"))
        .hint("use constants, or parameters with a declaration equation")
}

pub fn division_by_zero(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0602"), span, "division by zero").hint("the divisor must be different from 0")
}

pub fn index_out_of_range(span: Span, index: i64, size: usize, dimension: usize) -> Diagnostic {
    let allowed = if size == 0 { "the dimension is empty".to_string() } else { format!("allowed are 1 to {size}") };
    Diagnostic::new(
        Code("E0603"),
        span,
        format!("subscript {index} is out of range in dimension {}: {allowed}", dimension + 1),
    )
}

pub fn too_many_subscripts(span: Span, n: usize, rank: usize) -> Diagnostic {
    Diagnostic::new(Code("E0603"), span, format!("{n} subscripts for an array with {rank} dimensions"))
}

pub fn too_many_steps(span: Span, steps: u64, function: Option<&str>) -> Diagnostic {
    let what = match function {
        Some(name) => format!("evaluation of `{name}`"),
        None => "evaluation of this expression".to_string(),
    };
    Diagnostic::new(Code("E0604"), span, format!("{what} took more than {steps} steps"))
        .hint("the value is needed at compile time because an array size, a condition or a constant depends on it")
        .hint("check for a loop that does not end")
}

/// The user does not want to wait for the end of a long evaluation.
pub fn interrupted(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0619"), span, "the evaluation was interrupted")
}

pub fn calls_too_deep(span: Span, depth: u32, function: &str) -> Diagnostic {
    Diagnostic::new(Code("E0605"), span, format!("calls are nested more than {depth} deep at `{function}`"))
        .hint("check that the recursion ends")
}

pub fn nested_too_deeply(span: Span, levels: u32) -> Diagnostic {
    Diagnostic::new(Code("E0605"), span, format!("expressions and calls are nested more than {levels} levels deep"))
        .hint("check that the recursion ends, or split the expression")
}

pub fn array_too_large(span: Span, limit: u64) -> Diagnostic {
    Diagnostic::new(Code("E0606"), span, format!("an array of more than {limit} elements is needed at compile time"))
}

pub fn string_too_long(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::new(Code("E0606"), span, format!("a String of more than {limit} bytes is needed at compile time"))
}

pub fn assertion_failed(span: Span, message: &str, function: Option<(&str, Span)>) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code("E0607"), span, format!("assertion failed: {message}"));
    match function {
        Some((name, at)) if at != span => diagnostic.label(at, format!("the assertion in `{name}`")),
        _ => diagnostic,
    }
}

pub fn assertion_warning(span: Span, message: &str, function: Option<(&str, Span)>) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code("W0607"), span, format!("assertion violated: {message}"));
    match function {
        Some((name, at)) if at != span => diagnostic.label(at, format!("the assertion in `{name}`")),
        _ => diagnostic,
    }
}

pub fn out_of_domain(span: Span, function: &str, argument: f64, allowed: &str) -> Diagnostic {
    Diagnostic::new(
        Code("E0608"),
        span,
        format!("`{function}({argument})` is not defined: the argument must be {allowed}"),
    )
}

pub fn power_undefined(span: Span, base: f64, exponent: f64) -> Diagnostic {
    Diagnostic::new(Code("E0608"), span, format!("`{base} ^ {exponent}` has no real value"))
        .hint("a negative base needs an Integer exponent, a zero base one that is not negative")
}

pub fn integer_overflow(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0609"), span, "Integer overflow: the result does not fit into 64 bits")
}

pub fn sizes_disagree(span: Span, left: &[usize], right: &[usize]) -> Diagnostic {
    Diagnostic::new(Code("E0610"), span, format!("array sizes disagree: {} and {}", dims_text(left), dims_text(right)))
}

pub fn size_expected(span: Span, name: &str, dimension: usize, expected: i64, found: usize) -> Diagnostic {
    Diagnostic::new(
        Code("E0610"),
        span,
        format!("dimension {} of `{name}` has size {found}, its declaration says {expected}", dimension + 1),
    )
}

/// An input whose size an Integer argument states, which other tools do not look at.
pub fn size_stated(span: Span, name: &str, dimension: usize, stated: i64, found: usize) -> Diagnostic {
    Diagnostic::new(
        Code("W0610"),
        span,
        format!(
            "dimension {} of `{name}` has size {found}, the argument that its declaration names says {stated}",
            dimension + 1
        ),
    )
    .hint("the call goes on with the array as it is")
}

/// A function reads a variable on a way on which nothing is assigned to it (specification 12.4.4).
pub fn used_without_value(span: Span, name: &str, ty: &Type, function: &str, at: Span) -> Diagnostic {
    let text = format!("`{name}` is used in the function `{function}` before it has a value");
    without_value(span, text, name, ty, at, "it is used here")
}

/// A function returns without a value of an output that the caller uses.
pub fn returned_without_value(span: Span, name: &str, ty: &Type, function: &str, at: Span) -> Diagnostic {
    let text = format!("the function `{function}` returns before its output `{name}` has a value");
    without_value(span, text, name, ty, at, "the output")
}

/// Arrays without a value are zero in other tools, and there are libraries that have such functions: a warning.
fn without_value(span: Span, text: String, name: &str, ty: &Type, at: Span, label: &str) -> Diagnostic {
    let diagnostic = match ty.is_scalar() {
        true => Diagnostic::new(Code("E0620"), span, text),
        false => Diagnostic::new(Code("W0620"), span, format!("{text}: its elements are taken as zero")),
    };
    let diagnostic = diagnostic.hint(format!(
        "assign `{name}` before, whichever way the algorithm goes, or give it a value where it is declared"
    ));
    if at != span && !at.is_nowhere() { diagnostic.label(at, label) } else { diagnostic }
}

pub(crate) const WITHOUT_VALUE: Code = Code("E0620");
pub(crate) const ARRAY_WITHOUT_VALUE: Code = Code("W0620");

/// What all messages about sizes that do not fit have in common.
pub(crate) const SIZE_MISMATCH: Code = Code("E0610");
pub(crate) const SIZE_WARNING: Code = Code("W0610");

pub fn shape_expected(span: Span, what: &str, expected: &str, found: &[usize]) -> Diagnostic {
    Diagnostic::new(Code("E0610"), span, format!("`{what}` needs {expected}, found {}", dims_text(found)))
}

pub fn negative_size(span: Span, size: i64) -> Diagnostic {
    Diagnostic::new(Code("E0610"), span, format!("an array size is {size}, it must not be negative"))
}

pub fn no_such_literal(span: Span, ordinal: i64, name: &str, count: usize) -> Diagnostic {
    Diagnostic::new(
        Code("E0611"),
        span,
        format!("{ordinal} is not the number of a literal of `{name}`, which has {count}"),
    )
}

pub fn zero_step(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0612"), span, "the step of a range is zero")
        .hint("write `start:stop` for a step of 1, or a step different from 0")
}

pub fn linspace_too_few(span: Span, n: i64) -> Diagnostic {
    Diagnostic::new(Code("E0612"), span, format!("`linspace` needs at least 2 points, found {n}"))
}

pub fn kind_mismatch(span: Span, expected: &str, found: &str) -> Diagnostic {
    Diagnostic::new(Code("E0613"), span, format!("expected {expected}, found a value of type {found}"))
}

pub fn wrong_arguments(span: Span, what: &str, found: usize) -> Diagnostic {
    Diagnostic::new(Code("E0613"), span, format!("`{what}` cannot be called with {found} arguments"))
}

pub fn empty_reduction(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(Code("E0613"), span, format!("`{what}` of an empty array has no value for this element type"))
}

pub fn external_failed(span: Span, function: &str, reason: &str) -> Diagnostic {
    Diagnostic::new(Code("E0614"), span, format!("the external function `{function}` failed: {reason}"))
}

pub fn bad_format(span: Span, format: &str) -> Diagnostic {
    Diagnostic::new(Code("E0615"), span, format!("`{format}` is not a format that `String` accepts for this value"))
        .hint("expected flags, width, precision and one of `f e E g G`, for Integers also `d i o x X u c`, without `%`")
}

pub fn cyclic_local(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(Code("E0616"), span, format!("the initial value or size of `{name}` depends on itself"))
}

pub fn terminated(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code("E0617"), span, format!("terminated during evaluation at compile time: {message}"))
}

pub fn unknown_local(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0618"), span, "this iteration or local variable has no value here")
}
