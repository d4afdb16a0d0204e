//! Linear loops: one Newton step is exact; a second evaluation verifies it.
//!
//! In: a [`NonlinearSystem`] whose residuals are linear, nominal values, the present values of the unknowns. Out: the
//! solution, or why there is none. A singular but consistent system keeps the present values of what it leaves open.
//! While the matrix stays the same its factors are used again.

#![allow(clippy::needless_range_loop)] // matrices read best with their indices

use saltus_numerics::{DenseLu, NonlinearSystem, RankRevealingLu};

/// Relative contradiction of a singular system that is more than rounding.
const CONTRADICTION: f64 = 1e-8;
/// A residual that another step would not make smaller.
const SMALL_RESIDUAL: f64 = 1e-12;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLinear {
    /// The residuals cannot be evaluated.
    CannotEvaluate,
    /// A singular system whose equations contradict each other.
    Contradiction,
    /// The step did not solve the equations: they are not linear after all.
    NotSolved,
}

/// Storage for systems of one size.
pub struct LinearSolver {
    n: usize,
    pub residuals: Vec<f64>,
    work: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
    scale: Vec<f64>,
    jacobian: Vec<f64>,
    /// The matrix that `lu` belongs to.
    factored: Vec<f64>,
    lu: DenseLu,
    /// Made when the first singular matrix shows up.
    rank: Option<RankRevealingLu>,
    /// Equations that a singular system leaves over.
    pub redundant: Vec<usize>,
    pub factorisations: u64,
}

impl LinearSolver {
    pub fn new(n: usize) -> Self {
        let vector = || vec![0.0; n];
        LinearSolver {
            n,
            residuals: vector(),
            work: vector(),
            trial: vector(),
            step: vector(),
            scale: vector(),
            jacobian: vec![0.0; n * n],
            factored: Vec::new(),
            lu: DenseLu::new(n),
            rank: None,
            redundant: Vec::new(),
            factorisations: 0,
        }
    }

    /// `x` must be finite; after success the residuals were evaluated last at the solution.
    pub fn solve(&mut self, system: &mut dyn NonlinearSystem, nominal: &[f64], x: &mut [f64]) -> Result<(), NotLinear> {
        self.redundant.clear();
        if x.len() != self.n || nominal.len() != self.n || system.residual(x, &mut self.residuals).is_err() {
            return Err(NotLinear::CannotEvaluate);
        }
        self.measure(x, nominal);
        self.jacobian.fill(0.0);
        if !system.jacobian(x, &mut self.jacobian) {
            self.difference(system, x)?;
        }
        // The second step removes what cancellation left of the first.
        for _ in 0..2 {
            let contradiction = self.newton_step();
            for i in 0..self.n {
                x[i] += self.step[i];
            }
            if contradiction.is_some_and(|c| c > CONTRADICTION) {
                return Err(NotLinear::Contradiction);
            }
            if system.residual(x, &mut self.residuals).is_err() {
                return Err(NotLinear::CannotEvaluate);
            }
            self.measure(x, nominal);
            if self.largest_residual() <= SMALL_RESIDUAL {
                return Ok(());
            }
        }
        if self.largest_residual() <= CONTRADICTION { Ok(()) } else { Err(NotLinear::NotSolved) }
    }

    fn measure(&mut self, x: &[f64], nominal: &[f64]) {
        for i in 0..self.n {
            self.scale[i] = x[i].abs().max(nominal[i].abs()).max(f64::MIN_POSITIVE);
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.jacobian[i * self.n..(i + 1) * self.n]
    }

    /// The largest residual, measured by the terms of its equation.
    fn largest_residual(&self) -> f64 {
        let mut largest = 0f64;
        for i in 0..self.n {
            let size: f64 = self.row(i).iter().zip(&self.scale).map(|(a, s)| a.abs() * s).sum();
            let scaled = if size > 0.0 { self.residuals[i].abs() / size } else { self.residuals[i].abs() };
            largest = if scaled.is_nan() { f64::INFINITY } else { largest.max(scaled) };
        }
        largest
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
            for i in 0..self.n {
                self.jacobian[i * self.n + j] = (self.work[i] - self.residuals[i]) / h;
            }
            self.trial[j] = x[j];
        }
        Ok(())
    }

    /// Solves `J·step = -r`. Of a singular system returns by how much it contradicts itself.
    fn newton_step(&mut self) -> Option<f64> {
        if !(self.lu.is_factored() && self.factored == self.jacobian) {
            self.factorisations += 1;
            self.factored.clear();
            if self.lu.factor(&self.jacobian).is_ok() {
                self.factored.extend_from_slice(&self.jacobian);
            }
        }
        if self.lu.is_factored() {
            for i in 0..self.n {
                self.step[i] = -self.residuals[i];
            }
            self.lu.solve(&mut self.step);
            return None;
        }
        let rank = self.rank.get_or_insert_with(|| RankRevealingLu::new(self.n));
        rank.factor(&self.jacobian);
        self.step.fill(0.0);
        for i in 0..self.n {
            self.work[i] = -self.residuals[i];
        }
        rank.solve(&self.work, &mut self.step);
        self.redundant.clear();
        self.redundant.extend_from_slice(rank.redundant_equations());
        Some(self.contradiction())
    }

    /// What the step leaves of the residuals, measured by the terms of their equations.
    fn contradiction(&self) -> f64 {
        let mut worst = 0f64;
        for i in 0..self.n {
            let left = self.residuals[i] + self.row(i).iter().zip(&self.step).map(|(a, d)| a * d).sum::<f64>();
            let terms = self.row(i).iter().zip(&self.scale).zip(&self.step);
            let size: f64 = terms.map(|((a, s), d)| a.abs() * (s + d.abs())).sum();
            let relative = if size > 0.0 { left.abs() / size } else { left.abs() };
            worst = if relative.is_nan() { f64::INFINITY } else { worst.max(relative) };
        }
        worst
    }
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
        LinearSolver::new(2).solve(&mut system, &[1.0; 2], &mut x).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-13 && (x[1] - 1.0).abs() < 1e-13, "{x:?}");
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
        let mut solver = LinearSolver::new(2);
        solver.solve(&mut system, &[1.0; 2], &mut x).unwrap();
        assert!((x[0] + x[1] - 3.0).abs() < 1e-12 && (x[0] == 0.5 || x[1] == 7.0), "{x:?}");
        assert_eq!(solver.redundant.len(), 1);
    }

    #[test]
    fn a_contradiction_is_no_solution() {
        // x + y = 3, x + y = 4
        let mut system = Residual(|x: &[f64], r: &mut [f64]| {
            r[0] = x[0] + x[1] - 3.0;
            r[1] = x[0] + x[1] - 4.0;
            Ok(())
        });
        let outcome = LinearSolver::new(2).solve(&mut system, &[1.0; 2], &mut [0.0, 0.0]);
        assert_eq!(outcome, Err(NotLinear::Contradiction));
    }
}
