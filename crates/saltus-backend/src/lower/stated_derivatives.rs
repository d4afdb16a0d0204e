//! Functions that are called only so that their annotation can be asked for a derivative.
//!
//! ```text
//! phi = position({q, qd, qdd}, time)     in the model
//! phi = position({q, …, …}, time)        until the index is reduced, which may need der(phi) = qd
//! phi = q                                after that
//! ```
//!
//! A call depends on all its arguments, and one on `qd` would hide that the equation is a constraint. So it gets a mark instead of
//! arguments that do not matter; the mark leads to all of them ([`Calls::stated`](crate::system::Calls)).
//!
//! In: calls, then the system of index 1. Out: the system without calls of functions that state their derivative
//! ([`Function::states_derivative`](saltus_flat::Function::states_derivative)), as far as they can be written out.
//! (Specification: section 18.3, `InlineAfterIndexReduction`.)

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::{FlatModel, Function, FunctionId};

use super::value::Value;
use super::{Lowered, Lowering};
use crate::dag::{CallId, Node, NodeId, Replacement};
use crate::system::System;
use crate::tuning::form::MOST_NESTED_CALLS;

pub fn write_out_stated(model: &FlatModel, system: &mut System) {
    if !model.functions.values().any(|f| f.states_derivative()) {
        return;
    }
    // Arguments and bodies may contain further calls.
    for _ in 0..MOST_NESTED_CALLS {
        let mut calls = Vec::new();
        system.replace_expressions(std::iter::empty(), |dag, roots| {
            dag.calls_of(roots, &mut calls);
            roots.to_vec()
        });
        let written: BTreeMap<CallId, Vec<NodeId>> =
            calls.into_iter().filter_map(|call| Some((call, written_out(model, system, call)?))).collect();
        if written.is_empty() {
            return;
        }
        system.replace_expressions(std::iter::empty(), |dag, roots| {
            dag.replace_all(roots, |dag, id| match dag.node(id) {
                Node::Result(call, k) => written.get(&call)?.get(k as usize).copied().map(Replacement::By),
                _ => None,
            })
        });
    }
}

/// The first mark; a number that no model contains.
const FIRST_MARK: f64 = 1.234_567_890_123_4e-300;

impl<'a> Lowering<'a, '_> {
    /// A call with marks instead of arguments that have no derivative and that the results do not depend on.
    pub(super) fn stated_call(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: &[Value],
        span: Span,
    ) -> Lowered<Vec<Value>> {
        let (written, _) = self.execute(id, function, arguments.to_vec(), span)?;
        let roots: Vec<NodeId> = written.iter().flat_map(Value::scalars).collect();
        let used: BTreeSet<NodeId> = self.system.dag.reachable(&roots).into_iter().collect();
        let mark = f64::from_bits(FIRST_MARK.to_bits() + self.system.calls.stated.len() as u64);
        let mark = self.system.dag.constant(mark);
        let mut marked = Vec::with_capacity(arguments.len());
        for (argument, input) in arguments.iter().zip(&function.inputs) {
            let has_none = function.derivatives.iter().all(|d| d.no_derivative.contains(input));
            let is_kept = |l: &Self, x: NodeId| used.contains(&x) || l.system.dag.value(x).is_some();
            marked.push(if has_none {
                self.map(argument, span, |l, x| if is_kept(l, x) { x } else { mark })?
            } else {
                argument.clone()
            });
        }
        self.system.calls.stated.push(arguments.iter().flat_map(Value::scalars).collect());
        self.real_call(id, function, marked, span)
    }

    /// The scalar arguments of a call, those that a mark stands for included.
    pub(super) fn all_arguments(&self, arguments: &[NodeId]) -> Vec<NodeId> {
        let stated = &self.system.calls.stated;
        let entry = |&node: &NodeId| {
            let number = self.system.dag.value(node)?.to_bits().checked_sub(FIRST_MARK.to_bits())?;
            stated.get(usize::try_from(number).ok()?).filter(|all| all.len() == arguments.len())
        };
        arguments.iter().find_map(entry).cloned().unwrap_or_else(|| arguments.to_vec())
    }
}

/// The scalar results of a call of such a function.
fn written_out(model: &FlatModel, system: &mut System, call: CallId) -> Option<Vec<NodeId>> {
    let called = system.dag.called(call).clone();
    let callable = system.calls.callables.get(called.function).filter(|c| c.effect.is_none())?.clone();
    let function = model.functions.get(callable.function).filter(|f| f.states_derivative())?;
    let mut diagnostics = Diagnostics::new();
    let mut lowering = Lowering::new(model, system, &mut diagnostics);
    lowering.is_literal = true;
    let arguments = lowering.argument_values(&callable.arguments, &called.arguments)?;
    let (results, assertions) = lowering.execute(callable.function, function, arguments, Span::nowhere()).ok()?;
    assertions.is_empty().then(|| results.iter().flat_map(Value::scalars).collect())
}
