//! Clocks as plain data: exact rational numbers, and the intervals and shifts of sub-clocks that follow from conversions.
//!
//! ```text
//! c1 = Clock(1, 10);                       c1 ticks at 0, 1/10, 2/10, …
//! c2 = subSample(c1, 3);          ⇒        c2 ticks at 0, 3/10, 6/10, …
//! c3 = shiftSample(c2, 1, 2);              c3 ticks at 3/20, 9/20, …
//! ```
//!
//! (Specification: section 16.7, clock partitioning.)

pub mod infer;
pub mod rational;

pub use infer::{ClockError, Conversion, ConversionKind, Graph, Source, Ticks, infer};
pub use rational::Rational;
