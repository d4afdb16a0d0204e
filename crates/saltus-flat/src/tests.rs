//! Printing, counting and verifying hand-built models.

use saltus_base::{Index, Span};

use crate::build::*;
use crate::count::{ComponentBalance, CountProblemKind, component_of};
use crate::print_expr::{print_real, print_string};
use crate::*;

/// height h and speed v, restitution e
fn ball() -> Builder {
    let mut b = Builder::new("Ball");
    b.model.description = "a \"bouncing\" ball".into();
    let e = b.parameter("e", 0.8);
    let (h, v) = (b.real("h"), b.real("v"));
    let n = b.integer("n");
    b.start(h, 1.0, true);
    b.model.variables[h].description = "height".into();
    b.equation(der(b.var(h)), b.var(v));
    b.equation(der(b.var(v)), real(-9.81));
    let bounce = reinit(b.var(v), mul(negate(b.var(e)), pre(b.var(v))));
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    b.when(less(b.var(h), real(0.0)), vec![bounce, count]);
    b.model.experiment.stop_time = Some(3.0);
    b
}

#[test]
fn a_model_prints_as_modelica() {
    let expected = r#"class Ball "a \"bouncing\" ball"
  parameter Real e = 0.8;
  Real h(start = 1.0, fixed = true) "height";
  Real v;
  Integer n;
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0.0 then
    reinit(v, (-e) * pre(v));
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 3.0));
end Ball;
"#;
    assert_eq!(print(&ball().model), expected);
}

#[test]
fn used_types_and_functions_follow_the_class() {
    let mut b = Builder::new("M");
    let color =
        b.model.enumerations.push(EnumType { name: "Color".into(), literals: vec!["red".into(), "blue".into()] });
    b.model.enumerations.push(EnumType { name: "Unused".into(), literals: vec!["a".into()] });
    let c = b.declare("c", Type::scalar(BaseType::Enumeration(color)), Variability::Discrete);
    let ty = Type::scalar(BaseType::Enumeration(color));
    b.model.variables[c].binding = Some(Expr::new(ExprKind::EnumLiteral(color, 2), ty, Span::nowhere()));
    let square = add_square(&mut b);
    let x = b.real("x");
    let call = Expr::new(ExprKind::Call { function: square, arguments: vec![time()] }, Type::REAL, Span::nowhere());
    b.equation(b.var(x), call);
    let expected = "class M
  Color c = Color.blue;
  Real x;
equation
  x = square(time);
end M;

type Color = enumeration(red, blue);

function square
  input Real u;
  output Real y;
algorithm
  y := u * u;
  annotation(Inline = true);
end square;
";
    assert_eq!(verify(&b.model), Ok(()));
    assert_eq!(print(&b.model), expected);
}

fn add_square(b: &mut Builder) -> FunctionId {
    let local =
        |name: &str| Local { name: name.into(), ty: Type::REAL, sizes: vec![], default: None, span: Span::nowhere() };
    let mut locals = saltus_base::IdVec::new();
    let (u, y) = (locals.push(local("u")), locals.push(local("y")));
    let at = |id| Expr::new(ExprKind::Local(id), Type::REAL, Span::nowhere());
    let assign = StatementKind::Assign { target: at(y), value: mul(at(u), at(u)) };
    b.model.functions.push(Function {
        name: "square".into(),
        locals,
        inputs: vec![u],
        outputs: vec![y],
        body: vec![Statement { kind: assign, span: Span::nowhere() }],
        external: None,
        purity: Purity::Pure,
        is_record_constructor: false,
        derivatives: vec![],
        inverses: vec![],
        inline: true,
        late_inline: false,
        inline_after_index_reduction: false,
        smooth_order: None,
        generate_events: false,
        span: Span::nowhere(),
    })
}

#[test]
fn parentheses_appear_where_the_grammar_needs_them() {
    let mut b = Builder::new("M");
    let ids: Vec<VarId> = ["a", "b", "c"].iter().map(|n| b.real(n)).collect();
    let v = |i: usize| b.var(ids[i]);
    let pow = |l, r| binary(BinaryOp::Pow, l, r);
    let cases = [
        (sub(v(0), sub(v(1), v(2))), "a - (b - c)"),
        (sub(sub(v(0), v(1)), v(2)), "a - b - c"),
        (mul(add(v(0), v(1)), v(2)), "(a + b) * c"),
        (div(v(0), mul(v(1), v(2))), "a / (b * c)"),
        (negate(mul(v(0), v(1))), "-a * b"),
        (add(negate(v(0)), v(1)), "-a + b"),
        (add(v(0), negate(v(1))), "a + (-b)"),
        (negate(negate(v(0))), "-(-a)"),
        (mul(v(0), real(-2.0)), "a * (-2.0)"),
        (pow(pow(v(0), v(1)), v(2)), "(a^b)^c"),
        (negate(pow(v(0), real(2.0))), "-a^2.0"),
        (not(less(v(0), v(1))), "not a < b"),
        (binary(BinaryOp::And, not(less(v(0), v(1))), boolean(true)), "not a < b and true"),
        (not(binary(BinaryOp::Or, boolean(true), boolean(false))), "not (true or false)"),
        (add(v(0), if_then_else(boolean(true), v(1), v(2))), "a + (if true then b else c)"),
        (
            if_then_else(boolean(true), v(0), if_then_else(boolean(false), v(1), v(2))),
            "if true then a elseif false then b else c",
        ),
    ];
    for (expr, text) in cases {
        assert_eq!(print_expr(&ModelNames::new(&b.model), &expr), text);
    }
}

#[test]
fn literals_tell_their_type() {
    for (value, text) in [(1.0, "1.0"), (1e-6, "1e-6"), (0.1, "0.1"), (1e300, "1e300"), (-2.5, "-2.5")] {
        assert_eq!(print_real(value), text);
        assert_eq!(text.parse::<f64>().ok(), Some(value));
    }
    assert_eq!(print_string("a\"b\\\n"), r#""a\"b\\\n""#);
}

#[test]
fn elementwise_operators_have_a_dot_where_it_matters() {
    let mut b = Builder::new("M");
    let vector = Type::array(BaseType::Real, [Dim::Known(3)]);
    let (x, y, s) = (
        b.declare("x", vector.clone(), Variability::Continuous),
        b.declare("y", vector, Variability::Continuous),
        b.real("s"),
    );
    let names = ModelNames::new(&b.model);
    let product = binary(BinaryOp::MatMul, b.var(x), b.var(y));
    for (expr, text) in [
        (mul(b.var(x), b.var(y)), "x .* y"),
        (mul(b.var(s), b.var(y)), "s * y"),
        (add(b.var(x), b.var(s)), "x .+ s"),
        (add(b.var(x), b.var(y)), "x + y"),
        (div(b.var(s), b.var(x)), "s ./ x"),
        (product, "x * y"),
    ] {
        assert_eq!(print_expr(&names, &expr), text);
    }
}

#[test]
fn a_long_sum_does_not_exhaust_the_stack_when_printed() {
    let sum = (0..2_000).fold(real(0.0), |sum, _| add(sum, real(1.0)));
    let b = Builder::new("M");
    assert_eq!(print_expr(&ModelNames::new(&b.model), &sum).matches('+').count(), 2_000);
}

#[test]
fn the_ball_is_balanced() {
    let balance = balance(&ball().model);
    assert_eq!((balance.equations, balance.unknowns), (3, 3));
    assert!(balance.is_balanced());
}

#[test]
fn a_missing_equation_is_found_in_its_component() {
    let mut b = Builder::new("M");
    let x = b.declare("a.x", Type::array(BaseType::Real, [Dim::Known(2)]), Variability::Continuous);
    b.real("b.y");
    let zeros = Expr::builtin(Builtin::Zeros, vec![integer(2)], b.var(x).ty, Span::nowhere());
    let mut equation = equality(b.var(x), zeros);
    equation.component = "a".into();
    b.model.equations.push(equation);
    let balance = balance(&b.model);
    assert_eq!((balance.equations, balance.unknowns), (2, 3));
    assert_eq!(
        balance.components,
        [
            ComponentBalance { name: "a".into(), equations: 2, unknowns: 2 },
            ComponentBalance { name: "b".into(), equations: 0, unknowns: 1 },
        ]
    );
}

#[test]
fn branches_must_agree() {
    let mut b = Builder::new("M");
    let (x, y) = (b.real("x"), b.real("y"));
    let if_equation = equation(EquationKind::If {
        branches: vec![(boolean(true), vec![equality(b.var(x), real(1.0)), equality(b.var(y), real(1.0))])],
        otherwise: vec![equality(b.var(x), real(2.0))],
    });
    let when = equation(EquationKind::When {
        branches: vec![
            (boolean(true), vec![equality(b.var(x), real(1.0))]),
            (boolean(true), vec![equality(b.var(y), real(1.0))]),
        ],
    });
    b.model.equations = vec![if_equation, when];
    let kinds: Vec<CountProblemKind> = balance(&b.model).problems.into_iter().map(|p| p.kind).collect();
    assert_eq!(
        kinds,
        [
            CountProblemKind::UnequalIf { counts: vec![2, 1] },
            CountProblemKind::UnequalWhen { names: vec!["x".into(), "y".into()] },
        ]
    );
}

#[test]
fn an_algorithm_counts_what_it_assigns() {
    let mut b = Builder::new("M");
    let x = b.declare("x", Type::array(BaseType::Real, [Dim::Known(2), Dim::Known(3)]), Variability::Continuous);
    let element = |i, j| {
        let subscripts = vec![Subscript::Index(integer(i)), Subscript::Index(integer(j))];
        Expr::new(ExprKind::Index { base: Box::new(b.var(x)), subscripts }, Type::REAL, Span::nowhere())
    };
    let row = Expr::new(
        ExprKind::Index { base: Box::new(b.var(x)), subscripts: vec![Subscript::Index(integer(2))] },
        Type::array(BaseType::Real, [Dim::Known(3)]),
        Span::nowhere(),
    );
    let ones = Expr::builtin(Builtin::Ones, vec![integer(3)], row.ty.clone(), Span::nowhere());
    let assign = |target, value| Statement { kind: StatementKind::Assign { target, value }, span: Span::nowhere() };
    let statements = vec![assign(element(1, 2), real(1.0)), assign(element(1, 2), real(2.0)), assign(row, ones)];
    b.model.algorithms.push(Algorithm { statements, component: "".into(), span: Span::nowhere() });
    assert_eq!(verify(&b.model), Ok(()));
    // x[1, 2] once, the three elements of x[2, :]
    assert_eq!(balance(&b.model).equations, 4);
}

#[test]
fn components_of_names() {
    assert_eq!(component_of("a.b[2].c"), "a.b[2]");
    assert_eq!(component_of("x"), "");
    assert_eq!(component_of("a.'b.c'"), "a");
    assert_eq!(component_of("a.x[r.n]"), "a");
}

#[test]
fn broken_models_do_not_verify() {
    assert_eq!(verify(&ball().model), Ok(()));
    let finding = |break_it: &dyn Fn(&mut Builder)| {
        let mut b = ball();
        break_it(&mut b);
        verify(&b.model).expect_err("must not verify").join("; ")
    };
    assert!(
        finding(&|b| {
            b.real("h");
        })
        .contains("h occurs twice")
    );
    assert!(finding(&|b| b.equation(real(1.0), integer(1))).contains("two sides differ"));
    let unknown = Expr::new(ExprKind::Var(VarId::from_usize(99)), Type::REAL, Span::nowhere());
    assert!(finding(&|b| b.equation(unknown.clone(), real(1.0))).contains("no such variable"));
    let mixed = add(real(1.0), integer(1));
    assert!(finding(&|b| b.equation(mixed.clone(), real(1.0))).contains("without a conversion"));
    assert!(finding(&|b| b.model.equations.push(reinit(real(1.0), real(1.0)))).contains("outside a when"));
    let iterator = Expr::new(ExprKind::Local(LocalId::from_usize(0)), Type::REAL, Span::nowhere());
    assert!(finding(&|b| b.equation(iterator.clone(), real(1.0))).contains("no such local"));
    let condition = equation(EquationKind::When { branches: vec![(real(1.0), vec![])] });
    assert!(finding(&|b| b.model.equations.push(condition.clone())).contains("condition"));
}

#[test]
fn json_has_stable_keys() {
    let json = to_json(&ball().model);
    let line = r#"{"name":"h","type":"Real","dims":[],"variability":"continuous","causality":"local","prefix":"none","attributes":{"start":"1.0","fixed":"true"},"binding":null,"description":"height","protected":false,"hideResult":false,"structural":false,"final":false,"span":null}"#;
    assert!(json.contains(line), "{json}");
    assert!(
        json.contains(r#"{"text":"der(h) = v;","kind":"equality","origin":"declared","component":"","span":null}"#)
    );
    assert!(json.contains(r#""balance": {"equations":3,"unknowns":3}"#));
}
