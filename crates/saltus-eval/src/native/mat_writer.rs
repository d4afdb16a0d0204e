//! Writes matrices of Reals into MATLAB files of version 4 ("4") and version 5, plain ("6") or with deflate ("7"), after
//! the published format description of The MathWorks ("MAT-File Format"). Matrices of other names are kept.
//!
//! In: the bytes of a file, empty for a new one. Out: its new bytes; the matrix comes last. [`super::mat`] reads them.

use super::mat::Matrix;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Version4,
    Version6,
    Version7,
}

impl Format {
    pub fn from_name(name: &str) -> Result<Format, String> {
        match name {
            "4" => Ok(Format::Version4),
            "6" => Ok(Format::Version6),
            "7" => Ok(Format::Version7),
            _ => Err(format!("`{name}` is no format of matrices; known are `4`, `6` and `7`")),
        }
    }
}

const HEADER: &[u8] = b"MATLAB 5.0 MAT-file, written by Saltus";
/// Length of the text and of the fields after it (subsystem, version, byte order).
const TEXT_BYTES: usize = 116;
const HEADER_BYTES: usize = 128;
const KIND_INT8: u32 = 1;
const KIND_INT32: u32 = 5;
const KIND_UINT32: u32 = 6;
const KIND_DOUBLE: u32 = 9;
const KIND_MATRIX: u32 = 14;
const KIND_COMPRESSED: u32 = 15;
const CLASS_DOUBLE: u32 = 6;
const COMPRESSION_LEVEL: u8 = 6;

/// The file `before` with the matrix in addition, in place of one of the same name.
pub fn with_matrix(before: &[u8], name: &str, matrix: &Matrix, format: Format) -> Result<Vec<u8>, String> {
    let is_version5 = before.starts_with(b"MATLAB ");
    if !before.is_empty() && is_version5 != (format != Format::Version4) {
        return Err("the file has another format, so nothing can be added to it".into());
    }
    let size = |n: usize| u32::try_from(n).map_err(|_| "the matrix is too large for the format".to_owned());
    let (rows, columns) = (size(matrix.rows)?, size(matrix.columns)?);
    size(matrix.items.len().saturating_mul(8))?;
    let mut bytes = super::mat::without_matrix(before, name)?;
    match format {
        Format::Version4 => {
            let text = [name.as_bytes(), &[0]].concat();
            for field in [0, rows, columns, 0, size(text.len())?] {
                bytes.extend(field.to_le_bytes());
            }
            bytes.extend(text);
            bytes.extend(by_column(matrix));
        }
        Format::Version6 | Format::Version7 => {
            if bytes.is_empty() {
                bytes.extend(header());
            }
            let element = element(KIND_MATRIX, &content(name, matrix, rows, columns));
            if format == Format::Version6 {
                bytes.extend(element);
            } else {
                let packed = miniz_oxide::deflate::compress_to_vec_zlib(&element, COMPRESSION_LEVEL);
                bytes.extend(KIND_COMPRESSED.to_le_bytes());
                bytes.extend((packed.len() as u32).to_le_bytes());
                bytes.extend(packed);
            }
        }
    }
    Ok(bytes)
}

fn header() -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    bytes.resize(TEXT_BYTES, b' ');
    bytes.resize(HEADER_BYTES - 4, 0);
    bytes.extend(0x0100u16.to_le_bytes());
    bytes.extend(b"IM");
    bytes
}

/// Flags, sizes, name, numbers.
fn content(name: &str, matrix: &Matrix, rows: u32, columns: u32) -> Vec<u8> {
    let pair = |a: u32, b: u32| [a.to_le_bytes(), b.to_le_bytes()].concat();
    let parts = [
        element(KIND_UINT32, &pair(CLASS_DOUBLE, 0)),
        element(KIND_INT32, &pair(rows, columns)),
        element(KIND_INT8, name.as_bytes()),
        element(KIND_DOUBLE, &by_column(matrix)),
    ];
    parts.concat()
}

/// Tag and data, padded to 8 bytes.
fn element(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn by_column(matrix: &Matrix) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 * matrix.items.len());
    for column in 0..matrix.columns {
        let items = matrix.items.iter().skip(column).step_by(matrix.columns);
        items.for_each(|x| bytes.extend(x.to_le_bytes()));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::mat::read_matrix;
    use super::*;

    const FORMATS: [Format; 3] = [Format::Version4, Format::Version6, Format::Version7];

    fn matrix(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns, items: (0..rows * columns).map(|i| 1.5 * i as f64).collect() }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for format in FORMATS {
            let first = with_matrix(&[], "A", &matrix(3, 2), format).unwrap();
            let both = with_matrix(&first, "longer name", &matrix(1, 4), format).unwrap();
            assert_eq!(read_matrix(&both, "A", 100), Ok(matrix(3, 2)), "{format:?}");
            assert_eq!(read_matrix(&both, "longer name", 100), Ok(matrix(1, 4)), "{format:?}");
            assert!(read_matrix(&first, "longer name", 100).is_err());
        }
    }

    #[test]
    fn a_matrix_of_the_same_name_is_replaced() {
        for format in FORMATS {
            let first = with_matrix(&[], "A", &matrix(3, 2), format).unwrap();
            let both = with_matrix(&first, "B", &matrix(1, 1), format).unwrap();
            let again = with_matrix(&both, "A", &matrix(2, 2), format).unwrap();
            assert_eq!(read_matrix(&again, "A", 100), Ok(matrix(2, 2)), "{format:?}");
            assert_eq!(read_matrix(&again, "B", 100), Ok(matrix(1, 1)), "{format:?}");
        }
    }

    #[test]
    fn files_of_another_format_and_damaged_files_are_left_alone() {
        let old = with_matrix(&[], "A", &matrix(1, 1), Format::Version4).unwrap();
        assert!(with_matrix(&old, "B", &matrix(1, 1), Format::Version7).is_err());
        let new = with_matrix(&[], "A", &matrix(1, 1), Format::Version7).unwrap();
        assert!(with_matrix(&new, "B", &matrix(1, 1), Format::Version4).is_err());
        assert!(with_matrix(&old[..25], "B", &matrix(1, 1), Format::Version4).is_err());
        assert!(Format::from_name("7.3").is_err());
    }
}
