//! Events without progress: noticed, diagnosed, and under [`ZenoPolicy::Continue`] passed over.
//!
//! In: what each event changed, and when. Out: a [`Verdict`]. Two things can go wrong. *Chattering*: a relation changes,
//! which makes it change back at once, for ever; where both sides point at the threshold the model may slide along it
//! ([`crate::sliding`]). *Zeno*: intervals between jumps shrink like a geometric series, whose sum is where they accumulate.

use saltus_program::RelationId;

use crate::constants::{
    ALTERNATIONS, AT_ONCE, LONGEST_HOLD, MOST_EVENTS_WITHOUT_PROGRESS, NO_PROGRESS, QUIET, REMEMBERED_JUMPS,
    SHORTEST_HOLD,
};
use crate::options::{Options, ZenoPolicy};

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Zeno {
    /// When events began to follow each other closely, and how many since.
    since: f64,
    count: u64,
    /// Length of the last hold; zero if there was none.
    hold: f64,
    last: f64,
    /// Relations that the last event changed, and how often in a row they have changed back and forth.
    changed: Vec<RelationId>,
    alternations: u32,
    /// Did a state jump at the last event?
    jumped: bool,
    /// Has the model slid along the threshold of this relation?
    slid: Option<RelationId>,
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
}

/// What to do after an event.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    Progress,
    /// The relations that have just changed alternate: one of them may be a threshold to slide along.
    Alternating,
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
            hold: 0.0,
            last: f64::NEG_INFINITY,
            changed: Vec::new(),
            alternations: 0,
            jumped: false,
            slid: None,
            patience: if policy == ZenoPolicy::Slide { 1 } else { ALTERNATIONS },
            jumps: [f64::NAN; REMEMBERED_JUMPS],
        }
    }

    pub fn judge(&mut self, event: &Happened, options: &Options) -> Verdict {
        let (t, span) = (event.time, options.time_span());
        let alternates = self.note(event, span);
        let quiet = t - self.last > QUIET * self.hold;
        self.last = t;
        if self.hold > 0.0 && !quiet {
            self.hold = (2.0 * self.hold).min(LONGEST_HOLD * span);
            return Verdict::Hold(t + self.hold);
        }
        self.hold = 0.0;
        if t - self.since > NO_PROGRESS * t.abs().max(span) {
            (self.since, self.count) = (t, 0);
        }
        self.count += 1;
        let may_slide = matches!(options.on_zeno, ZenoPolicy::Auto | ZenoPolicy::Slide);
        match self.count > MOST_EVENTS_WITHOUT_PROGRESS {
            true if options.on_zeno == ZenoPolicy::Continue => {
                self.hold = SHORTEST_HOLD * span;
                Verdict::Hold(t + self.hold)
            }
            true => Verdict::Chattering { events: self.count },
            false if alternates && may_slide => Verdict::Alternating,
            false => Verdict::Progress,
        }
    }

    /// Remembers the event; true if its relations have changed back and forth.
    fn note(&mut self, event: &Happened, span: f64) -> bool {
        if event.jumped {
            self.jumps.rotate_left(1);
            self.jumps[REMEMBERED_JUMPS - 1] = event.time;
        }
        // A relation that changes back because a state has jumped is not an alternation.
        let jumped = std::mem::replace(&mut self.jumped, event.jumped);
        let is_alternation = !event.jumped
            && !jumped
            && !event.timed
            && !event.changed.is_empty()
            && self.changed == event.changed
            && event.time - self.last <= AT_ONCE * span;
        self.alternations = if is_alternation { self.alternations + 1 } else { 0 };
        self.changed.clear();
        self.changed.extend_from_slice(event.changed);
        let has_slid = self.slid.is_some_and(|r| event.changed.contains(&r));
        self.alternations >= if has_slid { 1 } else { self.patience }
    }

    /// From now on a first alternation is enough.
    pub fn has_slid(&mut self, relation: RelationId) {
        self.slid = Some(relation);
        (self.count, self.alternations) = (0, 0);
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
            zeno.note(&Happened { time: t, changed: &[], jumped: true, timed: false }, 1.0);
        }
        assert!(zeno.accumulation().is_some_and(|t| (t - 2.0).abs() < 1e-12), "{:?}", zeno.accumulation());
        let mut even = Zeno::new(ZenoPolicy::Auto);
        for k in 0..20 {
            even.note(&Happened { time: f64::from(k), changed: &[], jumped: true, timed: false }, 1.0);
        }
        assert_eq!(even.accumulation(), None);
    }
}
