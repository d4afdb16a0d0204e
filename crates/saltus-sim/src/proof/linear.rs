//! Systems of linear equations over a stretch of time: `A·x = b` with an interval for each coefficient.
//!
//! In: the coefficients. Out: intervals that contain the solutions of all systems with such coefficients. With R, an approximate
//! inverse of the middle of A, the system is R·A·x = R·b, and R·A = I + D with a small D: then x is R·b up to |D|·|x|. Where D is
//! not small (A moves too much, or is nearly singular) nothing is known. (Neumaier: *Interval Methods for Systems of
//! Equations*, 1990, section 4.1.)

use saltus_numerics::{DenseLu, Interval};

/// Storage for systems of one size, with the inverse that was found last.
#[derive(Clone, Debug)]
pub(super) struct IntervalSystem {
    n: usize,
    /// A, row by row.
    pub matrix: Vec<Interval>,
    pub right: Vec<Interval>,
    pub solution: Vec<Interval>,
    lu: DenseLu,
    middle: Vec<f64>,
    /// R, row by row.
    inverse: Vec<f64>,
    /// Bounds of |D|, row by row.
    defect: Vec<f64>,
    /// The largest sum of a row of it; not a number if there is no inverse.
    norm: f64,
    column: Vec<f64>,
}

impl IntervalSystem {
    pub fn new(n: usize) -> Self {
        IntervalSystem {
            n,
            matrix: vec![Interval::ZERO; n * n],
            right: vec![Interval::ZERO; n],
            solution: vec![Interval::UNKNOWN; n],
            lu: DenseLu::new(n),
            middle: vec![0.0; n * n],
            inverse: vec![0.0; n * n],
            defect: vec![0.0; n * n],
            norm: f64::NAN,
            column: vec![0.0; n],
        }
    }

    /// Prepares for solving with the present matrix.
    pub fn factor(&mut self) {
        let n = self.n;
        self.norm = f64::NAN;
        for (middle, entry) in self.middle.iter_mut().zip(&self.matrix) {
            if !entry.is_known() {
                return;
            }
            *middle = entry.middle();
        }
        if self.lu.factor(&self.middle).is_err() {
            return;
        }
        for j in 0..n {
            self.column.fill(0.0);
            self.column[j] = 1.0;
            self.lu.solve(&mut self.column);
            (0..n).for_each(|i| self.inverse[i * n + j] = self.column[i]);
        }
        let mut norm = 0.0f64;
        for i in 0..n {
            let mut sum = 0.0;
            for j in 0..n {
                let mut product = Interval::point(if i == j { -1.0 } else { 0.0 });
                for k in 0..n {
                    product = product + Interval::point(self.inverse[i * n + k]) * self.matrix[k * n + j];
                }
                self.defect[i * n + j] = product.magnitude();
                sum += self.defect[i * n + j];
            }
            norm = if sum.is_nan() { f64::NAN } else { norm.max(sum * (1.0 + 1e-12)) };
        }
        self.norm = norm;
    }

    /// Solves with the inverse of the middle alone, for numbers.
    pub fn solve_middle(&mut self, matrix: impl Fn(usize, usize) -> f64, right: &mut [f64]) -> bool {
        let n = self.n;
        for (i, middle) in self.middle.iter_mut().enumerate() {
            *middle = matrix(i / n, i % n);
        }
        if self.lu.factor(&self.middle).is_err() {
            return false;
        }
        self.lu.solve(right);
        true
    }

    /// `R·right`, and by how much `(I - R·A)·x` may be off zero for |x| up to `reach`, by component. Unknown if there is no inverse.
    pub fn precondition(&mut self, reach: &[f64], image: &mut [Interval]) {
        let n = self.n;
        for (i, image) in image.iter_mut().enumerate() {
            *image = Interval::UNKNOWN;
            if self.norm.is_nan() {
                continue;
            }
            let (inverse, defect) = (&self.inverse[i * n..(i + 1) * n], &self.defect[i * n..(i + 1) * n]);
            let product = |sum: Interval, (r, b): (&f64, &Interval)| sum + Interval::point(*r) * *b;
            let moved = inverse.iter().zip(&self.right).fold(Interval::ZERO, product);
            let off: f64 = defect.iter().zip(reach).map(|(d, reach)| d * reach).sum();
            *image = moved + Interval::around(0.0, off * (1.0 + 1e-12));
        }
    }

    /// Solves for the present right-hand side.
    pub fn solve(&mut self) {
        let n = self.n;
        let is_small = self.norm < 0.5;
        if !is_small || !self.right.iter().all(|b| b.is_known()) {
            self.solution.fill(Interval::UNKNOWN);
            return;
        }
        let mut largest = 0.0f64;
        for i in 0..n {
            let mut sum = Interval::ZERO;
            for k in 0..n {
                let r = self.inverse[i * n + k];
                if r != 0.0 {
                    sum = sum + Interval::point(r) * self.right[k];
                }
            }
            largest = largest.max(sum.magnitude());
            self.solution[i] = sum;
        }
        // No component of the solution is larger than this.
        let bound = largest / (1.0 - self.norm) * (1.0 + 1e-12);
        for i in 0..n {
            let row = &self.defect[i * n..(i + 1) * n];
            let reach = |j: usize| -> f64 {
                let row = &self.defect[j * n..(j + 1) * n];
                self.solution[j].magnitude() + bound * row.iter().sum::<f64>()
            };
            self.column[i] =
                row.iter().enumerate().map(|(j, d)| if *d == 0.0 { 0.0 } else { d * reach(j) }).sum::<f64>();
        }
        for (x, error) in self.solution.iter_mut().zip(&self.column) {
            *x = *x + Interval::around(0.0, error * (1.0 + 1e-12));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_of_all_systems_are_enclosed() {
        // Coefficients 2…2.2, 1, 1, 3…3.1 and right-hand sides 1…1.1, -2…-1.9: a grid of them by Cramer's rule
        let mut system = IntervalSystem::new(2);
        let one = Interval::point(1.0);
        system.matrix.copy_from_slice(&[Interval::new(2.0, 2.2), one, one, Interval::new(3.0, 3.1)]);
        system.factor();
        system.right.copy_from_slice(&[Interval::new(1.0, 1.1), Interval::new(-2.0, -1.9)]);
        system.solve();
        let grid = |lo: f64, hi: f64, k: usize| lo + (hi - lo) * (k % 5) as f64 / 4.0;
        for k in 0..625 {
            let (a, d) = (grid(2.0, 2.2, k), grid(3.0, 3.1, k / 5));
            let (p, q) = (grid(1.0, 1.1, k / 25), grid(-2.0, -1.9, k / 125));
            let det = a * d - 1.0;
            let exact = [(p * d - q) / det, (a * q - p) / det];
            for (x, exact) in system.solution.iter().zip(exact) {
                assert!(x.contains(exact) && x.hi - x.lo < 0.4, "{x:?} and {exact}");
            }
        }
    }

    #[test]
    fn a_system_that_may_be_singular_is_unknown() {
        let mut system = IntervalSystem::new(1);
        system.matrix[0] = Interval::new(-1.0, 3.0);
        system.right[0] = Interval::point(1.0);
        system.factor();
        system.solve();
        assert!(!system.solution[0].is_known());
    }
}
