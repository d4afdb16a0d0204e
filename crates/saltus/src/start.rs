//! What a run begins with: values of parameters and start values, inputs over time, a state to go on from.
//!
//! In: a simulation that has not begun and a [`Start`]. Out: the same simulation with all of it, or what is wrong with one of them.

use std::sync::Arc;

use saltus_base::Diagnostic;
use saltus_program::{Causality, SlotType, Variable};
use saltus_results::{InputTable, Kind, Results};
use saltus_sim::{Signal, Simulation, State, Table};

use crate::{Model, diagnostics};

/// Everything is optional.
#[derive(Clone, Default)]
pub struct Start {
    /// Values in the compiled model, as a user writes them.
    pub values: Vec<(String, String)>,
    /// A table with a column for each input.
    pub inputs: Option<Arc<Results>>,
    pub state: Option<Arc<State>>,
}

impl Start {
    /// Prepares a run; all that is wrong otherwise.
    pub fn apply(&self, simulation: &mut Simulation, model: &Model) -> Result<(), Vec<Diagnostic>> {
        let mut wrong = Vec::new();
        if let Some(inputs) = &self.inputs {
            wrong.extend(set_inputs(simulation, model, inputs, &self.values).err());
        }
        // What goes on has its values.
        if let Some(state) = &self.state {
            wrong.extend(simulation.restore(state).map_err(|why| diagnostics::cannot_resume(&why.to_string())).err());
        }
        for (name, text) in &self.values {
            wrong.extend(set(simulation, model, name, text).err());
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

fn set(simulation: &mut Simulation, model: &Model, name: &str, text: &str) -> Result<(), Diagnostic> {
    let value = model.parse_value(name, text).map_err(|why| diagnostics::cannot_set(name, text, &why))?;
    let slot = model.changeable_to(name, value).map_err(|why| diagnostics::cannot_set(name, text, &why))?;
    let set = simulation.set(slot, value);
    set.map_err(|why| diagnostics::cannot_be_set(name, &why.to_string()))
}

fn set_inputs(
    simulation: &mut Simulation,
    model: &Model,
    table: &Results,
    values: &[(String, String)],
) -> Result<(), Diagnostic> {
    let is_given = |v: &&Variable| values.iter().any(|(name, _)| *name == v.name);
    let inputs: Vec<&Variable> =
        model.variables().iter().filter(|v| v.causality == Causality::Input).filter(|v| !is_given(v)).collect();
    let wanted: Vec<(&str, Kind)> = inputs.iter().map(|v| (v.name.as_str(), kind(v.ty))).collect();
    let bad = |why: String| diagnostics::bad_inputs(&table.title, &why);
    let columns = InputTable::new(table, &wanted).map_err(|why| bad(why.to_string()))?;
    for (i, input) in inputs.iter().enumerate() {
        let Some((times, values, is_held)) = columns.column(i) else { continue };
        let signal = Table::new(times.to_vec(), values.to_vec(), is_held).map_err(|why| bad(format!("{why:?}")))?;
        let set = simulation.set_input(input.slot, Signal::Table(signal));
        set.map_err(|why| diagnostics::cannot_be_set(&input.name, &why.to_string()))?;
    }
    Ok(())
}

/// The kind of a variable as results have it.
pub(crate) fn kind(ty: SlotType) -> Kind {
    match ty {
        SlotType::Real => Kind::Real,
        SlotType::Integer => Kind::Integer,
        SlotType::Boolean => Kind::Boolean,
        SlotType::Enumeration => Kind::Enumeration,
    }
}
