//! Combinations of relations in the order in which they are tried: sets of those that differ from the present values.
//!
//! ```text
//! few relations     all sets in Gray-code order:  {}, {0}, {0 1}, {1}, {1 2}, …
//! many relations    the smallest sets first:      {}, {0}, {1}, {2}, …, {0 1}, {0 2}, …   up to a limit
//! ```

/// All combinations of so many relations are tried.
const MOST_COMPLETE: usize = 12;

/// Combinations of more relations that are tried.
const MOST_TRIED: usize = 1 << 9;

/// Positions of relations that have another value than at present, ascending.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flipped(Vec<usize>);

impl Flipped {
    pub fn contains(&self, i: usize) -> bool {
        self.0.binary_search(&i).is_ok()
    }
}

pub struct Combinations {
    n: usize,
    /// How many there have been.
    k: usize,
    last: Vec<usize>,
}

impl Combinations {
    pub fn new(n: usize) -> Self {
        Combinations { n, k: 0, last: Vec::new() }
    }

    /// Are there no others?
    pub fn is_complete(&self) -> bool {
        self.n <= MOST_COMPLETE
    }

    fn gray(&self) -> Option<Flipped> {
        let gray = self.k ^ (self.k >> 1);
        (self.k < 1 << self.n).then(|| Flipped((0..self.n).filter(|i| gray >> i & 1 == 1).collect()))
    }

    /// The next set of as many, in lexicographic order; after the last of them the first with one more.
    fn smallest_first(&mut self) -> Option<Flipped> {
        if self.k >= MOST_TRIED {
            return None;
        }
        if self.k > 0 {
            let size = self.last.len();
            match (0..size).rev().find(|&j| self.last[j] < self.n - size + j) {
                Some(j) => {
                    let from = self.last[j] + 1;
                    self.last.truncate(j);
                    self.last.extend((0..size - j).map(|by| from + by));
                }
                None if size == self.n => return None,
                None => self.last = (0..=size).collect(),
            }
        }
        Some(Flipped(self.last.clone()))
    }
}

impl Iterator for Combinations {
    type Item = Flipped;

    fn next(&mut self) -> Option<Flipped> {
        let found = if self.is_complete() { self.gray() } else { self.smallest_first() };
        self.k += 1;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn few_relations_are_tried_completely_and_one_change_at_a_time() {
        let all: Vec<Flipped> = Combinations::new(4).collect();
        assert_eq!((all.len(), all.iter().map(|f| f.0.clone()).collect::<BTreeSet<_>>().len()), (16, 16));
        for pair in all.windows(2) {
            let differing = (0..4).filter(|&i| pair[0].contains(i) != pair[1].contains(i));
            assert_eq!(differing.count(), 1, "{pair:?}");
        }
        assert_eq!(Combinations::new(0).count(), 1);
    }

    #[test]
    fn of_many_relations_the_nearest_combinations_are_tried_first() {
        let all: Vec<Vec<usize>> = Combinations::new(20).map(|f| f.0).collect();
        assert_eq!(all.len(), MOST_TRIED);
        assert!(all.is_sorted_by_key(Vec::len));
        // 1 + 20 + 190 sets of up to two of twenty.
        assert_eq!(all.iter().filter(|f| f.len() <= 2).count(), 211);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), MOST_TRIED);
        assert_eq!((&all[1], &all[21], &all[211]), (&vec![0], &vec![0, 1], &vec![0, 1, 2]));
    }
}
