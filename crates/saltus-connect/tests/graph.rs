//! Spanning trees of overconstrained connections (specification 9.4), and `cardinality`.

use std::collections::BTreeMap;

use saltus_base::{FileId, Index, Span};
use saltus_connect::graph::{ConnectionGraph, NodeId, Spanning};
use saltus_connect::{Cardinality, Face};

struct Case {
    nodes: BTreeMap<String, NodeId>,
    result: Spanning<String>,
}

fn line_span(line: usize) -> Span {
    Span::new(FileId::from_usize(0), 10 * line as u32, 10 * line as u32 + 5)
}

/// Lines: `root a`, `unique a`, `potential a 1`, `branch a b`, `connect a b` (`^a`: outside), `node a`. Nodes are made
/// when they are first mentioned; the key of a connection is its text.
fn graph(text: &str) -> Case {
    let mut graph = ConnectionGraph::new();
    let mut nodes = BTreeMap::new();
    for (i, line) in text.trim().lines().enumerate() {
        let span = line_span(i + 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut node = |graph: &mut ConnectionGraph<String>, name: &str| {
            *nodes.entry(name.to_string()).or_insert_with(|| graph.add_node(name, span))
        };
        match words.as_slice() {
            ["node", a] => drop(node(&mut graph, a).index()),
            ["root", a] => {
                let a = node(&mut graph, a);
                graph.root(a, span);
            }
            ["unique", a] => {
                let a = node(&mut graph, a);
                graph.unique_root(a, "one world is enough", span);
            }
            ["potential", a, priority] => {
                let a = node(&mut graph, a);
                graph.potential_root(a, priority.parse().unwrap(), span);
            }
            ["branch", a, b] => {
                let (a, b) = (node(&mut graph, a), node(&mut graph, b));
                graph.branch(a, b, span);
            }
            ["connect", a, b] => {
                let face = |name: &str| if name.starts_with('^') { Face::Outside } else { Face::Inside };
                let ends = [a, b].map(|name| (node(&mut graph, name.trim_start_matches('^')), face(name)));
                graph.connection(ends[0], ends[1], format!("{a} {b}"));
            }
            other => panic!("{other:?}"),
        }
    }
    Case { nodes, result: graph.finish() }
}

impl Case {
    fn messages(&self) -> String {
        let mut text = String::new();
        for d in self.result.diagnostics.iter().chain(self.result.rootless.iter().map(|tree| &tree.diagnostic)) {
            text += &format!("{} line {}: {}\n", d.code.0, d.span.map_or(0, |s| s.start / 10), d.message);
            text.extend(d.labels.iter().map(|l| format!("  line {}: {}\n", l.span.start / 10, l.text)));
            text.extend(d.hints.iter().map(|h| format!("  hint: {h}\n")));
        }
        text
    }

    fn roots(&self) -> Vec<&str> {
        self.nodes.iter().filter(|(_, id)| self.result.is_root(**id)).map(|(name, _)| name.as_str()).collect()
    }

    fn rooted(&self, name: &str) -> Result<bool, String> {
        self.result
            .rooted(self.nodes[name], line_span(99))
            .map_err(|d| format!("{} line {}: {}", d.code.0, d.span.map_or(0, |s| s.start / 10), d.message))
    }
}

#[test]
fn a_loop_is_broken_at_its_last_connection() {
    let case = graph(
        "
root world
connect world a.p
branch a.p a.n
connect world b.p
branch b.n b.p
connect a.n b.n
",
    );
    assert_eq!(case.messages(), "");
    assert_eq!(case.result.broken, ["a.n b.n"]);
    assert_eq!(case.result.kept, ["world a.p", "world b.p"]);
    assert_eq!(case.roots(), ["world"]);
    // a is passed from p to n, b from p to n although its branch is written the other way.
    assert_eq!(case.rooted("a.p"), Ok(true));
    assert_eq!(case.rooted("b.n"), Ok(false));
    assert_eq!(
        case.rooted("a.n"),
        Err("E0525 line 99: `Connections.rooted(a.n)` needs exactly one `Connections.branch(a.n, …)`, but there are 0"
            .into())
    );
}

#[test]
fn two_definite_roots_share_a_graph_only_over_a_broken_connection() {
    let case = graph("root a\nroot b\nbranch a m\nconnect m n\nbranch n b\n");
    assert_eq!(case.messages(), "");
    assert_eq!(case.result.broken, ["m n"]);
    assert_eq!(case.roots(), ["a", "b"]);
    assert_eq!(case.rooted("n"), Ok(false));
}

#[test]
fn the_potential_root_of_lowest_priority_number_is_taken() {
    let case = graph("potential a 2\npotential c 1\npotential b 1\nconnect a b\nconnect b c\n");
    assert_eq!(case.messages(), "");
    assert_eq!(case.roots(), ["c"]);
    // With a definite root in the graph, none of them.
    let case = graph("potential a 0\nroot z\nconnect a b\nconnect b z\n");
    assert_eq!(case.roots(), ["z"]);
    assert!(case.result.broken.is_empty());
}

#[test]
fn each_graph_has_its_own_root() {
    let case = graph("potential a 0\nconnect a b\npotential c 5\nconnect c d\npotential d 5\n");
    assert_eq!(case.messages(), "");
    assert_eq!(case.roots(), ["a", "c"]);
}

#[test]
fn redundant_connections_are_neither_kept_nor_broken() {
    let case = graph("root a\nconnect a b\nconnect b c\nconnect a c\nconnect b a\nconnect c c\n");
    assert_eq!(case.messages(), "");
    assert_eq!(case.result.kept, ["a b", "b c"]);
    assert_eq!(case.result.redundant, ["a c", "b a", "c c"]);
    assert!(case.result.broken.is_empty());
}

#[test]
fn the_same_nodes_on_another_level_are_not_redundant() {
    // Inside the component of p and q they are connected, and outside too: two different connection sets.
    let case = graph("root p\nconnect ^p ^q\nconnect p q\n");
    assert_eq!(case.result.kept, ["^p ^q"]);
    assert_eq!(case.result.broken, ["p q"]);
    assert!(case.result.redundant.is_empty());
}

#[test]
fn roots_joined_by_branches() {
    let case = graph("root a\nbranch a b\nbranch b c\nroot c\nroot a\n");
    assert_eq!(
        case.messages(),
        "\
E0520 line 4: the roots `a` and `c` are joined by `Connections.branch` alone, so that no connection between them can be broken
  line 1: the other root
  hint: make one of them a potential root with `Connections.potentialRoot`
"
    );
}

#[test]
fn branches_in_a_loop() {
    let case = graph("root a\nbranch a b\nbranch b c\nbranch c a\n");
    assert_eq!(
        case.messages(),
        "\
E0521 line 4: `Connections.branch(c, a)` closes a loop of branches, so that the connection graph has no spanning tree
  hint: remove one branch of the loop; only connections made with `connect` can be broken
"
    );
}

#[test]
fn a_graph_without_root() {
    let case = graph("branch a b\nconnect b c\nnode d\n");
    assert_eq!(
        case.messages(),
        "\
E0522 line 1: `a` and 2 other overdetermined connector parts connected to it have neither a root nor a potential root
  hint: connect it to a component that defines the root, for instance `world.frame_b` or a ground
E0522 line 3: the overdetermined connector part `d` has neither a root nor a potential root
  hint: connect it to a component that defines the root, for instance `world.frame_b` or a ground
"
    );
    assert_eq!(case.roots(), ["a", "d"]);
}

#[test]
fn a_unique_root_with_another_root() {
    let case = graph("unique a\nconnect a b\nconnect b c\nroot c\n");
    assert_eq!(
        case.messages(),
        "\
E0523 line 1: `a` must be the only root, but `c` is a root too: one world is enough
  line 4: the other root
  hint: keep the two parts of the model unconnected, or remove one root
"
    );
    assert_eq!(graph("unique a\nconnect a b\nroot c\n").messages(), "");
}

#[test]
fn a_negative_priority() {
    assert_eq!(
        graph("potential a -1\n").messages(),
        "\
E0524 line 1: the potential root `a` has the priority -1; zero or more is expected
  hint: use 0 for the highest priority
"
    );
}

/// A chain of n branches with n + 1 connections in a ring, plus a second root: every edge of the graph is in a tree or
/// broken, and a forest with r roots over v nodes has v − r edges.
#[test]
fn kept_edges_and_branches_make_a_forest() {
    let mut seed = 7u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for _ in 0..200 {
        let n = 2 + below(15);
        let mut text: String = (0..n).map(|i| format!("branch p{i} n{i}\npotential p{i} {}\n", i % 3)).collect();
        for _ in 0..below(2 * n) {
            let side = |k: usize| if k == 0 { "p" } else { "n" };
            text += &format!("connect {}{} {}{}\n", side(below(2)), below(n), side(below(2)), below(n));
        }
        for i in 0..below(3) {
            text += &format!("root p{i}\n");
        }
        let case = graph(&text);
        assert_eq!(case.messages(), "", "{text}");
        let n_edges = case.result.kept.len() + n;
        assert_eq!(n_edges, 2 * n - case.roots().len(), "{text}");
        // Each branch leads away from a root on exactly one of its sides.
        for i in 0..n {
            let (p, n) = (case.nodes[&format!("p{i}")], case.nodes[&format!("n{i}")]);
            assert_ne!(case.result.is_closer_to_root(p, n), case.result.is_closer_to_root(n, p), "{text}");
        }
    }
}

#[test]
fn long_chains_take_no_stack() {
    // 100 000 nodes in a row: depth and time must not depend on recursion.
    let mut graph = ConnectionGraph::new();
    let nodes: Vec<NodeId> = (0..100_000).map(|i| graph.add_node(format!("n{i}"), line_span(i))).collect();
    graph.root(nodes[0], line_span(0));
    for (i, pair) in nodes.windows(2).enumerate() {
        graph.connection((pair[0], Face::Inside), (pair[1], Face::Inside), i);
    }
    let result = graph.finish();
    assert_eq!((result.kept.len(), result.broken.len()), (99_999, 0));
    assert!(result.is_closer_to_root(nodes[99_998], nodes[99_999]));
}

#[test]
fn cardinality_counts_occurrences() {
    let mut cardinality = Cardinality::new();
    cardinality.connect("a", "b");
    cardinality.connect("a", "c");
    cardinality.connect("a", "b");
    assert_eq!(["a", "b", "c", "d"].map(|c| cardinality.of(&c)), [3, 2, 1, 0]);
}
