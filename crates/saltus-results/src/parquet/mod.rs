//! Apache Parquet: a column for each signal that varies, compressed, in row groups.
//!
//! Reals are DOUBLE, Booleans BOOLEAN, Integers and enumerations INT64; where a value is not known they are null. Unit, description, type
//! and literals are metadata of the column, in the schema of Arrow that Parquet files carry beside their own, so that `pyarrow` shows them
//! in `schema.field(i).metadata`. Parameters stand in the metadata of the file, `parameter:e`, with `unit:e` and `description:e`.
//!
//! Read is every flat Parquet file with columns of numbers, whoever wrote it.

mod arrow_schema;
mod read;
mod write;

pub use read::read;
pub(crate) use write::ParquetEncoder;

/// Key of the file's metadata under which the schema of Arrow stands.
const ARROW_SCHEMA: &str = "ARROW:schema";
/// Was the run complete? `true` or `false`.
const COMPLETE: &str = "complete";

/// Keys of a column's metadata.
const UNIT: &str = "unit";
const DISPLAY_UNIT: &str = "displayUnit";
/// `false` for a difference of two values, as the annotation of Modelica says it.
const ABSOLUTE_VALUE: &str = "absoluteValue";
const DESCRIPTION: &str = "description";
const TYPE: &str = "type";
/// One literal a line.
const LITERALS: &str = "literals";
