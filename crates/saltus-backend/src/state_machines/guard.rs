//! Make the equations of a state hold only while it is active, and merge what several states say about one variable.
//!
//! ```text
//! a.x = previous(a.x) + 1     ⇒   if active(a) then a.x = (if reset(a) then 0 else previous(a.x)) + 1; else a.x = previous(a.x);
//! v = e1 in a, v = e2 in b    ⇒   v = if active(a) then e1 elseif active(b) then e2 else previous(v);
//! ```
//!
//! A variable of a state that is set from outside (an input) belongs to where it is set. (Specification: sections 17.3.2,
//! 17.3.3 and 17.3.5.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::count::{component_of, is_unknown};
use saltus_flat::{
    Algorithm, BaseType, Builtin, Equation, EquationKind, Expr, ExprKind, FlatModel, Origin, Statement, StatementKind,
    Subscript, VarId,
};

use super::build::{self, choose, previous, var};
use super::collect::{Machines, state_name};
use super::machine::{Names, declare_variable, equality};
use crate::diagnostics;
use crate::lower::assigned_variables;

/// Replaces operators of state machines, and gives `previous` its meaning after a reset.
pub struct Rewriter<'a> {
    pub model: &'a FlatModel,
    pub machines: &'a Machines,
    pub names: &'a Names,
    pub diagnostics: &'a mut Diagnostics,
}

impl Rewriter<'_> {
    /// `machine` is the one whose ticks and time are meant; an immediate transition asks before it may fire.
    pub fn expression(&mut self, e: &mut Expr, machine: Option<usize>, before: bool) {
        build::rewrite(e, &mut |e| {
            let ExprKind::Builtin { function, arguments } = &e.kind else { return };
            let new = match (function, arguments.as_slice()) {
                (Builtin::ActiveState, [state]) => self.active_state(state, e.span),
                (Builtin::TicksInState, _) => {
                    self.duration(machine, e.span, |m| if before { m.ticks_before } else { m.ticks })
                }
                (Builtin::TimeInState, _) => {
                    self.duration(machine, e.span, |m| if before { m.time_before } else { m.time })
                }
                (Builtin::Previous, [u]) => self.previous_of(u),
                _ => None,
            };
            if let Some(new) = new {
                *e = new;
            }
        });
    }

    fn active_state(&mut self, state: &Expr, span: Span) -> Option<Expr> {
        let name = state_name(state)?;
        match self.names.active.get(name) {
            Some(&id) => Some(var(self.model, id, span)),
            None => {
                self.diagnostics.push(diagnostics::machines::not_a_state(name, span));
                None
            }
        }
    }

    fn duration(
        &mut self,
        machine: Option<usize>,
        span: Span,
        which: impl Fn(&super::machine::MachineVariables) -> VarId,
    ) -> Option<Expr> {
        match machine.and_then(|k| self.names.machines.get(k)) {
            Some(variables) => Some(var(self.model, which(variables), span)),
            None => {
                self.diagnostics.push(diagnostics::machines::outside_a_machine(span));
                None
            }
        }
    }

    /// At a reset of the state in which the variable is declared, its start value.
    fn previous_of(&self, u: &Expr) -> Option<Expr> {
        let id = base_variable(u)?;
        let state = self.machines.state_of(component_of(&self.model.variables.get(id)?.name))?;
        let reset = var(self.model, *self.names.reset.get(state)?, u.span);
        let start = start_of(self.model, id, u)?;
        Some(choose(reset, start, previous(u.clone())))
    }
}

fn base_variable(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Var(id) => Some(*id),
        ExprKind::Index { base, .. } => base_variable(base),
        _ => None,
    }
}

/// The start value of a variable, or of the elements that `u` is.
fn start_of(model: &FlatModel, id: VarId, u: &Expr) -> Option<Expr> {
    let variable = model.variables.get(id)?;
    let start = match &variable.attributes.start {
        Some(start) => start.clone(),
        None => build::default_start(variable.ty.base, u.span)?,
    };
    if start.ty.is_scalar() {
        if u.ty.is_scalar() {
            return Some(start);
        }
        let mut arguments = vec![start];
        for dim in &u.ty.dims {
            arguments.push(Expr::integer(i64::try_from(dim.known()?).ok()?, u.span));
        }
        return Some(Expr::builtin(Builtin::Fill, arguments, u.ty.clone(), u.span));
    }
    match &u.kind {
        ExprKind::Index { subscripts, .. } => {
            let subscripts: Vec<Subscript> = subscripts.clone();
            Some(Expr::new(ExprKind::Index { base: Box::new(start), subscripts }, u.ty.clone(), u.span))
        }
        _ => Some(start),
    }
}

/// What belongs to one state.
#[derive(Default)]
struct Content {
    equations: Vec<Equation>,
    /// Variables that keep their values while the state is not active.
    variables: BTreeSet<VarId>,
}

pub fn guard_states(model: &mut FlatModel, machines: &Machines, names: &mut Names, diagnostics: &mut Diagnostics) {
    rewrite_all(model, machines, names, diagnostics);
    let mut contents: BTreeMap<String, Content> =
        machines.place.keys().map(|state| (state.clone(), Content::default())).collect();
    find_variables(model, machines, &mut contents);
    bindings_to_equations(model, machines);
    guard_algorithms(model, machines, names, &mut contents);
    let mut outside = Vec::new();
    for equation in std::mem::take(&mut model.equations) {
        match machines.state_of(&equation.component).map(String::from) {
            Some(state) => {
                if let Some(clocked) = clock_of_state(model, names, &state, &equation) {
                    outside.push(clocked);
                }
                add_unwrapped(equation, &mut contents.entry(state).or_default().equations);
            }
            None => outside.push(equation),
        }
    }
    model.equations = outside;
    move_inputs(model, machines, &mut contents);
    let mut merged: BTreeMap<VarId, Vec<(String, Expr, Span)>> = BTreeMap::new();
    let mut guarded = Vec::new();
    for (state, content) in contents {
        let Content { equations, variables } = content;
        let mut kept = Vec::new();
        for equation in equations {
            match assigned_outside(&equation, &variables) {
                Some(id) => {
                    let EquationKind::Equality { right, .. } = equation.kind else { continue };
                    merged.entry(id).or_default().push((state.clone(), right, equation.span));
                }
                None => kept.push(equation),
            }
        }
        guarded.push((state, kept, variables));
    }
    for (state, equations, mut variables) in guarded {
        // What states inside assign is merged, with the value to keep.
        variables.retain(|id| !merged.contains_key(id));
        guard(model, names, &state, equations, variables);
    }
    merge(model, machines, names, merged, diagnostics);
}

fn rewrite_all(model: &mut FlatModel, machines: &Machines, names: &Names, diagnostics: &mut Diagnostics) {
    let declared = model.clone();
    let mut rewriter = Rewriter { model: &declared, machines, names, diagnostics };
    let machine_of = |component: &str| {
        let state = machines.state_of(component)?;
        machines.place.get(state).map(|place| place.0)
    };
    for (_, variable) in model.variables.iter_mut() {
        let machine = machine_of(component_of(&variable.name));
        variable.binding.iter_mut().for_each(|e| rewriter.expression(e, machine, false));
    }
    for equation in &mut model.equations {
        let machine = machine_of(&equation.component);
        build::expressions_of_equation(equation, &mut |e| rewriter.expression(e, machine, false));
    }
    for algorithm in &mut model.algorithms {
        let machine = machine_of(&algorithm.component);
        for statement in &mut algorithm.statements {
            build::expressions_of_statement(statement, &mut |e| rewriter.expression(e, machine, false));
        }
    }
}

fn find_variables(model: &FlatModel, machines: &Machines, contents: &mut BTreeMap<String, Content>) {
    let is_shown: BTreeSet<VarId> = model.inner_outer.iter().map(|pair| pair.0).collect();
    for (id, variable) in model.variables.iter() {
        if !is_unknown(variable) || variable.ty.base == BaseType::Clock || is_shown.contains(&id) {
            continue;
        }
        if let Some(content) = machines.state_of(component_of(&variable.name)).and_then(|s| contents.get_mut(s)) {
            content.variables.insert(id);
        }
    }
}

/// Declaration equations of variables in states hold like other equations only while the state is active.
fn bindings_to_equations(model: &mut FlatModel, machines: &Machines) {
    let is_shown: BTreeSet<VarId> = model.inner_outer.iter().map(|pair| pair.0).collect();
    let mut equations = Vec::new();
    for (id, variable) in model.variables.iter_mut() {
        let component = component_of(&variable.name);
        let counts = is_unknown(variable) && variable.ty.base != BaseType::Clock && !is_shown.contains(&id);
        if !counts || machines.state_of(component).is_none() {
            continue;
        }
        let component: std::sync::Arc<str> = component.into();
        if let Some(right) = variable.binding.take() {
            let left = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
            let kind = EquationKind::Equality { left, right };
            equations.push(Equation { kind, origin: Origin::Binding, component, span: variable.span });
        }
    }
    model.equations.extend(equations);
}

/// The statements of a state are executed only while it is active; what they would assign keeps its value otherwise.
fn guard_algorithms(
    model: &mut FlatModel,
    machines: &Machines,
    names: &Names,
    contents: &mut BTreeMap<String, Content>,
) {
    let mut algorithms = std::mem::take(&mut model.algorithms);
    for algorithm in &mut algorithms {
        let Some(state) = machines.state_of(&algorithm.component).map(String::from) else { continue };
        let assigned = assigned_variables(model, &algorithm.statements);
        if let Some(content) = contents.get_mut(&state) {
            assigned.keys().for_each(|id| {
                content.variables.remove(id);
            });
        }
        let Some(&active) = names.active.get(&state) else { continue };
        let Algorithm { statements, span, .. } = algorithm;
        let branches = vec![(var(model, active, *span), std::mem::take(statements))];
        let kind = StatementKind::If { branches, otherwise: Vec::new() };
        *statements = vec![Statement { kind, span: *span }];
    }
    model.algorithms = algorithms;
}

/// All of a machine has one clock, so the equations of a clocked `when` in a state are equations of the state.
fn add_unwrapped(equation: Equation, to: &mut Vec<Equation>) {
    let Equation { kind, origin, component, span } = equation;
    match kind {
        EquationKind::When { mut branches } if clock_of(&branches).is_some() => {
            branches.drain(..).flat_map(|(_, body)| body).for_each(|e| add_unwrapped(e, to));
        }
        kind => to.push(Equation { kind, origin, component, span }),
    }
}

/// The clock that a `when` is about.
fn clock_of(branches: &[(Expr, Vec<Equation>)]) -> Option<&Expr> {
    let [(condition, _)] = branches else { return None };
    (condition.ty.base == BaseType::Clock).then_some(condition)
}

/// `when c then …` in a state says that the machine has the clock `c`. (Specification: section 17.1.)
///
/// ```text
/// when c then x = 1; end when;        in the state a        ⇒    when c then clocked(a) = active(a); end when;
/// ```
fn clock_of_state(model: &mut FlatModel, names: &Names, state: &str, equation: &Equation) -> Option<Equation> {
    let EquationKind::When { branches } = &equation.kind else { return None };
    let condition = clock_of(branches)?;
    if matches!(&condition.kind, ExprKind::Builtin { function: Builtin::Clock, arguments } if arguments.is_empty()) {
        return None;
    }
    let span = condition.span;
    let active = var(model, *names.active.get(state)?, span);
    let name = format!("clocked({state}).{}", model.variables.len());
    let clocked = declare_variable(model, name, BaseType::Boolean, Expr::boolean(false, span), true, span);
    let body = vec![equality(var(model, clocked, span), active, span)];
    let kind = EquationKind::When { branches: vec![(condition.clone(), body)] };
    Some(Equation { kind, origin: Origin::Declared, component: "".into(), span })
}

/// The variable on the left of an equation, if that is all of it.
fn left_variable(equation: &Equation) -> Option<VarId> {
    match &equation.kind {
        EquationKind::Equality { left: Expr { kind: ExprKind::Var(id), .. }, .. } => Some(*id),
        _ => None,
    }
}

/// The variable outside the state that the equation determines.
fn assigned_outside(equation: &Equation, own: &BTreeSet<VarId>) -> Option<VarId> {
    left_variable(equation).filter(|id| !own.contains(id))
}

/// A variable of a state that no equation of the state determines, but one around the state does, belongs there.
fn move_inputs(model: &mut FlatModel, machines: &Machines, contents: &mut BTreeMap<String, Content>) {
    let mut owner: BTreeMap<VarId, String> = BTreeMap::new();
    for (state, content) in contents.iter() {
        content.variables.iter().for_each(|&id| {
            owner.insert(id, state.clone());
        });
    }
    let determined: BTreeSet<VarId> = contents
        .values()
        .flat_map(|c| c.equations.iter().filter(|e| e.origin != Origin::Connection).filter_map(left_variable))
        .collect();
    let mut moves: Vec<(VarId, Option<String>)> = Vec::new();
    let outside = model.equations.iter_mut().map(|e| (None, e));
    let inside = contents.iter_mut().flat_map(|(s, c)| c.equations.iter_mut().map(move |e| (Some(s.clone()), e)));
    for (state, equation) in outside.chain(inside) {
        let is_inner = |id: &VarId| match (owner.get(id), &state) {
            (Some(of), Some(state)) => of != state && machines.state_of(component_of(of)) == Some(state.as_str()),
            (Some(_), None) => true,
            (None, _) => false,
        };
        let EquationKind::Equality { left, right } = &mut equation.kind else { continue };
        let sides = [left.clone(), right.clone()];
        let input = sides.iter().position(|side| match &side.kind {
            ExprKind::Var(id) => is_inner(id) && !determined.contains(id),
            _ => false,
        });
        let Some(position) = input else { continue };
        if position == 1 {
            std::mem::swap(left, right);
        }
        if let ExprKind::Var(id) = left.kind {
            moves.push((id, state));
        }
    }
    for (id, to) in moves {
        if let Some(from) = owner.get(&id).and_then(|s| contents.get_mut(s)) {
            from.variables.remove(&id);
        }
        if let Some(content) = to.and_then(|s| contents.get_mut(&s)) {
            content.variables.insert(id);
        }
    }
}

/// `if active then equations else variables keep their values`. Connections between variables of the state always hold.
fn guard(model: &mut FlatModel, names: &Names, state: &str, equations: Vec<Equation>, mut variables: BTreeSet<VarId>) {
    let Some(&active) = names.active.get(state) else { return };
    let determined: BTreeSet<VarId> =
        equations.iter().filter(|e| e.origin != Origin::Connection).filter_map(left_variable).collect();
    let mut guarded = Vec::new();
    for equation in equations {
        match other_name(&equation, &variables, &determined) {
            Some(id) => {
                variables.remove(&id);
                model.equations.push(equation);
            }
            None => guarded.push(equation),
        }
    }
    if guarded.is_empty() && variables.is_empty() {
        return;
    }
    let span = guarded.first().map_or(Span::nowhere(), |e| e.span);
    let otherwise = variables
        .iter()
        .map(|&id| {
            let variable = var(model, id, span);
            equality(variable.clone(), previous(variable), span)
        })
        .collect();
    let branches = vec![(var(model, active, span), guarded)];
    let kind = EquationKind::If { branches, otherwise };
    model.equations.push(Equation { kind, origin: Origin::Declared, component: state.into(), span });
}

/// In a connection of two variables of the state, the one that nothing else determines.
fn other_name(equation: &Equation, variables: &BTreeSet<VarId>, determined: &BTreeSet<VarId>) -> Option<VarId> {
    let EquationKind::Equality { left, right } = &equation.kind else { return None };
    let (ExprKind::Var(a), ExprKind::Var(b)) = (&left.kind, &right.kind) else { return None };
    if equation.origin != Origin::Connection || !variables.contains(a) || !variables.contains(b) {
        return None;
    }
    [*b, *a].into_iter().find(|id| !determined.contains(id))
}

fn merge(
    model: &mut FlatModel,
    machines: &Machines,
    names: &Names,
    merged: BTreeMap<VarId, Vec<(String, Expr, Span)>>,
    diagnostics: &mut Diagnostics,
) {
    for (id, definitions) in merged {
        let Some((_, _, span)) = definitions.first() else { continue };
        let name = model.variables[id].name.clone();
        for (k, (a, _, _)) in definitions.iter().enumerate() {
            if let Some((b, _, second)) = definitions[k + 1..].iter().find(|(b, _, _)| machines.may_coincide(a, b)) {
                diagnostics.push(diagnostics::machines::assigned_twice(&name, a, b, *second));
            }
        }
        let is_in_initial = |(state, ..): &(String, Expr, Span)| machines.begins_in(state);
        if model.variables[id].attributes.start.is_none() && !definitions.iter().any(is_in_initial) {
            diagnostics.push(diagnostics::machines::merged_without_start(&name, *span));
        }
        let variable = var(model, id, *span);
        let mut value = previous(variable.clone());
        if let Some(&reset) = machines.state_of(component_of(&name)).and_then(|s| names.reset.get(s))
            && let Some(start) = start_of(model, id, &variable)
        {
            value = choose(var(model, reset, *span), start, value);
        }
        for (state, right, span) in definitions.iter().rev() {
            let Some(&active) = names.active.get(state) else { continue };
            value = choose(var(model, active, *span), right.clone(), value);
        }
        let span = *span;
        // Another state may own the variable: then this is what it says about it while it is active.
        model.equations.push(equality(variable, value, span));
    }
}
