//! A seeded linear congruential generator (Knuth, MMIX) and random graphs for property tests.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Each pair is an edge once in `sparsity` times.
    pub fn graph(&mut self, n_rows: usize, n_columns: usize, sparsity: usize) -> Vec<Vec<usize>> {
        (0..n_rows).map(|_| (0..n_columns).filter(|_| self.one_in(sparsity)).collect()).collect()
    }

    /// A graph that certainly has a perfect matching: a random permutation plus further edges.
    pub fn regular_graph(&mut self, n: usize, extra: usize) -> Vec<Vec<usize>> {
        let mut permutation: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            permutation.swap(i, self.below(i + 1));
        }
        let row = |own: usize| {
            let mut columns: Vec<usize> = (0..extra).map(|_| self.below(n)).chain([own]).collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        permutation.into_iter().map(row).collect()
    }
}
