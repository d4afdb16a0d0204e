//! Collects connected pairs and merges them into connection sets (specification 9.2).
//!
//! In: pairs of [`End`]s and the flow variables of all connectors. Out: [`Connected`].
//!
//! ```text
//! connect(p, resistor.p);   {<p.i, outside>, <resistor.p.i, inside>}   -p.i + resistor.p.i = 0;
//! Pin q;                    {<q.i, inside>}                            q.i = 0;
//! ```
//!
//! Invariants: an end is in exactly one set; either all members of a set are whole variables or all are scalars
//! (elements and scalar variables); members are in order of declaration, sets in order of their first `connect`, sets
//! without one last.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use saltus_base::{Diagnostics, Span};
use saltus_flat::{Equation, VarId};

use crate::local::{self, LocalConnections};
use crate::{End, Face, StreamTable, Variables, check, equations};
use saltus_graph::DisjointSets;

/// One matched pair of a `connect`.
#[derive(Clone)]
pub(crate) struct Connect {
    pub a: End,
    pub b: End,
    pub span: Span,
    pub component: Arc<str>,
}

/// The connections of a model, while they are collected.
#[derive(Default)]
pub struct ConnectionSets {
    connects: Vec<Connect>,
    flows: Vec<End>,
}

/// What the connections of a model mean.
pub struct Connected {
    pub equations: Vec<Equation>,
    pub diagnostics: Diagnostics,
    pub streams: StreamTable,
    /// By the component that the `connect`s stand in.
    pub local: BTreeMap<Arc<str>, LocalConnections>,
}

/// An end in a set, with the first pair that mentions it.
pub(crate) struct Member {
    pub end: End,
    pub connect: Option<u32>,
}

pub(crate) struct Set {
    pub members: Vec<Member>,
    /// The first pair that mentions any member.
    pub connect: Option<u32>,
}

impl ConnectionSets {
    pub fn new() -> Self {
        Self::default()
    }

    /// One matched pair of primitive variables of `connect(…, …)`, which stands at `span` in the instance `component`.
    pub fn connect(&mut self, a: End, b: End, span: Span, component: Arc<str>) {
        self.connects.push(Connect { a, b, span, component });
    }

    /// A flow variable that is zero unless it is connected. Every flow variable of every connector is added with
    /// [`Face::Inside`]; see the crate documentation. Variables that are not `flow` are ignored.
    pub fn add_flow(&mut self, end: End) {
        self.flows.push(end);
    }

    /// Merges the sets and derives their equations. Wrong pairs are reported and left out.
    pub fn finish(self, vars: &dyn Variables) -> Connected {
        let mut diagnostics = Diagnostics::new();
        let connects = check::accepted_connects(self.connects, vars, &mut diagnostics);
        let flows = check::accepted_flows(self.flows, vars, &mut diagnostics);
        let split = SplitArrays::new(&connects, &flows, vars, &mut diagnostics);
        let sets = merge(&connects, &flows, &split);
        for set in &sets {
            check::set(set, &connects, vars, &mut diagnostics);
        }
        let streams = StreamTable::new(&sets, &connects, vars, &mut diagnostics);
        let equations = equations::of_sets(&sets, &connects, &streams, vars);
        Connected { equations, diagnostics, streams, local: local::count(&connects, vars) }
    }
}

/// An array variable as seen from one side.
type Side = (VarId, Face);

/// More elements than this are not connected one by one.
const MOST_ELEMENTS: u64 = 1 << 22;

/// Which arrays must be taken apart because an element of them, or of an array connected to them, is connected alone;
/// with their number of elements.
pub(crate) struct SplitArrays {
    n_elements: HashMap<Side, u64>,
}

impl SplitArrays {
    pub fn new(connects: &[Connect], flows: &[End], vars: &dyn Variables, diagnostics: &mut Diagnostics) -> Self {
        let mut ids: HashMap<Side, u32> = HashMap::new();
        let mut sides: Vec<(Side, Span)> = Vec::new();
        let mut classes = DisjointSets::default();
        let mut id_of = |end: End, span: Span, classes: &mut DisjointSets| {
            *ids.entry((end.var, end.face)).or_insert_with(|| {
                sides.push(((end.var, end.face), span));
                classes.push()
            })
        };
        let mut in_parts: Vec<u32> = Vec::new();
        for connect in connects {
            let a = id_of(connect.a, connect.span, &mut classes);
            let b = id_of(connect.b, connect.span, &mut classes);
            // A scalar that is connected to an element stays what it is: only whole arrays pass the split on.
            if connect.a.element.is_none() && connect.b.element.is_none() {
                classes.union(a, b);
            }
            in_parts.extend(connect.a.element.map(|_| a));
            in_parts.extend(connect.b.element.map(|_| b));
        }
        for &flow in flows.iter().filter(|f| f.element.is_some()) {
            in_parts.push(id_of(flow, vars.span(flow.var), &mut classes));
        }
        let split_classes: HashSet<u32> = in_parts.into_iter().map(|id| classes.find(id)).collect();
        let mut n_elements = HashMap::new();
        for (id, &(side, span)) in sides.iter().enumerate() {
            let ty = vars.ty(side.0);
            if ty.is_scalar() || !split_classes.contains(&classes.find(id as u32)) {
                continue;
            }
            match ty.n_elements().filter(|&n| n <= MOST_ELEMENTS) {
                Some(n) => drop(n_elements.insert(side, n)),
                None => {
                    diagnostics.push(crate::diagnostics::too_many_elements(vars.name(side.0), MOST_ELEMENTS, span));
                    n_elements.insert(side, 0);
                }
            }
        }
        Self { n_elements }
    }

    /// The number of elements that `end` stands for, if it is a whole array that must be taken apart.
    fn n_parts(&self, end: End) -> Option<u64> {
        if end.element.is_some() {
            return None;
        }
        self.n_elements.get(&(end.var, end.face)).copied()
    }
}

/// Ends with their numbers in the union-find.
#[derive(Default)]
struct Nodes {
    ids: HashMap<End, u32>,
    members: Vec<Member>,
    sets: DisjointSets,
}

impl Nodes {
    fn id(&mut self, end: End, connect: Option<u32>) -> u32 {
        let id = *self.ids.entry(end).or_insert_with(|| {
            self.members.push(Member { end, connect: None });
            self.sets.push()
        });
        let member = &mut self.members[id as usize];
        member.connect = member.connect.or(connect);
        id
    }

    fn add(&mut self, end: End) {
        self.id(end, None);
    }

    fn join(&mut self, a: End, b: End, connect: u32) {
        let a = self.id(a, Some(connect));
        let b = self.id(b, Some(connect));
        self.sets.union(a, b);
    }
}

pub(crate) fn merge(connects: &[Connect], flows: &[End], split: &SplitArrays) -> Vec<Set> {
    let mut nodes = Nodes::default();
    for (i, connect) in connects.iter().enumerate() {
        match split.n_parts(connect.a).or(split.n_parts(connect.b)) {
            Some(n) => (0..n).for_each(|k| nodes.join(connect.a.at(k), connect.b.at(k), i as u32)),
            None => nodes.join(connect.a, connect.b, i as u32),
        }
    }
    for &flow in flows {
        match split.n_parts(flow) {
            Some(n) => (0..n).for_each(|k| nodes.add(flow.at(k))),
            None => nodes.add(flow),
        }
    }
    into_sets(nodes)
}

fn into_sets(mut nodes: Nodes) -> Vec<Set> {
    let mut of_root: HashMap<u32, usize> = HashMap::new();
    let mut sets: Vec<Set> = Vec::new();
    for (id, member) in nodes.members.into_iter().enumerate() {
        let root = nodes.sets.find(id as u32);
        let at = *of_root.entry(root).or_insert_with(|| {
            sets.push(Set { members: Vec::new(), connect: None });
            sets.len() - 1
        });
        let set = &mut sets[at];
        set.connect = [set.connect, member.connect].into_iter().flatten().min();
        set.members.push(member);
    }
    for set in &mut sets {
        set.members.sort_by_key(|m| m.end);
    }
    sets.sort_by_key(|s| (s.connect.unwrap_or(u32::MAX), s.members.first().map(|m| m.end)));
    sets
}
