//! Continuation from a simple system to the actual one: `r(x, λ) = 0` for λ from 0 to 1.
//!
//! In: a [`Homotopy`], a guess for λ = 0. Out: the solution for λ = 1. This is what Modelica's
//! `homotopy(actual, simplified)` stands for: `λ·actual + (1 − λ)·simplified` (specification section 3.7.4.4).
//!
//! Steps in λ grow where Newton's method is quick and shrink where it fails; the next guess is extrapolated along the
//! last two solutions.

use crate::integrator::Eval;
use crate::matrix::Matrix;
use crate::newton::{NewtonError, NewtonReport, NewtonSolver, NonlinearSystem};

pub trait Homotopy {
    fn residual(&mut self, lambda: f64, x: &[f64], r: &mut [f64]) -> Eval;

    /// Writes the values of `∂r/∂x`, all others being zero already, or returns false: then differences are taken.
    fn jacobian(&mut self, _lambda: f64, _x: &[f64], _jacobian: &mut Matrix) -> bool {
        false
    }
}

struct At<'a> {
    homotopy: &'a mut dyn Homotopy,
    lambda: f64,
}

impl NonlinearSystem for At<'_> {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Eval {
        self.homotopy.residual(self.lambda, x, r)
    }

    fn jacobian(&mut self, x: &[f64], jacobian: &mut Matrix) -> bool {
        self.homotopy.jacobian(self.lambda, x, jacobian)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContinuationReport {
    pub steps: u32,
    pub failed_steps: u32,
    /// Of the solution for λ = 1.
    pub newton: NewtonReport,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ContinuationError {
    /// The system for λ = 0 is not solved, simple as it should be.
    SimplifiedFails(NewtonError),
    /// The path ends before λ = 1: it turns back or ceases to exist.
    Stuck { lambda: f64, error: NewtonError },
}

const FIRST_STEP: f64 = 0.25;
const SMALLEST_STEP: f64 = 1e-6;
const MOST_STEPS: u32 = 10_000;
/// A step with so few iterations is followed by a longer one.
const EASY: u32 = 4;

/// Follows the path from λ = 0 to λ = 1. Afterwards `x` is the solution for the largest λ that was reached.
pub fn follow(
    homotopy: &mut dyn Homotopy,
    solver: &mut NewtonSolver,
    x: &mut [f64],
    nominal: &[f64],
) -> Result<ContinuationReport, ContinuationError> {
    solver.forget_jacobian();
    let first = solver.solve(&mut At { homotopy, lambda: 0.0 }, x, nominal);
    let mut report =
        ContinuationReport { steps: 0, failed_steps: 0, newton: first.map_err(ContinuationError::SimplifiedFails)? };
    let (mut lambda, mut step) = (0.0, FIRST_STEP);
    let mut here = x.to_vec();
    // Change of x per λ along the last step.
    let mut direction = vec![0.0; x.len()];
    while lambda < 1.0 {
        let next = if lambda + step >= 1.0 - SMALLEST_STEP { 1.0 } else { lambda + step };
        for i in 0..x.len() {
            x[i] = here[i] + direction[i] * (next - lambda);
        }
        match solver.solve(&mut At { homotopy, lambda: next }, x, nominal) {
            Ok(newton) => {
                report.steps += 1;
                report.newton = newton;
                for i in 0..x.len() {
                    direction[i] = (x[i] - here[i]) / (next - lambda);
                }
                here.copy_from_slice(x);
                lambda = next;
                step *= if newton.iterations <= EASY { 2.0 } else { 1.2 };
            }
            Err(error) => {
                report.failed_steps += 1;
                step = 0.25 * (next - lambda);
                // An extrapolation into the void must not be repeated.
                direction.fill(0.0);
                if step < SMALLEST_STEP || report.failed_steps > MOST_STEPS {
                    x.copy_from_slice(&here);
                    return Err(ContinuationError::Stuck { lambda, error });
                }
            }
        }
        if report.steps > MOST_STEPS {
            let error = NewtonError::TooManyIterations(report.newton);
            return Err(ContinuationError::Stuck { lambda, error });
        }
    }
    Ok(report)
}
