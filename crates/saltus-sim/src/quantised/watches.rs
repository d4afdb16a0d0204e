//! When relations change: roots of their crossing functions along the parabolas of the states.
//!
//! In: a crossing function (left minus right side) with the states that it depends on. Out: when its relation would change. An affine function of
//! parabolas is a parabola, whose root is known at once. Any other one is enclosed in intervals along the parabolas ([`crate::proof`]), as far ahead as that
//! says something.
//!
//! A relation changes where its function is beyond zero by more than rounding, so that what is evaluated there agrees.

use saltus_numerics::Liqss2;
use saltus_numerics::liqss::parabola::Parabola;
use saltus_program::{ModelFunctions, RELATION_BAND, RelationOp, SimProgram, SlotId};

use super::not_enclosed;
use super::slices::{Slice, Slices};
use crate::constants::{FARTHER_BAND, FIRST_LOOK, LEAST_LOOK, LOOK_GROWTH, LOOK_SHRINK, MOST_ULPS_BEHIND_ROOT};
use crate::error::{Failure, SimErrorKind};
use crate::event;
use crate::model::Model;
use crate::proof::{Along, Prover, Watched};
use saltus_program::Activation;

/// A relation that is watched.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Its number.
    place: usize,
    text: String,
    op: RelationOp,
    crossing: SlotId,
    nominal: f64,
    /// The value of the relation.
    pub value: bool,
    /// It takes the value of its function with the next look: nothing else remembers one.
    pub is_literal: bool,
    /// Coefficients, if the function is affine.
    by_state: Vec<f64>,
    constant: f64,
    by_time: f64,
    at: f64,
    /// The largest magnitude of its terms so far.
    scale: f64,
    /// Rounding is so many times what it is usually: widened where a change was not confirmed.
    widened: f64,
    /// How far ahead a function that is not affine is enclosed.
    look: f64,
    /// The function from a time on, which is not a number where it is not affine.
    pub z: Parabola,
    z_at: f64,
    /// What is rounding.
    pub band: f64,
}

/// When something is to be done about a relation.
pub(super) struct Due {
    /// It changes.
    pub change: f64,
    /// It has to be looked at.
    pub look: f64,
}

/// What a watch needs to know.
pub(super) struct Around<'a> {
    pub program: &'a SimProgram,
    pub slices: &'a Slices,
    pub states: &'a Liqss2,
    pub provers: &'a mut Provers,
    pub longest_look: f64,
}

/// Enclosures of crossing functions that are not affine, if there are any.
#[derive(Default)]
pub(super) struct Provers {
    n_relations: usize,
    relations: Option<Box<Prover>>,
    bounds: Option<Box<Prover>>,
}

impl Provers {
    pub fn new(program: &SimProgram, crossings: &[Slice]) -> Self {
        let n_relations = program.events.relations.len();
        let (relations, bounds) = crossings.split_at(n_relations.min(crossings.len()));
        let is_curved = |slices: &[Slice]| slices.iter().any(|slice| !slice.is_affine);
        Provers {
            n_relations,
            relations: is_curved(relations).then(|| Box::new(Prover::new(program, false))),
            bounds: is_curved(bounds).then(|| Box::new(Prover::of_bounds(program, false))),
        }
    }

    /// The one of a watch, and its number there.
    fn of(&mut self, watch: usize) -> Option<(&mut Prover, usize)> {
        match watch.checked_sub(self.n_relations) {
            None => self.relations.as_deref_mut().map(|prover| (prover, watch)),
            Some(bound) => self.bounds.as_deref_mut().map(|prover| (prover, bound)),
        }
    }

    /// Can the function of this watch be enclosed?
    pub fn is_enclosed(&mut self, watch: usize) -> bool {
        self.of(watch).is_some_and(|(prover, relation)| prover.tape.is_enclosed(relation))
    }

    /// What is fixed between events has changed.
    pub fn forget(&mut self) {
        self.relations.iter_mut().chain(&mut self.bounds).for_each(|prover| prover.forget());
    }
}

/// The relations of events, then those of assertions.
pub(super) fn watches(program: &SimProgram, longest_look: f64) -> Vec<Watch> {
    let relations = program.events.relations.values().chain(program.events.bounds.values());
    let watch = |(place, r): (usize, &saltus_program::Relation)| Watch {
        place,
        text: r.text.clone(),
        op: r.op,
        crossing: r.crossing,
        nominal: if r.nominal.is_finite() { r.nominal.abs() } else { 0.0 },
        value: false,
        is_literal: false,
        by_state: Vec::new(),
        constant: 0.0,
        by_time: 0.0,
        at: 0.0,
        scale: 0.0,
        widened: 1.0,
        look: FIRST_LOOK * longest_look,
        z: Parabola::default(),
        z_at: f64::NAN,
        band: 0.0,
    };
    relations.enumerate().map(watch).collect()
}

impl Watch {
    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// +1 if its value holds for positive z.
    pub fn side(&self) -> f64 {
        if self.op.is_true_below() == self.value { -1.0 } else { 1.0 }
    }

    /// It did not change where it was seen to: only farther from zero it is looked at again.
    pub fn widen(&mut self) {
        let distance = self.z.0[0].abs() / (self.band / self.widened).max(f64::MIN_POSITIVE);
        self.widened = (FARTHER_BAND * self.widened).max(FARTHER_BAND * distance);
    }

    /// Is its function zero at `t` but for rounding, and has it another value there?
    pub fn is_met(&self, t: f64) -> bool {
        let z = self.z.value(t - self.z_at);
        // The band moves the threshold away, so that the function is off zero by as much.
        z.abs() <= self.band && self.op.holds(0.0) != self.value
    }

    /// It has changed as foreseen.
    pub fn confirm(&mut self) {
        self.widened = 1.0;
    }

    /// What it depends on has changed at an event: new coefficients.
    pub fn begin(&mut self, k: usize, t: f64, around: &Around, model: &mut Model) -> Result<(), Failure> {
        let slice = &around.slices.crossings[k];
        self.look = FIRST_LOOK * around.longest_look;
        if !slice.is_affine {
            return Ok(());
        }
        let here = self.function(slice, t, around, model)?;
        self.at = t;
        self.constant = here;
        self.by_state.clear();
        for &j in &slice.states {
            let state = &around.program.states[j as usize];
            let x = model.get(state.value);
            let nominal = if state.nominal.is_finite() { state.nominal.abs() } else { 1.0 };
            let there = x + x.abs().max(nominal).max(f64::MIN_POSITIVE);
            model.set(state.value, there);
            let by = (self.value_here(slice, t, model)? - here) / (there - x);
            model.set(state.value, x);
            self.constant -= by * x;
            self.by_state.push(by);
        }
        self.by_time = 0.0;
        if slice.has_time {
            let later = t + t.abs().max(1.0);
            model.set(around.program.memory.time, later);
            self.by_time = (self.value_here(slice, later, model)? - here) / (later - t);
            model.set(around.program.memory.time, t);
        }
        Ok(())
    }

    /// States have other parabolas from `t` on, or it is time for a look.
    pub fn renew(&mut self, k: usize, t: f64, around: &mut Around, model: &mut Model) -> Result<Due, Failure> {
        let slice = &around.slices.crossings[k];
        if !slice.is_affine {
            return self.look_ahead(slice, t, around, model);
        }
        let mut z = Parabola([self.constant + self.by_time * (t - self.at), self.by_time, 0.0]);
        let mut scale = self.constant.abs() + (self.by_time * t).abs();
        for (&j, &by) in slice.states.iter().zip(&self.by_state) {
            let x = around.states.parabola(j as usize, t);
            let nominal = around.program.states[j as usize].nominal;
            let nominal = if nominal.is_finite() { nominal.abs() } else { 0.0 };
            scale += by.abs() * x.0[0].abs().max(nominal);
            z = z.plus(by, x);
        }
        (self.z, self.z_at) = (z, t);
        self.set_band(scale);
        self.take_literal_value(z.0[0]);
        let change = t + self.time_to_change();
        if slice.states.is_empty() && change > t && change < f64::INFINITY {
            return Ok(Due { change: self.instant(slice, t, change, around, model)?, look: f64::INFINITY });
        }
        Ok(Due { change, look: f64::INFINITY })
    }

    /// The instant of a change of a function of time alone, which nothing blurs: the root itself, or one of the next numbers.
    fn instant(&self, slice: &Slice, t: f64, latest: f64, around: &Around, model: &mut Model) -> Result<f64, Failure> {
        let [z, slope, _] = self.z.0;
        let mut at = t - z / slope;
        for _ in 0..MOST_ULPS_BEHIND_ROOT {
            if !(at > t && at < latest) {
                break;
            }
            if self.op.holds(self.function(slice, at, around, model)?) != self.value {
                return Ok(at);
            }
            at = at.next_up();
        }
        Ok(latest)
    }

    /// States carry the rounding of the magnitudes that they have had.
    fn set_band(&mut self, scale: f64) {
        self.scale = self.scale.max(scale);
        self.band = self.widened * RELATION_BAND * self.scale;
    }

    fn take_literal_value(&mut self, z: f64) {
        if std::mem::take(&mut self.is_literal) {
            self.value = self.op.holds(z);
        }
    }

    /// Positive while the relation keeps its value.
    fn margin(&self, z: f64) -> f64 {
        self.side() * z + self.band
    }

    /// The time until the parabola says that the relation changes.
    fn time_to_change(&self) -> f64 {
        let [z, slope, half] = self.z.0;
        let margin = self.margin(z);
        if margin < 0.0 {
            return 0.0;
        }
        let side = self.side();
        Parabola([margin, side * slope, side * half]).first_root()
    }

    /// Encloses the function as far ahead as that is worth its effort.
    fn look_ahead(&mut self, slice: &Slice, t: f64, around: &mut Around, model: &mut Model) -> Result<Due, Failure> {
        let here = self.function(slice, t, around, model)?;
        self.take_literal_value(here);
        self.set_band(here.abs().max(self.nominal));
        let Some((prover, relation)) = around.provers.of(self.place) else {
            return Ok(Due { change: f64::INFINITY, look: f64::INFINITY });
        };
        for &j in &slice.states {
            prover.tape.bend(j, t, around.states.parabola(j as usize, t));
        }
        let watched = Watched { op: self.op, memory: self.value, shift: self.band };
        let known = prover.prove_along(relation, watched, model.memory(), (t, t + self.look));
        self.z = Parabola([here, prover.slope_along(relation, t), 0.0]);
        if self.margin(here) < 0.0 {
            return Ok(Due { change: t, look: t + self.look });
        }
        match known {
            Along::Changes { at } => Ok(Due { change: at, look: f64::INFINITY }),
            Along::Keeps { until } if until > t => {
                let is_all = until >= t + self.look;
                self.look = if is_all { LOOK_GROWTH * self.look } else { until - t };
                self.look = self.look.min(around.longest_look);
                Ok(Due { change: f64::INFINITY, look: until })
            }
            Along::Keeps { .. } if self.look > LEAST_LOOK * around.longest_look => {
                self.look *= LOOK_SHRINK;
                self.look_ahead(slice, t, around, model)
            }
            Along::Keeps { .. } => Err(Failure::new(t, SimErrorKind::NotQuantised { why: not_enclosed(&self.text) })),
        }
    }

    /// The function along the parabolas of the states.
    fn function(&self, slice: &Slice, t: f64, around: &Around, model: &mut Model) -> Result<f64, Failure> {
        model.set(around.program.memory.time, t);
        for &j in &slice.states {
            model.set(around.program.states[j as usize].value, around.states.value(j as usize, t));
        }
        self.value_here(slice, t, model)
    }

    fn value_here(&self, slice: &Slice, t: f64, model: &mut Model) -> Result<f64, Failure> {
        let status = slice.eval(model);
        event::check(model, t, status, Activation::Crossings)?;
        Ok(model.get(self.crossing))
    }
}
