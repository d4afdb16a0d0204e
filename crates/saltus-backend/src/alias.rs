//! Eliminate aliases: variables that equal another one up to sign, or a number (DESIGN section 5).
//!
//! ```text
//! r.p.v = c.p.v;                   every r.p.v becomes c.p.v
//! r.p.i + r.n.i = 0;        ⇒      every r.n.i becomes -r.p.i
//! g.p.v = 0;                       every g.p.v becomes 0
//! der(phi) = w;                    w is the derivative of phi
//! ```
//!
//! In: the scalar system. Out: the system without those equations and unknowns, and the table that says what each
//! eliminated variable stands for. Start values, `fixed` and derivatives move to the variable that remains.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Span;
use saltus_flat::ActiveStates;
use saltus_program::{BinaryFn, SlotId, SlotKind, UnaryFn};

use crate::clocks::partition::Base;
use crate::dag::{Node, NodeId};
use crate::decide::release_states;
use crate::system::{ScalarEquation, System};
use crate::tuning::work::MOST_ALIAS_ROUNDS;

/// What an eliminated slot stands for: another slot, possibly negated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alias {
    pub slot: SlotId,
    pub is_negated: bool,
}

#[derive(Default, Debug)]
pub struct Aliases {
    of: BTreeMap<SlotId, Alias>,
    /// What a slot is the derivative of.
    integral_of: BTreeMap<SlotId, SlotId>,
    /// Derivatives that no variable of the model stands for.
    nameless: BTreeSet<SlotId>,
    /// Slots that the model differentiates, by themselves.
    differentiated: BTreeSet<SlotId>,
    /// The states of machines that slots belong to, if the model has machines.
    owners: Option<BTreeMap<SlotId, usize>>,
    /// Relations that follow from others but could not be eliminated.
    left: Vec<ScalarEquation>,
}

impl Aliases {
    /// The remaining slot that `slot` equals, itself if it was not eliminated.
    pub fn resolve(&self, slot: SlotId) -> Alias {
        let mut at = Alias { slot, is_negated: false };
        while let Some(next) = self.of.get(&at.slot) {
            at = Alias { slot: next.slot, is_negated: at.is_negated ^ next.is_negated };
        }
        at
    }

    /// Like [`resolve`](Self::resolve); those on the way stand for the answer directly from now on, so that a long chain of equal
    /// variables is followed once.
    fn find(&mut self, slot: SlotId) -> Alias {
        let found = self.resolve(slot);
        let mut at = Alias { slot, is_negated: false };
        while let Some(step) = self.of.get_mut(&at.slot) {
            let next = Alias { slot: step.slot, is_negated: at.is_negated ^ step.is_negated };
            *step = Alias { slot: found.slot, is_negated: found.is_negated ^ at.is_negated };
            at = next;
        }
        found
    }

    /// Lets every eliminated slot stand for a remaining one directly.
    fn shorten(&mut self) {
        let slots: Vec<SlotId> = self.iter().collect();
        for slot in slots {
            self.find(slot);
        }
    }

    /// Does the model differentiate the variable itself, not only one that equals it?
    pub fn is_differentiated(&self, slot: SlotId) -> bool {
        self.differentiated.contains(&slot)
    }

    pub fn iter(&self) -> impl Iterator<Item = SlotId> {
        self.of.keys().copied()
    }

    /// Do both belong to the same state of a machine, or to none?
    fn have_one_owner(&self, a: SlotId, b: SlotId) -> bool {
        self.owners.as_ref().is_none_or(|owners| owners.get(&a) == owners.get(&b))
    }

    /// Is it the derivative of a variable?
    pub fn is_derivative(&self, slot: SlotId) -> bool {
        self.integral_of.contains_key(&slot)
    }

    /// Is it a derivative that no variable of the model stands for?
    pub fn is_nameless(&self, derivative: SlotId) -> bool {
        self.nameless.contains(&derivative)
    }

    /// Is `derivative` the derivative of `slot`, once or several times?
    fn is_integral(&self, slot: SlotId, derivative: SlotId) -> bool {
        let mut at = derivative;
        while let Some(&x) = self.integral_of.get(&at) {
            if x == slot {
                return true;
            }
            at = x;
        }
        false
    }
}

/// In a model with state machines only variables of the same state are made one: the others have values, or none, of their own in other
/// configurations. Two variables that are differentiated both stay: they may have been different before, and what they become together is not
/// for one of them to say.
pub fn eliminate_aliases(system: &mut System, bases: &mut [Base], active: Option<&ActiveStates>) -> Aliases {
    let owners = active.map(|active| owners(system, active));
    let integral_of = system.derivative_of.iter().map(|(&x, &derivative)| (derivative, x)).collect();
    let nameless = system.derivative_of.values().copied().collect();
    let differentiated = system.derivative_of.keys().copied().collect();
    let mut aliases = Aliases { integral_of, nameless, owners, differentiated, ..Aliases::default() };
    for _ in 0..MOST_ALIAS_ROUNDS {
        release_states(system, bases, &aliases);
        aliases.integral_of.retain(|_, x| system.derivative_of.contains_key(x));
        let mut replaced: BTreeMap<SlotId, Option<f64>> = BTreeMap::new();
        let mut kept = Vec::with_capacity(system.equations.len());
        for equation in std::mem::take(&mut system.equations) {
            let gone = match alias_of(system, &equation) {
                Some((a, b, negated)) => unite(system, &mut aliases, a, b, negated, equation.span),
                None => Vec::new(),
            };
            let is_eliminated = !gone.is_empty();
            replaced.extend(gone.into_iter().map(|slot| (slot, None)));
            if is_eliminated {
                continue;
            }
            match constant_of(system, &equation).filter(|&(slot, _)| !aliases.of.contains_key(&slot)) {
                Some((slot, value)) => {
                    // The slot keeps the value for those who want to see it.
                    system.slots[slot].kind = SlotKind::Parameter;
                    system.slots[slot].initial = value;
                    system.starts.remove(&slot);
                    replaced.insert(slot, Some(value));
                }
                None => kept.push(equation),
            }
        }
        kept.append(&mut aliases.left);
        system.equations = kept;
        if replaced.is_empty() {
            break;
        }
        aliases.shorten();
        rewrite(system, bases, &aliases, &replaced);
    }
    aliases
}

/// The state of a machine that each slot belongs to; derivatives belong to that of their variables.
fn owners(system: &System, active: &ActiveStates) -> BTreeMap<SlotId, usize> {
    let mut owners = BTreeMap::new();
    for (id, &state) in &active.members {
        for &element in &system.elements[*id] {
            let mut slot = Some(element);
            while let Some(at) = slot {
                owners.insert(at, state);
                slot = system.derivative_of.get(&at).copied().filter(|next| !owners.contains_key(next));
            }
        }
    }
    owners
}

/// `(x, value)` if the equation says that an algebraic variable is constant, and nothing else.
fn constant_of(system: &System, equation: &ScalarEquation) -> Option<(SlotId, f64)> {
    if equation.target.is_some() || !equation.is_real || equation.initially.is_some() {
        return None;
    }
    let dag = &system.dag;
    let (side, value) = match (dag.value(equation.left), dag.value(equation.right)) {
        (Some(value), None) => (equation.right, value),
        (None, Some(value)) => (equation.left, value),
        _ => return None,
    };
    let (slot, is_negated) = signed_load(system, side)?;
    let is_free = system.slots[slot].kind == SlotKind::Algebraic
        && !system.pre_of.contains_key(&slot)
        && !system.starts.get(&slot).is_some_and(|start| start.is_fixed);
    (is_free && value.is_finite()).then_some((slot, if is_negated { -value } else { value }))
}

/// `(a, b, negated)` if the equation says `a = b` or `a = -b` and nothing else.
fn alias_of(system: &System, equation: &ScalarEquation) -> Option<(SlotId, SlotId, bool)> {
    if equation.target.is_some() || !equation.is_real || equation.initially.is_some() {
        return None;
    }
    let dag = &system.dag;
    let (left, right) = (equation.left, equation.right);
    if let (Some((a, na)), Some((b, nb))) = (signed_load(system, left), signed_load(system, right)) {
        return Some((a, b, na ^ nb));
    }
    let (sum, other) = if dag.value(left) == Some(0.0) { (right, left) } else { (left, right) };
    if dag.value(other) != Some(0.0) {
        return None;
    }
    let sum = match dag.node(sum) {
        Node::Unary(UnaryFn::Negate, inner) => inner,
        _ => sum,
    };
    match dag.node(sum) {
        Node::Binary(f @ (BinaryFn::Add | BinaryFn::Sub), x, y) => {
            let ((a, na), (b, nb)) = (signed_load(system, x)?, signed_load(system, y)?);
            Some((a, b, na ^ nb ^ (f == BinaryFn::Add)))
        }
        _ => None,
    }
}

fn signed_load(system: &System, node: NodeId) -> Option<(SlotId, bool)> {
    match system.dag.node(node) {
        Node::Load(slot) => Some((slot, false)),
        Node::Unary(UnaryFn::Negate, inner) => match system.dag.node(inner) {
            Node::Load(slot) => Some((slot, true)),
            _ => None,
        },
        _ => None,
    }
}

/// Makes one of two equal variables stand for both; refuses where that would lose something. Returns the slots that are
/// gone: the variable, and its derivatives if both had one.
fn unite(
    system: &mut System,
    aliases: &mut Aliases,
    a: SlotId,
    b: SlotId,
    is_negated: bool,
    span: Span,
) -> Vec<SlotId> {
    let (a, b) = (aliases.find(a), aliases.find(b));
    let is_negated = is_negated ^ a.is_negated ^ b.is_negated;
    if a.slot == b.slot || !aliases.have_one_owner(a.slot, b.slot) {
        return Vec::new();
    }
    let Some((kept, gone)) = which_stays(system, aliases, a.slot, b.slot, is_negated) else { return Vec::new() };
    if system.slots[gone].kind == SlotKind::Input || system.pre_of.contains_key(&gone) {
        return Vec::new();
    }
    let mut all_gone = vec![gone];
    let derivatives = (system.derivative_of.get(&kept).copied(), system.derivative_of.get(&gone).copied());
    match derivatives {
        (Some(_), Some(_)) if aliases.owners.is_some() => return Vec::new(),
        (Some(of_kept), Some(of_gone)) => {
            all_gone.extend(unite_derivatives(system, aliases, gone, of_kept, of_gone, is_negated, span));
        }
        (None, Some(_)) => return Vec::new(),
        _ => {}
    }
    merge_starts(system, kept, gone, is_negated);
    aliases.of.insert(gone, Alias { slot: kept, is_negated });
    if !aliases.is_nameless(gone) {
        aliases.nameless.remove(&kept);
    }
    system.slots[gone].kind = SlotKind::Auxiliary;
    if let Some(x) = aliases.integral_of.remove(&gone) {
        aliases.integral_of.insert(kept, x);
        system.derivative_of.insert(x, kept);
        system.slots[kept].kind = derivative_kind(system, kept);
    }
    all_gone
}

/// `(kept, gone)` of two equal variables, `None` if both must stay.
fn which_stays(system: &System, aliases: &Aliases, a: SlotId, b: SlotId, is_negated: bool) -> Option<(SlotId, SlotId)> {
    let integrals = (aliases.integral_of.get(&a), aliases.integral_of.get(&b));
    let (derivative, variable) = match integrals {
        (None, None) => {
            let may = |slot: SlotId| {
                matches!(system.slots[slot].kind, SlotKind::Algebraic | SlotKind::State | SlotKind::Input)
            };
            let order = if rank(system, a) >= rank(system, b) { (a, b) } else { (b, a) };
            return (may(a) && may(b)).then_some(order);
        }
        (Some(_), Some(_)) => return None,
        (Some(_), None) => (a, b),
        (None, Some(_)) => (b, a),
    };
    let is_plain = matches!(system.slots[variable].kind, SlotKind::Algebraic | SlotKind::State);
    if !is_plain || aliases.is_integral(variable, derivative) {
        return None;
    }
    // The variable is the better name; but its sign cannot turn.
    if is_negated || system.derivative_of.contains_key(&derivative) {
        Some((derivative, variable))
    } else {
        Some((variable, derivative))
    }
}

/// The derivatives of two variables that are one from now on.
fn unite_derivatives(
    system: &mut System,
    aliases: &mut Aliases,
    gone: SlotId,
    of_kept: SlotId,
    of_gone: SlotId,
    is_negated: bool,
    span: Span,
) -> Vec<SlotId> {
    system.derivative_of.remove(&gone);
    aliases.integral_of.remove(&of_gone);
    let has_own = system.derivative_of.contains_key(&of_gone);
    system.slots[of_gone].kind = if has_own { SlotKind::State } else { SlotKind::Algebraic };
    let united = unite(system, aliases, of_kept, of_gone, is_negated, span);
    if united.is_empty() {
        let (left, mut right) = (system.load(of_kept), system.load(of_gone));
        if is_negated {
            right = system.dag.negate(right);
        }
        aliases.left.push(ScalarEquation {
            left,
            right,
            target: None,
            initially: None,
            is_real: true,
            span,
            linearized: None,
        });
    }
    united
}

fn derivative_kind(system: &System, slot: SlotId) -> SlotKind {
    if system.derivative_of.contains_key(&slot) { SlotKind::State } else { SlotKind::Derivative }
}

/// Which of two variables remains: what is given from outside, states, variables with a remembered value, variables
/// with a start value.
fn rank(system: &System, slot: SlotId) -> u8 {
    if system.slots[slot].kind == SlotKind::Input {
        return 5;
    }
    let by_start = match system.starts.get(&slot) {
        Some(start) if start.is_fixed => 2,
        Some(_) => 1,
        None => 0,
    };
    if system.derivative_of.contains_key(&slot) {
        return 4;
    }
    if system.pre_of.contains_key(&slot) {
        return 3;
    }
    by_start
}

fn merge_starts(system: &mut System, kept: SlotId, gone: SlotId, is_negated: bool) {
    let Some(mut start) = system.starts.remove(&gone) else { return };
    if is_negated {
        start.value = system.dag.negate(start.value);
    }
    match system.starts.get(&kept) {
        Some(own) if own.is_fixed && start.is_fixed && own.value != start.value => {
            // Both must hold; the initial system finds out.
            let left = system.load(kept);
            let (right, span) = (start.value, start.span);
            let both =
                ScalarEquation { left, right, target: None, initially: None, is_real: true, span, linearized: None };
            system.initial_equations.push(both);
        }
        Some(own) if own.is_fixed => {}
        Some(own) if !start.is_fixed && own.confidence <= start.confidence => {}
        _ => {
            if let Some(constant) = system.dag.value(start.value) {
                system.slots[kept].initial = constant;
            }
            system.starts.insert(kept, start);
        }
    }
}

/// Replaces the slots eliminated now, by others or by their value, in everything the system contains, in one pass over the
/// graph.
fn rewrite(system: &mut System, bases: &mut [Base], aliases: &Aliases, eliminated: &BTreeMap<SlotId, Option<f64>>) {
    let replacement: BTreeMap<SlotId, NodeId> = eliminated
        .iter()
        .map(|(&slot, &value)| {
            let alias = aliases.resolve(slot);
            let value = value.or_else(|| eliminated.get(&alias.slot).copied().flatten());
            let node = match value {
                Some(value) => system.dag.constant(value),
                None => system.load(alias.slot),
            };
            (slot, if alias.is_negated { system.dag.negate(node) } else { node })
        })
        .collect();
    let clocked = bases.iter_mut().flat_map(|b| b.equations.iter_mut().chain(&mut b.initial_equations));
    system
        .replace_expressions(clocked, |dag, roots| dag.substitute_all(roots, &|slot| replacement.get(&slot).copied()));
    rewrite_targets(system, bases, aliases);
    rewrite_reinits(system, aliases);
}

/// An assignment to a variable that is gone assigns the one that remains: `r := e` with `r = -s` is `s := -e`.
fn rewrite_targets(system: &mut System, bases: &mut [Base], aliases: &Aliases) {
    let System { equations, initial_equations, dag, slots, .. } = system;
    let clocked = bases.iter_mut().flat_map(|b| b.equations.iter_mut().chain(&mut b.initial_equations));
    for equation in equations.iter_mut().chain(initial_equations).chain(clocked) {
        let Some(target) = equation.target else { continue };
        let alias = aliases.resolve(target);
        equation.target = Some(alias.slot);
        if alias.is_negated {
            equation.left = dag.load(alias.slot, slots[alias.slot].kind.is_continuous());
            equation.right = dag.negate(equation.right);
            equation.initially = equation.initially.map(|node| dag.negate(node));
        }
    }
}

fn rewrite_reinits(system: &mut System, aliases: &Aliases) {
    let mut turned: BTreeSet<SlotId> = BTreeSet::new();
    for reinit in &mut system.events.reinits {
        let alias = aliases.resolve(reinit.state);
        reinit.state = alias.slot;
        if alias.is_negated {
            turned.insert(reinit.value);
        }
    }
    if turned.is_empty() {
        return;
    }
    // The value slot has an equation of its own; its sign turns with the state's.
    for equation in system.equations.iter_mut().filter(|e| e.target.is_some_and(|t| turned.contains(&t))) {
        equation.right = system.dag.negate(equation.right);
        equation.initially = equation.initially.map(|n| system.dag.negate(n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_base::Index;

    #[test]
    fn a_chain_of_equal_variables_is_shortened_with_its_signs() {
        // v0 = v1, v1 = -v2, v2 = -v3, v3 = v4: so v0 = v4, v1 = v4, v2 = -v4, v3 = v4.
        let slot = SlotId::from_usize;
        let mut aliases = Aliases::default();
        for (i, is_negated) in [false, true, true, false].into_iter().enumerate() {
            aliases.of.insert(slot(i), Alias { slot: slot(i + 1), is_negated });
        }
        let before: Vec<Alias> = (0..5).map(|i| aliases.resolve(slot(i))).collect();
        let signs: Vec<bool> = before.iter().map(|a| a.is_negated).collect();
        assert_eq!(signs, [false, false, true, false, false]);
        aliases.shorten();
        assert_eq!((0..5).map(|i| aliases.resolve(slot(i))).collect::<Vec<_>>(), before);
        assert!(aliases.of.values().all(|alias| alias.slot == slot(4)), "one step leads to what remains");
    }
}
