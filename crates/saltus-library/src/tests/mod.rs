//! Tests of the rules of chapter 13 on files in memory, and one on the disk.

mod class_tree;
mod disk;
mod messages;
mod packages;
mod shipped;
mod store;
mod uris;
mod user_files;
mod versions;

use crate::{ClassId, Library, MemoryFiles};

/// A library over files in memory; `lib` is a search path.
fn library(files: &[(&str, &str)]) -> Library {
    library_of_bytes(&files.iter().map(|(path, text)| (*path, text.as_bytes())).collect::<Vec<_>>())
}

fn library_of_bytes(files: &[(&str, &[u8])]) -> Library {
    let mut memory = MemoryFiles::new();
    for (path, bytes) in files {
        memory.insert(path, *bytes);
    }
    let library = Library::new(Box::new(memory));
    library.add_search_path("lib".as_ref());
    library
}

/// The messages so far: `code place: message`, then each label as `  place: text` and each hint as `  hint: text`.
fn messages(library: &Library) -> String {
    let place = |span| library.with_sources(|sources| sources.location(span)).unwrap_or_default();
    let mut lines = Vec::new();
    for diagnostic in library.diagnostics() {
        let at = diagnostic.span.map(|span| format!(" {}", place(span))).unwrap_or_default();
        lines.push(format!("{}{at}: {}", diagnostic.code.0, diagnostic.message));
        lines.extend(diagnostic.labels.iter().map(|label| format!("  {}: {}", place(label.span), label.text)));
        lines.extend(diagnostic.hints.iter().map(|hint| format!("  hint: {hint}")));
    }
    lines.join("\n")
}

fn qualified_names(library: &Library, ids: &[ClassId]) -> Vec<String> {
    ids.iter().map(|&id| library.qualified_name(id)).collect()
}

/// The names of the classes declared in the class at `path`.
fn children(library: &Library, path: &str) -> Vec<String> {
    let ids = library.find(path).map(|id| library.children(id)).unwrap_or_default();
    ids.into_iter().filter_map(|id| library.name_of(id)).map(|name| library.text(name).to_string()).collect()
}
