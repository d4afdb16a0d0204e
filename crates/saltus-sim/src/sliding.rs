//! Sliding along thresholds that all sides point at (Filippov 1988).
//!
//! ```text
//! der(x) = 0.5*sin(time) - (if x > 0 then 1 else -1)      above 0 it falls, below it rises: neither value of the
//!                                                         relation lasts. Sliding: x stays 0 with the convex
//!                                                         combination of both right-hand sides that keeps z constant
//! ```
//!
//! In: the memories of the instance in the 2ᵏ regions around the point at which k crossing functions are zero, for each group of
//! thresholds that influence each other. Out: each evaluation
//! is made in all regions, and all continuous variables are combined with the parts that keep every one of the functions zero
//! ([`saltus_numerics::filippov`]). A share that leaves 0 … 1 says that a threshold is left. Used by [`crate::model::Model`].
//!
//! Where something else changes at the threshold without an event (`sign(x)` beside `x > 0`), each region is evaluated a little
//! away from it, on its own side.

use saltus_base::Index;
use saltus_numerics::DenseLu;
use saltus_numerics::filippov::NoLimit;
use saltus_program::{Activation, ModelFunctions, Relation, RelationId, SimProgram, SlotId, SlotKind, Status};

use crate::constants::{ADDS_UP, MOST_LANDINGS, RELATIVE_MOVE, SIDE_DISTANCE, UNBENT};
use crate::groups::Group;
use crate::surfaces::{Surfaces, distance};

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Slide {
    /// One relation for each threshold.
    relations: Vec<RelationId>,
    /// Their functions.
    crossings: Vec<SlotId>,
    /// Thresholds that influence each other. With one group alone, every variable may depend on them in any way; the contributions of
    /// several groups add up.
    groups: Vec<Group>,
    checks: Vec<Check>,
    n_checked: usize,
    /// Continuous variables that are combined.
    combined: Vec<SlotId>,
    /// Crossing functions of relations that differ between the regions, with a value that says "no change".
    suspended: Vec<(SlotId, f64)>,
    /// These relations.
    differing: Vec<RelationId>,
    nominal: Vec<f64>,
    /// If the regions are evaluated apart from each other.
    apart: Option<Surfaces>,
    /// While it is asked whether the model slides.
    #[serde(skip)]
    landing: Option<Vec<Landing>>,
    /// A function has other gradients in other regions.
    #[serde(skip)]
    is_bent: bool,
    x: Vec<f64>,
    /// The states at which a region is evaluated.
    at: Vec<f64>,
    moved: Vec<f64>,
    dx: Vec<f64>,
    /// Functions and their rates in the region evaluated last.
    z: Vec<f64>,
    rates: Vec<f64>,
}

/// Along which direction the states are moved to where a function is zero.
#[derive(Clone)]
struct Landing {
    function: usize,
    direction: Vec<f64>,
    /// It has the same sign in all regions: otherwise it jumps itself, and is left where it is.
    is_moved: bool,
}

/// A combination of groups that should be the sum of what each contributes.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Check {
    /// The memory in which some groups are in their last regions, and the others in their first.
    pub memory: Vec<f64>,
    /// Which are in their last.
    pub chosen: Vec<bool>,
}

/// What becomes of a slide when the fast motion around it has come to rest.
pub(crate) enum Outcome {
    /// It goes on along these thresholds; other ones are left.
    Slides(Box<Slide>),
    /// All thresholds are left: the memory of the region that is entered.
    Leaves(Vec<f64>),
    /// Some are left, with this memory; the regions around the others have to be found anew.
    Partly(Vec<f64>, Vec<RelationId>),
}

impl Slide {
    /// A slide along the thresholds of `relations`.
    pub fn new(
        program: &SimProgram,
        relations: Vec<RelationId>,
        groups: Vec<Group>,
        checks: Vec<Check>,
    ) -> Option<Self> {
        let (n, k) = (program.states.len(), relations.len());
        let crossing = |id: &RelationId| Some(program.events.relations.get(*id)?.crossing);
        let crossings = relations.iter().map(crossing).collect::<Option<Vec<_>>>()?;
        let is_combined =
            |kind| matches!(kind, SlotKind::Derivative | SlotKind::Algebraic | SlotKind::Auxiliary | SlotKind::Input);
        let combined = program.memory.slots.iter().filter(|(_, s)| is_combined(s.kind)).map(|(id, _)| id).collect();
        let mut slide = Slide {
            relations,
            crossings,
            groups,
            checks,
            n_checked: 0,
            combined,
            suspended: Vec::new(),
            differing: Vec::new(),
            nominal: nominal_values(program),
            apart: None,
            landing: None,
            is_bent: false,
            x: vec![0.0; n],
            at: vec![0.0; n],
            moved: vec![0.0; n],
            dx: vec![0.0; n],
            z: vec![0.0; k],
            rates: vec![0.0; k],
        };
        slide.suspend(program);
        Some(slide)
    }

    /// Along one threshold, from memories before and after its relation has changed.
    pub fn between(program: &SimProgram, id: RelationId, before: Vec<f64>, after: Vec<f64>) -> Option<Self> {
        let relation = program.events.relations.get(id)?;
        let is_below = relation.op.is_true_below() == is_set(&before, relation.memory);
        let memories = if is_below { vec![before, after] } else { vec![after, before] };
        Slide::new(program, vec![id], vec![Group::new(vec![0], memories, None)], Vec::new())
    }

    /// Relations that differ between regions do not change while it slides.
    fn suspend(&mut self, program: &SimProgram) {
        let Some(first) = self.groups.first().and_then(|group| group.memories.first()) else { return };
        let memories = || self.groups.iter().flat_map(|group| &group.memories);
        let differs =
            |(_, r): &(RelationId, &Relation)| memories().any(|m| is_set(m, r.memory) != is_set(first, r.memory));
        let differing: Vec<(RelationId, &Relation)> = program.events.relations.iter().filter(differs).collect();
        // A z of the sign that belongs to the remembered value.
        let unchanged = |(_, r): &(RelationId, &Relation)| {
            let sign = if r.op.is_true_below() == is_set(first, r.memory) { -1.0 } else { 1.0 };
            (r.crossing, sign)
        };
        let suspended = differing.iter().map(unchanged).collect();
        self.differing = differing.iter().map(|(id, _)| *id).collect();
        self.suspended = suspended;
    }

    pub fn relations(&self) -> &[RelationId] {
        &self.relations
    }

    /// Relations that have other values in other regions.
    pub fn differing(&self) -> &[RelationId] {
        &self.differing
    }

    /// The share of the positive side of a relation whose threshold it slides along.
    pub fn share_of(&self, relation: RelationId) -> Option<f64> {
        let position = self.relations.iter().position(|&r| r == relation)?;
        self.groups.iter().find_map(|group| group.share_of(position))
    }

    /// The shares that are closest to the end of sliding, of the positive and of the negative side.
    pub fn least_shares(&self) -> (f64, f64) {
        let least = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.min(b.1));
        self.groups.iter().map(Group::least_shares).fold((f64::INFINITY, f64::INFINITY), least)
    }

    /// Is a threshold left?
    pub fn is_over(&self) -> bool {
        self.groups.iter().any(Group::is_over)
    }

    /// Rates of the function of a single threshold on both its sides.
    pub fn rates(&self) -> (f64, f64) {
        self.groups.first().map_or((0.0, 0.0), |group| (group.regions.rates(0)[0], group.regions.rates(1)[0]))
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
        let part = |(z, fastest): (f64, f64)| if z == 0.0 { 0.0 } else { z.abs() / (fastest * h) };
        self.groups.iter().flat_map(Group::distances).map(|(_, z, fastest)| part((z, fastest))).fold(0.0, f64::max)
    }

    /// How far each function is from zero in all regions alike. One that is positive in some and negative in others, because it
    /// jumps itself, is zero in the combination.
    pub fn distances(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.relations.len()];
        self.groups.iter().flat_map(Group::distances).for_each(|(position, z, _)| all[position] = z);
        all
    }

    /// Evaluates all regions at the present time and states, then combines them.
    pub fn eval(&mut self, model: &mut dyn ModelFunctions) -> Status {
        let status = self.eval_regions(model);
        if !status.is_ok() {
            return status;
        }
        if !self.groups.iter_mut().all(Group::balance) {
            return Status::Failed;
        }
        self.combine(model);
        Status::Ok
    }

    /// Evaluates all regions at the present time and states.
    pub fn eval_regions(&mut self, model: &mut dyn ModelFunctions) -> Status {
        let time = model.get(model.program().memory.time);
        model.get_states(&mut self.x);
        let is_alone = self.groups.len() == 1;
        for g in 0..self.groups.len() {
            let members = self.groups[g].members.clone();
            for region in 0..self.groups[g].memories.len() {
                // All groups have their first region in common.
                if region == 0 && g > 0 {
                    continue;
                }
                let functions: Vec<usize> =
                    if region == 0 && !is_alone { (0..self.relations.len()).collect() } else { members.clone() };
                let is_positive = |i: usize| members.iter().position(|&m| m == i).is_some_and(|j| region >> j & 1 == 1);
                let mut memory = std::mem::take(&mut self.groups[g].memories[region]);
                let status = self.eval_region(model, &mut memory, &is_positive, &functions, time);
                self.groups[g].memories[region] = memory;
                if !status.is_ok() {
                    return status;
                }
                if region == 0 && !is_alone {
                    let (first, others) = self.groups.split_at_mut(1);
                    others.iter_mut().for_each(|group| group.memories[0].copy_from_slice(&first[0].memories[0]));
                    self.groups.iter_mut().for_each(|group| group.note(0, &self.z, &self.rates));
                } else {
                    self.groups[g].note(region, &self.z, &self.rates);
                }
            }
        }
        Status::Ok
    }

    /// Evaluates each region where its own functions are zero: at some distance from there two sides may seem to point at each other though nothing
    /// jumps at zero. Behind its threshold a diode that blocks goes to its leakage current, from everywhere and in no time. False if that cannot be
    /// done, or if a function has other gradients in other regions: then its relation is part of the function, and no motion keeps it at zero
    /// in all of them. All regions have been evaluated at the present point. Test: `BlocksWithoutSliding.mo`.
    pub fn eval_on_thresholds(&mut self, model: &mut dyn ModelFunctions, surfaces: &Surfaces, basis: &[usize]) -> bool {
        let distances = self.distances();
        let landing = |(&function, direction): (&usize, &Vec<f64>)| {
            let is_moved = distances.get(function).is_some_and(|z| *z != 0.0);
            Landing { function, direction: direction.clone(), is_moved }
        };
        self.landing = Some(basis.iter().zip(surfaces.directions()).map(landing).collect());
        self.is_bent = false;
        let status = self.eval_regions(model);
        self.landing = None;
        status.is_ok() && !self.is_bent
    }

    /// Moves the states of a region, whose functions are `z`, to where these are zero; where that leads nowhere they stay.
    fn land(&mut self, model: &mut dyn ModelFunctions, along: &[Landing], time: f64) {
        let k = along.len();
        let (mut matrix, mut lu) = (vec![0.0; k * k], DenseLu::new(k));
        for _ in 0..MOST_LANDINGS {
            for (column, Landing { direction, .. }) in along.iter().enumerate() {
                let step = RELATIVE_MOVE / SIDE_DISTANCE * distance(direction, &self.nominal, &self.at);
                let moved = self.moved.iter_mut().zip(&self.at).zip(direction);
                moved.for_each(|((moved, x), along)| *moved = x + step * along);
                model.set_continuous(time, &self.moved);
                if !derivatives_and_crossings(model).is_ok() {
                    return;
                }
                for (row, Landing { function: i, .. }) in along.iter().enumerate() {
                    matrix[row * k + column] = (model.get(self.crossings[*i]) - self.z[*i]) / step;
                }
                self.is_bent |= !UNBENT.contains(&matrix[column * k + column]);
            }
            let z = |l: &Landing| if l.is_moved { self.z[l.function] } else { 0.0 };
            let mut z: Vec<f64> = along.iter().map(z).collect();
            if z.iter().all(|z| *z == 0.0) || lu.factor(&matrix).is_err() {
                return;
            }
            lu.solve(&mut z);
            self.moved.copy_from_slice(&self.at);
            for (Landing { direction, .. }, part) in along.iter().zip(&z) {
                self.moved.iter_mut().zip(direction).for_each(|(x, along)| *x -= part * along);
            }
            model.set_continuous(time, &self.moved);
            let is_ok = derivatives_and_crossings(model).is_ok();
            let is_closer = |l: &Landing| model.get(self.crossings[l.function]).abs() <= self.z[l.function].abs();
            if !is_ok || !along.iter().filter(|l| l.is_moved).all(is_closer) {
                return;
            }
            self.at.copy_from_slice(&self.moved);
            self.z.iter_mut().zip(&self.crossings).for_each(|(z, &slot)| *z = model.get(slot));
        }
    }

    /// Evaluates a region: afterwards `z` and `rates` of these functions are known, and the memory is that of the point.
    fn eval_region(
        &mut self,
        model: &mut dyn ModelFunctions,
        memory: &mut [f64],
        is_positive: &dyn Fn(usize) -> bool,
        functions: &[usize],
        time: f64,
    ) -> Status {
        // Loops start from the solution on their own side.
        model.restore(memory);
        model.set_continuous(time, &self.x);
        self.at.copy_from_slice(&self.x);
        let mut status = derivatives_and_crossings(model);
        self.z.iter_mut().zip(&self.crossings).for_each(|(z, &slot)| *z = model.get(slot));
        let landing = self.landing.take();
        if let Some(along) = landing.as_ref().filter(|_| status.is_ok()) {
            let own: Vec<_> = along.iter().filter(|l| functions.contains(&l.function)).cloned().collect();
            self.land(model, &own, time);
            model.set_continuous(time, &self.at);
            status = derivatives_and_crossings(model);
        }
        self.landing = landing;
        if status.is_ok() && self.apart.is_some() {
            status = self.move_apart_from(model, is_positive, time);
        }
        if !status.is_ok() {
            return status;
        }
        model.get_derivatives(&mut self.dx);
        memory.copy_from_slice(model.memory());
        status = self.eval_rates(model, functions, time);
        if !status.is_ok() || self.landing.is_none() || self.apart.is_none() {
            return status;
        }
        // As far again: the rates at the threshold follow.
        let near = self.rates.clone();
        self.z.fill(0.0);
        status = self.move_apart_from(model, is_positive, time);
        model.get_derivatives(&mut self.dx);
        if status.is_ok() {
            status = self.eval_rates(model, functions, time);
        }
        functions.iter().for_each(|&i| self.rates[i] = 2.0 * near[i] - self.rates[i]);
        status
    }

    /// Moves the states of a region a little away from its thresholds, where its functions are `z`, and evaluates it there.
    fn move_apart_from(
        &mut self,
        model: &mut dyn ModelFunctions,
        is_positive: &dyn Fn(usize) -> bool,
        time: f64,
    ) -> Status {
        if let Some(surfaces) = &self.apart {
            surfaces.move_into(is_positive, &self.z, &self.nominal, &mut self.at);
        }
        model.set_continuous(time, &self.at);
        derivatives_and_crossings(model)
    }

    /// Rates of the functions along the motion in a region.
    fn eval_rates(&mut self, model: &mut dyn ModelFunctions, functions: &[usize], time: f64) -> Status {
        let ahead = self.dx.iter().zip(&self.x).zip(&self.nominal);
        let times = ahead.map(|((dx, x), nominal)| (x.abs() + nominal) / dx.abs());
        let h = RELATIVE_MOVE * times.fold(time.abs().max(1.0), f64::min);
        functions.iter().for_each(|&i| self.rates[i] = 0.0);
        for sign in [1.0, -1.0] {
            for ((moved, x), dx) in self.moved.iter_mut().zip(&self.at).zip(&self.dx) {
                *moved = x + sign * h * dx;
            }
            model.set_continuous(time + sign * h, &self.moved);
            let status = derivatives_and_crossings(model);
            if !status.is_ok() {
                return status;
            }
            functions.iter().for_each(|&i| self.rates[i] += sign * model.get(self.crossings[i]) / (2.0 * h));
        }
        Status::Ok
    }

    /// Rates of all functions with the given memory, in which those are positive that should be.
    pub fn rates_in(
        &mut self,
        model: &mut dyn ModelFunctions,
        memory: &mut [f64],
        is_positive: &dyn Fn(usize) -> bool,
    ) -> Option<&[f64]> {
        let time = model.get(model.program().memory.time);
        model.get_states(&mut self.x);
        let all: Vec<usize> = (0..self.relations.len()).collect();
        let status = self.eval_region(model, memory, is_positive, &all, time);
        model.set_continuous(time, &self.x);
        status.is_ok().then_some(self.rates.as_slice())
    }

    /// Do the contributions of the groups add up? One of the combinations is compared, another one each time. All regions have been
    /// evaluated at the present point.
    pub fn adds_up(&mut self, model: &mut dyn ModelFunctions) -> bool {
        if self.checks.is_empty() {
            return true;
        }
        self.n_checked = (self.n_checked + 1) % self.checks.len();
        let Check { mut memory, chosen } = self.checks[self.n_checked].clone();
        let members: Vec<usize> =
            self.groups.iter().zip(&chosen).filter(|(_, c)| **c).flat_map(|(g, _)| g.members.clone()).collect();
        let Some(rates) = self.rates_in(model, &mut memory, &|i| members.contains(&i)).map(<[f64]>::to_vec) else {
            return false;
        };
        let region = |group: &Group, is_chosen: bool| if is_chosen { group.memories.len() - 1 } else { 0 };
        let agree = |(group, &is_chosen): (&Group, &bool)| {
            let expected = group.regions.rates(region(group, is_chosen));
            group
                .members
                .iter()
                .enumerate()
                .all(|(j, &i)| (rates[i] - expected[j]).abs() <= ADDS_UP * group.regions.fastest(j))
        };
        if !self.groups.iter().zip(&chosen).all(agree) {
            return false;
        }
        let program = model.program().clone();
        let is_scale = |slot: &SlotId| program.events.relations.values().any(|r| r.scale == *slot);
        let Some(first) = self.groups.first().and_then(|group| group.memories.first()) else { return false };
        let adds_up = |slot: &SlotId| {
            let i = slot.index();
            let parts = self.groups.iter().zip(&chosen).map(|(g, &c)| g.memories[region(g, c)][i] - first[i]);
            let (sum, size) = parts.fold((first[i], first[i].abs()), |(sum, size), d| (sum + d, size + d.abs()));
            (memory[i] - sum).abs() <= ADDS_UP * size || memory[i].is_nan() && sum.is_nan() || is_scale(slot)
        };
        self.combined.iter().all(adds_up)
    }

    /// Where the motion goes from the regions evaluated last, if it comes from the shares that it has.
    pub fn outcome(mut self, program: &SimProgram) -> Result<Outcome, NoLimit> {
        self.groups.iter_mut().try_for_each(Group::go_to_limit)?;
        if !self.groups.iter().any(Group::is_over) {
            return Ok(Outcome::Slides(Box::new(self)));
        }
        let kept: Vec<usize> = self.groups.iter().flat_map(Group::kept).collect();
        if kept.is_empty() || self.groups.len() > 1 {
            let memory = self.overlay(|group| group.region_entered());
            let kept: Vec<RelationId> = kept.iter().map(|&i| self.relations[i]).collect();
            return Ok(if kept.is_empty() { Outcome::Leaves(memory) } else { Outcome::Partly(memory, kept) });
        }
        self.groups.iter_mut().for_each(Group::reduce);
        self.relations = kept.iter().map(|&i| self.relations[i]).collect();
        self.crossings = kept.iter().map(|&i| self.crossings[i]).collect();
        self.z.truncate(kept.len());
        self.rates.truncate(kept.len());
        self.apart = self.apart.map(|surfaces| surfaces.reduced(&kept));
        self.suspend(program);
        Ok(Outcome::Slides(Box::new(self)))
    }

    /// The shares from which it is asked where the motion goes; by threshold.
    pub fn set_shares(&mut self, shares: &[f64]) {
        self.groups.iter_mut().for_each(|group| group.set_shares(shares));
    }

    /// Memory: that of the first region with combined continuous variables.
    pub fn combine(&mut self, model: &mut dyn ModelFunctions) {
        self.groups.iter_mut().for_each(Group::weigh);
        let Some(base) = self.groups.first().and_then(|group| group.memories.first()) else { return };
        model.restore(base);
        if self.apart.is_some() {
            model.set_continuous(model.get(model.program().memory.time), &self.x);
        }
        let memory = model.memory_mut();
        for slot in &self.combined {
            let i = slot.index();
            let Some(place) = memory.get_mut(i) else { continue };
            let first = *place;
            match self.groups.as_slice() {
                [group] => {
                    if group.memories.iter().any(|m| m[i] != first) {
                        *place = group.memories.iter().zip(&group.parts).map(|(m, part)| part * m[i]).sum();
                    }
                }
                groups => *place += groups.iter().map(|group| group.change(i, first)).sum::<f64>(),
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
        for memory in self.groups.iter_mut().flat_map(|group| &mut group.memories) {
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

    /// The memory in which each group has the largest part.
    pub fn remaining(&self) -> Vec<f64> {
        self.overlay(Group::largest)
    }

    /// The memory with each group in a region of its own.
    fn overlay(&self, region: impl Fn(&Group) -> usize) -> Vec<f64> {
        let Some((first, others)) = self.groups.split_first() else { return Vec::new() };
        let mut memory = first.memories[region(first)].clone();
        for group in others {
            let (base, own) = (&group.memories[0], &group.memories[region(group)]);
            let changed = memory.iter_mut().zip(base.iter().zip(own)).filter(|(_, (base, own))| base != own);
            changed.for_each(|(place, (_, own))| *place = *own);
        }
        memory
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
