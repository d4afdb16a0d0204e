//! Simulates a program: initialisation, integration with event location, event iteration, results.
//!
//! In: something that evaluates a [`SimProgram`](saltus_program::SimProgram) ([`ModelFunctions`](saltus_program::ModelFunctions)).
//! Out: a [`Simulation`], which goes on as far as it is asked to and can be saved, restored and changed in between; a
//! [`SimError`] says when, where and why it cannot go on. [`simulate`] runs one to its end.
//!
//! Between events relations are frozen, so that the right-hand side is smooth. A step of the integrator is searched for
//! relations that would change; the first change is located to the resolution of time, the model is evaluated in rounds
//! until nothing changes any more, and integration goes on. See [`crossing`] and [`simulation`].

mod catalogue;
mod clocks;
mod constants;
pub mod costs;
mod crossing;
mod cycle;
pub mod dependence;
mod error;
mod event;
pub mod exchange;
mod groups;
mod history;
mod inputs;
mod integration;
mod jumps;
mod masking;
mod model;
pub mod options;
mod parts;
mod profile;
mod proof;
mod quantised;
pub mod record;
pub mod rows;
mod run;
mod selection;
pub mod simulation;
mod sink;
mod sliding;
mod story;
mod structure;
mod surfaces;
pub mod trajectory;
mod translation;
mod witness;
mod zeno;

pub use catalogue::{Columns, Listed};
pub use costs::{Activity, ActivityCost, CauseCosts, ConditionCosts, RunCosts, StateCosts};
pub use error::{SimError, SimErrorKind};
pub use exchange::Exchange;
pub use inputs::{BadTable, Line, Signal, Table};
pub use options::{EventSearch, Options, Recorded, Solver, ZenoPolicy};
pub use record::{Change, Consequence, EventCause, EventKind, EventRecord, write_events};
pub use rows::Rows;
pub use run::{advance_to_end, advance_until, run, simulate, simulate_observed};
pub use saltus_program::MixedMethod;
pub use saltus_program::Moment;
pub use simulation::{Advance, CannotRestore, CannotSave, CannotSet, Foreseen, Progress, Simulation, State};
pub use simulation::{Configurations, Unmade};
pub use sink::{Header, Recorder, Sink, SinkError};
pub use story::write_story;
pub use trajectory::{End, RelationDetection, Segment, Statistics, Trajectory, Warning, WarningKind};
pub use witness::{Jump, Witness};
