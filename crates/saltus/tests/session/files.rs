//! Files and directories that change below a session.

use std::sync::Arc;

use crate::bench::{Disk, errors, session, shown};

#[test]
fn a_file_on_disk_can_be_overlaid_and_comes_back() {
    let disk = Disk::with(&[("M.mo", "model M Real x = 1; end M;")]);
    let mut session = disk.session();
    session.load_file("M.mo".as_ref());
    let on_disk = shown(&session.check("M"));
    session.set_text("M.mo", "model M Real x = 2; end M;");
    assert!(shown(&session.check("M")).contains("x = 2.0"));
    session.remove_text("M.mo");
    assert_eq!(shown(&session.check("M")), on_disk);
}

#[test]
fn a_file_of_a_library_can_be_overlaid_and_comes_back() {
    let disk = Disk::with(&[
        ("lib/P/package.mo", "package P end P;"),
        ("lib/P/A.mo", "within P; model A Real x = 1; end A;"),
        ("lib/P/B.mo", "within P; model B A a; end B;"),
    ]);
    let mut session = disk.session();
    let on_disk = shown(&session.check("P.B"));
    session.set_text("lib/P/A.mo", "within P; model A Real x = 2; end A;");
    assert!(shown(&session.check("P.B")).contains("a.x = 2.0"), "{}", shown(&session.check("P.B")));
    session.set_text("lib/P/A.mo", "within P; model A Real x = ; end A;");
    assert_eq!(errors(&session, "P.B").len(), 1);
    session.remove_text("lib/P/A.mo");
    assert_eq!(shown(&session.check("P.B")), on_disk);
}

#[test]
fn a_new_text_in_a_package_directory_is_part_of_the_package() {
    let disk = Disk::with(&[
        ("lib/P/package.mo", "package P end P;"),
        ("lib/P/A.mo", "within P; model A New n; end A;"),
        ("lib/P/package.order", "A\n"),
    ]);
    let mut session = disk.session();
    assert_eq!(errors(&session, "P.A"), ["E0201"]);
    session.set_text("lib/P/New.mo", "within P; model New Real x = 1; end New;");
    assert_eq!(errors(&session, "P.A"), [""; 0]);
    session.remove_text("lib/P/New.mo");
    assert_eq!(errors(&session, "P.A"), ["E0201"]);
}

#[test]
fn what_changes_on_disk_counts_when_it_is_said() {
    let disk = Disk::with(&[("lib/P.mo", "package P model A Real x = 1; end A; end P;")]);
    let mut session = disk.session();
    let first = session.check("P.A");
    disk.write("lib/P.mo", "package P model A Real x = 2; end A; end P;");
    assert!(Arc::ptr_eq(&first, &session.check("P.A")), "nobody said that the file changed");
    session.reload("lib/P.mo");
    assert!(shown(&session.check("P.A")).contains("x = 2.0"));
    // Touched, but the same.
    let second = session.check("P.A");
    session.reload("lib/P.mo");
    assert!(Arc::ptr_eq(&second, &session.check("P.A")));
    disk.remove("lib/P.mo");
    session.reload("lib/P.mo");
    assert_eq!(errors(&session, "P.A"), ["E0003"]);
}

#[test]
fn strange_paths_do_no_harm() {
    let mut session =
        session(&[("", "model Empty end Empty;"), ("d/../M.mo", "model M end M;"), ("/", "model R end R;")]);
    session.set_text("M.mo", "model M Real x = 2; end M;");
    assert_eq!(session.revision("./M.mo"), Some(2));
    session.set_text("no/such/directory/package.mo", "package P end P;");
    session.load_file("no/such/file.mo".as_ref());
    assert!(shown(&session.check("M")).contains("x = 2.0"), "two spellings of one file");
    assert_eq!((session.revision("M.mo"), session.revision("none.mo")), (Some(2), None));
    assert_eq!(errors(&session, "P"), [] as [&str; 0], "a package can be checked");
    session.remove_text("./M.mo");
    session.remove_text("never/set.mo");
    assert!(session.check("M").has_errors());
}

#[test]
fn a_library_appears_on_the_search_path() {
    let disk = Disk::default();
    let mut session = disk.session();
    session.add_modelica_path("later");
    session.set_text("M.mo", "model M P.A a; end M;");
    assert_eq!(errors(&session, "M").len(), 1);
    disk.write("later/P/package.mo", "package P end P;");
    disk.write("later/P/A.mo", "within P; model A Real x = 1; end A;");
    session.reload("later");
    assert_eq!(errors(&session, "M"), [""; 0], "{}", shown(&session.check("M")));
    disk.write("lib/P.mo", "package P model A Real y = 2; end A; end P;");
    session.reload("lib/P.mo");
    assert!(shown(&session.check("M")).contains("a.y = 2.0"), "the first search path wins");
}

#[test]
fn a_class_moves_to_another_file() {
    let mut session = session(&[("1.mo", "model A Real x = 1; end A;"), ("2.mo", "model B A a; end B;")]);
    let before = shown(&session.check("B"));
    session.set_text("2.mo", "model B A a; end B; model A Real x = 1; end A;");
    assert!(errors(&session, "A").contains(&"E0010"), "declared twice for a moment");
    session.set_text("1.mo", "");
    assert_eq!(shown(&session.check("B")), before);
    assert_eq!(errors(&session, "A"), [""; 0]);
}

#[test]
fn a_class_of_a_package_moves_to_a_file_of_its_own() {
    let disk = Disk::with(&[
        ("lib/P/package.mo", "package P model A Real x = 1; end A; model B A a; end B; end P;"),
        ("lib/P/package.order", "A\nB\n"),
    ]);
    let mut session = disk.session();
    let before = shown(&session.check("P.B"));
    disk.write("lib/P/A.mo", "within P; model A Real x = 1; end A;");
    session.reload("lib/P/A.mo");
    assert_eq!(errors(&session, "P.B"), ["E0010"], "stored twice");
    disk.write("lib/P/package.mo", "package P model B A a; end B; end P;");
    session.reload("lib/P/package.mo");
    assert_eq!(shown(&session.check("P.B")), before);
    disk.write("lib/P/package.order", "B\nA\n");
    session.reload("lib/P/package.order");
    let library = session.library();
    let children = library.children(library.find("P").unwrap());
    assert_eq!(children.iter().map(|&c| library.qualified_name(c)).collect::<Vec<_>>(), ["P.B", "P.A"]);
}

#[test]
fn a_changed_within_moves_a_class() {
    let mut session = session(&[
        ("P.mo", "package P end P;"),
        ("Q.mo", "package Q end Q;"),
        ("A.mo", "within P; model A Real x = 1; end A;"),
    ]);
    assert_eq!(errors(&session, "P.A"), [""; 0]);
    session.set_text("A.mo", "within Q; model A Real x = 1; end A;");
    assert_eq!((errors(&session, "P.A"), errors(&session, "Q.A")), (vec!["E0094"], vec![]));
    session.set_text("A.mo", "model A Real x = 1; end A;");
    assert_eq!((errors(&session, "Q.A"), errors(&session, "A")), (vec!["E0094"], vec![]));
    session.set_text("A.mo", "within Nowhere; model A Real x = 1; end A;");
    assert!(errors(&session, "A").contains(&"E0014"));
}

#[test]
fn two_files_with_the_same_class_are_told_of_until_one_goes() {
    let mut session = session(&[
        ("1.mo", "model A Real x = 1; end A;"),
        ("2.mo", "model A Real x = 2; end A;"),
        ("3.mo", "model Other Real y = 1; end Other;"),
    ]);
    assert_eq!(errors(&session, "A"), ["E0010"]);
    assert_eq!(errors(&session, "Other"), [""; 0]);
    session.remove_text("1.mo");
    assert!(shown(&session.check("A")).contains("x = 2.0"));
    session.set_text("1.mo", "model A Real x = 1; end A;");
    assert_eq!(errors(&session, "A"), ["E0010"], "the later one is the second now");
}

#[test]
fn a_circle_of_base_classes_is_closed_and_opened_again() {
    let mut session = session(&[("A.mo", "model A extends B; end A;"), ("B.mo", "model B Real x = 1; end B;")]);
    let before = shown(&session.check("A"));
    session.set_text("B.mo", "model B extends A; end B;");
    assert!(!errors(&session, "A").is_empty() && !errors(&session, "B").is_empty());
    assert_eq!(shown(&session.check("A")), shown(&session.check("A")));
    session.set_text("B.mo", "model B Real x = 1; end B;");
    assert_eq!(shown(&session.check("A")), before);
}

#[test]
fn a_file_that_a_model_reads_at_compile_time_counts() {
    let disk = Disk::with(&[("lib/P/package.mo", "package P end P;"), ("lib/P/sizes.txt", "one\ntwo\n")]);
    let mut session = disk.session();
    let text = "model M
  function countLines input String fileName; output Integer n;
    external \"C\" n = ModelicaInternal_countLines(fileName);
  end countLines;
  parameter Integer n = countLines(\"lib/P/sizes.txt\");
  Real x[n] = fill(1.0, n);
end M;";
    session.set_text("M.mo", text);
    assert!(shown(&session.check("M")).contains("Real[2] x"), "{}", shown(&session.check("M")));
    disk.write("lib/P/sizes.txt", "one\ntwo\nthree\n");
    session.reload("lib/P/sizes.txt");
    assert!(shown(&session.check("M")).contains("Real[3] x"), "{}", shown(&session.check("M")));
}
