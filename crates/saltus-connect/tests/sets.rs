//! Connection sets and their equations (specification 9.2).

mod common;

use common::{Case, check, line_span};
use saltus_flat::Origin;

#[test]
fn potentials_are_equal_to_the_first_declared_and_flows_add_up() {
    // The example circuit of specification 9.2: a load with a resistor inside, a ground, a second resistor.
    let text = "
Real load.p.v
flow Real load.p.i
Real load.n.v
flow Real load.n.i
Real ground.p.v
flow Real ground.p.i
Real resistor.p.v
flow Real resistor.p.i
flow Real resistor.n.i
Real load.resistor.p.v
flow Real load.resistor.p.i
Real load.resistor.n.v
flow Real load.resistor.n.i
connect load.p.v ground.p.v
connect load.p.i ground.p.i
connect resistor.p.v ground.p.v
connect resistor.p.i ground.p.i
connect ^load.p.v load.resistor.p.v
connect ^load.p.i load.resistor.p.i
connect load.resistor.n.v ^load.n.v
connect load.resistor.n.i ^load.n.i
";
    check(
        text,
        "
load.p.v = ground.p.v;
load.p.v = resistor.p.v;
load.p.i + ground.p.i + resistor.p.i = 0.0;
load.p.v = load.resistor.p.v;
-load.p.i + load.resistor.p.i = 0.0;
load.n.v = load.resistor.n.v;
-load.n.i + load.resistor.n.i = 0.0;
load.n.i = 0.0;
resistor.n.i = 0.0;
",
    );
}

#[test]
fn duplicate_connections_change_nothing() {
    let text = "
Real a.v
flow Real a.i
Real b.v
flow Real b.i
connect a.v b.v
connect a.i b.i
connect b.v a.v
connect b.i a.i
";
    check(text, "a.v = b.v;\na.i + b.i = 0.0;");
}

#[test]
fn an_outside_flow_of_an_expandable_connector_is_zero_when_unconnected() {
    check("flow Real bus.p.i\nzero ^bus.p.i", "bus.p.i = 0.0;\nbus.p.i = 0.0;");
}

#[test]
fn whole_arrays_stay_whole() {
    let text = "
Real[3] a.v
flow Real[3] a.i
Real[3] b.v
flow Real[3] b.i
flow Integer[2,2] c.n
connect a.v b.v
connect a.i b.i
";
    check(text, "a.v = b.v;\na.i + b.i = fill(0.0, 3);\nc.n = fill(0, 2, 2);");
}

#[test]
fn one_connected_element_splits_the_arrays_of_its_class() {
    // u[2] alone is connected, and y is connected to u as a whole; w to z as a whole is another class.
    let text = "
flow Real[2] u
flow Real[2] y
flow Real x
flow Real[2] w
flow Real[2] z
connect u y
connect x u[2]
connect w z
";
    check(
        text,
        "
u[1] + y[1] = 0.0;
u[2] + y[2] + x = 0.0;
w + z = fill(0.0, 2);
",
    );
}

#[test]
fn the_other_face_of_a_split_array_stays_whole() {
    let text = "
flow Real[2] a
flow Real[2] b
flow Real x
connect a b
connect ^b[1] x
";
    check(text, "a + b = fill(0.0, 2);\n-b[1] + x = 0.0;");
}

#[test]
fn elements_are_row_major() {
    let text = "
Real[2,3] m
Real x
connect m[4] x
";
    check(text, "m[2, 1] = x;");
}

#[test]
fn the_first_element_of_a_scalar_is_the_scalar() {
    check("Real a\nReal b\nReal c\nconnect a[1] b\nconnect a c", "a = b;\na = c;");
}

#[test]
fn empty_arrays_have_no_equations() {
    check("Real[0] a\nReal[0] b\nflow Real[2,0] f\nconnect a b", "");
}

#[test]
fn signals_point_from_the_source() {
    // The source is an output of a component, or an input of the class.
    let text = "
input Real gain.u
input Real scope.u
output Real sine.y
connect sine.y gain.u
connect gain.u scope.u
";
    check(text, "gain.u = sine.y;\nscope.u = sine.y;");
    check("input Real inner.u\ninput Real u\nconnect ^u inner.u", "inner.u = u;");
    check("output Real y\noutput Real inner.y\nconnect ^y inner.y", "y = inner.y;");
}

#[test]
fn all_built_in_types_can_be_potentials() {
    let text = "
Boolean a.b
Boolean b.b
Integer a.n
Integer b.n
String a.s
String b.s
Colour a.c
Colour b.c
connect a.b b.b
connect a.n b.n
connect a.s b.s
connect a.c b.c
";
    check(text, "a.b = b.b;\na.n = b.n;\na.s = b.s;\na.c = b.c;");
}

#[test]
fn parameters_are_asserted_to_be_equal() {
    let text = "
parameter Integer a.m
parameter Integer b.m
parameter Real[2] a.k
parameter Real[2] b.k
constant String a.s
constant String b.s
connect a.m b.m
connect a.k b.k
connect b.s a.s
";
    check(
        text,
        r#"
assert(a.m == b.m, "the connected parameters a.m and b.m must have the same value");
assert(a.k[1] == b.k[1], "the connected parameters a.k[1] and b.k[1] must have the same value");
assert(a.k[2] == b.k[2], "the connected parameters a.k[2] and b.k[2] must have the same value");
assert(a.s == b.s, "the connected parameters a.s and b.s must have the same value");
"#,
    );
}

#[test]
fn a_variable_seen_from_both_sides_is_not_set_equal_to_itself() {
    check("Real a\nReal b\nconnect a b\nconnect b ^a", "a = b;");
}

#[test]
fn equations_know_where_they_come_from() {
    let case = Case::new("Real a\nReal b\nReal c\nflow Real f\nconnect a b\nconnect b c");
    let places: Vec<_> = case.result.equations.iter().map(|e| (e.span, &*e.component)).collect();
    // b comes in with line 5, c with line 6, the unconnected f stands where it is declared.
    assert_eq!(places, [(line_span(5), "line5"), (line_span(6), "line6"), (line_span(4), "")]);
    assert!(case.result.equations.iter().all(|e| e.origin == Origin::Connection));
}

#[test]
fn long_sums_stay_shallow() {
    const N: usize = 20_000;
    let mut text: String = (0..N).map(|i| format!("flow Real f{i}\n")).collect();
    text.extend((1..N).map(|i| format!("connect f0 f{i}\n")).take(200));
    let case = Case::new(&text);
    // 201 flows in one sum, the others zero.
    assert_eq!(case.result.equations.len(), N - 200);
    let saltus_flat::EquationKind::Equality { left, .. } = &case.result.equations[0].kind else { panic!() };
    fn depth(e: &saltus_flat::Expr) -> usize {
        let mut deepest = 0;
        e.for_each_child(&mut |c| deepest = deepest.max(depth(c)));
        deepest + 1
    }
    let mut n_leaves = 0;
    left.walk(&mut |e| n_leaves += usize::from(matches!(e.kind, saltus_flat::ExprKind::Var(_))));
    assert_eq!(n_leaves, 201);
    assert!(depth(left) <= 36, "depth {}", depth(left));
}

#[test]
fn expandable_connectors_join_causal_and_acausal_signals() {
    let text = "
output Real sensor.speed
expandable Real bus.speed
input Real motor.speed
connect sensor.speed ^bus.speed
connect ^bus.speed motor.speed
";
    check(text, "bus.speed = sensor.speed;\nmotor.speed = sensor.speed;");
}

#[test]
fn signals_without_source_are_allowed_where_the_source_may_come_later() {
    check("expandable Real bus.u\ninput Real a.u\nconnect ^bus.u a.u", "bus.u = a.u;");
    check("protected input Real u_internal\ninput Real a.u\nconnect ^u_internal a.u", "u_internal = a.u;");
    // A protected input of the class is not a second source.
    check("protected input Real u_internal\noutput Real c.y\nconnect ^u_internal c.y", "u_internal = c.y;");
}

#[test]
fn what_has_been_complained_about_is_left_out() {
    check("Error a\nReal b\nconnect a b", "");
}

/// A pair of pins on each side of a component: one equation for each set of two, and the flows inside are told.
#[test]
fn the_connections_of_each_component_are_counted_by_themselves() {
    let text = "Real a.v\nReal b.v\nflow Real a.i\nflow Real b.i\nflow Real c.i\nconnect a.v b.v\nconnect a.i ^c.i\n";
    let case = Case::new(text);
    let counts: Vec<(u64, u64)> = case.result.local.values().map(|c| (c.equations, c.inside_flows)).collect();
    assert_eq!(counts, [(1, 0), (1, 1)]);
}
