//! An expression means the same in every way of execution: folded, evaluated at compile time as a function, executed while
//! lowering, written out in the equations, called as a procedure that is interpreted, and called as machine code.
//!
//! Every expected number follows from the definition in the specification, written out beside it.

use saltus::Session;
use saltus::pipeline::{self, Engine, Experiment, Options, Output, Stage};
use saltus_sim::Trajectory;

struct Case {
    expression: &'static str,
    u: f64,
    v: f64,
    expected: f64,
}

const fn case(expression: &'static str, u: f64, v: f64, expected: f64) -> Case {
    Case { expression, u, v, expected }
}

fn cases() -> Vec<Case> {
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let c = cross([0.1, 0.7, 1.0], [2.0, 0.1, 0.7]);
    vec![
        // 3.7.2: mod(x, y) = x - floor(x/y)*y, rem(x, y) = x - div(x, y)*y, div truncates.
        case("mod(u, v)", -7.0, 3.0, 2.0),
        case("mod(u, v)", 7.0, -3.0, -2.0),
        case("mod(u, v)", -3.0, 1.4, -3.0 + 3.0 * 1.4),
        case("rem(u, v)", -7.0, 3.0, -1.0),
        case("rem(u, v)", -3.0, 1.4, -3.0 + 2.0 * 1.4),
        case("div(u, v)", -7.0, 3.0, -2.0),
        case("div(u, v)", 7.5, 2.0, 3.0),
        case("mod(integer(u), integer(v))", -7.0, 3.0, 2.0),
        case("rem(integer(u), integer(v))", -7.0, 3.0, -1.0),
        case("div(integer(u), integer(v))", -7.0, 3.0, -2.0),
        case("integer(u)", -1.5, 0.0, -2.0),
        case("ceil(u) + 10*floor(u)", -1.5, 0.0, -21.0),
        case("sign(u) + 10*abs(u)", -0.5, 0.0, 4.0),
        // A square is the product, to the last bit.
        case("u^v", 1.1, 2.0, 1.1 * 1.1),
        case("u^2 + 0*v", 0.7, 1.0, 0.7 * 0.7),
        case("u^v", -2.0, 3.0, -8.0),
        case("u^v", 2.0, -1.0, 0.5),
        case("min(u, v) + 100*max(u, v)", 3.0, -2.0, 298.0),
        case("min({u, v, 1}) + 100*max({u, v, 1})", 3.0, -2.0, 298.0),
        case("semiLinear(u, 2, 3)", -1.5, 0.0, -4.5),
        case("atan2(u, v)", 1.0, -1.0, 0.75 * std::f64::consts::PI),
        // 10.3.4.1: over no elements.
        case("sum(fill(u, 0))", 1.0, 0.0, 0.0),
        case("product(fill(u, 0))", 2.0, 0.0, 1.0),
        case("max(fill(u, 0))", 1.0, 0.0, -f64::MAX),
        case("min(i*u for i in 1:0)", 1.0, 0.0, f64::MAX),
        case("sum(i*u for i in 1:0) + v", 1.0, 2.0, 2.0),
        case("max({i for i in 1:0}) + 0*u", 1.0, 2.0, i64::MIN as f64),
        case("sum(i^2*u for i in 1:4)", 0.5, 0.0, 15.0),
        case("product(i*u for i in 1:4)", 0.5, 0.0, 1.5),
        case("sum({i*u, v} for i in 1:3)*{1, 100}", 0.5, 2.0, 603.0),
        case("max(abs(i - u) for i in 1:5)", 1.5, 0.0, 3.5),
        // 10.4.3: 0.3/0.1 is meant to be 3.
        case("sum(0:0.1:0.3)*u", 1.0, 0.0, 0.0 + 0.1 + 0.2 + 0.1 * 3.0),
        case("sum(5:-2:0)*u", 1.0, 0.0, 9.0),
        // 10.3.3: the last point is the end.
        case("linspace(u, v, 4)*{0, 0, 0, 1}", 0.0, 0.3, 0.3),
        case("linspace(u, v, 5)*{1, 10, 100, 1000, 10000}", 1.0, 3.0, 1.0 + 15.0 + 200.0 + 2500.0 + 30000.0),
        // 10.3.5
        case("cross({u, v, 1}, {2, u, v})*{1, 0, 0}", 0.1, 0.7, c[0]),
        case("cross({u, v, 1}, {2, u, v})*{0, 1, 0}", 0.1, 0.7, c[1]),
        case("cross({u, v, 1}, {2, u, v})*{0, 0, 1}", 0.1, 0.7, c[2]),
        case("sum(cross({1, 2, 3}, {3, 1, 2}))*u", 1.0, 0.0, (4 - 3 + 9 - 2 + 1 - 6) as f64),
        case("skew({u, v, 1})*{1, 10, 100}*{1, 0, 0}", 2.0, 3.0, -10.0 + 300.0),
        case("outerProduct({u, v}, {v, u})*{1, 10}*{1, 100}", 2.0, 3.0, (6.0 + 40.0) + 100.0 * (9.0 + 60.0)),
        case("sum(symmetric([u, v; 1, 2]))", 2.0, 3.0, 10.0),
        // [2, 1; 3, 2]³ = [26, 15; 45, 26]
        case("sum([u, 1; v, 2]^3)", 2.0, 3.0, 112.0),
        case("sum([u, 1; v, 2]*{v, u})", 2.0, 3.0, 8.0 + 13.0),
        case("size([u, 1; v, 2; 1, 1], 1) + 10*size({u, v}, 1)", 2.0, 3.0, 23.0),
        case("sum(cat(1, {u}, {v, 1}, zeros(2)))", 2.0, 3.0, 6.0),
        // 3.3: the right operand only where the left one does not decide.
        case("if u > 0 and sqrt(abs(u)) > 1 then 1 else 2", -4.0, 0.0, 2.0),
        case("if u < v or u > 10 then u else v", 1.0, 2.0, 1.0),
        case("if u < v then 1 elseif u < 2*v then 2 else 3", 1.5, 1.0, 2.0),
    ]
}

/// `u` and `v` replaced by something else.
fn with(expression: &str, u: &str, v: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut word = String::new();
    for c in expression.chars().chain([' ']) {
        if is_part(c) {
            word.push(c);
            continue;
        }
        text.push_str(match word.as_str() {
            "u" => u,
            "v" => v,
            other => other,
        });
        word.clear();
        text.push(c);
    }
    text
}

fn model(case: &Case) -> String {
    let Case { expression, u, v, .. } = case;
    let (constant, moving) = (with(expression, "cu", "cv"), with(expression, "(pu + w)", "(pv + w)"));
    format!(
        "package P
          function f input Real u; input Real v; output Real y; algorithm y := {expression}; end f;
          // Its loop keeps it a call, and `t` makes every call another one.
          function g
            input Real u; input Real v; input Integer n; input Real t; output Real y;
          protected
            Integer k = 0;
          algorithm
            while k < n loop
              y := {expression};
              k := k + 1;
            end while;
          end g;
          model M
            constant Real cu = {u:?};
            constant Real cv = {v:?};
            parameter Real pu = {u:?};
            parameter Real pv = {v:?};
            parameter Integer n = 1;
            Real w(start = 0, fixed = true);
            constant Real folded = {constant};
            parameter Real evaluated = g(cu, cv, 1, 0) annotation(Evaluate = true);
            Real written;
            Real executed;
            Real called;
          equation
            der(w) = 0;
            written = {moving};
            executed = f(pu + w, pv + w);
            called = g(pu + w, pv + w, n, time);
          end M;
        end P;"
    )
}

fn run(text: &str, engine: Engine) -> Trajectory {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(Some("P.M")).expect("the model");
    let mut options = Options::until(Stage::Simulate);
    options.engine = engine;
    // More points than it takes for a procedure to become machine code.
    options.experiment =
        Experiment { stop_time: Some(1.0), output: Some(Output::Intervals(400)), ..Experiment::default() };
    let outcome = pipeline::run(&session, class, &options);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?}\n{text}");
    outcome.trajectory.expect("a trajectory")
}

fn value(trajectory: &Trajectory, name: &str) -> f64 {
    let parameter = trajectory.parameters.iter().find(|(n, _)| n == name).map(|(_, x)| *x);
    trajectory.last(name).or(parameter).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn expressions_mean_the_same_in_every_way_of_execution() {
    let mut wrong = Vec::new();
    for case in cases() {
        let text = model(&case);
        for engine in [Engine::Interpreter, Engine::Jit] {
            let trajectory = run(&text, engine);
            for way in ["folded", "evaluated", "written", "executed", "called"] {
                let found = value(&trajectory, way);
                if found != case.expected {
                    let Case { expression, u, v, expected } = &case;
                    wrong.push(format!("{way} ({engine:?}): {expression} at {u}, {v} is {found:?}, not {expected:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Smooth expressions of `u`, and an interval of `u` without kinks.
const SMOOTH: [&str; 9] = [
    "u^v",
    "atan2(u, v)",
    "sqrt(u)*exp(-u/v)",
    "semiLinear(u, 2, 3)",
    "linspace(u, v, 4)*{1, 2, 3, 4}",
    "cross({u, v, 1}, {2, u^2, v})*{1, 10, 100}",
    "sum([u, 1; v, 2]^3)",
    "sum(sin(i*u) for i in 1:3)",
    "product(u + i for i in 1:3)",
];

#[test]
fn derivatives_are_the_limits_of_differences() {
    for expression in SMOOTH {
        let text = format!(
            "package P
              function f input Real u; input Real v; output Real y; algorithm y := {expression}; end f;
              model M
                constant Real h = 1e-4;
                parameter Real v = 1.7;
                Real u = 1 + time;
                Real y = f(u, v);
                Real slope = der(y);
                Real written = {expression};
                Real written_slope = der(written);
                // Of order h⁴.
                Real difference = (8*(f(u + h, v) - f(u - h, v)) - (f(u + 2*h, v) - f(u - 2*h, v)))/(12*h);
              end M;
            end P;"
        );
        for engine in [Engine::Interpreter, Engine::Jit] {
            let trajectory = run(&text, engine);
            let difference = value(&trajectory, "difference");
            for way in ["slope", "written_slope"] {
                let error = (value(&trajectory, way) - difference).abs() / difference.abs().max(1.0);
                assert!(error < 1e-9, "{way} of {expression}: {} instead of {difference}", value(&trajectory, way));
            }
        }
    }
}
