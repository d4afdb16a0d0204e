//! `modelica:` and `file:` URIs.

use std::path::{Path, PathBuf};

use super::library;

#[test]
fn uris_are_resolved_as_chapter_13_says() {
    let library = library(&[
        ("lib/M 3.2.1/package.mo", "package M package Inside end Inside; end M;"),
        ("lib/M 3.2.1/Mechanics/package.mo", "within M; package Mechanics end Mechanics;"),
        ("lib/'a b'/package.mo", "package 'a b' end 'a b';"),
        ("lib/Single.mo", "package Single end Single;"),
    ]);
    let cases = [
        ("modelica:/M/Resources/C.jpg", Some("lib/M 3.2.1/Resources/C.jpg")),
        ("modelica://M/Resources/C.jpg", Some("lib/M 3.2.1/Resources/C.jpg")),
        ("Modelica://m/a%20b/%c3%bc.txt", Some("lib/M 3.2.1/a b/ü.txt")),
        ("modelica:/m/Resources/C.jpg", None),
        ("modelica:/M.Mechanics/C.jpg", Some("lib/M 3.2.1/Mechanics/C.jpg")),
        ("modelica://m.mechanics/C.jpg", Some("lib/M 3.2.1/Mechanics/C.jpg")),
        ("modelica:/M.Inside/C.jpg", Some("lib/M 3.2.1/Inside/C.jpg")),
        ("modelica:/M", Some("lib/M 3.2.1")),
        ("modelica:/M#info", Some("lib/M 3.2.1")),
        ("modelica:/%27a%20b%27/x", Some("lib/'a b'/x")),
        ("modelica:/Single/C.jpg", Some("lib/C.jpg")),
        ("modelica:/Nothing/C.jpg", None),
        ("modelica:/M/%zz", None),
        ("modelica:/M/%f", None),
        ("modelica:///", None),
        ("file:///data/x%20y.txt", Some("/data/x y.txt")),
        ("file://localhost/data/x", Some("/data/x")),
        ("FILE:/data/x", Some("/data/x")),
        ("file:///C:/data/x", Some("C:/data/x")),
        ("file://server/data/x", None),
        ("https://example.org/x", None),
        ("data/x.txt", Some("data/x.txt")),
        ("C:/data/x.txt", Some("C:/data/x.txt")),
        ("", Some("")),
    ];
    for (uri, expected) in cases {
        assert_eq!(library.resolve_uri(uri), expected.map(PathBuf::from), "{uri}");
    }
}

#[test]
fn a_separator_at_the_end_is_kept() {
    let library = library(&[("lib/A/package.mo", "package A end A;")]);
    let text = |uri: &str| library.resolve_uri(uri).map(|path| path.display().to_string());
    assert_eq!(text("modelica:/A/Resources/").as_deref(), Some("lib/A/Resources/"));
    assert_eq!(text("modelica:/A/Resources").as_deref(), Some("lib/A/Resources"));
    assert_eq!(text("modelica:/A/").as_deref(), Some("lib/A/"));
}

#[test]
fn relative_paths_start_at_the_file_of_the_class() {
    let library = library(&[("work/m.mo", "model M end M;"), ("work/data/t.txt", "1 2")]);
    let m = library.load_file("work/m.mo".as_ref())[0];
    let path = library.resolve_uri_from(m, "data/t.txt");
    assert_eq!(path.as_deref(), Some(Path::new("work/data/t.txt")));
    assert_eq!(path.and_then(|path| library.read_resource(&path).ok()).as_deref(), Some(b"1 2".as_slice()));
    assert_eq!(library.resolve_uri_from(m, "/abs/t.txt"), Some("/abs/t.txt".into()));
    assert!(library.read_resource("nothing".as_ref()).is_err());
    assert_eq!(library.files_read(), ["work/m.mo"], "resources are not sources");
}
