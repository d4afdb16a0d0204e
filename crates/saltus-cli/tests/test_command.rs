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
        said.contains("P.Fails") && said.contains("too far") && said.contains("wrong     P.Wrong: E0202"),
        "{said}"
    );
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
    assert!(said.contains("1 different") && said.contains("1 of 1 signals differ, the first is x"), "{said}");
    run(&[&arguments[..], &["--tube", "0.05"]].concat(), 0);
}

#[test]
fn a_baseline_shows_what_changed() {
    let dir = Scratch::new("test_baseline");
    let package = library(&dir);
    dir.file("refs/P.Good.csv", reference(1.0));
    let (refs, base, report) = (dir.path("refs"), dir.path("base.jsonl"), dir.path("report.html"));
    run(&["test", &package, "--reference", &refs, "--save", &base], 1);
    // What was wrong before may still be wrong.
    run(&["test", &package, "--reference", &refs, "--baseline", &base], 0);
    dir.file("refs/P.Good.csv", reference(1.1));
    let (said, _) = run(&["test", &package, "--reference", &refs, "--baseline", &base, "--report", &report], 1);
    assert!(said.contains("WORSE  P.Good: verified before, different now"), "{said}");
    let page = dir.read("report.html");
    assert!(page.contains("P.Good") && page.contains("<svg") && page.contains("verified → different"));
    // Self-contained: nothing is loaded from elsewhere.
    assert!(!page.contains("src=") && !page.contains("href="));
}
