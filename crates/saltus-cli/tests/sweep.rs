//! `saltus sweep`: one compilation, many runs, one table.

mod common;

use common::{Scratch, model, run};

/// Rows of a CSV file without its head.
fn rows(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect()
}

#[test]
fn every_combination_is_a_row() {
    let dir = Scratch::new("sweep");
    let (said, _) = run(
        &[
            "sweep",
            &model("BouncingBall"),
            "--vary",
            "e=0.6,0.7",
            "--vary",
            "g0=1:3:3",
            "--set",
            "h.start=1",
            "--output",
            &dir.path("t.csv"),
        ],
        1,
    );
    // A name that the model does not have is found before anything runs.
    assert_eq!(said, "");
    run(&["sweep", &model("BouncingBall"), "--vary", "e=0.6:0.9:4", "--keep", "n", "--output", &dir.path("t.csv")], 0);
    assert!(dir.read("t.csv").starts_with("\"run\",\"e\",\"ok\",\"time\",\"n\"\n"));
    // Impacts up to 1.5 s, closed form: the k-th at sqrt(2*h/g)*(1 + 2*e + … + 2*e^(k-1)).
    let first = (2.0f64 / 9.81).sqrt();
    for row in rows(&dir.read("t.csv")) {
        let e = row[1];
        let impacts = (1..100).take_while(|k| first * (1.0 + (1..*k).map(|i| 2.0 * e.powi(i)).sum::<f64>()) <= 1.5);
        assert_eq!(row[4], impacts.count() as f64, "{row:?}");
    }
}

#[test]
fn the_summary_says_how_it_was_done() {
    let dir = Scratch::new("sweep_summary");
    let (said, _) = run(&["sweep", &model("BouncingBall"), "--vary", "e=0.6:0.9:20", "--jobs", "2"], 0);
    assert!(said.contains("compiled once") && said.contains("… and 8 more rows"), "{said}");
    let text = "model A\n  parameter Integer n = 1;\n  Real x[n] = ones(n);\n  Real s = sum(x);\nend A;\n";
    let (said, _) = run(&["sweep", &dir.file("A.mo", text), "--vary", "n=1:3:3", "--keep", "s"], 0);
    assert!(
        said.contains(
            "compiled for each run: `n` cannot be changed in the compiled model: the structure of the model depends"
        ),
        "{said}"
    );
    let (said, _) = run(&["sweep", &model("BouncingBall"), "--vary", "e=0.6", "--quiet"], 0);
    assert_eq!(said, "");
}

#[test]
fn whole_trajectories_have_a_row_for_each_time() {
    let dir = Scratch::new("sweep_rows");
    let options = ["--trajectories", "--intervals", "2", "--stop-time", "0.4", "--keep", "h", "--quiet", "--output"];
    run(&[&["sweep", &model("BouncingBall"), "--vary", "e=0.6,0.7"], &options[..], &[&dir.path("t.csv")]].concat(), 0);
    let times: Vec<f64> = rows(&dir.read("t.csv")).iter().filter(|r| r[0] == 1.0).map(|r| r[3]).collect();
    assert_eq!((times.first(), times.last()), (Some(&0.0), Some(&0.4)));
    assert!(times.contains(&0.2), "{times:?}");
    run(
        &[&["sweep", &model("BouncingBall"), "--vary", "e=0.6,0.7"], &options[..], &[&dir.path("t.parquet")]].concat(),
        0,
    );
    assert!(std::fs::read(dir.path("t.parquet")).unwrap().ends_with(b"PAR1"));
}

#[test]
fn failed_runs_are_counted_and_explained() {
    let dir = Scratch::new("sweep_failures");
    let text =
        "model A\n  parameter Real k = 1;\n  Real x = k*time;\nequation\n  assert(x < 2.5, \"too much\");\nend A;\n";
    let path = dir.file("A.mo", text);
    let (_, said) = run(&["sweep", &path, "--vary", "k=1,2,3", "--output", &dir.path("t.csv")], 3);
    assert!(said.starts_with("error[E0903]: the run with k = 3 failed: ") && said.contains("too much"), "{said}");
    let ok: Vec<f64> = rows(&dir.read("t.csv")).iter().map(|r| r[2]).collect();
    assert_eq!(ok, [1.0, 1.0, 0.0]);
}

#[test]
fn wrong_ranges_are_wrong_usage() {
    for wrong in [&["--vary", "e"][..], &["--vary", "e=1:2"], &[], &["--vary", "e=1", "--output", "t.mat"]] {
        run(&[&["sweep", &model("BouncingBall")], wrong].concat(), 2);
    }
    run(&["sweep", &model("BouncingBall"), "--vary", "e=0:1:99999999"], 2);
}
