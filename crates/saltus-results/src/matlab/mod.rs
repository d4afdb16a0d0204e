//! MATLAB files: matrices of Reals by name, after the published format description of The MathWorks ("MAT-File Format").
//!
//! Data are column-major in the file and row-major in [`Matrix`]. [`crate::Format::Mat`] is a table in such matrices.

mod read;
mod write;

pub use read::read_matrix;
pub(crate) use read::{Entry4, entries4};
pub use write::with_matrix;
pub(crate) use write::{Type4, head4};

/// A matrix in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub items: Vec<f64>,
}

impl Matrix {
    /// From column-major items; `None` if their number is wrong.
    fn from_columns(rows: usize, columns: usize, by_column: &[f64]) -> Option<Matrix> {
        if rows.checked_mul(columns)? != by_column.len() {
            return None;
        }
        let items = (0..by_column.len()).map(|i| by_column[(i % columns) * rows + i / columns]).collect();
        Some(Matrix { rows, columns, items })
    }
}

/// What MATLAB calls the version of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    V4,
    /// Version 5 without compression.
    V6,
    /// Version 5 with compression.
    V7,
}

impl Version {
    pub fn from_name(name: &str) -> Result<Version, String> {
        match name {
            "4" => Ok(Version::V4),
            "6" => Ok(Version::V6),
            "7" => Ok(Version::V7),
            _ => Err(format!("`{name}` is not a format of matrices; known are `4`, `6` and `7`")),
        }
    }
}
