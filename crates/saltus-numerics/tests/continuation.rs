//! Paths of solutions: straight, with turning points, without end.

use saltus_numerics::{Eval, Homotopy, Matrix, follow};

/// `r(x, λ)` of one variable.
struct Scalar(fn(f64, f64) -> f64);

impl Homotopy for Scalar {
    fn residual(&mut self, lambda: f64, x: &[f64], r: &mut [f64]) -> Eval {
        r[0] = (self.0)(x[0], lambda);
        Ok(())
    }
}

/// λ·(x³ − 3x + 3) + (1 − λ)·(x + 10): the actual equation has one root, −2.1038034027 (Cardano), and a local minimum that
/// traps Newton's method.
#[test]
fn a_path_leads_past_a_local_minimum() {
    let mut x = [-10.0];
    let cubic = |x: f64, lambda: f64| lambda * (x.powi(3) - 3.0 * x + 3.0) + (1.0 - lambda) * (x + 10.0);
    let report = follow(&mut Scalar(cubic), Matrix::dense(1), &mut x, &[1.0]).unwrap();
    assert!((x[0] + 2.1038034027).abs() < 1e-6, "{x:?} {report:?}");
    assert!(report.steps < 50, "{report:?}");
}

/// λ(x) = x³ − 1.8·x² + 0.9·x has extrema at x = 0.3551 and 0.8449 (λ = 0.1374 and 0.0786) and is 1 at x = 1.6249 only:
/// the path rises, turns back, and rises again.
#[test]
fn a_path_that_turns_back_is_followed() {
    let mut x = [0.0];
    let turning = |x: f64, lambda: f64| x.powi(3) - 1.8 * x * x + 0.9 * x - lambda;
    let report = follow(&mut Scalar(turning), Matrix::dense(1), &mut x, &[1.0]);
    assert!(report.is_ok() && (x[0] - 1.624868541530914).abs() < 1e-8, "{x:?} {report:?}");
}

/// Solvable up to λ = ½ only: x² = ½ − λ. The path turns there and leads away.
#[test]
fn a_path_that_does_not_arrive_says_how_far_it_came() {
    let ended = follow(&mut Scalar(|x, lambda| x * x - 0.5 + lambda), Matrix::dense(1), &mut [0.5f64.sqrt()], &[1.0]);
    let ends = ended.unwrap_err();
    assert!((ends.lambda - 0.5).abs() < 0.02, "{ends:?}");
}

/// Two variables with a given Jacobian: Rosenbrock's valley, whose path from (−1.2, 1) for
/// `r(x) − (1 − λ)·r(x₀)` ends at (1, 1).
struct Valley;

fn valley(x: &[f64]) -> [f64; 2] {
    [10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]
}

impl Homotopy for Valley {
    fn residual(&mut self, lambda: f64, x: &[f64], r: &mut [f64]) -> Eval {
        let (here, start) = (valley(x), valley(&[-1.2, 1.0]));
        for i in 0..2 {
            r[i] = here[i] - (1.0 - lambda) * start[i];
        }
        Ok(())
    }

    fn jacobian(&mut self, _: f64, x: &[f64], jacobian: &mut Matrix) -> bool {
        for (row, column, value) in [(0, 0, -20.0 * x[0]), (0, 1, 10.0), (1, 0, -1.0)] {
            let position = jacobian.position(row, column).unwrap();
            jacobian.values[position] = value;
        }
        true
    }
}

#[test]
fn a_path_from_a_start_value_uses_the_jacobian() {
    let mut x = [-1.2, 1.0];
    let report = follow(&mut Valley, Matrix::dense(2), &mut x, &[1.0, 1.0]).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-7 && (x[1] - 1.0).abs() < 1e-7, "{x:?} {report:?}");
    // No column was differenced: an evaluation for each matrix, none in between.
    assert!(report.evaluations <= 10 * (report.steps + report.failed_steps) + 10, "{report:?}");
}
