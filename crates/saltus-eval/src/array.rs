//! Arrays: sizes outermost first, items in row-major order, stored by kind. An empty array keeps sizes (`0×3`) and kind.
//!
//! Invariants: at least one dimension; the number of items is the product of the sizes.

use std::sync::Arc;

use saltus_flat::{BaseType, EnumId};

use crate::Value;

/// A shared array; [`Array::items_mut`] copies only when it is shared.
#[derive(Clone, PartialEq, Debug)]
pub struct Array(Arc<Data>);

#[derive(Clone, PartialEq, Debug)]
struct Data {
    dims: Vec<usize>,
    items: Items,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Items {
    Real(Vec<f64>),
    Integer(Vec<i64>),
    Boolean(Vec<bool>),
    String(Vec<Arc<str>>),
    Enum(EnumId, Vec<u32>),
    /// Records, functions, external objects: the base type of the elements and the elements.
    Other(BaseType, Vec<Value>),
}

/// Product of sizes; `None` on overflow.
pub fn n_items(dims: &[usize]) -> Option<usize> {
    dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
}

impl Array {
    /// `None` if there is no dimension or sizes and number of items disagree.
    pub fn new(dims: Vec<usize>, items: Items) -> Option<Array> {
        (!dims.is_empty() && n_items(&dims) == Some(items.len())).then(|| Array(Arc::new(Data { dims, items })))
    }

    pub fn vector(items: Items) -> Array {
        Array(Arc::new(Data { dims: vec![items.len()], items }))
    }

    pub fn dims(&self) -> &[usize] {
        &self.0.dims
    }

    pub fn rank(&self) -> usize {
        self.0.dims.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn items(&self) -> &Items {
        &self.0.items
    }

    /// The items; a copy where they are shared.
    pub(crate) fn into_items(self) -> Items {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.items.clone(), |own| own.items)
    }

    /// The items for writing; their number must not change.
    pub(crate) fn items_mut(&mut self) -> &mut Items {
        &mut Arc::make_mut(&mut self.0).items
    }

    /// The element at a row-major position.
    pub fn get(&self, position: usize) -> Option<Value> {
        self.0.items.get(position)
    }

    /// The sub-array (or element) number `index` over the first `leading` dimensions taken together.
    pub fn block(&self, index: usize, leading: usize) -> Option<Value> {
        let inner = self.dims().get(leading..)?;
        let n = n_items(inner)?;
        if inner.is_empty() {
            return self.get(index);
        }
        let start = index.checked_mul(n)?;
        let items = self.items().slice(start, start.checked_add(n)?)?;
        Value::from_parts(inner.to_vec(), items)
    }

    /// The same items with other sizes of the same product.
    pub fn reshaped(&self, dims: Vec<usize>) -> Option<Value> {
        if dims == self.dims() {
            return Some(Value::Array(self.clone()));
        }
        Value::from_parts(dims, self.items().clone())
    }

    pub fn converted(self, base: BaseType) -> Array {
        match self.items().converted(base) {
            Some(items) => Array(Arc::new(Data { dims: self.dims().to_vec(), items })),
            None => self,
        }
    }
}

/// Applies the same code to the vector of every kind.
macro_rules! each_kind {
    ($items:expr, $v:ident => $body:expr) => {
        match $items {
            Items::Real($v) => $body,
            Items::Integer($v) => $body,
            Items::Boolean($v) => $body,
            Items::String($v) => $body,
            Items::Enum(_, $v) => $body,
            Items::Other(_, $v) => $body,
        }
    };
}

/// Builds items of the same kind from the vector of every kind.
macro_rules! map_kind {
    ($items:expr, $v:ident => $body:expr) => {
        match $items {
            Items::Real($v) => Items::Real($body),
            Items::Integer($v) => Items::Integer($body),
            Items::Boolean($v) => Items::Boolean($body),
            Items::String($v) => Items::String($body),
            Items::Enum(id, $v) => Items::Enum(*id, $body),
            Items::Other(base, $v) => Items::Other(*base, $body),
        }
    };
}

impl Items {
    /// No items, of the kind for elements of this type.
    pub fn empty(base: BaseType) -> Items {
        Items::with_capacity(base, 0)
    }

    pub fn with_capacity(base: BaseType, n: usize) -> Items {
        match base {
            BaseType::Real => Items::Real(Vec::with_capacity(n)),
            BaseType::Integer => Items::Integer(Vec::with_capacity(n)),
            BaseType::Boolean => Items::Boolean(Vec::with_capacity(n)),
            BaseType::String => Items::String(Vec::with_capacity(n)),
            BaseType::Enumeration(id) => Items::Enum(id, Vec::with_capacity(n)),
            other => Items::Other(other, Vec::with_capacity(n)),
        }
    }

    /// `n` times the same scalar.
    pub fn repeat(value: &Value, n: usize) -> Items {
        match value {
            Value::Real(x) => Items::Real(vec![*x; n]),
            Value::Integer(i) => Items::Integer(vec![*i; n]),
            Value::Boolean(b) => Items::Boolean(vec![*b; n]),
            Value::String(s) => Items::String(vec![s.clone(); n]),
            Value::Enum(id, ordinal) => Items::Enum(*id, vec![*ordinal; n]),
            Value::Array(a) => {
                let mut items = Items::with_capacity(a.items().base_type(), a.len().saturating_mul(n));
                for _ in 0..n {
                    items.append(a.items());
                }
                items
            }
            other => Items::Other(other.base_type(), vec![other.clone(); n]),
        }
    }

    pub fn len(&self) -> usize {
        each_kind!(self, v => v.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn base_type(&self) -> BaseType {
        match self {
            Items::Real(_) => BaseType::Real,
            Items::Integer(_) => BaseType::Integer,
            Items::Boolean(_) => BaseType::Boolean,
            Items::String(_) => BaseType::String,
            Items::Enum(id, _) => BaseType::Enumeration(*id),
            Items::Other(base, _) => *base,
        }
    }

    pub fn get(&self, i: usize) -> Option<Value> {
        Some(match self {
            Items::Real(v) => Value::Real(*v.get(i)?),
            Items::Integer(v) => Value::Integer(*v.get(i)?),
            Items::Boolean(v) => Value::Boolean(*v.get(i)?),
            Items::String(v) => Value::String(v.get(i)?.clone()),
            Items::Enum(id, v) => Value::Enum(*id, *v.get(i)?),
            Items::Other(_, v) => v.get(i)?.clone(),
        })
    }

    /// Overwrites an item; false if the position or the type does not fit.
    pub fn set(&mut self, i: usize, value: Value) -> bool {
        fn put<T>(slot: Option<&mut T>, value: T) -> bool {
            slot.map(|s| *s = value).is_some()
        }
        match (self, value) {
            (Items::Real(v), Value::Real(x)) => put(v.get_mut(i), x),
            (Items::Real(v), Value::Integer(x)) => put(v.get_mut(i), x as f64),
            (Items::Integer(v), Value::Integer(x)) => put(v.get_mut(i), x),
            (Items::Boolean(v), Value::Boolean(x)) => put(v.get_mut(i), x),
            (Items::String(v), Value::String(x)) => put(v.get_mut(i), x),
            (Items::Enum(_, v), Value::Enum(_, x)) => put(v.get_mut(i), x),
            (Items::Other(base, v), x) if *base == x.base_type() => put(v.get_mut(i), x),
            _ => false,
        }
    }

    /// Adds a scalar; false if its type does not fit.
    pub fn push(&mut self, value: Value) -> bool {
        match (self, value) {
            (Items::Real(v), Value::Real(x)) => v.push(x),
            (Items::Real(v), Value::Integer(x)) => v.push(x as f64),
            (Items::Integer(v), Value::Integer(x)) => v.push(x),
            (Items::Boolean(v), Value::Boolean(x)) => v.push(x),
            (Items::String(v), Value::String(x)) => v.push(x),
            (Items::Enum(_, v), Value::Enum(_, x)) => v.push(x),
            (Items::Other(base, v), x) if *base == x.base_type() => v.push(x),
            _ => return false,
        }
        true
    }

    /// Adds all items of the same kind (Integers also to Reals); false if the kinds differ.
    pub fn append(&mut self, other: &Items) -> bool {
        match (self, other) {
            (Items::Real(a), Items::Real(b)) => a.extend_from_slice(b),
            (Items::Real(a), Items::Integer(b)) => a.extend(b.iter().map(|&i| i as f64)),
            (Items::Integer(a), Items::Integer(b)) => a.extend_from_slice(b),
            (Items::Boolean(a), Items::Boolean(b)) => a.extend_from_slice(b),
            (Items::String(a), Items::String(b)) => a.extend_from_slice(b),
            (Items::Enum(_, a), Items::Enum(_, b)) => a.extend_from_slice(b),
            (Items::Other(x, a), Items::Other(y, b)) if x == y => a.extend_from_slice(b),
            (_, other) => return other.is_empty(),
        }
        true
    }

    /// Adds a scalar or all elements of an array.
    pub fn extend_value(&mut self, value: Value) -> bool {
        match value {
            Value::Array(a) => self.append(a.items()),
            scalar => self.push(scalar),
        }
    }

    pub fn slice(&self, start: usize, end: usize) -> Option<Items> {
        Some(map_kind!(self, v => v.get(start..end)?.to_vec()))
    }

    /// The items at these positions.
    pub fn gather(&self, positions: &[usize]) -> Option<Items> {
        Some(map_kind!(self, v => {
            positions.iter().map(|&p| v.get(p).cloned()).collect::<Option<Vec<_>>>()?
        }))
    }

    pub fn converted(&self, base: BaseType) -> Option<Items> {
        Some(match (self, base) {
            (Items::Integer(v), BaseType::Real) => Items::Real(v.iter().map(|&i| i as f64).collect()),
            (Items::Enum(_, v), BaseType::Integer) => Items::Integer(v.iter().map(|&i| i64::from(i)).collect()),
            (Items::Integer(v), BaseType::Enumeration(id)) => {
                Items::Enum(id, v.iter().map(|&i| u32::try_from(i).ok()).collect::<Option<Vec<_>>>()?)
            }
            (Items::Other(_, v), _) if v.is_empty() => Items::empty(base),
            _ => return None,
        })
    }

    pub fn to_reals(&self) -> Option<Vec<f64>> {
        match self {
            Items::Real(v) => Some(v.clone()),
            Items::Integer(v) => Some(v.iter().map(|&i| i as f64).collect()),
            _ => None,
        }
    }

    pub fn to_integers(&self) -> Option<Vec<i64>> {
        match self {
            Items::Integer(v) => Some(v.clone()),
            Items::Enum(_, v) => Some(v.iter().map(|&i| i64::from(i)).collect()),
            _ => None,
        }
    }

    /// The elements that are records, functions or objects, for writing into them.
    pub(crate) fn others_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Items::Other(_, v) => Some(v),
            _ => None,
        }
    }
}
