//! What a run is about to do, for those who follow it from outside.
//!
//! In: a run between two calls of [`Simulation::advance`]. Out: how far it goes on before something happens, and what an event would come to if
//! values were slightly different right before it.

use saltus_program::{Activation, ModelFunctions, SlotId};

use super::{Next, Phase, Simulation};
use crate::error::{Failure, SimError, SimErrorKind};
use crate::event;
use crate::record::EventKind;

/// What comes next in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Foreseen {
    /// Nothing happens up to this time, at which a step ends.
    Step(f64),
    /// An event happens at this time; is it one of time?
    Event { at: f64, is_timed: bool },
    /// Something has happened that cannot be foreseen, such as the end of a solution.
    Happened,
}

impl Simulation {
    /// Makes the next step, if none is under way, and says what comes first in it. The run stays where it is: any time before that can be
    /// reached by [`Simulation::advance`] without another step.
    pub fn foresee(&mut self) -> Result<Foreseen, SimError> {
        let foreseen = self.begin_run().and_then(|()| self.foresee_or_fail());
        foreseen.map_err(|failure| self.fail(failure))
    }

    fn foresee_or_fail(&mut self) -> Result<Foreseen, Failure> {
        if self.is_over() {
            return Ok(Foreseen::Step(self.driver.now));
        }
        if self.is_quantised() {
            let why = "what follows is asked for ahead of time".to_owned();
            return Err(Failure::new(self.driver.now, SimErrorKind::NotQuantised { why }));
        }
        self.apply_changes()?;
        match self.next_in_step() {
            Ok(foreseen) => Ok(foreseen),
            Err(failure) => {
                self.cross_guard(failure).or_else(|failure| self.jump(failure))?;
                self.close_event()?;
                Ok(Foreseen::Happened)
            }
        }
    }

    fn next_in_step(&mut self) -> Result<Foreseen, Failure> {
        let pending = match self.driver.phase {
            Phase::Inside(pending) => pending,
            Phase::New | Phase::Over => return Ok(Foreseen::Step(self.driver.now)),
            Phase::Between => match self.begin_step(f64::NEG_INFINITY)? {
                Some(pending) => pending,
                None => return Ok(Foreseen::Happened),
            },
        };
        let (pending, next) = self.look_for_next(pending)?;
        self.driver.phase = Phase::Inside(pending);
        Ok(match next {
            Next::Event(at, kind) => Foreseen::Event { at, is_timed: kind == EventKind::Time },
            Next::End if pending.end == self.driver.time_event => Foreseen::Event { at: pending.end, is_timed: true },
            Next::End if self.driver.hold == Some(pending.end) => Foreseen::Event { at: pending.end, is_timed: false },
            Next::End => Foreseen::Step(pending.end),
            Next::Bound { before, at } => Foreseen::Step(if before > self.driver.now { before } else { at }),
        })
    }

    /// The relations that change where an event is foreseen that is not one of time, by position among those of the program.
    pub fn foreseen_relations(&self) -> impl Iterator<Item = usize> + '_ {
        let n = self.program.events.relations.len();
        self.driver.search.fired().iter().copied().filter(move |&i| i < n)
    }

    /// What variables would be behind an event at time `t`, close to the present one, if some had these values right before it. Parameters
    /// that follow from others are computed again. It is tried and leaves no trace; `None` if it does not settle.
    pub fn try_event(&mut self, t: f64, values: &[(SlotId, f64)], read: &[SlotId]) -> Option<Vec<f64>> {
        self.model.checkpoint();
        let read_after =
            self.settle_trial(t, values).is_ok().then(|| read.iter().map(|&s| self.model.get(s)).collect());
        self.model.rollback();
        read_after
    }

    fn settle_trial(&mut self, t: f64, values: &[(SlotId, f64)]) -> Result<(), Failure> {
        self.go_to(self.driver.now)?;
        values.iter().for_each(|&(slot, value)| self.model.set(slot, value));
        self.model.set(self.program.memory.time, t);
        event::eval(&mut self.model, t, Activation::Parameters)?;
        event::eval_continuous(&mut self.model, t)?;
        self.model.update_pre();
        event::settle(&self.program, &mut self.model, &self.options, t).map(|_| ())
    }
}
