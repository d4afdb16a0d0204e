//! Order of elimination after Markowitz (1957): pivots that let the factors of an unsymmetric matrix grow least.
//!
//! In: a pattern and values for it. Out: which row and which column are eliminated as number `k`. A pivot costs
//! `(entries of its row − 1) · (entries of its column − 1)` operations and at most as many new entries; of the entries that are
//! not too small in their column, the cheapest of the shortest few rows and columns is taken (Zlatev 1980, Duff and Reid's MA28).
//! Where the diagonal is a good pivot throughout, as in `I − h·J`, minimum degree ([`crate::ordering`]) gives as good an order without values, and in less time.
//!
//! Entries that happen to be zero stay in the pattern: other values will not let them vanish.

use std::collections::BTreeSet;

use crate::sparsity::Sparsity;
use crate::tuning::linear::{MARKOWITZ_LOOKS, MARKOWITZ_PIVOT};

/// The pivots in order of elimination.
pub struct PivotOrder {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

/// `values` are in the order of the pattern, and rows are to be multiplied by `row_scale`. Rows and columns that are left without a pivot come last.
pub fn markowitz(pattern: &Sparsity, values: &[f64], row_scale: &[f64]) -> PivotOrder {
    let n = pattern.n();
    let mut active = Active::new(pattern, values, row_scale);
    let mut order = PivotOrder { rows: Vec::with_capacity(n), columns: Vec::with_capacity(n) };
    while let Some((row, column)) = active.best_pivot() {
        order.rows.push(row);
        order.columns.push(column);
        active.eliminate(row, column);
    }
    order.rows.extend(active.rows_by_count.iter().map(|&(_, row)| row));
    order.columns.extend(active.columns_by_count.iter().map(|&(_, column)| column));
    order
}

/// What is left of the matrix.
struct Active {
    /// Rows and values of the entries of each column.
    columns: Vec<Vec<(usize, f64)>>,
    /// Columns of the entries of each row.
    rows: Vec<Vec<usize>>,
    /// Those that are left, the shortest first.
    rows_by_count: BTreeSet<(usize, usize)>,
    columns_by_count: BTreeSet<(usize, usize)>,
    /// Where the entry of a row is in the column that is being changed, plus one.
    place: Vec<usize>,
}

/// A possible pivot: the cheaper first, then the larger.
struct Candidate {
    cost: usize,
    /// Beside the largest entry of its column.
    size: f64,
    row: usize,
    column: usize,
}

impl Active {
    fn new(pattern: &Sparsity, values: &[f64], row_scale: &[f64]) -> Self {
        let n = pattern.n();
        let mut rows = vec![Vec::new(); n];
        let mut columns = Vec::with_capacity(n);
        for column in 0..n {
            let range = pattern.range(column);
            let entries = pattern.rows()[range.clone()].iter().zip(&values[range]);
            columns.push(entries.map(|(&row, value)| (row, value * row_scale[row])).collect::<Vec<_>>());
            columns[column].iter().for_each(|&(row, _)| rows[row].push(column));
        }
        Active {
            rows_by_count: rows.iter().map(Vec::len).zip(0..).collect(),
            columns_by_count: columns.iter().map(Vec::len).zip(0..).collect(),
            columns,
            rows,
            place: vec![0; n],
        }
    }

    /// The cheapest of the shortest rows and columns, until shorter ones cannot be cheaper.
    fn best_pivot(&self) -> Option<(usize, usize)> {
        let mut best: Option<Candidate> = None;
        let mut columns = self.columns_by_count.iter().filter(|line| line.0 > 0).peekable();
        let mut rows = self.rows_by_count.iter().filter(|line| line.0 > 0).peekable();
        let mut n_looks = 0;
        loop {
            let is_column = match (columns.peek(), rows.peek()) {
                (Some(column), Some(row)) => column.0 <= row.0,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let Some(&(count, line)) = (if is_column { columns.next() } else { rows.next() }) else { break };
            let is_enough = n_looks >= MARKOWITZ_LOOKS;
            if best.as_ref().is_some_and(|best| is_enough || best.cost <= (count - 1) * (count - 1)) {
                break;
            }
            n_looks += 1;
            if is_column {
                self.look_at_column(line, None, &mut best);
            } else {
                self.rows[line].iter().for_each(|&column| self.look_at_column(column, Some(line), &mut best));
            }
        }
        best.map(|best| (best.row, best.column))
    }

    /// Compares the entries of a column, or the one in `wanted` alone, with the best.
    fn look_at_column(&self, column: usize, wanted: Option<usize>, best: &mut Option<Candidate>) {
        let entries = &self.columns[column];
        let largest = entries.iter().fold(0f64, |largest, entry| largest.max(entry.1.abs()));
        for &(row, value) in entries.iter().filter(|entry| wanted.is_none_or(|row| row == entry.0)) {
            let size = value.abs() / largest;
            if size.is_nan() || size < MARKOWITZ_PIVOT {
                continue;
            }
            let cost = (self.rows[row].len() - 1) * (entries.len() - 1);
            let is_better = best.as_ref().is_none_or(|best| {
                let by_cost = cost.cmp(&best.cost);
                by_cost.then(best.size.total_cmp(&size)).then((column, row).cmp(&(best.column, best.row))).is_lt()
            });
            if is_better {
                *best = Some(Candidate { cost, size, row, column });
            }
        }
    }

    fn eliminate(&mut self, row: usize, column: usize) {
        let below = std::mem::take(&mut self.columns[column]);
        let beside = std::mem::take(&mut self.rows[row]);
        self.columns_by_count.remove(&(below.len(), column));
        self.rows_by_count.remove(&(beside.len(), row));
        let pivot = below.iter().find(|entry| entry.0 == row).map_or(f64::NAN, |entry| entry.1);
        for &(other, _) in below.iter().filter(|entry| entry.0 != row) {
            self.rows_by_count.remove(&(self.rows[other].len(), other));
            self.rows[other].retain(|&c| c != column);
        }
        for &other in beside.iter().filter(|other| **other != column) {
            self.columns_by_count.remove(&(self.columns[other].len(), other));
            self.subtract(row, &below, pivot, other);
            self.columns_by_count.insert((self.columns[other].len(), other));
        }
        for &(other, _) in below.iter().filter(|entry| entry.0 != row) {
            self.rows_by_count.insert((self.rows[other].len(), other));
        }
    }

    /// Takes the entry in the row of the pivot out of a column, and as much of the column of the pivot as belongs to it.
    fn subtract(&mut self, row: usize, below: &[(usize, f64)], pivot: f64, column: usize) {
        let entries = &mut self.columns[column];
        let Some(at) = entries.iter().position(|entry| entry.0 == row) else { return };
        let factor = entries.swap_remove(at).1 / pivot;
        for (place, entry) in entries.iter().enumerate() {
            self.place[entry.0] = place + 1;
        }
        for &(other, value) in below.iter().filter(|entry| entry.0 != row) {
            match self.place[other] {
                0 => {
                    entries.push((other, -factor * value));
                    self.rows[other].push(column);
                }
                place => entries[place - 1].1 -= factor * value,
            }
        }
        entries.iter().for_each(|entry| self.place[entry.0] = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations of an elimination in this order, and new entries.
    fn cost(pattern: &Sparsity, order: &PivotOrder) -> (usize, usize) {
        let n = pattern.n();
        let mut rows: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
        for column in 0..n {
            pattern.rows()[pattern.range(column)].iter().for_each(|&row| _ = rows[row].insert(column));
        }
        let (mut operations, mut filled) = (0, 0);
        for k in 0..n {
            let (row, column) = (order.rows[k], order.columns[k]);
            let pivots = rows[row].clone();
            for &other in order.rows[k + 1..].iter() {
                if rows[other].remove(&column) {
                    let before = rows[other].len();
                    rows[other].extend(pivots.iter().copied().filter(|&c| c != column));
                    operations += pivots.len() - 1;
                    filled += rows[other].len() - before;
                }
            }
        }
        (operations, filled)
    }

    #[test]
    fn a_permuted_triangle_is_not_filled() {
        // Row i has columns 0…i, then rows are reversed and columns are moved by 7: each pivot is alone in its row, so that there is nothing to subtract.
        let n = 20;
        let entries = (0..n).flat_map(|i| (0..=i).map(move |j| (n - 1 - i, (j + 7) % n)));
        let pattern = Sparsity::from_entries(n, entries);
        let values = vec![1.0; pattern.n_entries()];
        let order = markowitz(&pattern, &values, &vec![1.0; n]);
        assert_eq!(cost(&pattern, &order), (0, 0));
    }

    #[test]
    fn small_entries_are_not_pivots() {
        // (1e-9 1; 1 1): the first entry is as cheap as any, but too small.
        let pattern = Sparsity::from_entries(2, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        let order = markowitz(&pattern, &[1e-9, 1.0, 1.0, 1.0], &[1.0; 2]);
        assert_ne!((order.rows[0], order.columns[0]), (0, 0));
    }

    #[test]
    fn what_has_no_pivot_comes_last() {
        // Row and column 1 vanish.
        let pattern = Sparsity::from_entries(3, [(0, 0), (1, 1), (1, 2), (2, 2)]);
        let order = markowitz(&pattern, &[1.0, 0.0, 0.0, f64::NAN], &[1.0; 3]);
        let sorted = |mut lines: Vec<usize>| {
            lines.sort_unstable();
            lines
        };
        assert_eq!((order.rows[0], order.columns[0]), (0, 0));
        assert_eq!((sorted(order.rows), sorted(order.columns)), (vec![0, 1, 2], vec![0, 1, 2]));
    }
}
