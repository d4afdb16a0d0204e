//! The texts of a session and what is known about them, shared by every class tree that is built on them.
//!
//! In: the file system, edits of the user on top of it, and word that something changed on disk. Out: texts with their
//! [`FileId`], syntax trees, listings of directories. What was asked once is remembered until [`Store::set_text`],
//! [`Store::remove_text`] or [`Store::reload`] says that it may be different; then it is read again on demand, and a file
//! whose text turns out to be the same keeps its id and its tree.
//!
//! Invariants: a [`FileId`] stands for one text of one file, for ever. The text of an id is kept as long as a user
//! holds it: the store for the current text of a file, a result for what it was made of.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use saltus_base::{Diagnostic, Diagnostics, FileId, Index, Interner, LineIndex, Name, SourceFile, SourceMap, Span};
use saltus_syntax::ast::StoredDefinition;

use crate::diagnostics;
use crate::files::{DirEntry, FileSource, MAX_FILE_SIZE};
use crate::outline::Outline;

/// Deprecated at the beginning of a file, and white space where it stands.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Identifiers that edits may leave behind before all files are parsed anew without them.
const MOST_STALE_NAMES: usize = 20_000;

/// The entries of a directory, or why it cannot be listed.
pub(crate) type Listing = Result<Arc<[DirEntry]>, Arc<io::Error>>;

/// One text of one file.
pub(crate) struct Text {
    pub(crate) id: FileId,
    pub(crate) source: Arc<SourceFile>,
    /// What was wrong with the bytes.
    pub(crate) problem: Option<Diagnostic>,
}

/// A text that was parsed.
pub(crate) struct ParsedFile {
    pub(crate) text: Arc<Text>,
    pub(crate) tree: StoredDefinition,
    pub(crate) messages: Diagnostics,
    pub(crate) has_syntax_errors: bool,
    /// What others can see of the file without entering one of its classes.
    pub(crate) outline: Outline,
}

pub struct Store {
    files: Box<dyn FileSource>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Texts of the user in the place of files, by absolute path.
    overlays: BTreeMap<PathBuf, Arc<str>>,
    /// By the path as it was written: messages show it.
    known: HashMap<PathBuf, Known>,
    sources: HashMap<FileId, Weak<SourceFile>>,
    /// Entries of `sources` at which the dead ones are removed.
    sweep_at: usize,
    n_files: usize,
    names: Interner,
    /// Identifiers at the first edit after all files were parsed.
    n_names_fresh: Option<usize>,
    n_libraries: u32,
    /// Counts everything that may change an answer.
    change: u64,
}

/// What is known about a path.
#[derive(Default)]
struct Known {
    absolute: PathBuf,
    is_file: Option<bool>,
    listing: Option<Listing>,
    text: Option<Result<Arc<Text>, Diagnostic>>,
    /// The text may have changed since it was read.
    is_stale: bool,
    /// How often the text was another one; 1 for the first.
    revision: u64,
    parsed: Option<Arc<ParsedFile>>,
    /// Hash of the bytes of a resource; `None` in it if there are none.
    resource: Option<Option<u64>>,
}

impl Store {
    pub fn new(files: Box<dyn FileSource>) -> Arc<Store> {
        Arc::new(Store { files, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of the parser leaves no half-made state behind: results are entered when they are complete.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Puts a text in the place of the file; the file need not exist.
    pub fn set_text(&self, path: &Path, text: &str) {
        let key = self.files.absolute(path);
        let state = &mut *self.state();
        if state.overlays.get(&key).is_some_and(|known| **known == *text) {
            return;
        }
        state.overlays.insert(key.clone(), text.into());
        state.invalidate(&key, false);
        // Every text that is set counts as a revision, whether it is used or not.
        let _ = self.text_in(state, path);
    }

    /// Takes the text of [`set_text`](Self::set_text) away; the file counts again, if there is one.
    pub fn remove_text(&self, path: &Path) {
        let key = self.files.absolute(path);
        let state = &mut *self.state();
        if state.overlays.remove(&key).is_some() {
            state.invalidate(&key, false);
        }
    }

    /// The file, or everything below the directory, may have changed on disk, may be new or gone.
    pub fn reload(&self, path: &Path) {
        let key = self.files.absolute(path);
        self.state().invalidate(&key, true);
    }

    /// How often the text of a file was another one, 1 for the first; `None` if it cannot be read.
    pub fn revision(&self, path: &Path) -> Option<u64> {
        let state = &mut *self.state();
        self.text_in(state, path).ok()?;
        // Another spelling of the path may have seen more of the file.
        let absolute = state.known.get(path)?.absolute.clone();
        let alike = state.known.iter().filter(|(_, known)| known.absolute == absolute && known.revision > 0);
        let spellings: Vec<PathBuf> = alike.map(|(spelling, _)| spelling.clone()).collect();
        let revisions = spellings.iter().filter_map(|spelling| {
            self.text_in(state, spelling).ok()?;
            Some(state.known.get(spelling)?.revision)
        });
        revisions.max()
    }

    /// The id of the present text of a file; `None` if it cannot be read.
    pub fn file_id(&self, path: &Path) -> Option<FileId> {
        Some(self.text(path).ok()?.id)
    }

    /// Changes whenever an answer may change.
    pub fn change(&self) -> u64 {
        self.state().change
    }

    /// How many texts are kept, current and old.
    pub fn n_texts(&self) -> usize {
        self.state().sources.values().filter(|source| source.strong_count() > 0).count()
    }

    /// How many identifiers are kept.
    pub fn n_names(&self) -> usize {
        self.state().names.len()
    }

    /// Forgets all identifiers and parses all files again on demand, if edits have left too many identifiers behind. No
    /// library may be in use: its names would mean others.
    pub fn drop_stale_names(&self) {
        let state = &mut *self.state();
        match state.n_names_fresh {
            // What is needed has been parsed by now: this is how many there are without leftovers.
            None => state.n_names_fresh = Some(state.names.len()),
            Some(fresh) if state.names.len() > 2 * fresh + MOST_STALE_NAMES => {
                state.names = Interner::new();
                state.known.values_mut().for_each(|known| known.parsed = None);
                state.n_names_fresh = None;
            }
            Some(_) => {}
        }
    }

    /// All texts in use.
    pub fn source_map(&self) -> SourceMap {
        let mut map = SourceMap::new();
        for (&id, source) in &self.state().sources {
            if let Some(source) = source.upgrade() {
                map.insert(id, source);
            }
        }
        map
    }

    pub(crate) fn next_library(&self) -> u32 {
        let state = &mut *self.state();
        state.n_libraries = state.n_libraries.wrapping_add(1);
        state.n_libraries
    }

    pub(crate) fn intern(&self, text: &str) -> Name {
        self.state().names.intern(text)
    }

    pub(crate) fn name_text(&self, name: Name) -> Arc<str> {
        self.state().names.shared_text(name)
    }

    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.files.absolute(path)
    }

    pub(crate) fn is_file(&self, path: &Path) -> bool {
        let state = &mut *self.state();
        let known = state.know(path, &*self.files);
        if let Some(is_file) = known.is_file {
            return is_file;
        }
        let is_overlaid = state.overlays.contains_key(&state.known[path].absolute);
        let is_file = is_overlaid || self.files.is_file(path);
        state.know(path, &*self.files).is_file = Some(is_file);
        is_file
    }

    pub(crate) fn listing(&self, dir: &Path) -> Listing {
        let state = &mut *self.state();
        if let Some(known) = &state.know(dir, &*self.files).listing {
            return known.clone();
        }
        let absolute = state.known[dir].absolute.clone();
        let overlaid = state.overlaid_below(&absolute).filter_map(first_entry).collect();
        let listing = merged(self.files.list(dir), overlaid).map(Arc::from).map_err(Arc::new);
        state.know(dir, &*self.files).listing = Some(listing.clone());
        listing
    }

    /// The text of a file; bytes that are not UTF-8 are replaced, so that the rest of the file can be used.
    pub(crate) fn text(&self, path: &Path) -> Result<Arc<Text>, Diagnostic> {
        self.text_in(&mut self.state(), path)
    }

    fn text_in(&self, state: &mut State, path: &Path) -> Result<Arc<Text>, Diagnostic> {
        let known = state.know(path, &*self.files);
        if let Some(text) = known.text.as_ref().filter(|_| !known.is_stale) {
            return text.clone();
        }
        let read = self.read_bytes(state, path);
        let known = state.know(path, &*self.files);
        known.is_stale = false;
        let text = match (read, &known.text) {
            (Ok(bytes), Some(Ok(before))) if before.is_of(&bytes) => return Ok(before.clone()),
            (Ok(bytes), _) => {
                known.revision += 1;
                Ok(state.add_text(path, &bytes))
            }
            (Err(problem), _) => Err(problem),
        };
        let known = state.know(path, &*self.files);
        known.parsed = None;
        known.text = Some(text.clone());
        text
    }

    fn read_bytes(&self, state: &mut State, path: &Path) -> Result<Vec<u8>, Diagnostic> {
        let absolute = state.know(path, &*self.files).absolute.clone();
        if let Some(text) = state.overlays.get(&absolute) {
            return Ok(text.as_bytes().to_vec());
        }
        if let Some(size) = self.files.size(path).filter(|&size| size > MAX_FILE_SIZE) {
            return Err(diagnostics::file_too_large(path, size));
        }
        if state.overlaid_below(&absolute).next().is_some() || self.files.is_dir(path) {
            return Err(diagnostics::directory_instead_of_file(path));
        }
        let bytes = self.files.read(path).map_err(|error| diagnostics::unreadable_file(path, &error))?;
        match bytes.len() as u64 {
            size if size > MAX_FILE_SIZE => Err(diagnostics::file_too_large(path, size)),
            _ => Ok(bytes),
        }
    }

    /// The syntax tree of a file, also of one with mistakes.
    pub(crate) fn parsed(&self, path: &Path) -> Result<Arc<ParsedFile>, Diagnostic> {
        let state = &mut *self.state();
        let text = self.text_in(state, path)?;
        if let Some(parsed) = &state.known[path].parsed {
            return Ok(parsed.clone());
        }
        let parsed = state.parse(text);
        state.know(path, &*self.files).parsed = Some(parsed.clone());
        Ok(parsed)
    }

    /// Parses a text that is not a file.
    pub(crate) fn parse_text(&self, path: &Path, text: &str) -> Arc<ParsedFile> {
        let state = &mut *self.state();
        let text = state.add_text(path, text.as_bytes());
        state.parse(text)
    }

    /// The bytes of a file that is not Modelica.
    pub(crate) fn read_resource(&self, path: &Path) -> io::Result<Vec<u8>> {
        let overlay = self.state().overlays.get(&self.files.absolute(path)).cloned();
        overlay.map_or_else(|| self.read_regular(path), |text| Ok(text.as_bytes().to_vec()))
    }

    fn read_regular(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.files.is_special(path) {
            return Err(io::Error::other("it is a pipe or a device"));
        }
        let bytes = self.files.read(path)?;
        if bytes.len() as u64 > MAX_FILE_SIZE {
            return Err(io::Error::other(format!("it is larger than {MAX_FILE_SIZE} bytes")));
        }
        Ok(bytes)
    }

    /// A hash of the bytes of such a file, remembered like a text; `None` if it cannot be read.
    pub(crate) fn resource_hash(&self, path: &Path) -> Option<u64> {
        if let Some(known) = self.state().know(path, &*self.files).resource {
            return known;
        }
        let hash = self.read_resource(path).ok().map(|bytes| {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            hasher.finish()
        });
        self.state().know(path, &*self.files).resource = Some(hash);
        hash
    }
}

/// The files with the texts of the user over them, as they are now: nothing is remembered.
impl FileSource for Store {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read_resource(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let absolute = self.files.absolute(dir);
        merged(self.files.list(dir), self.state().overlaid_below(&absolute).filter_map(first_entry).collect())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.state().overlays.contains_key(&self.files.absolute(path)) || self.files.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        let absolute = self.files.absolute(path);
        self.state().overlaid_below(&absolute).next().is_some() || self.files.is_dir(path)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.files.absolute(path)
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.files.real(path)
    }

    fn is_special(&self, path: &Path) -> bool {
        self.files.is_special(path)
    }

    fn is_read_only(&self, path: &Path) -> bool {
        self.files.is_read_only(path)
    }
}

impl State {
    fn know(&mut self, path: &Path, files: &dyn FileSource) -> &mut Known {
        if !self.known.contains_key(path) {
            let known = Known { absolute: files.absolute(path), ..Known::default() };
            self.known.insert(path.to_path_buf(), known);
        }
        self.known.entry(path.to_path_buf()).or_default()
    }

    /// What is known of `key`, and with `below` of everything in that directory, is to be found out again; so are the
    /// listings of the directories around it.
    fn invalidate(&mut self, key: &Path, below: bool) {
        self.change += 1;
        for known in self.known.values_mut() {
            if known.absolute == key || below && known.absolute.starts_with(key) {
                known.is_file = None;
                known.resource = None;
                known.is_stale = true;
                known.listing = None;
            }
            if key.starts_with(&known.absolute) {
                known.listing = None;
            }
        }
    }

    /// Paths of the user's texts strictly below a directory, relative to it.
    fn overlaid_below(&self, dir: &Path) -> impl Iterator<Item = &Path> {
        self.overlays.keys().filter_map(move |path| path.strip_prefix(dir).ok()).filter(|path| *path != Path::new(""))
    }

    fn add_text(&mut self, path: &Path, bytes: &[u8]) -> Arc<Text> {
        let content = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let bad_offset = std::str::from_utf8(content).err().map(|error| error.valid_up_to());
        let text: Arc<str> = String::from_utf8_lossy(content).into();
        let id = FileId::from_usize(self.n_files);
        self.n_files += 1;
        let lines = LineIndex::new(&text);
        let source = Arc::new(SourceFile { path: path.display().to_string(), text, lines });
        let problem = bad_offset.map(|offset| {
            // Up to the first bad byte the decoded text agrees with the file; there the replacement character stands.
            let end = offset + char::REPLACEMENT_CHARACTER.len_utf8();
            let in_file = offset + bytes.len() - content.len();
            diagnostics::not_utf8(path, Span::new(id, offset as u32, end as u32), in_file)
        });
        if self.sources.len() >= self.sweep_at {
            self.sources.retain(|_, source| source.strong_count() > 0);
            self.sweep_at = 2 * self.sources.len() + 64;
        }
        self.sources.insert(id, Arc::downgrade(&source));
        Arc::new(Text { id, source, problem })
    }

    fn parse(&mut self, text: Arc<Text>) -> Arc<ParsedFile> {
        let parsed = saltus_syntax::parse(text.id, &text.source.text, &mut self.names);
        let outline = Outline::of(&parsed.tree, &text.source.text, parsed.diagnostics.has_errors(), &self.names);
        Arc::new(ParsedFile {
            text,
            tree: parsed.tree,
            has_syntax_errors: parsed.diagnostics.has_errors(),
            messages: parsed.diagnostics,
            outline,
        })
    }
}

impl Text {
    /// Is this the text of a file with these bytes?
    fn is_of(&self, bytes: &[u8]) -> bool {
        let content = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        self.problem.is_none() && self.source.text.as_bytes() == content
    }
}

/// The entries of a directory and those that texts of the user add to it.
fn merged(stored: io::Result<Vec<DirEntry>>, overlaid: BTreeSet<DirEntry>) -> io::Result<Vec<DirEntry>> {
    if overlaid.is_empty() {
        return stored;
    }
    Ok(stored.into_iter().flatten().chain(overlaid).collect::<BTreeSet<_>>().into_iter().collect())
}

/// The entry of a directory that leads to a path below it.
fn first_entry(path: &Path) -> Option<DirEntry> {
    let mut components = path.components();
    let name = components.next()?.as_os_str().to_str()?.to_string();
    Some(DirEntry { name, is_dir: components.next().is_some() })
}
