//! Hand-built programs: branches, loops of all kinds, calls.

use std::sync::Arc;

use saltus_base::{IdVec, Span};
use saltus_flat::build::{add, greater, mul};
use saltus_flat::{
    BaseType, Dim, EnumId, EnumType, Expr, ExprKind, External, ExternalArgument, Function, FunctionId, Local, LocalId,
    Purity, RecordField, RecordId, RecordType, Statement, StatementKind, Type,
};
use saltus_program::{
    Argument, Assign, BinaryFn, Call, Callable, CallableId, Code, Jacobian, Loop, Memory, MixedStrategy, Op, Original,
    Slot, SlotId, SlotKind, SlotType, Slots, UnaryFn, Unknown, ValueId,
};

use super::*;

pub(crate) fn empty_program() -> SimProgram {
    let mut slots = Slots::default();
    let time = slots.push("time", Slot::new(SlotKind::Time, SlotType::Real));
    let memory = Memory { slots, time, initial: time, terminal: time, ..Memory::empty() };
    SimProgram { memory, ..SimProgram::empty("M") }
}

fn slot(program: &mut SimProgram, name: &str, ty: SlotType, initial: f64) -> SlotId {
    let kind = if ty == SlotType::Real { SlotKind::Algebraic } else { SlotKind::Discrete };
    program.memory.slots.push(name, Slot { kind, ty, initial })
}

fn real(program: &mut SimProgram, name: &str, initial: f64) -> SlotId {
    slot(program, name, SlotType::Real, initial)
}

/// Writes code operation by operation.
#[derive(Default)]
struct Writer {
    code: Code,
    stores: Vec<(ValueId, SlotId)>,
}

impl Writer {
    fn op(&mut self, op: Op) -> ValueId {
        self.code.ops.push(op);
        ValueId(self.code.ops.len() as u32 - 1)
    }

    fn load(&mut self, slot: SlotId) -> ValueId {
        self.op(Op::Load(slot))
    }

    fn constant(&mut self, value: f64) -> ValueId {
        self.op(Op::Const(value))
    }

    fn binary(&mut self, f: BinaryFn, a: ValueId, b: ValueId) -> ValueId {
        self.op(Op::Binary(f, a, b))
    }

    fn unary(&mut self, f: UnaryFn, a: ValueId) -> ValueId {
        self.op(Op::Unary(f, a))
    }

    fn store(&mut self, value: ValueId, slot: SlotId) {
        self.stores.push((value, slot));
    }

    fn call(&mut self, callable: CallableId, arguments: Vec<ValueId>) -> u32 {
        self.code.calls.push(Call { callable, arguments, conditions: vec![] });
        let k = self.code.calls.len() as u32 - 1;
        self.op(Op::Call(k));
        k
    }

    fn assign(self) -> Assign {
        Assign { code: self.code, stores: self.stores, span: Span::nowhere() }
    }
}

fn unknown(slot: SlotId) -> Unknown {
    Unknown { slot, nominal: 1.0, min: f64::NEG_INFINITY, max: f64::INFINITY }
}

fn simple_loop(unknowns: &[SlotId], body: Writer, residuals: Vec<ValueId>, is_linear: bool) -> Loop {
    Loop {
        unknowns: unknowns.iter().map(|&s| unknown(s)).collect(),
        spans: vec![Span::nowhere(); residuals.len()],
        body: body.assign(),
        residuals,
        jacobian: None,
        is_linear,
        discrete: None,
        may_grow: false,
        original: None,
    }
}

fn with_block(mut program: SimProgram, block: Block) -> SimProgram {
    program.sections.events.blocks.push(block);
    program
}

#[test]
fn a_branch_that_is_not_taken_does_no_harm() {
    // y := if x > 0 then sqrt(x) else 0
    for (value, expected) in [(4.0, 2.0), (-4.0, 0.0)] {
        let mut program = empty_program();
        let (x, y) = (real(&mut program, "x", value), real(&mut program, "y", 0.0));
        let mut w = Writer::default();
        let (xv, zero) = (w.load(x), w.constant(0.0));
        let (positive, root) = (w.binary(BinaryFn::Greater, xv, zero), w.unary(UnaryFn::Sqrt, xv));
        let chosen = w.op(Op::Select(positive, root, zero));
        w.store(chosen, y);
        let program = with_block(program, Block::Assign(w.assign()));
        let mut interpreter = Interpreter::new(Arc::new(program.clone()));
        assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
        assert_eq!(interpreter.get(y), expected);
    }
}

#[test]
fn a_stored_nan_names_its_slot() {
    let mut program = empty_program();
    let (x, y) = (real(&mut program, "x", -4.0), real(&mut program, "y", 0.0));
    let mut w = Writer::default();
    let xv = w.load(x);
    let root = w.unary(UnaryFn::Sqrt, xv);
    w.store(root, y);
    let program = with_block(program, Block::Assign(w.assign()));
    assert_eq!(Interpreter::new(Arc::new(program.clone())).eval(Activation::Events), Status::NotANumber(y));
}

#[test]
fn a_loop_whose_rounding_errors_grow_is_solved_for_all_of_its_variables() {
    // y1 := (x - 1)/1e-4, …, y4 := (y3 - 1)/1e-4, 0 = y4 - 2: neighbours of x are 2.2e-16 apart, and so 2.2 in y4.
    let mut program = empty_program();
    let x = real(&mut program, "x", 1.0);
    let inner = ["y1", "y2", "y3", "y4"].map(|name| real(&mut program, name, 0.0));
    let mut w = Writer::default();
    let (one, small, two) = (w.constant(1.0), w.constant(1e-4), w.constant(2.0));
    let mut last = w.load(x);
    for slot in inner {
        let above = w.binary(BinaryFn::Sub, last, one);
        last = w.binary(BinaryFn::Div, above, small);
        w.store(last, slot);
    }
    let residual = w.binary(BinaryFn::Sub, last, two);
    let l = Loop { may_grow: true, ..simple_loop(&[x], w, vec![residual], false) };
    let mut interpreter = Interpreter::new(Arc::new(with_block(program, Block::Loop(l.into()))));
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
    // From the end: y3 = 1 + 1e-4*2, y2 = 1 + 1e-4*y3, …
    let mut expected = 2.0;
    for slot in inner.into_iter().rev().chain([x]) {
        assert!((interpreter.get(slot) - expected).abs() < 1e-11, "{} for {expected}", interpreter.get(slot));
        expected = 1.0 + 1e-4 * expected;
    }
}

#[test]
fn a_loop_that_no_numbers_fulfil_is_not_solved() {
    // y := tanh((x - 1)*1e18), 0 = y - 0.5: y is -1, 0 or 1, because the numbers beside 1 are more than 1e-16 away.
    let mut program = empty_program();
    let (x, y) = (real(&mut program, "x", 1.0), real(&mut program, "y", 0.0));
    let mut w = Writer::default();
    let (one, steep, half) = (w.constant(1.0), w.constant(1e18), w.constant(0.5));
    let place = w.load(x);
    let above = w.binary(BinaryFn::Sub, place, one);
    let scaled = w.binary(BinaryFn::Mul, above, steep);
    let value = w.op(Op::Unary(UnaryFn::Tanh, scaled));
    w.store(value, y);
    let residual = w.binary(BinaryFn::Sub, value, half);
    let l = Loop { may_grow: true, ..simple_loop(&[x], w, vec![residual], false) };
    let mut interpreter = Interpreter::new(Arc::new(with_block(program, Block::Loop(l.into()))));
    assert_ne!(interpreter.eval(Activation::Events), Status::Ok);
}

#[test]
fn a_loop_that_tearing_cannot_start_is_solved_as_it_was() {
    // y = x^2 + 1e6, y + x = 1e6 + 12, torn over y: x := sqrt(y - 1e6) has no value near y = 0, where y starts. As they were, the equations
    // lead from x = 2 to x = 3: 9 + 3 = 12.
    let mut program = empty_program();
    let (x, y) = (real(&mut program, "x", 2.0), real(&mut program, "y", 0.0));
    let mut w = Writer::default();
    let (high, sum) = (w.constant(1e6), w.constant(1e6 + 12.0));
    let yv = w.load(y);
    let above = w.binary(BinaryFn::Sub, yv, high);
    let root = w.unary(UnaryFn::Sqrt, above);
    w.store(root, x);
    let both = w.binary(BinaryFn::Add, yv, root);
    let residual = w.binary(BinaryFn::Sub, both, sum);
    let torn = simple_loop(&[y], w, vec![residual], false);
    let mut w = Writer::default();
    let (high, sum) = (w.constant(1e6), w.constant(1e6 + 12.0));
    let (xv, yv) = (w.load(x), w.load(y));
    let square = w.binary(BinaryFn::Mul, xv, xv);
    let raised = w.binary(BinaryFn::Add, square, high);
    let first = w.binary(BinaryFn::Sub, yv, raised);
    let both = w.binary(BinaryFn::Add, yv, xv);
    let second = w.binary(BinaryFn::Sub, both, sum);
    let original = Original { code: w.assign().code, residuals: vec![first, second], inner: vec![unknown(x)] };
    for is_kept in [false, true] {
        let l = Loop { original: is_kept.then(|| original.clone()), ..torn.clone() };
        let mut interpreter = Interpreter::new(Arc::new(with_block(program.clone(), Block::Loop(l.into()))));
        let is_solved = interpreter.eval(Activation::Events) == Status::Ok;
        assert_eq!(is_solved, is_kept);
        if is_solved {
            let (x, y) = (interpreter.get(x), interpreter.get(y));
            assert!((x - 3.0).abs() < 1e-9 && (y - 1_000_009.0).abs() < 1e-9, "{x} {y}");
        }
    }
}

/// a·x + b·y = c for two rows, torn nowhere.
fn linear_program(rows: [[f64; 3]; 2], start: [f64; 2]) -> (SimProgram, SlotId, SlotId) {
    let mut program = empty_program();
    let (x, y) = (real(&mut program, "x", start[0]), real(&mut program, "y", start[1]));
    let mut w = Writer::default();
    let (xv, yv) = (w.load(x), w.load(y));
    let mut residuals = Vec::new();
    for [a, b, c] in rows {
        let (a, b, c) = (w.constant(a), w.constant(b), w.constant(c));
        let (ax, by) = (w.binary(BinaryFn::Mul, a, xv), w.binary(BinaryFn::Mul, b, yv));
        let sum = w.binary(BinaryFn::Add, ax, by);
        residuals.push(w.binary(BinaryFn::Sub, sum, c));
    }
    let l = simple_loop(&[x, y], w, residuals, true);
    (with_block(program, Block::Loop(Arc::new(l))), x, y)
}

#[test]
fn a_linear_loop_is_solved() {
    // 2x + y = 5, x − y = 1: (2, 1)
    let (program, x, y) = linear_program([[2.0, 1.0, 5.0], [1.0, -1.0, 1.0]], [0.0, 0.0]);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
    assert!((interpreter.get(x) - 2.0).abs() < 1e-14 && (interpreter.get(y) - 1.0).abs() < 1e-14);
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
    // Two equations need no factors.
    assert_eq!(interpreter.loop_statistics().factorisations, 0);
}

#[test]
fn a_singular_consistent_loop_keeps_what_is_open() {
    let (program, x, y) = linear_program([[1.0, 1.0, 3.0], [2.0, 2.0, 6.0]], [0.5, 7.0]);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
    let (x, y) = (interpreter.get(x), interpreter.get(y));
    assert!((x + y - 3.0).abs() < 1e-12 && (x == 0.5 || y == 7.0), "{x} {y}");
}

#[test]
fn an_inconsistent_loop_names_its_unknowns_and_keeps_them() {
    let (program, x, _) = linear_program([[1.0, 1.0, 3.0], [1.0, 1.0, 4.0]], [0.5, 7.0]);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Failed);
    let failure = interpreter.last_failure().expect("a reason");
    let notes = failure.details.notes.join("; ");
    assert!(failure.message.contains("contradict") && notes.contains("x = ") && notes.contains("y = "), "{failure:?}");
    assert_eq!(interpreter.get(x), 0.5);
}

/// x + y = 3, x·y = 2, y torn: x := 3 − y, 0 = x·y − 2, with ∂/∂y = x − y
fn product_program(start: f64) -> (SimProgram, SlotId, SlotId) {
    let mut program = empty_program();
    let (x, y) = (real(&mut program, "x", 0.0), real(&mut program, "y", start));
    let mut w = Writer::default();
    let (yv, three, two) = (w.load(y), w.constant(3.0), w.constant(2.0));
    let xv = w.binary(BinaryFn::Sub, three, yv);
    w.store(xv, x);
    let product = w.binary(BinaryFn::Mul, xv, yv);
    let residual = w.binary(BinaryFn::Sub, product, two);
    let mut l = simple_loop(&[y], w, vec![residual], false);
    let mut j = Writer::default();
    let (xv, yv) = (j.load(x), j.load(y));
    let slope = j.binary(BinaryFn::Sub, xv, yv);
    l.jacobian = Some(Jacobian { code: j.code, entries: vec![(0, 0, slope)], is_constant: false });
    (with_block(program, Block::Loop(Arc::new(l))), x, y)
}

#[test]
fn a_nonlinear_loop_finds_the_solution_near_its_start() {
    // the solutions are (1, 2) and (2, 1)
    for (start, expected) in [(5.0, [1.0, 2.0]), (-1.0, [2.0, 1.0]), (1.5, [1.0, 2.0])] {
        let (program, x, y) = product_program(start);
        let mut interpreter = Interpreter::new(Arc::new(program.clone()));
        assert_eq!(interpreter.eval(Activation::Events), Status::Ok, "{:?}", interpreter.last_failure());
        let found = [interpreter.get(x), interpreter.get(y)];
        // At 1.5 the derivative vanishes, and either solution will do.
        let swapped = start == 1.5 && (found[0] - 2.0).abs() < 1e-11 && (found[1] - 1.0).abs() < 1e-11;
        assert!(swapped || found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-11), "{start}: {found:?}");
    }
}

#[test]
fn a_loop_without_solution_says_so() {
    // x² + 1 = 0
    let mut program = empty_program();
    let x = real(&mut program, "pressure", 3.0);
    let mut w = Writer::default();
    let (xv, one) = (w.load(x), w.constant(1.0));
    let square = w.binary(BinaryFn::Mul, xv, xv);
    let residual = w.binary(BinaryFn::Add, square, one);
    let l = simple_loop(&[x], w, vec![residual], false);
    let program = with_block(program, Block::Loop(Arc::new(l)));
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Failed);
    let failure = interpreter.last_failure().expect("a reason");
    assert!(failure.message.contains("nonlinear loop of 1"), "{failure:?}");
    assert!(failure.details.notes[0].starts_with("unknown pressure = "), "{failure:?}");
    assert_eq!(interpreter.get(x), 3.0);
}

/// An ideal diode and a resistor at the voltage `v`: off = s < 0; u = if off then s else 0; i = if off then 0 else s;
/// v = u + R·i with R = 2; the unknown is s.
fn rectifier() -> (SimProgram, SlotId, SlotId, SlotId) {
    let mut program = empty_program();
    let (v, s) = (real(&mut program, "v", 0.0), real(&mut program, "s", 0.0));
    let i = real(&mut program, "i", 0.0);
    let off = slot(&mut program, "off", SlotType::Boolean, 0.0);
    let mut w = Writer::default();
    let (sv, vv, offv) = (w.load(s), w.load(v), w.load(off));
    let (zero, two) = (w.constant(0.0), w.constant(2.0));
    let (uv, iv) = (w.op(Op::Select(offv, sv, zero)), w.op(Op::Select(offv, zero, sv)));
    w.store(iv, i);
    let drop = w.binary(BinaryFn::Mul, two, iv);
    let sum = w.binary(BinaryFn::Add, uv, drop);
    let residual = w.binary(BinaryFn::Sub, sum, vv);
    let mut l = simple_loop(&[s], w, vec![residual], true);
    let mut d = Writer::default();
    let (sv, zero) = (d.load(s), d.constant(0.0));
    let negative = d.binary(BinaryFn::Less, sv, zero);
    d.store(negative, off);
    l.discrete = Some(d.assign());
    (with_block(program, Block::Loop(Arc::new(l))), v, i, off)
}

#[test]
fn a_half_wave_rectifier_blocks_the_negative_half() {
    let (program, v, i, off) = rectifier();
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    for voltage in [0.0f64, 10.0, 1e-9, -1e-9, -10.0, 4.0] {
        interpreter.set(v, voltage);
        assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
        let expected = voltage.max(0.0) / 2.0;
        assert!((interpreter.get(i) - expected).abs() < 1e-14, "{voltage}: {}", interpreter.get(i));
        assert_eq!(interpreter.get(off) != 0.0, voltage < 0.0, "{voltage}");
    }
    let record = interpreter.take_mixed_solutions();
    assert!(!record.is_empty() && record.iter().all(|m| m.strategy == MixedStrategy::FixedPoint && m.iterations == 2));
}

#[test]
fn a_discrete_loop_settles_or_is_reported() {
    for (negated, expected) in [(false, Status::Ok), (true, Status::Failed)] {
        let mut program = empty_program();
        let a = slot(&mut program, "a", SlotType::Boolean, 0.0);
        let b = slot(&mut program, "b", SlotType::Boolean, 0.0);
        let mut d = Writer::default();
        let (av, bv, one) = (d.load(a), d.load(b), d.constant(1.0));
        // a := b or true, b := a; or else b := not a, a := b: no fixed point
        let (new_a, new_b) =
            if negated { (bv, d.unary(UnaryFn::Not, av)) } else { (d.binary(BinaryFn::Or, bv, one), av) };
        d.store(new_a, a);
        d.store(new_b, b);
        let mut l = simple_loop(&[], Writer::default(), vec![], false);
        l.discrete = Some(d.assign());
        let program = with_block(program, Block::Loop(Arc::new(l)));
        let mut interpreter = Interpreter::new(Arc::new(program.clone()));
        assert_eq!(interpreter.eval(Activation::Events), expected);
        match expected {
            Status::Ok => assert_eq!((interpreter.get(a), interpreter.get(b)), (1.0, 1.0)),
            _ => {
                let message = interpreter.last_failure().map(|f| f.message).unwrap_or_default();
                assert!(message.contains("values of a, b agree"), "{message}");
            }
        }
    }
}

fn local(name: &str, ty: Type) -> Local {
    let sizes = vec![None; ty.rank()];
    Local { name: name.into(), ty, sizes, default: None, span: Span::nowhere() }
}

fn function(name: &str, locals: Vec<Local>, n_inputs: usize, n_outputs: usize, body: Vec<Statement>) -> Function {
    let locals: IdVec<LocalId, Local> = locals.into_iter().collect();
    let ids: Vec<LocalId> = locals.ids().collect();
    Function {
        name: name.into(),
        inputs: ids[..n_inputs].to_vec(),
        outputs: ids[n_inputs..n_inputs + n_outputs].to_vec(),
        locals,
        body,
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

fn statement(kind: StatementKind) -> Statement {
    Statement { kind, span: Span::nowhere() }
}

fn at(function: &IdVec<LocalId, Local>, i: usize) -> Expr {
    let id = function.ids().nth(i).expect("a local");
    Expr::new(ExprKind::Local(id), function[id].ty.clone(), Span::nowhere())
}

/// function f input Real x; output Real y; algorithm assert(x > 0, "too small"); y := x * x + 1;
pub(crate) fn square_function() -> Function {
    let mut f = function("f", vec![local("x", Type::REAL), local("y", Type::REAL)], 1, 1, vec![]);
    let (x, y) = (at(&f.locals, 0), at(&f.locals, 1));
    let number = |v| Expr::real(v, Span::nowhere());
    f.body.push(statement(StatementKind::Assert {
        condition: greater(x.clone(), number(0.0)),
        message: Expr::string("too small", Span::nowhere()),
        level: None,
    }));
    f.body.push(statement(StatementKind::Assign { target: y, value: add(mul(x.clone(), x), number(1.0)) }));
    f
}

fn call_program(x: f64, guarded: bool) -> (SimProgram, SlotId) {
    let mut program = empty_program();
    let (x, y) = (real(&mut program, "x", x), real(&mut program, "y", 0.0));
    let function = program.routines.procedures.push(Arc::new(saltus_procedure::lower(&square_function())));
    let arguments = vec![Argument::Scalars(Type::REAL)];
    let f = program.routines.callables.push(Callable {
        function,
        arguments,
        results: vec![Type::REAL],
        unused: Vec::new(),
        effect: None,
        derivative: None,
    });
    let mut w = Writer::default();
    let (xv, zero) = (w.load(x), w.constant(0.0));
    let k = w.call(f, vec![xv]);
    let result = w.op(Op::Result(k, 0));
    let positive = w.binary(BinaryFn::Greater, xv, zero);
    let chosen = w.op(Op::Select(positive, result, zero));
    w.store(if guarded { chosen } else { result }, y);
    (with_block(program, Block::Assign(w.assign())), y)
}

#[test]
fn a_function_is_called_with_scalars() {
    let (program, y) = call_program(3.0, false);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
    assert_eq!(interpreter.get(y), 10.0);
    assert_eq!(interpreter.loop_statistics().calls, 1);
}

#[test]
fn a_failed_assertion_counts_only_where_its_value_is_used() {
    let (program, y) = call_program(-3.0, true);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok);
    assert_eq!(interpreter.get(y), 0.0);
    let (program, _) = call_program(-3.0, false);
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Failed);
    let message = interpreter.last_failure().map(|f| f.message).unwrap_or_default();
    assert_eq!(message, "in `f`: assertion failed: too small");
}

#[test]
fn arrays_records_and_enumerations_are_taken_apart_and_put_together() {
    // record R Integer n; Boolean b[2]; E e; end R; the function returns its argument, and the array {{x, 2}}
    let mut program = empty_program();
    let e: EnumId =
        program.routines.enumerations.push(EnumType { name: "E".into(), literals: vec!["a".into(), "b".into()] });
    let field = |name: &str, ty| RecordField { name: name.into(), ty };
    let fields = vec![
        field("n", Type::INTEGER),
        field("b", Type::array(BaseType::Boolean, [Dim::Known(2)])),
        field("e", Type::scalar(BaseType::Enumeration(e))),
    ];
    let r: RecordId = program.routines.records.push(RecordType { name: "R".into(), fields });
    let record = Type::scalar(BaseType::Record(r));
    let matrix = Type::array(BaseType::Real, [Dim::Known(1), Dim::Known(2)]);
    let locals = vec![
        local("r", record.clone()),
        local("m", matrix.clone()),
        local("s", record.clone()),
        local("t", matrix.clone()),
    ];
    let mut f = function("same", locals, 2, 2, vec![]);
    for (from, to) in [(0, 2), (1, 3)] {
        let (value, target) = (at(&f.locals, from), at(&f.locals, to));
        f.body.push(statement(StatementKind::Assign { target, value }));
    }
    let function = program.routines.procedures.push(Arc::new(saltus_procedure::lower(&f)));
    let arguments = vec![Argument::Scalars(record.clone()), Argument::Scalars(matrix.clone())];
    assert_eq!((n_scalars(&record, &program, 0), n_scalars(&matrix, &program, 0)), (Some(4), Some(2)));
    let callable = program.routines.callables.push(Callable {
        function,
        arguments,
        results: vec![record, matrix],
        unused: Vec::new(),
        effect: None,
        derivative: None,
    });
    let mut w = Writer::default();
    // n = 6.9999999 is 7 up to rounding
    let given = [6.999_999_9, 0.0, 1.0, 2.0, 0.5, -0.5];
    let arguments = given.iter().map(|&x| w.constant(x)).collect();
    let k = w.call(callable, arguments);
    let results: Vec<SlotId> = (0..6).map(|i| real(&mut program, &format!("y{i}"), 0.0)).collect();
    for (i, &y) in results.iter().enumerate() {
        let value = w.op(Op::Result(k, i as u32));
        w.store(value, y);
    }
    let program = with_block(program, Block::Assign(w.assign()));
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok, "{:?}", interpreter.last_failure());
    let found: Vec<f64> = results.iter().map(|&y| interpreter.get(y)).collect();
    assert_eq!(found, [7.0, 0.0, 1.0, 2.0, 0.5, -0.5]);
}

/// `external "C"` function with these inputs, which it passes on in order.
fn external(name: &str, c_name: &str, inputs: Vec<Type>, output: Type) -> Function {
    let n = inputs.len();
    let mut locals: Vec<Local> = inputs.into_iter().enumerate().map(|(i, ty)| local(&format!("u{i}"), ty)).collect();
    locals.push(local("y", output));
    let mut f = function(name, locals, n, 1, vec![]);
    let arguments = (0..n).map(|i| ExternalArgument::Input(at(&f.locals, i))).collect();
    let result = f.outputs.first().copied();
    f.external = Some(External {
        language: "C".into(),
        name: c_name.into(),
        arguments,
        result,
        libraries: vec![],
        directories: vec![],
        includes: vec![],
        include_directories: vec![],
        destructor: None,
    });
    f
}

#[test]
fn a_table_is_made_once_and_read_through_its_handle() {
    // The interface of ModelicaStandardTables: CombiTable1D_init2(file, table, data, n, m, columns, nColumns, smoothness,
    // extrapolation, verbose) and CombiTable1D_getValue(table, column, u).
    let mut program = empty_program();
    let table = real(&mut program, "table", 0.0);
    let (u, y) = (real(&mut program, "u", 2.5), real(&mut program, "y", 0.0));
    let class: FunctionId = program.routines.procedures.next_id();
    let object = Type::scalar(BaseType::ExternalObject(class));
    let data = Type::array(BaseType::Real, [Dim::Known(3), Dim::Known(2)]);
    let columns = Type::array(BaseType::Integer, [Dim::Known(1)]);
    let (text, int) = (Type::STRING, Type::INTEGER);
    let constructor_inputs = vec![
        text.clone(),
        text.clone(),
        data.clone(),
        int.clone(),
        int.clone(),
        columns.clone(),
        int.clone(),
        int.clone(),
        int.clone(),
        Type::BOOLEAN,
    ];
    program.routines.procedures.push(Arc::new(saltus_procedure::lower(&external(
        "Table",
        "ModelicaStandardTables_CombiTable1D_init2",
        constructor_inputs,
        object.clone(),
    ))));
    let read = program.routines.procedures.push(Arc::new(saltus_procedure::lower(&external(
        "getValue",
        "ModelicaStandardTables_CombiTable1D_getValue",
        vec![object.clone(), int.clone(), Type::REAL],
        Type::REAL,
    ))));
    let none = Argument::Text("NoName".into());
    let scalars = Argument::Scalars;
    let arguments = vec![
        none.clone(),
        none,
        scalars(data),
        scalars(int.clone()),
        scalars(int.clone()),
        scalars(columns),
        scalars(int.clone()),
        scalars(int.clone()),
        scalars(int.clone()),
        scalars(Type::BOOLEAN),
    ];
    let make = program.routines.callables.push(Callable {
        function: class,
        arguments,
        results: vec![object],
        unused: Vec::new(),
        effect: None,
        derivative: None,
    });
    let arguments = vec![Argument::Object(table), scalars(int), scalars(Type::REAL)];
    let get = program.routines.callables.push(Callable {
        function: read,
        arguments,
        results: vec![Type::REAL],
        unused: Vec::new(),
        effect: None,
        derivative: None,
    });
    let mut w = Writer::default();
    // y = 0 at 0, 10 at 1, 40 at 4; linear, column 2
    let given = [0.0, 0.0, 1.0, 10.0, 4.0, 40.0, 3.0, 2.0, 2.0, 1.0, 1.0, 2.0, 0.0];
    let arguments = given.iter().map(|&x| w.constant(x)).collect();
    let k = w.call(make, arguments);
    let handle = w.op(Op::Result(k, 0));
    w.store(handle, table);
    program.sections.parameters.blocks.push(Block::Assign(w.assign()));
    let mut w = Writer::default();
    let (one, uv) = (w.constant(1.0), w.load(u));
    let k = w.call(get, vec![one, uv]);
    let value = w.op(Op::Result(k, 0));
    w.store(value, y);
    let program = with_block(program, Block::Assign(w.assign()));
    let mut interpreter = Interpreter::new(Arc::new(program.clone()));
    // Without the table there is a message, not a wrong answer.
    interpreter.set(table, -1.0);
    assert_eq!(interpreter.eval(Activation::Events), Status::Failed);
    assert_eq!(interpreter.eval(Activation::Parameters), Status::Ok, "{:?}", interpreter.last_failure());
    assert_eq!(interpreter.eval(Activation::Events), Status::Ok, "{:?}", interpreter.last_failure());
    // 10 + 30/3 · 1.5
    assert!((interpreter.get(y) - 25.0).abs() < 1e-12, "{}", interpreter.get(y));
}
