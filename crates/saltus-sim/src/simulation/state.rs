//! The complete state of a run as one value, which can be kept, written and restored.
//!
//! In: a run between two calls of [`Simulation::advance`]. Out: a [`State`], from which a run of the same program goes on bit by
//! bit as this one does: variables, `pre`, relations and their shifts, guesses and factors of loops, histories, clocks, random
//! numbers, choices of states, a slide, the integrator with its last step, counters.

use std::fmt;

use saltus_program::{ModelFunctions, fingerprint};
use serde::{Deserialize, Serialize};

use super::{Driver, Simulation};
use crate::model::Extras;

#[derive(Clone, Serialize, Deserialize)]
pub struct State {
    /// Name and fingerprint of the program.
    model: String,
    fingerprint: u64,
    driver: Driver,
    instance: Vec<u8>,
    extras: Extras,
}

/// External objects and inputs that cannot be part of a state, by name.
#[derive(Clone, PartialEq, Debug)]
pub struct CannotSave {
    pub names: Vec<String>,
}

impl fmt::Display for CannotSave {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the state of the simulation cannot be saved because of `{}`", self.names.join("`, `"))
    }
}

impl std::error::Error for CannotSave {}

#[derive(Clone, PartialEq, Debug)]
pub enum CannotRestore {
    /// The state was made by this model, or by another version or other parameters that decide its structure.
    OtherModel {
        name: String,
    },
    Damaged(String),
}

impl fmt::Display for CannotRestore {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            CannotRestore::OtherModel { name } => {
                write!(f, "the state belongs to another model or another version of it: `{name}`")
            }
            CannotRestore::Damaged(why) => write!(f, "the state cannot be restored: {why}"),
        }
    }
}

impl std::error::Error for CannotRestore {}

impl State {
    /// The time at which it was taken.
    pub fn time(&self) -> f64 {
        self.driver.now
    }

    /// Name of the model that it belongs to.
    pub fn model(&self) -> &str {
        &self.model
    }
}

impl Simulation {
    /// The complete state at the present time.
    pub fn state(&self) -> Result<State, CannotSave> {
        let unsaved = |names| CannotSave { names };
        Ok(State {
            model: self.program.name.clone(),
            fingerprint: fingerprint(&self.program),
            driver: self.driver.clone(),
            instance: self.model.save().map_err(unsaved)?,
            extras: self.model.extras().map_err(unsaved)?,
        })
    }

    /// Goes on from a state of a run of the same program. Options may be others, as a later stop time.
    pub fn restore(&mut self, state: &State) -> Result<(), CannotRestore> {
        if state.fingerprint != fingerprint(&self.program) {
            return Err(CannotRestore::OtherModel { name: state.model.clone() });
        }
        let is_begun = !state.driver.before.is_empty();
        let fits = state.driver.integrator.states().len() == self.program.states.len()
            && (!is_begun || state.driver.before.len() == self.program.slots.len());
        if !fits {
            return Err(CannotRestore::Damaged("its sizes are not those of the model".to_owned()));
        }
        self.model.resume(&state.instance).map_err(CannotRestore::Damaged)?;
        self.model.set_extras(state.extras.clone());
        self.model.set_mixed_method(self.options.mixed);
        self.driver = state.driver.clone();
        self.changes.clear();
        self.view = None;
        self.work.event = None;
        self.work.settled = None;
        if is_begun {
            let t = state.time();
            self.begin_recording(t).map_err(|failure| CannotRestore::Damaged(failure.kind.to_string()))?;
        }
        Ok(())
    }
}
