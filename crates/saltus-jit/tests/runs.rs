//! Blocks that do the same with other slots become loops in machine code: with the same results as block by block.

mod common;

use std::sync::Arc;

use common::{Both, Random, Writer, empty_program, slot};
use saltus_jit::Jit;
use saltus_program::{
    Activation, BinaryFn, ModelFunctions, Op, SimProgram, SlotId, SlotKind, Status, UnaryFn, ValueId,
};
use saltus_runtime::Interpreter;

/// What block `i` of a test computes from two inputs and a parameter.
type Formula = fn(&mut Writer, ValueId, ValueId, ValueId) -> ValueId;

fn rational(w: &mut Writer, a: ValueId, b: ValueId, p: ValueId) -> ValueId {
    let three = w.constant(3.0);
    let square = w.binary(BinaryFn::Mul, a, a);
    let root = w.op(Op::Unary(UnaryFn::Abs, b));
    let root = w.op(Op::Unary(UnaryFn::Sqrt, root));
    let sum = w.binary(BinaryFn::Add, square, root);
    let scaled = w.binary(BinaryFn::Mul, sum, p);
    let shifted = w.binary(BinaryFn::Sub, scaled, three);
    let negative = w.op(Op::Unary(UnaryFn::Negate, shifted));
    w.binary(BinaryFn::Div, negative, three)
}

/// With operations that vectors do not have.
fn switching(w: &mut Writer, a: ValueId, b: ValueId, p: ValueId) -> ValueId {
    let is_less = w.binary(BinaryFn::Less, a, b);
    let sine = w.op(Op::Unary(UnaryFn::Sin, a));
    let most = w.binary(BinaryFn::Max, b, p);
    w.op(Op::Select(is_less, sine, most))
}

/// `n` blocks, inputs and outputs at the given strides; then as many that use neighbouring outputs.
fn layered(n: usize, strides: [usize; 2], formula: Formula) -> (SimProgram, Vec<SlotId>) {
    let mut program = empty_program();
    let parameter = slot(&mut program, SlotKind::Parameter, 0.7);
    let inputs: Vec<SlotId> = (0..(n + 1) * strides[0]).map(|_| slot(&mut program, SlotKind::Algebraic, 0.0)).collect();
    let outputs: Vec<SlotId> =
        (0..(n + 1) * strides[1]).map(|_| slot(&mut program, SlotKind::Algebraic, 0.0)).collect();
    let last: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Derivative, 0.0)).collect();
    for i in 0..n {
        let mut w = Writer::default();
        let (a, b) = (w.load(inputs[i * strides[0]]), w.load(inputs[(i + 1) * strides[0]]));
        let p = w.load(parameter);
        let value = formula(&mut w, a, b, p);
        w.store(value, outputs[i * strides[1]]);
        program.sections.derivatives.blocks.push(w.block());
    }
    for i in 0..n {
        let mut w = Writer::default();
        let (a, b) = (w.load(outputs[i * strides[1]]), w.load(outputs[(i + 1) % n * strides[1]]));
        let value = w.binary(BinaryFn::Sub, a, b);
        w.store(value, last[i]);
        program.sections.derivatives.blocks.push(w.block());
    }
    (program, inputs)
}

#[test]
fn loops_have_the_bits_of_the_blocks() {
    let mut random = Random(41);
    for n in [8, 9, 10, 31] {
        for strides in [[1, 1], [2, 1], [1, 3], [3, 2]] {
            for formula in [rational as Formula, switching] {
                let (program, inputs) = layered(n, strides, formula);
                let mut both = Both::new(&program);
                for &input in &inputs {
                    both.set(input, (random.below(2000) as f64 - 1000.0) / 64.0);
                }
                let status = both.eval(Activation::Derivatives, &format!("{n} blocks, strides {strides:?}"));
                assert_eq!(status, Status::Ok);
            }
        }
    }
}

/// The status says which block stored the first thing that is not a number, whichever block of a loop it is.
#[test]
fn what_is_no_number_is_found_in_each_block() {
    let n = 12;
    for formula in [rational as Formula, switching] {
        let (program, inputs) = layered(n, [1, 1], formula);
        for (i, &input) in inputs.iter().enumerate() {
            for bad in [f64::NAN, f64::INFINITY] {
                // Behind a failure, machine code may have stored more.
                let (mut interpreter, mut compiled) =
                    (Interpreter::new(Arc::new(program.clone())), Jit::compile(Arc::new(program.clone())).unwrap());
                interpreter.set(input, bad);
                compiled.set(input, bad);
                let (a, b) = (interpreter.eval(Activation::Derivatives), compiled.eval(Activation::Derivatives));
                assert_eq!(a, b, "input {i} is {bad}");
                assert_eq!(interpreter.last_failure(), compiled.last_failure(), "input {i} is {bad}");
            }
        }
    }
}
