//! Maximum matching in a bipartite graph of rows (equations) and columns (unknowns) by augmenting paths.
//!
//! In: for each row the columns it may be matched with. Out: for each row at most one column and the reverse. A matching
//! can be extended with further edges, so that preferred edges are used first:
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
//! Depth-first search with lookahead (Duff 1981, algorithm MC21), iterative. The result depends only on the order of
//! the edges.

#[derive(Clone, PartialEq, Debug)]
pub struct Matching {
    pub column_of_row: Vec<Option<usize>>,
    pub row_of_column: Vec<Option<usize>>,
}

impl Matching {
    pub fn new(n_rows: usize, n_columns: usize) -> Self {
        Matching { column_of_row: vec![None; n_rows], row_of_column: vec![None; n_columns] }
    }

    pub fn maximum(adjacency: &[Vec<usize>], n_columns: usize) -> Self {
        let mut matching = Matching::new(adjacency.len(), n_columns);
        matching.extend(adjacency);
        matching
    }

    /// Number of matched pairs.
    pub fn size(&self) -> usize {
        self.column_of_row.iter().flatten().count()
    }

    /// Fixes a pair before any extension; both must be free.
    pub fn assign(&mut self, row: usize, column: usize) {
        self.column_of_row[row] = Some(column);
        self.row_of_column[column] = Some(row);
    }

    /// Augments until the matching is maximum with respect to these edges. Matched rows and columns stay matched.
    pub fn extend(&mut self, adjacency: &[Vec<usize>]) {
        let mut search = Search::new(adjacency.len());
        for row in 0..adjacency.len() {
            if self.column_of_row[row].is_none() {
                search.augment(self, adjacency, row);
            }
        }
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
    pub fn rows_competing_with(&self, adjacency: &[Vec<usize>], free_row: usize) -> Vec<usize> {
        let mut seen = vec![false; adjacency.len()];
        let mut stack = vec![free_row];
        seen[free_row] = true;
        while let Some(row) = stack.pop() {
            for &column in &adjacency[row] {
                if let Some(next) = self.row_of_column[column]
                    && !seen[next]
                {
                    seen[next] = true;
                    stack.push(next);
                }
            }
        }
        (0..seen.len()).filter(|&row| seen[row]).collect()
    }
}

/// Scratch memory of the search; `visited` holds the number of the search that saw a row last.
struct Search {
    visited: Vec<u32>,
    round: u32,
    /// First edge of each row whose column has not been found taken yet. Columns never become free again.
    lookahead: Vec<usize>,
}

impl Search {
    fn new(n_rows: usize) -> Self {
        Search { visited: vec![0; n_rows], round: 0, lookahead: vec![0; n_rows] }
    }

    fn augment(&mut self, matching: &mut Matching, adjacency: &[Vec<usize>], start: usize) -> bool {
        self.round += 1;
        self.visited[start] = self.round;
        // Each entry: a row, its next edge to try, and (once descended) the column taken on the way down.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some(&(row, edge)) = path.last() {
            if let Some(column) = self.free_column(matching, &adjacency[row], row) {
                flip(matching, adjacency, &path, column);
                return true;
            }
            match self.next_row(matching, &adjacency[row], edge) {
                Some((next, taken)) => {
                    let last = path.len() - 1;
                    path[last].1 = taken + 1;
                    self.visited[next] = self.round;
                    path.push((next, 0));
                }
                None => {
                    path.pop();
                }
            }
        }
        false
    }

    fn free_column(&mut self, matching: &Matching, edges: &[usize], row: usize) -> Option<usize> {
        while let Some(&column) = edges.get(self.lookahead[row]) {
            self.lookahead[row] += 1;
            if matching.row_of_column[column].is_none() {
                return Some(column);
            }
        }
        None
    }

    /// The owner of the next taken column that this search has not visited, and that edge.
    fn next_row(&self, matching: &Matching, edges: &[usize], from: usize) -> Option<(usize, usize)> {
        (from..edges.len()).find_map(|edge| {
            let owner = matching.row_of_column[edges[edge]]?;
            (self.visited[owner] != self.round).then_some((owner, edge))
        })
    }
}

/// Matches the rows of the path anew, from its end: each row gives its column to the row before it.
fn flip(matching: &mut Matching, adjacency: &[Vec<usize>], path: &[(usize, usize)], free: usize) {
    let mut column = free;
    for (i, &(row, _)) in path.iter().enumerate().rev() {
        matching.assign(row, column);
        if i > 0 {
            let (before, next_edge) = path[i - 1];
            column = adjacency[before][next_edge - 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(m: &Matching, adjacency: &[Vec<usize>]) -> bool {
        m.column_of_row
            .iter()
            .enumerate()
            .all(|(row, column)| column.is_none_or(|c| adjacency[row].contains(&c) && m.row_of_column[c] == Some(row)))
    }

    #[test]
    fn a_chain_needs_augmenting() {
        let adjacency = vec![vec![0, 1], vec![0], vec![1, 2]];
        let m = Matching::maximum(&adjacency, 3);
        assert!(is_valid(&m, &adjacency));
        assert_eq!(m.column_of_row, [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn a_singular_graph_leaves_rows_free_and_names_the_competitors() {
        let adjacency = vec![vec![0], vec![0], vec![1, 2]];
        let m = Matching::maximum(&adjacency, 3);
        assert_eq!(m.size(), 2);
        assert_eq!(m.free_rows(), [1]);
        assert_eq!(m.rows_competing_with(&adjacency, 1), [0, 1]);
    }

    #[test]
    fn long_augmenting_paths_do_not_exhaust_the_stack() {
        // Row i prefers column i, row i+1 is already there: the last row pushes all others along.
        let n = 100_000;
        let mut adjacency: Vec<Vec<usize>> = (0..n - 1).map(|i| vec![i, i + 1]).collect();
        adjacency.push(vec![0]);
        let m = Matching::maximum(&adjacency, n);
        assert_eq!(m.size(), n);
        assert!(is_valid(&m, &adjacency));
    }

    #[test]
    fn the_matching_is_maximum_on_random_graphs() {
        // A linear congruential generator (Knuth MMIX) makes graphs; exhaustive search gives the truth.
        let mut seed = 1u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..300 {
            let adjacency: Vec<Vec<usize>> = (0..6).map(|_| (0..6).filter(|_| random(4) == 0).collect()).collect();
            let m = Matching::maximum(&adjacency, 6);
            assert!(is_valid(&m, &adjacency));
            assert_eq!(m.size(), largest(&adjacency, 0, 0));
        }
    }

    fn largest(adjacency: &[Vec<usize>], row: usize, used: u32) -> usize {
        let Some(edges) = adjacency.get(row) else { return 0 };
        let taken = edges.iter().filter(|&&c| used & (1 << c) == 0);
        let best = taken.map(|&c| 1 + largest(adjacency, row + 1, used | (1 << c))).max().unwrap_or(0);
        best.max(largest(adjacency, row + 1, used))
    }
}
