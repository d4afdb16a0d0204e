//! Versions of libraries: which is chosen, and what is said about it.

use super::{library, messages};
use crate::Library;

const OLD: (&str, &str) =
    ("lib/M 3.2.3/package.mo", "package M model Old end Old; annotation(version=\"3.2.3\"); end M;");
const NEW: (&str, &str) =
    ("lib/M 4.1.0/package.mo", "package M model New end New; annotation(version=\"4.1.0\"); end M;");
const NEW_FOR_OLD: (&str, &str) = (
    "lib/M 4.1.0/package.mo",
    "package M annotation(version=\"4.1.0\", conversion(noneFromVersion=\"3.2.2\", noneFromVersion=\"4.0.0\",
  from(version={\"3.2.3\"}, script=\"x.mos\"))); end M;",
);
const PLAIN: (&str, &str) = ("lib/M.mo", "package M annotation(version=\"3.9\"); end M;");

fn version(library: &Library, name: &str) -> Option<String> {
    library.version_of(library.find(name)?).map(|version| version.to_string())
}

fn user(version: &str) -> String {
    format!("model U\n  annotation(uses(M(version=\"{version}\")));\nend U;")
}

#[test]
fn without_a_wish_the_highest_version_of_the_first_root_wins() {
    let first = library(&[OLD, NEW, PLAIN]);
    assert_eq!(version(&first, "M").as_deref(), Some("4.1.0"));
    assert!(!first.files_read().iter().any(|file| file.contains("3.2.3")));
    let beta = ("lib/M 4.1.0 Beta 2.mo", "package M end M;");
    assert_eq!(version(&library(&[beta, PLAIN]), "M").as_deref(), Some("4.1.0 Beta 2"));
    assert_eq!(version(&library(&[beta, NEW]), "M").as_deref(), Some("4.1.0"));

    let ordered = library(&[("other/M 9.mo", "package M end M;"), OLD]);
    ordered.add_search_path("other".as_ref());
    assert_eq!(version(&ordered, "M").as_deref(), Some("3.2.3"));
    for library in [first, ordered] {
        assert_eq!(messages(&library), "");
    }
}

#[test]
fn uses_decides_and_reads_nothing_else() {
    let library = library(&[OLD, NEW]);
    library.load_text("u.mo", &user("3.2.3"));
    assert!(library.find("M.Old").is_some());
    assert_eq!(library.files_read(), ["lib/M 3.2.3/package.mo"]);
    assert_eq!(messages(&library), "");
}

#[test]
fn the_version_asked_for_may_be_in_a_later_root_or_in_a_file_without_version_in_its_name() {
    let later = library(&[OLD, ("other/M 4.1.0.mo", NEW.1)]);
    later.add_search_path("other".as_ref());
    later.load_text("u.mo", &user("4.1.0"));
    assert!(later.find("M.New").is_some());

    let plain = library(&[OLD, NEW, PLAIN]);
    plain.load_text("u.mo", &user("3.9"));
    assert_eq!(version(&plain, "M").as_deref(), Some("3.9"));
    for library in [later, plain] {
        assert_eq!(messages(&library), "");
    }
}

#[test]
fn none_from_version_is_accepted_silently() {
    let library = library(&[OLD, NEW_FOR_OLD]);
    library.load_text("u.mo", &user("4.0.0"));
    assert_eq!(version(&library, "M").as_deref(), Some("4.1.0"));
    assert_eq!(messages(&library), "");
}

#[test]
fn another_version_is_loaded_with_a_warning() {
    let library = library(&[OLD, NEW_FOR_OLD, PLAIN]);
    library.load_text("u.mo", &user("2.0"));
    assert_eq!(version(&library, "M").as_deref(), Some("4.1.0"));
    assert_eq!(
        messages(&library),
        "\
W0004 u.mo:2:19: version 2.0 of `M` is required here, but version 4.1.0 is loaded
  hint: found: 3.2.3 (`lib/M 3.2.3`), 4.1.0 (`lib/M 4.1.0`), 3.9 (`lib/M.mo`); searched `lib`
  hint: name the directory that contains version 2.0 with `--library DIR`, or update the `uses` annotation"
    );
}

#[test]
fn a_wish_that_comes_too_late_is_a_warning() {
    let library = library(&[OLD, NEW]);
    assert!(library.find("M.New").is_some());
    library.load_text("a.mo", "model A annotation(uses(M(version=\"4.1.0\"))); end A;");
    assert_eq!(messages(&library), "");
    library.load_text("u.mo", &user("3.2.3"));
    assert!(
        messages(&library).starts_with("W0004 u.mo:2:19: version 3.2.3 of `M` is required here, but version 4.1.0")
    );
}

#[test]
fn libraries_ask_for_the_libraries_they_use() {
    let library = library(&[OLD, NEW, ("lib/L.mo", "package L annotation(uses(M(version=\"3.2.3\"))); end L;")]);
    assert!(library.find("L").is_some());
    assert!(library.find("M.Old").is_some());
    assert_eq!(messages(&library), "");
}

#[test]
fn a_missing_library_is_reported_at_its_use() {
    let library = library(&[("lib/modelica.mo", "package modelica end modelica;")]);
    assert!(library.find("Modelica").is_none());
    assert_eq!(messages(&library), "", "a name that is not found is not a mistake of a library");
    library.add_search_path("nowhere".as_ref());
    library.load_text("u.mo", "model U\n  annotation(uses(Modelica(version=\"4.1.0\")));\nend U;");
    assert!(library.find("Modelica.Blocks").is_none());
    assert_eq!(
        messages(&library),
        "\
W0015: cannot list the library directory `nowhere`: no such directory
  hint: correct or remove it in `--library` or MODELICAPATH
E0003 u.mo:2:19: library `Modelica` (version 4.1.0) is not found; searched `lib`, `nowhere`
  hint: names are case-sensitive; there is `modelica`
  hint: name the directory that contains `Modelica` with `--library DIR` or in the environment variable MODELICAPATH"
    );
    let said = messages(&library);
    library.find("Modelica");
    assert_eq!(messages(&library), said, "said once");
}

#[test]
fn a_misspelt_library_is_suggested() {
    let library = library(&[("lib/Buildings.mo", "package Buildings end Buildings;")]);
    let message = library.missing_library(library.intern("Bildings"), saltus_base::Span::nowhere());
    assert_eq!(message.hints[0], "did you mean `Buildings`?");
}

#[test]
fn the_version_in_the_path_must_be_the_annotated_one() {
    let library =
        library(&[("lib/M 4.0.0.mo", NEW.1), ("lib/N master.mo", "package N annotation(version=\"1\"); end N;")]);
    assert_eq!(version(&library, "M").as_deref(), Some("4.1.0"));
    assert_eq!(version(&library, "N").as_deref(), Some("1"));
    assert_eq!(
        messages(&library),
        "\
W0019 lib/M 4.0.0.mo:1:41: `M` is stored as version 4.0.0, but its annotation says version 4.1.0
  hint: rename the file or directory to `M 4.1.0`"
    );
}

#[test]
fn a_build_that_is_asked_for_must_be_the_loaded_one() {
    let library = library(&[("lib/M.mo", "package M annotation(version=\"1\", versionBuild=4); end M;")]);
    library.load_text("u.mo", "model U annotation(uses(M(version=\"1\", versionBuild=4))); end U;");
    library.load_text("v.mo", "model V annotation(uses(M(version=\"1\", versionBuild=5, dateModified=\"x\"))); end V;");
    library.find("M");
    assert_eq!(
        messages(&library),
        "\
W0021 v.mo:1:25: `versionBuild` 5 of `M` 1 is required here, but the loaded library has `4`
  hint: install that build, or remove the requirement
W0021 v.mo:1:25: `dateModified` x of `M` 1 is required here, but the loaded library has none
  hint: install that build, or remove the requirement"
    );
}

#[test]
fn a_use_that_comes_after_a_vain_lookup_is_still_answered_once() {
    let library = library(&[("lib/x.txt", ""), ("other/x.txt", "")]);
    assert!(library.find("M").is_none());
    library.load_text("u.mo", &user("1.0"));
    assert!(library.find("M").is_none());
    assert!(messages(&library).starts_with("E0003 u.mo:2:19: library `M` (version 1.0) is not found; searched `lib`"));
    let said = messages(&library);
    library.add_search_path("other".as_ref());
    assert!(library.find("M").is_none());
    assert_eq!(messages(&library), said);
}
