//! Intervals of real numbers with outward rounding: whatever the arguments are inside of theirs, the exact result and the one
//! computed in `f64` are inside of the result.
//!
//! Bounds of `+ - * /` and `sqrt` are moved by one unit in the last place unless they are exact; those of functions of the
//! mathematical library, which are not correctly rounded, by [`LIBRARY_ULPS`]. Where a function has no value (a logarithm of
//! something that may be negative, a quotient whose divisor may be zero) the result is [`Interval::UNKNOWN`], and so is
//! everything computed from it. (Moore, Kearfott, Cloud: *Introduction to Interval Analysis*, 2009.)

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Error bound of functions of the mathematical library, in units in the last place. The worst in use are said to be below 2
/// (Gladman, Innocente, Mather, Zimmermann: *Accuracy of Mathematical Functions*, 2024); twice as much is allowed.
const LIBRARY_ULPS: f64 = 4.0;

/// All real numbers from `lo` to `hi`; unknown if the bounds are not numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    pub lo: f64,
    pub hi: f64,
}

impl Interval {
    /// Perhaps not even defined.
    pub const UNKNOWN: Interval = Interval { lo: f64::NAN, hi: f64::NAN };
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    const ONE: Interval = Interval { lo: 1.0, hi: 1.0 };
    const EITHER: Interval = Interval { lo: 0.0, hi: 1.0 };

    #[inline]
    pub fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi { Interval { lo, hi } } else { Interval::UNKNOWN }
    }

    #[inline]
    pub fn point(x: f64) -> Self {
        if x.is_finite() { Interval { lo: x, hi: x } } else { Interval::UNKNOWN }
    }

    /// `middle` and what is up to `radius` away from it.
    pub fn around(middle: f64, radius: f64) -> Self {
        Interval::new(sub_down(middle, radius), add_up(middle, radius))
    }

    #[inline]
    pub fn is_known(self) -> bool {
        self.lo <= self.hi
    }

    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// A number near the middle.
    pub fn middle(self) -> f64 {
        let middle = 0.5 * self.lo + 0.5 * self.hi;
        middle.max(self.lo).min(self.hi)
    }

    /// The same times any number from -1 to 1.
    #[inline]
    pub fn of_either_sign(self) -> Interval {
        let most = self.magnitude();
        Interval { lo: -most, hi: most }
    }

    /// The largest magnitude.
    #[inline]
    pub fn magnitude(self) -> f64 {
        if self.is_known() { self.lo.abs().max(self.hi.abs()) } else { f64::NAN }
    }

    /// The smallest interval that contains both.
    pub fn hull(self, other: Interval) -> Interval {
        self.both(other, |a, b| Interval { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) })
    }

    /// What is in both; they must enclose the same number.
    pub fn intersect(self, other: Interval) -> Interval {
        match (self.is_known(), other.is_known()) {
            (true, true) => {
                let both = Interval { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) };
                if both.is_known() { both } else { self }
            }
            (true, false) => self,
            _ => other,
        }
    }

    #[inline]
    fn both(self, other: Interval, act: impl FnOnce(Interval, Interval) -> Interval) -> Interval {
        if self.is_known() && other.is_known() { act(self, other) } else { Interval::UNKNOWN }
    }

    #[inline]
    fn each(self, act: impl FnOnce(Interval) -> Interval) -> Interval {
        if self.is_known() { act(self) } else { Interval::UNKNOWN }
    }

    /// A function that does not decrease.
    fn increasing(self, function: impl Fn(f64) -> f64) -> Interval {
        self.each(|x| Interval::new(library_down(function(x.lo)), library_up(function(x.hi))))
    }

    pub fn min(self, other: Interval) -> Interval {
        self.both(other, |a, b| Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) })
    }

    pub fn max(self, other: Interval) -> Interval {
        self.both(other, |a, b| Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) })
    }

    pub fn abs(self) -> Interval {
        self.each(|x| {
            if x.lo >= 0.0 {
                x
            } else if x.hi <= 0.0 {
                -x
            } else {
                Interval { lo: 0.0, hi: x.hi.max(-x.lo) }
            }
        })
    }

    pub fn sign(self) -> Interval {
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        self.each(|x| Interval { lo: sign(x.lo), hi: sign(x.hi) })
    }

    pub fn floor(self) -> Interval {
        self.each(|x| Interval { lo: x.lo.floor(), hi: x.hi.floor() })
    }

    pub fn ceil(self) -> Interval {
        self.each(|x| Interval { lo: x.lo.ceil(), hi: x.hi.ceil() })
    }

    fn trunc(self) -> Interval {
        self.each(|x| Interval { lo: x.lo.trunc(), hi: x.hi.trunc() })
    }

    pub fn square(self) -> Interval {
        let x = self.abs();
        x.each(|x| Interval { lo: mul_down(x.lo, x.lo).max(0.0), hi: mul_up(x.hi, x.hi) })
    }

    pub fn sqrt(self) -> Interval {
        self.each(|x| {
            if x.lo < 0.0 {
                return Interval::UNKNOWN;
            }
            let exact = |x: f64| x == 0.0 || x == 1.0;
            let lo = if exact(x.lo) { x.lo } else { x.lo.sqrt().next_down() };
            let hi = if exact(x.hi) { x.hi } else { x.hi.sqrt().next_up() };
            Interval { lo, hi }
        })
    }

    pub fn exp(self) -> Interval {
        let e = self.increasing(f64::exp);
        e.each(|e| Interval { lo: e.lo.max(0.0), hi: e.hi })
    }

    pub fn ln(self) -> Interval {
        if self.lo > 0.0 { self.increasing(f64::ln) } else { Interval::UNKNOWN }
    }

    pub fn log10(self) -> Interval {
        if self.lo > 0.0 { self.increasing(f64::log10) } else { Interval::UNKNOWN }
    }

    pub fn sin(self) -> Interval {
        self.each(|x| wave(x, f64::sin, FRAC_PI_2, -FRAC_PI_2))
    }

    pub fn cos(self) -> Interval {
        self.each(|x| wave(x, f64::cos, 0.0, PI))
    }

    pub fn tan(self) -> Interval {
        self.each(|x| {
            if meets(x, FRAC_PI_2, PI) {
                return Interval::UNKNOWN;
            }
            Interval::new(library_down(x.lo.tan()), library_up(x.hi.tan()))
        })
    }

    pub fn asin(self) -> Interval {
        if self.lo >= -1.0 && self.hi <= 1.0 { self.increasing(f64::asin) } else { Interval::UNKNOWN }
    }

    pub fn acos(self) -> Interval {
        let is_defined = self.lo >= -1.0 && self.hi <= 1.0;
        if is_defined { (-self).increasing(|x| (-x).acos()) } else { Interval::UNKNOWN }
    }

    pub fn atan(self) -> Interval {
        self.increasing(f64::atan)
    }

    pub fn sinh(self) -> Interval {
        self.increasing(f64::sinh)
    }

    pub fn cosh(self) -> Interval {
        let x = self.abs().increasing(f64::cosh);
        x.each(|x| Interval { lo: x.lo.max(1.0), hi: x.hi })
    }

    pub fn tanh(self) -> Interval {
        let x = self.increasing(f64::tanh);
        x.each(|x| Interval { lo: x.lo.max(-1.0), hi: x.hi.min(1.0) })
    }

    pub fn asinh(self) -> Interval {
        // The formula of the library loses digits near zero, where the function is steeper than any other error.
        self.each(|x| {
            let slack = |x: f64| f64::EPSILON * (x.abs() + f64::MIN_POSITIVE) * 8.0;
            Interval::new(x.lo.asinh() - slack(x.lo), x.hi.asinh() + slack(x.hi))
        })
    }

    pub fn atanh(self) -> Interval {
        if self.lo > -1.0 && self.hi < 1.0 { self.increasing(f64::atanh) } else { Interval::UNKNOWN }
    }

    /// `self` to the power of `exponent`.
    pub fn pow(self, exponent: Interval) -> Interval {
        self.both(exponent, |x, y| {
            if y.is_point() && y.lo.fract() == 0.0 {
                return whole_power(x, y.lo);
            }
            let is_defined = x.lo > 0.0 || x.lo == 0.0 && y.lo > 0.0;
            if !is_defined {
                return Interval::UNKNOWN;
            }
            // Monotonic in each argument: the extremes are at corners.
            let corners = [(x.lo, y.lo), (x.lo, y.hi), (x.hi, y.lo), (x.hi, y.hi)].map(|(x, y)| x.powf(y));
            let lo = corners.into_iter().fold(f64::INFINITY, f64::min);
            let hi = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
            Interval::new(library_down(lo).max(0.0), library_up(hi))
        })
    }

    /// The angle of the point (`x`, `self`).
    pub fn atan2(self, x: Interval) -> Interval {
        self.both(x, |y, x| {
            let has_cut = x.lo <= 0.0 && y.lo <= 0.0 && y.hi >= 0.0;
            if has_cut {
                // Across the negative axis it jumps; at the origin it is anything.
                return if x.is_point() && y.is_point() {
                    Interval::point(y.lo.atan2(x.lo)).widened()
                } else {
                    Interval { lo: library_down(-PI), hi: library_up(PI) }
                };
            }
            let corners = [(y.lo, x.lo), (y.lo, x.hi), (y.hi, x.lo), (y.hi, x.hi)].map(|(y, x)| y.atan2(x));
            let lo = corners.into_iter().fold(f64::INFINITY, f64::min);
            let hi = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
            Interval::new(library_down(lo), library_up(hi))
        })
    }

    fn widened(self) -> Interval {
        self.each(|x| Interval { lo: library_down(x.lo), hi: library_up(x.hi) })
    }

    /// The quotient without its fraction.
    pub fn whole_quotient(self, other: Interval) -> Interval {
        (self / other).trunc()
    }

    /// `a - floor(a / b) * b`
    pub fn modulo(self, other: Interval) -> Interval {
        let whole = (self / other).floor();
        let result = self - whole * other;
        // Where the quotient passes an integer the result is anywhere below the divisor.
        if whole.is_known() && !whole.is_point() && other.lo > 0.0 {
            result.intersect(Interval { lo: -f64::EPSILON * self.magnitude(), hi: other.hi.next_up() })
        } else {
            result
        }
    }

    /// `a - div(a, b) * b`
    pub fn remainder(self, other: Interval) -> Interval {
        self - self.whole_quotient(other) * other
    }

    fn truth(is_true: bool, is_false: bool) -> Interval {
        match (is_true, is_false) {
            (true, _) => Interval::ONE,
            (_, true) => Interval::ZERO,
            _ => Interval::EITHER,
        }
    }

    pub fn less(self, other: Interval) -> Interval {
        self.both(other, |a, b| Interval::truth(a.hi < b.lo, a.lo >= b.hi))
    }

    pub fn less_equal(self, other: Interval) -> Interval {
        self.both(other, |a, b| Interval::truth(a.hi <= b.lo, a.lo > b.hi))
    }

    pub fn equal(self, other: Interval) -> Interval {
        self.both(other, |a, b| {
            Interval::truth(a.is_point() && b.is_point() && a.lo == b.lo, a.hi < b.lo || a.lo > b.hi)
        })
    }

    /// Is the number other than zero?
    pub fn is_true(self) -> Interval {
        self.each(|x| Interval::truth(!x.contains(0.0), x.lo == 0.0 && x.hi == 0.0))
    }

    pub fn negation(self) -> Interval {
        self.is_true().each(|x| Interval { lo: 1.0 - x.hi, hi: 1.0 - x.lo })
    }

    pub fn and(self, other: Interval) -> Interval {
        match (self.is_true(), other.is_true()) {
            (a, b) if a == Interval::ZERO || b == Interval::ZERO => Interval::ZERO,
            (a, b) => a.min(b),
        }
    }

    pub fn or(self, other: Interval) -> Interval {
        match (self.is_true(), other.is_true()) {
            (a, b) if a == Interval::ONE || b == Interval::ONE => Interval::ONE,
            (a, b) => a.max(b),
        }
    }
}

impl Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Interval;

    #[inline]
    fn add(self, other: Interval) -> Interval {
        Interval::new(add_down(self.lo, other.lo), add_up(self.hi, other.hi))
    }
}

impl Sub for Interval {
    type Output = Interval;

    #[inline]
    fn sub(self, other: Interval) -> Interval {
        Interval::new(sub_down(self.lo, other.hi), sub_up(self.hi, other.lo))
    }
}

impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        self.both(other, |a, b| {
            // Rounding does not change the order of products: it is enough to move the extremes. Where one of them is zero or infinite each
            // product has to be looked at.
            let products = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
            let (mut least, mut most) = (products[0], products[0]);
            for product in products {
                least = if product < least { product } else { least };
                most = if product > most { product } else { most };
            }
            if least != 0.0 && most != 0.0 && least.abs() < f64::INFINITY && most.abs() < f64::INFINITY {
                return Interval { lo: least.next_down(), hi: most.next_up() };
            }
            let lo = mul_down(a.lo, b.lo).min(mul_down(a.lo, b.hi)).min(mul_down(a.hi, b.lo)).min(mul_down(a.hi, b.hi));
            let hi = mul_up(a.lo, b.lo).max(mul_up(a.lo, b.hi)).max(mul_up(a.hi, b.lo)).max(mul_up(a.hi, b.hi));
            Interval::new(lo, hi)
        })
    }
}

impl Div for Interval {
    type Output = Interval;

    fn div(self, other: Interval) -> Interval {
        self.both(other, |a, b| {
            if b.contains(0.0) {
                return Interval::UNKNOWN;
            }
            let quotients = [a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi];
            let lo = quotients.into_iter().fold(f64::INFINITY, f64::min);
            let hi = quotients.into_iter().fold(f64::NEG_INFINITY, f64::max);
            let is_zero = |x: f64| x == 0.0 && (a.lo == 0.0 || a.hi == 0.0);
            Interval::new(if is_zero(lo) { 0.0 } else { lo.next_down() }, if is_zero(hi) { 0.0 } else { hi.next_up() })
        })
    }
}

/// What rounding has taken from the sum `s = a + b` (Knuth's two-sum).
#[inline]
fn lost(a: f64, b: f64, s: f64) -> f64 {
    let from_b = s - a;
    (a - (s - from_b)) + (b - from_b)
}

#[inline]
fn add_down(a: f64, b: f64) -> f64 {
    let s = a + b;
    if lost(a, b, s) >= 0.0 { s } else { s.next_down() }
}

#[inline]
fn add_up(a: f64, b: f64) -> f64 {
    let s = a + b;
    if lost(a, b, s) <= 0.0 { s } else { s.next_up() }
}

#[inline]
fn sub_down(a: f64, b: f64) -> f64 {
    add_down(a, -b)
}

#[inline]
fn sub_up(a: f64, b: f64) -> f64 {
    add_up(a, -b)
}

#[inline]
fn mul_down(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { (a * b).next_down() }
}

#[inline]
fn mul_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { (a * b).next_up() }
}

/// Below what the library may have meant by `x`.
fn library_down(x: f64) -> f64 {
    if x.is_infinite() && x > 0.0 {
        f64::MAX
    } else {
        x - (x.abs() * (LIBRARY_ULPS * f64::EPSILON) + f64::MIN_POSITIVE)
    }
}

fn library_up(x: f64) -> f64 {
    -library_down(-x)
}

/// May `x` contain one of `first + k * period`?
fn meets(x: Interval, first: f64, period: f64) -> bool {
    let (a, b) = ((x.lo - first) / period, (x.hi - first) / period);
    let slack = |k: f64| 4.0 * f64::EPSILON * k.abs() + 2.0 * f64::EPSILON;
    let (a, b) = (a - slack(a), b + slack(b));
    let is_short = b - a < 1.0;
    // Also true if these are not numbers.
    a.ceil() <= b || !is_short
}

/// A function of the library with values between -1 and 1, which it has at `top` and `bottom` and a period of 2π from these.
fn wave(x: Interval, function: fn(f64) -> f64, top: f64, bottom: f64) -> Interval {
    let (a, b) = (function(x.lo), function(x.hi));
    let lo = if meets(x, bottom, TAU) { -1.0 } else { library_down(a.min(b)).max(-1.0) };
    let hi = if meets(x, top, TAU) { 1.0 } else { library_up(a.max(b)).min(1.0) };
    Interval::new(lo, hi)
}

/// `x` to the power of an integer.
fn whole_power(x: Interval, n: f64) -> Interval {
    if n == 0.0 {
        return Interval::ONE;
    }
    if n == 1.0 {
        return x;
    }
    if n == 2.0 {
        return x.square();
    }
    if n < 0.0 && x.contains(0.0) {
        return Interval::UNKNOWN;
    }
    let is_even = n % 2.0 == 0.0;
    let x = if is_even { x.abs() } else { x };
    let (a, b) = (x.lo.powf(n), x.hi.powf(n));
    let exact = |x: f64, wide: f64| if x == 0.0 || x == 1.0 { x } else { wide };
    let (lo, hi) = (a.min(b), a.max(b));
    Interval::new(exact(lo, library_down(lo)), exact(hi, library_up(hi)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all magnitudes and signs, the same in every run.
    struct Random(u64);

    impl Random {
        fn bits(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn unit(&mut self) -> f64 {
            (self.bits() >> 11) as f64 / (1u64 << 53) as f64
        }

        fn number(&mut self) -> f64 {
            match self.bits() % 8 {
                0 => 0.0,
                1 => (self.bits() % 7) as f64 - 3.0,
                2 => 1e3 * (self.unit() - 0.5),
                3 => (self.unit() - 0.5) * 10f64.powf(20.0 * (self.unit() - 0.5)),
                _ => 8.0 * (self.unit() - 0.5),
            }
        }

        fn interval(&mut self) -> Interval {
            let a = self.number();
            let width = match self.bits() % 4 {
                0 => 0.0,
                1 => 1e-9 * a.abs(),
                2 => self.unit(),
                _ => self.number().abs(),
            };
            Interval::new(a, a + width)
        }

        fn inside(&mut self, x: Interval) -> f64 {
            match self.bits() % 5 {
                0 => x.lo,
                1 => x.hi,
                _ => (x.lo + self.unit() * (x.hi - x.lo)).clamp(x.lo, x.hi),
            }
        }
    }

    const ROUNDS: usize = 20_000;

    #[test]
    fn functions_of_one_number_are_enclosed() {
        type Case = (&'static str, fn(Interval) -> Interval, fn(f64) -> f64);
        let cases: [Case; 20] = [
            ("neg", |x| -x, |x| -x),
            ("abs", Interval::abs, f64::abs),
            ("sin", Interval::sin, f64::sin),
            ("cos", Interval::cos, f64::cos),
            ("tan", Interval::tan, f64::tan),
            ("asin", Interval::asin, f64::asin),
            ("acos", Interval::acos, f64::acos),
            ("atan", Interval::atan, f64::atan),
            ("sinh", Interval::sinh, f64::sinh),
            ("cosh", Interval::cosh, f64::cosh),
            ("tanh", Interval::tanh, f64::tanh),
            ("asinh", Interval::asinh, f64::asinh),
            ("atanh", Interval::atanh, f64::atanh),
            ("exp", Interval::exp, f64::exp),
            ("ln", Interval::ln, f64::ln),
            ("log10", Interval::log10, f64::log10),
            ("sqrt", Interval::sqrt, f64::sqrt),
            ("square", Interval::square, |x| x * x),
            ("floor", Interval::floor, f64::floor),
            ("ceil", Interval::ceil, f64::ceil),
        ];
        let mut random = Random(0x5a17_u64);
        for (name, enclose, function) in cases {
            for _ in 0..ROUNDS {
                let x = random.interval();
                let inside = random.inside(x);
                let (result, value) = (enclose(x), function(inside));
                let is_right = !result.is_known() || result.contains(value) || value.is_infinite();
                assert!(is_right, "{name}({x:?}) = {result:?} misses {name}({inside:e}) = {value:e}");
                assert!(!value.is_nan() || !result.is_known(), "{name}({x:?}) is not defined at {inside:e}");
            }
        }
    }

    #[test]
    fn functions_of_two_numbers_are_enclosed() {
        type Case = (&'static str, fn(Interval, Interval) -> Interval, fn(f64, f64) -> f64);
        let cases: [Case; 14] = [
            ("+", |a, b| a + b, |a, b| a + b),
            ("-", |a, b| a - b, |a, b| a - b),
            ("*", |a, b| a * b, |a, b| a * b),
            ("/", |a, b| a / b, |a, b| a / b),
            ("pow", Interval::pow, f64::powf),
            ("atan2", Interval::atan2, f64::atan2),
            ("div", Interval::whole_quotient, |a, b| (a / b).trunc()),
            ("mod", Interval::modulo, |a, b| a - (a / b).floor() * b),
            ("rem", Interval::remainder, |a, b| a - (a / b).trunc() * b),
            ("min", Interval::min, f64::min),
            ("max", Interval::max, f64::max),
            ("<", Interval::less, |a, b| f64::from(u8::from(a < b))),
            ("<=", Interval::less_equal, |a, b| f64::from(u8::from(a <= b))),
            ("==", Interval::equal, |a, b| f64::from(u8::from(a == b))),
        ];
        let mut random = Random(0x1a57_u64);
        for (name, enclose, function) in cases {
            for _ in 0..ROUNDS {
                let (a, b) = (random.interval(), random.interval());
                let (x, y) = (random.inside(a), random.inside(b));
                let (result, value) = (enclose(a, b), function(x, y));
                let is_right = !result.is_known() || result.contains(value) || value.is_infinite();
                assert!(is_right, "{a:?} {name} {b:?} = {result:?} misses {x:e} {name} {y:e} = {value:e}");
                assert!(!value.is_nan() || !result.is_known(), "{a:?} {name} {b:?} is not defined at {x:e}, {y:e}");
            }
        }
    }

    #[test]
    fn what_is_exact_stays_so() {
        let x = Interval::new(-3.0, 2.5);
        assert_eq!(x * Interval::ZERO, Interval::ZERO);
        assert_eq!(Interval::point(0.25) + Interval::point(0.5), Interval::point(0.75));
        assert_eq!(Interval::point(0.1) - Interval::point(0.1), Interval::ZERO);
        // The sum of these two is rounded up.
        let sum = Interval::point(0.1) + Interval::point(0.2);
        assert!(sum.lo < 0.1 + 0.2 && sum.hi == 0.1 + 0.2);
    }

    #[test]
    fn waves_know_their_tops() {
        assert_eq!(Interval::new(1.5, 1.6).sin().hi, 1.0);
        assert!(Interval::new(1.5, 1.57).sin().hi < 1.0);
        assert_eq!(Interval::new(0.0, 10.0).cos(), Interval::new(-1.0, 1.0));
        // Beyond 2^53 nothing is known about the phase.
        assert_eq!(Interval::point(1e17).sin(), Interval::new(-1.0, 1.0));
        assert!(!Interval::new(1.5, 1.6).tan().is_known());
    }

    #[test]
    fn truths_are_decided_where_they_can_be() {
        let (low, high) = (Interval::new(0.0, 1.0), Interval::new(1.0, 2.0));
        assert_eq!(low.less_equal(high), Interval::ONE);
        assert_eq!(low.less(high), Interval::EITHER);
        assert_eq!(high.less(low), Interval::ZERO);
        assert_eq!(Interval::UNKNOWN.and(Interval::ZERO), Interval::ZERO);
        assert_eq!(Interval::UNKNOWN.or(Interval::ONE), Interval::ONE);
        assert!(!Interval::UNKNOWN.or(Interval::ZERO).is_known());
    }
}
