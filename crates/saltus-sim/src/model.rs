//! The model as the driver sees it: the evaluated program, with what the driver adds to it.
//!
//! In: [`ModelFunctions`]. Out: the same, with outputs of `delay` and `spatialDistribution` from their histories, and with
//! all sides of thresholds combined while the model slides along them. Without either it is the program itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use saltus_base::{Diagnostic, Index, Span};
use saltus_program::{
    Activation, DerivativeStatistics, EvalFailure, Held, InstanceCosts, LoopStatistics, Message, MixedMethod,
    MixedSolution, ModelFunctions, Moment, Round, SimProgram, SlotId, Status, Stop, Stopwatch,
};

use crate::history::Histories;
use crate::inputs::{Inputs, SavedSignal, Signal};
use crate::simulation::CannotSet;
use crate::sliding::{Slide, nominal_values};
use crate::surfaces::Surfaces;
use crate::witness::{Jump, Witness};

/// Evaluations until delays that depend on variables are what they were taken for.
const MOST_HISTORY_ROUNDS: u32 = 4;

/// The state of a model beyond that of its instance.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Extras {
    slide: Option<Box<Slide>>,
    histories: Histories,
    inputs: Vec<SavedSignal>,
}

pub(crate) struct Model {
    inner: Box<dyn ModelFunctions>,
    slide: Option<Box<Slide>>,
    histories: Histories,
    inputs: Inputs,
    /// The slide at the last checkpoint.
    saved_slide: Option<Box<Slide>>,
    witness: Option<Box<dyn Witness>>,
    /// The slots of the program that the witness knows, if another one is in use.
    shown: Option<Vec<usize>>,
    /// Between a checkpoint and the return to it nothing is part of the solution.
    is_trial: bool,
    /// When relations of time alone change.
    changes_of_time: Vec<f64>,
    /// How often slots under `pre` became true at events, if somebody wants to know.
    fired: Option<BTreeMap<SlotId, u64>>,
}

impl Model {
    pub fn new(inner: Box<dyn ModelFunctions>) -> Self {
        let histories = Histories::new(inner.program());
        let inputs = Inputs::new(inner.program());
        Model {
            inner,
            slide: None,
            histories,
            inputs,
            saved_slide: None,
            witness: None,
            shown: None,
            is_trial: false,
            changes_of_time: Vec::new(),
            fired: None,
        }
    }

    /// The slots that the witness knows.
    pub fn set_shown(&mut self, shown: Vec<usize>) {
        self.shown = Some(shown);
    }

    /// Another instance with the same past and the same inputs; the one before.
    /// `shown` are the slots that the witness knows, if they are others.
    pub fn exchange(
        &mut self,
        instance: Box<dyn ModelFunctions>,
        shown: Option<Vec<usize>>,
    ) -> Box<dyn ModelFunctions> {
        self.slide = None;
        self.shown = shown;
        self.histories.exchange(self.inner.program(), instance.program());
        std::mem::replace(&mut self.inner, instance)
    }

    /// Counts from now on how often conditions become true.
    pub fn count_conditions(&mut self) {
        self.fired = Some(BTreeMap::new());
    }

    /// How often since the last call.
    pub fn take_fired(&mut self) -> Vec<(SlotId, u64)> {
        self.fired.as_mut().map(std::mem::take).unwrap_or_default().into_iter().collect()
    }

    /// What has changed in a round may be a condition that became true.
    fn count_fired(&mut self, round: &Round) {
        let Some(fired) = self.fired.as_mut().filter(|_| !self.is_trial) else { return };
        for &slot in round.changed.iter().filter(|&&slot| self.inner.get(slot) != 0.0) {
            *fired.entry(slot).or_default() += 1;
        }
    }

    pub fn into_inner(self) -> Box<dyn ModelFunctions> {
        self.inner
    }

    pub fn set_witness(&mut self, witness: Box<dyn Witness>) {
        self.witness = Some(witness);
    }

    /// Shows the present point to the witness.
    pub fn show(&mut self, moment: Moment) {
        if let Some(witness) = self.witness.as_mut().filter(|_| !self.is_trial) {
            let moment = if self.slide.is_some() { Moment::Sliding } else { moment };
            let memory = self.inner.memory();
            match &self.shown {
                None => witness.see(moment, memory),
                Some(shown) => {
                    let value = |&slot: &usize| memory.get(slot).copied().unwrap_or(f64::NAN);
                    witness.see(moment, &shown.iter().map(value).collect::<Vec<f64>>());
                }
            }
        }
    }

    pub fn has_witness(&self) -> bool {
        self.witness.is_some()
    }

    /// Does somebody look?
    pub fn is_watched(&self) -> bool {
        self.witness.is_some() && !self.is_trial && self.slide.is_none()
    }

    /// Shows what has jumped to the witness.
    pub fn show_jump(&mut self, jump: &Jump) {
        if let Some(witness) = self.witness.as_mut() {
            witness.jumped(jump);
        }
    }

    /// A jump as the witness knows it: values before as they are shown, values after and impulses by slot of the present program.
    pub fn jump(&self, before: Vec<f64>, after: &[f64], impulses: &[(SlotId, f64)]) -> Jump {
        let all: Vec<usize> = (0..after.len()).collect();
        let shown = self.shown.as_ref().unwrap_or(&all);
        let value = |slot: &usize| after.get(*slot).copied().unwrap_or(f64::NAN);
        let places = shown.iter().enumerate();
        let impulse = |(home, slot): (usize, &usize)| {
            impulses.iter().find(|(of, _)| of.index() == *slot).map(|(_, impulse)| (home, *impulse))
        };
        let impulses = places.filter_map(impulse).collect();
        Jump { before, after: shown.iter().map(value).collect(), impulses }
    }

    /// Hides what follows from the witness, or does not any more; true if there is one and it sees nothing.
    pub fn hide(&mut self, is_hidden: bool) -> bool {
        self.is_trial = is_hidden && self.witness.is_some();
        self.is_trial
    }

    /// These are time events, besides those that the program knows.
    pub fn set_changes_of_time(&mut self, times: impl Iterator<Item = f64>) {
        self.changes_of_time.clear();
        self.changes_of_time.extend(times);
    }

    pub fn set_input(&mut self, slot: SlotId, signal: Signal) -> Result<(), CannotSet> {
        self.inputs.set(slot, signal)
    }

    /// The inputs that were given so far; the model has none afterwards.
    pub fn take_inputs(&mut self) -> Vec<(SlotId, Signal)> {
        self.inputs.take()
    }

    /// Sets a value; that of an input is held from now on.
    pub fn set_from_outside(&mut self, slot: SlotId, value: f64) {
        self.inner.set(slot, value);
        // Whoever is not an input has no signal.
        let _ = self.inputs.set(slot, Signal::Held(value));
    }

    /// Does an input change with time?
    pub fn inputs_vary(&self) -> bool {
        self.inputs.vary()
    }

    /// Everything beyond the instance that belongs to the state; else names of inputs that cannot be saved.
    pub fn extras(&self) -> Result<Extras, Vec<String>> {
        let inputs = self.inputs.saved(self.inner.program())?;
        Ok(Extras { slide: self.slide.clone(), histories: self.histories.clone(), inputs })
    }

    pub fn set_extras(&mut self, extras: Extras) {
        self.slide = extras.slide;
        self.histories = extras.histories;
        self.inputs.restore(extras.inputs);
    }

    /// Inputs have the values of time `t`, jumps there included.
    pub fn begin_inputs(&mut self, t: f64) {
        self.inputs.pass(t);
        self.inputs.write(t, self.inner.memory_mut());
    }

    /// The past of what is new begins with the present values.
    pub fn begin_new_histories(&mut self, t: f64) {
        self.histories.begin_new(t, self.inner.memory_mut());
    }

    /// The past begins with the present values.
    pub fn begin_histories(&mut self, t: f64) {
        self.histories.begin(t, self.inner.memory_mut());
    }

    /// How far a profile of `spatialDistribution` has moved since it was remembered, of 1.
    pub fn farthest_move(&self) -> f64 {
        self.histories.farthest_move(self.inner.memory())
    }

    pub fn has_histories(&self) -> bool {
        !self.histories.is_empty()
    }

    /// A delay that is negative or not a number.
    pub fn bad_delay(&self) -> Option<(f64, Option<f64>, Span)> {
        self.histories.bad_delay(self.inner.memory()).map(|(delay, time, most)| (time, most, delay.span))
    }

    /// The present point at `t` is part of the solution; nobody will ask for anything before `oldest`.
    pub fn remember(&mut self, t: f64, oldest: f64) {
        self.histories.remember(t, oldest, self.inner.memory());
    }

    /// Values that arrive at `t` have arrived: outputs of delays get their right limits. True if a jump has left a profile.
    pub fn pass(&mut self, t: f64) -> bool {
        let mut has_left = false;
        if !self.histories.is_empty() {
            has_left = self.histories.pass(t, self.inner.memory());
            self.histories.write(t, self.inner.memory_mut());
        }
        self.inputs.pass(t);
        self.inputs.write(t, self.inner.memory_mut());
        has_left
    }

    /// How far the next jump in a profile is from where it leaves.
    pub fn distance_to_jump(&self) -> f64 {
        self.histories.distance_to_jump(self.inner.memory())
    }

    /// The present values are those after an event at `t`.
    pub fn remember_event(&mut self, t: f64) {
        self.histories.remember_event(t, self.inner.memory());
    }

    /// Steps longer than this would need values of the future.
    pub fn shortest_delay(&self) -> f64 {
        self.histories.shortest_delay(self.inner.memory())
    }

    fn eval_plain(&mut self, activation: Activation) -> Status {
        match (&mut self.slide, activation) {
            (Some(slide), Activation::Derivatives) => slide.eval(&mut *self.inner),
            // Evaluated together with the derivatives.
            (Some(_), Activation::Crossings) => Status::Ok,
            (Some(slide), Activation::Outputs) => slide.eval_outputs(&mut *self.inner),
            _ => self.inner.eval(activation),
        }
    }

    /// Delays and positions that depend on variables are known only after an evaluation.
    fn eval_until_consistent(&mut self, activation: Activation) -> Status {
        let mut status = self.eval_plain(activation);
        for _ in 0..MOST_HISTORY_ROUNDS {
            if !status.is_ok() || self.histories.is_consistent(self.inner.memory()) {
                break;
            }
            let t = self.inner.get(self.inner.program().memory.time);
            self.histories.write(t, self.inner.memory_mut());
            status = self.eval_plain(activation);
        }
        status
    }

    pub fn is_sliding(&self) -> bool {
        self.slide.is_some()
    }

    /// Begins to slide along a single threshold if both its sides point at it at the present point; returns the rates of z there.
    pub fn try_to_slide(&mut self, mut slide: Slide) -> Option<(f64, f64)> {
        let now = self.inner.snapshot();
        let nominal = nominal_values(self.inner.program());
        let found = Surfaces::find(&mut *self.inner, slide.relations(), &nominal);
        for is_apart in [false, true] {
            if is_apart {
                let Some((surfaces, _)) = &found else { break };
                slide.move_apart(surfaces.clone());
            }
            if slide.eval(&mut *self.inner).is_ok() && slide.is_attractive() {
                let rates = slide.rates();
                self.inner.restore(&now);
                let lands = found.as_ref().is_none_or(|(surfaces, _)| {
                    slide.eval_on_thresholds(&mut *self.inner, surfaces, &[0]) && slide.is_attractive()
                });
                self.inner.restore(&now);
                if lands && slide.eval(&mut *self.inner).is_ok() {
                    self.slide = Some(Box::new(slide));
                    return Some(rates);
                }
            }
            self.inner.restore(&now);
        }
        None
    }

    /// Goes on with this slide, at the present point.
    pub fn set_slide(&mut self, slide: Box<Slide>) {
        self.slide = Some(slide);
    }

    /// Do groups of thresholds still not influence each other, at the present point?
    pub fn slide_adds_up(&mut self) -> bool {
        let Some(slide) = &mut self.slide else { return true };
        let now = self.inner.snapshot();
        let adds_up = slide.adds_up(&mut *self.inner);
        self.inner.restore(&now);
        adds_up
    }

    pub fn slide(&self) -> Option<&Slide> {
        self.slide.as_deref()
    }

    /// The shares closest to the end of sliding; both positive while nothing slides.
    pub fn least_shares(&self) -> (f64, f64) {
        self.slide.as_ref().map_or((1.0, 1.0), |s| s.least_shares())
    }

    /// Ends sliding at the present point, in the region with the largest part; what it was.
    pub fn end_slide(&mut self) -> Option<Box<Slide>> {
        let slide = self.slide.take()?;
        self.inner.restore(&slide.remaining());
        Some(slide)
    }
}

impl ModelFunctions for Model {
    fn program(&self) -> &Arc<SimProgram> {
        self.inner.program()
    }

    fn memory(&self) -> &[f64] {
        self.inner.memory()
    }

    fn memory_mut(&mut self) -> &mut [f64] {
        self.inner.memory_mut()
    }

    fn program_and_memory(&mut self) -> (&SimProgram, &mut [f64]) {
        self.inner.program_and_memory()
    }

    fn eval(&mut self, activation: Activation) -> Status {
        let is_settled = matches!(
            activation,
            Activation::Parameters
                | Activation::Guesses
                | Activation::Initial
                | Activation::Homotopy
                | Activation::Entry
                | Activation::Arrival
        );
        if is_settled || self.histories.is_empty() {
            return self.eval_plain(activation);
        }
        self.eval_until_consistent(activation)
    }

    fn eval_blocks(&mut self, activation: Activation, blocks: &[u32]) -> Status {
        self.inner.eval_blocks(activation, blocks)
    }

    fn event_round(&mut self) -> Result<Round, Status> {
        self.show(Moment::RoundBegins);
        let status = self.eval(Activation::Events);
        if !status.is_ok() {
            return Err(status);
        }
        self.show(Moment::Round);
        let round = self.end_round()?;
        self.count_fired(&round);
        Ok(round)
    }

    fn measure(&mut self, stopwatch: &Stopwatch) {
        self.inner.measure(stopwatch);
    }

    fn measured(&self) -> Duration {
        self.inner.measured()
    }

    fn costs(&self) -> InstanceCosts {
        self.inner.costs()
    }

    fn save(&self) -> Result<Vec<u8>, Vec<String>> {
        self.inner.save()
    }

    fn resume(&mut self, state: &[u8]) -> Result<(), String> {
        self.inner.resume(state)
    }

    fn renew(&mut self) {
        self.inner.renew();
    }

    fn checkpoint(&mut self) {
        self.is_trial = true;
        self.saved_slide = self.slide.clone();
        self.inner.checkpoint();
    }

    fn rollback(&mut self) {
        self.slide = self.saved_slide.take();
        self.inner.rollback();
        self.is_trial = false;
    }

    fn compile_time(&self) -> Duration {
        self.inner.compile_time()
    }

    fn is_provisional(&self) -> bool {
        self.inner.is_provisional()
    }

    fn is_singular(&mut self) -> bool {
        self.inner.is_singular()
    }

    fn take_unfulfilled(&mut self) -> Vec<(Span, f64)> {
        self.inner.take_unfulfilled()
    }

    fn undetermined(&mut self) -> Vec<(String, Span)> {
        self.inner.undetermined()
    }

    fn last_failure(&self) -> Option<EvalFailure> {
        self.inner.last_failure()
    }

    fn accept(&mut self) {
        self.inner.accept();
    }

    fn watches_steps(&self) -> bool {
        self.inner.watches_steps()
    }

    fn end_step(&mut self) -> bool {
        self.inner.end_step()
    }

    fn reject(&mut self) {
        self.inner.reject();
    }

    fn commit(&mut self) -> Status {
        self.inner.commit()
    }

    fn message(&mut self, message: &Message) -> String {
        self.inner.message(message)
    }

    fn take_warnings(&mut self) -> Vec<Diagnostic> {
        self.inner.take_warnings()
    }

    fn set_stop(&mut self, stop: Stop) {
        self.inner.set_stop(stop);
    }

    fn hold(&mut self, held: &[Held]) {
        self.inner.hold(held);
    }

    fn set_mixed_method(&mut self, method: MixedMethod) {
        self.inner.set_mixed_method(method);
    }

    fn take_mixed_solutions(&mut self) -> Vec<MixedSolution> {
        self.inner.take_mixed_solutions()
    }

    fn loop_statistics(&self) -> LoopStatistics {
        self.inner.loop_statistics()
    }

    /// While it slides the derivatives are those of a combination, whose weights change as well; so do the outputs of delays
    /// that are variables.
    fn linearise_by(&mut self, wanted: &[SlotId], held: &[SlotId]) -> Status {
        if self.slide.is_some() || self.histories.depend_on_variables() {
            return Status::Failed;
        }
        self.inner.linearise_by(wanted, held)
    }

    /// Along time, inputs and what delays give change as well.
    fn directional(&mut self, seeds: &[(SlotId, f64)], derivatives: &mut [f64]) -> Status {
        let time = self.inner.program().memory.time;
        let by_time: f64 = seeds.iter().filter(|(slot, _)| *slot == time).map(|(_, part)| part).sum();
        if by_time == 0.0 || self.histories.is_empty() && !self.inputs.vary() {
            return self.inner.directional(seeds, derivatives);
        }
        let now = self.inner.get(time);
        let Some(inputs) = self.inputs.slopes(now) else { return Status::Failed };
        let moving = self.histories.slopes(now).chain(inputs).map(|(slot, slope)| (slot, by_time * slope));
        let seeds: Vec<(SlotId, f64)> = seeds.iter().copied().chain(moving).collect();
        self.inner.directional(&seeds, derivatives)
    }

    fn derivative_statistics(&self) -> DerivativeStatistics {
        self.inner.derivative_statistics()
    }

    fn get(&self, slot: SlotId) -> f64 {
        self.inner.get(slot)
    }

    fn set(&mut self, slot: SlotId, value: f64) {
        self.inner.set(slot, value);
    }

    fn set_continuous(&mut self, t: f64, x: &[f64]) {
        self.inner.set_continuous(t, x);
        self.inputs.write(t, self.inner.memory_mut());
        if !self.histories.is_empty() {
            self.histories.write(t, self.inner.memory_mut());
        }
    }

    fn next_time_event(&self, t: f64) -> f64 {
        let changes = self.changes_of_time.iter().copied().filter(|&change| change > t);
        let own = changes.fold(self.inner.next_time_event(t), f64::min);
        own.min(self.histories.next_event(t)).min(self.inputs.next_event(t))
    }

    fn get_states(&self, x: &mut [f64]) {
        self.inner.get_states(x);
    }

    fn get_derivatives(&self, dx: &mut [f64]) {
        self.inner.get_derivatives(dx);
    }
}
