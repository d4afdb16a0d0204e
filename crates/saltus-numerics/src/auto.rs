//! The default integrator: explicit as long as that works, implicit where the system turns out to be stiff, and back.
//!
//! In: any [`OdeSystem`]. Out: steps of the explicit method that [`Explicit`] chooses, or of the implicit one that [`Stiff`] chooses. Stiffness shows as
//! `h·|λ|` at the bound of the explicit method's stability domain for many steps (Hairer, Wanner: *Solving Ordinary Differential
//! Equations II*, section IV.2), or as steps that cannot be made at all. Each return to the explicit method has to be
//! earned by more steps than the last one. Stiffness that does not show (the states oscillate about a kink, or evaluations
//! fail ahead of an explicit step) is found by trial: after many explicit steps the implicit method gets its chance, and
//! leaves again if its steps are not longer.

use crate::explicit::Explicit;
use crate::integrator::{Integrator, OdeSystem, Statistics, StepResult, Tolerances};
use crate::interpolant::Interpolant;
use crate::stiff::Stiff;
use crate::tuning::automatic::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Automatic {
    explicit: Explicit,
    /// Made when it is needed for the first time.
    stiff: Option<Stiff>,
    tolerances: Tolerances,
    max_step: f64,
    is_stiff: bool,
    /// The other method is to make the next step.
    wants_switch: bool,
    suspicious: u32,
    unsuspicious: u32,
    /// Logarithm of the mean part of the stability domain that explicit steps need.
    mean: f64,
    probation: u32,
    /// Steps of the explicit method since it last took over, and how many it may make.
    explicit_run: u64,
    patience: u64,
    switches: u64,
    /// Copy of the states for the change of methods.
    x: Vec<f64>,
}

impl Automatic {
    /// `max_step` may be infinite.
    pub fn new(tolerances: Tolerances, max_step: f64) -> Self {
        let n = tolerances.absolute.len();
        Automatic {
            explicit: Explicit::new(tolerances.clone(), max_step),
            stiff: None,
            tolerances,
            max_step,
            is_stiff: false,
            wants_switch: false,
            suspicious: 0,
            unsuspicious: 0,
            mean: FIRST_PART.ln(),
            probation: FIRST_PROBATION,
            explicit_run: 0,
            patience: FIRST_PATIENCE,
            switches: 0,
            x: vec![0.0; n],
        }
    }

    /// Does the implicit method make the steps at present?
    pub fn is_stiff(&self) -> bool {
        self.is_stiff
    }

    fn active(&self) -> &dyn Integrator {
        match &self.stiff {
            Some(stiff) if self.is_stiff => stiff.integrator(),
            _ => self.explicit.integrator(),
        }
    }

    fn active_mut(&mut self) -> &mut dyn Integrator {
        match &mut self.stiff {
            Some(stiff) if self.is_stiff => stiff.integrator_mut(),
            _ => self.explicit.integrator_mut(),
        }
    }

    fn step_active(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        match &mut self.stiff {
            Some(stiff) if self.is_stiff => stiff.step(system, limit),
            _ => self.explicit.step(system, limit),
        }
    }

    fn begin(&mut self) {
        if let Some(stiff) = &mut self.stiff {
            stiff.begin();
        }
    }

    fn switch(&mut self, system: &mut dyn OdeSystem) -> StepResult {
        if self.stiff.is_none() {
            self.stiff = Some(Stiff::new(system, self.tolerances.clone(), self.max_step));
        }
        let mut x = std::mem::take(&mut self.x);
        let old = self.active();
        let (t, h) = (old.time(), old.next_step_size());
        x.copy_from_slice(old.states());
        self.is_stiff = !self.is_stiff;
        self.begin();
        self.explicit.begin();
        self.wants_switch = false;
        self.suspicious = 0;
        self.unsuspicious = 0;
        self.explicit_run = 0;
        self.mean = FIRST_PART.ln();
        self.switches += 1;
        let new = self.active_mut();
        // A size that was right for one method is a good guess for the other.
        new.propose_step_size(h);
        let started = new.reinit(system, t, &x);
        self.x = x;
        started
    }

    fn watch_explicit(&mut self) {
        let stiffness = self.explicit.stiffness();
        self.mean += MEAN_WEIGHT * (stiffness.max(SMALLEST_PART).ln() - self.mean);
        if stiffness > STABILITY_BOUND || self.mean > MEAN_BOUND.ln() {
            self.unsuspicious = 0;
            self.suspicious += 1;
        } else {
            self.unsuspicious += 1;
            if self.unsuspicious >= REFUTING_STEPS {
                self.suspicious = 0;
            }
        }
        self.explicit_run += 1;
        // Without states there is nothing to be stiff.
        let is_trial = !self.x.is_empty() && self.explicit_run >= self.patience;
        if is_trial {
            self.patience = self.patience.saturating_mul(2);
        }
        self.wants_switch = is_trial || self.suspicious >= STIFF_STEPS;
    }

    fn watch_stiff(&mut self) {
        let most = EXPLICIT_SUFFICES * self.explicit.stability();
        let suffices = self.stiff.as_mut().is_some_and(|s| s.stiffness() < most);
        self.suspicious = if suffices { self.suspicious + 1 } else { 0 };
        self.wants_switch = self.suspicious >= self.probation;
        if self.wants_switch {
            self.probation = (2 * self.probation).min(LONGEST_PROBATION);
        }
    }
}

impl Integrator for Automatic {
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.begin();
        self.active_mut().restart(system, t, x)
    }

    fn reinit(&mut self, system: &mut dyn OdeSystem, t: f64, x: &[f64]) -> StepResult {
        self.begin();
        self.active_mut().reinit(system, t, x)
    }

    fn step(&mut self, system: &mut dyn OdeSystem, limit: f64) -> StepResult {
        if self.wants_switch {
            self.switch(system)?;
        }
        let mut stepped = self.step_active(system, limit);
        if stepped.is_err() && !self.is_stiff {
            self.switch(system)?;
            stepped = self.step_active(system, limit);
        }
        stepped?;
        if self.is_stiff {
            self.watch_stiff();
        } else {
            self.watch_explicit();
        }
        Ok(())
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        self.active().interpolate(t, x);
    }

    fn interpolant(&self, state: usize) -> Interpolant {
        self.active().interpolant(state)
    }

    fn error(&self, state: usize) -> f64 {
        self.active().error(state)
    }

    fn step_start(&self) -> f64 {
        self.active().step_start()
    }

    fn time(&self) -> f64 {
        self.active().time()
    }

    fn states(&self) -> &[f64] {
        self.active().states()
    }

    fn derivatives(&self) -> &[f64] {
        self.active().derivatives()
    }

    fn next_step_size(&self) -> f64 {
        self.active().next_step_size()
    }

    fn propose_step_size(&mut self, h: f64) {
        self.active_mut().propose_step_size(h);
    }

    fn set_tolerances(&mut self, relative: f64, absolute: &[f64]) {
        self.explicit.set_tolerances(relative, absolute);
        self.tolerances.relative = relative;
        self.tolerances.absolute.copy_from_slice(absolute);
        if let Some(stiff) = &mut self.stiff {
            stiff.set_tolerances(relative, absolute);
        }
    }

    fn set_max_step(&mut self, max_step: f64) {
        self.explicit.set_max_step(max_step);
        self.max_step = max_step;
        if let Some(stiff) = &mut self.stiff {
            stiff.set_max_step(max_step);
        }
    }

    fn statistics(&self) -> Statistics {
        let stiff = self.stiff.as_ref().map(Stiff::statistics).unwrap_or_default();
        let mut sum = self.explicit.statistics() + stiff;
        let replaced = self.explicit.replacements() + self.stiff.as_ref().map_or(0, Stiff::replacements);
        sum.switches = self.switches + replaced;
        sum.restarts -= sum.switches.min(sum.restarts);
        sum
    }
}
