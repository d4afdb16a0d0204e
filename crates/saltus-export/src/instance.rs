//! What an instance of an FMU does, whatever the version of the interface.
//!
//! In: the directory `resources` of an FMU and calls in the order of the standard. Out: values; what goes wrong is a [`Severity`], with the
//! reason in the log. Nothing here knows C.
//!
//! ```text
//! Instantiated ─► Initialisation ─► Events ⇄ Continuous    model exchange: somebody else integrates
//!                                ├► Step (⇄ Events)        co-simulation: we do
//!                                └► Partitions             scheduled execution: nothing is integrated, clocks tick
//! ```

mod clocks;
mod derivatives;
mod exchange;
mod saved;
mod stepping;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use saltus::pipeline::{Engine, Experiment};
use saltus::{Model, Permissions, Simulation};
use saltus_program::{Activation, SlotId, SlotKind, SlotType};
use saltus_sim::{Exchange, Options, SimError};
use serde::{Deserialize, Serialize};

use crate::carried::CarriedFiles;
use crate::package::{MODEL_FILE, token_of};
use crate::references::{References, Target};

pub use exchange::Update;
pub use saved::Saved;
pub use stepping::{Intermediate, Stepped};

/// How an instance is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    ModelExchange,
    CoSimulation,
    ScheduledExecution,
}

/// How bad it is. The caller gets the reason from the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Ok,
    Warning,
    /// Other values may do.
    Discard,
    Error,
    Fatal,
}

/// A message for the importer.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub severity: Severity,
    pub category: &'static str,
    pub message: String,
}

/// Categories of messages; the names of the standard where it has one.
pub const CATEGORIES: [(&str, &str); 3] = [
    ("logStatusWarning", "Assertions of level warning, and other remarks"),
    ("logStatusDiscard", "Points at which the model cannot be evaluated"),
    ("logStatusError", "What ends the simulation, with the line of the model"),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Phase {
    Instantiated,
    Initialisation,
    Events,
    Continuous,
    Step,
    Partitions,
    Terminated,
    /// Only reset, restoring a state and the end of the instance are left.
    Failed,
}

#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
struct Times {
    start: Option<f64>,
    stop: Option<f64>,
    tolerance: Option<f64>,
}

/// What is part of a state besides the run.
#[derive(Clone, Serialize, Deserialize)]
struct Book {
    phase: Phase,
    times: Times,
    /// Values that were set before the end of the initialisation.
    starts: BTreeMap<SlotId, f64>,
    /// Values for the next step or event, with the rates of inputs that have one.
    pending: BTreeMap<SlotId, (f64, Option<f64>)>,
    /// Inputs as they were set last.
    inputs: BTreeMap<SlotId, f64>,
    /// The initial system has been solved with the present starts.
    is_initialised: bool,
    /// What the last event did, until somebody asks.
    happened: Option<exchange::Update>,
    /// Before event mode is entered an event shows its left limits.
    shows_left: bool,
    clocks: clocks::Ticks,
}

enum Run {
    New,
    Exchange(Box<Exchange>),
    Simulation(Box<Simulation>),
}

pub struct Instance {
    model: Arc<Model>,
    references: References,
    kind: Kind,
    /// Events are handled in event mode, and steps end at them.
    uses_event_mode: bool,
    book: Book,
    run: Run,
    /// Values before the initialisation, once somebody asks.
    defaults: Option<Vec<f64>>,
    log: Vec<Entry>,
    n_told: usize,
    work: Vec<f64>,
    /// Of the program, once a state was asked for.
    fingerprint: OnceCell<u64>,
}

impl Instance {
    /// Reads the model from the directory `resources`; `token` is the one of the model description.
    pub fn new(resources: &Path, token: &str, kind: Kind) -> Result<Instance, String> {
        let path = resources.join(MODEL_FILE);
        let bytes = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let expected = token_of(&bytes);
        if token != expected {
            return Err(format!("the FMU has the token {expected}, not {token}"));
        }
        let model = Model::from_bytes(&bytes).map_err(|why| format!("{}: {why}", path.display()))?;
        let model = Arc::new(model.with_files(Arc::new(CarriedFiles::new(resources))));
        if kind == Kind::ModelExchange && model.program().changes_structure() {
            return Err("the structure of the model changes: it can be used in co-simulation only".to_owned());
        }
        if kind == Kind::ScheduledExecution
            && let Some(why) = crate::package::unschedulable(&model)
        {
            return Err(format!("the FMU has no interface for scheduled execution: {why}"));
        }
        Ok(Instance::of(model, kind))
    }

    pub fn of(model: Arc<Model>, kind: Kind) -> Instance {
        Instance {
            references: References::new(&model),
            model,
            kind,
            uses_event_mode: false,
            book: Book {
                phase: Phase::Instantiated,
                times: Times::default(),
                starts: BTreeMap::new(),
                pending: BTreeMap::new(),
                inputs: BTreeMap::new(),
                is_initialised: false,
                happened: None,
                shows_left: false,
                clocks: clocks::Ticks::default(),
            },
            run: Run::New,
            defaults: None,
            log: Vec::new(),
            n_told: 0,
            work: Vec::new(),
            fingerprint: OnceCell::new(),
        }
    }

    pub fn use_event_mode(&mut self) {
        self.uses_event_mode = true;
    }

    pub fn references(&self) -> &References {
        &self.references
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Messages since this was asked last.
    pub fn take_log(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.log)
    }

    pub fn n_states(&self) -> usize {
        self.model.program().states.len()
    }

    fn say(&mut self, severity: Severity, message: String) -> Severity {
        let category = match severity {
            Severity::Ok | Severity::Warning => CATEGORIES[0].0,
            Severity::Discard => CATEGORIES[1].0,
            Severity::Error | Severity::Fatal => CATEGORIES[2].0,
        };
        self.log.push(Entry { severity, category, message });
        severity
    }

    /// The caller did what is not allowed now.
    fn refuse(&mut self, what: &str) -> Severity {
        let phase = self.book.phase;
        self.say(Severity::Error, format!("{what} is not possible in the phase {phase:?}"))
    }

    /// A message with the line of the model.
    fn text_of(&self, error: &SimError) -> String {
        let place = self.model.sources().location(error.span).map_or(String::new(), |place| format!("{place}: "));
        let notes: String = error.details.notes.iter().map(|note| format!("; {note}")).collect();
        format!("{place}{error}{notes}")
    }

    /// The model cannot go on.
    fn fail(&mut self, error: &SimError) -> Severity {
        self.book.phase = Phase::Failed;
        let text = self.text_of(error);
        self.say(Severity::Error, text)
    }

    /// The model cannot be evaluated here; elsewhere it may.
    fn discard(&mut self, error: &SimError) -> Severity {
        if self.book.phase != Phase::Continuous {
            return self.fail(error);
        }
        let text = self.text_of(error);
        self.say(Severity::Discard, text)
    }

    /// Hands on what the model has to say; the severity of the call.
    fn tell_warnings(&mut self) -> Severity {
        let warnings = match &mut self.run {
            Run::New => Vec::new(),
            Run::Exchange(exchange) => exchange.take_warnings(),
            Run::Simulation(simulation) => {
                let new = simulation.warnings().get(self.n_told..).unwrap_or_default().to_vec();
                self.n_told = simulation.warnings().len();
                new
            }
        };
        let mut severity = Severity::Ok;
        let sources = if warnings.is_empty() { None } else { Some(self.model.sources()) };
        for warning in warnings {
            let place = sources.as_ref().and_then(|s| s.location(warning.span));
            let place = place.map_or(String::new(), |place| format!("{place}: "));
            let text = format!("{place}{} (at {} s)", warning.message, warning.time);
            severity = self.say(Severity::Warning, text);
        }
        severity
    }

    /// The times of the simulation; before the initialisation.
    pub fn set_times(&mut self, start: f64, stop: Option<f64>, tolerance: Option<f64>) -> Result<(), Severity> {
        if self.book.phase != Phase::Instantiated {
            return Err(self.refuse("setting up the experiment"));
        }
        if !start.is_finite() || stop.is_some_and(f64::is_nan) || tolerance.is_some_and(f64::is_nan) {
            return Err(self.say(Severity::Error, "times and the tolerance of an experiment are numbers".to_owned()));
        }
        self.book.times = Times { start: Some(start), stop, tolerance };
        Ok(())
    }

    pub fn enter_initialisation(&mut self) -> Result<(), Severity> {
        if self.book.phase != Phase::Instantiated {
            return Err(self.refuse("initialisation mode"));
        }
        self.book.phase = Phase::Initialisation;
        self.book.is_initialised = false;
        Ok(())
    }

    pub fn exit_initialisation(&mut self) -> Result<(), Severity> {
        if self.book.phase != Phase::Initialisation {
            return Err(self.refuse("leaving initialisation mode"));
        }
        self.initialise()?;
        self.forget_ticks();
        self.book.phase = match self.kind {
            Kind::CoSimulation if !self.uses_event_mode => Phase::Step,
            Kind::ModelExchange | Kind::CoSimulation => Phase::Events,
            Kind::ScheduledExecution => Phase::Partitions,
        };
        match self.tell_warnings() {
            Severity::Ok => Ok(()),
            warning => Err(warning),
        }
    }

    fn experiment(&self) -> Experiment {
        let Times { start, stop, tolerance } = self.book.times;
        Experiment { start_time: start, stop_time: stop, tolerance, ..Experiment::default() }
    }

    /// Solves the initial system, unless that has been done with the present values.
    fn initialise(&mut self) -> Result<(), Severity> {
        if std::mem::replace(&mut self.book.is_initialised, true) {
            return Ok(());
        }
        self.n_told = 0;
        let starts: Vec<(SlotId, f64)> = self.book.starts.iter().map(|(&slot, &value)| (slot, value)).collect();
        self.book.inputs = self.book.starts.clone();
        let started = match self.kind {
            Kind::ModelExchange | Kind::ScheduledExecution => self.initialise_exchange(&starts),
            Kind::CoSimulation => self.initialise_simulation(&starts),
        };
        match started {
            Ok(update) => {
                self.book.happened = Some(update);
                Ok(())
            }
            Err(error) => Err(self.fail(&error)),
        }
    }

    fn initialise_exchange(&mut self, starts: &[(SlotId, f64)]) -> Result<Update, Box<SimError>> {
        let options = self.experiment().settings(self.model.program());
        let exchange = self.exchange_with(options);
        let happened = exchange.initialise(starts)?;
        let next = exchange.next_event_time();
        Ok(Update::new(happened.terminated, false, next))
    }

    fn exchange_with(&mut self, options: Options) -> &mut Exchange {
        if !matches!(self.run, Run::Exchange(_)) {
            let instance = self.model.instance(Engine::Auto, permissions());
            self.run = Run::Exchange(Box::new(Exchange::new(instance, options.clone())));
        }
        match &mut self.run {
            Run::Exchange(exchange) => {
                exchange.set_options(options);
                exchange
            }
            Run::New | Run::Simulation(_) => unreachable!("it has just been made"),
        }
    }

    fn initialise_simulation(&mut self, starts: &[(SlotId, f64)]) -> Result<Update, Box<SimError>> {
        let mut simulation = self.new_simulation();
        for &(slot, value) in starts {
            // Only parameters and inputs are among them.
            let _ = saltus_sim::Simulation::set(&mut simulation, slot, value);
        }
        simulation.initialise()?;
        // The event of the start belongs to the initialisation.
        let start = simulation.time();
        simulation.advance(start)?;
        let terminated = match simulation.end() {
            saltus_sim::End::Terminated { message } => Some(message.clone()),
            saltus_sim::End::StopTime => None,
        };
        self.run = Run::Simulation(Box::new(simulation));
        Ok(Update::new(terminated, false, f64::INFINITY))
    }

    fn new_simulation(&self) -> Simulation {
        Simulation::with(self.model.clone(), &self.experiment(), Engine::Auto, permissions())
    }

    /// Ends the run; `terminal()` is true for a last event.
    pub fn terminate(&mut self) -> Result<(), Severity> {
        if matches!(self.book.phase, Phase::Instantiated | Phase::Terminated) {
            return Err(self.refuse("termination"));
        }
        let was_running = !matches!(self.book.phase, Phase::Initialisation | Phase::Failed);
        self.book.phase = Phase::Terminated;
        if !was_running {
            return Ok(());
        }
        let finished = match &mut self.run {
            Run::New => Ok(()),
            Run::Exchange(exchange) => exchange.finish(),
            Run::Simulation(simulation) => simulation.finish(),
        };
        finished.map_err(|error| self.fail(&error))
    }

    /// As just instantiated.
    pub fn reset(&mut self) {
        let Instance { model, kind, uses_event_mode, .. } = self;
        let (model, kind, uses_event_mode) = (model.clone(), *kind, *uses_event_mode);
        // What was compiled is kept.
        let run = match std::mem::replace(&mut self.run, Run::New) {
            Run::Exchange(mut exchange) => {
                exchange.renew();
                Run::Exchange(exchange)
            }
            Run::New | Run::Simulation(_) => Run::New,
        };
        let log = std::mem::take(&mut self.log);
        *self = Instance { uses_event_mode, log, run, ..Instance::of(model, kind) };
    }

    /// Appends the values of a variable.
    pub fn get(&mut self, reference: u32, out: &mut Vec<f64>) -> Result<(), Severity> {
        match self.references.target(reference) {
            None => {
                Err(self.say(Severity::Error, format!("there is no variable with the value reference {reference}")))
            }
            Some(Target::Time) => {
                out.push(self.time());
                Ok(())
            }
            Some(Target::Slot(slot)) => {
                let value = self.value(slot)?;
                out.push(value);
                Ok(())
            }
            Some(Target::Group(slots)) => {
                let slots = slots.to_vec();
                for slot in slots {
                    let value = self.value(slot)?;
                    out.push(value);
                }
                Ok(())
            }
            Some(Target::Indicator(i)) => {
                let value = self.indicator(i)?;
                out.push(value);
                Ok(())
            }
            Some(Target::Text(_)) => {
                Err(self.say(Severity::Error, format!("the variable with the value reference {reference} is a text")))
            }
            Some(Target::Clock(_)) => {
                Err(self.say(Severity::Error, format!("the variable with the value reference {reference} is a clock")))
            }
        }
    }

    /// One of the event indicators; in co-simulation, where nobody needs it, the crossing function without its shift.
    fn indicator(&mut self, i: usize) -> Result<f64, Severity> {
        if self.kind == Kind::CoSimulation {
            let relation = self.model.program().events.relations.values().nth(i).map(|r| r.crossing);
            return relation.map_or(Ok(1.0), |slot| self.value(slot));
        }
        let mut work = std::mem::take(&mut self.work);
        work.resize(self.references.n_indicators(), 0.0);
        let read = self.indicators(&mut work);
        let value = work.get(i).copied().unwrap_or(f64::NAN);
        self.work = work;
        read.map(|()| value)
    }

    /// The type of the values of a variable; `None` for a text and for what does not exist.
    pub fn type_of(&self, reference: u32) -> Option<SlotType> {
        match self.references.target(reference)? {
            Target::Time | Target::Indicator(_) => Some(SlotType::Real),
            Target::Slot(slot) => Some(self.references.type_of(slot)),
            Target::Group(slots) => slots.first().map(|&slot| self.references.type_of(slot)),
            Target::Text(_) | Target::Clock(_) => None,
        }
    }

    /// The value of a text.
    pub fn text(&mut self, reference: u32) -> Result<String, Severity> {
        match self.references.target(reference) {
            Some(Target::Text(text)) => Ok(text.to_owned()),
            _ => Err(self.say(Severity::Error, format!("there is no text with the value reference {reference}"))),
        }
    }

    pub fn time(&self) -> f64 {
        match &self.run {
            Run::New => self.experiment().settings(self.model.program()).start_time,
            Run::Exchange(exchange) => exchange.time(),
            Run::Simulation(simulation) => simulation.time(),
        }
    }

    fn value(&mut self, slot: SlotId) -> Result<f64, Severity> {
        self.settle_ticks()?;
        if let Some((value, _)) = self.book.pending.get(&slot) {
            return Ok(*value);
        }
        match self.book.phase {
            Phase::Instantiated => return Ok(self.default_of(slot)),
            Phase::Initialisation => match self.book.starts.get(&slot) {
                Some(&value) => return Ok(value),
                None => self.initialise()?,
            },
            _ => {}
        }
        let value = match &mut self.run {
            Run::New => return Ok(self.default_of(slot)),
            Run::Exchange(exchange) => exchange.get(slot),
            Run::Simulation(simulation) if self.book.shows_left => Ok(simulation.left(slot)),
            Run::Simulation(simulation) => saltus_sim::Simulation::get(simulation, slot),
        };
        value.map_err(|error| self.discard(&error))
    }

    /// Until the end of the initialisation a state stands for its start value.
    fn start_or_self(&self, slot: SlotId) -> SlotId {
        match self.book.phase {
            Phase::Instantiated | Phase::Initialisation => self.references.start_of(slot).unwrap_or(slot),
            _ => slot,
        }
    }

    /// What a parameter or an input is before the initialisation.
    fn default_of(&mut self, slot: SlotId) -> f64 {
        let slot = self.start_or_self(slot);
        if let Some(&value) = self.book.starts.get(&slot) {
            return value;
        }
        let memory = self.defaults.get_or_insert_with(|| default_values(&self.model));
        memory.get(saltus_base::Index::index(slot)).copied().unwrap_or(f64::NAN)
    }

    /// Sets the values of a variable, as many as it has elements; how many these are.
    pub fn set(&mut self, reference: u32, values: &[f64]) -> Result<usize, Severity> {
        let slots = match self.references.target(reference) {
            Some(Target::Slot(slot)) => vec![slot],
            Some(Target::Group(slots)) => slots.to_vec(),
            _ => {
                return Err(
                    self.say(Severity::Error, format!("nothing can be set under the value reference {reference}"))
                );
            }
        };
        if values.len() < slots.len() {
            let text = format!("the variable with the value reference {reference} has {} elements", slots.len());
            return Err(self.say(Severity::Error, text));
        }
        for (&slot, &value) in slots.iter().zip(values) {
            self.set_slot(slot, value)?;
        }
        Ok(slots.len())
    }

    fn set_slot(&mut self, slot: SlotId, value: f64) -> Result<(), Severity> {
        let slot = self.start_or_self(slot);
        let kind = self.model.program().memory.slots.get(slot).map(|s| s.kind);
        let is_state = kind == Some(SlotKind::State) && matches!(self.book.phase, Phase::Events | Phase::Continuous);
        let range = self.references.range(slot);
        if range.is_none() && !is_state {
            let name = self.name_of(slot);
            return Err(self.say(Severity::Error, format!("`{name}` cannot be set: it is computed by the model")));
        }
        let refusal = range.map_or_else(|| value.is_nan().then(|| "is not a number".to_owned()), |r| r.refusal(value));
        if let Some(why) = refusal {
            let name = self.name_of(slot);
            return Err(self.say(Severity::Error, format!("`{name}` cannot be set to {value}, which {why}")));
        }
        match self.book.phase {
            Phase::Instantiated | Phase::Initialisation => {
                if self.book.starts.insert(slot, value) != Some(value) {
                    self.book.is_initialised = false;
                }
                Ok(())
            }
            Phase::Events | Phase::Continuous | Phase::Step | Phase::Partitions => {
                self.set_running(slot, value, kind == Some(SlotKind::Input));
                Ok(())
            }
            Phase::Terminated | Phase::Failed => Err(self.refuse("setting a value")),
        }
    }

    fn name_of(&self, slot: SlotId) -> String {
        self.model.program().memory.slot_name(slot).into_owned()
    }

    fn set_running(&mut self, slot: SlotId, value: f64, is_input: bool) {
        match &mut self.run {
            Run::Exchange(exchange) => {
                let is_other = value_in_memory(exchange, slot) != value;
                exchange.set(slot, value);
                // In event mode another value is another event.
                if is_other && self.book.phase == Phase::Events {
                    self.book.happened = None;
                }
            }
            Run::New | Run::Simulation(_) => {
                let is_same = is_input && self.book.inputs.insert(slot, value) == Some(value);
                if !is_same || self.book.pending.contains_key(&slot) {
                    self.book.pending.insert(slot, (value, None));
                }
            }
        }
    }
}

/// The value in memory, without an evaluation: of parameters, inputs and states.
fn value_in_memory(exchange: &mut Exchange, slot: SlotId) -> f64 {
    exchange.get(slot).unwrap_or(f64::NAN)
}

/// An FMU reads its own files and calls no code but its own.
fn permissions() -> Permissions {
    Permissions { prints_to_stderr: true, ..Permissions::default() }
}

/// Values of parameters and inputs that nobody has set.
pub fn default_values(model: &Model) -> Vec<f64> {
    let mut instance = model.instance(Engine::Interpreter, permissions());
    // What cannot be computed is not a number.
    let _ = instance.eval(Activation::Parameters);
    instance.memory().to_vec()
}

/// Refusals of arguments.
impl Instance {
    pub fn cannot_hold(&mut self, reference: u32, value: f64) -> Severity {
        self.say(Severity::Error, format!("the value {value} under the reference {reference} does not fit its type"))
    }

    pub fn refuse_count(&mut self, n: usize) -> Severity {
        self.say(Severity::Error, format!("{n} values are not as many as the variables have elements"))
    }

    pub fn refuse_text(&mut self) -> Severity {
        self.say(Severity::Error, "texts are part of the compiled model".to_owned())
    }

    pub fn refuse_order(&mut self, order: i32) -> Severity {
        self.say(Severity::Error, format!("there are no derivatives of order {order}"))
    }

    pub fn refuse_state(&mut self, why: &str) -> Severity {
        self.say(Severity::Error, format!("the state cannot be used: {why}"))
    }

    pub fn refuse_absent(&mut self, what: &str) -> Severity {
        self.say(Severity::Error, format!("{what} is not supported by this FMU"))
    }
}
