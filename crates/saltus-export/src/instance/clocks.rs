//! Clocks that others see: input clocks tick when they are told to, output clocks say when they have ticked.
//!
//! In event mode a tick belongs to the event. It happens when somebody reads a value or updates the discrete states, whichever comes first,
//! so that inputs can be set after the clock. In scheduled execution activating a partition is the event.

use std::collections::{BTreeMap, BTreeSet};

use saltus_program::SlotId;
use serde::{Deserialize, Serialize};

use super::{Instance, Kind, Phase, Run, Severity};
use crate::references::{ClockKind, Target};

/// What is known about ticks; part of the state.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Ticks {
    /// Input clocks that tick in this event, by their position among the clocks.
    active: BTreeSet<usize>,
    /// Some of them have not been seen by the model.
    is_due: bool,
    /// By clock: how often output clocks had ticked at the end of the last event.
    counts: Vec<f64>,
    /// Intervals as they were told last.
    intervals: BTreeMap<SlotId, f64>,
    /// When the last partition was activated.
    activated: Option<f64>,
}

impl Instance {
    fn clock(&mut self, reference: u32) -> Result<(usize, ClockKind), Severity> {
        match self.references.target(reference) {
            Some(Target::Clock(k)) => Ok((k, self.references.clocks[k].kind)),
            _ => Err(self.say(Severity::Error, format!("there is no clock with the value reference {reference}"))),
        }
    }

    /// Does it need somebody who makes its clocks tick?
    pub fn has_input_clocks(&self) -> bool {
        self.references.clocks.iter().any(|c| matches!(c.kind, ClockKind::Input { .. }))
    }

    fn input_clock(&mut self, reference: u32) -> Result<(usize, SlotId, Option<SlotId>), Severity> {
        match self.clock(reference)? {
            (k, ClockKind::Input { tick, interval }) => Ok((k, tick, interval)),
            (k, ClockKind::Output { .. }) => {
                let name = self.references.clocks[k].name.clone();
                Err(self.say(Severity::Error, format!("`{name}` is an output clock: the model makes it tick")))
            }
        }
    }

    /// In event mode: an input clock ticks in this event, or does not after all.
    pub fn set_clock(&mut self, reference: u32, is_active: bool) -> Result<(), Severity> {
        let (k, tick, _) = self.input_clock(reference)?;
        if self.book.phase != Phase::Events {
            return Err(self.refuse("setting a clock"));
        }
        if self.book.clocks.active.contains(&k) == is_active {
            return Ok(());
        }
        if !is_active && !self.book.clocks.is_due {
            let name = self.references.clocks[k].name.clone();
            return Err(self.say(Severity::Error, format!("the clock `{name}` has ticked already in this event")));
        }
        self.toggle(tick)?;
        match is_active {
            true => self.book.clocks.active.insert(k),
            false => self.book.clocks.active.remove(&k),
        };
        self.book.clocks.is_due = true;
        Ok(())
    }

    /// A clock ticks where its Boolean changes.
    fn toggle(&mut self, tick: SlotId) -> Result<(), Severity> {
        let now = match (self.book.pending.get(&tick), &mut self.run) {
            (Some((value, _)), _) => *value,
            (None, Run::Exchange(exchange)) => exchange.get(tick).unwrap_or(0.0),
            (None, Run::Simulation(simulation)) => saltus_sim::Simulation::get(simulation, tick).unwrap_or(0.0),
            (None, Run::New) => return Err(self.refuse("a tick")),
        };
        self.set_running(tick, f64::from(u8::from(now == 0.0)), true);
        Ok(())
    }

    /// Lets the model see the ticks of this event.
    pub(super) fn settle_ticks(&mut self) -> Result<(), Severity> {
        if !std::mem::take(&mut self.book.clocks.is_due) {
            return Ok(());
        }
        match self.kind {
            Kind::CoSimulation => self.settle_pending(),
            Kind::ModelExchange | Kind::ScheduledExecution => self.settle_exchange(),
        }
    }

    /// Does the clock tick in this event?
    pub fn is_ticking(&mut self, reference: u32) -> Result<bool, Severity> {
        let (k, kind) = self.clock(reference)?;
        if !matches!(self.book.phase, Phase::Events | Phase::Partitions) {
            return Err(self.refuse("reading a clock"));
        }
        match kind {
            ClockKind::Input { .. } => Ok(self.book.clocks.active.contains(&k)),
            ClockKind::Output { .. } => {
                self.settle_ticks()?;
                if self.kind == Kind::ModelExchange {
                    self.settle_exchange()?;
                }
                Ok(self.has_ticked(k))
            }
        }
    }

    fn count(&mut self, k: usize) -> f64 {
        let ClockKind::Output { count } = self.references.clocks[k].kind else { return 0.0 };
        match &mut self.run {
            Run::New => 0.0,
            Run::Exchange(exchange) => exchange.get(count).unwrap_or(0.0),
            Run::Simulation(simulation) => saltus_sim::Simulation::get(simulation, count).unwrap_or(0.0),
        }
    }

    fn has_ticked(&mut self, k: usize) -> bool {
        let before = self.book.clocks.counts.get(k).copied().unwrap_or(0.0);
        self.count(k) != before
    }

    /// The event is over: no clock ticks.
    pub(super) fn forget_ticks(&mut self) {
        self.book.clocks.active.clear();
        self.book.clocks.is_due = false;
        self.book.clocks.counts = (0..self.references.clocks.len()).map(|k| self.count(k)).collect();
    }

    /// Only periodic clocks have intervals and shifts.
    pub fn check_periodic(&mut self, reference: u32) -> Result<SlotId, Severity> {
        let (k, _, interval) = self.input_clock(reference)?;
        interval.ok_or_else(|| {
            let name = self.references.clocks[k].name.clone();
            self.say(Severity::Error, format!("the clock `{name}` is triggered: it has no interval"))
        })
    }

    /// The interval of a periodic clock in seconds, and whether it is another one than when this was asked last.
    pub fn interval(&mut self, reference: u32) -> Result<(f64, bool), Severity> {
        let slot = self.check_periodic(reference)?;
        let seconds = self.value(slot)?;
        let is_new = self.book.clocks.intervals.insert(slot, seconds) != Some(seconds);
        Ok((seconds, is_new))
    }

    /// Scheduled execution: the partition of an input clock at this time. True if output clocks have ticked.
    pub fn activate(&mut self, reference: u32, time: f64) -> Result<bool, Severity> {
        let (k, tick, _) = self.input_clock(reference)?;
        if self.book.phase != Phase::Partitions {
            return Err(self.refuse("activating a partition"));
        }
        let now = self.book.clocks.activated.unwrap_or_else(|| self.time());
        if !(time >= now && time.is_finite()) {
            let name = self.references.clocks[k].name.clone();
            let text = format!("the partition of `{name}` cannot be activated at {time} s after {now} s");
            return Err(self.say(Severity::Error, text));
        }
        self.book.clocks.activated = Some(time);
        if let Run::Exchange(exchange) = &mut self.run {
            exchange.set_time(time);
        }
        self.toggle(tick)?;
        self.book.happened = None;
        self.settle_exchange()?;
        self.tell_warnings();
        Ok((0..self.references.clocks.len()).any(|k| self.has_ticked(k)))
    }

    /// Scheduled execution: who wanted to know about output clocks knows.
    pub fn end_activation(&mut self) {
        self.forget_ticks();
    }
}
