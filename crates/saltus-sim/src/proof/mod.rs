//! Detection of crossings with proof: crossing functions enclosed in intervals instead of looked at in points.
//!
//! In: the program, what is fixed between events, the dense output of a step. Out: relations of time alone become time events
//! ([`ahead`]); for the others a statement about a step: this relation does not change in it, or here it does first, or it was
//! only sampled ([`Prover::prove`]).
//!
//! [`tape`] is the part of the program that crossing functions need, put together by [`builder`], [`dual`] says what its operations mean on intervals, [`march`]
//! divides a stretch of time until it is known what a function does. Nothing here allocates in a step.

mod ahead;
mod builder;
mod dual;
mod linear;
mod march;
mod tape;

use saltus_numerics::{Integrator, Interval};
use saltus_program::SimProgram;
use serde::{Deserialize, Serialize};

pub(crate) use ahead::{Ahead, Scope};
pub(crate) use march::Watched;
use march::{March, Outcome, Pace};
pub(crate) use tape::Tape;

/// Enclosures that are computed for one relation in one step before it is only sampled there. A step of the integrator is short
/// compared with how fast the states move: most relations need one.
const EFFORT: u32 = 256;

/// The part of a step that this effort must decide to go on.
const LEAST_PART: f64 = 1.0 / 8.0;

/// Enclosures for a relation that could not be proved in many steps.
const LEAST_EFFORT: u32 = 3;

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
    /// The length of parts that was right at the end of the last step.
    stride: f64,
}

impl Default for Detection {
    fn default() -> Self {
        Detection { proved: 0, has_left_band: false, sampled: 0, n_failures: 0, stride: f64::INFINITY }
    }
}

impl Detection {
    /// What a step is worth: less and less for a relation whose enclosures stay too wide.
    fn effort(&self) -> u32 {
        (EFFORT >> self.n_failures.min(8)).max(LEAST_EFFORT)
    }

    fn count(&mut self, is_sampled: bool) {
        if is_sampled {
            self.sampled += 1;
            self.n_failures = self.n_failures.saturating_add(1);
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

/// Encloses the crossing functions of a program.
pub(crate) struct Prover {
    pub tape: Tape,
    /// The values that are fixed until the next event have been evaluated.
    is_loaded: bool,
    /// By relation how it is watched in the step, if at all.
    pub watched: Vec<Option<Watched>>,
}

impl Prover {
    pub fn new(program: &SimProgram, inputs_vary: bool) -> Self {
        Prover { tape: Tape::new(program, inputs_vary), is_loaded: false, watched: Vec::new() }
    }

    /// Encloses the relations of assertions.
    pub fn of_bounds(program: &SimProgram, inputs_vary: bool) -> Self {
        Prover { tape: Tape::of_bounds(program, inputs_vary), is_loaded: false, watched: Vec::new() }
    }

    /// Values that were fixed have changed.
    pub fn forget(&mut self) {
        self.is_loaded = false;
    }

    /// The first change in a part of the last step, by relations that are [`Prover::watched`].
    pub fn prove(
        &mut self,
        integrator: &dyn Integrator,
        memory: &[f64],
        (from, to): (f64, f64),
        detection: &mut [Detection],
    ) -> Option<Change> {
        if !self.is_loaded {
            self.tape.load(memory);
            self.is_loaded = true;
        }
        self.tape.follow(|state| integrator.interpolant(state));
        self.tape.sweep(Interval::new(from, to));
        let mut first: Option<Change> = None;
        // All are judged on the enclosures of the whole step before one of them is evaluated on its own.
        for (relation, watched) in self.watched.iter_mut().enumerate() {
            let Some(known) = *watched else { continue };
            let count = &mut detection[relation];
            if march::keeps(known, &self.tape.swept(relation)) {
                count.count(false);
                *watched = None;
            } else if self.tape.is_hopeless(relation) {
                count.sampled += 1;
                *watched = None;
            }
        }
        for (relation, watched) in self.watched.iter().enumerate() {
            let Some(watched) = *watched else { continue };
            let end = first.map_or(to, |change| change.after);
            let mut march = March {
                tape: &mut self.tape,
                relation,
                watched,
                longest_sample: end - from,
                least_time: from.abs().max(to.abs()),
                budget: 0,
                pace: Pace::new(detection[relation].stride.min(end - from)),
                is_sampled: false,
            };
            let outcome = go_while_it_gets_on(&mut march, from, end, detection[relation].effort());
            let is_sampled = march.is_sampled || matches!(outcome, Outcome::Paused { .. });
            if let Outcome::Changes { before, after } = outcome {
                first = Some(Change { before, after });
            }
            detection[relation].stride = if is_sampled { f64::INFINITY } else { march.pace.stride };
            detection[relation].count(is_sampled);
        }
        first
    }
}

/// Goes on as long as `effort` enclosures get a march on by a part of the step: many oscillations in a step are no reason to give up,
/// enclosures that are too wide everywhere are.
fn go_while_it_gets_on(march: &mut March, from: f64, to: f64, effort: u32) -> Outcome {
    let mut reached = from;
    loop {
        march.budget = effort;
        match march.go(reached, to) {
            Outcome::Paused { at } if !march.is_sampled && at - reached >= LEAST_PART * (to - from) => reached = at,
            outcome => return outcome,
        }
    }
}
