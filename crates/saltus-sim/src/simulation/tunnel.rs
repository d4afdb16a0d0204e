//! No state may pass through a threshold that an event was meant to turn it back at.
//!
//! ```modelica
//! when h < 0 then
//!   reinit(v, -0.7*pre(v)); // turns the ball back, unless rounding says that it flies upwards through the floor
//! end when;
//! ```
//!
//! In: memory before and after an event at which states jumped. Out: an error if the jump sends the model on, or a warning if the run shall
//! continue all the same.

use saltus_base::{Index, Span};
use saltus_program::{ModelFunctions, RelationId};

use super::Simulation;
use super::stepping::read_crossings;
use crate::constants::{LOOK_AHEAD, WIDEST_BAND};
use crate::crossing::N_WEIGHTS;
use crate::error::{Failure, SimErrorKind};
use crate::options::ZenoPolicy;
use crate::trajectory::{Warning, WarningKind};

impl Simulation {
    /// A relation that was seen to change although its function was moving away from the change, and that the jump of
    /// states sends on: its movement is smaller than the error of the integration, and the threshold would be passed
    /// for good. The last bounces of a ball end like that. A function that is not near zero both before and after has not
    /// crossed it but jumped over, as that of a diode does when another one fires.
    pub(super) fn refuse_to_tunnel(&mut self, t: f64, changed: &[RelationId]) -> Result<(), Failure> {
        match self.tunnel(t, changed) {
            Some(id) if self.options.on_zeno == ZenoPolicy::Continue => self.tell_tunnel(t, id),
            Some(id) => {
                let accumulation = self.driver.zeno.accumulation();
                let (text, span) = self.relation_text(id);
                return Err(Failure::new(t, SimErrorKind::Zeno { relation: text, accumulation }).at(span));
            }
            None => {}
        }
        Ok(())
    }

    /// Says that the thresholds have been passed that the last search ignored.
    pub(super) fn tell_tunnels(&mut self) {
        let (t, passed) = self.driver.search.take_tunnelled();
        for i in passed {
            self.tell_tunnel(t, RelationId::from_usize(i));
        }
    }

    fn tell_tunnel(&mut self, t: f64, id: RelationId) {
        let (message, span) = self.relation_text(id);
        let is_known = |w: &Warning| w.kind == WarningKind::Tunnel && w.span == span && w.message == message;
        if !self.driver.warnings.iter().any(is_known) {
            self.driver.warnings.push(Warning { kind: WarningKind::Tunnel, time: t, message, span });
        }
    }

    fn relation_text(&self, id: RelationId) -> (String, Span) {
        let relation = self.program.events.relations.get(id);
        relation.map_or((String::new(), Span::nowhere()), |r| (r.text.clone(), r.span))
    }

    /// The relation whose threshold is passed for good.
    fn tunnel(&mut self, t: f64, changed: &[RelationId]) -> Option<RelationId> {
        let suspicious = changed.iter().filter(|id| self.is_at_threshold(**id));
        let mut passed: Vec<(RelationId, f64)> = suspicious.map(|&id| (id, self.side_of_value(id))).collect();
        if passed.is_empty() {
            return None;
        }
        let before = std::mem::take(&mut self.driver.before);
        let after = self.model.snapshot();
        // Which way they were moving before the event clears most of them.
        self.keep_moving(t, &before, &mut passed, -1.0);
        if !passed.is_empty() {
            self.keep_moving(t, &after, &mut passed, 1.0);
        }
        self.model.restore(&after);
        self.driver.before = before;
        passed.first().map(|(id, _)| *id)
    }

    /// Is the function of a relation that has changed on its threshold both before and after the event?
    fn is_at_threshold(&self, id: RelationId) -> bool {
        let Some(relation) = self.program.events.relations.get(id) else { return false };
        let is_at_zero = |z: f64, scale: f64| z.abs() <= WIDEST_BAND * scale;
        is_at_zero(self.value_before(relation.crossing), self.value_before(relation.scale))
            && is_at_zero(self.model.get(relation.crossing), self.model.get(relation.scale))
    }

    /// Keeps those relations whose functions move, at the point in `memory`, further towards this side (+1), or away from it (-1).
    fn keep_moving(&mut self, t: f64, memory: &[f64], relations: &mut Vec<(RelationId, f64)>, direction: f64) {
        let rates = self.crossing_rates(t, memory).unwrap_or_default();
        relations.retain(|(id, side)| rates.get(id.index()).is_some_and(|rate| direction * side * rate > 0.0));
    }

    /// +1 if the present value of a relation belongs to positive z.
    fn side_of_value(&self, id: RelationId) -> f64 {
        let is_below = |r: &saltus_program::Relation| r.op.is_true_below() == (self.model.get(r.memory) != 0.0);
        if self.program.events.relations.get(id).is_some_and(is_below) { -1.0 } else { 1.0 }
    }

    /// By how much the crossing functions change in a moment, from the point in `memory` on.
    fn crossing_rates(&mut self, t: f64, memory: &[f64]) -> Option<Vec<f64>> {
        let n = self.program.events.relations.len() + N_WEIGHTS;
        let (mut now, mut soon, mut scale) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.model.restore(memory);
        self.model.get_states(&mut self.work.x);
        read_crossings(&self.program, &mut self.model, t, &mut now, &mut scale).ok()?;
        self.look_ahead(t, &mut soon).ok()?;
        Some(soon.iter().zip(&now).map(|(soon, now)| soon - now).collect())
    }

    /// Crossing functions a little later along the tangent, where the derivatives have just been evaluated at the states
    /// in `x`.
    pub(super) fn look_ahead(&mut self, t: f64, soon: &mut [f64]) -> Result<(), Failure> {
        let mut shifted = vec![0.0; self.work.x.len()];
        self.model.get_derivatives(&mut shifted);
        let ahead = LOOK_AHEAD * self.driver.integrator.next_step_size().min(self.options.time_span());
        shifted.iter_mut().zip(&self.work.x).for_each(|(d, x)| *d = x + ahead * *d);
        self.model.set_continuous(t + ahead, &shifted);
        let mut unused = vec![0.0; soon.len()];
        read_crossings(&self.program, &mut self.model, t + ahead, soon, &mut unused)
    }
}
