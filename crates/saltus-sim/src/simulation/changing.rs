//! Changes from outside: parameters and inputs before the start; parameters, inputs and states while a run goes on.
//!
//! In: slots and values between two calls of [`Simulation::advance`]. Out: before the start they are in memory when the initial
//! system is solved. Later they are one event at the present time, at which the integrator starts anew.

use std::fmt;

use saltus_program::{Activation, ModelFunctions, Moment, SlotId, SlotKind};

use super::{Phase, Simulation};
use crate::error::Failure;
use crate::event;
use crate::inputs::{Line, Signal};
use crate::integration;
use crate::record::EventKind;

/// Why a value cannot be set.
#[derive(Clone, PartialEq, Debug)]
pub enum CannotSet {
    /// Only before the start.
    AlreadyBegun,
    /// Only after the start.
    NotBegun,
    NotAnInput,
    /// Neither a parameter nor an input nor a state.
    Computed,
    NotANumber,
    /// The run is over.
    Over,
}

impl fmt::Display for CannotSet {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            CannotSet::AlreadyBegun => "the simulation has begun",
            CannotSet::NotBegun => "the simulation has not begun",
            CannotSet::NotAnInput => "it is not an input",
            CannotSet::Computed => "it is computed by the model",
            CannotSet::NotANumber => "the value is not a number",
            CannotSet::Over => "the simulation is over",
        })
    }
}

impl std::error::Error for CannotSet {}

impl Simulation {
    /// Sets a parameter, an input or, after the start, a state from now on.
    pub fn set(&mut self, slot: SlotId, value: f64) -> Result<(), CannotSet> {
        if value.is_nan() {
            return Err(CannotSet::NotANumber);
        }
        let kind = self.program.memory.slots.get(slot).map(|s| s.kind);
        match (kind, self.driver.phase) {
            (_, Phase::Over) => return Err(CannotSet::Over),
            (Some(SlotKind::Parameter | SlotKind::Input), _) => {}
            // Before the start the initial system decides about states.
            (Some(SlotKind::State), phase) if phase != Phase::New => {}
            _ => return Err(CannotSet::Computed),
        }
        self.changes.retain(|(changed, _)| *changed != slot);
        self.slopes.retain(|(changed, _)| *changed != slot);
        self.changes.push((slot, value));
        Ok(())
    }

    /// What a variable was set to since the run has gone on.
    pub fn pending(&self, slot: SlotId) -> Option<f64> {
        self.changes.iter().find(|(changed, _)| *changed == slot).map(|&(_, value)| value)
    }

    /// Sets an input that moves on from this value at a rate.
    pub fn set_moving(&mut self, slot: SlotId, value: f64, slope: f64) -> Result<(), CannotSet> {
        let kind = self.program.memory.slots.get(slot).map(|s| s.kind);
        if kind != Some(SlotKind::Input) {
            return Err(CannotSet::NotAnInput);
        }
        if self.driver.phase == Phase::New {
            return Err(CannotSet::NotBegun);
        }
        if !slope.is_finite() {
            return Err(CannotSet::NotANumber);
        }
        self.set(slot, value)?;
        self.slopes.push((slot, slope));
        Ok(())
    }

    /// Inputs that begin to move do so from the present values.
    fn move_inputs(&mut self, t: f64) {
        if self.slopes.is_empty() {
            return;
        }
        let moved_before = self.model.inputs_vary();
        for (slot, slope) in std::mem::take(&mut self.slopes) {
            let line = Line { time: t, value: self.model.get(slot), slope };
            // They were accepted as inputs before.
            let _ = self.model.set_input(slot, Signal::Line(line));
        }
        if !moved_before {
            self.inputs_move();
            self.driver.integrator = integration::choose(&self.program, &self.options, &self.structure);
        }
    }

    /// The event at the present time that applies what was set.
    pub(super) fn apply_changes(&mut self) -> Result<(), Failure> {
        if self.changes.is_empty() || matches!(self.driver.phase, Phase::New | Phase::Over) {
            return Ok(());
        }
        let t = self.driver.now;
        let from = if let Phase::Inside(pending) = self.driver.phase { pending.from } else { t };
        self.remember_histories(from, t)?;
        self.go_to(t)?;
        if self.model.is_sliding() {
            self.model.end_slide();
        }
        self.model.update_pre();
        self.model.show(Moment::Before);
        self.write_left_row(t)?;
        self.skip_output_point(t);
        self.remember_memory();
        let changes = std::mem::take(&mut self.changes);
        let is_parameter =
            |slot: SlotId| self.program.memory.slots.get(slot).is_some_and(|s| s.kind == SlotKind::Parameter);
        let has_parameter = changes.iter().any(|(slot, _)| is_parameter(*slot));
        for (slot, value) in changes {
            self.model.set_from_outside(slot, value);
        }
        self.move_inputs(t);
        if has_parameter {
            event::eval(&mut self.model, t, Activation::Parameters)?;
        }
        self.model.pass(t);
        let settled = event::settle(&self.program, &mut self.model, &self.options, t)?;
        self.model.remember_event(t);
        self.write_row_after(t)?;
        let causes = self.causes(false);
        self.record(t, EventKind::Outside, causes, settled.rounds, true)?;
        self.driver.hold = None;
        self.driver.phase = Phase::Between;
        if let Some(i) = settled.termination {
            return self.terminate(i);
        }
        self.change_structure(t)?;
        self.schedule(t);
        self.start_integrator(t, true, true)
    }
}
