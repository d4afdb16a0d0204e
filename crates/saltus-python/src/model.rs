//! Compiled models.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use saltus::linearize::{directional, linearize_here};
use saltus::pipeline::{self, Client, Options, Stage};
use saltus::{Model, Permissions, Simulation, Start, stats};
use saltus_base::Diagnostic;
use saltus_export::description::Kinds;
use saltus_export::package::Platform;
use saltus_export::{Export, Runtime};
use saltus_program::{Causality, SlotKind, SlotType, Variability};
use saltus_sim::{SimError, SimErrorKind};
use serde_json::json;

use crate::errors;
use crate::inputs::Inputs;
use crate::interrupt::{abandonable, interruptible};
use crate::result::RawTable;
use crate::session::Shared;
use crate::settings::Settings;
use crate::simulation::RawSimulation;
use crate::table::Columns;
use crate::values;

/// Where a model comes from, for variants that need another program.
#[derive(Clone)]
pub struct Origin {
    pub shared: Arc<Shared>,
    pub class: String,
    pub overrides: Vec<(String, String)>,
    /// Of the session, when it was last known to make the same model.
    pub revision: Arc<AtomicU64>,
}

/// Variants that are kept.
const MOST_VARIANTS: usize = 64;

type Variants = Vec<(Vec<(String, String)>, Arc<Model>)>;

#[pyclass(frozen, module = "saltus._saltus")]
pub struct RawModel {
    pub model: Arc<Model>,
    pub permissions: Permissions,
    origin: Option<Origin>,
    variants: Arc<Mutex<Variants>>,
}

/// The client of a run: our columns, our flag, the inputs of the user.
struct Runs {
    columns: Columns,
    stop: Arc<AtomicBool>,
    inputs: Inputs,
}

impl Client for Runs {
    fn prepare(&mut self, model: &Arc<Model>, simulation: &mut saltus_sim::Simulation) -> Result<(), Diagnostic> {
        simulation.set_sink(Box::new(self.columns.clone()));
        simulation.stop_when(self.stop.clone());
        self.inputs.connect(model, simulation)
    }

    fn goes_on(&mut self, _progress: saltus_sim::Progress) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

impl RawModel {
    pub fn new(model: Arc<Model>, permissions: Permissions, origin: Option<Origin>) -> Self {
        RawModel { model, permissions, origin, variants: Arc::default() }
    }

    /// The model for these values, and those of them that are set in it.
    pub fn fitting(&self, py: Python, given: Vec<(String, String)>) -> PyResult<(Arc<Model>, Start)> {
        let mut set = Vec::new();
        let mut compiled = Vec::new();
        for (name, text) in given {
            let place = if values::is_settable(py, &self.model, &name, &text)? { &mut set } else { &mut compiled };
            place.push((name, text));
        }
        let model = if compiled.is_empty() { self.model.clone() } else { self.compiled_for(py, compiled)? };
        Ok((model, Start { values: set, state: None }))
    }

    /// The program for other values of structural parameters, made once.
    pub fn compiled_for(&self, py: Python, mut values: Vec<(String, String)>) -> PyResult<Arc<Model>> {
        let why = values.iter().find_map(|(name, _)| Some((name, self.model.changeable(name).err()?)));
        let why =
            why.map_or(String::new(), |(name, why)| format!("`{name}` cannot be set in the compiled model: {why}"));
        let Some(origin) = &self.origin else {
            return Err(errors::refused(py, &format!("{why}, and the model has no session to compile it again")));
        };
        let is_current = abandonable(py, {
            let (model, origin) = (self.model.clone(), origin.clone());
            move || is_current(&model, &origin)
        })?;
        if !is_current {
            let message = format!("{why}, and the session has changed since the model was compiled; compile it again");
            return Err(errors::refused(py, &message));
        }
        for (name, text) in &mut values {
            *text = values::qualified(&self.model, name, text).unwrap_or_else(|| std::mem::take(text));
        }
        values.sort();
        let known = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, model)) = known.iter().find(|(key, _)| *key == values) {
            return Ok(model.clone());
        }
        drop(known);
        let names: Vec<&String> = values.iter().map(|(name, _)| name).collect();
        let kept = origin.overrides.iter().filter(|(name, _)| !names.contains(&name)).cloned();
        let overrides: Vec<(String, String)> = kept.chain(values.iter().cloned()).collect();
        let compiled = abandonable(py, {
            let origin = origin.clone();
            move || origin.shared.compile(Some(&origin.class), &overrides)
        })?;
        let compiled = compiled.ok_or_else(|| errors::closed(py, "session"))?;
        let Some(model) = compiled.model else {
            return Err(errors::compile_error(py, compiled.said.iter(), &compiled.sources));
        };
        let mut known = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_VARIANTS {
            known.remove(0);
        }
        known.push((values, model.clone()));
        Ok(model)
    }

    /// Refuses settings that make no sense, before anything runs.
    pub fn check(&self, py: Python, model: &Model, settings: &Settings) -> PyResult<()> {
        if let Some(pattern) = model.idle_patterns(&settings.experiment.kept).first() {
            return Err(errors::nothing_kept(py, pattern));
        }
        let wrong = settings.experiment.mistake(&settings.experiment.settings(model.program()));
        wrong.map_or(Ok(()), |wrong| Err(errors::wrong_values(py, [&wrong], &model.sources())))
    }

    /// A run that has begun, up to a time.
    fn arrive(
        &self,
        py: Python,
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
        at: Option<f64>,
    ) -> PyResult<(Arc<Model>, Simulation)> {
        let (model, start) = self.fitting(py, values::read(&self.model, given)?)?;
        let settings = Settings::read(py, settings)?;
        let mut experiment = settings.experiment;
        let begins = experiment.settings(model.program()).start_time;
        let at = at.unwrap_or(begins);
        if !at.is_finite() || at < begins {
            return Err(errors::wrong_value(format!("at: expected a time from {begins} on, found {at}")));
        }
        experiment.stop_time = Some(at);
        let mut run = Simulation::with(model.clone(), &experiment, settings.engine, self.permissions);
        start.apply(&mut run, &model).map_err(|wrong| errors::wrong_values(py, &wrong, &model.sources()))?;
        let stop = Arc::new(AtomicBool::new(false));
        run.stop_when(stop.clone());
        let flag = stop.clone();
        let (run, done) = interruptible(py, &stop, move || {
            let mut run = run;
            let done = advance_to(&mut run, at, &flag);
            (run, done)
        })?;
        done.map_err(|error| errors::simulation_error(py, &error, &model, None))?;
        if run.time() < at {
            let message = format!("at: the model ends by itself at {} s, before {at} s", run.time());
            return Err(errors::wrong_value(message));
        }
        Ok((model, run))
    }
}

/// Would the session make the same model again? One that is closed makes none, which is said elsewhere.
fn is_current(model: &Model, origin: &Origin) -> bool {
    let revision = origin.shared.revision();
    if revision == origin.revision.load(Ordering::Relaxed) {
        return true;
    }
    let Some(again) = origin.shared.compile(Some(&origin.class), &origin.overrides) else { return true };
    let is_same = again.model.is_some_and(|again| again.to_bytes().ok() == model.to_bytes().ok());
    if is_same {
        origin.revision.store(revision, Ordering::Relaxed);
    }
    is_same
}

/// Goes on up to a time, unless the flag is set.
pub fn advance_to(run: &mut Simulation, until: f64, stop: &AtomicBool) -> Result<(), SimError> {
    run.initialise()?;
    while run.time() < until && !run.is_over() {
        if stop.load(Ordering::Relaxed) {
            return Err(run.stop(SimErrorKind::Interrupted));
        }
        run.advance(until)?;
    }
    Ok(())
}

/// A matrix, row by row, with its names, as JSON.
type Json = String;

#[pymethods]
impl RawModel {
    #[getter]
    fn name(&self) -> &str {
        self.model.name()
    }

    /// All variables with their attributes, as JSON.
    fn variables(&self, py: Python) -> Json {
        py.detach(|| {
            let program = self.model.program();
            let all = self.model.variables().iter().map(|v| {
                let literals = v.enumeration.and_then(|id| program.routines.enumerations.get(id));
                let kind = program.memory.slots.get(v.slot).map(|s| s.kind);
                json!({
                    "name": v.name(),
                    "type": type_name(v.ty),
                    "causality": causality_name(v.causality),
                    "variability": variability_name(v.variability),
                    "description": v.description,
                    "unit": v.unit,
                    "display_unit": v.display_unit,
                    "quantity": v.quantity,
                    "start": v.start,
                    "fixed": v.fixed,
                    "min": v.min,
                    "max": v.max,
                    "nominal": v.nominal,
                    "literals": literals.map(|e| e.literals.clone()).unwrap_or_default(),
                    "is_state": kind == Some(SlotKind::State) && program.memory.slot_name(v.slot) == v.name(),
                    "is_changeable": self.model.changeable(&v.name()).is_ok(),
                })
            });
            serde_json::Value::from(all.collect::<Vec<_>>()).to_string()
        })
    }

    /// Why a variable, or an array, cannot be set in the compiled model; `None` if it can.
    fn unchangeable(&self, name: &str) -> Option<String> {
        self.model.changeable(&values::first(&self.model, name)).err().map(|why| why.to_string())
    }

    /// Those of these patterns that fit no variable.
    fn idle_patterns(&self, patterns: Vec<String>) -> Vec<String> {
        let idle = self.model.idle_patterns(&saltus_results::Kept::only(&patterns, []));
        idle.into_iter().map(|pattern| pattern.name).collect()
    }

    /// The span, interval and tolerance of its experiment.
    fn experiment(&self) -> (f64, f64, f64, f64) {
        let options = saltus_sim::Options::new(self.model.program());
        (options.start_time, options.stop_time, options.interval, options.tolerance)
    }

    /// A result and the warnings of the run. `inputs` are for some of the inputs.
    fn simulate(
        &self,
        py: Python,
        given: &Bound<PyDict>,
        inputs: &Bound<PyDict>,
        settings: &Bound<PyDict>,
    ) -> PyResult<(RawTable, String)> {
        let settings = Settings::read(py, settings)?;
        let (model, start) = self.fitting(py, values::read(&self.model, given)?)?;
        self.check(py, &model, &settings)?;
        let inputs = Inputs::read(py, &model, inputs, &start.values)?;
        let raised = inputs.raised();
        let mut options = Options::until(Stage::Simulate);
        options.experiment = settings.experiment;
        options.engine = settings.engine;
        options.start = start;
        options.stopwatch = saltus_cli::stopwatch();
        let run = options.experiment.settings(model.program());
        let columns =
            Columns::new(&model, &options.experiment.kept, run.max_result_bytes, run.n_intervals() as usize + 64);
        let stop = inputs.stop();
        let mut client = Runs { columns: columns.clone(), stop: stop.clone(), inputs };
        let permissions = self.permissions;
        let ran = model.clone();
        let (mut outcome, facts) = interruptible(py, &stop, move || {
            let outcome = pipeline::simulate_model(ran, permissions, &options, &mut client);
            let facts = json!({
                "statistics": stats::of(&outcome, std::time::Duration::ZERO),
                "end": outcome.trajectory.as_ref().map(|t| end(&t.end)),
            });
            (outcome, facts.to_string())
        })?;
        if let Some(error) = raised.take() {
            return Err(error);
        }
        let sources = model.sources();
        let mut table = columns.table(false);
        table.facts = facts;
        let table = RawTable::new(table);
        if let Some(error) = outcome.failure.take() {
            let partial = Some(table.into_pyobject(py)?.into_any().unbind());
            return Err(errors::simulation_error(py, &error, &model, partial));
        }
        if outcome.has_errors() {
            return Err(errors::wrong_values(py, outcome.diagnostics.iter(), &sources));
        }
        Ok((table, errors::told(outcome.diagnostics.iter(), &sources).1))
    }

    /// A run that has not begun.
    fn start(
        &self,
        py: Python,
        given: &Bound<PyDict>,
        inputs: &Bound<PyDict>,
        settings: &Bound<PyDict>,
        is_recorded: bool,
    ) -> PyResult<RawSimulation> {
        let settings = Settings::read(py, settings)?;
        let (model, start) = self.fitting(py, values::read(&self.model, given)?)?;
        self.check(py, &model, &settings)?;
        let inputs = Inputs::read(py, &model, inputs, &start.values)?;
        RawSimulation::new(py, model, self.permissions, &settings, &start, inputs, is_recorded)
    }

    /// Matrices of the linear model at a time, as JSON.
    fn linearize(
        &self,
        py: Python,
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
        at: Option<f64>,
    ) -> PyResult<Json> {
        let (model, mut run) = self.arrive(py, given, settings, at)?;
        let found = py.detach(|| linearize_here(&mut run));
        let found = found.map_err(|error: SimError| errors::simulation_error(py, &error, &model, None))?;
        Ok(json!({
            "time": found.time,
            "states": found.states,
            "inputs": found.inputs,
            "outputs": found.outputs,
            "a": found.a,
            "b": found.b,
            "c": found.c,
            "d": found.d,
            "eigenvalues": found.eigenvalues,
            "n_differences": found.n_differences,
        })
        .to_string())
    }

    /// Derivatives of variables by states and inputs at a time, row by row.
    fn jacobian(
        &self,
        py: Python,
        of: Vec<String>,
        by: Vec<String>,
        given: &Bound<PyDict>,
        settings: &Bound<PyDict>,
        at: Option<f64>,
    ) -> PyResult<Vec<Vec<f64>>> {
        let (model, mut run) = self.arrive(py, given, settings, at)?;
        // Of the model that is run, which is another one if structural parameters are given.
        let slot = |name: &String| -> PyResult<_> {
            let variable = model.variable(name).map_err(|why| errors::unknown(py, &why))?;
            Ok((variable.slot, model.program().memory.slots.get(variable.slot).map(|s| s.kind)))
        };
        let wanted: Vec<_> = of.iter().map(|name| Ok(slot(name)?.0)).collect::<PyResult<_>>()?;
        let mut directions = Vec::new();
        for name in &by {
            match slot(name)? {
                (slot, Some(SlotKind::State | SlotKind::Input)) => directions.push(slot),
                _ => {
                    let message = format!("`{name}` is neither a state nor an input: nothing is derived by it");
                    return Err(errors::refused(py, &message));
                }
            }
        }
        let columns = py.detach(|| {
            run.examine(|functions| {
                let by = |slot: &saltus_program::SlotId| directional(functions, &wanted, &[(*slot, 1.0)]);
                directions.iter().map(by).collect::<Vec<_>>()
            })
        });
        let columns = columns.map_err(|error| errors::simulation_error(py, &error, &model, None))?;
        Ok((0..of.len()).map(|i| columns.iter().map(|column| column[i]).collect()).collect())
    }

    /// The bytes of an FMU, with the number of its variables and states.
    fn export(
        &self,
        py: Python,
        version: &str,
        kinds: Vec<String>,
        runtimes: Vec<(String, PathBuf)>,
    ) -> PyResult<(Py<PyBytes>, usize, usize, Option<String>)> {
        let version = match version {
            "2.0" => saltus_fmi::Version::V2,
            "3.0" => saltus_fmi::Version::V3,
            _ => return Err(errors::wrong_value(format!("version: expected \"2.0\" or \"3.0\", found {version:?}"))),
        };
        let has = |kind: &str| kinds.iter().any(|k| k == kind);
        let kinds = Kinds { model_exchange: has("me"), co_simulation: has("cs"), scheduled_execution: false };
        let runtime = |(name, path): &(String, PathBuf)| {
            let platform = if name.is_empty() { Platform::here() } else { Platform::from_name(name) };
            let platform = platform.ok_or_else(|| errors::wrong_value(format!("no platform {name:?} in FMI")))?;
            Ok(Runtime { platform, bytes: std::fs::read(path)? })
        };
        let runtimes = runtimes.iter().map(runtime).collect::<PyResult<Vec<_>>>()?;
        let wanted = Export { version, kinds, runtimes };
        let stop = Arc::new(AtomicBool::new(false));
        let model = &self.model;
        let made = interruptible(py, &stop, || saltus_export::export(model, &wanted))?;
        let made = made.map_err(|why| errors::failed(py, &format!("`{}` cannot be exported: {why}", model.name())))?;
        let cannot_start = made.cannot_start.as_ref().map(ToString::to_string);
        Ok((PyBytes::new(py, &made.bytes).unbind(), made.n_variables, made.n_states, cannot_start))
    }

    fn to_bytes(&self, py: Python) -> PyResult<Py<PyBytes>> {
        let bytes = py.detach(|| self.model.to_bytes());
        let bytes = bytes.map_err(|why| errors::damaged(py, "the model", &why.to_string()))?;
        Ok(PyBytes::new(py, &bytes).unbind())
    }

    #[staticmethod]
    fn from_bytes(py: Python, bytes: &[u8], allow_io: bool, allow_external: bool) -> PyResult<RawModel> {
        let stop = Arc::new(AtomicBool::new(false));
        let model = interruptible(py, &stop, || Model::from_bytes(bytes))?;
        let model = model.map_err(|why| errors::damaged(py, "the model", &why.to_string()))?;
        let permissions = Permissions { io: allow_io, external: allow_external, ..Permissions::default() };
        Ok(RawModel::new(Arc::new(model), permissions, None))
    }

    /// What its functions may do: files everywhere, shared libraries.
    #[getter]
    fn permissions(&self) -> (bool, bool) {
        (self.permissions.io, self.permissions.external)
    }

    /// Another program for values of structural parameters.
    fn variant(&self, py: Python, given: &Bound<PyDict>) -> PyResult<RawModel> {
        let model = self.compiled_for(py, values::read(&self.model, given)?)?;
        Ok(RawModel::new(model, self.permissions, None))
    }
}

/// The message of a model that ended by itself.
fn end(end: &saltus_sim::End) -> Option<String> {
    match end {
        saltus_sim::End::StopTime => None,
        saltus_sim::End::Terminated { message } => Some(message.clone()),
    }
}

pub fn type_name(ty: SlotType) -> &'static str {
    saltus::results::kind(ty).name()
}

fn causality_name(causality: Causality) -> &'static str {
    match causality {
        Causality::Parameter => "parameter",
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::Local => "local",
    }
}

fn variability_name(variability: Variability) -> &'static str {
    match variability {
        Variability::Constant => "constant",
        Variability::Parameter => "parameter",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    }
}
