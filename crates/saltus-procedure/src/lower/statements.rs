//! Statements (specification chapter 11).

use saltus_flat::{Builtin, Expr, ExprKind, LocalId, Statement, StatementKind};

use super::Lowering;
use crate::form::{Block, Callee, Code, Iteration, Op, Operand, Over, Register, Step};

impl Lowering {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Block {
        let mut block = Block::new();
        if self.levels >= super::MOST_LEVELS {
            if let Some(first) = statements.first() {
                self.too_deep(first.span, &mut block);
            }
            return block;
        }
        self.levels += 1;
        for statement in statements {
            let next = self.next;
            self.statement(statement, &mut block);
            self.next = next;
        }
        self.levels -= 1;
        block
    }

    fn statement(&mut self, statement: &Statement, block: &mut Block) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign { target, value } => self.assign(target, value, block),
            StatementKind::If { branches, otherwise } => {
                let mut joined = None;
                let mut lowered = Vec::with_capacity(branches.len());
                for (condition, body) in branches {
                    let condition = self.separate_code(condition);
                    lowered.push((condition, self.branch(body, &mut joined)));
                }
                let otherwise = self.branch(otherwise, &mut joined);
                self.values.arrive(joined);
                block.push(Step::If { branches: lowered, otherwise });
            }
            StatementKind::For { local, range, body } => {
                let iteration = self.iteration(*local, range);
                let before = self.values.here();
                self.values.enter_loop();
                let body = self.statements(body);
                let after = if has_rounds(range) { self.values.here() } else { before };
                self.values.leave_loop(after);
                block.push(Step::For { iteration, body, span });
            }
            StatementKind::While { condition, body } => {
                let never_ends = matches!(condition.kind, ExprKind::Boolean(true));
                let condition = self.separate_code(condition);
                let before = self.values.here().filter(|_| !never_ends);
                self.values.enter_loop();
                let body = self.statements(body);
                self.values.leave_loop(before);
                block.push(Step::While { condition, body, span });
            }
            StatementKind::Break => {
                self.values.breaks();
                block.push(Step::Break);
            }
            StatementKind::Return => {
                self.values.return_all();
                block.push(Step::Return);
            }
            StatementKind::Assert { condition, message, level } => {
                let step = Step::Assert {
                    condition: self.separate_code(condition),
                    // Whatever it mentions, it shall be seen.
                    message: self.unread(|l| l.separate_code(message)),
                    level: level.as_ref().map(|l| self.separate_code(l)),
                    span,
                };
                if matches!(condition.kind, ExprKind::Boolean(false)) && level.is_none() {
                    self.values.stop();
                }
                block.push(step);
            }
            StatementKind::Terminate { message } => {
                block.push(Step::Terminate { message: self.unread(|l| l.separate_code(message)), span });
                self.values.stop();
            }
            StatementKind::Call(call) => self.call_for_effect(call, block),
            StatementKind::When { .. } => block.push(Step::Unavailable { what: "a `when` statement".into(), span }),
            StatementKind::Reinit { .. } => block.push(Step::Unavailable { what: "`reinit`".into(), span }),
        }
    }

    /// One of several ways.
    fn branch(&mut self, body: &[Statement], joined: &mut Option<Vec<bool>>) -> Block {
        let before = self.values.enter_branch();
        let block = self.statements(body);
        self.values.leave_branch(&before, joined);
        block
    }

    /// What is lowered now needs no values of locals.
    pub(super) fn unread<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.values.is_ignored, true);
        let result = act(self);
        self.values.is_ignored = before;
        result
    }

    fn assign(&mut self, target: &Expr, value: &Expr, block: &mut Block) {
        let ExprKind::Tuple(targets) = &target.kind else {
            let value = self.operand(value, block);
            self.assign_to(target, value, block);
            return;
        };
        let Some((callee, arguments)) = self.callee(value, block) else {
            let value = self.operand(value, block);
            match targets.as_slice() {
                [Some(target)] => self.assign_to(target, value, block),
                [None] => {}
                _ => block.push(Step::Unavailable { what: "a list of results".into(), span: target.span }),
            }
            return;
        };
        let to: Vec<Option<Register>> = targets.iter().map(|t| t.as_ref().map(|_| self.temporary())).collect();
        block.push(Step::Call { to: to.clone(), callee, arguments, span: value.span });
        for (target, register) in targets.iter().zip(to) {
            if let (Some(target), Some(register)) = (target, register) {
                self.assign_to(target, Operand::Temporary(register), block);
            }
        }
    }

    fn assign_to(&mut self, target: &Expr, value: Operand, block: &mut Block) {
        let span = target.span;
        let (root, path) = self.path(target, block);
        match root.kind {
            ExprKind::Local(id) if self.bound(id).is_some() => {
                let target = self.local(id);
                block.push(Step::Assign { target, path, value, span });
                if let Some(flag) = self.values.assign(id) {
                    let (target, value) = (self.local(flag), Operand::Boolean(true));
                    block.push(Step::Assign { target, path: Vec::new(), value, span });
                }
            }
            _ => block.push(Step::Unavailable { what: "the target of an assignment".into(), span: root.span }),
        }
    }

    fn call_for_effect(&mut self, call: &Expr, block: &mut Block) {
        match self.callee(call, block) {
            Some((callee, arguments)) => {
                block.push(Step::Call { to: Vec::new(), callee, arguments, span: call.span });
            }
            None => {
                let value = self.operand(call, block);
                // Read, so that every temporary is.
                let to = self.temporary();
                block.push(Step::Compute { to, op: Op::Copy(value), span: call.span });
            }
        }
    }

    /// A call with its arguments.
    pub(super) fn callee(&mut self, call: &Expr, block: &mut Block) -> Option<(Callee, Vec<Operand>)> {
        match &call.kind {
            ExprKind::Call { function, arguments } => {
                Some((Callee::Function(*function), self.operands(arguments, block)))
            }
            ExprKind::CallLocal { function, arguments } => {
                let function = self.local(*function);
                Some((Callee::Local(function), self.operands(arguments, block)))
            }
            ExprKind::Builtin { function: Builtin::Pure, arguments } => self.callee(arguments.first()?, block),
            _ => None,
        }
    }

    pub(super) fn iteration(&mut self, local: LocalId, range: &Expr) -> Iteration {
        let mut block = Block::new();
        let over = match &range.kind {
            ExprKind::Range { start, step, stop } => Over::Range {
                start: self.operand(start, &mut block),
                step: step.as_ref().map(|s| self.operand(s, &mut block)),
                stop: self.operand(stop, &mut block),
            },
            _ => Over::Vector(self.operand(range, &mut block)),
        };
        Iteration { variable: self.iteration_variable(local), block, over, span: range.span }
    }

    pub(super) fn boxed_code(&mut self, expr: &Expr) -> Box<Code> {
        Box::new(self.code(expr))
    }
}

/// Is a loop over this certain to have a round?
fn has_rounds(range: &Expr) -> bool {
    match &range.kind {
        ExprKind::Range { start, step: None, stop } => {
            matches!((&start.kind, &stop.kind), (ExprKind::Integer(first), ExprKind::Integer(last)) if first <= last)
        }
        ExprKind::Array(items) => !items.is_empty(),
        _ => false,
    }
}
