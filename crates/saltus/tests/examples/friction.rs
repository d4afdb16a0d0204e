//! Dry friction, held to an event-driven integration of its own.
//!
//! Each element is stuck or slides in one of two directions. While stuck its force is what keeps the relative acceleration zero;
//! it breaks loose when that force reaches `r0`.

use crate::harness::{Run, close};
use crate::reference::{State, integrate, solve};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Stuck,
    Forward,
    Backward,
}

/// Accelerations smaller than this are none: an element that is just overloaded begins to move with none at all.
const ROUNDING: f64 = 1e-9;

/// Elements whose relative accelerations are `a0 - b*force`; the state is positions, then velocities.
struct Rubbing<'a> {
    r0: Vec<f64>,
    rm: Vec<f64>,
    rv: f64,
    motion: &'a Motion,
    modes: Vec<Mode>,
    t: f64,
    x: State,
}

type Motion = dyn Fn(f64, &[f64], &[f64]) -> (Vec<f64>, Vec<Vec<f64>>);

impl<'a> Rubbing<'a> {
    /// At rest.
    fn new(r0: &[f64], rm: &[f64], rv: f64, motion: &'a Motion) -> Self {
        let n = r0.len();
        let modes = vec![Mode::Stuck; n];
        let mut rubbing = Rubbing { r0: r0.to_vec(), rm: rm.to_vec(), rv, motion, modes, t: 0.0, x: vec![0.0; 2 * n] };
        rubbing.settle();
        rubbing
    }

    /// Forces and accelerations in a structure.
    fn forces(&self, modes: &[Mode], t: f64, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = modes.len();
        let (q, w) = x.split_at(n);
        let (a0, b) = (self.motion)(t, q, w);
        let sliding = |i: usize| match modes[i] {
            Mode::Stuck => 0.0,
            Mode::Forward => self.rm[i] + self.rv * w[i],
            Mode::Backward => -self.rm[i] + self.rv * w[i],
        };
        let mut force: Vec<f64> = (0..n).map(sliding).collect();
        let acceleration = |i: usize, force: &[f64]| a0[i] - (0..n).map(|j| b[i][j] * force[j]).sum::<f64>();
        let stuck: Vec<usize> = (0..n).filter(|&i| modes[i] == Mode::Stuck).collect();
        let matrix = stuck.iter().map(|&i| stuck.iter().map(|&j| b[i][j]).collect()).collect();
        let right = stuck.iter().map(|&i| acceleration(i, &force)).collect();
        let held = solve(matrix, right).expect("a regular structure");
        stuck.iter().zip(held).for_each(|(&i, f)| force[i] = f);
        let a = (0..n).map(|i| if modes[i] == Mode::Stuck { 0.0 } else { acceleration(i, &force) }).collect();
        (force, a)
    }

    /// Chooses modes for the elements without velocity as the automaton of 1993 does: all are stuck; those that are overloaded
    /// break loose in the direction of their forces; those that do not move that way then are stuck again.
    fn settle(&mut self) {
        let n = self.modes.len();
        let resting: Vec<usize> = (0..n).filter(|&i| self.x[n + i] == 0.0).collect();
        resting.iter().for_each(|&i| self.modes[i] = Mode::Stuck);
        for _ in 0..100 {
            let (force, a) = self.forces(&self.modes, self.t, &self.x);
            let next = |i: usize| match self.modes[i] {
                Mode::Stuck if force[i] >= self.r0[i] => Mode::Forward,
                Mode::Stuck if force[i] <= -self.r0[i] => Mode::Backward,
                Mode::Forward if a[i] < -ROUNDING => Mode::Stuck,
                Mode::Backward if a[i] > ROUNDING => Mode::Stuck,
                same => same,
            };
            let next: Vec<(usize, Mode)> = resting.iter().map(|&i| (i, next(i))).collect();
            if next.iter().all(|&(i, mode)| self.modes[i] == mode) {
                return;
            }
            next.into_iter().for_each(|(i, mode)| self.modes[i] = mode);
        }
        panic!("no structure without contradiction at {}", self.t);
    }

    fn run(&mut self, end: f64, step: f64) {
        while self.t < end {
            let (this, n) = (&*self, self.modes.len());
            let f = |t: f64, x: &[f64]| {
                let (_, a) = this.forces(&this.modes, t, x);
                x[n..].iter().copied().chain(a).collect()
            };
            let changes = |t: f64, x: &[f64]| {
                let (force, _) = this.forces(&this.modes, t, x);
                let excess = |i: usize| match this.modes[i] {
                    Mode::Stuck => force[i].abs() - this.r0[i],
                    Mode::Forward => -x[n + i],
                    Mode::Backward => x[n + i],
                };
                (0..n).map(excess).fold(f64::NEG_INFINITY, f64::max)
            };
            let (t, x, happened) = integrate(&f, &changes, (self.t, self.x.clone()), end, step);
            (self.t, self.x) = (t, x);
            if happened {
                // The one that changes has a velocity of rounding size.
                self.x[n..].iter_mut().filter(|w| w.abs() < 1e-10).for_each(|w| *w = 0.0);
                self.settle();
            }
        }
    }
}

/// While `is_stuck` is true the velocity is zero to 1e-9; both phases occur.
fn sticks_and_slips(run: &Run, velocity: &str, is_stuck: &[bool]) {
    let rows = run.rows(velocity);
    let stuck: Vec<f64> = rows.iter().zip(is_stuck).filter(|(_, s)| **s).map(|(row, _)| row.1.abs()).collect();
    assert!(stuck.len() > 2 && stuck.len() < rows.len() - 2, "{velocity}: {} of {} stuck", stuck.len(), rows.len());
    let largest = stuck.iter().copied().fold(0.0, f64::max);
    assert!(largest < 1e-9, "{velocity} while stuck: {largest}");
}

fn is(run: &Run, variable: &str, value: f64) -> Vec<bool> {
    run.rows(variable).iter().map(|row| row.1 == value).collect()
}

/// One element and one mass: positions and velocities at 100 times.
fn one_element(run: &Run, mut rubbing: Rubbing, end: f64, position: Option<&str>, velocity: &str) {
    for k in 0..=100 {
        let t = end * k as f64 / 100.0;
        rubbing.run(t, 1e-3);
        if let Some(position) = position {
            close(&format!("{position} at {t}"), run.at(position, t), rubbing.x[0], 1e-6);
        }
        close(&format!("{velocity} at {t}"), run.at(velocity, t), rubbing.x[1], 1e-6);
    }
}

fn driven(t: f64, _: &[f64], _: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    (vec![2.0 * t.sin()], vec![vec![1.0]])
}

pub fn friction_simple(run: &Run) {
    one_element(run, Rubbing::new(&[1.0], &[1.0], 0.5, &driven), 12.0, None, "v");
    let is_stuck: Vec<bool> = run.rows("s").iter().map(|row| row.1.abs() <= 1.0).collect();
    let is_slow: Vec<bool> = is(run, "fullSliding", 0.0);
    let both: Vec<bool> = is_stuck.iter().zip(is_slow).map(|(a, b)| *a && b).collect();
    sticks_and_slips(run, "v", &both);
}

pub fn friction_full(run: &Run) {
    one_element(run, Rubbing::new(&[1.5], &[1.0], 0.5, &driven), 12.0, Some("block1.s"), "block1.v");
    sticks_and_slips(run, "block1.v", &is(run, "friction.mode", 0.0));
}

pub fn rough_block(run: &Run) {
    let pulled = |t: f64, q: &[f64], w: &[f64]| {
        let end = 0.05 * (2.0 * std::f64::consts::PI * 0.4 * t).sin();
        (vec![100.0 * (end - q[0]) - 0.5 * w[0]], vec![vec![1.0]])
    };
    one_element(run, Rubbing::new(&[2.5], &[2.0], 0.0, &pulled), 5.0, Some("block1.s"), "block1.v");
    sticks_and_slips(run, "block1.v", &is(run, "surface.mode", 0.0));
}

pub fn two_blocks(run: &Run) {
    let motion = |t: f64, _: &[f64], _: &[f64]| {
        let (a1, a2) = (14.0 * (2.0 * t).sin() / 1.0, 8.0 * (3.0 * t + 1.0).sin() / 2.0);
        (vec![a1, a2 - a1], vec![vec![1.0, -1.0], vec![-1.0, 1.5]])
    };
    let mut rubbing = Rubbing::new(&[10.0, 5.0], &[8.0, 4.0], 0.0, &motion);
    for k in 0..=100 {
        let t = 0.06 * k as f64;
        rubbing.run(t, 1e-3);
        let [q1, q2, w1, w2] = rubbing.x[..] else { panic!("four states") };
        for (variable, value) in [("m1.s", q1), ("m2.s", q1 + q2), ("m1.v", w1), ("m2.v", w1 + w2)] {
            close(&format!("{variable} at {t}"), run.at(variable, t), value, 1e-6);
        }
    }
    for element in ["f1", "f2"] {
        sticks_and_slips(run, &format!("{element}.v"), &is(run, &format!("{element}.stuck"), 1.0));
    }
}

/// Point masses at the ends of six links: the mass matrix in the angles of the links, then of the joints.
fn arm(t: f64, q: &[f64], w: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    const LENGTHS: [f64; 6] = [0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
    const MASSES: [f64; 6] = [3.0, 2.5, 2.0, 1.5, 1.0, 0.5];
    let n = 6;
    let drive: Vec<f64> = (0..n).map(|i| DRIVES[i] * (FREQUENCIES[i] * t).sin()).collect();
    let cumulated = |v: &[f64]| -> Vec<f64> { (0..n).map(|i| v[..=i].iter().sum()).collect() };
    let (theta, omega) = (cumulated(q), cumulated(w));
    let entry = |i: usize, j: usize| MASSES[i.max(j)..].iter().sum::<f64>() * LENGTHS[i] * LENGTHS[j];
    let matrix: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| entry(i, j) * (theta[i] - theta[j]).cos()).collect()).collect();
    let turning = |i: usize| (0..n).map(|j| entry(i, j) * (theta[i] - theta[j]).sin() * omega[j].powi(2)).sum::<f64>();
    // A torque of joint j acts on link j and, with the other sign, on link j - 1.
    let on_links = |torque: &[f64]| -> Vec<f64> {
        (0..n).map(|i| torque[i] - torque.get(i + 1).copied().unwrap_or(0.0)).collect()
    };
    let of_joints =
        |links: Vec<f64>| -> Vec<f64> { (0..n).map(|i| links[i] - if i > 0 { links[i - 1] } else { 0.0 }).collect() };
    let answer = |right: Vec<f64>| of_joints(solve(matrix.clone(), right).expect("a mass matrix"));
    let a0 = answer(on_links(&drive).iter().enumerate().map(|(i, f)| f - turning(i)).collect());
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| answer(on_links(&(0..n).map(|k| if k == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>())))
        .collect();
    let b = (0..n).map(|i| (0..n).map(|j| columns[j][i]).collect()).collect();
    (a0, b)
}

const DRIVES: [f64; 6] = [8.0, 5.0, 3.0, 1.6, 0.6, 0.15];
const FREQUENCIES: [f64; 6] = [1.0, 1.3, 1.7, 2.1, 2.6, 3.1];

pub fn robot_chain(run: &Run) {
    let r0 = [3.0, 2.4, 1.5, 0.8, 0.3, 0.08];
    let rm = [2.4, 2.0, 1.2, 0.6, 0.2, 0.06];
    let mut rubbing = Rubbing::new(&r0, &rm, 0.0, &arm);
    let end = run.end();
    for k in 0..=50 {
        let t = end * k as f64 / 50.0;
        rubbing.run(t, 2e-3);
        for i in 0..6 {
            let name = format!("q[{}]", i + 1);
            close(&format!("{name} at {t}"), run.at(&name, t), rubbing.x[i], 1e-6);
            let name = format!("joint[{}].w", i + 1);
            close(&format!("{name} at {t}"), run.at(&name, t), rubbing.x[6 + i], 1e-6);
        }
    }
    for i in 1..=6 {
        sticks_and_slips(run, &format!("joint[{i}].w"), &is(run, &format!("joint[{i}].mode"), 0.0));
    }
}

/// Six shafts in a row: the clutch between two neighbours slows down the one that is ahead.
fn row_of_shafts(t: f64, _: &[f64], _: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let free: Vec<f64> = (0..6).map(|i| SHAFT_DRIVES[i] * (SHAFT_FREQUENCIES[i] * t).sin() / INERTIAS[i]).collect();
    let a0 = (0..5).map(|i| free[i + 1] - free[i]).collect();
    let b = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 1.0 / INERTIAS[i] + 1.0 / INERTIAS[i + 1],
        1 => -1.0 / INERTIAS[i.max(j)],
        _ => 0.0,
    };
    (a0, (0..5).map(|i| (0..5).map(|j| b(i, j)).collect()).collect())
}

const INERTIAS: [f64; 6] = [1.0, 0.5, 2.0, 0.8, 1.2, 0.6];
const SHAFT_DRIVES: [f64; 6] = [9.0, -4.0, 7.0, -5.0, 6.0, -3.0];
const SHAFT_FREQUENCIES: [f64; 6] = [1.1, 1.9, 0.7, 2.3, 1.3, 2.9];

pub fn five_clutches(run: &Run) {
    // With equal torques at rest and in motion the structure is unique; otherwise several may be free of contradiction.
    let sliding = [4.0, 3.5, 3.0, 4.5, 2.5];
    let mut rubbing = Rubbing::new(&sliding, &sliding, 0.0, &row_of_shafts);
    for k in 0..=100 {
        let t = 0.06 * k as f64;
        rubbing.run(t, 1e-3);
        for i in 0..5 {
            for (of, value) in [("phi_rel", rubbing.x[i]), ("w_rel", rubbing.x[5 + i])] {
                let name = format!("clutch[{}].{of}", i + 1);
                close(&format!("{name} at {t}"), run.at(&name, t), value, 1e-6);
            }
        }
        // Clutches neither add nor take momentum: it is the integral of the drives.
        let momentum: f64 = (0..6).map(|i| INERTIAS[i] * run.at(&format!("shaft[{}].w", i + 1), t)).sum();
        let driven = |i: usize| SHAFT_DRIVES[i] / SHAFT_FREQUENCIES[i] * (1.0 - (SHAFT_FREQUENCIES[i] * t).cos());
        close(&format!("momentum at {t}"), momentum, (0..6).map(driven).sum(), 1e-6);
    }
    for i in 1..=5 {
        sticks_and_slips(run, &format!("clutch[{i}].w_rel"), &is(run, &format!("clutch[{i}].mode"), 0.0));
    }
}
