//! Follows the solutions of `r(x, λ) = 0` from λ = 0 to λ = 1, along their path rather than along λ.
//!
//! In: a [`Homotopy`] and its solution for λ = 0. Out: one for λ = 1, as accurate as a start for Newton's method needs.
//!
//! ```text
//! λ 1 ┤     ╭──  arrives
//!     │  ╭──╯
//!     │  ╰──╮    turns back: ∂r/∂x is singular there, but not the matrix with the row of the path's direction below it
//!   0 ┤─────╯
//! ```
//!
//! Each step goes along the tangent and is corrected at right angles to it (pseudo-arclength continuation: Keller 1977).
//! Lengths are measured in sizes of the variables. A step is halved if its correction does not converge quickly, is long, or
//! ends in another direction: then it may have met another path.

use crate::integrator::{Eval, TrialFailure};
use crate::lu::DenseLu;
use crate::matrix::Matrix;
use crate::tuning::continuation::*;

pub trait Homotopy {
    fn residual(&mut self, lambda: f64, x: &[f64], r: &mut [f64]) -> Eval;

    /// Writes the values of `∂r/∂x`, all others being zero already, or returns false: then differences are taken.
    fn jacobian(&mut self, _lambda: f64, _x: &[f64], _jacobian: &mut Matrix) -> bool {
        false
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ContinuationReport {
    pub steps: u32,
    pub failed_steps: u32,
    pub evaluations: u32,
}

/// The path ends, runs away, or comes back to where it began.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathEnds {
    /// The largest λ on the path.
    pub lambda: f64,
    pub report: ContinuationReport,
}

/// Follows the path from the solution `x` for λ = 0; afterwards `x` is one for λ = 1. `nominal` has the usual magnitude of
/// each variable, `matrix` the form of the Jacobian.
pub fn follow(
    homotopy: &mut dyn Homotopy,
    matrix: Matrix,
    x: &mut [f64],
    nominal: &[f64],
) -> Result<ContinuationReport, PathEnds> {
    let n = x.len();
    let size: Vec<f64> = x.iter().zip(nominal).map(|(x, nominal)| x.abs().max(nominal.abs())).collect();
    let size: Vec<f64> = size.iter().map(|s| if *s > 0.0 && s.is_finite() { *s } else { 1.0 }).collect();
    let mut path = Path {
        homotopy,
        matrix,
        bordered: DenseLu::new(n + 1),
        values: vec![0.0; (n + 1) * (n + 1)],
        size,
        x: vec![0.0; n],
        r: vec![0.0; n],
        r_moved: vec![0.0; n],
        n,
        report: ContinuationReport::default(),
    };
    let mut here: Vec<f64> = x.iter().zip(&path.size).map(|(x, size)| x / size).collect();
    here.push(0.0);
    let followed = path.walk(&mut here);
    path.unscale(&here);
    x.copy_from_slice(&path.x);
    match followed {
        Ok(()) => Ok(path.report),
        Err(lambda) => Err(PathEnds { lambda, report: path.report }),
    }
}

/// Points on the path are the scaled variables and λ.
struct Path<'h> {
    homotopy: &'h mut dyn Homotopy,
    matrix: Matrix,
    /// ∂r/∂x and ∂r/∂λ, and below a direction.
    bordered: DenseLu,
    values: Vec<f64>,
    size: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    r_moved: Vec<f64>,
    n: usize,
    report: ContinuationReport,
}

impl Path<'_> {
    /// From `here` to λ = 1; else the largest λ reached.
    fn walk(&mut self, here: &mut Vec<f64>) -> Result<(), f64> {
        let mut furthest = 0.0;
        let mut along_lambda = vec![0.0; self.n + 1];
        along_lambda[self.n] = 1.0;
        let Ok(mut tangent) = self.tangent(here, &along_lambda) else { return Err(furthest) };
        let mut step = FIRST_STEP;
        let most_steps = (MOST_WORK / ((self.n + 1) as f64).powi(3)).clamp(FEWEST_STEPS, MOST_STEPS);
        while f64::from(self.report.steps + self.report.failed_steps) < most_steps {
            let far = here[..self.n].iter().fold(1.0, |far: f64, u| far.max(u.abs()));
            if far > FARTHEST || here[self.n] < -1.0 {
                break;
            }
            step = f64::min(step, LONGEST_STEP * far);
            let mut next: Vec<f64> = here.iter().zip(&tangent).map(|(u, t)| u + step * t).collect();
            let arrives = next[self.n] >= 1.0;
            if arrives {
                // The last step ends exactly at λ = 1.
                let part = (1.0 - here[self.n]) / (next[self.n] - here[self.n]);
                next = here.iter().zip(&tangent).map(|(u, t)| u + part * step * t).collect();
                next[self.n] = 1.0;
            }
            let constraint = if arrives { &along_lambda } else { &tangent };
            let corrected = self.correct(&mut next, constraint, step);
            let corrected = corrected.and_then(|n| Ok((n, self.tangent(&next, &tangent)?)));
            match corrected {
                Ok((_, direction)) if dot(&direction, &tangent) < STRAIGHT => {
                    self.report.failed_steps += 1;
                    step *= 0.5;
                }
                Ok((corrections, direction)) => {
                    self.report.steps += 1;
                    *here = next;
                    tangent = direction;
                    furthest = f64::max(furthest, here[self.n]);
                    if arrives {
                        return Ok(());
                    }
                    step *= if corrections <= EASY { 2.0 } else { 1.0 };
                }
                Err(TrialFailure) => {
                    self.report.failed_steps += 1;
                    step *= 0.5;
                }
            }
            if step < SMALLEST_STEP {
                break;
            }
        }
        Err(furthest)
    }

    fn unscale(&mut self, point: &[f64]) {
        for ((x, u), size) in self.x.iter_mut().zip(point).zip(&self.size) {
            *x = u * size;
        }
    }

    /// Newton's method for `r = 0` and `constraint·(point − its start) = 0`; the number of corrections.
    fn correct(&mut self, point: &mut [f64], constraint: &[f64], step: f64) -> Result<u32, TrialFailure> {
        let n = self.n;
        let (mut before, mut all) = (f64::INFINITY, 0.0);
        for corrections in 1..=MOST_CORRECTIONS {
            self.factor(point, constraint)?;
            let mut delta: Vec<f64> = self.r.iter().map(|r| -r).collect();
            // The start fulfils the constraint, and so does each correction.
            delta.push(0.0);
            self.bordered.solve(&mut delta);
            let length = dot(&delta, &delta).sqrt();
            all += length;
            let is_quick = length <= WORST_CONTRACTION * before || length <= ACCURACY;
            if !is_quick || !length.is_finite() || all > LONGEST_CORRECTION * step.max(ACCURACY) {
                return Err(TrialFailure);
            }
            for i in 0..=n {
                point[i] += delta[i];
            }
            let far = point.iter().fold(1.0, |far: f64, u| far.max(u.abs()));
            if length <= ACCURACY * far {
                return Ok(corrections);
            }
            before = length;
        }
        Err(TrialFailure)
    }

    /// Direction of the path, on the same side as `before`.
    fn tangent(&mut self, point: &[f64], before: &[f64]) -> Result<Vec<f64>, TrialFailure> {
        self.factor(point, before)?;
        let mut tangent = vec![0.0; self.n + 1];
        tangent[self.n] = 1.0;
        self.bordered.solve(&mut tangent);
        let length = dot(&tangent, &tangent).sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return Err(TrialFailure);
        }
        tangent.iter_mut().for_each(|t| *t /= length);
        Ok(tangent)
    }

    /// Residuals at a point into `r`, and the factors of its matrix with `border` as last row.
    fn factor(&mut self, point: &[f64], border: &[f64]) -> Eval {
        let (n, lambda) = (self.n, point[self.n]);
        self.unscale(point);
        self.report.evaluations += 1;
        let mut r = std::mem::take(&mut self.r);
        let evaluated = self.homotopy.residual(lambda, &self.x, &mut r);
        self.r = r;
        evaluated?;
        self.matrix.values.fill(0.0);
        if !self.homotopy.jacobian(lambda, &self.x, &mut self.matrix) {
            for j in 0..n {
                self.difference(lambda, j)?;
            }
        }
        let (values, size) = (&mut self.values, &self.size);
        values.fill(0.0);
        self.matrix.for_each(|row, column, value| values[row * (n + 1) + column] = value * size[column]);
        let h = if lambda > 0.5 { -f64::EPSILON.sqrt() } else { f64::EPSILON.sqrt() };
        self.homotopy.residual(lambda + h, &self.x, &mut self.r_moved)?;
        for i in 0..n {
            self.values[i * (n + 1) + n] = (self.r_moved[i] - self.r[i]) / h;
        }
        self.values[n * (n + 1)..].copy_from_slice(border);
        let is_number = self.values.iter().chain(&self.r).all(|v| v.is_finite());
        if is_number && self.bordered.factor(&self.values).is_ok() { Ok(()) } else { Err(TrialFailure) }
    }

    /// Column `j` of the Jacobian.
    fn difference(&mut self, lambda: f64, j: usize) -> Eval {
        let old = self.x[j];
        self.x[j] = old + f64::EPSILON.sqrt() * self.size[j].max(old.abs());
        let h = self.x[j] - old;
        self.report.evaluations += 1;
        let evaluated = self.homotopy.residual(lambda, &self.x, &mut self.r_moved);
        self.x[j] = old;
        let (after, before) = (&self.r_moved, &self.r);
        self.matrix.set_column(j, |i| (after[i] - before[i]) / h);
        evaluated
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
