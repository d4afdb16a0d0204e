//! Find constraints that no single equation states.
//!
//! ```text
//! i1 = u1 - d1;  i2 = u2 - d2;  i3 = u3 - d3        currents of three coils, into two diodes each
//! u1 + u2 + u3 = i;  d1 + d2 + d3 = i               ⇒   i1 + i2 + i3 = 0 takes the place of the last
//! ```
//!
//! Each equation has an unknown of its own, so that the structure looks regular, and the loop is singular for all values. In: the equations
//! as the reduction of the index has matched them. Out: sums of equations in which the unknowns of a loop cancel, exactly: coefficients are
//! integers. The reduction begins anew with these sums in the place of one of their equations.

use std::collections::BTreeMap;

use saltus_base::Index;
use saltus_graph::{dependences, strongly_connected_components};
use saltus_program::SlotId;

use crate::dag::NodeId;
use crate::reduce_index::{Reduced, occurring};
use crate::system::{ScalarEquation, System};
use crate::tuning::work::MOST_DEPENDENCE_WORK;

/// Equations with factors; their sum takes the place of one of them.
#[derive(Clone, Debug)]
pub struct Combination {
    pub replaced: usize,
    pub factors: Vec<(usize, i64)>,
}

/// The combinations that the loops of the highest derivatives contain.
pub fn find_hidden_constraints(system: &mut System, reduced: &Reduced) -> Vec<Combination> {
    let reduction = &reduced.reduction;
    let highest = reduction.highest_equations();
    let mut place_of_variable: BTreeMap<usize, usize> = BTreeMap::new();
    for (place, &row) in highest.iter().enumerate() {
        if let Some(variable) = reduction.variable_of_equation[row] {
            place_of_variable.insert(variable, place);
        }
    }
    let needs: Vec<Vec<usize>> = highest
        .iter()
        .map(|&row| reduction.incidence[row].iter().filter_map(|v| place_of_variable.get(v).copied()).collect())
        .collect();
    let mut work = MOST_DEPENDENCE_WORK;
    let mut found = Vec::new();
    for component in strongly_connected_components(&needs) {
        if component.len() < 2 {
            continue;
        }
        let rows: Vec<usize> = component.iter().map(|&place| highest[place]).collect();
        let columns: BTreeMap<SlotId, usize> = rows
            .iter()
            .filter_map(|&row| reduction.variable_of_equation[row])
            .enumerate()
            .map(|(column, variable)| (SlotId::from_usize(variable), column))
            .collect();
        // The highest equations stand in the order of the original ones.
        let originals: Vec<usize> = component.iter().map(|&place| reduced.rows[place]).collect();
        let orders: Vec<usize> = component.iter().map(|&place| reduction.differentiations[place]).collect();
        let (mut integers, mut of) = (Vec::new(), Vec::new());
        for (k, &row) in rows.iter().enumerate() {
            if let Some(coefficients) = integer_row(system, reduced.rows[row], &columns) {
                integers.push(coefficients);
                of.push(k);
            }
        }
        for dependence in dependences(&integers, &mut work) {
            let order = orders[of[dependence.row]];
            // A sum with derivatives of other equations is not one of the equations as they were.
            if dependence.factors.iter().any(|&(row, _)| orders[of[row]] != order) {
                continue;
            }
            let factors = dependence.factors.iter().map(|&(row, factor)| (originals[of[row]], factor)).collect();
            let combination = Combination { replaced: originals[of[dependence.row]], factors };
            let sum = sum(system, &combination.factors);
            if sum.is_some_and(|sum| !occurring(system, &sum).is_empty()) {
                found.push(combination);
            }
        }
    }
    found
}

/// Puts the sums in the places of their equations.
pub fn apply(system: &mut System, combinations: &[Combination]) {
    for combination in combinations {
        if let Some(sum) = sum(system, &combination.factors) {
            system.equations[combination.replaced] = sum;
        }
    }
}

/// The coefficients of an equation that is linear in these unknowns, if all are integers.
fn integer_row(system: &mut System, equation: usize, columns: &BTreeMap<SlotId, usize>) -> Option<Vec<(usize, i64)>> {
    let ScalarEquation { left, right, target, .. } = system.equations[equation].clone();
    if target.is_some() {
        return None;
    }
    let difference = system.dag.sub(left, right);
    let own: Vec<SlotId> =
        system.dag.loads(&[difference]).into_iter().filter(|slot| columns.contains_key(slot)).collect();
    let form = system.dag.linear_in_all(difference, &own)?;
    let entry = |&(slot, coefficient): &(SlotId, NodeId)| Some((columns[&slot], integer(system, coefficient)?));
    form.terms.iter().map(entry).collect()
}

pub fn integer(system: &System, coefficient: NodeId) -> Option<i64> {
    let value = system.dag.value(coefficient)?;
    (value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX)).then_some(value as i64)
}

/// The sum of multiples of equations, without the terms that cancel.
fn sum(system: &mut System, factors: &[(usize, i64)]) -> Option<ScalarEquation> {
    let span = system.equations.get(factors.last()?.0)?.span;
    let mut integers: BTreeMap<SlotId, f64> = BTreeMap::new();
    let mut others: Vec<NodeId> = Vec::new();
    for &(equation, factor) in factors {
        let equation = system.equations.get(equation)?.clone();
        let difference = system.dag.sub(equation.left, equation.right);
        let factor = factor as f64;
        let slots = linear_slots(system, &equation, difference);
        let form = system.dag.linear_in_all(difference, &slots)?;
        let multiplier = system.dag.constant(factor);
        for (slot, coefficient) in form.terms {
            match system.dag.value(coefficient) {
                Some(value) => *integers.entry(slot).or_insert(0.0) += factor * value,
                None => {
                    let load = system.load(slot);
                    let term = system.dag.mul(coefficient, load);
                    others.push(system.dag.mul(multiplier, term));
                }
            }
        }
        others.push(system.dag.mul(multiplier, form.rest));
    }
    let mut total = system.dag.constant(0.0);
    for (slot, coefficient) in integers.into_iter().filter(|(_, coefficient)| *coefficient != 0.0) {
        let (coefficient, load) = (system.dag.constant(coefficient), system.load(slot));
        let term = system.dag.mul(coefficient, load);
        total = system.dag.add(total, term);
    }
    for term in others {
        total = system.dag.add(total, term);
    }
    let right = system.dag.constant(0.0);
    Some(ScalarEquation { left: total, right, target: None, initially: None, is_real: true, linearized: None, span })
}

/// The slots in which an expression is linear, all at once.
fn linear_slots(system: &mut System, equation: &ScalarEquation, node: NodeId) -> Vec<SlotId> {
    let mut slots: Vec<SlotId> = occurring(system, equation).into_iter().map(SlotId::from_usize).collect();
    if system.dag.linear_in_all(node, &slots).is_some() {
        return slots;
    }
    // Each alone: what is linear beside something else stays with it.
    slots.retain(|&slot| {
        system.dag.linear(node, slot).is_some_and(|(coefficient, _)| system.dag.value(coefficient).is_some())
    });
    slots
}
