//! The runtimes of FMUs that were there when this crate was built.
//!
//! ```sh
//! cargo build --release -p saltus-fmu
//! cargo build --release -p saltus-cli --features embed-runtime
//! ```
//!
//! A program that must contain one asserts that the list is not empty; without a runtime this crate is empty, so that a build of the whole
//! workspace needs none.

/// For each runtime the platform as FMI 3.0 names it (`x86_64-linux`), and the bytes of the library.
pub const RUNTIMES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));
