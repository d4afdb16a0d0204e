//! Sliding along thresholds that all sides point at (Filippov 1988).
//!
//! ```text
//! der(x) = 0.5*sin(time) - (if x > 0 then 1 else -1)      above 0 it falls, below it rises: neither value of the
//!                                                         relation lasts. Sliding: x stays 0 with the convex
//!                                                         combination of both right-hand sides that keeps z constant
//! ```
//!
//! In: the memories of the instance in the 2ᵏ regions around the point at which k crossing functions are zero. Out: each evaluation
//! is made in all regions, and all continuous variables are combined with the parts that keep every one of the functions zero
//! ([`saltus_numerics::filippov`]). A share that leaves 0 … 1 says that a threshold is left. Used by [`crate::model::Model`].
//!
//! Where something else changes at the threshold without an event (`sign(x)` beside `x > 0`), each region is evaluated a little
//! away from it, on its own side.

use saltus_base::Index;
use saltus_numerics::filippov::{NoLimit, Regions, at_end, within};
use saltus_program::{Activation, ModelFunctions, Relation, RelationId, SimProgram, SlotId, SlotKind, Status};

use crate::constants::RELATIVE_MOVE;
use crate::surfaces::Surfaces;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Slide {
    /// One relation for each threshold.
    relations: Vec<RelationId>,
    /// Their functions.
    crossings: Vec<SlotId>,
    /// The memory in each region.
    memories: Vec<Vec<f64>>,
    regions: Regions,
    /// Of the positive side of each threshold.
    shares: Vec<f64>,
    /// Of each region.
    parts: Vec<f64>,
    /// The functions at the point evaluated last, by region, then by function.
    z: Vec<f64>,
    /// Continuous variables that are combined.
    combined: Vec<SlotId>,
    /// Crossing functions of relations that differ between the regions, with a value that says "no change".
    suspended: Vec<(SlotId, f64)>,
    nominal: Vec<f64>,
    /// If the regions are evaluated apart from each other.
    apart: Option<Surfaces>,
    x: Vec<f64>,
    /// The states at which a region is evaluated.
    at: Vec<f64>,
    moved: Vec<f64>,
    dx: Vec<f64>,
}

/// What becomes of a slide when the fast motion around it has come to rest.
pub(crate) enum Outcome {
    /// It goes on along these thresholds; other ones are left.
    Slides(Box<Slide>),
    /// All thresholds are left: the memory of the region that is entered.
    Leaves(Vec<f64>),
}

impl Slide {
    /// A slide along the thresholds of `relations`, with a memory for each region: bit i of its number says that function i is
    /// positive there.
    pub fn new(program: &SimProgram, relations: Vec<RelationId>, memories: Vec<Vec<f64>>) -> Option<Self> {
        let (n, k) = (program.states.len(), relations.len());
        let crossing = |id: &RelationId| Some(program.events.relations.get(*id)?.crossing);
        let crossings = relations.iter().map(crossing).collect::<Option<Vec<_>>>()?;
        let is_combined =
            |kind| matches!(kind, SlotKind::Derivative | SlotKind::Algebraic | SlotKind::Auxiliary | SlotKind::Input);
        let combined = program.memory.slots.iter().filter(|(_, s)| is_combined(s.kind)).map(|(id, _)| id).collect();
        let mut slide = Slide {
            relations,
            crossings,
            memories,
            regions: Regions::new(k),
            shares: vec![0.5; k],
            parts: vec![0.0; 1 << k],
            z: vec![0.0; k << k],
            combined,
            suspended: Vec::new(),
            nominal: nominal_values(program),
            apart: None,
            x: vec![0.0; n],
            at: vec![0.0; n],
            moved: vec![0.0; n],
            dx: vec![0.0; n],
        };
        slide.suspend(program);
        Some(slide)
    }

    /// Along one threshold, from memories before and after its relation has changed.
    pub fn between(program: &SimProgram, id: RelationId, before: Vec<f64>, after: Vec<f64>) -> Option<Self> {
        let relation = program.events.relations.get(id)?;
        let is_below = relation.op.is_true_below() == is_set(&before, relation.memory);
        let memories = if is_below { vec![before, after] } else { vec![after, before] };
        Slide::new(program, vec![id], memories)
    }

    /// Relations that differ between regions do not change while it slides.
    fn suspend(&mut self, program: &SimProgram) {
        let Some((first, others)) = self.memories.split_first() else { return };
        let differs = |r: &&Relation| others.iter().any(|m| is_set(m, r.memory) != is_set(first, r.memory));
        // A z of the sign that belongs to the remembered value.
        let unchanged = |r: &Relation| {
            let sign = if r.op.is_true_below() == is_set(first, r.memory) { -1.0 } else { 1.0 };
            (r.crossing, sign)
        };
        self.suspended = program.events.relations.values().filter(differs).map(unchanged).collect();
    }

    pub fn relations(&self) -> &[RelationId] {
        &self.relations
    }

    /// The share of the positive side of a relation whose threshold it slides along.
    pub fn share_of(&self, relation: RelationId) -> Option<f64> {
        self.relations.iter().position(|&r| r == relation).map(|i| self.shares[i])
    }

    /// The shares that are closest to the end of sliding, of the positive and of the negative side.
    pub fn least_shares(&self) -> (f64, f64) {
        let least = |shares: &mut dyn Iterator<Item = f64>| shares.fold(f64::INFINITY, f64::min);
        (least(&mut self.shares.iter().copied()), least(&mut self.shares.iter().map(|w| 1.0 - w)))
    }

    /// Is a threshold left?
    pub fn is_over(&self) -> bool {
        self.shares.iter().map(|&w| at_end(w)).any(|w| w <= 0.0 || w >= 1.0)
    }

    /// Rates of the function of a single threshold on both its sides.
    pub fn rates(&self) -> (f64, f64) {
        (self.regions.rates(0)[0], self.regions.rates(1)[0])
    }

    /// From now on each region is evaluated a little away from its thresholds.
    pub fn move_apart(&mut self, surfaces: Surfaces) {
        self.apart = Some(surfaces);
    }

    /// Is it evaluated away from its thresholds?
    pub fn is_apart(&self) -> bool {
        self.apart.is_some()
    }

    /// By how much each function has drifted off zero, as a part of how far it would have come in the time `h` by itself.
    pub fn drift(&self, h: f64) -> f64 {
        let part = |(i, z): (usize, f64)| if z == 0.0 { 0.0 } else { z.abs() / (self.regions.fastest(i) * h) };
        self.distances().enumerate().map(part).fold(0.0, f64::max)
    }

    /// How far each function is from zero in all regions alike. One that is positive in some and negative in others, because it
    /// jumps itself, is zero in the combination.
    pub fn distances(&self) -> impl Iterator<Item = f64> + '_ {
        let k = self.relations.len();
        (0..k).map(move |i| {
            let values = || self.z.iter().skip(i).step_by(k);
            let nearest = values().copied().min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
            if values().all(|z| z * nearest > 0.0) { nearest } else { 0.0 }
        })
    }

    /// Evaluates all regions at the present time and states, then combines them.
    pub fn eval(&mut self, model: &mut dyn ModelFunctions) -> Status {
        let status = self.eval_regions(model);
        if !status.is_ok() {
            return status;
        }
        if !self.regions.balance(&mut self.shares) {
            // Nothing keeps a function at zero any more: a share at its end says so.
            match self.regions.limit(&self.shares) {
                Ok(shares) => self.shares = shares,
                Err(_) => return Status::Failed,
            }
        }
        // Beyond the end of sliding the step is cut off anyway.
        self.shares.iter_mut().for_each(|share| *share = share.clamp(-1.0, 2.0));
        self.combine(model);
        Status::Ok
    }

    /// Evaluates all regions at the present time and states.
    pub fn eval_regions(&mut self, model: &mut dyn ModelFunctions) -> Status {
        let time = model.get(model.program().memory.time);
        model.get_states(&mut self.x);
        for region in 0..self.memories.len() {
            let status = self.eval_region(model, region, time);
            if !status.is_ok() {
                return status;
            }
        }
        Status::Ok
    }

    fn eval_region(&mut self, model: &mut dyn ModelFunctions, region: usize, time: f64) -> Status {
        // Loops start from the solution on their own side.
        model.restore(&self.memories[region]);
        model.set_continuous(time, &self.x);
        self.at.copy_from_slice(&self.x);
        let mut status = derivatives_and_crossings(model);
        let k = self.relations.len();
        let z = &mut self.z[region * k..(region + 1) * k];
        z.iter_mut().zip(&self.crossings).for_each(|(z, &slot)| *z = model.get(slot));
        if let Some(surfaces) = self.apart.as_ref().filter(|_| status.is_ok()) {
            surfaces.move_into(region, z, &self.nominal, &mut self.at);
            model.set_continuous(time, &self.at);
            status = derivatives_and_crossings(model);
        }
        if !status.is_ok() {
            return status;
        }
        model.get_derivatives(&mut self.dx);
        self.memories[region].copy_from_slice(model.memory());
        self.eval_rates(model, region, time)
    }

    /// Rates of the functions along the motion in a region.
    fn eval_rates(&mut self, model: &mut dyn ModelFunctions, region: usize, time: f64) -> Status {
        let ahead = self.dx.iter().zip(&self.x).zip(&self.nominal);
        let times = ahead.map(|((dx, x), nominal)| (x.abs() + nominal) / dx.abs());
        let h = RELATIVE_MOVE * times.fold(time.abs().max(1.0), f64::min);
        for (i, sign) in [1.0, -1.0].into_iter().enumerate() {
            for ((moved, x), dx) in self.moved.iter_mut().zip(&self.at).zip(&self.dx) {
                *moved = x + sign * h * dx;
            }
            model.set_continuous(time + sign * h, &self.moved);
            let status = derivatives_and_crossings(model);
            if !status.is_ok() {
                return status;
            }
            for (function, &slot) in self.crossings.iter().enumerate() {
                let before = if i == 0 { 0.0 } else { self.regions.rates(region)[function] };
                self.regions.set_rate(region, function, before + sign * model.get(slot) / (2.0 * h));
            }
        }
        Status::Ok
    }

    /// Where the motion goes from the regions evaluated last, if it comes from these shares.
    pub fn outcome(mut self, program: &SimProgram, from: &[f64]) -> Result<Outcome, NoLimit> {
        let shares = self.regions.limit(from)?;
        let region =
            shares.iter().enumerate().fold(0, |region, (i, &w)| if w >= 1.0 { region | 1 << i } else { region });
        let kept: Vec<usize> = (0..shares.len()).filter(|&i| shares[i] > 0.0 && shares[i] < 1.0).collect();
        if kept.is_empty() {
            return Ok(Outcome::Leaves(std::mem::take(&mut self.memories[region])));
        }
        if kept.len() < shares.len() {
            let place = |inner| within(&kept, inner, region);
            self.memories = (0..1usize << kept.len()).map(|m| self.memories[place(m)].clone()).collect();
            self.regions = self.regions.reduced(&kept, region);
            self.relations = kept.iter().map(|&i| self.relations[i]).collect();
            self.crossings = kept.iter().map(|&i| self.crossings[i]).collect();
            let k = shares.len();
            let z =
                |inner: usize| kept.iter().map(move |&i| (place(inner), i)).map(|(region, i)| self.z[region * k + i]);
            self.z = (0..1usize << kept.len()).flat_map(z).collect();
            self.parts.truncate(1 << kept.len());
            self.apart = self.apart.map(|surfaces| surfaces.reduced(&kept));
            self.suspend(program);
        }
        self.shares = kept.iter().map(|&i| shares[i]).collect();
        Ok(Outcome::Slides(Box::new(self)))
    }

    /// Memory: that of the first region with combined continuous variables.
    pub fn combine(&mut self, model: &mut dyn ModelFunctions) {
        self.parts.clear();
        self.parts.extend(self.regions.parts(&self.shares));
        model.restore(&self.memories[0]);
        if self.apart.is_some() {
            model.set_continuous(model.get(model.program().memory.time), &self.x);
        }
        let memory = model.memory_mut();
        for slot in &self.combined {
            let i = slot.index();
            let Some(place) = memory.get_mut(i) else { continue };
            let first = *place;
            if self.memories.iter().any(|m| m[i] != first) {
                *place = self.memories.iter().zip(&self.parts).map(|(m, part)| part * m[i]).sum();
            }
        }
        for &(crossing, value) in &self.suspended {
            if let Some(place) = memory.get_mut(crossing.index()) {
                *place = value;
            }
        }
    }

    /// Evaluates what is left over at a point at which all regions have been evaluated.
    pub fn eval_outputs(&mut self, model: &mut dyn ModelFunctions) -> Status {
        for memory in &mut self.memories {
            model.restore(memory);
            let status = model.eval(Activation::Outputs);
            if !status.is_ok() {
                return status;
            }
            memory.copy_from_slice(model.memory());
        }
        self.combine(model);
        Status::Ok
    }

    /// The memory of the region with the largest part.
    pub fn remaining(&self) -> &[f64] {
        let largest = self.parts.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(region, _)| region);
        &self.memories[largest]
    }

    /// Do both sides of a single threshold point at it? Evaluated before.
    pub fn is_attractive(&self) -> bool {
        let (below, above) = self.rates();
        below > 0.0 && above < 0.0
    }
}

/// Usual magnitudes of the states; 1 where there is none.
pub(crate) fn nominal_values(program: &SimProgram) -> Vec<f64> {
    let magnitude = |x: f64| if x.is_finite() && x != 0.0 { x.abs() } else { 1.0 };
    program.states.iter().map(|s| magnitude(s.nominal)).collect()
}

fn is_set(memory: &[f64], slot: SlotId) -> bool {
    memory.get(slot.index()).copied().unwrap_or(0.0) != 0.0
}

pub(crate) fn derivatives_and_crossings(model: &mut dyn ModelFunctions) -> Status {
    let status = model.eval(Activation::Derivatives);
    if status.is_ok() { model.eval(Activation::Crossings) } else { status }
}
