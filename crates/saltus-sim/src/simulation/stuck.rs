//! Steps that lead nowhere.
//!
//! ```text
//! q = if h1 > h2 then sqrt(h1 - h2) else -sqrt(h2 - h1)      two tanks that are level but for rounding: a step that would move them by more
//!                                                            fails beyond the guard, a shorter one does not move them at all
//! ```
//!
//! In: the states every few thousand steps. Out: a failure that names the nearest threshold, if no state has moved and the end is far away.

use saltus_program::ModelFunctions;

use super::Simulation;
use crate::constants::{SLOW, STEPS_OF_REST, STILL, WIDEST_BAND};
use crate::error::{Failure, SimErrorKind};

/// Where the states were some thousand steps ago.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Movement {
    steps: u64,
    time: f64,
    states: Vec<f64>,
}

impl Simulation {
    /// Fails where the run is stuck at a threshold.
    pub(super) fn check_movement(&mut self, t: f64, steps: u64) -> Result<(), Failure> {
        if steps < self.driver.movement.steps + STEPS_OF_REST {
            return Ok(());
        }
        let mut states = vec![0.0; self.program.states.len()];
        self.driver.integrator.interpolate(t, &mut states);
        let now = Movement { steps, time: t, states };
        let last = std::mem::replace(&mut self.driver.movement, now);
        let is_slow = t - last.time < SLOW * self.options.time_span();
        let is_still = |(a, b): (&f64, &f64)| (a - b).abs() <= STILL * a.abs();
        let states = &self.driver.movement.states;
        if states.is_empty()
            || last.states.len() != states.len()
            || !is_slow
            || !states.iter().zip(&last.states).all(is_still)
        {
            return Ok(());
        }
        let Some((_, relation)) = self.closest_relation() else { return Ok(()) };
        if self.model.get(relation.crossing).abs() > WIDEST_BAND * self.model.get(relation.scale) {
            return Ok(());
        }
        let kind = SimErrorKind::Stuck { steps: STEPS_OF_REST, relation: relation.text.clone() };
        Err(Failure::new(t, kind).at(relation.span))
    }
}
