//! A simulation: one run of a program that can be stopped, looked at, changed, saved and continued at any time.
//!
//! In: an instance of a program and options. Out: after [`Simulation::initialise`], [`Simulation::advance`] goes on by one step
//! or one event at a time, and never beyond where it is asked to; rows and events go to a [`Sink`] as they are made.
//!
//! A step of the integrator may reach beyond the time that was asked for. Then values come from its dense output, without a
//! trace in what follows: a run that was stopped and continued, or saved and restored, gives the same results as one that was
//! not, bit by bit. Only a change from outside ([`Simulation::set`]) cuts the step off.
//!
//! [`stepping`] makes steps and searches them for events, [`events`] settles those, [`sliding`] follows thresholds, [`changing`] applies what is set from
//! outside, [`recording`] writes rows and records, [`state`] turns all of it into a value.

mod apart;
mod arriving;
mod assertions;
mod bounds;
mod changing;
mod configurations;
mod events;
mod extents;
pub(crate) mod failing;
mod fixing;
mod foresight;
mod guards;
mod impulses;
mod jumping;
mod magnitudes;
mod measuring;
mod proving;
mod quantised;
mod recording;
mod regions;
mod search;
mod sliding;
mod state;
mod stepping;
mod stuck;
mod telling;
mod tunnel;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use saltus_base::Index;
use saltus_numerics::Method;
use saltus_program::{Key, ModelFunctions, Moment, SimProgram, SlotId, Stop};
use serde::{Deserialize, Serialize};

use crate::Options;
use crate::catalogue::Catalogue;
use crate::costs::{Activity, Meter};
use crate::crossing::CrossingSearch;
use crate::error::{Failure, SimError, SimErrorKind};
use crate::event;
use crate::inputs::Signal;
use crate::integration::{self, LoopsAtEnd};
use crate::masking::Masking;
use crate::model::Model;
use crate::options::ZenoPolicy;
use crate::proof::{Ahead, Budget, Detection, Prover};
use crate::quantised::Quantised;
use crate::record::{EventCause, EventKind, EventRecord};
use crate::selection::Selection;
use crate::sink::Sink;
use crate::structure::Structure;
use crate::trajectory::{End, Statistics, Warning, WarningKind};
use crate::witness::Witness;
use crate::zeno::Zeno;
use search::Search;

pub use changing::CannotSet;
pub use configurations::{Configurations, Unmade};
pub use foresight::Foreseen;
pub use state::{CannotRestore, CannotSave, State};

/// One run of a program.
pub struct Simulation {
    program: Arc<SimProgram>,
    options: Options,
    structure: Structure,
    masking: Masking,
    prover: Prover,
    /// The same for the relations of assertions.
    bound_prover: Prover,
    catalogue: Catalogue,
    model: Model,
    selection: Selection,
    driver: Driver,
    /// Instead of the integrator of the driver, if the user asks for it.
    quantised: Option<Box<Quantised>>,
    sink: Option<Box<dyn Sink>>,
    known: configurations::Known,
    stop: Stop,
    /// Set from outside and not applied yet.
    changes: Vec<(SlotId, f64)>,
    /// Inputs that move on from their new values at these rates.
    slopes: Vec<(SlotId, f64)>,
    /// Memory at the present time, if it was asked for.
    view: Option<Vec<f64>>,
    work: Work,
    /// Measures what the run costs, if somebody wants to know.
    meter: Option<Box<Meter>>,
}

/// What a run is about to do and has learnt; part of its state.
#[derive(Clone, Serialize, Deserialize)]
struct Driver {
    phase: Phase,
    /// How far the run has been asked to go and has gone.
    now: f64,
    integrator: Method,
    /// What integrators of other configurations have cost.
    earlier: saltus_numerics::Statistics,
    search: CrossingSearch,
    /// Relations of time alone.
    ahead: Ahead,
    /// By relation.
    detection: Vec<Detection>,
    /// What proof may still cost.
    budget: Budget,
    bounds: bounds::Bounds,
    /// Number of the next equidistant output point.
    next_output: u64,
    /// Time of the last row.
    last_row: Option<f64>,
    /// Memory before the last event.
    before: Vec<f64>,
    /// The same as the program that the run was given numbers it, if the last event has changed the structure: what the present program
    /// does not have any more has a value there.
    left: Option<Vec<f64>>,
    /// The next time event; changes at events only.
    time_event: f64,
    steps_at_event: u64,
    loops_at_end: LoopsAtEnd,
    /// The last event at which a relation was about to change and did not.
    unconfirmed_at: f64,
    zeno: Zeno,
    /// Until when relations are held, because they would not settle down.
    hold: Option<f64>,
    jumps: jumping::Jumps,
    movement: stuck::Movement,
    /// By shown slot: is it infinite, and rightly so?
    infinite: Vec<bool>,
    statistics: Statistics,
    extents: extents::Extents,
    warnings: Vec<Warning>,
    notes: Vec<(f64, String)>,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Phase {
    New,
    /// At the end of a step, or after an event that restarted the integrator.
    Between,
    /// In the last step of the integrator.
    Inside(Pending),
    /// `terminate` was called, or the terminal event is over.
    Over,
}

/// The part of the last step that has not happened yet.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Pending {
    from: f64,
    end: f64,
    retries: u32,
    /// The assertions have been found to hold at its end.
    is_checked: bool,
    next: Option<Next>,
}

/// What comes next in a step.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Next {
    Event(f64, EventKind),
    /// A relation of an assertion changes between these times.
    Bound {
        before: f64,
        at: f64,
    },
    /// Nothing happens up to its end.
    End,
}

/// Storage without meaning between two steps.
#[derive(Default)]
struct Work {
    x: Vec<f64>,
    /// Unknowns of loops at the start of the present step.
    starts: Vec<f64>,
    row: Vec<f64>,
    /// The event that is being settled.
    event: Option<EventRecord>,
    /// The event that was settled last, for the caller of `advance`.
    settled: Option<EventRecord>,
    look: stepping::Look,
    /// Where an assertion has failed that may hold after shorter steps.
    obstacle: Option<assertions::Obstacle>,
    /// Instants of the present step at which assertions have been judged, and held.
    judgements: u32,
}

/// How a run went on.
#[derive(Clone, PartialEq, Debug)]
pub enum Advance {
    /// A step, or a part of one; nothing happened in it.
    Step,
    /// An event has been settled: values are those after it, [`Simulation::left`] has those before it.
    Event(Box<EventRecord>),
    /// The model called `terminate`, with this message.
    Terminated(String),
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

impl Simulation {
    /// A run that has not begun. Its instance should be new, or renewed.
    pub fn new(mut instance: Box<dyn ModelFunctions>, options: Options) -> Self {
        let program = instance.program().clone();
        instance.set_stop(Stop::default());
        let prover = Prover::new(&program, false);
        let bound_prover = Prover::of_bounds(&program, false);
        let ahead = Ahead::new(&program.events.relations, &prover.tape);
        let structure = Structure::of(&program, false, &prover.tape);
        let mut search = CrossingSearch::new(&program);
        search.stops_at_zeno = options.on_zeno != ZenoPolicy::Continue;
        let driver = Driver {
            phase: Phase::New,
            now: options.start_time,
            integrator: integration::choose(&program, &options, &structure),
            earlier: saltus_numerics::Statistics::default(),
            search,
            ahead,
            detection: vec![Detection::default(); program.events.relations.len()],
            budget: Budget::default(),
            bounds: bounds::Bounds::new(&program, &bound_prover),
            next_output: 1,
            last_row: None,
            before: Vec::new(),
            left: None,
            time_event: f64::INFINITY,
            steps_at_event: 0,
            loops_at_end: LoopsAtEnd::default(),
            unconfirmed_at: f64::NEG_INFINITY,
            zeno: Zeno::new(options.on_zeno),
            hold: None,
            jumps: jumping::Jumps::default(),
            movement: stuck::Movement::default(),
            infinite: Vec::new(),
            statistics: Statistics::default(),
            extents: extents::Extents::default(),
            warnings: Vec::new(),
            notes: Vec::new(),
            end: End::StopTime,
        };
        Simulation {
            masking: Masking::new(&program),
            prover,
            bound_prover,
            catalogue: Catalogue::new(&program, &options.recorded),
            model: Model::new(instance),
            selection: Selection::new(program.clone()),
            work: Work { x: vec![0.0; program.states.len()], ..Work::default() },
            program,
            options,
            structure,
            driver,
            quantised: None,
            sink: None,
            known: configurations::Known::default(),
            stop: Stop::default(),
            changes: Vec::new(),
            slopes: Vec::new(),
            view: None,
            meter: None,
        }
    }

    /// Where rows and events go from now on.
    pub fn set_sink(&mut self, sink: Box<dyn Sink>) {
        self.sink = Some(sink);
    }

    /// Who sees every point of the solution from now on.
    pub fn set_witness(&mut self, witness: Box<dyn Witness>) {
        self.model.set_witness(witness);
        self.show_present_slots();
    }

    /// Gives an input its values over time; before [`Simulation::initialise`].
    pub fn set_input(&mut self, slot: SlotId, signal: Signal) -> Result<(), CannotSet> {
        if self.driver.phase != Phase::New {
            return Err(CannotSet::AlreadyBegun);
        }
        self.model.set_input(slot, signal)
    }

    /// Solves the initial system and settles the first event.
    pub fn initialise(&mut self) -> Result<(), SimError> {
        let initialised = self.begin_run();
        initialised.map_err(|failure| self.fail(failure))
    }

    fn begin_run(&mut self) -> Result<(), Failure> {
        match self.driver.phase {
            Phase::New => self.during(Activity::Start, Self::initialise_or_fail),
            _ => Ok(()),
        }
    }

    fn initialise_or_fail(&mut self) -> Result<(), Failure> {
        let start = self.options.start_time;
        if let Some(what) = self.options.mistake() {
            return Err(Failure::new(start, SimErrorKind::BadOptions { what }));
        }
        if self.model.inputs_vary() {
            self.inputs_move();
            self.driver.integrator = integration::choose(&self.program, &self.options, &self.structure);
        }
        self.model.set_mixed_method(self.options.mixed);
        let settled = self.settle_start()?;
        for (message, span) in self.model.undetermined() {
            self.driver.warnings.push(Warning { kind: WarningKind::Undetermined, time: start, message, span });
        }
        self.tell_free(start);
        self.model.remember_event(start);
        self.model.show(Moment::After);
        self.begin_recording(start)?;
        self.write_row(start)?;
        self.check_integers(start)?;
        self.driver.before = self.model.snapshot();
        self.record(start, EventKind::Start, vec![EventCause::Start], settled.rounds, true)?;
        self.driver.phase = Phase::Between;
        if let Some(i) = settled.termination {
            self.terminate(i)?;
            return Ok(());
        }
        self.schedule(start);
        if start < self.options.stop_time {
            self.start_integrator(start, false, false)?;
        }
        self.close_event()
    }

    /// The initial system and the first event, in the configuration that they ask for themselves.
    fn settle_start(&mut self) -> Result<event::Settled, Failure> {
        let changes = std::mem::take(&mut self.changes);
        let start = self.options.start_time;
        let mut search = Search::new(self.key());
        let mut fixed_before = BTreeSet::new();
        // Who looks on sees the start in the right configuration only.
        let mut is_hidden = self.program.configuration.is_some() && self.model.hide(true);
        loop {
            for &(slot, value) in &changes {
                self.model.set_from_outside(slot, value);
            }
            self.begin_states();
            let settled = event::initialise(&self.program, &mut self.model, &self.options);
            let settled = settled.map_err(|failure| self.located(failure));
            let key = self.key();
            if self.stop.is_wanted() {
                settled?;
                return Err(Failure::new(start, SimErrorKind::Interrupted));
            }
            if self.needs_fixing(&settled) {
                let fixed = self.fixed_key();
                search = Search::among(fixed.clone(), &key);
                // What has been fixed in the same way before leads to the same again.
                let is_new = fixed_before.insert(fixed.clone());
                if !is_new || !self.begin_in_one_of(&mut search, Some(fixed.clone())) {
                    // The equations as they are will do, or fail as they did.
                    self.known.given_up.insert(fixed);
                    settled?;
                    self.begin_in(&key)?;
                    self.model.renew();
                }
                continue;
            }
            let settled = match settled {
                // Relations at their thresholds may agree with this configuration all the same.
                Ok(settled) if self.other_key().is_some() => self.settle_entry(start).map(|()| settled),
                settled => settled,
            };
            let asked = match (settled, self.other_key()) {
                (Ok(settled), None) if !is_hidden => return Ok(settled),
                (Ok(_), None) => {
                    is_hidden = self.model.hide(false);
                    self.model.renew();
                    continue;
                }
                (Ok(_), Some(asked)) => {
                    search.disagrees(&key, &asked);
                    search.keep(self.left_here().given_positions());
                    Some(asked)
                }
                (Err(failure), _) if self.program.configuration.is_none() => return Err(failure),
                (Err(failure), _) => {
                    search.fails(&key, failure);
                    None
                }
            };
            if !self.begin_in_one_of(&mut search, asked) {
                return Err(self.no_configuration(start, search));
            }
        }
    }

    /// Takes the next configuration of a search in which a run can begin; false if there is none.
    fn begin_in_one_of(&mut self, search: &mut Search, mut asked: Option<Key>) -> bool {
        let has_machines = self.program.configuration.as_ref().is_some_and(|c| !c.regions.is_empty());
        while let Some(next) = search.next(asked.take(), !has_machines) {
            match self.begin_in(&next) {
                Ok(()) => {
                    self.model.renew();
                    return true;
                }
                Err(failure) => search.fails(&next, failure),
            }
        }
        false
    }

    /// Inputs are functions of time.
    fn inputs_move(&mut self) {
        self.prover = Prover::new(&self.program, true);
        self.driver.ahead = Ahead::new(&self.program.events.relations, &self.prover.tape);
        self.bound_prover = Prover::of_bounds(&self.program, true);
        self.driver.bounds = bounds::Bounds::new(&self.program, &self.bound_prover);
        self.structure = Structure::of(&self.program, true, &self.prover.tape);
    }

    /// Goes on by one step or one event, not beyond `until` and not beyond the stop time.
    pub fn advance(&mut self, until: f64) -> Result<Advance, SimError> {
        if self.stop.is_wanted() {
            return Err(self.stop(SimErrorKind::Interrupted));
        }
        let advanced = self.begin_run().and_then(|()| self.advance_or_fail(self.end_within(until)));
        advanced.map_err(|failure| self.fail(failure))
    }

    /// Goes on up to `until` (or the stop time), or until the model ends by itself: then its message.
    pub fn advance_to(&mut self, until: f64) -> Result<Option<String>, SimError> {
        loop {
            match self.advance(until)? {
                Advance::Terminated(message) => return Ok(Some(message)),
                Advance::Step | Advance::Event(_) if self.driver.now >= self.end_within(until) => return Ok(None),
                Advance::Step | Advance::Event(_) => {}
            }
        }
    }

    /// Lets the run go on beyond its stop time, up to this one.
    pub fn extend(&mut self, stop_time: f64) {
        if stop_time > self.options.stop_time {
            self.options.stop_time = stop_time;
            self.driver.next_output = self.options.first_output_after(self.driver.now);
        }
    }

    /// Ends the run soon after the flag is set, also in the middle of an initialisation or an event.
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.stop.add(flag);
        self.model.set_stop(self.stop.clone());
    }

    /// The event at which `terminal()` is true, at the present time.
    pub fn finish(&mut self) -> Result<(), SimError> {
        self.end_or_fail().map_err(|failure| self.fail(failure))
    }

    /// Has it been initialised?
    pub fn has_begun(&self) -> bool {
        self.driver.phase != Phase::New
    }

    /// Is there nothing more to come?
    pub fn is_over(&self) -> bool {
        self.driver.phase == Phase::Over || self.driver.phase != Phase::New && self.driver.now >= self.end_time()
    }

    pub fn program(&self) -> &Arc<SimProgram> {
        &self.program
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How far it has gone.
    pub fn time(&self) -> f64 {
        self.driver.now
    }

    /// A value at the present time. What was set is what it was set to, whatever depends on it is as before until the run goes on.
    pub fn get(&mut self, slot: SlotId) -> Result<f64, SimError> {
        if let Some(value) = self.pending(slot) {
            return Ok(value);
        }
        Ok(self.values()?.get(slot.index()).copied().unwrap_or(f64::NAN))
    }

    /// All values at the present time, by slot.
    pub fn values(&mut self) -> Result<&[f64], SimError> {
        if self.view.is_none() {
            let memory = self.examine(|instance| instance.memory().to_vec())?;
            self.view = Some(self.at_home(&memory));
        }
        Ok(self.view.as_deref().unwrap_or_default())
    }

    /// Lets `look` work with the instance, evaluated at the present time. What it does there leaves no trace.
    pub fn examine<R>(&mut self, look: impl FnOnce(&mut dyn ModelFunctions) -> R) -> Result<R, SimError> {
        self.model.checkpoint();
        let evaluated = if self.is_at_rest() { Ok(()) } else { self.go_to(self.driver.now) };
        let result = evaluated.map(|()| look(&mut self.model));
        self.model.rollback();
        result.map_err(|failure| self.fail(failure))
    }

    /// Is the memory that of the present point, with no integrator that goes on from it?
    fn is_at_rest(&self) -> bool {
        matches!(self.driver.phase, Phase::New | Phase::Over) || self.options.start_time >= self.options.stop_time
    }

    /// Does the model slide along a threshold? Then its derivatives are a mean of those on both sides.
    pub fn is_sliding(&self) -> bool {
        self.model.is_sliding()
    }

    /// A value before the last event; not a number if quantised states left it unknown.
    pub fn left(&self, slot: SlotId) -> f64 {
        if let Some(engine) = &self.quantised {
            return self.left_quantised(engine, slot);
        }
        let value = match &self.driver.left {
            Some(left) => left.get(slot.index()).copied(),
            None => self.at_home(&self.driver.before).get(slot.index()).copied(),
        };
        value.unwrap_or(f64::NAN)
    }

    pub fn progress(&self) -> Progress {
        Progress {
            time: self.driver.now,
            start_time: self.options.start_time,
            stop_time: self.options.stop_time,
            steps: self.cost().steps,
            events: self.driver.statistics.events,
        }
    }

    /// Violated assertions of level warning and other remarks so far.
    pub fn warnings(&self) -> &[Warning] {
        &self.driver.warnings
    }

    /// What was done that the model does not say, each once.
    pub fn notes(&self) -> &[(f64, String)] {
        &self.driver.notes
    }

    pub fn end(&self) -> &End {
        &self.driver.end
    }

    fn cost(&self) -> saltus_numerics::Statistics {
        let quantised = self.quantised.as_ref().map(|engine| engine.statistics()).unwrap_or_default();
        self.driver.earlier + self.driver.integrator.statistics() + quantised
    }

    /// What the run has cost so far.
    pub fn statistics(&self) -> Statistics {
        let cost = self.cost();
        Statistics {
            steps: cost.steps,
            rejected_steps: cost.rejected,
            derivative_evaluations: cost.evaluations,
            jacobian_evaluations: cost.jacobians,
            difference_jacobians: cost.difference_jacobians,
            difference_calls: self.model.derivative_statistics().difference_calls,
            factorisations: cost.factorisations,
            crossing_evaluations: self.driver.search.evaluations
                + self.quantised.as_ref().map_or(0, |engine| engine.renewals),
            restarts: cost.restarts,
            method_switches: cost.switches,
            loops: self.model.loop_statistics() + self.driver.statistics.loops,
            ..self.driver.statistics
        }
    }

    /// Functions that could be differentiated by differences only.
    pub fn difference_functions(&self) -> Vec<String> {
        self.model.derivative_statistics().difference_functions
    }

    /// Time that went into making machine code so far.
    pub fn compile_time(&self) -> std::time::Duration {
        self.model.compile_time()
    }

    /// Gives the instance back, for another run.
    pub fn into_instance(mut self) -> Box<dyn ModelFunctions> {
        let (key, mut known) = (self.key(), std::mem::take(&mut self.known));
        let (home, other) = match known.take_home() {
            Some(home) => (home, Some((key, self.model.into_inner()))),
            None => (self.model.into_inner(), None),
        };
        known.give_back(other);
        home
    }

    /// An error of the kind at the present time, as the caller of [`Simulation::advance`] may have reasons of its own to stop.
    pub fn stop(&mut self, kind: SimErrorKind) -> SimError {
        self.fail(Failure::new(self.driver.now, kind))
    }

    fn fail(&mut self, failure: Failure) -> SimError {
        // What was recorded until then is not lost; the failure itself is what the caller needs to know.
        let _ = self.close_event();
        // What fails after that fails because it was told to.
        let failure =
            if self.stop.is_wanted() { Failure::new(failure.time, SimErrorKind::Interrupted) } else { failure };
        let Failure { time, kind, span, details, .. } = failure;
        SimError { time, kind, span, details, partial: Box::default() }
    }
}

/// A simulation can go to another thread.
const _: () = {
    const fn sent<T: Send>() {}
    sent::<Simulation>();
};
