//! LIQSS2: the linearly implicit quantised state method of second order.
//!
//! Each state `x` is integrated on its own, as a [`Parabola`] of time. The others see a *quantised* state `q` instead of it: a straight line
//! that stays within a *quantum* ΔQ of `x`. Only where `x` is about to leave that band `q` gets a new line, and only then the derivatives that
//! depend on it are computed anew. What is at rest, or far from what happens, costs nothing.
//!
//! ```text
//! ẋ = a·q + u,  u affine in time:   q begins at x ∓ ΔQ/2 and touches x at t + h, in value and slope
//!                                   |q - x| = h²/2·|ẍ| / (1 - a·h + a²h²/2) = ΔQ/2   gives h; none (at equilibrium): q stays for ever
//! ```
//!
//! A new line looks ahead by the entry `a` of the Jacobian on the diagonal, which makes the method stable for stiff states without a linear system
//! to solve. Stiffness that only several states have together is not seen: then they alternate in short steps.
//!
//! In: a [`QuantisedSystem`], which computes one derivative at a time, and the [`Dependencies`]. Out: states at any time up to the next change
//! of a line. For linear systems the global error is at most proportional to the quanta, at all times (Kofman 2002).
//!
//! Literature: Migoni, Bortolotto, Kofman, Cellier: *Linearly implicit quantization-based integration methods for stiff ordinary differential
//! equations*, Simulation Modelling Practice and Theory 35 (2013); Di Pietro, Migoni, Kofman: *Improving linearly implicit quantized state system
//! methods*, Simulation 95 (2019), whose lines touch at their ends.

pub mod parabola;
pub mod schedule;

use crate::integrator::{Statistics, Tolerances, TrialFailure};
use crate::tuning::quantised::{DIFFERENCE_ULPS, FIRST_LOOK, LOOK_GROWTH, LOOK_SAFETY, LOOK_SHRINK, PAST_MEETING};
use parabola::Parabola;
use schedule::Schedule;

/// One derivative at a time.
pub trait QuantisedSystem {
    /// The derivative of state `i` at `t`. Of `q` only the states are up to date on which it depends.
    fn rate(&mut self, i: usize, t: f64, q: &[f64]) -> Result<f64, TrialFailure>;
}

/// What a derivative depends on.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Dependency {
    /// States, ascending.
    pub states: Vec<u32>,
    pub has_time: bool,
    /// With coefficients that change at events only: these are found once, and then it is not evaluated any more.
    pub is_affine: bool,
}

/// The derivative of this state cannot be computed at this time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateFails {
    pub state: usize,
    pub t: f64,
}

/// Limits of time spans.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Longest {
    /// Of a line; may be infinite.
    pub line: f64,
    /// Between two looks at a derivative that is not affine.
    pub look: f64,
}

/// A state with its quantised state.
#[derive(Clone, Copy, Debug)]
struct Track {
    /// About this time.
    at: f64,
    x: Parabola,
    q_at: f64,
    q: [f64; 2],
    quantum: f64,
    /// When a new line is due however close `q` is.
    planned: f64,
    /// The entry of the Jacobian on the diagonal.
    slope: f64,
    /// How far ahead a derivative that is not affine is trusted, and since when.
    look: f64,
    looked_at: f64,
}

impl Track {
    fn x(&self, t: f64) -> f64 {
        self.x.value(t - self.at)
    }

    fn q(&self, t: f64) -> f64 {
        self.q[0] + self.q[1] * (t - self.q_at)
    }

    fn advance(&mut self, t: f64) {
        self.x = self.x.shifted(t - self.at);
        self.at = t;
    }
}

/// `constant + by_time·(t - at) + Σ by_state·q`.
#[derive(Clone, Default, Debug)]
struct Row {
    at: f64,
    constant: f64,
    by_time: f64,
    by_state: Vec<f64>,
}

/// The method with its states.
pub struct Liqss2 {
    tolerances: Tolerances,
    longest: Longest,
    /// A typical magnitude of each state.
    nominal: Vec<f64>,
    dependencies: Vec<Dependency>,
    /// By state the derivatives that depend on it.
    influenced: Vec<Vec<u32>>,
    rows: Vec<Row>,
    tracks: Vec<Track>,
    /// New lines; behind them looks at derivatives that are not affine.
    schedule: Schedule,
    time: f64,
    point: Vec<f64>,
    moved: Vec<u32>,
    is_touched: Vec<bool>,
    statistics: Statistics,
}

impl Liqss2 {
    pub fn new(tolerances: Tolerances, longest: Longest, dependencies: Vec<Dependency>) -> Self {
        let n = dependencies.len();
        let mut influenced = vec![Vec::new(); n];
        for (i, dependency) in dependencies.iter().enumerate() {
            dependency.states.iter().for_each(|&j| influenced[j as usize].push(i as u32));
        }
        let track = Track {
            at: 0.0,
            x: Parabola::default(),
            q_at: 0.0,
            q: [0.0; 2],
            quantum: 0.0,
            planned: f64::INFINITY,
            slope: 0.0,
            look: 0.0,
            looked_at: 0.0,
        };
        let nominal = tolerances.absolute.iter().map(|&a| a / tolerances.relative).collect();
        Liqss2 {
            longest,
            nominal,
            influenced,
            rows: vec![Row::default(); n],
            tracks: vec![track; n],
            schedule: Schedule::new(2 * n),
            time: 0.0,
            point: vec![0.0; n],
            moved: Vec::new(),
            is_touched: vec![false; n],
            statistics: Statistics::default(),
            tolerances,
            dependencies,
        }
    }

    /// Begins at `t` with the states `x`.
    pub fn start(&mut self, system: &mut dyn QuantisedSystem, t: f64, x: &[f64]) -> Result<(), RateFails> {
        self.time = t;
        let resets: Vec<(usize, f64)> = x.iter().copied().enumerate().collect();
        let rows: Vec<usize> = (0..self.tracks.len()).collect();
        self.settle(system, t, &resets, &rows)
    }

    /// Goes on from `t`, up to which nothing was due, with other values of some states and after changes of some derivatives.
    pub fn settle(
        &mut self,
        system: &mut dyn QuantisedSystem,
        t: f64,
        resets: &[(usize, f64)],
        rows: &[usize],
    ) -> Result<(), RateFails> {
        self.time = t;
        self.statistics.restarts += 1;
        self.begin_moves();
        for &i in rows {
            self.touch(i);
        }
        for &(i, x) in resets {
            let track = &mut self.tracks[i];
            (track.at, track.x) = (t, Parabola([x, 0.0, 0.0]));
            (track.q_at, track.q) = (t, [x, 0.0]);
            self.touch(i);
            self.touch_influenced(i);
        }
        let first = std::mem::take(&mut self.moved);
        let changed = self.look_again(system, t, &first, rows);
        self.moved = first;
        changed?;
        for k in 0..self.moved.len() {
            self.touch_influenced(self.moved[k] as usize);
        }
        let all = std::mem::take(&mut self.moved);
        let computed = all.iter().try_for_each(|&i| self.recompute(system, i as usize, t));
        all.iter().for_each(|&i| self.plan(i as usize, t));
        self.moved = all;
        computed
    }

    /// New coefficients, derivatives and lines of states whose derivatives have changed.
    fn look_again(
        &mut self,
        system: &mut dyn QuantisedSystem,
        t: f64,
        states: &[u32],
        rows: &[usize],
    ) -> Result<(), RateFails> {
        for &i in rows {
            if self.dependencies[i].is_affine {
                self.find_row(system, i, t)?;
            }
        }
        for i in states.iter().map(|&i| i as usize) {
            self.tracks[i].advance(t);
            self.size_up(i);
            if !self.dependencies[i].is_affine {
                (self.tracks[i].look, self.tracks[i].looked_at) = (FIRST_LOOK * self.longest.look, t);
            }
            self.recompute(system, i, t)?;
            self.find_slope(system, i, t)?;
        }
        states.iter().for_each(|&i| self.draw(i as usize, t));
        Ok(())
    }

    /// When something is due next; infinite if that is never.
    pub fn next_time(&self) -> f64 {
        self.schedule.first_time()
    }

    /// Does what is due next; [`Liqss2::moved`] says whose parabolas are others since then.
    pub fn step(&mut self, system: &mut dyn QuantisedSystem) -> Result<(), RateFails> {
        self.begin_moves();
        let Some((item, t)) = self.schedule.first() else { return Ok(()) };
        self.time = t;
        let n = self.tracks.len();
        if item >= n {
            self.touch(item - n);
            return self.look(system, item - n, t);
        }
        self.statistics.steps += 1;
        self.tracks[item].advance(t);
        self.size_up(item);
        self.draw(item, t);
        self.touch_influenced(item);
        for k in 0..self.moved.len() {
            let i = self.moved[k] as usize;
            self.recompute(system, i, t)?;
            if i == item {
                self.find_slope(system, i, t)?;
            }
            self.plan(i, t);
        }
        if !self.is_touched[item] {
            self.plan(item, t);
        }
        Ok(())
    }

    /// States whose parabolas were changed last.
    pub fn moved(&self) -> &[u32] {
        &self.moved
    }

    /// The time of what was done last.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// A state at `t`, which lies between what was done last and what is due next.
    pub fn value(&self, i: usize, t: f64) -> f64 {
        self.tracks[i].x(t)
    }

    /// The same as a polynomial of the time since `t`.
    pub fn parabola(&self, i: usize, t: f64) -> Parabola {
        let track = &self.tracks[i];
        track.x.shifted(t - track.at)
    }

    /// What a state and its quantised state may differ by at present.
    pub fn quantum(&self, i: usize) -> f64 {
        self.tracks[i].quantum
    }

    /// The quantised state at `t`.
    pub fn quantised(&self, i: usize, t: f64) -> f64 {
        self.tracks[i].q(t)
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn begin_moves(&mut self) {
        for i in self.moved.drain(..) {
            self.is_touched[i as usize] = false;
        }
    }

    fn touch(&mut self, i: usize) {
        if !std::mem::replace(&mut self.is_touched[i], true) {
            self.moved.push(i as u32);
        }
    }

    fn touch_influenced(&mut self, i: usize) {
        for k in 0..self.influenced[i].len() {
            self.touch(self.influenced[i][k] as usize);
        }
    }

    /// The quantum at the present value.
    fn size_up(&mut self, i: usize) {
        let absolute = self.tolerances.absolute[i];
        let is_unbounded = self.tolerances.unbounded.get(i).copied().unwrap_or(false);
        let relative = if is_unbounded { 0.0 } else { self.tolerances.relative * self.tracks[i].x.0[0].abs() };
        self.tracks[i].quantum = absolute.max(relative);
    }

    /// A new line for a state that has been advanced to `t`.
    fn draw(&mut self, i: usize, t: f64) {
        let track = &mut self.tracks[i];
        let [x, rate, half] = track.x.0;
        let (half_quantum, a) = (0.5 * track.quantum, track.slope);
        // ẋ = a·q + u: what the others do, and its slope.
        let (mut u, mut u_slope) = (rate - a * track.q(t), 2.0 * half - a * track.q[1]);
        let mut a = a;
        if a >= 0.0 || !a.is_finite() {
            // Not stiff: as if it did not depend on itself.
            u += a * x;
            u_slope += a * u;
            a = 0.0;
        }
        let bend = a * (a * x + u) + u_slope;
        let c = 0.5 * (bend.abs() - half_quantum * a * a);
        track.q_at = t;
        track.planned = t + self.longest.line;
        if c <= 0.0 || c.is_nan() {
            // It stays within the quantum of an equilibrium that moves.
            track.q = if a == 0.0 { [x, u] } else { [x - bend / (a * a), -u_slope / a] };
            // It gets there by itself. Left where it is it would never, since its rate is that of the equilibrium, and what waits for it to change its
            // sign would wait for ever.
            if a != 0.0 && track.q[0].is_finite() {
                track.x.0[0] = track.q[0];
            }
            return;
        }
        let h = ((half_quantum * a).powi(2) + 4.0 * c * half_quantum).sqrt();
        let h = 0.5 * (h - half_quantum * a) / c;
        let q = x - half_quantum.copysign(bend);
        track.q = [q, (a * q + u + h * u_slope) / (1.0 - a * h)];
        // Where it is not stiff the line goes on behind the point where it touches: twice the time for the same distance.
        if a * h < -PAST_MEETING {
            track.planned = track.planned.min(t + h);
        }
    }

    /// When a state wants its next line.
    fn plan(&mut self, i: usize, t: f64) {
        let track = &self.tracks[i];
        let line = Parabola([track.q(t), track.q[1], 0.0]);
        let distance = track.x.shifted(t - track.at).plus(-1.0, line);
        let due = t + distance.time_to_leave(track.quantum);
        let due = due.min(track.planned);
        // Time goes on.
        self.schedule.set(i, if due > t { due } else { t.next_up() });
    }

    /// The parabola of a state from `t` on.
    fn recompute(&mut self, system: &mut dyn QuantisedSystem, i: usize, t: f64) -> Result<(), RateFails> {
        self.tracks[i].advance(t);
        let (rate, slope) =
            if self.dependencies[i].is_affine { self.affine_rate(i, t) } else { self.rate(system, i, t)? };
        let track = &mut self.tracks[i];
        track.x.0[1] = rate;
        track.x.0[2] = 0.5 * slope;
        if !self.dependencies[i].is_affine {
            track.looked_at = t;
            let look = if self.moves(i) { t + self.tracks[i].look } else { f64::INFINITY };
            self.schedule.set(self.tracks.len() + i, look);
        }
        Ok(())
    }

    /// Does something that a derivative depends on move?
    fn moves(&self, i: usize) -> bool {
        let dependency = &self.dependencies[i];
        dependency.has_time || dependency.states.iter().any(|&j| self.tracks[j as usize].q[1] != 0.0)
    }

    fn affine_rate(&self, i: usize, t: f64) -> (f64, f64) {
        let row = &self.rows[i];
        let (mut rate, mut slope) = (row.constant + row.by_time * (t - row.at), row.by_time);
        for (&j, &by) in self.dependencies[i].states.iter().zip(&row.by_state) {
            let track = &self.tracks[j as usize];
            rate += by * track.q(t);
            slope += by * track.q[1];
        }
        (rate, slope)
    }

    /// A derivative and its slope, which is a difference: over the time in which no quantised state moves by more than its quantum.
    fn rate(&mut self, system: &mut dyn QuantisedSystem, i: usize, t: f64) -> Result<(f64, f64), RateFails> {
        let rate = self.evaluate(system, i, t).map_err(|_| RateFails { state: i, t })?;
        let dependency = &self.dependencies[i];
        let times = dependency.states.iter().map(|&j| {
            let track = &self.tracks[j as usize];
            if track.q[1] == 0.0 { f64::INFINITY } else { track.quantum / track.q[1].abs() }
        });
        let own = if self.moves(i) { FIRST_LOOK * self.tracks[i].look } else { f64::INFINITY };
        let over = times.fold(own, f64::min);
        if !over.is_finite() {
            return Ok((rate, 0.0));
        }
        let least = DIFFERENCE_ULPS * (t.abs().next_up() - t.abs());
        for over in [over.max(least), -over.max(least)] {
            let other = t + over;
            if let Ok(then) = self.evaluate(system, i, other) {
                return Ok((rate, (then - rate) / (other - t)));
            }
        }
        Ok((rate, 0.0))
    }

    fn evaluate(&mut self, system: &mut dyn QuantisedSystem, i: usize, t: f64) -> Result<f64, TrialFailure> {
        for &j in &self.dependencies[i].states {
            self.point[j as usize] = self.tracks[j as usize].q(t);
        }
        self.statistics.evaluations += 1;
        let rate = system.rate(i, t, &self.point)?;
        if rate.is_finite() { Ok(rate) } else { Err(TrialFailure) }
    }

    /// The entry on the diagonal at the present quantised states.
    fn find_slope(&mut self, system: &mut dyn QuantisedSystem, i: usize, t: f64) -> Result<(), RateFails> {
        let dependency = &self.dependencies[i];
        let Ok(own) = dependency.states.binary_search(&(i as u32)) else { return Ok(()) };
        if dependency.is_affine {
            self.tracks[i].slope = self.rows[i].by_state[own];
            return Ok(());
        }
        let before = self.tracks[i].q;
        let (rate, quantum) = (self.tracks[i].x.0[1], self.tracks[i].quantum);
        self.tracks[i].q[0] = before[0] + quantum;
        let moved = self.tracks[i].q[0] - before[0];
        let there = self.evaluate(system, i, t);
        self.tracks[i].q = before;
        // Where it cannot be evaluated the last one will do.
        if let Ok(there) = there {
            self.tracks[i].slope = (there - rate) / moved;
        }
        Ok(())
    }

    /// The coefficients of an affine derivative.
    fn find_row(&mut self, system: &mut dyn QuantisedSystem, i: usize, t: f64) -> Result<(), RateFails> {
        let fails = |_| RateFails { state: i, t };
        let here = self.evaluate(system, i, t).map_err(fails)?;
        let mut row = std::mem::take(&mut self.rows[i]);
        row.by_state.clear();
        row.at = t;
        row.constant = here;
        for k in 0..self.dependencies[i].states.len() {
            let j = self.dependencies[i].states[k] as usize;
            let q = self.point[j];
            self.point[j] = q + q.abs().max(self.nominal[j]);
            let moved = self.point[j] - q;
            self.statistics.evaluations += 1;
            let there = system.rate(i, t, &self.point).map_err(fails)?;
            self.point[j] = q;
            let by = (there - here) / moved;
            row.constant -= by * q;
            row.by_state.push(by);
        }
        row.by_time = 0.0;
        if self.dependencies[i].has_time {
            let moved = t.abs().max(1.0);
            self.statistics.evaluations += 1;
            row.by_time = (system.rate(i, t + moved, &self.point).map_err(fails)? - here) / ((t + moved) - t);
        }
        self.rows[i] = row;
        Ok(())
    }

    /// Looks at a derivative that is not affine though no line is another one, and how well its line had foretold it.
    fn look(&mut self, system: &mut dyn QuantisedSystem, i: usize, t: f64) -> Result<(), RateFails> {
        let track = &self.tracks[i];
        let (foretold, since) = (track.x.slope(t - track.at), t - track.looked_at);
        self.recompute(system, i, t)?;
        let track = &mut self.tracks[i];
        // What the error of the derivative, which grows with the square of time, makes of the state: it is made up for, and what is left is of higher order.
        let missed = (track.x.0[1] - foretold) * since / 3.0;
        if missed.is_finite() {
            track.x.0[0] += missed;
        }
        let factor = LOOK_SAFETY * (track.quantum / missed.abs()).cbrt();
        let factor = if factor.is_nan() { LOOK_GROWTH } else { factor };
        track.look = (since * factor.clamp(LOOK_SHRINK, LOOK_GROWTH)).min(self.longest.look);
        let look = t + track.look;
        self.schedule.set(self.tracks.len() + i, if look > t { look } else { t.next_up() });
        self.plan(i, t);
        Ok(())
    }
}
