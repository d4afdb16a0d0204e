//! Flat models for tests, written as flat Modelica text, and diagnostics as text.
//!
//! ```text
//! expect("Real x; equation x = 1; x = 2;", "E0460 …")
//! ```

mod expressions;
mod lexer;
mod model;

use saltus_base::{Diagnostic, Diagnostics, Index, LineIndex};
use saltus_flat::FlatModel;

pub use model::{equation, parse, real_variable, reference};

/// All messages about `source`, one a line, with labels and hints below:
///
/// ```text
/// E0401 4:3 `q`: message
///   1:6 `q`: text of a label
///   hint: text of a hint
/// ```
pub fn report(source: &str, diagnostics: &Diagnostics) -> String {
    let lines = LineIndex::new(source);
    let place = |span: saltus_base::Span| {
        assert_eq!(span.file.index(), 0);
        let at = lines.line_column(source, span.start);
        format!("{}:{} `{}`", at.line, at.column, &source[span.start as usize..span.end as usize])
    };
    let mut out = String::new();
    for Diagnostic { code, message, span, labels, hints, .. } in diagnostics {
        let at = span.map_or("nowhere".to_owned(), place);
        out.push_str(&format!("{} {at}: {message}\n", code.0));
        for label in labels {
            out.push_str(&format!("  {}: {}\n", place(label.span), label.text));
        }
        for hint in hints {
            out.push_str(&format!("  hint: {hint}\n"));
        }
    }
    out
}

/// Checks that `rule` says exactly `expected` about the model `source`.
#[track_caller]
pub fn expect(rule: impl Fn(&FlatModel) -> Diagnostics, source: &str, expected: &str) {
    let model = parse(source);
    let found = report(source, &rule(&model));
    assert_eq!(found.trim_end(), expected.trim(), "\nfound:\n{found}");
}

/// A model of many equal parts takes well under a second; the bound is generous because test machines are busy.
#[track_caller]
pub fn expect_fast(model: &FlatModel, rule: impl Fn(&FlatModel) -> Diagnostics) {
    let begin = std::time::Instant::now();
    rule(model);
    let seconds = begin.elapsed().as_secs_f64();
    assert!(seconds < 5.0, "took {seconds} s");
}
