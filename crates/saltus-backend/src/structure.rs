//! Which unknowns occur in which equations, and how safely each equation could be solved for each of them.
//!
//! `R * i = v` contains `i` with a coefficient of parameters and `v` with the coefficient -1: solving for `v` is safer.
//! A coefficient that is zero in one branch (`0 = if open then i else u`) makes an equation unsolvable for that unknown:
//! the equation stays inside its loop.

use std::collections::HashMap;

use saltus_base::Index;
use saltus_program::{BinaryFn, SlotId, SlotKind, UnaryFn};

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

/// How much a node varies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Constant,
    Parameter,
    Varying,
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
        let levels = levels(system);
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
                        None => occurrence(system, equation, &nodes, &levels, slot),
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

fn levels(system: &System) -> Vec<Level> {
    let n = system.dag.len();
    let mut levels = vec![Level::Constant; n];
    for k in 0..n {
        let id = NodeId::from_usize(k);
        levels[k] = match system.dag.node(id) {
            Node::Const(_) => Level::Constant,
            Node::Load(slot) if system.slots[slot].kind == SlotKind::Parameter => Level::Parameter,
            Node::Load(_) => Level::Varying,
            _ => system.dag.children(id).map(|c| levels[c.index()]).max().unwrap_or(Level::Constant),
        };
    }
    levels
}

/// What a node is as a function of one slot: `None` does not contain it.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Linear with this numeric coefficient.
    Number(f64),
    /// Linear with a coefficient that is not zero for ordinary parameters.
    Parameter,
    Varying,
    Other,
}

fn occurrence(
    system: &System,
    equation: &ScalarEquation,
    nodes: &[NodeId],
    levels: &[Level],
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
        let level = |child: NodeId| levels[child.index()];
        let form = match dag.node(id) {
            Node::Load(s) if s == slot => Some(Form::Number(1.0)),
            Node::Const(_) | Node::Load(_) => None,
            Node::Unary(UnaryFn::Negate, x) => of(x).map(negated),
            Node::Binary(BinaryFn::Add, x, y) => sum(of(x), of(y)),
            Node::Binary(BinaryFn::Sub, x, y) => sum(of(x), of(y).map(negated)),
            Node::Binary(BinaryFn::Mul, x, y) => match (of(x), of(y)) {
                (None, None) => None,
                (Some(f), None) => Some(scaled(f, level(y), dag.value(y))),
                (None, Some(f)) => Some(scaled(f, level(x), dag.value(x))),
                _ => Some(Form::Other),
            },
            Node::Binary(BinaryFn::Div, x, y) => match (of(x), of(y)) {
                (None, None) => None,
                (Some(f), None) => Some(scaled(f, level(y), dag.value(y).map(|v| 1.0 / v))),
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
        Some(Form::Parameter) => Solvability::Parameter,
        Some(Form::Varying) => Solvability::Varying,
        _ => Solvability::No,
    }
}

fn negated(form: Form) -> Form {
    match form {
        Form::Number(c) => Form::Number(-c),
        other => other,
    }
}

fn sum(a: Option<Form>, b: Option<Form>) -> Option<Form> {
    match (a, b) {
        (None, form) | (form, None) => form,
        (Some(Form::Number(a)), Some(Form::Number(b))) => Some(Form::Number(a + b)),
        (Some(Form::Other), _) | (_, Some(Form::Other)) => Some(Form::Other),
        // Two coefficients may cancel.
        _ => Some(Form::Varying),
    }
}

fn scaled(form: Form, by: Level, value: Option<f64>) -> Form {
    match (form, by, value) {
        (Form::Number(c), _, Some(v)) if v.is_finite() => Form::Number(c * v),
        (Form::Other, ..) => Form::Other,
        (Form::Varying, ..) | (_, Level::Varying, _) => Form::Varying,
        _ => Form::Parameter,
    }
}

fn either(a: Form, b: Form) -> Form {
    match (a, b) {
        (Form::Other, _) | (_, Form::Other) => Form::Other,
        (Form::Number(0.0), _) | (_, Form::Number(0.0)) => Form::Other,
        (Form::Number(a), Form::Number(b)) if a == b => Form::Number(a),
        (Form::Varying, _) | (_, Form::Varying) => Form::Varying,
        _ => Form::Parameter,
    }
}
