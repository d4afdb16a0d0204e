//! Loading what the user names: a file, a package directory, or a text.
//!
//! The classes of a file without `within` become top-level classes. A file that says `within A.B;` and lies in the
//! directory of that package is loaded as part of it (`saltus simulate A/B/Test.mo` just works); elsewhere it is put
//! into `A.B`, wherever that comes from.

use std::path::{Path, PathBuf};

use saltus_base::{Name, Severity};
use saltus_syntax::ast::{ClassBody, ClassDef};

use crate::classes::{ClassEntry, Origin, Slot};
use crate::diagnostics;
use crate::library::{ClassId, Library};
use crate::place::{Place, TreeId};

impl Library {
    /// Loads a file of the user, or a directory with a `package.mo`; returns the classes it defines at its top level.
    /// These take precedence over classes of the same name in the search paths.
    pub fn load_file(&self, path: &Path) -> Vec<ClassId> {
        let package_file = path.join("package.mo");
        let path = if self.sources.is_file(&package_file) { &package_file } else { path };
        let Some(tree) = self.sources.load_users(path) else { return Vec::new() };
        self.load_tree(tree)
    }

    /// Loads the files of the user, in this order, and notes that results depend on what they declare.
    pub fn load_users_files(&self, paths: &[PathBuf]) -> Vec<ClassId> {
        self.users_files.borrow_mut().extend_from_slice(paths);
        self.sources.is_loading.set(true);
        let classes = paths.iter().flat_map(|path| self.load_file(path)).collect();
        self.sources.is_loading.set(false);
        classes
    }

    /// Loads a text as if it were the file `path`.
    pub fn load_text(&self, path: &str, text: &str) -> Vec<ClassId> {
        let tree = self.sources.add_text(Path::new(path), text);
        self.load_tree(tree)
    }

    fn load_tree(&self, tree: TreeId) -> Vec<ClassId> {
        let Some(file) = self.sources.file(tree) else { return Vec::new() };
        if let Some(known) = file.users_classes.get() {
            return known.clone();
        }
        self.sources.report_syntax_errors(tree);
        let classes = match &file.tree().within {
            Some(within) if !within.path.is_empty() => self.load_within(tree),
            _ => self.load_top_level(tree, self.root()),
        };
        file.users_classes.get_or_init(|| classes).clone()
    }

    /// Registers the classes of a file below `parent`.
    fn load_top_level(&self, tree: TreeId, parent: ClassId) -> Vec<ClassId> {
        let Some(file) = self.sources.file(tree) else { return Vec::new() };
        let directory = self.package_directory(tree);
        let classes = file.tree().classes.iter().enumerate();
        if directory.is_none() {
            return classes
                .map(|(top, definition)| self.register(tree, top, &definition.class, parent, None))
                .collect();
        }
        let Some(first) = file.tree().classes.first() else {
            self.report_not_one_class(tree);
            return Vec::new();
        };
        let Some((top, class)) = self.single_class(tree, first.class.name.name) else { return Vec::new() };
        self.check_directory_name(directory.as_deref(), class);
        vec![self.register(tree, top, class, parent, directory)]
    }

    /// The directory that a file `package.mo` stands for.
    fn package_directory(&self, tree: TreeId) -> Option<PathBuf> {
        let path = &self.sources.file(tree)?.path;
        let is_package_file = path.file_name().is_some_and(|name| name == "package.mo");
        if !is_package_file || !self.sources.is_file(path) {
            return None;
        }
        path.parent().map(Path::to_path_buf)
    }

    /// The user may keep a package in a directory of any name (a download, a checkout): a warning is enough.
    fn check_directory_name(&self, directory: Option<&Path>, class: &ClassDef) {
        let absolute = directory.map(|directory| self.sources.store.absolute(directory));
        let Some(stored) = absolute.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()) else { return };
        let name = self.text(class.name.name);
        let rest = stored.strip_prefix(name);
        if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) {
            let message = diagnostics::name_mismatch(stored, name, true, class.name.span);
            self.sources.report(message.severity(Severity::Warning));
        }
    }

    /// Enters a class of a user's file into its parent. A second class of the same name is registered but not found;
    /// a class that came from the search paths is replaced.
    fn register(
        &self,
        tree: TreeId,
        top: usize,
        class: &ClassDef,
        parent: ClassId,
        directory: Option<PathBuf>,
    ) -> ClassId {
        let name = class.name.name;
        if let Some(known) = self.registered_before(tree, top, name, parent) {
            return known;
        }
        let entry = ClassEntry::new(Some(parent), name, Some(Place::top(tree, top)), Origin::User);
        let id = self.push_class(entry.stored_in(directory));
        let Some(children) = self.children_of(parent) else { return id };
        if let Some(Slot::Class(first)) = children.slot(name) {
            let is_users = self.entry(first).is_some_and(|first| first.origin == Origin::User);
            if is_users {
                self.report_duplicate(parent, class, first);
                return id;
            }
            if parent == self.root()
                && let Some(path) = self.file_of(first)
            {
                self.sources.report(diagnostics::replaces_library(self.text(name), path, class.name.span));
            }
        }
        children.put(name, id);
        if parent == self.root() {
            self.enter_top_level(id, class);
        }
        id
    }

    /// The same class of the same file, if the search paths or its package brought it before.
    fn registered_before(&self, tree: TreeId, top: usize, name: Name, parent: ClassId) -> Option<ClassId> {
        let Some(Slot::Class(known)) = self.children_of(parent)?.slot(name) else { return None };
        let place = self.entry(known)?.place.as_ref()?;
        (place.tree == tree && place.top as usize == top && place.steps.is_empty()).then_some(known)
    }

    fn report_duplicate(&self, parent: ClassId, second: &ClassDef, first: ClassId) {
        let Some(first) = self.definition(first) else { return };
        let scope = self.qualified_name(parent);
        let name = self.text(second.name.name);
        self.sources.report(diagnostics::duplicate_class(name, &scope, second.name.span, first.name.span));
    }

    fn load_within(&self, tree: TreeId) -> Vec<ClassId> {
        if let Some(id) = self.load_with_enclosing_package(tree) {
            return vec![id];
        }
        let Some(file) = self.sources.file(tree) else { return Vec::new() };
        let Some(within) = &file.tree().within else { return Vec::new() };
        let parent = within.path.iter().try_fold(self.root(), |scope, part| self.child(scope, part.name));
        let Some(parent) = parent else {
            let package = self.path_text(&within.path);
            self.sources.report(diagnostics::within_not_found(&package, within.span));
            return self.load_top_level(tree, self.root());
        };
        if let Some(definition) = self.definition(parent)
            && !matches!(definition.body, ClassBody::Long(_))
        {
            let name = self.text(definition.name.name);
            self.sources.report(diagnostics::short_class_with_files(name, definition.name.span));
        }
        self.load_top_level(tree, parent)
    }

    /// Loads a file as a part of the package directory it lies in: goes up to the outermost directory with a
    /// `package.mo`, loads that, and comes down again by the names of the directories.
    fn load_with_enclosing_package(&self, tree: TreeId) -> Option<ClassId> {
        let path = self.sources.store.absolute(&self.sources.file(tree)?.path);
        let is_package_file = path.file_name().is_some_and(|name| name == "package.mo");
        let entity = if is_package_file { path.parent()? } else { &path };
        let mut names: Vec<Name> = vec![self.name_in_path(entity)?];
        let mut outermost = None;
        let mut directory = entity.parent();
        while let Some(dir) = directory.filter(|dir| self.sources.is_file(&dir.join("package.mo"))) {
            outermost = Some(dir);
            names.extend(self.name_in_path(dir));
            directory = dir.parent();
        }
        let package = *self.load_file(outermost?).first()?;
        // The outermost directory is the package just loaded, whatever its name.
        names.pop();
        let found = names.iter().rev().try_fold(package, |scope, &name| self.child(scope, name))?;
        let is_this_file = self.entry(found)?.place.as_ref()?.tree == tree;
        is_this_file.then_some(found)
    }

    fn name_in_path(&self, path: &Path) -> Option<Name> {
        let name = path.file_name()?.to_str()?;
        Some(self.intern(name.strip_suffix(".mo").unwrap_or(name)))
    }
}
