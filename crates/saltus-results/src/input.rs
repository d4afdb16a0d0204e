//! Inputs of a model from a table: `--input FILE`.
//!
//! In: a table and the inputs that it shall drive. Out: their values at any time. A Real moves on a line from row to row, everything else
//! keeps its value until the next row. Two rows at the same time are a jump: the first has the value before, the last the value after.
//! Before the first row and after the last one the value stays what it is there.
//!
//! ```
//! use saltus_results::{InputTable, Kind, Results, Side};
//!
//! let mut table = Results::new("table.csv", vec![0.0, 1.0, 1.0, 2.0]);
//! table.add_series("u", "", "V", Kind::Real, vec![0.0, 1.0, 5.0, 5.0]);
//! let input = InputTable::new(&table, &[("u", Kind::Real)]).unwrap();
//! assert_eq!(input.value(0, 0.5, Side::Right), 0.5);
//! assert_eq!((input.value(0, 1.0, Side::Left), input.value(0, 1.0, Side::Right)), (1.0, 5.0));
//! assert_eq!(input.discontinuities(), [1.0]);
//! ```

use std::fmt;

use saltus_base::nearest;

use crate::signal::Kind;
use crate::table::Results;

/// Which of the two values at a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The value before.
    Left,
    /// The value after.
    Right,
}

/// Why a table cannot drive the inputs of a model.
#[derive(Clone, PartialEq, Debug)]
pub enum InputError {
    /// No column has the name of the input.
    NoColumn {
        name: String,
        similar: Option<String>,
    },
    /// A time or a value is not a number.
    NotFinite {
        name: String,
        row: usize,
    },
    /// A time is smaller than the one before.
    StepBack {
        row: usize,
        before: f64,
        time: f64,
    },
    /// A value that the type of the input does not have.
    NotOfType {
        name: String,
        kind: Kind,
        row: usize,
        value: f64,
    },
    NoRows,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::NoColumn { name, similar: Some(similar) } => {
                write!(f, "expected a column `{name}`, found none; did you mean `{similar}`?")
            }
            InputError::NoColumn { name, similar: None } => write!(f, "expected a column `{name}`, found none"),
            InputError::NotFinite { name, row } => {
                write!(f, "expected a finite number in row {row} of column `{name}`, found none")
            }
            InputError::StepBack { row, before, time } => {
                write!(f, "expected times that do not decrease, found {time:?} after {before:?} in row {row}")
            }
            InputError::NotOfType { name, kind, row, value } => {
                write!(f, "expected values of type {} in column `{name}`, found {value:?} in row {row}", kind.name())
            }
            InputError::NoRows => write!(f, "expected a table of inputs, found one without rows"),
        }
    }
}

impl std::error::Error for InputError {}

/// Values of inputs over time.
#[derive(Clone, PartialEq, Debug)]
pub struct InputTable {
    times: Vec<f64>,
    columns: Vec<Column>,
    discontinuities: Vec<f64>,
}

#[derive(Clone, PartialEq, Debug)]
struct Column {
    is_held: bool,
    values: Vec<f64>,
}

impl InputTable {
    /// The columns with these names, in this order. Parameters of the table are constant columns.
    pub fn new(table: &Results, inputs: &[(&str, Kind)]) -> Result<InputTable, InputError> {
        check_times(&table.times)?;
        let columns = inputs.iter().map(|(name, kind)| column(table, name, *kind)).collect::<Result<Vec<_>, _>>()?;
        let mut input = InputTable { times: table.times.clone(), columns, discontinuities: Vec::new() };
        input.discontinuities = input.find_discontinuities();
        Ok(input)
    }

    /// The value of the n-th input.
    pub fn value(&self, column: usize, time: f64, side: Side) -> f64 {
        let Some(column) = self.columns.get(column) else { return f64::NAN };
        // Rows before `n` are before the time, and at it if the value after is wanted.
        let n = match side {
            Side::Left => self.times.partition_point(|t| *t < time),
            Side::Right => self.times.partition_point(|t| *t <= time),
        };
        let at = |i: usize| column.values.get(i).copied().unwrap_or(f64::NAN);
        let last = self.times.len() - 1;
        match n {
            0 => at(0),
            n if column.is_held || n > last => at(n - 1),
            n => line((self.times[n - 1], at(n - 1)), (self.times[n], at(n)), time),
        }
    }

    /// Times at which an input jumps, ascending.
    pub fn discontinuities(&self) -> &[f64] {
        &self.discontinuities
    }

    /// The first and the last time.
    pub fn span(&self) -> (f64, f64) {
        (self.times[0], self.times[self.times.len() - 1])
    }

    fn find_discontinuities(&self) -> Vec<f64> {
        let mut found: Vec<f64> = Vec::new();
        for (i, pair) in self.times.windows(2).enumerate() {
            let is_jump = |c: &Column| (c.is_held || pair[0] == pair[1]) && c.values[i] != c.values[i + 1];
            if self.columns.iter().any(is_jump) && found.last() != Some(&pair[1]) {
                found.push(pair[1]);
            }
        }
        found
    }
}

/// A value on the line through two points, exact at both of them.
fn line((t0, v0): (f64, f64), (t1, v1): (f64, f64), time: f64) -> f64 {
    if time == t1 { v1 } else { v0 + (v1 - v0) * ((time - t0) / (t1 - t0)) }
}

fn check_times(times: &[f64]) -> Result<(), InputError> {
    if times.is_empty() {
        return Err(InputError::NoRows);
    }
    if let Some(i) = times.iter().position(|t| !t.is_finite()) {
        return Err(InputError::NotFinite { name: "time".to_owned(), row: i + 1 });
    }
    match times.windows(2).position(|w| w[0] > w[1]) {
        Some(i) => Err(InputError::StepBack { row: i + 2, before: times[i], time: times[i + 1] }),
        None => Ok(()),
    }
}

fn column(table: &Results, name: &str, kind: Kind) -> Result<Column, InputError> {
    let Some(values) = table.values(name) else {
        let similar = nearest(name, table.signals.iter().map(|s| s.name.as_str())).map(str::to_owned);
        return Err(InputError::NoColumn { name: name.to_owned(), similar });
    };
    if let Some(i) = values.iter().position(|v| !v.is_finite()) {
        return Err(InputError::NotFinite { name: name.to_owned(), row: i + 1 });
    }
    let is_of_type = |v: f64| match kind {
        Kind::Real => true,
        Kind::Integer => v.fract() == 0.0,
        Kind::Boolean => v == 0.0 || v == 1.0,
        Kind::Enumeration => v.fract() == 0.0 && v >= 1.0,
    };
    match values.iter().position(|v| !is_of_type(*v)) {
        Some(i) => Err(InputError::NotOfType { name: name.to_owned(), kind, row: i + 1, value: values[i] }),
        None => Ok(Column { is_held: kind.is_held(), values: values.into_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(times: &[f64], name: &str, values: &[f64]) -> Results {
        let mut table = Results::new("t", times.to_vec());
        table.add_series(name, "", "", Kind::Real, values.to_vec());
        table
    }

    #[test]
    fn reals_move_on_lines_and_stay_outside() {
        let input = InputTable::new(&table(&[1.0, 2.0, 4.0], "u", &[10.0, 20.0, 0.0]), &[("u", Kind::Real)]).unwrap();
        let found = [0.0, 1.0, 1.25, 2.0, 3.0, 4.0, 9.0].map(|t| input.value(0, t, Side::Right));
        assert_eq!(found, [10.0, 10.0, 12.5, 20.0, 10.0, 0.0, 0.0]);
        assert_eq!(found, [0.0, 1.0, 1.25, 2.0, 3.0, 4.0, 9.0].map(|t| input.value(0, t, Side::Left)));
        assert!(input.discontinuities().is_empty());
        assert_eq!(input.span(), (1.0, 4.0));
    }

    #[test]
    fn everything_else_is_held_and_jumps() {
        let rows = table(&[0.0, 1.0, 2.0, 3.0], "n", &[1.0, 1.0, 4.0, 4.0]);
        let input = InputTable::new(&rows, &[("n", Kind::Integer)]).unwrap();
        assert_eq!([0.5, 1.99, 2.0, 5.0].map(|t| input.value(0, t, Side::Right)), [1.0, 1.0, 4.0, 4.0]);
        assert_eq!(input.value(0, 2.0, Side::Left), 1.0);
        assert_eq!(input.discontinuities(), [2.0]);
    }

    #[test]
    fn several_rows_at_a_time_are_one_jump() {
        let rows = table(&[0.0, 1.0, 1.0, 1.0, 2.0], "u", &[0.0, 1.0, 7.0, 3.0, 4.0]);
        let input = InputTable::new(&rows, &[("u", Kind::Real)]).unwrap();
        assert_eq!((input.value(0, 1.0, Side::Left), input.value(0, 1.0, Side::Right)), (1.0, 3.0));
        assert_eq!(input.value(0, 1.5, Side::Left), 3.5);
        assert_eq!(input.discontinuities(), [1.0]);
    }

    #[test]
    fn tables_that_cannot_be_inputs_say_why() {
        let message = |times: &[f64], values: &[f64], kind| {
            InputTable::new(&table(times, "voltage", values), &[("voltage", kind)]).unwrap_err().to_string()
        };
        let times = &[0.0, 1.0];
        assert_eq!(
            message(&[0.0, 2.0, 1.5], &[0.0; 3], Kind::Real),
            "expected times that do not decrease, found 1.5 after 2.0 in row 3"
        );
        assert_eq!(
            message(times, &[0.0, f64::NAN], Kind::Real),
            "expected a finite number in row 2 of column `voltage`, found none"
        );
        assert_eq!(
            message(times, &[1.0, 0.5], Kind::Boolean),
            "expected values of type Boolean in column `voltage`, found 0.5 in row 2"
        );
        assert_eq!(message(&[], &[], Kind::Real), "expected a table of inputs, found one without rows");
        let wrong = InputTable::new(&table(times, "voltage", &[0.0; 2]), &[("voltag", Kind::Real)]).unwrap_err();
        assert_eq!(wrong.to_string(), "expected a column `voltag`, found none; did you mean `voltage`?");
    }
}
