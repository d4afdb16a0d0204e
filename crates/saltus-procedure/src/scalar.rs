//! What elementary operations on numbers mean: the one table that folding, interpretation, machine code and
//! differentiation agree with.
//!
//! Numbers of every type are `f64` here: Booleans are 0 and 1, enumeration values their ordinals. Operations never fail;
//! where there is no real value they yield NaN, and who has to report that asks [`UnaryFn::is_defined`] and
//! [`BinaryFn::is_defined`] first. (Specification: sections 3.6 and 3.7.)

use saltus_flat::Builtin;

/// Integers are held as `f64`; up to this magnitude, 2^53, all of them are exact.
pub const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum UnaryFn {
    Negate,
    Not,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Floor,
    Ceil,
    /// Inverses of `sinh` and `tanh`, which solving an equation for an argument needs.
    Asinh,
    Atanh,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum BinaryFn {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    /// `div(a, b)`: the quotient without its fraction.
    IntDiv,
    /// `mod(a, b) = a - floor(a / b) * b`
    Mod,
    /// `rem(a, b) = a - div(a, b) * b`
    Rem,
    Min,
    Max,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl UnaryFn {
    /// Has the function a real value there? Yes also where the argument is not a number.
    #[inline]
    pub fn is_defined(self, x: f64) -> bool {
        let inside = match self {
            UnaryFn::Asin | UnaryFn::Acos => x.abs() <= 1.0,
            UnaryFn::Log | UnaryFn::Log10 => x > 0.0,
            UnaryFn::Sqrt => x >= 0.0,
            _ => true,
        };
        inside || x.is_nan()
    }

    /// The arguments that are allowed, in words.
    pub fn domain(self) -> &'static str {
        match self {
            UnaryFn::Asin | UnaryFn::Acos => "between -1 and 1",
            UnaryFn::Log | UnaryFn::Log10 => "greater than 0",
            UnaryFn::Sqrt => "at least 0",
            _ => "a number",
        }
    }

    /// The function of one number that a built-in function of the language is.
    pub fn elementary(function: Builtin) -> Option<UnaryFn> {
        Some(match function {
            Builtin::Sin => UnaryFn::Sin,
            Builtin::Cos => UnaryFn::Cos,
            Builtin::Tan => UnaryFn::Tan,
            Builtin::Asin => UnaryFn::Asin,
            Builtin::Acos => UnaryFn::Acos,
            Builtin::Atan => UnaryFn::Atan,
            Builtin::Sinh => UnaryFn::Sinh,
            Builtin::Cosh => UnaryFn::Cosh,
            Builtin::Tanh => UnaryFn::Tanh,
            Builtin::Exp => UnaryFn::Exp,
            Builtin::Log => UnaryFn::Log,
            Builtin::Log10 => UnaryFn::Log10,
            Builtin::Sqrt => UnaryFn::Sqrt,
            Builtin::Abs => UnaryFn::Abs,
            Builtin::Sign => UnaryFn::Sign,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            UnaryFn::Negate => "-",
            UnaryFn::Not => "not ",
            UnaryFn::Sin => "sin",
            UnaryFn::Cos => "cos",
            UnaryFn::Tan => "tan",
            UnaryFn::Asin => "asin",
            UnaryFn::Acos => "acos",
            UnaryFn::Atan => "atan",
            UnaryFn::Sinh => "sinh",
            UnaryFn::Cosh => "cosh",
            UnaryFn::Tanh => "tanh",
            UnaryFn::Exp => "exp",
            UnaryFn::Log => "log",
            UnaryFn::Log10 => "log10",
            UnaryFn::Sqrt => "sqrt",
            UnaryFn::Abs => "abs",
            UnaryFn::Sign => "sign",
            UnaryFn::Floor => "floor",
            UnaryFn::Ceil => "ceil",
            UnaryFn::Asinh => "asinh",
            UnaryFn::Atanh => "atanh",
        }
    }

    /// The meaning; the compiled code must agree with it.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            UnaryFn::Negate => -x,
            UnaryFn::Not => truth(x == 0.0),
            UnaryFn::Sin => x.sin(),
            UnaryFn::Cos => x.cos(),
            UnaryFn::Tan => x.tan(),
            UnaryFn::Asin => x.asin(),
            UnaryFn::Acos => x.acos(),
            UnaryFn::Atan => x.atan(),
            UnaryFn::Sinh => x.sinh(),
            UnaryFn::Cosh => x.cosh(),
            UnaryFn::Tanh => x.tanh(),
            UnaryFn::Exp => x.exp(),
            UnaryFn::Log => x.ln(),
            UnaryFn::Log10 => x.log10(),
            UnaryFn::Sqrt => x.sqrt(),
            UnaryFn::Abs => x.abs(),
            UnaryFn::Sign => {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    // zero, and NaN stays NaN
                    x * 0.0
                }
            }
            UnaryFn::Floor => x.floor(),
            UnaryFn::Ceil => x.ceil(),
            UnaryFn::Asinh => x.asinh(),
            UnaryFn::Atanh => x.atanh(),
        }
    }
}

impl BinaryFn {
    /// Has the operation a real value there?
    #[inline]
    pub fn is_defined(self, a: f64, b: f64) -> bool {
        match self {
            BinaryFn::Div | BinaryFn::IntDiv | BinaryFn::Mod | BinaryFn::Rem => b != 0.0,
            BinaryFn::Pow => !((a < 0.0 && b.fract() != 0.0) || (a == 0.0 && b < 0.0)),
            _ => true,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            BinaryFn::Add => "+",
            BinaryFn::Sub => "-",
            BinaryFn::Mul => "*",
            BinaryFn::Div => "/",
            BinaryFn::Pow => "^",
            BinaryFn::Atan2 => "atan2",
            BinaryFn::IntDiv => "div",
            BinaryFn::Mod => "mod",
            BinaryFn::Rem => "rem",
            BinaryFn::Min => "min",
            BinaryFn::Max => "max",
            BinaryFn::Less => "<",
            BinaryFn::LessEqual => "<=",
            BinaryFn::Greater => ">",
            BinaryFn::GreaterEqual => ">=",
            BinaryFn::Equal => "==",
            BinaryFn::NotEqual => "<>",
            BinaryFn::And => "and",
            BinaryFn::Or => "or",
        }
    }

    /// The meaning; the compiled code must agree with it.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            BinaryFn::Add => a + b,
            BinaryFn::Sub => a - b,
            BinaryFn::Mul => a * b,
            BinaryFn::Div => a / b,
            // A product is exact to the last bit, and most exponents are 2.
            BinaryFn::Pow => {
                if b == 2.0 {
                    a * a
                } else {
                    a.powf(b)
                }
            }
            BinaryFn::Atan2 => a.atan2(b),
            BinaryFn::IntDiv => (a / b).trunc(),
            BinaryFn::Mod => a - (a / b).floor() * b,
            BinaryFn::Rem => a - (a / b).trunc() * b,
            // Unlike f64::min these let a NaN through.
            BinaryFn::Min => {
                if a <= b || a.is_nan() {
                    a
                } else {
                    b
                }
            }
            BinaryFn::Max => {
                if a >= b || a.is_nan() {
                    a
                } else {
                    b
                }
            }
            BinaryFn::Less => truth(a < b),
            BinaryFn::LessEqual => truth(a <= b),
            BinaryFn::Greater => truth(a > b),
            BinaryFn::GreaterEqual => truth(a >= b),
            BinaryFn::Equal => truth(a == b),
            BinaryFn::NotEqual => truth(a != b),
            BinaryFn::And => truth(a != 0.0 && b != 0.0),
            BinaryFn::Or => truth(a != 0.0 || b != 0.0),
        }
    }
}

/// Number of elements of the range `first:step:last` of Reals; NaN if there is none. The quotient is taken a hair larger,
/// so that `0:0.1:0.3` has its last element. (Specification: section 10.4.3.)
pub fn range_length(first: f64, step: f64, last: f64) -> f64 {
    let n = ((last - first) / step * (1.0 + 4.0 * f64::EPSILON)).floor() + 1.0;
    if step == 0.0 || !n.is_finite() { f64::NAN } else { n.max(0.0) }
}

/// Point `i` from 0 of `n` points of equal distance; the last one is the end itself. (Specification: section 10.3.3.)
pub fn linspace(first: f64, last: f64, n: usize, i: usize) -> f64 {
    if i + 1 == n { last } else { first + (last - first) / (n - 1) as f64 * i as f64 }
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_never_hidden() {
        assert!(BinaryFn::Min.apply(f64::NAN, 1.0).is_nan() && BinaryFn::Min.apply(1.0, f64::NAN).is_nan());
        assert!(BinaryFn::Max.apply(f64::NAN, 1.0).is_nan() && BinaryFn::Max.apply(1.0, f64::NAN).is_nan());
        assert!(UnaryFn::Sign.apply(f64::NAN).is_nan());
        assert_eq!(UnaryFn::Sign.apply(-2.0), -1.0);
    }

    #[test]
    fn ranges_of_decimal_fractions_have_their_last_element() {
        // 0.3/0.1 is 2.9999999999999996 in binary.
        assert_eq!(range_length(0.0, 0.1, 0.3), 4.0);
        assert_eq!(range_length(0.0, 0.1, 0.29), 3.0);
        assert_eq!(range_length(1.0, -0.5, 0.0), 3.0);
        assert_eq!(range_length(1.0, 1.0, 0.0), 0.0);
        assert!(range_length(0.0, 0.0, 1.0).is_nan() && range_length(0.0, 1.0, f64::INFINITY).is_nan());
    }

    #[test]
    fn equal_distances_end_at_the_end() {
        assert_eq!(linspace(0.0, 0.3, 4, 3), 0.3);
        assert_eq!(linspace(1.0, 3.0, 3, 1), 2.0);
    }

    #[test]
    fn quotients_and_remainders_of_negative_numbers() {
        // By the definitions: floor(-3 / 1.4) = floor(3 / -1.4) = -3, which div cuts to -2.
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
        close(BinaryFn::Mod.apply(-3.0, 1.4), 1.2);
        close(BinaryFn::Mod.apply(3.0, -1.4), -1.2);
        close(BinaryFn::Rem.apply(-3.0, 1.4), -0.2);
        assert_eq!(BinaryFn::IntDiv.apply(-7.0, 2.0), -3.0);
        assert_eq!(UnaryFn::Ceil.apply(-1.5), -1.0);
    }
}
