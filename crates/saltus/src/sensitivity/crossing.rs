//! Sensitivities over an event.
//!
//! In: a run right before an event. Out: the run behind it, with sensitivities that have jumped as the time of the event moves. The relations that
//! cause it are those that the run has found. What the event does to states and held values that jump is found by trying it first.

use std::sync::Arc;

use saltus_program::SlotId;
use saltus_sim::SimError;

use super::linear::{Matrix, Node};
use super::path::{Path, Refusal, columns, no_derivatives};
use super::{advance_to, step_of};

/// A value that moves over an event by more than this part of its size, beyond what it moves by itself, jumps.
const JUMP: f64 = 1e-7;

/// Times of events that move with a parameter by the same but for this part are one event.
const SAME: f64 = 1e-6;
/// Beside its place an event is tried so many times later: thresholds may be curved.
const LATER: f64 = 1e3;

/// An event as it was tried: states, held values and relations behind it.
struct Trial {
    x: Vec<f64>,
    held: Vec<f64>,
    relations: Vec<f64>,
}

/// Crossing functions right before an event.
struct Crossings {
    /// Along the run.
    speeds: Vec<f64>,
    /// By parameter, with the states moving as they do.
    by_parameter: Matrix,
}

impl Path<'_> {
    /// Takes run and sensitivities over an event.
    pub fn cross(&mut self, at: f64, is_timed: bool, before: &Node) -> Result<Result<Node, Refusal>, SimError> {
        let refused = |why: &str| Ok(Err(why.to_owned()));
        let (held, relations) = self.present()?;
        let may_jump = !held.is_empty() || !self.program.events.reinits.is_empty();
        let trial = if may_jump { self.try_at(at, before, &held, None) } else { None };
        let mut moves = match &trial {
            _ if !is_timed => self.moves_of_state(before)?,
            Some(trial) => self.moves_of_time(&relations, &trial.relations),
            None => None,
        };
        let jumps = trial.as_ref().is_some_and(|trial| self.jumps(before, trial)) || !held.is_empty();
        let tried = match (&trial, &moves) {
            (Some(trial), Some(moves)) if jumps => self.differentiate(at, before, &held, moves, trial),
            _ => None,
        };
        while self.run.time() < at && !self.run.is_over() {
            advance_to(self.run, at)?;
        }
        if !Arc::ptr_eq(self.run.program(), self.program) {
            return refused("the structure of the model changes");
        }
        let Some(after) = self.node()? else { return Ok(Err(no_derivatives())) };
        let is_smooth = |f: &f64, g: &f64| (f - g).abs() <= 1e-9 * f.abs().max(1.0);
        let has_jumped = self.has_jumped(before, &after);
        if !jumps && !has_jumped && before.f.iter().zip(&after.f).all(|(f, g)| is_smooth(f, g)) {
            return Ok(Ok(after));
        }
        if is_timed && trial.is_none() {
            let (_, now) = self.present()?;
            moves = self.moves_of_time(&relations, &now);
        }
        let Some(moves) = moves else { return refused("it is not known how the time of an event moves") };
        if !jumps && !has_jumped {
            for (i, (f, g)) in before.f.iter().zip(&after.f).enumerate() {
                moves.iter().enumerate().for_each(|(p, t)| self.s.set(i, p, self.s.at(i, p) + (f - g) * t));
            }
            return Ok(Ok(after));
        }
        let is_alike = match &trial {
            Some(trial) => jumps && self.is_confirmed(trial, &after)?,
            None => false,
        };
        if !is_alike {
            return refused("an event does not come out alike when it is tried");
        }
        let Some((states, held)) = tried else { return refused("an event comes out otherwise beside its place") };
        self.s = states;
        for (i, g) in after.f.iter().enumerate() {
            moves.iter().enumerate().for_each(|(p, t)| self.s.set(i, p, self.s.at(i, p) - g * t));
        }
        self.h = held;
        // The linear model depends on how held values move.
        let after = if self.held.is_empty() { Some(after) } else { self.node()? };
        Ok(after.ok_or_else(no_derivatives))
    }

    /// Held values and relations at the present time.
    fn present(&mut self) -> Result<(Vec<f64>, Vec<f64>), SimError> {
        let relations = self.memories();
        let held = &self.held;
        self.run.examine(|f| {
            let of = |slots: &[SlotId]| slots.iter().map(|&slot| f.get(slot)).collect();
            (of(held), of(&relations))
        })
    }

    fn memories(&self) -> Vec<SlotId> {
        let events = &self.program.events;
        events.relations.values().map(|r| r.memory).chain(events.time_events.iter().map(|t| t.memory)).collect()
    }

    /// The event, or with a step of a parameter the event beside it that stays on its threshold: tried a moment behind it, so that relations
    /// have changed for certain.
    fn try_at(&mut self, at: f64, before: &Node, held: &[f64], moved: Option<(usize, f64, &[f64])>) -> Option<Trial> {
        // A call with effects must not be made twice.
        if self.program.routines.callables.values().any(|callable| callable.effect.is_some()) {
            return None;
        }
        let (p, step, shift) = moved.map_or((0, 0.0, 0.0), |(p, step, moves)| (p, step, step * moves[p]));
        let after = shift + if moved.is_some() { LATER * self.beside } else { self.beside };
        let along = |value: f64, sensitivity: f64| value + step * sensitivity;
        let mut values: Vec<(SlotId, f64)> = Vec::with_capacity(self.states.len() + held.len() + 1);
        for (i, &slot) in self.states.iter().enumerate() {
            let value = before.x[i] + after * before.f[i];
            values.push((slot, if moved.is_some() { along(value, self.s.at(i, p)) } else { value }));
        }
        if moved.is_some() {
            let rows = self.held.iter().zip(held).enumerate();
            values.extend(rows.map(|(i, (&slot, &value))| (slot, along(value, self.h.at(i, p)))));
            values.push((self.follower.parameters[p], self.parameters[p] + step));
        }
        let read: Vec<SlotId> = self.states.iter().chain(&self.held).copied().chain(self.memories()).collect();
        let mut x = self.run.try_event(at + after, &values, &read)?;
        let mut held = x.split_off(self.states.len());
        let relations = held.split_off(self.held.len());
        Some(Trial { x, held, relations })
    }

    fn jumps(&self, before: &Node, trial: &Trial) -> bool {
        self.moved_beyond(&before.x, &trial.x, &before.f, self.beside)
    }

    fn has_jumped(&self, before: &Node, after: &Node) -> bool {
        self.moved_beyond(&before.x, &after.x, &before.f, after.time - before.time)
    }

    /// Is a state not where its slope has taken it?
    fn moved_beyond(&self, from: &[f64], to: &[f64], slopes: &[f64], width: f64) -> bool {
        let all = from.iter().zip(to).zip(slopes).zip(&self.program.states);
        all.into_iter().any(|(((a, b), slope), state)| {
            let size = state.nominal.abs().max(a.abs());
            (b - a - width * slope).abs() > JUMP * size + width * slope.abs()
        })
    }

    /// Has the event come to what was tried?
    fn is_confirmed(&mut self, trial: &Trial, after: &Node) -> Result<bool, SimError> {
        let (held, relations) = self.present()?;
        let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= JUMP * a.abs().max(b.abs()).max(1.0);
        let is_there = !self.moved_beyond(&trial.x, &after.x, &after.f, self.beside);
        Ok(is_there && trial.held.iter().zip(&held).all(is_same) && trial.relations == relations)
    }

    /// How the time moves at which the relations change that cause the event. Where they reach zero together by chance, they part again beside
    /// these parameters.
    fn moves_of_state(&mut self, before: &Node) -> Result<Option<Vec<f64>>, SimError> {
        if self.causes.is_empty() {
            return Ok(None);
        }
        // One program of derivatives for all events of a run.
        let crossings: Vec<SlotId> = self.program.events.relations.values().map(|r| r.crossing).collect();
        let Some(found) = self.crossings(&crossings, before)? else { return Ok(None) };
        let mut moves: Option<Vec<f64>> = None;
        let moving = self.causes.iter().map(|&i| (i, found.speeds[i])).filter(|(_, speed)| *speed != 0.0);
        for (i, speed) in moving {
            let own: Vec<f64> = found.by_parameter.row(i).iter().map(|moved| -moved / speed).collect();
            let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME * a.abs().max(b.abs());
            if moves.as_ref().is_some_and(|others| !others.iter().zip(&own).all(is_same)) {
                return Ok(None);
            }
            moves = moves.or(Some(own));
        }
        Ok(moves.filter(|moves| moves.iter().all(|moved| moved.is_finite())))
    }

    fn crossings(&mut self, of: &[SlotId], before: &Node) -> Result<Option<Crossings>, SimError> {
        let along = |p: usize| {
            let states = self.states.iter().enumerate().map(|(i, &slot)| (slot, self.s.at(i, p)));
            states.chain(self.direction(p)).collect::<Vec<_>>()
        };
        let directions: Vec<Vec<(SlotId, f64)>> = (0..self.parameters.len()).map(along).collect();
        let mut ahead: Vec<(SlotId, f64)> = self.states.iter().copied().zip(before.f.iter().copied()).collect();
        ahead.push((self.program.memory.time, 1.0));
        let seeds = &self.seeds;
        self.run.examine(|f| {
            if !f.linearise_by(of, seeds).is_ok() {
                return None;
            }
            let mut speeds = vec![0.0; of.len()];
            let is_known = f.directional(&ahead, &mut speeds).is_ok();
            let by_parameter = columns(f, of.len(), directions.into_iter())?;
            is_known.then_some(Crossings { speeds, by_parameter })
        })
    }

    /// How the time of an event of time moves: as its thresholds do, which are held values; samples and inputs stay.
    fn moves_of_time(&self, before: &[f64], after: &[f64]) -> Option<Vec<f64>> {
        let events = &self.program.events;
        if self.moves_samples {
            return None;
        }
        let n = events.relations.len();
        let timers = events.time_events.iter().zip(before.iter().zip(after).skip(n));
        let changed: Vec<SlotId> = timers.filter(|(_, (a, b))| a != b).map(|(timer, _)| timer.threshold).collect();
        let mut moves: Option<Vec<f64>> = None;
        for threshold in changed {
            let place = self.held.iter().position(|slot| *slot == threshold);
            let own = place.map_or_else(|| vec![0.0; self.parameters.len()], |i| self.h.row(i).to_vec());
            if moves.as_ref().is_some_and(|others| *others != own) {
                // Two events that only happen to be at the same time.
                return None;
            }
            moves = Some(own);
        }
        Some(moves.unwrap_or_else(|| vec![0.0; self.parameters.len()]))
    }

    /// How states and held values behind the event move with the parameters, at the time that moves with them.
    fn differentiate(
        &mut self,
        at: f64,
        before: &Node,
        held: &[f64],
        moves: &[f64],
        base: &Trial,
    ) -> Option<(Matrix, Matrix)> {
        let n = self.parameters.len();
        let (mut states, mut values) = (Matrix::zeros(self.states.len(), n), Matrix::zeros(self.held.len(), n));
        for p in 0..n {
            let step = step_of(self.parameters[p]);
            let plus = self.try_at(at, before, held, Some((p, step, moves)))?;
            let minus = self.try_at(at, before, held, Some((p, -step, moves)))?;
            if plus.relations != base.relations || minus.relations != base.relations {
                return None;
            }
            let slope =
                |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * step)).collect() };
            states.set_column(p, &slope(&plus.x, &minus.x));
            values.set_column(p, &slope(&plus.held, &minus.held));
        }
        (states.is_finite() && values.is_finite()).then_some((states, values))
    }
}
