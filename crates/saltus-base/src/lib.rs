//! The vocabulary every stage of the compiler shares: where something stands in a source file ([`Span`]),
//! what it is called ([`Name`]), typed indices into tables ([`IdVec`]) and what is said about it to the
//! user ([`Diagnostic`]), and which name a misspelt one was meant to be ([`nearest`]).
//!
//! Nothing here knows Modelica, does IO or keeps global state.

// Ids are defined by a macro that names this crate.
extern crate self as saltus_base;

mod diagnostic;
mod digits;
mod id_vec;
mod name;
mod printable;
mod source;
mod spelling;

#[doc(hidden)]
pub use serde;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Fix, Fixes, Label, Place, Severity};
pub use digits::digits;
pub use id_vec::{IdVec, Index};
pub use name::{Interner, Name};
pub use printable::{printable, printable_json, sign};
pub use source::{FileId, LineColumn, LineIndex, SourceFile, SourceMap, SourceTexts, Span};
pub use spelling::{all_nearest, nearest};
