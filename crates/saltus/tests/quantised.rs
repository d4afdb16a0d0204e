//! `--solver liqss2`: quantised states and events where they happen give the solution that integrators give.

use saltus::Session;
use saltus::pipeline::{self, Experiment, Options, Outcome, Output, Stage};
use saltus_sim::{EventKind, Solver, Trajectory};

fn run(text: &str, stop: f64, tolerance: f64, solver: Solver) -> Outcome {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(Some("Test")).expect("the model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment = Experiment {
        stop_time: Some(stop),
        tolerance: Some(tolerance),
        solver,
        output: Some(Output::Intervals(100)),
        ..Experiment::default()
    };
    pipeline::run(&session, class, &options)
}

fn messages(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics.iter().map(|d| d.message.clone()).collect()
}

fn quantised(text: &str, stop: f64, tolerance: f64) -> Trajectory {
    let outcome = run(text, stop, tolerance, Solver::Liqss2);
    assert_eq!(messages(&outcome), [""; 0]);
    outcome.trajectory.expect("a trajectory")
}

/// The largest distance of a variable from its closed form, at the output points.
fn error(trajectory: &Trajectory, name: &str, exact: impl Fn(f64) -> f64) -> f64 {
    let series = trajectory.series(name).expect("the variable");
    series.iter().map(|&(t, x)| (x - exact(t)).abs()).fold(0.0, f64::max)
}

fn times(trajectory: &Trajectory, kind: EventKind) -> Vec<f64> {
    trajectory.events.iter().filter(|e| e.kind == kind).map(|e| e.time).collect()
}

/// Both methods find the same events, and the same values behind the last of them, as far as the tolerances go.
fn assert_alike(text: &str, stop: f64) -> (Trajectory, Trajectory) {
    let classic = run(text, stop, 1e-9, Solver::Auto);
    assert_eq!(messages(&classic), [""; 0]);
    let classic = classic.trajectory.expect("a trajectory");
    let quantised = quantised(text, stop, 1e-6);
    // Integrators take a relation of time alone for a time event.
    let all = |t: &Trajectory| -> Vec<f64> { t.events.iter().map(|e| e.time).collect() };
    let (found, expected) = (all(&quantised), all(&classic));
    assert_eq!(found.len(), expected.len());
    for (a, b) in expected.iter().zip(found) {
        assert!((a - b).abs() < 1e-4 * stop, "{a} and {b}");
    }
    for column in &quantised.segments[0].variables {
        let (a, b) = (classic.last(&column.name), quantised.last(&column.name));
        let (a, b) = (a.expect("in both"), b.expect("in both"));
        assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{}: {a} and {b}", column.name);
    }
    (classic, quantised)
}

/// Closed forms: cos(t), and exp(-t).
#[test]
fn errors_are_proportional_to_the_quantum() {
    let text = "model Test
          Real x(start = 1, fixed = true), v(start = 0, fixed = true), y(start = 1, fixed = true);
        equation
          der(x) = v;
          der(v) = -x;
          der(y) = -y;
        end Test;";
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let trajectory = quantised(text, 6.0, tolerance);
        // The bounds that `tests/liqss.rs` of the numerics derives.
        assert!(error(&trajectory, "x", f64::cos) < 8.0 * tolerance);
        assert!(error(&trajectory, "y", |t| (-t).exp()) < 1.01 * tolerance);
    }
}

/// Impacts at t1 = sqrt(2/g), then after flights of 2·e^k·t1.
#[test]
fn a_ball_bounces_when_it_should() {
    let text = "model Test
          Real h(start = 1, fixed = true), v(start = 0, fixed = true);
          Integer n(start = 0, fixed = true);
        equation
          der(h) = v;
          der(v) = -9.81;
          when h <= 0 and v < 0 then
            reinit(v, -0.7*pre(v));
            n = pre(n) + 1;
          end when;
        end Test;";
    let trajectory = quantised(text, 1.5, 1e-6);
    let t1 = (2.0f64 / 9.81).sqrt();
    let impacts: Vec<f64> = trajectory.events.iter().filter(|e| !e.changes.is_empty()).map(|e| e.time).collect();
    assert_eq!(impacts.len(), 2, "{impacts:?}");
    assert!((impacts[0] - t1).abs() < 1e-6 && (impacts[1] - (t1 + 1.4 * t1)).abs() < 1e-5, "{impacts:?}");
    assert_eq!(trajectory.last("n"), Some(2.0));
    // Further on the bounces accumulate at t1·(1 + 2·0.7/0.3) = 2.56 s: the run ends there and says so.
    let outcome = run(text, 4.0, 1e-6, Solver::Liqss2);
    assert!(messages(&outcome)[0].contains("practically no progress"), "{:?}", messages(&outcome));
}

/// From T = 20 with 3 W up to 24, then down to 20 and up again: T∞ = 40 or 10, rate 0.1, so that heating from 20 to 24 takes 10·ln(20/16) and
/// cooling 10·ln(14/10).
#[test]
fn a_thermostat_switches_when_it_should() {
    let text = "model Test
          Real T(start = 20, fixed = true, nominal = 20);
          Boolean on(start = true, fixed = true);
        equation
          der(T) = -0.1*(T - 10) + (if on then 3 else 0);
          on = if pre(on) then T < 24 else T < 20;
        end Test;";
    let (up, down) = (10.0 * (20.0f64 / 16.0).ln(), 10.0 * (14.0f64 / 10.0).ln());
    for tolerance in [1e-4, 1e-6] {
        let found = times(&quantised(text, 18.0, tolerance), EventKind::State);
        let expected = [up, up + down, 2.0 * up + down, 2.0 * (up + down), 3.0 * up + 2.0 * down, 3.0 * (up + down)];
        assert_eq!(found.len(), 6, "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            // A quantum of 20·tolerance at a slope of at least 1, at each end of six flights.
            assert!((found - expected).abs() < 12.0 * 20.0 * tolerance, "{found} {expected}");
        }
    }
}

/// A buck converter in continuous conduction: the mean output is duty·Vin but for the drop of the resistances, 1e-3 of 0.6 A.
#[test]
fn a_converter_comes_to_its_steady_state() {
    let text = "model Test
          parameter Real T = 1e-4;
          Real i(start = 0, fixed = true), v(start = 0, fixed = true, nominal = 10), id, ud, s, Rs;
          Real charge(start = 0, fixed = true, nominal = 0.01);
          Boolean on(start = false, fixed = true), d;
          discrete Real t0(start = T, fixed = true);
        equation
          when time >= pre(t0) then
            t0 = pre(t0) + 0.5*T;
            on = not pre(on);
          end when;
          Rs = if on then 1e-3 else 1e5;
          ud = s*(if d then 1e-3 else 1);
          id = s*(if d then 1 else 1e-5);
          d = s > 0;
          (24 + ud)/Rs + id = i;
          1e-3*der(i) = -ud - v;
          1e-4*der(v) = i - v/5;
          der(charge) = v;
        end Test;";
    let quantised = quantised(text, 0.02, 1e-6);
    let charge = quantised.series("charge").expect("the integral");
    let at = |t: f64| charge.iter().find(|p| (p.0 - t).abs() < 1e-9).expect("an output point").1;
    let mean = (at(0.02) - at(0.015)) / 0.005;
    assert!((mean - 12.0).abs() < 0.03, "{mean}");
}

/// One of the converters of `testdata/scale`, in discontinuous conduction from its third period on. Between two switchings it is linear in two states: with
/// the exponential of its matrix in 40 digits the diode blocks 18 times, first at 308.413531 and 371.398029 µs and last at 1992.770455 µs.
#[test]
fn a_converter_has_the_events_of_its_closed_form() {
    let text = "model Test
          parameter Real T = 1e-4;
          Real i(start = 0, fixed = true), v(start = 0, fixed = true, nominal = 10), id, ud, s, Rs;
          Boolean on(start = false, fixed = true), d;
          discrete Real t0(start = 0.17*T, fixed = true);
        equation
          when time >= pre(t0) then
            t0 = pre(t0) + 0.5*T;
            on = not pre(on);
          end when;
          Rs = if on then 1e-3 else 1e5;
          ud = s*(if d then 1e-3 else 1);
          id = s*(if d then 1 else 1e-5);
          d = s > 0;
          (24 + ud)/Rs + id = i;
          1e-4*der(i) = -ud - v;
          1e-4*der(v) = i - v/10;
        end Test;";
    for (solver, tolerance, allowed) in [(Solver::Liqss2, 1e-4, 2e-8), (Solver::Rodas, 1e-9, 1e-12)] {
        let outcome = run(text, 0.002, tolerance, solver);
        let trajectory = outcome.trajectory.expect("a trajectory");
        let blocks = times(&trajectory, EventKind::State);
        let first_and_last = [(0, 308.413531290826e-6), (1, 371.398028851484e-6), (17, 1992.7704553697e-6)];
        assert_eq!((blocks.len(), times(&trajectory, EventKind::Time).len()), (18, 40), "{blocks:?}");
        for (k, exact) in first_and_last {
            assert!((blocks[k] - exact).abs() < allowed, "{}: {} and {exact}", solver.name(), blocks[k]);
        }
    }
}

/// Spikes jump to other neurons: events that several states share, `reinit` with `pre`, Integers that count.
#[test]
fn a_network_of_neurons_spikes_as_it_does_with_integrators() {
    let text = "model Test
          parameter Integer N = 30;
          Real v[N](start = {mod(0.618034*i, 1) for i in 1:N}, each fixed = true), s[N](each start = 0, each fixed = true);
          Integer n[N](each start = 0, each fixed = true), heard[N](each start = 0, each fixed = true);
        equation
          for i in 1:N loop
            0.02*der(v[i]) = -v[i] + 1.1 + 0.2*mod(0.414214*i, 1) + s[i];
            0.005*der(s[i]) = -s[i];
            when v[i] > 1 then
              reinit(v[i], 0);
              n[i] = pre(n[i]) + 1;
            end when;
            heard[i] = sum(n[1 + mod(7*i + 11*k, N)] for k in 1:4);
            when change(heard[i]) then
              reinit(s[i], pre(s[i]) - 0.05*(heard[i] - pre(heard[i])));
            end when;
          end for;
        end Test;";
    let (_, quantised) = assert_alike(text, 0.1);
    assert!(times(&quantised, EventKind::State).len() > 50);
}

/// Samples, timers, relations of time, staircases and a linear algebraic loop.
#[test]
fn what_happens_in_time_happens_at_its_time() {
    let text = "model Test
          Real x(start = 0, fixed = true), y(start = 1, fixed = true), z(start = 0.3, fixed = true), a, w;
          Integer k(start = 0, fixed = true), level;
          Boolean b, c;
        equation
          der(x) = if b then 1 else -0.5;
          b = mod(time, 0.7) > 0.2;
          level = integer(3*time + 0.1);
          c = x + y > 1.3;
          der(y) = 0.3;
          a + 2*w = y;
          w - a = 1;
          der(z) = level*a - z;
          when sample(0.1, 0.25) then
            k = pre(k) + 1;
          end when;
        end Test;";
    assert_alike(text, 2.0);
}

/// The third tick of 0.1 is at 0.30000000000000004, and 0.1 + 0.2 is there too: rounding puts them behind the stop time. What changes only
/// after it is no part of the run.
#[test]
fn ticks_at_the_stop_time_belong_to_the_run() {
    let text = "model Test
          Real x(start = 0, fixed = true);
          Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
        equation
          der(x) = 1;
          when sample(0.1, 0.1) then n = pre(n) + 1; end when;
          when time >= 0.1 + 0.2 then m = pre(m) + 1; end when;
        end Test;";
    let last = quantised(text, 0.3, 1e-4);
    assert_eq!((last.last("n"), last.last("m")), (Some(3.0), Some(1.0)));
    let after = quantised(
        &text.replace("time >= 0.1 + 0.2", "time > 0.3").replace("sample(0.1, 0.1)", "sample(1, 1)"),
        0.3,
        1e-4,
    );
    assert_eq!(after.last("m"), Some(0.0));
}

/// Closed forms: 1/sqrt(1 + 2t); 1/(1 + 9·exp(-t)); sin(t). Both slopes and looks are estimated: no worse than the quanta of linear models.
#[test]
fn derivatives_that_are_not_linear_are_followed() {
    let text = "model Test
          Real x(start = 1, fixed = true), y(start = 0.1, fixed = true), z(start = 0, fixed = true);
        equation
          der(x) = -x^3;
          der(y) = y*(1 - y);
          der(z) = cos(time);
        end Test;";
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let trajectory = quantised(text, 6.0, tolerance);
        assert!(error(&trajectory, "x", |t| 1.0 / (1.0 + 2.0 * t).sqrt()) < 2.0 * tolerance);
        // Errors grow with y up to 1/2, by 0.5/0.1·0.9/0.5 at most.
        assert!(error(&trajectory, "y", |t| 1.0 / (1.0 + 9.0 * (-t).exp())) < 10.0 * tolerance);
        assert!(error(&trajectory, "z", f64::sin) < 4.0 * tolerance);
    }
}

/// Stiff, coupled and nonlinear at once, with events of products: both methods find the same ones.
#[test]
fn networks_that_are_not_linear_have_the_same_events() {
    let text = "model Test
          parameter Integer N = 8;
          Real x[N](start = {1 + 0.1*i for i in 1:N}, each fixed = true), y[N](each start = 0.5, each fixed = true);
          Integer n[N](each start = 0, each fixed = true);
        equation
          for i in 1:N loop
            der(x[i]) = x[i]*(1 - y[i]) + 0.01*(x[1 + mod(i, N)] - x[i]);
            der(y[i]) = y[i]*(x[i] - 1);
            when x[i]*y[i] > 1.2 then
              n[i] = pre(n[i]) + 1;
            end when;
          end for;
        end Test;";
    assert_alike(text, 10.0);
}

/// x = sin(t) exceeds 0.999 from asin(0.999) = 1.526071 to 1.615521, less than an output interval of 0.5, and its square twice as often; x² = (1 - cos 2t)/2.
#[test]
fn relations_that_are_not_linear_are_enclosed() {
    let text = "model Test
          Real x(start = 0, fixed = true), v(start = 1, fixed = true);
          Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
        equation
          der(x) = v;
          der(v) = -x;
          when x*x > 0.998 then n = pre(n) + 1; end when;
          when sin(time)*abs(sin(time)) > 0.998 then m = pre(m) + 1; end when;
        end Test;";
    let trajectory = quantised(text, 50.0, 1e-5);
    // At (k + 1/2)π, of which 16 are below 50 and every other one has a positive sine.
    assert_eq!((trajectory.last("n"), trajectory.last("m")), (Some(16.0), Some(8.0)));
}

/// A model that was compiled for any solver has a loop. A chain of first-order lags: y = exp(-t), x[k] = t^k/k!·exp(-t).
#[test]
fn loops_over_arrays_are_taken_apart_for_it() {
    let text = "model Test
          Real y(start = 1, fixed = true), x[100](each start = 0, each fixed = true);
        equation
          der(y) = -y;
          der(x[1]) = y - x[1];
          for i in 2:100 loop
            der(x[i]) = x[i - 1] - x[i];
          end for;
        end Test;";
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(Some("Test")).expect("the model");
    let model = pipeline::compile(&session, class, &Options::until(Stage::Compile)).expect("compiled");
    assert!(model.program().sections.derivatives.has_repeats(), "a loop");
    let settings =
        Experiment { stop_time: Some(1.0), tolerance: Some(1e-6), solver: Solver::Liqss2, ..Experiment::default() };
    let mut run = saltus::Simulation::new(model, &settings);
    run.advance_to(1.0).expect("a run");
    // Each lag adds a quantum of 1e-6 at most.
    assert!((run.get("x[2]").expect("a value") - 0.5 * (-1.0f64).exp()).abs() < 4e-6);
}

/// x = t and y = t/10 reach 1 and 0.3 at the stop time, as far as numbers tell; beyond them they would be only later.
#[test]
fn thresholds_that_are_met_at_the_stop_time() {
    for (rate, threshold, stop) in [(1.0, 1.0, 1.0), (0.1, 0.3, 3.0), (0.7, 0.7, 1.0)] {
        let text = format!(
            "model Test
              Real x(start = 0, fixed = true);
              Integer n(start = 0, fixed = true), m(start = 0, fixed = true), k(start = 0, fixed = true);
            equation
              der(x) = {rate};
              when x >= {threshold} then n = pre(n) + 1; end when;
              when x > {threshold} then m = pre(m) + 1; end when;
              when x >= {threshold} + 1e-9 then k = pre(k) + 1; end when;
            end Test;"
        );
        let trajectory = quantised(&text, stop, 1e-4);
        let last = |name| trajectory.last(name);
        assert_eq!((last("n"), last("k")), (Some(1.0), Some(0.0)), "{rate}");
    }
}

/// The run ends with a row, and has one at each step if that is asked for: x' = -x from 1 begins new lines.
#[test]
fn rows_are_written_at_the_end_and_at_steps() {
    let text = "model Test
          Real x(start = 1, fixed = true);
        equation
          der(x) = -x;
          when x < 0.5 then terminate(\"half\"); end when;
        end Test;";
    let ended = quantised(text, 2.0, 1e-4);
    let last = *ended.series("x").expect("a state").last().expect("rows");
    assert!((last.0 - 2.0f64.ln()).abs() < 1e-3 && (last.1 - 0.5).abs() < 1e-9, "{last:?}");
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(Some("Test")).expect("the model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment = Experiment {
        tolerance: Some(1e-4),
        solver: Solver::Liqss2,
        output: Some(Output::Intervals(2)),
        step_rows: true,
        ..Experiment::default()
    };
    let outcome = pipeline::run(&session, class, &options);
    let trajectory = outcome.trajectory.expect("a trajectory");
    let times: Vec<f64> = trajectory.series("x").expect("a state").iter().map(|p| p.0).collect();
    assert!(times.len() as u64 > trajectory.statistics.steps && times.windows(2).all(|w| w[0] < w[1]), "{times:?}");
}

/// A diode with a leakage far below the quantum conducts in every period: 10 V on 1 H for 0.3 s give 3 A.
#[test]
fn a_diode_that_blocks_conducts_again() {
    let text = "model Test
          Real i(start = 0, fixed = true), s;
          Boolean off = s < 0;
        equation
          i = s*(if off then 1e-7 else 1);
          der(i) = (if mod(time, 1) < 0.3 then 10 else -10) - s*(if off then 1 else 1e-5);
        end Test;";
    for tolerance in [1e-3, 1e-4, 1e-6] {
        let trajectory = quantised(text, 5.0, tolerance);
        let series = trajectory.series("i").expect("the current");
        for second in 0..5 {
            let begin = f64::from(second);
            let peak = series.iter().filter(|p| (begin..begin + 1.0).contains(&p.0)).map(|p| p.1).fold(0.0, f64::max);
            assert!((peak - 3.0).abs() < 0.01, "{tolerance}: {peak} in second {second}");
        }
    }
}

/// What the method cannot treat is refused, and what it says names a solver that can.
#[test]
fn what_it_cannot_treat_is_an_error() {
    let delay = "model Test
          Real x(start = 1, fixed = true);
        equation
          der(x) = -delay(x, 0.1);
        end Test;";
    let outcome = run(delay, 1.0, 1e-4, Solver::Liqss2);
    let found = outcome.diagnostics.iter().next().expect("an error");
    assert!(found.message.contains("liqss2 cannot simulate this model: it has delays"), "{}", found.message);
    assert!(found.hints.iter().any(|hint| hint.contains("`rodas`")), "{:?}", found.hints);
    // How often a loop is passed depends on its argument: what it does between two times is not enclosed.
    let called = "model Test
          function f
            input Real x;
            output Real y = x;
          algorithm
            while y > 0.25 loop y := y*y; end while;
          end f;
          Real x(start = 0, fixed = true);
          Boolean b = f(x) > 0.1;
        equation
          der(x) = 1;
        end Test;";
    let told = messages(&run(called, 0.9, 1e-4, Solver::Liqss2));
    assert!(told[0].contains("what it does between two times cannot be enclosed"), "{told:?}");
    // Both sides of the threshold point at it: an integrator slides along it.
    let chatters = "model Test
          Real x(start = 1, fixed = true);
        equation
          der(x) = if x > 0 then -1 else 1;
        end Test;";
    let outcome = run(chatters, 2.0, 1e-4, Solver::Liqss2);
    assert!(messages(&outcome)[0].contains("chattering"), "{:?}", messages(&outcome));
}

/// An assertion is judged where its relation changes, between two output points.
#[test]
fn an_assertion_fails_when_it_does() {
    let text = "model Test
          Real x(start = 0, fixed = true);
        equation
          der(x) = 1;
          assert(x < 0.555, \"too far\");
        end Test;";
    let outcome = run(text, 1.0, 1e-4, Solver::Liqss2);
    let found = &messages(&outcome)[0];
    assert!(found.contains("0.555") && found.contains("too far"), "{found}");
}
