//! Results on their way to files, and inputs from files, through the program.

mod common;

use common::{DECAY, Scratch, run};
use saltus_results::{Format, Results};

fn table(dir: &Scratch, name: &str) -> Results {
    let path = dir.path(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Results::read(&bytes, Format::of(path.as_ref()).unwrap(), name).unwrap()
}

const FAILS: &str = "model M\n  Real y;\nequation\n  y = 1/(time - 0.5);\nend M;\n";
const LOGGED: &str = "model M\n  Boolean late = time > 0.5;\nend M;\n";
const DRIVEN: &str = "model M\n  input Real u;\n  input Boolean on;\n  Real x(start = 0, fixed = true);\n\
                      equation\n  der(x) = if on then u else 0;\nend M;\n";

#[test]
fn a_piece_does_not_replace_a_result() {
    let dir = Scratch::new("streaming_piece");
    let model = dir.file("M.mo", FAILS);
    for name in ["r.csv", "r.mat", "r.parquet"] {
        dir.file(name, "an old result");
        let (_, said) = run(&["simulate", &model, "--quiet", "-o", &dir.path(name)], 3);
        let part = name.replace("r.", "r.part.");
        assert_eq!(dir.read(name), "an old result");
        assert!(said.contains("W0079") && said.contains(&part), "{said}");
        // The row at which it failed is the last one.
        assert_eq!(table(&dir, &part).times.last(), Some(&0.5), "{name}");
    }
}

#[test]
fn outputs_are_opened_before_the_model_is_compiled() {
    let dir = Scratch::new("streaming_early");
    let model = dir.file("M.mo", DECAY);
    for option in ["--output", "--event-log"] {
        let wanted = dir.path("missing/r.csv");
        let (_, said) = run(&["simulate", &model, option, &wanted, "--timing"], 1);
        assert!(said.contains("error[E0095]") && !said.contains("flatten"), "{said}");
    }
}

#[test]
fn events_go_to_the_log_as_they_happen() {
    let dir = Scratch::new("streaming_events");
    let model = dir.file("M.mo", LOGGED);
    for name in ["e.jsonl", "e.txt"] {
        dir.file(name, "an old log");
        run(&["simulate", &model, "--quiet", "--event-log", &dir.path(name)], 0);
    }
    let lines = dir.read("e.jsonl");
    assert!(lines.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{lines}");
    assert!(lines.contains("\"variable\":\"late\"") && lines.contains("M.mo:2:"), "{lines}");
    let story = dir.read("e.txt");
    // One paragraph an event, with an empty line between two.
    assert_eq!(story.split("\n\n").count(), lines.lines().count(), "{story}");
}

#[test]
fn values_of_parameters_come_from_a_file() {
    let dir = Scratch::new("streaming_set");
    let model =
        dir.file("M.mo", "model M\n  parameter Real a = 1;\n  parameter Real b = 1;\n  Real x = a + 10*b;\nend M;\n");
    let values = dir.file("values.txt", "// measured\na = 2\nb = 3*1  // and computed\n");
    run(&["simulate", &model, "--quiet", "--set-file", &values, "--set", "b=5", "-o", &dir.path("r.csv")], 0);
    // What stands on the command line counts.
    assert_eq!(table(&dir, "r.csv").values("x").unwrap()[0], 52.0);
    let wrong = dir.file("wrong.txt", "a = 2\n\nb\n= 1\n");
    let (_, said) = run(&["simulate", &model, "--set-file", &wrong], 2);
    for line in ["line 3: expected `name = value`, found `b`", "line 4: expected a name before `=`"] {
        assert!(said.contains("error[E0078]") && said.contains(line), "{said}");
    }
}

#[test]
fn tables_drive_inputs() {
    let dir = Scratch::new("streaming_input");
    let model = dir.file("M.mo", DRIVEN);
    // A line from 0 to 1, then a jump to 3; switched on at 0.25.
    let text = "time,u,on\n0,0,false\n0.25,0.5,true\n0.5,1,true\n0.5,3,true\n1,3,true\n";
    let csv = dir.file("in.csv", text);
    run(&["simulate", &model, "--quiet", "--input", &csv, "-o", &dir.path("r.csv")], 0);
    let found = table(&dir, "r.csv");
    let x = *found.values("x").unwrap().last().unwrap();
    // Closed form: the integral of 2 t from 0.25 to 0.5, and 3 * 0.5.
    assert!((x - (0.25 - 0.0625 + 1.5)).abs() < 1e-6, "{x}");
    // The table that was written drives the model again, from every format.
    for name in ["again.mat", "again.parquet"] {
        run(&["simulate", &model, "--quiet", "--input", &csv, "-o", &dir.path(name)], 0);
        run(&["simulate", &model, "--quiet", "--input", &dir.path(name), "-o", &dir.path("second.csv")], 0);
        let again = *table(&dir, "second.csv").values("x").unwrap().last().unwrap();
        assert!((again - x).abs() < 1e-6, "{name}: {again}");
    }
}

#[test]
fn bad_tables_of_inputs_are_refused_before_anything_is_overwritten() {
    let dir = Scratch::new("streaming_bad_input");
    let model = dir.file("M.mo", DRIVEN);
    dir.file("r.csv", "an old result");
    let cases = [
        ("time,U1\n0,1\n1,1\n", "expected a column `u`, found none"),
        ("time,u\n0,1\n2,1\n1,1\n", "times that do not decrease"),
        ("time,u,on\n0,1,1\n1,NaN,1\n", "expected a finite number in row 2 of column `u`"),
        ("time,u,on\n0,1,1\n1,1,0.5\n", "expected values of type Boolean in column `on`, found 0.5 in row 2"),
        ("time,u\n", "without rows"),
    ];
    for (text, expected) in cases {
        let input = dir.file("in.csv", text);
        let (_, said) = run(&["simulate", &model, "--quiet", "--input", &input, "-o", &dir.path("r.csv")], 1);
        assert!(said.contains("error[E0077]") && said.contains(expected), "{said}");
        assert_eq!(dir.read("r.csv"), "an old result");
        assert!(!std::path::Path::new(&dir.path("r.part.csv")).exists());
    }
}

/// A service manager, or a terminal that is closed, ends a run like Ctrl-C does.
#[cfg(unix)]
#[test]
fn signals_keep_what_was_computed() {
    let endless = "model M\n  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\nequation\n  der(x) = v;\n  der(v) = -x;\nend M;\n";
    for signal in ["-INT", "-TERM", "-HUP"].into_iter().filter(|signal| !common::is_ignored(signal)) {
        let dir = Scratch::new(&format!("streaming_signal{signal}"));
        let model = dir.file("M.mo", endless);
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_saltus"))
            .args(["simulate", &model, "--quiet", "--stop-time", "1e6", "--interval", "0.01", "-o", &dir.path("r.csv")])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !std::path::Path::new(&dir.path("r.part.csv")).exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before there were results");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(3), "{signal}");
        assert!(table(&dir, "r.csv").times.len() > 100, "{signal}");
    }
}
