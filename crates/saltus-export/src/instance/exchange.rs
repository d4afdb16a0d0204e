//! Model exchange: the caller integrates.

use serde::{Deserialize, Serialize};

use super::{Instance, Kind, Phase, Run, Severity};

/// What an event did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Update {
    /// The message of `terminate`.
    pub terminated: Option<String>,
    pub states_changed: bool,
    pub next_event: Option<f64>,
}

impl Update {
    pub(super) fn new(terminated: Option<String>, states_changed: bool, next_event: f64) -> Update {
        Update { terminated, states_changed, next_event: next_event.is_finite().then_some(next_event) }
    }
}

impl Instance {
    pub fn enter_event_mode(&mut self) -> Result<(), Severity> {
        match (self.kind, self.book.phase) {
            (Kind::ModelExchange, Phase::Continuous) => {
                self.book.happened = None;
                if let Run::Exchange(exchange) = &mut self.run {
                    exchange.begin_event();
                }
            }
            (Kind::CoSimulation, Phase::Step) if self.uses_event_mode => self.book.shows_left = false,
            _ => return Err(self.refuse("event mode")),
        }
        self.book.phase = Phase::Events;
        Ok(())
    }

    /// Settles the event. A second call without a change in between finds it settled.
    pub fn update_discrete_states(&mut self) -> Result<Update, Severity> {
        if self.book.phase != Phase::Events {
            return Err(self.refuse("updating discrete states"));
        }
        let updated = if self.kind == Kind::CoSimulation { self.update_simulation() } else { self.update_exchange() };
        self.forget_ticks();
        updated
    }

    /// Settles the event of the present time, unless that has been done.
    pub(super) fn settle_exchange(&mut self) -> Result<(), Severity> {
        if self.book.happened.is_some() {
            return Ok(());
        }
        let Run::Exchange(exchange) = &mut self.run else { return Err(self.refuse("an event")) };
        let happened = exchange.event();
        let next = exchange.next_event_time();
        match happened {
            Ok(happened) => {
                self.book.happened = Some(Update::new(happened.terminated, happened.states_changed, next));
                Ok(())
            }
            Err(error) => Err(self.fail(&error)),
        }
    }

    fn update_exchange(&mut self) -> Result<Update, Severity> {
        self.settle_exchange()?;
        let update = self.book.happened.clone();
        // What has been told once is not told again.
        if let Some(told) = &mut self.book.happened {
            told.states_changed = false;
        }
        self.tell_warnings();
        update.ok_or(Severity::Error)
    }

    pub fn enter_continuous_time(&mut self) -> Result<(), Severity> {
        if (self.kind, self.book.phase) != (Kind::ModelExchange, Phase::Events) {
            return Err(self.refuse("continuous-time mode"));
        }
        self.book.phase = Phase::Continuous;
        Ok(())
    }

    /// In continuous-time mode, and in event mode before the event.
    pub fn set_time(&mut self, time: f64) -> Result<(), Severity> {
        match (&mut self.run, self.book.phase) {
            (Run::Exchange(exchange), Phase::Continuous | Phase::Events) => {
                exchange.set_time(time);
                Ok(())
            }
            _ => Err(self.refuse("setting the time")),
        }
    }

    pub fn set_states(&mut self, x: &[f64]) -> Result<(), Severity> {
        let n = self.n_states();
        match (&mut self.run, self.book.phase) {
            (Run::Exchange(exchange), Phase::Continuous | Phase::Events) if x.len() == n => {
                exchange.set_states(x);
                Ok(())
            }
            _ => Err(self.refuse("setting the states")),
        }
    }

    fn evaluated(&mut self) -> Result<(), Severity> {
        if self.kind != Kind::CoSimulation && self.book.phase == Phase::Initialisation {
            self.initialise()?;
        }
        if self.book.phase == Phase::Instantiated || self.book.phase == Phase::Failed {
            return Err(self.refuse("an evaluation"));
        }
        Ok(())
    }

    pub fn states(&mut self, x: &mut [f64]) -> Result<(), Severity> {
        self.evaluated()?;
        match &self.run {
            Run::Exchange(exchange) if x.len() == exchange.program().states.len() => {
                exchange.states(x);
                Ok(())
            }
            _ => Err(self.refuse("reading the states")),
        }
    }

    pub fn nominals(&mut self, nominals: &mut [f64]) -> Result<(), Severity> {
        if nominals.len() != self.n_states() {
            return Err(self.refuse("reading the nominal values"));
        }
        let states = &self.model.program().states;
        nominals.iter_mut().zip(states).for_each(|(nominal, state)| *nominal = state.nominal.abs());
        Ok(())
    }

    pub fn derivatives(&mut self, dx: &mut [f64]) -> Result<(), Severity> {
        self.evaluated()?;
        match &mut self.run {
            Run::Exchange(exchange) if dx.len() == exchange.program().states.len() => {
                exchange.derivatives(dx).map_err(|error| self.discard(&error))
            }
            _ => Err(self.refuse("reading the derivatives")),
        }
    }

    pub fn indicators(&mut self, z: &mut [f64]) -> Result<(), Severity> {
        self.evaluated()?;
        match &mut self.run {
            Run::Exchange(exchange) if z.len() == self.references.n_indicators() => {
                exchange.indicators(z).map_err(|error| self.discard(&error))
            }
            _ => Err(self.refuse("reading the event indicators")),
        }
    }

    /// A step of the caller's integrator is over; true if an event must follow.
    pub fn completed_step(&mut self) -> Result<bool, Severity> {
        if self.book.phase != Phase::Continuous {
            return Err(self.refuse("the end of a step"));
        }
        let Run::Exchange(exchange) = &mut self.run else { return Err(self.refuse("the end of a step")) };
        match exchange.end_step() {
            Ok(end) => {
                self.tell_warnings();
                Ok(end.needs_event)
            }
            Err(error) => Err(self.fail(&error)),
        }
    }
}
