//! Derivatives of runs by parameters, against closed forms.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use saltus::pipeline::{self, Engine, Options};
use saltus::sensitivity::{Followed, Follower};
use saltus::{Permissions, Session, Settings, Start};
use saltus_library::{DiskFiles, MemoryFiles};

/// Follows `of` by parameters with values, at times.
fn follow(text: &str, of: &[&str], by: &[(&str, f64)], times: &[f64]) -> Followed {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("M.mo", text);
    let class = session.class(None).unwrap();
    let model = pipeline::compile(&session, class, &Options::default()).unwrap();
    let follower = Follower {
        settings: Settings { tolerance: Some(1e-9), ..Settings::default() },
        engine: Engine::default(),
        permissions: Permissions::default(),
        start: Start::default(),
        wanted: of.iter().map(|name| model.variable(name).unwrap().slot).collect(),
        parameters: by.iter().map(|(name, _)| model.changeable(name).unwrap()).collect(),
        times: times.to_vec(),
        spare: Mutex::default(),
        model,
    };
    let values: Vec<f64> = by.iter().map(|(_, value)| *value).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let found = follower.follow(&values, &stop).unwrap();
    // A run without derivatives, with an instance that was used before, has the same values bit by bit.
    let again = follower.values(&values, &stop).unwrap();
    assert!(found.values.iter().map(|v| v.to_bits()).eq(again.iter().map(|v| v.to_bits())));
    found
}

fn assert_close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= within * b.abs().max(1.0), "found {found:?}, expected {expected:?}");
    }
}

#[test]
fn parameters_start_values_and_what_is_computed_of_them() {
    let text = "model M
  parameter Real k = 2, x0 = 3, c = 2*k;
  Real x(start = x0, fixed = true), y = c*x;
equation
  der(x) = -k*x;
end M;";
    let found = follow(text, &["x", "y"], &[("k", 2.0), ("x0", 3.0)], &[0.0, 0.5, 1.0]);
    // x = x0 exp(-k t), y = 2 k x.
    let at = |t: f64| {
        let x = 3.0 * (-2.0 * t).exp();
        [-t * x, x / 3.0, 2.0 * x - 4.0 * t * x, 4.0 * x / 3.0]
    };
    let expected: Vec<f64> = [0.0, 0.5, 1.0].into_iter().flat_map(at).collect();
    assert_eq!(found.why, None);
    // Ten times the tolerance of the run, which is that of a step.
    assert_close(&found.derivatives, &expected, 1e-5);
}

#[test]
fn a_state_that_rests_still_moves_with_a_parameter() {
    // x stays at u = 1, in steps as long as the run; ∂x/∂u = 1 - exp(-a t).
    for (a, times) in [(50.0, [0.01, 0.1]), (1e5, [0.5, 1.0])] {
        let text = "model M
  parameter Real a = 50, u = 1;
  Real x(start = 1, fixed = true);
equation
  der(x) = -a*(x - u);
end M;";
        let found = follow(text, &["x"], &[("a", a), ("u", 1.0)], &times);
        let expected: Vec<f64> = times.iter().flat_map(|t| [0.0, 1.0 - (-a * t).exp()]).collect();
        assert_close(&found.derivatives, &expected, 1e-4);
    }
}

#[test]
fn a_slope_jumps_where_a_state_crosses() {
    let text = "model M
  parameter Real c = 0.5;
  Real x(start = 0, fixed = true);
equation
  der(x) = if x < c then 1 else 2;
end M;";
    let found = follow(text, &["x"], &[("c", 0.5)], &[0.25, 0.75, 1.0]);
    // x = t up to c, then c + 2 (t - c).
    assert_eq!(found.why, None);
    assert_close(&found.derivatives, &[0.0, -1.0, -1.0], 1e-6);
}

/// A block that a spring pulls sticks, breaks loose and sticks again: against differences of runs, at times that are far from events.
#[test]
fn a_block_sticks_and_slides() {
    let mut session = Session::new(Box::new(DiskFiles));
    session.add_library(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library"));
    let class = session.class(Some("Saltus.Examples.E1997.RoughBlock")).unwrap();
    let model = pipeline::compile(&session, class, &Options::default()).unwrap();
    let by = ["spring.c", "block1.m", "air.d", "surface.f0", "surface.peak"];
    let follower = Follower {
        settings: Settings { tolerance: Some(1e-10), ..Settings::default() },
        engine: Engine::default(),
        permissions: Permissions::default(),
        start: Start::default(),
        wanted: vec![model.variable("block1.s").unwrap().slot],
        parameters: by.iter().map(|name| model.changeable(name).unwrap()).collect(),
        times: vec![0.1, 0.4, 0.55, 0.9, 1.3, 2.0, 3.0, 4.9],
        spare: Mutex::default(),
        model,
    };
    let stop = Arc::new(AtomicBool::new(false));
    for values in [[85.0, 1.3, 0.3, 1.8, 1.35], [100.0, 1.0, 0.5, 2.0, 1.25]] {
        let found = follower.follow(&values, &stop).unwrap();
        assert_eq!(found.why, None, "up to {}", found.valid_until);
        for p in 0..values.len() {
            let step = 1e-4 * values[p];
            let moved = |by: f64| {
                let mut moved = values;
                moved[p] += by;
                follower.values(&moved, &stop).unwrap()
            };
            let differences = moved(step).into_iter().zip(moved(-step)).map(|(a, b)| (a - b) / (2.0 * step));
            let own = found.derivatives.iter().skip(p).step_by(values.len());
            for (i, (own, difference)) in own.zip(differences).enumerate() {
                let within = 1e-4 * 0.05 / values[p] + 2e-3 * difference.abs();
                assert!((own - difference).abs() <= within, "{} at {}: {own}, {difference}", by[p], follower.times[i]);
            }
        }
    }
}

/// Either may come first beside these parameters: the derivatives from both sides differ.
#[test]
fn events_that_meet_by_chance_end_sensitivities() {
    let text = "model M
  parameter Real p = 1, q = 1;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = (if x > p then 1 else 0) + (if x > q then 2 else 0);
end M;";
    let found = follow(text, &["y"], &[("p", 1.0), ("q", 1.0)], &[0.5, 2.0]);
    assert_eq!(found.why.as_deref(), Some("it is not known how the time of an event moves"));
    assert_close(&found.derivatives[..2], &[0.0, 0.0], 1e-9);
    assert!(found.derivatives[2..].iter().all(|d| d.is_nan()), "{:?}", found.derivatives);
    // y = (t - p) + 2 (t - q)
    let found = follow(text, &["y"], &[("p", 0.8), ("q", 1.0)], &[2.0]);
    assert_eq!(found.why, None);
    assert_close(&found.derivatives, &[-1.0, -2.0], 1e-6);
}

#[test]
fn a_slope_jumps_at_a_time() {
    let text = "model M
  parameter Real T = 0.5;
  Real x(start = 0, fixed = true);
equation
  der(x) = if time < T then 1 else 3;
end M;";
    let found = follow(text, &["x"], &[("T", 0.5)], &[0.25, 1.0]);
    // x = T + 3 (t - T) behind T.
    assert_eq!(found.why, None);
    assert_close(&found.derivatives, &[0.0, -2.0], 1e-6);
}

#[test]
fn states_jump() {
    let text = "model M
  parameter Real e = 0.7, g = 9.81;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
end M;";
    let (e, g) = (0.7, 9.81f64);
    let found = follow(text, &["h"], &[("e", e), ("g", g)], &[0.3, 0.8, 1.0]);
    // h = 1 - g t²/2; behind the impact at t1 = sqrt(2/g) it is e g t1 r - g r²/2 with r = t - t1.
    let t1 = (2.0 / g).sqrt();
    let moves = -t1 / (2.0 * g);
    let behind = |t: f64| {
        let r = t - t1;
        [g * t1 * r, 0.5 * e * t1 * r - e * g * t1 * moves - 0.5 * r * r + g * r * moves]
    };
    let expected = [&[0.0, -0.5 * 0.09][..], &behind(0.8), &behind(1.0)].concat();
    assert_eq!(found.why, None);
    assert_close(&found.derivatives, &expected, 1e-6);
}

#[test]
fn values_are_held_between_events() {
    let text = "model M
  parameter Real k = 2, T = 0.5;
  discrete Real d(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
equation
  when time >= T then
    d = k*time;
  end when;
  der(y) = d;
end M;";
    let (k, t0) = (2.0, 0.5);
    let found = follow(text, &["y", "d"], &[("k", k), ("T", t0)], &[0.25, 1.0]);
    // d = k T, y = k T (t - T) behind T.
    let expected = [0.0, 0.0, 0.0, 0.0, t0 * 0.5, k * 0.5 - k * t0, t0, k];
    assert_eq!(found.why, None);
    assert_close(&found.derivatives, &expected, 1e-6);
}

#[test]
fn sampled_control_moves_with_its_gain() {
    let text = "model M
  parameter Real k = 0.5;
  discrete Real u(start = 0, fixed = true);
  Real x(start = 1, fixed = true);
equation
  when sample(0, 0.25) then
    u = -k*x;
  end when;
  der(x) = u;
end M;";
    let found = follow(text, &["x"], &[("k", 0.5)], &[0.99]);
    // x is a polygon: behind n samples x = (1 - k/4)ⁿ, and then u = -k x.
    let (q, r) = (1.0 - 0.125, 0.99 - 0.75);
    let expected = -0.75 * q * q * (1.0 - 0.5 * r) - q * q * q * r;
    assert_eq!(found.why, None);
    assert_close(&found.derivatives, &[expected], 1e-6);
}

#[test]
fn what_is_not_followed_is_said() {
    let text = "model M
  parameter Real k = 2;
  Real x(start = 1, fixed = true), y = delay(x, 0.1);
equation
  der(x) = -k*x;
end M;";
    let found = follow(text, &["y"], &[("k", 2.0)], &[0.5]);
    assert_eq!(found.why.as_deref(), Some("delays remember the past"));
    assert!(found.derivatives[0].is_nan());
}

#[test]
fn a_run_that_ends_by_itself_has_no_values_behind() {
    let text = "model M
  parameter Real k = 2;
  Real x(start = 1, fixed = true);
equation
  der(x) = -k*x;
  when x < 0.5 then
    terminate(\"enough\");
  end when;
end M;";
    let found = follow(text, &["x"], &[("k", 2.0)], &[0.25, 1.0]);
    // x = exp(-2 t), which is 0.5 at 0.347 s.
    assert_close(&found.values[..1], &[(-0.5f64).exp()], 1e-6);
    assert!(found.values[1].is_nan() && found.derivatives[1].is_nan());
}
