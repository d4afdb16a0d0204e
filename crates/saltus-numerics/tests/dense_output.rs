//! Interpolation inside steps and the location of events on it, for every method; restarts and failures.

mod problems;

use problems::{METHODS, Oscillator, ProtheroRobinson, STIFF_METHODS, advance, integrator, run, uniform};
use saltus_numerics::{
    Bracket, Eval, IntegratorError, Interval, OdeSystem, Statistics, TrialFailure, locate_sign_change,
};

#[test]
fn the_interpolant_joins_the_steps() {
    for method in METHODS {
        let mut solver = integrator(method, uniform(2, 1e-6), f64::INFINITY);
        let mut system = Oscillator { omega: 3.0 };
        solver.restart(&mut system, 0.0, &[1.0, 0.0]).unwrap();
        let (mut before, mut x) = (vec![1.0, 0.0], vec![0.0; 2]);
        while solver.time() < 5.0 {
            solver.step(&mut system, 5.0).unwrap();
            solver.interpolate(solver.step_start(), &mut x);
            assert!((x[0] - before[0]).abs() < 1e-12 && (x[1] - before[1]).abs() < 1e-12, "{method}: start of a step");
            solver.interpolate(solver.time().next_down(), &mut x);
            assert!(x.iter().zip(solver.states()).all(|(a, b)| (a - b).abs() < 1e-12), "{method}: end of a step");
            before.copy_from_slice(solver.states());
        }
    }
}

#[test]
fn the_interpolant_is_as_accurate_as_the_steps() {
    // closed form cos 3t; 30 tolerances for the accumulated error of up to 400 steps
    for (method, most) in [
        ("dormand-prince", 3e-5),
        ("dormand-prince-8", 3e-5),
        ("rodas4", 3e-5),
        ("rodas5p", 3e-5),
        ("bdf", 1e-3),
        ("automatic", 3e-5),
    ] {
        let mut solver = integrator(method, uniform(2, 1e-6), f64::INFINITY);
        let mut system = Oscillator { omega: 3.0 };
        solver.restart(&mut system, 0.0, &[1.0, 0.0]).unwrap();
        let mut x = [0.0; 2];
        while solver.time() < 10.0 {
            solver.step(&mut system, 10.0).unwrap();
            for i in 0..10 {
                let t = solver.step_start() + (solver.time() - solver.step_start()) * f64::from(i) / 10.0;
                solver.interpolate(t, &mut x);
                assert!((x[0] - (3.0 * t).cos()).abs() < most, "{method}: {} at {t}", x[0]);
            }
        }
    }
}

#[test]
fn the_interpolant_holds_in_a_stiff_transient() {
    // x = cos t + exp(λ·t): the first steps contain the whole transient, later ones cover many of its time constants
    let lambda = -1e4f64;
    for method in STIFF_METHODS {
        let mut solver = integrator(method, uniform(1, 1e-6), f64::INFINITY);
        let mut system = ProtheroRobinson { lambda };
        solver.restart(&mut system, 0.0, &[2.0]).unwrap();
        let mut x = [0.0];
        while solver.time() < 1.0 {
            solver.step(&mut system, 1.0).unwrap();
            for i in 0..8 {
                let t = solver.step_start() + (solver.time() - solver.step_start()) * f64::from(i) / 8.0;
                solver.interpolate(t, &mut x);
                let exact = t.cos() + (lambda * t).exp();
                assert!((x[0] - exact).abs() < 1e-4, "{method}: {} for {exact} at {t}", x[0]);
            }
        }
    }
}

#[test]
fn a_transient_after_an_event_is_not_passed_over() {
    // x = cos t + height·exp(λ·(t − 1)) for t > 1: an event moves the state, and the steps before it were long
    let lambda = -1e8f64;
    for (method, height) in STIFF_METHODS.iter().flat_map(|method| [1.0, 1e-4].map(|height| (method, height))) {
        let mut solver = integrator(method, uniform(1, 1e-6), f64::INFINITY);
        let mut system = ProtheroRobinson { lambda };
        run(solver.as_mut(), &mut system, &[1.0], 1.0);
        solver.reinit(&mut system, 1.0, &[1f64.cos() + height]).unwrap();
        // a cubic over a step of 0.4, on which the states themselves are exact, is not better
        let most = if *method == "rodas4" { 1e-3 } else { 1e-5 };
        let mut x = [0.0];
        while solver.time() < 1.5 {
            solver.step(&mut system, 1.5).unwrap();
            for i in 0..8 {
                let t = solver.step_start() + (solver.time() - solver.step_start()) * f64::from(i) / 8.0;
                solver.interpolate(t, &mut x);
                let exact = t.cos() + height * (lambda * (t - 1.0)).exp();
                assert!((x[0] - exact).abs() < most, "{method}, height {height}: {} for {exact} at {t}", x[0]);
            }
        }
        let steps = solver.statistics().steps;
        assert!(steps < 500, "{method}: {steps} steps");
    }
}

#[test]
fn events_are_located_on_the_interpolant_to_rounding() {
    // first zero of cos 3t: π/6; the bracket must be as tight as time allows and the value there zero to rounding
    for (method, most) in [
        ("dormand-prince", 1e-6),
        ("dormand-prince-8", 1e-6),
        ("rodas4", 1e-6),
        ("rodas5p", 1e-6),
        ("bdf", 1e-4),
        ("automatic", 1e-6),
    ] {
        let mut solver = integrator(method, uniform(2, 1e-7), f64::INFINITY);
        let mut system = Oscillator { omega: 3.0 };
        solver.restart(&mut system, 0.0, &[1.0, 0.0]).unwrap();
        while solver.states()[0] > 0.0 {
            solver.step(&mut system, 5.0).unwrap();
        }
        let value = |t: f64| {
            let mut x = [0.0; 2];
            solver.interpolate(t, &mut x);
            x[0]
        };
        let (a, b) = (solver.step_start(), solver.time());
        let found: Result<Bracket, ()> =
            locate_sign_change(Bracket { before: a, after: b }, value(a), value(b), &mut |t| Ok(value(t)));
        let bracket = found.unwrap();
        assert!(bracket.after - bracket.before < 1e-12 * bracket.after, "{method}: {bracket:?}");
        // slope −3 at the zero
        assert!(value(bracket.after).abs() < 3e-12, "{method}: value {:e}", value(bracket.after));
        let exact = std::f64::consts::PI / 6.0;
        assert!((bracket.after - exact).abs() < most, "{method}: {} for {exact}", bracket.after);
    }
}

/// ẋ = ±1 with a sign that events change.
struct Sawtooth {
    slope: f64,
}

impl OdeSystem for Sawtooth {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = self.slope;
        dx[1] = -x[1] + t.sin();
        Ok(())
    }
}

fn sawtooth_cost(method: &str, is_reinit: bool) -> Statistics {
    let mut system = Sawtooth { slope: 1.0 };
    let mut solver = integrator(method, uniform(2, 1e-6), f64::INFINITY);
    solver.restart(&mut system, 0.0, &[0.0, 0.5]).unwrap();
    let mut x = [0.0; 2];
    for k in 1..=100 {
        let t = 0.1 * f64::from(k);
        advance(solver.as_mut(), &mut system, t);
        x.copy_from_slice(solver.states());
        system.slope = -system.slope;
        if is_reinit {
            solver.reinit(&mut system, t, &x).unwrap();
        } else {
            solver.restart(&mut system, t, &x).unwrap();
        }
    }
    // y = ½·(sin t − cos t) + exp(−t); the sawtooth returns to 0 after an even number of pieces
    assert!(x[0].abs() < 1e-9, "{method}: {x:?}");
    let exact = 0.5 * (10f64.sin() - 10f64.cos()) + (-10f64).exp();
    assert!((x[1] - exact).abs() < 3e-5, "{method}: {} for {exact}", x[1]);
    solver.statistics()
}

#[test]
fn reinit_is_cheaper_than_restart() {
    for method in METHODS {
        let (reinit, restart) = (sawtooth_cost(method, true), sawtooth_cost(method, false));
        assert_eq!((reinit.restarts, restart.restarts), (101, 101), "{method}");
        assert!(reinit.evaluations <= restart.evaluations, "{method}: {reinit:?} and {restart:?}");
    }
}

/// ẋ = √x downhill: undefined below 0, which trial points reach. x = (1 − t/2)².
struct Root;

impl OdeSystem for Root {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        // as a model would do it: a number that is none, and no error
        dx[0] = -x[0].sqrt();
        Ok(())
    }
}

/// ẋ = x²: x = 1/(1 − t) has a pole.
struct Pole;

impl OdeSystem for Pole {
    fn derivatives(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = x[0] * x[0];
        if x[0] < 1e12 { Ok(()) } else { Err(TrialFailure) }
    }
}

#[test]
fn failing_trial_points_shorten_steps_and_poles_end_the_run() {
    for method in METHODS {
        let mut solver = integrator(method, uniform(1, 1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut Root, &[1.0], 1.9);
        assert!((solver.states()[0] - 0.0025).abs() < 1e-4, "{method}: {:?}", solver.states());
        solver.restart(&mut Pole, 0.0, &[1.0]).unwrap();
        let failed = (0..20_000).find_map(|_| solver.step(&mut Pole, 2.0).err());
        let at = matches!(failed, Some(IntegratorError::StepTooSmall { t }) if (t - 1.0).abs() < 1e-3);
        assert!(at, "{method}: {failed:?}");
        let start = solver.restart(&mut Pole, 0.0, &[1e13]);
        assert_eq!(start, Err(IntegratorError::StartFails { t: 0.0 }), "{method}");
    }
}

#[test]
fn limits_and_the_longest_step_are_kept() {
    for method in METHODS {
        let mut solver = integrator(method, uniform(2, 1e-4), 0.05);
        let mut system = Oscillator { omega: 1.0 };
        solver.restart(&mut system, 0.0, &[1.0, 0.0]).unwrap();
        for k in 1..=7 {
            let limit = f64::from(k) / 7.0;
            while solver.time() < limit {
                solver.step(&mut system, limit).unwrap();
                assert!(solver.time() - solver.step_start() <= 0.05 + 1e-15, "{method}");
            }
            assert_eq!(solver.time(), limit, "{method}");
        }
        // tighter tolerances from here on give a smaller error per unit of time
        solver.set_max_step(f64::INFINITY);
        solver.set_tolerances(1e-9, &[1e-9, 1e-9]);
        let x0 = solver.states()[0];
        let x = [1f64.cos(), -1f64.sin()];
        assert!((x0 - x[0]).abs() < 2e-3, "{method}");
        solver.reinit(&mut system, 1.0, &x).unwrap();
        advance(solver.as_mut(), &mut system, 3.0);
        assert!((solver.states()[0] - 3f64.cos()).abs() < 1e-6, "{method}");
    }
}

/// A system that has no derivatives from some time on.
struct Ending;

impl OdeSystem for Ending {
    fn derivatives(&mut self, t: f64, _: &[f64], dx: &mut [f64]) -> Eval {
        dx[0] = 1.0;
        if t < 1.0 { Ok(()) } else { Err(TrialFailure) }
    }
}

/// The solution may go on elsewhere: whoever looks for that must know where it ended.
#[test]
fn a_restart_that_fails_is_the_present_point() {
    for method in METHODS {
        let mut solver = integrator(method, uniform(1, 1e-6), f64::INFINITY);
        for is_reinit in [false, true] {
            run(solver.as_mut(), &mut Ending, &[0.0], 0.5);
            let again = if is_reinit {
                solver.reinit(&mut Ending, 2.0, &[3.0])
            } else {
                solver.restart(&mut Ending, 2.0, &[3.0])
            };
            assert_eq!(again, Err(IntegratorError::StartFails { t: 2.0 }), "{method}");
            assert_eq!((solver.time(), solver.step_start(), solver.states()), (2.0, 2.0, &[3.0][..]), "{method}");
        }
    }
}

/// A model without states still has time.
struct Nothing;

impl OdeSystem for Nothing {
    fn derivatives(&mut self, _: f64, _: &[f64], _: &mut [f64]) -> Eval {
        Ok(())
    }
}

#[test]
fn no_states_are_integrated_in_one_step() {
    for method in METHODS {
        let mut solver = integrator(method, uniform(0, 1e-6), f64::INFINITY);
        run(solver.as_mut(), &mut Nothing, &[], 1e3);
        assert!(solver.statistics().steps <= 3, "{method}: {:?}", solver.statistics());
    }
}

#[test]
fn interpolants_enclose_the_interpolation() {
    for method in METHODS {
        let mut solver = integrator(method, uniform(2, 1e-6), f64::INFINITY);
        let mut system = Oscillator { omega: 3.0 };
        solver.restart(&mut system, 0.5, &[1.0, 0.0]).unwrap();
        let (mut x, mut later) = (vec![0.0; 2], vec![0.0; 2]);
        while solver.time() < 3.0 {
            solver.step(&mut system, 3.0).unwrap();
            let (from, h) = (solver.step_start(), solver.time() - solver.step_start());
            for (a, b) in [(0.0, 1.0), (0.0, 0.1), (0.3, 0.35), (0.9, 1.0), (0.5, 0.5)] {
                let t = Interval::new(from + a * h, (from + b * h).min(solver.time()));
                for state in 0..2 {
                    let (value, slope) = solver.interpolant(state).enclose(t);
                    for k in 0..=8 {
                        let at = t.lo + (t.hi - t.lo) * f64::from(k) / 8.0;
                        solver.interpolate(at, &mut x);
                        assert!(value.contains(x[state]), "{method}: {} is not in {value:?} at {at}", x[state]);
                    }
                    // The dense output is as wide as its enclosure to second order.
                    assert!(value.hi - value.lo <= 12.0 * (t.hi - t.lo) + 1e-12, "{method}: {value:?} over {t:?}");
                    solver.interpolate(t.lo, &mut x);
                    solver.interpolate(t.hi, &mut later);
                    let quotient = (later[state] - x[state]) / (t.hi - t.lo);
                    let slack = 1e-12 / (t.hi - t.lo);
                    assert!(
                        t.is_point() || slope.lo - slack <= quotient && quotient <= slope.hi + slack,
                        "{method}: {quotient} is not in {slope:?} over {t:?}"
                    );
                }
            }
        }
    }
}
