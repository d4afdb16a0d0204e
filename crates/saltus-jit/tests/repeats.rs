//! The same code for all elements of a box becomes loops in machine code: with the same results as element by element.

mod common;

use std::sync::Arc;

use common::{Both, Random, Writer, empty_program, same, slot};
use saltus_base::Index;
use saltus_jit::Jit;
use saltus_program::{
    Activation, BinaryFn, Block, ModelFunctions, Op, Repeat, SimProgram, SlotId, SlotKind, Status, UnaryFn, ValueId,
};
use saltus_runtime::Interpreter;

/// What an element computes from two places.
type Formula = fn(&mut Writer, ValueId, ValueId) -> ValueId;

fn rational(w: &mut Writer, a: ValueId, b: ValueId) -> ValueId {
    let half = w.constant(0.5);
    let square = w.binary(BinaryFn::Mul, a, a);
    let size = w.op(Op::Unary(UnaryFn::Abs, b));
    let root = w.op(Op::Unary(UnaryFn::Sqrt, size));
    let sum = w.binary(BinaryFn::Add, square, root);
    w.binary(BinaryFn::Mul, sum, half)
}

/// With operations that vectors do not have.
fn switching(w: &mut Writer, a: ValueId, b: ValueId) -> ValueId {
    let is_less = w.binary(BinaryFn::Less, a, b);
    let sine = w.op(Op::Unary(UnaryFn::Sin, a));
    let most = w.binary(BinaryFn::Max, a, b);
    w.op(Op::Select(is_less, sine, most))
}

const N: usize = 130;

/// Slots of `N` inputs, then of `N` results.
fn slots(results: SlotKind) -> (SimProgram, Vec<SlotId>, Vec<SlotId>) {
    let mut program = empty_program();
    let x = (0..N).map(|_| slot(&mut program, SlotKind::Algebraic, 0.0)).collect();
    let y = (0..N).map(|_| slot(&mut program, results, 0.0)).collect();
    (program, x, y)
}

/// A slot with strides.
type Place<'a> = (SlotId, &'a [i32]);

/// Two stores: the formula, and twice the first operand.
fn repeat(sizes: &[u32], formula: Formula, [a, b, to, twice]: [Place; 4]) -> Repeat {
    let mut w = Writer::default();
    let (first, second) = (w.load(a.0), w.load(b.0));
    let value = formula(&mut w, first, second);
    let sum = w.binary(BinaryFn::Add, first, first);
    w.store(value, to.0);
    w.store(sum, twice.0);
    let strides = [a, b, to, twice].map(|place| place.1.to_vec()).to_vec();
    Repeat { first: w.assign(), sizes: sizes.to_vec(), strides }
}

fn repeats(formula: Formula, x: &[SlotId], y: &[SlotId]) -> Vec<Repeat> {
    let mut all = Vec::new();
    let mut add = |sizes: &[u32], places: [Place; 4]| all.push(repeat(sizes, formula, places));
    for n in [1, 2, 3, 8, 31] {
        add(&[n], [(x[0], &[1]), (x[9], &[1]), (y[0], &[1]), (y[40], &[1])]);
        add(&[n], [(x[0], &[0]), (x[40], &[-1]), (y[3], &[3]), (y[4], &[3])]);
        add(&[n], [(x[0], &[3]), (x[40], &[2]), (y[50], &[-1]), (y[60], &[2])]);
        // An element needs the one before it, forwards and backwards.
        add(&[n], [(x[0], &[1]), (y[0], &[1]), (y[1], &[1]), (y[60], &[1])]);
        add(&[n], [(y[62], &[-2]), (x[40], &[0]), (y[60], &[-2]), (y[61], &[2])]);
    }
    for sizes in [[5, 5], [4, 4], [3, 5], [1, 6], [6, 1], [1, 1]] {
        // Arrays of 7 by 7: neighbours in the other; the element above; the one before; fixed rows and columns.
        add(&sizes, [(x[1], &[7, 1]), (x[15], &[7, 1]), (y[8], &[7, 1]), (y[60], &[7, 1])]);
        add(&sizes, [(x[1], &[0, 1]), (y[1], &[7, 1]), (y[8], &[7, 1]), (y[60], &[7, 1])]);
        add(&sizes, [(x[7], &[7, 0]), (y[7], &[7, 1]), (y[8], &[7, 1]), (y[60], &[7, 1])]);
        // By columns.
        add(&sizes, [(x[0], &[1, 7]), (x[50], &[0, 0]), (y[0], &[7, 1]), (y[60], &[1, 7])]);
    }
    add(&[2, 3, 5], [(x[0], &[15, 5, 1]), (x[3], &[0, 7, 2]), (y[0], &[15, 5, 1]), (y[60], &[15, 5, 1])]);
    add(
        &[2, 3, 2, 3],
        [(x[0], &[18, 6, 3, 1]), (x[3], &[0, 0, 2, 0]), (y[0], &[18, 6, 3, 1]), (y[60], &[18, 6, 3, 1])],
    );
    all
}

fn with(mut program: SimProgram, blocks: Vec<Block>) -> SimProgram {
    program.sections.derivatives.blocks = blocks;
    assert_eq!(saltus_program::verify(&program), Ok(()));
    program
}

#[test]
fn loops_have_the_bits_of_the_elements() {
    let mut random = Random(7);
    for formula in [rational as Formula, switching] {
        let (program, x, y) = slots(SlotKind::Algebraic);
        for repeat in repeats(formula, &x, &y) {
            let what = format!("{:?} {:?}", repeat.sizes, repeat.strides);
            let unrolled = with(program.clone(), repeat.elements().map(Block::Assign).collect());
            let mut both = Both::new(&with(program.clone(), vec![repeat.into()]));
            let mut elements = Interpreter::new(Arc::new(unrolled));
            for &slot in x.iter().chain(&y) {
                let value = (random.below(2000) as f64 - 1000.0) / 640.0;
                both.set(slot, value);
                elements.set(slot, value);
            }
            assert_eq!(both.eval(Activation::Derivatives, &what), Status::Ok);
            assert_eq!(elements.eval(Activation::Derivatives), Status::Ok);
            for (a, b) in elements.memory().iter().zip(both.compiled.memory()) {
                assert!(same(*a, *b), "{what}");
            }
        }
    }
}

/// The status says which element stored the first thing that is not a number, whichever it is; a derivative must be finite.
#[test]
fn what_is_no_number_is_found_in_each_element() {
    for formula in [rational as Formula, switching] {
        for kind in [SlotKind::Algebraic, SlotKind::Derivative] {
            let (program, x, y) = slots(kind);
            let places: [Place; 4] = [(x[0], &[7, 1]), (x[1], &[7, 1]), (y[0], &[7, 1]), (y[60], &[7, 1])];
            let program = with(program, vec![repeat(&[3, 5], formula, places).into()]);
            for (i, bad) in (0..21).flat_map(|i| [(i, f64::NAN), (i, f64::INFINITY)]) {
                let (mut interpreter, mut compiled) =
                    (Interpreter::new(Arc::new(program.clone())), Jit::compile(Arc::new(program.clone())).unwrap());
                interpreter.set(x[i], bad);
                compiled.set(x[i], bad);
                let (a, b) = (interpreter.eval(Activation::Derivatives), compiled.eval(Activation::Derivatives));
                assert_eq!(a, b, "input {i} is {bad}");
                assert_eq!(interpreter.last_failure(), compiled.last_failure(), "input {i} is {bad}");
            }
        }
    }
}

/// Where something must not be computed again nothing is written as a loop: x[i] := sqrt(|x[i + 1]|)/2 + x[i]²/2.
#[test]
fn elements_that_load_what_later_ones_store_are_interpreted() {
    let (mut program, x, y) = slots(SlotKind::Algebraic);
    let places: [Place; 4] = [(x[0], &[1]), (x[1], &[1]), (x[0], &[1]), (y[0], &[1])];
    program.sections.derivatives.blocks = vec![repeat(&[9], rational, places).into()];
    let mut both = Both::new(&program);
    for (i, &slot) in x.iter().enumerate() {
        both.set(slot, i as f64);
    }
    assert_eq!(both.eval(Activation::Derivatives, "in place"), Status::Ok);
    assert_eq!(both.compiled.get(x[0]), 0.5);
}

/// Sections among whose elements the compiler must find its way: other blocks before, between and behind.
#[test]
fn repeated_code_follows_and_precedes_other_blocks() {
    let (program, x, y) = slots(SlotKind::Algebraic);
    let single = |from: SlotId, to: SlotId| {
        let mut w = Writer::default();
        let (a, one) = (w.load(from), w.constant(1.0));
        let sum = w.binary(BinaryFn::Add, a, one);
        w.store(sum, to);
        w.block()
    };
    let first: [Place; 4] = [(x[0], &[1]), (y[0], &[0]), (y[1], &[1]), (y[20], &[1])];
    let second: [Place; 4] = [(y[1], &[1]), (y[50], &[0]), (y[60], &[1]), (y[80], &[1])];
    let blocks = vec![
        single(x[3], y[0]),
        repeat(&[9], rational, first).into(),
        single(y[9], y[50]),
        repeat(&[8], switching, second).into(),
        single(y[67], y[51]),
    ];
    let mut both = Both::new(&with(program, blocks));
    for (i, &slot) in x.iter().enumerate() {
        both.set(slot, (i as f64).cos());
    }
    assert_eq!(both.eval(Activation::Derivatives, "mixed"), Status::Ok);
    // The last element of the first array is not a number: what follows is not evaluated.
    both.interpreter.set(x[8], f64::NAN);
    both.compiled.set(x[8], f64::NAN);
    let (a, b) = (both.interpreter.eval(Activation::Derivatives), both.compiled.eval(Activation::Derivatives));
    assert_eq!((a, b), (Status::NotANumber(y[9]), Status::NotANumber(y[9])));
    assert!(y[9].index() > 0);
}

/// Machine code of a large array is as long as that of a small one, and is made at once: each evaluation is worth it.
#[test]
fn a_large_array_is_compiled_at_its_first_evaluation() {
    let n = 100_000;
    let mut program = empty_program();
    let x: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Algebraic, 3.0)).collect();
    let y: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Derivative, 0.0)).collect();
    let z: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Derivative, 0.0)).collect();
    let places: [Place; 4] = [(x[0], &[1]), (x[1], &[1]), (y[0], &[1]), (z[0], &[1])];
    program.sections.derivatives.blocks = vec![repeat(&[n as u32 - 1], rational, places).into()];
    let mut compiled = Jit::compile_when_hot(Arc::new(program)).unwrap();
    assert!(!compiled.is_compiled(Activation::Derivatives));
    assert_eq!(compiled.eval(Activation::Derivatives), Status::Ok);
    assert!(compiled.is_compiled(Activation::Derivatives));
    // (3² + √3)/2
    assert!((compiled.get(y[n - 2]) - 5.366_025_403_784_438).abs() < 1e-14);
}
