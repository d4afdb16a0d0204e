//! Simulation of discontinuous systems, 2013.

use std::f64::consts::PI;

use crate::harness::{Run, all_close, close};
use crate::reference;

fn branches(x: f64) -> f64 {
    if x < -1.0 {
        0.5 * x - 0.5
    } else if x < 1.0 {
        x
    } else {
        2.0 * x - 1.0
    }
}

pub fn three_branches(run: &Run) {
    run.follows("y", 1e-12, |t| branches(3.0 * t.sin()));
    let a = (1.0_f64 / 3.0).asin();
    let bends = [a, PI - a, PI + a, 2.0 * PI - a, 2.0 * PI + a, 3.0 * PI - a, 3.0 * PI + a];
    all_close("borders", &run.all_events(), &bends, 1e-12);
}

/// The inverse of an increasing function with three branches has three branches.
pub fn three_branches_backwards(run: &Run) {
    let inverse = |y: f64| {
        if y < -1.0 {
            2.0 * y + 1.0
        } else if y < 1.0 {
            y
        } else {
            0.5 * (y + 1.0)
        }
    };
    run.follows("x", 1e-12, |t| inverse(4.0 * t.sin() + 1.0));
    // Borders at y = 1 (sin t = 0) and y = -1 (sin t = -1/2).
    let expected = [PI, 7.0 * PI / 6.0, 11.0 * PI / 6.0, 2.0 * PI, 3.0 * PI, 19.0 * PI / 6.0];
    let found: Vec<f64> = run.all_events().into_iter().filter(|&t| t > 1e-9).collect();
    all_close("borders", &found, &expected, 1e-9);
}

/// The argument never leaves [0, 1], so the value is the argument and no time is spent outside.
pub fn touched_threshold(run: &Run) {
    run.follows("y", 1e-12, |t| 0.5 * t.sin() + 0.5);
    close("outside", run.last("outside"), 0.0, 0.0);
}

/// 1.5 sin t passes 1 upwards at asin(2/3) and -1 downwards half a period later.
pub fn dry_hysteresis(run: &Run) {
    let a = (2.0_f64 / 3.0).asin();
    let expected = [a, PI + a, 2.0 * PI + a, 3.0 * PI + a, 4.0 * PI + a];
    all_close("switching", &run.jumps("y"), &expected, 1e-12);
    all_close("switching", &run.jumps("z"), &expected, 1e-12);
    let value = |t: f64| if expected.iter().filter(|e| **e < t).count() % 2 == 1 { 2.0 } else { -2.0 };
    run.follows("y", 0.0, value);
    run.follows("z", 0.0, value);
}

/// A voltage divider of 100 and 300 Ω; while the switch is closed the voltage is zero and all current flows through it.
pub fn switch_in_loop(run: &Run) {
    let source = |t: f64| 10.0 * (2.0 * PI * t).sin();
    let closed = |t: f64| (0.3..0.7).contains(&t);
    run.follows("R2.u", 1e-12, |t| if closed(t) { 0.0 } else { 0.75 * source(t) });
    run.follows("switch1.i", 1e-12, |t| if closed(t) { source(t) / 100.0 } else { 0.0 });
    all_close("switching", &run.all_events(), &[0.3, 0.7], 1e-15);
}

pub fn halfway_rectifier(run: &Run) {
    let times: Vec<f64> = (0..=500).map(|k| k as f64 * 2e-4).collect();
    let (voltage, _) = reference::rectifier(10.0, 50.0, 1e-3, &times);
    for (t, u) in times.iter().zip(&voltage) {
        close(&format!("u2 at {t}"), run.at("u2", *t), *u, 1e-6);
    }
}
