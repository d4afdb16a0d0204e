//! Disjoint sets of the integers `0..n`, with halving of paths and union by size: nearly linear in total.

#[derive(Default)]
pub struct DisjointSets {
    parents: Vec<u32>,
    sizes: Vec<u32>,
}

impl DisjointSets {
    pub fn with_len(n: usize) -> Self {
        let mut sets = Self::default();
        for _ in 0..n {
            sets.push();
        }
        sets
    }

    /// A new set with one element, which is returned.
    pub fn push(&mut self) -> u32 {
        let id = self.parents.len() as u32;
        self.parents.push(id);
        self.sizes.push(1);
        id
    }

    /// The element that stands for the set of `x`.
    pub fn find(&mut self, mut x: u32) -> u32 {
        while self.parents[x as usize] != x {
            let grandparent = self.parents[self.parents[x as usize] as usize];
            self.parents[x as usize] = grandparent;
            x = grandparent;
        }
        x
    }

    /// Merges two sets; false if they were one already.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        if self.sizes[a as usize] < self.sizes[b as usize] {
            std::mem::swap(&mut a, &mut b);
        }
        self.parents[b as usize] = a;
        self.sizes[a as usize] += self.sizes[b as usize];
        true
    }
}
