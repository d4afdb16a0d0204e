//! Which candidates of a state set begin with their start values where initial conditions are missing.
//!
//! ```text
//! x^2 + y^2 = 1;  x(start = 1), y(start = 0)     2*x*der(x) + 2*y*der(y) = 0 cannot be solved for der(y) where y is 0:
//!                                                y and der(y) begin with their start values, x and der(x) follow
//! ```
//!
//! In: the sets with the coefficients of their constraints, and which candidates would follow from these. Out: those that had better be
//! given, if the coefficients of the others are singular at the start values.

use std::collections::BTreeSet;

use saltus_base::Index;
use saltus_program::SlotId;

use crate::dag::NodeId;
use crate::state_sets::StateSet;
use crate::structure::{known_nodes, known_with};
use crate::system::System;
use crate::tuning::tolerance::SINGULAR_AT_START;

/// The candidates to be given first, of those sets whose constraints cannot be solved for what `follows`.
pub fn starts_first(system: &System, follows: &dyn Fn(SlotId) -> bool) -> BTreeSet<SlotId> {
    let parameters = known_nodes(system);
    let start = |slot: SlotId| match system.starts.get(&slot) {
        Some(start) => parameters[start.value.index()].value(),
        None => Some(system.slots[slot].initial),
    };
    let known = known_with(system, &|slot| {
        let kind = system.slots[slot].kind;
        system
            .parameters
            .values
            .get(slot.index())
            .copied()
            .flatten()
            .or_else(|| start(slot).filter(|_| kind.is_continuous()))
    });
    let mut first = BTreeSet::new();
    for set in &system.state_sets {
        let value = |node: NodeId| known[node.index()].value().filter(|v| v.is_finite());
        let Some(matrix) = Coefficients::of(set, &value) else { continue };
        for level in set.levels.iter().skip(1) {
            let following: Vec<usize> = (0..level.candidates.len()).filter(|&k| follows(level.candidates[k])).collect();
            if following.len() != set.n_constraints || matrix.pivots(&following).len() == set.n_constraints {
                continue;
            }
            let all: Vec<usize> = (0..level.candidates.len()).collect();
            let pivots = matrix.pivots(&all);
            if pivots.len() == set.n_constraints {
                first.extend(all.iter().filter(|k| !pivots.contains(k)).map(|&k| level.candidates[k]));
            }
        }
    }
    first
}

/// The coefficients of the constraints of a set, by rows.
struct Coefficients {
    n_columns: usize,
    values: Vec<f64>,
}

impl Coefficients {
    fn of(set: &StateSet, value: &dyn Fn(NodeId) -> Option<f64>) -> Option<Coefficients> {
        let n_columns = set.wishes.len();
        let mut values = vec![0.0; n_columns * set.n_constraints];
        for &(row, column, slot) in &set.entries {
            let coefficient = set.coefficients.iter().find(|a| a.slot == slot)?;
            *values.get_mut(row as usize * n_columns + column as usize)? = value(coefficient.node)?;
        }
        Some(Coefficients { n_columns, values })
    }

    /// The columns that elimination with the largest coefficient as pivot finds among these; fewer than there are rows if they are singular.
    fn pivots(&self, columns: &[usize]) -> Vec<usize> {
        let n = self.n_columns;
        let mut work = self.values.clone();
        let mut rows: Vec<usize> = (0..work.len() / n.max(1)).collect();
        let largest = work.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let mut found = Vec::new();
        while !rows.is_empty() {
            let open = columns.iter().filter(|c| !found.contains(*c));
            let entries = open.flat_map(|&c| rows.iter().map(move |&r| (r, c)));
            let best = entries.max_by(|&(r, c), &(s, d)| work[r * n + c].abs().total_cmp(&work[s * n + d].abs()));
            let Some((row, column)) = best.filter(|&(r, c)| work[r * n + c].abs() > SINGULAR_AT_START * largest) else {
                break;
            };
            rows.retain(|&r| r != row);
            for &other in &rows {
                let factor = work[other * n + column] / work[row * n + column];
                (0..n).for_each(|c| work[other * n + c] -= factor * work[row * n + c]);
            }
            found.push(column);
        }
        found
    }
}
