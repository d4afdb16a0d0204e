//! Profiles that travel with `spatialDistribution`.
//!
//! ```text
//! (out0, out1) = spatialDistribution(in0, in1, x, v >= 0)      what has entered at one end leaves at the other, or, if the flow reverses, at
//!                                                              the same end in reverse order
//! ```
//!
//! In: the inputs at accepted points. Out: what arrives at the ends. A particle is known by its label, the place where it would be if the
//! medium were at 0: labels do not change, so nothing is moved, and nothing smeared. Between two particles of one piece, which have entered
//! one after the other without an event, labels and values are polynomials of time of third degree, and the particle at an end is that whose
//! label is the wanted one. Where the flow turns back the label stands still, and a value is not a smooth function of it but of time.
//!
//! Where labels are equal and values are not, there is a jump. It arrives with an event: until then the outlet has the value before it.
//! (Specification: section 3.7.4.2.)

use std::collections::VecDeque;

use saltus_base::Index;
use saltus_program::{SlotId, Transport};

/// Particles beyond an end that are kept for interpolation while they leave.
const SPARE: usize = 4;
/// Particles at most; then every other one is forgotten.
const MOST_PARTICLES: usize = 20_000;
/// A jump this close to the end has arrived, of the length 1.
const ARRIVED: f64 = 1e-12;
/// Divisions of an interval in which a label is searched: enough for all digits.
const MOST_DIVISIONS: usize = 100;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Profile {
    pub transport: Transport,
    /// By label.
    particles: VecDeque<Particle>,
    /// Where the medium was when the particles were made, and where it was when the outputs were computed last.
    position: f64,
    used: f64,
    is_positive: bool,
    piece: u64,
    /// The next jump on its way to the outlet, and the last one that has left; their labels.
    next_jump: Option<f64>,
    last_jump: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
struct Particle {
    /// Its place less the position of the medium.
    label: f64,
    value: f64,
    /// When it entered.
    time: f64,
    /// 0 if it was there at the start.
    piece: u64,
}

fn get(memory: &[f64], slot: SlotId) -> f64 {
    memory.get(slot.index()).copied().unwrap_or(f64::NAN)
}

fn set(memory: &mut [f64], slot: SlotId, value: f64) {
    if let Some(place) = memory.get_mut(slot.index()) {
        *place = value;
    }
}

/// On which side of a jump.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Side {
    Below,
    Above,
}

impl Profile {
    /// It has not begun.
    pub fn is_new(&self) -> bool {
        self.particles.is_empty()
    }

    pub fn new(transport: &Transport) -> Self {
        Profile {
            transport: transport.clone(),
            particles: VecDeque::new(),
            position: f64::NAN,
            used: f64::NAN,
            is_positive: true,
            piece: 0,
            next_jump: None,
            last_jump: None,
        }
    }

    pub fn begin(&mut self, memory: &[f64]) {
        self.position = get(memory, self.transport.position);
        self.is_positive = get(memory, self.transport.is_positive) != 0.0;
        let points = self.transport.profile.iter();
        let mut particles: Vec<Particle> = points
            .map(|&(y, v)| Particle {
                label: get(memory, y).clamp(0.0, 1.0) - self.position,
                value: get(memory, v),
                time: f64::NAN,
                piece: 0,
            })
            .collect();
        particles.sort_by(|a, b| a.label.total_cmp(&b.label));
        (self.particles, self.piece, self.last_jump) = (particles.into(), 1, None);
        self.find_jump();
    }

    /// Was the output computed with this position?
    pub fn is_consistent(&self, memory: &[f64]) -> bool {
        self.used.to_bits() == get(memory, self.transport.position).to_bits()
    }

    /// How far it has moved since it was remembered, in parts of its length.
    pub fn moved(&self, memory: &[f64]) -> f64 {
        (get(memory, self.transport.position) - self.position).abs()
    }

    pub fn write(&mut self, memory: &mut [f64]) {
        self.used = get(memory, self.transport.position);
        let position = if self.used.is_finite() { self.used } else { self.position };
        let [out0, out1] = self.transport.outputs;
        let (leaves0, leaves1) = (self.at_end(0.0 - position, false), self.at_end(1.0 - position, true));
        set(memory, out0, leaves0);
        set(memory, out1, leaves1);
    }

    /// How far the next jump is from the outlet; negative where it should have left.
    pub fn distance_to_jump(&self, memory: &[f64]) -> Option<f64> {
        let position = get(memory, self.transport.position);
        let jump = self.next_jump?;
        Some(if self.is_positive { 1.0 - position - jump } else { jump + position })
    }

    /// The jump that has arrived leaves; true if there is one.
    pub fn pass(&mut self, memory: &[f64]) -> bool {
        let mut any = false;
        while self.distance_to_jump(memory).is_some_and(|distance| distance <= ARRIVED) {
            any = true;
            self.last_jump = self.next_jump.take();
            self.find_jump();
        }
        any
    }

    /// The next jump that comes to the outlet.
    fn find_jump(&mut self) {
        let end = if self.is_positive { 1.0 - self.position } else { -self.position };
        let pairs = || self.particles.iter().zip(self.particles.iter().skip(1));
        let jumps = || pairs().filter(|(a, b)| a.label == b.label && a.value != b.value).map(|(a, _)| a.label);
        let is_gone = |label: f64| self.last_jump == Some(label);
        self.next_jump = if self.is_positive {
            // Jumps beyond the end have left.
            jumps().filter(|&label| label <= end.max(self.next_jump.unwrap_or(end)) && !is_gone(label)).reduce(f64::max)
        } else {
            jumps().filter(|&label| label >= end.min(self.next_jump.unwrap_or(end)) && !is_gone(label)).reduce(f64::min)
        };
    }

    /// The value at an end, which has this label.
    fn at_end(&self, label: f64, is_upper: bool) -> f64 {
        if is_upper != self.is_positive {
            // Here it flows in: similar to the input, but without a loop through it.
            let last = if is_upper { self.particles.back() } else { self.particles.front() };
            return last.map_or(f64::NAN, |p| p.value);
        }
        let (before, after) = if is_upper { (Side::Above, Side::Below) } else { (Side::Below, Side::Above) };
        let is_beyond = |jump: f64| if is_upper { label <= jump } else { label >= jump };
        match (self.next_jump, self.last_jump) {
            (Some(jump), _) if is_beyond(jump) => self.limit(jump, before),
            (_, Some(jump)) if !is_beyond(jump) || label == jump => self.limit(jump, after),
            _ => self.value(label),
        }
    }

    /// The value on one side of a jump.
    fn limit(&self, label: f64, side: Side) -> f64 {
        let place = match side {
            Side::Below => self.particles.partition_point(|p| p.label < label),
            Side::Above => self.particles.partition_point(|p| p.label <= label).saturating_sub(1),
        };
        self.particles.get(place).map_or_else(|| self.value(label), |p| p.value)
    }

    fn value(&self, label: f64) -> f64 {
        self.particle(label).map_or(f64::NAN, |p| p.value)
    }

    /// The particle with this label, as far as it is known: beyond the last one that one.
    fn particle(&self, label: f64) -> Option<Particle> {
        let after = self.particles.partition_point(|p| p.label < label);
        let Some(i) = after.checked_sub(1) else { return self.particles.front().copied() };
        let (Some(&a), Some(&b)) = (self.particles.get(i), self.particles.get(after)) else {
            return self.particles.back().copied();
        };
        if b.label == label {
            return Some(b);
        }
        let part = (label - a.label) / (b.label - a.label);
        if a.piece != b.piece || a.piece == 0 || a.time == b.time {
            let value = a.value + (b.value - a.value) * part;
            return Some(Particle {
                label,
                value,
                time: f64::NAN,
                piece: if a.piece == b.piece { a.piece } else { 0 },
            });
        }
        let same = |k: usize| self.particles.get(k).filter(|p| p.piece == a.piece && p.time.is_finite());
        let first = if i > 0 && same(i - 1).is_some() { i - 1 } else { i };
        let points: Vec<Particle> = (first..i + 3).map_while(|k| same(k).copied()).collect();
        let time = time_of(&points, label, (a.time, b.time));
        // Rounding must not move a constant past a threshold.
        let is_constant = points.iter().all(|p| p.value == a.value);
        let value = if is_constant { a.value } else { interpolate(&points, time, |p| p.value) };
        Some(Particle { label, value, time, piece: a.piece })
    }

    /// The medium has moved to where the memory says at time `t`; what entered meanwhile is the inputs. After an event a new piece begins.
    pub fn remember(&mut self, t: f64, memory: &[f64], is_event: bool) {
        let position = get(memory, self.transport.position);
        if !position.is_finite() {
            return;
        }
        self.position = position;
        let is_positive = get(memory, self.transport.is_positive) != 0.0;
        let turns = is_positive != self.is_positive;
        if is_event || turns {
            self.piece += 1;
        }
        if turns {
            self.turn(is_positive);
        }
        let [in0, in1] = self.transport.inputs.map(|slot| get(memory, slot));
        let (label, value) = if is_positive { (0.0 - position, in0) } else { (1.0 - position, in1) };
        self.enter(Particle { label, value, time: t, piece: self.piece });
        self.forget();
        self.find_jump();
    }

    /// The flow turns back: what has left is gone, and the end where it has left is the inlet now.
    fn turn(&mut self, is_positive: bool) {
        self.is_positive = is_positive;
        (self.next_jump, self.last_jump) = (None, None);
        let end = if is_positive { 0.0 - self.position } else { 1.0 - self.position };
        let Some(cut) = self.particle(end) else { return };
        let cut = Particle { label: end, ..cut };
        if is_positive {
            while self.particles.front().is_some_and(|p| p.label <= end) {
                self.particles.pop_front();
            }
            self.particles.push_front(cut);
        } else {
            while self.particles.back().is_some_and(|p| p.label >= end) {
                self.particles.pop_back();
            }
            self.particles.push_back(cut);
        }
    }

    /// A particle enters at the inlet.
    fn enter(&mut self, new: Particle) {
        let is_positive = self.is_positive;
        let is_outside = |p: &Particle| if is_positive { p.label < new.label } else { p.label > new.label };
        // Only if the position moves against the sign of the velocity.
        while self.inlet(0).is_some_and(is_outside) {
            self.pop_inlet();
        }
        let (last, before) = (self.inlet(0).copied(), self.inlet(1).copied());
        if last.is_some_and(|p| p.label == new.label) {
            if last.is_some_and(|p| p.value == new.value && p.piece == new.piece) {
                return;
            }
            // Where nothing moves the last value counts, and what was there before is the other side of a jump.
            if before.is_some_and(|p| p.label == new.label) {
                self.pop_inlet();
            } else if last.is_some_and(|p| p.piece == new.piece) {
                self.piece += 1;
            }
        }
        let new = Particle { piece: self.piece, ..new };
        if is_positive { self.particles.push_front(new) } else { self.particles.push_back(new) }
    }

    /// The k-th particle from the inlet.
    fn inlet(&self, k: usize) -> Option<&Particle> {
        if self.is_positive { self.particles.get(k) } else { self.particles.iter().rev().nth(k) }
    }

    fn pop_inlet(&mut self) {
        if self.is_positive {
            self.particles.pop_front();
        } else {
            self.particles.pop_back();
        }
    }

    fn forget(&mut self) {
        let end = if self.is_positive { 1.0 - self.position } else { 0.0 - self.position };
        // A jump that has not left is beyond the end by rounding only.
        if self.is_positive {
            let end = self.next_jump.map_or(end, |jump| jump.max(end));
            while self.particles.len() > SPARE
                && self.particles.get(self.particles.len() - SPARE).is_some_and(|p| p.label > end)
            {
                self.particles.pop_back();
            }
        } else {
            let end = self.next_jump.map_or(end, |jump| jump.min(end));
            while self.particles.len() > SPARE && self.particles.get(SPARE - 1).is_some_and(|p| p.label < end) {
                self.particles.pop_front();
            }
        }
        if self.particles.len() > MOST_PARTICLES {
            let label = |i: usize| self.particles.get(i).map(|p| p.label);
            let is_double = |i: usize| label(i) == label(i + 1) || i > 0 && label(i) == label(i - 1);
            let is_kept = |i: &usize| i.is_multiple_of(2) || *i + 1 == self.particles.len() || is_double(*i);
            self.particles = (0..self.particles.len()).filter(is_kept).map(|i| self.particles[i]).collect();
        }
    }
}

/// When the particle with this label entered, between two times at which it is known.
fn time_of(points: &[Particle], label: f64, (mut a, mut b): (f64, f64)) -> f64 {
    let off = |time: f64| interpolate(points, time, |p| p.label) - label;
    let (mut at_a, mut at_b) = (off(a), off(b));
    if at_a == 0.0 || at_a * at_b > 0.0 {
        return a;
    }
    // Regula falsi that halves the weight of an end that stays.
    for _ in 0..MOST_DIVISIONS {
        let middle = (a * at_b - b * at_a) / (at_b - at_a);
        let middle = if middle > a.min(b) && middle < a.max(b) { middle } else { 0.5 * (a + b) };
        let at_middle = off(middle);
        if at_middle == 0.0 || middle == a || middle == b {
            return middle;
        }
        if at_middle * at_b < 0.0 {
            (a, at_a) = (b, at_b);
        } else {
            at_a *= 0.5;
        }
        (b, at_b) = (middle, at_middle);
        if (b - a).abs() <= 2.0 * f64::EPSILON * b.abs() {
            return b;
        }
    }
    b
}

/// The polynomial of time through all points.
fn interpolate(points: &[Particle], time: f64, of: impl Fn(&Particle) -> f64) -> f64 {
    let mut sum = 0.0;
    for (k, point) in points.iter().enumerate() {
        let others = points.iter().enumerate().filter(|(j, _)| *j != k);
        let weight: f64 = others.map(|(_, other)| (time - other.time) / (point.time - other.time)).product();
        sum += weight * of(point);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_base::Span;

    #[test]
    fn a_profile_leaves_as_it_entered() {
        let slot = SlotId::from_usize;
        // memory: in0, in1, x, positive, out0, out1, then points and values
        let transport = Transport {
            inputs: [slot(0), slot(1)],
            position: slot(2),
            is_positive: slot(3),
            outputs: [slot(4), slot(5)],
            profile: vec![(slot(6), slot(8)), (slot(7), slot(9))],
            span: Span::nowhere(),
        };
        let mut profile = Profile::new(&transport);
        let mut memory = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        profile.begin(&memory);
        // in0 = x while x goes to 1 in steps: after that out1 = x - 1
        for k in 1..=20 {
            memory[2] = 0.1 * f64::from(k);
            memory[0] = memory[2];
            profile.write(&mut memory);
            let expected = (memory[2] - 1.0).max(0.0);
            assert!((memory[5] - expected).abs() < 1e-12, "{} instead of {expected}", memory[5]);
            profile.remember(memory[2], &memory, false);
        }
        // backwards the same comes out at 0
        memory[3] = 0.0;
        profile.remember(2.0, &memory, true);
        memory[2] = 1.5;
        profile.write(&mut memory);
        assert!((memory[4] - 1.5).abs() < 1e-12, "{}", memory[4]);
    }
}
