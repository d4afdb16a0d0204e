//! A session: the files and libraries a user works with, edits included, and the answers about their classes.
//!
//! In: directories, files and texts, again and again. Out: flat models and messages as values. An answer is a function of the
//! texts, the class and the options: it does not depend on what was asked before, and it is kept until one of the things it
//! was made of changes. [docs/design/session.md](../../../docs/design/session.md) says how.
//!
//! ```
//! use saltus::Session;
//! use saltus_library::MemoryFiles;
//!
//! let mut session = Session::new(Box::new(MemoryFiles::new()));
//! session.set_text("M.mo", "model M Real x = 1 end M;");
//! assert!(session.check("M").has_errors());
//! session.set_text("M.mo", "model M Real x = 1; end M;");
//! assert!(!session.check("M").has_errors());
//! ```

mod results;
mod workspace;

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_base::{Diagnostic, Diagnostics, FileId, SourceMap, nearest};
use saltus_library::{ClassId, DirEntry, DiskFiles, FileSource, Library, Store};
use saltus_syntax::ast::ClassKind;

use self::results::Results;
pub use self::results::{Flattening, Report};
pub use self::workspace::NotOwn;
use crate::{ShippedFiles, diagnostics};

/// Owner of everything that is loaded. It can be sent to another thread, but not shared.
pub struct Session {
    store: Arc<Store>,
    users_files: Vec<UsersFile>,
    /// Libraries are looked for here, in this order.
    search: Vec<PathBuf>,
    shipped: Option<PathBuf>,
    /// Folders whose files are the user's own.
    workspace: Vec<PathBuf>,
    permissions: Permissions,
    /// Made when it is asked for, and again after an edit.
    tree: OnceCell<Tree>,
    results: RefCell<Results>,
}

/// A file the user named or wrote.
#[derive(Clone)]
struct UsersFile {
    /// As the user wrote it.
    path: PathBuf,
    absolute: PathBuf,
    /// Named as a file; else it is here for its text only.
    is_named: bool,
}

/// The classes as they are now, to look around in.
struct Tree {
    library: Library,
    /// Classes of the files of the user, in the order of loading.
    own_classes: Vec<ClassId>,
    /// What was wrong with these files.
    diagnostics: Diagnostics,
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
            store: Store::new(files),
            users_files: Vec::new(),
            search: Vec::new(),
            shipped: None,
            workspace: Vec::new(),
            permissions: Permissions::default(),
            tree: OnceCell::new(),
            results: RefCell::default(),
        }
    }

    /// A session on the files of this machine and the library that comes with the program.
    pub fn on_disk() -> Self {
        let shipped = Some(PathBuf::from(ShippedFiles::ROOT));
        Self { shipped, ..Self::new(Box::new(ShippedFiles::over(DiskFiles))) }
    }

    /// A session with the same files, texts and search paths that can be changed without changing this one.
    pub fn fork(&self) -> Session {
        Session {
            users_files: self.users_files.clone(),
            search: self.search.clone(),
            shipped: self.shipped.clone(),
            workspace: self.workspace.clone(),
            permissions: self.permissions,
            ..Session::new(Box::new(SharedFiles(self.store.clone())))
        }
    }

    pub fn permit(&mut self, permissions: Permissions) {
        self.permissions = permissions;
        self.set_up_anew();
    }

    pub fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// A directory that contains packages, or a package.
    pub fn add_library(&mut self, dir: &Path) {
        if !self.search.iter().any(|known| known == dir) {
            self.search.push(dir.to_path_buf());
            self.set_up_anew();
        }
    }

    /// The directories of a `MODELICAPATH`, separated by `:` (by `;` on Windows); searched behind those of
    /// [`add_library`](Self::add_library).
    pub fn add_modelica_path(&mut self, value: &str) {
        let directories = saltus_library::split_modelica_path(value);
        directories.for_each(|dir| self.add_library(dir));
    }

    /// A file, or a directory with a `package.mo`, whose classes can be named.
    pub fn load_file(&mut self, path: &Path) {
        self.users_file(path).is_named = true;
        self.edited();
    }

    /// Puts a text in the place of a file, which need not exist, as often as the user edits it.
    pub fn set_text(&mut self, path: impl AsRef<Path>, text: &str) {
        self.users_file(path.as_ref());
        self.store.set_text(path.as_ref(), text);
        self.edited();
    }

    /// Takes the text of [`set_text`](Self::set_text) away. The file on disk counts again if it was named itself or belongs to
    /// a library.
    pub fn remove_text(&mut self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        self.store.remove_text(path);
        let absolute = self.store.absolute(path);
        self.users_files.retain(|file| file.is_named || file.absolute != absolute);
        self.edited();
    }

    /// The file, or something in this directory, has changed on disk, is new or gone.
    pub fn reload(&mut self, path: impl AsRef<Path>) {
        self.store.reload(path.as_ref());
        self.edited();
    }

    /// How often the text of a file was another one, 1 for the first; `None` if it cannot be read.
    pub fn revision(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.store.revision(path.as_ref())
    }

    fn users_file(&mut self, path: &Path) -> &mut UsersFile {
        let absolute = self.store.absolute(path);
        let known = self.users_files.iter().position(|file| file.absolute == absolute);
        let at = known.unwrap_or_else(|| {
            self.users_files.push(UsersFile { path: path.to_path_buf(), absolute, is_named: false });
            self.users_files.len() - 1
        });
        &mut self.users_files[at]
    }

    /// Classes may be others now; which results are, their dependencies tell when they are asked for.
    fn edited(&mut self) {
        self.tree.take();
        self.store.drop_stale_names();
    }

    fn set_up_anew(&mut self) {
        self.tree.take();
        self.results.get_mut().clear();
    }

    /// A class tree of its own for one question, so that no answer depends on what was asked before.
    fn new_tree(&self) -> Tree {
        let library = Library::over(&self.store);
        self.search.iter().for_each(|dir| library.add_search_path(dir));
        self.shipped.iter().for_each(|dir| library.set_shipped_path(dir));
        if self.permissions.io {
            library.permit_all_files();
        }
        let own_classes = library.load_users_files(&self.users_paths());
        let diagnostics = library.diagnostics();
        Tree { library, own_classes, diagnostics }
    }

    fn users_paths(&self) -> Vec<PathBuf> {
        self.users_files.iter().map(|file| file.path.clone()).collect()
    }

    fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| self.new_tree())
    }

    /// The classes as they are now. An edit makes new ones: their ids are valid up to the next call that changes the session.
    pub fn library(&self) -> &Library {
        &self.tree().library
    }

    /// Classes of the files and texts that were loaded by name.
    pub fn own_classes(&self) -> &[ClassId] {
        &self.tree().own_classes
    }

    /// What is wrong with the files and texts that were loaded by name, whether a class uses them or not.
    pub fn diagnostics(&self) -> Diagnostics {
        self.tree().diagnostics.clone()
    }

    /// The id that spans in the present text of a file have.
    pub fn file_id(&self, path: impl AsRef<Path>) -> Option<FileId> {
        self.store.file_id(path.as_ref())
    }

    /// How many texts and how many identifiers are kept, for those who watch the memory.
    pub fn n_kept(&self) -> (usize, usize) {
        (self.store.n_texts(), self.store.n_names())
    }

    /// All texts that the session or one of its results holds.
    pub fn with_sources<R>(&self, use_them: impl FnOnce(&SourceMap) -> R) -> R {
        use_them(&self.store.source_map())
    }

    /// The class with this name, or the one obvious model of the loaded files.
    pub fn class(&self, name: Option<&str>) -> Result<ClassId, Diagnostic> {
        match name {
            Some(name) => self.library().find(name).ok_or_else(|| unknown_class(self.library(), name)),
            None => self.obvious_class(),
        }
    }

    /// The only model of the loaded files, else the one that is named like its file; the same among all classes if none is a model.
    fn obvious_class(&self) -> Result<ClassId, Diagnostic> {
        let mut models: Vec<ClassId> = self.own_classes().iter().copied().filter(|&id| self.is_model(id)).collect();
        if models.is_empty() {
            models = self.own_classes().to_vec();
        }
        let named_like_file: Vec<ClassId> = models.iter().copied().filter(|&id| self.is_named_like_file(id)).collect();
        match (models.as_slice(), named_like_file.as_slice()) {
            ([], _) => Err(diagnostics::no_class()),
            (&[only], _) | (_, &[only]) => Ok(only),
            _ => Err(diagnostics::several_classes(
                &models.iter().map(|&id| self.library().qualified_name(id)).collect::<Vec<_>>(),
            )),
        }
    }

    fn is_model(&self, id: ClassId) -> bool {
        let kinds = [ClassKind::Model, ClassKind::Block, ClassKind::Class];
        self.library().definition(id).is_some_and(|class| kinds.contains(&class.kind) && !class.is_partial)
    }

    fn is_named_like_file(&self, id: ClassId) -> bool {
        let library = self.library();
        let stem = library.file_of(id).and_then(|path| path.file_stem()?.to_str());
        let name = library.name_of(id).map(|name| library.text(name));
        stem.is_some() && stem == name
    }
}

/// The files of another session, with the texts of its user over them.
struct SharedFiles(Arc<Store>);

impl FileSource for SharedFiles {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        FileSource::read(&*self.0, path)
    }

    fn list(&self, dir: &Path) -> std::io::Result<Vec<DirEntry>> {
        FileSource::list(&*self.0, dir)
    }

    fn is_file(&self, path: &Path) -> bool {
        FileSource::is_file(&*self.0, path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        FileSource::is_dir(&*self.0, path)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        FileSource::absolute(&*self.0, path)
    }

    fn real(&self, path: &Path) -> PathBuf {
        FileSource::real(&*self.0, path)
    }

    fn is_special(&self, path: &Path) -> bool {
        FileSource::is_special(&*self.0, path)
    }

    fn is_read_only(&self, path: &Path) -> bool {
        FileSource::is_read_only(&*self.0, path)
    }
}

fn unknown_class(library: &Library, name: &str) -> Diagnostic {
    let parts: Vec<&str> = name.split('.').collect();
    let known = (1..parts.len()).rev().map(|n| parts[..n].join(".")).find(|path| library.find(path).is_some());
    let Some(package) = known else {
        let top = library.intern(parts.first().copied().unwrap_or(name));
        return library.missing_library(top, saltus_base::Span::nowhere());
    };
    let scope = library.find(&package).unwrap_or(library.root());
    let children = library.children(scope);
    let names = children.iter().filter_map(|&id| library.name_of(id)).map(|n| library.text(n).to_string());
    let names: Vec<String> = names.collect();
    let wanted = parts.get(package.split('.').count()).copied().unwrap_or("");
    diagnostics::unknown_class(wanted, &package, nearest(wanted, names.iter().map(String::as_str)))
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
    fn a_session_and_its_answers_can_go_to_another_thread() {
        fn is_send<T: Send>() {}
        fn is_sync<T: Sync>() {}
        is_send::<Session>();
        is_send::<std::sync::Arc<Report>>();
        is_sync::<Report>();
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
