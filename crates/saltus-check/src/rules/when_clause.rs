//! Where a `when` may stand and what it may contain (specification 8.3.5, 8.6, 11.2.7).
//!
//! ```text
//! when x > 2 then
//!   2*y = x;                    error: which variable is held between events?
//!   when z > 1 then … end when; error: nested
//! end when;
//! when initial() or b then …    warning: not active during initialization
//! ```

use saltus_base::{Diagnostic, Diagnostics, Span};
use saltus_flat::assigned::Assigned;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Equation, EquationKind, Expr, ExprKind, Statement, StatementKind, VarId,
};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::targets;
use crate::text::{name_list, text};
use crate::variability::{continuous_part, is_parameter_expression};
use crate::walk;

/// What is around an equation or statement.
#[derive(Clone, Copy, Default)]
struct Around {
    when: Option<Span>,
    /// In a clocked `when` any equation is allowed (specification 16.6).
    is_clocked: bool,
    /// The `if` or loop that makes a `when` illegal.
    branch: Option<(&'static str, Span)>,
    is_initial: bool,
}

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    equations(cx, &cx.model.equations, Around::default(), out);
    equations(cx, &cx.model.initial_equations, Around { is_initial: true, ..Around::default() }, out);
    for algorithm in &cx.model.algorithms {
        statements(cx, &algorithm.statements, Around::default(), out);
    }
    for algorithm in &cx.model.initial_algorithms {
        statements(cx, &algorithm.statements, Around { is_initial: true, ..Around::default() }, out);
    }
}

fn equations(cx: Context<'_>, list: &[Equation], around: Around, out: &mut Diagnostics) {
    for equation in list {
        match &equation.kind {
            EquationKind::Equality { left, .. }
                if around.when.is_some()
                    && !around.is_clocked
                    && !targets::collect(cx.model, left, &mut Vec::new()) =>
            {
                out.push(left_side(left, &text(cx.model, left)));
            }
            EquationKind::Equality { left, right } if around.when.is_some() => {
                if let ExprKind::Var(id) = left.kind
                    && needs_itself(left, right, id)
                {
                    out.push(needs_own_value(right.span, &text(cx.model, left)));
                }
            }
            EquationKind::If { branches, otherwise } => {
                let mut inner = around;
                if let Some((condition, _)) = branches.iter().find(|(c, _)| !is_parameter_expression(cx, c)) {
                    inner.branch = Some(("an if-equation", condition.span));
                    if around.when.is_some() {
                        branch_targets(cx, branches, Some(otherwise), "if", equation.span, out);
                    }
                }
                branches.iter().for_each(|(_, body)| equations(cx, body, inner, out));
                equations(cx, otherwise, inner, out);
            }
            EquationKind::When { branches } => {
                clause(cx, equation.span, branches.iter().map(|(c, _)| c), around, out);
                branch_targets(cx, branches, None, "when", equation.span, out);
                // What is wrong in a condition has been said; it may have been meant to be a clock.
                let is_clocked = branches.iter().any(|(c, _)| c.is_error() || c.ty.base == BaseType::Clock);
                let inner = Around { when: Some(equation.span), is_clocked, branch: None, ..around };
                branches.iter().for_each(|(_, body)| equations(cx, body, inner, out));
            }
            _ => {}
        }
    }
}

fn statements(cx: Context<'_>, list: &[Statement], around: Around, out: &mut Diagnostics) {
    for statement in list {
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                let inner = Around { branch: around.branch.or(Some(("an if-statement", statement.span))), ..around };
                branches.iter().for_each(|(_, body)| statements(cx, body, inner, out));
                statements(cx, otherwise, inner, out);
            }
            StatementKind::For { body, range, .. } => {
                let inner = Around { branch: around.branch.or(Some(("a for-loop", range.span))), ..around };
                statements(cx, body, inner, out);
            }
            StatementKind::While { body, condition } => {
                let inner = Around { branch: around.branch.or(Some(("a while-loop", condition.span))), ..around };
                statements(cx, body, inner, out);
            }
            StatementKind::When { branches } => {
                clause(cx, statement.span, branches.iter().map(|(c, _)| c), around, out);
                let inner = Around { when: Some(statement.span), branch: None, ..around };
                branches.iter().for_each(|(_, body)| statements(cx, body, inner, out));
            }
            _ => {}
        }
    }
}

/// `n = n + 1`: no value satisfies the equation. What is not a Real cannot be found from its own value at all; a Real
/// can, unless it is only shifted.
fn needs_itself(left: &Expr, right: &Expr, id: VarId) -> bool {
    if left.ty.base != BaseType::Real {
        return contains_now(right, id);
    }
    match &right.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) => {
            (is_variable(a, id) && !contains_now(b, id)) || (is_variable(b, id) && !contains_now(a, id))
        }
        ExprKind::Binary(BinaryOp::Sub, a, b) => is_variable(a, id) && !contains_now(b, id),
        _ => false,
    }
}

fn is_variable(e: &Expr, id: VarId) -> bool {
    matches!(e.kind, ExprKind::Var(other) if other == id)
}

/// Whether an expression needs the value that a variable has after the event.
fn contains_now(e: &Expr, id: VarId) -> bool {
    match &e.kind {
        ExprKind::Var(other) => *other == id,
        ExprKind::Builtin { function: Builtin::Pre | Builtin::Previous | Builtin::Size, .. } => false,
        _ => {
            let mut found = false;
            e.for_each_child(&mut |child| found |= contains_now(child, id));
            found
        }
    }
}

fn needs_own_value(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(codes::NEEDS_ITSELF, span, format!("`{name}` is computed from its own new value in this `when`"))
        .hint(format!("write `pre({name})` for its value before the event"))
}

/// Checks the place and the conditions of one `when`.
fn clause<'a>(
    cx: Context<'_>,
    span: Span,
    conditions: impl std::iter::Iterator<Item = &'a Expr> + Clone,
    around: Around,
    out: &mut Diagnostics,
) {
    let keyword = conditions.clone().next().map_or(span, |c| span.to(c.span));
    if let Some(outer) = around.when {
        out.push(nested(keyword, outer));
    } else if around.is_initial {
        out.push(in_initial(keyword));
    } else if let Some((what, place)) = around.branch {
        out.push(in_branch(keyword, what, place));
    }
    for condition in conditions {
        if condition.ty.base == BaseType::Clock {
            continue;
        }
        if !cx.facts.uses_clocks
            && let Some(found) = continuous_part(cx, condition)
        {
            out.push(condition_continuous(found.part, &text(cx.model, condition), found.in_no_event));
        }
        if let Some(initial) = misplaced_initial(condition) {
            out.push(initial_in_condition(initial));
        }
    }
}

/// `initial()` that is neither the condition nor an element of it, in a clause that is not active during initialization anyway.
fn misplaced_initial(condition: &Expr) -> Option<&Expr> {
    let is_initial = |e: &Expr| matches!(e.kind, ExprKind::Builtin { function: Builtin::Initial, .. });
    let parts = match &condition.kind {
        ExprKind::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(condition),
    };
    if parts.iter().any(is_initial) {
        return None;
    }
    let mut found = None;
    for part in parts {
        walk::for_each_part(part, &mut |p| {
            if is_initial(p) {
                found = found.or(Some(p));
            }
        });
    }
    found
}

/// All branches must determine the same variables.
fn branch_targets(
    cx: Context<'_>,
    branches: &[(Expr, Vec<Equation>)],
    otherwise: Option<&Vec<Equation>>,
    what: &str,
    span: Span,
    out: &mut Diagnostics,
) {
    let mut sets = branches.iter().map(|(_, body)| body).chain(otherwise).map(|body| {
        let mut assigned = Assigned::default();
        assigned.add_equations(cx.model, body);
        assigned
    });
    let Some(first) = sets.next() else { return };
    let mut names: Vec<String> = sets.flat_map(|other| first.differences(cx.model, &other)).collect();
    names.sort();
    names.dedup();
    if !names.is_empty() {
        out.push(branches_differ(what, span, &names));
    }
}

fn left_side(left: &Expr, shown: &str) -> Diagnostic {
    Diagnostic::new(
        codes::WHEN_LEFT_SIDE,
        left.span,
        format!("expected a variable on the left side of an equation in a when-clause, found `{shown}`"),
    )
    .hint("write `v = …`: between the events the variable on the left keeps its value")
}

fn nested(keyword: Span, outer: Span) -> Diagnostic {
    Diagnostic::new(codes::NESTED_WHEN, keyword, "expected an equation, found a when-clause inside of a when-clause")
        .label(outer, "the outer when-clause")
        .hint("join the conditions with `and`, or use an if-equation for the inner one")
}

fn in_initial(keyword: Span) -> Diagnostic {
    Diagnostic::new(codes::WHEN_IN_INITIAL, keyword, "expected an initial condition, found a when-clause")
        .hint("initial sections hold once, at the start; put `when initial() then …` into an ordinary section")
}

fn in_branch(keyword: Span, what: &str, place: Span) -> Diagnostic {
    let d = Diagnostic::new(codes::WHEN_IN_BRANCH, keyword, format!("a when-clause cannot stand in {what}"));
    if what == "an if-equation" {
        d.label(place, "this condition may change during the simulation")
            .hint("use the condition in the when-clause: `when b and … then`, or put the `if` inside of the `when`")
    } else {
        d.label(place, "this one").hint("move the when-clause out and put the `if` or the loop inside of it")
    }
}

fn branches_differ(what: &str, span: Span, names: &[String]) -> Diagnostic {
    let names = name_list(names.iter().map(String::as_str), 5);
    let (message, hint) = if what == "when" {
        ("the branches of a when-equation must determine the same variables", "or use a when-clause of its own for it")
    } else {
        (
            "the branches of an if-equation in a when-clause must determine the same variables",
            "for example `v = pre(v)`",
        )
    };
    Diagnostic::new(codes::WHEN_BRANCHES_DIFFER, span, format!("{message}, but {names} does not occur in all"))
        .hint(format!("give each branch an equation for {names}, {hint}"))
}

fn condition_continuous(part: &Expr, condition: &str, in_no_event: bool) -> Diagnostic {
    let d = Diagnostic::new(
        codes::WHEN_CONDITION_CONTINUOUS,
        part.span,
        format!("expected a when-condition that changes at events only, found `{condition}`"),
    );
    if in_no_event {
        d.hint("remove `noEvent`: without an event nobody notices that the condition becomes true")
    } else {
        d.hint("use a relation such as `x > 0`, which generates an event")
    }
}

fn initial_in_condition(initial: &Expr) -> Diagnostic {
    Diagnostic::new(
        codes::INITIAL_IN_CONDITION,
        initial.span,
        "`initial()` inside a larger when-condition does not make the clause active during initialization",
    )
    .hint("write `when {initial(), …} then`")
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
    fn legal_clauses() {
        says(
            "Real x, y[2], z; Boolean b; parameter Boolean p = true;
equation
  when {initial(), x > 1} then y[1] = 1.0; (y[2], z) = sin(x); elsewhen initial() then y = {1, 2}; z = 1; end when;
  if p then when sample(0, 1) then b = not pre(b); end when; end if;",
            "",
        );
    }

    #[test]
    fn left_side_is_no_variable() {
        says(
            "Real x, y;
equation
  when time > 1 then 2*x + y = 7; end when;",
            "
E0430 3:22 `2*x + y`: expected a variable on the left side of an equation in a when-clause, found `2 * x + y`
  hint: write `v = …`: between the events the variable on the left keeps its value",
        );
    }

    #[test]
    fn nested() {
        says(
            "Real x, y;
equation
  when x > 2 then when y > 3 then y = 1.0; end when; end when;",
            "
E0431 3:19 `when y > 3 then y = 1.0; end when`: expected an equation, found a when-clause inside of a when-clause
  3:3 `when x > 2 then when y > 3 then y = 1.0; end when; end when`: the outer when-clause
  hint: join the conditions with `and`, or use an if-equation for the inner one",
        );
    }

    #[test]
    fn in_an_initial_section() {
        says(
            "Real x, y;
initial equation
  when x > 2 then y = 1.0; end when;",
            "
E0432 3:3 `when x > 2 then y = 1.0; end when`: expected an initial condition, found a when-clause
  hint: initial sections hold once, at the start; put `when initial() then …` into an ordinary section",
        );
    }

    #[test]
    fn in_a_branch() {
        says(
            "Real x, y, z;
equation
  if x < 1 then when sample(1, 2) then y = x; end when; end if;
algorithm
  if x < 1 then when sample(1, 2) then z := x; end when; end if;",
            "
E0433 3:17 `when sample(1, 2) then y = x; end when`: a when-clause cannot stand in an if-equation
  3:6 `x < 1`: this condition may change during the simulation
  hint: use the condition in the when-clause: `when b and … then`, or put the `if` inside of the `when`
E0433 5:17 `when sample(1, 2) then z := x; end when`: a when-clause cannot stand in an if-statement
  5:3 `if x < 1 then when sample(1, 2) then z := x; end when; end if`: this one
  hint: move the when-clause out and put the `if` or the loop inside of it",
        );
    }

    #[test]
    fn branches_that_determine_different_variables() {
        says(
            "Real x, y; Boolean b;
equation
  when b then x = 1.0; elsewhen time > 1 then x = 2.0; y = 1.0; end when;
  when b then if time < 1 then x = 1.0; else y = 1.0; end if; end when;",
            "
E0434 3:3 `when b then x = 1.0; elsewhen time > 1 then x = 2.0; y = 1.0; end when`: the branches of a when-equation must determine the same variables, but `y` does not occur in all
  hint: give each branch an equation for `y`, or use a when-clause of its own for it
E0434 4:15 `if time < 1 then x = 1.0; else y = 1.0; end if`: the branches of an if-equation in a when-clause must determine the same variables, but `x` and `y` does not occur in all
  hint: give each branch an equation for `x` and `y`, for example `v = pre(v)`",
        );
    }

    #[test]
    fn a_variable_computed_from_its_own_new_value() {
        says(
            "Real x, y; Integer n, m; Boolean b;
equation
  when time > 1 then
    n = n + 1;
    m = pre(m) + 1;
    b = not b;
    x = 1.0 + x;
    y = 0.5 * y + 1.0;
  end when;",
            "
E0407 4:9 `n + 1`: `n` is computed from its own new value in this `when`
  hint: write `pre(n)` for its value before the event
E0407 6:9 `not b`: `b` is computed from its own new value in this `when`
  hint: write `pre(b)` for its value before the event
E0407 7:9 `1.0 + x`: `x` is computed from its own new value in this `when`
  hint: write `pre(x)` for its value before the event",
        );
    }

    #[test]
    fn conditions() {
        says(
            "Real x, q; Boolean b, c;
equation
  when noEvent(x > 1) then q = x; end when;
  when initial() or b then b = true; end when;
  when {initial(), b and not initial()} then c = true; end when;",
            "
E0435 3:16 `x`: expected a when-condition that changes at events only, found `noEvent(x > 1)`
  hint: remove `noEvent`: without an event nobody notices that the condition becomes true
W0436 4:8 `initial()`: `initial()` inside a larger when-condition does not make the clause active during initialization
  hint: write `when {initial(), …} then`",
        );
    }
}
