//! Values of expressions at compile time.
//!
//! `{1.5, 2}` ⇒ `Value::Array` with dims `[2]` and Real items. Arrays share their storage: reading one costs a counter,
//! assigning to an element copies the array only if it is shared.

use std::sync::Arc;

use saltus_flat::{BaseType, EnumId, FunctionId, RecordId};

use crate::array::{Array, Items};
use crate::native::Object;

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(Arc<str>),
    /// The ordinal counts from 1.
    Enum(EnumId, u32),
    /// At least one dimension; scalars are never arrays.
    Array(Array),
    /// Fields in order of the record type.
    Record(RecordId, Arc<Vec<Value>>),
    Function(FunctionValue),
    /// An external object, such as a table.
    Object(Object),
}

/// A function passed as an argument, with the inputs that are bound already.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionValue {
    pub function: FunctionId,
    /// By position of the function's inputs.
    pub bound: Arc<Vec<(u32, Value)>>,
}

impl Value {
    pub fn string(text: &str) -> Value {
        Value::String(text.into())
    }

    pub fn record(id: RecordId, fields: Vec<Value>) -> Value {
        Value::Record(id, Arc::new(fields))
    }

    /// A vector of Reals.
    pub fn reals(items: Vec<f64>) -> Value {
        Value::Array(Array::vector(Items::Real(items)))
    }

    /// A vector of Integers.
    pub fn integers(items: Vec<i64>) -> Value {
        Value::Array(Array::vector(Items::Integer(items)))
    }

    /// A vector of Booleans.
    pub fn booleans(items: Vec<bool>) -> Value {
        Value::Array(Array::vector(Items::Boolean(items)))
    }

    /// An array, or the only item where there are no dimensions. `None` if sizes and items disagree.
    pub fn from_parts(dims: Vec<usize>, items: Items) -> Option<Value> {
        if dims.is_empty() {
            return if items.len() == 1 { items.get(0) } else { None };
        }
        Array::new(dims, items).map(Value::Array)
    }

    pub fn as_real(&self) -> Option<f64> {
        match self {
            Value::Real(x) => Some(*x),
            Value::Integer(i) => Some(*i as f64),
            _ => None,
        }
    }

    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Integer(i) => Some(*i),
            _ => None,
        }
    }

    pub fn as_boolean(&self) -> Option<bool> {
        match self {
            Value::Boolean(b) => Some(*b),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(s) => Some(s),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Sizes of the dimensions; empty for scalars.
    pub fn dims(&self) -> &[usize] {
        match self {
            Value::Array(a) => a.dims(),
            _ => &[],
        }
    }

    pub fn n_elements(&self) -> usize {
        match self {
            Value::Array(a) => a.len(),
            _ => 1,
        }
    }

    /// The base type of this value or of its elements.
    pub fn base_type(&self) -> BaseType {
        match self {
            Value::Real(_) => BaseType::Real,
            Value::Integer(_) => BaseType::Integer,
            Value::Boolean(_) => BaseType::Boolean,
            Value::String(_) => BaseType::String,
            Value::Enum(id, _) => BaseType::Enumeration(*id),
            Value::Array(a) => a.items().base_type(),
            Value::Record(id, _) => BaseType::Record(*id),
            Value::Function(_) => BaseType::Function,
            Value::Object(object) => BaseType::ExternalObject(object.class()),
        }
    }

    /// All elements as Reals in row-major order, of a scalar the only one; `None` unless numeric.
    pub fn to_reals(&self) -> Option<Vec<f64>> {
        match self {
            Value::Real(x) => Some(vec![*x]),
            Value::Integer(i) => Some(vec![*i as f64]),
            Value::Array(a) => a.items().to_reals(),
            _ => None,
        }
    }

    /// All elements as Integers in row-major order (enumeration values by ordinal); `None` for other types.
    pub fn to_integers(&self) -> Option<Vec<i64>> {
        match self {
            Value::Integer(i) => Some(vec![*i]),
            Value::Enum(_, ordinal) => Some(vec![i64::from(*ordinal)]),
            Value::Array(a) => a.items().to_integers(),
            _ => None,
        }
    }

    /// The elements in row-major order; a scalar is its own only element.
    pub fn elements(&self) -> Vec<Value> {
        match self {
            Value::Array(a) => (0..a.len()).filter_map(|i| a.items().get(i)).collect(),
            other => vec![other.clone()],
        }
    }

    /// This value with elements of type `base`: Integer to Real, enumeration to Integer and back (external functions
    /// deliver enumerations as numbers). Anything else stays as it is.
    pub fn converted(self, base: BaseType) -> Value {
        match (self, base) {
            (Value::Integer(i), BaseType::Real) => Value::Real(i as f64),
            (Value::Enum(_, ordinal), BaseType::Integer) => Value::Integer(i64::from(ordinal)),
            (Value::Integer(i), BaseType::Enumeration(id)) => match u32::try_from(i) {
                Ok(ordinal) => Value::Enum(id, ordinal),
                Err(_) => Value::Integer(i),
            },
            (Value::Integer(i), BaseType::Boolean) => Value::Boolean(i != 0),
            (Value::Array(a), _) if a.items().base_type() != base => Value::Array(a.converted(base)),
            (value, _) => value,
        }
    }

    /// What a variable of this type holds before anything is assigned: 0, `false`, `""`, the first literal.
    pub fn default_scalar(base: BaseType) -> Option<Value> {
        Some(match base {
            BaseType::Real => Value::Real(0.0),
            BaseType::Integer => Value::Integer(0),
            BaseType::Boolean => Value::Boolean(false),
            BaseType::String => Value::string(""),
            BaseType::Enumeration(id) => Value::Enum(id, 1),
            _ => return None,
        })
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Real(x)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Value {
        Value::Integer(i)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Boolean(b)
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::string(s)
    }
}

/// What a base type is called in messages.
pub(crate) fn type_name(base: BaseType) -> &'static str {
    match base {
        BaseType::Real => "Real",
        BaseType::Integer => "Integer",
        BaseType::Boolean => "Boolean",
        BaseType::String => "String",
        BaseType::Enumeration(_) => "enumeration",
        BaseType::Record(_) => "record",
        BaseType::Clock => "Clock",
        BaseType::ExternalObject(_) => "external object",
        BaseType::Function => "function",
        BaseType::Unit => "call without result",
        BaseType::Error => "erroneous expression",
    }
}
