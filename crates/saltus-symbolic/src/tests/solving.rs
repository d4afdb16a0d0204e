//! Linear parts and solutions, put back into what they came from.

use saltus_program::{BinaryFn, SlotId, UnaryFn};

use super::{Random, evaluate, random_expression, slot, text, variables};
use crate::{Dag, Node, NodeId, Signs};

fn never(_: &Dag, _: NodeId) -> bool {
    false
}

fn assert_same(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} is not {expected}");
}

#[test]
fn linear_parts_are_found_through_branches() {
    let (mut dag, x) = variables(3);
    let two = dag.constant(2.0);
    let double = dag.mul(two, x[0]);
    let (a, b) = (dag.add(double, x[1]), dag.sub(x[1], x[0]));
    let root = dag.select(x[2], a, b);
    let (coefficient, rest) = dag.linear(root, slot(0)).unwrap();
    assert_eq!(text(&dag, coefficient), "if x2 then 2 else -1");
    assert_eq!(rest, x[1]);
    let square = dag.mul(x[0], x[0]);
    assert_eq!(dag.linear(square, slot(0)), None);
    let zero = dag.constant(0.0);
    assert_eq!(dag.linear(square, slot(1)), Some((zero, square)));
    assert_eq!(dag.linear(root, slot(2)), None);
}

/// A random expression that is linear in slots 0 and 1, with coefficients of slots 2 and 3.
fn random_linear(dag: &mut Dag, random: &mut Random, x: &[NodeId]) -> NodeId {
    let free = |dag: &mut Dag, random: &mut Random| random_expression(dag, random, &x[2..4], 4);
    let mut pool = vec![x[0], x[1]];
    for _ in 0..12 {
        let (a, b) = (pool[random.below(pool.len())], pool[random.below(pool.len())]);
        let factor = free(dag, random);
        let new = match random.below(6) {
            0 => dag.add(a, b),
            1 => dag.sub(a, b),
            2 => dag.mul(factor, a),
            3 => {
                let (two, square) = (dag.constant(2.0), dag.mul(factor, factor));
                let divisor = dag.add(two, square);
                dag.div(a, divisor)
            }
            4 => dag.sub(factor, a),
            _ => {
                let condition = dag.binary(BinaryFn::Less, factor, x[2]);
                dag.select(condition, a, b)
            }
        };
        pool.push(new);
    }
    pool[pool.len() - 1]
}

#[test]
fn linear_forms_add_up_again() {
    let mut random = Random(5);
    for _ in 0..200 {
        let (mut dag, x) = variables(4);
        let root = random_linear(&mut dag, &mut random, &x);
        let is_unknown = |s: SlotId| s < slot(2);
        let form = dag.linear_in_all(root, &[slot(1), slot(0)]).unwrap();
        let at: Vec<f64> = (0..4).map(|_| random.between(-2.0, 2.0)).collect();
        let mut total = evaluate(&dag, form.rest, &at);
        assert!(!dag.depends_on(form.rest, &is_unknown));
        for &(s, coefficient) in &form.terms {
            assert!(!dag.depends_on(coefficient, &is_unknown));
            total += evaluate(&dag, coefficient, &at) * at[usize::from(s == slot(1))];
        }
        assert_same(total, evaluate(&dag, root, &at));
        let (coefficient, rest) = dag.linear(root, slot(0)).unwrap();
        let single = evaluate(&dag, coefficient, &at) * at[0] + evaluate(&dag, rest, &at);
        assert_same(single, evaluate(&dag, root, &at));
    }
}

/// A branch that is not taken does not spoil the coefficients of the other: x0 / x1 for x1 = 0.
#[test]
fn untaken_branches_do_not_reach_coefficients() {
    let (mut dag, x) = variables(3);
    let (quotient, three) = (dag.div(x[0], x[1]), dag.constant(3.0));
    let branch = dag.select(x[2], quotient, x[0]);
    let root = dag.mul(three, branch);
    let (coefficient, rest) = dag.linear(root, slot(0)).unwrap();
    assert_eq!(evaluate(&dag, coefficient, &[1.0, 0.0, 0.0]), 3.0);
    assert_eq!(dag.value(rest), Some(0.0));
}

#[test]
fn joint_linearity_is_more_than_linearity_in_each() {
    let (mut dag, x) = variables(2);
    let product = dag.mul(x[0], x[1]);
    assert!(dag.linear(product, slot(0)).is_some() && dag.linear(product, slot(1)).is_some());
    assert_eq!(dag.linear_in_all(product, &[slot(0), slot(1)]), None);
}

#[test]
fn solutions_fulfil_their_equations() {
    let mut random = Random(6);
    let mut n_solved = 0;
    for _ in 0..300 {
        let (mut dag, x) = variables(4);
        let (left, right) = (random_linear(&mut dag, &mut random, &x), random_linear(&mut dag, &mut random, &x));
        let Some(solution) = dag.solve(left, right, slot(0), &|_, _| true) else { continue };
        assert!(!dag.depends_on(solution, &|s| s == slot(0)));
        let mut at: Vec<f64> = (0..4).map(|_| random.between(-2.0, 2.0)).collect();
        at[0] = evaluate(&dag, solution, &at);
        if at[0].abs() < 1e3 {
            assert_same(evaluate(&dag, left, &at), evaluate(&dag, right, &at));
            n_solved += 1;
        }
    }
    assert!(n_solved > 100, "{n_solved}");
}

#[test]
fn one_to_one_functions_are_inverted() {
    let (mut dag, x) = variables(3);
    let five = dag.constant(5.0);
    for function in [UnaryFn::Exp, UnaryFn::Log, UnaryFn::Log10, UnaryFn::Sinh, UnaryFn::Asinh, UnaryFn::Atanh] {
        // 5 * f(2 * x0 + x1) - x1 = x2
        let two = dag.constant(2.0);
        let double = dag.mul(two, x[0]);
        let argument = dag.add(double, x[1]);
        let value = dag.unary(function, argument);
        let product = dag.mul(five, value);
        let left = dag.sub(product, x[1]);
        let solution = dag.solve(x[2], left, slot(0), &never).unwrap();
        let mut at = [0.0, 0.1, 0.7];
        at[0] = evaluate(&dag, solution, &at);
        assert_same(evaluate(&dag, left, &at), at[2]);
    }
    // Several solutions, or a range that an inverse would leave.
    for function in [UnaryFn::Sin, UnaryFn::Abs, UnaryFn::Sqrt, UnaryFn::Cosh, UnaryFn::Atan, UnaryFn::Sign] {
        let value = dag.unary(function, x[0]);
        assert_eq!(dag.solve(value, x[1], slot(0), &|_, _| true), None, "{}", function.name());
    }
    let not = dag.not(x[0]);
    let solution = dag.solve(x[1], not, slot(0), &never).unwrap();
    assert_eq!(text(&dag, solution), "not x1");
}

#[test]
fn coefficients_must_not_vanish_in_any_branch() {
    let (mut dag, x) = variables(4);
    let (zero, one) = (dag.constant(0.0), dag.constant(1.0));
    let (square, exponential) = (dag.mul(x[1], x[1]), dag.unary(UnaryFn::Exp, x[1]));
    let at_least_one = dag.add(square, one);
    let vanishing = dag.select(x[3], one, zero);
    let two_signs = dag.select(x[3], one, exponential);
    let hidden = dag.mul(x[1], vanishing);
    let truth = dag.binary(BinaryFn::Less, x[1], zero);
    let cases = [
        (one, true, true),
        (at_least_one, true, true),
        (exponential, true, true),
        (two_signs, true, true),
        // A parameter, say: only if the caller vouches for it.
        (x[1], false, true),
        (square, false, true),
        // Zero in one branch, whatever the caller says.
        (vanishing, false, false),
        (hidden, false, false),
        (truth, false, false),
    ];
    for (coefficient, alone, vouched) in cases {
        let left = dag.mul(coefficient, x[0]);
        assert_eq!(dag.solve(left, x[2], slot(0), &never).is_some(), alone, "{}", text(&dag, coefficient));
        assert_eq!(dag.solve(left, x[2], slot(0), &|_, _| true).is_some(), vouched, "{}", text(&dag, coefficient));
    }
    let only_slot_1 = |dag: &Dag, id: NodeId| dag.node(id) == Node::Load(slot(1));
    let left = dag.mul(x[1], x[0]);
    assert!(dag.solve(left, x[2], slot(0), &only_slot_1).is_some());
    let left = dag.mul(x[3], x[0]);
    assert_eq!(dag.solve(left, x[2], slot(0), &only_slot_1), None);
    // The unknown on both sides: x0 = x0 + x1 has no unique solution.
    let right = dag.add(x[0], x[1]);
    assert_eq!(dag.solve(x[0], right, slot(0), &|_, _| true), None);
}

/// The signs that are claimed contain those of values.
#[test]
fn signs_contain_those_of_values() {
    let mut random = Random(7);
    for _ in 0..300 {
        let (mut dag, mut leaves) = variables(2);
        let exponential = dag.unary(UnaryFn::Exp, leaves[0]);
        let three = dag.constant(3.0);
        let cube = dag.binary(BinaryFn::Pow, leaves[1], three);
        leaves.extend([exponential, cube, three]);
        let root = random_expression(&mut dag, &mut random, &leaves, 6);
        let signs = dag.signs(root, &never);
        for _ in 0..10 {
            let at = [random.between(-2.0, 2.0), random.between(-2.0, 2.0)];
            assert!(signs.has(Signs::of(evaluate(&dag, root, &at))), "{}", text(&dag, root));
        }
    }
}
