//! Calls from machine code: arguments and results, failures that count and failures that do not.

mod common;

use std::sync::Arc;

use common::{Both, Writer, empty_program, slot};
use saltus_base::{IdVec, Span};
use saltus_flat::build::{add, greater, mul};
use saltus_flat::{Expr, ExprKind, Function, Local, LocalId, Purity, Statement, StatementKind, Type};
use saltus_program::{
    Activation, Argument, BinaryFn, Block, Call, Callable, CallableId, Condition, Loop, ModelFunctions, Op, SimProgram,
    SlotId, SlotKind, Status, Unknown, ValueId,
};

/// function f input Real x; output Real y; algorithm assert(x > 0, "too small"); y := x * x + 1;
fn square_function() -> Function {
    let local =
        |name: &str| Local { name: name.into(), ty: Type::REAL, sizes: vec![], default: None, span: Span::nowhere() };
    let locals: IdVec<LocalId, Local> = [local("x"), local("y")].into_iter().collect();
    let ids: Vec<LocalId> = locals.ids().collect();
    let [x, y] = [0, 1].map(|i| Expr::new(ExprKind::Local(ids[i]), Type::REAL, Span::nowhere()));
    let number = |v| Expr::real(v, Span::nowhere());
    let message = Expr::string("too small", Span::nowhere());
    let check = StatementKind::Assert { condition: greater(x.clone(), number(0.0)), message, level: None };
    let assign = StatementKind::Assign { target: y, value: add(mul(x.clone(), x), number(1.0)) };
    Function {
        name: "f".into(),
        inputs: vec![ids[0]],
        outputs: vec![ids[1]],
        locals,
        body: [check, assign].map(|kind| Statement { kind, span: Span::nowhere() }).to_vec(),
        external: None,
        purity: Purity::Pure,
        is_record_constructor: false,
        derivatives: vec![],
        inverses: vec![],
        inline: false,
        late_inline: false,
        inline_after_index_reduction: false,
        smooth_order: None,
        generate_events: false,
        span: Span::nowhere(),
    }
}

fn program_with_function() -> (SimProgram, CallableId) {
    let mut program = empty_program();
    let function = program.routines.procedures.push(Arc::new(saltus_procedure::lower(&square_function())));
    let arguments = vec![Argument::Scalars(Type::REAL)];
    let callable = program.routines.callables.push(Callable {
        function,
        arguments,
        results: vec![Type::REAL],
        unused: Vec::new(),
        effect: None,
        derivative: None,
    });
    (program, callable)
}

fn call(w: &mut Writer, callable: CallableId, argument: ValueId) -> ValueId {
    w.code.calls.push(Call { callable, arguments: vec![argument], conditions: vec![] });
    let k = w.code.calls.len() as u32 - 1;
    w.op(Op::Call(k));
    w.op(Op::Result(k, 0))
}

/// before := x + 1; y := f(f(x)) or, guarded, `if x > 0 then f(f(x)) else 0`; after := y + before
fn calling_program(is_guarded: bool) -> (SimProgram, [SlotId; 3]) {
    let (mut program, f) = program_with_function();
    let x = slot(&mut program, SlotKind::State, 3.0);
    let [before, y, after] = [0.0; 3].map(|v| slot(&mut program, SlotKind::Algebraic, v));
    let mut w = Writer::default();
    let (value, one) = (w.load(x), w.constant(1.0));
    let sum = w.binary(BinaryFn::Add, value, one);
    w.store(sum, before);
    program.sections.derivatives.blocks.push(w.block());

    let mut w = Writer::default();
    let (value, zero) = (w.load(x), w.constant(0.0));
    let inner = call(&mut w, f, value);
    let outer = call(&mut w, f, inner);
    let positive = w.binary(BinaryFn::Greater, value, zero);
    let chosen = w.op(Op::Select(positive, outer, zero));
    w.store(if is_guarded { chosen } else { outer }, y);
    program.sections.derivatives.blocks.push(w.block());

    let mut w = Writer::default();
    let (a, b) = (w.load(y), w.load(before));
    let sum = w.binary(BinaryFn::Add, a, b);
    w.store(sum, after);
    program.sections.derivatives.blocks.push(w.block());
    (program, [x, y, after])
}

#[test]
fn calls_between_other_blocks() {
    let (program, [x, y, after]) = calling_program(false);
    let mut both = Both::new(&program);
    assert_eq!(both.eval(Activation::Derivatives, "x = 3"), Status::Ok);
    // f(3) = 10, f(10) = 101, 101 + 4
    assert_eq!((both.compiled.get(y), both.compiled.get(after)), (101.0, 105.0));
    both.set(x, 0.5);
    assert_eq!(both.eval(Activation::Derivatives, "x = 0.5"), Status::Ok);
    // f(0.5) = 1.25, f(1.25) = 2.5625
    assert_eq!(both.compiled.get(y), 2.5625);
}

#[test]
fn a_failed_call_counts_only_where_its_value_is_used() {
    let (program, [x, y, _]) = calling_program(true);
    let mut both = Both::new(&program);
    both.set(x, -3.0);
    assert_eq!(both.eval(Activation::Derivatives, "guarded"), Status::Ok);
    assert_eq!(both.compiled.get(y), 0.0);
    let (program, [x, y, after]) = calling_program(false);
    let mut both = Both::new(&program);
    both.set(x, -3.0);
    assert_eq!(both.eval(Activation::Derivatives, "used"), Status::Failed);
    let message = both.compiled.last_failure().map(|f| f.message).unwrap_or_default();
    assert!(message.contains("too small"), "{message}");
    both.set(x, 1.0);
    assert_eq!(both.eval(Activation::Derivatives, "again"), Status::Ok);
    // f(1) = 2, f(2) = 5, 5 + 2
    assert_eq!((both.compiled.get(y), both.compiled.get(after)), (5.0, 7.0));
}

#[test]
fn a_call_is_not_made_while_its_conditions_do_not_hold() {
    // y := if x > 0 and not x > 2 then f(x) else 0
    let (mut program, f) = program_with_function();
    let (x, y) = (slot(&mut program, SlotKind::State, -3.0), slot(&mut program, SlotKind::Algebraic, 0.0));
    let mut w = Writer::default();
    let (value, zero, two) = (w.load(x), w.constant(0.0), w.constant(2.0));
    let (positive, large) = (w.binary(BinaryFn::Greater, value, zero), w.binary(BinaryFn::Greater, value, two));
    let square = call(&mut w, f, value);
    w.code.calls[0].conditions = vec![Condition { value: positive, is: true }, Condition { value: large, is: false }];
    let inner = w.op(Op::Select(large, zero, square));
    let outer = w.op(Op::Select(positive, inner, zero));
    w.store(outer, y);
    program.sections.derivatives.blocks.push(w.block());
    let mut both = Both::new(&program);
    // f(1) = 2; the others are not made, although -3 would fail
    for (given, expected, n_calls) in [(-3.0, 0.0, 0), (3.0, 0.0, 0), (1.0, 2.0, 1), (-1.0, 0.0, 1)] {
        both.set(x, given);
        assert_eq!(both.eval(Activation::Derivatives, "conditions"), Status::Ok);
        assert_eq!((both.compiled.get(y), both.compiled.loop_statistics().calls), (expected, n_calls), "{given}");
    }
}

#[test]
fn calls_in_the_equations_of_a_loop() {
    // f(u) = a: u = √(a − 1); steps to u ≤ 0 fail and are shortened, a < 1 has no solution
    let (mut program, f) = program_with_function();
    let (a, u) = (slot(&mut program, SlotKind::State, 10.0), slot(&mut program, SlotKind::Algebraic, 0.5));
    let mut w = Writer::default();
    let (given, own) = (w.load(a), w.load(u));
    let square = call(&mut w, f, own);
    let residual = w.binary(BinaryFn::Sub, square, given);
    program.sections.derivatives.blocks.push(Block::Loop(Arc::new(Loop {
        unknowns: vec![Unknown { slot: u, nominal: 1.0, min: 0.0, max: 1e3 }],
        body: w.assign(),
        residuals: vec![residual],
        spans: vec![Span::nowhere()],
        jacobian: None,
        is_linear: false,
        discrete: None,
        may_grow: false,
        original: None,
    })));
    let mut both = Both::new(&program);
    for (value, expected) in [(10.0, Some(3.0)), (5.0, Some(2.0)), (0.5, None), (1.0001, Some(0.01))] {
        both.set(a, value);
        let status = both.eval(Activation::Derivatives, &format!("a = {value}"));
        match expected {
            Some(expected) => {
                assert_eq!(status, Status::Ok);
                assert!((both.compiled.get(u) - expected).abs() < 1e-8, "{}", both.compiled.get(u));
            }
            None => assert_eq!(status, Status::Failed),
        }
    }
}
