//! Derivatives of calls, by the `derivative` annotation of the function that is called.
//!
//! ```text
//! function f input Real x; … annotation(derivative = f_der);      d f(u) = f_der(u, du)
//! ```
//!
//! In: a call on the graph and the derivatives of its scalar arguments. Out: the derivatives of its scalar results. A
//! derivative function of order n takes the arguments of the function it belongs to and the derivatives of the inputs that
//! function added last. (Specification: section 12.7.1.)

use saltus_base::{Diagnostics, Span};
use saltus_flat::{BaseType, FlatModel, Function, FunctionDerivative, Type, count};
use saltus_program::Argument;

use super::Lowering;
use super::functions::known_dims;
use super::value::{FunctionValue, Value};
use crate::dag::{CallId, Derivative, NodeId};
use crate::system::System;
use crate::tuning::work::MOST_RECORD_LEVELS;

/// What is differentiated by. A derivative function of higher order takes for granted that its lower derivatives are those
/// by time, and says nothing about partial ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    Time,
    Slot,
}

/// Derivatives of all scalar results of a call; `None` if its function has no derivative that fits. `d_arguments` are
/// those of the call's scalar arguments; those that a derivative function does not take need not exist.
pub fn derivative_of_call(
    model: &FlatModel,
    system: &mut System,
    call: CallId,
    d_arguments: &[Derivative],
    by: By,
) -> Option<Vec<NodeId>> {
    let mut diagnostics = Diagnostics::new();
    let mut lowering = Lowering::new(model, system, &mut diagnostics);
    lowering.is_literal = true;
    lowering.derivative_of_call(call, d_arguments, by)
}

impl<'a> Lowering<'a, '_> {
    fn derivative_of_call(&mut self, call: CallId, d_arguments: &[Derivative], by: By) -> Option<Vec<NodeId>> {
        let called = self.system.dag.called(call).clone();
        let callable = self.system.calls.callables.get(called.function)?.clone();
        let function = self.model.functions.get(callable.function)?;
        // What is stated about the time says nothing about slots.
        if by == By::Slot && function.states_derivative() {
            return None;
        }
        let zero = self.system.dag.constant(0.0);
        // NaN stands for an unknown derivative.
        let nothing = self.system.dag.constant(f64::NAN);
        let derivatives: Vec<NodeId> = d_arguments.iter().map(|d| d.map_or(nothing, |d| d.unwrap_or(zero))).collect();
        let all = self.all_arguments(&called.arguments);
        let arguments = self.argument_values(&callable.arguments, &all)?;
        let d_arguments = self.argument_values(&callable.arguments, &derivatives)?;
        let d_given =
            self.argument_values(&callable.arguments, &self.kept_fields(&callable.arguments, &derivatives, &all))?;
        for derivative in function.derivatives.iter().filter(|d| by == By::Time || d.order < 2) {
            if let Some(inputs) = self.differentiated_inputs(function, derivative, &d_arguments) {
                let mut all = arguments.clone();
                all.extend(inputs.into_iter().filter_map(|i| d_given.get(i).cloned()));
                let results = self.call(derivative.function, all, Span::nowhere()).ok()?;
                return self.result_derivatives(&callable.results, &results);
            }
        }
        None
    }

    /// The derivatives of arguments, in which what is not Real in a record has its value.
    fn kept_fields(&self, shapes: &[Argument], derivatives: &[NodeId], values: &[NodeId]) -> Vec<NodeId> {
        let mut is_kept = Vec::with_capacity(derivatives.len());
        shapes.iter().for_each(|shape| self.mark_kept(shape, false, &mut is_kept));
        let one = |k: usize, d: NodeId| match (is_kept.get(k), values.get(k)) {
            (Some(true), Some(&value)) => value,
            _ => d,
        };
        derivatives.iter().enumerate().map(|(k, &d)| one(k, d)).collect()
    }

    fn mark_kept(&self, shape: &Argument, is_field: bool, is_kept: &mut Vec<bool>) {
        match shape {
            Argument::Text(_) | Argument::Template { .. } | Argument::Object(_) => {}
            Argument::Scalars(ty) => self.mark_kept_of(ty, is_field, 0, is_kept),
            Argument::Function { bound, .. } => {
                bound.iter().for_each(|(_, ty)| self.mark_kept_of(ty, false, 0, is_kept));
            }
            Argument::Parts { ty, items } => {
                let is_field = is_field || matches!(ty.base, BaseType::Record(_));
                items.iter().for_each(|item| self.mark_kept(item, is_field, is_kept));
            }
        }
    }

    /// For each scalar of a value: is it a field of a record that is not Real?
    fn mark_kept_of(&self, ty: &Type, is_field: bool, level: u32, is_kept: &mut Vec<bool>) {
        let n = known_dims(ty).map_or(0, |dims| dims.iter().product());
        match ty.base {
            BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
                let fields = self.model.records.get(id).map_or(&[][..], |r| &r.fields);
                for _ in 0..n {
                    fields.iter().for_each(|f| self.mark_kept_of(&f.ty, true, level + 1, is_kept));
                }
            }
            base => is_kept.extend(std::iter::repeat_n(is_field && base != BaseType::Real, n)),
        }
    }

    /// The arguments of a call as values.
    pub(super) fn argument_values(&mut self, shapes: &[Argument], scalars: &[NodeId]) -> Option<Vec<Value>> {
        let mut rest = scalars;
        let mut values = Vec::with_capacity(shapes.len());
        for shape in shapes {
            values.push(self.argument_value(shape, &mut rest)?);
        }
        Some(values)
    }

    fn argument_value(&mut self, shape: &Argument, rest: &mut &[NodeId]) -> Option<Value> {
        Some(match shape {
            Argument::Text(text) => Value::text(text),
            Argument::Template { .. } => return None,
            Argument::Object(slot) => Value::Object(*slot),
            Argument::Scalars(ty) => self.value_of_scalars(ty, rest, 0)?,
            Argument::Function { function, bound } => {
                let bound: Option<Vec<(u32, Value)>> =
                    bound.iter().map(|(position, ty)| Some((*position, self.value_of_scalars(ty, rest, 0)?))).collect();
                Value::Function(std::rc::Rc::new(FunctionValue { function: *function, bound: bound? }))
            }
            Argument::Parts { ty, items } => {
                let parts: Option<Vec<Value>> = items.iter().map(|item| self.argument_value(item, rest)).collect();
                match ty.base {
                    BaseType::Record(_) if ty.dims.is_empty() => Value::record(parts?),
                    _ => Value::assemble(known_dims(ty)?, parts?)?,
                }
            }
        })
    }

    /// Takes as many scalars as a value of the type has.
    fn value_of_scalars(&self, ty: &Type, rest: &mut &[NodeId], level: u32) -> Option<Value> {
        let dims = known_dims(ty)?;
        let n: usize = dims.iter().product();
        if let BaseType::Record(id) = ty.base {
            let fields = &self.model.records.get(id).filter(|_| level < MOST_RECORD_LEVELS)?.fields;
            let mut items = Vec::with_capacity(n);
            for _ in 0..n {
                let record: Option<Vec<Value>> =
                    fields.iter().map(|f| self.value_of_scalars(&f.ty, rest, level + 1)).collect();
                items.push(Value::record(record?));
            }
            return Value::assemble(dims, items);
        }
        let (items, others) = rest.split_at_checked(n)?;
        *rest = others;
        Some(Value::numbers(dims, items.to_vec()))
    }

    /// Positions of the inputs whose derivatives the derivative function takes; `None` if it is not applicable.
    fn differentiated_inputs(
        &self,
        function: &Function,
        derivative: &FunctionDerivative,
        d_arguments: &[Value],
    ) -> Option<Vec<usize>> {
        let n_new = self.model.functions.get(derivative.function)?.inputs.len().checked_sub(function.inputs.len())?;
        let mut inputs = Vec::new();
        for (i, local) in function.inputs.iter().enumerate() {
            let base = function.locals.get(*local)?.ty.base;
            let is_constant = d_arguments.get(i)?.scalars().iter().all(|&d| self.system.dag.is_zero(d));
            if derivative.zero_derivative.contains(local) && !is_constant {
                return None;
            }
            let is_left_out = derivative.zero_derivative.contains(local) || derivative.no_derivative.contains(local);
            if self.contains_reals(base, 0) && !is_left_out {
                let is_unknown = |&d: &NodeId| self.system.dag.value(d).is_some_and(f64::is_nan);
                if d_arguments.get(i)?.scalars().iter().any(is_unknown) {
                    return None;
                }
                inputs.push(i);
            }
        }
        // Of higher orders only the derivatives that were added last have new ones.
        let n_old = inputs.len().checked_sub(n_new)?;
        if n_old > 0 && derivative.order < 2 {
            return None;
        }
        Some(inputs.split_off(n_old))
    }

    fn contains_reals(&self, base: BaseType, level: u32) -> bool {
        match base {
            BaseType::Real => true,
            BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
                let fields = self.model.records.get(id).map_or(&[][..], |r| &r.fields);
                fields.iter().any(|f| self.contains_reals(f.ty.base, level + 1))
            }
            _ => false,
        }
    }

    /// The derivative function returns derivatives of those results that contain Reals; the others have none.
    fn result_derivatives(&mut self, types: &[Type], results: &[Value]) -> Option<Vec<NodeId>> {
        let zero = self.system.dag.constant(0.0);
        let mut results = results.iter();
        let mut all = Vec::new();
        for ty in types {
            let n = usize::try_from(count::n_scalars(self.model, ty)?).ok()?;
            if self.contains_reals(ty.base, 0) {
                let scalars = results.next()?.scalars();
                if scalars.len() != n {
                    return None;
                }
                let mut is_kept = Vec::with_capacity(n);
                self.mark_kept_of(ty, false, 0, &mut is_kept);
                all.extend(scalars.into_iter().zip(is_kept).map(|(d, is_kept)| if is_kept { zero } else { d }));
            } else {
                all.extend(std::iter::repeat_n(zero, n));
            }
        }
        Some(all)
    }
}
