//! Functions as procedures: the one lowered form that compile-time evaluation, interpretation, machine code and
//! differentiation execute.
//!
//! ```text
//! function root                              procedure root
//!   input Real x;                              registers  x r0, y r1, temporaries r2 r3 r4
//!   output Real y = 1;              ⇒          r1 := 1
//! algorithm                                    while { r2 := r1 * r1;  r3 := r2 - r0;  r4 := abs(r3);  r2 := r4 > 1e-9 } r2
//!   while abs(y*y - x) > 1e-9 loop               r2 := r0 / r1;  r3 := r1 + r2;  r2 := r3 / 2
//!     y := (y + x/y)/2;                          assign r1 := r2
//!   end while;
//! end root;
//! ```
//!
//! [`form`] is the data, [`lower`] makes it of a typed function, [`verify`] states what holds of it, [`scalar`] says what
//! the elementary operations on numbers mean, [`differentiate`] writes the derivatives of functions. Who executes it: `saltus-eval` on values of any kind and size,
//! `saltus-runtime` on frames of `f64` where all sizes are known, `saltus-jit` as machine code of those frames.

pub mod assigned;
pub mod differentiate;
pub mod form;
pub mod lower;
pub mod scalar;
#[cfg(test)]
mod tests;
pub mod verify;

pub use assigned::assigned;
pub use form::{
    Argument, Block, Body, Callee, Code, Expression, External, ExternalArgument, Iteration, Literal, Local, Op,
    Operand, Over, PathStep, Procedure, Register, Step, Subscript,
};
pub use lower::{lower, lower_expression, lower_template};
pub use scalar::{BinaryFn, LARGEST_INTEGER, UnaryFn};
pub use verify::verify;
