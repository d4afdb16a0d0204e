//! Variables: their types, attributes and values.

use std::fmt;

/// The types of FMI 3.0. `Real` of 2.0 is [`Type::Float64`], `Integer` is [`Type::Int32`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub enum Type {
    Float32,
    #[default]
    Float64,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Boolean,
    String,
    Binary,
    Enumeration,
    Clock,
}

impl Type {
    pub fn is_float(self) -> bool {
        matches!(self, Type::Float32 | Type::Float64)
    }

    /// Whole numbers, without enumerations.
    pub fn is_integer(self) -> bool {
        self >= Type::Int8 && self <= Type::UInt64
    }

    /// The smallest and the largest whole number of the type.
    pub fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Type::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Type::UInt8 => (0, u8::MAX.into()),
            Type::Int16 => (i16::MIN.into(), i16::MAX.into()),
            Type::UInt16 => (0, u16::MAX.into()),
            Type::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Type::UInt32 => (0, u32::MAX.into()),
            Type::Int64 | Type::Enumeration => (i64::MIN.into(), i64::MAX.into()),
            Type::UInt64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Causality {
    Parameter,
    CalculatedParameter,
    Input,
    Output,
    #[default]
    Local,
    Independent,
    /// 3.0.
    StructuralParameter,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Variability {
    Constant,
    Fixed,
    Tunable,
    Discrete,
    #[default]
    Continuous,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Initial {
    Exact,
    Approx,
    Calculated,
}

/// A bound, in the numbers of its type.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub enum Number {
    Float(f64),
    /// Wide enough for signed and unsigned 64 bits.
    Integer(i128),
}

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Float(x) => x,
            Number::Integer(i) => i as f64,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Float(x) => f.write_str(&crate::attributes::float_text(*x)),
            Number::Integer(i) => write!(f, "{i}"),
        }
    }
}

/// Start values; arrays in row-major order, one value for all elements or one for each.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    Float(Vec<f64>),
    /// Whole numbers and enumerations.
    Integer(Vec<i128>),
    Boolean(Vec<bool>),
    String(Vec<String>),
    Binary(Vec<Vec<u8>>),
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Float(v) => v.len(),
            Values::Integer(v) => v.len(),
            Values::Boolean(v) => v.len(),
            Values::String(v) => v.len(),
            Values::Binary(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What types and variables may both have.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Attributes {
    pub quantity: Option<String>,
    pub unit: Option<String>,
    pub display_unit: Option<String>,
    pub relative_quantity: Option<bool>,
    pub unbounded: Option<bool>,
    pub min: Option<Number>,
    pub max: Option<Number>,
    pub nominal: Option<f64>,
    /// Of binary types.
    pub mime_type: Option<String>,
    pub max_size: Option<u64>,
}

impl Attributes {
    /// These, and where there are none those of `other`.
    pub fn or(&self, other: &Attributes) -> Attributes {
        Attributes {
            quantity: self.quantity.clone().or_else(|| other.quantity.clone()),
            unit: self.unit.clone().or_else(|| other.unit.clone()),
            display_unit: self.display_unit.clone().or_else(|| other.display_unit.clone()),
            relative_quantity: self.relative_quantity.or(other.relative_quantity),
            unbounded: self.unbounded.or(other.unbounded),
            min: self.min.or(other.min),
            max: self.max.or(other.max),
            nominal: self.nominal.or(other.nominal),
            mime_type: self.mime_type.clone().or_else(|| other.mime_type.clone()),
            max_size: self.max_size.or(other.max_size),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct EnumerationItem {
    pub name: String,
    pub value: i64,
    pub description: Option<String>,
}

/// Another name of a variable. In 2.0 it is a variable of its own with the same value reference.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Alias {
    pub name: String,
    pub description: Option<String>,
    pub display_unit: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    Fixed(u64),
    /// The value of the variable with this index, a structural parameter or a constant.
    Variable(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum IntervalVariability {
    Constant,
    Fixed,
    Tunable,
    Changing,
    Countdown,
    #[default]
    Triggered,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct ClockAttributes {
    pub interval: IntervalVariability,
    pub can_be_deactivated: bool,
    pub priority: Option<u32>,
    pub interval_decimal: Option<f64>,
    pub shift_decimal: f64,
    pub supports_fraction: bool,
    pub resolution: Option<u64>,
    pub interval_counter: Option<u64>,
    pub shift_counter: u64,
}

/// One variable, in 3.0 perhaps an array.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Variable {
    pub name: String,
    /// The value reference.
    pub reference: u32,
    pub description: Option<String>,
    pub kind: Type,
    pub causality: Causality,
    pub variability: Variability,
    /// As given; see [`Variable::initial`].
    pub initial: Option<Initial>,
    pub declared_type: Option<String>,
    pub attributes: Attributes,
    pub start: Option<Values>,
    pub dimensions: Vec<Dimension>,
    pub aliases: Vec<Alias>,
    /// Index of the variable that this is the derivative of.
    pub derivative: Option<usize>,
    pub reinit: bool,
    pub multiple_sets: Option<bool>,
    /// Indices of the clocks that it belongs to.
    pub clocks: Vec<usize>,
    pub intermediate_update: bool,
    /// Index of the variable that holds its previous value.
    pub previous: Option<usize>,
    /// Of clocks.
    pub clock: Option<ClockAttributes>,
}

impl Variable {
    /// A local variable of this type with the default variability of the type.
    pub fn new(kind: Type) -> Self {
        let variability = if kind.is_float() { Variability::Continuous } else { Variability::Discrete };
        Variable { kind, variability, ..Default::default() }
    }

    /// Time.
    pub fn independent(name: impl Into<String>, reference: u32) -> Self {
        let causality = Causality::Independent;
        Variable { name: name.into(), reference, causality, ..Variable::new(Type::Float64) }
    }

    /// As given, or what the standard says for this causality and variability.
    pub fn initial(&self) -> Option<Initial> {
        self.initial.or_else(|| crate::check::initial_rule(self.causality, self.variability).and_then(|r| r.default))
    }

    /// The first of its start values as a number.
    pub fn start_number(&self) -> Option<f64> {
        match self.start.as_ref()? {
            Values::Float(v) => v.first().copied(),
            Values::Integer(v) => v.first().map(|&i| i as f64),
            Values::Boolean(v) => v.first().map(|&b| f64::from(b)),
            _ => None,
        }
    }

    pub fn start_integer(&self) -> Option<i128> {
        match self.start.as_ref()? {
            Values::Integer(v) => v.first().copied(),
            _ => None,
        }
    }
}
