//! State events in continuous modelling and simulation, 1997.

use std::f64::consts::PI;

use saltus_sim::End;

use crate::e1999::{height, impacts};
use crate::harness::{Run, all_close, close, run_with};
use crate::reference::{State, bisect, integrate};

const G: f64 = 9.81;
const STEP: f64 = 1e-3;

fn never(_: f64, _: &[f64]) -> f64 {
    -1.0
}

/// A pendulum that meets a pin at -15°: state and switching times, integrated with a fixed step and bisection.
struct Pinned {
    linear: bool,
    t: f64,
    x: State,
    short: bool,
    switching: Vec<f64>,
}

impl Pinned {
    const PIN: f64 = -PI / 12.0;

    fn new(linear: bool, w0: f64) -> Self {
        Self { linear, t: 0.0, x: vec![PI / 6.0, w0], short: false, switching: Vec::new() }
    }

    /// Up to `end`, or to where the pendulum turns on the side of the pin if that is asked for; says whether it turned.
    fn run(&mut self, end: f64, until_it_turns: bool) -> bool {
        while self.t < end {
            let length = if self.short { 0.3 } else { 1.0 };
            let linear = self.linear;
            let f = |_: f64, x: &[f64]| {
                vec![x[1], -G / length * if linear { x[0] } else { x[0].sin() } - 0.2 / 1.02 * x[1]]
            };
            let outside = if self.short { 1.0 } else { -1.0 };
            let crosses = |_: f64, x: &[f64]| {
                let turns = if until_it_turns { x[1] } else { -1.0 };
                (outside * (x[0] - Self::PIN)).max(turns)
            };
            let (t, x, happened) = integrate(&f, &crosses, (self.t, self.x.clone()), end, STEP);
            (self.t, self.x) = (t, x);
            if happened && until_it_turns && self.x[1] >= 0.0 {
                return true;
            }
            if happened {
                self.x[1] *= if self.short { 0.3 } else { 1.0 / 0.3 };
                self.short = !self.short;
                self.switching.push(t);
            }
        }
        false
    }
}

fn pendulum_agrees(run: &Run, name: &str, linear: bool) {
    let mut pinned = Pinned::new(linear, 0.0);
    for k in 0..=100 {
        let t = 0.1 * k as f64;
        pinned.run(t, false);
        close(&format!("{name}.phi at {t}"), run.at(&format!("{name}.phi"), t), pinned.x[0], 1e-6);
        close(&format!("{name}.w at {t}"), run.at(&format!("{name}.w"), t), pinned.x[1], 1e-5);
    }
    all_close("meetings with the pin", &run.jumps(&format!("{name}.w")), &pinned.switching, 1e-6);
}

pub fn constrained_pendulum(run: &Run) {
    pendulum_agrees(run, "pendulum", false);
}

pub fn constrained_pendulum_linear(run: &Run) {
    pendulum_agrees(run, "linear", true);
    pendulum_agrees(run, "nonlinear", false);
}

/// Ends where the pendulum turns; from a start velocity of -2 rad/s that is before -90°. The velocity that reaches -90° is
/// found by bisection over independent integrations, and the example reaches it from there.
pub fn boundary_value(run: &Run) {
    let turning_point = |w0: f64| {
        let mut pinned = Pinned::new(false, w0);
        assert!(pinned.run(10.0, true));
        pinned.x[0]
    };
    assert_eq!(run.trajectory().end, End::Terminated { message: "the pendulum turns".into() });
    close("turning point", run.last("phi"), turning_point(-2.0), 1e-6);
    let wanted = bisect(|w0| turning_point(w0) + 0.5 * PI, -3.0, -1.0);
    let solved = run_with("E1997.BoundaryValue", &[("w0", &format!("{wanted:?}"))]);
    close("turning point", solved.last("phi"), -0.5 * PI, 1e-6);
}

pub fn ball_macroscopic(run: &Run) {
    all_close("impacts", &run.jumps("v"), &impacts(1.0, 0.8, 3.0), 1e-11);
    run.follows("x", 1e-11, |t| height(1.0, 0.8, t));
}

pub fn ball_microscopic(run: &Run) {
    let (mut t, mut x, mut contact, mut switching) = (0.0, vec![1.0, 0.0], false, Vec::new());
    for k in 0..=100 {
        let end = 0.03 * k as f64;
        while t < end {
            let f = |_: f64, x: &[f64]| {
                let force = if contact { 1000.0 * (0.05 - x[0]) - 0.2 * x[1] } else { 0.0 };
                vec![x[1], force / 0.1 - G]
            };
            let side = if contact { 1.0 } else { -1.0 };
            let changes = |_: f64, x: &[f64]| side * (x[0] - 0.05);
            let happened;
            (t, x, happened) = integrate(&f, &changes, (t, x), end, 1e-4);
            if happened {
                contact = !contact;
                switching.push(t);
            }
        }
        close(&format!("ball.s at {end}"), run.at("ball.s", end), x[0], 1e-6);
    }
    all_close("contacts", &run.jumps("contact.contact"), &switching, 1e-6);
}

/// On the circle until w² + g cos φ = 0, then a parabola until it meets the circle again, where the part of the velocity
/// along the string is lost.
pub fn looping_pendulum(run: &Run) {
    let f = |_: f64, x: &[f64]| vec![x[1], -G * x[0].sin()];
    let slackens = |_: f64, x: &[f64]| -(x[1] * x[1] + G * x[0].cos());
    let (t1, x, happened) = integrate(&f, &slackens, (0.0, vec![0.0, 6.0]), 2.0, 1e-4);
    assert!(happened);
    // Energy: w² = 36 - 2g(1 - cos φ), so cos φ = (2g - 36)/(3g).
    close("angle", x[0], ((2.0 * G - 36.0) / (3.0 * G)).acos(), 1e-9);
    let (sine, cosine, w) = (x[0].sin(), x[0].cos(), x[1]);
    let place = |s: f64| (sine + w * cosine * s, -cosine + w * sine * s - 0.5 * G * s * s);
    let outside = |s: f64| {
        let (x, y) = place(s);
        x * x + y * y - 1.0
    };
    let flight = bisect(outside, 0.1, 2.0);
    let t2 = t1 + flight;
    let (px, py) = place(flight);
    let (vx, vy) = (w * cosine, w * sine - G * flight);
    let caught = vec![px.atan2(-py), vy * px - vx * py];
    let jumps = run.jumps("pendulum.mode");
    close("slack", jumps[0], t1, 1e-7);
    close("taut", *jumps.last().expect("taut again"), t2, 1e-7);
    for k in 0..=20 {
        let t = 0.1 * k as f64;
        let (x, y) = if t < t1 {
            let (_, x, _) = integrate(&f, &never, (0.0, vec![0.0, 6.0]), t, 1e-3);
            (x[0].sin(), -x[0].cos())
        } else if t < t2 {
            place(t - t1)
        } else {
            let (_, x, _) = integrate(&f, &never, (t2, caught.clone()), t, 1e-3);
            (x[0].sin(), -x[0].cos())
        };
        close(&format!("x at {t}"), run.at("pendulum.x", t), x, 1e-6);
        close(&format!("y at {t}"), run.at("pendulum.y", t), y, 1e-6);
    }
    run.follows("energy", 1e-6, |t| if t < t2 { 18.0 } else { 0.5 * caught[1].powi(2) + G * (py + 1.0) });
}

pub fn pilot_ejection(run: &Run) {
    let (va, ve, theta) = (270.0_f64, 14.0_f64, PI / 12.0);
    let (horizontal, vertical) = (va - ve * theta.sin(), ve * theta.cos());
    let rails = 1.2 / vertical;
    all_close("end of the rails", &run.jumps("inRails"), &[rails], 1e-12);
    let f = |_: f64, x: &[f64]| {
        let (v, angle) = (x[2], x[3]);
        let drag = 0.5 * 1.225 * 0.93 * v * v / 100.0;
        vec![v * angle.cos() - va, v * angle.sin(), -drag - G * angle.sin(), -G * angle.cos() / v]
    };
    let start = vec![(horizontal - va) * rails, 1.2, horizontal.hypot(vertical), vertical.atan2(horizontal)];
    let (t, x, happened) = integrate(&f, &|_, x| -9.0 - x[0], (rails, start), 2.0, 1e-4);
    assert!(happened);
    assert_eq!(run.trajectory().end, End::Terminated { message: "the pilot passes the tail".into() });
    close("time at the tail", run.end(), t, 1e-8);
    close("height at the tail", run.last("y"), x[1], 1e-6);
    close("velocity at the tail", run.last("vp"), x[2], 1e-5);
}

/// An exponential towards 20 °C + P/G, with time constant C/G, between switching temperatures.
pub fn cooking_pot(run: &Run) {
    let tau = 8400.0 / 8.0;
    let time = |from: f64, to: f64, power: f64| tau * ((power / 8.0 - from) / (power / 8.0 - to)).ln();
    let (mut t, mut switching) = (time(0.0, 70.0, 2000.0), Vec::new());
    let mut reduced = true;
    while t < 1200.0 {
        switching.push(t);
        t += if reduced { time(70.0, 60.0, 200.0) } else { time(60.0, 70.0, 2000.0) };
        reduced = !reduced;
    }
    all_close("switching", &run.jumps("reduced"), &switching, 1e-3);
    run.follows("T", 1e-3, |t| {
        let n = switching.iter().filter(|s| **s < t).count();
        let since = t - if n == 0 { 0.0 } else { switching[n - 1] };
        let (from, power) = match n {
            0 => (0.0, 2000.0),
            n if n % 2 == 1 => (70.0, 200.0),
            _ => (60.0, 2000.0),
        };
        293.15 + power / 8.0 + (from - power / 8.0) * (-since / tau).exp()
    });
}

/// The first cycle by hand, then balances of volume and pollutant at all times.
pub fn reconditioning_plant(run: &Run) {
    // Tank 2 starts at 3 kg/m³ and decays with 0.03/s: below 1 at ln(3)/0.03. It is emptied from 10 to 0.5 m³ with 0.15 m³/s,
    // filled from tank 1 with 0.12 m³/s, then tank 1 is filled.
    let empty = 3.0_f64.ln() / 0.03;
    let pass = empty + 9.5 / 0.15;
    let fill = pass + 9.5 / 0.12;
    for (pump, from, to) in [("empty", empty, pass), ("pass", pass, fill)] {
        all_close(pump, &run.jumps(&format!("{pump}.on"))[..2], &[from, to], 1e-5);
    }
    close("fill", run.jumps("fill.on")[0], fill, 1e-5);
    let values = |name: &str| run.rows(name).into_iter().map(|row| row.1).collect::<Vec<f64>>();
    let [v1, v2, burnt] = ["tank1.V", "tank2.V", "furnace.V"].map(values);
    let names = ["tank1.pollutant", "tank2.pollutant", "furnace.pollutant", "decayed"];
    let [p1, p2, p3, decayed] = names.map(values);
    for k in 0..v1.len() {
        let filled = v1[k] + v2[k] + burnt[k] - 20.0;
        // 80 and 30 kg at the start, 8 kg with each cubic metre.
        close("pollutant", p1[k] + p2[k] + p3[k] + decayed[k], 110.0 + 8.0 * filled, 1e-5);
        assert!((0.49..=10.01).contains(&v1[k]) && (0.49..=10.01).contains(&v2[k]), "{} {}", v1[k], v2[k]);
    }
}

/// The plant T y' = u - y with held u: an exact recursion, the controller as written.
pub fn discrete_controller(run: &Run) {
    let decay = (-0.2_f64).exp();
    let (mut y, mut sum) = (0.0_f64, 0.0_f64);
    for k in 0..=30 {
        let t = 0.2 * k as f64;
        close(&format!("plant.y at {t}"), run.at("plant.y", t), y, 1e-5);
        let error = if t > 0.5 { 1.0 - y } else { -y };
        let wanted = 1.5 * (error + sum + 0.2 * error);
        let u = wanted.clamp(0.0, 2.0);
        if !(wanted > 2.0 && error > 0.0 || wanted < 0.0 && error < 0.0) {
            sum += 0.2 * error;
        }
        close(&format!("controller.y at {t}"), run.at("controller.y", t), u, 1e-5);
        y = u + (y - u) * decay;
    }
}
