//! What all integrators with error control share: the error norm, the first step size, and the way to a limit.
//!
//! In: tolerances, states, derivatives. Out: numbers. The first step is that of Hairer, Nørsett, Wanner: *Solving
//! Ordinary Differential Equations I*, section II.4.

use crate::integrator::{Eval, OdeSystem, Tolerances, TrialFailure};
use crate::tuning::step_size::{NEARLY_THERE, ROUNDING_ULPS, SMALLEST_STEP_ULPS};

/// The error that a component may have, by the larger of two magnitudes.
pub(crate) fn weight(tolerances: &Tolerances, i: usize, a: f64, b: f64) -> f64 {
    let size = a.abs().max(b.abs());
    if tolerances.unbounded.get(i) == Some(&true) {
        return tolerances.absolute[i].max(ROUNDING_ULPS * f64::EPSILON * size).max(f64::MIN_POSITIVE);
    }
    bounded_weight(tolerances.absolute[i], tolerances.relative, size)
}

#[inline]
fn bounded_weight(absolute: f64, relative: f64, size: f64) -> f64 {
    (absolute + relative * size).max(f64::MIN_POSITIVE)
}

/// Root mean square of `values`, each measured by its weight at the larger of `a` and `b`; 0 for no values.
pub(crate) fn norm(tolerances: &Tolerances, a: &[f64], b: &[f64], values: impl Iterator<Item = f64>) -> f64 {
    let sum: f64 = if tolerances.unbounded.contains(&true) {
        values.enumerate().map(|(i, v)| (v / weight(tolerances, i, a[i], b[i])).powi(2)).sum()
    } else {
        // Of many components the norm is a good part of a step: without positions it is computed for several at a time.
        let sizes = a.iter().zip(b).map(|(a, b)| a.abs().max(b.abs()));
        let weights =
            tolerances.absolute.iter().zip(sizes).map(|(&a, size)| bounded_weight(a, tolerances.relative, size));
        values.zip(weights).map(|(v, weight)| (v / weight).powi(2)).sum()
    };
    (sum / a.len().max(1) as f64).sqrt()
}

/// How often a vector contains another one, which is `by`, in units of the weights at `x`; not a number if that is zero.
pub(crate) fn component(tolerances: &Tolerances, x: &[f64], of: &[f64], by: &[f64]) -> f64 {
    let (mut product, mut square) = (0.0, 0.0);
    for i in 0..x.len() {
        let weight = weight(tolerances, i, x[i], x[i]);
        let (of, by) = (of[i] / weight, by[i] / weight);
        product += of * by;
        square += by * by;
    }
    product / square
}

/// A value in units of its weight at the larger of `a` and `b`.
pub(crate) fn part(tolerances: &Tolerances, i: usize, a: f64, b: f64, value: f64) -> f64 {
    (value / weight(tolerances, i, a, b)).abs()
}

/// The error of one component of `n`, of which only the norm is known: all of it may be there.
pub(crate) fn error_of(tolerances: &Tolerances, i: usize, x: f64, norm: f64) -> f64 {
    norm * (tolerances.absolute.len() as f64).sqrt() * weight(tolerances, i, x, x)
}

/// Evaluates the right-hand side; what is not finite is a failure.
pub(crate) fn evaluate(system: &mut dyn OdeSystem, t: f64, x: &[f64], dx: &mut [f64], count: &mut u64) -> Eval {
    *count += 1;
    system.derivatives(t, x, dx)?;
    if dx.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(TrialFailure) }
}

/// A first step from the sizes of x, ẋ and an estimate of ẍ for a method of the given order. `trial` and `slope` are
/// overwritten.
pub(crate) fn first_step(
    system: &mut dyn OdeSystem,
    tolerances: &Tolerances,
    order: i32,
    max_step: f64,
    (t, x, dx): (f64, &[f64], &[f64]),
    trial: &mut [f64],
    slope: &mut [f64],
    count: &mut u64,
) -> f64 {
    if x.is_empty() {
        return max_step;
    }
    let d0 = norm(tolerances, x, x, x.iter().copied());
    let d1 = norm(tolerances, x, x, dx.iter().copied());
    let h0 = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
    // Time may be too large for an absolute guess.
    let smallest = 10.0 * SMALLEST_STEP_ULPS * ulp(t);
    let h0 = h0.min(max_step).max(smallest);
    for i in 0..x.len() {
        trial[i] = x[i] + h0 * dx[i];
    }
    if evaluate(system, t + h0, trial, slope, count).is_err() {
        return h0;
    }
    let d2 = norm(tolerances, x, x, slope.iter().zip(dx).map(|(a, b)| a - b)) / h0;
    let largest = d1.max(d2);
    let exponent = 1.0 / f64::from(order + 1);
    let h1 = if largest <= 1e-15 { (h0 * 1e-3).max(1e-6) } else { (0.01 / largest).powf(exponent) };
    (100.0 * h0).min(h1).min(max_step).max(smallest)
}

/// One attempt at a step.
pub(crate) struct Attempt {
    pub h: f64,
    pub end: f64,
    /// The size that would have been tried without a limit.
    pub wanted: f64,
    pub is_clipped: bool,
}

impl Attempt {
    /// Ends at the limit or well before it: two nearly equal steps are better than a long one and a splinter. None if
    /// time would not advance.
    pub fn towards(t: f64, wanted: f64, limit: f64) -> Option<Attempt> {
        let remaining = limit - t;
        let (h, is_clipped) = if wanted >= remaining {
            (remaining, true)
        } else if wanted * NEARLY_THERE > remaining {
            (0.5 * remaining, true)
        } else {
            (wanted, false)
        };
        let end = if h >= remaining { limit } else { t + h };
        (end > t).then_some(Attempt { h: end - t, end, wanted, is_clipped })
    }

    /// A step cut short by a limit says nothing against the size that was wanted.
    pub fn next_size(&self, proposal: f64, most_growth: f64) -> f64 {
        if self.is_clipped { proposal.max(self.wanted.min(proposal * most_growth)) } else { proposal }
    }
}

/// Rounding would turn a smaller step into the same one again.
pub(crate) fn is_smallest(h: f64, t: f64) -> bool {
    h <= SMALLEST_STEP_ULPS * ulp(t)
}

fn ulp(t: f64) -> f64 {
    t.abs().next_up() - t.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_never_leaves_a_splinter() {
        let attempt = |wanted| Attempt::towards(1.0, wanted, 2.0).unwrap();
        assert_eq!((attempt(0.5).h, attempt(0.5).is_clipped), (0.5, false));
        assert_eq!((attempt(0.9).h, attempt(0.9).is_clipped), (0.5, true));
        assert_eq!((attempt(7.0).end, attempt(7.0).is_clipped), (2.0, true));
        assert!(Attempt::towards(1.0, 1e-20, 2.0).is_none());
    }

    #[test]
    fn the_norm_is_the_root_mean_square_in_units_of_the_tolerance() {
        let tolerances = Tolerances { relative: 0.1, absolute: vec![1.0, 0.0], unbounded: vec![] };
        // weights 1 + 0.1·10 = 2 and 0.1·20 = 2: √((4/2)² + (0/2)²)/√2
        let value = norm(&tolerances, &[10.0, 0.0], &[0.0, -20.0], [4.0, 0.0].into_iter());
        assert!((value - 2f64.sqrt()).abs() < 1e-15);
        assert_eq!(
            norm(&Tolerances { relative: 0.1, absolute: vec![], unbounded: vec![] }, &[], &[], std::iter::empty()),
            0.0
        );
    }

    /// Only the absolute tolerance counts, down to what rounding leaves of it.
    #[test]
    fn an_unbounded_state_outgrows_its_absolute_tolerance() {
        let tolerances = Tolerances { relative: 0.1, absolute: vec![1e-3, 1e-3], unbounded: vec![true, false] };
        assert_eq!(weight(&tolerances, 0, 5.0, -20.0), 1e-3);
        assert_eq!(weight(&tolerances, 1, 5.0, -20.0), 1e-3 + 0.1 * 20.0);
        // One unit in the last place of 1e15 is 0.125.
        assert_eq!(weight(&tolerances, 0, 1e15, 0.0), 16.0 * f64::EPSILON * 1e15);
    }
}
