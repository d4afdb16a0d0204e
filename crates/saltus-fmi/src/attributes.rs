//! Attributes of XML elements as values of the schema's types; what does not fit is a finding.

use std::str::FromStr;

use roxmltree::Node;
use saltus_base::{Diagnostic, Diagnostics, FileId, Span};

use crate::diagnostics;
use crate::words::Word;

/// Where a document is read from, and what was found on the way.
pub(crate) struct Context {
    pub file: FileId,
    pub findings: Diagnostics,
}

impl Context {
    pub fn report(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// The opening of an element: its name.
    pub fn span(&self, node: Node) -> Span {
        let start = node.range().start;
        self.range(start..start + 1 + node.tag_name().name().len())
    }

    pub fn attribute_span(&self, node: Node, name: &str) -> Span {
        match node.attribute_node(name) {
            Some(attribute) => self.range(attribute.range()),
            None => self.span(node),
        }
    }

    fn range(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.file, range.start as u32, range.end as u32)
    }

    /// Reports attributes without a name space that are not among these.
    pub fn expect_attributes(&mut self, node: Node, known: &[&str]) {
        for attribute in node.attributes() {
            if attribute.namespace().is_none() && !known.contains(&attribute.name()) {
                let span = self.range(attribute.range());
                self.report(diagnostics::unknown_attribute(node.tag_name().name(), attribute.name(), span));
            }
        }
    }

    /// Reports an element that the schema does not have here. Annotations may hold anything and are skipped.
    pub fn unknown_element(&mut self, node: Node, inside: &str) {
        let name = node.tag_name().name();
        if !matches!(name, "Annotations" | "VendorAnnotations") {
            self.report(diagnostics::unknown_element(name, inside, self.span(node)));
        }
    }

    pub fn required(&mut self, node: Node, name: &str) -> String {
        match node.attribute(name) {
            Some(text) => text.to_string(),
            None => {
                self.report(diagnostics::missing_attribute(node.tag_name().name(), name, self.span(node)));
                String::new()
            }
        }
    }

    fn bad(&mut self, node: Node, name: &str, text: &str, expected: &str) {
        let span = self.attribute_span(node, name);
        self.report(diagnostics::bad_value(name, text, expected, span));
    }

    pub fn boolean(&mut self, node: Node, name: &str) -> Option<bool> {
        let text = node.attribute(name)?.trim();
        let value = boolean(text);
        if value.is_none() {
            self.bad(node, name, text, "true or false");
        }
        value
    }

    pub fn flag(&mut self, node: Node, name: &str) -> bool {
        self.boolean(node, name).unwrap_or(false)
    }

    pub fn float(&mut self, node: Node, name: &str) -> Option<f64> {
        let text = node.attribute(name)?.trim();
        let value = float(text);
        if value.is_none() {
            self.bad(node, name, text, "a number");
        }
        value
    }

    pub fn integer<T: FromStr>(&mut self, node: Node, name: &str) -> Option<T> {
        let text = node.attribute(name)?.trim();
        let value = text.strip_prefix('+').unwrap_or(text).parse().ok();
        if value.is_none() {
            self.bad(node, name, text, "a whole number in the range of its type");
        }
        value
    }

    pub fn word<W: Word>(&mut self, node: Node, name: &str) -> Option<W> {
        let text = node.attribute(name)?;
        let value = W::from_word(text);
        if value.is_none() {
            let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
            self.bad(node, name, text, &format!("one of {}", words.join(", ")));
        }
        value
    }

    /// A list of values that are separated by white space.
    pub fn list<T>(
        &mut self,
        node: Node,
        name: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let text = node.attribute(name)?;
        let mut values = Vec::new();
        for word in text.split_ascii_whitespace() {
            match parse(word) {
                Some(value) => values.push(value),
                None => {
                    self.bad(node, name, word, expected);
                    return None;
                }
            }
        }
        Some(values)
    }
}

pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A number as XML schema writes it: infinity is `INF`.
pub(crate) fn float(text: &str) -> Option<f64> {
    match text {
        "INF" | "+INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        _ if text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) => text.parse().ok(),
        _ => None,
    }
}

pub(crate) fn float_text(value: f64) -> String {
    match value {
        v if v.is_nan() => "NaN".into(),
        f64::INFINITY => "INF".into(),
        f64::NEG_INFINITY => "-INF".into(),
        v => format!("{v:?}"),
    }
}

pub(crate) fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16);
    text.chunks_exact(2).map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}

pub(crate) fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}
