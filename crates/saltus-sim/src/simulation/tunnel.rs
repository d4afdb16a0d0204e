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

struct Motion {
    is_at_zero: bool,
    /// By how much it changes in a moment.
    rate: f64,
}

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
        if changed.is_empty() {
            return None;
        }
        let before = std::mem::take(&mut self.driver.before);
        let after = self.model.snapshot();
        let motions = (self.crossing_motions(t, &before), self.crossing_motions(t, &after));
        self.model.restore(&after);
        self.driver.before = before;
        let (Some(motions_before), Some(motions_after)) = motions else { return None };
        for &id in changed {
            let Some(relation) = self.program.events.relations.get(id) else { continue };
            // Positive where it leads further into the region of the present value.
            let side = if relation.op.is_true_below() == (self.model.get(relation.memory) != 0.0) { -1.0 } else { 1.0 };
            let (before, after) = (&motions_before[id.index()], &motions_after[id.index()]);
            let is_passed = before.is_at_zero && after.is_at_zero;
            if is_passed && side * before.rate < 0.0 && side * after.rate > 0.0 {
                return Some(id);
            }
        }
        None
    }

    /// What the crossing functions do at the point in `memory`.
    fn crossing_motions(&mut self, t: f64, memory: &[f64]) -> Option<Vec<Motion>> {
        let n = self.program.events.relations.len() + N_WEIGHTS;
        let (mut now, mut soon, mut scale) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.model.restore(memory);
        self.model.get_states(&mut self.work.x);
        read_crossings(&self.program, &mut self.model, t, &mut now, &mut scale).ok()?;
        self.look_ahead(t, &mut soon).ok()?;
        let motion = |i: usize| Motion { is_at_zero: now[i].abs() <= WIDEST_BAND * scale[i], rate: soon[i] - now[i] };
        Some((0..n).map(motion).collect())
    }

    /// Crossing functions a little later along the tangent, where the derivatives have just been evaluated at the states
    /// in `x`.
    pub(super) fn look_ahead(&mut self, t: f64, soon: &mut [f64]) -> Result<(), Failure> {
        let mut dx = vec![0.0; self.work.x.len()];
        self.model.get_derivatives(&mut dx);
        let ahead = LOOK_AHEAD * self.driver.integrator.next_step_size().min(self.options.time_span());
        let shifted: Vec<f64> = self.work.x.iter().zip(&dx).map(|(x, d)| x + ahead * d).collect();
        self.model.set_continuous(t + ahead, &shifted);
        let mut unused = vec![0.0; soon.len()];
        read_crossings(&self.program, &mut self.model, t + ahead, soon, &mut unused)
    }
}
