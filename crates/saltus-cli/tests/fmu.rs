//! FMUs on the command line. They are compiled here from `testdata/fmu/ball.c`; skipped, and said so, without a C compiler.

#[path = "../../saltus-fmi-host/tests/common/mod.rs"]
mod ball;

use std::path::{Path, PathBuf};
use std::process::Command;

use saltus_fmi::Version;

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("saltus-cli-fmu-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Exit code, and everything that was said.
fn saltus(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_saltus")).args(arguments).current_dir(directory).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

/// The value in the last row of a column.
fn last(path: &Path, name: &str) -> f64 {
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let column = lines[0].split(',').position(|c| c.trim_matches('"') == name).unwrap();
    lines.last().unwrap().split(',').nth(column).unwrap().parse().unwrap()
}

/// Height of a ball that falls from `h` with g = 10 and e = 0.5, at a time after its first bounce and before its second.
fn height(h: f64, t: f64) -> f64 {
    let bounce = (2.0 * h / 10.0).sqrt();
    let (v, since) = (0.5 * 10.0 * bounce, t - bounce);
    v * since - 5.0 * since * since
}

const RIG: &str = "
model Rig
  Ball ball(h(start = 2));
  Real h(start = 2, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -10 + ball.f;
  when h < 0 then
    reinit(v, -0.5*pre(v));
  end when;
  ball.f = 0.1*(v - ball.v);
end Rig;
";

#[test]
fn an_fmu_alone_and_as_a_component() {
    for version in [Version::V2, Version::V3] {
        let Some(bytes) = ball::ball(&ball::description(version)) else { return };
        let scratch = Scratch::new(version.text());
        scratch.write("Ball.fmu", &bytes);
        scratch.write("Rig.mo", RIG.as_bytes());
        let (code, said) = saltus(&scratch.0, &["fmu", "simulate", "Ball.fmu", "-o", "refused.csv"]);
        assert!(code == 3 && said.contains("--allow-external"), "{code} {said}");

        let run = ["fmu", "simulate", "Ball.fmu", "--allow-external", "--stop-time", "0.8", "-o", "alone.csv"];
        let (code, said) = saltus(&scratch.0, &run);
        assert_eq!(code, 0, "{said}");
        let found = last(&scratch.0.join("alone.csv"), "h");
        assert!((found - height(1.0, 0.8)).abs() < 1e-8, "{found}");
        assert_eq!(last(&scratch.0.join("alone.csv"), "n"), 1.0);

        // The same ball in Modelica, coupled by a force that vanishes as long as both move alike.
        let (code, said) = saltus(&scratch.0, &["import", "Ball.fmu", "-o", "Ball.mo"]);
        assert_eq!(code, 0, "{said}");
        let run = ["simulate", "Rig.mo", "Ball.mo", "Rig", "--allow-external", "--stop-time", "1", "-o", "rig.csv"];
        let (code, said) = saltus(&scratch.0, &run);
        assert_eq!(code, 0, "{said}");
        for name in ["h", "ball.h"] {
            let found = last(&scratch.0.join("rig.csv"), name);
            assert!((found - height(2.0, 1.0)).abs() < 1e-8, "{name} {found}");
        }
    }
}

#[test]
fn what_a_wrapper_contains() {
    let Some(bytes) = ball::ball(&ball::description(Version::V3)) else { return };
    let scratch = Scratch::new("wrapper");
    scratch.write("Ball.fmu", &bytes);
    let (code, said) = saltus(&scratch.0, &["import", "Ball.fmu", "--show"]);
    assert!(code == 0 && said.contains("13 variables: 4 parameters, 1 input, 3 outputs, 2 states"), "{code} {said}");
    assert_eq!(scratch.files(), ["Ball.fmu"]);

    // The model that the FMU was made of stays what it is; a wrapper is written again.
    let source = scratch.write("ball.mo", b"model ball end ball;");
    for options in [&[][..], &["-o", "ball.mo"]] {
        let (code, said) = saltus(&scratch.0, &[&["import", "Ball.fmu"], options].concat());
        assert!(code == 1 && said.contains("E0071") && said.contains("not the wrapper of an FMU"), "{code} {said}");
        assert_eq!(std::fs::read(&source).unwrap(), b"model ball end ball;");
    }
    std::fs::remove_file(&source).unwrap();
    for _ in 0..2 {
        assert_eq!(saltus(&scratch.0, &["import", "Ball.fmu"]).0, 0);
    }

    // The event indicator `z` is neither an input nor an output, a state or a parameter.
    for (name, options, is_there) in [("Plain", &[][..], false), ("Whole", &["--locals"], true)] {
        let (file, result) = (format!("{name}.mo"), format!("{name}.csv"));
        let (code, said) = saltus(&scratch.0, &[&["import", "Ball.fmu", "--output", &file], options].concat());
        assert_eq!(code, 0, "{said}");
        let run = ["simulate", &file, "--allow-external", "--stop-time", "0.4", "-o", &result];
        let (code, said) = saltus(&scratch.0, &run);
        assert_eq!(code, 0, "{said}");
        let table = scratch.0.join(&result);
        let header = std::fs::read_to_string(&table).unwrap().lines().next().unwrap_or_default().to_owned();
        let has = |column: &str| header.split(',').any(|c| c.trim_matches('"') == column);
        assert!(has("h") && has("z") == is_there, "{name}: {header}");
    }
    // 1 - 5 t^2 is the height, and the indicator.
    let found = last(&scratch.0.join("Whole.csv"), "z");
    assert!((found - 0.2).abs() < 1e-8, "{found}");
}

#[test]
fn co_simulation_steps_from_point_to_point() {
    let Some(bytes) = ball::ball(&ball::description(Version::V2)) else { return };
    let scratch = Scratch::new("cs");
    scratch.write("Ball.fmu", &bytes);
    let run =
        ["fmu", "simulate", "Ball.fmu", "--fmu-kind", "cs", "--allow-external", "--set", "communicationStep=0.01"];
    let (code, said) = saltus(&scratch.0, &[&run[..], &["--stop-time", "0.4", "-o", "cs.csv"]].concat());
    assert_eq!(code, 0, "{said}");
    // 1 - 5 t^2: the steps of the FMU are exact.
    let found = last(&scratch.0.join("cs.csv"), "h");
    assert!((found - 0.2).abs() < 1e-12, "{found}");
}

/// An event that the FMU asks for at the end of a step comes right after it: v(0.5) = 1 - 10 0.5 instead of -5.
#[test]
fn an_fmu_is_told_of_accepted_steps() {
    for version in [Version::V2, Version::V3] {
        let Some(bytes) = ball::ball(&ball::wishing(version)) else { return };
        let scratch = Scratch::new(&format!("steps{}", version.text()));
        scratch.write("Ball.fmu", &bytes);
        let run = ["fmu", "simulate", "Ball.fmu", "--allow-external", "--set", "wish=0.1", "--set", "h.start=2"];
        let (code, said) = saltus(&scratch.0, &[&run[..], &["--stop-time", "0.5", "-o", "w.csv"]].concat());
        assert_eq!(code, 0, "{said}");
        let found = last(&scratch.0.join("w.csv"), "v");
        assert!((found + 4.0).abs() < 1e-8, "{found}");
    }
}

/// A run that is saved and resumed ends as the one that is not, bounce and all.
#[test]
fn a_run_with_an_fmu_is_saved_and_resumed() {
    for version in [Version::V2, Version::V3] {
        let Some(bytes) = ball::ball(&ball::wishing(version)) else { return };
        let scratch = Scratch::new(&format!("saved{}", version.text()));
        scratch.write("Ball.fmu", &bytes);
        let run = ["fmu", "simulate", "Ball.fmu", "--allow-external", "--quiet"];
        for rest in [
            &["--stop-time", "0.6", "--save-state", "half.state"][..],
            &["--stop-time", "0.8", "--resume", "half.state", "-o", "resumed.csv"],
        ] {
            let (code, said) = saltus(&scratch.0, &[&run[..], rest].concat());
            assert_eq!(code, 0, "{said}");
        }
        let found = last(&scratch.0.join("resumed.csv"), "h");
        assert!((found - height(1.0, 0.8)).abs() < 1e-8, "{found}");
        // The bounce before the state was saved counts.
        assert_eq!(last(&scratch.0.join("resumed.csv"), "n"), 1.0);
    }
}

/// Clocks every half second, at 0.3 and 1.1 s, and a quarter second after these; a structural parameter that gives an array its size.
#[test]
fn partitions_are_activated_by_their_clocks() {
    let Some(bytes) = ball::clocks() else { return };
    let scratch = Scratch::new("clocks");
    scratch.write("Clocks.fmu", &bytes);
    let rig = "model Rig
  clocks unit(n = 3, w = {1, 2, 4});
  Integer n(start = 0, fixed = true);
equation
  unit.asked = time > 0.3 and time < 0.4 or time > 1.1 and time < 1.2;
  unit.u = 5;
  when unit.third then
    n = pre(n) + 1;
  end when;
end Rig;";
    scratch.write("Rig.mo", rig.as_bytes());
    let run = ["simulate", "Rig.mo", "Clocks.fmu", "Rig", "--allow-external", "--stop-time", "1.9", "-o", "r.csv"];
    let (code, said) = saltus(&scratch.0, &run);
    assert_eq!(code, 0, "{said}");
    let found = |name: &str| last(&scratch.0.join("r.csv"), name);
    // 0, 0.5, 1 and 1.5 s; two triggers, each with a countdown: eight activations, of which two are the third of three.
    assert_eq!([found("unit.a"), found("unit.b"), found("unit.c"), found("n")], [4.0, 2.0, 2.0, 2.0]);
    assert_eq!([found("unit.total"), found("unit.sum")], [10.0, 7.0]);
}

#[test]
fn failures_end_the_run_with_the_words_of_the_fmu() {
    let Some(bytes) = ball::ball(&ball::description(Version::V3)) else { return };
    let scratch = Scratch::new("failures");
    scratch.write("Ball.fmu", &bytes);
    for (bad, words) in [("0.2", "the ball is broken"), ("-0.2", "`der(v)` is not a number")] {
        let set = format!("bad={bad}");
        let (code, said) = saltus(&scratch.0, &["fmu", "simulate", "Ball.fmu", "--allow-external", "--set", &set]);
        assert!(code == 3 && said.contains(words) && said.contains("the FMU of `"), "{code} {said}");
    }
}

#[test]
fn bad_fmus_are_refused_and_nothing_is_written() {
    let Some(bytes) = ball::ball(&ball::description(Version::V2)) else { return };
    let scratch = Scratch::new("bad");
    scratch.write("cut.fmu", &bytes[..bytes.len() / 2]);
    scratch.write("text.fmu", b"this is not an archive");
    let mut model = ball::description(Version::V2);
    model.token = "{other}".into();
    scratch.write("token.fmu", &ball::ball(&model).unwrap());
    let before = scratch.files();
    for (file, code, words) in [
        ("cut.fmu", 1, "E1050"),
        ("text.fmu", 1, "E1050"),
        ("token.fmu", 3, "the token is another one"),
        ("missing.fmu", 1, "missing.fmu"),
    ] {
        let (found, said) = saltus(&scratch.0, &["fmu", "simulate", file, "--allow-external"]);
        assert!(found == code && said.contains(words), "{file}: {found} {said}");
    }
    assert_eq!(scratch.files(), before);
}
