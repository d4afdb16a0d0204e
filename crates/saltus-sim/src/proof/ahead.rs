//! Relations of time alone: when each changes next is found ahead of the integrator, and is a time event.
//!
//! ```modelica
//! Boolean pulse = sin(w*time) > 0.999;      // no state feels it, no step of the integrator is short enough to see it
//! ```
//!
//! In: after each event the values that are fixed until the next one. Out: for each relation that nothing but time moves the first
//! time at which it changes, or how far it has been found not to. A search goes only so far at a time: what an event on the way
//! makes obsolete has cost little.

use saltus_base::IdVec;
use saltus_numerics::Interval;
use saltus_program::{RELATION_BAND, Relation, RelationId, RelationOp};
use serde::{Deserialize, Serialize};

use super::Detection;
use super::march::{Expanded, March, Outcome, Pace, Watched, instant};
use super::tape::Tape;
use crate::constants::WIDEST_BAND;

/// Enclosures that are computed for a relation at once. Enough to pass a few periods of a signal; few beside what an event costs.
const EFFORT: u32 = 128;

/// A search that at its present pace would spend more operations than this on the whole time span is too slow, as where enclosures are too wide for the
/// tolerance of an assertion about two large terms: the next parts are looked at in points, then proof is tried again. About a tenth of a second. Test:
/// `a_small_difference_is_not_searched_for_ever`.
const MOST_WORK: f64 = 5e8;

/// Points in the interval in which signals are looked at.
const POINTS: f64 = 32.0;

#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Ahead {
    searches: Vec<Search>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Search {
    relation: usize,
    /// False while the relation is masked, or left to the search of steps.
    is_active: bool,
    is_masked: bool,
    memory: bool,
    /// By how much the threshold is moved in favour of the value, which it has by rounding only.
    shift: f64,
    /// Values that it depends on and that were fixed when the search began.
    leaves: Vec<f64>,
    /// Up to here the relation keeps its value.
    kept_to: f64,
    /// When it changes; infinite if that is not known.
    next: f64,
    pace: Pace,
    /// Shorter parts are not enclosed: zero unless the search got on too slowly.
    least_part: f64,
}

/// What a search may use.
pub(crate) struct Scope<'a> {
    pub relations: &'a IdVec<RelationId, Relation>,
    pub tape: &'a mut Tape,
    pub memory: &'a [f64],
    pub stop_time: f64,
    pub time_span: f64,
    pub longest_sample: f64,
    pub least_time: f64,
    pub detection: &'a mut [Detection],
}

impl Ahead {
    pub fn new(relations: &IdVec<RelationId, Relation>, tape: &Tape) -> Self {
        let is_timed = |i: &usize| tape.is_time_alone(*i);
        let search = |relation| Search {
            relation,
            is_active: false,
            is_masked: false,
            memory: false,
            shift: 0.0,
            leaves: Vec::new(),
            kept_to: f64::INFINITY,
            next: f64::INFINITY,
            pace: Pace::new(f64::INFINITY),
            least_part: 0.0,
        };
        Ahead { searches: (0..relations.len()).filter(is_timed).map(search).collect() }
    }

    /// In another configuration relations that are the same move as they did: their searches begin with lengths that were right.
    pub fn learn<'a>(
        &mut self,
        own: &'a IdVec<RelationId, Relation>,
        from: &Ahead,
        others: &'a IdVec<RelationId, Relation>,
    ) {
        let of = |all: &'a IdVec<RelationId, Relation>, search: &Search| {
            all.get(saltus_base::Index::from_usize(search.relation)).map(|r| (r.span, r.text.as_str()))
        };
        for search in &mut self.searches {
            let wanted = of(own, search);
            if let Some(known) = from.searches.iter().find(|known| of(others, known) == wanted) {
                search.pace = known.pace;
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.searches.is_empty()
    }

    /// Relations that need not be searched for in steps.
    pub fn relations(&self) -> impl Iterator<Item = RelationId> {
        self.searches.iter().filter(|s| s.is_active).map(|s| saltus_base::Index::from_usize(s.relation))
    }

    /// When relations change next.
    pub fn times(&self) -> impl Iterator<Item = f64> {
        self.searches.iter().map(|s| s.next).filter(|t| t.is_finite())
    }

    /// Relations that change at this time.
    pub fn changing_at(&self, t: f64) -> impl Iterator<Item = usize> {
        self.searches.iter().filter(move |s| s.next == t).map(|s| s.relation)
    }

    /// Up to here it is known that no relation changes but at [`Ahead::times`].
    pub fn horizon(&self) -> f64 {
        self.searches
            .iter()
            .filter(|s| s.is_active && s.next.is_infinite())
            .fold(f64::INFINITY, |h, s| h.min(s.kept_to))
    }

    /// Is a relation left to the search of steps, which do not feel it?
    pub fn leaves_some(&self) -> bool {
        self.searches.iter().any(|s| !s.is_active && !s.is_masked)
    }

    /// All relations are left to the search of steps.
    pub fn suspend(&mut self) {
        self.searches.iter_mut().for_each(|s| s.is_masked = false);
        self.searches.iter_mut().for_each(Search::suspend);
    }

    /// After an event at `t`: begins anew where something has changed.
    pub fn begin(&mut self, t: f64, scope: &mut Scope, masked: &[RelationId]) {
        if self.searches.is_empty() {
            return;
        }
        scope.tape.load(scope.memory);
        for search in &mut self.searches {
            search.begin(t, scope, masked);
        }
    }

    /// Searches on until `t` is reached, as far as that takes a bounded effort.
    pub fn extend(&mut self, t: f64, scope: &mut Scope) {
        scope.tape.load(scope.memory);
        for search in &mut self.searches {
            if search.is_active && search.next.is_infinite() && search.kept_to < t.min(scope.stop_time) {
                search.go_on(scope);
            }
        }
    }
}

impl Search {
    fn begin(&mut self, t: f64, scope: &mut Scope, masked: &[RelationId]) {
        let id: RelationId = saltus_base::Index::from_usize(self.relation);
        let Some(relation) = scope.relations.get(id) else { return };
        self.is_masked = masked.contains(&id);
        if self.is_masked {
            self.suspend();
            return;
        }
        let value = |slot: saltus_program::SlotId| scope.memory.get(saltus_base::Index::index(slot)).copied();
        let memory = value(relation.memory).is_some_and(|m| m != 0.0);
        let Some(slice) = scope.tape.slices.get(self.relation).and_then(Option::as_ref) else { return };
        let mut values = slice.leaves.iter().map(|&slot| value(slot).unwrap_or(f64::NAN));
        let is_same = self.leaves.iter().all(|known| values.next().is_some_and(|v| v.to_bits() == known.to_bits()));
        if self.is_active && is_same && values.next().is_none() && memory == self.memory && self.next > t {
            return;
        }
        let values: Vec<f64> = slice.leaves.iter().map(|&slot| value(slot).unwrap_or(f64::NAN)).collect();
        (self.is_active, self.memory, self.leaves) = (true, memory, values);
        (self.kept_to, self.next) = (t, f64::INFINITY);
        self.least_part = 0.0;
        self.pace = self.pace.restarted();
        self.shift = 0.0;
        let crossing = scope.tape.over(self.relation, Interval::point(t));
        let z = scope.tape.at(self.relation, t);
        if self.watched(relation.op).has_changed(z) {
            // An event may give a relation either value where its operands are equal up to rounding. Further from that it is for
            // the steps to find out what happens.
            if z.abs() > WIDEST_BAND * crossing.scale {
                self.suspend();
                return;
            }
            self.shift = 2.0 * z.abs().max(RELATION_BAND * crossing.scale);
        }
        self.go_on(scope);
    }

    fn suspend(&mut self) {
        (self.is_active, self.next, self.kept_to) = (false, f64::INFINITY, f64::INFINITY);
    }

    fn watched(&self, op: RelationOp) -> Watched {
        Watched { op, memory: self.memory, shift: self.shift }
    }

    fn go_on(&mut self, scope: &mut Scope) {
        let id: RelationId = saltus_base::Index::from_usize(self.relation);
        let Some(relation) = scope.relations.get(id) else { return };
        if self.kept_to >= scope.stop_time {
            return;
        }
        let mut march = March {
            tape: &mut *scope.tape,
            relation: self.relation,
            watched: self.watched(relation.op),
            longest_sample: scope.longest_sample,
            least_time: scope.least_time,
            budget: EFFORT,
            most_work: u64::MAX,
            pace: self.pace,
            least_part: self.least_part,
            is_sampled: false,
            expansions: Expanded::NONE,
            is_of_step: false,
            doubted_from: None,
            is_doubtful: false,
        };
        let work_before = march.tape.work;
        let outcome = march.go(self.kept_to, scope.stop_time);
        let work = (march.tape.work - work_before) as f64;
        self.least_part = 0.0;
        match outcome {
            Outcome::Kept => self.kept_to = scope.stop_time,
            Outcome::Paused { at } => {
                if work > MOST_WORK * (at - self.kept_to) / scope.time_span {
                    self.least_part = scope.longest_sample / POINTS;
                }
                self.kept_to = at;
            }
            Outcome::Changes { before, after } => {
                // Not in the instant that has just been settled.
                let earliest = self.kept_to + instant(self.kept_to.abs().max(scope.least_time));
                self.next = march.locate(before, after).max(earliest).min(scope.stop_time);
                self.kept_to = self.next;
            }
        }
        self.pace = march.pace;
        if let Some(detection) = scope.detection.get_mut(self.relation) {
            match march.is_sampled {
                true => detection.sampled += 1,
                false => detection.proved += 1,
            }
        }
    }
}
