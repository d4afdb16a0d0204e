//! Lower families: the pieces when all other equations are sorted, one expression for all elements, and before that the elements that stay
//! scalar equations.
//!
//! In: a plan. Out: a [`FamilyStep`] for each unknown of a piece, in which slots of their own stand for elements that depend on the iterators; aliases
//! are replaced by what they stand for. The equations of a piece are lowered, matched, torn and solved by the passes for scalars, so that each
//! element is computed by the same operations.

use std::collections::BTreeMap;

use saltus_base::{Diagnostics, Index};
use saltus_flat::{FlatModel, Variability, Variable};
use saltus_graph::Matching;
use saltus_program::{BinaryFn, SlotId, SlotKind, SlotType, UnaryFn};

use super::piece::{Element, Located, Piece, PieceEquation};
use super::read::{Family, local_of};
use super::{Families, FamilyStep, Place, is_plain};
use crate::alias::Aliases;
use crate::blocks::{LoopSolution, Step, sort_into_blocks};
use crate::dag::{Node, NodeId};
use crate::initial::Decision;
use crate::lower::Lowering;
use crate::lower::value::Value;
use crate::parameters::{fixed_elements, start_span};
use crate::small_loops::solve_small_loops;
use crate::sort::extend_by_quality;
use crate::structure::Structure;
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
    /// Lowers the elements that are scalar equations, and says which elements equal each other; the latter are equations of the system at once.
    pub fn lower_left(model: &FlatModel, system: &mut System) {
        let mut families = std::mem::take(&mut system.families);
        for &(kept, gone) in &families.plan.equal {
            let sides = (families.load(system, kept), families.load(system, gone));
            if let (Some(left), Some(right)) = sides {
                let span = model.variables[gone.variable].span;
                system.equations.push(equation(left, right, span));
            }
        }
        let mut left = BTreeMap::new();
        for (&source, (k, elements)) in &families.plan.left {
            let family = &families.plan.families[*k];
            let mut lowered = Vec::with_capacity(elements.len());
            for element in elements {
                let nodes: Option<Vec<NodeId>> =
                    element.operands.iter().map(|&operand| families.load(system, operand)).collect();
                let sides = nodes.and_then(|nodes| sides(model, system, family, &nodes));
                lowered.extend(sides.map(|(left, right)| equation(left, right, family.span)));
            }
            left.insert(source, lowered);
        }
        families.left = left;
        system.families = families;
    }

    fn load(&self, system: &mut System, element: Element) -> Option<NodeId> {
        let Element { variable, is_derivative, position, is_negated } = element;
        let slot = match self.slot(system, variable, is_derivative, position) {
            Some(slot) => slot,
            None => {
                let state = *system.elements[variable].get(position)?;
                system.derivative(state)
            }
        };
        let node = system.load(slot);
        Some(if is_negated { system.dag.negate(node) } else { node })
    }

    /// `None` if a family cannot be solved for what it shall determine.
    pub fn lower(&self, model: &FlatModel, system: &mut System, aliases: &Aliases) -> Option<Lowered> {
        let mut lowered =
            Lowered { steps: Vec::new(), starts: Vec::new(), scalar_starts: Vec::new(), decisions: Vec::new() };
        for piece in &self.plan.pieces {
            lowered.steps.extend(self.steps(model, system, aliases, piece)?);
            for target in piece.targets.iter().filter(|target| target.is_derivative) {
                self.start(model, system, aliases, piece, target, &mut lowered)?;
            }
        }
        Some(lowered)
    }

    fn steps(
        &self,
        model: &FlatModel,
        system: &mut System,
        aliases: &Aliases,
        piece: &Piece,
    ) -> Option<Vec<FamilyStep>> {
        let mut places: Vec<(SlotId, Place)> = Vec::new();
        let mut of: BTreeMap<&Located, SlotId> = BTreeMap::new();
        // Unknowns in the order of their slots, as of scalars.
        let mut targets: Vec<(&Located, Place)> = Vec::new();
        for target in &piece.targets {
            targets.push((target, self.place(system, target, &piece.sizes)?));
        }
        targets.sort_by_key(|(_, place)| place.first);
        let mut unknowns = Vec::with_capacity(targets.len());
        for (target, place) in targets {
            let name = format!("{} of a family", system.name(place.first));
            let slot = system.add_slot(name, SlotKind::Algebraic, SlotType::Real);
            unknowns.push(slot);
            of.insert(target, slot);
            places.push((slot, place));
        }
        let operands = piece.equations.iter().flat_map(|e| &e.operands);
        for operand in operands {
            if of.contains_key(&operand.of) {
                continue;
            }
            let place = self.place(system, &operand.of, &piece.sizes)?;
            let slot = self.operand_slot(system, &place, &piece.sizes);
            of.insert(&operand.of, slot);
            places.push((slot, place));
        }
        let mut equations = Vec::with_capacity(piece.equations.len());
        for PieceEquation { family, operands } in &piece.equations {
            let mut nodes = Vec::with_capacity(operands.len());
            for operand in operands {
                let node = system.load(*of.get(&operand.of)?);
                nodes.push(if operand.is_negated { system.dag.negate(node) } else { node });
            }
            let (left, right) = match family {
                Some(k) => sides(model, system, &self.plan.families[*k], &nodes)?,
                None => (*nodes.first()?, *nodes.get(1)?),
            };
            equations.push(equation(left, right, piece.span));
        }
        let solved = solve(system, &equations, &unknowns);
        // They are no variables of the model.
        unknowns.iter().for_each(|&slot| system.slots[slot].kind = SlotKind::Auxiliary);
        let mut steps = Vec::new();
        for Assignment { slot, node, span } in solved? {
            let node = resolved(system, aliases, node);
            let target = places.iter().find(|(own, _)| *own == slot)?.1.clone();
            if !is_plain(&system.dag, node)
                || may_divide_by_zero(system, node, &places, &piece.sizes)
                || folds(model, system, piece, node, &places)
            {
                return None;
            }
            let loads = system.dag.loads(&[node]);
            let places = places.iter().filter(|(own, _)| loads.contains(own)).cloned().collect();
            steps.push(FamilyStep { sizes: piece.sizes.clone(), target, node, places, span });
        }
        Some(steps)
    }

    /// A slot that stands for elements, with their value if they are parameters with the same one.
    fn operand_slot(&self, system: &mut System, place: &Place, sizes: &[u32]) -> SlotId {
        let is_parameter = system.slots[place.first].kind == SlotKind::Parameter;
        let kind = if is_parameter { SlotKind::Parameter } else { SlotKind::Auxiliary };
        let name = format!("{} of a family", system.name(place.first));
        let slot = system.add_slot(name, kind, SlotType::Real);
        let value_of = |slot: SlotId| system.parameters.values.get(slot.index()).copied().flatten();
        let value = value_of(place.first);
        let is_same = |other: SlotId| value_of(other).map(f64::to_bits) == value.map(f64::to_bits);
        if is_parameter && value.is_some() && place.slots(sizes).all(is_same) {
            system.parameters.values.resize(slot.index() + 1, None);
            system.parameters.values[slot.index()] = value;
        }
        slot
    }

    /// The start values of the states of a family.
    fn start(
        &self,
        model: &FlatModel,
        system: &mut System,
        aliases: &Aliases,
        piece: &Piece,
        target: &Located,
        lowered: &mut Lowered,
    ) -> Option<()> {
        let id = target.variable;
        let variable = &model.variables[id];
        let own: Vec<usize> = target.elements(&piece.sizes).collect();
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
                let target = Place { first: all[target.first], strides: target.strides.clone() };
                let sizes = piece.sizes.clone();
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

fn equation(left: NodeId, right: NodeId, span: saltus_base::Span) -> ScalarEquation {
    ScalarEquation { left, right, target: None, initially: None, is_real: true, span, linearized: None }
}

/// Both sides of the equation of one element, with these operands.
fn sides(model: &FlatModel, system: &mut System, family: &Family, operands: &[NodeId]) -> Option<(NodeId, NodeId)> {
    let n_slots = system.slots.len();
    let mut diagnostics = Diagnostics::new();
    let mut lowering = Lowering::new(model, system, &mut diagnostics);
    for (k, &node) in operands.iter().enumerate() {
        lowering.state.set_local(local_of(model, k).index(), Some(Value::Number(node)));
    }
    let sides = (lowering.scalar(&family.left).ok()?, lowering.scalar(&family.right).ok()?);
    // Arithmetic needs nothing of its own.
    (diagnostics.is_empty() && system.slots.len() == n_slots).then_some(sides)
}

/// The unknowns in order of computation, by the passes for scalars; `None` if something must be iterated.
fn solve(system: &mut System, equations: &[ScalarEquation], unknowns: &[SlotId]) -> Option<Vec<Assignment>> {
    let structure = Structure::new(system, equations, unknowns);
    let mut matching = Matching::new(equations.len(), unknowns.len());
    extend_by_quality(&mut matching, &structure, equations, &|_| true);
    if matching.size() < equations.len() {
        return None;
    }
    let mut diagnostics = Diagnostics::new();
    let mut steps = sort_into_blocks(system, equations, unknowns, &structure, &matching, &mut diagnostics);
    solve_small_loops(system, &mut steps);
    let mut solved = Vec::with_capacity(unknowns.len());
    for step in steps {
        match step {
            Step::Assign(assignment) => solved.push(assignment),
            Step::Loop(l) => {
                let LoopSolution { values, refined } = l.solution?;
                solved.extend(if refined.is_empty() { values } else { refined });
                solved.extend(l.inner);
            }
            Step::Family(_) => return None,
        }
    }
    (diagnostics.is_empty() && solved.len() == unknowns.len()).then_some(solved)
}

/// Would known values of some elements simplify what is computed, beyond sums? Then scalars are computed by other operations.
fn folds(model: &FlatModel, system: &mut System, piece: &Piece, node: NodeId, places: &[(SlotId, Place)]) -> bool {
    let is_constant = |variable: &Variable| variable.is_structural || variable.variability == Variability::Constant;
    // Nobody reads a derivative of a family.
    let is_known = system.dag.value(node).is_some() && !piece.targets[0].is_derivative;
    let mut operands = piece.equations.iter().flat_map(|e| &e.operands);
    if is_known || operands.any(|operand| is_constant(&model.variables[operand.of.variable])) {
        return true;
    }
    let sizes = &piece.sizes;
    let n_before = n_operations(system, node);
    for load in system.dag.loads(&[node]) {
        let place = places.iter().find(|(own, _)| *own == load).map(|(_, place)| place);
        let slots = place.map_or_else(|| vec![load], |place| place.slots(sizes).collect());
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

/// Is something divided by array parameters, of which one may be zero for some element?
fn may_divide_by_zero(system: &System, node: NodeId, places: &[(SlotId, Place)], sizes: &[u32]) -> bool {
    let value_of = |slot: SlotId| system.parameters.values.get(slot.index()).copied().flatten();
    // Of parameters that all have the same value it was looked at before.
    let differs = |slot: SlotId| {
        let place = places.iter().find(|(own, _)| *own == slot && value_of(slot).is_none());
        place.filter(|_| system.slots[slot].kind == SlotKind::Parameter).map(|(_, place)| place)
    };
    let is_other_than_zero = |slot: SlotId| value_of(slot).is_some_and(|value| value != 0.0 && value.is_finite());
    let divisor = |id: NodeId| match system.dag.node(id) {
        Node::Binary(BinaryFn::Div, _, divisor) => Some(divisor),
        _ => None,
    };
    let may_vanish = |divisor: NodeId| {
        let mut open = vec![divisor];
        while let Some(id) = open.pop() {
            match system.dag.node(id) {
                Node::Unary(UnaryFn::Negate, a) => open.push(a),
                Node::Binary(BinaryFn::Mul | BinaryFn::Div, a, b) => open.extend([a, b]),
                Node::Load(slot) if differs(slot).is_some_and(|place| !place.slots(sizes).all(is_other_than_zero)) => {
                    return true;
                }
                Node::Load(_) => {}
                _ if system.dag.loads(&[id]).into_iter().any(|slot| differs(slot).is_some()) => return true,
                _ => {}
            }
        }
        false
    };
    system.dag.reachable(&[node]).into_iter().filter_map(divisor).any(may_vanish)
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
