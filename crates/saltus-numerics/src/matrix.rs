//! The matrix of a system of equations with its factors, dense or sparse, to be filled repeatedly.
//!
//! In: the size or a pattern once, then values: dense ones row by row, sparse ones in the order of the pattern. Out: solutions
//! of `A·x = b`, and the entries one by one, to measure rows.

use crate::lu::{DenseLu, Singular};
use crate::sparse_lu::{Ordering, SparseLu};
use crate::sparsity::Sparsity;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Matrix {
    n: usize,
    pub values: Vec<f64>,
    factors: Factors,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[allow(clippy::large_enum_variant)] // one of them exists per solver
enum Factors {
    Dense(DenseLu),
    Sparse { pattern: Sparsity, lu: SparseLu },
}

impl Matrix {
    pub fn dense(n: usize) -> Self {
        Matrix { n, values: vec![0.0; n * n], factors: Factors::Dense(DenseLu::new(n)) }
    }

    pub fn sparse(pattern: &Sparsity) -> Self {
        let factors = Factors::Sparse { pattern: pattern.clone(), lu: SparseLu::new(pattern, Ordering::Markowitz) };
        Matrix { n: pattern.n(), values: vec![0.0; pattern.n_entries()], factors }
    }

    /// Number of rows, which is that of columns.
    pub fn n(&self) -> usize {
        self.n
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self.factors, Factors::Sparse { .. })
    }

    /// Where the value of an entry is; none if it is always zero.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        match &self.factors {
            Factors::Dense(_) => (row < self.n && column < self.n).then_some(row * self.n + column),
            Factors::Sparse { pattern, .. } => pattern.position(row, column),
        }
    }

    /// Calls `visit` with row, column and value of every stored entry.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        match &self.factors {
            Factors::Dense(_) => {
                for row in 0..self.n {
                    for column in 0..self.n {
                        visit(row, column, self.values[row * self.n + column]);
                    }
                }
            }
            Factors::Sparse { pattern, .. } => {
                for column in 0..self.n {
                    for k in pattern.range(column) {
                        visit(pattern.rows()[k], column, self.values[k]);
                    }
                }
            }
        }
    }

    /// The sum of the terms of each row without their signs, for these values of the unknowns.
    pub fn row_sizes(&self, x: &[f64], sizes: &mut [f64]) {
        match &self.factors {
            Factors::Dense(_) => {
                let rows = self.values.chunks_exact(self.n.max(1));
                sizes.iter_mut().zip(rows).for_each(|(size, row)| *size = size_of_terms(row, x));
            }
            Factors::Sparse { pattern, .. } => {
                sizes.fill(0.0);
                for (column, x) in x.iter().enumerate().take(self.n) {
                    let (range, x) = (pattern.range(column), x.abs());
                    for (&row, value) in pattern.rows()[range.clone()].iter().zip(&self.values[range]) {
                        sizes[row] += value.abs() * x;
                    }
                }
            }
        }
    }

    /// Columns that share no row, together; the columns one by one where any two may share one.
    pub fn column_groups(&self) -> Vec<Vec<usize>> {
        match &self.factors {
            Factors::Sparse { pattern, .. } => pattern.column_groups(),
            _ => (0..self.n).map(|column| vec![column]).collect(),
        }
    }

    /// Writes a column of which every row is given; what the pattern leaves out must be zero.
    pub fn set_column(&mut self, column: usize, value: impl Fn(usize) -> f64) {
        match &self.factors {
            Factors::Dense(_) => {
                for row in 0..self.n {
                    self.values[row * self.n + column] = value(row);
                }
            }
            Factors::Sparse { pattern, .. } => {
                for k in pattern.range(column) {
                    self.values[k] = value(pattern.rows()[k]);
                }
            }
        }
    }

    /// Multiplies each column by a number.
    pub fn scale_columns(&mut self, scale: &[f64]) {
        match &self.factors {
            Factors::Dense(_) => {
                let rows = self.values.chunks_exact_mut(self.n.max(1));
                rows.for_each(|row| row.iter_mut().zip(scale).for_each(|(value, scale)| *value *= scale));
            }
            Factors::Sparse { pattern, .. } => {
                for (column, scale) in scale.iter().enumerate() {
                    self.values[pattern.range(column)].iter_mut().for_each(|value| *value *= scale);
                }
            }
        }
    }

    /// All entries row by row.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut dense = vec![0.0; self.n * self.n];
        self.for_each(|row, column, value| dense[row * self.n + column] = value);
        dense
    }

    pub fn factor(&mut self) -> Result<(), Singular> {
        match &mut self.factors {
            Factors::Dense(lu) => lu.factor(&self.values),
            Factors::Sparse { lu, .. } => lu.factor(&self.values),
        }
    }

    pub fn is_factored(&self) -> bool {
        match &self.factors {
            Factors::Dense(lu) => lu.is_factored(),
            Factors::Sparse { lu, .. } => lu.is_factored(),
        }
    }

    /// Forgets the factors but keeps their storage.
    pub fn invalidate(&mut self) {
        match &mut self.factors {
            Factors::Dense(lu) => lu.invalidate(),
            Factors::Sparse { lu, .. } => lu.invalidate(),
        }
    }

    /// The next factorisation depends on the values alone, not on those that were factored before.
    pub fn forget_pivots(&mut self) {
        if let Factors::Sparse { lu, .. } = &mut self.factors {
            lu.forget_pivots();
        }
    }

    /// Replaces `b` by the solution of `A·x = b`. Leaves it alone without factors.
    pub fn solve(&mut self, b: &mut [f64]) {
        match &mut self.factors {
            Factors::Dense(lu) => lu.solve(b),
            Factors::Sparse { lu, .. } => lu.solve(b),
        }
    }
}

/// `Σ|a·x|`, four terms at a time.
fn size_of_terms(row: &[f64], x: &[f64]) -> f64 {
    let (fours, rest) = (row.chunks_exact(4), row.chunks_exact(4).remainder());
    let mut sums = [0.0; 4];
    for (a, x) in fours.zip(x.chunks_exact(4)) {
        for ((sum, a), x) in sums.iter_mut().zip(a).zip(x) {
            *sum += (a * x).abs();
        }
    }
    let rest: f64 = rest.iter().zip(&x[row.len() - rest.len()..]).map(|(a, x)| (a * x).abs()).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_solve_alike() {
        // 2x + y = 5, 3y = 3: (2, 1)
        let entries = [(0, 0, 2.0), (0, 1, 1.0), (1, 1, 3.0)];
        let pattern = Sparsity::from_entries(2, entries.iter().map(|e| (e.0, e.1)));
        for mut matrix in [Matrix::dense(2), Matrix::sparse(&pattern)] {
            for (row, column, value) in entries {
                let at = matrix.position(row, column).expect("is in the pattern");
                matrix.values[at] = value;
            }
            assert_eq!(matrix.to_dense(), [2.0, 1.0, 0.0, 3.0]);
            let mut sizes = [f64::NAN; 2];
            matrix.row_sizes(&[-1.0, 4.0], &mut sizes);
            assert_eq!(sizes, [6.0, 12.0]);
            assert!(!matrix.is_factored());
            matrix.factor().expect("is regular");
            let mut x = [5.0, 3.0];
            matrix.solve(&mut x);
            assert_eq!(x, [2.0, 1.0]);
            matrix.invalidate();
            assert!(!matrix.is_factored());
        }
        assert_eq!(Matrix::sparse(&pattern).position(1, 0), None);
    }
}
