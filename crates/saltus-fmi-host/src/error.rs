//! What goes wrong with an FMU that runs.

use std::fmt;

use crate::log::{LogLine, Status};

pub type HostResult<T = ()> = Result<T, HostError>;

#[derive(Debug)]
pub enum HostError {
    /// The FMU has no binary for this platform.
    NoBinary { unit: String, platform: String, present: Vec<String> },
    /// The binary cannot be loaded.
    Load { unit: String, reason: String },
    /// The binary lacks a function.
    MissingFunction { instance: String, function: &'static str },
    /// The FMU lacks an interface.
    NoInterface { unit: String, wanted: &'static str },
    /// `instantiate` gave nothing: most often the token of the description is not that of the binary.
    NotInstantiated { instance: String, log: Vec<LogLine> },
    /// A function of the FMU failed.
    Failed { instance: String, function: &'static str, status: Status, log: Vec<LogLine> },
    /// A result is not a number.
    NotANumber { instance: String, what: String, log: Vec<LogLine> },
    /// The FMU asks for another round of its event again and again.
    EndlessEvent { instance: String, rounds: usize },
    /// A step of co-simulation went nowhere.
    NoProgress { instance: String, time: f64, log: Vec<LogLine> },
    /// Something that the simulation asked for and the FMU cannot do.
    Refused { instance: String, reason: String },
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::diagnostics::words(self))
    }
}

impl std::error::Error for HostError {}
