//! The models of the thesis of 1997 as meta models: each against a closed form or an integration of its own.

use std::f64::consts::PI;

use saltus_sim::{End, EventKind, EventRecord};

use crate::e1999::{height, impacts};
use crate::harness::{Run, all_close, close, run_with};
use crate::reference::{bisect, integrate};

const G: f64 = 9.81;

/// The changes of structure, as the record has them.
fn changes(run: &Run) -> Vec<&EventRecord> {
    run.trajectory().events.iter().filter(|e| e.kind == EventKind::Configuration).collect()
}

/// Times of the changes whose story begins like this.
fn times(run: &Run, story: &str) -> Vec<f64> {
    let is_it = |e: &&&EventRecord| e.note.as_deref().is_some_and(|note| note.starts_with(story));
    changes(run).iter().filter(is_it).map(|e| e.time).collect()
}

fn relative(what: &str, found: f64, expected: f64, tolerance: f64) {
    close(what, found / expected, 1.0, tolerance);
}

/// Energy: w² = w0² - 2g(1 - cos φ) on the circle, which it leaves at w² = -g cos φ. The parabola meets the circle again after 4 w sin φ/g.
pub fn looping_pendulum(run: &Run) {
    let phi = ((2.0 * G - 36.0) / (3.0 * G)).acos();
    let w = (-G * phi.cos()).sqrt();
    let flight = 4.0 * w * phi.sin() / G;
    let [leaves, returns] = changes(run)[..] else { panic!("two changes") };
    let value = |name: &str, e: &EventRecord, after: bool| {
        let rows = run.rows(name);
        let mut here = rows.iter().filter(|row| row.0 == e.time && !row.1.is_nan());
        if after { here.next_back() } else { here.next() }.unwrap_or_else(|| panic!("{name} at {}", e.time)).1
    };
    relative("angle", value("circle.phi", leaves, false), phi, 1e-9);
    // The time on the circle, an elliptic integral: 0.484466131711 by quadrature.
    let speed = |a: f64| 1.0 / (36.0 - 2.0 * G * (1.0 - a.cos())).sqrt();
    relative("leaves", leaves.time, simpson(speed, 0.0, phi, 2000), 1e-9);
    relative("flight", returns.time - leaves.time, flight, 1e-9);
    let (x, y) = (phi.sin() + w * phi.cos() * flight, -phi.cos() + w * phi.sin() * flight - G * flight * flight / 2.0);
    let (vx, vy) = (w * phi.cos(), w * phi.sin() - G * flight);
    relative("angle of return", value("circle.phi", returns, true), x.atan2(-y), 1e-8);
    relative("speed of return", value("circle.w", returns, true), x * vy - y * vx, 1e-8);
    for (event, story) in [(leaves, "circle → flight; 2 → 4 states"), (returns, "flight → circle; 4 → 2 states")]
    {
        assert_eq!(event.note.as_deref(), Some(story));
    }
}

fn simpson(f: impl Fn(f64) -> f64, from: f64, to: f64, n: usize) -> f64 {
    let h = (to - from) / n as f64;
    let weight = |k: usize| {
        if k == 0 || k == n {
            1.0
        } else if k % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    (0..=n).map(|k| weight(k) * f(from + k as f64 * h)).sum::<f64>() * h / 3.0
}

pub fn looping_pendulum_damped(run: &Run) {
    let f = |_: f64, x: &[f64]| vec![x[1], -G * x[0].sin() - 0.2 * x[1]];
    let slackens = |_: f64, x: &[f64]| -(x[1] * x[1] + G * x[0].cos());
    let (t, x, happened) = integrate(&f, &slackens, (0.0, vec![0.0, 7.0]), 3.0, 1e-4);
    assert!(happened);
    let [leaves, returns, ..] = changes(run)[..] else { panic!("two changes") };
    close("leaves", leaves.time, t, 1e-8);
    // A parabola from the circle meets it again after 4 w sin φ/g whatever the speed if it leaves where the string slackens.
    close("flight", returns.time - leaves.time, 4.0 * x[1] * x[0].sin() / G, 1e-8);
}

/// Fall to the radius, then a damped oscillation with weight until the ball is back at the radius.
fn contact(v: f64) -> (f64, f64) {
    let (m, k, c) = (0.1_f64, 1000.0, 0.2);
    let (w0, delta) = ((k / m).sqrt(), 0.5 * c / m);
    let w = (w0 * w0 - delta * delta).sqrt();
    // z = x - r + g/w0²: z'' + 2δz' + w0² z = 0.
    let z0 = G / (w0 * w0);
    let b = (v + delta * z0) / w;
    let z = |t: f64| (-delta * t).exp() * (z0 * (w * t).cos() + b * (w * t).sin());
    let dz = |t: f64| -delta * z(t) + (-delta * t).exp() * w * (b * (w * t).cos() - z0 * (w * t).sin());
    let t = bisect(|t| z(t) - z0, 0.5 * PI / w, 1.2 * PI / w);
    (t, dz(t))
}

pub fn ball_microscopic(run: &Run) {
    let begins = (2.0 * 0.95 / G).sqrt();
    let (lasts, after) = contact(-G * begins);
    relative("contact", times(run, "free → contact")[0], begins, 1e-9);
    relative("its duration", times(run, "contact → free")[0] - times(run, "free → contact")[0], lasts, 1e-7);
    relative("0.0318793", lasts, 0.031879336411, 1e-10);
    let [_, second, ..] = times(run, "free → contact")[..] else { panic!("two contacts") };
    relative("second contact", second, begins + lasts + 2.0 * after / G, 1e-7);
    relative("ratio of speeds", after / (G * begins), 0.968159665679, 1e-10);
}

pub fn ball_macroscopic(run: &Run) {
    all_close("impacts", &times(run, "ball → ball"), &impacts(1.0, 0.8, 3.0), 1e-9);
    run.follows("ball.x", 1e-9, |t| height(1.0, 0.8, t));
}

/// Impacts with 4.3, 2.2 and 1.1 m/s are events, the next one with 0.54 m/s a contact.
pub fn ball_both(run: &Run) {
    let first = (2.0 * 0.95 / G).sqrt();
    let (mut t, mut v) = (first, G * first);
    let mut fast = Vec::new();
    while v > 1.0 {
        fast.push(t);
        v *= 0.5;
        t += 2.0 * v / G;
    }
    all_close("fast impacts", &times(run, "free → free"), &fast, 1e-8);
    let (lasts, after) = contact(-v);
    close("contact", times(run, "free → contact")[0], t, 1e-8);
    close("its end", times(run, "contact → free")[0], t + lasts, 1e-7);
    close("next contact", times(run, "free → contact")[1], t + lasts + 2.0 * after / G, 1e-6);
}

/// Angle and times at the pin, by an integration of its own.
fn pinned(run: &Run, phi0: f64, pin: f64) {
    let (mut t, mut x, mut short, mut switching) = (0.0, vec![phi0, 0.0], phi0 * pin >= pin * pin, Vec::new());
    for k in 0..=100 {
        let end = 0.1 * k as f64;
        while t < end {
            let length = if short { 0.3 } else { 1.0 };
            let f = |_: f64, x: &[f64]| vec![x[1], -G / length * x[0].sin() - 0.2 / 1.02 * x[1]];
            let side = if short { -1.0 } else { 1.0 };
            let crosses = |_: f64, x: &[f64]| side * (x[0] * pin - pin * pin);
            let happened;
            (t, x, happened) = integrate(&f, &crosses, (t, x), end, 1e-3);
            if happened {
                x[1] *= if short { 0.3 } else { 1.0 / 0.3 };
                short = !short;
                switching.push(t);
            }
        }
        close(&format!("phi at {end}"), run.at("phi", end), x[0], 1e-6);
    }
    let mut found: Vec<f64> = changes(run).iter().map(|e| e.time).collect();
    found.retain(|t| *t > 0.0);
    all_close("at the pin", &found, &switching, 1e-6);
}

pub fn constrained_pendulum(run: &Run) {
    pinned(run, PI / 6.0, -PI / 12.0);
}

pub fn constrained_pendulum_at_pin(run: &Run) {
    pinned(run, 0.3, 0.2);
}

pub fn constrained_pendulum_opposite(run: &Run) {
    pinned(run, 0.3, -0.2);
}

/// Time and height at the tail for a velocity of ejection.
fn at_tail(ve: f64) -> (f64, f64) {
    let (va, slope) = (270.0_f64, PI / 12.0);
    let (horizontal, vertical) = (va - ve * slope.sin(), ve * slope.cos());
    let rails = 1.2 / vertical;
    let f = |_: f64, x: &[f64]| {
        let drag = 0.5 * 1.225 * 0.93 * x[2] * x[2] / 100.0;
        vec![x[2] * x[3].cos() - va, x[2] * x[3].sin(), -drag - G * x[3].sin(), -G * x[3].cos() / x[2]]
    };
    let start = vec![(horizontal - va) * rails, 1.2, horizontal.hypot(vertical), vertical.atan2(horizontal)];
    let (t, x, happened) = integrate(&f, &|_, x| -9.0 - x[0], (rails, start), 2.0, 1e-3);
    assert!(happened);
    (t, x[1])
}

/// And the answer to its question: the smallest safe velocity, found from independent integrations, ends at the height of the tail.
pub fn pilot_ejection(run: &Run) {
    let (t, y) = at_tail(14.0);
    assert_eq!(run.trajectory().end, End::Terminated { message: "the pilot passes the tail".into() });
    close("time at the tail", run.end(), t, 1e-7);
    close("height at the tail", run.last("pilot.y"), y, 1e-6);
    let rails = 1.2 / (14.0 * (PI / 12.0).cos());
    all_close("end of the rails", &times(run, "rails → air; 2 → 4 states"), &[rails], 1e-9);
    let safe = bisect(|ve| at_tail(ve).1 - 3.0, 5.0, 20.0);
    let limit = run_with("Meta.PilotEjection", &[("ve", &format!("{safe:?}"))]);
    close("height with the smallest safe velocity", limit.last("pilot.y"), 3.0, 1e-6);
    for (ve, is_safe) in [(safe - 0.1, 0.0), (safe + 0.1, 1.0)] {
        let run = run_with("Meta.PilotEjection", &[("ve", &format!("{ve:?}"))]);
        assert_eq!(run.last("safe"), is_safe, "{ve}");
    }
}

/// The first cycle by hand, then the balance of the pollutant at all times, as for the model with `if`.
pub fn reconditioning_plant(run: &Run) {
    let empty = 3.0_f64.ln() / 0.03;
    let pass = empty + 9.5 / 0.15;
    let fill = pass + 9.5 / 0.12;
    for (state, time) in [("empty", empty), ("pass", pass), ("fill", fill)] {
        close(state, run.jumps(&format!("active({state})"))[0], time, 1e-5);
    }
    let values = |name: &str| run.rows(name).into_iter().map(|row| row.1).collect::<Vec<f64>>();
    let [v1, v2, burnt] = ["tank1.V", "tank2.V", "furnace.V"].map(values);
    let names = ["tank1.pollutant", "tank2.pollutant", "furnace.pollutant", "decayed"];
    let [p1, p2, p3, decayed] = names.map(values);
    for k in 0..v1.len() {
        let filled = v1[k] + v2[k] + burnt[k] - 20.0;
        close("pollutant", p1[k] + p2[k] + p3[k] + decayed[k], 110.0 + 8.0 * filled, 1e-5);
        assert!((0.49..=10.01).contains(&v1[k]) && (0.49..=10.01).contains(&v2[k]), "{} {}", v1[k], v2[k]);
    }
}

/// Exponentials towards 20 °C + P/G with the time constant C/G.
pub fn cooking_pot(run: &Run) {
    let time = |from: f64, to: f64, power: f64| 1050.0 * ((power / 8.0 - from) / (power / 8.0 - to)).ln();
    let found: Vec<f64> = changes(run).iter().map(|e| e.time).collect();
    relative("hot", found[0], time(0.0, 70.0, 2000.0), 1e-9);
    relative("cool", found[1] - found[0], time(70.0, 60.0, 200.0), 1e-8);
    relative("hot again", found[2] - found[1], time(60.0, 70.0, 2000.0), 1e-8);
    for (k, expected) in [344.929270, 263.880150, 56.770582].into_iter().enumerate() {
        let before = if k == 0 { 0.0 } else { found[k - 1] };
        close("as in the table", found[k] - before, expected, 1e-6);
    }
}

/// Linear around T_P: T - T_P = f_P/a (exp(a t) - 1), solved piece by piece.
pub fn cooking_pot_linearised(run: &Run) {
    let (c, g, k, room) = (8400.0, 8.0, 1e-8, 293.15_f64);
    let loss = |t: f64| g * (t - room) + k * (t.powi(4) - room.powi(4));
    let slope = |t: f64| g + 4.0 * k * t.powi(3);
    let (mut t, mut at, mut center, mut is_full) = (0.0, room, room, true);
    let (mut again, mut switching) = (Vec::new(), Vec::new());
    while t < 1200.0 {
        let power = if is_full { 2000.0 } else { 200.0 };
        // d(T)/dt = (power - loss(center) - slope(center)*(T - center))/c
        let rate = -slope(center) / c;
        let rest = center + (power - loss(center)) / slope(center);
        let reach = |to: f64| ((to - rest) / (at - rest)).ln() / rate;
        let (limit, threshold) = if is_full { (center + 15.0, 363.15) } else { (center - 15.0, 353.15) };
        let (a, b) = (reach(limit), reach(threshold));
        let (step, to) = if a < b { (a, limit) } else { (b, threshold) };
        (t, at) = (t + step, to);
        if t > 1200.0 {
            break;
        }
        if a < b {
            center = at;
            again.push(t);
        } else {
            is_full = !is_full;
            switching.push(t);
        }
    }
    assert!(again.len() >= 4 && switching.len() >= 2, "{again:?} {switching:?}");
    all_close("linearised again", &times(run, "pot → pot"), &again, 1e-5);
    let mut found = [times(run, "full → reduced"), times(run, "reduced → full")].concat();
    found.sort_by(f64::total_cmp);
    all_close("switching", &found, &switching, 1e-5);
}

/// From x_P it takes -ln(1 - 2a/x_P)/(2 x_P) to move by a.
pub fn repeated_linearisation(run: &Run) {
    let (mut t, mut x, mut expected) = (0.0, 1.0_f64, Vec::new());
    loop {
        t += -(1.0 - 0.2 / x).ln() / (2.0 * x);
        x -= 0.1;
        if t > 2.0 {
            break;
        }
        expected.push(t);
    }
    for (time, as_in_the_table) in expected.iter().zip([0.111571776, 0.251190902, 0.430992198]) {
        close("closed form", *time, as_in_the_table, 1e-9);
    }
    all_close("linearised again", &times(run, "p → p"), &expected, 1e-8);
}

/// Tsiolkovsky's equation and its integral.
pub fn rocket_stages(run: &Run) {
    let burn = |m0: f64, flow: f64, t: f64| {
        let (m, c) = (m0 - flow * t, 3000.0);
        let v = c * (m0 / m).ln() - G * t;
        let h = c * t - c * m / flow * (m0 / m).ln() - G * t * t / 2.0;
        (v, h)
    };
    let (v1, h1) = burn(12000.0, 80.0, 100.0);
    let (dv, dh) = burn(1500.0, 10.0, 100.0);
    let (v2, h2) = (v1 + dv, h1 + v1 * 100.0 + dh);
    all_close("first stage", &times(run, "first → second; 3 → 3 states"), &[100.0], 1e-7);
    all_close("second stage", &times(run, "second → payload; 3 → 2 states"), &[200.0], 1e-7);
    relative("velocity", run.last("v"), v2 - G * 100.0, 1e-7);
    relative("height", run.last("h"), h2 + v2 * 100.0 - G * 100.0 * 100.0 / 2.0, 1e-7);
}
