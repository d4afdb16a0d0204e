//! Parts of a program that share no variable: what happens in one of them is none of the others' business.
//!
//! ```text
//! Ball b[1000];      a thousand parts: an event of one ball restarts two states, not two thousand
//! ```
//!
//! In: a program. Out: programs of its parts, or why it has none. [`components`] finds out what belongs together, [`slices`] writes the programs;
//! [`crate::simulation`] runs them side by side.

mod components;
mod slices;

use saltus_program::SimProgram;

use components::Components;
pub(crate) use slices::Part;

/// Why a program is not taken apart.
const ONE_PART: &str = "all its states belong together";

/// The parts of a program, at least two; else why there are none.
pub(crate) fn take_apart(program: &SimProgram) -> Result<Vec<Part>, &'static str> {
    if let Some(obstacle) = components::obstacle(program) {
        return Err(obstacle);
    }
    let components = Components::of(program).ok_or(ONE_PART)?;
    Ok(slices::slice(program, &components))
}
