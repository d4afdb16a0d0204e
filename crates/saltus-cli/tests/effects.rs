//! Functions with effects: each call is made once and in order, and only what is permitted happens.

mod common;

use std::process::{Command, Output};

use common::{Scratch, saltus, stderr, stdout};

/// External functions by the names they have in C.
const FUNCTIONS: &str = "
  impure function print
    input String text; input String file = \"\";
    external \"C\" ModelicaInternal_print(text, file);
  end print;
  impure function countLines
    input String file; output Integer n;
    external \"C\" n = ModelicaInternal_countLines(file);
  end countLines;
  impure function command
    input String text; output Integer code;
    external \"C\" code = system(text);
  end command;
  function own
    input Real x; output Real y;
    external \"C\" y = own_function(x) annotation(Library = \"mine\");
  end own;
";

/// Runs a model in a directory of its own.
fn simulate(dir: &Scratch, body: &str, options: &[&str]) -> Output {
    let path = dir.file("M.mo", format!("model M{FUNCTIONS}{body}end M;\n"));
    let mut program = Command::new(env!("CARGO_BIN_EXE_saltus"));
    program.args(["simulate", &path, "--quiet"]).args(options).current_dir(&dir.0).env_remove("MODELICAPATH");
    program.output().unwrap()
}

#[test]
fn each_effect_happens_once_and_in_order() {
    // x is found by Newton's method, so its equation is evaluated several times at each point.
    let body = "
  Real x(start = 1);
  Integer n(start = 0, fixed = true);
initial equation
  print(\"start\");
equation
  x + exp(x) = 1 + time;
  when sample(0.25, 0.25) then
    print(\"tick \" + String(pre(n)) + \" at \" + String(time));
    n = pre(n) + 1;
  end when;
  when time > 0.6 then
    print(\"late\");
  elsewhen time > 0.3 then
    print(\"early\");
  end when;
  when terminal() then
    print(\"end\");
  end when;
";
    let expected = "start\ntick 0 at 0.25\nearly\ntick 1 at 0.5\nlate\ntick 2 at 0.75\ntick 3 at 1\nend\n";
    for engine in ["interp", "jit"] {
        let dir = Scratch::new(&format!("effects_once_{engine}"));
        let output = simulate(&dir, body, &["--engine", engine]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), expected), "{}", stderr(&output));
    }
}

#[test]
fn an_algorithm_sees_what_it_has_written() {
    let body = "
  Integer a(start = 0, fixed = true), b(start = 0, fixed = true);
algorithm
  when {initial(), time > 0.5} then
    print(\"first\", \"log.txt\");
    a := countLines(\"log.txt\");
    print(\"second \" + String(a), \"log.txt\");
    b := countLines(\"log.txt\");
  end when;
";
    let dir = Scratch::new("effects_ordered");
    let output = simulate(&dir, body, &["--output", "r.csv", "--keep", "a", "--keep", "b"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(dir.read("log.txt"), "first\nsecond 1\nfirst\nsecond 3\n");
    // Two lines at the start, four after the event.
    let text = dir.read("r.csv");
    assert_eq!((text.lines().nth(1), text.lines().last()), (Some("0.0,1,2"), Some("1.0,3,4")), "{text}");
}

#[test]
fn conditions_decide_which_calls_are_made() {
    let body = "
  Integer n(start = 0, fixed = true);
equation
  when sample(0.2, 0.2) then
    n = if time < 0.5 then countLines(\"lines.txt\") else -1;
    if time > 0.7 then
      print(\"after 0.7\");
    end if;
  end when;
";
    let dir = Scratch::new("effects_conditional");
    dir.file("lines.txt", "1\n2\n3\n");
    let output = simulate(&dir, body, &["--stop-time", "0.45", "--output", "r.csv", "--keep", "n"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""), "{}", stderr(&output));
    assert!(dir.read("r.csv").ends_with(",3\n"));
    // Once the file is gone, only calls that are made can fail.
    let gone = Scratch::new("effects_gone");
    let body = body.replace("time < 0.5", "time > 2");
    let output = simulate(&gone, &body, &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "after 0.7\nafter 0.7\n"));
}

#[test]
fn impure_calls_in_continuous_equations_are_mistakes() {
    let dir = Scratch::new("effects_continuous");
    let output = simulate(&dir, "  Real y;\nequation\n  y = countLines(\"x\") + time;\n", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error[E0816]: the impure function `M.countLines`"), "{}", stderr(&output));
}

#[test]
fn a_call_as_an_equation_is_made_at_the_start() {
    let dir = Scratch::new("effects_equation");
    let body = "  Boolean late = time > 0.5;\nequation\n  print(if late then \"late\" else \"early\");\n";
    let output = simulate(&dir, body, &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "early\n"), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("warning[W0816]: the impure function `M.print`"), "{}", stderr(&output));
}

#[test]
fn only_what_is_permitted_happens() {
    let dir = Scratch::new("effects_permitted/inside");
    let when = |call: &str| format!("  Integer n;\nequation\n  when initial() then\n    {call};\n  end when;\n");
    let refused = |call: &str, flag: &str| {
        let output = simulate(&dir, &when(call), &[]);
        assert_eq!(output.status.code(), Some(3), "{call}");
        assert!(stderr(&output).contains(flag), "{}", stderr(&output));
    };
    refused("print(\"x\", \"../outside.txt\"); n = 1", "--allow-io");
    refused("n = command(\"exit 3\")", "--allow-io");
    refused("n = countLines(\"/etc/hostname\")", "--allow-io");
    refused(
        "n = integer(own(1))",
        "`M.own` of the library `mine` is foreign code, which runs only with `--allow-external`",
    );
    // With permission it is the library that is missing.
    let output = simulate(&dir, &when("n = integer(own(1))"), &["--allow-external"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(!stderr(&output).contains("--allow-external") && stderr(&output).contains("`mine`"), "{}", stderr(&output));
    let outside = dir.0.join("../outside.txt");
    assert!(!outside.exists());
    let output = simulate(&dir, &when("print(\"x\", \"../outside.txt\"); n = 1"), &["--allow-io"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "x\n");
    std::fs::remove_file(&outside).unwrap();
}

/// Types.FileType: 1 stands for no file, 2 a regular one, 3 a directory. What may not be looked at is none of them.
#[test]
fn what_may_not_be_seen_is_not_said_to_be_missing() {
    let dir = Scratch::new("effects_unseen");
    let kind = |name: &str, options: &[&str]| {
        let text = format!(
            "model K\n  pure function stat input String n; output Integer k; external \"C\" k = ModelicaInternal_stat(n); end stat;\n  \
             constant Integer k = stat(\"{name}\");\n  Real x[k] = fill(time, k);\nend K;\n"
        );
        let path = dir.file("K.mo", text);
        saltus(&[&["simulate", &path][..], options].concat())
    };
    let refused = kind("/", &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("error[E0614]") && stderr(&refused).contains("--allow-io"),
        "{}",
        stderr(&refused)
    );
    let permitted = stdout(&kind("/", &["--allow-io"]));
    assert!(permitted.contains("x[3]") && !permitted.contains("x[4]"), "{permitted}");
    let missing = stdout(&kind("nothing.txt", &[]));
    assert!(missing.contains("x[1]") && !missing.contains("x[2]"), "{missing}");
}
