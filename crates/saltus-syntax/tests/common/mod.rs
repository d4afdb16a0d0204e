//! Parsing and comparing, shared by the tests.
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::fmt::Write;

use saltus_base::{Diagnostics, Interner, SourceMap};
use saltus_syntax::Parsed;

pub struct Fixture {
    pub sources: SourceMap,
    pub names: Interner,
    pub parsed: Parsed,
}

pub fn parse(text: &str) -> Fixture {
    let (mut sources, mut names) = (SourceMap::new(), Interner::new());
    let file = sources.add("", text);
    let parsed = saltus_syntax::parse(file, text, &mut names);
    Fixture { sources, names, parsed }
}

/// One line per message: `line:column code message`, then its labels and hints.
pub fn report(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    let place = |span| sources.location(span).map_or("?".into(), |l| l.trim_start_matches(':').to_owned());
    for d in diagnostics {
        let at = d.span.map_or("?".into(), place);
        writeln!(out, "{at} {} {}", d.code.0, d.message).expect("writing to a string");
        for label in &d.labels {
            writeln!(out, "  label {} {}", place(label.span), label.text).expect("writing to a string");
        }
        for hint in &d.hints {
            writeln!(out, "  hint {hint}").expect("writing to a string");
        }
    }
    out
}

/// The messages of `text` are exactly `expected`; both are trimmed.
pub fn check(text: &str, expected: &str) {
    let fixture = parse(text.trim_start());
    let found = report(&fixture.sources, &fixture.parsed.diagnostics);
    assert_eq!(found.trim(), expected.trim());
}

/// The text, formatted; it must have no errors.
pub fn formatted(text: &str) -> String {
    let fixture = parse(text);
    let messages = report(&fixture.sources, &fixture.parsed.diagnostics);
    assert_eq!(messages, "");
    saltus_syntax::format(&fixture.parsed.tree, text, &fixture.names)
}
