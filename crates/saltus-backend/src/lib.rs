//! From the flat hybrid DAE to a simulation program.
//!
//! In: a [`FlatModel`]. Out: a [`SimProgram`], or diagnostics that say which equation could not be handled.
//!
//! ```text
//! der(x) = -y;                     derivatives: y := 2 * x; der(x) := -y
//! y / 2 = x;
//! ```
//!
//! The passes are the list in [`compile`]. What is not handled yet is reported as such (codes E08xx).

mod alias;
mod blocks;
mod builtins;
mod clocks;
mod dag;
mod decide;
mod diagnostics;
mod differentiate;
mod emit;
mod equations;
mod initial;
mod jacobian;
mod lower;
mod occurrence;
mod parameters;
mod reduce_index;
mod solve;
mod sort;
mod states;
mod structure;
mod system;
#[cfg(test)]
mod tests;
mod when;

use saltus_base::Diagnostics;
use saltus_flat::FlatModel;
use saltus_program::SimProgram;

pub use lower::survey::{Survey, survey};

pub fn compile(model: &FlatModel) -> Result<SimProgram, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut system = system::declare_variables(model);
    let clocking = clocks::survey::survey(model);
    if let Some(clocking) = &clocking {
        clocks::survey::mark_clocked(&mut system, clocking);
    }
    parameters::lower_parameters(model, &mut system, &mut diagnostics);
    parameters::lower_start_values(model, &mut system, &mut diagnostics);
    equations::lower_equations(model, clocking.as_ref(), &mut system, &mut diagnostics);
    equations::check_reinits(&system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    if clocking.is_some() {
        clocks::partition::partition(&mut system, &mut diagnostics);
        stop_on_errors(&mut diagnostics)?;
    }
    decide::decide_structure(model, &mut system, &mut diagnostics);
    let aliases = alias::eliminate_aliases(&mut system);
    let clocked = clocks::solve::solve_all(model, &mut system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let preferences = states::Preferences::read(model, &system, &aliases);
    reduce_index::reduce_index(model, &mut system, &preferences, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let orders = sort::sort_equations(&mut system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    let mut initial = clocks::emit::start_values(&mut system, &clocked);
    initial.extend(initial::sort_initial(&mut system, &mut diagnostics));
    let parameters = parameters::sort_parameters(&mut system, &mut diagnostics);
    stop_on_errors(&mut diagnostics)?;
    Ok(emit::emit(model, system, &aliases, &parameters, &initial, &orders, &clocked))
}

/// Later passes rely on what earlier ones have found.
fn stop_on_errors(diagnostics: &mut Diagnostics) -> Result<(), Diagnostics> {
    if diagnostics.has_errors() { Err(std::mem::take(diagnostics)) } else { Ok(()) }
}
