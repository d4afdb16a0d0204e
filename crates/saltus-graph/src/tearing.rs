//! Tearing of one algebraic loop: a few unknowns are iterated on, all others follow from them one after the other.
//!
//! In: the incidence of the loop, which entries can be solved explicitly, and wishes. Out: the torn columns, as many
//! residual rows, and the order in which the other columns are computed.
//!
//! ```
//! use saltus_graph::{Incidence, TearingProblem, tear};
//! // x = f(z); y = g(x); z = h(y): guess z, compute x and y, the third equation is the residual
//! let incidence = Incidence::from_rows(&[vec![0, 2], vec![0, 1], vec![1, 2]], 3);
//! let mut problem = TearingProblem::new(incidence);
//! problem.solvable = vec![true, false, false, true, false, true]; // each equation only for its left-hand side
//! problem.cost = vec![1, 1, 0];
//! let tearing = tear(&problem);
//! assert_eq!((tearing.torn, tearing.residuals), (vec![2], vec![2]));
//! assert_eq!(tearing.inner, [(0, 0), (1, 1)]); // (column, row)
//! ```
//!
//! H. Elmqvist and M. Otter, "Methods for tearing systems of equations in object-oriented modeling" (1994); the choice
//! of the next torn column follows F. E. Cellier and E. Kofman, "Continuous System Simulation" (2006).
//! Counts are kept up to date in a heap, O(entries · log columns).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::incidence::{Incidence, Rows};

/// A loop with as many rows as columns; indices are local to it.
#[derive(Clone, Debug)]
pub struct TearingProblem {
    pub incidence: Incidence,
    /// For each entry of the incidence: the row can be solved for the column explicitly and safely.
    pub solvable: Vec<bool>,
    /// For each column: cheap ones are torn first (0 for given iteration variables, more for discrete ones).
    pub cost: Vec<u32>,
    /// For each row: it must be a residual.
    pub must_be_residual: Vec<bool>,
    /// A column that occurs in one row only is not determined by it just because nothing else waits for it: columns are
    /// torn strictly in the order of `cost`. With more columns than rows this leaves the cheap ones free.
    pub is_forward: bool,
    /// A loop with more columns stays whole: every column is torn.
    pub size_limit: usize,
}

impl TearingProblem {
    /// All entries solvable, all columns alike, no limit.
    pub fn new(incidence: Incidence) -> Self {
        TearingProblem {
            solvable: vec![true; incidence.n_entries()],
            cost: vec![0; incidence.n_columns()],
            must_be_residual: vec![false; incidence.n_rows()],
            is_forward: false,
            size_limit: usize::MAX,
            incidence,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tearing {
    /// Columns to iterate on, ascending.
    pub torn: Vec<usize>,
    /// Rows to be driven to zero, ascending.
    pub residuals: Vec<usize>,
    /// (column, row): the row is solved for the column; in order of computation.
    pub inner: Vec<(usize, usize)>,
}

/// Chooses torn columns until everything else can be computed in turn.
pub fn tear(problem: &TearingProblem) -> Tearing {
    let (n_rows, n_columns) = (problem.incidence.n_rows(), problem.incidence.n_columns());
    if n_columns > problem.size_limit {
        return Tearing { torn: (0..n_columns).collect(), residuals: (0..n_rows).collect(), inner: Vec::new() };
    }
    let mut tearer = Tearer::new(problem);
    loop {
        tearer.solve_what_follows();
        let Some(column) = tearer.next_torn() else { break };
        tearer.torn.push(column);
        tearer.take_column(column);
    }
    tearer.finish()
}

/// Order in which columns are torn; the greatest first.
///
/// A column that no remaining row can be solved for must be torn anyway. Then cheap columns, then those that leave
/// many rows with a single column they can be solved for, then those that occur in many remaining rows.
type Key = (bool, Reverse<u32>, usize, usize, Reverse<usize>);

struct Tearer<'a> {
    problem: &'a TearingProblem,
    rows_of: Incidence,
    /// For each entry of `rows_of` the entry of the incidence.
    entry_of: Vec<usize>,
    row_left: Vec<bool>,
    column_left: Vec<bool>,
    /// Remaining columns of each row.
    n_columns: Vec<usize>,
    /// Remaining rows of each column.
    n_rows: Vec<usize>,
    /// Remaining rows that can be solved for each column.
    n_solvable: Vec<usize>,
    /// Remaining rows of two columns that could be solved for the other if this column were known.
    gain: Vec<usize>,
    /// The two columns of a row that contributes to `gain`.
    gain_pair: Vec<Option<[(usize, bool); 2]>>,
    heap: BinaryHeap<Key>,
    /// Rows with one remaining column, columns with one remaining row; lowest first.
    single_rows: BinaryHeap<Reverse<usize>>,
    single_columns: BinaryHeap<Reverse<usize>>,
    torn: Vec<usize>,
    forward: Vec<(usize, usize)>,
    /// Pairs that nothing else waits for, last one first.
    backward: Vec<(usize, usize)>,
}

impl<'a> Tearer<'a> {
    fn new(problem: &'a TearingProblem) -> Self {
        let (rows_of, entry_of) = problem.incidence.transpose_with_entries();
        let (n_rows, n_columns) = (problem.incidence.n_rows(), problem.incidence.n_columns());
        let mut tearer = Tearer {
            problem,
            row_left: vec![true; n_rows],
            column_left: vec![true; n_columns],
            n_columns: (0..n_rows).map(|row| problem.incidence.columns(row).len()).collect(),
            n_rows: (0..n_columns).map(|column| rows_of.columns(column).len()).collect(),
            n_solvable: vec![0; n_columns],
            gain: vec![0; n_columns],
            gain_pair: vec![None; n_rows],
            heap: BinaryHeap::new(),
            single_rows: BinaryHeap::new(),
            single_columns: BinaryHeap::new(),
            torn: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            rows_of,
            entry_of,
        };
        for (entry, (row, column)) in problem.incidence.pairs().enumerate() {
            tearer.n_solvable[column] += usize::from(problem.solvable[entry] && !problem.must_be_residual[row]);
        }
        (0..n_rows).for_each(|row| tearer.row_changed(row));
        for column in 0..n_columns {
            tearer.heap.push(tearer.key(column));
            if tearer.n_rows[column] == 1 && !problem.is_forward {
                tearer.single_columns.push(Reverse(column));
            }
        }
        tearer
    }

    fn key(&self, column: usize) -> Key {
        let must = self.n_solvable[column] == 0;
        (must, Reverse(self.problem.cost[column]), self.gain[column], self.n_rows[column], Reverse(column))
    }

    /// A row with one unknown left gives it; an unknown in one row only can wait until that row's others are known.
    fn solve_what_follows(&mut self) {
        loop {
            if let Some(Reverse(row)) = self.single_rows.pop() {
                if let Some(column) = self.sole_column(row) {
                    self.forward.push((column, row));
                    self.take_row(row);
                    self.take_column(column);
                }
            } else if let Some(Reverse(column)) = self.single_columns.pop() {
                if let Some(row) = self.sole_row(column) {
                    self.backward.push((column, row));
                    self.take_column(column);
                    self.take_row(row);
                }
            } else {
                return;
            }
        }
    }

    /// The only remaining column of a row, if the row can be solved for it.
    fn sole_column(&self, row: usize) -> Option<usize> {
        if !self.row_left[row] || self.n_columns[row] != 1 || self.problem.must_be_residual[row] {
            return None;
        }
        let mut left = self.columns_left(row);
        left.next().filter(|&(_, solvable)| solvable).map(|(column, _)| column)
    }

    /// The only remaining row of a column, if it can be solved for the column.
    fn sole_row(&self, column: usize) -> Option<usize> {
        if !self.column_left[column] || self.n_rows[column] != 1 {
            return None;
        }
        let entries = self.rows_of.entries_of(column);
        let entry = entries.into_iter().find(|&entry| self.row_left[self.rows_of.column_of_entry(entry)])?;
        let row = self.rows_of.column_of_entry(entry);
        (self.problem.solvable[self.entry_of[entry]] && !self.problem.must_be_residual[row]).then_some(row)
    }

    fn columns_left(&self, row: usize) -> impl Iterator<Item = (usize, bool)> + '_ {
        let entries = self.problem.incidence.entries_of(row);
        entries
            .map(|entry| (self.problem.incidence.column_of_entry(entry), self.problem.solvable[entry]))
            .filter(|&(column, _)| self.column_left[column])
    }

    /// Takes a known column out of all rows.
    fn take_column(&mut self, column: usize) {
        self.column_left[column] = false;
        for i in self.rows_of.entries_of(column) {
            let row = self.rows_of.column_of_entry(i);
            if self.row_left[row] {
                self.n_columns[row] -= 1;
                self.row_changed(row);
            }
        }
    }

    /// Takes a used row out of all its remaining columns.
    fn take_row(&mut self, row: usize) {
        self.set_gain_pair(row, None);
        self.row_left[row] = false;
        let columns: Vec<(usize, bool)> = self.columns_left(row).collect();
        for (column, solvable) in columns {
            self.n_rows[column] -= 1;
            self.n_solvable[column] -= usize::from(solvable && !self.problem.must_be_residual[row]);
            self.heap.push(self.key(column));
            if self.n_rows[column] == 1 && !self.problem.is_forward {
                self.single_columns.push(Reverse(column));
            }
        }
    }

    /// Updates what depends on the number of remaining columns of a row.
    fn row_changed(&mut self, row: usize) {
        let pair = if self.n_columns[row] == 2 && !self.problem.must_be_residual[row] {
            let mut left = self.columns_left(row);
            left.next().zip(left.next()).map(|((a, a_solvable), (b, b_solvable))| [(a, b_solvable), (b, a_solvable)])
        } else {
            None
        };
        self.set_gain_pair(row, pair);
        if self.n_columns[row] == 1 {
            self.single_rows.push(Reverse(row));
        }
    }

    fn set_gain_pair(&mut self, row: usize, pair: Option<[(usize, bool); 2]>) {
        for (column, helps) in self.gain_pair[row].into_iter().flatten() {
            self.gain[column] -= usize::from(helps);
            self.heap.push(self.key(column));
        }
        for (column, helps) in pair.into_iter().flatten() {
            self.gain[column] += usize::from(helps);
            self.heap.push(self.key(column));
        }
        self.gain_pair[row] = pair;
    }

    /// The best remaining column. Keys in the heap that are no longer true are dropped: the true one is there too.
    fn next_torn(&mut self) -> Option<usize> {
        while let Some(key) = self.heap.pop() {
            let Reverse(column) = key.4;
            if self.column_left[column] && key == self.key(column) {
                return Some(column);
            }
        }
        None
    }

    fn finish(mut self) -> Tearing {
        self.torn.sort_unstable();
        let mut inner = self.forward;
        inner.extend(self.backward.into_iter().rev());
        let residuals = (0..self.row_left.len()).filter(|&row| self.row_left[row]).collect();
        Tearing { torn: self.torn, residuals, inner }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Every inner row is solvable for its column and uses only torn and earlier columns; everything occurs once.
    fn check(problem: &TearingProblem, tearing: &Tearing) {
        let (n, incidence) = (problem.incidence.n_columns(), &problem.incidence);
        let mut known = vec![false; n];
        tearing.torn.iter().for_each(|&column| known[column] = true);
        let mut used = vec![false; n];
        tearing.residuals.iter().for_each(|&row| used[row] = true);
        for &(column, row) in &tearing.inner {
            let entry = incidence.entries_of(row).find(|&e| incidence.column_of_entry(e) == column).unwrap();
            assert!(problem.solvable[entry] && !problem.must_be_residual[row]);
            assert!(!known[column] && !used[row]);
            assert!(incidence.columns(row).iter().all(|&c| c == column || known[c]));
            (known[column], used[row]) = (true, true);
        }
        assert!(known.iter().all(|&k| k) && used.iter().all(|&u| u));
        assert_eq!(tearing.torn.len(), tearing.residuals.len());
    }

    /// The fewest torn columns, by trying all subsets: given a subset, computing whatever follows is optimal up to the
    /// choice among rows for one column, which does not change what becomes known.
    fn fewest(problem: &TearingProblem) -> u32 {
        let n = problem.incidence.n_columns();
        (0u32..1 << n).filter(|&torn| everything_follows(problem, torn)).map(u32::count_ones).min().unwrap()
    }

    fn everything_follows(problem: &TearingProblem, torn: u32) -> bool {
        let (incidence, mut known) = (&problem.incidence, torn);
        loop {
            let before = known;
            for (row, _) in incidence.rows().filter(|&(row, _)| !problem.must_be_residual[row]) {
                let mut left = incidence.entries_of(row).filter(|&e| known & (1 << incidence.column_of_entry(e)) == 0);
                if let (Some(entry), None) = (left.next(), left.next())
                    && problem.solvable[entry]
                {
                    known |= 1 << incidence.column_of_entry(entry);
                }
            }
            if known == before {
                return known.count_ones() as usize == incidence.n_columns();
            }
        }
    }

    #[test]
    fn a_chain_that_closes_needs_one_torn_column() {
        let rows: Vec<Vec<usize>> = (0..10).map(|i| vec![i, (i + 1) % 10]).collect();
        let problem = TearingProblem::new(Incidence::from_rows(&rows, 10));
        let tearing = tear(&problem);
        check(&problem, &tearing);
        assert_eq!(tearing.torn.len(), 1);
    }

    #[test]
    fn entries_that_cannot_be_solved_are_not_used() {
        let mut problem = TearingProblem::new(Incidence::from_rows(&[vec![0, 1], vec![0, 1]], 2));
        problem.solvable = vec![false; 4];
        assert_eq!(tear(&problem), Tearing { torn: vec![0, 1], residuals: vec![0, 1], inner: vec![] });
        problem.solvable[3] = true;
        assert_eq!(tear(&problem), Tearing { torn: vec![0], residuals: vec![0], inner: vec![(1, 1)] });
    }

    #[test]
    fn wishes_are_respected() {
        let mut problem = TearingProblem::new(Incidence::from_rows(&[vec![0, 1], vec![0, 1]], 2));
        problem.cost = vec![5, 1];
        problem.must_be_residual = vec![true, false];
        assert_eq!(tear(&problem), Tearing { torn: vec![1], residuals: vec![0], inner: vec![(0, 1)] });
    }

    #[test]
    fn with_more_columns_than_rows_the_cheap_ones_stay_free() {
        // 0 = x - y; 0 = y - 2 z, and z is wanted
        let mut problem = TearingProblem::new(Incidence::from_rows(&[vec![0, 1], vec![1, 2]], 3));
        problem.is_forward = true;
        problem.cost = vec![1, 1, 0];
        assert_eq!(tear(&problem), Tearing { torn: vec![2], residuals: vec![], inner: vec![(1, 1), (0, 0)] });
    }

    #[test]
    fn a_loop_above_the_limit_stays_whole() {
        let mut problem = TearingProblem::new(Incidence::from_rows(&[vec![0, 1], vec![0, 1]], 2));
        problem.size_limit = 1;
        assert_eq!(tear(&problem), Tearing { torn: vec![0, 1], residuals: vec![0, 1], inner: vec![] });
    }

    #[test]
    fn random_loops_are_torn_almost_as_well_as_possible() {
        let mut random = Random::new(37);
        let (mut found, mut optimum) = (0, 0);
        for round in 0..400 {
            let incidence = Incidence::from_rows(&random.regular_graph(9, 2), 9);
            let mut problem = TearingProblem::new(incidence);
            if round % 2 == 0 {
                problem.solvable.iter_mut().for_each(|s| *s = !random.one_in(3));
                problem.must_be_residual.iter_mut().for_each(|r| *r = random.one_in(9));
            }
            let tearing = tear(&problem);
            check(&problem, &tearing);
            let best = fewest(&problem);
            assert!(tearing.torn.len() as u32 >= best);
            found += tearing.torn.len();
            optimum += best as usize;
        }
        // A heuristic: within a tenth of the optimum in sum.
        assert!(found * 10 <= optimum * 11, "torn {found}, optimum {optimum}");
    }

    #[test]
    fn large_loops_are_torn() {
        let n = 100_000;
        let rows: Vec<Vec<usize>> = (0..n).map(|i| vec![i, (i + 1) % n, (i + 2) % n]).collect();
        let problem = TearingProblem::new(Incidence::from_rows(&rows, n));
        let tearing = tear(&problem);
        check(&problem, &tearing);
        let problem = TearingProblem::new(Incidence::from_rows(&Random::new(3).regular_graph(10_000, 2), 10_000));
        check(&problem, &tear(&problem));
    }
}
