//! One interface to the dense and the sparse factorisation, chosen by size and filling.
//!
//! In: a pattern and values in its order. Out: solutions in place. The pattern must be the one the solver was made for.

use crate::lu::{DenseLu, Singular};
use crate::sparse_lu::{Ordering, SparseLu};
use crate::sparsity::Sparsity;
use crate::tuning::linear::{DENSEST_SPARSE, LARGEST_ALWAYS_DENSE};

#[allow(clippy::large_enum_variant)] // one of them exists per integrator
pub enum LinearSolver {
    Dense { lu: DenseLu, matrix: Vec<f64> },
    Sparse(SparseLu),
}

/// Is it worth treating this pattern as sparse?
pub fn is_worth_sparse(pattern: &Sparsity) -> bool {
    let n = pattern.n();
    n > LARGEST_ALWAYS_DENSE && (pattern.n_entries() as f64) < DENSEST_SPARSE * (n * n) as f64
}

impl LinearSolver {
    pub fn for_pattern(pattern: &Sparsity) -> Self {
        if is_worth_sparse(pattern) {
            return LinearSolver::Sparse(SparseLu::new(pattern, Ordering::MinimumDegree));
        }
        let n = pattern.n();
        LinearSolver::Dense { lu: DenseLu::new(n), matrix: vec![0.0; n * n] }
    }

    /// `values` are in the order of the pattern.
    pub fn factor(&mut self, pattern: &Sparsity, values: &[f64]) -> Result<(), Singular> {
        match self {
            LinearSolver::Sparse(lu) => lu.factor(values),
            LinearSolver::Dense { lu, matrix } => {
                let n = lu.n();
                if pattern.n() != n || values.len() != pattern.n_entries() {
                    return Err(Singular { column: 0, pivot: f64::NAN });
                }
                matrix.fill(0.0);
                for column in 0..n {
                    for k in pattern.range(column) {
                        matrix[pattern.rows()[k] * n + column] = values[k];
                    }
                }
                lu.factor(matrix)
            }
        }
    }

    /// Replaces `b` by the solution of `A·x = b`. Leaves it alone without a factorisation.
    pub fn solve(&mut self, b: &mut [f64]) {
        match self {
            LinearSolver::Sparse(lu) => lu.solve(b),
            LinearSolver::Dense { lu, .. } => lu.solve(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_systems_are_solved_alike() {
        // −x(i−1) + 2·x(i) − x(i+1) = 0 with x(−1) = 0, x(n) = n + 1 has the solution x(i) = i + 1
        for (n, is_sparse) in [(5, false), (100, true)] {
            let band = (0..n).flat_map(|i: usize| (i.saturating_sub(1)..=i + 1).map(move |j| (i, j)));
            let pattern = Sparsity::from_entries(n, band);
            let values: Vec<f64> = (0..n)
                .flat_map(|j| pattern.range(j).map(move |k| (k, j)))
                .map(|(k, j)| if pattern.rows()[k] == j { 2.0 } else { -1.0 })
                .collect();
            let mut solver = LinearSolver::for_pattern(&pattern);
            assert_eq!(matches!(solver, LinearSolver::Sparse(_)), is_sparse);
            solver.factor(&pattern, &values).unwrap();
            let mut x = vec![0.0; n];
            x[n - 1] = (n + 1) as f64;
            solver.solve(&mut x);
            assert!(x.iter().enumerate().all(|(i, v)| (v - (i + 1) as f64).abs() < 1e-11));
        }
    }
}
