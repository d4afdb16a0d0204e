//! Large and deep expressions: no recursion, and work in proportion to the nodes.

use saltus_program::UnaryFn;

use super::{Numbered, slot, variables};
use crate::{Dag, NoCalls, NodeId};

const DEEP: usize = 200_000;

/// `sin(sin(… x + y …) + y)`, alternating.
fn chain(dag: &mut Dag, x: NodeId, y: NodeId) -> NodeId {
    (0..DEEP / 2).fold(x, |node, _| {
        let sine = dag.unary(UnaryFn::Sin, node);
        dag.add(sine, y)
    })
}

#[test]
fn deep_chains_pass_every_pass() {
    let (mut dag, x) = variables(3);
    let root = chain(&mut dag, x[0], x[1]);
    assert_eq!(dag.reachable(&[root]).len(), DEEP + 2);
    let gradient = dag.gradient(root, &[slot(0), slot(1), slot(2)], &mut NoCalls).unwrap();
    assert!(gradient[0].is_some() && gradient[1].is_some() && gradient[2].is_none());
    assert_eq!(dag.linear(root, slot(0)), None);
    assert_eq!(dag.solve(root, x[2], slot(0), &|_, _| true), None);
    let text = dag.text(root, &Numbered, 50);
    assert!(text.starts_with("sin(sin(") && text.ends_with('…'));
    let replaced = dag.substitute(root, &|s| (s == slot(0)).then_some(x[2]));
    assert_eq!(dag.loads(&[replaced]), [slot(1), slot(2)]);
}

/// A sum of n products has n derivatives and n coefficients; a quadratic pass would take 10¹⁰ steps here.
#[test]
fn long_sums_cost_what_they_contain() {
    let n = 100_000;
    let (mut dag, x) = variables(n + 1);
    let mut sum = dag.constant(1.0);
    for &term in &x[1..] {
        let product = dag.mul(x[0], term);
        sum = dag.add(sum, product);
    }
    let slots: Vec<_> = (1..=n).map(slot).collect();
    let gradient = dag.gradient(sum, &slots, &mut NoCalls).unwrap();
    assert!(gradient.iter().all(|&d| d == Some(x[0])));
    let form = dag.linear_in_all(sum, &slots).unwrap();
    assert_eq!(form.terms.len(), n);
    assert!(form.terms.iter().all(|&(_, c)| c == x[0]));
    assert_eq!(dag.value(form.rest), Some(1.0));
}

/// The incidence of many small equations in one large graph.
#[test]
fn many_small_queries() {
    let n = 100_000;
    let (mut dag, x) = variables(n + 1);
    let equations: Vec<_> = (0..n).map(|i| dag.sub(x[i], x[i + 1])).collect();
    let mut slots = Vec::new();
    for &equation in &equations {
        dag.slots_of(equation, &mut slots);
        assert!(!dag.depends_on(equation, &|s| s == slot(n + 5)));
    }
    assert_eq!(slots.len(), 2 * n);
}

/// `f(n) = f(n-1) * f(n-1)` shares everything; its text would have 2¹⁰⁰ factors.
#[test]
fn shared_expressions_stay_small() {
    let (mut dag, x) = variables(2);
    let root = (0..100).fold(x[0], |node, _| {
        let sine = dag.unary(UnaryFn::Sin, node);
        dag.mul(node, sine)
    });
    let before = dag.len();
    let gradient = dag.gradient(root, &[slot(0)], &mut NoCalls).unwrap();
    assert!(gradient[0].is_some() && dag.len() < 6 * before);
    assert!(dag.text(root, &Numbered, 100).len() < 110);
}
