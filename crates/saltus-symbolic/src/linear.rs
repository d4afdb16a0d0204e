//! Splitting an expression into linear parts.
//!
//! ```text
//! if c then 2 * x + y else y - x     for x     ⇒     (if c then 2 else -1) * x + y
//! ```
//!
//! Linear through sums, products with and quotients by factors that do not contain the slots, and `if` whose condition does
//! not contain them. Coefficients are carried from the root downward, so that a sum of n terms costs n; an `if` is
//! carried upward instead, because a branch that is not taken must not reach the result through `0 * …`, which is not a number
//! where the branch itself is none.

use std::collections::HashMap;

use saltus_program::{BinaryFn, SlotId, UnaryFn};

use crate::dag::{Dag, Node, NodeId};
use crate::walk::Walk;

/// `Σ coefficient * slot + rest`; slots whose coefficient is structurally zero are left out.
#[derive(Clone, PartialEq, Debug)]
pub struct LinearForm {
    /// In the order in which the slots were asked for.
    pub terms: Vec<(SlotId, NodeId)>,
    pub rest: NodeId,
}

impl Dag {
    /// `(coefficient, rest)` with `root = coefficient * slot + rest`, both free of the slot.
    pub fn linear(&mut self, root: NodeId, slot: SlotId) -> Option<(NodeId, NodeId)> {
        let form = self.linear_in_all(root, &[slot])?;
        let zero = self.constant(0.0);
        Some((form.terms.first().map_or(zero, |&(_, coefficient)| coefficient), form.rest))
    }

    /// `root` as a linear form in all of `slots` at once; coefficients and rest are free of them.
    pub fn linear_in_all(&mut self, root: NodeId, slots: &[SlotId]) -> Option<LinearForm> {
        let columns: HashMap<SlotId, usize> = slots.iter().enumerate().map(|(i, &slot)| (slot, i)).collect();
        let walk = self.walk(&[root], |_, _| true);
        let form = self.split(&walk, slots, &columns);
        self.finish(walk);
        form
    }

    /// Is `root` linear in the wanted slots, all of them together?
    pub fn is_linear_in(&self, root: NodeId, is_wanted: &dyn Fn(SlotId) -> bool) -> bool {
        let walk = self.walk(&[root], |_, _| true);
        let is_linear = self.degrees(&walk, is_wanted).last().is_none_or(|&degree| degree != Degree::Nonlinear);
        self.finish(walk);
        is_linear
    }

    fn split(&mut self, walk: &Walk, slots: &[SlotId], columns: &HashMap<SlotId, usize>) -> Option<LinearForm> {
        let degrees = self.degrees(walk, &|slot| columns.contains_key(&slot));
        if *degrees.last()? == Degree::Nonlinear {
            return None;
        }
        let contains: Vec<bool> = degrees.iter().map(|&degree| degree == Degree::Linear).collect();
        let rests = self.rests(walk, &contains, columns);
        let rest = *rests.last()?;
        if !*contains.last()? {
            return Some(LinearForm { terms: Vec::new(), rest });
        }
        let mut split = Split { walk, contains: &contains, columns, branches: vec![None; walk.order.len()] };
        split.collect_branches(self);
        let totals = split.carry_down(self);
        let term = |(column, coefficient): (usize, NodeId)| Some((*slots.get(column)?, coefficient));
        let terms = totals.into_iter().filter(|&(_, c)| !self.is_zero(c)).filter_map(term).collect();
        Some(LinearForm { terms, rest })
    }

    /// How each node of the walk depends on the slots.
    pub(crate) fn degrees(&self, walk: &Walk, is_wanted: &dyn Fn(SlotId) -> bool) -> Vec<Degree> {
        let mut degrees: Vec<Degree> = Vec::with_capacity(walk.order.len());
        for &id in &walk.order {
            let of = |child: NodeId| walk.place(child).and_then(|p| degrees.get(p)).copied().unwrap_or(Degree::Free);
            let has = |child: NodeId| of(child) != Degree::Free;
            let highest = self.children(id).map(of).max().unwrap_or(Degree::Free);
            let degree = match self.node(id) {
                Node::Load(slot) if is_wanted(slot) => Degree::Linear,
                _ if highest != Degree::Linear => highest,
                Node::Unary(UnaryFn::Negate, _) | Node::Binary(BinaryFn::Add | BinaryFn::Sub, ..) => Degree::Linear,
                Node::Binary(BinaryFn::Mul, a, b) if !(has(a) && has(b)) => Degree::Linear,
                Node::Binary(BinaryFn::Div, _, b) if !has(b) => Degree::Linear,
                Node::Select(c, ..) if !has(c) => Degree::Linear,
                _ => Degree::Nonlinear,
            };
            degrees.push(degree);
        }
        degrees
    }

    /// Each node with zero for the slots.
    fn rests(&mut self, walk: &Walk, contains: &[bool], columns: &HashMap<SlotId, usize>) -> Vec<NodeId> {
        let zero = self.constant(0.0);
        let mut rests: Vec<NodeId> = Vec::with_capacity(walk.order.len());
        for (place, &id) in walk.order.iter().enumerate() {
            let at = |child: NodeId| walk.place(child).and_then(|p| rests.get(p)).copied().unwrap_or(child);
            let rest = match self.node(id) {
                _ if !contains[place] => id,
                Node::Load(slot) if columns.contains_key(&slot) => zero,
                Node::Binary(BinaryFn::Div, a, b) => self.quotient(at(a), b),
                _ => self.rebuild(id, at),
            };
            rests.push(rest);
        }
        rests
    }

    /// `a / b` where the expression at hand divides by `b` anyway: zero divided by it stays zero.
    pub(crate) fn quotient(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if self.is_zero(a) { a } else { self.div(a, b) }
    }
}

/// How an expression depends on the slots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Degree {
    Free,
    Linear,
    Nonlinear,
}

/// Coefficients by column, sorted.
type Coefficients = Vec<(usize, NodeId)>;

struct Split<'a> {
    walk: &'a Walk,
    contains: &'a [bool],
    columns: &'a HashMap<SlotId, usize>,
    /// The coefficients of nodes inside branches, and of the `if`s themselves.
    branches: Vec<Option<Coefficients>>,
}

impl Split<'_> {
    fn place(&self, id: NodeId) -> Option<usize> {
        self.walk.place(id).filter(|&p| self.contains[p])
    }

    /// Fills `branches` for the `if`s that contain slots and for all below them.
    fn collect_branches(&mut self, dag: &mut Dag) {
        let mut is_inside = vec![false; self.walk.order.len()];
        for (place, &id) in self.walk.order.iter().enumerate().rev() {
            let is_select = matches!(dag.node(id), Node::Select(..)) && self.contains[place];
            if is_select || is_inside[place] {
                is_inside[place] = true;
                for child in dag.children(id) {
                    if let Some(p) = self.place(child) {
                        is_inside[p] = true;
                    }
                }
            }
        }
        for (place, &id) in self.walk.order.iter().enumerate() {
            if is_inside[place] && self.contains[place] {
                self.branches[place] = Some(self.carry_up(dag, id));
            }
        }
    }

    fn of(&self, id: NodeId) -> &[(usize, NodeId)] {
        self.place(id).and_then(|p| self.branches[p].as_deref()).unwrap_or(&[])
    }

    fn carry_up(&self, dag: &mut Dag, id: NodeId) -> Coefficients {
        let zero = dag.constant(0.0);
        match dag.node(id) {
            Node::Load(slot) => {
                let one = dag.constant(1.0);
                self.columns.get(&slot).map(|&column| (column, one)).into_iter().collect()
            }
            Node::Unary(_, x) => self.of(x).iter().map(|&(column, c)| (column, dag.negate(c))).collect(),
            Node::Binary(BinaryFn::Mul, a, b) => {
                let (linear, factor) = if self.place(a).is_some() { (a, b) } else { (b, a) };
                self.of(linear).iter().map(|&(column, c)| (column, dag.mul(factor, c))).collect()
            }
            Node::Binary(BinaryFn::Div, a, b) => {
                self.of(a).iter().map(|&(column, c)| (column, dag.quotient(c, b))).collect()
            }
            Node::Binary(f, a, b) => {
                merge(self.of(a), self.of(b), |a, b| dag.binary(f, a.unwrap_or(zero), b.unwrap_or(zero)))
            }
            Node::Select(c, a, b) => {
                merge(self.of(a), self.of(b), |a, b| dag.select(c, a.unwrap_or(zero), b.unwrap_or(zero)))
            }
            Node::Const(_) | Node::Result(..) => Vec::new(),
        }
    }

    /// The coefficients of the root: a factor travels down to each load and each outermost `if`.
    fn carry_down(&self, dag: &mut Dag) -> Coefficients {
        let mut factors: Vec<Option<NodeId>> = vec![None; self.walk.order.len()];
        if let Some(root) = factors.last_mut() {
            *root = Some(dag.constant(1.0));
        }
        // Several `if`s may have the same slot; the order of the sum follows the nodes.
        let mut found: Vec<(usize, NodeId)> = Vec::new();
        for (place, &id) in self.walk.order.iter().enumerate().rev() {
            let Some(factor) = factors[place].filter(|_| self.contains[place]) else { continue };
            let mut give = |dag: &mut Dag, child: NodeId, part: NodeId| {
                if let Some(p) = self.place(child) {
                    factors[p] = Some(factors[p].map_or(part, |sum| dag.add(sum, part)));
                }
            };
            match dag.node(id) {
                Node::Load(slot) => found.extend(self.columns.get(&slot).map(|&column| (column, factor))),
                Node::Select(..) => {
                    let parts = self.branches[place].iter().flatten();
                    found.extend(parts.map(|&(column, c)| (column, dag.mul(factor, c))));
                }
                Node::Unary(_, x) => {
                    let part = dag.negate(factor);
                    give(dag, x, part);
                }
                Node::Binary(BinaryFn::Mul, a, b) => {
                    let (linear, other) = if self.place(a).is_some() { (a, b) } else { (b, a) };
                    let part = dag.mul(factor, other);
                    give(dag, linear, part);
                }
                Node::Binary(BinaryFn::Div, a, b) => {
                    let part = dag.quotient(factor, b);
                    give(dag, a, part);
                }
                Node::Binary(f, a, b) => {
                    give(dag, a, factor);
                    let part = if f == BinaryFn::Sub { dag.negate(factor) } else { factor };
                    give(dag, b, part);
                }
                Node::Const(_) | Node::Result(..) => {}
            }
        }
        found.sort_by_key(|&(column, _)| column);
        let mut totals: Coefficients = Vec::new();
        for (column, part) in found {
            match totals.last_mut() {
                Some((last, sum)) if *last == column => *sum = dag.add(*sum, part),
                _ => totals.push((column, part)),
            }
        }
        totals
    }
}

/// Both lists by column; an absent coefficient is `None`.
fn merge(
    a: &[(usize, NodeId)],
    b: &[(usize, NodeId)],
    mut join: impl FnMut(Option<NodeId>, Option<NodeId>) -> NodeId,
) -> Coefficients {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let mut result = Vec::new();
    loop {
        let column = match (a.peek(), b.peek()) {
            (None, None) => return result,
            (Some(&(x, _)), Some(&(y, _))) => x.min(y),
            (Some(&(x, _)), None) | (None, Some(&(x, _))) => x,
        };
        let x = a.next_if(|&(c, _)| c == column).map(|(_, node)| node);
        let y = b.next_if(|&(c, _)| c == column).map(|(_, node)| node);
        result.push((column, join(x, y)));
    }
}
