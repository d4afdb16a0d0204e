//! Accumulating and alternating events under every policy: stopped with a diagnosis or regularised, never hanging, and
//! passing through a threshold under `continue` only. Numbers are closed forms.

use std::sync::Arc;

use saltus_backend::compile;
use saltus_flat::build::*;
use saltus_flat::{Builtin, verify};
use saltus_runtime::Interpreter;
use saltus_sim::{EventKind, Options, SimError, SimErrorKind, Solver, Trajectory, ZenoPolicy, simulate};

fn run(b: &Builder, stop: f64, policy: ZenoPolicy, solver: Solver) -> Result<Trajectory, SimError> {
    assert_eq!(verify(&b.model), Ok(()));
    let program = compile(&b.model).expect("the model compiles");
    let mut options = Options::new(&program).with_times(0.0, stop);
    (options.on_zeno, options.solver) = (policy, solver);
    simulate(Box::new(Interpreter::new(Arc::new(program.clone()))), &options)
}

const ADAPTIVE: [Solver; 5] = [Solver::Auto, Solver::DormandPrince, Solver::DormandPrince8, Solver::Rodas, Solver::Bdf];

/// der(x) = a * sin(time) - u; u = if x > 0 then 1 else -1
fn dry_friction(a: f64, start: f64) -> Builder {
    let mut b = Builder::new("DryFriction");
    let (x, u) = (b.real("x"), b.real("u"));
    b.start(x, start, true);
    b.equation(b.var(u), if_then_else(greater(b.var(x), real(0.0)), real(1.0), real(-1.0)));
    let push = mul(real(a), apply(Builtin::Sin, vec![time()]));
    b.equation(der(b.var(x)), sub(push, b.var(u)));
    b
}

/// der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -0.8 * pre(v)); end when;
fn ball() -> Builder {
    let mut b = Builder::new("Ball");
    let (h, v) = (b.real("h"), b.real("v"));
    b.start(h, 1.0, true);
    b.start(v, 0.0, true);
    b.equation(der(b.var(h)), b.var(v));
    b.equation(der(b.var(v)), real(-9.81));
    b.when(less(b.var(h), real(0.0)), vec![reinit(b.var(v), mul(real(-0.8), pre(b.var(v))))]);
    b
}

fn values(trajectory: &Trajectory, name: &str) -> Vec<(f64, f64)> {
    trajectory.series(name).expect("the variable is there")
}

#[test]
fn a_model_that_both_sides_push_to_a_threshold_slides_along_it() {
    // |0.5 sin t| < 1: from the arrival before 0.4 on x stays 0, and the mean friction balances the push.
    for policy in [ZenoPolicy::Auto, ZenoPolicy::Slide] {
        for solver in ADAPTIVE {
            let trajectory = run(&dry_friction(0.5, 0.3), 10.0, policy, solver).expect("slides to the end");
            for ((t, x), (_, u)) in values(&trajectory, "x").into_iter().zip(values(&trajectory, "u")) {
                assert!(t < 0.4 || x.abs() < 1e-9, "{solver:?}: x({t}) = {x}");
                assert!(t < 0.4 || (u - 0.5 * t.sin()).abs() < 1e-6, "{solver:?}: u({t}) = {u}");
            }
            assert!(trajectory.statistics.events < 20, "{solver:?}: {}", trajectory.statistics.events);
            let noted = trajectory.events.iter().filter_map(|e| e.note.as_deref()).collect::<Vec<_>>();
            assert!(noted.len() == 1 && noted[0].contains("`x > 0.0`"), "{noted:?}");
            assert_eq!(trajectory.notes.len(), 1);
        }
    }
}

#[test]
fn sliding_ends_where_a_side_does_not_point_at_the_threshold_any_more() {
    // x arrives at 0 while 1.5 sin t < 1 and leaves upwards at t₀ = asin(1 / 1.5):
    // then der(x) = 1.5 sin t - 1, so x = 1.5 (cos t₀ - cos t) - (t - t₀)
    let leaves = (1.0f64 / 1.5).asin();
    let exact = |t: f64| 1.5 * (leaves.cos() - t.cos()) - (t - leaves);
    for solver in ADAPTIVE {
        let trajectory = run(&dry_friction(1.5, 0.1), 2.0, ZenoPolicy::Auto, solver).expect("reaches the end");
        let leave: Vec<f64> = trajectory.events.iter().filter(|e| e.kind == EventKind::Leave).map(|e| e.time).collect();
        assert!(leave.len() == 1 && (leave[0] - leaves).abs() < 1e-5, "{solver:?}: {leave:?} instead of {leaves}");
        for (t, x) in values(&trajectory, "x") {
            let expected = if t > leaves { exact(t) } else { 0.0 };
            assert!(t < 0.2 || (x - expected).abs() < 2e-5, "{solver:?}: x({t}) = {x} instead of {expected}");
        }
    }
}

/// Far more than any of the runs below needs: a run that hangs ends here instead of in the time limit of somebody else.
const MOST_STEPS: u64 = 100_000;

#[test]
fn every_policy_ends_the_sliding_model_for_every_integrator() {
    // Quantised states do not slide: `saltus/tests/quantised.rs`.
    for (_, solver) in Solver::NAMES.into_iter().filter(|(_, solver)| *solver != Solver::Liqss2) {
        for (name, policy) in ZenoPolicy::NAMES {
            let what = format!("{solver:?}, {name}");
            let (trajectory, error) = match run(&dry_friction(0.5, 0.3), 10.0, policy, solver) {
                Ok(trajectory) => (trajectory, None),
                Err(error) => (*error.partial.clone(), Some(error)),
            };
            match (policy, error) {
                (ZenoPolicy::Stop, Some(error)) => {
                    assert!(matches!(&error.kind, SimErrorKind::Chattering { relation, .. } if relation == "x > 0.0"));
                    // the arrival, the root of 0.3 + 0.5 (1 - cos t) = t, as far as methods of order 1 find it
                    assert!((error.time - 0.3264).abs() < 0.01, "{what}: {}", error.time);
                }
                (ZenoPolicy::Stop, None) => panic!("{what}: went on"),
                (_, Some(error)) => panic!("{what}: {error}"),
                (_, None) => assert_eq!(trajectory.segments[0].times.last(), Some(&10.0), "{what}"),
            }
            // Under `continue` held for 0.1 % of the time span at a speed of 1.5; otherwise exactly at the threshold.
            let strays = if policy == ZenoPolicy::Continue { 0.02 } else { 1e-9 };
            for (t, x) in values(&trajectory, "x") {
                assert!(t < 0.4 || x.abs() < strays, "{what}: x({t}) = {x}");
            }
            assert!(trajectory.statistics.steps < MOST_STEPS, "{what}: {:?}", trajectory.statistics);
        }
    }
}

#[test]
fn every_policy_ends_the_unguarded_ball_for_every_integrator() {
    // Flights of 2 t₀ 0.8ᵏ after a fall of t₀ = √(2 / 9.81) add up to t₀ (1 + 0.8) / (1 - 0.8).
    let accumulation = (2.0f64 / 9.81).sqrt() * 9.0;
    // Quantised states do not slide: `saltus/tests/quantised.rs`.
    for (_, solver) in Solver::NAMES.into_iter().filter(|(_, solver)| *solver != Solver::Liqss2) {
        // A parabola is not a challenge for methods of order 2 or more; the others change the height of each flight.
        let is_exact = !matches!(solver, Solver::Euler | Solver::ImplicitEuler);
        for (name, policy) in ZenoPolicy::NAMES {
            let what = format!("{solver:?}, {name}");
            let outcome = run(&ball(), 10.0, policy, solver);
            if policy == ZenoPolicy::Continue {
                let trajectory = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(trajectory.statistics.steps < MOST_STEPS, "{what}: {:?}", trajectory.statistics);
                continue;
            }
            let trajectory = match outcome {
                // Forward Euler gives energy to each flight: there is always another one.
                Ok(trajectory) if solver == Solver::Euler => trajectory,
                Ok(_) => panic!("{what}: there is no solution beyond"),
                Err(error) => {
                    let SimErrorKind::Zeno { relation, accumulation: found } = &error.kind else {
                        panic!("{what}: {error}")
                    };
                    assert_eq!(relation, "h < 0.0");
                    let is_right = found.is_some_and(|t| (t - accumulation).abs() < 1e-7);
                    assert!(!is_exact || is_right, "{what}: {found:?} instead of {accumulation}");
                    *error.partial
                }
            };
            let lowest = values(&trajectory, "h").iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
            assert!(lowest > -1e-9, "{what}: {lowest}");
            assert!(trajectory.statistics.steps < MOST_STEPS, "{what}: {:?}", trajectory.statistics);
        }
    }
}

#[test]
fn stop_names_the_relation_and_what_alternates() {
    let error = run(&dry_friction(0.5, 0.3), 10.0, ZenoPolicy::Stop, Solver::Auto).map(|_| ()).expect_err("stops");
    let SimErrorKind::Chattering { relation, modes, .. } = &error.kind else { panic!("{error}") };
    assert_eq!(relation, "x > 0.0");
    assert_eq!(modes.len(), 1, "{modes:?}");
    // the root of 0.3 + 0.5 (1 - cos t) = t, by Newton's method on paper
    assert!((error.time - 0.326398).abs() < 1e-5, "{}", error.time);
    assert!(!error.partial.segments[0].times.is_empty());
}

#[test]
fn continue_goes_on_near_the_threshold() {
    let trajectory = run(&dry_friction(0.5, 0.3), 10.0, ZenoPolicy::Continue, Solver::Auto).expect("goes on");
    // Held for at most 0.1 % of the time span at a speed of at most 1.5, x strays by as much.
    for (t, x) in values(&trajectory, "x") {
        assert!(t < 0.4 || x.abs() < 0.02, "x({t}) = {x}");
    }
}

#[test]
fn the_unguarded_ball_is_stopped_where_its_bounces_accumulate() {
    // Flights of 2 t₀ 0.8ᵏ after a fall of t₀ = √(2 / 9.81) add up to t₀ (1 + 0.8) / (1 - 0.8).
    let accumulation = (2.0f64 / 9.81).sqrt() * 9.0;
    for policy in [ZenoPolicy::Auto, ZenoPolicy::Stop, ZenoPolicy::Slide] {
        let error = run(&ball(), 10.0, policy, Solver::Auto).map(|_| ()).expect_err("there is no solution beyond");
        let SimErrorKind::Zeno { relation, accumulation: Some(found) } = &error.kind else { panic!("{error}") };
        assert_eq!(relation, "h < 0.0");
        assert!((found - accumulation).abs() < 1e-7, "{found} instead of {accumulation}");
        let lowest = values(&error.partial, "h").iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        assert!(lowest > -1e-9, "{lowest}");
    }
    let trajectory = run(&ball(), 10.0, ZenoPolicy::Continue, Solver::Auto).expect("goes on");
    assert!(trajectory.last("h").is_some_and(|h| h < 0.0), "it may pass through the floor");
}

/// der(x) = 0.3*sin(5*time) - sign(x); der(y) = if x > 0 then 1 else -1
fn relay() -> Builder {
    let mut b = Builder::new("Relay");
    let (x, y) = (b.real("x"), b.real("y"));
    b.start(x, 0.5, true);
    b.start(y, 0.0, true);
    let push = mul(real(0.3), apply(Builtin::Sin, vec![mul(real(5.0), time())]));
    b.equation(der(b.var(x)), sub(push, apply(Builtin::Sign, vec![b.var(x)])));
    b.equation(der(b.var(y)), if_then_else(greater(b.var(x), real(0.0)), real(1.0), real(-1.0)));
    b
}

#[test]
fn what_changes_at_a_threshold_without_an_event_slides_as_well() {
    // x falls as 0.56 - t - 0.06 cos 5t until it is 0 at t0; then the mean of sign(x) is the push, and so is der(y).
    let mut t0 = 0.6_f64;
    for _ in 0..20 {
        t0 -= (0.56 - t0 - 0.06 * (5.0 * t0).cos()) / (-1.0 + 0.3 * (5.0 * t0).sin());
    }
    let y = |t: f64| t0 + 0.06 * ((5.0 * t0).cos() - (5.0 * t).cos());
    for solver in ADAPTIVE {
        let trajectory = run(&relay(), 10.0, ZenoPolicy::Auto, solver).expect("slides to the end");
        let sliding: Vec<_> = values(&trajectory, "y").into_iter().filter(|(t, _)| *t > 0.7).collect();
        // The arrival is found in a step over the kink, which `sign` hides from the integrator; sliding itself is accurate.
        let late = sliding[0].1 - y(sliding[0].0);
        assert!(late.abs() < 1e-3, "{solver:?}: arrives {late} s late");
        for (t, found) in sliding {
            assert!((found - late - y(t)).abs() < 1e-4, "{solver:?}: y({t}) = {found}, not {}", y(t) + late);
        }
        assert!(values(&trajectory, "x").iter().all(|(t, x)| *t < 0.7 || x.abs() < 1e-7), "{solver:?}");
        assert!(trajectory.statistics.events < 50, "{solver:?}: {}", trajectory.statistics.events);
    }
}
