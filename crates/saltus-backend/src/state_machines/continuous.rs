//! Continuous-time state machines: the model as it is while some of its states are active.
//!
//! ```text
//! initialState(circle);                                   active(circle) = true;  active(flight) = false;
//! transition(circle, flight, circle.pull < 0);      ⇒     next(flight) = circle.pull < 0;  next(circle) = not circle.pull < 0;
//! // equations of circle and of flight                    // equations of circle
//! ```
//!
//! In: a flat model and a [`Key`]. Out: the model without the equations of states that are not active; their variables are
//! [`absent`](ActiveStates). What is entered, and with which values, stands in [`ActiveStates::entries`]. Machines that use
//! operators of clocks are clocked (chapter 17 of the specification) and left as they are.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::count::component_of;
use saltus_flat::{
    ActiveStates, BaseType, BinaryOp, Builtin, EntryEquation, Equation, EquationKind, Expr, ExprKind, FlatModel,
    MachineState, StatementKind, Type, VarId, Variability,
};
use saltus_program::Key;

use super::build::{self, and, choose, not, or, var};
use super::clocked::touches_clocks;
use super::collect::{Machine, Machines, Transition, is_machine_call, state_name};
use super::links;
use super::machine::{declare_variable, equality};
use super::modes::{self, declare_modes};
use super::origins::Origins;
use crate::diagnostics;

/// The model with the states of the key active; `None` if it has no continuous-time state machine.
pub fn fix_states(model: &FlatModel, key: &Key, diagnostics: &mut Diagnostics) -> Option<FlatModel> {
    if !model.equations.iter().any(|e| matches!(&e.kind, EquationKind::Call(call) if is_machine_call(call))) {
        return None;
    }
    let machines = Machines::collect(model, &mut Diagnostics::new());
    let continuous: Vec<usize> = (0..machines.machines.len()).filter(|&k| is_continuous(model, &machines, k)).collect();
    if continuous.is_empty() {
        return None;
    }
    // What is wrong with them is said for clocked ones otherwise.
    Machines::collect(model, diagnostics);
    let mut fixing = Fixing::new(model.clone(), &machines, continuous, key);
    fixing.drop_inactive();
    fixing.take_entries(diagnostics);
    fixing.refuse_statements(diagnostics);
    fixing.fold(diagnostics);
    fixing.add_transitions(diagnostics);
    links::relink(&mut fixing.model, &fixing.active.absent);
    fixing.find_unguarded(diagnostics);
    let Fixing { mut model, active, .. } = fixing;
    model.active_states = Some(Box::new(active));
    Some(model)
}

/// Is the machine one of continuous time? Not if its states, or conditions of its transitions, use operators of clocks; otherwise if a
/// state contains derivatives, is entered by `reinit` or connected to something, or if nothing in it has to do with clocked variables.
fn is_continuous(model: &FlatModel, machines: &Machines, k: usize) -> bool {
    let is_inside = |component: &str| {
        let mut at = machines.state_of(component);
        while let Some(state) = at {
            match machines.place.get(state) {
                Some(&(machine, _)) if machine == k => return true,
                Some(&(machine, _)) => at = machines.machines[machine].parent.as_deref(),
                None => return false,
            }
        }
        false
    };
    let mut found = Found::default();
    for equation in &model.equations {
        let mut equation = equation.clone();
        let is_connection = equation.origin == saltus_flat::Origin::Connection;
        if is_inside(&equation.component) {
            build::expressions_of_equation(&mut equation, &mut |e| found.look(e));
        } else if is_connection {
            build::expressions_of_equation(&mut equation, &mut |e| {
                e.walk(&mut |e| {
                    let ExprKind::Var(id) = e.kind else { return };
                    found.is_linked |= is_inside(component_of(&model.variables[id].name));
                });
            });
        }
    }
    for (_, variable) in model.variables.iter().filter(|(_, v)| is_inside(component_of(&v.name))) {
        variable.binding.iter().for_each(|e| found.look(e));
    }
    let machine = &machines.machines[k];
    machine.transitions.iter().for_each(|t| found.look(&t.condition));
    if found.is_clocked {
        return false;
    }
    found.has_derivatives || found.is_linked || enters_by_reinit(model, machine) || !touches_clocks(model, machines, k)
}

/// What the states of a machine contain.
#[derive(Default)]
struct Found {
    is_clocked: bool,
    has_derivatives: bool,
    is_linked: bool,
}

impl Found {
    fn look(&mut self, e: &Expr) {
        use Builtin::{BackSample, Der, Interval, NoClock, Previous, ShiftSample, SubSample, SuperSample};
        e.walk(&mut |e| {
            let ExprKind::Builtin { function, .. } = &e.kind else { return };
            self.has_derivatives |= *function == Der;
            self.is_clocked |=
                matches!(function, Previous | Interval | NoClock | SubSample | SuperSample | ShiftSample | BackSample)
                    || e.ty.base == BaseType::Clock;
        });
    }
}

/// Does a state begin with values that a `reinit` gives?
fn enters_by_reinit(model: &FlatModel, machine: &Machine) -> bool {
    let is_entry = |(condition, body): &(Expr, Vec<Equation>)| {
        active_state(condition).is_some_and(|name| machine.states.iter().any(|s| s == name))
            && body.iter().any(|e| matches!(e.kind, EquationKind::Reinit { .. }))
    };
    model.equations.iter().any(|e| matches!(&e.kind, EquationKind::When { branches } if branches.iter().any(is_entry)))
}

/// The state of `activeState(s)`.
fn active_state(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Builtin { function: Builtin::ActiveState, arguments } => state_name(arguments.first()?),
        _ => None,
    }
}

/// What the transitions that fire do to a state.
struct Changes {
    /// It is active afterwards.
    next: Expr,
    /// It begins with start values.
    resets: Expr,
    /// It is left and entered.
    again: Expr,
}

struct Fixing<'a> {
    model: FlatModel,
    machines: &'a Machines,
    continuous: Vec<usize>,
    /// Position of each state among those of all continuous machines.
    place: BTreeMap<String, usize>,
    active: ActiveStates,
    origins: Origins,
}

impl<'a> Fixing<'a> {
    fn new(mut model: FlatModel, machines: &'a Machines, continuous: Vec<usize>, key: &Key) -> Self {
        let (mut place, mut states) = (BTreeMap::new(), Vec::new());
        let mut shown: Vec<modes::Active> = Vec::new();
        for &k in &continuous {
            let machine = &machines.machines[k];
            shown.push(modes::Active { machine, state: None });
            for (position, state) in machine.states.iter().enumerate() {
                let text = format!("activeState({state})");
                let is_active = key.0.get(&text).copied().unwrap_or_else(|| is_initially(machines, state));
                if let Some(shown) = shown.last_mut().filter(|_| is_active) {
                    shown.state = Some(position);
                }
                let span = machine.span;
                let mut flag = |what: &str, is_hidden: bool| {
                    let no = Expr::boolean(false, span);
                    declare_variable(&mut model, format!("{what}({state})"), BaseType::Boolean, no, is_hidden, span)
                };
                let active = flag("active", false);
                let [next, enters, resets, reenters, visited, remembered] =
                    ["next", "enters", "resets", "reenters", "visited", "remembered"].map(|what| flag(what, true));
                model.variables[active].binding = Some(Expr::boolean(is_active, span));
                let zero = Expr::real(0.0, span);
                let name = format!("entryTime({state})");
                let entry_time = declare_variable(&mut model, name, BaseType::Real, zero, true, span);
                place.insert(state.clone(), states.len());
                states.push(MachineState {
                    text,
                    machine: shown.len() - 1,
                    is_active,
                    next,
                    enters,
                    resets,
                    reenters,
                    entry_time,
                    visited,
                    remembered,
                    span,
                });
            }
        }
        let origins = Origins::declare(&mut model, &states);
        let linearized = origins.linearized.iter().copied().filter(|&k| states[k].is_active).collect();
        let (machines_shown, modes): (Vec<String>, Vec<VarId>) = declare_modes(&mut model, &shown).into_iter().unzip();
        let has_no_value = |id: &VarId| model.variables[*id].binding.is_none();
        let absent = modes.into_iter().filter(has_no_value).collect();
        let active = ActiveStates {
            states,
            machines: machines_shown,
            absent,
            linearized,
            origins: origins.all.clone(),
            ..ActiveStates::default()
        };
        Fixing { model, machines, continuous, place, active, origins }
    }

    /// The innermost state of a continuous machine that a component is, or is in.
    fn state_of(&self, component: &str) -> Option<usize> {
        let mut at = self.machines.state_of(component);
        while let Some(state) = at {
            if let Some(&position) = self.place.get(state) {
                return Some(position);
            }
            at = self.machines.state_of(component_of(state));
        }
        None
    }

    /// Is a component in a state that is not active, at any level?
    fn is_inactive(&self, component: &str) -> bool {
        let mut at = Some(component);
        while let Some(name) = at.filter(|name| !name.is_empty()) {
            if self.place.get(name).is_some_and(|&k| !self.active.states[k].is_active) {
                return true;
            }
            at = Some(component_of(name));
        }
        false
    }

    fn drop_inactive(&mut self) {
        let ids: Vec<VarId> = self.model.variables.iter().map(|(id, _)| id).collect();
        for id in ids {
            let component = component_of(&self.model.variables[id].name).to_owned();
            let Some(state) = self.state_of(&component) else { continue };
            self.active.members.insert(id, state);
            if self.is_inactive(&component) && self.model.variables[id].variability > Variability::Parameter {
                self.active.absent.insert(id);
                self.model.variables[id].binding = None;
            }
        }
        for state in &self.active.states {
            self.active.absent.extend([state.enters, state.entry_time, state.visited, state.remembered]);
        }
        self.active.absent.extend(self.origins.all.iter().map(|origin| origin.value));
        for (&state, &id) in &self.origins.excursions {
            self.active.members.insert(id, state);
            if self.active.states[state].is_active {
                let distance = self.origins.distance(&self.model, state, self.active.states[state].span);
                self.model.variables[id].binding = Some(distance);
            } else {
                self.active.absent.insert(id);
            }
        }
        let mut model = std::mem::take(&mut self.model);
        let stays = |component: &str| !self.is_inactive(component);
        model.equations.retain(|e| stays(&e.component));
        model.initial_equations.retain(|e| stays(&e.component));
        model.algorithms.retain(|a| stays(&a.component));
        model.initial_algorithms.retain(|a| stays(&a.component));
        let is_continuous_call = |e: &Equation| match &e.kind {
            EquationKind::Call(call) if is_machine_call(call) => {
                call_state(call).is_some_and(|s| self.place.contains_key(s))
            }
            _ => false,
        };
        model.equations.retain(|e| !is_continuous_call(e));
        self.model = model;
    }

    /// `when activeState(s) then reinit(…)`: what is not a `reinit` happens where the state is entered.
    fn take_entries(&mut self, diagnostics: &mut Diagnostics) {
        for equation in std::mem::take(&mut self.model.equations) {
            let EquationKind::When { branches } = &equation.kind else {
                self.model.equations.push(equation);
                continue;
            };
            let state = branches.first().and_then(|(condition, _)| self.place.get(active_state(condition)?).copied());
            let Some(state) = state else {
                let mut has_state = false;
                for (condition, _) in branches {
                    condition.walk(&mut |e| has_state |= active_state(e).is_some_and(|s| self.place.contains_key(s)));
                }
                if has_state {
                    diagnostics.push(diagnostics::machines::entry_condition(equation.span));
                }
                self.model.equations.push(equation);
                continue;
            };
            if branches.len() > 1 {
                diagnostics.push(diagnostics::machines::entry_condition(equation.span));
            }
            let EquationKind::When { branches } = equation.kind else { continue };
            let Some((_, body)) = branches.into_iter().next() else { continue };
            self.take_entry(state, body, equation.span);
        }
    }

    /// In algorithms a `when` would wait for a literal to change.
    fn refuse_statements(&self, diagnostics: &mut Diagnostics) {
        let mut told = Vec::new();
        for algorithm in self.model.algorithms.iter() {
            for statement in algorithm.statements.iter() {
                let StatementKind::When { branches } = &statement.kind else { continue };
                for (condition, _) in branches {
                    condition.walk(&mut |e| {
                        if active_state(e).is_some_and(|s| self.place.contains_key(s))
                            && !told.contains(&statement.span)
                        {
                            told.push(statement.span);
                        }
                    });
                }
            }
        }
        told.into_iter().for_each(|span| diagnostics.push(diagnostics::machines::entry_condition(span)));
    }

    fn take_entry(&mut self, state: usize, body: Vec<Equation>, span: Span) {
        let MachineState { is_active, enters, .. } = self.active.states[state];
        let mut others = Vec::new();
        for mut equation in body {
            match equation.kind {
                EquationKind::Reinit { state: target, value } if is_active => {
                    self.active.entries.push(EntryEquation { state, target, value, span: equation.span });
                }
                EquationKind::Reinit { .. } => {}
                EquationKind::Equality { left, right } => {
                    // What would be read from a state that is not active is not read.
                    let (ty, place) = (left.ty.clone(), left.span);
                    let held = Expr::builtin(Builtin::Pre, vec![left.clone()], ty, place);
                    let right = if is_active { right } else { held };
                    equation.kind = EquationKind::Equality { left, right };
                    others.push(equation);
                }
                _ if is_active => others.push(equation),
                _ => {}
            }
        }
        if !others.is_empty() {
            let condition = var(&self.model, enters, span);
            let kind = EquationKind::When { branches: vec![(condition, others)] };
            let origin = saltus_flat::Origin::Declared;
            self.model.equations.push(Equation { kind, origin, component: "".into(), span });
        }
    }

    /// `activeState(s)` is known, and what follows from it.
    fn fold(&mut self, diagnostics: &mut Diagnostics) {
        let mut model = std::mem::take(&mut self.model);
        let merged: Vec<usize> = (0..model.equations.len()).filter(|&k| is_merged(&model.equations[k])).collect();
        build::for_each_expression(&mut model, &mut |e| self.fold_expression(e, None, diagnostics));
        for equation in merged.into_iter().map(|k| &model.equations[k]) {
            let EquationKind::Equality { left, right } = &equation.kind else { continue };
            if links::base(right).is_some_and(|id| self.active.absent.contains(&id))
                && let Some(signal) = links::base(left)
            {
                let name = &model.variables[signal].name;
                diagnostics.push(diagnostics::machines::no_active_source(name, equation.span));
            }
        }
        model.equations = fold_equations(std::mem::take(&mut model.equations));
        model.initial_equations = fold_equations(std::mem::take(&mut model.initial_equations));
        for entry in std::mem::take(&mut self.active.entries) {
            let EntryEquation { state, mut target, mut value, span } = entry;
            [&mut target, &mut value].into_iter().for_each(|e| self.fold_expression(e, Some(state), diagnostics));
            self.active.entries.push(EntryEquation { state, target, value, span });
        }
        self.model = model;
    }

    /// `state` is the one whose time is meant.
    fn fold_expression(&self, e: &mut Expr, state: Option<usize>, diagnostics: &mut Diagnostics) {
        build::rewrite(e, &mut |e| {
            let span = e.span;
            if let Some(&k) = active_state(e).and_then(|name| self.place.get(name)) {
                *e = Expr::boolean(self.active.states[k].is_active, span);
                return;
            }
            if let Some(name) = active_state(e) {
                // One of a clocked machine is looked at later.
                if !self.machines.place.contains_key(name) {
                    diagnostics.push(diagnostics::machines::not_a_state(name, span));
                }
                return;
            }
            if let ExprKind::Builtin { function: Builtin::Excursion, arguments } = &e.kind {
                let name = arguments.first().and_then(state_name).unwrap_or_default();
                match self.place.get(name).and_then(|k| self.origins.excursions.get(k)) {
                    Some(&id) => *e = Expr::new(ExprKind::Var(id), Type::REAL, span),
                    None => diagnostics.push(diagnostics::machines::not_a_state(name, span)),
                }
                return;
            }
            match (&e.kind, state) {
                (ExprKind::Builtin { function: Builtin::TimeInState, .. }, Some(k)) => {
                    let id = self.active.states[k].entry_time;
                    let entered = Expr::new(ExprKind::Var(id), Type::REAL, span);
                    let now = Expr::new(ExprKind::Time, Type::REAL, span);
                    *e = build::binary(BinaryOp::Sub, now, entered);
                }
                (ExprKind::Builtin { function: Builtin::TicksInState, .. }, Some(_)) => {
                    diagnostics.push(diagnostics::machines::no_ticks(span));
                }
                _ => fold_boolean(e),
            }
        });
    }

    fn add_transitions(&mut self, diagnostics: &mut Diagnostics) {
        let mut equations = Vec::new();
        for k in self.continuous.clone() {
            let machine = self.machines.machines[k].clone();
            let position = |s: usize| self.place.get(&machine.states[s - 1]).copied();
            let positions: Vec<usize> = (1..=machine.states.len()).filter_map(position).collect();
            let active = (1..=machine.states.len()).find(|&s| self.active.states[positions[s - 1]].is_active);
            let fires = self.firing(&machine, active, diagnostics);
            for s in 1..=machine.states.len() {
                let state = self.active.states[positions[s - 1]].clone();
                let no = || Expr::boolean(false, state.span);
                let any = |all: Vec<Expr>| all.into_iter().reduce(or).unwrap_or_else(no);
                let to_it = |t: &&(Transition, Expr)| t.0.to == s;
                let arrives = any(fires.iter().filter(to_it).map(|(_, fires)| fires.clone()).collect());
                let fired = any(fires.iter().map(|(_, fires)| fires.clone()).collect());
                // A linearised state that leads to itself is linearised anew, where it is.
                let is_linearized = self.origins.linearized.contains(&positions[s - 1]);
                let is_reset = |(t, _): &&(Transition, Expr)| t.reset && !(is_linearized && t.from == t.to);
                let resets = any(fires.iter().filter(to_it).filter(is_reset).map(|(_, f)| f.clone()).collect());
                let again = if active == Some(s) { arrives.clone() } else { no() };
                let next = if active == Some(s) { or(arrives, not(fired)) } else { arrives };
                let own = Changes { next, resets, again };
                let parent = machine.parent.as_ref().and_then(|p| self.place.get(p)).copied();
                let Changes { next, resets, again } = match parent {
                    Some(parent) => self.inside(parent, own, active.is_some(), s == 1, &state),
                    None => own,
                };
                let mut add = |id: VarId, mut right: Expr| {
                    build::rewrite(&mut right, &mut fold_boolean);
                    let left = var(&self.model, id, state.span);
                    equations.push(equality(left, right, state.span));
                };
                add(state.next, next);
                add(state.resets, resets);
                add(state.reenters, again);
            }
        }
        self.model.equations.extend(equations);
    }

    /// Changes of a state in another one, `parent`. A machine begins with its initial state where the state around it is entered with
    /// `reset` or for the first time, and goes on with the state it was in otherwise.
    fn inside(&self, parent: usize, own: Changes, is_active: bool, is_first: bool, state: &MachineState) -> Changes {
        let parent = &self.active.states[parent];
        let flag = |id: VarId| var(&self.model, id, state.span);
        let begins = or(flag(parent.resets), not(flag(parent.visited)));
        let first = Expr::boolean(is_first, state.span);
        let remains = flag(parent.next);
        if !is_active {
            let entered = choose(begins.clone(), first, flag(state.remembered));
            let again = Expr::boolean(false, state.span);
            return Changes { next: and(remains.clone(), entered), resets: and(remains, begins), again };
        }
        let enters = flag(parent.reenters);
        let next = choose(and(enters.clone(), begins.clone()), first, own.next);
        let again = or(own.again, and(enters.clone(), next.clone()));
        Changes { next: and(remains, next), resets: choose(enters, begins, own.resets), again }
    }

    /// The transitions that leave the active state, each with the condition under which it fires: the one with the smallest number
    /// of those that are enabled. `immediate = false` asks for the condition one tick before. Conditions are those of an event that has been
    /// settled, where `pre(condition)` is the condition, and there is nothing else to wait for: both fire at the same instant.
    fn firing(
        &mut self,
        machine: &Machine,
        active: Option<usize>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<(Transition, Expr)> {
        let mut found: Vec<(Transition, Expr)> = Vec::new();
        let mut earlier: Option<Expr> = None;
        for transition in machine.transitions.iter().rev() {
            // The same variables in all configurations.
            let mut condition = transition.condition.clone();
            self.doubt(&mut condition);
            if Some(transition.from) != active {
                continue;
            }
            let from = &machine.states[transition.from - 1];
            let state = self.place.get(from).copied();
            self.fold_expression(&mut condition, state, diagnostics);
            if transition.synchronize && !self.is_finished(from) {
                condition = Expr::boolean(false, transition.span);
            }
            let fires = earlier.clone().map_or_else(|| condition.clone(), |e| and(condition.clone(), not(e)));
            earlier = Some(match earlier {
                Some(earlier) => or(earlier, condition),
                None => condition,
            });
            found.push((transition.clone(), fires));
        }
        found
    }

    /// Are all machines in a state in states that no transition leaves?
    fn is_finished(&self, state: &str) -> bool {
        let is_at_end = |machine: &Machine| {
            let is_active =
                |s: usize| self.place.get(&machine.states[s - 1]).is_some_and(|&k| self.active.states[k].is_active);
            (1..=machine.states.len())
                .find(|&s| is_active(s))
                .is_some_and(|s| !machine.transitions.iter().any(|t| t.from == s))
        };
        self.machines.inside(state).all(|k| is_at_end(&self.machines.machines[k]))
    }

    /// Relations of Reals must be exceeded by as much as the entry finds: a state that is entered at the threshold of a transition
    /// has the benefit of the doubt.
    fn doubt(&mut self, condition: &mut Expr) {
        let (model, doubts) = (&mut self.model, &mut self.active.doubts);
        let mut made = Vec::new();
        build::rewrite(condition, &mut |e| {
            let ExprKind::Binary(op, left, _) = &mut e.kind else { return };
            let shift = match op {
                BinaryOp::Greater | BinaryOp::GreaterEqual => BinaryOp::Sub,
                BinaryOp::Less | BinaryOp::LessEqual => BinaryOp::Add,
                _ => return,
            };
            if left.ty.base != BaseType::Real || !left.ty.is_scalar() {
                return;
            }
            let name = format!("doubt({})", doubts.len() + made.len() + 1);
            let doubt = declare_variable(model, name, BaseType::Real, Expr::real(0.0, e.span), true, e.span);
            made.push(doubt);
            let amount = Expr::new(ExprKind::Var(doubt), Type::REAL, e.span);
            let plain = std::mem::replace(&mut **left, Expr::real(0.0, e.span));
            **left = build::binary(shift, plain, amount);
        });
        self.active.absent.extend(&made);
        doubts.extend(made);
    }

    /// What is read of a state that is not active has no value.
    fn find_unguarded(&self, diagnostics: &mut Diagnostics) {
        let flags: BTreeSet<VarId> = self.active.doubts.iter().copied().collect();
        let own = |id: VarId| {
            flags.contains(&id)
                || self.origins.all.iter().any(|origin| origin.value == id)
                || self.active.states.iter().any(|s| [s.enters, s.entry_time, s.visited, s.remembered].contains(&id))
        };
        let mut told = BTreeSet::new();
        let mut model = self.model.clone();
        // Entry equations read the values before, also of states that are left.
        let is_entry = |condition: &Expr| matches!(condition.kind, ExprKind::Var(id) if self.active.states.iter().any(|s| s.enters == id));
        for equation in &mut model.equations {
            let EquationKind::When { branches } = &mut equation.kind else { continue };
            for (_, body) in branches.iter_mut().filter(|(condition, _)| is_entry(condition)) {
                body.iter_mut().for_each(|e| build::expressions_of_equation(e, &mut forget_pre));
            }
        }
        let mut look = |e: &mut Expr| {
            e.walk(&mut |e| {
                if let ExprKind::Var(id) = e.kind
                    && self.active.absent.contains(&id)
                    && !own(id)
                    && told.insert(id)
                {
                    let state = self.active.members.get(&id).map_or("", |&k| &self.active.states[k].text);
                    diagnostics.push(diagnostics::machines::unguarded(&self.model.variables[id].name, state, e.span));
                }
            });
        };
        build::for_each_expression(&mut model, &mut look);
        for entry in &self.active.entries {
            let mut value = entry.value.clone();
            forget_pre(&mut value);
            look(&mut value);
        }
    }
}

/// `u = if activeState(a) then a.y elseif …`, from a connection.
fn is_merged(equation: &Equation) -> bool {
    let EquationKind::Equality { right, .. } = &equation.kind else { return false };
    equation.origin == saltus_flat::Origin::Connection && matches!(right.kind, ExprKind::If { .. })
}

/// What is read by `pre` is not read now.
fn forget_pre(e: &mut Expr) {
    build::rewrite(e, &mut |e| {
        if matches!(&e.kind, ExprKind::Builtin { function: Builtin::Pre, .. }) {
            *e = Expr::real(0.0, e.span);
        }
    });
}

/// Is the state active when the simulation starts?
fn is_initially(machines: &Machines, state: &str) -> bool {
    let Some(&(machine, position)) = machines.place.get(state) else { return false };
    position == 1 && machines.machines[machine].parent.as_ref().is_none_or(|parent| is_initially(machines, parent))
}

/// The first state that a `transition` or `initialState` names.
fn call_state(call: &Expr) -> Option<&str> {
    match &call.kind {
        ExprKind::Builtin { arguments, .. } => state_name(arguments.first()?),
        _ => None,
    }
}

/// `true and b`, `if false then a else b` and the like.
fn fold_boolean(e: &mut Expr) {
    let literal = |e: &Expr| if let ExprKind::Boolean(value) = e.kind { Some(value) } else { None };
    let new = match &e.kind {
        ExprKind::Unary(saltus_flat::UnaryOp::Not, a) => literal(a).map(|a| Expr::boolean(!a, e.span)),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            let neutral = *op == BinaryOp::And;
            match (literal(a), literal(b)) {
                (Some(a), _) if a == neutral => Some((**b).clone()),
                (_, Some(b)) if b == neutral => Some((**a).clone()),
                (Some(_), _) | (_, Some(_)) => Some(Expr::boolean(!neutral, e.span)),
                _ => None,
            }
        }
        ExprKind::If { condition, then, otherwise } => {
            literal(condition).map(|holds| if holds { (**then).clone() } else { (**otherwise).clone() })
        }
        _ => None,
    };
    if let Some(new) = new {
        *e = new;
    }
}

/// If-equations whose conditions are known are the equations of their branches.
fn fold_equations(equations: Vec<Equation>) -> Vec<Equation> {
    let mut folded = Vec::with_capacity(equations.len());
    for mut equation in equations {
        let EquationKind::If { branches, otherwise } = equation.kind else {
            folded.push(equation);
            continue;
        };
        let mut left = Vec::new();
        let mut last = fold_equations(otherwise);
        for (condition, body) in branches {
            match condition.kind {
                ExprKind::Boolean(false) => {}
                ExprKind::Boolean(true) => {
                    last = fold_equations(body);
                    break;
                }
                _ => left.push((condition, fold_equations(body))),
            }
        }
        if left.is_empty() {
            folded.append(&mut last);
        } else {
            equation.kind = EquationKind::If { branches: left, otherwise: last };
            folded.push(equation);
        }
    }
    folded
}
