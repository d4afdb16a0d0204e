//! The driver: steps, searches each step for events, settles them, writes rows.
//!
//! In: program, evaluator, options. Out: the trajectory with rows at equidistant points (from dense output: they never
//! shorten a step) and two rows for each event, before and after. An event that changes no state and nothing that the
//! derivatives depend on leaves the integrator alone.

use saltus_numerics::{DormandPrince, Integrator, IntegratorError, OdeSystem, Tolerances, TrialFailure};
use saltus_program::{Activation, ModelFunctions, SimProgram, Variable};

use crate::Options;
use crate::crossing::{CrossingSearch, Probe};
use crate::error::{Failure, SimError, SimErrorKind};
use crate::event::{self, Settled};
use crate::trajectory::{Column, End, EventCause, EventRecord, Segment, Trajectory};

/// This many events within [`NO_PROGRESS`] of the time span are chattering.
const MOST_EVENTS_WITHOUT_PROGRESS: u64 = 1_000;
const NO_PROGRESS: f64 = 1e-9;
/// Crossing functions may depend on time alone, which no error estimate sees: with relations, steps are at most this
/// fraction of the time span.
const LONGEST_STEP_WITH_RELATIONS: f64 = 0.02;

/// Simulates from start to stop time.
pub fn simulate(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    options: &Options,
) -> Result<Trajectory, SimError> {
    let mut run = Run::new(program, functions, options);
    let outcome = run.run();
    run.finish_statistics();
    match outcome {
        Ok(()) => Ok(run.trajectory),
        Err(Failure { time, kind, span }) => Err(SimError { time, kind, span, partial: Box::new(run.trajectory) }),
    }
}

struct Run<'a> {
    program: &'a SimProgram,
    functions: &'a mut dyn ModelFunctions,
    options: &'a Options,
    integrator: Box<dyn Integrator>,
    search: CrossingSearch,
    columns: Vec<&'a Variable>,
    trajectory: Trajectory,
    /// Number of the next equidistant output point.
    next_output: u64,
    x: Vec<f64>,
    /// When events began to follow each other closely, and how many since.
    crowd: (f64, u64),
}

/// Derivatives at trial points.
struct Rhs<'a>(&'a mut dyn ModelFunctions);

impl OdeSystem for Rhs<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), TrialFailure> {
        self.0.set_continuous(t, x);
        if !self.0.eval(Activation::Derivatives).is_ok() {
            return Err(TrialFailure);
        }
        self.0.get_derivatives(dx);
        Ok(())
    }
}

/// Crossing functions on the dense output of the last step.
struct StepProbe<'a> {
    program: &'a SimProgram,
    functions: &'a mut dyn ModelFunctions,
    integrator: &'a dyn Integrator,
    x: &'a mut [f64],
}

impl Probe for StepProbe<'_> {
    fn crossings(&mut self, t: f64, z: &mut [f64], scale: &mut [f64]) -> Result<(), Failure> {
        self.integrator.interpolate(t, self.x);
        self.functions.set_continuous(t, self.x);
        read_crossings(self.program, self.functions, t, z, scale)
    }
}

fn read_crossings(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    t: f64,
    z: &mut [f64],
    scale: &mut [f64],
) -> Result<(), Failure> {
    event::eval(functions, t, Activation::Derivatives)?;
    event::eval(functions, t, Activation::Crossings)?;
    for (i, relation) in program.relations.values().enumerate() {
        z[i] = functions.get(relation.crossing);
        scale[i] = functions.get(relation.scale);
    }
    Ok(())
}

impl<'a> Run<'a> {
    fn new(program: &'a SimProgram, functions: &'a mut dyn ModelFunctions, options: &'a Options) -> Self {
        let span = options.stop_time - options.start_time;
        let longest = if program.relations.is_empty() { f64::INFINITY } else { span * LONGEST_STEP_WITH_RELATIONS };
        let absolute = program.states.iter().map(|s| options.tolerance * s.nominal).collect();
        let tolerances = Tolerances { relative: options.tolerance, absolute };
        let columns: Vec<&Variable> = program.variables.iter().filter(|v| !v.is_parameter && !v.is_hidden).collect();
        let head = columns.iter().map(|v| Column { name: v.name.clone(), ty: v.ty }).collect();
        let segment = Segment { variables: head, ..Default::default() };
        Run {
            program,
            functions,
            options,
            integrator: Box::new(DormandPrince::new(tolerances, options.max_step.unwrap_or(longest))),
            search: CrossingSearch::new(program),
            columns,
            trajectory: Trajectory { segments: vec![segment], ..Default::default() },
            next_output: 1,
            x: vec![0.0; program.states.len()],
            crowd: (f64::NEG_INFINITY, 0),
        }
    }

    fn run(&mut self) -> Result<(), Failure> {
        self.check_options()?;
        let start = self.options.start_time;
        let settled = event::initialise(self.program, self.functions, self.options)?;
        let parameters = self.program.variables.iter().filter(|v| v.is_parameter && !v.is_hidden);
        self.trajectory.parameters = parameters.map(|v| (v.name.clone(), self.functions.get(v.slot))).collect();
        self.write_row(start)?;
        let causes = vec![EventCause::Start];
        self.trajectory.events.push(EventRecord { time: start, causes, rounds: settled.rounds, is_restart: true });
        if let Some(message) = settled.termination {
            self.trajectory.end = End::Terminated { message };
            return Ok(());
        }
        self.restart(start)?;
        while self.integrator.time() < self.options.stop_time {
            if self.integrate_one_step()? {
                return Ok(());
            }
        }
        self.functions.set(self.program.terminal, 1.0);
        Ok(())
    }

    fn check_options(&self) -> Result<(), Failure> {
        let o = self.options;
        let bad = |what| Err(Failure::new(o.start_time, SimErrorKind::BadOptions { what }));
        if !(o.start_time.is_finite() && o.stop_time.is_finite() && o.start_time <= o.stop_time) {
            return bad("the stop time must not be before the start time");
        }
        if !(o.interval > 0.0 || o.start_time == o.stop_time) {
            return bad("the output interval must be positive");
        }
        if o.start_time < o.stop_time && o.n_intervals() > 100_000_000 {
            return bad("the output interval is too small for the time span");
        }
        if !(o.tolerance > 0.0 && o.tolerance < 1.0) {
            return bad("the tolerance must be between 0 and 1");
        }
        Ok(())
    }

    /// One step with all its events; true if the simulation ends here.
    fn integrate_one_step(&mut self) -> Result<bool, Failure> {
        let time_event = event::next_time_event(self.functions, self.integrator.time());
        let limit = time_event.min(self.options.stop_time);
        if self.integrator.statistics().steps >= self.options.max_steps {
            let kind = SimErrorKind::TooManySteps { most: self.options.max_steps };
            return Err(Failure::new(self.integrator.time(), kind));
        }
        let mut from = self.integrator.time();
        let stepped = self.integrator.step(&mut Rhs(self.functions), limit);
        stepped.map_err(|e| self.integrator_failure(e))?;
        let end = self.integrator.time();
        while let Some(at) = self.next_change(from, end)? {
            self.write_points_before(at)?;
            let (stop, disturbed) = self.event(at, false)?;
            if stop || disturbed {
                return Ok(stop);
            }
            from = at;
        }
        if end == time_event {
            self.write_points_before(end)?;
            return self.event(end, true).map(|(stop, _)| stop);
        }
        self.write_points_before(end.next_up())?;
        Ok(false)
    }

    fn integrator_failure(&self, error: IntegratorError) -> Failure {
        match error {
            IntegratorError::StepTooSmall { t } => Failure::new(t, SimErrorKind::StepTooSmall),
            IntegratorError::StartFails { t } => {
                let kind = SimErrorKind::NotANumber { variable: "a derivative".into(), during: "at a restart" };
                Failure::new(t, kind)
            }
        }
    }

    fn next_change(&mut self, from: f64, to: f64) -> Result<Option<f64>, Failure> {
        let mut probe = StepProbe {
            program: self.program,
            functions: self.functions,
            integrator: self.integrator.as_ref(),
            x: &mut self.x,
        };
        let found = self.search.first_change(&mut probe, self.program, from, to)?;
        Ok(found.map(|bracket| bracket.after))
    }

    /// Brings time, states and all continuous variables to `t` in the last step.
    fn go_to(&mut self, t: f64) -> Result<(), Failure> {
        self.integrator.interpolate(t, &mut self.x);
        self.functions.set_continuous(t, &self.x);
        event::eval_continuous(self.functions, t)
    }

    /// Equidistant rows before `t`.
    fn write_points_before(&mut self, t: f64) -> Result<(), Failure> {
        while self.next_output <= self.options.n_intervals() {
            let point = self.options.output_point(self.next_output);
            if point >= t {
                break;
            }
            self.next_output += 1;
            self.go_to(point)?;
            self.write_row(point)?;
        }
        Ok(())
    }

    fn write_row(&mut self, t: f64) -> Result<(), Failure> {
        if let Some(segment) = self.trajectory.segments.last_mut() {
            segment.times.push(t);
            segment.values.extend(self.columns.iter().map(|v| self.functions.get(v.slot)));
        }
        for assertion in &self.program.assertions {
            if self.functions.get(assertion.condition) != 0.0 {
                continue;
            }
            let message = assertion.message.clone();
            if !assertion.is_warning {
                return Err(Failure::new(t, SimErrorKind::AssertionFailed { message }).at(assertion.span));
            }
            if !self.trajectory.warnings.iter().any(|(_, known)| *known == message) {
                self.trajectory.warnings.push((t, message));
            }
        }
        Ok(())
    }

    fn memories(&self) -> Vec<bool> {
        self.program.relations.values().map(|r| self.functions.get(r.memory) != 0.0).collect()
    }

    /// Settles the event at `t`. Returns whether the simulation ends and whether the integrator was restarted.
    fn event(&mut self, t: f64, is_time_event: bool) -> Result<(bool, bool), Failure> {
        self.go_to(t)?;
        self.functions.update_pre();
        self.write_row(t)?;
        self.skip_output_point(t);
        let (before, memory_before) = (self.memories(), self.functions.snapshot());
        let settled = event::settle(self.program, self.functions, self.options, t)?;
        self.write_row(t)?;
        let causes = self.causes(&before, is_time_event);
        let disturbed = self.is_disturbed(&memory_before);
        self.guard_against_chattering(t, &causes)?;
        let Settled { rounds, termination } = settled;
        self.trajectory.events.push(EventRecord { time: t, causes, rounds, is_restart: disturbed });
        if let Some(message) = termination {
            self.trajectory.end = End::Terminated { message };
            return Ok((true, false));
        }
        if disturbed {
            self.restart(t)?;
        } else {
            self.arm(t)?;
        }
        Ok((false, disturbed))
    }

    /// The rows of an event stand for an output point at the same time.
    fn skip_output_point(&mut self, t: f64) {
        if self.next_output <= self.options.n_intervals() && self.options.output_point(self.next_output) == t {
            self.next_output += 1;
        }
    }

    fn causes(&self, before: &[bool], is_time_event: bool) -> Vec<EventCause> {
        let mut causes = if is_time_event { vec![EventCause::Time] } else { Vec::new() };
        for (relation, &old) in self.program.relations.values().zip(before) {
            let value = self.functions.get(relation.memory) != 0.0;
            if value != old {
                causes.push(EventCause::Relation { text: relation.text.clone(), value });
            }
        }
        causes
    }

    /// Did a state change, or something that the derivatives depend on?
    fn is_disturbed(&self, before: &[f64]) -> bool {
        use saltus_base::Index;
        let changed = |slot: saltus_program::SlotId| {
            before.get(slot.index()).is_none_or(|old| old.to_bits() != self.functions.get(slot).to_bits())
        };
        self.program.states.iter().any(|s| changed(s.value))
            || self.program.derivative_modes.iter().any(|&s| changed(s))
    }

    fn guard_against_chattering(&mut self, t: f64, causes: &[EventCause]) -> Result<(), Failure> {
        let scale = t.abs().max(self.options.stop_time - self.options.start_time);
        if t - self.crowd.0 > NO_PROGRESS * scale {
            self.crowd = (t, 0);
        }
        self.crowd.1 += 1;
        if self.crowd.1 <= MOST_EVENTS_WITHOUT_PROGRESS {
            return Ok(());
        }
        let relation = causes.iter().find_map(|c| match c {
            EventCause::Relation { text, .. } => Some(text.clone()),
            _ => None,
        });
        let kind = SimErrorKind::Chattering { events: self.crowd.1, relation: relation.unwrap_or("time".into()) };
        Err(Failure::new(t, kind))
    }

    /// Starts the integrator anew from the values in memory.
    fn restart(&mut self, t: f64) -> Result<(), Failure> {
        self.functions.get_states(&mut self.x);
        let started = self.integrator.restart(&mut Rhs(self.functions), t, &self.x);
        started.map_err(|e| self.integrator_failure(e))?;
        self.arm(t)
    }

    /// Begins to watch the relations: their values now, and a little later along the tangent.
    fn arm(&mut self, t: f64) -> Result<(), Failure> {
        let n = self.program.relations.len();
        if n == 0 {
            return Ok(());
        }
        let (mut now, mut soon, mut scale, mut unused) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.integrator.interpolate(t, &mut self.x);
        self.functions.set_continuous(t, &self.x);
        read_crossings(self.program, self.functions, t, &mut now, &mut scale)?;
        let mut dx = vec![0.0; self.x.len()];
        self.functions.get_derivatives(&mut dx);
        let ahead = 1e-3 * self.integrator.next_step_size().min(self.options.stop_time - self.options.start_time);
        let shifted: Vec<f64> = self.x.iter().zip(&dx).map(|(x, d)| x + ahead * d).collect();
        self.functions.set_continuous(t + ahead, &shifted);
        // Where the model cannot be evaluated ahead, nothing is known about the direction.
        if read_crossings(self.program, self.functions, t + ahead, &mut soon, &mut unused).is_err() {
            soon.copy_from_slice(&now);
        }
        self.functions.set_continuous(t, &self.x);
        let memory = self.memories();
        self.search.arm(t, &memory, &now, &scale, &soon);
        Ok(())
    }

    fn finish_statistics(&mut self) {
        let cost = self.integrator.statistics();
        let statistics = &mut self.trajectory.statistics;
        statistics.steps = cost.steps;
        statistics.rejected_steps = cost.rejected;
        statistics.derivative_evaluations = cost.evaluations;
        statistics.crossing_evaluations = self.search.evaluations;
        statistics.restarts = cost.restarts;
        statistics.events = self.trajectory.events.len() as u64;
    }
}
