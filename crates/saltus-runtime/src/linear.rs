//! Linear loops: one Newton step is exact; a second evaluation verifies it.
//!
//! In: a [`NonlinearSystem`] whose residuals are linear, nominal values, the present values of the unknowns. Out: the
//! solution, or why there is none. A singular but consistent system keeps the present values of what it leaves open.
//! While the matrix stays the same its factors are used again.

#![allow(clippy::needless_range_loop)] // matrices read best with their indices

use saltus_numerics::{Matrix, NonlinearSystem, RankRevealingLu, reciprocal_power_of_two};

use crate::rounding::Rounding;

/// Contradiction of a singular system, as a part of the terms of its equations, that is more than the accuracy of states: what
/// its equations have in common is a condition for them, which the integration keeps within its tolerance.
const CONTRADICTION: f64 = 1e-6;
/// Contradictions up to this part of what the equations would have for terms if their unknowns had nominal values are rounding,
/// made where the terms have been computed.
const CONTRADICTING_ROUNDING: f64 = 1e-12;
/// A residual of a regular system that is more than rounding.
const NOT_SOLVED: f64 = 1e-8;
/// Largest sparse system that is looked at as a dense one when it is singular.
const LARGEST_SINGULAR: usize = 1_000;
/// A pivot that has lost this much to cancellation needs to be looked at closely.
pub const NEARLY_SINGULAR: f64 = 1e-6;
/// Residuals up to this part of the terms of their equations are those of values that solve a system as good as any others.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// A residual that another step would not make smaller: factors leave rounding errors of the terms, whatever their condition.
pub const SMALL_RESIDUAL: f64 = 1e-14;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLinear {
    /// The residuals cannot be evaluated.
    CannotEvaluate,
    /// A singular system whose equations contradict each other.
    Contradiction,
    /// The step did not solve the equations: they are not linear after all.
    NotSolved,
}

/// The magnitude by which an unknown with this nominal value is measured.
pub fn usable_nominal(nominal: f64) -> f64 {
    if nominal.is_finite() && nominal != 0.0 { nominal.abs() } else { 1.0 }
}

/// Storage for systems of one size.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct LinearSolver {
    n: usize,
    pub residuals: Vec<f64>,
    work: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
    scale: Vec<f64>,
    jacobian: Matrix,
    /// The values that the factors belong to.
    factored: Vec<f64>,
    /// Sum of the terms of each equation, without signs.
    sizes: Vec<f64>,
    /// Made when the first singular matrix shows up.
    rank: Option<RankRevealingLu>,
    /// Equations that a singular system leaves over.
    pub redundant: Vec<usize>,
    pub factorisations: u64,
    /// The matrix is always the same: once factored it is not evaluated again.
    is_constant: bool,
    /// Values that solve the system up to rounding are left alone.
    pub keeps_solution: bool,
    rounding: Rounding,
}

impl LinearSolver {
    pub fn new(jacobian: Matrix, is_constant: bool) -> Self {
        let n = jacobian.n();
        let vector = || vec![0.0; n];
        LinearSolver {
            n,
            residuals: vector(),
            work: vector(),
            trial: vector(),
            step: vector(),
            scale: vector(),
            jacobian,
            factored: Vec::new(),
            sizes: vector(),
            rank: None,
            redundant: Vec::new(),
            factorisations: 0,
            is_constant,
            keeps_solution: false,
            rounding: Rounding::default(),
        }
    }

    /// What was solved before has no influence on what comes.
    pub fn forget_pivots(&mut self) {
        self.jacobian.forget_pivots();
        self.rounding = Rounding::default();
    }

    /// `x` must be finite; after success the residuals were evaluated last at the solution.
    pub fn solve(&mut self, system: &mut dyn NonlinearSystem, nominal: &[f64], x: &mut [f64]) -> Result<(), NotLinear> {
        self.redundant.clear();
        if x.len() != self.n || nominal.len() != self.n || system.residual(x, &mut self.residuals).is_err() {
            return Err(NotLinear::CannotEvaluate);
        }
        self.measure(x, nominal);
        if !(self.is_constant && self.jacobian.is_factored()) {
            self.jacobian.values.fill(0.0);
            if !system.jacobian(x, &mut self.jacobian) {
                self.difference(system, x)?;
            }
        }
        if self.keeps_solution && self.is_solved_by(x) {
            // Differences have looked elsewhere in between.
            return system.residual(x, &mut self.residuals).map_err(|_| NotLinear::CannotEvaluate);
        }
        // The second step removes what cancellation left of the first.
        let mut first = None;
        for _ in 0..2 {
            let is_singular = !self.newton_step();
            for i in 0..self.n {
                x[i] += self.step[i];
            }
            if is_singular && self.contradicts(system, x) {
                return Err(NotLinear::Contradiction);
            }
            if system.residual(x, &mut self.residuals).is_err() {
                return Err(NotLinear::CannotEvaluate);
            }
            self.measure(x, nominal);
            let largest = self.largest_residual();
            // Small systems are solved by machine code to the same bits, which remembers nothing.
            let remembers = self.jacobian.is_sparse() && !is_singular && !self.keeps_solution;
            if let Some(first) = first.filter(|_| remembers) {
                self.rounding.learn(first, largest);
            }
            if largest <= SMALL_RESIDUAL || remembers && first.is_none() && self.rounding.explains(largest) {
                return Ok(());
            }
            first = Some(largest);
        }
        let most = if self.redundant.is_empty() { NOT_SOLVED } else { CONTRADICTION };
        if self.largest_residual() <= most { Ok(()) } else { Err(NotLinear::NotSolved) }
    }

    fn measure(&mut self, x: &[f64], nominal: &[f64]) {
        for i in 0..self.n {
            self.scale[i] = x[i].abs().max(nominal[i].abs()).max(f64::MIN_POSITIVE);
        }
    }

    /// Are the present residuals, of `x`, nothing but rounding?
    fn is_solved_by(&mut self, x: &[f64]) -> bool {
        self.jacobian.row_sizes(x, &mut self.sizes);
        self.residuals.iter().zip(&self.sizes).all(|(residual, size)| residual.abs() <= ROUNDING * *size)
    }

    /// The largest residual, measured by the terms of its equation.
    fn largest_residual(&mut self) -> f64 {
        self.jacobian.row_sizes(&self.scale, &mut self.sizes);
        self.residuals
            .iter()
            .zip(&self.sizes)
            .fold(0f64, |largest, (residual, size)| worse(largest, residual.abs(), *size))
    }

    /// Of a linear function a long step has no other error than rounding.
    fn difference(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NotLinear> {
        self.trial.copy_from_slice(x);
        for j in 0..self.n {
            self.trial[j] = x[j] + self.scale[j];
            let h = self.trial[j] - x[j];
            if system.residual(&self.trial, &mut self.work).is_err() {
                return Err(NotLinear::CannotEvaluate);
            }
            let (after, before) = (&self.work, &self.residuals);
            self.jacobian.set_column(j, |i| (after[i] - before[i]) / h);
            self.trial[j] = x[j];
        }
        Ok(())
    }

    /// Solves `J·step = -r`; false if the matrix is singular.
    fn newton_step(&mut self) -> bool {
        // A constant matrix has its factors.
        if !self.is_constant && self.step_of_few() {
            return true;
        }
        let is_same = || self.is_constant || self.factored == self.jacobian.values;
        if !(self.jacobian.is_factored() && is_same()) {
            self.factorisations += 1;
            self.factored.clear();
            if self.jacobian.factor().is_ok() {
                self.factored.extend_from_slice(&self.jacobian.values);
            }
        }
        if self.jacobian.is_factored() {
            for i in 0..self.n {
                self.step[i] = -self.residuals[i];
            }
            self.jacobian.solve(&mut self.step);
            return true;
        }
        self.step.fill(0.0);
        self.redundant.clear();
        if self.jacobian.is_sparse() && self.n > LARGEST_SINGULAR {
            return true;
        }
        let rank = self.rank.get_or_insert_with(|| RankRevealingLu::new(self.n));
        rank.factor(&self.jacobian.to_dense());
        for i in 0..self.n {
            self.work[i] = -self.residuals[i];
        }
        rank.solve(&self.work, &mut self.step);
        self.redundant.extend_from_slice(rank.redundant_equations());
        false
    }

    /// The step of one or two equations, which make up most loops, with the same bits as by factors; false if there are
    /// more or they are close to singular.
    fn step_of_few(&mut self) -> bool {
        match (self.jacobian.values.as_slice(), self.residuals.as_slice(), self.step.as_mut_slice()) {
            (&[a], &[r], [x]) => {
                *x = -r / a;
                a.is_normal()
            }
            (&[a, b, c, d], &[r, s], [x, y]) => {
                // Pivots are chosen among rows of the same magnitude.
                let [first, second] = [a.abs().max(b.abs()), c.abs().max(d.abs())].map(reciprocal_power_of_two);
                let is_exchanged = c.abs() * second > a.abs() * first;
                let ([a, b, r], [c, d, s]) = if is_exchanged { ([c, d, s], [a, b, r]) } else { ([a, b, r], [c, d, s]) };
                let factor = c / a;
                let product = factor * b;
                let pivot = d - product;
                *y = (factor * r - s) / pivot;
                *x = (-r - b * *y) / a;
                a.is_normal() && pivot.abs() > NEARLY_SINGULAR * (d.abs() + product.abs())
            }
            _ => false,
        }
    }

    /// Is what the step to `x` leaves of a residual more than the terms of its equation explain?
    fn contradicts(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        let (sizes, left) = (&mut self.sizes, &mut self.work);
        sizes.fill(0.0);
        left.copy_from_slice(&self.residuals);
        let (scale, step) = (&self.scale, &self.step);
        self.jacobian.for_each(|row, column, value| {
            left[row] += value * step[column];
            sizes[row] += value.abs() * (scale[column] + step[column].abs());
        });
        let is_rounding =
            |left: f64, size: f64| left.abs() <= CONTRADICTING_ROUNDING * if size > 0.0 { size } else { 1.0 };
        if left.iter().zip(&*sizes).all(|(&left, &size)| is_rounding(left, size)) {
            return false;
        }
        let has_terms = system.terms(x, &mut self.trial);
        left.iter().zip(sizes).zip(&self.trial).any(|((&left, &mut size), &terms)| {
            let relative = left.abs() / if has_terms { terms } else { size };
            // Not a number is none that is small.
            !is_rounding(left, size) && (relative.is_nan() || relative > CONTRADICTION)
        })
    }
}

/// The larger of `worst` and `value` in units of `size`; infinite if it is not a number.
fn worse(worst: f64, value: f64, size: f64) -> f64 {
    let relative = if size > 0.0 { value / size } else { value };
    if relative.is_nan() { f64::INFINITY } else { worst.max(relative) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_numerics::Residual;

    #[test]
    fn one_step_is_exact() {
        // 2x + y = 5, x − y = 1: (2, 1)
        let mut system = Residual(|x: &[f64], r: &mut [f64]| {
            r[0] = 2.0 * x[0] + x[1] - 5.0;
            r[1] = x[0] - x[1] - 1.0;
            Ok(())
        });
        let mut x = [1e6, -3.0];
        LinearSolver::new(Matrix::dense(2), false).solve(&mut system, &[1.0; 2], &mut x).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-13 && (x[1] - 1.0).abs() < 1e-13, "{x:?}");
    }

    /// 2x = b with a matrix that counts how often it is asked for.
    struct Counted {
        b: f64,
        n_matrices: u32,
    }

    impl NonlinearSystem for Counted {
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> saltus_numerics::Eval {
            r[0] = 2.0 * x[0] - self.b;
            Ok(())
        }

        fn jacobian(&mut self, _: &[f64], matrix: &mut Matrix) -> bool {
            self.n_matrices += 1;
            matrix.values[0] = 2.0;
            true
        }
    }

    #[test]
    fn a_constant_matrix_is_evaluated_and_factored_once() {
        // One equation whose coefficient may change needs no factors.
        for (is_constant, n_matrices, n_factors) in [(true, 1, 1), (false, 3, 0)] {
            let mut solver = LinearSolver::new(Matrix::dense(1), is_constant);
            let mut system = Counted { b: 0.0, n_matrices: 0 };
            for b in [1.0, 2.0, 3.0] {
                let mut x = [0.0];
                system.b = b;
                solver.solve(&mut system, &[1.0], &mut x).unwrap();
                assert_eq!(x, [b / 2.0]);
            }
            assert_eq!((system.n_matrices, solver.factorisations), (n_matrices, n_factors));
        }
    }

    #[test]
    fn factors_are_used_again() {
        // x + y + z = 6, x − y = −1, z = b: (1, 2, 3) for b = 3, (2, 3, 1) for b = 1
        let mut solver = LinearSolver::new(Matrix::dense(3), false);
        let mut x = [0.0; 3];
        for (b, expected) in [(3.0, [1.0, 2.0, 3.0]), (1.0, [2.0, 3.0, 1.0])] {
            let mut system = Residual(|x: &[f64], r: &mut [f64]| {
                r[0] = x[0] + x[1] + x[2] - 6.0;
                r[1] = x[0] - x[1] + 1.0;
                r[2] = x[2] - b;
                Ok(())
            });
            solver.solve(&mut system, &[1.0; 3], &mut x).unwrap();
            assert!(x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-13), "{x:?}");
        }
        assert_eq!(solver.factorisations, 1);
    }

    #[test]
    fn what_a_singular_system_leaves_open_stays() {
        // x + y = 3, 2x + 2y = 6
        let mut system = Residual(|x: &[f64], r: &mut [f64]| {
            r[0] = x[0] + x[1] - 3.0;
            r[1] = 2.0 * x[0] + 2.0 * x[1] - 6.0;
            Ok(())
        });
        let mut x = [0.5, 7.0];
        let mut solver = LinearSolver::new(Matrix::dense(2), false);
        solver.solve(&mut system, &[1.0; 2], &mut x).unwrap();
        assert!((x[0] + x[1] - 3.0).abs() < 1e-12 && (x[0] == 0.5 || x[1] == 7.0), "{x:?}");
        assert_eq!(solver.redundant.len(), 1);
    }

    #[test]
    fn a_solution_is_kept_where_that_is_asked_for() {
        // 3x + y = 1, x − 3y = 0: (0.3, 0.1); neighbours in the last place solve it up to rounding as well.
        let mut system = Residual(|x: &[f64], r: &mut [f64]| {
            r[0] = 3.0 * x[0] + x[1] - 1.0;
            r[1] = x[0] - 3.0 * x[1];
            Ok(())
        });
        let near = [0.3, 0.1f64.next_up()];
        for (keeps_solution, is_kept) in [(true, true), (false, false)] {
            let mut solver = LinearSolver::new(Matrix::dense(2), false);
            solver.keeps_solution = keeps_solution;
            let mut x = near;
            solver.solve(&mut system, &[1.0; 2], &mut x).unwrap();
            assert_eq!(x == near, is_kept, "{x:?}");
            x = [0.3, 0.2];
            solver.solve(&mut system, &[1.0; 2], &mut x).unwrap();
            assert!((x[1] - 0.1).abs() < 1e-15, "{x:?}");
        }
    }

    #[test]
    fn a_contradiction_is_no_solution() {
        // x + y = 3, x + y = 3 + δ
        for (delta, expected) in
            [(1.0, Err(NotLinear::Contradiction)), (1e-4, Err(NotLinear::Contradiction)), (1e-7, Ok(()))]
        {
            let mut system = Residual(|x: &[f64], r: &mut [f64]| {
                r[0] = x[0] + x[1] - 3.0;
                r[1] = x[0] + x[1] - 3.0 - delta;
                Ok(())
            });
            let outcome = LinearSolver::new(Matrix::dense(2), false).solve(&mut system, &[1.0; 2], &mut [0.0, 0.0]);
            assert_eq!(outcome, expected, "{delta}");
        }
    }
}
