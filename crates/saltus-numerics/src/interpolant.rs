//! The dense output of one state as a polynomial of time, and what it encloses over a part of the step.
//!
//! In: coefficients from an integrator. Out: bounds of the value and of the slope. They come from the Taylor expansion about the
//! middle of the part, which is nearly exact where the part is short.

use crate::interval::Interval;

/// The highest degree of a dense output.
pub const DEGREE: usize = 7;

/// What the evaluation of a dense output and of this form of it may differ by, in units in the last place of their terms.
const ROUNDING_ULPS: f64 = 16.0;

/// Σ cₖ·sᵏ with s = (t - origin) / unit.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Interpolant {
    pub origin: f64,
    pub unit: f64,
    pub coefficients: [f64; DEGREE + 1],
}

impl Interpolant {
    /// A value that does not change.
    pub fn constant(value: f64) -> Self {
        let mut coefficients = [0.0; DEGREE + 1];
        coefficients[0] = value;
        Interpolant { origin: 0.0, unit: 1.0, coefficients }
    }

    /// Multiplies the polynomial by `s`; its degree must be below [`DEGREE`].
    pub(crate) fn multiply_by_s(&mut self) {
        self.coefficients.rotate_right(1);
        self.coefficients[0] = 0.0;
    }

    /// Multiplies the polynomial by `1 − s`; its degree must be below [`DEGREE`].
    pub(crate) fn multiply_by_rest(&mut self) {
        for k in (1..=DEGREE).rev() {
            self.coefficients[k] -= self.coefficients[k - 1];
        }
    }

    /// The value at `t`, to rounding what the integrator interpolates.
    pub fn at(&self, t: f64) -> f64 {
        let s = (t - self.origin) / self.unit;
        self.coefficients.iter().rev().fold(0.0, |sum, c| c + s * sum)
    }

    /// The value and how fast it changes with time, both over all times of `t`.
    pub fn enclose(&self, t: Interval) -> (Interval, Interval) {
        let centre = t.middle();
        let middle = (centre - self.origin) / self.unit;
        // A step may be short compared with the resolution of time: the middle is not half way then.
        let reach = (t.hi - centre).max(centre - t.lo);
        let rounding = if reach == 0.0 { 0.0 } else { ROUNDING_ULPS * f64::EPSILON * middle.abs() };
        let radius = (reach / self.unit).abs() * (1.0 + 4.0 * f64::EPSILON) + rounding;
        let c = self.shifted(middle);
        let (mut value, mut slope) = (0.0, 0.0);
        for k in (2..=DEGREE).rev() {
            value = radius * (value + c[k].abs());
            slope = radius * slope + k as f64 * c[k].abs();
        }
        value = radius * (value + c[1].abs());
        slope *= radius;
        let size = self.coefficients.iter().rev().fold(0.0, |sum, c| c.abs() + middle.abs().max(1.0) * sum);
        let rounding = ROUNDING_ULPS * f64::EPSILON * size;
        let unit = Interval::point(self.unit);
        let value = Interval::around(c[0], value * (1.0 + 8.0 * f64::EPSILON) + rounding);
        let slope = Interval::around(c[1], slope * (1.0 + 8.0 * f64::EPSILON) + 8.0 * rounding) / unit;
        (value, slope)
    }

    /// The value alone.
    pub fn enclose_value(&self, t: Interval) -> Interval {
        let centre = t.middle();
        let middle = (centre - self.origin) / self.unit;
        let reach = (t.hi - centre).max(centre - t.lo);
        let rounding = if reach == 0.0 { 0.0 } else { ROUNDING_ULPS * f64::EPSILON * middle.abs() };
        let radius = (reach / self.unit).abs() * (1.0 + 4.0 * f64::EPSILON) + rounding;
        let c = self.shifted(middle);
        let value = c[1..].iter().rev().fold(0.0, |sum, c| radius * (sum + c.abs()));
        let size = self.coefficients.iter().rev().fold(0.0, |sum, c| c.abs() + middle.abs().max(1.0) * sum);
        Interval::around(c[0], value * (1.0 + 8.0 * f64::EPSILON) + ROUNDING_ULPS * f64::EPSILON * size)
    }

    /// Taylor coefficients of the value at `middle`, and over all times up to `radius` away from it, in units of that.
    pub fn expand(&self, middle: f64, radius: f64) -> ([Interval; DEGREE + 1], [Interval; DEGREE + 1]) {
        let s = (middle - self.origin) / self.unit;
        let c = self.shifted(s);
        let sizes = Interpolant { coefficients: self.coefficients.map(f64::abs), ..*self }.shifted(s.abs());
        let by = Interval::point(radius) / Interval::point(self.unit);
        let (mut there, mut power) = ([Interval::ZERO; DEGREE + 1], Interval::point(1.0));
        for k in 0..=DEGREE {
            if sizes[k] != 0.0 {
                there[k] = Interval::around(c[k], ROUNDING_ULPS * f64::EPSILON * sizes[k]) * power;
            }
            power = power * by;
        }
        let mut over = there;
        for k in 0..DEGREE {
            for j in (k..DEGREE).rev() {
                over[j] = over[j] + over[j + 1].of_either_sign();
            }
        }
        (there, over)
    }

    /// Coefficients about another origin.
    fn shifted(&self, s: f64) -> [f64; DEGREE + 1] {
        let mut c = self.coefficients;
        for k in 0..DEGREE {
            for j in (k..DEGREE).rev() {
                c[j] += s * c[j + 1];
            }
        }
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expansions_about_other_points_are_the_same_polynomial() {
        let x = Interpolant { origin: 2.0, unit: 0.5, coefficients: [1.0, -2.0, 0.5, 3.0, -0.25, 0.125, 1.5, -0.75] };
        let (middle, radius) = (2.2, 0.15);
        let (there, over) = x.expand(middle, radius);
        for k in -10..=10 {
            let s = f64::from(k) / 10.0;
            let value = x.at(middle + radius * s);
            let found = there.iter().rev().fold(Interval::ZERO, |sum, c| *c + Interval::point(s) * sum);
            assert!((found.middle() - value).abs() < 1e-13 && found.hi - found.lo < 1e-12, "{found:?} and {value}");
            let alone = x.enclose_value(Interval::around(middle, radius));
            assert_eq!(alone, x.enclose(Interval::around(middle, radius)).0);
            // The coefficients about any point of the stretch are inside of those over all of it.
            let (here, _) = x.expand(middle + radius * s, radius);
            for (here, over) in here.iter().zip(&over) {
                assert!(over.lo <= here.hi && here.lo <= over.hi, "{here:?} outside of {over:?}");
            }
        }
    }

    #[test]
    fn factors_of_dense_outputs_multiply_the_polynomial() {
        let x = Interpolant { origin: 2.0, unit: 0.5, coefficients: [1.0, -2.0, 0.5, 3.0, 0.0, 0.0, 0.0, 0.0] };
        let (mut by_s, mut by_rest) = (x, x);
        by_s.multiply_by_s();
        by_rest.multiply_by_rest();
        for s in [0.0, 0.25, 0.5, 1.0] {
            let t = 2.0 + 0.5 * s;
            assert!((by_s.at(t) - s * x.at(t)).abs() < 1e-14 && (by_rest.at(t) - (1.0 - s) * x.at(t)).abs() < 1e-14);
        }
    }
}
