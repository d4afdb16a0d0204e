//! Subscripts: reading and writing parts of values.
//!
//! A subscript that is known selects; one that is not becomes a choice among all positions:
//!
//! ```text
//! x[i]  with Real x[2]      ⇒   if i == 1 then x[1] elseif i == 2 then x[2] else not-a-number
//! x[i] := v                 ⇒   x := {if i == 1 then v else x[1], if i == 2 then v else x[2]}
//! ```
//!
//! and an assertion that it is one of them (`subscript_checks`).
//! (Specification: section 10.5.)

use std::rc::Rc;

use saltus_base::Span;
use saltus_flat::{BaseType, Expr, ExprKind, Subscript, VarId};
use saltus_program::BinaryFn;

use super::value::Value;
use super::{Lowered, Lowering};
use crate::dag::NodeId;
use crate::diagnostics;
use crate::tuning::form::{MOST_CHOICES, MOST_CHOICES_IN_FUNCTION};

/// The row-major position of the element that is selected, if it is one and known.
fn position_of(choices: &[Choice], dims: &[usize]) -> Option<usize> {
    choices.iter().zip(dims).try_fold(0, |at, (choice, size)| match choice {
        Choice::Fixed { positions, keeps: false } if positions.len() == 1 => Some(at * size + positions[0]),
        _ => None,
    })
}

/// What a subscript selects of one dimension.
#[derive(Clone)]
pub enum Choice {
    /// Positions from 0; `keeps` the dimension or removes it.
    Fixed { positions: Vec<usize>, keeps: bool },
    /// A position from 1 that is not known at compile time.
    Open(NodeId),
    /// Several such positions; keeps the dimension.
    Several(Vec<NodeId>),
}

impl<'a> Lowering<'a, '_> {
    pub fn choices(&mut self, dims: &[usize], subscripts: &'a [Subscript], access: &'a Expr) -> Lowered<Vec<Choice>> {
        let span = access.span;
        let mut choices = Vec::with_capacity(dims.len());
        for (i, &size) in dims.iter().enumerate() {
            choices.push(match subscripts.get(i) {
                None | Some(Subscript::All) => Choice::Fixed { positions: (0..size).collect(), keeps: true },
                Some(Subscript::Slice(v)) => {
                    let nodes = self.subscript_vector(v)?;
                    let is_boolean = v.ty.base == BaseType::Boolean;
                    let known: Option<Vec<f64>> = nodes.iter().map(|&n| self.system.dag.value(n)).collect();
                    match known {
                        Some(known) => Choice::Fixed {
                            positions: known
                                .into_iter()
                                .map(|k| position(k, is_boolean, size, span))
                                .collect::<Lowered<_>>()?,
                            keeps: true,
                        },
                        None => {
                            self.check_choices(dims, span)?;
                            let open = nodes.into_iter().map(|n| self.open_subscript(n, is_boolean, size, access));
                            Choice::Several(open.collect::<Lowered<_>>()?)
                        }
                    }
                }
                Some(Subscript::Index(v)) => {
                    let node = self.scalar(v)?;
                    let is_boolean = v.ty.base == BaseType::Boolean;
                    match self.system.dag.value(node) {
                        Some(k) => {
                            Choice::Fixed { positions: vec![position(k, is_boolean, size, span)?], keeps: false }
                        }
                        None => {
                            self.check_choices(dims, span)?;
                            Choice::Open(self.open_subscript(node, is_boolean, size, access)?)
                        }
                    }
                }
            });
        }
        Ok(choices)
    }

    /// A vector of subscripts. It says which elements there are, so the parameters that it is made of count as constant.
    fn subscript_vector(&mut self, v: &'a Expr) -> Lowered<Vec<NodeId>> {
        let nodes = self.value(v)?.scalars();
        if nodes.iter().all(|&n| self.system.dag.value(n).is_some()) || self.function.is_some() {
            return Ok(nodes);
        }
        let folded = self.folding(|l| l.value(v))?.scalars();
        if folded.iter().all(|&n| self.system.dag.value(n).is_some()) {
            self.mark_structural(v);
            return Ok(folded);
        }
        Ok(nodes)
    }

    /// The position from 1 that a subscript stands for; Boolean ones count from false = 1.
    fn open_subscript(&mut self, node: NodeId, is_boolean: bool, size: usize, access: &'a Expr) -> Lowered<NodeId> {
        if is_boolean {
            let one = self.system.dag.constant(1.0);
            return Ok(self.system.dag.binary(BinaryFn::Add, node, one));
        }
        self.assert_subscript(node, size, access)?;
        Ok(node)
    }

    fn check_choices(&mut self, dims: &[usize], span: Span) -> Lowered<()> {
        let most = if self.function.is_some() { MOST_CHOICES_IN_FUNCTION } else { MOST_CHOICES };
        if dims.iter().product::<usize>() > most {
            return self.unsupported("a subscript of a large array that is not constant", span);
        }
        Ok(())
    }

    pub fn index(&mut self, e: &'a Expr, base: &'a Expr, subscripts: &'a [Subscript]) -> Lowered<Value> {
        if let Some((id, dims)) = self.array_of_families(base) {
            let choices = self.choices(&dims, subscripts, e)?;
            if let Some(slot) = position_of(&choices, &dims).and_then(|k| self.system.elements[id].get(k).copied()) {
                return Ok(Value::Number(self.system.load(slot)));
            }
            let value = self.value(base)?;
            return self.read(&value, &choices, e.span);
        }
        let value = self.value(base)?;
        let choices = self.choices(value.dims(), subscripts, e)?;
        self.read(&value, &choices, e.span)
    }

    /// A variable of which families determine elements, with its sizes: what is left to scalars mentions few of its elements.
    fn array_of_families(&self, base: &Expr) -> Option<(VarId, Vec<usize>)> {
        let ExprKind::Var(id) = base.kind else { return None };
        let is_loaded = self.system.memo.loaded.contains_key(&id) || self.state.variables.contains_key(&id);
        if is_loaded || self.system.families.covered(id).is_none() {
            return None;
        }
        let dims = &self.model.variables.get(id)?.ty.dims;
        let dims: Option<Vec<usize>> = dims.iter().map(|d| d.known().map(|n| n as usize)).collect();
        Some((id, dims?))
    }

    pub fn read(&mut self, value: &Value, choices: &[Choice], span: Span) -> Lowered<Value> {
        if let Some((d, positions)) = several(choices) {
            let mut parts = Vec::with_capacity(positions.len());
            for position in positions {
                parts.push(self.read(value, &with_choice(choices, d, position), span)?);
            }
            return join(parts, kept_before(choices, d), span);
        }
        let open = choices.iter().position(|c| matches!(c, Choice::Open(_)));
        if let Some(d) = open {
            return self.read_open(value, choices, d, span);
        }
        let (positions, dims) = selected(value.dims(), choices);
        let part = match value {
            Value::Numbers(a) => gather(&a.items, &positions).map(|items| Value::numbers(dims, items)),
            Value::Others(a) => gather(&a.items, &positions).and_then(|items| Value::assemble(dims, items)),
            scalar => Some(scalar.clone()),
        };
        part.ok_or_else(|| diagnostics::broken_expression("a subscript outside an array", span).into())
    }

    /// An index outside yields not-a-number, which is found when it is stored.
    fn read_open(&mut self, value: &Value, choices: &[Choice], d: usize, span: Span) -> Lowered<Value> {
        let Some(Choice::Open(wanted)) = choices.get(d).cloned() else {
            return self.read(value, choices, span);
        };
        let mut result: Option<Value> = None;
        let mut fixed = choices.to_vec();
        let Some(&n) = value.dims().get(d) else { return self.broken("a subscript beyond the dimensions", span) };
        for k in (0..n).rev() {
            fixed[d] = Choice::Fixed { positions: vec![k], keeps: false };
            let part = self.read(value, &fixed, span)?;
            let is_it = self.is_position(wanted, k);
            let other = match result {
                Some(other) => other,
                None => self.undefined_like(&part),
            };
            result = Some(self.select(is_it, &part, &other, span)?);
        }
        result.ok_or_else(|| diagnostics::index_out_of_range(f64::NAN, 0, span).into())
    }

    fn is_position(&mut self, wanted: NodeId, k: usize) -> NodeId {
        let number = self.system.dag.constant(k as f64 + 1.0);
        self.system.dag.binary(BinaryFn::Equal, wanted, number)
    }

    fn undefined_like(&mut self, value: &Value) -> Value {
        let nothing = self.system.dag.constant(f64::NAN);
        match value {
            Value::Number(_) => Value::Number(nothing),
            Value::Numbers(a) => Value::numbers(a.dims.clone(), vec![nothing; a.items.len()]),
            Value::Record(fields) => Value::record(fields.iter().map(|f| self.undefined_like(f)).collect()),
            Value::Others(a) => {
                let items = a.items.iter().map(|item| self.undefined_like(item)).collect();
                Value::Others(Rc::new(super::value::Array { dims: a.dims.clone(), items }))
            }
            other => other.clone(),
        }
    }

    /// `value` with the chosen part replaced.
    pub fn write(&mut self, value: Value, choices: &[Choice], new: Value, span: Span) -> Lowered<Value> {
        let shape = shape_of(choices);
        if new.dims() != shape && !(shape.contains(&0) && new.dims().contains(&0)) {
            return Err(self.misfit(saltus_eval::sizes_disagree(span, &shape, new.dims()), span));
        }
        if let Some((d, positions)) = several(choices) {
            let mut result = value;
            for (k, position) in positions.into_iter().enumerate() {
                let part = part_of(&new, kept_before(choices, d), k, span)?;
                result = self.write(result, &with_choice(choices, d, position), part, span)?;
            }
            return Ok(result);
        }
        let open: Vec<NodeId> =
            choices.iter().filter_map(|c| if let Choice::Open(n) = c { Some(*n) } else { None }).collect();
        if open.is_empty() {
            let (positions, _) = selected(value.dims(), choices);
            return write_at(value, &positions, new, span);
        }
        let dims = value.dims().to_vec();
        // The choice with every open subscript fixed, one combination after the other.
        let mut result = value;
        let mut fixed = choices.to_vec();
        let open_dims: Vec<usize> =
            choices.iter().enumerate().filter(|(_, c)| matches!(c, Choice::Open(_))).map(|(d, _)| d).collect();
        let n: usize = open_dims.iter().map(|&d| dims[d]).product();
        for combination in 0..n {
            let mut rest = combination;
            let mut condition = self.system.dag.boolean(true);
            for (&d, &wanted) in open_dims.iter().zip(&open) {
                let k = rest % dims[d].max(1);
                rest /= dims[d].max(1);
                fixed[d] = Choice::Fixed { positions: vec![k], keeps: false };
                let is_it = self.is_position(wanted, k);
                condition = self.system.dag.and(condition, is_it);
            }
            let old = self.read(&result, &fixed, span)?;
            let chosen = self.select(condition, &new, &old, span)?;
            let (positions, _) = selected(&dims, &fixed);
            result = write_at(result, &positions, chosen, span)?;
        }
        self.unless_outside(&dims, choices, result, span)
    }

    /// In functions, which may be called where nobody checks assertions, a write outside leaves no number in the array.
    fn unless_outside(&mut self, dims: &[usize], choices: &[Choice], written: Value, span: Span) -> Lowered<Value> {
        if self.function.is_none() {
            return Ok(written);
        }
        let mut is_inside = self.system.dag.boolean(true);
        for (&size, choice) in dims.iter().zip(choices) {
            if let Choice::Open(wanted) = choice {
                let here = self.is_inside(*wanted, size);
                is_inside = self.system.dag.and(is_inside, here);
            }
        }
        let nothing = self.undefined_like(&written);
        self.select(is_inside, &written, &nothing, span)
    }

    /// A field of a record, or of each record of an array.
    pub fn field_of(&mut self, value: &Value, field: usize, span: Span) -> Lowered<Value> {
        let part = match value {
            Value::Record(fields) => fields.get(field).cloned(),
            Value::Others(a) => {
                let parts: Option<Vec<Value>> = a
                    .items
                    .iter()
                    .map(|v| if let Value::Record(fields) = v { fields.get(field).cloned() } else { None })
                    .collect();
                parts.and_then(|parts| unfold(&a.dims, parts))
            }
            Value::Numbers(a) if a.items.is_empty() => Some(value.clone()),
            _ => None,
        };
        part.ok_or_else(|| diagnostics::broken_expression("a field of something that is not a record", span).into())
    }

    pub fn field(&mut self, e: &'a Expr, base: &'a Expr, field: u32) -> Lowered<Value> {
        if let ExprKind::Record(items) = &base.kind
            && let Some(item) = items.get(field as usize)
        {
            return self.value(item);
        }
        let value = self.value(base)?;
        self.field_of(&value, field as usize, e.span)
    }
}

fn position(k: f64, is_boolean: bool, size: usize, span: Span) -> Lowered<usize> {
    let k = if is_boolean { k + 1.0 } else { k };
    if k >= 1.0 && k <= size as f64 {
        return Ok(k as usize - 1);
    }
    Err(diagnostics::index_out_of_range(k, size as u64, span).into())
}

/// The first dimension with several positions that are not known, and these.
fn several(choices: &[Choice]) -> Option<(usize, Vec<NodeId>)> {
    choices.iter().enumerate().find_map(|(d, c)| match c {
        Choice::Several(positions) => Some((d, positions.clone())),
        _ => None,
    })
}

fn with_choice(choices: &[Choice], d: usize, position: NodeId) -> Vec<Choice> {
    let mut one = choices.to_vec();
    if let Some(place) = one.get_mut(d) {
        *place = Choice::Open(position);
    }
    one
}

/// How many dimensions of the selection come before dimension `d`.
fn kept_before(choices: &[Choice], d: usize) -> usize {
    let keeps = |c: &&Choice| matches!(c, Choice::Fixed { keeps: true, .. } | Choice::Several(_));
    choices.iter().take(d).filter(keeps).count()
}

/// Sizes of the selection.
fn shape_of(choices: &[Choice]) -> Vec<usize> {
    let size = |c: &Choice| match c {
        Choice::Fixed { positions, keeps } => keeps.then_some(positions.len()),
        Choice::Several(positions) => Some(positions.len()),
        Choice::Open(_) => None,
    };
    choices.iter().filter_map(size).collect()
}

/// Arrays of one shape as one array with a new dimension at `axis`.
fn join(parts: Vec<Value>, axis: usize, span: Span) -> Lowered<Value> {
    let wrong = || diagnostics::broken_expression("parts of different sizes", span).into();
    let n = parts.len();
    let inner = parts.first().map_or(Vec::new(), |p| p.dims().to_vec());
    let n_inner: usize = inner.get(axis..).unwrap_or(&[]).iter().product();
    let elements: Vec<Vec<Value>> = parts.iter().map(Value::elements).collect();
    let n_outer = elements.first().map_or(0, |e| e.len() / n_inner.max(1));
    let mut items = Vec::with_capacity(n * n_outer * n_inner);
    for outer in 0..n_outer {
        for part in &elements {
            items.extend(part.iter().skip(outer * n_inner).take(n_inner).cloned());
        }
    }
    let mut dims = inner;
    dims.insert(axis.min(dims.len()), n);
    Value::assemble(dims, items).ok_or_else(wrong)
}

/// The part of an array at position `k` of a dimension.
fn part_of(value: &Value, axis: usize, k: usize, span: Span) -> Lowered<Value> {
    let wrong = || diagnostics::broken_expression("an assignment of another size", span).into();
    let mut dims = value.dims().to_vec();
    if axis >= dims.len() {
        return Err(wrong());
    }
    let size = dims.remove(axis);
    let n_inner: usize = dims.get(axis..).unwrap_or(&[]).iter().product();
    let elements = value.elements();
    let chunk = |(i, _): &(usize, Value)| (i / n_inner.max(1)) % size.max(1) == k;
    let items = elements.into_iter().enumerate().filter(chunk).map(|(_, v)| v).collect();
    Value::assemble(dims, items).ok_or_else(wrong)
}

/// An array of arrays of one shape as one array.
fn unfold(dims: &[usize], parts: Vec<Value>) -> Option<Value> {
    let inner: Vec<usize> = parts.first().map_or(Vec::new(), |p| p.dims().to_vec());
    if parts.iter().any(|p| p.dims() != inner) {
        return None;
    }
    let all: Vec<usize> = dims.iter().chain(&inner).copied().collect();
    Value::assemble(all, parts.iter().flat_map(Value::elements).collect())
}

/// Row-major positions of the selected elements, and the shape of the selection.
pub fn selected(dims: &[usize], choices: &[Choice]) -> (Vec<usize>, Vec<usize>) {
    let mut places = vec![0usize];
    let mut shape = Vec::new();
    for (&size, choice) in dims.iter().zip(choices) {
        let Choice::Fixed { positions, keeps } = choice else { continue };
        if *keeps {
            shape.push(positions.len());
        }
        places = places.iter().flat_map(|p| positions.iter().map(move |k| p * size + k)).collect();
    }
    (places, shape)
}

fn gather<T: Clone>(items: &[T], positions: &[usize]) -> Option<Vec<T>> {
    positions.iter().map(|&p| items.get(p).cloned()).collect()
}

fn write_at(value: Value, positions: &[usize], new: Value, span: Span) -> Lowered<Value> {
    let wrong = || diagnostics::broken_expression("an assignment of another size", span).into();
    match value {
        Value::Numbers(mut array) => {
            let items = new.scalars();
            if items.len() == positions.len() {
                put(&mut Rc::make_mut(&mut array).items, positions, items);
                Ok(Value::Numbers(array))
            } else {
                Err(wrong())
            }
        }
        Value::Others(mut array) => {
            let items = new.elements();
            if items.len() == positions.len() {
                put(&mut Rc::make_mut(&mut array).items, positions, items);
                Ok(Value::Others(array))
            } else {
                Err(wrong())
            }
        }
        _ => Ok(new),
    }
}

fn put<T>(items: &mut [T], positions: &[usize], new: Vec<T>) {
    for (&p, item) in positions.iter().zip(new) {
        if let Some(place) = items.get_mut(p) {
            *place = item;
        }
    }
}
