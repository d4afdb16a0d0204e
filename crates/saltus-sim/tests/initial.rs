//! Initialisation on programs built operation by operation: what the backend need not emit yet.

use std::sync::Arc;

use saltus_base::Span;
use saltus_program::{
    Assign, BinaryFn, Block, Code, Declared, Loop, Memory, Op, SimProgram, Slot, SlotId, SlotKind, SlotType, Slots,
    Unknown, ValueId,
};
use saltus_runtime::Interpreter;
use saltus_sim::{Options, SimErrorKind, simulate};

fn slot(program: &mut SimProgram, name: &str, kind: SlotKind, initial: f64) -> SlotId {
    let id = program.memory.slots.push(name, Slot { kind, ty: SlotType::Real, initial });
    program.variables.push(name, id, Arc::new(Declared::new(SlotType::Real)));
    id
}

fn empty_program() -> SimProgram {
    let mut slots = Slots::default();
    let mut flag = |name: &str, kind| slots.push(name, Slot::new(kind, SlotType::Real));
    let time = flag("time", SlotKind::Time);
    let (initial, terminal) = (flag("initial()", SlotKind::Flag), flag("terminal()", SlotKind::Flag));
    let memory = Memory { slots, time, initial, terminal, ..Memory::empty() };
    SimProgram { memory, ..SimProgram::empty("M") }
}

fn assign(ops: Vec<Op>, stores: Vec<(ValueId, SlotId)>) -> Assign {
    Assign { code: Code { ops, calls: vec![] }, stores, span: Span::nowhere() }
}

/// 0 = λ·d / (1 + d²) + (1 − λ)·d with d = y − 101, from y = 0. The actual function falls on both sides of its extrema at
/// d = ±1, so that from far away every step leads farther away.
fn distant_root(kind: SlotKind) -> SimProgram {
    let mut program = empty_program();
    let lambda = slot(&mut program, "lambda", kind, 1.0);
    let y = slot(&mut program, "y", SlotKind::Algebraic, 0.0);
    let v = ValueId;
    let ops = vec![
        Op::Load(y),
        Op::Const(101.0),
        Op::Binary(BinaryFn::Sub, v(0), v(1)), // d
        Op::Const(1.0),
        Op::Binary(BinaryFn::Mul, v(2), v(2)),
        Op::Binary(BinaryFn::Add, v(3), v(4)),
        Op::Binary(BinaryFn::Div, v(2), v(5)), // actual
        Op::Load(lambda),
        Op::Binary(BinaryFn::Mul, v(7), v(6)),
        Op::Binary(BinaryFn::Sub, v(3), v(7)),
        Op::Binary(BinaryFn::Mul, v(9), v(2)),
        Op::Binary(BinaryFn::Add, v(8), v(10)),
    ];
    let unknown = Unknown { slot: y, nominal: 1.0, min: f64::NEG_INFINITY, max: f64::INFINITY };
    program.sections.initial.blocks.push(Block::Loop(Arc::new(Loop {
        unknowns: vec![unknown],
        body: assign(ops, vec![]),
        residuals: vec![v(11)],
        spans: vec![Span::nowhere()],
        jacobian: None,
        is_linear: false,
        discrete: None,
        may_grow: false,
        original: None,
    })));
    if kind == SlotKind::Homotopy {
        program.sections.homotopy = program.sections.initial.clone();
    }
    program
}

#[test]
fn homotopy_finds_what_newton_alone_does_not() {
    let program = distant_root(SlotKind::Homotopy);
    let trajectory = simulate(Box::new(Interpreter::new(Arc::new(program.clone()))), &Options::new(&program));
    let y = trajectory.ok().and_then(|t| t.last("y"));
    assert!(y.is_some_and(|y| (y - 101.0).abs() < 1e-9), "{y:?}");

    let program = distant_root(SlotKind::Parameter);
    let error = simulate(Box::new(Interpreter::new(Arc::new(program.clone()))), &Options::new(&program))
        .expect_err("is too far");
    let SimErrorKind::CannotEvaluate { message, during, .. } = &error.kind else { panic!("{error}") };
    assert!(message.contains("nonlinear loop of 1 equation") && *during == "in the initial system", "{error}");
    assert!(error.details.notes[0].starts_with("unknown y = "), "{:?}", error.details);
}

#[test]
fn initial_values_of_pre_are_those_of_the_variables() {
    // b = 1; a = pre(b), where pre(b) holds 0 before
    let mut program = empty_program();
    let a = slot(&mut program, "a", SlotKind::Discrete, 0.0);
    let b = slot(&mut program, "b", SlotKind::Discrete, 0.0);
    let pre = slot(&mut program, "pre(b)", SlotKind::Pre, 0.0);
    program.memory.pre.push((b, pre));
    let block = assign(vec![Op::Load(pre), Op::Const(1.0)], vec![(ValueId(0), a), (ValueId(1), b)]);
    program.sections.initial.blocks.push(Block::Assign(block));
    let trajectory = simulate(Box::new(Interpreter::new(Arc::new(program.clone()))), &Options::new(&program));
    assert_eq!(trajectory.ok().and_then(|t| t.last("a")), Some(1.0));
}
