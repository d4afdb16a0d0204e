//! Derivatives of hand-built programs against their formulas.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::Type;
use saltus_program::{
    Activation, Argument, Assign, BinaryFn, Block, Call, Callable, Code, Condition, Loop, ModelFunctions, Op,
    SimProgram, Slot, SlotId, SlotKind, SlotType, Status, UnaryFn, Unknown, ValueId,
};

use crate::Interpreter;
use crate::tests::{empty_program, square_function};

fn real(program: &mut SimProgram, name: &str, kind: SlotKind, initial: f64) -> SlotId {
    program.memory.slots.push(name, Slot { kind, ty: SlotType::Real, initial })
}

#[derive(Default)]
struct Writer(Code);

impl Writer {
    fn op(&mut self, op: Op) -> ValueId {
        self.0.ops.push(op);
        ValueId(self.0.ops.len() as u32 - 1)
    }

    fn binary(&mut self, f: BinaryFn, a: ValueId, b: ValueId) -> ValueId {
        self.op(Op::Binary(f, a, b))
    }

    fn assign(self, stores: &[(ValueId, SlotId)]) -> Assign {
        Assign { code: self.0, stores: stores.to_vec(), span: Span::nowhere() }
    }
}

/// The derivative of `y` by `x`, and whether there is one.
fn derivative(program: &SimProgram, y: SlotId, x: SlotId) -> Result<f64, Status> {
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Derivatives), Status::Ok, "{:?}", interpreter.last_failure());
    let mut found = [f64::NAN];
    match interpreter.linearise(&[y]) {
        Status::Ok => {}
        status => return Err(status),
    }
    match interpreter.directional(&[(x, 1.0)], &mut found) {
        Status::Ok => Ok(found[0]),
        status => Err(status),
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{found} is not {expected}");
}

/// y := if x > 0 then sqrt(x) else 0
fn root(value: f64) -> (SimProgram, SlotId, SlotId) {
    let mut program = empty_program();
    let x = real(&mut program, "x", SlotKind::Input, value);
    let y = real(&mut program, "y", SlotKind::Algebraic, 0.0);
    let mut w = Writer::default();
    let (xv, zero) = (w.op(Op::Load(x)), w.op(Op::Const(0.0)));
    let positive = w.binary(BinaryFn::Greater, xv, zero);
    let root = w.op(Op::Unary(UnaryFn::Sqrt, xv));
    let chosen = w.op(Op::Select(positive, root, zero));
    program.sections.derivatives.blocks.push(Block::Assign(w.assign(&[(chosen, y)])));
    (program, x, y)
}

#[test]
fn the_branch_that_is_taken_is_differentiated() {
    let (program, x, y) = root(4.0);
    close(derivative(&program, y, x).unwrap(), 0.25);
    // The other branch has an infinite slope, or none.
    for value in [0.0, -4.0] {
        let (program, x, y) = root(value);
        close(derivative(&program, y, x).unwrap(), 0.0);
    }
}

#[test]
fn an_infinite_slope_is_no_derivative() {
    let (mut program, x, y) = root(0.0);
    let mut w = Writer::default();
    let xv = w.op(Op::Load(x));
    let root = w.op(Op::Unary(UnaryFn::Sqrt, xv));
    program.sections.derivatives.blocks = vec![Block::Assign(w.assign(&[(root, y)]))];
    assert_eq!(derivative(&program, y, x), Err(Status::NotANumber(y)));
}

/// u³ + u = x for u, then y := u·x; u = 1 at x = 2.
fn cubic() -> (SimProgram, SlotId, SlotId) {
    let mut program = empty_program();
    let x = real(&mut program, "x", SlotKind::Input, 2.0);
    let u = real(&mut program, "u", SlotKind::Algebraic, 0.5);
    let square = real(&mut program, "square", SlotKind::Algebraic, 0.0);
    let y = real(&mut program, "y", SlotKind::Algebraic, 0.0);
    let mut w = Writer::default();
    let (uv, xv) = (w.op(Op::Load(u)), w.op(Op::Load(x)));
    let squared = w.binary(BinaryFn::Mul, uv, uv);
    let cube = w.binary(BinaryFn::Mul, squared, uv);
    let sum = w.binary(BinaryFn::Add, cube, uv);
    let residual = w.binary(BinaryFn::Sub, sum, xv);
    let l = Loop {
        unknowns: vec![Unknown { slot: u, nominal: 1.0, min: f64::NEG_INFINITY, max: f64::INFINITY }],
        spans: vec![Span::nowhere()],
        body: w.assign(&[(squared, square)]),
        residuals: vec![residual],
        jacobian: None,
        is_linear: false,
        discrete: None,
        may_grow: false,
        original: None,
    };
    let mut w = Writer::default();
    let (uv, xv, sv) = (w.op(Op::Load(u)), w.op(Op::Load(x)), w.op(Op::Load(square)));
    let product = w.binary(BinaryFn::Mul, uv, xv);
    let sum = w.binary(BinaryFn::Add, product, sv);
    program.sections.derivatives.blocks = vec![Block::Loop(Arc::new(l)), Block::Assign(w.assign(&[(sum, y)]))];
    (program, x, y)
}

#[test]
fn a_loop_is_differentiated_implicitly() {
    // u' = 1/(3u² + 1) = 1/4, (u·x + u²)' = u'·x + u + 2u·u' = 1/2 + 1 + 1/2
    let (program, x, y) = cubic();
    close(derivative(&program, y, x).unwrap(), 2.0);
}

#[test]
fn the_jacobian_of_a_loop_is_used() {
    let (mut program, x, y) = cubic();
    let Block::Loop(l) = program.sections.derivatives.blocks[0].clone() else { panic!("a loop") };
    let mut with = (*l).clone();
    let mut w = Writer::default();
    let uv = w.op(Op::Load(l.unknowns[0].slot));
    let (three, one) = (w.op(Op::Const(3.0)), w.op(Op::Const(1.0)));
    let square = w.binary(BinaryFn::Mul, uv, uv);
    let product = w.binary(BinaryFn::Mul, three, square);
    let slope = w.binary(BinaryFn::Add, product, one);
    with.jacobian = Some(saltus_program::Jacobian { code: w.0, entries: vec![(0, 0, slope)], is_constant: false });
    program.sections.derivatives.blocks[0] = Block::Loop(Arc::new(with));
    close(derivative(&program, y, x).unwrap(), 2.0);
}

/// y := f(x) with f(x) = x² + 1 for x > 0, called while x > `least`
fn calling(value: f64, least: f64) -> (SimProgram, SlotId, SlotId) {
    let mut program = empty_program();
    let function = program.routines.procedures.push(std::sync::Arc::new(saltus_procedure::lower(&square_function())));
    let arguments = vec![Argument::Scalars(Type::REAL)];
    let results = vec![Type::REAL];
    let callable = program.routines.callables.push(Callable {
        function,
        arguments,
        results,
        unused: Vec::new(),
        effect: None,
        derivative: None,
    });
    let x = real(&mut program, "x", SlotKind::Input, value);
    let y = real(&mut program, "y", SlotKind::Algebraic, 0.0);
    let mut w = Writer::default();
    let (xv, least) = (w.op(Op::Load(x)), w.op(Op::Const(least)));
    let holds = w.binary(BinaryFn::Greater, xv, least);
    let conditions = vec![Condition { value: holds, is: true }];
    w.0.calls.push(Call { callable, arguments: vec![xv], conditions });
    w.op(Op::Call(0));
    let result = w.op(Op::Result(0, 0));
    let tripled = w.binary(BinaryFn::Mul, result, least);
    let chosen = w.op(Op::Select(holds, tripled, xv));
    program.sections.derivatives.blocks.push(Block::Assign(w.assign(&[(chosen, y)])));
    (program, x, y)
}

#[test]
fn a_called_function_is_differentiated() {
    // (3·(x² + 1))' = 6x
    let (program, x, y) = calling(5.0, 3.0);
    close(derivative(&program, y, x).unwrap(), 30.0);
    // Not called, for which it would fail.
    let (program, x, y) = calling(-1.0, 3.0);
    close(derivative(&program, y, x).unwrap(), 1.0);
}

#[test]
fn directions_do_not_depend_on_each_other() {
    let (program, x, y) = cubic();
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Derivatives), Status::Ok);
    assert_eq!(interpreter.linearise(&[y]), Status::Ok);
    let mut along = |seeds: &[(SlotId, f64)]| {
        let mut found = [f64::NAN];
        assert_eq!(interpreter.directional(seeds, &mut found), Status::Ok);
        found[0]
    };
    let first = along(&[(x, 1.0)]);
    close(along(&[(x, -1e3)]), -2e3);
    assert_eq!(along(&[]), 0.0);
    assert_eq!(along(&[(x, 1.0)]).to_bits(), first.to_bits());
}

#[test]
fn what_is_not_wanted_is_left_out() {
    let (program, _, y) = cubic();
    let u = program.memory.slots.find("u").unwrap();
    let whole = super::program::TangentProgram::new(&program, &[y], &[]);
    let part = super::program::TangentProgram::new(&program, &[u], &[]);
    assert_eq!(whole.program.sections.crossings.blocks.len(), 2);
    assert_eq!(part.program.sections.crossings.blocks.len(), 1);
}

/// y[i] := x[i] * x[i + 1] with `n` inputs, of which the first is a parameter if it is `fixed`; then z := y[1].
fn products(n: usize, fixed: bool) -> (SimProgram, Vec<SlotId>, SlotId) {
    let mut program = empty_program();
    let kind = |i: usize| if fixed && i == 0 { SlotKind::Parameter } else { SlotKind::Input };
    let x: Vec<SlotId> = (0..n).map(|i| real(&mut program, &format!("x[{i}]"), kind(i), 2.0 + i as f64)).collect();
    let y: Vec<SlotId> = (1..n).map(|i| real(&mut program, &format!("y[{i}]"), SlotKind::Algebraic, 0.0)).collect();
    let z = real(&mut program, "z", SlotKind::Algebraic, 0.0);
    let mut w = Writer::default();
    let (a, b) = (w.op(Op::Load(x[0])), w.op(Op::Load(x[1])));
    let product = w.binary(BinaryFn::Mul, a, b);
    let first = w.assign(&[(product, y[0])]);
    let repeat = saltus_program::Repeat { first, sizes: vec![n as u32 - 1], strides: vec![vec![1]; 3] };
    let mut w = Writer::default();
    let first = w.op(Op::Load(y[0]));
    program.sections.derivatives.blocks = vec![repeat.into(), Block::Assign(w.assign(&[(first, z)]))];
    (program, x, z)
}

#[test]
fn repeated_code_has_repeated_tangents() {
    for fixed in [false, true] {
        let (program, x, z) = products(9, fixed);
        // z = x[0]·x[1] = 2·3
        close(derivative(&program, z, x[1]).unwrap(), 2.0);
        close(derivative(&program, z, x[0]).unwrap(), if fixed { 0.0 } else { 3.0 });
        close(derivative(&program, z, x[2]).unwrap(), 0.0);
        let made = super::program::TangentProgram::new(&program, &[z], &[]);
        let blocks = &made.program.sections.crossings.blocks;
        assert!(matches!(blocks[..], [Block::Repeat(_), Block::Assign(_)]), "{blocks:?}");
    }
}
