//! The complete state of a model that somebody else integrates, as one value.

use saltus_program::{ModelFunctions, fingerprint};
use serde::{Deserialize, Serialize};

use super::{Done, Exchange, Shown, Watch};
use crate::model::Extras;
use crate::simulation::{CannotRestore, CannotSave};

#[derive(Clone, Serialize, Deserialize)]
pub struct ExchangeState {
    model: String,
    fingerprint: u64,
    start_time: f64,
    watch: Watch,
    instance: Vec<u8>,
    extras: Extras,
}

impl Exchange {
    fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| fingerprint(&self.program))
    }

    pub fn state(&self) -> Result<ExchangeState, CannotSave> {
        let unsaved = |names| CannotSave { names };
        Ok(ExchangeState {
            model: self.program.name.clone(),
            fingerprint: self.fingerprint(),
            start_time: self.options.start_time,
            watch: self.watch.clone(),
            instance: self.model.save().map_err(unsaved)?,
            extras: self.model.extras().map_err(unsaved)?,
        })
    }

    /// Goes on from a state of the same program.
    pub fn restore(&mut self, state: &ExchangeState) -> Result<(), CannotRestore> {
        if state.fingerprint != self.fingerprint() {
            return Err(CannotRestore::OtherModel { name: state.model.clone() });
        }
        if state.watch.violated.len() != self.program.events.assertions.len() {
            return Err(CannotRestore::Damaged("its sizes are not those of the model".to_owned()));
        }
        self.model.resume(&state.instance).map_err(CannotRestore::Damaged)?;
        self.model.set_extras(state.extras.clone());
        self.model.set_mixed_method(self.options.mixed);
        self.options.start_time = state.start_time;
        self.watch = state.watch.clone();
        self.done = Done::Nothing;
        self.work.shown.fill(Shown::default());
        Ok(())
    }
}
