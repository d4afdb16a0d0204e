//! Directional derivatives of a program, exact to rounding.
//!
//! In: a program and the slots whose derivatives are wanted. Out: these derivatives at a point along any direction. [`program`]
//! makes a program of tangents, block by block with [`code`] and the [`rules`] of elementary functions; [`evaluate`] runs it
//! as any other program, so that machine code takes it over when it is hot. It is made when derivatives are asked for first.

mod alike;
mod code;
mod evaluate;
mod layout;
mod program;
mod repeat;
pub(crate) mod rules;
#[cfg(test)]
mod tests;

pub use evaluate::{Evaluator, Kept, Tangents};
