//! What holds of every procedure. A violation is a mistake of the compiler, or a damaged file.
//!
//! - registers are in range, and those of inputs, outputs, targets and iterations belong to locals (of an expression: to
//!   its iteration variables);
//! - every local has an initial place in the order of initial values, and sizes for its dimensions;
//! - a temporary is set before it is read and read at most once;
//! - `break` stands in a loop.

use std::collections::BTreeSet;

use saltus_base::Index as _;

use crate::form::{
    Argument, Block, Body, Callee, Code, ExternalArgument, Iteration, Op, Operand, Over, PathStep, Procedure, Register,
    Step, Subscript,
};

/// What is wrong, in words; empty if nothing is.
pub fn verify(procedure: &Procedure) -> Vec<String> {
    let mut check = Check { procedure, set: BTreeSet::new(), loops: 0, problems: Vec::new() };
    let n = procedure.locals.len();
    if (procedure.n_registers as usize) < n {
        check.problem("fewer registers than locals");
    }
    procedure.inputs.iter().chain(&procedure.outputs).for_each(|&r| check.local(r));
    let all: BTreeSet<Register> = procedure.initial.iter().copied().collect();
    let n_expected = if is_template(procedure) { n - 1 } else { n };
    if all.len() != procedure.initial.len() || all.len() != n_expected || procedure.n_before_check as usize > n {
        check.problem("an order of initial values that is not one of all locals");
    }
    for local in &procedure.locals {
        if local.sizes.len() != local.ty.rank() && !local.sizes.is_empty() {
            check.problem(&format!("`{}` has sizes for other dimensions than its type", local.name));
        }
        local.sizes.iter().flatten().chain(&local.default).for_each(|code| check.whole_code(code));
    }
    match &procedure.body {
        Body::Statements(block) => check.block(block),
        Body::Record(_) => {}
        Body::External(external) => {
            for argument in &external.arguments {
                match argument {
                    ExternalArgument::Input(code) => check.whole_code(code),
                    ExternalArgument::Output(local) => check.local(*local),
                }
            }
            external.result.iter().for_each(|&r| check.local(r));
        }
    }
    check.problems
}

/// The text of a template has no initial value.
fn is_template(procedure: &Procedure) -> bool {
    procedure.initial == procedure.inputs && procedure.locals.len() == procedure.inputs.len() + 1
}

struct Check<'a> {
    procedure: &'a Procedure,
    /// Temporaries with a value.
    set: BTreeSet<Register>,
    loops: u32,
    problems: Vec<String>,
}

impl Check<'_> {
    fn problem(&mut self, what: &str) {
        self.problems.push(format!("{}: {what}", self.procedure.name));
    }

    fn local(&mut self, register: Register) {
        if !self.procedure.is_local(register) {
            self.problem(&format!("{register:?} is not a local"));
        }
    }

    fn sets(&mut self, register: Register) {
        if register.index() >= self.procedure.n_registers as usize || self.procedure.is_local(register) {
            self.problem(&format!("{register:?} is not a temporary"));
        }
        self.set.insert(register);
    }

    fn reads(&mut self, operand: &Operand) {
        match operand {
            Operand::Local(register) => self.local(*register),
            Operand::Temporary(register) if !self.set.remove(register) => {
                self.problem(&format!("{register:?} is read without a value"));
            }
            _ => {}
        }
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        arguments.iter().for_each(|a| self.reads(&a.value));
    }

    /// Code that may not be reached, or more than once: it leaves nothing but its value.
    fn whole_code(&mut self, code: &Code) {
        let before = self.set.clone();
        self.block(&code.block);
        self.reads(&code.value);
        self.set = before;
    }

    fn inner_block(&mut self, block: &Block) {
        let before = self.set.clone();
        self.block(block);
        self.set = before;
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Compute { to, op, .. } => {
                self.op(op);
                self.sets(*to);
            }
            Step::Call { to, callee, arguments, .. } => {
                if let Callee::Local(register) = callee {
                    self.local(*register);
                }
                arguments.iter().for_each(|a| self.reads(a));
                to.iter().flatten().for_each(|&r| self.sets(r));
            }
            Step::Assign { target, path, value, .. } => {
                self.local(*target);
                self.path(path);
                self.reads(value);
            }
            Step::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.whole_code(condition);
                    self.inner_block(body);
                }
                self.inner_block(otherwise);
            }
            Step::For { iteration, body, .. } => {
                self.iteration(iteration);
                self.body_of_loop(body);
            }
            Step::While { condition, body, .. } => {
                self.whole_code(condition);
                self.body_of_loop(body);
            }
            Step::Break if self.loops == 0 => self.problem("`break` outside of a loop"),
            Step::Assert { condition, message, level, .. } => {
                [Some(condition), Some(message), level.as_ref()].into_iter().flatten().for_each(|c| self.whole_code(c));
            }
            Step::Expect { local, flag, .. } => {
                self.local(*local);
                self.local(*flag);
            }
            Step::Terminate { message, .. } => self.whole_code(message),
            Step::Break | Step::Return | Step::Unavailable { .. } => {}
        }
    }

    fn body_of_loop(&mut self, body: &Block) {
        self.loops += 1;
        self.inner_block(body);
        self.loops -= 1;
    }

    fn iteration(&mut self, iteration: &Iteration) {
        self.local(iteration.variable);
        self.block(&iteration.block);
        match &iteration.over {
            Over::Vector(vector) => self.reads(vector),
            Over::Range { start, step, stop } => {
                [Some(start), step.as_ref(), Some(stop)].into_iter().flatten().for_each(|o| self.reads(o));
            }
        }
    }

    fn path(&mut self, path: &[PathStep]) {
        for step in path {
            let PathStep::Subscripts { subscripts, .. } = step else { continue };
            for subscript in subscripts {
                match subscript {
                    Subscript::Index(argument) | Subscript::Slice(argument) => self.reads(&argument.value),
                    Subscript::All => {}
                }
            }
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Copy(a) | Op::Unary(_, a) | Op::Cast(_, a) => self.reads(a),
            Op::Binary(_, a, b) => {
                self.reads(a);
                self.reads(b);
            }
            Op::Decide { left, right, .. } => {
                self.reads(left);
                self.whole_code(right);
            }
            Op::Choose { branches, otherwise } => {
                for (condition, value) in branches {
                    self.whole_code(condition);
                    self.whole_code(value);
                }
                self.whole_code(otherwise);
            }
            Op::Record(_, fields) => fields.iter().for_each(|f| self.reads(f)),
            Op::Array { elements, .. } => self.arguments(elements),
            Op::Range { start, step, stop } => {
                [Some(start), step.as_ref(), Some(stop)].into_iter().flatten().for_each(|o| self.reads(o));
            }
            Op::Select { base, path } => {
                self.path(path);
                self.reads(base);
            }
            Op::Function { bound, .. } => bound.iter().for_each(|(_, o)| self.reads(o)),
            Op::Builtin { arguments, .. } => self.arguments(arguments),
            Op::Size { array, dimension, .. } => {
                array.iter().for_each(|a| self.reads(a));
                dimension.iter().for_each(|d| self.reads(&d.value));
            }
            Op::Reduce { iterations, body, .. } => {
                let before = self.set.clone();
                iterations.iter().for_each(|i| self.iteration(i));
                self.whole_code(body);
                self.set = before;
            }
            // A default that depends on the model, as that of a function with modified inputs; callers that the model contains give the
            // argument, and whoever leaves it out gets an error when it is executed.
            Op::Variable(_) => {}
            Op::Literal(_) | Op::InstanceName | Op::Unavailable(_) | Op::TooDeep => {}
        }
    }
}
