//! The equations of each machine: which state is active, what resets, how long a state has been active.
//!
//! In: [`Machines`]. Out: variables and clocked equations in the model, after the specification's `StateMachineSemantics`:
//! `selectedState` is the state before this tick, `fired` the transition that is taken, `activeState` the state at this tick,
//! `nextState` what is remembered. `reset` of a machine is true when it starts again; the flags of states that have not
//! been active since then wait for them. (Specification: section 17.3.)

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Span};
use saltus_flat::{
    Attributes, BaseType, BinaryOp, Builtin, Causality, Equation, EquationKind, Expr, FlatModel, Origin, Prefix, Type,
    VarId, Variability, Variable,
};

use super::build::{and, binary, choose, is, is_positive, not, or, previous, var};
use super::collect::{Machine, Machines};
use super::guard::Rewriter;

/// The variables that the compiler introduces.
pub struct Names {
    /// Is the state active at this tick?
    pub active: BTreeMap<String, VarId>,
    /// Does it start again at this tick?
    pub reset: BTreeMap<String, VarId>,
    pub machines: Vec<MachineVariables>,
}

#[derive(Clone)]
pub struct MachineVariables {
    active: VarId,
    reset: VarId,
    selected_state: VarId,
    selected_reset: VarId,
    immediate: VarId,
    delayed: VarId,
    fired: VarId,
    active_state: VarId,
    active_reset: VarId,
    next_state: VarId,
    next_reset: VarId,
    active_reset_states: Vec<VarId>,
    next_reset_states: Vec<VarId>,
    conditions: Vec<VarId>,
    was_active: VarId,
    /// Has the active state been entered at this tick?
    restarts: VarId,
    /// Ticks and time in the state, if no transition fires, and as it is.
    pub ticks_before: VarId,
    pub ticks: VarId,
    pub time_before: VarId,
    pub time: VarId,
}

pub fn declare(model: &mut FlatModel, machines: &Machines) -> Names {
    let mut names = Names { active: BTreeMap::new(), reset: BTreeMap::new(), machines: Vec::new() };
    for machine in &machines.machines {
        let span = machine.span;
        let first = &machine.states[0];
        let n = machine.states.len();
        let no = Expr::boolean(false, span);
        let mut integer = |what: &str, start: i64| {
            let name = format!("stateMachine({first}).{what}");
            declare_variable(model, name, BaseType::Integer, Expr::integer(start, span), true, span)
        };
        let [selected_state, immediate, delayed, fired] =
            ["selectedState", "immediate", "delayed", "fired"].map(|what| integer(what, 0));
        let (active_state, next_state) = (integer("activeState", 1), integer("nextState", 1));
        let (ticks_before, ticks) = (integer("ticksBefore", 0), integer("ticksInState", 0));
        let mut real = |what: &str| {
            let name = format!("stateMachine({first}).{what}");
            declare_variable(model, name, BaseType::Real, Expr::real(0.0, span), true, span)
        };
        let (time_before, time) = (real("timeBefore"), real("timeInState"));
        let mut boolean = |what: String| {
            let name = format!("stateMachine({first}).{what}");
            declare_variable(model, name, BaseType::Boolean, no.clone(), true, span)
        };
        let [active, reset, selected_reset, active_reset, next_reset, was_active, restarts] =
            ["active", "reset", "selectedReset", "activeReset", "nextReset", "wasActive", "restarts"]
                .map(|what| boolean(what.to_owned()));
        let active_reset_states = (1..=n).map(|k| boolean(format!("activeResetStates[{k}]"))).collect();
        let next_reset_states = (1..=n).map(|k| boolean(format!("nextResetStates[{k}]"))).collect();
        let conditions = (1..=machine.transitions.len()).map(|k| boolean(format!("condition[{k}]"))).collect();
        for state in &machine.states {
            let mut flag = |what: &str| {
                declare_variable(
                    model,
                    format!("{what}({state})"),
                    BaseType::Boolean,
                    no.clone(),
                    what != "active",
                    span,
                )
            };
            let (active, reset) = (flag("active"), flag("reset"));
            names.active.insert(state.clone(), active);
            names.reset.insert(state.clone(), reset);
        }
        names.machines.push(MachineVariables {
            active,
            reset,
            selected_state,
            selected_reset,
            immediate,
            delayed,
            fired,
            active_state,
            active_reset,
            next_state,
            next_reset,
            active_reset_states,
            next_reset_states,
            conditions,
            was_active,
            restarts,
            ticks_before,
            ticks,
            time_before,
            time,
        });
    }
    names
}

pub fn declare_variable(
    model: &mut FlatModel,
    name: String,
    base: BaseType,
    start: Expr,
    hide_result: bool,
    span: Span,
) -> VarId {
    let is_real = base == BaseType::Real;
    model.variables.push(Variable {
        name,
        ty: Type::scalar(base),
        variability: if is_real { Variability::Continuous } else { Variability::Discrete },
        causality: Causality::Local,
        prefix: Prefix::None,
        attributes: Attributes { start: Some(start), ..Attributes::default() },
        binding: None,
        description: String::new(),
        is_protected: true,
        hide_result,
        is_structural: false,
        is_final: false,
        span,
    })
}

pub fn add_equations(model: &mut FlatModel, machines: &Machines, names: &mut Names, diagnostics: &mut Diagnostics) {
    for (k, machine) in machines.machines.iter().enumerate() {
        let mut writer = Writer { span: machine.span, equations: Vec::new(), model };
        writer.state_selection(machine, &names.machines[k]);
        writer.resets(machine, &names.machines[k]);
        writer.context(machines, machine, names, &names.machines[k]);
        writer.durations(machines, machine, names, &names.machines[k]);
        writer.states(machine, names, &names.machines[k]);
        let mut equations = std::mem::take(&mut writer.equations);
        for (transition, &variable) in machine.transitions.iter().zip(&names.machines[k].conditions) {
            let mut condition = transition.condition.clone();
            let mut rewriter = Rewriter { model, machines, names, diagnostics };
            rewriter.expression(&mut condition, Some(k), transition.immediate);
            if transition.synchronize {
                let from = &machine.states[transition.from - 1];
                for inner in machines.inside(from) {
                    let ends =
                        in_final_state(model, &machines.machines[inner], &names.machines[inner], transition.immediate);
                    condition = and(condition, ends);
                }
            }
            let left = var(model, variable, transition.span);
            equations.push(equality(left, condition, transition.span));
        }
        model.equations.extend(equations);
    }
}

/// Is a machine in a state that no transition leaves? An immediate transition asks for the state before this tick.
fn in_final_state(model: &FlatModel, machine: &Machine, names: &MachineVariables, is_immediate: bool) -> Expr {
    let state = if is_immediate {
        previous(var(model, names.next_state, machine.span))
    } else {
        var(model, names.active_state, machine.span)
    };
    let is_final = |k: &usize| !machine.transitions.iter().any(|t| t.from == *k);
    let finals = (1..=machine.states.len()).filter(is_final).map(|k| is(state.clone(), k));
    finals.reduce(or).unwrap_or_else(|| Expr::boolean(false, machine.span))
}

pub fn equality(left: Expr, right: Expr, span: Span) -> Equation {
    Equation { kind: EquationKind::Equality { left, right }, origin: Origin::Declared, component: "".into(), span }
}

struct Writer<'a> {
    model: &'a FlatModel,
    span: Span,
    equations: Vec<Equation>,
}

impl Writer<'_> {
    fn var(&self, id: VarId) -> Expr {
        var(self.model, id, self.span)
    }

    fn integer(&self, value: usize) -> Expr {
        Expr::integer(value as i64, self.span)
    }

    fn set(&mut self, id: VarId, value: Expr) {
        let left = self.var(id);
        self.equations.push(equality(left, value, self.span));
    }

    /// The number of the transition with the highest priority that is of this kind, leaves `state` and may fire.
    fn first_enabled(&self, machine: &Machine, v: &MachineVariables, state: Expr, immediate: bool) -> Expr {
        let mut chosen = self.integer(0);
        for (k, transition) in machine.transitions.iter().enumerate().filter(|(_, t)| t.immediate == immediate) {
            let enabled = and(is(state.clone(), transition.from), self.var(v.conditions[k]));
            chosen = choose(enabled, self.integer(k + 1), chosen);
        }
        chosen
    }

    /// A property of the transition that fires.
    fn of_fired(
        &self,
        machine: &Machine,
        v: &MachineVariables,
        value: &dyn Fn(usize) -> Expr,
        otherwise: Expr,
    ) -> Expr {
        let numbers = 0..machine.transitions.len();
        numbers.fold(otherwise, |rest, k| choose(is(self.var(v.fired), k + 1), value(k), rest))
    }

    fn state_selection(&mut self, machine: &Machine, v: &MachineVariables) {
        let reset = self.var(v.reset);
        let selected = choose(reset.clone(), self.integer(1), previous(self.var(v.next_state)));
        self.set(v.selected_state, selected);
        let immediate = self.first_enabled(machine, v, self.var(v.selected_state), true);
        self.set(v.immediate, immediate);
        let delayed = self.first_enabled(machine, v, self.var(v.next_state), false);
        self.set(v.delayed, delayed);
        let (pending, now) = (previous(self.var(v.delayed)), self.var(v.immediate));
        let fired = choose(binary(BinaryOp::Greater, pending.clone(), now.clone()), pending, now);
        self.set(v.fired, fired);
        let target = |k: usize| self.integer(machine.transitions[k].to);
        let stays = self.var(v.selected_state);
        let active = choose(reset, self.integer(1), self.of_fired(machine, v, &target, stays));
        self.set(v.active_state, active);
        let next = choose(self.var(v.active), self.var(v.active_state), previous(self.var(v.next_state)));
        self.set(v.next_state, next);
    }

    fn resets(&mut self, machine: &Machine, v: &MachineVariables) {
        let reset = self.var(v.reset);
        self.set(v.selected_reset, or(reset.clone(), previous(self.var(v.next_reset))));
        let resets = |k: usize| Expr::boolean(machine.transitions[k].reset, self.span);
        let of_fired = self.of_fired(machine, v, &resets, self.var(v.selected_reset));
        self.set(v.active_reset, or(reset.clone(), of_fired));
        let waits = and(not(self.var(v.active)), previous(self.var(v.next_reset)));
        self.set(v.next_reset, waits);
        for k in 0..machine.states.len() {
            let (active, next) = (v.active_reset_states[k], v.next_reset_states[k]);
            self.set(active, or(reset.clone(), previous(self.var(next))));
            let elsewhere = not(is(self.var(v.active_state), k + 1));
            let waits = and(elsewhere, self.var(active));
            let value = choose(self.var(v.active), waits, previous(self.var(next)));
            self.set(next, value);
        }
    }

    /// When the machine itself is active and starts again: always and at the first tick, or as its enclosing state.
    fn context(&mut self, machines: &Machines, machine: &Machine, names: &Names, v: &MachineVariables) {
        let parent = machine.parent.as_ref().filter(|p| machines.place.contains_key(*p));
        let (active, reset) = match parent {
            Some(parent) => (self.var(names.active[parent]), self.var(names.reset[parent])),
            None => {
                let first = Expr::builtin(Builtin::FirstTick, Vec::new(), Type::BOOLEAN, self.span);
                (Expr::boolean(true, self.span), first)
            }
        };
        self.set(v.active, active);
        self.set(v.reset, reset);
    }

    fn durations(&mut self, machines: &Machines, machine: &Machine, names: &Names, v: &MachineVariables) {
        let mut enters = or(self.var(v.reset), not(previous(self.var(v.was_active))));
        if let Some(&(outer, _)) = machine.parent.as_ref().and_then(|p| machines.place.get(p)) {
            enters = or(enters, self.var(names.machines[outer].restarts));
        }
        let fires = is_positive(self.var(v.fired));
        self.set(v.was_active, self.var(v.active));
        self.set(v.restarts, or(enters.clone(), fires.clone()));
        let one_more = binary(BinaryOp::Add, previous(self.var(v.ticks)), self.integer(1));
        self.set(v.ticks_before, choose(enters.clone(), self.integer(1), one_more));
        let ticks = choose(fires.clone(), self.integer(1), self.var(v.ticks_before));
        self.set(v.ticks, choose(self.var(v.active), ticks, self.integer(0)));
        let interval = Expr::builtin(Builtin::Interval, Vec::new(), Type::REAL, self.span);
        let later = binary(BinaryOp::Add, previous(self.var(v.time)), interval);
        let zero = Expr::real(0.0, self.span);
        self.set(v.time_before, choose(enters, zero.clone(), later));
        let time = choose(fires, zero.clone(), self.var(v.time_before));
        self.set(v.time, choose(self.var(v.active), time, zero));
    }

    fn states(&mut self, machine: &Machine, names: &Names, v: &MachineVariables) {
        for (k, state) in machine.states.iter().enumerate() {
            let active = and(self.var(v.active), is(self.var(v.active_state), k + 1));
            self.set(names.active[state], active);
            let resets = or(self.var(v.active_reset), self.var(v.active_reset_states[k]));
            let value = and(self.var(names.active[state]), resets);
            self.set(names.reset[state], value);
        }
    }
}
