//! Finding a top-level class in the search paths (specification chapter 13, "The Modelica Library Path", and
//! chapter 18, "Versions in the File System").
//!
//! A root of the search holds `Modelica.mo`, `Modelica 4.1.0.mo`, `Modelica/package.mo` or
//! `Modelica 4.1.0/package.mo`. If a loaded class says `uses(Modelica(version="4.1.0"))`, that version is looked for
//! in all roots, then one that replaces it without changes (`noneFromVersion`), and for want of both the highest is
//! loaded with a warning. If nobody asks, the first root that holds the library wins, and in it the highest version.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use saltus_base::{Diagnostic, Name, Span};
use saltus_syntax::ast::ClassDef;

use crate::annotations::Use;
use crate::classes::{ClassEntry, Origin, Slot};
use crate::diagnostics;
use crate::library::{ClassId, Library, identifier_length};
use crate::names::FastMap;
use crate::place::{Place, TreeId};
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
struct Candidate {
    /// The `.mo` file or the directory.
    path: PathBuf,
    is_directory: bool,
    /// The version in its name.
    version: Option<Version>,
}

/// A candidate that was opened.
struct Opened<'a> {
    candidate: &'a Candidate,
    tree: TreeId,
    class: &'a ClassDef,
    version: Option<Version>,
}

/// A `uses` annotation of a loaded top-level class.
#[derive(Clone)]
pub(crate) struct Requirement {
    pub(crate) used: Use,
    pub(crate) is_reported: bool,
}

impl Library {
    /// Adds a directory that contains packages, or that is one itself, behind those already there.
    pub fn add_search_path(&self, dir: &Path) {
        if self.search.iter().any(|root| root.path == dir) {
            return;
        }
        self.search.push(SearchRoot { path: dir.to_path_buf(), index: OnceCell::new() });
        if let Some(children) = self.children_of(self.root()) {
            children.forget_absent();
        }
    }

    /// Adds the directories of a `MODELICAPATH`, separated by `:` (by `;` on Windows).
    pub fn add_modelica_path(&self, value: &str) {
        let separator = if cfg!(windows) { ';' } else { ':' };
        for dir in value.split(separator).map(str::trim).filter(|dir| !dir.is_empty()) {
            self.add_search_path(Path::new(dir));
        }
    }

    /// Looks for the class in the search paths and loads it.
    pub(crate) fn search_top_level(&self, name: Name) -> Option<ClassId> {
        let root = self.children_of(self.root())?;
        root.set(name, Slot::Absent);
        let Some(chosen) = self.choose(name) else {
            self.report_missing(name);
            return None;
        };
        self.sources.report_syntax_errors(chosen.tree);
        let class = chosen.class;
        if class.name.name != name {
            let (stored, found) = (self.text(name), self.text(class.name.name));
            self.sources.report(diagnostics::name_mismatch(
                stored,
                found,
                chosen.candidate.is_directory,
                class.name.span,
            ));
        }
        self.check_top_level(&chosen, name);
        let directory = chosen.candidate.is_directory.then(|| chosen.candidate.path.clone());
        let entry = ClassEntry::new(Some(self.root()), name, Some(Place::top(chosen.tree, 0)), Origin::Search);
        let id = self.push_class(entry.stored_in(directory));
        root.put(name, id);
        self.enter_top_level(id, class, chosen.version.as_ref());
        Some(id)
    }

    /// Notes what a new top-level class uses, and checks it against what others asked of it.
    pub(crate) fn enter_top_level(&self, id: ClassId, class: &ClassDef, version: Option<&Version>) {
        let Some(name) = self.name_of(id) else { return };
        let asked: Vec<Use> = self.uses_of(name);
        for used in &asked {
            self.check_version(used, class, version);
        }
        for used in self.annotation_names.uses(class) {
            self.requirements.borrow_mut().push(Requirement { used: used.clone(), is_reported: false });
            let root = self.children_of(self.root());
            if let Some(Slot::Class(loaded)) = root.and_then(|root| root.slot(used.library))
                && let Some(definition) = self.definition(loaded)
            {
                let version = self.annotation_names.version(definition).map(|(version, _)| version);
                self.check_version(&used, definition, version.as_ref());
            }
        }
    }

    fn uses_of(&self, library: Name) -> Vec<Use> {
        let requirements = self.requirements.borrow();
        requirements.iter().filter(|r| r.used.library == library).map(|r| r.used.clone()).collect()
    }

    fn check_version(&self, used: &Use, class: &ClassDef, version: Option<&Version>) {
        let Some(wanted) = &used.version else { return };
        if version == Some(wanted) || self.annotation_names.converts_without_change(class, wanted) {
            return;
        }
        let name = self.text(used.library);
        let found = self.versions_found(used.library);
        let searched = self.searched();
        self.sources.report(diagnostics::other_version(name, wanted, version, &found, &searched, used.span));
    }

    fn choose(&self, name: Name) -> Option<Opened<'_>> {
        let wanted = self.uses_of(name).into_iter().find_map(|used| used.version);
        let groups: Vec<Vec<&Candidate>> = self.search.iter().map(|root| self.candidates(root, name)).collect();
        if let Some(wanted) = wanted {
            return self.choose_version(groups.into_iter().flatten().collect(), &wanted);
        }
        groups.into_iter().find_map(|group| self.highest(group))
    }

    fn choose_version<'a>(&'a self, candidates: Vec<&'a Candidate>, wanted: &Version) -> Option<Opened<'a>> {
        let says = |version: &Option<Version>| version.as_ref() == Some(wanted);
        let (named, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|c| says(&c.version));
        if let Some(opened) = named.into_iter().find_map(|candidate| self.open(candidate)) {
            return Some(opened);
        }
        let (unnamed, named): (Vec<_>, Vec<_>) = others.into_iter().partition(|c| c.version.is_none());
        let mut opened: Vec<Opened> = Vec::new();
        for candidate in unnamed {
            match self.open(candidate) {
                Some(found) if says(&found.version) => return Some(found),
                found => opened.extend(found),
            }
        }
        opened.extend(named.into_iter().filter_map(|candidate| self.open(candidate)));
        opened.sort_by(|a, b| b.version.cmp(&a.version));
        let fitting = opened.iter().position(|o| self.annotation_names.converts_without_change(o.class, wanted));
        opened.into_iter().nth(fitting.unwrap_or(0))
    }

    /// The highest version of the candidates of one root. Only if there is a choice are files opened to compare.
    fn highest<'a>(&'a self, candidates: Vec<&'a Candidate>) -> Option<Opened<'a>> {
        let (unnamed, mut named): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|c| c.version.is_none());
        named.sort_by(|a, b| b.version.cmp(&a.version));
        let highest_named = named.into_iter().find_map(|candidate| self.open(candidate));
        let opened = unnamed.into_iter().filter_map(|candidate| self.open(candidate)).chain(highest_named);
        // Of equal versions the one found first stays.
        opened.reduce(|best, next| if next.version > best.version { next } else { best })
    }

    /// Reads a candidate; a file that does not define exactly one class is no library (chapter 13, "Stored
    /// Definitions Containing Multiple Class Definitions").
    fn open<'a>(&'a self, candidate: &'a Candidate) -> Option<Opened<'a>> {
        let package_file = candidate.is_directory.then(|| candidate.path.join("package.mo"));
        let path = package_file.as_ref().unwrap_or(&candidate.path);
        let tree = self.sources.load(path, &self.names)?;
        let file = self.sources.file(tree)?;
        if file.users_classes.get().is_some() {
            return None;
        }
        let [top] = file.tree.classes.as_slice() else {
            let span = file.tree.classes.get(1).map_or(Span::nowhere(), |second| second.class.name.span);
            self.sources.report_syntax_errors(tree);
            self.sources.report(diagnostics::ignored_in_search(path, file.tree.classes.len(), span));
            return None;
        };
        if let Some(within) = file.tree.within.as_ref().filter(|within| !within.path.is_empty()) {
            self.sources.report(diagnostics::within_mismatch("", &self.path_text(&within.path), within.span));
        }
        let annotated = self.annotation_names.version(&top.class).map(|(version, _)| version);
        let version = annotated.or_else(|| candidate.version.clone());
        Some(Opened { candidate, tree, class: &top.class, version })
    }

    fn check_top_level(&self, chosen: &Opened, name: Name) {
        let Some(in_path) = &chosen.candidate.version else { return };
        if let Some((annotated, span)) = self.annotation_names.version(chosen.class)
            && in_path.is_ordered()
            && annotated != *in_path
        {
            self.sources.report(diagnostics::version_of_directory(self.text(name), in_path, &annotated, span));
        }
    }

    fn candidates<'a>(&'a self, root: &'a SearchRoot, name: Name) -> Vec<&'a Candidate> {
        let found = self.root_index(root).candidates.get(&name);
        let is_package = |c: &&Candidate| !c.is_directory || self.sources.files.is_file(&c.path.join("package.mo"));
        found.into_iter().flatten().filter(is_package).collect()
    }

    fn root_index<'a>(&'a self, root: &'a SearchRoot) -> &'a RootIndex {
        root.index.get_or_init(|| self.index_root(&root.path))
    }

    fn index_root(&self, dir: &Path) -> RootIndex {
        let mut index = RootIndex::default();
        if self.sources.files.is_file(&dir.join("package.mo")) {
            self.index_package_as_root(dir, &mut index);
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

    /// A search path that is a package itself. Its directory may have any name (a checkout, a download), so the
    /// class it defines decides.
    fn index_package_as_root(&self, dir: &Path, index: &mut RootIndex) {
        let file_name = self.sources.files.absolute(dir).file_name().and_then(|name| name.to_str()).map(str::to_string);
        let version = file_name.as_deref().and_then(split_version).and_then(|(_, version)| version);
        let Some(tree) = self.sources.load(&dir.join("package.mo"), &self.names) else { return };
        let Some(class) = self.sources.file(tree).and_then(|file| file.tree.classes.first()) else { return };
        let name = self.text(class.class.name.name);
        self.add_candidate(index, name, Candidate { path: dir.to_path_buf(), is_directory: true, version });
    }

    fn add_candidate(&self, index: &mut RootIndex, name: &str, candidate: Candidate) {
        let name = self.intern(name);
        let candidates = index.candidates.entry(name).or_default();
        if candidates.is_empty() {
            index.names.push(name);
        }
        candidates.push(candidate);
    }

    fn report_missing(&self, name: Name) {
        let missing = {
            let mut requirements = self.requirements.borrow_mut();
            let mut asked = requirements.iter_mut().filter(|r| r.used.library == name && !r.is_reported);
            asked.next().map(|requirement| {
                requirement.is_reported = true;
                requirement.used.clone()
            })
        };
        if let Some(used) = missing {
            self.sources.report(self.missing_library_message(name, used.version.as_ref(), used.span));
        }
    }

    pub(crate) fn missing_library_message(&self, name: Name, wanted: Option<&Version>, span: Span) -> Diagnostic {
        let text = self.text(name);
        let known = self.search.iter().flat_map(|root| self.root_index(root).names.iter());
        let mut similar: Vec<String> = known
            .map(|&n| self.text(n))
            .filter(|n| *n != text && n.eq_ignore_ascii_case(text))
            .map(String::from)
            .collect();
        similar.dedup();
        diagnostics::missing_library(text, wanted, &self.searched(), &similar, span)
    }

    fn searched(&self) -> Vec<PathBuf> {
        self.search.iter().map(|root| root.path.clone()).collect()
    }

    /// The versions of a library in the search paths, as far as known without reading more files.
    fn versions_found(&self, name: Name) -> Vec<String> {
        let mut found = Vec::new();
        for candidate in self.search.iter().flat_map(|root| self.candidates(root, name)) {
            let version = match &candidate.version {
                Some(version) => version.to_string(),
                None => match self.open(candidate).and_then(|opened| opened.version) {
                    Some(version) => version.to_string(),
                    None => "no version".to_string(),
                },
            };
            found.push(format!("{version} (`{}`)", candidate.path.display()));
        }
        found
    }

    /// The top-level name that differs from `text` at most in upper and lower case: loaded, or in the search paths.
    pub(crate) fn top_level_name_ignoring_case(&self, text: &str) -> Option<Name> {
        let loaded = self.children(self.root()).into_iter().filter_map(|id| self.name_of(id));
        let found = self.search.iter().flat_map(|root| self.root_index(root).names.iter().copied());
        loaded.chain(found).find(|&name| self.text(name).eq_ignore_ascii_case(text))
    }
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
