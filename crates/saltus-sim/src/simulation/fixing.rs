//! Conditions that change the structure only together.
//!
//! ```text
//! i1 + i2 = i;  0 = if a then u else i1;  0 = if b then u else i2        with a and b false nothing determines u, and i must be 0
//! ```
//!
//! In: an event, or a start, whose equations have no solution, or any, in the positions that its switches have. Out: the run goes on in
//! configurations of these switches as well. A model whose switches never get there has one program as before.

use saltus_program::{Key, ModelFunctions};

use super::Simulation;
use super::configurations::Left;
use super::search::Entered;
use crate::error::{Failure, SimErrorKind};
use crate::event::{self, Settled};
use crate::trajectory::{Warning, WarningKind};

/// After so many positions in vain no more are tried.
const MOST_GIVEN_UP: usize = 64;

impl Simulation {
    /// Are there conditions that have not shown yet whether they change the structure?
    pub(super) fn has_candidates(&self) -> bool {
        let has_some = |c: &saltus_program::Configuration| !c.candidates.is_empty();
        self.known.given_up.len() < MOST_GIVEN_UP
            && self.known.has_maker()
            && self.program.configuration.as_deref().is_some_and(has_some)
            && !self.known.given_up.contains(&self.fixed_key())
    }

    /// Has the event ended in positions in which the equations determine too little?
    pub(super) fn needs_fixing(&mut self, settled: &Result<Settled, Failure>) -> bool {
        self.has_candidates()
            && match settled {
                Ok(_) => self.model.is_singular(),
                Err(failure) => matches!(
                    failure.kind,
                    SimErrorKind::CannotEvaluate { .. }
                        | SimErrorKind::NotANumber { .. }
                        | SimErrorKind::EventDoesNotSettle { .. }
                ),
            }
    }

    /// The present configuration with all candidates in the positions that they have.
    pub(super) fn fixed_key(&self) -> Key {
        let mut key = self.key();
        let candidates = self.program.configuration.iter().flat_map(|c| &c.candidates);
        key.0.extend(candidates.map(|c| (c.text.clone(), self.model.get(c.condition) != 0.0)));
        key
    }

    /// Settles an event again, from the memory before it, with the candidates in the key. Where that does not help, what was settled
    /// stands, or fails.
    pub(super) fn fix_event(
        &mut self,
        t: f64,
        before: Vec<f64>,
        settled: Result<Settled, Failure>,
    ) -> Result<Settled, Failure> {
        let (program, key, after) = (self.program.clone(), self.key(), self.model.snapshot());
        let positions = self.fixed_key();
        self.model.restore(&before);
        let left = Left { program, memory: before };
        match self.settle_fixed(t, &left) {
            Ok((settled, entered)) => {
                self.driver.before = self.translated(&left);
                self.known.entered = entered.map(|entered| (key, left, entered));
                Ok(settled)
            }
            Err(failure) => {
                self.known.given_up.insert(positions);
                self.take_program_of(t, &key)?;
                self.model.restore(&after);
                settled.map_err(|_| failure)
            }
        }
    }

    /// Says once of each variable that the present configuration leaves it open.
    pub(super) fn tell_free(&mut self, t: f64) {
        let program = self.program.clone();
        for &(slot, span) in program.configuration.iter().flat_map(|c| &c.free) {
            let message = program.memory.slot_name(slot).into_owned();
            let is_known = |w: &Warning| w.kind == WarningKind::Free && w.message == message;
            if !self.driver.warnings.iter().any(is_known) {
                self.driver.warnings.push(Warning { kind: WarningKind::Free, time: t, message, span });
            }
        }
    }

    fn settle_fixed(&mut self, t: f64, left: &Left) -> Result<(Settled, Option<Entered>), Failure> {
        let key = self.fixed_key();
        self.take_program_of(t, &key)?;
        self.carry_over(t, left)?;
        event::eval_continuous(&mut self.model, t)?;
        self.model.update_pre();
        let settled = event::settle(&self.program, &mut self.model, &self.options, t)?;
        let entered = match self.other_key() {
            Some(asked) => {
                let here = self.left_here();
                Some(self.find_configuration(t, asked, &here)?)
            }
            None => Some(Entered::default()),
        };
        Ok((settled, entered))
    }
}
