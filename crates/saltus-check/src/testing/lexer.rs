//! Tokens of the test language: names with dots are one token.

use saltus_base::{FileId, Index, Span};

#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    Name(String),
    Number(String),
    Text(String),
    Symbol(&'static str),
    End,
}

const SYMBOLS: [&str; 24] = [
    ":=", "<=", ">=", "==", "<>", "<", ">", "=", "+", "-", "*", "/", "^", "(", ")", "[", "]", "{", "}", ",", ";", ":",
    "@", "'",
];

pub fn tokens(source: &str) -> Vec<(Token, Span)> {
    let mut out = Vec::new();
    let mut at = 0;
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '$';
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let (token, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit() {
            let end = number_end(rest);
            (Token::Number(rest[..end].to_owned()), end)
        } else if c == '"' {
            let end = rest[1..].find('"').expect("a closing quote") + 2;
            (Token::Text(rest[1..end - 1].to_owned()), end)
        } else if is_name(c) {
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            (Token::Name(rest[..end].to_owned()), end)
        } else {
            let symbol = SYMBOLS.iter().find(|s| rest.starts_with(**s)).expect("a known symbol");
            (Token::Symbol(symbol), symbol.len())
        };
        out.push((token, span(at, at + length)));
        at += length;
    }
    out.push((Token::End, span(at, at)));
    out
}

fn number_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let sign = matches!(bytes[end], b'+' | b'-') && end > 0 && bytes[end - 1] == b'e';
        if !(bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b'e') || sign) {
            break;
        }
        end += 1;
    }
    end
}

fn span(start: usize, end: usize) -> Span {
    Span::new(FileId::from_usize(0), start as u32, end as u32)
}
