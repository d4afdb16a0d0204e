//! Sensitivities over one step of a run as a power series.
//!
//! In: s' = A s + B with A and B as parabolas over the step. Out: s as a polynomial that holds for all times of the step, so that any number of
//! measurements in it costs little. With A = A₀ + A₁ τ + A₂ τ², B alike and s = Σ sₖ τᵏ on 0 ≤ τ ≤ 1,
//!
//! ```text
//! (k + 1) sₖ₊₁ = A₀ sₖ + A₁ sₖ₋₁ + A₂ sₖ₋₂ + Bₖ
//! ```
//!
//! No matrix is factored. Where the step is long for the fastest modes, terms would grow before they shrink: that is left to an implicit
//! method ([`super::linear`]).

use super::linear::{Matrix, Stretch};

/// Largest norm of A over the step: the terms grow up to about its exponential.
const LARGEST_NORM: f64 = 20.0;
/// Terms that may be needed, at most.
const MOST_TERMS: usize = 60;
/// The series ends where terms are below this part of the result.
const NEGLIGIBLE: f64 = 1e-12;
/// What rounding errors of the largest term may make of the result.
const CANCELLED: f64 = 1e-9;
/// Terms that the next one depends on.
const DEPTH: usize = 3;

/// s over a step.
pub struct Series {
    from: f64,
    width: f64,
    terms: Vec<Matrix>,
}

impl Series {
    /// None where the series does not do.
    pub fn new(stretch: &Stretch, s: &Matrix) -> Option<Self> {
        let [left, _, right] = stretch.0;
        let width = right.time - left.time;
        let n = left.f.len();
        let a = stretch.parabola(|node| &node.a)?.map(|part| part.scaled(width));
        let b = stretch.parabola(|node| &node.b)?.map(|part| part.scaled(width));
        let norm: f64 = a.iter().map(|part| part.norm(n)).sum();
        if norm.is_nan() || norm > LARGEST_NORM {
            return None;
        }
        let mut sum = s.clone();
        let mut terms = vec![s.clone()];
        let (mut largest, mut n_small) = (s.sizes(), 0);
        while terms.len() < MOST_TERMS {
            let k = terms.len() - 1;
            let mut next = b.get(k).cloned().unwrap_or_else(|| Matrix::zeros(n, s.n_columns));
            for (part, term) in a.iter().zip(terms.iter().rev()) {
                part.multiply_into(term, &mut next);
            }
            let next = next.scaled(1.0 / (k + 1) as f64);
            sum.data.iter_mut().zip(&next.data).for_each(|(total, term)| *total += term);
            let (sizes, result) = (next.sizes(), sum.sizes());
            largest.iter_mut().zip(&sizes).for_each(|(most, size)| *most = most.max(*size));
            let is_small = sizes
                .iter()
                .zip(&result)
                .zip(&largest)
                .all(|((term, sum), most)| *term <= NEGLIGIBLE * sum && f64::EPSILON * most <= CANCELLED * sum);
            n_small = if is_small { n_small + 1 } else { 0 };
            terms.push(next);
            // From here on each term is smaller than the largest of those that it depends on.
            if n_small >= DEPTH && terms.len() as f64 > norm {
                return Some(Series { from: left.time, width, terms });
            }
        }
        None
    }

    pub fn at(&self, time: f64) -> Matrix {
        let tau = (time - self.from) / self.width;
        let mut terms = self.terms.iter().rev();
        let mut sum = terms.next().cloned().unwrap_or_default();
        for term in terms {
            sum.data.iter_mut().zip(&term.data).for_each(|(total, part)| *total = *total * tau + part);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::linear::Node;
    use super::*;

    fn square(values: &[f64]) -> Matrix {
        Matrix { n_columns: values.len().isqrt(), data: values.to_vec() }
    }

    fn node(time: f64, a: &[f64], b: &[f64]) -> Node {
        let n = b.len();
        Node { time, x: vec![0.0; n], f: vec![0.0; n], a: square(a), b: Matrix { n_columns: 1, data: b.to_vec() } }
    }

    fn series(nodes: &[Node; 3], s: &[f64]) -> Option<Series> {
        let [first, middle, last] = nodes;
        Series::new(&Stretch([first, middle, last]), &Matrix { n_columns: 1, data: s.to_vec() })
    }

    #[test]
    fn changing_coefficients() {
        // s' = -2 t s from 1 at t = 1: exp(1 - t²).
        let nodes = [1.0, 1.25, 1.5].map(|t| node(t, &[-2.0 * t], &[0.0]));
        let found = series(&nodes, &[1.0]).expect("the step is short");
        for t in [1.0f64, 1.1, 1.25, 1.4, 1.5] {
            assert!((found.at(t).at(0, 0) - (1.0 - t * t).exp()).abs() < 1e-12, "at {t}");
        }
    }

    #[test]
    fn two_states_that_swing() {
        // s₁' = s₂, s₂' = -4 s₁ + 4 from 0: 1 - cos(2 t) and 2 sin(2 t).
        let nodes = [0.0, 0.5, 1.0].map(|t| node(t, &[0.0, 1.0, -4.0, 0.0], &[0.0, 4.0]));
        let found = series(&nodes, &[0.0, 0.0]).expect("the step is short").at(0.75);
        assert!((found.at(0, 0) - (1.0 - 1.5f64.cos())).abs() < 1e-12);
        assert!((found.at(1, 0) - 2.0 * 1.5f64.sin()).abs() < 1e-12);
    }

    #[test]
    fn source_that_is_a_parabola() {
        // s' = 3 t² from 0: t³. The terms before the third are zero.
        let nodes = [0.0, 0.5, 1.0].map(|t: f64| node(t, &[0.0], &[3.0 * t * t]));
        let found = series(&nodes, &[0.0]).expect("nothing is stiff");
        assert!((found.at(0.5).at(0, 0) - 0.125).abs() < 1e-14);
        assert!((found.at(1.0).at(0, 0) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn terms_that_would_cancel_are_left_to_others() {
        // exp(-15) = 3e-7 from terms up to 3e5: rounding errors would be seen.
        let fast = [0.0, 0.5, 1.0].map(|t| node(t, &[-15.0], &[0.0]));
        assert!(series(&fast, &[1.0]).is_none());
        let stiff = [0.0, 0.5, 1.0].map(|t| node(t, &[-1e9], &[2e9]));
        assert!(series(&stiff, &[0.0]).is_none());
    }
}
