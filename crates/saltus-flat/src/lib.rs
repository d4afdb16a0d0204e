//! The flat hybrid DAE: what a Modelica class means once inheritance, modification, lookup and connections are
//! resolved. Data only, produced by `saltus-frontend` and consumed by `saltus-backend`.
//!
//! ```text
//! model A                                  class A
//!   Resistor r(R = 2);           ⇒           parameter Real r.R(unit = "Ohm") = 2;
//!   …                                        Real r.v(unit = "V"); …
//! end A;                                   equation
//!                                            r.v = r.R * r.i; …
//! ```
//!
//! Invariants (checked by [`verify`]): every id is in range, every expression's type agrees with its parts, names are
//! unique, equations have equal types on both sides, `Local`s are bound.
//!
//! What is gone: classes, components of class type, `connect`, `for`-equations, conditional components, names. What is
//! still here: arrays of built-in types with whole-array equations, records as values, functions, `if`- and
//! `when`-equations, algorithm sections.

pub mod assigned;
pub mod build;
pub mod configuration;
pub mod count;
pub mod element;
pub mod expr;
pub mod family;
pub mod function;
pub mod json;
pub mod model;
pub mod print;
pub mod print_expr;
#[cfg(test)]
mod tests;
pub mod types;
pub mod uses;
pub mod verify;
mod verify_expr;

pub use configuration::{ActiveStates, EntryEquation, MachineState, Origin as StateOrigin, Treatment};
pub use count::{Balance, balance};
pub use element::element_name;
pub use expr::{BinaryOp, Builtin, Expr, ExprKind, Iterator, ReductionOp, Subscript, UnaryOp};
pub use function::{
    External, ExternalArgument, Function, FunctionDerivative, FunctionInverse, Local, Passing, Purity, defines_code,
};
pub use json::to_json;
pub use model::{
    Algorithm, Attributes, Causality, Component, Confidence, Equation, EquationKind, Experiment, FlatModel, Origin,
    Prefix, Statement, StatementKind, Variability, Variable,
};
pub use print::{ModelNames, print};
pub use print_expr::{Names, print_expr};
pub use types::{BaseType, Dim, EnumType, RecordField, RecordType, Type};
pub use verify::verify;

saltus_base::define_id! {
    /// A variable of the flat model.
    pub struct VarId;
    /// A local variable of a function, or an iteration variable.
    pub struct LocalId;
    /// A function.
    pub struct FunctionId;
    /// A record type.
    pub struct RecordId;
    /// An enumeration type.
    pub struct EnumId;
}
