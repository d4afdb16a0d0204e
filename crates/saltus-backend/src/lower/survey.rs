//! How far lowering gets with a model: counts and messages, without sorting.
//!
//! For measuring the back end on libraries, see `examples/lower.rs`.

use saltus_base::Diagnostics;
use saltus_flat::FlatModel;

use crate::{equations, parameters, system};

pub struct Survey {
    pub n_slots: usize,
    pub n_unknowns: usize,
    pub n_equations: usize,
    pub n_initial_equations: usize,
    pub n_relations: usize,
    pub n_nodes: usize,
    /// Names of the functions that are called at run time.
    pub callables: Vec<String>,
    pub diagnostics: Diagnostics,
}

pub fn survey(model: &FlatModel) -> Survey {
    let mut diagnostics = Diagnostics::new();
    let mut system = system::declare_variables(model);
    parameters::lower_parameters(model, &mut system, &mut diagnostics);
    parameters::lower_start_values(model, &mut system, &mut diagnostics);
    equations::lower_equations(model, None, &mut system, &mut diagnostics);
    Survey {
        n_slots: system.slots.len(),
        n_unknowns: system::event_unknowns(&system).len(),
        n_equations: system.equations.len(),
        n_initial_equations: system.initial_equations.len(),
        n_relations: system.relations.len(),
        n_nodes: system.dag.len(),
        callables: system.callable_names.values().cloned().collect(),
        diagnostics,
    }
}
