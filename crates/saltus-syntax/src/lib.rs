//! Modelica text in, syntax tree out, and back.

pub mod ast;
