//! Write nodes of the graph as straight-line code: each node once, each call once.
//!
//! ```text
//! y := if c then f(x) else 0      v0 = load c   v1 = load x   call f(v1) if v0   v3 = result   v4 = select v0 v3 0
//! ```
//!
//! Both branches of a `Select` are evaluated, but a call that is used in one of them only is not made while the other is
//! taken: it may be expensive (the body of a `when`), and its arguments may be outside of what it is made for.

mod needs;

use needs::{Literal, conditions_of_calls};
use saltus_program::{BinaryFn, Call, Code, Condition, Op, ValueId};

use crate::dag::{CallId, Dag, FastMap, Node, NodeId};
use crate::system::System;
use crate::tuning::form::{LARGEST_POWER, MOST_CONDITION_LEVELS};

pub struct Coder<'d> {
    dag: &'d Dag,
    pub code: Code,
    values: FastMap<NodeId, ValueId>,
    calls: FastMap<CallId, u32>,
    conditions: FastMap<CallId, Vec<Literal>>,
    level: u32,
}

impl<'d> Coder<'d> {
    /// For code that consists of `roots` and nothing else.
    pub fn new(system: &'d System, roots: &[NodeId]) -> Self {
        let dag = &system.dag;
        let callable = |call: CallId| system.calls.callables.get(dag.called(call).function);
        let has_effect = |call: CallId| callable(call).is_some_and(|c| c.effect.is_some());
        let order = dag.reachable(roots);
        let conditions = conditions_of_calls(dag, roots, &order, &has_effect);
        let (values, calls) = (FastMap::default(), FastMap::default());
        let mut coder = Coder { dag, code: Code::default(), values, calls, conditions, level: 0 };
        coder.write(&order);
        coder
    }

    /// The value of one of the roots.
    pub fn value(&self, root: NodeId) -> ValueId {
        self.at(root)
    }

    /// Nodes with all that they consist of, children first.
    fn write(&mut self, order: &[NodeId]) {
        self.code.ops.reserve(order.len());
        self.values.reserve(order.len());
        for &id in order {
            if self.values.contains_key(&id) {
                continue;
            }
            let op = match self.dag.node(id) {
                Node::Const(bits) => Op::Const(f64::from_bits(bits)),
                Node::Load(slot) => Op::Load(slot),
                Node::Unary(f, x) => Op::Unary(f, self.at(x)),
                Node::Binary(BinaryFn::Pow, a, b) if small_power(self.dag, b).is_some() => {
                    let (base, exponent) = (self.at(a), small_power(self.dag, b).unwrap_or(2));
                    self.power(base, exponent)
                }
                Node::Binary(f, a, b) => Op::Binary(f, self.at(a), self.at(b)),
                Node::Select(c, a, b) => Op::Select(self.at(c), self.at(a), self.at(b)),
                Node::Result(call, k) => {
                    let place = self.call(call);
                    Op::Result(place, k)
                }
            };
            self.values.insert(id, ValueId(self.code.ops.len() as u32));
            self.code.ops.push(op);
        }
    }

    /// Children come before their parents.
    fn at(&self, child: NodeId) -> ValueId {
        self.values.get(&child).copied().unwrap_or(ValueId(u32::MAX))
    }

    /// `base^exponent` by multiplications; all but the last are written.
    fn power(&mut self, base: ValueId, exponent: u32) -> Op {
        let mut product = base;
        for _ in 2..exponent {
            let place = ValueId(self.code.ops.len() as u32);
            self.code.ops.push(Op::Binary(BinaryFn::Mul, product, base));
            product = place;
        }
        Op::Binary(BinaryFn::Mul, product, base)
    }

    /// The call is made where its first result is asked for.
    fn call(&mut self, call: CallId) -> u32 {
        if let Some(&place) = self.calls.get(&call) {
            return place;
        }
        let conditions = self.conditions(call);
        let called = self.dag.called(call);
        let arguments = called.arguments.iter().map(|&a| self.at(a)).collect();
        let place = self.code.calls.len() as u32;
        self.code.calls.push(Call { callable: called.function, arguments, conditions });
        self.code.ops.push(Op::Call(place));
        self.calls.insert(call, place);
        place
    }

    fn conditions(&mut self, call: CallId) -> Vec<Condition> {
        let Some(mut literals) = self.conditions.remove(&call) else { return Vec::new() };
        if self.level >= MOST_CONDITION_LEVELS {
            literals.retain(|(node, _)| self.values.contains_key(node));
        }
        self.level += 1;
        let order = self.dag.reachable(&literals.iter().map(|l| l.0).collect::<Vec<_>>());
        self.write(&order);
        self.level -= 1;
        literals.into_iter().map(|(node, is)| Condition { value: self.at(node), is }).collect()
    }
}

fn small_power(dag: &Dag, exponent: NodeId) -> Option<u32> {
    let value = dag.value(exponent)?;
    (value.fract() == 0.0 && (2.0..=LARGEST_POWER).contains(&value)).then_some(value as u32)
}
