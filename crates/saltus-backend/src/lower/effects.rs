//! Calls of impure functions: each of them is a call of its own, made once where it is active.
//!
//! ```text
//! when x > 1 then
//!   n = countLines("log.txt");        n := if active then result 1 of call 1 else pre(n)
//!   print("x = " + String(x));        effect 2 := result 0 of call 2
//! end when;                           both calls with `active` as their first argument
//! ```
//!
//! In an algorithm a call also has the one before it as an argument, so that they are made in order. A function is treated
//! as impure if it is declared so or calls such a function outside of `pure(…)`. (Specification: section 12.3.)

use saltus_base::{Diagnostics, Index, Span};
use saltus_flat::uses::for_each_expr_of_statements;
use saltus_flat::{Builtin, Expr, ExprKind, FlatModel, Function, FunctionId, Purity};
use saltus_program::{Effect, SlotKind, SlotType};

use super::value::Value;
use super::{Lowered, Lowering};
use crate::blocks::Step;
use crate::dag::{CallId, NodeId};
use crate::diagnostics;
use crate::system::{ScalarEquation, System};

/// Where impure functions may be called, and when they are active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acts {
    Never,
    /// Under this condition, and that of the path.
    If(NodeId),
}

/// A call whose results are not used.
#[derive(Clone, Copy, Debug)]
pub struct VoidCall {
    call: CallId,
    at_events: bool,
    initially: bool,
    span: Span,
}

impl<'a> Lowering<'a, '_> {
    /// With impure calls active under a condition.
    pub fn acting<T>(&mut self, condition: NodeId, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.acts, Acts::If(condition));
        let result = act(self);
        self.acts = before;
        result
    }

    /// With impure calls active wherever they are reached.
    pub fn acting_always<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let yes = self.system.dag.boolean(true);
        self.acting(yes, act)
    }

    /// Is the function treated as impure?
    pub fn is_impure(&mut self, id: FunctionId) -> bool {
        if self.system.memo.impure.is_empty() {
            self.system.memo.impure = impure_functions(self.model);
        }
        self.system.memo.impure[id.index()]
    }

    /// A call of an impure function; `None` where it is not made for its effect.
    pub fn impure_call(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: &[Value],
        span: Span,
    ) -> Lowered<Option<Vec<Value>>> {
        // A function that is not declared impure, and does nothing here but compute.
        if function.purity == Purity::Pure
            && let Some(results) = self.evaluated_call(id, function, arguments, span)
        {
            return Ok(Some(results));
        }
        if self.function.is_some() {
            return self.unsupported("a call for its effect in a function", span);
        }
        if self.acts == Acts::Never {
            return match function.purity {
                Purity::Impure => Err(diagnostics::impure_call(&function.name, span).into()),
                Purity::Pure => Ok(None),
            };
        }
        let (results, _) = self.effect_call(id, function, arguments.to_vec(), false, span)?;
        Ok(Some(results))
    }

    fn effect_call(
        &mut self,
        id: FunctionId,
        function: &'a Function,
        arguments: Vec<Value>,
        is_deferred: bool,
        span: Span,
    ) -> Lowered<(Vec<Value>, CallId)> {
        let condition = match self.acts {
            Acts::If(condition) => condition,
            Acts::Never => self.system.dag.boolean(false),
        };
        let reached = self.system.dag.and(self.entry, self.path);
        let guard = self.system.dag.and(condition, reached);
        let token = match self.last_effect {
            Some(call) => self.system.dag.result(call, 0),
            None => self.system.dag.constant(0.0),
        };
        let number = self.system.memo.n_effects;
        self.system.memo.n_effects += 1;
        let effect = Some(Effect { number, is_deferred });
        let (results, call) = self.call_at_run_time(id, function, arguments, vec![guard, token], effect, span)?;
        if self.is_ordered {
            self.last_effect = Some(call);
        }
        Ok((results, call))
    }

    /// A call that stands alone: made for what it does, or for what it checks.
    pub fn call_for_effect(&mut self, call: &'a Expr) -> Lowered<()> {
        let span = call.span;
        let (id, arguments) = match &call.kind {
            ExprKind::Call { function, arguments } => (*function, arguments),
            ExprKind::Builtin { function: Builtin::Pure, arguments } if arguments.len() == 1 => {
                return self.call_for_effect(&arguments[0]);
            }
            ExprKind::Builtin { .. } => return self.value(call).map(|_| ()),
            _ => return Ok(()),
        };
        let model = self.model;
        let Some(function) = model.functions.get(id) else { return self.broken("an unknown function", span) };
        let is_impure = self.is_impure(id);
        if !is_impure && !function.outputs.is_empty() {
            return Ok(());
        }
        if self.acts == Acts::Never {
            if function.purity == Purity::Impure {
                self.diagnostics.push(diagnostics::impure_equation(&function.name, span));
                let at_start = self.system.load(self.system.initial);
                return self.acting(at_start, |l| l.call_for_effect(call));
            }
            return Ok(());
        }
        let arguments = self.arguments(arguments)?;
        let (_, call) = self.effect_call(id, function, arguments, true, span)?;
        // A when-equation is lowered once for both, an algorithm once for each.
        let (at_events, initially) = (!self.is_initial, self.is_initial || !self.is_ordered);
        self.system.calls.void.push(VoidCall { call, at_events, initially, span });
        Ok(())
    }

    /// In the order of the statements, from the first one on.
    pub fn in_order<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let (ordered, last) = (std::mem::replace(&mut self.is_ordered, true), self.last_effect.take());
        let result = act(self);
        (self.is_ordered, self.last_effect) = (ordered, last);
        result
    }
}

/// Gives each call whose results are not used a variable, so that it is made.
pub fn add_void_calls(system: &mut System) {
    for (i, void) in std::mem::take(&mut system.calls.void).into_iter().enumerate() {
        let slot = system.add_slot(format!("effect {}", i + 1), SlotKind::Discrete, SlotType::Boolean);
        let left = system.load(slot);
        let nothing = system.dag.constant(0.0);
        let made = system.dag.result(void.call, 0);
        let right = if void.at_events { made } else { nothing };
        let initially = Some(if void.initially { made } else { nothing });
        let target = Some(slot);
        system.equations.push(ScalarEquation {
            left,
            right,
            target,
            initially,
            is_real: false,
            span: void.span,
            linearized: None,
        });
    }
}

/// Equations that must be solved together are evaluated an unknown number of times.
pub fn check_loops(system: &System, steps: &[Step], diagnostics: &mut Diagnostics) {
    for step in steps {
        let Step::Loop(l) = step else { continue };
        let mut calls = Vec::new();
        system.dag.calls_of(&step.nodes(), &mut calls);
        let callables = calls.iter().map(|&call| system.dag.called(call).function);
        let impure = callables.into_iter().find(|&c| system.calls.callables.get(c).is_some_and(|c| c.effect.is_some()));
        if let Some(callable) = impure {
            let span = l.residuals.first().map(|r| r.1).or(l.discrete.first().map(|a| a.span));
            let name = system.callable_name(callable);
            diagnostics.push(diagnostics::impure_call_in_loop(name, span.unwrap_or(Span::nowhere())));
        }
    }
}

/// By function: is it declared impure, does it make an object of foreign code, or does it call such a function?
fn impure_functions(model: &FlatModel) -> Vec<bool> {
    let calls: Vec<Vec<FunctionId>> = model.functions.values().map(called_functions).collect();
    // Each object has a life of its own, even if another one is made of the same arguments.
    let makes_object = |f: &Function| f.external.as_ref().is_some_and(|e| e.destructor.is_some());
    let is_impure = |f: &Function| f.purity == Purity::Impure || makes_object(f);
    let mut impure: Vec<bool> = model.functions.values().map(is_impure).collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (i, called) in calls.iter().enumerate() {
            if !impure[i] && called.iter().any(|f| impure.get(f.index()) == Some(&true)) {
                impure[i] = true;
                has_changed = true;
            }
        }
    }
    impure
}

/// What the body of a function calls outside of `pure(…)`.
fn called_functions(function: &Function) -> Vec<FunctionId> {
    let mut called = Vec::new();
    // Functions wrapped in `pure` come right after it.
    let mut wrapped: Vec<*const Expr> = Vec::new();
    let mut visit = |e: &Expr| match &e.kind {
        ExprKind::Builtin { function: Builtin::Pure, arguments } => {
            wrapped.extend(arguments.iter().map(std::ptr::from_ref))
        }
        ExprKind::Call { function, .. } if !wrapped.contains(&std::ptr::from_ref(e)) => called.push(*function),
        _ => {}
    };
    for_each_expr_of_statements(&function.body, &mut |e| e.walk(&mut visit));
    function.locals.values().filter_map(|l| l.default.as_ref()).for_each(|e| e.walk(&mut visit));
    called
}
