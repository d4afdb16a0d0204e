//! The smallest value of a function without derivatives: the simplex of Nelder and Mead, within bounds, begun anew until that
//! does not help.
//!
//! ```
//! use saltus::search::{Unknown, simplex};
//!
//! let unknown = |start| Unknown { name: "p".into(), start, min: -5.0, max: 5.0 };
//! let found = simplex::minimise(&[unknown(3.0), unknown(-3.0)], 1e-9, 2000, &mut |p| Ok((p[0] - 1.0).abs() + p[1].powi(2))).unwrap();
//! assert!((found.parameters[0] - 1.0).abs() < 1e-6 && found.parameters[1].abs() < 1e-3);
//! ```
//!
//! The coefficients grow gentler with the number of unknowns (Gao and Han 2012). A point without a value is worse than all others.

use super::{End, Minimum, NoValue, Unknown};

/// The first simplex, relative to the scales; later ones are smaller.
const SIZES: [f64; 6] = [0.4, 0.1, 0.03, 0.01, 1e-3, 1e-4];

/// The objective.
pub type Objective<'a> = &'a mut dyn FnMut(&[f64]) -> Result<f64, NoValue>;

#[derive(Clone)]
struct Corner {
    x: Vec<f64>,
    value: f64,
}

/// Searches from the start values until the simplex is smaller than `tolerance` of the scales. An error only if the function
/// has no value at the start.
pub fn minimise(
    unknowns: &[Unknown],
    tolerance: f64,
    most_runs: usize,
    function: Objective,
) -> Result<Minimum, NoValue> {
    let mut search = Search { unknowns, function, runs: 0, most_runs, tolerance };
    let start: Vec<f64> = unknowns.iter().map(|u| u.clamp(u.start)).collect();
    search.runs += 1;
    let value = (search.function)(&start)?;
    if value.is_nan() {
        return Err(NoValue::Failed("the objective is not a number".to_owned()));
    }
    let mut best = Corner { x: start, value };
    let end = search.begin_again_and_again(&mut best);
    Ok(Minimum { parameters: best.x, value: best.value, runs: search.runs, end })
}

struct Search<'a> {
    unknowns: &'a [Unknown],
    function: Objective<'a>,
    runs: usize,
    most_runs: usize,
    tolerance: f64,
}

/// Stops at Ctrl-C and at the limit of runs.
struct Interrupted(End);

impl Search<'_> {
    fn begin_again_and_again(&mut self, best: &mut Corner) -> End {
        for size in SIZES {
            let before = best.value;
            match self.shrink_simplex(best, size) {
                Err(Interrupted(end)) => return end,
                Ok(()) if best.value < before => {}
                // The first one may have been too coarse; a later one that finds nothing is the last.
                Ok(()) if size == SIZES[0] => {}
                Ok(()) => break,
            }
        }
        End::Converged
    }

    fn corner(&mut self, x: Vec<f64>, best: &mut Corner) -> Result<Corner, Interrupted> {
        if self.runs >= self.most_runs {
            return Err(Interrupted(End::MostRuns));
        }
        self.runs += 1;
        let x: Vec<f64> = x.iter().zip(self.unknowns).map(|(x, u)| u.clamp(*x)).collect();
        let value = match (self.function)(&x) {
            Ok(value) if !value.is_nan() => value,
            Ok(_) | Err(NoValue::Failed(_)) => f64::INFINITY,
            Err(NoValue::Stopped) => return Err(Interrupted(End::Stopped)),
        };
        let corner = Corner { x, value };
        if corner.value < best.value {
            *best = corner.clone();
        }
        Ok(corner)
    }

    fn first_simplex(&mut self, best: &mut Corner, size: f64) -> Result<Vec<Corner>, Interrupted> {
        let origin = best.clone();
        let mut corners = vec![origin.clone()];
        for (i, unknown) in self.unknowns.iter().enumerate() {
            let step = size * unknown.scale();
            let mut x = origin.x.clone();
            x[i] = if x[i] + step <= unknown.max { x[i] + step } else { x[i] - step };
            corners.push(self.corner(x, best)?);
        }
        Ok(corners)
    }

    fn shrink_simplex(&mut self, best: &mut Corner, size: f64) -> Result<(), Interrupted> {
        let n = self.unknowns.len();
        let dimension = n.max(2) as f64;
        let (expand, contract, shrink) = (1.0 + 2.0 / dimension, 0.75 - 0.5 / dimension, 1.0 - 1.0 / dimension);
        let mut corners = self.first_simplex(best, size)?;
        loop {
            corners.sort_by(|a, b| a.value.total_cmp(&b.value));
            if self.is_small(&corners) {
                return Ok(());
            }
            let worst = corners[n].clone();
            let centre: Vec<f64> =
                (0..n).map(|i| corners[..n].iter().map(|c| c.x[i]).sum::<f64>() / n as f64).collect();
            let along =
                |part: f64| -> Vec<f64> { centre.iter().zip(&worst.x).map(|(c, w)| c + part * (c - w)).collect() };
            let reflected = self.corner(along(1.0), best)?;
            let next = if reflected.value < corners[0].value {
                let further = self.corner(along(expand), best)?;
                Some(if further.value < reflected.value { further } else { reflected })
            } else if reflected.value < corners[n - 1].value || n == 1 && reflected.value < worst.value {
                Some(reflected)
            } else {
                let part = if reflected.value < worst.value { contract } else { -contract };
                let nearer = self.corner(along(part), best)?;
                (nearer.value < worst.value.min(reflected.value)).then_some(nearer)
            };
            match next {
                Some(next) => corners[n] = next,
                None => {
                    let origin = corners[0].x.clone();
                    for corner in &mut corners[1..] {
                        let x = origin.iter().zip(&corner.x).map(|(o, x)| o + shrink * (x - o)).collect();
                        *corner = self.corner(x, best)?;
                    }
                }
            }
        }
    }

    fn is_small(&self, corners: &[Corner]) -> bool {
        let first = &corners[0].x;
        let is_near = |c: &Corner| {
            let each = c.x.iter().zip(first).zip(self.unknowns);
            each.into_iter().all(|((x, f), u)| (x - f).abs() <= self.tolerance * u.scale())
        };
        corners[1..].iter().all(is_near)
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
        let f = &mut |p: &[f64]| Ok(100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2));
        let found = minimise(&[unknown(-1.2, -5.0, 5.0), unknown(1.0, -5.0, 5.0)], 1e-9, 5000, f).expect("it runs");
        assert_eq!(found.end, End::Converged);
        assert!(found.parameters.iter().all(|p| (p - 1.0).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn the_smallest_value_may_be_at_a_bound() {
        let f = &mut |p: &[f64]| Ok(p[0] + 2.0 * p[1]);
        let found = minimise(&[unknown(0.5, 0.0, 1.0), unknown(0.5, -1.0, 1.0)], 1e-9, 5000, f).expect("it runs");
        assert!(found.parameters[0].abs() < 1e-8 && (found.parameters[1] + 1.0).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn points_without_a_value_are_avoided() {
        let f = &mut |p: &[f64]| if p[0] < 0.3 { Err(NoValue::Failed("no".into())) } else { Ok(p[0]) };
        let found = minimise(&[unknown(2.0, -5.0, 5.0)], 1e-9, 5000, f).expect("it runs");
        assert!((found.parameters[0] - 0.3).abs() < 1e-7, "{found:?}");
        let ends = minimise(&[unknown(2.0, -5.0, 5.0)], 1e-9, 10, &mut |p| Ok(p[0] * p[0])).expect("it runs");
        assert_eq!((ends.end, ends.runs), (End::MostRuns, 10));
    }
}
