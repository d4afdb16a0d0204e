//! How values lie in a frame: arrays row-major, records field by field, a String takes no scalar.
//!
//! ```text
//! record R  Real x[2];  Boolean b;  end R;          R r[2]  ⇒  r[1].x[1]  r[1].x[2]  r[1].b  r[2].x[1]  …
//! ```

use saltus_flat::{BaseType, FunctionId, RecordId, Type};
use saltus_program::SimProgram;

use super::code::At;

/// Why a function is not compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported(pub &'static str);

pub type Compiled<T> = Result<T, Unsupported>;

/// Elements of an array that is taken apart into scalars.
const MOST_ELEMENTS: usize = 100_000;
/// A record of records deeper than this is a cycle.
const MOST_RECORD_LEVELS: u32 = 50;

/// A value in the frame or among the constants.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    pub at: At,
    pub base: BaseType,
    pub dims: Vec<usize>,
}

/// A value as the compiler sees it.
#[derive(Clone, PartialEq, Debug)]
pub enum Operand {
    Value(Place),
    /// A function with the inputs that are bound already.
    Function(FunctionId, Vec<(u32, Operand)>),
}

impl Place {
    pub fn scalar(at: At, base: BaseType) -> Place {
        Place { at, base, dims: Vec::new() }
    }

    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    pub fn with_base(self, base: BaseType) -> Place {
        Place { base, ..self }
    }
}

/// Sizes and offsets by type.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    pub program: &'a SimProgram,
}

pub fn n_elements(dims: &[usize]) -> Compiled<usize> {
    let n = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    n.filter(|&n| n <= MOST_ELEMENTS).ok_or(Unsupported("a large array"))
}

pub fn known_dims(ty: &Type) -> Compiled<Vec<usize>> {
    let dims = ty.dims.iter().map(|d| d.known().and_then(|n| usize::try_from(n).ok()));
    dims.collect::<Option<Vec<_>>>().ok_or(Unsupported("an unknown size"))
}

impl<'a> Layout<'a> {
    /// Scalars of one element.
    pub fn width(self, base: BaseType) -> Compiled<usize> {
        self.width_at(base, 0)
    }

    fn width_at(self, base: BaseType, level: u32) -> Compiled<usize> {
        match base {
            BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_) => Ok(1),
            BaseType::String => Ok(0),
            BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
                let mut width = 0usize;
                for field in &self.program.routines.records.get(id).ok_or(Unsupported("an unknown record"))?.fields {
                    let n = n_elements(&known_dims(&field.ty)?)?;
                    width = width.saturating_add(n.saturating_mul(self.width_at(field.ty.base, level + 1)?));
                }
                n_elements(&[width])
            }
            _ => Err(Unsupported("a value that is not numeric")),
        }
    }

    /// Scalars of a value.
    pub fn size(self, base: BaseType, dims: &[usize]) -> Compiled<usize> {
        let n = n_elements(dims)?;
        n_elements(&[n.saturating_mul(self.width(base)?)])
    }

    /// Offset, element type and sizes of a field.
    pub fn field(self, record: RecordId, field: u32) -> Compiled<(usize, BaseType, Vec<usize>)> {
        let fields = &self.program.routines.records.get(record).ok_or(Unsupported("an unknown record"))?.fields;
        let mut offset = 0;
        for (i, f) in fields.iter().enumerate() {
            let dims = known_dims(&f.ty)?;
            if i == field as usize {
                return Ok((offset, f.ty.base, dims));
            }
            offset += self.size(f.ty.base, &dims)?;
        }
        Err(Unsupported("an unknown field"))
    }

    /// Does a value of one element type lie as one of the other does?
    pub fn alike(self, a: BaseType, b: BaseType) -> bool {
        match (a, b) {
            (BaseType::Record(x), BaseType::Record(y)) if x != y => {
                let fields =
                    |id| self.program.routines.records.get(id).map(|r| r.fields.as_slice()).unwrap_or_default();
                let (x, y) = (fields(x), fields(y));
                x.len() == y.len()
                    && x.iter().zip(y).all(|(f, g)| f.ty.dims == g.ty.dims && self.alike(f.ty.base, g.ty.base))
            }
            _ => a == b,
        }
    }

    /// The scalars that one element holds before anything is assigned.
    pub fn default_scalars(self, base: BaseType, scalars: &mut Vec<f64>) -> Compiled<()> {
        match base {
            BaseType::Real | BaseType::Integer | BaseType::Boolean => scalars.push(0.0),
            BaseType::Enumeration(_) => scalars.push(1.0),
            BaseType::String => {}
            BaseType::Record(id) => {
                self.width(base)?;
                for field in &self.program.routines.records.get(id).ok_or(Unsupported("an unknown record"))?.fields {
                    for _ in 0..n_elements(&known_dims(&field.ty)?)? {
                        self.default_scalars(field.ty.base, scalars)?;
                    }
                }
            }
            _ => return Err(Unsupported("a value without default")),
        }
        Ok(())
    }
}
