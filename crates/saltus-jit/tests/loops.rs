//! Loops with machine code for their equations: same solutions, same iterations, same failures.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{Both, Random, Writer, empty_program, slot, sum_and_product, unknown};
use saltus_base::Span;
use saltus_jit::{Jit, JitOptions};
use saltus_program::{
    Activation, BinaryFn, Block, Jacobian, Loop, ModelFunctions, Op, SimProgram, SlotId, SlotKind, Status, Stopwatch,
    UnaryFn, ValueId, WallClock,
};
use saltus_runtime::Interpreter;

#[test]
fn nonlinear_loops_take_the_same_steps() {
    for has_jacobian in [false, true] {
        let (program, [a, b, x, y]) = sum_and_product(has_jacobian);
        let mut both = Both::new(&program);
        assert_eq!(both.eval(Activation::Derivatives, "start"), Status::Ok);
        // roots of y² − 3y + 2
        let (x, y) = (both.compiled.get(x), both.compiled.get(y));
        assert!((x * y - 2.0).abs() < 1e-9 && (x + y - 3.0).abs() < 1e-9, "{x}, {y}");
        let mut random = Random(5);
        for round in 0..200 {
            both.set(a, random.number());
            both.set(b, random.number());
            both.eval(Activation::Derivatives, &format!("round {round}"));
        }
    }
}

#[test]
fn where_the_ending_of_a_loop_is_cut_does_not_matter() {
    // The body also stores what x was before it stored x, which is an old value in whatever function it is stored.
    let (mut program, [a, b, x, _]) = sum_and_product(true);
    let before = slot(&mut program, SlotKind::Algebraic, 0.0);
    if let Block::Loop(l) = &mut program.sections.derivatives.blocks[0] {
        let l = Arc::make_mut(l);
        l.body.code.ops.push(Op::Load(x));
        let old = ValueId(l.body.code.ops.len() as u32 - 1);
        l.body.stores.push((old, before));
    }
    for (ending_values, piece_operations) in [(1, 1_500), (1, 2), (2, 1), (2, 1_500), (100, 1_500)] {
        let options = JitOptions { ending_values, piece_operations, ..JitOptions::default() };
        let mut compiled = Jit::new(options).and_then(|jit| jit.compile_program(Arc::new(program.clone()))).unwrap();
        let mut interpreter = Interpreter::new(Arc::new(program.clone()));
        let mut random = Random(7);
        let mut n_ok = 0;
        for round in 0..200 {
            for input in [a, b] {
                let value = random.number();
                interpreter.set(input, value);
                compiled.set(input, value);
            }
            let what = format!("{ending_values} values, {piece_operations} operations, round {round}");
            let status = interpreter.eval(Activation::Derivatives);
            assert_eq!(compiled.eval(Activation::Derivatives), status, "{what}");
            common::assert_same_memory(&interpreter, &compiled, &what);
            n_ok += usize::from(status.is_ok());
        }
        // Both outcomes occur, or one of them is not tested.
        assert!(n_ok > 0 && n_ok < 200, "{n_ok} of 200 have a solution");
    }
}

#[test]
fn a_loop_without_solution_fails_in_the_same_words() {
    let (program, [a, b, ..]) = sum_and_product(true);
    let mut both = Both::new(&program);
    both.set(a, 0.0);
    both.set(b, 10.0);
    // y² = −10
    assert_eq!(both.eval(Activation::Derivatives, "no solution"), Status::Failed);
    assert!(both.compiled.last_failure().is_some());
}

/// A tridiagonal linear system of `n` unknowns, its matrix from slots, its body long enough to be cut.
fn linear_chain(n: usize) -> (SimProgram, Vec<SlotId>, Vec<SlotId>) {
    let mut program = empty_program();
    let right: Vec<SlotId> = (0..n).map(|i| slot(&mut program, SlotKind::State, i as f64)).collect();
    let x: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Algebraic, 0.0)).collect();
    let copies: Vec<SlotId> = (0..n).map(|_| slot(&mut program, SlotKind::Algebraic, 0.0)).collect();
    let (mut w, mut j) = (Writer::default(), Writer::default());
    let (mut residuals, mut entries) = (Vec::new(), Vec::new());
    for i in 0..n {
        // 4 x(i) − x(i−1) − x(i+1) − b(i), each term with a detour to make it long
        let (four, own) = (w.constant(4.0), w.load(x[i]));
        w.store(own, copies[i]);
        let mut sum = w.binary(BinaryFn::Mul, four, own);
        let four = j.constant(4.0);
        entries.push((i as u32, i as u32, four));
        for k in [i.wrapping_sub(1), i + 1] {
            if let Some(neighbour) = x.get(k) {
                let value = w.load(*neighbour);
                sum = w.binary(BinaryFn::Sub, sum, value);
                let one = j.constant(-1.0);
                entries.push((i as u32, k as u32, one));
            }
        }
        let given = w.load(right[i]);
        let minus = w.op(Op::Unary(UnaryFn::Negate, given));
        residuals.push(w.binary(BinaryFn::Add, sum, minus));
    }
    program.sections.derivatives.blocks.push(Block::Loop(Arc::new(Loop {
        unknowns: x.iter().map(|&s| unknown(s)).collect(),
        body: w.assign(),
        residuals,
        spans: vec![Span::nowhere(); n],
        jacobian: Some(Jacobian { code: j.code, entries, is_constant: false }),
        is_linear: true,
        discrete: None,
        may_grow: false,
        original: None,
    })));
    (program, right, x)
}

#[test]
fn a_long_linear_loop_is_cut_and_solved() {
    let n = 300; // about 2 700 operations: two pieces
    let (program, right, x) = linear_chain(n);
    let mut both = Both::new(&program);
    for round in 0..3 {
        both.set(right[round], 100.0);
        assert_eq!(both.eval(Activation::Derivatives, "chain"), Status::Ok);
        let at = |i: usize| both.compiled.get(x[i]);
        let residual = 4.0 * at(7) - at(6) - at(8) - both.compiled.get(right[7]);
        assert!(residual.abs() < 1e-9, "{residual}");
    }
}

/// One second later each time it is read.
#[derive(Default)]
struct Ticking(AtomicU64);

impl WallClock for Ticking {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[test]
fn a_hot_loop_is_compiled_where_its_section_is_not() {
    let (mut program, [a, b, ..]) = sum_and_product(true);
    std::mem::swap(&mut program.sections.initial, &mut program.sections.derivatives);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    let jit = Jit::new(JitOptions::default()).unwrap().with_stopwatch(Stopwatch::new(Ticking::default()));
    let mut compiled = jit.watch_program(Arc::new(program.clone()));
    let mut random = Random(9);
    for round in 0..200 {
        assert!(round > 0 || compiled.compile_time().is_zero());
        let (first, second) = (random.number(), random.number());
        for functions in [&mut interpreter as &mut dyn ModelFunctions, &mut compiled] {
            functions.set(a, first);
            functions.set(b, second);
        }
        assert_eq!(interpreter.eval(Activation::Initial), compiled.eval(Activation::Initial));
        common::assert_same_memory(&interpreter, &compiled, "memory");
    }
    // The clock is read before and after the only loop is compiled.
    assert_eq!(compiled.compile_time(), Duration::from_secs(1));
    assert!(!compiled.is_compiled(Activation::Initial));
}
