//! Hybrid models from their text to their trajectory: exact event times, event iteration, coupled switches. Expected
//! numbers are closed forms, or come from an integration in the test that knows nothing of the engine.

#[path = "hybrid/solvers.rs"]
mod solvers;

use std::f64::consts::PI;

use saltus::Session;
use saltus::pipeline::{self, Engine, Experiment, Options, Output, Stage};
use saltus_sim::{EventKind, Solver, Trajectory};

fn run(text: &str, engine: Engine, experiment: Experiment) -> Trajectory {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(None).expect("one model");
    let mut options = Options::until(Stage::Simulate);
    (options.engine, options.experiment) = (engine, experiment);
    let outcome = pipeline::run(&session, class, &options);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{messages:?}");
    outcome.trajectory.expect("a trajectory")
}

fn simulate(text: &str, stop: f64, solver: Solver, tolerance: f64) -> Trajectory {
    let experiment = Experiment { stop_time: Some(stop), tolerance: Some(tolerance), solver, ..Experiment::default() };
    run(text, Engine::Auto, experiment)
}

fn state_events(trajectory: &Trajectory) -> Vec<f64> {
    trajectory.events.iter().filter(|e| e.kind == EventKind::State).map(|e| e.time).collect()
}

const ADAPTIVE: [Solver; 5] = [Solver::Auto, Solver::DormandPrince, Solver::DormandPrince8, Solver::Rodas, Solver::Bdf];

#[test]
fn a_guarded_ball_bounces_at_the_exact_times_and_comes_to_rest() {
    let text = "model Ball
      Real h(start = 1, fixed = true), v(start = 0, fixed = true);
      Boolean flies(start = true, fixed = true), hits;
      discrete Real rebound(start = 0, fixed = true);
    equation
      hits = h <= 0;
      der(h) = v;
      der(v) = if flies then -9.81 else 0;
      when {h <= 0 and v <= 0, hits} then
        rebound = if edge(hits) then -0.7*pre(v) else 0;
        flies = rebound > 0;
        reinit(v, rebound);
      end when;
    end Ball;";
    let trajectory = simulate(text, 4.0, Solver::Auto, 1e-6);
    // A fall of t₀ = √(2/g), then flights of 2 t₀ 0.7ᵏ.
    let fall = (2.0f64 / 9.81).sqrt();
    let mut bounces: Vec<f64> = Vec::new();
    for event in &trajectory.events {
        let rises = event.changes.iter().any(|c| &*c.variable == "v" && c.before < 0.0 && c.after > 0.0);
        if rises {
            bounces.push(event.time);
        }
    }
    let mut exact = fall;
    for (k, found) in bounces.iter().take(20).enumerate() {
        assert!((found - exact).abs() < 1e-9, "bounce {k}: {found} instead of {exact}");
        exact += 2.0 * fall * 0.7f64.powi(k as i32 + 1);
    }
    assert!(bounces.len() >= 20, "{}", bounces.len());
    assert_eq!((trajectory.last("v"), trajectory.last("flies")), (Some(0.0), Some(0.0)));
    let lowest = trajectory.series("h").expect("h").iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    assert!(lowest >= -1e-9, "{lowest}");
}

#[test]
fn time_events_need_no_search() {
    let text = "model Metronome
      discrete Real due(start = 1e-5, fixed = true);
      discrete Integer n(start = 0, fixed = true);
    equation
      when time >= pre(due) then
        due = pre(due) + 1e-5;
        n = pre(n) + 1;
      end when;
    end Metronome;";
    let trajectory = simulate(text, 1.000005, Solver::Auto, 1e-6);
    // One each 10 µs; sums of 1e-5 round, but by far less than half of it.
    assert_eq!(trajectory.last("n"), Some(100_000.0));
    assert_eq!(trajectory.statistics.crossing_evaluations, 0);
}

/// Bridges of six diodes, `shifts` in degrees, in series on a load of R = 1 and L = 0.01 with a current from 0.
fn bridges(shifts: &[f64]) -> String {
    let (n, angles) = (shifts.len(), shifts.iter().map(|a| format!("{a}")).collect::<Vec<_>>().join(", "));
    format!(
        "model Bridges
      constant Real pi = 3.141592653589793;
      parameter Real shift[{n}] = {{{angles}}};
      Real e[{n}, 3], up[{n}], down[{n}], star[{n}];
      Real s[{n}, 6], u[{n}, 6], i[{n}, 6];
      Boolean off[{n}, 6](each start = true, each fixed = true);
      Real load(start = 0, fixed = true), total;
    equation
      for b in 1:{n} loop
        for k in 1:3 loop
          e[b, k] = sin(2*pi*50*time - 2*pi*(k - 1)/3 + shift[b]*pi/180);
          u[b, k] = star[b] + e[b, k] - up[b];
          u[b, 3 + k] = down[b] - (star[b] + e[b, k]);
        end for;
        for k in 1:6 loop
          off[b, k] = s[b, k] < 0;
          u[b, k] = s[b, k]*(if off[b, k] then 1 else 1e-6);
          i[b, k] = s[b, k]*(if off[b, k] then 1e-6 else 1);
        end for;
        i[b, 1] + i[b, 2] + i[b, 3] = load;
        i[b, 4] + i[b, 5] + i[b, 6] = load;
      end for;
      down[{n}] = 0;
      for b in 1:{n} - 1 loop
        down[b] = up[b + 1];
      end for;
      total = up[1] - down[{n}];
      0.01*der(load) = total - load;
    end Bridges;"
    )
}

/// The current of ideal bridges: each gives the largest phase voltage minus the smallest. Runge–Kutta with small steps.
fn bridge_current(shifts: &[f64], stop: f64) -> f64 {
    let voltage = |t: f64| -> f64 {
        let bridge = |shift: &f64| {
            let phase = |k: f64| (100.0 * PI * t - 2.0 * PI * k / 3.0 + shift * PI / 180.0).sin();
            let phases = [phase(0.0), phase(1.0), phase(2.0)];
            phases.iter().fold(f64::MIN, |a, b| a.max(*b)) - phases.iter().fold(f64::MAX, |a, b| a.min(*b))
        };
        shifts.iter().map(bridge).sum()
    };
    let n = 20_000;
    let h = stop / f64::from(n);
    let slope = |t: f64, i: f64| (voltage(t) - i) / 0.01;
    let mut i = 0.0;
    for k in 0..n {
        let t = f64::from(k) * h;
        let k1 = slope(t, i);
        let k2 = slope(t + 0.5 * h, i + 0.5 * h * k1);
        let k3 = slope(t + 0.5 * h, i + 0.5 * h * k2);
        let k4 = slope(t + h, i + h * k3);
        i += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    i
}

#[test]
fn six_coupled_diodes_rectify_three_phases() {
    let trajectory = simulate(&bridges(&[0.0]), 0.05, Solver::Auto, 1e-8);
    let (found, exact) = (trajectory.last("load").expect("load"), bridge_current(&[0.0], 0.05));
    // The diodes leak and lose a millionth, each of a few.
    assert!((found - exact).abs() < 1e-4, "{found} instead of {exact}");
}

#[test]
fn twelve_coupled_diodes_rectify_twice_three_phases() {
    let shifts = [0.0, 30.0];
    let trajectory = simulate(&bridges(&shifts), 0.05, Solver::Auto, 1e-8);
    let (found, exact) = (trajectory.last("load").expect("load"), bridge_current(&shifts, 0.05));
    assert!((found - exact).abs() < 1e-4, "{found} instead of {exact}");
}

#[test]
fn a_thyristor_conducts_from_its_firing_to_the_end_of_the_half_wave() {
    // fired 60° after each zero: a period carries the charge (1 + cos 60°) / (R ω)
    let text = "model Thyristor
      constant Real pi = 3.141592653589793;
      Real s, u, i, charge(start = 0, fixed = true);
      Boolean off(start = true, fixed = true), fire;
    equation
      fire = sin(2*pi*50*time - pi/3) > 0 and sin(2*pi*50*time) > 0;
      off = s < 0 or pre(off) and not fire;
      u = s*(if off then 1 else 1e-6);
      i = s*(if off then 1e-6 else 1);
      u + 2*i = sin(2*pi*50*time);
      der(charge) = i;
    end Thyristor;";
    for solver in ADAPTIVE {
        let found = simulate(text, 0.1, solver, 1e-9).last("charge").expect("charge");
        let exact = 5.0 * 1.5 / (2.0 * 100.0 * PI);
        // The leak of a millionth flows most of the time.
        assert!((found - exact).abs() < 1e-6, "{solver:?}: {found} instead of {exact}");
    }
}

#[test]
fn a_controlled_buck_converter_runs_as_its_own_simulation_does() {
    let text = "model Buck
      Real i(start = 0, fixed = true), v(start = 0, fixed = true);
      discrete Real duty(start = 0, fixed = true), began(start = 0, fixed = true);
      Boolean on;
    equation
      when sample(0, 5e-5) then
        duty = min(0.95, max(0.05, 0.5 + 0.02*(12 - v)));
        began = time;
      end when;
      on = time < began + duty*5e-5;
      1e-3*der(i) = (if on then 24 else 0) - 0.1*i - v;
      1e-4*der(v) = i - v/5;
    end Buck;";
    let experiment = Experiment { stop_time: Some(0.1), output: Some(Output::Intervals(10)), ..Experiment::default() };
    let trajectory = run(text, Engine::Auto, experiment);
    // 2000 periods in two parts each, Runge–Kutta in 20 steps a part.
    let (mut i, mut v) = (0.0f64, 0.0f64);
    for _ in 0..2000 {
        let duty = (0.5 + 0.02 * (12.0 - v)).clamp(0.05, 0.95);
        for (source, length) in [(24.0, duty * 5e-5), (0.0, (1.0 - duty) * 5e-5)] {
            let slope = |i: f64, v: f64| ((source - 0.1 * i - v) / 1e-3, (i - v / 5.0) / 1e-4);
            let h = length / 20.0;
            for _ in 0..20 {
                let a = slope(i, v);
                let b = slope(i + 0.5 * h * a.0, v + 0.5 * h * a.1);
                let c = slope(i + 0.5 * h * b.0, v + 0.5 * h * b.1);
                let d = slope(i + h * c.0, v + h * c.1);
                i += h / 6.0 * (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0);
                v += h / 6.0 * (a.1 + 2.0 * b.1 + 2.0 * c.1 + d.1);
            }
        }
    }
    let found = trajectory.last("v").expect("v");
    assert!((found - v).abs() < 1e-4, "{found} instead of {v}");
    assert!(trajectory.statistics.time_events >= 4_000, "{:?}", trajectory.statistics);
}

#[test]
fn both_engines_agree() {
    for text in [bridges(&[0.0, 30.0]), bridges(&[0.0])] {
        let experiment = || Experiment { stop_time: Some(0.02), ..Experiment::default() };
        let [a, b] = [Engine::Interpreter, Engine::Jit].map(|engine| run(&text, engine, experiment()));
        let (a, b) = (&a.segments[0], &b.segments[0]);
        assert_eq!(a.times.len(), b.times.len());
        for (x, y) in (0..a.rows.n_places()).flat_map(|place| a.at(place).into_iter().zip(b.at(place))) {
            assert!((x - y).abs() <= 1e-12 * x.abs().max(y.abs()).max(1.0), "{x} and {y}");
        }
    }
}

#[test]
fn a_when_that_makes_its_own_condition_false_has_no_solution() {
    // Active, z = 0.25 and the condition is false; inactive, z = 0.5 and it is true. (Modelica 3.6, appendix B: conditions are unknowns like the others.)
    let text = "model Contradicts Real z; discrete Real y(start = 0, fixed = true);
      equation z = y + time; when z > 0.5 then y = -z; end when; end Contradicts;";
    let outcome = outcome_of(text);
    assert!(outcome.has_errors(), "an error was expected");
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.iter().any(|m| m.contains("at time 0.5")), "{messages:?}");
    // With the value before the event there is one: y = -0.5 from t = 0.5 on, so that z = 0.5 at the end.
    let text = text.replace("z = y + time", "z = pre(y) + time");
    assert!(!outcome_of(&text).has_errors());
}

fn outcome_of(text: &str) -> pipeline::Outcome {
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text);
    let class = session.class(None).expect("one model");
    pipeline::run(&session, class, &Options::until(Stage::Simulate))
}
