//! The Jacobian of an [`OdeSystem`] and the factors of `c·I − ∂f/∂x`, which every implicit integrator solves with.
//!
//! In: a system at a point. Out: solutions of `(c·I − J)·u = b`. Entries come from the system or from differences, for a
//! sparse Jacobian one per group of columns that share no row. Dense or sparse is decided once, by the pattern.

use crate::integrator::{Eval, OdeSystem, Statistics, Tolerances, TrialFailure};
use crate::linear_solver::is_worth_sparse;
use crate::lu::{DenseLu, Singular};
use crate::sparse_lu::{Ordering, SparseLu};
use crate::sparsity::Sparsity;
use crate::step_size;
use crate::tuning::jacobian::{MEASURED_PRODUCTS, NOISE_ULPS, REACH, SKIPPED_PRODUCTS};

#[derive(Clone, serde::Serialize, serde::Deserialize)]
enum Storage {
    /// Before the first evaluation: an integrator that is never used must not hold n² numbers.
    Undecided,
    Dense {
        entries: Vec<f64>,
        shifted: Vec<f64>,
        lu: DenseLu,
    },
    Sparse {
        /// As the system gave it.
        pattern: Sparsity,
        entries: Vec<f64>,
        /// Columns that differences reveal together; none before the first differences.
        groups: Vec<Vec<usize>>,
        /// Where entries of the Jacobian and the diagonal are in `shifted`.
        position: Vec<usize>,
        diagonal: Vec<usize>,
        shifted: Vec<f64>,
        lu: Box<SparseLu>,
    },
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Jacobian {
    n: usize,
    storage: Storage,
    perturbed: Vec<f64>,
    slope: Vec<f64>,
    /// The system itself gave the present entries.
    is_exact: bool,
}

impl Jacobian {
    pub fn new(n: usize) -> Self {
        let (perturbed, slope) = (vec![0.0; n], vec![0.0; n]);
        Jacobian { n, storage: Storage::Undecided, perturbed, slope, is_exact: false }
    }

    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn decide_storage(&mut self, system: &dyn OdeSystem) {
        let n = self.n;
        let Some(pattern) = system.sparsity().filter(|p| p.n() == n && is_worth_sparse(p)) else {
            let (entries, shifted) = (vec![0.0; n * n], vec![0.0; n * n]);
            self.storage = Storage::Dense { entries, shifted, lu: DenseLu::new(n) };
            return;
        };
        let shifted_pattern = pattern.with_diagonal();
        let columns = (0..self.n).flat_map(|j| pattern.range(j).map(move |k| (k, j)));
        let position = columns.filter_map(|(k, j)| shifted_pattern.position(pattern.rows()[k], j)).collect();
        self.storage = Storage::Sparse {
            entries: vec![0.0; pattern.n_entries()],
            groups: Vec::new(),
            position,
            diagonal: (0..self.n).filter_map(|j| shifted_pattern.position(j, j)).collect(),
            shifted: vec![0.0; shifted_pattern.n_entries()],
            lu: Box::new(SparseLu::new(&shifted_pattern, Ordering::MinimumDegree)),
            pattern: pattern.clone(),
        };
    }

    /// Evaluates `∂f/∂x` at a point where `f` is `dx`, for steps of size `h`: exactly, else by differences.
    pub fn evaluate(
        &mut self,
        system: &mut dyn OdeSystem,
        tolerances: &Tolerances,
        point: (f64, &[f64], &[f64]),
        h: f64,
        statistics: &mut Statistics,
    ) -> Eval {
        self.evaluate_by(system, tolerances, point, h, statistics, true)
    }

    /// [`Jacobian::evaluate`] by differences in any case, over [`REACH`] of what the states may be off by at least: at a kink they are means
    /// of the slopes of both sides.
    pub fn evaluate_by_differences(
        &mut self,
        system: &mut dyn OdeSystem,
        tolerances: &Tolerances,
        point: (f64, &[f64], &[f64]),
        h: f64,
        statistics: &mut Statistics,
    ) -> Eval {
        self.evaluate_by(system, tolerances, point, h, statistics, false)
    }

    fn evaluate_by(
        &mut self,
        system: &mut dyn OdeSystem,
        tolerances: &Tolerances,
        (t, x, dx): (f64, &[f64], &[f64]),
        h: f64,
        statistics: &mut Statistics,
        asks_system: bool,
    ) -> Eval {
        if matches!(self.storage, Storage::Undecided) {
            self.decide_storage(system);
        }
        statistics.jacobians += 1;
        let n = self.n;
        self.perturbed.copy_from_slice(x);
        let count = &mut statistics.evaluations;
        let (perturbed, slope) = (&mut self.perturbed, &mut self.slope);
        // Below this part of a weight a difference would drown in the rounding of f.
        let noise = NOISE_ULPS * f64::EPSILON * n as f64 * h * step_size::norm(tolerances, x, x, dx.iter().copied());
        // As parts of the size of a state and of what it may be off by.
        let moves = if asks_system { (f64::EPSILON.sqrt(), noise) } else { (0.0, noise.max(REACH)) };
        let entries = match &mut self.storage {
            Storage::Undecided => return Err(TrialFailure),
            Storage::Dense { entries, .. } => {
                self.is_exact = asks_system && system.jacobian(t, x, entries);
                if !self.is_exact {
                    statistics.difference_jacobians += 1;
                    for j in 0..n {
                        let h = perturb(system, tolerances, moves, (t, x, dx), &[j], perturbed, slope, count)?;
                        for i in 0..n {
                            entries[i * n + j] = (slope[i] - dx[i]) / h(j);
                        }
                    }
                }
                entries
            }
            Storage::Sparse { pattern, entries, groups, .. } => {
                self.is_exact = asks_system && system.sparse_jacobian(t, x, entries);
                if !self.is_exact {
                    statistics.difference_jacobians += 1;
                    if groups.is_empty() {
                        *groups = pattern.column_groups();
                    }
                    for group in groups {
                        let h = perturb(system, tolerances, moves, (t, x, dx), group, perturbed, slope, count)?;
                        for &j in group.iter() {
                            for k in pattern.range(j) {
                                let row = pattern.rows()[k];
                                entries[k] = (slope[row] - dx[row]) / h(j);
                            }
                        }
                    }
                }
                entries
            }
        };
        if entries.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(TrialFailure) }
    }

    /// Factors `c·I − J`.
    pub fn factor(&mut self, c: f64, statistics: &mut Statistics) -> Result<(), Singular> {
        statistics.factorisations += 1;
        match &mut self.storage {
            Storage::Undecided => Err(Singular { column: 0, pivot: f64::NAN }),
            Storage::Dense { entries, shifted, lu } => {
                for (value, entry) in shifted.iter_mut().zip(entries.iter()) {
                    *value = -entry;
                }
                for i in 0..self.n {
                    shifted[i * self.n + i] += c;
                }
                lu.factor(shifted)
            }
            Storage::Sparse { entries, position, diagonal, shifted, lu, .. } => {
                shifted.fill(0.0);
                for (&at, entry) in position.iter().zip(entries.iter()) {
                    shifted[at] = -entry;
                }
                for &at in diagonal.iter() {
                    shifted[at] += c;
                }
                lu.factor(shifted)
            }
        }
    }

    /// Replaces `b` by the solution of `(c·I − J)·u = b`.
    pub fn solve(&mut self, b: &mut [f64]) {
        match &mut self.storage {
            Storage::Undecided => {}
            Storage::Dense { lu, .. } => lu.solve(b),
            Storage::Sparse { lu, .. } => lu.solve(b),
        }
    }

    fn multiply(&self, v: &[f64], product: &mut [f64]) {
        match &self.storage {
            Storage::Undecided => product.fill(0.0),
            Storage::Dense { entries, .. } => {
                for (value, row) in product.iter_mut().zip(entries.chunks_exact(self.n.max(1))) {
                    *value = row.iter().zip(v).map(|(a, b)| a * b).sum();
                }
            }
            Storage::Sparse { pattern, entries, .. } => {
                product.fill(0.0);
                for j in 0..self.n {
                    for k in pattern.range(j) {
                        product[pattern.rows()[k]] += entries[k] * v[j];
                    }
                }
            }
        }
    }

    /// Estimates the magnitude of the largest eigenvalue by power iteration. The mean growth of several products takes a
    /// conjugate pair for what it is.
    pub fn spectral_radius(&mut self, tolerances: &Tolerances, x: &[f64]) -> f64 {
        let mut v = std::mem::take(&mut self.perturbed);
        let mut product = std::mem::take(&mut self.slope);
        let size = |v: &[f64]| step_size::norm(tolerances, x, x, v.iter().copied());
        for (i, value) in v.iter_mut().enumerate() {
            // Uneven, so that it is unlikely to miss an eigenvector.
            *value = step_size::weight(tolerances, i, x[i], x[i]) * (1.0 + 0.5 * ((i * 7 % 11) as f64 / 11.0 - 0.3));
        }
        let mut growth = 1.0;
        for iteration in 0..SKIPPED_PRODUCTS + MEASURED_PRODUCTS {
            let before = size(&v);
            if before == 0.0 || !before.is_finite() {
                growth = if before == 0.0 { 0.0 } else { f64::INFINITY };
                break;
            }
            for value in v.iter_mut() {
                *value /= before;
            }
            self.multiply(&v, &mut product);
            std::mem::swap(&mut v, &mut product);
            if iteration >= SKIPPED_PRODUCTS {
                growth *= size(&v);
            }
        }
        self.perturbed = v;
        self.slope = product;
        growth.powf(1.0 / f64::from(MEASURED_PRODUCTS))
    }

    #[cfg(test)]
    pub fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }
}

/// Evaluates the right-hand side, into `slope`, with the states of `columns` moved. Returns by how much. `perturbed` is
/// `x` before and afterwards.
fn perturb<'a>(
    system: &mut dyn OdeSystem,
    tolerances: &'a Tolerances,
    moves: (f64, f64),
    (t, x, dx): (f64, &'a [f64], &'a [f64]),
    columns: &[usize],
    perturbed: &mut [f64],
    slope: &mut [f64],
    count: &mut u64,
) -> Result<impl Fn(usize) -> f64 + use<'a>, TrialFailure> {
    // In the direction of motion first: there the right-hand side is more likely to be defined.
    let by = move |j: usize, direction: f64| {
        let size = x[j].abs().max(tolerances.absolute[j] / tolerances.relative.max(f64::EPSILON));
        let towards = if dx[j] < 0.0 { -direction } else { direction };
        // Exactly representable, so that the difference is what was meant.
        let least = moves.1 * step_size::weight(tolerances, j, x[j], x[j]);
        let moved = x[j] + towards * (moves.0 * size).max(least).max(f64::MIN_POSITIVE);
        moved - x[j]
    };
    for direction in [1.0, -1.0] {
        for &j in columns {
            perturbed[j] = x[j] + by(j, direction);
        }
        let evaluated = step_size::evaluate(system, t, perturbed, slope, count);
        for &j in columns {
            perturbed[j] = x[j];
        }
        if evaluated.is_ok() {
            return Ok(move |j| by(j, direction));
        }
    }
    Err(TrialFailure)
}

/// Writes `∂f/∂t` at a point where `f` is `dx`, unless the system knows it by a difference well below the step size `h`
/// and well above the resolution of time.
pub(crate) fn time_derivative(
    system: &mut dyn OdeSystem,
    (t, x, dx): (f64, &[f64], &[f64]),
    h: f64,
    dt: &mut [f64],
    count: &mut u64,
) -> Eval {
    if system.time_derivative(t, x, dt) {
        return if dt.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(TrialFailure) };
    }
    let later = t + (f64::EPSILON * t.abs().max(h) * h).sqrt().max(f64::MIN_POSITIVE);
    let h = later - t;
    step_size::evaluate(system, later, x, dt, count)?;
    for (value, dx) in dt.iter_mut().zip(dx) {
        *value = (*value - dx) / h;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Heat conduction in a rod of 80 cells with a source that depends on the temperature: ẋᵢ = xᵢ₋₁ − 2xᵢ + xᵢ₊₁ + xᵢ².
    struct Rod(Option<Sparsity>);

    impl OdeSystem for Rod {
        fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
            for i in 0..x.len() {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = x.get(i + 1).copied().unwrap_or(0.0);
                dx[i] = left - 2.0 * x[i] + right + x[i] * x[i];
            }
            Ok(())
        }

        fn sparsity(&self) -> Option<&Sparsity> {
            self.0.as_ref()
        }
    }

    #[test]
    fn sparse_and_dense_differences_agree() {
        let n = 80;
        let band = (0..n).flat_map(|i: usize| (i.saturating_sub(1)..=i + 1).map(move |j| (i, j)));
        let tolerances = Tolerances { relative: 1e-6, absolute: vec![1e-6; n], unbounded: vec![] };
        let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.1).sin()).collect();
        let mut dx = vec![0.0; n];
        let mut solutions = Vec::new();
        for pattern in [None, Some(Sparsity::from_entries(n, band))] {
            let is_sparse = pattern.is_some();
            let mut rod = Rod(pattern);
            rod.derivatives(0.0, &x, &mut dx).unwrap();
            let (mut jacobian, mut statistics) = (Jacobian::new(n), Statistics::default());
            jacobian.evaluate(&mut rod, &tolerances, (0.0, &x, &dx), 0.1, &mut statistics).unwrap();
            assert_eq!(jacobian.is_sparse(), is_sparse);
            assert_eq!(statistics.evaluations, if is_sparse { 3 } else { 80 });
            jacobian.factor(10.0, &mut statistics).unwrap();
            let mut b = vec![1.0; n];
            jacobian.solve(&mut b);
            solutions.push(b);
        }
        // (10 + 2 − 2x)·u − neighbours = 1, by insertion
        let u = &solutions[1];
        for i in 1..n - 1 {
            let sum = (12.0 - 2.0 * x[i]) * u[i] - u[i - 1] - u[i + 1];
            assert!((sum - 1.0).abs() < 1e-6);
            assert!((u[i] - solutions[0][i]).abs() < 1e-7);
        }
    }
}
