//! Steps of the integrator, and what is found in them.
//!
//! In: a run between two steps. Out: a step, searched for relations that would change; what comes first in it, and the rows
//! before that from dense output: they never shorten a step. A point within an accepted step that cannot be evaluated makes
//! the step shorter; only at the shortest step it is an error.

use saltus_program::{Activation, ModelFunctions, SimProgram, read};

use super::assertions::Judgement;
use super::{Advance, Next, Pending, Phase, Simulation};
use crate::constants::{
    ERRORS_OFF_THRESHOLD, FREQUENT_EVENTS, HISTORY_POINTS, LONGEST_TRANSPORT, MOST_PROFILE_POINTS, MOST_STEP_RETRIES,
    PROFILE_SPACING, SAME_INSTANT_ULPS, SHORTER, SHORTEST_DELAY,
};
use crate::costs::Activity;
use crate::crossing::{N_WEIGHTS, Probe, Restart, has_state_events};
use crate::error::{Failure, SimErrorKind};
use crate::event;
use crate::integration::{self, Looks, LoopsAtEnd, Rhs};
use crate::model::Model;
use crate::record::EventKind;

/// Crossing functions on the dense output of the last step.
pub(super) struct StepProbe<'a> {
    pub program: &'a SimProgram,
    pub functions: &'a mut Model,
    pub integrator: &'a dyn saltus_numerics::Integrator,
    pub x: &'a mut [f64],
}

impl Probe for StepProbe<'_> {
    fn crossings(&mut self, t: f64, z: &mut [f64], scale: &mut [f64]) -> Result<(), Failure> {
        self.integrator.interpolate(t, self.x);
        self.functions.set_continuous(t, self.x);
        read_crossings(self.program, self.functions, t, z, scale)
    }
}

pub(super) fn read_crossings(
    program: &SimProgram,
    functions: &mut Model,
    t: f64,
    z: &mut [f64],
    scale: &mut [f64],
) -> Result<(), Failure> {
    event::eval(functions, t, Activation::Derivatives)?;
    event::eval(functions, t, Activation::Crossings)?;
    let memory = functions.memory();
    for (relation, (z, scale)) in program.events.relations.values().zip(z.iter_mut().zip(scale.iter_mut())) {
        (*z, *scale) = (read(memory, relation.crossing), read(memory, relation.scale));
    }
    let (first, second) = functions.least_shares();
    let others = [first, second, functions.distance_to_jump()];
    let n = program.events.relations.len();
    for ((z, scale), share) in z.iter_mut().zip(scale.iter_mut()).skip(n).zip(others) {
        (*z, *scale) = (share, 1.0);
    }
    Ok(())
}

/// Storage for a look at the crossing functions: where they are, where they will be soon, the magnitude of operands, the values of relations.
#[derive(Default)]
pub(super) struct Look {
    pub now: Vec<f64>,
    pub soon: Vec<f64>,
    pub scale: Vec<f64>,
    pub memory: Vec<bool>,
    /// As in [`Restart`].
    pub tight: Vec<f64>,
    /// Derivatives of the states.
    pub rates: Vec<f64>,
}

impl Look {
    pub fn resize(&mut self, n: usize) {
        [&mut self.now, &mut self.soon, &mut self.scale].into_iter().for_each(|all| all.resize(n, 0.0));
    }
}

impl Simulation {
    /// One step or one event; values that were looked at are out of date.
    pub(super) fn advance_or_fail(&mut self, until: f64) -> Result<Advance, Failure> {
        self.view = None;
        if self.is_quantised() {
            return self.advance_quantised(until);
        }
        if let Some(message) = self.terminated() {
            return Ok(Advance::Terminated(message));
        }
        self.apply_changes()?;
        let advanced = match self.proceed(until) {
            Err(failure) => self.cross_guard(failure).or_else(|failure| self.jump(failure)),
            done => done,
        };
        advanced?;
        self.close_event()?;
        if let Some(message) = self.terminated() {
            return Ok(Advance::Terminated(message));
        }
        Ok(self.work.settled.take().map_or(Advance::Step, |event| Advance::Event(Box::new(event))))
    }

    /// Up to the next event, the end of a step or `until`, whatever comes first.
    fn proceed(&mut self, until: f64) -> Result<(), Failure> {
        let pending = match self.driver.phase {
            Phase::Inside(pending) => pending,
            Phase::New | Phase::Over => return Ok(()),
            Phase::Between if self.driver.now >= until => return Ok(()),
            Phase::Between => match self.begin_step(self.first_look(until))? {
                Some(pending) => {
                    self.work.judgements = 0;
                    pending
                }
                None => return Ok(()),
            },
        };
        let (mut pending, next) = self.during(Activity::Search, |run| run.look_for_next(pending))?;
        self.driver.phase = Phase::Inside(pending);
        let at = match next {
            Next::Event(at, _) | Next::Bound { at, .. } => at,
            Next::End => pending.end,
        };
        // Rows before the end of a step may need to know what `delay` remembers of it.
        let waits = next == Next::End && at <= until && self.model.has_histories();
        if !waits
            && let Some(failing) = self.write_points_that_hold(if at > until { until.next_up() } else { at })?
            && self.steps_back(&mut pending, failing)?
        {
            return Ok(());
        }
        if at > until {
            self.write_points_before(until.next_up())?;
            self.driver.now = until;
            return Ok(());
        }
        match next {
            Next::Event(at, kind) => self.happen(pending, at, kind),
            Next::Bound { before, at } => self.judge(pending, before, at),
            Next::End => self.end_step(pending),
        }
    }

    /// A new step, inside of which nobody looks before `first_look`; `None` if other states were chosen instead.
    pub(super) fn begin_step(&mut self, first_look: f64) -> Result<Option<Pending>, Failure> {
        self.check_budget()?;
        let from = self.driver.integrator.time();
        let hold = self.driver.hold.unwrap_or(f64::INFINITY);
        let known = self.look_far_ahead(from).min(self.look_far_ahead_at_bounds(from));
        let limit = self.driver.time_event.min(self.end_time()).min(hold).min(self.reach_of_delays(from)).min(known);
        self.recall_loops(from);
        if let Err(failure) = self.step(limit, first_look) {
            // Perhaps the present choice of states leads no further.
            return if self.review_states(from)? { Ok(None) } else { Err(failure) };
        }
        let end = self.shorten_transport(from)?;
        Ok(Some(Pending { from, end, retries: 0, is_checked: false, next: None }))
    }

    /// From when on the inside of a step is of interest, if the run pauses at `until`.
    fn first_look(&self, until: f64) -> f64 {
        // Assertions without bounds are judged at ends of steps and at rows.
        if has_state_events(&self.program) || self.has_bounds() || self.model.has_histories() {
            return f64::NEG_INFINITY;
        }
        self.next_output_point().unwrap_or(f64::INFINITY).min(until)
    }

    /// What enters a `spatialDistribution` during a step is not known before its end: it must not leave before that. The end of
    /// the step, which is made shorter where a profile has moved too far.
    fn shorten_transport(&mut self, from: f64) -> Result<f64, Failure> {
        let mut end = self.driver.integrator.time();
        if self.program.history.transports.is_empty() {
            return Ok(end);
        }
        for _ in 0..MOST_STEP_RETRIES {
            self.go_to(end)?;
            let moved = self.model.farthest_move();
            if moved.is_nan() || moved <= LONGEST_TRANSPORT {
                break;
            }
            end = self.shorten_step(from, end, self.step_too_small(from))?;
        }
        Ok(end)
    }

    /// What comes next in the step, which becomes shorter where it cannot be evaluated.
    pub(super) fn look_for_next(&mut self, mut pending: Pending) -> Result<(Pending, Next), Failure> {
        loop {
            if let Some(next) = pending.next {
                return Ok((pending, next));
            }
            // An event in this step may have brought a time event forward into it.
            let until = pending.end.min(self.driver.time_event);
            let change = if self.driver.hold.is_none() { self.next_change(pending.from, until) } else { Ok(None) };
            let change = match change {
                Ok(change) => {
                    let to = change.unwrap_or(until);
                    let is_timed = to == self.driver.time_event || self.driver.hold == Some(to);
                    let is_event = change.is_some() || is_timed;
                    match self.look_at_assertions(&mut pending, to, is_event) {
                        Ok(Judgement::Repeated) => continue,
                        Ok(Judgement::Changes(before, at)) => {
                            pending.next = Some(Next::Bound { before, at });
                            continue;
                        }
                        Ok(Judgement::Unchanged) => Ok(change),
                        Err(failure) => Err(failure),
                    }
                }
                failed => failed,
            };
            match change {
                Ok(Some(at)) if until < self.driver.time_event || !self.is_at_time_event(at) => {
                    pending.next = Some(Next::Event(at, EventKind::State))
                }
                Ok(_) if until < pending.end => pending.next = Some(Next::Event(until, EventKind::Time)),
                Ok(_) => pending.next = Some(Next::End),
                Err(failure) if failure.is_recoverable() && pending.retries < MOST_STEP_RETRIES => {
                    pending.retries += 1;
                    pending.end = self.shorten_step(pending.from, pending.end, failure)?;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Is this the instant of the next time event, as far as one can tell?
    fn is_at_time_event(&self, at: f64) -> bool {
        let due = self.driver.time_event;
        due.is_finite() && at >= due - SAME_INSTANT_ULPS * (due.abs().next_up() - due.abs())
    }

    /// An event inside of a step; if it does not disturb the integrator, the rest of the step still counts.
    fn happen(&mut self, pending: Pending, at: f64, kind: EventKind) -> Result<(), Failure> {
        self.write_points_before(at)?;
        self.remember_histories(pending.from, at)?;
        let disturbed = self.event(at, kind)?;
        self.driver.now = at;
        if self.driver.phase != Phase::Over {
            let rest = Phase::Inside(Pending { from: at, is_checked: false, next: None, ..pending });
            self.driver.phase = if disturbed { Phase::Between } else { rest };
        }
        Ok(())
    }

    /// The end of a step, which may be an event.
    fn end_step(&mut self, Pending { from, end, is_checked, .. }: Pending) -> Result<(), Failure> {
        let is_hold = self.driver.hold == Some(end);
        if is_hold {
            self.driver.hold = None;
        }
        // A profile that has moved on does not know what left it before.
        if !self.program.history.transports.is_empty() {
            self.write_points_before(end)?;
        }
        self.remember_histories(from, end)?;
        // From here on a failure does not find the step again.
        self.driver.phase = Phase::Between;
        if end == self.driver.time_event || is_hold {
            self.write_points_before(end)?;
            let kind = if end == self.driver.time_event { EventKind::Time } else { EventKind::Release };
            self.event(end, kind)?;
        } else {
            self.write_points_before(end.next_up())?;
            self.check_step_end(end, is_checked)?;
            self.stay_on_thresholds(from, end)?;
            self.review_states(end)?;
            self.tell_step(end)?;
        }
        self.driver.now = end;
        Ok(())
    }

    /// Objects of foreign code may want to know of the end of a step, and may want an event there.
    fn tell_step(&mut self, end: f64) -> Result<(), Failure> {
        if !self.model.watches_steps() {
            return Ok(());
        }
        self.go_to(end)?;
        if self.model.end_step() {
            self.event(end, EventKind::State)?;
        }
        Ok(())
    }

    fn check_budget(&mut self) -> Result<(), Failure> {
        let (t, steps) = (self.driver.integrator.time(), self.driver.integrator.statistics().steps);
        if steps >= self.options.max_steps {
            return Err(Failure::new(t, SimErrorKind::TooManySteps { most: self.options.max_steps }));
        }
        self.check_movement(t, steps)
    }

    /// How far a step may go without asking for values of the future.
    fn reach_of_delays(&self, from: f64) -> f64 {
        if !self.model.has_histories() {
            return f64::INFINITY;
        }
        from + self.model.shortest_delay().max(SHORTEST_DELAY * self.options.time_span())
    }

    /// Lets `delay` and `spatialDistribution` know what happened between two points of the last step.
    pub(super) fn remember_histories(&mut self, from: f64, to: f64) -> Result<(), Failure> {
        if !self.model.has_histories() || to <= from {
            return Ok(());
        }
        let n_points = self.history_points(to)?;
        for k in 1..=n_points {
            let t = if k == n_points { to } else { from + (to - from) * f64::from(k) / f64::from(n_points) };
            self.go_to(t)?;
            if let Some(failure) = event::bad_delay(&self.model, t) {
                return Err(failure);
            }
            self.model.remember(t, from);
        }
        Ok(())
    }

    /// Points up to `to` that histories keep: profiles are straight lines between theirs.
    fn history_points(&mut self, to: f64) -> Result<u32, Failure> {
        if self.program.history.transports.is_empty() {
            return Ok(HISTORY_POINTS);
        }
        self.go_to(to)?;
        let wanted = (self.model.farthest_move() / PROFILE_SPACING).ceil();
        Ok(wanted.clamp(f64::from(HISTORY_POINTS), f64::from(MOST_PROFILE_POINTS)) as u32)
    }

    /// Lets other candidates of state sets be the states where the present ones have become bad ones; true if so.
    pub(super) fn review_states(&mut self, t: f64) -> Result<bool, Failure> {
        if self.program.state_sets.is_empty() {
            return Ok(false);
        }
        self.driver.integrator.interpolate(t, &mut self.work.x);
        self.model.set_continuous(t, &self.work.x);
        event::eval(&mut self.model, t, Activation::Derivatives)?;
        self.model.accept();
        self.remember_memory();
        let exchanges = self.selection.review(&mut self.model, t)?;
        if exchanges.is_empty() {
            return Ok(false);
        }
        let causes = self.selection.causes(&exchanges);
        self.record(t, EventKind::Selection, causes, 0, true)?;
        self.start_integrator(t, true, false)?;
        Ok(true)
    }

    fn step(&mut self, limit: f64, first_look: f64) -> Result<(), Failure> {
        self.during(Activity::Steps, |run| run.step_to(limit, first_look))
    }

    fn step_to(&mut self, limit: f64, first_look: f64) -> Result<(), Failure> {
        let loops_at_end = &mut self.driver.loops_at_end;
        loops_at_end.time = None;
        let mut rhs = Rhs::new(&mut self.model, &self.structure, &mut self.work.starts);
        rhs.looks = Some(Looks { from: first_look, loops_at_end });
        rhs.meter = self.meter.as_mut().map(|meter| meter.steps.begin());
        let stepped = self.driver.integrator.step(&mut rhs, limit);
        let status = rhs.status;
        stepped.map_err(|e| self.integrator_failure(e, status))?;
        self.driver.extents.note(self.driver.integrator.states());
        let end = self.driver.integrator.time();
        if self.model.get(self.program.memory.time) == end {
            self.driver.loops_at_end.keep(end, &self.model, &self.structure);
        }
        Ok(())
    }

    /// Back at the end of the step, loops have the solutions that they had there.
    pub(super) fn recall_loops(&mut self, t: f64) {
        if self.driver.loops_at_end.time != Some(t) || self.model.get(self.program.memory.time) == t {
            return;
        }
        for (&slot, &value) in self.structure.unknowns.iter().zip(&self.driver.loops_at_end.values) {
            self.model.set(slot, value);
        }
    }

    /// Something between `from` and `end` cannot be evaluated: a shorter step from `from`; its end.
    pub(super) fn shorten_step(&mut self, from: f64, end: f64, failure: Failure) -> Result<f64, Failure> {
        let h = SHORTER * (end - from);
        if from + h <= from {
            return Err(failure);
        }
        self.driver.integrator.interpolate(from, &mut self.work.x);
        let mut rhs = Rhs::new(&mut self.model, &self.structure, &mut self.work.starts);
        let restarted = self.driver.integrator.restart(&mut rhs, from, &self.work.x);
        restarted.map_err(|_| failure)?;
        self.driver.integrator.propose_step_size(h);
        self.driver.search.forget();
        self.driver.bounds.forget();
        self.step(from + h, f64::NEG_INFINITY)?;
        Ok(self.driver.integrator.time())
    }

    fn next_change(&mut self, from: f64, to: f64) -> Result<Option<f64>, Failure> {
        self.size_up_departures(to);
        self.begin_proof();
        let mut probe = StepProbe {
            program: &self.program,
            functions: &mut self.model,
            integrator: &*self.driver.integrator,
            x: &mut self.work.x,
        };
        let longest_look = match self.driver.ahead.leaves_some() {
            true => integration::look_interval(&self.options),
            false => integration::longest_look(&self.options, &self.structure),
        };
        let found = self.driver.search.first_change(&mut probe, &self.program, from, to, longest_look);
        self.tell_tunnels();
        let found = found.map_err(|mut failure| {
            if let SimErrorKind::Zeno { accumulation, .. } = &mut failure.kind {
                *accumulation = self.driver.zeno.accumulation();
            }
            failure
        })?;
        Ok(self.end_proof(from, to, found)?.map(|bracket| bracket.after))
    }

    /// Brings time, states and all continuous variables to `t` in the last step.
    pub(super) fn go_to(&mut self, t: f64) -> Result<(), Failure> {
        if self.quantised.is_some() {
            return self.go_to_quantised(t);
        }
        self.recall_loops(t);
        self.driver.integrator.interpolate(t, &mut self.work.x);
        self.model.set_continuous(t, &self.work.x);
        event::eval_continuous(&mut self.model, t)?;
        self.model.accept();
        Ok(())
    }

    /// Starts the integrator from the values in memory.
    pub(super) fn start_integrator(&mut self, t: f64, is_event: bool, jumped: bool) -> Result<(), Failure> {
        self.model.get_states(&mut self.work.x);
        self.driver.extents.note(&self.work.x);
        if self.is_quantised() {
            return self.begin_quantised(t);
        }
        let steps = self.driver.integrator.statistics().steps;
        let is_frequent = is_event && steps - self.driver.steps_at_event < FREQUENT_EVENTS;
        self.driver.steps_at_event = steps;
        self.driver.loops_at_end = LoopsAtEnd::default();
        let mut rhs = Rhs::new(&mut self.model, &self.structure, &mut self.work.starts);
        let started = if is_frequent {
            self.driver.integrator.reinit(&mut rhs, t, &self.work.x)
        } else {
            self.driver.integrator.restart(&mut rhs, t, &self.work.x)
        };
        let status = rhs.status;
        started.map_err(|e| self.integrator_failure(e, status))?;
        self.arm(t, jumped)
    }

    /// Begins to watch the relations: their values now, and a little later along the tangent.
    pub(super) fn arm(&mut self, t: f64, jumped: bool) -> Result<(), Failure> {
        self.arm_bounds(t)?;
        if !has_state_events(&self.program) {
            return Ok(());
        }
        let n = self.program.events.relations.len() + N_WEIGHTS;
        let mut look = std::mem::take(&mut self.work.look);
        look.resize(n);
        self.driver.integrator.interpolate(t, &mut self.work.x);
        self.model.set_continuous(t, &self.work.x);
        read_crossings(&self.program, &mut self.model, t, &mut look.now, &mut look.scale)?;
        look.memory.clear();
        let values = self.model.memory();
        look.memory.extend(self.program.events.relations.values().map(|r| read(values, r.memory) != 0.0));
        look.memory.extend([true; N_WEIGHTS]);
        self.size_up(t, jumped, &mut look)?;
        let Look { now, soon, scale, memory, tight, .. } = &mut look;
        // Only where a function is near its threshold, which way it goes is of interest. Where the model cannot be evaluated ahead, nothing
        // is known about that.
        let is_near = (0..n).any(|i| self.driver.search.is_near(i, now[i], scale[i]) || self.model.is_sliding());
        if is_near && self.look_ahead(t, soon).is_ok() {
            self.model.set_continuous(t, &self.work.x);
        } else {
            soon.copy_from_slice(now);
        }
        // While both sides of a threshold are combined, nothing is frozen.
        let masked = self.unwatched();
        let slack = if self.model.is_sliding() { ERRORS_OFF_THRESHOLD * self.options.tolerance } else { 0.0 };
        let state = Restart { t, memory, now, scale, soon, jumped, tight, slack };
        self.driver.search.arm(&state, &masked);
        self.work.look = look;
        Ok(())
    }
}
