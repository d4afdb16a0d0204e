//! Type rules of Modelica's operators, array constructors, subscripts, conversions and built-in functions.
//!
//! In: typed flat expressions whose names are resolved. Out: one typed flat expression; what is wrong is reported to the
//! [`Context`] and becomes an expression of type `Error`, about which nobody complains again.
//!
//! ```text
//! Real x[3]; Integer n;
//! 2 * x        ⇒  Mul(2.0, x)        : Real[3]
//! x * x        ⇒  MatMul(x, x)       : Real
//! x + n        ⇒  error[E0303], hint: `.+`
//! n / 2        ⇒  Div(Cast(n), 2.0)  : Real
//! ```
//!
//! The front end calls these functions bottom-up. Overloaded operators of records are its business; a record that
//! arrives here as an operand is an error. Nothing is evaluated except negated literals, sizes and constant subscripts
//! of array constructors.
//!
//! Specification: chapters "Operators and Expressions", "Arrays", "Interface or Type Relationships",
//! "Synchronous Language Elements", "State Machines".

mod array;
mod builtin;
mod concatenation;
mod context;
mod conversion;
mod diagnostics;
mod equation;
mod field;
mod literal;
mod names;
mod operators;
mod product;
mod range;
mod reduction;
mod shape;
mod subscripts;
mod variability;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use array::array;
pub use builtin::{builtin, enumeration_from_integer, result_types};
pub use concatenation::matrix;
pub use context::{Context, Place};
pub use conversion::{check_parts, convert};
pub use diagnostics::is_about_sizes;
pub use equation::{equation, tuple};
pub use field::{choice, field, slice};
pub use literal::literal_integer;
pub use names::type_name;
pub use operators::{binary, if_expression, unary};
pub use range::range;
pub use reduction::{is_reducible, reduction};
pub use shape::common_element;
pub use subscripts::{SubscriptArgument, index};
pub use variability::variability;
