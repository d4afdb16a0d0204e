//! Models as functional mock-up units (FMI 2.0 and 3.0).
//!
//! In: a compiled [`Model`](saltus::Model). Out: an archive with its description, its binary form and the runtime for one or more
//! platforms ([`package`]); and what the runtime does when the archive is used ([`instance`]), as safe code without a word of C.
//!
//! The runtime is the same for every model: the library `saltus-fmu`, which reads `resources/model.saltus`.

pub mod carried;
mod dependencies;
pub mod description;
pub mod diagnostics;
pub mod instance;
pub mod package;
pub mod references;
pub mod runtimes;
pub mod units;

pub use instance::{Instance, Kind, Severity};
pub use package::{Export, Runtime, export};
