//! Folding without an environment.

use saltus_flat::{BaseType, BinaryOp, Builtin, Dim, Expr, ExprKind, Type};

use super::builder::*;
use crate::fold;

fn x() -> Expr {
    var(0, Type::REAL)
}

#[test]
fn literals_are_computed_and_types_kept() {
    let sum = binary(BinaryOp::Add, x(), binary(BinaryOp::Mul, int(2), int(3)).to_real());
    assert_eq!(fold(sum), binary(BinaryOp::Add, x(), real(6.0)));
    assert_eq!(fold(builtin(Builtin::Sqrt, vec![real(16.0)], Type::REAL)), real(4.0));
    assert_eq!(fold(binary(BinaryOp::Less, int(1), int(2))), boolean(true));
    assert_eq!(fold(binary(BinaryOp::Mul, ints(&[1, 2]), int(2))), ints(&[2, 4]));
}

#[test]
fn conditions_choose_a_branch() {
    let relation = || binary(BinaryOp::Greater, x(), real(0.0));
    let chosen = when_true(binary(BinaryOp::Less, int(1), int(2)), relation(), boolean(false));
    assert_eq!(fold(chosen), relation());
    assert_eq!(fold(binary(BinaryOp::And, boolean(true), relation())), relation());
    assert_eq!(fold(binary(BinaryOp::And, relation(), boolean(false))), boolean(false));
    assert_eq!(fold(binary(BinaryOp::Or, boolean(true), relation())), boolean(true));
    // Branches of another type stay: the conversion belongs to the expression.
    let mixed = when_true(boolean(true), x(), int(1));
    let mixed = Expr { ty: Type::INTEGER, ..mixed };
    assert_eq!(fold(mixed.clone()), mixed);
}

#[test]
fn only_safe_identities_are_used() {
    use BinaryOp::*;
    assert_eq!(fold(binary(Mul, real(1.0), x())), x());
    assert_eq!(fold(binary(Div, x(), real(1.0))), x());
    assert_eq!(fold(binary(Sub, x(), real(0.0))), x());
    for unsafe_one in [binary(Mul, real(0.0), x()), binary(Add, x(), real(0.0)), binary(Div, x(), x())] {
        assert_eq!(fold(unsafe_one.clone()), unsafe_one);
    }
    let failing = binary(Div, real(1.0), real(0.0));
    assert_eq!(fold(failing.clone()), failing);
}

#[test]
fn sizes_and_elements_of_constructors() {
    let a = var(1, Type::array(BaseType::Real, [Dim::Known(3), Dim::Unknown]));
    assert_eq!(fold(builtin(Builtin::Size, vec![a.clone(), int(1)], Type::INTEGER)), int(3));
    let open = builtin(Builtin::Size, vec![a, int(2)], Type::INTEGER);
    assert_eq!(fold(open.clone()), open);
    assert_eq!(fold(at(array(vec![x(), real(2.0)]), int(1))), x());
    let outside = at(array(vec![x(), real(2.0)]), int(3));
    assert_eq!(fold(outside.clone()), outside);
}

#[test]
fn large_results_and_calls_stay() {
    let zeros = builtin(Builtin::Zeros, vec![int(100_000)], unknown(BaseType::Real, 1));
    assert_eq!(fold(zeros.clone()), zeros);
    let time = expr(ExprKind::Time, Type::REAL);
    let relation = binary(BinaryOp::GreaterEqual, time, real(1.0));
    assert_eq!(fold(relation.clone()), relation);
}
