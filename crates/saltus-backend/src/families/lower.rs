//! Lower families when all other equations are sorted: one expression for all elements.
//!
//! In: a planned family. Out: its [`FamilyStep`], in which slots of their own stand for elements that depend on the iterators; aliases are
//! replaced by what they stand for. The expression is made by the same passes as that of a scalar equation, so that each element is computed by
//! the same operations.

use saltus_base::{Diagnostics, Index};
use saltus_flat::{FlatModel, Variability, Variable};
use saltus_program::{BinaryFn, SlotId, SlotKind, SlotType};

use super::plan::{Planned, local_of};
use super::{Families, FamilyStep, Place, is_plain, sizes};
use crate::alias::Aliases;
use crate::dag::{Node, NodeId};
use crate::initial::Decision;
use crate::lower::Lowering;
use crate::lower::value::Value;
use crate::parameters::{fixed_elements, start_span};
use crate::solve::{Solution, decompose, solve_for};
use crate::structure::known_nodes;
use crate::system::{Assignment, ScalarEquation, System};

/// What a family becomes at the start of a simulation and after.
pub struct Lowered {
    /// While the simulation runs.
    pub steps: Vec<FamilyStep>,
    /// Start values of states.
    pub starts: Vec<FamilyStep>,
    /// Start values that differ from element to element.
    pub scalar_starts: Vec<Assignment>,
    /// Conditions that were missing.
    pub decisions: Vec<Decision>,
}

impl Families {
    /// `None` if a family cannot be solved for what it shall determine.
    pub fn lower(&self, model: &FlatModel, system: &mut System, aliases: &Aliases) -> Option<Lowered> {
        let mut lowered =
            Lowered { steps: Vec::new(), starts: Vec::new(), scalar_starts: Vec::new(), decisions: Vec::new() };
        for k in 0..self.planned.len() {
            lowered.steps.push(self.step(model, system, aliases, k)?);
            if self.planned[k].target().is_derivative {
                self.start(model, system, aliases, k, &mut lowered)?;
            }
        }
        Some(lowered)
    }

    fn step(&self, model: &FlatModel, system: &mut System, aliases: &Aliases, k: usize) -> Option<FamilyStep> {
        let family = &self.planned[k];
        let mut places = Vec::with_capacity(family.accesses.len());
        for access in &family.accesses {
            let place = self.place(model, system, k, access)?;
            let kind = match system.slots[place.first].kind {
                SlotKind::Parameter => SlotKind::Parameter,
                _ => SlotKind::Auxiliary,
            };
            let name = format!("{} of a family", system.name(place.first));
            places.push((system.add_slot(name, kind, SlotType::Real), place));
        }
        let (left, right) = sides(model, system, family, &places)?;
        let target = places[0].0;
        let equation = ScalarEquation {
            left,
            right,
            target: None,
            initially: None,
            is_real: true,
            span: family.span,
            linearized: None,
        };
        if !is_solvable(system, &equation, target) {
            return None;
        }
        let (Solution::Safe(node) | Solution::Risky(node)) = solve_for(system, &equation, target) else { return None };
        let node = resolved(system, aliases, node);
        if !is_plain(&system.dag, node) || folds(model, system, family, node, &places) {
            return None;
        }
        let target = places.swap_remove(0).1;
        Some(FamilyStep { sizes: sizes(&family.counters), target, node, places, span: family.span })
    }

    /// The start values of the states of a family.
    fn start(
        &self,
        model: &FlatModel,
        system: &mut System,
        aliases: &Aliases,
        k: usize,
        lowered: &mut Lowered,
    ) -> Option<()> {
        let family = &self.planned[k];
        let id = family.target().variable;
        let variable = &model.variables[id];
        let own = super::elements(model, family.target(), &family.counters);
        let all = system.elements[id].clone();
        let mut diagnostics = Diagnostics::new();
        let mut lowering = Lowering::new(model, system, &mut diagnostics);
        let fixed = fixed_elements(&mut lowering, variable, all.len(), false).ok()?;
        let is_fixed = fixed[own[0]];
        if own.iter().any(|&element| fixed[element] != is_fixed) {
            return None;
        }
        let nodes = start_nodes(&mut lowering, variable, all.len())?;
        let nodes: Vec<NodeId> = nodes.into_iter().map(|node| resolved(system, aliases, node)).collect();
        let span = start_span(variable);
        let value_of = |element: usize| if nodes.len() == 1 { nodes[0] } else { nodes[element] };
        for &element in &own {
            if let Some(constant) = system.dag.value(value_of(element)) {
                system.slots[all[element]].initial = constant;
            }
        }
        if !is_fixed {
            let taken = own.iter().map(|&element| {
                let is_given = variable.attributes.start.is_some();
                Decision::Taken { slot: all[element], value: value_of(element), is_given, span }
            });
            lowered.decisions.extend(taken);
        }
        match nodes[..] {
            [node] => {
                let dims = super::dims(model, id);
                let (first, strides) = family.target().positions(&dims, &family.counters);
                let target = Place { first: all[first], strides };
                let sizes = sizes(&family.counters);
                lowered.starts.push(FamilyStep { sizes, target, node, places: Vec::new(), span });
            }
            _ => {
                let one = |&element: &usize| Assignment { slot: all[element], node: nodes[element], span };
                lowered.scalar_starts.extend(own.iter().map(one));
            }
        }
        Some(())
    }
}

/// The start value of all elements, or one for each.
fn start_nodes<'a>(lowering: &mut Lowering<'a, '_>, variable: &'a Variable, n: usize) -> Option<Vec<NodeId>> {
    let Some(start) = &variable.attributes.start else { return Some(vec![lowering.system.dag.constant(0.0)]) };
    let nodes = lowering.literally(|l| l.scalars(start)).ok()?;
    if nodes.len() != 1 && nodes.len() != n {
        return None;
    }
    let is_uniform = nodes.iter().all(|node| *node == nodes[0]);
    let nodes = if is_uniform { nodes[..1].to_vec() } else { nodes };
    nodes.iter().all(|&node| is_plain(&lowering.system.dag, node)).then_some(nodes)
}

fn sides(
    model: &FlatModel,
    system: &mut System,
    family: &Planned,
    places: &[(SlotId, Place)],
) -> Option<(NodeId, NodeId)> {
    let n_slots = system.slots.len();
    let mut diagnostics = Diagnostics::new();
    let mut lowering = Lowering::new(model, system, &mut diagnostics);
    for (k, (slot, _)) in places.iter().enumerate() {
        let node = lowering.system.load(*slot);
        lowering.state.set_local(local_of(model, k).index(), Some(Value::Number(node)));
    }
    let sides = (lowering.scalar(&family.left).ok()?, lowering.scalar(&family.right).ok()?);
    // Arithmetic needs nothing of its own.
    (diagnostics.is_empty() && system.slots.len() == n_slots).then_some(sides)
}

/// Is the coefficient of the target certainly not zero, for all elements?
fn is_solvable(system: &mut System, equation: &ScalarEquation, target: SlotId) -> bool {
    let is_alone = |side: NodeId| system.dag.node(side) == Node::Load(target);
    if is_alone(equation.left) || is_alone(equation.right) {
        return true;
    }
    let residual = system.dag.binary(BinaryFn::Sub, equation.left, equation.right);
    let Some((coefficient, _)) = decompose(&mut system.dag, residual, target) else { return false };
    known_nodes(system)[coefficient.index()].value().is_some_and(|value| value != 0.0 && value.is_finite())
}

/// Would known values of some elements simplify what is computed, beyond sums? Then scalars are computed by other operations.
fn folds(model: &FlatModel, system: &mut System, family: &Planned, node: NodeId, places: &[(SlotId, Place)]) -> bool {
    let is_constant = |variable: &Variable| variable.is_structural || variable.variability == Variability::Constant;
    // Nobody reads a derivative of a family.
    let is_known = system.dag.value(node).is_some() && !family.target().is_derivative;
    if is_known || family.accesses.iter().any(|a| is_constant(&model.variables[a.variable])) {
        return true;
    }
    let sizes = sizes(&family.counters);
    let n_before = n_operations(system, node);
    for load in system.dag.loads(&[node]) {
        let place = places.iter().find(|(own, _)| *own == load).map(|(_, place)| place);
        let slots = place.map_or_else(|| vec![load], |place| place.slots(&sizes).collect());
        let mut known: Vec<u64> = slots.into_iter().filter_map(|slot| known_value(system, slot)).collect();
        known.sort_unstable();
        known.dedup();
        for bits in known {
            let value = system.dag.constant(f64::from_bits(bits));
            let with_it = system.dag.substitute(node, &|slot| (slot == load).then_some(value));
            if n_operations(system, with_it) != n_before || has_vanishing_quotient(system, with_it) {
                return true;
            }
        }
    }
    false
}

/// Bits of a value that scalars are simplified with: zeros of parameters, and variables that turned out to be constant.
fn known_value(system: &System, slot: SlotId) -> Option<u64> {
    if system.slots[slot].kind != SlotKind::Parameter {
        return None;
    }
    let value = match system.parameters.values.get(slot.index()).copied().flatten() {
        Some(value) => Some(value).filter(|value| *value == 0.0),
        // No parameter of the model: an equation said so.
        None => Some(system.slots[slot].initial),
    };
    value.map(f64::to_bits)
}

/// Is zero divided by something in it?
fn has_vanishing_quotient(system: &System, node: NodeId) -> bool {
    let is_zero = |node: NodeId| system.dag.value(node) == Some(0.0);
    let nodes = system.dag.reachable(&[node]);
    nodes.into_iter().any(|node| matches!(system.dag.node(node), Node::Binary(BinaryFn::Div, a, _) if is_zero(a)))
}

/// Operations but sums and differences.
fn n_operations(system: &System, node: NodeId) -> usize {
    let is_sum = |node: NodeId| {
        matches!(
            system.dag.node(node),
            Node::Const(_) | Node::Load(_) | Node::Binary(BinaryFn::Add | BinaryFn::Sub, ..)
        )
    };
    system.dag.reachable(&[node]).into_iter().filter(|&node| !is_sum(node)).count()
}

/// The node with aliases replaced.
fn resolved(system: &mut System, aliases: &Aliases, node: NodeId) -> NodeId {
    let loads = system.dag.loads(&[node]);
    let mut values = std::collections::BTreeMap::new();
    for slot in loads {
        let alias = aliases.resolve(slot);
        if alias.slot != slot {
            let value = system.load(alias.slot);
            let value = if alias.is_negated { system.dag.negate(value) } else { value };
            values.insert(slot, value);
        }
    }
    if values.is_empty() { node } else { system.dag.substitute(node, &|slot| values.get(&slot).copied()) }
}
