//! One run of a study: phases that go on from each other.
//!
//! In: an instance, values of parameters, phases. Out: what the study records of the run ([`Ran`]).
//!
//! ```text
//! phase 1                phase 2: values change, another method
//! initialise ─ advance ─ state ─ restore ─ set ─ advance ─ … ─ finish
//! ```
//!
//! A phase ends at a time, at an event of the model, or where a condition becomes true that the model knows nothing about. That
//! is found by looking after each step and, where it has become true, by halving the step: the state before it is restored, rows
//! are held back until then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use saltus_program::{ModelFunctions, SimProgram, SlotId, Stopwatch};
use saltus_sim::{Advance, End, EventKind, Recorder, SimErrorKind, Simulation, SinkError, Statistics, Trajectory};

use super::read::apply_setting;
use super::runs::{Failure, Wanted};
use super::sinks::{Fan, Held};
use super::task::LinearizePrepared;
use super::watch::{Formula, Observer, Watch};
use super::{Setting, Value};
use crate::configurations::Pool;
use crate::linearize::{Linearization, linearize_here};
use crate::pipeline::{Engine, Experiment, Output};
use crate::watchdog::Watchdog;
use crate::{Model, Permissions, Start};

/// A phase whose names are known.
#[derive(Clone, Debug)]
pub struct PreparedPhase {
    pub name: String,
    pub until: PreparedUntil,
    pub stop_time: Option<f64>,
    pub settings: Vec<(String, Setting)>,
    pub values: Vec<PreparedChange>,
}

#[derive(Clone, Debug)]
pub enum PreparedUntil {
    Stop,
    Time(f64),
    Duration(f64),
    /// The n-th event that a counter of the watch counts.
    Event {
        counter: usize,
        number: u64,
        text: String,
    },
    /// It becomes true.
    Condition {
        formula: Formula,
        text: String,
    },
}

#[derive(Clone, Debug)]
pub struct PreparedChange {
    pub name: String,
    pub value: Value,
    /// Of an expression.
    pub formula: Option<Formula>,
}

/// What a run came to.
#[derive(Debug, Default)]
pub struct Ran {
    pub values: Vec<f64>,
    /// Rows, if they were wanted.
    pub trajectory: Option<Trajectory>,
    pub linearizations: Vec<(usize, Linearization)>,
    /// Where phases have ended.
    pub ends: Vec<f64>,
    pub end: End,
    pub statistics: Statistics,
    pub program: Option<Arc<SimProgram>>,
    pub observer: Option<Observer>,
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// How a run is made.
pub struct Course<'a> {
    pub model: &'a Arc<Model>,
    pub permissions: Permissions,
    pub engine: Engine,
    pub names: &'a [String],
    pub experiment: &'a Experiment,
    pub phases: &'a [PreparedPhase],
    pub watch: &'a Arc<Watch>,
    pub start: &'a Start,
    pub stop: &'a Arc<AtomicBool>,
    pub pool: Pool,
}

type Instance = Box<dyn ModelFunctions>;

impl From<saltus_sim::SimError> for Failure {
    fn from(error: saltus_sim::SimError) -> Self {
        Failure::Simulation(Box::new(error))
    }
}

impl Course<'_> {
    /// Runs all phases; gives the instance back unless it is lost.
    pub fn run(&self, instance: Instance, values: &[f64], wanted: Wanted) -> (Option<Instance>, Result<Ran, Failure>) {
        let settings = self.experiment.settings(self.model.program());
        let recorder = wanted.rows.then(|| Recorder::of_rows(settings.max_result_bytes));
        let observer = Observer::new(self.watch);
        let fan = Fan {
            observer: observer.clone(),
            recorder: recorder.clone(),
            other: wanted.sink.map(|make| make(self.model)),
        };
        let mut way = Way {
            course: self,
            observer,
            sink: Held::new(fan),
            watchdog: self.experiment.time_limit.map(Watchdog::new),
            wanted,
            n_linearized: vec![0; wanted.linearize.len()],
            machines: Vec::new(),
            places: Places::default(),
            ran: Ran::default(),
        };
        let one = [PreparedPhase::whole()];
        let phases = if self.phases.is_empty() { &one[..] } else { self.phases };
        let mut at = At { instance: Some(instance), state: None, time: settings.start_time };
        for (k, phase) in phases.iter().enumerate() {
            match way.phase(&mut at, phase, k, values, k + 1 == phases.len()) {
                Ok(Ended::GoesOn) => {}
                Ok(Ended::Over) => break,
                Err(failure) => return (at.instance, Err(failure)),
            }
        }
        let mut ran = way.ran;
        ran.observer = Some(way.observer);
        ran.trajectory = recorder.map(|recorder| recorder.take());
        ran.program = Some(self.model.program().clone());
        (at.instance, Ok(ran))
    }

    /// The settings of a phase that begins at `from`.
    fn settings(&self, phase: &PreparedPhase, from: f64, is_first: bool) -> Experiment {
        let mut experiment = self.experiment.clone();
        let is_spaced = phase.settings.iter().any(|(name, _)| name == "interval" || name == "intervals");
        if is_spaced {
            experiment.output = None;
        }
        phase.settings.iter().for_each(|(name, setting)| apply_setting(&mut experiment, name, setting));
        let program = self.model.program();
        let whole = experiment.settings(program);
        let stop = match phase.until {
            PreparedUntil::Time(time) => time,
            PreparedUntil::Duration(seconds) => from + seconds,
            _ => phase.stop_time.unwrap_or(whole.stop_time),
        };
        experiment.stop_time = Some(stop);
        let span = stop - from;
        // Output points are spread over the phase, not over all of them.
        let is_fixed = matches!(experiment.output, Some(Output::Interval(_))) || program.experiment.interval.is_some();
        if !is_first && !is_fixed && span > 0.0 {
            let n = if let Some(Output::Intervals(n)) = experiment.output { n.max(1) } else { 500 };
            experiment.output = Some(Output::Interval(span / f64::from(n)));
        }
        experiment
    }
}

impl PreparedPhase {
    /// The only one of a run without phases.
    fn whole() -> Self {
        PreparedPhase {
            name: String::new(),
            until: PreparedUntil::Stop,
            stop_time: None,
            settings: Vec::new(),
            values: Vec::new(),
        }
    }
}

/// Where a run is between two phases.
struct At {
    instance: Option<Instance>,
    state: Option<saltus_sim::State>,
    time: f64,
}

enum Ended {
    GoesOn,
    /// The model has called `terminate`.
    Over,
}

/// A run under way.
struct Way<'a> {
    course: &'a Course<'a>,
    observer: Observer,
    sink: Held,
    watchdog: Option<Watchdog>,
    wanted: Wanted<'a>,
    /// Events of each linearisation so far.
    n_linearized: Vec<u64>,
    /// Active states: machine, name, when it was entered.
    machines: Vec<(usize, String, f64)>,
    places: Places,
    ran: Ran,
}

impl Way<'_> {
    fn phase(
        &mut self,
        at: &mut At,
        phase: &PreparedPhase,
        k: usize,
        values: &[f64],
        is_last: bool,
    ) -> Result<Ended, Failure> {
        let course = self.course;
        let Some(mut instance) = at.instance.take() else {
            return Err(Failure::Other("the instance is lost".to_owned()));
        };
        instance.renew();
        let experiment = course.settings(phase, at.time, k == 0);
        let settings = experiment.settings(course.model.program());
        if let Some(what) = settings.mistake() {
            at.instance = Some(instance);
            return Err(Failure::Other(format!("{}: {what}", name_of(phase, k))));
        }
        let mut simulation = Simulation::new(instance, settings);
        let made = course.model.pooled_configurations(
            course.engine,
            course.permissions,
            &Stopwatch::default(),
            course.pool.clone(),
        );
        if let Some(maker) = made {
            simulation.set_configurations(maker);
        }
        simulation.set_sink(Box::new(self.sink.clone()));
        simulation.stop_when(course.stop.clone());
        if let Some(watchdog) = &self.watchdog {
            simulation.stop_when(watchdog.is_late.clone());
        }
        let done = self.through(&mut simulation, at, phase, k, values, is_last);
        at.instance = Some(simulation.into_instance());
        done.map_err(|failure| match (&self.watchdog, failure) {
            (Some(watchdog), Failure::Simulation(mut error)) if watchdog.is_late() => {
                let limit = course.experiment.time_limit.unwrap_or_default();
                error.kind = SimErrorKind::TimeLimit { seconds: limit.as_secs_f64() };
                Failure::Simulation(error)
            }
            (_, failure) => failure,
        })
    }

    fn through(
        &mut self,
        simulation: &mut Simulation,
        at: &mut At,
        phase: &PreparedPhase,
        k: usize,
        values: &[f64],
        is_last: bool,
    ) -> Result<Ended, Failure> {
        let course = self.course;
        match at.state.take() {
            Some(state) => {
                let restored = simulation.restore(&state);
                restored.map_err(|why| Failure::Other(format!("{}: {why}", name_of(phase, k))))?;
            }
            None => self.begin(simulation, values)?,
        }
        self.change(simulation, phase, k)?;
        simulation.initialise()?;
        if k == 0 && course.watch.has_transitions() {
            self.machines = active_states(simulation)?;
        }
        let counted = match phase.until {
            PreparedUntil::Event { counter, .. } => self.observer.count(counter),
            _ => 0,
        };
        let is_reached = self.advance(simulation, phase, counted)?;
        at.time = simulation.time();
        // A phase may end between two rows.
        let names = self.places.values(simulation, course.watch)?;
        self.observer.reach(at.time, &names);
        self.ran.ends.push(at.time);
        self.ran.end = simulation.end().clone();
        let is_terminated = matches!(self.ran.end, End::Terminated { .. });
        if !is_reached && !is_terminated {
            let what = match &phase.until {
                PreparedUntil::Event { text, .. } | PreparedUntil::Condition { text, .. } => text.clone(),
                _ => "its end".to_owned(),
            };
            let why = format!("{}: `{what}` did not happen until time {}", name_of(phase, k), at.time);
            return Err(Failure::Other(why));
        }
        if is_last || is_terminated {
            simulation.finish()?;
            self.ran.statistics = simulation.statistics();
            return Ok(Ended::Over);
        }
        let state = simulation.state();
        at.state = Some(state.map_err(|why| Failure::Other(format!("{}: {why}", name_of(phase, k))))?);
        Ok(Ended::GoesOn)
    }

    /// Values before the start.
    fn begin(&self, simulation: &mut Simulation, values: &[f64]) -> Result<(), Failure> {
        let course = self.course;
        let set = course.start.apply(simulation, course.model);
        set.map_err(|wrong| Failure::Other(wrong.first().map_or_else(String::new, |d| d.message.clone())))?;
        for (name, value) in course.names.iter().zip(values) {
            self.set(simulation, name, *value)?;
        }
        Ok(())
    }

    fn set(&self, simulation: &mut Simulation, name: &str, value: f64) -> Result<(), Failure> {
        let model = self.course.model;
        let wrong = |why: String| Failure::Other(format!("`{name}` cannot be set to {value}: {why}"));
        let variable = model.variable(name).map_err(|why| wrong(why.to_string()))?;
        let is_state = model.program().states.iter().any(|s| s.value == variable.slot);
        let slot = match is_state && simulation.has_begun() {
            true => variable.slot,
            false => model.changeable_to(name, value).map_err(|why| wrong(why.to_string()))?,
        };
        simulation.set(slot, value).map_err(|why| wrong(why.to_string()))
    }

    /// What a phase changes where it begins: expressions are computed of the values before, all at once.
    fn change(&mut self, simulation: &mut Simulation, phase: &PreparedPhase, k: usize) -> Result<(), Failure> {
        if phase.values.is_empty() {
            return Ok(());
        }
        let names =
            if simulation.has_begun() { self.places.values(simulation, self.course.watch)? } else { Vec::new() };
        let mut all = Vec::new();
        for change in &phase.values {
            let value = match (&change.value, &change.formula) {
                (Value::Number(value), _) => *value,
                (Value::Text(text, _), formula) => match (self.course.model.parse_value(&change.name, text), formula) {
                    (Ok(value), _) => value,
                    (Err(_), Some(formula)) if simulation.has_begun() => formula.at_point(simulation.time(), &names),
                    (Err(why), _) => {
                        return Err(Failure::Other(format!(
                            "{}: `{}` cannot be set: {why}",
                            name_of(phase, k),
                            change.name
                        )));
                    }
                },
            };
            all.push((&change.name, value));
        }
        all.into_iter().try_for_each(|(name, value)| self.set(simulation, name, value))
    }

    /// Goes on to the end of a phase; false if what it waits for does not come.
    fn advance(&mut self, simulation: &mut Simulation, phase: &PreparedPhase, counted: u64) -> Result<bool, Failure> {
        let stop = simulation.options().stop_time;
        self.look(simulation)?;
        let mut held = match &phase.until {
            PreparedUntil::Condition { formula, .. } => Some(self.holds(simulation, formula)?),
            _ => None,
        };
        while !simulation.is_over() {
            if self.course.stop.load(Ordering::Relaxed) {
                return Err(simulation.stop(SimErrorKind::Interrupted).into());
            }
            let until = self.next_look(simulation, stop);
            if let (PreparedUntil::Condition { formula, .. }, Some(held)) = (&phase.until, &mut held) {
                if self.step_to_condition(simulation, until, formula, held)? {
                    return Ok(true);
                }
                continue;
            }
            let advanced = simulation.advance(until)?;
            self.after(simulation, advanced)?;
            if let PreparedUntil::Event { counter, number, .. } = &phase.until
                && self.observer.count(*counter) >= counted + number
            {
                return Ok(true);
            }
        }
        Ok(!matches!(phase.until, PreparedUntil::Event { .. } | PreparedUntil::Condition { .. }))
    }

    /// One step; true where the condition has become true in it: then the run is there.
    fn step_to_condition(
        &mut self,
        simulation: &mut Simulation,
        until: f64,
        formula: &Formula,
        held: &mut bool,
    ) -> Result<bool, Failure> {
        let before = simulation.state().map_err(|why| Failure::Other(why.to_string()))?;
        self.sink.hold();
        let advanced = simulation.advance(until)?;
        let holds = self.holds(simulation, formula)?;
        if !holds || *held {
            *held = holds;
            self.sink.release().map_err(refused)?;
            self.after(simulation, advanced)?;
            return Ok(false);
        }
        let (mut low, mut high) = (before.time(), simulation.time());
        let restore = |simulation: &mut Simulation, sink: &Held| {
            sink.discard();
            simulation.restore(&before).map_err(|why| Failure::Other(why.to_string()))
        };
        loop {
            let middle = low + 0.5 * (high - low);
            if middle <= low || middle >= high {
                break;
            }
            restore(simulation, &self.sink)?;
            simulation.advance_to(middle)?;
            match self.holds(simulation, formula)? {
                true => high = middle,
                false => low = middle,
            }
        }
        restore(simulation, &self.sink)?;
        simulation.advance_to(high)?;
        self.sink.release().map_err(refused)?;
        self.note_transitions(simulation)?;
        self.look(simulation)?;
        Ok(true)
    }

    fn holds(&mut self, simulation: &mut Simulation, formula: &Formula) -> Result<bool, Failure> {
        let names = self.places.values(simulation, self.course.watch)?;
        let value = formula.at_point(simulation.time(), &names);
        Ok(value != 0.0 && !value.is_nan())
    }

    /// After a step or an event.
    fn after(&mut self, simulation: &mut Simulation, advanced: Advance) -> Result<(), Failure> {
        if let Advance::Event(event) = &advanced {
            if event.kind == EventKind::Configuration && self.course.watch.has_transitions() {
                self.note_transitions(simulation)?;
            }
            self.linearize_at_events(simulation)?;
        }
        self.look(simulation)
    }

    fn note_transitions(&mut self, simulation: &mut Simulation) -> Result<(), Failure> {
        let now = active_states(simulation)?;
        for (machine, state, entered) in &now {
            let before = self.machines.iter().find(|(other, ..)| other == machine);
            if let Some((_, from, earlier)) = before
                && (from != state || entered != earlier)
            {
                self.observer.transition(from, state);
            }
        }
        self.machines = now;
        Ok(())
    }

    /// The next time at which something is to be looked at.
    fn next_look(&self, simulation: &Simulation, stop: f64) -> f64 {
        let now = simulation.time();
        let of_values = self.course.watch.times.iter().map(|(t, _)| *t);
        let of_models = self.wanted.linearize.iter().flat_map(|l| l.times.iter().copied());
        of_values.chain(of_models).filter(|t| *t > now).fold(stop, f64::min)
    }

    /// Takes what is wanted at this very time.
    fn look(&mut self, simulation: &mut Simulation) -> Result<(), Failure> {
        let now = simulation.time();
        let due: Vec<usize> =
            self.course.watch.times.iter().enumerate().filter(|(_, (t, _))| *t == now).map(|(i, _)| i).collect();
        if !due.is_empty() {
            let names = self.places.values(simulation, self.course.watch)?;
            due.into_iter().for_each(|i| self.observer.see(i, now, &names));
        }
        let linearize: &[LinearizePrepared] = self.wanted.linearize;
        for (i, wanted) in linearize.iter().enumerate() {
            let is_done = || self.ran.linearizations.iter().any(|(k, l)| *k == i && l.time == now);
            if wanted.times.contains(&now) && !is_done() {
                let found = linearize_here(simulation)?;
                self.ran.linearizations.push((i, found));
            }
        }
        Ok(())
    }

    fn linearize_at_events(&mut self, simulation: &mut Simulation) -> Result<(), Failure> {
        let linearize: &[LinearizePrepared] = self.wanted.linearize;
        for (i, wanted) in linearize.iter().enumerate() {
            let Some((counter, number)) = wanted.event else { continue };
            let n = self.observer.count(counter);
            if n > self.n_linearized[i] && (number.is_none() || number == Some(n)) {
                let found = linearize_here(simulation)?;
                self.ran.linearizations.push((i, found));
            }
            self.n_linearized[i] = n;
        }
        Ok(())
    }
}

fn refused(error: SinkError) -> Failure {
    match error {
        SinkError::TooLarge { bytes } => Failure::Other(format!("the results need more than {bytes} bytes")),
        SinkError::Failed(why) => Failure::Other(why),
    }
}

fn name_of(phase: &PreparedPhase, k: usize) -> String {
    if phase.name.is_empty() { format!("phase {}", k + 1) } else { format!("phase `{}`", phase.name) }
}

/// Active states of machines, with the times at which they were entered.
fn active_states(simulation: &mut Simulation) -> Result<Vec<(usize, String, f64)>, Failure> {
    let program = simulation.program().clone();
    let Some(configuration) = program.configuration.as_ref().filter(|c| !c.regions.is_empty()) else {
        return Ok(Vec::new());
    };
    let name = |text: &str| {
        let inner = text.strip_prefix("activeState(").and_then(|rest| rest.strip_suffix(')'));
        inner.unwrap_or(text).to_owned()
    };
    let found = simulation.examine(|functions| {
        let active = configuration.regions.iter().filter(|r| configuration.switches[r.switch].is_on);
        let of = |r: &saltus_program::Region| {
            (r.machine, name(&configuration.switches[r.switch].text), functions.get(r.entry_time))
        };
        active.map(of).collect()
    })?;
    Ok(found)
}

/// Slots of watched names in the present program.
#[derive(Default)]
struct Places {
    program: Option<Arc<SimProgram>>,
    slots: Vec<Option<SlotId>>,
}

impl Places {
    /// The values of watched names at the present time; not-a-number where they have none.
    fn values(&mut self, simulation: &mut Simulation, watch: &Watch) -> Result<Vec<f64>, Failure> {
        let program = simulation.program().clone();
        if !self.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, &program)) {
            let absent = program.configuration.as_ref().map_or(&[][..], |c| &c.absent);
            let slot = |name: &String| {
                let variable = program.find_variable(name)?;
                absent.binary_search(&variable.slot).is_err().then_some(variable.slot)
            };
            self.slots = watch.names.iter().map(slot).collect();
            self.program = Some(program);
        }
        let slots = &self.slots;
        let values = simulation.examine(|functions| {
            slots.iter().map(|slot| slot.map_or(f64::NAN, |slot| functions.get(slot))).collect()
        })?;
        Ok(values)
    }
}
