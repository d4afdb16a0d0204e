//! Numbers for the elements of Real variables and for their derivatives, and which elements equal each other.
//!
//! ```text
//! a_T[i] = T[i];  b_Q[i] + a_Q[i + 1] = 0      ⇒   a_T[i] stands for T[i], a_Q[i + 1] for -b_Q[i]
//! ```
//!
//! Which of two stays is said as for scalars (`alias.rs`): a state, or else the left one.

use std::collections::BTreeMap;

use saltus_base::Index;
use saltus_flat::{BaseType, Causality, FlatModel, VarId, Variability};

/// The number of an element, or of the derivative of one.
pub type Column = u32;

pub struct Elements {
    values: Vec<Option<Column>>,
    derivatives: BTreeMap<VarId, Column>,
    /// First columns, ascending, with what they belong to.
    owners: Vec<(Column, VarId, bool)>,
    /// What each stands for: itself, or another one that is nearer to what remains.
    equal: Vec<Column>,
    is_negated: Vec<bool>,
    /// States.
    pub is_known: Vec<bool>,
}

impl Elements {
    /// Numbers all continuous Reals that something must determine, and the derivatives of `differentiated`.
    pub fn new(model: &FlatModel, differentiated: impl IntoIterator<Item = VarId>) -> Option<Elements> {
        let mut n: usize = 0;
        let mut values = Vec::with_capacity(model.variables.len());
        let mut owners = Vec::new();
        let size = |id: VarId| model.variables[id].ty.n_elements().unwrap_or(0) as usize;
        for (id, variable) in model.variables.iter() {
            let is_unknown = variable.ty.base == BaseType::Real
                && variable.variability == Variability::Continuous
                && (variable.causality != Causality::Input || variable.binding.is_some());
            values.push(is_unknown.then_some(n as Column));
            if is_unknown {
                owners.push((n as Column, id, false));
                n = n.checked_add(size(id))?;
            }
        }
        let mut derivatives = BTreeMap::new();
        for id in differentiated {
            if values[id.index()].is_some() && !derivatives.contains_key(&id) {
                derivatives.insert(id, n as Column);
                owners.push((n as Column, id, true));
                n = n.checked_add(size(id))?;
            }
        }
        // Of elements that cannot be numbered nothing is known.
        if n >= Column::MAX as usize {
            return None;
        }
        let equal = (0..n as Column).collect();
        Some(Elements { values, derivatives, owners, equal, is_negated: vec![false; n], is_known: vec![false; n] })
    }

    pub fn len(&self) -> usize {
        self.equal.len()
    }

    /// The column of the first element of a variable, or of its derivative; `None` if it is no unknown.
    pub fn first(&self, variable: VarId, is_derivative: bool) -> Option<Column> {
        if is_derivative {
            return self.derivatives.get(&variable).copied();
        }
        self.values.get(variable.index()).copied().flatten()
    }

    /// The variable that a column belongs to, whether as a derivative, and the position in it.
    pub fn owner(&self, column: Column) -> (VarId, bool, usize) {
        let k = self.owners.partition_point(|owner| owner.0 <= column) - 1;
        let (first, variable, is_derivative) = self.owners[k];
        (variable, is_derivative, (column - first) as usize)
    }

    /// What a column stands for, and whether as its negative.
    pub fn find(&self, column: Column) -> (Column, bool) {
        let (mut at, mut is_negated) = (column, false);
        while self.equal[at as usize] != at {
            is_negated ^= self.is_negated[at as usize];
            at = self.equal[at as usize];
        }
        (at, is_negated)
    }

    /// Like [`find`](Self::find), with a shorter way the next time.
    fn shorten(&mut self, column: Column) -> (Column, bool) {
        let found = self.find(column);
        let (mut at, mut is_negated) = (column, found.1);
        while self.equal[at as usize] != at {
            let (next, own) = (self.equal[at as usize], self.is_negated[at as usize]);
            (self.equal[at as usize], self.is_negated[at as usize]) = (found.0, is_negated);
            is_negated ^= own;
            at = next;
        }
        found
    }

    /// `a` equals `b`, or its negative; false if that determines something else, for both are known or equal already.
    pub fn unite(&mut self, a: Column, b: Column, is_negated: bool) -> bool {
        let ((a, not_a), (b, not_b)) = (self.shorten(a), self.shorten(b));
        if a == b || self.is_known[a as usize] && self.is_known[b as usize] {
            return false;
        }
        let (kept, gone) = if self.is_known[b as usize] { (b, a) } else { (a, b) };
        self.equal[gone as usize] = kept;
        self.is_negated[gone as usize] = is_negated ^ not_a ^ not_b;
        true
    }

    /// Lets every column stand for what remains directly.
    pub fn settle(&mut self) {
        (0..self.equal.len() as Column).for_each(|column| {
            self.shorten(column);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(n: u32) -> Elements {
        let n_all = n as usize;
        Elements {
            values: Vec::new(),
            derivatives: BTreeMap::new(),
            owners: Vec::new(),
            equal: (0..n).collect(),
            is_negated: vec![false; n_all],
            is_known: vec![false; n_all],
        }
    }

    #[test]
    fn signs_are_followed_to_what_remains() {
        // 0 = 1, 1 = -2, 3 = -2, 4 = 3: all stand for 0 with signs + + - + +.
        let mut elements = plain(5);
        for (a, b, is_negated) in [(0, 1, false), (1, 2, true), (3, 2, true), (4, 3, false)] {
            assert!(elements.unite(a, b, is_negated));
        }
        elements.settle();
        let kept = elements.find(0).0;
        let signs: Vec<bool> = (0..5).map(|k| elements.find(k).1 ^ elements.find(0).1).collect();
        assert_eq!(signs, [false, false, true, false, false]);
        assert!((0..5).all(|k| elements.find(k).0 == kept));
        assert!(!elements.unite(1, 4, false), "that follows from the others");
    }

    #[test]
    fn what_is_known_stays() {
        let mut elements = plain(3);
        elements.is_known[1] = true;
        assert!(elements.unite(0, 1, true));
        assert_eq!(elements.find(0), (1, true));
        elements.is_known[2] = true;
        assert!(!elements.unite(0, 2, false), "two states that are equal");
    }
}
