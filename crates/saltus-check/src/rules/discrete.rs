//! What changes at events only must have a value that changes at events only (specification 3.8.5, 4.5).
//!
//! ```text
//! Integer n; … n = f(x);                error: f(x) changes between events
//! Boolean b = noEvent(x > 1);           error: without an event the change goes unnoticed
//! discrete Real q; … q = x;             error: q is assigned outside of a when-clause
//! ```

use saltus_base::{Diagnostic, Diagnostics, Span};
use saltus_flat::{
    BaseType, Equation, EquationKind, Expr, ExprKind, Origin, Statement, StatementKind, VarId, Variability,
};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::targets;
use crate::text::text;
use crate::variability::{ContinuousPart, continuous_part};

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    if cx.facts.uses_clocks {
        return;
    }
    for (id, variable) in cx.model.variables.iter() {
        if let Some(binding) = &variable.binding
            && variable.variability == Variability::Discrete
        {
            value_of(cx, Some(id), &|| variable.name.clone(), variable.ty.base, binding, variable.span, out);
        }
    }
    equations(cx, &cx.model.equations, out);
    for algorithm in &cx.model.algorithms {
        statements(cx, &algorithm.statements, out);
    }
}

fn equations(cx: Context<'_>, list: &[Equation], out: &mut Diagnostics) {
    for equation in list {
        match &equation.kind {
            EquationKind::Equality { left, right } if equation.origin != Origin::Connection => {
                if let ExprKind::Tuple(targets) = &left.kind {
                    results_of(cx, targets, right, out);
                    continue;
                }
                let target = targets::reference(cx.model, left).map(|t| t.variable);
                value_of(cx, target, &|| text(cx.model, left), left.ty.base, right, equation.span, out);
            }
            EquationKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| equations(cx, body, out));
                equations(cx, otherwise, out);
            }
            _ => {}
        }
    }
}

fn statements(cx: Context<'_>, list: &[Statement], out: &mut Diagnostics) {
    for statement in list {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                if let ExprKind::Tuple(targets) = &target.kind {
                    results_of(cx, targets, value, out);
                } else if let Some(found) = targets::reference(cx.model, target) {
                    let name = || text(cx.model, target);
                    value_of(cx, Some(found.variable), &name, target.ty.base, value, statement.span, out);
                }
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| statements(cx, body, out));
                statements(cx, otherwise, out);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => statements(cx, body, out),
            _ => {}
        }
    }
}

/// Checks `(y, n) = f(x)` outside of `when`. A discrete result beside a continuous one is common, as the interval of a table beside
/// its value; so it is accepted with the value it had at the last event.
fn results_of(cx: Context<'_>, targets: &[Option<Expr>], call: &Expr, out: &mut Diagnostics) {
    let is_discrete = |e: &&Expr| matches!(e.ty.base, BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_));
    let held: Vec<&Expr> = targets.iter().flatten().filter(is_discrete).collect();
    if let (Some(first), Some(found)) = (held.first(), continuous_part(cx, call)) {
        let (name, part) = (text(cx.model, first), text(cx.model, found.part));
        let message =
            format!("`{name}` keeps its value between events, although `{part}` changes: the call makes no events");
        out.push(
            Diagnostic::new(codes::HELD_RESULT, first.span, message)
                .hint(format!("compute `{name}` in a when-clause, or make it Real to have its value at every point")),
        );
    }
}

/// Checks `name = value` (or `:=`) outside of `when`.
fn value_of(
    cx: Context<'_>,
    target: Option<VarId>,
    name: &dyn Fn() -> String,
    base: BaseType,
    value: &Expr,
    span: Span,
    out: &mut Diagnostics,
) {
    if is_field_of_call(value) {
        return;
    }
    let declared = target.and_then(|id| cx.model.variables.get(id));
    let kind = match base {
        BaseType::Integer => "Integer",
        BaseType::Boolean => "Boolean",
        BaseType::String => "String",
        BaseType::Enumeration(_) => "enumeration",
        // A Real equation may determine something else; only a when-clause can make `q` discrete.
        BaseType::Real if declared.is_some_and(|d| d.variability == Variability::Discrete) => {
            // An equation for something that a when-clause assigns determines something else.
            if target.is_some_and(|id| cx.facts.of(id).in_when) {
                return;
            }
            if let Some(found) = continuous_part(cx, value) {
                let declared = declared.map_or(Span::nowhere(), |d| d.span);
                out.push(outside_when(&name(), &text(cx.model, found.part), span, declared));
            }
            return;
        }
        _ => return,
    };
    let mut values = Vec::new();
    field_values(cx, value, &mut values);
    if let Some(found) = values.into_iter().find_map(|value| continuous_part(cx, value)) {
        out.push(continuous_value(cx, kind, &name(), &found));
    }
}

/// The values that a field of a record may have: `(if c then R(x, 1) else r).n` is `1` or the field of `r`. The conditions choose.
fn field_values<'e>(cx: Context<'_>, value: &'e Expr, found: &mut Vec<&'e Expr>) {
    let ExprKind::Field { base, field } = &value.kind else { return found.push(value) };
    if !chosen_fields(cx, base, *field as usize, found) {
        found.push(value);
    }
}

/// False if the record is not made of its fields in every branch.
fn chosen_fields<'e>(cx: Context<'_>, record: &'e Expr, field: usize, found: &mut Vec<&'e Expr>) -> bool {
    let items = match &record.kind {
        ExprKind::If { condition, then, otherwise } => {
            found.push(condition);
            return chosen_fields(cx, then, field, found) && chosen_fields(cx, otherwise, field, found);
        }
        ExprKind::Record(items) => items,
        ExprKind::Call { function, arguments }
            if cx.model.functions.get(*function).is_some_and(|f| f.is_record_constructor) =>
        {
            arguments
        }
        _ => return false,
    };
    items.get(field).is_some_and(|item| {
        found.push(item);
        true
    })
}

/// An Integer among the fields of a record that a function returns (the phase in a thermodynamic state) belongs to a
/// continuous value as a whole; the function itself generates no events.
fn is_field_of_call(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Field { base, .. } | ExprKind::Index { base, .. } => {
            matches!(base.kind, ExprKind::Call { .. }) || is_field_of_call(base)
        }
        _ => false,
    }
}

fn outside_when(name: &str, part: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::new(
        codes::DISCRETE_OUTSIDE_WHEN,
        span,
        format!("the discrete variable `{name}` is determined outside of a when-clause, by `{part}`, which changes between events"),
    )
    .label(declared, "declared here")
    .hint(format!("assign `{name}` in a when-clause, or declare it without `discrete`"))
}

fn continuous_value(cx: Context<'_>, kind: &str, name: &str, found: &ContinuousPart<'_>) -> Diagnostic {
    let part = text(cx.model, found.part);
    let message = format!("expected a value that changes at events only for the {kind} `{name}`, found `{part}`");
    let message = if found.in_no_event { format!("{message} in `noEvent`") } else { message };
    let d = Diagnostic::new(codes::CONTINUOUS_VALUE, found.part.span, message);
    match (found.in_no_event, kind) {
        (true, _) => d.hint("remove `noEvent`: the relation must generate an event when its value changes"),
        (_, "Integer") => d.hint("convert with `integer(…)`, which generates events, or assign it in a when-clause"),
        _ => d.hint("use a relation such as `x > 0`, which generates events, or assign it in a when-clause"),
    }
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
    fn values_that_change_between_events() {
        says(
            "function f input Real u; output Integer y; algorithm y := integer(u); end f;
Real x; Integer n; Boolean b = noEvent(x > 1.0);
equation
  n = f(x);",
            "
E0412 2:40 `x`: expected a value that changes at events only for the Boolean `b`, found `x` in `noEvent`
  hint: remove `noEvent`: the relation must generate an event when its value changes
E0412 4:9 `x`: expected a value that changes at events only for the Integer `n`, found `x`
  hint: convert with `integer(…)`, which generates events, or assign it in a when-clause",
        );
    }

    #[test]
    fn a_discrete_result_beside_others() {
        says(
            "function f input Real u; output Real y; output Integer i; algorithm i := integer(u); end f;
Real x, y, z; Integer n, m;
equation
  (y, n) = f(x);
  (z, m) = f(1.0);
  (y) = f(x);",
            "
W0412 4:7 `n`: `n` keeps its value between events, although `x` changes: the call makes no events
  hint: compute `n` in a when-clause, or make it Real to have its value at every point",
        );
    }

    #[test]
    fn relations_and_integer_generate_events() {
        says(
            "Real x; Integer n; Boolean b = x > 1.0, c; Real q;
equation
  n = integer(x) + 1;
  c = b and (x < 2.0 or time > 1) and q == 1.0;
  when b then q = x; end when;",
            "",
        );
    }

    #[test]
    fn an_algorithm_assigns_it() {
        says(
            "Real x; Boolean b;
algorithm
  if x > 1 then b := x == 2.0; end if;",
            "
E0412 3:22 `x`: expected a value that changes at events only for the Boolean `b`, found `x`
  hint: use a relation such as `x > 0`, which generates events, or assign it in a when-clause",
        );
    }

    #[test]
    fn a_discrete_real_outside_of_when() {
        says(
            "Real x; discrete Real q, r;
equation
  der(x) = 1.0;
  q = 2.0*x;
  r = pre(r) + 1.0;",
            "
E0411 4:3 `q = 2.0*x`: the discrete variable `q` is determined outside of a when-clause, by `x`, which changes between events
  1:23 `q`: declared here
  hint: assign `q` in a when-clause, or declare it without `discrete`",
        );
    }
}
