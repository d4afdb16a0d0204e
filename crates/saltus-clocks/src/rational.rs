//! Fractions of integers up to 2⁶³ (specification 16.7.5). Every operation is exact or says that the result does not fit.

use std::cmp::Ordering;
use std::fmt;

/// In lowest terms, with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Rational {
    numerator: i128,
    denominator: i128,
}

/// The largest numerator and denominator. Products of two of them fit into 128 bits.
const LARGEST: i128 = 1 << 63;

impl Rational {
    pub const ZERO: Rational = Rational { numerator: 0, denominator: 1 };
    pub const ONE: Rational = Rational { numerator: 1, denominator: 1 };

    /// `None` for a zero denominator, and if the reduced fraction does not fit.
    pub fn new(numerator: i64, denominator: i64) -> Option<Rational> {
        Rational::reduced(i128::from(numerator), i128::from(denominator))
    }

    pub const fn integer(value: i64) -> Rational {
        Rational { numerator: value as i128, denominator: 1 }
    }

    fn reduced(numerator: i128, denominator: i128) -> Option<Rational> {
        if denominator == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator, denominator) * denominator.signum();
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        (numerator.abs() <= LARGEST && denominator <= LARGEST).then_some(Rational { numerator, denominator })
    }

    pub fn numerator(self) -> i128 {
        self.numerator
    }

    pub fn denominator(self) -> i128 {
        self.denominator
    }

    pub fn is_integer(self) -> bool {
        self.denominator == 1
    }

    pub fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub fn checked_add(self, other: Rational) -> Option<Rational> {
        let crossed = (self.numerator * other.denominator).checked_add(other.numerator * self.denominator)?;
        Rational::reduced(crossed, self.denominator * other.denominator)
    }

    pub fn checked_sub(self, other: Rational) -> Option<Rational> {
        self.checked_add(Rational { numerator: -other.numerator, ..other })
    }

    pub fn checked_mul(self, other: Rational) -> Option<Rational> {
        Rational::reduced(self.numerator * other.numerator, self.denominator * other.denominator)
    }

    pub fn checked_div(self, other: Rational) -> Option<Rational> {
        Rational::reduced(self.numerator * other.denominator, self.denominator * other.numerator)
    }

    /// The largest integer that is not larger.
    pub fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    /// The nearest `f64` where numerator and denominator are below 2⁵³, and as good as that beyond.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Rational) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_integer() {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

/// Positive, also of zeros.
fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(numerator: i64, denominator: i64) -> Rational {
        Rational::new(numerator, denominator).unwrap()
    }

    #[test]
    fn fractions_are_in_lowest_terms_with_a_positive_denominator() {
        assert_eq!(r(6, -4), r(-3, 2));
        assert_eq!(r(0, -7), Rational::ZERO);
        assert_eq!(Rational::new(1, 0), None);
    }

    #[test]
    fn arithmetic_is_exact() {
        assert_eq!(r(1, 10).checked_add(r(2, 10)), Some(r(3, 10)));
        assert_eq!(r(1, 3).checked_sub(r(1, 2)), Some(r(-1, 6)));
        assert_eq!(r(3, 10).checked_mul(r(1, 2)), Some(r(3, 20)));
        assert_eq!(r(3, 10).checked_div(r(1, 10)), Some(Rational::integer(3)));
        assert_eq!((r(-7, 2).floor(), r(7, 2).floor()), (-4, 3));
        assert!(r(1, 3) < r(34, 100) && r(-1, 2) < Rational::ZERO);
        assert_eq!(r(3, 10).to_f64(), 0.3);
    }

    #[test]
    fn what_does_not_fit_has_no_value() {
        let huge = r(i64::MIN, -1);
        assert_eq!(huge, Rational::integer(i64::MAX).checked_add(Rational::ONE).unwrap());
        assert_eq!(huge.checked_add(Rational::ONE), None);
        assert_eq!(huge.checked_mul(huge), None);
        assert_eq!(huge.checked_add(huge), None);
        assert_eq!(huge.checked_sub(huge), Some(Rational::ZERO));
        assert_eq!(huge.checked_mul(Rational::ONE.checked_div(huge).unwrap()), Some(Rational::ONE));
    }
}
