//! For each slot the set of states (and time) on which it depends, found by one pass over the blocks of a section.
//!
//! In: the slots that stand for the numbers, then sections in order of evaluation. Out: sets. Most sets of a large model hold a few
//! neighbours, those of a mechanism may hold all states: a set is a list of the 64-bit words that are not zero, and slots that
//! are solved for together share one. The words of all sets are bounded ([`MOST_WORDS`]); beyond that nothing is known.

use saltus_base::Index;
use saltus_program::{Assign, Block, Code, Op, Section, SlotId, ValueId};

/// Words of dependence sets that are worth their memory.
const MOST_WORDS: usize = 10_000_000;

/// Words that are not zero, with their positions, ascending: where they are among the words of all sets.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Set {
    start: u32,
    n: u32,
}

const NOTHING: Set = Set { start: 0, n: 0 };

pub(crate) struct Dependence {
    sets: Vec<Set>,
    words: Vec<(u32, u64)>,
    /// The set under construction.
    union: Vec<u64>,
    /// Positions of its words, in the order in which they were met.
    met: Vec<u32>,
}

impl Dependence {
    /// Sets of numbers below `n` for so many slots, all empty.
    pub fn new(n: usize, n_slots: usize) -> Self {
        let union = vec![0; n.div_ceil(64)];
        Dependence { sets: vec![NOTHING; n_slots], words: Vec::new(), union, met: Vec::new() }
    }

    pub fn add(&mut self, slot: SlotId, number: usize) {
        let own = self.of(slot);
        self.unite(own);
        self.unite_word((number / 64) as u32, 1 << (number % 64));
        let set = self.finish();
        self.set(slot, set);
    }

    pub fn has(&self, slot: SlotId, number: usize) -> bool {
        let set = self.words_of(self.of(slot));
        let found = set.binary_search_by_key(&((number / 64) as u32), |word| word.0);
        found.is_ok_and(|at| set[at].1 >> (number % 64) & 1 == 1)
    }

    pub fn is_empty(&self, slot: SlotId) -> bool {
        self.of(slot).n == 0
    }

    /// The numbers in the set of a slot, ascending.
    pub fn numbers(&self, slot: SlotId) -> impl Iterator<Item = usize> {
        self.words_of(self.of(slot)).iter().flat_map(|&(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as usize * 64 + bit)
        })
    }

    /// Follows the blocks of a section; false if the sets became too large.
    pub fn propagate(&mut self, section: &Section) -> bool {
        section.blocks.iter().all(|block| {
            self.follow(block);
            self.words.len() <= MOST_WORDS
        })
    }

    fn follow(&mut self, block: &Block) {
        match block {
            Block::Assign(assign) => self.follow_assign(assign),
            Block::Repeat(repeat) => repeat.for_each_element(&mut |assign| {
                if self.words.len() <= MOST_WORDS {
                    self.follow_assign(assign);
                }
            }),
            Block::Loop(l) => {
                // What is inside of the loop depends on all that comes in; sets of the last pass are subsets of it.
                block.codes().iter().for_each(|code| self.unite_loads(code));
                let set = self.finish();
                let discrete = l.discrete.iter().flat_map(|d| &d.stores);
                let stored = l.body.stores.iter().chain(discrete).map(|s| s.1);
                l.unknowns.iter().map(|u| u.slot).chain(stored).for_each(|slot| self.set(slot, set));
            }
        }
    }

    fn follow_assign(&mut self, assign: &Assign) {
        if let [(_, slot)] = assign.stores[..] {
            self.unite_loads(&assign.code);
            let set = self.finish();
            return self.set(slot, set);
        }
        let values = self.values(&assign.code);
        for &(value, slot) in &assign.stores {
            if let Some(&set) = values.get(value.0 as usize) {
                self.set(slot, set);
            }
        }
    }

    fn of(&self, slot: SlotId) -> Set {
        self.sets.get(slot.index()).copied().unwrap_or(NOTHING)
    }

    fn words_of(&self, set: Set) -> &[(u32, u64)] {
        &self.words[set.start as usize..][..set.n as usize]
    }

    fn set(&mut self, slot: SlotId, set: Set) {
        if let Some(place) = self.sets.get_mut(slot.index()) {
            *place = set;
        }
    }

    /// Everything that code depends on, into the set under construction.
    fn unite_loads(&mut self, code: &Code) {
        for op in &code.ops {
            if let Op::Load(slot) = op {
                let set = self.of(*slot);
                self.unite(set);
            }
        }
    }

    fn unite(&mut self, set: Set) {
        for k in set.start..set.start + set.n {
            let (at, bits) = self.words[k as usize];
            self.unite_word(at, bits);
        }
    }

    fn unite_word(&mut self, at: u32, bits: u64) {
        let Some(word) = self.union.get_mut(at as usize) else { return };
        if *word == 0 {
            self.met.push(at);
        }
        *word |= bits;
    }

    /// The set that was under construction; the next one begins empty.
    fn finish(&mut self) -> Set {
        if self.met.is_empty() {
            return NOTHING;
        }
        self.met.sort_unstable();
        let set = Set { start: self.words.len() as u32, n: self.met.len() as u32 };
        let union = &mut self.union;
        self.words.extend(self.met.drain(..).map(|at| (at, std::mem::take(&mut union[at as usize]))));
        set
    }

    /// The sets of all values of code.
    fn values(&mut self, code: &Code) -> Vec<Set> {
        let mut values: Vec<Set> = Vec::with_capacity(code.ops.len());
        for op in &code.ops {
            let set = match *op {
                Op::Const(_) => NOTHING,
                Op::Load(slot) => self.of(slot),
                Op::Unary(_, a) => self.union_of(&values, &[a]),
                Op::Binary(_, a, b) => self.union_of(&values, &[a, b]),
                Op::Select(c, a, b) => self.union_of(&values, &[c, a, b]),
                Op::Call(k) | Op::Result(k, _) => {
                    let arguments = code.calls.get(k as usize).map_or(&[][..], |c| &c.arguments);
                    self.union_of(&values, arguments)
                }
            };
            values.push(set);
        }
        values
    }

    /// Shares a set where all others are empty or the same.
    fn union_of(&mut self, values: &[Set], operands: &[ValueId]) -> Set {
        let mut sets = operands.iter().filter_map(|v| values.get(v.0 as usize).copied()).filter(|set| set.n > 0);
        let Some(first) = sets.next() else { return NOTHING };
        if sets.clone().all(|set| set == first) {
            return first;
        }
        self.unite(first);
        sets.for_each(|set| self.unite(set));
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_added_however_far_apart() {
        let mut dependence = Dependence::new(1_000_000, 2);
        let [a, b] = [0, 1].map(SlotId::from_usize);
        for number in [999_999, 3, 64, 3, 130] {
            dependence.add(a, number);
        }
        assert_eq!(dependence.numbers(a).collect::<Vec<_>>(), [3, 64, 130, 999_999]);
        assert!(dependence.has(a, 64) && !dependence.has(a, 65) && !dependence.has(b, 64));
        assert_eq!(dependence.numbers(b).count(), 0);
    }
}
