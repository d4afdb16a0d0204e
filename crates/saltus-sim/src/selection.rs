//! Which candidates of a state set are states: as many as remain when each constraint determines one of the others.
//!
//! ```text
//! x^2 + y^2 = 1      coefficients 2x, 2y      while |y| is large y can follow from x; near y = 0 x must follow from y
//! ```
//!
//! In: the coefficients C of the constraints at an accepted point. With D the columns that are not states and S those that
//! are, the entry (i, j) of inv(D)·S says how much dummy i moves with state j, and by what factor |det D| grows if the two
//! change places. An entry far above one means that the present choice is badly conditioned; then places are changed,
//! the largest entry first, until no entry is above one (S. A. Goreinov et al., "How to find a good submatrix", 2010).
//! Out: new choices and states in memory; the candidates keep their values.

use std::sync::Arc;

use saltus_base::Span;
use saltus_program::{Activation, ModelFunctions, SimProgram, SlotId, StateSet};

use crate::constants::{BEST_SELECTION, MOST_EXCHANGES, WORST_SELECTION};
use crate::error::Failure;
use crate::event;
use crate::record::EventCause;

pub(crate) struct Selection {
    program: Arc<SimProgram>,
    matrix: Matrix,
}

/// One candidate became a state instead of another one.
pub(crate) struct Exchange {
    pub set: usize,
    pub state: SlotId,
    pub instead_of: SlotId,
}

impl Selection {
    pub fn new(program: Arc<SimProgram>) -> Self {
        Selection { program, matrix: Matrix::default() }
    }

    /// Chooses at the start, when the candidates have their values.
    pub fn begin(&mut self, functions: &mut dyn ModelFunctions, t: f64) -> Result<(), Failure> {
        if self.program.state_sets.is_empty() {
            return Ok(());
        }
        event::eval(functions, t, Activation::Selection)?;
        for set in &self.program.state_sets {
            self.matrix.load(set, functions);
            self.matrix.begin();
            store(set, functions, &self.matrix.states);
        }
        Ok(())
    }

    /// Is one of the present choices no good any more? The derivatives have been evaluated.
    pub fn is_due(&mut self, functions: &mut dyn ModelFunctions, t: f64) -> Result<bool, Failure> {
        if self.program.state_sets.is_empty() {
            return Ok(false);
        }
        event::eval(functions, t, Activation::Selection)?;
        Ok(self.program.state_sets.iter().any(|set| {
            self.matrix.load(set, functions);
            self.matrix.is_bad()
        }))
    }

    /// Looks whether the present choices are still good; the memory is at an accepted point.
    pub fn review(&mut self, functions: &mut dyn ModelFunctions, t: f64) -> Result<Vec<Exchange>, Failure> {
        let mut exchanges = Vec::new();
        if self.program.state_sets.is_empty() {
            return Ok(exchanges);
        }
        event::eval(functions, t, Activation::Selection)?;
        for (number, set) in self.program.state_sets.iter().enumerate() {
            self.matrix.load(set, functions);
            if !self.matrix.is_bad() {
                continue;
            }
            let before = self.matrix.states.clone();
            self.matrix.improve(BEST_SELECTION);
            store(set, functions, &self.matrix.states);
            let Some(level) = set.levels.last() else { continue };
            for (&old, &new) in before.iter().zip(&self.matrix.states) {
                if old != new {
                    let exchange =
                        Exchange { set: number, state: level.candidates[new], instead_of: level.candidates[old] };
                    exchanges.push(exchange);
                }
            }
        }
        Ok(exchanges)
    }

    /// Exchanges as causes of an event.
    pub fn causes(&self, exchanges: &[Exchange]) -> Vec<EventCause> {
        let name = |slot: SlotId| self.program.memory.slot_name(slot).into();
        let cause = |e: &Exchange| EventCause::State {
            variable: name(e.state),
            instead_of: name(e.instead_of),
            span: self.program.state_sets.get(e.set).map_or(Span::nowhere(), |set| set.span),
        };
        exchanges.iter().map(cause).collect()
    }

    /// Candidates that a `reinit` has set must be states, so that they keep the value.
    pub fn reinitialise(&mut self, functions: &mut dyn ModelFunctions, slots: &[SlotId]) {
        for set in &self.program.state_sets {
            for level in &set.levels {
                let is_set = |k: &usize| level.candidates.get(*k).is_some_and(|c| slots.contains(c));
                let wanted: Vec<usize> = (0..level.candidates.len()).filter(is_set).collect();
                if wanted.is_empty() {
                    continue;
                }
                self.matrix.load(set, functions);
                self.matrix.demand(&wanted);
                store(set, functions, &self.matrix.states);
            }
        }
    }
}

/// Writes a choice, and the states from the values of their candidates.
fn store(set: &StateSet, functions: &mut dyn ModelFunctions, states: &[usize]) {
    for (i, &k) in states.iter().enumerate() {
        functions.set(set.choice[i], (k + 1) as f64);
        for level in &set.levels {
            if let (Some(&state), Some(&candidate)) = (level.states.get(i), level.candidates.get(k)) {
                let value = functions.get(candidate);
                functions.set(state, value);
            }
        }
    }
}

/// The coefficients of one set, scaled: a large column is a good dummy.
#[derive(Default)]
struct Matrix {
    n_rows: usize,
    n_columns: usize,
    /// Row by row.
    coefficients: Vec<f64>,
    /// Position of each state's candidate.
    states: Vec<usize>,
    dummies: Vec<usize>,
    work: Vec<f64>,
}

impl Matrix {
    fn load(&mut self, set: &StateSet, functions: &dyn ModelFunctions) {
        (self.n_rows, self.n_columns) = (set.n_constraints, set.weights.len());
        self.coefficients.clear();
        self.coefficients.resize(self.n_rows * self.n_columns, 0.0);
        for &(row, column, slot) in &set.coefficients {
            let column = column as usize;
            let (weight, nominal) = (set.weights.get(column).copied().unwrap_or(1.0), set.nominals.get(column));
            let nominal = nominal.copied().filter(|n| n.is_finite() && *n > 0.0).unwrap_or(1.0);
            let value = functions.get(slot) * nominal / weight;
            if let Some(place) = self.coefficients.get_mut(row as usize * self.n_columns + column) {
                *place = if value.is_finite() { value } else { 0.0 };
            }
        }
        self.states.clear();
        for &choice in &set.choice {
            let k = functions.get(choice);
            let k = if k >= 1.0 && k <= self.n_columns as f64 { k as usize - 1 } else { 0 };
            self.states.push(k);
        }
        self.dummies.clear();
        self.dummies.extend((0..self.n_columns).filter(|k| !self.states.contains(k)));
    }

    /// `inv(D)·S` in `work`, dummies by states, the order of the dummies' rows as in `dummies`; false if D is singular.
    fn sensitivities(&mut self) -> bool {
        let (k, n) = (self.n_rows, self.n_columns);
        if self.dummies.len() != k {
            return false;
        }
        self.work.clear();
        for row in 0..k {
            let columns = self.dummies.iter().chain(&self.states);
            self.work.extend(columns.map(|&c| self.coefficients[row * n + c]));
        }
        let largest = self.work.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        for pivot in 0..k {
            let best =
                (pivot..k).max_by(|&a, &b| self.work[a * n + pivot].abs().total_cmp(&self.work[b * n + pivot].abs()));
            let Some(best) = best.filter(|&b| self.work[b * n + pivot].abs() > 1e-13 * largest) else { return false };
            if best != pivot {
                (0..n).for_each(|c| self.work.swap(best * n + c, pivot * n + c));
            }
            let value = self.work[pivot * n + pivot];
            (0..n).for_each(|c| self.work[pivot * n + c] /= value);
            for row in (0..k).filter(|&row| row != pivot) {
                let factor = self.work[row * n + pivot];
                if factor != 0.0 {
                    (0..n).for_each(|c| self.work[row * n + c] -= factor * self.work[pivot * n + c]);
                }
            }
        }
        true
    }

    /// The largest entry of `inv(D)·S`: dummy, state, size.
    fn largest(&self) -> Option<(usize, usize, f64)> {
        let (k, n) = (self.n_rows, self.n_columns);
        let mut best: Option<(usize, usize, f64)> = None;
        for i in 0..k {
            for j in 0..n - k {
                let size = self.work[i * n + k + j].abs();
                if best.is_none_or(|(_, _, s)| size > s) {
                    best = Some((i, j, size));
                }
            }
        }
        best
    }

    fn is_bad(&mut self) -> bool {
        !self.sensitivities() || self.largest().is_some_and(|(_, _, size)| size > WORST_SELECTION)
    }

    /// A choice from nothing.
    fn begin(&mut self) {
        self.restart();
        self.improve(BEST_SELECTION);
    }

    /// Exchanges dummies and states until no entry is above `limit`.
    fn improve(&mut self, limit: f64) {
        for round in 0..MOST_EXCHANGES {
            if !self.sensitivities() {
                // Where no choice is regular the best that is left must do.
                if round > 0 {
                    return;
                }
                self.restart();
                continue;
            }
            match self.largest() {
                Some((i, j, size)) if size > limit => std::mem::swap(&mut self.dummies[i], &mut self.states[j]),
                _ => return,
            }
        }
    }

    /// Dummies by elimination with the largest coefficient as pivot each time; other states stay at their places.
    fn restart(&mut self) {
        let is_dummy = self.pivot_columns();
        let is_new = |c: &usize| !is_dummy[*c] && !self.states.contains(c);
        let mut new = (0..self.n_columns).filter(is_new).collect::<Vec<usize>>().into_iter();
        for state in self.states.iter_mut().filter(|state| is_dummy[**state]) {
            *state = new.next().unwrap_or(*state);
        }
        self.dummies = (0..self.n_columns).filter(|c| !self.states.contains(c)).collect();
    }

    fn pivot_columns(&self) -> Vec<bool> {
        let (k, n) = (self.n_rows, self.n_columns);
        let mut rest = self.coefficients.clone();
        let mut is_dummy = vec![false; n];
        for step in 0..k {
            let mut best: Option<(usize, usize, f64)> = None;
            for row in step..k {
                for column in (0..n).filter(|&c| !is_dummy[c]) {
                    let size = rest[row * n + column].abs();
                    if best.is_none_or(|(_, _, s)| size > s) {
                        best = Some((row, column, size));
                    }
                }
            }
            let Some((row, column, size)) = best else { break };
            is_dummy[column] = true;
            if row != step {
                (0..n).for_each(|c| rest.swap(row * n + c, step * n + c));
            }
            for other in step + 1..k {
                let factor = if size > 0.0 { rest[other * n + column] / rest[step * n + column] } else { 0.0 };
                (0..n).for_each(|c| rest[other * n + c] -= factor * rest[step * n + c]);
            }
        }
        is_dummy
    }

    /// Makes candidates states, each in the place of the state it depends on most.
    fn demand(&mut self, wanted: &[usize]) {
        for &candidate in wanted {
            let Some(i) = self.dummies.iter().position(|&d| d == candidate) else { continue };
            if !self.sensitivities() {
                return;
            }
            let (k, n) = (self.n_rows, self.n_columns);
            let size = |j: &usize| self.work[i * n + k + j].abs();
            let free = (0..n - k).filter(|&j| !wanted.contains(&self.states[j]));
            if let Some(j) = free.max_by(|a, b| size(a).total_cmp(&size(b))) {
                std::mem::swap(&mut self.dummies[i], &mut self.states[j]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n_rows: usize, coefficients: &[f64], states: &[usize]) -> Matrix {
        let n_columns = coefficients.len() / n_rows;
        let dummies = (0..n_columns).filter(|c| !states.contains(c)).collect();
        Matrix {
            n_rows,
            n_columns,
            coefficients: coefficients.to_vec(),
            states: states.to_vec(),
            dummies,
            work: vec![],
        }
    }

    #[test]
    fn a_choice_is_kept_until_a_dummy_moves_much_more_than_the_state() {
        // The circle at (x, y): dy = -x/y dx.
        assert!(!matrix(1, &[0.9, 0.4], &[0]).is_bad());
        let mut late = matrix(1, &[0.99, 0.1], &[0]);
        assert!(late.is_bad());
        late.improve(BEST_SELECTION);
        assert_eq!((late.states, late.dummies), (vec![1], vec![0]));
    }

    #[test]
    fn a_singular_choice_is_replaced() {
        // Dummies 0 and 1 are parallel; 2 is needed.
        let mut singular = matrix(2, &[1.0, 2.0, 0.0, 1.0, 2.0, 1.0], &[2]);
        assert!(singular.is_bad());
        singular.improve(BEST_SELECTION);
        assert!(singular.dummies.contains(&2) && singular.sensitivities());
    }

    #[test]
    fn the_best_choice_has_no_entry_above_one() {
        let mut mixed = matrix(2, &[1.0, 0.5, -2.0, 0.3, 0.0, 1.0, 4.0, -1.0], &[2, 3]);
        mixed.restart();
        mixed.improve(BEST_SELECTION);
        assert!(mixed.sensitivities());
        assert!(mixed.largest().is_some_and(|(_, _, size)| size <= BEST_SELECTION));
    }

    #[test]
    fn a_candidate_that_is_set_becomes_a_state() {
        let mut circle = matrix(1, &[0.9, 0.4, 0.0], &[1, 2]);
        circle.demand(&[0]);
        assert_eq!(circle.states, [0, 2]);
    }
}
