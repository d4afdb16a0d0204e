//! The positions of a square matrix that can be other than zero, and how few difference quotients reveal its entries.
//!
//! In: pairs (row, column). Out: compressed columns, in which values are stored, and groups of columns that share no row:
//! one evaluation perturbs all columns of a group at once (Curtis, Powell, Reid 1974).

/// Compressed columns: entry `k` of column `j`, for `k` in [`Sparsity::range`] of `j`, is in row `rows()[k]`.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Sparsity {
    starts: Vec<usize>,
    rows: Vec<usize>,
}

impl Sparsity {
    /// Entries may come in any order and more than once; those outside of the `n` by `n` square are left out.
    pub fn from_entries(n: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut sorted: Vec<(usize, usize)> =
            entries.into_iter().filter(|&(row, column)| row < n && column < n).map(|(r, c)| (c, r)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut starts = vec![0; n + 1];
        for &(column, _) in &sorted {
            starts[column + 1] += 1;
        }
        for column in 0..n {
            starts[column + 1] += starts[column];
        }
        let mut rows: Vec<usize> = sorted.into_iter().map(|(_, row)| row).collect();
        // Collected where the entries were, which took more room.
        rows.shrink_to_fit();
        Sparsity { starts, rows }
    }

    /// Number of rows, which is that of columns.
    #[inline]
    pub fn n(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn n_entries(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Where the entries of a column are stored.
    #[inline]
    pub fn range(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column]..self.starts[column + 1]
    }

    /// Where the entry of `row` and `column` is stored.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.range(column);
        self.rows[range.clone()].binary_search(&row).ok().map(|k| range.start + k)
    }

    /// The same with the whole diagonal.
    pub fn with_diagonal(&self) -> Sparsity {
        if (0..self.n()).all(|j| self.position(j, j).is_some()) {
            return self.clone();
        }
        let own = (0..self.n()).flat_map(|j| self.range(j).map(move |k| (self.rows[k], j)));
        Sparsity::from_entries(self.n(), own.chain((0..self.n()).map(|j| (j, j))))
    }

    /// Groups of columns of which no two have an entry in the same row; greedy, columns with most entries first.
    pub fn column_groups(&self) -> Vec<Vec<usize>> {
        let n = self.n();
        let mut columns: Vec<usize> = (0..n).collect();
        columns.sort_by_key(|&j| (std::cmp::Reverse(self.range(j).len()), j));
        let mut groups_of_row: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut groups: Vec<Vec<usize>> = Vec::new();
        // The last column that found this group taken.
        let mut taken: Vec<usize> = Vec::new();
        for column in columns {
            for k in self.range(column) {
                for &group in &groups_of_row[self.rows[k]] {
                    taken[group] = column;
                }
            }
            let free = taken.iter().position(|&by| by != column);
            let group = free.unwrap_or_else(|| {
                groups.push(Vec::new());
                taken.push(usize::MAX);
                groups.len() - 1
            });
            groups[group].push(column);
            for k in self.range(column) {
                groups_of_row[self.rows[k]].push(group);
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_by_column_and_found_again() {
        let pattern = Sparsity::from_entries(3, [(2, 0), (0, 0), (1, 2), (2, 0), (7, 1)]);
        assert_eq!(pattern.rows(), &[0, 2, 1]);
        assert_eq!((pattern.range(0), pattern.range(1), pattern.range(2)), (0..2, 2..2, 2..3));
        assert_eq!((pattern.position(1, 2), pattern.position(1, 1)), (Some(2), None));
        assert_eq!(pattern.with_diagonal().n_entries(), 5);
    }

    #[test]
    fn a_tridiagonal_matrix_needs_three_groups() {
        let band = (0..50usize).flat_map(|i| (i.saturating_sub(1)..=i + 1).map(move |j| (i, j)));
        let pattern = Sparsity::from_entries(50, band);
        let groups = pattern.column_groups();
        assert_eq!(groups.len(), 3);
        for group in &groups {
            let mut seen = [false; 50];
            for row in group.iter().flat_map(|&j| pattern.range(j)).map(|k| pattern.rows()[k]) {
                assert!(!seen[row], "two columns of a group share row {row}");
                seen[row] = true;
            }
        }
        assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 50);
    }
}
