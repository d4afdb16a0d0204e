//! Reading and writing parts of arrays and records (specification §10.5): `a[2, :]`, `r.x[i].y`.
//!
//! Subscripts count from 1; a Boolean dimension is indexed by `false`, `true`, an enumeration dimension by its
//! literals. Writing changes the storage in place unless it is shared.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::{BaseType, Type};
use saltus_procedure::{self as procedure, Operand, Register, Subscript};

use crate::array::{Array, Items, n_items};
use crate::evaluator::Evaluator;
use crate::sizes::check_known_sizes;
use crate::value::type_name;
use crate::{EvalError, EvalResult, Value, diagnostics};

/// An evaluated subscript, counted from 1 and not yet checked.
pub(crate) enum Selection {
    One(i64),
    Many(Vec<i64>),
    All,
}

/// One step from a value down to a part of it, subscripts evaluated.
pub(crate) enum PathStep {
    Field(u32),
    Select(Vec<Selection>, Span),
}

/// Row-major position of an element; all subscripts are scalar.
fn position(dims: &[usize], subscripts: &[i64], span: Span) -> EvalResult<usize> {
    let mut at = 0;
    for (d, (&size, &index)) in dims.iter().zip(subscripts).enumerate() {
        at = at * size + checked(index, size, d, span)?;
    }
    Ok(at)
}

fn checked(index: i64, size: usize, dimension: usize, span: Span) -> EvalResult<usize> {
    match usize::try_from(index) {
        Ok(i) if i >= 1 && i <= size => Ok(i - 1),
        _ => Err(diagnostics::index_out_of_range(span, index, size, dimension).into()),
    }
}

/// Repeated subscripts can select more elements than there are.
const MOST_SELECTED: usize = 10_000_000;

/// Sizes of the selected part and the row-major positions of its elements.
fn select(dims: &[usize], selections: &[Selection], span: Span) -> EvalResult<(Vec<usize>, Vec<usize>)> {
    if selections.len() > dims.len() {
        return Err(diagnostics::too_many_subscripts(span, selections.len(), dims.len()).into());
    }
    let count = |d: usize, size: usize| match selections.get(d) {
        Some(Selection::One(_)) => 1,
        Some(Selection::Many(list)) => list.len(),
        Some(Selection::All) | None => size,
    };
    let n = dims.iter().enumerate().try_fold(1usize, |n, (d, &size)| n.checked_mul(count(d, size)));
    if n.is_none_or(|n| n > MOST_SELECTED) {
        return Err(diagnostics::array_too_large(span, MOST_SELECTED as u64).into());
    }
    let mut shape = Vec::with_capacity(dims.len());
    let mut positions = vec![0usize];
    for (d, &size) in dims.iter().enumerate() {
        let chosen: Vec<usize> = match selections.get(d) {
            Some(Selection::One(i)) => vec![checked(*i, size, d, span)?],
            Some(Selection::Many(list)) => {
                shape.push(list.len());
                list.iter().map(|&i| checked(i, size, d, span)).collect::<EvalResult<_>>()?
            }
            Some(Selection::All) | None => {
                shape.push(size);
                (0..size).collect()
            }
        };
        positions = positions.iter().flat_map(|&p| chosen.iter().map(move |&c| p * size + c)).collect();
    }
    Ok((shape, positions))
}

fn subscript_number(value: Value, span: Span) -> EvalResult<i64> {
    match value {
        Value::Integer(i) => Ok(i),
        Value::Boolean(b) => Ok(if b { 2 } else { 1 }),
        Value::Enum(_, ordinal) => Ok(i64::from(ordinal)),
        other => Err(diagnostics::kind_mismatch(span, "an Integer subscript", type_name(other.base_type())).into()),
    }
}

impl Evaluator<'_> {
    /// A part of what an operand holds.
    pub(crate) fn select(&mut self, base: &Operand, path: &[procedure::PathStep], span: Span) -> EvalResult {
        if let Some(value) = self.select_directly(base, path)? {
            return Ok(value);
        }
        let mut parts = Vec::with_capacity(path.len());
        for step in path {
            parts.push(self.part(step)?);
        }
        let mut value = self.read(base, span)?;
        for (part, step) in parts.iter().zip(path) {
            value = match (part, step) {
                (PathStep::Field(field), procedure::PathStep::Field { ty, span, .. }) => {
                    self.field_of(&value, *field as usize, ty, *span)?
                }
                (PathStep::Select(selections, at), _) => self.selected(value, selections, *at)?,
                _ => return Err(diagnostics::unknown_local(span).into()),
            };
        }
        Ok(value)
    }

    /// The usual cases without lists: one element of a local array, one field of a local record.
    fn select_directly(&mut self, base: &Operand, path: &[procedure::PathStep]) -> EvalResult<Option<Value>> {
        let (Operand::Local(local), [step]) = (base, path) else { return Ok(None) };
        match step {
            procedure::PathStep::Field { field, .. } => match self.frame.get(*local) {
                Some(Value::Record(_, fields)) => Ok(fields.get(*field as usize).cloned()),
                _ => Ok(None),
            },
            procedure::PathStep::Subscripts { subscripts, span } => {
                let is_array = |v: &Value| v.dims().len() == subscripts.len();
                if subscripts.len() > 4 || !self.frame.get(*local).is_some_and(is_array) {
                    return Ok(None);
                }
                if !subscripts.iter().all(|s| matches!(s, Subscript::Index(_))) {
                    return Ok(None);
                }
                let mut numbers = [0i64; 4];
                for (number, subscript) in numbers.iter_mut().zip(subscripts) {
                    if let Subscript::Index(argument) = subscript {
                        *number = subscript_number(self.read(&argument.value, argument.span)?, argument.span)?;
                    }
                }
                let numbers = numbers.get(..subscripts.len()).unwrap_or_default();
                match self.frame.get(*local) {
                    Some(Value::Array(array)) => Ok(array.get(position(array.dims(), numbers, *span)?)),
                    _ => Ok(None),
                }
            }
        }
    }

    /// One step of a path with its subscripts evaluated.
    fn part(&mut self, step: &procedure::PathStep) -> EvalResult<PathStep> {
        Ok(match step {
            procedure::PathStep::Field { field, .. } => PathStep::Field(*field),
            procedure::PathStep::Subscripts { subscripts, span } => {
                let mut selections = Vec::with_capacity(subscripts.len());
                for subscript in subscripts {
                    selections.push(self.selection(subscript)?);
                }
                PathStep::Select(selections, *span)
            }
        })
    }

    fn selection(&mut self, subscript: &Subscript) -> EvalResult<Selection> {
        Ok(match subscript {
            Subscript::All => Selection::All,
            Subscript::Index(a) => Selection::One(subscript_number(self.read(&a.value, a.span)?, a.span)?),
            Subscript::Slice(a) => match self.read(&a.value, a.span)? {
                Value::Array(numbers) if numbers.rank() == 1 => Selection::Many(slice_numbers(&numbers, a.span)?),
                other => {
                    let found = type_name(other.base_type());
                    return Err(diagnostics::kind_mismatch(a.span, "a vector of subscripts", found).into());
                }
            },
        })
    }

    fn selected(&mut self, value: Value, selections: &[Selection], span: Span) -> EvalResult {
        let numbers: Option<Vec<i64>> =
            selections.iter().map(|s| if let Selection::One(i) = s { Some(*i) } else { None }).collect();
        let array = match (value, &numbers) {
            (Value::Array(array), Some(numbers)) => return element(&array, numbers, span),
            (Value::Array(array), None) => array,
            (other, Some(_)) => {
                return Err(diagnostics::kind_mismatch(span, "an array", type_name(other.base_type())).into());
            }
            (_, None) => return Err(diagnostics::too_many_subscripts(span, selections.len(), 0).into()),
        };
        let (shape, positions) = select(array.dims(), selections, span)?;
        self.check_elements(&shape, span)?;
        match array.items().gather(&positions) {
            Some(items) => self.assemble(shape, items, span),
            None => Err(diagnostics::sizes_disagree(span, array.dims(), &shape).into()),
        }
    }

    /// A field of a record, or the array of that field over an array of records.
    fn field_of(&mut self, value: &Value, field: usize, ty: &Type, span: Span) -> EvalResult {
        let missing = || -> EvalError {
            diagnostics::kind_mismatch(span, "a record with that field", type_name(value.base_type())).into()
        };
        match value {
            Value::Record(_, fields) => fields.get(field).cloned().ok_or_else(missing),
            Value::Array(array) => {
                let mut dims = array.dims().to_vec();
                let mut inner: Option<Vec<usize>> = None;
                let mut items = Items::empty(ty.base);
                for i in 0..array.len() {
                    let Some(Value::Record(_, fields)) = array.get(i) else { return Err(missing()) };
                    let part = fields.get(field).ok_or_else(missing)?;
                    let inner = inner.get_or_insert_with(|| part.dims().to_vec());
                    if part.dims() != inner.as_slice() {
                        return Err(diagnostics::sizes_disagree(span, inner, part.dims()).into());
                    }
                    if items.is_empty() {
                        items = Items::empty(part.base_type());
                    }
                    if !items.extend_value(part.clone()) {
                        return Err(missing());
                    }
                }
                let rank = dims.len();
                let known = || ty.dims.iter().skip(rank).map(|d| d.known().unwrap_or(0) as usize).collect();
                dims.extend(inner.unwrap_or_else(known));
                self.assemble(dims, items, span)
            }
            _ => Err(missing()),
        }
    }

    /// Sets a local, or the part of it that the path leads to.
    pub(crate) fn assign(
        &mut self,
        target: Register,
        path: &[procedure::PathStep],
        value: Value,
        span: Span,
    ) -> EvalResult<()> {
        if path.is_empty() {
            return self.assign_whole(target, value, span);
        }
        if let Some(procedure::PathStep::Field { ty, .. }) = path.last() {
            check_known_sizes(ty, value.dims(), span, || self.path_text(target, path))?;
        }
        let mut parts = Vec::with_capacity(path.len());
        for step in path {
            parts.push(self.part(step)?);
        }
        match self.frame.get_mut(target) {
            Some(place) => assign_part(place, &parts, value, span),
            None => Err(self.without_value(target, span)),
        }
    }

    /// `r.x` for messages, without subscripts.
    fn path_text(&self, local: Register, path: &[procedure::PathStep]) -> String {
        let local = self.calls.last().and_then(|(procedure, _)| procedure.local(local));
        let (mut text, mut base) = local.map_or((String::new(), BaseType::Error), |l| (l.name.clone(), l.ty.base));
        for step in path {
            if let (procedure::PathStep::Field { field, ty, .. }, BaseType::Record(id)) = (step, base) {
                let record = self.env.record_type(id);
                text += &record.fields.get(*field as usize).map_or(String::new(), |f| format!(".{}", f.name));
                base = ty.base;
            }
        }
        text
    }

    fn assign_whole(&mut self, target: Register, value: Value, span: Span) -> EvalResult<()> {
        let Some(local) = self.calls.last().and_then(|(procedure, _)| procedure.local(target)) else {
            return Err(diagnostics::unknown_local(span).into());
        };
        if local.ty.rank() != value.dims().len() {
            return Err(diagnostics::sizes_disagree(span, &vec![0; local.ty.rank()], value.dims()).into());
        }
        check_known_sizes(&local.ty, value.dims(), span, || local.name.clone())?;
        // A size that the type does not know was found when the function was entered.
        let before = self.frame.get(target).map_or(&[][..], Value::dims);
        for (d, (&entered, &found)) in before.iter().zip(value.dims()).enumerate() {
            if matches!(local.sizes.get(d), Some(Some(_))) && entered != found {
                return Err(diagnostics::size_expected(span, &local.name, d, entered as i64, found).into());
            }
        }
        let base = local.ty.base;
        self.frame.set(target, value.converted(base));
        Ok(())
    }
}

fn element(array: &Array, numbers: &[i64], span: Span) -> EvalResult {
    if numbers.len() > array.rank() {
        return Err(diagnostics::too_many_subscripts(span, numbers.len(), array.rank()).into());
    }
    let at = position(array.dims(), numbers, span)?;
    array.block(at, numbers.len()).ok_or_else(|| diagnostics::unknown_local(span).into())
}

fn slice_numbers(a: &Array, span: Span) -> EvalResult<Vec<i64>> {
    match a.items() {
        // A mask is not a selection in Modelica: Booleans index a Boolean dimension.
        Items::Boolean(v) => Ok(v.iter().map(|&b| if b { 2 } else { 1 }).collect()),
        items => match items.to_integers() {
            Some(v) => Ok(v),
            None if items.is_empty() => Ok(Vec::new()),
            None => Err(diagnostics::kind_mismatch(span, "Integer subscripts", type_name(items.base_type())).into()),
        },
    }
}

fn assign_part(slot: &mut Value, path: &[PathStep], value: Value, span: Span) -> EvalResult<()> {
    let Some((step, rest)) = path.split_first() else {
        let value = value.converted(slot.base_type());
        *slot = value;
        return Ok(());
    };
    match step {
        PathStep::Field(field) => assign_field(slot, *field as usize, rest, value, span),
        PathStep::Select(selections, at) => assign_selected(slot, selections, *at, rest, value, span),
    }
}

fn assign_field(slot: &mut Value, field: usize, rest: &[PathStep], value: Value, span: Span) -> EvalResult<()> {
    match slot {
        Value::Record(_, fields) => match Arc::make_mut(fields).get_mut(field) {
            Some(part) => assign_part(part, rest, value, span),
            None => Err(diagnostics::kind_mismatch(span, "a record with that field", "record").into()),
        },
        Value::Array(array) => {
            let (n, rank) = (array.len(), array.rank());
            let parts = split(&value, array.dims(), n, rank, span)?;
            let Some(elements) = array.items_mut().others_mut() else {
                return Err(diagnostics::kind_mismatch(span, "an array of records", "another array").into());
            };
            for (slot, part) in elements.iter_mut().zip(parts) {
                assign_field(slot, field, rest, part, span)?;
            }
            Ok(())
        }
        other => Err(diagnostics::kind_mismatch(span, "a record", type_name(other.base_type())).into()),
    }
}

fn assign_selected(
    slot: &mut Value,
    selections: &[Selection],
    at: Span,
    rest: &[PathStep],
    value: Value,
    span: Span,
) -> EvalResult<()> {
    let Value::Array(array) = slot else {
        return Err(diagnostics::too_many_subscripts(at, selections.len(), 0).into());
    };
    let mismatch = |array: &Array, found: BaseType| -> EvalError {
        diagnostics::kind_mismatch(span, type_name(array.items().base_type()), type_name(found)).into()
    };
    let scalar: Option<Vec<i64>> =
        selections.iter().map(|s| if let Selection::One(i) = s { Some(*i) } else { None }).collect();
    if let Some(numbers) = scalar
        && numbers.len() == array.rank()
    {
        let p = position(array.dims(), &numbers, at)?;
        if rest.is_empty() {
            let found = value.base_type();
            let ok = array.items_mut().set(p, value);
            return if ok { Ok(()) } else { Err(mismatch(array, found)) };
        }
        return match array.items_mut().others_mut().and_then(|v| v.get_mut(p)) {
            Some(part) => assign_part(part, rest, value, span),
            None => Err(mismatch(array, value.base_type())),
        };
    }
    let (shape, positions) = select(array.dims(), selections, at)?;
    if rest.is_empty() && value.dims() != shape {
        return Err(diagnostics::sizes_disagree(span, &shape, value.dims()).into());
    }
    let parts = split(&value, &shape, positions.len(), shape.len(), span)?;
    for (&p, part) in positions.iter().zip(parts) {
        let found = part.base_type();
        let done = if rest.is_empty() {
            array.items_mut().set(p, part)
        } else {
            match array.items_mut().others_mut().and_then(|v| v.get_mut(p)) {
                Some(inner) => {
                    assign_part(inner, rest, part, span)?;
                    true
                }
                None => false,
            }
        };
        if !done {
            return Err(mismatch(array, found));
        }
    }
    Ok(())
}

/// The parts of a value over its first `leading` dimensions, which must be `shape`.
fn split(value: &Value, shape: &[usize], n: usize, leading: usize, span: Span) -> EvalResult<Vec<Value>> {
    let disagree = || -> EvalError { diagnostics::sizes_disagree(span, shape, value.dims()).into() };
    if leading == 0 {
        return Ok(vec![value.clone()]);
    }
    match value {
        Value::Array(a) if a.dims().get(..leading) == Some(shape) && n_items(shape) == Some(n) => {
            (0..n).map(|i| a.block(i, leading).ok_or_else(disagree)).collect()
        }
        _ => Err(disagree()),
    }
}
