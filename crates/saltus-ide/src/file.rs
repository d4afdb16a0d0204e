//! One file as the questions see it: its text, its tree, and the classes around it.

use std::path::Path;

use saltus::Session;
use saltus_base::{FileId, LineIndex};
use saltus_library::Library;
use saltus_syntax::ast::{ClassBody, ClassDef, StoredDefinition};

use crate::resolve::{Meaning, Resolver};
use crate::walk::{self, Names, Occurrence};

#[derive(Clone, Copy)]
pub(crate) struct File<'a> {
    pub(crate) library: &'a Library,
    pub(crate) tree: &'a StoredDefinition,
    pub(crate) text: &'a str,
    pub(crate) lines: &'a LineIndex,
    pub(crate) id: FileId,
}

impl<'a> File<'a> {
    /// `None` if the file cannot be read.
    pub(crate) fn open(session: &'a Session, path: &Path) -> Option<Self> {
        let library = session.library();
        let tree = library.syntax(path)?;
        let id = tree.span.file;
        let source = library.source(id)?;
        Some(Self { library, tree, text: &source.text, lines: &source.lines, id })
    }

    pub(crate) fn slice(&self, start: u32, end: u32) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Finds the name at a byte and gives it, with its meaning, to `answer`.
    pub(crate) fn with_name_at<R>(
        &self,
        offset: u32,
        answer: impl FnOnce(&mut Resolver<'a, '_>, &Occurrence<'a>, Option<Meaning>) -> Option<R>,
    ) -> Option<R> {
        let names = walk::names(self.tree, Some(offset));
        let occurrence = name_at(&names, offset)?;
        let mut resolver = Resolver::new(self, &names);
        let meaning = resolver.meaning(occurrence);
        answer(&mut resolver, occurrence, meaning)
    }

    /// The innermost class around a byte. In a broken text that is the last class that began and has not ended.
    pub(crate) fn class_at(&self, names: &Names<'a>, offset: u32) -> Option<usize> {
        let covers = |class: &ClassDef| class.span.start <= offset && offset <= class.span.end;
        let is_open = |class: &ClassDef| {
            let has_end = !matches!(&class.body, ClassBody::Long(body) if body.end_name.is_none());
            class.span.start <= offset && !has_end
        };
        let last =
            |is_around: &dyn Fn(&ClassDef) -> bool| names.classes.iter().rposition(|node| is_around(node.definition));
        last(&covers).or_else(|| last(&is_open))
    }
}

/// The name that a byte, or the end of a byte, belongs to; the one that begins there before the one that ends there.
pub(crate) fn name_at<'n, 'a>(names: &'n Names<'a>, offset: u32) -> Option<&'n Occurrence<'a>> {
    let covering = names.occurrences.iter().filter(|o| o.ident.span.start <= offset && offset <= o.ident.span.end);
    covering.max_by_key(|o| o.ident.span.start)
}
