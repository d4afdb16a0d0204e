//! The past of expressions under `delay`, and profiles that travel with `spatialDistribution`.
//!
//! ```text
//! y = delay(u, 1)       u over time, in smooth pieces between events; at time t the value of t - 1.
//!                       A jump of u at time s is a time event at s + 1, before which y has the left limit.
//! ```
//!
//! In: the inputs at accepted points. Out: the outputs at any later time, written into memory before an evaluation. Between
//! points values are interpolated, by polynomials of third degree within a smooth piece. Before the start the past is
//! constant. (Specification: sections 3.7.4.1 and 3.7.4.2.)

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use saltus_base::Index;
use saltus_program::{Delay, SimProgram, SlotId};

use crate::profile::Profile;

/// Points that are kept before the oldest one that is needed, for interpolation.
const SPARE: usize = 4;
/// Points of one expression at most; then the oldest half is forgotten.
const MOST_POINTS: usize = 1_000_000;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Histories {
    delays: Vec<Past>,
    profiles: Vec<Profile>,
    /// Jumps up to this time have happened.
    passed: f64,
}

/// The past of one expression.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Past {
    delay: Delay,
    points: VecDeque<Point>,
    /// The delay with which the output was computed last.
    used: f64,
}

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
struct Point {
    /// Of a fixed delay when the value arrives, otherwise when it began.
    time: f64,
    value: f64,
    /// First of a smooth piece.
    begins: bool,
    /// Differs from the point before, at the same time.
    jumps: bool,
}

fn get(memory: &[f64], slot: SlotId) -> f64 {
    memory.get(slot.index()).copied().unwrap_or(f64::NAN)
}

fn set(memory: &mut [f64], slot: SlotId, value: f64) {
    if let Some(place) = memory.get_mut(slot.index()) {
        *place = value;
    }
}

impl Histories {
    pub fn new(program: &SimProgram) -> Self {
        let past = |d: &Delay| Past { delay: d.clone(), points: VecDeque::new(), used: f64::NAN };
        Histories {
            delays: program.history.delays.iter().map(past).collect(),
            profiles: program.history.transports.iter().map(Profile::new).collect(),
            passed: f64::NEG_INFINITY,
        }
    }

    /// The same past, as another program of the model numbers it; what that one has besides has no past yet.
    pub fn exchange(&mut self, from: &SimProgram, to: &SimProgram) {
        let delays = std::mem::take(&mut self.delays).into_iter();
        let mut delays: HashMap<Cow<str>, Past> =
            delays.map(|past| (from.memory.slot_name(past.delay.input), past)).collect();
        let profiles = std::mem::take(&mut self.profiles).into_iter();
        let mut profiles: HashMap<Cow<str>, Profile> =
            profiles.map(|p| (from.memory.slot_name(p.transport.is_positive), p)).collect();
        let new = Histories::new(to);
        self.delays = new.delays;
        for past in &mut self.delays {
            if let Some(Past { points, used, .. }) = delays.remove(&to.memory.slot_name(past.delay.input)) {
                (past.points, past.used) = (points, used);
            }
        }
        for profile in new.profiles {
            let known = profiles.remove(&to.memory.slot_name(profile.transport.is_positive));
            let transport = profile.transport.clone();
            self.profiles.push(match known {
                Some(mut known) => {
                    known.transport = transport;
                    known
                }
                None => profile,
            });
        }
    }

    /// What has no past yet begins at `t` with the present inputs.
    pub fn begin_new(&mut self, t: f64, memory: &mut [f64]) {
        for past in self.delays.iter_mut().filter(|past| past.points.is_empty()) {
            past.begin(t, memory);
        }
        for profile in self.profiles.iter_mut().filter(|profile| profile.is_new()) {
            profile.begin(memory);
        }
        self.write(t, memory);
    }

    pub fn is_empty(&self) -> bool {
        self.delays.is_empty() && self.profiles.is_empty()
    }

    /// Do outputs depend on anything but time and what has been?
    pub fn depend_on_variables(&self) -> bool {
        !self.profiles.is_empty() || self.delays.iter().any(|p| !p.delay.is_fixed)
    }

    /// A delay that is not a number, negative or longer than its limit, if there is one; with that limit.
    pub fn bad_delay(&self, memory: &[f64]) -> Option<(&Delay, f64, Option<f64>)> {
        let most = |delay: &Delay| delay.most.map(|slot| get(memory, slot));
        let all = self.delays.iter().map(|p| (&p.delay, get(memory, p.delay.time), most(&p.delay)));
        // Rounding is not a mistake of the model.
        let is_longer = |time: f64, most: Option<f64>| most.is_some_and(|most| time > most + 1e-9 * most.abs());
        all.into_iter().find(|(_, time, most)| time.is_nan() || *time < 0.0 || is_longer(*time, *most))
    }

    /// The past begins at `t` with the present inputs.
    pub fn begin(&mut self, t: f64, memory: &mut [f64]) {
        for past in &mut self.delays {
            past.begin(t, memory);
        }
        for profile in &mut self.profiles {
            profile.begin(memory);
        }
        self.passed = t;
        self.write(t, memory);
    }

    /// Sets the outputs at time `t`.
    pub fn write(&mut self, t: f64, memory: &mut [f64]) {
        for past in &mut self.delays {
            past.used = get(memory, past.delay.time);
            if past.points.is_empty() {
                continue;
            }
            let at = if past.delay.is_fixed { t } else { t - past.used };
            let value = past.value(at, self.passed);
            set(memory, past.delay.output, value);
        }
        for profile in &mut self.profiles {
            profile.write(memory);
        }
    }

    /// How fast the outputs of fixed delays change at time `t`.
    pub fn slopes(&self, t: f64) -> impl Iterator<Item = (SlotId, f64)> {
        let fixed = self.delays.iter().filter(|p| p.delay.is_fixed);
        fixed.map(move |past| (past.delay.output, past.slope(t, self.passed)))
    }

    /// Were the outputs computed with what the memory says now about delays and positions?
    pub fn is_consistent(&self, memory: &[f64]) -> bool {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
        self.delays.iter().all(|p| p.delay.is_fixed || same(p.used, get(memory, p.delay.time)))
            && self.profiles.iter().all(|p| p.is_consistent(memory))
    }

    /// The inputs in memory belong to the solution at `t`; what was needed before `oldest` may be forgotten.
    pub fn remember(&mut self, t: f64, oldest: f64, memory: &[f64]) {
        for past in &mut self.delays {
            past.remember(t, memory);
            past.forget(oldest);
        }
        for profile in &mut self.profiles {
            profile.remember(t, memory, false);
        }
    }

    /// The inputs in memory are those after an event at `t`.
    pub fn remember_event(&mut self, t: f64, memory: &[f64]) {
        for past in &mut self.delays {
            past.remember_event(t, memory);
        }
        for profile in &mut self.profiles {
            profile.remember(t, memory, true);
        }
    }

    /// Jumps that arrive at `t` have happened; true if one has left a profile.
    pub fn pass(&mut self, t: f64, memory: &[f64]) -> bool {
        self.passed = t;
        // Each of them passes, whatever the others say.
        let passed: Vec<bool> = self.profiles.iter_mut().map(|profile| profile.pass(memory)).collect();
        passed.contains(&true)
    }

    /// How far the next jump in a profile is from its outlet; 1 if there is none.
    pub fn distance_to_jump(&self, memory: &[f64]) -> f64 {
        self.profiles.iter().filter_map(|p| p.distance_to_jump(memory)).fold(1.0, f64::min)
    }

    /// When the next jump after `t` arrives.
    pub fn next_event(&self, t: f64) -> f64 {
        let fixed = self.delays.iter().filter(|p| p.delay.is_fixed);
        fixed.map(|past| past.next_event(t)).fold(f64::INFINITY, f64::min)
    }

    /// The longest way that a profile has moved since it was remembered, in parts of its length.
    pub fn farthest_move(&self, memory: &[f64]) -> f64 {
        self.profiles.iter().map(|p| p.moved(memory)).fold(0.0, f64::max)
    }

    /// Steps longer than this would need values that are not known yet.
    pub fn shortest_delay(&self, memory: &[f64]) -> f64 {
        let smooth = self.delays.iter().filter(|p| !p.delay.is_discrete);
        let times = smooth.map(|p| get(memory, p.delay.time)).filter(|&time| time > 0.0);
        times.fold(f64::INFINITY, f64::min)
    }
}

impl Past {
    fn begin(&mut self, t: f64, memory: &[f64]) {
        self.points.clear();
        // Where the constant past ends there is a kink, which is worth an event, too.
        let first = Point { time: self.arrival(t, memory), value: self.input(memory), begins: true, jumps: true };
        if self.delay.is_rate {
            self.points.push_back(Point { value: 0.0, ..first });
        }
        self.points.push_back(first);
    }

    fn input(&self, memory: &[f64]) -> f64 {
        get(memory, self.delay.input)
    }

    /// The time under which a value of time `t` is kept.
    fn arrival(&self, t: f64, memory: &[f64]) -> f64 {
        if self.delay.is_fixed { t + get(memory, self.delay.time) } else { t }
    }

    fn remember(&mut self, t: f64, memory: &[f64]) {
        let (time, value) = (self.arrival(t, memory), self.input(memory));
        match self.points.back_mut() {
            // Between events it does not change.
            Some(_) if self.delay.is_discrete => {}
            Some(last) if last.time >= time => {
                if !last.begins {
                    last.value = value;
                }
            }
            _ => self.points.push_back(Point { time, value, begins: false, jumps: false }),
        }
    }

    fn remember_event(&mut self, t: f64, memory: &[f64]) {
        let (time, value) = (self.arrival(t, memory), self.input(memory));
        let jumps = self.points.back().is_some_and(|last| last.value != value);
        if jumps || !self.delay.is_discrete {
            self.points.push_back(Point { time, value, begins: true, jumps });
        }
    }

    fn forget(&mut self, oldest: f64) {
        if self.delay.is_fixed {
            while self.points.get(SPARE).is_some_and(|p| p.time < oldest) {
                self.points.pop_front();
            }
        }
        if self.points.len() > MOST_POINTS {
            self.points.drain(..MOST_POINTS / 2);
        }
    }

    fn next_event(&self, t: f64) -> f64 {
        let first = self.points.partition_point(|p| p.time <= t);
        self.points.range(first..).find(|p| p.jumps).map_or(f64::INFINITY, |p| p.time)
    }

    fn value(&self, time: f64, passed: f64) -> f64 {
        let Some(i) = self.last_before(time, passed) else {
            return self.points.front().map_or(f64::NAN, |p| p.value);
        };
        if self.delay.is_discrete || self.points[i].time == time {
            return self.points[i].value;
        }
        self.interpolate(i, time)
    }

    /// How fast the value changes at `time`.
    fn slope(&self, time: f64, passed: f64) -> f64 {
        match self.last_before(time, passed) {
            Some(i) if !self.delay.is_discrete => self.interpolated_slope(i, time),
            _ => 0.0,
        }
    }

    fn last_before(&self, time: f64, passed: f64) -> Option<usize> {
        let mut i = self.points.partition_point(|p| p.time <= time).checked_sub(1)?;
        // Before the event at its arrival a jump has not happened.
        while i > 0 && self.points[i].time == time && self.points[i].jumps && time > passed && self.delay.is_fixed {
            i -= 1;
        }
        Some(i)
    }

    /// Between point `i` and the next one, or after the last.
    fn interpolate(&self, i: usize, time: f64) -> f64 {
        let (first, last) = match self.piece(i) {
            Piece::Line { from } => {
                // Steps longer than the delay look ahead: along the last two points.
                let b = self.points[i];
                return b.value + self.line(from, i) * (time - b.time);
            }
            Piece::Polynomial { first, last } => (first, last),
        };
        // Rounding must not move a constant past a threshold.
        let constant = self.points[i].value;
        if (first..last).all(|k| self.points[k].value == constant) {
            return constant;
        }
        let mut sum = 0.0;
        for k in first..last {
            let mut weight = 1.0;
            for j in (first..last).filter(|&j| j != k) {
                weight *= (time - self.points[j].time) / (self.points[k].time - self.points[j].time);
            }
            sum += weight * self.points[k].value;
        }
        sum
    }

    /// The derivative of [`Past::interpolate`].
    fn interpolated_slope(&self, i: usize, time: f64) -> f64 {
        let (first, last) = match self.piece(i) {
            Piece::Line { from } => return self.line(from, i),
            Piece::Polynomial { first, last } => (first, last),
        };
        let at = |k: usize| self.points[k].time;
        let mut sum = 0.0;
        for k in first..last {
            for m in (first..last).filter(|&m| m != k) {
                let others = (first..last).filter(|&j| j != k && j != m);
                let weight: f64 = others.map(|j| (time - at(j)) / (at(k) - at(j))).product();
                sum += weight / (at(k) - at(m)) * self.points[k].value;
            }
        }
        sum
    }

    /// The points by which values after point `i` are found.
    fn piece(&self, i: usize) -> Piece {
        let n = self.points.len();
        let begin =
            (i.saturating_sub(SPARE)..=i).rev().find(|&k| self.points[k].begins).unwrap_or(i.saturating_sub(SPARE));
        let end = (i + 1..n.min(i + SPARE)).find(|&k| self.points[k].begins).unwrap_or(n.min(i + SPARE));
        if i + 1 >= end {
            return Piece::Line { from: i.saturating_sub(1).max(begin) };
        }
        let first = i.saturating_sub(1).max(begin);
        let last = (first + 4).min(end);
        Piece::Polynomial { first: last.saturating_sub(4).max(begin), last }
    }

    /// The slope from one point to another; 0 at the same time.
    fn line(&self, from: usize, to: usize) -> f64 {
        let (a, b) = (self.points[from], self.points[to]);
        if b.time > a.time { (b.value - a.value) / (b.time - a.time) } else { 0.0 }
    }
}

/// How the past is interpolated.
enum Piece {
    /// Along this point and the present one.
    Line { from: usize },
    /// By the polynomial through the points from `first` to before `last`.
    Polynomial { first: usize, last: usize },
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_base::Span;

    fn past(is_discrete: bool) -> Past {
        let slot = SlotId::from_usize;
        let span = Span::nowhere();
        let delay = Delay {
            input: slot(0),
            time: slot(1),
            output: slot(2),
            most: None,
            is_fixed: true,
            is_discrete,
            is_rate: false,
            span,
        };
        Past { delay, points: VecDeque::new(), used: f64::NAN }
    }

    #[test]
    fn the_past_of_a_cubic_is_exact() {
        // u = t³ until now, delayed by 1; constant before the start
        let mut past = past(false);
        let u = |t: f64| t * t * t;
        past.points.push_back(Point { time: 1.0, value: u(0.0), begins: true, jumps: true });
        for k in 1..=10 {
            let t = 0.1 * f64::from(k);
            past.remember(t, &[u(t), 1.0, 0.0]);
        }
        assert_eq!((past.value(0.5, 0.0), past.slope(0.5, 0.0)), (0.0, 0.0));
        for t in [1.05, 1.15, 1.512, 1.97] {
            assert!((past.value(t, 0.0) - u(t - 1.0)).abs() < 1e-12, "{t}");
            assert!((past.slope(t, 0.0) - 3.0 * (t - 1.0) * (t - 1.0)).abs() < 1e-11, "{t}");
        }
        assert_eq!(past.next_event(0.0), 1.0);
    }

    #[test]
    fn a_jump_has_a_left_and_a_right_limit() {
        let mut past = past(true);
        past.points.push_back(Point { time: 1.0, value: 0.0, begins: true, jumps: false });
        past.remember_event(0.3, &[5.0, 1.0, 0.0]);
        let arrival = 0.3 + 1.0;
        assert_eq!(past.next_event(1.0), arrival);
        assert_eq!((past.value(arrival, 1.0), past.value(arrival, arrival)), (0.0, 5.0));
        assert_eq!((past.value(1.2, 1.0), past.value(1.4, arrival)), (0.0, 5.0));
    }
}
