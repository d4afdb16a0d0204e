//! Text in, tokens and comments out.
//!
//! The lexer works on bytes: everything outside strings, comments and quoted identifiers is ASCII. It never
//! fails; what is not a token is reported and skipped, and operators of other languages (`!=`, `&&`, `**`) are
//! reported and read as what was meant. Specification: section 2 and appendix A.1.

use saltus_base::{Diagnostics, FileId, Span};

use crate::ast::Comment;
use crate::diagnostics;
use crate::token::{Kind, Token, keyword_or_ident};

/// The tokens end with one `Eof`.
pub struct Lexed {
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
    pub diagnostics: Diagnostics,
    /// Something is glued to the end of a string, as where a quote is missing and texts have changed places with what is between them.
    pub has_glued_string: bool,
}

/// The text must be shorter than 4 GiB.
pub fn lex(file: FileId, text: &str) -> Lexed {
    lex_as(file, text, false)
}

/// Takes strings with something glued to their end for strings without an end.
pub fn lex_open_strings(file: FileId, text: &str) -> Lexed {
    lex_as(file, text, true)
}

fn lex_as(file: FileId, text: &str, glued_is_open: bool) -> Lexed {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
        line_is_blank: true,
        has_restarted: false,
        glued_is_open,
        out: Lexed {
            tokens: Vec::with_capacity(text.len() / 8 + 8),
            comments: Vec::new(),
            diagnostics: Diagnostics::new(),
            has_glued_string: false,
        },
    };
    lexer.run();
    lexer.out
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    line_is_blank: bool,
    has_restarted: bool,
    glued_is_open: bool,
    out: Lexed,
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Bad,
    Space,
    Newline,
    Word,
    Digit,
    Symbol,
}

const fn class_of(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' | b'\r' | 0x0b | 0x0c => Class::Space,
        b'\n' => Class::Newline,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Word,
        b'0'..=b'9' => Class::Digit,
        0x21..=0x7e => Class::Symbol,
        _ => Class::Bad,
    }
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Bad; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = class_of(i as u8);
        i += 1;
    }
    table
};

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match CLASSES[byte as usize] {
                Class::Space => self.at += 1,
                Class::Newline => {
                    self.at += 1;
                    self.line_is_blank = true;
                }
                Class::Word => self.word(),
                Class::Digit => self.number(),
                Class::Symbol => self.symbol(byte),
                Class::Bad => self.bad_character(),
            }
        }
        self.push(Kind::Eof, self.at);
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    /// Ends a token that began at `start` and ends here.
    fn push(&mut self, kind: Kind, start: usize) {
        self.out.tokens.push(Token { kind, start: start as u32, end: self.at as u32 });
        self.line_is_blank = false;
    }

    fn push_symbol(&mut self, kind: Kind, len: usize) {
        let start = self.at;
        self.at += len;
        self.push(kind, start);
    }

    fn skip_word(&mut self) {
        while matches!(CLASSES[self.peek(0) as usize], Class::Word | Class::Digit) {
            self.at += 1;
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_word();
        let kind = keyword_or_ident(&self.bytes[start..self.at]);
        self.push(kind, start);
    }

    fn skip_digits(&mut self) -> bool {
        let start = self.at;
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&mut self) {
        let start = self.at;
        let mut kind = Kind::Integer;
        self.skip_digits();
        if self.peek(0) == b'.' {
            kind = Kind::Real;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let signed = matches!(self.peek(1), b'+' | b'-');
            if signed || CLASSES[self.peek(1) as usize] != Class::Word {
                kind = Kind::Real;
                self.at += 1 + usize::from(signed);
                if !self.skip_digits() {
                    let span = self.span(start, self.at);
                    self.out.diagnostics.push(diagnostics::exponent_without_digits(span));
                }
            }
        }
        let end = self.at;
        self.skip_word();
        if keyword_or_ident(&self.bytes[end..self.at]) != Kind::Ident {
            self.at = end;
        }
        if self.at > end {
            let (span, text) = (self.span(start, self.at), &self.text[start..self.at]);
            self.out.diagnostics.push(diagnostics::number_with_letters(span, text));
            kind = if kind == Kind::Integer { Kind::Ident } else { Kind::Real };
        }
        self.push(kind, start);
    }

    fn symbol(&mut self, byte: u8) {
        let next = self.peek(1);
        let (kind, len) = match (byte, next) {
            (b'(', _) => (Kind::LeftParen, 1),
            (b')', _) => (Kind::RightParen, 1),
            (b'[', _) => (Kind::LeftBracket, 1),
            (b']', _) => (Kind::RightBracket, 1),
            (b'{', _) => (Kind::LeftBrace, 1),
            (b'}', _) => (Kind::RightBrace, 1),
            (b',', _) => (Kind::Comma, 1),
            (b';', _) => (Kind::Semicolon, 1),
            (b':', b'=') => (Kind::Assign, 2),
            (b':', _) => (Kind::Colon, 1),
            (b'=', b'=') => (Kind::EqualEqual, 2),
            (b'=', _) => (Kind::Equals, 1),
            (b'<', b'>') => (Kind::NotEqual, 2),
            (b'<', b'=') => (Kind::LessEqual, 2),
            (b'<', _) => (Kind::Less, 1),
            (b'>', b'=') => (Kind::GreaterEqual, 2),
            (b'>', _) => (Kind::Greater, 1),
            (b'.', b'0'..=b'9') => return self.number(),
            (b'.', b'+') => (Kind::DotPlus, 2),
            (b'.', b'-') => (Kind::DotMinus, 2),
            (b'.', b'*') => (Kind::DotStar, 2),
            (b'.', b'/') if !matches!(self.peek(2), b'/' | b'*') => (Kind::DotSlash, 2),
            (b'.', b'^') => (Kind::DotCaret, 2),
            (b'.', _) => (Kind::Dot, 1),
            (b'+', _) => (Kind::Plus, 1),
            (b'-', _) => (Kind::Minus, 1),
            (b'*', b'*') => return self.foreign(Kind::Caret, 2),
            (b'*', _) => (Kind::Star, 1),
            (b'/', b'/') => return self.line_comment(),
            (b'/', b'*') => return self.block_comment(),
            (b'/', _) => (Kind::Slash, 1),
            (b'^', _) => (Kind::Caret, 1),
            (b'"', _) => return self.string(),
            (b'\'', _) => return self.quoted_ident(),
            (b'!', b'=') => return self.foreign(Kind::NotEqual, 2),
            (b'!', _) => return self.foreign(Kind::Not, 1),
            (b'~', b'=') => return self.foreign(Kind::NotEqual, 2),
            (b'&', b'&') => return self.foreign(Kind::And, 2),
            (b'&', _) => return self.foreign(Kind::And, 1),
            (b'|', b'|') => return self.foreign(Kind::Or, 2),
            (b'|', _) => return self.foreign(Kind::Or, 1),
            _ => return self.bad_character(),
        };
        self.push_symbol(kind, len);
    }

    /// An operator of another language, taken for the Modelica one.
    fn foreign(&mut self, meant: Kind, len: usize) {
        let span = self.span(self.at, self.at + len);
        let text = &self.text[self.at..self.at + len];
        self.out.diagnostics.push(diagnostics::foreign_operator(span, text, meant));
        self.push_symbol(meant, len);
    }

    /// Reports a run of characters that begin no token once, and skips it.
    fn bad_character(&mut self) {
        let start = self.at;
        let mut end = start;
        for c in self.text[start..].chars() {
            let foreign = !c.is_ascii() || (c.is_ascii_control() && !c.is_ascii_whitespace());
            if end > start && !foreign {
                break;
            }
            end += c.len_utf8();
            if !foreign {
                break;
            }
        }
        let span = self.span(start, end);
        self.out.diagnostics.push(diagnostics::bad_character(span, &self.text[start..end]));
        self.at = end.max(start + 1);
    }

    fn line_comment(&mut self) {
        let start = self.at;
        self.at = find_byte(self.bytes, start, b'\n', b'\n').unwrap_or(self.bytes.len());
        let mut end = self.at;
        while end > start && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        self.comment(start, end);
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut from = start + 2;
        loop {
            match find_byte(self.bytes, from, b'*', b'*') {
                Some(star) if self.bytes.get(star + 1) == Some(&b'/') => {
                    self.at = star + 2;
                    break;
                }
                Some(star) => from = star + 1,
                None => {
                    self.at = self.bytes.len();
                    let span = self.span(start, start + 2);
                    self.out.diagnostics.push(diagnostics::unterminated_comment(span));
                    break;
                }
            }
        }
        self.comment(start, self.at);
    }

    fn comment(&mut self, start: usize, end: usize) {
        let comment = Comment { span: self.span(start, end), own_line: self.line_is_blank };
        self.out.comments.push(comment);
        self.line_is_blank = false;
    }

    fn string(&mut self) {
        let start = self.at;
        let mut from = start + 1;
        loop {
            match find_byte(self.bytes, from, b'"', b'\\') {
                Some(at) if self.bytes[at] == b'"' => {
                    self.at = at + 1;
                    break;
                }
                Some(at) => {
                    self.check_escape(at);
                    from = (at + 2).min(self.bytes.len());
                }
                None => return self.broken_string(start),
            }
        }
        let next = self.bytes.get(self.at).copied().unwrap_or(b' ');
        let is_glued = !(next.is_ascii_whitespace() || b";,)]}+=/".contains(&next));
        self.out.has_glued_string |= is_glued;
        if is_glued && self.glued_is_open {
            let closing = self.at;
            return self.open_string(start, closing);
        }
        self.push(Kind::String, start);
    }

    /// The string at `last` does not end. The quote that is missing may be one of an earlier string: one that
    /// goes on behind a line that ends like an item. Then reading starts again from there, once.
    fn broken_string(&mut self, last: usize) {
        let is_suspect = |t: &Token| {
            let source = &self.text[t.start as usize..t.end as usize];
            t.kind == Kind::String && source.lines().next().is_some_and(|l| l.len() < source.len() && l.ends_with(';'))
        };
        let suspect = if self.has_restarted { None } else { self.out.tokens.iter().position(is_suspect) };
        let mut start = last;
        if let Some(index) = suspect {
            self.has_restarted = true;
            start = self.out.tokens[index].start as usize;
            self.out.tokens.truncate(index);
            self.out.comments.retain(|c| (c.span.start as usize) < start);
            let kept = std::mem::take(&mut self.out.diagnostics).into_iter();
            self.out.diagnostics.extend(kept.filter(|d| d.span.is_some_and(|s| (s.start as usize) < start)));
        }
        self.open_string(start, self.bytes.len());
    }

    fn open_string(&mut self, start: usize, closing: usize) {
        self.at = self.end_of_broken(start, closing);
        let span = self.span(start, self.at);
        self.out.diagnostics.push(diagnostics::unterminated_string(span));
        self.push(Kind::String, start);
    }

    /// A quote without its partner swallows the rest of its line, without a closing `;`. The lines of a longer text, up to the one
    /// with the quote at `closing`, belong to it until one of them reads like a part of a class.
    fn end_of_broken(&self, start: usize, closing: usize) -> usize {
        let end_of_line = |at: usize| find_byte(self.bytes, at, b'\n', b'\n').unwrap_or(self.bytes.len());
        let mut end = end_of_line(start);
        if closing < self.bytes.len() && !self.text[start..end].trim_end().ends_with(';') {
            while end < closing {
                let next = end_of_line(end + 1);
                if next >= closing || is_code(&self.text[end + 1..next]) {
                    break;
                }
                end = next;
            }
        }
        let line = self.text[start..end].trim_end();
        start + line.strip_suffix(';').unwrap_or(line).trim_end_matches([')', ' ']).len().max(1)
    }

    fn check_escape(&mut self, at: usize) {
        let next = self.bytes.get(at + 1).copied().unwrap_or(b'"');
        if !matches!(next, b'\'' | b'"' | b'?' | b'\\' | b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v') {
            let len = self.text.get(at + 1..).and_then(|t| t.chars().next()).map_or(0, char::len_utf8);
            let span = self.span(at, at + 1 + len);
            let text = &self.text[at..at + 1 + len];
            self.out.diagnostics.push(diagnostics::unknown_escape(span, text));
        }
    }

    fn quoted_ident(&mut self) {
        let start = self.at;
        let mut at = start + 1;
        loop {
            match self.bytes.get(at) {
                Some(b'\'') => {
                    self.at = at + 1;
                    break;
                }
                Some(b'\\') => at += 2,
                Some(b'\n') | None => {
                    self.at = start + 1;
                    self.skip_word();
                    let span = self.span(start, self.at);
                    self.out.diagnostics.push(diagnostics::unterminated_quoted_ident(span));
                    break;
                }
                Some(_) => at += 1,
            }
        }
        self.push(Kind::Ident, start);
    }
}

/// A line of a class rather than of a text: it begins with words that do so in classes alone, or ends like an item.
fn is_code(line: &str) -> bool {
    const SECTIONS: [&str; 4] = ["equation", "algorithm", "public", "protected"];
    const ITEMS: [&str; 7] = ["annotation", "extends", "import", "parameter", "constant", "connect", "end"];
    const PREFIXES: [&str; 9] =
        ["encapsulated", "partial", "operator", "expandable", "pure", "impure", "replaceable", "redeclare", "final"];
    const CLASSES: [&str; 8] = ["model", "block", "function", "package", "record", "connector", "type", "class"];
    let line = line.trim();
    let mut words = line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').map(str::trim_end).peekable();
    while words.next_if(|word| PREFIXES.contains(word)).is_some() {}
    let first = words.next().unwrap_or("");
    let rest = words.collect::<Vec<_>>();
    match first.trim_end_matches('(') {
        word if SECTIONS.contains(&word) => rest.is_empty(),
        // In a sentence a small letter follows.
        word if ITEMS.contains(&word) => {
            first.ends_with('(') || !rest.first().is_some_and(|w| w.starts_with(|c: char| c.is_lowercase()))
        }
        word if CLASSES.contains(&word) => {
            rest.len() == 1 || rest.get(1).is_some_and(|w| matches!(*w, "\"" | "=" | "("))
        }
        _ => line.ends_with(';') && !line.starts_with('<'),
    }
}

/// The first position at or behind `from` with the byte `a` or `b`, eight bytes a step.
fn find_byte(bytes: &[u8], from: usize, a: u8, b: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (spread_a, spread_b) = (ONES * u64::from(a), ONES * u64::from(b));
    let tail = bytes.get(from..)?;
    let mut at = from;
    let mut chunks = tail.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        let word = u64::from_le_bytes(word);
        let hit = has_zero(word ^ spread_a) | has_zero(word ^ spread_b);
        if hit != 0 {
            return Some(at + hit.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    chunks.remainder().iter().position(|&c| c == a || c == b).map(|i| at + i)
}

/// The value of a string literal, quotes included in `literal`.
pub fn string_value(literal: &str) -> Box<str> {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return inner.into();
    }
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        match chars.next() {
            Some('a') => value.push('\u{7}'),
            Some('b') => value.push('\u{8}'),
            Some('f') => value.push('\u{c}'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some('v') => value.push('\u{b}'),
            Some(c @ ('"' | '\'' | '?' | '\\')) => value.push(c),
            Some(c) => value.extend(['\\', c]),
            None => value.push('\\'),
        }
        rest = chars.as_str();
    }
    value.push_str(rest);
    value.into_boxed_str()
}

/// The interned spelling of an identifier: the redundant escapes `\?` and `\"` of quoted ones are undone.
pub fn ident_text(source: &str) -> std::borrow::Cow<'_, str> {
    if source.starts_with('\'') && (source.contains("\\?") || source.contains("\\\"")) {
        let mut text = String::with_capacity(source.len());
        let mut chars = source.chars();
        while let Some(c) = chars.next() {
            match (c, chars.as_str().chars().next()) {
                ('\\', Some('?' | '"')) => {}
                ('\\', Some(next)) => {
                    text.extend([c, next]);
                    chars.next();
                }
                _ => text.push(c),
            }
        }
        return text.into();
    }
    source.into()
}
