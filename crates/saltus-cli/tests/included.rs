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

/// As in every tool that writes C: the declaration in the source says what a function takes. `half` is a macro.
#[test]
fn c_converts_what_is_passed_to_what_is_declared() {
    let Some(library) = Library::new("included_conversions") else { return };
    let source = |name: &str, c: &str| {
        format!(
            r##"
package {name}
  function f input Real x; input Integer n; input String s; output Real y;
    external "C" y = f(x, n, s, size(s_, 1)) annotation(Include = "{c}");
    protected Real s_[3];
  end f;
  function half input Integer n; output Real y;
    external "C" y = half(n) annotation(Include = "
#define half(n) (0.5*(n))
"); end half;
  model M
    Real y = f(10*time, 2, "ab"), h = half(if time < 2 then 7 else 3);
  end M;
end {name};
"##
        )
    };
    let good = "int f(float x, double n, const char *s, unsigned char k) { return x + n/4 + s[1] - 'a' + 100*k; }";
    library.0.file("lib/Converted.mo", source("Converted", good));
    let output = library.simulate("Converted.M", &["--allow-external"], None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // 10 + 0.5 + 1 + 300, cut off to an `int`.
    assert_eq!(library.0.read("r.csv").lines().last(), Some("1.0,311.0,3.5"));
    let bad = "double f(double *x, int n, const char *s, int k) { return *x; }";
    library.0.file("lib/Refused.mo", source("Refused", bad));
    let output = library.simulate("Refused.M", &["--allow-external"], None);
    assert_ne!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("incompatible type for argument 1"), "{}", stderr(&output));
}

#[test]
fn each_element_of_an_array_of_objects_is_made_once() {
    let Some(library) = Library::new("included_arrays") else { return };
    library.0.file(
        "lib/Boxes.mo",
        r##"
package Boxes
  model M
    parameter Real k[2] = {3, 4};
    Shapes.Box one = Shapes.Box(10);
    Shapes.Box pair[2] = {Shapes.Box(k[i]) for i in 1:2};
    Shapes.Box mixed[3] = {one, pair[2], Shapes.Box(20)};
    Real x[2] = Shapes.size(pair), y[3];
  equation
    for i in 1:3 loop
      y[i] = Shapes.size(mixed[i]) + time;
    end for;
  end M;
end Boxes;
"##,
    );
    let output = library.simulate("Boxes.M", &["--allow-external"], None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(library.0.read("r.csv").lines().last(), Some("1.0,3.0,4.0,11.0,5.0,21.0"));
}

/// The standard library describes `usertab`: a function of the user that has tables by name.
#[test]
fn tables_come_from_a_function_of_the_model() {
    let Some(library) = Library::new("included_usertab") else { return };
    library.0.file(
        "lib/Given.mo",
        r##"
package Given
  class Table extends ExternalObject;
    function constructor
      input String tableName; input String fileName; input Real table[:, :]; input Integer columns[:];
      input Integer smoothness; input Integer extrapolation;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, extrapolation, 0);
    end constructor;
    function destructor input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t); end destructor;
  end Table;
  function value input Table t; input Integer column; input Real u; output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u); end value;
  function brings input Real x; output Real y;
    external "C" y = brings(x) annotation(Include = "
double brings(double x) { return x; }
int usertab(char *name, int nipo, int dim[], int *colWise, double **table) {
  static double rows[] = {0, 10, 2, 30};
  static double columns[] = {0, 1, 2, 10, 20, 50};
  if (nipo != 1) return 1;
  *colWise = name[0] == 'c';
  dim[0] = *colWise ? 3 : 2;
  dim[1] = 2;
  *table = *colWise ? columns : rows;
  return name[0] != 'r' && name[0] != 'c';
}");
  end brings;
  model M
    Table r = Table("rows", "NoName", zeros(0, 2), {2}, 1, 1);
    Table c = Table("columns", "NoName", zeros(0, 2), {2}, 1, 1);
    Real x = value(r, 1, time), y = value(c, 1, time + 0.5), z = brings(time);
  end M;
  model Wrong
    Table t = Table("unknown", "NoName", zeros(0, 2), {2}, 1, 1);
    Real x = value(t, 1, time), z = brings(time);
  end Wrong;
  model Without
    Table t = Table("rows", "NoName", zeros(0, 2), {2}, 1, 1);
    Real x = value(t, 1, time);
  end Without;
end Given;
"##,
    );
    let output = library.simulate("Given.M", &["--allow-external"], None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // Straight lines between (0, 10) and (2, 30), and between (1, 20) and (2, 50).
    assert_eq!(library.0.read("r.csv").lines().last(), Some("1.0,20.0,35.0,1.0"));
    for (class, options, expected) in [
        ("Given.M", &[][..], "`usertab`, which runs only with `--allow-external`"),
        ("Given.Wrong", &["--allow-external"][..], "does not give the table `unknown`"),
        ("Given.Without", &["--allow-external"][..], "no function of the model includes C source"),
    ] {
        let output = library.simulate(class, options, None);
        assert_eq!(output.status.code(), Some(3), "{class}: {}", stderr(&output));
        assert!(stderr(&output).replace('\n', " ").contains(expected), "{class}: {}", stderr(&output));
    }
}

/// Specification 12.9.4: each function is a translation unit of its own, headers come from a directory that is named, and a size is a
/// `size_t` without an `#include`.
#[test]
fn each_text_stands_by_itself() {
    let Some(library) = Library::new("included_units") else { return };
    library.0.file("lib/Units/Headers/seven.h", "static double times(double x) { return 7 * x; }\n");
    library.0.file(
        "lib/Units/package.mo",
        r##"
package Units
  function one input Real x; output Real y;
    external "C" y = plus(x) annotation(Include = "static double plus(double x) { return x + 1; }"); end one;
  function two input Real x; output Real y;
    external "C" y = plus(x) annotation(Include = "static double plus(double x) { return x + 2; }"); end two;
  function seven input Real x; output Real y;
    external "C" y = times(x) annotation(Include = "#include \"seven.h\"", IncludeDirectory = "modelica://Units/Headers"); end seven;
  function total input Real x[:]; output Real y;
    external "C" y = total(x, size(x, 1)) annotation(Include = "
double total(double *x, size_t n) { double s = 0; size_t i; for (i = 0; i < n; i++) s += x[i]; return s; }"); end total;
  function turned input Real x[2, 3]; output Real y[3, 2];
    external "C" turn(x, size(x, 1), size(x, 2), y) annotation(Include = "
void turn(const double *x, size_t n, size_t m, double *y) {
  size_t i, j; for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[j*n + i] = x[i*m + j]; }"); end turned;
  record R Real x; Integer n; end R;
  function doubled input R r; output R q;
    external "C" doubled(r, q) annotation(Include = "
struct R { double x; int n; };
void doubled(struct R *r, struct R *q) { q->x = 2*r->x; q->n = 2*r->n; }"); end doubled;
  model M
    Real a = one(time), b = two(time), c = seven(time), d = total({time, 2, 3}), e[3, 2] = turned({{1, 2, 3}, {4, 5, 6}});
    R r = doubled(R(1.5, 4));
  end M;
end Units;
"##,
    );
    let output = library.simulate("Units.M", &["--allow-external"], None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let last = "1.0,2.0,3.0,7.0,6.0,1.0,4.0,2.0,5.0,3.0,6.0,3.0,8";
    assert_eq!(library.0.read("r.csv").lines().last(), Some(last));
}

/// Specification 12.9.7: what the initial system finds makes the object, once, and start values may ask the object.
#[test]
fn objects_are_made_of_what_the_initial_system_finds() {
    let Some(library) = Library::new("included_initially") else { return };
    library.0.file(
        "lib/Found.mo",
        r##"
package Found
  model Nonlinear parameter Real p(fixed = false, start = 1); parameter Shapes.Box box = Shapes.Box(p); Real s = Shapes.size(box);
  initial equation p^2 = 4; end Nonlinear;
  model SteadyState parameter Real p(fixed = false, start = 1); parameter Shapes.Box box = Shapes.Box(p); Real x(start = 2, fixed = true);
    Real s = Shapes.size(box);
  initial equation der(x) = 0; equation der(x) = p - x; end SteadyState;
  model StartValue parameter Real p(fixed = false); parameter Shapes.Box box = Shapes.Box(p);
    Real x(start = Shapes.size(box), fixed = true); discrete Real s(start = Shapes.size(box) + 1, fixed = true);
  initial equation p = 5; equation der(x) = 0; when time > 2 then s = 0; end when; end StartValue;
  model Chain parameter Real p(fixed = false); parameter Shapes.Box box = Shapes.Box(p); parameter Real q(fixed = false);
    parameter Shapes.Box other = Shapes.Box(q); Real x(start = Shapes.size(box), fixed = true); Real s = Shapes.size(other);
  initial equation p = 5; q = 2*x; equation der(x) = -x; end Chain;
  model Circle parameter Real p(fixed = false, start = 1); parameter Shapes.Box box = Shapes.Box(p); Real s = Shapes.size(box);
  initial equation p = Shapes.size(box) + 1; end Circle;
end Found;
"##,
    );
    let last = |class: &str, name: &str| -> f64 {
        let output = library.simulate(class, &["--allow-external"], None);
        assert_eq!(output.status.code(), Some(0), "{class}: {}", stderr(&output));
        let text = library.0.read("r.csv");
        let header = text.lines().next().unwrap().trim_matches('"').split("\",\"").collect::<Vec<_>>();
        let row: Vec<&str> = text.lines().last().unwrap().split(',').collect();
        row[header.iter().position(|h| *h == name).unwrap()].parse().unwrap()
    };
    let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    close(last("Found.Nonlinear", "s"), 2.0);
    close(last("Found.SteadyState", "s"), 2.0);
    close(last("Found.StartValue", "x"), 5.0);
    close(last("Found.StartValue", "s"), 6.0);
    close(last("Found.Chain", "s"), 10.0);
    let output = library.simulate("Found.Circle", &["--allow-external"], None);
    assert!(stderr(&output).contains("E0817"), "{}", stderr(&output));
}
