//! Hybrid models built by hand, against closed forms.

use std::sync::Arc;

use saltus_backend::compile;
use saltus_flat::build::*;
use saltus_flat::{BinaryOp, Builtin, Equation, EquationKind, Type, VarId, Variability, verify};
use saltus_runtime::Interpreter;
use saltus_sim::{End, EventCause, Options, SimError, SimErrorKind, Trajectory, simulate};

fn run(b: &Builder, stop: f64, tolerance: f64) -> Result<Trajectory, SimError> {
    assert_eq!(verify(&b.model), Ok(()));
    let program = compile(&b.model).expect("the model compiles");
    let mut options = Options::new(&program).with_times(0.0, stop);
    options.tolerance = tolerance;
    simulate(Box::new(Interpreter::new(Arc::new(program.clone()))), &options)
}

fn run_ok(b: &Builder, stop: f64, tolerance: f64) -> Trajectory {
    run(b, stop, tolerance).expect("the simulation reaches its end")
}

/// Times at which a relation became true.
fn times_of(trajectory: &Trajectory, relation: &str) -> Vec<f64> {
    let is_it = |c: &EventCause| matches!(c, EventCause::Relation { text, value: true, .. } if **text == *relation);
    trajectory.events.iter().filter(|e| e.causes.iter().any(is_it)).map(|e| e.time).collect()
}

const G: f64 = 9.81;
const E: f64 = 0.8;

/// der(h) = v; der(v) = -g; when h < 0 then reinit(v, -e * pre(v)); n = pre(n) + 1; end when;
fn bouncing_ball() -> Builder {
    let mut b = Builder::new("BouncingBall");
    let (g, e) = (b.parameter("g", G), b.parameter("e", E));
    let (h, v, n) = (b.real("h"), b.real("v"), b.integer("n"));
    b.start(h, 1.0, true);
    b.start(v, 0.0, true);
    b.equation(der(b.var(h)), b.var(v));
    b.equation(der(b.var(v)), negate(b.var(g)));
    let bounce = reinit(b.var(v), mul(negate(b.var(e)), pre(b.var(v))));
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    b.when(less(b.var(h), real(0.0)), vec![bounce, count]);
    b
}

#[test]
fn the_ball_bounces_at_the_times_of_the_closed_form() {
    let trajectory = run_ok(&bouncing_ball(), 3.0, 1e-6);
    // The first fall takes t₀ = √(2h/g); the flight after bounce k takes 2 t₀ eᵏ.
    let t0 = (2.0f64 / G).sqrt();
    let mut expected = vec![t0];
    for k in 1..100 {
        let next = expected[k - 1] + 2.0 * t0 * E.powi(k as i32);
        if next > 3.0 {
            break;
        }
        expected.push(next);
    }
    let bounces = times_of(&trajectory, "h < 0.0");
    assert_eq!(bounces.len(), expected.len());
    for (found, exact) in bounces.iter().zip(&expected) {
        assert!((found - exact).abs() < 1e-9, "{found} instead of {exact}");
    }
    assert_eq!(trajectory.last("n"), Some(expected.len() as f64));
    let lowest = trajectory.series("h").unwrap().iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    assert!(lowest > -1e-9, "{lowest}");
}

#[test]
fn the_speed_jumps_at_a_bounce() {
    let trajectory = run_ok(&bouncing_ball(), 0.6, 1e-6);
    let v = trajectory.series("v").unwrap();
    let i = v.windows(2).position(|w| w[0].0 == w[1].0 && w[0].1 < 0.0 && w[1].1 > 0.0).expect("two rows at the event");
    // impact at √(2 g h), rebound at e times that
    let impact = (2.0 * G).sqrt();
    assert!((v[i].1 + impact).abs() < 1e-9 && (v[i + 1].1 - E * impact).abs() < 1e-9);
}

#[test]
fn a_ball_that_comes_to_rest_neither_hangs_nor_tunnels() {
    // The bounces accumulate at t₀ (1 + e) / (1 - e) = 4.0637…
    let accumulation = (2.0f64 / G).sqrt() * (1.0 + E) / (1.0 - E);
    let error = run(&bouncing_ball(), 10.0, 1e-6).expect_err("there is no solution beyond");
    assert!(matches!(&error.kind, SimErrorKind::Zeno { relation, .. } if relation == "h < 0.0"), "{error}");
    assert!(error.time < accumulation + 1e-9 && error.time > accumulation - 1e-4, "{} of {accumulation}", error.time);
    let heights = error.partial.series("h").unwrap();
    assert!(heights.len() > 200);
    let lowest = heights.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    assert!(lowest > -1e-9, "{lowest}");
}

#[test]
fn a_ball_that_also_asks_for_the_direction_does_not_tunnel_either() {
    // when h <= 0 and v < 0
    let mut b = bouncing_ball();
    let id = |name: &str| b.model.variables.iter().find(|(_, v)| v.name == name).map(|(id, _)| id).expect("declared");
    let (h, v) = (id("h"), id("v"));
    let hits = binary(BinaryOp::LessEqual, b.var(h), real(0.0));
    let condition = binary(BinaryOp::And, hits, less(b.var(v), real(0.0)));
    if let Some(EquationKind::When { branches }) = b.model.equations.last_mut().map(|e| &mut e.kind) {
        branches[0].0 = condition;
    }
    let accumulation = (2.0f64 / G).sqrt() * (1.0 + E) / (1.0 - E);
    let error = run(&b, 10.0, 1e-6).expect_err("there is no solution beyond");
    assert!((error.time - accumulation).abs() < 1e-4, "{error}");
    let lowest = error.partial.series("h").unwrap().iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    assert!(lowest > -1e-9, "{lowest}");
}

#[test]
fn decay_follows_the_exponential() {
    let mut b = Builder::new("Decay");
    let x = b.real("x");
    b.start(x, 1.0, true);
    b.equation(der(b.var(x)), negate(b.var(x)));
    let trajectory = run_ok(&b, 2.0, 1e-8);
    let points = trajectory.series("x").unwrap();
    assert_eq!(points.len(), 501);
    for (t, x) in points {
        assert!((x - (-t).exp()).abs() < 1e-7, "x({t}) = {x}");
    }
}

/// der(x) = v; der(v) = -x, x(0) = amplitude
fn oscillator(amplitude: f64) -> (Builder, VarId) {
    let mut b = Builder::new("Oscillator");
    let (x, v) = (b.real("x"), b.real("v"));
    b.start(x, amplitude, true);
    b.start(v, 0.0, true);
    b.equation(der(b.var(x)), b.var(v));
    b.equation(der(b.var(v)), negate(b.var(x)));
    (b, x)
}

#[test]
fn crossings_of_an_oscillator_are_found_without_restarts() {
    let (mut b, x) = oscillator(1.0);
    let above = b.boolean("above");
    let relation = greater(b.var(x), real(0.5));
    b.equation(b.var(above), relation);
    let trajectory = run_ok(&b, 20.0, 1e-10);
    // cos t rises through 1/2 at 2πk − π/3
    let exact: Vec<f64> = (1..=3).map(|k| std::f64::consts::TAU * f64::from(k) - std::f64::consts::FRAC_PI_3).collect();
    let found = times_of(&trajectory, "x > 0.5");
    assert_eq!(found.len(), exact.len());
    for (found, exact) in found.iter().zip(&exact) {
        assert!((found - exact).abs() < 1e-8, "{found} instead of {exact}");
    }
    // Nothing continuous depends on `above`: only the start starts the integrator.
    assert_eq!(trajectory.statistics.restarts, 1);
}

#[test]
fn two_crossings_within_one_step_are_not_missed() {
    // cos t exceeds 0.9999 only for |t − 2πk| < acos(0.9999) = 0.01414
    let (mut b, x) = oscillator(1.0);
    let n = b.integer("n");
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    b.when(greater(b.var(x), real(0.9999)), vec![count]);
    let trajectory = run_ok(&b, 40.0, 1e-9);
    // tops at 2π … 12π = 37.7; the one at 0 is there from the start and is not an edge
    assert_eq!(trajectory.last("n"), Some(6.0));
}

#[test]
fn a_condition_that_is_true_at_the_start_does_not_fire() {
    let mut b = Builder::new("M");
    let n = b.integer("n");
    let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
    b.when(binary(BinaryOp::GreaterEqual, time(), real(0.0)), vec![count]);
    assert_eq!(run_ok(&b, 1.0, 1e-6).last("n"), Some(0.0));
}

#[test]
fn samples_tick_at_multiples_of_their_interval() {
    let mut b = Builder::new("M");
    let (fast, slow) = (b.integer("fast"), b.integer("slow"));
    for (n, interval) in [(fast, 0.1), (slow, 0.3)] {
        let count = equality(b.var(n), add(pre(b.var(n)), integer(1)));
        b.when(sample(0.0, interval), vec![count]);
    }
    let trajectory = run_ok(&b, 1.05, 1e-6);
    // 0, 0.1, … 1.0 and 0, 0.3, 0.6, 0.9
    assert_eq!((trajectory.last("fast"), trajectory.last("slow")), (Some(11.0), Some(4.0)));
    // Ticks that coincide up to rounding are one event: 0.1 … 1.0, and the start.
    assert_eq!(trajectory.events.len(), 11);
}

#[test]
fn a_time_event_is_exact_and_restarts_the_integrator() {
    // der(x) = if time >= T then 1 else 0
    let mut b = Builder::new("M");
    let (x, t) = (b.real("x"), b.parameter("T", 0.3));
    let on = binary(BinaryOp::GreaterEqual, time(), b.var(t));
    b.equation(der(b.var(x)), if_then_else(on, real(1.0), real(0.0)));
    let trajectory = run_ok(&b, 1.0, 1e-6);
    assert_eq!(trajectory.events[1].time, 0.3);
    // x(1) = 1 − 0.3
    assert!((trajectory.last("x").unwrap() - 0.7).abs() < 1e-12);
}

#[test]
fn a_timer_that_sets_itself_again() {
    // when time >= pre(next) then next = pre(next) + 0.25; end when;
    let mut b = Builder::new("M");
    let next = b.declare("next", Type::REAL, Variability::Discrete);
    b.start_value(next, real(0.25), true);
    let due = binary(BinaryOp::GreaterEqual, time(), pre(b.var(next)));
    let again = equality(b.var(next), add(pre(b.var(next)), real(0.25)));
    b.when(due, vec![again]);
    let trajectory = run_ok(&b, 1.1, 1e-6);
    assert_eq!(trajectory.last("next"), Some(1.25));
    let times: Vec<f64> = trajectory.events.iter().skip(1).map(|e| e.time).collect();
    assert_eq!(times, [0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn a_relay_switches_with_hysteresis() {
    // der(x) = if up then 1 else -1; up = x < 0.1 or pre(up) and x < 1
    let mut b = Builder::new("Relay");
    let (x, up) = (b.real("x"), b.boolean("up"));
    b.start(x, 0.5, true);
    b.start_value(up, boolean(true), true);
    let low = less(b.var(x), real(0.1));
    let held = binary(BinaryOp::And, pre(b.var(up)), less(b.var(x), real(1.0)));
    b.equation(b.var(up), binary(BinaryOp::Or, low, held));
    b.equation(der(b.var(x)), if_then_else(b.var(up), real(1.0), real(-1.0)));
    let trajectory = run_ok(&b, 3.0, 1e-6);
    // up to 1 at 0.5, down to 0.1 at 1.4, up to 1 at 2.3, then down: x(3) = 1 − 0.7
    assert!((trajectory.last("x").unwrap() - 0.3).abs() < 1e-9);
    let switches = times_of(&trajectory, "x < 0.1");
    assert!(switches.len() == 1 && (switches[0] - 1.4).abs() < 1e-9, "{switches:?}");
}

#[test]
fn an_event_that_flips_for_ever_is_reported_with_its_variables() {
    // when time >= 0.5: a toggles with pre(a) from then on
    let mut b = Builder::new("Flip");
    let a = b.boolean("a");
    let late = binary(BinaryOp::GreaterEqual, time(), real(0.5));
    b.equation(b.var(a), binary(BinaryOp::And, late, not(pre(b.var(a)))));
    let error = run(&b, 1.0, 1e-6).expect_err("no fixed point");
    let is_found = |kind: &SimErrorKind| match kind {
        SimErrorKind::EventDoesNotSettle { rounds, is_cycle: true, changing } => *rounds < 20 && changing == &["a"],
        _ => false,
    };
    assert!(is_found(&error.kind), "{error}");
    assert_eq!(error.time, 0.5);
}

#[test]
fn a_long_event_settles() {
    // when time >= 0.5: n counts to 1000
    let mut b = Builder::new("Count");
    let n = b.integer("n");
    b.start_value(n, integer(0), true);
    let late = binary(BinaryOp::GreaterEqual, time(), real(0.5));
    let counts = binary(BinaryOp::And, late, less(pre(b.var(n)), integer(1000)));
    let next = add(pre(b.var(n)), integer(1));
    b.equation(b.var(n), if_then_else(counts, next, pre(b.var(n))));
    assert_eq!(run_ok(&b, 1.0, 1e-6).last("n"), Some(1000.0));
}

#[test]
fn an_event_that_counts_for_ever_is_stopped() {
    let mut b = Builder::new("Endless");
    let n = b.integer("n");
    b.start_value(n, integer(0), true);
    let late = binary(BinaryOp::GreaterEqual, time(), real(0.5));
    let next = add(pre(b.var(n)), integer(1));
    b.equation(b.var(n), if_then_else(late, next, pre(b.var(n))));
    let error = run(&b, 1.0, 1e-6).expect_err("no fixed point");
    let expected = "the event does not settle: after 10000 rounds still changing: n";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn floor_generates_events() {
    // y = floor(3 x), der(x) = 1
    let mut b = Builder::new("Stairs");
    let (x, y) = (b.real("x"), b.real("y"));
    b.start(x, 0.0, true);
    b.equation(der(b.var(x)), real(1.0));
    b.equation(b.var(y), apply(Builtin::Floor, vec![mul(real(3.0), b.var(x))]));
    let trajectory = run_ok(&b, 1.2, 1e-6);
    let times: Vec<f64> = trajectory.events.iter().skip(1).map(|e| e.time).collect();
    assert_eq!(times.len(), 3);
    for (found, exact) in times.iter().zip([1.0 / 3.0, 2.0 / 3.0, 1.0]) {
        assert!((found - exact).abs() < 1e-12, "{found}");
    }
    for (t, y) in trajectory.series("y").unwrap() {
        // away from the steps
        if (3.0 * t - (3.0 * t).round()).abs() > 1e-9 {
            assert_eq!(y, (3.0 * t).floor());
        }
    }
}

#[test]
fn terminate_ends_the_run_and_assert_fails_it() {
    let mut b = Builder::new("M");
    let x = b.real("x");
    b.start(x, 0.0, true);
    b.equation(der(b.var(x)), real(1.0));
    let text = |t: &str| saltus_flat::Expr::string(t, saltus_base::Span::nowhere());
    let stop = equation(EquationKind::Terminate { message: text("far enough") });
    b.when(greater(b.var(x), real(0.25)), vec![stop]);
    let trajectory = run_ok(&b, 1.0, 1e-6);
    assert_eq!(trajectory.end, End::Terminated { message: "far enough".into() });
    assert!((trajectory.last("x").unwrap() - 0.25).abs() < 1e-12);

    b.model.equations.pop();
    let check: Equation =
        equation(EquationKind::Assert { condition: less(b.var(x), real(0.5)), message: text("too far"), level: None });
    b.model.equations.push(check);
    let error = run(&b, 1.0, 1e-6).expect_err("the assertion fails");
    assert_eq!(error.kind, SimErrorKind::AssertionFailed { message: "too far".into() });
    assert!(!error.partial.series("x").unwrap().is_empty());
}

#[test]
fn a_singularity_is_an_error_with_what_was_computed() {
    // der(x) = x²: x = 1/(1 − t) has a pole at 1
    let mut b = Builder::new("Pole");
    let x = b.real("x");
    b.start(x, 1.0, true);
    b.equation(der(b.var(x)), mul(b.var(x), b.var(x)));
    let error = run(&b, 2.0, 1e-6).expect_err("there is no solution beyond the pole");
    assert_eq!(error.kind, SimErrorKind::StepTooSmall { state: "x".into() });
    assert!((error.time - 1.0).abs() < 1e-3);
}

#[test]
fn results_are_the_same_from_run_to_run() {
    let (a, b) = (run_ok(&bouncing_ball(), 3.0, 1e-6), run_ok(&bouncing_ball(), 3.0, 1e-6));
    assert_eq!(a, b);
}

#[test]
fn a_crossing_that_cannot_change_anything_is_not_located() {
    // when on or x > 3 then n = pre(n) + 1; x = t: while `on` is true, until 5, nobody needs to know that x passes 3.
    let mut b = Builder::new("Masked");
    let (x, on, n) = (b.real("x"), b.boolean("on"), b.integer("n"));
    b.start(x, 0.0, true);
    b.equation(der(b.var(x)), real(1.0));
    b.equation(b.var(on), less(time(), real(5.0)));
    let condition = binary(BinaryOp::Or, b.var(on), greater(b.var(x), real(3.0)));
    let next = add(pre(b.var(n)), integer(1));
    b.when(condition, vec![equality(b.var(n), next)]);
    let trajectory = run_ok(&b, 6.0, 1e-6);
    assert_eq!(trajectory.statistics.state_events, 0, "{:?}", trajectory.events);
    // True all the time, so it never becomes true.
    assert_eq!(trajectory.last("n"), Some(0.0));
}
