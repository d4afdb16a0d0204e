//! Find the state machines of a model: which instances are states, what takes one to another, which state a machine is in.
//!
//! In: `transition` and `initialState` equations, in which states are names of instances. Out: [`Machines`], or messages about
//! machines without an initial state and transitions of equal priority. (Specification: section 17.1.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::{Builtin, EquationKind, Expr, ExprKind, FlatModel};

use crate::diagnostics;

#[derive(Clone, Debug)]
pub struct Transition {
    /// Positions of states in the machine, from 1.
    pub from: usize,
    pub to: usize,
    pub condition: Expr,
    pub immediate: bool,
    pub reset: bool,
    pub synchronize: bool,
    pub priority: i64,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Machine {
    /// Names of instances; the first is the initial state.
    pub states: Vec<String>,
    /// The one with the lowest priority number last.
    pub transitions: Vec<Transition>,
    /// The state in which the machine is, if it is in one.
    pub parent: Option<String>,
    pub span: Span,
}

#[derive(Debug, Default)]
pub struct Machines {
    pub machines: Vec<Machine>,
    /// Machine and position (from 1) of each state.
    pub place: BTreeMap<String, (usize, usize)>,
}

pub fn is_machine_call(call: &Expr) -> bool {
    matches!(&call.kind, ExprKind::Builtin { function: Builtin::Transition | Builtin::InitialState, .. })
}

/// The name of the instance that an argument is.
pub fn state_name(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::String(name) => Some(name),
        _ => None,
    }
}

/// A `transition` between names.
struct Written<'a> {
    from: &'a str,
    to: &'a str,
    arguments: &'a [Expr],
    span: Span,
}

impl Machines {
    /// Is it the initial state of its machine?
    pub fn begins_in(&self, state: &str) -> bool {
        self.place.get(state).is_some_and(|&(_, position)| position == 1)
    }

    pub fn collect(model: &FlatModel, diagnostics: &mut Diagnostics) -> Machines {
        let mut written = Vec::new();
        let mut initial: Vec<(&str, Span)> = Vec::new();
        for equation in &model.equations {
            let EquationKind::Call(call) = &equation.kind else { continue };
            let ExprKind::Builtin { function, arguments } = &call.kind else { continue };
            match (function, arguments.as_slice()) {
                (Builtin::InitialState, [state]) => initial.extend(state_name(state).map(|s| (s, equation.span))),
                (Builtin::Transition, [from, to, rest @ ..]) => {
                    if let (Some(from), Some(to)) = (state_name(from), state_name(to)) {
                        written.push(Written { from, to, arguments: rest, span: equation.span });
                    }
                }
                _ => {}
            }
        }
        let groups = connected(&initial, &written);
        let mut all = Machines::default();
        for group in groups {
            let starts: Vec<&(&str, Span)> = initial.iter().filter(|(s, _)| group.contains(s)).collect();
            let Some(&&(first, span)) = starts.first() else {
                let span = written.iter().find(|w| group.contains(w.from)).map_or(Span::nowhere(), |w| w.span);
                diagnostics.push(diagnostics::machines::no_initial_state(&names(&group), span));
                continue;
            };
            if let Some(second) = starts.get(1) {
                diagnostics.push(diagnostics::machines::two_initial_states(first, second.0, second.1, span));
            }
            let states: Vec<String> =
                std::iter::once(first).chain(group.iter().copied().filter(|s| *s != first)).map(String::from).collect();
            let number = all.machines.len();
            for (k, state) in states.iter().enumerate() {
                all.place.insert(state.clone(), (number, k + 1));
            }
            let transitions = transitions(model, &written, &states, diagnostics);
            all.machines.push(Machine { states, transitions, parent: None, span });
        }
        for k in 0..all.machines.len() {
            let first = all.machines[k].states[0].clone();
            all.machines[k].parent = enclosing(&first).and_then(|name| all.state_of(name)).map(String::from);
        }
        all
    }

    /// The innermost state that an instance is, or is in.
    pub fn state_of<'a>(&'a self, component: &'a str) -> Option<&'a str> {
        let mut at = Some(component);
        while let Some(name) = at.filter(|name| !name.is_empty()) {
            if self.place.contains_key(name) {
                return Some(name);
            }
            at = enclosing(name);
        }
        None
    }

    /// The machines inside a state.
    pub fn inside<'a>(&'a self, state: &'a str) -> impl Iterator<Item = usize> + 'a {
        let machines = self.machines.iter().enumerate();
        machines.filter(move |(_, m)| m.parent.as_deref() == Some(state)).map(|(k, _)| k)
    }

    /// Can two states be active at the same tick? Not if they are, or are in, different states of one machine.
    pub fn may_coincide(&self, a: &str, b: &str) -> bool {
        let chain = |state: &str| {
            let mut places = Vec::new();
            let mut at = Some(state.to_owned());
            while let Some(&place) = at.as_ref().and_then(|s| self.place.get(s)) {
                places.push(place);
                at = self.machines[place.0].parent.clone();
            }
            places
        };
        let (a, b) = (chain(a), chain(b));
        !a.iter().any(|(machine, state)| b.iter().any(|(m, s)| m == machine && s != state))
    }
}

/// The instance that an instance is in: `a.b` of `a.b.c[2]`, empty at the top.
fn enclosing(name: &str) -> Option<&str> {
    if name.is_empty() { None } else { Some(saltus_flat::count::component_of(name)) }
}

fn names(group: &BTreeSet<&str>) -> String {
    group.iter().copied().collect::<Vec<_>>().join(", ")
}

/// States that transitions connect, directly or through others, in order of their first names.
fn connected<'a>(initial: &[(&'a str, Span)], written: &[Written<'a>]) -> Vec<BTreeSet<&'a str>> {
    let mut groups: Vec<BTreeSet<&'a str>> = Vec::new();
    let pairs = initial.iter().map(|(s, _)| (*s, *s)).chain(written.iter().map(|w| (w.from, w.to)));
    for (a, b) in pairs {
        let (mut touched, rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|g: &BTreeSet<&str>| g.contains(a) || g.contains(b));
        groups = rest;
        let mut merged: BTreeSet<&'a str> = touched.drain(..).flatten().collect();
        merged.extend([a, b]);
        groups.push(merged);
    }
    groups.sort_by(|a, b| a.first().cmp(&b.first()));
    groups
}

fn transitions(
    model: &FlatModel,
    written: &[Written<'_>],
    states: &[String],
    diagnostics: &mut Diagnostics,
) -> Vec<Transition> {
    let place = |name: &str| states.iter().position(|s| s == name).map(|k| k + 1);
    let mut found: Vec<Transition> = Vec::new();
    for w in written {
        let (Some(from), Some(to)) = (place(w.from), place(w.to)) else { continue };
        let [condition, options @ ..] = w.arguments else { continue };
        let flag = |k: usize, default: bool| match options.get(k) {
            Some(e) => known(model, e).map(|v| v != 0.0),
            None => Some(default),
        };
        let priority = options.get(3).map_or(Some(1.0), |e| known(model, e));
        let (Some(immediate), Some(reset), Some(synchronize), Some(priority)) =
            (flag(0, true), flag(1, true), flag(2, false), priority)
        else {
            diagnostics.push(diagnostics::machines::option_not_known(w.span));
            continue;
        };
        let priority = priority as i64;
        if let Some(other) = found.iter().find(|t| t.from == from && t.priority == priority) {
            diagnostics.push(diagnostics::machines::same_priority(w.from, priority, w.span, other.span));
        }
        let condition = condition.clone();
        found.push(Transition { from, to, condition, immediate, reset, synchronize, priority, span: w.span });
    }
    found.sort_by_key(|t| std::cmp::Reverse(t.priority));
    found
}

/// The value of an option: a literal, or a parameter with a literal value.
fn known(model: &FlatModel, e: &Expr) -> Option<f64> {
    let mut at = e;
    for _ in 0..100 {
        match &at.kind {
            ExprKind::Boolean(value) => return Some(f64::from(u8::from(*value))),
            ExprKind::Integer(value) => return Some(*value as f64),
            ExprKind::Var(id) => at = model.variables.get(*id)?.binding.as_ref()?,
            _ => return None,
        }
    }
    None
}
