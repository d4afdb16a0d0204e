//! In which order rows can be solved, and which only together: strongly connected components by Tarjan's algorithm
//! (1972), iterative.
//!
//! In: for each node the nodes it depends on, or an incidence with a matching. Out: components, dependencies first, so
//! that their order is an order of computation.
//!
//! ```
//! use saltus_graph::{Matching, blocks};
//! // 0 = f(x, y); 0 = g(x, y); z = 1; x and y are one loop, z stands alone
//! let incidence = vec![vec![0, 1], vec![0, 1], vec![2]];
//! let blocks = blocks(&incidence, &Matching::maximum(&incidence, 3));
//! assert_eq!(blocks[0].rows, [0, 1]);
//! assert_eq!((&blocks[1].rows[..], &blocks[1].columns[..]), (&[2][..], &[2][..]));
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::incidence::{Incidence, IncidenceBuilder, Rows};
use crate::matching::Matching;

/// Rows that can be solved only together, ascending, and the column matched with each. One row: a plain assignment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

/// The blocks of matched rows in order of computation; of blocks that could come next, the one with the lowest row
/// does. Rows without a column are left out.
pub fn blocks<R: Rows + ?Sized>(incidence: &R, matching: &Matching) -> Vec<Block> {
    let needs = dependencies(incidence, matching);
    let components = strongly_connected_components(&needs);
    let order = order_of_components(&needs, &components);
    order
        .into_iter()
        .filter(|&component| components[component].iter().all(|&row| matching.column_of_row[row].is_some()))
        .map(|component| {
            let rows = components[component].clone();
            let columns = rows.iter().filter_map(|&row| matching.column_of_row[row]).collect();
            Block { rows, columns }
        })
        .collect()
}

/// For each matched row the rows that determine its other columns.
pub fn dependencies<R: Rows + ?Sized>(incidence: &R, matching: &Matching) -> Incidence {
    let mut builder = IncidenceBuilder::new(incidence.n_rows());
    for row in 0..incidence.n_rows() {
        let own = matching.column_of_row[row];
        let others = incidence.columns(row).iter().filter(|&&column| own.is_some() && Some(column) != own);
        builder.push_row(others.filter_map(|&column| matching.row_of_column[column]));
    }
    builder.finish()
}

/// Nodes in an order in which each comes after those it depends on; of nodes that could come next, the lowest does. If
/// there is none, the nodes of one cycle, each depending on the next and the last on the first.
pub fn topological_order<R: Rows + ?Sized>(needs: &R) -> Result<Vec<usize>, Vec<usize>> {
    let order = lowest_first(needs, |node| node);
    if order.len() == needs.n_rows() { Ok(order) } else { Err(cycle(needs, &order)) }
}

/// Kahn's algorithm (1962) with a heap; what depends on a cycle is left out. `rank` breaks ties.
fn lowest_first<R: Rows + ?Sized>(needs: &R, rank: impl Fn(usize) -> usize) -> Vec<usize> {
    let n = needs.n_rows();
    let needed_by = Incidence::from_rows(needs, n).transpose();
    let mut missing = vec![0usize; n];
    for (_, node) in needed_by.pairs() {
        missing[node] += 1;
    }
    let ready = (0..n).filter(|&node| missing[node] == 0);
    let mut heap: BinaryHeap<Reverse<(usize, usize)>> = ready.map(|node| Reverse((rank(node), node))).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((_, node))) = heap.pop() {
        order.push(node);
        for &next in needed_by.columns(node) {
            missing[next] -= 1;
            if missing[next] == 0 {
                heap.push(Reverse((rank(next), next)));
            }
        }
    }
    order
}

/// Each node that is not ordered needs another that is not: following these must come round.
fn cycle<R: Rows + ?Sized>(needs: &R, ordered: &[usize]) -> Vec<usize> {
    let mut position = vec![None; needs.n_rows()];
    let mut is_ordered = vec![false; needs.n_rows()];
    for &node in ordered {
        is_ordered[node] = true;
    }
    let mut path = Vec::new();
    let mut next = (0..needs.n_rows()).find(|&node| !is_ordered[node]);
    while let Some(node) = next {
        if let Some(start) = position[node] {
            return path.split_off(start);
        }
        position[node] = Some(path.len());
        path.push(node);
        next = needs.columns(node).iter().copied().find(|&other| !is_ordered[other]);
    }
    path
}

fn order_of_components<R: Rows + ?Sized>(needs: &R, components: &[Vec<usize>]) -> Vec<usize> {
    let mut component_of = vec![0; needs.n_rows()];
    for (component, members) in components.iter().enumerate() {
        for &node in members {
            component_of[node] = component;
        }
    }
    let mut condensed = IncidenceBuilder::new(components.len());
    for (component, members) in components.iter().enumerate() {
        let needed = members.iter().flat_map(|&node| needs.columns(node)).map(|&node| component_of[node]);
        condensed.push_row(needed.filter(|&other| other != component));
    }
    lowest_first(&condensed.finish(), |component| components[component][0])
}

/// Components of the graph `successors`; a component comes after all components it points to. Members ascend.
pub fn strongly_connected_components<R: Rows + ?Sized>(successors: &R) -> Vec<Vec<usize>> {
    let n = successors.n_rows();
    let mut tarjan = Tarjan {
        successors,
        index: vec![UNSEEN; n],
        low: vec![0; n],
        on_stack: vec![false; n],
        stack: Vec::new(),
        next_index: 0,
        components: Vec::new(),
    };
    for node in 0..n {
        if tarjan.index[node] == UNSEEN {
            tarjan.visit(node);
        }
    }
    tarjan.components
}

const UNSEEN: usize = usize::MAX;

struct Tarjan<'a, R: ?Sized> {
    successors: &'a R,
    index: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next_index: usize,
    components: Vec<Vec<usize>>,
}

impl<R: Rows + ?Sized> Tarjan<'_, R> {
    fn enter(&mut self, node: usize) {
        self.index[node] = self.next_index;
        self.low[node] = self.next_index;
        self.next_index += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    fn visit(&mut self, root: usize) {
        self.enter(root);
        let mut calls = vec![(root, 0usize)];
        while let Some((node, edge)) = calls.last_mut() {
            let node = *node;
            match self.successors.columns(node).get(*edge) {
                Some(&next) => {
                    *edge += 1;
                    if self.index[next] == UNSEEN {
                        self.enter(next);
                        calls.push((next, 0));
                    } else if self.on_stack[next] {
                        self.low[node] = self.low[node].min(self.index[next]);
                    }
                }
                None => {
                    calls.pop();
                    if let Some(&(parent, _)) = calls.last() {
                        self.low[parent] = self.low[parent].min(self.low[node]);
                    }
                    self.leave(node);
                }
            }
        }
    }

    fn leave(&mut self, node: usize) {
        if self.low[node] != self.index[node] {
            return;
        }
        let mut component = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            component.push(member);
            if member == node {
                break;
            }
        }
        component.sort_unstable();
        self.components.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn dependencies_come_first() {
        // 0 needs 1, 1 needs 2 and 3, 2 and 3 need each other
        let components = strongly_connected_components(&[vec![1], vec![2, 3], vec![3], vec![2]]);
        assert_eq!(components, [vec![2, 3], vec![1], vec![0]]);
    }

    #[test]
    fn a_node_that_needs_itself_is_one_component() {
        assert_eq!(strongly_connected_components(&[vec![0], vec![]]), [vec![0], vec![1]]);
    }

    #[test]
    fn independent_blocks_keep_the_order_of_their_equations() {
        // Row 0 needs row 3; rows 1 and 2 need nothing: 1 comes before 2, and 0 as soon as 3 is there.
        let incidence = vec![vec![0, 3], vec![1], vec![2], vec![3]];
        let order: Vec<usize> =
            blocks(&incidence, &Matching::maximum(&incidence, 4)).iter().map(|b| b.rows[0]).collect();
        assert_eq!(order, [1, 2, 3, 0]);
    }

    #[test]
    fn unmatched_rows_are_left_out() {
        let incidence = vec![vec![0], vec![0]];
        let found = blocks(&incidence, &Matching::maximum(&incidence, 1));
        assert_eq!(found, [Block { rows: vec![0], columns: vec![0] }]);
    }

    #[test]
    fn a_cycle_is_shown() {
        assert_eq!(topological_order(&[vec![1, 2], vec![2], vec![]]), Ok(vec![2, 1, 0]));
        assert_eq!(topological_order(&[vec![1], vec![2], vec![3], vec![1]]), Err(vec![1, 2, 3]));
    }

    #[test]
    fn components_agree_with_reachability() {
        let mut random = Random::new(13);
        for _ in 0..200 {
            let graph = random.graph(9, 9, 6);
            let mut reach = [[false; 9]; 9];
            for (node, successors) in graph.iter().enumerate() {
                reach[node][node] = true;
                successors.iter().for_each(|&next| reach[node][next] = true);
            }
            for k in 0..9 {
                for i in 0..9 {
                    for j in 0..9 {
                        reach[i][j] |= reach[i][k] && reach[k][j];
                    }
                }
            }
            let components = strongly_connected_components(&graph);
            let mut position = [0; 9];
            for (i, component) in components.iter().enumerate() {
                component.iter().for_each(|&node| position[node] = i);
            }
            for i in 0..9 {
                for j in 0..9 {
                    assert_eq!(position[i] == position[j], reach[i][j] && reach[j][i]);
                    assert!(!reach[i][j] || position[j] <= position[i]);
                }
            }
        }
    }

    #[test]
    fn every_block_needs_only_columns_of_blocks_before_it() {
        let mut random = Random::new(17);
        for _ in 0..100 {
            let incidence = random.regular_graph(20, 1);
            let mut known = [false; 20];
            for block in blocks(&incidence, &Matching::maximum(&incidence, 20)) {
                block.columns.iter().for_each(|&column| known[column] = true);
                assert!(block.rows.iter().all(|&row| incidence[row].iter().all(|&column| known[column])));
            }
            assert!(known.iter().all(|&k| k));
        }
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let n = 200_000;
        let chain: Vec<Vec<usize>> = (0..n).map(|i| if i + 1 < n { vec![i, i + 1] } else { vec![i] }).collect();
        let found = blocks(&chain, &Matching::maximum(&chain, n));
        assert_eq!(found.len(), n);
        assert_eq!(found[0].rows, [n - 1]);
    }
}
