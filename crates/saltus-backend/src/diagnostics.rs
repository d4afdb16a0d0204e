//! The messages of the back end (codes E08xx and W08xx): wording lives here.

pub mod clocks;
pub mod machines;

use saltus_base::{Code, Diagnostic, Span};

/// A construct that the back end does not handle yet.
pub fn not_supported(what: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0801"), span, format!("not supported yet: {what}"))
}

/// Whether something is wrong with what the back end can do rather than with the model.
pub fn is_not_supported(diagnostic: &Diagnostic) -> bool {
    diagnostic.code.0 == "E0801"
}

pub fn structurally_singular(
    equations: &[Span],
    unknowns: &[String],
    n_equations: usize,
    n_unknowns: usize,
) -> Diagnostic {
    let span = equations.first().copied().unwrap_or(Span::nowhere());
    let message = if n_equations == n_unknowns {
        format!("the equations do not determine {}", list(unknowns))
    } else {
        format!("{n_equations} equations for {n_unknowns} unknowns: not determined are {}", list(unknowns))
    };
    let mut diagnostic = Diagnostic::new(Code("E0802"), span, message)
        .hint("one of the equations that share these unknowns is superfluous, or one is missing elsewhere");
    for &span in equations.iter().skip(1).take(10) {
        diagnostic = diagnostic.label(span, "this equation competes for the same unknowns");
    }
    diagnostic
}

/// Is it the warning about a switch that changes the index?
pub fn is_index_change(diagnostic: &Diagnostic) -> bool {
    diagnostic.code.0 == "W0818"
}

/// Whether a message of [`sort`](crate::sort) is about a model that no tool could simulate: equations without unknowns or
/// unknowns without equations, whatever the values of parameters.
pub fn is_structurally_singular(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code.0, "E0802" | "E0813")
}

/// Whether a message of [`sort`](crate::sort) says which start values are taken where initial conditions are missing.
pub fn is_of_assumptions(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code.0, "W0819")
}

pub fn too_many_equations(span: Span, competing: &[Span]) -> Diagnostic {
    let message = "this equation has no unknown left to determine: too many equations for the unknowns it shares";
    let mut diagnostic = Diagnostic::new(Code("E0802"), span, message)
        .hint("one of the equations that share these unknowns is superfluous, or one is missing elsewhere");
    for &other in competing.iter().filter(|&&s| s != span).take(10) {
        diagnostic = diagnostic.label(other, "competes for the same unknowns");
    }
    diagnostic
}

/// Integers, Booleans and enumerations are determined by equations of their own type, `when`-clauses and algorithms. The solution of a Real
/// equation need not be a whole number.
pub fn real_equation_of_integer(name: &str, span: Span) -> Diagnostic {
    let message = format!("this Real equation cannot determine `{name}`, which is not Real");
    Diagnostic::new(Code("E0867"), span, message)
        .hint(format!("round what `{name}` shall be: `integer(x)` rounds down, `integer(x + 0.5)` to the nearest"))
        .hint(format!("or declare `{name}` as Real"))
}

pub fn algebraic_loop(unknowns: &[String], equations: &[Span]) -> Diagnostic {
    let span = equations.first().copied().unwrap_or(Span::nowhere());
    let message = format!(
        "not supported yet: a loop whose discrete and continuous equations cannot be told apart, among {}",
        list(unknowns)
    );
    let mut diagnostic = Diagnostic::new(Code("E0803"), span, message);
    for &other in equations.iter().skip(1).take(10) {
        diagnostic = diagnostic.label(other, "part of the loop");
    }
    diagnostic
}

/// An equation on the way around a loop.
pub struct LoopPart {
    pub span: Span,
    /// Of a `when`; others always hold.
    pub condition: Option<String>,
    pub gives: String,
    pub needs: String,
}

/// Two `when`-clauses with different conditions compute variables from each other. If only one of them becomes active,
/// there is one equation for two unknowns, and which of them should keep its value is not defined.
pub fn when_deadlock(names: [&str; 2], parts: &[LoopPart]) -> Diagnostic {
    let [a, b] = names;
    let message = format!("`{a}` and `{b}` are computed from each other in when-clauses with different conditions");
    let span = parts.first().map_or(Span::nowhere(), |part| part.span);
    let mut diagnostic = Diagnostic::new(Code("E0804"), span, message)
        .hint(format!("write `pre({b})` for the value before, or give both clauses the same condition"));
    for part in parts {
        let when = part.condition.as_ref().map_or("always".to_owned(), |condition| format!("when {condition}"));
        let text = format!("{when}: determines `{}`, needs `{}`", part.gives, part.needs);
        diagnostic = diagnostic.label(part.span, text);
    }
    diagnostic
}

pub fn too_many_initial_equations(span: Span, competing: &[Span]) -> Diagnostic {
    let message = "this initial condition is one too many: the other equations determine its variables already";
    let mut diagnostic =
        Diagnostic::new(Code("E0805"), span, message).hint("remove a `fixed = true` or an initial equation");
    for &other in competing.iter().filter(|&&s| s != span).take(10) {
        diagnostic = diagnostic.label(other, "also determines them");
    }
    diagnostic
}

pub fn initially_undetermined(unknowns: &[String]) -> Diagnostic {
    let message = format!("the initial values of {} are not determined", list(unknowns));
    Diagnostic::new(Code("E0806"), Span::nowhere(), message).hint("add an initial equation or `fixed = true`")
}

/// There are fewer initial conditions than the initial system needs: start values without `fixed = true` are taken for the
/// missing ones, those of states first.
// Of `n` variables the names of those that are shown.
pub fn assumed_initial_conditions(first: &[String], n: usize) -> Diagnostic {
    let message = match first {
        [one] if n == 1 => format!("an initial condition is missing: the start value of {one} is used"),
        _ => format!("{n} initial conditions are missing: the start values of {} are used", list_of(first, n)),
    };
    Diagnostic::new(Code("W0819"), Span::nowhere(), message)
}

/// Parameters that nothing gives a value. They have the start value, which is 0 if there is none either.
pub fn parameters_without_values(parameters: &[String], span: Span) -> Diagnostic {
    let message = match parameters {
        [one] => format!("the parameter {one} has no value: it is 0 unless it is set"),
        many => format!("{} parameters have no value: {} are 0 unless they are set", many.len(), list(many)),
    };
    Diagnostic::new(Code("W0820"), span, message).hint("give it a value where it is declared, or in a modification")
}

pub fn not_a_state(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0807"), span, format!("reinit of {name}, which is not a state: der({name}) does not occur"))
}

/// ```modelica
/// when initial() then
///   if x > 1 then
///     reinit(y, 2); // is y = 2 an initial equation? That would depend on the solution
///   end if;
/// end when;
/// ```
pub fn conditional_initial_reinit(state: &str, span: Span) -> Diagnostic {
    let message = format!(
        "whether this reinit gives {state} its initial value depends on a condition that is not known before the simulation"
    );
    Diagnostic::new(Code("E0950"), span, message)
        .hint("give the other branch a `reinit` of it too, or make the condition one of parameters")
}

pub fn when_left_side(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0808"), span, "the left-hand side of an equation in a when must be a variable")
}

pub fn unequal_branches(n_first: usize, n_other: usize, span: Span) -> Diagnostic {
    let message =
        format!("the branches of this if have {n_first} and {n_other} equations; they must have equally many");
    Diagnostic::new(Code("E0809"), span, message)
}

pub fn cyclic_parameters(names: &[String], span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0810"), span, format!("the values of the parameters {} depend on each other", list(names)))
}

pub fn index_out_of_range(index: f64, size: u64, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0811"), span, format!("the subscript {index} is outside 1 to {size}"))
}

/// What is said before and after the value of a subscript at run time.
pub fn subscript_outside(access: &str, size: usize) -> (String, String) {
    ("the subscript ".to_owned(), format!(" in `{access}` is outside 1 to {size}"))
}

/// What is said before and after the size that a declaration states at run time.
pub fn size_stated(name: &str, dimension: usize, found: usize) -> (String, String) {
    (format!("dimension {} of `{name}` has size {found}, its declaration says ", dimension + 1), String::new())
}

/// An Integer expression that is too large to be exact.
pub fn integer_overflow(expression: &str) -> String {
    format!("Integer overflow: `{expression}` is beyond ±2^53, up to which Integers are exact")
}

pub fn too_large(span: Span) -> Diagnostic {
    let most = crate::tuning::form::MOST_ELEMENTS;
    Diagnostic::new(Code("E0812"), span, format!("not supported yet: an array of more than {most} elements"))
}

/// Is it about something that is too large to be written out?
pub fn is_too_large(diagnostic: &Diagnostic) -> bool {
    diagnostic.code.0 == "E0812"
}

/// Equations and variables that no differentiation makes solvable.
pub fn singular_subset(equations: &[Span], unknowns: &[String]) -> Diagnostic {
    let span = equations.first().copied().unwrap_or(Span::nowhere());
    let message = format!(
        "structurally singular: {} equations contain only {} unknowns ({})",
        equations.len(),
        unknowns.len(),
        list(unknowns)
    );
    let mut diagnostic = Diagnostic::new(Code("E0813"), span, message)
        .hint("one of these equations is superfluous, or a variable is missing in them");
    for &other in equations.iter().skip(1).take(10) {
        diagnostic = diagnostic.label(other, "one of them");
    }
    diagnostic
}

/// One constraint follows from the others, or contradicts them.
pub fn dependent_constraints(equations: &[Span]) -> Diagnostic {
    let span = equations.first().copied().unwrap_or(Span::nowhere());
    let message = "these constraints between states depend on each other: they determine fewer variables than they are";
    let mut diagnostic = Diagnostic::new(Code("E0815"), span, message)
        .hint("remove one of them; in a planar kinematic loop use a joint that closes the loop in the plane only");
    for &other in equations.iter().skip(1).take(10) {
        diagnostic = diagnostic.label(other, "one of them");
    }
    diagnostic
}

/// In one position of a switch the equations of a loop do not determine its variables: equations between states alone would
/// have to be differentiated there, as with an ideal switch across a capacitor or in series with an inductor.
pub fn index_changes(condition: &str, value: bool, unknowns: &[String], equations: &[(Span, String)]) -> Diagnostic {
    let span = equations.first().map_or(Span::nowhere(), |e| e.0);
    let message =
        format!("the index changes when `{condition}` is {value}: nothing determines {} then", list(unknowns));
    let mut diagnostic = Diagnostic::new(Code("W0818"), span, message)
        .hint("a small resistance or conductance of the switch keeps the loop solvable in both positions");
    for (span, text) in equations.iter().take(10) {
        diagnostic = diagnostic.label(*span, format!("then reads {text}"));
    }
    diagnostic
}

/// A constraint between states that contains a function without a derivative.
pub fn not_differentiable(function: &str, span: Span) -> Diagnostic {
    let message = format!("this constraint must be differentiated, but the function `{function}` has no derivative");
    Diagnostic::new(Code("E0814"), span, message)
        .hint("give the function a `derivative` annotation, or write it without loops that depend on its inputs")
}

/// A constraint between states that contains an operator whose derivative is not known.
pub fn no_derivative(operator: &str, span: Span) -> Diagnostic {
    let message = format!("this must be differentiated, but the derivative of `{operator}()` is not known");
    Diagnostic::new(Code("E0870"), span, message)
        .hint("make what it gives an input of an integrator or a filter, so that no derivative of it is needed")
}

/// The derivative of an input of the model is needed.
pub fn differentiated_input(input: &str, span: Span) -> Diagnostic {
    let message = format!("the derivative of the input `{input}` is needed: it is the slope of what is given for it");
    Diagnostic::new(Code("W0824"), span, message)
        .hint("a value that is held, or set from outside, has the slope zero: jumps of it are not noticed")
}

/// An impure function is called where equations are evaluated any number of times.
pub fn impure_call(function: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0816"), span, format!("the impure function `{function}` cannot be called here"))
        .hint("impure functions may be called in when-clauses, in initial equations and algorithms, and for parameters")
        .hint("write `pure(…)` around the call if it always gives the same result for the same arguments")
}

/// Calls of functions with very many assertions.
pub fn unchecked_assertions(most: usize) -> Diagnostic {
    let message =
        format!("the functions of this model have more than {most} assertions to check; the rest are not checked");
    Diagnostic::new(Code("W0821"), Span::nowhere(), message)
}

/// An equation that is nothing but the call of an impure function: an equation holds all the time, a call is made once.
pub fn impure_equation(function: &str, span: Span) -> Diagnostic {
    let message = format!("the impure function `{function}` is called at the start only");
    Diagnostic::new(Code("W0816"), span, message)
        .hint("say when to call it: `when initial() then … end when;`, `when sample(0, 1) then … end when;`")
}

/// An impure function is called by equations that must be solved together.
pub fn impure_call_in_loop(function: &str, span: Span) -> Diagnostic {
    let message = format!("the impure function `{function}` is part of equations that must be solved together");
    Diagnostic::new(Code("E0817"), span, message)
        .hint("such equations are evaluated an unknown number of times; compute the value of the call before them")
}

/// A relation in a loop that is executed by a call, which makes no events.
pub fn no_event(relation: &str, span: Span) -> Diagnostic {
    let message = format!("`{relation}` makes no events here: how often it is evaluated is known at run time only");
    Diagnostic::new(Code("W0822"), span, message)
        .hint("write `noEvent(…)` around it if none is needed, or give the loop a range that is known at compile time")
}

/// The compiler has broken one of its own rules.
pub fn broken_expression(what: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0899"), span, format!("internal error: {what}")).hint("please report this with the model")
}

fn list(names: &[String]) -> String {
    list_of(names, names.len())
}

/// More names than this are not listed.
pub const MOST_LISTED: usize = 8;

/// The same of `n` names, of which those are there that are shown.
fn list_of(first: &[String], n: usize) -> String {
    let mut text = first.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join(", ");
    if n > MOST_LISTED {
        text.push_str(&format!(" and {} more", n - MOST_LISTED));
    }
    text
}
