//! A session: the libraries a user works with, and the class they ask for.
//!
//! In: directories, files and texts. Out: the [`ClassId`] that the pipeline runs on.

use std::cell::Cell;
use std::path::Path;

use saltus_base::{Diagnostic, Diagnostics, SourceMap, nearest};
use saltus_library::{ClassId, DiskFiles, FileSource, Library};
use saltus_syntax::ast::ClassKind;

use crate::{ShippedFiles, diagnostics};

/// Owner of everything that is loaded.
pub struct Session {
    library: Library,
    /// Classes of the files the user named, in the order of loading.
    own_classes: Vec<ClassId>,
    is_broken: Cell<bool>,
    permissions: Cell<Permissions>,
}

/// What models may do beyond computing. By default they read and write files below the working directory and read what
/// belongs to a library.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Permissions {
    /// Files everywhere, and commands.
    pub io: bool,
    /// Functions of shared libraries.
    pub external: bool,
    /// What they print goes to the standard error stream, because the standard output has another purpose.
    pub prints_to_stderr: bool,
}

impl Session {
    pub fn new(files: Box<dyn FileSource>) -> Self {
        Self {
            library: Library::new(files),
            own_classes: Vec::new(),
            is_broken: Cell::new(false),
            permissions: Cell::default(),
        }
    }

    /// A session on the files of this machine and the library that comes with the program.
    pub fn on_disk() -> Self {
        let session = Self::new(Box::new(ShippedFiles::over(DiskFiles)));
        session.library.set_shipped_path(Path::new(ShippedFiles::ROOT));
        session
    }

    pub fn permit(&self, permissions: Permissions) {
        if permissions.io {
            self.library.permit_all_files();
        }
        self.permissions.set(permissions);
    }

    pub fn permissions(&self) -> Permissions {
        self.permissions.get()
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    /// A directory that contains packages, or a package.
    pub fn add_library(&self, dir: &Path) {
        self.library.add_search_path(dir);
    }

    /// The directories of a `MODELICAPATH`; searched behind those of [`add_library`](Self::add_library).
    pub fn add_modelica_path(&self, value: &str) {
        self.library.add_modelica_path(value);
    }

    pub fn load_file(&mut self, path: &Path) {
        let classes = self.library.load_file(path);
        self.own_classes.extend(classes);
    }

    pub fn load_text(&mut self, path: &str, text: &str) {
        let classes = self.library.load_text(path, text);
        self.own_classes.extend(classes);
    }

    /// Classes of the files and texts that were loaded by name.
    pub fn own_classes(&self) -> &[ClassId] {
        &self.own_classes
    }

    /// The class with this name, or the one obvious model of the loaded files.
    pub fn class(&self, name: Option<&str>) -> Result<ClassId, Diagnostic> {
        match name {
            Some(name) => self.library.find(name).ok_or_else(|| self.unknown_class(name)),
            None => self.obvious_class(),
        }
    }

    fn unknown_class(&self, name: &str) -> Diagnostic {
        let parts: Vec<&str> = name.split('.').collect();
        let known = (1..parts.len()).rev().map(|n| parts[..n].join(".")).find(|path| self.library.find(path).is_some());
        let Some(package) = known else {
            let top = self.library.intern(parts.first().copied().unwrap_or(name));
            return self.library.missing_library(top, saltus_base::Span::nowhere());
        };
        let scope = self.library.find(&package).unwrap_or(self.library.root());
        let children = self.library.children(scope);
        let names: Vec<String> = children
            .iter()
            .filter_map(|&id| self.library.name_of(id))
            .map(|n| self.library.text(n).to_string())
            .collect();
        let wanted = parts.get(package.split('.').count()).copied().unwrap_or("");
        diagnostics::unknown_class(wanted, &package, nearest(wanted, names.iter().map(String::as_str)))
    }

    /// The only model of the loaded files, else the one that is named like its file.
    fn obvious_class(&self) -> Result<ClassId, Diagnostic> {
        let models: Vec<ClassId> = self.own_classes.iter().copied().filter(|&id| self.is_model(id)).collect();
        let named_like_file: Vec<ClassId> = models.iter().copied().filter(|&id| self.is_named_like_file(id)).collect();
        match (models.as_slice(), named_like_file.as_slice()) {
            ([], _) => Err(diagnostics::no_class()),
            (&[only], _) | (_, &[only]) => Ok(only),
            _ => Err(diagnostics::several_classes(
                &models.iter().map(|&id| self.library.qualified_name(id)).collect::<Vec<_>>(),
            )),
        }
    }

    fn is_model(&self, id: ClassId) -> bool {
        let kinds = [ClassKind::Model, ClassKind::Block, ClassKind::Class];
        self.library.definition(id).is_some_and(|class| kinds.contains(&class.kind) && !class.is_partial)
    }

    fn is_named_like_file(&self, id: ClassId) -> bool {
        let stem = self.library.file_of(id).and_then(|path| path.file_stem()?.to_str());
        let name = self.library.name_of(id).map(|name| self.library.text(name));
        stem.is_some() && stem == name
    }

    pub fn take_diagnostics(&self) -> Diagnostics {
        let diagnostics = self.library.take_diagnostics();
        self.is_broken.set(self.is_broken.get() || diagnostics.has_errors());
        diagnostics
    }

    /// Some text could not be read; what its classes mean is guesswork from then on.
    pub fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    pub fn with_sources<R>(&self, use_them: impl FnOnce(&SourceMap) -> R) -> R {
        self.library.with_sources(use_them)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;

    fn session(files: &[(&str, &str)]) -> Session {
        let mut memory = MemoryFiles::new();
        for (path, text) in files {
            memory.insert(path, *text);
        }
        let mut session = Session::new(Box::new(memory));
        for (path, _) in files {
            session.load_file(Path::new(path));
        }
        session
    }

    fn chosen(files: &[(&str, &str)], name: Option<&str>) -> Result<String, (String, Vec<String>)> {
        let session = session(files);
        let class = session.class(name).map_err(|d| (d.message, d.hints))?;
        Ok(session.library().qualified_name(class))
    }

    #[test]
    fn the_only_model_of_a_file_needs_no_name() {
        let text = "connector C end C; partial model P end P; model M end M;";
        assert_eq!(chosen(&[("x.mo", text)], None).as_deref(), Ok("M"));
    }

    #[test]
    fn among_several_models_the_one_named_like_the_file_is_meant() {
        let text = "model A end A; model B end B;";
        assert_eq!(chosen(&[("B.mo", text)], None).as_deref(), Ok("B"));
        let Err((message, hints)) = chosen(&[("x.mo", text)], None) else { panic!("chose one of two") };
        assert_eq!(message, "expected one model, found 2: A, B");
        assert_eq!(hints, ["name the class behind the files"]);
    }

    #[test]
    fn a_misspelt_class_is_suggested() {
        let text = "package P model Circuit end Circuit; end P;";
        let Err((message, hints)) = chosen(&[("P.mo", text)], Some("P.circit")) else {
            panic!("found a misspelt class")
        };
        assert_eq!(message, "expected a class, found no `circit` in `P`");
        assert_eq!(hints, ["did you mean `P.Circuit`?"]);
    }
}
