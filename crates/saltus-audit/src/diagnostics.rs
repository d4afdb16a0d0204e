//! What the audit says itself.

use saltus_base::{Code, Diagnostic, Span};

/// A variable of type Integer holds a number that is not an Integer, or one that is too large to be exact.
pub(crate) fn no_integer(span: Span, name: &str, value: f64) -> Diagnostic {
    Diagnostic::new(Code("E0920"), span, format!("`{name}` is an Integer and holds {value}"))
}
