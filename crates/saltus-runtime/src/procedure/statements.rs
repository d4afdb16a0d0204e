//! Statements of function bodies (specification chapter 11): assignments, branches, loops.
//!
//! A loop over few known values is written out once for each of them, so that its variable is a constant in the body; so is
//! one whose body could not be compiled otherwise, because sizes depend on the variable.

use saltus_flat::BaseType;
use saltus_procedure::{self as form, Callee, Register, Step};
use saltus_program::BinaryFn;

use super::body::{Body, Cell};
use super::code::{At, Binary, Op};
use super::expressions::is_simple;
use super::layout::{Compiled, Operand, Place, Unsupported};

/// Rounds of a loop that is written out if it must be.
const MOST_ROUNDS: usize = 10_000;
/// Instructions of a loop that is written out because that is faster.
const FEW_INSTRUCTIONS: usize = 1_500;

/// What a loop runs over.
enum Rounds {
    /// The elements of a vector.
    Vector(Place),
    /// Integers from, by a known step, to.
    Integers(At, f64, At),
}

impl Body<'_, '_> {
    pub fn block(&mut self, block: &[Step]) -> Compiled<()> {
        self.compiler.enter()?;
        let mark = self.mark();
        let n_unread = self.n_unread();
        let mut result = Ok(());
        for step in block {
            result = self.step(step);
            if result.is_err() {
                break;
            }
            if self.n_unread() <= n_unread {
                // What these instructions have computed has been read: the end of a statement.
                self.free(&mark);
            }
        }
        self.compiler.leave();
        result
    }

    fn step(&mut self, step: &Step) -> Compiled<()> {
        match step {
            Step::Compute { to, op, .. } => {
                let value = self.compute(op)?;
                self.set_result(*to, value);
                Ok(())
            }
            Step::Call { to, callee, arguments, .. } => self.results(to, *callee, arguments),
            Step::Assign { target, path, value, .. } => self.assign(*target, path, value),
            Step::If { branches, otherwise } => self.branches(branches, otherwise),
            Step::For { iteration, body, .. } => {
                let rounds = self.rounds(iteration)?;
                let variable = iteration.variable;
                self.repeat(variable, &rounds, &mut |this| this.block(body), &mut |this| this.forget(body))
            }
            Step::While { condition, body, .. } => self.repeat_while(condition, body),
            Step::Break => {
                let jump = self.jump(Op::Jump, At::NOWHERE)?;
                self.breaks.last_mut().ok_or(Unsupported("`break` outside of a loop"))?.push(jump);
                Ok(())
            }
            Step::Return => {
                let jump = self.jump(Op::Jump, At::NOWHERE)?;
                self.returns.push(jump);
                Ok(())
            }
            Step::Expect { local, flag, .. } => {
                let flag = self.scalar(&form::Operand::Local(*flag))?.at;
                self.expect(flag, self.function.local(*local).is_some_and(|l| l.ty.is_scalar()))
            }
            // The text of the message, and what is only a warning, is the business of the evaluator.
            Step::Assert { condition, level, .. } => {
                let condition = self.code_boolean(condition)?;
                if self.value_of(condition).is_some_and(|x| x != 0.0) {
                    return Ok(());
                }
                let fine = self.jump(Op::JumpIf, condition)?;
                // AssertionLevel is enumeration(warning, error).
                let is_error = level.as_ref().is_none_or(|l| matches!(l.value, form::Operand::Enumeration(_, 2)));
                self.trouble(is_error)?;
                self.patch_here(&[fine]);
                Ok(())
            }
            Step::Terminate { .. } => self.trouble(true),
            Step::Unavailable { .. } => Err(Unsupported("something that belongs into a model")),
        }
    }

    /// In trouble unless a Boolean is true; the evaluator fails, too, or warns.
    pub fn expect(&mut self, flag: At, is_failure: bool) -> Compiled<()> {
        if self.value_of(flag).is_some_and(|x| x != 0.0) {
            return Ok(());
        }
        let fine = self.jump(Op::JumpIf, flag)?;
        self.trouble(is_failure)?;
        self.patch_here(&[fine]);
        Ok(())
    }

    fn trouble(&mut self, is_failure: bool) -> Compiled<()> {
        self.emit(Op::Trouble, At::NOWHERE, At::NOWHERE, At::NOWHERE, u32::from(is_failure))?;
        Ok(())
    }

    fn assign(&mut self, target: Register, path: &[form::PathStep], value: &form::Operand) -> Compiled<()> {
        let value = self.value(value)?;
        let constant = value.at.is_constant().then_some(value.at);
        let view = self.target(target, path)?;
        self.write(&view, value)?;
        if path.is_empty() {
            let is_scalar = self.function.local(target).is_some_and(|l| l.ty.is_scalar() && is_simple(l.ty.base));
            self.remember(target, constant.filter(|_| is_scalar));
        }
        Ok(())
    }

    fn results(&mut self, to: &[Option<Register>], callee: Callee, arguments: &[form::Operand]) -> Compiled<()> {
        let arguments = self.operands(arguments)?;
        let results = match callee {
            Callee::Function(function) => self.call(function, &arguments, to)?,
            Callee::Local(local) => self.call_local(local, arguments, to)?,
        };
        if results.len() < to.len() {
            return Err(Unsupported("too few results"));
        }
        for (register, result) in to.iter().zip(results) {
            if let Some(register) = register {
                self.set_result(*register, Operand::Value(result));
            }
        }
        Ok(())
    }

    fn branches(&mut self, branches: &[(form::Code, form::Block)], otherwise: &[Step]) -> Compiled<()> {
        let mut ends = Vec::new();
        let before = self.known.clone();
        let mut last = otherwise;
        let mut taken: Vec<&[Step]> = Vec::new();
        for (condition, body) in branches {
            let condition = self.code_boolean(condition)?;
            match self.value_of(condition) {
                Some(0.0) => continue,
                Some(_) => {
                    last = body;
                    break;
                }
                None => {}
            }
            let skip = self.jump(Op::JumpUnless, condition)?;
            self.branch(body)?;
            taken.push(body);
            ends.push(self.jump(Op::Jump, At::NOWHERE)?);
            self.patch_here(&[skip]);
            self.known.clone_from(&before);
        }
        if ends.is_empty() {
            return self.block(last);
        }
        self.branch(last)?;
        taken.push(last);
        self.patch_here(&ends);
        self.known = before;
        taken.into_iter().for_each(|body| self.forget(body));
        Ok(())
    }

    /// Statements that may not be reached: what is not supported in them is trouble only if they are.
    fn branch(&mut self, body: &[Step]) -> Compiled<()> {
        let mark = self.mark();
        if self.block(body).is_err() {
            self.undo(&mark);
            self.trouble(false)?;
        }
        Ok(())
    }

    fn repeat_while(&mut self, condition: &form::Code, body: &[Step]) -> Compiled<()> {
        self.forget(body);
        let known = self.known.clone();
        let start = self.label_here();
        let condition = self.code_boolean(condition)?;
        if self.value_of(condition) == Some(0.0) {
            return Ok(());
        }
        let end = match self.value_of(condition) {
            Some(_) => None,
            None => Some(self.jump(Op::JumpUnless, condition)?),
        };
        self.breaks.push(Vec::new());
        let result = self.block(body);
        let breaks = self.breaks.pop().unwrap_or_default();
        result?;
        self.emit(Op::Again, At::NOWHERE, At::NOWHERE, At::NOWHERE, start as u32)?;
        self.patch_here(&breaks);
        self.patch_here(end.as_slice());
        self.known = known;
        Ok(())
    }

    fn rounds(&mut self, iteration: &form::Iteration) -> Compiled<Rounds> {
        self.block(&iteration.block)?;
        let vector = match &iteration.over {
            form::Over::Vector(vector) => self.value(vector)?,
            form::Over::Range { start, step, stop } => {
                let first = self.scalar(start)?;
                let step = step.as_ref().map(|s| self.scalar(s)).transpose()?;
                let last = self.scalar(stop)?;
                let by = step.as_ref().map_or(Some(1.0), |s| self.value_of(s.at));
                let integers = [Some(first.base), step.as_ref().map(|s| s.base), Some(last.base)];
                let is_integer = integers.iter().flatten().all(|&b| b == BaseType::Integer);
                let is_known = first.at.is_constant() && last.at.is_constant();
                if let (true, false, Some(by)) = (is_integer, is_known, by.filter(|&b| b != 0.0)) {
                    return Ok(Rounds::Integers(first.at, by, last.at));
                }
                self.range(&first, step.as_ref(), &last)?
            }
        };
        if vector.dims.is_empty() {
            return Err(Unsupported("a vector is expected"));
        }
        if vector.at.is_constant() {
            return Ok(Rounds::Vector(vector));
        }
        // The body may change what the vector was made of.
        let own = self.storage(vector.base, &vector.dims)?;
        self.copy_place(&own, &vector)?;
        Ok(Rounds::Vector(own))
    }

    /// Compiles `body`, which assigns no local, for each round.
    pub fn repeat_over(
        &mut self,
        iteration: &form::Iteration,
        body: &mut dyn FnMut(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        let rounds = self.rounds(iteration)?;
        self.repeat(iteration.variable, &rounds, body, &mut |_| {})
    }

    /// `forget` drops what is known of the locals that the body assigns.
    fn repeat(
        &mut self,
        local: Register,
        rounds: &Rounds,
        body: &mut dyn FnMut(&mut Self) -> Compiled<()>,
        forget: &mut dyn FnMut(&mut Self),
    ) -> Compiled<()> {
        let n = match rounds {
            Rounds::Vector(vector) => vector.dims.first().copied(),
            Rounds::Integers(..) => None,
        };
        let mark = self.mark();
        let start = self.code.len();
        let rolled =
            if n.is_some_and(|n| n <= 1) { Err(Unsupported("")) } else { self.roll(local, rounds, body, forget) };
        let length = self.code.len() - start;
        let (Rounds::Vector(vector), Some(n)) = (rounds, n) else { return rolled };
        if rolled.is_ok() && n.saturating_mul(length) > FEW_INSTRUCTIONS {
            return Ok(());
        }
        self.undo(&mark);
        if n > MOST_ROUNDS {
            return Err(Unsupported("a long loop"));
        }
        self.unroll(local, vector, n, body)?;
        forget(self);
        Ok(())
    }

    fn unroll(
        &mut self,
        local: Register,
        vector: &Place,
        n: usize,
        body: &mut dyn FnMut(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        let inner: Vec<usize> = vector.dims.iter().skip(1).copied().collect();
        let size = self.compiler.layout.size(vector.base, &inner)? as u32;
        self.breaks.push(Vec::new());
        let mut result = Ok(());
        for i in 0..n as u32 {
            let at = vector.at.plus(i * size);
            self.bind(local, Place { at, base: vector.base, dims: inner.clone() });
            result = body(self);
            if result.is_err() {
                break;
            }
        }
        let breaks = self.breaks.pop().unwrap_or_default();
        self.patch_here(&breaks);
        result
    }

    /// A loop at run time.
    fn roll(
        &mut self,
        local: Register,
        rounds: &Rounds,
        body: &mut dyn FnMut(&mut Self) -> Compiled<()>,
        forget: &mut dyn FnMut(&mut Self),
    ) -> Compiled<()> {
        forget(self);
        let known = self.known.clone();
        let counter = self.storage(BaseType::Integer, &[])?.at;
        let (first, by, last) = match rounds {
            Rounds::Vector(vector) => {
                let n = vector.dims.first().copied().unwrap_or(0);
                (self.constant(1.0), 1.0, self.constant(n as f64))
            }
            Rounds::Integers(first, by, last) => (*first, *by, self.kept(*last)?),
        };
        self.copy(counter, Cell::fixed(first), 1)?;
        let start = self.label_here();
        let relation = if by > 0.0 { BinaryFn::LessEqual } else { BinaryFn::GreaterEqual };
        let goes_on = self.binary(Binary::Function(relation), counter, last)?;
        let end = self.jump(Op::JumpUnless, goes_on)?;
        self.bind_round(local, rounds, counter)?;
        self.breaks.push(Vec::new());
        let result = body(self);
        let breaks = self.breaks.pop().unwrap_or_default();
        result?;
        let by = self.constant(by);
        self.emit(Op::Add, counter, counter, by, 0)?;
        self.emit(Op::Again, At::NOWHERE, At::NOWHERE, At::NOWHERE, start as u32)?;
        self.patch_here(&breaks);
        self.patch_here(&[end]);
        self.known = known;
        Ok(())
    }

    /// A copy that statements of a loop do not change.
    fn kept(&mut self, at: At) -> Compiled<At> {
        if at.is_constant() {
            return Ok(at);
        }
        let own = self.storage(BaseType::Integer, &[])?.at;
        self.copy(own, Cell::fixed(at), 1)?;
        Ok(own)
    }

    fn bind_round(&mut self, local: Register, rounds: &Rounds, counter: At) -> Compiled<()> {
        let Rounds::Vector(vector) = rounds else {
            let own = self.storage(BaseType::Integer, &[])?;
            self.copy(own.at, Cell::fixed(counter), 1)?;
            self.bind(local, own);
            return Ok(());
        };
        let inner: Vec<usize> = vector.dims.iter().skip(1).copied().collect();
        let own = self.storage(vector.base, &inner)?;
        let size = self.compiler.layout.size(vector.base, &inner)? as u32;
        let n = vector.dims.first().copied().unwrap_or(0) as u32;
        let moved = self.temporary(1)?;
        self.emit(Op::Subscript, moved, counter, At::frame(size), n)?;
        self.emit(Op::Load, own.at, vector.at, moved, size)?;
        self.bind(local, own);
        Ok(())
    }
}
