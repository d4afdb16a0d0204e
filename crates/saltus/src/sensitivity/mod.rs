//! How a run depends on parameters: first-order sensitivities along the trajectory.
//!
//! In: a model, parameters, times, variables. Out: the variables at the times, their derivatives by the parameters, and the time up to which these
//! are valid.
//!
//! Between events s = ∂x/∂p obeys s' = A s + B. A and B are exact: parameters are seeds of directional derivatives as states are. They are
//! evaluated on the dense output of the run, at both ends and in the middle of its own steps; s is a power series over each ([`series`]), or comes from an implicit method where a step is
//! long for the fastest modes ([`linear`]). At an event whose time moves with the parameters
//! by t', and at which x becomes R(x, p, t),
//!
//! ```text
//! s⁺ = R_x (s⁻ + f⁻ t') + R_p + R_t t' - f⁺ t',   t' = -(∂g/∂x s⁻ + ∂g/∂p) / ġ  where g crosses zero
//! ```
//!
//! Where x does not jump that is s⁻ + (f⁻ - f⁺) t', whatever the event does to modes and relations. Otherwise the event is tried beside its place,
//! in the directions in which it stays on its threshold ([`crossing`]). Values that are held between events take part: they move with the parameters from one event to the next.
//!
//! Where the structure changes, a run slides along a threshold, or an event comes out otherwise when it is tried, sensitivities end: what comes
//! after is left to differences of runs.

mod crossing;
mod linear;
mod path;
mod series;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use saltus_program::{ModelFunctions, SimProgram, SlotId, SlotKind, SlotType};
use saltus_results::Kept;
use saltus_sim::{SimError, Simulation};

use crate::pipeline::Engine;
use crate::{Model, Permissions, Settings, Start};
use linear::Matrix;
use path::Path;

/// Step of differences relative to the parameter: the third root of the rounding error.
const STEP: f64 = 6e-6;
/// A parameter that is smaller counts as this large.
const SMALLEST: f64 = 1e-6;
/// Matrices are dense.
const MOST_STATES: usize = 400;
/// Instances that are kept for later runs.
const MOST_SPARE: usize = 8;

/// Runs one model with different parameters; instances and their machine code are used again.
pub struct Follower {
    pub model: Arc<Model>,
    pub settings: Settings,
    pub engine: Engine,
    pub permissions: Permissions,
    /// Values for all runs; they have been checked.
    pub start: Start,
    pub wanted: Vec<SlotId>,
    pub parameters: Vec<SlotId>,
    /// In ascending order.
    pub times: Vec<f64>,
    pub spare: Mutex<Vec<Box<dyn ModelFunctions>>>,
}

/// What was found.
#[derive(Clone, Default, Debug)]
pub struct Followed {
    /// Row by row: times, then variables. Not-a-number behind the end of a run that ended by itself.
    pub values: Vec<f64>,
    /// Times, variables, parameters; not-a-number where they are not known.
    pub derivatives: Vec<f64>,
    pub valid_until: f64,
    /// Why they are not valid any longer.
    pub why: Option<String>,
}

/// How the start of a run moves with the parameters.
struct Beginning {
    states: Matrix,
    held: Matrix,
    /// Do the times of samples move?
    moves_samples: bool,
}

impl Follower {
    /// A run with these parameters, which are as many as it has.
    fn begin(&self, parameters: &[f64], until: f64, stop: &Arc<AtomicBool>) -> Simulation {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let instance = match spare {
            Some(mut instance) => {
                instance.renew();
                instance
            }
            None => {
                let solver = self.settings.solver;
                self.model.instance_for(solver, self.engine, self.permissions, &Default::default())
            }
        };
        let settings = Settings { stop_time: Some(until), kept: Kept::only(&[], []), ..self.settings.clone() };
        let mut run = Simulation::new(instance, settings.settings(self.model.program()));
        let maker = self.model.configurations(self.engine, self.permissions, &Default::default());
        maker.into_iter().for_each(|maker| run.set_configurations(maker));
        run.stop_when(stop.clone());
        // Both have been checked.
        let _ = self.start.apply(&mut run, &self.model);
        for (&slot, &value) in self.parameters.iter().zip(parameters) {
            let _ = run.set(slot, value);
        }
        run
    }

    fn end(&self, run: Simulation) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(run.into_instance());
        }
    }

    fn last(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// The variables at the times, row by row.
    pub fn values(&self, parameters: &[f64], stop: &Arc<AtomicBool>) -> Result<Vec<f64>, SimError> {
        let mut run = self.begin(parameters, self.last(), stop);
        let mut values = Vec::with_capacity(self.times.len() * self.wanted.len());
        let done = self.times.iter().try_for_each(|&time| self.read(&mut run, time, &mut values));
        self.end(run);
        done.map(|()| values)
    }

    /// Appends the variables at a time.
    fn read(&self, run: &mut Simulation, time: f64, values: &mut Vec<f64>) -> Result<(), SimError> {
        advance_to(run, time)?;
        if run.time() < time {
            // It ended by itself.
            values.extend(self.wanted.iter().map(|_| f64::NAN));
            return Ok(());
        }
        let memory = run.values()?;
        values.extend(self.wanted.iter().map(|&slot| memory.get(saltus_base::Index::index(slot)).unwrap_or(&f64::NAN)));
        Ok(())
    }

    /// The same with derivatives by the parameters.
    pub fn follow(&self, parameters: &[f64], stop: &Arc<AtomicBool>) -> Result<Followed, SimError> {
        let mut run = self.begin(parameters, self.last(), stop);
        let followed = self.follow_run(&mut run, parameters, stop);
        self.end(run);
        followed
    }

    fn follow_run(
        &self,
        run: &mut Simulation,
        parameters: &[f64],
        stop: &Arc<AtomicBool>,
    ) -> Result<Followed, SimError> {
        run.initialise()?;
        let program = run.program().clone();
        let obstacle = match obstacle(&program) {
            _ if !Arc::ptr_eq(&program, self.model.program()) => Some("the structure of the model changes"),
            found => found,
        };
        let mut found = Followed { valid_until: f64::INFINITY, ..Followed::default() };
        if let Some(why) = obstacle {
            (found.valid_until, found.why) = (f64::NEG_INFINITY, Some(why.to_owned()));
        } else {
            let held = held(&program, &self.parameters);
            let beginning = self.beginning(&program, &held, parameters, run.options().start_time, stop)?;
            Path::new(self, run, &program, held, parameters, beginning).follow(&mut found)?;
        }
        // What is left has values only.
        let n_done = found.values.len() / self.wanted.len().max(1);
        for &time in self.times.iter().skip(n_done) {
            self.read(run, time, &mut found.values)?;
        }
        found.derivatives.resize(self.times.len() * self.wanted.len() * self.parameters.len(), f64::NAN);
        Ok(found)
    }

    /// How the start depends on the parameters, by initialising again.
    fn beginning(
        &self,
        program: &SimProgram,
        held: &[SlotId],
        parameters: &[f64],
        start: f64,
        stop: &Arc<AtomicBool>,
    ) -> Result<Beginning, SimError> {
        let states = program.states.iter().map(|state| state.value);
        let samples = program.events.samples.iter().flat_map(|sample| [sample.start, sample.interval]);
        let slots: Vec<SlotId> = states.chain(held.iter().copied()).chain(samples).collect();
        let mut all = Matrix::zeros(slots.len(), parameters.len());
        for p in 0..parameters.len() {
            let step = step_of(parameters[p]);
            let at = |value: f64| {
                let mut moved = parameters.to_vec();
                moved[p] = value;
                let mut run = self.begin(&moved, start, stop);
                let read = run
                    .initialise()
                    .and_then(|()| run.examine(|f| slots.iter().map(|&slot| f.get(slot)).collect::<Vec<f64>>()));
                self.end(run);
                read
            };
            let (high, low) = (parameters[p] + step, parameters[p] - step);
            let (plus, minus) = (at(high)?, at(low)?);
            let column: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a - b) / (high - low)).collect();
            all.set_column(p, &column);
        }
        let n = parameters.len();
        let samples = all.data.split_off((program.states.len() + held.len()) * n);
        let held = all.data.split_off(program.states.len() * n);
        Ok(Beginning {
            states: all,
            held: Matrix { n_columns: n, data: held },
            moves_samples: samples.iter().any(|moved| *moved != 0.0),
        })
    }
}

/// The step of a difference by a parameter.
fn step_of(value: f64) -> f64 {
    STEP * value.abs().max(SMALLEST)
}

/// Goes on up to a time, or until the run ends by itself.
fn advance_to(run: &mut Simulation, until: f64) -> Result<(), SimError> {
    run.initialise()?;
    while run.time() < until && !run.is_over() {
        run.advance(until)?;
    }
    Ok(())
}

/// Values between events that may depend on the parameters: those that events set, and parameters that the initial system determines.
fn held(program: &SimProgram, parameters: &[SlotId]) -> Vec<SlotId> {
    let initial: Vec<SlotId> = program.sections.initial.blocks.iter().flat_map(|block| block.stored()).collect();
    let is_held = |id: &SlotId, kind: SlotKind| match kind {
        SlotKind::Discrete => true,
        SlotKind::Parameter => !parameters.contains(id) && initial.contains(id),
        _ => false,
    };
    let all = program.memory.slots.iter().filter(|(_, slot)| slot.ty == SlotType::Real);
    all.filter(|(id, slot)| is_held(id, slot.kind)).map(|(id, _)| id).collect()
}

/// What makes sensitivities more than those of states and values that are held.
fn obstacle(program: &SimProgram) -> Option<&'static str> {
    let cases = [
        (program.states.len() > MOST_STATES, "it has more than 400 states"),
        (!program.clocks.base_partitions.is_empty(), "clocked variables may depend on the parameters"),
        (!program.history.delays.is_empty() || !program.history.transports.is_empty(), "delays remember the past"),
        (!program.state_sets.is_empty(), "its states are chosen while it runs"),
    ];
    cases.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why)
}
