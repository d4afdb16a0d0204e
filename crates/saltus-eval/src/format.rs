//! Numbers as text (specification §3.7.1.1 `String`): the conversions of C's `printf`, written anew.
//!
//! `format_number(12.3456, ".2f") ⇒ "12.35"`, `real_to_string(1e-10, 6, 0, true) ⇒ "1e-10"`.

/// A conversion specification without `%`: flags, width, precision, conversion.
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

/// More digits or blanks than this are a mistake, not a wish.
const MOST_WIDTH: usize = 10_000;

fn parse(format: &str) -> Option<Spec> {
    let mut spec = Spec {
        left: false,
        plus: false,
        space: false,
        alternate: false,
        zero: false,
        width: 0,
        precision: None,
        conversion: 'g',
    };
    let mut rest = format.strip_prefix('%').unwrap_or(format);
    while let Some(flag) = rest.chars().next().filter(|c| "-+ #0".contains(*c)) {
        match flag {
            '-' => spec.left = true,
            '+' => spec.plus = true,
            ' ' => spec.space = true,
            '#' => spec.alternate = true,
            _ => spec.zero = true,
        }
        rest = &rest[1..];
    }
    let (width, after) = number(rest)?;
    spec.width = width.unwrap_or(0);
    rest = after;
    if let Some(after_point) = rest.strip_prefix('.') {
        let (precision, after) = number(after_point)?;
        spec.precision = Some(precision.unwrap_or(0));
        rest = after;
    }
    let mut characters = rest.chars();
    spec.conversion = characters.next().unwrap_or('g');
    (characters.next().is_none() && "fFeEgGdiouxXc".contains(spec.conversion)).then_some(spec)
}

/// Leading digits as a number, and what follows.
fn number(text: &str) -> Option<(Option<usize>, &str)> {
    let n = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(n);
    if digits.is_empty() {
        return Some((None, rest));
    }
    let value: usize = digits.parse().ok()?;
    (value <= MOST_WIDTH).then_some((Some(value), rest))
}

/// A Real by a format without `%`; the deprecated Integer conversions round. `None` if the format is not allowed.
pub fn format_number(value: f64, format: &str) -> Option<String> {
    let spec = parse(format)?;
    if "diouxXc".contains(spec.conversion) {
        return format_with(&spec, Err(value.round() as i64));
    }
    format_with(&spec, Ok(value))
}

/// An Integer by a format without `%`.
pub fn format_integer(value: i64, format: &str) -> Option<String> {
    let spec = parse(format)?;
    if "diouxXc".contains(spec.conversion) {
        return format_with(&spec, Err(value));
    }
    format_with(&spec, Ok(value as f64))
}

fn format_with(spec: &Spec, value: Result<f64, i64>) -> Option<String> {
    let (negative, body, is_number) = match value {
        Ok(x) if !x.is_finite() => (x.is_sign_negative() && !x.is_nan(), non_finite(x, spec.conversion), false),
        Ok(x) => (x.is_sign_negative(), real_body(x.abs(), spec), true),
        Err(i) => match spec.conversion {
            'c' => (false, char::from_u32(u32::try_from(i).ok()?)?.to_string(), false),
            'o' => (false, integer_digits(format!("{i:o}"), spec), spec.precision.is_none()),
            'x' => (false, integer_digits(format!("{i:x}"), spec), spec.precision.is_none()),
            'X' => (false, integer_digits(format!("{i:X}"), spec), spec.precision.is_none()),
            'u' => (false, integer_digits((i as u64).to_string(), spec), spec.precision.is_none()),
            _ => (i < 0, integer_digits(i.unsigned_abs().to_string(), spec), spec.precision.is_none()),
        },
    };
    let sign = match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) if !"ouxXc".contains(spec.conversion) => "+",
        (_, _, true) if !"ouxXc".contains(spec.conversion) => " ",
        _ => "",
    };
    Some(pad(sign, &body, spec, is_number))
}

fn pad(sign: &str, body: &str, spec: &Spec, is_number: bool) -> String {
    let length = sign.len() + body.chars().count();
    let missing = spec.width.saturating_sub(length);
    if spec.left {
        format!("{sign}{body}{}", " ".repeat(missing))
    } else if spec.zero && is_number {
        format!("{sign}{}{body}", "0".repeat(missing))
    } else {
        format!("{}{sign}{body}", " ".repeat(missing))
    }
}

fn integer_digits(digits: String, spec: &Spec) -> String {
    let least = spec.precision.unwrap_or(1);
    let filled = format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len())));
    match (spec.alternate, spec.conversion) {
        (true, 'o') => format!("0{filled}"),
        (true, 'x') if digits != "0" => format!("0x{filled}"),
        (true, 'X') if digits != "0" => format!("0X{filled}"),
        _ => filled,
    }
}

fn non_finite(x: f64, conversion: char) -> String {
    let text = if x.is_nan() { "nan" } else { "inf" };
    if conversion.is_ascii_uppercase() { text.to_uppercase() } else { text.to_string() }
}

fn real_body(x: f64, spec: &Spec) -> String {
    let precision = spec.precision.unwrap_or(6);
    match spec.conversion {
        'f' | 'F' => fixed(x, precision, spec.alternate),
        'e' | 'E' => scientific(x, precision, spec.conversion, spec.alternate),
        letter => general(x, precision.max(1), if letter == 'G' { 'E' } else { 'e' }, spec.alternate),
    }
}

fn fixed(x: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{x:.precision$}");
    if alternate && precision == 0 { text + "." } else { text }
}

/// Mantissa and exponent of at least two digits with sign.
fn scientific(x: f64, precision: usize, letter: char, alternate: bool) -> String {
    let text = format!("{x:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{mantissa}{point}{letter}{sign}{:02}", exponent.unsigned_abs())
}

/// `%g`: the shorter of both forms, without trailing zeros.
fn general(x: f64, precision: usize, letter: char, alternate: bool) -> String {
    let rounded = format!("{x:.*e}", precision - 1);
    let exponent: i64 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= precision as i64 {
        let text = scientific(x, precision - 1, letter, alternate);
        if alternate {
            return text;
        }
        return match text.split_once(letter) {
            Some((mantissa, exponent)) => format!("{}{letter}{exponent}", trim_zeros(mantissa)),
            None => text,
        };
    }
    let decimals = (precision as i64 - 1 - exponent).max(0) as usize;
    let text = fixed(x, decimals, alternate);
    if alternate { text } else { trim_zeros(&text).to_string() }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `String(r, significantDigits, minimumLength, leftJustified)`.
pub fn real_to_string(value: f64, significant_digits: i64, minimum_length: i64, left: bool) -> String {
    let digits = significant_digits.clamp(1, 400) as usize;
    let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
    let body = if value.is_finite() { general(value.abs(), digits, 'e', false) } else { non_finite(value, 'g') };
    justify(&format!("{sign}{body}"), minimum_length, left)
}

/// Fills up with blanks to a length in characters.
pub fn justify(text: &str, minimum_length: i64, left: bool) -> String {
    let wanted = minimum_length.clamp(0, MOST_WIDTH as i64) as usize;
    let blanks = " ".repeat(wanted.saturating_sub(text.chars().count()));
    if left { format!("{text}{blanks}") } else { format!("{blanks}{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected texts: what C's printf writes for the same conversion (ISO C 7.21.6.1).
    #[test]
    fn reals_by_format() {
        let cases = [
            (12.3456, ".2f", "12.35"),
            (12.3456, "8.1f", "    12.3"),
            (12.3456, "-8.1f", "12.3    "),
            (-1.5, "08.2f", "-0001.50"),
            (0.000012345, "g", "1.2345e-05"),
            (1234567.0, "g", "1.23457e+06"),
            (100000.0, "g", "100000"),
            (0.5, "+g", "+0.5"),
            (3.0, "#.0f", "3."),
            (3.0, ".3E", "3.000E+00"),
            (2.6, "d", "3"),
        ];
        for (value, format, expected) in cases {
            assert_eq!(format_number(value, format).as_deref(), Some(expected), "{value} {format}");
        }
        assert_eq!(format_number(1.0, "5.2q"), None);
        assert_eq!(format_number(1.0, "99999999999f"), None);
    }

    #[test]
    fn integers_by_format() {
        let cases = [
            (255, "x", "ff"),
            (255, "#X", "0XFF"),
            (-5, "5d", "   -5"),
            (7, ".3d", "007"),
            (65, "c", "A"),
            (4, ".3f", "4.000"),
        ];
        for (value, format, expected) in cases {
            assert_eq!(format_integer(value, format).as_deref(), Some(expected), "{value} {format}");
        }
    }

    #[test]
    fn reals_by_options() {
        // The examples of the specification, with C's lower-case exponent.
        assert_eq!(real_to_string(12.3456, 6, 0, true), "12.3456");
        assert_eq!(real_to_string(0.0123456, 6, 0, true), "0.0123456");
        assert_eq!(real_to_string(1.23456e-10, 6, 0, true), "1.23456e-10");
        assert_eq!(real_to_string(-2.0, 6, 5, false), "   -2");
        assert_eq!(real_to_string(-2.0, 6, 5, true), "-2   ");
    }
}
