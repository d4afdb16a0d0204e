//! The graph itself: making nodes, calls with several results, replacing slots.
//!
//! Children have smaller ids than their parents, and equal expressions are the same node (a commutative operation with
//! swapped operands as well), so that comparing ids compares expressions.

use std::cell::RefCell;

use saltus_base::{IdVec, Index};
use saltus_program::{BinaryFn, CallableId, SlotId, UnaryFn};

use crate::hash::FastMap;
use crate::walk::Marks;

saltus_base::define_id! {
    /// A scalar expression.
    pub struct NodeId;
    /// A call of a function with given arguments.
    pub struct CallId;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The bits of an `f64`.
    Const(u64),
    Load(SlotId),
    Unary(UnaryFn, NodeId),
    Binary(BinaryFn, NodeId, NodeId),
    /// condition, value if it is not zero, value otherwise
    Select(NodeId, NodeId, NodeId),
    /// The k-th scalar result of a call, from 0.
    Result(CallId, u32),
}

/// A call of a pure function. Arrays and records are passed and returned as their scalar elements.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    pub function: CallableId,
    pub arguments: Box<[NodeId]>,
    pub n_results: u32,
}

#[derive(Clone, Default)]
pub struct Dag {
    nodes: IdVec<NodeId, Node>,
    /// Does the value change between events?
    continuous: Vec<bool>,
    ids: FastMap<Node, NodeId>,
    calls: IdVec<CallId, Call>,
    call_ids: FastMap<Call, CallId>,
    marks: RefCell<Vec<Marks>>,
    /// Nothing is made simpler that would lose what it loads.
    keeps_loads: bool,
}

/// What a node is replaced by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// Another node, as it is.
    By(NodeId),
    /// One of its own children, in which nodes are replaced as well.
    ByChild(NodeId),
}

impl Dag {
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id]
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of different calls.
    pub fn n_calls(&self) -> usize {
        self.calls.len()
    }

    /// The value of a constant.
    pub fn value(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// From now on `0 * x` stays as it is (or becomes 0 again): who asks which slots occur in an equation may mean the equation as it was
    /// written.
    pub fn keep_loads(&mut self, keeps_loads: bool) {
        self.keeps_loads = keeps_loads;
    }

    pub fn keeps_loads(&self) -> bool {
        self.keeps_loads
    }

    pub fn is_zero(&self, id: NodeId) -> bool {
        self.value(id) == Some(0.0)
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

    /// A function of a constant is a constant, unless its value is infinite or none at all: `1/0` is a mistake that is told where it
    /// is evaluated, and an infinite constant is not.
    pub fn unary(&mut self, function: UnaryFn, x: NodeId) -> NodeId {
        if let Some(value) = self.value(x) {
            let result = function.apply(value);
            if result.is_finite() || !value.is_finite() {
                return self.constant(result);
            }
        } else if let Some(simpler) = self.simplify_unary(function, x) {
            return simpler;
        }
        let continuous = self.is_continuous(x);
        self.intern(Node::Unary(function, x), continuous)
    }

    pub fn binary(&mut self, function: BinaryFn, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            let result = function.apply(x, y);
            if result.is_finite() || !x.is_finite() || !y.is_finite() {
                return self.constant(result);
            }
        } else if let Some(simpler) = self.simplify_binary(function, a, b)
            && !(self.keeps_loads && self.value(simpler).is_some())
        {
            return simpler;
        }
        self.operation(function, a, b)
    }

    /// The node as it stands, not simplified.
    pub(crate) fn operation(&mut self, function: BinaryFn, a: NodeId, b: NodeId) -> NodeId {
        if is_commutative(function)
            && let Some(&same) = self.ids.get(&Node::Binary(function, b, a))
        {
            return same;
        }
        let continuous = self.is_continuous(a) || self.is_continuous(b);
        self.intern(Node::Binary(function, a, b), continuous)
    }

    pub fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> NodeId {
        if let Some(simpler) = self.simplify_select(condition, a, b) {
            return simpler;
        }
        let continuous = [condition, a, b].iter().any(|&n| self.is_continuous(n));
        self.intern(Node::Select(condition, a, b), continuous)
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

    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryFn::Add, a, b)
    }

    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryFn::Sub, a, b)
    }

    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryFn::Mul, a, b)
    }

    pub fn div(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.binary(BinaryFn::Div, a, b)
    }

    /// A call of a pure function; equal calls are one.
    pub fn call(&mut self, function: CallableId, arguments: Vec<NodeId>, n_results: u32) -> CallId {
        let call = Call { function, arguments: arguments.into_boxed_slice(), n_results };
        if let Some(&id) = self.call_ids.get(&call) {
            return id;
        }
        let id = self.calls.push(call.clone());
        self.call_ids.insert(call, id);
        id
    }

    pub fn called(&self, call: CallId) -> &Call {
        &self.calls[call]
    }

    /// The `k`-th scalar result, from 0; `k` is less than the call's `n_results`.
    pub fn result(&mut self, call: CallId, k: u32) -> NodeId {
        debug_assert!(k < self.calls[call].n_results);
        let continuous = self.calls[call].arguments.iter().any(|&a| self.is_continuous(a));
        self.intern(Node::Result(call, k), continuous)
    }

    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let (own, arguments): ([Option<NodeId>; 3], &[NodeId]) = match self.node(id) {
            Node::Const(_) | Node::Load(_) => ([None; 3], &[]),
            Node::Unary(_, x) => ([Some(x), None, None], &[]),
            Node::Binary(_, a, b) => ([Some(a), Some(b), None], &[]),
            Node::Select(c, a, b) => ([Some(c), Some(a), Some(b)], &[]),
            Node::Result(call, _) => ([None; 3], &self.calls[call].arguments),
        };
        own.into_iter().flatten().chain(arguments.iter().copied())
    }

    /// `root` with some slots replaced by nodes.
    pub fn substitute(&mut self, root: NodeId, replacement: &dyn Fn(SlotId) -> Option<NodeId>) -> NodeId {
        self.substitute_all(&[root], replacement).pop().unwrap_or(root)
    }

    /// `roots` with some slots replaced by nodes; what they share is replaced once.
    pub fn substitute_all(&mut self, roots: &[NodeId], replacement: &dyn Fn(SlotId) -> Option<NodeId>) -> Vec<NodeId> {
        self.replace_all(roots, |dag, id| match dag.node(id) {
            Node::Load(slot) => replacement(slot).map(Replacement::By),
            _ => None,
        })
    }

    /// `roots` with some nodes replaced; what they share is replaced once.
    pub fn replace_all(
        &mut self,
        roots: &[NodeId],
        replacement: impl Fn(&Dag, NodeId) -> Option<Replacement>,
    ) -> Vec<NodeId> {
        self.rewrite(roots, |dag, id, at| match replacement(dag, id) {
            Some(Replacement::By(node)) => node,
            Some(Replacement::ByChild(child)) => at(child),
            None => dag.rebuild(id, at),
        })
    }

    /// `roots` as simple as they become where loads need not be kept.
    pub fn simplify_all(&mut self, roots: &[NodeId]) -> Vec<NodeId> {
        self.rewrite(roots, |dag, id, at| dag.remake(id, at))
    }

    /// What `make` makes of the roots, children first; it is handed what they have become.
    fn rewrite(
        &mut self,
        roots: &[NodeId],
        make: impl Fn(&mut Dag, NodeId, &dyn Fn(NodeId) -> NodeId) -> NodeId,
    ) -> Vec<NodeId> {
        let walk = self.walk(roots, |_, _| true);
        let mut new: Vec<NodeId> = Vec::with_capacity(walk.order.len());
        for &id in &walk.order {
            let at = |child: NodeId| walk.place(child).and_then(|p| new.get(p)).copied().unwrap_or(child);
            let result = make(self, id, &at);
            new.push(result);
        }
        let results = roots.iter().map(|&root| walk.place(root).map_or(root, |p| new[p])).collect();
        self.finish(walk);
        results
    }

    /// The same operation on other children.
    pub(crate) fn rebuild(&mut self, id: NodeId, at: impl Fn(NodeId) -> NodeId) -> NodeId {
        if self.children(id).all(|child| at(child) == child) {
            return id;
        }
        self.remake(id, at)
    }

    fn remake(&mut self, id: NodeId, at: impl Fn(NodeId) -> NodeId) -> NodeId {
        match self.node(id) {
            Node::Const(_) | Node::Load(_) => id,
            Node::Unary(f, x) => self.unary(f, at(x)),
            Node::Binary(f, a, b) => self.binary(f, at(a), at(b)),
            Node::Select(c, a, b) => self.select(at(c), at(a), at(b)),
            Node::Result(call, k) => {
                let Call { function, arguments, n_results } = &self.calls[call];
                let (function, n_results) = (*function, *n_results);
                let arguments = arguments.iter().map(|&a| at(a)).collect();
                let call = self.call(function, arguments, n_results);
                self.result(call, k)
            }
        }
    }

    pub(crate) fn take_marks(&self) -> Marks {
        self.marks.borrow_mut().pop().unwrap_or_default()
    }

    pub(crate) fn return_marks(&self, marks: Marks) {
        self.marks.borrow_mut().push(marks);
    }
}

fn is_commutative(function: BinaryFn) -> bool {
    use BinaryFn::*;
    matches!(function, Add | Mul | Min | Max | Equal | NotEqual | And | Or)
}
