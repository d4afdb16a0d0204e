//! Statements of function bodies (specification chapter 11).
//!
//! ```text
//! for i in 1:n loop
//!   y := y + x[i];
//!   if y > 10 then break; end if;
//! end for;
//! ```

use saltus_flat::{Expr, ExprKind, LocalId, Statement, StatementKind};

use crate::evaluator::Evaluator;
use crate::{EvalError, EvalResult, Value, diagnostics};

/// What comes after a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Return,
}

impl Evaluator<'_> {
    pub(crate) fn run(&mut self, statements: &[Statement]) -> EvalResult<Flow> {
        let Some(first) = statements.first() else { return Ok(Flow::Next) };
        self.enter(first.span)?;
        let flow = self.run_all(statements);
        self.leave();
        flow
    }

    fn run_all(&mut self, statements: &[Statement]) -> EvalResult<Flow> {
        for statement in statements {
            self.step(statement.span)?;
            match self.run_one(statement)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn run_one(&mut self, statement: &Statement) -> EvalResult<Flow> {
        match &statement.kind {
            StatementKind::Assign { target, value } => self.run_assign(target, value)?,
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if self.eval_boolean(condition)? {
                        return self.run(body);
                    }
                }
                return self.run(otherwise);
            }
            StatementKind::For { local, range, body } => return self.run_for(*local, range, body),
            StatementKind::While { condition, body } => return self.run_while(condition, body),
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
            StatementKind::Assert { condition, message, level } => {
                self.run_assert(condition, message, level.as_ref(), statement)?;
            }
            StatementKind::Terminate { message } => {
                let text = self.eval_string(message)?;
                return Err(diagnostics::terminated(self.outermost(statement.span), &text).into());
            }
            StatementKind::Call(call) => {
                self.eval_results(call)?;
            }
            StatementKind::When { .. } => return Err(EvalError::not_constant(statement.span, "a `when` statement")),
            StatementKind::Reinit { .. } => return Err(EvalError::not_constant(statement.span, "`reinit`")),
        }
        Ok(Flow::Next)
    }

    fn run_assign(&mut self, target: &Expr, value: &Expr) -> EvalResult<()> {
        let ExprKind::Tuple(targets) = &target.kind else {
            let value = self.eval(value)?;
            return self.assign(target, value);
        };
        let results = self.eval_results(value)?;
        if results.len() < targets.len() {
            return Err(diagnostics::wrong_arguments(target.span, "the list of results", targets.len()).into());
        }
        for (target, result) in targets.iter().zip(results) {
            if let Some(target) = target {
                self.assign(target, result)?;
            }
        }
        Ok(())
    }

    /// All results of a call.
    fn eval_results(&mut self, call: &Expr) -> EvalResult<Vec<Value>> {
        match &call.kind {
            ExprKind::Call { function, arguments } => {
                let arguments = self.eval_arguments(arguments)?;
                self.call_function(*function, arguments, call.span)
            }
            ExprKind::CallLocal { function, arguments } => {
                let arguments = self.eval_arguments(arguments)?;
                self.call_local(*function, arguments, call.span)
            }
            _ => Ok(vec![self.eval(call)?]),
        }
    }

    fn run_for(&mut self, local: LocalId, range: &Expr, body: &[Statement]) -> EvalResult<Flow> {
        if let ExprKind::Range { start, step: None, stop } = &range.kind
            && let (Value::Integer(first), Value::Integer(last)) = (self.eval(start)?, self.eval(stop)?)
        {
            // The usual loop, without a vector for its range.
            return self.run_iterations(local, body, (first..=last).map(Value::Integer));
        }
        let range = self.eval_iterable(range)?;
        let n = range.dims().first().copied().unwrap_or(0);
        self.run_iterations(local, body, (0..n).filter_map(|i| range.block(i, 1)))
    }

    fn run_iterations(
        &mut self,
        local: LocalId,
        body: &[Statement],
        values: impl Iterator<Item = Value>,
    ) -> EvalResult<Flow> {
        let saved = self.frame.save(local);
        let mut result = Ok(Flow::Next);
        for value in values {
            self.frame.set(local, value);
            let flow = self.count_iteration(body).and_then(|()| self.run(body));
            match flow {
                Ok(Flow::Next) => {}
                Ok(Flow::Break) => break,
                other => {
                    result = other;
                    break;
                }
            }
        }
        self.frame.restore(local, saved);
        result
    }

    /// An empty body is work as well.
    fn count_iteration(&mut self, body: &[Statement]) -> EvalResult<()> {
        match body.first() {
            Some(_) => Ok(()),
            None => self.step(saltus_base::Span::nowhere()),
        }
    }

    fn run_while(&mut self, condition: &Expr, body: &[Statement]) -> EvalResult<Flow> {
        while self.eval_boolean(condition)? {
            match self.run(body)? {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
        }
        Ok(Flow::Next)
    }

    fn run_assert(
        &mut self,
        condition: &Expr,
        message: &Expr,
        level: Option<&Expr>,
        statement: &Statement,
    ) -> EvalResult<()> {
        if self.eval_boolean(condition)? {
            return Ok(());
        }
        let text = self.eval_string(message)?;
        // AssertionLevel is enumeration(warning, error).
        let is_warning = match level {
            Some(level) => matches!(self.eval(level)?, Value::Enum(_, 1)),
            None => false,
        };
        let span = self.outermost(statement.span);
        let function = self.calls.last().map(|(f, _)| (f.name.clone(), statement.span));
        let function = function.as_ref().map(|(name, at)| (name.as_str(), *at));
        if is_warning {
            self.warn(diagnostics::assertion_warning(span, &text, function));
            return Ok(());
        }
        Err(diagnostics::assertion_failed(span, &text, function).into())
    }
}
