//! Runs that Python advances.
//!
//! A run belongs to one thread at a time: another one that comes while it is busy gets an exception.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use saltus::container::{self, Content};
use saltus::pipeline::Output;
use saltus::{Advance, Model, Permissions, Simulation, Start, State};
use saltus_program::{SlotKind, SlotType};
use saltus_results::Kept;
use saltus_sim::{SimError, Solver};

use crate::errors;
use crate::inputs::{Inputs, Raised};
use crate::interrupt::{Active, interruptible, is_leaving, left};
use crate::result::RawTable;
use crate::settings::Settings;
use crate::table::Columns;

/// Seconds between output points that nobody sees.
const NEVER: f64 = 1e15;
/// How often a run lets Python handle signals, in steps and in time. The clock is read after 1, 2, 4, … steps, so that long steps are noticed.
const STEPS_PER_LOOK: u32 = 32;
const LOOK: Duration = Duration::from_millis(50);

/// A run of a model that goes on as far as it is asked to.
#[pyclass(frozen, name = "Simulation", module = "saltus")]
pub struct RawSimulation {
    model: Arc<Model>,
    inner: Mutex<Option<Inner>>,
    raised: Raised,
    stop: Arc<AtomicBool>,
}

struct Inner {
    run: Simulation,
    columns: Option<Columns>,
    /// The user has said when it ends.
    has_end: bool,
    /// Where equal steps began, how long they are, and their number: sums of them would drift.
    stride: (f64, f64, u64),
    message: Option<String>,
}

/// The complete state of a run, from which it, or another run of the same model, goes on bit by bit.
#[pyclass(frozen, name = "State", module = "saltus")]
pub struct RawState {
    state: Arc<State>,
}

enum Ended {
    There,
    Terminated,
    /// Time to look for signals.
    Look,
}

impl RawSimulation {
    pub fn new(
        py: Python,
        model: Arc<Model>,
        permissions: Permissions,
        settings: &Settings,
        start: &Start,
        mut inputs: Inputs,
        is_recorded: bool,
    ) -> PyResult<Self> {
        let has_end = settings.experiment.stop_time.is_some();
        let mut experiment = settings.experiment.clone();
        if !is_recorded {
            experiment.kept = Kept::only(&[], []);
            // Nobody sees output points, but methods with a fixed step go from one to the next.
            let is_fixed = matches!(experiment.solver, Solver::Euler | Solver::RungeKutta4 | Solver::ImplicitEuler);
            if !is_fixed {
                experiment.output = Some(Output::Interval(NEVER));
            }
        }
        let mut run = Simulation::with(model.clone(), &experiment, settings.engine, permissions);
        let columns = is_recorded.then(|| {
            let options = run.options();
            Columns::new(&model, &experiment.kept, options.max_result_bytes, options.n_intervals() as usize + 64)
        });
        if let Some(columns) = &columns {
            run.set_sink(Box::new(columns.clone()));
        }
        let (stop, raised) = (inputs.stop(), inputs.raised());
        run.stop_when(stop.clone());
        let connected = inputs.connect(&model, &mut run);
        connected.map_err(|wrong| errors::wrong_values(py, [&wrong], &model.sources()))?;
        start.apply(&mut run, &model).map_err(|wrong| errors::wrong_values(py, &wrong, &model.sources()))?;
        let inner = Inner { run, columns, has_end, stride: (0.0, 0.0, 0), message: None };
        Ok(RawSimulation { model, inner: Mutex::new(Some(inner)), raised, stop })
    }

    /// The run, unless it is closed or another thread has it.
    fn lock(&self, py: Python) -> PyResult<MutexGuard<'_, Option<Inner>>> {
        match self.inner.try_lock() {
            Ok(guard) if guard.is_some() => Ok(guard),
            Ok(_) => Err(errors::closed(py, "simulation")),
            Err(TryLockError::WouldBlock) => Err(errors::busy(py, "simulation")),
            Err(TryLockError::Poisoned(_)) => Err(errors::failed(py, "the simulation is lost after an internal error")),
        }
    }

    fn with<R>(&self, py: Python, work: impl FnOnce(&mut Inner) -> PyResult<R>) -> PyResult<R> {
        let mut guard = self.lock(py)?;
        let inner = guard.as_mut().ok_or_else(|| errors::closed(py, "simulation"))?;
        work(inner)
    }

    fn failed(&self, py: Python, error: &SimError, inner: &Inner) -> PyErr {
        if let Some(raised) = self.raised.take() {
            return raised;
        }
        let table = inner.columns.as_ref().map(|columns| RawTable::new(columns.table(true)));
        let table = table.and_then(|table| table.into_py_any(py).ok());
        errors::simulation_error(py, error, &self.model, table)
    }

    /// Solves the initial system, unless that was done. It may take long, unlike a step.
    fn begin(&self, py: Python, inner: &mut Inner) -> PyResult<()> {
        if inner.run.has_begun() {
            return Ok(());
        }
        let run = &mut inner.run;
        let done = interruptible(py, &self.stop, || run.initialise())?;
        done.map_err(|error| self.failed(py, &error, inner))
    }

    /// Goes on up to a time; true if it got there.
    fn go(&self, py: Python, inner: &mut Inner, until: f64) -> PyResult<bool> {
        let _active = Active::begin(py)?;
        self.begin(py, inner)?;
        let stop_time = inner.run.options().stop_time;
        if until > stop_time && !inner.has_end {
            // Far enough that this is rare.
            let start = inner.run.options().start_time;
            inner.run.extend(until + (until - start).max(stop_time - start));
        }
        loop {
            let gone = py.detach(|| inner.go(until));
            match gone {
                Err(error) => return Err(self.failed(py, &error, inner)),
                Ok(Ended::There) => return Ok(true),
                Ok(Ended::Terminated) => return Ok(false),
                Ok(Ended::Look) if is_leaving() => return Err(left(py)),
                Ok(Ended::Look) => py.check_signals()?,
            }
        }
    }
}

impl Inner {
    fn go(&mut self, until: f64) -> Result<Ended, SimError> {
        let limit = until.min(self.run.options().stop_time);
        let started = Instant::now();
        for step in 0_u32.. {
            match self.run.advance(limit)? {
                Advance::Terminated(message) => {
                    self.message = Some(message);
                    return Ok(Ended::Terminated);
                }
                Advance::Step | Advance::Event(_) if self.run.time() >= limit => {
                    return Ok(if limit < until { Ended::Terminated } else { Ended::There });
                }
                Advance::Step | Advance::Event(_) => {}
            }
            let done = step + 1;
            if (done.is_power_of_two() || done.is_multiple_of(STEPS_PER_LOOK)) && started.elapsed() > LOOK {
                return Ok(Ended::Look);
            }
        }
        Ok(Ended::Look)
    }
}

#[pymethods]
impl RawSimulation {
    /// The present time.
    #[getter]
    fn time(&self, py: Python) -> PyResult<f64> {
        self.with(py, |inner| Ok(inner.run.time()))
    }

    /// Whether nothing more is to come: the stop time is reached, or the model called `terminate`.
    #[getter]
    fn is_over(&self, py: Python) -> PyResult<bool> {
        self.with(py, |inner| Ok(inner.run.is_over() && (inner.has_end || inner.message.is_some())))
    }

    /// The message with which the model ended by itself, if it did.
    #[getter]
    fn message(&self, py: Python) -> PyResult<Option<String>> {
        self.with(py, |inner| Ok(inner.message.clone()))
    }

    /// Solve the initial system and settle the first event. The first `advance` does it otherwise.
    fn initialize(&self, py: Python) -> PyResult<()> {
        self.with(py, |inner| self.begin(py, inner))
    }

    /// Go on by a number of seconds.
    ///
    /// Gives True if the run got there, False if it has ended before: at its stop time, if one was given, or because the model called
    /// `terminate`. Many equal steps do not add up rounding errors: the n-th one ends at start + n*seconds.
    fn advance(&self, py: Python, seconds: f64) -> PyResult<bool> {
        if !(seconds >= 0.0 && seconds.is_finite()) {
            return Err(errors::wrong_value(format!(
                "advance: expected a number of seconds from 0 on, found {seconds}"
            )));
        }
        self.with(py, |inner| {
            let now = inner.run.time();
            let (origin, step, n) = inner.stride;
            let is_same = step == seconds && origin + n as f64 * step == now;
            inner.stride = if is_same { (origin, step, n + 1) } else { (now, seconds, 1) };
            let (origin, step, n) = inner.stride;
            self.go(py, inner, origin + n as f64 * step)
        })
    }

    /// Go on up to a time; see `advance`.
    fn advance_to(&self, py: Python, time: f64) -> PyResult<bool> {
        self.with(py, |inner| {
            let now = inner.run.time();
            if !(time >= now && time.is_finite()) {
                return Err(errors::wrong_value(format!("advance_to: expected a time from {now} on, found {time}")));
            }
            self.go(py, inner, time)
        })
    }

    /// Go on by one step of the integrator or up to one event, not beyond a time. Gives the kind of the event, or None.
    #[pyo3(signature = (until=None))]
    fn step(&self, py: Python, until: Option<f64>) -> PyResult<Option<&'static str>> {
        self.with(py, |inner| {
            self.begin(py, inner)?;
            let (start, stop, now) = (inner.run.options().start_time, inner.run.options().stop_time, inner.run.time());
            // Without a stop time it goes on as long as it is asked to.
            let is_at_end = !inner.has_end && now >= stop;
            let until = until.unwrap_or(if is_at_end { now + (now - start).max(1.0) } else { stop });
            if !(until >= inner.run.time() && until.is_finite()) {
                return Err(errors::wrong_value(format!("step: expected a time that is still to come, found {until}")));
            }
            if until > inner.run.options().stop_time && !inner.has_end {
                inner.run.extend(until);
            }
            match py.detach(|| inner.run.advance(until)) {
                Ok(Advance::Step) => Ok(None),
                Ok(Advance::Event(event)) => Ok(Some(event.kind.name())),
                Ok(Advance::Terminated(message)) => {
                    inner.message = Some(message);
                    Ok(Some("terminate"))
                }
                Err(error) => Err(self.failed(py, &error, inner)),
            }
        })
    }

    /// The value of a variable at the present time: a float, int, bool or str, or the name of a literal.
    ///
    /// What was set is what it was set to; whatever depends on it is as before until the run goes on.
    fn __getitem__(&self, py: Python, name: &str) -> PyResult<Py<PyAny>> {
        self.with(py, |inner| {
            if let Some((_, text)) = self.model.texts().find(|(other, _)| *other == name) {
                return text.into_py_any(py);
            }
            let variable = self.model.variable(name).map_err(|why| errors::unknown(py, &why))?;
            if !inner.run.has_begun() && inner.run.pending(variable.slot).is_none() {
                self.begin(py, inner)?;
            }
            let value = inner.run.saltus_get(variable.slot).map_err(|error| self.failed(py, &error, inner))?;
            match variable.ty {
                SlotType::Real => value.into_py_any(py),
                _ if value.is_nan() => py.None().into_py_any(py),
                SlotType::Integer => (value as i64).into_py_any(py),
                SlotType::Boolean => (value != 0.0).into_py_any(py),
                SlotType::Enumeration => {
                    let program = self.model.program();
                    let all = variable.enumeration.and_then(|id| program.routines.enumerations.get(id));
                    let literal = all.and_then(|e| e.literals.get((value as usize).wrapping_sub(1)));
                    literal.map_or_else(|| value.into_py_any(py), |literal| literal.as_str().into_py_any(py))
                }
            }
        })
    }

    /// Set a parameter, an input or, after the start, a state, from now on. That is an event.
    fn __setitem__(&self, py: Python, name: &str, value: &Bound<PyAny>) -> PyResult<()> {
        self.with(py, |inner| {
            let number = if let Ok(text) = value.cast::<PyString>() {
                let text: String = text.extract()?;
                let parsed = self.model.parse_value(name, &text);
                parsed.map_err(|why| errors::unchangeable(py, name, &why))?
            } else {
                value.extract::<f64>().map_err(|_| {
                    let found = value.get_type().name().map_or_else(|_| String::new(), |t| t.to_string());
                    errors::wrong_type(format!(
                        "{name}: expected a number, a bool or the name of a literal, found {found}"
                    ))
                })?
            };
            if number.is_infinite() {
                return Err(errors::refused(py, &format!("`{name}` cannot be set: the value is not finite")));
            }
            let set = inner.run.set(name, number);
            set.map_err(|error| errors::access(py, &self.model, name, &error))
        })
    }

    /// The value of a variable before the last event.
    fn before(&self, py: Python, name: &str) -> PyResult<f64> {
        self.with(py, |inner| {
            let variable = self.model.variable(name).map_err(|why| errors::unknown(py, &why))?;
            Ok(inner.run.left(variable.slot))
        })
    }

    /// The values of all states at the present time, by name.
    fn states(&self, py: Python) -> PyResult<Vec<(String, f64)>> {
        self.with(py, |inner| {
            let program = self.model.program();
            let slots = program.memory.slots.iter();
            let states = slots.filter(|(_, slot)| slot.kind == SlotKind::State);
            let states: Vec<_> = states.map(|(id, _)| (id, program.memory.slot_name(id).into_owned())).collect();
            let all = states.into_iter().map(|(id, name)| {
                let value = inner.run.saltus_get(id).map_err(|error| self.failed(py, &error, inner))?;
                Ok((name, value))
            });
            all.collect()
        })
    }

    /// The complete state, which `restore` goes back to.
    fn state(&self, py: Python) -> PyResult<RawState> {
        self.with(py, |inner| {
            let state = inner.run.state().map_err(|why| errors::state_error(py, &why.to_string()))?;
            Ok(RawState { state: Arc::new(state) })
        })
    }

    /// Go on from a state of this run or of another run of the same model. Rows that were recorded later than the state are forgotten.
    fn restore(&self, py: Python, state: &RawState) -> PyResult<()> {
        self.with(py, |inner| {
            let time = state.state.time();
            if time > inner.run.options().stop_time && !inner.has_end {
                let start = inner.run.options().start_time;
                inner.run.extend(time + (time - start));
            }
            let restored = inner.run.restore(&state.state);
            restored.map_err(|why| errors::state_error(py, &why.to_string()))?;
            inner.message = None;
            inner.columns.iter().for_each(|columns| columns.go_back(time));
            Ok(())
        })
    }

    /// What was recorded so far; the run must have been started with `record=True`.
    fn table(&self, py: Python) -> PyResult<RawTable> {
        self.with(py, |inner| match &inner.columns {
            Some(columns) => Ok(RawTable::new(columns.table(true))),
            None => Err(errors::failed(py, "nothing is recorded: start the simulation with record=True")),
        })
    }

    /// The terminal event, and the end of the run: it cannot be used any more. Doing it twice does no harm.
    fn close(&self, py: Python) -> PyResult<()> {
        let mut guard = match self.inner.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::WouldBlock) => return Err(errors::busy(py, "simulation")),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let Some(mut inner) = guard.take() else { return Ok(()) };
        if !inner.run.has_begun() || self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let done = py.detach(|| inner.run.finish());
        done.map_err(|error| self.failed(py, &error, &inner))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (kind, value=None, traceback=None))]
    fn __exit__(
        &self,
        py: Python,
        kind: Option<Bound<PyAny>>,
        value: Option<Bound<PyAny>>,
        traceback: Option<Bound<PyAny>>,
    ) -> PyResult<()> {
        let _ = (value, traceback);
        match self.close(py) {
            // What went wrong inside of the block counts.
            Err(_) if kind.is_some() => Ok(()),
            closed => closed,
        }
    }

    fn __repr__(&self) -> String {
        let at = match self.inner.try_lock() {
            Ok(guard) => guard.as_ref().map_or("closed".to_owned(), |inner| format!("at {} s", inner.run.time())),
            Err(_) => "busy".to_owned(),
        };
        format!("<saltus.Simulation of {}, {at}>", self.model.name())
    }
}

/// Values by slot, without looking up names.
trait BySlot {
    fn saltus_get(&mut self, slot: saltus_program::SlotId) -> Result<f64, SimError>;
}

impl BySlot for Simulation {
    fn saltus_get(&mut self, slot: saltus_program::SlotId) -> Result<f64, SimError> {
        // The simulation below has no names.
        let run: &mut saltus_sim::Simulation = self;
        run.get(slot)
    }
}

#[pymethods]
impl RawState {
    /// The time at which it was taken.
    #[getter]
    fn time(&self) -> f64 {
        self.state.time()
    }

    /// The name of the model it belongs to.
    #[getter]
    fn model(&self) -> &str {
        self.state.model()
    }

    /// The binary form.
    fn to_bytes(&self, py: Python) -> PyResult<Py<PyBytes>> {
        let bytes = container::encode(Content::State, &*self.state);
        let bytes = bytes.map_err(|why| errors::damaged(py, "the state", &why.to_string()))?;
        Ok(PyBytes::new(py, &bytes).unbind())
    }

    /// A state from its binary form.
    #[staticmethod]
    fn from_bytes(py: Python, data: &[u8]) -> PyResult<RawState> {
        let state = container::decode::<State>(Content::State, data);
        let state = state.map_err(|why| errors::damaged(py, "the state", &why.to_string()))?;
        Ok(RawState { state: Arc::new(state) })
    }

    fn __reduce__(&self, py: Python) -> PyResult<(Py<PyAny>, (Py<PyBytes>,))> {
        let class = py.get_type::<RawState>();
        Ok((class.getattr("from_bytes")?.unbind(), (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        format!("<saltus.State of {} at {} s>", self.state.model(), self.state.time())
    }
}
