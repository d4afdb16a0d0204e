//! The coarse decomposition of Dulmage and Mendelsohn (1958): which rows are too many, which columns are undetermined.
//!
//! In: a graph and a maximum matching of it. Out: three disjoint parts that together hold all rows and columns. They do
//! not depend on which maximum matching is given.
//!
//! ```
//! use saltus_graph::{Decomposition, Matching};
//! // x = 1; x = 2; 0 = f(y, z)
//! let adjacency = [vec![0], vec![0], vec![1, 2]];
//! let parts = Decomposition::new(&adjacency, &Matching::maximum(&adjacency, 3));
//! assert_eq!((parts.over.rows, parts.over.columns), (vec![0, 1], vec![0]));
//! assert_eq!((parts.under.rows, parts.under.columns), (vec![2], vec![1, 2]));
//! assert!(parts.well.rows.is_empty());
//! ```

use crate::incidence::{Incidence, Rows};
use crate::matching::Matching;

/// Rows and columns, both ascending.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decomposition {
    /// More rows than columns: these equations contradict each other or repeat each other.
    pub over: Part,
    /// As many rows as columns.
    pub well: Part,
    /// More columns than rows: these unknowns are not determined.
    pub under: Part,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Over,
    Well,
    Under,
}

impl Decomposition {
    /// `matching` must be maximum for `adjacency`; its columns are all columns.
    pub fn new<R: Rows + ?Sized>(adjacency: &R, matching: &Matching) -> Self {
        let (n_rows, n_columns) = (adjacency.n_rows(), matching.row_of_column.len());
        let mut rows = vec![Side::Well; n_rows];
        let mut columns = vec![Side::Well; n_columns];
        mark_over(adjacency, matching, &mut rows, &mut columns);
        mark_under(adjacency, matching, &mut rows, &mut columns);
        let part = |side: Side| Part {
            rows: (0..n_rows).filter(|&row| rows[row] == side).collect(),
            columns: (0..n_columns).filter(|&column| columns[column] == side).collect(),
        };
        Decomposition { over: part(Side::Over), well: part(Side::Well), under: part(Side::Under) }
    }

    /// True if every row and every column is matched.
    pub fn is_regular(&self) -> bool {
        self.over.rows.is_empty() && self.under.columns.is_empty()
    }
}

/// From the free rows along any edge to a column, and from there to its row.
fn mark_over<R: Rows + ?Sized>(adjacency: &R, matching: &Matching, rows: &mut [Side], columns: &mut [Side]) {
    let mut stack: Vec<usize> = (0..rows.len()).filter(|&row| matching.column_of_row[row].is_none()).collect();
    for &row in &stack {
        rows[row] = Side::Over;
    }
    while let Some(row) = stack.pop() {
        for &column in adjacency.columns(row) {
            columns[column] = Side::Over;
            if let Some(next) = matching.row_of_column[column]
                && rows[next] != Side::Over
            {
                rows[next] = Side::Over;
                stack.push(next);
            }
        }
    }
}

/// From the free columns along any edge to a row, and from there to its column.
fn mark_under<R: Rows + ?Sized>(adjacency: &R, matching: &Matching, rows: &mut [Side], columns: &mut [Side]) {
    let rows_of = Incidence::from_rows(adjacency, columns.len()).transpose();
    let mut stack: Vec<usize> = (0..columns.len()).filter(|&c| matching.row_of_column[c].is_none()).collect();
    for &column in &stack {
        columns[column] = Side::Under;
    }
    while let Some(column) = stack.pop() {
        for &row in rows_of.columns(column) {
            rows[row] = Side::Under;
            if let Some(next) = matching.column_of_row[row]
                && columns[next] != Side::Under
            {
                columns[next] = Side::Under;
                stack.push(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_regular_system_is_well_determined() {
        let adjacency = [vec![0, 1], vec![0]];
        let parts = Decomposition::new(&adjacency, &Matching::maximum(&adjacency, 2));
        assert!(parts.is_regular());
        assert_eq!(parts.well, Part { rows: vec![0, 1], columns: vec![0, 1] });
    }

    #[test]
    fn parts_agree_with_removing_rows_and_columns_one_by_one() {
        // A row is over-determined exactly if some maximum matching leaves it free, that is, if the graph without it
        // has an equally large matching; likewise for columns.
        let mut random = Random::new(23);
        for _ in 0..200 {
            let adjacency = random.graph(6, 7, 5);
            let matching = Matching::maximum(&adjacency, 7);
            let parts = Decomposition::new(&adjacency, &matching);
            for row in 0..6 {
                let mut without = adjacency.clone();
                without[row].clear();
                let dispensable = Matching::maximum(&without, 7).size() == matching.size();
                assert_eq!(parts.over.rows.contains(&row), dispensable);
            }
            for column in 0..7 {
                let mut without = adjacency.clone();
                without.iter_mut().for_each(|row| row.retain(|&c| c != column));
                let dispensable = Matching::maximum(&without, 7).size() == matching.size();
                assert_eq!(parts.under.columns.contains(&column), dispensable);
            }
            assert_eq!(parts.well.rows.len(), parts.well.columns.len());
        }
    }
}
