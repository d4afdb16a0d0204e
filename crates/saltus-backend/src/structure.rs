//! Which unknowns occur in which equations, and how safely each equation could be solved for each of them.
//!
//! `R * i = v` contains `i` with a coefficient of parameters and `v` with the coefficient -1: solving for `v` is safer.
//! A coefficient that is zero in one branch (`0 = if open then i else u`) makes an equation unsolvable for that unknown:
//! the equation stays inside its loop.

use std::collections::HashMap;

use saltus_base::Index;
use saltus_program::{BinaryFn, SlotId, UnaryFn};

use crate::dag::{Node, NodeId};
use crate::system::{ScalarEquation, System};

/// How an unknown occurs in an equation, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Solvability {
    /// Alone, or with a constant coefficient.
    Constant,
    /// With a coefficient made of parameters, or different constants in different branches.
    Parameter,
    /// With a coefficient that changes during the simulation.
    Varying,
    /// Not linear, or the coefficient vanishes in a branch.
    No,
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
        let rows = equations
            .iter()
            .map(|equation| {
                let nodes = system.dag.reachable(&[equation.left, equation.right]);
                let mut row: Vec<(usize, Solvability)> = Vec::new();
                for &node in &nodes {
                    let Node::Load(slot) = system.dag.node(node) else { continue };
                    let k = column[slot.index()];
                    if k == usize::MAX {
                        continue;
                    }
                    let how = match equation.target {
                        Some(target) if target == slot => Solvability::Constant,
                        Some(_) => Solvability::No,
                        None if owned[slot.index()] => Solvability::No,
                        None => occurrence(system, equation, &nodes, &known, slot),
                    };
                    row.push((k, how));
                }
                row.sort_unstable();
                row
            })
            .collect();
        Structure { rows, n_columns: unknowns.len() }
    }

    /// Edges at least as good as `worst`.
    pub fn edges(&self, worst: Solvability) -> Vec<Vec<usize>> {
        self.rows.iter().map(|row| row.iter().filter(|(_, how)| *how <= worst).map(|(k, _)| *k).collect()).collect()
    }

    /// All edges on which an equation may determine an unknown; assignments determine only their target.
    pub fn determining(&self, equations: &[ScalarEquation], is_owned: &[bool]) -> Vec<Vec<usize>> {
        self.rows
            .iter()
            .zip(equations)
            .map(|(row, equation)| {
                let may = |&&(k, how): &&(usize, Solvability)| {
                    if equation.target.is_some() { how == Solvability::Constant } else { !is_owned[k] }
                };
                row.iter().filter(may).map(|(k, _)| *k).collect()
            })
            .collect()
    }

    pub fn how(&self, row: usize, column: usize) -> Solvability {
        let found = self.rows[row].binary_search_by_key(&column, |(k, _)| *k);
        found.map_or(Solvability::No, |at| self.rows[row][at].1)
    }
}

/// What is known about every node, from the values of parameters.
pub fn known_nodes(system: &System) -> Vec<Known> {
    let dag = &system.dag;
    let mut known: Vec<Known> = Vec::with_capacity(dag.len());
    for k in 0..dag.len() {
        let of = |node: NodeId| known[node.index()].value();
        let value = match dag.node(NodeId::from_usize(k)) {
            Node::Const(bits) => {
                known.push(Known::Constant(f64::from_bits(bits)));
                continue;
            }
            Node::Load(slot) => system.parameter_values.get(slot.index()).copied().flatten(),
            Node::Unary(f, x) => of(x).map(|x| f.apply(x)),
            Node::Binary(f, a, b) => of(a).zip(of(b)).map(|(a, b)| f.apply(a, b)),
            Node::Select(c, a, b) => of(c).and_then(|c| if c != 0.0 { of(a) } else { of(b) }),
            Node::Result(..) => None,
        };
        known.push(value.map_or(Known::No, Known::Parameter));
    }
    known
}

/// What a node is as a function of one slot: `None` does not contain it.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Linear with this numeric coefficient.
    Number(f64),
    /// Linear with a coefficient that has this value for the parameters as they are.
    Parameter(f64),
    Varying,
    Other,
}

fn occurrence(
    system: &System,
    equation: &ScalarEquation,
    nodes: &[NodeId],
    known: &[Known],
    slot: SlotId,
) -> Solvability {
    let dag = &system.dag;
    if !equation.is_real {
        let alone = |side: NodeId| match dag.node(side) {
            Node::Load(s) => s == slot,
            Node::Unary(UnaryFn::Not, inner) => dag.node(inner) == Node::Load(slot),
            _ => false,
        };
        let only_once = |other: NodeId| !dag.loads(&[other]).contains(&slot);
        let solvable =
            alone(equation.left) && only_once(equation.right) || alone(equation.right) && only_once(equation.left);
        return if solvable { Solvability::Constant } else { Solvability::No };
    }
    let mut forms: HashMap<NodeId, Form> = HashMap::new();
    for &id in nodes {
        let of = |child: NodeId| forms.get(&child).copied();
        let factor = |child: NodeId| known[child.index()];
        let form = match dag.node(id) {
            Node::Load(s) if s == slot => Some(Form::Number(1.0)),
            Node::Const(_) | Node::Load(_) => None,
            Node::Unary(UnaryFn::Negate, x) => of(x).map(negated),
            Node::Binary(BinaryFn::Add, x, y) => sum(of(x), of(y)),
            Node::Binary(BinaryFn::Sub, x, y) => sum(of(x), of(y).map(negated)),
            Node::Binary(BinaryFn::Mul, x, y) => match (of(x), of(y)) {
                (None, None) => None,
                (Some(f), None) => Some(scaled(f, factor(y))),
                (None, Some(f)) => Some(scaled(f, factor(x))),
                _ => Some(Form::Other),
            },
            Node::Binary(BinaryFn::Div, x, y) => match (of(x), of(y)) {
                (None, None) => None,
                (Some(f), None) => Some(scaled(f, inverse(factor(y)))),
                _ => Some(Form::Other),
            },
            Node::Select(c, x, y) => match (of(c), of(x), of(y)) {
                (None, None, None) => None,
                (None, Some(f), Some(g)) => Some(either(f, g)),
                // Zero in one branch, or in the condition.
                _ => Some(Form::Other),
            },
            _ => dag.children(id).any(|child| of(child).is_some()).then_some(Form::Other),
        };
        if let Some(form) = form {
            forms.insert(id, form);
        }
    }
    let left = forms.get(&equation.left).copied();
    let right = forms.get(&equation.right).copied();
    match sum(left, right.map(negated)) {
        Some(Form::Number(c)) if c != 0.0 => Solvability::Constant,
        Some(Form::Parameter(c)) if c != 0.0 && c.is_finite() => Solvability::Parameter,
        Some(Form::Varying) => Solvability::Varying,
        _ => Solvability::No,
    }
}

fn negated(form: Form) -> Form {
    match form {
        Form::Number(c) => Form::Number(-c),
        Form::Parameter(c) => Form::Parameter(-c),
        other => other,
    }
}

fn sum(a: Option<Form>, b: Option<Form>) -> Option<Form> {
    match (a, b) {
        (None, form) | (form, None) => form,
        (Some(Form::Number(a)), Some(Form::Number(b))) => Some(Form::Number(a + b)),
        (Some(Form::Number(a) | Form::Parameter(a)), Some(Form::Number(b) | Form::Parameter(b))) => {
            Some(Form::Parameter(a + b))
        }
        (Some(Form::Other), _) | (_, Some(Form::Other)) => Some(Form::Other),
        // Two coefficients may cancel.
        _ => Some(Form::Varying),
    }
}

fn scaled(form: Form, by: Known) -> Form {
    match (form, by) {
        (Form::Number(c), Known::Constant(v)) if v.is_finite() => Form::Number(c * v),
        (Form::Number(c) | Form::Parameter(c), Known::Constant(v) | Known::Parameter(v)) => Form::Parameter(c * v),
        (Form::Other, _) => Form::Other,
        _ => Form::Varying,
    }
}

fn inverse(known: Known) -> Known {
    match known {
        Known::Constant(v) => Known::Constant(1.0 / v),
        Known::Parameter(v) => Known::Parameter(1.0 / v),
        Known::No => Known::No,
    }
}

fn either(a: Form, b: Form) -> Form {
    match (a, b) {
        (Form::Other, _) | (_, Form::Other) => Form::Other,
        (Form::Number(0.0) | Form::Parameter(0.0), _) | (_, Form::Number(0.0) | Form::Parameter(0.0)) => Form::Other,
        (Form::Number(a), Form::Number(b)) if a == b => Form::Number(a),
        (Form::Varying, _) | (_, Form::Varying) => Form::Varying,
        (Form::Number(a) | Form::Parameter(a), _) => Form::Parameter(a),
    }
}
