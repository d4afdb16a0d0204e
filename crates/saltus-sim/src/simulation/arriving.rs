//! States of machines that are entered: which, with which values, and what jumps with them.
//!
//! In: the program of a configuration and the values before. Out: values that fulfil its equations, the entry equations and start
//! values of what is entered, and whatever goes on.

use saltus_base::Index;
use saltus_program::{Activation, Key, ModelFunctions, Region, SlotId, SlotKind};

use super::Simulation;
use super::configurations::Left;
use crate::constants::{ENTRY_BAND, MOST_ENTRY_ROUNDS};
use crate::error::Failure;
use crate::event;

impl Simulation {
    /// Texts of the states of machines that are entered with a configuration.
    pub(super) fn entered(&self, key: &Key) -> Vec<String> {
        let Some(configuration) = &self.program.configuration else { return Vec::new() };
        let enters = |region: &&Region| {
            let switch = &configuration.switches[region.switch];
            let is_active = key.0.get(&switch.text).copied().unwrap_or(false);
            is_active && (!switch.is_on || self.model.get(region.reenters) != 0.0)
        };
        let text = |region: &Region| configuration.switches[region.switch].text.clone();
        configuration.regions.iter().filter(enters).map(text).collect()
    }

    /// Time in the first states counts from the start.
    pub(super) fn begin_states(&mut self) {
        let program = self.program.clone();
        for region in program.configuration.iter().flat_map(|c| &c.regions) {
            self.model.set(region.entry_time, self.options.start_time);
            let is_active = program.configuration.as_ref().is_some_and(|c| c.switches[region.switch].is_on);
            self.model.set(region.visited, f64::from(u8::from(is_active)));
        }
        self.remember_states();
    }

    /// Machines remember which of their states is active; those that are not active themselves, which one was.
    fn remember_states(&mut self) {
        let program = self.program.clone();
        let Some(configuration) = &program.configuration else { return };
        let is_on = |region: &Region| configuration.switches[region.switch].is_on;
        for region in &configuration.regions {
            if configuration.regions.iter().any(|r| r.machine == region.machine && is_on(r)) {
                self.model.set(region.remembered, f64::from(u8::from(is_on(region))));
            }
        }
    }

    pub(super) fn begin_entry(&mut self, t: f64, entered: &[String]) {
        let program = self.program.clone();
        let Some(configuration) = &program.configuration else { return };
        for region in &configuration.regions {
            let enters = entered.contains(&configuration.switches[region.switch].text);
            self.model.set(region.enters, f64::from(u8::from(enters)));
            if enters {
                self.model.set(region.entry_time, t);
                // Nothing to go on from.
                if self.model.get(region.visited) == 0.0 {
                    self.model.set(region.resets, 1.0);
                }
                self.model.set(region.visited, 1.0);
            }
        }
        self.remember_states();
        configuration.doubts.iter().for_each(|&(_, amount)| self.model.set(amount, 0.0));
        // Entry equations read what was before.
        self.model.update_pre();
        self.guess_starts();
    }

    /// Where equations of an entered state have several solutions, the one next to its start values is meant.
    fn guess_starts(&mut self) {
        let program = self.program.clone();
        let Some(configuration) = &program.configuration else { return };
        for region in &configuration.regions {
            let is_set = |slot: SlotId| self.model.get(slot) != 0.0;
            if !is_set(region.enters) || !is_set(region.resets) {
                continue;
            }
            let Some(state) = state_of(&configuration.switches[region.switch].text) else { continue };
            for variable in &program.variables {
                let inside = variable.name().strip_prefix(state).is_some_and(|rest| rest.starts_with('.'));
                let is_solved = || program.memory.slots.get(variable.slot).is_some_and(|s| s.kind.is_continuous());
                if let Some(start) = variable.start.filter(|_| inside && is_solved()) {
                    self.model.set(variable.slot, start);
                }
            }
        }
    }

    pub(super) fn end_entry(&mut self) {
        let program = self.program.clone();
        let Some(configuration) = program.configuration.as_ref().filter(|c| !c.regions.is_empty()) else { return };
        configuration.regions.iter().for_each(|region| self.model.set(region.enters, 0.0));
        self.model.update_pre();
    }

    /// A state that is entered at the threshold of a transition stays until that has been left.
    pub(super) fn give_doubt(&mut self, t: f64) -> Result<(), Failure> {
        let program = self.program.clone();
        let Some(configuration) = program.configuration.as_ref().filter(|c| !c.doubts.is_empty()) else {
            return Ok(());
        };
        event::eval_continuous(&mut self.model, t)?;
        for &(id, amount) in &configuration.doubts {
            let Some(relation) = program.events.relations.get(id) else { continue };
            let band = ENTRY_BAND * self.model.get(relation.scale);
            let is_near = self.model.get(relation.crossing).abs() <= band;
            self.model.set(amount, if is_near { 2.0 * band } else { 0.0 });
        }
        Ok(())
    }

    /// Enters states of machines; true if something has jumped by impulses. Conditions may turn out to be others than before with the values
    /// that are found; then these are found again.
    pub(super) fn arrive(&mut self, t: f64, entered: &[String], left: &Left) -> Result<bool, Failure> {
        let mut jumped = self.find_arrival(t, entered, left)?;
        for _ in 0..MOST_ENTRY_ROUNDS {
            let before = self.conditions(entered);
            self.give_doubt(t)?;
            self.settle_entry(t)?;
            let after = self.conditions(entered);
            if before == after {
                break;
            }
            self.carry_over(t, left)?;
            after.into_iter().for_each(|(slot, value)| self.model.set(slot, value));
            self.begin_entry(t, entered);
            jumped = self.find_arrival(t, entered, left)?;
        }
        Ok(jumped)
    }

    /// Discrete variables that follow from others, with their values, and conditions of what is entered.
    fn conditions(&self, entered: &[String]) -> Vec<(SlotId, f64)> {
        let program = self.model.program();
        let mut follows: Vec<bool> = program.memory.slots.values().map(|s| s.kind == SlotKind::Discrete).collect();
        let remembered = program.memory.pre.iter().map(|&(variable, _)| variable);
        // What transitions do was decided before.
        let regions = program.configuration.iter().flat_map(|c| &c.regions);
        let decided = regions.flat_map(|region| [region.resets, region.reenters]);
        remembered.chain(decided).for_each(|slot| follows[slot.index()] = false);
        // As at the start, a `when` of an entered state waits for its condition to become true.
        for configuration in program.configuration.iter() {
            let is_entered = |r: &&Region| entered.contains(&configuration.switches[r.switch].text);
            let own = configuration.regions.iter().filter(is_entered).flat_map(|region| &region.conditions);
            own.for_each(|slot| follows[slot.index()] = true);
        }
        let slots = program.memory.slots.iter().map(|(id, _)| id);
        slots.zip(follows).filter(|(_, follows)| *follows).map(|(id, _)| (id, self.model.get(id))).collect()
    }

    /// Values with which states of machines are entered.
    fn find_arrival(&mut self, t: f64, entered: &[String], left: &Left) -> Result<bool, Failure> {
        let program = self.program.clone();
        let before = self.model.snapshot();
        event::eval(&mut self.model, t, Activation::Arrival)?;
        let arrivals = program.configuration.as_ref().map_or(&[][..], |c| &c.entry.arrivals);
        let mut jumped = false;
        if let Err(contradiction) = self.check_constraints(t, arrivals) {
            self.model.restore(&before);
            if !self.may_jump(entered) {
                return Err(contradiction);
            }
            jumped = self.find_jumps(t, left)?;
            self.model.update_pre();
            event::eval(&mut self.model, t, Activation::Arrival)?;
            self.check_constraints(t, arrivals)?;
        }
        self.selection.begin(&mut self.model, t)?;
        event::eval_continuous(&mut self.model, t)?;
        if self.model.has_histories() {
            self.model.begin_new_histories(t);
            event::eval_continuous(&mut self.model, t)?;
        }
        self.model.update_pre();
        Ok(jumped)
    }

    /// What goes on may jump by impulses where nothing is said about values of what is entered.
    fn may_jump(&self, entered: &[String]) -> bool {
        let Some(configuration) = &self.program.configuration else { return false };
        let is_entered = |region: &&Region| entered.contains(&configuration.switches[region.switch].text);
        let begins = |region: &Region| region.has_entries || region.has_states;
        !configuration.entry.jumps.is_empty() && !configuration.regions.iter().filter(is_entered).any(begins)
    }
}

/// The state of `activeState(state)`.
pub(super) fn state_of(text: &str) -> Option<&str> {
    text.strip_prefix("activeState(")?.strip_suffix(')')
}
