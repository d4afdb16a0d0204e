//! Functions of the user's own shared libraries, with a library that the C compiler of the machine makes.

mod common;

use std::process::{Command, Output};

use common::{Scratch, stderr, stdout};

/// One function for each way in which arguments travel.
const SOURCE: &str = r#"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double scale(double x, int n) { return x * n; }
int both(int a, int b) { return a && b; }
int next_level(int level) { return level + 1; }
const char *greet(const char *name) { static char text[80]; snprintf(text, 80, "hello %s", name); return text; }
int length(const char *text) { return (int)strlen(text); }
void split(double x, int *whole, double *rest, int *negative) {
  *whole = (int)x; *rest = x - *whole; *negative = x < 0;
}
double sum(const double *x, size_t n) { double s = 0; for (size_t i = 0; i < n; i++) s += x[i]; return s; }
void transpose(const double *a, size_t rows, size_t columns, double *b) {
  for (size_t i = 0; i < rows; i++) for (size_t j = 0; j < columns; j++) b[j*rows + i] = a[i*columns + j];
}
struct Point { int id; double x; double y; };
void turn(const struct Point *p, struct Point *q) { q->id = p->id + 1; q->x = -p->y; q->y = p->x; }
double many(double a, int b, double c, int d, double e, int f, double g, int h, double i, int j, double k, double l,
            double m, double n, double o, int p, int q, int r) {
  return a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i + 10*j + 11*k + 12*l + 13*m + 14*n + 15*o + 16*p + 17*q + 18*r;
}
/* FORTRAN: a name with an underscore, everything by address, matrices by columns. */
void firstcolumn_(const double *a, const int *m, const int *n, double *c) {
  (void)n; for (int i = 0; i < *m; i++) c[i] = a[i];
}
struct Counter { int count; char file[200]; };
void *counter_new(int start, const char *file) {
  struct Counter *c = malloc(sizeof *c); c->count = start; snprintf(c->file, 200, "%s", file); return c;
}
int counter_next(void *object) { return ++((struct Counter *)object)->count; }
void counter_free(void *object) {
  struct Counter *c = object; FILE *f = fopen(c->file, "a"); fprintf(f, "%d\n", c->count); fclose(f); free(c);
}
"#;

/// Declarations of all of them.
const FUNCTIONS: &str = r#"
  type Level = enumeration(low, middle, high);
  record Point Integer id; Real x; Real y; end Point;
  function scale input Real x; input Integer n; output Real y;
    external "C" y = scale(x, n) annotation(Library = "mine"); end scale;
  function both input Boolean a; input Boolean b; output Boolean c;
    external "C" c = both(a, b) annotation(Library = "mine"); end both;
  function nextLevel input Level level; output Level up;
    external "C" up = next_level(level) annotation(Library = "mine"); end nextLevel;
  function greet input String name; output String text;
    external "C" text = greet(name) annotation(Library = "mine"); end greet;
  function length input String text; output Integer n;
    external "C" n = length(text) annotation(Library = "mine"); end length;
  function split input Real x; output Integer whole; output Real rest; output Boolean negative;
    external "C" split(x, whole, rest, negative) annotation(Library = "mine"); end split;
  function sum_ input Real x[:]; output Real s;
    external "C" s = sum(x, size(x, 1)) annotation(Library = "mine"); end sum_;
  function sum input Real x[:]; output Real s;
    external annotation(Library = "mine"); end sum;
  function transposed input Real a[:, :]; output Real b[size(a, 2), size(a, 1)];
    external "C" transpose(a, size(a, 1), size(a, 2), b) annotation(Library = "mine"); end transposed;
  function turn input Point p; output Point q;
    external "C" turn(p, q) annotation(Library = "mine"); end turn;
  function many input Real x; output Real y;
    external "C" y = many(x, 1, x, 1, x, 1, x, 1, x, 1, x, x, x, x, x, 1, 1, 1) annotation(Library = "mine"); end many;
  function firstColumn input Real a[:, :]; output Real c[size(a, 1)];
    external "FORTRAN 77" firstColumn(a, size(a, 1), size(a, 2), c) annotation(Library = "mine"); end firstColumn;
  class Counter extends ExternalObject;
    function constructor input Integer start; input String file; output Counter counter;
      external "C" counter = counter_new(start, file) annotation(Library = "mine"); end constructor;
    function destructor input Counter counter;
      external "C" counter_free(counter) annotation(Library = "mine"); end destructor;
  end Counter;
  impure function next input Counter counter; output Integer n;
    external "C" n = counter_next(counter) annotation(Library = "mine"); end next;
"#;

/// A directory with the library where the specification looks for it first; `None` if this machine has no C compiler.
fn library(directory: &str, name: &str, source: &str) -> Option<Scratch> {
    let dir = Scratch::new(directory);
    dir.file("source.c", source);
    let place = dir.0.join("Resources/Library/linux64");
    std::fs::create_dir_all(&place).unwrap();
    let file = place.join(format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(file).arg(dir.0.join("source.c"));
    match compiler.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", stderr(&output));
            Some(dir)
        }
        Err(error) => {
            eprintln!("not tested, because there is no C compiler `cc`: {error}");
            None
        }
    }
}

fn simulate(dir: &Scratch, body: &str, options: &[&str]) -> Output {
    let path = dir.file("M.mo", format!("model M{FUNCTIONS}{body}end M;\n"));
    let mut program = Command::new(env!("CARGO_BIN_EXE_saltus"));
    program.args(["simulate", &path, "--quiet", "--stop-time", "1"]).args(options);
    program.current_dir(&dir.0).env_remove("MODELICAPATH").output().unwrap()
}

/// The last row of the results, by variable.
fn last(dir: &Scratch, body: &str, variables: &[&str], options: &[&str]) -> Vec<String> {
    let mut all = vec!["--allow-external", "--output", "r.csv"];
    variables.iter().for_each(|v| all.extend(["--keep", v]));
    all.extend(options);
    let output = simulate(dir, body, &all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = dir.read("r.csv");
    let header = text.lines().next().unwrap().to_owned();
    let row = text.lines().last().unwrap().to_owned();
    let columns: Vec<&str> = header.trim_matches('"').split("\",\"").collect();
    let cell = |name: &&str| {
        let column = columns.iter().position(|c| c == name);
        row.split(',').nth(column.unwrap_or_else(|| panic!("{name} in {header}"))).unwrap().to_owned()
    };
    variables.iter().map(cell).collect()
}

#[test]
fn scalars_arrays_and_records_travel_both_ways() {
    let Some(dir) = library("external_types", "mine", SOURCE) else { return };
    let body = "
  Real a = scale(time + 1, 3);
  Boolean b = both(time > 0.5, time > 0.75);
  Level up = nextLevel(if time > 0.5 then Level.middle else Level.low);
  Integer n = length(\"äb\") + length(greet(\"you\"));
  Integer whole(start = 0, fixed = true); discrete Real rest(start = 0, fixed = true);
  Boolean negative(start = false, fixed = true);
  Real s = sum_({time, 2, 3});
  Real s2 = sum({time, 4});
  Real t[3, 2] = transposed({{1, 2, 3}, {4, 5, 6*time}});
  Point q = turn(Point(1, 2, 3*time));
  Real y = many(time);
  Real c[2] = firstColumn({{time, 2}, {3, 4}});
equation
  when time > 0.5 then
    (whole, rest, negative) = split(-2.5);
  end when;
";
    // At time 1: 2*3; true and true; the level after middle; 3 bytes and the 9 of `hello you`.
    let expected = [
        ("a", "6"),
        ("b", "1"),
        ("up", "3"),
        ("n", "12"),
        ("whole", "-2"),
        ("rest", "-0.5"),
        ("negative", "1"),
        ("s", "6"),
        ("s2", "5"),
        ("t[1,2]", "4"),
        ("t[3,2]", "6"),
        ("q.id", "2"),
        ("q.x", "-3"),
        ("q.y", "2"),
        // The weights of the Real arguments are 1+3+5+7+9+11+12+13+14+15 = 90, of the Integers 2+4+6+8+10+16+17+18 = 81.
        ("y", "171"),
        ("c[1]", "1"),
        ("c[2]", "3"),
    ];
    let names: Vec<&str> = expected.iter().map(|e| e.0).collect();
    for engine in ["interp", "jit"] {
        let found = last(&dir, body, &names, &["--engine", engine]);
        for ((name, expected), found) in expected.iter().zip(&found) {
            let number = |text: &str| match text {
                "true" => 1.0,
                "false" => 0.0,
                text => text.parse::<f64>().unwrap_or_else(|_| panic!("{name} = {text}")),
            };
            assert_eq!(number(found), number(expected), "{name} with {engine}");
        }
    }
}

#[test]
fn objects_live_from_constructor_to_destructor() {
    let Some(dir) = library("external_objects", "mine", SOURCE) else { return };
    let body = "
  parameter Counter first = Counter(10, \"log.txt\");
  parameter Counter second = Counter(10, \"log.txt\");
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
algorithm
  when sample(0.25, 0.25) then
    n := next(first);
  end when;
  when time > 0.6 then
    m := next(second);
  end when;
";
    // Four samples, one event; two objects although their arguments are the same.
    assert_eq!(last(&dir, body, &["n", "m"], &[]), ["14", "11"]);
    // Destroyed once each, the last one first.
    assert_eq!(dir.read("log.txt"), "11\n14\n");
}

#[test]
fn what_cannot_be_called_says_why() {
    let dir = Scratch::new("external_refused");
    let call = "  Real y = scale(time, 2);\n";
    let output = simulate(&dir, call, &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), ""));
    let wanted = "`M.scale` of the library `mine` is foreign code, which runs only with `--allow-external`";
    assert!(stderr(&output).contains(wanted), "{}", stderr(&output));
    // There is no library yet.
    let output = simulate(&dir, call, &["--allow-external"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("mine"), "{}", stderr(&output));
    // The library does not have the function.
    let Some(dir) = library("external_missing", "mine", SOURCE) else { return };
    let other = "
  function other input Real x; output Real y;
    external \"C\" y = no_such_function(x) annotation(Library = \"mine\"); end other;
  Real z = other(time);
";
    let output = simulate(&dir, other, &["--allow-external"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("there is no function `no_such_function` in "), "{}", stderr(&output));
}

#[test]
fn a_directory_can_be_named() {
    let Some(dir) = library("external_directory", "mine", SOURCE) else { return };
    std::fs::rename(dir.0.join("Resources/Library/linux64"), dir.0.join("elsewhere")).unwrap();
    let body = "
  function twice input Real x; output Real y;
    external \"C\" y = scale(x, 2) annotation(Library = \"mine\", LibraryDirectory = \"modelica://M/elsewhere\");
  end twice;
  Real z = twice(time);
";
    assert_eq!(last(&dir, body, &["z"], &[]), ["2.0"]);
}

/// Uses what the specification lets foreign code call.
const TELLING: &str = r#"
#include <stddef.h>
#include <string.h>
void ModelicaFormatError(const char *, ...);
void ModelicaFormatMessage(const char *, ...);
void ModelicaWarning(const char *);
char *ModelicaAllocateString(size_t);
double positive(double x) {
  if (x < 0) ModelicaFormatError("x is %g at %s, try %d", x, "the start", 3);
  return x;
}
const char *shout(const char *text) {
  size_t n = strlen(text);
  char *copy = ModelicaAllocateString(n + 1);
  memcpy(copy, text, n); copy[n] = '!';
  return copy;
}
int tell(int n, double x) {
  ModelicaFormatMessage("%d|%5.2f|%-4s|%s|%c|%%|%ld|%g|%g", n, x, "ab", "yz", 'q', 123456789012L, 0.5, 0.25);
  ModelicaWarning("careful");
  return n;
}
"#;

const TELLING_FUNCTIONS: &str = r#"
  function positive input Real x; output Real y;
    external "C" y = positive(x) annotation(Library = "telling"); end positive;
  function shout input String text; output String loud;
    external "C" loud = shout(text) annotation(Library = "telling"); end shout;
  impure function tell input Integer n; input Real x; output Integer m;
    external "C" m = tell(n, x) annotation(Library = "telling"); end tell;
  impure function print input String text; input String file = "";
    external "C" ModelicaInternal_print(text, file); end print;
"#;

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn foreign_code_gives_messages_and_errors() {
    let Some(dir) = library("external_telling", "telling", TELLING) else { return };
    let said = "
  Integer m(start = 0, fixed = true);
algorithm
  when time > 0.5 then
    m := tell(7, 2.5);
    print(shout(\"hello\"));
  end when;
";
    let output = simulate(&dir, &format!("{TELLING_FUNCTIONS}{said}"), &["--allow-external"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = "7| 2.50|ab  |yz|q|%|123456789012|0.5|0.25\nwarning: careful\nhello!\n";
    assert_eq!(stdout(&output), expected);
    // The error ends the call, and with it the simulation; the reason is the function's own.
    let body = format!("{TELLING_FUNCTIONS}  Real y = positive(1 - 2.5*time);\n");
    let output = simulate(&dir, &body, &["--allow-external", "--fixed-step", "1", "--solver", "euler"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains(" at the start, try 3"), "{}", stderr(&output));
}

/// The function counts one up from the last of three literals.
#[test]
fn an_ordinal_that_no_literal_has_is_an_error() {
    let Some(dir) = library("external_ordinal", "mine", SOURCE) else { return };
    for engine in ["interp", "jit"] {
        let body = "\n  Level up = nextLevel(if time > 0.5 then Level.high else Level.low);\n";
        let output = simulate(&dir, body, &["--allow-external", "--engine", engine]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let wanted = "it gave the value 4 for an enumeration with 3 literals";
        assert!(stderr(&output).contains(wanted), "{}", stderr(&output));
    }
}
