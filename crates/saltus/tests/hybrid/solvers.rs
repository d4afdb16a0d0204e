//! What every integrator that `--solver` offers must do with events: locate them, find two in one step, settle those at
//! the start and those that coincide.

use std::f64::consts::PI;

use saltus::pipeline::{self, Engine, Experiment, Options};
use saltus::{Session, Settings};
use saltus_sim::{EventKind, Solver, Trajectory};

use crate::{ADAPTIVE, run, simulate, state_events};

/// Every integrator by its name on the command line.
fn all() -> impl Iterator<Item = Solver> {
    Solver::NAMES.iter().map(|(_, solver)| *solver)
}

/// Those that move all states together, and so meet an event with all of them: they write rows there, take what crosses within the
/// accuracy of the location for one, and know relations that are curved.
fn integrators() -> impl Iterator<Item = Solver> {
    all().filter(|solver| *solver != Solver::Liqss2)
}

fn with_step(text: &str, stop: f64, solver: Solver, step: f64) -> Trajectory {
    let (stop_time, fixed_step, tolerance) = (Some(stop), Some(step), Some(1e-11));
    run(text, Engine::Auto, Experiment { stop_time, fixed_step, tolerance, solver, ..Experiment::default() })
}

const OSCILLATOR: &str = "model Oscillator
      Real x(start = 1, fixed = true), v(start = 0, fixed = true);
      Boolean low = x < 0;
    equation
      der(x) = v;
      der(v) = -x;
    end Oscillator;";

#[test]
fn crossings_of_an_oscillator_are_where_they_should_be() {
    // A step of Euler's methods turns the phase by atan(h) instead of h, that of a method of order 4 by h(1 - h⁴/120).
    let h = 2e-4f64;
    for solver in all() {
        let pace = if matches!(solver, Solver::Euler | Solver::ImplicitEuler) { h / h.atan() } else { 1.0 };
        let events = state_events(&with_step(OSCILLATOR, 20.0, solver, h));
        // cos t = 0 at (k + ½)π
        assert_eq!(events.len(), 6, "{solver:?}: {events:?}");
        for (k, found) in events.iter().enumerate() {
            let exact = (k as f64 + 0.5) * PI * pace;
            assert!((found - exact).abs() < 1e-9, "{solver:?}: {found} instead of {exact}");
        }
    }
}

#[test]
fn at_the_located_instant_the_threshold_is_met() {
    for solver in integrators() {
        let trajectory = simulate(OSCILLATOR, 20.0, solver, 1e-6);
        let (x, v) = (trajectory.series("x").expect("x"), trajectory.series("v").expect("v"));
        let events = state_events(&trajectory);
        assert!(events.len() >= 5, "{solver:?}: {events:?}");
        for t in events {
            let row = x.iter().position(|p| p.0 == t).expect("a row at the event");
            // The distance from the threshold as time.
            let error = (x[row].1 / v[row].1).abs();
            assert!(error < 1e-12, "{solver:?}: {error} at {t}");
        }
    }
}

#[test]
fn a_chain_of_conditions_is_one_event_with_one_restart() {
    let text = "model Chain
      Real x(start = 0, fixed = true);
      Boolean a(start = false, fixed = true), b(start = false, fixed = true), c(start = false, fixed = true);
    equation
      a = x > 1;
      b = pre(a);
      c = pre(b);
      der(x) = if c then 0 else 1;
    end Chain;";
    for solver in all() {
        let trajectory = simulate(text, 2.0, solver, 1e-6);
        let events = state_events(&trajectory);
        assert!(events.len() == 1 && (events[0] - 1.0).abs() < 1e-9, "{solver:?}: {events:?}");
        assert!(trajectory.last("x").is_some_and(|x| (x - 1.0).abs() < 1e-9), "{solver:?}");
        let restarts = trajectory.events.iter().filter(|e| e.kind == EventKind::State && e.is_restart).count();
        assert_eq!(restarts, 1, "{solver:?}");
    }
}

/// A coil behind a diode that blocks: its leakage is 1e-7 of the 10 V. An explicit method keeps the current within its tolerance, but not on one side of
/// zero, and s is 1e7 times as large on the other side: however often the diode alternates, that is no measure of the current it may carry backwards.
#[test]
fn bands_are_measured_on_the_side_with_the_smaller_operands() {
    let text = "model Coil
      Real i(start = 0, fixed = true), v, s;
      Boolean off = s < 0;
    equation
      v = s*(if off then 1 else 1e-5);
      i = s*(if off then 1e-7 else 1);
      0.5*der(i) = -10*sin(62.83185307179586*time) - v;
    end Coil;";
    let trajectory = simulate(text, 0.03, Solver::DormandPrince, 1e-6);
    let largest = trajectory.series("i").expect("a signal").iter().fold(0.0_f64, |most, (_, i)| most.max(i.abs()));
    assert!(largest <= 1e-6 + 1e-6, "the leakage and the tolerance are less than {largest}");
}

/// x = t without error for every integrator, so y = t (2 - t): it touches 1 at t = 1 and is below it before and after.
fn parabola(condition: &str) -> String {
    format!(
        "model Parabola
      Real x(start = 0, fixed = true), y = x*(2 - x);
      Boolean above = {condition};
      discrete Integer n(start = 0, fixed = true);
    equation
      der(x) = 1;
      when above then
        n = pre(n) + 1;
      end when;
    end Parabola;"
    )
}

#[test]
fn a_threshold_that_is_touched_changes_nothing_for_long() {
    for solver in integrators() {
        for condition in ["y > 1", "y >= 1", "not y < 1", "not y <= 1"] {
            let trajectory = simulate(&parabola(condition), 2.0, solver, 1e-8);
            assert_eq!(trajectory.last("above"), Some(0.0), "{solver:?}, {condition}");
            // Whether it is reached in between is a matter of rounding.
            assert!(trajectory.last("n").is_some_and(|n| n <= 1.0), "{solver:?}, {condition}");
            let events = state_events(&trajectory);
            assert!(events.iter().all(|t| (t - 1.0).abs() < 1e-6), "{solver:?}, {condition}: {events:?}");
        }
    }
}

#[test]
fn a_state_that_touches_a_threshold_changes_nothing_for_long() {
    // x = t (2 - t) touches 1 at t = 1
    let text = "model Touch
      Real x(start = 0, fixed = true);
      Boolean above = x > 1;
    equation
      der(x) = 2 - 2*time;
    end Touch;";
    for solver in ADAPTIVE {
        let trajectory = simulate(text, 2.0, solver, 1e-8);
        assert_eq!(trajectory.last("above"), Some(0.0), "{solver:?}");
        assert!(trajectory.last("x").is_some_and(|x| x.abs() < 1e-6), "{solver:?}");
    }
}

#[test]
fn two_crossings_in_one_step_are_found() {
    for solver in integrators() {
        // Fixed steps end at 0.8 and at 1.6; y is above 0.99 from 0.9 to 1.1 only.
        let trajectory = with_step(&parabola("y > 0.99"), 2.0, solver, 0.8);
        let events = state_events(&trajectory);
        assert!(events.len() == 2, "{solver:?}: {events:?}");
        assert!((events[0] - 0.9).abs() < 1e-12 && (events[1] - 1.1).abs() < 1e-12, "{solver:?}: {events:?}");
        assert_eq!((trajectory.last("n"), trajectory.last("above")), (Some(1.0), Some(0.0)), "{solver:?}");
    }
}

#[test]
fn two_crossings_of_a_state_in_one_step_are_found() {
    // x = t (2 - t) is above 0.99 from 0.9 to 1.1
    let text = "model Bump
      Real x(start = 0, fixed = true);
      discrete Integer n(start = 0, fixed = true);
    equation
      der(x) = 2 - 2*time;
      when x > 0.99 then
        n = pre(n) + 1;
      end when;
    end Bump;";
    for solver in ADAPTIVE {
        let trajectory = simulate(text, 2.0, solver, 1e-6);
        let events = state_events(&trajectory);
        assert!(events.len() == 2, "{solver:?}: {events:?}");
        // The error of x, some 1e-6, divided by its slope of 0.2 there.
        assert!((events[0] - 0.9).abs() < 2e-5 && (events[1] - 1.1).abs() < 2e-5, "{solver:?}: {events:?}");
        assert_eq!(trajectory.last("n"), Some(1.0));
    }
}

#[test]
fn an_event_at_the_start_happens_once() {
    // x = 0 is not above 0 initially, but right after it
    let text = "model AtStart
      Real x(start = 0, fixed = true);
      discrete Real since(start = -1, fixed = true);
      discrete Integer n(start = 0, fixed = true);
    equation
      der(x) = 1;
      when x > 0 then
        since = time;
        n = pre(n) + 1;
      end when;
    end AtStart;";
    for solver in all() {
        let trajectory = simulate(text, 1.0, solver, 1e-6);
        assert_eq!(trajectory.last("n"), Some(1.0), "{solver:?}");
        assert!(trajectory.last("since").is_some_and(|t| (0.0..1e-9).contains(&t)), "{solver:?}");
    }
}

#[test]
fn samples_that_meet_are_one_event() {
    let text = "model Samples
      discrete Integer fast(start = 0, fixed = true), slow(start = 0, fixed = true), both(start = 0, fixed = true);
      Real x(start = 0, fixed = true);
    equation
      der(x) = 1;
      when sample(0, 1) then
        fast = pre(fast) + 1;
      end when;
      when sample(0, 5) then
        slow = pre(slow) + 1;
      end when;
      when sample(0, 1) and sample(0, 5) then
        both = pre(both) + 1;
      end when;
    end Samples;";
    for solver in all() {
        let trajectory = simulate(text, 20.5, solver, 1e-6);
        // ticks at 0, 1, … 20 and at 0, 5, … 20
        let last = |name: &str| trajectory.last(name);
        assert_eq!((last("fast"), last("slow"), last("both")), (Some(21.0), Some(5.0), Some(5.0)), "{solver:?}");
        let times = trajectory.events.iter().filter(|e| e.kind == EventKind::Time).map(|e| e.time);
        assert!(times.eq((1..=20).map(f64::from)), "{solver:?}: one event at each full second");
    }
}

/// 0.1 + 2·0.1 = 0.30000000000000004 in floating point: the third tick is a unit in the last place behind 0.3.
#[test]
fn ticks_that_rounding_puts_behind_the_stop_time_belong_to_the_run() {
    let text = "model LastTick
      discrete Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
      Integer c(start = 0);
      Real x(start = 0, fixed = true);
      Boolean b = sin(time) > 0.5; // is looked for ahead of the steps, up to the end
    equation
      der(x) = 1;
      when sample(0.1, 0.1) then
        n = pre(n) + 1;
      end when;
      when time >= 0.1 + 0.2 then
        m = pre(m) + 1;
      end when;
      when Clock(0.1) then
        c = previous(c) + 1;
      end when;
    end LastTick;";
    let strict = "model AfterTheEnd
      discrete Integer n(start = 0, fixed = true);
      Real x(start = 0, fixed = true);
    equation
      der(x) = 1;
      when time > 0.3 then
        n = pre(n) + 1;
      end when;
    end AfterTheEnd;";
    for solver in integrators() {
        let trajectory = simulate(text, 0.3, solver, 1e-6);
        let last = |name: &str| trajectory.last(name);
        // Ticks at 0.1, 0.2 and 0.3; the clock also ticks at 0.
        assert_eq!((last("n"), last("m"), last("c")), (Some(3.0), Some(1.0), Some(4.0)), "{solver:?}");
        // What begins after the stop time is not part of the run.
        assert_eq!(simulate(strict, 0.3, solver, 1e-6).last("n"), Some(0.0), "{solver:?}");
    }
}

/// A run that ends at such a tick, or is stopped a unit in the last place before it, goes on without ticking twice.
#[test]
fn a_tick_at_the_stop_time_is_not_repeated_when_the_run_goes_on() {
    let text = "model LastTick
      discrete Integer n(start = 0, fixed = true);
      Real x(start = 0, fixed = true);
    equation
      der(x) = 1;
      when sample(0.1, 0.1) then
        n = pre(n) + 1;
      end when;
    end LastTick;";
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(None).expect("one model");
    let model = pipeline::compile(&session, class, &Options::default()).expect("it compiles");
    let settings = |stop: f64| Settings { stop_time: Some(stop), ..Settings::default() };
    let mut run = saltus::Simulation::new(model.clone(), &settings(0.3));
    run.advance_to(0.3).expect("it runs");
    assert_eq!((run.get("n").ok(), run.is_over()), (Some(3.0), true));
    let state = run.state().expect("it can be saved");
    run.extend(0.6);
    run.advance_to(0.6).expect("it goes on");
    // Ticks at 0.1, 0.2, … 0.6.
    assert_eq!(run.get("n").ok(), Some(6.0));
    let mut restored = saltus::Simulation::new(model.clone(), &settings(0.3));
    restored.restore(&state).expect("the state of a run that has ended");
    assert!(restored.is_over());
    // Stopped at 0.3, before the tick, because the run goes on to 0.6.
    let mut pieces = saltus::Simulation::new(model, &settings(0.6));
    for until in [0.3, 0.30000000000000004, 0.45, 0.6] {
        pieces.advance_to(until).expect("it runs");
    }
    assert_eq!(pieces.get("n").ok(), Some(6.0));
}

#[test]
fn relations_that_cross_together_are_one_event() {
    let text = "model Together
      Real x(start = 0, fixed = true), y(start = 2, fixed = true);
      Boolean a = x > 0.9301, b = y < 1.0699;
      discrete Integer n(start = 0, fixed = true);
    equation
      der(x) = 1;
      der(y) = -1;
      when a and b then
        n = pre(n) + 1;
      end when;
    end Together;";
    for solver in integrators() {
        let trajectory = simulate(text, 2.0, solver, 1e-6);
        assert_eq!(trajectory.last("n"), Some(1.0), "{solver:?}");
        let events = state_events(&trajectory);
        assert!(events.len() == 1 && (events[0] - 0.9301).abs() < 1e-9, "{solver:?}: {events:?}");
    }
}

/// `sign` in a branch that no mode chooses has no say, and neither has that of a parameter: Jacobians are exact until it counts.
#[test]
fn only_jumps_that_count_keep_jacobians_from_being_exact() {
    let rough_from = |time: f64| {
        format!(
            "model M
      parameter Real p = 3;
      Real w(start = 1, fixed = true), a = sign(p)*w;
      Boolean rough = time >= {time};
    equation
      der(w) = if rough then -1000*(w - sin(time)) - sign(w + 2) else -1000*(a - sin(time)) - 1;
    end M;"
        )
    };
    for solver in [Solver::Bdf, Solver::Rodas] {
        let smooth = simulate(&rough_from(2.0), 1.0, solver, 1e-6);
        assert!(smooth.statistics.jacobian_evaluations > 0, "{solver:?}");
        assert_eq!(smooth.statistics.difference_jacobians, 0, "{solver:?}");
        let rough = simulate(&rough_from(0.5), 1.0, solver, 1e-6);
        assert!(rough.statistics.difference_jacobians > 0, "{solver:?}");
        // Both branches are the same function while w > -2.
        let (one, other) = (smooth.series("w").expect("w"), rough.series("w").expect("w"));
        let ends = (one.last().expect("a row").1, other.last().expect("a row").1);
        assert!((ends.0 - ends.1).abs() < 1e-5, "{solver:?}: {ends:?}");
    }
}
