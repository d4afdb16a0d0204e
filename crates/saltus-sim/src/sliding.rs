//! Sliding along a threshold that both sides point at (Filippov 1988).
//!
//! ```text
//! der(x) = 0.5*sin(time) - (if x > 0 then 1 else -1)      above 0 it falls, below it rises: neither value of the
//!                                                         relation lasts. Sliding: x stays 0 with the convex
//!                                                         combination of both right-hand sides that keeps z constant
//! ```
//!
//! In: the memories of the instance on both sides of the threshold. Out: each evaluation is made on both sides, and all
//! continuous variables are combined with the weights that make ż vanish. A weight that leaves 0 … 1 says that one side
//! does not point at the threshold any more. Used by [`crate::model::Model`].
//!
//! Where something else changes at the threshold without an event (`sign(x)` beside `x > 0`), each side is evaluated a little
//! away from it, on its own side.

use saltus_base::Index;
use saltus_program::{Activation, ModelFunctions, RelationId, SimProgram, SlotId, SlotKind, Status};

use crate::constants::{MOST_STATES_APART, RELATIVE_MOVE, SIDE_DISTANCE};

/// Both sides of a threshold.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Slide {
    /// Of the relation whose threshold it is.
    crossing: SlotId,
    /// The magnitude of its operands.
    scale: SlotId,
    first: Side,
    second: Side,
    /// Of the first side; that of the second is the rest.
    weight: f64,
    /// Continuous variables that are combined.
    combined: Vec<SlotId>,
    /// Crossing functions of relations that differ between the sides, with a value that says "no change".
    suspended: Vec<(SlotId, f64)>,
    nominal: Vec<f64>,
    /// The movement of states that changes the crossing function by one, if the sides are evaluated apart from each other.
    apart: Option<Vec<f64>>,
    x: Vec<f64>,
    /// The states at which a side is evaluated.
    at: Vec<f64>,
    moved: Vec<f64>,
    dx: Vec<f64>,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Side {
    memory: Vec<f64>,
    /// ż of the threshold.
    rate: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    First,
    Second,
}

impl Slide {
    /// `first` and `second` are memories that differ in the value of `relation` (and what follows from it). `None` if
    /// the relation or the model is not of this kind.
    pub fn new(program: &SimProgram, relation: RelationId, first: Vec<f64>, second: Vec<f64>) -> Option<Self> {
        let &saltus_program::Relation { crossing, scale, .. } = program.events.relations.get(relation)?;
        let n = program.states.len();
        let is_combined =
            |kind| matches!(kind, SlotKind::Derivative | SlotKind::Algebraic | SlotKind::Auxiliary | SlotKind::Input);
        let combined = program.memory.slots.iter().filter(|(_, s)| is_combined(s.kind)).map(|(id, _)| id).collect();
        let value = |memory: &[f64], slot: SlotId| memory.get(slot.index()).copied().unwrap_or(0.0) != 0.0;
        let differs = |slot| value(&first, slot) != value(&second, slot);
        // A z of the sign that belongs to the remembered value.
        let unchanged = |r: &saltus_program::Relation| {
            let sign = if r.op.is_true_below() == value(&first, r.memory) { -1.0 } else { 1.0 };
            (r.crossing, sign)
        };
        let suspended = program.events.relations.values().filter(|r| differs(r.memory)).map(unchanged).collect();
        let magnitude = |x: f64| if x.is_finite() && x != 0.0 { x.abs() } else { 1.0 };
        Some(Slide {
            crossing,
            scale,
            first: Side { memory: first, rate: f64::NAN },
            second: Side { memory: second, rate: f64::NAN },
            weight: 0.5,
            combined,
            suspended,
            nominal: program.states.iter().map(|s| magnitude(s.nominal)).collect(),
            apart: None,
            x: vec![0.0; n],
            at: vec![0.0; n],
            moved: vec![0.0; n],
            dx: vec![0.0; n],
        })
    }

    /// Evaluates both sides at the present time and states, then combines them.
    pub fn eval(&mut self, model: &mut dyn ModelFunctions) -> Status {
        let time = model.get(model.program().memory.time);
        model.get_states(&mut self.x);
        for side in [Which::First, Which::Second] {
            let status = self.eval_side(model, side, time);
            if !status.is_ok() {
                return status;
            }
        }
        let (a, b) = (self.first.rate, self.second.rate);
        let weight = b / (b - a);
        // Beyond the end of sliding the step is cut off anyway.
        self.weight = if weight.is_finite() { weight.clamp(-1.0, 2.0) } else { 0.5 };
        self.combine(model);
        Status::Ok
    }

    fn eval_side(&mut self, model: &mut dyn ModelFunctions, which: Which, time: f64) -> Status {
        let is_below = self.first_is_below() == (which == Which::First);
        let side = if which == Which::First { &mut self.first } else { &mut self.second };
        // Loops start from the solution on their own side.
        model.restore(&side.memory);
        model.set_continuous(time, &self.x);
        self.at.copy_from_slice(&self.x);
        let mut status = derivatives_and_crossings(model);
        if let Some(apart) = self.apart.as_ref().filter(|_| status.is_ok()) {
            let target = if is_below { -SIDE_DISTANCE } else { SIDE_DISTANCE };
            let by = target * model.get(self.scale).max(1.0) - model.get(self.crossing);
            self.at.iter_mut().zip(apart).for_each(|(x, along)| *x += by * along);
            model.set_continuous(time, &self.at);
            status = derivatives_and_crossings(model);
        }
        if !status.is_ok() {
            return status;
        }
        model.get_derivatives(&mut self.dx);
        side.memory.copy_from_slice(model.memory());
        let ahead = self.dx.iter().zip(&self.x).zip(&self.nominal);
        let times = ahead.map(|((dx, x), nominal)| (x.abs() + nominal) / dx.abs());
        let h = RELATIVE_MOVE * times.fold(time.abs().max(1.0), f64::min);
        let mut at = |h: f64| {
            for ((moved, x), dx) in self.moved.iter_mut().zip(&self.at).zip(&self.dx) {
                *moved = x + h * dx;
            }
            model.set_continuous(time + h, &self.moved);
            derivatives_and_crossings(model).is_ok().then(|| model.get(self.crossing))
        };
        match (at(h), at(-h)) {
            (Some(after), Some(before)) => side.rate = (after - before) / (2.0 * h),
            _ => return Status::Failed,
        }
        Status::Ok
    }

    /// From now on each side is evaluated a little away from the threshold; false if no movement of states leads there.
    pub fn move_apart(&mut self, model: &mut dyn ModelFunctions) -> bool {
        let n = self.x.len();
        if n > MOST_STATES_APART {
            return false;
        }
        let time = model.get(model.program().memory.time);
        model.get_states(&mut self.x);
        let mut at = |x: &[f64]| {
            model.set_continuous(time, x);
            derivatives_and_crossings(model).is_ok().then(|| model.get(self.crossing))
        };
        let mut gradient = vec![0.0; n];
        for (i, slope) in gradient.iter_mut().enumerate() {
            let h = RELATIVE_MOVE * (self.x[i].abs() + self.nominal[i]);
            let mut beside = |h: f64| {
                self.moved.copy_from_slice(&self.x);
                self.moved[i] += h;
                at(&self.moved)
            };
            let Some((after, before)) = beside(h).zip(beside(-h)) else { return false };
            // Measured by the usual magnitude of the state.
            *slope = (after - before) / (2.0 * h) * self.nominal[i];
        }
        let square: f64 = gradient.iter().map(|g| g * g).sum();
        let apart: Vec<f64> = gradient.iter().zip(&self.nominal).map(|(g, nominal)| g * nominal / square).collect();
        let is_usable = apart.iter().all(|x| x.is_finite());
        self.apart = is_usable.then_some(apart);
        is_usable
    }

    /// Memory: the first side with combined continuous variables.
    fn combine(&self, model: &mut dyn ModelFunctions) {
        model.restore(&self.first.memory);
        if self.apart.is_some() {
            model.set_continuous(model.get(model.program().memory.time), &self.x);
        }
        let memory = model.memory_mut();
        for slot in &self.combined {
            let (a, b) = (self.first.memory.get(slot.index()), self.second.memory.get(slot.index()));
            if let (Some(place), Some(a), Some(b)) = (memory.get_mut(slot.index()), a, b) {
                *place = if a == b { *a } else { self.weight * a + (1.0 - self.weight) * b };
            }
        }
        for &(crossing, value) in &self.suspended {
            if let Some(place) = memory.get_mut(crossing.index()) {
                *place = value;
            }
        }
    }

    /// Evaluates what is left over at a point at which both sides have been evaluated.
    pub fn eval_outputs(&mut self, model: &mut dyn ModelFunctions) -> Status {
        for side in [&mut self.first, &mut self.second] {
            model.restore(&side.memory);
            let status = model.eval(Activation::Outputs);
            if !status.is_ok() {
                return status;
            }
            side.memory.copy_from_slice(model.memory());
        }
        self.combine(model);
        Status::Ok
    }

    /// ż on both sides.
    pub fn rates(&self) -> (f64, f64) {
        (self.first.rate, self.second.rate)
    }

    /// Of both sides.
    pub fn weights(&self) -> (f64, f64) {
        (self.weight, 1.0 - self.weight)
    }

    /// The memory of the side with the larger weight.
    pub fn remaining(&self) -> &[f64] {
        if self.weight >= 0.5 { &self.first.memory } else { &self.second.memory }
    }

    /// Do both sides point at the threshold? Evaluated before.
    pub fn is_attractive(&self) -> bool {
        let below = |side: &Side| self.first_is_below() == std::ptr::eq(side, &self.first);
        [&self.first, &self.second].into_iter().all(|s| if below(s) { s.rate > 0.0 } else { s.rate < 0.0 })
    }

    /// Does the first side belong to negative z?
    fn first_is_below(&self) -> bool {
        self.suspended.iter().find(|s| s.0 == self.crossing).is_some_and(|s| s.1 < 0.0)
    }
}

fn derivatives_and_crossings(model: &mut dyn ModelFunctions) -> Status {
    let status = model.eval(Activation::Derivatives);
    if status.is_ok() { model.eval(Activation::Crossings) } else { status }
}
