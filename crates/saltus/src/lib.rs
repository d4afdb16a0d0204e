//! The single pipeline of Saltus and what a user sees of it.

pub mod render;
