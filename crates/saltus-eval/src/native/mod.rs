//! External functions that are implemented here, by the name of their C or FORTRAN function.
//!
//! A native function gets the arguments of the external call in order; what the foreign function would write through a
//! pointer it writes into the argument (`external "FORTRAN 77" dgesv(n, nrhs, A, lda, ipiv, x, ldb, info)` changes
//! `A`, `ipiv`, `x`, `info`). A value that the foreign function returns is returned.
//!
//! What has effects or another answer every time (files, clock, process) goes through [`crate::Outside`], which only a
//! simulation has.

mod curve;
mod directories;
mod elementary;
mod fft;
mod files;
mod lapack;
mod process;
mod random;
mod spline;
mod strings;
mod surface;
mod table_files;
mod tables;
mod time_table;

use std::sync::Arc;

use saltus_flat::FunctionId;

use crate::{Environment, Outside, Value};

pub use random::ImpureRandom;
pub use tables::{Table, TableKind};

/// What a native function may use of its surroundings.
pub struct NativeContext<'a> {
    pub env: &'a mut dyn Environment,
    /// Lines that `print` writes where nobody reads them.
    pub messages: &'a mut Vec<String>,
    /// The Modelica function being called; for constructors the class of the external object.
    pub class: FunctionId,
    /// Most elements of an array.
    pub elements: u64,
    /// Work that was done, in steps of the evaluator.
    pub steps: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum NativeError {
    /// Has no value at compile time (clock, process environment, effects).
    NotConstant,
    /// The foreign function would have reported this error.
    Failed(String),
}

impl From<String> for NativeError {
    fn from(reason: String) -> NativeError {
        NativeError::Failed(reason)
    }
}

impl From<&str> for NativeError {
    fn from(reason: &str) -> NativeError {
        NativeError::Failed(reason.to_string())
    }
}

/// What functions with effects reach.
fn outside<'a>(context: &'a mut NativeContext) -> NativeResult<&'a mut dyn Outside> {
    context.env.outside().ok_or(NativeError::NotConstant)
}

pub type NativeResult<T = Option<Value>> = Result<T, NativeError>;
pub type NativeFunction = fn(&mut NativeContext, &mut [Value]) -> NativeResult;

/// An external object; two are equal if they are the same.
#[derive(Clone, Debug)]
pub struct Object {
    class: FunctionId,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Table(Arc<Table>),
    /// An address, which only functions of the library that gave it understand.
    Foreign(usize),
}

impl Object {
    pub(crate) fn new(class: FunctionId, table: Table) -> Object {
        Object { class, content: Content::Table(Arc::new(table)) }
    }

    /// What a constructor in a library of the user has returned.
    pub fn foreign(class: FunctionId, address: usize) -> Object {
        Object { class, content: Content::Foreign(address) }
    }

    pub fn table(&self) -> Option<&Table> {
        match &self.content {
            Content::Table(table) => Some(table),
            Content::Foreign(_) => None,
        }
    }

    pub fn address(&self) -> Option<usize> {
        match self.content {
            Content::Table(_) => None,
            Content::Foreign(address) => Some(address),
        }
    }

    /// The constructor function that identifies the class of the object.
    pub fn class(&self) -> FunctionId {
        self.class
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        match (&self.content, &other.content) {
            (Content::Table(a), Content::Table(b)) => Arc::ptr_eq(a, b),
            (Content::Foreign(a), Content::Foreign(b)) => a == b,
            _ => false,
        }
    }
}

/// Name and implementation, grouped by library.
const TABLES: &[&[(&str, NativeFunction)]] = &[
    elementary::TABLE,
    strings::TABLE,
    files::TABLE,
    directories::TABLE,
    process::TABLE,
    random::TABLE,
    tables::TABLE,
    fft::TABLE,
];

fn all() -> impl Iterator<Item = &'static (&'static str, NativeFunction)> {
    TABLES.iter().chain(lapack::TABLES).flat_map(|t| t.iter())
}

/// The implementation of an external function.
pub fn find(name: &str) -> Option<NativeFunction> {
    all().find(|(n, _)| *n == name).map(|(_, f)| *f)
}

/// Whether an external function is implemented here.
pub fn is_native(name: &str) -> bool {
    find(name).is_some()
}

/// The native function that gives the directional derivative of another one: it takes the arguments of that, then tangents of
/// those at the positions named here; it does not change with any other.
pub fn derivative_of(name: &str) -> Option<(&'static str, &'static [usize])> {
    tables::DERIVATIVES.iter().find(|(of, ..)| *of == name).map(|(_, derivative, by)| (*derivative, *by))
}

/// Names of all native functions, in a fixed order.
pub fn native_names() -> Vec<&'static str> {
    all().map(|(n, _)| *n).collect()
}

/// Typed access to arguments.
pub(crate) mod arguments {
    use super::{NativeError, NativeResult};
    use crate::Value;

    fn wrong(position: usize, expected: &str) -> NativeError {
        NativeError::Failed(format!("argument {} must be {expected}", position + 1))
    }

    pub fn value(args: &[Value], position: usize) -> NativeResult<&Value> {
        args.get(position).ok_or_else(|| wrong(position, "given"))
    }

    pub fn real(args: &[Value], position: usize) -> NativeResult<f64> {
        value(args, position)?.as_real().ok_or_else(|| wrong(position, "a Real"))
    }

    /// Also enumeration values by ordinal and Booleans as 0 or 1, as C sees them.
    pub fn integer(args: &[Value], position: usize) -> NativeResult<i64> {
        match value(args, position)? {
            Value::Integer(i) => Ok(*i),
            Value::Enum(_, ordinal) => Ok(i64::from(*ordinal)),
            Value::Boolean(b) => Ok(i64::from(*b)),
            _ => Err(wrong(position, "an Integer")),
        }
    }

    pub fn boolean(args: &[Value], position: usize) -> NativeResult<bool> {
        Ok(integer(args, position)? != 0)
    }

    pub fn string(args: &[Value], position: usize) -> NativeResult<&str> {
        value(args, position)?.as_str().ok_or_else(|| wrong(position, "a String"))
    }

    pub fn reals(args: &[Value], position: usize) -> NativeResult<Vec<f64>> {
        value(args, position)?.to_reals().ok_or_else(|| wrong(position, "an array of Reals"))
    }

    pub fn integers(args: &[Value], position: usize) -> NativeResult<Vec<i64>> {
        value(args, position)?.to_integers().ok_or_else(|| wrong(position, "an array of Integers"))
    }

    pub fn booleans(args: &[Value], position: usize) -> NativeResult<Vec<bool>> {
        let elements = value(args, position)?.elements();
        let booleans = elements.iter().map(|e| if let Value::Boolean(b) = e { Some(*b) } else { None });
        booleans.collect::<Option<Vec<_>>>().ok_or_else(|| wrong(position, "an array of Booleans"))
    }

    /// Writes through a "pointer" argument.
    pub fn write(args: &mut [Value], position: usize, value: Value) -> NativeResult<()> {
        match args.get_mut(position) {
            Some(slot) => {
                *slot = value;
                Ok(())
            }
            None => Err(wrong(position, "given")),
        }
    }
}
