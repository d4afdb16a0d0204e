//! Files, directories and texts that the user loads.

use super::{children, library, messages, qualified_names};

#[test]
fn classes_of_a_users_file_are_top_level_and_come_before_the_search_path() {
    let library = library(&[
        ("lib/Q.mo", "package Q model FromLibrary end FromLibrary; end Q;"),
        ("work/test.mo", "package Q model Mine end Mine; end Q; model M end M;"),
    ]);
    let loaded = library.load_file("work/test.mo".as_ref());
    assert_eq!(qualified_names(&library, &loaded), ["Q", "M"]);
    assert!(library.find("Q.Mine").is_some() && library.find("Q.FromLibrary").is_none());
    assert_eq!(library.children(library.root()), loaded);
    assert_eq!(library.load_file("work/../work/test.mo".as_ref()), loaded);
    assert_eq!(library.files_read(), ["work/test.mo"]);
    assert_eq!(library.find("M").and_then(|m| library.directory_of(m)), Some("work".into()));
    assert_eq!(messages(&library), "");
}

#[test]
fn a_package_directory_is_loaded_by_its_own_name_or_by_its_package_file() {
    let files = [
        ("work/P 1.2/package.mo", "within; package P annotation(version=\"1.2\"); end P;"),
        ("work/P 1.2/A.mo", "within P; model A end A;"),
    ];
    for path in ["work/P 1.2", "work/P 1.2/package.mo"] {
        let library = library(&files);
        let loaded = library.load_file(path.as_ref());
        assert_eq!(qualified_names(&library, &loaded), ["P"]);
        assert_eq!(library.files_read(), ["work/P 1.2/package.mo"]);
        assert!(library.find("P.A").is_some());
        assert_eq!(messages(&library), "");
    }
}

#[test]
fn a_file_inside_a_package_directory_brings_its_package() {
    let library = library(&[
        ("work/P/package.mo", "package P model Base end Base; end P;"),
        ("work/P/Examples/package.mo", "within P; package Examples end Examples;"),
        ("work/P/Examples/Test.mo", "within P.Examples; model Test extends Base; end Test;"),
        ("work/P/Examples/Other.mo", "within P.Examples; model Other end Other;"),
    ]);
    let loaded = library.load_file("work/P/Examples/Test.mo".as_ref());
    assert_eq!(qualified_names(&library, &loaded), ["P.Examples.Test"]);
    assert_eq!(library.find("P.Examples.Test"), loaded.first().copied());
    let sub_package = library.load_file("work/P/Examples".as_ref());
    assert_eq!(qualified_names(&library, &sub_package), ["P.Examples"]);
    assert!(library.find("P.Base").is_some());
    assert_eq!(library.files_read().len(), 3, "{:?}", library.files_read());
    assert_eq!(messages(&library), "");
}

#[test]
fn within_puts_a_text_into_a_package_from_elsewhere() {
    let library = library(&[
        ("lib/P/package.mo", "package P end P;"),
        ("lib/P/A.mo", "within P; model A end A;"),
        ("lib/P/B.mo", "within P; model B end B;"),
    ]);
    let loaded = library.load_text("mine.mo", "within P; model A Real mine; end A;");
    assert_eq!(qualified_names(&library, &loaded), ["P.A"]);
    assert_eq!(library.find("P.A"), loaded.first().copied());
    assert_eq!(children(&library, "P"), ["A", "B"]);
    assert!(!library.files_read().contains(&"lib/P/A.mo".to_string()));
    assert_eq!(messages(&library), "");
}

#[test]
fn within_of_a_package_that_is_not_there() {
    let library = library(&[("lib/x.txt", "")]);
    let loaded = library.load_text("mine.mo", "\nwithin A.B; model M end M;");
    assert_eq!(qualified_names(&library, &loaded), ["M"]);
    assert_eq!(
        messages(&library),
        "\
E0014 mine.mo:2:1: `within A.B;` names a package that is not found; the classes of this file are taken as top-level classes
  hint: load the package first, or name its directory with `--library DIR`"
    );
}

#[test]
fn two_files_with_the_same_class() {
    let library = library(&[]);
    let first = library.load_text("a.mo", "model M end M;");
    let second = library.load_text("b.mo", "model N end N;\nmodel M end M;");
    assert_eq!(library.find("M"), first.first().copied());
    assert_ne!(second[1], first[0]);
    assert_eq!(
        messages(&library),
        "\
E0010 b.mo:2:7: a second class `M` at top level; the first one is used
  a.mo:1:7: the first is here
  hint: rename or remove one of the two"
    );
}

#[test]
fn a_library_that_is_loaded_already_is_replaced_with_a_warning() {
    let library = library(&[("lib/P.mo", "package P model A end A; end P;")]);
    let old = library.find("P.A");
    assert!(old.is_some());
    library.load_text("mine.mo", "package P model B end B; end P;");
    assert!(library.find("P.B").is_some() && library.find("P.A").is_none());
    assert_eq!(library.children(library.root()).len(), 1);
    assert_eq!(
        messages(&library),
        "\
W0017 mine.mo:1:9: class `P` was already loaded from `lib/P.mo`; this one replaces it from now on
  hint: load this file before anything that uses the library"
    );
    library.load_file("lib/P.mo".as_ref());
    assert!(messages(&library).contains("\nE0010 lib/P.mo:1:9: a second class `P` at top level"));
}

#[test]
fn loading_the_file_that_the_search_found_changes_nothing() {
    let library = library(&[("lib/P.mo", "package P model A end A; end P;")]);
    let found = library.find("P");
    assert_eq!(library.load_file("lib/P.mo".as_ref()).first().copied(), found);
    assert_eq!(messages(&library), "");
}

#[test]
fn a_users_file_in_a_search_path_is_not_taken_for_a_library() {
    let library = library(&[("lib/test.mo", "model A end A; model B end B;")]);
    library.load_file("lib/test.mo".as_ref());
    assert_eq!(library.find("test"), None);
    assert_eq!(messages(&library), "");
}

#[test]
fn where_a_file_lies_counts_more_than_what_it_says() {
    let library = library(&[
        ("work/P/package.mo", "package P package B end B; end P;"),
        ("work/P/C/package.mo", "within P; package C end C;"),
        ("work/P/C/T.mo", "within P.B; model T end T;"),
    ]);
    let loaded = library.load_file("work/P/C/T.mo".as_ref());
    assert_eq!(qualified_names(&library, &loaded), ["P.C.T"]);
    assert!(library.find("P.B.T").is_none());
    assert_eq!(
        messages(&library),
        "\
E0007 work/P/C/T.mo:1:1: `within P.B;` does not fit this file: its directory belongs to `P.C`
  hint: write `within P.C;`, or move the file"
    );
}
