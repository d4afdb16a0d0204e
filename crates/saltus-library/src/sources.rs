//! Reading: files are read, decoded and parsed once, directories are listed once.
//!
//! In: a path. Out: the syntax tree, also of a file with mistakes; what was wrong goes to the diagnostics.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_base::{Diagnostic, Diagnostics, FileId, Index, SourceMap, Span};
use saltus_syntax::ast::StoredDefinition;

use crate::arena::Arena;
use crate::diagnostics;
use crate::files::{DirEntry, FileSource, MAX_FILE_SIZE};
use crate::library::ClassId;
use crate::names::{FastMap, Names};
use crate::place::TreeId;

/// Deprecated at the beginning of a file, and white space where it stands.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file that was parsed.
pub(crate) struct LoadedFile {
    pub(crate) path: PathBuf,
    pub(crate) tree: StoredDefinition,
    /// Syntax errors, held back until one of the file's classes is used: a version that is only looked at to be
    /// turned down is none of the user's business.
    messages: RefCell<Diagnostics>,
    pub(crate) has_syntax_errors: bool,
    /// The classes the file defines at its top level, once the user has loaded it.
    pub(crate) users_classes: OnceCell<Vec<ClassId>>,
}

pub(crate) struct Sources {
    pub(crate) files: Arc<dyn FileSource>,
    pub(crate) loaded: Arena<LoadedFile>,
    map: RefCell<SourceMap>,
    /// By absolute path; `None` for files that cannot be read.
    by_path: RefCell<HashMap<PathBuf, Option<TreeId>>>,
    by_file: RefCell<FastMap<FileId, TreeId>>,
    listings: Arena<io::Result<Vec<DirEntry>>>,
    listing_positions: RefCell<HashMap<PathBuf, usize>>,
    files_read: RefCell<Vec<String>>,
    diagnostics: RefCell<Diagnostics>,
}

impl Sources {
    pub(crate) fn new(files: Arc<dyn FileSource>) -> Self {
        Self {
            files,
            loaded: Arena::new(),
            map: RefCell::default(),
            by_path: RefCell::default(),
            by_file: RefCell::default(),
            listings: Arena::new(),
            listing_positions: RefCell::default(),
            files_read: RefCell::default(),
            diagnostics: RefCell::default(),
        }
    }

    pub(crate) fn file(&self, id: TreeId) -> Option<&LoadedFile> {
        self.loaded.get(id.index())
    }

    pub(crate) fn tree_of_file(&self, file: FileId) -> Option<TreeId> {
        self.by_file.borrow().get(&file).copied()
    }

    /// The tree of a file, read now if it was not before; `None` (with a message) if it cannot be read.
    pub(crate) fn load(&self, path: &Path, names: &Names) -> Option<TreeId> {
        let key = self.files.absolute(path);
        if let Some(&known) = self.by_path.borrow().get(&key) {
            return known;
        }
        let tree = self.read_text(path).map(|(file, text)| self.parse(path, file, &text, names));
        self.by_path.borrow_mut().insert(key, tree);
        tree
    }

    /// Parses a text that is not read from a file.
    pub(crate) fn add_text(&self, path: &Path, text: &str, names: &Names) -> TreeId {
        let text: Arc<str> = text.strip_prefix('\u{feff}').unwrap_or(text).into();
        let file = self.map.borrow_mut().add(path.display().to_string(), text.clone());
        self.parse(path, file, &text, names)
    }

    fn parse(&self, path: &Path, file: FileId, text: &str, names: &Names) -> TreeId {
        let parsed = names.with_interner(|interner| saltus_syntax::parse(file, text, interner));
        let id = TreeId::from_usize(self.loaded.push(LoadedFile {
            path: path.to_path_buf(),
            tree: parsed.tree,
            has_syntax_errors: parsed.diagnostics.has_errors(),
            messages: RefCell::new(parsed.diagnostics),
            users_classes: OnceCell::new(),
        }));
        self.by_file.borrow_mut().insert(file, id);
        id
    }

    /// Reads and decodes a text file and makes it known as a source. Bytes that are not UTF-8 are reported and
    /// replaced, so that the rest of the file can be used.
    pub(crate) fn read_text(&self, path: &Path) -> Option<(FileId, Arc<str>)> {
        let bytes = match self.read_bytes(path) {
            Ok(bytes) => bytes,
            Err(problem) => {
                self.report(problem);
                return None;
            }
        };
        self.files_read.borrow_mut().push(path.display().to_string());
        let content = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        let bad_offset = std::str::from_utf8(content).err().map(|error| error.valid_up_to());
        let text: Arc<str> = String::from_utf8_lossy(content).into();
        let file = self.map.borrow_mut().add(path.display().to_string(), text.clone());
        if let Some(offset) = bad_offset {
            // Up to the first bad byte the decoded text agrees with the file; there the replacement character stands.
            let end = offset + char::REPLACEMENT_CHARACTER.len_utf8();
            let in_file = offset + bytes.len() - content.len();
            self.report(diagnostics::not_utf8(path, Span::new(file, offset as u32, end as u32), in_file));
        }
        Some((file, text))
    }

    fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, Diagnostic> {
        if let Some(size) = self.files.size(path).filter(|&size| size > MAX_FILE_SIZE) {
            return Err(diagnostics::file_too_large(path, size));
        }
        if self.files.is_dir(path) {
            return Err(diagnostics::directory_instead_of_file(path));
        }
        let bytes = self.files.read(path).map_err(|error| diagnostics::unreadable_file(path, &error))?;
        match bytes.len() as u64 {
            size if size > MAX_FILE_SIZE => Err(diagnostics::file_too_large(path, size)),
            _ => Ok(bytes),
        }
    }

    /// The entries of a directory; asked of the file system once.
    pub(crate) fn listing(&self, dir: &Path) -> Result<&[DirEntry], &io::Error> {
        let known = self.listing_positions.borrow().get(dir).copied();
        let position = known.unwrap_or_else(|| {
            let position = self.listings.push(self.files.list(dir));
            self.listing_positions.borrow_mut().insert(dir.to_path_buf(), position);
            position
        });
        match self.listings.get(position) {
            Some(Ok(entries)) => Ok(entries),
            Some(Err(error)) => Err(error),
            None => Ok(&[]),
        }
    }

    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Says what the parser found in a file whose classes are used from now on.
    pub(crate) fn report_syntax_errors(&self, id: TreeId) {
        if let Some(file) = self.file(id) {
            self.diagnostics.borrow_mut().extend(file.messages.take());
        }
    }

    pub(crate) fn take_diagnostics(&self) -> Diagnostics {
        self.diagnostics.take()
    }

    pub(crate) fn with_map<R>(&self, use_it: impl FnOnce(&SourceMap) -> R) -> R {
        use_it(&self.map.borrow())
    }

    pub(crate) fn files_read(&self) -> Vec<String> {
        self.files_read.borrow().clone()
    }
}
