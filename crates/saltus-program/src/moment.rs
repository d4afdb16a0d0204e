//! The points of a run that an observer may look at.

/// What a point of a run is.
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
