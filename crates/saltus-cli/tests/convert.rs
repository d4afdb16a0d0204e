//! `saltus convert`, and what `check` says about names of older versions.

mod common;

use common::{Scratch, run, saltus, stderr};

const LIBRARY: &str = r#"package L
  package Units type Voltage = Real; end Units;
  model Sine parameter Real f = 1; Real y = f; end Sine;
  annotation(version = "2.0", conversion(from(version = "1.0", script = "modelica://L/from_1.mos")));
end L;
"#;
const SCRIPT: &str = r#"convertClass("L.SIunits", "L.Units"); convertElement("L.Sine", "freqHz", "f");"#;
const OLD: &str = "model M\n  L.SIunits.Voltage v = 1;\n  L.Sine s(freqHz = 2);\nend M;\n";
const NEW: &str = "model M\n  L.Units.Voltage v = 1;\n  L.Sine s(f = 2);\nend M;\n";

fn library(test: &str) -> Scratch {
    let dir = Scratch::new(test);
    dir.file("L/package.mo", LIBRARY);
    dir.file("L/from_1.mos", SCRIPT);
    dir
}

#[test]
fn a_source_is_rewritten() {
    let dir = library("convert");
    let source = dir.file("M.mo", OLD);
    let from = ["--from", "1.0", "--of", "L", "--library", &dir.dir()];
    let (said, _) = run(&[&["convert", "--check", &source], &from[..]].concat(), 1);
    assert_eq!(said, format!("{source}\n1 files, 1 would change in 2 places, 0 left to do by hand, 0 not converted\n"));
    assert_eq!(dir.read("M.mo"), OLD);
    let (said, _) = run(&[&["convert", &source], &from[..]].concat(), 0);
    assert_eq!(said, "1 files, 1 changed in 2 places, 0 left to do by hand, 0 not converted\n");
    assert_eq!(dir.read("M.mo"), NEW);
    run(&["check", &source, "--library", &dir.dir()], 0);
    let (said, _) = run(&[&["convert", &source], &from[..]].concat(), 0);
    assert!(said.starts_with("1 files, 0 changed"), "{said}");
}

#[test]
fn a_version_that_the_library_does_not_know() {
    let dir = library("convert_unknown");
    let source = dir.file("M.mo", OLD);
    let output = saltus(&["convert", &source, "--from", "0.5", "--of", "L", "--library", &dir.dir()]);
    assert!(stderr(&output).contains("`L` converts from the versions 1.0"), "{}", stderr(&output));
    assert_eq!((output.status.code(), dir.read("M.mo").as_str()), (Some(1), OLD));
}

#[test]
fn a_name_of_an_older_version_is_told_the_new_one() {
    let dir = library("convert_hint");
    let source = dir.file("M.mo", OLD);
    let output = saltus(&["check", &source, "--library", &dir.dir()]);
    let said = stderr(&output);
    assert!(said.contains("`L.SIunits.Voltage` of older versions of the library is `L.Units.Voltage` now"), "{said}");
    assert!(said.contains("`freqHz` of older versions of the library is `f` now"), "{said}");
}
