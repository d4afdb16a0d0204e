//! Runs of programs with repeated code against those of its elements: the same numbers, events and steps.

use std::sync::Arc;

use saltus_base::Span;
use saltus_program::{
    Assign, BinaryFn, Block, Code, Declared, Memory, Op, Relation, RelationOp, Repeat, Section, SimProgram, Slot,
    SlotId, SlotKind, SlotType, Slots, State, UnaryFn, ValueId,
};
use saltus_runtime::Interpreter;
use saltus_sim::{Options, SimErrorKind, Solver, Trajectory, simulate};

fn slot(program: &mut SimProgram, name: String, kind: SlotKind, initial: f64) -> SlotId {
    let id = program.memory.slots.push(name.clone(), Slot { kind, ty: SlotType::Real, initial });
    program.variables.push(name, id, Arc::new(Declared::new(SlotType::Real)));
    id
}

fn empty_program() -> SimProgram {
    let mut slots = Slots::default();
    let mut flag = |name: &str, kind| slots.push(name, Slot::new(kind, SlotType::Real));
    let time = flag("time", SlotKind::Time);
    let (initial, terminal) = (flag("initial()", SlotKind::Flag), flag("terminal()", SlotKind::Flag));
    let memory = Memory { slots, time, initial, terminal, ..Memory::empty() };
    SimProgram { memory, ..SimProgram::empty("Rod") }
}

fn assign(ops: Vec<Op>, to: SlotId) -> Assign {
    let value = ValueId(ops.len() as u32 - 1);
    Assign { code: Code { ops, calls: vec![] }, stores: vec![(value, to)], span: Span::nowhere() }
}

/// `to := (a - b) * factor`
fn difference(a: SlotId, b: SlotId, factor: f64, to: SlotId) -> Assign {
    let v = ValueId;
    let ops = vec![
        Op::Load(a),
        Op::Load(b),
        Op::Binary(BinaryFn::Sub, v(0), v(1)),
        Op::Const(factor),
        Op::Binary(BinaryFn::Mul, v(2), v(3)),
    ];
    assign(ops, to)
}

fn repeat(first: Assign, n: usize) -> Block {
    let n_places = first.code.ops.iter().filter(|op| matches!(op, Op::Load(_))).count() + first.stores.len();
    Block::from(Repeat { first, sizes: vec![n as u32], strides: vec![vec![1]; n_places] })
}

/// A rod of `n` pieces, the first of which is hot: `Q[i] = 30*(T[i] - T[i + 1])`, `der(T[i]) = Q[i - 1] - Q[i]`, insulated.
fn rod(n: usize) -> SimProgram {
    let mut program = empty_program();
    let t: Vec<SlotId> = (0..n)
        .map(|i| slot(&mut program, format!("T[{i}]"), SlotKind::State, if i == 0 { 1.0 } else { 0.0 }))
        .collect();
    let der: Vec<SlotId> =
        (0..n).map(|i| slot(&mut program, format!("der(T[{i}])"), SlotKind::Derivative, 0.0)).collect();
    let q: Vec<SlotId> = (0..n - 1).map(|i| slot(&mut program, format!("Q[{i}]"), SlotKind::Algebraic, 0.0)).collect();
    let states = t.iter().zip(&der);
    program.states =
        states.map(|(&value, &derivative)| State { value, derivative, nominal: 1.0, unbounded: false }).collect();
    let last = assign(vec![Op::Load(q[n - 2])], der[n - 1]);
    let first = assign(vec![Op::Load(q[0]), Op::Unary(UnaryFn::Negate, ValueId(0))], der[0]);
    let blocks = vec![
        repeat(difference(t[0], t[1], 30.0, q[0]), n - 1),
        Block::Assign(first),
        repeat(difference(q[0], q[1], 1.0, der[1]), n - 2),
        Block::Assign(last),
    ];
    program.sections.derivatives.blocks.clone_from(&blocks);
    program.sections.initial.blocks.clone_from(&blocks);
    program.sections.events.blocks = blocks;
    assert_eq!(saltus_program::verify(&program), Ok(()));
    program
}

/// The heat has come to piece `i`: `is_warm = T[i] > 0.01`.
fn with_event(mut program: SimProgram, i: usize) -> SimProgram {
    let value = program.states[i].value;
    let warm = slot(&mut program, "is_warm".to_owned(), SlotKind::Discrete, 0.0);
    let crossing = slot(&mut program, "crossing".to_owned(), SlotKind::Auxiliary, 0.0);
    let scale = slot(&mut program, "scale".to_owned(), SlotKind::Auxiliary, 0.0);
    let compared = |f, to| assign(vec![Op::Load(value), Op::Const(0.01), Op::Binary(f, ValueId(0), ValueId(1))], to);
    let literal = Block::Assign(compared(BinaryFn::Greater, warm));
    program.sections.events.blocks.push(literal.clone());
    program.sections.initial.blocks.push(literal);
    program.sections.crossings.blocks =
        vec![Block::Assign(compared(BinaryFn::Sub, crossing)), Block::Assign(compared(BinaryFn::Max, scale))];
    program.events.relations.push(Relation {
        op: RelationOp::Greater,
        memory: warm,
        crossing,
        scale,
        nominal: 1.0,
        usual: None,
        text: "T[i] > 0.01".to_owned(),
        span: Span::nowhere(),
    });
    assert_eq!(saltus_program::verify(&program), Ok(()));
    program
}

fn unrolled(program: &SimProgram) -> SimProgram {
    let mut unrolled = program.clone();
    let sections = &mut unrolled.sections;
    for section in [&mut sections.initial, &mut sections.events, &mut sections.derivatives] {
        let scalar: Section = section.unrolled().into_owned();
        *section = scalar;
    }
    unrolled
}

fn run(program: SimProgram, solver: Solver) -> Trajectory {
    let options = Options::new(&program).with_times(0.0, 0.3).with_solver(solver);
    simulate(Box::new(Interpreter::new(Arc::new(program))), &options).expect("it runs")
}

#[test]
fn runs_are_those_of_the_elements() {
    for solver in [Solver::DormandPrince, Solver::Rodas, Solver::Bdf, Solver::Auto] {
        for program in [rod(12), with_event(rod(13), 7)] {
            let (whole, elements) = (run(program.clone(), solver), run(unrolled(&program), solver));
            assert_eq!(whole.statistics, elements.statistics, "{solver:?}");
            assert_eq!(whole.events, elements.events, "{solver:?}");
            let sum: f64 = (0..program.states.len()).filter_map(|i| whole.last(&format!("T[{i}]"))).sum();
            // What is insulated keeps its heat.
            assert!((sum - 1.0).abs() < 1e-9, "{solver:?}: {sum}");
            for variable in &program.variables {
                let [a, b] = [&whole, &elements].map(|t| t.last(&variable.name()).map(f64::to_bits));
                assert_eq!(a, b, "{solver:?}: {}", variable.name());
            }
        }
    }
}

/// y[i] := 1/T[i] is infinite where it is cold: the first such element is told.
#[test]
fn the_element_that_divides_by_zero_is_told() {
    let mut program = rod(6);
    let y: Vec<SlotId> = (0..6).map(|i| slot(&mut program, format!("y[{i}]"), SlotKind::Algebraic, 0.0)).collect();
    let v = ValueId;
    let ops = vec![Op::Const(1.0), Op::Load(program.states[0].value), Op::Binary(BinaryFn::Div, v(0), v(1))];
    program.sections.outputs.blocks = vec![repeat(assign(ops, y[0]), 6)];
    let options = Options::new(&program).with_times(0.0, 0.3);
    let error = simulate(Box::new(Interpreter::new(Arc::new(program))), &options).expect_err("1/0");
    let SimErrorKind::NotANumber { variable, why, .. } = &error.kind else { panic!("{error}") };
    assert_eq!(variable, "y[1]");
    assert_eq!(why.as_deref(), Some("division by zero in `1.0 / T[1]`: `T[1]` is 0"));
}

/// 100 000 pieces: what looks at all elements does so once.
#[test]
fn a_large_array_takes_linear_time() {
    let program = rod(100_000);
    let options = Options::new(&program).with_times(0.0, 1e-3).with_solver(Solver::DormandPrince);
    let options =
        Options { interval: 1e-3, recorded: saltus_sim::Recorded::Only(["T[0]".to_owned()].into()), ..options };
    let run = simulate(Box::new(Interpreter::new(Arc::new(program))), &options).expect("it runs");
    // A half-infinite rod: exp(-2a)·(I₀(2a) + I₁(2a)) with a = 30·t = 0.03.
    let t = run.last("T[0]").expect("it is recorded");
    assert!((t - 0.970_878).abs() < 1e-5, "{t}");
}
