//! A simulation whose variables have names.
//!
//! In: a [`Model`] and [`Settings`]. Out: everything that [`saltus_sim::Simulation`] can do, with names instead of slots.
//!
//! ```
//! use std::sync::Arc;
//! use saltus::{Advance, Model, Session, Settings, Signal, Simulation};
//! use saltus::pipeline::{self, Options};
//! use saltus_library::MemoryFiles;
//!
//! let mut session = Session::new(Box::new(MemoryFiles::new()));
//! session.set_text("Drive.mo", "model Drive
//!   parameter Real k = 1;
//!   input Real u;
//!   Real w(start = 0, fixed = true);
//!   Boolean fast = w > 1;
//! equation
//!   der(w) = k*u;
//! end Drive;");
//! let class = session.class(Some("Drive")).map_err(|unknown| unknown.message)?;
//! let model: Arc<Model> = pipeline::compile(&session, class, &Options::default()).map_err(|d| format!("{d:?}"))?;
//! drop(session); // the model needs it no more
//!
//! let settings = Settings { stop_time: Some(2.0), ..Settings::default() };
//! let mut run = Simulation::new(model.clone(), &settings);
//! run.set("k", 2.0)?;
//! run.set_input("u", Signal::Function(Box::new(|t| t)))?; // w = t²
//! run.initialise()?;
//! let mut events = Vec::new();
//! while run.time() < 1.5 {
//!     match run.advance(1.5)? {
//!         Advance::Step => {}
//!         Advance::Event(event) => events.push(event.time),
//!         Advance::Terminated(_) => break,
//!     }
//! }
//! assert!(events.iter().any(|t| (t - 1.0).abs() < 1e-6)); // fast became true
//! assert!((run.get("w")? - 2.25).abs() < 1e-6);
//!
//! run.set("u", 0.0)?; // held from now on; a function of time cannot be part of a state
//! run.advance(1.75)?;
//! let state = run.state()?;
//! run.advance_to(2.0)?;
//! let w = run.get("w")?;
//! run.restore(&state)?;
//! run.advance_to(2.0)?;
//! assert_eq!(run.get("w")?.to_bits(), w.to_bits());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use saltus_program::{SlotKind, Stopwatch};
use saltus_sim::{CannotSet, Signal, SimError};

use crate::Model;
use crate::model::{Unchangeable, UnknownVariable};
use crate::pipeline::{Engine, Experiment};
use crate::session::Permissions;

/// How a model is run: what replaces its `experiment` annotation.
pub type Settings = Experiment;

/// A run of a model.
pub struct Simulation {
    model: Arc<Model>,
    inner: saltus_sim::Simulation,
}

/// What cannot be done with a variable.
#[derive(Clone, PartialEq, Debug)]
pub enum AccessError {
    Unknown(UnknownVariable),
    Unchangeable(Unchangeable),
    CannotSet(CannotSet),
    /// The model cannot be evaluated at the present time.
    Failed(Box<SimError>),
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            AccessError::Unknown(why) => why.fmt(f),
            AccessError::Unchangeable(why) => why.fmt(f),
            AccessError::CannotSet(why) => why.fmt(f),
            AccessError::Failed(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for AccessError {}

impl Simulation {
    /// A run that has not begun, without permissions beyond those of any model.
    pub fn new(model: Arc<Model>, settings: &Settings) -> Self {
        Simulation::with(model, settings, Engine::default(), Permissions::default())
    }

    pub fn with(model: Arc<Model>, settings: &Settings, engine: Engine, permissions: Permissions) -> Self {
        let settings = settings.settings(model.program());
        let instance = model.instance_for(settings.solver, engine, permissions, &Stopwatch::default());
        let mut inner = saltus_sim::Simulation::new(instance, settings);
        if let Some(maker) = model.configurations(engine, permissions, &Stopwatch::default()) {
            inner.set_configurations(maker);
        }
        Simulation { model, inner }
    }

    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Sets a parameter, an input or, after the start, a state, from now on.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), AccessError> {
        let variable = self.model.variable(name).map_err(AccessError::Unknown)?;
        let kind = self.model.program().memory.slots.get(variable.slot).map(|s| s.kind);
        let slot = match kind {
            Some(SlotKind::State) if self.inner.has_begun() => variable.slot,
            _ => self.model.changeable_to(name, value).map_err(AccessError::Unchangeable)?,
        };
        self.inner.set(slot, value).map_err(AccessError::CannotSet)
    }

    /// Gives an input its values over time; before the start.
    pub fn set_input(&mut self, name: &str, signal: Signal) -> Result<(), AccessError> {
        let slot = self.model.variable(name).map_err(AccessError::Unknown)?.slot;
        self.inner.set_input(slot, signal).map_err(AccessError::CannotSet)
    }

    /// The value of a variable at the present time.
    pub fn get(&mut self, name: &str) -> Result<f64, AccessError> {
        let slot = self.model.variable(name).map_err(AccessError::Unknown)?.slot;
        self.inner.get(slot).map_err(|error| AccessError::Failed(Box::new(error)))
    }
}

impl Deref for Simulation {
    type Target = saltus_sim::Simulation;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl DerefMut for Simulation {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

/// A run can go to another thread.
const _: () = {
    const fn sent<T: Send>() {}
    sent::<Simulation>();
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use crate::pipeline::{self, Options};
    use saltus_library::MemoryFiles;

    /// What was set after a state was taken is not part of it.
    #[test]
    fn a_state_brings_its_inputs_back() {
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        session.set_text("M.mo", "model M input Real u; Real w(start = 0, fixed = true); equation der(w) = u; end M;");
        let class = session.class(None).expect("there is one model");
        let model = pipeline::compile(&session, class, &Options::default()).expect("it compiles");
        let mut run = Simulation::new(model, &Settings::default());
        run.set("u", 12.0).expect("an input");
        run.advance_to(0.5).expect("it runs");
        let state = run.state().expect("it can be saved");
        run.set("u", 0.0).expect("an input");
        run.advance_to(1.0).expect("it runs");
        assert!((run.get("w").expect("a variable") - 6.0).abs() < 1e-9);
        run.restore(&state).expect("its own state");
        run.advance_to(1.0).expect("it runs");
        assert!((run.get("w").expect("a variable") - 12.0).abs() < 1e-9);
    }
}
