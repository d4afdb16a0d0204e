//! Evaluation of typed expressions and functions at compile time: array sizes, structural parameters, constants.
//!
//! ```text
//! constant Real a[:] = {i^2 for i in 1:3};    ⇒  {1.0, 4.0, 9.0}
//! parameter Integer n = size(a, 1) + 1;       ⇒  4
//! Real x[n];
//! ```
//!
//! [`Evaluator`] executes procedures ([`saltus_procedure`]), and turns an [`saltus_flat::Expr`] into a [`Value`] by the
//! same means; what it does not know (variables, functions, files) it
//! asks an [`Environment`]. [`fold`] simplifies literals without any environment, [`to_expr`] writes a value back as a
//! literal. External functions that are known by name live in [`native`].
//!
//! There is no clock, no random source and no process environment here: the same input gives the same value. A simulation
//! has them and lends them through [`Outside`].

mod array;
mod builtins;
mod calls;
mod diagnostics;
mod environment;
mod evaluator;
mod execute;
mod fold;
mod format;
mod literal;
pub mod native;
mod operators;
mod outside;
mod ranges;
mod reduction;
mod sizes;
mod statements;
mod subscripts;
#[cfg(test)]
mod tests;
mod value;

pub use array::{Array, Items};
pub use diagnostics::{
    negative_size, returned_without_value, size_expected, size_stated, sizes_disagree, used_without_value,
};
pub use environment::{Environment, EvalError, EvalResult, FileKind, Limits};
pub use evaluator::Evaluator;
pub use fold::fold;
pub use format::{format_integer, format_number, justify, real_to_string};
pub use literal::to_expr;
pub use native::{ImpureRandom, Object, is_native, native_names};
pub use operators::MOST_BYTES as MOST_STRING_BYTES;
pub use outside::{Clock, ForeignCall, IncludedFunction, Inclusion, Outside, Reached, UserTable};
pub use sizes::{is_array_warning, is_mistake, names_number};
pub use value::{FunctionValue, Value};
