//! Which equation determines which element: what is forced, and small groups that determine each other.
//!
//! In: rows, which are equations with the unknowns in them, and unknowns that equations may determine which are no rows. Out: [`Determined`].
//!
//! ```text
//! Q = k * (u - T)          the only unknown in it that nothing else determines: Q
//! a = der(T)               the only row with this derivative determines it
//! x + y = 1;  x - y = z    a group: together they determine x and y
//! ```
//!
//! Everything found here holds in every matching of the whole model. What is in larger groups, and what has to do with equations that are no
//! rows, stays open.

use saltus_graph::{DisjointSets, IncidenceBuilder, Matching, dependencies, strongly_connected_components};

use super::elements::Column;

/// Larger groups are torn and solved as scalars.
const LARGEST_GROUP: usize = 8;

pub const NOBODY: u32 = u32::MAX;

/// Unknowns of rows, one row after the other.
#[derive(Default)]
pub struct Rows {
    starts: Vec<u32>,
    columns: Vec<Column>,
}

impl Rows {
    pub fn new() -> Rows {
        Rows { starts: vec![0], columns: Vec::new() }
    }

    /// Adds a row; `columns` may have repetitions.
    pub fn push(&mut self, columns: &mut Vec<Column>) {
        columns.sort_unstable();
        columns.dedup();
        self.columns.extend_from_slice(columns);
        self.starts.push(self.columns.len() as u32);
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, row: usize) -> &[Column] {
        &self.columns[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    fn transposed(&self, n_columns: usize) -> Rows {
        let mut starts = vec![0u32; n_columns + 1];
        self.columns.iter().for_each(|&column| starts[column as usize + 1] += 1);
        for k in 0..n_columns {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; self.columns.len()];
        for row in 0..self.len() {
            for &column in self.of(row) {
                rows[next[column as usize] as usize] = row as u32;
                next[column as usize] += 1;
            }
        }
        Rows { starts, columns: rows }
    }
}

/// Rows that determine as many unknowns, each in a circle with the others; both lists ascend.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub rows: Vec<u32>,
    pub columns: Vec<Column>,
}

pub struct Determined {
    /// By row: the unknown that it determines alone, or [`NOBODY`].
    pub column_of_row: Vec<u32>,
    pub groups: Vec<Group>,
}

/// `is_touched` by column: something that is no row may determine it. `None` if rows contradict each other, or say something about what is
/// known.
pub fn determine(rows: &Rows, is_touched: &[bool]) -> Option<Determined> {
    let mut peeling = Peeling::new(rows, is_touched);
    peeling.run()?;
    let Peeling { column_of_row, row_of_column, .. } = peeling;
    let mut determined = Determined { column_of_row, groups: Vec::new() };
    let open: Vec<u32> =
        (0..rows.len() as u32).filter(|&row| determined.column_of_row[row as usize] == NOBODY).collect();
    if !open.is_empty() {
        find_groups(rows, is_touched, &row_of_column, &open, &mut determined)?;
    }
    Some(determined)
}

struct Peeling<'r> {
    rows: &'r Rows,
    of_columns: Rows,
    is_touched: &'r [bool],
    column_of_row: Vec<u32>,
    row_of_column: Vec<u32>,
    /// Unknowns of each row that nothing determines yet, and rows of each column that determine nothing yet.
    open_columns: Vec<u32>,
    open_rows: Vec<u32>,
}

impl<'r> Peeling<'r> {
    fn new(rows: &'r Rows, is_touched: &'r [bool]) -> Self {
        let of_columns = rows.transposed(is_touched.len());
        let count = |rows: &Rows| (0..rows.len()).map(|k| rows.of(k).len() as u32).collect();
        Peeling {
            open_columns: count(rows),
            open_rows: count(&of_columns),
            column_of_row: vec![NOBODY; rows.len()],
            row_of_column: vec![NOBODY; is_touched.len()],
            rows,
            of_columns,
            is_touched,
        }
    }

    fn run(&mut self) -> Option<()> {
        let n_rows = self.rows.len() as u32;
        if self.open_columns.contains(&0) {
            return None;
        }
        // Rows, and columns behind them.
        let mut ready: Vec<u32> = (0..n_rows).filter(|&row| self.open_columns[row as usize] == 1).collect();
        let columns = 0..self.is_touched.len() as u32;
        ready.extend(columns.filter(|&column| self.determines_alone(column)).map(|column| n_rows + column));
        while let Some(next) = ready.pop() {
            let (row, column) = if next < n_rows {
                if self.column_of_row[next as usize] != NOBODY {
                    continue;
                }
                let own = self.rows.of(next as usize).iter();
                (next, *own.copied().find(|&column| self.row_of_column[column as usize] == NOBODY).as_ref()?)
            } else {
                let column = next - n_rows;
                if self.row_of_column[column as usize] != NOBODY {
                    continue;
                }
                let own = self.of_columns.of(column as usize).iter();
                let row = own.copied().find(|&row| self.column_of_row[row as usize] == NOBODY);
                // Its only row may have been taken in between: then nothing determines it.
                (row?, column)
            };
            self.take(row, column, &mut ready)?;
        }
        Some(())
    }

    fn determines_alone(&self, column: Column) -> bool {
        self.open_rows[column as usize] == 1 && !self.is_touched[column as usize]
    }

    fn take(&mut self, row: u32, column: Column, ready: &mut Vec<u32>) -> Option<()> {
        let n_rows = self.rows.len() as u32;
        self.column_of_row[row as usize] = column;
        self.row_of_column[column as usize] = row;
        for &other in self.of_columns.of(column as usize) {
            let open = &mut self.open_columns[other as usize];
            *open -= 1;
            if other != row && self.column_of_row[other as usize] == NOBODY {
                match *open {
                    0 => return None,
                    1 => ready.push(other),
                    _ => {}
                }
            }
        }
        for &other in self.rows.of(row as usize) {
            self.open_rows[other as usize] -= 1;
            if self.row_of_column[other as usize] == NOBODY && self.determines_alone(other) {
                ready.push(n_rows + other);
            }
        }
        Some(())
    }
}

/// Groups among the rows that are open.
fn find_groups(
    rows: &Rows,
    is_touched: &[bool],
    row_of_column: &[u32],
    open: &[u32],
    determined: &mut Determined,
) -> Option<()> {
    let mut number = vec![NOBODY; is_touched.len()];
    let mut columns: Vec<Column> = Vec::new();
    let inside = |row: u32| rows.of(row as usize).iter().copied().filter(|&c| row_of_column[c as usize] == NOBODY);
    for column in open.iter().flat_map(|&row| inside(row)) {
        if number[column as usize] == NOBODY {
            number[column as usize] = 0;
            columns.push(column);
        }
    }
    columns.sort_unstable();
    columns.iter().enumerate().for_each(|(k, &column)| number[column as usize] = k as u32);
    // What hangs together with something that is no row is not for rows alone to determine.
    let mut parts = DisjointSets::with_len(columns.len());
    for &row in open {
        let mut own = inside(row).map(|c| number[c as usize]);
        if let Some(first) = own.next() {
            own.for_each(|other| {
                parts.union(first, other);
            });
        }
    }
    let mut is_closed = vec![true; columns.len()];
    for (k, &column) in columns.iter().enumerate() {
        if is_touched[column as usize] {
            is_closed[parts.find(k as u32) as usize] = false;
        }
    }
    let is_closed: Vec<bool> = (0..columns.len() as u32).map(|k| is_closed[parts.find(k) as usize]).collect();
    let of_row = |row: u32| inside(row).map(|c| number[c as usize] as usize);
    let closed: Vec<u32> = open.iter().copied().filter(|&row| of_row(row).all(|k| is_closed[k])).collect();
    let n_columns = is_closed.iter().filter(|c| **c).count();
    let mut builder = IncidenceBuilder::new(columns.len());
    closed.iter().for_each(|&row| {
        builder.push_row(of_row(row));
    });
    let incidence = builder.finish();
    let matching = Matching::maximum(&incidence, columns.len());
    if matching.size() < closed.len() || closed.len() < n_columns {
        return None;
    }
    for component in strongly_connected_components(&dependencies(&incidence, &matching)) {
        let mut own: Vec<Column> =
            component.iter().filter_map(|&k| matching.column_of_row[k]).map(|k| columns[k]).collect();
        match component[..] {
            [row] => determined.column_of_row[closed[row] as usize] = own[0],
            _ if component.len() <= LARGEST_GROUP => {
                own.sort_unstable();
                let rows = component.iter().map(|&k| closed[k]).collect();
                determined.groups.push(Group { rows, columns: own });
            }
            _ => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[&[u32]]) -> Rows {
        let mut rows = Rows::new();
        all.iter().for_each(|columns| rows.push(&mut columns.to_vec()));
        rows
    }

    #[test]
    fn single_unknowns_are_determined_from_both_ends() {
        // 0 alone; 1 with 0; 3 only in the third row, which says it in terms of 2; 2 may be determined elsewhere.
        let found = determine(&rows(&[&[0], &[0, 1], &[2, 3]]), &[false, false, true, false]).expect("consistent");
        assert_eq!(found.column_of_row, [0, 1, 3]);
        assert_eq!(found.groups, []);
    }

    #[test]
    fn circles_are_groups() {
        let found = determine(&rows(&[&[0, 1], &[0, 1], &[1, 2], &[2, 3, 4], &[3, 4]]), &[false; 5]).expect("regular");
        assert_eq!(found.column_of_row[2], 2);
        let groups = [Group { rows: vec![0, 1], columns: vec![0, 1] }, Group { rows: vec![3, 4], columns: vec![3, 4] }];
        assert_eq!(found.groups, groups);
    }

    #[test]
    fn what_others_may_determine_stays_open() {
        let found = determine(&rows(&[&[0, 1], &[0, 1]]), &[false, true]).expect("consistent");
        assert_eq!((found.column_of_row, found.groups), (vec![NOBODY; 2], Vec::new()));
    }

    #[test]
    fn constraints_and_contradictions_are_seen() {
        assert!(determine(&rows(&[&[0], &[0]]), &[false]).is_none(), "two rows for one unknown");
        assert!(determine(&rows(&[&[0], &[]]), &[false]).is_none(), "nothing to determine");
        assert!(determine(&rows(&[&[0, 1], &[0, 1], &[0, 1]]), &[false; 2]).is_none());
    }
}
