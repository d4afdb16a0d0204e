//! Writes matrices into files of version 4 and version 5, plain ("6") or with deflate ("7"). Matrices of other names are kept.
//!
//! In: the bytes of a file, empty for a new one. Out: its new bytes; the matrix comes last. [`super::read`] reads them.

use super::read::without_matrix;
use super::{Matrix, Version};

/// Numbers in the type field of a matrix of version 4: double, 32-bit integer, text of bytes.
#[derive(Clone, Copy)]
pub(crate) enum Type4 {
    Double = 0,
    Integer = 20,
    Text = 51,
}

/// What stands before the numbers of a matrix in a file of version 4.
pub(crate) fn head4(ty: Type4, name: &str, rows: usize, columns: usize) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::with_capacity(20 + name.len() + 1);
    for field in [ty as usize, rows, columns, 0, name.len() + 1] {
        let field = i32::try_from(field).map_err(|_| "the matrix is too large for the format")?;
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(name.as_bytes());
    bytes.push(0);
    Ok(bytes)
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
pub fn with_matrix(before: &[u8], name: &str, matrix: &Matrix, version: Version) -> Result<Vec<u8>, String> {
    let is_version5 = before.starts_with(b"MATLAB ");
    if !before.is_empty() && is_version5 != (version != Version::V4) {
        return Err("the file has another format, so nothing can be added to it".into());
    }
    let size = |n: usize| u32::try_from(n).map_err(|_| "the matrix is too large for the format".to_owned());
    let (rows, columns) = (size(matrix.rows)?, size(matrix.columns)?);
    size(matrix.items.len().saturating_mul(8))?;
    let mut bytes = without_matrix(before, name)?;
    match version {
        Version::V4 => {
            bytes.extend(head4(Type4::Double, name, matrix.rows, matrix.columns)?);
            bytes.extend(by_column(matrix));
        }
        Version::V6 | Version::V7 => {
            if bytes.is_empty() {
                bytes.extend(header());
            }
            let element = element(KIND_MATRIX, &content(name, matrix, rows, columns));
            if version == Version::V6 {
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
    use super::super::read_matrix;
    use super::*;

    const VERSIONS: [Version; 3] = [Version::V4, Version::V6, Version::V7];

    fn matrix(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns, items: (0..rows * columns).map(|i| 1.5 * i as f64).collect() }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for version in VERSIONS {
            let first = with_matrix(&[], "A", &matrix(3, 2), version).unwrap();
            let both = with_matrix(&first, "longer name", &matrix(1, 4), version).unwrap();
            assert_eq!(read_matrix(&both, "A", 100), Ok(matrix(3, 2)), "{version:?}");
            assert_eq!(read_matrix(&both, "longer name", 100), Ok(matrix(1, 4)), "{version:?}");
            assert!(read_matrix(&first, "longer name", 100).is_err());
        }
    }

    #[test]
    fn a_matrix_of_the_same_name_is_replaced() {
        for version in VERSIONS {
            let first = with_matrix(&[], "A", &matrix(3, 2), version).unwrap();
            let both = with_matrix(&first, "B", &matrix(1, 1), version).unwrap();
            let again = with_matrix(&both, "A", &matrix(2, 2), version).unwrap();
            assert_eq!(read_matrix(&again, "A", 100), Ok(matrix(2, 2)), "{version:?}");
            assert_eq!(read_matrix(&again, "B", 100), Ok(matrix(1, 1)), "{version:?}");
        }
    }

    #[test]
    fn files_of_another_format_and_damaged_files_are_left_alone() {
        let old = with_matrix(&[], "A", &matrix(1, 1), Version::V4).unwrap();
        assert!(with_matrix(&old, "B", &matrix(1, 1), Version::V7).is_err());
        let new = with_matrix(&[], "A", &matrix(1, 1), Version::V7).unwrap();
        assert!(with_matrix(&new, "B", &matrix(1, 1), Version::V4).is_err());
        assert!(with_matrix(&old[..25], "B", &matrix(1, 1), Version::V4).is_err());
        assert!(Version::from_name("7.3").is_err());
    }
}
