//! Sparse LU factorisation for larger systems: left-looking, after Gilbert and Peierls (1988).
//!
//! In: a pattern once, values as often as wanted. Out: solutions of `A·x = b`. Columns are ordered by minimum degree with the diagonal
//! for pivots, or after Markowitz, who chooses row and column by the values; that pivot is taken unless it is a thousand times smaller
//! than the largest of its column: others undo what the order is good for. The first factorisation
//! finds the pattern of the factors; later ones reuse it with the same pivots, without allocation, and start afresh if a
//! pivot has become too small for that.

use crate::lu::{Singular, reciprocal_power_of_two};
use crate::markowitz::markowitz;
use crate::ordering::minimum_degree;
use crate::sparsity::Sparsity;
use crate::tuning::linear::{DIAGONAL_PREFERENCE, PIVOT_ROUNDING, REUSED_PIVOT};

const NO_PIVOT: usize = usize::MAX;

/// Columns of a triangular factor under construction or in use; the diagonal is stored elsewhere.
#[derive(Clone, Default, Debug, serde::Serialize, serde::Deserialize)]
struct Columns {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.rows.clear();
        self.values.clear();
    }

    fn push(&mut self, row: usize, value: f64) {
        self.rows.push(row as u32);
        self.values.push(value);
    }

    fn end_column(&mut self) {
        self.starts.push(self.rows.len());
    }

    #[inline]
    fn range(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column]..self.starts[column + 1]
    }

    #[inline]
    fn column(&self, column: usize) -> (&[u32], &[f64]) {
        let range = self.range(column);
        (&self.rows[range.clone()], &self.values[range])
    }

    #[inline]
    fn column_mut(&mut self, column: usize) -> (&[u32], &mut [f64]) {
        let range = self.range(column);
        (&self.rows[range.clone()], &mut self.values[range])
    }

    /// `work -= factor * column`
    #[inline(always)]
    fn subtract(&self, column: usize, factor: f64, work: &mut [f64]) {
        let (rows, values) = self.column(column);
        for (&row, &value) in rows.iter().zip(values) {
            work[row as usize] -= value * factor;
        }
    }
}

/// Is a pivot a number, and more than what rounding may have left of zero?
fn is_usable(pivot: f64, smallest: f64) -> bool {
    pivot.is_finite() && pivot > smallest
}

/// How the order of elimination is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Ordering {
    /// From the pattern alone, with the diagonal for pivots: for `I − h·J`.
    MinimumDegree,
    /// With the values of the first factorisation: for matrices whose diagonal means nothing.
    Markowitz,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SparseLu {
    pattern: Sparsity,
    ordering: Ordering,
    /// Column of the matrix that is eliminated as number `k`, and the row that is to be its pivot.
    order: Vec<usize>,
    wanted: Vec<usize>,
    /// As number what a row of the matrix is eliminated.
    pivot_of_row: Vec<usize>,
    lower: Columns,
    upper: Columns,
    diagonal: Vec<f64>,
    row_scale: Vec<f64>,
    work: Vec<f64>,
    /// For the search of the pattern of a column.
    reached: Vec<usize>,
    mark: Vec<usize>,
    path: Vec<(usize, usize)>,
    is_analysed: bool,
    is_factored: bool,
}

impl SparseLu {
    pub fn new(pattern: &Sparsity, ordering: Ordering) -> Self {
        let n = pattern.n();
        let order = if ordering == Ordering::MinimumDegree { minimum_degree(pattern) } else { (0..n).collect() };
        SparseLu {
            wanted: order.clone(),
            order,
            ordering,
            pattern: pattern.clone(),
            pivot_of_row: vec![NO_PIVOT; n],
            lower: Columns::default(),
            upper: Columns::default(),
            diagonal: vec![0.0; n],
            row_scale: vec![1.0; n],
            work: vec![0.0; n],
            reached: Vec::with_capacity(n),
            mark: vec![NO_PIVOT; n],
            path: Vec::with_capacity(n),
            is_analysed: false,
            is_factored: false,
        }
    }

    pub fn n(&self) -> usize {
        self.pattern.n()
    }

    pub fn is_factored(&self) -> bool {
        self.is_factored
    }

    /// Forgets the factorisation but keeps its pattern and storage.
    pub fn invalidate(&mut self) {
        self.is_factored = false;
    }

    /// The next factorisation chooses its pivots anew, whatever was factored before.
    pub fn forget_pivots(&mut self) {
        self.is_analysed = false;
    }

    /// Entries of both factors, the diagonal included once.
    pub fn n_factor_entries(&self) -> usize {
        self.lower.rows.len() + self.upper.rows.len() + self.n()
    }

    /// `values` are in the order of the pattern.
    pub fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        self.is_factored = false;
        if values.len() != self.pattern.n_entries() {
            return Err(Singular { column: 0, pivot: f64::NAN });
        }
        self.scale_rows(values);
        if !self.is_analysed || !self.refactor(values) {
            self.is_analysed = false;
            self.work.fill(0.0);
            self.analyse_and_factor(values)?;
            self.is_analysed = true;
        }
        self.is_factored = true;
        Ok(())
    }

    fn scale_rows(&mut self, values: &[f64]) {
        self.row_scale.fill(0.0);
        for (&row, value) in self.pattern.rows().iter().zip(values) {
            self.row_scale[row] = self.row_scale[row].max(value.abs());
        }
        for scale in &mut self.row_scale {
            *scale = reciprocal_power_of_two(*scale);
        }
    }

    fn is_rounding(&self, pivot: f64, largest_of_column: f64) -> bool {
        !is_usable(pivot, PIVOT_ROUNDING * f64::EPSILON * self.n() as f64 * largest_of_column)
    }

    /// Same pivots and pattern as before; false if a pivot is too small for that.
    fn refactor(&mut self, values: &[f64]) -> bool {
        let smallest = PIVOT_ROUNDING * f64::EPSILON * self.n() as f64;
        let (work, scale) = (self.work.as_mut_slice(), self.row_scale.as_slice());
        for (k, &column) in self.order.iter().enumerate() {
            let mut largest = 0f64;
            let range = self.pattern.range(column);
            for (&row, &value) in self.pattern.rows()[range.clone()].iter().zip(&values[range]) {
                let value = value * scale[row];
                largest = largest.max(value.abs());
                work[self.pivot_of_row[row]] = value;
            }
            let (rows, entries) = self.upper.column_mut(k);
            for (&i, entry) in rows.iter().zip(entries) {
                let u = std::mem::take(&mut work[i as usize]);
                *entry = u;
                self.lower.subtract(i as usize, u, work);
            }
            let pivot = std::mem::take(&mut work[k]);
            self.diagonal[k] = pivot;
            let mut candidate = pivot.abs();
            let (rows, entries) = self.lower.column_mut(k);
            for (&row, entry) in rows.iter().zip(entries) {
                let value = std::mem::take(&mut work[row as usize]);
                candidate = candidate.max(value.abs());
                *entry = value / pivot;
            }
            let is_large_enough = pivot.abs() >= REUSED_PIVOT * candidate;
            if !is_large_enough || !is_usable(pivot.abs(), smallest * largest) {
                return false;
            }
        }
        true
    }

    fn analyse_and_factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        let n = self.n();
        if self.ordering == Ordering::Markowitz {
            let pivots = markowitz(&self.pattern, values, &self.row_scale);
            (self.order, self.wanted) = (pivots.columns, pivots.rows);
        }
        self.lower.clear();
        self.upper.clear();
        self.pivot_of_row.fill(NO_PIVOT);
        self.mark.fill(NO_PIVOT);
        for k in 0..n {
            self.reach(k);
            let largest = self.scatter(self.order[k], values);
            self.solve_column();
            self.choose_pivot(k, largest)?;
        }
        for row in &mut self.lower.rows {
            *row = self.pivot_of_row[*row as usize] as u32;
        }
        self.sort_upper();
        Ok(())
    }

    /// Which rows column number `k` of the factors can have: all that are reached from those of the matrix along columns
    /// of L. `reached` ends up in reverse topological order.
    fn reach(&mut self, k: usize) {
        self.reached.clear();
        for p in self.pattern.range(self.order[k]) {
            let start = self.pattern.rows()[p];
            if self.mark[start] == k {
                continue;
            }
            self.mark[start] = k;
            self.path.push((start, 0));
            while let Some((row, next)) = self.path.pop() {
                let pivot = self.pivot_of_row[row];
                let children = if pivot == NO_PIVOT { 0..0 } else { self.lower.range(pivot) };
                let child =
                    (children.start + next..children.end).find(|&q| self.mark[self.lower.rows[q] as usize] != k);
                match child {
                    Some(q) => {
                        self.path.push((row, q + 1 - children.start));
                        let below = self.lower.rows[q] as usize;
                        self.mark[below] = k;
                        self.path.push((below, 0));
                    }
                    None => self.reached.push(row),
                }
            }
        }
    }

    fn scatter(&mut self, column: usize, values: &[f64]) -> f64 {
        let mut largest = 0f64;
        for p in self.pattern.range(column) {
            let row = self.pattern.rows()[p];
            self.work[row] = values[p] * self.row_scale[row];
            largest = largest.max(self.work[row].abs());
        }
        largest
    }

    fn solve_column(&mut self) {
        for &row in self.reached.iter().rev() {
            let pivot = self.pivot_of_row[row];
            if pivot == NO_PIVOT {
                continue;
            }
            let u = self.work[row];
            self.lower.subtract(pivot, u, &mut self.work);
        }
    }

    fn choose_pivot(&mut self, k: usize, largest_of_column: f64) -> Result<(), Singular> {
        let (mut best, mut size) = (NO_PIVOT, 0.0);
        for &row in &self.reached {
            let candidate = self.work[row].abs();
            if self.pivot_of_row[row] == NO_PIVOT && (candidate > size || candidate.is_nan()) {
                (best, size) = (row, candidate);
            }
        }
        let column = self.order[k];
        if best == NO_PIVOT || self.is_rounding(size, largest_of_column) {
            return Err(Singular { column, pivot: size });
        }
        let wanted = self.wanted[k];
        let is_possible = self.mark[wanted] == k && self.pivot_of_row[wanted] == NO_PIVOT;
        if is_possible && self.work[wanted].abs() >= DIAGONAL_PREFERENCE * size {
            best = wanted;
        }
        let pivot = self.work[best];
        self.diagonal[k] = pivot;
        self.pivot_of_row[best] = k;
        for &row in &self.reached {
            let value = std::mem::take(&mut self.work[row]);
            match self.pivot_of_row[row] {
                NO_PIVOT => self.lower.push(row, value / pivot),
                i if i < k => self.upper.push(i, value),
                _ => {}
            }
        }
        self.lower.end_column();
        self.upper.end_column();
        Ok(())
    }

    /// Ascending rows are a topological order, which reuse relies on.
    fn sort_upper(&mut self) {
        let mut entries: Vec<(u32, f64)> = Vec::new();
        for k in 0..self.n() {
            let (rows, values) = self.upper.column(k);
            entries.clear();
            entries.extend(rows.iter().copied().zip(values.iter().copied()));
            entries.sort_unstable_by_key(|&(row, _)| row);
            for (p, &(row, value)) in self.upper.range(k).zip(&entries) {
                (self.upper.rows[p], self.upper.values[p]) = (row, value);
            }
        }
    }

    /// Replaces `b` by the solution of `A·x = b`. Leaves it alone without a factorisation.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n();
        if !self.is_factored || b.len() != n {
            return;
        }
        for row in 0..n {
            self.work[self.pivot_of_row[row]] = b[row] * self.row_scale[row];
        }
        // Many zeros: a change in one place of a large system reaches only a part of it.
        for k in 0..n {
            let y = self.work[k];
            if y != 0.0 {
                self.lower.subtract(k, y, &mut self.work);
            }
        }
        for k in (0..n).rev() {
            let mut x = self.work[k];
            if x != 0.0 {
                x /= self.diagonal[k];
                self.upper.subtract(k, x, &mut self.work);
            }
            b[self.order[k]] = x;
        }
        self.work.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values for a pattern from a function of row and column.
    fn fill(pattern: &Sparsity, f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        (0..pattern.n())
            .flat_map(|j| pattern.range(j).map(move |k| (k, j)))
            .map(|(k, j)| f(pattern.rows()[k], j))
            .collect()
    }

    fn residual(pattern: &Sparsity, values: &[f64], x: &[f64], b: &[f64]) -> f64 {
        let mut r = b.to_vec();
        for (j, xj) in x.iter().enumerate() {
            for k in pattern.range(j) {
                r[pattern.rows()[k]] -= values[k] * xj;
            }
        }
        r.iter().fold(0f64, |m, v| m.max(v.abs()))
    }

    /// A chain of bodies: row `2i` couples positions `i` and `i + 1` with a force, row `2i + 1` forces with a position; shuffled, so that
    /// the diagonal means nothing.
    #[test]
    fn markowitz_keeps_a_shuffled_chain_sparse() {
        let m = 200;
        let n = 2 * m;
        let row_of = |i: usize| (i * 7 + 3) % n;
        let chain = (0..m).flat_map(|i| {
            let next = (i + 1).min(m - 1);
            let last = i.saturating_sub(1);
            [(2 * i, i), (2 * i, next), (2 * i, m + i), (2 * i + 1, m + i), (2 * i + 1, m + last), (2 * i + 1, i)]
        });
        let pattern = Sparsity::from_entries(n, chain.map(|(i, j)| (row_of(i), j)));
        let values = fill(&pattern, |i, j| 1.0 + ((i * 31 + j * 17) % 13) as f64 / 7.0);
        let b: Vec<f64> = (0..n).map(|i| ((i % 5) as f64) - 2.0).collect();
        let mut entries = Vec::new();
        for ordering in [Ordering::Markowitz, Ordering::MinimumDegree] {
            let mut lu = SparseLu::new(&pattern, ordering);
            lu.factor(&values).unwrap();
            let first = lu.n_factor_entries();
            // Once more with the same pivots.
            lu.factor(&values).unwrap();
            assert_eq!(lu.n_factor_entries(), first);
            let mut x = b.clone();
            lu.solve(&mut x);
            assert!(residual(&pattern, &values, &x, &b) < 1e-9);
            entries.push(first);
        }
        // The matrix itself has about 3n entries.
        assert!(entries[0] < 5 * n && entries[0] < entries[1], "{entries:?}");
    }

    /// Five-point stencil on a square grid.
    fn grid(m: usize) -> Sparsity {
        let entries = (0..m * m).flat_map(move |i| {
            let (r, c) = (i / m, i % m);
            let near = [(r > 0).then(|| i - m), (c > 0).then(|| i - 1), (c + 1 < m).then_some(i + 1)];
            let far = (r + 1 < m).then_some(i + m);
            near.into_iter().chain([far, Some(i)]).flatten().map(move |j| (i, j))
        });
        Sparsity::from_entries(m * m, entries)
    }

    #[test]
    fn a_grid_is_solved_and_stays_sparse() {
        let pattern = grid(20);
        let values = fill(&pattern, |i, j| if i == j { 4.5 } else { -1.0 });
        let mut lu = SparseLu::new(&pattern, Ordering::MinimumDegree);
        lu.factor(&values).unwrap();
        let b: Vec<f64> = (0..400).map(|i| f64::from(i % 7) - 3.0).collect();
        let mut x = b.clone();
        lu.solve(&mut x);
        assert!(residual(&pattern, &values, &x, &b) < 1e-13);
        // the band of the natural order would have 2·20·400 entries
        assert!(lu.n_factor_entries() < 10_000, "{}", lu.n_factor_entries());
    }

    #[test]
    fn small_entries_on_the_diagonal_do_not_undo_the_order() {
        let pattern = grid(40);
        let entries = |smallest: f64| {
            let diagonal = |i: usize| if i.is_multiple_of(3) { smallest } else { 4.5 };
            let values = fill(&pattern, |i, j| if i == j { diagonal(i) } else { -0.1 });
            let mut lu = SparseLu::new(&pattern, Ordering::MinimumDegree);
            lu.factor(&values).unwrap();
            let b = vec![1.0; 1600];
            let mut x = b.clone();
            lu.solve(&mut x);
            let error = residual(&pattern, &values, &x, &b);
            assert!(error < 1e-9, "{error:e}");
            lu.n_factor_entries()
        };
        // with the largest entry of each column as its pivot the factors have a third more entries
        assert_eq!(entries(0.005), entries(4.5));
    }

    #[test]
    fn new_values_reuse_the_pattern_and_a_lost_pivot_is_replaced() {
        let pattern = grid(8);
        let mut lu = SparseLu::new(&pattern, Ordering::MinimumDegree);
        let b = vec![1.0; 64];
        // the third set has zeros on the diagonal, so the pivots found first are useless
        for diagonal in [5.0, -7.0, 0.0, 4.2] {
            let values = fill(&pattern, |i, j| if i == j { diagonal } else { 1.0 + (i * 7 + j * 3) as f64 / 100.0 });
            lu.factor(&values).unwrap();
            let mut x = b.clone();
            lu.solve(&mut x);
            assert!(residual(&pattern, &values, &x, &b) < 1e-10, "diagonal {diagonal}");
        }
    }

    #[test]
    fn an_unsymmetric_matrix_agrees_with_the_dense_solver() {
        let n = 61;
        let entries = (0..n).flat_map(|j| [(j, j), ((3 * j + 1) % n, j), ((j * j + 5) % n, j), (j, (j + 7) % n)]);
        let pattern = Sparsity::from_entries(n, entries);
        let values = fill(&pattern, |i, j| ((i * 31 + j * 17) % 23) as f64 - 11.3);
        let mut dense = vec![0.0; n * n];
        for j in 0..n {
            for k in pattern.range(j) {
                dense[pattern.rows()[k] * n + j] = values[k];
            }
        }
        let (mut sparse_lu, mut dense_lu) =
            (SparseLu::new(&pattern, Ordering::MinimumDegree), crate::lu::DenseLu::new(n));
        sparse_lu.factor(&values).unwrap();
        dense_lu.factor(&dense).unwrap();
        let mut x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut y = x.clone();
        sparse_lu.solve(&mut x);
        dense_lu.solve(&mut y);
        let scale = y.iter().fold(0f64, |m, v| m.max(v.abs()));
        assert!(x.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-9 * scale));
    }

    #[test]
    fn a_missing_column_and_a_not_a_number_are_singular() {
        let pattern = Sparsity::from_entries(3, [(0, 0), (1, 1), (2, 1)]);
        assert_eq!(SparseLu::new(&pattern, Ordering::MinimumDegree).factor(&[1.0, 1.0, 1.0]).unwrap_err().column, 2);
        let diagonal = Sparsity::from_entries(2, [(0, 0), (1, 1)]);
        assert!(SparseLu::new(&diagonal, Ordering::MinimumDegree).factor(&[1.0, f64::NAN]).is_err());
        assert!(SparseLu::new(&diagonal, Ordering::MinimumDegree).factor(&[1.0]).is_err());
    }
}
