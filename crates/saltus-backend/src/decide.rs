//! Let parameters decide the structure where they make terms vanish.
//!
//! ```text
//! v = L * der(i)      with L = 0                ⇒   v = 0
//! v = c * der(i);  c = 2 * L   with L = 0       ⇒   v = 0;  c = 2 * L: the variable c counts as a parameter
//! i = s * (if off then G else 1)   with G = 0   ⇒   i = s * (if off then 0 else 1)
//! 0 = if hasLoss then i - G * v else i          ⇒   the branch that counts, for the branches have different unknowns
//! ```
//!
//! A coefficient that is zero would be matched, differentiated and torn like any other, and only the simulation would
//! find out that its equation does not determine the unknown. In: the lowered system. Out: the system with the values of
//! parameters and without those terms; the parameters that decided are remembered, for changing one needs recompilation.
//! (DESIGN section 5: a zero makes the parameter structural.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Index};
use saltus_flat::FlatModel;
use saltus_program::{BinaryFn, SlotId, SlotKind, UnaryFn};

use crate::alias::Aliases;
use crate::clocks::partition::Base;
use crate::dag::{Node, NodeId, Replacement};
use crate::lower::Lowering;
use crate::structure::{Known, known_nodes};
use crate::system::{Assignment, System};
use crate::tuning::work::MOST_PARAMETER_ROUNDS;

pub fn decide_structure(model: &FlatModel, system: &mut System, diagnostics: &mut Diagnostics) {
    evaluate_parameters(model, system, diagnostics);
    let mut roots: Vec<NodeId> = Vec::new();
    for equation in system.equations.iter().chain(&system.initial_equations) {
        roots.extend([equation.left, equation.right]);
        roots.extend(equation.initially);
    }
    let decisions = all_decisions(system, &roots);
    if decisions.iter().all(Option::is_none) {
        return;
    }
    let new = system.dag.replace_all(&roots, |_, id| decisions.get(id.index()).copied().flatten());
    let mut new = new.into_iter();
    for equation in system.equations.iter_mut().chain(&mut system.initial_equations) {
        let places = [Some(&mut equation.left), Some(&mut equation.right), equation.initially.as_mut()];
        for (place, node) in places.into_iter().flatten().zip(new.by_ref()) {
            *place = node;
        }
    }
}

/// A variable whose derivative occurs nowhere any more is not a state.
pub fn release_states(system: &mut System, bases: &[Base], aliases: &Aliases) {
    let clocked = bases.iter().flat_map(|b| b.equations.iter().chain(&b.initial_equations));
    let equations = system.equations.iter().chain(&system.initial_equations).chain(clocked);
    let mut roots: Vec<NodeId> = equations.flat_map(|e| [Some(e.left), Some(e.right), e.initially]).flatten().collect();
    roots.extend(
        system
            .events
            .crossings
            .iter()
            .chain(&system.checks.conditions)
            .chain(&system.checks.shown_values)
            .map(|a| a.node),
    );
    roots.extend(system.starts.values().map(|start| start.value));
    roots.extend(system.calls.stated.iter().flatten());
    let used: BTreeSet<SlotId> = system.dag.loads(&roots).into_iter().collect();
    let is_kept = |state: &SlotId, derivative: &SlotId| {
        used.contains(derivative)
            || !aliases.is_nameless(*derivative)
            || system.events.reinits.iter().any(|reinit| reinit.state == *state)
    };
    let released: Vec<(SlotId, SlotId)> = system
        .derivative_of
        .iter()
        .filter(|(state, derivative)| system.slots[**state].kind == SlotKind::State && !is_kept(state, derivative))
        .map(|(&state, &derivative)| (state, derivative))
        .collect();
    for (state, derivative) in released {
        system.derivative_of.remove(&state);
        let is_derivative = aliases.is_derivative(state);
        system.slots[state].kind = if is_derivative { SlotKind::Derivative } else { SlotKind::Algebraic };
        system.slots[derivative].kind = SlotKind::Auxiliary;
    }
}

/// The values that parameters have before the simulation, as far as they are known then.
fn evaluate_parameters(model: &FlatModel, system: &mut System, diagnostics: &mut Diagnostics) {
    let is_given = |kind: SlotKind| kind == SlotKind::Parameter;
    let mut values: Vec<Option<f64>> =
        system.slots.values().map(|slot| is_given(slot.kind).then_some(slot.initial)).collect();
    let computed = system.parameters.assignments.iter().map(|a| a.slot).chain(system.parameters.free.iter().copied());
    computed.for_each(|slot| values[slot.index()] = None);
    system.parameters.values = values;
    spread_values(system);
    // What is left is computed by calls, which only the evaluator can make.
    let missing: Vec<SlotId> = system
        .parameters
        .assignments
        .iter()
        .map(|a| a.slot)
        .filter(|slot| system.parameters.values[slot.index()].is_none() && is_given(system.slots[*slot].kind))
        .collect();
    if missing.is_empty() {
        return;
    }
    let mut lowering = Lowering::new(model, system, diagnostics);
    for slot in missing {
        let value = lowering.parameter_value(slot).and_then(|node| lowering.system.dag.value(node));
        lowering.system.parameters.values[slot.index()] = value;
    }
    spread_values(system);
}

/// From parameters with known values to those computed from them.
fn spread_values(system: &mut System) {
    for _ in 0..MOST_PARAMETER_ROUNDS {
        let known = known_nodes(system);
        let mut has_changed = false;
        // What comes from outside begins with its start value and may become anything.
        let is_input = |a: &&Assignment| system.slots[a.slot].kind == SlotKind::Input;
        for assignment in system.parameters.assignments.iter().filter(|a| !is_input(a)) {
            let place = &mut system.parameters.values[assignment.slot.index()];
            if place.is_none()
                && let Some(value) = known[assignment.node.index()].value()
            {
                *place = Some(value);
                has_changed = true;
            }
        }
        if !has_changed {
            return;
        }
    }
}

/// Variables that an equation holds at a value, with the other side of it: `c = 2*C` where C is a parameter.
type Held = BTreeMap<SlotId, NodeId>;

/// The decisions when variables that parameters hold at a value count as parameters.
fn all_decisions(system: &mut System, roots: &[NodeId]) -> Vec<Option<Replacement>> {
    let mut held = Held::new();
    let mut found = decisions(system, &known_nodes(system), roots);
    for _ in 0..MOST_PARAMETER_ROUNDS {
        let known = known_nodes(system);
        let new = newly_held(system, &known, &found.vanishes);
        if new.is_empty() {
            break;
        }
        for (slot, other, value) in new {
            system.parameters.values[slot.index()] = Some(value);
            held.insert(slot, other);
        }
        found = decisions(system, &known_nodes(system), roots);
    }
    for slot in held.keys() {
        system.parameters.values[slot.index()] = None;
    }
    // Through the variables to the parameters behind them.
    let mut rest = system.dag.loads(&found.structural);
    while let Some(slot) = rest.pop() {
        match held.remove(&slot) {
            Some(other) => rest.extend(system.dag.loads(&[other])),
            None if system.slots[slot].kind == SlotKind::Parameter => system.memo.structural.extend([slot]),
            None => {}
        }
    }
    found.decisions
}

/// Variables whose equation gives them a known value, in the initial system as well.
fn newly_held(system: &System, known: &[Known], vanishes: &[bool]) -> Vec<(SlotId, NodeId, f64)> {
    let value = |node: NodeId| known[node.index()].value().or(vanishes[node.index()].then_some(0.0));
    let mut new = Vec::new();
    for equation in &system.equations {
        let both = [(equation.left, equation.right), (equation.right, equation.left)];
        // An assignment can be read in one direction only.
        let sides = if equation.is_real && equation.target.is_none() { &both[..] } else { &both[..1] };
        for &(side, other) in sides {
            let Node::Load(slot) = system.dag.node(side) else { continue };
            let may_be = matches!(system.slots[slot].kind, SlotKind::Algebraic | SlotKind::Discrete)
                && equation.target.is_none_or(|target| target == slot)
                && system.parameters.values[slot.index()].is_none();
            let Some(held) = value(other).filter(|_| may_be) else { continue };
            if equation.initially.is_none_or(|node| value(node) == Some(held)) {
                new.push((slot, other, held));
            }
        }
    }
    new
}

/// What parameters decide about nodes.
struct Decided {
    /// What the node stands for.
    decisions: Vec<Option<Replacement>>,
    /// Is it zero?
    vanishes: Vec<bool>,
    /// Nodes whose values have decided.
    structural: Vec<NodeId>,
}

fn decisions(system: &mut System, known: &[Known], roots: &[NodeId]) -> Decided {
    let zero = system.dag.constant(0.0);
    let free: BTreeSet<SlotId> = system.parameters.free.iter().copied().collect();
    let mut decisions = vec![None; known.len()];
    let mut vanishes = vec![false; system.dag.len()];
    let mut structural = Vec::new();
    let mut vanishing = Vec::new();
    for id in system.dag.reachable(roots) {
        let is_select = matches!(system.dag.node(id), Node::Select(..));
        if let Some(value) = known[id.index()].value() {
            vanishes[id.index()] = value == 0.0;
            // The value of a choice may be known and unknowns stand in the branch that is not taken.
            if !is_select {
                continue;
            }
        }
        let is_zero = |node: NodeId| vanishes[node.index()];
        let (vanishes_now, decision) = match system.dag.node(id) {
            Node::Unary(UnaryFn::Negate, x) => (is_zero(x), None),
            Node::Binary(BinaryFn::Mul, a, b) => {
                let factor = [a, b].into_iter().find(|&factor| is_zero(factor));
                if factor.is_none() {
                    for (switch, other) in [(a, b), (b, a)] {
                        if !unknowns(system, &free, other).is_empty() {
                            vanishing.extend(zero_branches(system, switch, &vanishes));
                        }
                    }
                }
                (factor.is_some(), factor.map(|factor| (factor, Replacement::By(zero))))
            }
            Node::Binary(BinaryFn::Div, a, _) => (is_zero(a), is_zero(a).then_some((a, Replacement::By(zero)))),
            Node::Binary(BinaryFn::Add | BinaryFn::Sub, a, b) => (is_zero(a) && is_zero(b), None),
            Node::Select(condition, a, b) => match known[condition.index()] {
                Known::Parameter(value) if unknowns(system, &free, a) != unknowns(system, &free, b) => {
                    let branch = if value != 0.0 { a } else { b };
                    (is_zero(branch), Some((condition, Replacement::ByChild(branch))))
                }
                _ => (is_zero(a) && is_zero(b), None),
            },
            _ => (false, None),
        };
        vanishes[id.index()] = vanishes_now;
        if let Some((by, replacement)) = decision {
            structural.push(by);
            decisions[id.index()] = Some(replacement);
        }
    }
    for branch in vanishing {
        structural.push(branch);
        decisions[branch.index()] = Some(Replacement::By(zero));
    }
    Decided { decisions, vanishes, structural }
}

/// Branches of a switch that are zero by the values of parameters.
fn zero_branches(system: &System, switch: NodeId, vanishes: &[bool]) -> Vec<NodeId> {
    let (mut found, mut rest) = (Vec::new(), vec![switch]);
    while let Some(node) = rest.pop() {
        let Node::Select(_, a, b) = system.dag.node(node) else { continue };
        for branch in [a, b] {
            match system.dag.node(branch) {
                Node::Select(..) => rest.push(branch),
                Node::Const(_) => {}
                // A variable stays where it is determined.
                Node::Load(slot) if system.slots[slot].kind != SlotKind::Parameter => {}
                _ if vanishes[branch.index()] => found.push(branch),
                _ => {}
            }
        }
    }
    found
}

/// Variables, and parameters that the initial system finds.
fn unknowns(system: &System, free: &BTreeSet<SlotId>, node: NodeId) -> BTreeSet<SlotId> {
    let is_unknown = |slot: &SlotId| system.slots[*slot].kind != SlotKind::Parameter || free.contains(slot);
    system.dag.loads(&[node]).into_iter().filter(is_unknown).collect()
}
