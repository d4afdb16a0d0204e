//! `String(…)` in annotations (specification §3.7.1.1): `String(p, significantDigits = 3)`, `String(T, format = ".1f")`,
//! `String(n, minimumLength = 4, leftJustified = false)`.
//!
//! Numbers of annotations have no types of their own. A whole one without `significantDigits` is written with all of its digits, as an Integer is.

use saltus_eval::{format_number, justify, real_to_string};

use crate::value::{Value, shown};

/// Whole numbers up to here are exact.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The text of a value; `None` where `String` does not take these arguments.
pub fn string(arguments: &[Value], named: &[(&str, Value)]) -> Option<String> {
    let [value] = arguments else { return None };
    let (mut format, mut digits, mut length, mut is_left) = (None, None, 0.0, true);
    for (name, given) in named {
        match (*name, given) {
            ("format", Value::String(text)) => format = Some(text.as_str()),
            ("significantDigits", Value::Number(n)) => digits = Some(*n),
            ("minimumLength", Value::Number(n)) => length = *n,
            ("leftJustified", Value::Boolean(is)) => is_left = *is,
            _ => return None,
        }
    }
    match (value, format) {
        (Value::Number(x), Some(format)) if named.len() == 1 => format_number(*x, format),
        (_, Some(_)) | (Value::Array(_), None) => None,
        (Value::Number(x), None) => {
            let is_whole = x.fract() == 0.0 && x.abs() <= LARGEST_WHOLE;
            match digits {
                None if is_whole => Some(justify(&(*x as i64).to_string(), length as i64, is_left)),
                _ => Some(real_to_string(*x, digits.unwrap_or(6.0) as i64, length as i64, is_left)),
            }
        }
        (value, None) if digits.is_none() => Some(justify(&shown(value), length as i64, is_left)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value, named: &[(&str, Value)]) -> Option<String> {
        string(&[value], named)
    }

    // Expected texts: what C's printf writes for %.*g, %.1f and so on (specification §3.7.1.1).
    #[test]
    fn options_are_followed() {
        let number = Value::Number;
        let digits = |n: f64| ("significantDigits", Value::Number(n));
        let length = |n: f64| ("minimumLength", Value::Number(n));
        let left = |is: bool| ("leftJustified", Value::Boolean(is));
        let format = |f: &str| ("format", Value::String(f.into()));
        let pi = std::f64::consts::PI;
        let cases = [
            (number(pi), vec![], "3.14159"),
            (number(pi), vec![digits(3.0)], "3.14"),
            (number(pi), vec![digits(3.0), length(6.0)], "3.14  "),
            (number(pi), vec![digits(3.0), length(6.0), left(false)], "  3.14"),
            (number(1234.5), vec![digits(3.0)], "1.23e+03"),
            (number(20.0), vec![digits(3.0)], "20"),
            (number(pi), vec![format(".1f")], "3.1"),
            (number(pi), vec![format("6.2f")], "  3.14"),
            (number(-7.0), vec![length(4.0), left(false)], "  -7"),
            (number(1_234_567.0), vec![], "1234567"),
            (Value::Boolean(true), vec![length(6.0), left(false)], "  true"),
            (Value::Literal("on".into()), vec![length(3.0)], "on "),
        ];
        for (value, named, expected) in cases {
            assert_eq!(text(value.clone(), &named).as_deref(), Some(expected), "{value:?} {named:?}");
        }
    }

    #[test]
    fn what_string_does_not_take_has_no_value() {
        let one = || Value::Number(1.0);
        assert_eq!(text(one(), &[("format", Value::String("5.2q".into()))]), None);
        assert_eq!(text(one(), &[("format", Value::String("f".into())), ("minimumLength", one())]), None);
        assert_eq!(text(one(), &[("digits", one())]), None);
        assert_eq!(text(Value::Boolean(true), &[("significantDigits", one())]), None);
        assert_eq!(string(&[one(), one()], &[]), None);
        assert_eq!(text(one(), &[("minimumLength", Value::Number(1e300))]).map(|t| t.len()), Some(10_000), "bounded");
    }
}
