//! Classes of variables that are equal or opposite (`x = y`, `x = -y`), for alias elimination.
//!
//! In: pairs with a sign. Out: for each variable the root of its class and its sign relative to the root.
//!
//! ```
//! use saltus_graph::{Sign, SignedUnionFind, Union};
//! // i1 = -i2; i2 = -i3
//! let mut classes = SignedUnionFind::new(3);
//! assert_eq!(classes.unite(0, 1, Sign::Minus), Ok(Union::Joined));
//! assert_eq!(classes.unite(1, 2, Sign::Minus), Ok(Union::Joined));
//! assert_eq!(classes.relation(0, 2), Some(Sign::Plus));
//! assert!(classes.unite(2, 0, Sign::Minus).is_err()); // i3 = -i1 makes all of them zero
//! ```
//!
//! Union by size (Tarjan 1975) with the parity of the path, O(log n) per operation.

use std::ops::Mul;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sign {
    Plus,
    Minus,
}

impl Mul for Sign {
    type Output = Sign;

    fn mul(self, other: Sign) -> Sign {
        if self == other { Sign::Plus } else { Sign::Minus }
    }
}

/// What a new relation did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Union {
    /// Two classes became one.
    Joined,
    /// The relation held already: the equation says nothing new.
    Redundant,
}

/// The relation says `x = -x` for the members of this class: all of them are zero. The classes are unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contradiction {
    pub root: usize,
}

#[derive(Clone, Debug, Default)]
pub struct SignedUnionFind {
    parent: Vec<usize>,
    /// Sign relative to the parent.
    sign: Vec<Sign>,
    size: Vec<usize>,
}

impl SignedUnionFind {
    /// `n` variables, each in a class of its own.
    pub fn new(n: usize) -> Self {
        SignedUnionFind { parent: (0..n).collect(), sign: vec![Sign::Plus; n], size: vec![1; n] }
    }

    /// Adds a variable in a class of its own.
    pub fn push(&mut self) -> usize {
        let x = self.parent.len();
        self.parent.push(x);
        self.sign.push(Sign::Plus);
        self.size.push(1);
        x
    }

    pub fn len(&self) -> usize {
        self.parent.len()
    }

    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The root `r` of the class of `x` and the sign in `x = ±r`.
    pub fn find(&self, x: usize) -> (usize, Sign) {
        let (mut node, mut sign) = (x, Sign::Plus);
        while self.parent[node] != node {
            sign = sign * self.sign[node];
            node = self.parent[node];
        }
        (node, sign)
    }

    /// The sign in `x = ±y`, if both are in one class.
    pub fn relation(&self, x: usize, y: usize) -> Option<Sign> {
        let ((root_x, sign_x), (root_y, sign_y)) = (self.find(x), self.find(y));
        (root_x == root_y).then_some(sign_x * sign_y)
    }

    /// States `x = sign · y`. Of equally large classes the root of `x` becomes the common root.
    pub fn unite(&mut self, x: usize, y: usize, sign: Sign) -> Result<Union, Contradiction> {
        let ((root_x, sign_x), (root_y, sign_y)) = (self.find(x), self.find(y));
        let between = sign_x * sign * sign_y;
        if root_x == root_y {
            return if between == Sign::Plus { Ok(Union::Redundant) } else { Err(Contradiction { root: root_x }) };
        }
        let (root, child) = if self.size[root_x] >= self.size[root_y] { (root_x, root_y) } else { (root_y, root_x) };
        self.parent[child] = root;
        self.sign[child] = between;
        self.size[root] += self.size[child];
        Ok(Union::Joined)
    }

    /// All classes with more than one member, by their least member; members ascend, signs are relative to the root.
    pub fn classes(&self) -> Vec<Vec<(usize, Sign)>> {
        let mut class_of_root = vec![usize::MAX; self.len()];
        let mut classes: Vec<Vec<(usize, Sign)>> = Vec::new();
        for x in 0..self.len() {
            let (root, sign) = self.find(x);
            if self.size[root] < 2 {
                continue;
            }
            if class_of_root[root] == usize::MAX {
                class_of_root[root] = classes.len();
                classes.push(Vec::with_capacity(self.size[root]));
            }
            classes[class_of_root[root]].push((x, sign));
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_relation_that_holds_already_is_redundant() {
        let mut classes = SignedUnionFind::new(2);
        assert_eq!(classes.unite(0, 1, Sign::Minus), Ok(Union::Joined));
        assert_eq!(classes.unite(1, 0, Sign::Minus), Ok(Union::Redundant));
        assert_eq!(classes.classes(), [vec![(0, Sign::Plus), (1, Sign::Minus)]]);
    }

    #[test]
    fn a_variable_opposite_to_itself_is_zero() {
        let mut classes = SignedUnionFind::new(1);
        assert_eq!(classes.unite(0, 0, Sign::Minus), Err(Contradiction { root: 0 }));
        assert_eq!(classes.unite(0, 0, Sign::Plus), Ok(Union::Redundant));
    }

    #[test]
    fn relations_agree_with_values() {
        // Values ±k tell the truth: members of class k are equal or opposite.
        let mut random = Random::new(41);
        for _ in 0..100 {
            let values: Vec<i64> =
                (0..30).map(|_| (1 + random.below(4) as i64) * if random.one_in(2) { 1 } else { -1 }).collect();
            let mut classes = SignedUnionFind::new(30);
            let mut joined = 0;
            for _ in 0..400 {
                let (x, y) = (random.below(30), random.below(30));
                if values[x].abs() != values[y].abs() {
                    continue;
                }
                let sign = if values[x] == values[y] { Sign::Plus } else { Sign::Minus };
                if classes.relation(x, y).is_some() {
                    assert!(classes.unite(x, y, sign * Sign::Minus).is_err());
                }
                joined += usize::from(classes.unite(x, y, sign) == Ok(Union::Joined));
                assert_eq!(classes.relation(x, y), Some(sign));
            }
            let n_roots = (0..30).filter(|&x| classes.find(x).0 == x).count();
            assert_eq!(n_roots, 30 - joined);
        }
    }

    #[test]
    fn a_long_chain_stays_shallow() {
        let n = 100_000;
        let mut classes = SignedUnionFind::new(n);
        for x in 1..n {
            assert_eq!(classes.unite(x, x - 1, Sign::Minus), Ok(Union::Joined));
        }
        assert_eq!(classes.relation(0, n - 1), Some(Sign::Minus)); // n − 1 is odd
        assert_eq!(classes.classes().len(), 1);
    }
}
