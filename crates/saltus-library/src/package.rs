//! Packages that are stored as directories (specification chapter 13, "Directory Hierarchy Mapping").
//!
//! `P/package.mo` defines the package itself, `P/A.mo` the class `P.A`, `P/Q/package.mo` the package `P.Q`, and
//! `P/package.order` says in which order they are shown. A class file begins with `within P;` and defines exactly
//! one class, with the name of the file.

use std::path::Path;

use saltus_base::{Name, Span};
use saltus_syntax::ast::{ClassBody, ClassDef, ElementKind, Ident, Section};

use crate::classes::{Children, ClassEntry, Slot};
use crate::diagnostics;
use crate::library::{ClassId, Library};
use crate::names::FastMap;
use crate::place::{Place, TreeId};

impl Library {
    /// Reads the file in which the class `name` of a package directory is stored.
    pub(crate) fn load_sub_entity(
        &self,
        parent: ClassId,
        name: Name,
        has_file: bool,
        has_directory: bool,
    ) -> Option<ClassId> {
        let children = self.children_of(parent)?;
        children.set(name, Slot::Absent);
        let directory = self.entry(parent)?.directory.as_ref()?;
        let text = self.text(name);
        let own_directory = directory.join(text);
        let package_file = own_directory.join("package.mo");
        let is_directory = has_directory && self.sources.is_file(&package_file);
        if !is_directory && !has_file {
            return None;
        }
        let path = if is_directory { package_file } else { directory.join(format!("{text}.mo")) };
        let tree = self.sources.load(&path)?;
        self.sources.report_syntax_errors(tree);
        self.check_within(tree, parent);
        let (top, class) = self.single_class(tree, name)?;
        if class.name.name != name {
            let message = diagnostics::name_mismatch(text, self.text(class.name.name), is_directory, class.name.span);
            self.sources.report(message);
        }
        if is_directory && has_file {
            let scope = self.qualified_name(parent);
            self.sources.report(diagnostics::file_and_directory(text, &scope, class.name.span));
        }
        let origin = self.entry(parent)?.origin;
        let entry = ClassEntry::new(Some(parent), name, Some(Place::top(tree, top)), origin);
        let id = self.push_class(entry.stored_in(is_directory.then_some(own_directory)));
        children.set(name, Slot::Class(id));
        Some(id)
    }

    /// The one class of a file of a package; of several the one with the right name, else the first.
    pub(crate) fn single_class(&self, tree: TreeId, name: Name) -> Option<(usize, &ClassDef)> {
        let file = self.sources.file(tree)?;
        let classes = &file.tree().classes;
        if classes.len() != 1 {
            self.report_not_one_class(tree);
        }
        let top = classes.iter().position(|top| top.class.name.name == name).unwrap_or(0);
        classes.get(top).map(|found| (top, &found.class))
    }

    pub(crate) fn report_not_one_class(&self, tree: TreeId) {
        let Some(file) = self.sources.file(tree) else { return };
        let classes = &file.tree().classes;
        // A file of which the parser could make nothing has its message already.
        if classes.is_empty() && file.has_syntax_errors() {
            return;
        }
        let span =
            classes.get(1).map_or(Span { end: file.tree().span.start, ..file.tree().span }, |c| c.class.name.span);
        self.sources.report(diagnostics::not_one_class(&file.path, classes.len(), span));
    }

    /// A file in the directory of `parent` must say so.
    fn check_within(&self, tree: TreeId, parent: ClassId) {
        let Some(file) = self.sources.file(tree) else { return };
        let expected = self.qualified_name(parent);
        match &file.tree().within {
            Some(within) => {
                let found = self.path_text(&within.path);
                if found != expected {
                    self.sources.report(diagnostics::within_mismatch(&expected, &found, within.span));
                }
            }
            None => {
                let start = file.tree().classes.first().map_or(file.tree().span, |top| top.class.span);
                let span = Span { end: start.start, ..start };
                self.sources.report(diagnostics::missing_within(&expected, span));
            }
        }
    }

    pub(crate) fn path_text(&self, path: &[Ident]) -> String {
        path.iter().map(|part| self.text(part.name)).collect::<Vec<_>>().join(".")
    }

    /// All classes declared in `parent`, in order.
    pub(crate) fn declared_classes(&self, parent: ClassId) -> Vec<ClassId> {
        let Some(children) = self.children_of(parent) else { return Vec::new() };
        if let Some(known) = &*children.ordered.borrow() {
            return known.clone();
        }
        let mut classes = children.loaded();
        for &name in &children.stored {
            if let Some(id) = self.child(parent, name)
                && !classes.contains(&id)
            {
                classes.push(id);
            }
        }
        if let Some(entry) = self.entry(parent)
            && let Some(directory) = &entry.directory
        {
            self.apply_package_order(parent, directory, children, &mut classes);
        }
        *children.ordered.borrow_mut() = Some(classes.clone());
        classes
    }

    /// Sorts by `package.order`, if there is one; what it does not list comes last, in the order it had.
    fn apply_package_order(&self, package: ClassId, directory: &Path, children: &Children, classes: &mut [ClassId]) {
        let has_order = self
            .sources
            .listing(directory)
            .is_ok_and(|entries| entries.iter().any(|entry| !entry.is_dir && entry.name == "package.order"));
        if !has_order {
            return;
        }
        let Some(order) = self.sources.read_text(&directory.join("package.order")) else { return };
        let constants = self.definition(package).map(component_names).unwrap_or_default();
        let package_name = self.qualified_name(package);
        let mut positions: FastMap<Name, usize> = FastMap::default();
        for (line, span) in lines_with_spans(&order.source.text) {
            let name = self.intern(line);
            let is_known = constants.contains(&name) || matches!(children.slot(name), Some(Slot::Class(_)));
            if !is_known {
                let span = Span::new(order.id, span.start as u32, span.end as u32);
                self.sources.report(diagnostics::order_names_missing(line, &package_name, span));
            }
            let next = positions.len();
            positions.entry(name).or_insert(next);
        }
        let is_stored = |name: Name| children.stored.contains(&name);
        for &id in classes.iter() {
            let Some(name) = self.name_of(id).filter(|name| is_stored(*name) && !positions.contains_key(name)) else {
                continue;
            };
            let span = self.definition(id).map_or(Span::nowhere(), |class| class.name.span);
            self.sources.report(diagnostics::order_omits(self.text(name), &package_name, span));
        }
        classes
            .sort_by_key(|&id| self.name_of(id).and_then(|name| positions.get(&name).copied()).unwrap_or(usize::MAX));
    }
}

/// The lines of a text that are not empty, without white space around them, with their byte ranges.
fn lines_with_spans(text: &str) -> impl Iterator<Item = (&str, std::ops::Range<usize>)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        let name = line.trim();
        (!name.is_empty()).then_some((name, at..at + name.len()))
    })
}

/// The names of the components declared in a class.
fn component_names(class: &ClassDef) -> Vec<Name> {
    let ClassBody::Long(body) = &class.body else { return Vec::new() };
    let elements = body.sections.iter().flat_map(|section| match section {
        Section::Elements { elements, .. } => elements.as_slice(),
        _ => &[],
    });
    elements
        .flat_map(|element| match &element.kind {
            ElementKind::Components(clause) => clause.components.as_slice(),
            _ => &[],
        })
        .map(|component| component.name.name)
        .collect()
}
