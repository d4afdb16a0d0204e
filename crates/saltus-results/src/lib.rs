//! Results of simulations as tables of signals over time: files of several formats, and the comparison of two tables.
//!
//! In: series of values with name, unit and description. Out: the same from a file, or bytes of a file.
//!
//! ```
//! use saltus_results::{Format, Kind, Results};
//!
//! let mut results = Results::new("Ramp", vec![0.0, 1.0]);
//! results.add_series("x", "Height", "m", Kind::Real, vec![0.0, 2.0]);
//! results.add_constant("k", "Slope", "m/s", Kind::Real, 2.0);
//! let file = results.encode(Format::Mat).unwrap();
//! let read = Results::read(&file, Format::Mat, "Ramp").unwrap();
//! assert_eq!(read.values("x").as_deref(), Some(&[0.0, 2.0][..]));
//! assert_eq!(read.signal("x").unwrap().unit, "m");
//! ```
//!
//! Invariants: every column has as many values as there are times; times do not decrease; an event has two rows with the same
//! time. Only [`Writer`] touches the disk.

pub mod compare;
mod csv;
mod encode;
mod growing;
mod input;
mod kept;
mod mat;
pub mod matlab;
mod names;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod runs;
mod set_file;
mod signal;
mod table;
mod twin;
mod writer;

pub use compare::{Comparison, Difference, Tube, compare};
pub use growing::WriteError;
pub use input::{InputColumn, InputError, input_columns};
pub use kept::Kept;
pub use names::Pattern;
pub use runs::{Run, Runs};
pub use set_file::{Problem, SetFileError, parse_set_file};
pub use signal::{Format, Header, Kind, Signal, Source};
pub use table::{ReadError, Results};
pub use writer::{Destination, Lines, Writer};
