//! MATLAB files: matrices of Reals by name from version 4 ("v4") and version 5 ("v6", "v7" with deflate) files, after
//! the published format description of The MathWorks ("MAT-File Format"). Data are column-major in the file and
//! row-major in [`Matrix`].

/// More than any sensible data file unpacks to.
const MOST_BYTES: usize = 1 << 30;

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

/// Finds the matrix `name`; `s.m` is the field `m` of the structure `s`.
pub fn read_matrix(bytes: &[u8], name: &str, most_elements: u64) -> Result<Matrix, String> {
    let found = match bytes.get(..19) {
        Some(b"MATLAB 5.0 MAT-file") => version5(bytes, name, most_elements)?,
        Some(b"MATLAB 7.3 MAT-file") => return Err("version 7.3 (HDF5) files are not supported".into()),
        _ => version4(bytes, name, most_elements)?,
    };
    found.ok_or_else(|| format!("there is no matrix `{name}` of numbers"))
}

/// Reads numbers in the byte order of the file.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(n)?;
        self.bytes = tail;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes: [u8; 4] = self.take(4)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// Numbers of one of the storage types.
    fn numbers(&self, bytes: &[u8], kind: Storage) -> Vec<f64> {
        macro_rules! read {
            ($type:ty) => {
                bytes
                    .chunks_exact(size_of::<$type>())
                    .filter_map(|c| c.try_into().ok())
                    .map(|c| if self.big_endian { <$type>::from_be_bytes(c) } else { <$type>::from_le_bytes(c) })
                    .map(|x| x as f64)
                    .collect()
            };
        }
        match kind {
            Storage::F64 => read!(f64),
            Storage::F32 => read!(f32),
            Storage::I8 => read!(i8),
            Storage::U8 => read!(u8),
            Storage::I16 => read!(i16),
            Storage::U16 => read!(u16),
            Storage::I32 => read!(i32),
            Storage::U32 => read!(u32),
            Storage::I64 => read!(i64),
            Storage::U64 => read!(u64),
        }
    }
}

#[derive(Clone, Copy)]
enum Storage {
    F64,
    F32,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

const CUT: &str = "the file is damaged or not a MATLAB file";

/// A sequence of 20-byte headers (type, rows, columns, imaginary flag, length of name), names and data.
fn version4(bytes: &[u8], name: &str, most: u64) -> Result<Option<Matrix>, String> {
    let mut reader = Reader { bytes, big_endian: false };
    while !reader.bytes.is_empty() {
        let mut kind = reader.u32().ok_or(CUT)?;
        if kind > 5_000 {
            reader.big_endian = !reader.big_endian;
            kind = kind.swap_bytes();
        }
        let header: Vec<u32> = (0..4).map(|_| reader.u32()).collect::<Option<_>>().ok_or(CUT)?;
        let &[rows, columns, imaginary, length] = header.as_slice() else { return Err(CUT.into()) };
        let storage = match (kind / 10) % 10 {
            0 => Storage::F64,
            1 => Storage::F32,
            2 => Storage::I32,
            3 => Storage::I16,
            4 => Storage::U16,
            5 => Storage::U8,
            _ => return Err(CUT.into()),
        };
        let width = match storage {
            Storage::F64 => 8usize,
            Storage::F32 | Storage::I32 => 4,
            Storage::I16 | Storage::U16 => 2,
            _ => 1,
        };
        let text = reader.take(length as usize).ok_or(CUT)?;
        let n = (rows as usize).checked_mul(columns as usize).ok_or(CUT)?;
        let n_bytes = n.checked_mul(width).ok_or(CUT)?;
        let data = reader.take(n_bytes).ok_or(CUT)?;
        if imaginary != 0 {
            reader.take(n_bytes).ok_or(CUT)?;
        }
        // The last digit is 0 for a full matrix of numbers (1: text, 2: sparse).
        let is_number = kind % 10 == 0;
        if trimmed(text) == name.as_bytes() && is_number {
            if n as u64 > most {
                return Err(format!("the matrix has more than {most} elements"));
            }
            return Ok(Matrix::from_columns(rows as usize, columns as usize, &reader.numbers(data, storage)));
        }
    }
    Ok(None)
}

fn trimmed(text: &[u8]) -> &[u8] {
    text.split(|&b| b == 0).next().unwrap_or(text)
}

const ELEMENT_MATRIX: u32 = 14;
const ELEMENT_COMPRESSED: u32 = 15;
const CLASS_STRUCTURE: u32 = 2;

/// A 128-byte header and then tagged elements, each a matrix or a compressed matrix.
fn version5(bytes: &[u8], name: &str, most: u64) -> Result<Option<Matrix>, String> {
    let big_endian = bytes.get(126..128) == Some(b"MI");
    let mut reader = Reader { bytes: bytes.get(128..).ok_or(CUT)?, big_endian };
    while !reader.bytes.is_empty() {
        let Some((kind, data)) = element(&mut reader) else { return Err(CUT.into()) };
        let unpacked;
        let matrix = match kind {
            ELEMENT_COMPRESSED => {
                unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, MOST_BYTES)
                    .map_err(|_| "the compressed data are damaged".to_string())?;
                let mut inner = Reader { bytes: &unpacked, big_endian };
                match element(&mut inner) {
                    Some((ELEMENT_MATRIX, data)) => data,
                    _ => continue,
                }
            }
            ELEMENT_MATRIX => data,
            _ => continue,
        };
        if let Some(found) = named_matrix(Reader { bytes: matrix, big_endian }, name, most, true)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Tag and data of the next element; data are padded to 8 bytes except compressed ones. Small elements put up to four
/// bytes into the tag.
fn element<'a>(reader: &mut Reader<'a>) -> Option<(u32, &'a [u8])> {
    let kind = reader.u32()?;
    let small = kind >> 16;
    if small != 0 {
        return Some((kind & 0xFFFF, reader.take(4)?.get(..small as usize)?));
    }
    let length = reader.u32()? as usize;
    let data = reader.take(length)?;
    let padding = if kind == ELEMENT_COMPRESSED { 0 } else { (8 - length % 8) % 8 };
    // The last element of a file may lack its padding.
    reader.take(padding.min(reader.bytes.len()));
    Some((kind, data))
}

fn storage(kind: u32) -> Option<Storage> {
    Some(match kind {
        1 => Storage::I8,
        2 => Storage::U8,
        3 => Storage::I16,
        4 => Storage::U16,
        5 => Storage::I32,
        6 => Storage::U32,
        7 => Storage::F32,
        9 => Storage::F64,
        12 => Storage::I64,
        13 => Storage::U64,
        _ => return None,
    })
}

/// Flags, sizes, name and data of a matrix element; `None` if it is another one. `check_name` is false for fields of
/// structures, which have no name of their own.
fn named_matrix(mut reader: Reader, name: &str, most: u64, check_name: bool) -> Result<Option<Matrix>, String> {
    let (Some((_, flags)), Some((dims_kind, dims)), Some((_, own_name))) =
        (element(&mut reader), element(&mut reader), element(&mut reader))
    else {
        return Ok(None);
    };
    let class = Reader { bytes: flags, ..reader }.u32().ok_or(CUT)? & 0xFF;
    let own_name = trimmed(own_name);
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name, None),
    };
    if check_name && own_name != first.as_bytes() {
        return Ok(None);
    }
    if class == CLASS_STRUCTURE {
        let field = if check_name { rest } else { Some(name) };
        return match field {
            Some(field) => structure_field(reader, field, most),
            None => Ok(None),
        };
    }
    let dims: Vec<f64> = storage(dims_kind).map(|s| reader.numbers(dims, s)).unwrap_or_default();
    // Classes 6 to 15 are full numeric arrays.
    let (&[rows, columns], 6..=15) = (dims.as_slice(), class) else { return Ok(None) };
    if rows * columns > most as f64 {
        return Err(format!("the matrix has more than {most} elements"));
    }
    let Some((kind, data)) = element(&mut reader) else { return Ok(None) };
    let Some(storage) = storage(kind) else { return Ok(None) };
    Ok(Matrix::from_columns(rows as usize, columns as usize, &reader.numbers(data, storage)))
}

/// A field of a scalar structure: length of names, names, then one matrix for each.
fn structure_field(mut reader: Reader, field: &str, most: u64) -> Result<Option<Matrix>, String> {
    let (wanted, rest) = match field.split_once('.') {
        Some((wanted, rest)) => (wanted, Some(rest)),
        None => (field, None),
    };
    let (Some((_, length)), Some((_, names))) = (element(&mut reader), element(&mut reader)) else { return Ok(None) };
    let length = Reader { bytes: length, ..reader }.u32().ok_or(CUT)?.max(1) as usize;
    for name in names.chunks(length) {
        let Some((_, data)) = element(&mut reader) else { break };
        if trimmed(name) == wanted.as_bytes() {
            return named_matrix(Reader { bytes: data, ..reader }, rest.unwrap_or(""), most, false);
        }
    }
    Ok(None)
}
