//! Events without progress: noticed, diagnosed, and under [`ZenoPolicy::Continue`] passed over.
//!
//! In: what each event changed, and when. Out: a [`Verdict`]. Two things can go wrong. *Chattering*: a relation changes,
//! which makes it change back at once, for ever; where both sides point at the threshold the model may slide along it
//! ([`crate::sliding`]). *Zeno*: intervals between jumps shrink like a geometric series, whose sum is where they accumulate.

use std::collections::{BTreeSet, VecDeque};

use saltus_program::RelationId;

use crate::constants::{
    ALTERNATIONS, AT_ONCE, INTERLEAVED, LONGEST_HOLD, MOST_EVENTS_WITHOUT_PROGRESS, NO_PROGRESS, NO_PROGRESS_ULPS,
    QUIET, REMEMBERED_JUMPS, SHORTEST_HOLD,
};
use crate::options::{Options, ZenoPolicy};

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Zeno {
    /// When events began to follow each other closely, and how many since.
    since: f64,
    count: u64,
    /// The last event that was due.
    due: f64,
    /// Length of the last hold; zero if there was none.
    hold: f64,
    last: f64,
    /// Relations that the last events changed, all within a moment of each other.
    recent: VecDeque<(f64, Vec<RelationId>)>,
    /// How often in a row the same ones have changed back and forth.
    alternations: u32,
    /// How often in a row they have done so within the tolerance, however long it took.
    trembles: u32,
    changed_last: Vec<RelationId>,
    /// Did a state jump at the last event?
    jumped: bool,
    /// Relations along whose thresholds the model has slid last.
    slid: Vec<RelationId>,
    /// Relations that were about to change back and did not slide, as those of a law with hysteresis: only many alternations make
    /// them worth another look.
    dismissed: BTreeSet<RelationId>,
    /// Alternations before the first slide.
    patience: u32,
    /// Times of the last events at which states jumped.
    jumps: [f64; REMEMBERED_JUMPS],
}

/// What an event did, as far as progress is concerned.
pub(crate) struct Happened<'a> {
    pub time: f64,
    pub changed: &'a [RelationId],
    /// Did a state jump?
    pub jumped: bool,
    /// Did something of time take part?
    pub timed: bool,
    /// Is it at the time at which the model wanted it?
    pub is_due: bool,
    /// Have the functions of these relations stayed within the tolerance since the last event?
    pub is_small: bool,
}

/// What to do after an event.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    Progress,
    /// These relations alternate: they may have thresholds to slide along.
    Alternating(Vec<RelationId>),
    /// These do so for longer, within the tolerance, as the levels of tanks that have become equal.
    Trembling(Vec<RelationId>),
    /// Very many events alternate without progress.
    Chattering {
        events: u64,
    },
    /// Hold the relations until then.
    Hold(f64),
}

impl Zeno {
    pub fn new(policy: ZenoPolicy) -> Self {
        Zeno {
            since: f64::NEG_INFINITY,
            count: 0,
            due: f64::NEG_INFINITY,
            hold: 0.0,
            last: f64::NEG_INFINITY,
            recent: VecDeque::new(),
            alternations: 0,
            trembles: 0,
            changed_last: Vec::new(),
            jumped: false,
            slid: Vec::new(),
            dismissed: BTreeSet::new(),
            patience: if policy == ZenoPolicy::Slide { 1 } else { ALTERNATIONS },
            jumps: [f64::NAN; REMEMBERED_JUMPS],
        }
    }

    pub fn judge(&mut self, event: &Happened, options: &Options) -> Verdict {
        let (t, span) = (event.time, options.time_span());
        let alternating = self.note(event, span);
        let quiet = t - self.last > QUIET * self.hold;
        self.last = t;
        if self.hold > 0.0 && !quiet {
            self.hold = (2.0 * self.hold).min(LONGEST_HOLD * span);
            return Verdict::Hold(t + self.hold);
        }
        self.hold = 0.0;
        if event.is_due {
            let is_progress = t - std::mem::replace(&mut self.due, t) > NO_PROGRESS * span;
            if is_progress {
                (self.since, self.count) = (t, 0);
            }
        }
        let too_many = self.count(t, options);
        let may_slide = matches!(options.on_zeno, ZenoPolicy::Auto | ZenoPolicy::Slide);
        match too_many {
            Some(_) if options.on_zeno == ZenoPolicy::Continue => {
                self.hold = SHORTEST_HOLD * span;
                Verdict::Hold(t + self.hold)
            }
            Some(events) => Verdict::Chattering { events },
            None if may_slide && !alternating.is_empty() => Verdict::Alternating(alternating),
            None if may_slide && self.trembles >= ALTERNATIONS => Verdict::Trembling(event.changed.to_vec()),
            None => Verdict::Progress,
        }
    }

    /// Counts an event; how many there have been without progress, if that is too many.
    pub fn count(&mut self, t: f64, options: &Options) -> Option<u64> {
        let resolution = t.abs().next_up() - t.abs();
        if t - self.since > (NO_PROGRESS * options.time_span()).max(NO_PROGRESS_ULPS * resolution) {
            (self.since, self.count) = (t, 0);
        }
        self.count += 1;
        (self.count > MOST_EVENTS_WITHOUT_PROGRESS).then_some(self.count)
    }

    /// Remembers the event; the relations that change back and forth.
    fn note(&mut self, event: &Happened, span: f64) -> Vec<RelationId> {
        if event.jumped {
            self.jumps.rotate_left(1);
            self.jumps[REMEMBERED_JUMPS - 1] = event.time;
        }
        // A relation that changes back because a state has jumped is not an alternation.
        let jumped = std::mem::replace(&mut self.jumped, event.jumped);
        let is_plain = !event.jumped && !jumped && !event.timed && !event.changed.is_empty();
        let is_close = self.recent.back().is_some_and(|(last, _)| event.time - last <= AT_ONCE * span);
        if !is_plain || !is_close {
            self.recent.clear();
            self.alternations = 0;
        }
        let is_same = self.changed_last == event.changed;
        self.trembles = if is_plain && is_same && event.is_small { self.trembles + 1 } else { 0 };
        self.changed_last.clear();
        self.changed_last.extend_from_slice(event.changed);
        let is_same = self.recent.back().is_some_and(|(_, changed)| changed == event.changed);
        self.alternations = if is_plain && is_same { self.alternations + 1 } else { 0 };
        if self.recent.len() == INTERLEAVED {
            self.recent.pop_front();
        }
        self.recent.push_back((event.time, event.changed.to_vec()));
        let has_slid = self.slid.iter().any(|r| event.changed.contains(r));
        if self.alternations >= if has_slid { 1 } else { self.patience } {
            return event.changed.to_vec();
        }
        self.interleaved(span)
    }

    /// Relations of the last events, if there have been many at once and each of them has changed back.
    fn interleaved(&self, span: f64) -> Vec<RelationId> {
        let is_at_once = |(first, _): &(f64, _)| self.last_recent() - first <= AT_ONCE * span;
        if self.recent.len() < INTERLEAVED || !self.recent.front().is_some_and(is_at_once) {
            return Vec::new();
        }
        let mut all: Vec<RelationId> = self.recent.iter().flat_map(|(_, changed)| changed.iter().copied()).collect();
        all.sort_unstable();
        let total = all.len();
        all.dedup();
        if total >= 2 * all.len() { all } else { Vec::new() }
    }

    fn last_recent(&self) -> f64 {
        self.recent.back().map_or(f64::NEG_INFINITY, |(t, _)| *t)
    }

    pub fn dismiss(&mut self, relations: Vec<RelationId>) {
        self.dismissed.extend(relations);
    }

    /// Has it been tried in vain to slide along all of these?
    pub fn is_dismissed(&self, relations: &[RelationId]) -> bool {
        relations.iter().all(|r| self.dismissed.contains(r))
    }

    /// From now on a first alternation is enough.
    pub fn has_slid(&mut self, relations: &[RelationId]) {
        self.slid = relations.to_vec();
        self.recent.clear();
        (self.alternations, self.trembles) = (0, 0);
    }

    /// Where jumps accumulate, if their intervals shrink like a geometric series.
    pub fn accumulation(&self) -> Option<f64> {
        self.jumps.windows(4).find_map(|times| {
            let [t0, t1, t2, t3] = *times else { return None };
            let (first, second) = ((t2 - t1) / (t1 - t0), (t3 - t2) / (t2 - t1));
            let is_geometric = first > 0.0 && second > 0.0 && second < 0.999 && (first - second).abs() < 0.01 * second;
            is_geometric.then(|| t3 + (t3 - t2) * second / (1.0 - second))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_a_geometric_series_add_up() {
        // 1 + ½ + ¼ + … = 2
        let mut zeno = Zeno::new(ZenoPolicy::Auto);
        let mut t = 0.0;
        for k in 0..5 {
            t += 0.5f64.powi(k);
            zeno.note(
                &Happened { time: t, changed: &[], jumped: true, timed: false, is_due: false, is_small: false },
                1.0,
            );
        }
        assert!(zeno.accumulation().is_some_and(|t| (t - 2.0).abs() < 1e-12), "{:?}", zeno.accumulation());
        let mut even = Zeno::new(ZenoPolicy::Auto);
        for k in 0..20 {
            even.note(
                &Happened {
                    time: f64::from(k),
                    changed: &[],
                    jumped: true,
                    timed: false,
                    is_due: false,
                    is_small: false,
                },
                1.0,
            );
        }
        assert_eq!(even.accumulation(), None);
    }
}
