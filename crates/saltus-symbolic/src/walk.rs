//! Visiting the nodes that some roots consist of, without allocating for each query.
//!
//! A node counts as seen when its stamp is the number of the present walk, so that nothing has to be cleared between
//! walks. Walks may be nested: each takes its own marks from a pool in the [`Dag`] and gives them back.

use saltus_base::Index;
use saltus_program::SlotId;

use crate::dag::{CallId, Dag, Node, NodeId};

/// Which nodes were seen, and scratch memory that is worth keeping.
#[derive(Clone, Default)]
pub(crate) struct Marks {
    epoch: u32,
    stamps: Vec<u32>,
    places: Vec<u32>,
    stack: Vec<NodeId>,
}

impl Marks {
    fn start(&mut self, n_nodes: usize) {
        self.stack.clear();
        if self.stamps.len() < n_nodes {
            self.stamps.resize(n_nodes, 0);
            self.places.resize(n_nodes, 0);
        }
        if self.epoch == u32::MAX {
            self.stamps.fill(0);
            self.epoch = 0;
        }
        self.epoch += 1;
    }

    /// True the first time.
    fn mark(&mut self, id: NodeId) -> bool {
        let stamp = &mut self.stamps[id.index()];
        let is_new = *stamp != self.epoch;
        *stamp = self.epoch;
        is_new
    }

    /// Visits nodes depth first until `visit` says stop; `keep(node, k)` decides whether its `k`-th child is followed.
    fn run(
        &mut self,
        dag: &Dag,
        roots: &[NodeId],
        keep: impl Fn(Node, usize) -> bool,
        mut visit: impl FnMut(NodeId, Node) -> bool,
    ) {
        self.start(dag.len());
        for &root in roots {
            if self.mark(root) {
                self.stack.push(root);
            }
            while let Some(id) = self.stack.pop() {
                let node = dag.node(id);
                if !visit(id, node) {
                    return;
                }
                for (k, child) in dag.children(id).enumerate() {
                    if keep(node, k) && self.mark(child) {
                        self.stack.push(child);
                    }
                }
            }
        }
    }
}

/// The nodes of some roots in order, each with its place in that order, as the index of what a pass finds out about it.
pub(crate) struct Walk {
    pub(crate) order: Vec<NodeId>,
    marks: Marks,
}

impl Walk {
    /// The place of a node; none if the walk did not reach it (it may have been made afterwards).
    pub(crate) fn place(&self, id: NodeId) -> Option<usize> {
        let stamp = self.marks.stamps.get(id.index())?;
        (*stamp == self.marks.epoch).then(|| self.marks.places[id.index()] as usize)
    }
}

impl Dag {
    pub(crate) fn walk(&self, roots: &[NodeId], keep: impl Fn(Node, usize) -> bool) -> Walk {
        let mut marks = self.take_marks();
        let mut order = Vec::new();
        marks.run(self, roots, keep, |id, _| {
            order.push(id);
            true
        });
        // Children have smaller ids than their parents.
        order.sort_unstable();
        for (place, id) in order.iter().enumerate() {
            marks.places[id.index()] = place as u32;
        }
        Walk { order, marks }
    }

    /// Gives the memory of a walk back for the next one.
    pub(crate) fn finish(&self, walk: Walk) {
        self.return_marks(walk.marks);
    }

    /// The nodes that `roots` consist of, children before parents.
    pub fn reachable(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut walk = self.walk(roots, |_, _| true);
        let order = std::mem::take(&mut walk.order);
        self.finish(walk);
        order
    }

    /// Appends the nodes that `roots` consist of, children before parents.
    pub fn reach(&self, roots: &[NodeId], out: &mut Vec<NodeId>) {
        let from = out.len();
        let mut marks = self.take_marks();
        marks.run(
            self,
            roots,
            |_, _| true,
            |id, _| {
                out.push(id);
                true
            },
        );
        self.return_marks(marks);
        out[from..].sort_unstable();
    }

    /// The slots that `roots` depend on, in order of the nodes.
    pub fn loads(&self, roots: &[NodeId]) -> Vec<SlotId> {
        let slot = |id| if let Node::Load(slot) = self.node(id) { Some(slot) } else { None };
        self.reachable(roots).into_iter().filter_map(slot).collect()
    }

    /// What `root` consists of outside of the arguments of calls: slots and calls, each in order of the nodes.
    pub fn outside_of_calls(&self, root: NodeId) -> (Vec<SlotId>, Vec<CallId>) {
        let walk = self.walk(&[root], |node, _| !matches!(node, Node::Result(..)));
        let (mut slots, mut calls) = (Vec::new(), Vec::new());
        for &id in &walk.order {
            match self.node(id) {
                Node::Load(slot) => slots.push(slot),
                Node::Result(call, _) if calls.last() != Some(&call) => calls.push(call),
                _ => {}
            }
        }
        self.finish(walk);
        (slots, calls)
    }

    /// Does `root` depend on a slot that `is_wanted`? Stops at the first.
    pub fn depends_on(&self, root: NodeId, is_wanted: &dyn Fn(SlotId) -> bool) -> bool {
        let mut found = false;
        let mut marks = self.take_marks();
        marks.run(
            self,
            &[root],
            |_, _| true,
            |_, node| {
                found = matches!(node, Node::Load(slot) if is_wanted(slot));
                !found
            },
        );
        self.return_marks(marks);
        found
    }

    /// Appends the slots that `root` depends on, each once, in an order that is the same in every run.
    pub fn slots_of(&self, root: NodeId, out: &mut Vec<SlotId>) {
        self.slots_of_all(&[root], out);
    }

    /// Appends the slots that any of `roots` depends on, each once.
    pub fn slots_of_all(&self, roots: &[NodeId], out: &mut Vec<SlotId>) {
        let mut marks = self.take_marks();
        marks.run(
            self,
            roots,
            |_, _| true,
            |_, node| {
                if let Node::Load(slot) = node {
                    out.push(slot);
                }
                true
            },
        );
        self.return_marks(marks);
    }

    /// Appends the calls that `roots` contain, each once, arguments before users.
    pub fn calls_of(&self, roots: &[NodeId], out: &mut Vec<CallId>) {
        let call = |id| if let Node::Result(call, _) = self.node(id) { Some(call) } else { None };
        let mut calls: Vec<CallId> = self.reachable(roots).into_iter().filter_map(call).collect();
        // A call is made after its arguments, so ids are an order of evaluation.
        calls.sort_unstable();
        calls.dedup();
        out.append(&mut calls);
    }
}
