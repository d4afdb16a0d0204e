//! C source that comes with external functions (`Include`), compiled by the C compiler of the machine into a cache.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod common;

use std::process::{Command, Output};

use common::{Scratch, stderr};

/// Defined here: a static function, one that another text declares, an object, a String that is found out, a file that is read.
const SOURCE: &str = r##"
#include <stdio.h>
#include <stdlib.h>
#include "ModelicaUtilities.h"
#include "factor.h"
static double area(double x) { if (x < 0) ModelicaFormatError("x is %g", x); return FACTOR * x * x; }
double perimeter(double x) { return 4 * x; }
void *box_new(double x) { double *box = malloc(sizeof *box); *box = x; return box; }
double box_size(void *box) { return *(double *)box; }
void box_free(void *box) { free(box); }
const char *name_of(int n) {
  char *name = ModelicaAllocateString(8);
  snprintf(name, 8, "n%d", n);
  return name;
}
int length_of(const char *name) { int n = 0; while (name[n]) n++; return n; }
double first_number(const char *file) {
  double x = -1;
  FILE *f = fopen(file, "r");
  if (!f) ModelicaFormatError("no file %s", file);
  if (fscanf(f, "%lf", &x) != 1) x = -1;
  fclose(f);
  return x;
}
"##;

const SHAPES: &str = r##"
package Shapes
  function area input Real x; output Real y;
    external "C" y = area(x) annotation(Include = "#include \"area.c\""); end area;
  function perimeter input Real x; output Real y;
    external "C" y = perimeter(x) annotation(Include = "double perimeter(double);"); end perimeter;
  function nameOf input Integer n; output String s;
    external "C" s = name_of(n) annotation(Include = "#include \"area.c\""); end nameOf;
  function lengthOf input String s; output Integer n;
    external "C" n = length_of(s) annotation(Include = "#include \"area.c\""); end lengthOf;
  function firstNumber input String file; output Real x;
    external "C" x = first_number(file) annotation(Include = "#include \"area.c\""); end firstNumber;
  class Box extends ExternalObject;
    function constructor input Real x; output Box box;
      external "C" box = box_new(x) annotation(Include = "#include \"area.c\""); end constructor;
    function destructor input Box box;
      external "C" box_free(box) annotation(Include = "#include \"area.c\""); end destructor;
  end Box;
  function size input Box box; output Real x;
    external "C" x = box_size(box) annotation(Include = "#include \"area.c\""); end size;
  model M
    parameter Integer number = 12;
    parameter String name = nameOf(number);
    parameter Real start(fixed = false);
    parameter Box box = Box(start);
    Real a = area(1 + time);
    Real p = perimeter(1 + time);
    Real n = lengthOf(name);
    Real s = size(box);
    Real x = firstNumber("modelica://Shapes/Resources/Data/number.txt");
  initial equation
    start = time + 5;
  end M;
  model Wrong
    Real a = area(-1 - time);
  end Wrong;
end Shapes;
"##;

struct Library(Scratch);

impl Library {
    /// `None` if this machine has no C compiler.
    fn new(test: &str) -> Option<Library> {
        if Command::new("cc").arg("--version").output().is_err() {
            eprintln!("not tested, because there is no C compiler `cc`");
            return None;
        }
        let dir = Scratch::new(test);
        dir.file("lib/Shapes/package.mo", SHAPES);
        dir.file("lib/Shapes/Resources/Include/area.c", SOURCE);
        dir.file("lib/Shapes/Resources/Include/factor.h", "#define FACTOR 1\n");
        dir.file("lib/Shapes/Resources/Data/number.txt", "2.5\n");
        Some(Library(dir))
    }

    fn simulate(&self, class: &str, options: &[&str], path: Option<&str>) -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_saltus"));
        program.args(["simulate", class, "--library", "lib", "--stop-time", "1", "--quiet", "--output", "r.csv"]);
        program.args(options).current_dir(&self.0.0).env_remove("MODELICAPATH");
        program.env("XDG_CACHE_HOME", self.0.0.join("cache"));
        if let Some(path) = path {
            program.env("PATH", path);
        }
        program.output().unwrap()
    }

    /// Values in the last row.
    fn last(&self, names: &[&str]) -> Vec<f64> {
        let output = self.simulate("Shapes.M", &["--allow-external"], None);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = self.0.read("r.csv");
        let header = text.lines().next().unwrap().trim_matches('"').split("\",\"").collect::<Vec<_>>();
        let row: Vec<&str> = text.lines().last().unwrap().split(',').collect();
        let value = |name: &&str| row[header.iter().position(|h| h == name).unwrap()].parse().unwrap();
        names.iter().map(value).collect()
    }

    fn cached(&self) -> usize {
        std::fs::read_dir(self.0.0.join("cache/saltus/external")).map_or(0, Iterator::count)
    }
}

#[test]
fn source_is_compiled_once_and_again_when_a_header_changes() {
    let Some(library) = Library::new("included_source") else { return };
    let names = ["a", "p", "n", "s", "x"];
    // At time 1: 2², 4*2, the length of n12, the object made of the start time and 5, the number in the file.
    assert_eq!(library.last(&names), [4.0, 8.0, 3.0, 5.0, 2.5]);
    assert_eq!(library.cached(), 1, "one library, and nothing beside it");
    assert_eq!(library.last(&names), [4.0, 8.0, 3.0, 5.0, 2.5]);
    assert_eq!(library.cached(), 1);
    library.0.file("lib/Shapes/Resources/Include/factor.h", "#define FACTOR 3\n");
    assert_eq!(library.last(&names), [12.0, 8.0, 3.0, 5.0, 2.5]);
    assert_eq!(library.cached(), 2);
}

#[test]
fn what_stands_in_the_way_is_said() {
    let Some(library) = Library::new("included_trouble") else { return };
    let said = |output: &Output| stderr(output).replace('\n', " ");
    let output = library.simulate("Shapes.M", &[], None);
    assert!(said(&output).contains("--allow-external"), "{}", said(&output));
    let output = library.simulate("Shapes.M", &["--allow-external"], Some("/nowhere"));
    assert!(said(&output).contains("needs a C compiler"), "{}", said(&output));
    let output = library.simulate("Shapes.Wrong", &["--allow-external"], None);
    assert!(said(&output).contains("x is -1"), "{}", said(&output));
    library.0.file("lib/Shapes/Resources/Include/factor.h", "#error no factor\n");
    let output = library.simulate("Shapes.M", &["--allow-external"], None);
    assert!(said(&output).contains("no factor"), "{}", said(&output));
}

/// `gamma` is a function of the C library, `floor` one that the evaluator knows; the model brings its own.
#[test]
fn a_function_of_the_model_beats_others_of_its_name() {
    let Some(library) = Library::new("included_names") else { return };
    library.0.file(
        "lib/Own.mo",
        r##"
package Own
  function gamma input Real x; output Real y;
    external "C" y = gamma(x) annotation(Include = "double gamma(double x) { return 42 + x; }"); end gamma;
  function floor input Real x; output Real y;
    external "C" y = floor(x) annotation(Include = "double floor(double x) { return 7 + x; }"); end floor;
  model M
    Real g = gamma(time), f = floor(time);
  end M;
end Own;
"##,
    );
    let output = library.simulate("Own.M", &["--allow-external"], None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(library.0.read("r.csv").lines().last(), Some("1.0,43.0,8.0"));
}
