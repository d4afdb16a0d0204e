//! What is said about files that are not as they should be.

use super::{children, library, library_of_bytes, messages};
use crate::{Library, MAX_FILE_SIZE, MemoryFiles};

/// The messages after looking at all children of `P`.
fn messages_of_package(files: &[(&str, &str)]) -> String {
    let library = library(files);
    children(&library, "P");
    messages(&library)
}

const PACKAGE: (&str, &str) = ("lib/P/package.mo", "package P end P;");

#[test]
fn within_must_name_the_enclosing_package() {
    let files = [
        PACKAGE,
        ("lib/P/A.mo", "// a comment\nwithin Q.R; model A end A;"),
        ("lib/P/B.mo", "within; model B end B;"),
        ("lib/P/C.mo", "\n  model C end C;"),
        ("lib/P/S/package.mo", "within P; package S end S;"),
        ("lib/P/S/D.mo", "within S; model D end D;"),
    ];
    let library = library(&files);
    assert_eq!(children(&library, "P"), ["A", "B", "C", "S"]);
    assert_eq!(children(&library, "P.S"), ["D"]);
    assert_eq!(
        messages(&library),
        "\
E0007 lib/P/A.mo:2:1: `within Q.R;` does not fit this file: its directory belongs to `P`
  hint: write `within P;`, or move the file
E0007 lib/P/B.mo:1:1: `within;` does not fit this file: its directory belongs to `P`
  hint: write `within P;`, or move the file
E0008 lib/P/C.mo:2:3: this file is part of the package `P` but does not begin with a `within` clause
  hint: begin the file with `within P;`
E0007 lib/P/S/D.mo:1:1: `within S;` does not fit this file: its directory belongs to `P.S`
  hint: write `within P.S;`, or move the file"
    );
}

#[test]
fn a_library_in_a_search_path_is_not_within_anything() {
    let library = library(&[("lib/A.mo", "within P; model A end A;")]);
    assert!(library.find("A").is_some());
    assert_eq!(
        messages(&library),
        "\
E0007 lib/A.mo:1:1: `within P;` does not fit this file: it is stored as a top-level class
  hint: write `within;`, or move the file into the directory of that package"
    );
}

#[test]
fn file_and_class_must_have_the_same_name() {
    let files = [
        PACKAGE,
        ("lib/P/Motor.mo", "within P; model Moter end Moter;"),
        ("lib/P/Sub/package.mo", "within P; package Zub end Zub;"),
    ];
    let library = library(&files);
    assert_eq!(children(&library, "P"), ["Motor", "Sub"]);
    assert_eq!(
        messages(&library),
        "\
E0009 lib/P/Motor.mo:1:17: the file `Motor.mo` should define a class `Motor`, but defines `Moter`
  hint: rename the class to `Motor`, or the file to `Moter.mo`
E0009 lib/P/Sub/package.mo:1:19: the directory `Sub` should define a class `Sub`, but defines `Zub`
  hint: rename the class to `Sub`, or the directory to `Zub`"
    );
}

#[test]
fn a_users_package_directory_may_have_another_name() {
    let library = library(&[("work/P-main/package.mo", "package P end P;")]);
    library.load_file("work/P-main".as_ref());
    let found = library.diagnostics();
    let severities: Vec<_> = found.iter().map(|d| (d.code.0, d.severity)).collect();
    assert_eq!(severities, [("E0009", saltus_base::Severity::Warning)]);
}

#[test]
fn a_file_of_a_package_defines_one_class() {
    let files = [
        PACKAGE,
        ("lib/P/A.mo", "within P; model X end X; model A end A;"),
        ("lib/P/B.mo", "within P;"),
        ("lib/P/C.mo", "garbage"),
    ];
    let library = library(&files);
    assert_eq!(children(&library, "P"), ["A"]);
    let found = messages(&library);
    let expected = "\
E0011 lib/P/A.mo:1:32: `lib/P/A.mo` defines 2 classes; a file of a package defines exactly one
  hint: store every class in a file of its own, or put them into one package
E0011 lib/P/B.mo:1:1: `lib/P/B.mo` defines no class; a file of a package defines exactly one
  hint: store every class in a file of its own, or put them into one package
";
    assert!(found.starts_with(expected), "{found}");
    assert!(!found[expected.len()..].contains("E0011"), "{found}");
}

#[test]
fn a_file_with_several_classes_is_no_library() {
    let library = library(&[("lib/a.mo", "model a end a; model b end b;"), ("other/a.mo", "model a end a;")]);
    library.add_search_path("other".as_ref());
    let found = library.find("a").and_then(|a| library.file_of(a));
    assert_eq!(found, Some("other/a.mo".as_ref()));
    assert_eq!(
        messages(&library),
        "\
W0020 lib/a.mo:1:22: `lib/a.mo` is not a library: it defines 2 classes instead of exactly one
  hint: name the file on the command line to load all its classes"
    );
}

#[test]
fn a_class_is_stored_once() {
    let files = [
        ("lib/P/package.mo", "package P model T end T; end P;"),
        ("lib/P/A.mo", "within P; model A end A;"),
        ("lib/P/A/package.mo", "within P; package A end A;"),
        ("lib/P/T.mo", "within P; model T end T;"),
        ("lib/P/T/picture.png", ""),
    ];
    assert_eq!(
        messages_of_package(&files),
        "\
E0010 lib/P/package.mo:1:17: class `T` of `P` is defined here and also stored in `lib/P/T.mo`, which is ignored
  hint: remove one of the two
E0016 lib/P/A/package.mo:1:19: class `A` of `P` is stored twice: as the file `A.mo` and as the directory `A`; the directory is used
  hint: remove one of the two"
    );
}

#[test]
fn a_short_class_has_no_files() {
    let files = [("lib/P/package.mo", "package P = Q;"), ("lib/P/A.mo", "within P; model A end A;")];
    assert_eq!(
        messages_of_package(&files),
        "\
E0018 lib/P/package.mo:1:9: `P` is a short class definition, so the other files of its directory cannot be part of it
  hint: write `package P … end P;`"
    );
}

#[test]
fn bytes_that_are_not_utf8_are_reported_and_the_rest_is_used() {
    let text = b"\xef\xbb\xbfpackage P\n  model A \"gr\xfc\xdfe\" end A;\nend P;";
    let library = library_of_bytes(&[("lib/P.mo", text)]);
    assert!(library.find("P.A").is_some());
    // The byte order mark has 3 bytes, the text before the first bad byte 23.
    assert_eq!(
        messages(&library),
        "\
E0002 lib/P.mo:2:14: `lib/P.mo` is not UTF-8 text: the byte at offset 26 does not belong to a character
  hint: Modelica files are stored as UTF-8; convert an older file with `iconv -f LATIN1 -t UTF-8`"
    );
}

#[test]
fn a_byte_order_mark_is_white_space() {
    let library = library(&[("lib/P.mo", "\u{feff}package P end P;")]);
    library.load_text("m.mo", "\u{feff}model M end M;");
    assert!(library.find("P").is_some() && library.find("M").is_some());
    assert_eq!(messages(&library), "");
}

#[test]
fn files_that_cannot_be_read() {
    let library = library(&[
        ("work/data/x.txt", ""),
        ("lib/P/package.mo/oops.txt", ""),
        ("lib/Q/package.mo", "package Q end Q;"),
        ("lib/Q/A.mo/x.txt", ""),
    ]);
    assert!(library.load_file("work/missing.mo".as_ref()).is_empty());
    assert!(library.load_file("work/data".as_ref()).is_empty());
    assert!(library.find("P").is_none());
    assert_eq!(children(&library, "Q"), [""; 0]);
    assert_eq!(
        messages(&library),
        "\
E0001: cannot read `work/missing.mo`: no such file
  hint: check the spelling of the path; relative paths start at the current directory
E0006: `work/data` is a directory without a file `package.mo`; expected a Modelica file or a package directory
  hint: a directory that contains packages is named with `--library DIR`"
    );
}

#[test]
fn files_above_the_limit_are_not_parsed() {
    let mut files = MemoryFiles::new();
    files.insert("big.mo", vec![b' '; MAX_FILE_SIZE as usize + 1]);
    let library = Library::new(Box::new(files));
    assert!(library.load_file("big.mo".as_ref()).is_empty());
    assert_eq!(
        messages(&library),
        "\
E0005: `big.mo` has 67108865 bytes; files of more than 64 MiB are not read
  hint: split the package into a directory with one file for each class"
    );
    assert!(library.files_read().is_empty());
}

#[test]
fn the_message_for_a_missing_library_names_the_directories() {
    let library = Library::new(Box::new(MemoryFiles::new()));
    let message = library.missing_library(library.intern("Buildings"), saltus_base::Span::nowhere());
    assert_eq!(message.message, "library `Buildings` is not found; no directory was searched");
    assert_eq!(message.hints.len(), 1);
}
