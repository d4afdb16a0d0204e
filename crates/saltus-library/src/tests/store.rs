//! Texts that change below class trees.

use std::path::Path;

use crate::{DirEntry, FileSource, Library, MemoryFiles, Store};

fn store(files: &[(&str, &str)]) -> std::sync::Arc<Store> {
    let mut memory = MemoryFiles::new();
    files.iter().for_each(|(path, text)| memory.insert(path, *text));
    Store::new(Box::new(memory))
}

#[test]
fn the_same_text_has_the_same_id_and_another_one_has_another() {
    let store = store(&[("M.mo", "model M end M;")]);
    let path = Path::new("M.mo");
    let on_disk = store.file_id(path);
    store.set_text(path, "model M end M;");
    assert_eq!((store.file_id(path), store.revision(path)), (on_disk, Some(1)));
    store.set_text(path, "model M Real x; end M;");
    assert_ne!(store.file_id(path), on_disk);
    store.reload(path);
    assert_eq!(store.revision(path), Some(2), "the text of the user hides what is on disk");
    store.remove_text(path);
    assert_eq!(store.revision(path), Some(3));
    assert_eq!(store.file_id(Path::new("none.mo")), None);
}

#[test]
fn texts_of_the_user_are_files_of_their_directories() {
    let store = store(&[("lib/P/package.mo", "package P end P;")]);
    store.set_text(Path::new("lib/P/A.mo"), "within P; model A end A;");
    store.set_text(Path::new("lib/P/Q/package.mo"), "within P; package Q end Q;");
    let files: &dyn FileSource = &*store;
    let entry = |name: &str, is_dir| DirEntry { name: name.into(), is_dir };
    let listed = files.list(Path::new("lib/P")).unwrap();
    assert_eq!(listed, [entry("A.mo", false), entry("Q", true), entry("package.mo", false)]);
    assert!(files.is_dir(Path::new("lib/P/Q")) && files.is_file(Path::new("lib/P/A.mo")));
    assert_eq!(files.read(Path::new("lib/P/A.mo")).ok().as_deref(), Some(&b"within P; model A end A;"[..]));
    let library = Library::over(&store);
    library.add_search_path("lib".as_ref());
    assert!(library.find("P.A").is_some() && library.find("P.Q").is_some());
}

#[test]
fn a_class_that_is_not_found_depends_on_where_it_was_looked_for() {
    let store = store(&[("lib/P/package.mo", "package P end P;"), ("lib/R.mo", "package R end R;")]);
    let library = Library::over(&store);
    library.add_search_path("lib".as_ref());
    assert!(library.find("P.A").is_none());
    let dependencies = library.dependencies();
    let files: Vec<_> = dependencies.files().collect();
    assert_eq!(files, [Path::new("lib/P/package.mo")]);
    store.set_text(Path::new("lib/R.mo"), "package R model M end M; end R;");
    assert!(dependencies.are_current(&store, &[]), "another library");
    store.set_text(Path::new("lib/P/A.mo"), "within P; model A end A;");
    assert!(!dependencies.are_current(&store, &[]));
    store.remove_text(Path::new("lib/P/A.mo"));
    assert!(dependencies.are_current(&store, &[]), "all is as it was");
}

#[test]
fn of_a_users_file_that_is_not_entered_only_the_names_that_were_asked_for_count() {
    let store = store(&[]);
    let files = ["A.mo", "B.mo"].map(std::path::PathBuf::from);
    store.set_text(&files[0], "model A end A;");
    store.set_text(&files[1], "model B end B;");
    let library = Library::over(&store);
    library.load_users_files(&files);
    assert!(library.find("A").and_then(|a| library.definition(a)).is_some());
    let dependencies = library.dependencies();
    let is_current_with = |text: &str| {
        store.set_text(&files[1], text);
        dependencies.are_current(&store, &files)
    };
    assert!(is_current_with("model B Real x; end B; model C end C;") && is_current_with("model B Real ;"));
    assert!(!is_current_with("model B end B; model A end A;"), "a second `A`");
    assert!(!is_current_with("within A; model B end B;") && is_current_with(""));
    store.set_text(&files[0], "model A Real y; end A;");
    assert!(!dependencies.are_current(&store, &files));
}

#[test]
fn identifiers_that_nobody_uses_any_more_go() {
    let store = store(&[]);
    let path = Path::new("M.mo");
    for edit in 0..100 {
        let names: String = (0..1000).map(|k| format!("Real x{edit}_{k}; ")).collect();
        store.set_text(path, &format!("model M {names} end M;"));
        store.drop_stale_names();
        let library = Library::over(&store);
        assert_eq!(library.load_file(path).len(), 1);
    }
    assert!(store.n_names() < 30_000 && store.n_texts() == 1, "{} {}", store.n_names(), store.n_texts());
}
