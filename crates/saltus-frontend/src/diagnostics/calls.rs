//! Messages about calls, functions, loops and statements: E0360–E0389 and E0460–E0469.

use saltus_base::{Diagnostic, Span};

use super::{DidYouMean, counted, message};

/// A call of something unknown.
pub fn function_not_found(name: &str, nearest: Option<&str>, span: Span) -> Diagnostic {
    message("E0360", span, format!("function `{name}` not found"))
        .did_you_mean(nearest, "check the spelling and the imports")
        .or_write(nearest.filter(|_| !name.contains('.')))
}

/// A call of something that is not a function.
pub fn not_a_function(name: &str, span: Span) -> Diagnostic {
    message("E0361", span, format!("`{name}` is not a function"))
        .hint("only functions, records and external objects can be called")
}

/// More arguments than inputs.
pub fn too_many_arguments(function: &str, given: usize, inputs: usize, span: Span) -> Diagnostic {
    message("E0362", span, format!("`{function}` takes {}, but {given} are given", counted(inputs, "argument")))
        .hint("remove the surplus arguments")
}

/// A named argument that is not an input.
pub fn no_such_input(name: &str, function: &str, inputs: &[String], span: Span) -> Diagnostic {
    message("E0363", span, format!("`{function}` has no input `{name}`"))
        .hint(format!("its inputs are {}", inputs.join(", ")))
}

/// An argument given by position and by name.
pub fn argument_twice(name: &str, function: &str, span: Span) -> Diagnostic {
    message("E0364", span, format!("the argument `{name}` of `{function}` is given twice"))
        .hint("give it by position or by name, not both")
}

/// An input without argument and default.
pub fn missing_argument(function: &str, input: &str, position: usize, span: Span) -> Diagnostic {
    message("E0365", span, format!("argument {position} (`{input}`) of `{function}` is missing"))
        .hint("it has no default; give it by position or by name")
}

/// A record is made of a component whose element may be missing.
pub fn cast_of_conditional(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0376", span, format!("`{name}` is a conditional component, which cannot become a field of a record"))
        .label(declared, "declared here with a condition")
        .hint("write the constructor with an argument for each field")
}

/// Arguments of a vectorised call that do not go together.
pub fn vectorised_sizes(function: &str, span: Span) -> Diagnostic {
    message("E0366", span, format!("the array arguments of this call of `{function}` do not have the same sizes"))
        .hint("a call with arrays for scalar inputs is repeated for each element; the sizes must agree")
}

/// A conversion `E(i)` with other than one argument.
pub fn enumeration_call(name: &str, span: Span) -> Diagnostic {
    message("E0367", span, format!("the conversion `{name}(i)` takes one Integer"))
        .hint("write the ordinal number of the literal, counted from 1")
}

/// A call with iterators that is not a reduction.
pub fn not_a_reduction(function: &str, span: Span) -> Diagnostic {
    message("E0368", span, format!("`{function}` cannot be used with `for`"))
        .hint("only sum, product, min and max reduce; `{e for i in r}` makes an array")
}

/// No function of an operator fits.
pub fn no_operator(operator: &str, types: &[&str], span: Span) -> Diagnostic {
    let operands = if types.is_empty() { String::new() } else { format!(" for {}", types.join(" and ")) };
    message("E0369", span, format!("no operator {operator}{operands}"))
        .hint("the operator record must define this operator, or a constructor that converts one operand")
}

/// Arrays of records of different sizes.
pub fn operand_sizes(operator: &str, left: usize, right: usize, span: Span) -> Diagnostic {
    message("E0370", span, format!("operands of {operator} have different sizes ({left} and {right})"))
        .hint("both arrays need the same size, known at compile time")
}

/// A state machine operator on something that is not a block.
pub fn not_a_state(operator: &str, span: Span) -> Diagnostic {
    message("E0371", span, format!("`{operator}` expects block instances as states"))
        .hint("name a component whose class is a block")
}

/// A component's annotation asks for something that does not exist.
pub fn unknown_treatment(name: &str, span: Span) -> Diagnostic {
    message("E0384", span, format!("`{name}` with this value is not known in the annotation `__Saltus` of a component"))
        .hint("`linearized = true`, `solver = \"rodas\"` and `tolerance = 1e-8` are, for states of state machines")
}

/// A class that cannot be the type of a variable in a function.
pub fn not_a_function_type(class: &str, span: Span) -> Diagnostic {
    message("E0372", span, format!("`{class}` cannot be the type of a variable in a function or record"))
        .hint("use a built-in type, an enumeration, a record or an external object")
}

/// An equation section in a function.
pub fn equation_in_function(span: Span) -> Diagnostic {
    message("E0460", span, "a function has no equations".to_string()).hint("write an algorithm with assignments `:=`")
}

/// `when` in a function.
pub fn when_in_function(span: Span) -> Diagnostic {
    message("E0461", span, "`when` is not allowed in a function".to_string())
        .hint("a function knows no events; use `if`")
}

/// `return` outside of a function.
pub fn return_outside_function(span: Span) -> Diagnostic {
    message("E0462", span, "`return` is allowed in functions only".to_string())
        .hint("use `if` to skip the rest of an algorithm")
}

/// An assignment to a parameter or constant.
pub fn assigns_parameter(name: &str, span: Span, declared: Span) -> Diagnostic {
    message("E0463", span, format!("`{name}` is a parameter or constant and cannot be assigned"))
        .label(declared, "declared here")
        .hint("assign in an initial algorithm with `fixed = false`, or remove the prefix")
}

/// An assignment to an input of a function.
pub fn assigns_input(name: &str, span: Span) -> Diagnostic {
    message("E0464", span, format!("the input `{name}` of a function cannot be assigned"))
        .hint("copy it into a protected variable first")
}

/// An assignment to something that is not a variable.
pub fn not_assignable(text: &str, span: Span) -> Diagnostic {
    message("E0465", span, format!("`{text}` cannot be assigned")).hint("the left-hand side of `:=` must be a variable")
}

/// More equations than memory.
pub fn too_many_equations(most: usize, span: Span) -> Diagnostic {
    message("E0466", span, format!("more than {most} equations")).hint("reduce the range of the loop")
}

/// A loop range that is not a vector.
pub fn range_not_vector(name: &str, span: Span) -> Diagnostic {
    message("E0467", span, format!("the range of `{name}` must be a vector"))
        .hint("write a range such as `1:n` or a vector expression")
}

/// A loop in equations over a range without a value.
pub fn range_not_constant(name: &str, what: &str, span: Span) -> Diagnostic {
    message("E0468", span, format!("the range of `{name}` needs a value at compile time, but {what} has none"))
        .hint("loops over equations need parameters and constants with values in their ranges")
}

/// A loop without a range whose index is nowhere a subscript.
pub fn range_not_deducible(name: &str, span: Span) -> Diagnostic {
    message("E0469", span, format!("the range of `{name}` is missing and cannot be found from its use"))
        .hint("write `in 1:n`, or use it as a plain subscript of an array")
}

/// `R r(q(x = 1))` in a function, where `q` is an array, or has a value in `R`.
pub fn modified_part_of_record(name: &str, span: Span, declared: Span) -> Diagnostic {
    let text =
        format!("a part of `{name}` is modified in a function, where `{name}` is an array or has a value as a whole");
    message("E0374", span, text).label(declared, "declared here").hint("give the record its value in a statement")
}

/// `der(g, x)` of a class that is not a function.
pub fn derivative_of_no_function(name: &str, span: Span) -> Diagnostic {
    message("E0380", span, format!("`{name}` is not a function, so it has no partial derivative"))
        .hint("`function f = der(g, x)` takes a function and some of its inputs")
}

/// `der(g, x)` by something other than a scalar Real input.
pub fn derivative_by(function: &str, by: &str, span: Span) -> Diagnostic {
    message("E0381", span, format!("`{by}` is not a scalar Real input of `{function}`"))
        .hint("partial derivatives are taken by inputs that are scalar and Real")
}

/// `der(g, x)` of a function with a result that is not a number to differentiate.
pub fn derivative_of_output(function: &str, output: &str, span: Span) -> Diagnostic {
    message("E0382", span, format!("the output `{output}` of `{function}` is not Real and has no partial derivative"))
        .hint("differentiate a function whose outputs are Real")
}

/// `der(g, x)` of a function with a part that Saltus cannot differentiate.
pub fn not_differentiable(function: &str, by: &str, part: Option<Span>, span: Span) -> Diagnostic {
    let message = message("E0383", span, format!("`{function}` cannot be differentiated by `{by}`"))
        .hint("an external function needs a derivative annotation; functions as arguments are not differentiated");
    match part {
        Some(part) => message.label(part, "the derivative of this is not known"),
        None => message,
    }
}
