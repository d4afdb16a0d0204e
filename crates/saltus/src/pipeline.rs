//! The whole journey of a model as a list of named steps; nothing else in the project runs them in sequence.
//!
//! In: a class of a [`Session`] and the [`Stage`] to stop after. Out: an [`Outcome`] with what the stages produced
//! and everything they said. A defect of the compiler in one stage becomes a diagnostic and ends the journey there; what
//! was said before is kept.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use saltus_backend::Description;
use saltus_base::{Diagnostic, Diagnostics, Severity};
use saltus_flat::{Balance, FlatModel};
use saltus_frontend::Purpose;
use saltus_library::ClassId;
use saltus_program::{Key, SimProgram, Stopwatch};
use saltus_results::Kept;
use saltus_sim::{
    EventSearch, MixedMethod, Progress, Recorded, Recorder, SimError, SimErrorKind, Simulation, Solver, State,
    Trajectory, WarningKind, ZenoPolicy,
};

use crate::audit::{self, Audit};
use crate::clock_variables::{ClockDriver, with_clock_variables};
use crate::configurations::{check_treatments, sort_configuration};
use crate::settable_starts::with_settable_starts;
use crate::watchdog::Watchdog;
use crate::{Flattening, Model, Permissions, Profile, Session, Start, diagnostics, guard, stats};

/// How far to go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// The flat model; equations that are missing or too many are a warning.
    Flatten,
    /// The flat model and every rule about complete models; a model that does not balance is an error.
    Check,
    /// The sorted program.
    Compile,
    /// The sorted program and its trajectory.
    Simulate,
}

#[derive(Clone)]
pub struct Options {
    pub stop_after: Stage,
    /// Values for parameters, by name, as Modelica expressions.
    pub overrides: Vec<(String, String)>,
    pub experiment: Experiment,
    pub engine: Engine,
    /// Describe how the equations were sorted.
    pub describe: bool,
    /// Take families of equations over arrays apart into scalar ones, whose results have the same bits.
    pub scalars: bool,
    /// What a simulation begins with.
    pub start: Start,
    /// Keep the state at the end of the simulation.
    pub saves_state: bool,
    /// End the simulation there, as a part of the run to its stop time.
    pub pause_at: Option<f64>,
    /// Give parts that share no variable integrators of their own.
    pub apart: bool,
    /// Evaluate the equations as written at every point of the simulation.
    pub audit: Option<audit::Settings>,
    /// Fixed start values can be set in the compiled model ([`settable_starts`](crate::settable_starts)).
    pub settable_starts: bool,
    /// Who makes clocks tick in the compiled model ([`clock_variables`](crate::clock_variables)).
    pub clocks: ClockDriver,
    /// Measures the stages.
    pub stopwatch: Stopwatch,
    /// Say what the time of the simulation went to, by the stopwatch.
    pub profile: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options::until(Stage::Compile)
    }
}

impl Options {
    pub fn until(stop_after: Stage) -> Self {
        Self {
            stop_after,
            overrides: Vec::new(),
            experiment: Experiment::default(),
            engine: Engine::default(),
            describe: false,
            scalars: false,
            start: Start::default(),
            saves_state: false,
            pause_at: None,
            apart: false,
            audit: None,
            settable_starts: false,
            clocks: ClockDriver::default(),
            stopwatch: Stopwatch::default(),
            profile: false,
        }
    }
}

/// How programs are evaluated; the results are the same.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Engine {
    /// Interpreted at first; what turns out to run often is compiled to machine code.
    #[default]
    Auto,
    /// Machine code from the start, also where it does not pay. A build without the feature `jit` interprets.
    Jit,
    /// No machine code.
    Interpreter,
}

/// What replaces the `experiment` annotation of the model.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Experiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub output: Option<Output>,
    /// Rows at the ends of steps, besides those at output points and events.
    pub step_rows: bool,
    pub tolerance: Option<f64>,
    pub solver: Solver,
    /// The longest step of the integrator.
    pub max_step: Option<f64>,
    /// The step of methods without error control.
    pub fixed_step: Option<f64>,
    pub on_zeno: ZenoPolicy,
    /// How relations are searched for changes.
    pub events: EventSearch,
    /// How relations in algebraic loops are found.
    pub mixed: MixedMethod,
    /// The longest time that a run may take.
    pub time_limit: Option<Duration>,
    /// Signals that are recorded; others take neither time nor memory.
    pub kept: Kept,
}

/// Where output points lie.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Output {
    /// That many equal parts of the time span.
    Intervals(u32),
    /// Seconds between two points.
    Interval(f64),
}

impl Experiment {
    /// The settings of a run: what is given here, else what the annotation of the model says.
    pub fn settings(&self, program: &SimProgram) -> saltus_sim::Options {
        let mut settings = saltus_sim::Options::new(program);
        let start = self.start_time.unwrap_or(settings.start_time);
        let length = settings.stop_time - settings.start_time;
        let stop = self.stop_time.unwrap_or(start + length);
        let interval = settings.interval;
        settings = settings.with_times(start, stop);
        match self.output {
            Some(Output::Intervals(n)) => settings.interval = (stop - start) / f64::from(n.max(1)),
            Some(Output::Interval(seconds)) => settings.interval = seconds,
            None if program.experiment.interval.is_some() => settings.interval = interval,
            None => {}
        }
        settings.tolerance = self.tolerance.unwrap_or(settings.tolerance);
        settings.solver = self.solver;
        settings.step_rows = self.step_rows;
        settings.max_step = self.max_step.or(settings.max_step);
        settings.fixed_step = self.fixed_step.or(settings.fixed_step);
        settings.on_zeno = self.on_zeno;
        settings.events = self.events;
        settings.mixed = self.mixed;
        if self.kept.is_choice() {
            let names = program.variables.iter().map(|v| v.name()).filter(|name| self.kept.keeps(name));
            settings.recorded = Recorded::Only(names.map(Cow::into_owned).collect());
        }
        settings
    }

    /// What is wrong with the settings that follow from options that were given; what the model says itself is left to the run.
    pub fn mistake(&self, settings: &saltus_sim::Options) -> Option<Diagnostic> {
        let (start, stop) = (settings.start_time, settings.stop_time);
        let is_span_given = self.start_time.is_some() || self.stop_time.is_some();
        if is_span_given && start > stop {
            return Some(diagnostics::backwards(start, stop));
        }
        let steps = [self.max_step, self.fixed_step, self.tolerance];
        let is_given = is_span_given || self.output.is_some() || steps.iter().any(Option::is_some);
        settings.mistake().filter(|_| is_given).map(|what| diagnostics::bad_experiment(&what))
    }
}

/// What came out. A stage that was not reached, or failed, leaves `None`.
#[derive(Default)]
pub struct Outcome {
    pub flat: Option<Arc<FlatModel>>,
    pub balance: Option<Balance>,
    pub model: Option<Arc<Model>>,
    /// How the equations were sorted, if that was asked for.
    pub description: Option<Description>,
    /// Other start values could have been taken where initial conditions are missing.
    pub chooses_starts: bool,
    /// Up to the failure if there is one; without rows if the client took them.
    pub trajectory: Option<Trajectory>,
    /// The options ask for what cannot be, and nothing was simulated.
    pub is_misused: bool,
    /// The simulation began and failed.
    pub failed_at_run_time: bool,
    /// Why, without what was recorded.
    pub failure: Option<SimError>,
    /// The state at the end of the simulation, if that was asked for.
    pub state: Option<State>,
    /// What an audit needs to know about the memory of the program.
    pub layout: saltus_audit::Layout,
    /// What the audit found, if that was asked for.
    pub audit: Option<saltus_audit::Report>,
    /// What the time of the simulation went to, if that was asked for.
    pub profile: Option<Profile>,
    /// The settings of the simulation.
    pub settings: Option<saltus_sim::Options>,
    pub diagnostics: Diagnostics,
    pub stopwatch: Stopwatch,
    /// Seconds of each stage that ran, in order.
    pub timings: Vec<(&'static str, Duration)>,
    /// Seconds that each of them had a processor, where the system tells.
    pub processor_times: Vec<(&'static str, Duration)>,
}

impl Outcome {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    /// The program of the model, if it was made.
    pub fn program(&self) -> Option<&Arc<SimProgram>> {
        self.model.as_ref().map(|model| model.program())
    }

    /// Runs one stage: measures it and turns a panic into a message.
    fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> Option<T> {
        let before = stats::processor_time();
        let started = self.stopwatch.now();
        let result = guard::catch(work);
        self.timings.push((name, self.stopwatch.since(started)));
        let used = stats::processor_time().zip(before).and_then(|(after, before)| after.checked_sub(before));
        self.processor_times.extend(used.map(|used| (name, used)));
        result.map_err(|internal: Diagnostic| self.diagnostics.push(internal)).ok()
    }
}

/// Who takes part in a simulation.
pub trait Client {
    /// Before it is initialised: gives it inputs, or a sink of its own. Without one the rows are kept in memory.
    fn prepare(&mut self, _model: &Arc<Model>, _simulation: &mut Simulation) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// At each step and event; `false` ends the run.
    fn goes_on(&mut self, _progress: Progress) -> bool {
        true
    }
}

/// Nobody.
impl Client for () {}

/// A client that ends the run by a flag.
pub struct Stoppable(pub Arc<AtomicBool>);

impl Client for Stoppable {
    fn prepare(&mut self, _model: &Arc<Model>, simulation: &mut Simulation) -> Result<(), Diagnostic> {
        simulation.stop_when(self.0.clone());
        Ok(())
    }

    fn goes_on(&mut self, _progress: Progress) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

pub fn run(session: &Session, class: ClassId, options: &Options) -> Outcome {
    run_with(session, class, options, &mut ())
}

/// Like [`run`], with a client that takes part in the simulation.
pub fn run_with(session: &Session, class: ClassId, options: &Options, client: &mut dyn Client) -> Outcome {
    let library = session.library();
    if library.name_of(class).is_none() {
        let mut outcome = Outcome::default();
        outcome.diagnostics.push(diagnostics::outdated_class());
        return outcome;
    }
    let class = library.qualified_name(class);
    let kept = kept_components(options);
    let mut outcome = compile_with(session, &class, options, kept);
    if kept.is_some() && concerns_elements(&outcome) {
        outcome = compile_with(session, &class, options, None);
    }
    if options.stop_after >= Stage::Simulate {
        simulate(session.permissions(), options, &mut outcome, client);
    }
    outcome
}

/// Which component arrays may stay arrays: none where somebody looks at equations one by one.
fn kept_components(options: &Options) -> Option<u64> {
    let is_shown = options.stop_after == Stage::Flatten || options.describe || options.audit.is_some();
    (!is_shown && !options.scalars).then_some(saltus_frontend::SHORTEST_KEPT)
}

/// Whether a message may be about an element of a component array that was kept. Messages are those of the model with all elements one
/// by one; a hint about anything else is the same, and so is the list of start values that are taken if there is no choice.
fn concerns_elements(outcome: &Outcome) -> bool {
    let is_kept = |name: &str| saltus_flat::element::n_outer_dimensions(name) > 0;
    let has_kept = outcome.flat.as_ref().is_some_and(|model| model.variables.values().any(|v| is_kept(&v.name)));
    let is_same = |d: &Diagnostic| {
        d.severity == Severity::Hint || saltus_backend::is_of_assumptions(d) && !outcome.chooses_starts
    };
    let concerns = |d: &Diagnostic| !is_same(d) || d.message.contains("[:");
    has_kept && outcome.diagnostics.iter().any(concerns)
}

/// All stages that come before the simulation.
fn compile_with(session: &Session, class: &str, options: &Options, kept: Option<u64>) -> Outcome {
    let (mut outcome, flattening) = flatten_and_check(session, class, options, kept);
    let Some((model, flattening)) = outcome.flat.clone().zip(flattening) else { return outcome };
    if options.stop_after == Stage::Check && model.must_balance && model.is_closed && !outcome.has_errors() {
        try_to_sort(&model, &mut outcome);
    }
    if options.stop_after >= Stage::Compile && !outcome.has_errors() {
        let settable = if options.settable_starts { Arc::new(with_settable_starts(&model)) } else { model };
        let prepared = match options.clocks {
            ClockDriver::Model => settable,
            driver => Arc::new(with_clock_variables(&settable, driver)),
        };
        let program = emit(&prepared, options, &mut outcome);
        let files = session.library().file_source();
        outcome.model = program.map(|program| Arc::new(Model::new(program, &flattening, files)));
    }
    outcome
}

/// The stages up to [`Stage::Check`], and what they were made of unless a defect of the compiler prevented that.
pub(crate) fn flatten_and_check(
    session: &Session,
    class: &str,
    options: &Options,
    kept_components: Option<u64>,
) -> (Outcome, Option<Arc<Flattening>>) {
    let mut outcome = Outcome { stopwatch: options.stopwatch.clone(), ..Outcome::default() };
    let purpose = match options.stop_after {
        Stage::Flatten => Purpose::Flatten,
        Stage::Check => Purpose::Check,
        Stage::Compile | Stage::Simulate => Purpose::Simulate,
    };
    let frontend = saltus_frontend::Options {
        overrides: options.overrides.clone(),
        purpose,
        kept_components,
        ..Default::default()
    };
    let flattening = outcome.stage("flatten", || session.flatten(class, &frontend));
    let Some(flattened) = &flattening else { return (outcome, None) };
    outcome.diagnostics.extend(flattened.diagnostics.iter().cloned());
    outcome.flat = flattened.model.clone();
    if let Some(model) = &flattened.model {
        check(model, options.stop_after, &mut outcome);
    }
    (outcome, flattening)
}

/// Compiles a class; what was said about it if that is impossible.
pub fn compile(session: &Session, class: ClassId, options: &Options) -> Result<Arc<Model>, Diagnostics> {
    let outcome = run(session, class, &Options { stop_after: Stage::Compile, ..options.clone() });
    match outcome.model {
        Some(model) if !outcome.diagnostics.has_errors() => Ok(model),
        _ => Err(outcome.diagnostics),
    }
}

/// Simulates a model that has been compiled before.
pub fn simulate_model(
    model: Arc<Model>,
    permissions: Permissions,
    options: &Options,
    client: &mut dyn Client,
) -> Outcome {
    let mut outcome = Outcome { model: Some(model), stopwatch: options.stopwatch.clone(), ..Outcome::default() };
    simulate(permissions, options, &mut outcome, client);
    outcome
}

/// What a simulation would find before time starts, for a model that is complete by itself.
fn try_to_sort(model: &FlatModel, outcome: &mut Outcome) {
    if let Some(Err(found)) = outcome.stage("sort", || saltus_backend::sort(model).map(drop)) {
        outcome.diagnostics.extend(found.into_iter().filter(saltus_backend::is_structurally_singular));
    }
}

fn emit(model: &FlatModel, options: &Options, outcome: &mut Outcome) -> Option<SimProgram> {
    let sorted = outcome.stage("sort", || {
        // Quantised states are evaluated one by one.
        let is_scalar = options.describe || options.scalars || options.experiment.solver == Solver::Liqss2;
        let sort = if is_scalar { saltus_backend::sort_scalars } else { saltus_backend::sort };
        let sorted = sort(model)?;
        if sorted.switches.is_empty() {
            return Ok::<_, Diagnostics>(sorted);
        }
        // Its structure changes. Where a run begins is found out at its start.
        let key = Key(sorted.switches.iter().cloned().collect());
        Ok(sort_configuration(model, &key).unwrap_or(sorted))
    })?;
    let mut sorted = sorted.map_err(|found| outcome.diagnostics.extend(found)).ok()?;
    let untreated = check_treatments(model, &sorted);
    let is_impossible = untreated.has_errors();
    outcome.diagnostics.extend(untreated);
    if is_impossible {
        return None;
    }
    outcome.diagnostics.extend(std::mem::take(&mut sorted.warnings));
    outcome.chooses_starts = sorted.chooses_starts();
    if options.describe {
        outcome.description = outcome.stage("describe", || sorted.describe());
    }
    if options.audit.is_some() {
        outcome.layout = audit::layout(&sorted);
    }
    verify(outcome, || sorted.verify());
    let program = outcome.stage("emit", || sorted.emit(model))?;
    verify(outcome, || saltus_program::verify(&program));
    Some(program)
}

/// In debug builds every stage proves that its result keeps its rules.
fn verify(outcome: &mut Outcome, work: impl FnOnce() -> Result<(), Vec<String>>) {
    if cfg!(debug_assertions) {
        let verified = outcome.stage("verify", work);
        let problems = verified.and_then(Result::err).unwrap_or_default();
        outcome.diagnostics.extend(problems.iter().map(|p| diagnostics::internal_error(p)));
    }
}

fn simulate(permissions: Permissions, options: &Options, outcome: &mut Outcome, client: &mut dyn Client) {
    let Some(model) = outcome.model.clone() else { return };
    let settings = options.experiment.settings(model.program());
    let idle = model.idle_patterns(&options.experiment.kept);
    let mut wrong: Vec<Diagnostic> = idle.iter().map(diagnostics::nothing_kept).collect();
    wrong.extend(options.experiment.mistake(&settings));
    if !wrong.is_empty() {
        outcome.diagnostics.extend(wrong);
        outcome.is_misused = true;
        return;
    }
    let audit = match (options.audit, &outcome.flat) {
        (Some(wanted), Some(flat)) => {
            let options = wanted.options(settings.n_intervals());
            Some(Audit::new(flat.clone(), &model, &outcome.layout, permissions, options))
        }
        (Some(_), None) => return outcome.diagnostics.push(diagnostics::nothing_to_audit()),
        (None, _) => None,
    };
    let (mut machine_code, mut costs, mut together) = (Duration::ZERO, None, None);
    let done = outcome.stage("simulate", || {
        let instance = model.instance_for(settings.solver, options.engine, permissions, &options.stopwatch);
        let mut simulation = Simulation::new(instance, settings.clone());
        if let Some(maker) = model.configurations(options.engine, permissions, &options.stopwatch) {
            simulation.set_configurations(maker);
        }
        let recorder = Recorder::new(settings.max_result_bytes);
        simulation.set_sink(Box::new(recorder.clone()));
        if let Some(audit) = &audit {
            simulation.set_witness(audit.witness());
        }
        client.prepare(&model, &mut simulation).map_err(|unfit| vec![unfit])?;
        if options.profile {
            simulation.measure(&options.stopwatch);
        }
        options.start.apply(&mut simulation, &model)?;
        let goes_on = &mut |progress| client.goes_on(progress);
        if options.apart {
            // Parts are small and many: most are not worth machine code.
            let engine = if options.engine == Engine::Jit { Engine::Jit } else { Engine::Interpreter };
            let mut make = |part| model.instance_of(part, engine, permissions, &options.stopwatch);
            match within(&mut simulation, options.experiment.time_limit, goes_on, |s, o| s.run_apart(&mut make, o)) {
                Ok(Ok(())) => return Ok((simulation.trajectory(&recorder), Ok(()), None)),
                Ok(Err(why)) => together = Some(why),
                Err(error) => return Ok((simulation.trajectory(&recorder), Err(error), None)),
            }
        }
        let until = options.pause_at.unwrap_or(f64::INFINITY);
        let done = run_within(&mut simulation, until, options.experiment.time_limit, goes_on);
        let state = options.saves_state.then(|| simulation.state());
        let is_pause = options.pause_at.is_some() && !simulation.is_over();
        let done = if is_pause { done } else { done.and_then(|()| simulation.finish()) };
        machine_code = simulation.compile_time();
        costs = simulation.take_costs();
        Ok::<_, Vec<Diagnostic>>((simulation.trajectory(&recorder), done, state))
    });
    outcome.audit = audit.map(|audit| audit.report());
    outcome.profile = costs.map(|costs| Profile::new(&model.program().name, costs, machine_code));
    outcome.diagnostics.extend(together.map(diagnostics::not_apart));
    // Compiled when hot, in the middle of the simulation: a stage of its own all the same.
    if let Some((_, time)) = outcome.timings.last_mut() {
        *time = time.saturating_sub(machine_code);
    }
    let at = outcome.timings.len().saturating_sub(1);
    outcome.timings.insert(at, ("machine_code", machine_code));
    let (trajectory, done, state) = match done {
        Some(Ok(ran)) => ran,
        Some(Err(unfit)) => {
            outcome.diagnostics.extend(unfit);
            return;
        }
        None => return,
    };
    if let Err(error) = done {
        outcome.diagnostics.push(diagnostics::simulation_failed(&error));
        outcome.failed_at_run_time = true;
        outcome.failure = Some(error);
    }
    match state {
        Some(Ok(state)) => outcome.state = Some(state),
        Some(Err(why)) => outcome.diagnostics.push(diagnostics::cannot_save(&why.to_string())),
        None => {}
    }
    let warnings = trajectory.warnings.iter().map(|w| match w.kind {
        WarningKind::Assertion => diagnostics::assertion_warning(w.time, &w.message, w.span),
        WarningKind::LastViolation => diagnostics::assertion_warning(w.time, &w.message, w.span)
            .hint("further violations of this assertion are not reported"),
        WarningKind::Tunnel => diagnostics::tunnel(w.time, &w.message, w.span),
        WarningKind::Jump => diagnostics::jump(w.time, &w.message, w.span),
        WarningKind::Undetermined => diagnostics::undetermined(w.time, &w.message, w.span),
        WarningKind::Unfulfilled => diagnostics::unfulfilled(w.time, &w.message, w.span),
        WarningKind::Free => diagnostics::free(w.time, &w.message, w.span),
    });
    outcome.diagnostics.extend(warnings);
    outcome.diagnostics.extend(trajectory.notes.iter().map(|(t, text)| diagnostics::simulation_note(*t, text)));
    let is_begun = !outcome.failed_at_run_time || !trajectory.segments.is_empty() || trajectory.statistics.steps > 0;
    outcome.trajectory = is_begun.then_some(trajectory);
    outcome.settings = Some(settings);
}

/// Runs a simulation up to a time or its stop time, or until the time limit; the terminal event is not part of it.
pub(crate) fn run_within(
    simulation: &mut Simulation,
    until: f64,
    limit: Option<Duration>,
    observer: &mut dyn FnMut(Progress) -> bool,
) -> Result<(), SimError> {
    within(simulation, limit, observer, |simulation, observer| saltus_sim::advance_until(simulation, until, observer))
}

type Observed<'o> = &'o mut dyn FnMut(Progress) -> bool;

/// Lets a simulation go on until the time limit.
fn within<T>(
    simulation: &mut Simulation,
    limit: Option<Duration>,
    observer: Observed,
    run: impl FnOnce(&mut Simulation, Observed) -> Result<T, SimError>,
) -> Result<T, SimError> {
    let Some(limit) = limit else { return run(simulation, observer) };
    let watchdog = Watchdog::new(limit);
    simulation.stop_when(watchdog.is_late.clone());
    let is_late = || watchdog.is_late();
    let done = run(simulation, &mut |progress| !is_late() && observer(progress));
    match done {
        Err(error) if is_late() => {
            let kind = SimErrorKind::TimeLimit { seconds: limit.as_secs_f64() };
            Err(SimError { kind, ..error })
        }
        done => done,
    }
}

/// What is determined twice is one equation too many: like the balance that is for a simulation to refuse, and flattening shows what is there.
fn shown_all_the_same(diagnostic: Diagnostic) -> Diagnostic {
    match saltus_check::is_determined_twice(&diagnostic) {
        true => diagnostic.severity(Severity::Warning),
        false => diagnostic,
    }
}

/// A model with errors is made as far as it could be: it need not be consistent, and to count its equations would blame
/// the same mistake twice.
fn check(model: &FlatModel, stop_after: Stage, outcome: &mut Outcome) {
    let is_complete = !outcome.has_errors();
    if is_complete {
        verify(outcome, || saltus_flat::verify(model));
    }
    let severity = if stop_after == Stage::Flatten { Severity::Warning } else { Severity::Error };
    let found = outcome.stage("check", || {
        let mut found = saltus_check::check_equations(model);
        if severity == Severity::Warning {
            let mut shown = Diagnostics::new();
            shown.extend(found.into_iter().map(shown_all_the_same));
            found = shown;
        }
        if is_complete && (model.must_balance || stop_after != Stage::Check) {
            found.extend(saltus_check::check_balance(model, severity));
        }
        found.extend(saltus_check::check_style(model));
        (found, saltus_flat::balance(model))
    });
    if let Some((found, balance)) = found {
        outcome.diagnostics.extend(found);
        outcome.balance = Some(balance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;

    #[test]
    fn a_time_limit_ends_a_run_with_what_was_computed() {
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        let text = "model M Real x(start = 1, fixed = true), v(start = 0, fixed = true); \
                    equation der(x) = v; der(v) = -x; annotation(experiment(StopTime = 1e9)); end M;";
        session.set_text("M.mo", text);
        let class = session.class(None).expect("there is one model");
        let mut options = Options::until(Stage::Simulate);
        options.experiment.time_limit = Some(Duration::from_millis(50));
        let outcome = run(&session, class, &options);
        let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(
            outcome.failed_at_run_time && messages[0].contains("stopped after the time limit of 0.05 s"),
            "{messages:?}"
        );
        assert!(outcome.trajectory.is_some_and(|t| !t.segments[0].times.is_empty()));
    }

    /// A run can be ended where it has not begun: its initial system is not solved, and that is not why it fails.
    #[test]
    fn an_initialisation_can_be_interrupted() {
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        session.set_text("M.mo", "model M Real x, y; equation x^3 + sin(y) = 1; y^3 + x = time; end M;");
        let class = session.class(None).expect("there is one model");
        let message = |flag: bool| {
            let mut client = Stoppable(Arc::new(AtomicBool::new(flag)));
            let outcome = run_with(&session, class, &Options::until(Stage::Simulate), &mut client);
            outcome.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(message(false), [""; 0]);
        assert_eq!(message(true), ["the simulation failed at time 0: interrupted"]);
    }

    /// A function that takes long, or for ever, does not keep the run from ending. Its array of a size that depends on a value keeps it from being
    /// compiled.
    #[test]
    fn a_function_can_be_interrupted() {
        let mut session = Session::new(Box::new(MemoryFiles::new()));
        let text = "model M function f input Real x; output Real y; protected Real a[:] = fill(x, integer(x) + 2);
            algorithm y := a[1]; while y > -1 loop y := y + 1; end while; end f; Real y = f(time); end M;";
        session.set_text("M.mo", text);
        let class = session.class(None).expect("there is one model");
        let mut client = Stoppable(Arc::new(AtomicBool::new(true)));
        let outcome = run_with(&session, class, &Options::until(Stage::Simulate), &mut client);
        let messages: Vec<&str> = outcome.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["the simulation failed at time 0: interrupted"]);
    }
}
