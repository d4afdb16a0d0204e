//! The program as a caller sees it: exit codes and where output goes.

mod common;

use std::process::Command;

use common::{DECAY, Scratch, saltus, stderr, stdout};

#[test]
fn parse_counts_the_files_of_a_directory() {
    let dir = Scratch::new("parse_counts");
    dir.file("a.mo", DECAY);
    dir.file("sub/b.mo", DECAY);
    dir.file("sub/notes.txt", "not Modelica");
    let output = saltus(&["parse", &dir.dir()]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "2 files, 0 diagnostics\n"));
}

#[test]
fn a_syntax_error_exits_with_1_and_shows_its_place() {
    let dir = Scratch::new("syntax_error");
    let path = dir.file("a.mo", "model A\n  Real x\nend A;\n");
    let output = saltus(&["parse", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&format!("{path}:2:9\n")), "{}", stderr(&output));
}

#[test]
fn json_diagnostics_are_one_object_a_line() {
    let dir = Scratch::new("json");
    let path = dir.file("a.mo", "model A\n  Real x\n  Real y z;\nend A;\n");
    let output = saltus(&["parse", &path, "--json-diagnostics"]);
    let objects: Vec<serde_json::Value> =
        stderr(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!((&objects[0]["code"], &objects[0]["place"]["line"]), (&"E0109".into(), &2.into()));
}

#[test]
fn files_that_cannot_be_read_are_diagnostics() {
    let dir = Scratch::new("unreadable");
    let latin = dir.file("latin.mo", b"model A \"gr\xfcn\" end A;");
    for arguments in [["parse", "nowhere.mo"], ["check", "nowhere.mo"], ["parse", &latin], ["check", &latin]] {
        let output = saltus(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(stderr(&output).starts_with("error[E00"), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [&["parse"][..], &["simulat"], &["check", "--bogus"]] {
        assert_eq!(saltus(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn check_counts_equations_and_unknowns() {
    let dir = Scratch::new("check");
    let path = dir.file("Decay.mo", DECAY);
    let output = saltus(&["check", &path]);
    assert_eq!(stderr(&output), "");
    assert_eq!(stdout(&output), "Class Decay: 1 equations, 1 unknowns\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_missing_equation_is_a_warning_for_flatten_and_an_error_for_check() {
    let dir = Scratch::new("missing_equation");
    let path = dir.file("A.mo", "model A\n  Real x;\n  Real y;\nequation\n  x = 1;\nend A;\n");
    let check = saltus(&["check", &path]);
    assert_eq!(check.status.code(), Some(1));
    assert!(stderr(&check).starts_with("error[E0450]"), "{}", stderr(&check));
    let flatten = saltus(&["flatten", &path, "A"]);
    assert_eq!(flatten.status.code(), Some(0));
    assert!(stderr(&flatten).starts_with("warning[E0450]"), "{}", stderr(&flatten));
    assert!(stdout(&flatten).starts_with("class A\n"), "{}", stdout(&flatten));
}

#[test]
fn check_of_a_package_checks_every_class_in_it() {
    let dir = Scratch::new("check_package");
    let text = "package P
  partial model Base Real x; end Base;
  model Good extends Base; equation x = 1; end Good;
  connector Pin Real v; flow Real i; end Pin;
  model Load Pin p; equation p.v = 2*p.i; end Load;
  function f input Real u; output Real y; algorithm y := u + z; end f;
  package Inner
    model Bad Real q = nowhere; end Bad;
  end Inner;
end P;
";
    let path = dir.file("P.mo", text);
    let output = saltus(&["check", &path, "P"]);
    assert_eq!(output.status.code(), Some(1));
    let errors: Vec<String> = stderr(&output).lines().filter(|l| l.starts_with("error")).map(str::to_owned).collect();
    let expected = [
        "error[E0202]: `z` is not declared in `P.f` or around it",
        "error[E0202]: `nowhere` is not declared in `P.Inner.Bad` or around it",
    ];
    assert_eq!(errors, expected);
    assert_eq!(stdout(&output), "Package P: 7 classes checked, 2 with mistakes\n");
}

#[test]
fn check_of_a_file_with_several_models_checks_all_of_them() {
    let dir = Scratch::new("check_file");
    let text = "model A
  model Inside Real q = nowhere; end Inside;
  Real x = 1;
end A;
model B Real y; equation y = 2; y = 3; end B;
";
    let output = saltus(&["check", &dir.file("Two.mo", text)]);
    assert_eq!(output.status.code(), Some(1));
    let errors: Vec<String> = stderr(&output).lines().filter(|l| l.starts_with("error")).map(str::to_owned).collect();
    let expected = [
        "error[E0202]: `nowhere` is not declared in `A.Inside` or around it",
        "error[E0451]: expected as many equations as unknowns, found 2 equations for 1 unknown: 1 too many",
    ];
    assert_eq!(errors, expected);
    assert!(stderr(&output).contains("found in the class `A.Inside`"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "3 classes checked, 2 with mistakes\n");
}

/// What a class leaves to its surroundings is not a mistake of it (specification 4.8): sizes, `outer` values, members of a bus, the root of
/// overdetermined connectors.
#[test]
fn check_of_a_part_leaves_to_others_what_is_theirs() {
    let dir = Scratch::new("check_part");
    let text = "package P
  record Reference
    Real gamma;
    function equalityConstraint
      input Reference a; input Reference b; output Real residue[0];
    algorithm
      assert(abs(a.gamma - b.gamma) < 1, \"\");
    end equalityConstraint;
  end Reference;
  connector Pin Real v; flow Real i; Reference reference; end Pin;
  expandable connector Bus end Bus;
  connector RealInput = input Real;
  record Pair Real a; Real b; end Pair;
  connector PairInput = input Pair;
  model Sum parameter Integer n; RealInput u[n]; Real y = sum(u); end Sum;
  model Product PairInput u; Real y = u.a*u.b; end Product;
  model Inside outer Real T; Real y = 2*T; end Inside;
  model Sensor Pin p; Real v = p.v; equation p.i = 0; end Sensor;
  model OnBus Bus bus; Product m; equation connect(bus.pair, m.u); end OnBus;
end P;
";
    let output = saltus(&["check", &dir.file("P.mo", text), "P"]);
    let errors: Vec<String> = stderr(&output).lines().filter(|l| l.starts_with("error")).map(str::to_owned).collect();
    assert_eq!(errors, [""; 0]);
    // A complete model has nobody else to give `n` a value.
    let path = dir.file("M.mo", "model M parameter Integer n; Real x[n] = ones(n); end M;");
    assert!(stderr(&saltus(&["check", &path])).contains("error[E0240]"));
}

#[test]
fn check_finds_singular_models_before_they_are_simulated() {
    let dir = Scratch::new("check_singular");
    let singular = "model A\n  Real x, y, z;\nequation\n  x = 1;\n  x = time;\n  y + z = 1;\nend A;\n";
    let path = dir.file("A.mo", singular);
    let output = saltus(&["check", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("error[E0802]"), "{}", stderr(&output));
}

#[test]
fn a_partial_model_is_checked_but_not_simulated() {
    let dir = Scratch::new("check_partial");
    let path = dir.file("A.mo", "partial model A\n  Real x;\nend A;\n");
    assert_eq!(saltus(&["check", &path]).status.code(), Some(0));
    let simulated = saltus(&["simulate", &path]);
    assert_eq!(simulated.status.code(), Some(1));
    assert!(stderr(&simulated).contains("error[E0268]: `A` is partial and cannot be simulated"));
}

#[test]
fn flatten_is_the_same_every_time_and_goes_to_a_file() {
    let dir = Scratch::new("flatten");
    let path = dir.file("Decay.mo", DECAY);
    let target = dir.0.join("out.mo");
    let first = saltus(&["flatten", &path, "Decay"]);
    let second = saltus(&["flatten", &path, "Decay", "--output", &target.display().to_string()]);
    assert_eq!((first.status.code(), second.status.code()), (Some(0), Some(0)));
    assert_eq!(stdout(&first), std::fs::read_to_string(&target).unwrap());
    let json = saltus(&["flatten", &path, "Decay", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(value["name"], "Decay");
}

#[test]
fn classes_are_found_in_libraries() {
    let dir = Scratch::new("libraries");
    dir.file("P/package.mo", "package P\nend P;\n");
    dir.file("P/A.mo", "within P;\nmodel A\n  Real x = 1;\nend A;\n");
    let found = saltus(&["check", "P.A", "--library", &dir.dir()]);
    assert_eq!(stdout(&found), "Class P.A: 1 equations, 1 unknowns\n", "{}", stderr(&found));
    let missing = saltus(&["check", "Q.A", "--library", &dir.dir()]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).starts_with("error[E0003]: library `Q` is not found"), "{}", stderr(&missing));
    let by_variable = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["check", "P.A"])
        .env("MODELICAPATH", dir.dir())
        .output()
        .unwrap();
    assert_eq!(by_variable.status.code(), Some(0));
}

#[test]
fn fmt_changes_a_file_once() {
    let dir = Scratch::new("fmt");
    let path = dir.file("A.mo", "model A // why\nReal   x=1;end A;\n");
    assert_eq!(saltus(&["fmt", "--check", &path]).status.code(), Some(1));
    assert_eq!(saltus(&["fmt", &path]).status.code(), Some(0));
    assert_eq!(saltus(&["fmt", "--check", &path]).status.code(), Some(0));
    assert!(std::fs::read_to_string(&path).unwrap().contains("// why"));
}

#[test]
fn stats_are_written_as_json() {
    let dir = Scratch::new("stats");
    let path = dir.file("Decay.mo", DECAY);
    let stats = dir.0.join("stats.json");
    saltus(&["check", &path, "--stats", &stats.display().to_string()]);
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&stats).unwrap()).unwrap();
    assert_eq!((&value["equations"], &value["unknowns"]), (&1.into(), &1.into()));
    assert!(value["seconds"]["flatten"].is_number());
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let dir = Scratch::new("deep");
    let deep = format!("model A\n  Real x = {}1{};\nend A;\n", "(".repeat(100_000), ")".repeat(100_000));
    let output = saltus(&["check", &dir.file("A.mo", deep)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error[E0130]"), "{}", &stderr(&output)[..200.min(stderr(&output).len())]);
}

#[test]
fn numbers_that_make_no_sense_are_wrong_usage() {
    let dir = Scratch::new("numbers");
    let path = dir.file("Decay.mo", DECAY);
    let options = [
        ("simulate", "--stop-time"),
        ("simulate", "--start-time"),
        ("simulate", "--tolerance"),
        ("simulate", "--interval"),
        ("simulate", "--max-step"),
        ("simulate", "--fixed-step"),
        ("linearize", "--at"),
        ("test", "--time-limit"),
        ("test", "--tube"),
    ];
    for (command, option) in options {
        for value in ["nan", "inf", "-inf", "1e999"] {
            let output = saltus(&[command, &path, &format!("{option}={value}")]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{command} {option} {value}: {said}");
            assert!(said.contains(option) && said.contains(value), "{command} {option} {value}: {said}");
        }
    }
    for (options, given) in
        [(["--stop-time", "-1"], "-1"), (["--interval", "1e-300"], "1e-300"), (["--tolerance", "-1"], "-1")]
    {
        let output = saltus(&[&["simulate", path.as_str()][..], &options].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(given), "{options:?}: {}", stderr(&output));
    }
    let output = saltus(&["sweep", &path, "--vary", "x.start=0:1:4294967295"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn no_command_overwrites_what_it_reads() {
    let dir = Scratch::new("overwrites");
    let path = dir.file("lib/Decay.mo", DECAY);
    let (directory, data) = (dir.path("lib"), dir.file("u.csv", "time,u\n0,1\n1,1\n"));
    let refused = |arguments: &[&str]| {
        let output = saltus(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {}", stderr(&output));
        assert!(stderr(&output).contains("E0076"), "{arguments:?} {}", stderr(&output));
        assert_eq!(dir.read("lib/Decay.mo"), DECAY);
    };
    refused(&["flatten", &path, "-o", &path]);
    refused(&["flatten", &path, "-o", &dir.path("lib/../lib/Decay.mo")]);
    refused(&["flatten", "Decay", "--library", &directory, "-o", &path]);
    refused(&["simulate", &path, "--event-log", &path]);
    refused(&["simulate", &path, "--save-state", &path]);
    refused(&["simulate", &path, "--stats", &path]);
    refused(&["simulate", &path, "--input", &data, "-o", &data]);
    refused(&["linearize", &path, "-o", &path]);
    refused(&["explain", &path, "--html", &path]);
    refused(&["test", &path, "--save", &path]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&path, dir.path("soft.mo")).unwrap();
        std::fs::hard_link(&path, dir.path("hard.mo")).unwrap();
        refused(&["flatten", &path, "-o", &dir.path("soft.mo")]);
        refused(&["flatten", &path, "-o", &dir.path("hard.mo")]);
        refused(&["simulate", &path, "--event-log", &dir.path("hard.mo")]);
    }
    assert_eq!(saltus(&["flatten", &path, "-o", &dir.path("flat.mo")]).status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn formatting_replaces_a_file_in_one_step() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = Scratch::new("fmt_replaces");
    let path = dir.file("A.mo", "model A  Real x=1; end A;");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("A.mo", dir.path("link.mo")).unwrap();
    // Whoever has the file open keeps the old text: it is not truncated.
    let mut open = std::fs::File::open(&path).unwrap();
    assert_eq!(saltus(&["fmt", &dir.path("link.mo")]).status.code(), Some(0));
    let mut old = String::new();
    std::io::Read::read_to_string(&mut open, &mut old).unwrap();
    assert_eq!(old, "model A  Real x=1; end A;");
    assert!(dir.read("A.mo").contains("\n  Real x=1;"), "{}", dir.read("A.mo"));
    assert!(std::fs::symlink_metadata(dir.path("link.mo")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let names: Vec<_> = std::fs::read_dir(dir.dir()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn texts_of_models_do_not_steer_the_terminal() {
    let dir = Scratch::new("steer");
    let escape = "\u{1b}[31m\u{9b}2J";
    let text = format!(
        "model M\n  Real x(unit = \"{escape}\") = time;\n  Real '{escape}' = 1;\nequation\n  \
         assert(time < 0.5, \"{escape}\", AssertionLevel.warning);\n  assert(time < 0.7, \"{escape}\" + String(x));\nend M;\n"
    );
    let path = dir.file("M.mo", text);
    for arguments in [
        &["simulate", &path, "--plot=x"][..],
        &["simulate", &path, "--stop-time", "0.4", "--plot"],
        &["check", &path, "--set", "x=\u{1b}[2J"],
        &["simulate", &path, "--json-diagnostics"],
    ] {
        let output = saltus(arguments);
        let said = stdout(&output) + &stderr(&output);
        let steering: Vec<char> = said.chars().filter(|c| c.is_control() && *c != '\n').collect();
        assert!(steering.is_empty(), "{arguments:?}: {steering:?} in {said}");
        assert!(!said.is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_is_ignored_where_the_caller_wants_that() {
    let dir = Scratch::new("nohup");
    // A long run.
    let text = "model M Real x(start = 0, fixed = true); equation der(x) = cos(100*time); annotation(experiment(StopTime = 1e8)); end M;";
    let path = dir.file("M.mo", text);
    let program = env!("CARGO_BIN_EXE_saltus");
    // The shell hands on that the signal is ignored. The run gets it, goes on, and is then ended by force.
    let script = format!(
        "trap '' HUP; '{program}' simulate '{path}' --quiet >/dev/null 2>&1 & p=$!; sleep 1; kill -HUP $p; sleep 1; kill -KILL $p; wait $p"
    );
    let ended = Command::new("sh").args(["-c", &script]).status().unwrap().code();
    assert_eq!(ended, Some(137), "it still ran when it was killed");
}
