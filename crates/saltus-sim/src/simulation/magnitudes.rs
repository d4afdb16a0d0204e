//! How exactly crossing functions are known where the search for crossings begins, and how large their operands usually are.
//!
//! ```modelica
//! Real h(start = 1e-15);      // no nominal value: h < 0 is measured by the values that h has had, not by 1
//! Boolean b = (x - a)^2 < 1e-18;      // left 1e-18 after it is entered: rounding makes 1e-25 of it
//! ```
//!
//! In: the crossing functions after an event, enclosed at that time along the tangent. Out: the slots [`saltus_program::Relation::usual`], and bands of functions that
//! leave their threshold. What loops compute is known no better than their solver says: those relations keep the usual magnitude of 1.

use saltus_base::Index;
use saltus_program::ModelFunctions;

use super::Simulation;
use super::stepping::{Look, read_crossings};
use crate::constants::{LEAST_TIME, ROUNDINGS_IN_BAND, ROUNDINGS_OF_OPERAND};
use crate::error::Failure;

/// Magnitudes that grow are exceeded by this, and those that shrink are taken over when they do so by its square: few events change them.
const LITTLE_MORE: f64 = 2.0;

impl Simulation {
    /// Measures the relations that are near their thresholds, and those that are not on them for the first time.
    pub(super) fn size_up(&mut self, t: f64, jumped: bool, look: &mut Look) -> Result<(), Failure> {
        look.tight.clear();
        look.tight.resize(look.now.len(), f64::INFINITY);
        if self.model.is_sliding() {
            return Ok(());
        }
        let (mut is_placed, mut is_lower) = (false, false);
        let least_time = LEAST_TIME * self.options.time_span();
        let program = self.program.clone();
        for (id, relation) in program.events.relations.iter() {
            let i = id.index();
            let z = look.now[i];
            let farthest = self.driver.search.farthest(i, z);
            let usual = relation.usual.map(|slot| (slot, self.model.get(slot)));
            let is_near = self.driver.search.is_near(i, z, look.scale[i].max(farthest));
            let is_first = z != 0.0 && self.driver.search.farthest(i, 0.0) == 0.0;
            let is_new = is_first && usual.is_some_and(|(_, usual)| farthest < usual);
            let is_larger = usual.is_some_and(|(_, usual)| usual < farthest.min(relation.nominal));
            if !(is_near || is_new || is_larger) || !self.prover.tape.is_explicit(i) {
                continue;
            }
            if !is_placed {
                look.rates.resize(self.work.x.len(), 0.0);
                self.model.get_derivatives(&mut look.rates);
                self.prover.stand(self.model.memory(), self.options.events.is_proof());
                self.prover.tape.place(t, t.abs().max(least_time), &self.work.x, &look.rates);
                is_placed = true;
            }
            let (rounding, slope) = self.prover.tangent(i, t, least_time);
            if let Some((slot, usual)) = usual.filter(|_| farthest > 0.0 && rounding.is_finite()) {
                let of_rounding = rounding / (ROUNDINGS_OF_OPERAND * f64::EPSILON);
                let now = farthest.min(relation.nominal).max(of_rounding);
                // Where an operand is larger it does not matter.
                let is_moot = look.scale[i] > usual.max(now);
                if !is_moot && now > usual {
                    self.model.set(slot, LITTLE_MORE * now);
                    look.scale[i] = LITTLE_MORE * now;
                } else if !is_moot && now * LITTLE_MORE.powi(2) < usual {
                    self.model.set(slot, now);
                    is_lower = true;
                }
            }
            let side = if relation.op.is_true_below() == look.memory[i] { -1.0 } else { 1.0 };
            let leaves = if side > 0.0 { slope.lo > 0.0 } else { slope.hi < 0.0 };
            if is_near && leaves && !jumped && relation.op.holds(z) == look.memory[i] {
                look.tight[i] = ROUNDINGS_IN_BAND * rounding;
            }
        }
        if is_lower {
            self.prover.forget();
            read_crossings(&self.program, &mut self.model, t, &mut look.now, &mut look.scale)?;
        }
        Ok(())
    }
}
