//! Any flat Parquet file of numbers to a table.

use std::collections::HashMap;

use ::parquet::basic::{LogicalType, Repetition};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;

use super::{ABSOLUTE_VALUE, ARROW_SCHEMA, DESCRIPTION, DISPLAY_UNIT, LITERALS, TYPE, UNIT, arrow_schema};
use crate::signal::{Kind, Signal, Source};
use crate::table::{ReadError, Results};

/// Values that are read at a time.
const BATCH: usize = 1 << 14;

pub fn read(file: &[u8], title: &str) -> Result<Results, ReadError> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).map_err(unreadable)?;
    check_places(reader.metadata(), file.len())?;
    let file = reader.metadata().file_metadata();
    let pairs: Vec<(String, String)> = file
        .key_value_metadata()
        .into_iter()
        .flatten()
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    let texts: HashMap<&str, &str> = pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let described = texts.get(ARROW_SCHEMA).map(|text| arrow_schema::decode(text)).unwrap_or_default();
    let mut columns = Vec::new();
    for (i, descriptor) in file.schema_descr().columns().iter().enumerate().filter(|(_, d)| is_number(d)) {
        columns.push((descriptor.name().to_owned(), read_column(&reader, i)?));
    }
    let time = columns.iter().position(|c| c.0 == "time");
    let time = time.ok_or_else(|| ReadError::new("expected a column `time` of numbers, found none"))?;
    let mut results = Results::new(title, columns.remove(time).1.values);
    for (name, column) in columns {
        let source = results.add_column(column.values);
        let metadata = described.get(&name);
        results.push(signal(&name, column.kind, source, &|key| metadata?.get(key).cloned()));
    }
    for (key, value) in &pairs {
        let (Some(name), Ok(value)) = (key.strip_prefix("parameter:"), value.parse()) else { continue };
        let text = |key: &str| texts.get(format!("{key}:{name}").as_str()).map(|t| (*t).to_owned());
        results.push(signal(name, Kind::Real, Source::Constant(value), &text));
    }
    Ok(results)
}

fn signal(name: &str, kind: Kind, source: Source, text: &dyn Fn(&str) -> Option<String>) -> Signal {
    Signal {
        name: name.to_owned(),
        description: text(DESCRIPTION).unwrap_or_default(),
        unit: text(UNIT).unwrap_or_default(),
        display_unit: text(DISPLAY_UNIT).unwrap_or_default(),
        is_difference: text(ABSOLUTE_VALUE).as_deref() == Some("false"),
        kind: text(TYPE).and_then(|ty| Kind::from_name(&ty)).unwrap_or(kind),
        literals: text(LITERALS).map(|t| t.lines().map(str::to_owned).collect()).unwrap_or_default(),
        source,
    }
}

/// Columns of texts, dates and lists are passed over.
fn is_number(column: &ColumnDescriptor) -> bool {
    use ::parquet::basic::Type::{BOOLEAN, DOUBLE, FLOAT, INT32, INT64};
    let is_plain = matches!(column.logical_type_ref(), None | Some(LogicalType::Integer(_)));
    is_plain
        && column.max_rep_level() == 0
        && column.path().parts().len() == 1
        && matches!(column.physical_type(), BOOLEAN | INT32 | INT64 | FLOAT | DOUBLE)
}

/// Are all columns inside of the file? The library trusts the footer there.
fn check_places(metadata: &ParquetMetaData, n_bytes: usize) -> Result<(), ReadError> {
    let odd = || ReadError::new("expected a Parquet file, found columns beyond its end");
    for chunk in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        let start = usize::try_from(start).map_err(|_| odd())?;
        let length = usize::try_from(chunk.compressed_size()).map_err(|_| odd())?;
        if chunk.data_page_offset() < 0 || start.checked_add(length).is_none_or(|end| end > n_bytes) {
            return Err(odd());
        }
    }
    Ok(())
}

struct Column {
    kind: Kind,
    values: Vec<f64>,
}

fn read_column(reader: &SerializedFileReader<Bytes>, i: usize) -> Result<Column, ReadError> {
    let mut column = Column { kind: Kind::Real, values: Vec::new() };
    for g in 0..reader.num_row_groups() {
        let group = reader.get_row_group(g).map_err(unreadable)?;
        let n_rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let end = column.values.len() + n_rows;
        let descriptor = group.metadata().schema_descr().column(i);
        let is_signed = !matches!(descriptor.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed);
        let may_lack = descriptor.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
        let mut target = Target { values: &mut column.values, may_lack };
        column.kind = match group.get_column_reader(i).map_err(unreadable)? {
            ColumnReader::BoolColumnReader(r) => target.read(r, Kind::Boolean, |v| f64::from(u8::from(*v))),
            ColumnReader::Int32ColumnReader(r) if is_signed => target.read(r, Kind::Integer, |v| f64::from(*v)),
            ColumnReader::Int32ColumnReader(r) => target.read(r, Kind::Integer, |v| f64::from(*v as u32)),
            ColumnReader::Int64ColumnReader(r) if is_signed => target.read(r, Kind::Integer, |v| *v as f64),
            ColumnReader::Int64ColumnReader(r) => target.read(r, Kind::Integer, |v| *v as u64 as f64),
            ColumnReader::FloatColumnReader(r) => target.read(r, Kind::Real, |v| f64::from(*v)),
            ColumnReader::DoubleColumnReader(r) => target.read(r, Kind::Real, |v| *v),
            _ => return Err(ReadError::new("expected a column of numbers, found another type")),
        }
        .map_err(unreadable)?;
        if column.values.len() != end {
            return Err(ReadError::new("expected columns of one length, found some that are shorter"));
        }
    }
    Ok(column)
}

struct Target<'a> {
    values: &'a mut Vec<f64>,
    /// May values be missing?
    may_lack: bool,
}

impl Target<'_> {
    fn read<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        kind: Kind,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<Kind, ParquetError> {
        let (mut found, mut is_known) = (Vec::new(), Vec::new());
        loop {
            found.clear();
            is_known.clear();
            let levels = self.may_lack.then_some(&mut is_known);
            let (n, ..) = reader.read_records(BATCH, levels, None, &mut found)?;
            if n == 0 {
                return Ok(kind);
            }
            let mut found = found.iter().map(&number);
            if self.may_lack {
                let value = |&known: &i16| if known > 0 { found.next().unwrap_or(f64::NAN) } else { f64::NAN };
                self.values.extend(is_known.iter().map(value));
            } else {
                self.values.extend(found);
            }
        }
    }
}

fn unreadable(error: ParquetError) -> ReadError {
    ReadError::new(format!("expected a Parquet file: {error}"))
}
