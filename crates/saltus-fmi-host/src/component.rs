//! An instance as a component of a simulation.
//!
//! Between events everything that an FMU gives is a function of a [`Point`]: time, states and inputs. The point also says how many
//! events there were, so that a function of it changes at events and at no other time. [`Component::event`] and
//! [`Component::step`] have effects and are called once.
//!
//! ```text
//! n_events = 0        initialisation mode: exact states and inputs are set, everything may be asked for
//! event               leaves it, and runs the rounds of the FMU's own event iteration
//! n_events > 0        continuous-time mode (model exchange) or step mode (co-simulation)
//! ```

use std::sync::Arc;

use saltus_fmi::{Causality, CoSimulation, Initial, Kind, ModelDescription, Type, Variability, Version};

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
    /// Inputs by index of variable; those that are not named keep their values.
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Instantiated,
    Initialization,
    Running,
}

pub struct Component {
    instance: Instance,
    mode: Mode,
    n_events: i64,
    parameters: Vec<(usize, Vec<f64>)>,
    strings: Vec<(usize, Vec<String>)>,
    n_states: usize,
    n_indicators: usize,
    /// States by index of variable with the number of their scalars, and whether they are set while initialising.
    exact_states: Vec<(usize, usize, bool)>,
    /// What the FMU was told last.
    time: f64,
    states: Vec<f64>,
    inputs: Vec<Option<Vec<f64>>>,
    /// Co-simulation: where the FMU stands, and whether it wants event mode.
    reached: f64,
    grid: Grid,
    event_pending: bool,
    uses_event_mode: bool,
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
        let instance = made?;
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
        Ok(Component {
            instance,
            mode: Mode::Instantiated,
            n_events: 0,
            parameters,
            strings,
            n_states: exact_states.iter().map(|(_, n, _)| n).sum(),
            n_indicators,
            exact_states,
            time: f64::NAN,
            states: Vec::new(),
            inputs: vec![None; n_variables],
            reached: f64::NAN,
            grid: Grid::default(),
            event_pending: false,
            uses_event_mode,
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
        if self.mode == Mode::Running {
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
        self.expect_size("event indicators", indicators.len(), self.n_indicators)?;
        self.instance.indicators(indicators)
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
        match self.mode {
            Mode::Instantiated => self.begin(point.time)?,
            // In the round of an event, functions of the point before it may still be asked for.
            Mode::Running if point.n_events < self.n_events - 1 || point.n_events > self.n_events => {
                return Err(self.instance.refused("it cannot go back to an earlier event"));
            }
            _ => {}
        }
        if self.instance.kind == Kind::ModelExchange {
            if self.mode == Mode::Running && self.time != point.time {
                self.instance.set_time(point.time)?;
                self.time = point.time;
            }
            self.set_states(point.states)?;
        }
        let sets_discrete =
            self.mode == Mode::Initialization || (self.instance.kind == Kind::CoSimulation && !self.uses_event_mode);
        self.set_inputs(point.inputs, sets_discrete)
    }

    /// Begins its initialisation at this time, unless that has been done.
    pub fn begin(&mut self, time: f64) -> HostResult {
        if self.mode != Mode::Instantiated {
            return Ok(());
        }
        for (variable, values) in std::mem::take(&mut self.parameters) {
            self.instance.set(variable, &values)?;
        }
        for (variable, values) in std::mem::take(&mut self.strings) {
            self.instance.set_strings(variable, &values)?;
        }
        self.instance.enter_initialization(None, time, None)?;
        (self.mode, self.time, self.reached) = (Mode::Initialization, time, time);
        Ok(())
    }

    fn set_states(&mut self, states: &[f64]) -> HostResult {
        self.expect_size("states", states.len(), self.n_states)?;
        if is_same(&self.states, states) {
            return Ok(());
        }
        if self.mode == Mode::Running {
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
        self.states.clear();
        self.states.extend_from_slice(states);
        Ok(())
    }

    fn set_inputs(&mut self, inputs: &[Input], also_discrete: bool) -> HostResult {
        for input in inputs {
            let Some(variable) = self.instance.model().variables.get(input.variable) else { continue };
            if !also_discrete && variable.variability != Variability::Continuous {
                continue;
            }
            let known = &mut self.inputs[input.variable];
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
        let mut terminate = false;
        let is_first = self.mode == Mode::Initialization;
        if is_first {
            self.instance.exit_initialization()?;
            self.mode = Mode::Running;
        } else {
            if self.instance.model().model_exchange.as_ref().is_some_and(|me| me.needs_completed_step) {
                terminate = self.instance.completed_step()?.1;
            }
            self.instance.enter_event_mode()?;
            self.set_inputs(point.inputs, true)?;
        }
        let discrete = self.settle()?;
        self.instance.enter_continuous_time_mode()?;
        let mut states = point.states.to_vec();
        if is_first || discrete.states_changed {
            self.instance.states(&mut states)?;
        }
        self.states.clone_from(&states);
        self.time = point.time;
        self.n_events = point.n_events + 1;
        Ok(Event { next: discrete.next, states, terminate: terminate || discrete.terminate })
    }

    /// Updates discrete states until that changes nothing any more.
    fn settle(&mut self) -> HostResult<Discrete> {
        let mut all = Discrete::default();
        for _ in 0..MOST_ROUNDS {
            let discrete = self.instance.update_discrete_states()?;
            all.next = discrete.next;
            all.terminate |= discrete.terminate;
            all.states_changed |= discrete.states_changed;
            if !discrete.needs_update || all.terminate {
                return Ok(all);
            }
        }
        Err(HostError::EndlessEvent { instance: self.instance.name.clone(), rounds: MOST_ROUNDS })
    }

    /// Co-simulation from the present communication point over a step. Where an event of the FMU is due, that is handled
    /// instead, and the step is made when the outputs have been read again.
    pub fn step(&mut self, point: &Point, step: f64) -> HostResult<Step> {
        let mut terminate = false;
        self.go_to(point)?;
        self.n_events = point.n_events + 1;
        if self.mode == Mode::Initialization {
            self.instance.exit_initialization()?;
            self.mode = Mode::Running;
            if self.uses_event_mode {
                terminate = self.settle()?.terminate;
                self.instance.enter_step_mode()?;
                return Ok(Step { next: point.time, terminate });
            }
        }
        if self.uses_event_mode && (self.event_pending || self.has_discrete_change(point.inputs)) {
            self.instance.enter_event_mode()?;
            self.set_inputs(point.inputs, true)?;
            terminate = self.settle()?.terminate;
            self.instance.enter_step_mode()?;
            self.event_pending = false;
            return Ok(Step { next: point.time, terminate });
        }
        let any_length = self.model().co_simulation.as_ref().is_some_and(|cs| cs.variable_step);
        let end = self.grid.next(self.reached, step, any_length);
        let mut progress = self.instance.do_step(self.reached, end - self.reached)?;
        if (progress.reached - end).abs() <= f64::EPSILON * end.abs() {
            progress.reached = end;
        }
        if progress.reached <= self.reached && !progress.event && !progress.terminate {
            let log = self.instance.take_log();
            return Err(HostError::NoProgress { instance: self.instance.name.clone(), time: self.reached, log });
        }
        self.reached = progress.reached;
        self.event_pending = progress.event && self.uses_event_mode;
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
            .any(|i| !self.inputs[i.variable].as_deref().is_some_and(|known| is_same(known, i.values)))
    }

    /// Indices of the inputs.
    pub fn inputs(&self) -> Vec<usize> {
        let variables = self.instance.model().variables.iter().enumerate();
        variables.filter(|(_, v)| v.causality == Causality::Input).map(|(at, _)| at).collect()
    }
}

/// Communication points of equal steps, without the rounding errors of a sum. After a step that ended early the next one leads
/// back to them.
#[derive(Default)]
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
