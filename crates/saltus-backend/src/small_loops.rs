//! Solve small linear loops while compiling: no matrix is left for the simulation.
//!
//! ```text
//! loop over R1.i, residual: 0 = if open then i0 - R1.i else R1.R * R1.i - C.u
//!                   ⇒   R1.i := -(if open then i0 else -C.u) / (if open then -1 else R1.R)
//! ```
//!
//! In: torn loops. Out: [`LoopStep::solution`] of those that are linear in at most [`LARGEST_SMALL_LOOP`] iteration variables, found by
//! elimination with pivots that cannot vanish: constants, and parameters with a value other than zero, in all positions
//! of the switches they depend on. A pivot that changes continuously is never divided by: such loops keep their matrix.
//!
//! The current of an open switch must be zero, not 1e-17: relations wait for that. A loop with switches is therefore solved twice,
//! the second time for what the first left of the residuals.

use std::collections::HashMap;

use saltus_base::{Index, Span};
use saltus_program::{BinaryFn, SlotKind, UnaryFn};

use crate::blocks::{LoopSolution, LoopStep, Step};
use crate::dag::{Node, NodeId};
use crate::system::{Assignment, System};
use crate::tuning::form::{LARGEST_SMALL_LOOP, MOST_PIVOT_NODES, MOST_PIVOT_SWITCHES};
use crate::tuning::tolerance::CANCELLED_PIVOT;

/// Gives every small linear loop its solution.
pub fn solve_small_loops<'a>(system: &mut System, steps: impl IntoIterator<Item = &'a mut Step>) {
    for step in steps {
        if let Step::Loop(l) = step
            && l.discrete.is_empty()
            && l.unknowns.len() <= LARGEST_SMALL_LOOP
        {
            l.solution = solution(system, l);
        }
    }
}

/// `Σ coefficients * unknowns + rest = 0`
#[derive(Clone)]
struct Row {
    coefficients: Vec<Option<NodeId>>,
    rest: NodeId,
    /// The same combination of the residuals at the present values of the unknowns.
    residual: NodeId,
    span: Span,
}

fn solution(system: &mut System, l: &LoopStep) -> Option<LoopSolution> {
    let mut rows = Vec::with_capacity(l.residuals.len());
    for &(residual, span) in &l.residuals {
        let form = system.dag.linear_in_all(residual, &l.unknowns)?;
        let of = |slot| form.terms.iter().find(|term| term.0 == slot).map(|term| term.1);
        let coefficients = l.unknowns.iter().map(|&slot| of(slot)).collect();
        rows.push(Row { coefficients, rest: form.rest, residual, span });
    }
    let mut solved: Vec<(Row, usize)> = Vec::new();
    while !rows.is_empty() {
        let (place, column) = pivot(system, &rows)?;
        let row = rows.remove(place);
        rows.iter_mut().for_each(|other| eliminate(system, &row, column, other));
        solved.push((row, column));
    }
    let values = substitute_back(system, l, &solved, |row| row.rest)?;
    let mut refined = Vec::new();
    if has_switches(system, l) {
        refined = substitute_back(system, l, &solved, |row| row.residual)?;
        let at = |slot| values.iter().find(|a| a.slot == slot).map(|a| a.node);
        for step in &mut refined {
            let step_from_there = system.dag.substitute(step.node, &at);
            step.node = system.dag.add(at(step.slot)?, step_from_there);
        }
    }
    Some(LoopSolution { values, refined })
}

fn has_switches(system: &System, l: &LoopStep) -> bool {
    let residuals: Vec<NodeId> = l.residuals.iter().map(|r| r.0).collect();
    system.dag.reachable(&residuals).into_iter().any(|id| matches!(system.dag.node(id), Node::Select(..)))
}

/// The unknowns from the last row of the triangle to the first.
fn substitute_back(
    system: &mut System,
    l: &LoopStep,
    solved: &[(Row, usize)],
    rest: impl Fn(&Row) -> NodeId,
) -> Option<Vec<Assignment>> {
    let mut values: Vec<Option<NodeId>> = vec![None; l.unknowns.len()];
    let mut assignments = Vec::with_capacity(solved.len());
    for (row, column) in solved.iter().rev() {
        let (column, mut sum) = (*column, rest(row));
        for (coefficient, value) in row.coefficients.iter().zip(&values) {
            if let (Some(coefficient), Some(value)) = (*coefficient, *value) {
                let term = system.dag.mul(coefficient, value);
                sum = system.dag.add(sum, term);
            }
        }
        let negative = system.dag.negate(sum);
        let node = system.dag.div(negative, row.coefficients[column]?);
        values[column] = Some(node);
        assignments.push(Assignment { slot: l.unknowns[column], node, span: row.span });
    }
    Some(assignments)
}

/// Row and column of a coefficient that cannot vanish; a constant if there is one.
fn pivot(system: &System, rows: &[Row]) -> Option<(usize, usize)> {
    let entries = || {
        let entry = |(place, row): (usize, &'_ Row)| {
            let columns = row.coefficients.iter().enumerate();
            columns.filter_map(|(column, c)| c.map(|c| (place, column, c))).collect::<Vec<_>>()
        };
        rows.iter().enumerate().flat_map(entry)
    };
    let is_constant = |node: NodeId| system.dag.value(node).is_some_and(|v| v != 0.0 && v.is_finite());
    let constant = entries().find(|&(_, _, node)| is_constant(node));
    let found = constant.or_else(|| entries().find(|&(_, _, node)| never_vanishes(system, node)));
    found.map(|(place, column, _)| (place, column))
}

/// `other -= other[column] / row[column] * row`
fn eliminate(system: &mut System, row: &Row, column: usize, other: &mut Row) {
    let (Some(pivot), Some(own)) = (row.coefficients[column], other.coefficients[column].take()) else { return };
    let dag = &mut system.dag;
    let factor = dag.div(own, pivot);
    for (k, coefficient) in row.coefficients.iter().enumerate() {
        let Some(coefficient) = coefficient.filter(|_| k != column) else { continue };
        let product = dag.mul(factor, coefficient);
        let difference = match other.coefficients[k] {
            Some(present) => dag.sub(present, product),
            None => dag.negate(product),
        };
        other.coefficients[k] = (!dag.is_zero(difference)).then_some(difference);
    }
    for (place, subtrahend) in [(&mut other.rest, row.rest), (&mut other.residual, row.residual)] {
        let product = dag.mul(factor, subtrahend);
        *place = dag.sub(*place, product);
    }
}

/// Is the expression other than zero in all positions of its switches?
fn never_vanishes(system: &System, root: NodeId) -> bool {
    let order = system.dag.reachable(&[root]);
    if order.len() > MOST_PIVOT_NODES {
        return false;
    }
    let mut switches: Vec<NodeId> = Vec::new();
    for &id in &order {
        if let Node::Select(condition, ..) = system.dag.node(id)
            && !switches.contains(&condition)
        {
            switches.push(condition);
        }
    }
    switches.len() <= MOST_PIVOT_SWITCHES
        && (0..1u32 << switches.len()).all(|position| {
            let is_on =
                |condition| switches.iter().position(|&s| s == condition).is_some_and(|k| position >> k & 1 == 1);
            value(system, &order, &is_on)
                .is_some_and(|(value, size)| value.is_finite() && value.abs() > CANCELLED_PIVOT * size)
        })
}

/// The value of the last node and the sum of its terms without signs; none if more than parameters and switches matter.
fn value(system: &System, order: &[NodeId], is_on: &dyn Fn(NodeId) -> bool) -> Option<(f64, f64)> {
    let mut values: HashMap<NodeId, (f64, f64)> = HashMap::with_capacity(order.len());
    for &id in order {
        let of = |node: NodeId| values.get(&node).copied();
        let alone = |value: f64| (value, value.abs());
        let found = match system.dag.node(id) {
            Node::Const(bits) => Some(alone(f64::from_bits(bits))),
            Node::Load(slot) if system.slots[slot].kind == SlotKind::Parameter => {
                system.parameters.values.get(slot.index()).copied().flatten().map(alone)
            }
            Node::Load(_) | Node::Result(..) => None,
            Node::Unary(UnaryFn::Negate, x) => of(x).map(|(value, size)| (-value, size)),
            Node::Unary(f, x) => of(x).map(|(value, _)| alone(f.apply(value))),
            Node::Binary(f, a, b) => of(a).zip(of(b)).map(|((a, a_size), (b, b_size))| match f {
                BinaryFn::Add | BinaryFn::Sub => (f.apply(a, b), a_size + b_size),
                BinaryFn::Mul => (a * b, a_size * b_size),
                BinaryFn::Div => (a / b, a_size / b.abs()),
                _ => alone(f.apply(a, b)),
            }),
            Node::Select(condition, a, b) => of(if is_on(condition) { a } else { b }),
        };
        if let Some(found) = found {
            values.insert(id, found);
        }
    }
    order.last().and_then(|root| values.get(root).copied())
}

#[cfg(test)]
mod tests {
    use saltus_flat::build::*;
    use saltus_program::{Block, SimProgram};

    use crate::compile;

    fn n_loops(program: &SimProgram) -> usize {
        let blocks = [&program.sections.derivatives, &program.sections.outputs, &program.sections.events];
        blocks.iter().flat_map(|s| &s.blocks).filter(|b| matches!(b, Block::Loop(_))).count()
    }

    /// `x + a * y = 3`, `y + b * x = 2` with a state to make it a model that runs.
    fn two_by_two(coefficients: impl Fn(&mut Builder) -> (saltus_flat::Expr, saltus_flat::Expr)) -> SimProgram {
        let mut b = Builder::new("M");
        let (x, y, z) = (b.real("x"), b.real("y"), b.real("z"));
        let (first, second) = coefficients(&mut b);
        b.equation(add(b.var(x), mul(first, b.var(y))), real(3.0));
        b.equation(add(b.var(y), mul(second, b.var(x))), real(2.0));
        b.equation(der(b.var(z)), b.var(x));
        compile(&b.model).expect("compiles")
    }

    #[test]
    fn constants_and_parameters_need_no_matrix() {
        // 1 - 2 * 4 = -7
        assert_eq!(n_loops(&two_by_two(|b| (b_parameter(b, "p", 2.0), real(4.0)))), 0);
    }

    #[test]
    fn a_determinant_that_vanishes_or_varies_keeps_its_matrix() {
        // 1 - 2 * 0.5 = 0
        assert!(n_loops(&two_by_two(|b| (b_parameter(b, "p", 2.0), b_parameter(b, "q", 0.5)))) > 0);
        assert!(n_loops(&two_by_two(|b| (time(), b_parameter(b, "q", 0.5)))) > 0);
    }

    fn b_parameter(b: &mut Builder, name: &str, value: f64) -> saltus_flat::Expr {
        let id = b.parameter(name, value);
        b.var(id)
    }
}
