//! Linear systems that may be singular: complete pivoting, with the variables that nothing determines left as they are.
//!
//! In: `A·x = b` and a present value for each `x`. Out: the rank, which variables are free, the solution in which the
//! free ones keep their values, and by how much the equations contradict each other.
//!
//! Two rigid supports side by side leave the share of each in the force open; the shares there are will do:
//!
//! ```text
//! f1 + f2 = f        (twice)    →    rank 1; f2 stays, f1 := f − f2
//! ```

use crate::lu::equilibrate;
use crate::tuning::linear::RANK_ROUNDING;

#[derive(Clone, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct RankRevealingLu {
    n: usize,
    rank: usize,
    lu: Vec<f64>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    row: Vec<usize>,
    column: Vec<usize>,
    /// Right-hand side less what the present values already give.
    remainder: Vec<f64>,
    work: Vec<f64>,
    matrix: Vec<f64>,
}

/// What [`RankRevealingLu::solve`] found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConsistencyReport {
    pub rank: usize,
    /// Largest violation of an equation, relative to the sum of the magnitudes of its terms. About 2⁻⁵² if consistent.
    pub inconsistency: f64,
}

impl RankRevealingLu {
    pub fn new(n: usize) -> Self {
        let vector = || vec![0.0; n];
        RankRevealingLu {
            n,
            rank: 0,
            lu: vec![0.0; n * n],
            row_scale: vector(),
            column_scale: vector(),
            row: vec![0; n],
            column: vec![0; n],
            remainder: vector(),
            work: vector(),
            matrix: vec![0.0; n * n],
        }
    }

    /// Factors a matrix given row by row and returns its rank. A matrix of another size has rank 0.
    pub fn factor(&mut self, matrix: &[f64]) -> usize {
        let n = self.n;
        self.rank = 0;
        if matrix.len() != n * n {
            return 0;
        }
        self.matrix.copy_from_slice(matrix);
        equilibrate(matrix, n, &mut self.row_scale, &mut self.column_scale);
        for i in 0..n {
            (self.row[i], self.column[i]) = (i, i);
            for j in 0..n {
                self.lu[i * n + j] = matrix[i * n + j] * self.row_scale[i] * self.column_scale[j];
            }
        }
        while self.rank < n && self.eliminate(self.rank) {
            self.rank += 1;
        }
        self.rank
    }

    fn eliminate(&mut self, k: usize) -> bool {
        let n = self.n;
        let (mut row, mut column, mut pivot) = (k, k, 0.0);
        for i in k..n {
            for j in k..n {
                let candidate = self.lu[i * n + j].abs();
                if candidate > pivot {
                    (row, column, pivot) = (i, j, candidate);
                }
            }
        }
        let is_usable = pivot.is_finite() && pivot > RANK_ROUNDING * f64::EPSILON * n as f64;
        if !is_usable {
            return false;
        }
        self.row.swap(k, row);
        self.column.swap(k, column);
        for j in 0..n {
            self.lu.swap(k * n + j, row * n + j);
        }
        for i in 0..n {
            self.lu.swap(i * n + k, i * n + column);
        }
        for i in k + 1..n {
            let factor = self.lu[i * n + k] / self.lu[k * n + k];
            self.lu[i * n + k] = factor;
            for j in k + 1..n {
                self.lu[i * n + j] -= factor * self.lu[k * n + j];
            }
        }
        true
    }

    /// The variables that the equations leave open, in the order in which they were found.
    pub fn free_variables(&self) -> &[usize] {
        &self.column[self.rank..]
    }

    /// Equations that follow from the others or contradict them.
    pub fn redundant_equations(&self) -> &[usize] {
        &self.row[self.rank..]
    }

    /// Changes `x` so that `A·x = b` as far as possible; free variables keep their values.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) -> ConsistencyReport {
        let n = self.n;
        if b.len() != n || x.len() != n {
            return ConsistencyReport { rank: 0, inconsistency: f64::INFINITY };
        }
        for i in 0..n {
            let product: f64 = self.matrix[i * n..(i + 1) * n].iter().zip(&*x).map(|(a, x)| a * x).sum();
            self.remainder[i] = b[i] - product;
        }
        for i in 0..self.rank {
            let given = self.row[i];
            let sum: f64 = (0..i).map(|j| self.lu[i * n + j] * self.work[j]).sum();
            self.work[i] = self.remainder[given] * self.row_scale[given] - sum;
        }
        for i in (0..self.rank).rev() {
            let sum: f64 = (i + 1..self.rank).map(|j| self.lu[i * n + j] * self.work[j]).sum();
            self.work[i] = (self.work[i] - sum) / self.lu[i * n + i];
        }
        for k in 0..self.rank {
            let column = self.column[k];
            x[column] += self.work[k] * self.column_scale[column];
        }
        ConsistencyReport { rank: self.rank, inconsistency: self.inconsistency(b, x) }
    }

    fn inconsistency(&self, b: &[f64], x: &[f64]) -> f64 {
        let n = self.n;
        let mut worst = 0f64;
        for i in 0..n {
            let (mut sum, mut size) = (-b[i], b[i].abs());
            for (a, x) in self.matrix[i * n..(i + 1) * n].iter().zip(x) {
                sum += a * x;
                size += (a * x).abs();
            }
            let relative = if size > 0.0 { sum.abs() / size } else { 0.0 };
            worst = if relative.is_nan() { f64::INFINITY } else { worst.max(relative) };
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_variables_keep_their_values() {
        // x + y = 5 twice and z = 2: rank 2; one of x, y is free
        let mut lu = RankRevealingLu::new(3);
        assert_eq!(lu.factor(&[1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0]), 2);
        let given = [4.0, 3.0, 0.0];
        let mut x = given;
        let report = lu.solve(&[5.0, 5.0, 2.0], &mut x);
        let &[free] = lu.free_variables() else { panic!("one free variable") };
        assert!(free < 2 && x[free] == given[free], "{x:?}");
        assert!((x[0] + x[1] - 5.0).abs() < 1e-15 && x[2] == 2.0);
        assert!(report.rank == 2 && report.inconsistency < 1e-15);
    }

    #[test]
    fn a_solution_that_is_already_there_is_not_touched() {
        let mut lu = RankRevealingLu::new(2);
        lu.factor(&[2.0, -2.0, -1.0, 1.0]);
        let mut x = [7.0, 7.0];
        assert!(lu.solve(&[0.0, 0.0], &mut x).inconsistency == 0.0);
        assert_eq!(x, [7.0, 7.0]);
    }

    #[test]
    fn contradicting_equations_are_told_apart_from_redundant_ones() {
        // x + y = 5 and x + y = 6: one part in 11 to 12 of the size of the terms is left over
        let mut lu = RankRevealingLu::new(2);
        lu.factor(&[1.0, 1.0, 1.0, 1.0]);
        let report = lu.solve(&[5.0, 6.0], &mut [0.0, 0.0]);
        assert!(report.rank == 1 && report.inconsistency > 0.08, "{report:?}");
        assert_eq!(lu.redundant_equations().len(), 1);
    }

    #[test]
    fn a_regular_system_of_bad_scale_is_solved() {
        // (1e5, 1e-3) by insertion
        let mut lu = RankRevealingLu::new(2);
        assert_eq!(lu.factor(&[1e-5, 1e3, 2e-5, -1e3]), 2);
        let mut x = [0.0; 2];
        let report = lu.solve(&[2.0, 1.0], &mut x);
        assert!((x[0] - 1e5).abs() < 1e-8 && (x[1] - 1e-3).abs() < 1e-16, "{x:?}");
        assert!(report.inconsistency < 1e-15);
    }
}
