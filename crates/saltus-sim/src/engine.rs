//! The driver: steps, searches each step for events, settles them, writes rows.
//!
//! In: program, evaluator, options. Out: the trajectory with rows at equidistant points (from dense output: they never
//! shorten a step) and two rows for each event, before and after. An event that changes no state and nothing that the
//! derivatives depend on leaves the integrator alone. A point within an accepted step that cannot be evaluated makes the
//! step shorter; only at the shortest step it is an error.

mod failing;
mod jumping;
mod telling;
mod tunnel;

use std::sync::Arc;
use std::time::Instant;

use saltus_base::{Index, Span};
use saltus_numerics::Integrator;
use saltus_program::{
    Activation, ModelFunctions, Relation, RelationId, SimProgram, SlotId, SlotKind, SlotType, SubClock, Variable,
};

use crate::Options;
use crate::crossing::{CrossingSearch, N_WEIGHTS, Probe};
use crate::error::{Failure, SimError, SimErrorKind};
use crate::event::{self, Settled};
use crate::integration::{self, Rhs};
use crate::model::Model;
use crate::options::{Recorded, ZenoPolicy};
use crate::record::{EventCause, EventKind};
use crate::rows::Rows;
use crate::selection::Selection;
use crate::sliding::Slide;
use crate::structure::Structure;
use crate::trajectory::{Column, End, Segment, Trajectory};
use crate::zeno::{Crowd, Happened, Verdict};

/// Points of each step that a history keeps.
const HISTORY_POINTS: u32 = 4;
/// Delays shorter than this part of the time span do not shorten steps.
const SHORTEST_DELAY: f64 = 1e-6;
/// Alternating variables named in a message.
const MOST_ALTERNATIVES: usize = 8;
/// A violation that an event has made smaller by this factor is undone.
const PUT_RIGHT: f64 = 1e-3;
/// Such violations grow up to this times the magnitude of the operands.
const LARGEST_SHIFT: f64 = 1e-3;
/// As long as the next one is further away than this part of the time span.
const PROGRESS: f64 = 1e-6;
/// Shorter and shorter steps that are tried where the crossing functions cannot be evaluated.
const MOST_RETRIES: u32 = 40;
/// Steps between two looks at the clock.
const STEPS_PER_LOOK: u64 = 16;
/// With fewer steps than this since the last event, the step size of before is the best guess for the one after.
const FREQUENT: u64 = 25;

/// Simulates from start to stop time.
pub fn simulate(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    options: &Options,
) -> Result<Trajectory, SimError> {
    simulate_observed(program, functions, options, &mut |_| true)
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    pub time: f64,
    pub start_time: f64,
    pub stop_time: f64,
    pub steps: u64,
    pub events: u64,
}

/// Like [`simulate`]; `observer` learns of each step and says whether to go on.
pub fn simulate_observed(
    program: &SimProgram,
    functions: &mut dyn ModelFunctions,
    options: &Options,
    observer: &mut dyn FnMut(Progress) -> bool,
) -> Result<Trajectory, SimError> {
    let structure = Structure::of(program);
    let mut run = Run::new(program, functions, options, observer, &structure);
    let outcome = run.run();
    run.finish_statistics();
    match outcome {
        Ok(()) => Ok(run.trajectory),
        Err(Failure { time, kind, span, details }) => {
            Err(SimError { time, kind, span, details, partial: Box::new(run.trajectory) })
        }
    }
}

struct Run<'a> {
    program: &'a SimProgram,
    functions: Model<'a>,
    options: &'a Options,
    observer: &'a mut dyn FnMut(Progress) -> bool,
    structure: &'a Structure,
    started: Instant,
    integrator: Box<dyn Integrator>,
    search: CrossingSearch,
    /// The longest time between two looks at the crossing functions.
    longest_look: f64,
    selection: Selection<'a>,
    /// Slots of a row of results.
    places: Vec<usize>,
    /// Slots that a row would have if all variables were recorded.
    shown: Vec<usize>,
    /// Slots whose changes at events are recorded.
    watched: Vec<(SlotId, Arc<str>)>,
    texts: Texts,
    trajectory: Trajectory,
    /// Number of the next equidistant output point.
    next_output: u64,
    x: Vec<f64>,
    /// Memory before the present event.
    before: Vec<f64>,
    /// The next time event; changes at events only.
    time_event: f64,
    steps_at_event: u64,
    /// The last event at which a relation was about to change and did not.
    unconfirmed_at: f64,
    crowd: Crowd,
    /// Until when relations are held, because they would not settle down.
    hold: Option<f64>,
    jumps: jumping::Jumps,
    /// Unknowns of loops at the start of the present step.
    starts: Vec<f64>,
    /// By shown slot: is it infinite, and rightly so?
    infinite: Vec<bool>,
}

fn sub_clocks(program: &SimProgram) -> impl Iterator<Item = &SubClock> {
    program.base_partitions.iter().flat_map(|p| &p.sub_clocks)
}

/// Texts of relations and clocks, shared by all records.
struct Texts {
    relations: Vec<Arc<str>>,
    timers: Vec<Arc<str>>,
    clocks: Vec<Arc<str>>,
}

/// Crossing functions on the dense output of the last step.
struct StepProbe<'a, 'm> {
    program: &'a SimProgram,
    functions: &'a mut Model<'m>,
    integrator: &'a dyn Integrator,
    x: &'a mut [f64],
}

impl Probe for StepProbe<'_, '_> {
    fn crossings(&mut self, t: f64, z: &mut [f64], scale: &mut [f64]) -> Result<(), Failure> {
        self.integrator.interpolate(t, self.x);
        self.functions.set_continuous(t, self.x);
        read_crossings(self.program, self.functions, t, z, scale)
    }
}

fn read_crossings(
    program: &SimProgram,
    functions: &mut Model,
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
    let (first, second) = functions.weights();
    for (place, weight) in z.iter_mut().skip(program.relations.len()).zip([first, second]) {
        *place = weight;
    }
    Ok(())
}

/// Variables that have values over time and a name of their own.
fn shown(program: &SimProgram) -> impl Iterator<Item = &Variable> {
    program.variables.iter().filter(|v| !v.is_parameter && !v.is_hidden)
}

/// Discrete variables and states that a `reinit` may set, each slot under one name.
fn watched_slots(program: &SimProgram) -> Vec<(SlotId, Arc<str>)> {
    let mut seen = vec![false; program.slots.len()];
    let mut watched = Vec::new();
    // A variable that equals a derivative goes by its own name.
    let is_derivative = |v: &&Variable| v.name.starts_with("der(");
    for variable in shown(program).filter(|v| !is_derivative(v)).chain(shown(program).filter(is_derivative)) {
        let is_discrete =
            program.slots.get(variable.slot).is_some_and(|s| matches!(s.kind, SlotKind::Discrete | SlotKind::Clocked));
        let is_set = || program.reinits.iter().any(|r| r.state == variable.slot);
        let is_new = seen.get_mut(variable.slot.index()).is_some_and(|s| !std::mem::replace(s, true));
        if is_new && (is_discrete || is_set()) {
            watched.push((variable.slot, variable.name.as_str().into()));
        }
    }
    watched
}

/// The slots of some variables, each once.
fn slots_of<'a>(variables: impl Iterator<Item = &'a Variable>) -> Vec<usize> {
    let mut slots: Vec<usize> = variables.map(|v| v.slot.index()).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// A segment without rows, and the slots that a row has: one for all variables that share it.
fn empty_segment(program: &SimProgram, recorded: &Recorded) -> (Segment, Vec<usize>) {
    let kept = || shown(program).filter(|v| recorded.contains(&v.name));
    let places = slots_of(kept());
    let place = |v: &Variable| places.binary_search(&v.slot.index()).unwrap_or(0);
    let variables = kept().map(|v| Column { name: v.name.clone(), ty: v.ty, place: place(v) }).collect();
    (Segment { variables, rows: Rows::new(places.len()), times: Vec::new() }, places)
}

impl<'a> Run<'a> {
    fn new(
        program: &'a SimProgram,
        functions: &'a mut dyn ModelFunctions,
        options: &'a Options,
        observer: &'a mut dyn FnMut(Progress) -> bool,
        structure: &'a Structure,
    ) -> Self {
        let (segment, places) = empty_segment(program, &options.recorded);
        let mut search = CrossingSearch::new(program);
        search.stops_at_zeno = options.on_zeno != ZenoPolicy::Continue;
        Run {
            program,
            functions: Model::new(functions),
            options,
            observer,
            structure,
            started: Instant::now(),
            integrator: integration::choose(program, options, structure),
            search,
            longest_look: integration::longest_look(options, structure),
            selection: Selection::new(program),
            places,
            shown: slots_of(shown(program)),
            watched: watched_slots(program),
            texts: Texts {
                relations: program.relations.values().map(|r| r.text.as_str().into()).collect(),
                timers: program.time_events.iter().map(|e| e.text.as_str().into()).collect(),
                clocks: sub_clocks(program).map(|c| c.text.as_str().into()).collect(),
            },
            trajectory: Trajectory { segments: vec![segment], ..Default::default() },
            next_output: 1,
            x: vec![0.0; program.states.len()],
            before: Vec::new(),
            time_event: f64::INFINITY,
            steps_at_event: 0,
            unconfirmed_at: f64::NEG_INFINITY,
            crowd: Crowd::new(options.on_zeno),
            hold: None,
            jumps: jumping::Jumps::default(),
            starts: Vec::new(),
            infinite: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Failure> {
        let start = self.options.start_time;
        if let Some(what) = self.options.mistake() {
            return Err(Failure::new(start, SimErrorKind::BadOptions { what }));
        }
        self.functions.set_mixed_method(self.options.mixed);
        let settled = event::initialise(self.program, &mut self.functions, self.options)?;
        self.functions.remember_event(start);
        let parameters = self.program.variables.iter().filter(|v| v.is_parameter && !v.is_hidden);
        self.trajectory.parameters = parameters.map(|v| (v.name.clone(), self.functions.get(v.slot))).collect();
        self.write_row(start)?;
        self.before = self.functions.snapshot();
        self.record(start, EventKind::Start, vec![EventCause::Start], settled.rounds, true);
        if let Some(i) = settled.termination {
            let message = self.termination(i);
            self.trajectory.end = End::Terminated { message };
            return self.end(start);
        }
        self.time_event = event::next_time_event(&self.functions, start);
        self.start_integrator(start, false, false)?;
        while self.integrator.time() < self.options.stop_time {
            match self.integrate_one_step() {
                Ok(false) => {}
                Ok(true) => {
                    let t = self.functions.get(self.program.time);
                    return self.end(t);
                }
                Err(failure) => self.jump(failure)?,
            }
        }
        if start == self.options.stop_time {
            // The interval has two ends all the same.
            self.write_row(start)?;
        }
        self.end(self.options.stop_time)
    }

    /// The event at which `terminal()` is true.
    fn end(&mut self, t: f64) -> Result<(), Failure> {
        self.functions.set(self.program.terminal, 1.0);
        if self.program.event_section.loads().binary_search(&self.program.terminal).is_err() {
            return Ok(());
        }
        self.functions.update_pre();
        self.remember_memory();
        let settled = event::settle(self.program, &mut self.functions, self.options, t)?;
        self.write_event_row(t)?;
        let causes = self.causes(false);
        self.record(t, EventKind::Terminal, causes, settled.rounds, false);
        Ok(())
    }

    fn check_budget(&mut self) -> Result<(), Failure> {
        let (t, steps) = (self.integrator.time(), self.integrator.statistics().steps);
        if steps >= self.options.max_steps {
            return Err(Failure::new(t, SimErrorKind::TooManySteps { most: self.options.max_steps }));
        }
        let Options { start_time, stop_time, .. } = *self.options;
        let events = self.trajectory.statistics.events;
        if !(self.observer)(Progress { time: t, start_time, stop_time, steps, events }) {
            return Err(Failure::new(t, SimErrorKind::Interrupted));
        }
        if let Some(limit) = self.options.time_limit
            && steps % STEPS_PER_LOOK == 0
            && self.started.elapsed() > limit
        {
            return Err(Failure::new(t, SimErrorKind::TimeLimit { seconds: limit.as_secs_f64() }));
        }
        Ok(())
    }

    /// One step with all its events; true if the simulation ends here.
    fn integrate_one_step(&mut self) -> Result<bool, Failure> {
        self.check_budget()?;
        let mut from = self.integrator.time();
        let hold = self.hold.unwrap_or(f64::INFINITY);
        let limit = self.time_event.min(self.options.stop_time).min(hold).min(self.reach_of_delays(from));
        if let Err(failure) = self.step(limit) {
            // Perhaps the present choice of states leads no further.
            return if self.review_states(from)? { Ok(false) } else { Err(failure) };
        }
        let mut end = self.integrator.time();
        let mut retries = 0;
        loop {
            // An event in this step may have brought a time event forward into it.
            let until = end.min(self.time_event);
            let change = if self.hold.is_none() { self.next_change(from, until) } else { Ok(None) };
            let (at, kind) = match change {
                Ok(None) if until < end => (until, EventKind::Time),
                Ok(None) => break,
                Ok(Some(at)) => (at, EventKind::State),
                Err(failure) if failure.is_recoverable() && retries < MOST_RETRIES => {
                    retries += 1;
                    end = self.shorten_step(from, end, failure)?;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            self.write_points_before(at)?;
            self.remember_histories(from, at)?;
            let (stop, disturbed) = self.event(at, kind)?;
            if stop || disturbed {
                return Ok(stop);
            }
            from = at;
        }
        if end == hold {
            self.hold = None;
        }
        self.remember_histories(from, end)?;
        if end == self.time_event || end == hold {
            self.write_points_before(end)?;
            let kind = if end == self.time_event { EventKind::Time } else { EventKind::Release };
            return self.event(end, kind).map(|(stop, _)| stop);
        }
        self.write_points_before(end.next_up())?;
        self.check_step_end(end)?;
        self.review_states(end)?;
        Ok(false)
    }

    /// How far a step may go without asking for values of the future.
    fn reach_of_delays(&self, from: f64) -> f64 {
        if !self.functions.has_histories() {
            return f64::INFINITY;
        }
        from + self.functions.shortest_delay().max(SHORTEST_DELAY * self.options.time_span())
    }

    /// Lets `delay` and `spatialDistribution` know what happened between two points of the last step.
    fn remember_histories(&mut self, from: f64, to: f64) -> Result<(), Failure> {
        if !self.functions.has_histories() || to <= from {
            return Ok(());
        }
        for k in 1..=HISTORY_POINTS {
            let t = if k == HISTORY_POINTS { to } else { from + (to - from) * k as f64 / HISTORY_POINTS as f64 };
            self.go_to(t)?;
            self.functions.remember(t, from);
        }
        Ok(())
    }

    /// Lets other candidates of state sets be the states where the present ones have become bad ones; true if so.
    fn review_states(&mut self, t: f64) -> Result<bool, Failure> {
        if self.program.state_sets.is_empty() {
            return Ok(false);
        }
        self.integrator.interpolate(t, &mut self.x);
        self.functions.set_continuous(t, &self.x);
        event::eval(&mut self.functions, t, Activation::Derivatives)?;
        self.functions.accept();
        self.remember_memory();
        let exchanges = self.selection.review(&mut self.functions, t)?;
        if exchanges.is_empty() {
            return Ok(false);
        }
        let causes = self.selection.causes(&exchanges);
        self.record(t, EventKind::Selection, causes, 0, true);
        self.start_integrator(t, true, false)?;
        Ok(true)
    }

    fn step(&mut self, limit: f64) -> Result<(), Failure> {
        let mut rhs = Rhs::new(&mut self.functions, self.structure, &mut self.starts);
        let stepped = self.integrator.step(&mut rhs, limit);
        let status = rhs.status;
        stepped.map_err(|e| self.integrator_failure(e, status))
    }

    /// Something between `from` and `end` cannot be evaluated: a shorter step from `from`; its end.
    fn shorten_step(&mut self, from: f64, end: f64, failure: Failure) -> Result<f64, Failure> {
        let h = 0.25 * (end - from);
        if from + h <= from {
            return Err(failure);
        }
        self.integrator.interpolate(from, &mut self.x);
        let mut rhs = Rhs::new(&mut self.functions, self.structure, &mut self.starts);
        let restarted = self.integrator.restart(&mut rhs, from, &self.x);
        restarted.map_err(|_| failure)?;
        self.integrator.propose_step_size(h);
        self.search.forget();
        self.step(from + h)?;
        Ok(self.integrator.time())
    }

    fn next_change(&mut self, from: f64, to: f64) -> Result<Option<f64>, Failure> {
        let mut probe = StepProbe {
            program: self.program,
            functions: &mut self.functions,
            integrator: self.integrator.as_ref(),
            x: &mut self.x,
        };
        let found = self.search.first_change(&mut probe, self.program, from, to, self.longest_look);
        let found = found.map_err(|mut failure| {
            if let SimErrorKind::Zeno { accumulation, .. } = &mut failure.kind {
                *accumulation = self.crowd.accumulation();
            }
            failure
        })?;
        Ok(found.map(|bracket| bracket.after))
    }

    /// Brings time, states and all continuous variables to `t` in the last step.
    fn go_to(&mut self, t: f64) -> Result<(), Failure> {
        self.integrator.interpolate(t, &mut self.x);
        self.functions.set_continuous(t, &self.x);
        event::eval_continuous(&mut self.functions, t)?;
        self.functions.accept();
        Ok(())
    }

    /// Assertions hold at all accepted points, not only at those that are written.
    fn check_step_end(&mut self, t: f64) -> Result<(), Failure> {
        let is_written = self.trajectory.segments.last().and_then(|s| s.times.last()) == Some(&t);
        if self.program.assertions.is_empty() || is_written {
            return Ok(());
        }
        self.go_to(t)?;
        self.check_assertions(t)
    }

    /// Equidistant rows before `t`.
    fn write_points_before(&mut self, t: f64) -> Result<(), Failure> {
        while self.next_output <= self.options.n_intervals() {
            let point = self.options.output_point(self.next_output);
            if point >= t {
                break;
            }
            self.go_to(point)?;
            self.next_output += 1;
            self.write_row(point)?;
        }
        Ok(())
    }

    fn write_event_row(&mut self, t: f64) -> Result<(), Failure> {
        let used = self.trajectory.segments.last().map_or(0, |s| s.rows.n_bytes());
        if self.options.event_rows && used <= self.options.max_result_bytes / 2 {
            return self.write_row(t);
        }
        self.check_assertions(t)
    }

    fn write_row(&mut self, t: f64) -> Result<(), Failure> {
        if let Some(segment) = self.trajectory.segments.last_mut() {
            if segment.rows.n_bytes() + 8 * self.places.len() > self.options.max_result_bytes {
                let kind = SimErrorKind::ResultsTooLarge { bytes: self.options.max_result_bytes };
                return Err(Failure::new(t, kind));
            }
            segment.times.push(t);
            let memory = self.functions.memory();
            let row = self.places.iter().map(|&slot| memory.get(slot).copied().unwrap_or(f64::NAN));
            let has_infinite = segment.rows.push(row);
            let is_infinite = |&slot: &usize| memory.get(slot).is_some_and(|x| x.is_infinite());
            let is_all = self.places.len() == self.shown.len();
            if has_infinite || !is_all && self.shown.iter().any(is_infinite) {
                self.check_infinite(t)?;
            }
        }
        self.check_assertions(t)
    }

    fn remember_memory(&mut self) {
        self.before.clear();
        self.before.extend_from_slice(self.functions.memory());
    }

    /// Settles the event at `t`. Returns whether the simulation ends and whether the integrator was restarted.
    fn event(&mut self, t: f64, kind: EventKind) -> Result<(bool, bool), Failure> {
        self.go_to(t)?;
        if self.functions.is_sliding() {
            let (first, second) = self.functions.weights();
            self.functions.end_slide();
            if kind == EventKind::State && first.min(second) <= 0.0 {
                return self.leave(t);
            }
        }
        self.functions.update_pre();
        self.write_event_row(t)?;
        self.skip_output_point(t);
        self.remember_memory();
        self.functions.pass(t);
        let settled = event::settle(self.program, &mut self.functions, self.options, t);
        let Settled { rounds, termination, flips } = settled.map_err(Failure::after_all_starts)?;
        self.functions.remember_event(t);
        self.write_event_row(t)?;
        let mut causes = self.causes(kind == EventKind::Time);
        self.add_reverted(&flips, &mut causes);
        let exchanges = self.selection.review(&mut self.functions, t)?;
        causes.extend(self.selection.causes(&exchanges));
        let disturbed = self.is_disturbed() || !exchanges.is_empty();
        let jumped = self.has_jumped();
        let changed = self.changed_relations();
        if jumped && kind == EventKind::State && self.options.on_zeno != ZenoPolicy::Continue {
            self.refuse_to_tunnel(t, &changed)?;
        }
        let timed = kind != EventKind::State;
        let verdict = self.crowd.judge(&Happened { time: t, changed: &changed, jumped, timed }, self.options);
        self.record(t, kind, causes, rounds, disturbed);
        self.tell_rounds(&flips);
        if changed.is_empty() && !disturbed && kind == EventKind::State {
            self.doubt_unconfirmed(t);
        }
        match verdict {
            Verdict::Progress => {}
            Verdict::Alternating => self.slide_or_doubt(t, &changed),
            Verdict::Hold(until) => self.hold = Some(until),
            Verdict::Chattering { events } => return Err(self.chattering(t, &changed, events)),
        }
        if let Some(i) = termination {
            let message = self.termination(i);
            self.trajectory.end = End::Terminated { message };
            return Ok((true, false));
        }
        self.time_event = event::next_time_event(&self.functions, t);
        if disturbed {
            self.start_integrator(t, true, jumped)?;
        } else {
            self.arm(t, jumped)?;
        }
        Ok((false, disturbed))
    }

    /// A side of the threshold along which the model slid does not point at it any more: on with that side alone.
    fn leave(&mut self, t: f64) -> Result<(bool, bool), Failure> {
        self.write_event_row(t)?;
        self.skip_output_point(t);
        self.remember_memory();
        self.record(t, EventKind::Leave, Vec::new(), 0, true);
        self.start_integrator(t, true, false)?;
        Ok((false, true))
    }

    /// Relations seen to change during integration, but not at the event: rounding, or one of several solutions of a
    /// loop. The event is right; they may go as far again before they are looked at once more.
    fn doubt_unconfirmed(&mut self, t: f64) {
        let is_progress = t - self.unconfirmed_at > PROGRESS * self.options.time_span();
        self.unconfirmed_at = t;
        let mut is_any = false;
        for (i, relation) in self.program.relations.values().enumerate() {
            let z = self.value_before(relation.crossing);
            if relation.op.holds(z) != (self.functions.get(relation.memory) != 0.0) {
                // Where the equations leave open how a load is shared the event has moved it away from this threshold. Many
                // such events follow the limits of all that share it, one long violation would miss the last of them.
                let is_put_right = is_progress && self.functions.get(relation.crossing).abs() <= PUT_RIGHT * z.abs();
                let scale = self.functions.get(relation.scale).max(1.0);
                let most = if is_put_right { LARGEST_SHIFT * scale } else { f64::INFINITY };
                self.search.doubt(i, (2.0 * z.abs()).min(most));
                is_any = true;
            }
        }
        // The search saw a change that the event did not see even before it was settled.
        if !is_any {
            self.search.doubt_fired();
        }
    }

    /// Relations that alternate: slides if that is possible. Otherwise rounding errors are larger than the band around
    /// the threshold, which is widened.
    fn slide_or_doubt(&mut self, t: f64, changed: &[RelationId]) {
        if self.slide(t, changed) {
            return;
        }
        for &id in changed {
            let scale = self.program.relations.get(id).map_or(1.0, |r| self.functions.get(r.scale));
            self.search.doubt_more(id.index(), scale);
        }
    }

    /// Slides along the threshold of one of the relations that have just changed, if both its sides point at it.
    fn slide(&mut self, t: f64, changed: &[RelationId]) -> bool {
        for &id in changed {
            let (first, second) = (self.before.clone(), self.functions.snapshot());
            let Some(relation) = self.program.relations.get(id) else { continue };
            let Some(slide) = Slide::new(self.program, id, first, second) else { continue };
            let Some((before, after)) = self.functions.try_to_slide(slide) else { continue };
            self.crowd.has_slid(id);
            let note = format!(
                "slides along the threshold of `{}`: its difference changes by {before:.3e} a second on one side and by \
                 {after:.3e} on the other",
                relation.text
            );
            if let Some(record) = self.trajectory.events.last_mut() {
                record.note = Some(note.as_str().into());
            }
            let about_it = format!("`{}`", relation.text);
            if !self.trajectory.notes.iter().any(|(_, known)| known.contains(&about_it)) {
                self.trajectory.notes.push((t, note));
            }
            return true;
        }
        false
    }

    fn changed_relations(&self) -> Vec<RelationId> {
        let changed = |r: &Relation| (self.functions.get(r.memory) != 0.0) != (self.value_before(r.memory) != 0.0);
        self.program.relations.iter().filter(|(_, r)| changed(r)).map(|(id, _)| id).collect()
    }

    fn chattering(&self, t: f64, changed: &[RelationId], events: u64) -> Failure {
        // An event that changed nothing was found by the relation that is closest to a change.
        let changed = changed.iter().find_map(|&id| self.program.relations.get(id));
        let relation = changed.or_else(|| Some(self.closest_relation()?.1));
        let (text, span) = relation.map_or(("time", Span::nowhere()), |r| (&r.text, r.span));
        let kind = SimErrorKind::Chattering { events, relation: text.to_owned(), modes: self.alternatives() };
        Failure::new(t, kind).at(span)
    }

    /// Discrete variables that the derivatives depend on and that have just changed.
    fn alternatives(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for &slot in &self.program.derivative_modes {
            let (before, after) = (self.value_before(slot), self.functions.get(slot));
            if before != after && texts.len() < MOST_ALTERNATIVES {
                let is_boolean = self.program.slots.get(slot).is_some_and(|s| s.ty == SlotType::Boolean);
                let text = |x: f64| if is_boolean { (x != 0.0).to_string() } else { x.to_string() };
                texts.push(format!("{} = {} or {}", self.program.slot_name(slot), text(before), text(after)));
            }
        }
        texts
    }

    fn closest_relation(&self) -> Option<(RelationId, &Relation)> {
        let distance = |r: &Relation| (self.functions.get(r.crossing) / self.functions.get(r.scale).max(1.0)).abs();
        self.program.relations.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))
    }

    /// The rows of an event stand for an output point at the same time.
    fn skip_output_point(&mut self, t: f64) {
        if self.next_output <= self.options.n_intervals()
            && self.options.output_point(self.next_output) == t
            && self.trajectory.segments.last().and_then(|s| s.times.last()) == Some(&t)
        {
            self.next_output += 1;
        }
    }

    fn has_jumped(&self) -> bool {
        let changed = |slot: SlotId| self.value_before(slot).to_bits() != self.functions.get(slot).to_bits();
        self.program.states.iter().any(|s| changed(s.value))
    }

    /// Did a state change, or something that the derivatives depend on?
    fn is_disturbed(&self) -> bool {
        let changed = |slot: SlotId| self.value_before(slot).to_bits() != self.functions.get(slot).to_bits();
        self.program.states.iter().any(|s| changed(s.value))
            || self.program.derivative_modes.iter().any(|&s| changed(s))
    }

    /// Starts the integrator from the values in memory.
    fn start_integrator(&mut self, t: f64, is_event: bool, jumped: bool) -> Result<(), Failure> {
        self.functions.get_states(&mut self.x);
        let steps = self.integrator.statistics().steps;
        let is_frequent = is_event && steps - self.steps_at_event < FREQUENT;
        self.steps_at_event = steps;
        let mut rhs = Rhs::new(&mut self.functions, self.structure, &mut self.starts);
        let started = if is_frequent {
            self.integrator.reinit(&mut rhs, t, &self.x)
        } else {
            self.integrator.restart(&mut rhs, t, &self.x)
        };
        let status = rhs.status;
        started.map_err(|e| self.integrator_failure(e, status))?;
        self.arm(t, jumped)
    }

    /// Begins to watch the relations: their values now, and a little later along the tangent.
    fn arm(&mut self, t: f64, jumped: bool) -> Result<(), Failure> {
        if self.program.relations.is_empty() {
            return Ok(());
        }
        let n = self.program.relations.len() + N_WEIGHTS;
        let (mut now, mut soon, mut scale) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.integrator.interpolate(t, &mut self.x);
        self.functions.set_continuous(t, &self.x);
        read_crossings(self.program, &mut self.functions, t, &mut now, &mut scale)?;
        // Where the model cannot be evaluated ahead, nothing is known about the direction.
        if self.look_ahead(t, &mut soon).is_err() {
            soon.copy_from_slice(&now);
        }
        self.functions.set_continuous(t, &self.x);
        let memory = self.program.relations.values().map(|r| self.functions.get(r.memory) != 0.0);
        let memory: Vec<bool> = memory.chain([true; N_WEIGHTS]).collect();
        self.search.arm(t, &memory, &now, &scale, &soon, jumped);
        Ok(())
    }

    fn finish_statistics(&mut self) {
        let cost = self.integrator.statistics();
        let statistics = &mut self.trajectory.statistics;
        statistics.steps = cost.steps;
        statistics.rejected_steps = cost.rejected;
        statistics.derivative_evaluations = cost.evaluations;
        statistics.jacobian_evaluations = cost.jacobians;
        statistics.factorisations = cost.factorisations;
        statistics.crossing_evaluations = self.search.evaluations;
        statistics.restarts = cost.restarts;
        statistics.method_switches = cost.switches;
        statistics.loops = self.functions.loop_statistics();
    }
}
