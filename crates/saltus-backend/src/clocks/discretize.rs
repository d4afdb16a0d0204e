//! Replace derivatives in clocked partitions by a solver method.
//!
//! ```text
//! der(x) = -x + u          ⇒   x = previous(x) + interval() * der(x);  der(x) = -x + u       (ImplicitEuler)
//! ```
//!
//! In: the index-reduced equations of a base-partition. Out: the same with an equation for each state, in which derivatives
//! are ordinary unknowns. An explicit method with stages evaluates copies of the sub-partition's equations: at stage k
//! each variable v is v', states are what the method says, inputs between two ticks are the mean of both. (Specification:
//! section 16.8.2.)

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Span};
use saltus_program::{BinaryFn, SlotId, SlotKind, SlotType};

use super::partition::{Base, Method};
use crate::dag::NodeId;
use crate::diagnostics;
use crate::system::{ScalarEquation, System};

pub fn discretize(
    system: &mut System,
    base: &Base,
    continued: &BTreeMap<SlotId, SlotId>,
    sub_of: &mut BTreeMap<SlotId, usize>,
    previous: &mut BTreeMap<SlotId, SlotId>,
    diagnostics: &mut Diagnostics,
) {
    let states = std::mem::take(&mut system.derivative_of);
    for (state, after) in continued.iter().filter(|(state, _)| !states.contains_key(state)) {
        let span = system.equations.iter().find(|e| e.target == Some(*after)).map_or(Span::nowhere(), |e| e.span);
        diagnostics.push(diagnostics::not_a_state(&system.name(*state), span));
    }
    let mut by_sub: BTreeMap<usize, Vec<(SlotId, SlotId)>> = BTreeMap::new();
    for (&state, &derivative) in &states {
        let Some(&sub) = sub_of.get(&state) else { continue };
        by_sub.entry(sub).or_default().push((state, derivative));
        system.slots[state].kind = SlotKind::Algebraic;
        system.slots[derivative].kind = SlotKind::Algebraic;
    }
    for (sub, states) in by_sub {
        let Some(method) = base.subs[sub].method else {
            let name = system.name(states[0].0).into_owned();
            let span = equation_of(system, states[0].1);
            diagnostics.push(diagnostics::clocks::no_method(&name, &base.subs[sub].text, span));
            continue;
        };
        let mut stages = Stages { system, base, continued, sub, states, sub_of, previous };
        stages.add(method);
    }
}

fn equation_of(system: &System, derivative: SlotId) -> Span {
    let found = system.equations.iter().find(|e| system.dag.loads(&[e.left, e.right]).contains(&derivative));
    found.map_or(Span::nowhere(), |e| e.span)
}

/// One sub-partition with its states and their derivatives.
struct Stages<'a> {
    system: &'a mut System,
    base: &'a Base,
    /// What the next step begins with where that is not the state itself.
    continued: &'a BTreeMap<SlotId, SlotId>,
    sub: usize,
    states: Vec<(SlotId, SlotId)>,
    sub_of: &'a mut BTreeMap<SlotId, usize>,
    previous: &'a mut BTreeMap<SlotId, SlotId>,
}

impl Stages<'_> {
    fn add(&mut self, method: Method) {
        let h = self.system.load(self.base.subs[self.sub].slots.interval_value);
        let (half, two) = (self.system.dag.constant(0.5), self.system.dag.constant(2.0));
        let half_h = self.system.dag.mul(half, h);
        let states = self.states.clone();
        let before: Vec<NodeId> = states.iter().map(|s| self.begun_with(s.0)).collect();
        let now: Vec<NodeId> = states.iter().map(|s| self.system.load(s.1)).collect();
        let new: Vec<NodeId> = match method {
            Method::ImplicitEuler => self.advance(&before, h, &now),
            Method::ExplicitEuler => {
                let slopes = self.slopes_before();
                self.advance(&before, h, &slopes)
            }
            Method::ImplicitTrapezoid => {
                let slopes = self.slopes_before();
                let half_way = self.advance(&before, half_h, &slopes);
                self.advance(&half_way, half_h, &now)
            }
            Method::ExplicitMidPoint2 => {
                let slopes = self.slopes_before();
                let at = self.advance(&before, half_h, &slopes);
                let middle = self.stage(&at, Some(half_h), 1);
                self.advance(&before, h, &middle)
            }
            Method::ExplicitRungeKutta4 => {
                let k1 = self.slopes_before();
                let at = self.advance(&before, half_h, &k1);
                let k2 = self.stage(&at, Some(half_h), 1);
                let at = self.advance(&before, half_h, &k2);
                let k3 = self.stage(&at, Some(half_h), 2);
                let at = self.advance(&before, h, &k3);
                let k4 = self.stage(&at, None, 3);
                let six = self.system.dag.constant(6.0);
                let weight = self.system.dag.div(h, six);
                let double = self.system.dag.mul(weight, two);
                let x = self.advance(&before, weight, &k1);
                let x = self.advance(&x, double, &k2);
                let x = self.advance(&x, double, &k3);
                self.advance(&x, weight, &k4)
            }
        };
        let is_implicit = matches!(method, Method::ImplicitEuler | Method::ImplicitTrapezoid);
        for (&(state, derivative), right) in states.iter().zip(new) {
            let left = self.system.load(state);
            let target = (!is_implicit).then_some(state);
            let span = equation_of(self.system, derivative);
            let equation =
                ScalarEquation { left, right, target, initially: None, is_real: true, span, linearized: None };
            self.system.equations.push(equation);
        }
    }

    /// `x + h * slope`
    fn advance(&mut self, x: &[NodeId], h: NodeId, slopes: &[NodeId]) -> Vec<NodeId> {
        let dag = &mut self.system.dag;
        let each = x.iter().zip(slopes);
        each.map(|(&x, &slope)| {
            let change = dag.mul(h, slope);
            dag.add(x, change)
        })
        .collect()
    }

    fn begun_with(&mut self, state: SlotId) -> NodeId {
        self.previous(self.continued.get(&state).copied().unwrap_or(state))
    }

    fn previous(&mut self, slot: SlotId) -> NodeId {
        let pre = match self.previous.get(&slot) {
            Some(&pre) => pre,
            None => {
                let (name, ty) = (format!("previous({})", self.system.name(slot)), self.system.slots[slot].ty);
                let pre = self.system.add_slot(name, SlotKind::Pre, ty);
                self.previous.insert(slot, pre);
                pre
            }
        };
        self.system.load(pre)
    }

    fn slopes_before(&mut self) -> Vec<NodeId> {
        let derivatives: Vec<SlotId> = self.states.iter().map(|s| s.1).collect();
        derivatives.into_iter().map(|d| self.previous(d)).collect()
    }

    /// The derivatives at other states: copies of all equations of the sub-partition. `back` is how long before the tick
    /// the stage is, if it is between two ticks.
    fn stage(&mut self, at: &[NodeId], back: Option<NodeId>, number: usize) -> Vec<NodeId> {
        let mut replacement: BTreeMap<SlotId, NodeId> = BTreeMap::new();
        let mut copies: BTreeMap<SlotId, SlotId> = BTreeMap::new();
        if let Some(back) = back {
            let time = self.system.load(self.system.time);
            let earlier = self.system.dag.sub(time, back);
            replacement.insert(self.system.time, earlier);
        }
        for (&(state, _), &value) in self.states.iter().zip(at) {
            replacement.insert(state, value);
        }
        let own: Vec<SlotId> = self.sub_of.iter().filter(|(_, sub)| **sub == self.sub).map(|(&slot, _)| slot).collect();
        let inputs: Vec<SlotId> = own.iter().copied().filter(|s| self.is_input(*s)).collect();
        for slot in own {
            let is_unknown = matches!(self.system.slots[slot].kind, SlotKind::Algebraic | SlotKind::Discrete);
            if replacement.contains_key(&slot) || !is_unknown {
                continue;
            }
            if inputs.contains(&slot) {
                if back.is_some() {
                    let value = self.between(slot);
                    replacement.insert(slot, value);
                }
                continue;
            }
            let name = format!("{} at stage {number}", self.system.name(slot));
            let (kind, ty) = (self.system.slots[slot].kind, self.system.slots[slot].ty);
            let copy = self.system.add_slot(name, kind, ty);
            let node = self.system.load(copy);
            replacement.insert(slot, node);
            copies.insert(slot, copy);
        }
        for &copy in copies.values() {
            self.sub_of.insert(copy, self.sub);
        }
        self.copy_equations(&replacement, &copies);
        let derivatives: Vec<SlotId> = self.states.iter().map(|s| s.1).collect();
        derivatives
            .into_iter()
            .map(|d| match replacement.get(&d) {
                Some(&node) => node,
                None => self.system.load(d),
            })
            .collect()
    }

    /// Is the slot a port, whose value comes from another partition?
    fn is_input(&self, slot: SlotId) -> bool {
        self.base.ports.contains(&slot)
    }

    /// An input in the middle of two ticks: Reals are interpolated, others have the earlier value.
    fn between(&mut self, slot: SlotId) -> NodeId {
        let before = self.previous(slot);
        if self.system.slots[slot].ty != SlotType::Real {
            return before;
        }
        let (now, half) = (self.system.load(slot), self.system.dag.constant(0.5));
        let sum = self.system.dag.add(before, now);
        self.system.dag.binary(BinaryFn::Mul, half, sum)
    }

    fn copy_equations(&mut self, replacement: &BTreeMap<SlotId, NodeId>, copies: &BTreeMap<SlotId, SlotId>) {
        let mut new = Vec::new();
        for equation in &self.system.equations {
            let is_port = equation.target.is_some_and(|t| self.base.ports.contains(&t));
            let loads = self.system.dag.loads(&[equation.left, equation.right]);
            // Explicit states of the stages before are not part of the model's equations.
            let is_own = loads.iter().any(|s| copies.contains_key(s));
            if !is_port && is_own && equation.target.is_none_or(|t| copies.contains_key(&t)) {
                new.push(equation.clone());
            }
        }
        for mut equation in new {
            let sides = [equation.left, equation.right];
            let sides = self.system.dag.substitute_all(&sides, &|slot| replacement.get(&slot).copied());
            (equation.left, equation.right) = (sides[0], sides[1]);
            equation.target = equation.target.and_then(|t| copies.get(&t).copied());
            self.system.equations.push(equation);
        }
    }
}
