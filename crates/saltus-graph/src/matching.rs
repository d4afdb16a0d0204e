//! Maximum matching in a bipartite graph of rows (equations) and columns (unknowns).
//!
//! In: for each row the columns it may be matched with, preferred ones first. Out: for each row at most one column and
//! the reverse. A matching can be extended with further edges, so that preferred edges are used first:
//!
//! ```
//! use saltus_graph::Matching;
//! let preferred = vec![vec![0], vec![]];
//! let all = vec![vec![0, 1], vec![0]];
//! let mut matching = Matching::new(2, 2);
//! matching.extend(&preferred);
//! matching.extend(&all);
//! assert_eq!(matching.column_of_row, [Some(1), Some(0)]);
//! ```
//!
//! [`Matching::extend`] is the algorithm of Hopcroft and Karp (1973) after a greedy pass, O(edges · √rows);
//! [`Matching::augment`] matches one more row along a shortest augmenting path. Where not all rows can be matched,
//! earlier rows take precedence over later ones.

use std::collections::VecDeque;

use crate::incidence::Rows;

#[derive(Clone, Debug, Default)]
pub struct Matching {
    pub column_of_row: Vec<Option<usize>>,
    pub row_of_column: Vec<Option<usize>>,
    /// Columns that no search may use or pass through.
    closed: Vec<bool>,
    scratch: Scratch,
}

/// Two matchings are equal when they pair the same rows and columns.
impl PartialEq for Matching {
    fn eq(&self, other: &Self) -> bool {
        self.column_of_row == other.column_of_row && self.row_of_column == other.row_of_column
    }
}

/// What alternating paths from a row or column reach; both lists ascend. From a row that cannot be matched, there is
/// one row more than there are columns: these equations compete for too few unknowns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

/// Memory of searches; `visited` holds the number of the search that saw a row last, `came_from` the row before it.
#[derive(Clone, Debug, Default)]
struct Scratch {
    visited: Vec<u64>,
    came_from: Vec<usize>,
    round: u64,
}

impl Matching {
    pub fn new(n_rows: usize, n_columns: usize) -> Self {
        let mut matching = Matching::default();
        matching.grow(n_rows, n_columns);
        matching
    }

    /// A maximum matching of these edges.
    pub fn maximum<R: Rows + ?Sized>(adjacency: &R, n_columns: usize) -> Self {
        let mut matching = Matching::new(adjacency.n_rows(), n_columns);
        matching.extend(adjacency);
        matching
    }

    /// Makes room for further rows and columns; never shrinks.
    pub fn grow(&mut self, n_rows: usize, n_columns: usize) {
        if n_rows > self.column_of_row.len() {
            self.column_of_row.resize(n_rows, None);
            self.scratch.visited.resize(n_rows, 0);
            self.scratch.came_from.resize(n_rows, 0);
        }
        if n_columns > self.row_of_column.len() {
            self.row_of_column.resize(n_columns, None);
            self.closed.resize(n_columns, false);
        }
    }

    /// Number of matched pairs.
    pub fn size(&self) -> usize {
        self.column_of_row.iter().flatten().count()
    }

    /// Makes a pair before any extension; both must be free. Extensions may match the row with another column later.
    pub fn assign(&mut self, row: usize, column: usize) {
        self.column_of_row[row] = Some(column);
        self.row_of_column[column] = Some(row);
    }

    /// Makes a pair for good: no extension changes it. For a row that may define only one column.
    pub fn fix(&mut self, row: usize, column: usize) {
        self.assign(row, column);
        self.closed[column] = true;
    }

    /// Takes a column out of the graph: it keeps its row, if it has one, and no extension uses it.
    pub fn close(&mut self, column: usize) {
        self.closed[column] = true;
    }

    /// Undoes [`close`](Self::close).
    pub fn open(&mut self, column: usize) {
        self.closed[column] = false;
    }

    /// Frees a row and its column, if it has one.
    pub fn release(&mut self, row: usize) {
        if let Some(column) = self.column_of_row[row].take() {
            self.row_of_column[column] = None;
        }
    }

    /// Augments until the matching is maximum with respect to these edges. Matched rows and columns stay matched. Each
    /// row first tries its columns in order; of rows that were free, earlier ones are matched rather than later ones.
    pub fn extend<R: Rows + ?Sized>(&mut self, adjacency: &R) {
        let before: Vec<bool> = self.column_of_row.iter().map(Option::is_some).collect();
        self.extend_any(adjacency);
        self.prefer_early_rows(adjacency, &before);
    }

    /// As [`extend`](Self::extend), without precedence among the rows: cheaper where many rows stay free.
    pub fn extend_any<R: Rows + ?Sized>(&mut self, adjacency: &R) {
        for row in 0..adjacency.n_rows() {
            if self.column_of_row[row].is_none()
                && let Some(column) = self.first_free(adjacency.columns(row))
            {
                self.assign(row, column);
            }
        }
        let mut layers = Layers::new(adjacency.n_rows());
        while layers.build(self, adjacency) {
            layers.augment_all(self, adjacency);
        }
    }

    /// Matches one more row. If that is impossible, returns what its alternating paths reach; the row is among it.
    pub fn augment<R: Rows + ?Sized>(&mut self, adjacency: &R, row: usize) -> Result<(), Reached> {
        if self.column_of_row[row].is_some() {
            return Ok(());
        }
        self.scratch.round += 1;
        self.mark(row, row);
        let mut seen = vec![row];
        let mut done = 0;
        while let Some(&current) = seen.get(done) {
            done += 1;
            for &column in columns_of(adjacency, current) {
                if self.closed[column] {
                    continue;
                }
                match self.row_of_column[column] {
                    None => {
                        self.shift(current, column);
                        return Ok(());
                    }
                    Some(next) if self.scratch.visited[next] != self.scratch.round => {
                        self.mark(next, current);
                        seen.push(next);
                    }
                    Some(_) => {}
                }
            }
        }
        // Every column in reach is taken, each by a reached row other than the first.
        Err(Reached::new(self, seen))
    }

    /// Rows without a column.
    pub fn free_rows(&self) -> Vec<usize> {
        (0..self.column_of_row.len()).filter(|&row| self.column_of_row[row].is_none()).collect()
    }

    /// Columns without a row.
    pub fn free_columns(&self) -> Vec<usize> {
        (0..self.row_of_column.len()).filter(|&column| self.row_of_column[column].is_none()).collect()
    }

    /// The rows of an over-determined part: those that can be reached from a free row by alternating paths. They
    /// compete for too few unknowns.
    pub fn rows_competing_with<R: Rows + ?Sized>(&self, adjacency: &R, free_row: usize) -> Vec<usize> {
        self.reached_from(adjacency, [free_row]).rows
    }

    /// All rows that alternating paths from these rows reach (with them), and the columns these rows are matched with.
    pub fn reached_from<R: Rows + ?Sized>(&self, adjacency: &R, rows: impl IntoIterator<Item = usize>) -> Reached {
        let mut seen = vec![false; self.column_of_row.len()];
        let mut order = Vec::new();
        for row in rows {
            if !std::mem::replace(&mut seen[row], true) {
                order.push(row);
            }
        }
        let mut done = 0;
        while let Some(&row) = order.get(done) {
            done += 1;
            for &column in columns_of(adjacency, row) {
                if !self.closed[column]
                    && let Some(next) = self.row_of_column[column]
                    && !std::mem::replace(&mut seen[next], true)
                {
                    order.push(next);
                }
            }
        }
        Reached::new(self, order)
    }

    fn mark(&mut self, row: usize, came_from: usize) {
        self.scratch.visited[row] = self.scratch.round;
        self.scratch.came_from[row] = came_from;
    }

    /// Gives a free column to a row, the column that row had to the row it was reached from, and so on to the start.
    fn shift(&mut self, mut row: usize, mut column: usize) {
        loop {
            let before = self.column_of_row[row];
            self.assign(row, column);
            match before {
                Some(given) => column = given,
                None => break,
            }
            row = self.scratch.came_from[row];
        }
    }

    fn first_free(&self, columns: &[usize]) -> Option<usize> {
        columns.iter().copied().find(|&column| self.row_of_column[column].is_none() && !self.closed[column])
    }

    /// Exchanges each free row with the last row in its reach, if that is later and was not matched `before`. The sets
    /// of rows that can be matched form a matroid, so one pass gives the set that prefers early rows.
    fn prefer_early_rows<R: Rows + ?Sized>(&mut self, adjacency: &R, before: &[bool]) {
        for row in 0..adjacency.n_rows() {
            if self.column_of_row[row].is_some() {
                continue;
            }
            let Err(reached) = self.augment(adjacency, row) else { continue };
            let Some(last) = reached.rows.into_iter().rfind(|&r| !before[r]) else { continue };
            if last > row {
                self.release(last);
                // The freed column is in reach, so this succeeds.
                let exchanged = self.augment(adjacency, row);
                debug_assert!(exchanged.is_ok());
            }
        }
    }
}

impl Reached {
    fn new(matching: &Matching, mut rows: Vec<usize>) -> Self {
        rows.sort_unstable();
        let mut columns: Vec<usize> = rows.iter().filter_map(|&row| matching.column_of_row[row]).collect();
        columns.sort_unstable();
        Reached { rows, columns }
    }
}

/// A matching may have more rows than the graph of one extension: these have no edges in it.
fn columns_of<R: Rows + ?Sized>(adjacency: &R, row: usize) -> &[usize] {
    if row < adjacency.n_rows() { adjacency.columns(row) } else { &[] }
}

/// One phase of Hopcroft–Karp: rows by distance from the free rows, then disjoint shortest augmenting paths.
struct Layers {
    distance: Vec<u32>,
    /// Next edge of each row to try in this phase.
    edge: Vec<usize>,
    free: Vec<usize>,
}

const FAR: u32 = u32::MAX;

impl Layers {
    fn new(n_rows: usize) -> Self {
        Layers { distance: vec![FAR; n_rows], edge: vec![0; n_rows], free: Vec::new() }
    }

    /// Breadth-first search; true if a free column can be reached.
    fn build<R: Rows + ?Sized>(&mut self, matching: &Matching, adjacency: &R) -> bool {
        self.distance.fill(FAR);
        self.edge.fill(0);
        self.free = (0..self.distance.len()).filter(|&row| matching.column_of_row[row].is_none()).collect();
        for &row in &self.free {
            self.distance[row] = 0;
        }
        let mut queue: VecDeque<usize> = self.free.iter().copied().collect();
        let mut end = FAR;
        while let Some(row) = queue.pop_front() {
            if self.distance[row] >= end {
                break;
            }
            for &column in adjacency.columns(row) {
                if matching.closed[column] {
                    continue;
                }
                match matching.row_of_column[column] {
                    None => end = end.min(self.distance[row] + 1),
                    Some(next) if next < self.distance.len() && self.distance[next] == FAR => {
                        self.distance[next] = self.distance[row] + 1;
                        queue.push_back(next);
                    }
                    Some(_) => {}
                }
            }
        }
        end != FAR
    }

    fn augment_all<R: Rows + ?Sized>(&mut self, matching: &mut Matching, adjacency: &R) {
        for i in 0..self.free.len() {
            self.augment(matching, adjacency, self.free[i]);
        }
    }

    /// Depth-first search along the layers. A row without a way on loses its layer and is not entered again.
    fn augment<R: Rows + ?Sized>(&mut self, matching: &mut Matching, adjacency: &R, start: usize) {
        let mut path = vec![start];
        while let Some(&row) = path.last() {
            let Some(&column) = adjacency.columns(row).get(self.edge[row]) else {
                self.distance[row] = FAR;
                path.pop();
                continue;
            };
            self.edge[row] += 1;
            if matching.closed[column] {
                continue;
            }
            match matching.row_of_column[column] {
                None => {
                    let mut given = column;
                    for &row in path.iter().rev() {
                        self.distance[row] = FAR;
                        let before = matching.column_of_row[row];
                        matching.assign(row, given);
                        given = before.unwrap_or(given);
                    }
                    return;
                }
                Some(next) if next < self.distance.len() && self.distance[next] == self.distance[row] + 1 => {
                    path.push(next);
                }
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
