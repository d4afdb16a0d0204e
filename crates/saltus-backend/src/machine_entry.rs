//! Values with which states of continuous-time state machines are entered.
//!
//! ```text
//! when activeState(flight) then reinit(flight.x, pre(circle.x)); …
//! ⇒    0 = if enters(flight) then flight.x - pre(circle.x) else flight.x - pre(flight.x)
//! ```
//!
//! In: the reduced system of a configuration and its entry equations. Out: steps that compute all its continuous variables, from the values before. Each
//! state variable has one condition: its entry equation, its start value or last value if it is entered without one, or that it
//! goes on. An entry equation for an algebraic variable, or an initial equation of the entered state, takes the place of the condition of a state
//! that it determines. Entry equations come before fixed start values, these before initial equations, these before other start values. What
//! then contradicts a constraint is checked, not solved for.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::ActiveStates;
use saltus_graph::Matching;
use saltus_program::{Constraint, Entry, SlotId, SlotKind, SlotType, UnaryFn};

use crate::alias::Aliases;
use crate::blocks::{Step, sort_into_blocks};
use crate::dag::{Node, NodeId};
use crate::diagnostics;
use crate::entry::EntryOrder;
use crate::initial::states_and_candidates;
use crate::sort::extend_by_quality;
use crate::state_sets::{is_choice, is_chosen_state};
use crate::structure::Structure;
use crate::system::{Assignment, EntryCondition, ScalarEquation, System, event_unknowns};
use crate::tuning::tolerance::LEAST_SIZE;

pub fn sort_machine_entry(
    system: &mut System,
    active: &ActiveStates,
    aliases: &Aliases,
    diagnostics: &mut Diagnostics,
) -> EntryOrder {
    let mut unknowns: Vec<SlotId> =
        event_unknowns(system).into_iter().filter(|&slot| system.slots[slot].kind.is_continuous()).collect();
    unknowns.extend(system.derivative_of.keys().copied().filter(|s| system.slots[*s].kind == SlotKind::State));
    unknowns.retain(|&slot| !is_chosen_state(system, slot));
    unknowns.sort_unstable();
    unknowns.dedup();
    let is_continuous = |e: &&ScalarEquation| {
        e.is_real && e.target.is_none_or(|t| system.slots[t].kind.is_continuous()) && !is_choice(system, e)
    };
    let mut equations: Vec<ScalarEquation> = system.exact_equations();
    equations.retain(|e| is_continuous(&e));
    let of_model = Structure::new(system, &equations, &unknowns);
    let mut row = 0;
    equations.retain(|_| {
        row += 1;
        !of_model.rows[row - 1].is_empty()
    });
    let n_model = equations.len();
    let mut conditions = Conditions { system, active, aliases, own: Vec::new(), diagnostics };
    let (entries, of_states) = conditions.collect();
    let initials = conditions.initials(&unknowns);
    let own = std::mem::take(&mut conditions.own);
    let n_own = n_model + own.len();
    equations.extend(own);
    let n_entries = n_own + entries.len();
    equations.extend(entries.iter().map(|e| e.plain.clone()));
    equations.extend(of_states.iter().map(|s| s.equation.clone()));
    let n_initials = n_entries + of_states.len();
    equations.extend(initials.iter().map(|e| e.plain.clone()));
    let n_up_to = |rank: Rank| n_entries + of_states.iter().filter(|s| s.rank <= rank).count();
    let (n_fixed, n_given) = (n_up_to(Rank::Fixed), n_up_to(Rank::Given));
    let matched = |system: &System, equations: &[ScalarEquation], is_used: &dyn Fn(usize) -> bool| {
        let structure = Structure::new(system, equations, &unknowns);
        let mut matching = Matching::new(equations.len(), unknowns.len());
        for end in [n_model, n_own, n_entries, n_fixed] {
            extend_by_quality(&mut matching, &structure, equations, &|row| row < end && is_used(row));
        }
        for end in [n_fixed, n_given, n_initials] {
            let is_next = |row: usize| (row < end || row >= n_initials) && is_used(row);
            extend_by_quality(&mut matching, &structure, equations, &is_next);
        }
        (structure, matching)
    };
    let (_, matching) = matched(system, &equations, &|_| true);
    let is_overruled = |row: usize| {
        let initial = row.checked_sub(n_initials).and_then(|k| initials.get(k));
        initial.is_some_and(|initial| system.entries.iter().any(|e| !e.is_initial && e.state == initial.state))
    };
    for row in (n_model..n_entries).chain(n_initials..equations.len()) {
        if matching.column_of_row[row].is_none() && !is_overruled(row) {
            diagnostics.push(diagnostics::machines::entry_too_many(equations[row].span));
        }
    }
    let is_taken = |k: usize| matching.column_of_row[n_entries + k].is_some();
    let is_open = |s: &OfState| s.rank == Rank::Open;
    for (_, OfState { slot, state, .. }) in of_states.iter().enumerate().filter(|(k, s)| is_open(s) && is_taken(*k)) {
        let Some(state) = state.map(|k| &active.states[k]) else { continue };
        diagnostics.push(diagnostics::machines::entry_missing(&system.name(*slot), &state.text, state.span));
    }
    let mut dropped: Vec<&OfState> =
        of_states.iter().enumerate().filter(|(k, _)| !is_taken(*k)).map(|(_, s)| s).collect();
    let rows = (n_own..n_entries).chain(n_initials..equations.len());
    for (row, entry) in rows.zip(entries.iter().chain(&initials)) {
        if matching.column_of_row[row].is_none() {
            continue;
        }
        // The state goes on where this one is not entered.
        let own = dropped.iter().position(|s| s.state == Some(entry.state));
        let Some(at) = own.or_else(|| dropped.iter().position(|s| s.state.is_none())) else { continue };
        let instead = dropped.remove(at);
        equations[row] = entry.or_goes_on(system, instead.slot);
    }
    dropped.retain(|s| !is_open(s));
    let is_needed = |row: usize| matching.column_of_row[row].is_some();
    let (structure, matching) = matched(system, &equations, &is_needed);
    let free = matching.free_columns();
    if !free.is_empty() {
        let names: Vec<String> = free.iter().map(|&c| system.name(unknowns[c]).into_owned()).collect();
        diagnostics.push(diagnostics::machines::entry_too_few(&names));
    }
    if diagnostics.has_errors() {
        return EntryOrder::default();
    }
    let mut steps = sort_into_blocks(system, &equations, &unknowns, &structure, &matching, diagnostics);
    let mut entry = Entry::default();
    steps.extend(discrete_starts(system, active, aliases).into_iter().map(Step::Assign));
    for state in dropped {
        let (assignments, constraint) = check(system, &state.equation);
        steps.extend(assignments.into_iter().map(Step::Assign));
        entry.constraints.push(constraint);
    }
    EntryOrder { steps, entry }
}

/// An entry equation for something that is not a state, or an initial equation.
struct OfAlgebraic {
    state: usize,
    enters: NodeId,
    plain: ScalarEquation,
}

impl OfAlgebraic {
    fn or_goes_on(&self, system: &mut System, slot: SlotId) -> ScalarEquation {
        goes_on_unless(system, self.enters, &self.plain, slot)
    }
}

/// The condition of a state variable without an entry equation.
struct OfState {
    slot: SlotId,
    /// The state of a machine that it belongs to.
    state: Option<usize>,
    equation: ScalarEquation,
    rank: Rank,
}

/// How strong the condition of a state variable is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A start value with `fixed = true`.
    Fixed,
    /// Another start value, or that it goes on.
    Given,
    /// Nothing says which value it has where its state is entered.
    Open,
}

/// `if enters then plain else slot = pre(slot)`
fn goes_on_unless(system: &mut System, enters: NodeId, plain: &ScalarEquation, slot: SlotId) -> ScalarEquation {
    let pre = system.pre(slot);
    let (now, before) = (system.load(slot), system.load(pre));
    let dag = &mut system.dag;
    let (entered, goes_on) = (dag.sub(plain.left, plain.right), dag.sub(now, before));
    let (left, right) = (dag.constant(0.0), dag.select(enters, entered, goes_on));
    ScalarEquation { left, right, ..plain.clone() }
}

struct Conditions<'a> {
    system: &'a mut System,
    active: &'a ActiveStates,
    aliases: &'a Aliases,
    /// Entry equations of state variables.
    own: Vec<ScalarEquation>,
    diagnostics: &'a mut Diagnostics,
}

impl Conditions<'_> {
    /// Entry equations of other variables, and the conditions of state variables without an entry equation.
    fn collect(&mut self) -> (Vec<OfAlgebraic>, Vec<OfState>) {
        let mut states: BTreeSet<SlotId> = states_and_candidates(self.system).into_iter().collect();
        // What a constraint has made an ordinary variable goes on as well; it is checked, not solved for.
        let given_up: BTreeSet<SlotId> = self.system.introduced.given_up.keys().copied().collect();
        states.extend(given_up.iter().filter(|slot| self.is_declared(**slot)));
        let mut known: BTreeMap<SlotId, Span> = BTreeMap::new();
        let mut algebraic = Vec::new();
        for entry in self.system.entries.clone().into_iter().filter(|entry| !entry.is_initial) {
            let enters = self.flag(self.active.states[entry.state].enters);
            let equation = entry.equation;
            if let Node::Load(slot) = self.system.dag.node(equation.left) {
                if let Some(other) = known.insert(slot, equation.span) {
                    let name = self.system.name(slot).into_owned();
                    self.diagnostics.push(diagnostics::machines::two_entries(&name, equation.span, other));
                }
                if states.contains(&slot) {
                    let condition = goes_on_unless(self.system, enters, &equation, slot);
                    self.own.push(condition);
                    continue;
                }
            }
            algebraic.push(OfAlgebraic { state: entry.state, enters, plain: equation });
        }
        let members = self.members();
        let mut of_states = Vec::new();
        for slot in states.into_iter().filter(|slot| !known.contains_key(slot)) {
            let state = members.get(&slot).copied();
            let equation = self.start_or_goes_on(slot, state);
            let rank = match (state, self.system.starts.get(&slot)) {
                (Some(_), Some(start)) if start.is_fixed => Rank::Fixed,
                (Some(_), None) => Rank::Open,
                _ => Rank::Given,
            };
            of_states.push(OfState { slot, state, equation, rank });
        }
        // What has a value comes first: constraints may determine the rest.
        of_states.sort_by_key(|s| s.rank);
        (algebraic, of_states)
    }

    /// Initial equations of continuous variables.
    fn initials(&mut self, unknowns: &[SlotId]) -> Vec<OfAlgebraic> {
        let mut initials = Vec::new();
        for entry in self.system.entries.clone().into_iter().filter(|e| e.is_initial && e.equation.is_real) {
            let row = Structure::new(self.system, std::slice::from_ref(&entry.equation), unknowns);
            if row.rows.iter().all(|row| row.is_empty()) {
                continue;
            }
            let state = &self.active.states[entry.state];
            let (enters, resets) = (state.enters, state.resets);
            let (enters, resets) = (self.flag(enters), self.flag(resets));
            let enters = self.system.dag.and(enters, resets);
            initials.push(OfAlgebraic { state: entry.state, enters, plain: entry.equation });
        }
        initials
    }

    fn is_declared(&self, slot: SlotId) -> bool {
        self.system.elements.values().flatten().any(|&element| element == slot)
    }

    fn flag(&mut self, id: saltus_flat::VarId) -> NodeId {
        let slot = self.aliases.resolve(self.system.elements[id][0]).slot;
        self.system.load(slot)
    }

    /// The state of a machine that each slot belongs to.
    fn members(&self) -> BTreeMap<SlotId, usize> {
        let mut members = BTreeMap::new();
        for (id, state) in &self.active.members {
            for &slot in &self.system.elements[*id] {
                members.insert(self.aliases.resolve(slot).slot, *state);
            }
        }
        // What is differentiated outside of states goes on, whatever equals it inside.
        for (id, elements) in self.system.elements.iter().filter(|(id, _)| !self.active.members.contains_key(id)) {
            let _ = id;
            for &slot in elements.iter().filter(|&&slot| self.aliases.is_differentiated(slot)) {
                members.remove(&self.aliases.resolve(slot).slot);
            }
        }
        members
    }

    fn start_or_goes_on(&mut self, slot: SlotId, state: Option<usize>) -> ScalarEquation {
        let pre = self.system.pre(slot);
        let (left, before) = (self.system.load(slot), self.system.load(pre));
        let mut right = before;
        let mut span = Span::nowhere();
        if let Some(k) = state
            && let Some(start) = self.system.starts.get(&slot).cloned()
        {
            let (enters, resets) = (self.flag(self.active.states[k].enters), self.flag(self.active.states[k].resets));
            let begins = self.system.dag.and(enters, resets);
            right = self.system.dag.select(begins, start.value, before);
            span = start.span;
        }
        let is_real = self.system.slots[slot].ty == SlotType::Real;
        ScalarEquation { left, right, target: None, initially: None, is_real, span, linearized: None }
    }
}

/// Values that initial equations give discrete variables: `n = 3` or `pre(n) = 3`.
fn discrete_initials(system: &System) -> BTreeMap<SlotId, (NodeId, Span)> {
    let pre_of: BTreeMap<SlotId, SlotId> = system.pre_of.iter().map(|(&variable, &pre)| (pre, variable)).collect();
    let mut given = BTreeMap::new();
    for EntryCondition { equation, .. } in system.entries.iter().filter(|entry| entry.is_initial) {
        for (side, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
            let Node::Load(slot) = system.dag.node(side) else { continue };
            let slot = pre_of.get(&slot).copied().unwrap_or(slot);
            if system.slots[slot].kind == SlotKind::Discrete {
                given.entry(slot).or_insert((other, equation.span));
                break;
            }
        }
    }
    given
}

/// Discrete variables of a state that is entered anew begin with their start values.
fn discrete_starts(system: &mut System, active: &ActiveStates, aliases: &Aliases) -> Vec<Assignment> {
    let mut assignments = Vec::new();
    let given: BTreeMap<SlotId, (NodeId, Span)> = discrete_initials(system);
    for (id, state) in &active.members {
        for slot in system.elements[*id].clone() {
            if system.slots[slot].kind != SlotKind::Discrete || aliases.resolve(slot).slot != slot {
                continue;
            }
            let (start, span) = match (given.get(&slot), system.starts.get(&slot)) {
                (Some(&given), _) => given,
                (None, Some(start)) => (start.value, start.span),
                (None, None) => (system.dag.constant(system.slots[slot].initial), Span::nowhere()),
            };
            let pre = system.pre(slot);
            let state = &active.states[*state];
            let [enters, resets] = [state.enters, state.resets].map(|id| aliases.resolve(system.elements[id][0]).slot);
            let (enters, resets, before) = (system.load(enters), system.load(resets), system.load(pre));
            let begins = system.dag.and(enters, resets);
            let node = system.dag.select(begins, start, before);
            assignments.push(Assignment { slot, node, span });
        }
    }
    assignments
}

/// A condition that a constraint leaves nothing to determine.
fn check(system: &mut System, equation: &ScalarEquation) -> (Vec<Assignment>, Constraint) {
    let text = crate::describe::equation_text(system, equation.left, equation.right, None);
    let (l, r) = (system.dag.unary(UnaryFn::Abs, equation.left), system.dag.unary(UnaryFn::Abs, equation.right));
    let (size, least) = (system.dag.add(l, r), system.dag.constant(LEAST_SIZE));
    let size = system.dag.add(size, least);
    let mut assignments = Vec::new();
    let mut side = |node: NodeId, which: &str| {
        let slot = system.add_slot(format!("{which} of {text} at the entry"), SlotKind::Auxiliary, SlotType::Real);
        assignments.push(Assignment { slot, node, span: equation.span });
        slot
    };
    let (left, right, size) =
        (side(equation.left, "left side"), side(equation.right, "right side"), side(size, "size"));
    (assignments, Constraint { left, right, size, text, span: equation.span })
}
