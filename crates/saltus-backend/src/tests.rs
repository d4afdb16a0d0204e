//! Sorting, solving and diagnostics on hand-built models.

use saltus_flat::build::*;
use saltus_flat::{BaseType, BinaryOp, Builtin, Dim, Type, Variability};
use saltus_program::{Section, SimProgram, print};

use crate::blocks::Step;
use crate::compile;

fn section_text(program: &SimProgram, title: &str) -> Vec<String> {
    let text = print(program);
    let lines = text.lines().skip_while(|l| *l != title).skip(1);
    lines.take_while(|l| l.starts_with("  ")).map(|l| l.trim().to_owned()).collect()
}

fn errors(b: &Builder) -> Vec<(&'static str, String)> {
    let diagnostics = compile(&b.model).expect_err("must not compile");
    diagnostics.iter().map(|d| (d.code.0, d.message.clone())).collect()
}

#[test]
fn equations_are_solved_and_sorted() {
    let mut b = Builder::new("M");
    let m = b.parameter("m", 2.0);
    let (v, a, f) = (b.real("v"), b.real("a"), b.real("f"));
    b.equation(mul(b.var(m), b.var(a)), b.var(f));
    b.equation(add(b.var(f), b.var(v)), real(1.0));
    b.equation(der(b.var(v)), b.var(a));
    let program = compile(&b.model).expect("compiles");
    assert_eq!(section_text(&program, "derivatives"), ["f := (1.0 - v)", "a := (f / m)"]);
    assert_eq!(program.sections.outputs, Section::default());
}

#[test]
fn outputs_are_not_computed_in_derivative_calls() {
    let mut b = Builder::new("M");
    let (x, y) = (b.real("x"), b.real("y"));
    b.equation(der(b.var(x)), real(1.0));
    b.equation(b.var(y), apply(Builtin::Sin, vec![b.var(x)]));
    let program = compile(&b.model).expect("compiles");
    assert_eq!(section_text(&program, "derivatives"), ["der(x) := 1.0"]);
    assert_eq!(section_text(&program, "outputs"), ["y := sin(x)"]);
}

#[test]
fn a_when_becomes_a_guarded_assignment() {
    let mut b = Builder::new("M");
    let (x, n) = (b.real("x"), b.integer("n"));
    b.equation(der(b.var(x)), real(1.0));
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    b.when(greater(b.var(x), real(0.5)), vec![count]);
    let program = compile(&b.model).expect("compiles");
    assert_eq!(
        section_text(&program, "events"),
        [
            "der(x) := 1.0",
            "x > 0.5 := (x > 0.5)",
            "when x > 0.5 := x > 0.5",
            "n := (if (when x > 0.5 and (not pre(when x > 0.5))) then (pre(n) + 1.0) else pre(n))",
        ]
    );
    assert_eq!(section_text(&program, "crossings")[0], "crossing 1 := (x - 0.5)");
    assert_eq!(section_text(&program, "guesses")[0], "pre(n) := 0.0");
}

#[test]
fn a_relation_of_time_needs_no_crossing() {
    let mut b = Builder::new("M");
    let (x, t) = (b.real("x"), b.parameter("t", 2.0));
    let switched = binary(BinaryOp::GreaterEqual, time(), b.var(t));
    b.equation(der(b.var(x)), if_then_else(switched, real(1.0), real(0.0)));
    let program = compile(&b.model).expect("compiles");
    assert!(program.events.relations.is_empty());
    assert_eq!(program.events.time_events.len(), 1);
    assert!(!program.events.time_events[0].is_strict);
}

#[test]
fn the_same_relation_is_collected_once_and_not_inside_no_event() {
    let mut b = Builder::new("M");
    let (x, y, z) = (b.real("x"), b.real("y"), b.real("z"));
    b.equation(der(b.var(x)), real(1.0));
    let is_big = || greater(b.var(x), real(0.5));
    let (first, second) = (if_then_else(is_big(), real(1.0), real(2.0)), if_then_else(is_big(), real(3.0), real(4.0)));
    let literal = if_then_else(greater(b.var(x), real(9.0)), real(1.0), real(2.0));
    let (vy, vz) = (b.var(y), b.var(z));
    b.equation(vy, add(first, second));
    b.equation(vz, apply(Builtin::NoEvent, vec![literal]));
    let program = compile(&b.model).expect("compiles");
    assert_eq!(program.events.relations.len(), 1);
}

#[test]
fn arrays_are_taken_apart() {
    let mut b = Builder::new("M");
    let x = b.declare("x", Type::array(BaseType::Real, [Dim::Known(2)]), Variability::Continuous);
    b.equation(der(b.var(x)), mul(real(-2.0), b.var(x)));
    let program = compile(&b.model).expect("compiles");
    assert_eq!(section_text(&program, "derivatives"), ["der(x[1]) := (-2.0 * x[1])", "der(x[2]) := (-2.0 * x[2])"]);
}

#[test]
fn an_initial_equation_determines_a_state() {
    let mut b = Builder::new("M");
    let x = b.real("x");
    b.equation(der(b.var(x)), sub(real(6.0), mul(real(2.0), b.var(x))));
    b.initial_equation(der(b.var(x)), real(0.0));
    let program = compile(&b.model).expect("compiles");
    assert_eq!(section_text(&program, "initial"), ["der(x) := 0.0", "x := ((6.0 - der(x)) / 2.0)"]);
}

#[test]
fn parameters_are_sorted() {
    let mut b = Builder::new("M");
    let (p, q) = (b.parameter("p", 0.0), b.parameter("q", 3.0));
    let r = b.parameter("r", 0.0);
    b.model.variables[p].binding = Some(mul(real(2.0), b.var(r)));
    b.model.variables[r].binding = Some(add(b.var(q), real(1.0)));
    let program = compile(&b.model).expect("compiles");
    assert_eq!(section_text(&program, "parameters"), ["r := (q + 1.0)", "p := (2.0 * r)"]);
}

#[test]
fn what_is_not_handled_is_said() {
    let mut b = Builder::new("TooManyStarts");
    let (x, y) = (b.real("x"), b.real("y"));
    b.equation(der(b.var(x)), real(1.0));
    b.equation(b.var(y), b.var(x));
    b.start(x, 1.0, true);
    b.start(y, 2.0, true);
    // The other start value determines both; this one is checked when the simulation begins.
    let program = compile(&b.model).expect("compiles");
    assert_eq!(program.events.initial_checks.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), ["x = 1"]);

    let mut b = Builder::new("Cycle");
    let (p, q) = (b.parameter("p", 0.0), b.parameter("q", 0.0));
    b.model.variables[p].binding = Some(b.var(q));
    b.model.variables[q].binding = Some(b.var(p));
    assert_eq!(errors(&b), [("E0810", "the values of the parameters p, q depend on each other".to_owned())]);

    let mut b = Builder::new("NoState");
    let x = b.real("x");
    b.equation(b.var(x), time());
    b.when(greater(time(), real(1.0)), vec![reinit(b.var(x), real(0.0))]);
    assert_eq!(errors(&b)[0].0, "E0807");
}

/// The loops of the event section.
fn loops(b: &Builder) -> Vec<saltus_program::Loop> {
    let program = super::compile(&b.model).unwrap_or_else(|d| panic!("{d:?}"));
    let blocks = program.sections.events.blocks.into_iter();
    blocks
        .filter_map(|block| if let saltus_program::Block::Loop(l) = block { Some((*l).clone()) } else { None })
        .collect()
}

#[test]
fn a_linear_loop_is_torn_to_one_unknown() {
    let mut b = Builder::new("Loop");
    let (x, y) = (b.real("x"), b.real("y"));
    b.equation(add(b.var(x), b.var(y)), real(1.0));
    b.equation(sub(b.var(x), b.var(y)), real(3.0));
    let sorted = crate::sort(&b.model).unwrap_or_else(|d| panic!("{d:?}"));
    let Some(Step::Loop(found)) = sorted.orders.events.first() else { panic!("no loop") };
    assert_eq!((found.unknowns.len(), found.jacobian.as_ref().map(|j| j.is_linear)), (1, Some(true)));
    // Its coefficient is constant: it is solved while compiling.
    assert!(found.solution.is_some() && loops(&b).is_empty());
}

/// `s[i] = s[i-1] + x[i]`, `q[i-1] = q[i] + s[i-1]`, `x[i] + c*q[i] = b(time)`: sums along a chain in both directions.
fn chain(n: usize) -> Builder {
    let mut b = Builder::new("Chain");
    let mut family = |name: &str| (0..n).map(|i| b.real(&format!("{name}{i}"))).collect::<Vec<_>>();
    let (x, s, q) = (family("x"), family("s"), family("q"));
    b.equation(b.var(s[0]), b.var(x[0]));
    b.equation(b.var(q[n - 1]), b.var(s[n - 1]));
    for i in 1..n {
        b.equation(b.var(s[i]), add(b.var(s[i - 1]), b.var(x[i])));
        b.equation(b.var(q[i - 1]), add(b.var(q[i]), b.var(s[i - 1])));
    }
    for i in 0..n {
        let coefficient = add(real(1.0), time());
        b.equation(add(b.var(x[i]), mul(coefficient, b.var(q[i]))), time());
    }
    b
}

#[test]
fn chains_along_which_errors_grow_are_cut() {
    // Two variables would do. An error grows by the golden ratio squared a link if the coefficient is one: ten links are let go, sixty are not.
    for (n, is_cut) in [(10, false), (60, true)] {
        let sorted = crate::sort(&chain(n).model).unwrap_or_else(|d| panic!("{d:?}"));
        let mut loops =
            sorted.orders.events.iter().filter_map(|step| if let Step::Loop(l) = step { Some(l) } else { None });
        let found = loops.next().expect("has a loop");
        assert!(found.jacobian.as_ref().is_some_and(|j| j.is_linear));
        assert_eq!(found.unknowns.len() > 2, is_cut, "{n}: {} unknowns", found.unknowns.len());
        assert_eq!(found.unknowns.len(), found.residuals.len());
    }
}

#[test]
fn an_equation_that_cannot_be_solved_is_a_loop_of_one() {
    let mut b = Builder::new("Nonlinear");
    let x = b.real("x");
    b.equation(mul(b.var(x), b.var(x)), time());
    let found = loops(&b);
    assert_eq!((found[0].unknowns.len(), found[0].is_linear), (1, false));
    // The derivative of x*x - time by x is 2*x, by hand.
    assert_eq!(found[0].jacobian.as_ref().map(|j| j.entries.len()), Some(1));
}

#[test]
fn a_constraint_on_a_state_is_differentiated() {
    // x = sin(time), der(x) = y: no state is left, and y = cos(time).
    let mut b = Builder::new("Index");
    let (x, y) = (b.real("x"), b.real("y"));
    b.equation(der(b.var(x)), b.var(y));
    b.equation(b.var(x), apply(Builtin::Sin, vec![time()]));
    let program = super::compile(&b.model).unwrap_or_else(|d| panic!("{d:?}"));
    assert!(program.states.is_empty());
    assert!(saltus_program::print(&program).contains("cos(time)"));
}

#[test]
fn a_coefficient_that_vanishes_in_a_branch_is_not_divided_by() {
    let mut b = Builder::new("M");
    let (x, y) = (b.real("x"), b.real("y"));
    b.equation(der(b.var(x)), real(1.0));
    let coefficient = if_then_else(greater(b.var(x), real(0.5)), real(1.0), real(0.0));
    b.equation(mul(coefficient, b.var(y)), real(1.0));
    assert_eq!(loops(&b).len(), 1);
}

/// A mass on a rod of length 1 in Cartesian coordinates: x, y and the states that the program has.
fn pendulum() -> (Builder, [saltus_flat::VarId; 4]) {
    let mut b = Builder::new("Pendulum");
    let [x, y, vx, vy, f] = ["x", "y", "vx", "vy", "f"].map(|name| b.real(name));
    b.equation(der(b.var(x)), b.var(vx));
    b.equation(der(b.var(y)), b.var(vy));
    b.equation(der(b.var(vx)), negate(mul(b.var(f), b.var(x))));
    b.equation(der(b.var(vy)), sub(negate(mul(b.var(f), b.var(y))), real(9.81)));
    b.equation(add(mul(b.var(x), b.var(x)), mul(b.var(y), b.var(y))), real(1.0));
    (b, [x, y, vx, vy])
}

#[test]
fn a_circle_is_a_state_set_of_positions_and_velocities() {
    let (b, _) = pendulum();
    let program = compile(&b.model).unwrap_or_else(|d| panic!("{d:?}"));
    // Two degrees of freedom less one constraint, position and velocity.
    assert_eq!((program.states.len(), program.state_sets.len()), (2, 1));
    let set = &program.state_sets[0];
    assert_eq!((set.levels.len(), set.n_constraints, set.choice.len()), (2, 1, 1));
    let names = |k: usize| set.levels[k].candidates.iter().map(|&c| program.memory.slot_name(c)).collect::<Vec<_>>();
    assert_eq!(names(0), ["vx", "vy"]);
    assert_eq!(names(1), ["x", "y"]);
    // The derivative of x*vx + vx*x + y*vy + vy*y by vx and vy, by hand.
    assert_eq!(section_text(&program, "selection").len(), 2);
    assert!(section_text(&program, "selection").iter().all(|line| line.contains("x") || line.contains("y")));
}

#[test]
fn a_variable_that_is_always_a_state_leaves_no_choice() {
    let (mut b, [_, y, _, vy]) = pendulum();
    let always = || saltus_flat::Expr {
        kind: saltus_flat::ExprKind::EnumLiteral(saltus_base::Index::from_usize(0), 5),
        ..real(0.0)
    };
    for id in [y, vy] {
        b.model.variables[id].attributes.state_select = Some(always());
    }
    let program = compile(&b.model).unwrap_or_else(|d| panic!("{d:?}"));
    assert!(program.state_sets.is_empty());
    let states: Vec<_> = program.states.iter().map(|s| program.memory.slot_name(s.value)).collect();
    assert_eq!(states, ["y", "vy"]);
}

#[test]
fn constant_coefficients_are_chosen_for_good() {
    // A gear between two inertias: one angle and one speed are states, the ones that have a start value.
    let mut b = Builder::new("Gear");
    let [phi, w, psi, v, tau] = ["phi", "w", "psi", "v", "tau"].map(|name| b.real(name));
    b.equation(der(b.var(phi)), b.var(w));
    b.equation(der(b.var(psi)), b.var(v));
    b.equation(der(b.var(w)), b.var(tau));
    b.equation(der(b.var(v)), sub(real(1.0), mul(real(3.0), b.var(tau))));
    b.equation(b.var(phi), mul(real(3.0), b.var(psi)));
    b.start(psi, 1.0, true);
    b.start(v, 0.0, true);
    let program = compile(&b.model).unwrap_or_else(|d| panic!("{d:?}"));
    assert!(program.state_sets.is_empty());
    let states: Vec<_> = program.states.iter().map(|s| program.memory.slot_name(s.value)).collect();
    assert_eq!(states, ["psi", "v"]);
}

#[test]
fn dependent_constraints_are_named() {
    let mut b = Builder::new("Twice");
    let [x, y, z, f, g] = ["x", "y", "z", "f", "g"].map(|name| b.real(name));
    b.equation(der(b.var(x)), b.var(f));
    b.equation(der(b.var(y)), b.var(g));
    b.equation(der(b.var(z)), add(b.var(f), b.var(g)));
    b.equation(add(b.var(x), b.var(y)), b.var(z));
    b.equation(add(mul(real(2.0), b.var(x)), mul(real(2.0), b.var(y))), mul(real(2.0), b.var(z)));
    assert_eq!(errors(&b)[0].0, "E0815");
}
