//! Sharing, simplification, replacement, text.

use saltus_base::Index;
use saltus_program::{BinaryFn, CallableId, UnaryFn};

use super::{Numbered, Random, evaluate, random_expression, slot, text, variables};

#[test]
fn equal_expressions_are_one_node_and_constants_fold() {
    let (mut dag, x) = variables(2);
    let two = dag.constant(2.0);
    let (a, b) = (dag.mul(two, x[0]), dag.mul(x[0], two));
    assert_eq!(a, b);
    let (sum, swapped) = (dag.add(x[0], x[1]), dag.add(x[1], x[0]));
    assert_eq!(sum, swapped);
    assert_ne!(dag.sub(x[0], x[1]), dag.sub(x[1], x[0]));
    let four = dag.add(two, two);
    assert_eq!(dag.value(four), Some(4.0));
    let less = dag.binary(BinaryFn::Less, two, four);
    assert_eq!(dag.value(less), Some(1.0));
    assert!(dag.is_continuous(a) && !dag.is_continuous(four));
}

#[test]
fn calls_are_shared_and_seen() {
    let (mut dag, x) = variables(3);
    let function = CallableId::from_usize(0);
    let (one, same) = (dag.call(function, vec![x[0], x[1]], 2), dag.call(function, vec![x[0], x[1]], 2));
    assert_eq!(one, same);
    let (first, second) = (dag.result(one, 0), dag.result(one, 1));
    assert_ne!(first, second);
    assert_eq!(dag.loads(&[second]), [slot(0), slot(1)]);
    assert!(dag.is_continuous(second));
    let outer = dag.call(function, vec![second, x[2]], 2);
    let root = dag.result(outer, 0);
    let mut calls = Vec::new();
    dag.calls_of(&[root, first], &mut calls);
    assert_eq!(calls, [one, outer]);
    let replaced = dag.substitute(root, &|s| (s == slot(0)).then_some(x[2]));
    assert_eq!(text(&dag, replaced), "f0(f0(x2, x1)[2], x2)[1]");
    assert_eq!(text(&dag, root), "f0(f0(x0, x1)[2], x2)[1]");
}

#[test]
fn dependency_queries() {
    let (mut dag, x) = variables(3);
    let product = dag.mul(x[2], x[0]);
    let root = dag.unary(UnaryFn::Sin, product);
    let mut slots = Vec::new();
    dag.slots_of(root, &mut slots);
    slots.sort_unstable();
    assert_eq!(slots, [slot(0), slot(2)]);
    assert!(dag.depends_on(root, &|s| s == slot(2)) && !dag.depends_on(root, &|s| s == slot(1)));
    // A query inside a query has its own marks.
    assert!(dag.depends_on(root, &|s| s == slot(0) && dag.depends_on(product, &|t| t == slot(2))));
}

#[test]
fn identities() {
    let (mut dag, x) = variables(3);
    let (a, b, c) = (x[0], x[1], x[2]);
    let (zero, two, three, six) = (dag.constant(0.0), dag.constant(2.0), dag.constant(3.0), dag.constant(6.0));
    let minus_a = dag.negate(a);
    let difference = dag.sub(a, b);
    let six_a = dag.mul(six, a);
    let minus_b = dag.negate(b);
    let shifted = dag.add(a, two);
    let tenth = dag.constant(0.1);
    let shifted_by_tenth = dag.add(a, tenth);
    let not_c = dag.not(c);
    let inner = dag.select(c, a, b);
    let yes = dag.boolean(true);
    let six_b = dag.mul(six, b);
    let cases = [
        (dag.sub(a, a), "0"),
        (dag.mul(zero, a), "0"),
        (dag.negate(minus_a), "x0"),
        (dag.negate(difference), "x1 - x0"),
        (dag.sub(a, minus_b), "x0 + x1"),
        (dag.add(minus_a, b), "x1 - x0"),
        (dag.mul(minus_a, minus_b), "x0 * x1"),
        (dag.mul(a, minus_b), "-x0 * x1"),
        (dag.negate(six_a), "-6 * x0"),
        (dag.div(six_a, three), "2 * x0"),
        (dag.div(six_a, six), "x0"),
        (dag.mul(three, six_a), "18 * x0"),
        (dag.add(shifted, three), "x0 + 5"),
        (dag.sub(shifted, two), "x0"),
        (dag.sub(shifted, six), "x0 - 4"),
        // 0.1 + 3 would be rounded.
        (dag.add(shifted_by_tenth, three), "x0 + 0.1 + 3"),
        (dag.select(c, a, a), "x0"),
        (dag.select(not_c, a, b), "if x2 then x1 else x0"),
        (dag.select(c, inner, three), "if x2 then x0 else 3"),
        (dag.select(c, three, inner), "if x2 then 3 else x1"),
        (dag.select(yes, a, b), "x0"),
        (dag.binary(BinaryFn::And, c, not_c), "0"),
        (dag.binary(BinaryFn::Pow, a, zero), "1"),
        (dag.binary(BinaryFn::LessEqual, a, a), "1"),
        // A division by zero stays one.
        (dag.div(zero, a), "0 / x0"),
        (dag.div(a, a), "x0 / x0"),
    ];
    for (node, expected) in cases {
        assert_eq!(text(&dag, node), expected);
    }
    let minus_six_b = dag.negate(six_b);
    let sum = dag.add(a, minus_six_b);
    assert_eq!(text(&dag, sum), "x0 - 6 * x1");
}

/// Replacing variables by numbers folds to the same value as evaluating does.
#[test]
fn simplification_keeps_values() {
    let mut random = Random(4);
    for _ in 0..100 {
        let (mut dag, mut leaves) = variables(3);
        for c in [0.0, 1.0, -1.0, 2.0, -3.5] {
            leaves.push(dag.constant(c));
        }
        let root = random_expression(&mut dag, &mut random, &leaves, 40);
        let at: Vec<f64> = (0..3).map(|_| random.between(-2.0, 2.0)).collect();
        let numbers: Vec<_> = at.iter().map(|&v| dag.constant(v)).collect();
        let folded = dag.substitute(root, &|s| numbers.get(s.index()).copied());
        let (found, expected) = (dag.value(folded).unwrap(), evaluate(&dag, root, &at));
        assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{found} is not {expected}");
    }
}

#[test]
fn text_has_the_parentheses_it_needs() {
    let (mut dag, x) = variables(3);
    let (a, b, c) = (x[0], x[1], x[2]);
    let (sum, product, minus) = (dag.add(a, b), dag.mul(b, c), dag.negate(a));
    let less = dag.binary(BinaryFn::Less, a, b);
    let either = dag.binary(BinaryFn::Or, less, c);
    let branch = dag.select(less, a, minus);
    let power = dag.binary(BinaryFn::Pow, b, c);
    let minus_two = dag.constant(-2.0);
    let cases = [
        (dag.mul(sum, c), "(x0 + x1) * x2"),
        (dag.mul(a, product), "x0 * (x1 * x2)"),
        (dag.sub(c, sum), "x2 - (x0 + x1)"),
        (dag.sub(sum, c), "x0 + x1 - x2"),
        (dag.binary(BinaryFn::Pow, minus, b), "(-x0)^x1"),
        (dag.binary(BinaryFn::Pow, power, c), "(x1^x2)^x2"),
        (dag.binary(BinaryFn::Pow, a, minus_two), "x0^(-2)"),
        (dag.and(c, either), "x2 and (x0 < x1 or x2)"),
        (dag.add(c, branch), "x2 + (if x0 < x1 then x0 else -x0)"),
        (dag.binary(BinaryFn::Atan2, sum, branch), "atan2(x0 + x1, if x0 < x1 then x0 else -x0)"),
        (dag.not(either), "not (x0 < x1 or x2)"),
        (dag.mul(minus_two, b), "-2 * x1"),
    ];
    for (node, expected) in cases {
        assert_eq!(text(&dag, node), expected);
    }
    let long = cases[0].0;
    assert_eq!(dag.text(long, &Numbered, 6), "(x0 + …");
}
