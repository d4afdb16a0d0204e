//! Taylor coefficients of a value over a stretch of time: what a slope alone encloses too widely.
//!
//! ```text
//! z = (u1 - u2)/1e-5          u1, u2 of 300 V that move together: the slopes of both are enclosed over a step, and their difference keeps nothing
//!                             of that they are nearly the same; of the fourth derivatives there is little to lose
//! ```
//!
//! In: series of the operands in s, which is -1 where the stretch begins and 1 where it ends. Out: that of the result, by the usual recurrences.
//! A series is computed twice: in the middle, where its coefficients are known to rounding, and over the whole stretch, for the
//! coefficient of the remainder (Moore, Kearfott, Cloud: *Introduction to Interval Analysis*, 2009, section 9.3).
//!
//! Where a function has a kink or may jump the coefficients behind the value are unknown.

use saltus_numerics::Interval;
use saltus_program::{BinaryFn, UnaryFn};

use super::dual::Dual;

/// The order of the remainder.
pub(super) const ORDER: usize = 4;

/// Whole powers up to this one are products.
const LARGEST_PRODUCT: f64 = 4.0;

/// Coefficients of 1, s, s², …; those from `n` on are zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Series {
    pub c: [Interval; ORDER + 1],
    pub n: usize,
}

impl Series {
    pub const UNKNOWN: Series = Series { c: [Interval::UNKNOWN; ORDER + 1], n: ORDER + 1 };

    pub fn constant(value: Interval) -> Self {
        let mut c = [Interval::ZERO; ORDER + 1];
        c[0] = value;
        Series { c, n: 1 }
    }

    pub fn new(c: [Interval; ORDER + 1]) -> Self {
        let n = c.iter().rposition(|c| *c != Interval::ZERO).map_or(1, |last| last + 1);
        Series { c, n }
    }

    /// A value that is constant as long as it is known exactly.
    fn stepwise(value: Interval) -> Self {
        if value.is_point() { Series::constant(value) } else { Series::jumping(value) }
    }

    /// Only the value is known.
    fn jumping(value: Interval) -> Self {
        let mut all = Series::UNKNOWN;
        all.c[0] = value;
        all
    }

    fn is_still(&self) -> bool {
        self.n == 1
    }

    /// Coefficients from those of lower order, up to the remainder.
    fn by(first: Interval, mut next: impl FnMut(&[Interval; ORDER + 1], usize) -> Interval) -> Self {
        let mut c = [Interval::ZERO; ORDER + 1];
        c[0] = first;
        for k in 1..=ORDER {
            c[k] = next(&c, k);
        }
        Series { c, n: ORDER + 1 }
    }

    fn scaled(&self, by: Interval) -> Self {
        let mut all = *self;
        all.c[..self.n].iter_mut().for_each(|c| *c = *c * by);
        all
    }

    fn negated(&self) -> Self {
        let mut all = *self;
        all.c[..self.n].iter_mut().for_each(|c| *c = -*c);
        all
    }

    fn plus(&self, other: &Series) -> Self {
        let mut all = if self.n >= other.n { *self } else { *other };
        for k in 0..self.n.min(other.n) {
            all.c[k] = self.c[k] + other.c[k];
        }
        all
    }

    fn minus(&self, other: &Series) -> Self {
        self.plus(&other.negated())
    }

    fn times(&self, other: &Series) -> Self {
        match (self.n, other.n) {
            (1, _) => return other.scaled(self.c[0]),
            (_, 1) => return self.scaled(other.c[0]),
            _ => {}
        }
        let n = (self.n + other.n - 1).min(ORDER + 1);
        let mut c = [Interval::ZERO; ORDER + 1];
        for (k, c) in c.iter_mut().enumerate().take(n) {
            for j in k.saturating_sub(other.n - 1)..=k.min(self.n - 1) {
                *c = *c + self.c[j] * other.c[k - j];
            }
        }
        Series { c, n }
    }

    pub fn square(&self) -> Self {
        let mut all = self.times(self);
        all.c[0] = self.c[0].square();
        all
    }

    fn over(&self, other: &Series) -> Self {
        if other.is_still() {
            let mut all = *self;
            all.c[..self.n].iter_mut().for_each(|c| *c = *c / other.c[0]);
            return all;
        }
        Series::by(self.c[0] / other.c[0], |q, k| {
            let known = (1..other.n.min(k + 1)).fold(Interval::ZERO, |sum, j| sum + q[k - j] * other.c[j]);
            (self.c[k] - known) / other.c[0]
        })
    }

    /// The series of a function with the value `first` here and the slope `by` along `self`.
    fn with_slope(&self, first: Interval, by: &Series) -> Self {
        Series::by(first, |_, k| self.weighted(&by.c, k))
    }

    /// `Σ j·c[j]·by[k-j]/k`: the coefficient of order k of a function whose derivative is that of this one times `by`.
    fn weighted(&self, by: &[Interval; ORDER + 1], k: usize) -> Interval {
        let sum = (1..self.n.min(k + 1))
            .fold(Interval::ZERO, |sum, j| sum + Interval::point(j as f64) * self.c[j] * by[k - j]);
        sum / Interval::point(k as f64)
    }

    /// Two functions that are each other's derivative, the second one with the sign `sign`.
    fn pair(&self, first: Interval, second: Interval, sign: f64) -> (Series, Series) {
        let (mut a, mut b) = (Series::constant(first), Series::constant(second));
        (a.n, b.n) = (ORDER + 1, ORDER + 1);
        for k in 1..=ORDER {
            a.c[k] = self.weighted(&b.c, k);
            b.c[k] = Interval::point(sign) * self.weighted(&a.c, k);
        }
        (a, b)
    }

    /// A function y with the derivative `1 + sign·y²`.
    fn tangent(&self, first: Interval, sign: f64) -> Self {
        let (one, sign) = (Interval::point(1.0), Interval::point(sign));
        let mut slope = [Interval::ZERO; ORDER + 1];
        slope[0] = one + sign * first.square();
        let mut y = Series::constant(first);
        y.n = ORDER + 1;
        for k in 1..=ORDER {
            y.c[k] = self.weighted(&slope, k);
            let square = (0..=k).fold(Interval::ZERO, |sum, j| sum + y.c[j] * y.c[k - j]);
            slope[k] = sign * square;
        }
        y
    }

    fn root(&self) -> Self {
        let root = self.c[0].sqrt();
        let twice = Interval::point(2.0) * root;
        Series::by(root, |r, k| {
            let known = (1..k).fold(Interval::ZERO, |sum, j| sum + r[j] * r[k - j]);
            (self.c[k] - known) / twice
        })
    }

    fn exponential(&self) -> Self {
        Series::by(self.c[0].exp(), |e, k| self.weighted(e, k))
    }

    fn logarithm(&self) -> Self {
        let inverse = Series::constant(Interval::point(1.0)).over(self);
        self.with_slope(self.c[0].ln(), &inverse)
    }

    pub fn unary(&self, function: UnaryFn) -> Series {
        let x = self.c[0];
        let one = Series::constant(Interval::point(1.0));
        if self.is_still() {
            return Series::constant(Dual { value: x, slope: Interval::ZERO }.unary(function).value);
        }
        let circle = |sign: f64| {
            let sum = one.plus(&self.square().scaled(Interval::point(sign)));
            one.over(&sum.root())
        };
        match function {
            UnaryFn::Negate => self.negated(),
            UnaryFn::Not => Series::stepwise(x.negation()),
            UnaryFn::Sin => self.pair(x.sin(), x.cos(), -1.0).0,
            UnaryFn::Cos => self.pair(x.sin(), x.cos(), -1.0).1,
            UnaryFn::Tan => self.tangent(x.tan(), 1.0),
            UnaryFn::Asin => self.with_slope(x.asin(), &circle(-1.0)),
            UnaryFn::Acos => self.with_slope(x.acos(), &circle(-1.0).negated()),
            UnaryFn::Atan => self.with_slope(x.atan(), &one.over(&one.plus(&self.square()))),
            UnaryFn::Sinh => self.pair(x.sinh(), x.cosh(), 1.0).0,
            UnaryFn::Cosh => self.pair(x.sinh(), x.cosh(), 1.0).1,
            UnaryFn::Tanh => self.tangent(x.tanh(), -1.0),
            UnaryFn::Exp => self.exponential(),
            UnaryFn::Log => self.logarithm(),
            UnaryFn::Log10 => {
                let natural = self.logarithm();
                let mut all = natural.over(&Series::constant(Interval::point(std::f64::consts::LN_10)));
                all.c[0] = x.log10();
                all
            }
            UnaryFn::Sqrt => self.root(),
            UnaryFn::Abs if x.lo > 0.0 => *self,
            UnaryFn::Abs if x.hi < 0.0 => self.negated(),
            UnaryFn::Abs => Series::jumping(x.abs()),
            UnaryFn::Sign => Series::stepwise(x.sign()),
            UnaryFn::Floor => Series::stepwise(x.floor()),
            UnaryFn::Ceil => Series::stepwise(x.ceil()),
            UnaryFn::Asinh => self.with_slope(x.asinh(), &circle(1.0)),
            UnaryFn::Atanh => self.with_slope(x.atanh(), &one.over(&one.minus(&self.square()))),
        }
    }

    pub fn binary(&self, function: BinaryFn, other: &Series) -> Series {
        let (a, b) = (self.c[0], other.c[0]);
        match function {
            BinaryFn::Add => self.plus(other),
            BinaryFn::Sub => self.minus(other),
            BinaryFn::Mul => self.times(other),
            BinaryFn::Div => self.over(other),
            BinaryFn::Pow => self.power(other),
            BinaryFn::Atan2 => self.angle(other),
            BinaryFn::Mod => self.without_multiple(a.modulo(b), (a / b).floor(), other),
            BinaryFn::Rem => self.without_multiple(a.remainder(b), a.whole_quotient(b), other),
            BinaryFn::Min => self.extreme(other, a.min(b), a.hi < b.lo, b.hi < a.lo),
            BinaryFn::Max => self.extreme(other, a.max(b), a.lo > b.hi, b.lo > a.hi),
            BinaryFn::IntDiv => Series::stepwise(a.whole_quotient(b)),
            BinaryFn::Less => Series::stepwise(a.less(b)),
            BinaryFn::LessEqual => Series::stepwise(a.less_equal(b)),
            BinaryFn::Greater => Series::stepwise(b.less(a)),
            BinaryFn::GreaterEqual => Series::stepwise(b.less_equal(a)),
            BinaryFn::Equal => Series::stepwise(a.equal(b)),
            BinaryFn::NotEqual => Series::stepwise(a.equal(b).negation()),
            BinaryFn::And => Series::stepwise(a.and(b)),
            BinaryFn::Or => Series::stepwise(a.or(b)),
        }
    }

    /// `if self then yes else no`
    pub fn select(&self, yes: &Series, no: &Series) -> Series {
        let condition = self.c[0].is_true();
        match condition.is_known() {
            false => Series::UNKNOWN,
            true if condition.lo == 1.0 => *yes,
            true if condition.hi == 0.0 => *no,
            true => Series::jumping(yes.c[0].hull(no.c[0])),
        }
    }

    fn power(&self, exponent: &Series) -> Series {
        let (x, y) = (self.c[0], exponent.c[0]);
        let value = x.pow(y);
        if self.is_still() && exponent.is_still() {
            return Series::constant(value);
        }
        if !exponent.is_still() {
            let mut all = exponent.times(&self.logarithm()).exponential();
            all.c[0] = value;
            return all;
        }
        if y.is_point() && y.lo.fract() == 0.0 && (1.0..=LARGEST_PRODUCT).contains(&y.lo) {
            let square = self.square();
            let mut all = match y.lo {
                1.0 => *self,
                2.0 => square,
                3.0 => square.times(self),
                _ => square.square(),
            };
            all.c[0] = value;
            return all;
        }
        Series::by(value, |p, k| {
            let sum = (1..self.n.min(k + 1)).fold(Interval::ZERO, |sum, j| {
                let factor = Interval::point(j as f64) * y - Interval::point((k - j) as f64);
                sum + factor * self.c[j] * p[k - j]
            });
            sum / (Interval::point(k as f64) * x)
        })
    }

    fn angle(&self, x: &Series) -> Series {
        let value = self.c[0].atan2(x.c[0]);
        let crosses_cut = x.c[0].lo <= 0.0 && self.c[0].lo <= 0.0 && self.c[0].hi >= 0.0;
        if crosses_cut {
            return Series::jumping(value);
        }
        let turn = self.derivative().times(x).minus(&self.times(&x.derivative()));
        let rate = turn.over(&self.square().plus(&x.square()));
        Series::by(value, |_, k| rate.c[k - 1] / Interval::point(k as f64))
    }

    fn derivative(&self) -> Series {
        let mut c = [Interval::ZERO; ORDER + 1];
        for k in 1..self.n {
            c[k - 1] = Interval::point(k as f64) * self.c[k];
        }
        // What follows from the last coefficient is not used: a quotient of derivatives is integrated again.
        Series { c, n: self.n.max(1) }
    }

    /// `self - whole * other`, which jumps with `whole`.
    fn without_multiple(&self, value: Interval, whole: Interval, other: &Series) -> Series {
        if !whole.is_point() {
            return Series::jumping(value);
        }
        let mut all = self.minus(&other.scaled(whole));
        all.c[0] = value;
        all
    }

    fn extreme(&self, other: &Series, value: Interval, is_self: bool, is_other: bool) -> Series {
        match (is_self, is_other) {
            (true, _) => *self,
            (_, true) => *other,
            _ => Series::jumping(value),
        }
    }
}

/// A crossing function over a stretch of time: a polynomial and a remainder.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Expansion {
    pub stretch: Interval,
    middle: f64,
    radius: f64,
    /// The last coefficient is that of the remainder.
    c: [Interval; ORDER + 1],
    pub scale: f64,
}

/// The times of a stretch in units of s.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Units {
    pub middle: f64,
    pub radius: f64,
}

impl Units {
    pub fn of(t: Interval) -> Self {
        let middle = t.middle();
        // Rounded up: all of the stretch is between -1 and 1.
        let radius = ((t.hi - middle).max(middle - t.lo) * (1.0 + 4.0 * f64::EPSILON)).max(f64::MIN_POSITIVE);
        Units { middle, radius }
    }
}

impl Expansion {
    /// From the series in the middle and over all of the stretch; `None` if something is not known.
    pub(super) fn new(t: Interval, middle: &Series, over: &Series, scale: f64) -> Option<Self> {
        let mut c = middle.c;
        c[ORDER] = over.c[ORDER];
        let is_known = c.iter().all(|c| c.is_known());
        let Units { middle, radius } = Units::of(t);
        is_known.then_some(Expansion { stretch: t, middle, radius, c, scale })
    }

    pub fn covers(&self, t: Interval) -> bool {
        self.stretch.lo <= t.lo && t.hi <= self.stretch.hi
    }

    /// Values, slopes by s, and what the remainder contributes to the values, in a part of the stretch.
    pub fn over(&self, t: Interval) -> (Interval, Interval, Interval) {
        let s = (t - Interval::point(self.middle)) / Interval::point(self.radius);
        let middle = Interval::point(s.middle());
        let r = Interval::around(0.0, (s - middle).magnitude());
        let mut d = self.c;
        d[ORDER] = Interval::ZERO;
        for k in 0..ORDER - 1 {
            for j in (k..ORDER - 1).rev() {
                d[j] = d[j] + middle * d[j + 1];
            }
        }
        let (mut value, mut slope) = (d[ORDER - 1], Interval::point((ORDER - 1) as f64) * d[ORDER - 1]);
        for k in (0..ORDER - 1).rev() {
            value = d[k] + r * value;
            if k > 0 {
                slope = Interval::point(k as f64) * d[k] + r * slope;
            }
        }
        let power = |n: usize| s.pow(Interval::point(n as f64));
        let remainder = self.c[ORDER] * power(ORDER);
        let remainder_slope = Interval::point(ORDER as f64) * self.c[ORDER] * power(ORDER - 1);
        (value + remainder, slope + remainder_slope, remainder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The series of the number t·scale + offset around the middle of a stretch, in the middle or over all of it.
    fn time(t: Interval, at: Interval) -> Series {
        let mut c = [Interval::ZERO; ORDER + 1];
        (c[0], c[1]) = (at, Interval::point(Units::of(t).radius));
        Series::new(c)
    }

    /// The slope at a point from values on one side of it, of second order like central differences.
    fn one_sided(value: impl Fn(f64) -> f64, at: f64, step: f64) -> f64 {
        (4.0 * value(at + step) - value(at + 2.0 * step) - 3.0 * value(at)) / (2.0 * step)
    }

    /// Enclosures of a function of time over a stretch and its parts contain its values.
    fn check(name: &str, t: Interval, of: impl Fn(&Series) -> Series, value: impl Fn(f64) -> f64) {
        let (middle, over) = (of(&time(t, Interval::point(t.middle()))), of(&time(t, t)));
        let Some(expansion) = Expansion::new(t, &middle, &over, 1.0) else { return };
        for k in 0..=8 {
            let at = (t.lo + (t.hi - t.lo) * f64::from(k) / 8.0).min(t.hi);
            let exact = value(at);
            if exact.is_nan() {
                return;
            }
            for part in [t, Interval::point(at), Interval::new(t.lo, at), Interval::new(at, t.hi)] {
                let (found, slope, _) = expansion.over(part);
                let slack = 1e-13 * exact.abs();
                assert!(
                    found.lo - slack <= exact && exact <= found.hi + slack,
                    "{name} at {at} in {part:?}: {found:?} misses {exact}"
                );
                let step = 1e-5 * (t.hi - t.lo);
                // Nothing is claimed outside of the stretch: ceil is constant in [-3.05, -3] and jumps beyond.
                let quotient = match (at - step < t.lo, at + step > t.hi) {
                    (true, _) => one_sided(&value, at, step),
                    (_, true) => one_sided(&value, at, -step),
                    _ => (value(at + step) - value(at - step)) / (2.0 * step),
                };
                let rate = quotient * Units::of(t).radius;
                let slack = 1e-5 * (rate.abs() + exact.abs());
                let is_inside = slope.lo - slack <= rate && rate <= slope.hi + slack;
                assert!(rate.is_nan() || is_inside, "{name}' at {at} in {part:?}: {slope:?} misses {rate}");
            }
        }
        let (found, ..) = expansion.over(Interval::point(t.middle()));
        assert!(found.hi - found.lo < 1e-9 * (1.0 + found.magnitude()), "{name} is wide in the middle: {found:?}");
    }

    #[test]
    fn expansions_enclose_functions_of_one_number() {
        use UnaryFn::*;
        let functions = [
            Negate, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Log, Log10, Sqrt, Abs, Sign, Floor, Ceil,
            Asinh, Atanh,
        ];
        for function in functions {
            for k in -40..40 {
                let t = Interval::new(0.09 * f64::from(k) + 0.001, 0.09 * f64::from(k) + 0.06);
                check(&format!("{function:?}"), t, |x| x.unary(function), |x| function.apply(x));
            }
        }
    }

    #[test]
    fn expansions_enclose_functions_of_two_numbers() {
        use BinaryFn::*;
        for function in [Add, Sub, Mul, Div, Pow, Atan2, IntDiv, Mod, Rem, Min, Max] {
            for k in -30..30 {
                let t = Interval::new(0.11 * f64::from(k) + 0.003, 0.11 * f64::from(k) + 0.05);
                for c in [-1.7, 0.6, 2.0, 3.0, 4.0, 7.0] {
                    let name = format!("{function:?} with {c}");
                    let constant = Series::constant(Interval::point(c));
                    check(&name, t, |x| x.binary(function, &constant), |x| function.apply(x, c));
                    check(&name, t, |x| constant.binary(function, x), |x| function.apply(c, x));
                    // Both move.
                    let other = |x: &Series| x.times(x).plus(&constant);
                    check(&name, t, |x| x.binary(function, &other(x)), |x| function.apply(x, x * x + c));
                    check(&name, t, |x| other(x).binary(function, x), |x| function.apply(x * x + c, x));
                }
            }
        }
    }

    #[test]
    fn what_cancels_is_narrow() {
        // exp(t) - exp(t + 1e-6) over 0.2: the slopes alone leave 0.2 of the values, the expansion little more than the difference
        let t = Interval::new(0.0, 0.2);
        let of = |x: &Series| {
            let later = x.plus(&Series::constant(Interval::point(1e-6)));
            x.unary(UnaryFn::Exp).minus(&later.unary(UnaryFn::Exp))
        };
        let (middle, over) = (of(&time(t, Interval::point(t.middle()))), of(&time(t, t)));
        let expansion = Expansion::new(t, &middle, &over, 1.0).expect("smooth");
        let (found, ..) = expansion.over(t);
        assert!(found.hi - found.lo < 4e-6, "{found:?}");
    }
}
