//! `inStream`, `actualStream` and the equations of outside stream variables (specification chapter 15).

mod common;

use std::collections::BTreeMap;

use common::Case;
use saltus_flat::{BinaryOp, Builtin, Expr, ExprKind, UnaryOp, VarId};

/// Declares stream connectors with a flow `m` and a stream `h`.
fn ports(names: &[&str], rest: &str) -> Case {
    Case::new(&(declarations(names) + rest))
}

fn declarations(names: &[&str]) -> String {
    names.iter().map(|n| format!("flow Real {n}.m\nstream Real {n}.h carrier={n}.m\n")).collect()
}

#[test]
fn unconnected_is_its_own_value() {
    let case = ports(&["a"], "");
    assert_eq!(case.in_stream("a.h"), "a.h");
    assert_eq!(case.equations(), "a.m = 0.0;\n");
}

#[test]
fn one_to_one_is_the_value_of_the_other() {
    // N = 2, M = 0
    let case = ports(&["a", "b"], "connect a.m b.m\nconnect a.h b.h");
    assert_eq!(case.in_stream("a.h"), "b.h");
    assert_eq!(case.in_stream("b.h"), "a.h");
    assert_eq!(case.equations(), "a.m + b.m = 0.0;\n");
}

#[test]
fn a_component_behind_an_outside_connector() {
    // N = 1, M = 1: c contains a; outside, c is connected to b.
    let case = ports(&["a", "b", "c"], "connect ^c.h a.h\nconnect c.h b.h");
    assert_eq!(case.in_stream("a.h"), "b.h");
    assert_eq!(case.in_stream("c.h"), "b.h");
    assert_eq!(case.in_stream("b.h"), "c.h");
    assert_eq!(case.equation_text(), "c.h = a.h;\na.m = 0.0;\nb.m = 0.0;\nc.m = 0.0;\n");
}

#[test]
fn two_outside_connectors_pass_through() {
    // N = 0, M = 2; the second is connected to s on the level above.
    let case = ports(&["c", "d", "s"], "connect ^c.h ^d.h\nconnect d.h s.h");
    assert!(case.equation_text().starts_with("c.h = s.h;\nd.h = c.h;\n"), "{}", case.equation_text());
}

#[test]
fn three_components_mix() {
    let case = ports(&["a", "b", "c"], "connect a.h b.h\nconnect b.h c.h");
    assert_eq!(
        case.in_stream("a.h"),
        "(max(-b.m, 1e-8) * b.h + max(-c.m, 1e-8) * c.h) / (max(-b.m, 1e-8) + max(-c.m, 1e-8))"
    );
    assert_eq!(
        case.in_stream("b.h"),
        "(max(-a.m, 1e-8) * a.h + max(-c.m, 1e-8) * c.h) / (max(-a.m, 1e-8) + max(-c.m, 1e-8))"
    );
}

#[test]
fn the_smallest_nominal_flow_sets_the_regularisation() {
    let case = Case::new(
        "
flow Real a.m nominal=1e-6
stream Real a.h carrier=a.m
flow Real b.m nominal=100
stream Real b.h carrier=b.m
flow Real c.m nominal=0.5
stream Real c.h carrier=c.m
connect a.h b.h
connect a.h c.h
",
    );
    // 1e-8 · min(100, 0.5) for a, which is not part of its own mixture.
    assert!(case.in_stream("a.h").contains("max(-b.m, 5e-9)"), "{}", case.in_stream("a.h"));
}

#[test]
fn outside_connectors_take_part_in_the_mixture() {
    // N = 2, M = 1; c is connected to s above.
    let case = ports(&["a", "b", "c", "s"], "connect ^c.h a.h\nconnect a.h b.h\nconnect c.h s.h");
    assert_eq!(
        case.in_stream("a.h"),
        "(max(-b.m, 1e-8) * b.h + max(c.m, 1e-8) * s.h) / (max(-b.m, 1e-8) + max(c.m, 1e-8))"
    );
    let equations = case.equation_text();
    assert_eq!(
        equations.lines().next(),
        Some("c.h = (max(-a.m, 1e-8) * a.h + max(-b.m, 1e-8) * b.h) / (max(-a.m, 1e-8) + max(-b.m, 1e-8));")
    );
}

#[test]
fn members_that_never_flow_out_take_no_part() {
    let limited = "
flow Real a.m
stream Real a.h carrier=a.m
flow Real b.m
stream Real b.h carrier=b.m
flow Real sensor.m min=0
stream Real sensor.h carrier=sensor.m
flow Real c.m max=0
stream Real c.h carrier=c.m
";
    let case = Case::new(&format!("{limited}connect a.h b.h\nconnect a.h sensor.h\nconnect a.h ^c.h"));
    // Only b is left for a; a and b are left for the sensor and for c.
    assert_eq!(case.in_stream("a.h"), "b.h");
    let both = "(max(-a.m, 1e-8) * a.h + max(-b.m, 1e-8) * b.h) / (max(-a.m, 1e-8) + max(-b.m, 1e-8))";
    assert_eq!(case.in_stream("sensor.h"), both);
    assert_eq!(case.equation_text().lines().next(), Some(format!("c.h = {both};").as_str()));
}

#[test]
fn where_nothing_can_flow_in() {
    // All others only take in: an inside stream keeps its own value, an outside stream is zero.
    let case = Case::new(
        "
flow Real a.m min=0
stream Real[2] a.X carrier=a.m
flow Real b.m min=0
stream Real[2] b.X carrier=b.m
flow Real c.m max=-0.0
stream Real[2] c.X carrier=c.m
connect a.X b.X
connect a.X ^c.X
",
    );
    assert_eq!(case.in_stream("a.X"), "a.X");
    assert_eq!(case.equation_text().lines().next(), Some("c.X = fill(0.0, 2);"));
}

#[test]
fn arrays_mix_as_a_whole_and_by_element() {
    let text: String =
        ["a", "b", "c"].map(|n| format!("flow Real {n}.m\nstream Real[2] {n}.X carrier={n}.m\n")).concat();
    let case = Case::new(&(text + "connect a.X b.X\nconnect a.X c.X"));
    assert_eq!(
        case.in_stream("a.X"),
        "(max(-b.m, 1e-8) * b.X + max(-c.m, 1e-8) * c.X) / (max(-b.m, 1e-8) + max(-c.m, 1e-8))"
    );
    assert_eq!(
        case.in_stream("a.X[2]"),
        "(max(-b.m, 1e-8) * b.X[2] + max(-c.m, 1e-8) * c.X[2]) / (max(-b.m, 1e-8) + max(-c.m, 1e-8))"
    );
}

#[test]
fn an_array_connected_by_elements() {
    let case = Case::new(
        "
flow Real a.m
stream Real[3] a.X carrier=a.m
flow Real b.m
stream Real b.h carrier=b.m
connect a.X[2] b.h
",
    );
    assert_eq!(case.in_stream("a.X"), "{a.X[1], b.h, a.X[3]}");
    assert_eq!(case.in_stream("a.X[2]"), "b.h");
    assert_eq!(case.in_stream("a.X[3]"), "a.X[3]");
    assert_eq!(case.in_stream("b.h"), "a.X[2]");
}

#[test]
fn a_split_level_above_a_whole_one() {
    // a is inside c as a whole; outside, only c.X[1] is connected.
    let case = Case::new(
        "
flow Real a.m
stream Real[2] a.X carrier=a.m
flow Real c.m
stream Real[2] c.X carrier=c.m
flow Real s.m
stream Real s.h carrier=s.m
connect ^c.X a.X
connect c.X[1] s.h
",
    );
    assert_eq!(case.in_stream("a.X"), "{s.h, c.X[2]}");
    assert_eq!(case.in_stream("a.X[1]"), "s.h");
    assert_eq!(case.equation_text().lines().next(), Some("c.X = a.X;"));
}

#[test]
fn actual_stream_depends_on_the_direction() {
    let case = ports(&["a", "b"], "connect a.h b.h");
    assert_eq!(case.actual_stream("a.h"), "if a.m > 0.0 then b.h else a.h");
}

#[test]
fn actual_stream_of_one_way_flow_needs_no_choice() {
    let case = Case::new(
        "
flow Real a.m max=0
stream Real a.h carrier=a.m
flow Real b.m min=0.1
stream Real b.h carrier=b.m
connect a.h b.h
",
    );
    assert_eq!(case.actual_stream("a.h"), "a.h");
    assert_eq!(case.actual_stream("b.h"), "a.h");
}

#[test]
fn a_variable_that_is_no_stream_stays_itself() {
    let case = Case::new("Real x\nReal y\nconnect x y");
    assert_eq!(case.in_stream("x"), "x");
    assert_eq!(case.actual_stream("x"), "x");
}

#[test]
fn mixtures_that_grow_exponentially_are_refused() {
    // On each level the ports a and b of the level below are joined with both connectors to the level above, which are
    // a and b there: the value at the bottom would contain 2^40 terms.
    const LEVELS: usize = 40;
    let names: Vec<String> = (0..=LEVELS).flat_map(|i| [format!("a{i}"), format!("b{i}")]).collect();
    let mut text = declarations(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for i in 0..LEVELS {
        let up = i + 1;
        text += &format!("connect a{i}.h b{i}.h\nconnect a{i}.h ^a{up}.h\nconnect a{i}.h ^b{up}.h\n");
    }
    let case = Case::new(&text);
    assert!(case.messages().contains("E0514"), "{}", case.messages());
    // Near the top the values are small, and correct: nothing is connected above.
    let top = LEVELS - 1;
    assert_eq!(
        case.in_stream(&format!("a{top}.h")),
        format!(
            "(max(-b{top}.m, 1e-8) * b{top}.h + max(a40.m, 1e-8) * a40.h + max(b40.m, 1e-8) * b40.h) \
             / (max(-b{top}.m, 1e-8) + max(a40.m, 1e-8) + max(b40.m, 1e-8))"
        )
    );
}

/// The value of an expression of the mixing formulas, for given values of the variables.
fn evaluate(e: &Expr, value_of: &dyn Fn(VarId) -> f64) -> f64 {
    let value = |e: &Expr| evaluate(e, value_of);
    match &e.kind {
        ExprKind::Real(x) => *x,
        ExprKind::Var(var) => value_of(*var),
        ExprKind::Unary(UnaryOp::Negate, a) => -value(a),
        ExprKind::Binary(BinaryOp::Add, a, b) => value(a) + value(b),
        ExprKind::Binary(BinaryOp::Mul, a, b) => value(a) * value(b),
        ExprKind::Binary(BinaryOp::Div, a, b) => value(a) / value(b),
        ExprKind::Builtin { function: Builtin::Max, arguments } => value(&arguments[0]).max(value(&arguments[1])),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_mixture_conserves_what_is_carried() {
    let case = ports(&["a", "b", "c"], "connect a.h b.h\nconnect b.h c.h");
    let mixed = |flows: [f64; 3]| {
        let values: BTreeMap<&str, f64> =
            [("a.m", flows[0]), ("b.m", flows[1]), ("c.m", flows[2]), ("a.h", 10.0), ("b.h", 40.0), ("c.h", -1000.0)]
                .into();
        let value_of = |var: VarId| values[case.model.variables[var].name.as_str()];
        evaluate(&case.in_stream_expr("c.h"), &value_of)
    };
    // 2 of a and 1 of b leave through c: (2·10 + 1·40)/3 = 20, exact since both are above the threshold.
    assert_eq!(mixed([-2.0, -1.0, 3.0]), 20.0);
    // Only a flows into c; b takes in too, so that its share is the threshold: the error is 1e-8·(40 − 10).
    assert!((mixed([-2.0, 1.0, 1.0]) - 10.0).abs() <= 1e-8 * 30.0);
    // Nothing flows: the mean value of the others.
    assert_eq!(mixed([0.0, 0.0, 0.0]), 25.0);
}
