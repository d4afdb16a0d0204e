//! Places in a text as editors count them: line and column from zero, the column in units of an encoding.

use saltus_base::LineIndex;

/// The unit of columns that client and server have agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    Utf8,
    /// Code units of UTF-16: a character outside the basic plane counts twice.
    Utf16,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// The place of a byte; one past the end of the text is taken for its end.
pub fn position(text: &str, lines: &LineIndex, offset: u32, encoding: Encoding) -> Position {
    let offset = floor_char(text, offset);
    let line = lines.line_column(text, offset).line;
    let start = lines.line_range(text, line).start;
    let prefix = text.get(start..offset as usize).unwrap_or("");
    Position { line: line - 1, column: length(prefix, encoding) }
}

/// The byte at a place; behind the end of a line it is the end of the line, behind the last line the end of the text.
pub fn offset(text: &str, lines: &LineIndex, at: Position, encoding: Encoding) -> u32 {
    let range = lines.line_range(text, at.line.saturating_add(1));
    if lines.line_column(text, range.start as u32).line != at.line.saturating_add(1) {
        return text.len() as u32;
    }
    let line = &text[range.clone()];
    let mut column = 0;
    for (byte, c) in line.char_indices() {
        if column >= at.column {
            return (range.start + byte) as u32;
        }
        column += unit_length(c, encoding);
    }
    range.end as u32
}

fn length(text: &str, encoding: Encoding) -> u32 {
    match encoding {
        Encoding::Utf8 => text.len() as u32,
        Encoding::Utf16 => text.chars().map(|c| unit_length(c, encoding)).sum(),
    }
}

fn unit_length(c: char, encoding: Encoding) -> u32 {
    match encoding {
        Encoding::Utf8 => c.len_utf8() as u32,
        Encoding::Utf16 => c.len_utf16() as u32,
    }
}

/// The beginning of the character that the byte belongs to.
fn floor_char(text: &str, offset: u32) -> u32 {
    let mut at = (offset as usize).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "model A\r\n  \"µ😀x\";\nend A;";

    fn round_trip(at: u32, encoding: Encoding) -> (u32, u32, u32) {
        let lines = LineIndex::new(TEXT);
        let found = position(TEXT, &lines, at, encoding);
        (found.line, found.column, offset(TEXT, &lines, found, encoding))
    }

    #[test]
    fn columns_count_code_units() {
        // `µ` has two bytes and one unit, the face four bytes and two units.
        let x = TEXT.find('x').unwrap() as u32;
        assert_eq!(round_trip(x, Encoding::Utf16), (1, 6, x));
        assert_eq!(round_trip(x, Encoding::Utf8), (1, 9, x));
    }

    #[test]
    fn places_outside_of_the_text_are_moved_into_it() {
        let lines = LineIndex::new(TEXT);
        let at = |line, column| offset(TEXT, &lines, Position { line, column }, Encoding::Utf16);
        assert_eq!(at(0, 99), 7, "before the line end");
        assert_eq!(at(9, 0), TEXT.len() as u32);
        assert_eq!(at(u32::MAX, u32::MAX), TEXT.len() as u32);
        assert_eq!(position(TEXT, &lines, 9999, Encoding::Utf16), Position { line: 2, column: 6 });
    }
}
