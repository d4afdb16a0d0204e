//! The balance of each component by itself: which part of a model has too few or too many equations (specification 4.8).
//!
//! ```text
//! model MyResistor                 3 equations for 4 unknowns: Ohm's law is missing
//! model Circuit                    error: 15 equations for 16 unknowns
//!   MyResistor r;                    component `r` of class `MyResistor` has 5 equations for 6 unknowns
//! ```
//!
//! In: a flat model with its components. Out: those that do not balance, components of one class with the same numbers together.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostic, Span};
use saltus_flat::count::{component_of, local_balances};
use saltus_flat::{Builtin, Component, EquationKind, ExprKind, FlatModel};

use super::SHOWN;
use crate::diagnostics as codes;
use crate::text::{count, name_list};

/// Components of one class that lack, or have too many, equations.
pub struct Unbalanced<'a> {
    components: Vec<&'a Component>,
    equations: u64,
    unknowns: u64,
    /// Where the model itself declares the first of them, or the component that contains it.
    span: Span,
}

/// All that do not balance, in the order of the model. Empty where only the model itself does not.
pub fn find(model: &FlatModel) -> Vec<Unbalanced<'_>> {
    let mut found: Vec<Unbalanced<'_>> = Vec::new();
    let mut groups: BTreeMap<(&str, u64, u64), usize> = BTreeMap::new();
    for (component, balance) in model.components.iter().zip(local_balances(model)).skip(1) {
        let Some(balance) = balance.filter(|b| b.equations != b.unknowns) else { continue };
        let (equations, unknowns) = (balance.equations, balance.unknowns);
        let group = *groups.entry((&component.class, equations, unknowns)).or_insert_with(|| {
            found.push(Unbalanced { components: Vec::new(), equations, unknowns, span: declared(model, component) });
            found.len() - 1
        });
        found[group].components.push(component);
    }
    found
}

/// States of machines with variables that nothing inside of them determines (specification 17). What they assign of their surroundings, and
/// machines inside of them, are not counted here: only those without machines that lack equations are told.
pub fn incomplete_states(model: &FlatModel) -> Vec<Unbalanced<'_>> {
    let states = state_names(model);
    let mut found = find(model);
    found.retain_mut(|u| {
        u.components.retain(|c| states.contains(&*c.name) && !states.iter().any(|s| component_of(s) == &*c.name));
        u.equations < u.unknowns && !u.components.is_empty()
    });
    found
}

fn state_names(model: &FlatModel) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for equation in &model.equations {
        let EquationKind::Call(call) = &equation.kind else { continue };
        let ExprKind::Builtin { function: Builtin::Transition | Builtin::InitialState, arguments } = &call.kind else {
            continue;
        };
        names.extend(arguments.iter().take(2).filter_map(|e| match &e.kind {
            ExprKind::String(name) => Some(&**name),
            _ => None,
        }));
    }
    names
}

/// Where the model itself declares what contains the component.
fn declared(model: &FlatModel, component: &Component) -> Span {
    let mut name: &str = &component.name;
    while !component_of(name).is_empty() {
        name = component_of(name);
    }
    model.components.iter().find(|c| &*c.name == name).map_or(component.span, |c| c.span)
}

/// Names the components that are to blame for the numbers of the model as a whole.
pub fn blame(d: Diagnostic, unbalanced: &[Unbalanced<'_>]) -> Diagnostic {
    let Some(first) = unbalanced.first() else { return d };
    let mut d = Diagnostic { span: Some(first.span), ..d };
    for other in unbalanced.iter().take(SHOWN) {
        d = d.hint(sentence(other));
    }
    d
}

/// The model as a whole balances, because what one part lacks another one has.
pub fn messages<'a>(unbalanced: &'a [Unbalanced<'a>]) -> impl Iterator<Item = Diagnostic> + 'a {
    unbalanced.iter().map(|u| {
        let what = if u.equations < u.unknowns { "lacks" } else { "repeats" };
        let d = Diagnostic::new(codes::UNBALANCED_COMPONENT, u.span, sentence(u));
        d.hint(format!("the model balances because something else {} what the class {what}", opposite(what))).hint(
            "each model and block should balance by itself, with its inputs and the flows of its connectors as known",
        )
    })
}

fn opposite(what: &str) -> &'static str {
    if what == "lacks" { "provides" } else { "lacks" }
}

fn sentence(u: &Unbalanced<'_>) -> String {
    let class = u.components.first().map_or("", |c| &*c.class);
    let names = name_list(u.components.iter().map(|c| &*c.name), SHOWN);
    let numbers = format!("{} for {}", count(u.equations, "equation"), count(u.unknowns, "unknown"));
    match u.components.len() {
        1 => format!("component {names} of class `{class}` has {numbers}"),
        _ => format!("components {names} of class `{class}` have {numbers} each"),
    }
}

#[cfg(test)]
mod tests {
    use saltus_base::Severity;
    use saltus_flat::{Component, FlatModel};

    use crate::check_balance;
    use crate::testing::parse;

    /// The model itself and components `name: class`, with what its surroundings determine of each and the values given to it.
    fn with_components(source: &str, components: &[(&str, &str, u64, u64)]) -> FlatModel {
        let mut model = parse(source);
        let span = model.variables.values().next().map_or(saltus_base::Span::nowhere(), |v| v.span);
        let component = |&(name, class, from_outside, given): &(&str, &str, u64, u64)| Component {
            name: name.into(),
            class: class.into(),
            span,
            from_outside,
            inside: 0,
            connections: 0,
            given,
            is_countable: true,
            is_outside: false,
            treatment: saltus_flat::Treatment::default(),
        };
        model.components = components.iter().map(component).collect();
        model
    }

    fn texts(model: &FlatModel) -> Vec<String> {
        let found = check_balance(model, Severity::Error);
        found.iter().map(|d| format!("{} {}: {}", d.code.0, d.message, d.hints.join("; "))).collect()
    }

    #[test]
    fn components_of_one_class_are_named_together() {
        let model = with_components(
            "Real a.x, a.y, b.x, b.y; equation @a a.x = 1; @b b.x = 1;",
            &[("", "M", 0, 0), ("a", "Part", 0, 0), ("b", "Part", 0, 0)],
        );
        assert_eq!(
            texts(&model),
            [
                "E0450 expected as many equations as unknowns, found 2 equations for 4 unknowns: 2 too few: components `a` and `b` of \
              class `Part` have 1 equation for 2 unknowns each; no equation contains `a.y` and `b.y`"
            ]
        );
    }

    /// `Part a(y = 2)`, where the class has no equation for y: what the modification adds is not its own.
    #[test]
    fn a_value_from_outside_does_not_balance_a_class() {
        let parts = [("", "M", 0, 0), ("a", "Part", 0, 1)];
        let model = with_components("Real a.x, a.y = 2; equation @a a.x = 1;", &parts);
        assert_eq!(
            texts(&model),
            [
                "W0454 component `a` of class `Part` has 1 equation for 2 unknowns: the model balances because something else provides \
              what the class lacks; each model and block should balance by itself, with its inputs and the flows of its connectors \
              as known"
            ]
        );
        let own = [("", "M", 0, 0), ("a", "Part", 0, 0)];
        assert!(texts(&with_components("Real a.x, a.y = 2; equation @a a.x = 1;", &own)).is_empty());
    }

    #[test]
    fn what_the_surroundings_determine_counts_as_an_equation() {
        let parts = [("", "M", 0, 0), ("a", "Part", 1, 0)];
        let model = with_components("Real a.u, a.y; equation @a a.y = 2*a.u; a.u = 3;", &parts);
        assert!(texts(&model).is_empty(), "{:?}", texts(&model));
    }
}
