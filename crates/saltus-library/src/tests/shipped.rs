//! Libraries that come with the tool.

use std::path::Path;

/// `lib` is a search path already when the shipped one is set.
fn library(files: &[(&str, &str)]) -> crate::Library {
    let library = super::library(files);
    library.set_shipped_path(Path::new("shipped"));
    library
}

const SHIPPED: (&str, &str) = ("shipped/S/package.mo", "package S model A end A; end S;");

#[test]
fn a_shipped_library_needs_no_search_path() {
    let library = library(&[SHIPPED]);
    assert!(library.find("S.A").is_some());
    assert_eq!(library.files_read(), ["shipped/S/package.mo"]);
}

#[test]
fn a_search_path_that_is_added_later_still_comes_first() {
    let library = library(&[SHIPPED, ("own/S/package.mo", "package S model B end B; end S;")]);
    library.add_search_path(Path::new("own"));
    assert!(library.find("S.B").is_some() && library.find("S.A").is_none());
    assert_eq!(library.files_read(), ["own/S/package.mo"]);
}

#[test]
fn messages_name_only_what_the_user_can_change() {
    let library = library(&[SHIPPED]);
    let message = library.missing_library(library.intern("s"), saltus_base::Span::nowhere());
    assert!(!message.message.contains("shipped"), "{}", message.message);
    assert_eq!(message.hints[0], "names are case-sensitive; there is `S`");
}
