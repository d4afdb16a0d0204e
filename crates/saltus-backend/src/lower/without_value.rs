//! Variables of a function that is executed have a value where they are read, and outputs that are used where it ends.
//!
//! ```text
//! function f … if u > 1 then w := 2; end if;  y := w;        x = f(a)   ⇒   x = 2,  assert(a > 1, "`w` is used … before it has a value")
//! ```
//!
//! Beside the values of locals the state keeps the conditions under which they have been assigned, where these are not certain. What is certain
//! to be missing where the function is certain to be called is an error; under a condition it is an assertion, of an array a warning. Where assertions are not
//! checked, as in start values, the function is called instead and finds out. An array has a value as soon as one of its elements has, a record with one of its fields. (Specification: section 12.4.4.)

use saltus_base::{Diagnostic, Index, Span};
use saltus_flat::{Expr, Function, FunctionId, LocalId, Type};

use super::function_assertions::FunctionAssertion;
use super::texts::Wording;
use super::value::Value;
use super::{Lowered, Lowering};
use crate::dag::NodeId;

/// Which results of a call are used.
#[derive(Clone, Copy, Default)]
pub enum Used<'a> {
    #[default]
    First,
    /// Those that go to a target.
    Targets(&'a [Option<Expr>]),
}

impl Used<'_> {
    pub fn contains(self, result: usize) -> bool {
        match self {
            Used::First => result == 0,
            Used::Targets(targets) => matches!(targets.get(result), Some(Some(_))),
        }
    }
}

impl<'a> Lowering<'a, '_> {
    /// The value of a local that is read and may have none.
    pub fn uncertain_local(&mut self, id: LocalId, span: Span) -> Lowered<Value> {
        let value = self.initialise_local(id, span)?;
        let model = self.model;
        let function = self.function.and_then(|f| model.functions.get(f));
        let condition = self.state.uncertain.get(&id.index()).copied();
        let (Some(function), Some(has_value)) = (function, condition) else { return Ok(value) };
        let Some(local) = function.locals.get(id).filter(|_| !self.state.is_dead && !value.dims().contains(&0)) else {
            return Ok(value);
        };
        // An initial value that needs one that is missing is missing itself.
        if let Some(needs_missing) = self.needs_missing.as_mut().filter(|_| self.branches.is_empty()) {
            *needs_missing = true;
            return Ok(value);
        }
        let message = saltus_eval::used_without_value(span, &local.name, &local.ty, &function.name, span);
        let is_warning = !local.ty.is_scalar();
        if !is_warning && self.is_certainly_false(has_value) {
            return Err(message.into());
        }
        let guard = self.reached();
        let holds = self.implies(guard, has_value);
        if self.system.dag.value(holds).is_none_or(|v| v == 0.0) {
            self.assert_value(holds, message.message, is_warning, None, span)?;
        }
        self.or_zero(has_value, value, &local.ty, span)
    }

    /// An array is zero where it has no value; others are not used there.
    fn or_zero(&mut self, has_value: NodeId, value: Value, ty: &Type, span: Span) -> Lowered<Value> {
        if ty.is_scalar() {
            return Ok(value);
        }
        let zero = self.default_value(ty.base, value.dims().to_vec(), span, 0)?;
        self.select(has_value, &value, &zero, span)
    }

    fn assert_value(
        &mut self,
        holds: NodeId,
        text: String,
        is_warning: bool,
        output: Option<usize>,
        span: Span,
    ) -> Lowered<()> {
        let assertion = FunctionAssertion::new(holds, Wording::plain(text, span), span).at_level(is_warning);
        let assertion = assertion.about_value(output);
        if self.postpone(assertion) { Ok(()) } else { self.unsupported("a function with so many checks", span) }
    }

    /// A condition does not hold where the present expression is evaluated, which it is.
    fn is_certainly_false(&mut self, condition: NodeId) -> bool {
        self.system.dag.value(condition) == Some(0.0) && self.is_reached()
    }

    /// The outputs of the function that has been executed. Where one may have no value an assertion says so, for callers that use it.
    pub fn outputs(&mut self, function: &'a Function, span: Span) -> Lowered<Vec<Value>> {
        let mut values = Vec::with_capacity(function.outputs.len());
        for (k, &output) in function.outputs.iter().enumerate() {
            let mut value = self.initialise_local(output, span)?;
            let uncertain = self.state.uncertain.get(&output.index()).copied();
            let local = function.locals.get(output).filter(|_| !value.dims().contains(&0));
            if let (Some(has_value), Some(local)) = (uncertain, local) {
                let span = local.span;
                let message = saltus_eval::returned_without_value(span, &local.name, &local.ty, &function.name, span);
                self.assert_value(has_value, message.message, !local.ty.is_scalar(), Some(k), span)?;
                value = self.or_zero(has_value, value, &local.ty, span)?;
            }
            values.push(value);
        }
        Ok(values)
    }

    /// The message about an output that is used here and certainly has no value.
    pub fn missing_output(
        &mut self,
        assertions: &[FunctionAssertion],
        function: &Function,
        span: Span,
    ) -> Option<Diagnostic> {
        let used = self.used;
        let missing = assertions.iter().find_map(|a| {
            let output = a.output().filter(|&k| used.contains(k))?;
            (self.system.dag.value(a.condition()) == Some(0.0)).then_some(output)
        })?;
        let local = function.locals.get(*function.outputs.get(missing)?)?;
        if !local.ty.is_scalar() {
            return None;
        }
        let message = saltus_eval::returned_without_value(span, &local.name, &local.ty, &function.name, local.span);
        self.is_reached().then_some(message)
    }

    /// Does the result of a call count only if an assertion holds that nobody checks here?
    pub fn is_unchecked(&mut self, assertions: &[FunctionAssertion]) -> bool {
        let used = self.used;
        let counts = |a: &FunctionAssertion| a.is_about_value() && a.output().is_none_or(|k| used.contains(k));
        self.function.is_none() && assertions.iter().any(counts) && (self.times().is_none() || self.folds_parameters)
    }

    /// Results of a call that nobody uses, if the function may leave an output without a value.
    pub fn unused_results(&mut self, id: FunctionId, function: &Function) -> Vec<u32> {
        let used = self.used;
        let n = function.outputs.len();
        if (0..n).all(|k| used.contains(k)) || !self.may_lack_output(id, function) {
            return Vec::new();
        }
        (0..n).filter(|&k| !used.contains(k)).map(|k| k as u32).collect()
    }

    fn may_lack_output(&mut self, id: FunctionId, function: &Function) -> bool {
        if function.external.is_some() {
            return false;
        }
        let procedures = &mut self.system.memo.procedures;
        let procedure = procedures.entry(id).or_insert_with(|| std::sync::Arc::new(saltus_procedure::lower(function)));
        procedure.outputs.iter().any(|&output| procedure.output_flag(output).is_some())
    }
}
