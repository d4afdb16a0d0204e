//! Mathematical functions of the C library and `external "builtin"` (package `Modelica.Math`): `y = sin(u)`.

use saltus_procedure::BinaryFn;

use super::arguments::real;
use super::{NativeContext, NativeError, NativeFunction, NativeResult};
use crate::Value;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("sin", |_, a| unary(a, f64::sin)),
    ("cos", |_, a| unary(a, f64::cos)),
    ("tan", |_, a| unary(a, f64::tan)),
    ("asin", |_, a| unary(a, f64::asin)),
    ("acos", |_, a| unary(a, f64::acos)),
    ("atan", |_, a| unary(a, f64::atan)),
    ("atan2", atan2),
    ("sinh", |_, a| unary(a, f64::sinh)),
    ("cosh", |_, a| unary(a, f64::cosh)),
    ("tanh", |_, a| unary(a, f64::tanh)),
    ("asinh", |_, a| unary(a, f64::asinh)),
    ("acosh", |_, a| unary(a, f64::acosh)),
    ("atanh", |_, a| unary(a, f64::atanh)),
    ("exp", |_, a| unary(a, f64::exp)),
    ("log", |_, a| unary(a, f64::ln)),
    ("log10", |_, a| unary(a, f64::log10)),
    ("sqrt", |_, a| unary(a, f64::sqrt)),
    ("cbrt", |_, a| unary(a, f64::cbrt)),
    ("fabs", |_, a| unary(a, f64::abs)),
    ("floor", |_, a| unary(a, f64::floor)),
    ("ceil", |_, a| unary(a, f64::ceil)),
    ("pow", pow),
    ("fmod", fmod),
    ("hypot", hypot),
];

fn unary(args: &[Value], f: fn(f64) -> f64) -> NativeResult {
    let x = real(args, 0)?;
    defined(f(x), x.is_nan())
}

/// A result that is not a number comes from an argument outside the domain.
fn defined(y: f64, undefined_before: bool) -> NativeResult {
    if y.is_nan() && !undefined_before {
        return Err(NativeError::Failed("the argument is outside the domain of the function".into()));
    }
    Ok(Some(Value::Real(y)))
}

fn atan2(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Ok(Some(Value::Real(real(args, 0)?.atan2(real(args, 1)?))))
}

fn pow(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (x, y) = (real(args, 0)?, real(args, 1)?);
    defined(BinaryFn::Pow.apply(x, y), x.is_nan() || y.is_nan())
}

fn fmod(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (x, y) = (real(args, 0)?, real(args, 1)?);
    defined(x % y, x.is_nan() || y.is_nan())
}

fn hypot(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Ok(Some(Value::Real(real(args, 0)?.hypot(real(args, 1)?))))
}

#[cfg(test)]
mod tests {
    use crate::tests::native;
    use crate::{EvalError, Value};

    #[test]
    fn elementary_functions_follow_the_c_library() {
        assert_eq!(native("atan2", &[1.0.into(), 1.0.into()]), Ok(Value::Real(std::f64::consts::FRAC_PI_4)));
        assert_eq!(native("fmod", &[(-7.0).into(), 3.0.into()]), Ok(Value::Real(-1.0)));
        assert!(matches!(native("asin", &[2.0.into()]), Err(EvalError::Failed(_))));
    }
}
