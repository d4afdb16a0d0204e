//! Messages about clocks (codes E0830 to E0849 and W0830).

use saltus_base::{Code, Diagnostic, Span};

use super::list;

pub fn contradiction(
    operator: &str,
    clocks: [&str; 2],
    ticks: [&str; 2],
    span: Span,
    constructors: &[Span],
) -> Diagnostic {
    let [from, to] = clocks;
    let message = format!("the clocks before and after `{operator}` contradict each other");
    let mut diagnostic = Diagnostic::new(Code("E0830"), span, message)
        .hint(format!("{from} ticks {}, {to} ticks {} (relative to each other, or in seconds)", ticks[0], ticks[1]));
    for &other in constructors.iter().take(5) {
        diagnostic = diagnostic.label(other, "a clock of the same partition");
    }
    diagnostic
}

pub fn disagreement(second: &str, found: &str, expected: &str, first: &str, spans: [Span; 2]) -> Diagnostic {
    let message = format!("`{second}` ticks {found} s, but conversions from `{first}` make it tick {expected} s");
    Diagnostic::new(Code("E0830"), spans[0], message)
        .label(spans[1], "the other clock of this partition")
        .hint("correct one of the clocks or a factor between them, or separate the partitions by `sample(hold(…))`")
}

pub fn two_clocks(spans: [Span; 2]) -> Diagnostic {
    let message = "two clocks in one partition of which one has intervals that are not rational constants";
    Diagnostic::new(Code("E0831"), spans[1], message)
        .label(spans[0], "the other clock")
        .hint("use the same Clock variable at both places, or `Clock(n, resolution)`")
}

pub fn too_early(clock: &str, shift: &str, span: Span) -> Diagnostic {
    let message = format!("{clock} would tick before its base-clock starts, at {shift}");
    Diagnostic::new(Code("E0832"), span, message)
        .hint("backSample must not shift further back than shiftSample did forth")
}

pub fn between_ticks(clock: &str, span: Span) -> Diagnostic {
    let message = format!("{clock} would tick between the ticks of an event clock");
    Diagnostic::new(Code("E0833"), span, message)
        .hint("an event clock can be sub-sampled and shifted by whole ticks only")
}

pub fn overflow(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0834"), span, "the factors of these clocks are too large for exact arithmetic")
}

pub fn not_evaluable(text: String, span: Span) -> Diagnostic {
    let message = format!("`{text}` must be known at compile time, for clocks are analysed then");
    Diagnostic::new(Code("E0835"), span, message)
}

pub fn bad_number(text: String, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0835"), span, format!("`{text}` is not a valid clock"))
        .hint("counters and factors must not be negative, resolutions must be positive")
}

pub fn no_clock(text: String, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0836"), span, format!("it is not known at compile time which clock `{text}` is"))
}

pub fn no_variable(text: String, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0836"), span, format!("the interval of a clock must be a variable or a parameter: `{text}`"))
}

pub fn when_with_clock(span: Span) -> Diagnostic {
    let message = "a when with a clock has no elsewhen and is not a statement of an algorithm";
    Diagnostic::new(Code("E0837"), span, message)
}

pub fn loop_across_clocks(names: &[String], clocks: [&str; 2], span: Span) -> Diagnostic {
    let message = format!(
        "{} must be found together, but belong to different clocks: {} and {}",
        list(names),
        clocks[0],
        clocks[1]
    );
    Diagnostic::new(Code("E0838"), span, message)
        .hint("a system of equations cannot contain variables of two clocks; `previous` breaks the loop")
}

pub fn no_method(state: &str, clock: &str, span: Span) -> Diagnostic {
    let message = format!("der({state}) in a clocked partition ({clock}) without a solver method");
    Diagnostic::new(Code("E0839"), span, message).hint(
        "associate one: `Clock(c, solverMethod = \"ImplicitEuler\")`; or is a `sample` or `hold` missing that would \
         separate this equation from the clocked ones?",
    )
}

pub fn two_methods(clock: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code("E0840"),
        span,
        format!("another solver method is associated with the same partition ({clock})"),
    )
}

pub fn unknown_method(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E0840"), span, format!("the solver method `{name}` is not known")).hint(
        "known are ExplicitEuler, ExplicitMidPoint2, ExplicitRungeKutta4, ImplicitEuler, ImplicitTrapezoid and External",
    )
}

/// A partition without any clock ticks every second.
pub fn default_clock(what: &str, span: Span) -> Diagnostic {
    let message = format!("nothing determines {what}: its partition ticks every second");
    Diagnostic::new(Code("W0830"), span, message).hint("associate a clock with one of its variables")
}

/// A variable of a discrete-time partition is computed at each tick, the first one included.
pub fn fixed_in_discrete_partition(name: &str, span: Span) -> Diagnostic {
    let message = format!("`fixed = true` has no effect on `{name}`, which is computed at the ticks of a clock");
    Diagnostic::new(Code("W0841"), span, message)
        .hint("a start value is used by `previous` alone; states of differential equations may be fixed")
}

/// Clocked variables have no value before their first tick, and initial equations hold before it.
pub fn initial_equation(name: &str, span: Span) -> Diagnostic {
    let message = format!("this initial equation has no effect on `{name}`, which is computed at the ticks of a clock");
    Diagnostic::new(Code("W0841"), span, message).hint(format!("give `{name}` a start value, which `previous` uses"))
}
