//! Locating a sign change to the resolution of the number line.
//!
//! In: a bracket with a positive value on the left and a negative one on the right, and the function. Out: a bracket of
//! a few units in the last place that still has these signs. Its right end is the first known point "after".
//!
//! The method is ITP (Oliveira and Takahashi 2020): superlinear on smooth functions, never worse than bisection plus one
//! step. The function may be a minimum of several, with kinks; only signs decide.

use crate::tuning::root::{SLACK, TRUNCATION};

/// `before` has a positive value, `after` a negative one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bracket {
    pub before: f64,
    pub after: f64,
}

/// Shrinks the bracket until it is as narrow as `resolution` at that magnitude. `value_before` must be positive and
/// `value_after` negative; a value of zero counts as positive. Fails only where `function` does.
pub fn locate_sign_change<E>(
    bracket: Bracket,
    value_before: f64,
    value_after: f64,
    function: &mut dyn FnMut(f64) -> Result<f64, E>,
) -> Result<Bracket, E> {
    let Bracket { before: mut a, after: mut b } = bracket;
    let (mut fa, mut fb) = (value_before, value_after);
    let half_tolerance = resolution(a.abs().max(b.abs()));
    let width = b - a;
    let bisections = (width / (2.0 * half_tolerance)).log2().ceil().max(0.0) as i32;
    let most = bisections.saturating_add(SLACK);
    let mut step = 0;
    while b - a > 2.0 * half_tolerance && step <= most + 2 {
        let x = proposal(a, b, fa, fb, width, half_tolerance * 2f64.powi(most - step));
        if x <= a || x >= b {
            break;
        }
        let value = function(x)?;
        if value < 0.0 {
            (b, fb) = (x, value);
        } else {
            (a, fa) = (x, value);
        }
        step += 1;
    }
    Ok(Bracket { before: a, after: b })
}

/// The width at which two times count as the same: two units in the last place.
pub fn resolution(magnitude: f64) -> f64 {
    (magnitude.next_up() - magnitude).max(f64::MIN_POSITIVE)
}

/// Interpolate (regula falsi), truncate (towards the middle), project (to where bisection would still be in time).
fn proposal(a: f64, b: f64, fa: f64, fb: f64, width: f64, reach: f64) -> f64 {
    let middle = a + 0.5 * (b - a);
    let secant = (fb * a - fa * b) / (fb - fa);
    if !secant.is_finite() {
        return middle;
    }
    let towards = if middle >= secant { 1.0 } else { -1.0 };
    let truncation = TRUNCATION / width * (b - a).powi(2);
    // Never closer to an end than the tolerance, or the other end would stay where it is.
    let truncation = truncation.max(resolution(a.abs().max(b.abs())));
    let truncated = if truncation <= (middle - secant).abs() { secant + towards * truncation } else { middle };
    let radius = (reach - 0.5 * (b - a)).max(0.0);
    let x = if (truncated - middle).abs() <= radius { truncated } else { middle - towards * radius };
    if x <= a || x >= b { middle } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(a: f64, b: f64, mut f: impl FnMut(f64) -> f64) -> (Bracket, usize) {
        let mut n = 0;
        let (fa, fb) = (f(a), f(b));
        let result: Result<Bracket, ()> = locate_sign_change(Bracket { before: a, after: b }, fa, fb, &mut |x| {
            n += 1;
            Ok(f(x))
        });
        (result.unwrap(), n)
    }

    #[test]
    fn a_smooth_root_is_found_in_few_steps() {
        // 1 − 4.905 t² = 0 at t = √(1/4.905)
        let (bracket, n) = count(0.0, 1.0, |t| 1.0 - 4.905 * t * t);
        let exact = (1.0f64 / 4.905).sqrt();
        assert!((bracket.after - exact).abs() < 1e-15, "{bracket:?}");
        assert!(bracket.after - bracket.before < 5e-16);
        assert!(n < 20, "{n} evaluations");
    }

    #[test]
    fn a_jump_costs_no_more_than_bisection() {
        let (bracket, n) = count(0.0, 1.0, |t| if t < 0.3 { 1.0 } else { -1000.0 });
        assert!(bracket.before < 0.3 && bracket.after >= 0.3 && bracket.after - 0.3 < 1e-15);
        assert!(n <= 55, "{n} evaluations");
    }

    #[test]
    fn a_steep_and_a_flat_function_keep_their_signs() {
        for power in [1, 3, 9, 15] {
            let f = |t: f64| -(t - 0.7).powi(power);
            let (bracket, _) = count(0.0, 1.0, f);
            assert!(f(bracket.before) >= 0.0 && f(bracket.after) < 0.0);
        }
    }

    #[test]
    fn far_from_zero_the_resolution_is_that_of_the_number() {
        let (bracket, _) = count(1e6, 1e6 + 1.0, |t| 1e6 + 0.25 - t);
        assert!(bracket.after - (1e6 + 0.25) <= 4e-10);
    }
}
