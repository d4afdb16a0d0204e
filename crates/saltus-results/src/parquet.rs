//! Apache Parquet: one row group, a page for each column, plain encoding, no compression.
//!
//! Reals are written as DOUBLE, Integers and Booleans as INT64 (0 and 1). Units, descriptions and parameters stand in the
//! metadata of the file, `unit:h`, `description:h`, `parameter:e`. Read are files of the same simple kind.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use crate::bytes::Bytes;
use crate::table::{Kind, ReadError, Results, Source};
use crate::thrift::{self, Value};

const MAGIC: &[u8] = b"PAR1";
const INT32: i64 = 1;
const INT64: i64 = 2;
const DOUBLE: i64 = 5;

/// A column of any table.
pub struct TableColumn<'a> {
    pub name: &'a str,
    pub kind: Kind,
    pub values: Cow<'a, [f64]>,
}

impl TableColumn<'_> {
    /// What is no integer can only be written as a Real.
    fn is_integer(&self) -> bool {
        self.kind != Kind::Real && self.values.iter().all(|v| v.fract() == 0.0 && v.abs() < 9e15)
    }
}

pub fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let time = TableColumn { name: "time", kind: Kind::Real, values: Cow::Borrowed(&results.times) };
    let series = results.series().map(|s| TableColumn { name: &s.name, kind: s.kind, values: results.values_of(s) });
    let columns: Vec<TableColumn> = std::iter::once(time).chain(series).collect();
    let mut metadata = vec![("title".to_owned(), results.title.clone()), ("unit:time".to_owned(), "s".to_owned())];
    for signal in &results.signals {
        if let Source::Constant(value) = signal.source {
            metadata.push((format!("parameter:{}", signal.name), format!("{value:?}")));
        }
        let texts = [("unit", &signal.unit), ("description", &signal.description)];
        let given = texts.into_iter().filter(|(_, text)| !text.is_empty());
        metadata.extend(given.map(|(key, text)| (format!("{key}:{}", signal.name), text.clone())));
    }
    write_table(out, &columns, &metadata)
}

/// Writes any table; all columns have as many values as the first.
pub fn write_table(out: &mut dyn Write, columns: &[TableColumn<'_>], metadata: &[(String, String)]) -> io::Result<()> {
    let n_rows = columns.first().map_or(0, |c| c.values.len());
    if columns.iter().any(|c| c.values.len() != n_rows) || i32::try_from(n_rows * 8).is_err() {
        return Err(io::Error::other("a table needs columns of one length, below 268 million rows"));
    }
    out.write_all(MAGIC)?;
    let mut offset = MAGIC.len();
    let mut chunks = Vec::new();
    for column in columns {
        let page = page(column);
        out.write_all(&page)?;
        chunks.push(chunk(column, offset, page.len()));
        offset += page.len();
    }
    let footer = footer(columns, chunks, n_rows, offset, metadata);
    let mut bytes = Vec::new();
    // Counts and offsets of the specification's i64 fields.
    let is_long = |path: &[i16]| {
        matches!(path, [3] | [4, 2] | [4, 3] | [4, 1, 2] | [4, 1, 3, 5] | [4, 1, 3, 6] | [4, 1, 3, 7] | [4, 1, 3, 9])
    };
    thrift::write_struct(&mut bytes, &footer, &is_long);
    out.write_all(&bytes)?;
    out.write_all(&(bytes.len() as u32).to_le_bytes())?;
    out.write_all(MAGIC)
}

fn integer(value: usize) -> Value {
    Value::Integer(value as i64)
}

fn page(column: &TableColumn<'_>) -> Vec<u8> {
    let n = column.values.len();
    let encodings = [(1, integer(n)), (2, Value::Integer(0)), (3, Value::Integer(3)), (4, Value::Integer(3))];
    let head = Value::Struct(vec![
        (1, Value::Integer(0)),
        (2, integer(8 * n)),
        (3, integer(8 * n)),
        (5, Value::Struct(encodings.to_vec())),
    ]);
    let mut bytes = Vec::with_capacity(8 * n + 32);
    thrift::write_struct(&mut bytes, &head, &|_| false);
    if column.is_integer() {
        bytes.extend(column.values.iter().flat_map(|v| (*v as i64).to_le_bytes()));
    } else {
        bytes.extend(column.values.iter().flat_map(|v| v.to_le_bytes()));
    }
    bytes
}

fn physical_type(column: &TableColumn<'_>) -> Value {
    Value::Integer(if column.is_integer() { INT64 } else { DOUBLE })
}

fn chunk(column: &TableColumn<'_>, offset: usize, n_bytes: usize) -> Value {
    let metadata = Value::Struct(vec![
        (1, physical_type(column)),
        (2, Value::List(vec![Value::Integer(0), Value::Integer(3)])),
        (3, Value::List(vec![Value::text(column.name)])),
        (4, Value::Integer(0)),
        (5, integer(column.values.len())),
        (6, integer(n_bytes)),
        (7, integer(n_bytes)),
        (9, integer(offset)),
    ]);
    Value::Struct(vec![(2, integer(offset)), (3, metadata)])
}

fn footer(
    columns: &[TableColumn<'_>],
    chunks: Vec<Value>,
    n_rows: usize,
    n_bytes: usize,
    metadata: &[(String, String)],
) -> Value {
    let mut schema = vec![Value::Struct(vec![(4, Value::text("schema")), (5, integer(columns.len()))])];
    schema.extend(columns.iter().map(|column| {
        Value::Struct(vec![(1, physical_type(column)), (3, Value::Integer(0)), (4, Value::text(column.name))])
    }));
    let group = Value::Struct(vec![(1, Value::List(chunks)), (2, integer(n_bytes)), (3, integer(n_rows))]);
    let pairs = metadata.iter().map(|(k, v)| Value::Struct(vec![(1, Value::text(k)), (2, Value::text(v))]));
    Value::Struct(vec![
        (1, Value::Integer(1)),
        (2, Value::List(schema)),
        (3, integer(n_rows)),
        (4, Value::List(vec![group])),
        (5, Value::List(pairs.collect())),
        (6, Value::text("saltus")),
    ])
}

pub fn read(file: &[u8], title: &str) -> Result<Results, ReadError> {
    let odd = || ReadError::new("expected a Parquet file, found something else");
    let body = file.strip_prefix(MAGIC).and_then(|f| f.strip_suffix(MAGIC)).ok_or_else(odd)?;
    let (body, length) = body.split_last_chunk::<4>().ok_or_else(odd)?;
    let at = body.len().checked_sub(u32::from_le_bytes(*length) as usize).ok_or_else(odd)?;
    let footer = thrift::read_struct(&mut Bytes::new(&body[at..]))?;
    let mut columns: Vec<(String, Kind, Vec<f64>)> = Vec::new();
    for group in footer.list(4) {
        for (i, chunk) in group.list(1).iter().enumerate() {
            let (name, kind, values) = read_chunk(file, chunk)?;
            match columns.get_mut(i) {
                Some(known) => known.2.extend(values),
                None => columns.push((name, kind, values)),
            }
        }
    }
    let texts: HashMap<String, String> =
        footer.list(5).iter().filter_map(|pair| Some((pair.string(1)?, pair.string(2)?))).collect();
    let text = |key: &str, name: &str| texts.get(&format!("{key}:{name}")).map_or("", String::as_str);
    let time = columns.iter().position(|c| c.0 == "time");
    let time = time.ok_or_else(|| ReadError::new("expected a column `time`, found none"))?;
    let mut results = Results::new(title, columns.remove(time).2);
    for (name, kind, values) in columns {
        results.add_series(&name, text("description", &name), text("unit", &name), kind, values);
    }
    for pair in footer.list(5) {
        let (Some(key), Some(value)) = (pair.string(1), pair.string(2)) else { continue };
        if let (Some(name), Ok(value)) = (key.strip_prefix("parameter:"), value.parse()) {
            results.add_constant(name, text("description", name), text("unit", name), Kind::Real, value);
        }
    }
    Ok(results)
}

fn read_chunk(file: &[u8], chunk: &Value) -> Result<(String, Kind, Vec<f64>), ReadError> {
    let odd = |what: &str| ReadError::new(format!("expected plain uncompressed columns, found {what}"));
    let metadata = chunk.field(3).ok_or_else(|| odd("none"))?;
    let name = match metadata.list(3) {
        [Value::Bytes(bytes)] => String::from_utf8_lossy(bytes).into_owned(),
        _ => return Err(odd("a nested column")),
    };
    if metadata.integer(4) != Some(0) {
        return Err(odd("a compressed one"));
    }
    let offset = metadata.integer(9).and_then(|o| usize::try_from(o).ok()).ok_or_else(|| odd("no offset"))?;
    let n_wanted = metadata.integer(5).and_then(|n| usize::try_from(n).ok()).ok_or_else(|| odd("no size"))?;
    let mut bytes = Bytes::new(file.get(offset..).ok_or_else(|| odd("an offset beyond the end"))?);
    let (mut values, ty) = (Vec::new(), metadata.integer(1));
    while values.len() < n_wanted {
        let page = thrift::read_struct(&mut bytes)?;
        let head = page.field(5).ok_or_else(|| odd("a page of another kind"))?;
        let n = head.integer(1).and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0 && *n <= n_wanted);
        let n = n.ok_or_else(|| odd("a page without values"))?;
        let n_bytes = page.integer(3).and_then(|n| usize::try_from(n).ok()).ok_or_else(|| odd("no size"))?;
        if head.integer(2) != Some(0) {
            return Err(odd("a coded one"));
        }
        let mut data = Bytes::new(bytes.take(n_bytes)?);
        for _ in 0..n {
            values.push(match ty {
                Some(DOUBLE) => data.f64()?,
                Some(INT64) => data.i64()? as f64,
                Some(INT32) => f64::from(data.i32()?),
                _ => return Err(odd("a type that is no number")),
            });
        }
    }
    let kind = if ty == Some(DOUBLE) { Kind::Real } else { Kind::Integer };
    Ok((name, kind, values))
}
