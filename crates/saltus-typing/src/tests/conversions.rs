use saltus_base::Span;
use saltus_flat::{Builtin, ExprKind, Type};

use crate::testing::{Test, parse_type};
use crate::{Place, convert, equation, result_types, tuple};

/// `text` converted to the type `target`, as text.
fn converted(mut test: Test, text: &str, target: &str) -> String {
    let value = test.expr(text);
    let result = convert(&mut test, value, &parse_type(target), Place::Binding { variable: "a" });
    test.shown(&result)
}

#[test]
fn values_become_what_is_wanted() {
    for (text, target, expected) in [
        ("1", "Real", "1.0 : Real"),
        ("i", "Real", "i : Real"),
        ("{1, 2}", "Real[2]", "{1.0, 2.0} : Real[2]"),
        ("v", "Real[3]", "v : Real[3]"),
        ("E.b", "G", "G.b : G"),
        ("e", "G", "G(Integer(e)) : G"),
        ("r", "S", "S(i, x) : S"),
        ("{r, r}", "S[2]", "{S(i, x), S(i, x)} : S[2]"),
        ("Clock()", "Clock", "Clock() : Clock"),
    ] {
        assert_eq!(converted(Test::model(), text, target), expected);
    }
}

#[test]
fn records_of_functions_are_taken_apart() {
    assert_eq!(converted(Test::function(), "r", "S"), "S(r.n, r.x) : S");
    let expected = "{S(rs[$i].n, rs[$i].x) for $i in 1:size(rs, 1)} : S[:]";
    assert_eq!(converted(Test::function(), "rs", "S[:]"), expected);
    assert_eq!(converted(Test::function(), "rs[1:2]", "S[2]"), "{S(rs[1].n, rs[1].x), S(rs[2].n, rs[2].x)} : S[2]");
}

/// Both sides of `left = right`.
fn sides(left: &str, right: &str) -> String {
    let mut test = Test::model();
    let (left, right) = (test.expr(left), test.expr(right));
    let (left, right) = equation(&mut test, left, right, Span::nowhere());
    let messages = test.messages();
    if messages.is_empty() { format!("{} = {}", test.text(&left), test.text(&right)) } else { messages }
}

#[test]
fn equations_agree_on_one_type() {
    assert_eq!(sides("x", "1"), "x = 1.0");
    assert_eq!(sides("v", "{1, 2, 3}"), "v = {1.0, 2.0, 3.0}");
    assert_eq!(sides("r", "S(1.0, 2.0)"), "S(i, x) = S(1.0, 2.0)");
    assert_eq!(sides("c", "Clock(0.1)"), "c = Clock(0.1)");
    let call = "spatialDistribution(x, y, p, true)";
    let expected = "(, y) = spatialDistribution(x, y, p, true, {0.0, 1.0}, {0.0, 0.0})";
    assert_eq!(sides("(, y)", call), expected);
    assert_eq!(sides(call, "(, y)"), expected);

    // An Integer on the left may equal a Real: the equation can determine the Real.
    let mut test = Test::model();
    let (left, right) = (test.expr("i"), test.expr("x"));
    let (left, right) = equation(&mut test, left, right, Span::nowhere());
    assert!(matches!(left.kind, ExprKind::Cast(_)) && left.ty == right.ty);
}

#[test]
fn results_fit_their_variables() {
    let mut test = Test::model();
    let targets = vec![Some(test.expr("x")), None, Some(test.expr("b"))];
    let call = test.expr("sin(x)");
    let results = [Type::INTEGER, Type::STRING, Type::BOOLEAN];
    let (left, _) = tuple(&mut test, targets, call, &results, Span::nowhere());
    assert!(matches!(&left.kind, ExprKind::Tuple(items) if items.len() == 3), "{}", test.messages());
}

#[test]
fn only_spatial_distribution_has_two_results() {
    assert_eq!(result_types(Builtin::SpatialDistribution, &[], &Type::REAL).len(), 2);
    assert_eq!(result_types(Builtin::Sin, &[], &Type::REAL).len(), 1);
    assert_eq!(result_types(Builtin::Terminate, &[], &Type::UNIT).len(), 0);
}
