//! The driver on models built by hand: integrators, event record, policies, budgets. Numbers are closed forms.

use std::sync::Arc;

use saltus_backend::compile;
use saltus_flat::build::*;
use saltus_flat::{BinaryOp, Builtin, EquationKind, Expr, Type, Variability, verify};
use saltus_runtime::Interpreter;
use saltus_sim::{
    EventCause, EventKind, Options, Progress, Recorded, SimError, SimErrorKind, Solver, Trajectory, ZenoPolicy,
    simulate, simulate_observed, write_events,
};

fn run_with(b: &Builder, stop: f64, change: impl FnOnce(&mut Options)) -> Result<Trajectory, SimError> {
    assert_eq!(verify(&b.model), Ok(()));
    let program = compile(&b.model).expect("the model compiles");
    let mut options = Options::new(&program).with_times(0.0, stop);
    change(&mut options);
    simulate(Box::new(Interpreter::new(Arc::new(program.clone()))), &options)
}

const ADAPTIVE: [Solver; 5] = [Solver::Auto, Solver::DormandPrince, Solver::DormandPrince8, Solver::Rodas, Solver::Bdf];

/// der(x) = -1000 (x - cos(time)): after a transient of 1 ms, x follows the cosine
fn stiff() -> Builder {
    let mut b = Builder::new("Stiff");
    let x = b.real("x");
    b.start(x, 0.0, true);
    let target = apply(Builtin::Cos, vec![time()]);
    b.equation(der(b.var(x)), mul(real(-1000.0), sub(b.var(x), target)));
    b
}

#[test]
fn stiff_decay_is_cheap_for_implicit_methods() {
    // x = (k² cos t + k sin t) / (1 + k²) + C exp(-k t) with k = 1000
    let k = 1000.0f64;
    let exact = |t: f64| (k * k * t.cos() + k * t.sin() - k * k * (-k * t).exp()) / (1.0 + k * k);
    for (solver, most_steps) in [(Solver::Rodas, 400), (Solver::Bdf, 600), (Solver::Auto, 1200)] {
        let trajectory = run_with(&stiff(), 10.0, |o| o.solver = solver).expect("reaches the end");
        for (t, x) in trajectory.series("x").expect("x is there") {
            assert!((x - exact(t)).abs() < 1e-4, "{solver:?}: x({t}) = {x} instead of {}", exact(t));
        }
        let statistics = trajectory.statistics;
        assert!(statistics.steps < most_steps, "{solver:?}: {statistics:?}");
        assert!(statistics.jacobian_evaluations > 0, "{solver:?}: {statistics:?}");
    }
}

#[test]
fn fixed_steps_have_their_order() {
    // der(x) = -x to 1 in 100 steps: (1 − 0.01)^100 for Euler, error about 1e-10 for order 4
    let mut b = Builder::new("Decay");
    let x = b.real("x");
    b.start(x, 1.0, true);
    b.equation(der(b.var(x)), negate(b.var(x)));
    let last = |solver| {
        let set = |o: &mut Options| (o.solver, o.fixed_step) = (solver, Some(0.01));
        run_with(&b, 1.0, set).expect("reaches the end").last("x").expect("x is there")
    };
    assert!((last(Solver::Euler) - 0.99f64.powi(100)).abs() < 1e-12);
    assert!((last(Solver::RungeKutta4) - (-1f64).exp()).abs() < 1e-9);
}

/// der(x) = v; der(v) = -x; x(0) = 1; n counts the crossings of x > 0.5
fn counted_oscillator() -> Builder {
    let mut b = Builder::new("Oscillator");
    let (x, v, n) = (b.real("x"), b.real("v"), b.integer("n"));
    b.start(x, 1.0, true);
    b.start(v, 0.0, true);
    b.equation(der(b.var(x)), b.var(v));
    b.equation(der(b.var(v)), negate(b.var(x)));
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    b.when(greater(b.var(x), real(0.5)), vec![count]);
    b
}

#[test]
fn every_method_locates_events() {
    let exact = std::f64::consts::TAU - std::f64::consts::FRAC_PI_3;
    for solver in ADAPTIVE {
        let set = |o: &mut Options| (o.solver, o.tolerance) = (solver, 1e-9);
        let trajectory = run_with(&counted_oscillator(), 7.0, set).expect("reaches the end");
        let risen = |c: &EventCause| matches!(c, EventCause::Relation { value: true, .. });
        let found = trajectory.events.iter().find(|e| e.causes.iter().any(risen)).map_or(0.0, |e| e.time);
        assert!((found - exact).abs() < 1e-6, "{solver:?}: {found} instead of {exact}");
        assert_eq!(trajectory.last("n"), Some(1.0), "{solver:?}");
    }
}

#[test]
fn the_record_says_what_happened_and_why() {
    let trajectory = run_with(&counted_oscillator(), 7.0, |_| {}).expect("reaches the end");
    let kinds: Vec<EventKind> = trajectory.events.iter().map(|e| e.kind).collect();
    // x falls through 0.5 at π/3 and rises through it at 5π/3
    assert_eq!(kinds, [EventKind::Start, EventKind::State, EventKind::State]);
    let rising = &trajectory.events[2];
    assert!(matches!(&rising.causes[..], [EventCause::Relation { text, value: true, .. }] if &**text == "x > 0.5"));
    let change = rising.changes.iter().find(|c| &*c.variable == "n").expect("n has changed");
    assert_eq!((change.before, change.after), (0.0, 1.0));
    assert!(!rising.is_restart && rising.rounds >= 2);
    let statistics = trajectory.statistics;
    assert_eq!((statistics.state_events, statistics.time_events, statistics.events), (2, 0, 3));
    let mut text = Vec::new();
    write_events(&mut text, &trajectory.events, &|_| None).expect("writing to memory");
    let text = String::from_utf8_lossy(&text);
    assert_eq!(text.lines().count(), 3);
    let last = text.lines().last().unwrap_or("");
    assert!(last.contains("\"relation\":\"x > 0.5\"") && last.contains("\"variable\":\"n\""), "{last}");
}

#[test]
fn timers_and_samples_are_named_as_causes() {
    let mut b = Builder::new("M");
    let (n, on) = (b.integer("n"), b.boolean("on"));
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    b.when(sample(0.5, 1.0), vec![count]);
    b.equation(b.var(on), binary(BinaryOp::GreaterEqual, time(), real(0.25)));
    let trajectory = run_with(&b, 1.0, |_| {}).expect("reaches the end");
    let causes: Vec<&EventCause> = trajectory.events.iter().flat_map(|e| &e.causes).collect();
    assert!(causes.iter().any(|c| matches!(c, EventCause::Timer { value: true, .. })), "{causes:?}");
    assert!(causes.iter().any(|c| matches!(c, EventCause::Sample { start: 0.5, interval: 1.0, .. })), "{causes:?}");
    assert_eq!(trajectory.statistics.time_events, 2);
}

#[test]
fn many_time_events_cost_no_root_search() {
    // when time >= pre(next) then next = pre(next) + 1e-4
    let mut b = Builder::new("M");
    let next = b.declare("next", Type::REAL, Variability::Discrete);
    b.start_value(next, real(1e-4), true);
    let due = binary(BinaryOp::GreaterEqual, time(), pre(b.var(next)));
    b.when(due, vec![equality(b.var(next), add(pre(b.var(next)), real(1e-4)))]);
    let trajectory = run_with(&b, 1.0, |o| o.event_rows = false).expect("reaches the end");
    assert!(trajectory.statistics.time_events >= 9_999, "{:?}", trajectory.statistics);
    assert_eq!(trajectory.statistics.crossing_evaluations, 0);
    assert_eq!(trajectory.segments[0].times.len(), 501);
}

#[test]
fn terminal_is_true_at_the_end_only() {
    // when terminal() then n = pre(n) + 1
    let mut b = Builder::new("M");
    let (x, n) = (b.real("x"), b.integer("n"));
    b.equation(der(b.var(x)), real(1.0));
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    let terminal = apply(Builtin::Terminal, vec![]);
    let terminal = Expr { ty: Type::BOOLEAN, ..terminal };
    b.when(terminal, vec![count]);
    let trajectory = run_with(&b, 1.0, |_| {}).expect("reaches the end");
    assert_eq!(trajectory.last("n"), Some(1.0));
    let series = trajectory.series("n").expect("n is there");
    assert!(series[..series.len() - 1].iter().all(|&(_, n)| n == 0.0));
    assert_eq!(trajectory.events.last().map(|e| e.kind), Some(EventKind::Terminal));
}

/// der(x) = if x > 0 then -1 else 1, from 0.5
fn relay() -> Builder {
    let mut b = Builder::new("Chatter");
    let x = b.real("x");
    b.start(x, 0.5, true);
    b.equation(der(b.var(x)), if_then_else(greater(b.var(x), real(0.0)), real(-1.0), real(1.0)));
    b
}

#[test]
fn chattering_stops_or_goes_on_as_asked() {
    let error = run_with(&relay(), 2.0, |o| o.on_zeno = ZenoPolicy::Stop).expect_err("chatters from 0.5 on");
    assert!(matches!(&error.kind, SimErrorKind::Chattering { relation, .. } if relation == "x > 0.0"), "{error}");
    assert!((error.time - 0.5).abs() < 1e-6);
    let SimErrorKind::Chattering { modes, .. } = &error.kind else { panic!("{error}") };
    assert_eq!(*modes, ["x > 0.0 = true or false"]);
    let trajectory = run_with(&relay(), 2.0, |o| o.on_zeno = ZenoPolicy::Continue).expect("goes on");
    // Held for at most 0.1 % of the time span, x strays by as much.
    let worst = trajectory.series("x").expect("x").iter().filter(|p| p.0 > 0.51).map(|p| p.1.abs()).fold(0.0, f64::max);
    assert!(worst < 5e-3, "{worst}");
    assert!(trajectory.statistics.events < 50_000);
}

#[test]
fn budgets_end_a_run_with_what_was_computed() {
    let b = counted_oscillator();
    let error = run_with(&b, 1e6, |o| o.max_steps = 100).expect_err("takes too many steps");
    assert_eq!(error.kind, SimErrorKind::TooManySteps { most: 100 });
    let error = run_with(&b, 10.0, |o| o.max_result_bytes = 3 * 8 * 100).expect_err("needs too much memory");
    assert!(matches!(error.kind, SimErrorKind::ResultsTooLarge { .. }), "{error}");
    let rows = &error.partial.segments[0].rows;
    let n_values = rows.n_rows() * rows.n_places();
    assert!(n_values <= 300 && n_values > 290, "{n_values}");
    let program = compile(&b.model).expect("the model compiles");
    let options = Options::new(&program).with_times(0.0, 10.0);
    let stop_at_five = &mut |progress: Progress| progress.time < 5.0;
    let error = simulate_observed(Box::new(Interpreter::new(Arc::new(program.clone()))), &options, stop_at_five);
    let error = error.expect_err("was interrupted");
    assert_eq!(error.kind, SimErrorKind::Interrupted);
    assert!(error.time >= 5.0 && error.time < 6.0);
}

#[test]
fn assertions_are_checked_between_output_points() {
    // x = sin t exceeds 0.99 around π/2 only; the output points are 0, 4, 8
    let mut b = Builder::new("M");
    let (x, v) = (b.real("x"), b.real("v"));
    b.start(x, 0.0, true);
    b.start(v, 1.0, true);
    b.equation(der(b.var(x)), b.var(v));
    b.equation(der(b.var(v)), negate(b.var(x)));
    let message = Expr::string("too far", saltus_base::Span::nowhere());
    let assertion = EquationKind::Assert { condition: less(b.var(x), real(0.99)), message, level: None };
    b.model.equations.push(equation(assertion));
    let error = run_with(&b, 8.0, |o| (o.interval, o.max_step) = (4.0, Some(0.05))).expect_err("the assertion fails");
    assert_eq!(error.kind, SimErrorKind::AssertionFailed { message: "too far".into() });
    // asin 0.99 = 1.4293
    assert!(error.time > 1.429 && error.time < 1.5, "{error}");
}

#[test]
fn options_without_sense_are_errors() {
    let b = counted_oscillator();
    let changes: [fn(&mut Options); 6] = [
        |o| o.stop_time = f64::NAN,
        |o| o.stop_time = -1.0,
        |o| o.interval = 0.0,
        |o| o.interval = f64::NAN,
        |o| o.tolerance = 0.0,
        |o| o.max_step = Some(f64::NAN),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let error = run_with(&b, 1.0, change).expect_err("makes no sense");
        assert!(matches!(error.kind, SimErrorKind::BadOptions { .. }), "{i}: {error}");
    }
}

/// An ideal diode in series with a resistor of 2 Ω at sin(2π t): off = s < 0; u = if off then s else 0;
/// i = if off then 0 else s; v = u + 2 i
fn half_wave_rectifier() -> Builder {
    let mut b = Builder::new("Rectifier");
    let (v, u, i, s) = (b.real("v"), b.real("u"), b.real("i"), b.real("s"));
    let off = b.boolean("off");
    b.equation(b.var(v), apply(Builtin::Sin, vec![mul(real(std::f64::consts::TAU), time())]));
    b.equation(b.var(off), less(b.var(s), real(0.0)));
    b.equation(b.var(u), if_then_else(b.var(off), b.var(s), real(0.0)));
    b.equation(b.var(i), if_then_else(b.var(off), real(0.0), b.var(s)));
    b.equation(b.var(v), add(b.var(u), mul(real(2.0), b.var(i))));
    b
}

#[test]
fn an_ideal_diode_lets_one_half_wave_through() {
    let trajectory = run_with(&half_wave_rectifier(), 1.9, |_| {}).expect("reaches the end");
    for (t, i) in trajectory.series("i").expect("i is there") {
        let exact = (std::f64::consts::TAU * t).sin().max(0.0) / 2.0;
        assert!((i - exact).abs() < 1e-9, "i({t}) = {i} instead of {exact}");
    }
    // the voltage changes its sign at 0.5, 1 and 1.5
    let times: Vec<f64> = trajectory.events.iter().filter(|e| e.kind == EventKind::Time).map(|e| e.time).collect();
    assert_eq!(times.len(), 3, "{times:?}");
    for (found, exact) in times.iter().zip([0.5, 1.0, 1.5]) {
        assert!((found - exact).abs() < 1e-12, "{found}");
    }
}

#[test]
fn a_nonlinear_loop_is_followed_over_time() {
    // y + exp(y) = 1 + time: y = 0 at 0, and y = 1 at time = e
    let mut b = Builder::new("M");
    let y = b.real("y");
    let exp = apply(Builtin::Exp, vec![b.var(y)]);
    b.equation(add(b.var(y), exp), add(real(1.0), time()));
    let trajectory = run_with(&b, std::f64::consts::E, |_| {}).expect("reaches the end");
    for (t, y) in trajectory.series("y").expect("y is there") {
        assert!((y + y.exp() - 1.0 - t).abs() < 1e-9, "y({t}) = {y}");
    }
    assert!((trajectory.last("y").expect("y is there") - 1.0).abs() < 1e-9);
}

#[test]
fn a_loop_that_loses_its_solution_is_named() {
    // y² + y + time = 0 has real solutions up to time = 1/4 only
    let mut b = Builder::new("M");
    let y = b.real("y");
    b.equation(add(add(mul(b.var(y), b.var(y)), b.var(y)), time()), real(0.0));
    let error = run_with(&b, 1.0, |_| {}).expect_err("has no solution beyond 1/4");
    assert!(matches!(error.kind, SimErrorKind::CannotEvaluate { .. }), "{error}");
    assert!(error.details.notes[0].starts_with("unknown y = -0.5"), "{:?}", error.details);
    assert!(error.time > 0.24 && error.time < 0.26, "{error}");
    let rows = error.partial.series("y").expect("y is there");
    assert!(rows.len() > 100 && rows.iter().all(|&(t, y)| (y * y + y + t).abs() < 1e-9));
}

#[test]
fn rows_hold_what_is_recorded_and_nothing_else() {
    let all = run_with(&counted_oscillator(), 7.0, |_| {}).expect("reaches the end");
    let only = Recorded::Only(["n".to_owned()].into());
    let some = run_with(&counted_oscillator(), 7.0, |o| o.recorded = only).expect("reaches the end");
    assert_eq!(some.segments[0].rows.n_places(), 1);
    assert_eq!((some.series("n"), some.series("x")), (all.series("n"), None));
    assert_eq!((&some.events, some.statistics), (&all.events, all.statistics));
}
