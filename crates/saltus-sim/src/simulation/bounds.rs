//! The relations of assertions: when one of them changes in a step.
//!
//! ```text
//! assert(T <= 400, …)      T passes 400 between two rows, or for a moment within a step: the crossing of T - 400 is located like that
//!                          of any other relation, and the assertion is judged there
//! ```
//!
//! In: a part of the last step. Out: the first instant in it at which a relation of an assertion changes. That is not an event: nothing is
//! settled, no row is written, the integrator goes on. Where all of them are far from zero the search costs no evaluation beyond the one
//! at the end of the step, at which assertions are checked in any case.
//!
//! Where the operands of a relation are equal up to rounding, it keeps the value that it had.

use saltus_base::{IdVec, Index};
use saltus_numerics::{Bracket, Integrator};
use saltus_program::{Assertion, ModelFunctions, RELATION_BAND, Relation, RelationId, SimProgram};
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::magnitudes::Gauge;
use super::stepping::Look;
use crate::constants::{FEWEST_STEPS, LEAST_TIME, MOST_EXTENSIONS, N_INTERIOR, STEPS_AHEAD};
use crate::crossing::{CrossingSearch, Probe, Restart};
use crate::error::Failure;
use crate::event;
use crate::integration;
use crate::model::Model;
use crate::proof::{Ahead, Detection, Prover, Scope};

/// What a run knows about its assertions; part of its state.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Bounds {
    search: CrossingSearch,
    /// Those of time alone.
    ahead: Ahead,
    /// By bound.
    pub detection: Vec<Detection>,
    /// By assertion: does it fail, and is that known to the user?
    pub violated: Vec<bool>,
    is_armed: bool,
    /// Relations that change at the instant that is judged next: there they count as they are, however close to zero.
    fired: Vec<usize>,
}

impl Bounds {
    pub fn new(program: &SimProgram, prover: &Prover) -> Self {
        let bounds = &program.events.bounds;
        Bounds {
            search: CrossingSearch::of_bounds(bounds),
            ahead: Ahead::new(bounds, &prover.tape),
            detection: vec![Detection::default(); bounds.len()],
            violated: vec![false; program.events.assertions.len()],
            is_armed: false,
            fired: Vec::new(),
        }
    }

    /// Goes on with the program of another configuration. What is known to be violated still is, if the assertions are the same.
    pub fn enter(&mut self, program: &SimProgram, prover: &Prover) {
        let mut new = Bounds::new(program, prover);
        new.detection.iter_mut().zip(&self.detection).for_each(|(new, known)| *new = *known);
        if new.violated.len() == self.violated.len() {
            new.violated.clone_from(&self.violated);
        }
        *self = new;
    }

    /// Does a relation that is this close to zero keep its value?
    fn keeps(&self, i: usize, z: f64, scale: f64) -> bool {
        self.is_armed && z.abs() <= RELATION_BAND * scale && !self.fired.contains(&i)
    }

    pub fn search(&self) -> &CrossingSearch {
        &self.search
    }

    fn note_fired(&mut self, found: Option<Bracket>) {
        self.fired.clear();
        self.fired.extend(self.search.fired().iter().filter(|_| found.is_some()));
    }

    /// No change is judged but that of an event.
    pub fn leave_to_event(&mut self) {
        self.fired.clear();
    }

    /// The next search begins with a new look.
    pub fn forget(&mut self) {
        self.search.forget();
        self.fired.clear();
    }
}

/// The relations of assertions on the dense output of the last step.
struct BoundProbe<'a> {
    bounds: &'a IdVec<RelationId, Relation>,
    functions: &'a mut Model,
    integrator: &'a dyn Integrator,
    x: &'a mut [f64],
}

impl Probe for BoundProbe<'_> {
    fn crossings(&mut self, t: f64, z: &mut [f64], scale: &mut [f64]) -> Result<(), Failure> {
        self.integrator.interpolate(t, self.x);
        self.functions.set_continuous(t, self.x);
        event::eval_continuous(self.functions, t)?;
        for (i, bound) in self.bounds.values().enumerate() {
            z[i] = self.functions.get(bound.crossing);
            scale[i] = self.functions.get(bound.scale);
        }
        Ok(())
    }
}

impl Simulation {
    pub(super) fn has_bounds(&self) -> bool {
        !self.program.events.bounds.is_empty()
    }

    /// Does an assertion not hold at the point that has been evaluated? A relation whose operands are equal up to rounding counts as
    /// it did before.
    pub(super) fn is_violated(&self, assertion: &Assertion) -> bool {
        let is_open = |id: &RelationId| {
            self.program.events.bounds.get(*id).is_some_and(|bound| {
                let (z, scale) = (self.model.get(bound.crossing), self.model.get(bound.scale));
                let is_kept = self.driver.bounds.keeps(id.index(), z, scale);
                is_kept && bound.op.holds(z) != (self.model.get(bound.memory) != 0.0)
            })
        };
        self.model.get(assertion.condition) == 0.0 && !assertion.bounds.iter().any(is_open)
    }

    /// Begins to watch the relations of assertions, from their values at `t`.
    pub(super) fn arm_bounds(&mut self, t: f64) -> Result<(), Failure> {
        if !self.has_bounds() {
            return Ok(());
        }
        let n = self.program.events.bounds.len();
        let mut look = Look::default();
        look.resize(n);
        self.with_bounds(|_, probe| probe.crossings(t, &mut look.now, &mut look.scale))?;
        let program = self.program.clone();
        let bounds = &program.events.bounds;
        self.bound_prover.forget();
        self.size_up_bounds(t, &mut look)?;
        let Look { now: z, scale, memory, tight, .. } = &mut look;
        memory.clear();
        for (i, bound) in bounds.values().enumerate() {
            let is_kept = self.driver.bounds.keeps(i, z[i], scale[i]);
            let value = if is_kept { self.model.get(bound.memory) != 0.0 } else { bound.op.holds(z[i]) };
            self.model.set(bound.memory, f64::from(u8::from(value)));
            memory.push(value);
        }
        self.driver.bounds.is_armed = true;
        self.driver.bounds.fired.clear();
        if self.model.is_sliding() {
            self.driver.bounds.ahead.suspend();
        } else {
            self.with_bounds_ahead(|ahead, scope| ahead.begin(t, scope, &[]));
        }
        let Bounds { search, ahead, .. } = &mut self.driver.bounds;
        let foreseen: Vec<RelationId> = ahead.relations().collect();
        let state = Restart { t, memory, now: z, scale, soon: z, jumped: false, tight, slack: 0.0 };
        search.arm(&state, &foreseen);
        Ok(())
    }

    /// Measures the relations of assertions like those that make events.
    fn size_up_bounds(&mut self, t: f64, look: &mut Look) -> Result<(), Failure> {
        let program = self.program.clone();
        let bounds = &program.events.bounds;
        let is_armed = self.driver.bounds.is_armed;
        let value = |(bound, z): (&Relation, &f64)| match is_armed {
            true => self.model.get(bound.memory) != 0.0,
            false => bound.op.holds(*z),
        };
        look.memory.extend(bounds.values().zip(&look.now).map(value));
        let mut gauge = Gauge {
            relations: bounds,
            search: &self.driver.bounds.search,
            prover: &mut self.bound_prover,
            model: &mut self.model,
            x: &self.work.x,
            is_proof: self.options.events.is_proof(),
            least_time: LEAST_TIME * self.options.time_span(),
            jumped: false,
        };
        if gauge.measure(t, look) {
            self.with_bounds(|_, probe| probe.crossings(t, &mut look.now, &mut look.scale))?;
        }
        // What has a magnitude may come back to its threshold and rest there, off by the error of the integration.
        for (i, tight) in look.tight.iter_mut().enumerate() {
            if self.driver.bounds.search.farthest(i, look.now[i]) > 0.0 {
                *tight = f64::INFINITY;
            }
        }
        Ok(())
    }

    fn with_bounds<R>(&mut self, act: impl FnOnce(&mut CrossingSearch, &mut BoundProbe) -> R) -> R {
        let mut probe = BoundProbe {
            bounds: &self.program.events.bounds,
            functions: &mut self.model,
            integrator: &*self.driver.integrator,
            x: &mut self.work.x,
        };
        act(&mut self.driver.bounds.search, &mut probe)
    }

    fn with_bounds_ahead(&mut self, act: impl FnOnce(&mut Ahead, &mut Scope)) {
        let mut scope = Scope {
            relations: &self.program.events.bounds,
            tape: &mut self.bound_prover.tape,
            memory: self.model.memory(),
            stop_time: self.options.stop_time,
            time_span: self.options.time_span(),
            longest_sample: integration::look_interval(&self.options),
            least_time: LEAST_TIME * self.options.time_span(),
            detection: &mut self.driver.bounds.detection,
        };
        act(&mut self.driver.bounds.ahead, &mut scope);
    }

    /// The relations of time alone are known as far as the next step may go; how far that is.
    pub(super) fn look_far_ahead_at_bounds(&mut self, from: f64) -> f64 {
        if self.driver.bounds.ahead.is_empty() {
            return f64::INFINITY;
        }
        let wanted = from + STEPS_AHEAD * self.driver.integrator.next_step_size();
        for n in 0.. {
            let horizon = self.driver.bounds.ahead.horizon();
            if horizon >= wanted.min(self.options.stop_time) || n >= MOST_EXTENSIONS && horizon > from {
                break;
            }
            self.with_bounds_ahead(|ahead, scope| ahead.extend(wanted, scope));
        }
        self.known_to(self.driver.bounds.ahead.horizon())
    }

    /// The first change of a relation of an assertion in `from..=to`. All has been evaluated at `to`.
    pub(super) fn first_bound(&mut self, from: f64, to: f64) -> Result<Option<Bracket>, Failure> {
        if !self.has_bounds() || to <= from {
            return Ok(None);
        }
        let z: Vec<f64> = self.program.events.bounds.values().map(|b| self.model.get(b.crossing)).collect();
        let is_proof = self.options.events.is_proof() && !self.model.is_sliding();
        let Bounds { search, detection, .. } = &mut self.driver.bounds;
        let watched = (0..detection.len()).map(|i| search.watched(i));
        if is_proof {
            self.bound_prover.watched = watched.collect();
        } else {
            watched.zip(detection).filter(|(w, _)| w.is_some()).for_each(|(_, count)| count.sampled += 1);
        }
        let longest_step = self.options.time_span() / FEWEST_STEPS;
        let longest = longest_step / (N_INTERIOR + 1) as f64;
        let program = self.program.clone();
        let mut found = None;
        if to - from > longest_step || !self.driver.bounds.search.is_quiet(&program, from, to, &z)? {
            let looked = self.with_bounds(|search, probe| search.first_change(probe, &program, from, to, longest));
            found = match looked {
                Ok(found) => found,
                // What cannot be evaluated within the step is not part of its results: nobody asks for it.
                Err(failure) if failure.is_recoverable() => {
                    self.driver.bounds.forget();
                    None
                }
                Err(failure) => return Err(failure),
            };
        }
        if is_proof {
            found = self.prove_bounds(from, to, found)?;
        }
        let end = found.map_or(to, |bracket| bracket.after);
        let foreseen = self.driver.bounds.ahead.times().filter(|&t| t > from && t <= end);
        let Some(after) = foreseen.reduce(f64::min) else {
            self.driver.bounds.note_fired(found);
            return Ok(found);
        };
        let Bounds { ahead, fired, .. } = &mut self.driver.bounds;
        *fired = ahead.changing_at(after).collect();
        Ok(Some(Bracket { before: after.next_down().max(from), after }))
    }

    fn prove_bounds(&mut self, from: f64, to: f64, found: Option<Bracket>) -> Result<Option<Bracket>, Failure> {
        let end = found.map_or(to, |bracket| bracket.before);
        let most = self.credit();
        let Bounds { search, detection, .. } = &mut self.driver.bounds;
        let (integrator, memory) = (&*self.driver.integrator, self.model.memory());
        let change = self.bound_prover.prove(integrator, memory, (from, end), detection, most);
        self.driver.budget.spend(self.bound_prover.tape.work);
        for (i, count) in detection.iter_mut().enumerate() {
            count.has_left_band |= search.watched(i).is_some_and(|watched| watched.shift == 0.0);
        }
        let Some(change) = change else { return Ok(found) };
        Ok(self.change_between(change.before, change.after)?.or(found))
    }

    /// The first change between two points of the last step, if a relation has changed at the second.
    pub(super) fn change_between(&mut self, before: f64, after: f64) -> Result<Option<Bracket>, Failure> {
        let program = self.program.clone();
        let found = self.with_bounds(|search, probe| search.change_between(probe, &program, before, after))?;
        self.driver.bounds.note_fired(found);
        Ok(found)
    }
}
