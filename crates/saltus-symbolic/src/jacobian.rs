//! All partial derivatives of an expression, and sparse Jacobians of several.
//!
//! ```text
//! 0 = x + y * z - 1     ⇒     1, z, y
//! ```
//!
//! A root is first taken apart into a weighted sum of terms, because a term's derivatives do not depend on the others: a sum
//! of n terms would otherwise be walked n times. Within the terms each slot's derivative is carried upward from its load
//! through the nodes that depend on it, and through no others.

use std::collections::HashMap;

use saltus_program::{BinaryFn, SlotId, UnaryFn};

use crate::dag::{Dag, Node, NodeId};
use crate::derivative::{Derivative, NotDifferentiable, Rules, passes_derivative};
use crate::walk::Walk;

impl Dag {
    /// The partial derivatives of `root` by each of `slots`, which are taken as independent of each other; `None` is zero. Of
    /// `rules` only those of calls are asked.
    pub fn gradient(
        &mut self,
        root: NodeId,
        slots: &[SlotId],
        rules: &mut dyn Rules,
    ) -> Result<Vec<Option<NodeId>>, NotDifferentiable> {
        let mut result = vec![None; slots.len()];
        for (column, node) in self.row(root, &columns(slots), rules)? {
            result[column] = Some(node);
        }
        Ok(result)
    }

    /// For each root its non-zero partial derivatives as `(index into slots, derivative)`, in order of the index.
    pub fn jacobian(
        &mut self,
        roots: &[NodeId],
        slots: &[SlotId],
        rules: &mut dyn Rules,
    ) -> Result<Vec<Vec<(usize, NodeId)>>, NotDifferentiable> {
        let columns = columns(slots);
        roots.iter().map(|&root| self.row(root, &columns, rules)).collect()
    }

    fn row(
        &mut self,
        root: NodeId,
        columns: &HashMap<SlotId, usize>,
        rules: &mut dyn Rules,
    ) -> Result<Vec<(usize, NodeId)>, NotDifferentiable> {
        let terms = self.weighted_terms(root);
        let roots: Vec<NodeId> = terms.iter().map(|&(term, _)| term).collect();
        let walk = self.walk(&roots, passes_derivative);
        let graph = Parents::new(self, &walk, &terms);
        let mut row = Vec::new();
        let mut sweep = Sweep::new(walk.order.len());
        let mut failure = None;
        for (place, &id) in walk.order.iter().enumerate() {
            let Node::Load(slot) = self.node(id) else { continue };
            let Some(&column) = columns.get(&slot) else { continue };
            match self.partial(&walk, &graph, &mut sweep, place, rules) {
                Ok(Some(derivative)) => row.push((column, derivative)),
                Ok(None) => {}
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        self.finish(walk);
        row.sort_unstable_by_key(|&(column, _)| column);
        failure.map_or(Ok(row), Err)
    }

    /// `root` as a sum of terms with constant weights: `x - 2 * (y + z)` is `x`, `-2 y`, `-2 z`.
    fn weighted_terms(&self, root: NodeId) -> Vec<(NodeId, f64)> {
        let walk = self.walk(&[root], |node, k| self.constant_slope(node, k).is_some());
        let mut weights = vec![0.0; walk.order.len()];
        if let Some(last) = weights.last_mut() {
            *last = 1.0;
        }
        let mut terms = Vec::new();
        for (place, &id) in walk.order.iter().enumerate().rev() {
            let (node, weight) = (self.node(id), weights[place]);
            let mut is_term = true;
            for (k, child) in self.children(id).enumerate() {
                let Some(slope) = self.constant_slope(node, k) else { continue };
                is_term = false;
                if let Some(p) = walk.place(child) {
                    weights[p] += weight * slope;
                }
            }
            if is_term && weight != 0.0 {
                terms.push((id, weight));
            }
        }
        self.finish(walk);
        terms
    }

    /// The derivative of a node by its `k`-th child, where that is a number.
    fn constant_slope(&self, node: Node, k: usize) -> Option<f64> {
        match node {
            Node::Unary(UnaryFn::Negate, _) => Some(-1.0),
            Node::Binary(BinaryFn::Add, ..) => Some(1.0),
            Node::Binary(BinaryFn::Sub, ..) => Some(if k == 0 { 1.0 } else { -1.0 }),
            Node::Binary(BinaryFn::Mul, factor, _) if k == 1 => self.value(factor),
            _ => None,
        }
    }

    /// The derivative of the sum of terms by the slot that is loaded at `place`.
    fn partial(
        &mut self,
        walk: &Walk,
        graph: &Parents,
        sweep: &mut Sweep,
        place: usize,
        rules: &mut dyn Rules,
    ) -> Derivative {
        sweep.start(graph, place);
        let one = self.constant(1.0);
        let mut total: Option<NodeId> = None;
        for i in 0..sweep.places.len() {
            let p = sweep.places[i];
            let id = walk.order[p];
            let derivative = if p == place {
                Ok(Some(one))
            } else {
                let at = |child| walk.place(child).map_or(Ok(None), |c| sweep.get(c));
                self.chain_rule(id, &at, rules)
            };
            let derivative = derivative.map(|d| d.filter(|&d| !self.is_zero(d)));
            sweep.derivatives[p] = derivative;
            if let Some(weight) = graph.weights[p]
                && let Some(d) = derivative?
            {
                let factor = self.constant(weight);
                let part = self.mul(factor, d);
                total = Some(total.map_or(part, |sum| self.add(sum, part)));
            }
        }
        Ok(total.filter(|&t| !self.is_zero(t)))
    }
}

fn columns(slots: &[SlotId]) -> HashMap<SlotId, usize> {
    slots.iter().enumerate().map(|(i, &slot)| (slot, i)).collect()
}

/// Edges upward, of the places of a walk.
struct Parents {
    starts: Vec<u32>,
    parents: Vec<u32>,
    /// Of the terms.
    weights: Vec<Option<f64>>,
}

impl Parents {
    fn new(dag: &Dag, walk: &Walk, terms: &[(NodeId, f64)]) -> Self {
        let n = walk.order.len();
        let mut weights = vec![None; n];
        for &(term, weight) in terms {
            if let Some(place) = walk.place(term) {
                weights[place] = Some(weight);
            }
        }
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (place, &id) in walk.order.iter().enumerate() {
            let node = dag.node(id);
            let followed = dag.children(id).enumerate().filter(|&(k, _)| passes_derivative(node, k));
            edges.extend(followed.filter_map(|(_, child)| Some((walk.place(child)? as u32, place as u32))));
        }
        let mut starts = vec![0u32; n + 1];
        for &(child, _) in &edges {
            starts[child as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut parents = vec![0u32; edges.len()];
        for (child, parent) in edges {
            let at = &mut next[child as usize];
            parents[*at as usize] = parent;
            *at += 1;
        }
        Self { starts, parents, weights }
    }

    fn of(&self, place: usize) -> &[u32] {
        &self.parents[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

/// The nodes that depend on one slot, children first, and their derivatives by it.
struct Sweep {
    places: Vec<usize>,
    derivatives: Vec<Derivative>,
    stamps: Vec<u32>,
    epoch: u32,
}

impl Sweep {
    fn new(n: usize) -> Self {
        Self { places: Vec::new(), derivatives: vec![Ok(None); n], stamps: vec![0; n], epoch: 0 }
    }

    fn start(&mut self, graph: &Parents, from: usize) {
        self.epoch += 1;
        self.places.clear();
        self.places.push(from);
        self.stamps[from] = self.epoch;
        let mut next = 0;
        while let Some(&place) = self.places.get(next) {
            next += 1;
            for &parent in graph.of(place) {
                let parent = parent as usize;
                if self.stamps[parent] != self.epoch {
                    self.stamps[parent] = self.epoch;
                    self.places.push(parent);
                }
            }
        }
        self.places.sort_unstable();
    }

    fn get(&self, place: usize) -> Derivative {
        if self.stamps[place] == self.epoch { self.derivatives[place] } else { Ok(None) }
    }
}
