//! Which of the candidates for a library is loaded, and whether that is what others asked for (specification
//! chapter 18, "Version Handling").
//!
//! If a loaded class says `uses(Modelica(version="4.1.0"))`, that version is looked for in all roots, then one that
//! replaces it without changes (`noneFromVersion`), and for want of both the highest is loaded with a warning. If
//! nobody asks, the first root that holds the library wins (chapter 13), and in it the highest version.

use saltus_base::{Name, Span};
use saltus_syntax::ast::ClassDef;

use crate::annotations::Use;
use crate::classes::{ClassEntry, Origin, Slot};
use crate::diagnostics;
use crate::library::{ClassId, Library};
use crate::place::{Place, TreeId};
use crate::search::Candidate;
use crate::version::Version;

/// A `uses` annotation of a loaded top-level class.
pub(crate) struct Requirement {
    used: Use,
    /// The user was told that the library is missing.
    is_reported: bool,
}

/// A candidate that was read.
struct Opened<'a> {
    candidate: &'a Candidate,
    tree: TreeId,
    class: &'a ClassDef,
    /// As annotated, else as in the name of the file.
    version: Option<Version>,
}

impl Library {
    /// Looks for a top-level class in the search paths and loads it.
    pub(crate) fn search_top_level(&self, name: Name) -> Option<ClassId> {
        let root = self.children_of(self.root())?;
        root.set(name, Slot::Absent);
        let groups: Vec<Vec<&Candidate>> = self.search_roots().map(|root| self.candidates(root, name)).collect();
        if groups.iter().all(Vec::is_empty) {
            self.report_missing(name);
            return None;
        }
        let wanted = self.uses_of(name).into_iter().find_map(|used| used.version);
        let chosen = match wanted {
            Some(wanted) => self.choose_version(groups.into_iter().flatten().collect(), &wanted),
            None => groups.into_iter().find_map(|group| self.choose_highest(group)),
        }?;
        self.sources.report_syntax_errors(chosen.tree);
        self.check_stored_as(&chosen, name);
        let directory = chosen.candidate.is_directory.then(|| chosen.candidate.path.clone());
        let entry = ClassEntry::new(Some(self.root()), name, Some(Place::top(chosen.tree, 0)), Origin::Search);
        let id = self.push_class(entry.stored_in(directory));
        root.put(name, id);
        self.enter_top_level(id, chosen.class);
        Some(id)
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

    /// The highest version of the candidates of one root; of several with a version in their name only that one is
    /// read.
    fn choose_highest<'a>(&'a self, candidates: Vec<&'a Candidate>) -> Option<Opened<'a>> {
        let (unnamed, mut named): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|c| c.version.is_none());
        named.sort_by(|a, b| b.version.cmp(&a.version));
        let highest_named = named.into_iter().find_map(|candidate| self.open(candidate));
        let opened = unnamed.into_iter().filter_map(|candidate| self.open(candidate)).chain(highest_named);
        // Of equal versions the one found first stays.
        opened.reduce(|best, next| if next.version > best.version { next } else { best })
    }

    /// Reads a candidate. A file that does not define exactly one class is not a library (chapter 13, "Stored
    /// Definitions Containing Multiple Class Definitions"), and the user's own files are loaded already.
    fn open<'a>(&'a self, candidate: &'a Candidate) -> Option<Opened<'a>> {
        let package_file = candidate.is_directory.then(|| candidate.path.join("package.mo"));
        let path = package_file.as_ref().unwrap_or(&candidate.path);
        let tree = self.sources.load(path)?;
        let file = self.sources.file(tree)?;
        if file.users_classes.get().is_some() {
            return None;
        }
        let [top] = file.tree().classes.as_slice() else {
            self.sources.report_syntax_errors(tree);
            if !file.tree().classes.is_empty() || !file.has_syntax_errors() {
                let span = file.tree().classes.get(1).map_or(Span::nowhere(), |second| second.class.name.span);
                self.sources.report(diagnostics::ignored_in_search(path, file.tree().classes.len(), span));
            }
            return None;
        };
        let annotated = self.annotation_names.version(&top.class).map(|(version, _)| version);
        let version = annotated.or_else(|| candidate.version.clone());
        Some(Opened { candidate, tree, class: &top.class, version })
    }

    /// Name, version and place of a library must fit how it is stored.
    fn check_stored_as(&self, chosen: &Opened, name: Name) {
        let class = chosen.class;
        let text = self.text(name);
        if class.name.name != name {
            let found = self.text(class.name.name);
            let is_directory = chosen.candidate.is_directory;
            self.sources.report(diagnostics::name_mismatch(text, found, is_directory, class.name.span));
        }
        if let Some(within) = self.sources.file(chosen.tree).and_then(|file| file.tree().within.as_ref())
            && !within.path.is_empty()
        {
            self.sources.report(diagnostics::within_mismatch("", &self.path_text(&within.path), within.span));
        }
        if let Some(in_path) = &chosen.candidate.version
            && let Some((annotated, span)) = self.annotation_names.version(class)
            && in_path.is_ordered()
            && annotated != *in_path
        {
            self.sources.report(diagnostics::version_of_directory(text, in_path, &annotated, span));
        }
    }

    /// Notes what a new top-level class uses, and checks versions: of itself for those who use it, and of the
    /// libraries it uses as far as they are loaded.
    pub(crate) fn enter_top_level(&self, id: ClassId, class: &ClassDef) {
        let Some(root) = self.children_of(self.root()) else { return };
        for used in self.name_of(id).map(|name| self.uses_of(name)).unwrap_or_default() {
            self.check_version(&used, id);
        }
        for used in self.annotation_names.uses(class) {
            self.requirements.borrow_mut().push(Requirement { used: used.clone(), is_reported: false });
            match root.slot(used.library) {
                Some(Slot::Class(loaded)) => self.check_version(&used, loaded),
                _ => root.retry(used.library),
            }
        }
    }

    fn uses_of(&self, library: Name) -> Vec<Use> {
        let requirements = self.requirements.borrow();
        requirements.iter().filter(|r| r.used.library == library).map(|r| r.used.clone()).collect()
    }

    /// Warns if a loaded library is not the version that a class uses.
    fn check_version(&self, used: &Use, library: ClassId) {
        let (Some(wanted), Some(class)) = (&used.version, self.definition(library)) else { return };
        let loaded = self.version_of(library);
        let name = self.text(used.library);
        if loaded.as_ref() == Some(wanted) {
            for build in self.annotation_names.different_builds(used, class) {
                self.sources.report(diagnostics::other_build(name, wanted, &build, used.span));
            }
        } else if !self.annotation_names.converts_without_change(class, wanted) {
            let found = self.versions_found(used.library);
            let searched = self.searched();
            let message = diagnostics::other_version(name, wanted, loaded.as_ref(), &found, &searched, used.span);
            self.sources.report(message);
        }
    }

    /// The version of a top-level class: as annotated, else as in the name of its file or directory.
    pub fn version_of(&self, id: ClassId) -> Option<Version> {
        let annotated = self.definition(id).and_then(|class| self.annotation_names.version(class));
        if let Some((version, _)) = annotated {
            return Some(version);
        }
        let directory = self.entry(id)?.directory.as_deref();
        self.version_in_path(directory.or_else(|| self.file_of(id))?)
    }

    fn report_missing(&self, name: Name) {
        let mut requirements = self.requirements.borrow_mut();
        let asked = requirements.iter_mut().find(|r| r.used.library == name && !r.is_reported);
        if let Some(requirement) = asked {
            requirement.is_reported = true;
            let used = &requirement.used;
            self.sources.report(self.missing_library_message(name, used.version.as_ref(), used.span));
        }
    }

    /// The versions of a library in the search paths.
    fn versions_found(&self, name: Name) -> Vec<String> {
        let candidates = self.search_roots().flat_map(|root| self.candidates(root, name));
        let described = candidates.map(|candidate| {
            let named = candidate.version.clone();
            let version = named.or_else(|| self.open(candidate).and_then(|opened| opened.version));
            let version = version.map_or("no version".to_string(), |version| version.to_string());
            format!("{version} (`{}`)", candidate.path.display())
        });
        described.collect()
    }
}
