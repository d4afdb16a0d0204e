//! Types of flat expressions: a base type and array dimensions, outermost first.

use crate::{EnumId, FunctionId, RecordId};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum BaseType {
    Real,
    Integer,
    Boolean,
    String,
    Enumeration(EnumId),
    Record(RecordId),
    Clock,
    /// An opaque handle made by the constructor of a class that extends `ExternalObject`; that constructor function
    /// identifies the class.
    ExternalObject(FunctionId),
    /// A function passed as an argument.
    Function,
    /// A call without a result.
    Unit,
    /// The type of an expression that has already been complained about; agrees with everything.
    Error,
}

/// An array size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Dim {
    Known(u64),
    /// Only in functions: `input Real x[:]` and what depends on it.
    Unknown,
}

impl Dim {
    /// Equal, or one of them not known before run time.
    pub fn fits(self, other: Dim) -> bool {
        match (self, other) {
            (Dim::Known(a), Dim::Known(b)) => a == b,
            _ => true,
        }
    }

    pub fn known(self) -> Option<u64> {
        match self {
            Dim::Known(n) => Some(n),
            Dim::Unknown => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Type {
    pub base: BaseType,
    pub dims: Vec<Dim>,
}

impl Type {
    pub const REAL: Type = Type::scalar(BaseType::Real);
    pub const INTEGER: Type = Type::scalar(BaseType::Integer);
    pub const BOOLEAN: Type = Type::scalar(BaseType::Boolean);
    pub const STRING: Type = Type::scalar(BaseType::String);
    pub const UNIT: Type = Type::scalar(BaseType::Unit);
    pub const ERROR: Type = Type::scalar(BaseType::Error);

    pub const fn scalar(base: BaseType) -> Type {
        Type { base, dims: Vec::new() }
    }

    pub fn array(base: BaseType, dims: impl Into<Vec<Dim>>) -> Type {
        Type { base, dims: dims.into() }
    }

    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    pub fn is_error(&self) -> bool {
        self.base == BaseType::Error
    }

    pub fn is_numeric(&self) -> bool {
        matches!(self.base, BaseType::Real | BaseType::Integer)
    }

    /// This type with `n` more dimensions of the given sizes in front.
    pub fn with_outer(&self, outer: &[Dim]) -> Type {
        Type { base: self.base, dims: outer.iter().chain(&self.dims).copied().collect() }
    }

    /// The type of an element after `n` scalar subscripts.
    pub fn element(&self, n: usize) -> Type {
        Type { base: self.base, dims: self.dims.get(n..).unwrap_or(&[]).to_vec() }
    }

    /// Number of array elements, if all sizes are known.
    pub fn n_elements(&self) -> Option<u64> {
        self.dims.iter().try_fold(1u64, |n, d| n.checked_mul(d.known()?))
    }
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct EnumType {
    /// Qualified name, as in `Library.Types.Init`.
    pub name: String,
    /// Literal names in order; the first has the ordinal 1.
    pub literals: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct RecordType {
    pub name: String,
    pub fields: Vec<RecordField>,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct RecordField {
    pub name: String,
    pub ty: Type,
}
