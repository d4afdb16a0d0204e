//! Rows to row groups.

use std::io;
use std::sync::Arc;

use ::parquet::basic::{Compression, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{ColumnPath, SchemaDescPtr, SchemaDescriptor, Type};

use super::{ABSOLUTE_VALUE, ARROW_SCHEMA, COMPLETE, DESCRIPTION, DISPLAY_UNIT, LITERALS, TYPE, UNIT, arrow_schema};
use crate::encode::{Closing, Encoder};
use crate::signal::{Header, Kind, Signal, Source};

/// A row group ends at this many rows, or at this many bytes of numbers. Every group costs a description of each column in the footer,
/// about a hundred bytes, and lies in memory until it is written.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_BYTES: usize = 16 << 20;
/// A group that is ended early has this part of the rows before it, so that there are not many of them.
const LEAST_SHARE: u64 = 50;
const CREATED_BY: &str = concat!("saltus version ", env!("CARGO_PKG_VERSION"));
/// Bytes that describe a column of a group in the footer.
const CHUNK_DESCRIPTION: usize = 100;
/// The largest number up to which all integers are a `f64`.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

pub(crate) struct ParquetEncoder {
    writer: SerializedFileWriter<Vec<u8>>,
    schema: SchemaDescPtr,
    metadata: Vec<KeyValue>,
    columns: Vec<Signal>,
    has_time: bool,
    has_gaps: bool,
    /// Rows of the group that is being filled, one after the other: time and all places.
    rows: Vec<f64>,
    width: usize,
    n_written: u64,
}

impl ParquetEncoder {
    pub fn new(header: &Header) -> io::Result<Self> {
        let columns: Vec<Signal> = header.series().cloned().collect();
        let time = Signal::new("time", Kind::Real, Source::Constant(0.0)).described("Time", "s");
        let fields: Vec<&Signal> = header.has_time.then_some(&time).into_iter().chain(&columns).collect();
        let types = fields
            .iter()
            .map(|s| column_type(s, is_nullable(header, s)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(other)?;
        let schema = Type::group_type_builder("schema").with_fields(types).build().map_err(other)?;
        let schema = Arc::new(schema);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_column_statistics_enabled(ColumnPath::from("time"), EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let writer = SerializedFileWriter::new(Vec::new(), schema.clone(), Arc::new(properties)).map_err(other)?;
        Ok(ParquetEncoder {
            writer,
            schema: Arc::new(SchemaDescriptor::new(schema)),
            metadata: file_metadata(header, &fields),
            has_time: header.has_time,
            has_gaps: header.has_gaps,
            columns,
            rows: Vec::new(),
            width: 1 + header.n_places(),
            n_written: 0,
        })
    }

    fn n_waiting(&self) -> usize {
        self.rows.len() / self.width
    }

    fn write_group(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let n = self.n_waiting();
        if n == 0 {
            return Ok(());
        }
        let times = || self.rows.iter().step_by(self.width).copied().collect();
        let mut time = self.has_time.then(|| Column::Real { values: times(), is_known: None });
        // Columns are made one by one: together they would need the memory of the rows once more.
        let mut group = self.writer.next_row_group().map_err(other)?;
        let mut signals = self.columns.iter();
        while let Some(mut writer) = group.next_column().map_err(other)? {
            let column = match time.take() {
                Some(time) => time,
                None => {
                    let Some(signal) = signals.next() else { break };
                    Column::of(signal, self.has_gaps, &self.rows, self.width)?
                }
            };
            column.write(&mut writer).map_err(other)?;
            writer.close().map_err(other)?;
        }
        group.close().map_err(other)?;
        self.n_written += n as u64;
        self.rows.clear();
        self.take_bytes(out)
    }

    fn take_bytes(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.writer.flush()?;
        out.append(self.writer.inner_mut());
        Ok(())
    }
}

impl Encoder for ParquetEncoder {
    fn start(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.take_bytes(out)
    }

    fn row(&mut self, time: f64, values: &[f64], out: &mut Vec<u8>) -> io::Result<()> {
        self.rows.push(time);
        self.rows.extend(values.iter().take(self.width - 1));
        let missing = (self.width - 1).saturating_sub(values.len());
        self.rows.extend(std::iter::repeat_n(f64::NAN, missing));
        let is_full = self.n_waiting() >= GROUP_ROWS || self.rows.len() * size_of::<f64>() >= GROUP_BYTES;
        if is_full { self.write_group(out) } else { Ok(()) }
    }

    fn end_block(&mut self, must: bool, out: &mut Vec<u8>) -> io::Result<()> {
        let pays = self.n_waiting() as u64 * LEAST_SHARE >= self.n_written;
        if must || pays { self.write_group(out) } else { Ok(()) }
    }

    fn closing(&self, is_complete: bool) -> io::Result<Closing> {
        let mut metadata = self.metadata.clone();
        metadata.push(KeyValue::new(COMPLETE.to_owned(), is_complete.to_string()));
        let created_by = Some(CREATED_BY.to_owned());
        let rows = i64::try_from(self.n_written).unwrap_or(i64::MAX);
        let file = FileMetaData::new(1, rows, created_by, Some(metadata), self.schema.clone(), None);
        let whole = ParquetMetaData::new(file, self.writer.flushed_row_groups().to_vec());
        let mut tail = Vec::new();
        ParquetMetaDataWriter::new(&mut tail, &whole).finish().map_err(other)?;
        Ok(Closing { tail, patches: Vec::new() })
    }

    fn closing_size(&self) -> usize {
        (self.columns.len() + 1) * self.writer.flushed_row_groups().len() * CHUNK_DESCRIPTION
    }
}

fn other(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

/// May values be missing? Those of times never are.
fn is_nullable(header: &Header, signal: &Signal) -> bool {
    let is_column = matches!(signal.source, Source::Column { .. });
    signal.kind != Kind::Real || header.has_gaps && is_column
}

fn column_type(signal: &Signal, is_nullable: bool) -> Result<Arc<Type>, ParquetError> {
    let physical = match signal.kind {
        Kind::Real => Physical::DOUBLE,
        Kind::Boolean => Physical::BOOLEAN,
        Kind::Integer | Kind::Enumeration => Physical::INT64,
    };
    let repetition = if is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(&signal.name, physical).with_repetition(repetition).build().map(Arc::new)
}

fn file_metadata(header: &Header, fields: &[&Signal]) -> Vec<KeyValue> {
    let pair = |key: String, value: &str| KeyValue::new(key, value.to_owned());
    let described: Vec<arrow_schema::Field> = fields
        .iter()
        .map(|s| arrow_schema::Field {
            name: s.name.clone(),
            kind: s.kind,
            is_nullable: is_nullable(header, s),
            metadata: column_metadata(s),
        })
        .collect();
    let mut metadata =
        vec![pair("title".to_owned(), &header.title), pair(ARROW_SCHEMA.to_owned(), &arrow_schema::encode(&described))];
    for signal in &header.signals {
        let Source::Constant(value) = signal.source else { continue };
        metadata.push(pair(format!("parameter:{}", signal.name), &format!("{value:?}")));
        let texts = column_metadata(signal).into_iter().filter(|(key, text)| *key != TYPE || text != "Real");
        metadata.extend(texts.map(|(key, text)| pair(format!("{key}:{}", signal.name), &text)));
    }
    metadata
}

fn column_metadata(signal: &Signal) -> Vec<(&'static str, String)> {
    let pairs = [
        (UNIT, signal.unit.clone()),
        (DISPLAY_UNIT, signal.display_unit.clone()),
        (ABSOLUTE_VALUE, if signal.is_difference { "false".to_owned() } else { String::new() }),
        (DESCRIPTION, signal.description.clone()),
        (TYPE, signal.kind.name().to_owned()),
        (LITERALS, signal.literals.join("\n")),
    ];
    pairs.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Values of a column in a group; those that are not known are left out, and `is_known` says which.
enum Column {
    Real { values: Vec<f64>, is_known: Option<Vec<i16>> },
    Boolean { values: Vec<bool>, is_known: Vec<i16> },
    Integer { values: Vec<i64>, is_known: Vec<i16> },
}

impl Column {
    fn of(signal: &Signal, has_gaps: bool, rows: &[f64], width: usize) -> io::Result<Column> {
        let values = rows.chunks_exact(width).map(|row| signal.source.value(&row[1..]));
        let is_always_known = !has_gaps || !matches!(signal.source, Source::Column { .. });
        if signal.kind == Kind::Real && is_always_known {
            return Ok(Column::Real { values: values.collect(), is_known: None });
        }
        let values: Vec<f64> = values.collect();
        let is_known: Vec<i16> = values.iter().map(|v| i16::from(!v.is_nan())).collect();
        let known = values.into_iter().filter(|v| !v.is_nan());
        if signal.kind == Kind::Real {
            return Ok(Column::Real { values: known.collect(), is_known: Some(is_known) });
        }
        if signal.kind == Kind::Boolean {
            return Ok(Column::Boolean { values: known.map(|v| v != 0.0).collect(), is_known });
        }
        let values = known.map(|v| integer(v, &signal.name)).collect::<io::Result<_>>()?;
        Ok(Column::Integer { values, is_known })
    }

    fn write(&self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Column::Real { values, is_known } => write_batch::<DoubleType>(writer, values, is_known.as_deref()),
            Column::Boolean { values, is_known } => write_batch::<BoolType>(writer, values, Some(is_known)),
            Column::Integer { values, is_known } => write_batch::<Int64Type>(writer, values, Some(is_known)),
        }
    }
}

fn write_batch<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    is_known: Option<&[i16]>,
) -> Result<(), ParquetError> {
    writer.typed::<T>().write_batch(values, is_known, None).map(|_| ())
}

fn integer(value: f64, name: &str) -> io::Result<i64> {
    if value.fract() == 0.0 && value.abs() <= LARGEST_INTEGER {
        return Ok(value as i64);
    }
    let message = format!("expected integers in `{name}`, found {value:?}");
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}
