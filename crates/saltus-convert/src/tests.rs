//! Whole sources, before and after.

use std::path::Path;

use saltus_library::{Library, MemoryFiles};

use crate::Converter;

const SCRIPT: &str = r#"
convertClass("L.SIunits", "L.Units.SI");
convertClass("L.SIunits.Conversions", "L.Units.Conversions");
convertClass("L.Cold", "L.Pipe");
convertClass("L.Hot", "L.Pipe");
convertElement({"L.Sine", "L.PartialSource"}, "freqHz", "f");
convertElement({"L.Sine", "L.PartialSource"}, "phase", "phi");
convertElement("L.step", "level", "height");
convertElement("L.Rig", "c.level", "c.height");
convertModifiers("L.Cold", fill("", 0), {"useHeat=false"});
convertModifiers("L.Hot", fill("", 0), {"useHeat=true"});
convertModifiers("L.Disc", {"d"}, {"r=%d%/2"});
convertModifiers("L.Joint", {"offset"}, fill("", 0));
convertMessage("L.Gone", "There is no replacement.");
"#;

const LIBRARY: &str = r#"
package L
  package Units
    package SI type Voltage = Real; end SI;
    package Conversions function from_deg input Real a; output Real b; algorithm b := a; end from_deg; end Conversions;
  end Units;
  partial model PartialSource parameter Real f = 1; end PartialSource;
  model Sine extends PartialSource; end Sine;
  model Cosine extends PartialSource; end Cosine;
  model Rig Cosine c; end Rig;
  function step input Real height; output Real y; algorithm y := height; end step;
  model Pipe parameter Boolean useHeat = false; end Pipe;
  model Disc parameter Real r = 1; end Disc;
  model Joint end Joint;
  annotation(version = "2.0.0", conversion(from(version = {"1.0", "1.1"}, script = "modelica://L/convert.mos")));
end L;
"#;

fn library() -> Library {
    let mut files = MemoryFiles::new();
    files.insert("libs/L/package.mo", LIBRARY);
    files.insert("libs/L/convert.mos", SCRIPT);
    let library = Library::new(Box::new(files));
    library.add_search_path(Path::new("libs"));
    library
}

/// Converts a file and compares.
#[track_caller]
fn becomes(before: &str, after: &str) {
    let library = library();
    let package = library.find("L").expect("the library");
    let converter = Converter::new(&library, package, Some("1.1")).expect("a script");
    let converted = converter.convert(&[before.to_owned()]);
    assert_eq!(converted[0].text, after);
}

#[test]
fn classes_by_full_name_and_by_import() {
    becomes(
        "model M L.SIunits.Voltage v; Real x = L.SIunits.Conversions.from_deg(1); end M;",
        "model M L.Units.SI.Voltage v; Real x = L.Units.Conversions.from_deg(1); end M;",
    );
    becomes(
        "model M import SI = L.SIunits; SI.Voltage v; Real x = SI.Conversions.from_deg(1); end M;",
        "model M import SI = L.Units.SI; SI.Voltage v; Real x = L.Units.Conversions.from_deg(1); end M;",
    );
    becomes(
        "model M import L.SIunits; import L.SIunits.*; SIunits.Voltage v; Voltage w; end M;",
        "model M import SIunits = L.Units.SI; import L.Units.SI.*; SIunits.Voltage v; Voltage w; end M;",
    );
}

#[test]
fn a_class_of_the_sources_with_the_same_name_stays() {
    let own = "package P package L package SIunits type Voltage = Real; end SIunits; end L; model M L.SIunits.Voltage v; end M; end P;";
    becomes(own, own);
}

#[test]
fn elements_of_components_bases_and_functions() {
    becomes(
        "model M L.Sine s(freqHz = 2); Real y = s.freqHz + L.step(level = 1); end M;",
        "model M L.Sine s(f = 2); Real y = s.f + L.step(height = 1); end M;",
    );
    // Inherited in the sources, inherited in the library, and inside of a component of the library.
    becomes(
        "package P model A extends L.Sine(freqHz = 3); Real y = freqHz; end A; model M A a(freqHz = 1); L.Cosine c(freqHz = 2); L.Rig r(c(freqHz = 4)); end M; end P;",
        "package P model A extends L.Sine(f = 3); Real y = f; end A; model M A a(f = 1); L.Cosine c(f = 2); L.Rig r(c(f = 4)); end M; end P;",
    );
    becomes("model M L.Rig r; Real y = r.c.level; end M;", "model M L.Rig r; Real y = r.c.height; end M;");
    let other = "model M model Own parameter Real freqHz = 1; end Own; Own o(freqHz = 2); end M;";
    becomes(other, other);
}

#[test]
fn modifiers_are_converted_added_and_dropped() {
    becomes(
        "model M L.Cold a; L.Hot b \"with a text\"; L.Disc d(d = 2 + x); L.Joint j(offset = 1); end M;",
        "model M L.Pipe a(useHeat=false); L.Pipe b(useHeat=true) \"with a text\"; L.Disc d(r=(2 + x)/2); L.Joint j(); end M;",
    );
}

#[test]
fn the_version_in_uses_and_comments_around() {
    becomes(
        "model M // first\n  L.SIunits.Voltage   v; /* odd  layout */\n  annotation(uses(L(version = \"1.1\"), Other(version = \"1\")));\nend M;",
        "model M // first\n  L.Units.SI.Voltage   v; /* odd  layout */\n  annotation(uses(L(version = \"2.0.0\"), Other(version = \"1\")));\nend M;",
    );
}

#[test]
fn what_is_left_to_do_by_hand_is_said() {
    let library = library();
    let package = library.find("L").expect("the library");
    let converter = Converter::new(&library, package, None).expect("a script");
    let converted = converter.convert(&["model M L.Gone g; end M;".to_owned()]);
    assert_eq!(converted[0].remarks[0].text, "`L.Gone`: There is no replacement.");
    assert_eq!(converter.class("L.SIunits.Voltage").as_deref(), Some("L.Units.SI.Voltage"));
    assert_eq!(converter.element("L.Cosine", "freqHz").as_deref(), Some("f"));
    let unknown = Converter::new(&library, package, Some("0.9")).err();
    assert_eq!(unknown.as_deref(), Some("`L` converts from the versions 1.0, 1.1"));
}
