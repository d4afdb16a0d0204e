//! Constants of the event engine that no theory gives: where each comes from, and the smallest model that needs it.
//!
//! Names ending in a test function say where the need for the constant is shown; without the constant, or with another order
//! of magnitude, that test fails.

/// Points of each step that a history of `delay` keeps: enough for interpolation of third order inside of one step.
pub(crate) const HISTORY_POINTS: u32 = 4;

/// Delays shorter than this part of the time span do not shorten steps: a million steps are the most that a run should need
/// because of a delay.
pub(crate) const SHORTEST_DELAY: f64 = 1e-6;

/// Alternating variables named in a message: more do not fit on a line.
pub(crate) const MOST_ALTERNATIVES: usize = 8;

/// A violation of a relation that an event has made smaller by this factor counts as undone. Found with two brakes that share
/// one load, where an event moves load from one to the other.
pub(crate) const PUT_RIGHT: f64 = 1e-3;

/// Violations that are undone in this way may grow up to this times the magnitude of the operands before the next event.
pub(crate) const LARGEST_SHIFT: f64 = 1e-3;

/// Smallest gap between two such events that still counts as progress, as a part of the time span.
pub(crate) const EVENT_PROGRESS: f64 = 1e-6;

/// Shorter and shorter steps that are tried where the crossing functions cannot be evaluated: each is a quarter of the last, so
/// that 40 of them reach the resolution of time from any step.
pub(crate) const MOST_STEP_RETRIES: u32 = 40;

/// With fewer steps than this since the last event, the step size of before is the best guess for the one after it.
pub(crate) const FREQUENT_EVENTS: u64 = 25;

/// How far ahead the direction of a crossing function is looked up along the tangent, as a part of the next step.
pub(crate) const LOOK_AHEAD: f64 = 1e-3;
