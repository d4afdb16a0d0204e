//! Functional mock-up units that run: the binary of this platform is loaded from a temporary directory and called.
//!
//! [`Fmu`] is an archive that was opened, [`Instance`] calls its functions one by one in the modes of the standard, and
//! [`Component`] is what a simulation uses: derivatives, indicators and outputs as functions of a point, events and steps.
//!
//! Only this crate calls the functions of FMUs. Foreign code runs as soon as an instance is made: whoever does that has asked
//! the user.
//!
//! Invariants: what is extracted goes when the last instance has gone; an instance is freed when it is dropped; every failure
//! carries the name of the instance and the last lines that the FMU has logged.

mod clocks;
mod component;
pub mod diagnostics;
mod error;
mod ffi;
mod fmu;
mod instance;
mod instance2;
mod instance3;
mod log;
mod probe;
mod temporary;

pub use component::{Component, Event, Input, Point, Step};
pub use error::{HostError, HostResult};
pub use fmu::Fmu;
pub use instance::{Discrete, Instance, Interval, Progress, Settings};
pub use log::{LogLine, Status};
pub use probe::probe;
