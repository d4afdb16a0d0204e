//! Texts of models on a terminal: what would steer it is shown instead of sent.
//!
//! `assert(false, "\x1b[2J")` must not clear the screen, and a name must not look like another one.

use std::borrow::Cow;

/// Would the character do anything but appear? Control characters, and those that turn the direction of writing.
fn is_steering(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with visible signs (`␛`) for characters that would steer a terminal. Line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let stays = |c: char| c == '\n' || c == '\t' || !is_steering(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if stays(c) { c } else { sign(c) }).collect())
}

/// As in [`printable`], for a text that stands on one line.
pub fn sign(c: char) -> char {
    match c as u32 {
        // The pictures of control characters are in the order of these.
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('·'),
        0x7f => '␡',
        _ if is_steering(c) => '·',
        _ => c,
    }
}

/// JSON with escapes for such characters: JSON itself asks for them only below a space.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let stays = |c: char| c == '\n' || !is_steering(c);
    if json.chars().all(stays) {
        return Cow::Borrowed(json);
    }
    let escaped = |c: char| if stays(c) { c.to_string() } else { format!("\\u{:04x}", c as u32) };
    Cow::Owned(json.chars().map(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_is_left() {
        assert_eq!(printable("a\u{1b}[31mb\u{7f}\u{9b}2J\u{202e}c\r"), "a␛[31mb␡·2J·c␍");
        assert_eq!(printable("two\nlines\tµ Ω 漢"), "two\nlines\tµ Ω 漢");
    }

    #[test]
    fn json_keeps_its_meaning() {
        assert_eq!(printable_json("{\"x\":\"\u{9b}\"}"), "{\"x\":\"\\u009b\"}");
    }
}
