//! Programs made by hand, and the comparison of both ways to evaluate them.

#![allow(dead_code)] // each test file uses some of it

use std::sync::Arc;

use saltus_base::Span;
use saltus_jit::{CompiledModel, Jit};
use saltus_program::{
    Activation, Assign, BinaryFn, Block, Code, Jacobian, Loop, Memory, ModelFunctions, Op, SimProgram, Slot, SlotId,
    SlotKind, SlotType, Slots, Status, Unknown, ValueId,
};
use saltus_runtime::Interpreter;

pub fn empty_program() -> SimProgram {
    let mut slots = Slots::default();
    let time = slots.push("time", Slot::new(SlotKind::Time, SlotType::Real));
    let memory = Memory { slots, time, initial: time, terminal: time, ..Memory::empty() };
    SimProgram { memory, ..SimProgram::empty("M") }
}

pub fn slot(program: &mut SimProgram, kind: SlotKind, initial: f64) -> SlotId {
    let name = format!("s{}", program.memory.slots.len());
    program.memory.slots.push(name, Slot { kind, ty: SlotType::Real, initial })
}

/// Writes code operation by operation.
#[derive(Default)]
pub struct Writer {
    pub code: Code,
    pub stores: Vec<(ValueId, SlotId)>,
}

impl Writer {
    pub fn op(&mut self, op: Op) -> ValueId {
        self.code.ops.push(op);
        ValueId(self.code.ops.len() as u32 - 1)
    }

    pub fn load(&mut self, slot: SlotId) -> ValueId {
        self.op(Op::Load(slot))
    }

    pub fn constant(&mut self, value: f64) -> ValueId {
        self.op(Op::Const(value))
    }

    pub fn binary(&mut self, f: BinaryFn, a: ValueId, b: ValueId) -> ValueId {
        self.op(Op::Binary(f, a, b))
    }

    pub fn store(&mut self, value: ValueId, slot: SlotId) {
        self.stores.push((value, slot));
    }

    pub fn assign(self) -> Assign {
        Assign { code: self.code, stores: self.stores, span: Span::nowhere() }
    }

    pub fn block(self) -> Block {
        Block::Assign(self.assign())
    }
}

pub fn unknown(slot: SlotId) -> Unknown {
    Unknown { slot, nominal: 1.0, min: f64::NEG_INFINITY, max: f64::INFINITY }
}

/// x + y = a, x * y = b with y as unknown: y = (a ± √(a² − 4b)) / 2
pub fn sum_and_product(has_jacobian: bool) -> (SimProgram, [SlotId; 4]) {
    let mut program = empty_program();
    let (a, b) = (slot(&mut program, SlotKind::State, 3.0), slot(&mut program, SlotKind::State, 2.0));
    let (x, y) = (slot(&mut program, SlotKind::Algebraic, 0.0), slot(&mut program, SlotKind::Algebraic, 5.0));
    let mut w = Writer::default();
    let (sum, product, own) = (w.load(a), w.load(b), w.load(y));
    let rest = w.binary(BinaryFn::Sub, sum, own);
    let both = w.binary(BinaryFn::Mul, rest, own);
    let residual = w.binary(BinaryFn::Sub, both, product);
    w.store(rest, x);
    let body = w.assign();
    let mut w = Writer::default();
    // d/dy ((a − y) y − b) = x − y
    let (rest, own) = (w.load(x), w.load(y));
    let slope = w.binary(BinaryFn::Sub, rest, own);
    let jacobian = Jacobian { code: w.code, entries: vec![(0, 0, slope)], is_constant: false };
    program.sections.derivatives.blocks.push(Block::Loop(Arc::new(Loop {
        unknowns: vec![unknown(y)],
        body,
        residuals: vec![residual],
        spans: vec![Span::nowhere()],
        jacobian: has_jacobian.then_some(jacobian),
        is_linear: false,
        discrete: None,
        may_grow: false,
        original: None,
    })));
    // What follows the loop is a chunk of its own.
    let double = slot(&mut program, SlotKind::Derivative, 0.0);
    let mut w = Writer::default();
    let (rest, two) = (w.load(x), w.constant(2.0));
    let value = w.binary(BinaryFn::Mul, rest, two);
    w.store(value, double);
    program.sections.derivatives.blocks.push(w.block());
    (program, [a, b, x, y])
}

/// Numbers that are the same in every run (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }

    /// Ordinary numbers, and now and then those at which functions change their form.
    pub fn number(&mut self) -> f64 {
        const SPECIAL: [f64; 12] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e300,
            -1e-310,
            f64::MIN_POSITIVE,
        ];
        if self.below(8) == 0 {
            return SPECIAL[self.below(SPECIAL.len())];
        }
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        (unit - 0.5) * [1.0, 4.0, 100.0][self.below(3)]
    }
}

/// The same number, or both none.
pub fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

pub fn assert_same_memory(interpreter: &Interpreter, compiled: &CompiledModel, what: &str) {
    for (i, (&a, &b)) in interpreter.memory().iter().zip(compiled.memory()).enumerate() {
        assert!(
            same(a, b),
            "{what}: slot {i} is {a:?} ({:x}) interpreted, {b:?} ({:x}) compiled",
            a.to_bits(),
            b.to_bits()
        );
    }
}

/// Both ways, side by side.
pub struct Both {
    pub interpreter: Interpreter,
    pub compiled: CompiledModel,
}

impl Both {
    pub fn new(program: &SimProgram) -> Self {
        Both {
            interpreter: Interpreter::new(Arc::new(program.clone())),
            compiled: Jit::compile(Arc::new(program.clone())).unwrap(),
        }
    }

    pub fn set(&mut self, slot: SlotId, value: f64) {
        self.interpreter.set(slot, value);
        self.compiled.set(slot, value);
    }

    /// Evaluates and compares status, memory, failure and cost.
    pub fn eval(&mut self, activation: Activation, what: &str) -> Status {
        let (a, b) = (self.interpreter.eval(activation), self.compiled.eval(activation));
        assert_eq!(a, b, "{what}: status");
        assert_same_memory(&self.interpreter, &self.compiled, what);
        assert_eq!(self.interpreter.last_failure(), self.compiled.last_failure(), "{what}: failure");
        assert_eq!(self.interpreter.loop_statistics(), self.compiled.loop_statistics(), "{what}: cost");
        a
    }
}
