//! Operators, subscripts, ranges, reductions, builtins. Expected values follow from the specification's definitions.

use saltus_flat::{BaseType, BinaryOp, Builtin, Expr, ExprKind, ReductionOp, Subscript, Type, UnaryOp};

use super::builder::*;
use super::{World, evaluate, nowhere};
use crate::{EvalError, Evaluator, Items, Limits, Value, to_expr};

fn value(expr: &Expr) -> Value {
    evaluate(expr).expect("has a value")
}

/// The code of the diagnostic that evaluation fails with.
fn code(expr: &Expr) -> &'static str {
    match evaluate(expr) {
        Err(EvalError::Failed(d)) => d.code.0,
        other => panic!("no failure but {other:?}"),
    }
}

fn matrix(rows: &[&[f64]]) -> Expr {
    array(rows.iter().map(|r| vector(r)).collect())
}

fn matrix_value(rows: usize, columns: usize, items: &[f64]) -> Value {
    Value::from_parts(vec![rows, columns], Items::Real(items.to_vec())).expect("matrix")
}

#[test]
fn integers_stay_integers_except_under_division_and_power() {
    use BinaryOp::*;
    assert_eq!(value(&binary(Add, int(2), int(3))), Value::Integer(5));
    assert_eq!(value(&binary(Div, int(1), int(2))), Value::Real(0.5));
    assert_eq!(value(&binary(Pow, int(2), int(3))), Value::Real(8.0));
    assert_eq!(code(&binary(Mul, int(i64::MAX), int(2))), "E0609");
    assert_eq!(code(&binary(Div, real(1.0), real(0.0))), "E0602");
    assert_eq!(code(&binary(Pow, real(-1.0), real(0.5))), "E0608");
    assert_eq!(value(&binary(Pow, real(-2.0), int(3))), Value::Real(-8.0));
}

#[test]
fn elementwise_operators_spread_scalars() {
    use BinaryOp::*;
    assert_eq!(value(&binary(Mul, vector(&[1.0, 2.0]), real(3.0))), Value::reals(vec![3.0, 6.0]));
    assert_eq!(value(&binary(Sub, int(1), ints(&[1, 2]))), Value::integers(vec![0, -1]));
    assert_eq!(value(&binary(Less, ints(&[1, 5]), int(3))), Value::booleans(vec![true, false]));
    assert_eq!(value(&binary(Add, vector(&[1.0]), ints(&[2]))), Value::reals(vec![3.0]));
    assert_eq!(code(&binary(Add, ints(&[1, 2]), ints(&[1]))), "E0610");
}

#[test]
fn relations_of_all_scalar_types() {
    use BinaryOp::*;
    assert_eq!(value(&binary(Less, string("a"), string("b"))), Value::Boolean(true));
    assert_eq!(value(&binary(Greater, boolean(true), boolean(false))), Value::Boolean(true));
    assert_eq!(value(&binary(LessEqual, literal(2), literal(2))), Value::Boolean(true));
    assert_eq!(value(&binary(NotEqual, real(1.0), real(1.0))), Value::Boolean(false));
    assert_eq!(value(&binary(Add, string("a"), string("b"))), Value::string("ab"));
}

#[test]
fn and_or_do_not_need_the_second_operand() {
    let unknown = || var(0, Type::BOOLEAN);
    assert_eq!(value(&binary(BinaryOp::And, boolean(false), unknown())), Value::Boolean(false));
    assert_eq!(value(&binary(BinaryOp::Or, boolean(true), unknown())), Value::Boolean(true));
    assert!(matches!(evaluate(&binary(BinaryOp::And, boolean(true), unknown())), Err(EvalError::NotConstant { .. })));
}

#[test]
fn matrix_products_of_all_shapes() {
    let a = || matrix(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let product = |x, y| value(&binary(BinaryOp::MatMul, x, y));
    assert_eq!(product(vector(&[1.0, 2.0]), vector(&[3.0, 4.0])), Value::Real(11.0));
    assert_eq!(product(a(), vector(&[1.0, 1.0])), Value::reals(vec![3.0, 7.0]));
    assert_eq!(product(vector(&[1.0, 1.0]), a()), Value::reals(vec![4.0, 6.0]));
    assert_eq!(product(a(), a()), matrix_value(2, 2, &[7.0, 10.0, 15.0, 22.0]));
    assert_eq!(product(ints(&[1, 2]), ints(&[3, 4])), Value::Integer(11));
    assert_eq!(value(&binary(BinaryOp::MatPow, a(), int(3))), matrix_value(2, 2, &[37.0, 54.0, 81.0, 118.0]));
    assert_eq!(value(&binary(BinaryOp::MatPow, a(), int(0))), matrix_value(2, 2, &[1.0, 0.0, 0.0, 1.0]));
    assert_eq!(code(&binary(BinaryOp::MatMul, a(), vector(&[1.0]))), "E0610");
}

#[test]
fn unary_operators() {
    let unary = |op, e: Expr| value(&Expr::new(ExprKind::Unary(op, Box::new(e.clone())), e.ty, nowhere()));
    assert_eq!(unary(UnaryOp::Negate, ints(&[1, -2])), Value::integers(vec![-1, 2]));
    assert_eq!(unary(UnaryOp::Not, boolean(true)), Value::Boolean(false));
}

#[test]
fn if_evaluates_the_chosen_branch_only() {
    let failing = binary(BinaryOp::Div, real(1.0), real(0.0));
    let chain = when_true(boolean(false), failing.clone(), when_true(boolean(true), real(2.0), failing));
    assert_eq!(value(&chain), Value::Real(2.0));
}

#[test]
fn ranges() {
    assert_eq!(value(&range(int(1), Some(int(2)), int(6))), Value::integers(vec![1, 3, 5]));
    assert_eq!(value(&range(int(3), Some(int(-1)), int(1))), Value::integers(vec![3, 2, 1]));
    assert_eq!(value(&range(int(1), None, int(0))), Value::integers(vec![]));
    assert_eq!(value(&range(real(0.0), Some(real(0.5)), real(1.2))), Value::reals(vec![0.0, 0.5, 1.0]));
    assert_eq!(value(&range(boolean(false), None, boolean(true))), Value::booleans(vec![false, true]));
    let literals = value(&range(literal(2), None, literal(3)));
    assert_eq!(literals.elements(), [Value::Enum(e(), 2), Value::Enum(e(), 3)]);
    assert_eq!(code(&range(int(1), Some(int(0)), int(2))), "E0612");
    assert_eq!(code(&range(int(i64::MIN), None, int(i64::MAX))), "E0606");
    assert_eq!(code(&range(real(0.0), Some(real(1e-300)), real(1.0))), "E0606");
}

#[test]
fn subscripts_select_and_are_checked() {
    use Subscript::*;
    let a = || matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
    assert_eq!(value(&index(a(), vec![Index(int(2)), Index(int(3))])), Value::Real(6.0));
    assert_eq!(value(&at(a(), int(2))), Value::reals(vec![4.0, 5.0, 6.0]));
    assert_eq!(value(&index(a(), vec![All, Index(int(2))])), Value::reals(vec![2.0, 5.0]));
    let slice = index(a(), vec![Slice(ints(&[2])), Slice(ints(&[3, 1]))]);
    assert_eq!(value(&slice), matrix_value(1, 2, &[6.0, 4.0]));
    assert_eq!(value(&at(vector(&[7.0, 8.0]), boolean(true))), Value::Real(8.0));
    assert_eq!(value(&at(vector(&[7.0, 8.0, 9.0]), literal(3))), Value::Real(9.0));
    assert_eq!(code(&at(a(), int(3))), "E0603");
    assert_eq!(code(&at(a(), int(0))), "E0603");
    assert_eq!(code(&index(a(), vec![Index(int(1)), Index(int(1)), Index(int(1))])), "E0603");
    assert_eq!(code(&index(a(), vec![All, Slice(ints(&[4]))])), "E0603");
}

#[test]
fn fields_of_records_and_of_arrays_of_records() {
    let ty = || Type::scalar(BaseType::Record(r()));
    let record = |x: f64| expr(ExprKind::Record(vec![real(x), vector(&[x, 2.0 * x])]), ty());
    assert_eq!(value(&field(record(1.0), 1, reals(2))), Value::reals(vec![1.0, 2.0]));
    let both = array(vec![record(1.0), record(3.0)]);
    assert_eq!(value(&field(both.clone(), 0, reals(2))), Value::reals(vec![1.0, 3.0]));
    let y = Type::array(BaseType::Real, [saltus_flat::Dim::Known(2), saltus_flat::Dim::Known(2)]);
    assert_eq!(value(&field(both, 1, y)), matrix_value(2, 2, &[1.0, 2.0, 3.0, 6.0]));
}

#[test]
fn empty_arrays_keep_sizes_and_kind() {
    let ty = Type::array(BaseType::Real, [saltus_flat::Dim::Known(0), saltus_flat::Dim::Known(3)]);
    let empty = value(&expr(ExprKind::Array(vec![]), ty));
    assert_eq!((empty.dims(), empty.base_type()), (&[0, 3][..], BaseType::Real));
    let more = binary(BinaryOp::Add, expr(ExprKind::Array(vec![]), reals(0)), expr(ExprKind::Array(vec![]), reals(0)));
    assert_eq!(value(&more), Value::reals(vec![]));
}

#[test]
fn reductions() {
    let i = || local(saltus_base::Index::from_usize(0), Type::INTEGER);
    let j = || local(saltus_base::Index::from_usize(1), Type::INTEGER);
    let reduce =
        |op, body, iterators, ty| value(&expr(ExprKind::Reduction { op, body: Box::new(body), iterators }, ty));
    let squares = || binary(BinaryOp::Mul, i(), i());
    let one_to = |n| range(int(1), None, int(n));
    assert_eq!(reduce(ReductionOp::Sum, squares(), vec![iterator(0, one_to(3))], Type::INTEGER), Value::Integer(14));
    assert_eq!(reduce(ReductionOp::Product, i(), vec![iterator(0, one_to(4))], Type::INTEGER), Value::Integer(24));
    assert_eq!(reduce(ReductionOp::Max, i(), vec![iterator(0, ints(&[3, 9, 2]))], Type::INTEGER), Value::Integer(9));
    // Inner ranges may depend on outer iterators: sum over i of i copies of i.
    let triangle = vec![iterator(0, one_to(3)), iterator(1, range(int(1), None, i()))];
    assert_eq!(reduce(ReductionOp::Sum, i(), triangle, Type::INTEGER), Value::Integer(14));
    let table = vec![iterator(0, one_to(2)), iterator(1, one_to(3))];
    let body = binary(BinaryOp::Add, binary(BinaryOp::Mul, int(10), i()), j());
    let built = reduce(ReductionOp::Array, body, table, unknown(BaseType::Integer, 2));
    assert_eq!(built.dims(), [2, 3]);
    assert_eq!(built.to_integers(), Some(vec![11, 12, 13, 21, 22, 23]));
    let empty = vec![iterator(0, one_to(0)), iterator(1, one_to(3))];
    assert_eq!(reduce(ReductionOp::Array, i(), empty, unknown(BaseType::Integer, 2)).dims(), [0, 3]);
    // Neutral elements over an empty range.
    assert_eq!(reduce(ReductionOp::Sum, i(), vec![iterator(0, one_to(0))], Type::REAL), Value::Real(0.0));
    assert_eq!(reduce(ReductionOp::Min, i(), vec![iterator(0, one_to(0))], Type::REAL), Value::Real(f64::MAX));
}

#[test]
fn elementary_builtins_and_their_domains() {
    use Builtin::*;
    let f = |b, args| value(&builtin(b, args, Type::REAL));
    assert_eq!(f(Exp, vec![real(0.0)]), Value::Real(1.0));
    assert_eq!(f(Log10, vec![real(1000.0)]), Value::Real(3.0));
    assert_eq!(f(Sqrt, vec![int(9)]), Value::Real(3.0));
    assert_eq!(f(Abs, vec![int(-3)]), Value::Integer(3));
    assert_eq!(f(Sign, vec![real(-0.5)]), Value::Integer(-1));
    for (b, x) in [(Sqrt, -1.0), (Log, 0.0), (Asin, 1.5)] {
        assert_eq!(code(&builtin(b, vec![real(x)], Type::REAL)), "E0608");
    }
}

#[test]
fn integer_division_builtins() {
    use Builtin::*;
    let f = |b, x: Expr, y: Expr| value(&builtin(b, vec![x, y], Type::REAL));
    assert_eq!(f(Div, int(-7), int(2)), Value::Integer(-3));
    assert_eq!(f(Rem, int(-7), int(2)), Value::Integer(-1));
    assert_eq!(f(Mod, int(-7), int(2)), Value::Integer(1));
    assert_eq!(f(Mod, int(7), int(-2)), Value::Integer(-1));
    // The examples of the specification: mod(-3, 1.4) = 1.2, rem(-3, 1.4) = -0.2.
    let close = |v: Value, x: f64| assert!((v.as_real().expect("real") - x).abs() < 1e-15);
    close(f(Mod, real(-3.0), real(1.4)), 1.2);
    close(f(Rem, real(-3.0), real(1.4)), -0.2);
    assert_eq!(code(&builtin(Mod, vec![int(1), int(0)], Type::INTEGER)), "E0602");
    let one = |b, x| value(&builtin(b, vec![real(x)], Type::REAL));
    assert_eq!(one(Floor, -1.5), Value::Real(-2.0));
    assert_eq!(one(Ceil, -1.5), Value::Real(-1.0));
    assert_eq!(one(Integer, -1.5), Value::Integer(-2));
    assert_eq!(code(&builtin(Integer, vec![real(1e300)], Type::INTEGER)), "E0609");
}

#[test]
fn conversions_to_string() {
    let to_string = |args| builtin(Builtin::ToString, args, Type::STRING);
    let text = |args| value(&to_string(args));
    assert_eq!(text(vec![int(42), int(5), boolean(false)]), Value::string("   42"));
    assert_eq!(text(vec![boolean(true), int(0), boolean(true)]), Value::string("true"));
    assert_eq!(text(vec![literal(2), int(3), boolean(true)]), Value::string("b  "));
    assert_eq!(text(vec![real(0.1), int(3), int(8), boolean(false)]), Value::string("     0.1"));
    assert_eq!(text(vec![real(2.71545), string(".2f")]), Value::string("2.72"));
    assert_eq!(text(vec![int(255), string("x")]), Value::string("ff"));
    assert_eq!(code(&to_string(vec![real(1.0), string("s")])), "E0615");
}

#[test]
fn enumeration_conversions() {
    let ty = Type::scalar(BaseType::Enumeration(e()));
    assert_eq!(value(&builtin(Builtin::ToInteger, vec![literal(3)], Type::INTEGER)), Value::Integer(3));
    assert_eq!(value(&builtin(Builtin::EnumFromInteger, vec![int(2)], ty.clone())), Value::Enum(e(), 2));
    assert_eq!(code(&builtin(Builtin::EnumFromInteger, vec![int(4)], ty)), "E0611");
}

#[test]
fn sizes_come_from_the_type_where_it_knows_them() {
    let x = || var(9, Type::array(BaseType::Real, [saltus_flat::Dim::Known(4), saltus_flat::Dim::Known(2)]));
    assert_eq!(value(&builtin(Builtin::Size, vec![x(), int(2)], Type::INTEGER)), Value::Integer(2));
    assert_eq!(value(&builtin(Builtin::Size, vec![x()], Type::INTEGER)), Value::integers(vec![4, 2]));
    assert_eq!(value(&builtin(Builtin::Ndims, vec![x()], Type::INTEGER)), Value::Integer(2));
    assert_eq!(code(&builtin(Builtin::Size, vec![x(), int(3)], Type::INTEGER)), "E0603");
}

#[test]
fn array_constructors() {
    use Builtin::*;
    let f = |b, args, ty| value(&builtin(b, args, ty));
    let real_matrix = || unknown(BaseType::Real, 2);
    assert_eq!(f(Fill, vec![real(1.5), int(2)], reals(2)), Value::reals(vec![1.5, 1.5]));
    assert_eq!(f(Zeros, vec![int(2)], unknown(BaseType::Integer, 1)), Value::integers(vec![0, 0]));
    assert_eq!(f(Identity, vec![int(2)], real_matrix()), matrix_value(2, 2, &[1.0, 0.0, 0.0, 1.0]));
    assert_eq!(f(Diagonal, vec![vector(&[1.0, 2.0])], real_matrix()), matrix_value(2, 2, &[1.0, 0.0, 0.0, 2.0]));
    assert_eq!(f(Linspace, vec![real(0.0), real(1.0), int(3)], reals(3)), Value::reals(vec![0.0, 0.5, 1.0]));
    assert_eq!(code(&builtin(Zeros, vec![int(-1)], reals(0))), "E0610");
    assert_eq!(code(&builtin(Fill, vec![real(0.0), int(100_000), int(100_000)], real_matrix())), "E0606");
    assert_eq!(code(&builtin(Linspace, vec![real(0.0), real(1.0), int(1)], reals(1))), "E0612");
}

#[test]
fn array_functions() {
    use Builtin::*;
    let f = |b, args, ty| value(&builtin(b, args, ty));
    let m = || matrix(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let two = || unknown(BaseType::Real, 2);
    assert_eq!(f(Transpose, vec![matrix(&[&[1.0, 2.0, 3.0]])], two()), matrix_value(3, 1, &[1.0, 2.0, 3.0]));
    assert_eq!(f(Symmetric, vec![m()], two()), matrix_value(2, 2, &[1.0, 2.0, 2.0, 4.0]));
    assert_eq!(
        f(OuterProduct, vec![vector(&[1.0, 2.0]), vector(&[3.0, 4.0])], two()),
        matrix_value(2, 2, &[3.0, 4.0, 6.0, 8.0])
    );
    let (x, y) = (|| vector(&[1.0, 0.0, 0.0]), || vector(&[0.0, 1.0, 0.0]));
    assert_eq!(f(Cross, vec![x(), y()], reals(3)), Value::reals(vec![0.0, 0.0, 1.0]));
    // skew(x)*y is cross(x, y).
    let skew = builtin(Skew, vec![x()], two());
    assert_eq!(value(&binary(BinaryOp::MatMul, skew, y())), Value::reals(vec![0.0, 0.0, 1.0]));
    assert_eq!(f(Scalar, vec![matrix(&[&[5.0]])], Type::REAL), Value::Real(5.0));
    assert_eq!(f(Vector, vec![matrix(&[&[5.0], &[6.0]])], reals(2)), Value::reals(vec![5.0, 6.0]));
    assert_eq!(f(Matrix, vec![vector(&[5.0, 6.0])], two()), matrix_value(2, 1, &[5.0, 6.0]));
    assert_eq!(f(Promote, vec![real(5.0), int(2)], two()), matrix_value(1, 1, &[5.0]));
    assert_eq!(
        f(Cat, vec![int(2), m(), matrix(&[&[9.0], &[8.0]])], two()),
        matrix_value(2, 3, &[1.0, 2.0, 9.0, 3.0, 4.0, 8.0])
    );
    assert_eq!(
        f(Cat, vec![int(1), ints(&[1]), ints(&[2, 3])], unknown(BaseType::Integer, 1)),
        Value::integers(vec![1, 2, 3])
    );
    assert_eq!(f(Sum, vec![m()], Type::REAL), Value::Real(10.0));
    assert_eq!(f(Product, vec![m()], Type::REAL), Value::Real(24.0));
    assert_eq!(f(Min, vec![m()], Type::REAL), Value::Real(1.0));
    assert_eq!(f(Max, vec![int(2), real(1.0)], Type::REAL), Value::Real(2.0));
    assert_eq!(code(&builtin(Scalar, vec![vector(&[1.0, 2.0])], Type::REAL)), "E0610");
    assert_eq!(code(&builtin(Cat, vec![int(1), m(), matrix(&[&[1.0]])], two())), "E0610");
}

#[test]
fn operators_that_only_concern_events_are_their_argument() {
    use Builtin::*;
    let f = |b, args| value(&builtin(b, args, Type::REAL));
    assert_eq!(f(NoEvent, vec![real(1.0)]), Value::Real(1.0));
    assert_eq!(f(Smooth, vec![int(1), real(2.0)]), Value::Real(2.0));
    assert_eq!(f(Homotopy, vec![real(3.0), real(4.0)]), Value::Real(3.0));
    assert_eq!(f(SemiLinear, vec![real(-2.0), real(1.0), real(3.0)]), Value::Real(-6.0));
    assert_eq!(f(GetInstanceName, vec![]), Value::string("M.c"));
    for b in [Initial, Terminal, Sample, Delay, Der, InStream] {
        assert!(matches!(evaluate(&builtin(b, vec![real(1.0)], Type::REAL)), Err(EvalError::NotConstant { .. })));
    }
}

#[test]
fn casts_and_literals() {
    let cast = expr(ExprKind::Cast(Box::new(ints(&[1, 2]))), reals(2));
    assert_eq!(value(&cast), Value::reals(vec![1.0, 2.0]));
    let back = to_expr(&Value::integers(vec![1, 2]), &reals(2), nowhere());
    assert!(back.is_literal());
    assert_eq!((back.ty.clone(), value(&back)), (reals(2), Value::reals(vec![1.0, 2.0])));
}

#[test]
fn locals_and_variables_of_the_surroundings() {
    let mut world = World { variables: vec![Value::Real(2.5)], ..World::default() };
    let mut evaluator = Evaluator::new(&mut world, Limits::default());
    let i = saltus_base::Index::from_usize(3);
    evaluator.bind_local(i, Value::Integer(4));
    let product = binary(BinaryOp::Mul, var(0, Type::REAL), local(i, Type::INTEGER));
    assert_eq!(evaluator.evaluate(&product), Ok(Value::Real(10.0)));
    assert!(matches!(evaluator.evaluate(&var(1, Type::REAL)), Err(EvalError::NotConstant { .. })));
}

#[test]
fn long_chains_and_deep_nesting_end_well() {
    let chain = (0..5_000).fold(int(0), |sum, _| binary(BinaryOp::Add, sum, int(1)));
    assert_eq!(value(&chain), Value::Integer(5_000));
    let negated = |e: Expr| Expr::new(ExprKind::Unary(UnaryOp::Negate, Box::new(e)), Type::INTEGER, nowhere());
    assert_eq!(code(&(0..5_000).fold(int(0), |e, _| negated(e))), "E0605");
}
