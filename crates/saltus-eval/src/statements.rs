//! Branches, loops and assertions (specification chapter 11).
//!
//! ```text
//! for i in 1:n loop
//!   y := y + x[i];
//!   if y > 10 then break; end if;
//! end for;
//! ```

use saltus_base::Span;
use saltus_procedure::{Block, Code, Iteration, Over, Register, Step};

use crate::array::Items;
use crate::evaluator::Evaluator;
use crate::execute::Flow;
use crate::value::type_name;
use crate::{EvalError, EvalResult, Value, diagnostics};

/// What an iteration runs over.
pub(crate) enum Rounds {
    /// Without a vector for the usual range.
    Integers(i64, i64),
    Items(Items),
    /// Elements that are arrays.
    Blocks(Vec<Value>),
}

impl Rounds {
    pub(crate) fn len(&self) -> usize {
        match self {
            Rounds::Integers(first, last) => {
                usize::try_from(last.saturating_sub(*first).saturating_add(1)).unwrap_or(0)
            }
            Rounds::Items(items) => items.len(),
            Rounds::Blocks(values) => values.len(),
        }
    }

    pub(crate) fn get(&self, i: usize) -> Option<Value> {
        match self {
            Rounds::Integers(first, _) => Some(Value::Integer(first.checked_add(i64::try_from(i).ok()?)?)),
            Rounds::Items(items) => items.get(i),
            Rounds::Blocks(values) => values.get(i).cloned(),
        }
    }
}

impl Evaluator<'_> {
    pub(crate) fn run_statement(&mut self, step: &Step) -> EvalResult<Flow> {
        match step {
            Step::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.step(condition.span)?;
                    if self.eval_boolean(condition)? {
                        return self.run(body, condition.span);
                    }
                }
                return self.run(otherwise, Span::nowhere());
            }
            Step::For { iteration, body, span } => return self.run_for(iteration, body, *span),
            Step::While { condition, body, span } => return self.run_while(condition, body, *span),
            Step::Break => return Ok(Flow::Break),
            Step::Return => return Ok(Flow::Return),
            Step::Expect { local, flag, span } => {
                if self.frame.get(*flag) != Some(&Value::Boolean(true)) {
                    self.used_without_value(*local, *span)?;
                }
            }
            Step::Assert { condition, message, level, span } => {
                self.run_assert(condition, message, level.as_ref(), *span)?;
            }
            Step::Terminate { message, span } => {
                let text = self.eval_string(message)?;
                return Err(diagnostics::terminated(self.outermost(*span), &text).into());
            }
            Step::Unavailable { what, span } => return Err(EvalError::not_constant(*span, what.clone())),
            Step::Compute { .. } | Step::Call { .. } | Step::Assign { .. } => {}
        }
        Ok(Flow::Next)
    }

    /// The values that an iteration variable takes.
    pub(crate) fn rounds(&mut self, iteration: &Iteration) -> EvalResult<Rounds> {
        self.run(&iteration.block, iteration.span)?;
        let span = iteration.span;
        match &iteration.over {
            Over::Range { start, step, stop } => {
                if step.is_none() {
                    let (first, last) = (self.read(start, span)?, self.read(stop, span)?);
                    return match (first, last) {
                        (Value::Integer(first), Value::Integer(last)) => Ok(Rounds::Integers(first, last)),
                        (first, last) => Ok(Rounds::Items(self.range_of(&first, None, &last, span)?)),
                    };
                }
                Ok(Rounds::Items(self.range(start, step.as_ref(), stop, span)?))
            }
            Over::Vector(vector) => match self.read(vector, span)? {
                Value::Array(a) if a.rank() == 1 => Ok(Rounds::Items(a.into_items())),
                Value::Array(a) => {
                    let n = a.dims().first().copied().unwrap_or(0);
                    Ok(Rounds::Blocks((0..n).filter_map(|i| a.block(i, 1)).collect()))
                }
                other => Err(diagnostics::kind_mismatch(span, "a vector", type_name(other.base_type())).into()),
            },
        }
    }

    fn run_for(&mut self, iteration: &Iteration, body: &Block, span: Span) -> EvalResult<Flow> {
        let rounds = self.rounds(iteration)?;
        let variable: Register = iteration.variable;
        let saved = self.frame.take(variable);
        let mut result = Ok(Flow::Next);
        for i in 0..rounds.len() {
            let Some(value) = rounds.get(i) else { break };
            self.frame.set(variable, value);
            // An empty body is work as well.
            match self.step(span).and_then(|()| self.run(body, span)) {
                Ok(Flow::Next) => {}
                Ok(Flow::Break) => break,
                other => {
                    result = other;
                    break;
                }
            }
        }
        self.frame.restore(variable, saved);
        result
    }

    fn run_while(&mut self, condition: &Code, body: &Block, span: Span) -> EvalResult<Flow> {
        while self.eval_boolean(condition)? {
            self.step(span)?;
            match self.run(body, span)? {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
        }
        Ok(Flow::Next)
    }

    fn run_assert(&mut self, condition: &Code, message: &Code, level: Option<&Code>, span: Span) -> EvalResult<()> {
        self.step(span)?;
        if self.eval_boolean(condition)? {
            return Ok(());
        }
        let text = self.eval_string(message)?;
        // AssertionLevel is enumeration(warning, error).
        let is_warning = match level {
            Some(level) => matches!(self.eval_code(level)?, Value::Enum(_, 1)),
            None => false,
        };
        let place = self.outermost(span);
        let function = self.calls.last().map(|(p, _)| p.clone());
        let function = function.as_ref().map(|p| (p.name.as_str(), span));
        if is_warning {
            self.warn(diagnostics::assertion_warning(place, &text, function));
            return Ok(());
        }
        Err(diagnostics::assertion_failed(place, &text, function).into())
    }
}
