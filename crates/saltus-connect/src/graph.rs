//! Overconstrained connections: which connections of overdetermined types are broken (specification 9.4).
//!
//! In: the nodes (overdetermined parts of connectors), `Connections.root`, `potentialRoot`, `branch`, and the `connect`
//! equations. Out: a root for every tree, and for every `connect` whether it is in a tree, broken, or redundant.
//!
//! ```text
//! Connections.root(world.R);
//! connect(world, a.p);   Connections.branch(a.p.R, a.n.R);       world ── a.p ══ a.n
//! connect(world, b.p);   Connections.branch(b.p.R, b.n.R);         └──── b.p ══ b.n
//! connect(a.n, b.n);                                     ⇒   the last connect is broken:
//!                                                            0 = equalityConstraint(a.n.R, b.n.R)
//! ```
//!
//! What the front end does with `connect` number `key`: kept – connects the variables of `R` like all others (or writes
//! `a.R = b.R`); broken – writes `0 = R.equalityConstraint(a.R, b.R)`; redundant – nothing for `R`. All other parts of
//! the connectors are connected in each case.

use saltus_base::{Diagnostic, Diagnostics, IdVec, Index, Span, define_id};

use crate::Face;
use crate::diagnostics::{self, Place};
use saltus_graph::DisjointSets;

define_id! {
    /// An overdetermined part of a connector.
    pub struct NodeId;
}

struct Root {
    node: NodeId,
    span: Span,
    /// `Some` for `Connections.uniqueRoot`.
    unique: Option<String>,
}

struct PotentialRoot {
    node: NodeId,
    priority: i64,
}

struct Branch {
    a: NodeId,
    b: NodeId,
    span: Span,
}

struct Connection<K> {
    a: (NodeId, Face),
    b: (NodeId, Face),
    key: K,
}

/// The virtual connection graph, while it is collected. `K` identifies a `connect` for the front end.
pub struct ConnectionGraph<K> {
    nodes: IdVec<NodeId, (String, Span)>,
    roots: Vec<Root>,
    potential_roots: Vec<PotentialRoot>,
    branches: Vec<Branch>,
    connections: Vec<Connection<K>>,
    diagnostics: Diagnostics,
    rootless: Vec<Rootless>,
}

/// The spanning trees.
pub struct Spanning<K> {
    /// Connections in a tree, in the order they were added.
    pub kept: Vec<K>,
    /// Connections that close a loop or join two trees: residual equations instead of equalities.
    pub broken: Vec<K>,
    /// Connections within a connection set that is already connected: no equations for the overdetermined part.
    pub redundant: Vec<K>,
    pub diagnostics: Diagnostics,
    /// Trees that have neither a root nor a potential root.
    pub rootless: Vec<Rootless>,
    /// Name, whether it is a root, and distance to the root of its tree.
    nodes: IdVec<NodeId, SpanningNode>,
    branches: Vec<(NodeId, NodeId)>,
}

/// A tree without a root: a mistake in a model that is simulated; of a component the root may be outside.
pub struct Rootless {
    pub nodes: Vec<NodeId>,
    pub diagnostic: Diagnostic,
}

struct SpanningNode {
    name: String,
    is_root: bool,
    depth: usize,
    /// The branches this node is the first argument of.
    branches: Vec<u32>,
}

impl<K> Default for ConnectionGraph<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> ConnectionGraph<K> {
    pub fn new() -> Self {
        Self {
            nodes: IdVec::new(),
            roots: Vec::new(),
            potential_roots: Vec::new(),
            branches: Vec::new(),
            connections: Vec::new(),
            diagnostics: Diagnostics::new(),
            rootless: Vec::new(),
        }
    }

    /// An overdetermined part of a connector (`frame_a.R`), declared at `span`. Ids are valid for this graph only.
    pub fn add_node(&mut self, name: impl Into<String>, span: Span) -> NodeId {
        self.nodes.push((name.into(), span))
    }

    /// `Connections.root(node)`
    pub fn root(&mut self, node: NodeId, span: Span) {
        self.roots.push(Root { node, span, unique: None });
    }

    /// `Connections.uniqueRoot(node, message)`: a root that may not be connected, however indirectly, to another one.
    pub fn unique_root(&mut self, node: NodeId, message: impl Into<String>, span: Span) {
        self.roots.push(Root { node, span, unique: Some(message.into()) });
    }

    /// `Connections.potentialRoot(node, priority)`; lower numbers are preferred.
    pub fn potential_root(&mut self, node: NodeId, priority: i64, span: Span) {
        if priority < 0 {
            self.diagnostics.push(diagnostics::negative_priority(self.name(node), priority, span));
        }
        self.potential_roots.push(PotentialRoot { node, priority });
    }

    /// `Connections.branch(a, b)`: an edge that cannot be broken.
    pub fn branch(&mut self, a: NodeId, b: NodeId, span: Span) {
        self.branches.push(Branch { a, b, span });
    }

    /// `connect` of the connectors of `a` and `b`: an edge that can be broken.
    pub fn connection(&mut self, a: (NodeId, Face), b: (NodeId, Face), key: K) {
        self.connections.push(Connection { a, b, key });
    }

    /// Breaks as many connections as necessary. Of several ways the one that keeps earlier connections is taken; of
    /// several potential roots of lowest priority number the one that was added first.
    pub fn finish(mut self) -> Spanning<K> {
        let mut trees = Trees::new(self.nodes.len());
        let mut edges: Vec<(NodeId, NodeId)> = Vec::new();
        let mut is_root = vec![false; self.nodes.len()];
        for root in &self.roots {
            is_root[root.node.index()] = true;
        }
        self.grow_branches(&mut trees, &mut edges);
        self.place_roots(&mut trees);
        let connections = std::mem::take(&mut self.connections);
        let joined = ends_joined(self.nodes.len(), connections.iter().map(|c| (c.a.0, c.b.0)), &self.branches);
        let (mut kept, mut broken, mut redundant) = (Vec::new(), Vec::new(), Vec::new());
        let mut sets = DisjointSets::with_len(2 * self.nodes.len());
        for Connection { a, b, key } in connections {
            if !sets.union(end_number(a), end_number(b)) {
                redundant.push(key);
            } else if trees.join(a.0, b.0) {
                edges.push((a.0, b.0));
                kept.push(key);
            } else {
                broken.push(key);
            }
        }
        self.check_unique_roots(joined);
        self.select_roots(&mut trees, &mut is_root);
        let depths = depths(self.nodes.len(), &edges, &is_root);
        self.spanning(kept, broken, redundant, &is_root, &depths)
    }

    fn name(&self, node: NodeId) -> &str {
        self.nodes.get(node).map_or("", |(name, _)| name)
    }

    fn grow_branches(&mut self, trees: &mut Trees, edges: &mut Vec<(NodeId, NodeId)>) {
        for i in 0..self.branches.len() {
            let Branch { a, b, span } = self.branches[i];
            if trees.join(a, b) {
                edges.push((a, b));
            } else {
                let (a, b) = (self.name(a).to_string(), self.name(b).to_string());
                self.diagnostics.push(diagnostics::branch_cycle(&a, &b, span));
            }
        }
    }

    /// Gives each tree of branches its definite root; two in one tree are a mistake.
    fn place_roots(&mut self, trees: &mut Trees) {
        let mut found: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for (i, root) in self.roots.iter().enumerate() {
            let tree = trees.find(root.node);
            match found[tree] {
                None => {
                    found[tree] = Some(i);
                    trees.is_rooted[tree] = true;
                }
                Some(first) if self.roots[first].node == root.node => {}
                Some(first) => {
                    let first = &self.roots[first];
                    let problem = diagnostics::two_roots(&self.place(first), &self.place(root));
                    self.diagnostics.push(problem);
                }
            }
        }
    }

    fn place<'a>(&'a self, root: &Root) -> Place<'a> {
        Place { name: self.name(root.node), span: root.span }
    }

    /// A unique root may share its graph – also over connections that will be broken – with no other root.
    fn check_unique_roots(&mut self, mut joined: DisjointSets) {
        let mut first_of: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (i, root) in self.roots.iter().enumerate() {
            let graph = &mut first_of[joined.find(root.node.index() as u32) as usize];
            // Two different nodes are enough to contradict any unique root.
            if graph.len() < 2 && graph.iter().all(|&j| self.roots[j].node != root.node) {
                graph.push(i);
            }
        }
        for root in &self.roots {
            let Some(message) = &root.unique else { continue };
            let graph = &first_of[joined.find(root.node.index() as u32) as usize];
            if let Some(&other) = graph.iter().find(|&&i| self.roots[i].node != root.node) {
                let problem = diagnostics::root_not_unique(&self.place(root), message, &self.place(&self.roots[other]));
                self.diagnostics.push(problem);
            }
        }
    }

    /// Trees without a definite root take their best potential root; without one, their first node.
    fn select_roots(&mut self, trees: &mut Trees, is_root: &mut [bool]) {
        self.potential_roots.sort_by_key(|p| p.priority);
        for potential in &self.potential_roots {
            let tree = trees.find(potential.node);
            if !trees.is_rooted[tree] {
                trees.is_rooted[tree] = true;
                is_root[potential.node.index()] = true;
            }
        }
        let mut nodes: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for node in self.nodes.ids() {
            nodes[trees.find(node)].push(node);
        }
        for (node, (name, span)) in self.nodes.iter() {
            let tree = trees.find(node);
            if !trees.is_rooted[tree] {
                trees.is_rooted[tree] = true;
                is_root[node.index()] = true;
                let nodes = std::mem::take(&mut nodes[tree]);
                let diagnostic = diagnostics::no_root(name, nodes.len(), *span);
                self.rootless.push(Rootless { nodes, diagnostic });
            }
        }
    }

    fn spanning(
        self,
        kept: Vec<K>,
        broken: Vec<K>,
        redundant: Vec<K>,
        is_root: &[bool],
        depths: &[usize],
    ) -> Spanning<K> {
        let mut nodes: IdVec<NodeId, SpanningNode> = self
            .nodes
            .iter()
            .map(|(id, (name, _))| SpanningNode {
                name: name.clone(),
                is_root: is_root[id.index()],
                depth: depths[id.index()],
                branches: Vec::new(),
            })
            .collect();
        for (i, branch) in self.branches.iter().enumerate() {
            nodes[branch.a].branches.push(i as u32);
        }
        let branches = self.branches.iter().map(|b| (b.a, b.b)).collect();
        let (diagnostics, rootless) = (self.diagnostics, self.rootless);
        Spanning { kept, broken, redundant, diagnostics, rootless, nodes, branches }
    }
}

impl<K> Spanning<K> {
    /// `Connections.isRoot(node)`
    pub fn is_root(&self, node: NodeId) -> bool {
        self.nodes.get(node).is_some_and(|n| n.is_root)
    }

    /// Whether `a` is closer to the root of its tree than `b`.
    pub fn is_closer_to_root(&self, a: NodeId, b: NodeId) -> bool {
        let depth = |node| self.nodes.get(node).map_or(usize::MAX, |n: &SpanningNode| n.depth);
        depth(a) < depth(b)
    }

    /// `Connections.rooted(node)`, also the deprecated `rooted(node)`: whether `node` is closer to the root than the
    /// other end of the one branch it is the first argument of.
    pub fn rooted(&self, node: NodeId, span: Span) -> Result<bool, Diagnostic> {
        let (name, branches) = self.nodes.get(node).map_or(("", &[][..]), |n| (n.name.as_str(), n.branches.as_slice()));
        match branches {
            [branch] => {
                let other = self.branches.get(*branch as usize).map_or(node, |(_, b)| *b);
                Ok(self.is_closer_to_root(node, other))
            }
            _ => Err(diagnostics::rooted_needs_one_branch(name, branches.len(), span)),
        }
    }
}

/// A forest in which no tree may have two definite roots.
struct Trees {
    sets: DisjointSets,
    /// By representative of the tree.
    is_rooted: Vec<bool>,
}

impl Trees {
    fn new(n: usize) -> Self {
        Self { sets: DisjointSets::with_len(n), is_rooted: vec![false; n] }
    }

    fn find(&mut self, node: NodeId) -> usize {
        self.sets.find(node.index() as u32) as usize
    }

    /// Adds an edge, unless it would close a loop or join two roots.
    fn join(&mut self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b || (self.is_rooted[a] && self.is_rooted[b]) {
            return false;
        }
        let is_rooted = self.is_rooted[a] || self.is_rooted[b];
        self.sets.union(a as u32, b as u32);
        let tree = self.sets.find(a as u32) as usize;
        self.is_rooted[tree] = is_rooted;
        true
    }
}

fn end_number((node, face): (NodeId, Face)) -> u32 {
    2 * node.index() as u32 + u32::from(face == Face::Outside)
}

/// The connected graphs before anything is broken.
fn ends_joined(n: usize, connections: impl Iterator<Item = (NodeId, NodeId)>, branches: &[Branch]) -> DisjointSets {
    let mut joined = DisjointSets::with_len(n);
    for (a, b) in connections.chain(branches.iter().map(|b| (b.a, b.b))) {
        joined.union(a.index() as u32, b.index() as u32);
    }
    joined
}

/// Distances to the nearest root along the edges of the trees.
fn depths(n: usize, edges: &[(NodeId, NodeId)], is_root: &[bool]) -> Vec<usize> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (a, b) in edges {
        neighbours[a.index()].push(b.index());
        neighbours[b.index()].push(a.index());
    }
    let mut depths = vec![usize::MAX; n];
    let mut queue: std::collections::VecDeque<usize> = (0..n).filter(|&i| is_root[i]).collect();
    for &root in &queue {
        depths[root] = 0;
    }
    while let Some(node) = queue.pop_front() {
        for &next in &neighbours[node] {
            if depths[next] == usize::MAX {
                depths[next] = depths[node] + 1;
                queue.push_back(next);
            }
        }
    }
    depths
}
