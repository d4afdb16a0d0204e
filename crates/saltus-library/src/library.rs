//! [`Library`]: the owner of all files, names, trees and classes, and the questions that can be asked about them.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_base::{Diagnostic, Diagnostics, FileId, Index, Name, SourceFile, SourceMap, Span};
use saltus_syntax::ast;

use crate::annotations::AnnotationNames;
use crate::arena::Arena;
use crate::choice::Requirement;
use crate::classes::{ClassEntry, Origin, Slot};
use crate::files::FileSource;
use crate::names::{FastMap, Names};
use crate::place::Place;
use crate::search::SearchRoot;
use crate::sources::Sources;
use crate::store::Store;

/// A class as it is declared: the same id wherever it is used in one [`Library`]. The id of another library, made before an
/// edit or for another question, is known to none of the methods.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId {
    library: u32,
    index: u32,
}

impl std::fmt::Debug for ClassId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClassId({}:{})", self.library, self.index)
    }
}

/// Everything that is loaded, and the means to load more. All methods take `&self`, and references live as long as
/// the library, because lookup loads files while its callers hold syntax trees.
pub struct Library {
    /// Tells the ids of this library from those of others on the same store.
    number: u32,
    pub(crate) sources: Sources,
    pub(crate) names: Names,
    pub(crate) annotation_names: AnnotationNames,
    pub(crate) classes: Arena<ClassEntry>,
    /// Classes inside modifications, by lexical parent and place, so that each is registered once.
    added: RefCell<FastMap<(ClassId, u32, u32, u32), ClassId>>,
    pub(crate) search: Arena<SearchRoot>,
    /// Searched behind all others, whenever those are added.
    pub(crate) shipped: OnceCell<SearchRoot>,
    /// What the `uses` annotations of the loaded top-level classes ask for, in the order of loading.
    pub(crate) requirements: RefCell<Vec<Requirement>>,
    /// Files that the user named.
    pub(crate) users_files: RefCell<Vec<PathBuf>>,
    /// Top-level names that were asked for.
    pub(crate) asked: RefCell<BTreeSet<Name>>,
    /// All top-level names were asked for.
    pub(crate) has_asked_all: Cell<bool>,
    reads_all_files: Cell<bool>,
}

impl Library {
    pub fn new(files: Box<dyn FileSource>) -> Library {
        Library::over(&Store::new(files))
    }

    /// An empty class tree over these texts. They may not change while it is in use.
    pub fn over(store: &Arc<Store>) -> Library {
        let names = Names::new(store.clone());
        let library = Library {
            number: store.next_library(),
            sources: Sources::new(store.clone()),
            annotation_names: AnnotationNames::new(&names),
            classes: Arena::new(),
            added: RefCell::default(),
            search: Arena::new(),
            shipped: OnceCell::new(),
            requirements: RefCell::default(),
            users_files: RefCell::default(),
            asked: RefCell::default(),
            has_asked_all: Cell::new(false),
            reads_all_files: Cell::new(false),
            names,
        };
        let unnamed = library.intern("");
        library.classes.push(ClassEntry::new(None, unnamed, None, Origin::User));
        library
    }

    /// The unnamed top-level scope; its children are the top-level classes.
    pub fn root(&self) -> ClassId {
        ClassId { library: self.number, index: 0 }
    }

    /// The class `name` that is *declared* in `parent`: nested in its text, or stored in a file or directory of its
    /// package directory, which is read now. At top level: a loaded class, else one found in the search paths.
    pub fn child(&self, parent: ClassId, name: Name) -> Option<ClassId> {
        if parent == self.root() {
            self.asked.borrow_mut().insert(name);
        }
        let slot = self.children_of(parent)?.slot(name);
        match slot {
            Some(Slot::Class(id)) => Some(id),
            Some(Slot::Absent) => None,
            Some(Slot::Unread { has_file, has_directory }) => {
                self.load_sub_entity(parent, name, has_file, has_directory)
            }
            None if parent == self.root() => self.search_top_level(name),
            None => None,
        }
    }

    /// All classes declared in `parent`, in the order of its text and of `package.order`; reads all files of a
    /// package. At top level only what is loaded.
    pub fn children(&self, parent: ClassId) -> Vec<ClassId> {
        if parent == self.root() {
            self.has_asked_all.set(true);
        }
        self.declared_classes(parent)
    }

    /// The definition as written; `None` for the root.
    pub fn definition(&self, id: ClassId) -> Option<&ast::ClassDef> {
        self.entry(id)?.place.as_ref()?.class(&self.sources)
    }

    /// The element node of a class that is nested in the text of another, with its prefixes and constraining clause.
    pub fn element(&self, id: ClassId) -> Option<&ast::ClassElement> {
        self.entry(id)?.place.as_ref()?.element(&self.sources)
    }

    /// The class in whose scope `id` stands; `None` for the root.
    pub fn parent(&self, id: ClassId) -> Option<ClassId> {
        self.entry(id)?.parent
    }

    /// Registers a class that is defined inside a modification (`redeclare model M = …`) as a class with the lexical
    /// parent `parent`, under which [`child`](Self::child) does not find it. `definition` must be part of a tree of
    /// this library; the same definition below the same parent has the same id.
    pub fn add_class<'a>(
        &'a self,
        parent: ClassId,
        definition: &'a ast::ClassDef,
        _element: Option<&'a ast::ClassElement>,
    ) -> ClassId {
        let span = definition.span;
        let key = (parent, span.file.index() as u32, span.start, span.end);
        if let Some(&known) = self.added.borrow().get(&key) {
            return known;
        }
        let place = self.sources.tree_of_file(span.file).and_then(|tree_id| {
            let tree = self.sources.used_file(tree_id)?.tree();
            Place::locate(tree_id, tree, definition)
        });
        let origin = self.entry(parent).map_or(Origin::User, |entry| entry.origin);
        let id = self.push_class(ClassEntry::new(Some(parent), definition.name.name, place, origin));
        self.added.borrow_mut().insert(key, id);
        id
    }

    /// Is the class declared in a `protected` section?
    pub fn is_visibility_protected(&self, id: ClassId) -> bool {
        self.entry(id).is_some_and(|entry| entry.is_protected)
    }

    /// `A.B.C`; empty for the root.
    pub fn qualified_name(&self, id: ClassId) -> String {
        let mut parts = Vec::new();
        let mut next = Some(id);
        while let Some(entry) = next.and_then(|id| self.entry(id)) {
            if entry.parent.is_some() {
                parts.push(self.text(entry.name));
            }
            next = entry.parent;
        }
        parts.reverse();
        parts.join(".")
    }

    /// The simple name; `None` for the root.
    pub fn name_of(&self, id: ClassId) -> Option<Name> {
        self.entry(id).filter(|entry| entry.parent.is_some()).map(|entry| entry.name)
    }

    /// The class with the given path from the top level, such as `A.B.'quoted.name'`; only declared classes count.
    pub fn find(&self, path: &str) -> Option<ClassId> {
        let parts = split_path(path)?;
        parts.iter().try_fold(self.root(), |scope, part| self.child(scope, self.intern(part)))
    }

    pub fn intern(&self, text: &str) -> Name {
        self.names.intern(text)
    }

    pub fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    /// All syntax errors and problems of libraries found so far.
    pub fn diagnostics(&self) -> Diagnostics {
        self.sources.diagnostics()
    }

    /// How many messages there are so far, repetitions included.
    pub fn n_messages(&self) -> usize {
        self.sources.n_messages()
    }

    /// Is there an error that is of concern among the messages from that number on?
    pub fn has_errors_from(&self, first: usize) -> bool {
        self.sources.has_errors_from(first)
    }

    /// Those of [`diagnostics`](Self::diagnostics) that are about files of which more than the names of their classes was
    /// needed.
    pub fn concerning_diagnostics(&self) -> Diagnostics {
        self.sources.concerning(usize::MAX)
    }

    /// Those of them that were among the first `n` messages.
    pub fn concerning_diagnostics_until(&self, n: usize) -> Diagnostics {
        self.sources.concerning(n)
    }

    /// Something is missing: does a broken file of the user explain it? From then on all messages are of concern.
    pub fn blame_broken_files(&self) -> bool {
        self.has_asked_all.set(true);
        self.sources.blame_broken_files()
    }

    /// The texts that this library has read.
    pub fn source_map(&self) -> SourceMap {
        self.sources.map()
    }

    pub fn with_sources<R>(&self, f: impl FnOnce(&SourceMap) -> R) -> R {
        f(&self.source_map())
    }

    /// The bytes of an external resource; only of files that [`may_read`](Self::may_read) permits.
    pub fn read_resource(&self, path: &Path) -> io::Result<Vec<u8>> {
        if !self.may_read(path) {
            let reason = "it is neither below the working directory nor part of a library; `--allow-io` permits it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        self.sources.read_resource(path)
    }

    /// Lets resources be read from everywhere.
    pub fn permit_all_files(&self) {
        self.reads_all_files.set(true);
    }

    /// Is the file below the working directory or the directory of a file that was loaded, or is everything permitted?
    pub fn may_read(&self, path: &Path) -> bool {
        let files = &self.sources.store;
        let real = files.real(path);
        self.reads_all_files.get()
            || real.starts_with(files.real(Path::new(".")))
            || self.files_read().iter().filter_map(|file| Path::new(file).parent()).any(|directory| {
                let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
                real.starts_with(files.real(directory))
            })
    }

    /// Where files come from.
    pub fn file_source(&self) -> Arc<dyn FileSource> {
        self.sources.store.clone()
    }

    /// The files read so far, in order.
    pub fn files_read(&self) -> Vec<String> {
        self.sources.files_read()
    }

    /// The file in which the class is written.
    pub fn file_of(&self, id: ClassId) -> Option<&Path> {
        let place = self.entry(id)?.place.as_ref()?;
        Some(&self.sources.file(place.tree)?.path)
    }

    /// The directory of the file in which the class is written: the package directory of a package stored as one.
    pub fn directory_of(&self, id: ClassId) -> Option<PathBuf> {
        self.file_of(id)?.parent().map(Path::to_path_buf)
    }

    /// The syntax tree of a file, read now if it was not before; also of a file with mistakes. `None` if it cannot be read.
    pub fn syntax(&self, path: &Path) -> Option<&ast::StoredDefinition> {
        let tree = self.sources.load(path)?;
        Some(self.sources.file(tree)?.tree())
    }

    /// What the parser said about a file.
    pub fn syntax_diagnostics(&self, path: &Path) -> Option<&Diagnostics> {
        let tree = self.sources.load(path)?;
        Some(&self.sources.file(tree)?.parsed.messages)
    }

    /// The text of a file that was read, with its path.
    pub fn source(&self, file: FileId) -> Option<&SourceFile> {
        let tree = self.sources.tree_of_file(file)?;
        Some(&self.sources.file(tree)?.parsed.text.source)
    }

    /// Everything that can be found at the top level without reading files: classes that are loaded, and what the names of
    /// files and directories in the search paths promise.
    pub fn top_level_names(&self) -> Vec<Name> {
        let loaded = self.children(self.root()).into_iter().filter_map(|id| self.name_of(id));
        let promised = self.search_roots().flat_map(|root| self.promised_names(root));
        let mut seen = BTreeSet::new();
        loaded.chain(promised).filter(|&name| seen.insert(name)).collect()
    }

    /// The message for a top-level name that ought to be a library and is not found, pointing at its use.
    pub fn missing_library(&self, name: Name, span: Span) -> Diagnostic {
        self.missing_library_message(name, None, span)
    }

    pub(crate) fn entry(&self, id: ClassId) -> Option<&ClassEntry> {
        if id.library != self.number {
            return None;
        }
        self.classes.get(id.index as usize)
    }

    pub(crate) fn push_class(&self, entry: ClassEntry) -> ClassId {
        ClassId { library: self.number, index: self.classes.push(entry) as u32 }
    }
}

/// Splits `A.B.'c.d'` at the dots outside of quotes; a leading dot is allowed. `None` if a part is empty or a quote
/// is not closed.
pub(crate) fn split_path(path: &str) -> Option<Vec<&str>> {
    let path = path.trim();
    let mut rest = path.strip_prefix('.').unwrap_or(path);
    let mut parts = Vec::new();
    loop {
        let end = identifier_length(rest)?;
        let (part, after) = rest.split_at(end);
        parts.push(part);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

/// The length in bytes of the identifier at the beginning of `text`, in its plain or its quoted form.
pub(crate) fn identifier_length(text: &str) -> Option<usize> {
    if text.starts_with('\'') {
        let mut is_escaped = false;
        for (at, c) in text.char_indices().skip(1) {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '\'' => return Some(at + 1),
                _ => {}
            }
        }
        return None;
    }
    let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    (length > 0 && !text.starts_with(|c: char| c.is_ascii_digit())).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::split_path;

    #[test]
    fn paths_are_split_outside_of_quotes() {
        assert_eq!(split_path(".A._b.'c.d\\'.e'"), Some(vec!["A", "_b", "'c.d\\'.e'"]));
        for wrong in ["", ".", "A.", "A..B", "'A", "A'b'", "1A", "A.B-C"] {
            assert_eq!(split_path(wrong), None, "{wrong}");
        }
    }
}
