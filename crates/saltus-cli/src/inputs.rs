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

    fn has(&self, input: &Variable) -> bool {
        self.table.signal(&input.name()).is_some()
    }

    /// Drives these inputs.
    fn drive(&self, inputs: &[Variable], simulation: &mut Simulation) -> Result<(), Diagnostic> {
        let bad = |why: String| diagnostics::bad_input(&self.path.display().to_string(), &why);
        let names: Vec<_> = inputs.iter().map(|v| (v.name(), results::kind(v.ty))).collect();
        let names: Vec<(&str, Kind)> = names.iter().map(|(name, kind)| (&**name, *kind)).collect();
        let columns = input_columns(&self.table, &names).map_err(|error| bad(error.to_string()))?;
        for (variable, column) in inputs.iter().zip(columns) {
            let table = Table::new(self.table.times.clone(), column.values, column.is_held);
            let table = table.map_err(|error| bad(format!("{error:?}")))?;
            let set = simulation.set_input(variable.slot, Signal::Table(table));
            set.map_err(|error| bad(format!("`{}`: {error}", variable.name())))?;
        }
        Ok(())
    }
}

/// Drives all inputs of the model from the tables, the first that has the column; `given` have values from elsewhere. An input that no
/// table has is a mistake: it would silently stay what it is.
pub fn connect(
    tables: &[Inputs],
    given: &[String],
    model: &Arc<Model>,
    simulation: &mut Simulation,
) -> Result<(), Diagnostic> {
    let Some(last) = tables.last() else { return Ok(()) };
    let inputs = model
        .variables()
        .iter()
        .filter(|v| v.causality == Causality::Input && !given.iter().any(|own| *own == v.name()));
    let inputs: Vec<Variable> = inputs.collect();
    if inputs.is_empty() {
        let why = "the model has no input that could take its values";
        return Err(diagnostics::bad_input(&last.path.display().to_string(), why));
    }
    let source = |input: &Variable| tables.iter().find(|table| table.has(input)).unwrap_or(last);
    for table in tables {
        let own: Vec<Variable> = inputs.iter().copied().filter(|v| std::ptr::eq(source(v), table)).collect();
        table.drive(&own, simulation)?;
    }
    Ok(())
}
