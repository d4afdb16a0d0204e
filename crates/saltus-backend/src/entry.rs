//! What jumps where a configuration is entered: the limit of one implicit Euler step of length h → 0.
//!
//! ```text
//! J1*der(w1) = -tau;  J2*der(w2) = tau;  w1 = w2
//! ⇒    J1*(w1 - left(w1)) = -impulse(tau);  J2*(w2 - left(w2)) = impulse(tau);  w1 = w2
//! ```
//!
//! In: the differentiated equations of the configuration. Out: steps that compute the jumps and impulses, from the values before.
//!
//! Each constraint, differentiated once less than it had to be, holds after the jump. Each equation that was not differentiated is
//! integrated over the instant: what is finite vanishes, a derivative becomes a jump, an algebraic variable that
//! becomes infinite its impulse. The matrix of this system is that of the highest derivatives. What no constraint reaches through it
//! does not jump: the balance of the rest has no other solution than zero.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Index, Span};
use saltus_flat::FlatModel;
use saltus_graph::Matching;
use saltus_program::{BinaryFn, Constraint, Entry, SlotId, SlotKind, SlotType, Switch, UnaryFn, Verdict};

use crate::alias::Aliases;
use crate::blocks::{Step, sort_into_blocks};
use crate::dag::{Node, NodeId};
use crate::describe::equation_text;
use crate::differentiate::CallRules;
use crate::reduce_index::Reduced;
use crate::sort::extend_by_quality;
use crate::structure::Structure;
use crate::system::{Assignment, ScalarEquation, System, relation_function};
use crate::tuning::tolerance::{IMPULSE_NOISE, LEAST_IMPULSE, LEAST_SIZE};
use crate::tuning::work::MOST_DEFINITIONS;

/// How a configuration is entered.
#[derive(Default)]
pub struct EntryOrder {
    pub steps: Vec<Step>,
    pub entry: Entry,
}

pub fn sort_entry(
    model: &FlatModel,
    system: &mut System,
    aliases: &Aliases,
    reduced: &Reduced,
    switches: &[Switch],
) -> EntryOrder {
    let marked = impulsive(reduced);
    if marked.is_empty() {
        return EntryOrder::default();
    }
    let mut build = Build::new(model, system, &marked);
    let mut equations = Vec::new();
    let before = reduced.reduction.antiderivative_of_equation();
    for &row in marked.values() {
        let equation = match before[row] {
            Some(constraint) => Some(build.system.equations[reduced.rows[constraint]].clone()),
            None => build.balance(reduced.rows[row]),
        };
        equations.extend(equation);
    }
    build.add_impulses(aliases);
    build.add_positions(switches);
    build.add_constraints(reduced, &before);
    build.sort(&equations)
}

/// The highest derivatives that may be infinite where the configuration is entered, each with the equation matched with it.
fn impulsive(reduced: &Reduced) -> BTreeMap<usize, usize> {
    let reduction = &reduced.reduction;
    let before = reduction.antiderivative_of_equation();
    let highest = reduction.highest_equations();
    let mut rows_with: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &row in highest.iter().filter(|&&row| before[row].is_none()) {
        for &variable in &reduction.incidence[row] {
            rows_with.entry(variable).or_default().push(row);
        }
    }
    let mut marked = BTreeMap::new();
    let mut reached: Vec<usize> = highest.into_iter().filter(|&row| before[row].is_some()).collect();
    while let Some(row) = reached.pop() {
        let Some(variable) = reduction.variable_of_equation[row] else { continue };
        if marked.insert(variable, row).is_none() {
            reached.extend(rows_with.get(&variable).into_iter().flatten());
        }
    }
    marked
}

/// The infinite part of an expression, integrated, and the sum of the absolute values of its terms.
#[derive(Clone, Copy)]
struct Integral {
    sum: NodeId,
    size: NodeId,
}

/// Discrete variables that have an equation of their own.
fn discrete_definitions(system: &System) -> impl Iterator<Item = (SlotId, NodeId)> + '_ {
    system.equations.iter().filter(|e| !e.is_real).filter_map(|e| match system.dag.node(e.left) {
        Node::Load(slot) => Some((slot, e.right)),
        _ => None,
    })
}

struct Build<'a> {
    model: &'a FlatModel,
    system: &'a mut System,
    /// The highest derivatives that may be infinite, with their integrals over the instant.
    integrals: BTreeMap<SlotId, NodeId>,
    tops: Vec<SlotId>,
    unknowns: Vec<SlotId>,
    /// Assigned after the unknowns.
    after: Vec<Assignment>,
    entry: Entry,
}

impl<'a> Build<'a> {
    fn new(model: &'a FlatModel, system: &'a mut System, marked: &BTreeMap<usize, usize>) -> Self {
        let tops: Vec<SlotId> = marked.keys().map(|&variable| SlotId::from_usize(variable)).collect();
        let known = system.derivative_of.iter().chain(&system.introduced.given_up);
        let integral_of: BTreeMap<SlotId, SlotId> = known.map(|(&x, &derivative)| (derivative, x)).collect();
        let (mut integrals, mut unknowns, mut entry) = (BTreeMap::new(), Vec::new(), Entry::default());
        for &top in &tops {
            let node = if let Some(&x) = integral_of.get(&top) {
                let name = format!("left({})", system.name(x));
                let left = system.add_slot(name, SlotKind::Auxiliary, SlotType::Real);
                entry.jumps.push((x, left));
                unknowns.push(x);
                let (after, before) = (system.load(x), system.load(left));
                system.dag.sub(after, before)
            } else {
                let name = format!("impulse({})", system.name(top));
                let impulse = system.add_slot(name, SlotKind::Auxiliary, SlotType::Real);
                unknowns.push(impulse);
                system.load(impulse)
            };
            integrals.insert(top, node);
        }
        Build { model, system, integrals, tops, unknowns, after: Vec::new(), entry }
    }

    /// The integral of an equation over the instant.
    fn balance(&mut self, equation: usize) -> Option<ScalarEquation> {
        let ScalarEquation { left, right, span, .. } = self.system.equations[equation].clone();
        let difference = self.system.dag.sub(left, right);
        let right = self.integral(difference, span)?.sum;
        let left = self.system.dag.constant(0.0);
        Some(ScalarEquation { left, right, target: None, initially: None, is_real: true, span, linearized: None })
    }

    /// The infinite part of an expression, integrated. `None` if nothing in it becomes infinite, or if it is not linear there.
    fn integral(&mut self, node: NodeId, span: Span) -> Option<Integral> {
        let mut dag = std::mem::take(&mut self.system.dag);
        let gradient = dag.gradient(node, &self.tops, &mut CallRules { model: self.model, system: self.system });
        self.system.dag = dag;
        let Ok(gradient) = gradient else {
            self.entry.undetermined.get_or_insert(span);
            return None;
        };
        let mut sum = None;
        for (top, coefficient) in self.tops.clone().into_iter().zip(gradient) {
            let Some(coefficient) = coefficient.filter(|&c| !self.system.dag.is_zero(c)) else { continue };
            if self.system.dag.depends_on(coefficient, &|slot| self.integrals.contains_key(&slot)) {
                self.entry.undetermined.get_or_insert(span);
            }
            let integral = *self.integrals.get(&top)?;
            let dag = &mut self.system.dag;
            let term = dag.mul(coefficient, integral);
            let size = dag.unary(UnaryFn::Abs, term);
            let all = sum.map_or(Integral { sum: term, size }, |so_far: Integral| Integral {
                sum: dag.add(so_far.sum, term),
                size: dag.add(so_far.size, size),
            });
            sum = Some(all);
        }
        sum
    }

    /// The impulses of the variables of the model.
    fn add_impulses(&mut self, aliases: &Aliases) {
        let elements: Vec<SlotId> = self.system.elements.values().flatten().copied().collect();
        for element in elements {
            let alias = aliases.resolve(element);
            let Some(&integral) = self.integrals.get(&alias.slot) else { continue };
            let node = if alias.is_negated { self.system.dag.negate(integral) } else { integral };
            let name = format!("impulse of {}", self.system.name(element));
            let slot = self.system.add_slot(name, SlotKind::Auxiliary, SlotType::Real);
            self.after.push(Assignment { slot, node, span: Span::nowhere() });
            self.entry.impulses.push((element, slot));
        }
    }

    /// The positions of the switches where impulses decide relations that they depend on.
    fn add_positions(&mut self, switches: &[Switch]) {
        let (mut decided, infinite) = self.decided_relations();
        let definitions: BTreeMap<SlotId, NodeId> = discrete_definitions(self.system).collect();
        for switch in switches {
            let load = self.system.load(switch.condition);
            let is_decided = self.any_infinite(load, &definitions, &infinite);
            let node = self.written_out(load, &definitions, &mut decided, 0);
            let name = format!("{} by impulses", self.system.name(switch.condition));
            let mut add = |name: String, node: NodeId| {
                let slot = self.system.add_slot(name, SlotKind::Auxiliary, SlotType::Boolean);
                self.after.push(Assignment { slot, node, span: switch.span });
                slot
            };
            let is_decided = add(format!("is {name}"), is_decided);
            self.entry.positions.push(Verdict { position: add(name, node), is_decided });
        }
    }

    /// Is one of the relations that a condition comes from decided by an impulse?
    fn any_infinite(
        &mut self,
        condition: NodeId,
        definitions: &BTreeMap<SlotId, NodeId>,
        infinite: &BTreeMap<SlotId, NodeId>,
    ) -> NodeId {
        let mut reached: BTreeSet<SlotId> = BTreeSet::new();
        let mut rest = self.system.dag.loads(&[condition]);
        while let Some(slot) = rest.pop() {
            if reached.insert(slot)
                && let Some(&definition) = definitions.get(&slot)
            {
                rest.extend(self.system.dag.loads(&[definition]));
            }
        }
        let mut any = self.system.dag.boolean(false);
        for slot in reached {
            if let Some(&is_infinite) = infinite.get(&slot) {
                any = self.system.dag.binary(BinaryFn::Or, any, is_infinite);
            }
        }
        any
    }

    /// Memories of relations that impulses may decide, with what they are then, and with whether an impulse decides.
    fn decided_relations(&mut self) -> (BTreeMap<SlotId, NodeId>, BTreeMap<SlotId, NodeId>) {
        let relations: Vec<_> =
            self.system.events.relations.values().map(|r| (r.op, r.memory, r.crossing, r.span)).collect();
        let nodes: BTreeMap<SlotId, NodeId> = self.system.events.crossings.iter().map(|a| (a.slot, a.node)).collect();
        let (mut decided, mut infinite) = (BTreeMap::new(), BTreeMap::new());
        let noise = self.noise();
        for (op, memory, crossing, span) in relations {
            let Some(&node) = nodes.get(&crossing) else { continue };
            let known = self.entry.undetermined;
            let integral = self.integral(node, span);
            // A relation that cannot be decided by an impulse is decided by what is finite.
            self.entry.undetermined = known;
            let Some(Integral { sum, size }) = integral else { continue };
            let dag = &mut self.system.dag;
            let (zero, part) = (dag.constant(0.0), dag.constant(LEAST_IMPULSE));
            let (distance, least) = (dag.unary(UnaryFn::Abs, sum), dag.mul(part, size));
            let least = dag.add(least, noise);
            let is_infinite = dag.binary(BinaryFn::Greater, distance, least);
            let by_impulse = dag.binary(relation_function(op), sum, zero);
            let as_it_was = self.system.load(memory);
            decided.insert(memory, self.system.dag.select(is_infinite, by_impulse, as_it_was));
            infinite.insert(memory, is_infinite);
        }
        (decided, infinite)
    }

    /// What rounding may leave of an impulse that is zero.
    fn noise(&mut self) -> NodeId {
        let dag = &mut self.system.dag;
        let mut all = dag.constant(0.0);
        for &integral in self.integrals.values() {
            let size = dag.unary(UnaryFn::Abs, integral);
            all = dag.add(all, size);
        }
        let part = dag.constant(IMPULSE_NOISE);
        dag.mul(part, all)
    }

    /// A condition in terms of relations, those decided by impulses replaced.
    fn written_out(
        &mut self,
        node: NodeId,
        definitions: &BTreeMap<SlotId, NodeId>,
        decided: &mut BTreeMap<SlotId, NodeId>,
        depth: usize,
    ) -> NodeId {
        for slot in self.system.dag.loads(&[node]) {
            if decided.contains_key(&slot) || depth == MOST_DEFINITIONS {
                continue;
            }
            let load = self.system.load(slot);
            // Not defined by itself.
            decided.insert(slot, load);
            if let Some(&definition) = definitions.get(&slot) {
                let written = self.written_out(definition, definitions, decided, depth + 1);
                decided.insert(slot, written);
            }
        }
        self.system.dag.substitute(node, &|slot| decided.get(&slot).copied())
    }

    /// Constraints that were differentiated more than once: what they constrain does not jump.
    fn add_constraints(&mut self, reduced: &Reduced, before: &[Option<usize>]) {
        for row in reduced.reduction.highest_equations() {
            let mut level = before[row].and_then(|once| before[once]);
            while let Some(row) = level {
                let ScalarEquation { left, right, span, .. } = self.system.equations[reduced.rows[row]].clone();
                let text = equation_text(self.system, left, right, None);
                let (of_left, of_right) = (self.size_of_terms(left), self.size_of_terms(right));
                let size = self.system.dag.add(of_left, of_right);
                let mut side = |node: NodeId, which: &str| {
                    let name = format!("{which} of {text} at the entry");
                    let slot = self.system.add_slot(name, SlotKind::Auxiliary, SlotType::Real);
                    self.after.push(Assignment { slot, node, span });
                    slot
                };
                let (left, right, size) = (side(left, "left side"), side(right, "right side"), side(size, "size"));
                self.entry.constraints.push(Constraint { left, right, size, text, span });
                level = before[row];
            }
        }
    }

    /// The sum of the absolute values of the terms of an expression.
    fn size_of_terms(&mut self, node: NodeId) -> NodeId {
        match self.system.dag.node(node) {
            Node::Binary(BinaryFn::Add | BinaryFn::Sub, a, b) => {
                let (a, b) = (self.size_of_terms(a), self.size_of_terms(b));
                self.system.dag.add(a, b)
            }
            Node::Unary(UnaryFn::Negate, a) => self.size_of_terms(a),
            _ => {
                let (size, least) = (self.system.dag.unary(UnaryFn::Abs, node), self.system.dag.constant(LEAST_SIZE));
                self.system.dag.add(size, least)
            }
        }
    }

    fn sort(mut self, equations: &[ScalarEquation]) -> EntryOrder {
        let structure = Structure::new(self.system, equations, &self.unknowns);
        let mut matching = Matching::new(equations.len(), self.unknowns.len());
        extend_by_quality(&mut matching, &structure, equations, &|_| true);
        if matching.size() < self.unknowns.len() {
            let span = equations.first().map_or(Span::nowhere(), |e| e.span);
            self.entry.undetermined.get_or_insert(span);
            return EntryOrder { steps: Vec::new(), entry: self.entry };
        }
        let mut diagnostics = Diagnostics::new();
        let mut steps =
            sort_into_blocks(self.system, equations, &self.unknowns, &structure, &matching, &mut diagnostics);
        steps.extend(self.after.into_iter().map(Step::Assign));
        EntryOrder { steps, entry: self.entry }
    }
}
