//! Events without progress: counted, diagnosed, and under [`ZenoPolicy::Continue`] passed over.
//!
//! In: the times of events. Out: nothing, a failure, or the time until which relations are held.

use std::sync::Arc;

use crate::error::{Failure, SimErrorKind};
use crate::options::{Options, ZenoPolicy};
use crate::record::EventCause;

/// This many events within [`NO_PROGRESS`] of the time span are chattering.
const MOST_EVENTS_WITHOUT_PROGRESS: u64 = 1_000;
const NO_PROGRESS: f64 = 1e-9;
/// Relations are first held for this part of the time span, and at most for the second.
const SHORTEST_HOLD: f64 = 1e-6;
const LONGEST_HOLD: f64 = 1e-3;
/// An event later than this many holds after the last one begins anew.
const QUIET: f64 = 10.0;

pub(crate) struct Crowd {
    /// When events began to follow each other closely, and how many since.
    since: f64,
    count: u64,
    /// Length of the last hold; zero if there was none.
    hold: f64,
    last: f64,
}

/// What to do after an event.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    Progress,
    /// Events alternate without progress; the relation is one that changed, if any did.
    Chattering {
        relation: Option<Arc<str>>,
        events: u64,
    },
    /// Hold the relations until then.
    Hold(f64),
}

impl Crowd {
    pub fn new() -> Self {
        Crowd { since: f64::NEG_INFINITY, count: 0, hold: 0.0, last: f64::NEG_INFINITY }
    }

    pub fn judge(&mut self, t: f64, causes: &[EventCause], options: &Options) -> Verdict {
        let span = options.time_span();
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
        if self.count <= MOST_EVENTS_WITHOUT_PROGRESS {
            return Verdict::Progress;
        }
        if options.on_zeno == ZenoPolicy::Continue {
            self.hold = SHORTEST_HOLD * span;
            return Verdict::Hold(t + self.hold);
        }
        let relation = causes.iter().find_map(|c| match c {
            EventCause::Relation { text, .. } => Some(text.clone()),
            _ => None,
        });
        Verdict::Chattering { relation, events: self.count }
    }
}

pub(crate) fn chattering(t: f64, relation: &str, events: u64) -> Failure {
    Failure::new(t, SimErrorKind::Chattering { events, relation: relation.to_owned() })
}
