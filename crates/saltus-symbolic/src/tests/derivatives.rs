//! Derivatives against central differences, at kinks, through calls.

use saltus_base::Index;
use saltus_program::{BinaryFn, CallableId, SlotId, UnaryFn};

use super::{Random, evaluate, random_expression, slot, text, variables};
use crate::{CallId, Dag, Derivative, NoCalls, NodeId, NotDifferentiable, Rules};

/// The partial derivative by one slot; calls have the derivative that `evaluate` gives them.
struct By(SlotId);

impl Rules for By {
    fn slot(&mut self, dag: &mut Dag, slot: SlotId) -> Option<NodeId> {
        (slot == self.0).then(|| dag.constant(1.0))
    }

    fn call(&mut self, dag: &mut Dag, call: CallId, _: u32, d_arguments: &[Derivative]) -> Derivative {
        let arguments = dag.called(call).arguments.to_vec();
        let mut total = dag.constant(0.0);
        for (x, dx) in arguments.into_iter().zip(d_arguments) {
            let Some(dx) = (*dx)? else { continue };
            let two = dag.constant(2.0);
            let slope = dag.mul(two, x);
            let part = dag.mul(slope, dx);
            total = dag.add(total, part);
        }
        Ok(Some(total))
    }
}

fn derivative(dag: &mut Dag, root: NodeId, by: usize) -> NodeId {
    let found = dag.differentiate(root, &mut By(slot(by))).unwrap();
    found.unwrap_or_else(|| dag.constant(0.0))
}

fn central_difference(dag: &Dag, root: NodeId, x: &[f64], by: usize) -> f64 {
    let h = 1e-6;
    let at = |shift: f64| {
        let mut x = x.to_vec();
        x[by] += shift;
        evaluate(dag, root, &x)
    };
    (at(h) - at(-h)) / (2.0 * h)
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{what}: {found} is not {expected}");
}

#[test]
fn every_unary_function_agrees_with_differences() {
    use UnaryFn::*;
    let mut random = Random(1);
    // The range on which each function is smooth.
    let cases = [
        (Negate, -2.0, 2.0),
        (Sin, -4.0, 4.0),
        (Cos, -4.0, 4.0),
        (Tan, -1.2, 1.2),
        (Asin, -0.9, 0.9),
        (Acos, -0.9, 0.9),
        (Atan, -5.0, 5.0),
        (Sinh, -2.0, 2.0),
        (Cosh, -2.0, 2.0),
        (Tanh, -2.0, 2.0),
        (Asinh, -5.0, 5.0),
        (Atanh, -0.9, 0.9),
        (Exp, -2.0, 2.0),
        (Log, 0.1, 9.0),
        (Log10, 0.1, 9.0),
        (Sqrt, 0.1, 9.0),
        (Abs, -3.0, -0.1),
        (Abs, 0.1, 3.0),
        (Sign, 0.1, 3.0),
        (Floor, 0.1, 0.9),
        (Ceil, 0.1, 0.9),
    ];
    for (function, low, high) in cases {
        let (mut dag, x) = variables(1);
        let root = dag.unary(function, x[0]);
        let d = derivative(&mut dag, root, 0);
        for _ in 0..20 {
            let at = [random.between(low, high)];
            assert_close(evaluate(&dag, d, &at), central_difference(&dag, root, &at, 0), function.name());
        }
    }
}

#[test]
fn every_binary_function_agrees_with_differences() {
    use BinaryFn::*;
    let mut random = Random(2);
    for function in [Add, Sub, Mul, Div, Pow, Atan2, IntDiv, Mod, Rem, Min, Max, Less, Equal, And] {
        let (mut dag, x) = variables(2);
        let root = dag.binary(function, x[0], x[1]);
        for by in 0..2 {
            let d = derivative(&mut dag, root, by);
            for _ in 0..20 {
                // x0 / x1 stays between 2.1 and 2.9, away from the jumps.
                let b = random.between(0.5, 1.5);
                let at = [b * random.between(2.1, 2.9), b];
                assert_close(evaluate(&dag, d, &at), central_difference(&dag, root, &at, by), function.name());
            }
        }
    }
}

#[test]
fn random_expressions_agree_with_differences() {
    let mut random = Random(3);
    let mut n_compared = 0;
    for _ in 0..60 {
        let (mut dag, x) = variables(3);
        let root = random_expression(&mut dag, &mut random, &x, 25);
        let slots: Vec<SlotId> = (0..3).map(slot).collect();
        let gradient = dag.gradient(root, &slots, &mut NoCalls).unwrap();
        for by in 0..3 {
            let d = derivative(&mut dag, root, by);
            for _ in 0..5 {
                let at: Vec<f64> = (0..3).map(|_| random.between(-1.0, 1.0)).collect();
                let found = evaluate(&dag, d, &at);
                let by_gradient = gradient[by].map_or(0.0, |g| evaluate(&dag, g, &at));
                assert!((found - by_gradient).abs() <= 1e-12 * (1.0 + found.abs()), "{}", text(&dag, root));
                let expected = central_difference(&dag, root, &at, by);
                // A kink or a jump between the two points of the difference shows as a difference of slopes.
                let mut nearby = at.clone();
                nearby[by] += 1e-6;
                if (evaluate(&dag, d, &nearby) - found).abs() < 1e-3 && expected.abs() < 1e3 {
                    assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{}", text(&dag, root));
                    n_compared += 1;
                }
            }
        }
    }
    assert!(n_compared > 600, "{n_compared}");
}

#[test]
fn kinks_take_the_branch_of_the_value() {
    let (mut dag, x) = variables(2);
    let absolute = dag.unary(UnaryFn::Abs, x[0]);
    let d = derivative(&mut dag, absolute, 0);
    assert_eq!(text(&dag, d), "sign(x0)");
    let least = dag.binary(BinaryFn::Min, x[0], x[1]);
    let d = derivative(&mut dag, least, 0);
    assert_eq!(text(&dag, d), "if x0 <= x1 then 1 else 0");
    // if x0 > 0 then sqrt(x0) else 0: the slope of the root, infinite at 0, stays in its branch.
    let zero = dag.constant(0.0);
    let (positive, root) = (dag.binary(BinaryFn::Greater, x[0], zero), dag.unary(UnaryFn::Sqrt, x[0]));
    let guarded = dag.select(positive, root, zero);
    let three = dag.constant(3.0);
    let product = dag.mul(three, guarded);
    let gradient = dag.gradient(product, &[slot(0)], &mut NoCalls).unwrap();
    assert_eq!(evaluate(&dag, gradient[0].unwrap(), &[0.0, 0.0]), 0.0);
    // Closed form: 3 / (2 sqrt(4)).
    assert_eq!(evaluate(&dag, gradient[0].unwrap(), &[4.0, 0.0]), 0.75);
}

#[test]
fn powers_at_zero() {
    let (mut dag, x) = variables(2);
    let two = dag.constant(2.0);
    let square = dag.binary(BinaryFn::Pow, x[0], two);
    let d = derivative(&mut dag, square, 0);
    assert_eq!(text(&dag, d), "2 * x0");
    let power = dag.binary(BinaryFn::Pow, x[0], x[1]);
    let (by_base, by_exponent) = (derivative(&mut dag, power, 0), derivative(&mut dag, power, 1));
    // x^0 = 1 and 0^y = 0 are constant.
    assert_eq!(evaluate(&dag, by_base, &[0.0, 0.0]), 0.0);
    assert_eq!(evaluate(&dag, by_exponent, &[0.0, 2.0]), 0.0);
    assert_eq!(evaluate(&dag, by_base, &[-2.0, 3.0]), 12.0);
}

#[test]
fn what_does_not_depend_has_no_derivative() {
    let (mut dag, x) = variables(2);
    let sine = dag.unary(UnaryFn::Sin, x[1]);
    assert_eq!(dag.differentiate(sine, &mut By(slot(0))), Ok(None));
    let relation = dag.binary(BinaryFn::Less, x[0], x[1]);
    assert_eq!(dag.differentiate(relation, &mut By(slot(0))), Ok(None));
    let difference = dag.sub(sine, x[0]);
    let gradient = dag.gradient(difference, &[slot(5), slot(0)], &mut NoCalls).unwrap();
    assert_eq!((gradient[0], gradient[1].and_then(|g| dag.value(g))), (None, Some(-1.0)));
}

#[test]
fn calls_are_differentiated_by_rule_or_named() {
    let (mut dag, x) = variables(2);
    let sine = dag.unary(UnaryFn::Sin, x[0]);
    let function = CallableId::from_usize(7);
    let call = dag.call(function, vec![sine, x[1]], 2);
    let (first, second) = (dag.result(call, 0), dag.result(call, 1));
    let root = dag.mul(first, second);
    for by in 0..2 {
        let d = derivative(&mut dag, root, by);
        let at = [0.7, -1.3];
        assert_close(evaluate(&dag, d, &at), central_difference(&dag, root, &at, by), "call");
    }
    let failure = dag.gradient(root, &[slot(0)], &mut NoCalls);
    assert_eq!(failure, Err(NotDifferentiable { call, function, result: 0 }));
    // A condition is not looked into.
    let zero = dag.constant(0.0);
    let condition = dag.binary(BinaryFn::Less, first, zero);
    let guarded = dag.select(condition, x[0], zero);
    assert!(dag.gradient(guarded, &[slot(0)], &mut NoCalls).is_ok());
}

#[test]
fn jacobians_are_sparse_and_in_order() {
    let (mut dag, x) = variables(3);
    let product = dag.mul(x[2], x[1]);
    let rows = [dag.sub(product, x[0]), dag.unary(UnaryFn::Exp, x[2])];
    let slots: Vec<SlotId> = (0..3).map(slot).collect();
    let jacobian = dag.jacobian(&rows, &slots, &mut NoCalls).unwrap();
    let texts: Vec<Vec<(usize, String)>> =
        jacobian.iter().map(|row| row.iter().map(|&(i, d)| (i, text(&dag, d))).collect()).collect();
    let own = |row: &[(usize, &str)]| row.iter().map(|&(i, t)| (i, t.to_owned())).collect::<Vec<_>>();
    assert_eq!(texts, [own(&[(0, "-1"), (1, "x2"), (2, "x1")]), own(&[(2, "exp(x2)")])]);
}
