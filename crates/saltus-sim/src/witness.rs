//! Who looks over the shoulder of a run: a [`Witness`] sees the whole memory at every point that is part of the solution.
//!
//! ```text
//! Initial   Before Round … After   Between … Between   Before Round Round After   Between …
//!           └ first event                               └ an event in two rounds
//! ```
//!
//! Nothing that a witness does changes the run.

/// What a point is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// The initial system is solved.
    Initial,
    /// An output point between two events; relations keep the values of the last event.
    Between,
    /// The left limit at an event.
    Before,
    /// An event round is about to be evaluated: memory holds the `pre` values of that round.
    RoundBegins,
    /// An event round has been evaluated; `reinit`s and new `pre` values are still to come.
    Round,
    /// The right limit: the event is settled.
    After,
    /// On a slide along a threshold: the mean of two points that solve the equations, which does not solve them itself.
    Sliding,
}

pub trait Witness: Send {
    /// The memory of the program at the time in it, by slot.
    fn see(&mut self, moment: Moment, memory: &[f64]);
}
