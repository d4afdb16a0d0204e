//! What jumps where a configuration is entered, and by which impulses.
//!
//! In: the values before, in the memory of the configuration that is entered. Out: values after the jump that its section `entry` finds; whether
//! anything has jumped, what is told of it, and the positions of switches that impulses ask for.

use std::borrow::Cow;
use std::collections::HashMap;

use saltus_base::Index;
use saltus_program::{Activation, Constraint, Key, ModelFunctions, SlotId, Switch, Verdict};

use super::Simulation;
use super::configurations::Left;
use crate::constants::{ENTRY_CONTRADICTION, ENTRY_CONVERGED, JUMP_TIME, LEAST_JUMP, MOST_ENTRY_ROUNDS};
use crate::error::Failure;
use crate::event;
use crate::record::Change;
use crate::translation::shown;
use crate::witness::Jump;

impl Simulation {
    /// Finds what jumps; true if something does.
    pub(super) fn find_jumps(&mut self, t: f64, before: &Left) -> Result<bool, Failure> {
        let program = self.program.clone();
        let Some(entry) = program.configuration.as_ref().map(|c| &c.entry) else { return Ok(false) };
        for &(variable, left) in &entry.jumps {
            self.model.set(left, self.model.get(variable));
        }
        let has_steps = !program.sections.entry.blocks.is_empty();
        for round in 0..MOST_ENTRY_ROUNDS {
            let before: Vec<f64> = entry.jumps.iter().map(|&(variable, _)| self.model.get(variable)).collect();
            if has_steps {
                event::eval(&mut self.model, t, Activation::Entry)?;
                // Afterwards they are fulfilled, by values that follow from others.
                if round == 0 {
                    self.check_constraints(t, &entry.constraints)?;
                }
                self.selection.begin(&mut self.model, t)?;
            }
            let after: Vec<f64> = entry.jumps.iter().map(|&(variable, _)| self.model.get(variable)).collect();
            event::eval_continuous(&mut self.model, t)?;
            let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= ENTRY_CONVERGED * a.abs().max(b.abs());
            if before.iter().zip(&after).all(is_same) {
                break;
            }
        }
        if self.model.is_watched() {
            self.known.jumped_to = Some(self.model.snapshot());
        }
        let jumped = entry.jumps.iter().any(|&(x, left)| self.is_jump(before, x, left)) && !self.is_drift(t, before)?;
        match entry.undetermined {
            Some(span) if jumped || !has_steps => {
                let why = "the equations do not determine its impulses; a `reinit` must say what jumps";
                let hint = "give the variables that jump their values where the condition changes: `when … then reinit(…); end when`";
                Err(self.cannot_enter(t, why, hint).at(span))
            }
            _ => Ok(jumped),
        }
    }

    /// What cannot jump must fulfil its constraints already.
    pub(super) fn check_constraints(&self, t: f64, constraints: &[Constraint]) -> Result<(), Failure> {
        for check in constraints {
            let (left, right) = (self.model.get(check.left), self.model.get(check.right));
            if (left - right).abs()
                > ENTRY_CONTRADICTION.max(10.0 * self.options.tolerance) * self.model.get(check.size)
            {
                let why =
                    format!("`{}` does not hold there ({left} and {right}), and what is in it cannot jump", check.text);
                let hint = "let the structure change where the equation holds already, or give values that fulfil it: `reinit`";
                return Err(self.cannot_enter(t, &why, hint).at(check.span));
            }
        }
        Ok(())
    }

    /// The positions that impulses ask for, if they are others.
    pub(super) fn key_by_impulses(&self) -> Option<Key> {
        let configuration = self.program.configuration.as_ref()?;
        let pairs = || configuration.switches.iter().zip(&configuration.entry.positions);
        // What is finite has its say when the event is settled.
        let position = |switch: &Switch, verdict: &Verdict| match self.model.get(verdict.is_decided) != 0.0 {
            true => self.model.get(verdict.position) != 0.0,
            false => switch.is_on,
        };
        let is_other = pairs().any(|(switch, verdict)| position(switch, verdict) != switch.is_on);
        is_other
            .then(|| Key(pairs().map(|(switch, verdict)| (switch.text.clone(), position(switch, verdict))).collect()))
    }

    /// Variables that have jumped; one that had no value before has not.
    pub(super) fn jumps(&self, before: &Left) -> Vec<Change> {
        let Some(configuration) = &self.program.configuration else { return Vec::new() };
        let absent = before.program.configuration.iter().flat_map(|c| &c.absent);
        let absent: Vec<_> = absent.map(|&slot| before.program.memory.slot_name(slot)).collect();
        let change = |&(variable, left): &(SlotId, SlotId)| {
            let is_jump =
                self.is_jump(before, variable, left) && !absent.contains(&self.program.memory.slot_name(variable));
            let (before, after) = (self.model.get(left), self.model.get(variable));
            is_jump.then(|| Change { variable: self.program.memory.slot_name(variable).into(), before, after })
        };
        configuration.entry.jumps.iter().filter_map(change).collect()
    }

    /// Impulses that are not zero, with the names of their variables.
    pub(super) fn impulses(&self) -> Vec<(String, f64)> {
        let Some(configuration) = &self.program.configuration else { return Vec::new() };
        let all = configuration.entry.impulses.iter();
        let named = all.map(|&(of, slot)| (self.program.memory.slot_name(of).into_owned(), self.model.get(slot)));
        named.filter(|(_, impulse)| *impulse != 0.0).collect()
    }

    /// What has jumped on the way to this configuration, for a witness.
    pub(super) fn last_jump(&mut self, left: &Left) -> Option<Jump> {
        let (mut after, home) = (self.known.jumped_to.take()?, self.known.home.as_ref()?);
        let configuration = self.program.configuration.as_ref()?;
        let places = shown(&left.program, &home.program);
        let before = places.iter().map(|&slot| left.memory.get(slot).copied().unwrap_or(f64::NAN)).collect();
        let all = configuration.entry.impulses.iter();
        let impulses: Vec<_> = all.map(|&(of, slot)| (of, after[slot.index()])).collect();
        for (value, (id, slot)) in after.iter_mut().zip(self.program.memory.slots.iter()) {
            if !slot.kind.is_continuous() {
                *value = self.model.get(id);
            }
        }
        Some(self.model.jump(before, &after, &impulses))
    }

    /// Is what jumps only the distance by which the event was found late? A little earlier it would have been another one then, and a jump
    /// that is a jump would have been the same.
    fn is_drift(&mut self, t: f64, before: &Left) -> Result<bool, Failure> {
        let program = self.program.clone();
        let Some(entry) = program.configuration.as_ref().map(|c| &c.entry) else { return Ok(false) };
        let ahead = 10.0 * JUMP_TIME * self.options.time_span();
        let is_explained = |&(variable, left): &(SlotId, SlotId)| {
            let jump = (self.model.get(variable) - self.model.get(left)).abs();
            jump != 0.0 && jump <= ahead * slope_before(before, variable)
        };
        if !entry.jumps.iter().any(is_explained) {
            return Ok(false);
        }
        let slots = &before.program.memory.slots;
        let named: HashMap<Cow<str>, usize> = slots.ids().map(|id| (slots.name(id), id.index())).collect();
        let slope = |variable: SlotId| {
            let name = format!("der({})", program.memory.slot_name(variable));
            let slope = named.get(&*name).and_then(|&slot| before.memory.get(slot)).copied();
            slope.filter(|slope| slope.is_finite()).unwrap_or(0.0)
        };
        let slopes: Vec<f64> = entry.jumps.iter().map(|&(variable, _)| slope(variable)).collect();
        let distances = |s: &Self| -> Vec<f64> {
            entry.jumps.iter().map(|&(variable, left)| s.model.get(variable) - s.model.get(left)).collect()
        };
        let jumps = distances(self);
        let now = self.model.snapshot();
        for (&(variable, left), slope) in entry.jumps.iter().zip(&slopes) {
            let earlier = self.model.get(left) - ahead * slope;
            self.model.set(left, earlier);
            self.model.set(variable, earlier);
        }
        let is_solved = event::eval(&mut self.model, t - ahead, Activation::Entry).is_ok();
        let earlier = distances(self);
        self.model.restore(&now);
        event::eval_continuous(&mut self.model, t)?;
        let largest = |all: &[f64]| all.iter().zip(&slopes).map(|(x, s)| x.abs() * s.abs()).fold(0.0, f64::max);
        let differences: Vec<f64> = jumps.iter().zip(&earlier).map(|(a, b)| a - b).collect();
        Ok(is_solved && largest(&differences) > 0.5 * largest(&jumps))
    }

    /// Has a variable jumped, by more than rounding and by more than it moves in the time within which events are found?
    fn is_jump(&self, before: &Left, variable: SlotId, left: SlotId) -> bool {
        let (x, to) = (self.model.get(left), self.model.get(variable));
        if (to - x).abs() <= LEAST_JUMP * to.abs().max(x.abs()).max(LEAST_JUMP) {
            return false;
        }
        (to - x).abs() > JUMP_TIME * self.options.time_span() * slope_before(before, variable)
    }
}

/// How fast a state moved in the configuration before; zero of what was not a state.
fn slope_before(before: &Left, variable: SlotId) -> f64 {
    let state = before.program.states.iter().find(|s| s.value == variable);
    let slope = state.and_then(|s| before.memory.get(s.derivative.index())).filter(|slope| slope.is_finite());
    slope.map_or(0.0, |slope| slope.abs())
}
