//! Modelica compiler and hybrid simulator: the single pipeline and what a user sees of it.
//!
//! ```
//! use saltus::{Session, pipeline};
//! use saltus::pipeline::{Options, Stage};
//! use saltus_library::MemoryFiles;
//!
//! let mut session = Session::new(Box::new(MemoryFiles::new()));
//! session.set_text("Decay.mo", "model Decay Real x(start = 1); equation der(x) = -x; end Decay;");
//! let class = session.class(None).unwrap();
//! let outcome = pipeline::run(&session, class, &Options::until(Stage::Check));
//! assert!(!outcome.has_errors());
//! assert_eq!(outcome.balance.unwrap().unknowns, 1);
//! ```

pub mod audit;
pub mod chart;
pub mod clock_variables;
pub mod configurations;
pub mod container;
pub mod derivatives;
pub mod diagnostics;
pub mod estimate;
pub mod explain;
pub mod fmu;
#[cfg(feature = "jit")]
mod free_cores;
pub mod guard;
pub mod linearize;
pub mod model;
#[cfg(not(feature = "jit"))]
mod no_foreign;
pub mod pipeline;
pub mod profile;
pub mod render;
mod resources;
pub mod results;
pub mod search;
pub mod sensitivity;
mod session;
pub mod settable_starts;
mod shipped;
mod simulation;
mod start;
pub mod stats;
pub mod stream;
pub mod study;
pub mod suite;
mod watchdog;

pub use model::Model;
pub use profile::Profile;
pub use session::{Flattening, NotOwn, Permissions, Report, Session};
pub use shipped::ShippedFiles;
pub use simulation::{AccessError, Settings, Simulation};
pub use start::Start;
pub use stream::Stream;

pub use saltus_sim::{Advance, Signal, State};
