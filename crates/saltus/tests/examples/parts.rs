//! Components that no document uses.

use std::f64::consts::PI;

use crate::harness::{Run, all_close, close};
use crate::reference::{integrate, solve};

/// Kirchhoff's law at the nodes p and a + b, with two diodes of 1 mΩ and two of 1 µS.
pub fn bridge_rectifier(run: &Run) {
    let (on, off) = (1000.0, 1e-6);
    run.follows("load.u", 1e-9, |t| {
        let u = 10.0 * (2.0 * PI * t).sin().abs();
        // The conducting path leads from the higher terminal (b + u) to p and from n = 0 to the lower one (b).
        let matrix = vec![vec![0.2 + on + off, -(on + off)], vec![-(on + off), 2.0 * (on + off)]];
        solve(matrix, vec![on * u, -(on + off) * u]).expect("a regular circuit")[0]
    });
}

/// Mean voltage of a bridge with overlap: 3√3 V/π - 3ωL Id/π, less the voltage of two diodes; and the overlap itself:
/// cos μ = 1 - 2ωL Id/(√3 V).
pub fn commutation(run: &Run) {
    let (v, l, current, omega) = (100.0, 1e-3, 20.0, 100.0 * PI);
    let mean = (run.at("integral", 0.1) - run.at("integral", 0.08)) / 0.02;
    let expected = 3.0 * 3.0_f64.sqrt() * v / PI - 3.0 * omega * l * current / PI;
    close("mean voltage", mean, expected, 2e-3 * expected);
    let overlap = (1.0 - 2.0 * omega * l * current / (3.0_f64.sqrt() * v)).acos() / omega;
    // In each third of a period, from 30° on above and from 90° on below, two diodes share the current for the time of
    // the overlap and the mean of their phases; then the higher or lower phase has it alone.
    let third = 0.02 / 3.0;
    let into = |t: f64, first: f64| (t - first).rem_euclid(third);
    let starts = [0.02 / 12.0, 0.02 / 4.0];
    let is_switching = |t: f64| {
        let instants = starts.iter().flat_map(|first| [*first, first + overlap]);
        instants.into_iter().any(|instant| into(t + 1e-6, instant) < 2e-6)
    };
    let voltage = |t: f64| {
        let mut phases = [0.0, -2.0 * PI / 3.0, 2.0 * PI / 3.0].map(|phase| v * (omega * t + phase).sin());
        phases.sort_by(f64::total_cmp);
        let [low, middle, high] = phases;
        let upper = if into(t, starts[0]) < overlap { 0.5 * (middle + high) } else { high };
        let lower = if into(t, starts[1]) < overlap { 0.5 * (middle + low) } else { low };
        upper - lower
    };
    let rows: Vec<(f64, f64)> = run.rows("ud").into_iter().filter(|(t, _)| *t > 0.002 && !is_switching(*t)).collect();
    assert!(rows.len() > 400, "{} rows", rows.len());
    for (t, found) in rows {
        close(&format!("ud at {t}"), found, voltage(t), 1e-2);
    }
}

/// Between 0 and 5 V the output is the source.
pub fn zener_limiter(run: &Run) {
    run.follows("u", 1e-12, |t| (10.0 * (2.0 * PI * t).sin()).clamp(0.0, 5.0));
}

/// The current goes towards 12 A while the gate conducts and towards 0 else, with time constant 5 ms.
pub fn chopper(run: &Run) {
    let mut i = 0.0;
    for k in 0..100 {
        close(&format!("L.i at {k} ms"), run.at("L.i", k as f64 * 1e-3), i, 1e-3);
        let width = if k < 50 { 0.25 } else { 0.75 };
        i = 12.0 + (i - 12.0) * (-width / 5.0_f64).exp();
        i *= (-(1.0 - width) / 5.0_f64).exp();
    }
}

/// Sum and difference of the two currents are single exponentials with 1.5 s and 0.5 s.
pub fn transformers(run: &Run) {
    run.follows("load1.u", 1e-12, |t| 5.0 * (2.0 * PI * t).sin());
    run.follows("ideal.p1.i", 1e-12, |t| 0.5 * (2.0 * PI * t).sin());
    let (sum, difference) = (|t: f64| 1.0 - (-t / 1.5).exp(), |t: f64| 1.0 - (-t / 0.5).exp());
    run.follows("coupled.i1", 1e-6, |t| 0.5 * (sum(t) + difference(t)));
    run.follows("coupled.i2", 1e-6, |t| 0.5 * (sum(t) - difference(t)));
}

pub fn characteristics(run: &Run) {
    let u = |t: f64| 2.0 * (2.0 * PI * t).sin();
    run.follows("limiter.y", 1e-12, |t| u(t).clamp(-0.5, 1.5));
    run.follows("deadZone.y", 1e-12, |t| u(t) - u(t).clamp(-1.0, 1.0));
    run.follows("quantiser.y", 1e-12, |t| 0.5 * (u(t) / 0.5 + 0.5).floor());
    run.follows("hold.y", 1e-12, |t| u(0.1 * (t / 0.1 + 1e-9).floor()));
    // On at 30°, off at 210°.
    let since = |t: f64| (t - 1.0 / 12.0).rem_euclid(1.0);
    run.follows("relay.y", 0.0, |t| if t > 1.0 / 12.0 && since(t) < 0.5 { 1.0 } else { 0.0 });
    // Carried up to 1.5 at 90°, left there until the input has fallen to 1 at 150°, carried down to -1.5 at 270°, and so on.
    let play = |t: f64| match 12.0 * t.rem_euclid(1.0) {
        _ if t < (0.25_f64).asin() / (2.0 * PI) => 0.0,
        p if p < 3.0 && (t < 1.0 || u(t) > -1.0) => u(t) - 0.5,
        p if p < 5.0 => 1.5,
        p if p < 9.0 => u(t) + 0.5,
        p if p < 11.0 => -1.5,
        _ => u(t) - 0.5,
    };
    run.follows("backlash.y", 1e-9, play);
}

/// A parabola, a saw with teeth at 1, 2, 3, 4, and sums of what a pulse of period 0.7 is there: 3, 1, 3, 1.
pub fn integrators(run: &Run) {
    run.follows("plain.y", 1e-6, |t| if t < 4.0 { 0.5 * t * t } else { 8.0 + 4.0 * (t - 4.0) });
    run.follows("sawtooth.y", 1e-9, |t| t - t.floor());
    run.follows("steps.y", 0.0, |t| [0.0, 3.0, 4.0, 7.0, 8.0][t.floor() as usize]);
}

pub fn anti_windup(run: &Run) {
    for (name, tt) in [("x1", 0.5), ("x2", 1e6)] {
        let f = |t: f64, x: &[f64]| {
            let u = if t < 1.0 { 0.0 } else { 3.0 } - x[0];
            let wanted = 2.0 * u + x[1];
            let y = wanted.clamp(-1.0, 1.0);
            vec![y, 2.0 * u + (y - wanted) / tt]
        };
        let (mut t, mut x) = (1.0, vec![0.0, 0.0]);
        for k in 1..=19 {
            (t, x, _) = integrate(&f, &|_, _| -1.0, (t, x), 1.0 + k as f64, 1e-4);
            close(&format!("{name} at {t}"), run.at(name, t), x[0], 1e-6);
        }
    }
    let largest = |name: &str| run.rows(name).into_iter().map(|row| row.1).fold(0.0, f64::max);
    assert!(largest("x2") > 4.0 && largest("x1") < 3.7, "{} {}", largest("x1"), largest("x2"));
}

/// Sliding torque 5 from 1 s: 10 - 5s = 2.5s at s = 4/3. Locked torque (t - 4)·2 exceeds 5 at 6.5 s.
pub fn clutch_engagement(run: &Run) {
    let (lock, slip) = (7.0 / 3.0, 6.5);
    let driving = |t: f64| {
        if t < 1.0 {
            10.0
        } else if t < lock {
            10.0 - 5.0 * (t - 1.0)
        } else {
            let loaded = (t.min(slip) - 4.0).max(0.0);
            10.0 / 3.0 - loaded * loaded - 5.0 * (t - slip).max(0.0)
        }
    };
    run.follows("driving.w", 1e-8, driving);
    let jumps = run.jumps("clutch.locked");
    all_close("locked, loose", &jumps, &[lock, slip], 1e-8);
    let together = run.rows("clutch.w_rel").into_iter().filter(|row| row.0 > lock + 1e-9 && row.0 < slip - 1e-9);
    together.for_each(|row| close("w_rel while locked", row.1, 0.0, 1e-9));
}

/// 4 - 2t until it stops at 2 s; loose when the load t - 3 reaches 3 at 6 s; then w' = t - 5.
pub fn brake_and_hold(run: &Run) {
    run.follows("shaft.w", 1e-8, |t| {
        if t < 2.0 {
            4.0 - 2.0 * t
        } else if t < 6.0 {
            0.0
        } else {
            0.5 * ((t - 5.0).powi(2) - 1.0)
        }
    });
}

/// Together with 4/(1 + 3) rad/s²; the pedal falls behind at 2 s and has caught up at 3.5 s; then together with 2/4.
pub fn free_wheel(run: &Run) {
    run.follows("wheel.w", 1e-9, |t| {
        if t < 2.0 {
            t
        } else if t < 3.5 {
            2.0
        } else {
            2.0 + 0.5 * (t - 3.5)
        }
    });
    run.follows("pedal.w", 1e-9, |t| {
        if t < 2.0 {
            t
        } else if t < 3.0 {
            4.0 - t
        } else if t < 3.5 {
            1.0 + 2.0 * (t - 3.0)
        } else {
            2.0 + 0.5 * (t - 3.5)
        }
    });
}

/// 1 m at 3 m/s, then 2 m at 0.8 of the speed before, and so on.
pub fn stops(run: &Run) {
    let times = [1.0 / 3.0, 1.0 / 3.0 + 2.0 / 2.4, 1.0 / 3.0 + 2.0 / 2.4 + 2.0 / 1.92];
    all_close("impacts", &run.jumps("slider.v"), &times, 1e-12);
    close("s", run.last("slider.s"), 1.0 - 1.536 * (3.0 - times[2]), 1e-12);
    close("impacts", run.last("slider.impacts"), 3.0, 0.0);
}

/// Filled at 0.02 m/s; emptied with sqrt(level) falling at 0.002 sqrt(2g)/2.
pub fn level_control(run: &Run) {
    let rate = 0.001 * (2.0 * 9.81_f64).sqrt();
    let (high, low) = (0.8_f64.sqrt(), 0.2_f64.sqrt());
    let emptying = (high - low) / rate;
    let full = 15.0;
    run.follows("tank.level", 1e-5, |t| {
        if t < full {
            return 0.5 + 0.02 * t;
        }
        let phase = (t - full).rem_euclid(emptying + 30.0);
        if phase < emptying { (high - rate * phase).powi(2) } else { 0.2 + 0.02 * (phase - emptying) }
    });
    let first = [full, full + emptying, full + emptying + 30.0];
    all_close("pump", &run.jumps("pump.on")[..3], &first, 1e-3);
}
