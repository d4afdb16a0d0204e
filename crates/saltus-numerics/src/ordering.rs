//! Minimum-degree ordering: in which order columns are best eliminated so that factors stay sparse.
//!
//! In: the pattern of a square matrix. Out: a permutation. Works on the graph of `A + Aᵀ` as a quotient graph: an
//! eliminated variable becomes an element, the list of the variables it connects, and absorbs older elements. Degrees are
//! upper bounds in which only overlaps with the youngest element count once (Amestoy, Davis, Duff 1996, without their
//! treatment of equal variables); ties go to the lower number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::sparsity::Sparsity;

struct QuotientGraph {
    /// Neighbours of a variable not covered by an element.
    variables: Vec<Vec<usize>>,
    /// Elements that a variable belongs to.
    elements: Vec<Vec<usize>>,
    /// Variables of an element; empty if absorbed.
    members: Vec<Vec<usize>>,
    is_eliminated: Vec<bool>,
    mark: Vec<usize>,
    stamp: usize,
    /// Members of an element that are not in the youngest one, if it was touched with this stamp.
    outside: Vec<(usize, usize)>,
}

/// Position `k` of the result is the column to eliminate as number `k`.
pub fn minimum_degree(pattern: &Sparsity) -> Vec<usize> {
    let n = pattern.n();
    let mut graph = QuotientGraph::new(pattern);
    let mut degree: Vec<usize> = graph.variables.iter().map(Vec::len).collect();
    let mut queue: BinaryHeap<Reverse<(usize, usize)>> = (0..n).map(|v| Reverse((degree[v], v))).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((entered, pivot))) = queue.pop() {
        // An older entry of a variable whose degree has changed.
        if graph.is_eliminated[pivot] || entered != degree[pivot] {
            continue;
        }
        order.push(pivot);
        let members = graph.eliminate(pivot);
        for &v in &members {
            let bound = graph.degree_bound(v, pivot).min(n - order.len());
            if bound != std::mem::replace(&mut degree[v], bound) {
                queue.push(Reverse((bound, v)));
            }
        }
    }
    order
}

impl QuotientGraph {
    fn new(pattern: &Sparsity) -> Self {
        let n = pattern.n();
        let mut variables = vec![Vec::new(); n];
        for column in 0..n {
            for &row in &pattern.rows()[pattern.range(column)] {
                if row != column {
                    variables[row].push(column);
                    variables[column].push(row);
                }
            }
        }
        for list in &mut variables {
            list.sort_unstable();
            list.dedup();
        }
        QuotientGraph {
            variables,
            elements: vec![Vec::new(); n],
            members: vec![Vec::new(); n],
            is_eliminated: vec![false; n],
            mark: vec![0; n],
            stamp: 0,
            outside: vec![(0, 0); n],
        }
    }

    /// Turns a variable into an element, whose members are returned; they know of it already.
    fn eliminate(&mut self, pivot: usize) -> Vec<usize> {
        self.stamp += 1;
        let stamp = self.stamp;
        self.is_eliminated[pivot] = true;
        self.mark[pivot] = stamp;
        let mut members = Vec::new();
        let absorbed = std::mem::take(&mut self.elements[pivot]);
        let direct = std::mem::take(&mut self.variables[pivot]);
        let indirect = absorbed.iter().flat_map(|&e| self.members[e].iter());
        for &v in direct.iter().chain(indirect) {
            if self.mark[v] != stamp && !self.is_eliminated[v] {
                self.mark[v] = stamp;
                members.push(v);
            }
        }
        for &e in &absorbed {
            self.members[e] = Vec::new();
        }
        for &v in &members {
            let mark = &self.mark;
            self.variables[v].retain(|&u| mark[u] != stamp);
            self.elements[v].retain(|e| !absorbed.contains(e));
            for &e in &self.elements[v] {
                let (touched, outside) = &mut self.outside[e];
                if std::mem::replace(touched, stamp) != stamp {
                    *outside = self.members[e].len();
                }
                *outside = outside.saturating_sub(1);
            }
        }
        members.sort_unstable();
        for &v in &members {
            // What has no member of its own any more is part of the new element.
            let outside = &self.outside;
            self.elements[v].retain(|&e| outside[e].1 > 0);
            self.elements[v].push(pivot);
        }
        self.members[pivot] = members.clone();
        members
    }

    fn degree_bound(&self, v: usize, youngest: usize) -> usize {
        let others = self.elements[v].iter().filter(|&&e| e != youngest);
        let shared: usize = others.map(|&e| self.outside[e].1).sum();
        self.variables[v].len() + self.members[youngest].len().saturating_sub(1) + shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_is_eliminated_from_its_tips() {
        // row and column 0 full: eliminating 0 first would fill the whole matrix
        let arrow = (0..10).flat_map(|i| [(i, 0), (0, i), (i, i)]);
        let order = minimum_degree(&Sparsity::from_entries(10, arrow));
        assert!(order.iter().position(|&v| v == 0) >= Some(8), "{order:?}");
    }

    #[test]
    fn the_order_is_a_permutation() {
        // a pattern without structure: column j has rows 3j+1 and j²+5, modulo 97
        let entries = (0..97).flat_map(|j| [(3 * j + 1, j), (j * j + 5, j)]).map(|(i, j)| (i % 97, j));
        let mut order = minimum_degree(&Sparsity::from_entries(97, entries));
        order.sort_unstable();
        assert_eq!(order, (0..97).collect::<Vec<_>>());
    }
}
