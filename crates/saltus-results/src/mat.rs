//! The trajectory layout of Dymola and OpenModelica in a MATLAB level 4 file.
//!
//! ```text
//! Aclass       Atrajectory / 1.1 / / binTrans
//! name         one name a column
//! description  `Height above the ground [m]`, `Angle [rad|deg]`, `Switched on [:#(type=Boolean)]`
//! dataInfo     for each name: which matrix, which row of it with a sign, how to interpolate, how to extrapolate
//! data_1       parameters at the first and the last time
//! data_2       variables at all times; aliases share a row
//! ```
//!
//! Written transposed (`binTrans`), little-endian, in double precision: a time is a column of `data_2`, so that rows of the table are
//! added at the end of the file; the number of columns and the times in `data_1` are patched. Read transposed or not, in all number types.

use std::io;

use crate::encode::{Closing, Encoder};
use crate::matlab::{Entry4, Type4, entries4, head4};
use crate::signal::{Header, Kind, Signal, Source};
use crate::table::{ReadError, Results};

/// Bytes from the beginning of a matrix to its number of columns.
const AT_COLUMNS: u64 = 8;

pub(crate) struct MatEncoder {
    /// Everything before the first row.
    head: Vec<u8>,
    n_places: usize,
    n_rows: i32,
    /// Offset of the first and the last time in `data_1`.
    at_times: [u64; 2],
    times: [f64; 2],
    /// Offset of the number of columns of `data_2`.
    at_count: u64,
}

impl MatEncoder {
    pub fn new(header: &Header) -> io::Result<Self> {
        if !header.has_time {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "a MAT file needs a column of times"));
        }
        let names = std::iter::once("time".to_owned()).chain(header.signals.iter().map(|s| s.name.clone()));
        let texts = std::iter::once("Time [s]".to_owned()).chain(header.signals.iter().map(describe));
        let (info, constants) = data_info(header)?;
        let mut head = class()?;
        head.extend(text_matrix("name", &names.collect::<Vec<_>>())?);
        head.extend(text_matrix("description", &texts.collect::<Vec<_>>())?);
        head.extend(matrix_head(Type4::Integer, "dataInfo", 4, info.len() / 4)?);
        head.extend(info.iter().flat_map(|i| i.to_le_bytes()));
        head.extend(matrix_head(Type4::Double, "data_1", 1 + constants.len(), 2)?);
        let mut at_times = [0; 2];
        for at in &mut at_times {
            *at = head.len() as u64;
            head.extend(0f64.to_le_bytes());
            head.extend(constants.iter().flat_map(|c| c.to_le_bytes()));
        }
        let at_count = head.len() as u64 + AT_COLUMNS;
        let n_places = header.n_places();
        head.extend(matrix_head(Type4::Double, "data_2", 1 + n_places, 0)?);
        Ok(MatEncoder { head, n_places, n_rows: 0, at_times, times: [0.0; 2], at_count })
    }
}

impl Encoder for MatEncoder {
    fn start(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        out.append(&mut self.head);
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64], out: &mut Vec<u8>) -> io::Result<()> {
        if self.n_rows == 0 {
            self.times[0] = time;
        }
        self.times[1] = time;
        self.n_rows =
            self.n_rows.checked_add(1).ok_or_else(|| io::Error::other("a MAT file has at most 2³¹−1 rows"))?;
        out.extend(time.to_le_bytes());
        let missing = std::iter::repeat_n(f64::NAN, self.n_places.saturating_sub(values.len()));
        let values = values.iter().take(self.n_places).copied().chain(missing);
        values.for_each(|v| out.extend(v.to_le_bytes()));
        Ok(())
    }

    fn closing(&self, _is_complete: bool) -> io::Result<Closing> {
        let times = self.at_times.iter().zip(self.times).map(|(at, t)| (*at, t.to_le_bytes().to_vec()));
        let count = (self.at_count, self.n_rows.to_le_bytes().to_vec());
        Ok(Closing { tail: Vec::new(), patches: times.chain([count]).collect() })
    }
}

fn matrix_head(ty: Type4, name: &str, rows: usize, columns: usize) -> io::Result<Vec<u8>> {
    head4(ty, name, rows, columns).map_err(io::Error::other)
}

/// Matrix, row, interpolation and extrapolation of every name, and the values of parameters.
fn data_info(header: &Header) -> io::Result<(Vec<i32>, Vec<f64>)> {
    // The first row is time.
    let row = |n: usize| i32::try_from(n + 1).map_err(|_| io::Error::other("more signals than a MAT file can hold"));
    let mut info: Vec<i32> = vec![0, 1, 0, -1];
    let mut constants: Vec<f64> = Vec::new();
    for signal in &header.signals {
        match signal.source {
            Source::Constant(value) => {
                constants.push(value);
                info.extend([1, row(constants.len())?, 0, 0]);
            }
            Source::Column { index, negated } => {
                let place = row(index + 1)?;
                info.extend([2, if negated { -place } else { place }, 0, -1]);
            }
        }
    }
    Ok((info, constants))
}

/// The description with unit, unit to display and type in brackets, as Dymola writes them. That values are differences cannot be said
/// there: they have no unit to display, because a reader would convert them with its offset.
fn describe(signal: &Signal) -> String {
    let mut bracket = signal.unit.clone();
    if !signal.display_unit.is_empty() && signal.display_unit != signal.unit && !signal.is_difference {
        bracket += &format!("|{}", signal.display_unit);
    }
    if signal.kind != Kind::Real {
        bracket += &format!(":#(type={})", signal.kind.name());
    }
    match (signal.description.is_empty(), bracket.is_empty()) {
        (_, true) => signal.description.clone(),
        (true, false) => format!("[{bracket}]"),
        (false, false) => format!("{} [{bracket}]", signal.description),
    }
}

fn class() -> io::Result<Vec<u8>> {
    let rows = ["Atrajectory", "1.1", "", "binTrans"];
    let mut bytes = matrix_head(Type4::Text, "Aclass", rows.len(), 11)?;
    for column in 0..11 {
        bytes.extend(rows.map(|text| text.as_bytes().get(column).copied().unwrap_or(b' ')));
    }
    Ok(bytes)
}

fn text_matrix(name: &str, texts: &[String]) -> io::Result<Vec<u8>> {
    let longest = texts.iter().map(|t| t.len()).max().unwrap_or(0).max(1);
    let mut bytes = matrix_head(Type4::Text, name, longest, texts.len())?;
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len() + longest - text.len(), b' ');
    }
    Ok(bytes)
}

/// A matrix, column by column.
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn of(entry: &Entry4<'_>) -> Matrix {
        Matrix { rows: entry.rows, columns: entry.columns, values: entry.numbers() }
    }

    fn get(&self, row: usize, column: usize) -> Option<f64> {
        if row >= self.rows {
            return None;
        }
        self.values.get(column * self.rows + row).copied()
    }

    fn row(&self, row: usize) -> Vec<f64> {
        (0..self.columns).map(|c| self.get(row, c).unwrap_or(f64::NAN)).collect()
    }

    fn transposed(&self) -> Matrix {
        let at = |i: usize| self.get(i / self.columns.max(1), i % self.columns.max(1)).unwrap_or(f64::NAN);
        let values = (0..self.values.len()).map(at).collect();
        Matrix { rows: self.columns, columns: self.rows, values }
    }

    /// The text of a column.
    fn text(&self, column: usize) -> String {
        let bytes: Vec<u8> = (0..self.rows).filter_map(|r| self.get(r, column)).map(|v| v as u8).collect();
        String::from_utf8_lossy(&bytes).trim_end_matches(['\0', ' ']).to_owned()
    }
}

pub fn read(bytes: &[u8], title: &str) -> Result<Results, ReadError> {
    let odd = || ReadError::new("expected a MATLAB level 4 matrix, found something else");
    let entries = entries4(bytes).map_err(|_| odd())?;
    let find = |name: &str| {
        let found = entries.iter().find(|e| e.name == name.as_bytes()).map(Matrix::of);
        found.ok_or_else(|| ReadError::new(format!("expected a trajectory file, found no matrix `{name}`")))
    };
    let is_transposed = find("Aclass")?.transposed().text(3) != "binNormal";
    // As if all were transposed: names by column, times by column.
    let turned = |name: &str| find(name).map(|m| if is_transposed { m } else { m.transposed() });
    let (name, info, data_1, data_2) = (turned("name")?, turned("dataInfo")?, turned("data_1")?, turned("data_2")?);
    let description = turned("description").ok();
    if info.rows < 2 || data_2.rows == 0 {
        return Err(ReadError::new("expected a trajectory file, found tables of another size"));
    }
    let mut results = Results::new(title, data_2.row(0));
    results.columns = (1..data_2.rows).map(|r| data_2.row(r)).collect();
    for i in 0..name.columns {
        let (Some(table), Some(place)) = (info.get(0, i), info.get(1, i)) else { break };
        let index = place.abs() as usize;
        let source = match table as i32 {
            1 => {
                let value = index.checked_sub(1).and_then(|r| data_1.get(r, 0)).unwrap_or(f64::NAN);
                Source::Constant(if place < 0.0 { -value } else { value })
            }
            2 if (2..=data_2.rows).contains(&index) => Source::Column { index: index - 2, negated: place < 0.0 },
            _ => continue,
        };
        let described = split(&description.as_ref().map_or(String::new(), |d| d.text(i)));
        results.push(Signal {
            display_unit: described.display_unit,
            ..Signal::new(name.text(i), described.kind, source).described(&described.text, &described.unit)
        });
    }
    Ok(results)
}

#[derive(PartialEq, Debug)]
struct Described {
    text: String,
    unit: String,
    display_unit: String,
    kind: Kind,
}

/// The parts of `Angle [rad|deg]` or `[:#(type=Boolean)]`.
fn split(description: &str) -> Described {
    let bracket = description.strip_suffix(']').and_then(|d| d.rsplit_once('['));
    let Some((text, inside)) = bracket.filter(|(_, inside)| !inside.contains(' ')) else {
        let text = description.to_owned();
        return Described { text, unit: String::new(), display_unit: String::new(), kind: Kind::Real };
    };
    let (units, more) = inside.split_once(':').unwrap_or((inside, ""));
    let (unit, display_unit) = units.split_once('|').unwrap_or((units, ""));
    let ty = more.strip_prefix("#(type=").and_then(|ty| ty.strip_suffix(')'));
    Described {
        text: text.trim_end().to_owned(),
        unit: unit.to_owned(),
        display_unit: display_unit.to_owned(),
        // Of an enumeration Dymola writes the name.
        kind: ty.map_or(Kind::Real, |ty| Kind::from_name(ty).unwrap_or(Kind::Enumeration)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn units_and_types_stand_in_brackets() {
        let found = |text| {
            let d = split(text);
            (d.text, d.unit, d.display_unit, d.kind)
        };
        let real = |text: &str, unit: &str, display: &str| (text.into(), unit.into(), display.into(), Kind::Real);
        assert_eq!(found("Height [m]"), real("Height", "m", ""));
        assert_eq!(found("[rad|deg]"), real("", "rad", "deg"));
        assert_eq!(found("State [of two]"), real("State [of two]", "", ""));
        assert_eq!(found("On [:#(type=Boolean)]"), ("On".into(), String::new(), String::new(), Kind::Boolean));
    }

    #[test]
    fn aliases_share_a_row_with_a_sign() {
        let mut results = Results::new("M", vec![0.0, 1.0]);
        results.add_series("a", "", "", Kind::Real, vec![1.0, 2.0]);
        results.add_series("b", "", "", Kind::Real, vec![-1.0, -2.0]);
        let file = results.encode(Format::Mat).expect("encoding");
        let entries = entries4(&file).expect("matrices");
        let named = |name: &str| entries.iter().find(|e| e.name == name.as_bytes()).expect("the matrix");
        assert_eq!((named("data_2").rows, named("data_2").columns), (2, 2));
        // Time is the abscissa; `a` is row 2 of data_2 and `b` its negative.
        assert_eq!(named("dataInfo").numbers(), [0.0, 1.0, 0.0, -1.0, 2.0, 2.0, 0.0, -1.0, 2.0, -2.0, 0.0, -1.0]);
        // Parameters have the first and the last time.
        assert_eq!(named("data_1").numbers(), [0.0, 1.0]);
    }
}
