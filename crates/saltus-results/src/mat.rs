//! The trajectory layout of Dymola and OpenModelica in a MATLAB level 4 file.
//!
//! ```text
//! Aclass       Atrajectory / 1.1 / / binTrans
//! name         one name a column
//! description  `Height above the ground [m]`
//! dataInfo     for each name: which matrix, which row of it with a sign, how to interpolate, how to extrapolate
//! data_1       parameters at the first and the last time
//! data_2       variables at all times; aliases share a row
//! ```
//!
//! Written transposed (`binTrans`), little-endian, in double precision. Read transposed or not, in all number types.

use std::io::{self, Write};

use crate::bytes::Bytes;
use crate::table::{Kind, ReadError, Results, Source};

/// Numbers in the type field of a matrix: double, 32-bit integer, text of bytes.
const DOUBLE: i32 = 0;
const INTEGER: i32 = 20;
const TEXT: i32 = 51;

pub fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = std::iter::once("time").chain(results.signals.iter().map(|s| s.name.as_str())).collect();
    let texts = results.signals.iter().map(|s| describe(&s.description, &s.unit));
    let descriptions: Vec<String> = std::iter::once("Time [s]".to_owned()).chain(texts).collect();
    let descriptions: Vec<&str> = descriptions.iter().map(String::as_str).collect();
    write_class(out)?;
    write_texts(out, "name", &names)?;
    write_texts(out, "description", &descriptions)?;
    let mut info: Vec<i32> = vec![0, 1, 0, -1];
    let mut constants: Vec<f64> = Vec::new();
    for signal in &results.signals {
        match signal.source {
            Source::Constant(value) => {
                constants.push(value);
                info.extend([1, row(constants.len()), 0, 0]);
            }
            Source::Column { index, negated } => {
                let place = row(index + 1);
                info.extend([2, if negated { -place } else { place }, 0, -1]);
            }
        }
    }
    write_head(out, "dataInfo", INTEGER, 4, info.len() / 4)?;
    out.write_all(&info.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>())?;
    let ends = [results.times.first().copied().unwrap_or(0.0), results.times.last().copied().unwrap_or(0.0)];
    write_head(out, "data_1", DOUBLE, 1 + constants.len(), 2)?;
    for t in ends {
        write_numbers(out, std::iter::once(t).chain(constants.iter().copied()))?;
    }
    write_head(out, "data_2", DOUBLE, 1 + results.columns.len(), results.times.len())?;
    for (i, &t) in results.times.iter().enumerate() {
        let row = results.columns.iter().map(|c| c.get(i).copied().unwrap_or(f64::NAN));
        write_numbers(out, std::iter::once(t).chain(row))?;
    }
    Ok(())
}

/// The row of the n-th column or constant; the first is time.
fn row(n: usize) -> i32 {
    i32::try_from(n + 1).unwrap_or(i32::MAX)
}

fn describe(description: &str, unit: &str) -> String {
    // The reader takes the last bracket for the unit.
    match (description.is_empty(), unit.is_empty()) {
        (_, true) => description.to_owned(),
        (true, false) => format!("[{unit}]"),
        (false, false) => format!("{description} [{unit}]"),
    }
}

fn write_head(out: &mut dyn Write, name: &str, ty: i32, rows: usize, columns: usize) -> io::Result<()> {
    let size = |n: usize| i32::try_from(n).map_err(|_| io::Error::other("more results than the MAT format can hold"));
    for number in [ty, size(rows)?, size(columns)?, 0, size(name.len() + 1)?] {
        out.write_all(&number.to_le_bytes())?;
    }
    out.write_all(name.as_bytes())?;
    out.write_all(&[0])
}

fn write_class(out: &mut dyn Write) -> io::Result<()> {
    let rows = ["Atrajectory", "1.1", "", "binTrans"];
    write_head(out, "Aclass", TEXT, rows.len(), 11)?;
    for column in 0..11 {
        for text in rows {
            out.write_all(&[text.as_bytes().get(column).copied().unwrap_or(b' ')])?;
        }
    }
    Ok(())
}

fn write_texts(out: &mut dyn Write, name: &str, texts: &[&str]) -> io::Result<()> {
    let longest = texts.iter().map(|t| t.len()).max().unwrap_or(0).max(1);
    write_head(out, name, TEXT, longest, texts.len())?;
    let mut bytes = Vec::with_capacity(longest * texts.len());
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len() + longest - text.len(), b' ');
    }
    out.write_all(&bytes)
}

fn write_numbers(out: &mut dyn Write, numbers: impl Iterator<Item = f64>) -> io::Result<()> {
    out.write_all(&numbers.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}

/// A matrix, column by column.
struct Matrix {
    name: String,
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn get(&self, row: usize, column: usize) -> Option<f64> {
        if row >= self.rows {
            return None;
        }
        self.values.get(column * self.rows + row).copied()
    }

    fn transposed(&self) -> Matrix {
        let at = |i: usize| self.get(i / self.columns.max(1), i % self.columns.max(1)).unwrap_or(f64::NAN);
        let values = (0..self.values.len()).map(at).collect();
        Matrix { name: self.name.clone(), rows: self.columns, columns: self.rows, values }
    }

    /// The text of a column.
    fn text(&self, column: usize) -> String {
        let bytes: Vec<u8> = (0..self.rows).filter_map(|r| self.get(r, column)).map(|v| v as u8).collect();
        String::from_utf8_lossy(&bytes).trim_end_matches(['\0', ' ']).to_owned()
    }
}

fn read_matrix(bytes: &mut Bytes<'_>) -> Result<Matrix, ReadError> {
    bytes.is_big_endian = false;
    let start = bytes.at;
    let mut ty = bytes.i32()?;
    if !(0..=9999).contains(&ty) {
        bytes.is_big_endian = true;
        bytes.at = start;
        ty = bytes.i32()?;
    }
    let odd = || ReadError::new("expected a MATLAB level 4 matrix, found something else");
    let mut size = || bytes.i32().and_then(|n| usize::try_from(n).map_err(|_| odd()));
    let (rows, columns, is_complex, n_name) = (size()?, size()?, size()?, size()?);
    if !(0..=9999).contains(&ty) || is_complex != 0 || n_name > 1000 {
        return Err(odd());
    }
    let name = String::from_utf8_lossy(bytes.take(n_name)?).trim_end_matches('\0').to_owned();
    let n = rows.checked_mul(columns).ok_or_else(odd)?;
    let precision = ty / 10 % 10;
    let width = [8, 4, 4, 2, 2, 1].get(precision as usize).copied().ok_or_else(odd)?;
    // All bytes must be there before room is made for their values.
    let mut data = Bytes::new(bytes.take(n.checked_mul(width).ok_or_else(odd)?)?);
    data.is_big_endian = bytes.is_big_endian;
    let mut values = Vec::with_capacity(n);
    for _ in 0..n {
        values.push(match precision {
            0 => data.f64()?,
            1 => f64::from(data.f32()?),
            2 => f64::from(data.i32()?),
            3 => f64::from(data.i16()?),
            4 => f64::from(data.i16()? as u16),
            _ => f64::from(data.u8()?),
        });
    }
    Ok(Matrix { name, rows, columns, values })
}

pub fn read(bytes: &[u8], title: &str) -> Result<Results, ReadError> {
    let mut bytes = Bytes::new(bytes);
    let mut matrices = Vec::new();
    while !bytes.is_at_end() {
        matrices.push(read_matrix(&mut bytes)?);
    }
    let find = |name: &str| {
        let found = matrices.iter().find(|m| m.name == name);
        found.ok_or_else(|| ReadError::new(format!("expected a trajectory file, found no matrix `{name}`")))
    };
    let is_transposed = find("Aclass")?.transposed().text(3) != "binNormal";
    // As if all were transposed: names by column, times by column.
    let turn = |m: &Matrix| if is_transposed { None } else { Some(m.transposed()) };
    let (name, info) = (find("name")?, find("dataInfo")?);
    let (turned_name, turned_info) = (turn(name), turn(info));
    let (name, info) = (turned_name.as_ref().unwrap_or(name), turned_info.as_ref().unwrap_or(info));
    let description = find("description").ok();
    let turned_description = description.and_then(turn);
    let description = turned_description.as_ref().or(description);
    let (data_1, data_2) = (find("data_1")?, find("data_2")?);
    let (turned_1, turned_2) = (turn(data_1), turn(data_2));
    let (data_1, data_2) = (turned_1.as_ref().unwrap_or(data_1), turned_2.as_ref().unwrap_or(data_2));
    let row = |matrix: &Matrix, r: usize| -> Vec<f64> {
        (0..matrix.columns).map(|c| matrix.get(r, c).unwrap_or(f64::NAN)).collect()
    };
    if info.rows < 2 || data_2.rows == 0 {
        return Err(ReadError::new("expected a trajectory file, found tables of another size"));
    }
    let mut results = Results::new(title, row(data_2, 0));
    results.columns = (1..data_2.rows).map(|r| row(data_2, r)).collect();
    for i in 0..name.columns {
        let (Some(table), Some(place)) = (info.get(0, i), info.get(1, i)) else { break };
        let index = place.abs() as usize;
        let (text, unit) = split(&description.map_or(String::new(), |d| d.text(i)));
        let source = match table as i32 {
            1 => {
                let value = index.checked_sub(1).and_then(|r| data_1.get(r, 0)).unwrap_or(f64::NAN);
                Source::Constant(if place < 0.0 { -value } else { value })
            }
            2 if (2..=data_2.rows).contains(&index) => Source::Column { index: index - 2, negated: place < 0.0 },
            _ => continue,
        };
        results.add(&name.text(i), &text, &unit, Kind::Real, source);
    }
    Ok(results)
}

/// Text and unit of `Height [m]`; behind a bar stands the unit to display.
fn split(description: &str) -> (String, String) {
    let bracket = description.strip_suffix(']').and_then(|d| d.rsplit_once('['));
    match bracket {
        Some((text, unit)) if !unit.contains(' ') => {
            let unit = unit.split(['|', ':']).next().unwrap_or("");
            (text.trim_end().to_owned(), unit.to_owned())
        }
        _ => (description.to_owned(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_in_brackets() {
        assert_eq!(split("Height [m]"), ("Height".into(), "m".into()));
        assert_eq!(split("[rad|deg]"), (String::new(), "rad".into()));
        assert_eq!(split("State [of two]"), ("State [of two]".into(), String::new()));
    }

    #[test]
    fn aliases_share_a_row_with_a_sign() {
        let mut results = Results::new("M", vec![0.0, 1.0]);
        results.add_series("a", "", "", Kind::Real, vec![1.0, 2.0]);
        results.add_series("b", "", "", Kind::Real, vec![-1.0, -2.0]);
        let mut file = Vec::new();
        write(&results, &mut file).expect("writing to memory");
        let mut bytes = Bytes::new(&file);
        let mut matrices = Vec::new();
        while !bytes.is_at_end() {
            matrices.push(read_matrix(&mut bytes).expect("a matrix"));
        }
        let named = |name: &str| matrices.iter().find(|m| m.name == name).expect("the matrix");
        assert_eq!((named("data_2").rows, named("data_2").columns), (2, 2));
        // Time is the abscissa; `a` is row 2 of data_2 and `b` its negative.
        assert_eq!(named("dataInfo").values, [0.0, 1.0, 0.0, -1.0, 2.0, 2.0, 0.0, -1.0, 2.0, -2.0, 0.0, -1.0]);
    }
}
