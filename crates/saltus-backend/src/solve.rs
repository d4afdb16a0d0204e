//! Solve a scalar equation for one of its unknowns where it is linear in it.
//!
//! `m * a = f - d * v` for `a` gives `(f - d * v) / m`. The coefficient must not vanish: it is a constant other than
//! zero, consists of parameters (checked when it is evaluated), or varies but has no branch that is zero. An equation
//! whose coefficient is zero in one branch changes its structure there and is not solved explicitly.

use std::collections::HashMap;

use saltus_program::{BinaryFn, SlotId, SlotKind, UnaryFn};

use crate::dag::{Dag, Node, NodeId};
use crate::system::{ScalarEquation, System};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Solution {
    /// The unknown stands alone, or its coefficient is constant or made of parameters.
    Safe(NodeId),
    /// The coefficient varies during the simulation.
    Risky(NodeId),
    /// Not linear, or the coefficient may be zero.
    None,
}

/// Solves `equation` for `unknown`.
pub fn solve_for(system: &mut System, equation: &ScalarEquation, unknown: SlotId) -> Solution {
    if let Some(target) = equation.target {
        return if target == unknown { Solution::Safe(equation.right) } else { Solution::None };
    }
    for (side, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
        if system.dag.node(side) == Node::Load(unknown) && !system.dag.loads(&[other]).contains(&unknown) {
            return Solution::Safe(other);
        }
    }
    if !equation.is_real {
        return solve_boolean(system, equation, unknown);
    }
    let residual = system.dag.binary(BinaryFn::Sub, equation.left, equation.right);
    let Some((coefficient, rest)) = decompose(&mut system.dag, residual, unknown) else { return Solution::None };
    if may_be_zero(&system.dag, coefficient) {
        return Solution::None;
    }
    let negative = system.dag.negate(rest);
    let solution = system.dag.binary(BinaryFn::Div, negative, coefficient);
    let loads = system.dag.loads(&[coefficient]);
    if loads.iter().all(|&slot| system.slots[slot].kind == SlotKind::Parameter) {
        Solution::Safe(solution)
    } else {
        Solution::Risky(solution)
    }
}

/// `not b = …`
fn solve_boolean(system: &mut System, equation: &ScalarEquation, unknown: SlotId) -> Solution {
    for (side, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
        if let Node::Unary(UnaryFn::Not, inner) = system.dag.node(side)
            && system.dag.node(inner) == Node::Load(unknown)
            && !system.dag.loads(&[other]).contains(&unknown)
        {
            return Solution::Safe(system.dag.not(other));
        }
    }
    Solution::None
}

/// `(a, b)` with `root = a * slot + b`, if it is linear in the slot.
pub fn decompose(dag: &mut Dag, root: NodeId, slot: SlotId) -> Option<(NodeId, NodeId)> {
    let (zero, one) = (dag.constant(0.0), dag.constant(1.0));
    // Only nodes that contain the slot are in the table.
    let mut parts: HashMap<NodeId, (NodeId, NodeId)> = HashMap::new();
    for id in dag.reachable(&[root]) {
        let of = |child: NodeId| parts.get(&child).copied().unwrap_or((zero, child));
        let contains = |child: NodeId| parts.contains_key(&child);
        let part = match dag.node(id) {
            Node::Load(s) if s == slot => (one, zero),
            Node::Const(_) | Node::Load(_) => continue,
            _ if !dag.children(id).any(contains) => continue,
            Node::Unary(UnaryFn::Negate, x) => {
                let (a, b) = of(x);
                (dag.negate(a), dag.negate(b))
            }
            Node::Binary(f @ (BinaryFn::Add | BinaryFn::Sub), x, y) => {
                let ((a, b), (c, d)) = (of(x), of(y));
                (dag.binary(f, a, c), dag.binary(f, b, d))
            }
            Node::Binary(BinaryFn::Mul, x, y) if !contains(y) => {
                let (a, b) = of(x);
                (dag.binary(BinaryFn::Mul, a, y), dag.binary(BinaryFn::Mul, b, y))
            }
            Node::Binary(BinaryFn::Mul, x, y) if !contains(x) => {
                let (a, b) = of(y);
                (dag.binary(BinaryFn::Mul, x, a), dag.binary(BinaryFn::Mul, x, b))
            }
            Node::Binary(BinaryFn::Div, x, y) if !contains(y) => {
                let (a, b) = of(x);
                (dag.binary(BinaryFn::Div, a, y), dag.binary(BinaryFn::Div, b, y))
            }
            Node::Select(c, x, y) if !contains(c) => {
                let ((a, b), (p, q)) = (of(x), of(y));
                (dag.select(c, a, p), dag.select(c, b, q))
            }
            _ => return None,
        };
        parts.insert(id, part);
    }
    Some(parts.get(&root).copied().unwrap_or((zero, root)))
}

/// Is the coefficient zero, as a constant or in one of its branches?
fn may_be_zero(dag: &Dag, coefficient: NodeId) -> bool {
    let mut stack = vec![coefficient];
    while let Some(id) = stack.pop() {
        match dag.node(id) {
            Node::Const(bits) if f64::from_bits(bits) == 0.0 => return true,
            Node::Select(_, a, b) => stack.extend([a, b]),
            Node::Unary(UnaryFn::Negate, x) => stack.push(x),
            Node::Binary(BinaryFn::Mul, x, y) => stack.extend([x, y]),
            Node::Binary(BinaryFn::Div, x, _) => stack.push(x),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_base::Index;

    #[test]
    fn linear_parts_are_found_through_branches() {
        let mut dag = Dag::default();
        let slot = SlotId::from_usize;
        let (x, y, c) = (dag.load(slot(0), true), dag.load(slot(1), true), dag.load(slot(2), false));
        // if c then 2*x + y else y - x
        let two = dag.constant(2.0);
        let double = dag.binary(BinaryFn::Mul, two, x);
        let (a, b) = (dag.binary(BinaryFn::Add, double, y), dag.binary(BinaryFn::Sub, y, x));
        let root = dag.select(c, a, b);
        let minus = dag.constant(-1.0);
        let coefficient = dag.select(c, two, minus);
        assert_eq!(decompose(&mut dag, root, slot(0)), Some((coefficient, y)));
        assert!(!may_be_zero(&dag, coefficient));
        let square = dag.binary(BinaryFn::Mul, x, x);
        assert_eq!(decompose(&mut dag, square, slot(0)), None);
        let zero = dag.constant(0.0);
        let vanishing = dag.select(c, two, zero);
        assert!(may_be_zero(&dag, vanishing));
    }
}
