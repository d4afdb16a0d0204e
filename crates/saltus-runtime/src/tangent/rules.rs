//! Slopes of elementary functions: how a result changes with an operand.
//!
//! ```text
//! sin(a)   ⇒  cos(a)          a / b  ⇒  1/b, -y/b          min(a, b)  ⇒  a <= b, a > b
//! ```
//!
//! In: a function and its operands. Out: slopes as values that a [`Writer`] can compute: as operations of a program or as
//! instructions of a procedure. Where a function has a kink the slope is that of the side on which it was evaluated; steps
//! have none, since a step is an event.

use saltus_program::{BinaryFn, UnaryFn};

/// Writes what slopes are computed by.
pub(crate) trait Writer {
    type Value: Copy;

    fn constant(&mut self, value: f64) -> Self::Value;
    fn unary(&mut self, function: UnaryFn, a: Self::Value) -> Self::Value;
    fn binary(&mut self, function: BinaryFn, a: Self::Value, b: Self::Value) -> Self::Value;
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Slope<V> {
    Zero,
    One,
    MinusOne,
    Value(V),
}

/// `∂f(a)/∂a`.
pub(crate) fn unary<W: Writer>(w: &mut W, function: UnaryFn, a: W::Value) -> Slope<W::Value> {
    let slope = match function {
        UnaryFn::Negate => return Slope::MinusOne,
        UnaryFn::Not | UnaryFn::Sign | UnaryFn::Floor | UnaryFn::Ceil => return Slope::Zero,
        UnaryFn::Sin => w.unary(UnaryFn::Cos, a),
        UnaryFn::Cos => {
            let sin = w.unary(UnaryFn::Sin, a);
            w.unary(UnaryFn::Negate, sin)
        }
        UnaryFn::Tan => {
            let tan = w.unary(UnaryFn::Tan, a);
            one_and_square(w, BinaryFn::Add, tan)
        }
        UnaryFn::Asin | UnaryFn::Acos => {
            let below = one_and_square(w, BinaryFn::Sub, a);
            let root = w.unary(UnaryFn::Sqrt, below);
            let numerator = w.constant(if function == UnaryFn::Asin { 1.0 } else { -1.0 });
            w.binary(BinaryFn::Div, numerator, root)
        }
        UnaryFn::Atan => {
            let below = one_and_square(w, BinaryFn::Add, a);
            reciprocal(w, below)
        }
        UnaryFn::Sinh => w.unary(UnaryFn::Cosh, a),
        UnaryFn::Cosh => w.unary(UnaryFn::Sinh, a),
        UnaryFn::Tanh => {
            let tanh = w.unary(UnaryFn::Tanh, a);
            one_and_square(w, BinaryFn::Sub, tanh)
        }
        UnaryFn::Exp => w.unary(UnaryFn::Exp, a),
        UnaryFn::Log => reciprocal(w, a),
        UnaryFn::Log10 => {
            let log_of_10 = w.constant(std::f64::consts::LN_10);
            let below = w.binary(BinaryFn::Mul, a, log_of_10);
            reciprocal(w, below)
        }
        UnaryFn::Sqrt => {
            let root = w.unary(UnaryFn::Sqrt, a);
            let half = w.constant(0.5);
            w.binary(BinaryFn::Div, half, root)
        }
        UnaryFn::Abs => {
            // ±1, also at 0: twice a truth less one.
            let zero = w.constant(0.0);
            let is_positive = w.binary(BinaryFn::GreaterEqual, a, zero);
            let two = w.constant(2.0);
            let doubled = w.binary(BinaryFn::Mul, two, is_positive);
            let one = w.constant(1.0);
            w.binary(BinaryFn::Sub, doubled, one)
        }
        UnaryFn::Asinh => {
            let below = one_and_square(w, BinaryFn::Add, a);
            let root = w.unary(UnaryFn::Sqrt, below);
            reciprocal(w, root)
        }
        UnaryFn::Atanh => {
            let below = one_and_square(w, BinaryFn::Sub, a);
            reciprocal(w, below)
        }
    };
    Slope::Value(slope)
}

/// An operand and whether its slope is wanted.
pub(crate) type Operand<V> = (V, bool);

/// `∂f(a, b)/∂a` and `∂f(a, b)/∂b`; what is not wanted is zero.
pub(crate) fn binary<W: Writer>(
    w: &mut W,
    function: BinaryFn,
    (a, wants_a): Operand<W::Value>,
    (b, wants_b): Operand<W::Value>,
) -> (Slope<W::Value>, Slope<W::Value>) {
    let (by_a, by_b) = match function {
        BinaryFn::Add => (Slope::One, Slope::One),
        BinaryFn::Sub => (Slope::One, Slope::MinusOne),
        BinaryFn::Mul => (Slope::Value(b), Slope::Value(a)),
        BinaryFn::Div => quotient(w, a, b, wants_b),
        BinaryFn::Pow => power(w, (a, wants_a), (b, wants_b)),
        BinaryFn::Atan2 => {
            let (aa, bb) = (w.binary(BinaryFn::Mul, a, a), w.binary(BinaryFn::Mul, b, b));
            let below = w.binary(BinaryFn::Add, aa, bb);
            let minus_a = w.unary(UnaryFn::Negate, a);
            let by_b = w.binary(BinaryFn::Div, minus_a, below);
            (Slope::Value(w.binary(BinaryFn::Div, b, below)), Slope::Value(by_b))
        }
        BinaryFn::Mod => {
            let quotient = w.binary(BinaryFn::Div, a, b);
            let floor = w.unary(UnaryFn::Floor, quotient);
            (Slope::One, Slope::Value(w.unary(UnaryFn::Negate, floor)))
        }
        BinaryFn::Rem => {
            let quotient = w.binary(BinaryFn::IntDiv, a, b);
            (Slope::One, Slope::Value(w.unary(UnaryFn::Negate, quotient)))
        }
        BinaryFn::Min | BinaryFn::Max => {
            let relation = if function == BinaryFn::Min { BinaryFn::LessEqual } else { BinaryFn::GreaterEqual };
            let is_first = w.binary(relation, a, b);
            (Slope::Value(is_first), Slope::Value(w.unary(UnaryFn::Not, is_first)))
        }
        BinaryFn::IntDiv
        | BinaryFn::Less
        | BinaryFn::LessEqual
        | BinaryFn::Greater
        | BinaryFn::GreaterEqual
        | BinaryFn::Equal
        | BinaryFn::NotEqual
        | BinaryFn::And
        | BinaryFn::Or => (Slope::Zero, Slope::Zero),
    };
    (if wants_a { by_a } else { Slope::Zero }, if wants_b { by_b } else { Slope::Zero })
}

/// Does the result of the function change with its operands other than in steps?
pub(crate) fn is_smooth_unary(function: UnaryFn) -> bool {
    !matches!(function, UnaryFn::Not | UnaryFn::Sign | UnaryFn::Floor | UnaryFn::Ceil)
}

/// [`is_smooth_unary`] of two operands.
pub(crate) fn is_smooth_binary(function: BinaryFn) -> bool {
    use BinaryFn::{Add, Atan2, Div, Max, Min, Mod, Mul, Pow, Rem, Sub};
    matches!(function, Add | Sub | Mul | Div | Pow | Atan2 | Mod | Rem | Min | Max)
}

fn quotient<W: Writer>(w: &mut W, a: W::Value, b: W::Value, wants_b: bool) -> (Slope<W::Value>, Slope<W::Value>) {
    let by_a = reciprocal(w, b);
    if !wants_b {
        return (Slope::Value(by_a), Slope::Zero);
    }
    let value = w.binary(BinaryFn::Div, a, b);
    let product = w.binary(BinaryFn::Mul, value, by_a);
    (Slope::Value(by_a), Slope::Value(w.unary(UnaryFn::Negate, product)))
}

fn power<W: Writer>(
    w: &mut W,
    (a, wants_a): Operand<W::Value>,
    (b, wants_b): Operand<W::Value>,
) -> (Slope<W::Value>, Slope<W::Value>) {
    let mut slopes = (Slope::Zero, Slope::Zero);
    if wants_a {
        // With the exponent 0 the slope is zero everywhere: 0·a⁰ instead of 0·a⁻¹, which has no value at a = 0.
        let zero = w.constant(0.0);
        let is_not_zero = w.binary(BinaryFn::NotEqual, b, zero);
        let less = w.binary(BinaryFn::Sub, b, is_not_zero);
        let lower = w.binary(BinaryFn::Pow, a, less);
        slopes.0 = Slope::Value(w.binary(BinaryFn::Mul, b, lower));
    }
    if wants_b {
        // At a = 0 the power is zero for all positive exponents: log(1) instead of log(0).
        let zero = w.constant(0.0);
        let is_zero = w.binary(BinaryFn::Equal, a, zero);
        let inside = w.binary(BinaryFn::Add, a, is_zero);
        let log = w.unary(UnaryFn::Log, inside);
        let value = w.binary(BinaryFn::Pow, a, b);
        slopes.1 = Slope::Value(w.binary(BinaryFn::Mul, value, log));
    }
    slopes
}

fn reciprocal<W: Writer>(w: &mut W, of: W::Value) -> W::Value {
    let one = w.constant(1.0);
    w.binary(BinaryFn::Div, one, of)
}

/// `1 + x²` or `1 - x²`.
fn one_and_square<W: Writer>(w: &mut W, sign: BinaryFn, x: W::Value) -> W::Value {
    let square = w.binary(BinaryFn::Mul, x, x);
    let one = w.constant(1.0);
    w.binary(sign, one, square)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes at once.
    struct Calculator;

    impl Writer for Calculator {
        type Value = f64;

        fn constant(&mut self, value: f64) -> f64 {
            value
        }

        fn unary(&mut self, function: UnaryFn, a: f64) -> f64 {
            function.apply(a)
        }

        fn binary(&mut self, function: BinaryFn, a: f64, b: f64) -> f64 {
            function.apply(a, b)
        }
    }

    fn number(slope: Slope<f64>) -> f64 {
        match slope {
            Slope::Zero => 0.0,
            Slope::One => 1.0,
            Slope::MinusOne => -1.0,
            Slope::Value(value) => value,
        }
    }

    /// Fourth-order central difference.
    fn difference(f: impl Fn(f64) -> f64, x: f64) -> f64 {
        let h = 1e-3 * x.abs().max(0.1);
        (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)
    }

    #[test]
    fn slopes_of_one_operand_are_limits_of_differences() {
        use UnaryFn::*;
        let all = [
            Negate, Not, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Log, Log10, Sqrt, Abs, Sign, Floor,
            Ceil, Asinh, Atanh,
        ];
        for function in all {
            for x in [0.3, 0.71, -0.42] {
                let expected = difference(|x| function.apply(x), x);
                let found = number(unary(&mut Calculator, function, x));
                // log and sqrt have no value below 0.
                if expected.is_nan() {
                    continue;
                }
                assert!(
                    (found - expected).abs() < 1e-8 * expected.abs().max(1.0),
                    "{function:?} at {x}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn slopes_of_two_operands_are_limits_of_differences() {
        use BinaryFn::*;
        for function in [Add, Sub, Mul, Div, Pow, Atan2, IntDiv, Mod, Rem, Min, Max, Less, GreaterEqual] {
            for (a, b) in [(2.3, 1.4), (0.7, 3.1), (5.2, -1.7)] {
                let (by_a, by_b) = binary(&mut Calculator, function, (a, true), (b, true));
                for (found, expected) in
                    [(by_a, difference(|a| function.apply(a, b), a)), (by_b, difference(|b| function.apply(a, b), b))]
                {
                    let found = number(found);
                    let scale = expected.abs().max(1.0);
                    assert!((found - expected).abs() < 1e-8 * scale, "{function:?} at {a}, {b}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_power_of_zero_has_slopes() {
        let (by_a, by_b) = binary(&mut Calculator, BinaryFn::Pow, (0.0, true), (2.0, true));
        assert_eq!((number(by_a), number(by_b)), (0.0, 0.0));
        let (by_a, _) = binary(&mut Calculator, BinaryFn::Pow, (0.0, true), (1.0, true));
        assert_eq!(number(by_a), 1.0);
        let (by_a, _) = binary(&mut Calculator, BinaryFn::Pow, (0.0, true), (0.0, false));
        assert_eq!(number(by_a), 0.0);
    }

    #[test]
    fn a_kink_has_the_slope_of_one_side() {
        assert_eq!(number(unary(&mut Calculator, UnaryFn::Abs, 0.0)), 1.0);
        assert_eq!(number(unary(&mut Calculator, UnaryFn::Abs, -2.0)), -1.0);
    }
}
