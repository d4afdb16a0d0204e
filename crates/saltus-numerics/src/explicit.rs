//! The explicit half of the automatic choice: order 5, or order 8 where that gets farther for what it costs.
//!
//! In: an [`OdeSystem`] that is smooth and not stiff. Out: steps of [`DormandPrince`]. Where the error keeps steps short, those of order 8 are often so
//! much longer that they make up for twice as many evaluations: with tight tolerances, and where fast oscillations limit order 5 before
//! accuracy does. Where events, the longest step or kinks keep steps short they are not. So order 8 is tried after many steps that only the error has
//! limited, and stays if it gets farther with as many evaluations.

use crate::dormand_prince::{DormandPrince, Order};
use crate::integrator::{Integrator, OdeSystem, Statistics, StepResult, Tolerances};
use crate::tuning::choice_of_order::*;

/// A point of the run, from which on progress is measured.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Mark {
    time: f64,
    evaluations: u64,
}

/// Order 8 has to show that it gets farther.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Trial {
    steps: u32,
    /// Time for each evaluation of order 5 before.
    pace: f64,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Explicit {
    method: DormandPrince,
    order: Order,
    /// The share of the last steps that something else than their error kept short, or that were not accepted at once.
    hindered: f64,
    /// Steps of order 5 since it took over or was hindered last, and how many it may make before the other order is tried.
    run: u32,
    patience: u32,
    mark: Mark,
    trial: Option<Trial>,
    tolerances: Tolerances,
    max_step: f64,
    /// Of methods that have been replaced.
    retired: Statistics,
    replacements: u64,
}

impl Explicit {
    pub fn new(tolerances: Tolerances, max_step: f64) -> Self {
        Explicit {
            method: DormandPrince::new(Order::Fifth, tolerances.clone(), max_step),
            order: Order::Fifth,
            hindered: 0.0,
            run: 0,
            patience: FIRST_PATIENCE,
            mark: Mark { time: 0.0, evaluations: 0 },
            trial: None,
            tolerances,
            max_step,
            retired: Statistics::default(),
            replacements: 0,
        }
    }

    pub fn integrator(&self) -> &dyn Integrator {
        &self.method
    }

    pub fn integrator_mut(&mut self) -> &mut dyn Integrator {
        &mut self.method
    }

    /// As of [`DormandPrince`].
    pub fn stiffness(&self) -> f64 {
        self.method.stiffness()
    }

    /// As of [`DormandPrince`].
    pub fn stability(&self) -> f64 {
        self.method.stability()
    }

    /// How often one order replaced the other.
    pub fn replacements(&self) -> u64 {
        self.replacements
    }

    /// Another method has made steps in between, which are not to be compared.
    pub fn begin(&mut self) {
        self.run = 0;
        self.trial = None;
    }

    pub fn set_tolerances(&mut self, relative: f64, absolute: &[f64]) {
        self.tolerances.relative = relative;
        self.tolerances.absolute.copy_from_slice(absolute);
        self.method.set_tolerances(relative, absolute);
    }

    pub fn set_max_step(&mut self, max_step: f64) {
        self.max_step = max_step;
        self.method.set_max_step(max_step);
    }

    pub fn statistics(&self) -> Statistics {
        self.method.statistics() + self.retired
    }

    /// One step, of the order that is expected to get farther.
    pub fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        self.choose(system)?;
        let (start, wanted, rejected) =
            (self.method.time(), self.method.next_step_size(), self.method.statistics().rejected);
        self.method.step(system, limit)?;
        let is_short = self.method.time() - start < NEARLY * wanted;
        let is_hindered = is_short || self.method.statistics().rejected > rejected;
        self.hindered += WEIGHT * (f64::from(u8::from(is_hindered)) - self.hindered);
        Ok(())
    }

    /// Hands over to the other order where that is due.
    fn choose(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        match (self.order, &mut self.trial) {
            (Order::Fifth, _) => self.watch_fifth(system),
            (Order::Eighth, Some(trial)) => {
                trial.steps += 1;
                let trial = *trial;
                self.judge(system, trial)
            }
            (Order::Eighth, None) if self.hindered > MOST_HINDERED => self.retreat(system),
            (Order::Eighth, None) => Ok(()),
        }
    }

    fn watch_fifth(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        self.run = if self.hindered > HARDLY_HINDERED { 0 } else { self.run.saturating_add(1) };
        if self.run == self.patience - COMPARED_STEPS {
            self.mark = self.now();
        }
        // Without states there is no error.
        let is_of_use = self.tolerances.relative <= TIGHT && !self.tolerances.absolute.is_empty();
        if self.run < self.patience || !is_of_use {
            return Ok(());
        }
        self.trial = Some(Trial { steps: 0, pace: self.pace() });
        self.replace(system, Order::Eighth)
    }

    /// Does order 8 on trial get farther?
    fn judge(&mut self, system: &mut dyn OdeSystem, trial: Trial) -> StepResult {
        if trial.steps == SETTLING_STEPS {
            self.mark = self.now();
        }
        if self.hindered > MOST_HINDERED {
            return self.retreat(system);
        }
        if trial.steps < SETTLING_STEPS + COMPARED_STEPS {
            return Ok(());
        }
        self.trial = None;
        if self.pace() >= WORTH_THE_CHANGE * trial.pace { Ok(()) } else { self.retreat(system) }
    }

    /// Back to order 5; the next trial has to be earned by more steps.
    fn retreat(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        self.trial = None;
        self.patience = self.patience.saturating_mul(2);
        self.replace(system, Order::Fifth)
    }

    fn now(&self) -> Mark {
        Mark { time: self.method.time(), evaluations: self.method.statistics().evaluations }
    }

    /// Time for each evaluation since the mark.
    fn pace(&self) -> f64 {
        let now = self.now();
        (now.time - self.mark.time) / (now.evaluations - self.mark.evaluations).max(1) as f64
    }

    /// The other order goes on from here.
    fn replace(&mut self, system: &mut dyn OdeSystem, order: Order) -> StepResult {
        let mut new = DormandPrince::new(order, self.tolerances.clone(), self.max_step);
        new.propose_step_size(self.method.next_step_size());
        let started = new.reinit(system, self.method.time(), self.method.states());
        self.retired = self.retired + self.method.statistics();
        (self.method, self.order, self.run) = (new, order, 0);
        self.replacements += 1;
        started
    }
}
