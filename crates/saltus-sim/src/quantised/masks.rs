//! Relations that cannot change anything at present ([`crate::masking`]), kept up to date where something changes.
//!
//! In: the variables that an event has changed. Out: the relations that are not watched any more, and those that are again. What decides for another
//! relation is a relation that stays watched, as long as it is needed.

use std::collections::HashMap;

use saltus_base::Index;
use saltus_program::{RelationId, SimProgram, SlotId};

use crate::masking::Masking;

pub(super) struct Masks {
    masking: Masking,
    /// By slot the candidates whose conditions read it.
    candidates_of: HashMap<SlotId, Vec<u32>>,
    /// By candidate the relations that have decided for it, if it is masked.
    decided_by: Vec<Option<Vec<RelationId>>>,
    /// By relation: is it masked, and for how many others has it decided?
    is_masked: Vec<bool>,
    n_decided: Vec<u32>,
}

impl Masks {
    pub fn new(program: &SimProgram) -> Self {
        let masking = Masking::new(program);
        let n = program.events.relations.len();
        let mut candidates_of: HashMap<SlotId, Vec<u32>> = HashMap::new();
        for candidate in 0..masking.n_candidates() {
            masking.for_each_slot(candidate, &mut |slot| {
                let known = candidates_of.entry(slot).or_default();
                if known.last() != Some(&(candidate as u32)) {
                    known.push(candidate as u32);
                }
            });
        }
        Masks {
            decided_by: vec![None; masking.n_candidates()],
            masking,
            candidates_of,
            is_masked: vec![false; n],
            n_decided: vec![0; n],
        }
    }

    pub fn is_masked(&self, relation: usize) -> bool {
        self.is_masked.get(relation).copied().unwrap_or(false)
    }

    /// Relations that may be masked.
    pub fn candidates(&self) -> impl Iterator<Item = RelationId> + '_ {
        (0..self.masking.n_candidates()).map(|candidate| self.masking.candidate(candidate))
    }

    /// Judges all of them.
    pub fn begin(&mut self, memory: &[f64]) {
        self.is_masked.fill(false);
        self.n_decided.fill(0);
        self.decided_by.fill(None);
        (0..self.masking.n_candidates()).for_each(|candidate| self.mask(candidate, memory));
    }

    /// Judges those again that depend on a variable that has changed; `tell` gets each relation that was judged.
    pub fn follow(&mut self, slot: SlotId, memory: &[f64], tell: &mut dyn FnMut(RelationId)) {
        let Some(candidates) = self.candidates_of.get(&slot) else { return };
        for candidate in candidates.clone() {
            let candidate = candidate as usize;
            let relation = self.masking.candidate(candidate);
            if let Some(deciders) = self.decided_by[candidate].take() {
                deciders.iter().for_each(|decider| self.n_decided[decider.index()] -= 1);
                self.is_masked[relation.index()] = false;
            }
            self.mask(candidate, memory);
            tell(relation);
        }
    }

    fn mask(&mut self, candidate: usize, memory: &[f64]) {
        let relation = self.masking.candidate(candidate).index();
        if self.n_decided[relation] > 0 {
            return;
        }
        let is_masked = &self.is_masked;
        let deciders = self.masking.deciders(candidate, memory, &|id: &RelationId| !is_masked[id.index()]);
        if let Some(deciders) = deciders {
            deciders.iter().for_each(|decider| self.n_decided[decider.index()] += 1);
            self.is_masked[relation] = true;
            self.decided_by[candidate] = Some(deciders);
        }
    }
}
