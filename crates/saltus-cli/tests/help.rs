//! The command line describes itself: every command has examples, every option a test, and shells and readers get their files.

mod common;

use common::{DECAY, Scratch, model, run};

fn commands() -> Vec<String> {
    let (help, _) = run(&["--help"], 0);
    let lines = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    let names = lines.filter(|l| l.starts_with("  ") && !l.starts_with("    "));
    names.filter_map(|l| l.split_whitespace().next()).filter(|n| *n != "help").map(String::from).collect()
}

/// `--stop-time` of `      --stop-time <SECONDS>`.
fn options(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start).filter(|l| l.starts_with('-'));
    let words = lines.filter_map(|l| l.split([' ', '=', '[']).find(|w| w.starts_with("--")).map(String::from));
    words.filter(|w| w != "--help" && w != "--version").collect()
}

#[test]
fn every_command_has_examples() {
    assert!(commands().len() >= 11, "{:?}", commands());
    for command in commands() {
        let (help, _) = run(&[&command, "--help"], 0);
        assert!(help.contains("Examples:\n") && help.contains(&format!("saltus {command} ")), "{command}:\n{help}");
    }
}

#[test]
fn every_option_has_a_test() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut tests = String::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "rs") {
            tests += &std::fs::read_to_string(path).unwrap();
        }
    }
    for command in commands() {
        let (help, _) = run(&[&command, "--help"], 0);
        for option in options(&help) {
            let is_used = tests.contains(&format!("\"{option}\"")) || tests.contains(&format!("\"{option}="));
            assert!(is_used, "no test calls `saltus {command} {option}`");
        }
    }
}

#[test]
fn shells_complete_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (script, _) = run(&["completion", shell], 0);
        assert!(script.contains("simulate") && script.contains("stop-time"), "{shell}");
    }
    run(&["completion", "cmd"], 2);
}

#[test]
fn there_are_manual_pages() {
    let dir = Scratch::new("man");
    let (page, _) = run(&["man"], 0);
    assert!(page.contains(".TH saltus 1") && page.contains("sweep"), "{page}");
    run(&["man", "--dir", &dir.path("man1")], 0);
    let page = dir.read("man1/saltus-simulate.1");
    assert!(page.contains("on\\-zeno") && page.contains("Examples"), "{page}");
}

#[test]
fn timing_and_hints_are_extra() {
    let dir = Scratch::new("extra");
    let path = dir.file("Decay.mo", DECAY);
    let (said, _) = run(&["parse", &path, "--timing"], 0);
    assert!(said.contains(" MB/s"), "{said}");
    let unused = dir.file("U.mo", "model U\n  parameter Real unused = 1;\n  Real x = 2;\nend U;\n");
    let (_, quiet) = run(&["check", &unused], 0);
    let (_, hints) = run(&["check", &unused, "--hints"], 0);
    assert!(quiet.is_empty() && hints.contains("unused"), "{hints}");
}

#[test]
fn a_model_is_linearized_at_a_time() {
    let dir = Scratch::new("linearize");
    let text = "model Motor\n  input Real u(start = 3);\n  output Real y = 2*w + u;\n  Real w(start = 1, fixed = true);\n  \
                Real p(start = 0, fixed = true);\nequation\n  der(w) = -4*p + 5*u;\n  der(p) = w;\nend Motor;\n";
    let path = dir.file("Motor.mo", text);
    let (said, _) = run(&["linearize", &path, "--output", &dir.path("m.json")], 0);
    // Closed form: ±2i.
    assert!(said.contains("eigenvalue  0 + 2i") && said.contains("eigenvalue  0 - 2i"), "{said}");
    let found: serde_json::Value = serde_json::from_str(&dir.read("m.json")).unwrap();
    let number = |path: &str| found.pointer(path).and_then(|v| v.as_f64()).unwrap_or(f64::NAN);
    let w = if found["states"][0]["name"] == "w" { 0 } else { 1 };
    let p = 1 - w;
    let expected = [
        (format!("/A/{w}/{p}"), -4.0),
        (format!("/A/{p}/{w}"), 1.0),
        (format!("/A/{w}/{w}"), 0.0),
        (format!("/B/{w}/0"), 5.0),
        (format!("/C/0/{w}"), 2.0),
        ("/D/0/0".to_owned(), 1.0),
        ("/inputs/0/value".to_owned(), 3.0),
    ];
    for (path, value) in expected {
        assert!((number(&path) - value).abs() < 1e-8, "{path}: {} instead of {value}", number(&path));
    }
    let (said, _) = run(&["linearize", &path, "--at", "0.5", "--quiet"], 0);
    assert_eq!(said, "");
    run(&["linearize", &model("BouncingBall"), "--at", "-1"], 2);
    let (said, _) = run(&["linearize", &model("BouncingBall"), "--at", "1"], 0);
    assert!(said.starts_with("BouncingBall at time 1: 2 states, 0 inputs, 0 outputs"), "{said}");
}

#[test]
fn explain_has_three_forms() {
    let dir = Scratch::new("explain_forms");
    let path = dir.file("Decay.mo", DECAY);
    let (listing, _) = run(&["explain", &path], 0);
    assert!(listing.contains("der(x)"), "{listing}");
    let (json, _) = run(&["explain", &path, "--json"], 0);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
    run(&["explain", &path, "--html", &dir.path("e.html")], 0);
    assert!(dir.read("e.html").contains("<svg"));
}

#[test]
fn a_search_ends_as_close_as_asked() {
    let dir = Scratch::new("search_within");
    let text =
        "model A\n  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = k;\nend A;\n";
    let path = dir.file("A.mo", text);
    let arguments = ["search", &path, "--vary", "k=0.5:2.5", "--target", "x=2.5", "--within", "0.01", "--quiet"];
    let (said, _) = run(&arguments, 0);
    // Closed form: x = 1 + k at time 1.
    let k: f64 = said.trim().parse().unwrap();
    assert!((k - 1.5).abs() <= 0.0101, "{said}");
}
