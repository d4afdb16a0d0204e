//! The runtime of exported models: the functions of FMI 2.0 and 3.0 in one library, the same for every model.
//!
//! In: calls from C. Out: calls of [`saltus_export::Instance`]. What is here is thin: pointers become references and slices, results
//! become status codes, messages go to the importer's logger. No panic leaves a function ([`border`]); an instance after a panic answers
//! every call with `Fatal`. Instances share nothing, so that each may be used by a thread of its own.

mod border;
pub mod clocks3;
pub mod fmi2;
pub mod fmi3;

pub use border::{Component, Status};
