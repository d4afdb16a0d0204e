//! Who looks over the shoulder of a run: a [`Witness`] sees the whole memory at every point that is part of the solution.
//!
//! ```text
//! Initial   Before Round … After   Between … Between   Before Round Round After   Between …
//!           └ first event                               └ an event in two rounds
//! ```
//!
//! Nothing that a witness does changes the run.

use saltus_program::Moment;

pub trait Witness: Send {
    /// The memory of the program at the time in it, by slot.
    fn see(&mut self, moment: Moment, memory: &[f64]);

    /// A configuration is entered at this instant.
    fn jumped(&mut self, _jump: &Jump) {}
}

/// What jumps where a configuration is entered, by slot as in [`Witness::see`].
pub struct Jump {
    /// What has no value is not a number.
    pub before: Vec<f64>,
    /// With the discrete variables that the event has settled.
    pub after: Vec<f64>,
    /// Integrals over the instant of what was infinite.
    pub impulses: Vec<(usize, f64)>,
}
