//! Scalar expressions as a directed acyclic graph in which equal expressions are the same node.
//!
//! Children have smaller ids than their parents, so every pass is a loop over ids and none recurses. Constants are folded
//! when nodes are made; identities that hold for all numbers (`x + 0`, `1 * x`, `0 * x`) are applied.

use std::collections::HashMap;

use saltus_base::{IdVec, Index};
use saltus_program::{BinaryFn, SlotId, UnaryFn};

saltus_base::define_id! {
    /// A scalar expression.
    pub struct NodeId;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The bits of an `f64`.
    Const(u64),
    Load(SlotId),
    Unary(UnaryFn, NodeId),
    Binary(BinaryFn, NodeId, NodeId),
    Select(NodeId, NodeId, NodeId),
}

#[derive(Default)]
pub struct Dag {
    nodes: IdVec<NodeId, Node>,
    /// Does the value change between events?
    continuous: Vec<bool>,
    ids: HashMap<Node, NodeId>,
}

impl Dag {
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id]
    }

    /// The value of a constant.
    pub fn value(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub fn is_continuous(&self, id: NodeId) -> bool {
        self.continuous[id.index()]
    }

    fn intern(&mut self, node: Node, continuous: bool) -> NodeId {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = self.nodes.push(node);
        self.continuous.push(continuous);
        self.ids.insert(node, id);
        id
    }

    pub fn constant(&mut self, value: f64) -> NodeId {
        self.intern(Node::Const(value.to_bits()), false)
    }

    pub fn boolean(&mut self, value: bool) -> NodeId {
        self.constant(f64::from(u8::from(value)))
    }

    /// A slot must always be loaded with the same `continuous`.
    pub fn load(&mut self, slot: SlotId, continuous: bool) -> NodeId {
        self.intern(Node::Load(slot), continuous)
    }

    pub fn unary(&mut self, function: UnaryFn, x: NodeId) -> NodeId {
        if let Some(value) = self.value(x) {
            return self.constant(function.apply(value));
        }
        if let Node::Unary(inner, y) = self.node(x)
            && inner == function
            && function == UnaryFn::Negate
        {
            return y;
        }
        if let (UnaryFn::Negate, Node::Binary(BinaryFn::Sub, a, b)) = (function, self.node(x)) {
            return self.binary(BinaryFn::Sub, b, a);
        }
        let continuous = self.is_continuous(x);
        self.intern(Node::Unary(function, x), continuous)
    }

    pub fn negate(&mut self, x: NodeId) -> NodeId {
        self.unary(UnaryFn::Negate, x)
    }

    pub fn not(&mut self, x: NodeId) -> NodeId {
        self.unary(UnaryFn::Not, x)
    }

    pub fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryFn::And, a, b)
    }

    pub fn binary(&mut self, function: BinaryFn, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            return self.constant(function.apply(x, y));
        }
        if let Some(simpler) = self.identity(function, a, b) {
            return simpler;
        }
        let continuous = self.is_continuous(a) || self.is_continuous(b);
        self.intern(Node::Binary(function, a, b), continuous)
    }

    fn identity(&mut self, function: BinaryFn, a: NodeId, b: NodeId) -> Option<NodeId> {
        let (x, y) = (self.value(a), self.value(b));
        match function {
            BinaryFn::Add if x == Some(0.0) => Some(b),
            BinaryFn::Add | BinaryFn::Sub if y == Some(0.0) => Some(a),
            BinaryFn::Sub if x == Some(0.0) => Some(self.negate(b)),
            BinaryFn::Sub if a == b => Some(self.constant(0.0)),
            BinaryFn::Mul if x == Some(0.0) || y == Some(0.0) => Some(self.constant(0.0)),
            BinaryFn::Mul if x == Some(1.0) => Some(b),
            BinaryFn::Mul if x == Some(-1.0) => Some(self.negate(b)),
            BinaryFn::Mul | BinaryFn::Div | BinaryFn::Pow if y == Some(1.0) => Some(a),
            BinaryFn::Mul | BinaryFn::Div if y == Some(-1.0) => Some(self.negate(a)),
            BinaryFn::And if x == Some(0.0) || y == Some(0.0) => Some(self.boolean(false)),
            BinaryFn::And if x.is_some() => Some(b),
            BinaryFn::And if y.is_some() || a == b => Some(a),
            BinaryFn::Or if x.is_some_and(|v| v != 0.0) || y.is_some_and(|v| v != 0.0) => Some(self.boolean(true)),
            BinaryFn::Or if x.is_some() => Some(b),
            BinaryFn::Or if y.is_some() || a == b => Some(a),
            _ => None,
        }
    }

    pub fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> NodeId {
        match self.value(condition) {
            Some(value) if value != 0.0 => return a,
            Some(_) => return b,
            None if a == b => return a,
            None => {}
        }
        let continuous = [condition, a, b].iter().any(|&n| self.is_continuous(n));
        self.intern(Node::Select(condition, a, b), continuous)
    }

    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        let [a, b, c] = match self.node(id) {
            Node::Const(_) | Node::Load(_) => [None; 3],
            Node::Unary(_, x) => [Some(x), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Select(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        [a, b, c].into_iter().flatten()
    }

    /// The nodes that `roots` consist of, children before parents.
    pub fn reachable(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut seen: std::collections::HashSet<NodeId> = roots.iter().copied().collect();
        let mut stack: Vec<NodeId> = seen.iter().copied().collect();
        while let Some(id) = stack.pop() {
            for child in self.children(id) {
                if seen.insert(child) {
                    stack.push(child);
                }
            }
        }
        let mut nodes: Vec<NodeId> = seen.into_iter().collect();
        nodes.sort_unstable();
        nodes
    }

    /// The slots that `roots` depend on, in order of the nodes.
    pub fn loads(&self, roots: &[NodeId]) -> Vec<SlotId> {
        let slot = |id| if let Node::Load(slot) = self.node(id) { Some(slot) } else { None };
        self.reachable(roots).into_iter().filter_map(slot).collect()
    }

    /// `root` with some slots replaced by nodes.
    pub fn substitute(&mut self, root: NodeId, replacement: &dyn Fn(SlotId) -> Option<NodeId>) -> NodeId {
        let mut new: HashMap<NodeId, NodeId> = HashMap::new();
        for id in self.reachable(&[root]) {
            let at = |child: NodeId| new.get(&child).copied().unwrap_or(child);
            let result = match self.node(id) {
                Node::Const(_) => id,
                Node::Load(slot) => replacement(slot).unwrap_or(id),
                Node::Unary(f, x) => {
                    let x = at(x);
                    self.unary(f, x)
                }
                Node::Binary(f, a, b) => {
                    let (a, b) = (at(a), at(b));
                    self.binary(f, a, b)
                }
                Node::Select(c, a, b) => {
                    let (c, a, b) = (at(c), at(a), at(b));
                    self.select(c, a, b)
                }
            };
            new.insert(id, result);
        }
        new.get(&root).copied().unwrap_or(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_expressions_are_one_node_and_constants_fold() {
        let mut dag = Dag::default();
        let x = dag.load(SlotId::from_usize(0), true);
        let two = dag.constant(2.0);
        let (a, b) = (dag.binary(BinaryFn::Mul, two, x), dag.binary(BinaryFn::Mul, two, x));
        assert_eq!(a, b);
        let four = dag.binary(BinaryFn::Add, two, two);
        assert_eq!(dag.value(four), Some(4.0));
        let zero = dag.binary(BinaryFn::Sub, a, b);
        assert_eq!(dag.value(zero), Some(0.0));
        assert!(dag.is_continuous(a) && !dag.is_continuous(four));
    }
}
