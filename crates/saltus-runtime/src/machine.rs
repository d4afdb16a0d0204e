//! Evaluates straight-line code on the memory of an instance.
//!
//! In: [`Code`] and slots. Out: one value for each operation; [`Machine::assign`] stores some of them. Nothing traps. A
//! call that fails yields NaN and is remembered: whether anything that is stored depends on it is found out only then
//! ([`Machine::depends_on_failure`]), so that a call in a branch that is not taken does no harm.

use std::ops::Range;
use std::sync::Arc;

use saltus_base::{Index, Span};
use saltus_program::{Assign, BinaryFn, Code, Message, Op, SimProgram, SlotId, SlotKind, Status, Stop, ValueId};

use crate::calls::CallHost;
use crate::native::{Calls, NativeCode, NativeLoops, UnitId};

pub(crate) struct Machine {
    pub program: Arc<SimProgram>,
    pub memory: Vec<f64>,
    /// Values of the code that was evaluated last.
    pub values: Vec<f64>,
    pub host: CallHost,
    /// Where machine code leaves results.
    pub scratch: Vec<f64>,
    /// By value: does it depend on a call that failed?
    tainted: Vec<bool>,
    /// Compiles loops that take many evaluations.
    pub native_loops: Option<Box<dyn NativeLoops + Send>>,
    /// Ends the iterations of loops.
    pub stop: Stop,
    /// Where the present element of a [`saltus_program::Repeat`] loads and stores.
    pub(crate) places: Vec<crate::repeats::Place>,
}

/// Are the calls of code to be made, or have they been?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calling {
    Now,
    Done,
}

impl Machine {
    /// `longest` is the number of operations of the longest code.
    pub fn new(program: Arc<SimProgram>, longest: usize) -> Self {
        Machine {
            memory: program.memory.initial_memory(),
            values: vec![0.0; longest],
            host: CallHost::new(program.clone()),
            program,
            scratch: Vec::new(),
            tainted: Vec::new(),
            native_loops: None,
            stop: Stop::default(),
            places: Vec::new(),
        }
    }

    pub fn get(&self, slot: SlotId) -> f64 {
        self.memory.get(slot.index()).copied().unwrap_or(f64::NAN)
    }

    pub fn set(&mut self, slot: SlotId, value: f64) {
        if let Some(place) = self.memory.get_mut(slot.index()) {
            *place = value;
        }
    }

    pub fn message(&mut self, message: &Message) -> String {
        self.host.message(message, &self.memory)
    }

    pub fn value(&self, id: ValueId) -> f64 {
        value(&self.values, id)
    }

    /// Evaluates all operations of `code`, which belongs to the equation at `span`.
    pub fn run(&mut self, code: &Code, span: Span) {
        self.host.begin(code.calls.len());
        self.run_range(code, 0..code.ops.len(), span);
    }

    /// Evaluates all operations of `code` after machine code has, with the results of the calls that it made.
    pub fn replay(&mut self, code: &Code, span: Span) {
        self.evaluate(code, 0..code.ops.len(), span, Calling::Done);
    }

    /// Evaluates a unit of machine code.
    pub fn run_native(&mut self, code: &dyn NativeCode, unit: UnitId, n_calls: usize) -> u32 {
        self.host.begin(n_calls);
        code.run(unit, &mut self.memory, &mut self.scratch, &mut Calls { host: &mut self.host })
    }

    /// Evaluates some operations; those before must have been evaluated.
    pub fn run_range(&mut self, code: &Code, range: Range<usize>, span: Span) {
        self.evaluate(code, range, span, Calling::Now);
    }

    fn evaluate(&mut self, code: &Code, range: Range<usize>, span: Span, calling: Calling) {
        if self.values.len() < code.ops.len() {
            self.values.resize(code.ops.len(), 0.0);
        }
        for i in range {
            let Some(op) = code.ops.get(i) else { return };
            let v = &self.values;
            let result = match *op {
                Op::Const(constant) => constant,
                Op::Load(slot) => self.memory.get(slot.index()).copied().unwrap_or(f64::NAN),
                Op::Unary(function, a) => function.apply(value(v, a)),
                Op::Binary(function, a, b) => function.apply(value(v, a), value(v, b)),
                Op::Select(condition, a, b) => {
                    if value(v, condition) != 0.0 {
                        value(v, a)
                    } else {
                        value(v, b)
                    }
                }
                Op::Call(k) => {
                    if let Some(call) = code.calls.get(k as usize).filter(|_| calling == Calling::Now) {
                        if call.conditions.iter().all(|c| (value(v, c.value) != 0.0) == c.is) {
                            let mut given = call.arguments.iter().map(|&a| value(v, a));
                            self.host.call(k, call.callable, &mut given, &self.memory, span);
                        } else {
                            self.host.skip(k);
                        }
                    }
                    0.0
                }
                Op::Result(k, result) => self.host.result(k, result),
            };
            self.values[i] = result;
        }
    }

    /// Evaluates and stores.
    pub fn assign(&mut self, assign: &Assign) -> Status {
        self.run(&assign.code, assign.span);
        self.store(assign)
    }

    /// Stores the values of code that has been evaluated.
    pub fn store(&mut self, assign: &Assign) -> Status {
        let mut status = Status::Ok;
        for &(id, slot) in &assign.stores {
            let stored = self.value(id);
            self.set(slot, stored);
            if status.is_ok() && !self.is_fine(stored, slot) {
                status = Status::NotANumber(slot);
            }
        }
        if self.host.has_failed() {
            let stored: Vec<ValueId> = assign.stores.iter().map(|s| s.0).collect();
            if self.depends_on_failure(&assign.code, &stored) {
                return Status::Failed;
            }
        }
        status
    }

    /// May the slot have this value? An infinite parameter is legal; an infinite derivative leads nowhere.
    pub fn is_fine(&self, value: f64, slot: SlotId) -> bool {
        let is_derivative = || self.program.memory.slots.get(slot).is_some_and(|s| s.kind == SlotKind::Derivative);
        value.is_finite() || value.is_infinite() && !is_derivative()
    }

    /// Does one of `used` depend on a call that failed, considering which branches were taken? `code` must have been
    /// evaluated last.
    pub fn depends_on_failure(&mut self, code: &Code, used: &[ValueId]) -> bool {
        if !self.host.has_failed() {
            return false;
        }
        self.tainted.clear();
        for op in &code.ops {
            let is_tainted = |v: ValueId| self.tainted.get(v.0 as usize).copied().unwrap_or(false);
            let v = &self.values;
            let taint = match *op {
                Op::Const(_) | Op::Load(_) => false,
                Op::Unary(_, a) => is_tainted(a),
                Op::Binary(BinaryFn::And, a, b) => {
                    let decided = |x: ValueId| !is_tainted(x) && value(v, x) == 0.0;
                    (is_tainted(a) || is_tainted(b)) && !decided(a) && !decided(b)
                }
                Op::Binary(BinaryFn::Or, a, b) => {
                    let decided = |x: ValueId| !is_tainted(x) && value(v, x) != 0.0;
                    (is_tainted(a) || is_tainted(b)) && !decided(a) && !decided(b)
                }
                Op::Binary(_, a, b) => is_tainted(a) || is_tainted(b),
                Op::Select(condition, a, b) => {
                    is_tainted(condition) || is_tainted(if value(v, condition) != 0.0 { a } else { b })
                }
                Op::Call(k) | Op::Result(k, _) => {
                    let call = code.calls.get(k as usize);
                    self.host.call_failed(k) || call.is_some_and(|c| c.operands().any(is_tainted))
                }
            };
            self.tainted.push(taint);
        }
        used.iter().any(|v| self.tainted.get(v.0 as usize).copied().unwrap_or(false))
    }
}

fn value(values: &[f64], id: ValueId) -> f64 {
    values.get(id.0 as usize).copied().unwrap_or(f64::NAN)
}
