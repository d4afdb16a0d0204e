//! Linearise states of machines where they are entered.
//!
//! ```text
//! der(x) = -x^2     ⇒     der(x) = -entered(x)^2 - 2*entered(x)*(x - entered(x))
//! ```
//!
//! In: the reduced system and the states that are linear. Out: each of their equations replaced by its value and its partial derivatives at the
//! point where the state was entered. That point fulfils the equations of the model: they are solved at the start and where the state
//! is entered ([`System::exact`]), and the values are kept. Since index reduction comes first, the linear model is the linearisation of
//! the differential equations of its states, whatever algebraic equations stand between; what comes from outside is a variable like
//! others. Time, discrete variables and conditions stay as they are.

use std::collections::BTreeMap;

use saltus_base::Diagnostics;
use saltus_flat::{ActiveStates, FlatModel, StateOrigin};
use saltus_program::{SlotId, SlotKind, SlotType};

use crate::alias::{Alias, Aliases};
use crate::blocks::Step;
use crate::dag::{Node, NodeId};
use crate::diagnostics;
use crate::differentiate::CallRules;
use crate::system::{Assignment, ScalarEquation, System};

/// Values that are kept where a state is entered: the state, where they are kept, and what they are.
pub type Kept = Vec<(usize, SlotId, Alias)>;

/// Linearises what is to be linear, and says what must be kept.
pub fn linearize(model: &FlatModel, system: &mut System, aliases: &Aliases, diagnostics: &mut Diagnostics) -> Kept {
    let Some(active) = model.active_states.as_deref() else { return Kept::new() };
    let kept = declared(system, active, aliases);
    if active.linearized.is_empty() {
        return kept;
    }
    refuse_choices(system, active, diagnostics);
    let mut point = Point { active, known: BTreeMap::new(), kept };
    for (state, slot, of) in point.kept.clone() {
        let load = system.load(slot);
        let node = if of.is_negated { system.dag.negate(load) } else { load };
        point.known.insert((state, of.slot), node);
    }
    for k in 0..system.equations.len() {
        let equation = system.equations[k].clone();
        let Some(state) = equation.linearized else { continue };
        match linear(model, system, &mut point, state, &equation) {
            Ok(Some(new)) => {
                system.exact.insert(k, equation);
                system.equations[k] = new;
            }
            Ok(None) => {}
            Err(name) => diagnostics.push(diagnostics::machines::not_linearizable(&name, equation.span)),
        }
    }
    point.kept
}

/// States that are chosen while the simulation runs: the linear model would have others than those it was made for.
fn refuse_choices(system: &System, active: &ActiveStates, diagnostics: &mut Diagnostics) {
    let chosen = |slot: SlotId| {
        system.state_sets.iter().flat_map(|set| &set.levels).any(|level| level.candidates.contains(&slot))
    };
    for equation in &system.equations {
        let Some(state) = equation.linearized else { continue };
        if system.dag.loads(&[equation.left, equation.right]).into_iter().any(chosen) {
            diagnostics.push(diagnostics::machines::chosen_states(active.states[state].name(), equation.span));
            return;
        }
    }
}

/// What the model has declared to be kept.
fn declared(system: &System, active: &ActiveStates, aliases: &Aliases) -> Kept {
    let mut kept = Kept::new();
    for StateOrigin { state, of, is_derivative, value } in &active.origins {
        if !active.states[*state].is_active {
            continue;
        }
        for (&slot, &place) in system.elements[*of].iter().zip(&system.elements[*value]) {
            let variable = aliases.resolve(slot);
            let of = match is_derivative {
                false => Some(variable),
                true => {
                    let known = system.derivative_of.get(&variable.slot);
                    let derivative = known.or_else(|| system.introduced.given_up.get(&variable.slot));
                    derivative
                        .map(|&d| aliases.resolve(d))
                        .map(|d| Alias { is_negated: d.is_negated ^ variable.is_negated, ..d })
                }
            };
            kept.extend(of.map(|of| (*state, place, of)));
        }
    }
    kept
}

/// The point where a state was entered.
struct Point<'a> {
    active: &'a ActiveStates,
    known: BTreeMap<(usize, SlotId), NodeId>,
    kept: Kept,
}

impl Point<'_> {
    fn value(&mut self, system: &mut System, state: usize, slot: SlotId) -> NodeId {
        if let Some(&node) = self.known.get(&(state, slot)) {
            return node;
        }
        let name = format!("entered({}, {})", system.name(slot), self.active.states[state].name());
        let place = system.add_slot(name, SlotKind::Parameter, SlotType::Real);
        self.kept.push((state, place, Alias { slot, is_negated: false }));
        let node = system.load(place);
        self.known.insert((state, slot), node);
        node
    }
}

/// The linear form of an equation; `None` if it is linear. The name of a function that has no derivative otherwise.
fn linear(
    model: &FlatModel,
    system: &mut System,
    point: &mut Point<'_>,
    state: usize,
    equation: &ScalarEquation,
) -> Result<Option<ScalarEquation>, String> {
    let is_explicit = matches!(system.dag.node(equation.left), Node::Load(_));
    let root = if is_explicit { equation.right } else { system.dag.sub(equation.left, equation.right) };
    let mut slots = system.dag.loads(&[root]);
    slots.retain(|&slot| system.slots[slot].kind.is_continuous() && slot != system.time);
    let mut dag = std::mem::take(&mut system.dag);
    let gradient = dag.gradient(root, &slots, &mut CallRules { model, system });
    system.dag = dag;
    let gradient = gradient.map_err(|error| {
        if let Some(callable) = system.calls.callables.get(error.function) {
            system.calls.underived.push(callable.function);
        }
        system.callable_name(error.function).to_owned()
    })?;
    let is_variable = |slot: SlotId| slots.contains(&slot);
    if !gradient.iter().flatten().any(|&entry| system.dag.depends_on(entry, &is_variable)) {
        return Ok(None);
    }
    let at: BTreeMap<SlotId, NodeId> = slots.iter().map(|&slot| (slot, point.value(system, state, slot))).collect();
    let there = |slot: SlotId| at.get(&slot).copied();
    let mut sum = system.dag.substitute(root, &there);
    for (&slot, entry) in slots.iter().zip(gradient) {
        let Some(entry) = entry else { continue };
        let slope = system.dag.substitute(entry, &there);
        let now = system.load(slot);
        let distance = system.dag.sub(now, at[&slot]);
        let term = system.dag.mul(slope, distance);
        sum = system.dag.add(sum, term);
    }
    let left = if is_explicit { equation.left } else { system.dag.constant(0.0) };
    Ok(Some(ScalarEquation { left, right: sum, initially: None, ..equation.clone() }))
}

/// Keeps the values at the start, each where it is known.
pub fn keep_at_start(system: &mut System, kept: &Kept, steps: &mut Vec<Step>) {
    let keeps = kept.iter().map(|&(_, slot, of)| (of.slot, keep(system, slot, of, None))).collect();
    insert_after(steps, keeps);
}

/// Keeps the values of states that are entered, each where it is known.
pub fn keep_at_entry(
    system: &mut System,
    active: &ActiveStates,
    aliases: &Aliases,
    kept: &Kept,
    steps: &mut Vec<Step>,
) {
    let mut keeps = Vec::new();
    for &(state, slot, of) in kept {
        let enters = aliases.resolve(system.elements[active.states[state].enters][0]).slot;
        keeps.push((of.slot, keep(system, slot, of, Some(enters))));
    }
    insert_after(steps, keeps);
}

fn keep(system: &mut System, slot: SlotId, of: Alias, condition: Option<SlotId>) -> Assignment {
    let load = system.load(of.slot);
    let mut node = if of.is_negated { system.dag.negate(load) } else { load };
    if let Some(condition) = condition {
        let pre = system.pre(slot);
        let (condition, before) = (system.load(condition), system.load(pre));
        node = system.dag.select(condition, node, before);
    }
    Assignment { slot, node, span: saltus_base::Span::nowhere() }
}

/// Puts each assignment after the step that computes its slot; in front if none does. Whatever reads what is kept reads that slot, too.
fn insert_after(steps: &mut Vec<Step>, keeps: Vec<(SlotId, Assignment)>) {
    let mut waiting: BTreeMap<SlotId, Vec<Assignment>> = BTreeMap::new();
    for (slot, assignment) in keeps {
        waiting.entry(slot).or_default().push(assignment);
    }
    let mut sorted = Vec::with_capacity(steps.len() + waiting.len());
    for step in std::mem::take(steps) {
        let known = step.slots();
        sorted.push(step);
        let known = known.iter().filter_map(|slot| waiting.remove(slot)).flatten();
        sorted.extend(known.map(Step::Assign));
    }
    steps.extend(waiting.into_values().flatten().map(Step::Assign));
    steps.append(&mut sorted);
}
