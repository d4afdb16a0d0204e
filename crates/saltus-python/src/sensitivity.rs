//! How a run depends on parameters: first-order sensitivities along the trajectory.
//!
//! In: a model, parameters, times, variables. Out: the variables at the times, their derivatives by the parameters, and the time up to which these
//! are valid.
//!
//! Between events s = ∂x/∂p obeys s' = A s + ∂f/∂p. A is exact (directional derivatives of the program), ∂f/∂p is a difference
//! of the right-hand side at the same point. The equation is linear; it is integrated by Gauss's method with two stages, of order 4 and A-stable, on
//! the dense output of the run. At an event of a relation g(x, p, t) whose time moves with the parameters, and at which no state jumps,
//!
//! ```text
//! s⁺ = s⁻ + (f⁻ - f⁺) dt/dp,   dt/dp = -(∂g/∂x s⁻ + ∂g/∂p) / ġ
//! ```
//!
//! Where states jump (`reinit`), other variables become states, or the run slides along a threshold, that is not followed: what comes after is
//! left to differences.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use saltus::{Model, Permissions, Simulation, Start};
use saltus_numerics::lu::DenseLu;
use saltus_program::{Activation, ModelFunctions, SimProgram, SlotId, SlotType, Variability, Variable};
use saltus_results::Kept;
use saltus_sim::{EventCause, EventKind, EventRecord, Recorder, SimError};

use crate::array::Array;
use crate::errors;
use crate::interrupt::interruptible;
use crate::model::{RawModel, advance_to};
use crate::settings::Settings;
use crate::values;

/// Step of differences relative to the parameter: the third root of the rounding error.
const STEP: f64 = 6e-6;
/// How far before and after an event its two sides are looked at, as a part of the time span.
const BESIDE: f64 = 1e-9;
/// Parts of the time span between two looks at the model, at least.
const PARTS: f64 = 200.0;
/// A state that moves over an event by more than this part of its size, beyond what it moves by itself, jumps.
const JUMP: f64 = 1e-7;

/// Matrices are dense.
const MOST_STATES: usize = 400;

type Matrix = Vec<Vec<f64>>;

struct Following<'a> {
    stop: &'a AtomicBool,
    program: &'a Arc<SimProgram>,
    parameters: Vec<(SlotId, f64)>,
    wanted: Vec<SlotId>,
}

/// The linear model at a point: derivatives of the state derivatives, crossing functions and wanted variables.
struct Point {
    x: Vec<f64>,
    f: Vec<f64>,
    a: Matrix,
    /// By parameter.
    b: Matrix,
    /// Of the wanted variables: by state, by parameter.
    c: Matrix,
    d: Matrix,
}

/// What was found.
pub struct Followed {
    /// Row by row: times, then variables.
    pub values: Vec<f64>,
    /// Times, variables, parameters.
    pub derivatives: Vec<f64>,
    pub valid_until: f64,
    pub why: Option<String>,
}

const SECTIONS: [Activation; 3] = [Activation::Derivatives, Activation::Crossings, Activation::Outputs];

impl Following<'_> {
    fn evaluate(functions: &mut dyn ModelFunctions) -> bool {
        SECTIONS.into_iter().all(|section| functions.eval(section).is_ok())
    }

    /// Derivatives of slots by the states and by the parameters, at the present point.
    fn derivatives(&self, functions: &mut dyn ModelFunctions, of: &[SlotId]) -> Option<(Matrix, Matrix)> {
        let base = functions.snapshot();
        if !Self::evaluate(functions) || !functions.linearise(of).is_ok() {
            return None;
        }
        let mut by_state = vec![vec![0.0; self.program.states.len()]; of.len()];
        let mut column = vec![0.0; of.len()];
        for (j, state) in self.program.states.iter().enumerate() {
            if !functions.directional(&[(state.value, 1.0)], &mut column).is_ok() {
                return None;
            }
            by_state.iter_mut().zip(&column).for_each(|(row, value)| row[j] = *value);
        }
        let mut by_parameter = vec![vec![0.0; self.parameters.len()]; of.len()];
        for (j, &(slot, value)) in self.parameters.iter().enumerate() {
            let step = STEP * value.abs().max(1e-6);
            let mut at = |p: f64| {
                functions.restore(&base);
                functions.set(slot, p);
                let is_fine = functions.eval(Activation::Parameters).is_ok() && Self::evaluate(functions);
                is_fine.then(|| of.iter().map(|&s| functions.get(s)).collect::<Vec<f64>>())
            };
            let (plus, minus) = (at(value + step)?, at(value - step)?);
            let width = (value + step) - (value - step);
            for (row, (p, m)) in by_parameter.iter_mut().zip(plus.iter().zip(&minus)) {
                row[j] = (p - m) / width;
            }
        }
        functions.restore(&base);
        Self::evaluate(functions);
        Some((by_state, by_parameter))
    }

    fn point(&self, run: &mut Simulation) -> Result<Option<Point>, SimError> {
        let states: Vec<SlotId> = self.program.states.iter().map(|s| s.value).collect();
        let slopes: Vec<SlotId> = self.program.states.iter().map(|s| s.derivative).collect();
        let of: Vec<SlotId> = slopes.iter().chain(&self.wanted).copied().collect();
        run.examine(|functions| {
            let (mut a, mut b) = self.derivatives(functions, &of)?;
            let all = |slots: &[SlotId], functions: &dyn ModelFunctions| -> Vec<f64> {
                slots.iter().map(|&s| functions.get(s)).collect()
            };
            let (c, d) = (a.split_off(slopes.len()), b.split_off(slopes.len()));
            Some(Point { x: all(&states, functions), f: all(&slopes, functions), a, b, c, d })
        })
    }

    /// How the time of an event moves with the parameters: by the one of these relations that reaches zero after `lead` seconds.
    fn moves(
        &self,
        run: &mut Simulation,
        s: &Matrix,
        changed: &[usize],
        lead: f64,
    ) -> Result<Option<Vec<f64>>, SimError> {
        let all: Vec<SlotId> = self.program.events.relations.values().map(|r| r.crossing).collect();
        let crossings: Vec<SlotId> = changed.iter().filter_map(|&i| all.get(i).copied()).collect();
        let time = self.program.memory.time;
        run.examine(|functions| {
            let (by_state, by_parameter) = self.derivatives(functions, &crossings)?;
            let mut seeds: Vec<(SlotId, f64)> =
                self.program.states.iter().map(|state| (state.value, functions.get(state.derivative))).collect();
            seeds.push((time, 1.0));
            let mut speed = vec![0.0; crossings.len()];
            let is_known = functions.linearise(&crossings).is_ok() && functions.directional(&seeds, &mut speed).is_ok();
            // The one that reaches zero when the event is, not one that follows from it.
            let late = |i: usize| (functions.get(crossings[i]) / -speed[i] - lead).abs();
            let first = (0..crossings.len()).filter(|&i| speed[i] != 0.0).min_by(|&i, &j| late(i).total_cmp(&late(j)));
            let first = first.filter(|&i| is_known && late(i) <= 10.0 * lead)?;
            let along = |p: usize| {
                let moved: f64 = by_state[first].iter().zip(s).map(|(g, row)| g * row[p]).sum();
                -(moved + by_parameter[first][p]) / speed[first]
            };
            Some((0..self.parameters.len()).map(along).collect())
        })
    }
}

/// One step of Gauss's method with the linear models at its two stages.
fn step(s: &mut Matrix, h: f64, first: &Point, second: &Point) -> Option<()> {
    let n = s.len();
    let root = 3.0_f64.sqrt() / 6.0;
    let weights = [[0.25, 0.25 - root], [0.25 + root, 0.25]];
    let stages = [first, second];
    let mut matrix = vec![0.0; 4 * n * n];
    for (i, stage) in stages.iter().enumerate() {
        for (j, weight) in weights[i].iter().enumerate() {
            for r in 0..n {
                for c in 0..n {
                    let unit = if i == j && r == c { 1.0 } else { 0.0 };
                    matrix[(i * n + r) * 2 * n + j * n + c] = unit - h * weight * stage.a[r][c];
                }
            }
        }
    }
    let mut factors = DenseLu::new(2 * n);
    factors.factor(&matrix).ok()?;
    let n_parameters = s.first().map_or(0, Vec::len);
    let before = s.clone();
    for p in 0..n_parameters {
        let slope = |stage: &Point, r: usize| -> f64 {
            let moved: f64 = stage.a[r].iter().zip(&before).map(|(a, row)| a * row[p]).sum();
            moved + stage.b[r][p]
        };
        let mut right: Vec<f64> = stages.iter().flat_map(|stage| (0..n).map(|r| slope(stage, r))).collect();
        factors.solve(&mut right);
        for r in 0..n {
            s[r][p] += 0.5 * h * (right[r] + right[n + r]);
        }
    }
    s.iter().flatten().all(|v| v.is_finite()).then_some(())
}

struct Asked<'a> {
    model: &'a Arc<Model>,
    permissions: Permissions,
    settings: &'a Settings,
    start: &'a Start,
    parameters: &'a [(SlotId, f64)],
    stop: &'a Arc<AtomicBool>,
}

impl Asked<'_> {
    /// A run with other values of the parameters.
    fn run(&self, values: &[f64], until: f64) -> Result<Simulation, SimError> {
        let mut experiment = self.settings.experiment.clone();
        experiment.stop_time = Some(until);
        experiment.kept = Kept::only(&[], []);
        let mut run = Simulation::with(self.model.clone(), &experiment, self.settings.engine, self.permissions);
        run.stop_when(self.stop.clone());
        // They were set before, in the first run.
        let _ = self.start.apply(&mut run, self.model);
        for (&(slot, _), &value) in self.parameters.iter().zip(values) {
            let inner: &mut saltus_sim::Simulation = &mut run;
            let _ = inner.set(slot, value);
        }
        Ok(run)
    }

    fn values(&self) -> Vec<f64> {
        self.parameters.iter().map(|(_, value)| *value).collect()
    }

    /// How the initial states, and behind them the thresholds of timers, depend on the parameters, by initialising again.
    fn start(&self, program: &SimProgram, begins: f64) -> Result<Matrix, SimError> {
        let timers = program.events.time_events.iter().map(|timer| timer.threshold);
        let slots: Vec<SlotId> = program.states.iter().map(|state| state.value).chain(timers).collect();
        let mut s = vec![vec![0.0; self.parameters.len()]; slots.len()];
        for (p, &(_, value)) in self.parameters.iter().enumerate() {
            let step = STEP * value.abs().max(1e-6);
            let at = |moved: f64| {
                let mut values = self.values();
                values[p] = moved;
                let mut run = self.run(&values, begins)?;
                run.initialise()?;
                run.examine(|f| slots.iter().map(|&slot| f.get(slot)).collect::<Vec<f64>>())
            };
            let (plus, minus) = (at(value + step)?, at(value - step)?);
            let width = (value + step) - (value - step);
            s.iter_mut().zip(plus.iter().zip(&minus)).for_each(|(row, (a, b))| row[p] = (a - b) / width);
        }
        Ok(s)
    }

    /// Events and what caused them, by a run of its own.
    fn events(&self, program: &SimProgram, until: f64) -> Result<Vec<Stop>, SimError> {
        let mut run = self.run(&self.values(), until)?;
        let recorder = Recorder::new(usize::MAX);
        run.set_sink(Box::new(recorder.clone()));
        advance_to(&mut run, until, self.stop)?;
        let of = |event: &EventRecord| {
            let mut stop = Stop { time: event.time, ..Stop::default() };
            for cause in &event.causes {
                match cause {
                    EventCause::Relation { text, .. } => {
                        let all = program.events.relations.values().enumerate();
                        stop.relations.extend(all.filter(|(_, r)| r.text == **text).map(|(i, _)| i));
                    }
                    EventCause::Timer { text, .. } => {
                        let all = program.events.time_events.iter().enumerate();
                        stop.timers.extend(all.filter(|(_, r)| r.text == **text).map(|(i, _)| i));
                    }
                    EventCause::Time => {}
                    EventCause::Sample { .. } => stop.is_sample = true,
                    _ => stop.is_other = true,
                }
            }
            stop
        };
        let is_event = |kind: EventKind| !matches!(kind, EventKind::Start | EventKind::Terminal);
        Ok(recorder.take().events.iter().filter(|e| is_event(e.kind)).map(of).collect())
    }

    fn follow(&self, wanted: &[SlotId], times: &[f64]) -> Result<Followed, SimError> {
        let last = times.last().copied().unwrap_or(0.0);
        let mut run = self.run(&self.values(), last)?;
        let begins = run.options().start_time;
        let span = (last - begins).max(f64::MIN_POSITIVE);
        run.initialise()?;
        let program = &run.program().clone();
        let following =
            Following { stop: self.stop, program, parameters: self.parameters.to_vec(), wanted: wanted.to_vec() };
        let mut s = self.start(program, begins)?;
        let timers = s.split_off(program.states.len());
        // Without parameters the values alone are wanted.
        let mut stops = if self.parameters.is_empty() { Vec::new() } else { self.events(program, last)? };
        stops.retain(|stop| stop.time > begins);
        let mut found = Followed { values: Vec::new(), derivatives: Vec::new(), valid_until: f64::INFINITY, why: None };
        if let Some(why) = obstacle(program).filter(|_| !self.parameters.is_empty()) {
            (found.valid_until, found.why) = (f64::NEG_INFINITY, Some(why.to_owned()));
        }
        let mut tracker = Tracker { timers, now: begins, beside: BESIDE * span, longest: span / PARTS, stops, next: 0 };
        for &time in times {
            if found.why.is_none()
                && !self.parameters.is_empty()
                && let Err(why) = tracker.to(&following, &mut run, &mut s, time)?
            {
                found.valid_until = tracker.now;
                found.why = Some(why);
            }
            advance_to(&mut run, time, self.stop)?;
            let derivatives = match &found.why {
                None if !self.parameters.is_empty() => following.point(&mut run)?.map(|point| {
                    let of = |i: usize, p: usize| -> f64 {
                        let moved: f64 = point.c[i].iter().zip(&s).map(|(c, row)| c * row[p]).sum();
                        moved + point.d[i][p]
                    };
                    let all = (0..wanted.len()).flat_map(|i| (0..self.parameters.len()).map(move |p| (i, p)));
                    all.map(|(i, p)| of(i, p)).collect::<Vec<f64>>()
                }),
                _ => None,
            };
            found
                .derivatives
                .extend(derivatives.unwrap_or_else(|| vec![f64::NAN; wanted.len() * self.parameters.len()]));
            let y = run.examine(|f| wanted.iter().map(|&slot| f.get(slot)).collect::<Vec<f64>>())?;
            found.values.extend(y);
        }
        Ok(found)
    }
}

/// Takes sensitivities along a run.
struct Tracker {
    now: f64,
    beside: f64,
    longest: f64,
    stops: Vec<Stop>,
    /// The next event.
    next: usize,
    /// How the thresholds of timers depend on the parameters.
    timers: Matrix,
}

/// An event and what caused it.
#[derive(Clone, Default)]
struct Stop {
    time: f64,
    /// Positions in the program.
    relations: Vec<usize>,
    timers: Vec<usize>,
    is_sample: bool,
    is_other: bool,
}

/// What makes sensitivities more than those of the states.
fn obstacle(program: &SimProgram) -> Option<&'static str> {
    let is_discrete = |v: &Variable| v.variability == Variability::Discrete && v.ty == SlotType::Real;
    let cases = [
        (program.variables.iter().any(is_discrete), "values that are held between events may depend on the parameters"),
        (!program.clocks.base_partitions.is_empty(), "clocked variables may depend on the parameters"),
        (!program.history.delays.is_empty() || !program.history.transports.is_empty(), "delays remember the past"),
        (!program.state_sets.is_empty(), "its states are chosen while it runs"),
    ];
    cases.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why)
}

impl Tracker {
    /// Goes on up to a time; the reason if the sensitivities cannot come along.
    fn to(
        &mut self,
        following: &Following,
        run: &mut Simulation,
        s: &mut Matrix,
        time: f64,
    ) -> Result<Result<(), String>, SimError> {
        while self.now < time {
            let event = self.stops.get(self.next).map(|stop| stop.time).filter(|t| *t <= time + self.beside);
            let until = event.map_or(time, |t| (t - self.beside).max(self.now));
            if let Err(why) = self.smooth(following, run, s, until)? {
                return Ok(Err(why));
            }
            if let Some(event) = event
                && let Err(why) = self.across(following, run, s, event)?
            {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    fn smooth(
        &mut self,
        following: &Following,
        run: &mut Simulation,
        s: &mut Matrix,
        until: f64,
    ) -> Result<Result<(), String>, SimError> {
        let n = ((until - self.now) / self.longest).ceil().max(1.0);
        let h = (until - self.now) / n;
        if h <= 0.0 || s.is_empty() {
            self.now = until;
            return Ok(Ok(()));
        }
        let root = 3.0_f64.sqrt() / 6.0;
        let begin = self.now;
        for k in 0..n as usize {
            let from = begin + k as f64 * h;
            let mut at = |part: f64| {
                advance_to(run, from + part * h, following.stop)?;
                following.point(run)
            };
            let (first, second) = (at(0.5 - root)?, at(0.5 + root)?);
            let (Some(first), Some(second)) = (first, second) else {
                return Ok(Err("the model has no directional derivatives there".to_owned()));
            };
            if run.is_sliding() {
                return Ok(Err("the run slides along a threshold".to_owned()));
            }
            if step(s, h, &first, &second).is_none() {
                return Ok(Err("the sensitivities grow beyond all bounds".to_owned()));
            }
            self.now = from + h;
        }
        self.now = until;
        advance_to(run, until, following.stop)?;
        Ok(Ok(()))
    }

    /// Over all events that are at one time.
    fn across(
        &mut self,
        following: &Following,
        run: &mut Simulation,
        s: &mut Matrix,
        event: f64,
    ) -> Result<Result<(), String>, SimError> {
        let refused = |why: &str| Ok(Err(why.to_owned()));
        let after = event + self.beside;
        let mut cause = Stop::default();
        while let Some(stop) = self.stops.get(self.next).filter(|stop| stop.time <= after) {
            cause.relations.extend(&stop.relations);
            cause.timers.extend(&stop.timers);
            cause.is_sample |= stop.is_sample;
            cause.is_other |= stop.is_other;
            self.next += 1;
        }
        let Some(before) = following.point(run)? else {
            return refused("the model has no directional derivatives there");
        };
        let state = run.state();
        advance_to(run, after, following.stop)?;
        if !Arc::ptr_eq(run.program(), following.program) {
            return refused("the structure of the model changes");
        }
        let Some(behind) = following.point(run)? else {
            return refused("the model has no directional derivatives there");
        };
        let width = after - self.now;
        for (i, state) in following.program.states.iter().enumerate() {
            let by_itself = width * (before.f[i].abs() + behind.f[i].abs());
            let size = state.nominal.abs().max(before.x[i].abs());
            if (behind.x[i] - before.x[i]).abs() > 2.0 * by_itself + JUMP * size {
                return refused("a state jumps");
            }
        }
        let jumps: Vec<f64> = before.f.iter().zip(&behind.f).map(|(a, b)| a - b).collect();
        let is_smooth = jumps.iter().zip(&before.f).all(|(j, f)| j.abs() <= 1e-9 * f.abs().max(1.0));
        if !is_smooth {
            let moves = if !cause.relations.is_empty() {
                let Ok(state) = state else { return refused("the state of the run cannot be saved") };
                if run.restore(&state).is_err() {
                    return refused("the state of the run cannot be restored");
                }
                let moves = following.moves(run, s, &cause.relations, event - self.now)?;
                advance_to(run, after, following.stop)?;
                moves
            } else if let ([first, ..], false) = (cause.timers.as_slice(), cause.is_other) {
                self.timers.get(*first).cloned()
            } else if cause.is_sample && !cause.is_other {
                Some(vec![0.0; following.parameters.len()])
            } else {
                None
            };
            let Some(moves) = moves else { return refused("it is not known how the time of an event moves") };
            for (row, jump) in s.iter_mut().zip(&jumps) {
                row.iter_mut().zip(&moves).for_each(|(value, moved)| *value += jump * moved);
            }
        }
        self.now = after;
        Ok(Ok(()))
    }
}

#[pymethods]
impl RawModel {
    /// Variables at times and their derivatives by parameters. Gives values (times × variables), derivatives (times × variables ×
    /// parameters; not-a-number where they are not valid), the time up to which they are, and why not further.
    fn sensitivities(
        &self,
        py: Python,
        of: Vec<String>,
        by: Vec<(String, f64)>,
        times: Vec<f64>,
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
    ) -> PyResult<(Array, Array, f64, Option<String>)> {
        let (model, start) = self.fitting(py, values::read(given)?)?;
        let settings = Settings::read(py, settings)?;
        self.check(py, &model, &settings)?;
        let slot = |name: &String| Ok(model.variable(name).map_err(|why| errors::unknown(py, &why))?.slot);
        let wanted = of.iter().map(slot).collect::<PyResult<Vec<_>>>()?;
        let parameter = |(name, value): &(String, f64)| {
            let slot = model.changeable_to(name, *value).map_err(|why| errors::unchangeable(py, name, &why))?;
            Ok((slot, *value))
        };
        let parameters = by.iter().map(parameter).collect::<PyResult<Vec<_>>>()?;
        if times.windows(2).any(|two| two[0] > two[1]) || times.iter().any(|t| !t.is_finite()) {
            return Err(errors::wrong_value("times: expected finite times that do not decrease".to_owned()));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Asked {
            model: &model,
            permissions: self.permissions,
            settings: &settings,
            start: &start,
            parameters: &parameters,
            stop: &stop,
        };
        let is_followed = parameters.is_empty() || model.program().states.len() <= MOST_STATES;
        let found = interruptible(py, &stop, || {
            if !is_followed {
                return Ok(None);
            }
            asked.follow(&wanted, &times).map(Some)
        })?;
        let found = found.map_err(|error| errors::simulation_error(py, &error, &model, None))?;
        Ok(match found {
            Some(found) => (Array::own(found.values), Array::own(found.derivatives), found.valid_until, found.why),
            None => {
                let why = Some(format!("it has more than {MOST_STATES} states"));
                (Array::own(Vec::new()), Array::own(Vec::new()), f64::NEG_INFINITY, why)
            }
        })
    }
}
