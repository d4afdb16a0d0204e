//! The table of classes and, for each class, the index of the classes declared in it.
//!
//! The index of a class is built when the first of its children is asked for, from the elements of its text and from
//! the names in its package directory; the files there are read one by one when they are asked for.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use saltus_base::Name;
use saltus_syntax::ast::{ClassBody, ClassDef, ElementKind, Section, Visibility};

use crate::diagnostics;
use crate::library::{ClassId, Library, identifier_length};
use crate::names::FastMap;
use crate::place::Place;

/// Who asked for a class; what the user loads takes precedence over what is found in the search paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    User,
    Search,
}

pub(crate) struct ClassEntry {
    pub(crate) parent: Option<ClassId>,
    pub(crate) name: Name,
    /// `None` for the root.
    pub(crate) place: Option<Place>,
    pub(crate) origin: Origin,
    pub(crate) is_protected: bool,
    /// The directory of a package that is stored as one.
    pub(crate) directory: Option<PathBuf>,
    children: OnceCell<Children>,
}

impl ClassEntry {
    pub(crate) fn new(parent: Option<ClassId>, name: Name, place: Option<Place>, origin: Origin) -> Self {
        Self { parent, name, place, origin, is_protected: false, directory: None, children: OnceCell::new() }
    }

    pub(crate) fn stored_in(mut self, directory: Option<PathBuf>) -> Self {
        self.directory = directory;
        self
    }
}

/// What is known about a name in a class.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Class(ClassId),
    /// Stored as `name.mo` or perhaps as `name/package.mo`, not read yet.
    Unread {
        has_file: bool,
        has_directory: bool,
    },
    /// Looked for and not there, or unreadable.
    Absent,
}

/// The classes declared in a class.
#[derive(Default)]
pub(crate) struct Children {
    slots: RefCell<FastMap<Name, Slot>>,
    /// Classes of the text and classes added later, in order.
    loaded: RefCell<Vec<ClassId>>,
    /// Names of files and directories, in the order of the listing.
    pub(crate) stored: Vec<Name>,
    /// All classes in their final order; forgotten when a class is added.
    pub(crate) ordered: RefCell<Option<Vec<ClassId>>>,
}

impl Children {
    pub(crate) fn slot(&self, name: Name) -> Option<Slot> {
        self.slots.borrow().get(&name).copied()
    }

    pub(crate) fn set(&self, name: Name, slot: Slot) {
        self.slots.borrow_mut().insert(name, slot);
    }

    /// Adds a class, in the place of the one that had its name before.
    pub(crate) fn put(&self, name: Name, id: ClassId) {
        let before = self.slots.borrow_mut().insert(name, Slot::Class(id));
        let mut loaded = self.loaded.borrow_mut();
        match before {
            Some(Slot::Class(old)) if loaded.contains(&old) => {
                loaded.iter_mut().filter(|entry| **entry == old).for_each(|entry| *entry = id);
            }
            _ => loaded.push(id),
        }
        *self.ordered.borrow_mut() = None;
    }

    /// Forgets that a name was not found.
    pub(crate) fn retry(&self, name: Name) {
        let mut slots = self.slots.borrow_mut();
        if matches!(slots.get(&name), Some(Slot::Absent)) {
            slots.remove(&name);
        }
    }

    /// Forgets which names were not found.
    pub(crate) fn forget_absent(&self) {
        self.slots.borrow_mut().retain(|_, slot| !matches!(slot, Slot::Absent));
    }

    pub(crate) fn loaded(&self) -> Vec<ClassId> {
        self.loaded.borrow().clone()
    }
}

impl Library {
    /// The index of the classes declared in `id`, built now if need be.
    pub(crate) fn children_of(&self, id: ClassId) -> Option<&Children> {
        let entry = self.entry(id)?;
        if let Some(place) = &entry.place {
            self.sources.used_file(place.tree);
        }
        Some(entry.children.get_or_init(|| self.index_children(id, entry)))
    }

    fn index_children(&self, id: ClassId, entry: &ClassEntry) -> Children {
        let mut children = Children::default();
        let (Some(place), Some(definition)) = (&entry.place, self.definition(id)) else { return children };
        self.index_text(id, entry, place, definition, &children);
        if let Some(directory) = &entry.directory {
            children.stored = self.index_directory(id, definition, directory, &children);
        }
        children
    }

    fn index_text(&self, id: ClassId, entry: &ClassEntry, place: &Place, definition: &ClassDef, children: &Children) {
        let ClassBody::Long(body) = &definition.body else { return };
        for (s, section) in body.sections.iter().enumerate() {
            let Section::Elements { visibility, elements, .. } = section else { continue };
            for (e, element) in elements.iter().enumerate() {
                let ElementKind::Class(nested) = &element.kind else { continue };
                let name = nested.class.name;
                if let Some(Slot::Class(first)) = children.slot(name.name) {
                    let first = self.definition(first).map_or(definition.span, |first| first.name.span);
                    let scope = self.qualified_name(id);
                    self.sources.report(diagnostics::duplicate_class(self.text(name.name), &scope, name.span, first));
                    continue;
                }
                let mut class = ClassEntry::new(Some(id), name.name, Some(place.nested(s, e)), entry.origin);
                class.is_protected = *visibility == Visibility::Protected;
                children.put(name.name, self.push_class(class));
            }
        }
    }

    /// Enters the files and directories of a package directory; returns their names.
    fn index_directory(&self, id: ClassId, definition: &ClassDef, directory: &Path, children: &Children) -> Vec<Name> {
        let entries = match self.sources.listing(directory) {
            Ok(entries) => entries,
            Err(error) => {
                self.sources.report(diagnostics::unreadable_file(directory, error));
                return Vec::new();
            }
        };
        let mut stored = Vec::new();
        for entry in entries {
            let text = match entry.name.strip_suffix(".mo") {
                Some(stem) if !entry.is_dir && stem != "package" => stem,
                None if entry.is_dir => entry.name.as_str(),
                _ => continue,
            };
            if identifier_length(text) != Some(text.len()) {
                continue;
            }
            let name = self.intern(text);
            match children.slot(name) {
                Some(Slot::Class(first)) => {
                    self.check_stored_twice(id, first, &directory.join(&entry.name), entry.is_dir)
                }
                Some(Slot::Unread { has_file, has_directory }) => {
                    let both = Slot::Unread {
                        has_file: has_file || !entry.is_dir,
                        has_directory: has_directory || entry.is_dir,
                    };
                    children.set(name, both);
                }
                _ => {
                    children.set(name, Slot::Unread { has_file: !entry.is_dir, has_directory: entry.is_dir });
                    stored.push(name);
                }
            }
        }
        if !matches!(definition.body, ClassBody::Long(_)) && !stored.is_empty() {
            let name = self.text(definition.name.name);
            self.sources.report(diagnostics::short_class_with_files(name, definition.name.span));
        }
        stored
    }

    /// A class of the text of `package.mo` may not be stored beside it as well.
    fn check_stored_twice(&self, parent: ClassId, first: ClassId, path: &Path, is_directory: bool) {
        if is_directory && !self.sources.is_file(&path.join("package.mo")) {
            return;
        }
        if let Some(first) = self.definition(first) {
            let scope = self.qualified_name(parent);
            let name = self.text(first.name.name);
            self.sources.report(diagnostics::stored_twice(name, &scope, path, first.name.span));
        }
    }
}
