//! From the flat hybrid DAE to a simulation program.
//!
//! In: a [`FlatModel`]. Out: a [`SimProgram`], or diagnostics that say which equation could not be handled.
//!
//! ```text
//! der(x) = -y;                     derivatives: y := 2 * x; der(x) := -y
//! y / 2 = x;
//! ```
//!
//! The passes are the list in [`sort`]. What is not handled yet is reported as such (codes E08xx).

mod alias;
mod blocks;
mod bounds;
mod builtins;
mod chains;
mod changing_strings;
mod clocks;
mod coder;
mod configure;
mod dag;
mod deadlock;
mod decide;
mod derivative_callables;
mod derivative_functions;
pub mod describe;
mod diagnostics;
mod differentiate;
mod element_order;
mod emit;
mod emit_variables;
mod entry;
mod equations;
mod families;
mod guards;
mod guesses;
mod hidden_constraints;
mod history;
mod index_changes;
mod initial;
mod initial_reinits;
mod jacobian;
mod linearize;
mod lower;
mod machine_entry;
mod magnitudes;
mod multiply_out;
mod occurrence;
mod outline;
mod parameters;
mod reduce_index;
mod select_states;
mod share;
mod small_loops;
mod solve;
mod sort;
mod sorted;
mod start_choice;
mod state_machines;
mod state_sets;
mod states;
mod structure;
mod superfluous;
mod system;
#[cfg(test)]
mod tests;
mod tuning;
mod verify;
mod wanted_states;
mod when;

use saltus_base::Diagnostics;
use saltus_flat::FlatModel;
use saltus_program::SimProgram;

pub use describe::Description;
pub use diagnostics::{is_index_change, is_of_assumptions, is_structurally_singular};
pub use sorted::{Derivative, SortedSystem, sort, sort_in, sort_scalars};

/// Sorts a model and makes the program of it.
pub fn compile(model: &FlatModel) -> Result<SimProgram, Diagnostics> {
    sort(model).map(|sorted| sorted.emit(model))
}
