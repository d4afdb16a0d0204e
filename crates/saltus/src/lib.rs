//! Modelica compiler and hybrid simulator: the single pipeline and what a user sees of it.

pub mod diagnostics;
pub mod guard;
pub mod render;
mod session;

pub use session::Session;
