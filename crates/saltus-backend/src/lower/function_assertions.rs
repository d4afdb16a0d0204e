//! Assertions of functions that are executed: checked at accepted points, like those of the model.
//!
//! ```text
//! function f … assert(x > 0, "too low"); …        y = if on then f(u) else 0   ⇒   assert(not on or u > 0, "too low")
//! ```
//!
//! An assertion counts where the call is reached: in the branch of an `if` in which it stands, in a `when` at its events, in
//! initial equations at the start. (Specification: section 12.2, `assert` in functions; 8.3.7.)

use saltus_base::Span;
use saltus_flat::{Expr, Function};
use saltus_program::{Assertion, BinaryFn, SlotKind, SlotType};

use super::texts::Wording;
use super::{Lowered, Lowering};
use crate::dag::NodeId;
use crate::diagnostics;
use crate::system::Assignment;
use crate::when::Guard;

/// Assertions of functions beyond this are not checked, which is said: each takes a slot and is evaluated at every accepted point.
const MOST_FUNCTION_ASSERTIONS: usize = 2_000;

/// An assertion of a function, as seen from its caller.
#[derive(Clone, Debug)]
pub struct FunctionAssertion {
    holds: NodeId,
    message: Wording,
    is_warning: bool,
    span: Span,
    /// Where it is called, from the inside out.
    calls: Vec<(Span, String)>,
    /// It counts where the caller uses this output.
    output: Option<usize>,
    /// It says that something has a value: without it the result is not what the function returns.
    is_about_value: bool,
}

impl FunctionAssertion {
    pub fn new(holds: NodeId, message: Wording, span: Span) -> FunctionAssertion {
        FunctionAssertion {
            holds,
            message,
            is_warning: false,
            span,
            calls: Vec::new(),
            output: None,
            is_about_value: false,
        }
    }

    /// About a variable of the function, or this output.
    pub fn about_value(self, output: Option<usize>) -> FunctionAssertion {
        FunctionAssertion { output, is_about_value: true, ..self }
    }

    pub fn is_about_value(&self) -> bool {
        self.is_about_value
    }

    pub fn output(&self) -> Option<usize> {
        self.output
    }

    pub fn condition(&self) -> NodeId {
        self.holds
    }

    pub fn at_level(self, is_warning: bool) -> FunctionAssertion {
        FunctionAssertion { is_warning, ..self }
    }
}

/// Are calls made at every accepted point?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// Nobody knows.
    Sometimes,
    /// In initial equations and algorithms: at the start.
    Always,
    /// Except inside a `when`, where relations are literal.
    InAlgorithm,
    /// In a `when` that is active then.
    InWhen(Guard),
}

/// When an assertion counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Times {
    Always,
    Active(Guard),
}

impl<'a> Lowering<'a, '_> {
    /// An assertion of the function that is being executed.
    pub fn assert_in_function(
        &mut self,
        condition: &'a Expr,
        message: &'a Expr,
        level: Option<&'a Expr>,
        span: Span,
    ) -> Lowered<()> {
        // An assertion about Strings that are not known cannot be checked.
        let Ok(condition) = self.literally(|l| l.condition(condition)) else { return Ok(()) };
        let is_certain = self.system.dag.value(self.path).is_some();
        let guard = self.reached();
        let holds = self.implies(guard, condition);
        match self.system.dag.value(holds) {
            Some(0.0) if is_certain => return self.unsupported("a function whose assertion fails", span),
            Some(_) => return Ok(()),
            None => {}
        }
        let is_warning = self.is_warning(level);
        // What comes after it is not reached.
        self.state.is_dead |= self.system.dag.value(condition) == Some(0.0) && !is_warning;
        let message = self.wording(message);
        self.postpone(FunctionAssertion { is_warning, ..FunctionAssertion::new(holds, message, span) });
        Ok(())
    }

    fn has_room(&mut self, n: usize) -> bool {
        if n >= MOST_FUNCTION_ASSERTIONS {
            self.diagnostics.push(diagnostics::unchecked_assertions(MOST_FUNCTION_ASSERTIONS));
        }
        n < MOST_FUNCTION_ASSERTIONS
    }

    /// Leaves an assertion of the present function to its callers; false if there are too many.
    pub fn postpone(&mut self, assertion: FunctionAssertion) -> bool {
        let has_room = self.has_room(self.function_assertions.len());
        if has_room {
            self.function_assertions.push(assertion);
        }
        has_room
    }

    /// The condition under which the present expression counts.
    pub fn reached(&mut self) -> NodeId {
        let branches = self.branches.clone();
        branches.into_iter().fold(self.path, |reached, (condition, value)| {
            let dag = &mut self.system.dag;
            let here = if value { condition } else { dag.not(condition) };
            dag.and(reached, here)
        })
    }

    /// Is the present expression evaluated whatever happens?
    pub fn is_reached(&mut self) -> bool {
        let reached = self.reached();
        self.system.dag.value(reached).is_some_and(|v| v != 0.0)
    }

    /// The condition, as far as the guard holds.
    pub fn implies(&mut self, guard: NodeId, condition: NodeId) -> NodeId {
        let inactive = self.system.dag.not(guard);
        self.system.dag.binary(BinaryFn::Or, inactive, condition)
    }

    /// Takes over the assertions of a function that is called here.
    pub fn adopt(&mut self, assertions: &[FunctionAssertion], function: &Function, span: Span) {
        let is_in_function = self.function.is_some();
        let times = self.times().filter(|_| !self.folds_parameters);
        if assertions.is_empty() || !is_in_function && times.is_none() {
            return;
        }
        let guard = self.reached();
        let used = self.used;
        for assertion in assertions.iter().filter(|a| a.output.is_none_or(|k| used.contains(k))) {
            let holds = self.implies(guard, assertion.holds);
            if self.system.dag.value(holds).is_some_and(|v| v != 0.0) {
                continue;
            }
            let mut assertion = FunctionAssertion { holds, output: None, ..assertion.clone() };
            assertion.calls.push((span, format!("calls `{}`", function.name)));
            if let Some(times) = times.filter(|_| !is_in_function) {
                self.keep(assertion, times);
            } else {
                self.postpone(assertion);
            }
        }
    }

    /// When an assertion counts that stands in the present equation or statement, under the condition `path`.
    pub fn times(&mut self) -> Option<Times> {
        let dag = &mut self.system.dag;
        let (yes, no) = (dag.boolean(true), dag.boolean(false));
        let (at_event, initially) = if self.is_initial { (no, yes) } else { (yes, no) };
        let active = Some(Times::Active(Guard { at_event, initially }));
        match self.made {
            Made::Sometimes => None,
            Made::Always if self.is_initial => active,
            Made::InAlgorithm if self.is_literal => active,
            // Outside of a `when` it is checked as at any other point.
            Made::InAlgorithm if self.is_initial => None,
            Made::Always | Made::InAlgorithm => Some(Times::Always),
            Made::InWhen(guard) => Some(Times::Active(guard)),
        }
    }

    /// Makes it an assertion of the model.
    pub fn keep(&mut self, assertion: FunctionAssertion, times: Times) {
        let FunctionAssertion { mut holds, message, is_warning, span, calls, .. } = assertion;
        let is_new = self.system.memo.asserted.insert((span.file, span.start, holds, times));
        if !is_new || !self.has_room(self.system.memo.asserted.len() - 1) {
            return;
        }
        holds = match times {
            Times::Active(guard) => self.kept_condition(holds, guard, span),
            Times::Always if self.system.clocks.is_active => self.clocked_assertion(holds, span),
            Times::Always => holds,
        };
        self.checked(holds, message, is_warning, span, calls);
    }

    /// An assertion of the model; `calls` lead to it where it is one of a function.
    pub fn checked(
        &mut self,
        holds: NodeId,
        wording: Wording,
        is_warning: bool,
        span: Span,
        calls: Vec<(Span, String)>,
    ) {
        let number = self.system.checks.assertions.len() + 1;
        let slot = self.system.add_slot(format!("assertion {number}"), SlotKind::Auxiliary, SlotType::Boolean);
        self.system.checks.conditions.push(Assignment { slot, node: holds, span });
        let message = self.message(wording, slot, false);
        self.system.checks.assertions.push(Assertion {
            condition: slot,
            bounds: Vec::new(),
            message,
            is_warning,
            span,
            calls,
        });
    }

    /// What is lowered now is made at every accepted point, or not.
    pub fn making<T>(&mut self, made: Made, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.made, made);
        let n_before = self.function_assertions.len();
        let result = act(self);
        if made == Made::Sometimes {
            self.function_assertions.truncate(n_before);
        }
        self.made = before;
        result
    }

    /// In the branch in which a condition has this value.
    pub fn in_branch<T>(&mut self, condition: NodeId, value: bool, act: impl FnOnce(&mut Self) -> T) -> T {
        self.branches.push((condition, value));
        let result = act(self);
        self.branches.pop();
        result
    }
}
