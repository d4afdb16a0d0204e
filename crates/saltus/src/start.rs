//! What a run begins with: values of parameters and start values, a state to go on from.
//!
//! In: a simulation that has not begun and a [`Start`]. Out: the same simulation with all of it, or what is wrong with one of them.

use std::sync::Arc;

use saltus_base::Diagnostic;
use saltus_program::SlotId;
use saltus_sim::{Simulation, State};

use crate::{Model, diagnostics};

/// Everything is optional.
#[derive(Clone, Default)]
pub struct Start {
    /// Values in the compiled model, as a user writes them.
    pub values: Vec<(String, String)>,
    pub state: Option<Arc<State>>,
}

impl Start {
    /// Prepares a run; all that is wrong otherwise.
    pub fn apply(&self, simulation: &mut Simulation, model: &Model) -> Result<(), Vec<Diagnostic>> {
        let mut wrong = Vec::new();
        if let Some(state) = &self.state {
            wrong.extend(simulation.restore(state).map_err(|why| diagnostics::cannot_resume(&why.to_string())).err());
        }
        for (name, text) in &self.values {
            wrong.extend(set(simulation, model, name, text).err());
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

impl Start {
    /// What cannot be set, before anything is run.
    pub fn check(&self, model: &Model) -> Vec<Diagnostic> {
        self.values.iter().filter_map(|(name, text)| slot(model, name, text).err()).collect()
    }
}

fn slot(model: &Model, name: &str, text: &str) -> Result<(SlotId, f64), Diagnostic> {
    let cannot = |why| diagnostics::cannot_set(name, text, &why);
    let value = model.parse_value(name, text).map_err(cannot)?;
    Ok((model.changeable_to(name, value).map_err(cannot)?, value))
}

fn set(simulation: &mut Simulation, model: &Model, name: &str, text: &str) -> Result<(), Diagnostic> {
    let (slot, value) = slot(model, name, text)?;
    let set = simulation.set(slot, value);
    set.map_err(|why| diagnostics::cannot_be_set(name, &why.to_string()))
}
