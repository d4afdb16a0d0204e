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
}
