//! A model that somebody else integrates: time and states come from outside, derivatives and crossing functions go there.
//!
//! In: an instance of a program. Out: after [`Exchange::initialise`] the model is between events: derivatives and everything else follow
//! from time, states and inputs with relations frozen. An [indicator](Exchange::indicators) changes its sign where a relation does; there,
//! at [`Exchange::next_event_time`] and where [`Exchange::end_step`] says so the caller asks for an [event](Exchange::event), which is
//! settled as in a [`Simulation`](crate::Simulation).
//!
//! A model that changes its structure cannot be run like this, because states would come and go; one that slides along a threshold
//! can, but chatters.

mod events;
mod state;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_base::Index;
use saltus_program::{Activation, ModelFunctions, SimProgram, SlotId, SlotKind, SlotType};

use crate::Options;
use crate::crossing::{CrossingSearch, N_WEIGHTS, has_state_events};
use crate::error::{Failure, SimError, SimErrorKind};
use crate::event;
use crate::masking::Masking;
use crate::model::Model;
use crate::selection::Selection;
use crate::trajectory::Warning;
use crate::zeno::Zeno;

pub use events::{Happened, StepEnd};
pub use state::ExchangeState;

pub struct Exchange {
    program: Arc<SimProgram>,
    options: Options,
    model: Model,
    selection: Selection,
    masking: Masking,
    watch: Watch,
    /// How far the present point has been evaluated.
    done: Done,
    work: Work,
    /// Of the program, once a state was asked for.
    fingerprint: OnceCell<u64>,
}

/// What is known between two events; part of the state.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Watch {
    search: CrossingSearch,
    zeno: Zeno,
    next_event: f64,
    /// The last point that belongs to the solution.
    accepted: f64,
    unconfirmed_at: f64,
    /// By assertion: does it fail, and is that known?
    violated: Vec<bool>,
    /// Parameters were set since the last event.
    parameters_changed: bool,
    /// Something else than a crossing asks for the next event: values from outside, or a choice of states.
    is_disturbed: bool,
    /// Inputs that were set for the next event, as they were before: their left limits there.
    left: BTreeMap<SlotId, f64>,
    warnings: Vec<Warning>,
    /// Has it been told that the model slides?
    slides: bool,
    /// Has it been told that switches leave variables open?
    is_open: bool,
}

/// Sections that have been evaluated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Done {
    Nothing,
    Derivatives,
    Crossings,
    All,
}

#[derive(Default)]
struct Work {
    z: Vec<f64>,
    scale: Vec<f64>,
    /// How large each crossing function has been since the last event, as far as the caller has asked.
    reach: Vec<f64>,
    /// Crossing functions that the caller was shown beyond their thresholds since the last event.
    shown: Vec<Shown>,
    x: Vec<f64>,
}

/// The caller has been shown that a relation has changed.
#[derive(Clone, Copy, Default)]
struct Shown {
    /// At what time it was last.
    at: Option<f64>,
    /// The largest distance of the function from zero there.
    farthest: f64,
}

impl Exchange {
    /// A model that has not been initialised; its instance should be new, or renewed.
    pub fn new(instance: Box<dyn ModelFunctions>, options: Options) -> Self {
        let program = instance.program().clone();
        let n = program.events.relations.len() + N_WEIGHTS;
        let watch = Watch {
            search: CrossingSearch::new(&program),
            zeno: Zeno::new(options.on_zeno),
            next_event: f64::INFINITY,
            accepted: options.start_time,
            unconfirmed_at: f64::NEG_INFINITY,
            violated: vec![false; program.events.assertions.len()],
            parameters_changed: false,
            is_disturbed: false,
            left: BTreeMap::new(),
            warnings: Vec::new(),
            slides: false,
            is_open: false,
        };
        Exchange {
            masking: Masking::new(&program),
            selection: Selection::new(program.clone()),
            model: Model::new(instance),
            watch,
            done: Done::Nothing,
            work: Work {
                z: vec![0.0; n],
                scale: vec![0.0; n],
                reach: vec![0.0; n],
                shown: vec![Shown::default(); n],
                x: vec![0.0; program.states.len()],
            },
            fingerprint: OnceCell::new(),
            program,
            options,
        }
    }

    pub fn program(&self) -> &Arc<SimProgram> {
        &self.program
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Before the initialisation: other times, another tolerance.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Relations that a root finder watches, and where a jump leaves a `spatialDistribution`.
    pub fn n_indicators(program: &SimProgram) -> usize {
        program.events.relations.len() + usize::from(!program.history.transports.is_empty())
    }

    /// Solves the initial system with these parameters and inputs, and settles the first event.
    pub fn initialise(&mut self, values: &[(SlotId, f64)]) -> Result<Happened, SimError> {
        self.initialise_or_fail(values).map_err(told)
    }

    fn initialise_or_fail(&mut self, values: &[(SlotId, f64)]) -> Result<Happened, Failure> {
        let start = self.options.start_time;
        if let Some(what) = self.options.mistake() {
            return Err(Failure::new(start, SimErrorKind::BadOptions { what }));
        }
        self.model.renew();
        self.model.take_inputs();
        self.done = Done::Nothing;
        for &(slot, value) in values {
            self.model.set_from_outside(slot, value);
        }
        self.model.set_mixed_method(self.options.mixed);
        let settled = event::initialise(&self.program, &mut self.model, &self.options)?;
        self.tell_other_structure(start);
        self.model.remember_event(start);
        self.watch.accepted = start;
        (self.watch.parameters_changed, self.watch.is_disturbed) = (false, false);
        self.watch.left.clear();
        self.done = Done::All;
        self.check_assertions()?;
        self.begin(false)?;
        let terminated = settled.termination.map(|i| self.termination(i));
        self.follow(Happened { terminated, states_changed: true })
    }

    pub fn time(&self) -> f64 {
        self.model.get(self.program.memory.time)
    }

    pub fn set_time(&mut self, t: f64) {
        if self.time().to_bits() != t.to_bits() {
            self.model.set(self.program.memory.time, t);
            self.done = Done::Nothing;
        }
    }

    pub fn states(&self, x: &mut [f64]) {
        self.model.get_states(x);
    }

    pub fn set_states(&mut self, x: &[f64]) {
        let memory = self.model.memory();
        let is_same = |(state, x): (&saltus_program::State, &f64)| memory[state.value.index()].to_bits() == x.to_bits();
        if self.program.states.iter().zip(x).all(is_same) {
            return;
        }
        for (state, &x) in self.program.states.iter().zip(x) {
            self.model.set(state.value, x);
        }
        self.done = Done::Nothing;
    }

    /// Sets an input, a parameter or a state. Parameters count from the next event on.
    pub fn set(&mut self, slot: SlotId, value: f64) {
        if self.model.get(slot).to_bits() == value.to_bits() {
            return;
        }
        let kind = self.program.memory.slots.get(slot).map(|s| s.kind);
        self.watch.parameters_changed |= kind == Some(SlotKind::Parameter);
        self.watch.is_disturbed = true;
        if kind == Some(SlotKind::Input) {
            self.watch.left.entry(slot).or_insert(self.model.get(slot));
        }
        self.model.set_from_outside(slot, value);
        self.done = Done::Nothing;
    }

    /// An event is due here: what continuous inputs are now, they are on its left. Others keep their values between events, so that one that
    /// has been set jumps here.
    pub fn begin_event(&mut self) {
        let slots = &self.program.memory.slots;
        self.watch.left.retain(|slot, _| slots.get(*slot).is_some_and(|s| s.ty != SlotType::Real));
    }

    /// The magnitude of each state, for tolerances.
    pub fn nominals(&self) -> impl Iterator<Item = f64> {
        self.program.states.iter().map(|s| s.nominal)
    }

    fn evaluate(&mut self, wanted: Done) -> Result<(), Failure> {
        if self.done >= wanted {
            return Ok(());
        }
        let t = self.time();
        let steps = [
            (Done::Derivatives, Activation::Derivatives),
            (Done::Crossings, Activation::Crossings),
            (Done::All, Activation::Outputs),
        ];
        if self.done == Done::Nothing && self.model.has_histories() {
            self.model.get_states(&mut self.work.x);
            self.model.set_continuous(t, &self.work.x);
        }
        for (after, activation) in steps {
            if self.done < after && after <= wanted {
                if let Err(failure) = event::eval(&mut self.model, t, activation) {
                    self.model.reject();
                    return Err(failure);
                }
                self.done = after;
            }
        }
        Ok(())
    }

    /// Derivatives of the states at the present point. Where that fails a point closer by may do.
    pub fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), SimError> {
        self.evaluate(Done::Derivatives).map_err(told)?;
        self.model.get_derivatives(dx);
        Ok(())
    }

    /// Functions of time, states and inputs that change their signs where an event is due.
    ///
    /// Beyond an event the equations of the branch that it leaves may have no solution. There the functions are those of the branch that
    /// the relations ask for, so that a search between both points finds the event.
    pub fn indicators(&mut self, z: &mut [f64]) -> Result<(), SimError> {
        if let Err(failure) = self.evaluate(Done::Crossings) {
            self.model.checkpoint();
            let is_evaluated =
                [Activation::Events, Activation::Crossings].into_iter().all(|a| self.model.eval(a).is_ok());
            self.read_indicators(z);
            self.model.rollback();
            return if is_evaluated { Ok(()) } else { Err(told(failure)) };
        }
        self.read_indicators(z);
        Ok(())
    }

    fn read_indicators(&mut self, z: &mut [f64]) {
        let t = self.time();
        for ((i, relation), z) in self.program.events.relations.values().enumerate().zip(z.iter_mut()) {
            let crossing = self.model.get(relation.crossing);
            self.work.reach[i] = self.work.reach[i].max(crossing.abs());
            if self.watch.search.has_changed(i, crossing) {
                let farthest = self.work.shown[i].farthest.max(crossing.abs());
                self.work.shown[i] = Shown { at: Some(t), farthest };
            }
            *z = self.watch.search.indicator(i, crossing);
        }
        if let (false, Some(last)) = (self.program.history.transports.is_empty(), z.last_mut()) {
            let i = self.program.events.relations.len() + N_WEIGHTS - 1;
            *last = self.watch.search.indicator(i, self.model.distance_to_jump());
        }
    }

    /// All values at the present point, by slot.
    pub fn values(&mut self) -> Result<&[f64], SimError> {
        self.evaluate(Done::All).map_err(told)?;
        Ok(self.model.memory())
    }

    /// A value at the present point. What changes at events only is known without an evaluation.
    pub fn get(&mut self, slot: SlotId) -> Result<f64, SimError> {
        let kind = self.program.memory.slots.get(slot).map(|s| s.kind);
        match kind {
            Some(SlotKind::Derivative) => self.evaluate(Done::Derivatives).map_err(told)?,
            Some(SlotKind::Algebraic | SlotKind::Auxiliary) => self.evaluate(Done::All).map_err(told)?,
            _ => {}
        }
        Ok(self.model.get(slot))
    }

    /// Lets `look` work with the instance, evaluated at the present point. What it does there leaves no trace.
    pub fn examine<R>(&mut self, look: impl FnOnce(&mut dyn ModelFunctions) -> R) -> Result<R, SimError> {
        self.evaluate(Done::All).map_err(told)?;
        self.model.checkpoint();
        let result = look(&mut self.model);
        self.model.rollback();
        Ok(result)
    }

    /// When the next event is due whatever the states do; infinite if there is none.
    pub fn next_event_time(&self) -> f64 {
        self.watch.next_event
    }

    /// Warnings since this was asked last.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.watch.warnings)
    }

    /// As if just made.
    pub fn renew(&mut self) {
        self.model.renew();
        self.model.take_inputs();
        self.done = Done::Nothing;
    }

    /// The crossing functions at the present point, into the work space.
    fn look(&mut self) -> Result<(), Failure> {
        self.evaluate(Done::Crossings)?;
        let Work { z, scale, .. } = &mut self.work;
        for ((relation, z), scale) in self.program.events.relations.values().zip(z.iter_mut()).zip(scale.iter_mut()) {
            (*z, *scale) = (self.model.get(relation.crossing), self.model.get(relation.scale));
        }
        let n = self.program.events.relations.len();
        let others = [1.0, 1.0, self.model.distance_to_jump()];
        z[n..].iter_mut().zip(others).for_each(|(z, other)| *z = other);
        scale[n..].fill(1.0);
        Ok(())
    }

    fn has_state_events(&self) -> bool {
        has_state_events(&self.program)
    }
}

/// A failure for the caller.
fn told(Failure { time, kind, span, details, .. }: Failure) -> SimError {
    SimError { time, kind, span, details, partial: Box::default() }
}

/// A model can go to another thread.
const _: () = {
    const fn sent<T: Send>() {}
    sent::<Exchange>();
};
