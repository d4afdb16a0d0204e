//! Comma-separated values: a head line `"time","x",…` and a line for each row.
//!
//! Reads also semicolons, heads without quotes, and tables whose first column has another name than `time`.

use std::io;

use crate::encode::{Closing, Encoder};
use crate::signal::{Header, Kind, Source};
use crate::table::{ReadError, Results};

pub(crate) struct CsvEncoder {
    has_time: bool,
    /// The first line, until it is written.
    head: Vec<u8>,
    signals: Vec<(Kind, Source)>,
    digits: zmij::Buffer,
    /// The value of each signal in the last row, and its text: many variables keep their value from row to row.
    texts: Vec<(u64, String)>,
}

impl CsvEncoder {
    pub fn new(header: &Header) -> Self {
        let signals: Vec<(Kind, Source)> = header.columns().map(|s| (s.kind, s.source)).collect();
        let texts = vec![(0, String::new()); signals.len()];
        let time = header.has_time.then_some("time").into_iter();
        let mut head = Vec::new();
        for name in time.chain(header.columns().map(|s| s.name.as_str())) {
            head.extend(if head.is_empty() { "\"" } else { ",\"" }.as_bytes());
            for (i, part) in name.split('"').enumerate() {
                head.extend(if i > 0 { "\"\"" } else { "" }.as_bytes());
                head.extend(part.as_bytes());
            }
            head.push(b'"');
        }
        head.push(b'\n');
        CsvEncoder { has_time: header.has_time, head, signals, digits: zmij::Buffer::new(), texts }
    }
}

impl Encoder for CsvEncoder {
    fn start(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        out.append(&mut self.head);
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64], out: &mut Vec<u8>) -> io::Result<()> {
        if self.has_time {
            out.extend(self.digits.format(time).as_bytes());
        }
        for (i, ((kind, source), (bits, text))) in self.signals.iter().zip(&mut self.texts).enumerate() {
            let value = source.value(values);
            if text.is_empty() || *bits != value.to_bits() {
                *bits = value.to_bits();
                text.clear();
                match kind {
                    Kind::Real => text.push_str(self.digits.format(value)),
                    _ => text.push_str(&value.to_string()),
                }
            }
            if i > 0 || self.has_time {
                out.push(b',');
            }
            out.extend(text.as_bytes());
        }
        out.push(b'\n');
        Ok(())
    }

    fn closing(&self, _is_complete: bool) -> io::Result<Closing> {
        Ok(Closing::default())
    }
}

pub fn read(bytes: &[u8], title: &str) -> Result<Results, ReadError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines();
    let head = lines.next().unwrap_or("");
    let separator = if head.matches(';').count() > head.matches("\",\"").count() { ';' } else { ',' };
    let names = fields(head, separator);
    if names.len() < 2 && !head.contains("time") {
        return Err(ReadError::new("expected a head line with `time` and signals, found something else"));
    }
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for (n, line) in lines.enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let mut values = line.split(separator).map(str::trim);
        for column in &mut columns {
            let text = values.next().unwrap_or("");
            column.push(number(text).ok_or_else(|| {
                ReadError::new(format!("expected a number in line {}, found `{}`", n + 2, shorten(text)))
            })?);
        }
    }
    let time = names.iter().position(|n| n.eq_ignore_ascii_case("time")).unwrap_or(0);
    let mut results = Results::new(title, std::mem::take(&mut columns[time]));
    for (i, (name, values)) in names.iter().zip(columns).enumerate() {
        if i != time && !name.is_empty() {
            results.add_series(name, "", "", Kind::Real, values);
        }
    }
    Ok(results)
}

/// An empty field is a value that is not known.
fn number(text: &str) -> Option<f64> {
    match text.trim_matches('"') {
        "" => Some(f64::NAN),
        "true" => Some(1.0),
        "false" => Some(0.0),
        other => other.parse().ok(),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Fields of a head line; in quotes a separator is part of the name and `""` a quote.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut in_quotes = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let Some(field) = fields.last_mut() else { break };
        match c {
            '"' if in_quotes && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => in_quotes = !in_quotes,
            c if c == separator && !in_quotes => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields.into_iter().map(|f| f.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn a_table_has_a_head_and_rows() {
        let mut results = Results::new("M", vec![0.0, 0.5]);
        results.add_series("x", "", "", Kind::Real, vec![1.0, 1e-9]);
        results.add_constant("k", "", "", Kind::Real, 1.0);
        results.add_series("n", "", "", Kind::Integer, vec![2.0, 3.0]);
        let text = results.encode(Format::Csv).expect("encoding");
        assert_eq!(String::from_utf8_lossy(&text), "\"time\",\"x\",\"n\"\n0.0,1.0,2\n0.5,1e-9,3\n");
    }

    #[test]
    fn other_dialects_are_read() {
        let read = read(b"t;a,b;\"c\"\r\n0;1;true\r\n1;;2\r\n", "M").expect("a table");
        assert_eq!(read.times, [0.0, 1.0]);
        assert_eq!(read.values("c").as_deref(), Some(&[1.0, 2.0][..]));
        assert!(read.values("a,b").is_some_and(|v| v[1].is_nan()));
    }

    #[test]
    fn what_is_no_number_is_named_with_its_line() {
        let error = read(b"\"time\",\"x\"\n0,1\n1,abc\n", "M").expect_err("no table");
        assert_eq!(error.message, "expected a number in line 3, found `abc`");
    }
}
