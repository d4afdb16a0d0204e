//! What one class tree has read of the [`Store`], and what there is to say about it.
//!
//! In: a path. Out: the syntax tree, also of a file with mistakes. Everything that was asked is noted, so that a result can
//! say what it depends on ([`Dependencies`](crate::Dependencies)), and messages are kept with the files they are about, so
//! that a broken file breaks only what uses it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_base::{Diagnostic, Diagnostics, FileId, Index, Severity, SourceMap, Span};
use saltus_syntax::ast::StoredDefinition;

use crate::arena::Arena;
use crate::files::DirEntry;
use crate::library::ClassId;
use crate::names::FastMap;
use crate::place::TreeId;
use crate::store::{Listing, ParsedFile, Store, Text};

/// A file of the class tree.
pub(crate) struct LoadedFile {
    pub(crate) path: PathBuf,
    pub(crate) parsed: Arc<ParsedFile>,
    /// Read while the files of the user were loaded, not for the question itself.
    is_from_loading: bool,
    /// One of its classes was looked at, beyond its name.
    is_read: Cell<bool>,
    /// The same, for the question itself.
    is_used: Cell<bool>,
    /// Syntax errors are held back until one of the file's classes is used: a version that is only looked at to be
    /// turned down is none of the user's business.
    are_messages_said: Cell<bool>,
    /// The classes the file defines at its top level, once the user has loaded it.
    pub(crate) users_classes: OnceCell<Vec<ClassId>>,
}

impl LoadedFile {
    pub(crate) fn tree(&self) -> &StoredDefinition {
        &self.parsed.tree
    }

    pub(crate) fn has_syntax_errors(&self) -> bool {
        self.parsed.has_syntax_errors
    }

    /// A file that was loaded for the user and that the question has not needed so far.
    fn is_idle(&self) -> bool {
        self.is_from_loading && !self.is_used.get()
    }
}

struct Message {
    diagnostic: Diagnostic,
    /// A file that the user named cannot be read: nothing can use it.
    is_about_missing_file: bool,
}

pub(crate) struct Sources {
    pub(crate) store: Arc<Store>,
    pub(crate) loaded: Arena<LoadedFile>,
    /// By absolute path; `None` for files that cannot be read.
    by_path: RefCell<HashMap<PathBuf, Option<TreeId>>>,
    by_file: RefCell<FastMap<FileId, TreeId>>,
    /// Texts that are not class files.
    others: RefCell<Vec<Arc<Text>>>,
    listings: Arena<Listing>,
    listing_positions: RefCell<HashMap<PathBuf, usize>>,
    /// Files that were asked for, with what they were.
    pub(crate) read: RefCell<Vec<(PathBuf, Result<FileId, String>)>>,
    pub(crate) probed: RefCell<BTreeMap<PathBuf, bool>>,
    pub(crate) resources: RefCell<BTreeMap<PathBuf, Option<u64>>>,
    messages: RefCell<Vec<Message>>,
    /// The files of the user are being loaded.
    pub(crate) is_loading: Cell<bool>,
    /// Something was not found that any broken file of the user might have declared.
    is_all_concerned: Cell<bool>,
}

impl Sources {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            loaded: Arena::new(),
            by_path: RefCell::default(),
            by_file: RefCell::default(),
            others: RefCell::default(),
            listings: Arena::new(),
            listing_positions: RefCell::default(),
            read: RefCell::default(),
            probed: RefCell::default(),
            resources: RefCell::default(),
            messages: RefCell::default(),
            is_loading: Cell::new(false),
            is_all_concerned: Cell::new(false),
        }
    }

    pub(crate) fn file(&self, id: TreeId) -> Option<&LoadedFile> {
        self.loaded.get(id.index())
    }

    /// The file, one of whose classes is looked at.
    pub(crate) fn used_file(&self, id: TreeId) -> Option<&LoadedFile> {
        let file = self.file(id)?;
        file.is_read.set(true);
        if !self.is_loading.get() {
            file.is_used.set(true);
        }
        Some(file)
    }

    pub(crate) fn tree_of_file(&self, file: FileId) -> Option<TreeId> {
        self.by_file.borrow().get(&file).copied()
    }

    /// The tree of a file, read now if it was not before; `None` (with a message) if it cannot be read.
    pub(crate) fn load(&self, path: &Path) -> Option<TreeId> {
        self.load_as(path, false)
    }

    /// Like [`load`](Self::load) for a file that the user named.
    pub(crate) fn load_users(&self, path: &Path) -> Option<TreeId> {
        self.load_as(path, true)
    }

    fn load_as(&self, path: &Path, is_users: bool) -> Option<TreeId> {
        let key = self.store.absolute(path);
        if let Some(&known) = self.by_path.borrow().get(&key) {
            return known;
        }
        let found = self.store.parsed(path);
        let seen = found.as_ref().map(|parsed| parsed.text.id).map_err(|problem| problem.message.clone());
        self.read.borrow_mut().push((path.to_path_buf(), seen));
        let tree = match found {
            Ok(parsed) => {
                parsed.text.problem.iter().for_each(|problem| self.report(problem.clone()));
                Some(self.enter(path, parsed))
            }
            Err(diagnostic) => {
                self.messages.borrow_mut().push(Message { diagnostic, is_about_missing_file: is_users });
                None
            }
        };
        self.by_path.borrow_mut().insert(key, tree);
        tree
    }

    /// Parses a text that is not read from a file.
    pub(crate) fn add_text(&self, path: &Path, text: &str) -> TreeId {
        let parsed = self.store.parse_text(path, text);
        self.enter(path, parsed)
    }

    fn enter(&self, path: &Path, parsed: Arc<ParsedFile>) -> TreeId {
        let file = parsed.text.id;
        let id = TreeId::from_usize(self.loaded.push(LoadedFile {
            path: path.to_path_buf(),
            parsed,
            is_from_loading: self.is_loading.get(),
            is_read: Cell::new(false),
            is_used: Cell::new(false),
            are_messages_said: Cell::new(false),
            users_classes: OnceCell::new(),
        }));
        self.by_file.borrow_mut().insert(file, id);
        id
    }

    /// A text file that does not hold classes.
    pub(crate) fn read_text(&self, path: &Path) -> Option<Arc<Text>> {
        let found = self.store.text(path);
        let seen = found.as_ref().map(|text| text.id).map_err(|problem| problem.message.clone());
        self.read.borrow_mut().push((path.to_path_buf(), seen));
        match found {
            Ok(text) => {
                text.problem.iter().for_each(|problem| self.report(problem.clone()));
                self.others.borrow_mut().push(text.clone());
                Some(text)
            }
            Err(problem) => {
                self.report(problem);
                None
            }
        }
    }

    pub(crate) fn is_file(&self, path: &Path) -> bool {
        let is_file = self.store.is_file(path);
        self.probed.borrow_mut().insert(path.to_path_buf(), is_file);
        is_file
    }

    /// The entries of a directory; asked once.
    pub(crate) fn listing(&self, dir: &Path) -> Result<&[DirEntry], &io::Error> {
        let known = self.listing_positions.borrow().get(dir).copied();
        let position = known.unwrap_or_else(|| {
            let position = self.listings.push(self.store.listing(dir));
            self.listing_positions.borrow_mut().insert(dir.to_path_buf(), position);
            position
        });
        match self.listings.get(position) {
            Some(Ok(entries)) => Ok(entries),
            Some(Err(error)) => Err(error),
            None => Ok(&[]),
        }
    }

    /// All directories that were listed.
    pub(crate) fn listed(&self) -> Vec<(PathBuf, Listing)> {
        let positions = self.listing_positions.borrow();
        let listed = positions.iter().filter_map(|(dir, &at)| Some((dir.clone(), self.listings.get(at)?.clone())));
        listed.collect()
    }

    pub(crate) fn read_resource(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.resources.borrow_mut().insert(path.to_path_buf(), self.store.resource_hash(path));
        self.store.read_resource(path)
    }

    /// Was no more needed of this file of the user than its outline?
    pub(crate) fn is_outline_enough(&self, file: FileId) -> bool {
        let file = self.tree_of_file(file).and_then(|tree| self.file(tree));
        let is_enough = |file: &LoadedFile| file.users_classes.get().is_some() && !file.is_read.get();
        !self.is_all_concerned.get() && file.is_some_and(is_enough)
    }

    fn is_idle(&self, file: FileId) -> bool {
        self.tree_of_file(file).and_then(|tree| self.file(tree)).is_some_and(LoadedFile::is_idle)
    }

    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.messages.borrow_mut().push(Message { diagnostic, is_about_missing_file: false });
    }

    /// Says what the parser found in a file whose classes are used from now on.
    pub(crate) fn report_syntax_errors(&self, id: TreeId) {
        if let Some(file) = self.file(id)
            && !file.are_messages_said.replace(true)
        {
            file.parsed.messages.iter().for_each(|message| self.report(message.clone()));
        }
    }

    /// Everything that was found so far.
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        found.extend(self.messages.borrow().iter().map(|message| message.diagnostic.clone()));
        found
    }

    pub(crate) fn n_messages(&self) -> usize {
        self.messages.borrow().len()
    }

    /// Is there an error in a used file among the messages from that number on?
    pub(crate) fn has_errors_from(&self, first: usize) -> bool {
        let messages = self.messages.borrow();
        messages.iter().skip(first).any(|m| m.diagnostic.severity == Severity::Error && self.concerns(m))
    }

    /// Of the first `n` messages those about files that are used. A message about two files makes both of them used.
    pub(crate) fn concerning(&self, n: usize) -> Diagnostics {
        let messages = self.messages.borrow();
        loop {
            let concerned = messages.iter().filter(|message| self.concerns(message));
            let idle = concerned.flat_map(|message| spans(&message.diagnostic)).find(|span| self.is_idle(span.file));
            let tree = idle.and_then(|span| self.tree_of_file(span.file));
            if tree.and_then(|tree| self.used_file(tree)).is_none() {
                break;
            }
        }
        let mut found = Diagnostics::new();
        found.extend(messages.iter().take(n).filter(|message| self.concerns(message)).map(|m| m.diagnostic.clone()));
        found
    }

    fn concerns(&self, message: &Message) -> bool {
        if self.is_all_concerned.get() {
            return true;
        }
        let mut spans = spans(&message.diagnostic).peekable();
        match spans.peek() {
            Some(_) => spans.any(|span| !self.is_idle(span.file)),
            None => !message.is_about_missing_file,
        }
    }

    /// Something is missing. If a file of the user is broken or cannot be read, it may be in there: then what is wrong with
    /// these files explains it, and `true` is the answer.
    pub(crate) fn blame_broken_files(&self) -> bool {
        let messages = self.messages.borrow();
        let is_broken = |m: &Message| m.diagnostic.severity == Severity::Error && !self.concerns(m);
        if messages.iter().any(is_broken) {
            self.is_all_concerned.set(true);
        }
        self.is_all_concerned.get()
    }

    /// The texts of this tree.
    pub(crate) fn map(&self) -> SourceMap {
        let mut map = SourceMap::new();
        for file in self.loaded.iter() {
            map.insert(file.parsed.text.id, file.parsed.text.source.clone());
        }
        for text in self.others.borrow().iter() {
            map.insert(text.id, text.source.clone());
        }
        map
    }

    pub(crate) fn files_read(&self) -> Vec<String> {
        let read = self.read.borrow();
        read.iter().filter(|(_, seen)| seen.is_ok()).map(|(path, _)| path.display().to_string()).collect()
    }
}

fn spans(diagnostic: &Diagnostic) -> impl Iterator<Item = Span> {
    let labels = diagnostic.labels.iter().map(|label| label.span).filter(|span| !span.is_nowhere());
    diagnostic.span.into_iter().chain(labels)
}
