//! Texts that are edited: the second answer is as good as the first.

use std::sync::Arc;

use saltus::pipeline::{self, Options, Stage};

use crate::bench::{Disk, errors, session, shown};

#[test]
fn a_syntax_error_is_said_at_every_asking_and_goes_with_the_mistake() {
    let mut session = session(&[("M.mo", "model M\n  Real x = 1\nend M;")]);
    let first = session.check("M");
    assert!(first.has_errors() && first.model.is_none());
    assert_eq!(shown(&session.check("M")), shown(&first));
    let class = session.class(Some("M")).unwrap();
    let run = |session: &saltus::Session| pipeline::run(session, class, &Options::until(Stage::Check)).diagnostics;
    assert_eq!(run(&session).n_errors(), 1);
    assert_eq!(run(&session).iter().collect::<Vec<_>>(), first.diagnostics.iter().collect::<Vec<_>>());
    session.set_text("M.mo", "model M\n  Real x = 1;\nend M;");
    let fixed = session.check("M");
    assert!(!fixed.has_errors() && fixed.model.is_some(), "{}", shown(&fixed));
    assert!(first.has_errors(), "an old answer stays what it was");
    assert!(shown(&first).contains("M.mo:2:13"), "{}", shown(&first));
}

#[test]
fn a_class_from_before_an_edit_is_turned_down() {
    let mut session = session(&[("M.mo", "model M Real x = 1; end M;")]);
    let stale = session.class(Some("M")).unwrap();
    session.set_text("M.mo", "model N Real x = 1; end N;");
    let outcome = pipeline::run(&session, stale, &Options::until(Stage::Check));
    assert_eq!(outcome.diagnostics.iter().map(|d| d.code.0).collect::<Vec<_>>(), ["E0096"]);
    assert!(session.library().definition(stale).is_none());
}

#[test]
fn a_broken_file_breaks_only_what_depends_on_it() {
    let session = session(&[
        ("A.mo", "model A Real x = end A;"),
        ("B.mo", "model B Real y = 1; end B;"),
        ("C.mo", "model C A a; end C;"),
        ("D.mo", "model D Missing m; end D;"),
    ]);
    assert_eq!(errors(&session, "B"), [""; 0]);
    // What uses A is told what is wrong with A, and nothing that would only follow from it.
    assert_eq!(errors(&session, "A").len(), 1);
    assert_eq!(shown(&session.check("C")), shown(&session.check("A")));
    // What is missing may be in the broken file.
    assert_eq!(shown(&session.check("D")), shown(&session.check("A")));
    assert_eq!(session.diagnostics().n_errors(), 1);
}

#[test]
fn classes_come_go_and_change_their_names() {
    let mut session = session(&[("P.mo", "package P model A Real x = 1; end A; end P;")]);
    assert_eq!(errors(&session, "P.A"), [""; 0]);
    assert_eq!(errors(&session, "P.B"), ["E0094"]);
    session.set_text("P.mo", "package P model B Real x = 1; end B; end P;");
    assert_eq!(errors(&session, "P.A"), ["E0094"]);
    assert_eq!(errors(&session, "P.B"), [""; 0]);
    session.set_text("P.mo", "package Q model B Real x = 1; end B; end Q;");
    assert_eq!(errors(&session, "P.B"), ["E0003"]);
    assert_eq!(errors(&session, "Q.B"), [""; 0]);
    session.remove_text("P.mo");
    assert_eq!(errors(&session, "Q.B"), ["E0003"]);
    assert!(session.own_classes().is_empty());
}

#[test]
fn what_did_not_change_is_answered_from_memory() {
    let mut session = session(&[
        ("A.mo", "model A extends B; end A;"),
        ("B.mo", "model B Real y = 1; end B;"),
        ("Other.mo", "model Other Real z = 1; end Other;"),
    ]);
    let (a, other) = (session.check("A"), session.check("Other"));
    assert!(Arc::ptr_eq(&a, &session.check("A")));
    // An edit of a file that is not used, a new class in it, and a new file.
    session.set_text("Other.mo", "model Other Real z = 2; end Other; model New end New;");
    session.set_text("Third.mo", "model Third end Third;");
    assert!(Arc::ptr_eq(&a, &session.check("A")));
    assert!(!Arc::ptr_eq(&other, &session.check("Other")));
    // The same text again is not an edit.
    let revision = session.revision("B.mo");
    session.set_text("B.mo", "model B Real y = 1; end B;");
    assert!(Arc::ptr_eq(&a, &session.check("A")) && session.revision("B.mo") == revision);
    session.set_text("B.mo", "model B Real y = 3; end B;");
    let changed = session.check("A");
    assert!(!Arc::ptr_eq(&a, &changed) && shown(&changed).contains("y = 3.0"), "{}", shown(&changed));
    assert_eq!((revision, session.revision("B.mo"), session.revision("none.mo")), (Some(1), Some(2), None));
    let files: Vec<_> = changed.flattening().unwrap().files().collect();
    assert_eq!(files, ["A.mo", "B.mo"].map(std::path::Path::new));
}

#[test]
fn options_have_answers_of_their_own() {
    let session = session(&[("M.mo", "model M parameter Real k = 1; Real x = k; end M;")]);
    let class = session.class(Some("M")).unwrap();
    let flat = |value: &str| {
        let mut options = Options::until(Stage::Flatten);
        options.overrides = vec![("k".into(), value.into())];
        let outcome = pipeline::run(&session, class, &options);
        saltus_flat::print(outcome.flat.as_ref().expect("a model"))
    };
    let (two, three) = (flat("2"), flat("3"));
    assert!(two.contains("k = 2.0") && three.contains("k = 3.0"), "{two}{three}");
    assert_eq!(flat("2"), two);
}

#[test]
fn an_error_in_an_override_is_said_at_every_asking() {
    let session = session(&[("M.mo", "model M parameter Real k = 1; end M;")]);
    let class = session.class(Some("M")).unwrap();
    let mut options = Options::until(Stage::Flatten);
    options.overrides = vec![("j".into(), "1".into())];
    let run = || pipeline::run(&session, class, &options);
    let place = |d: &saltus_base::Diagnostic| session.with_sources(|sources| sources.location(d.span.unwrap()));
    let (first, second) = (run(), run());
    assert_eq!(first.diagnostics.n_errors(), 1);
    let error = first.diagnostics.iter().find(|d| d.severity == saltus_base::Severity::Error).unwrap();
    assert_eq!(place(error).as_deref(), Some("--set:2:3"));
    assert_eq!(first.diagnostics.iter().collect::<Vec<_>>(), second.diagnostics.iter().collect::<Vec<_>>());
}

#[test]
fn a_thousand_edits_leave_nothing_behind() {
    let mut session = session(&[("B.mo", "model B Real y = 1; end B;")]);
    let text = |i: usize| {
        let variables: String = (0..60).map(|k| format!("  Real x{i}_{k} = {k};\n")).collect();
        format!("model M\n  extends B;\n{variables}end M;")
    };
    let mut most = (0, 0);
    for i in 0..1000 {
        session.set_text("M.mo", &text(i));
        assert_eq!(errors(&session, "M"), [""; 0]);
        let (n_texts, n_names) = session.n_kept();
        most = (most.0.max(n_texts), most.1.max(n_names));
    }
    // Two files, the predefined classes, and the text before the last edit until somebody asks again. Of the 60 000
    // identifiers that were ever seen less than half are there at any time.
    assert!(most.0 <= 6, "{} texts", most.0);
    assert!(most.1 < 30_000, "{} identifiers", most.1);
    let fresh = {
        let mut fresh = Disk::default().session();
        fresh.set_text("B.mo", "model B Real y = 1; end B;");
        fresh.set_text("M.mo", &text(999));
        fresh
    };
    assert_eq!(shown(&session.check("M")), shown(&fresh.check("M")));
}

#[test]
fn an_old_answer_keeps_its_texts() {
    let mut session = session(&[("M.mo", "model M Real x = undefined; end M;")]);
    let old = session.check("M");
    let before = shown(&old);
    for i in 0..100 {
        session.set_text("M.mo", &format!("model M Real y{i} = {i}; end M;"));
        session.check("M");
    }
    assert_eq!(shown(&old), before);
    assert!(before.contains("undefined"));
}
