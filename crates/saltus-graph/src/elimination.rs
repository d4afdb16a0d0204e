//! Which columns of a sparse matrix are linearly independent of the columns before them.
//!
//! In: columns as (row, value) lists, wanted ones first. Out: the positions of the independent ones, until the rank
//! equals the number of rows. Left-looking Gaussian elimination with partial pivoting (Duff, Erisman & Reid, "Direct
//! Methods for Sparse Matrices", 1986).
//!
//! ```text
//! columns (1 1)ᵀ, (2 2)ᵀ, (0 1)ᵀ   →   positions 0, 2
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What remains of a column is zero below this multiple of its largest entry: far above the rounding of short sums of
/// the usual coefficients (±1, gear ratios), far below any coefficient meant to be different from zero.
const TOLERANCE: f64 = 1e-10;

/// Multiplications after which a matrix counts as too large to decide by numbers.
const MAX_WORK: usize = 50_000_000;

/// The positions of the independent columns, or None if that takes too much work.
pub(crate) fn independent_columns(n_rows: usize, columns: &[Vec<(usize, f64)>]) -> Option<Vec<usize>> {
    let mut elimination = Elimination {
        pivot_of_row: vec![None; n_rows],
        pivots: Vec::new(),
        values: vec![0.0; n_rows],
        in_use: vec![false; n_rows],
        work: 0,
    };
    let mut independent = Vec::new();
    for (position, column) in columns.iter().enumerate() {
        if independent.len() == n_rows {
            break;
        }
        if elimination.add(column) {
            independent.push(position);
        }
        if elimination.work > MAX_WORK {
            return None;
        }
    }
    Some(independent)
}

struct Elimination {
    /// Which pivot, in order of elimination, lies in a row.
    pivot_of_row: Vec<Option<usize>>,
    /// Reduced columns: the pivot row, and the other entries divided by the pivot.
    pivots: Vec<(usize, Vec<(usize, f64)>)>,
    /// The column in work, spread over the rows.
    values: Vec<f64>,
    in_use: Vec<bool>,
    work: usize,
}

impl Elimination {
    /// Reduces a column by all pivots; true if something remains, which becomes the next pivot.
    fn add(&mut self, column: &[(usize, f64)]) -> bool {
        let mut used: Vec<usize> = Vec::new();
        let mut waiting: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        for &(row, value) in column {
            self.touch(row, &mut used, &mut waiting);
            self.values[row] += value;
        }
        let scale = used.iter().map(|&row| self.values[row].abs()).fold(0.0, f64::max);
        while let Some(Reverse(pivot)) = waiting.pop() {
            let (pivot_row, entries) = std::mem::take(&mut self.pivots[pivot]);
            let factor = std::mem::replace(&mut self.values[pivot_row], 0.0);
            if factor != 0.0 {
                self.work += entries.len();
                for &(row, value) in &entries {
                    self.touch(row, &mut used, &mut waiting);
                    self.values[row] -= factor * value;
                }
            }
            self.pivots[pivot] = (pivot_row, entries);
        }
        self.take_pivot(used, scale)
    }

    fn touch(&mut self, row: usize, used: &mut Vec<usize>, waiting: &mut BinaryHeap<Reverse<usize>>) {
        if !std::mem::replace(&mut self.in_use[row], true) {
            used.push(row);
            waiting.extend(self.pivot_of_row[row].map(Reverse));
        }
    }

    /// Makes the largest remaining entry a pivot and clears the column in work.
    fn take_pivot(&mut self, mut used: Vec<usize>, scale: f64) -> bool {
        used.sort_unstable();
        let mut best: Option<(usize, f64)> = None;
        for &row in &used {
            let size = self.values[row].abs();
            if size > scale * TOLERANCE && best.is_none_or(|(_, largest)| size > largest) {
                best = Some((row, size));
            }
        }
        if let Some((pivot_row, _)) = best {
            let pivot = self.values[pivot_row];
            let others = used.iter().filter(|&&row| row != pivot_row && self.values[row].abs() > scale * TOLERANCE);
            let entries = others.map(|&row| (row, self.values[row] / pivot)).collect();
            self.pivot_of_row[pivot_row] = Some(self.pivots.len());
            self.pivots.push((pivot_row, entries));
        }
        for row in used {
            self.values[row] = 0.0;
            self.in_use[row] = false;
        }
        best.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn multiples_are_left_out() {
        let columns = [vec![(0, 1.0), (1, 1.0)], vec![(0, 2.0), (1, 2.0)], vec![(1, 1.0)]];
        assert_eq!(independent_columns(2, &columns), Some(vec![0, 2]));
    }

    #[test]
    fn ranks_agree_with_determinants() {
        // Integer matrices of 4 rows with entries −1, 0, 1; the greedy choice has the rank of all columns, and a
        // prefix grows exactly if some minor that uses the new column is not zero.
        let mut random = Random::new(43);
        for _ in 0..300 {
            let dense: Vec<[i64; 4]> = (0..6).map(|_| std::array::from_fn(|_| random.below(3) as i64 - 1)).collect();
            let sparse = |column: &[i64; 4]| {
                let entries = column.iter().enumerate().filter(|(_, value)| **value != 0);
                entries.map(|(row, &value)| (row, value as f64)).collect()
            };
            let columns: Vec<Vec<(usize, f64)>> = dense.iter().map(sparse).collect();
            let found = independent_columns(4, &columns).unwrap();
            for end in 1..=6 {
                let chosen = found.iter().filter(|&&position| position < end).count();
                assert_eq!(chosen, rank(&dense[..end]), "{dense:?}");
            }
        }
    }

    /// The largest order of a minor that is not zero.
    fn rank(columns: &[[i64; 4]]) -> usize {
        let subsets = |n: usize| (0u32..1 << n).map(move |bits| (0..n).filter(|i| bits & (1 << i) != 0).collect());
        let mut best = 0;
        for of_columns in subsets(columns.len()) {
            let of_columns: Vec<usize> = of_columns;
            for of_rows in subsets(4) {
                let of_rows: Vec<usize> = of_rows;
                if of_rows.len() == of_columns.len() && minor(columns, &of_columns, &of_rows) != 0 {
                    best = best.max(of_rows.len());
                }
            }
        }
        best
    }

    fn minor(columns: &[[i64; 4]], of_columns: &[usize], of_rows: &[usize]) -> i64 {
        let Some((&first, rest)) = of_columns.split_first() else { return 1 };
        let expand = |(k, &row): (usize, &usize)| {
            let others: Vec<usize> = of_rows.iter().copied().filter(|&r| r != row).collect();
            (if k % 2 == 0 { 1 } else { -1 }) * columns[first][row] * minor(columns, rest, &others)
        };
        of_rows.iter().enumerate().map(expand).sum()
    }

    #[test]
    fn a_large_band_is_regular() {
        let n = 100_000;
        let columns: Vec<Vec<(usize, f64)>> =
            (0..n).map(|i| if i + 1 < n { vec![(i, 2.0), (i + 1, -1.0)] } else { vec![(i, 2.0)] }).collect();
        assert_eq!(independent_columns(n, &columns).map(|found| found.len()), Some(n));
    }
}
