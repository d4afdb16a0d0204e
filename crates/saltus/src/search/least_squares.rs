//! Levenberg's and Marquardt's method on differences, for as many residuals as unknowns (roots) or more (least squares).
//!
//! In: residuals that are one where they are just tolerable, as a function of unknowns within bounds. Out: a point where all of
//! them are below one, or where their sum of squares is smallest nearby.
//!
//! ```
//! use saltus::search::{Unknown, least_squares};
//!
//! let unknown = |name: &str, start| Unknown { name: name.into(), start, min: f64::NEG_INFINITY, max: f64::INFINITY };
//! // x² + y² = 5, x y = 2
//! let f = &mut |p: &[f64]| Ok(vec![(p[0]*p[0] + p[1]*p[1] - 5.0)/1e-9, (p[0]*p[1] - 2.0)/1e-9]);
//! let found = least_squares::solve(&[unknown("x", 3.0), unknown("y", 0.5)], 200, f).unwrap();
//! assert!((found.parameters[0] - 2.0).abs() < 1e-9 && (found.parameters[1] - 1.0).abs() < 1e-9);
//! ```
//!
//! The Jacobian is made of differences once and then corrected by what each step shows (Broyden); it is made anew when that
//! does not help any more.

use saltus_numerics::lu::DenseLu;

use super::{End, Minimum, NoValue, Unknown};

/// Step of the differences relative to the scale of an unknown. Runs have errors of the size of the tolerance of the integration.
const STEP: f64 = 1e-5;
/// A step that is smaller than this part of the scales ends the search.
const SMALLEST_STEP: f64 = 1e-13;
const MOST_DAMPING: f64 = 1e12;
/// A sum of squares that falls by less than this part in a whole cycle will not fall any more.
const NO_PROGRESS: f64 = 1e-12;

/// Values of the residuals.
pub type Residuals<'a> = &'a mut dyn FnMut(&[f64]) -> Result<Vec<f64>, NoValue>;

/// Searches from the start values. An error only if the function has no value there, or beside it.
pub fn solve(unknowns: &[Unknown], most_runs: usize, function: Residuals) -> Result<Minimum, NoValue> {
    let start = unknowns.iter().map(|u| u.clamp(u.start)).collect();
    let mut search = Search { unknowns, function, runs: 0, most_runs };
    let mut at = Point { residuals: search.residuals(&start)?, x: start };
    let end = search.descend(&mut at);
    let end = match end {
        Err(NoValue::Stopped) => End::Stopped,
        Err(failed) => return Err(failed),
        Ok(end) => end,
    };
    Ok(Minimum { value: at.sum(), parameters: at.x, runs: search.runs, end })
}

struct Point {
    x: Vec<f64>,
    residuals: Vec<f64>,
}

impl Point {
    fn sum(&self) -> f64 {
        self.residuals.iter().map(|r| r * r).sum()
    }

    fn is_met(&self) -> bool {
        self.residuals.iter().all(|r| r.abs() <= 1.0)
    }
}

/// One row for each residual, in units of the scales.
type Matrix = Vec<Vec<f64>>;

struct Search<'a> {
    unknowns: &'a [Unknown],
    function: Residuals<'a>,
    runs: usize,
    most_runs: usize,
}

impl Search<'_> {
    fn residuals(&mut self, x: &Vec<f64>) -> Result<Vec<f64>, NoValue> {
        self.runs += 1;
        (self.function)(x)
    }

    fn descend(&mut self, at: &mut Point) -> Result<End, NoValue> {
        let mut damping = 1e-3;
        loop {
            if at.is_met() {
                return Ok(End::Converged);
            }
            let before = at.sum();
            let mut jacobian = self.jacobian(at)?;
            let mut is_exact = true;
            loop {
                if self.runs >= self.most_runs {
                    return Ok(End::MostRuns);
                }
                let Some(step) = self.step(at, &jacobian, damping) else { return Ok(End::Converged) };
                let moved = self.moved(at, &step);
                let is_small = moved
                    .iter()
                    .zip(&at.x)
                    .zip(self.unknowns)
                    .all(|((new, old), u)| (new - old).abs() <= SMALLEST_STEP * u.scale().max(old.abs()));
                if is_small {
                    if is_exact { return Ok(End::Converged) } else { break }
                }
                let trial = match self.residuals(&moved) {
                    Ok(residuals) => Point { x: moved, residuals },
                    Err(NoValue::Stopped) => return Err(NoValue::Stopped),
                    // As if it were far worse.
                    Err(NoValue::Failed(_)) => Point { x: moved, residuals: vec![f64::INFINITY] },
                };
                if trial.sum() < at.sum() {
                    self.correct(&mut jacobian, at, &trial);
                    is_exact = false;
                    *at = trial;
                    damping = (0.2 * damping).max(1e-12);
                    if at.is_met() {
                        return Ok(End::Converged);
                    }
                } else {
                    damping *= 8.0;
                    if !is_exact {
                        break;
                    }
                    if damping > MOST_DAMPING {
                        return Ok(End::Converged);
                    }
                }
            }
            if at.sum() > (1.0 - NO_PROGRESS) * before {
                return Ok(End::Converged);
            }
        }
    }

    /// Differences by each unknown, away from a bound.
    fn jacobian(&mut self, at: &Point) -> Result<Matrix, NoValue> {
        let (n, m) = (self.unknowns.len(), at.residuals.len());
        let mut jacobian = vec![vec![0.0; n]; m];
        for (j, unknown) in self.unknowns.iter().enumerate() {
            let scale = unknown.scale();
            let step = STEP * scale.max(at.x[j].abs());
            let forward = at.x[j] + step <= unknown.max;
            let mut tried = None;
            for signed in if forward { [step, -step] } else { [-step, step] } {
                let mut x = at.x.clone();
                x[j] = unknown.clamp(x[j] + signed);
                if x[j] == at.x[j] {
                    continue;
                }
                match self.residuals(&x) {
                    Ok(residuals) => {
                        tried = Some((x[j] - at.x[j], residuals));
                        break;
                    }
                    Err(NoValue::Stopped) => return Err(NoValue::Stopped),
                    Err(NoValue::Failed(why)) if signed != step && forward || signed == step && !forward => {
                        return Err(NoValue::Failed(why));
                    }
                    Err(NoValue::Failed(_)) => {}
                }
            }
            let Some((width, residuals)) = tried else { continue };
            for (row, (moved, here)) in jacobian.iter_mut().zip(residuals.iter().zip(&at.residuals)) {
                row[j] = (moved - here) * scale / width;
            }
        }
        Ok(jacobian)
    }

    /// The damped step in units of the scales.
    fn step(&self, at: &Point, jacobian: &Matrix, damping: f64) -> Option<Vec<f64>> {
        let n = self.unknowns.len();
        let (mut normal, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        for (row, residual) in jacobian.iter().zip(&at.residuals) {
            for i in 0..n {
                right[i] -= row[i] * residual;
                for j in 0..n {
                    normal[i * n + j] += row[i] * row[j];
                }
            }
        }
        let largest = (0..n).map(|i| normal[i * n + i]).fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        for i in 0..n {
            normal[i * n + i] += damping * normal[i * n + i].max(1e-12 * largest);
        }
        let mut factors = DenseLu::new(n);
        factors.factor(&normal).ok()?;
        factors.solve(&mut right);
        right.iter().all(|s| s.is_finite()).then_some(right)
    }

    fn moved(&self, at: &Point, step: &[f64]) -> Vec<f64> {
        let each = at.x.iter().zip(step).zip(self.unknowns);
        each.map(|((x, s), u)| u.clamp(x + s * u.scale())).collect()
    }

    /// Broyden: the smallest change of the Jacobian that explains the step.
    fn correct(&self, jacobian: &mut Matrix, from: &Point, to: &Point) {
        let step: Vec<f64> =
            to.x.iter().zip(&from.x).zip(self.unknowns).map(|((new, old), u)| (new - old) / u.scale()).collect();
        let length: f64 = step.iter().map(|s| s * s).sum();
        if length == 0.0 {
            return;
        }
        for (row, (new, old)) in jacobian.iter_mut().zip(to.residuals.iter().zip(&from.residuals)) {
            let predicted: f64 = row.iter().zip(&step).map(|(a, s)| a * s).sum();
            let missing = (new - old - predicted) / length;
            row.iter_mut().zip(&step).for_each(|(a, s)| *a += missing * s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(start: f64, min: f64, max: f64) -> Unknown {
        Unknown { name: "p".into(), start, min, max }
    }

    #[test]
    fn a_curved_valley_is_followed() {
        // Rosenbrock's residuals: both vanish at (1, 1).
        let f = &mut |p: &[f64]| Ok(vec![10.0 * (p[1] - p[0] * p[0]) / 1e-10, (1.0 - p[0]) / 1e-10]);
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let found = solve(&[unknown(-1.2, free.0, free.1), unknown(1.0, free.0, free.1)], 500, f).expect("it runs");
        assert_eq!(found.end, End::Converged);
        assert!(found.parameters.iter().all(|p| (p - 1.0).abs() < 1e-9), "{found:?}");
        assert!(found.runs < 150, "{found:?}");
    }

    #[test]
    fn more_residuals_than_unknowns_are_fitted() {
        // A line through (0, 1), (1, 3), (2, 4): by the normal equations slope 3/2, offset 7/6.
        let data = [(0.0, 1.0), (1.0, 3.0), (2.0, 4.0)];
        let f = &mut |p: &[f64]| Ok(data.iter().map(|(t, y)| (p[0] + p[1] * t - y) / 1e-9).collect());
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let found = solve(&[unknown(0.0, free.0, free.1), unknown(0.0, free.0, free.1)], 200, f).expect("it runs");
        assert!((found.parameters[0] - 7.0 / 6.0).abs() < 1e-8, "{found:?}");
        assert!((found.parameters[1] - 1.5).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn bounds_hold_and_failures_turn_the_search_back() {
        // No value beyond 2; the root is at sqrt(2).
        let f = &mut |p: &[f64]| match p[0] {
            p if p > 2.0 => Err(NoValue::Failed("no".into())),
            p => Ok(vec![(p * p - 2.0) / 1e-9]),
        };
        let found = solve(&[unknown(0.1, 0.0, 100.0)], 200, f).expect("it runs");
        assert!((found.parameters[0] - 2.0_f64.sqrt()).abs() < 1e-9, "{found:?}");
        let f = &mut |p: &[f64]| Ok(vec![p[0] - 5.0]);
        let found = solve(&[unknown(1.0, 0.0, 3.0)], 200, f).expect("it runs");
        assert_eq!((found.parameters[0], found.value), (3.0, 4.0));
    }

    #[test]
    fn where_nothing_depends_on_the_unknown_the_search_ends() {
        let found = solve(&[unknown(1.0, 0.0, 3.0)], 200, &mut |_| Ok(vec![7.0])).expect("it runs");
        assert_eq!((found.end, found.value), (End::Converged, 49.0));
        assert!(found.runs < 10);
    }
}
