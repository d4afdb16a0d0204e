//! Graph algorithms on integer indices: which equation determines which unknown ([`matching`]), and in which order
//! equations can be solved ([`components`]). No Modelica, no recursion: depth is bounded by memory, not by the stack.

pub mod components;
pub mod matching;

pub use components::strongly_connected_components;
pub use matching::Matching;
