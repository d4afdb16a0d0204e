//! Connections of elements in rows, and sets that differ by a shift as one.

mod common;

use common::{Case, check};

const CHAIN: &str = "
Real[6] a.v
flow Real[6] a.i
Real[6] b.v
flow Real[6] b.i
Real s.v
flow Real s.i
";

#[test]
fn a_box_of_pairs_is_that_of_its_pairs() {
    let each = "each b.v[1] a.v[2] 2:1:1\neach b.i[1] a.i[2] 2:1:1";
    let single = "connect b.v[1] a.v[2]\nconnect b.v[2] a.v[3]\nconnect b.i[1] a.i[2]\nconnect b.i[2] a.i[3]";
    let text = |connects: &str| Case::new(&format!("{CHAIN}{connects}")).equations();
    assert_eq!(text(each), text(single));
}

#[test]
fn the_ends_of_a_chain_are_sets_of_their_own() {
    check(
        &format!(
            "{CHAIN}fold 3\neach b.v[1] a.v[2] 5:1:1\neach b.i[1] a.i[2] 5:1:1\nconnect s.v b.v[6]\nconnect s.i b.i[6]"
        ),
        "
{a.v[i + 1] for i in 1:5} = {b.v[i] for i in 1:5};
{a.i[i + 1] + b.i[i] for i in 1:5} = {0.0 for i in 1:5};
b.v[6] = s.v;
b.i[6] + s.i = 0.0;
a.i[1] = 0.0;
",
    );
}

#[test]
fn rows_run_by_any_step_and_back() {
    check(
        &format!("{CHAIN}fold 3\neach b.v[1] a.v[6] 3:2:-2\neach b.i[1] a.i[6] 3:2:-2\nconnect s.i a.i[3]"),
        "
{a.v[2 * i] for i in 1:3} = {b.v[(-2) * i + 7] for i in 1:3};
{a.i[2 * i] + b.i[(-2) * i + 7] for i in 1:3} = {0.0 for i in 1:3};
a.i[3] + s.i = 0.0;
a.i[1] = 0.0;
a.i[5] = 0.0;
{b.i[2 * i] for i in 1:3} = {0.0 for i in 1:3};
",
    );
}

#[test]
fn another_member_cuts_a_row() {
    check(
        &format!(
            "{CHAIN}fold 2\neach b.v[1] a.v[2] 5:1:1\nconnect s.v a.v[3]\neach b.i[1] a.i[2] 5:1:1\nconnect s.i a.i[3]"
        ),
        "
a.v[2] = b.v[1];
a.v[3] = b.v[2];
a.v[3] = s.v;
{a.v[i + 3] for i in 1:3} = {b.v[i + 2] for i in 1:3};
a.i[2] + b.i[1] = 0.0;
a.i[3] + b.i[2] + s.i = 0.0;
{a.i[i + 3] + b.i[i + 2] for i in 1:3} = {0.0 for i in 1:3};
a.i[1] = 0.0;
b.i[6] = 0.0;
",
    );
}

#[test]
fn many_elements_that_meet_one_connector() {
    check(
        &format!("{CHAIN}fold 4\neach s.v a.v[1] 6:0:1\neach s.i a.i[1] 6:0:1\neach b.i[1] ^s.i 1:0:0"),
        "
{a.v[1] for i in 1:5} = {a.v[i + 1] for i in 1:5};
a.v[1] = s.v;
a.i[1] + a.i[2] + a.i[3] + a.i[4] + a.i[5] + a.i[6] + s.i = 0.0;
b.i[1] - s.i = 0.0;
{b.i[i + 1] for i in 1:5} = {0.0 for i in 1:5};
",
    );
}

#[test]
fn rows_of_a_grid_are_one_box() {
    // Each with its right neighbour: rows end after the second of three columns.
    check(
        "flow Real[3,3] l\nflow Real[3,3] r\nfold 4\neach r[1] l[2] 3:3:3 2:1:1",
        "
{l[i, j + 1] + r[i, j] for j in 1:2, i in 1:3} = {0.0 for j in 1:2, i in 1:3};
l[1, 1] = 0.0;
l[2, 1] = 0.0;
l[3, 1] = 0.0;
r[1, 3] = 0.0;
r[2, 3] = 0.0;
r[3, 3] = 0.0;
",
    );
}

#[test]
fn connections_that_cross_the_rows_of_a_matrix_are_not_one_row() {
    // Elements 2, 3, 4 of a matrix with three columns are [1,2], [1,3], [2,1].
    check(
        "flow Real[2,3] m\nflow Real[6] v\nfold 3\neach m[2] v[1] 3:1:1",
        "
m[1, 2] + v[1] = 0.0;
m[1, 3] + v[2] = 0.0;
m[2, 1] + v[3] = 0.0;
m[1, 1] = 0.0;
m[2, 2] = 0.0;
m[2, 3] = 0.0;
{v[i + 3] for i in 1:3} = {0.0 for i in 1:3};
",
    );
}

#[test]
fn single_pairs_from_one_place_are_a_row_whatever_stands_between() {
    // Two connectors of a loop, one after the other, as the front end hands over what it cannot take as a whole.
    check(
        "Real[3] a\nReal[3] b\nReal[3] c\nfold 3\neach a[1] b[1] 3:1:1\neach a[1] c[3] 3:1:-1",
        "
{a[i] for i in 1:3} = {b[i] for i in 1:3};
{a[i] for i in 1:3} = {c[(-1) * i + 4] for i in 1:3};
",
    );
}

#[test]
fn streams_parameters_and_integers_stay_single() {
    check(
        "parameter Real[3] p\nparameter Real[3] q\nInteger[2] k\nInteger[2] l\nfold 2\neach p[1] q[1] 2:1:1\neach k[1] l[1] 2:1:1",
        "
assert(p[1] == q[1], \"the connected parameters p[1] and q[1] must have the same value\");
assert(p[2] == q[2], \"the connected parameters p[2] and q[2] must have the same value\");
k[1] = l[1];
k[2] = l[2];
",
    );
}

#[test]
fn an_element_of_a_row_that_meets_itself_is_reported() {
    // a[1] with a[3], a[2] with a[2].
    let messages = Case::new("Real[3] a\neach a[1] a[3] 2:1:-1").messages();
    assert!(messages.contains("`a[2]` is connected to itself"), "{messages}");
}

#[test]
fn rows_that_leave_the_array_are_reported() {
    for each in ["each a[2] b[1] 3:1:1", "each a[2] b[3] 3:-1:-1", "each a[1] b[1] 9223372036854775807:4:0"] {
        let case = Case::new(&format!("Real[3] a\nReal[3] b\n{each}"));
        assert_eq!(case.equation_text(), "", "{each}");
        assert_ne!(case.messages(), "", "{each}");
    }
}
