//! Tests that need numbers: an evaluator, and a source of random numbers that is the same in every run.

mod derivatives;
mod expressions;
mod scale;
mod solving;

use saltus_base::Index;
use saltus_program::{BinaryFn, CallableId, SlotId, UnaryFn};

use crate::{Dag, Names, Node, NodeId};

fn slot(i: usize) -> SlotId {
    SlotId::from_usize(i)
}

/// `n` continuous slots.
fn variables(n: usize) -> (Dag, Vec<NodeId>) {
    let mut dag = Dag::default();
    let nodes = (0..n).map(|i| dag.load(slot(i), true)).collect();
    (dag, nodes)
}

/// The value with the slots `x`; the k-th result of a call is k + the sum of the squares of its arguments.
fn evaluate(dag: &Dag, root: NodeId, x: &[f64]) -> f64 {
    let order = dag.reachable(&[root]);
    let mut values: Vec<f64> = Vec::new();
    for &id in &order {
        let at = |child: NodeId| values[order.binary_search(&child).unwrap()];
        values.push(match dag.node(id) {
            Node::Const(bits) => f64::from_bits(bits),
            Node::Load(slot) => x[slot.index()],
            Node::Unary(f, a) => f.apply(at(a)),
            Node::Binary(f, a, b) => f.apply(at(a), at(b)),
            Node::Select(c, a, b) => at(if at(c) != 0.0 { a } else { b }),
            Node::Result(call, k) => {
                let squares = dag.called(call).arguments.iter().map(|&a| at(a) * at(a));
                f64::from(k) + squares.sum::<f64>()
            }
        });
    }
    *values.last().unwrap()
}

/// Slots are `x0`, `x1`, …; functions `f0`, ….
struct Numbered;

impl Names for Numbered {
    fn slot(&self, slot: SlotId) -> String {
        format!("x{}", slot.index())
    }

    fn function(&self, function: CallableId) -> String {
        format!("f{}", function.index())
    }
}

fn text(dag: &Dag, root: NodeId) -> String {
    dag.text(root, &Numbered, 1000)
}

/// A linear congruential generator (Knuth's constants).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        self.bits() as usize % n
    }

    /// Between 0 and 1.
    fn number(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 31) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.number()
    }
}

const SMOOTH: [UnaryFn; 7] =
    [UnaryFn::Negate, UnaryFn::Sin, UnaryFn::Cos, UnaryFn::Atan, UnaryFn::Tanh, UnaryFn::Asinh, UnaryFn::Abs];

/// A random expression of bounded value in the first `n` slots.
fn random_expression(dag: &mut Dag, random: &mut Random, leaves: &[NodeId], n_operations: usize) -> NodeId {
    let mut pool = leaves.to_vec();
    for _ in 0..n_operations {
        let pick = |random: &mut Random| pool[random.below(pool.len())];
        let (a, b, c) = (pick(random), pick(random), pick(random));
        let new = match random.below(8) {
            0 | 1 => dag.unary(SMOOTH[random.below(SMOOTH.len())], a),
            2 => dag.add(a, b),
            3 => dag.sub(a, b),
            4 => {
                let (a, b) = (dag.unary(UnaryFn::Sin, a), dag.unary(UnaryFn::Tanh, b));
                dag.mul(a, b)
            }
            5 => {
                let (two, square) = (dag.constant(2.0), dag.mul(b, b));
                let divisor = dag.add(two, square);
                dag.div(a, divisor)
            }
            6 => dag.binary([BinaryFn::Min, BinaryFn::Max][random.below(2)], a, b),
            _ => {
                let condition = dag.binary(BinaryFn::Less, a, b);
                dag.select(condition, c, a)
            }
        };
        pool.push(new);
    }
    pool[pool.len() - 1]
}
