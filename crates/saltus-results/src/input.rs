//! Inputs of a model from a table: `--input FILE`.
//!
//! In: a table and the inputs that it shall drive. Out: their points, checked. A Real moves on a line from row to row, everything else
//! keeps its value until the next row; two rows at the same time are a jump. The simulation makes values and events of them.
//!
//! ```
//! use saltus_results::{Kind, Results, input_columns};
//!
//! let mut table = Results::new("table.csv", vec![0.0, 1.0]);
//! table.add_series("u", "", "V", Kind::Real, vec![0.0, 5.0]);
//! let columns = input_columns(&table, &[("u", Kind::Real)]).unwrap();
//! assert_eq!((columns[0].values.as_slice(), columns[0].is_held), (&[0.0, 5.0][..], false));
//! ```

use std::fmt;

use saltus_base::nearest;

use crate::signal::Kind;
use crate::table::Results;

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

/// Values of one input, as many as the table has times.
#[derive(Clone, PartialEq, Debug)]
pub struct InputColumn {
    pub values: Vec<f64>,
    /// Does it keep its value between two rows?
    pub is_held: bool,
}

/// The columns with these names, in this order. Parameters of the table are constant columns.
pub fn input_columns(table: &Results, inputs: &[(&str, Kind)]) -> Result<Vec<InputColumn>, InputError> {
    check_times(&table.times)?;
    inputs.iter().map(|(name, kind)| column(table, name, *kind)).collect()
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

fn column(table: &Results, name: &str, kind: Kind) -> Result<InputColumn, InputError> {
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
        None => Ok(InputColumn { is_held: kind.is_held(), values: values.into_owned() }),
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
    fn only_reals_move_on_lines() {
        let rows = table(&[0.0, 1.0, 1.0], "n", &[1.0, 1.0, 2.0]);
        for (kind, is_held) in [(Kind::Real, false), (Kind::Integer, true), (Kind::Enumeration, true)] {
            let columns = input_columns(&rows, &[("n", kind)]);
            assert_eq!(columns, Ok(vec![InputColumn { values: vec![1.0, 1.0, 2.0], is_held }]));
        }
    }

    #[test]
    fn tables_that_cannot_be_inputs_say_why() {
        let message = |times: &[f64], values: &[f64], kind| {
            input_columns(&table(times, "voltage", values), &[("voltage", kind)]).unwrap_err().to_string()
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
        let wrong = input_columns(&table(times, "voltage", &[0.0; 2]), &[("voltag", Kind::Real)]).unwrap_err();
        assert_eq!(wrong.to_string(), "expected a column `voltag`, found none; did you mean `voltage`?");
    }
}
