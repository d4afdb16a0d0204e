//! The studio: a local web application to look at a model, run it and see what happened.
//!
//! The principal type is [`Server`]. In: a directory, a file or a class of the user. Out: pages in a browser on the same machine, until
//! the process ends. What is served is part of the program; what is asked goes to the same sessions, models and runs that the command line uses.
//!
//! [`http`] reads and writes, [`gate`] says who may ask and [`places`] how many, [`api`] what, [`studio`] holds the documents and the two sessions, [`runs`] the
//! simulations, [`searches`] what is searched for with them. docs/design/studio.md says why it is built like that.

mod api;
mod archive;
mod assets;
mod desk;
pub mod diagnostics;
mod documents;
mod event_file;
mod events;
mod gate;
mod going;
mod http;
mod hub;
mod memory;
mod messages;
mod offsets;
mod places;
mod reading;
mod recording;
mod runs;
mod searches;
mod series;
mod server;
mod studio;
mod target;
mod views;

use std::path::PathBuf;

use saltus::Permissions;
use saltus_program::Stopwatch;

pub use server::Server;

/// What the command line knows.
#[derive(Clone, Default)]
pub struct Settings {
    /// A directory, a file or a class; `.` is the usual one.
    pub target: String,
    pub libraries: Vec<PathBuf>,
    /// The value of `MODELICAPATH`.
    pub modelica_path: Option<String>,
    /// Any free one otherwise.
    pub port: Option<u16>,
    pub permissions: Permissions,
    pub stopwatch: Stopwatch,
    /// Where addresses, unsaved texts and runs are kept from one server to the next.
    pub memory: Option<PathBuf>,
}
