//! Messages about what classes promise to those who use them: connectors, replacements, purity, derivatives, annotations.
//! E0390–E0399 and 0548–0559.

use saltus_base::{Diagnostic, Severity, Span};

use super::message;

/// A connector whose flows and potentials do not pair up.
pub fn unbalanced_connector(class: &str, flows: u64, potentials: u64, span: Span) -> Diagnostic {
    message("W0548", span, format!("the connector `{class}` has {flows} flow variables and {potentials} potentials"))
        .severity(Severity::Warning)
        .hint("each potential needs a flow variable; variables without one are `input`, `output` or `stream`")
}

/// A connector of potentials alone, without a direction.
pub fn undirected_connector(name: &str, class: &str, span: Span) -> Diagnostic {
    message("W0549", span, format!("`{name}` has no direction, and neither has its connector `{class}`"))
        .severity(Severity::Warning)
        .hint("write `input` or `output` in front of it, or declare it protected")
}

/// A connector of a block with variables that are neither inputs nor outputs.
pub fn acausal_block_connector(block: &str, name: &str, variable: &str, span: Span) -> Diagnostic {
    let text =
        format!("`{name}` is a connector of the block `{block}`, but `{variable}` is neither an input nor an output");
    message("W0550", span, text)
        .severity(Severity::Warning)
        .hint("make it a model, or use connectors that consist of inputs and outputs")
}

/// `inner` or `outer` in front of a component that must be connected from outside.
pub fn inner_with_inputs(prefix: &str, name: &str, connector: &str, span: Span) -> Diagnostic {
    message("W0551", span, format!("`{name}` is {prefix}, but its connector `{connector}` has inputs"))
        .severity(Severity::Warning)
        .hint("give the value another way, for example by an `outer` variable inside of it")
}

/// `connect` of two elements that stand for others.
pub fn connects_outers(a: &str, b: &str, span: Span) -> Diagnostic {
    message("E0548", span, format!("`{a}` and `{b}` are both of outer elements and cannot be connected here"))
        .hint("connect them where the `inner` elements are declared")
}

/// More connections than a connector wants.
pub fn connected_too_often(name: &str, n: usize, why: &str, span: Span) -> Diagnostic {
    let text = format!("`{name}` is connected with {} others, but must be connected once at most: {why}", n - 1);
    message("E0549", span, text).hint("remove a connection, or put a node between them")
}

/// A constraining type that allows more than the one it replaces.
pub fn wider_constraint(name: &str, new: &str, old: &str, lacks: &str, span: Span) -> Diagnostic {
    let text = format!("`{name}` was constrained by `{old}` and is now by `{new}`, which has no `{lacks}`");
    message("E0390", span, text).hint(format!("use a constraining type that extends `{old}`"))
}

/// A replacement with an element of another type, size or with other prefixes than the original.
pub fn incompatible_replacement(
    name: &str,
    [class, constraint]: [&str; 2],
    [element, given, wanted]: [&str; 3],
    span: Span,
) -> Diagnostic {
    let text = format!(
        "`{name}` cannot be redeclared as `{class}`: `{element}` is {given} in it, but {wanted} in `{constraint}`"
    );
    message("E0394", span, text).hint(format!("use a class whose public elements are those of `{constraint}`"))
}

/// Something whose class fixes its meaning, replaced by something else.
pub fn other_kind_of_value(name: &str, what: &str, wanted: &str, given: &str, span: Span) -> Diagnostic {
    message("E0391", span, format!("`{name}` is the {what} `{wanted}` and cannot become `{given}`"))
        .hint(format!("use `{wanted}` itself or a class derived from it"))
}

/// A function that has effects where one without them was promised.
pub fn impure_replacement(name: &str, given: &str, span: Span) -> Diagnostic {
    message("E0392", span, format!("`{name}` is replaced by the impure function `{given}`"))
        .hint("declare the replaceable function as `impure`, or take one without effects")
}

/// An impure call in a function that is declared `pure`.
pub fn pure_calls_impure(function: &str, called: &str, span: Span) -> Diagnostic {
    message("E0393", span, format!("the function `{function}` is declared pure and calls `{called}`, which is impure"))
        .hint("remove `pure`, or write `pure(…)` around the call if its effects do not matter")
}

/// An impure call in a function that does not say that it is impure.
pub fn silently_impure(function: &str, called: &str, span: Span) -> Diagnostic {
    message("W0393", span, format!("the function `{function}` calls `{called}`, which is impure, and does not say so"))
        .severity(Severity::Warning)
        .hint(format!("declare `{function}` as `impure`, or write `pure(…)` around the call"))
}

/// A function named as a derivative that takes or returns something else.
pub fn derivative_signature(function: &str, derivative: &str, why: &str, span: Span) -> Diagnostic {
    message("W0394", span, format!("`{derivative}` cannot be the derivative of `{function}` and is not used as such: {why}"))
        .severity(Severity::Warning)
        .hint("its inputs are those of the function followed by their derivatives, its outputs the derivatives of the Real outputs")
}

/// Descriptions or annotations at two places of one declaration.
pub fn annotated_twice(name: &str, span: Span, constraint: Span) -> Diagnostic {
    message("E0395", span, format!("`{name}` is annotated here and behind its constraining type"))
        .label(constraint, "the constraining type")
        .hint("keep one of them: both are about the declaration")
}

/// A class that is there for one component.
pub fn single_instance(class: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    message(
        "W0396",
        span,
        format!("`{class}` has the annotation `singleInstance`, and `{name}` is not its only component"),
    )
    .severity(Severity::Warning)
    .label(first, "the other one")
    .hint("make another class for it")
}

/// A test case as a part of something else.
pub fn uses_test_case(class: &str, span: Span) -> Diagnostic {
    message("W0397", span, format!("the class `{class}` is a test case, and this class is not"))
        .severity(Severity::Warning)
        .hint("move what is needed into a class without the annotation `TestCase`")
}
