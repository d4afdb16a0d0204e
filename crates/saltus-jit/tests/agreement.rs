//! Machine code and the interpreter compute the same bits: every operation, every form of code.

mod common;

use std::sync::Arc;

use common::{Both, Random, Writer, empty_program, same, slot};
use saltus_jit::{Jit, JitOptions};
use saltus_program::{
    Activation, BinaryFn, ModelFunctions, Op, SimProgram, SlotId, SlotKind, Status, UnaryFn, ValueId,
};
use saltus_runtime::Interpreter;

const UNARY: [UnaryFn; 21] = [
    UnaryFn::Negate,
    UnaryFn::Not,
    UnaryFn::Sin,
    UnaryFn::Cos,
    UnaryFn::Tan,
    UnaryFn::Asin,
    UnaryFn::Acos,
    UnaryFn::Atan,
    UnaryFn::Sinh,
    UnaryFn::Cosh,
    UnaryFn::Tanh,
    UnaryFn::Exp,
    UnaryFn::Log,
    UnaryFn::Log10,
    UnaryFn::Sqrt,
    UnaryFn::Abs,
    UnaryFn::Sign,
    UnaryFn::Floor,
    UnaryFn::Ceil,
    UnaryFn::Asinh,
    UnaryFn::Atanh,
];

const BINARY: [BinaryFn; 19] = [
    BinaryFn::Add,
    BinaryFn::Sub,
    BinaryFn::Mul,
    BinaryFn::Div,
    BinaryFn::Pow,
    BinaryFn::Atan2,
    BinaryFn::IntDiv,
    BinaryFn::Mod,
    BinaryFn::Rem,
    BinaryFn::Min,
    BinaryFn::Max,
    BinaryFn::Less,
    BinaryFn::LessEqual,
    BinaryFn::Greater,
    BinaryFn::GreaterEqual,
    BinaryFn::Equal,
    BinaryFn::NotEqual,
    BinaryFn::And,
    BinaryFn::Or,
];

/// Code of `n` operations on `inputs`; calls are tested in `calls.rs`.
fn random_code(random: &mut Random, inputs: &[SlotId], n: usize) -> Writer {
    let mut w = Writer::default();
    while w.code.ops.len() < n {
        let n_known = w.code.ops.len();
        // Mostly recent values, so that everything depends on everything.
        let any = |random: &mut Random| {
            let near = random.below(n_known.min(12));
            let id = if random.below(4) == 0 { random.below(n_known) } else { n_known - 1 - near };
            ValueId(id as u32)
        };
        let op = match random.below(if n_known < 4 { 2 } else { 10 }) {
            0 => Op::Const(random.number()),
            1 => Op::Load(inputs[random.below(inputs.len())]),
            2..=4 => Op::Unary(UNARY[random.below(UNARY.len())], any(random)),
            5 => Op::Select(any(random), any(random), any(random)),
            _ => Op::Binary(BINARY[random.below(BINARY.len())], any(random), any(random)),
        };
        w.op(op);
    }
    w
}

/// Blocks that read slots at random and store some values; a slot is stored by one block.
fn random_program(random: &mut Random, n_blocks: usize, n_ops: usize) -> (SimProgram, Vec<SlotId>) {
    let mut program = empty_program();
    let inputs: Vec<SlotId> = (0..8).map(|_| slot(&mut program, SlotKind::State, 0.0)).collect();
    let mut readable = inputs.clone();
    for _ in 0..n_blocks {
        let n = 1 + random.below(n_ops);
        let mut w = random_code(random, &readable, n);
        for _ in 0..1 + random.below(3) {
            let kind = if random.below(3) == 0 { SlotKind::Derivative } else { SlotKind::Algebraic };
            let target = slot(&mut program, kind, 0.0);
            let id = ValueId(random.below(w.code.ops.len()) as u32);
            w.store(id, target);
            readable.push(target);
        }
        program.sections.derivatives.blocks.push(w.block());
    }
    (program, inputs)
}

#[test]
fn every_operation_has_the_same_bits() {
    // Each operation alone on special and ordinary numbers: a wrong one is named here.
    let mut program = empty_program();
    let inputs: Vec<SlotId> = (0..3).map(|_| slot(&mut program, SlotKind::State, 0.0)).collect();
    let [a, b, c] = [0, 1, 2].map(ValueId);
    let unary = UNARY.map(|f| Op::Unary(f, a));
    let binary = BINARY.map(|f| Op::Binary(f, a, b));
    for &op in unary.iter().chain(&binary).chain(&[Op::Select(a, b, c), Op::Load(inputs[1])]) {
        let mut program = program.clone();
        let target = slot(&mut program, SlotKind::Algebraic, 0.0);
        let mut w = Writer::default();
        let _loaded: Vec<ValueId> = inputs.iter().map(|&i| w.load(i)).collect();
        let value = w.op(op);
        w.store(value, target);
        program.sections.derivatives.blocks.push(w.block());
        let mut both = Both::new(&program);
        let mut random = Random(11);
        for _ in 0..300 {
            inputs.iter().for_each(|&i| both.set(i, random.number()));
            let given: Vec<f64> = inputs.iter().map(|&i| both.compiled.get(i)).collect();
            both.eval(Activation::Derivatives, &format!("{op:?} of {given:?}"));
        }
    }
}

#[test]
fn random_sections_agree_in_values_and_status() {
    let mut n_ok = 0;
    for seed in 1..=60u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (program, inputs) = random_program(&mut random, 1 + seed as usize, 20);
        let mut both = Both::new(&program);
        for round in 0..20 {
            inputs.iter().for_each(|&i| both.set(i, random.number()));
            let status = both.eval(Activation::Derivatives, &format!("seed {seed}, round {round}"));
            n_ok += usize::from(status.is_ok());
        }
    }
    // Both outcomes occur, or one of them is not tested.
    assert!(n_ok > 10 && n_ok < 1190, "{n_ok} of 1200 without NaN");
}

#[test]
fn where_code_is_cut_does_not_matter() {
    // All sizes of chunks, pieces and groups give the same memory.
    for seed in 1..=12u64 {
        let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
        let (program, inputs) = random_program(&mut random, 30, 60);
        let sizes = [(1, 1, 1), (40, 7, 2), (100, 20, 100), (100_000, 3, 8)];
        let models = sizes.map(|(chunk_operations, piece_operations, group_stores)| {
            let is_optimising = chunk_operations < 100;
            let options =
                JitOptions { chunk_operations, piece_operations, group_stores, is_optimising, ..JitOptions::default() };
            Jit::new(options).and_then(|jit| jit.compile_program(Arc::new(program.clone()))).unwrap()
        });
        for mut compiled in models {
            let mut interpreter = Interpreter::new(Arc::new(program.clone()));
            for round in 0..10 {
                for &input in &inputs {
                    let value = random.number();
                    interpreter.set(input, value);
                    compiled.set(input, value);
                }
                let (a, b) = (interpreter.eval(Activation::Derivatives), compiled.eval(Activation::Derivatives));
                assert_eq!(a, b, "seed {seed}, round {round}");
                common::assert_same_memory(&interpreter, &compiled, "memory");
            }
        }
    }
}

#[test]
fn many_blocks_pass_values_across_the_borders_of_chunks() {
    // s(i) = s(i-1) + s(i-2) modulo 1000: 5000 blocks of 6 operations in many chunks
    let mut program = empty_program();
    let mut slots = vec![slot(&mut program, SlotKind::State, 0.0), slot(&mut program, SlotKind::State, 1.0)];
    for i in 2..5_000 {
        let target = slot(&mut program, SlotKind::Algebraic, -1.0);
        let mut w = Writer::default();
        let (a, b, thousand) = (w.load(slots[i - 1]), w.load(slots[i - 2]), w.constant(1000.0));
        let sum = w.binary(BinaryFn::Add, a, b);
        let value = w.binary(BinaryFn::Mod, sum, thousand);
        w.store(value, target);
        slots.push(target);
        program.sections.derivatives.blocks.push(w.block());
    }
    let mut both = Both::new(&program);
    assert_eq!(both.eval(Activation::Derivatives, "sums"), Status::Ok);
    // the same recursion on integers
    let (mut a, mut b) = (0u64, 1u64);
    for _ in 2..5_000 {
        (a, b) = (b, (a + b) % 1000);
    }
    assert_eq!(both.compiled.get(slots[4_999]), b as f64);
}

#[test]
fn a_nan_stops_at_the_block_that_stores_it() {
    // a := 1 / x - 1 / x; b := 7: at x = 0 the first is NaN, and b keeps its value
    let mut program = empty_program();
    let x = slot(&mut program, SlotKind::State, 0.0);
    let (a, b) = (slot(&mut program, SlotKind::Algebraic, 0.0), slot(&mut program, SlotKind::Algebraic, 5.0));
    let mut w = Writer::default();
    let (one, value) = (w.constant(1.0), w.load(x));
    let quotient = w.binary(BinaryFn::Div, one, value);
    let difference = w.binary(BinaryFn::Sub, quotient, quotient);
    w.store(difference, a);
    program.sections.derivatives.blocks.push(w.block());
    let mut w = Writer::default();
    let seven = w.constant(7.0);
    w.store(seven, b);
    program.sections.derivatives.blocks.push(w.block());
    let mut both = Both::new(&program);
    assert_eq!(both.eval(Activation::Derivatives, "at 0"), Status::NotANumber(a));
    assert_eq!(both.compiled.get(b), 5.0);
    both.set(x, 2.0);
    assert_eq!(both.eval(Activation::Derivatives, "at 2"), Status::Ok);
    assert_eq!(both.compiled.get(b), 7.0);
}

#[test]
fn infinite_values_are_legal_except_in_derivatives() {
    // a := 1 / x, b := -1 / x: infinities that meet in a check are not a failure; der := 1 / x is one
    let mut program = empty_program();
    let x = slot(&mut program, SlotKind::State, 0.0);
    let targets = [1.0, -1.0].map(|sign| {
        let target = slot(&mut program, SlotKind::Algebraic, 0.0);
        let mut w = Writer::default();
        let (one, value) = (w.constant(sign), w.load(x));
        let quotient = w.binary(BinaryFn::Div, one, value);
        w.store(quotient, target);
        program.sections.derivatives.blocks.push(w.block());
        target
    });
    let mut both = Both::new(&program);
    assert_eq!(both.eval(Activation::Derivatives, "infinite"), Status::Ok);
    assert!(same(both.compiled.get(targets[1]), f64::NEG_INFINITY));
    drop(both);

    let derivative = slot(&mut program, SlotKind::Derivative, 0.0);
    let mut w = Writer::default();
    let value = w.load(targets[0]);
    w.store(value, derivative);
    program.sections.derivatives.blocks.push(w.block());
    let mut both = Both::new(&program);
    assert_eq!(both.eval(Activation::Derivatives, "infinite derivative"), Status::NotANumber(derivative));
}

#[test]
fn what_does_not_come_before_is_refused() {
    let mut program = empty_program();
    let target = slot(&mut program, SlotKind::Algebraic, 0.0);
    let mut w = Writer::default();
    let early = w.op(Op::Unary(UnaryFn::Negate, ValueId(1)));
    w.constant(1.0);
    w.store(early, target);
    program.sections.derivatives.blocks.push(w.block());
    assert!(matches!(Jit::compile(Arc::new(program.clone())), Err(saltus_jit::JitError::NotInOrder)));
}

#[test]
fn hot_sections_are_compiled_on_the_way() {
    let mut random = Random(77);
    let (program, inputs) = random_program(&mut random, 20, 10);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    let mut compiled = Jit::compile_when_hot(Arc::new(program.clone())).unwrap();
    for round in 0..5_000 {
        let input = inputs[round % inputs.len()];
        let value = random.number();
        interpreter.set(input, value);
        compiled.set(input, value);
        assert_eq!(interpreter.eval(Activation::Derivatives), compiled.eval(Activation::Derivatives));
        common::assert_same_memory(&interpreter, &compiled, "memory");
    }
    assert!(compiled.is_compiled(Activation::Derivatives) && !compiled.is_compiled(Activation::Events));
}

/// Of a thousand equations that differ in slots alone one needs code; of as many that differ in a constant all do.
#[test]
fn many_alike_equations_are_compiled_after_a_few_evaluations() {
    let evaluations_until_compiled = |is_alike: bool| {
        let mut program = empty_program();
        let slots: Vec<_> = (0..2_000).map(|i| slot(&mut program, SlotKind::Algebraic, f64::from(i))).collect();
        for (i, (&from, &to)) in slots[..1_000].iter().zip(&slots[1_000..]).enumerate() {
            let mut w = Writer::default();
            let (factor, value) = (w.constant(if is_alike { 2.0 } else { i as f64 }), w.load(from));
            let product = w.binary(BinaryFn::Mul, factor, value);
            w.store(product, to);
            program.sections.derivatives.blocks.push(w.block());
        }
        let mut compiled = Jit::compile_when_hot(Arc::new(program)).unwrap();
        (0..1_000)
            .take_while(|_| {
                let is_interpreted = !compiled.is_compiled(Activation::Derivatives);
                assert_eq!(compiled.eval(Activation::Derivatives), Status::Ok);
                is_interpreted
            })
            .count()
    };
    // Compiling costs as much as 250 evaluations of what is compiled and of a hundred operations more; there are 3 000.
    assert!(evaluations_until_compiled(true) <= 10);
    assert!(evaluations_until_compiled(false) >= 250);
}
