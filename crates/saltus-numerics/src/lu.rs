//! Dense LU factorisation with partial pivoting on an equilibrated matrix.
//!
//! In: a square matrix, row by row. Out: solutions of `A·x = b`, or the column in which no pivot is left. Rows and
//! columns are scaled by powers of two beforehand, so that a pascal and a kilogram per second weigh the same and the
//! scaling itself does not round. Storage is kept from one factorisation to the next.

use crate::tuning::linear::{CONDITION_STEPS, PIVOT_ROUNDING};

/// No usable pivot: the rows that are left are zero, to rounding, in `column`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Singular {
    /// Number of the column of the given matrix.
    pub column: usize,
    /// The largest candidate in the equilibrated matrix, whose entries are about 1.
    pub pivot: f64,
}

#[derive(Clone, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct DenseLu {
    n: usize,
    /// L below the diagonal (ones not stored), U above, of the scaled matrix with exchanged rows.
    lu: Vec<f64>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    /// Row of the given matrix that became row `i`.
    row: Vec<usize>,
    work: Vec<f64>,
    is_factored: bool,
}

/// A power of two near `1 / value`; 1 for zero and what is not finite.
pub fn reciprocal_power_of_two(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 1.0;
    }
    // Biased exponents of x and 1/x add up to 2046; both ends stay clear of zero and infinity.
    let exponent = (value.to_bits() >> 52) & 0x7ff;
    f64::from_bits((2046 - exponent.clamp(1, 2045)) << 52)
}

/// Scales for rows and columns after which the largest entry of each is about 1.
pub(crate) fn equilibrate(matrix: &[f64], n: usize, row_scale: &mut [f64], column_scale: &mut [f64]) {
    for i in 0..n {
        let largest = matrix[i * n..(i + 1) * n].iter().fold(0f64, |m, v| m.max(v.abs()));
        row_scale[i] = reciprocal_power_of_two(largest);
    }
    column_scale.fill(0.0);
    for i in 0..n {
        for j in 0..n {
            column_scale[j] = column_scale[j].max((matrix[i * n + j] * row_scale[i]).abs());
        }
    }
    for scale in column_scale.iter_mut() {
        *scale = reciprocal_power_of_two(*scale);
    }
}

impl DenseLu {
    pub fn new(n: usize) -> Self {
        let vector = || vec![0.0; n];
        DenseLu {
            n,
            lu: vec![0.0; n * n],
            row_scale: vector(),
            column_scale: vector(),
            row: vec![0; n],
            work: vector(),
            is_factored: false,
        }
    }

    pub fn n(&self) -> usize {
        self.n
    }

    /// Is there a factorisation to solve with?
    pub fn is_factored(&self) -> bool {
        self.is_factored
    }

    /// Forgets the factorisation but keeps its storage.
    pub fn invalidate(&mut self) {
        self.is_factored = false;
    }

    /// Factors an `n` by `n` matrix given row by row; a matrix of another size is singular.
    pub fn factor(&mut self, matrix: &[f64]) -> Result<(), Singular> {
        let n = self.n;
        self.is_factored = false;
        if matrix.len() != n * n {
            return Err(Singular { column: 0, pivot: f64::NAN });
        }
        equilibrate(matrix, n, &mut self.row_scale, &mut self.column_scale);
        for i in 0..n {
            self.row[i] = i;
            for j in 0..n {
                self.lu[i * n + j] = matrix[i * n + j] * self.row_scale[i] * self.column_scale[j];
            }
        }
        for k in 0..n {
            self.eliminate(k)?;
        }
        self.is_factored = true;
        Ok(())
    }

    fn eliminate(&mut self, k: usize) -> Result<(), Singular> {
        let n = self.n;
        let (mut best, mut pivot) = (k, 0.0);
        for i in k..n {
            let candidate = self.lu[i * n + k].abs();
            // A NaN must not pass for a pivot.
            if candidate > pivot || candidate.is_nan() {
                (best, pivot) = (i, candidate);
            }
        }
        let is_usable = pivot.is_finite() && pivot > PIVOT_ROUNDING * f64::EPSILON * n as f64;
        if !is_usable {
            return Err(Singular { column: k, pivot });
        }
        if best != k {
            self.row.swap(best, k);
            let (head, tail) = self.lu.split_at_mut(best * n);
            head[k * n..(k + 1) * n].swap_with_slice(&mut tail[..n]);
        }
        let (head, tail) = self.lu.split_at_mut((k + 1) * n);
        let pivot_row = &head[k * n..];
        for row in tail.chunks_exact_mut(n) {
            if row[k] == 0.0 {
                continue;
            }
            let factor = row[k] / pivot_row[k];
            row[k] = factor;
            for (value, p) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                *value -= factor * p;
            }
        }
        Ok(())
    }

    /// Replaces `b` by the solution of `A·x = b`. Leaves it alone without a factorisation.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        if !self.is_factored || b.len() != n {
            return;
        }
        for i in 0..n {
            let given = self.row[i];
            let row = &self.lu[i * n..i * n + i];
            let sum: f64 = row.iter().zip(&self.work).map(|(l, y)| l * y).sum();
            self.work[i] = b[given] * self.row_scale[given] - sum;
        }
        for i in (0..n).rev() {
            let row = &self.lu[i * n..(i + 1) * n];
            let sum: f64 = row[i + 1..].iter().zip(&self.work[i + 1..]).map(|(u, x)| u * x).sum();
            self.work[i] = (self.work[i] - sum) / row[i];
        }
        for i in 0..n {
            b[i] = self.work[i] * self.column_scale[i];
        }
    }

    /// Replaces `b` by the solution of the transposed system, for the scaled matrix.
    fn solve_scaled_transposed(&self, b: &mut [f64], work: &mut [f64]) {
        let n = self.n;
        work.copy_from_slice(b);
        for i in 0..n {
            work[i] /= self.lu[i * n + i];
            for j in i + 1..n {
                work[j] -= self.lu[i * n + j] * work[i];
            }
        }
        for i in (0..n).rev() {
            for j in 0..i {
                work[j] -= self.lu[i * n + j] * work[i];
            }
        }
        for i in 0..n {
            b[self.row[i]] = work[i];
        }
    }

    /// Estimates the reciprocal condition number, in the 1-norm, of the equilibrated matrix given before (Hager 1984):
    /// 1 is best, 2⁻⁵² is as good as singular. Allocates; for diagnosis.
    pub fn reciprocal_condition(&self, matrix: &[f64]) -> f64 {
        let n = self.n;
        if !self.is_factored || matrix.len() != n * n || n == 0 {
            return if n == 0 { 1.0 } else { 0.0 };
        }
        let scaled = |i: usize, j: usize| (matrix[i * n + j] * self.row_scale[i] * self.column_scale[j]).abs();
        let norm = (0..n).map(|j| (0..n).map(|i| scaled(i, j)).sum::<f64>()).fold(0f64, f64::max);
        let mut unscaled = self.clone();
        unscaled.row_scale.fill(1.0);
        unscaled.column_scale.fill(1.0);
        let (mut x, mut work) = (vec![1.0 / n as f64; n], vec![0.0; n]);
        let mut inverse_norm = 0f64;
        for _ in 0..CONDITION_STEPS {
            unscaled.solve(&mut x);
            let size: f64 = x.iter().map(|v| v.abs()).sum();
            if size <= inverse_norm {
                break;
            }
            inverse_norm = size;
            let mut z: Vec<f64> = x.iter().map(|v| if *v < 0.0 { -1.0 } else { 1.0 }).collect();
            self.solve_scaled_transposed(&mut z, &mut work);
            let largest = (0..n).max_by(|&a, &b| z[a].abs().total_cmp(&z[b].abs())).unwrap_or(0);
            x.fill(0.0);
            x[largest] = 1.0;
        }
        1.0 / (norm * inverse_norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(matrix: &[f64], b: &[f64]) -> Result<Vec<f64>, Singular> {
        let mut lu = DenseLu::new(b.len());
        lu.factor(matrix)?;
        let mut x = b.to_vec();
        lu.solve(&mut x);
        Ok(x)
    }

    #[test]
    fn a_system_that_needs_pivoting_is_solved() {
        // 0·x + 2y + z = 7, x + y = 3, 4x − y + 3z = 11 has the solution (1, 2, 3) by insertion
        let x = solve(&[0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 4.0, -1.0, 3.0], &[7.0, 3.0, 11.0]).unwrap();
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-14), "{x:?}");
    }

    #[test]
    fn units_do_not_matter() {
        // rows and columns of [[2, 1], [1, 3]] scaled by 10^±12; (1, 1) solves the unscaled one with b = (3, 4)
        let (r, c) = ([1e12, 1e-9], [1e-12, 1e7]);
        let a = [2.0 * r[0] * c[0], r[0] * c[1], r[1] * c[0], 3.0 * r[1] * c[1]];
        let x = solve(&a, &[3.0 * r[0], 4.0 * r[1]]).unwrap();
        assert!((x[0] * c[0] - 1.0).abs() < 1e-14 && (x[1] * c[1] - 1.0).abs() < 1e-14, "{x:?}");
    }

    #[test]
    fn singular_and_invalid_matrices_are_reported() {
        let twice = solve(&[1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0], &[1.0; 3]).unwrap_err();
        assert_eq!(twice.column, 2);
        assert_eq!(solve(&[0.0, 1.0, 0.0, 1.0], &[1.0; 2]).unwrap_err(), Singular { column: 0, pivot: 0.0 });
        assert!(solve(&[f64::NAN, 1.0, 0.0, 1.0], &[1.0; 2]).is_err());
        assert!(solve(&[1.0, 1.0, 0.0], &[1.0; 2]).is_err());
    }

    #[test]
    fn the_condition_of_the_hilbert_matrix_is_known() {
        // order 6: its norm is 1 + ½ + … + ⅙ = 2.45, that of its inverse, which has integer entries, 11865420; the
        // product is 2.907e7. Equilibration by powers of two may improve it by a small factor.
        let hilbert: Vec<f64> = (0..36).map(|k| 1.0 / ((k / 6 + k % 6 + 1) as f64)).collect();
        let mut lu = DenseLu::new(6);
        lu.factor(&hilbert).unwrap();
        let condition = 1.0 / lu.reciprocal_condition(&hilbert);
        assert!(condition > 1e6 && condition < 3e7, "{condition:e}");
        let mut identity = DenseLu::new(2);
        identity.factor(&[1.0, 0.0, 0.0, 1.0]).unwrap();
        assert_eq!(identity.reciprocal_condition(&[1.0, 0.0, 0.0, 1.0]), 1.0);
    }

    #[test]
    fn nothing_to_solve_is_solved() {
        let mut lu = DenseLu::new(0);
        lu.factor(&[]).unwrap();
        lu.solve(&mut []);
    }
}
