//! How the unknowns of one equation occur in it: linear with which coefficient, or otherwise.
//!
//! ```text
//! R * i = v - sin(w)     ⇒     i: a parameter, v: -1, w: not linear
//! ```
//!
//! Coefficients travel from the equation down to its unknowns, so that a sum of n terms costs n. The branches of an `if`
//! and products of two unknowns must be looked at from below: these come first, inner ones before outer ones.

use std::collections::{BinaryHeap, HashMap};

use saltus_base::Index;
use saltus_program::{BinaryFn, UnaryFn};

use crate::dag::{Dag, Node, NodeId};
use crate::structure::{Known, Solvability};
use crate::system::ScalarEquation;

/// The coefficient of an unknown.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Number(f64),
    /// Has this value for the parameters as they are.
    Parameter(f64),
    Varying,
    /// Not linear, or zero in a branch.
    Other,
}

/// Coefficients by column, ascending.
type Coefficients = Vec<(usize, Form)>;

/// Looks at one equation after the other; the memory is kept.
pub struct Occurrences<'a> {
    dag: &'a Dag,
    known: &'a [Known],
    /// Column of each slot, or `usize::MAX`.
    column: &'a [usize],
    contains: Vec<bool>,
    factors: Vec<Option<Form>>,
    /// Nodes whose factor is complete once those above them are done.
    due: BinaryHeap<NodeId>,
    totals: Vec<Option<Form>>,
    touched: Vec<usize>,
    /// Of `if`s and products of unknowns.
    combined: HashMap<NodeId, Coefficients>,
}

impl<'a> Occurrences<'a> {
    pub fn new(dag: &'a Dag, known: &'a [Known], column: &'a [usize], n_columns: usize) -> Self {
        Occurrences {
            dag,
            known,
            column,
            contains: vec![false; dag.len()],
            factors: vec![None; dag.len()],
            due: BinaryHeap::new(),
            totals: vec![None; n_columns],
            touched: Vec::new(),
            combined: HashMap::new(),
        }
    }

    /// The columns of the equation with how they occur, ascending. `nodes` are the nodes of both sides in order.
    pub fn of(&mut self, equation: &ScalarEquation, nodes: &[NodeId]) -> Vec<(usize, Solvability)> {
        if !equation.is_real {
            return self.of_discrete(equation, nodes);
        }
        self.combined.clear();
        for &id in nodes {
            self.contains[id.index()] = match self.dag.node(id) {
                Node::Load(slot) => self.column[slot.index()] != usize::MAX,
                _ => self.dag.children(id).any(|child| self.contains[child.index()]),
            };
            self.combine(id);
        }
        let one = Form::Number(1.0);
        let row = self.collect(&[(equation.left, one), (equation.right, negated(one))]);
        row.into_iter().map(|(column, form)| (column, solvability(form))).collect()
    }

    /// Booleans and integers are not rearranged: `b = …` and `not b = …` can be solved for `b`.
    fn of_discrete(&self, equation: &ScalarEquation, nodes: &[NodeId]) -> Vec<(usize, Solvability)> {
        let dag = self.dag;
        let alone = |side: NodeId, other: NodeId| {
            let slot = match dag.node(side) {
                Node::Load(slot) => slot,
                Node::Unary(UnaryFn::Not, inner) => match dag.node(inner) {
                    Node::Load(slot) => slot,
                    _ => return None,
                },
                _ => return None,
            };
            (!dag.depends_on(other, &|s| s == slot)).then_some(slot)
        };
        let solvable = [alone(equation.left, equation.right), alone(equation.right, equation.left)];
        let mut row = Vec::new();
        for &id in nodes {
            let Node::Load(slot) = dag.node(id) else { continue };
            let column = self.column[slot.index()];
            if column != usize::MAX {
                let is_alone = solvable.contains(&Some(slot));
                row.push((column, if is_alone { Solvability::Constant } else { Solvability::No }));
            }
        }
        row.sort_unstable();
        row
    }

    fn has(&self, id: NodeId) -> bool {
        self.contains[id.index()]
    }

    /// Finds the coefficients of an `if` or a product of unknowns; what is below has been looked at.
    fn combine(&mut self, id: NodeId) {
        let (a, b, condition) = match self.dag.node(id) {
            Node::Select(condition, a, b) if self.has(a) || self.has(b) => (a, b, Some(condition)),
            Node::Binary(BinaryFn::Mul, a, b) if self.has(a) && self.has(b) => (a, b, None),
            _ => return,
        };
        let is_select = condition.is_some();
        let switches = condition.is_some_and(|condition| self.known[condition.index()].value().is_none());
        let one = Form::Number(1.0);
        let (first, second) = (self.collect(&[(a, one)]), self.collect(&[(b, one)]));
        let joined = merge(&first, &second, |x, y| match (x, y) {
            (Some(x), Some(y)) if is_select => either(x, y, switches),
            (Some(x), None) | (None, Some(x)) if !is_select => scaled(x, Known::No),
            _ => Form::Other,
        });
        self.combined.insert(id, joined);
    }

    /// The coefficients of a sum of nodes with factors.
    fn collect(&mut self, roots: &[(NodeId, Form)]) -> Coefficients {
        for &(root, factor) in roots {
            self.give(root, factor);
        }
        while let Some(id) = self.due.pop() {
            // A node that several gave to is on the heap several times.
            if let Some(factor) = self.factors[id.index()].take() {
                self.hand_down(id, factor);
            }
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        let found = touched.iter().filter_map(|&column| Some((column, self.totals[column].take()?))).collect();
        touched.clear();
        self.touched = touched;
        found
    }

    fn give(&mut self, id: NodeId, factor: Form) {
        if self.has(id) {
            let place = &mut self.factors[id.index()];
            if place.is_none() {
                self.due.push(id);
            }
            *place = sum(*place, Some(factor));
        }
    }

    fn add(&mut self, column: usize, form: Form) {
        let total = &mut self.totals[column];
        if total.is_none() {
            self.touched.push(column);
        }
        *total = sum(*total, Some(form));
    }

    fn hand_down(&mut self, id: NodeId, factor: Form) {
        match self.dag.node(id) {
            Node::Const(_) => {}
            Node::Load(slot) => self.add(self.column[slot.index()], factor),
            Node::Unary(UnaryFn::Negate, x) => self.give(x, negated(factor)),
            Node::Binary(BinaryFn::Add, x, y) => {
                self.give(x, factor);
                self.give(y, factor);
            }
            Node::Binary(BinaryFn::Sub, x, y) => {
                self.give(x, factor);
                self.give(y, negated(factor));
            }
            Node::Binary(BinaryFn::Mul, x, y) if !(self.has(x) && self.has(y)) => {
                self.give(x, scaled(factor, self.known[y.index()]));
                self.give(y, scaled(factor, self.known[x.index()]));
            }
            Node::Binary(BinaryFn::Div, x, y) => {
                self.give(x, scaled(factor, inverse(self.known[y.index()])));
                self.give(y, Form::Other);
            }
            Node::Select(c, ..) => {
                self.add_combined(id, factor);
                self.give(c, Form::Other);
            }
            Node::Binary(BinaryFn::Mul, ..) => self.add_combined(id, factor),
            _ => {
                let dag = self.dag;
                dag.children(id).for_each(|child| self.give(child, Form::Other));
            }
        }
    }

    fn add_combined(&mut self, id: NodeId, factor: Form) {
        let Some(parts) = self.combined.remove(&id) else { return };
        for &(column, form) in &parts {
            self.add(column, product(factor, form));
        }
        self.combined.insert(id, parts);
    }
}

fn solvability(form: Form) -> Solvability {
    match form {
        Form::Number(0.0) => Solvability::Cancels,
        Form::Number(_) => Solvability::Constant,
        Form::Parameter(c) if c != 0.0 && c.is_finite() => Solvability::Parameter,
        Form::Varying => Solvability::Varying,
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
    match by {
        Known::Constant(v) if v.is_finite() => product(form, Form::Number(v)),
        Known::Constant(v) | Known::Parameter(v) => product(form, Form::Parameter(v)),
        Known::No => product(form, Form::Varying),
    }
}

fn product(a: Form, b: Form) -> Form {
    match (a, b) {
        (Form::Number(a), Form::Number(b)) => Form::Number(a * b),
        (Form::Number(a) | Form::Parameter(a), Form::Number(b) | Form::Parameter(b)) => Form::Parameter(a * b),
        (Form::Other, _) | (_, Form::Other) => Form::Other,
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

/// The coefficient of an unknown in both branches. One that a switch makes larger or smaller varies: `i = if off then Goff * s
/// else s`, solved for `s`, would amplify the rounding of `i` by the resistance of the blocking diode.
fn either(a: Form, b: Form, switches: bool) -> Form {
    match (a, b) {
        (Form::Other, _) | (_, Form::Other) => Form::Other,
        (Form::Number(0.0) | Form::Parameter(0.0), _) | (_, Form::Number(0.0) | Form::Parameter(0.0)) => Form::Other,
        (Form::Number(a), Form::Number(b)) if a == b => Form::Number(a),
        (Form::Varying, _) | (_, Form::Varying) => Form::Varying,
        (Form::Number(a) | Form::Parameter(a), Form::Number(b) | Form::Parameter(b))
            if switches && a.abs() != b.abs() =>
        {
            Form::Varying
        }
        (Form::Number(a) | Form::Parameter(a), _) => Form::Parameter(a),
    }
}

/// Both lists by column.
fn merge(a: &[(usize, Form)], b: &[(usize, Form)], join: impl Fn(Option<Form>, Option<Form>) -> Form) -> Coefficients {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let mut joined = Vec::new();
    loop {
        let column = match (a.peek(), b.peek()) {
            (None, None) => return joined,
            (Some(&(x, _)), Some(&(y, _))) => x.min(y),
            (Some(&(x, _)), None) | (None, Some(&(x, _))) => x,
        };
        let x = a.next_if(|&(c, _)| c == column).map(|(_, form)| form);
        let y = b.next_if(|&(c, _)| c == column).map(|(_, form)| form);
        joined.push((column, join(x, y)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_base::Span;
    use saltus_program::SlotId;

    /// Slots 0 to 9 are unknowns, slot 10 is a parameter with the value 2.
    fn rows(build: impl FnOnce(&mut Dag) -> (NodeId, NodeId)) -> Vec<(usize, Solvability)> {
        let mut dag = Dag::default();
        let (left, right) = build(&mut dag);
        let column: Vec<usize> = (0..11).map(|k| if k < 10 { k } else { usize::MAX }).collect();
        let known: Vec<Known> = (0..dag.len())
            .map(|k| match dag.node(NodeId::from_usize(k)) {
                Node::Const(bits) => Known::Constant(f64::from_bits(bits)),
                Node::Load(slot) if slot.index() == 10 => Known::Parameter(2.0),
                _ => Known::No,
            })
            .collect();
        let equation = ScalarEquation {
            left,
            right,
            target: None,
            initially: None,
            is_real: true,
            span: Span::nowhere(),
            linearized: None,
        };
        Occurrences::new(&dag, &known, &column, 10).of(&equation, &dag.reachable(&[left, right]))
    }

    fn load(dag: &mut Dag, k: usize) -> NodeId {
        dag.load(SlotId::from_usize(k), k < 10)
    }

    #[test]
    fn coefficients_are_told_apart() {
        // p * x0 + x1 * x2 = sin(x3) - x4 / x5
        let found = rows(|dag| {
            let x: Vec<NodeId> = (0..6).map(|k| load(dag, k)).collect();
            let p = load(dag, 10);
            let (a, b) = (dag.mul(p, x[0]), dag.mul(x[1], x[2]));
            let (c, d) = (dag.unary(UnaryFn::Sin, x[3]), dag.div(x[4], x[5]));
            (dag.add(a, b), dag.sub(c, d))
        });
        use Solvability::{No, Parameter, Varying};
        assert_eq!(found, [(0, Parameter), (1, Varying), (2, Varying), (3, No), (4, Varying), (5, No)]);
    }

    #[test]
    fn a_branch_without_the_unknown_and_a_square_are_not_linear() {
        // 0 = (if x0 > 1 then x1 + x2 else -x1) + x3 * x3 - x4 + x4
        let found = rows(|dag| {
            let x: Vec<NodeId> = (0..5).map(|k| load(dag, k)).collect();
            let one = dag.constant(1.0);
            let condition = dag.binary(BinaryFn::Greater, x[0], one);
            let (branch, negative) = (dag.add(x[1], x[2]), dag.negate(x[1]));
            let choice = dag.select(condition, branch, negative);
            let square = dag.mul(x[3], x[3]);
            let sum = dag.add(choice, square);
            (sum, x[4])
        });
        use Solvability::{Constant, No, Parameter};
        assert_eq!(found, [(0, No), (1, Parameter), (2, No), (3, No), (4, Constant)]);
    }

    #[test]
    fn an_unknown_that_cancels_is_not_determined() {
        // x0 + 2*x1 = x0 + x2
        let found = rows(|dag| {
            let (x, y, z, two) = (load(dag, 0), load(dag, 1), load(dag, 2), dag.constant(2.0));
            let twice = dag.mul(two, y);
            (dag.add(x, twice), dag.add(x, z))
        });
        use Solvability::{Cancels, Constant};
        assert_eq!(found, [(0, Cancels), (1, Constant), (2, Constant)]);
    }

    #[test]
    fn a_coefficient_that_a_switch_scales_varies() {
        // x0 = if x1 > 1 then p * x2 else x2; x0 = if p > 1 then p * x2 else x2
        for (is_switch, expected) in [(true, Solvability::Varying), (false, Solvability::Parameter)] {
            let found = rows(|dag| {
                let (x, y, z, p) = (load(dag, 0), load(dag, 1), load(dag, 2), load(dag, 10));
                let (one, scaled) = (dag.constant(1.0), dag.mul(p, z));
                let relation = dag.binary(BinaryFn::Greater, y, one);
                (x, dag.select(if is_switch { relation } else { p }, scaled, z))
            });
            assert_eq!(found.last(), Some(&(2, expected)));
        }
    }

    #[test]
    fn nested_branches_cost_no_more_than_they_have_nodes() {
        // Each level uses the one below twice: written out, 2^200 branches.
        let found = rows(|dag| {
            let (x, p) = (load(dag, 0), load(dag, 10));
            let mut node = x;
            for k in 0..200 {
                let shift = dag.constant(f64::from(k) + 1.0);
                let other = dag.add(node, shift);
                node = dag.select(p, node, other);
            }
            (node, p)
        });
        assert_eq!(found, [(0, Solvability::Constant)]);
    }
}
