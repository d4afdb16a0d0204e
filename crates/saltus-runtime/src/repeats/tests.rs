//! Repeated code against the assignments of its elements.

use std::sync::Arc;

use saltus_base::{Index, Span};
use saltus_program::{
    Activation, Assign, BinaryFn, Block, Code, ModelFunctions, Op, Repeat, SimProgram, Slot, SlotId, SlotKind,
    SlotType, Status, UnaryFn, ValueId,
};

use crate::Interpreter;
use crate::tests::empty_program;

/// Slots of all tests: those of kind `Input` first, then results.
const N_INPUTS: usize = 120;
const N_RESULTS: usize = 120;

fn slot(i: usize) -> SlotId {
    SlotId::from_usize(i)
}

/// A program with as many inputs `x[i]` in slots 1 … and results `y[i]` behind them.
fn program(results: SlotKind) -> SimProgram {
    let mut program = empty_program();
    for i in 0..N_INPUTS {
        let initial = (i as f64 * 0.37).sin() + 1.5;
        program.memory.slots.push(format!("x[{i}]"), Slot { kind: SlotKind::Input, ty: SlotType::Real, initial });
    }
    for i in 0..N_RESULTS {
        let name = format!("y[{i}]");
        program.memory.slots.push(name, Slot { kind: results, ty: SlotType::Real, initial: 0.25 });
    }
    program
}

fn x(i: usize) -> usize {
    1 + i
}

fn y(i: usize) -> usize {
    1 + N_INPUTS + i
}

/// `to := a * sqrt(b) + 0.3 / a` with each place as slot and strides.
fn formula(sizes: &[u32], places: [(usize, &[i32]); 3]) -> Repeat {
    let [a, b, to] = places;
    let v = ValueId;
    let ops = vec![
        Op::Load(slot(a.0)),
        Op::Load(slot(b.0)),
        Op::Unary(UnaryFn::Sqrt, v(1)),
        Op::Binary(BinaryFn::Mul, v(0), v(2)),
        Op::Const(0.3),
        Op::Binary(BinaryFn::Div, v(4), v(0)),
        Op::Binary(BinaryFn::Add, v(3), v(5)),
    ];
    let code = Code { ops, calls: vec![] };
    let first = Assign { code, stores: vec![(v(6), slot(to.0))], span: Span::nowhere() };
    Repeat { first, sizes: sizes.to_vec(), strides: [a, b, to].map(|place| place.1.to_vec()).to_vec() }
}

/// Boxes of one to three dimensions, forwards, backwards, and with elements that need earlier ones.
fn repeats() -> Vec<Repeat> {
    let mut all = Vec::new();
    for n in [1, 2, 7, 8] {
        all.push(formula(&[n], [(x(0), &[1]), (x(9), &[1]), (y(0), &[1])]));
        all.push(formula(&[n], [(x(0), &[0]), (x(40), &[-1]), (y(3), &[3])]));
        all.push(formula(&[n], [(x(0), &[3]), (x(40), &[2]), (y(50), &[-1])]));
        // y[i] needs y[i - 1]; backwards y[i + 1].
        all.push(formula(&[n], [(x(0), &[1]), (y(0), &[1]), (y(1), &[1])]));
        all.push(formula(&[n], [(x(0), &[1]), (y(40), &[-2]), (y(38), &[-2])]));
    }
    // The inside of arrays of 10 by 10; an element above, a column in front.
    for sizes in [[8, 8], [7, 5], [1, 6], [6, 1]] {
        all.push(formula(&sizes, [(x(1), &[10, 1]), (x(21), &[10, 1]), (y(11), &[10, 1])]));
        all.push(formula(&sizes, [(x(1), &[0, 1]), (y(1), &[10, 1]), (y(11), &[10, 1])]));
        all.push(formula(&sizes, [(x(1), &[10, 0]), (y(10), &[10, 1]), (y(11), &[10, 1])]));
    }
    all.push(formula(&[3, 4, 5], [(x(0), &[20, 5, 1]), (x(3), &[0, 7, 2]), (y(0), &[20, 5, 1])]));
    all
}

fn with(mut program: SimProgram, blocks: Vec<Block>) -> SimProgram {
    program.sections.derivatives.blocks = blocks;
    assert_eq!(saltus_program::verify(&program), Ok(()));
    program
}

fn bits(interpreter: &Interpreter) -> Vec<u64> {
    interpreter.memory().iter().map(|x| x.to_bits()).collect()
}

#[test]
fn elements_have_the_bits_of_assignments() {
    for repeat in repeats() {
        let unrolled = with(program(SlotKind::Algebraic), repeat.elements().map(Block::Assign).collect());
        let whole = with(program(SlotKind::Algebraic), vec![repeat.clone().into()]);
        let [mut a, mut b] = [unrolled, whole].map(|program| Interpreter::new(Arc::new(program)));
        assert_eq!((a.eval(Activation::Derivatives), b.eval(Activation::Derivatives)), (Status::Ok, Status::Ok));
        assert_eq!(bits(&a), bits(&b), "{repeat:?}");
    }
}

/// 0.3/0 is infinite, which a derivative must not be; 0·NaN is not a number.
#[test]
fn the_first_element_that_is_wrong_is_told() {
    for kind in [SlotKind::Algebraic, SlotKind::Derivative] {
        for (at, bad) in [(0, f64::NAN), (3, f64::NAN), (6, 0.0), (4, f64::INFINITY)] {
            let repeat = formula(&[7], [(x(0), &[1]), (x(9), &[1]), (y(0), &[1])]);
            let unrolled = with(program(kind), repeat.elements().map(Block::Assign).collect());
            let whole = with(program(kind), vec![repeat.into()]);
            let [mut a, mut b] = [unrolled, whole].map(|program| Interpreter::new(Arc::new(program)));
            a.set(slot(x(at)), bad);
            b.set(slot(x(at)), bad);
            let status = a.eval(Activation::Derivatives);
            assert_eq!(b.eval(Activation::Derivatives), status);
            assert_eq!(bits(&a), bits(&b), "nothing is computed behind it");
            if kind == SlotKind::Derivative {
                assert_eq!(status, Status::NotANumber(slot(y(at))));
            }
        }
    }
}

/// The derivatives of all results by one input after the other.
fn derivatives(program: &SimProgram) -> Vec<f64> {
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Derivatives), Status::Ok);
    let wanted: Vec<SlotId> = (0..N_RESULTS).map(|i| slot(y(i))).collect();
    assert_eq!(interpreter.linearise(&wanted), Status::Ok);
    let mut all = Vec::new();
    for i in 0..N_INPUTS {
        let mut found = vec![f64::NAN; wanted.len()];
        assert_eq!(interpreter.directional(&[(slot(x(i)), 1.0)], &mut found), Status::Ok);
        all.extend(found);
    }
    all
}

#[test]
fn tangents_are_those_of_the_assignments() {
    for repeat in repeats() {
        let unrolled = with(program(SlotKind::Algebraic), repeat.elements().map(Block::Assign).collect());
        let whole = with(program(SlotKind::Algebraic), vec![repeat.clone().into()]);
        assert_eq!(derivatives(&unrolled), derivatives(&whole), "{repeat:?}");
    }
}
