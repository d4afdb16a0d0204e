//! No crossing is missed: models whose events are known in closed form, and random ones whose events another method finds.

#[path = "detection/signals.rs"]
mod signals;

use std::f64::consts::{PI, TAU};
use std::time::Instant;

use saltus::Session;
use saltus::pipeline::{self, Experiment, Options, Stage};
use saltus_sim::{EventSearch, Solver, Trajectory};
use signals::{Condition, Random};

fn run(text: &str, experiment: Experiment) -> Trajectory {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(None).expect("one model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment = experiment;
    let outcome = pipeline::run(&session, class, &options);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?} in\n{text}");
    outcome.trajectory.expect("a trajectory")
}

fn simulate(text: &str, stop: f64, tolerance: f64, events: EventSearch) -> Trajectory {
    let (stop_time, tolerance) = (Some(stop), Some(tolerance));
    run(text, Experiment { stop_time, tolerance, events, ..Experiment::default() })
}

/// When the Boolean `b` changes.
fn changes(trajectory: &Trajectory) -> Vec<f64> {
    let changed = trajectory.events.iter().filter(|e| e.changes.iter().any(|c| &*c.variable == "b"));
    changed.map(|e| e.time).filter(|&t| t > 0.0).collect()
}

fn assert_times(found: &[f64], exact: &[f64], relative: f64) {
    assert_eq!(found.len(), exact.len(), "found {} changes instead of {}", found.len(), exact.len());
    for (found, exact) in found.iter().zip(exact) {
        assert!((found - exact).abs() <= relative * exact.abs(), "{found} instead of {exact}");
    }
}

fn is_proved(trajectory: &Trajectory) -> bool {
    trajectory.detection.iter().all(|r| r.sampled == 0 && r.proved > 0)
}

/// Of time alone, and the same of a state that is equal to it.
const CLOCKS: [(&str, &str); 2] = [
    ("time", "Real y(start = 0, fixed = true); equation der(y) = -y;"),
    ("x", "Real x(start = 0, fixed = true); equation der(x) = 1;"),
];

/// `b = condition`, of `u`; time alone needs no proof of steps.
fn each_clock(condition: &str, stop: f64, exact: &[f64], relative: f64) {
    for (u, rest) in CLOCKS {
        let condition = condition.replace("$u", u);
        let text = format!("model M Boolean b = {condition}; {rest} end M;");
        let events = if u == "time" { EventSearch::Fast } else { EventSearch::Proved };
        let trajectory = simulate(&text, stop, 1e-6, events);
        assert_times(&changes(&trajectory), exact, relative);
        assert!(is_proved(&trajectory), "{u}: {:?}", trajectory.detection);
    }
}

#[test]
fn narrow_pulses_of_a_sine_are_found() {
    // sin(100 t) > 0.9999 from (asin 0.9999 + 2πk)/100 to (π - asin 0.9999 + 2πk)/100
    let edge = 0.9999f64.asin();
    let exact: Vec<f64> = (0..159)
        .flat_map(|k| [(edge + TAU * f64::from(k)) / 100.0, (PI - edge + TAU * f64::from(k)) / 100.0])
        .collect();
    each_clock("sin(100*$u) > 0.9999", 10.0, &exact, 1e-9);
}

#[test]
fn every_edge_of_a_square_wave_is_found() {
    // cos(100π t) > 0 changes at (k + 1/2)/100 s
    let exact: Vec<f64> = (0..2000).map(|k| (f64::from(k) + 0.5) / 100.0).collect();
    each_clock("cos(314.159265358979323846*$u) > 0", 20.0, &exact, 1e-9);
}

#[test]
fn beats_are_found() {
    // sin 100t + sin 101t = 2 sin(100.5 t) cos(0.5 t), above 1.9 near 4πk alone
    let f = |t: f64| 2.0 * (100.5 * t).sin() * (0.5 * t).cos() - 1.9;
    let (mut exact, n) = (Vec::new(), 20_000_000);
    let mut before = f(0.0);
    for k in 1..=n {
        let (a, b) = (20.0 * f64::from(k - 1) / f64::from(n), 20.0 * f64::from(k) / f64::from(n));
        let now = f(b);
        if (before < 0.0) != (now < 0.0) {
            let mut t = a + (b - a) * before / (before - now);
            (0..3).for_each(|_| t -= f(t) * 1e-8 / (f(t + 1e-8) - f(t)));
            exact.push(t);
        }
        before = now;
    }
    assert!(exact.len() > 40);
    each_clock("sin(100*$u) + sin(101*$u) > 1.9", 20.0, &exact, 1e-9);
}

#[test]
fn a_parabola_is_found_that_is_above_its_threshold_for_a_moment() {
    // (t - 3.3)² < 1e-8 for 0.2 ms
    each_clock("($u - 3.3)^2 < 1e-8", 10.0, &[3.3 - 1e-4, 3.3 + 1e-4], 1e-9);
    each_clock("1 - 1e10*($u - 3.3)*($u - 3.3) > 0", 10.0, &[3.3 - 1e-5, 3.3 + 1e-5], 1e-9);
}

/// ((u - a)² - w²)·s is negative from a - w to a + w, and no smaller than -s·w²; the product of two such functions is negative within either.
#[test]
fn pulses_of_small_functions_are_found() {
    let (a, c) = (0.7375, 0.4375);
    for s in [1e-30, 1e-12, 1e-6, 1.0, 1e12] {
        for w in [1e-3, 1e-5, 1e-7, 1e-9] {
            let well = |a: f64| format!("(($u - {a})^2 - {:e})", w * w);
            // The edges move by the rounding of (u - a)² near them, 1e-16/w, and by that of a state.
            let accuracy = 1e-14 + 1e-15 / w;
            each_clock(&format!("{s:e}*{} < 0", well(a)), 1.0, &[a - w, a + w], accuracy);
            each_clock(&format!("{s:e}*($u - {a})^2 < {:e}", s * w * w), 1.0, &[a - w, a + w], accuracy);
            each_clock(&format!("{s:e}*{}*{} < 0", well(a), well(c)), 1.0, &[c - w, c + w, a - w, a + w], accuracy);
        }
    }
}

/// x = A·t and x = A·t²/2 are positive right after 0, where they have no magnitude yet: b changes before a millionth of the run has passed. A·sin t is negative again
/// after π.
#[test]
fn a_function_that_departs_from_exactly_zero_is_measured() {
    for unit in ["1e-18", "1e-15", "1e-9", "1", "1e9"] {
        for events in [EventSearch::Fast, EventSearch::Proved] {
            let model = |rest: &str| format!("model M constant Real A = {unit}; Boolean b = x > 0; {rest} end M;");
            let straight = model("Real x(start = 0, fixed = true); equation der(x) = A;");
            let curved =
                model("Real x(start = 0, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = A;");
            for text in [straight, curved] {
                let found = changes(&simulate(&text, 2.0, 1e-6, events));
                assert!(found.len() == 1 && found[0] < 2e-6, "{found:?} in\n{text}");
            }
            let sine = model(
                "Real x(start = 0, fixed = true), v(start = A, fixed = true, nominal = A);
                 equation der(x) = v; der(v) = -x;",
            );
            let found = changes(&simulate(&sine, 5.0, 1e-9, events));
            assert!(found.len() == 2 && found[0] < 2e-6 && (found[1] - PI).abs() < 1e-3, "{found:?} in {unit}");
        }
    }
}

/// A current of 1e-12 A that a loop computes, with and without a nominal value: i > 0 changes with the sign of u, at 1.
#[test]
fn what_loops_compute_is_measured_by_the_magnitudes_that_occur() {
    let diode = |nominal: &str| {
        format!(
            "model M Real u = 0.1*sin(time - 1), i(start = 0{nominal}), y(start = 0, fixed = true); Boolean b = i > 0;
             equation i = 1e-12*(exp((u - 1e9*i)/0.025) - 1); der(y) = 1e12*i; end M;"
        )
    };
    for (nominal, events) in
        [("", EventSearch::Proved), ("", EventSearch::Fast), (", nominal = 1e-12", EventSearch::Proved)]
    {
        let trajectory = simulate(&diode(nominal), 3.0, 1e-6, events);
        assert!(trajectory.detection.iter().all(|r| !r.is_coarse));
        assert_times(&changes(&trajectory), &[1.0], 1e-9);
    }
}

/// A relation that a loop with a delay computes cannot be enclosed and is measured by 1: i > 0 should change at 1.1. And a state of 1e-12 has a tolerance of 1e-6: a run must not be silent about it.
#[test]
fn what_is_small_beside_its_nominal_value_is_told() {
    let diode = |nominal: &str| {
        format!(
            "model M Real u = 0.1*sin(time - 1), i(start = 0{nominal}), y(start = 0, fixed = true); Boolean b = i > 0;
             equation i = 1e-12*(exp((delay(u, 0.1) - 1e9*i)/0.025) - 1); der(y) = 1e12*i; end M;"
        )
    };
    for (nominal, is_coarse) in [("", true), (", nominal = 1e-12", false)] {
        let trajectory = simulate(&diode(nominal), 3.0, 1e-6, EventSearch::Proved);
        assert_eq!(trajectory.detection.iter().map(|r| r.is_coarse).collect::<Vec<_>>(), [is_coarse]);
        assert!(trajectory.below_tolerance.is_empty() && trajectory.of_one_digit.is_empty());
        let found = changes(&trajectory);
        // A delay is interpolated between the points of steps.
        assert!(is_coarse || found.len() == 1 && (found[0] - 1.1).abs() < 1e-6, "{found:?}");
    }
    let oscillator = |nominal: &str| {
        format!(
            "model M Real x(start = 1e-12, fixed = true{nominal}), v(start = 0, fixed = true{nominal}); Boolean b = x > 0;
             equation der(x) = v; der(v) = -x; end M;"
        )
    };
    let small = simulate(&oscillator(""), 3.0, 1e-6, EventSearch::Proved);
    assert_eq!(small.below_tolerance, ["v", "x"]);
    // exp(-t)/20000 is 50 times its absolute tolerance at most; with a smaller tolerance it has more digits.
    let decay = "model M Real x(start = 5e-5, fixed = true); equation der(x) = -x; end M;";
    for (tolerance, told) in [(1e-4, (1, 0)), (1e-6, (0, 1)), (1e-8, (0, 0))] {
        let run = simulate(decay, 3.0, tolerance, EventSearch::Proved);
        assert_eq!((run.below_tolerance.len(), run.of_one_digit.len()), told, "{tolerance:e}");
    }
    let known = simulate(&oscillator(", nominal = 1e-12"), 3.0, 1e-9, EventSearch::Proved);
    assert!(known.below_tolerance.is_empty() && known.detection.iter().all(|r| !r.is_coarse));
    assert_times(&changes(&known), &[PI / 2.0], 1e-7);
}

/// x = y = exp(-t) but for rounding, which has no sign: events of another relation are no reason to believe in one.
#[test]
fn differences_of_large_states_are_measured_by_them() {
    let text = "model M Real x(start = 1, fixed = true), y(start = 1, fixed = true); Boolean b = x - y > 0, edge = sin(50*time) > 0;
      equation der(x) = -x; der(y) = -(y + 0.1*y - y/10); end M;";
    for events in [EventSearch::Fast, EventSearch::Proved] {
        let trajectory = simulate(text, 3.0, 1e-6, events);
        assert_eq!(changes(&trajectory), [0.0; 0]);
        assert!(trajectory.events.len() > 40);
        assert_ne!(trajectory.series("x"), trajectory.series("y"), "without rounding this shows nothing");
    }
}

#[test]
fn short_peaks_of_a_signal_that_no_state_feels_are_found() {
    // exp(-t) sin(500 t) > 0.5: the states are slow, the product is not. Edges by Newton's method on the closed form.
    let text = "model Peaks
      Real x(start = 1, fixed = true);
      Boolean b = x*sin(500*time) > 0.5;
    equation
      der(x) = -x;
    end Peaks;";
    let f = |t: f64| (-t).exp() * (500.0 * t).sin() - 0.5;
    let slope = |t: f64| (-t).exp() * (500.0 * (500.0 * t).cos() - (500.0 * t).sin());
    let mut exact = Vec::new();
    for k in 0.. {
        let top = (0.5 * PI + TAU * f64::from(k)) / 500.0;
        if (-top).exp() < 0.5 {
            break;
        }
        let width = (0.5 * top.exp()).acos() / 500.0;
        for mut t in [top - width, top + width] {
            (0..8).for_each(|_| t -= f(t) / slope(t));
            exact.push(t);
        }
    }
    let trajectory = simulate(text, 2.0, 1e-10, EventSearch::Proved);
    assert_times(&changes(&trajectory), &exact, 1e-9);
    assert!(is_proved(&trajectory), "{:?}", trajectory.detection);
}

#[test]
fn a_threshold_that_events_move_is_searched_for_again() {
    // Each rise through the level raises it by 0.1: 0.05, 0.15, … 0.95 are reached one period after the other.
    let text = "model Climb
      discrete Real level(start = 0.05, fixed = true);
      discrete Integer n(start = 0, fixed = true);
      Boolean b = sin(1000*time) > pre(level);
    equation
      when b then
        level = pre(level) + 0.1;
        n = pre(n) + 1;
      end when;
    end Climb;";
    let trajectory = simulate(text, 1.0, 1e-6, EventSearch::Fast);
    assert_eq!(trajectory.last("n"), Some(10.0));
    assert!(is_proved(&trajectory), "{:?}", trajectory.detection);
}

#[test]
fn what_cannot_be_enclosed_is_said_to_be_sampled() {
    // The number of repetitions depends on the argument: such a function is not written out.
    let text = "model Calls
      function f input Real u; output Real y; protected Integer i = 0; algorithm y := u; while i < 3 + u loop y := y + 0.1; i := i + 1; end while; end f;
      Real x(start = 0, fixed = true), y;
      Boolean b = y > 0.75, c = x > 0.25;
    equation
      der(x) = 1;
      y = f(x);
    end Calls;";
    let trajectory = simulate(text, 0.9, 1e-6, EventSearch::Proved);
    let sampled: Vec<&str> = trajectory.detection.iter().filter(|r| r.sampled > 0).map(|r| &*r.relation).collect();
    assert_eq!(sampled, ["y > 0.75"]);
    // f(u) = u + 0.4 for 0 < u <= 1
    assert_times(&changes(&trajectory), &[0.35], 1e-6);
}

#[test]
fn nonlinear_loops_are_enclosed() {
    // y + y³ = 2 sin 3x is above 0.9999 where sin 3x > (0.9999 + 0.9999³)/2, for 11 ms at a time
    let text = "model Loop
      Real x(start = 0, fixed = true), y(start = 0);
      Boolean b = y > 0.9999;
    equation
      der(x) = 1;
      y + y^3 = 2*sin(3*x);
    end Loop;";
    let edge = (0.5 * (0.9999 + 0.9999f64.powi(3))).asin();
    let exact: Vec<f64> =
        (0..4).flat_map(|k| [(edge + TAU * f64::from(k)) / 3.0, (PI - edge + TAU * f64::from(k)) / 3.0]).collect();
    let trajectory = simulate(text, 8.0, 1e-6, EventSearch::Proved);
    assert!(is_proved(&trajectory), "{:?}", trajectory.detection);
    assert_times(&changes(&trajectory), &exact, 1e-9);
}

#[test]
fn voltages_that_nearly_cancel_are_enclosed() {
    // Two voltages that follow a source together, joined by 1e-6 Ω: their difference is a millionth of them, and its slope is enclosed far too widely
    // from theirs. The current i follows sin 100x with a lag of 1e-10 s.
    let text = "model Joined
      Real u(start = 1, fixed = true), w(start = 1, fixed = true), x(start = 0, fixed = true), i;
      Boolean b = i > 0.5;
    equation
      der(x) = 1;
      i = (u - w)/1e-6;
      der(u) = -300*sin(300*x);
      der(w) = -300*sin(300*x) + 1e4*(i - sin(100*x));
    end Joined;";
    let edge = 0.5f64.asin();
    let exact: Vec<f64> =
        (0..3).flat_map(|k| [(edge + TAU * f64::from(k)) / 100.0, (PI - edge + TAU * f64::from(k)) / 100.0]).collect();
    let experiment = Experiment {
        stop_time: Some(0.17),
        tolerance: Some(1e-9),
        solver: Solver::Rodas,
        events: EventSearch::Proved,
        ..Experiment::default()
    };
    let trajectory = run(text, experiment);
    assert!(is_proved(&trajectory), "{:?}", trajectory.detection);
    assert_times(&changes(&trajectory), &exact, 1e-3);
}

/// How often diodes of a bridge change after the first period, without and with proof; none may change back at once.
fn changes_of_a_bridge(tolerance: f64) -> Vec<usize> {
    // A bridge of six diodes of 1e-5 Ω at 300 V: the current that has just begun to flow is a difference of voltages, divided by that. Each diode
    // conducts for a third of a period of 20 ms and blocks for the rest of it: it never changes back at once.
    let text = "model Bridge
      parameter Real w = 314.1592653589793, third = 2.0943951023931953;
      Real i[3](each start = 0, each fixed = true), id(start = 0, fixed = true), u(start = 250, fixed = true);
      Real s[6], v[6], d[6], e[3], a[3], p, n;
      Boolean off[6](each start = true);
    equation
      for k in 1:3 loop
        e[k] = 300*sin(w*time - (k - 1)*third);
        1e-3*der(i[k]) = e[k] - a[k] - 0.1*i[k];
        v[k] = a[k] - p;
        v[k + 3] = n - a[k];
        i[k] = d[k] - d[k + 3];
      end for;
      for k in 1:6 loop
        off[k] = s[k] < 0;
        v[k] = s[k]*(if off[k] then 1 else 1e-5);
        d[k] = s[k]*(if off[k] then 1e-5 else 1);
      end for;
      sum(d[1:3]) = id;
      sum(d[4:6]) = id;
      1e-3*der(id) = p - n - u;
      1e-3*der(u) = id - u/10;
    end Bridge;";
    let mut n_changes = Vec::new();
    for events in [EventSearch::Fast, EventSearch::Proved] {
        let trajectory = simulate(text, 0.1, tolerance, events);
        let changes: Vec<(f64, &str)> = trajectory
            .events
            .iter()
            .flat_map(|e| e.changes.iter().map(|c| (e.time, &*c.variable)))
            .filter(|(time, variable)| *time > 0.02 && variable.starts_with("off"))
            .collect();
        for (k, (time, variable)) in changes.iter().enumerate() {
            let before = changes[..k].iter().rfind(|(_, other)| other == variable);
            assert!(before.is_none_or(|(other, _)| time - other > 5e-3), "{variable} at {time} and at {before:?}");
        }
        n_changes.push(changes.len());
    }
    n_changes
}

// Four periods with a change on and one off of each of the six.
const BRIDGE_CHANGES: [usize; 2] = [48, 48];

#[test]
fn rounding_of_large_terms_makes_no_events() {
    assert_eq!(changes_of_a_bridge(1e-6), BRIDGE_CHANGES);
}

#[test]
fn errors_of_a_step_make_no_events() {
    assert_eq!(changes_of_a_bridge(1e-4), BRIDGE_CHANGES);
}

/// Pulses of a sine of `p`, which is linear and exact; steps are as long as `y` permits, and have its error. By threshold: the rise and fall in each of 350
/// periods, at (asin(threshold) + 2πk)/w and (π - asin(threshold) + 2πk)/w.
fn pulses_of_a_phase(threshold: f64) -> (Trajectory, Vec<f64>) {
    let text = format!(
        "model Phase
          Real p(start = 0, fixed = true), y(start = 1, fixed = true);
          Boolean b = sin(p) > {threshold:?};
        equation
          der(p) = {:?};
          der(y) = -y;
        end Phase;",
        70.0 * TAU
    );
    let edge = threshold.asin();
    let pulse = |k: u32| [edge, PI - edge].map(|phase| (phase + TAU * f64::from(k)) / (70.0 * TAU));
    (simulate(&text, 5.0, 1e-6, EventSearch::Proved), (0..350).flat_map(pulse).collect())
}

#[test]
fn changes_larger_than_the_error_of_a_step_are_where_they_begin() {
    let (trajectory, exact) = pulses_of_a_phase(0.9999);
    assert_times(&changes(&trajectory), &exact, 1e-9);
    assert!(is_proved(&trajectory), "{:?}", trajectory.detection);
}

#[test]
fn pulses_within_the_error_of_a_step_are_told() {
    let (trajectory, exact) = pulses_of_a_phase(1.0 - 1e-9);
    assert!(changes(&trajectory).len() == exact.len() || !is_proved(&trajectory), "{:?}", trajectory.detection);
}

#[test]
fn what_cannot_matter_is_not_watched() {
    // Coulomb friction by its states as in textbooks. While it sticks the sign of the speed decides nothing, although `forward` names it:
    // `initial()` and the mode see to that.
    let text = "model Sticks
      Real v(start = 1, fixed = true), a, s;
      Integer mode(start = 1, fixed = true);
      Boolean forward, sticks;
    equation
      der(v) = a;
      forward = pre(mode) == 0 and s > 1 or pre(mode) == -1 and v > 0.1 or initial() and v > 0;
      sticks = not (pre(mode) == 1 or forward or pre(mode) == -1);
      a = if sticks then 0 else if forward or pre(mode) == 1 then s - 1 else s + 1;
      mode = if (pre(mode) == 1 or forward) and v > 0 then 1 else if pre(mode) == -1 and v < 0 then -1 else 0;
      a = 0.5*sin(time) - (if sticks then s else if forward or pre(mode) == 1 then 1 else -1);
    end Sticks;";
    let trajectory = simulate(text, 10.0, 1e-6, EventSearch::Fast);
    assert_eq!(trajectory.last("mode"), Some(0.0));
    let of = |name: &str| trajectory.detection.iter().find(|r| r.relation == name).map_or(0, |r| r.proved + r.sampled);
    assert!(of("v > 0.0") > 0 && of("v > 0.0") < trajectory.statistics.steps / 2, "{:?}", trajectory.detection);
}

#[test]
fn short_dips_at_the_ends_of_steps_are_found() {
    // A parabola below its threshold for 2 ms, anywhere in steps of 1/20 of the time span: also in their first and last parts.
    for k in 0..40 {
        let middle = 0.0213 + 0.024 * f64::from(k);
        let text = format!(
            "model Dip Real x(start = 0, fixed = true); Boolean b = (x - {middle})^2 < 1e-6; equation der(x) = 1; end Dip;"
        );
        let trajectory = simulate(&text, 1.0, 1e-6, EventSearch::Fast);
        assert_times(&changes(&trajectory), &[middle - 1e-3, middle + 1e-3], 1e-9);
    }
}

#[test]
fn the_way_back_is_found_as_exactly_as_the_way_there() {
    // Two roots 3e-4 and 1e-4 apart: after the first one the function is shifted by rounding, which must not move the second one.
    let text = "model Pairs
      Real x(start = 0, fixed = true);
      Boolean b = (x - 0.1)*(x - 0.1003)*(x - 0.5)*(x - 0.9)*(x - 0.9001) > 0;
    equation
      der(x) = 1;
    end Pairs;";
    let trajectory = simulate(text, 1.0, 1e-9, EventSearch::Proved);
    assert_times(&changes(&trajectory), &[0.1, 0.1003, 0.5, 0.9, 0.9001], 1e-9);
}

#[test]
fn linear_loops_are_enclosed() {
    // Voltages of a square grid of equal resistors, one side of it at u and the others at 0: in the middle u/4, by symmetry.
    let text = "model Grid
      Real v[7, 7], u, x(start = 0, fixed = true);
      Boolean b = v[4, 4] > 0.24;
    equation
      der(x) = 1;
      u = sin(300*x);
      for i in 2:6 loop
        v[i, 1] = u;
        v[i, 7] = 0;
        v[1, i] = 0;
        v[7, i] = 0;
        for j in 2:6 loop
          4*v[i, j] = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1];
        end for;
      end for;
      v[1, 1] = 0;
      v[1, 7] = 0;
      v[7, 1] = 0;
      v[7, 7] = 0;
    end Grid;";
    let edge = 0.96f64.asin();
    let exact: Vec<f64> =
        (0..48).flat_map(|k| [(edge + TAU * f64::from(k)) / 300.0, (PI - edge + TAU * f64::from(k)) / 300.0]).collect();
    let trajectory = simulate(text, 1.0, 1e-6, EventSearch::Exhaustive);
    assert_times(&changes(&trajectory), &exact, 1e-9);
    assert!(is_proved(&trajectory), "{:?}", trajectory.detection);
    assert!(trajectory.statistics.loops.solved > 0);
}

#[test]
fn a_touch_is_not_searched_for_ever() {
    // cos t ≤ 1 touches 1 at 2πk; either value of the relation will do there, and nothing happens elsewhere.
    for (u, rest) in CLOCKS {
        let text = format!("model M Boolean b = cos({u}) > 1 + 1e-9, c = cos({u}) >= 1; {rest} end M;");
        let trajectory = simulate(&text, 100.0, 1e-6, EventSearch::Proved);
        assert!(changes(&trajectory).is_empty());
        let far = |e: &&saltus_sim::EventRecord| e.time > 0.0 && ((e.time + PI) % TAU - PI).abs() > 1e-6;
        let at = trajectory.events.iter().filter(|e| !e.changes.is_empty()).find(far).map(|e| e.time);
        assert_eq!(at, None);
    }
}

#[test]
fn proof_costs_a_bounded_part_of_a_run() {
    // sin·cos stays above -1/2, but a step goes over many of its periods, and the two factors taken apart reach -1: each step needs many enclosures.
    let text = "model Wide
      Real x(start = 1, fixed = true), v(start = 0, fixed = true), c(start = 0, fixed = true);
      Boolean b = sin(100*c)*cos(100*c) + 0.6 < 0;
    equation
      der(x) = v;
      der(v) = -x;
      der(c) = 1;
    end Wide;";
    let steps = |events| {
        let trajectory = simulate(text, 3000.0, 1e-6, events);
        assert!(changes(&trajectory).is_empty());
        (trajectory.detection[0].proved, trajectory.detection[0].sampled)
    };
    let (proved, sampled) = steps(EventSearch::Exhaustive);
    assert!(proved > 1000 && sampled == 0, "{proved} and {sampled}");
    let (within, beyond) = steps(EventSearch::Proved);
    assert!(within > 0 && beyond > 0 && within + beyond == proved, "{within} and {beyond} of {proved}");
    // The same counts on every machine and in every run.
    assert_eq!(steps(EventSearch::Proved), (within, beyond));
}

#[test]
fn a_small_difference_is_not_searched_for_ever() {
    // sin² + cos² = 1: z is -1e-12 throughout, and to enclose it that closely takes 1e8 parts. The search says that it sampled.
    let text = "model M Boolean b = sin(1000*time)^2 + cos(1000*time)^2 - 1 > 1e-12; Real y(start = 1, fixed = true); \
                equation der(y) = -y; end M;";
    for events in [EventSearch::Fast, EventSearch::Proved] {
        let trajectory = simulate(text, 100.0, 1e-6, events);
        assert!(changes(&trajectory).is_empty());
        let efforts: u64 = trajectory.detection.iter().map(|r| r.proved + r.sampled).sum();
        assert!(efforts < 20_000, "{efforts} efforts");
        assert!(!is_proved(&trajectory));
    }
}

/// What the seeds come to: models, changes, models in which the budget of proof was too small to find all of them, and the time that simulations
/// with a budget took.
fn fuzz(seeds: std::ops::Range<u64>) -> (u64, u64, u64, f64) {
    let (mut n_models, mut n_changes, mut n_told, mut seconds) = (0, 0, 0, 0.0);
    for seed in seeds {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let end = random.between(0.5, 4.0);
        let condition = Condition::random(&mut random, end);
        // Of time, of a state that is equal to it, and of a state that is so up to the error of the integration.
        let (u, rest, accuracy) = match random.below(3) {
            0 => ("time", "Real y(start = 0, fixed = true); equation der(y) = -y;", 1e-9),
            1 => ("x", "Real x(start = 0, fixed = true); equation der(x) = 1;", 1e-9),
            _ => (
                "(time*(s*s + c*c))",
                "Real s(start = 0, fixed = true), c(start = 1, fixed = true); equation der(s) = 7*c; der(c) = -7*s;",
                1e-6,
            ),
        };
        let Some(exact) = condition.changes(end, 1e-9_f64.max(1e-3 * accuracy)) else { continue };
        let unit = [1.0, 1e-30, 1e-18, 1e-9, 1e12][random.below(5) as usize];
        let text = format!("model M Boolean b = {}; {rest} end M;", condition.text(u, unit));
        let began = Instant::now();
        let within_budget = simulate(&text, end, 1e-9, EventSearch::Proved);
        seconds += began.elapsed().as_secs_f64();
        // A run whose budget of proof was too small says so.
        let n_found = changes(&within_budget).len();
        assert!(n_found == exact.len() || !is_proved(&within_budget), "seed {seed}: {n_found} changes in\n{text}");
        n_told += u64::from(n_found != exact.len());
        let found = changes(&simulate(&text, end, 1e-9, EventSearch::Exhaustive));
        assert_eq!(found.len(), exact.len(), "seed {seed}: {found:?} instead of {exact:?} in\n{text}");
        for (found, exact) in found.iter().zip(&exact) {
            assert!((found - exact).abs() <= accuracy * end, "seed {seed}: {found} instead of {exact} in\n{text}");
        }
        n_models += 1;
        n_changes += exact.len() as u64;
    }
    (n_models, n_changes, n_told, seconds)
}

/// All changes are found with exhaustive proof, and with a budget, or the run says that it only sampled.
/// `SALTUS_RANDOM_MODELS=10000 SALTUS_FIRST_SEED=1 cargo test --release -p saltus --test detection random -- --nocapture` for more of them.
#[test]
fn random_models_have_the_events_that_another_method_finds() {
    let wanted = std::env::var("SALTUS_RANDOM_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut total = (0, 0, 0, 0.0);
    let mut seed = std::env::var("SALTUS_FIRST_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    while total.0 < wanted {
        let (n_models, n_changes, n_told, seconds) = fuzz(seed..seed + 20);
        total = (total.0 + n_models, total.1 + n_changes, total.2 + n_told, total.3 + seconds);
        seed += 20;
    }
    let (n_models, n_changes, n_told, seconds) = total;
    println!(
        "{n_models} models up to seed {seed}, {n_changes} changes, none missed but in {n_told} models that say so, {:.2} ms a model",
        1e3 * seconds / n_models as f64
    );
    assert!(n_changes > 10 * n_models, "{n_models} models, {n_changes} changes");
}
