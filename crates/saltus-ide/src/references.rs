//! Every place where a name is used, in all files that may know it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saltus::Session;
use saltus_base::{Name, Span};
use saltus_library::{ClassId, Library};

use crate::file::{File, name_at};
use crate::resolve::{Meaning, Resolver};
use crate::target::FileRange;
use crate::walk;

/// A use of a name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reference {
    pub place: FileRange,
    /// The name is declared or redeclared here.
    pub is_declaration: bool,
}

/// What is looked for: everything that has to have the same name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Wanted {
    pub(crate) name: Name,
    /// Where it is declared first.
    pub(crate) origin: Span,
    pub(crate) is_iterator: bool,
}

/// The uses of the name at a byte, its declaration included, in the order of files and bytes.
pub(crate) fn references(session: &Session, path: &Path, offset: u32) -> Vec<Reference> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    let Some(wanted) = wanted(&file, offset) else { return Vec::new() };
    let files = files_with(session, &file, path, wanted);
    let mut found: Vec<Reference> = files.iter().flat_map(|path| in_file(session, path, wanted)).collect();
    found.sort();
    found.dedup();
    found
}

/// The files that may use what is looked for.
pub(crate) fn files_with(session: &Session, file: &File<'_>, path: &Path, wanted: Wanted) -> Vec<PathBuf> {
    if wanted.is_iterator {
        return vec![path.to_path_buf()];
    }
    let declared = file.library.source(wanted.origin.file).map(|source| PathBuf::from(&source.path));
    let declared = declared.and_then(|path| File::open(session, &path));
    load_packages(declared.into_iter());
    let mut files = searched_files(session, file);
    let declared = declared.and_then(|declared| top_level_name(&declared, wanted.origin));
    files.extend(declared.map(|top| using_libraries(session, file, top, wanted.name)).unwrap_or_default());
    let mut seen = BTreeSet::new();
    files.retain(|path| seen.insert(session.absolute(path)));
    files
}

/// The class at the top level that a place belongs to.
fn top_level_name(file: &File<'_>, place: Span) -> Option<Name> {
    let within = file.tree.within.as_ref().and_then(|within| within.path.first());
    let around = || {
        file.tree
            .classes
            .iter()
            .map(|top| &top.class)
            .find(|class| class.span.start <= place.start && place.end <= class.span.end)
    };
    within.map(|first| first.name).or_else(|| around().map(|class| class.name.name))
}

/// Files of libraries that mention the class at the top level and the name. They are read without being kept: most say nothing.
fn using_libraries(session: &Session, file: &File<'_>, top: Name, name: Name) -> Vec<PathBuf> {
    let library = file.library;
    let [top, name] = [top, name].map(|name| library.text(name));
    let files = library.file_source();
    let has_both = |path: &PathBuf| {
        let bytes = files.read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.contains(top) && text.contains(name)
    };
    let found: Vec<PathBuf> = session.library_files().into_iter().filter(has_both).collect();
    load_packages(found.iter().filter_map(|path| File::open(session, path)));
    found
}

/// Uses of the name at a byte in the same file: what an editor marks.
pub(crate) fn highlight_related(session: &Session, path: &Path, offset: u32) -> Vec<Reference> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    wanted(&file, offset).map(|wanted| in_file(session, path, wanted)).unwrap_or_default()
}

pub(crate) fn wanted(file: &File<'_>, offset: u32) -> Option<Wanted> {
    let names = walk::names(file.tree, Some(offset));
    let occurrence = name_at(&names, offset)?;
    let mut resolver = Resolver::new(file, &names);
    match resolver.meaning(occurrence)? {
        Meaning::Symbol(symbol) => {
            let origin = resolver.scopes.origin(symbol);
            // An import may have another name than what it means.
            let name = resolver.scopes.declaration(symbol)?.ident().name;
            Some(Wanted { name, origin, is_iterator: false })
        }
        Meaning::Iterator(origin) => Some(Wanted { name: occurrence.ident.name, origin, is_iterator: true }),
        Meaning::Attribute(_) | Meaning::Builtin(_) => None,
    }
}

/// The origin that a meaning has, to compare with [`Wanted`].
pub(crate) fn origin_of(resolver: &Resolver<'_, '_>, meaning: Meaning) -> Option<Span> {
    match meaning {
        Meaning::Symbol(symbol) => Some(resolver.scopes.origin(symbol)),
        Meaning::Iterator(origin) => Some(origin),
        Meaning::Attribute(_) | Meaning::Builtin(_) => None,
    }
}

fn in_file(session: &Session, path: &Path, wanted: Wanted) -> Vec<Reference> {
    let Some(file) = File::open(session, path) else { return Vec::new() };
    if !file.text.contains(file.library.text(wanted.name)) {
        return Vec::new();
    }
    let names = walk::names(file.tree, None);
    let mut resolver = Resolver::new(&file, &names);
    let mut found = Vec::new();
    for occurrence in names.occurrences.iter().filter(|o| o.ident.name == wanted.name) {
        let Some(meaning) = resolver.meaning(occurrence) else { continue };
        if origin_of(&resolver, meaning) != Some(wanted.origin) {
            continue;
        }
        let is_declaration = occurrence.ident.span == wanted.origin
            || matches!(occurrence.role, walk::Role::Component | walk::Role::Redeclared { .. });
        let place = FileRange::of(file.library, occurrence.ident.span);
        found.extend(place.map(|place| Reference { place, is_declaration }));
    }
    found
}

/// Files that may use a name of this file: those that are loaded, all of the packages that open files belong to, and all of
/// the workspace.
pub(crate) fn searched_files(session: &Session, file: &File<'_>) -> Vec<PathBuf> {
    let library = file.library;
    for &class in session.own_classes() {
        load_all(library, top_level(library, class));
    }
    load_packages([*file].into_iter());
    let stored = session.workspace_files().unwrap_or_default();
    // Files of packages are read by the package, under the path that it gives them.
    load_packages(stored.iter().filter_map(|path| File::open(session, path)));
    let read = library.files_read().into_iter().map(PathBuf::from);
    let read = read.filter(|path| path.extension().is_some_and(|e| e == "mo"));
    let mut seen = BTreeSet::new();
    let all: Vec<PathBuf> = read.chain(stored).filter(|path| seen.insert(session.absolute(path))).collect();
    all.into_iter()
        .filter(|path| File::open(session, path).is_some_and(|file| !is_hidden(session, &file, path)))
        .collect()
}

/// Reads every file of the packages that the files say they are in.
fn load_packages<'a>(files: impl Iterator<Item = File<'a>>) {
    let mut loaded = BTreeSet::new();
    for file in files {
        let library = file.library;
        if let Some(within) = file.tree.within.as_ref().and_then(|within| within.path.first())
            && let Some(top) = library.child(library.root(), within.name)
            && loaded.insert(top)
        {
            load_all(library, top);
        }
    }
}

/// The file is part of a package directory that another one of the same name hides: its names mean nothing here.
fn is_hidden(session: &Session, file: &File<'_>, path: &Path) -> bool {
    let library = file.library;
    let is_package = path.file_name().is_some_and(|name| name == "package.mo");
    let within = file.tree.within.as_ref().map_or(&[][..], |within| within.path.as_slice());
    let top = file.tree.classes.first().map(|top| top.class.name).filter(|_| is_package);
    let mut parts = within.iter().copied().chain(top);
    let known = parts.try_fold(library.root(), |at, part| library.child(at, part.name));
    let Some(known) = known.filter(|&known| known != library.root()) else { return false };
    let Some(counts) = library.file_of(known) else { return false };
    let Some(directory) = path.parent() else { return false };
    let own = directory.join("package.mo");
    let is_stored_here = session.absolute(counts) == session.absolute(&own);
    !is_stored_here && library.file_source().is_file(&own) && counts.file_name() == own.file_name()
}

fn top_level(library: &Library, class: ClassId) -> ClassId {
    let mut at = class;
    while let Some(parent) = library.parent(at).filter(|&parent| parent != library.root()) {
        at = parent;
    }
    at
}

/// Reads every file of a package.
fn load_all(library: &Library, class: ClassId) {
    let mut todo = vec![class];
    while let Some(class) = todo.pop() {
        todo.extend(library.children(class));
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    /// The lines, counted from 1, with `!` where the name is declared.
    fn references(text: &str) -> Vec<String> {
        let fixture = Fixture::new(text);
        let found = fixture.analysis().references(&fixture.path, fixture.offset);
        let line = |path: &std::path::Path, at: u32| {
            let text = fixture.analysis().text(path).unwrap();
            text[..at as usize].matches('\n').count() + 1
        };
        let shown = |r: &super::Reference| {
            let mark = if r.is_declaration { "!" } else { "" };
            format!("{}:{}{mark}", r.place.path.display(), line(&r.place.path, r.place.start))
        };
        found.iter().map(shown).collect()
    }

    #[test]
    fn across_files_and_inheritance() {
        let text = "//- a.mo
model A
  Real x$0;
end A;
//- b.mo
model B
  extends A(x = 2);
  Real x2 = x;
end B;
model C
  B b(x(start = 1));
  Real x;
equation
  x = b.x;
end C;
";
        assert_eq!(references(text), ["a.mo:2!", "b.mo:2", "b.mo:3", "b.mo:6", "b.mo:9"]);
    }

    #[test]
    fn redeclarations_have_the_same_name() {
        let text = "package P
  replaceable model M$0 end M;
end P;
package Q
  extends P;
  redeclare model M Real x; end M;
end Q;
";
        let found = references(text);
        assert_eq!(found, ["test.mo:2!", "test.mo:2", "test.mo:6", "test.mo:6"]);
    }
}
