//! What the compiler tells the user: data only; the command line draws it, the editor lists it.

use crate::Span;

/// A stable identifier such as `E0203`. The first letter is the usual severity (`E`rror, `W`arning, `H`int), the
/// first two digits the family: 00 files and libraries, 01 syntax, 02 names and classes, 03 types, 04 equations
/// and balance, 05 connections, 06 evaluation, 07 units and style, 08 sorting, 09 simulation, 10 FMI.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Code(pub &'static str);

impl Code {
    pub fn severity(self) -> Severity {
        match self.0.as_bytes().first() {
            Some(b'W') => Severity::Warning,
            Some(b'H') => Severity::Hint,
            _ => Severity::Error,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Hint,
    Warning,
    Error,
}

/// A secondary place with its own remark ("declared here").
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// A change of the text that follows from a message and that a program can make.
#[derive(Clone, PartialEq, Debug)]
pub struct Fix {
    /// What it does, such as ``Write `:=` ``.
    pub title: String,
    pub place: Place,
    pub span: Span,
    pub text: String,
}

/// Where the text of a [`Fix`] goes, seen from its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In its place.
    Here,
    /// Before the argument of a modification whose value it is.
    BeforeArgument,
    /// Before the element of a class that declares this name.
    BeforeElement,
    /// In the place of the name in this argument of a modification.
    ArgumentName,
    /// In the place of the comma before it.
    CommaBefore,
    /// Among the imports of the class around it: one of those that have this name somewhere.
    Import,
}

/// The fixes of a message. Most have none, and messages travel in results: so it is one pointer.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Fixes(Option<Box<Several>>);

#[derive(Clone, PartialEq, Default, Debug)]
struct Several {
    fixes: Vec<Fix>,
}

impl Fixes {
    pub fn iter(&self) -> std::slice::Iter<'_, Fix> {
        self.0.as_ref().map_or(&[][..], |several| &several.fixes).iter()
    }

    fn push(&mut self, fix: Fix) {
        self.0.get_or_insert_default().fixes.push(fix);
    }
}

/// One message. The message says what is wrong and what was expected; notes add what is known about it, one line each;
/// each hint says what to do about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    pub span: Option<Span>,
    /// Those without a place are notes.
    pub labels: Vec<Label>,
    pub hints: Vec<String>,
    /// What can be done about it without asking further; the best first.
    pub fixes: Fixes,
}

impl Diagnostic {
    /// A message with the usual severity of its code.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            span: (!span.is_nowhere()).then_some(span),
            labels: Vec::new(),
            hints: Vec::new(),
            fixes: Fixes::default(),
        }
    }

    /// Can be fixed by replacing the marked text.
    pub fn fix_by(self, text: &str) -> Self {
        let span = self.span.unwrap_or(Span::nowhere());
        self.fix(format!("Write `{text}`"), Place::Here, span, text)
    }

    /// Can be fixed by putting a word before the marked text.
    pub fn fix_by_inserting(self, text: &str) -> Self {
        let span = self.span.unwrap_or(Span::nowhere());
        self.fix(format!("Insert `{}`", text.trim()), Place::Here, Span { end: span.start, ..span }, text)
    }

    /// Can be fixed by removing the marked text.
    pub fn fix_by_removing(self) -> Self {
        let span = self.span.unwrap_or(Span::nowhere());
        self.fix("Remove this".to_owned(), Place::Here, span, "")
    }

    /// Can be fixed by a word at a place near the span.
    pub fn fix_at(self, place: Place, span: Span, text: &str) -> Self {
        let word = text.trim();
        let title = match place {
            _ if word.is_empty() => "Remove this".to_owned(),
            Place::ArgumentName => format!("Write `{word}`"),
            _ => format!("Insert `{word}`"),
        };
        self.fix(title, place, span, text)
    }

    fn fix(mut self, title: String, place: Place, span: Span, text: &str) -> Self {
        if !span.is_nowhere() {
            self.fixes.push(Fix { title, place, span, text: text.to_owned() });
        }
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.labels.push(Label { span: Span::nowhere(), text: text.into() });
        self
    }

    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().filter(|l| l.span.is_nowhere()).map(|l| l.text.as_str())
    }

    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }

    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        if !span.is_nowhere() {
            self.labels.push(Label { span, text: text.into() });
        }
        self
    }

    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// The messages of a run in the order they were found; exact repetitions are kept once, and a flood is cut.
#[derive(Clone, Default, Debug)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
    n_suppressed: usize,
}

/// More messages than this help nobody and may not fill the memory.
const MOST: usize = 2_000;

impl Diagnostics {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        let same =
            |d: &Diagnostic| d.code == diagnostic.code && d.span == diagnostic.span && d.message == diagnostic.message;
        if self.items.iter().rev().take(200).any(same) {
            return;
        }
        // Errors decide whether a model is used: no number of warnings hides the first one.
        let is_decisive = diagnostic.severity == Severity::Error && !self.has_errors();
        if self.items.len() >= MOST && !is_decisive {
            self.n_suppressed += 1;
            return;
        }
        self.items.push(diagnostic);
    }

    pub fn extend(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in other {
            self.push(diagnostic);
        }
    }

    pub fn has_errors(&self) -> bool {
        self.n_errors() > 0
    }

    pub fn n_errors(&self) -> usize {
        self.items.iter().filter(|d| d.severity == Severity::Error).count()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many messages were left out because there were too many.
    pub fn n_suppressed(&self) -> usize {
        self.n_suppressed
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flood_of_warnings_hides_an_error() {
        let mut all = Diagnostics::new();
        for i in 0..MOST + 5 {
            let warning = Diagnostic::new(Code("W0001"), Span::nowhere(), format!("warning {i}"));
            all.push(warning.severity(Severity::Warning));
        }
        assert!(!all.has_errors());
        all.push(Diagnostic::new(Code("E0001"), Span::nowhere(), "an error"));
        assert!(all.has_errors());
        assert_eq!((all.len(), all.n_suppressed()), (MOST + 1, 5));
    }
}
