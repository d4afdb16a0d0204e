//! Arrays in calls and assignments of functions have the sizes of their declarations (specification 10.6.1, 11.2.1, 12.4): whoever executes
//! the function – values at compile time, the graph while lowering, frames, machine code – reports what does not.

use saltus::Session;
use saltus::pipeline::{self, Engine, Options, Outcome, Stage};
use saltus_library::MemoryFiles;

const PRODUCT: &str = "function product_of input Real a[:]; input Real b[size(a, 1)]; output Real y; algorithm y := 0;
    for i in 1:size(a, 1) loop y := y + a[i]*b[i]; end for; end product_of;";

fn run(text: &str, stage: Stage, engine: Engine) -> Outcome {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(Some("M")).unwrap();
    let mut options = Options::until(stage);
    options.engine = engine;
    pipeline::run(&session, class, &options)
}

/// Code, marked text and message of the first error.
fn refused(text: &str, stage: Stage) -> (&'static str, String, String) {
    let first = |engine| {
        let outcome = run(text, stage, engine);
        let error = outcome.diagnostics.iter().find(|d| d.code.0.starts_with('E'));
        let error = error.unwrap_or_else(|| panic!("accepted: {text}")).clone();
        let marked = error.span.and_then(|s| text.get(s.start as usize..s.end as usize)).unwrap_or("");
        (error.code.0, marked.to_owned(), error.message.clone())
    };
    let found = first(Engine::Jit);
    assert_eq!(found, first(Engine::Interpreter), "{text}");
    found
}

#[track_caller]
fn is_refused(text: &str, stage: Stage, code: &str, marked: &str, message: &str) {
    let (found, at, said) = refused(text, stage);
    assert_eq!((found, at.as_str()), (code, marked), "{said}");
    assert!(said.contains(message), "{said}");
}

#[track_caller]
fn value(text: &str, name: &str) -> f64 {
    let values = [Engine::Interpreter, Engine::Jit].map(|engine| {
        let outcome = run(text, Stage::Simulate, engine);
        let trajectory = outcome.trajectory.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics));
        trajectory.last(name).unwrap_or_else(|| panic!("no {name}"))
    });
    assert_eq!(values[0], values[1]);
    values[0]
}

#[test]
fn arguments_have_the_sizes_of_other_arguments() {
    let model = |call: &str| format!("model M {PRODUCT} Real x = {call}; end M;");
    // 1*2 + 1*3
    assert_eq!(value(&model("product_of({time, 1}, {2, 3})"), "x"), 5.0);
    let message = "must be Real[2], but it is Real[3]";
    is_refused(&model("product_of({time, 1}, {1, 2, time})"), Stage::Compile, "E0328", "{1, 2, time}", message);
    is_refused(&model("product_of({1, 2}, {1, 2, 3})"), Stage::Compile, "E0328", "{1, 2, 3}", message);
}

/// Inside of `caller` the sizes are known by its call only.
fn caller(interface: &str, body: &str, arguments: &str) -> String {
    format!(
        "model M {PRODUCT} function caller {interface} algorithm {body} end caller; Real x = caller({arguments}); end M;"
    )
}

#[test]
fn sizes_that_the_call_knows_are_checked_while_compiling() {
    let in_call = |body: &str| caller("input Real u[:]; output Real y;", body, "{time, 1, 2}");
    let message = "dimension 1 of `b` has size 3, its declaration says 2";
    is_refused(&in_call("y := product_of({1.0, 2}, u);"), Stage::Compile, "E0610", "product_of({1.0, 2}, u)", message);
    assert_eq!(value(&in_call("y := product_of({1.0, 2, 3}, u);"), "x"), 9.0);
    let local =
        |body: &str| caller("input Real u[:]; output Real y; protected Real w[size(u, 1)];", body, "{time, 1, 2}");
    let message = "dimension 1 of `w` has size 2, its declaration says 3";
    is_refused(&local("w := {u[1], 2}; y := sum(w);"), Stage::Compile, "E0610", "w", message);
    assert_eq!(value(&local("w := 2*u; y := sum(w);"), "x"), 8.0);
    let fixed = |u: &str| caller("input Real u[:]; output Real y; protected Real w[2];", "w := u; y := sum(w);", u);
    is_refused(
        &fixed("{time, 1, 2}"),
        Stage::Compile,
        "E0610",
        "w",
        "dimension 1 of `w` has size 3, its declaration says 2",
    );
    assert_eq!(value(&fixed("{time, 1}"), "x"), 2.0);
}

#[test]
fn a_part_is_assigned_as_many_elements_as_it_has() {
    let slice = |u: &str| {
        caller("input Real u[:]; output Real y; protected Real w[3] = zeros(3);", "w[1:2] := u; y := sum(w);", u)
    };
    is_refused(&slice("{time, 1, 2}"), Stage::Compile, "E0610", "w[1:2]", "3");
    assert_eq!(value(&slice("{time, 1}"), "x"), 2.0);
    let row = |body: &str| {
        caller(
            "input Real u[:, :]; output Real y; protected Real w[size(u, 1), size(u, 2)];",
            body,
            "{{time, 1, 2}, {3, 4, 5}}",
        )
    };
    is_refused(
        &row("w := transpose(u); y := sum(w);"),
        Stage::Compile,
        "E0610",
        "w",
        "has size 3, its declaration says 2",
    );
    is_refused(&row("w := u; w[:, 1] := u[1, :]; y := sum(w);"), Stage::Compile, "E0610", "w[:, 1]", "");
    // {{1, 1, 2}, {3, 4, 5}} with the first row in place of the second
    assert_eq!(value(&row("w := u; w[2, :] := u[1, :]; y := sum(w);"), "x"), 8.0);
}

/// A loop whose end depends on values is called as a frame, and as machine code where it is called often.
#[test]
fn what_is_called_at_run_time_is_checked_there() {
    let text = |u: &str| {
        let body = "y := 0; while k < u[1] + 2.5 loop y := y + product_of({1.0, 2}, u); k := k + 1; end while;";
        caller("input Real u[:]; output Real y; protected Integer k = 0;", body, u)
    };
    // four rounds of 1*1 + 2*1
    assert_eq!(value(&text("{time, 1}"), "x"), 12.0);
    let message = "dimension 1 of `b` has size 3, its declaration says 2";
    is_refused(&text("{time, 1, 2}"), Stage::Simulate, "E0901", "product_of({1.0, 2}, u)", message);
}

/// Other tools take an array as it is, whatever an Integer argument says about its size: that is a warning.
#[test]
fn a_size_that_an_argument_states_is_told() {
    let functions = "function f input Integer n; input Real u[n]; output Real y; algorithm y := sum(u); end f;";
    let warned = |text: &str| {
        let outcome = run(text, Stage::Simulate, Engine::Jit);
        assert!(outcome.trajectory.is_some(), "{:?}", outcome.diagnostics);
        let told = outcome.diagnostics.iter().filter(|d| !d.code.0.starts_with('H'));
        told.map(|d| (d.code.0, d.message.clone())).collect::<Vec<_>>()
    };
    let constant = format!("model M {functions} Real x = f(2, {{time, 1, 1}}); end M;");
    let message = "dimension 1 of `u` has size 3, the argument that its declaration names says 2";
    assert_eq!(warned(&constant), [("W0610", message.to_owned())]);
    let at_start = format!("model M {functions} parameter Real x = f(2, {{1, 1, 1}}); end M;");
    assert_eq!(warned(&at_start), [("W0610", message.to_owned())]);
    let varying = |n: u32| {
        format!("model M {functions} Integer n = if time > 0.5 then {n} else 3; Real x = f(n, {{time, 1, 1}}); end M;")
    };
    assert_eq!(warned(&varying(3)), []);
    let told = warned(&varying(2));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.contains("dimension 1 of `u` has size 3, its declaration says 2"), "{told:?}");
}

#[test]
fn sizes_are_those_of_the_entry() {
    let body = "n := 1; w := 2*u; y := sum(w);";
    let text =
        caller("input Real u[:]; output Real y; protected Integer n = size(u, 1); Real w[n];", body, "{time, 1, 2}");
    assert_eq!(value(&text, "x"), 8.0);
}

#[test]
fn what_is_not_reached_is_not_refused() {
    let body = |condition: &str| format!("if {condition} then w := u; else w := {{7, 8}}; end if; y := sum(w);");
    let text = |condition: &str| {
        caller("input Real u[:]; output Real y; protected Real w[2];", &body(condition), "{time, 1, 2}")
    };
    assert_eq!(value(&text("size(u, 1) == 2"), "x"), 15.0);
    assert_eq!(value(&text("u[1] > 5"), "x"), 15.0);
    is_refused(
        &text("u[1] > 0.5"),
        Stage::Simulate,
        "E0901",
        "w",
        "dimension 1 of `w` has size 3, its declaration says 2",
    );
}

#[test]
fn vectorised_calls_and_fields_of_records() {
    let interface = "input Real a[:]; input Real b[:]; output Real y; protected function s input Real p; input Real q; output Real y; algorithm y := p + q; end s;";
    let vectorised = |arguments: &str| caller(interface, "y := sum(s(a, b));", arguments);
    assert_eq!(value(&vectorised("{time, 1}, {1, 2}"), "x"), 5.0);
    for arguments in ["{time, 1}, {1, 2, 3}", "{time, 1, 2}, {1, 2}"] {
        let (_, _, said) = refused(&vectorised(arguments), Stage::Simulate);
        assert!(said.contains("size"), "{said}");
    }
    let record = |body: &str, u: &str| {
        let interface = "input Real u[:]; output Real y; protected record R Real x[2]; Real z; end R; R r;";
        caller(interface, &format!("{body} y := sum(r.x);"), u)
    };
    for body in ["r.x := u;", "r := R(u, 1);"] {
        assert_eq!(value(&record(body, "{time, 1}"), "x"), 2.0);
        let (code, _, said) = refused(&record(body, "{time, 1, 2}"), Stage::Compile);
        assert_eq!(code, "E0610");
        assert!(said.contains("x` has size 3, its declaration says 2"), "{said}");
    }
}
