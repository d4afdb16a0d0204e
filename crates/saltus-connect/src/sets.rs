//! Collects connected pairs and merges them into connection sets (specification 9.2).
//!
//! In: pairs of [`End`]s and the flow variables of all connectors. Out: [`Connected`].
//!
//! ```text
//! connect(p, resistor.p);   {<p.i, outside>, <resistor.p.i, inside>}   -p.i + resistor.p.i = 0;
//! Pin q;                    {<q.i, inside>}                            q.i = 0;
//! ```
//!
//! Connections between elements of arrays may be given for a whole box of pairs ([`Stride`]); sets that differ by a shift are then made
//! one again ([`fold`](crate::fold)).
//!
//! Invariants: an end is in exactly one set; either all members of a set are whole variables or all are scalars
//! (elements and scalar variables); members are in order of declaration, sets in order of their first `connect`, sets
//! without one last.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use saltus_base::{Diagnostics, Span};
use saltus_flat::{Equation, LocalId, VarId};

use crate::fold::fold;
use crate::local::{self, LocalConnections};
use crate::{End, Face, StreamTable, Variables, check, equations};
use saltus_graph::DisjointSets;

/// A dimension of a box of pairs: how many there are, and by how many elements either end moves on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stride {
    pub n: u64,
    pub a: i64,
    pub b: i64,
}

/// One matched pair of a `connect`, or the first of a box of them.
#[derive(Clone)]
pub(crate) struct Connect {
    pub a: End,
    pub b: End,
    /// Outermost dimension first.
    pub each: Vec<Stride>,
    pub span: Span,
    pub component: Arc<str>,
}

impl Connect {
    /// Visits the pairs of the box.
    pub fn for_each_pair(&self, visit: &mut dyn FnMut(End, End)) {
        walk(&self.each, [0, 0], &mut |[a, b]| visit(moved(self.a, a), moved(self.b, b)));
    }
}

fn walk(each: &[Stride], at: [i64; 2], visit: &mut dyn FnMut([i64; 2])) {
    let Some((stride, inner)) = each.split_first() else { return visit(at) };
    for k in 0..stride.n as i64 {
        walk(inner, [at[0] + k * stride.a, at[1] + k * stride.b], visit);
    }
}

fn moved(end: End, by: i64) -> End {
    End { element: end.element.map(|element| element.wrapping_add_signed(by)), ..end }
}

/// Sets of at least so many elements that differ by a shift give equations for all of them.
#[derive(Clone)]
pub struct Folding {
    pub fewest: u64,
    /// Integers, which those equations run through; there are at most as many dimensions.
    pub iterators: Vec<LocalId>,
}

/// The connections of a model, while they are collected.
#[derive(Default)]
pub struct ConnectionSets {
    connects: Vec<Connect>,
    flows: Vec<End>,
    folding: Option<Folding>,
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
#[derive(Clone)]
pub(crate) struct Member {
    pub end: End,
    pub connect: Option<u32>,
    /// By how many elements it moves on in each dimension of the set.
    pub steps: Vec<i64>,
}

#[derive(Clone)]
pub(crate) struct Set {
    pub members: Vec<Member>,
    /// The first pair that mentions any member.
    pub connect: Option<u32>,
    /// If it stands for a box of sets: the sizes of the box, and its members are those of the first.
    pub dims: Vec<u64>,
}

impl Set {
    /// How many sets it stands for.
    pub fn n(&self) -> u64 {
        self.dims.iter().product()
    }
}

impl ConnectionSets {
    pub fn new() -> Self {
        Self::default()
    }

    /// One matched pair of primitive variables of `connect(…, …)`, which stands at `span` in the instance `component`.
    pub fn connect(&mut self, a: End, b: End, span: Span, component: Arc<str>) {
        self.connect_each(a, b, Vec::new(), span, component);
    }

    /// Such a pair and those that a box of shifts makes of it.
    pub fn connect_each(&mut self, a: End, b: End, each: Vec<Stride>, span: Span, component: Arc<str>) {
        self.connects.push(Connect { a, b, each, span, component });
    }

    /// A flow variable that is zero unless it is connected. Every flow variable of every connector is added with
    /// [`Face::Inside`]; see the crate documentation. Variables that are not `flow` are ignored.
    pub fn add_flow(&mut self, end: End) {
        self.flows.push(end);
    }

    /// Makes equations for all of the sets that differ by a shift.
    pub fn fold(&mut self, folding: Folding) {
        self.folding = Some(folding);
    }

    /// Merges the sets and derives their equations. Wrong pairs are reported and left out.
    pub fn finish(self, vars: &dyn Variables) -> Connected {
        let mut diagnostics = Diagnostics::new();
        let connects = check::accepted_connects(self.connects, vars, &mut diagnostics);
        let flows = check::accepted_flows(self.flows, vars, &mut diagnostics);
        let split = SplitArrays::new(&connects, &flows, vars, &mut diagnostics);
        let merged = merge(&connects, &flows, &split, self.folding.is_some());
        let sets = match &self.folding {
            Some(folding) => fold(merged.sets(), folding, vars),
            None => merged.sets().collect(),
        };
        drop(merged);
        for set in &sets {
            check::set(set, &connects, vars, &mut diagnostics);
        }
        let streams = StreamTable::new(&sets, &connects, vars, &mut diagnostics);
        let equations = equations::of_sets(&sets, &connects, &streams, self.folding.as_ref(), vars);
        Connected { equations, diagnostics, streams, local: local::count(&connects, vars) }
    }
}

/// An array variable as seen from one side.
type Side = (VarId, Face);

/// More elements than this are not connected one by one.
const MOST_ELEMENTS: u64 = 1 << 22;
/// The same for all arrays of a model.
const MOST_NODES: u64 = 1 << 30;

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
        let mut n_nodes = 0;
        for (id, &(side, span)) in sides.iter().enumerate() {
            let ty = vars.ty(side.0);
            if ty.is_scalar() || !split_classes.contains(&classes.find(id as u32)) {
                continue;
            }
            match ty.n_elements().filter(|&n| n <= MOST_ELEMENTS && n_nodes + n <= MOST_NODES) {
                Some(n) => {
                    n_nodes += n;
                    n_elements.insert(side, n);
                }
                None => {
                    diagnostics.push(crate::diagnostics::too_many_elements(vars.name(side.0), MOST_ELEMENTS, span));
                    n_elements.insert(side, 0);
                }
            }
        }
        Self { n_elements }
    }

    /// The number of elements, if the array is taken apart.
    fn n_elements(&self, end: End) -> Option<u64> {
        self.n_elements.get(&side(end)).copied()
    }

    /// The number of elements that `end` stands for, if it is a whole array that must be taken apart.
    fn n_parts(&self, end: End) -> Option<u64> {
        if end.element.is_some() { None } else { self.n_elements(end) }
    }
}

/// A side with its numbers in the union-find: one for each element, or for all of it.
struct Numbered {
    side: Side,
    first: u32,
    /// Its elements are connected one by one.
    is_split: bool,
}

/// Not in any set.
const ABSENT: u32 = u32::MAX;
/// In a set that no `connect` mentions.
const ALONE: u32 = u32::MAX - 1;

/// Connection sets as numbers.
pub(crate) struct Merged {
    sides: Vec<Numbered>,
    /// The first pair that mentions each number, or one of the above.
    connects: Vec<u32>,
    /// The members of all sets, and where each set begins.
    members: Vec<u32>,
    starts: Vec<u32>,
}

/// Merges the connected ends. If `folds`, pairs that come from the same place count as one, so that sets which differ by a shift follow
/// each other.
pub(crate) fn merge(connects: &[Connect], flows: &[End], split: &SplitArrays, folds: bool) -> Merged {
    let mut sides: Vec<Side> =
        connects.iter().flat_map(|c| [c.a, c.b]).chain(flows.iter().copied()).map(side).collect();
    sides.sort_unstable();
    sides.dedup();
    let mut n_nodes = 0u32;
    let mut base: HashMap<Side, u32> = HashMap::with_capacity(sides.len());
    let sides: Vec<Numbered> = sides
        .into_iter()
        .map(|side| {
            let n = split.n_elements.get(&side).copied();
            let first = n_nodes;
            n_nodes += n.map_or(1, |n| n as u32);
            base.insert(side, first);
            Numbered { side, first, is_split: n.is_some() }
        })
        .collect();
    let mut sets = DisjointSets::with_len(n_nodes as usize);
    let mut first_connects = vec![ABSENT; n_nodes as usize];
    let node =
        |end: End| base[&side(end)] + if split.n_elements(end).is_some() { end.element.unwrap_or(0) as u32 } else { 0 };
    let mut places: HashMap<(Span, &str, Side, Side), u32> = HashMap::new();
    for (i, connect) in connects.iter().enumerate() {
        let place = match folds {
            true => {
                *places.entry((connect.span, &*connect.component, side(connect.a), side(connect.b))).or_insert(i as u32)
            }
            false => i as u32,
        };
        let mut join = |a: u32, b: u32| {
            for node in [a, b] {
                let first = &mut first_connects[node as usize];
                *first = place.min(*first);
            }
            sets.union(a, b);
        };
        if [connect.a, connect.b].into_iter().any(|end| split.n_elements(end) == Some(0)) {
            continue;
        }
        match split.n_parts(connect.a).into_iter().chain(split.n_parts(connect.b)).min() {
            Some(n) => (0..n).for_each(|k| join(node(connect.a.at(k)), node(connect.b.at(k)))),
            None => {
                let (a, b) = (node(connect.a), node(connect.b));
                let shift = |from: u32, by: i64| from.wrapping_add_signed(by as i32);
                walk(&connect.each, [0, 0], &mut |[i, j]| join(shift(a, i), shift(b, j)));
            }
        }
    }
    for &flow in flows {
        let n = split.n_parts(flow).unwrap_or(1) as usize;
        let first = node(flow) as usize;
        for connect in first_connects[first..first + n].iter_mut().filter(|c| **c == ABSENT) {
            *connect = ALONE;
        }
    }
    Merged::new(sides, sets, first_connects)
}

fn side(end: End) -> Side {
    (end.var, end.face)
}

impl Merged {
    fn new(sides: Vec<Numbered>, mut sets: DisjointSets, connects: Vec<u32>) -> Merged {
        let mut of_root = vec![ABSENT; connects.len()];
        let mut first: Vec<u32> = Vec::new();
        let mut sizes: Vec<u32> = Vec::new();
        let present = |node: &u32| connects[*node as usize] != ABSENT;
        let nodes = || (0..connects.len() as u32).filter(present);
        for node in nodes() {
            let root = sets.find(node) as usize;
            if of_root[root] == ABSENT {
                of_root[root] = first.len() as u32;
                first.push(ABSENT);
                sizes.push(0);
            }
            let at = of_root[root] as usize;
            first[at] = first[at].min(connects[node as usize]);
            sizes[at] += 1;
        }
        // Sets are numbered in the order of their first members, so that a stable order by pairs is all that is needed.
        let mut order: Vec<u32> = (0..first.len() as u32).collect();
        order.sort_by_key(|&set| first[set as usize]);
        let mut starts = Vec::with_capacity(order.len() + 1);
        let mut next = vec![0u32; order.len()];
        let mut at = 0;
        for &set in &order {
            starts.push(at);
            next[set as usize] = at;
            at += sizes[set as usize];
        }
        starts.push(at);
        let mut members = vec![0; at as usize];
        for node in nodes() {
            let place = &mut next[of_root[sets.find(node) as usize] as usize];
            members[*place as usize] = node;
            *place += 1;
        }
        Merged { sides, connects, members, starts }
    }

    pub fn sets(&self) -> impl Iterator<Item = Set> + '_ {
        self.starts.windows(2).map(|bounds| {
            let nodes = &self.members[bounds[0] as usize..bounds[1] as usize];
            let mut members: Vec<Member> = nodes.iter().map(|&node| self.member(node)).collect();
            if !members.is_sorted_by_key(|m| m.end) {
                members.sort_by_key(|m| m.end);
            }
            let connect = members.iter().filter_map(|m| m.connect).min();
            Set { members, connect, dims: Vec::new() }
        })
    }

    fn member(&self, node: u32) -> Member {
        let at = self.sides.partition_point(|side| side.first <= node).saturating_sub(1);
        let Numbered { side: (var, face), first, is_split } = self.sides[at];
        let element = is_split.then(|| u64::from(node - first));
        let connect = Some(self.connects[node as usize]).filter(|&c| c < ALONE);
        Member { end: End { var, element, face }, connect, steps: Vec::new() }
    }
}
