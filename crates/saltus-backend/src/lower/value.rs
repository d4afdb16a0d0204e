//! Values of expressions while a model is lowered: numbers are nodes of the graph, shapes are known.
//!
//! `{x, 2*x}` ⇒ an array with `dims` `[2]` and the nodes of `x` and `2*x`. Inside functions the sizes in types may be
//! unknown (`input Real x[:]`), so each value carries its own. Arrays share their storage until they are written.

use std::rc::Rc;
use std::sync::Arc;

use saltus_flat::{Expr, FunctionId, Type};
use saltus_program::SlotId;

use crate::dag::NodeId;

#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar Real, Integer, Boolean or enumeration value.
    Number(NodeId),
    Numbers(Rc<Array<NodeId>>),
    /// A String; `None` if it is not known at compile time.
    Text(Option<Arc<str>>),
    /// A String argument that the call itself evaluates.
    Template(Rc<Template>),
    /// Fields in order of the record type.
    Record(Rc<Vec<Value>>),
    /// An external object, by the slot of its handle.
    Object(SlotId),
    Function(Rc<FunctionValue>),
    /// An array of anything but numbers.
    Others(Rc<Array<Value>>),
}

/// Items in row-major order; at least one dimension.
#[derive(Clone, Debug)]
pub struct Array<T> {
    pub dims: Vec<usize>,
    pub items: Vec<T>,
}

/// A text with holes, which are its local variables in order.
#[derive(Clone, Debug)]
pub struct Template {
    /// No two templates are known to be the same.
    pub number: u32,
    pub text: Expr,
    pub holes: Vec<(Type, Value)>,
}

/// A function passed as an argument.
#[derive(Clone, Debug)]
pub struct FunctionValue {
    pub function: FunctionId,
    /// Inputs that are bound already, by position.
    pub bound: Vec<(u32, Value)>,
}

impl Value {
    /// Numbers of the given shape.
    pub fn numbers(dims: Vec<usize>, items: Vec<NodeId>) -> Value {
        match (dims.is_empty(), items.first()) {
            (true, Some(&one)) => Value::Number(one),
            _ => Value::Numbers(Rc::new(Array { dims, items })),
        }
    }

    pub fn vector(items: Vec<NodeId>) -> Value {
        Value::numbers(vec![items.len()], items)
    }

    pub fn record(fields: Vec<Value>) -> Value {
        Value::Record(Rc::new(fields))
    }

    pub fn text(text: &str) -> Value {
        Value::Text(Some(text.into()))
    }

    /// Sizes; empty for scalars.
    pub fn dims(&self) -> &[usize] {
        match self {
            Value::Numbers(a) => &a.dims,
            Value::Others(a) => &a.dims,
            _ => &[],
        }
    }

    /// All numbers in order, of records field by field. Strings, objects and functions have none.
    pub fn scalars(&self) -> Vec<NodeId> {
        let mut all = Vec::new();
        self.collect_scalars(&mut all);
        all
    }

    fn collect_scalars(&self, all: &mut Vec<NodeId>) {
        match self {
            Value::Number(node) => all.push(*node),
            Value::Numbers(a) => all.extend(&a.items),
            Value::Record(fields) => fields.iter().for_each(|f| f.collect_scalars(all)),
            Value::Others(a) => a.items.iter().for_each(|v| v.collect_scalars(all)),
            Value::Text(_) | Value::Template(_) | Value::Object(_) | Value::Function(_) => {}
        }
    }

    /// Made of numbers alone.
    pub fn is_plain(&self) -> bool {
        match self {
            Value::Number(_) | Value::Numbers(_) => true,
            Value::Record(fields) => fields.iter().all(Value::is_plain),
            Value::Others(a) => a.items.iter().all(Value::is_plain),
            Value::Text(_) | Value::Template(_) | Value::Object(_) | Value::Function(_) => false,
        }
    }

    /// The same with texts that only a call can evaluate as unknown ones.
    pub fn without_templates(self) -> Value {
        match self {
            Value::Template(_) => Value::Text(None),
            Value::Record(fields) if fields.iter().any(Value::has_template) => {
                Value::record(fields.iter().cloned().map(Value::without_templates).collect())
            }
            Value::Others(a) if a.items.iter().any(Value::has_template) => {
                let items = a.items.iter().cloned().map(Value::without_templates).collect();
                Value::Others(Rc::new(Array { dims: a.dims.clone(), items }))
            }
            other => other,
        }
    }

    fn has_template(&self) -> bool {
        match self {
            Value::Template(_) => true,
            Value::Record(fields) => fields.iter().any(Value::has_template),
            Value::Others(a) => a.items.iter().any(Value::has_template),
            _ => false,
        }
    }

    /// Have both the same sizes, field by field?
    pub fn has_shape_of(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Record(a), Value::Record(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.has_shape_of(b))
            }
            (Value::Others(a), Value::Others(b)) => {
                a.dims == b.dims && a.items.iter().zip(&b.items).all(|(a, b)| a.has_shape_of(b))
            }
            _ => self.dims() == other.dims(),
        }
    }

    pub fn number(&self) -> Option<NodeId> {
        match self {
            Value::Number(node) => Some(*node),
            Value::Numbers(a) if a.items.len() == 1 => a.items.first().copied(),
            _ => None,
        }
    }

    /// The elements of an array, or the scalar itself.
    pub fn elements(&self) -> Vec<Value> {
        match self {
            Value::Numbers(a) => a.items.iter().map(|&n| Value::Number(n)).collect(),
            Value::Others(a) => a.items.clone(),
            other => vec![other.clone()],
        }
    }

    /// An array of this shape; `None` if the items do not fit.
    pub fn assemble(dims: Vec<usize>, items: Vec<Value>) -> Option<Value> {
        if dims.iter().product::<usize>() != items.len() {
            return None;
        }
        if dims.is_empty() {
            return items.into_iter().next();
        }
        let numbers: Option<Vec<NodeId>> =
            items.iter().map(|v| if let Value::Number(n) = v { Some(*n) } else { None }).collect();
        Some(match numbers {
            Some(numbers) => Value::Numbers(Rc::new(Array { dims, items: numbers })),
            None => Value::Others(Rc::new(Array { dims, items })),
        })
    }

    /// One more dimension in front. `inner` are the sizes of the items if there is none. `None` if they differ in shape.
    pub fn stack(items: Vec<Value>, inner: &[usize]) -> Option<Value> {
        let inner: Vec<usize> = items.first().map_or(inner.to_vec(), |v| v.dims().to_vec());
        if items.iter().any(|v| v.dims() != inner) {
            return None;
        }
        let dims: Vec<usize> = std::iter::once(items.len()).chain(inner.iter().copied()).collect();
        if inner.is_empty() {
            return Value::assemble(dims, items);
        }
        Value::assemble(dims, items.iter().flat_map(Value::elements).collect())
    }

    /// Certainly the same value; arrays are compared by storage first.
    pub fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::Numbers(a), Value::Numbers(b)) => Rc::ptr_eq(a, b) || a.dims == b.dims && a.items == b.items,
            (Value::Text(Some(a)), Value::Text(Some(b))) => a == b,
            (Value::Record(a), Value::Record(b)) => {
                Rc::ptr_eq(a, b) || a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| x.is_same(y))
            }
            (Value::Object(a), Value::Object(b)) => a == b,
            (Value::Function(a), Value::Function(b)) => Rc::ptr_eq(a, b),
            (Value::Others(a), Value::Others(b)) => {
                Rc::ptr_eq(a, b) || a.dims == b.dims && a.items.iter().zip(&b.items).all(|(x, y)| x.is_same(y))
            }
            _ => false,
        }
    }

    /// Writes down what the value is, for tables of calls.
    pub fn encode(&self, key: &mut Vec<u64>) {
        use saltus_base::Index;
        match self {
            Value::Number(node) => key.extend([0, node.index() as u64]),
            Value::Numbers(a) => {
                key.extend([1, a.dims.len() as u64]);
                key.extend(a.dims.iter().map(|&d| d as u64));
                key.extend(a.items.iter().map(|n| n.index() as u64));
            }
            Value::Text(None) => key.push(2),
            Value::Template(template) => key.extend([8, u64::from(template.number)]),
            Value::Text(Some(text)) => {
                key.extend([3, text.len() as u64]);
                key.extend(text.bytes().map(u64::from));
            }
            Value::Record(fields) => {
                key.extend([4, fields.len() as u64]);
                fields.iter().for_each(|f| f.encode(key));
            }
            Value::Object(slot) => key.extend([5, slot.index() as u64]),
            Value::Function(f) => {
                key.extend([6, f.function.index() as u64, f.bound.len() as u64]);
                for (position, value) in &f.bound {
                    key.push(u64::from(*position));
                    value.encode(key);
                }
            }
            Value::Others(a) => {
                key.extend([7, a.dims.len() as u64]);
                key.extend(a.dims.iter().map(|&d| d as u64));
                a.items.iter().for_each(|v| v.encode(key));
            }
        }
    }
}
