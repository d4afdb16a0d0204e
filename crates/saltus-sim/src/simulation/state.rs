//! The complete state of a run as one value, which can be kept, written and restored.
//!
//! In: a run between two calls of [`Simulation::advance`]. Out: a [`State`], from which a run of the same program goes on bit by
//! bit as this one does: variables, `pre`, relations and their shifts, guesses and factors of loops, histories, clocks, random
//! numbers, choices of states, a slide, the integrator with its last step, counters.

use std::fmt;

use saltus_program::{Key, ModelFunctions, SlotId, fingerprint};
use serde::{Deserialize, Serialize};

use super::{Driver, Phase, Simulation};
use crate::error::Failure;
use crate::inputs::Signal;
use crate::model::Extras;
use crate::options::{Options, Solver};
use crate::{event, integration};

#[derive(Clone, Serialize, Deserialize)]
pub struct State {
    /// Name and fingerprint of the program.
    model: String,
    fingerprint: u64,
    /// The positions of the switches that change its structure.
    configuration: Key,
    start_time: f64,
    integration: Integration,
    driver: Driver,
    instance: Vec<u8>,
    extras: Extras,
}

/// The options that the integrator was made for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Integration {
    solver: Solver,
    tolerance: f64,
    max_step: Option<f64>,
    fixed_step: Option<f64>,
}

impl Integration {
    fn of(options: &Options) -> Self {
        let Options { solver, tolerance, max_step, fixed_step, .. } = *options;
        Integration { solver, tolerance, max_step, fixed_step }
    }
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
    /// The run shall end before the time at which the state was taken.
    EndsBefore {
        time: f64,
    },
    /// The run cannot go on with another method or other inputs.
    CannotGoOn(String),
}

impl fmt::Display for CannotRestore {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            CannotRestore::OtherModel { name } => {
                write!(f, "the state belongs to another model or another version of it: `{name}`")
            }
            CannotRestore::Damaged(why) => write!(f, "the state cannot be restored: {why}"),
            CannotRestore::EndsBefore { time } => write!(f, "it was saved at {time} s, after the stop time"),
            CannotRestore::CannotGoOn(why) => f.write_str(why),
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
        if self.quantised.is_some() {
            return Err(unsaved(vec!["the solver liqss2".to_owned()]));
        }
        Ok(State {
            model: self.program.name.clone(),
            fingerprint: fingerprint(&self.program),
            configuration: self.key(),
            start_time: self.options.start_time,
            integration: Integration::of(&self.options),
            driver: self.driver.clone(),
            instance: self.model.save().map_err(unsaved)?,
            extras: self.model.extras().map_err(unsaved)?,
        })
    }

    /// Goes on from a state of a run of the same program. Options may be others: a later stop time, another distance of output points,
    /// another method; inputs that were given to a run that has not begun replace those of the state, those of one that has begun are
    /// forgotten. Its start time stays.
    pub fn restore(&mut self, state: &State) -> Result<(), CannotRestore> {
        if state.configuration != self.key() && state.model == self.program.name {
            let taken = self.take_program_of(state.time(), &state.configuration);
            taken.map_err(|failure| CannotRestore::Damaged(failure.kind.to_string()))?;
        }
        if state.fingerprint != fingerprint(&self.program) {
            return Err(CannotRestore::OtherModel { name: state.model.clone() });
        }
        let is_begun = !state.driver.before.is_empty();
        let fits = state.driver.integrator.states().len() == self.program.states.len()
            && (!is_begun || state.driver.before.len() == self.program.memory.slots.len());
        if !fits {
            return Err(CannotRestore::Damaged("its sizes are not those of the model".to_owned()));
        }
        if event::reach(self.options.stop_time) < state.time() {
            return Err(CannotRestore::EndsBefore { time: state.time() });
        }
        let is_new = self.driver.phase == Phase::New;
        let mut inputs = self.model.take_inputs();
        inputs.retain(|_| is_new);
        self.model.resume(&state.instance).map_err(CannotRestore::Damaged)?;
        self.model.set_extras(state.extras.clone());
        self.model.set_mixed_method(self.options.mixed);
        self.options.start_time = state.start_time;
        self.driver = state.driver.clone();
        self.prover.forget();
        self.driver.next_output = self.options.first_output_after(state.time());
        self.changes.clear();
        self.slopes.clear();
        self.view = None;
        self.work.event = None;
        self.work.settled = None;
        if is_begun {
            let t = state.time();
            self.begin_recording(t).map_err(|failure| CannotRestore::Damaged(failure.kind.to_string()))?;
        }
        let is_same = inputs.is_empty() && state.integration == Integration::of(&self.options);
        if is_same || self.is_at_rest() {
            return Ok(());
        }
        self.go_on_differently(inputs).map_err(|failure| CannotRestore::CannotGoOn(failure.kind.to_string()))
    }

    /// From the present point with the integrator that the options ask for, and with other inputs.
    fn go_on_differently(&mut self, inputs: Vec<(SlotId, Signal)>) -> Result<(), Failure> {
        let t = self.driver.now;
        self.go_to(t)?;
        for (slot, signal) in inputs {
            // They were accepted as inputs before.
            let _ = self.model.set_input(slot, signal);
        }
        if self.model.inputs_vary() {
            self.inputs_move();
        }
        self.driver.integrator = integration::choose(&self.program, &self.options, &self.structure);
        self.driver.phase = Phase::Between;
        self.driver.steps_at_event = 0;
        self.model.pass(t);
        event::settle(&self.program, &mut self.model, &self.options, t)?;
        self.schedule(t);
        self.start_integrator(t, false, false)
    }
}
