//! `ModelicaStrings_*` (package `Modelica.Utilities.Strings`): indices count bytes from 1; scanners give the index after
//! the token, or the start index where there is none.

use super::arguments::{boolean, integer, string, write};
use super::{NativeContext, NativeError, NativeFunction, NativeResult};
use crate::Value;

pub(super) const TABLE: &[(&str, NativeFunction)] = &[
    ("ModelicaStrings_length", length),
    ("ModelicaStrings_substring", substring),
    ("ModelicaStrings_compare", compare),
    ("ModelicaStrings_hashString", hash),
    ("ModelicaStrings_skipWhiteSpace", skip_white_space),
    ("ModelicaStrings_scanInteger", scan_integer),
    ("ModelicaStrings_scanReal", scan_real),
    ("ModelicaStrings_scanString", scan_string),
    ("ModelicaStrings_scanIdentifier", scan_identifier),
];

fn length(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    Ok(Some(Value::Integer(string(args, 0)?.len() as i64)))
}

fn substring(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let text = string(args, 0)?;
    let start = integer(args, 1)?.max(1);
    let end = integer(args, 2)?;
    let end = if end < 0 { start } else { end.min(text.len() as i64) };
    let part = if start > end { &[][..] } else { text.as_bytes().get(start as usize - 1..end as usize).unwrap_or(&[]) };
    Ok(Some(Value::string(&String::from_utf8_lossy(part))))
}

/// In the order of `Types.Compare`: Less, Equal, Greater.
fn compare(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (a, b) = (string(args, 0)?, string(args, 1)?);
    let order = if boolean(args, 2)? {
        a.as_bytes().cmp(b.as_bytes())
    } else {
        a.to_ascii_lowercase().as_bytes().cmp(b.to_ascii_lowercase().as_bytes())
    };
    Ok(Some(Value::Integer(order as i64 + 2)))
}

/// Arash Partow's hash function, which gives the values documented for `hashString`.
fn hash(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let mut hash: u32 = 0xAAAA_AAAA;
    for (i, byte) in string(args, 0)?.bytes().enumerate() {
        let byte = u32::from(byte);
        hash ^= if i % 2 == 0 {
            (hash << 7) ^ byte.wrapping_mul(hash >> 3)
        } else {
            !((hash << 11).wrapping_add(byte ^ (hash >> 5)))
        };
    }
    Ok(Some(Value::Integer(i64::from(hash as i32))))
}

/// Text as bytes and the first position that is not white space; positions count from 0.
fn after_white_space(args: &[Value]) -> NativeResult<(&[u8], usize, i64)> {
    let text = string(args, 0)?.as_bytes();
    let start_index = integer(args, 1)?;
    let start = usize::try_from(start_index - 1)
        .map_err(|_| NativeError::Failed(format!("the start index is {start_index}, it must be at least 1")))?;
    let blanks = text.get(start..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_whitespace()).count());
    Ok((text, start.saturating_add(blanks), start_index))
}

fn skip_white_space(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (text, at, start_index) = after_white_space(args)?;
    Ok(Some(Value::Integer(if at > text.len() { start_index } else { at as i64 + 1 })))
}

fn count(text: &[u8], at: usize, accept: impl Fn(&u8) -> bool) -> usize {
    text.get(at..).map_or(0, |rest| rest.iter().take_while(|&b| accept(b)).count())
}

fn sign_length(text: &[u8], at: usize) -> usize {
    usize::from(matches!(text.get(at), Some(b'+' | b'-')))
}

/// The text from `start` to `end`, for a parser of the standard library.
fn piece(text: &[u8], start: usize, end: usize) -> &str {
    text.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
}

fn scan_integer(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let unsigned = boolean(args, 2)?;
    let (text, at, start_index) = after_white_space(args)?;
    let sign = sign_length(text, at);
    let digits = count(text, at + sign, u8::is_ascii_digit);
    let end = at + sign + digits;
    let is_real = matches!(text.get(end), Some(b'.' | b'e' | b'E'));
    let number: Option<i64> = piece(text, at, end).parse().ok();
    let found = number.filter(|_| digits > 0 && !is_real && !(unsigned && sign > 0));
    let next = if found.is_some() { end as i64 + 1 } else { start_index };
    write(args, 3, Value::Integer(next))?;
    write(args, 4, Value::Integer(found.unwrap_or(0)))?;
    Ok(None)
}

fn scan_real(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let unsigned = boolean(args, 2)?;
    let (text, at, start_index) = after_white_space(args)?;
    let sign = sign_length(text, at);
    let whole = count(text, at + sign, u8::is_ascii_digit);
    let mut end = at + sign + whole;
    if text.get(end) == Some(&b'.') {
        end += 1 + count(text, end + 1, u8::is_ascii_digit);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let exponent_sign = sign_length(text, end + 1);
        let exponent = count(text, end + 1 + exponent_sign, u8::is_ascii_digit);
        if exponent > 0 {
            end += 1 + exponent_sign + exponent;
        }
    }
    let number: Option<f64> = piece(text, at, end).parse().ok();
    let found = number.filter(|_| whole > 0 && !(unsigned && sign > 0));
    let next = if found.is_some() { end as i64 + 1 } else { start_index };
    write(args, 3, Value::Integer(next))?;
    write(args, 4, Value::Real(found.unwrap_or(0.0)))?;
    Ok(None)
}

/// A text in double quotes; an escaped quote does not end it. The value is what stands between the quotes.
fn scan_string(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (text, at, start_index) = after_white_space(args)?;
    let (mut next, mut content) = (start_index, String::new());
    if text.get(at) == Some(&b'"') {
        let mut end = at + 1;
        while let Some(&byte) = text.get(end) {
            match byte {
                b'\\' if text.get(end + 1) == Some(&b'"') => end += 2,
                b'"' => {
                    content = piece(text, at + 1, end).to_string();
                    next = end as i64 + 2;
                    break;
                }
                _ => end += 1,
            }
        }
    }
    write(args, 2, Value::Integer(next))?;
    write(args, 3, Value::string(&content))?;
    Ok(None)
}

fn scan_identifier(_: &mut NativeContext, args: &mut [Value]) -> NativeResult {
    let (text, at, start_index) = after_white_space(args)?;
    let starts = text.get(at).is_some_and(u8::is_ascii_alphabetic);
    let n = if starts { count(text, at, |b| b.is_ascii_alphanumeric() || *b == b'_') } else { 0 };
    let identifier = piece(text, at, at + n).to_string();
    write(args, 2, Value::Integer(if n > 0 { (at + n) as i64 + 1 } else { start_index }))?;
    write(args, 3, Value::string(&identifier))?;
    Ok(None)
}
