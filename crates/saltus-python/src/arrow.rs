//! The C stream interface of Apache Arrow: results for pyarrow, polars, DuckDB and pandas, where they are.
//!
//! In: a table. Out: a capsule `arrow_array_stream` with one batch. Reals are not copied: the buffers point into the table, which every array
//! keeps alive. Integers, Booleans and enumerations are numbers in the table and become `int64`, `bool` and dictionaries; where they have no value
//! they are null.
//!
//! The layout of the structures and who frees what is that of the specification of the C data interface.
#![allow(unsafe_code, reason = "the interface consists of pointers that the consumer follows and gives back")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use saltus_results::{Kind, Signal};

use crate::table::Table;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: the private data is a `Box<Stream>`, which may go to another thread.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowArrayStream {
    /// Only if no consumer has taken it over.
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was made by `stream` and has not been released.
            unsafe { release(self) }
        }
    }
}

const NULLABLE: i64 = 2;

/// What a stream gives out.
struct Stream {
    table: Arc<Table>,
    is_over: bool,
}

/// A capsule that consumers of Arrow data take.
pub fn stream<'py>(py: Python<'py>, table: &Arc<Table>) -> PyResult<Bound<'py, PyCapsule>> {
    let private = Box::new(Stream { table: table.clone(), is_over: false });
    let stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(private).cast(),
    };
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the consumer hands over a stream that `stream` made and has not been released, and room for a schema.
    unsafe {
        let private = &*(*stream).private_data.cast::<Stream>();
        out.write(table_schema(&private.table));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`.
    unsafe {
        let private = &mut *(*stream).private_data.cast::<Stream>();
        let next = if private.is_over { end() } else { table_array(&private.table) };
        private.is_over = true;
        out.write(next);
    }
    0
}

unsafe extern "C" fn get_last_error(_stream: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: it is released once, because it is marked as released here.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Stream>()));
        (*stream).release = None;
    }
}

/// The columns: times, if there are any, then the signals that vary.
fn columns(table: &Table) -> Vec<(Signal, &[f64])> {
    let time = Signal::new("time", Kind::Real, saltus_results::Source::Constant(0.0)).described("", "s");
    let time = table.has_time.then_some((time, table.times.as_slice()));
    time.into_iter().chain(table.series().map(|(signal, values)| (signal.clone(), values))).collect()
}

struct SchemaParts {
    _format: CString,
    _name: CString,
    _metadata: Vec<u8>,
    children: Vec<*mut ArrowSchema>,
}

fn text(text: &str) -> CString {
    // Names have no zero bytes; without them there is one.
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn schema(
    format: &str,
    name: &str,
    metadata: Vec<u8>,
    children: Vec<ArrowSchema>,
    dictionary: Option<ArrowSchema>,
) -> ArrowSchema {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut parts = Box::new(SchemaParts { _format: text(format), _name: text(name), _metadata: metadata, children });
    ArrowSchema {
        format: parts._format.as_ptr(),
        name: parts._name.as_ptr(),
        metadata: if parts._metadata.is_empty() { null() } else { parts._metadata.as_ptr().cast() },
        flags: NULLABLE,
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary: dictionary.map_or(null_mut(), |d| Box::into_raw(Box::new(d))),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: made by `schema`; children and dictionary are released unless the consumer has moved them away.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        let dictionary = (*schema).dictionary;
        for child in parts.children.iter().copied().chain((!dictionary.is_null()).then_some(dictionary)) {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&mut *child);
            }
        }
        (*schema).release = None;
    }
}

/// Unit and description, as pairs in the encoding of the interface.
fn metadata(signal: &Signal) -> Vec<u8> {
    let pairs: Vec<(&str, &str)> = [("unit", signal.unit.as_str()), ("description", signal.description.as_str())]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let mut bytes = (pairs.len() as i32).to_ne_bytes().to_vec();
    for part in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend((part.len() as i32).to_ne_bytes());
        bytes.extend(part.as_bytes());
    }
    bytes
}

fn column_schema(signal: &Signal) -> ArrowSchema {
    let (format, dictionary) = match signal.kind {
        Kind::Real => ("g", None),
        Kind::Integer => ("l", None),
        Kind::Boolean => ("b", None),
        Kind::Enumeration => ("i", Some(schema("u", "", Vec::new(), Vec::new(), None))),
    };
    schema(format, &signal.name, metadata(signal), Vec::new(), dictionary)
}

fn table_schema(table: &Table) -> ArrowSchema {
    let children = columns(table).iter().map(|(signal, _)| column_schema(signal)).collect();
    schema("+s", "", Vec::new(), children, None)
}

/// What an array keeps alive.
struct ArrayParts {
    _table: Option<Arc<Table>>,
    _owned: Vec<Vec<u64>>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// The end of the stream: an array that is released already.
fn end() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    }
}

fn array(length: usize, null_count: usize, mut parts: ArrayParts, dictionary: Option<ArrowArray>) -> ArrowArray {
    // Arrays of dictionaries and structures have all buffers that their type asks for, in the order of the specification.
    parts.buffers.shrink_to_fit();
    let mut parts = Box::new(parts);
    ArrowArray {
        length: length as i64,
        null_count: null_count as i64,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary: dictionary.map_or(null_mut(), |d| Box::into_raw(Box::new(d))),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as `release_schema`.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        let dictionary = (*array).dictionary;
        for child in parts.children.iter().copied().chain((!dictionary.is_null()).then_some(dictionary)) {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&mut *child);
            }
        }
        (*array).release = None;
    }
}

/// Bits, eight in a byte, in words so that they are aligned.
fn bits(each: impl Iterator<Item = bool>, n: usize) -> Vec<u64> {
    let mut words = vec![0_u64; n.div_ceil(64).max(1)];
    for (i, _) in each.enumerate().filter(|(_, bit)| *bit) {
        words[i / 64] |= u64::to_le(1 << (i % 64));
    }
    words
}

/// Halves of words.
fn pairs(values: impl Iterator<Item = i32>) -> Vec<u64> {
    let values: Vec<i32> = values.collect();
    let word = |pair: &[i32]| {
        let second = pair.get(1).copied().unwrap_or(0);
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&pair[0].to_ne_bytes());
        bytes[4..].copy_from_slice(&second.to_ne_bytes());
        u64::from_ne_bytes(bytes)
    };
    if values.is_empty() { vec![0] } else { values.chunks(2).map(word).collect() }
}

fn literals_array(literals: &[String]) -> ArrowArray {
    let mut ends = vec![0_i32];
    literals.iter().for_each(|l| ends.push(ends.last().copied().unwrap_or(0) + l.len() as i32));
    let joined = literals.concat();
    let mut letters = vec![0_u64; joined.len().div_ceil(8).max(1)];
    for (word, bytes) in letters.iter_mut().zip(joined.as_bytes().chunks(8)) {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(eight);
    }
    let owned = vec![pairs(ends.into_iter()), letters];
    let buffers = vec![null(), owned[0].as_ptr().cast(), owned[1].as_ptr().cast()];
    let parts = ArrayParts { _table: None, _owned: owned, buffers, children: Vec::new() };
    array(literals.len(), 0, parts, None)
}

fn column_array(table: &Arc<Table>, signal: &Signal, values: &[f64]) -> ArrowArray {
    let n = values.len();
    if signal.kind == Kind::Real {
        let buffers = vec![null(), values.as_ptr().cast()];
        let parts = ArrayParts { _table: Some(table.clone()), _owned: Vec::new(), buffers, children: Vec::new() };
        return array(n, 0, parts, None);
    }
    let n_literals = signal.literals.len();
    let is_value = |v: f64| match signal.kind {
        Kind::Enumeration => v >= 1.0 && (v as usize) <= n_literals,
        _ => !v.is_nan(),
    };
    let n_null = values.iter().filter(|v| !is_value(**v)).count();
    let data = match signal.kind {
        Kind::Boolean => bits(values.iter().map(|v| *v != 0.0 && !v.is_nan()), n),
        Kind::Enumeration => pairs(values.iter().map(|v| if is_value(*v) { *v as i32 - 1 } else { 0 })),
        _ if n == 0 => vec![0],
        _ => values.iter().map(|v| (*v as i64) as u64).collect(),
    };
    let mut owned = vec![data];
    let data: *const c_void = owned[0].as_ptr().cast();
    let mut validity: *const c_void = null();
    if n_null > 0 {
        let known = bits(values.iter().map(|v| is_value(*v)), n);
        validity = known.as_ptr().cast();
        owned.push(known);
    }
    let dictionary = (signal.kind == Kind::Enumeration).then(|| literals_array(&signal.literals));
    let parts = ArrayParts { _table: None, _owned: owned, buffers: vec![validity, data], children: Vec::new() };
    array(n, n_null, parts, dictionary)
}

fn table_array(table: &Arc<Table>) -> ArrowArray {
    let columns = columns(table);
    let children = columns.iter().map(|(signal, values)| column_array(table, signal, values));
    let children = children.map(|child| Box::into_raw(Box::new(child))).collect();
    let parts = ArrayParts { _table: None, _owned: Vec::new(), buffers: vec![null()], children };
    array(table.n_rows(), 0, parts, None)
}
