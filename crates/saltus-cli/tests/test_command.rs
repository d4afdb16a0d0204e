//! `saltus test`: a library against its references.

mod common;

use common::{Scratch, run};

const GOOD: &str = "within P;\nmodel Good\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\n  \
                    annotation(experiment(StopTime = 2));\nend Good;\n";

/// A package with a good model, one that fails, one that does not compile, and one that is not run.
fn library(dir: &Scratch) -> String {
    dir.file("P/package.mo", "package P\nend P;\n");
    dir.file("P/Good.mo", GOOD);
    let fails = "within P;\nmodel Fails\n  Real x = time;\nequation\n  assert(x < 0.5, \"too far\");\n  \
                 annotation(experiment(StopTime = 1));\nend Fails;\n";
    dir.file("P/Fails.mo", fails);
    dir.file(
        "P/Wrong.mo",
        "within P;\nmodel Wrong\n  Real x = y;\n  annotation(experiment(StopTime = 1));\nend Wrong;\n",
    );
    dir.file("P/Part.mo", "within P;\nmodel Part\n  Real x = 1;\nend Part;\n");
    dir.path("P")
}

/// Closed form of the decay with this factor.
fn reference(factor: f64) -> String {
    let row = |i: u32| {
        let t = f64::from(i) / 50.0;
        format!("{t},{}\n", factor * (-t).exp())
    };
    "\"time\",\"x\"\n".to_owned() + &(0..=100).map(row).collect::<String>()
}

#[test]
fn every_experiment_of_a_package_is_run() {
    let dir = Scratch::new("test_package");
    let package = library(&dir);
    let (said, _) = run(&["test", &package, "--jobs", "2"], 1);
    assert!(said.contains("3 models, 1 simulated, 1 failed, 1 wrong in "), "{said}");
    assert!(
        said.contains("P.Fails") && said.contains("too far") && said.contains("wrong      P.Wrong: E0202"),
        "{said}"
    );
    // What is bad stands before the table.
    assert!(said.find("P.Fails: ") < said.find("package "), "{said}");
    let (said, _) = run(&["test", "P.Good", "--library", &dir.dir(), "--quiet"], 0);
    assert!(said.starts_with("1 models, 1 simulated in ") && said.lines().count() == 1, "{said}");
    let (said, _) = run(&["test", &package, "--filter", "Good", "--time-limit", "30"], 0);
    assert!(said.contains("1 models, 1 simulated"), "{said}");
    run(&["test", &package, "--filter", "Nothing"], 1);
}

#[test]
fn references_decide() {
    let dir = Scratch::new("test_references");
    let package = library(&dir);
    dir.file("refs/P/Good/Good.csv", reference(1.0));
    let refs = dir.path("refs");
    let arguments = ["test", &package, "--filter", "Good", "--reference", &refs];
    let (said, _) = run(&arguments, 0);
    assert!(said.contains("1 models, 1 verified"), "{said}");
    dir.file("refs/P/Good/Good.csv", reference(1.01));
    let (said, _) = run(&arguments, 1);
    assert!(said.contains("1 different") && said.contains("1 of 1 signals differ, the first is x at time 0"), "{said}");
    run(&[&arguments[..], &["--tube", "0.05"]].concat(), 0);
}

#[test]
fn states_below_the_tolerance_are_zero() {
    let dir = Scratch::new("test_zero");
    dir.file("P/package.mo", "package P\nend P;\n");
    let model = "within P;\nmodel Zero\n  Real x(start = 0, fixed = true);\n  Real y = 3*x;\nequation\n  der(x) = -x;\n  \
                 annotation(experiment(StopTime = 1));\nend Zero;\n";
    dir.file("P/Zero.mo", model);
    dir.file("refs/settings.json", "{\"P.Zero\": {\"tolerance\": 1e-6}}");
    let (package, refs) = (dir.path("P"), dir.path("refs"));
    let verdict = |name: &str, noise: f64, code: i32| {
        dir.file("refs/P.Zero.csv", format!("\"time\",\"{name}\"\n0,0\n0.5,{noise}\n1,{}\n", -noise));
        run(&["test", &package, "--reference", &refs], code);
    };
    // An integrator leaves up to the tolerance of a state; nothing is said about other variables.
    verdict("x", 2e-8, 0);
    verdict("x", 2e-6, 1);
    verdict("y", 2e-8, 1);
}

#[test]
fn a_baseline_shows_what_changed() {
    let dir = Scratch::new("test_baseline");
    let package = library(&dir);
    dir.file("refs/P.Good.csv", reference(1.0));
    let (refs, base, report) = (dir.path("refs"), dir.path("base.txt"), dir.path("report.html"));
    run(&["test", &package, "--reference", &refs, "--save", &base], 1);
    assert_eq!(dir.read("base.txt"), "failed P.Fails\nverified P.Good\nwrong P.Wrong\n");
    // What was wrong before may still be wrong.
    run(&["test", &package, "--reference", &refs, "--baseline", &base], 0);
    dir.file("refs/P.Good.csv", reference(1.1));
    let (said, _) = run(&["test", &package, "--reference", &refs, "--baseline", &base, "--report", &report], 1);
    assert!(said.contains("WORSE  P.Good: verified before, different now"), "{said}");
    let page = dir.read("report.html");
    assert!(page.contains("P.Good") && page.contains("<svg") && page.contains("verified → different"));
    assert!(page.find("P.Good\n").is_none() && page.find("P.Wrong") < page.find("P.Fails<div"), "the worst first");
    // Self-contained: nothing is loaded from elsewhere.
    assert!(!page.contains("src=") && !page.contains("href="));
}

#[test]
fn verdicts_are_shown_as_they_come() {
    let dir = Scratch::new("test_stream");
    let package = library(&dir);
    let (_, told) = run(&["test", &package, "--jobs", "1"], 1);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].starts_with("failed     P.Fails (") && lines[0].ends_with("too far"), "{told}");
    assert!(lines[1].starts_with("simulated  P.Good (") && lines[2].starts_with("wrong      P.Wrong ("), "{told}");
    let (_, told) = run(&["test", &package, "--quiet"], 1);
    assert!(told.is_empty(), "{told}");
}

#[test]
fn models_without_reference_are_skipped_or_checked_on_request() {
    let dir = Scratch::new("test_unreferenced");
    let package = library(&dir);
    dir.file("refs/P/Good/Good.csv", reference(1.0));
    let refs = dir.path("refs");
    let arguments = ["test", &package, "--reference", &refs, "--unreferenced"];
    let (said, _) = run(&[&arguments[..], &["skip"]].concat(), 0);
    assert!(said.contains("1 models, 1 verified in "), "{said}");
    // The assertion of P.Fails shows only when it is simulated.
    let (said, _) = run(&[&arguments[..], &["check"]].concat(), 1);
    assert!(said.contains("3 models, 1 verified, 1 checked, 1 wrong in "), "{said}");
}

#[test]
fn settings_beside_references_say_how_to_run() {
    let dir = Scratch::new("test_settings");
    let wave = "model Wave\n  parameter Real k = 3;\n  Real x = sin(200*time);\n  annotation(experiment(StopTime = 9));\nend Wave;\n";
    let model = dir.file("Wave.mo", wave);
    // Closed form. A parameter is a signal that does not change.
    let row = |i: u32| format!("{t},{x},3\n", t = f64::from(i) / 1e4, x = (f64::from(i) / 50.0).sin());
    let rows =
        "time,x,k\n".to_owned() + &(0..=10_000).filter(|i| i % 3 == 0 || *i == 10_000).map(row).collect::<String>();
    dir.file("refs/Wave.csv", rows);
    let refs = dir.path("refs");
    let arguments = ["test", &model, "--reference", &refs];
    // As dense as the reference: of 500 intervals sixteen would be a wave, and its peaks off by up to 1 - cos(0.2) = 2 %.
    run(&arguments, 0);
    dir.file("refs/settings.json", r#"{"Wave": {"stop": 1, "interval": 1e-4, "tolerance": 1e-4}}"#);
    run(&arguments, 0);
    dir.file("refs/settings.json", r#"{"Wave": {"stop": 0.5}}"#);
    let (said, _) = run(&arguments, 1);
    assert!(said.contains("2 of 2 signals differ, the first is x at time 0.50"), "{said}");
    dir.file("refs/settings.json", r#"{"Wave": {"stop": 1}, "Wave.Other": {}}"#);
    let (said, _) = run(&arguments, 1);
    assert!(said.contains("missing    Wave.Other: "), "{said}");
    dir.file("refs/settings.json", r#"{"Wave": {"stop": "later"}}"#);
    let (_, told) = run(&arguments, 1);
    assert!(told.contains("E0084") && told.contains("expected a number for `stop` of `Wave`"), "{told}");
}

#[test]
fn a_model_that_terminates_ends_with_its_reference() {
    let dir = Scratch::new("test_terminate");
    let model = "model Ends\n  parameter Real limit = 0.5;\n  Real x = time;\nequation\n  when x > limit then\n    \
                 terminate(\"far enough\");\n  end when;\n  annotation(experiment(StopTime = 1));\nend Ends;\n";
    dir.file("refs/settings.json", r#"{"Ends": {"start": 0, "stop": 1}}"#);
    dir.file("refs/Ends.csv", "time,x\n0,0\n0.5,0.5\n");
    let refs = dir.path("refs");
    let verdict = |limit: &str, code: i32| {
        let file = dir.file("Ends.mo", model.replace("limit = 0.5", limit));
        run(&["test", &file, "--reference", &refs], code).0
    };
    verdict("limit = 0.5", 0);
    let said = verdict("limit = 0.4", 1);
    assert!(said.contains("1 of 1 signals differ, the first is x at time 0.5"), "{said}");
    let said = verdict("limit = 2", 1);
    assert!(said.contains("different  Ends: runs until time 1, its reference until 0.5"), "{said}");
}

#[test]
fn a_test_case_may_be_one_that_must_fail() {
    let dir = Scratch::new("test_refused");
    let model = |name: &str, bound: &str| {
        format!(
            "model {name}\n  Real x = {bound};\nequation\n  assert(x < 0.5, \"too far\");\n  \
             annotation(experiment(StopTime = 1), TestCase(shouldPass = false));\nend {name};\n"
        )
    };
    let file = dir.file("Cases.mo", model("Fails", "time") + &model("Wrong", "y"));
    let (said, _) = run(&["test", &file], 0);
    assert!(said.contains("2 models, 2 refused in "), "{said}");
    let file = dir.file("Passes.mo", model("Passes", "0.1*time"));
    let (said, _) = run(&["test", &file], 1);
    assert!(said.contains("unexpected Passes: should fail") && said.contains("1 models, 1 unexpected"), "{said}");
    // Two examples of the shipped library are meant to be wrong.
    let (said, _) = run(&["test", "Saltus.Examples.E1999", "--quiet"], 0);
    assert!(said.contains("2 refused"), "{said}");
}

#[test]
fn a_baseline_is_a_list_of_verdicts() {
    let dir = Scratch::new("test_bad_baseline");
    let package = library(&dir);
    let base = dir.file("base.txt", "verified P.Good\nnonsense\n");
    let (_, told) = run(&["test", &package, "--baseline", &base], 1);
    assert!(told.contains("E0083") && told.contains("line 2 of"), "{told}");
    // A model that is gone got worse; one that was not asked for did not.
    dir.file("base.txt", "simulated P.Good\nsimulated P.Gone\nsimulated Q.Gone\n");
    let (said, _) = run(&["test", &package, "--baseline", &base], 1);
    assert!(said.contains("WORSE  P.Gone: simulated before, missing now") && !said.contains("Q.Gone"), "{said}");
    run(&["test", &package, "--filter", "Good", "--baseline", &base], 0);
}
