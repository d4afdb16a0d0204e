//! Which columns (variables) occur in which rows (equations), as compressed sparse rows.
//!
//! In: rows one after the other, or pairs in any order. Out: all columns of a row as one slice, the transpose, parts.
//!
//! ```
//! use saltus_graph::{Incidence, IncidenceBuilder, Rows};
//! // 0 = f(x, y); 0 = g(y)
//! let mut builder = IncidenceBuilder::new(2);
//! builder.push_row([0, 1]);
//! builder.push_row([1]);
//! let incidence = builder.finish();
//! assert_eq!(incidence.columns(0), [0, 1]);
//! assert_eq!(incidence.transpose().columns(1), [0, 1]);
//! assert_eq!(incidence, Incidence::from_pairs(2, 2, &[(1, 1), (0, 0), (0, 1)]));
//! ```
//!
//! The order of the columns within a row is kept: it is an order of preference for [`Matching`](crate::Matching).

/// What the algorithms need of a graph: the columns of each row (or the successors of each node), in order.
pub trait Rows {
    fn n_rows(&self) -> usize;
    fn columns(&self, row: usize) -> &[usize];
}

impl Rows for [Vec<usize>] {
    fn n_rows(&self) -> usize {
        self.len()
    }
    fn columns(&self, row: usize) -> &[usize] {
        &self[row]
    }
}

impl Rows for Vec<Vec<usize>> {
    fn n_rows(&self) -> usize {
        self.len()
    }
    fn columns(&self, row: usize) -> &[usize] {
        &self[row]
    }
}

impl<const N: usize> Rows for [Vec<usize>; N] {
    fn n_rows(&self) -> usize {
        N
    }
    fn columns(&self, row: usize) -> &[usize] {
        &self[row]
    }
}

/// Rows without repeated columns. Entries are numbered row by row; a value per entry is a plain slice beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incidence {
    /// The entries of row `r` are `starts[r]..starts[r + 1]`.
    starts: Vec<usize>,
    columns: Vec<usize>,
    n_columns: usize,
}

impl Rows for Incidence {
    fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }
    fn columns(&self, row: usize) -> &[usize] {
        &self.columns[self.entries_of(row)]
    }
}

impl Incidence {
    /// Copies rows; repeated columns are dropped.
    pub fn from_rows<R: Rows + ?Sized>(rows: &R, n_columns: usize) -> Self {
        let mut builder = IncidenceBuilder::new(n_columns);
        for row in 0..rows.n_rows() {
            builder.push_row(rows.columns(row).iter().copied());
        }
        builder.finish()
    }

    /// From (row, column) pairs in any order; within a row the order of the pairs is kept, repeated pairs are dropped.
    /// The sizes grow to hold every pair.
    pub fn from_pairs(n_rows: usize, n_columns: usize, pairs: &[(usize, usize)]) -> Self {
        let n_rows = pairs.iter().map(|&(row, _)| row + 1).max().unwrap_or(0).max(n_rows);
        let mut starts = vec![0; n_rows + 1];
        for &(row, _) in pairs {
            starts[row + 1] += 1;
        }
        for row in 0..n_rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; pairs.len()];
        for &(row, column) in pairs {
            sorted[next[row]] = column;
            next[row] += 1;
        }
        let mut builder = IncidenceBuilder::new(n_columns);
        for row in 0..n_rows {
            builder.push_row(sorted[starts[row]..starts[row + 1]].iter().copied());
        }
        builder.finish()
    }

    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    pub fn n_entries(&self) -> usize {
        self.columns.len()
    }

    /// The numbers of the entries of a row.
    pub fn entries_of(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// The column of an entry.
    pub fn column_of_entry(&self, entry: usize) -> usize {
        self.columns[entry]
    }

    /// All rows with their columns.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[usize])> {
        (0..self.n_rows()).map(|row| (row, self.columns(row)))
    }

    /// All (row, column) pairs, in the order of the entries.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.rows().flat_map(|(row, columns)| columns.iter().map(move |&column| (row, column)))
    }

    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.columns(row).contains(&column)
    }

    /// Columns become rows; the rows of each column ascend.
    pub fn transpose(&self) -> Incidence {
        self.transpose_with_entries().0
    }

    /// The transpose and, for each of its entries, the number of the same entry here.
    pub fn transpose_with_entries(&self) -> (Incidence, Vec<usize>) {
        let mut starts = vec![0; self.n_columns + 1];
        for &column in &self.columns {
            starts[column + 1] += 1;
        }
        for column in 0..self.n_columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; self.columns.len()];
        let mut origin = vec![0; self.columns.len()];
        for (entry, (row, column)) in self.pairs().enumerate() {
            rows[next[column]] = row;
            origin[next[column]] = entry;
            next[column] += 1;
        }
        (Incidence { starts, columns: rows, n_columns: self.n_rows() }, origin)
    }

    /// The part with these rows and columns, renumbered by their position in the lists.
    pub fn part(&self, rows: &[usize], columns: &[usize]) -> Incidence {
        let mut position = vec![None; self.n_columns];
        for (i, &column) in columns.iter().enumerate() {
            position[column] = Some(i);
        }
        let mut builder = IncidenceBuilder::new(columns.len());
        for &row in rows {
            builder.push_row(self.columns(row).iter().filter_map(|&column| position[column]));
        }
        builder.finish()
    }
}

/// Collects an [`Incidence`] row by row.
#[derive(Clone, Debug)]
pub struct IncidenceBuilder {
    incidence: Incidence,
    /// Number (from 1) of the last row that contained each column.
    last_row: Vec<usize>,
}

impl IncidenceBuilder {
    pub fn new(n_columns: usize) -> Self {
        let incidence = Incidence { starts: vec![0], columns: Vec::new(), n_columns };
        IncidenceBuilder { incidence, last_row: vec![0; n_columns] }
    }

    /// Adds a row and returns its number. The order is kept, repeated columns are dropped, and the number of columns
    /// grows when a column is beyond it.
    pub fn push_row(&mut self, columns: impl IntoIterator<Item = usize>) -> usize {
        let number = self.incidence.starts.len();
        for column in columns {
            if column >= self.last_row.len() {
                self.last_row.resize(column + 1, 0);
            }
            if self.last_row[column] != number {
                self.last_row[column] = number;
                self.incidence.columns.push(column);
            }
        }
        self.incidence.starts.push(self.incidence.columns.len());
        number - 1
    }

    pub fn finish(mut self) -> Incidence {
        self.incidence.n_columns = self.last_row.len();
        self.incidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_row_keeps_its_order_and_drops_repetitions() {
        let mut builder = IncidenceBuilder::new(3);
        assert_eq!(builder.push_row([2, 0, 2]), 0);
        assert_eq!(builder.push_row([]), 1);
        assert_eq!(builder.push_row([4]), 2);
        let incidence = builder.finish();
        assert_eq!(incidence.columns(0), [2, 0]);
        assert_eq!(incidence.columns(1), []);
        assert_eq!((incidence.n_rows(), incidence.n_columns(), incidence.n_entries()), (3, 5, 3));
    }

    #[test]
    fn transposing_twice_sorts_the_rows() {
        let mut random = Random::new(3);
        for _ in 0..50 {
            let rows = random.graph(7, 5, 3);
            let incidence = Incidence::from_rows(&rows, 5);
            assert_eq!(incidence.transpose().transpose(), incidence);
            let (transpose, origin) = incidence.transpose_with_entries();
            let pairs: Vec<(usize, usize)> = incidence.pairs().collect();
            for (entry, (column, row)) in transpose.pairs().enumerate() {
                assert_eq!(pairs[origin[entry]], (row, column));
            }
        }
    }

    #[test]
    fn a_part_is_renumbered() {
        let incidence = Incidence::from_rows(&[vec![0, 1], vec![1, 2], vec![0, 2]], 3);
        let part = incidence.part(&[2, 1], &[2, 0]);
        assert_eq!(part, Incidence::from_rows(&[vec![1, 0], vec![0]], 2));
    }
}
