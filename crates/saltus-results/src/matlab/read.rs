//! Reads matrices by name from files of version 4 ("v4") and version 5 ("v6", "v7" with deflate).

use std::borrow::Cow;

use super::Matrix;

/// More than any sensible data file unpacks to.
const MOST_BYTES: usize = 1 << 30;

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

/// A matrix in a file of version 4.
pub(crate) struct Entry4<'a> {
    pub name: &'a [u8],
    pub rows: usize,
    pub columns: usize,
    /// Not a text and not sparse.
    is_number: bool,
    storage: Storage,
    big_endian: bool,
    data: &'a [u8],
}

impl Entry4<'_> {
    /// Column by column.
    pub fn numbers(&self) -> Vec<f64> {
        Reader { bytes: self.data, big_endian: self.big_endian }.numbers(self.data, self.storage)
    }
}

/// A 20-byte header (type, rows, columns, imaginary flag, length of name), name and data.
fn entry4<'a>(reader: &mut Reader<'a>) -> Option<Entry4<'a>> {
    let mut kind = reader.u32()?;
    if kind > 5_000 {
        reader.big_endian = !reader.big_endian;
        kind = kind.swap_bytes();
    }
    let (rows, columns) = (reader.u32()? as usize, reader.u32()? as usize);
    let (imaginary, length) = (reader.u32()?, reader.u32()?);
    let (storage, width) = match (kind / 10) % 10 {
        0 => (Storage::F64, 8usize),
        1 => (Storage::F32, 4),
        2 => (Storage::I32, 4),
        3 => (Storage::I16, 2),
        4 => (Storage::U16, 2),
        5 => (Storage::U8, 1),
        _ => return None,
    };
    let name = trimmed(reader.take(length as usize)?);
    let n_bytes = rows.checked_mul(columns)?.checked_mul(width)?;
    let data = reader.take(n_bytes)?;
    if imaginary != 0 {
        reader.take(n_bytes)?;
    }
    // The last digit is 0 for a full matrix of numbers (1: text, 2: sparse).
    Some(Entry4 { name, rows, columns, is_number: kind % 10 == 0, storage, big_endian: reader.big_endian, data })
}

/// All matrices of a file of version 4.
pub(crate) fn entries4(bytes: &[u8]) -> Result<Vec<Entry4<'_>>, &'static str> {
    let mut reader = Reader { bytes, big_endian: false };
    let mut entries = Vec::new();
    while !reader.bytes.is_empty() {
        entries.push(entry4(&mut reader).ok_or(CUT)?);
    }
    Ok(entries)
}

fn version4(bytes: &[u8], name: &str, most: u64) -> Result<Option<Matrix>, String> {
    let mut reader = Reader { bytes, big_endian: false };
    while !reader.bytes.is_empty() {
        let entry = entry4(&mut reader).ok_or(CUT)?;
        if entry.name == name.as_bytes() && entry.is_number {
            if (entry.rows * entry.columns) as u64 > most {
                return Err(format!("the matrix has more than {most} elements"));
            }
            return Ok(Matrix::from_columns(entry.rows, entry.columns, &entry.numbers()));
        }
    }
    Ok(None)
}

/// The file without the matrices of this name.
pub fn without_matrix(bytes: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let is_version5 = bytes.starts_with(b"MATLAB ");
    let head = if is_version5 { 128 } else { 0 };
    let big_endian = is_version5 && bytes.get(126..128) == Some(b"MI");
    let mut kept = bytes.get(..head).ok_or(CUT)?.to_vec();
    let mut reader = Reader { bytes: bytes.get(head..).ok_or(CUT)?, big_endian };
    while !reader.bytes.is_empty() {
        let before = reader.bytes;
        let is_other = if is_version5 {
            let (kind, data) = element(&mut reader).ok_or(CUT)?;
            name5(kind, data, big_endian)?.as_deref() != Some(name.as_bytes())
        } else {
            entry4(&mut reader).ok_or(CUT)?.name != name.as_bytes()
        };
        if is_other {
            kept.extend(&before[..before.len() - reader.bytes.len()]);
        }
    }
    Ok(kept)
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
        let Some(matrix) = matrix_of(kind, data, big_endian)? else { continue };
        if let Some(found) = named_matrix(Reader { bytes: &matrix, big_endian }, name, most, true)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The contents of a matrix element, unpacked; `None` for other elements.
fn matrix_of(kind: u32, data: &[u8], big_endian: bool) -> Result<Option<Cow<'_, [u8]>>, String> {
    match kind {
        ELEMENT_COMPRESSED => {
            let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, MOST_BYTES)
                .map_err(|_| "the compressed data are damaged".to_string())?;
            let mut inner = Reader { bytes: &unpacked, big_endian };
            Ok(match element(&mut inner) {
                Some((ELEMENT_MATRIX, data)) => Some(Cow::Owned(data.to_vec())),
                _ => None,
            })
        }
        ELEMENT_MATRIX => Ok(Some(Cow::Borrowed(data))),
        _ => Ok(None),
    }
}

/// The name of the matrix that an element of a version 5 file is.
fn name5(kind: u32, data: &[u8], big_endian: bool) -> Result<Option<Vec<u8>>, String> {
    let Some(matrix) = matrix_of(kind, data, big_endian)? else { return Ok(None) };
    let mut reader = Reader { bytes: &matrix, big_endian };
    let (_, _, name) = (element(&mut reader), element(&mut reader), element(&mut reader));
    Ok(name.map(|(_, name)| trimmed(name).to_vec()))
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
