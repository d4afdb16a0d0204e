//! Where libraries may be found: the search paths and what lies in them (specification chapter 13, "The Modelica
//! Library Path", and chapter 18, "Versions in the File System").
//!
//! A root of the search holds `Name.mo`, `Name 4.1.0.mo`, `Name/package.mo` or
//! `Name 4.1.0/package.mo`. It is listed once; which of several candidates is taken is decided in `choice.rs`.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use saltus_base::{Diagnostic, Name, Span, nearest};

use crate::diagnostics;
use crate::library::{Library, identifier_length};
use crate::names::FastMap;
use crate::version::Version;

/// A directory to look for libraries in, with what was found there.
pub(crate) struct SearchRoot {
    pub(crate) path: PathBuf,
    index: OnceCell<RootIndex>,
}

#[derive(Default)]
struct RootIndex {
    candidates: FastMap<Name, Vec<Candidate>>,
    /// In the order of the listing, for messages.
    names: Vec<Name>,
}

/// A file or directory that may hold a library.
pub(crate) struct Candidate {
    /// The `.mo` file or the directory.
    pub(crate) path: PathBuf,
    pub(crate) is_directory: bool,
    /// The version in its name.
    pub(crate) version: Option<Version>,
}

impl SearchRoot {
    fn new(dir: &Path) -> Self {
        Self { path: dir.to_path_buf(), index: OnceCell::new() }
    }
}

impl Library {
    /// Adds a directory that contains packages, or a package itself (its directory or its file), behind the search
    /// paths already there.
    pub fn add_search_path(&self, dir: &Path) {
        if self.search.iter().any(|root| root.path == dir) {
            return;
        }
        self.search.push(SearchRoot::new(dir));
        self.forget_absent_libraries();
    }

    /// The search paths in their order, those of the tool last.
    pub(crate) fn search_paths(&self) -> Vec<PathBuf> {
        self.search.iter().chain(self.shipped.get()).map(|root| root.path.clone()).collect()
    }

    /// The directory of the libraries that come with the tool: searched behind all search paths, also those that are
    /// added later, and not mentioned in messages about where was searched. The first call counts.
    pub fn set_shipped_path(&self, dir: &Path) {
        if self.shipped.set(SearchRoot::new(dir)).is_ok() {
            self.forget_absent_libraries();
        }
    }

    fn forget_absent_libraries(&self) {
        if let Some(children) = self.children_of(self.root()) {
            children.forget_absent();
        }
    }

    /// Where to search, in this order.
    pub(crate) fn search_roots(&self) -> impl Iterator<Item = &SearchRoot> {
        self.search.iter().chain(self.shipped.get())
    }

    /// Adds the directories of a `MODELICAPATH`, separated by `:` (by `;` on Windows).
    pub fn add_modelica_path(&self, value: &str) {
        split_modelica_path(value).for_each(|dir| self.add_search_path(dir));
    }

    /// The candidates for a library in one root, in the order of the listing.
    pub(crate) fn candidates<'a>(&'a self, root: &'a SearchRoot, name: Name) -> Vec<&'a Candidate> {
        let found = self.root_index(root).candidates.get(&name);
        let is_package = |c: &&Candidate| !c.is_directory || self.sources.is_file(&c.path.join("package.mo"));
        found.into_iter().flatten().filter(is_package).collect()
    }

    /// Names of the files and package directories in a root, in the order of the listing.
    pub(crate) fn promised_names<'a>(&'a self, root: &'a SearchRoot) -> impl Iterator<Item = Name> + 'a {
        let names = self.root_index(root).names.iter().copied();
        names.filter(move |&name| !self.candidates(root, name).is_empty())
    }

    fn root_index<'a>(&'a self, root: &'a SearchRoot) -> &'a RootIndex {
        root.index.get_or_init(|| self.index_root(&root.path))
    }

    fn index_root(&self, dir: &Path) -> RootIndex {
        let mut index = RootIndex::default();
        let package_file = dir.join("package.mo");
        if self.sources.is_file(&package_file) {
            self.index_package_as_root(dir, &package_file, true, &mut index);
            return index;
        }
        if self.sources.is_file(dir) {
            self.index_package_as_root(dir, dir, false, &mut index);
            return index;
        }
        let entries = match self.sources.listing(dir) {
            Ok(entries) => entries,
            Err(error) => {
                self.sources.report(diagnostics::unreadable_search_path(dir, error));
                return index;
            }
        };
        for entry in entries {
            let stem = if entry.is_dir { Some(entry.name.as_str()) } else { entry.name.strip_suffix(".mo") };
            let Some((name, version)) = stem.and_then(split_version) else { continue };
            let candidate = Candidate { path: dir.join(&entry.name), is_directory: entry.is_dir, version };
            self.add_candidate(&mut index, name, candidate);
        }
        index
    }

    /// A search path that is a package itself. The user named it, so the class it defines decides what it is called,
    /// not the directory (a checkout, a download).
    fn index_package_as_root(&self, path: &Path, text_file: &Path, is_directory: bool, index: &mut RootIndex) {
        let Some(tree) = self.sources.load(text_file) else { return };
        let Some(first) = self.sources.file(tree).and_then(|file| file.tree().classes.first()) else { return };
        let version = self.version_in_path(path);
        let name = self.text(first.class.name.name);
        self.add_candidate(index, name, Candidate { path: path.to_path_buf(), is_directory, version });
    }

    fn add_candidate(&self, index: &mut RootIndex, name: &str, candidate: Candidate) {
        let name = self.intern(name);
        let candidates = index.candidates.entry(name).or_default();
        if candidates.is_empty() {
            index.names.push(name);
        }
        candidates.push(candidate);
    }

    /// `4.1.0` of `libs/Modelica 4.1.0` or `libs/Modelica 4.1.0.mo`.
    pub(crate) fn version_in_path(&self, path: &Path) -> Option<Version> {
        let absolute = self.sources.store.absolute(path);
        let name = absolute.file_name()?.to_str()?;
        split_version(name.strip_suffix(".mo").unwrap_or(name))?.1
    }

    pub(crate) fn missing_library_message(&self, name: Name, wanted: Option<&Version>, span: Span) -> Diagnostic {
        let text = self.text(name);
        let known = self.search_roots().flat_map(|root| self.root_index(root).names.iter());
        let mut known: Vec<&str> = known.map(|&known| self.text(known)).collect();
        known.sort_unstable();
        diagnostics::missing_library(text, wanted, &self.searched(), nearest(text, known), span)
    }

    /// The search paths, for messages.
    pub(crate) fn searched(&self) -> Vec<&Path> {
        self.search.iter().map(|root| root.path.as_path()).collect()
    }

    /// The top-level name that differs from `text` at most in upper and lower case: loaded, or in the search paths.
    pub(crate) fn top_level_name_ignoring_case(&self, text: &str) -> Option<Name> {
        let loaded = self.children(self.root()).into_iter().filter_map(|id| self.name_of(id));
        let found = self.search_roots().flat_map(|root| self.root_index(root).names.iter().copied());
        loaded.chain(found).find(|&name| self.text(name).eq_ignore_ascii_case(text))
    }
}

/// The directories of a `MODELICAPATH`, separated by `:` (by `;` on Windows).
pub fn split_modelica_path(value: &str) -> impl Iterator<Item = &Path> {
    let separator = if cfg!(windows) { ';' } else { ':' };
    value.split(separator).map(str::trim).filter(|dir| !dir.is_empty()).map(Path::new)
}

/// Splits `Modelica 4.1.0` into name and version; `None` if it does not begin with an identifier.
fn split_version(stem: &str) -> Option<(&str, Option<Version>)> {
    let length = identifier_length(stem)?;
    let (name, rest) = stem.split_at(length);
    match rest.strip_prefix(' ') {
        None if rest.is_empty() => Some((name, None)),
        Some(version) if !version.trim().is_empty() => Some((name, Some(Version::new(version)))),
        _ => None,
    }
}
