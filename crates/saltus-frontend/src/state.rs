//! The state of one flattening, in the order in which data flows through it.
//!
//! ```text
//! Request ─ what was asked for         Budget   ─ how much work was done
//! Tree    ─ instances                  Imports  ─ names found through imports
//! Sizes   ─ dimensions of components   Types    ─ enumerations and records
//! Functions ─ signatures and bodies    Context  ─ loops around the present expression
//! Network ─ connections                Overconstrained ─ the graph of roots and branches
//! Templates ─ arrays that are instantiated once
//! Checks  ─ rules to check at the end  Messages ─ what is reported
//! ```
//!
//! A group knows nothing of the others. What needs several of them is a method of `Front`.

mod budget;
mod checks;
mod context;
mod functions;
mod imports;
mod messages;
mod network;
mod overconstrained;
mod request;
mod sizes;
mod templates;
mod tree;
mod types;

pub use budget::Budget;
pub use checks::Checks;
pub use context::Context;
pub use functions::Functions;
pub use imports::Imports;
pub use messages::{Mark, Messages};
pub use network::Network;
pub use overconstrained::Overconstrained;
pub use request::Request;
pub use sizes::Sizes;
pub use templates::Templates;
pub use tree::Tree;
pub use types::Types;
