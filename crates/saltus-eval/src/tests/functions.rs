//! Function bodies: every kind of statement, locals, recursion, limits.

use saltus_base::Index as _;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Dim, Expr, ExprKind, LocalId, Statement, StatementKind, Subscript, Type,
};

use super::builder::*;
use super::{World, nowhere};
use crate::{EvalError, EvalResult, Evaluator, FunctionValue, Limits, Value};

const INT: Type = Type::INTEGER;
const REAL: Type = Type::REAL;

fn run(world: &mut World, f: saltus_flat::FunctionId, args: Vec<Value>) -> EvalResult<Vec<Value>> {
    Evaluator::new(world, Limits::default()).call(f, args, nowhere())
}

fn one(world: &mut World, f: saltus_flat::FunctionId, args: Vec<Value>) -> Value {
    run(world, f, args).expect("has a value").swap_remove(0)
}

fn code(result: EvalResult<Vec<Value>>) -> &'static str {
    match result {
        Err(EvalError::Failed(d)) => d.code.0,
        other => panic!("no failure but {other:?}"),
    }
}

fn add(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Add, a, b)
}

fn for_loop(i: LocalId, range: Expr, body: Vec<Statement>) -> Statement {
    statement(StatementKind::For { local: i, range, body })
}

fn if_then(condition: Expr, body: Vec<Statement>) -> Statement {
    statement(StatementKind::If { branches: vec![(condition, body)], otherwise: vec![] })
}

/// `y := 0; for i in 1:n loop if i > 4 then break; end if; y := y + x[i]; end for;`
#[test]
fn loops_with_break_and_indexing() {
    let mut world = World::default();
    let mut f = function("f");
    let x = f.input("x", unknown(BaseType::Real, 1));
    let y = f.output("y", REAL);
    let i = f.variable("i", INT);
    let size = builtin(Builtin::Size, vec![local(x, unknown(BaseType::Real, 1)), int(1)], INT);
    let each = for_loop(
        i,
        range(int(1), None, size),
        vec![
            if_then(binary(BinaryOp::Greater, local(i, INT), int(4)), vec![statement(StatementKind::Break)]),
            assign(local(y, REAL), add(local(y, REAL), at(local(x, unknown(BaseType::Real, 1)), local(i, INT)))),
        ],
    );
    let body = vec![assign(local(y, REAL), real(0.0)), each];
    let f = f.body(&mut world, body);
    assert_eq!(one(&mut world, f, vec![Value::reals(vec![1.0, 2.0, 3.0])]), Value::Real(6.0));
    assert_eq!(one(&mut world, f, vec![Value::reals(vec![1.0; 9])]), Value::Real(4.0));
}

/// `while y < n loop y := 2*y; end while; return; y := -1;`
#[test]
fn while_and_return() {
    let mut world = World::default();
    let mut f = function("f");
    let n = f.input("n", INT);
    let y = f.output("y", INT);
    f.set_default(y, int(1));
    let double = assign(local(y, INT), binary(BinaryOp::Mul, int(2), local(y, INT)));
    let condition = binary(BinaryOp::Less, local(y, INT), local(n, INT));
    let f = f.body(
        &mut world,
        vec![
            statement(StatementKind::While { condition, body: vec![double] }),
            statement(StatementKind::Return),
            assign(local(y, INT), int(-1)),
        ],
    );
    assert_eq!(one(&mut world, f, vec![Value::Integer(100)]), Value::Integer(128));
}

#[test]
fn if_statements_take_the_first_true_branch() {
    let mut world = World::default();
    let mut f = function("f");
    let n = f.input("n", INT);
    let y = f.output("y", Type::STRING);
    let is = |k: i64, text: &str| {
        (binary(BinaryOp::Less, local(n, INT), int(k)), vec![assign(local(y, Type::STRING), string(text))])
    };
    let branches = vec![is(0, "negative"), is(10, "small")];
    let otherwise = vec![assign(local(y, Type::STRING), string("large"))];
    let f = f.body(&mut world, vec![statement(StatementKind::If { branches, otherwise })]);
    for (n, text) in [(-1, "negative"), (5, "small"), (10, "large")] {
        assert_eq!(one(&mut world, f, vec![Value::Integer(n)]), Value::string(text));
    }
}

/// `(a, , c) := g(x)` with three results, and `b` from the first only.
#[test]
fn several_results() {
    let mut world = World::default();
    let mut g = function("g");
    let x = g.input("x", INT);
    let outs: Vec<LocalId> = (1..=3).map(|k| g.output(&format!("y{k}"), INT)).collect();
    let body = outs.iter().zip(1..).map(|(&o, k)| assign(local(o, INT), add(local(x, INT), int(k)))).collect();
    let g = g.body(&mut world, body);
    let mut f = function("f");
    let (a, b, c) = (f.output("a", INT), f.output("b", INT), f.output("c", INT));
    let targets = expr(ExprKind::Tuple(vec![Some(local(a, INT)), None, Some(local(c, INT))]), INT);
    let call_g = || call(g, vec![int(10)], INT);
    let f = f.body(&mut world, vec![assign(targets, call_g()), assign(local(b, INT), call_g())]);
    assert_eq!(run(&mut world, f, vec![]), Ok(vec![Value::Integer(11), Value::Integer(11), Value::Integer(13)]));
}

/// A local array sized by an input, filled element by element, with slices and nested records.
#[test]
fn assignment_to_parts() {
    let mut world = World::default();
    let matrix = || unknown(BaseType::Integer, 2);
    let mut f = function("f");
    let n = f.input("n", INT);
    let m = f.output("m", matrix());
    f.set_sizes(m, vec![Some(local(n, INT)), Some(int(2))]);
    let i = f.variable("i", INT);
    let target = index(local(m, matrix()), vec![Subscript::Index(local(i, INT)), Subscript::All]);
    let row = array(vec![local(i, INT), binary(BinaryOp::Mul, local(i, INT), local(i, INT))]);
    let f = f.body(&mut world, vec![for_loop(i, range(int(1), None, local(n, INT)), vec![assign(target, row)])]);
    let result = one(&mut world, f, vec![Value::Integer(3)]);
    assert_eq!((result.dims(), result.to_integers()), (&[3, 2][..], Some(vec![1, 1, 2, 4, 3, 9])));

    // R q[2]; q[2].y[1] := 5; q.x := {1, 2}; q[1].y := {3, 4};
    let record = || Type::array(BaseType::Record(r()), [Dim::Known(2)]);
    let mut f = function("g");
    let q = f.output("q", record());
    let y_of = |k| field(at(local(q, record()), int(k)), 1, reals(2));
    let f = f.body(
        &mut world,
        vec![
            assign(at(y_of(2), int(1)), real(5.0)),
            assign(field(local(q, record()), 0, reals(2)), vector(&[1.0, 2.0])),
            assign(y_of(1), vector(&[3.0, 4.0])),
        ],
    );
    let record = |x: f64, y: Vec<f64>| Value::record(r(), vec![Value::Real(x), Value::reals(y)]);
    let result = one(&mut world, f, vec![]);
    assert_eq!(result.elements(), [record(1.0, vec![3.0, 4.0]), record(2.0, vec![5.0, 0.0])]);
}

#[test]
fn assignments_are_checked() {
    let mut world = World::default();
    let mut f = function("f");
    let x = f.output("x", reals(2));
    let i = f.input("i", INT);
    let f = f.body(&mut world, vec![assign(at(local(x, reals(2)), local(i, INT)), real(1.0))]);
    assert_eq!(one(&mut world, f, vec![Value::Integer(2)]), Value::reals(vec![0.0, 1.0]));
    assert_eq!(code(run(&mut world, f, vec![Value::Integer(3)])), "E0603");
    let mut g = function("g");
    let x = g.output("x", reals(2));
    let g = g.body(&mut world, vec![assign(local(x, reals(2)), vector(&[1.0, 2.0, 3.0]))]);
    assert_eq!(code(run(&mut world, g, vec![])), "E0610");
}

/// `protected Integer a = b + 1; Integer b = 2;`: declarations in any order; a cycle is reported.
#[test]
fn initial_values_refer_to_each_other() {
    let mut world = World::default();
    let mut f = function("f");
    let y = f.output("y", INT);
    let (a, b) = (f.variable("a", INT), f.variable("b", INT));
    f.set_default(y, add(local(a, INT), int(10)));
    f.set_default(a, add(local(b, INT), int(1)));
    f.set_default(b, int(2));
    let f = f.body(&mut world, vec![]);
    assert_eq!(one(&mut world, f, vec![]), Value::Integer(13));
    let mut g = function("g");
    let y = g.output("y", INT);
    g.set_default(y, add(local(y, INT), int(1)));
    let g = g.body(&mut world, vec![]);
    assert_eq!(code(run(&mut world, g, vec![])), "E0616");
}

#[test]
fn arguments_defaults_and_sizes_of_inputs() {
    let mut world = World::default();
    let mut f = function("f");
    let vec_ty = || unknown(BaseType::Real, 1);
    let (x, y) = (f.input("x", vec_ty()), f.input("y", vec_ty()));
    let size_x = builtin(Builtin::Size, vec![local(x, vec_ty()), int(1)], INT);
    f.set_sizes(y, vec![Some(size_x.clone())]);
    f.set_default(y, builtin(Builtin::Fill, vec![real(1.0), size_x], vec_ty()));
    let z = f.output("z", vec_ty());
    let f = f.body(&mut world, vec![assign(local(z, vec_ty()), add(local(x, vec_ty()), local(y, vec_ty())))]);
    let v = |items: &[f64]| Value::reals(items.to_vec());
    assert_eq!(one(&mut world, f, vec![v(&[1.0, 2.0]), v(&[3.0, 4.0])]), v(&[4.0, 6.0]));
    assert_eq!(one(&mut world, f, vec![v(&[1.0, 2.0])]), v(&[2.0, 3.0]));
    assert_eq!(code(run(&mut world, f, vec![v(&[1.0, 2.0]), v(&[3.0])])), "E0610");
    assert_eq!(code(run(&mut world, f, vec![Value::Real(0.0), Value::Real(0.0), Value::Real(0.0)])), "E0613");
    assert!(matches!(run(&mut world, f, vec![]), Err(EvalError::NotConstant { .. })));
}

/// `f(n) = if n <= 1 then 1 else n*f(n-1)`
fn factorial(world: &mut World) -> saltus_flat::FunctionId {
    let id = saltus_flat::FunctionId::from_usize(world.functions.len());
    let mut f = function("factorial");
    let n = f.input("n", INT);
    let y = f.output("y", INT);
    let recursive = call(id, vec![binary(BinaryOp::Sub, local(n, INT), int(1))], INT);
    let value = when_true(
        binary(BinaryOp::LessEqual, local(n, INT), int(1)),
        int(1),
        binary(BinaryOp::Mul, local(n, INT), recursive),
    );
    f.body(world, vec![assign(local(y, INT), value)])
}

#[test]
fn recursion_and_its_limit() {
    let mut world = World::default();
    let f = factorial(&mut world);
    assert_eq!(one(&mut world, f, vec![Value::Integer(10)]), Value::Integer(3_628_800));
    assert_eq!(code(run(&mut world, f, vec![Value::Integer(i64::MAX)])), "E0605");
}

/// Calls inside statements inside calls reach the limit of nesting, not the end of the stack.
#[test]
fn nesting_of_everything_is_bounded() {
    let mut world = World::default();
    let id = saltus_flat::FunctionId::from_usize(0);
    let mut f = function("f");
    let n = f.input("n", INT);
    let y = f.output("y", INT);
    let nested = (0..5).fold(call(id, vec![local(n, INT)], INT), |e, _| builtin(Builtin::Abs, vec![e], INT));
    let inner = if_then(boolean(true), vec![assign(local(y, INT), nested)]);
    let f = f.body(&mut world, vec![if_then(boolean(true), vec![inner])]);
    assert_eq!(code(run(&mut world, f, vec![Value::Integer(1)])), "E0605");
}

#[test]
fn endless_loops_end_at_the_step_limit() {
    let mut world = World::default();
    let mut f = function("Lib.endless");
    let y = f.output("y", INT);
    let forever = StatementKind::While { condition: boolean(true), body: vec![assign(local(y, INT), int(1))] };
    let f = f.body(&mut world, vec![statement(forever)]);
    let limits = Limits { steps: 10_000, ..Limits::default() };
    let Err(EvalError::Failed(d)) = Evaluator::new(&mut world, limits).call(f, vec![], nowhere()) else {
        panic!("must fail");
    };
    assert_eq!((d.code.0, d.message.as_str()), ("E0604", "evaluation of `Lib.endless` took more than 10000 steps"));
    let mut g = function("empty");
    let i = g.variable("i", INT);
    let g = g.body(&mut world, vec![for_loop(i, range(int(1), None, int(i64::MAX)), vec![])]);
    assert_eq!(code(Evaluator::new(&mut world, limits).call(g, vec![], nowhere())), "E0604");
}

#[test]
fn asserts_fail_or_warn() {
    let mut world = World::default();
    let mut f = function("f");
    let x = f.input("x", INT);
    let y = f.output("y", INT);
    let level = f.input("level", Type::scalar(BaseType::Enumeration(e())));
    let message = add(string("x = "), builtin(Builtin::ToString, vec![local(x, INT)], Type::STRING));
    let check = StatementKind::Assert {
        condition: binary(BinaryOp::Greater, local(x, INT), int(0)),
        message,
        level: Some(local(level, Type::scalar(BaseType::Enumeration(e())))),
    };
    let f = f.body(&mut world, vec![statement(check), assign(local(y, INT), local(x, INT))]);
    let mut evaluator = Evaluator::new(&mut world, Limits::default());
    let mut call = |x: i64, level: u32| evaluator.call(f, vec![Value::Integer(x), Value::Enum(e(), level)], nowhere());
    assert_eq!(call(1, 2), Ok(vec![Value::Integer(1)]));
    let Err(EvalError::Failed(d)) = call(-1, 2) else { panic!("must fail") };
    assert_eq!((d.code.0, d.message.as_str()), ("E0607", "assertion failed: x = -1"));
    // AssertionLevel.warning is the first literal.
    assert_eq!(call(-1, 1), Ok(vec![Value::Integer(-1)]));
    let warnings = evaluator.take_warnings();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].code.0, "W0607");
}

/// `apply(g, x) = g(x) + 1` with `g = power(·, n = 3)`.
#[test]
fn functions_as_arguments_with_bound_inputs() {
    let mut world = World::default();
    let mut p = function("power");
    let (n, x) = (p.input("n", INT), p.input("x", REAL));
    let y = p.output("y", REAL);
    let p = p.body(&mut world, vec![assign(local(y, REAL), binary(BinaryOp::Pow, local(x, REAL), local(n, INT)))]);
    let mut f = function("apply");
    let (g, x) = (f.input("g", Type::scalar(BaseType::Function)), f.input("x", REAL));
    let y = f.output("y", REAL);
    let called = expr(ExprKind::CallLocal { function: g, arguments: vec![local(x, REAL)] }, REAL);
    let f = f.body(&mut world, vec![assign(local(y, REAL), add(called, real(1.0)))]);
    let reference =
        expr(ExprKind::FunctionRef { function: p, bound: vec![(0, int(3))] }, Type::scalar(BaseType::Function));
    let expression = call(f, vec![reference.clone(), real(2.0)], REAL);
    let mut evaluator = Evaluator::new(&mut world, Limits::default());
    assert_eq!(evaluator.evaluate(&expression), Ok(Value::Real(9.0)));
    let Ok(Value::Function(FunctionValue { function, bound })) = evaluator.evaluate(&reference) else {
        panic!("must be a function");
    };
    assert_eq!((function, bound.as_slice()), (p, &[(0, Value::Integer(3))][..]));
}

#[test]
fn record_constructors() {
    let mut world = World::default();
    let mut c = function("R");
    c.input("x", REAL);
    let y = c.input("y", reals(2));
    c.set_default(y, vector(&[7.0, 8.0]));
    c.output("r", Type::scalar(BaseType::Record(r())));
    let c = c.record_constructor(&mut world);
    let result = one(&mut world, c, vec![Value::Integer(1)]);
    assert_eq!(result, Value::record(r(), vec![Value::Real(1.0), Value::reals(vec![7.0, 8.0])]));
}

#[test]
fn unknown_external_functions_have_no_value() {
    let mut world = World::default();
    let mut f = function("f");
    let y = f.output("y", REAL);
    let f = f.external(&mut world, "mydummyfunc", vec![], Some(y));
    let Err(EvalError::NotConstant { what, .. }) = run(&mut world, f, vec![]) else { panic!("must not be constant") };
    assert_eq!(what, "the external function `mydummyfunc`");
}

/// Filling an array is linear: 100 000 elements stay far below the step limit and finish at once.
#[test]
fn filling_an_array_does_not_copy_it() {
    let mut world = World::default();
    let mut f = function("f");
    let n = f.input("n", INT);
    let x = f.output("x", unknown(BaseType::Real, 1));
    f.set_sizes(x, vec![Some(local(n, INT))]);
    let i = f.variable("i", INT);
    let vec_ty = || unknown(BaseType::Real, 1);
    let previous = at(local(x, vec_ty()), binary(BinaryOp::Sub, local(i, INT), int(1)));
    let step = assign(at(local(x, vec_ty()), local(i, INT)), add(previous, real(1.0)));
    let f = f.body(&mut world, vec![for_loop(i, range(int(2), None, local(n, INT)), vec![step])]);
    let start = std::time::Instant::now();
    let result = one(&mut world, f, vec![Value::Integer(100_000)]);
    assert_eq!(result.as_array().and_then(|a| a.get(99_999)), Some(Value::Real(99_999.0)));
    // A copy for each element would take 100 000 * 100 000 moves, minutes instead of milliseconds.
    assert!(start.elapsed().as_secs() < 10);
}

/// `s := s + s` and `x := cat(1, x, x)` in a loop stop long before the memory is full.
#[test]
fn doubling_is_stopped() {
    let mut world = World::default();
    let mut f = function("f");
    let s = f.output("s", Type::STRING);
    f.set_default(s, string("ab"));
    let i = f.variable("i", INT);
    let double = assign(local(s, Type::STRING), add(local(s, Type::STRING), local(s, Type::STRING)));
    let f = f.body(&mut world, vec![for_loop(i, range(int(1), None, int(100)), vec![double])]);
    assert_eq!(code(run(&mut world, f, vec![])), "E0606");
    let vec_ty = || unknown(BaseType::Integer, 1);
    let mut g = function("g");
    let x = g.output("x", vec_ty());
    g.set_default(x, ints(&[1, 2]));
    let i = g.variable("i", INT);
    let twice = builtin(Builtin::Cat, vec![int(1), local(x, vec_ty()), local(x, vec_ty())], vec_ty());
    let g =
        g.body(&mut world, vec![for_loop(i, range(int(1), None, int(100)), vec![assign(local(x, vec_ty()), twice)])]);
    assert_eq!(code(run(&mut world, g, vec![])), "E0606");
}

/// A column times a row of a million elements each has too many elements.
#[test]
fn huge_products_are_refused() {
    let zeros =
        |rows: i64, columns: i64| builtin(Builtin::Zeros, vec![int(rows), int(columns)], unknown(BaseType::Real, 2));
    let product = binary(BinaryOp::MatMul, zeros(1_000_000, 1), zeros(1, 1_000_000));
    let Err(EvalError::Failed(d)) = super::evaluate(&product) else { panic!("must fail") };
    assert_eq!(d.code.0, "E0606");
}
