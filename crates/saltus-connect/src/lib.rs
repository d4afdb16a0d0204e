//! What `connect` means, on plain data: connection sets and their equations, mixing of streams, and the spanning
//! trees of overconstrained connections. Knows neither syntax nor the instance tree: the front end matches the parts of
//! two connectors by name and hands over pairs of primitive variables.
//!
//! ```text
//! connect(load.p, ground.p);            load.p.v = ground.p.v;
//! connect(resistor.p, ground.p);   ⇒    load.p.v = resistor.p.v;
//!                                       load.p.i + ground.p.i + resistor.p.i = 0;
//! ```
//!
//! How the front end uses it:
//!
//! 1. [`ConnectionSets::add_flow`] for every `flow` variable of every connector, with [`Face::Inside`] – also for the
//!    connectors of the model itself (nothing flows into them from an environment that is not there). Flow variables
//!    that came into being with an expandable connector are added with both faces.
//! 2. [`ConnectionSets::connect`] for every matched pair of every `connect`, or [`ConnectionSets::connect_each`] for a box of them.
//! 3. [`ConnectionSets::finish`] gives equations, messages and the [`StreamTable`] that answers `inStream` and
//!    `actualStream`.
//!
//! Overdetermined parts (types with `equalityConstraint`) go through [`graph::ConnectionGraph`] first; see there.
//!
//! Specification: chapter 9 (connectors), chapter 15 (streams).

mod cardinality;
mod check;
mod diagnostics;
mod end;
mod equations;
mod fold;
pub mod graph;
mod local;
mod sets;
mod streams;

pub use cardinality::Cardinality;
pub use end::{Direction, End, Face, Kind, Variables};
pub use local::LocalConnections;
pub use sets::{Connected, ConnectionSets, Folding, Stride};
pub use streams::{FLOW_TOLERANCE, StreamTable};
