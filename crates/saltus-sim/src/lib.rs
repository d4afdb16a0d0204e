//! Simulates a program: initialisation, integration with event location, event iteration, results.
//!
//! In: a [`SimProgram`] and something that evaluates it ([`ModelFunctions`]). Out: a [`Trajectory`], or a [`SimError`] that
//! says when, where and why it ended and keeps what was computed until then.
//!
//! Between events relations are frozen, so that the right-hand side is smooth. A step of the integrator is searched for
//! relations that would change; the first change is located to the resolution of time, the model is evaluated in rounds
//! until nothing changes any more, and integration goes on. See [`crossing`] and [`engine`].

mod clocks;
pub mod crossing;
pub mod engine;
pub mod error;
mod event;
mod history;
mod integration;
mod model;
pub mod options;
pub mod record;
pub mod rows;
mod selection;
mod sliding;
mod story;
mod structure;
pub mod trajectory;
mod zeno;

pub use engine::{Progress, simulate, simulate_observed};
pub use error::{SimError, SimErrorKind};
pub use options::{Options, Recorded, Solver, ZenoPolicy};
pub use record::{Change, Consequence, EventCause, EventKind, EventRecord, write_events};
pub use rows::Rows;
pub use saltus_program::MixedMethod;
pub use story::write_story;
pub use trajectory::{End, Segment, Statistics, Trajectory, Warning, WarningKind};
