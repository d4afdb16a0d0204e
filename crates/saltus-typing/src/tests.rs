//! The type rules on Modelica text: what comes out, and every message word by word.

mod arrays;
mod builtins;
mod call_messages;
mod conversions;
mod messages;
mod operators;
mod variability;
