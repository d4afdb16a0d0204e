//! A value over a stretch of time together with how fast it changes there: the rules of differentiation on intervals.
//!
//! Where a function has a kink the slope encloses the slopes of both sides, which is all that the mean value theorem needs.
//! Where it may jump the slope is unknown.

use saltus_numerics::Interval;
use saltus_program::{BinaryFn, UnaryFn};

/// All values that an expression has over a stretch of time, and all slopes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Dual {
    pub value: Interval,
    pub slope: Interval,
}

impl Dual {
    pub const UNKNOWN: Dual = Dual { value: Interval::UNKNOWN, slope: Interval::UNKNOWN };

    pub fn constant(x: f64) -> Self {
        Dual { value: Interval::point(x), slope: Interval::ZERO }
    }

    /// A value that is constant as long as it is known exactly.
    fn stepwise(value: Interval) -> Self {
        let slope = if value.is_point() { Interval::ZERO } else { Interval::UNKNOWN };
        Dual { value, slope }
    }

    fn is_still(self) -> bool {
        self.slope == Interval::ZERO
    }

    pub fn unary(self, function: UnaryFn) -> Dual {
        let x = self.value;
        let one = Interval::point(1.0);
        // Slopes are computed where something moves only: most of what is fixed has been evaluated before.
        let chain = |value: Interval, slope: &dyn Fn() -> Interval| Dual {
            value,
            slope: if self.is_still() { Interval::ZERO } else { slope() * self.slope },
        };
        match function {
            UnaryFn::Negate => Dual { value: -x, slope: -self.slope },
            UnaryFn::Not => Dual::stepwise(x.negation()),
            UnaryFn::Sin => chain(x.sin(), &|| x.cos()),
            UnaryFn::Cos => chain(x.cos(), &|| -x.sin()),
            UnaryFn::Tan => chain(x.tan(), &|| one + x.tan().square()),
            UnaryFn::Asin => chain(x.asin(), &|| one / (one - x.square()).sqrt()),
            UnaryFn::Acos => chain(x.acos(), &|| -(one / (one - x.square()).sqrt())),
            UnaryFn::Atan => chain(x.atan(), &|| one / (one + x.square())),
            UnaryFn::Sinh => chain(x.sinh(), &|| x.cosh()),
            UnaryFn::Cosh => chain(x.cosh(), &|| x.sinh()),
            UnaryFn::Tanh => chain(x.tanh(), &|| one - x.tanh().square()),
            UnaryFn::Exp => chain(x.exp(), &|| x.exp()),
            UnaryFn::Log => chain(x.ln(), &|| one / x),
            UnaryFn::Log10 => chain(x.log10(), &|| one / (x * Interval::point(std::f64::consts::LN_10))),
            UnaryFn::Sqrt => chain(x.sqrt(), &|| one / (Interval::point(2.0) * x.sqrt())),
            UnaryFn::Abs => chain(x.abs(), &|| {
                if x.lo > 0.0 {
                    one
                } else if x.hi < 0.0 {
                    -one
                } else {
                    Interval::new(-1.0, 1.0)
                }
            }),
            UnaryFn::Sign => Dual::stepwise(x.sign()),
            UnaryFn::Floor => Dual::stepwise(x.floor()),
            UnaryFn::Ceil => Dual::stepwise(x.ceil()),
            UnaryFn::Asinh => chain(x.asinh(), &|| one / (x.square() + one).sqrt()),
            UnaryFn::Atanh => chain(x.atanh(), &|| one / (one - x.square())),
        }
    }

    pub fn binary(self, function: BinaryFn, other: Dual) -> Dual {
        let (a, b) = (self.value, other.value);
        match function {
            BinaryFn::Add => Dual { value: a + b, slope: self.slope + other.slope },
            BinaryFn::Sub => Dual { value: a - b, slope: self.slope - other.slope },
            BinaryFn::Mul => Dual { value: a * b, slope: self.slope * b + a * other.slope },
            BinaryFn::Div => {
                let value = a / b;
                let slope = if other.is_still() { self.slope / b } else { (self.slope - value * other.slope) / b };
                Dual { value, slope }
            }
            BinaryFn::Pow => self.power(other),
            BinaryFn::Atan2 => {
                let value = a.atan2(b);
                let crosses_cut = b.lo <= 0.0 && a.lo <= 0.0 && a.hi >= 0.0;
                let slope = (self.slope * b - a * other.slope) / (a.square() + b.square());
                Dual { value, slope: if crosses_cut { Interval::UNKNOWN } else { slope } }
            }
            BinaryFn::IntDiv => Dual::stepwise(a.whole_quotient(b)),
            BinaryFn::Mod => self.without_multiple(a.modulo(b), (a / b).floor(), other),
            BinaryFn::Rem => self.without_multiple(a.remainder(b), a.whole_quotient(b), other),
            BinaryFn::Min => self.extreme(other, a.min(b), a.hi < b.lo, b.hi < a.lo),
            BinaryFn::Max => self.extreme(other, a.max(b), a.lo > b.hi, b.lo > a.hi),
            BinaryFn::Less => Dual::stepwise(a.less(b)),
            BinaryFn::LessEqual => Dual::stepwise(a.less_equal(b)),
            BinaryFn::Greater => Dual::stepwise(b.less(a)),
            BinaryFn::GreaterEqual => Dual::stepwise(b.less_equal(a)),
            BinaryFn::Equal => Dual::stepwise(a.equal(b)),
            BinaryFn::NotEqual => Dual::stepwise(a.equal(b).negation()),
            BinaryFn::And => Dual::stepwise(a.and(b)),
            BinaryFn::Or => Dual::stepwise(a.or(b)),
        }
    }

    /// `if self then yes else no`
    pub fn select(self, yes: Dual, no: Dual) -> Dual {
        let condition = self.value.is_true();
        if !condition.is_known() {
            Dual::UNKNOWN
        } else if condition.lo == 1.0 {
            yes
        } else if condition.hi == 0.0 {
            no
        } else {
            Dual { value: yes.value.hull(no.value), slope: Interval::UNKNOWN }
        }
    }

    fn power(self, exponent: Dual) -> Dual {
        let (x, y) = (self.value, exponent.value);
        let value = x.pow(y);
        let by_base =
            || if self.is_still() { Interval::ZERO } else { y * x.pow(y - Interval::point(1.0)) * self.slope };
        let by_exponent = || if exponent.is_still() { Interval::ZERO } else { value * x.ln() * exponent.slope };
        Dual { value, slope: by_base() + by_exponent() }
    }

    /// `self - whole * other`, which jumps with `whole`.
    fn without_multiple(self, value: Interval, whole: Interval, other: Dual) -> Dual {
        let slope = if whole.is_point() { self.slope - whole * other.slope } else { Interval::UNKNOWN };
        Dual { value, slope }
    }

    fn extreme(self, other: Dual, value: Interval, is_self: bool, is_other: bool) -> Dual {
        let slope = match (is_self, is_other) {
            (true, _) => self.slope,
            (_, true) => other.slope,
            _ => self.slope.hull(other.slope),
        };
        Dual { value, slope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(lo: f64, hi: f64) -> Dual {
        Dual { value: Interval::new(lo, hi), slope: Interval::point(1.0) }
    }

    #[test]
    fn slopes_enclose_differences() {
        // Every function of one number over short stretches, against difference quotients between points inside.
        let functions = [
            UnaryFn::Negate,
            UnaryFn::Sin,
            UnaryFn::Cos,
            UnaryFn::Tan,
            UnaryFn::Asin,
            UnaryFn::Acos,
            UnaryFn::Atan,
            UnaryFn::Sinh,
            UnaryFn::Cosh,
            UnaryFn::Tanh,
            UnaryFn::Exp,
            UnaryFn::Log,
            UnaryFn::Log10,
            UnaryFn::Sqrt,
            UnaryFn::Abs,
            UnaryFn::Sign,
            UnaryFn::Floor,
            UnaryFn::Ceil,
            UnaryFn::Asinh,
            UnaryFn::Atanh,
        ];
        for function in functions {
            for k in -40..40 {
                let (lo, hi) = (0.09 * f64::from(k), 0.09 * f64::from(k) + 0.05);
                let found = time(lo, hi).unary(function);
                let quotient = (function.apply(hi) - function.apply(lo)) / (hi - lo);
                if !found.slope.is_known() || quotient.is_nan() {
                    continue;
                }
                let slack = 1e-9 * (1.0 + quotient.abs());
                let encloses = found.slope.lo - slack <= quotient && quotient <= found.slope.hi + slack;
                assert!(encloses, "{function:?} over {lo}…{hi}: {found:?} misses {quotient}");
            }
        }
    }

    #[test]
    fn slopes_of_two_numbers_enclose_differences() {
        use BinaryFn::*;
        for function in [Add, Sub, Mul, Div, Pow, Atan2, IntDiv, Mod, Rem, Min, Max] {
            for k in -30..30 {
                for c in [-1.7, 0.6, 2.0, 3.0] {
                    let (lo, hi) = (0.11 * f64::from(k) + 0.003, 0.11 * f64::from(k) + 0.05);
                    let both = [(time(lo, hi), Dual::constant(c)), (Dual::constant(c), time(lo, hi))];
                    for (i, (a, b)) in both.into_iter().enumerate() {
                        let found = a.binary(function, b);
                        let at = |t: f64| if i == 0 { function.apply(t, c) } else { function.apply(c, t) };
                        let quotient = (at(hi) - at(lo)) / (hi - lo);
                        if !found.slope.is_known() || quotient.is_nan() {
                            continue;
                        }
                        let slack = 1e-9 * (1.0 + quotient.abs());
                        let encloses = found.slope.lo - slack <= quotient && quotient <= found.slope.hi + slack;
                        assert!(encloses, "{function:?}({a:?}, {b:?}): {found:?} misses {quotient}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_branch_that_is_not_taken_may_be_undefined() {
        let root = time(-1.0, -0.5).unary(UnaryFn::Sqrt);
        let is_positive = Dual::constant(0.0).binary(BinaryFn::Less, time(-1.0, -0.5));
        assert_eq!(is_positive.select(root, Dual::constant(2.0)), Dual::constant(2.0));
        assert!(!is_positive.select(Dual::constant(2.0), root).value.is_known());
    }
}
