//! Limits of difference quotients, from both sides and from each of them.
//!
//! In: quotients of halved steps to both sides, of values with some noise. Out: the derivative with an estimate of its error
//! (Ridders 1982). A function has a kink where the limits of both sides are further apart than their errors: there a
//! derivative can only be that of one side.

/// The largest relative step of differences, and how often it is halved.
const LARGEST_STEP: f64 = 1e-2;
pub(super) const N_STEPS: usize = 11;
/// Of differences only those are believed that seem to be this good.
const BELIEVED: f64 = 1e-7;
/// Two limits are apart if their distance is this many times their estimated errors.
const APART: f64 = 8.0;
/// Relative error of a derivative that counts as exact.
pub const TOLERANCE: f64 = 1e-6;

pub(super) fn step(k: usize) -> f64 {
    LARGEST_STEP / f64::from(1u32 << k)
}

/// Difference quotients to both sides.
#[derive(Clone, Copy)]
pub(super) struct Difference {
    right: f64,
    left: f64,
}

impl Difference {
    pub fn new(after: f64, here: f64, before: f64, h: f64) -> Self {
        Difference { right: (after - here) / h, left: (here - before) / h }
    }

    fn mean(self) -> f64 {
        0.5 * (self.right + self.left)
    }
}

/// A limit and an estimate of its error.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub value: f64,
    pub error: f64,
}

impl Limit {
    /// Of quotients for halved steps whose error is a series in powers of `order` of the step.
    fn of(quotients: impl Iterator<Item = Option<f64>>, order: i32, noise: f64) -> Self {
        let base = 2.0_f64.powi(order);
        let mut best = Limit { value: 0.0, error: f64::INFINITY };
        let mut last: Vec<f64> = Vec::new();
        for (i, quotient) in quotients.enumerate() {
            let Some(quotient) = quotient else {
                last.clear();
                continue;
            };
            let mut row = vec![quotient];
            let mut factor = base;
            for (k, before) in last.iter().enumerate() {
                let value = row[k] + (row[k] - before) / (factor - 1.0);
                let error = (value - row[k]).abs().max((value - before).abs()) + noise / step(i);
                if error < best.error {
                    best = Limit { value, error };
                }
                row.push(value);
                factor *= base;
            }
            last = row;
        }
        best
    }

    fn is_near(self, exact: f64) -> bool {
        let size = exact.abs().max(self.value.abs());
        self.error <= BELIEVED * size && (self.value - exact).abs() <= TOLERANCE * size
    }
}

/// What differences say about a derivative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// With the relative error.
    Right(f64),
    /// The function has a kink here or close by, and it is the derivative of one side.
    Side,
    /// Differences are too inaccurate, or several kinks meet.
    Unclear,
    /// With the relative error.
    Wrong(f64),
}

/// The limits of central differences and of those to each side.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub central: Limit,
    pub right: Limit,
    pub left: Limit,
}

impl Limits {
    /// Of values with that noise.
    pub(super) fn of(quotients: &[Option<Difference>], noise: f64) -> Self {
        let each = |which: fn(Difference) -> f64| quotients.iter().map(move |q| q.map(which));
        Limits {
            central: Limit::of(each(Difference::mean), 2, noise),
            right: Limit::of(each(|q| q.right), 1, 2.0 * noise),
            left: Limit::of(each(|q| q.left), 1, 2.0 * noise),
        }
    }

    /// Do differences contradict each other: those to both sides, or those of long and of short steps?
    fn is_kink(&self) -> bool {
        let apart = |a: Limit, b: Limit| (a.value - b.value).abs() > APART * (a.error + b.error);
        let Limits { central, right, left } = *self;
        apart(right, left) || apart(central, right) || apart(central, left)
    }

    pub(super) fn judge(&self, exact: f64) -> Verdict {
        let size = exact.abs().max(self.central.value.abs());
        let relative = if size == 0.0 { 0.0 } else { (exact - self.central.value).abs() / size };
        let is_smooth = !self.is_kink() && self.central.error <= BELIEVED * size;
        if is_smooth && relative <= TOLERANCE {
            Verdict::Right(relative)
        } else if self.right.is_near(exact) || self.left.is_near(exact) {
            Verdict::Side
        } else if is_smooth {
            Verdict::Wrong(relative)
        } else {
            Verdict::Unclear
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(f: impl Fn(f64) -> f64) -> Limits {
        let quotient = |h: f64| Some(Difference::new(f(h), f(0.0), f(-h), h));
        Limits::of(&(0..N_STEPS).map(|k| quotient(step(k))).collect::<Vec<_>>(), 1e-16)
    }

    #[test]
    fn differences_are_extrapolated_to_their_limit() {
        // d/dx exp(x) at 1 is e
        let found = limits(|h| (1.0 + h).exp());
        for (limit, tolerance) in [(found.central, 1e-11), (found.right, 1e-9), (found.left, 1e-9)] {
            assert!((limit.value - std::f64::consts::E).abs() < tolerance, "{limit:?}");
            assert!(limit.error < 1e-7, "{limit:?}");
        }
        assert!(matches!(found.judge(std::f64::consts::E), Verdict::Right(_)));
        assert!(matches!(found.judge(std::f64::consts::E * (1.0 + 7e-6)), Verdict::Wrong(_)));
    }

    #[test]
    fn at_a_kink_the_derivative_is_that_of_one_side() {
        // |x| + x at 0 has the slopes 0 and 2; central differences say 1
        let found = limits(|h| h.abs() + h);
        assert_eq!(found.judge(2.0), Verdict::Side);
        assert_eq!(found.judge(1.0), Verdict::Unclear);
    }

    #[test]
    fn a_kink_on_both_sides_is_seen_by_short_steps() {
        // sin(h) is limited to ±1e-4: the slope is 1 here, and 0 as far as longer steps can see.
        let found = limits(|h| h.sin().clamp(-1e-4, 1e-4));
        assert!(matches!(found.judge(1.0), Verdict::Right(_) | Verdict::Side), "{found:?}");
        assert!(!matches!(found.judge(0.9), Verdict::Right(_) | Verdict::Side), "{found:?}");
    }

    #[test]
    fn a_kink_beside_the_point_is_one_too() {
        // The slopes are 1 + e^h and, from 1e-9 on, 4 + e^h.
        let found = limits(|h| h.exp() + h + 3.0 * (h - 1e-9).max(0.0));
        assert_eq!(found.judge(2.0), Verdict::Side);
        assert_ne!(found.judge(2.1), Verdict::Side);
    }
}
