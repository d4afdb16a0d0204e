//! What results show of a machine: one variable that says by name which of its states is active.
//!
//! ```text
//! initialState(circle); transition(circle, flight, …);      ⇒      enumeration(circle, flight) mode = circle;
//! ```
//!
//! The only machine of a component is its `mode`; several are `mode[1]`, `mode[2]`, …, in the order in which they are found. Where
//! the model has such a name itself it is `mode(circle)`, after the initial state. A machine inside of a state that is not active
//! has no mode: the variable is absent.

use saltus_flat::count::component_of;
use saltus_flat::{BaseType, EnumType, Expr, ExprKind, FlatModel, Type, VarId};

use super::collect::Machine;
use super::machine::declare_variable;

/// A machine with the position (from 0) of its active state, if it has one.
pub struct Active<'a> {
    pub machine: &'a Machine,
    pub state: Option<usize>,
}

/// Declares the variables, in the order of the machines; one without a binding has no value.
pub fn declare_modes(model: &mut FlatModel, machines: &[Active]) -> Vec<(String, VarId)> {
    let scopes: Vec<&str> = machines.iter().map(|m| component_of(&m.machine.states[0])).collect();
    let plain = |scope: &str| if scope.is_empty() { "mode".to_owned() } else { format!("{scope}.mode") };
    let taken: Vec<bool> = scopes.iter().map(|scope| is_taken(model, &plain(scope))).collect();
    let mut declared = Vec::new();
    for (k, Active { machine, state }) in machines.iter().enumerate() {
        let scope = scopes[k];
        let same = || scopes.iter().enumerate().filter(|(_, other)| **other == scope);
        let mut name = plain(scope);
        if taken[k] {
            name = format!("mode({})", machine.states[0]);
        } else if same().count() > 1 {
            name = format!("{name}[{}]", 1 + same().filter(|(other, _)| *other < k).count());
        }
        let literals = machine.states.iter().map(|state| relative(state, scope).to_owned()).collect();
        let id = model.enumerations.push(EnumType { name: name.clone(), literals });
        let base = BaseType::Enumeration(id);
        let literal = |position: usize| {
            Expr::new(ExprKind::EnumLiteral(id, position as u32 + 1), Type::scalar(base), machine.span)
        };
        let variable = declare_variable(model, name.clone(), base, literal(0), false, machine.span);
        model.variables[variable].description = "Active state".to_owned();
        model.variables[variable].binding = state.map(literal);
        declared.push((name, variable));
    }
    declared
}

/// Has the model a variable of this name, or parts of one?
fn is_taken(model: &FlatModel, name: &str) -> bool {
    let is_part = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
    model.variables.values().any(|v| v.name.strip_prefix(name).is_some_and(is_part))
}

/// The name of a state inside of a component.
fn relative<'a>(state: &'a str, scope: &str) -> &'a str {
    state.strip_prefix(scope).map_or(state, |rest| rest.strip_prefix('.').unwrap_or(rest))
}
