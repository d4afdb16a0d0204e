//! One choice of dummy derivatives: as many columns (candidates) as rows (equations), wanted ones first, so that the
//! rows can be solved for them; and the part of the choice that may become singular.
//!
//! ```text
//!            x'   y'   z'
//! circle     2x   2y   ·      choice z', x': z' settles the line for good; for the circle
//! line       1    ·    1      x' may become singular, y' is the alternative
//! ```

use std::cmp::Reverse;

use super::{Pivot, StateSelect};
use crate::components::blocks;
use crate::elimination::independent_columns;
use crate::incidence::{Incidence, Rows};
use crate::matching::Matching;

/// The coefficients of the candidates (columns) in the equations (rows) of one level.
pub(super) struct Matrix {
    pub n_rows: usize,
    /// For each column its rows, ascending.
    pub columns: Vec<Vec<(usize, Pivot)>>,
    pub wish: Vec<(StateSelect, Tie)>,
}

/// What decides among equally wanted and equally certain dummies: the caller's rank; whether the derivative is computed
/// apart from the constraints; its number.
pub(super) type Tie = (i64, bool, Reverse<usize>);

pub(super) struct Choice {
    /// Ascending.
    pub columns: Vec<usize>,
    pub singular: bool,
}

impl Matrix {
    /// Columns in the order in which they should become dummies: by `StateSelect`, then certain ones, then by rank.
    fn order(&self) -> Vec<usize> {
        let risk = |column: usize| {
            let uncertain = self.columns[column].iter().filter(|(_, pivot)| *pivot == Pivot::Uncertain).count();
            if uncertain == 0 { 0 } else { 1 + usize::from(uncertain == self.columns[column].len()) }
        };
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_cached_key(|&column| {
            let (select, tie) = self.wish[column];
            (select, risk(column), tie)
        });
        order
    }

    pub fn choose(&self) -> Choice {
        let order = self.order();
        let independent = self.independent(&order, |pivot, row, column| Some(value(pivot, row, column)));
        if independent.len() < self.n_rows {
            // The structure still allows a choice: complete it, so that the counts are right.
            let mut is_first = vec![false; self.columns.len()];
            independent.iter().for_each(|&column| is_first[column] = true);
            let mut first = independent;
            first.extend(order.into_iter().filter(|&column| !is_first[column]));
            return Choice { columns: sorted(self.structural(&first)), singular: true };
        }
        let choice = Choice { columns: sorted(independent), singular: false };
        if self.uncertain_rows(&choice.columns).is_empty() {
            return choice;
        }
        // Equally wanted dummies that are certain are better.
        let certain = |pivot, row, column| (pivot != Pivot::Uncertain).then(|| value(pivot, row, column));
        let other = sorted(self.independent(&order, certain));
        let selects = |columns: &[usize]| {
            let mut selects: Vec<StateSelect> = columns.iter().map(|&column| self.wish[column].0).collect();
            selects.sort_unstable();
            selects
        };
        let is_better = selects(&other) == selects(&choice.columns) && self.uncertain_rows(&other).is_empty();
        if is_better { Choice { columns: other, singular: false } } else { choice }
    }

    /// The first columns in this order that are linearly independent, as many as there are rows if possible.
    fn independent(&self, order: &[usize], number: impl Fn(Pivot, usize, usize) -> Option<f64>) -> Vec<usize> {
        let numbers = |&column: &usize| {
            let entries = self.columns[column].iter();
            entries.filter_map(|&(row, pivot)| number(pivot, row, column).map(|n| (row, n))).collect()
        };
        let columns: Vec<Vec<(usize, f64)>> = order.iter().map(numbers).collect();
        match independent_columns(self.n_rows, &columns) {
            Some(positions) => positions.into_iter().map(|position| order[position]).collect(),
            None => self.structural(order),
        }
    }

    /// The first columns in this order that can be matched with different rows.
    fn structural(&self, order: &[usize]) -> Vec<usize> {
        let rows: Vec<Vec<usize>> = self.columns.iter().map(|c| c.iter().map(|&(row, _)| row).collect()).collect();
        let mut matching = Matching::new(rows.len(), self.n_rows);
        order.iter().copied().filter(|&column| matching.augment(&rows, column).is_ok()).collect()
    }

    /// For each row its columns among these, numbered by position.
    fn rows(&self, columns: &[usize]) -> Incidence {
        let mut pairs = Vec::new();
        for (position, &column) in columns.iter().enumerate() {
            pairs.extend(self.columns[column].iter().map(|&(row, _)| (row, position)));
        }
        Incidence::from_pairs(self.n_rows, columns.len(), &pairs)
    }

    fn pivot(&self, row: usize, column: usize) -> Option<Pivot> {
        let entries = &self.columns[column];
        entries.binary_search_by_key(&row, |&(r, _)| r).ok().map(|found| entries[found].1)
    }

    /// Rows whose diagonal block in the sorted choice may become singular.
    fn uncertain_rows(&self, chosen: &[usize]) -> Vec<usize> {
        let rows = self.rows(chosen);
        let matching = Matching::maximum(&rows, chosen.len());
        let mut uncertain = matching.free_rows();
        let mut block_of_column = vec![usize::MAX; chosen.len()];
        for (number, block) in blocks(&rows, &matching).into_iter().enumerate() {
            block.columns.iter().for_each(|&column| block_of_column[column] = number);
            let inside = |column: &&usize| block_of_column[**column] == number;
            let mut pivots = block.rows.iter().flat_map(|&row| {
                let columns = rows.columns(row).iter().filter(inside);
                columns.filter_map(move |&column| self.pivot(row, chosen[column]))
            });
            let is_single = block.rows.len() == 1;
            let is_certain = |pivot: Pivot| matches!(pivot, Pivot::Constant(_)) || is_single && pivot == Pivot::NonZero;
            if !pivots.all(is_certain) {
                uncertain.extend(block.rows);
            }
        }
        sorted(uncertain)
    }

    /// Connected parts (rows, columns, chosen columns) that contain uncertain rows, after all rows that are settled by
    /// a certain pivot alone have been taken away.
    pub fn uncertain_parts(&self, chosen: &[usize]) -> Vec<(Vec<usize>, Vec<usize>, Vec<usize>)> {
        let uncertain = self.uncertain_rows(chosen);
        if uncertain.is_empty() {
            return Vec::new();
        }
        let is_chosen = |column: &usize| chosen.binary_search(column).is_ok();
        let allowed = |column: &usize| is_chosen(column) || self.wish[*column].0 != StateSelect::Always;
        let columns: Vec<usize> = (0..self.columns.len()).filter(allowed).collect();
        let (row_left, column_left) = self.without_settled(&columns, is_chosen);
        let mut search = Connected::new(self.rows(&columns), row_left, column_left);
        let mut parts = Vec::new();
        for start in uncertain {
            if !search.row_left[start] {
                continue;
            }
            let (members, positions) = search.take(start);
            let all: Vec<usize> = positions.into_iter().map(|position| columns[position]).collect();
            let chosen_here = all.iter().copied().filter(is_chosen).collect();
            parts.push((members, all, chosen_here));
        }
        parts
    }

    /// Takes away pairs of a row and a chosen column with a certain pivot where the row has no other column or the
    /// column no other row: the determinant of any choice is that pivot times the determinant of the rest.
    fn without_settled(&self, columns: &[usize], is_chosen: impl Fn(&usize) -> bool) -> (Vec<bool>, Vec<bool>) {
        let rows = self.rows(columns);
        let rows_of = rows.transpose();
        let mut row_left = vec![true; self.n_rows];
        let mut column_left = vec![true; columns.len()];
        let mut row_count: Vec<usize> = (0..self.n_rows).map(|row| rows.columns(row).len()).collect();
        let mut column_count: Vec<usize> = (0..columns.len()).map(|c| rows_of.columns(c).len()).collect();
        let mut pending: Vec<(usize, usize)> = rows.pairs().collect();
        while let Some((row, position)) = pending.pop() {
            let is_single = row_count[row] == 1 || column_count[position] == 1;
            let is_certain = self.pivot(row, columns[position]).is_some_and(|pivot| pivot != Pivot::Uncertain);
            if !row_left[row] || !column_left[position] || !is_single || !is_certain || !is_chosen(&columns[position]) {
                continue;
            }
            (row_left[row], column_left[position]) = (false, false);
            for &other in rows.columns(row).iter().filter(|&&c| column_left[c]) {
                column_count[other] -= 1;
                if column_count[other] == 1 {
                    pending.extend(rows_of.columns(other).iter().map(|&r| (r, other)));
                }
            }
            for &other in rows_of.columns(position).iter().filter(|&&r| row_left[r]) {
                row_count[other] -= 1;
                if row_count[other] == 1 {
                    pending.extend(rows.columns(other).iter().map(|&c| (other, c)));
                }
            }
        }
        (row_left, column_left)
    }
}

/// Connected parts of what is left of a graph.
pub(super) struct Connected {
    rows: Incidence,
    rows_of: Incidence,
    pub row_left: Vec<bool>,
    column_left: Vec<bool>,
}

impl Connected {
    pub fn new(rows: Incidence, row_left: Vec<bool>, column_left: Vec<bool>) -> Self {
        Connected { rows_of: rows.transpose(), rows, row_left, column_left }
    }

    /// Takes out the rows and columns connected with a row; both ascend.
    pub fn take(&mut self, start: usize) -> (Vec<usize>, Vec<usize>) {
        let (mut members, mut columns, mut done) = (vec![start], Vec::new(), 0);
        self.row_left[start] = false;
        while let Some(&row) = members.get(done) {
            done += 1;
            for &column in self.rows.columns(row) {
                if !std::mem::replace(&mut self.column_left[column], false) {
                    continue;
                }
                columns.push(column);
                for &next in self.rows_of.columns(column) {
                    if std::mem::replace(&mut self.row_left[next], false) {
                        members.push(next);
                    }
                }
            }
        }
        (sorted(members), sorted(columns))
    }
}

fn sorted(mut list: Vec<usize>) -> Vec<usize> {
    list.sort_unstable();
    list
}

/// A number for a coefficient. Those that are not constant get numbers between one and two that are unrelated to each
/// other (SplitMix64 of the position), so that they cancel only by an improbable accident.
fn value(pivot: Pivot, row: usize, column: usize) -> f64 {
    if let Pivot::Constant(value) = pivot {
        return value;
    }
    let mut z = ((row as u64) << 32 ^ column as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    1.0 + ((z ^ (z >> 31)) >> 12) as f64 / (1u64 << 52) as f64
}
