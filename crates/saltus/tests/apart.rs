//! Parts that share no variable, each with an integrator of its own: the same solution as of the model as a whole.

use saltus::Session;
use saltus::pipeline::{self, Experiment, Options, Outcome, Output, Stage};
use saltus_sim::{EventKind, Trajectory};

fn run(text: &str, stop: f64, apart: bool) -> Outcome {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(Some("Test")).expect("the model");
    let mut options = Options::until(Stage::Simulate);
    options.apart = apart;
    options.experiment = Experiment {
        stop_time: Some(stop),
        tolerance: Some(1e-8),
        output: Some(Output::Intervals(100)),
        ..Experiment::default()
    };
    pipeline::run(&session, class, &options)
}

fn messages(outcome: &Outcome) -> Vec<String> {
    outcome.diagnostics.iter().map(|d| d.message.clone()).collect()
}

/// The whole takes time events that differ by rounding for one, parts do not: none of these models has such events, nor one at an output
/// point. Both trajectories at the output points, and the times of state and time events; equal within the error of the integration.
fn assert_alike(text: &str, stop: f64) -> (Trajectory, Trajectory) {
    let [together, apart] = [false, true].map(|apart| {
        let outcome = run(text, stop, apart);
        assert_eq!(messages(&outcome), [""; 0]);
        outcome.trajectory.expect("a trajectory")
    });
    let times = |t: &Trajectory| -> Vec<(EventKind, f64)> { t.events.iter().map(|e| (e.kind, e.time)).collect() };
    let (classic, parts) = (times(&together), times(&apart));
    let differs = classic.iter().zip(&parts).find(|(a, b)| a.0 != b.0 || (a.1 - b.1).abs() > 1e-6);
    assert!(differs.is_none() && classic.len() == parts.len(), "{differs:?} {} {}", classic.len(), parts.len());
    let (rows, all) = (&apart.segments[0], &together.segments[0]);
    assert_eq!(rows.times.len(), 101);
    assert_eq!(rows.variables, all.variables);
    for column in &rows.variables {
        let values = all.at(column.place);
        for (time, value) in rows.times.iter().zip(rows.at(column.place)) {
            // The last of several rows at one time holds the values after an event.
            let at = all.times.iter().rposition(|t| t == time).expect("a row of the whole");
            let error = (values[at] - value).abs();
            assert!(error < 1e-5 * (1.0 + value.abs()), "{} at {time}: {} and {value}", column.name, values[at]);
        }
    }
    assert_eq!(together.parameters, apart.parameters);
    (together, apart)
}

const BALLS: &str = "model Ball
      parameter Real e = 0.8;
      Real h(start = 1, fixed = true), v(start = 0, fixed = true);
    equation
      der(h) = v;
      der(v) = -9.81;
      when h <= 0 then
        reinit(v, -e*pre(v));
      end when;
    end Ball;
    model Test
      parameter Integer n = 20;
      parameter Real e = 0.7;
      Ball b[n](h(start = {1 + 0.3*i for i in 1:n}), each e = e);
    end Test;";

#[test]
fn balls_bounce_at_their_own_times() {
    let (together, apart) = assert_alike(BALLS, 2.0);
    // Ball i falls from 1 + 0.3 i: its first bounce is at √(2 h/g).
    for i in [1, 7, 20] {
        let name = format!("b[{i}].v");
        let bounce = apart.events.iter().find(|e| e.changes.iter().any(|c| *c.variable == *name)).expect("a bounce");
        let exact = (2.0 * (1.0 + 0.3 * f64::from(i)) / 9.81f64).sqrt();
        assert!((bounce.time - exact).abs() < 1e-9, "{} {exact}", bounce.time);
    }
    // Of twenty balls the steps of one are a small part of all: taken apart each derivative call costs a twentieth.
    assert!(apart.statistics.state_events == together.statistics.state_events && apart.statistics.steps > 0);
}

#[test]
fn parts_may_share_parameters_time_and_functions() {
    let text = "function f
      input Real x;
      output Real y;
    algorithm
      y := x;
      for i in 1:3 loop
        y := y + sin(y)/i;
      end for;
    end f;
    model Room
      parameter Real tau = 1, low = 19;
      parameter Real high = low + 2;
      parameter Real heat(fixed = false);
      Real T(start = 18, fixed = true), q;
      Boolean on(start = true, fixed = true);
      Integer n(start = 0, fixed = true);
      discrete Real seen(start = 0, fixed = true);
    initial equation
      heat^2 = 25*tau^2;
    equation
      on = if pre(on) then T < high else T < low;
      q^3 + q = f(0.1*T) + (if time > 1.37*tau then 1 else 0);
      tau*der(T) = -0.2*(T - 10) + (if on then abs(heat) else 0) + 0.01*q;
      when not on then
        n = pre(n) + 1;
      end when;
      when sample(0.137*tau, 0.71) then
        seen = T;
      end when;
      assert(T < 100, \"too hot\");
    end Room;
    model Test
      parameter Real base = 0.8;
      Room r[6](tau = {base + 0.2*i for i in 1:6}, each heat(start = 4));
      Real wave = sin(3*time), total = 2*base;
    end Test;";
    let (_, apart) = assert_alike(text, 4.0);
    assert!(apart.events.iter().filter(|e| e.kind == EventKind::State).count() >= 6);
    assert!((apart.last("total").expect("a constant") - 1.6).abs() < 1e-15);
}

#[test]
fn what_belongs_together_stays_together() {
    let text = "model Test Real x(start = 1, fixed = true), y(start = 0, fixed = true); \
                equation der(x) = y; der(y) = -x; end Test;";
    let outcome = run(text, 1.0, true);
    assert_eq!(messages(&outcome), ["the model is not taken apart: all its states belong together"]);
    let x = outcome.trajectory.expect("a trajectory").last("x").expect("x");
    assert!((x - 1f64.cos()).abs() < 1e-6, "{x}");
}

#[test]
fn a_part_that_fails_ends_the_run() {
    let text = "model Test Real x(start = 1, fixed = true), y(start = 1, fixed = true); \
                equation der(x) = -x; der(y) = -1; assert(y > 0.5, \"too low\"); end Test;";
    let outcome = run(text, 2.0, true);
    let said = messages(&outcome);
    assert!(outcome.failed_at_run_time && said.iter().any(|m| m.contains("too low")), "{said:?}");
    // y = 1 − t.
    let failure = outcome.failure.expect("a failure");
    assert!((failure.time - 0.5).abs() < 0.03, "{}", failure.time);
}
