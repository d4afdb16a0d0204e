//! Bad input through the program: a diagnostic with its place, exit code 1, and an end within seconds.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Writes a file into a directory of its own for one test.
fn file(test: &str, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_input").join(test);
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn saltus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_saltus")).args(arguments).env_remove("MODELICAPATH").output().unwrap()
}

/// `saltus check` of a text says `code` first, at `line:column` of the file, and exits with 1.
fn refused(test: &str, text: impl AsRef<[u8]>, code: &str, place: &str) {
    let path = file(test, "M.mo", text);
    let started = Instant::now();
    let output = saltus(&["check", &path.display().to_string(), "M"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{test}: {said}");
    assert!(said.starts_with(&format!("error[{code}]")), "{test}: {said}");
    assert!(said.contains(&format!("M.mo:{place}\n")), "{test}: {said}");
    assert!(!said.contains("E9999"), "{test}: {said}");
    // Debug builds are some ten times slower than the ones people use.
    assert!(started.elapsed() < Duration::from_secs(30), "{test} took {:?}", started.elapsed());
}

#[test]
fn cyclic_extends() {
    refused("cyclic_extends", "model A\n  extends M;\nend A;\nmodel M\n  extends A;\nend M;\n", "E0206", "2:11");
}

#[test]
fn recursive_instantiation() {
    refused("recursive", "model M\n  Real x = 1;\n  M a;\n  M b;\nend M;\n", "E0207", "3:5");
}

#[test]
fn wrong_redeclare() {
    let text = "model A\n  Real x = 1;\nend A;\nmodel B\n  Real y = 1;\nend B;\nmodel N\n  replaceable A a;\nend N;\n\
                model M\n  N n(redeclare B a);\nend M;\n";
    refused("wrong_redeclare", text, "E0232", "11:7");
}

#[test]
fn missing_library() {
    let text = "model M\n  Nowhere.A a;\n  annotation(uses(Nowhere(version = \"1.0\")));\nend M;\n";
    refused("missing_library", text, "E0003", "3:19");
}

#[test]
fn a_million_components() {
    // With an event each is a component of its own; without they are one array of the model.
    let of = |value: &str| format!("model A\n  Real x = {value};\nend A;\nmodel M\n  A a[1000000];\nend M;\n");
    refused("million", of("if time > 1 then 1 else 2"), "E0234", "5:5");
    let path = file("components", "M.mo", of("1"));
    let output = saltus(&["check", &path.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Class M: 1000000 equations, 1000000 unknowns\n");
}

#[test]
fn a_million_elements_are_fine() {
    let path = file("elements", "M.mo", "model M\n  Real x[1000000];\nequation\n  der(x) = -x;\nend M;\n");
    let output = saltus(&["check", &path.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Class M: 1000000 equations, 1000000 unknowns\n");
}

#[test]
fn a_loop_over_a_thousand_million() {
    let text = "model M\n  Real x;\nequation\n  for i in 1:1000000000 loop\n    x = i;\n  end for;\nend M;\n";
    refused("loop", text, "E0466", "4:12");
}

#[test]
fn a_function_that_never_ends() {
    let text = "function f\n  output Integer n = 0;\nalgorithm\n  while true loop\n    n := n + 1;\n  end while;\nend f;\n\
                model M\n  Real x[f()];\nend M;\n";
    refused("endless", text, "E0604", "9:10");
}

#[test]
fn an_unbalanced_system() {
    refused("unbalanced", "model M\n  Real x;\n  Real y;\nequation\n  x = 1;\nend M;\n", "E0450", "3:8");
}

#[test]
fn one_mistake_is_not_counted_as_a_missing_equation() {
    let path = file("consequence", "M.mo", "model M\n  Real x = y;\nend M;\n");
    let output = saltus(&["check", &path.display().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("error[").count(), 1, "{said}");
}

#[test]
fn a_wrong_encoding() {
    refused("encoding", b"model M\n  Real x = 1 \"gr\xfcn\";\nend M;\n", "E0002", "2:17");
}

#[test]
fn connected_arrays_without_bounds() {
    for n in ["2147483647", "9223372036854775807"] {
        let text = format!(
            "connector C Real e; flow Real f; end C;\nmodel M\n  C a[{n}];\n  C b[{n}];\nequation\n  connect(a, b);\nend M;\n"
        );
        refused("connected", text, "E0234", "6:11");
    }
}

#[test]
fn ten_thousand_unknown_names() {
    let names: String = (0..10_000).map(|i| format!("  Real p{i} = q{i};\n")).collect();
    refused("unknown_names", format!("model M\n{names}end M;\n"), "E0202", "2:13");
}

#[test]
fn a_string_that_doubles_in_a_loop() {
    // The function does not use the String; forty doublings would be two terabytes.
    let text = "function f\n  input Real u;\n  output Real y;\nprotected\n  String s = \"ab\";\nalgorithm\n  for i in 1:40 loop\n    \
                s := s + s;\n  end for;\n  y := u;\nend f;\nmodel M\n  Real x = f(time);\nend M;\n";
    let path = file("doubling", "M.mo", text);
    let output = saltus(&["simulate", &path.display().to_string(), "M"]);
    let code = output.status.code();
    assert!(code.is_some_and(|c| c == 0 || c == 3), "{code:?} {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_array_that_an_algorithm_fills_does_not_fit_into_memory() {
    let text =
        "model M\n  Real r[2147483648];\nalgorithm\n  for i in 1:2 loop\n    r[i] := i*time;\n  end for;\nend M;\n";
    let path = file("filled_array", "M.mo", text);
    let output = saltus(&["simulate", &path.display().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error[E0812]: not supported yet: an array of more than 2000000 elements"), "{said}");
}
