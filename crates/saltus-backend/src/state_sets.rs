//! State sets: states that are chosen while the simulation runs.
//!
//! ```text
//! x^2 + y^2 = 1                 one constraint (K = 1), candidates x and y (N = 2), their derivatives v and w:
//!                               a state s with der(s) = t and der(t) = a, N - K of each
//! s = if which == 1 then x else y;   t = if which == 1 then v else w;   a = if which == 1 then der(v) else der(w)
//! ```
//!
//! The candidates are ordinary unknowns, solved from the constraints and these equations. `which` is set by the driver,
//! which watches the coefficients of the constraints. In: the sets found by [`select_states`](crate::select_states).
//! Out: the system with the new slots and equations.

use saltus_base::Span;
use saltus_program::{BinaryFn, SlotId, SlotKind, SlotType};

use crate::dag::{Node, NodeId};
use crate::select_states::RawSet;
use crate::system::{Assignment, ScalarEquation, System};

/// A set before its slots are made.
pub struct SetPlan {
    equations: Vec<usize>,
    /// The candidates, highest derivatives first; the last are not derivatives of one another's set any more.
    levels: Vec<Vec<SlotId>>,
    wishes: Vec<u8>,
    entries: Vec<(u32, u32, NodeId)>,
}

impl SetPlan {
    /// All derivatives among the candidates.
    pub fn derivatives(&self) -> impl Iterator<Item = SlotId> {
        self.levels.iter().take(self.levels.len().saturating_sub(1)).flatten().copied()
    }
}

/// States chosen among candidates.
#[derive(Clone, Debug)]
pub struct StateSet {
    /// For each order of derivative, states and candidates, the highest derivatives first; these are not states.
    pub levels: Vec<SetLevel>,
    /// For each state the position of the candidate it stands for, from 1.
    pub which: Vec<SlotId>,
    /// How much each candidate wants to be a state.
    pub wishes: Vec<u8>,
    pub n_constraints: usize,
    /// Row, column and slot of the coefficients of the constraints.
    pub entries: Vec<(u32, u32, SlotId)>,
    /// How these slots are computed.
    pub coefficients: Vec<Assignment>,
}

#[derive(Clone, Debug)]
pub struct SetLevel {
    pub states: Vec<SlotId>,
    pub candidates: Vec<SlotId>,
}

/// Joins sets of a level to those of the level above where they are the integrals of the same candidates.
pub fn add_level(system: &System, plans: &mut Vec<SetPlan>, sets: Vec<RawSet>) {
    let integral = |slot: SlotId| system.derivative_of.iter().find(|(_, d)| **d == slot).map(|(&x, _)| x);
    for set in sets {
        let Some(integrals) = set.columns.iter().map(|&c| integral(c)).collect::<Option<Vec<SlotId>>>() else {
            continue;
        };
        let above = plans
            .iter_mut()
            .find(|plan| plan.levels.last() == Some(&set.columns) && plan.equations.len() == set.equations.len());
        match above {
            Some(plan) => plan.levels.push(integrals),
            None => plans.push(SetPlan {
                equations: set.equations,
                levels: vec![set.columns, integrals],
                wishes: set.wishes,
                entries: set.entries,
            }),
        }
    }
}

pub fn add_state_sets(system: &mut System, plans: Vec<SetPlan>) {
    for plan in plans {
        let number = system.state_sets.len() + 1;
        let span = plan.equations.first().map_or(Span::nowhere(), |&e| system.equations[e].span);
        let set = add_state_set(system, plan, number, span);
        system.state_sets.push(set);
    }
}

fn add_state_set(system: &mut System, plan: SetPlan, number: usize, span: Span) -> StateSet {
    let n_constraints = plan.equations.len();
    let n_states = plan.wishes.len() - n_constraints;
    let which: Vec<SlotId> = (1..=n_states)
        .map(|i| {
            let slot = system.add_slot(format!("choice {i} of set {number}"), SlotKind::Flag, SlotType::Integer);
            system.slots[slot].initial = i as f64;
            slot
        })
        .collect();
    let mut levels: Vec<SetLevel> = Vec::new();
    for (depth, candidates) in plan.levels.iter().enumerate() {
        let kind = if depth == 0 { SlotKind::Derivative } else { SlotKind::State };
        let order = plan.levels.len() - 1 - depth;
        let mut states = Vec::new();
        for (i, &choice) in which.iter().enumerate() {
            let mut name = format!("state {} of set {number}", i + 1);
            (0..order).for_each(|_| name = format!("der({name})"));
            let state = system.add_slot(name, kind, SlotType::Real);
            let right = chosen(system, choice, candidates);
            let left = system.load(state);
            system.equations.push(ScalarEquation {
                left,
                right,
                target: None,
                initially: None,
                is_real: true,
                span,
                linearized: None,
            });
            states.push(state);
        }
        if let Some(above) = levels.last() {
            system.derivative_of.extend(states.iter().copied().zip(above.states.iter().copied()));
        }
        levels.push(SetLevel { states, candidates: candidates.clone() });
    }
    let mut entries = Vec::new();
    let mut coefficients = Vec::new();
    for (row, column, node) in plan.entries {
        let name = format!("coefficient {},{} of set {number}", row + 1, column + 1);
        let slot = system.add_slot(name, SlotKind::Auxiliary, SlotType::Real);
        entries.push((row, column, slot));
        coefficients.push(Assignment { slot, node, span });
    }
    StateSet { levels, which, wishes: plan.wishes, n_constraints, entries, coefficients }
}

/// `if which == 1 then x else if which == 2 then y …`
fn chosen(system: &mut System, which: SlotId, candidates: &[SlotId]) -> NodeId {
    let which = system.load(which);
    let zero = system.dag.constant(0.0);
    let mut node = zero;
    for (k, &candidate) in candidates.iter().enumerate().rev() {
        let number = system.dag.constant((k + 1) as f64);
        let is_chosen = system.dag.binary(BinaryFn::Equal, which, number);
        let value = system.load(candidate);
        node = system.dag.select(is_chosen, value, node);
    }
    node
}

/// Is it an equation that a state set has added? In the initial system there are none of them.
pub fn is_choice(system: &System, equation: &ScalarEquation) -> bool {
    matches!(system.dag.node(equation.left), Node::Load(slot) if is_chosen_state(system, slot))
}

/// Is it a state of a set, or its derivative?
pub fn is_chosen_state(system: &System, slot: SlotId) -> bool {
    system.state_sets.iter().flat_map(|set| &set.levels).any(|level| level.states.contains(&slot))
}

/// Is it a variable that may be a state?
pub fn is_candidate(system: &System, slot: SlotId) -> bool {
    let levels = system.state_sets.iter().flat_map(|set| set.levels.iter().skip(1));
    levels.into_iter().any(|level| level.candidates.contains(&slot))
}
