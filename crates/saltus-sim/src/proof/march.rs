//! Goes along a crossing function from left to right, in stretches over which it is known what it does.
//!
//! In: a relation with the value that it remembers, and a stretch of time at whose start it has that value. Out: it keeps the value
//! all the way; or the first part in which it loses it. Over each part one of these holds:
//!
//! - the enclosed values all belong to the remembered value;
//! - the slope has one sign: away from the threshold nothing changes, towards it the value at the end decides;
//! - the enclosed values are rounding ([`TOUCH`]): a touch, the value at the end decides;
//! - the part is one instant ([`INSTANT_ULPS`]): the value at its end decides.
//!
//! A value that the rounding of its operands, or the error that is estimated for the step, may have made does not count as changed: the small
//! difference of large states has either sign where it begins, as the current of a diode that has just been switched on. Tests:
//! `rounding_of_large_terms_makes_no_events`, `errors_of_a_step_make_no_events`. If it grows beyond these errors, the change is where it began; if it does not,
//! the step is not counted as proved. Test: `pulses_within_the_error_of_a_step_are_told`.
//!
//! Values and slopes are enclosed at first order, then by an expansion, whose polynomial decides about many parts at once. Otherwise the part is halved. Where enclosures stay too wide (poles, jumps without events, cancellation) parts of one instant
//! would never end: after [`MOST_INSTANTS`] of them in a row they grow, and the relation is only sampled there.

use saltus_numerics::{Bracket, Interval, locate_sign_change};
use saltus_program::RelationOp;

use super::series::Expansion;
use super::tape::{Crossing, Tape};

/// Times so many units in the last place apart are one instant, as for events that coincide.
pub(super) const INSTANT_ULPS: f64 = crate::constants::SAME_INSTANT_ULPS;

/// A function that stays within this times the magnitude of its operands may touch its threshold: rounding of a few operations.
const TOUCH: f64 = 64.0 * f64::EPSILON;

/// It does if it stays within this times the width of its enclosure at one time, which is what rounding makes of it there, whatever its operands are
/// elsewhere. Tests: `a_touch_is_not_searched_for_ever`, `pulses_of_small_functions_are_found`.
const TOUCH_WIDTHS: f64 = 16.0;

/// Undecided instants in a row until they are made longer, and by how much.
const MOST_INSTANTS: u32 = 64;
const LONGER: f64 = 8.0;

/// What an expansion costs, in enclosures of first order.
const EXPANSION_COST: u32 = 8;

/// After an expansion was of no use, the next one is made for a part as short as this compared with it: the remainder falls with the fourth power.
const WORTH_ANOTHER: f64 = 0.25;

/// A relation and the value it has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Watched {
    pub op: RelationOp,
    pub memory: bool,
    /// By how much the threshold is moved in favour of that value.
    pub shift: f64,
}

impl Watched {
    /// +1 if the value belongs to positive z.
    pub(super) fn side(self) -> f64 {
        if self.op.is_true_below() == self.memory { -1.0 } else { 1.0 }
    }

    /// Has the relation the other value at z?
    pub fn has_changed(self, z: f64) -> bool {
        !z.is_nan() && self.op.holds(z + self.side() * self.shift) != self.memory
    }

    /// z towards the remembered side, with the shift.
    fn towards(self, z: Interval) -> Interval {
        let signed = if self.side() > 0.0 { z } else { -z };
        signed + Interval::point(self.shift)
    }

    fn keeps(self, z: Interval) -> bool {
        let g = self.towards(z);
        g.lo > 0.0 || g.lo == 0.0 && self.op.holds(0.0) == self.memory
    }
}

/// What is known of a part.
enum Verdict {
    Keeps,
    /// Whether it changes shows at the end; then it does so once.
    EndDecides,
    Undecided,
}

/// How a march ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Outcome {
    /// The value is kept to the end.
    Kept,
    /// Kept up to `before`, lost at `after`.
    Changes { before: f64, after: f64 },
    /// Kept so far; more evaluations were not allowed.
    Paused { at: f64 },
}

/// The length of one instant at times of this magnitude.
pub(super) fn instant(magnitude: f64) -> f64 {
    INSTANT_ULPS * (magnitude.next_up() - magnitude)
}

/// Is it known from the values of its function that a relation keeps its value?
pub(crate) fn keeps(watched: Watched, z: Interval) -> bool {
    watched.keeps(z)
}

/// How a march goes on: lengths of parts.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Pace {
    /// Length of the next part.
    pub stride: f64,
    /// Undecided instants in a row.
    n_instants: u32,
    /// How many times as long as one instant they are.
    stretch: f64,
}

impl Pace {
    pub fn new(stride: f64) -> Self {
        Pace { stride, n_instants: 0, stretch: 1.0 }
    }

    /// Elsewhere, with the length that was right so far.
    pub fn restarted(self) -> Self {
        Pace::new(if self.stride > 0.0 { self.stride } else { f64::INFINITY })
    }
}

/// A march along one relation.
pub(crate) struct March<'a> {
    pub tape: &'a mut Tape,
    pub relation: usize,
    pub watched: Watched,
    /// Parts that are only sampled are not longer than this.
    pub longest_sample: f64,
    /// Times near zero are not resolved better than those of this magnitude.
    pub least_time: f64,
    /// Enclosures that may still be computed.
    pub budget: u32,
    /// Operations that may have been spent on the tape.
    pub most_work: u64,
    pub pace: Pace,
    /// Parts of this length are not divided, however long one instant is.
    pub least_part: f64,
    /// Was some part only sampled?
    pub is_sampled: bool,
    pub expansions: Expanded,
    /// Must a change be larger than the errors of what it is computed from? The states of a step are rounded, and have the error of the step, and a
    /// crossing function may be the small difference of large terms.
    pub is_of_step: bool,
    /// Where the part began at whose end the relation had changed by less than these errors, and has not changed back since: a change that is larger later on
    /// begins there.
    pub doubted_from: Option<f64>,
    /// Did it change back before the change was larger than the errors? Then the states that were computed have two crossings that make no events.
    pub is_doubtful: bool,
}

/// The last expansion of a march.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Expanded {
    pub(super) known: Option<Expansion>,
    /// Shorter parts are worth an expansion.
    pub longest: f64,
}

impl Expanded {
    pub const NONE: Expanded = Expanded { known: None, longest: f64::INFINITY };
}

impl March<'_> {
    pub fn go(&mut self, from: f64, to: f64) -> Outcome {
        let mut a = from;
        while a < to {
            if self.budget == 0 || !self.can_afford() {
                return Outcome::Paused { at: a };
            }
            let instant = (instant(a.abs().max(self.least_time)) * self.pace.stretch).max(self.least_part);
            let length = self.pace.stride.max(instant);
            let b = if a + length >= to || a + length <= a { to } else { a + length };
            let verdict = self.judge(Interval::new(a, b));
            let is_undecided = matches!(verdict, Verdict::Undecided);
            // By rounding `b - a` may be longer than an instant that cannot be divided.
            if is_undecided && length > instant && b - a > instant {
                self.pace.stride = 0.5 * (b - a);
                continue;
            }
            let is_kept = matches!(verdict, Verdict::Keeps);
            let may_have_changed = !is_kept || self.doubted_from.is_some();
            if may_have_changed && self.watched.has_changed(self.tape.at(self.relation, b)) {
                let before = *self.doubted_from.get_or_insert(a);
                if self.is_beyond_errors(b) {
                    self.doubted_from = None;
                    return Outcome::Changes { before, after: b };
                }
            } else if self.doubted_from.take().is_some() {
                self.is_doubtful = true;
            }
            if is_undecided {
                self.count_instant(instant);
            } else {
                self.pace = Pace::new(2.0 * (b - a));
            }
            a = b;
        }
        // A change that lasts to the end of the stretch is not missed: the search of the step looks there.
        Outcome::Kept
    }

    pub fn can_afford(&self) -> bool {
        self.tape.work <= self.most_work
    }

    /// Is the other value that the relation has at `t` neither rounding nor an error of the integration?
    fn is_beyond_errors(&mut self, t: f64) -> bool {
        !self.is_of_step || {
            let z = self.tape.blurred_at(self.relation, t);
            !z.is_known() || self.watched.towards(z).hi < 0.0
        }
    }

    /// Many undecided instants in a row become longer.
    fn count_instant(&mut self, instant: f64) {
        self.pace.n_instants += 1;
        self.is_sampled |= self.pace.stretch > 1.0 || self.least_part > 0.0;
        if self.pace.n_instants >= MOST_INSTANTS {
            self.pace.n_instants = 0;
            let most = (self.longest_sample / instant * self.pace.stretch).max(1.0);
            self.pace.stretch = (LONGER * self.pace.stretch).min(most);
        }
    }

    fn judge(&mut self, t: Interval) -> Verdict {
        if let Some((verdict, is_final)) = self.by_expansion(t)
            && is_final
        {
            return verdict;
        }
        self.budget = self.budget.saturating_sub(1);
        let crossing = self.tape.over(self.relation, t);
        let verdict = self.by_either(&crossing, t);
        if !matches!(verdict, Verdict::Undecided) || !crossing.slope.is_known() {
            return verdict;
        }
        if t.hi - t.lo <= self.expansions.longest {
            self.budget = self.budget.saturating_sub(EXPANSION_COST);
            self.expansions.known = self.tape.expand(self.relation, t);
            let judged = self.by_expansion(t);
            if let Some((verdict, true)) = judged {
                self.expansions.longest = f64::INFINITY;
                return verdict;
            }
            self.expansions.longest = WORTH_ANOTHER * (t.hi - t.lo);
            if judged.is_some() {
                return Verdict::Undecided;
            }
        }
        let refined = self.tape.refined_over(self.relation, t);
        self.by_either(&refined, t)
    }

    /// What the last expansion says about a part of its stretch, and whether another look at the tape would not say more.
    fn by_expansion(&mut self, t: Interval) -> Option<(Verdict, bool)> {
        let expansion = self.expansions.known.as_ref().filter(|e| e.covers(t))?;
        let (z, slope, remainder) = expansion.over(t);
        let verdict = self.by_either(&Crossing { z, slope, scale: expansion.scale }, t);
        let is_narrow = 2.0 * (remainder.hi - remainder.lo) <= z.hi - z.lo;
        let is_final = !matches!(verdict, Verdict::Undecided) || is_narrow;
        Some((verdict, is_final))
    }

    fn by_either(&mut self, crossing: &Crossing, t: Interval) -> Verdict {
        if self.watched.keeps(crossing.z) {
            return Verdict::Keeps;
        }
        match self.by_slope(crossing) {
            Verdict::Undecided if self.is_touch(crossing, t) => Verdict::EndDecides,
            verdict => verdict,
        }
    }

    /// Is the function over the whole part, and not only somewhere in it, as small as rounding?
    fn is_touch(&mut self, crossing: &Crossing, t: Interval) -> bool {
        let size = self.watched.towards(crossing.z).magnitude();
        size <= TOUCH * crossing.scale && {
            self.budget = self.budget.saturating_sub(1);
            let here = self.tape.over(self.relation, Interval::point(t.middle())).z;
            size <= TOUCH_WIDTHS * (here.hi - here.lo)
        }
    }

    fn by_slope(&self, crossing: &Crossing) -> Verdict {
        if !crossing.z.is_known() {
            return Verdict::Undecided;
        }
        let slope = if self.watched.side() > 0.0 { crossing.slope } else { -crossing.slope };
        if slope.lo >= 0.0 {
            Verdict::Keeps
        } else if slope.hi <= 0.0 {
            Verdict::EndDecides
        } else {
            Verdict::Undecided
        }
    }

    /// The first time at which the value is lost, to a few units in the last place.
    pub fn locate(&mut self, before: f64, after: f64) -> f64 {
        let side = self.watched.side();
        let mut g = |t: f64| {
            let z = self.tape.at(self.relation, t);
            let g = side * z + self.watched.shift;
            // The relation decides, also where z is exactly zero.
            match self.watched.has_changed(z) {
                true => g.min(-f64::MIN_POSITIVE),
                false => g.max(f64::MIN_POSITIVE),
            }
        };
        let (first, last) = (g(before).max(f64::MIN_POSITIVE), g(after).min(-f64::MIN_POSITIVE));
        let found = locate_sign_change(Bracket { before, after }, first, last, &mut |t| Ok::<f64, ()>(g(t)));
        let Bracket { before: mut a, after: mut b } = found.unwrap_or(Bracket { before, after });
        // Down to neighbours, so that the time does not depend on where the search began.
        loop {
            let middle = a + 0.5 * (b - a);
            if middle <= a || middle >= b {
                return b;
            }
            *(if g(middle) < 0.0 { &mut b } else { &mut a }) = middle;
        }
    }
}
