//! `--input FILE`: a table whose columns drive inputs of the model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus::{Model, diagnostics, results};
use saltus_base::Diagnostic;
use saltus_program::{Causality, Variable};
use saltus_results::{Format, Kind, Results, input_columns};
use saltus_sim::{Signal, Simulation, Table};

use crate::{Exit, Screen};

pub struct Inputs {
    path: PathBuf,
    table: Results,
}

impl Inputs {
    pub fn read(path: &Path, screen: &Screen) -> Result<Inputs, Exit> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path);
        let bytes = bytes.map_err(|error| screen.fail(&diagnostics::bad_input(&shown, &error.to_string())))?;
        let table = Results::read(&bytes, Format::of(path).unwrap_or(Format::Csv), &shown);
        let table = table.map_err(|error| screen.fail(&diagnostics::bad_input(&shown, &error.message)))?;
        Ok(Inputs { path: path.to_owned(), table })
    }

    /// Every column with the name of an input drives it. A table that drives none, or whose columns are no values of their inputs, is a
    /// mistake.
    pub fn connect(&self, model: &Arc<Model>, simulation: &mut Simulation) -> Result<(), Diagnostic> {
        let bad = |why: String| diagnostics::bad_input(&self.path.display().to_string(), &why);
        let inputs: Vec<&Variable> = model.variables().iter().filter(|v| v.causality == Causality::Input).collect();
        let driven: Vec<&Variable> = inputs.iter().copied().filter(|v| self.table.signal(&v.name).is_some()).collect();
        // Without a single match the first input that is missing says which name was meant.
        let wanted = if driven.is_empty() { &inputs[..inputs.len().min(1)] } else { &driven };
        if wanted.is_empty() {
            return Err(bad("the model has no inputs".to_owned()));
        }
        let names: Vec<(&str, Kind)> = wanted.iter().map(|v| (v.name.as_str(), results::kind(v.ty))).collect();
        let columns = input_columns(&self.table, &names).map_err(|error| bad(error.to_string()))?;
        for (variable, column) in wanted.iter().zip(columns) {
            let table = Table::new(self.table.times.clone(), column.values, column.is_held);
            let table = table.map_err(|error| bad(format!("{error:?}")))?;
            let set = simulation.set_input(variable.slot, Signal::Table(table));
            set.map_err(|error| bad(format!("`{}`: {error}", variable.name)))?;
        }
        Ok(())
    }
}
