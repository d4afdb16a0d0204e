//! Rows of values, stored so that what does not change takes little room.
//!
//! In: one row after the other. Out: the values of one place over time. Rows gather in an open block; a full block is
//! turned over, so that the values of a place lie side by side, and a place that did not change in it keeps one value.
//!
//! ```text
//! rows   1.0  0.0  7.0        block   place 0: 1.0 2.0 3.0
//!        2.0  0.0  7.0                place 1: 0.0
//!        3.0  0.0  7.0                place 2: 7.0
//! ```
//!
//! Values come back bit by bit, not-a-numbers and the sign of zero included.

/// Rows of a full block.
const BLOCK: usize = 128;
/// Places that are turned over together.
const NEIGHBOURS: usize = 8;

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Rows {
    n_places: usize,
    n_rows: usize,
    blocks: Vec<Block>,
    /// Row by row, less than a block.
    open: Vec<f64>,
    /// Values in all blocks.
    n_stored: usize,
}

#[derive(Clone, PartialEq, Debug)]
struct Block {
    /// By place: where its values begin; one more for the end.
    starts: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    pub fn new(n_places: usize) -> Self {
        Rows { n_places, ..Rows::default() }
    }

    pub fn n_places(&self) -> usize {
        self.n_places
    }

    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Bytes that the values take.
    pub fn n_bytes(&self) -> usize {
        let starts = self.blocks.len() * (self.n_places + 1);
        8 * (self.n_stored + self.open.len()) + 4 * starts
    }

    /// Another row; places without a value are not-a-number, values without a place are left out. True if a value is
    /// infinite.
    pub fn push(&mut self, row: impl Iterator<Item = f64>) -> bool {
        let start = self.open.len();
        self.open.extend(row.take(self.n_places));
        self.open.resize(start + self.n_places, f64::NAN);
        // All of them: several at a time are faster than the first ones alone.
        let has_infinite = self.open[start..].iter().fold(false, |any, value| any | value.is_infinite());
        self.n_rows += 1;
        if self.n_rows.is_multiple_of(BLOCK) {
            self.close_block();
        }
        has_infinite
    }

    fn close_block(&mut self) {
        let n = self.n_places;
        let mut starts = Vec::with_capacity(n + 1);
        // Blocks differ little in size.
        let mut values: Vec<f64> = Vec::with_capacity(self.blocks.last().map_or(0, |b| b.values.len()));
        let mut columns = [[0.0; BLOCK]; NEIGHBOURS];
        for from in (0..n).step_by(NEIGHBOURS) {
            let to = (from + NEIGHBOURS).min(n);
            for (i, row) in self.open.chunks_exact(n).enumerate() {
                for (column, value) in columns.iter_mut().zip(&row[from..to]) {
                    column[i] = *value;
                }
            }
            for column in &columns[..to - from] {
                starts.push(values.len() as u32);
                let first = column[0];
                let is_constant = column.iter().fold(true, |all, v| all & (v.to_bits() == first.to_bits()));
                values.extend_from_slice(if is_constant { &column[..1] } else { column });
            }
        }
        starts.push(values.len() as u32);
        values.shrink_to_fit();
        self.n_stored += values.len();
        self.blocks.push(Block { starts, values });
        self.open.clear();
    }

    /// The values at a place over time; none if there is no such place.
    pub fn at(&self, place: usize) -> Vec<f64> {
        if place >= self.n_places {
            return Vec::new();
        }
        let mut all = Vec::with_capacity(self.n_rows);
        for block in &self.blocks {
            match *block.at(place) {
                [single] => all.resize(all.len() + BLOCK, single),
                ref values => all.extend_from_slice(values),
            }
        }
        all.extend(self.open.iter().skip(place).step_by(self.n_places));
        all
    }

    /// One row, into `row`; empty if there is no such row.
    pub fn row(&self, i: usize, row: &mut Vec<f64>) {
        row.clear();
        if i >= self.n_rows {
            return;
        }
        let (block, line) = (i / BLOCK, i % BLOCK);
        match self.blocks.get(block) {
            Some(block) => row.extend((0..self.n_places).map(|place| match *block.at(place) {
                [single] => single,
                ref values => values[line],
            })),
            None => row.extend_from_slice(&self.open[line * self.n_places..(line + 1) * self.n_places]),
        }
    }

    /// The last value at a place.
    pub fn last(&self, place: usize) -> Option<f64> {
        if place >= self.n_places {
            return None;
        }
        match self.open.len().checked_sub(self.n_places) {
            Some(row) => self.open.get(row + place).copied(),
            None => self.blocks.last()?.at(place).last().copied(),
        }
    }
}

impl Block {
    /// One value for each row, or a single one for all.
    fn at(&self, place: usize) -> &[f64] {
        let from = self.starts[place] as usize;
        let to = self.starts[place + 1] as usize;
        &self.values[from..to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Place 0 counts, place 1 never changes, place 2 changes once in a while, place 3 has odd values.
    fn row(i: usize) -> [f64; 4] {
        let odd = if i.is_multiple_of(3) { f64::NAN } else { -0.0 };
        [i as f64, 7.5, (i / 200) as f64, odd]
    }

    #[test]
    fn values_come_back_bit_by_bit() {
        for n in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK, 5 * BLOCK + 17] {
            let mut rows = Rows::new(4);
            (0..n).for_each(|i| assert!(!rows.push(row(i).into_iter())));
            assert_eq!(rows.n_rows(), n);
            for place in 0..4 {
                let found: Vec<u64> = rows.at(place).into_iter().map(f64::to_bits).collect();
                let expected: Vec<u64> = (0..n).map(|i| row(i)[place].to_bits()).collect();
                assert_eq!(found, expected, "place {place} of {n} rows");
                assert_eq!(rows.last(place).map(f64::to_bits), expected.last().copied());
            }
            assert!(rows.at(4).is_empty() && rows.last(4).is_none());
            let mut found = Vec::new();
            for i in 0..n {
                rows.row(i, &mut found);
                assert_eq!(found.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), row(i).map(f64::to_bits), "row {i}");
            }
            rows.row(n, &mut found);
            assert!(found.is_empty());
        }
    }

    #[test]
    fn what_does_not_change_takes_little_room() {
        let mut rows = Rows::new(1000);
        (0..10 * BLOCK).for_each(|_| assert!(!rows.push((0..1000).map(f64::from))));
        // A value and where it is, for each place and block.
        assert_eq!(rows.n_bytes(), 10 * (1000 * 8 + 1001 * 4));
    }

    #[test]
    fn infinite_values_show_in_their_row() {
        let mut rows = Rows::new(9);
        for i in 0..9 {
            let with = |x: f64| (0..9).map(move |k| if k == i { x } else { 1.0 });
            assert!(rows.push(with(f64::NEG_INFINITY)) && rows.push(with(f64::INFINITY)) && !rows.push(with(f64::NAN)));
        }
    }

    #[test]
    fn rows_without_places_are_counted() {
        let mut rows = Rows::new(0);
        (0..BLOCK + 1).for_each(|_| assert!(!rows.push([1.0].into_iter())));
        assert_eq!(rows.n_rows(), BLOCK + 1);
        assert!(rows.at(0).is_empty());
    }
}
