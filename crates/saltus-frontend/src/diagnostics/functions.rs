//! Messages about functions, external functions, operators and statements: E0470–E0499.

use saltus_base::{Diagnostic, Span};

use super::message;

/// More than one body.
pub fn function_sections(function: &str, span: Span) -> Diagnostic {
    message("E0470", span, format!("the function `{function}` has more than one algorithm or external clause"))
        .hint("a function has one algorithm section or one external clause, inherited ones included")
}

/// `initial algorithm` in a function.
pub fn initial_algorithm_in_function(span: Span) -> Diagnostic {
    message("E0471", span, "a function has no initial algorithm".to_string()).hint("write `algorithm`")
}

/// A public variable that is neither input nor output.
pub fn public_function_variable(name: &str, span: Span) -> Diagnostic {
    message("E0472", span, format!("the public variable `{name}` of a function is neither input nor output"))
        .hint("declare it in a `protected` section, or as `input` or `output`")
}

/// A protected input or output.
pub fn protected_formal_parameter(name: &str, span: Span) -> Diagnostic {
    message("E0473", span, format!("`{name}` is an input or output of a function and must be public"))
        .hint("declare it before `protected`")
}

/// `inner` or `outer` in a function.
pub fn function_inner_outer(name: &str, span: Span) -> Diagnostic {
    message("E0474", span, format!("`{name}` of a function cannot be `inner` or `outer`"))
        .hint("hand the value in as an input")
}

/// `time` in a function.
pub fn time_in_function(span: Span) -> Diagnostic {
    message("E0475", span, "`time` cannot be used in a function".to_string()).hint("hand it in as an input")
}

/// A call of a partial function.
pub fn partial_function_call(function: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0476", span, format!("`{function}` is partial and cannot be called"))
        .label(declared, "declared partial here")
        .hint("call a function that extends it and has an algorithm, or redeclare it")
}

/// A function that does not fit the function type of an input.
pub fn function_argument(function: &str, input: &str, why: &str, span: Span) -> Diagnostic {
    message("E0478", span, format!("the function `{function}` does not fit the input `{input}`: {why}"))
        .hint("its inputs and outputs must have the types of the function type, those that follow need defaults")
}

/// Values of function variables that need each other.
pub fn cyclic_locals(names: &[String], function: &str, span: Span) -> Diagnostic {
    let text = format!("the values of `{}` in the function `{function}` depend on each other", names.join("` and `"));
    message("E0479", span, text).hint("assign one of them in the algorithm")
}

/// A function other than the constructor that returns an external object.
pub fn returns_object(function: &str, output: &str, span: Span) -> Diagnostic {
    message("E0480", span, format!("the output `{output}` of `{function}` is an external object"))
        .hint("only its constructor makes an external object; declare a component of its class")
}

/// A constructor or destructor called by name.
pub fn calls_object_function(name: &str, span: Span) -> Diagnostic {
    message("E0481", span, format!("`{name}` cannot be called"))
        .hint("call the class of the external object like a function; it is destroyed by itself")
}

/// An external clause in an unknown language.
pub fn external_language(language: &str, span: Span) -> Diagnostic {
    message("E0482", span, format!("`\"{language}\"` is not a language of external functions"))
        .hint("the languages are \"C\", \"FORTRAN 77\" and \"builtin\"")
}

/// An argument that cannot be handed to foreign code.
pub fn external_argument(span: Span) -> Diagnostic {
    message("E0483", span, "this cannot be an argument of an external function".to_string()).hint(
        "hand over variables, scalar expressions and sizes `size(x, 1)`; assign others to a protected variable first",
    )
}

/// An array as the result of foreign code.
pub fn external_array_result(name: &str, span: Span) -> Diagnostic {
    message("E0484", span, format!("the array `{name}` cannot be the result of an external function"))
        .hint("hand it over as an argument, with its sizes")
}

/// An annotation about an input that does not exist.
pub fn annotation_input(annotation: &str, name: &str, function: &str, span: Span) -> Diagnostic {
    message("E0485", span, format!("`{annotation}`: `{name}` is not an input of `{function}`"))
        .hint("name one of the inputs of the function")
}

/// The order of a derivative that is not a literal.
pub fn derivative_order(span: Span) -> Diagnostic {
    message("E0486", span, "the order of a derivative must be a positive Integer".to_string()).hint("write `order = 2`")
}

/// An inverse of a function with several outputs.
pub fn inverse_outputs(function: &str, span: Span) -> Diagnostic {
    message("E0487", span, format!("`{function}` has an inverse, but not exactly one output"))
        .hint("only functions with one output have inverses; remove the annotation")
}

/// `break` outside of a loop.
pub fn break_outside_loop(span: Span) -> Diagnostic {
    message("E0488", span, "`break` is allowed in `for` and `while` only".to_string())
        .hint("use `return` to leave a function, or `if` to skip statements")
}

/// An assignment to the index of a loop.
pub fn assigns_iterator(name: &str, span: Span) -> Diagnostic {
    message("E0489", span, format!("the loop index `{name}` cannot be assigned")).hint("use another variable")
}

/// `terminate` in a function.
pub fn terminate_in_function(span: Span) -> Diagnostic {
    message("E0477", span, "`terminate` is not allowed in a function".to_string())
        .hint("a function computes; return what the model needs to decide, or use `assert`")
}

/// `(x + 1, y) = f(…)`.
pub fn tuple_target(span: Span) -> Diagnostic {
    message("E0490", span, "expected a variable on the left of several results".to_string())
        .hint("name a variable for each result, and write the equation about it on its own")
}

/// A clocked `when` with `elsewhen`.
pub fn clocked_elsewhen(span: Span) -> Diagnostic {
    message("E0491", span, "a clocked `when` has no `elsewhen`".to_string())
        .hint("write a `when` of its own for each clock")
}

/// A clocked `when` in an algorithm.
pub fn clocked_when_statement(span: Span) -> Diagnostic {
    message("E0492", span, "a clocked `when` is not allowed in an algorithm".to_string())
        .hint("write it in an equation section")
}

/// A function of an element of an array of components.
pub fn function_of_element(name: &str, span: Span) -> Diagnostic {
    message("E0493", span, format!("`{name}` is called through a subscript"))
        .hint("call a function through its class, or through a component that is not an array")
}

/// Several functions of an operator that fit.
pub fn ambiguous_operator(operator: &str, functions: &[String], span: Span) -> Diagnostic {
    let text = format!("the operator {operator} is ambiguous: `{}` fit", functions.join("` and `"));
    message("E0494", span, text).hint("call the function that is meant by its name, or remove one of them")
}

/// An operator function with no or several outputs.
pub fn operator_outputs(function: &str, span: Span) -> Diagnostic {
    message("E0495", span, format!("`{function}` must have exactly one output"))
        .hint("remove the others; an operator has one result")
}

/// `pure(x)`.
pub fn pure_argument(span: Span) -> Diagnostic {
    message("E0496", span, "`pure` expects a call of a function".to_string())
        .hint("write `pure(f(…))` around the call of an impure function")
}

/// An assertion level that varies.
pub fn assertion_level_varies(span: Span) -> Diagnostic {
    message("E0497", span, "the level of an assertion must be a parameter expression".to_string())
        .hint("write `AssertionLevel.warning`, or two assertions")
}

/// A call of an operator record that none of its constructors takes.
pub fn no_constructor(record: &str, span: Span) -> Diagnostic {
    message("E0499", span, format!("no constructor of `{record}` takes these arguments"))
        .hint("a record with a `'constructor'` is made by it alone; look up the inputs of its functions")
}

/// An index without a range that runs over dimensions of different sizes.
pub fn deduced_ranges_differ(name: &str, first: u64, second: u64, span: Span) -> Diagnostic {
    let text =
        format!("the index `{name}` has no range and is used for dimensions of {first} and of {second} elements");
    message("E0498", span, text).hint("write its range: `in 1:n`")
}

/// A clock in a function.
pub fn clock_in_function(name: &str, function: &str, span: Span) -> Diagnostic {
    message("E0375", span, format!("the variable `{name}` of the function `{function}` is a clock"))
        .hint("clocks belong to equations; a function computes values")
}
