//! Messages about state machines (codes E0850 to E0866 and W0868).

use saltus_base::{Code, Diagnostic, Span};

pub fn no_initial_state(states: &str, span: Span) -> Diagnostic {
    let message = format!("the state machine of {states} has no initial state");
    Diagnostic::new(Code("E0850"), span, message).hint("name it: `initialState(…)`")
}

pub fn two_initial_states(first: &str, second: &str, span: Span, other: Span) -> Diagnostic {
    let message = format!("{first} and {second} are both the initial state of one state machine");
    Diagnostic::new(Code("E0850"), span, message).label(other, "the first one")
}

pub fn same_priority(state: &str, priority: i64, span: Span, other: Span) -> Diagnostic {
    let message = format!("two transitions leave {state} with the priority {priority}");
    Diagnostic::new(Code("E0851"), span, message)
        .label(other, "the other one")
        .hint("give each its own: `priority = 2`; the smallest number wins")
}

pub fn option_not_known(span: Span) -> Diagnostic {
    let message =
        "immediate, reset, synchronize and priority of a transition must be literals or parameters with literal values";
    Diagnostic::new(Code("E0852"), span, message)
}

pub fn not_a_state(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0853"), span, format!("{name} is not a state of a state machine"))
        .hint("a block becomes a state by `transition` or `initialState`")
}

pub fn outside_a_machine(span: Span) -> Diagnostic {
    let message = "ticksInState and timeInState can be used in states and in conditions of transitions only";
    Diagnostic::new(Code("E0854"), span, message)
}

pub fn assigned_twice(name: &str, a: &str, b: &str, span: Span) -> Diagnostic {
    let message = format!("{name} is assigned in {a} and in {b}, which can be active at the same tick");
    Diagnostic::new(Code("E0855"), span, message)
        .hint("only states that exclude each other may assign the same variable")
}

/// A variable that states assign has no value before the first of them is active (specification 17.3.5).
pub fn merged_without_start(name: &str, span: Span) -> Diagnostic {
    let message = format!("{name} has no start value, and the initial state does not assign it");
    Diagnostic::new(Code("W0868"), span, message)
        .hint("give it one: until a state that assigns it is active, it has the default value of its type")
}

/// `activeState` in the condition of a `when` stands alone: it means that the state is entered.
pub fn entry_condition(span: Span) -> Diagnostic {
    let message =
        "the condition of a when-clause for the entry of a state must be `activeState(…)` alone, in an equation";
    Diagnostic::new(Code("E0856"), span, message).hint("put further conditions into an `if` in its equations")
}

pub fn unguarded(variable: &str, state: &str, span: Span) -> Diagnostic {
    let message = format!("{variable} has no value while {state} is false");
    Diagnostic::new(Code("E0857"), span, message)
        .hint(format!("guard it: `if {state} then … else …`; entry equations read the values before by `pre`"))
}

pub fn no_ticks(span: Span) -> Diagnostic {
    let message = "ticksInState has no meaning in a state machine of continuous time";
    Diagnostic::new(Code("E0858"), span, message).hint("timeInState() is the time since the state was entered")
}

pub fn two_entries(variable: &str, span: Span, other: Span) -> Diagnostic {
    let message = format!("two entry equations give {variable} a value");
    Diagnostic::new(Code("E0860"), span, message)
        .label(other, "the other one")
        .hint("drop one of them; an `if` in the value decides between two")
}

pub fn entry_missing(variable: &str, state: &str, span: Span) -> Diagnostic {
    let message = format!("nothing says which value {variable} has where {state} becomes true");
    Diagnostic::new(Code("E0861"), span, message)
        .hint("give it a start value, or an entry equation: `when activeState(…) then reinit(…); end when`")
}

pub fn entry_too_many(span: Span) -> Diagnostic {
    let message = "this entry equation contradicts the others: what it would determine is determined already";
    Diagnostic::new(Code("E0862"), span, message)
}

pub fn chosen_states(state: &str, span: Span) -> Diagnostic {
    let message =
        format!("{state} cannot be linearised: which of its variables are states is decided while the simulation runs");
    Diagnostic::new(Code("E0866"), span, message)
        .hint("say it: `stateSelect = StateSelect.always` for the variables that shall be states")
}

pub fn no_active_source(signal: &str, span: Span) -> Diagnostic {
    let message = format!("{signal} has no source here: none of the states that give its value is active");
    Diagnostic::new(Code("E0865"), span, message)
        .hint("connect an output of every state of the machine that can be active; a constant is one")
}

pub fn not_linearizable(function: &str, span: Span) -> Diagnostic {
    let message =
        format!("this equation of a linearised state cannot be linearised: the derivative of {function} is not known");
    Diagnostic::new(Code("E0864"), span, message).hint("give the function a `derivative` annotation")
}

pub fn entry_too_few(variables: &[String]) -> Diagnostic {
    let message = format!("nothing determines {} where the configuration is entered", variables.join(", "));
    Diagnostic::new(Code("E0863"), Span::nowhere(), message)
}
