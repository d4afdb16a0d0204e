//! Detection of crossings with proof: crossing functions enclosed in intervals instead of looked at in points.
//!
//! In: the program, what is fixed between events, the dense output of a step. Out: relations of time alone become time events
//! ([`ahead`]); for the others a statement about a step: this relation does not change in it, or here it does first, or it was
//! only sampled ([`Prover::prove`]).
//!
//! [`tape`] is the part of the program that crossing functions need, put together by [`builder`], [`dual`] says what its operations mean on intervals, [`march`]
//! divides a stretch of time until it is known what a function does. Nothing here allocates in a step.

mod ahead;
mod budget;
mod builder;
mod dual;
mod expand;
mod krawczyk;
mod linear;
mod march;
mod series;
mod sums;
mod tape;

use saltus_numerics::{Integrator, Interval};
use saltus_program::SimProgram;
use serde::{Deserialize, Serialize};

pub(crate) use ahead::{Ahead, Scope};
pub(crate) use budget::{Budget, Prices};
pub(crate) use march::Watched;
use march::{Expanded, March, Outcome, Pace};
use tape::Crossing;
pub(crate) use tape::Tape;

/// Enclosures that are computed for one relation in one step before it is only sampled there. A step of the integrator is short
/// compared with how fast the states move: most relations need one.
const EFFORT: u32 = 256;

/// Operations that these may take together: a relation of thousands of them is not worth hundreds of enclosures a step.
const MOST_OPERATIONS: usize = 50_000;

/// The part of a step that this effort must decide to go on.
const LEAST_PART: f64 = 1.0 / 8.0;

/// Enclosures for a relation that could not be proved in many steps.
const LEAST_EFFORT: u32 = 3;

/// After so many steps in which a relation could not be proved, one, three, seven, … are only sampled between two attempts, up to two to this power.
const PATIENCE: u32 = 6;
const LONGEST_PAUSE: u32 = 6;

/// How often a relation was proved not to change unnoticed, and how often it was only looked at in points: steps, or searches
/// ahead if it depends on time alone.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Detection {
    pub proved: u64,
    /// Has it ever been further from zero than rounding?
    pub has_left_band: bool,
    pub sampled: u64,
    /// Steps in a row in which no effort was enough.
    n_failures: u32,
    /// Steps that are only sampled before another attempt.
    pause: u32,
    /// The length of parts that was right at the end of the last step.
    stride: f64,
}

impl Default for Detection {
    fn default() -> Self {
        Detection { proved: 0, has_left_band: false, sampled: 0, n_failures: 0, pause: 0, stride: f64::INFINITY }
    }
}

impl Detection {
    /// What a step is worth: less and less for a relation whose enclosures, of so many operations each, stay too wide.
    fn effort(&self, n_operations: usize) -> u32 {
        let most = (MOST_OPERATIONS / n_operations.max(1)).min(EFFORT as usize) as u32;
        (most >> self.n_failures.min(8)).max(LEAST_EFFORT)
    }

    /// Is it worth no attempt in this step?
    fn pauses(&mut self) -> bool {
        let is_pause = self.pause > 0;
        if is_pause {
            self.pause -= 1;
            self.sampled += 1;
        }
        is_pause
    }

    /// The step that was counted last is not proved after all, though its enclosures were narrow enough.
    fn doubt(&mut self) {
        self.proved -= 1;
        self.sampled += 1;
    }

    fn count(&mut self, is_sampled: bool) {
        if is_sampled {
            self.sampled += 1;
            self.n_failures = self.n_failures.saturating_add(1);
            self.pause = (1 << (self.n_failures.saturating_sub(PATIENCE)).min(LONGEST_PAUSE)) - 1;
        } else {
            self.proved += 1;
            self.n_failures = 0;
        }
    }
}

/// A stretch of a step in which a relation changes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Change {
    pub before: f64,
    pub after: f64,
}

/// What is known of a relation along parabolas.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Along {
    Keeps { until: f64 },
    Changes { at: f64 },
}

/// Encloses the crossing functions of a program.
pub(crate) struct Prover {
    pub tape: Tape,
    /// The values that are fixed until the next event have been evaluated.
    is_loaded: bool,
    /// By relation how it is watched in the step, if at all.
    pub watched: Vec<Option<Watched>>,
    /// Over the whole step, by relation.
    expanded: Vec<Option<series::Expansion>>,
}

impl Prover {
    pub fn new(program: &SimProgram, inputs_vary: bool) -> Self {
        Prover { tape: Tape::new(program, inputs_vary), is_loaded: false, watched: Vec::new(), expanded: Vec::new() }
    }

    /// Encloses the relations of assertions.
    pub fn of_bounds(program: &SimProgram, inputs_vary: bool) -> Self {
        Prover {
            tape: Tape::of_bounds(program, inputs_vary),
            is_loaded: false,
            watched: Vec::new(),
            expanded: Vec::new(),
        }
    }

    /// Values that were fixed have changed.
    pub fn forget(&mut self) {
        self.is_loaded = false;
    }

    /// Relations are about to be looked at in one time, with these values of what is fixed, for [`Prover::tangent`]; steps are proved later on if `is_proof`.
    pub fn stand(&mut self, memory: &[f64], is_proof: bool) {
        if is_proof && !self.is_loaded {
            self.tape.load(memory);
            self.is_loaded = true;
        } else if !is_proof {
            self.tape.load_explicit(memory);
        }
    }

    /// What a relation does from one time to another while its states follow the parabolas that the tape was given ([`Tape::bend`]).
    pub fn prove_along(&mut self, relation: usize, watched: Watched, memory: &[f64], (from, to): (f64, f64)) -> Along {
        if !self.is_loaded {
            self.tape.load(memory);
            self.is_loaded = true;
        }
        self.tape.expansions.forget();
        self.tape.start_loops(memory);
        let mut march = March {
            tape: &mut self.tape,
            relation,
            watched,
            longest_sample: to - from,
            least_time: from.abs().max(to.abs()),
            budget: EFFORT,
            most_work: u64::MAX,
            pace: Pace::new(to - from),
            least_part: 0.0,
            is_sampled: false,
            expansions: Expanded::NONE,
            is_of_step: false,
            doubted_from: None,
            is_doubtful: false,
        };
        match march.go(from, to) {
            _ if march.is_sampled => Along::Keeps { until: from },
            Outcome::Kept => Along::Keeps { until: to },
            Outcome::Paused { at } => Along::Keeps { until: at },
            Outcome::Changes { before, after } => Along::Changes { at: march.locate(before, after) },
        }
    }

    /// How fast a crossing function changes there.
    pub fn slope_along(&mut self, relation: usize, t: f64) -> f64 {
        let slope = self.tape.over(relation, Interval::point(t)).slope;
        if slope.is_known() { slope.middle() } else { 0.0 }
    }

    /// What rounding makes of a crossing function there, that of time included, and how fast it changes.
    pub fn tangent(&mut self, relation: usize, t: f64, least_time: f64) -> (f64, Interval) {
        let Crossing { z, slope, .. } = self.tape.over(relation, Interval::point(t));
        let instant = march::instant(t.abs().max(least_time)) / march::INSTANT_ULPS;
        match z.is_known() && slope.is_known() {
            true => (z.hi - z.lo + slope.magnitude() * instant, slope),
            false => (f64::INFINITY, Interval::UNKNOWN),
        }
    }

    /// The same for one that loops compute, whose solutions are near those in `memory`, and how large their unknowns are in it.
    pub fn look_at_loops(&mut self, relation: usize, t: f64, least_time: f64, memory: &[f64]) -> (f64, f64) {
        self.tape.start_loops(memory);
        let (rounding, _) = self.tangent(relation, t, least_time);
        (rounding, self.tape.size_of_loops(relation, t))
    }

    /// The first change in a part of the last step, by relations that are [`Prover::watched`]. It spends up to `most` operations, by a last
    /// enclosure more, and counts them in [`Tape::work`]; what is not known by then is only sampled.
    pub fn prove(
        &mut self,
        integrator: &dyn Integrator,
        memory: &[f64],
        (from, to): (f64, f64),
        detection: &mut [Detection],
        most: u64,
    ) -> Option<Change> {
        self.tape.work = 0;
        for (watched, count) in self.watched.iter_mut().zip(detection.iter_mut()) {
            if watched.is_some() && count.pauses() {
                *watched = None;
            }
        }
        if self.watched.iter().all(Option::is_none) {
            return None;
        }
        if !self.is_loaded && self.tape.price_of_load() <= most {
            self.tape.load(memory);
            self.is_loaded = true;
        }
        if self.is_loaded {
            self.tape.follow(integrator);
            self.settle_sums((from, to), detection);
            if self.watched.iter().all(Option::is_none) {
                return None;
            }
        }
        if !self.is_loaded || self.tape.work + self.price_of_sweep() > most {
            let watched = self.watched.iter().zip(detection).filter(|(watched, _)| watched.is_some());
            watched.for_each(|(_, count)| count.sampled += 1);
            return None;
        }
        self.tape.start_loops(memory);
        self.sweep(Interval::new(from, to));
        let mut first: Option<Change> = None;
        // All are judged on the enclosures of the whole step before one of them is evaluated on its own.
        for (relation, watched) in self.watched.iter_mut().enumerate() {
            let Some(known) = *watched else { continue };
            let count = &mut detection[relation];
            if march::keeps(known, self.tape.swept(relation)) {
                count.count(false);
                *watched = None;
            } else if self.tape.is_hopeless(relation) {
                count.count(true);
                *watched = None;
            }
        }
        let is_expanded = self.expand_together(from, to, most);
        for (relation, watched) in self.watched.iter().enumerate() {
            let Some(watched) = *watched else { continue };
            let end = first.map_or(to, |change| change.after);
            let known = if is_expanded { self.expanded[relation] } else { None };
            let stride = if known.is_some() { end - from } else { detection[relation].stride.min(end - from) };
            let effort = detection[relation].effort(self.tape.slices[relation].as_ref().map_or(0, |s| s.moving.len()));
            let mut march = March {
                tape: &mut self.tape,
                relation,
                watched,
                longest_sample: end - from,
                least_time: from.abs().max(to.abs()),
                budget: 0,
                most_work: most,
                pace: Pace::new(stride),
                least_part: 0.0,
                is_sampled: false,
                expansions: Expanded { known, ..Expanded::NONE },
                is_of_step: true,
                doubted_from: None,
                is_doubtful: false,
            };
            let outcome = go_while_it_gets_on(&mut march, from, end, effort);
            let is_sampled = march.is_sampled || matches!(outcome, Outcome::Paused { .. });
            if let Outcome::Changes { before, after } = outcome {
                first = Some(Change { before, after });
            }
            detection[relation].stride = if is_sampled { f64::INFINITY } else { march.pace.stride };
            let is_doubtful = march.is_doubtful;
            detection[relation].count(is_sampled);
            if is_doubtful && !is_sampled {
                detection[relation].doubt();
            }
        }
        first
    }
}

impl Prover {
    /// Is it less work to evaluate all relations together than those that are still watched one by one?
    fn is_better_together(&self) -> bool {
        let length = |(relation, watched): (usize, &Option<Watched>)| match (watched, &self.tape.slices[relation]) {
            (Some(_), Some(slice)) => slice.moving.len(),
            _ => 0,
        };
        let one_by_one: usize = self.watched.iter().enumerate().map(length).sum();
        one_by_one > self.tape.swept.len()
    }

    /// Relations that are sums of states and keep their values need not be watched any more.
    fn settle_sums(&mut self, stretch: (f64, f64), detection: &mut [Detection]) {
        for (relation, (watched, count)) in self.watched.iter_mut().zip(detection).enumerate() {
            if watched.is_some_and(|known| self.tape.keeps_as_sum(relation, known, stretch)) {
                count.count(false);
                *watched = None;
            }
        }
    }

    /// What [`Prover::sweep`] will cost.
    fn price_of_sweep(&self) -> u64 {
        let sweep = match self.is_better_together() {
            true => self.tape.price_of_swept,
            false => self.watched.iter().zip(&self.tape.slices).map(price_of_watched).sum(),
        };
        budget::VALUE * sweep
    }

    /// Encloses the values of the relations that are watched.
    fn sweep(&mut self, t: Interval) {
        if self.is_better_together() {
            self.tape.sweep(t);
            return;
        }
        for relation in 0..self.watched.len() {
            if self.watched[relation].is_some() {
                self.tape.sweep_one(relation, t);
            }
        }
    }

    /// Expands the crossing functions that are still watched, if doing so for all costs less than one by one.
    fn expand_together(&mut self, from: f64, to: f64, most: u64) -> bool {
        let is_affordable = self.tape.work + budget::SERIES * self.tape.price_of_swept <= most;
        if !is_affordable || !self.is_better_together() {
            return false;
        }
        let tape = &mut self.tape;
        let t = Interval::new(from, to);
        tape.expand_swept(t);
        self.expanded.clear();
        let expansion =
            |(relation, watched): (usize, &Option<Watched>)| watched.and_then(|_| tape.expanded(relation, t));
        self.expanded.extend(self.watched.iter().enumerate().map(expansion));
        true
    }
}

fn price_of_watched((watched, slice): (&Option<Watched>, &Option<tape::Slice>)) -> u64 {
    match (watched, slice) {
        (Some(_), Some(slice)) => slice.price,
        _ => 0,
    }
}

/// Goes on as long as `effort` enclosures get a march on by a part of the step: many oscillations in a step are no reason to give up,
/// enclosures that are too wide everywhere are.
fn go_while_it_gets_on(march: &mut March, from: f64, to: f64, effort: u32) -> Outcome {
    let mut reached = from;
    loop {
        march.budget = effort;
        match march.go(reached, to) {
            Outcome::Paused { at }
                if !march.is_sampled && march.can_afford() && at - reached >= LEAST_PART * (to - from) =>
            {
                reached = at
            }
            outcome => return outcome,
        }
    }
}
