//! Modeling of mixed continuous/discrete systems in Modelica, 1999.

use std::f64::consts::PI;

use crate::harness::{Run, all_close, close};
use crate::reference;

/// The plant is x' = -x + u with u held between samples, so x goes to x e^-T + u (1 - e^-T): an exact recursion.
pub fn sampled_controller(run: &Run) {
    let decay = (-0.1_f64).exp();
    let (mut x, mut xc) = (0.0, 0.0);
    for k in 0..=50 {
        let error = 1.0 - x;
        let u = xc + 2.0 * error;
        xc += 0.1 * error;
        let t = 0.1 * k as f64;
        close("xp", run.at("xp", t), x, 1e-6);
        close("xc", run.at("xc", t), xc, 1e-6);
        close("u", run.at("u", t), u, 1e-6);
        x = x * decay + u * (1.0 - decay);
    }
}

/// The sine changes its sign at 0, 1/2, 1, …; the integral of ±1 is a triangle between 0 and 1/2. At 0 itself the sine is
/// not positive, so the output is -1 there for an instant.
pub fn two_point(run: &Run) {
    let triangle = |t: f64| 0.5 - (t.rem_euclid(1.0) - 0.5).abs();
    run.follows("x", 1e-9, triangle);
    run.follows("twoPoint.y", 0.0, |t| if t.rem_euclid(1.0) < 0.5 { 1.0 } else { -1.0 });
}

pub fn test_discrete(run: &Run) {
    run.expect_error("E0412", "the Boolean `b2`, found `u` in `noEvent`", "E1999/TestDiscrete.mo:10:16");
}

/// Fast at 0, 1, …, 23; slow at 0, 5, …, 20.
pub fn fast_and_slow(run: &Run) {
    close("fast", run.last("fast"), 24.0, 0.0);
    close("slow", run.last("slow"), 5.0, 0.0);
    close("lastSlow", run.last("lastSlow"), 20.0, 0.0);
    all_close("slow samples behind the start", &run.jumps("slow"), &[5.0, 10.0, 15.0, 20.0], 0.0);
}

/// y = 2 (1 - exp(-(t - t0)/0.5)), started anew at 1 and 2.
pub fn pt1_reset(run: &Run) {
    run.follows("block1.y", 1e-5, |t| 2.0 * (1.0 - (-2.0 * (t - t.floor().min(2.0))).exp()));
    all_close("resets", &run.jumps("block1.x"), &[1.0, 2.0], 0.0);
}

/// At rest all states equal their inputs: 1, 2, 6 and output 3. A chain of three equal lags answers a step at 1 s by
/// 1 - e^-s (1 + s + s²/2) of it.
pub fn test_pt1(run: &Run) {
    run.follows("b3.y", 1e-5, |t| {
        let s = (t - 1.0).max(0.0);
        3.0 * (2.0 - (-s).exp() * (1.0 + s + 0.5 * s * s))
    });
    for (variable, value) in [("b1.x", 1.0), ("b2.x", 2.0), ("b3.x", 6.0), ("b3.y", 3.0)] {
        close(variable, run.at(variable, 0.0), value, 1e-12);
    }
}

/// Impacts of a ball that is dropped from `h0`: t1 = sqrt(2 h0/g), each flight e times as long as the one before.
pub fn impacts(h0: f64, e: f64, end: f64) -> Vec<f64> {
    let first = (2.0 * h0 / 9.81_f64).sqrt();
    let (mut t, mut flight, mut times) = (first, 2.0 * first * e, Vec::new());
    // They accumulate: below the resolution of time there is nothing to count.
    while t < end && flight > 1e-15 {
        times.push(t);
        t += flight;
        flight *= e;
    }
    times
}

/// Height of that ball: a parabola behind each impact.
pub fn height(h0: f64, e: f64, t: f64) -> f64 {
    let before = impacts(h0, e, t);
    match before.last() {
        None => h0 - 0.5 * 9.81 * t * t,
        Some(last) => {
            let speed = 9.81 * before[0] * e.powi(before.len() as i32);
            speed * (t - last) - 0.5 * 9.81 * (t - last).powi(2)
        }
    }
}

pub fn bouncing_ball_1(run: &Run) {
    let expected = impacts(1.0, 0.5, 1.3);
    let found: Vec<f64> = run.jumps("v");
    all_close("impacts", &found, &expected, 1e-12);
    run.follows("h", 1e-12, |t| height(1.0, 0.5, t));
}

/// The rebound speed g t1 e^n falls below vSmall at the 19th impact: 4.429 · 2^-18 = 1.69e-5, 2^-19 gives 0.84e-5.
pub fn bouncing_ball_2(run: &Run) {
    close("impacts", run.last("impacts"), 19.0, 0.0);
    close("flying", run.last("flying"), 0.0, 0.0);
    close("h", run.last("h"), 0.0, 0.0);
    close("v", run.last("v"), 0.0, 0.0);
    let last = *run.jumps("flying").last().expect("it comes to rest");
    close("rest", last, *impacts(1.0, 0.5, 2.0).get(18).expect("19 impacts"), 1e-7);
    run.follows("h", 1e-7, |t| if t < last { height(1.0, 0.5, t) } else { 0.0 });
}

/// All three ways give the closed form between switching times that are searched for independently.
pub fn rectifier(run: &Run) {
    let times: Vec<f64> = (0..=500).map(|k| k as f64 * 2e-4).collect();
    let (voltage, switching) = reference::rectifier(10.0, 50.0, 1e-3, &times);
    for (t, u) in times.iter().zip(&voltage) {
        close(&format!("C.u at {t}"), run.at("C.u", *t), *u, 1e-6);
    }
    let found: Vec<f64> = run.events().into_iter().filter(|&t| t > 1e-9).collect();
    all_close("switching", &found, &switching, 1e-7);
}

/// 2 sin(2πt) reaches ±1 at 1/12 and 7/12 of each period.
pub fn hysteresis(run: &Run) {
    let expected = [1.0 / 12.0, 7.0 / 12.0, 13.0 / 12.0, 19.0 / 12.0];
    all_close("switching", &run.jumps("hysteresis.y"), &expected, 1e-12);
    run.follows("hysteresis.y", 0.0, |t| if expected.iter().filter(|e| **e < t).count() % 2 == 1 { 1.0 } else { -1.0 });
}

/// Fired at 60°, conducts until 180°: i = 10 sin(2πt)/5 in between.
pub fn thyristor(run: &Run) {
    let conducts = |t: f64| (1.0 / 6.0..0.5).contains(&t.rem_euclid(1.0));
    run.follows("load.i", 1e-12, |t| if conducts(t) { 2.0 * (2.0 * PI * t).sin() } else { 0.0 });
    all_close("firing", &run.jumps("load.i"), &[1.0 / 6.0, 7.0 / 6.0, 13.0 / 6.0], 1e-12);
    let blocking: Vec<f64> = run.jumps("thyristor.off").into_iter().filter(|t| t.rem_euclid(0.5) < 1e-9).collect();
    all_close("blocking", &blocking, &[0.5, 1.5], 1e-12);
}

pub fn deadlock(run: &Run) {
    run.expect_error("E0804", "`y` and `x` are computed from each other", "E1999/Deadlock.mo:9:5");
}

/// y = x/2 + t and x = y/2 have the solution y = 4t/3, x = 2t/3 at t = 0, 1, 2, …
pub fn loop_at_events(run: &Run) {
    run.follows("y", 1e-12, |t| 4.0 / 3.0 * t.floor());
    run.follows("x", 1e-12, |t| 2.0 / 3.0 * t.floor());
}
