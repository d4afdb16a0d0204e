//! Polynomials of second degree in the time since a point, and when they reach a value.

/// `c[0] + c[1]·τ + c[2]·τ²`.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Parabola(pub [f64; 3]);

/// A distance this close to a bound, as a part of it, is at the bound: rounding.
const AT_BOUND: f64 = 1e-9;

impl Parabola {
    pub fn value(self, tau: f64) -> f64 {
        let [c0, c1, c2] = self.0;
        c0 + tau * (c1 + tau * c2)
    }

    pub fn slope(self, tau: f64) -> f64 {
        let [_, c1, c2] = self.0;
        c1 + 2.0 * tau * c2
    }

    /// The same about a later point.
    pub fn shifted(self, tau: f64) -> Parabola {
        Parabola([self.value(tau), self.slope(tau), self.0[2]])
    }

    pub fn plus(self, factor: f64, other: Parabola) -> Parabola {
        let [a, b] = [self.0, other.0];
        Parabola([a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]])
    }

    /// The smallest τ > 0 at which it is zero; infinite if there is none.
    pub fn first_root(self) -> f64 {
        let [c0, c1, c2] = self.0;
        let positive = |tau: f64| if tau > 0.0 { tau } else { f64::INFINITY };
        if c2 == 0.0 {
            return if c1 == 0.0 { f64::INFINITY } else { positive(-c0 / c1) };
        }
        let discriminant = c1 * c1 - 4.0 * c2 * c0;
        if discriminant < 0.0 || discriminant.is_nan() {
            return f64::INFINITY;
        }
        // Neither root is a difference of numbers that are nearly equal.
        let s = -0.5 * (c1 + discriminant.sqrt().copysign(c1));
        let (a, b) = (s / c2, if s == 0.0 { f64::INFINITY } else { c0 / s });
        positive(a).min(positive(b))
    }

    /// The smallest τ ≥ 0 at which its magnitude has reached `bound` and does not shrink: 0 if that is now.
    pub fn time_to_leave(self, bound: f64) -> f64 {
        let [mut c0, c1, c2] = self.0;
        if c0.abs() >= bound * (1.0 - AT_BOUND) {
            let outward = c0.signum() * c1;
            if outward > 0.0 || outward == 0.0 && c0.signum() * c2 > 0.0 {
                return 0.0;
            }
            c0 = c0.signum() * bound * (1.0 - AT_BOUND);
        }
        let above = Parabola([c0 - bound, c1, c2]).first_root();
        above.min(Parabola([c0 + bound, c1, c2]).first_root())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_the_first_ones_ahead() {
        // (τ - 1)(τ - 3), (τ + 1)(τ - 3), 2 - τ, and one without roots
        assert_eq!(Parabola([3.0, -4.0, 1.0]).first_root(), 1.0);
        assert_eq!(Parabola([-3.0, -2.0, 1.0]).first_root(), 3.0);
        assert_eq!(Parabola([2.0, -1.0, 0.0]).first_root(), 2.0);
        assert_eq!(Parabola([1.0, 0.0, 1.0]).first_root(), f64::INFINITY);
        // A tiny curvature: 1e-20·τ² - τ + 1 has the roots 1 and 1e20.
        assert!((Parabola([1.0, -1.0, 1e-20]).first_root() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn at_the_bound_it_leaves_at_once_only_if_it_moves_outward() {
        assert_eq!(Parabola([1.0, 0.5, 0.0]).time_to_leave(1.0), 0.0);
        // From 1 down to -1.
        assert!((Parabola([1.0, -0.5, 0.0]).time_to_leave(1.0) - 4.0).abs() < 1e-8);
        // Down to 1 - 1/4 and back to 1 at τ = 1.
        assert!((Parabola([1.0, -1.0, 1.0]).time_to_leave(1.0) - 1.0).abs() < 1e-8);
    }
}
