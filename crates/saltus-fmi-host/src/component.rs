//! An instance as a component of a simulation.
//!
//! Between events everything that an FMU gives is a function of a [`Point`]: time, states and inputs. The point also says how many
//! events there were, so that a function of it changes at events and at no other time. [`Component::event`] and
//! [`Component::step`] have effects and are called once.
//!
//! ```text
//! n_events = 0        initialisation mode: exact states and inputs are set, everything may be asked for
//! event               leaves it, and runs the rounds of the FMU's own event iteration
//! n_events > 0        continuous-time mode (model exchange), step mode (co-simulation) or clock activation mode
//! ```
//!
//! Scheduled execution has no states and no steps: [`Component::activate`] activates the partitions of clocks that tick.

use std::sync::Arc;

use saltus_fmi::{Causality, CoSimulation, Initial, Kind, ModelDescription, Type, Variability, Version};
use serde::{Deserialize, Serialize};

use crate::clocks::Clocks;
use crate::error::{HostError, HostResult};
use crate::fmu::Fmu;
use crate::instance::{Discrete, Instance, Settings};

/// Rounds of one event.
const MOST_ROUNDS: usize = 1_000;

/// Where something is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    pub n_events: i64,
    pub time: f64,
    pub states: &'a [f64],
    /// Inputs by index of variable; those that are not named keep their values. A triggered clock ticks where it is not 0.
    pub inputs: &'a [Input<'a>],
}

/// A value of an input, row-major if it is an array.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub variable: usize,
    pub values: &'a [f64],
}

/// What an event has led to.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Time of the next event that the FMU knows of.
    pub next: Option<f64>,
    pub states: Vec<f64>,
    pub terminate: bool,
}

/// What a step of co-simulation has led to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// Time of the next communication point; the present one if outputs have to be read again before the step is made.
    pub next: f64,
    pub terminate: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Mode {
    Instantiated,
    Initialization,
    Running,
}

pub struct Component {
    instance: Instance,
    parameters: Vec<(usize, Vec<f64>)>,
    strings: Vec<(usize, Vec<String>)>,
    n_states: usize,
    n_indicators: usize,
    /// States by index of variable with the number of their scalars, and whether they are set while initialising.
    exact_states: Vec<(usize, usize, bool)>,
    uses_event_mode: bool,
    needs_completed_step: bool,
    book: Book,
    /// Why the end of a step failed, until the next call tells it.
    failure: Option<HostError>,
}

/// What is part of a state besides that of the FMU.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Book {
    mode: Mode,
    n_events: i64,
    /// What the FMU was told last.
    time: f64,
    states: Vec<f64>,
    inputs: Vec<Option<Vec<f64>>>,
    /// Co-simulation: where the FMU stands, and whether it wants event mode.
    reached: f64,
    grid: Grid,
    event_pending: bool,
    /// Model exchange: the end of the last step that the FMU was told of, and the one after which it wants an event or the end.
    completed: f64,
    wanted: f64,
    wants_end: bool,
    clocks: Clocks,
}

/// A state of a component.
#[derive(Serialize, Deserialize)]
struct Saved {
    book: Book,
    fmu: Vec<u8>,
}

impl Component {
    /// Makes an instance with these parameters, which are set when its initialisation begins.
    pub fn new(
        fmu: Arc<Fmu>,
        kind: Kind,
        name: &str,
        parameters: Vec<(usize, Vec<f64>)>,
        strings: Vec<(usize, Vec<String>)>,
    ) -> HostResult<Component> {
        let cs = fmu.document.model.co_simulation.clone().filter(|_| kind == Kind::CoSimulation);
        let has = |f: fn(&CoSimulation) -> bool| cs.as_ref().is_some_and(f);
        let mut uses_event_mode = has(|cs| cs.event_mode);
        let early_return = uses_event_mode || has(|cs| cs.might_return_early);
        let settings = Settings { verbose: false, event_mode: uses_event_mode, early_return };
        let mut made = Instance::new(fmu.clone(), kind, name, settings);
        if uses_event_mode && matches!(made, Err(HostError::NotInstantiated { .. })) {
            // Event mode is an offer of the FMU, which some binaries do not keep.
            made = Instance::new(fmu, kind, name, Settings { event_mode: false, ..settings });
            uses_event_mode = false;
        }
        let mut instance = made?;
        let is_structural = |(v, _): &(usize, Vec<f64>)| {
            let causality = instance.model().variables.get(*v).map(|v| v.causality);
            causality == Some(Causality::StructuralParameter)
        };
        let (structural, parameters): (Vec<_>, Vec<_>) = parameters.into_iter().partition(is_structural);
        let is_other =
            |(v, values): &(usize, Vec<f64>)| instance.model().variables[*v].start_number() != values.first().copied();
        let structural: Vec<(usize, Vec<f64>)> = structural.into_iter().filter(is_other).collect();
        if !structural.is_empty() {
            instance.configure(&structural)?;
        }
        let model = instance.model();
        let n_elements = |at: usize| model.n_elements(&model.variables[at]) as usize;
        let states = model.structure.derivatives.iter().filter_map(|u| model.variables[u.variable].derivative);
        let exact_states: Vec<(usize, usize, bool)> =
            states.map(|at| (at, n_elements(at), model.variables[at].initial() == Some(Initial::Exact))).collect();
        let n_indicators = match model.version {
            Version::V2 => model.n_event_indicators,
            Version::V3 => model.structure.event_indicators.iter().map(|u| n_elements(u.variable)).sum(),
        };
        let n_variables = model.variables.len();
        let clocks = Clocks::new(model);
        let needs_completed_step =
            kind == Kind::ModelExchange && model.model_exchange.as_ref().is_some_and(|me| me.needs_completed_step);
        Ok(Component {
            instance,
            parameters,
            strings,
            n_states: exact_states.iter().map(|(_, n, _)| n).sum(),
            n_indicators,
            exact_states,
            uses_event_mode,
            needs_completed_step,
            book: Book {
                mode: Mode::Instantiated,
                n_events: 0,
                time: f64::NAN,
                states: Vec::new(),
                inputs: vec![None; n_variables],
                reached: f64::NAN,
                grid: Grid::default(),
                event_pending: false,
                completed: f64::NAN,
                wanted: f64::INFINITY,
                wants_end: false,
                clocks,
            },
            failure: None,
        })
    }

    pub fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    pub fn model(&self) -> &ModelDescription {
        self.instance.model()
    }

    pub fn n_states(&self) -> usize {
        self.n_states
    }

    pub fn n_indicators(&self) -> usize {
        self.n_indicators
    }

    /// A number of a variable, or of an element of an array.
    pub fn number(&mut self, point: &Point, variable: usize, element: usize) -> HostResult<f64> {
        self.go_to(point)?;
        self.present_number(variable, element)
    }

    /// A number as it is, for variables that change at events only.
    pub fn present_number(&mut self, variable: usize, element: usize) -> HostResult<f64> {
        let model = self.instance.model();
        let n = model.variables.get(variable).map_or(1, |v| model.n_elements(v) as usize);
        if n == 1 && element == 0 {
            let mut value = [0.0];
            self.instance.get(variable, &mut value)?;
            return Ok(value[0]);
        }
        let mut values = vec![0.0; n];
        self.instance.get(variable, &mut values)?;
        values
            .get(element)
            .copied()
            .ok_or_else(|| self.instance.refused(format!("there is no element {}", element + 1)))
    }

    pub fn derivatives(&mut self, point: &Point, derivatives: &mut [f64]) -> HostResult {
        self.go_to(point)?;
        self.expect_size("derivatives", derivatives.len(), self.n_states)?;
        if self.book.mode == Mode::Running {
            return self.instance.derivatives(derivatives);
        }
        // While initialising, 2.0 gives them as variables only.
        let mut rest = derivatives;
        for at in 0..self.exact_states.len() {
            let (own, others) = rest.split_at_mut(self.exact_states[at].1);
            let variable = self.instance.model().structure.derivatives[at].variable;
            self.instance.get(variable, own)?;
            rest = others;
        }
        Ok(())
    }

    pub fn indicators(&mut self, point: &Point, indicators: &mut [f64]) -> HostResult {
        self.go_to(point)?;
        let n_own = usize::from(self.needs_completed_step);
        self.expect_size("event indicators", indicators.len(), self.n_indicators + n_own)?;
        if let Some(last) = indicators.last_mut().filter(|_| self.needs_completed_step) {
            *last = if point.time >= self.book.wanted { -1.0 } else { 1.0 };
        }
        self.instance.indicators(&mut indicators[..self.n_indicators])
    }

    pub fn watches_steps(&self) -> bool {
        self.needs_completed_step
    }

    /// A step of the integrator has ended here; true if the FMU wants an event, which the last indicator shows from here on.
    pub fn end_step(&mut self, time: f64) -> bool {
        let is_here = self.book.mode == Mode::Running && self.book.time == time;
        if !self.needs_completed_step || !is_here || self.book.completed == time {
            return false;
        }
        let wanted = self.complete(time);
        if !matches!(wanted, Ok(false)) {
            self.book.wanted = time;
        }
        // The event tells why.
        self.failure = wanted.err();
        self.book.wanted == time
    }

    /// Tells the FMU that a step is over; true if it wants an event or the end.
    fn complete(&mut self, time: f64) -> HostResult<bool> {
        self.book.completed = time;
        let (event, end) = self.instance.completed_step()?;
        self.book.wants_end |= end;
        Ok(event || end)
    }

    /// How often an output clock has ticked.
    pub fn ticks(&self, clock: usize) -> HostResult<i64> {
        let ticks = self.book.clocks.ticks(clock);
        ticks.ok_or_else(|| self.instance.refused(format!("variable number {} is not an output clock", clock + 1)))
    }

    /// Its complete state, if the FMU can give its own.
    pub fn save(&self) -> HostResult<Vec<u8>> {
        let fmu = self.instance.state()?;
        let saved = Saved { book: self.book.clone(), fmu };
        postcard::to_allocvec(&saved).map_err(|why| self.instance.refused(why.to_string()))
    }

    /// Goes on from a state of an instance of the same FMU.
    pub fn restore(&mut self, bytes: &[u8]) -> HostResult {
        let saved: Result<Saved, _> = postcard::from_bytes(bytes);
        let Saved { book, fmu } = saved.map_err(|_| self.instance.refused("its state is damaged"))?;
        if book.inputs.len() != self.book.inputs.len() {
            return Err(self.instance.refused("its state is that of another FMU"));
        }
        self.instance.set_state(&fmu, book.mode == Mode::Running)?;
        self.book = book;
        self.failure = None;
        Ok(())
    }

    fn expect_size(&self, what: &str, wanted: usize, present: usize) -> HostResult {
        match wanted == present {
            true => Ok(()),
            false => Err(self.instance.refused(format!("it has {present} {what}, and {wanted} were asked for"))),
        }
    }

    /// The derivative of the state derivatives along a direction of states and inputs, by the FMU itself.
    pub fn directional(
        &mut self,
        point: &Point,
        state_seed: &[f64],
        input_seed: &[Input],
        result: &mut [f64],
    ) -> HostResult {
        self.go_to(point)?;
        self.expect_size("derivatives", result.len(), self.n_states)?;
        let model = self.instance.model();
        let reference = |at: usize| model.variables[at].reference;
        let unknowns: Vec<u32> = model.structure.derivatives.iter().map(|u| reference(u.variable)).collect();
        let mut knowns: Vec<u32> = self.exact_states.iter().map(|(at, ..)| reference(*at)).collect();
        knowns.extend(input_seed.iter().map(|i| reference(i.variable)));
        let mut seed = state_seed.to_vec();
        input_seed.iter().for_each(|i| seed.extend_from_slice(i.values));
        self.instance.directional(&unknowns, &knowns, &seed, result)
    }

    /// Tells the FMU where it is, as far as it does not know that.
    fn go_to(&mut self, point: &Point) -> HostResult {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match self.book.mode {
            Mode::Instantiated => self.begin(point.time)?,
            // In the round of an event, functions of the point before it may still be asked for.
            Mode::Running if point.n_events < self.book.n_events - 1 || point.n_events > self.book.n_events => {
                return Err(self.instance.refused("it cannot go back to an earlier event"));
            }
            _ => {}
        }
        if self.instance.kind == Kind::ModelExchange {
            if self.book.mode == Mode::Running && self.book.time != point.time {
                self.instance.set_time(point.time)?;
                self.book.time = point.time;
            }
            self.set_states(point.states)?;
        }
        let sets_discrete = self.book.mode == Mode::Initialization
            || (self.instance.kind == Kind::CoSimulation && !self.uses_event_mode);
        self.set_inputs(point.inputs, sets_discrete)
    }

    /// Begins its initialisation at this time, unless that has been done.
    pub fn begin(&mut self, time: f64) -> HostResult {
        if self.book.mode != Mode::Instantiated {
            return Ok(());
        }
        for (variable, values) in std::mem::take(&mut self.parameters) {
            self.instance.set(variable, &values)?;
        }
        for (variable, values) in std::mem::take(&mut self.strings) {
            self.instance.set_strings(variable, &values)?;
        }
        self.instance.enter_initialization(None, time, None)?;
        (self.book.mode, self.book.time, self.book.reached) = (Mode::Initialization, time, time);
        Ok(())
    }

    fn set_states(&mut self, states: &[f64]) -> HostResult {
        self.expect_size("states", states.len(), self.n_states)?;
        if is_same(&self.book.states, states) {
            return Ok(());
        }
        if self.book.mode == Mode::Running {
            self.instance.set_states(states)?;
        } else {
            let mut rest = states;
            for at in 0..self.exact_states.len() {
                let (variable, n, is_exact) = self.exact_states[at];
                let (own, others) = rest.split_at(n);
                rest = others;
                if is_exact {
                    self.instance.set(variable, own)?;
                }
            }
        }
        self.book.states.clear();
        self.book.states.extend_from_slice(states);
        Ok(())
    }

    fn set_inputs(&mut self, inputs: &[Input], also_discrete: bool) -> HostResult {
        for input in inputs {
            let Some(variable) = self.instance.model().variables.get(input.variable) else { continue };
            if variable.kind == Type::Clock {
                continue;
            }
            if !also_discrete && variable.variability != Variability::Continuous {
                continue;
            }
            let known = &mut self.book.inputs[input.variable];
            if known.as_deref().is_some_and(|known| is_same(known, input.values)) {
                continue;
            }
            self.instance.set(input.variable, input.values)?;
            *known = Some(input.values.to_vec());
        }
        Ok(())
    }

    /// An event of model exchange: all rounds that the FMU wants.
    pub fn event(&mut self, point: &Point) -> HostResult<Event> {
        self.go_to(point)?;
        let is_first = self.book.mode == Mode::Initialization;
        if is_first {
            self.instance.exit_initialization()?;
            self.book.mode = Mode::Running;
            self.book.clocks.begin(&mut self.instance, point.time)?;
        } else {
            if self.needs_completed_step && self.book.completed != point.time {
                self.complete(point.time)?;
            }
            self.instance.enter_event_mode()?;
            self.set_inputs(point.inputs, true)?;
        }
        let discrete = self.settle(point)?;
        self.instance.enter_continuous_time_mode()?;
        let mut states = point.states.to_vec();
        if is_first || discrete.states_changed {
            self.instance.states(&mut states)?;
        }
        self.book.states.clone_from(&states);
        self.book.time = point.time;
        self.book.n_events = point.n_events + 1;
        self.book.wanted = f64::INFINITY;
        let next = discrete.next.unwrap_or(f64::INFINITY).min(self.book.clocks.next());
        let next = (next < f64::INFINITY).then_some(next);
        Ok(Event { next, states, terminate: self.book.wants_end || discrete.terminate })
    }

    /// Updates discrete states until that changes nothing any more.
    fn settle(&mut self, point: &Point) -> HostResult<Discrete> {
        let mut all = Discrete::default();
        let mut triggered = self.triggered(point.inputs);
        for _ in 0..MOST_ROUNDS {
            let ticking = self.book.clocks.due(point.time, &triggered);
            for &clock in &ticking {
                self.instance.set(clock, &[1.0])?;
            }
            triggered.clear();
            self.book.clocks.count(&mut self.instance)?;
            let discrete = self.instance.update_discrete_states()?;
            all.next = discrete.next;
            all.terminate |= discrete.terminate;
            all.states_changed |= discrete.states_changed;
            for &clock in &ticking {
                self.book.clocks.ticked(&mut self.instance, clock, point.time)?;
            }
            self.book.clocks.look(&mut self.instance, point.time)?;
            let is_settled = !discrete.needs_update && self.book.clocks.due(point.time, &[]).is_empty();
            if is_settled || all.terminate {
                return Ok(all);
            }
        }
        Err(HostError::EndlessEvent { instance: self.instance.name.clone(), rounds: MOST_ROUNDS })
    }

    /// Triggered clocks that tick.
    fn triggered(&self, inputs: &[Input]) -> Vec<usize> {
        let is_clock =
            |i: &&Input| self.instance.model().variables.get(i.variable).is_some_and(|v| v.kind == Type::Clock);
        let ticks = |i: &&Input| i.values.iter().any(|v| *v != 0.0);
        inputs.iter().filter(is_clock).filter(ticks).map(|i| i.variable).collect()
    }

    /// Scheduled execution: activates the partitions of all clocks that tick now. Countdowns of length zero tick in the same instant.
    pub fn activate(&mut self, point: &Point) -> HostResult<Event> {
        self.begin(point.time)?;
        // A partition may take its inputs away when it has used them.
        self.book.inputs.fill(None);
        self.set_inputs(point.inputs, true)?;
        if self.book.mode == Mode::Initialization {
            self.instance.exit_initialization()?;
            self.book.mode = Mode::Running;
            self.book.clocks.begin(&mut self.instance, point.time)?;
        }
        self.book.n_events = point.n_events + 1;
        let mut triggered = self.triggered(point.inputs);
        for _ in 0..MOST_ROUNDS {
            let due = self.book.clocks.due(point.time, &triggered);
            triggered.clear();
            if due.is_empty() {
                let next = Some(self.book.clocks.next()).filter(|next| next.is_finite());
                return Ok(Event { next, states: Vec::new(), terminate: false });
            }
            for clock in due {
                self.instance.activate(clock, point.time)?;
                self.book.clocks.ticked(&mut self.instance, clock, point.time)?;
                self.book.clocks.look(&mut self.instance, point.time)?;
            }
        }
        Err(HostError::EndlessEvent { instance: self.instance.name.clone(), rounds: MOST_ROUNDS })
    }

    /// Co-simulation from the present communication point over a step. Where an event of the FMU is due, that is handled
    /// instead, and the step is made when the outputs have been read again.
    pub fn step(&mut self, point: &Point, step: f64) -> HostResult<Step> {
        let mut terminate = false;
        self.go_to(point)?;
        self.book.n_events = point.n_events + 1;
        if self.book.mode == Mode::Initialization {
            self.instance.exit_initialization()?;
            self.book.mode = Mode::Running;
            self.book.clocks.begin(&mut self.instance, point.time)?;
            if self.uses_event_mode {
                terminate = self.settle(point)?.terminate;
                self.instance.enter_step_mode()?;
                return Ok(Step { next: point.time, terminate });
            }
        }
        let has_ticks = !self.book.clocks.due(self.book.reached, &self.triggered(point.inputs)).is_empty();
        if self.uses_event_mode && (has_ticks || self.book.event_pending || self.has_discrete_change(point.inputs)) {
            self.instance.enter_event_mode()?;
            self.set_inputs(point.inputs, true)?;
            terminate = self.settle(point)?.terminate;
            self.instance.enter_step_mode()?;
            self.book.event_pending = false;
            return Ok(Step { next: point.time, terminate });
        }
        let any_length = self.model().co_simulation.as_ref().is_some_and(|cs| cs.variable_step);
        let end = self.book.grid.next(self.book.reached, step, any_length);
        // Clocks tick at communication points.
        let end = if any_length { end.min(self.book.clocks.next()) } else { end };
        let mut progress = self.instance.do_step(self.book.reached, end - self.book.reached)?;
        if (progress.reached - end).abs() <= f64::EPSILON * end.abs() {
            progress.reached = end;
        }
        if progress.reached <= self.book.reached && !progress.event && !progress.terminate {
            let log = self.instance.take_log();
            return Err(HostError::NoProgress { instance: self.instance.name.clone(), time: self.book.reached, log });
        }
        self.book.reached = progress.reached;
        self.book.event_pending = progress.event && self.uses_event_mode;
        Ok(Step { next: progress.reached, terminate: terminate || progress.terminate })
    }

    fn has_discrete_change(&self, inputs: &[Input]) -> bool {
        let is_discrete = |i: &&Input| {
            let variable = self.instance.model().variables.get(i.variable);
            variable.is_some_and(|v| v.variability != Variability::Continuous && v.kind != Type::Clock)
        };
        inputs
            .iter()
            .filter(is_discrete)
            .any(|i| !self.book.inputs[i.variable].as_deref().is_some_and(|known| is_same(known, i.values)))
    }

    /// Indices of the inputs.
    pub fn inputs(&self) -> Vec<usize> {
        let variables = self.instance.model().variables.iter().enumerate();
        variables.filter(|(_, v)| v.causality == Causality::Input).map(|(at, _)| at).collect()
    }
}

/// Communication points of equal steps, without the rounding errors of a sum. After a step that ended early the next one leads
/// back to them.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Grid {
    start: f64,
    step: f64,
}

impl Grid {
    /// The end of a step that begins at `from`; shorter than `step` if the FMU takes steps of any length.
    fn next(&mut self, from: f64, step: f64, any_length: bool) -> f64 {
        let position = (from - self.start) / self.step;
        let is_on_grid = (position - position.round()).abs() < 1e-9;
        if step != self.step || !(is_on_grid || any_length) {
            *self = Grid { start: from, step };
            return from + step;
        }
        self.start + ((position + 1e-9).floor() + 1.0) * self.step
    }
}

fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn a_step_that_ended_early_leads_back_to_the_grid() {
        let mut grid = Grid::default();
        assert_eq!(grid.next(0.0, 0.1, true), 0.1);
        assert_eq!(grid.next(0.13, 0.1, true), 0.2);
        assert_eq!(grid.next(0.13, 0.1, false), 0.13 + 0.1);
        let mut at = 0.0;
        let mut grid = Grid::default();
        (0..2000).for_each(|_| at = grid.next(at, 0.01, true));
        assert_eq!(at, 20.0);
    }
}
