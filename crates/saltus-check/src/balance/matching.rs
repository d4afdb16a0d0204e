//! Maximum matching of equations to unknowns on integer indices, where each node has a size.
//!
//! An array equation of three elements may determine one variable of three elements or three scalars, so the matching
//! is a flow: each equation gives up to its size, each unknown takes up to its size.
//!
//! Nodes that have only one partner left are served first (Karp and Sipser 1981), which matches nearly everything in
//! models; the rest is found by shortest augmenting paths in phases (Hopcroft and Karp 1973, Dinic 1970).

/// Equations, unknowns, and who occurs in whom.
#[derive(Default, Debug)]
pub struct Graph {
    pub equation_sizes: Vec<u64>,
    pub unknown_sizes: Vec<u64>,
    /// (equation, unknown), each pair once.
    pub edges: Vec<(u32, u32)>,
}

/// A maximum matching.
#[derive(Debug)]
pub struct Matching {
    /// How much of each equation determines nothing.
    pub equation_rest: Vec<u64>,
    /// How much of each unknown is not determined.
    pub unknown_rest: Vec<u64>,
    flow: Vec<u64>,
    of_equation: Adjacency,
    of_unknown: Adjacency,
}

/// Edge numbers by node, in compressed rows.
#[derive(Debug)]
struct Adjacency {
    starts: Vec<usize>,
    edges: Vec<u32>,
}

impl Adjacency {
    fn new(n: usize, nodes: impl std::iter::Iterator<Item = u32> + Clone) -> Adjacency {
        let mut starts = vec![0usize; n + 1];
        nodes.clone().for_each(|node| starts[node as usize + 1] += 1);
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut edges = vec![0u32; starts[n]];
        for (edge, node) in nodes.enumerate() {
            edges[next[node as usize]] = edge as u32;
            next[node as usize] += 1;
        }
        Adjacency { starts, edges }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.edges[self.starts[node as usize]..self.starts[node as usize + 1]]
    }
}

/// A node of either side.
#[derive(Clone, Copy)]
enum Node {
    Equation(u32),
    Unknown(u32),
}

pub fn match_equations(graph: &Graph) -> Matching {
    let mut matching = Matching {
        equation_rest: graph.equation_sizes.clone(),
        unknown_rest: graph.unknown_sizes.clone(),
        flow: vec![0; graph.edges.len()],
        of_equation: Adjacency::new(graph.equation_sizes.len(), graph.edges.iter().map(|e| e.0)),
        of_unknown: Adjacency::new(graph.unknown_sizes.len(), graph.edges.iter().map(|e| e.1)),
    };
    matching.serve_single_partners(graph);
    while matching.augment(graph) {}
    matching
}

impl Matching {
    pub fn is_perfect(&self) -> bool {
        self.equation_rest.iter().chain(&self.unknown_rest).all(|&r| r == 0)
    }

    fn give(&mut self, graph: &Graph, edge: u32) {
        let (equation, unknown) = graph.edges[edge as usize];
        let amount = self.equation_rest[equation as usize].min(self.unknown_rest[unknown as usize]);
        self.flow[edge as usize] += amount;
        self.equation_rest[equation as usize] -= amount;
        self.unknown_rest[unknown as usize] -= amount;
    }

    fn is_open(&self, graph: &Graph, edge: u32) -> bool {
        let (equation, unknown) = graph.edges[edge as usize];
        self.flow[edge as usize] == 0
            && self.equation_rest[equation as usize] > 0
            && self.unknown_rest[unknown as usize] > 0
    }

    /// Serves nodes with one open edge; where there are none, the equations in order of size of choice.
    fn serve_single_partners(&mut self, graph: &Graph) {
        let n_equations = graph.equation_sizes.len();
        let mut degree_e: Vec<usize> = (0..n_equations).map(|e| self.of_equation.of(e as u32).len()).collect();
        let mut degree_u: Vec<usize> =
            (0..graph.unknown_sizes.len()).map(|u| self.of_unknown.of(u as u32).len()).collect();
        let mut queue: Vec<Node> = Vec::new();
        queue.extend((0..degree_u.len()).rev().filter(|&u| degree_u[u] == 1).map(|u| Node::Unknown(u as u32)));
        queue.extend((0..n_equations).rev().filter(|&e| degree_e[e] == 1).map(|e| Node::Equation(e as u32)));
        let mut order: Vec<u32> = (0..n_equations as u32).collect();
        order.sort_by_key(|&e| degree_e[e as usize]);
        let mut closed_e = vec![false; n_equations];
        let mut closed_u = vec![false; graph.unknown_sizes.len()];
        let mut order = order.into_iter();
        loop {
            let node = match queue.pop() {
                Some(node) => node,
                None => match order.next() {
                    Some(equation) => Node::Equation(equation),
                    None => return,
                },
            };
            loop {
                let list = match node {
                    Node::Equation(e) => self.of_equation.of(e),
                    Node::Unknown(u) => self.of_unknown.of(u),
                };
                // An equation prefers an unknown that few others contain.
                let Some(&edge) = list
                    .iter()
                    .filter(|&&edge| self.is_open(graph, edge))
                    .min_by_key(|&&edge| degree_u[graph.edges[edge as usize].1 as usize])
                else {
                    break;
                };
                self.give(graph, edge);
                let (e, u) = graph.edges[edge as usize];
                if self.equation_rest[e as usize] == 0 && !std::mem::replace(&mut closed_e[e as usize], true) {
                    for &other in self.of_equation.of(e) {
                        let u = graph.edges[other as usize].1;
                        degree_u[u as usize] -= 1;
                        if degree_u[u as usize] == 1 {
                            queue.push(Node::Unknown(u));
                        }
                    }
                }
                if self.unknown_rest[u as usize] == 0 && !std::mem::replace(&mut closed_u[u as usize], true) {
                    for &other in self.of_unknown.of(u) {
                        let e = graph.edges[other as usize].0;
                        degree_e[e as usize] -= 1;
                        if degree_e[e as usize] == 1 {
                            queue.push(Node::Equation(e));
                        }
                    }
                }
            }
        }
    }

    /// One phase: levels by breadth-first search, then disjoint shortest augmenting paths. False if there is none.
    fn augment(&mut self, graph: &Graph) -> bool {
        const FAR: u32 = u32::MAX;
        let mut level_e = vec![FAR; self.equation_rest.len()];
        let mut level_u = vec![FAR; self.unknown_rest.len()];
        let mut front: Vec<u32> = (0..level_e.len() as u32).filter(|&e| self.equation_rest[e as usize] > 0).collect();
        front.iter().for_each(|&e| level_e[e as usize] = 0);
        let (mut level, mut found) = (0, false);
        while !front.is_empty() && !found {
            let mut next = Vec::new();
            for &equation in &front {
                for &edge in self.of_equation.of(equation) {
                    let unknown = graph.edges[edge as usize].1;
                    if level_u[unknown as usize] != FAR {
                        continue;
                    }
                    level_u[unknown as usize] = level;
                    found |= self.unknown_rest[unknown as usize] > 0;
                    for &back in self.of_unknown.of(unknown) {
                        let other = graph.edges[back as usize].0;
                        if self.flow[back as usize] > 0 && level_e[other as usize] == FAR {
                            level_e[other as usize] = level + 1;
                            next.push(other);
                        }
                    }
                }
            }
            level += 1;
            front = next;
        }
        if found {
            let sources: Vec<u32> = (0..level_e.len() as u32).filter(|&e| level_e[e as usize] == 0).collect();
            self.push_along_levels(graph, &sources, &level_e, &level_u);
        }
        found
    }

    fn push_along_levels(&mut self, graph: &Graph, sources: &[u32], level_e: &[u32], level_u: &[u32]) {
        let mut next_e = vec![0usize; level_e.len()];
        let mut next_u = vec![0usize; level_u.len()];
        for &source in sources {
            // The path alternates: forward edge, backward edge, forward edge, …
            let mut path: Vec<u32> = Vec::new();
            let mut node = Node::Equation(source);
            while self.equation_rest[source as usize] > 0 {
                let step = match node {
                    Node::Equation(e) => {
                        let list = self.of_equation.of(e);
                        let is_next = |edge: u32| level_u[graph.edges[edge as usize].1 as usize] == level_e[e as usize];
                        let step = list[next_e[e as usize]..].iter().position(|&edge| is_next(edge));
                        next_e[e as usize] = step.map_or(list.len(), |s| next_e[e as usize] + s);
                        step.map(|_| list[next_e[e as usize]])
                    }
                    Node::Unknown(u) => {
                        let list = self.of_unknown.of(u);
                        let is_next = |edge: u32| {
                            self.flow[edge as usize] > 0
                                && level_e[graph.edges[edge as usize].0 as usize]
                                    == level_u[u as usize].saturating_add(1)
                        };
                        let step = list[next_u[u as usize]..].iter().position(|&edge| is_next(edge));
                        next_u[u as usize] = step.map_or(list.len(), |s| next_u[u as usize] + s);
                        step.map(|_| list[next_u[u as usize]])
                    }
                };
                match (step, node) {
                    (Some(edge), Node::Equation(_)) => {
                        path.push(edge);
                        let unknown = graph.edges[edge as usize].1;
                        if self.unknown_rest[unknown as usize] > 0 {
                            self.push(graph, source, &path);
                            path.clear();
                            node = Node::Equation(source);
                        } else {
                            node = Node::Unknown(unknown);
                        }
                    }
                    (Some(edge), Node::Unknown(_)) => {
                        path.push(edge);
                        node = Node::Equation(graph.edges[edge as usize].0);
                    }
                    // A dead end: step back and never try that edge again in this phase.
                    (None, _) => match path.pop() {
                        None => break,
                        Some(edge) => {
                            let (e, u) = graph.edges[edge as usize];
                            node = match node {
                                Node::Unknown(_) => {
                                    next_e[e as usize] += 1;
                                    Node::Equation(e)
                                }
                                Node::Equation(_) => {
                                    next_u[u as usize] += 1;
                                    Node::Unknown(u)
                                }
                            };
                        }
                    },
                }
            }
        }
    }

    fn push(&mut self, graph: &Graph, source: u32, path: &[u32]) {
        let Some(&last) = path.last() else { return };
        let end = graph.edges[last as usize].1;
        let mut amount = self.equation_rest[source as usize].min(self.unknown_rest[end as usize]);
        for back in path.iter().skip(1).step_by(2) {
            amount = amount.min(self.flow[*back as usize]);
        }
        for (i, &edge) in path.iter().enumerate() {
            if i % 2 == 0 {
                self.flow[edge as usize] += amount;
            } else {
                self.flow[edge as usize] -= amount;
            }
        }
        self.equation_rest[source as usize] -= amount;
        self.unknown_rest[end as usize] -= amount;
    }

    /// Unknowns that are not determined in some maximum matching (the under-determined part of Dulmage and
    /// Mendelsohn), in order.
    pub fn undetermined(&self, graph: &Graph) -> Vec<u32> {
        let mut seen: Vec<bool> = self.unknown_rest.iter().map(|&r| r > 0).collect();
        let mut seen_equation = vec![false; self.equation_rest.len()];
        let mut stack: Vec<u32> = (0..seen.len() as u32).filter(|&u| seen[u as usize]).collect();
        while let Some(unknown) = stack.pop() {
            for &edge in self.of_unknown.of(unknown) {
                let equation = graph.edges[edge as usize].0;
                if std::mem::replace(&mut seen_equation[equation as usize], true) {
                    continue;
                }
                for &other in self.of_equation.of(equation) {
                    let next = graph.edges[other as usize].1;
                    if self.flow[other as usize] > 0 && !std::mem::replace(&mut seen[next as usize], true) {
                        stack.push(next);
                    }
                }
            }
        }
        (0..seen.len() as u32).filter(|&u| seen[u as usize]).collect()
    }

    /// Equations of which one is too many (the over-determined part) and the unknowns they contain, in order.
    pub fn redundant(&self, graph: &Graph) -> (Vec<u32>, Vec<u32>) {
        let mut seen: Vec<bool> = self.equation_rest.iter().map(|&r| r > 0).collect();
        let mut seen_unknown = vec![false; self.unknown_rest.len()];
        let mut stack: Vec<u32> = (0..seen.len() as u32).filter(|&e| seen[e as usize]).collect();
        while let Some(equation) = stack.pop() {
            for &edge in self.of_equation.of(equation) {
                let unknown = graph.edges[edge as usize].1;
                if std::mem::replace(&mut seen_unknown[unknown as usize], true) {
                    continue;
                }
                for &other in self.of_unknown.of(unknown) {
                    let next = graph.edges[other as usize].0;
                    if self.flow[other as usize] > 0 && !std::mem::replace(&mut seen[next as usize], true) {
                        stack.push(next);
                    }
                }
            }
        }
        let chosen = |flags: &[bool]| (0..flags.len() as u32).filter(|&i| flags[i as usize]).collect();
        (chosen(&seen), chosen(&seen_unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(equations: &[u64], unknowns: &[u64], edges: &[(u32, u32)]) -> Graph {
        Graph { equation_sizes: equations.to_vec(), unknown_sizes: unknowns.to_vec(), edges: edges.to_vec() }
    }

    #[test]
    fn a_triangle_needs_augmenting_paths() {
        let g = graph(&[1, 1, 1], &[1, 1, 1], &[(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 2)]);
        assert!(match_equations(&g).is_perfect());
    }

    #[test]
    fn an_array_equation_serves_several_unknowns() {
        let g = graph(&[3, 1], &[1, 3], &[(0, 0), (0, 1), (1, 1)]);
        assert!(match_equations(&g).is_perfect());
    }

    #[test]
    fn parts_that_do_not_fit() {
        // x = 1; x = 2; y + z = 0
        let g = graph(&[1, 1, 1], &[1, 1, 1], &[(0, 0), (1, 0), (2, 1), (2, 2)]);
        let m = match_equations(&g);
        assert_eq!(m.undetermined(&g), [1, 2]);
        assert_eq!(m.redundant(&g), (vec![0, 1], vec![0]));
    }

    /// The size of a maximum matching by the simplest algorithm there is.
    fn simple(n: usize, edges: &[(u32, u32)]) -> usize {
        fn path(e: u32, edges: &[(u32, u32)], seen: &mut [bool], owner: &mut [Option<u32>]) -> bool {
            edges.iter().filter(|x| x.0 == e).any(|&(_, u)| {
                !std::mem::replace(&mut seen[u as usize], true)
                    && owner[u as usize].is_none_or(|o| path(o, edges, seen, owner))
                    && {
                        owner[u as usize] = Some(e);
                        true
                    }
            })
        }
        let mut owner = vec![None; n];
        (0..n as u32).filter(|&e| path(e, edges, &mut vec![false; n], &mut owner)).count()
    }

    #[test]
    fn as_large_as_the_simple_algorithm_says() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..300 {
            let n = 2 + random(9) as usize;
            let mut edges: Vec<(u32, u32)> =
                (0..random(3 * n as u64)).map(|_| (random(n as u64) as u32, random(n as u64) as u32)).collect();
            edges.sort_unstable();
            edges.dedup();
            let g = graph(&vec![1; n], &vec![1; n], &edges);
            let m = match_equations(&g);
            assert_eq!(n as u64 - m.equation_rest.iter().sum::<u64>(), simple(n, &edges) as u64, "{edges:?}");
            assert_eq!(m.equation_rest.iter().sum::<u64>(), m.unknown_rest.iter().sum::<u64>());
        }
    }
}
