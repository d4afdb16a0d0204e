//! What a column of a table is called and means, without its values.

use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Comma-separated values: signals that vary, and parameters that were chosen by name.
    Csv,
    /// The layout of Dymola and OpenModelica, MATLAB level 4.
    Mat,
    /// Apache Parquet, one column a signal.
    Parquet,
}

impl Format {
    pub const EXTENSIONS: [(&'static str, Format); 3] =
        [("csv", Format::Csv), ("mat", Format::Mat), ("parquet", Format::Parquet)];

    /// By the extension of a file name.
    pub fn of(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Format::EXTENSIONS.iter().find(|(e, _)| *e == extension).map(|(_, format)| *format)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Real,
    Integer,
    /// 0 and 1.
    Boolean,
    /// Ordinal numbers of the literals, from 1.
    Enumeration,
}

impl Kind {
    /// The name of the type in Modelica.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Real => "Real",
            Kind::Integer => "Integer",
            Kind::Boolean => "Boolean",
            Kind::Enumeration => "enumeration",
        }
    }

    pub fn from_name(name: &str) -> Option<Kind> {
        [Kind::Real, Kind::Integer, Kind::Boolean, Kind::Enumeration].into_iter().find(|k| k.name() == name)
    }

    /// Does the value stay the same between two rows, rather than move on a line?
    pub fn is_held(self) -> bool {
        self != Kind::Real
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Signal {
    pub name: String,
    pub description: String,
    pub unit: String,
    pub display_unit: String,
    /// A difference of two values, which has no offset in any unit.
    pub is_difference: bool,
    pub kind: Kind,
    /// Of an enumeration, in their order.
    pub literals: Vec<String>,
    pub source: Source,
}

impl Signal {
    pub fn new(name: impl Into<String>, kind: Kind, source: Source) -> Self {
        Signal {
            name: name.into(),
            description: String::new(),
            unit: String::new(),
            display_unit: String::new(),
            is_difference: false,
            kind,
            literals: Vec::new(),
            source,
        }
    }

    pub fn described(self, description: &str, unit: &str) -> Self {
        Signal { description: description.to_owned(), unit: unit.to_owned(), ..self }
    }
}

/// Where the values of a signal are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    /// In a column of the table, which is a place of every row; with the sign changed or not. Aliases share a column.
    Column { index: usize, negated: bool },
    /// A parameter: one value for the whole run.
    Constant(f64),
}

impl Source {
    /// The value in a row; not-a-number where the row is too short.
    pub fn value(self, row: &[f64]) -> f64 {
        match self {
            Source::Constant(value) => value,
            Source::Column { index, negated } => {
                let value = row.get(index).copied().unwrap_or(f64::NAN);
                if negated { -value } else { value }
            }
        }
    }
}

/// What is known about a table before its first row.
#[derive(Clone, PartialEq, Debug)]
pub struct Header {
    /// Name of the model.
    pub title: String,
    /// Is there a column of times, before all others?
    pub has_time: bool,
    pub signals: Vec<Signal>,
    /// Were the signals chosen by name? Then parameters among them get a column in formats without a place for them.
    pub is_choice: bool,
    /// May Reals be without a value in some rows? They are not-a-number then, or null in formats that have it.
    pub has_gaps: bool,
}

impl Header {
    pub fn new(title: impl Into<String>, signals: Vec<Signal>) -> Self {
        Header { title: title.into(), has_time: true, signals, is_choice: false, has_gaps: false }
    }

    /// Signals that vary.
    pub fn series(&self) -> impl Iterator<Item = &Signal> {
        self.signals.iter().filter(|s| matches!(s.source, Source::Column { .. }))
    }

    /// Signals that a format without a place for parameters has columns for.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Signal> {
        self.signals.iter().filter(|s| self.is_choice || matches!(s.source, Source::Column { .. }))
    }

    /// Numbers in a row.
    pub fn n_places(&self) -> usize {
        let places = self.signals.iter().filter_map(|s| match s.source {
            Source::Column { index, .. } => Some(index + 1),
            Source::Constant(_) => None,
        });
        places.max().unwrap_or(0)
    }
}

#[cfg(not(feature = "parquet"))]
pub(crate) const NO_PARQUET: &str = "this build of Saltus has no Parquet (feature `parquet`)";
