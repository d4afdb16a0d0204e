//! A function neither uses nor returns a variable without a value (specification 12.4.4). What is not certain while compiling is found where
//! the function runs: values at compile time, the graph while lowering, frames, machine code.

use saltus::Session;
use saltus::pipeline::{self, Engine, Options, Outcome, Stage};
use saltus_library::MemoryFiles;

fn run(text: &str, engine: Engine) -> Outcome {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(Some("M")).unwrap();
    let mut options = Options::until(Stage::Simulate);
    options.engine = engine;
    pipeline::run(&session, class, &options)
}

/// Models that call `f` with a value that is a constant, a parameter or known at run time only, where `f` is written out, called, or called by
/// a function that is called.
fn models(body: &str, declarations: &str, u: f64) -> Vec<(&'static str, String)> {
    let function = |loop_before: &str| {
        format!(
            "{declarations} function f input Real u; output Real y; protected Real w; Integer k; Real v[3]; R r; Integer zz;
algorithm {loop_before} {body} end f;
record R Real a; Real b; end R;"
        )
    };
    let written = function("");
    let called = function("zz := 0; while zz < 2 + u loop zz := zz + 1; end while;");
    let state = format!("Real s(start = {u}, fixed = true)");
    let still = "equation der(s) = 0;";
    let caller = "function g input Real u; output Real z; protected Integer j = 0; algorithm
  while j < 2 + u loop j := j + 1; end while; z := f(u); end g;";
    let model = |function: &str, rest: String| format!("model M {function} {rest} end M;");
    vec![
        ("constant", model(&written, format!("constant Real p = f({u}); Real x = p;"))),
        ("parameter", model(&written, format!("parameter Real q = {u}; parameter Real p = f(q); Real x = p;"))),
        ("written out", model(&written, format!("{state}; Real x = f(s); {still}"))),
        ("algorithm", model(&written, format!("{state}; Real x; {still} algorithm x := f(s);"))),
        (
            "when",
            model(&written, format!("{state}; discrete Real x; {still} when time > 0.5 then x = f(s); end when;")),
        ),
        ("called", model(&called, format!("{state}; Real x = f(s); {still}"))),
        ("by a called function", model(&format!("{written} {caller}"), format!("{state}; Real x = g(s); {still}"))),
        (
            "start",
            model(
                &written,
                format!("parameter Real q = {u}; Real x(start = f(q), fixed = true); equation der(x) = 0;"),
            ),
        ),
    ]
}

#[track_caller]
fn is_refused(body: &str, declarations: &str, u: f64, message: &str) {
    for (way, text) in models(body, declarations, u) {
        for engine in [Engine::Interpreter, Engine::Jit] {
            let outcome = run(&text, engine);
            let error = outcome.diagnostics.iter().find(|d| d.code.0.starts_with('E'));
            let error = error.unwrap_or_else(|| panic!("{way}: accepted: {text}"));
            assert!(error.message.contains(message), "{way}: {}", error.message);
        }
    }
}

#[track_caller]
fn gives(body: &str, declarations: &str, u: f64, expected: f64) {
    for (way, text) in models(body, declarations, u) {
        for engine in [Engine::Interpreter, Engine::Jit] {
            let outcome = run(&text, engine);
            let trajectory = outcome.trajectory.unwrap_or_else(|| panic!("{way}: {:?}", outcome.diagnostics));
            assert_eq!(trajectory.last("x"), Some(expected), "{way}: {text}");
        }
    }
}

const W: &str = "`w` is used in the function `M.f` before it has a value";
const Y: &str = "the function `M.f` returns before its output `y` has a value";

#[test]
fn a_branch_that_assigns_is_not_taken() {
    for body in ["if u > 1 then w := 2; end if; y := w;", "w := 2; if u > 1 then y := w; end if;"] {
        gives(body, "", 1.5, 2.0);
    }
    is_refused("if u > 1 then w := 2; end if; y := w;", "", 0.3, W);
    is_refused("if u > 1 then y := 2; end if;", "", 0.3, Y);
    is_refused("if u < 1 then return; end if; y := 2;", "", 0.3, Y);
    // Conditions that decide both alike.
    gives("if u > 1 then w := 2; end if; if u <= 1 then w := 3; end if; y := w;", "", 0.3, 3.0);
    gives(
        "k := if u > 1 then 1 else 0; if k == 1 then w := 2; end if; if k == 1 then y := w; else y := 7; end if;",
        "",
        0.3,
        7.0,
    );
    gives("if u < 1 then y := 1; else assert(false, \"too large\"); end if;", "", 0.3, 1.0);
}

#[test]
fn what_is_not_evaluated_needs_no_value() {
    gives("if u > 1 then w := 2; end if; y := if u > 1 then w else 5;", "", 0.3, 5.0);
    gives("y := 0; if u > 1 then w := 2; end if; if u > 1 and w > 1 then y := 4; end if;", "", 0.3, 0.0);
    // 1 + 2 + 3
    gives("if u > 1 then w := 2; end if; y := sum(if u > 1 then w*i else i for i in 1:3);", "", 0.3, 6.0);
    is_refused("if u > 1 then w := 2; end if; y := if u > 0.1 then w else 5;", "", 0.3, W);
    is_refused("if u > 1 then w := 2; end if; y := sum(if i > 2 then w*i else i for i in 1:3);", "", 0.3, W);
}

#[test]
fn loops_may_have_no_round_and_may_be_left() {
    gives("for i in 1:3 loop if u < i then y := i; break; end if; end for;", "", 0.3, 1.0);
    is_refused("for i in 1:3 loop if u < -i then y := i; break; end if; end for;", "", 0.3, Y);
    // 2 + 3
    gives("for i in 1:3 loop if i > 1 then y := y + i; else y := 0; end if; end for;", "", 0.3, 5.0);
    gives("for i in 1:integer(u) loop y := i; end for;", "", 2.5, 2.0);
    is_refused("for i in 1:integer(u) loop y := i; end for;", "", 0.3, Y);
    gives("k := 0; while k < u loop k := k + 1; y := k; end while;", "", 0.3, 1.0);
    is_refused("k := 0; while k < u - 1 loop k := k + 1; y := k; end while;", "", 0.3, Y);
}

#[test]
fn an_array_or_a_record_has_a_value_with_its_first_part() {
    gives("if u > 1 then v := {1, 2, 3}; end if; v[2] := 4; y := v[2];", "", 0.3, 4.0);
    gives("if u > 1 then r := R(1, 2); end if; r.a := 3; y := r.a;", "", 0.3, 3.0);
    gives("y := size(v, 1); v := {1, 2, 3};", "", 0.3, 3.0);
    is_refused("if u > 1 then r := R(1, 2); end if; y := r.a;", "", 0.3, "`r` is used");
}

/// Other tools take the elements as zero, and there are libraries with such functions.
#[test]
fn an_array_without_a_value_is_zero_and_told() {
    let body = "if u > 1 then v := {1, 2, 3}; end if; y := sum(v);";
    gives(body, "", 0.3, 0.0);
    for (way, text) in models(body, "", 0.3) {
        for engine in [Engine::Interpreter, Engine::Jit] {
            let told = run(&text, engine).diagnostics.iter().any(|d| {
                d.message
                    .contains("`v` is used in the function `M.f` before it has a value: its elements are taken as zero")
            });
            assert!(told, "{way}: {text}");
        }
    }
}

/// `h` adds the elements of an array that a loop over the elements of its input fills.
#[test]
fn an_array_without_elements_needs_no_value() {
    let sum = "function h input Real a[:]; output Real y; protected Real v[size(a, 1)]; algorithm
  for i in 1:size(a, 1) loop v[i] := 2*a[i]; end for; y := sum(v); end h;";
    gives("y := h(fill(u, 0)) + 1;", sum, 0.3, 1.0);
    // 2*(0.5 + 0.5)
    gives("y := h({u, u});", sum, 0.5, 2.0);
    // Specification 12.4.5: an array of open size is empty at first.
    let positive = "function h input Real a[:]; output Real y[:]; algorithm
  for i in 1:size(a, 1) loop if a[i] > 0 then y := cat(1, y, a[i:i]); end if; end for; end h;";
    gives("y := sum(h({1, -1, 2}));", positive, 0.3, 3.0);
    let longer =
        "function h input Real u; output Real y[:]; algorithm y := cat(1, y, {u}); y := cat(1, y, {2*u}); end h;";
    // 0.5 + 1
    gives("y := sum(h(u));", longer, 0.5, 1.5);
}

#[test]
fn initial_values_that_need_a_missing_one_are_missing_too() {
    // Nobody reads `e`.
    let unused =
        "function h input Real u; output Real y; protected Real w; Real e = 2*w; algorithm w := u; y := w; end h;";
    gives("y := h(u);", unused, 0.5, 0.5);
    let used =
        "function h input Real u; output Real y; protected Real w; Real e = 2*w; algorithm w := u; y := e; end h;";
    is_refused("y := h(u);", used, 0.5, "`e` is used in the function `M.h` before it has a value");
    let assigned =
        "function h input Real u; output Real y; protected Real w; Real e = 2*w; algorithm e := u; y := e; end h;";
    gives("y := h(u);", assigned, 0.5, 0.5);
}

#[test]
fn outputs_count_where_they_are_used() {
    for loop_before in ["", "while j < u + 2 loop j := j + 1; end while;"] {
        let two = format!(
            "function h input Real u; output Real a; output Real b; protected Integer j = 0; algorithm
  {loop_before} a := u; if u > 1 then b := 2; end if; end h;"
        );
        gives("y := h(u) + 1;", &two, 0.5, 1.5);
        gives("(, y) := h(u);", &two, 1.5, 2.0);
        let message = "the function `M.h` returns before its output `b` has a value";
        is_refused("(, y) := h(u);", &two, 0.5, message);
        is_refused("(y, w) := h(u);", &two, 0.5, message);
    }
}

/// What is said about `f` before anything runs, with the text at the place.
fn said(body: &str) -> Vec<(&'static str, String, String)> {
    let text = format!(
        "model M record R Real a; Real b; end R;
function f input Real u; output Real y; protected Real v[3]; R r; Real m[2, 2]; R q[2]; Integer k;
algorithm {body} end f;
Real x = f(time); end M;"
    );
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", &text);
    let class = session.class(Some("M")).unwrap();
    let outcome = pipeline::run(&session, class, &Options::until(Stage::Check));
    let about_values = outcome.diagnostics.iter().filter(|d| d.message.contains("value"));
    let place = |d: &saltus_base::Diagnostic| {
        let span = d.span.expect("a place");
        text[span.start as usize..span.end as usize].to_owned()
    };
    about_values.map(|d| (d.code.0, place(d), d.message.clone())).collect()
}

#[track_caller]
fn says(body: &str, code: &str, place: &str, message: &str) {
    let said = said(body);
    let [(c, p, m)] = said.as_slice() else { panic!("{body}: {said:?}") };
    assert_eq!((*c, p.as_str(), m.as_str()), (code, place, message), "{body}");
}

#[test]
fn a_field_has_a_value_of_its_own() {
    let used = "`r.b` is used in the function `M.f` before it has a value";
    says("r.a := u; y := r.a + r.b;", "E0417", "r.b", used);
    says(
        "q[1].a := u; y := q[1].b;",
        "W0418",
        "q[1].b",
        "`q[1].b` has no value where `q` is used in the function `M.f`",
    );
    let perhaps = "`r.b` may be used in the function `M.f` before it has a value";
    says("r.a := u; if u > 1 then r.b := 2; end if; y := r.b;", "W0417", "r.b", perhaps);
    for body in [
        "r.a := u; r.b := 1; y := r.a + r.b;",
        "r.a := u; if u > 1 then r.b := 1; else r := R(u, 2); end if; y := r.b;",
        "for i in 1:2 loop q[i].a := u; q[i].b := u; end for; y := q[2].b;",
        "q.a := {u, u}; y := q[2].a;",
    ] {
        assert_eq!(said(body), [], "{body}");
    }
}

#[test]
fn an_element_has_a_value_of_its_own() {
    says("v[2] := u; y := v[1];", "W0418", "v[1]", "`v[1]` has no value where `v` is used in the function `M.f`");
    let third = "`v[3]` has no value where `v` is used in the function `M.f`";
    says("for i in 1:2 loop v[i] := u; end for; y := sum(v);", "W0418", "v", third);
    says("v[1:2] := {u, u}; y := sum(v[2:3]);", "W0418", "v[2:3]", third);
    let perhaps = "`m[2, 2]` may have no value where `m` is used in the function `M.f`";
    says("m[1, :] := {u, u}; if u > 1 then m[2, 2] := 1; end if; y := m[2, 2];", "W0418", "m[2, 2]", perhaps);
}

#[test]
fn loops_that_fill_an_array_are_understood() {
    for body in [
        "for i in 1:3 loop v[i] := u; end for; y := sum(v);",
        "for i in 1:size(v, 1) loop v[i] := u; end for; y := sum(v);",
        "v[1] := u; for i in 2:3 loop v[i] := 2*v[i - 1]; end for; y := v[3];",
        "for i in 1:2 loop for j in 1:2 loop m[i, j] := u; end for; end for; y := sum(m);",
        "k := 0; while k < 3 loop k := k + 1; v[k] := u; end while; y := sum(v);",
        "v[2] := u; y := 0; for i in 1:3 loop if i == 2 then y := v[i]; end if; end for;",
        "v[{1, 2}] := {u, u}; v[end] := 1; y := sum(v);",
        "v[1:2] := {u, u}; v[3] := 1; y := sum(v);",
        "v[3] := u; for i in 1:2 loop v[3 - i] := v[4 - i]; end for; y := sum(v);",
    ] {
        assert_eq!(said(body), [], "{body}");
    }
}
