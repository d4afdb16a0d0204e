//! The same events in every system of units. Each model is written with a unit of length, of time and of amplitude (`L`, `T`, `A`); nominal
//! values are in these units. Multiplied by 10⁻¹⁸ … 10¹², the events must be the same, at the same multiples of the unit of time.

use saltus::Session;
use saltus::pipeline::{self, Experiment, Options, Stage};
use saltus_sim::{EventKind, EventSearch, Solver, Trajectory};

/// How well the times of events agree, in units of time. Where a threshold is touched, an error of 1e-8 of the state is one of 1e-4.
fn accuracy(name: &str) -> f64 {
    if name == "Tank" { 1e-4 } else { 1e-6 }
}

/// Name, stop time in units of time, declarations and equations.
const MODELS: [(&str, f64, &str); 20] = [
    (
        "Ball",
        2.0,
        "Real h(start = L, fixed = true, nominal = L), v(start = 0, fixed = true, nominal = L/T);
         equation der(h) = v; der(v) = -9.81*L/T^2; when h < 0 then reinit(v, -0.8*pre(v)); end when;",
    ),
    (
        "BallAtRest",
        4.0,
        "Real h(start = L, fixed = true, nominal = L), v(start = 0, fixed = true, nominal = L/T); Boolean flies(start = true, fixed = true);
         equation der(h) = v; der(v) = if flies then -9.81*L/T^2 else 0;
         when h <= 0 then reinit(v, if pre(v) < -0.5*L/T then -0.7*pre(v) else 0); flies = pre(v) < -0.5*L/T; end when;",
    ),
    (
        "Oscillator",
        20.0,
        "Real x(start = A, fixed = true, nominal = A), v(start = 0, fixed = true, nominal = A/T); Boolean high = x > 0.3*A;
         equation der(x) = v; der(v) = -x/T^2;",
    ),
    (
        "Rectifier",
        4.0,
        "Real u(start = 0, fixed = true, nominal = A), s(nominal = A), i(nominal = A); Boolean off = s < 0;
         equation A*sin(6*time/T) - u = s*(if off then 1 else 1e-3); i = s*(if off then 1e-3 else 1); der(u)*T = i - 0.5*u;",
    ),
    (
        "Friction",
        8.0,
        "Real v(start = L/T, fixed = true, nominal = L/T); Boolean right = v > 0;
         equation der(v) = 1.5*L/T^2*sin(time/T) - L/T^2*(if right then 1 else -1);",
    ),
    (
        "TwoFrictions",
        6.0,
        "Real v(start = L/T, fixed = true, nominal = L/T), w(start = 2*L/T, fixed = true, nominal = L/T);
         equation der(v) = 0.3*L/T^2*sin(time/T) - L/T^2*(if v > 0 then 1 else -1);
         der(w) = 0.2*L/T^2*(if v > 0 then 1 else -1) - L/T^2*(if w > 0 then 1 else -1);",
    ),
    (
        "Thermostat",
        10.0,
        "Real x(start = 0, fixed = true, nominal = A); Boolean on(start = true, fixed = true);
         equation der(x) = ((if on then 2*A else 0) - x)/T; on = if pre(on) then x < 1.1*A else x < 0.9*A;",
    ),
    (
        "Tank",
        5.0,
        "Real h(start = L, fixed = true, nominal = L);
         equation der(h) = L/T*(if time > 3*T then 0.5 else 0) - (if h > 0 then sqrt(h*L)/T else 0);",
    ),
    (
        "Bumper",
        10.0,
        "Real x(start = L, fixed = true, nominal = L), v(start = 0, fixed = true, nominal = L/T); Boolean touches = x < 0;
         equation der(x) = v; der(v) = -L/T^2 - (if touches then 100*x/T^2 else 0);",
    ),
    (
        "Collision",
        3.0,
        "Real x(start = 0, fixed = true, nominal = L), v(start = L/T, fixed = true, nominal = L/T);
         Real y(start = L, fixed = true, nominal = L), w(start = -0.5*L/T, fixed = true, nominal = L/T);
         equation der(x) = v; der(y) = w; der(v) = -0.2*L/T^2; der(w) = 0;
         when x > y then reinit(v, pre(w)); reinit(w, pre(v)); end when;",
    ),
    (
        "Sampled",
        2.95,
        "Real x(start = A, fixed = true, nominal = A); discrete Real u(start = 0, fixed = true); Boolean low = x < 0.5*A;
         equation der(x) = u/T; when sample(0.1*T, 0.1*T) then u = -2*pre(x); end when;",
    ),
    (
        "Saturation",
        12.0,
        "Real x(start = 2*A, fixed = true, nominal = A), v(start = 0, fixed = true, nominal = A/T), y;
         equation y = if x > A then A else if x < -A then -A else x; der(x) = v; der(v) = -y/T^2;",
    ),
    (
        "Backlash",
        12.0,
        "Real x(start = 0, fixed = true, nominal = L), v(start = L/T, fixed = true, nominal = L/T), f;
         equation f = if x > 0.5*L then x - 0.5*L else if x < -0.5*L then x + 0.5*L else 0; der(x) = v; der(v) = -f/T^2;",
    ),
    (
        "PendulumWithStop",
        6.0,
        "Real phi(start = 1, fixed = true), w(start = 0, fixed = true, nominal = 1/T);
         equation der(phi) = w; der(w) = -9.81*sin(phi)/T^2; when phi < -0.3 then reinit(w, -0.6*pre(w)); end when;",
    ),
    ("Pulses", 10.0, "Boolean high = sin(3*time/T) > 0.5; Integer n(start = 0, fixed = true); equation when high then n = pre(n) + 1; end when;"),
    (
        "Switch",
        3.0,
        "Real i(start = 0, fixed = true, nominal = A); Boolean closed = time < T; Boolean large = i > 0.5*A;
         equation der(i) = ((if closed then A else 0) - i)/T;",
    ),
    (
        "Zener",
        6.0,
        "Real u(nominal = A), i(nominal = A), s(start = 0, nominal = A), q(start = 0, fixed = true, nominal = A*T); Boolean conducts = s > A;
         equation u = if conducts then A + 1e-3*(s - A) else s; i = if conducts then s - A else 0; 2*A*sin(time/T) = u + i; der(q) = i;",
    ),
    (
        "Counter",
        10.0,
        "Real x(start = 0, fixed = true, nominal = A); Integer n(start = 0, fixed = true);
         equation der(x) = A/T*cos(2*time/T); when x > 0.4*A then n = pre(n) + 1; end when;",
    ),
    (
        "Sawtooth",
        5.0,
        "Real x(start = 0, fixed = true, nominal = A); equation der(x) = A/T; when x > 0.7*A then reinit(x, 0); end when;",
    ),
    (
        "Beam",
        8.0,
        "Real x(start = 0.4*L, fixed = true, nominal = L), v(start = 0, fixed = true, nominal = L/T); Integer hits(start = 0, fixed = true);
         equation der(x) = v; der(v) = -x/T^2; when {x > 0.3*L, x < -0.3*L} then hits = pre(hits) + 1; end when;",
    ),
];

fn run(name: &str, stop: f64, body: &str, units: [f64; 3]) -> Trajectory {
    run_with(name, stop, body, units, "constant", Experiment::default())
}

/// The units are constants or parameters.
fn run_with(
    name: &str,
    stop: f64,
    body: &str,
    [length, time, amplitude]: [f64; 3],
    kind: &str,
    experiment: Experiment,
) -> Trajectory {
    let text = format!(
        "model {name} {kind} Real L = {length:e}; {kind} Real T = {time:e}; {kind} Real A = {amplitude:e}; {body} end {name};"
    );
    let mut session = Session::new(Box::new(saltus_library::MemoryFiles::new()));
    session.set_text("Test.mo", text.as_str());
    let class = session.class(None).expect("one model");
    let mut options = Options::until(Stage::Simulate);
    options.experiment = Experiment { stop_time: Some(stop * time), tolerance: Some(1e-8), ..experiment };
    let outcome = pipeline::run(&session, class, &options);
    let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(!outcome.has_errors(), "{name} in units {length:e}, {time:e}, {amplitude:e}: {messages:?}");
    outcome.trajectory.expect("a trajectory")
}

/// Kinds and times of all events, in units of time.
fn events(trajectory: &Trajectory, unit: f64) -> Vec<(EventKind, f64)> {
    trajectory.events.iter().map(|e| (e.kind, e.time / unit)).collect()
}

/// What is wrong with these events, if anything is.
fn difference(name: &str, found: &[(EventKind, f64)], expected: &[(EventKind, f64)], accuracy: f64) -> Option<String> {
    let is_same = found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() <= accuracy * b.1.abs().max(1.0));
    let times = |events: &[(EventKind, f64)]| events.iter().take(8).map(|e| e.1).collect::<Vec<_>>();
    (!is_same).then(|| {
        let (found_times, expected_times) = (times(found), times(expected));
        let n_expected = expected.len();
        format!("{name}: {} events {found_times:?}, not {n_expected} {expected_times:?}", found.len())
    })
}

#[test]
fn events_are_the_same_in_all_units() {
    let mut units = Vec::new();
    for unit in [1e-18, 1e-9, 1e-3, 1e6, 1e12] {
        units.extend([[unit, 1.0, unit], [1.0, unit, 1.0], [unit, unit, unit]]);
    }
    let mut wrong = Vec::new();
    for (name, stop, body) in MODELS {
        let expected = events(&run(name, stop, body, [1.0; 3]), 1.0);
        assert!(expected.len() > 1, "{name} has no events");
        for unit in &units {
            let found = events(&run(name, stop, body, *unit), unit[1]);
            wrong.extend(difference(&format!("{name} in {unit:?}"), &found, &expected, accuracy(name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The declarations without their nominal values, which are the last modifiers of each.
fn without_nominal_values(body: &str) -> String {
    let mut parts = body.split("nominal = ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.truncate(text.trim_end_matches([',', ' ']).len());
        text.push_str(&part[part.find(')').expect("the end of the modification")..]);
    }
    text
}

/// Tolerances of states are as large as their nominal values, 1 without one. Steps of fixed length show the events alone: they scale with
/// the units but for rounding.
#[test]
fn events_follow_the_magnitudes_that_occur() {
    let mut wrong = Vec::new();
    for (name, stop, body) in MODELS {
        let body = without_nominal_values(body);
        let solver = Solver::RungeKutta4;
        for search in [EventSearch::Fast, EventSearch::Proved] {
            let run = |[length, time, amplitude]: [f64; 3]| {
                let fixed_step = Some(stop * time / 2000.0);
                let experiment = Experiment { solver, fixed_step, events: search, ..Experiment::default() };
                events(&run_with(name, stop, &body, [length, time, amplitude], "constant", experiment), time)
            };
            let expected = run([1.0; 3]);
            for unit in [1e-18, 1e-15, 1e-9, 1e6, 1e12] {
                for units in [[unit, 1.0, unit], [unit, unit, unit]] {
                    wrong.extend(difference(
                        &format!("{name}, {search:?}, in {units:?}"),
                        &run(units),
                        &expected,
                        1e-9,
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Relations whose operands nonlinear loops compute, without nominal values: name, stop time, declarations and equations.
const LOOPS: [(&str, f64, &str); 6] = [
    (
        "Rectifier",
        4.0,
        "Real u(start = 0, fixed = true), s, i; Boolean off = s < 0;
         equation A*sin(6*time) - u = s*(if off then 1 else 1e-3) + 0.1*A*(s/A)^3; i = s*(if off then 1e-3 else 1); der(u) = i - 0.5*u;",
    ),
    (
        "Zener",
        6.0,
        "Real u, i, s(start = 0), q(start = 0, fixed = true); Boolean conducts = s > A;
         equation u = if conducts then A + 1e-3*(s - A) else s; i = if conducts then s - A else 0; 2*A*sin(time) = u + i + 0.1*A*(u/A)^3; der(q) = i;",
    ),
    (
        "TwoUnknowns",
        6.0,
        "Real u, v, q(start = 0, fixed = true); Boolean a = u > 0, b = v > u;
         equation u + 0.2*A*(v/A)^3 = A*sin(time); v - 0.3*A*(u/A)^3 = A*cos(2*time); der(q) = u;",
    ),
    (
        "Sawtooth",
        5.0,
        "Real x(start = 0, fixed = true), y; Integer n(start = 0, fixed = true);
         equation der(x) = A; y + 0.1*A*(y/A)^3 = x; when y > 0.7*A then reinit(x, 0); n = pre(n) + 1; end when;",
    ),
    (
        "FromZero",
        3.0,
        "Real x(start = 0, fixed = true), y; Boolean b = y > 0; equation der(x) = A*(1 - time); y + 0.1*A*(y/A)^3 = x;",
    ),
    (
        "Junction",
        6.0,
        "Real u(start = 0, fixed = true), i(start = 0), ud(start = 0); Boolean b = i > 0.1*A;
         equation i = 1e-3*A*(exp(ud/(0.1*A)) - 1); A*sin(3*time) = u + ud + i; der(u) = i - 0.1*u;",
    ),
];

/// The solver of loops is as accurate in small units as in others, and relations with its solutions are measured by them. It leaves an error of 1e-11, so that an event may need
/// a second attempt: events at which nothing changes do not count.
#[test]
fn events_of_loops_follow_the_magnitudes_that_occur() {
    let mut wrong = Vec::new();
    for (name, stop, body) in LOOPS {
        for search in [EventSearch::Fast, EventSearch::Proved] {
            let run = |unit: f64| {
                let fixed_step = Some(stop / 2000.0);
                let experiment =
                    Experiment { solver: Solver::RungeKutta4, fixed_step, events: search, ..Experiment::default() };
                let trajectory = run_with(name, stop, body, [1.0, 1.0, unit], "constant", experiment);
                let changing = trajectory.events.iter().filter(|e| !e.changes.is_empty());
                changing.map(|e| (e.kind, e.time)).collect::<Vec<_>>()
            };
            let expected = run(1.0);
            assert!(expected.len() > 1, "{name} has no events");
            for unit in [1e-18, 1e-15, 1e-11, 1e-9, 1e-6, 1e-3, 1e9] {
                wrong.extend(difference(&format!("{name}, {search:?}, in {unit:e}"), &run(unit), &expected, 1e-9));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nominal_values_may_be_given_by_parameters() {
    for name in ["Ball", "Rectifier", "Friction", "Counter", "Collision"] {
        let (_, stop, body) = MODELS.into_iter().find(|m| m.0 == name).expect("a model");
        let expected = events(&run(name, stop, body, [1.0; 3]), 1.0);
        for unit in [1e-18, 1e-9, 1e12] {
            let found = events(&run_with(name, stop, body, [unit, 1.0, unit], "parameter", Experiment::default()), 1.0);
            let is_same = |(a, b): (&(EventKind, f64), &(EventKind, f64))| {
                a.0 == b.0 && (a.1 - b.1).abs() <= accuracy(name) * b.1.abs().max(1.0)
            };
            assert_eq!(found.len(), expected.len(), "{name} with a unit of {unit:e}: {found:?}");
            assert!(found.iter().zip(&expected).all(is_same), "{name} with a unit of {unit:e}: {found:?}");
        }
    }
}
