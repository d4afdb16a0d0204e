//! Directory packages, single-file packages, `package.order` and laziness.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{children, library, messages};
use crate::{DirEntry, FileSource, Library, MemoryFiles};

const SMALL_STANDARD_LIBRARY: &[(&str, &str)] = &[
    ("lib/Modelica/package.mo", "package Modelica constant Real g = 9.81; end Modelica;"),
    ("lib/Modelica/package.order", "Blocks\nUnits\n"),
    ("lib/Modelica/Units.mo", "within Modelica; package Units end Units;"),
    ("lib/Modelica/Blocks/package.mo", "within Modelica; package Blocks end Blocks;"),
    ("lib/Modelica/Blocks/package.order", "Math\nSources\n"),
    (
        "lib/Modelica/Blocks/Math.mo",
        "within Modelica.Blocks; package Math block Gain end Gain; block Add end Add; end Math;",
    ),
    ("lib/Modelica/Blocks/Sources.mo", "within Modelica.Blocks; package Sources end Sources;"),
    ("lib/Modelica/Resources/table.txt", "1 2 3"),
    ("lib/Complex.mo", "operator record Complex Real re; Real im; end Complex;"),
];

#[test]
fn lookup_reads_only_the_files_on_its_way() {
    let library = library(SMALL_STANDARD_LIBRARY);
    assert!(library.find("Modelica.Blocks.Math.Gain").is_some());
    let expected = ["lib/Modelica/package.mo", "lib/Modelica/Blocks/package.mo", "lib/Modelica/Blocks/Math.mo"];
    assert_eq!(library.files_read(), expected);
    assert!(library.find("Modelica.Blocks.Math.Add").is_some());
    assert!(library.find("Modelica.Blocks.Nothing").is_none());
    assert!(library.find("Modelica.Resources").is_none());
    assert_eq!(library.files_read(), expected);
    assert!(library.find("Complex").is_some());
    assert_eq!(library.files_read().len(), 4);
    assert_eq!(messages(&library), "");
}

/// Counts what is asked of the files below.
struct Counted {
    files: MemoryFiles,
    listed: Arc<Mutex<Vec<PathBuf>>>,
    read: Arc<Mutex<Vec<PathBuf>>>,
}

impl FileSource for Counted {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read.lock().unwrap().push(path.to_path_buf());
        self.files.read(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.listed.lock().unwrap().push(dir.to_path_buf());
        self.files.list(dir)
    }
    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(path)
    }
    fn is_dir(&self, path: &Path) -> bool {
        self.files.is_dir(path)
    }
    fn real(&self, path: &Path) -> PathBuf {
        self.files.real(path)
    }
    fn is_special(&self, path: &Path) -> bool {
        self.files.is_special(path)
    }
}

#[test]
fn directories_are_listed_and_files_read_once() {
    let mut files = MemoryFiles::new();
    for (path, text) in SMALL_STANDARD_LIBRARY {
        files.insert(path, *text);
    }
    let (listed, read) = (Arc::default(), Arc::default());
    let library = Library::new(Box::new(Counted { files, listed: Arc::clone(&listed), read: Arc::clone(&read) }));
    library.add_search_path("lib".as_ref());
    for _ in 0..3 {
        for path in ["Modelica.Blocks.Math.Gain", "Modelica.Blocks.Sources", "Nothing", "Complex"] {
            library.find(path);
        }
        assert_eq!(children(&library, "Modelica"), ["Blocks", "Units"]);
        library.load_file("lib/./Complex.mo".as_ref());
    }
    assert_eq!(*listed.lock().unwrap(), ["lib", "lib/Modelica", "lib/Modelica/Blocks"].map(PathBuf::from));
    let read = read.lock().unwrap();
    let mut distinct = read.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(read.len(), distinct.len());
    // package.mo, Units.mo, package.order of Modelica; package.mo, Math.mo, Sources.mo of Blocks; Complex.mo
    assert_eq!(read.len(), 7);
}

#[test]
fn package_order_decides_and_text_order_is_the_default() {
    let files = [
        ("lib/P/package.mo", "package P model T2 end T2; constant Real c = 1; model T1 end T1; end P;"),
        ("lib/P/package.order", "\u{feff}Z\r\nT2\r\n\r\nc\r\nA\r\nT1\r\n"),
        ("lib/P/A.mo", "within P; model A end A;"),
        ("lib/P/Z/package.mo", "within P; package Z model N2 end N2; model N1 end N1; end Z;"),
        ("lib/P/Z/B.mo", "within P.Z; model B end B;"),
        ("lib/P/Z/A.mo", "within P.Z; model A end A;"),
    ];
    let library = library(&files);
    assert_eq!(children(&library, "P"), ["Z", "T2", "A", "T1"]);
    assert_eq!(children(&library, "P.Z"), ["N2", "N1", "A", "B"]);
    assert_eq!(messages(&library), "");
}

#[test]
fn package_order_that_does_not_fit_is_a_warning() {
    let files = [
        ("lib/P/package.mo", "package P model T end T; end P;"),
        ("lib/P/package.order", "A\n  Missing\n"),
        ("lib/P/A.mo", "within P; model A end A;"),
        ("lib/P/B.mo", "within P; model B end B;"),
    ];
    let library = library(&files);
    assert_eq!(children(&library, "P"), ["A", "T", "B"]);
    assert_eq!(
        messages(&library),
        "\
W0012 lib/P/package.order:2:3: `package.order` lists `Missing`, but `P` has no such class or constant
  hint: remove the line, or correct the spelling
W0013 lib/P/B.mo:1:17: `package.order` of `P` does not list `B`
  hint: add a line `B` to `package.order`"
    );
}

#[test]
fn quoted_identifiers_name_files_and_classes() {
    let files = [
        ("lib/'a b'/package.mo", "package 'a b' end 'a b';"),
        ("lib/'a b'/'x.y'.mo", "within 'a b'; model 'x.y' end 'x.y';"),
        ("lib/'a b' 2.0.mo", "package 'a b' model Other end Other; annotation(version=\"2.0\"); end 'a b';"),
    ];
    let library = library(&files);
    assert!(library.find("'a b'.Other").is_some(), "version 2.0 is the highest");
    let only_first = super::library(&files[..2]);
    let found = only_first.find("'a b'.'x.y'").map(|id| only_first.qualified_name(id));
    assert_eq!(found.as_deref(), Some("'a b'.'x.y'"));
    assert_eq!(messages(&library) + &messages(&only_first), "");
}

#[test]
fn files_that_cannot_hold_a_class_are_passed_over() {
    let files = [
        ("lib/P/package.mo", "package P end P;"),
        ("lib/P/Copy of A.mo", "not Modelica"),
        ("lib/P/notes.txt", "not Modelica"),
        ("lib/P/A.mo", "within P; model A end A;"),
        ("lib/P/A.mo.orig", "not Modelica"),
        ("lib/P/Resources/Images/x.png", "not Modelica"),
    ];
    let library = library(&files);
    assert_eq!(children(&library, "P"), ["A"]);
    assert_eq!(messages(&library), "");
}

#[test]
fn a_search_path_may_be_a_package_itself() {
    let files = [
        ("download-main/package.mo", "package P end P;"),
        ("download-main/A.mo", "within P; model A end A;"),
        ("other/Q 3.mo", "package Q model B end B; end Q;"),
    ];
    let library = library(&files);
    library.add_modelica_path("download-main: other/Q 3.mo ::");
    assert!(library.find("P.A").is_some());
    let q = library.find("Q");
    assert_eq!(q.and_then(|q| library.version_of(q)).map(|v| v.to_string()).as_deref(), Some("3"));
    assert!(library.find("Q.B").is_some());
}

#[test]
fn a_search_path_that_is_added_later_is_searched() {
    let library = library(&[("lib/x.txt", ""), ("other/P.mo", "package P end P;")]);
    assert!(library.find("P").is_none());
    library.add_search_path("other".as_ref());
    assert!(library.find("P").is_some());
}
