//! Runs of quantised states: one derivative, one relation, one event at a time.
//!
//! ```text
//! SimProgram ──► slices: the blocks of each derivative, relation and assertion      (slices, forms)
//!                states as parabolas, each with a line that the others see          (saltus_numerics::Liqss2)
//!                when relations change: roots along the parabolas, or enclosures    (watches)
//!                events: what reads what has changed                                (local)
//! ```
//!
//! In: a program and the values behind its first event. Out: what is due next, and what it does. [`crate::simulation`] writes rows and records, and
//! settles events that concern the whole model.

mod forms;
mod local;
mod masks;
mod slices;
mod watches;

use std::collections::HashMap;
use std::sync::Arc;

use saltus_base::Index;
use saltus_numerics::liqss::schedule::Schedule;
use saltus_numerics::{Dependency, Liqss2, Longest, QuantisedSystem, RateFails, Tolerances, TrialFailure};
use saltus_program::{Activation, ModelFunctions, RelationId, Sample, SimProgram, SlotId, SlotKind, Status};

use crate::constants::{CHATTERING_SPAN, MOST_EVENTS_WITHOUT_PROGRESS, NO_PROGRESS_ULPS, WIDEST_BAND};
use crate::error::{Failure, SimErrorKind};
use crate::event::{self, Flips};
use crate::integration;
use crate::model::Model;
use crate::options::Options;
pub(crate) use local::Outcome;
use local::{Local, Point, Seeds};
use masks::Masks;
use slices::{Slice, Slices};
use watches::{Around, Provers, Watch};

/// Why a model cannot be simulated by quantised states; `None` if it can.
pub(crate) fn obstacle(program: &SimProgram) -> Option<&'static str> {
    let obstacles = [
        (program.configuration.is_some(), "its structure changes"),
        (!program.state_sets.is_empty(), "its states are chosen while it runs"),
        (
            has_loops_over_arrays(program),
            "its loops over arrays were not taken apart when it was compiled (`--scalars`)",
        ),
        (!program.history.delays.is_empty() || !program.history.transports.is_empty(), "it has delays"),
    ];
    obstacles.into_iter().find(|(holds, _)| *holds).map(|(_, what)| what)
}

/// Each element must be evaluated on its own.
fn has_loops_over_arrays(program: &SimProgram) -> bool {
    program.sections.named().iter().any(|(_, section)| section.has_repeats())
}

/// Too much of the model is in common.
pub(crate) const TOO_LARGE: &str = "its derivatives have too many equations in common";

/// A relation would only be looked at in points.
pub(crate) fn not_enclosed(relation: &str) -> String {
    format!("`{relation}` is not linear in states and time, and what it does between two times cannot be enclosed")
}

/// What is due next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Next {
    /// A new line of a state, or a look ahead: nobody else notices.
    Step,
    Event,
    /// A relation of an assertion changes.
    Bound(usize),
}

/// How often a relation has changed without progress.
#[derive(Clone, Copy, Debug)]
struct Tally {
    since: f64,
    count: u64,
}

pub(crate) struct Quantised {
    slices: Slices,
    states: Liqss2,
    /// Relations of events, behind them those of assertions.
    watches: Vec<Watch>,
    n_relations: usize,
    masks: Masks,
    tallies: Vec<Tally>,
    /// Changes of relations, looks at them, timers, samples, and all of these together where events concern the whole model.
    schedule: Schedule,
    local: Option<Local>,
    /// Why events concern the whole model, if they do.
    pub whole: Option<&'static str>,
    /// By memory the relation, by threshold the timers.
    relation_of: HashMap<SlotId, u32>,
    timers_of: HashMap<SlotId, Vec<u32>>,
    provers: Provers,
    longest_look: f64,
    time_span: f64,
    /// Relations that were due at the event, timers and samples.
    pub due: Due,
    /// How often crossing functions were renewed.
    pub renewals: u64,
    /// The next row.
    pub next_row: f64,
    /// What the last event has changed, with the values before, and whether that concerned derivatives.
    pub changed: Vec<(SlotId, f64)>,
    pub has_restarted: bool,
    /// What is recorded at events.
    names: HashMap<SlotId, Arc<str>>,
    /// Storage.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

/// What was due at an event, by position.
#[derive(Default)]
pub(crate) struct Due {
    pub relations: Vec<u32>,
    pub timers: Vec<u32>,
    pub samples: Vec<usize>,
    /// Something of time took part.
    pub is_timed: bool,
}

/// One derivative of the model.
struct Rates<'a> {
    program: &'a SimProgram,
    slices: &'a [Slice],
    model: &'a mut Model,
    status: Status,
}

impl QuantisedSystem for Rates<'_> {
    fn rate(&mut self, i: usize, t: f64, q: &[f64]) -> Result<f64, TrialFailure> {
        let slice = &self.slices[i];
        self.model.set(self.program.memory.time, t);
        for &j in &slice.states {
            self.model.set(self.program.states[j as usize].value, q[j as usize]);
        }
        self.status = slice.eval(self.model);
        if !self.status.is_ok() {
            return Err(TrialFailure);
        }
        Ok(self.model.get(self.program.states[i].derivative))
    }
}

impl Quantised {
    /// `None` if the parts of the program are too large.
    pub fn new(program: &SimProgram, options: &Options, watched: &[(SlotId, Arc<str>)]) -> Option<Self> {
        let slices = Slices::of(program)?;
        let nominal = |x: f64| if x.is_finite() && x != 0.0 { x.abs() } else { 1.0 };
        let tolerances = Tolerances {
            relative: options.tolerance,
            absolute: program.states.iter().map(|s| options.tolerance * nominal(s.nominal)).collect(),
            unbounded: program.states.iter().map(|s| s.unbounded).collect(),
        };
        let longest_look = integration::look_interval(options);
        let longest = Longest { line: options.max_step.unwrap_or(f64::INFINITY), look: longest_look };
        let dependency = |slice: &Slice| Dependency {
            states: slice.states.to_vec(),
            has_time: slice.has_time,
            is_affine: slice.is_affine,
        };
        let states = Liqss2::new(tolerances, longest, slices.rates.iter().map(dependency).collect());
        let watches = watches::watches(program, longest_look);
        let events = &program.events;
        let whole = local::obstacle(program);
        let mut timers_of: HashMap<SlotId, Vec<u32>> = HashMap::new();
        for (k, timer) in events.time_events.iter().enumerate() {
            timers_of.entry(timer.threshold).or_default().push(k as u32);
        }
        let relations = events.relations.values().enumerate();
        let n = watches.len();
        let masks = Masks::new(program);
        let memory = |id: RelationId| events.relations.get(id).map(|r| r.memory);
        let unwatched: Vec<SlotId> = masks.candidates().filter_map(memory).collect();
        Some(Quantised {
            schedule: Schedule::new(2 * n + events.time_events.len() + events.samples.len() + 1),
            tallies: vec![Tally { since: f64::NEG_INFINITY, count: 0 }; n],
            local: whole.is_none().then(|| Local::new(program, &slices.state_of, &unwatched)),
            masks,
            whole,
            relation_of: relations.map(|(k, r)| (r.memory, k as u32)).collect(),
            timers_of,
            n_relations: events.relations.len(),
            provers: Provers::new(program, &slices.crossings),
            watches,
            states,
            slices,
            longest_look,
            time_span: options.time_span(),
            due: Due::default(),
            renewals: 0,
            next_row: f64::NEG_INFINITY,
            changed: Vec::new(),
            has_restarted: false,
            names: watched.iter().cloned().collect(),
            touched: Vec::new(),
            is_touched: vec![false; n],
        })
    }

    /// A relation that is not affine between events and cannot be enclosed: what it does between two evaluations would have to be guessed.
    pub fn unenclosed(&mut self) -> Option<&str> {
        let crossings = self.slices.crossings.iter().enumerate();
        let mut curved = crossings.filter(|(_, slice)| !slice.is_affine).map(|(k, _)| k);
        let provers = &mut self.provers;
        curved.find(|&k| !provers.is_enclosed(k)).map(|k| self.watches[k].text())
    }

    /// Begins with the values in memory, behind an event at `t`.
    pub fn begin(&mut self, program: &SimProgram, model: &mut Model, t: f64) -> Result<(), Failure> {
        let x: Vec<f64> = program.states.iter().map(|s| model.get(s.value)).collect();
        self.with_rates(program, model, |states, rates| states.start(rates, t, &x))?;
        self.masks.begin(model.memory());
        self.provers.forget();
        for k in 0..self.watches.len() {
            self.watches[k].confirm();
            self.begin_watch(program, model, k, t)?;
            self.take_value(program, model, k);
            self.renew_watch(program, model, k, t)?;
        }
        self.schedule_time(program, model, t);
        Ok(())
    }

    /// What is due next, and when.
    pub fn next(&self) -> (f64, Next) {
        let steps = self.states.next_time();
        let (item, at) = self.schedule.first().unwrap_or((usize::MAX, f64::INFINITY));
        let n = self.watches.len();
        match item {
            // Of what is due at once the event comes last: it sees what the others come to.
            _ if steps <= at => (steps, Next::Step),
            _ if (n..2 * n).contains(&item) => (at, Next::Step),
            _ if (self.n_relations..n).contains(&item) => (at, Next::Bound(item - self.n_relations)),
            _ => (at, Next::Event),
        }
    }

    /// Is a relation that is due up to `at` at its threshold at `t`, and has it the other value there?
    pub fn is_threshold_met(&self, t: f64, at: f64) -> bool {
        (0..self.n_relations).any(|k| self.schedule.time(k) <= at && self.watches[k].is_met(t))
    }

    /// A state at `t`, up to what is due next.
    pub fn value(&self, i: usize, t: f64) -> f64 {
        self.states.value(i, t)
    }

    /// The name under which changes of a slot are recorded.
    pub fn name(&self, slot: SlotId) -> Option<Arc<str>> {
        self.names.get(&slot).cloned()
    }

    /// The relation with this memory.
    pub fn relation(&self, memory: SlotId) -> Option<u32> {
        self.relation_of.get(&memory).copied()
    }

    /// Do events concern the whole model?
    pub fn is_whole(&self) -> bool {
        self.whole.is_some()
    }

    pub fn statistics(&self) -> saltus_numerics::Statistics {
        self.states.statistics()
    }

    /// Does a step or a look that is due.
    pub fn step(&mut self, program: &SimProgram, model: &mut Model) -> Result<(), Failure> {
        let n = self.watches.len();
        if let Some((item, at)) = self.schedule.first().filter(|&(_, at)| at < self.states.next_time()) {
            return self.renew_watch(program, model, item.saturating_sub(n), at);
        }
        self.with_rates(program, model, |states, rates| states.step(rates))?;
        self.follow_states(program, model, self.states.time())
    }

    /// Crossing functions of states with new parabolas.
    fn follow_states(&mut self, program: &SimProgram, model: &mut Model, t: f64) -> Result<(), Failure> {
        for k in 0..self.states.moved().len() {
            let i = self.states.moved()[k] as usize;
            for n in 0..self.slices.crossings_of[i].len() {
                self.touch(self.slices.crossings_of[i][n]);
            }
        }
        self.renew_touched(program, model, t)
    }

    fn touch(&mut self, watch: u32) {
        if !std::mem::replace(&mut self.is_touched[watch as usize], true) {
            self.touched.push(watch);
        }
    }

    fn renew_touched(&mut self, program: &SimProgram, model: &mut Model, t: f64) -> Result<(), Failure> {
        while let Some(k) = self.touched.pop() {
            self.is_touched[k as usize] = false;
            self.renew_watch(program, model, k as usize, t)?;
        }
        Ok(())
    }

    fn with_rates(
        &mut self,
        program: &SimProgram,
        model: &mut Model,
        act: impl FnOnce(&mut Liqss2, &mut Rates) -> Result<(), RateFails>,
    ) -> Result<(), Failure> {
        let mut rates = Rates { program, slices: &self.slices.rates, model, status: Status::Ok };
        let done = act(&mut self.states, &mut rates);
        let status = rates.status;
        done.map_err(|RateFails { state, t }| {
            // A value that is not finite shows at its slot.
            let status = if status.is_ok() { Status::NotANumber(program.states[state].derivative) } else { status };
            event::failure_of(model, t, status, Activation::Derivatives, "during integration")
        })
    }

    fn begin_watch(&mut self, program: &SimProgram, model: &mut Model, k: usize, t: f64) -> Result<(), Failure> {
        let Quantised { slices, states, provers, longest_look, .. } = self;
        let around = Around { program, slices, states, provers, longest_look: *longest_look };
        self.watches[k].begin(k, t, &around, model)
    }

    fn renew_watch(&mut self, program: &SimProgram, model: &mut Model, k: usize, t: f64) -> Result<(), Failure> {
        if self.masks.is_masked(k) {
            self.schedule.set(k, f64::INFINITY);
            self.schedule.set(self.watches.len() + k, f64::INFINITY);
            return Ok(());
        }
        let Quantised { slices, states, provers, longest_look, .. } = self;
        let mut around = Around { program, slices, states, provers, longest_look: *longest_look };
        let due = self.watches[k].renew(k, t, &mut around, model)?;
        self.renewals += 1;
        self.schedule.set(k, due.change);
        self.schedule.set(self.watches.len() + k, if due.look > t { due.look } else { t.next_up() });
        Ok(())
    }

    /// A relation has the value in memory; one of an assertion that of its function.
    fn take_value(&mut self, program: &SimProgram, model: &Model, k: usize) {
        match program.events.relations.get(RelationId::from_usize(k)) {
            Some(relation) => self.watches[k].value = model.get(relation.memory) != 0.0,
            None => self.watches[k].is_literal = true,
        }
    }

    /// Timers and samples from `t` on.
    fn schedule_time(&mut self, program: &SimProgram, model: &Model, t: f64) {
        let n = 2 * self.watches.len();
        let events = &program.events;
        if self.whole.is_some() {
            self.schedule.set(n + events.time_events.len() + events.samples.len(), event::next_time_event(model, t));
            return;
        }
        (0..events.time_events.len()).for_each(|k| self.schedule_timer(program, model, k, t));
        (0..events.samples.len()).for_each(|k| self.schedule_sample(program, model, k));
    }

    fn schedule_timer(&mut self, program: &SimProgram, model: &Model, k: usize, t: f64) {
        let timer = &program.events.time_events[k];
        let key = timer.key(model.get(timer.threshold));
        self.schedule.set(2 * self.watches.len() + k, if key > t { key } else { f64::INFINITY });
    }

    fn schedule_sample(&mut self, program: &SimProgram, model: &Model, k: usize) {
        let events = &program.events;
        let sample = &events.samples[k];
        let tick = model.get(sample.start) + model.get(sample.tick) * model.get(sample.interval);
        self.schedule.set(2 * self.watches.len() + events.time_events.len() + k, tick);
    }

    /// Takes what is due at an event from the schedule; its time. What practically coincides in time is one event.
    pub fn take_due(&mut self, program: &SimProgram) -> f64 {
        self.due = Due::default();
        let n = self.watches.len();
        let n_timers = program.events.time_events.len();
        let mut t = f64::NEG_INFINITY;
        while let Some((item, at)) = self.schedule.first() {
            let is_timed = item >= 2 * n;
            if t != f64::NEG_INFINITY && at > if is_timed { event::reach(t) } else { t } {
                break;
            }
            t = t.max(at);
            if is_timed {
                self.due.is_timed = true;
                match item - 2 * n {
                    k if k < n_timers => self.due.timers.push(k as u32),
                    k if k < n_timers + program.events.samples.len() => self.due.samples.push(k - n_timers),
                    _ => {}
                }
            } else if item < self.n_relations {
                self.due.relations.push(item as u32);
            } else {
                // A look, or a relation of an assertion: right after the event.
                self.touch(if item < n { item as u32 } else { (item - n) as u32 });
            }
            self.schedule.set(item, f64::INFINITY);
        }
        t
    }

    /// Settles an event where it happens; `None` if events concern the whole model.
    pub fn settle_locally(
        &mut self,
        program: &SimProgram,
        model: &mut Model,
        t: f64,
        most_rounds: usize,
    ) -> Option<Outcome> {
        let local = self.local.as_mut().filter(|_| self.whole.is_none())?;
        let events = &program.events;
        let mut seeds = Seeds::default();
        let relation = |&k: &u32| events.relations.get(RelationId::from_usize(k as usize));
        seeds.memories.extend(self.due.relations.iter().filter_map(relation).map(|r| r.memory));
        seeds.memories.extend(self.due.timers.iter().map(|&k| events.time_events[k as usize].memory));
        let samples: Vec<&Sample> = self.due.samples.iter().map(|&k| &events.samples[k]).collect();
        let ticks: Vec<f64> = samples.iter().map(|sample| model.get(sample.tick)).collect();
        for sample in &samples {
            event::activate_sample(sample, model, t);
            seeds.active.push(sample.active);
        }
        let point = Point { program, model: &mut *model, states: &self.states, state_of: &self.slices.state_of, t };
        let outcome = local.settle(point, &seeds, most_rounds);
        if let Outcome::Failed = outcome {
            for (sample, tick) in samples.into_iter().zip(ticks) {
                model.set(sample.active, 0.0);
                model.set(sample.tick, tick);
            }
        }
        Some(outcome)
    }

    /// What a local event has changed: discrete variables and states, with the values before.
    pub fn changes(&self, program: &SimProgram, model: &Model) -> Vec<(SlotId, f64)> {
        let Some(local) = &self.local else { return Vec::new() };
        let changed = local.log().iter().filter(|&&(slot, before)| model.get(slot).to_bits() != before.to_bits());
        changed.filter(|(slot, _)| self.keeps(program, *slot)).copied().collect()
    }

    /// Does a change of this slot at an event matter for what follows? That of a discrete variable, a state or a threshold of time does.
    pub fn keeps(&self, program: &SimProgram, slot: SlotId) -> bool {
        let kind = program.memory.slots.get(slot).map(|s| s.kind);
        let is_kept = |kind: SlotKind| !kind.is_continuous() || kind == SlotKind::State;
        kind.is_some_and(is_kept) || self.timers_of.contains_key(&slot)
    }

    /// Relations that the last local event has changed, in which round, also those that have changed back.
    pub fn flips(&self) -> Flips {
        self.local.as_ref().map(|local| local.flips().clone()).unwrap_or_default()
    }

    /// Goes on behind an event at `t` that has changed these. True if an assertion may be another one.
    pub fn go_on(
        &mut self,
        program: &SimProgram,
        model: &mut Model,
        t: f64,
        changed: &[(SlotId, f64)],
        flips: &Flips,
    ) -> Result<bool, Failure> {
        let (n_states, n_watches) = (self.states_len(), self.watches.len());
        let (mut resets, mut rows, mut begun, mut is_asserted) = (Vec::new(), Vec::new(), Vec::new(), false);
        if !changed.is_empty() {
            self.provers.forget();
        }
        for &(slot, _) in changed {
            match self.slices.state_of[slot.index()] {
                slices::NONE => {}
                i => resets.push((i as usize, model.get(slot))),
            }
            for &reader in &self.slices.readers[slot.index()] {
                match reader as usize {
                    i if i < n_states => rows.push(i),
                    k if k < n_states + n_watches => begun.push(k - n_states),
                    _ => is_asserted = true,
                }
            }
        }
        rows.sort_unstable();
        rows.dedup();
        self.has_restarted = !resets.is_empty() || !rows.is_empty();
        if self.has_restarted {
            self.with_rates(program, model, |states, rates| states.settle(rates, t, &resets, &rows))?;
        }
        begun.sort_unstable();
        begun.dedup();
        for &k in &begun {
            self.begin_watch(program, model, k, t)?;
            self.touch(k as u32);
        }
        self.follow_masks(model, changed);
        let mut changed_relations: Vec<u32> = flips.iter().map(|(_, relation, _)| relation.index() as u32).collect();
        for &(slot, _) in changed {
            if let Some(&k) = self.relation_of.get(&slot) {
                self.watches[k as usize].value = model.get(slot) != 0.0;
                changed_relations.push(k);
            }
        }
        changed_relations.sort_unstable();
        changed_relations.dedup();
        for &k in &changed_relations {
            self.watches[k as usize].confirm();
            self.touch(k);
        }
        for n in 0..self.due.relations.len() {
            let k = self.due.relations[n];
            // Where something else has changed the relation may have another threshold, as that of a staircase.
            if changed.is_empty() && changed_relations.binary_search(&k).is_err() {
                self.watches[k as usize].widen();
            }
            self.touch(k);
        }
        if self.has_restarted {
            self.follow_states(program, model, t)?;
        }
        self.renew_touched(program, model, t)?;
        self.reschedule(program, model, t, changed);
        changed_relations.iter().try_for_each(|&k| self.judge(program, k as usize, t, &resets))?;
        Ok(is_asserted)
    }

    /// Relations that are not watched from now on, or are again.
    fn follow_masks(&mut self, model: &Model, changed: &[(SlotId, f64)]) {
        let mut judged = Vec::new();
        for &(slot, _) in changed {
            self.masks.follow(slot, model.memory(), &mut |relation| judged.push(relation));
        }
        judged.iter().for_each(|relation| self.touch(relation.index() as u32));
    }

    fn states_len(&self) -> usize {
        self.slices.rates.len()
    }

    /// Timers whose thresholds have changed, and samples that have ticked.
    fn reschedule(&mut self, program: &SimProgram, model: &Model, t: f64, changed: &[(SlotId, f64)]) {
        if self.whole.is_some() {
            self.schedule_time(program, model, t);
            return;
        }
        for (slot, _) in changed {
            for k in self.timers_of.get(slot).cloned().unwrap_or_default() {
                self.schedule_timer(program, model, k as usize, t);
            }
        }
        for n in 0..self.due.samples.len() {
            self.schedule_sample(program, model, self.due.samples[n]);
        }
    }

    /// Does a relation that has changed make progress, and has no state passed through a threshold that should have turned it back?
    fn judge(&mut self, program: &SimProgram, k: usize, t: f64, resets: &[(usize, f64)]) -> Result<(), Failure> {
        let Some(relation) = program.events.relations.get(RelationId::from_usize(k)) else { return Ok(()) };
        let tally = &mut self.tallies[k];
        let resolution = t.abs().next_up() - t.abs();
        if t - tally.since > (CHATTERING_SPAN * self.time_span).max(NO_PROGRESS_ULPS * resolution) {
            *tally = Tally { since: t, count: 0 };
        }
        tally.count += 1;
        if tally.count > MOST_EVENTS_WITHOUT_PROGRESS {
            let kind =
                SimErrorKind::Chattering { events: tally.count, relation: relation.text.clone(), modes: Vec::new() };
            return Err(Failure::new(t, kind).at(relation.span));
        }
        let watch = &self.watches[k];
        let jumped =
            || self.slices.crossings[k].states.iter().any(|&j| resets.iter().any(|reset| reset.0 == j as usize));
        let [z, slope, _] = watch.z.0;
        // A state was turned back, and does not come far enough for its relation to change back.
        let is_lost = !self.masks.is_masked(k)
            && z.abs() <= WIDEST_BAND * watch.band / saltus_program::RELATION_BAND
            && slope * watch.side() < 0.0
            && self.schedule.time(k) == f64::INFINITY;
        if is_lost && (jumped() || !resets.is_empty()) {
            let kind = SimErrorKind::Zeno { relation: relation.text.clone(), accumulation: None };
            return Err(Failure::new(t, kind).at(relation.span));
        }
        Ok(())
    }

    /// A relation of an assertion changes: the value that it has from now on.
    pub fn pass_bound(&mut self, program: &SimProgram, model: &mut Model, bound: usize, t: f64) -> Result<(), Failure> {
        let k = self.n_relations + bound;
        self.watches[k].value = !self.watches[k].value;
        self.renew_watch(program, model, k, t)
    }
}
