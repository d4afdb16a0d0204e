//! Edits of diagrams as edits of the text: only what is asked for changes; comments and layout stay.
//!
//! ```text
//! place r to the right      Resistor r(R = 2) annotation(Placement(transformation(extent={{0,-10},{20,10}})));
//!                                                                                       ^^^^^^^^^^^^^^^^^ this alone
//! ```
//!
//! Each function looks at one class by its qualified name and returns a [`SourceChange`]; [`inverse`] of the edits gives the
//! text back byte for byte. What is inherited is not edited here but in the class that declares it; modifications of it go
//! to the `extends` clause.
//!
//! [`inverse`]: crate::inverse

mod connection;
mod declaration;
mod elements;
mod modification;
mod parameters;
mod placement;

use std::path::PathBuf;

use saltus::Session;
use saltus_base::{Index, Interner, Severity};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::{self, ClassBody, ElementKind, Section};

pub(crate) use connection::{can_connect, connect, disconnect};
pub(crate) use declaration::{add, delete};
pub use elements::{Elements, Misfit};
pub(crate) use modification::modify;
pub(crate) use parameters::parameters;
pub use parameters::{Choice, Parameter};
pub(crate) use placement::place;

use crate::formatting::TextEdit;
use crate::rename::SourceChange;
use crate::target::FileRange;

/// A class whose text is edited.
pub(crate) struct Edited<'a> {
    pub library: &'a Library,
    pub id: ClassId,
    pub definition: &'a ast::ClassDef,
    pub body: &'a ast::LongClass,
    pub path: PathBuf,
    pub text: &'a str,
}

/// The parts of a path; dots in quotes do not count.
pub(crate) fn parts(path: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    path.split(move |c| {
        is_quoted ^= c == '\'';
        c == '.' && !is_quoted
    })
}

fn syntax_errors(text: &str) -> Vec<String> {
    let parsed = saltus_syntax::parse(Index::from_usize(0), text, &mut Interner::new());
    parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.message.clone()).collect()
}

/// A component in the text of its class.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'a> {
    pub element: &'a ast::Element,
    pub clause: &'a ast::ComponentClause,
    pub component: &'a ast::Component,
}

impl<'a> Edited<'a> {
    pub fn open(session: &'a Session, class: &str) -> Result<Self, String> {
        let library = session.library();
        let id = library.find(class).ok_or_else(|| format!("the class `{class}` is not found"))?;
        let definition = library.definition(id).ok_or("the class has no text")?;
        let ClassBody::Long(body) = &definition.body else {
            return Err(format!("`{class}` is a short class definition, which has no diagram of its own"));
        };
        let place = FileRange::of(library, definition.span).ok_or("the class is part of the program")?;
        let text = library.source(definition.span.file).map_or("", |source| &source.text);
        Ok(Self { library, id, definition, body, path: place.path, text })
    }

    /// The edits, if the text is not worse behind them: a comment in a value would hide what follows, and in a text with mistakes what
    /// seems to be an equation may be a part of one.
    pub fn change(&self, mut edits: Vec<TextEdit>) -> Result<SourceChange, String> {
        edits.sort_by_key(|edit| (edit.start, edit.end));
        let before = syntax_errors(self.text);
        let behind = syntax_errors(&crate::formatting::apply(self.text, &edits));
        match behind.first() {
            Some(error) if behind.len() > before.len() => {
                Err(format!("the text would be wrong behind this edit: {error}"))
            }
            _ => Ok(SourceChange { edits: [(self.path.clone(), edits)].into() }),
        }
    }

    /// The elements of the text with their sections.
    pub fn elements(&self) -> impl Iterator<Item = &'a ast::Element> {
        self.body.sections.iter().flat_map(|section| match section {
            Section::Elements { elements, .. } => elements.as_slice(),
            _ => &[],
        })
    }

    pub fn component(&self, name: &str) -> Option<Declared<'a>> {
        let name = self.library.intern(name);
        self.elements().find_map(|element| {
            let ElementKind::Components(clause) = &element.kind else { return None };
            let component = clause.components.iter().find(|component| component.name.name == name)?;
            Some(Declared { element, clause, component })
        })
    }

    pub fn own_component(&self, name: &str) -> Result<Declared<'a>, String> {
        self.component(name).ok_or_else(|| {
            format!("`{name}` is not declared in the text of `{}`", self.library.qualified_name(self.id))
        })
    }

    /// The byte behind the next semicolon, comments skipped.
    pub fn behind_semicolon(&self, from: u32) -> u32 {
        let bytes = self.text.as_bytes();
        let mut at = from as usize;
        while at < bytes.len() {
            match &bytes[at..] {
                [b';', ..] => return at as u32 + 1,
                [b'/', b'/', ..] => at += self.text[at..].find('\n').unwrap_or(bytes.len() - at),
                [b'/', b'*', ..] => at += self.text[at..].find("*/").map_or(bytes.len() - at, |end| end + 2),
                [c, ..] if c.is_ascii_whitespace() => at += 1,
                _ => return from,
            }
        }
        from
    }

    /// The end of the line if nothing but a comment follows, else the byte itself.
    pub fn behind_comment(&self, at: u32) -> u32 {
        let rest = &self.text[at as usize..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let line = line.strip_suffix('\r').unwrap_or(line);
        let follows = line.trim_start();
        let is_comment = follows.starts_with("//")
            || follows.starts_with("/*") && follows.find("*/").is_some_and(|end| follows[end + 2..].trim().is_empty());
        if is_comment || follows.is_empty() { at + line.trim_end().len() as u32 } else { at }
    }

    /// White space at the beginning of the line of a byte.
    pub fn indentation(&self, at: u32) -> &'a str {
        let before = &self.text[..at as usize];
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        let rest = &self.text[at as usize - line.len()..];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    pub fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// The bytes from `start` to `end`, with their lines if nothing else stands on these.
    pub fn whole_lines(&self, start: u32, end: u32) -> (u32, u32) {
        let before = &self.text[..start as usize];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let after = &self.text[end as usize..];
        let line_end = after.find('\n').map_or(after.len(), |at| at + 1);
        let is_alone = before[line_start..].trim().is_empty() && after[..line_end].trim().is_empty();
        if is_alone { (line_start as u32, end + line_end as u32) } else { (start, end) }
    }
}

pub(crate) fn insertion(at: u32, text: String) -> TextEdit {
    TextEdit { start: at, end: at, text }
}

/// A coordinate as people write it.
pub(crate) fn number(x: f64) -> String {
    let text = format!("{x:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.to_owned() }
}

pub(crate) fn point([x, y]: saltus_diagram::Point) -> String {
    format!("{{{},{}}}", number(x), number(y))
}

#[cfg(test)]
mod tests;
