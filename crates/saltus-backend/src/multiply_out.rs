//! Multiply out the denominators of a loop that is linear without them.
//!
//! ```text
//! T1 = (L + a) / r;                     T1 * r = L + a;
//! T2 = (L + b) / r;   for L, r    ⇒     T2 * r = L + b;
//! ```
//!
//! In: the real equations of a loop and its unknowns. Out: the same equations, linear in the unknowns, if all of them are or
//! become so. Newton's method does not pass a pole: with `r` in the denominator it finds no solution on the other side of zero
//! and runs away to infinity instead. Where a denominator is zero the solution of the linear equations is not one of these: the quotient
//! as it was written is evaluated after the loop, and is not a number there.

use std::collections::{HashMap, HashSet};

use saltus_base::Span;
use saltus_program::{BinaryFn, SlotId, UnaryFn};

use crate::dag::{Dag, Node, NodeId};
use crate::system::{ScalarEquation, System};

/// A node as `numerator / denominator`.
#[derive(Clone, Copy)]
struct Fraction {
    numerator: NodeId,
    /// Of the numerator in the unknowns.
    degree: u32,
    /// With its degree; none if it contains no unknown.
    denominator: Option<(NodeId, u32)>,
}

/// Equations without denominators.
pub struct Multiplied {
    pub equations: Vec<ScalarEquation>,
    /// What the sides of an equation differed by as it was written, where a denominator is gone.
    pub poles: Vec<(NodeId, Span)>,
}

/// The equations without denominators if that makes all of them linear; `None` if it does not, or if there is nothing to be done.
pub fn multiply_out(
    system: &mut System,
    equations: &[&ScalarEquation],
    unknowns: &HashSet<SlotId>,
) -> Option<Multiplied> {
    let mut poles = Vec::new();
    let zero = system.dag.constant(0.0);
    let mut linear = Vec::with_capacity(equations.len());
    for equation in equations {
        let difference = system.dag.binary(BinaryFn::Sub, equation.left, equation.right);
        let fraction = fraction(&mut system.dag, difference, unknowns)?;
        if fraction.degree > 1 {
            return None;
        }
        let mut equation = (*equation).clone();
        if fraction.denominator.is_some() {
            poles.push((difference, equation.span));
            (equation.left, equation.right) = (fraction.numerator, zero);
        }
        linear.push(equation);
    }
    (!poles.is_empty()).then_some(Multiplied { equations: linear, poles })
}

/// The node with at most one denominator; `None` if it is not rational in the unknowns or has several.
fn fraction(dag: &mut Dag, root: NodeId, unknowns: &HashSet<SlotId>) -> Option<Fraction> {
    // Only nodes that contain unknowns are in the table.
    let mut parts: HashMap<NodeId, Fraction> = HashMap::new();
    let plain = |numerator: NodeId, degree: u32| Fraction { numerator, degree, denominator: None };
    for id in dag.reachable(&[root]) {
        let of = |child: NodeId| parts.get(&child).copied().unwrap_or(plain(child, 0));
        let part = match dag.node(id) {
            Node::Load(slot) if unknowns.contains(&slot) => plain(id, 1),
            _ if !dag.children(id).any(|child| parts.contains_key(&child)) => continue,
            Node::Unary(UnaryFn::Negate, x) => {
                let x = of(x);
                Fraction { numerator: dag.negate(x.numerator), ..x }
            }
            Node::Binary(f @ (BinaryFn::Add | BinaryFn::Sub), x, y) => sum(dag, f, of(x), of(y))?,
            Node::Binary(BinaryFn::Mul, x, y) => product(dag, of(x), of(y))?,
            Node::Binary(BinaryFn::Div, x, y) => {
                let (x, y) = (of(x), of(y));
                match (x.denominator, y.denominator) {
                    (_, None) if y.degree == 0 => {
                        Fraction { numerator: dag.binary(BinaryFn::Div, x.numerator, y.numerator), ..x }
                    }
                    (None, None) => Fraction { denominator: Some((y.numerator, y.degree)), ..x },
                    _ => return None,
                }
            }
            _ => return None,
        };
        // Higher powers do not become less.
        if part.degree > 1 {
            return None;
        }
        parts.insert(id, part);
    }
    Some(parts.get(&root).copied().unwrap_or(plain(root, 0)))
}

fn sum(dag: &mut Dag, f: BinaryFn, x: Fraction, y: Fraction) -> Option<Fraction> {
    let denominator = x.denominator.or(y.denominator);
    if let (Some(a), Some(b)) = (x.denominator, y.denominator)
        && a != b
    {
        return None;
    }
    let [x, y] = [x, y].map(|part| match denominator {
        Some((factor, degree)) if part.denominator.is_none() => {
            (dag.binary(BinaryFn::Mul, part.numerator, factor), part.degree + degree)
        }
        _ => (part.numerator, part.degree),
    });
    Some(Fraction { numerator: dag.binary(f, x.0, y.0), degree: x.1.max(y.1), denominator })
}

fn product(dag: &mut Dag, x: Fraction, y: Fraction) -> Option<Fraction> {
    let denominator = match (x.denominator, y.denominator) {
        (Some(_), Some(_)) => return None,
        (one, other) => one.or(other),
    };
    let numerator = dag.binary(BinaryFn::Mul, x.numerator, y.numerator);
    Some(Fraction { numerator, degree: x.degree + y.degree, denominator })
}
