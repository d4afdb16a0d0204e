//! Lowering: what comes out, and that the verifier accepts it and nothing else.

use saltus_base::{IdVec, Index as _, Span};
use saltus_flat::build::{add, mul};
use saltus_flat::{
    self as flat, BaseType, Builtin, Dim, Expr, ExprKind, Function, LocalId, Purity, Statement, StatementKind, Type,
};

use crate::{
    Body, Callee, Literal, Op, Operand, Procedure, Register, Step, lower, lower_expression, lower_template, verify,
};

fn nowhere() -> Span {
    Span::nowhere()
}

fn register(i: usize) -> Register {
    Register::from_usize(i)
}

fn declared(name: &str, default: Option<Expr>) -> flat::Local {
    flat::Local { name: name.into(), ty: Type::REAL, sizes: vec![], default, span: nowhere() }
}

fn local(i: usize) -> Expr {
    Expr::new(ExprKind::Local(LocalId::from_usize(i)), Type::REAL, nowhere())
}

fn real(x: f64) -> Expr {
    Expr::real(x, nowhere())
}

fn assign(target: Expr, value: Expr) -> Statement {
    Statement { kind: StatementKind::Assign { target, value }, span: nowhere() }
}

/// `function f input Real x; output Real y; protected Real z = …; algorithm … end f;`
fn function(z: Option<Expr>, body: Vec<Statement>) -> Function {
    let locals: IdVec<LocalId, flat::Local> =
        [declared("x", None), declared("y", Some(local(2))), declared("z", z)].into_iter().collect();
    Function {
        name: "f".into(),
        locals,
        inputs: vec![LocalId::from_usize(0)],
        outputs: vec![LocalId::from_usize(1)],
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
        span: nowhere(),
    }
}

fn steps(procedure: &Procedure) -> &[Step] {
    match &procedure.body {
        Body::Statements(block) => block,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_assignment_is_three_address_code() {
    // y := x*x + z, with temporaries behind the three locals.
    let body = vec![assign(local(1), add(mul(local(0), local(0)), local(2)))];
    let procedure = lower(&function(Some(real(1.0)), body));
    let [
        Step::Compute { to: t1, op: Op::Binary(_, a, b), .. },
        Step::Compute { to: t2, op: Op::Binary(_, c, d), .. },
        Step::Assign { target, value, .. },
    ] = steps(&procedure)
    else {
        panic!("{procedure:?}");
    };
    assert_eq!((a, b), (&Operand::Local(register(0)), &Operand::Local(register(0))));
    assert_eq!((c, d), (&Operand::Temporary(*t1), &Operand::Local(register(2))));
    assert_eq!((*target, value), (register(1), &Operand::Temporary(*t2)));
    assert_eq!(procedure.n_registers, 5);
    assert_eq!(verify(&procedure), Vec::<String>::new());
}

#[test]
fn declarations_come_after_those_they_refer_to() {
    // y = z is declared before z.
    let procedure = lower(&function(Some(local(0)), vec![]));
    assert_eq!(procedure.initial, [register(0), register(2), register(1)]);
    assert_eq!(procedure.n_before_check, 1);
    assert_eq!(verify(&procedure), Vec::<String>::new());
}

#[test]
fn a_declaration_that_needs_itself_has_its_place_all_the_same() {
    let procedure = lower(&function(Some(local(1)), vec![]));
    assert_eq!(procedure.initial.len(), 3);
    assert_eq!(verify(&procedure), Vec::<String>::new());
}

#[test]
fn literal_arrays_are_constants() {
    let ty = Type::array(BaseType::Real, [Dim::Known(2)]);
    let array = Expr::new(ExprKind::Array(vec![real(1.0), Expr::integer(2, nowhere())]), ty, nowhere());
    let expression = lower_expression(&array);
    let [Step::Compute { op: Op::Literal(literal), .. }] = expression.code.block.as_slice() else {
        panic!("{expression:?}");
    };
    assert_eq!(literal, &Literal::Reals { dims: vec![2], items: vec![1.0, 2.0] });
}

#[test]
fn sizes_that_are_known_need_no_array() {
    let call = Expr::new(
        ExprKind::Call { function: flat::FunctionId::from_usize(0), arguments: vec![] },
        Type::array(BaseType::Real, [Dim::Known(7), Dim::Unknown]),
        nowhere(),
    );
    let size = |d: i64| {
        Expr::builtin(Builtin::Size, vec![call.clone(), Expr::integer(d, nowhere())], Type::INTEGER, nowhere())
    };
    let known = lower_expression(&size(1));
    assert_eq!((known.code.block.len(), &known.code.value), (0, &Operand::Integer(7)));
    let unknown = lower_expression(&size(2));
    assert!(matches!(unknown.code.block.first(), Some(Step::Call { callee: Callee::Function(_), .. })));
}

#[test]
fn a_text_with_holes_is_a_procedure() {
    // String(⟨hole 0⟩) + "!"
    let number = Expr::builtin(Builtin::ToString, vec![local(0)], Type::STRING, nowhere());
    let text = Expr::new(
        ExprKind::Binary(flat::BinaryOp::Add, Box::new(number), Box::new(Expr::string("!", nowhere()))),
        Type::STRING,
        nowhere(),
    );
    let procedure = lower_template("String", &[Type::REAL], &text);
    assert_eq!((procedure.inputs.as_slice(), procedure.outputs.as_slice()), (&[register(0)][..], &[register(1)][..]));
    assert_eq!(verify(&procedure), Vec::<String>::new());
}

#[test]
fn deep_expressions_are_lowered_without_deep_recursion() {
    let mut expr = local(0);
    for _ in 0..100_000 {
        expr = Expr::new(ExprKind::Unary(flat::UnaryOp::Negate, Box::new(expr)), Type::REAL, nowhere());
    }
    let expression = lower_expression(&expr);
    assert!(matches!(expression.code.block.first(), Some(Step::Compute { op: Op::TooDeep, .. })));
    // Its own destructor would recurse.
    while let ExprKind::Unary(_, inner) = expr.kind {
        expr = *inner;
    }
}

#[test]
fn the_verifier_finds_what_is_broken() {
    let body = vec![assign(local(1), add(mul(local(0), local(0)), local(2)))];
    let good = lower(&function(Some(real(1.0)), body));
    let broken = |change: &dyn Fn(&mut Procedure)| {
        let mut procedure = good.clone();
        change(&mut procedure);
        !verify(&procedure).is_empty()
    };
    let block = |procedure: &mut Procedure, change: &dyn Fn(&mut Vec<Step>)| match &mut procedure.body {
        Body::Statements(block) => change(block),
        other => panic!("{other:?}"),
    };
    assert!(broken(&|p| p.n_registers = 2), "fewer registers than locals");
    assert!(broken(&|p| p.outputs = vec![register(9)]), "an output that is not a local");
    assert!(broken(&|p| p.initial.truncate(1)), "a local without initial value");
    assert!(broken(&|p| block(p, &|b| b.swap(0, 1))), "a temporary that is read before it is set");
    assert!(broken(&|p| block(p, &|b| b.push(b[2].clone()))), "a temporary that is read twice");
    assert!(broken(&|p| block(p, &|b| b.push(Step::Break))), "`break` outside of a loop");
    assert!(!broken(&|_| {}));
}
