//! Which unknowns occur in which equations, and how safely each equation could be solved for each of them.
//!
//! `R * i = v` contains `i` with a coefficient of parameters and `v` with the coefficient -1: solving for `v` is safer.
//! A coefficient that is zero in one branch (`0 = if open then i else u`) makes an equation unsolvable for that unknown:
//! the equation stays inside its loop.

use saltus_base::Index;
use saltus_program::{BinaryFn, SlotId, SlotType};

use crate::dag::{Node, NodeId};
use crate::occurrence::Occurrences;
use crate::system::{ScalarEquation, System};

/// How an unknown occurs in an equation, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Solvability {
    /// Alone, or with a constant coefficient.
    Constant,
    /// With a coefficient made of parameters, of the same magnitude in all branches.
    Parameter,
    /// With a coefficient that changes during the simulation, be it by a switch.
    Varying,
    /// Not linear, or the coefficient vanishes in a branch.
    No,
    /// With the coefficient 0, as z in `z + y = z + x`, or an Integer in a Real equation: the equation reads it and can never determine it.
    Cancels,
}

pub struct Structure {
    /// For each equation its unknowns (as columns) with how they occur, in order of columns.
    pub rows: Vec<Vec<(usize, Solvability)>>,
    pub n_columns: usize,
}

/// What is known about a node before the simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Known {
    Constant(f64),
    /// Made of parameters, with the value they have now.
    Parameter(f64),
    /// Varies, or is not known yet.
    No,
}

impl Known {
    pub fn value(self) -> Option<f64> {
        match self {
            Known::Constant(v) | Known::Parameter(v) => Some(v),
            Known::No => None,
        }
    }
}

impl Structure {
    pub fn new(system: &System, equations: &[ScalarEquation], unknowns: &[SlotId]) -> Structure {
        let mut column = vec![usize::MAX; system.slots.len()];
        for (k, slot) in unknowns.iter().enumerate() {
            column[slot.index()] = k;
        }
        let mut owned = vec![false; system.slots.len()];
        for target in equations.iter().filter_map(|e| e.target) {
            owned[target.index()] = true;
        }
        let known = known_nodes(system);
        let mut occurrences = Occurrences::new(&system.dag, &known, &column, unknowns.len());
        let mut nodes = Vec::new();
        let is_unknown = |slot: &SlotId| column[slot.index()] != usize::MAX;
        let has_objects =
            system.calls.callables.values().flat_map(|c| &c.arguments).any(|a| a.objects().iter().any(is_unknown));
        let rows = equations
            .iter()
            .map(|equation| {
                nodes.clear();
                system.dag.reach(&[equation.left, equation.right], &mut nodes);
                let mut row = match equation.target {
                    Some(target) => assigned_row(system, &nodes, &column, target),
                    None => {
                        let mut row = occurrences.of(equation, &nodes);
                        if equation.is_real {
                            keep_integers(system, unknowns, &mut row);
                        }
                        let is_owned = |k: usize| owned[unknowns[k].index()];
                        row.iter_mut().filter(|(k, _)| is_owned(*k)).for_each(|e| e.1 = e.1.max(Solvability::No));
                        row
                    }
                };
                if has_objects {
                    add_objects(system, &nodes, &column, &mut row);
                }
                row
            })
            .collect();
        Structure { rows, n_columns: unknowns.len() }
    }

    /// Edges at least as good as `worst`.
    pub fn edges(&self, worst: Solvability) -> Vec<Vec<usize>> {
        self.rows.iter().map(|row| row.iter().filter(|(_, how)| *how <= worst).map(|(k, _)| *k).collect()).collect()
    }

    /// The unknowns that an equation may determine, at least as well as `worst`; an assignment determines only its target.
    pub fn determining<'s>(
        &'s self,
        row: usize,
        equation: &'s ScalarEquation,
        is_owned: &'s [bool],
        worst: Solvability,
    ) -> impl Iterator<Item = usize> + 's {
        let may = move |&&(k, how): &&(usize, Solvability)| {
            how <= worst && if equation.target.is_some() { how == Solvability::Constant } else { !is_owned[k] }
        };
        self.rows[row].iter().filter(may).map(|&(k, _)| k)
    }

    pub fn how(&self, row: usize, column: usize) -> Solvability {
        let found = self.rows[row].binary_search_by_key(&column, |(k, _)| *k);
        found.map_or(Solvability::No, |at| self.rows[row][at].1)
    }
}

/// A Real equation reads Integers, Booleans and enumerations, and determines none of them: its solution need not be a whole number (specification
/// 8.4, perfect matching rule).
fn keep_integers(system: &System, unknowns: &[SlotId], row: &mut [(usize, Solvability)]) {
    let is_discrete = |k: usize| system.slots[unknowns[k]].ty != SlotType::Real;
    row.iter_mut().filter(|(k, _)| is_discrete(*k)).for_each(|e| e.1 = Solvability::Cancels);
}

/// A call needs the external objects that it is given, though their handles are not among its scalars.
fn add_objects(system: &System, nodes: &[NodeId], column: &[usize], row: &mut Vec<(usize, Solvability)>) {
    for &node in nodes {
        let Node::Result(call, _) = system.dag.node(node) else { continue };
        let callable = system.calls.callables.get(system.dag.called(call).function);
        for slot in callable.map_or(&[][..], |c| &c.arguments).iter().flat_map(|a| a.objects()) {
            let k = column[slot.index()];
            if k != usize::MAX && row.iter().all(|&(other, _)| other != k) {
                row.push((k, Solvability::No));
            }
        }
    }
    row.sort_unstable();
}

/// An assignment determines its target and nothing else.
fn assigned_row(system: &System, nodes: &[NodeId], column: &[usize], target: SlotId) -> Vec<(usize, Solvability)> {
    let mut row = Vec::new();
    for &node in nodes {
        let Node::Load(slot) = system.dag.node(node) else { continue };
        let k = column[slot.index()];
        if k != usize::MAX {
            row.push((k, if slot == target { Solvability::Constant } else { Solvability::No }));
        }
    }
    row.sort_unstable();
    row
}

/// What is known about every node, from the values of parameters.
pub fn known_nodes(system: &System) -> Vec<Known> {
    let mut known = Vec::with_capacity(system.dag.len());
    extend_known(system, &mut known);
    known
}

/// The same with these values of slots.
pub fn known_with(system: &System, value: &dyn Fn(SlotId) -> Option<f64>) -> Vec<Known> {
    let mut known = Vec::with_capacity(system.dag.len());
    extend_known_with(system, value, &mut known);
    known
}

/// Looks at the nodes that have been made since `known` was complete.
pub fn extend_known(system: &System, known: &mut Vec<Known>) {
    extend_known_with(system, &|slot| system.parameters.values.get(slot.index()).copied().flatten(), known);
}

fn extend_known_with(system: &System, value: &dyn Fn(SlotId) -> Option<f64>, known: &mut Vec<Known>) {
    let dag = &system.dag;
    for k in known.len()..dag.len() {
        let of = |node: NodeId| known[node.index()].value();
        let found = match dag.node(NodeId::from_usize(k)) {
            Node::Const(bits) => {
                known.push(Known::Constant(f64::from_bits(bits)));
                continue;
            }
            Node::Load(slot) => value(slot),
            Node::Unary(f, x) => of(x).map(|x| f.apply(x)),
            Node::Binary(f, a, b) => match (f, of(a), of(b)) {
                (BinaryFn::And, Some(0.0), _) | (BinaryFn::And, _, Some(0.0)) => Some(0.0),
                (BinaryFn::Or, Some(x), _) | (BinaryFn::Or, _, Some(x)) if x != 0.0 => Some(1.0),
                (_, Some(a), Some(b)) => Some(f.apply(a, b)),
                _ => None,
            },
            Node::Select(c, a, b) => of(c).and_then(|c| if c != 0.0 { of(a) } else { of(b) }),
            Node::Result(..) => None,
        };
        known.push(found.map_or(Known::No, Known::Parameter));
    }
}
