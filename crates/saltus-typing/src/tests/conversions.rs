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

#[test]
fn messages_of_conversions() {
    for (text, target, expected) in [
        (
            "1.5",
            "Integer",
            "E0327: the value of `a` must be Integer, but `1.5` is Real | a Real is not rounded by itself: `integer(x)` \
             rounds down, `integer(x + 0.5)` to the nearest",
        ),
        (
            "b",
            "Real",
            "E0327: the value of `a` must be Real, but `b` is Boolean | convert a Boolean with `if b then 1 else 0`",
        ),
        (
            "1",
            "E",
            "E0327: the value of `a` must be E, but `1` is Integer | convert the ordinal number with `E(i)`, or write a \
             literal such as `E.a`",
        ),
        (
            "f",
            "E",
            "E0327: the value of `a` must be E, but `f` is F | two enumerations are one type only if they have the same \
             literals in the same order",
        ),
        (
            "S(1.0, 2.0)",
            "R",
            "E0327: the value of `a` must be R, but `S(1.0, 2.0)` is S | the field `n` is Real in `S` but Integer in `R`",
        ),
        ("r", "Q", "E0327: the value of `a` must be Q, but `R(x, i)` is R | `R` has no field `t`"),
        (
            "x",
            "String",
            "E0327: the value of `a` must be String, but `x` is Real | turn the value into text with `String(…)`",
        ),
        ("x", "Clock", "E0327: the value of `a` must be Clock, but `x` is Real | make a clock with `Clock(…)`"),
        (
            "w",
            "Real[3]",
            "E0328: the value of `a` must be Real[3], but it is Real[2] | dimension 1 has size 2 instead of 3",
        ),
        (
            "1",
            "Real[3, 2]",
            "E0329: the value of `a` must be a matrix (Real[3, 2]), but it is a scalar (Integer) | `fill(value, 3, 2)` gives \
             every element the same value",
        ),
        (
            "row",
            "Real[3]",
            "E0329: the value of `a` must be a vector (Real[3]), but it is a matrix (Real[1, 3]) | a matrix with one row or \
             column becomes a vector with `vector(A)`",
        ),
        (
            "v",
            "Real[3, 1]",
            "E0329: the value of `a` must be a matrix (Real[3, 1]), but it is a vector (Real[3]) | `[v]` is the matrix with \
             `v` as its only column",
        ),
    ] {
        assert_eq!(converted(Test::model(), text, target), expected);
    }
}

#[test]
fn messages_name_the_place() {
    let cases = [
        (Place::Attribute { attribute: "start", variable: "a" }, "the attribute `start` of `a` must be a vector"),
        (Place::Argument { function: "f", position: 2, name: "t" }, "argument 2 (`t`) of `f` must be a vector"),
        (Place::Assignment { target: "a" }, "the value assigned to `a` must be a vector"),
        (Place::Equation, "the right-hand side of the equation must be a vector"),
        (Place::Field { field: "t", record: "R" }, "the field `t` of `R` must be a vector"),
    ];
    for (place, expected) in cases {
        let mut test = Test::model();
        let value = test.expr("1");
        convert(&mut test, value, &parse_type("Real[3]"), place);
        let message = test.messages();
        assert!(message.starts_with(&format!("E0329: {expected}")), "{message}");
        let is_attribute = matches!(place, Place::Attribute { .. });
        assert_eq!(message.contains("`each start = …` gives every element the same value"), is_attribute, "{message}");
    }
    let mut test = Test::model();
    let value = test.expr("1.5");
    convert(&mut test, value, &Type::INTEGER, Place::Size { variable: "a" });
    assert!(test.messages().starts_with("E0327: an array size of `a` must be Integer, but `1.5` is Real"));
    let value = test.expr("bb");
    convert(&mut test, value, &Type::BOOLEAN, Place::Condition { construct: "while" });
    assert!(
        test.messages().starts_with("E0312: the condition of `while` must be a scalar Boolean, but it is Boolean[2]")
    );
}

#[test]
fn messages_of_equations() {
    for (left, right, expected) in [
        (
            "x",
            "s",
            "E0330: both sides of an equation must have one type, but the left is Real, the right String | text is not \
             converted by itself; a function has to scan it",
        ),
        (
            "v",
            "w",
            "E0331: both sides of an equation must have equal sizes, but the left is Real[3], the right Real[2] | the sizes \
             differ in dimension 1",
        ),
        (
            "v",
            "0",
            "E0331: both sides of an equation must have equal sizes, but the left is Real[3], the right Integer | \
             `fill(value, n)` makes an array of equal elements",
        ),
        (
            "v",
            "A",
            "E0331: both sides of an equation must have equal sizes, but the left is Real[3], the right Real[3, 3] | a \
             vector cannot equal a matrix",
        ),
        (
            "(x, y)",
            "x + y",
            "E0333: several variables in parentheses expect a function call on the other side | write one equation for each \
             variable, or call a function with several results",
        ),
        (
            "(x, y, d)",
            "spatialDistribution(x, y, x, b)",
            "E0332: the left-hand side takes 3 results, but the call gives 2 results | results that are not wanted are left \
             out, as in `(a, , c) = f(x)`",
        ),
        (
            "(x, i)",
            "spatialDistribution(x, y, x, b)",
            "E0327: the value assigned to `i` must be Integer, but this result is Real | a Real is not rounded by itself: \
             `integer(x)` rounds down, `integer(x + 0.5)` to the nearest",
        ),
    ] {
        assert_eq!(sides(left, right), expected);
    }
}

/// Without an iteration variable from the context a long array of records cannot be converted.
#[test]
fn conversion_without_iterator() {
    struct NoIterator(Test);
    impl crate::Context for NoIterator {
        fn report(&mut self, diagnostic: saltus_base::Diagnostic) {
            self.0.report(diagnostic);
        }
        fn enum_type(&self, id: saltus_flat::EnumId) -> std::sync::Arc<saltus_flat::EnumType> {
            self.0.enum_type(id)
        }
        fn record_type(&self, id: saltus_flat::RecordId) -> std::sync::Arc<saltus_flat::RecordType> {
            self.0.record_type(id)
        }
        fn evaluate_integer(&mut self, expr: &saltus_flat::Expr) -> Option<i64> {
            self.0.evaluate_integer(expr)
        }
        fn variability(&self, var: saltus_flat::VarId) -> saltus_flat::Variability {
            self.0.variability(var)
        }
        fn local_variability(&self, local: saltus_flat::LocalId) -> saltus_flat::Variability {
            self.0.local_variability(local)
        }
        fn in_function(&self) -> bool {
            true
        }
    }
    use crate::Context;
    let mut test = NoIterator(Test::function());
    let value = test.0.expr("rs");
    assert!(convert(&mut test, value, &parse_type("S[:]"), Place::Equation).is_error());
    assert_eq!(
        test.0.messages(),
        "E0359: the elements of this array cannot be converted from R[:] to S[:] here | declare both with the same element \
         type, or convert element by element with `{… for i in …}`"
    );
    // The default description of an expression knows no names.
    let text = test.0.expr("2 * (m + 1)");
    assert_eq!(test.describe(&text), "2 * (local 4 + 1)");
}
