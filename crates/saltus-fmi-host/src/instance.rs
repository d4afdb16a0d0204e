//! One instance of an FMU: the functions of the standard, with failures as errors that name it.

use std::cell::Cell;
use std::ffi::{CString, c_char};
use std::sync::Arc;

use saltus_fmi::{Causality, Kind, ModelDescription, Type, Version};

use crate::error::{HostError, HostResult};
use crate::fmu::{Fmu, Loaded};
use crate::instance2::Calls2;
use crate::instance3::Calls3;
use crate::log::{LogBook, LogLine, Status};

/// How an instance is made.
#[derive(Clone, Copy, Default, Debug)]
pub struct Settings {
    /// The FMU logs everything, not only what goes wrong.
    pub verbose: bool,
    /// Co-simulation of 3.0: events are handled by us, where the FMU can do that.
    pub event_mode: bool,
    /// Co-simulation of 3.0: steps may end early.
    pub early_return: bool,
}

/// What the update of discrete states has found.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Discrete {
    pub needs_update: bool,
    pub terminate: bool,
    pub states_changed: bool,
    pub next: Option<f64>,
}

/// How far a step of co-simulation came.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    pub reached: f64,
    pub event: bool,
    pub terminate: bool,
}

/// What an FMU says about the interval of a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interval {
    NotYetKnown,
    Unchanged,
    Changed,
}

/// Why a call did not succeed.
pub(crate) enum Problem {
    Missing(&'static str),
    Status(Status, &'static str),
}

pub(crate) type Called<T = ()> = Result<T, Problem>;

/// A status as a result.
pub(crate) fn called(function: &'static str, code: i32) -> Called {
    match Status::new(code) {
        Status::Ok | Status::Warning => Ok(()),
        status => Err(Problem::Status(status, function)),
    }
}

/// The functions that both versions have, on one component.
pub(crate) trait Calls: Send {
    fn enter_initialization(&self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Called;
    fn exit_initialization(&self) -> Called;
    fn terminate(&self) -> Called;
    fn get(&self, kind: Type, reference: u32, values: &mut [f64]) -> Called;
    fn set(&self, kind: Type, reference: u32, values: &[f64]) -> Called;
    fn get_string(&self, reference: u32) -> Called<String>;
    fn set_strings(&self, reference: u32, texts: &[*const c_char]) -> Called;
    fn enter_event_mode(&self) -> Called;
    fn update_discrete_states(&self) -> Called<Discrete>;
    fn enter_continuous_time_mode(&self) -> Called;
    fn enter_step_mode(&self) -> Called;
    /// Whether an event is wanted, and whether to stop.
    fn completed_step(&self) -> Called<(bool, bool)>;
    fn set_time(&self, time: f64) -> Called;
    fn set_states(&self, states: &[f64]) -> Called;
    fn states(&self, states: &mut [f64]) -> Called;
    fn derivatives(&self, derivatives: &mut [f64]) -> Called;
    fn indicators(&self, indicators: &mut [f64]) -> Called;
    fn do_step(&self, time: f64, step: f64) -> Called<Progress>;
    fn directional(&self, unknowns: &[u32], knowns: &[u32], seed: &[f64], result: &mut [f64]) -> Called;
    fn state(&self) -> Called<Vec<u8>>;
    fn set_state(&self, bytes: &[u8]) -> Called;

    // 3.0 only.
    fn enter_configuration(&self) -> Called {
        Err(Problem::Missing("fmi3EnterConfigurationMode"))
    }

    fn exit_configuration(&self) -> Called {
        Err(Problem::Missing("fmi3ExitConfigurationMode"))
    }

    fn interval(&self, _reference: u32) -> Called<(f64, Interval)> {
        Err(Problem::Missing("fmi3GetIntervalDecimal"))
    }

    fn shift(&self, _reference: u32) -> Called<f64> {
        Err(Problem::Missing("fmi3GetShiftDecimal"))
    }

    /// Scheduled execution: output clocks are looked at when the FMU says that they have ticked.
    fn watch_clocks(&self, _log: &LogBook, _references: Vec<u32>) {}

    fn activate(&self, _reference: u32, _time: f64) -> Called {
        Err(Problem::Missing("fmi3ActivateModelPartition"))
    }

    /// Frees the component; no other call follows.
    fn free(&self);
}

/// An instance; dropped, it is terminated and freed.
pub struct Instance {
    pub name: String,
    pub kind: Kind,
    fmu: Arc<Fmu>,
    /// The description with the structural parameters of this instance, where they are not the usual ones.
    structured: Option<Box<ModelDescription>>,
    calls: Box<dyn Calls>,
    /// Before the library is closed, the component is freed; before the log goes, too.
    log: Box<LogBook>,
    _loaded: Loaded,
    is_running: bool,
    /// After a fatal error no function may be called.
    is_dead: Cell<bool>,
}

impl Instance {
    /// Loads the binary and makes an instance: foreign code runs from here on.
    pub fn new(fmu: Arc<Fmu>, kind: Kind, name: &str, settings: Settings) -> HostResult<Instance> {
        let loaded = fmu.load(kind)?;
        let log = Box::new(LogBook::default());
        let model = &fmu.document.model;
        let texts = [text(name), text(&model.token)];
        let resources = loaded.resources();
        let calls: Option<Box<dyn Calls>> = match model.version {
            Version::V2 => Calls2::new(&loaded.library, kind, &texts, &resources, &log, settings)
                .map_err(|function| missing(name, function))?
                .map(|c| Box::new(c) as Box<dyn Calls>),
            Version::V3 => Calls3::new(&loaded.library, kind, &texts, &resources, &log, settings)
                .map_err(|function| missing(name, function))?
                .map(|c| Box::new(c) as Box<dyn Calls>),
        };
        let Some(calls) = calls else {
            return Err(HostError::NotInstantiated { instance: name.to_owned(), log: log.take() });
        };
        let (name, is_running, is_dead) = (name.to_owned(), false, Cell::new(false));
        let instance = Instance { name, kind, fmu, structured: None, calls, log, _loaded: loaded, is_running, is_dead };
        if kind == Kind::ScheduledExecution {
            let clocks = instance.model().variables.iter().filter(|v| v.kind == Type::Clock);
            let outputs: Vec<u32> = clocks.filter(|v| v.causality == Causality::Output).map(|v| v.reference).collect();
            instance.calls.watch_clocks(&instance.log, outputs);
        }
        Ok(instance)
    }

    /// Gives structural parameters other values, before the initialisation.
    pub fn configure(&mut self, values: &[(usize, Vec<f64>)]) -> HostResult {
        self.call(|c| c.enter_configuration())?;
        for (variable, values) in values {
            self.set(*variable, values)?;
        }
        self.call(|c| c.exit_configuration())?;
        self.structured = Some(Box::new(self.fmu.document.model.with_structure(values)));
        Ok(())
    }

    pub fn fmu(&self) -> &Arc<Fmu> {
        &self.fmu
    }

    /// Arrays have the sizes that they have in this instance.
    pub fn model(&self) -> &ModelDescription {
        self.structured.as_deref().unwrap_or(&self.fmu.document.model)
    }

    /// What it has logged since the last time.
    pub fn take_log(&self) -> Vec<LogLine> {
        self.log.take()
    }

    fn call<T>(&self, call: impl FnOnce(&dyn Calls) -> Called<T>) -> HostResult<T> {
        if self.is_dead.get() {
            return Err(self.refused("it has failed before"));
        }
        call(&*self.calls).map_err(|problem| match problem {
            Problem::Missing(function) => missing(&self.name, function),
            Problem::Status(status, function) => {
                self.is_dead.set(self.is_dead.get() || status == Status::Fatal);
                HostError::Failed { instance: self.name.clone(), function, status, log: self.log.take() }
            }
        })
    }

    pub(crate) fn refused(&self, reason: impl Into<String>) -> HostError {
        HostError::Refused { instance: self.name.clone(), reason: reason.into() }
    }

    /// Fails if one of the values is not a number.
    fn checked(&self, values: &[f64], what: impl Fn(usize) -> String) -> HostResult {
        match values.iter().position(|v| v.is_nan()) {
            Some(at) => {
                Err(HostError::NotANumber { instance: self.name.clone(), what: what(at), log: self.log.take() })
            }
            None => Ok(()),
        }
    }

    pub fn enter_initialization(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> HostResult {
        self.call(|c| c.enter_initialization(tolerance, start, stop))
    }

    pub fn exit_initialization(&mut self) -> HostResult {
        self.call(|c| c.exit_initialization())?;
        self.is_running = true;
        Ok(())
    }

    /// Numbers of a variable; enumerations by value, Booleans as 0 and 1.
    pub fn get(&mut self, variable: usize, values: &mut [f64]) -> HostResult {
        let (kind, reference) = self.variable(variable)?;
        self.call(|c| c.get(kind, reference, values))?;
        self.checked(values, |_| format!("`{}`", self.model().variables[variable].name))
    }

    pub fn set(&mut self, variable: usize, values: &[f64]) -> HostResult {
        let (kind, reference) = self.variable(variable)?;
        self.call(|c| c.set(kind, reference, values))
    }

    pub fn get_string(&mut self, variable: usize) -> HostResult<String> {
        let (_, reference) = self.variable(variable)?;
        self.call(|c| c.get_string(reference))
    }

    pub fn set_strings(&mut self, variable: usize, values: &[String]) -> HostResult {
        let (_, reference) = self.variable(variable)?;
        let texts: Vec<CString> = values.iter().map(|v| text(v)).collect();
        let pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
        self.call(|c| c.set_strings(reference, &pointers))
    }

    fn variable(&self, index: usize) -> HostResult<(Type, u32)> {
        match self.model().variables.get(index) {
            Some(variable) => Ok((variable.kind, variable.reference)),
            None => Err(self.refused(format!("there is no variable number {}", index + 1))),
        }
    }

    /// The interval of a time-based clock, and whether it is a new one.
    pub fn interval(&mut self, clock: usize) -> HostResult<(f64, Interval)> {
        let (_, reference) = self.variable(clock)?;
        let (interval, what) = self.call(|c| c.interval(reference))?;
        // Without an interval the number means nothing.
        if what != Interval::NotYetKnown && (interval.is_nan() || interval < 0.0) {
            let name = self.model().variables[clock].name.clone();
            return Err(self.refused(format!("the clock `{name}` has the interval {interval}")));
        }
        Ok((interval, what))
    }

    pub fn shift(&mut self, clock: usize) -> HostResult<f64> {
        let (_, reference) = self.variable(clock)?;
        self.call(|c| c.shift(reference))
    }

    /// Has an output clock ticked since this was asked last?
    pub fn has_ticked(&mut self, clock: usize) -> HostResult<bool> {
        let (kind, reference) = self.variable(clock)?;
        if self.kind == Kind::ScheduledExecution {
            return Ok(self.log.take_tick(reference));
        }
        let mut value = [0.0];
        self.call(|c| c.get(kind, reference, &mut value))?;
        Ok(value[0] != 0.0)
    }

    /// Scheduled execution: the partition of an input clock.
    pub fn activate(&mut self, clock: usize, time: f64) -> HostResult {
        let (_, reference) = self.variable(clock)?;
        self.call(|c| c.activate(reference, time))
    }

    pub fn enter_event_mode(&mut self) -> HostResult {
        self.call(|c| c.enter_event_mode())
    }

    pub fn update_discrete_states(&mut self) -> HostResult<Discrete> {
        self.call(|c| c.update_discrete_states())
    }

    pub fn enter_continuous_time_mode(&mut self) -> HostResult {
        self.call(|c| c.enter_continuous_time_mode())
    }

    pub fn enter_step_mode(&mut self) -> HostResult {
        self.call(|c| c.enter_step_mode())
    }

    pub fn completed_step(&mut self) -> HostResult<(bool, bool)> {
        self.call(|c| c.completed_step())
    }

    pub fn set_time(&mut self, time: f64) -> HostResult {
        self.call(|c| c.set_time(time))
    }

    pub fn set_states(&mut self, states: &[f64]) -> HostResult {
        if states.is_empty() { Ok(()) } else { self.call(|c| c.set_states(states)) }
    }

    pub fn states(&mut self, states: &mut [f64]) -> HostResult {
        if states.is_empty() {
            return Ok(());
        }
        self.call(|c| c.states(states))?;
        self.checked(states, |at| format!("state {}", at + 1))
    }

    pub fn derivatives(&mut self, derivatives: &mut [f64]) -> HostResult {
        if derivatives.is_empty() {
            return Ok(());
        }
        self.call(|c| c.derivatives(derivatives))?;
        self.checked(derivatives, |at| self.derivative_name(at))
    }

    fn derivative_name(&self, at: usize) -> String {
        let unknown = self.model().structure.derivatives.get(at);
        unknown.map_or_else(
            || format!("derivative {}", at + 1),
            |u| format!("`{}`", self.model().variables[u.variable].name),
        )
    }

    pub fn indicators(&mut self, indicators: &mut [f64]) -> HostResult {
        if indicators.is_empty() {
            return Ok(());
        }
        self.call(|c| c.indicators(indicators))?;
        self.checked(indicators, |at| format!("event indicator {}", at + 1))
    }

    pub fn do_step(&mut self, time: f64, step: f64) -> HostResult<Progress> {
        self.call(|c| c.do_step(time, step))
    }

    /// The derivative of unknowns along a direction of knowns, both by value reference.
    pub fn directional(&mut self, unknowns: &[u32], knowns: &[u32], seed: &[f64], result: &mut [f64]) -> HostResult {
        self.call(|c| c.directional(unknowns, knowns, seed, result))
    }

    /// The complete state as bytes, if it can give that.
    pub fn state(&self) -> HostResult<Vec<u8>> {
        if !self.model().interface(self.kind).is_some_and(|i| i.gets_and_sets_state && i.serializes_state) {
            return Err(self.refused("it cannot save its state (canSerializeFMUState is false)"));
        }
        self.call(|c| c.state())
    }

    /// Goes on from a state; `is_running` says whether it was saved after the initialisation.
    pub fn set_state(&mut self, bytes: &[u8], is_running: bool) -> HostResult {
        self.call(|c| c.set_state(bytes))?;
        self.is_running = is_running;
        Ok(())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.is_dead.get() {
            return;
        }
        if self.is_running {
            // What it says at its end comes too late.
            let _ = self.calls.terminate();
        }
        self.calls.free();
    }
}

/// A text for C; what follows a zero byte is cut off.
pub(crate) fn text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

fn missing(instance: &str, function: &'static str) -> HostError {
    HostError::MissingFunction { instance: instance.to_owned(), function }
}
