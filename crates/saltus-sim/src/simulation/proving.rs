//! Crossings that are proved: relations of time alone as time events, the others over each step if that is asked for.

use saltus_base::Index;
use saltus_numerics::Bracket;
use saltus_program::{ModelFunctions, RELATION_BAND, Relation, RelationId};

use super::Simulation;
use super::stepping::StepProbe;
use crate::constants::{COARSE, LEAST_TIME, MOST_EXTENSIONS, STEPS_AHEAD};
use crate::error::Failure;
use crate::event;
use crate::integration;
use crate::options::{EventSearch, Solver};
use crate::proof::Scope;
use crate::trajectory::RelationDetection;

impl Simulation {
    /// After an event at `t`: when the next time event is, relations of time alone included.
    pub(super) fn schedule(&mut self, t: f64) {
        self.prover.forget();
        if !self.driver.ahead.is_empty() {
            // While both sides of a threshold are combined, nothing is fixed.
            if self.model.is_sliding() {
                self.driver.ahead.suspend();
            } else {
                let masked = self.masking.masked(self.model.memory());
                self.with_ahead(|ahead, scope| ahead.begin(t, scope, &masked));
            }
        }
        self.tell_time_events(t);
    }

    /// The relations of time alone are known as far as the next step may go; how far that is.
    pub(super) fn look_far_ahead(&mut self, from: f64) -> f64 {
        if self.driver.ahead.is_empty() {
            return f64::INFINITY;
        }
        let wanted = from + STEPS_AHEAD * self.driver.integrator.next_step_size();
        let mut n = 0;
        while self.driver.ahead.horizon() < wanted.min(self.options.stop_time) {
            let horizon = self.driver.ahead.horizon();
            if n >= MOST_EXTENSIONS && horizon > from {
                break;
            }
            n += 1;
            self.with_ahead(|ahead, scope| ahead.extend(wanted, scope));
        }
        if n > 0 {
            self.tell_time_events(from);
        }
        self.known_to(self.driver.ahead.horizon())
    }

    fn with_ahead(&mut self, act: impl FnOnce(&mut crate::proof::Ahead, &mut Scope)) {
        let look = integration::look_interval(&self.options);
        let mut scope = Scope {
            relations: &self.program.events.relations,
            tape: &mut self.prover.tape,
            memory: self.model.memory(),
            stop_time: self.options.stop_time,
            time_span: self.options.time_span(),
            longest_sample: look,
            least_time: LEAST_TIME * self.options.time_span(),
            detection: &mut self.driver.detection,
        };
        act(&mut self.driver.ahead, &mut scope);
    }

    fn tell_time_events(&mut self, t: f64) {
        self.model.set_changes_of_time(self.driver.ahead.times());
        self.driver.time_event = event::next_time_event(&self.model, t);
    }

    /// Where the run ends: at its stop time, or at a time event that rounding alone puts behind it, as the third tick of `sample(0.1, 0.1)` at
    /// 0.30000000000000004 is behind 0.3. What changes only after the stop time (`time > 0.3`) is not part of the run. Test:
    /// `ticks_that_rounding_puts_behind_the_stop_time_belong_to_the_run`.
    pub(super) fn end_time(&self) -> f64 {
        let (stop, due) = (self.options.stop_time, self.driver.time_event);
        if due <= stop || due > event::reach(stop) {
            return stop;
        }
        let strict = self.program.events.time_events.iter().filter(|e| e.is_strict);
        let is_strict = |key: f64| strict.clone().any(|e| e.key(self.model.get(e.threshold)) == key);
        let first = self.model.next_time_event(self.driver.now);
        if first <= stop || !is_strict(first) || !is_strict(due) { due } else { stop }
    }

    /// How far the next step may go where relations are known up to here. The stop time ends no step: the last event may be right behind it.
    pub(super) fn known_to(&self, horizon: f64) -> f64 {
        if horizon < self.options.stop_time { horizon } else { f64::INFINITY }
    }

    /// How far a run goes that is asked to go to `until`.
    pub(super) fn end_within(&self, until: f64) -> f64 {
        if until < self.options.stop_time { until } else { self.end_time() }
    }

    /// Relations that are not searched for in steps until the next event.
    pub(super) fn unwatched(&self) -> Vec<RelationId> {
        if self.model.is_sliding() {
            return Vec::new();
        }
        let mut unwatched = self.masking.masked(self.model.memory());
        unwatched.extend(self.driver.ahead.relations());
        unwatched
    }

    /// Notes how each relation is watched before a step is searched, if it is to be proved.
    pub(super) fn begin_proof(&mut self) {
        if self.options.events.is_proof() {
            let n = self.program.events.relations.len();
            self.prover.watched.clear();
            self.prover.watched.extend((0..n).map(|i| self.driver.search.watched(i)));
        }
    }

    /// A change in `from..=to` that comes before the one that was `found`, if there is one; counts what was proved.
    pub(super) fn end_proof(&mut self, from: f64, to: f64, found: Option<Bracket>) -> Result<Option<Bracket>, Failure> {
        let is_proof = self.options.events.is_proof() && !self.model.is_sliding();
        if !is_proof {
            let search = &self.driver.search;
            let watched = self.driver.detection.iter_mut().enumerate().filter(|(i, _)| search.watched(*i).is_some());
            watched.for_each(|(_, count)| count.sampled += 1);
            return Ok(found);
        }
        let end = found.map_or(to, |bracket| bracket.before);
        let most = self.credit();
        let integrator = &*self.driver.integrator;
        let change = self.prover.prove(integrator, self.model.memory(), (from, end), &mut self.driver.detection, most);
        self.driver.budget.spend(self.prover.tape.work);
        for (i, count) in self.driver.detection.iter_mut().enumerate() {
            count.has_left_band |= self.driver.search.watched(i).is_some_and(|watched| watched.shift == 0.0);
        }
        let Some(change) = change else { return Ok(found) };
        let mut probe = StepProbe {
            program: &self.program,
            functions: &mut self.model,
            integrator: &*self.driver.integrator,
            x: &mut self.work.x,
        };
        let search = &mut self.driver.search;
        let earlier = search.change_between(&mut probe, &self.program, change.before, change.after)?;
        self.tell_tunnels();
        Ok(earlier.or(found))
    }

    /// Operations that may be spent on proof now.
    pub(super) fn credit(&mut self) -> u64 {
        if self.options.events != EventSearch::Proved {
            return u64::MAX;
        }
        let so_far = self.cost();
        self.driver.budget.earn(self.structure.prices(&self.program), so_far);
        self.driver.budget.credit()
    }

    /// Is the band in which the value of a relation is rounding wide beside the largest value of its function, because a nominal value makes it so that is too large, or
    /// the lack of one, or because large unknowns of loops nearly cancel in it?
    fn is_coarse(&self, relation: &Relation, is_explicit: bool, farthest: f64) -> bool {
        let usual = relation.usual.map_or(relation.nominal, |slot| self.model.get(slot));
        let is_measured = is_explicit && usual != relation.nominal;
        !is_measured && farthest > 0.0 && RELATION_BAND * usual > COARSE * farthest
    }

    /// By relation, how its changes were found; nothing of quantised states, whose relations are followed along lines.
    pub fn detection(&self) -> Vec<RelationDetection> {
        if self.options.solver == Solver::Liqss2 {
            return Vec::new();
        }
        let events = &self.program.events;
        let relations = events.relations.iter().zip(&self.driver.detection);
        let bounds = events.bounds.iter().zip(&self.driver.bounds.detection);
        relations
            .map(|found| (found, &self.prover.tape, &self.driver.search))
            .chain(bounds.map(|found| (found, &self.bound_prover.tape, self.driver.bounds.search())))
            .map(|(((id, r), count), tape, search)| {
                let is_time_alone = tape.is_time_alone(id.index());
                // Of a relation that stays within the band in which its value is rounding nothing is known.
                let is_proof = is_time_alone || count.has_left_band;
                let (proved, sampled) =
                    if is_proof { (count.proved, count.sampled) } else { (0, count.proved + count.sampled) };
                let is_watched = !is_time_alone && proved + sampled > 0;
                let is_explicit = tape.is_explicit(id.index());
                let is_coarse = is_watched && self.is_coarse(r, is_explicit, search.farthest(id.index(), 0.0));
                let (relation, span) = (r.text.clone(), r.span);
                RelationDetection { relation, span, is_time_alone, proved, sampled, is_coarse }
            })
            .collect()
    }
}
