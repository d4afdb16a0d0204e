//! When relations change: roots of their crossing functions along the parabolas of the states.
//!
//! In: a crossing function (left minus right side) with the states that it depends on. Out: when its relation would change. An affine function of
//! parabolas is a parabola, whose root is known at once. Of any other one values at three points ahead make a parabola, whose roots are then located on
//! the function itself; how far that is trusted depends on how well the last one foretold it.
//!
//! A relation changes where its function is beyond zero by more than rounding, so that what is evaluated there agrees.

use saltus_numerics::liqss::parabola::Parabola;
use saltus_numerics::{Bracket, Liqss2, locate_sign_change};
use saltus_program::{ModelFunctions, RELATION_BAND, RelationOp, SimProgram, SlotId};

use super::slices::{Slice, Slices};
use crate::constants::{FARTHER_BAND, FIRST_LOOK, LOOK_CHANGE, LOOK_SAFETY, MOST_ULPS_BEHIND_ROOT};
use crate::error::Failure;
use crate::event;
use crate::model::Model;
use saltus_program::Activation;

/// A relation that is watched.
#[derive(Clone, Debug)]
pub(super) struct Watch {
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
    /// How far ahead a function that is not affine is looked at, and what is expected there.
    look: f64,
    foretold: Option<(f64, f64)>,
    /// The function from the present time on.
    pub z: Parabola,
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
    pub tolerance: f64,
    pub longest_look: f64,
}

/// The relations of events, then those of assertions.
pub(super) fn watches(program: &SimProgram, longest_look: f64) -> Vec<Watch> {
    let relations = program.events.relations.values().chain(program.events.bounds.values());
    let watch = |r: &saltus_program::Relation| Watch {
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
        foretold: None,
        z: Parabola::default(),
        band: 0.0,
    };
    relations.map(watch).collect()
}

impl Watch {
    /// +1 if its value holds for positive z.
    pub fn side(&self) -> f64 {
        if self.op.is_true_below() == self.value { -1.0 } else { 1.0 }
    }

    /// It did not change where it was seen to: only farther from zero it is looked at again.
    pub fn widen(&mut self) {
        let distance = self.z.0[0].abs() / (self.band / self.widened).max(f64::MIN_POSITIVE);
        self.widened = (FARTHER_BAND * self.widened).max(FARTHER_BAND * distance);
    }

    /// It has changed as foreseen.
    pub fn confirm(&mut self) {
        self.widened = 1.0;
    }

    /// What it depends on has changed at an event: new coefficients.
    pub fn begin(&mut self, k: usize, t: f64, around: &Around, model: &mut Model) -> Result<(), Failure> {
        let slice = &around.slices.crossings[k];
        (self.look, self.foretold) = (FIRST_LOOK * around.longest_look, None);
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
    pub fn renew(&mut self, k: usize, t: f64, around: &Around, model: &mut Model) -> Result<Due, Failure> {
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
        self.z = z;
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

    fn look_ahead(&mut self, slice: &Slice, t: f64, around: &Around, model: &mut Model) -> Result<Due, Failure> {
        let here = self.function(slice, t, around, model)?;
        let scale = here.abs().max(self.nominal);
        self.take_literal_value(here);
        if let Some((_, foretold)) = self.foretold.take().filter(|foretold| foretold.0 == t) {
            let error = (foretold - here).abs() / (around.tolerance * scale.max(f64::MIN_POSITIVE));
            let factor = LOOK_SAFETY / error.cbrt();
            let factor = if factor.is_nan() { LOOK_CHANGE.1 } else { factor.clamp(LOOK_CHANGE.0, LOOK_CHANGE.1) };
            self.look = (factor * self.look).min(around.longest_look);
        }
        let quarter = 0.25 * self.look;
        // Where it cannot be evaluated ahead nothing is known.
        let ahead = |by: f64, model: &mut Model| self.function(slice, t + by, around, model).ok();
        let (first, second) = (ahead(quarter, model), ahead(2.0 * quarter, model));
        let (Some(first), Some(second)) = (first, second) else {
            self.z = Parabola([here, 0.0, 0.0]);
            self.set_band(scale);
            return Ok(Due { change: t + self.time_to_change(), look: t + self.look });
        };
        let half = (second - 2.0 * first + here) / (2.0 * quarter * quarter);
        let slope = (first - here) / quarter - half * quarter;
        self.z = Parabola([here, slope, half]);
        self.set_band(scale);
        let look = t + self.look;
        self.foretold = Some((look, self.z.value(self.look)));
        let after = self.time_to_change();
        if after == 0.0 {
            return Ok(Due { change: t, look });
        }
        if after > self.look {
            // A staircase does not announce its steps.
            let there = self.function(slice, look, around, model);
            let is_changed = there.as_ref().is_ok_and(|there| self.margin(*there) < 0.0);
            let change =
                if is_changed { self.locate(slice, (t, here), (look, there?), around, model)? } else { f64::INFINITY };
            return Ok(Due { change, look });
        }
        // The function itself has the last word; a little later if it has not changed yet.
        for end in [t + after, (t + 1.1 * after).min(look)] {
            let there = self.function(slice, end, around, model)?;
            if self.margin(there) < 0.0 {
                return Ok(Due { change: self.locate(slice, (t, here), (end, there), around, model)?, look });
            }
        }
        Ok(Due { change: f64::INFINITY, look: (t + 1.1 * after).min(look).max(t.next_up()) })
    }

    /// When the relation changes between two times with these values of the function.
    fn locate(
        &self,
        slice: &Slice,
        from: (f64, f64),
        to: (f64, f64),
        around: &Around,
        model: &mut Model,
    ) -> Result<f64, Failure> {
        let mut margin = |s: f64| Ok::<f64, Failure>(self.margin(self.function(slice, s, around, model)?));
        let bracket = Bracket { before: from.0, after: to.0 };
        let (before, behind) = (self.margin(from.1).max(f64::MIN_POSITIVE), self.margin(to.1));
        Ok(locate_sign_change(bracket, before, behind, &mut margin)?.after)
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
