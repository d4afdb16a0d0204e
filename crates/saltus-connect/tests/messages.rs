//! Every message about connections, with place, labels and hint.

mod common;

use common::{Case, check_messages};

#[test]
fn self_connection() {
    let text = "Real a.v\nflow Real a.i\nconnect a.v a.v";
    check_messages(
        text,
        "
W0501 line 3: `a.v` is connected to itself, which has no effect
  hint: connect it to another connector, or remove this `connect`
",
    );
    // The flow is still zero.
    assert_eq!(Case::new(text).equation_text(), "a.i = 0.0;\n");
}

#[test]
fn flow_to_potential() {
    check_messages(
        "Real a.v\nflow Real b.i\nconnect a.v b.i",
        "
E0502 line 3: `b.i` is a flow variable but `a.v` is not: flow variables connect only to flow variables
  line 2: declared with `flow`
  line 1: declared without `flow`
  hint: declare `a.v` with the prefix `flow` too, or check which connectors were meant
",
    );
}

#[test]
fn stream_to_potential() {
    check_messages(
        "flow Real a.m\nstream Real a.h carrier=a.m\nReal b.h\nconnect a.h b.h",
        "
E0503 line 4: `a.h` is a stream variable but `b.h` is not: stream variables connect only to stream variables
  line 2: declared with `stream`
  line 3: declared without `stream`
  hint: declare `b.h` with the prefix `stream` too, or check which connectors were meant
",
    );
}

#[test]
fn different_types() {
    check_messages(
        "Real[2] a\nInteger[2] b\nconnect a b",
        "
E0504 line 3: `a` is Real[2] but `b` is Integer[2]: connected variables must have the same built-in type
  line 1: this is Real[2]
  line 2: this is Integer[2]
  hint: put a converting block between them, for instance `IntegerToReal`, or use the same connector class
",
    );
}

#[test]
fn different_sizes() {
    check_messages(
        "Real[2] a\nReal[3] b\nReal c\nconnect a b\nconnect c a",
        "
E0505 line 4: `a` has the size [2] but `b` has the size [3]: connected arrays must have the same sizes
  line 1: size [2]
  line 2: size [3]
  hint: give both connectors the same size, or connect elements: `connect(a[i], b)`
E0505 line 5: `c` has the size [] but `a` has the size [2]: connected arrays must have the same sizes
  line 3: size []
  line 1: size [2]
  hint: give both connectors the same size, or connect elements: `connect(a[i], b)`
",
    );
}

#[test]
fn causal_to_acausal() {
    check_messages(
        "Real a\noutput Real b\nconnect a b",
        "
E0506 line 3: `b` is an input or output but `a` is neither: causal variables connect only to causal variables
  line 2: has a direction
  line 1: has no direction
  hint: declare `a` with `input` or `output`, or write an equation instead of a `connect`
",
    );
}

#[test]
fn different_variability() {
    check_messages(
        "parameter Real a\nconstant Real b\nReal c\nconnect a b\nconnect c a",
        "
E0507 line 4: `a` is a parameter but `b` is a constant: parameters connect only to parameters, constants only to constants
  line 1: this is a parameter
  line 2: this is a constant
  hint: give both connectors the same variability for this part
E0507 line 5: `c` is a variable but `a` is a parameter: parameters connect only to parameters, constants only to constants
  line 3: this is a variable
  line 1: this is a parameter
  hint: give both connectors the same variability for this part
",
    );
}

#[test]
fn several_sources() {
    let text = "
output Real a.y
output Real b.y
input Real u
input Real c.u
connect a.y c.u
connect c.u b.y
";
    check_messages(
        text,
        "
E0508 line 6: `a.y` (output of a component) and `b.y` (output of a component) both give the value of the same signal; exactly one source is expected
  line 5: `a.y` is connected here
  hint: remove one of the connections, or combine the signals in a block (`Add`, `Switch`)
",
    );
    check_messages(
        "input Real u\noutput Real a.y\nconnect ^u a.y",
        "
E0508 line 3: `u` (input of the class) and `a.y` (output of a component) both give the value of the same signal; exactly one source is expected
  line 3: `u` is connected here
  hint: remove one of the connections, or combine the signals in a block (`Add`, `Switch`)
",
    );
}

#[test]
fn no_source() {
    check_messages(
        "input Real[2] a.u\ninput Real b.u\noutput Real y\nconnect a.u[2] b.u\nconnect ^y b.u",
        "
E0509 line 4: no source gives a value to the connected signals `a.u[2]`, `b.u`, `y`
  hint: connect one output of a component, or one public input of this class
",
    );
}

#[test]
fn different_quantities() {
    check_messages(
        "Real a quantity=Work\nReal b quantity=\nReal c quantity=Torque\nconnect a b\nconnect b c",
        "
W0510 line 5: `a` has the quantity \"Work\" but `c` has the quantity \"Torque\": connected variables must have the same quantity
  line 1: quantity = \"Work\"
  line 3: quantity = \"Torque\"
  hint: check that the right connectors are connected, or leave the attribute `quantity` empty on one side
",
    );
}

#[test]
fn a_protected_connector_and_nothing_declared() {
    check_messages(
        "protected input Real u\nimplied Real bus.u\nconnect ^u ^bus.u",
        "
W0512 line 3: the protected connector `u` is connected neither to a component nor to a declared public connector: `u`, `bus.u`
  line 1: protected
  hint: declare the member in the expandable connector, or make the connector public
",
    );
    check_messages("protected input Real u\nexpandable Real bus.u\nconnect ^u ^bus.u", "");
    check_messages("protected input Real u\nprotected input Real v\nconnect ^u ^v", "");
    check_messages(
        "protected input Real u\nimplied Real bus.u\noutput Real a.y\nconnect ^u ^bus.u\nconnect ^u a.y",
        "",
    );
}

#[test]
fn element_out_of_range() {
    check_messages(
        "Real[2,2] a\nReal b\nconnect a[5] b",
        "
E0511 line 3: element 5 of `a` is connected, but it has the size [2, 2]
  hint: use subscripts within the size of the array
",
    );
}

#[test]
fn stream_without_scalar_flow() {
    check_messages(
        "
flow Real[2] a.m
stream Real a.h carrier=a.m
flow Real b.m
stream Real b.h carrier=b.m
connect a.h b.h
",
        "
E0512 line 5: the stream variable `a.h` is carried by `a.m`, which is Real[2]: a scalar Real flow variable is expected
  line 1: carries the stream
  hint: give the connector exactly one variable with the prefix `flow`, a scalar Real
",
    );
}

#[test]
fn too_many_elements() {
    // 2^22 is the limit; the array of 2^40 elements would fill the memory.
    check_messages(
        "Real[1099511627776] a\nReal[1099511627776] b\nReal c\nconnect a b\nconnect a[7] c",
        "
E0513 line 4: `a` is connected element by element, but it has more than 4194304 elements
  hint: connect the array as a whole, or make it smaller
E0513 line 4: `b` is connected element by element, but it has more than 4194304 elements
  hint: connect the array as a whole, or make it smaller
",
    );
}

#[test]
fn streams_in_a_loop_of_levels() {
    let case = Case::new(
        "
flow Real a.m
stream Real a.h carrier=a.m
flow Real b.m
stream Real b.h carrier=b.m
connect a.h ^b.h
connect b.h ^a.h
",
    );
    assert_eq!(
        case.messages(),
        "\
E0514 line 5: the value of `inStream(a.h)` leads back to itself or grows without end through the levels of the model
  hint: remove a `connect` so that the stream connectors of different levels form no loop
E0514 line 6: the value of `inStream(b.h)` leads back to itself or grows without end through the levels of the model
  hint: remove a `connect` so that the stream connectors of different levels form no loop
"
    );
}

#[test]
fn wrong_pairs_leave_the_right_ones_alone() {
    let case = Case::new(
        "Real a.v\nflow Real a.i\nReal b.v\nflow Real b.i\nconnect a.v b.i\nconnect a.v b.v\nconnect a.i b.i",
    );
    assert_eq!(case.result.diagnostics.n_errors(), 1);
    assert_eq!(case.equation_text(), "a.v = b.v;\na.i + b.i = 0.0;\n");
}
