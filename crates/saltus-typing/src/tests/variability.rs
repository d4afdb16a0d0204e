use saltus_flat::Variability::{self, Constant, Continuous, Discrete, Parameter};

use crate::testing::Test;

fn of(text: &str) -> Variability {
    let mut test = Test::model();
    let expr = test.expr(text);
    assert!(!test.has_errors(), "{text}: {}", test.messages());
    crate::variability(&test, &expr)
}

#[test]
fn expression_variability() {
    for (text, expected) in [
        ("1 + 2", Constant),
        ("2 * p", Parameter),
        ("p > 1", Parameter),
        ("ndims(A)", Constant),
        ("size(A, 1)", Constant),
        ("i + 1", Discrete),
        ("2 * d", Discrete),
        ("x", Continuous),
        ("time", Continuous),
        // Ordered relations and event-generating functions change at events only.
        ("x > 0", Discrete),
        ("x > 0 and b", Discrete),
        ("floor(x)", Discrete),
        ("integer(x)", Discrete),
        ("div(x, 2)", Discrete),
        // `mod` and `rem` generate events but vary in between.
        ("mod(x, 2)", Continuous),
        ("noEvent(x > 0)", Continuous),
        ("noEvent(floor(x))", Continuous),
        ("noEvent(b)", Discrete),
        ("if x > 0 then 1 else 2", Discrete),
        ("if x > 0 then x else 2", Continuous),
        ("pre(i)", Discrete),
        ("edge(b)", Discrete),
        ("initial()", Discrete),
        ("sample(0, 1)", Discrete),
        ("previous(x)", Discrete),
        ("delay(p, 1)", Parameter),
        ("delay(x, p)", Continuous),
        ("der(x)", Continuous),
        ("abs(x)", Continuous),
        ("smooth(0, x)", Continuous),
        ("sum(v)", Continuous),
        ("sum(j for j in 1:3)", Parameter),
    ] {
        assert_eq!(of(text), expected, "{text}");
    }
}
