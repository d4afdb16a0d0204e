//! Sort the equations of a base-partition.
//!
//! In: a [`Base`]. Out: its [`ClockedOrder`]: steps with the sub-partition each belongs to. Sub-partitions are sorted together,
//! for values may flow both ways between them at one tick, but no loop may contain equations of two of them.
//!
//! The passes for the unclocked equations do the work: while [`Isolated`] lasts, the system consists of this
//! base-partition, and everything else is known. (Specification: sections 16.7.4 and 16.8.)

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use saltus_base::{Diagnostics, Span};
use saltus_flat::FlatModel;
use saltus_program::{SlotId, SlotKind, SlotType};

use super::discretize::discretize;
use super::partition::Base;
use super::reinits::take_reinits;
use super::survey::{owners, variables_of};
use crate::alias::Aliases;
use crate::blocks::Step;
use crate::diagnostics;
use crate::states::Preferences;
use crate::system::{ScalarEquation, Start, System};
use crate::{initial, reduce_index, sort};

/// A base-partition in order of computation.
pub struct ClockedOrder {
    /// Steps with their sub-partition.
    pub steps: Vec<(usize, Step)>,
    /// What is computed at the first tick, if that is something else.
    pub first: Vec<(usize, Step)>,
    /// Variables with the slots of their previous values.
    pub previous: BTreeMap<SlotId, SlotId>,
    /// Sub-partition of each slot.
    pub sub_of: BTreeMap<SlotId, usize>,
}

/// The system while it consists of one base-partition.
struct Isolated {
    kinds: Vec<SlotKind>,
    equations: Vec<ScalarEquation>,
    initial_equations: Vec<ScalarEquation>,
    derivative_of: BTreeMap<SlotId, SlotId>,
    pre_of: BTreeMap<SlotId, SlotId>,
    starts: BTreeMap<SlotId, Start>,
    free_parameters: Vec<SlotId>,
}

impl Isolated {
    fn begin(system: &mut System, base: &Base) -> Isolated {
        let owners = owners(system);
        let is_own = |slot: &SlotId| base.sub_of.contains_key(owners.get(slot).unwrap_or(slot));
        let (own_derivatives, derivative_of) =
            std::mem::take(&mut system.derivative_of).into_iter().partition(|(state, _)| is_own(state));
        let outside = Isolated {
            kinds: system.slots.values().map(|s| s.kind).collect(),
            equations: std::mem::replace(&mut system.equations, base.equations.clone()),
            initial_equations: std::mem::replace(&mut system.initial_equations, base.initial_equations.clone()),
            derivative_of,
            pre_of: std::mem::take(&mut system.pre_of),
            starts: system.starts.clone(),
            free_parameters: std::mem::take(&mut system.parameters.free),
        };
        let derivatives: BTreeMap<SlotId, SlotId> = own_derivatives;
        let of_state: BTreeSet<SlotId> = derivatives.values().copied().collect();
        let ids: Vec<SlotId> = system.slots.iter().map(|(id, _)| id).collect();
        for slot in ids {
            let ty = system.slots[slot].ty;
            let kind = match system.slots[slot].kind {
                SlotKind::Clocked if of_state.contains(&slot) => SlotKind::Derivative,
                SlotKind::Clocked if derivatives.contains_key(&slot) => SlotKind::State,
                SlotKind::Clocked if is_own(&slot) && ty == SlotType::Real => SlotKind::Algebraic,
                SlotKind::Clocked if is_own(&slot) => SlotKind::Discrete,
                SlotKind::Algebraic | SlotKind::Discrete | SlotKind::State | SlotKind::Derivative => SlotKind::Clocked,
                other => other,
            };
            system.slots[slot].kind = kind;
        }
        system.derivative_of = derivatives;
        outside
    }

    fn end(self, system: &mut System) {
        let ids: Vec<SlotId> = system.slots.iter().map(|(id, _)| id).collect();
        for (k, slot) in ids.into_iter().enumerate() {
            let kind = system.slots[slot].kind;
            system.slots[slot].kind = match self.kinds.get(k) {
                Some(&kind) => kind,
                None if matches!(kind, SlotKind::Pre | SlotKind::Flag | SlotKind::Parameter) => kind,
                None => SlotKind::Clocked,
            };
        }
        system.equations = self.equations;
        system.initial_equations = self.initial_equations;
        system.derivative_of = self.derivative_of;
        system.pre_of = self.pre_of;
        system.starts = self.starts;
        system.parameters.free = self.free_parameters;
    }
}

/// Sorts all base-partitions.
pub fn solve_all(
    model: &FlatModel,
    system: &mut System,
    bases: Vec<Base>,
    diagnostics: &mut Diagnostics,
) -> Vec<(Base, ClockedOrder)> {
    bases
        .into_iter()
        .map(|base| {
            let order = solve(model, system, &base, diagnostics);
            (base, order)
        })
        .collect()
}

fn solve(model: &FlatModel, system: &mut System, base: &Base, diagnostics: &mut Diagnostics) -> ClockedOrder {
    let mut previous: BTreeMap<SlotId, SlotId> = BTreeMap::new();
    system.pre_of.retain(|variable, pre| {
        let is_own = base.sub_of.contains_key(variable);
        if is_own {
            previous.insert(*variable, *pre);
        }
        !is_own
    });
    check_initial_conditions(system, base, &previous, diagnostics);
    let outside = Isolated::begin(system, base);
    let order = sort_isolated(model, system, base, previous, diagnostics);
    outside.end(system);
    order
}

/// Variables of discrete-time partitions have no initial conditions but the start values of clocked states (specification 16.9).
fn check_initial_conditions(
    system: &System,
    base: &Base,
    previous: &BTreeMap<SlotId, SlotId>,
    diagnostics: &mut Diagnostics,
) {
    let discretized: BTreeSet<usize> =
        system.derivative_of.keys().filter_map(|s| base.sub_of.get(s).copied()).collect();
    let is_discrete = |slot: &SlotId| base.sub_of.get(slot).is_some_and(|sub| !discretized.contains(sub));
    for (slot, start) in system.starts.iter().filter(|(slot, start)| start.is_fixed && is_discrete(slot)) {
        if !previous.contains_key(slot) {
            diagnostics.push(diagnostics::clocks::fixed_in_discrete_partition(&system.name(*slot), start.span));
        }
    }
    for equation in &base.initial_equations {
        if let Some(slot) = system.dag.loads(&[equation.left, equation.right]).iter().find(|s| is_discrete(s)) {
            diagnostics.push(diagnostics::clocks::initial_equation(&system.name(*slot), equation.span));
        }
    }
}

fn sort_isolated(
    model: &FlatModel,
    system: &mut System,
    base: &Base,
    mut previous: BTreeMap<SlotId, SlotId>,
    diagnostics: &mut Diagnostics,
) -> ClockedOrder {
    let n_before = diagnostics.n_errors();
    let mut first = Vec::new();
    let mut sub_of = base.sub_of.clone();
    if !system.derivative_of.is_empty() {
        // Variables of discrete-time sub-partitions have no initial conditions but those of `previous`.
        let discretized: BTreeSet<usize> = system.derivative_of.keys().filter_map(|s| sub_of.get(s).copied()).collect();
        let is_state = system.derivative_of.clone();
        system.starts.retain(|slot, _| {
            sub_of.get(slot).is_some_and(|sub| discretized.contains(sub))
                && (!previous.contains_key(slot) || is_state.contains_key(slot))
        });
        let continued = take_reinits(system, &mut sub_of);
        let preferences = Preferences::read(model, system, &Aliases::default());
        reduce_index::reduce_index(model, system, &preferences, None, diagnostics);
        if diagnostics.n_errors() == n_before {
            complete(system, &mut sub_of);
            first = initial::sort_initial(system, initial::Form::Actual, diagnostics).steps;
        }
        if diagnostics.n_errors() == n_before {
            discretize(system, base, &continued, &mut sub_of, &mut previous, diagnostics);
        }
    }
    let steps = if diagnostics.n_errors() == n_before { sort::sort_events(system, diagnostics) } else { Vec::new() };
    complete(system, &mut sub_of);
    let steps = assign_subs(system, base, &sub_of, steps, diagnostics);
    let first = assign_subs(system, base, &sub_of, first, diagnostics);
    ClockedOrder { steps: group(system, steps), first: group(system, first), previous, sub_of }
}

/// Variables that index reduction has introduced belong where the equations are in which they occur.
fn complete(system: &System, sub_of: &mut BTreeMap<SlotId, usize>) {
    let owners = owners(system);
    let is_port = |e: &ScalarEquation| {
        let source = system.dag.loads(&[e.right]);
        e.target.is_some_and(|t| source.iter().any(|s| sub_of.get(s).is_some_and(|sub| sub_of.get(&t) != Some(sub))))
    };
    let inside: Vec<Vec<SlotId>> =
        system.equations.iter().filter(|e| !is_port(e)).map(|e| system.dag.loads(&[e.left, e.right])).collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for slots in &inside {
            let known = slots.iter().find_map(|s| sub_of.get(s).or_else(|| sub_of.get(owners.get(s)?)).copied());
            let Some(sub) = known else { continue };
            for slot in slots {
                let is_unknown = matches!(
                    system.slots[*slot].kind,
                    SlotKind::Algebraic | SlotKind::Discrete | SlotKind::State | SlotKind::Derivative
                );
                if is_unknown && !sub_of.contains_key(slot) {
                    sub_of.insert(*slot, sub);
                    has_changed = true;
                }
            }
        }
    }
}

fn assign_subs(
    system: &System,
    base: &Base,
    sub_of: &BTreeMap<SlotId, usize>,
    steps: Vec<Step>,
    diagnostics: &mut Diagnostics,
) -> Vec<(usize, Step)> {
    let mut all = Vec::with_capacity(steps.len());
    for step in steps {
        let slots = step.slots();
        let subs: BTreeSet<usize> = slots.iter().filter_map(|s| sub_of.get(s).copied()).collect();
        let mut found = subs.iter();
        let sub = found.next().copied().unwrap_or(0);
        if let Some(&other) = found.next() {
            let names: Vec<String> = slots.iter().map(|&s| system.name(s).into_owned()).collect();
            let span = match &step {
                Step::Assign(a) => a.span,
                Step::Family(family) => family.span,
                Step::Loop(l) => l.residuals.first().map_or(Span::nowhere(), |r| r.1),
            };
            let clocks = [base.subs[sub].text.as_str(), base.subs[other].text.as_str()];
            diagnostics.push(diagnostics::clocks::loop_across_clocks(&names, clocks, span));
        }
        all.push((sub, step));
    }
    all
}

/// Steps in an order that changes the sub-partition as seldom as their dependencies allow.
fn group(system: &System, steps: Vec<(usize, Step)>) -> Vec<(usize, Step)> {
    let mut producer: BTreeMap<SlotId, usize> = BTreeMap::new();
    let mut needs: Vec<BTreeSet<usize>> = Vec::with_capacity(steps.len());
    for (k, (_, step)) in steps.iter().enumerate() {
        let mut before: BTreeSet<usize> =
            system.dag.loads(&step.nodes()).iter().filter_map(|s| producer.get(s).copied()).collect();
        // A guess that is set before a loop finds the variable stays before it.
        before.extend(step.slots().iter().filter_map(|s| producer.get(s).copied()));
        before.remove(&k);
        needs.push(before);
        step.slots().into_iter().for_each(|s| {
            producer.insert(s, k);
        });
    }
    let n_subs = steps.iter().map(|s| s.0 + 1).max().unwrap_or(0);
    let mut ready: Vec<VecDeque<usize>> = vec![VecDeque::new(); n_subs];
    let mut open: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    for (k, before) in needs.iter().enumerate() {
        before.iter().for_each(|&b| followers[b].push(k));
        if before.is_empty() {
            ready[steps[k].0].push_back(k);
        }
    }
    let mut order = Vec::with_capacity(steps.len());
    let mut current = 0;
    while let Some(sub) = (0..n_subs).map(|k| (current + k) % n_subs).find(|&k| !ready[k].is_empty()) {
        current = sub;
        if let Some(k) = ready[sub].pop_front() {
            order.push(k);
            for &next in &followers[k] {
                open[next] -= 1;
                if open[next] == 0 {
                    ready[steps[next].0].push_back(next);
                }
            }
        }
    }
    let mut steps: Vec<Option<(usize, Step)>> = steps.into_iter().map(Some).collect();
    order.into_iter().filter_map(|k| steps[k].take()).collect()
}

/// Moves initial equations about clocked variables to their partitions.
pub fn distribute_initial_equations(system: &mut System, bases: &mut [Base]) {
    let owners = owners(system);
    let all = std::mem::take(&mut system.initial_equations);
    for equation in all {
        let slots = variables_of(system, &owners, &[equation.left, equation.right]);
        match bases.iter_mut().find(|b| slots.iter().any(|s| b.sub_of.contains_key(s))) {
            Some(base) => base.initial_equations.push(equation),
            None => system.initial_equations.push(equation),
        }
    }
}
