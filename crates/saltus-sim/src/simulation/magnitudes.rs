//! How exactly crossing functions are known where the search for crossings begins, and how large their operands usually are.
//!
//! ```modelica
//! Real h(start = 1e-15);      // no nominal value: h < 0 is measured by the values that h has had, not by 1
//! Boolean b = (x - a)^2 < 1e-18;      // left 1e-18 after it is entered: rounding makes 1e-25 of it
//! ```
//!
//! In: the crossing functions after an event, enclosed at that time along the tangent; those that were exactly zero there, enclosed where the step ends. Out: the slots
//! [`saltus_program::Relation::usual`], and bands of functions that leave their threshold. What loops compute is known no better than their solver says, a small part of
//! each unknown: those relations are measured by the unknowns, too, as large as they are in the function. Where a loop cannot be enclosed the usual magnitude stays 1.

use saltus_base::{IdVec, Index};
use saltus_program::{ModelFunctions, RELATION_BAND, Relation, RelationId};

use super::Simulation;
use super::stepping::{Look, read_crossings};
use crate::constants::{DISTINCT, LEAST_TIME, ROUNDINGS_IN_BAND, ROUNDINGS_OF_OPERAND};
use crate::crossing::CrossingSearch;
use crate::error::Failure;
use crate::model::Model;
use crate::proof::Prover;

/// Magnitudes that grow are exceeded by this, and those that shrink are taken over when they do so by its square: few events change them.
const LITTLE_MORE: f64 = 2.0;

/// Operations that the measure of a relation that loops compute is worth, at an event: some tens of microseconds.
const MOST_FOR_LOOPS: u64 = 100_000;

/// What relations are measured with at one time, which has been evaluated: those that make events, or those of assertions.
pub(super) struct Gauge<'a> {
    pub relations: &'a IdVec<RelationId, Relation>,
    pub search: &'a CrossingSearch,
    pub prover: &'a mut Prover,
    pub model: &'a mut Model,
    pub x: &'a [f64],
    pub is_proof: bool,
    /// Times near zero are not resolved better than those of this magnitude.
    pub least_time: f64,
    pub jumped: bool,
}

impl Gauge<'_> {
    /// Measures the relations that are near their thresholds, and those that are not on them for the first time. True if the usual magnitude of one is less than it was:
    /// then all have to be evaluated again.
    pub fn measure(&mut self, t: f64, look: &mut Look) -> bool {
        look.tight.clear();
        look.tight.resize(look.now.len(), f64::INFINITY);
        if self.model.is_sliding() {
            return false;
        }
        let (mut is_placed, mut is_lower) = (false, false);
        for (id, relation) in self.relations.iter() {
            let i = id.index();
            let z = look.now[i];
            let farthest = self.search.farthest(i, z);
            let usual = relation.usual.map(|slot| (slot, self.model.get(slot)));
            let is_near = self.search.is_near(i, z, look.scale[i].max(farthest));
            let is_first = z != 0.0 && self.search.farthest(i, 0.0) == 0.0;
            let is_new = is_first && usual.is_some_and(|(_, usual)| farthest < usual);
            let is_larger = usual.is_some_and(|(_, usual)| usual < farthest.min(relation.nominal));
            let is_explicit = self.prover.tape.is_explicit(i);
            let wants_measure = match is_explicit {
                true => is_near || is_new || is_larger,
                false => is_larger || self.is_open(relation, i, farthest),
            };
            if !wants_measure {
                continue;
            }
            if !is_placed {
                look.rates.resize(self.x.len(), 0.0);
                self.model.get_derivatives(&mut look.rates);
                self.prover.stand(self.model.memory(), self.is_proof || !is_explicit);
                self.prover.tape.place(t, t.abs().max(self.least_time), self.x, &look.rates);
                is_placed = true;
            }
            if !is_explicit {
                is_lower |= self.measure_loops(t, i, relation, farthest);
                continue;
            }
            let (rounding, slope) = self.prover.tangent(i, t, self.least_time);
            if let Some((slot, usual)) = usual.filter(|_| farthest > 0.0 && rounding.is_finite()) {
                let now = magnitude(relation, farthest, rounding);
                // Where an operand is larger it does not matter.
                let is_moot = look.scale[i] > usual.max(now);
                if !is_moot && now > usual {
                    let grown = grown(relation, now);
                    self.model.set(slot, grown);
                    look.scale[i] = grown;
                } else if !is_moot && now * LITTLE_MORE.powi(2) < usual {
                    self.model.set(slot, now);
                    is_lower = true;
                }
            }
            let side = if relation.op.is_true_below() == look.memory[i] { -1.0 } else { 1.0 };
            let leaves = if side > 0.0 { slope.lo > 0.0 } else { slope.hi < 0.0 };
            if is_near && leaves && !self.jumped && relation.op.holds(z) == look.memory[i] {
                look.tight[i] = ROUNDINGS_IN_BAND * rounding;
            }
        }
        if is_lower {
            self.prover.forget();
        }
        is_lower
    }

    /// Has a relation that loops compute the usual magnitude that nobody has measured, and is its function so small that it is worth it?
    fn is_open(&self, relation: &Relation, i: usize, farthest: f64) -> bool {
        let Some(slot) = relation.usual else { return false };
        let usual = self.model.get(slot);
        let is_small = farthest > 0.0 && farthest * LITTLE_MORE.powi(2) < usual && usual == relation.nominal;
        is_small && self.prover.tape.is_enclosed(i) && self.prover.tape.price_of_look(i) <= MOST_FOR_LOOPS
    }

    /// Measures a relation that loops compute; true if its usual magnitude has changed.
    fn measure_loops(&mut self, t: f64, i: usize, relation: &Relation, farthest: f64) -> bool {
        let Some(slot) = relation.usual else { return false };
        let (rounding, loops) = self.prover.look_at_loops(i, t, self.least_time, self.model.memory());
        let now = magnitude_in_loops(relation, farthest, rounding, loops);
        let usual = self.model.get(slot);
        let is_changed = now > usual || now * LITTLE_MORE.powi(2) < usual;
        if is_changed {
            self.model.set(slot, if now > usual { grown(relation, now) } else { now });
        }
        is_changed
    }
}

/// The same as [`magnitude`] where loops compute it, whose unknowns are so large in it; never more than it would be without.
fn magnitude_in_loops(relation: &Relation, farthest: f64, rounding: f64, loops: f64) -> f64 {
    let now = magnitude(relation, farthest, rounding).max(loops);
    if now.is_finite() { now.min(relation.nominal) } else { relation.nominal }
}

/// What is kept of a magnitude that has grown: a little more, but what makes it 1 at most makes it no more than that. A band of twice the width let a diode carry twice the
/// current backwards. Test: `bands_are_measured_on_the_side_with_the_smaller_operands`.
fn grown(relation: &Relation, now: f64) -> f64 {
    (LITTLE_MORE * now).min(now.max(relation.nominal))
}

/// The magnitude of operands whose difference has been as large as `farthest`, and is known to `rounding`.
fn magnitude(relation: &Relation, farthest: f64, rounding: f64) -> f64 {
    farthest.min(relation.nominal).max(rounding / (ROUNDINGS_OF_OPERAND * f64::EPSILON))
}

impl Simulation {
    /// Measures the relations that make events, where the search for them begins.
    pub(super) fn size_up(&mut self, t: f64, jumped: bool, look: &mut Look) -> Result<(), Failure> {
        let mut gauge = Gauge {
            relations: &self.program.events.relations,
            search: &self.driver.search,
            prover: &mut self.prover,
            model: &mut self.model,
            x: &self.work.x,
            is_proof: self.options.events.is_proof(),
            least_time: LEAST_TIME * self.options.time_span(),
            jumped,
        };
        if gauge.measure(t, look) {
            read_crossings(&self.program, &mut self.model, t, &mut look.now, &mut look.scale)?;
        }
        Ok(())
    }

    /// Measures relations that were exactly zero where the search began, and have been since, by what they are at the end of the step, before it is searched: `x > 0` from x = 0
    /// with a slope of 1e-15 has no magnitude before that.
    pub(super) fn size_up_departures(&mut self, to: f64) {
        let n = if self.model.is_sliding() { 0 } else { self.driver.search.at_rest().len() };
        let (mut is_placed, mut is_narrower) = (false, false);
        // Backwards: those that move are not among them any more.
        for k in (0..n).rev() {
            let i = self.driver.search.at_rest()[k];
            let relation = self.program.events.relations.get(RelationId::from_usize(i));
            let Some((relation, slot)) = relation.and_then(|r| Some((r, r.usual?))) else { continue };
            let is_explicit = self.prover.tape.is_explicit(i);
            let tape = &self.prover.tape;
            if !is_explicit && (!tape.is_enclosed(i) || tape.price_of_look(i) > MOST_FOR_LOOPS) {
                continue;
            }
            if !is_placed {
                self.prover.stand(self.model.memory(), self.options.events.is_proof() || !is_explicit);
                self.prover.tape.start_loops(self.model.memory());
                self.prover.tape.follow(&*self.driver.integrator);
                is_placed = true;
            }
            let z = self.prover.tape.blurred_at(i, to);
            let (size, error) = (z.magnitude(), z.hi - z.lo);
            // What the error of the step may have made says nothing.
            if !z.is_known() || error > DISTINCT * size {
                continue;
            }
            let least_time = LEAST_TIME * self.options.time_span();
            let now = if is_explicit {
                magnitude(relation, size, self.prover.tangent(i, to, least_time).0)
            } else {
                let (rounding, loops) = self.prover.look_at_loops(i, to, least_time, self.model.memory());
                magnitude_in_loops(relation, size, rounding, loops)
            };
            if now < self.model.get(slot) {
                self.model.set(slot, now);
                self.driver.search.narrow(i, RELATION_BAND * now);
                is_narrower = true;
            }
        }
        if is_narrower {
            self.prover.forget();
            self.driver.search.forget();
        }
    }
}
