//! The dense output of one state as a polynomial of time, and what it encloses over a part of the step.
//!
//! In: coefficients from an integrator. Out: bounds of the value and of the slope. They come from the Taylor expansion about the
//! middle of the part, which is nearly exact where the part is short.

use crate::interval::Interval;

/// The highest degree of a dense output.
pub const DEGREE: usize = 6;

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
